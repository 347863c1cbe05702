/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Frames in flight, events between them, and frames that are not analysed. */
#include "ccllabel.h"

GST_START_TEST (test_async_order_and_latency)
{
  NEED_BACKEND (__i__);

  Mask masks[8];

  for (guint i = 0; i < 8; i++)
    masks[i] = mask_random (40 + i % 2, 30, i, 0.1 * i);
  for (guint depth = 0; depth <= 3; depth++) {
    gchar *settings = g_strdup_printf ("async-depth=%u max-components=1000", depth);
    GstHarness *harness = label_harness (__i__, settings);

    gst_harness_set_upstream_latency (harness, 5 * GST_MSECOND);
    set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &masks[0]);
    fail_unless_equals_uint64 (harness_latency (harness), 5 * GST_MSECOND + depth * 40 * GST_MSECOND);
    for (guint i = 0; i < 8; i += 2) {
      fail_unless_equals_int (push_mask (harness, &masks[i], i), GST_FLOW_OK);
      fail_unless_equals_int (gst_harness_buffers_received (harness), i / 2 + 1 > depth ? i / 2 + 1 - depth : 0);
    }
    fail_unless (gst_harness_push_event (harness, gst_event_new_eos ()));
    fail_unless_equals_int (gst_harness_buffers_received (harness), 4);
    for (guint i = 0; i < 8; i += 2)
      check_pulled (harness, &masks[i], 8, i);
    gst_harness_teardown (harness);
    g_free (settings);
  }
  for (guint i = 0; i < 8; i++)
    mask_free (&masks[i]);
}

GST_END_TEST;

GST_START_TEST (test_latency_message_when_depth_changes)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_dots (3);
  GstHarness *harness;
  GstMessage *message;
  GstBus *bus;

  harness = label_harness (__i__, "");
  bus = watch_bus (harness);
  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  push_mask (harness, &mask, 0);
  assert_no_message (bus, GST_MESSAGE_LATENCY);
  set_label (harness, "async-depth", "2");
  push_mask (harness, &mask, 1);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_LATENCY);
  fail_unless (message != NULL, "the latency changed without a message");
  gst_message_unref (message);
  fail_unless_equals_uint64 (harness_latency (harness), 80 * GST_MSECOND);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

/* Serialized events stay in order: each comes out after the frames that were pushed before it. */
GST_START_TEST (test_events_wait_for_frames)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_dots (3), other = mask_dots (4);

  for (guint kind = 0; kind < 6; kind++) {
    GstHarness *harness = label_harness (__i__, "async-depth=3");
    GstBuffer *buffer;

    set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
    push_mask (harness, &mask, 0);
    push_mask (harness, &mask, 1);
    fail_unless_equals_int (gst_harness_buffers_received (harness), 0);
    switch (kind) {
      case 0:
        set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &other);
        break;
      case 1:
        gst_harness_push_event (harness, segment_from (7 * GST_SECOND));
        break;
      case 2:
        gst_harness_push_event (harness, gst_event_new_gap (0, GST_SECOND));
        break;
      case 3:
        gst_harness_push_event (harness, gst_event_new_tag (gst_tag_list_new (GST_TAG_TITLE, "t", NULL)));
        break;
      case 4:
        buffer = buffer_from_mask (GST_VIDEO_FORMAT_GRAY8, &mask);
        GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
        GST_BUFFER_PTS (buffer) = GST_SECOND;
        gst_harness_push (harness, buffer);
        break;
      case 5:
      {
        GstQuery *drain = gst_query_new_drain ();
        gst_pad_peer_query (harness->srcpad, drain);
        gst_query_unref (drain);
        break;
      }
    }
    fail_unless (gst_harness_buffers_received (harness) == 2, "kind %u: %u frames came out, not 2", kind,
        gst_harness_buffers_received (harness));
    check_pulled (harness, &mask, 8, 0);
    check_pulled (harness, &mask, 8, 1);
    if (kind == 4) {
      gst_harness_push_event (harness, gst_event_new_eos ());
      buffer = gst_harness_pull (harness);
      fail_unless (GST_BUFFER_IS_DISCONT (buffer));
      gst_buffer_unref (buffer);
    }
    gst_harness_teardown (harness);
  }
  mask_free (&mask);
  mask_free (&other);
}

GST_END_TEST;

/* Old frames leave under the old caps. */
static GstPadProbeReturn
record (GstPad * pad, GstPadProbeInfo * info, gpointer log)
{
  (void) pad;
  if (GST_IS_BUFFER (info->data))
    g_string_append_c (log, 'b');
  else if (GST_EVENT_TYPE (info->data) == GST_EVENT_CAPS)
    g_string_append_c (log, 'C');
  else if (GST_EVENT_TYPE (info->data) == GST_EVENT_SEGMENT)
    g_string_append_c (log, 'S');
  else if (GST_EVENT_TYPE (info->data) == GST_EVENT_EOS)
    g_string_append_c (log, 'E');
  return GST_PAD_PROBE_OK;
}

GST_START_TEST (test_stream_order_over_caps_changes)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_dots (3), other = mask_dots (4);
  GString *log = g_string_new (NULL);
  GstHarness *harness;

  harness = label_harness (__i__, "async-depth=2");
  gst_pad_add_probe (harness->sinkpad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, record, log,
      NULL);
  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  push_mask (harness, &mask, 0);
  push_mask (harness, &mask, 1);
  push_mask (harness, &mask, 2);
  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &other);
  push_mask (harness, &other, 3);
  gst_harness_push_event (harness, segment_from (7 * GST_SECOND));
  set_label (harness, "output", "mask");
  push_mask (harness, &other, 4);
  push_mask (harness, &other, 5);
  gst_harness_push_event (harness, gst_event_new_eos ());
  fail_unless_equals_string (log->str, "CSbbbCSbSbbE");
  gst_harness_teardown (harness);
  g_string_free (log, TRUE);
  mask_free (&mask);
  mask_free (&other);
}

GST_END_TEST;

GST_START_TEST (test_flush_drops_frames_in_flight)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_dots (3);

  for (guint depth = 1; depth <= 3; depth++) {
    gchar *settings = g_strdup_printf ("async-depth=%u", depth);
    GstHarness *harness = label_harness (__i__, settings);

    set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
    for (guint i = 0; i < depth; i++)
      push_mask (harness, &mask, i);
    fail_unless_equals_int (gst_harness_buffers_received (harness), 0);
    gst_harness_push_event (harness, gst_event_new_flush_start ());
    gst_harness_push_event (harness, gst_event_new_flush_stop (TRUE));
    gst_harness_push_event (harness, segment_from (7 * GST_SECOND));
    fail_unless_equals_int (gst_harness_buffers_received (harness), 0);
    for (guint i = 0; i <= depth; i++)
      fail_unless_equals_int (push_mask (harness, &mask, 200 + i), GST_FLOW_OK);
    check_pulled (harness, &mask, 8, 200);
    gst_harness_teardown (harness);
    g_free (settings);
  }
  mask_free (&mask);
}

GST_END_TEST;

/* Raw pictures from a file have a segment in bytes: no timestamps, so no frame is late. */
GST_START_TEST (test_segment_in_bytes)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_dots (3);
  GstHarness *harness = label_harness (__i__, "skip-when-late=true async-depth=1");
  GstSegment segment;

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  gst_segment_init (&segment, GST_FORMAT_BYTES);
  gst_harness_push_event (harness, gst_event_new_segment (&segment));
  push_mask (harness, &mask, 0);
  push_mask (harness, &mask, 1);
  gst_harness_push_event (harness, gst_event_new_eos ());
  check_pulled (harness, &mask, 8, 0);
  check_pulled (harness, &mask, 8, 1);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

/* Stopped with frames in flight: nothing hangs, nothing leaks. */
GST_START_TEST (test_stop_with_frames_in_flight)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_random (200, 100, 1, 0.5);
  GstHarness *harness;
  GstBuffer *buffer;

  harness = label_harness (__i__, "async-depth=3");
  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  buffer = buffer_from_mask (GST_VIDEO_FORMAT_GRAY8, &mask);
  gst_harness_push (harness, gst_buffer_ref (buffer));
  push_mask (harness, &mask, 1);
  gst_element_set_state (harness->element, GST_STATE_NULL);
  ASSERT_BUFFER_REFCOUNT (buffer, "buffer", 1);
  gst_buffer_unref (buffer);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

GST_START_TEST (test_interval)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_dots (6);
  GstHarness *harness;

  harness = label_harness (__i__, "interval=3 async-depth=1");
  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  for (guint i = 0; i < 7; i++)
    fail_unless_equals_int (push_mask (harness, &mask, i), GST_FLOW_OK);
  gst_harness_push_event (harness, gst_event_new_eos ());
  for (guint i = 0; i < 7; i++) {
    GstBuffer *buffer = gst_harness_pull (harness);
    GstCclBlobMeta *meta = gst_buffer_get_ccl_blob_meta (buffer);

    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), i * 40 * GST_MSECOND);
    fail_unless_equals_int (meta->flags, i % 3 ? GST_CCL_BLOB_META_FLAG_SKIPPED : 0);
    fail_unless_equals_int (gst_ccl_blob_meta_get_length (meta), i % 3 ? 0 : 6);
    gst_buffer_unref (buffer);
  }
  fail_unless_equals_uint64 (stat_uint64 (harness, "frames"), 7);
  fail_unless_equals_uint64 (stat_uint64 (harness, "skipped"), 4);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

GST_START_TEST (test_skip_when_late)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_dots (6);

  for (guint skip = 0; skip < 2; skip++) {
    GstHarness *harness = label_harness (__i__, skip ? "skip-when-late=true" : "");
    GstBus *bus = watch_bus (harness);
    GstMessage *message;

    set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
    push_mask (harness, &mask, 0);
    /* The sink was 100 ms late with the frame at 0: what is due before 100 ms is late. */
    gst_harness_push_upstream_event (harness, gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 2.0, 100 * GST_MSECOND, 0));
    for (guint i = 1; i < 5; i++)
      fail_unless_equals_int (push_mask (harness, &mask, i), GST_FLOW_OK);
    for (guint i = 0; i < 5; i++) {
      GstBuffer *buffer = gst_harness_pull (harness);
      const gboolean late = skip && (i == 1 || i == 2);
      GstCclBlobMeta *meta = gst_buffer_get_ccl_blob_meta (buffer);

      fail_unless_equals_int (meta->flags, late ? GST_CCL_BLOB_META_FLAG_SKIPPED : 0);
      fail_unless_equals_int (gst_ccl_blob_meta_get_length (meta), late ? 0 : 6);
      gst_buffer_unref (buffer);
    }
    fail_unless_equals_uint64 (stat_uint64 (harness, "late"), skip ? 2 : 0);
    message = gst_bus_pop_filtered (bus, GST_MESSAGE_QOS);
    fail_unless_equals_int (message != NULL, skip);
    gst_clear_message (&message);
    drop_bus (harness, bus);
    gst_harness_teardown (harness);
  }
  mask_free (&mask);
}

GST_END_TEST;

void
ccllabel_add_async_tests (Suite * suite)
{
  TCase *tests = tcase_create ("async");

  tcase_set_timeout (tests, 300);
  tcase_add_loop_test (tests, test_async_order_and_latency, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_latency_message_when_depth_changes, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_events_wait_for_frames, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_stream_order_over_caps_changes, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_flush_drops_frames_in_flight, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_segment_in_bytes, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_stop_with_frames_in_flight, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_interval, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_skip_when_late, 0, G_N_ELEMENTS (backends));
  suite_add_tcase (suite, tests);
}
