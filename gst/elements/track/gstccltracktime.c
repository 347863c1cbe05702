/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The frame intervals that the tracker counts in, from timestamps or from the caps. */

#include "gstccltrackprivate.h"

#define GST_CAT_DEFAULT gst_ccl_track_debug

GstClockTime
gst_ccl_track_interval (GstCclTrack * self)
{
  const GstClockTime interval =
      GST_CLOCK_TIME_IS_VALID (self->frame_duration) ? self->frame_duration : self->mean_duration;

  return interval ? interval : GST_CLOCK_TIME_NONE;
}

/* How many frame intervals have passed since the last frame. */
gdouble
gst_ccl_track_frames_since_last (GstCclTrack * self, GstBuffer * buffer)
{
  const GstClockTime pts = GST_BUFFER_PTS (buffer), last = self->last_pts;
  const guint n_untimed = self->n_untimed;
  GstClockTime duration = self->frame_duration;

  self->n_untimed++;
  if (!GST_CLOCK_TIME_IS_VALID (pts))
    return 1;
  self->n_untimed = 0;
  self->last_pts = pts;
  if (!GST_CLOCK_TIME_IS_VALID (last))
    return 1;
  if (pts < last) {
    GST_DEBUG_OBJECT (self, "time goes back from %" GST_TIME_FORMAT " to %" GST_TIME_FORMAT, GST_TIME_ARGS (last),
        GST_TIME_ARGS (pts));
    GST_OBJECT_LOCK (self);
    self->stats.backwards++;
    GST_OBJECT_UNLOCK (self);
    return 1;
  }
  if (!GST_CLOCK_TIME_IS_VALID (duration)) {
    const GstClockTime mean = self->mean_duration, passed = (pts - last) / (1 + n_untimed);

    if (!GST_CLOCK_TIME_IS_VALID (mean) || mean == 0)
      self->mean_duration = passed;
    else                        /* a gap is none of the usual intervals */
      self->mean_duration = (15 * mean + MIN (passed, 4 * mean)) / 16;
    duration = self->mean_duration;
  }
  return duration > 0 ? MAX ((gdouble) (pts - last) / duration - n_untimed, 0) : 1;
}

/* Tracks of boxes live on for a time, not for a number of frames: detectors run at any rate. */
void
gst_ccl_track_take_time_of_boxes (GstCclTrack * self)
{
  CclTrackerConfig *const config = &self->active.config;
  const GstClockTime interval = gst_ccl_track_interval (self);

  if (!GST_CLOCK_TIME_IS_VALID (interval))
    return;
  config->frame_seconds = MIN ((gdouble) interval / GST_SECOND, CCL_TRACKER_MAX_AGE);
  config->max_age = (guint) MIN ((self->active.max_age_time + interval / 2) / interval, CCL_TRACKER_MAX_AGE);
}
