/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Measures beyond the basic ones, from the mask to the metadata. */
#include "ccllabel.h"

#include <gst/ccl/gstcclblobmeasures.h>

/* Two holes, one, and none; the middle one is the smallest. */
static Mask
shapes_mask (void)
{
  return MASK ( /**/
      "#######......",
      "#.###.#...#..",
      "#######..#.#.",
      "..........#..",
      "#####........");
}

static const struct
{
  guint32 label;
  guint n_holes;
  gdouble crack;
} shapes[] = { {1, 2, 28}, {2, 1, 16}, {3, 0, 12} };

static void
check_shape (GstBuffer * buffer, guint n_expected)
{
  GstCclBlobMeta *const meta = gst_buffer_get_ccl_blob_meta (buffer);

  fail_unless_equals_int (gst_ccl_blob_meta_get_length (meta), n_expected);
  for (guint i = 0; i < n_expected; i++) {
    const GstCclBlob *const blob = gst_ccl_blob_meta_get_blob (meta, i);
    gdouble crack, crofton, circularity, compactness;
    gint euler_number;
    guint n_holes;

    fail_unless (gst_ccl_blob_meta_get_holes (meta, i, &euler_number, &n_holes));
    fail_unless (gst_ccl_blob_meta_get_perimeter (meta, i, &crack, &crofton));
    fail_unless (gst_ccl_blob_meta_get_circularity (meta, i, &circularity, &compactness));
    fail_unless_equals_int (n_holes, shapes[blob->label - 1].n_holes);
    fail_unless_equals_int (euler_number, 1 - (gint) n_holes);
    fail_unless_equals_float (crack, shapes[blob->label - 1].crack);
    fail_unless (crofton > crack / 2 && crofton < crack);
    fail_unless (ABS (compactness - crofton * crofton / (4 * G_PI * blob->area)) < 1e-12);
    fail_unless (ABS (circularity - MIN (1, 1 / compactness)) < 1e-12);
  }
}

GST_START_TEST (test_shape)
{
  static const gchar *const settings[] = {
    "", "sort=area-desc", "sort=area-desc max-components=2", "contours=true", "async-depth=2", "threads=4", "volume=2",
    "algorithm=reference",
  };
  Mask mask = shapes_mask ();

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++) {
    gchar *const all = g_strdup_printf ("features=shape %s", settings[i]);
    GstHarness *harness = label_harness (0, all);
    const guint n = strstr (all, "max-components") ? 2 : 3;

    set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
    for (guint k = 0; k < 4; k++)
      push_mask (harness, &mask, k);
    gst_harness_push_event (harness, gst_event_new_eos ());
    for (guint k = 0; k < 4; k++) {
      GstBuffer *buffer = gst_harness_pull (harness);

      check_shape (buffer, n);
      gst_buffer_unref (buffer);
    }
    gst_harness_teardown (harness);
    g_free (all);
  }
  mask_free (&mask);
}

GST_END_TEST;

static void
check_hull (GstBuffer * buffer, gboolean has_shape)
{
  static const gdouble hulls[][4] = {
    {21, 20, 7.615773105863909, 3}, {7, 9.656854249492381, 3.1622776601683795, 2.8284271247461903},
    {5, 12, 5.0990195135927845, 1},
  };
  GstCclBlobMeta *const meta = gst_buffer_get_ccl_blob_meta (buffer);

  fail_unless_equals_int (gst_ccl_blob_meta_get_length (meta), 3);
  for (guint i = 0; i < 3; i++) {
    const GstCclBlob *const blob = gst_ccl_blob_meta_get_blob (meta, i);
    const gdouble *const hull = hulls[blob->label - 1];
    gdouble area, perimeter, solidity, max, min, x, y, length, width, angle, crack, convexity;

    fail_unless (gst_ccl_blob_meta_get_hull (meta, i, &area, &perimeter, &solidity));
    fail_unless (gst_ccl_blob_meta_get_feret (meta, i, &max, &min));
    fail_unless (gst_ccl_blob_meta_get_min_rect (meta, i, &length, &width, &angle));
    fail_unless (gst_ccl_blob_meta_get_min_rect_center (meta, i, &x, &y));
    fail_unless (ABS (area - hull[0]) < 1e-9 && ABS (perimeter - hull[1]) < 1e-9, "label %u: %g %g", blob->label, area,
        perimeter);
    fail_unless (ABS (solidity - blob->area / area) < 1e-12);
    fail_unless (ABS (max - hull[2]) < 1e-9 && ABS (min - hull[3]) < 1e-9, "label %u: %g %g", blob->label, max, min);
    fail_unless (ABS (x - (blob->x + (blob->width - 1) / 2.0)) < 1e-9 && ABS (y - (blob->y + (blob->height - 1) / 2.0)) < 1e-9);
    fail_unless (length >= width && ABS (width - min) < 1e-9 && angle == (blob->label == 2 ? -G_PI / 4 : 0));
    fail_unless_equals_int (gst_ccl_blob_meta_get_convexity (meta, i, &convexity), has_shape);
    if (gst_ccl_blob_meta_get_perimeter (meta, i, &crack, NULL))
      fail_unless (ABS (convexity - perimeter / crack) < 1e-12);
  }
}

/* Through elements behind it, and by a filter that adds both groups. */
GST_START_TEST (test_hull)
{
  static const gchar *const settings[] = {
    "features=hull", "features=shape+hull threads=4", "filter=\"solidity > 0\"", "sort=convexity-desc contours=true",
  };
  Mask mask = shapes_mask ();

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++) {
    gchar *const line = g_strdup_printf ("ccllabel %s ! ccltrack ! cclmetaremap ! videoscale ! "
        "capsfilter caps=video/x-raw,width=26,height=10 ! cclmetaremap mode=restore", settings[i]);
    GstHarness *harness = gst_harness_new_parse (line);
    GstBuffer *buffer;

    set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
    fail_unless_equals_int (push_mask (harness, &mask, 0), GST_FLOW_OK);
    buffer = gst_harness_pull (harness);
    check_hull (buffer, i % 2);
    gst_buffer_unref (buffer);
    gst_harness_teardown (harness);
    g_free (line);
  }
  mask_free (&mask);
}

GST_END_TEST;

/* Filled areas and rows of holes, of the listed blobs only. */
GST_START_TEST (test_holes)
{
  Mask mask = shapes_mask ();
  GstHarness *harness = gst_harness_new_parse ("ccllabel features=holes sort=area-desc ! ccltrack ! cclmetaremap");
  GstCclBlobMeta *meta;
  GstCclHole hole;
  GstBuffer *buffer;
  guint64 filled;
  guint n_holes;

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  fail_unless_equals_int (push_mask (harness, &mask, 0), GST_FLOW_OK);
  buffer = gst_harness_pull (harness);
  meta = gst_buffer_get_ccl_blob_meta (buffer);
  fail_unless_equals_int (gst_ccl_blob_meta_get_length (meta), 3);
  for (guint i = 0; i < 3; i++) {
    const guint32 label = gst_ccl_blob_meta_get_blob (meta, i)->label;

    fail_unless (gst_ccl_blob_meta_get_filled_area (meta, i, &filled, &n_holes));
    fail_unless_equals_int (filled, label == 1 ? 21 : 5);
    fail_unless_equals_int (n_holes, shapes[label - 1].n_holes);
    for (guint k = 0; k < shapes[label - 1].n_holes; k++) {
      fail_unless (gst_ccl_blob_meta_get_hole (meta, i, k, &hole));
      fail_unless_equals_int (hole.area, 1);
      fail_unless_equals_int (hole.x, label == 2 ? 10 : k ? 5 : 1);
      fail_unless_equals_int (hole.parent, label);
    }
    fail_if (gst_ccl_blob_meta_get_hole (meta, i, shapes[label - 1].n_holes, &hole));
  }
  gst_buffer_unref (buffer);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

/* A grid is one blob with many holes. They are counted, and as many are listed as max-components says, but at least 4096. */
GST_START_TEST (test_holes_are_bounded)
{
  static const struct
  {
    const gchar *settings;
    guint n_listed;
  } bounds[] = { {"max-components=1", 4096}, {"max-components=5000", 5000}, {"max-components=8000", 6241} };
  gchar *settings = g_strdup_printf ("features=holes %s", bounds[__i__].settings);
  GstHarness *harness = label_harness (0, settings);
  GstBus *bus = watch_bus (harness);
  Mask mask = mask_new (159, 159);
  const GstCclHole *holes;
  GstCclBlobMeta *meta;
  GstBuffer *buffer;
  guint n_holes, n_listed;

  for (guint y = 0; y < 159; y++)
    for (guint x = 0; x < 159; x++)
      mask.pixels[y * 159 + x] = x % 2 == 0 || y % 2 == 0;
  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  for (guint i = 0; i < 2; i++)
    fail_unless_equals_int (push_mask (harness, &mask, i), GST_FLOW_OK);
  buffer = gst_harness_pull (harness);
  meta = gst_buffer_get_ccl_blob_meta (buffer);
  fail_unless (gst_ccl_blob_meta_get_filled_area (meta, 0, NULL, &n_holes));
  holes = gst_ccl_blob_meta_list_holes (meta, 0, &n_listed);
  fail_unless_equals_int (n_holes, 79 * 79);
  fail_unless_equals_int (n_listed, bounds[__i__].n_listed);
  fail_unless_equals_int (meta->flags, n_listed < n_holes ? GST_CCL_BLOB_META_FLAG_HOLES_TRUNCATED : 0);
  for (guint i = 0; i < n_listed; i++)
    fail_unless (holes[i].x == (gint) (i % 79 * 2 + 1) && holes[i].y == (gint) (i / 79 * 2 + 1), "hole %u", i);
  if (n_listed < n_holes)
    assert_message (bus, GST_MESSAGE_WARNING, "The blobs of a frame have 6241 holes, the list holds");
  assert_no_message (bus, GST_MESSAGE_WARNING);
  drop_bus (harness, bus);
  gst_buffer_unref (buffer);
  gst_harness_teardown (harness);
  mask_free (&mask);
  g_free (settings);
}

GST_END_TEST;

/* On and off while frames flow; without the group nothing is attached. */
GST_START_TEST (test_shape_changes_while_playing)
{
  Mask mask = shapes_mask ();
  GstHarness *harness = label_harness (0, "async-depth=1");

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  for (guint k = 0; k < 6; k++) {
    set_label (harness, "features", k % 2 ? "basic+shape" : "basic");
    push_mask (harness, &mask, k);
  }
  gst_harness_push_event (harness, gst_event_new_eos ());
  for (guint k = 0; k < 6; k++) {
    GstBuffer *buffer = gst_harness_pull (harness);
    GstCclBlobMeta *const meta = gst_buffer_get_ccl_blob_meta (buffer);

    if (k % 2)
      check_shape (buffer, 3);
    else
      fail_if (gst_ccl_blob_meta_get_holes (meta, 0, NULL, NULL));
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

/* Elements behind it pass the counts on: tracks, zones, copies, scaled frames. */
GST_START_TEST (test_shape_travels)
{
  GstHarness *harness = gst_harness_new_parse ("ccllabel features=shape ! ccltrack ! cclzone ! cclmetaremap ! "
      "videoscale ! capsfilter caps=video/x-raw,width=26,height=10 ! cclmetaremap mode=restore");
  Mask mask = shapes_mask ();

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  for (guint k = 0; k < 5; k++) {
    GstBuffer *buffer;

    buffer = label_mask (harness, &mask, k);
    check_shape (buffer, 3);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

void
ccllabel_add_features_tests (Suite * suite)
{
  TCase *tests = tcase_create ("features");

  tcase_set_timeout (tests, 300);
  tcase_add_test (tests, test_shape);
  tcase_add_test (tests, test_hull);
  tcase_add_test (tests, test_holes);
  tcase_add_loop_test (tests, test_holes_are_bounded, 0, 3);
  tcase_add_test (tests, test_shape_changes_while_playing);
  tcase_add_test (tests, test_shape_travels);
  suite_add_tcase (suite, tests);
}
