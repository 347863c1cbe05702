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
    self->tracks_are_new = TRUE;
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
  self->tracks_are_new = TRUE;
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

/* In pixels of the mask. FALSE: the detector has them. */
static gboolean
take_tracks (GstCclMotion * self, CclMotionBox * boxes, guint * n)
{
  const guint mask_width = self->mask_width, mask_height = self->mask_height;
  gboolean are_new;

  GST_OBJECT_LOCK (self);
  are_new = self->tracks_are_new;
  self->tracks_are_new = FALSE;
  *n = self->tracks.n;
  for (guint i = 0; are_new && i < *n; i++) {
    const GstCclTrackBox *const box = &self->tracks.boxes[i];

    scale_edges (box->x, box->width, self->tracks.width, mask_width, &boxes[i].x0, &boxes[i].x1);
    scale_edges (box->y, box->height, self->tracks.height, mask_height, &boxes[i].y0, &boxes[i].y1);
  }
  GST_OBJECT_UNLOCK (self);
  return are_new;
}

/* With the device context current. */
CclStatus
gst_ccl_motion_hold_tracks (GstCclMotion * self)
{
  CclMotionBox boxes[CCL_MOTION_MAX_BOXES];
  CclStatus status = CCL_OK;
  guint n;

  if (!take_tracks (self, boxes, &n))
    return CCL_OK;
  if (((const GstCclMotionRequest *) self->parent.request)->method == CCL_MOTION_FEEDBACK) {
    g_mutex_lock (&self->detector_lock);
    status = ccl_motion_hold_boxes (self->detector, boxes, n);
    g_mutex_unlock (&self->detector_lock);
  } else if (n && !self->warned_of_tracks) {
    self->warned_of_tracks = TRUE;
    gst_ccl_motion_warn_of_no_effect (self, "ccltrack feedback=true",
        "Only method=feedback keeps what a track follows.");
  }
  return status;
}

void
gst_ccl_motion_init_tracks (GstCclAnalyzerClass * klass)
{
  GST_BASE_TRANSFORM_CLASS (klass)->src_event = gst_ccl_motion_src_event;
}
