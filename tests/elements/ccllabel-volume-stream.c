/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Latency, ends, flushes and refusals around volumes, and settings that contradict them. */
#include "ccllabel-volume.h"
#include "support/pipelines.h"

GST_START_TEST (test_latency)
{
  GstHarness *harness = bar_harness (0, "volume=10 async-depth=2");

  fail_unless_equals_uint64 (gst_harness_query_latency (harness), 9 * 40 * GST_MSECOND);
  set_label (harness, "volume", "0");
  push_bar (harness, 1, 1, 0);
  fail_unless_equals_uint64 (gst_harness_query_latency (harness), 2 * 40 * GST_MSECOND);
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* Serialized events end the volume. */
GST_START_TEST (test_volumes_end_early)
{
  NEED_BACKEND (__i__);

  GstHarness *harness = bar_harness (__i__, "volume=10");
  GstSegment segment;
  Mask other = mask_new (20, 20);
  guint64 n = 0;

  push_bar (harness, 1, 1, 0);
  push_bar (harness, 1, 1, 1);
  fail_unless_equals_int (gst_harness_buffers_in_queue (harness), 0);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.rate = 2;
  fail_unless (gst_harness_push_event (harness, gst_event_new_segment (&segment)));
  fail_unless_equals_int (gst_harness_buffers_in_queue (harness), 2);
  for (guint i = 0; i < 2; i++)
    fail_unless_equals_uint64 (pull_id (harness), n + 1);
  n++;

  push_bar (harness, 1, 1, 2);
  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &other);
  fail_unless_equals_uint64 (pull_id (harness), n + 1);
  n++;

  other.pixels[0] = 1;
  fail_unless_equals_int (push_mask (harness, &other, 3), GST_FLOW_OK);
  GstBuffer *discont = buffer_from_mask (GST_VIDEO_FORMAT_GRAY8, &other);
  GST_BUFFER_FLAG_SET (discont, GST_BUFFER_FLAG_DISCONT);
  fail_unless_equals_int (gst_harness_push (harness, discont), GST_FLOW_OK);
  fail_unless_equals_int (gst_harness_buffers_in_queue (harness), 1);
  fail_unless_equals_uint64 (pull_id (harness), n + 1);
  n++;

  /* Other settings, too. */
  set_label (harness, "connectivity", "4");
  fail_unless_equals_int (push_mask (harness, &other, 4), GST_FLOW_OK);
  fail_unless_equals_uint64 (pull_id (harness), n + 1);
  n++;
  set_label (harness, "volume", "2");
  fail_unless_equals_int (push_mask (harness, &other, 5), GST_FLOW_OK);
  fail_unless_equals_uint64 (pull_id (harness), n + 1);
  n++;
  fail_unless_equals_int (push_mask (harness, &other, 6), GST_FLOW_OK);
  for (guint i = 0; i < 2; i++)
    fail_unless_equals_uint64 (pull_id (harness), n + 1);
  n++;
  set_label (harness, "volume", "0");
  fail_unless_equals_int (push_mask (harness, &other, 7), GST_FLOW_OK);
  fail_unless_equals_uint64 (pull_id (harness), 0);
  fail_unless_equals_uint64 (stat_uint64 (harness, "volumes"), n);
  gst_harness_teardown (harness);
  mask_free (&other);
}

GST_END_TEST;

/* A flush drops the queued frames. Ids go on and are not used again. */
GST_START_TEST (test_flush)
{
  NEED_BACKEND (__i__);

  GstHarness *harness = bar_harness (__i__, "volume=3");

  for (guint i = 0; i < 5; i++)
    push_bar (harness, 1, 1, i);
  for (guint i = 0; i < 3; i++)
    fail_unless_equals_uint64 (pull_id (harness), 1);
  flush_harness (harness);
  fail_unless_equals_int (gst_harness_buffers_in_queue (harness), 0);
  for (guint i = 0; i < 3; i++)
    push_bar (harness, 1, 1, i);
  for (guint i = 0; i < 3; i++)
    fail_unless_equals_uint64 (pull_id (harness), 2);
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* Stopped with queued frames: nothing leaks, and the next start begins anew. */
GST_START_TEST (test_stop)
{
  NEED_BACKEND (__i__);

  GstHarness *harness = bar_harness (__i__, "volume=4");
  GstElement *label = label_of (harness);

  push_bar (harness, 1, 1, 0);
  push_bar (harness, 1, 1, 1);
  gst_element_set_state (label, GST_STATE_READY);
  fail_unless_equals_int (gst_harness_buffers_in_queue (harness), 0);
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* Frames without a mask count towards the volume, so that it ends in time, but are no part of it. */
GST_START_TEST (test_frames_without_mask)
{
  GstHarness *harness = bar_harness (0, "volume=2 mask-source=mask-meta");

  push_bar (harness, 1, 1, 0);
  fail_unless_equals_int (gst_harness_buffers_in_queue (harness), 0);
  push_bar (harness, 1, 1, 1);
  fail_unless_equals_int (gst_harness_buffers_in_queue (harness), 2);
  for (guint i = 0; i < 2; i++) {
    GstBuffer *buffer = gst_harness_pull (harness);

    fail_unless (gst_buffer_get_ccl_blob_meta (buffer)->flags & GST_CCL_BLOB_META_FLAG_SKIPPED);
    fail_unless_equals_int (n_blobs (buffer), 0);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* Frames that downstream refuses are lost, as usual. The next frame begins a new volume. */
static GstPadProbeReturn
refuse (GstPad * pad, GstPadProbeInfo * info, gpointer left)
{
  if ((*(guint *) left)-- > 0)
    return GST_PAD_PROBE_OK;
  GST_PAD_PROBE_INFO_FLOW_RETURN (info) = GST_FLOW_ERROR;
  gst_buffer_unref (GST_PAD_PROBE_INFO_BUFFER (info));
  info->data = NULL;
  return GST_PAD_PROBE_HANDLED;
}

GST_START_TEST (test_refused_downstream)
{
  GstHarness *harness = bar_harness (0, "volume=4");
  Mask mask = bar_at (1, 1);
  guint left = 1;
  GstPad *pad = gst_element_get_static_pad (label_of (harness), "src");
  const gulong probe = gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, refuse, &left, NULL);

  for (guint i = 0; i < 3; i++)
    fail_unless_equals_int (push_mask (harness, &mask, i), GST_FLOW_OK);
  fail_unless_equals_int (push_mask (harness, &mask, 3), GST_FLOW_ERROR);
  gst_pad_remove_probe (pad, probe);
  for (guint i = 4; i < 8; i++)
    push_mask (harness, &mask, i);
  fail_unless (gst_harness_buffers_in_queue (harness) >= 4);
  while (gst_harness_buffers_in_queue (harness) > 4)
    fail_unless_equals_uint64 (pull_id (harness), 1);
  for (guint i = 0; i < 4; i++)
    fail_unless_equals_uint64 (pull_id (harness), 2);
  gst_object_unref (pad);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

static void
assert_refused (const gchar * settings, const gchar * expected)
{
  GstElement *pipeline;
  gchar *line = g_strdup_printf ("videotestsrc ! video/x-raw,format=GRAY8,width=1920,height=1080 ! ccllabel %s ! "
      "fakesink", settings);
  GstBus *bus;
  GstMessage *message;
  GError *error = NULL;

  pipeline = gst_parse_launch (line, NULL);
  fail_unless (pipeline != NULL, "%s", line);
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  bus = gst_element_get_bus (pipeline);
  message = gst_bus_timed_pop_filtered (bus, 100 * GST_SECOND, GST_MESSAGE_ERROR | GST_MESSAGE_ASYNC_DONE);
  fail_unless (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR, "%s: no error", settings);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (strstr (error->message, expected) != NULL, "%s: expected \"%s\" in \"%s\"", settings, expected,
      error->message);
  g_error_free (error);
  gst_message_unref (message);
  gst_object_unref (bus);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  g_free (line);
}

GST_START_TEST (test_contradictions)
{
  assert_refused ("backend=cpu volume=5 interval=2", "volume=5, but interval");
  assert_refused ("backend=cpu volume=5 output=labels", "but output");
  assert_refused ("backend=cpu volume=5 output=mask", "but output");
  assert_refused ("backend=cpu volume=5 attach=roi", "but attach");
  assert_refused ("backend=cpu algorithm=runs-3d", "volumes, not single masks");
  assert_refused ("backend=cpu volume=130", "at most 129 masks fit");
}

GST_END_TEST;

static void
collect_id (GstElement * sink, GstBuffer * buffer, GstPad * pad, GArray * ids)
{
  const guint64 id = id_of (buffer, 0);

  fail_unless_equals_int (n_blobs (buffer), 1);
  g_array_append_val (ids, id);
}

/* The line of examples/launch.md: the ball keeps its number for ten frames. */
GST_START_TEST (test_ball)
{
  GArray *ids = g_array_new (FALSE, FALSE, sizeof (guint64));
  GstElement *pipeline = gst_parse_launch ("videotestsrc pattern=ball num-buffers=30 ! video/x-raw,format=GRAY8 ! "
      "ccllabel threshold=127 volume=10 ! fakesink name=sink signal-handoffs=true", NULL);
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");

  g_signal_connect (sink, "handoff", G_CALLBACK (collect_id), ids);
  play_to_end (pipeline);
  fail_unless_equals_int (ids->len, 30);
  for (guint i = 0; i < ids->len; i++)
    fail_unless_equals_uint64 (g_array_index (ids, guint64, i), 1 + i / 10);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
  g_array_unref (ids);
}

GST_END_TEST;

void
ccllabel_volume_add_stream_tests (Suite * suite)
{
  TCase *tests = tcase_create ("stream");

  tcase_set_timeout (tests, 120);
  tcase_add_test (tests, test_latency);
  tcase_add_loop_test (tests, test_volumes_end_early, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_flush, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_stop, 0, G_N_ELEMENTS (backends));
  tcase_add_test (tests, test_frames_without_mask);
  tcase_add_test (tests, test_refused_downstream);
  tcase_add_test (tests, test_contradictions);
  tcase_add_test (tests, test_ball);
  suite_add_tcase (suite, tests);
}
