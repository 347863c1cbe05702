/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccltracklives.h"

#include <math.h>

struct _GstCclTrackLives
{
  GHashTable *by_id;            /* guint64* -> GstCclTrackLife */
};

static void
life_free (gpointer data)
{
  GstCclTrackLife *const life = data;

  g_free (life->trail);
  g_free (life);
}

GstCclTrackLives *
gst_ccl_track_lives_new (void)
{
  GstCclTrackLives *const lives = g_new0 (GstCclTrackLives, 1);

  lives->by_id = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, life_free);
  return lives;
}

void
gst_ccl_track_lives_free (GstCclTrackLives * lives)
{
  g_hash_table_unref (lives->by_id);
  g_free (lives);
}

void
gst_ccl_track_lives_clear (GstCclTrackLives * lives)
{
  g_hash_table_remove_all (lives->by_id);
}

const GstCclTrackLife *
gst_ccl_track_lives_find (const GstCclTrackLives * lives, guint64 id)
{
  return g_hash_table_lookup (lives->by_id, &id);
}

GstCclTrackLife *
gst_ccl_track_lives_see (GstCclTrackLives * lives, const CclTrack * track, GstClockTime pts, guint history)
{
  GstCclTrackLife *life = g_hash_table_lookup (lives->by_id, &track->id);

  if (!life) {
    life = g_new (GstCclTrackLife, 1);
    *life = (GstCclTrackLife) {
      .first_seen = pts,.trail = gst_ccl_trail_ring_new (history),.began = { track->x, track->y }
    };
    g_hash_table_insert (lives->by_id, g_memdup2 (&track->id, sizeof track->id), life);
  } else if (life->trail->capacity != history) {
    GstCclTrailRing *const old = life->trail;

    life->trail = gst_ccl_trail_ring_resize (old, history);
    g_free (old);
  }
  life->has_moved |= fabs (track->x - life->began.x) >= track->x1 - track->x0
      || fabs (track->y - life->began.y) >= track->y1 - track->y0;
  return life;
}

void
gst_ccl_track_lives_forget_lost (GstCclTrackLives * lives, const CclTrack * tracks, guint n)
{
  for (guint i = 0; i < n; i++)
    if (tracks[i].state == CCL_TRACK_LOST)
      g_hash_table_remove (lives->by_id, &tracks[i].id);
}
