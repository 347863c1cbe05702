/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* When each living track was first seen, and its trail. */
#ifndef __GST_CCL_TRACK_LIVES_H__
#define __GST_CCL_TRACK_LIVES_H__

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
} GstCclTrackLife;

typedef struct _GstCclTrackLives GstCclTrackLives;

GstCclTrackLives *gst_ccl_track_lives_new (void);
void gst_ccl_track_lives_free (GstCclTrackLives * lives);
void gst_ccl_track_lives_clear (GstCclTrackLives * lives);

/* NULL: there is no such track. */
const GstCclTrackLife *gst_ccl_track_lives_find (const GstCclTrackLives * lives, guint64 id);

/* Finds or adds a track of a frame at `pts`. Its trail has `history` places from now on, the newest of those it had. */
GstCclTrackLife *gst_ccl_track_lives_see (GstCclTrackLives * lives, const CclTrack * track, GstClockTime pts, guint history);

/* Forgets the tracks that are lost. */
void gst_ccl_track_lives_forget_lost (GstCclTrackLives * lives, const CclTrack * tracks, guint n);

G_END_DECLS

#endif
