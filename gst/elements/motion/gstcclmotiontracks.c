/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Boxes of tracks, which come from ccltrack downstream: nothing is absorbed there. */

#include "gstcclmotionprivate.h"

#define GST_CAT_DEFAULT gst_ccl_motion_debug

/* Any thread. The event ends here: boxes of this frame mean nothing further upstream. */
static gboolean
gst_ccl_motion_src_event (GstBaseTransform * transform, GstEvent * event)
{
  GstCclMotion *const self = GST_CCL_MOTION (transform);
  GstCclTrackBoxes boxes;
  const gchar *wrong;

  if (!gst_event_has_name (event, GST_CCL_TRACKS_EVENT))
    return GST_BASE_TRANSFORM_CLASS (g_type_class_peek (GST_TYPE_CCL_ANALYZER))->src_event (transform, event);
  wrong = gst_ccl_tracks_event_parse (event, &boxes);
  if (wrong) {
    GST_WARNING_OBJECT (self, "%" GST_PTR_FORMAT " is ignored: %s", event, wrong);
  } else {
    GST_OBJECT_LOCK (self);
    self->tracks = boxes;
    self->tracks_serial++;
    GST_OBJECT_UNLOCK (self);
  }
  gst_event_unref (event);
  return !wrong;
}

void
gst_ccl_motion_forget_tracks (GstCclMotion * self)
{
  GST_OBJECT_LOCK (self);
  self->tracks.n = 0;
  self->tracks_serial++;
  GST_OBJECT_UNLOCK (self);
}

/* Edges of a box, from pixels of the frame to those of the mask, outwards. */
static void
scale_edges (gint from, gint length, guint size, guint mask_size, guint32 * first, guint32 * end)
{
  const gint64 last = (gint64) from + length;

  *first = (guint32) (CLAMP (from, 0, (gint64) size) * mask_size / size);
  *end = (guint32) ((CLAMP (last, 0, (gint64) size) * mask_size + size - 1) / size);
}

static void
warn_of_method (GstCclMotion * self)
{
  if (!self->warned_of_tracks)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("Tracks come from downstream, but only method=feedback keeps them."),
        ("ccltrack feedback=true has no effect on the other methods."));
  self->warned_of_tracks = TRUE;
}

/* With the detector lock, the device context current. */
CclStatus
gst_ccl_motion_hold_tracks (GstCclMotion * self)
{
  const guint mask_width = self->mask_width, mask_height = self->mask_height;
  CclMotionBox boxes[CCL_MOTION_MAX_BOXES];
  guint n;

  GST_OBJECT_LOCK (self);
  if (self->held_serial == self->tracks_serial) {
    GST_OBJECT_UNLOCK (self);
    return CCL_OK;
  }
  self->held_serial = self->tracks_serial;
  n = self->tracks.n;
  for (guint i = 0; i < n; i++) {
    const GstCclTrackBox *const box = &self->tracks.boxes[i];

    scale_edges (box->x, box->width, self->tracks.width, mask_width, &boxes[i].x0, &boxes[i].x1);
    scale_edges (box->y, box->height, self->tracks.height, mask_height, &boxes[i].y0, &boxes[i].y1);
  }
  GST_OBJECT_UNLOCK (self);
  if (((const GstCclMotionRequest *) self->parent.request)->method == CCL_MOTION_FEEDBACK)
    return ccl_motion_hold_boxes (self->detector, boxes, n);
  if (n)
    warn_of_method (self);
  return CCL_OK;
}

void
gst_ccl_motion_init_tracks (GstCclAnalyzerClass * klass)
{
  GST_BASE_TRANSFORM_CLASS (klass)->src_event = gst_ccl_motion_src_event;
}
