/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The times of a frame.
 *
 * A time is GST_CLOCK_TIME_NONE for a frame without a timestamp, and in a segment of another format: raw pictures from a
 * file come in bytes.
 */
#ifndef __GST_CCL_TIME_H__
#define __GST_CCL_TIME_H__

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

static inline gboolean
gst_ccl_time_is_known (GstBaseTransform * transform, GstClockTime timestamp)
{
  return transform->segment.format == GST_FORMAT_TIME && GST_CLOCK_TIME_IS_VALID (timestamp);
}

static inline GstClockTime
gst_ccl_running_time (GstBaseTransform * transform, GstClockTime timestamp)
{
  return gst_ccl_time_is_known (transform, timestamp)
      ? gst_segment_to_running_time (&transform->segment, GST_FORMAT_TIME, timestamp) : GST_CLOCK_TIME_NONE;
}

static inline GstClockTime
gst_ccl_stream_time (GstBaseTransform * transform, GstClockTime timestamp)
{
  return gst_ccl_time_is_known (transform, timestamp)
      ? gst_segment_to_stream_time (&transform->segment, GST_FORMAT_TIME, timestamp) : GST_CLOCK_TIME_NONE;
}

/* The duration of `n_frames` frames. Caps without a frame rate (rate_n 0) count as 25 frames a second. */
static inline GstClockTime
gst_ccl_frames_duration (guint n_frames, gint rate_n, gint rate_d)
{
  return gst_util_uint64_scale_int (n_frames * GST_SECOND, rate_n > 0 ? rate_d : 1, rate_n > 0 ? rate_n : 25);
}

/* A before_transform() that moves controlled properties to the time of the frame. */
static inline void
gst_ccl_sync_properties (GstBaseTransform * transform, GstBuffer * buffer)
{
  const GstClockTime time = gst_ccl_stream_time (transform, GST_BUFFER_PTS (buffer));

  if (GST_CLOCK_TIME_IS_VALID (time))
    gst_object_sync_values (GST_OBJECT (transform), time);
}

G_END_DECLS

#endif
