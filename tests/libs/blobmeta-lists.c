/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Blobs, lists and their references, and the shapes of blobs. */
#include "blobmeta.h"

GST_START_TEST (test_new_blob_is_empty)
{
  GstCclBlob *blob = gst_ccl_blob_new (), *copy;

  fail_unless_equals_uint64 (blob->area, 0);
  fail_unless_equals_int64 (blob->mtd_id, GST_CCL_MTD_ID_NONE);
  blob->label = 7;
  copy = gst_ccl_blob_copy (blob);
  gst_ccl_blob_free (blob);
  fail_unless_equals_int (copy->label, 7);
  g_boxed_free (GST_TYPE_CCL_BLOB, copy);
}

GST_END_TEST;

GST_START_TEST (test_list_copies_blobs)
{
  GstCclBlob blobs[2] = { rectangle (1, 0, 0, 1, 1), rectangle (2, 5, 0, 2, 2) };
  GstCclBlobList *list = gst_ccl_blob_list_new (blobs, 2);
  GstCclBlob *copy;

  blobs[1].area = 0;
  fail_unless_equals_int (gst_ccl_blob_list_get_length (list), 2);
  fail_unless_equals_uint64 (gst_ccl_blob_list_get (list, 1)->area, 4);
  fail_unless (gst_ccl_blob_list_get (list, 1) == gst_ccl_blob_list_get (list, 0) + 1);
  fail_unless (gst_ccl_blob_list_get (list, 2) == NULL);
  fail_unless (gst_ccl_blob_list_dup (list, 2) == NULL);

  copy = gst_ccl_blob_list_dup (list, 1);
  gst_ccl_blob_list_unref (list);
  fail_unless_equals_uint64 (copy->area, 4);
  gst_ccl_blob_free (copy);
}

GST_END_TEST;

/* A copy for writing has the points of the list. */
GST_START_TEST (test_list_copy_has_points)
{
  static const GstCclPoint corners[] = { {0, 0}, {4, 0}, {4, 4} };
  GstCclBlob blob = rectangle (1, 0, 0, 4, 4), *blobs;
  GBytes *const points = g_bytes_new_static (corners, sizeof corners);
  GstCclBlobList *list, *copy;
  guint n;

  blob.n_contour = G_N_ELEMENTS (corners);
  list = gst_ccl_blob_list_new (&blob, 1);
  gst_ccl_blob_list_set_points (list, points);
  copy = gst_ccl_blob_list_copy (list, &blobs);
  blobs[0].label = 2;
  fail_unless_equals_int (gst_ccl_blob_list_get (list, 0)->label, 1);
  gst_ccl_blob_list_unref (list);
  fail_unless (gst_ccl_blob_list_get_contour (copy, 0, &n) == corners);
  fail_unless_equals_int (n, 3);
  gst_ccl_blob_list_unref (copy);
  g_bytes_unref (points);
}

GST_END_TEST;

GST_START_TEST (test_list_references)
{
  GstCclBlob *array = NULL;
  GstCclBlobList *const list = gst_ccl_blob_list_new_uninitialized (1, &array);

  array[0] = rectangle (1, 3, 4, 5, 6);
  fail_unless (gst_ccl_blob_list_ref (list) == list);
  fail_unless (g_boxed_copy (GST_TYPE_CCL_BLOB_LIST, list) == list);
  gst_ccl_blob_list_unref (list);
  gst_ccl_blob_list_unref (list);
  fail_unless_equals_uint64 (gst_ccl_blob_list_get (list, 0)->area, 30);
  gst_ccl_blob_list_unref (list);
}

GST_END_TEST;

GST_START_TEST (test_list_edges)
{
  GstCclBlobList *const list = gst_ccl_blob_list_new (NULL, 0);

  fail_unless_equals_int (gst_ccl_blob_list_get_length (list), 0);
  fail_unless (gst_ccl_blob_list_get (list, 0) == NULL);
  gst_ccl_blob_list_unref (list);

  fail_unless_equals_int (gst_ccl_blob_list_get_length (NULL), 0);
  fail_unless (gst_ccl_blob_list_get (NULL, 0) == NULL);
  ASSERT_CRITICAL (gst_ccl_blob_list_new (NULL, 1));
  ASSERT_CRITICAL (gst_ccl_blob_list_new_uninitialized (G_MAXUINT, NULL));
}

GST_END_TEST;

static gpointer
take_and_drop_references (gpointer list)
{
  for (gint i = 0; i < 20000; i++) {
    gst_ccl_blob_list_ref (list);
    gst_ccl_blob_list_unref (list);
  }
  return NULL;
}

GST_START_TEST (test_list_threads)
{
  const GstCclBlob blob = rectangle (1, 0, 0, 1, 1);
  GstCclBlobList *const list = gst_ccl_blob_list_new (&blob, 1);
  GThread *threads[4];

  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("references", take_and_drop_references, list);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  fail_unless_equals_uint64 (gst_ccl_blob_list_get (list, 0)->area, 1);
  gst_ccl_blob_list_unref (list);
}

GST_END_TEST;

GST_START_TEST (test_shape_of_rectangle)
{
  /* 8 x 12 pixels: variances (n² - 1) / 12. */
  const GstCclBlob blob = rectangle (1, 10, 10, 8, 12);
  gdouble x, y, xx, xy, yy, major, minor;

  gst_ccl_blob_get_centroid (&blob, &x, &y);
  assert_near (x, 13.5);
  assert_near (y, 15.5);
  gst_ccl_blob_get_covariance (&blob, &xx, &xy, &yy);
  assert_near (xx, 63.0 / 12);
  assert_near (xy, 0);
  assert_near (yy, 143.0 / 12);
  gst_ccl_blob_get_axes (&blob, &major, &minor);
  assert_near (major, 4 * sqrt (143.0 / 12));
  assert_near (minor, 4 * sqrt (63.0 / 12));
  assert_near (gst_ccl_blob_get_orientation (&blob), 0);
  assert_near (gst_ccl_blob_get_eccentricity (&blob), sqrt (1 - 63.0 / 143));
  assert_near (gst_ccl_blob_get_extent (&blob), 1);
  assert_near (gst_ccl_blob_get_equivalent_diameter (&blob), sqrt (4 * 96 / G_PI));
  /* Not wanting an answer is allowed. */
  gst_ccl_blob_get_centroid (&blob, NULL, NULL);
  gst_ccl_blob_get_covariance (&blob, NULL, NULL, NULL);
  gst_ccl_blob_get_axes (&blob, NULL, NULL);
}

GST_END_TEST;

GST_START_TEST (test_shape_of_diagonal)
{
  /* Pixels (0,0) (1,1) (2,2): y grows with x, which is +45 degrees from the y axis. */
  const GstCclBlob blob = {.width = 3,.height = 3,.area = 3,.m10 = 3,.m01 = 3,.m20 = 5,.m11 = 5,.m02 = 5 };
  gdouble major, minor;

  assert_near (gst_ccl_blob_get_orientation (&blob), 45 * DEGREES);
  gst_ccl_blob_get_axes (&blob, &major, &minor);
  assert_near (major, 4 * sqrt (4.0 / 3));
  assert_near (minor, 0);
  assert_near (gst_ccl_blob_get_eccentricity (&blob), 1);
  assert_near (gst_ccl_blob_get_extent (&blob), 3.0 / 9);
}

GST_END_TEST;

GST_START_TEST (test_shape_without_pixels)
{
  /* A tracker's prediction: a box and nothing else. */
  const GstCclBlob blob = {.x = 10,.y = 20,.width = 5,.height = 4 };
  const GstCclBlob nothing = { 0 };
  gdouble x, y, xx, xy, yy;

  gst_ccl_blob_get_centroid (&blob, &x, &y);
  assert_near (x, 12);
  assert_near (y, 21.5);
  gst_ccl_blob_get_covariance (&blob, &xx, &xy, &yy);
  fail_unless (xx == 0 && xy == 0 && yy == 0);
  assert_near (gst_ccl_blob_get_extent (&blob), 0);
  assert_near (gst_ccl_blob_get_extent (&nothing), 0);
  assert_near (gst_ccl_blob_get_equivalent_diameter (&nothing), 0);
}

GST_END_TEST;

/* One blob can have as many holes as a grid: looking at each must not look at all. */
GST_START_TEST (test_many_holes)
{
  const guint n = 300000;
  const GstCclFilledCounts counts = { 1, n, 3 * n, {0} };
  const GstCclBlob blob = {.label = 1,.width = 2000,.height = 2000,.area = 2 * n };
  GstBuffer *const buffer = gst_buffer_new ();
  GstCclHole *const rows = g_new0 (GstCclHole, n);
  GstCclBlobList *const list = gst_ccl_blob_list_new (&blob, 1);
  GBytes *const filled = g_bytes_new (&counts, sizeof (counts));
  GBytes *holes;
  GstCclBlobMeta *meta;
  GstCclHole hole;
  guint n_right = 0;

  for (guint i = 0; i < n; i++)
    rows[i] = (GstCclHole) { 1, 1, 1, i % 1000, i / 1000, 1, 1, i % 1000, {0} };
  holes = g_bytes_new_take (rows, n * sizeof (GstCclHole));
  gst_ccl_blob_list_set_holes (list, filled, holes);
  meta = gst_buffer_add_ccl_blob_meta (buffer, list, 2000, 2000);
  for (guint i = 0; i < n; i++)
    n_right += gst_ccl_blob_meta_get_hole (meta, 0, i, &hole) && hole.x == (gint) i % 1000;
  assert_equals_int (n_right, n);
  fail_if (gst_ccl_blob_meta_get_hole (meta, 0, n, &hole));
  g_bytes_unref (filled);
  g_bytes_unref (holes);
  gst_ccl_blob_list_unref (list);
  gst_buffer_unref (buffer);
}

GST_END_TEST;

void
blobmeta_add_lists_tests (Suite * suite)
{
  TCase *tests = tcase_create ("lists");

  tcase_add_test (tests, test_new_blob_is_empty);
  tcase_add_test (tests, test_list_copies_blobs);
  tcase_add_test (tests, test_list_copy_has_points);
  tcase_add_test (tests, test_list_references);
  tcase_add_test (tests, test_list_edges);
  tcase_add_test (tests, test_list_threads);
  tcase_add_test (tests, test_shape_of_rectangle);
  tcase_add_test (tests, test_shape_of_diagonal);
  tcase_add_test (tests, test_shape_without_pixels);
  tcase_add_test (tests, test_many_holes);
  suite_add_tcase (suite, tests);
}
