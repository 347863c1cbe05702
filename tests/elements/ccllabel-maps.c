/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Label maps, from the pixels to the metadata. The suite `maps` of checkccl has the labelling itself. */
#include "ccllabel.h"

#include <gst/ccl/gstcclblobmeasures.h>

#define WIDTH 8
#define HEIGHT 3

/* Two instances side by side, one that touches the first at a corner, and the first value again. */
static const guint16 values[HEIGHT][WIDTH] = {
  {1, 1, 2, 2, 0, 0, 0, 1},
  {1, 1, 2, 2, 0, 0, 1, 0},
  {0, 0, 1, 0, 0, 9, 0, 0},
};

/* Values are `factor` times as large. */
static GstBuffer *
map_buffer (gint pixel_size, gint factor)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, WIDTH * HEIGHT * pixel_size, NULL);
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (guint i = 0; i < WIDTH * HEIGHT; i++) {
    const guint16 value = values[i / WIDTH][i % WIDTH] * factor;

    if (pixel_size == 2)
      memcpy (map.data + 2 * i, &value, 2);
    else
      map.data[i] = value;
  }
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = 0;
  return buffer;
}

static GstBuffer *
label_map (GstHarness * harness, GstVideoFormat format, gint factor)
{
  gchar *caps = caps_string (format, WIDTH, HEIGHT);

  gst_harness_set_src_caps_str (harness, caps);
  g_free (caps);
  return gst_harness_push_and_pull (harness, map_buffer (format == GST_VIDEO_FORMAT_GRAY8 ? 1 : 2, factor));
}

static void
check_class_ids (GstBuffer * buffer, const gint * expected, guint n, gint factor)
{
  GstCclBlobMeta *const meta = gst_buffer_get_ccl_blob_meta (buffer);

  fail_unless_equals_int (gst_ccl_blob_meta_get_length (meta), n);
  for (guint i = 0; i < n; i++) {
    guint class_id;

    fail_unless (gst_ccl_blob_meta_get_class_id (meta, i, &class_id));
    fail_unless_equals_int (class_id, expected[i] * factor);
  }
}

static const struct
{
  const gchar *settings;
  guint n;
  gint class_ids[8];
} maps[] = {
  {"", 4, {1, 2, 1, 9}},
  {"connectivity=4", 6, {1, 2, 1, 1, 1, 9}},
  {"algorithm=reference", 4, {1, 2, 1, 9}},
  {"background-value=2", 5, {1, 0, 1, 0, 9}},
  {"filter=\"class_id == 1\"", 2, {1, 1}},
  {"filter=\"class-id > 1\" sort=class-id-desc", 2, {9, 2}},
  {"sort=class-id max-components=3", 3, {1, 1, 2}},
  {"contours=true threads=2 async-depth=1", 4, {1, 2, 1, 9}},
};

GST_START_TEST (test_map)
{
  static const gint factors[] = { 1, 20, 1000 };

  for (guint i = 0; i < G_N_ELEMENTS (factors); i++) {
    const GstVideoFormat format = factors[i] > 20 ? GST_VIDEO_FORMAT_GRAY16_LE : GST_VIDEO_FORMAT_GRAY8;
    /* Numbers in the settings are for the values as they are. */
    const gboolean has_numbers = strstr (maps[__i__].settings, "filter") || strstr (maps[__i__].settings, "value");
    gchar *const settings = g_strdup_printf ("foreground=equal %s", maps[__i__].settings);
    gchar *const caps = caps_string (format, WIDTH, HEIGHT);
    GstHarness *harness = label_harness (0, settings);
    const gint factor = has_numbers ? 1 : factors[i];
    GstBuffer *buffer;

    gst_harness_set_src_caps_str (harness, caps);
    gst_harness_push (harness, map_buffer (format == GST_VIDEO_FORMAT_GRAY8 ? 1 : 2, factor));
    gst_harness_push_event (harness, gst_event_new_eos ());
    buffer = gst_harness_pull (harness);
    check_class_ids (buffer, maps[__i__].class_ids, maps[__i__].n, factor);
    gst_buffer_unref (buffer);
    gst_harness_teardown (harness);
    g_free (caps);
    g_free (settings);
  }
}

GST_END_TEST;

/* A contour follows its own value. */
GST_START_TEST (test_map_contours)
{
  GstHarness *harness = label_harness (0, "foreground=equal contours=true contour-epsilon=0 connectivity=4");
  GstBuffer *buffer = label_map (harness, GST_VIDEO_FORMAT_GRAY8, 1);
  GstCclBlobMeta *const meta = gst_buffer_get_ccl_blob_meta (buffer);
  static const gdouble square[] = { 2, 0, 4, 0, 4, 2, 2, 2 };
  gdouble *points;
  guint n_points;

  points = gst_ccl_blob_meta_get_contour (meta, 1, &n_points);
  fail_unless_equals_int (n_points, G_N_ELEMENTS (square));
  fail_unless (memcmp (points, square, sizeof square) == 0);
  g_free (points);
  gst_buffer_unref (buffer);
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* On and off while frames flow; a mask has no class ids. Elements behind pass them on, also as bytes. */
GST_START_TEST (test_map_travels)
{
  GstHarness *harness = gst_harness_new_parse ("ccllabel name=label foreground=equal ! ccltrack ! cclzone");
  GstElement *label = gst_bin_get_by_name (GST_BIN (harness->element), "label");
  static const gint expected[] = { 1, 2, 1, 9 };

  for (guint k = 0; k < 4; k++) {
    GstBuffer *buffer;
    GstCclBlobMeta *meta;

    gst_util_set_object_arg (G_OBJECT (label), "foreground", k % 2 ? "threshold" : "equal");
    buffer = label_map (harness, GST_VIDEO_FORMAT_GRAY8, 1);
    meta = gst_buffer_get_ccl_blob_meta (buffer);
    if (k % 2 == 0) {
      GBytes *const bytes = gst_ccl_blob_meta_to_bytes (meta);
      GstBuffer *const other = gst_buffer_new ();

      check_class_ids (buffer, expected, 4, 1);
      fail_unless (gst_buffer_add_ccl_blob_meta_from_bytes (other, bytes, NULL) != NULL);
      check_class_ids (other, expected, 4, 1);
      gst_buffer_unref (other);
      g_bytes_unref (bytes);
    } else {
      fail_if (gst_ccl_blob_meta_get_class_id (meta, 0, NULL));
    }
    gst_buffer_unref (buffer);
  }
  gst_object_unref (label);
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* A ring of 5 around one pixel of 7 and seven of the background: its hole has both. Measures filter and sort. */
GST_START_TEST (test_map_features)
{
  static const guint8 ring[5][WIDTH] = {
    {5, 5, 5, 5, 5, 0, 0, 0},
    {5, 0, 0, 0, 5, 0, 9, 9},
    {5, 0, 7, 0, 5, 0, 9, 9},
    {5, 0, 0, 0, 5, 0, 0, 0},
    {5, 5, 5, 5, 5, 0, 0, 0},
  };
  GstHarness *harness = label_harness (0, "foreground=equal features=basic+shape+hull+holes+intensity "
      "filter=\"solidity > 0.9 or n-holes > 0 and class-id == 5\" sort=area-filled-desc");
  gchar *const caps = caps_string (GST_VIDEO_FORMAT_GRAY8, WIDTH, 5);
  GstBuffer *buffer = gst_buffer_new_memdup (ring, sizeof ring);
  GstCclBlobMeta *meta;
  static const gint expected[] = { 5, 9, 7 };
  guint n_holes;
  gdouble mean;
  guint64 area;

  gst_harness_set_src_caps_str (harness, caps);
  buffer = gst_harness_push_and_pull (harness, buffer);
  check_class_ids (buffer, expected, 3, 1);
  meta = gst_buffer_get_ccl_blob_meta (buffer);
  fail_unless (gst_ccl_blob_meta_get_filled_area (meta, 0, &area, &n_holes));
  fail_unless_equals_int (n_holes, 1);
  fail_unless_equals_uint64 (area, 25);
  fail_unless (gst_ccl_blob_meta_get_intensity (meta, 1, NULL, NULL, &mean, NULL));
  fail_unless_equals_float (mean, 9);
  gst_buffer_unref (buffer);
  gst_harness_teardown (harness);
  g_free (caps);
}

GST_END_TEST;

/* Frame by frame, only equal values touch: in the second frame all values are twice as large, so the blob of 1 at the left is one
 * of 2 and touches that of the first frame beside it. */
GST_START_TEST (test_map_volumes)
{
  GstHarness *harness = label_harness (0, "foreground=equal volume=2 features=basic+shape");
  gchar *const caps = caps_string (GST_VIDEO_FORMAT_GRAY8, WIDTH, HEIGHT);
  static const guint64 expected[4][4] = { {1, 2, 3, 4}, {2, 5, 6, 7}, {8, 9, 10, 11}, {8, 9, 10, 11} };
  static const gint factors[4] = { 1, 2, 3, 3 };

  gst_harness_set_src_caps_str (harness, caps);
  for (guint i = 0; i < 4; i++) {
    GstBuffer *const buffer = map_buffer (1, factors[i]);

    GST_BUFFER_PTS (buffer) = i * 40 * GST_MSECOND;
    GST_BUFFER_DURATION (buffer) = 40 * GST_MSECOND;
    fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_OK);
  }
  for (guint i = 0; i < 4; i++) {
    GstBuffer *const buffer = gst_harness_pull (harness);
    GstCclBlobMeta *const meta = gst_buffer_get_ccl_blob_meta (buffer);

    fail_unless_equals_int (gst_ccl_blob_meta_get_length (meta), 4);
    for (guint k = 0; k < 4; k++)
      fail_unless_equals_uint64 (gst_ccl_blob_meta_get_blob (meta, k)->volume_id, expected[i][k]);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (harness);
  g_free (caps);
}

GST_END_TEST;

/* A mistake with label maps is one warning. */
static const struct
{
  const gchar *settings, *message;
} mistakes[] = {
  {"threshold=3", "threshold has no effect"},
  {"invert=true", "invert=true has no effect"},
  {"background-value=300", "background-value=300: no pixel of GRAY8 has it"},
  {"foreground=threshold background-value=3", "background-value=3 has no effect"},
  {"mask-source=segmentation-mtd background-value=3", "background-value=3 has no effect"},
  {"foreground=threshold filter=\"class-id == 3\"", "no blob has the class-id of filter or sort"},
  {"foreground=threshold sort=class-id-desc", "no blob has the class-id of filter or sort"},
};

GST_START_TEST (test_map_mistakes)
{
  gchar *const text = g_strdup_printf ("ccllabel name=label foreground=equal %s", mistakes[__i__].settings);
  GError *error = NULL;
  GstElement *const label = gst_parse_launch (text, &error);
  GstHarness *harness;
  GstBus *bus;

  g_assert_no_error (error);
  gst_element_set_state (label, GST_STATE_NULL);
  bus = gst_bus_new ();
  gst_element_set_bus (label, bus);
  harness = gst_harness_new_with_element (label, "sink", "src");
  for (guint i = 0; i < 2; i++)
    gst_buffer_unref (label_map (harness, GST_VIDEO_FORMAT_GRAY8, 1));
  assert_message (bus, GST_MESSAGE_WARNING, mistakes[__i__].message);
  gst_element_set_bus (label, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (harness);
  gst_object_unref (label);
  g_free (text);
}

GST_END_TEST;

/* A map of many values, nearly all foreground, is no mistake: no hint at `threshold`. */
GST_START_TEST (test_map_gets_no_hint)
{
  GstHarness *harness = label_harness (0, "foreground=equal");
  GstBus *bus = watch_bus (harness);
  gchar *caps = caps_string (GST_VIDEO_FORMAT_GRAY8, 32, 16);

  gst_harness_set_src_caps_str (harness, caps);
  for (guint i = 0; i < 12; i++) {
    GstBuffer *buffer = gst_buffer_new_allocate (NULL, 32 * 16, NULL);
    GstMapInfo map;

    gst_buffer_map (buffer, &map, GST_MAP_WRITE);
    for (guint k = 0; k < 32 * 16; k++)
      map.data[k] = 1 + k % 32 * 5;
    gst_buffer_unmap (buffer, &map);
    buffer = gst_harness_push_and_pull (harness, buffer);
    fail_unless_equals_int (n_blobs (buffer), 32);
    gst_buffer_unref (buffer);
  }
  assert_no_message (bus, GST_MESSAGE_WARNING);
  drop_bus (harness, bus);
  g_free (caps);
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* What the GPU does not do with label maps takes the CPU: with backend=cuda that is a warning. */
static const struct
{
  const gchar *settings, *message;
} fallbacks[] = {
  {"algorithm=runs", "On the GPU algorithm=runs does not label label maps"},
};

GST_START_TEST (test_map_with_cuda)
{
  static const gint expected[] = { 1, 2, 1, 9 };
  gchar *settings;
  GstElement *label;
  GstHarness *harness;
  GstBuffer *buffer;
  GstBus *bus;

  SKIP_TEST_UNLESS (ccl_backend_built (CCL_BACKEND_CUDA), "no CUDA backend is built");
  settings = g_strdup_printf ("ccllabel name=label foreground=equal %s", fallbacks[__i__].settings);
  harness = gst_harness_new_parse (settings);
  g_free (settings);
  bus = watch_bus (harness);
  label = gst_bin_get_by_name (GST_BIN (harness->element), "label");

  gst_element_set_state (label, GST_STATE_NULL);
  gst_util_set_object_arg (G_OBJECT (label), "backend", "cuda");
  gst_element_set_state (label, GST_STATE_PLAYING);
  buffer = label_map (harness, GST_VIDEO_FORMAT_GRAY8, 1);
  check_class_ids (buffer, expected, 4, 1);
  gst_buffer_unref (buffer);
  assert_message (bus, GST_MESSAGE_WARNING, fallbacks[__i__].message);
  assert_no_message (bus, GST_MESSAGE_WARNING);
  gst_element_set_state (label, GST_STATE_NULL);
  gst_object_unref (label);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
}

GST_END_TEST;

void
ccllabel_add_maps_tests (Suite * suite)
{
  TCase *tests = tcase_create ("maps");

  tcase_set_timeout (tests, 60);
  tcase_add_loop_test (tests, test_map, 0, G_N_ELEMENTS (maps));
  tcase_add_test (tests, test_map_contours);
  tcase_add_test (tests, test_map_features);
  tcase_add_test (tests, test_map_volumes);
  tcase_add_test (tests, test_map_travels);
  tcase_add_loop_test (tests, test_map_with_cuda, 0, G_N_ELEMENTS (fallbacks));
  tcase_add_loop_test (tests, test_map_mistakes, 0, G_N_ELEMENTS (mistakes));
  tcase_add_test (tests, test_map_gets_no_hint);
  suite_add_tcase (suite, tests);
}
