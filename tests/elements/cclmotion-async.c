/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Frames in flight. */
#include "cclmotion.h"

static GstBuffer *
changed_scene (guint n)
{
  GstBuffer *buffer = scene (GST_VIDEO_FORMAT_GRAY8, W, H, n, 10);

  gst_buffer_memset (buffer, 0, 200 + n % 7, W * H);
  return buffer;
}

/* Pulls all events and buffers and describes them. */
static void
describe_output (GstHarness * harness, GString * log)
{
  GstBuffer *buffer;

  while ((buffer = gst_harness_try_pull (harness))) {
    GstCclMaskMeta *meta = gst_buffer_get_ccl_mask_meta (buffer);
    GstBuffer *mask = meta ? meta->mask : buffer;
    gchar *sum;
    GstMapInfo map;

    fail_unless (gst_buffer_map (mask, &map, GST_MAP_READ));
    sum = g_compute_checksum_for_data (G_CHECKSUM_MD5, map.data, map.size);
    gst_buffer_unmap (mask, &map);
    g_string_append_printf (log, "%" G_GUINT64_FORMAT " %s", GST_BUFFER_PTS (buffer) / FRAME, sum);
    if (meta)
      g_string_append_printf (log, " flags %x foreground %" G_GUINT64_FORMAT, meta->flags, meta->n_foreground);
    g_string_append_c (log, '\n');
    g_free (sum);
    gst_buffer_unref (buffer);
  }
}

static void
describe_messages (GstBus * bus, GString * log)
{
  GstMessage *message;

  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT))) {
    gchar *text = gst_structure_to_string (gst_message_get_structure (message));
    g_string_append_printf (log, "%s\n", text);
    g_free (text);
    gst_message_unref (message);
  }
}

/* All output for a clip with every kind of change. With `changing`, the depth changes on the way. */
static gchar *
describe_clip (guint backend, guint depth, gboolean changing)
{
  GstHarness *harness = harness_of_depth (backend, depth);
  GstBus *bus = watch_bus (harness);
  GString *log = g_string_new (NULL);

  for (guint n = 0; n < 60; n++) {
    GstBuffer *buffer = n == 12 || n == 13 || n == 16 || n == 40 ? changed_scene (n)
        : scene (GST_VIDEO_FORMAT_GRAY8, W, H, n, 8);

    if (n == 20)
      set_motion (harness, "confirm-frames", "2");
    if (n == 23)
      set_motion (harness, "ignore", "0,0;0.4,0;0.4,1;0,1");
    if (n == 26)
      set_motion (harness, "ignore", "");
    if (n == 28)
      set_motion (harness, "work-height", "30");
    if (n == 36)
      gst_harness_push_event (harness, gst_event_new_gap (n * FRAME, FRAME));
    if (n == 38 || n == 44)
      set_motion (harness, "output", n == 38 ? "mask" : "passthrough");
    if (n == 46) {
      GST_BUFFER_PTS (buffer) += 10 * GST_SECOND;
      GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
    }
    if (n == 54)
      gst_harness_push_event (harness, segment_from (0));
    if (changing && n % 3 == 0) {
      gchar *value = g_strdup_printf ("%u", n / 3 * 5 % 4);
      set_motion (harness, "async-depth", value);
      g_free (value);
    }
    ck_assert_int_eq (gst_harness_push (harness, buffer), GST_FLOW_OK);
    describe_output (harness, log);
  }
  gst_harness_push_event (harness, gst_event_new_eos ());
  describe_output (harness, log);
  describe_messages (bus, log);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
  return g_string_free (log, FALSE);
}

static void
assert_same_lines (const gchar * is, const gchar * expected)
{
  gchar **const a = g_strsplit (is, "\n", -1), **const b = g_strsplit (expected, "\n", -1);

  for (guint i = 0; a[i] && b[i]; i++)
    fail_unless (strcmp (a[i], b[i]) == 0, "line %u is \"%s\", not \"%s\"", i, a[i], b[i]);
  ck_assert_uint_eq (g_strv_length (a), g_strv_length (b));
  g_strfreev (a);
  g_strfreev (b);
}

GST_START_TEST (test_async_is_the_same)
{
  gchar *expected, *is;

  NEED_BACKEND (__i__);
  expected = describe_clip (0, 0, FALSE);
  fail_unless (strstr (expected, "flags 2") != NULL, "no global change");
  fail_unless (strstr (expected, "state=(string)end") != NULL, "no messages");
  for (guint depth = 0; depth <= 4; depth++) {
    is = describe_clip (__i__, depth % 4, depth == 4);
    assert_same_lines (is, expected);
    g_free (is);
  }
  g_free (expected);
}

GST_END_TEST;

GST_START_TEST (test_async_latency)
{
  NEED_BACKEND (__i__);
  for (guint depth = 0; depth <= 3; depth++) {
    GstHarness *harness = harness_of_depth (__i__, depth);
    GstBus *bus = watch_bus (harness);
    GstMessage *message;

    for (guint n = 0; n < 8; n++) {
      ck_assert_int_eq (gst_harness_push (harness, scene (GST_VIDEO_FORMAT_GRAY8, W, H, n, 8)), GST_FLOW_OK);
      ck_assert_uint_eq (gst_harness_buffers_received (harness), n + 1 > depth ? n + 1 - depth : 0);
    }
    fail_unless_equals_uint64 (harness_latency (harness), depth * FRAME);
    while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_LATENCY)))
      gst_message_unref (message);
    set_motion (harness, "async-depth", depth ? "0" : "2");
    gst_harness_push (harness, scene (GST_VIDEO_FORMAT_GRAY8, W, H, 8, 8));
    message = gst_bus_pop_filtered (bus, GST_MESSAGE_LATENCY);
    fail_unless (message != NULL, "the latency changed without a message");
    gst_message_unref (message);
    fail_unless_equals_uint64 (harness_latency (harness), (depth ? 0 : 2) * FRAME);
    drop_bus (harness, bus);
    gst_harness_teardown (harness);
  }
}

GST_END_TEST;

/* With more queued frames than the pool has headroom, upstream would wait for a buffer without end. */
GST_START_TEST (test_more_queued_frames_wait_for_headroom)
{
  NEED_BACKEND (__i__);

  GstHarness *harness = harness_of_depth (__i__, 1);
  guint n = 0;

  limit_pool (harness->sinkpad, 0);
  ck_assert_uint_eq (ask_for_buffers (harness), 3);
  n_reconfigures (harness);
  set_motion (harness, "async-depth", "3");
  for (; n < 3; n++)
    gst_harness_push (harness, scene (GST_VIDEO_FORMAT_GRAY8, W, H, n, 8));
  ck_assert_uint_eq (gst_harness_buffers_received (harness), n - 1);
  ck_assert_uint_eq (n_reconfigures (harness), 1);
  ck_assert_uint_eq (ask_for_buffers (harness), 5);
  ck_assert_uint_eq (gst_harness_buffers_received (harness), n);
  for (; n < 10; n++)
    gst_harness_push (harness, scene (GST_VIDEO_FORMAT_GRAY8, W, H, n, 8));
  ck_assert_uint_eq (gst_harness_buffers_received (harness), n - 3);
  ck_assert_uint_eq (n_reconfigures (harness), 0);
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* The first frame after a dropped one has the flag DISCONT, not an older one. */
GST_START_TEST (test_discont_after_frames_dropped)
{
  NEED_BACKEND (__i__);

  GstHarness *harness = harness_of_depth (__i__, 2);
  GstBuffer *buffer;

  set_motion (harness, "qos", "true");
  for (guint n = 0; n < 8; n++) {
    /* Frames that are due before 180 ms are late: frame 4. */
    if (n == 4)
      gst_harness_push_upstream_event (harness,
          gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 2.0, 10 * GST_MSECOND, 160 * GST_MSECOND));
    ck_assert_int_eq (gst_harness_push (harness, scene (GST_VIDEO_FORMAT_GRAY8, W, H, n, 8)), GST_FLOW_OK);
  }
  gst_harness_push_event (harness, gst_event_new_eos ());
  ck_assert_uint_eq (gst_harness_buffers_received (harness), 7);
  while ((buffer = gst_harness_try_pull (harness))) {
    const guint n = GST_BUFFER_PTS (buffer) / FRAME;

    fail_unless (GST_BUFFER_IS_DISCONT (buffer) == (n == 5), "frame %u", n);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* Caps that come with another output belong to that output: downstream would refuse the old format. */
GST_START_TEST (test_output_changes_with_the_caps)
{
  GstHarness *harness = motion_harness ("", GST_VIDEO_FORMAT_GRAY8, W, H);
  gchar *caps = caps_string (GST_VIDEO_FORMAT_I420, W, H);

  gst_harness_set_sink_caps_str (harness, "video/x-raw,format=GRAY8");
  gst_buffer_unref (gst_harness_push_and_pull (harness, scene (GST_VIDEO_FORMAT_GRAY8, W, H, 0, 8)));
  set_motion (harness, "output", "mask");
  gst_harness_set_src_caps_str (harness, caps);
  ck_assert_int_eq (gst_harness_push (harness, scene (GST_VIDEO_FORMAT_I420, W, H, 1, 8)), GST_FLOW_OK);
  gst_harness_teardown (harness);
  g_free (caps);
}

GST_END_TEST;

/* In place, downstream's allocation answer reaches upstream. */
GST_START_TEST (test_output_change_reaches_upstream)
{
  GstHarness *harness = motion_harness ("output=mask", GST_VIDEO_FORMAT_GRAY8, W, H);

  gst_buffer_unref (gst_harness_push_and_pull (harness, scene (GST_VIDEO_FORMAT_GRAY8, W, H, 0, 8)));
  n_reconfigures (harness);
  set_motion (harness, "output", "passthrough");
  gst_buffer_unref (gst_harness_push_and_pull (harness, scene (GST_VIDEO_FORMAT_GRAY8, W, H, 1, 8)));
  fail_unless (n_reconfigures (harness) > 0);
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* Serialized events stay in order: each comes out after the frames that were pushed before it. */
GST_START_TEST (test_events_wait_for_frames)
{
  NEED_BACKEND (__i__);
  for (guint kind = 0; kind < 6; kind++) {
    GstHarness *harness = harness_of_depth (__i__, 3);
    GstBuffer *buffer = scene (GST_VIDEO_FORMAT_GRAY8, W, H, 2, 8);
    gchar *caps = caps_string (GST_VIDEO_FORMAT_GRAY8, 2 * W, H);
    GstQuery *query = gst_query_new_drain ();

    for (guint n = 0; n < 2; n++)
      gst_harness_push (harness, scene (GST_VIDEO_FORMAT_GRAY8, W, H, n, 8));
    ck_assert_uint_eq (gst_harness_buffers_received (harness), 0);
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
    switch (kind) {
      case 0:
        gst_harness_set_src_caps_str (harness, caps);
        break;
      case 1:
        gst_harness_push_event (harness, segment_from (GST_SECOND));
        break;
      case 2:
        gst_harness_push_event (harness, gst_event_new_gap (0, GST_SECOND));
        break;
      case 3:
        gst_harness_push_event (harness, gst_event_new_eos ());
        break;
      case 4:
        gst_harness_push (harness, gst_buffer_ref (buffer));
        break;
      case 5:
        gst_pad_peer_query (harness->srcpad, query);
        break;
    }
    ck_assert_msg (gst_harness_buffers_received (harness) == 2, "kind %u: %u frames came out, not 2", kind,
        gst_harness_buffers_received (harness));
    gst_query_unref (query);
    gst_buffer_unref (buffer);
    gst_harness_teardown (harness);
    g_free (caps);
  }
}

GST_END_TEST;

/* A flush drops the frames in flight, and learning begins anew. A stop releases them. */
GST_START_TEST (test_frames_in_flight_go)
{
  NEED_BACKEND (__i__);
  for (guint depth = 1; depth <= 3; depth++) {
    GstHarness *harness = harness_of_depth (__i__, depth);
    GstBuffer *buffer, *shared = scene (GST_VIDEO_FORMAT_GRAY8, W, H, 30, 8);

    for (guint n = 0; n < 10; n++)
      gst_harness_push (harness, scene (GST_VIDEO_FORMAT_GRAY8, W, H, n, 8));
    ck_assert_uint_eq (gst_harness_buffers_received (harness), 10 - depth);
    while ((buffer = gst_harness_try_pull (harness)))
      gst_buffer_unref (buffer);
    flush_harness (harness);
    for (guint n = 0; n <= depth; n++)
      gst_harness_push (harness, scene (GST_VIDEO_FORMAT_GRAY8, W, H, 20 + n, 8));
    buffer = gst_harness_try_pull (harness);
    fail_unless (buffer != NULL);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), 20 * FRAME);
    ck_assert_uint_eq (gst_buffer_get_ccl_mask_meta (buffer)->flags, GST_CCL_MASK_META_FLAG_LEARNING);
    gst_buffer_unref (buffer);

    gst_harness_push (harness, gst_buffer_ref (shared));
    gst_element_set_state (harness->element, GST_STATE_NULL);
    ASSERT_BUFFER_REFCOUNT (shared, "shared", 1);
    gst_buffer_unref (shared);
    gst_harness_teardown (harness);
  }
}

GST_END_TEST;

void
cclmotion_add_async_tests (Suite * suite)
{
  TCase *tests = tcase_create ("async");

  tcase_set_timeout (tests, 60);
  tcase_add_loop_test (tests, test_async_is_the_same, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_async_latency, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_more_queued_frames_wait_for_headroom, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_discont_after_frames_dropped, 0, G_N_ELEMENTS (backends));
  tcase_add_test (tests, test_output_changes_with_the_caps);
  tcase_add_test (tests, test_output_change_reaches_upstream);
  tcase_add_loop_test (tests, test_events_wait_for_frames, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_frames_in_flight_go, 0, G_N_ELEMENTS (backends));
  suite_add_tcase (suite, tests);
}
