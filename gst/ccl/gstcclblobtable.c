/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* All measures of many blobs as one array: a program in Python makes one call instead of several for each blob. */

#include "gstcclprivate.h"

#include <math.h>

/* Without padding, a reader needs only the names and types of the members. */
G_STATIC_ASSERT (sizeof (GstCclBlobRow) == 4 * sizeof (guint32) + 3 * sizeof (guint64) + 44 * sizeof (gdouble));

static void
put_blob (GstCclBlobRow * row, const GstCclBlobMeta * meta, guint index)
{
  const GstCclBlob *const blob = gst_ccl_blob_meta_get_blob (meta, index);
  CclShape shape;

  row->label = blob->label;
  row->flags = blob->flags;
  row->age = blob->age;
  row->zones = blob->zones;
  row->track_id = blob->track_id;
  row->parent_id = blob->parent_id;
  row->volume_id = blob->volume_id;
  row->area = gst_ccl_blob_meta_get_area (meta, index);
  gst_ccl_blob_meta_get_box (meta, index, &row->box[0], &row->box[1], &row->box[2], &row->box[3]);
  gst_ccl_blob_meta_get_mapped_shape (meta, index, &shape);
  row->centroid[0] = shape.x;
  row->centroid[1] = shape.y;
  row->covariance[0] = shape.xx;
  row->covariance[1] = shape.xy;
  row->covariance[2] = shape.yy;
  row->axes[0] = shape.axis_major_length;
  row->axes[1] = shape.axis_minor_length;
  row->orientation = shape.orientation;
}

static void
put_shape (GstCclBlobRow * row, const CclShapeMeasures * m)
{
  row->euler_number = m->euler_number;
  row->n_holes = m->n_holes;
  row->perimeter_crack = m->perimeter_crack;
  row->perimeter_crofton = m->perimeter_crofton;
  row->circularity = m->circularity;
  row->compactness = m->compactness;
}

static void
put_hull (GstCclBlobRow * row, const CclHullMeasures * m)
{
  row->area_convex = m->area_convex;
  row->solidity = m->solidity;
  row->perimeter_convex = m->perimeter_convex;
  row->feret_diameter_max = m->feret_diameter_max;
  row->min_feret = m->min_feret;
  row->rect_center[0] = m->rect_x;
  row->rect_center[1] = m->rect_y;
  row->rect_size[0] = m->rect_length;
  row->rect_size[1] = m->rect_width;
  row->rect_angle = m->rect_angle;
}

static void
put_intensity (GstCclBlobRow * row, const CclIntensityMeasures * m)
{
  row->intensity_min = m->min;
  row->intensity_max = m->max;
  row->intensity_sum = m->sum;
  row->intensity_mean = m->mean;
  row->intensity_std = m->std;
  row->centroid_weighted[0] = m->x;
  row->centroid_weighted[1] = m->y;
  row->covariance_weighted[0] = m->xx;
  row->covariance_weighted[1] = m->xy;
  row->covariance_weighted[2] = m->yy;
  row->cb_mean = m->cb;
  row->cr_mean = m->cr;
}

/* NaN in every member of a group. */
static void
put_undefined (GstCclBlobRow * row)
{
  const gsize begin = G_STRUCT_OFFSET (GstCclBlobRow, euler_number);
  const gsize n = (sizeof (GstCclBlobRow) - begin) / sizeof (gdouble);
  gdouble *const values = (gdouble *) ((guint8 *) row + begin);

  for (gsize i = 0; i < n; i++)
    values[i] = NAN;
}

static void
put_groups (GstCclBlobRow * row, const GstCclBlobMeta * meta, guint index)
{
  CclShapeMeasures shape;
  CclHullMeasures hull;
  CclIntensityMeasures intensity;
  guint64 area_filled;
  guint n_holes, class_id;

  put_undefined (row);
  if (gst_ccl_blob_meta_get_shape_measures (meta, index, &shape))
    put_shape (row, &shape);
  if (gst_ccl_blob_meta_get_hull_measures (meta, index, &hull)) {
    put_hull (row, &hull);
    row->convexity = row->perimeter_convex / row->perimeter_crack;      /* NaN without shape */
  }
  if (gst_ccl_blob_meta_get_filled_area (meta, index, &area_filled, &n_holes)) {
    row->area_filled = area_filled;
    row->n_holes = n_holes;
  }
  if (gst_ccl_blob_meta_get_intensity_measures (meta, index, &intensity))
    put_intensity (row, &intensity);
  if (gst_ccl_blob_meta_get_class_id (meta, index, &class_id))
    row->class_id = class_id;
}

/**
 * gst_ccl_blob_meta_to_table:
 * @meta: a blob meta
 * @first: index of the first blob
 * @n_blobs: maximum number of blobs; %G_MAXUINT: all from @first on
 *
 * Writes the measures of blobs as an array of #GstCclBlobRow, in the order of
 * the list. A later version can add members at the end. So the size of a row is
 * the size of the bytes divided by the number of rows.
 *
 * Returns: (transfer full) (nullable): the rows, in the byte order of this
 *   machine; empty past the end; %NULL without memory
 *
 * Since: 0.1
 */
GBytes *
gst_ccl_blob_meta_to_table (const GstCclBlobMeta * meta, guint first, guint n_blobs)
{
  GstCclBlobRow *rows;
  guint n;

  g_return_val_if_fail (meta != NULL, NULL);

  n = gst_ccl_blob_meta_get_length (meta);
  n = first < n ? MIN (n_blobs, n - first) : 0;
  rows = g_try_new (GstCclBlobRow, n);
  if (rows == NULL && n > 0)
    return NULL;
  for (guint i = 0; i < n; i++) {
    put_blob (&rows[i], meta, first + i);
    put_groups (&rows[i], meta, first + i);
  }
  return g_bytes_new_take (rows, n * sizeof (GstCclBlobRow));
}
