/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclseentracks.h"

struct _GstCclSeenTracks
{
  GHashTable *by_id;            /* guint64* -> GstCclSeenTrack */
};

static void
seen_track_free (gpointer data)
{
  GstCclSeenTrack *const track = data;

  g_free (track->trail);
  g_free (track);
}

GstCclSeenTracks *
gst_ccl_seen_tracks_new (void)
{
  GstCclSeenTracks *const seen = g_new0 (GstCclSeenTracks, 1);

  seen->by_id = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, seen_track_free);
  return seen;
}

void
gst_ccl_seen_tracks_free (GstCclSeenTracks * seen)
{
  g_hash_table_unref (seen->by_id);
  g_free (seen);
}

void
gst_ccl_seen_tracks_clear (GstCclSeenTracks * seen)
{
  g_hash_table_remove_all (seen->by_id);
}

const GstCclSeenTrack *
gst_ccl_seen_tracks_find (const GstCclSeenTracks * seen, guint64 id)
{
  return g_hash_table_lookup (seen->by_id, &id);
}

GstCclSeenTrack *
gst_ccl_seen_tracks_add (GstCclSeenTracks * seen, guint64 id, GstClockTime pts, guint history)
{
  GstCclSeenTrack *track = g_hash_table_lookup (seen->by_id, &id);

  if (!track) {
    track = g_new (GstCclSeenTrack, 1);
    *track = (GstCclSeenTrack) {
    .first_seen = pts,.trail = gst_ccl_trail_ring_new (history)};
    g_hash_table_insert (seen->by_id, g_memdup2 (&id, sizeof id), track);
  } else if (track->trail->capacity != history) {
    GstCclTrailRing *const old = track->trail;

    track->trail = gst_ccl_trail_ring_resize (old, history);
    g_free (old);
  }
  return track;
}

void
gst_ccl_seen_tracks_remove_lost (GstCclSeenTracks * seen, const CclTrack * tracks, guint n)
{
  for (guint i = 0; i < n; i++)
    if (tracks[i].state == CCL_TRACK_LOST)
      g_hash_table_remove (seen->by_id, &tracks[i].id);
}
