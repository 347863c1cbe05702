/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclseentracks.h"

#include <math.h>

struct _GstCclSeenTracks
{
  GHashTable *by_id;            /* guint64* -> GstCclSeenTrack */
};

static void
seen_track_free (gpointer data)
{
  GstCclSeenTrack *const seen = data;

  g_free (seen->trail);
  g_free (seen);
}

GstCclSeenTracks *
gst_ccl_seen_tracks_new (void)
{
  GstCclSeenTracks *const seen_tracks = g_new0 (GstCclSeenTracks, 1);

  seen_tracks->by_id = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, seen_track_free);
  return seen_tracks;
}

void
gst_ccl_seen_tracks_free (GstCclSeenTracks * seen_tracks)
{
  g_hash_table_unref (seen_tracks->by_id);
  g_free (seen_tracks);
}

void
gst_ccl_seen_tracks_clear (GstCclSeenTracks * seen_tracks)
{
  g_hash_table_remove_all (seen_tracks->by_id);
}

const GstCclSeenTrack *
gst_ccl_seen_tracks_find (const GstCclSeenTracks * seen_tracks, guint64 id)
{
  return g_hash_table_lookup (seen_tracks->by_id, &id);
}

GstCclSeenTrack *
gst_ccl_seen_tracks_add (GstCclSeenTracks * seen_tracks, const CclTrack * track, GstClockTime pts, guint history)
{
  GstCclSeenTrack *seen = g_hash_table_lookup (seen_tracks->by_id, &track->id);

  if (!seen) {
    seen = g_new (GstCclSeenTrack, 1);
    *seen = (GstCclSeenTrack) {
      .first_seen = pts,.trail = gst_ccl_trail_ring_new (history),.began = { track->x, track->y }
    };
    g_hash_table_insert (seen_tracks->by_id, g_memdup2 (&track->id, sizeof track->id), seen);
  } else if (seen->trail->capacity != history) {
    GstCclTrailRing *const old = seen->trail;

    seen->trail = gst_ccl_trail_ring_resize (old, history);
    g_free (old);
  }
  seen->has_moved |= fabs (track->x - seen->began.x) >= track->x1 - track->x0
      || fabs (track->y - seen->began.y) >= track->y1 - track->y0;
  return seen;
}

void
gst_ccl_seen_tracks_remove_lost (GstCclSeenTracks * seen_tracks, const CclTrack * tracks, guint n)
{
  for (guint i = 0; i < n; i++)
    if (tracks[i].state == CCL_TRACK_LOST)
      g_hash_table_remove (seen_tracks->by_id, &tracks[i].id);
}
