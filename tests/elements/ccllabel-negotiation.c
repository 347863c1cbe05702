/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Caps and allocation. */
#include "ccllabel.h"

static gboolean
has_cuda_feature (GstCaps * caps)
{
  for (guint i = 0; i < gst_caps_get_size (caps); i++)
    if (gst_caps_features_contains (gst_caps_get_features (caps, i), "memory:CUDAMemory"))
      return TRUE;
  return FALSE;
}

GST_START_TEST (test_caps)
{
  GstElement *label = gst_element_factory_make ("ccllabel", NULL);
  GstPad *sink = gst_element_get_static_pad (label, "sink");
  GstCaps *caps = gst_pad_query_caps (sink, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    gchar *text = caps_string (formats[i], 64, 48);
    GstCaps *format = gst_caps_from_string (text);

    fail_unless (gst_caps_can_intersect (caps, format), "%s is not taken", text);
    gst_caps_unref (format);
    g_free (text);
  }
  if (!have_backend ("cuda"))
    fail_if (has_cuda_feature (caps), "CUDA memory is offered without a device");
  gst_caps_unref (caps);
  gst_object_unref (sink);
  gst_object_unref (label);
}

GST_END_TEST;

static void
check_caps_query (const gchar * settings, const gchar * downstream, const gchar * upstream, gboolean possible)
{
  GstHarness *harness = label_harness (0, settings);
  GstCaps *caps, *wanted = gst_caps_from_string (upstream);

  gst_harness_set_sink_caps_str (harness, downstream);
  caps = gst_pad_peer_query_caps (harness->srcpad, NULL);
  fail_unless (gst_caps_can_intersect (caps, wanted) == possible, "%s to %s %s", upstream, downstream, settings);
  gst_caps_unref (caps);
  gst_caps_unref (wanted);
  gst_harness_teardown (harness);
}

GST_START_TEST (test_negotiation)
{
  check_caps_query ("", "video/x-raw,format=NV12", "video/x-raw,format=NV12", TRUE);
  check_caps_query ("", "video/x-raw,format=NV12", "video/x-raw,format=GRAY8", FALSE);
  check_caps_query ("", "video/x-raw,width=99", "video/x-raw,format=GRAY8,width=98", FALSE);
  check_caps_query ("", "ANY", "video/x-raw,format=RGB", FALSE);
  check_caps_query ("", "ANY", "video/x-raw,format=GRAY8,width=16384,height=16384", TRUE);
  check_caps_query ("", "ANY", "video/x-raw,format=GRAY8,width=16385,height=1", FALSE);
  check_caps_query ("", "ANY", "video/x-raw,format=GRAY8,width=1,height=16385", FALSE);
  check_caps_query ("output=mask", "video/x-raw,format=GRAY8", "video/x-raw,format=NV12", TRUE);
  check_caps_query ("output=mask", "video/x-raw,format=NV12", "video/x-raw,format=NV12", FALSE);
  check_caps_query ("output=mask", "video/x-raw,width=5", "video/x-raw,format=I420,width=6", FALSE);
  check_caps_query ("output=labels", "video/x-raw,format=GRAY16_LE", "video/x-raw,format=Y444", TRUE);
  check_caps_query ("output=labels", "video/x-raw,format=RGBA", "video/x-raw,format=GRAY8", TRUE);
  check_caps_query ("output=labels", "video/x-raw,format=GRAY8", "video/x-raw,format=GRAY8", FALSE);
}

GST_END_TEST;

static GstQuery *
query_allocation (GstHarness * harness, GstVideoFormat format, const Mask * mask)
{
  gchar *text = caps_string (format, mask->width, mask->height);
  GstCaps *caps = gst_caps_from_string (text);
  GstQuery *query = gst_query_new_allocation (caps, TRUE);

  gst_pad_peer_query (harness->srcpad, query);
  gst_caps_unref (caps);
  g_free (text);
  return query;
}

static gboolean
offers_pinned (GstQuery * query)
{
  GstAllocator *allocator = NULL;
  gboolean pinned;

  if (!gst_query_get_n_allocation_params (query))
    return FALSE;
  gst_query_parse_nth_allocation_param (query, 0, &allocator, NULL);
  pinned = allocator && g_strcmp0 (allocator->mem_type, "CclPinnedMemory") == 0;
  gst_clear_object (&allocator);
  return pinned;
}

/* In place, downstream's answer counts, plus the frames in flight. Otherwise the element takes any layout. */
GST_START_TEST (test_allocation)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_dots (8);
  GstHarness *harness;
  GstBufferPool *pool = gst_buffer_pool_new (), *offered;
  GstQuery *query;
  guint size, min, max;

  harness = label_harness (__i__, "async-depth=2");
  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  query = query_allocation (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  fail_if (gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL));
  fail_unless_equals_int (offers_pinned (query), __i__);
  gst_query_unref (query);

  gst_harness_add_propose_allocation_meta (harness, GST_VIDEO_META_API_TYPE, NULL);
  query = query_allocation (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  fail_unless (gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL));
  gst_query_unref (query);
  gst_harness_teardown (harness);

  harness = label_harness (__i__, "output=labels");
  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  query = query_allocation (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  fail_unless (gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL));
  fail_unless_equals_int (offers_pinned (query), __i__);
  gst_query_unref (query);
  gst_harness_teardown (harness);

  /* Downstream's pool has at most three buffers, and the element keeps two of them. */
  harness = label_harness (__i__, "async-depth=2");
  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  {
    GstElement *label = label_of (harness);
    GstBaseTransformClass *klass = GST_BASE_TRANSFORM_GET_CLASS (label);
    gchar *text = caps_string (GST_VIDEO_FORMAT_GRAY8, mask.width, mask.height);
    GstCaps *caps = gst_caps_from_string (text);
    GstQuery *decided = gst_query_new_allocation (caps, TRUE);

    query = gst_query_new_allocation (caps, TRUE);
    gst_query_add_allocation_pool (query, pool, 16, 1, 3);
    fail_unless (klass->propose_allocation (GST_BASE_TRANSFORM (label), decided, query));
    gst_query_parse_nth_allocation_pool (query, 0, &offered, &size, &min, &max);
    fail_unless (offered == pool);
    fail_unless_equals_int (min, 3);
    fail_unless_equals_int (max, 5);
    fail_if (offers_pinned (query));
    gst_object_unref (offered);
    gst_query_unref (query);
    gst_query_unref (decided);
    gst_caps_unref (caps);
    g_free (text);
  }
  gst_harness_teardown (harness);
  gst_object_unref (pool);
  mask_free (&mask);
}

GST_END_TEST;

/* A sink that crops. Upstream must crop itself, because the element reads the pixels before the sink does. */
GST_START_TEST (test_cropping_is_not_left_to_downstream)
{
  static const gchar *const elements[] = { "ccllabel", "cclmotion", "ccloverlay" };
  Mask mask = mask_new (32, 16);

  for (guint i = 0; i < G_N_ELEMENTS (elements); i++) {
    GstElement *element = gst_element_factory_make (elements[i], NULL);
    GstHarness *harness;
    GstQuery *query;

    if (!element)               /* ccloverlay needs pango */
      continue;
    harness = gst_harness_new_with_element (element, "sink", "src");
    gst_harness_add_propose_allocation_meta (harness, GST_VIDEO_META_API_TYPE, NULL);
    gst_harness_add_propose_allocation_meta (harness, GST_VIDEO_CROP_META_API_TYPE, NULL);
    set_mask_caps (harness, GST_VIDEO_FORMAT_I420, &mask);
    query = query_allocation (harness, GST_VIDEO_FORMAT_I420, &mask);
    fail_unless (gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL), "%s", elements[i]);
    fail_if (gst_query_find_allocation_meta (query, GST_VIDEO_CROP_META_API_TYPE, NULL), "%s", elements[i]);
    gst_query_unref (query);
    gst_harness_teardown (harness);
    gst_object_unref (element);
  }
  mask_free (&mask);
}

GST_END_TEST;

/* The first frame after the dropped ones has the flag DISCONT. */
GST_START_TEST (test_discont_after_frames_dropped)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_dots (6);
  GstHarness *harness = label_harness (__i__, "qos=true async-depth=2");
  GstBuffer *buffer;

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  for (guint i = 0; i < 8; i++) {
    /* Frames that are due before 180 ms are late: frame 4. */
    if (i == 4)
      gst_harness_push_upstream_event (harness,
          gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 2.0, 10 * GST_MSECOND, 160 * GST_MSECOND));
    fail_unless_equals_int (push_mask (harness, &mask, i), GST_FLOW_OK);
  }
  gst_harness_push_event (harness, gst_event_new_eos ());
  while ((buffer = gst_harness_try_pull (harness))) {
    const guint n = GST_BUFFER_PTS (buffer) / (40 * GST_MSECOND);

    fail_unless (GST_BUFFER_IS_DISCONT (buffer) == (n == 5), "frame %u", n);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

GST_START_TEST (test_bad_caps)
{
  static const gchar *const bad[] = {
    "video/x-raw,format=RGB,width=4,height=4,framerate=25/1",
    "video/x-raw,format=GRAY8,width=16385,height=4,framerate=25/1",
    "video/x-raw,format=GRAY8,width=4,height=0,framerate=25/1",
    "video/x-raw(memory:DMABuf),format=GRAY8,width=4,height=4,framerate=25/1",
    "audio/x-raw,format=S16LE,rate=8000,channels=1,layout=interleaved",
  };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    GstHarness *harness = label_harness (0, "");
    GstCaps *caps = gst_caps_from_string (bad[i]);

    gst_harness_push_event (harness, gst_event_new_stream_start ("s"));
    gst_harness_push_event (harness, gst_event_new_caps (caps));
    gst_harness_push_event (harness, segment_from (7 * GST_SECOND));
    fail_unless_equals_int (gst_harness_push (harness, gst_buffer_new_allocate (NULL, 16, NULL)),
        GST_FLOW_NOT_NEGOTIATED);
    fail_unless_equals_int (gst_harness_buffers_received (harness), 0);
    gst_caps_unref (caps);
    gst_harness_teardown (harness);
  }
}

GST_END_TEST;

/* The error of such a pipeline: before it starts or, where the caps come later, from the source. */
GST_START_TEST (test_bad_caps_are_reported)
{
  GstElement *pipeline, *source;
  GstBus *bus;
  GstBuffer *buffer;
  GstCaps *caps;
  GstMessage *message;
  GstFlowReturn flow;
  GError *error = NULL;
  gchar *debug;

  pipeline = gst_parse_launch ("videotestsrc ! video/x-raw,format=RGB ! ccllabel name=label ! fakesink", &error);
  fail_unless (error && strstr (error->message, "label") && strstr (error->message, "RGB"), "%s",
      error ? error->message : "no error");
  g_clear_error (&error);
  gst_clear_object (&pipeline);

  pipeline = gst_parse_launch ("appsrc name=source ! ccllabel ! fakesink", &error);
  g_assert_no_error (error);
  source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  caps = gst_caps_from_string ("video/x-raw,format=RGB,width=4,height=4,framerate=25/1");
  g_object_set (source, "caps", caps, "format", GST_FORMAT_TIME, NULL);
  buffer = gst_buffer_new_allocate (NULL, 48, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_signal_emit_by_name (source, "push-buffer", buffer, &flow);
  bus = gst_element_get_bus (pipeline);
  message = gst_bus_timed_pop_filtered (bus, 100 * GST_SECOND, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  fail_unless (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR);
  gst_message_parse_error (message, &error, &debug);
  fail_unless (strstr (debug, "not-negotiated") != NULL, "%s", debug);
  g_error_free (error);
  g_free (debug);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_buffer_unref (buffer);
  gst_caps_unref (caps);
  gst_object_unref (bus);
  gst_object_unref (source);
  gst_object_unref (pipeline);
}

GST_END_TEST;

void
ccllabel_add_negotiation_tests (Suite * suite)
{
  TCase *tests = tcase_create ("negotiation");

  tcase_set_timeout (tests, 300);
  tcase_add_loop_test (tests, test_allocation, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_discont_after_frames_dropped, 0, G_N_ELEMENTS (backends));
  tcase_add_test (tests, test_caps);
  tcase_add_test (tests, test_negotiation);
  tcase_add_test (tests, test_cropping_is_not_left_to_downstream);
  tcase_add_test (tests, test_bad_caps);
  tcase_add_test (tests, test_bad_caps_are_reported);
  suite_add_tcase (suite, tests);
}
