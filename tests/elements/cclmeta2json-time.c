/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclmeta2json: the times of a frame, in the stream and in the world. */

#include "cclmeta2json.h"

GST_START_TEST (test_times_of_a_segment)
{
  GstHarness *h = new_harness ();
  GstBuffer *frame = small_frame (0), *out;
  GstSegment segment;
  JsonNode *line;
  JsonObject *object;
  gchar *text;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.rate = 2.0;
  segment.applied_rate = 1.0;
  segment.base = 5 * GST_SECOND;
  segment.start = 10 * GST_SECOND;
  segment.time = 100 * GST_SECOND;
  segment.position = segment.start;
  fail_unless (gst_harness_push_event (h, gst_event_new_segment (&segment)));

  GST_BUFFER_PTS (frame) = 14 * GST_SECOND;
  GST_BUFFER_DTS (frame) = 13 * GST_SECOND;
  GST_BUFFER_FLAG_SET (frame, GST_BUFFER_FLAG_DISCONT);
  out = gst_harness_push_and_pull (h, frame);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (out), 14 * GST_SECOND);
  fail_unless_equals_uint64 (GST_BUFFER_DTS (out), 13 * GST_SECOND);
  fail_unless_equals_uint64 (GST_BUFFER_DURATION (out), FRAME_TIME);
  fail_unless (GST_BUFFER_FLAG_IS_SET (out, GST_BUFFER_FLAG_DISCONT));
  text = take_line (out);
  line = parse (text);
  g_free (text);
  object = json_node_get_object (line);
  fail_unless_equals_int64 (json_object_get_int_member (object, "pts"), 14 * GST_SECOND);
  fail_unless_equals_int64 (json_object_get_int_member (object, "running_time"), 7 * GST_SECOND);
  fail_unless_equals_int64 (json_object_get_int_member (object, "stream_time"), 104 * GST_SECOND);
  json_node_unref (line);

  /* Before the segment there is no running time; without a timestamp there is nothing. */
  frame = small_frame (0);
  GST_BUFFER_PTS (frame) = 9 * GST_SECOND;
  line = push_for_json (h, frame);
  assert_schema ("ccl-blob-1.schema.json", line);
  object = json_node_get_object (line);
  fail_unless_equals_int64 (json_object_get_int_member (object, "pts"), 9 * GST_SECOND);
  fail_unless (is_null (object, "running_time") && is_null (object, "stream_time"));
  fail_unless_equals_int (json_object_get_int_member (object, "seq"), 1);
  json_node_unref (line);

  frame = small_frame (0);
  GST_BUFFER_PTS (frame) = GST_CLOCK_TIME_NONE;
  line = push_for_json (h, frame);
  object = json_node_get_object (line);
  fail_unless (is_null (object, "pts") && is_null (object, "running_time") && is_null (object, "utc"));
  json_node_unref (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Pushes a frame and checks what the line says of UTC; NULL: null. */
static void
assert_utc (GstHarness * h, GstBuffer * frame, const gchar * utc, const gchar * time_source)
{
  JsonNode *line = push_for_json (h, frame);
  JsonObject *object = json_node_get_object (line);

  assert_schema ("ccl-blob-1.schema.json", line);
  fail_unless_equals_string (json_object_get_string_member (object, "time_source"), time_source);
  if (utc) {
    fail_unless_equals_string (json_object_get_string_member (object, "utc"), utc);
  } else {
    fail_unless (is_null (object, "utc"));
  }
  json_node_unref (line);
}

static GstBuffer *
frame_with_reference (const gchar * caps, GstClockTime time)
{
  GstBuffer *frame = small_frame (0);
  GstCaps *reference = gst_caps_from_string (caps);

  gst_buffer_add_reference_timestamp_meta (frame, reference, time, GST_CLOCK_TIME_NONE);
  gst_caps_unref (reference);
  return frame;
}

/* 2024-02-29 12:34:56.789 */
#define LEAP_DAY (G_GUINT64_CONSTANT (1709210096789) * GST_MSECOND)
#define LEAP_DAY_TEXT "2024-02-29T12:34:56.789000Z"
#define NTP_OFFSET (G_GUINT64_CONSTANT (2208988800) * GST_SECOND)

GST_START_TEST (test_utc_from_reference)
{
  GstHarness *h = new_harness ();

  assert_utc (h, frame_with_reference ("timestamp/x-unix", LEAP_DAY), LEAP_DAY_TEXT, "reference");
  assert_utc (h, frame_with_reference ("timestamp/x-ntp", LEAP_DAY + NTP_OFFSET), LEAP_DAY_TEXT, "reference");
  /* Before 1970, and of a clock that says nothing about UTC. */
  assert_utc (h, frame_with_reference ("timestamp/x-ntp", 5), NULL, "none");
  assert_utc (h, frame_with_reference ("timestamp/x-drivername-stream", LEAP_DAY), NULL, "none");
  /* The last one there is. */
  assert_utc (h, frame_with_reference ("timestamp/x-unix", G_MAXUINT64 - 1), "2554-07-21T23:34:33.709551Z",
      "reference");

  gst_util_set_object_arg (G_OBJECT (h->element), "time", "none");
  assert_utc (h, frame_with_reference ("timestamp/x-unix", LEAP_DAY), NULL, "none");
  gst_harness_teardown (h);
}

GST_END_TEST;

static void
set_clock (GstHarness * h, GstClockType type, GstClockTime base_time)
{
  GstClock *clock = g_object_new (GST_TYPE_SYSTEM_CLOCK, "clock-type", type, NULL);

  gst_object_ref_sink (clock);
  gst_element_set_clock (h->element, clock);
  gst_element_set_base_time (h->element, base_time);
  gst_object_unref (clock);
}

GST_START_TEST (test_utc_from_clock)
{
  GstHarness *h = new_harness ();
  JsonNode *line;
  gchar *utc;
  GDateTime *date;
  gint64 age;

  set_clock (h, GST_CLOCK_TYPE_REALTIME, LEAP_DAY);
  assert_utc (h, small_frame (25), "2024-02-29T12:34:57.789000Z", "clock");
  /* The sender's time is better than the receiver's. */
  assert_utc (h, frame_with_reference ("timestamp/x-unix", LEAP_DAY), LEAP_DAY_TEXT, "reference");
  gst_util_set_object_arg (G_OBJECT (h->element), "time", "clock");
  assert_utc (h, frame_with_reference ("timestamp/x-unix", 0), LEAP_DAY_TEXT, "clock");
  gst_util_set_object_arg (G_OBJECT (h->element), "time", "reference");
  assert_utc (h, small_frame (25), NULL, "none");

  /* A clock of no known epoch: only on request, by comparing it with the system's time. */
  set_clock (h, GST_CLOCK_TYPE_MONOTONIC, g_get_monotonic_time () * GST_USECOND);
  gst_util_set_object_arg (G_OBJECT (h->element), "time", "auto");
  assert_utc (h, small_frame (25), NULL, "none");
  gst_util_set_object_arg (G_OBJECT (h->element), "time", "clock");
  line = push_for_json (h, small_frame (25));
  date = g_date_time_new_from_iso8601 (json_object_get_string_member (json_node_get_object (line), "utc"), NULL);
  fail_unless (date != NULL);
  age = g_get_real_time () - g_date_time_to_unix (date) * G_USEC_PER_SEC - g_date_time_get_microsecond (date);
  /* The frame is one second after the base time, which was now. */
  fail_unless (ABS (age + G_USEC_PER_SEC) < 30 * G_USEC_PER_SEC, "%" G_GINT64_FORMAT " us", age);
  g_date_time_unref (date);
  json_node_unref (line);

  gst_util_set_object_arg (G_OBJECT (h->element), "time", "system");
  line = push_for_json (h, small_frame (25));
  fail_unless_equals_string (json_object_get_string_member (json_node_get_object (line), "time_source"), "system");
  date = g_date_time_new_from_iso8601 (json_object_get_string_member (json_node_get_object (line), "utc"), NULL);
  utc = g_date_time_format_iso8601 (date);
  age = g_get_real_time () / G_USEC_PER_SEC - g_date_time_to_unix (date);
  fail_unless (age >= 0 && age < 30, "%s is %" G_GINT64_FORMAT " s old", utc, age);
  g_free (utc);
  g_date_time_unref (date);
  json_node_unref (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

TCase *
json_time_tests (void)
{
  TCase *tests = tcase_create ("time");

  tcase_set_timeout (tests, 120);
  tcase_add_test (tests, test_times_of_a_segment);
  tcase_add_test (tests, test_utc_from_reference);
  tcase_add_test (tests, test_utc_from_clock);
  return tests;
}
