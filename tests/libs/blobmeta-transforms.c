/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Copies, scalings and matrices. */
#include "blobmeta.h"

#include <gst/video/gstvideosink.h>

/* A tracker's prediction has no axes in any frame. */
GST_START_TEST (test_axes_without_pixels)
{
  const GstCclBlob blob = {.x = 10,.y = 20,.width = 5,.height = 4 };
  const gdouble matrices[][9] = { {1, 0, 0, 0, 1, 0, 0, 0, 1}, {2, 0, 0, 0, 3, 0, 0, 0, 1}, {0, -1, 9, 1, 0, 0, 0, 0, 1} };

  for (guint i = 0; i < G_N_ELEMENTS (matrices); i++) {
    GstBuffer *const buffer = gst_buffer_new ();
    GstCclBlobMeta *const meta = add_blobs (buffer, &blob, 1, 64, 48);
    gdouble major = -1, minor = -1, orientation = -1;

    gst_ccl_blob_meta_set_matrix (meta, matrices[i]);
    gst_ccl_blob_meta_get_axes (meta, 0, &major, &minor, &orientation);
    fail_unless (major == 0 && minor == 0 && orientation == 0, "matrix %u: %g %g %g", i, major, minor, orientation);
    gst_buffer_unref (buffer);
  }
}

GST_END_TEST;

GST_START_TEST (test_copy_keeps_the_mask_in_its_place)
{
  GstBuffer *const buffer = gst_buffer_new (), *const mask = gst_buffer_new_allocate (NULL, 64, NULL);
  GstCclMaskMeta *meta;
  GstBuffer *copy;

  gst_buffer_add_video_meta (mask, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 8, 8);
  meta = gst_buffer_add_ccl_mask_meta (buffer, mask, 8, 8);
  for (guint i = 0; i < 9; i++)
    meta->matrix[i] = i + 2;
  copy = gst_buffer_copy (buffer);
  fail_unless (memcmp (gst_buffer_get_ccl_mask_meta (copy)->matrix, meta->matrix, sizeof meta->matrix) == 0);
  gst_buffer_unref (copy);
  gst_buffer_unref (buffer);
  gst_buffer_unref (mask);
}

GST_END_TEST;

GST_START_TEST (test_copy_shares_the_list)
{
  GstBuffer *const buffer = gst_buffer_new ();
  GstCclBlobMeta *const meta = add_sample (buffer);
  GstBuffer *copy;
  GstCclBlobMeta *copied;

  meta->matrix[2] = 3;
  meta->width = 100;
  copy = gst_buffer_copy (buffer);
  copied = gst_buffer_get_ccl_blob_meta (copy);
  fail_unless (copied->list == meta->list);
  fail_unless (memcmp ((guint8 *) meta + sizeof (GstMeta), (guint8 *) copied + sizeof (GstMeta),
          sizeof (GstCclBlobMeta) - sizeof (GstMeta)) == 0);
  gst_buffer_unref (copy);
  gst_buffer_unref (buffer);
}

GST_END_TEST;

GST_START_TEST (test_copy_of_some_bytes_is_no_frame)
{
  GstBuffer *const buffer = gst_buffer_new_allocate (NULL, 100, NULL);
  GstBuffer *whole, *part;

  add_sample (buffer);
  whole = gst_buffer_copy_region (buffer, GST_BUFFER_COPY_ALL, 0, 100);
  part = gst_buffer_copy_region (buffer, GST_BUFFER_COPY_ALL, 0, 50);
  fail_unless (gst_buffer_get_ccl_blob_meta (whole) != NULL);
  fail_unless (gst_buffer_get_ccl_blob_meta (part) == NULL);
  gst_buffer_unref (whole);
  gst_buffer_unref (part);
  gst_buffer_unref (buffer);
}

GST_END_TEST;

GST_START_TEST (test_scale)
{
  GstBuffer *const buffer = gst_buffer_new (), *const scaled = gst_buffer_new (), *const back = gst_buffer_new ();
  GstCclBlobMeta *const meta = add_sample (buffer);
  GstCclBlobMeta *const large = scale (scaled, buffer, 128, 48);
  GstCclBlobMeta *const same = scale (back, scaled, 32, 24);
  gdouble x, y, xx, xy, yy, major, minor, orientation;

  fail_unless (large->list == meta->list);
  fail_unless_equals_int (large->width, 128);
  fail_unless_equals_int (large->height, 48);
  fail_unless_equals_int (large->ref_width, 32);
  fail_unless_equals_int (large->n_total, 9);
  fail_unless_equals_int (large->flags, GST_CCL_BLOB_META_FLAG_TRUNCATED);
  fail_if (gst_ccl_blob_meta_is_identity (large));

  assert_box (large, 2, 40, 20, 32, 24);
  assert_near (gst_ccl_blob_meta_get_area (large, 2), 96 * 8);
  /* Pixel centres: 10.5..17.5 by 4, minus a half. */
  gst_ccl_blob_meta_get_centroid (large, 2, &x, &y);
  assert_near (x, 14 * 4 - 0.5);
  assert_near (y, 16 * 2 - 0.5);
  gst_ccl_blob_meta_get_covariance (large, 2, &xx, &xy, &yy);
  assert_near (xx, 16 * 63.0 / 12);
  assert_near (xy, 0);
  assert_near (yy, 4 * 143.0 / 12);
  /* Wider than high now: the major axis is along x. */
  gst_ccl_blob_meta_get_axes (large, 2, &major, &minor, &orientation);
  assert_near (major, 4 * sqrt (16 * 63.0 / 12));
  assert_near (minor, 4 * sqrt (4 * 143.0 / 12));
  assert_near (fabs (orientation), 90 * DEGREES);

  assert_box (same, 2, 10, 10, 8, 12);
  fail_unless_equals_int (same->width, 32);
  gst_buffer_unref (back);
  gst_buffer_unref (scaled);
  gst_buffer_unref (buffer);
}

GST_END_TEST;

static void
assert_values (gdouble * values, guint n_values, const gdouble * expected, guint n_expected)
{
  fail_unless_equals_int (n_values, n_expected);
  for (guint i = 0; i < n_values; i++)
    assert_near (values[i], expected[i]);
  g_free (values);
}

/* Contours and trails follow the transforms of the frame. They stay when a caller writes to the blobs. */
GST_START_TEST (test_points)
{
  static const gdouble contour[] = { 0, 2, 4, 2, 4, 4, 0, 4 }, wide[] = { 0, 4, 16, 4, 16, 8, 0, 8 };
  static const gdouble trail[] = { 46, 18.5, 54, 30, 56, 32 };
  GstBuffer *const buffer = gst_buffer_new (), *const scaled = gst_buffer_new ();
  GstCclBlobMeta *const meta = add_sample (buffer);
  GstCclBlobMeta *large;
  GstCclBlobList *list;
  gdouble *values;
  guint n;

  fail_unless (gst_ccl_blob_meta_get_contour (meta, 0, &n) == NULL && n == 0);
  add_points (meta);
  values = gst_ccl_blob_meta_get_contour (meta, 0, &n);
  assert_values (values, n, contour, 8);
  fail_unless (gst_ccl_blob_meta_get_trail (meta, 0, &n) == NULL && n == 0);
  fail_unless (gst_ccl_blob_meta_get_contour (meta, 1, &n) == NULL && n == 0);
  fail_unless (gst_ccl_blob_meta_get_contour (meta, 3, &n) == NULL && n == 0);

  large = scale (scaled, buffer, 128, 48);
  values = gst_ccl_blob_meta_get_contour (large, 0, &n);
  assert_values (values, n, wide, 8);
  values = gst_ccl_blob_meta_get_trail (large, 2, &n);
  assert_values (values, n, trail, 6);

  gst_buffer_add_ccl_analytics_mirror (buffer, meta, "blob", 10);       /* writes mtd_id, where it is built */
  values = gst_ccl_blob_meta_get_contour (meta, 0, &n);
  assert_values (values, n, contour, 8);

  /* In a list without points, or with fewer, the same blobs have none. */
  list = gst_ccl_blob_list_new (gst_ccl_blob_meta_get_blob (meta, 0), 3);
  fail_unless (gst_ccl_blob_list_get_contour (list, 0, &n) == NULL && n == 0);
  gst_ccl_blob_list_set_points (list, gst_ccl_blob_list_get_points (meta->list));
  fail_unless (gst_ccl_blob_list_get_contour (list, 2, &n) != NULL && n == 4);
  fail_unless (gst_ccl_blob_list_get_trail (list, 2, &n) != NULL && n == 3);
  GBytes *const few = g_bytes_new_from_bytes (gst_ccl_blob_list_get_points (meta->list), 0, 10 * sizeof (GstCclPoint));
  gst_ccl_blob_list_set_points (list, few);
  g_bytes_unref (few);
  fail_unless (gst_ccl_blob_list_get_contour (list, 0, &n) != NULL && n == 4);
  fail_unless (gst_ccl_blob_list_get_contour (list, 2, &n) == NULL && n == 0);
  gst_ccl_blob_list_unref (list);
  gst_buffer_unref (scaled);
  gst_buffer_unref (buffer);
}

GST_END_TEST;

GST_START_TEST (test_scale_to_the_same_size)
{
  GstBuffer *const buffer = gst_buffer_new (), *const dest = gst_buffer_new ();

  add_sample (buffer);
  fail_unless (gst_ccl_blob_meta_is_identity (scale (dest, buffer, 32, 24)));
  gst_buffer_unref (dest);
  gst_buffer_unref (buffer);
}

GST_END_TEST;

GST_START_TEST (test_unknown_transforms)
{
  GstBuffer *const buffer = gst_buffer_new (), *const dest = gst_buffer_new ();

  add_sample (buffer);
  fail_if (transform (dest, buffer, g_quark_from_static_string ("gst-something-new"), NULL));
  /* A frame without pixels. */
  gst_buffer_get_ccl_blob_meta (buffer)->width = 0;
  fail_unless (scale (dest, buffer, 10, 10) == NULL);
  fail_unless (gst_buffer_get_ccl_blob_meta (dest) == NULL);
  gst_buffer_unref (dest);
  gst_buffer_unref (buffer);
}

GST_END_TEST;

/* GstVideoMetaTransformMatrix, which older headers do not have. */
typedef struct
{
  const GstVideoInfo *in_info;
  GstVideoRectangle in_rectangle;
  const GstVideoInfo *out_info;
  GstVideoRectangle out_rectangle;
  gfloat matrix[3][3];
} MatrixTransform;

typedef struct
{
  const gchar *name;
  gint out_width, out_height;
  GstVideoRectangle in, out;
  gfloat matrix[3][3];
  gdouble x, y, width, height;  /* what becomes of the box 10,4 6x3 in 32x24 */
  gdouble cx, cy;               /* and of its centroid (12.5, 5) */
} MatrixCase;

/* As videocrop, videobox, videoflip, videoscale and compositor of GStreamer 1.28 fill it. */
static const MatrixCase matrix_cases[] = {
  {"videocrop left=8 top=2", 24, 22, {8, 2, 24, 22}, {0, 0, 24, 22}, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
      2, 2, 6, 3, 4.5, 3},
  {"videobox left=-8 top=-2", 40, 26, {0, 0, 32, 24}, {8, 2, 32, 24}, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
      18, 6, 6, 3, 20.5, 7},
  {"videoflip horizontal-flip", 32, 24, {0, 0, 32, 24}, {0, 0, 32, 24}, {{-1, 0, 31}, {0, 1, 0}, {0, 0, 1}},
      16, 4, 6, 3, 18.5, 5},
  {"videoflip vertical-flip", 32, 24, {0, 0, 32, 24}, {0, 0, 32, 24}, {{1, 0, 0}, {0, -1, 23}, {0, 0, 1}},
      10, 17, 6, 3, 12.5, 18},
  {"videoflip rotate-180", 32, 24, {0, 0, 32, 24}, {0, 0, 32, 24}, {{-1, 0, 31}, {0, -1, 23}, {0, 0, 1}},
      16, 17, 6, 3, 18.5, 18},
  {"videoflip clockwise", 24, 32, {0, 0, 32, 24}, {0, 0, 24, 32}, {{0, -1, 23}, {1, 0, 0}, {0, 0, 1}},
      17, 10, 3, 6, 18, 12.5},
  {"videoflip counterclockwise", 24, 32, {0, 0, 32, 24}, {0, 0, 24, 32}, {{0, 1, 0}, {-1, 0, 31}, {0, 0, 1}},
      4, 16, 3, 6, 5, 18.5},
  {"videoflip upper-left-diagonal", 24, 32, {0, 0, 32, 24}, {0, 0, 24, 32}, {{0, 1, 0}, {1, 0, 0}, {0, 0, 1}},
      4, 10, 3, 6, 5, 12.5},
  {"videoflip upper-right-diagonal", 24, 32, {0, 0, 32, 24}, {0, 0, 24, 32}, {{0, -1, 23}, {-1, 0, 31}, {0, 0, 1}},
      17, 16, 3, 6, 18, 18.5},
  /* A flip of the plane of squares needs no correction. */
  {"flip of squares", 32, 24, {0, 0, 32, 24}, {0, 0, 32, 24}, {{-1, 0, 32}, {0, 1, 0}, {0, 0, 1}},
      16, 4, 6, 3, 18.5, 5},
  {"videoscale", 64, 8, {0, 0, 32, 24}, {0, 0, 64, 8}, {{2, 0, 0}, {0, 1.0f / 3, 0}, {0, 0, 1}},
      20, 4.0 / 3, 12, 1, 25.5, 5.5 / 3 - 0.5},
  {"videoscale the other way", 8, 48, {0, 0, 32, 24}, {0, 0, 8, 48}, {{0.25f, 0, 0}, {0, 2, 0}, {0, 0, 1}},
      2.5, 8, 1.5, 6, 13 * 0.25 - 0.5, 10.5},
  {"videoscale by a third", 24, 24, {0, 0, 36, 24}, {0, 0, 12, 24}, {{1.0f / 3, 0, 0}, {0, 1, 0}, {0, 0, 1}},
      10.0 / 3, 4, 2, 3, 13.0 / 3 - 0.5, 5},
  {"videoscale add-borders", 64, 100, {0, 0, 32, 24}, {0, 26, 64, 48}, {{2, 0, 0}, {0, 2, 0}, {0, 0, 1}},
      20, 34, 12, 6, 25.5, 36.5},
  {"crop and scale", 48, 40, {8, 4, 24, 20}, {0, 0, 48, 40}, {{2, 0, 0}, {0, 2, 0}, {0, 0, 1}},
      4, 0, 12, 6, 9.5, 2.5},
};

GST_START_TEST (test_matrix)
{
  const MatrixCase *const c = &matrix_cases[__i__];
  const GstCclBlob blob = rectangle (1, 10, 4, 6, 3);
  GstBuffer *const buffer = gst_buffer_new (), *const dest = gst_buffer_new ();
  GstVideoInfo in, out;
  MatrixTransform data = {.in_info = &in,.in_rectangle = c->in,.out_info = &out,.out_rectangle = c->out };
  GstCclBlobMeta *meta;
  gdouble x, y;

  GST_INFO ("%s", c->name);
  gst_video_info_set_format (&in, GST_VIDEO_FORMAT_GRAY8, 32, 24);
  gst_video_info_set_format (&out, GST_VIDEO_FORMAT_GRAY8, c->out_width, c->out_height);
  memcpy (data.matrix, c->matrix, sizeof (data.matrix));
  add_blobs (buffer, &blob, 1, 32, 24);

  fail_unless (transform (dest, buffer, g_quark_from_static_string ("gst-video-matrix"), &data));
  meta = gst_buffer_get_ccl_blob_meta (dest);
  fail_unless_equals_int (meta->width, c->out_width);
  fail_unless_equals_int (meta->height, c->out_height);
  assert_box (meta, 0, c->x, c->y, c->width, c->height);
  gst_ccl_blob_meta_get_centroid (meta, 0, &x, &y);
  assert_near (x, c->cx);
  assert_near (y, c->cy);
  assert_near (gst_ccl_blob_meta_get_area (meta, 0), c->width * c->height);
  gst_buffer_unref (dest);
  gst_buffer_unref (buffer);
}

GST_END_TEST;

GST_START_TEST (test_matrix_rotation_and_shear)
{
  const GstCclBlob blob = rectangle (1, 10, 4, 6, 3);
  GstBuffer *const buffer = gst_buffer_new ();
  GstCclBlobMeta *const meta = add_blobs (buffer, &blob, 1, 32, 24);
  const gdouble angle = 30 * DEGREES, c = cos (angle), s = sin (angle);
  gdouble xx, xy, yy, major, minor, orientation, plain_major, plain_minor;

  /* Turning changes neither area nor axes, only their direction. The long side lies along x: 90 degrees from y. */
  const gdouble turn[9] = { c, -s, 5, s, c, 7, 0, 0, 1 };
  memcpy (meta->matrix, turn, sizeof (turn));
  gst_ccl_blob_get_axes (&blob, &plain_major, &plain_minor);
  gst_ccl_blob_meta_get_axes (meta, 0, &major, &minor, &orientation);
  assert_near (major, plain_major);
  assert_near (minor, plain_minor);
  assert_near (orientation, 90 * DEGREES - angle);
  assert_near (gst_ccl_blob_meta_get_area (meta, 0), 18);
  /* The upright box around the turned one. */
  assert_box (meta, 0, 10 * c - 7 * s + 5, 10 * s + 4 * c + 7, 6 * c + 3 * s, 6 * s + 3 * c);

  /* A blob whose x and y are not independent: pixels (0,0) (1,1) (2,2), every covariance 2/3. */
  const GstCclBlob diagonal = {.width = 3,.height = 3,.area = 3,.m10 = 3,.m01 = 3,.m20 = 5,.m11 = 5,.m02 = 5 };
  GstBuffer *const other = gst_buffer_new ();
  GstCclBlobMeta *const other_meta = add_blobs (other, &diagonal, 1, 32, 24);
  const gdouble mix[9] = { 2, 3, 0, 5, 7, 0, 0, 0, 1 };
  memcpy (other_meta->matrix, mix, sizeof (mix));
  gst_ccl_blob_meta_get_covariance (other_meta, 0, &xx, &xy, &yy);
  assert_near (xx, 5 * 5 * 2.0 / 3);
  assert_near (xy, 5 * 12 * 2.0 / 3);
  assert_near (yy, 12 * 12 * 2.0 / 3);
  gst_buffer_unref (other);

  const gdouble shear[9] = { 1, 2, 0, 0, 3, 0, 0, 0, 1 };
  memcpy (meta->matrix, shear, sizeof (shear));
  gst_ccl_blob_meta_get_covariance (meta, 0, &xx, &xy, &yy);
  assert_near (xx, 35.0 / 12 + 4 * 8.0 / 12);
  assert_near (xy, 6 * 8.0 / 12);
  assert_near (yy, 9 * 8.0 / 12);
  assert_near (gst_ccl_blob_meta_get_area (meta, 0), 54);
  gst_buffer_unref (buffer);
}

GST_END_TEST;

GST_START_TEST (test_matrix_projection)
{
  const GstCclBlob blob = rectangle (1, 10, 4, 1, 1);
  GstBuffer *const buffer = gst_buffer_new ();
  GstCclBlobMeta *const meta = add_blobs (buffer, &blob, 1, 32, 24);
  const gdouble matrix[9] = { 1, 0, 0, 0, 1, 0, 0.01, 0.02, 1 };
  const gdouble step = 1e-4;
  gdouble x = 10.5, y = 4.5, cx, cy, area;

  memcpy (meta->matrix, matrix, sizeof (matrix));
  gst_ccl_blob_meta_map_point (meta, &x, &y);
  assert_near (x, 10.5 / 1.195);
  assert_near (y, 4.5 / 1.195);
  gst_ccl_blob_meta_get_centroid (meta, 0, &cx, &cy);
  assert_near (cx, x - 0.5);
  assert_near (cy, y - 0.5);

  /* The area of a small square around the centroid, by differences. */
  gdouble right_x = 10.5 + step, right_y = 4.5, below_x = 10.5, below_y = 4.5 + step;
  gst_ccl_blob_meta_map_point (meta, &right_x, &right_y);
  gst_ccl_blob_meta_map_point (meta, &below_x, &below_y);
  area = ((right_x - x) * (below_y - y) - (right_y - y) * (below_x - x)) / (step * step);
  fail_unless (fabs (gst_ccl_blob_meta_get_area (meta, 0) - area) < 1e-4);

  /* On the horizon: some answer, no infinity. */
  x = -106, y = 3;
  gst_ccl_blob_meta_map_point (meta, &x, &y);
  fail_unless (isfinite (x) && isfinite (y));
  gst_buffer_unref (buffer);
}

GST_END_TEST;

/* From the frame back to the mask. */
GST_START_TEST (test_unmap_point)
{
  GstBuffer *const buffer = gst_buffer_new ();
  GstCclBlobMeta *const meta = gst_buffer_add_ccl_blob_meta (buffer, NULL, 10, 10);
  const gdouble matrix[9] = { 2, 0, 30, 0, 4, -8, 0, 0, 1 }, flat[9] = { 1, 1, 0, 1, 1, 0, 0, 0, 1 };
  gdouble x = 40, y = 12;

  gst_ccl_blob_meta_set_matrix (meta, matrix);
  fail_unless (gst_ccl_blob_meta_unmap_point (meta, &x, &y));
  fail_unless (x == 5 && y == 5, "%g, %g", x, y);
  gst_ccl_blob_meta_set_matrix (meta, flat);
  fail_if (gst_ccl_blob_meta_unmap_point (meta, &x, &y));
  fail_unless (x == 5 && y == 5, "%g, %g", x, y);
  gst_buffer_unref (buffer);
}

GST_END_TEST;

GST_START_TEST (test_matrix_singular)
{
  GstBuffer *const buffer = gst_buffer_new (), *const dest = gst_buffer_new ();
  GstVideoInfo info;
  MatrixTransform data = { &info, {0, 0, 32, 24}, &info, {0, 0, 32, 24}, {{0}} };

  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_GRAY8, 32, 24);
  add_sample (buffer);
  fail_if (transform (dest, buffer, g_quark_from_static_string ("gst-video-matrix"), &data));
  data.matrix[0][0] = data.matrix[1][1] = data.matrix[2][2] = NAN;
  fail_if (transform (dest, buffer, g_quark_from_static_string ("gst-video-matrix"), &data));
  fail_unless (gst_buffer_get_ccl_blob_meta (dest) == NULL);
  gst_buffer_unref (dest);
  gst_buffer_unref (buffer);
}

GST_END_TEST;

void
blobmeta_add_transforms_tests (Suite * suite)
{
  TCase *tests = tcase_create ("transforms");

  tcase_add_test (tests, test_axes_without_pixels);
  tcase_add_test (tests, test_copy_shares_the_list);
  tcase_add_test (tests, test_copy_keeps_the_mask_in_its_place);
  tcase_add_test (tests, test_copy_of_some_bytes_is_no_frame);
  tcase_add_test (tests, test_scale);
  tcase_add_test (tests, test_points);
  tcase_add_test (tests, test_scale_to_the_same_size);
  tcase_add_test (tests, test_unknown_transforms);
  tcase_add_loop_test (tests, test_matrix, 0, G_N_ELEMENTS (matrix_cases));
  tcase_add_test (tests, test_matrix_rotation_and_shear);
  tcase_add_test (tests, test_matrix_projection);
  tcase_add_test (tests, test_unmap_point);
  tcase_add_test (tests, test_matrix_singular);
  suite_add_tcase (suite, tests);
}
