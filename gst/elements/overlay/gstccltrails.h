/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Trails of tracks, for objects whose tracker provides none, and how trails are drawn. */
#ifndef __GST_CCL_TRAILS_H__
#define __GST_CCL_TRAILS_H__

#include <gst/ccl/ccl.h>

#include "gstcclpen.h"

G_BEGIN_DECLS

typedef struct _GstCclTrails GstCclTrails;

GstCclTrails *gst_ccl_trails_new (void);
void gst_ccl_trails_free (GstCclTrails * trails);
void gst_ccl_trails_reset (GstCclTrails * trails);

/* Adds a position, in fractions of the frame. A trail has at most `capacity` positions, and starts again when `capacity`
 * changes. */
void gst_ccl_trails_add (GstCclTrails * trails, guint64 track_id, GstCclPoint place, guint capacity, guint64 frame);

/* Forgets the trails of tracks that were not seen for GST_CCL_MAX_UNSEEN_FRAMES. */
void gst_ccl_trails_forget_unseen (GstCclTrails * trails, guint64 frame);

/* x and y of each place in turn, the oldest first, in pixels of a frame of this size. NULL: the track has no trail.
 * (transfer full) */
gdouble *gst_ccl_trails_get (const GstCclTrails * trails, guint64 track_id, guint width, guint height, guint * n_places);

/* Draws a trail, fainter the older its places are. Changes `points`. */
void gst_ccl_trail_draw (GstCclPen * pen, gdouble * points, guint n, GstCclColour colour);

/* The steps of drawing: each moves the places that remain to the front and returns their number.
 * Leaves out places that a line of this width cannot show, but not the last. Clamps the rest. */
guint gst_ccl_trail_thin_out (gdouble * points, guint n, gdouble line);
/* Leaves out places that are within `tolerance` of the straight line between their neighbours. */
guint gst_ccl_trail_straighten (gdouble * points, guint n, gdouble tolerance);

G_END_DECLS

#endif
