/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclmeta2json: frames without a line, events, queries, states and hints. */

#include "cclmeta2json.h"

#include <string.h>

static void
assert_gap (GstHarness * h, GstClockTime pts)
{
  GstEvent *event;
  GstClockTime time, duration;

  while ((event = gst_harness_try_pull_event (h)) && GST_EVENT_TYPE (event) != GST_EVENT_GAP)
    gst_event_unref (event);
  fail_unless (event != NULL, "no gap");
  gst_event_parse_gap (event, &time, &duration);
  fail_unless_equals_uint64 (time, pts);
  fail_unless_equals_uint64 (duration, FRAME_TIME);
  gst_event_unref (event);
}

GST_START_TEST (test_empty_frames)
{
  GstHarness *h = new_harness ();
  JsonNode *line = push_for_json (h, empty_frame (0));
  JsonObject *object = json_node_get_object (line);

  assert_schema ("ccl-blob-1.schema.json", line);
  fail_unless_equals_int (json_array_get_length (json_object_get_array_member (object, "blobs")), 0);
  json_node_unref (line);

  gst_harness_set (h, "cclmeta2json", "empty-frames", FALSE, NULL);
  fail_unless_equals_int (gst_harness_push (h, empty_frame (1)), GST_FLOW_OK);
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 0);
  assert_gap (h, FRAME_TIME);
  line = push_for_json (h, small_frame (2));
  fail_unless_equals_int (json_object_get_int_member (json_node_get_object (line), "seq"), 2);
  json_node_unref (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_frame_not_analysed)
{
  GstHarness *h = new_harness ();
  GstBuffer *frame = empty_frame (3);

  gst_buffer_get_ccl_blob_meta (frame)->flags = GST_CCL_BLOB_META_FLAG_SKIPPED;
  fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_OK);
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 0);
  assert_gap (h, 3 * FRAME_TIME);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_events_and_flush)
{
  GstHarness *h = new_harness ();
  GstSegment segment;
  GstStructure *expected =
      gst_structure_from_string ("application/x-json,schema=(string)ccl-blob-1,framing=(string)ndjson", NULL);
  JsonNode *line;
  GstCaps *caps;
  GstBuffer *out;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_buffer_unref (gst_harness_push_and_pull (h, small_frame (0)));
  caps = gst_pad_get_current_caps (h->sinkpad);
  fail_unless (gst_structure_is_equal (gst_caps_get_structure (caps, 0), expected));
  gst_caps_unref (caps);

  fail_unless (gst_harness_push_event (h, gst_event_new_gap (FRAME_TIME, FRAME_TIME)));
  assert_gap (h, FRAME_TIME);

  fail_unless (gst_harness_push_event (h, gst_event_new_flush_start ()));
  fail_unless_equals_int (gst_harness_push (h, small_frame (2)), GST_FLOW_FLUSHING);
  fail_unless (gst_harness_push_event (h, gst_event_new_flush_stop (TRUE)));
  fail_unless (gst_harness_push_event (h, gst_event_new_segment (&segment)));
  out = gst_harness_push_and_pull (h, small_frame (3));
  fail_unless_equals_uint64 (GST_BUFFER_PTS (out), 3 * FRAME_TIME);
  gst_buffer_unref (out);

  /* Another size, and frames that are not raw video at all. */
  gst_harness_set_src_caps_str (h, "image/jpeg,width=640,height=480,framerate=25/1");
  line = push_for_json (h, small_frame (4));
  json_node_unref (line);
  gst_harness_set_src_caps_str (h, "application/x-thing");
  line = push_for_json (h, video_frame (5));
  assert_schema ("ccl-blob-1.schema.json", line);
  json_node_unref (line);

  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  fail_unless_equals_int (gst_harness_push (h, small_frame (6)), GST_FLOW_EOS);
  gst_structure_free (expected);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_allocation_stops_here)
{
  GstHarness *h = new_harness ();
  GstCaps *caps = gst_caps_from_string (VIDEO_CAPS);
  GstQuery *query = gst_query_new_allocation (caps, TRUE);

  /* What the harness offers for text must not reach a source of pictures. */
  gst_harness_set_propose_allocator (h, gst_allocator_find (NULL), NULL);
  gst_harness_add_propose_allocation_meta (h, GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE, NULL);
  gst_buffer_unref (gst_harness_push_and_pull (h, small_frame (0)));
  fail_unless (gst_pad_peer_query (h->srcpad, query));
  fail_unless_equals_int (gst_query_get_n_allocation_pools (query), 0);
  fail_unless_equals_int (gst_query_get_n_allocation_params (query), 0);
  fail_unless (gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL));
  fail_if (gst_query_find_allocation_meta (query, GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE, NULL));
  gst_query_unref (query);
  gst_caps_unref (caps);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_hint_without_metadata)
{
  GstHarness *h = new_harness ();
  GstBus *bus = gst_bus_new ();
  GstMessage *message;
  GError *error = NULL;

  gst_element_set_bus (h->element, bus);
  for (guint i = 0; i < 100; i++)
    gst_buffer_unref (gst_harness_push_and_pull (h, video_frame (i)));
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING);
  fail_unless (message != NULL);
  gst_message_parse_warning (message, &error, NULL);
  fail_unless (strstr (error->message, "no blob metadata"), "%s", error->message);
  g_clear_error (&error);
  gst_message_unref (message);
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING) == NULL, "told twice");
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_state_cycles)
{
  GstElement *pipeline = gst_parse_launch ("videotestsrc num-buffers=2 ! video/x-raw,width=16,height=16 ! "
      "cclmeta2json name=json tags={\\\"a\\\":1} ! fakesink", NULL);
  GstBus *bus = gst_element_get_bus (pipeline);

  for (guint i = 0; i < 50; i++) {
    GstMessage *message;

    fail_if (gst_element_set_state (pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE);
    message = gst_bus_timed_pop_filtered (bus, 100 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    fail_unless (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS);
    gst_message_unref (message);
    fail_if (gst_element_set_state (pipeline, GST_STATE_NULL) == GST_STATE_CHANGE_FAILURE);
  }
  gst_object_unref (bus);
  gst_object_unref (pipeline);
}

GST_END_TEST;

GST_START_TEST (test_seq_starts_again)
{
  GstHarness *h = new_harness ();
  JsonNode *line;

  gst_buffer_unref (gst_harness_push_and_pull (h, small_frame (0)));
  fail_unless_equals_int (gst_element_set_state (h->element, GST_STATE_READY), GST_STATE_CHANGE_SUCCESS);
  gst_harness_play (h);
  gst_harness_set_src_caps_str (h, VIDEO_CAPS);
  line = push_for_json (h, small_frame (0));
  fail_unless_equals_int (json_object_get_int_member (json_node_get_object (line), "seq"), 0);
  json_node_unref (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_summary)
{
  GstHarness *const h = new_harness ();
  GstBus *const bus = gst_bus_new ();
  GstMessage *message;
  guint64 frames, blobs;

  gst_element_set_bus (h->element, bus);
  gst_harness_set (h, "cclmeta2json", "summary", TRUE, NULL);
  for (guint i = 0; i < 3; i++)
    gst_buffer_unref (gst_harness_push_and_pull (h, small_frame (i)));
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT);
  fail_unless (message != NULL && gst_message_has_name (message, "ccl-summary"));
  fail_unless (gst_structure_get (gst_message_get_structure (message), "frames", G_TYPE_UINT64, &frames,
          "blobs", G_TYPE_UINT64, &blobs, NULL));
  fail_unless_equals_uint64 (frames, 3);
  fail_unless_equals_uint64 (blobs, 3);
  gst_message_unref (message);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}

GST_END_TEST;

TCase *
json_stream_tests (void)
{
  TCase *tests = tcase_create ("stream");

  tcase_set_timeout (tests, 120);
  tcase_add_test (tests, test_empty_frames);
  tcase_add_test (tests, test_frame_not_analysed);
  tcase_add_test (tests, test_events_and_flush);
  tcase_add_test (tests, test_allocation_stops_here);
  tcase_add_test (tests, test_hint_without_metadata);
  tcase_add_test (tests, test_state_cycles);
  tcase_add_test (tests, test_seq_starts_again);
  tcase_add_test (tests, test_summary);
  return tests;
}
