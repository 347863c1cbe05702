/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* When each track that is not lost was first seen, and its trail. */
#ifndef __GST_CCL_SEEN_TRACKS_H__
#define __GST_CCL_SEEN_TRACKS_H__

#include <gst/gst.h>

#include "analysis/track.h"
#include "base/gstccltrailring.h"

G_BEGIN_DECLS

typedef struct
{
  GstClockTime first_seen;
  GstCclTrailRing *trail;       /* of its centroid, in the plane of pixel squares of the frame */
  GstCclPoint began;            /* its centroid at first */
  gboolean has_moved;           /* away from there by its own width or height */
} GstCclSeenTrack;

typedef struct _GstCclSeenTracks GstCclSeenTracks;

GstCclSeenTracks *gst_ccl_seen_tracks_new (void);
void gst_ccl_seen_tracks_free (GstCclSeenTracks * seen_tracks);
void gst_ccl_seen_tracks_clear (GstCclSeenTracks * seen_tracks);

/* NULL: there is no such track. */
const GstCclSeenTrack *gst_ccl_seen_tracks_find (const GstCclSeenTracks * seen_tracks, guint64 id);

/* Finds or adds a track of a frame at `pts`. Its trail has `history` places from now on, the newest of those it had. */
GstCclSeenTrack *gst_ccl_seen_tracks_add (GstCclSeenTracks * seen_tracks, const CclTrack * track, GstClockTime pts,
    guint history);

/* Forgets the tracks that are lost. */
void gst_ccl_seen_tracks_remove_lost (GstCclSeenTracks * seen_tracks, const CclTrack * tracks, guint n);

G_END_DECLS

#endif
