/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Blobs and metas that the suites share. */

#ifndef __TEST_BLOBS_H__
#define __TEST_BLOBS_H__

#include <gst/ccl/ccl.h>
#include <gst/check/gstcheck.h>

#include "support/blobs.h"

/* Three blobs, one of each kind, every field of the meta different from its default. */
static inline GstCclBlobMeta *
add_sample (GstBuffer * buffer)
{
  GstCclBlob blobs[3] = { rectangle (1, 0, 2, 4, 2), rectangle (2, 20, 5, 1, 1), rectangle (3, 10, 10, 8, 12) };
  GstCclBlobMeta *meta;

  blobs[0].flags = GST_CCL_BLOB_FLAG_TOUCHES_LEFT;
  blobs[2].flags = GST_CCL_BLOB_FLAG_CONFIRMED | GST_CCL_BLOB_FLAG_MERGED;
  blobs[2].track_id = G_GUINT64_CONSTANT (5000000001);
  blobs[2].age = 17;
  blobs[2].parent_id = G_GUINT64_CONSTANT (5000000000);

  meta = add_blobs (buffer, blobs, 3, 32, 24);
  meta->flags = GST_CCL_BLOB_META_FLAG_TRUNCATED;
  meta->n_kept = 5;
  meta->n_total = 9;
  meta->connectivity = 8;
  meta->source = g_quark_from_static_string ("ccllabel0");
  return meta;
}

/* The first has a contour, the last both, the one between neither. */
static inline void
add_points (GstCclBlobMeta * meta)
{
  static const GstCclPoint points[] = { {0, 2}, {4, 2}, {4, 4}, {0, 4}, {10, 10}, {18, 10}, {18, 22}, {10, 22},
    {11.5, 9.25}, {13.5, 15}, {14, 16}
  };
  GBytes *const bytes = g_bytes_new_static (points, sizeof (points));
  GstCclBlob *blobs;
  GstCclBlobList *const list = gst_ccl_blob_list_copy (meta->list, &blobs);

  blobs[0].n_contour = blobs[2].n_contour = blobs[2].first_point = 4;
  blobs[2].n_trail = 3;
  gst_ccl_blob_list_set_points (list, bytes);
  gst_ccl_blob_meta_set_list (meta, list);
  gst_ccl_blob_list_unref (list);
  g_bytes_unref (bytes);
}

/* The first has two holes, the last none, the one between was not measured. */
static inline void
add_shape (GstCclBlobMeta * meta)
{
  static const GstCclShapeCounts counts[] = { {1, -1, 4, 5, 9, {0}}, {3, 1, 12, 8, 38, {0}} };
  GBytes *const bytes = g_bytes_new_static (counts, sizeof (counts));

  gst_ccl_blob_list_set_shape (meta->list, bytes);
  g_bytes_unref (bytes);
}

/* Of the second and the last; of a pixel and of a diagonal. */
static inline void
add_hull (GstCclBlobMeta * meta)
{
  static const GstCclHullCounts counts[] = {
    {2, 2, 2, 1, 1, 0, 1, 0, 5, 6, 7, 8, G_GUINT64_CONSTANT (4) << 40, {0}},
    {3, 18, 50, 2, 1, 1, 1, 1, 0, 10, -1, 1, G_GUINT64_CONSTANT (16837635614720), {0}},
  };
  GBytes *const bytes = g_bytes_new_static (counts, sizeof (counts));

  gst_ccl_blob_list_set_hull (meta->list, bytes);
  g_bytes_unref (bytes);
}

/* Of the first and the last. */
static inline void
add_class_ids (GstCclBlobMeta * meta)
{
  static const GstCclClassId class_ids[] = { {1, 0, {0}}, {3, 65535, {0}} };
  GBytes *const bytes = g_bytes_new_static (class_ids, sizeof (class_ids));

  gst_ccl_blob_list_set_class_ids (meta->list, bytes);
  g_bytes_unref (bytes);
}

static inline void
assert_same_class_id (const GstCclBlobMeta * a, const GstCclBlobMeta * b, guint index)
{
  guint in_a, in_b;

  fail_unless_equals_int (gst_ccl_blob_meta_get_class_id (a, index, &in_a),
      gst_ccl_blob_meta_get_class_id (b, index, &in_b));
  fail_unless_equals_int (in_a, in_b);
}

/* Of the second, which is gray, and of the last. */
static inline void
add_intensity (GstCclBlobMeta * meta)
{
  static const GstCclIntensityCounts counts[] = {
    {2, 200, 200, 0, 200, 40000, 4000, 1000, {80000, 0}, {20000, 0}, {5000, 0}, 0, 0, {0}},
    {3, 0, 65535, 1, 70000, 4299161225, 700000, 1050000, {7000000, 0}, {10500000, 0}, {15750000, 1}, 12288, 12000, {0}},
  };
  GBytes *const bytes = g_bytes_new_static (counts, sizeof (counts));

  gst_ccl_blob_list_set_intensity (meta->list, bytes);
  g_bytes_unref (bytes);
}

static inline void
assert_same_intensity (const GstCclBlobMeta * a, const GstCclBlobMeta * b, guint index)
{
  gdouble in_a[12] = { 0 }, in_b[12] = { 0 };

  for (guint i = 0; i < 2; i++) {
    const GstCclBlobMeta *const meta = i ? b : a;
    gdouble *const to = i ? in_b : in_a;

    to[0] = gst_ccl_blob_meta_get_intensity (meta, index, &to[1], &to[2], &to[3], &to[4]);
    gst_ccl_blob_meta_get_chroma (meta, index, &to[5], &to[6]);
    gst_ccl_blob_meta_get_weighted_centroid (meta, index, &to[7], &to[8]);
    gst_ccl_blob_meta_get_weighted_covariance (meta, index, &to[9], &to[10], &to[11]);
  }
  fail_unless (memcmp (in_a, in_b, sizeof (in_a)) == 0, "intensity of blob %u", index);
}

/* The first has two holes, the last none. */
static inline void
add_holes (GstCclBlobMeta * meta)
{
  static const GstCclFilledCounts counts[] = { {1, 2, 30, {0}}, {3, 0, 20, {0}} };
  static const GstCclHole rows[] = { {1, 2, 2, 3, 4, 2, 1, 3, {0}}, {1, 1, 1, 7, 8, 1, 1, 7, {0}} };
  GBytes *const filled = g_bytes_new_static (counts, sizeof (counts)), *const holes = g_bytes_new_static (rows, sizeof (rows));

  gst_ccl_blob_list_set_holes (meta->list, filled, holes);
  g_bytes_unref (filled);
  g_bytes_unref (holes);
}

static inline void
assert_same_holes (const GstCclBlobMeta * a, const GstCclBlobMeta * b, guint index)
{
  guint64 filled_a, filled_b;
  GstCclHole in_a, in_b;
  guint n_a, n_b;

  fail_unless_equals_int (gst_ccl_blob_meta_get_filled_area (a, index, &filled_a, &n_a),
      gst_ccl_blob_meta_get_filled_area (b, index, &filled_b, &n_b));
  fail_unless (filled_a == filled_b && n_a == n_b);
  gst_ccl_blob_meta_list_holes (a, index, &n_a);
  gst_ccl_blob_meta_list_holes (b, index, &n_b);
  fail_unless_equals_int (n_a, n_b);
  for (guint i = 0; i <= n_a; i++) {
    fail_unless_equals_int (gst_ccl_blob_meta_get_hole (a, index, i, &in_a), gst_ccl_blob_meta_get_hole (b, index, i, &in_b));
    fail_unless (memcmp (&in_a, &in_b, sizeof (in_a)) == 0, "hole %u of blob %u", i, index);
  }
}

static inline void
assert_same_points (gdouble * (*get) (const GstCclBlobMeta *, guint, guint *), const GstCclBlobMeta * a,
    const GstCclBlobMeta * b, guint index)
{
  guint n_a, n_b;
  gdouble *const in_a = get (a, index, &n_a), *const in_b = get (b, index, &n_b);

  fail_unless_equals_int (n_a, n_b);
  fail_unless ((in_a == NULL) == (n_a == 0) && (in_b == NULL) == (n_b == 0));
  fail_unless (n_a == 0 || memcmp (in_a, in_b, n_a * sizeof (gdouble)) == 0, "points of blob %u", index);
  g_free (in_a);
  g_free (in_b);
}

static inline void
assert_same_shape (const GstCclBlobMeta * a, const GstCclBlobMeta * b, guint index)
{
  gdouble in_a[4], in_b[4];
  gint euler_a, euler_b;
  guint n_a, n_b;

  fail_unless_equals_int (gst_ccl_blob_meta_get_holes (a, index, &euler_a, &n_a),
      gst_ccl_blob_meta_get_holes (b, index, &euler_b, &n_b));
  gst_ccl_blob_meta_get_perimeter (a, index, &in_a[0], &in_a[1]);
  gst_ccl_blob_meta_get_perimeter (b, index, &in_b[0], &in_b[1]);
  gst_ccl_blob_meta_get_circularity (a, index, &in_a[2], &in_a[3]);
  gst_ccl_blob_meta_get_circularity (b, index, &in_b[2], &in_b[3]);
  fail_unless_equals_int (euler_a, euler_b);
  fail_unless_equals_int (n_a, n_b);
  fail_unless (memcmp (in_a, in_b, sizeof (in_a)) == 0, "shape of blob %u", index);
}

static inline void
assert_same_hull (const GstCclBlobMeta * a, const GstCclBlobMeta * b, guint index)
{
  gdouble in_a[12] = { 0 }, in_b[12] = { 0 };

  for (guint i = 0; i < 2; i++) {
    const GstCclBlobMeta *const meta = i ? b : a;
    gdouble *const to = i ? in_b : in_a;

    to[0] = gst_ccl_blob_meta_get_hull (meta, index, &to[1], &to[2], &to[3]);
    gst_ccl_blob_meta_get_feret (meta, index, &to[4], &to[5]);
    gst_ccl_blob_meta_get_min_rect_center (meta, index, &to[6], &to[7]);
    gst_ccl_blob_meta_get_min_rect (meta, index, &to[8], &to[9], &to[10]);
    gst_ccl_blob_meta_get_convexity (meta, index, &to[11]);
  }
  fail_unless (memcmp (in_a, in_b, sizeof (in_a)) == 0, "hull of blob %u", index);
  assert_same_points (gst_ccl_blob_meta_get_min_rect_corners, a, b, index);
}

#endif
