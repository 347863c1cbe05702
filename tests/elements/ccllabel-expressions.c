/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* ccllabel filter=... and sort=MEASURE: the suite `selection` of checkccl has the expressions themselves. Every test runs on
 * each backend that is there. */
#include "analysis/selection.h"
#include "support/backends.h"
#include "support/blobs.h"
#include "support/labelharness.h"
#include "support/masks.h"
#include "support/messages.h"
#include "support/program.h"
#include "support/reference.h"

static void
set_filter (GstHarness * harness, const gchar * text)
{
  g_object_set (label_of (harness), "filter", text, NULL);
}

static void
assert_filter (GstHarness * harness, const gchar * expected)
{
  gchar *text;

  g_object_get (label_of (harness), "filter", &text, NULL);
  fail_unless_equals_string (text, expected);
  g_free (text);
}

/* The buffer must have the blobs that the reference method keeps with the expression and min-area=2. */
static void
check_filtered (GstBuffer * buffer, const Mask * mask, const gchar * text)
{
  CclSelection *const selection = g_new (CclSelection, 1);
  CclFilter filter = {.min_area = 2 };

  fail_unless (ccl_selection_parse (text, selection) == CCL_OK, "%s", ccl_error_message ());
  filter.selection = selection->n_steps ? selection : NULL;
  assert_blobs_filtered (buffer, mask, 8, &filter);
  gst_buffer_unref (buffer);
  g_free (selection);
}

/* Each frame keeps the filter of its arrival, in the delay queue too. */
GST_START_TEST (test_frames_keep_their_filter)
{
  static const gchar *const texts[] = {
    "area >= 4", "", "width > height and not touches-border or area > 30", "  ", "false", "x >= 10 and x < 40", "true",
    "eccentricity < 0.9 and extent > 0.5",
  };

  NEED_BACKEND (__i__);
  for (guint depth = 0; depth < 3; depth++) {
    gchar *const settings = g_strdup_printf ("async-depth=%u min-area=2", depth);
    GstHarness *harness = label_harness (__i__, settings);
    Mask masks[G_N_ELEMENTS (texts)];

    for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
      masks[i] = mask_random (70, 40, i, 0.4);
      if (i == 0)
        set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &masks[i]);
      set_filter (harness, texts[i]);
      fail_unless_equals_int (push_mask (harness, &masks[i], i), GST_FLOW_OK);
    }
    set_filter (harness, NULL);
    gst_harness_push_event (harness, gst_event_new_eos ());
    for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
      check_filtered (gst_harness_pull (harness), &masks[i], texts[i]);
      mask_free (&masks[i]);
    }
    gst_harness_teardown (harness);
    g_free (settings);
  }
}

GST_END_TEST;

/* The picture shows the blobs that pass, numbered anew. */
GST_START_TEST (test_labels_are_of_selected_blobs)
{
  NEED_BACKEND (__i__);

  GstHarness *harness = label_harness (__i__, "output=labels");
  Mask mask = MASK ("#.##.#.###", "......#...");
  static const guint16 expected[] = { 0, 0, 1, 1, 0, 2, 0, 2, 2, 2 };
  GstBuffer *buffer;
  GstMapInfo map;

  set_filter (harness, "area > 1");
  gst_harness_set_sink_caps_str (harness, "video/x-raw,format=GRAY16_LE");
  buffer = label_one (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    fail_unless_equals_int (GST_READ_UINT16_LE (map.data + 2 * i), expected[i]);
  gst_buffer_unmap (buffer, &map);
  gst_buffer_unref (buffer);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

/* The filter comes first, then the order, then the cut; the counts are those of the filter. */
GST_START_TEST (test_filter_sort_and_cut)
{
  NEED_BACKEND (__i__);

  Mask mask = MASK ("#..###..##..###", ".............#.", "##.......#.....", "##.......#.....");
  static const struct
  {
    const gchar *settings;
    guint n_kept, labels[4];
  } cases[] = {
    {"sort=area-desc", 6, {4, 5, 2}}, {"sort=area", 6, {1, 3, 6}}, {"sort=width-desc", 6, {2, 4, 3}},
    {"sort=x", 6, {1, 5, 2}}, {"sort=orientation", 6, {6, 2, 3}}, {"sort=axis-minor-length", 6, {4, 5, 1}},
    {"sort=axis-minor-length-desc", 6, {5, 4, 1}}, {"sort=raster", 6, {1, 2, 3}},
    {"sort=x-desc filter=\"height == 1\"", 3, {3, 2, 1}}, {"sort=area-desc filter=\"not touches-left\"", 4, {3, 1, 2}},
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    gchar *const settings = g_strdup_printf ("max-components=3 %s", cases[i].settings);
    GstHarness *harness = label_harness (__i__, settings);
    GstBuffer *buffer;
    GstCclBlobMeta *meta;

    buffer = label_one (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
    meta = gst_buffer_get_ccl_blob_meta (buffer);
    fail_unless_equals_int (meta->n_total, 6);
    fail_unless_equals_int (meta->n_kept, cases[i].n_kept);
    fail_unless_equals_int (gst_ccl_blob_meta_get_length (meta), 3);
    for (guint k = 0; k < 3; k++)
      fail_unless (gst_ccl_blob_meta_get_blob (meta, k)->label == cases[i].labels[k], "%s: row %u has label %u",
          settings, k, gst_ccl_blob_meta_get_blob (meta, k)->label);
    gst_buffer_unref (buffer);
    gst_harness_teardown (harness);
    g_free (settings);
  }
  mask_free (&mask);
}

GST_END_TEST;

/* A wrong value leaves the old one. Its warning waits for the start, and a right value takes it back. */
GST_START_TEST (test_wrong_filters)
{
  Mask mask = MASK ("#.##.###");
  GstHarness *harness = label_harness (0, "filter=\"area > 1\"");
  GstBus *bus = watch_bus (harness);

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  push_mask (harness, &mask, 0);
  set_filter (harness, "aera > 2");
  assert_message (bus, GST_MESSAGE_WARNING, "filter: unknown measure 'aera' at 1; known are area, x, y, width");
  set_filter (harness, "area > 2 and (x > 1");
  assert_message (bus, GST_MESSAGE_WARNING, "filter: '(' without ')' at 14.");
  assert_filter (harness, "area > 1");
  push_mask (harness, &mask, 1);
  set_filter (harness, "area>2");
  push_mask (harness, &mask, 2);
  set_filter (harness, " ");
  assert_filter (harness, "");
  push_mask (harness, &mask, 3);
  assert_no_message (bus, GST_MESSAGE_WARNING);
  for (guint i = 0; i < 4; i++) {
    GstBuffer *buffer = gst_harness_pull (harness);

    fail_unless_equals_int (n_blobs (buffer), i < 2 ? 2 : i == 2 ? 1 : 3);
    gst_buffer_unref (buffer);
  }

  gst_element_set_state (label_of (harness), GST_STATE_NULL);
  set_filter (harness, "area = 2");
  assert_no_message (bus, GST_MESSAGE_WARNING);
  gst_element_set_state (label_of (harness), GST_STATE_PLAYING);
  assert_message (bus, GST_MESSAGE_WARNING, "filter: unexpected '=' at 6; equal is ==.");
  gst_element_set_state (label_of (harness), GST_STATE_NULL);
  set_filter (harness, "area = 2");
  set_filter (harness, "area == 2");
  gst_element_set_state (label_of (harness), GST_STATE_PLAYING);
  assert_no_message (bus, GST_MESSAGE_WARNING);
  assert_filter (harness, "area == 2");
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

static void
assert_backend (GstHarness * harness, const gchar * expected)
{
  gchar *const name = stat_string (harness, "backend");

  fail_unless_equals_string (name, expected);
  g_free (name);
}

/* A ring has a hole, a bar and a square have none. */
static void
check_rings (GstHarness * harness, const Mask * mask, guint n, guint n_expected, gboolean has_shape)
{
  GstBuffer *buffer;

  buffer = label_mask (harness, mask, n);
  fail_unless_equals_int (n_blobs (buffer), n_expected);
  fail_unless (gst_ccl_blob_meta_get_holes (gst_buffer_get_ccl_blob_meta (buffer), 0, NULL, NULL) == has_shape);
  gst_buffer_unref (buffer);
}

/* Measures of features=shape add the group. ccllabel-measures has groups that the GPU lacks. */
GST_START_TEST (test_measures_add_their_group)
{
  NEED_BACKEND (__i__);

  Mask mask = MASK ("###.####", "#.#.....", "###.##..", "....##..");
  GstHarness *harness = label_harness (__i__, "");
  GstBus *bus = watch_bus (harness);

  if (__i__)
    set_label (harness, "backend", "auto");
  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  check_rings (harness, &mask, 0, 3, FALSE);
  assert_no_message (bus, GST_MESSAGE_WARNING);
  set_filter (harness, "n-holes > 0 or circularity > 0.9 and area < 100");
  check_rings (harness, &mask, 1, 2, TRUE);
  assert_backend (harness, backends[__i__]);
  set_filter (harness, "area > 3");
  check_rings (harness, &mask, 2, 3, FALSE);
  assert_backend (harness, backends[__i__]);
  set_label (harness, "sort", "n-holes-desc");
  check_rings (harness, &mask, 3, 3, TRUE);
  assert_backend (harness, backends[__i__]);
  set_label (harness, "sort", "raster");
  check_rings (harness, &mask, 4, 3, FALSE);
  assert_backend (harness, backends[__i__]);
  assert_no_message (bus, GST_MESSAGE_WARNING);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

/* Of volumes only the frames are filtered and ordered. */
GST_START_TEST (test_volumes)
{
  NEED_BACKEND (__i__);

  Mask mask = MASK ("#.##.###");
  GstHarness *harness = label_harness (__i__, "volume=2 sort=x-desc filter=\"area > 1\"");

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  push_mask (harness, &mask, 0);
  push_mask (harness, &mask, 1);
  for (guint i = 0; i < 2; i++) {
    GstBuffer *buffer = gst_harness_pull (harness);
    GstCclBlobMeta *const meta = gst_buffer_get_ccl_blob_meta (buffer);

    fail_unless_equals_int (n_blobs (buffer), 2);
    fail_unless_equals_int (gst_ccl_blob_meta_get_blob (meta, 0)->x, 5);
    fail_unless_equals_uint64 (gst_ccl_blob_meta_get_blob (meta, 0)->volume_id, 3);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

static Suite *
ccllabel_expressions_suite (void)
{
  Suite *suite = suite_create ("ccllabel-expressions");
  TCase *tests = tcase_create ("general");

  tcase_set_timeout (tests, 120);
  tcase_add_loop_test (tests, test_frames_keep_their_filter, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_labels_are_of_selected_blobs, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_filter_sort_and_cut, 0, G_N_ELEMENTS (backends));
  tcase_add_test (tests, test_wrong_filters);
  tcase_add_loop_test (tests, test_measures_add_their_group, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_volumes, 0, G_N_ELEMENTS (backends));
  suite_add_tcase (suite, tests);
  return suite;
}

TEST_MAIN (ccllabel_expressions, "ccllabel-expressions");
