/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* All measures at once are those of the getters. */
#include <math.h>

#include "blobmeta.h"

/* The getters say FALSE where the table has NaN. */
static void
assert_values (gboolean known, const gdouble * values, const gdouble * expected, guint n)
{
  for (guint i = 0; i < n; i++)
    fail_unless (known ? values[i] == expected[i] : isnan (values[i]), "value %u: %g", i, values[i]);
}

static void
assert_blob (const GstCclBlobRow * row, const GstCclBlobMeta * meta, guint i)
{
  const GstCclBlob *const blob = gst_ccl_blob_meta_get_blob (meta, i);
  const gdouble area = gst_ccl_blob_meta_get_area (meta, i);
  gdouble v[4];

  fail_unless (row->label == blob->label && row->flags == blob->flags && row->age == blob->age);
  fail_unless (row->zones == blob->zones && row->track_id == blob->track_id && row->parent_id == blob->parent_id);
  fail_unless (row->volume_id == blob->volume_id);
  assert_values (TRUE, &row->area, &area, 1);
  gst_ccl_blob_meta_get_box (meta, i, &v[0], &v[1], &v[2], &v[3]);
  assert_values (TRUE, row->box, v, 4);
  gst_ccl_blob_meta_get_centroid (meta, i, &v[0], &v[1]);
  assert_values (TRUE, row->centroid, v, 2);
  gst_ccl_blob_meta_get_covariance (meta, i, &v[0], &v[1], &v[2]);
  assert_values (TRUE, row->covariance, v, 3);
  gst_ccl_blob_meta_get_axes (meta, i, &v[0], &v[1], &v[2]);
  assert_values (TRUE, row->axes, v, 2);
  assert_values (TRUE, &row->orientation, &v[2], 1);
}

static void
assert_groups (const GstCclBlobRow * row, const GstCclBlobMeta * meta, guint i)
{
  gdouble v[4];
  guint64 filled;
  guint class_id;
  gboolean known;

  known = gst_ccl_blob_meta_get_perimeter (meta, i, &v[0], &v[1]);
  assert_values (known, &row->perimeter_crack, &v[0], 1);
  assert_values (known, &row->perimeter_crofton, &v[1], 1);
  known = gst_ccl_blob_meta_get_convexity (meta, i, &v[0]);
  assert_values (known, &row->convexity, v, 1);
  known = gst_ccl_blob_meta_get_min_rect_center (meta, i, &v[0], &v[1]);
  assert_values (known, row->rect_center, v, 2);
  known = gst_ccl_blob_meta_get_min_rect (meta, i, &v[0], &v[1], &v[2]);
  assert_values (known, row->rect_size, v, 2);
  assert_values (known, &row->rect_angle, &v[2], 1);
  known = gst_ccl_blob_meta_get_filled_area (meta, i, &filled, NULL);
  v[0] = filled;
  assert_values (known, &row->area_filled, v, 1);
  known = gst_ccl_blob_meta_get_weighted_covariance (meta, i, &v[0], &v[1], &v[2]);
  assert_values (known, row->covariance_weighted, v, 3);
  known = gst_ccl_blob_meta_get_chroma (meta, i, &v[0], &v[1]);
  assert_values (known, &row->cb_mean, &v[0], 1);
  assert_values (known, &row->cr_mean, &v[1], 1);
  known = gst_ccl_blob_meta_get_class_id (meta, i, &class_id);
  v[0] = class_id;
  assert_values (known, &row->class_id, v, 1);
}

static void
assert_table (const GstCclBlobMeta * meta, guint first, guint max, guint n)
{
  GBytes *const bytes = gst_ccl_blob_meta_to_table (meta, first, max);
  gsize size;
  const GstCclBlobRow *const rows = g_bytes_get_data (bytes, &size);

  fail_unless_equals_uint64 (size, n * sizeof (GstCclBlobRow));
  for (guint i = 0; i < n; i++) {
    assert_blob (&rows[i], meta, first + i);
    assert_groups (&rows[i], meta, first + i);
  }
  g_bytes_unref (bytes);
}

/* Bit i of the loop adds a group; each lacks a blob. */
GST_START_TEST (test_table)
{
  void (*const groups[]) (GstCclBlobMeta *) = { add_shape, add_hull, add_holes, add_intensity, add_class_ids };
  GstBuffer *const buffer = gst_buffer_new ();
  GstCclBlobMeta *const meta = add_sample (buffer);
  const guint n = gst_ccl_blob_meta_get_length (meta);

  for (guint i = 0; i < G_N_ELEMENTS (groups); i++)
    if (__i__ & 1 << i)
      groups[i] (meta);
  assert_table (meta, 0, G_MAXUINT, n);
  assert_table (meta, 1, 1, 1);
  assert_table (meta, n - 1, n, 1);
  assert_table (meta, n, G_MAXUINT, 0);
  assert_table (meta, G_MAXUINT, G_MAXUINT, 0);
  assert_table (meta, 0, 0, 0);
  gst_ccl_blob_meta_set_list (meta, NULL);
  assert_table (meta, 0, G_MAXUINT, 0);
  gst_buffer_unref (buffer);
}

GST_END_TEST;

void
blobmeta_add_table_tests (Suite * suite)
{
  TCase *tests = tcase_create ("table");

  tcase_add_loop_test (tests, test_table, 0, 32);
  suite_add_tcase (suite, tests);
}
