/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Properties and caps that change while frames flow. */
#include "ccllabel.h"

#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>

/* A change applies to the frames after it. Frames in flight keep their settings. */
GST_START_TEST (test_connectivity_and_algorithm_change_while_playing)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_random (80, 60, 11, 0.4);

  for (guint depth = 0; depth <= 3; depth++) {
    gchar *settings = g_strdup_printf ("async-depth=%u connectivity=8", depth);
    GstHarness *harness = label_harness (__i__, settings);
    guint pushed = 0, connectivity = 8;

    set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
    for (guint i = 0; i < 3; i++)
      fail_unless_equals_int (push_mask (harness, &mask, pushed++), GST_FLOW_OK);
    set_label (harness, "connectivity", "4");
    for (guint i = 0; i < 3; i++)
      fail_unless_equals_int (push_mask (harness, &mask, pushed++), GST_FLOW_OK);
    for (guint i = 0; ccl_algorithm (i); i++) {
      const CclAlgorithmInfo *info = ccl_algorithm (i);

      if (info->volume || info->backend != (__i__ ? CCL_BACKEND_CUDA : CCL_BACKEND_CPU)
          || !(info->connectivity & CCL_CONNECT_4))
        continue;
      set_label (harness, "algorithm", info->name);
      fail_unless_equals_int (push_mask (harness, &mask, pushed++), GST_FLOW_OK);
      gchar *name = stat_string (harness, "algorithm");
      fail_unless_equals_string (name, info->name);
      g_free (name);
    }
    gst_harness_push_event (harness, gst_event_new_eos ());
    for (guint i = 0; i < pushed; i++) {
      connectivity = i < 3 ? 8 : 4;
      check_pulled (harness, &mask, connectivity, i);
    }
    fail_unless_equals_int (gst_harness_buffers_in_queue (harness), 0);
    gst_harness_teardown (harness);
    g_free (settings);
  }
  mask_free (&mask);
}

GST_END_TEST;

GST_START_TEST (test_properties_change_while_playing)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_from_rows ((const gchar * const[]) { "#..##..###", NULL });
  static const struct
  {
    const gchar *name, *value;
    guint n;
  } steps[] = {
    {"min-area", "2", 2}, {"max-area", "2", 1}, {"max-area", "0", 2}, {"min-area", "1", 3}, {"min-width", "3", 1},
    {"min-width", "0", 3}, {"border", "drop", 0}, {"border", "flag", 3}, {"invert", "true", 2},
    {"invert", "false", 3}, {"threshold", "1", 0}, {"threshold", "-1", 3}, {"max-components", "2", 2},
    {"max-components", "100", 3}, {"sort", "area-desc", 3}, {"filter", "area > 1", 2}, {"sort", "width", 2},
    {"filter", "area > 9", 0}, {"filter", "", 3}, {"min-rel-area", "0.3", 1}, {"min-rel-area", "0", 3},
    {"async-depth", "2", 0}, {"async-depth", "0", 3}, {"threads", "1", 3}, {"timing", "true", 3},
  };
  GstHarness *harness;
  guint n = 0;

  harness = label_harness (__i__, "");
  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
    GstBuffer *buffer;
    const gboolean delayed = strcmp (steps[i].name, "async-depth") == 0 && steps[i].value[0] != '0';

    set_label (harness, steps[i].name, steps[i].value);
    fail_unless_equals_int (push_mask (harness, &mask, n++), GST_FLOW_OK);
    if (delayed)
      continue;
    while (gst_harness_buffers_in_queue (harness) > 1)
      gst_buffer_unref (gst_harness_pull (harness));
    buffer = gst_harness_try_pull (harness);
    fail_unless (buffer != NULL);
    fail_unless (n_blobs (buffer) == steps[i].n, "%s=%s: %u blobs, not %u", steps[i].name, steps[i].value,
        n_blobs (buffer), steps[i].n);
    gst_buffer_unref (buffer);
  }
  fail_unless_equals_int (gst_harness_buffers_received (harness), n);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

/* Another thread sets properties while frames flow: no crash, no error, no frame lost. */
GST_START_TEST (test_properties_change_from_another_thread)
{
  NEED_BACKEND (__i__);

  static const gchar *const changes[][2] = {
    {"connectivity", "4"}, {"async-depth", "3"}, {"output", "mask"}, {"max-components", "10"}, {"sort", "area-desc"},
    {"algorithm", "reference"}, {"async-depth", "0"}, {"attach", "blob+roi"}, {"backend", "auto"}, {"interval", "3"},
    {"output", "labels"}, {"connectivity", "8"}, {"async-depth", "1"}, {"algorithm", "auto"}, {"roi-type", "thing"},
    {"output", "passthrough"}, {"filter", "n-holes == 0 and area > 5"}, {"sort", "circularity"}, {"threshold", "77"},
    {"filter", ""}, {"sort", "x-desc"}, {"filter", "width >"}, {"attach", "blob"}, {"interval", "1"},
    {"filter", "x > 3"}, {"max-components", "4096"},
    {"backend", "cpu"}, {"invert", "true"}, {"sort", "raster"}, {"async-depth", "2"}, {"invert", "false"},
  };
  GstContext *context = __i__ ? shared_cuda_context (NULL) : NULL;
  gchar *line = g_strdup_printf ("videotestsrc pattern=ball num-buffers=400 ! video/x-raw,format=GRAY8 ! "
      "ccllabel name=label backend=%s ! fakesink name=sink", backends[__i__]);
  GstElement *pipeline = gst_parse_launch (line, NULL), *label = gst_bin_get_by_name (GST_BIN (pipeline), "label");
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message = NULL;
  GstStructure *stats;
  guint64 frames = 0;

  if (context)
    gst_element_set_context (pipeline, context);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint i = 0; !message; i++) {
    const gchar *const *change = changes[i % G_N_ELEMENTS (changes)];

    gst_util_set_object_arg (G_OBJECT (label), change[0], change[1]);
    g_object_get (label, "stats", &stats, NULL);
    gst_structure_get_uint64 (stats, "frames", &frames);
    gst_structure_free (stats);
    message = gst_bus_timed_pop_filtered (bus, 200 * GST_USECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  }
  fail_unless (GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS, "%" GST_PTR_FORMAT, message);
  g_object_get (label, "stats", &stats, NULL);
  gst_structure_get_uint64 (stats, "frames", &frames);
  gst_structure_free (stats);
  fail_unless_equals_uint64 (frames, 400);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (label);
  gst_object_unref (pipeline);
  if (context)
    gst_context_unref (context);
  g_free (line);
}

GST_END_TEST;

/* A control binding changes a property with the stream time. */
GST_START_TEST (test_controlled_property)
{
  NEED_BACKEND (__i__);

  Mask mask = MASK ("#.##.###.####");
  GstHarness *harness = label_harness (__i__, "async-depth=1");
  GstObject *label = GST_OBJECT (label_of (harness));
  GstControlSource *source = gst_interpolation_control_source_new ();

  g_object_set (source, "mode", GST_INTERPOLATION_MODE_NONE, NULL);
  for (guint i = 0; i < 4; i++)
    gst_timed_value_control_source_set (GST_TIMED_VALUE_CONTROL_SOURCE (source), i * 40 * GST_MSECOND, i + 1);
  gst_object_add_control_binding (label, gst_direct_control_binding_new_absolute (label, "min-area", source));
  gst_object_unref (source);
  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  for (guint i = 0; i < 4; i++)
    push_mask (harness, &mask, i);
  gst_harness_push_event (harness, gst_event_new_eos ());
  for (guint i = 0; i < 4; i++) {
    GstBuffer *buffer = gst_harness_pull (harness);
    fail_unless_equals_int (n_blobs (buffer), 4 - i);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

GST_START_TEST (test_stats)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_dots (5);
  GstHarness *harness;
  GstStructure *stats;
  gchar *text;
  gdouble min, avg, max;
  gint active;

  harness = label_harness (__i__, "timing=true");
  g_object_get (label_of (harness), "active-backend", &active, NULL);
  fail_unless_equals_int (active, __i__ ? 1 : 2);
  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  for (guint i = 0; i < 10; i++)
    push_mask (harness, &mask, i);
  fail_unless_equals_uint64 (stat_uint64 (harness, "frames"), 10);
  fail_unless_equals_uint64 (stat_uint64 (harness, "skipped"), 0);
  fail_unless_equals_uint64 (stat_uint64 (harness, "components"), 50);
  fail_unless_equals_uint64 (stat_uint64 (harness, "truncated"), 0);
  fail_unless (stat_uint64 (harness, "host-bytes") > 0);
  fail_unless_equals_int (stat_uint64 (harness, "device-bytes") > 0, __i__);
  text = stat_string (harness, "backend");
  fail_unless_equals_string (text, backends[__i__]);
  g_free (text);
  text = stat_string (harness, "path");
  fail_unless_equals_string (text, "system");
  g_free (text);

  g_object_get (label_of (harness), "stats", &stats, NULL);
  for (guint i = 0; i < 2; i++) {
    const gchar *const fields[][3] = { {"host-us-min", "host-us-avg", "host-us-max"}, {"kernel-us-min",
        "kernel-us-avg", "kernel-us-max"}
    };
    fail_unless (gst_structure_get (stats, fields[i][0], G_TYPE_DOUBLE, &min, fields[i][1], G_TYPE_DOUBLE, &avg,
            fields[i][2], G_TYPE_DOUBLE, &max, NULL));
    fail_unless (0 <= min && min <= avg && avg <= max && max > 0, "%s: %f %f %f", fields[i][0], min, avg, max);
  }
  gst_structure_free (stats);
  gst_element_set_state (harness->element, GST_STATE_NULL);
  g_object_get (label_of (harness), "active-backend", &active, NULL);
  fail_unless_equals_int (active, 0);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

GST_START_TEST (test_caps_change_mid_stream)
{
  NEED_BACKEND (__i__);
  for (guint depth = 0; depth <= 2; depth++) {
    gchar *settings = g_strdup_printf ("async-depth=%u max-components=100000", depth);
    GstHarness *harness = label_harness (__i__, settings);
    guint n = 0;

    for (guint s = 1; s < 12; s++) {
      Mask mask = mask_random (17 * s % 97 + 1, 29 * s % 61 + 1, s, 0.45);
      const GstVideoFormat format = formats[s % G_N_ELEMENTS (formats)];
      GstBuffer *buffer = buffer_from_mask (format, &mask);

      set_mask_caps (harness, format, &mask);
      GST_BUFFER_PTS (buffer) = n * 40 * GST_MSECOND;
      fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_OK);
      gst_harness_push_event (harness, gst_event_new_gap (0, 1));
      check_pulled (harness, &mask, 8, n++);
      mask_free (&mask);
    }
    gst_harness_teardown (harness);
    g_free (settings);
  }
}

GST_END_TEST;

/* While playing, a contradiction is a warning. The pipeline goes on and the method stays. */
GST_START_TEST (test_contradiction_while_playing)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_random (40, 30, 2, 0.4);
  GstHarness *harness;
  GstBus *bus;
  gint active;

  harness = label_harness (__i__, "async-depth=1");
  bus = watch_bus (harness);
  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  push_mask (harness, &mask, 0);
  /* There is no such method for CUDA; on a build or machine without CUDA there is nothing at all. */
  set_label (harness, "algorithm", "reference");
  set_label (harness, "backend", "cuda");
  for (guint i = 1; i < 4; i++)
    fail_unless_equals_int (push_mask (harness, &mask, i), GST_FLOW_OK);
  assert_message (bus, GST_MESSAGE_WARNING, "The method stays as it was");
  assert_no_message (bus, GST_MESSAGE_WARNING);
  g_object_get (label_of (harness), "active-backend", &active, NULL);
  fail_unless_equals_int (active, __i__ ? 1 : 2);
  /* Resolved: the CPU has it. */
  set_label (harness, "backend", "cpu");
  push_mask (harness, &mask, 4);
  g_object_get (label_of (harness), "active-backend", &active, NULL);
  fail_unless_equals_int (active, 2);
  assert_no_message (bus, GST_MESSAGE_WARNING);
  /* Again: it is tried once more. */
  set_label (harness, "backend", "cuda");
  push_mask (harness, &mask, 5);
  assert_message (bus, GST_MESSAGE_WARNING, "The method stays as it was");
  gst_harness_push_event (harness, gst_event_new_eos ());
  for (guint i = 0; i < 6; i++)
    check_pulled (harness, &mask, 8, i);
  assert_no_message (bus, GST_MESSAGE_WARNING);
  assert_no_message (bus, GST_MESSAGE_ERROR);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

/* The warning is not repeated for each frame while volumes wait for buffers. */
GST_START_TEST (test_contradiction_while_there_is_no_room)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_random (40, 30, 2, 0.4);
  GstHarness *harness = label_harness (__i__, "");
  GstBus *bus = watch_bus (harness);
  guint n = 0;

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  limit_pool (harness->sinkpad, 2);
  ask_for_buffers (harness);
  push_mask (harness, &mask, n++);
  set_label (harness, "algorithm", "reference");        /* see test_contradiction_while_playing */
  set_label (harness, "backend", "cuda");
  set_label (harness, "volume", "3");
  while (n < 4)
    fail_unless_equals_int (push_mask (harness, &mask, n++), GST_FLOW_OK);
  fail_unless_equals_int (gst_harness_buffers_received (harness), 4);
  ask_for_buffers (harness);
  while (n < 7)
    fail_unless_equals_int (push_mask (harness, &mask, n++), GST_FLOW_OK);
  fail_unless_equals_int (gst_harness_buffers_received (harness), 7);
  assert_message (bus, GST_MESSAGE_WARNING, "The method stays as it was");
  assert_no_message (bus, GST_MESSAGE_WARNING);
  assert_no_message (bus, GST_MESSAGE_ERROR);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

/* A method for volumes without one: a warning as well, and none once there is a volume again. */
GST_START_TEST (test_volume_is_switched_off_while_playing)
{
  Mask mask = mask_random (40, 30, 2, 0.4);
  GstHarness *harness = label_harness (0, "volume=2 algorithm=reference-3d");
  GstBus *bus = watch_bus (harness);
  gchar *algorithm;

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  for (guint i = 0; i < 8; i++) {
    if (i == 2 || i == 4)
      set_label (harness, "volume", i == 2 ? "0" : "2");
    if (i == 6)
      set_label (harness, "volume", "0");
    fail_unless_equals_int (push_mask (harness, &mask, i), GST_FLOW_OK);
    if (i == 2 || i == 6)
      assert_message (bus, GST_MESSAGE_WARNING, "Going on with algorithm=auto");
    algorithm = stat_string (harness, "volume-algorithm");
    fail_unless_equals_string (algorithm, i / 2 % 2 ? "none" : "reference-3d");
    g_free (algorithm);
  }
  assert_no_message (bus, GST_MESSAGE_WARNING);
  assert_no_message (bus, GST_MESSAGE_ERROR);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

void
ccllabel_add_changes_tests (Suite * suite)
{
  TCase *tests = tcase_create ("changes");

  tcase_set_timeout (tests, 300);
  tcase_add_loop_test (tests, test_connectivity_and_algorithm_change_while_playing, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_properties_change_while_playing, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_properties_change_from_another_thread, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_controlled_property, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_stats, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_caps_change_mid_stream, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_contradiction_while_playing, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_contradiction_while_there_is_no_room, 0, G_N_ELEMENTS (backends));
  tcase_add_test (tests, test_volume_is_switched_off_while_playing);
  suite_add_tcase (suite, tests);
}
