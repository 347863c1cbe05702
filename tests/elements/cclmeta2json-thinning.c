/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclmeta2json: fewer lines than frames, and lines of events. */

#include "cclmeta2json.h"

/* Pushes a frame. */
static guint
n_lines (GstHarness * h, GstBuffer * frame)
{
  guint n = 0;
  GstBuffer *line;

  fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_OK);
  for (; (line = gst_harness_try_pull (h)); n++)
    gst_buffer_unref (line);
  return n;
}

/* A frame with one blob of a track, and a zone. */
static GstBuffer *
track_frame (guint number, guint64 track, guint64 crossings)
{
  GstBuffer *const buffer = video_frame (number);
  GstCclBlob blob = rectangle (1, 10 + number, 20, 3, 2);
  gchar name[] = "gate";
  const GstCclZone zone = {.name = name,.kind = GST_CCL_ZONE_LINE,.n_forward = crossings };

  blob.track_id = track;
  attach_blobs (buffer, &blob, 1);
  gst_buffer_add_ccl_zone_meta (buffer, &zone, 1);
  return buffer;
}

GST_START_TEST (test_interval)
{
  GstHarness *const h = new_harness ();
  guint lines = 0;

  gst_harness_set (h, "cclmeta2json", "interval", 10 * FRAME_TIME, NULL);
  for (guint i = 0; i < 100; i++) {
    const guint n = n_lines (h, track_frame (i, 1, i));

    fail_unless_equals_int (n, i % 10 == 0);
    lines += n;
  }
  fail_unless_equals_int (lines, 10);
  /* The stream begins again: so does the interval. */
  fail_unless_equals_int (n_lines (h, track_frame (3, 1, 100)), 1);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_on_change)
{
  GstHarness *const h = new_harness ();

  gst_harness_set (h, "cclmeta2json", "on-change", TRUE, NULL);
  fail_unless_equals_int (n_lines (h, track_frame (0, 1, 0)), 1);
  fail_unless_equals_int (n_lines (h, track_frame (1, 1, 0)), 0);       /* it has moved only */
  fail_unless_equals_int (n_lines (h, track_frame (2, 1, 1)), 1);
  fail_unless_equals_int (n_lines (h, track_frame (3, 2, 1)), 1);
  fail_unless_equals_int (n_lines (h, track_frame (4, 2, 1)), 0);
  fail_unless_equals_int (n_lines (h, empty_frame (5)), 1);
  fail_unless_equals_int (n_lines (h, empty_frame (6)), 0);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* A change within the interval is not lost: it has its line at the end of the interval. */
GST_START_TEST (test_interval_and_change)
{
  GstHarness *const h = new_harness ();

  gst_harness_set (h, "cclmeta2json", "on-change", TRUE, "interval", 4 * FRAME_TIME, NULL);
  fail_unless_equals_int (n_lines (h, track_frame (0, 1, 0)), 1);
  for (guint i = 1; i < 4; i++)
    fail_unless_equals_int (n_lines (h, track_frame (i, 1, 1)), 0);
  fail_unless_equals_int (n_lines (h, track_frame (4, 1, 1)), 1);
  fail_unless_equals_int (n_lines (h, track_frame (5, 1, 2)), 0);
  fail_unless_equals_int (n_lines (h, track_frame (9, 1, 2)), 1);
  fail_unless_equals_int (n_lines (h, track_frame (20, 1, 2)), 0);
  gst_harness_teardown (h);
}

GST_END_TEST;

static void
push_event (GstHarness * h, const gchar * zone, guint number)
{
  fail_unless (gst_harness_push_event (h, gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM,
              gst_structure_new ("ccl-event", "event", G_TYPE_STRING, "enter", "element", G_TYPE_STRING, "z",
                  "zone", G_TYPE_STRING, zone, "track-id", G_TYPE_UINT64, (guint64) 7, "inside", G_TYPE_UINT, 1,
                  "x", G_TYPE_DOUBLE, 1.5, "timestamp", G_TYPE_UINT64, number * FRAME_TIME, NULL))));
}

static void
assert_event (GstHarness * h, const gchar * zone, guint number)
{
  gchar *const text = take_line (gst_harness_pull (h));
  JsonNode *const line = parse (text);
  JsonObject *const object = json_node_get_object (line);

  assert_schema ("ccl-event-1.schema.json", line);
  fail_unless_equals_string (json_object_get_string_member (object, "zone"), zone);
  fail_unless_equals_int (json_object_get_int_member (object, "track"), 7);
  fail_unless_equals_int (json_object_get_int_member (object, "pts"), number * FRAME_TIME);
  fail_unless_equals_int (json_object_get_int_member (object, "seq"), number);
  json_node_unref (line);
  g_free (text);
}

GST_START_TEST (test_events)
{
  GstHarness *const h = new_harness ();

  push_event (h, "before", 0);
  gst_harness_set (h, "cclmeta2json", "events-only", TRUE, "tags", "{\"site\":\"A\"}", NULL);
  fail_unless_equals_int (n_lines (h, small_frame (0)), 0);
  push_event (h, "a\"\n", 1);
  push_event (h, "b", 1);
  push_event (h, "later", 3);
  fail_unless_equals_int (gst_harness_push (h, small_frame (1)), GST_FLOW_OK);
  assert_event (h, "a\"\n", 1);
  assert_event (h, "b", 1);
  fail_unless_equals_int (n_lines (h, small_frame (2)), 0);
  fail_unless_equals_int (gst_harness_push (h, small_frame (3)), GST_FLOW_OK);
  assert_event (h, "later", 3);

  push_event (h, "last", 9);
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 1);
  gst_harness_teardown (h);
}

GST_END_TEST;

TCase *
json_thinning_tests (void)
{
  TCase *const tests = tcase_create ("thinning");

  tcase_add_test (tests, test_interval);
  tcase_add_test (tests, test_on_change);
  tcase_add_test (tests, test_interval_and_change);
  tcase_add_test (tests, test_events);
  return tests;
}
