/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The event by which ccltrack tells cclmotion upstream where confirmed tracks are. docs/elements/ccltrack.md has its fields. */
#ifndef __GST_CCL_TRACKS_EVENT_H__
#define __GST_CCL_TRACKS_EVENT_H__

#include <gst/gst.h>

#include "motion.h"

G_BEGIN_DECLS

#define GST_CCL_TRACKS_EVENT "ccl-tracks"

/* In pixels of the frame; width and height are above 0. */
typedef struct
{
  gint x, y, width, height;
} GstCclTrackBox;

typedef struct
{
  guint width, height;          /* of the frame that the boxes are in */
  guint n;
  GstCclTrackBox boxes[CCL_MOTION_MAX_BOXES];
} GstCclTrackBoxes;

GstEvent *gst_ccl_tracks_event_new (const GstCclTrackBoxes * boxes);

/* NULL, or what is wrong with the event. */
const gchar *gst_ccl_tracks_event_parse (GstEvent * event, GstCclTrackBoxes * boxes);

G_END_DECLS

#endif
