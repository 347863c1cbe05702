/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccllateness.h"

#include "gstccltime.h"

void
gst_ccl_lateness_reset (GstCclLateness * lateness, GstBaseTransform * transform)
{
  GST_OBJECT_LOCK (transform);
  lateness->earliest = GST_CLOCK_TIME_NONE;
  lateness->proportion = 1.0;
  GST_OBJECT_UNLOCK (transform);
}

void
gst_ccl_lateness_update (GstCclLateness * lateness, GstBaseTransform * transform, GstEvent * event)
{
  GstClockTimeDiff difference;
  GstClockTime timestamp;
  gdouble proportion;

  gst_event_parse_qos (event, NULL, &proportion, &difference, &timestamp);
  GST_OBJECT_LOCK (transform);
  lateness->proportion = proportion;
  lateness->earliest = !GST_CLOCK_TIME_IS_VALID (timestamp) ? GST_CLOCK_TIME_NONE
      : difference < 0 && timestamp < (GstClockTime) -difference ? 0 : timestamp + difference;
  GST_OBJECT_UNLOCK (transform);
}

static void
post_message (GstBaseTransform * transform, GstBuffer * buffer, const GstCclLateness * lateness, guint64 n_processed)
{
  const GstClockTime timestamp = GST_BUFFER_PTS (buffer), running_time = gst_ccl_running_time (transform, timestamp);
  GstMessage *const message = gst_message_new_qos (GST_OBJECT (transform), FALSE, running_time,
      gst_ccl_stream_time (transform, timestamp), timestamp, GST_BUFFER_DURATION (buffer));

  GST_DEBUG_OBJECT (transform, "late: %" GST_TIME_FORMAT " <= %" GST_TIME_FORMAT ", not analysed",
      GST_TIME_ARGS (running_time), GST_TIME_ARGS (lateness->earliest));
  gst_message_set_qos_values (message, GST_CLOCK_DIFF (running_time, lateness->earliest), lateness->proportion, 1000000);
  gst_message_set_qos_stats (message, GST_FORMAT_BUFFERS, n_processed, lateness->n_late);
  gst_element_post_message (GST_ELEMENT (transform), message);
}

gboolean
gst_ccl_lateness_check (GstCclLateness * lateness, GstBaseTransform * transform, GstBuffer * buffer,
    guint64 n_processed)
{
  const GstClockTime running_time = gst_ccl_running_time (transform, GST_BUFFER_PTS (buffer));
  GstCclLateness now;

  GST_OBJECT_LOCK (transform);
  if (!GST_CLOCK_TIME_IS_VALID (lateness->earliest) || !GST_CLOCK_TIME_IS_VALID (running_time)
      || running_time > lateness->earliest) {
    GST_OBJECT_UNLOCK (transform);
    return FALSE;
  }
  lateness->n_late++;
  now = *lateness;
  GST_OBJECT_UNLOCK (transform);
  post_message (transform, buffer, &now, n_processed);
  return TRUE;
}
