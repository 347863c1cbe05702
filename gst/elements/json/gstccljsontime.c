/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccljsontime.h"

/* NTP counts from 1900. */
#define NTP_TO_UNIX (G_GUINT64_CONSTANT (2208988800) * GST_SECOND)

GstClockTime
gst_ccl_json_utc_from_reference (GstBuffer * buffer)
{
  static GstStaticCaps ntp_caps = GST_STATIC_CAPS ("timestamp/x-ntp");
  static GstStaticCaps unix_caps = GST_STATIC_CAPS ("timestamp/x-unix");
  GstCaps *ntp = gst_static_caps_get (&ntp_caps), *unix_time = gst_static_caps_get (&unix_caps);
  GstReferenceTimestampMeta *meta;
  GstClockTime utc = GST_CLOCK_TIME_NONE;

  if ((meta = gst_buffer_get_reference_timestamp_meta (buffer, ntp)) && meta->timestamp >= NTP_TO_UNIX)
    utc = meta->timestamp - NTP_TO_UNIX;
  else if ((meta = gst_buffer_get_reference_timestamp_meta (buffer, unix_time)))
    utc = meta->timestamp;
  gst_caps_unref (ntp);
  gst_caps_unref (unix_time);
  return utc;
}

/* The offset from the time of a clock to UTC. FALSE: the clock does not provide it. */
static gboolean
clock_is_utc (GstClock * clock, GstClockTimeDiff * to_utc)
{
  GstClockType type = GST_CLOCK_TYPE_MONOTONIC;

  *to_utc = 0;
  /* By name, so that libgstnet is not needed for this one class. */
  if (g_str_equal (G_OBJECT_TYPE_NAME (clock), "GstNtpClock")) {
    *to_utc = -(GstClockTimeDiff) NTP_TO_UNIX;
    return TRUE;
  }
  if (G_OBJECT_TYPE (clock) == GST_TYPE_SYSTEM_CLOCK)
    g_object_get (clock, "clock-type", &type, NULL);
  return type == GST_CLOCK_TYPE_REALTIME;
}

static GstClockTime
system_utc (void)
{
  return (GstClockTime) g_get_real_time () * GST_USECOND;
}

GstClockTime
gst_ccl_json_utc_from_clock (GstClock * clock, GstClockTime clock_time, gboolean any_clock)
{
  GstClockTimeDiff to_utc;

  if (!clock || !GST_CLOCK_TIME_IS_VALID (clock_time))
    return GST_CLOCK_TIME_NONE;
  if (clock_is_utc (clock, &to_utc))
    return clock_time + to_utc;
  return any_clock ? clock_time + GST_CLOCK_DIFF (gst_clock_get_time (clock), system_utc ()) : GST_CLOCK_TIME_NONE;
}

/* The time of the frame on the clock of the element, as UTC. */
static GstClockTime
utc_from_element (GstElement * element, GstClockTime running_time, gboolean any_clock)
{
  GstClock *clock = gst_element_get_clock (element);
  const GstClockTime base_time = gst_element_get_base_time (element);
  const gboolean is_known = GST_CLOCK_TIME_IS_VALID (running_time) && GST_CLOCK_TIME_IS_VALID (base_time);
  const GstClockTime utc =
      gst_ccl_json_utc_from_clock (clock, is_known ? base_time + running_time : GST_CLOCK_TIME_NONE, any_clock);

  gst_clear_object (&clock);
  return utc;
}

void
gst_ccl_json_frame_set_utc (GstCclJsonFrame * frame, GstBuffer * buffer, GstCclJsonTime time, GstElement * element)
{
  frame->utc = GST_CLOCK_TIME_NONE;
  if (time == GST_CCL_JSON_TIME_AUTO || time == GST_CCL_JSON_TIME_REFERENCE) {
    frame->utc = gst_ccl_json_utc_from_reference (buffer);
    frame->time_source = "reference";
  }
  if (!GST_CLOCK_TIME_IS_VALID (frame->utc) && (time == GST_CCL_JSON_TIME_AUTO || time == GST_CCL_JSON_TIME_CLOCK)) {
    frame->utc = utc_from_element (element, frame->running_time, time == GST_CCL_JSON_TIME_CLOCK);
    frame->time_source = "clock";
  }
  if (time == GST_CCL_JSON_TIME_SYSTEM) {
    frame->utc = system_utc ();
    frame->time_source = "system";
  }
  if (!GST_CLOCK_TIME_IS_VALID (frame->utc))
    frame->time_source = "none";
}
