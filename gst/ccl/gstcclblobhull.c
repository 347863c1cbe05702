/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Convex hulls of the blobs of a meta, and what follows from them. */

#include "gstcclmatrix.h"
#include "gstcclprivate.h"

#include <math.h>

gboolean
gst_ccl_blob_meta_get_hull_measures (const GstCclBlobMeta * meta, guint index, CclHullMeasures * measures)
{
  const GstCclHullCounts *const c = gst_ccl_blob_meta_find_counts (meta, index, GST_CCL_COLUMN_HULL);

  if (c == NULL) {
    *measures = (CclHullMeasures) { 0 };
    return FALSE;
  }
  const CclHullCounts counts = {
    .area2 = c->area2,
    .perimeter = c->perimeter,
    .diameter2 = c->diameter2,
    .width = c->width,
    .width_dx = c->width_dx,
    .width_dy = c->width_dy,
    .rect_dx = c->rect_dx,
    .rect_dy = c->rect_dy,
    .along0 = c->along0,
    .along1 = c->along1,
    .across0 = c->across0,
    .across1 = c->across1,
  };

  ccl_hull_measures (&counts, gst_ccl_blob_meta_get_blob (meta, index)->area, measures);
  return TRUE;
}

static void
set (gdouble * to, gdouble value)
{
  if (to != NULL)
    *to = value;
}

/**
 * gst_ccl_blob_meta_get_hull:
 * @meta: a blob meta
 * @index: 0 to length - 1
 * @area: (out) (optional): its area, in pixels squared
 * @perimeter: (out) (optional): its perimeter, in pixels
 * @solidity: (out) (optional): area of the blob over @area, at most 1
 *
 * Gets the convex hull of the corners of the pixels of a blob.
 *
 * Returns: %FALSE when it was not measured
 *
 * Since: 0.1
 */
gboolean
gst_ccl_blob_meta_get_hull (const GstCclBlobMeta * meta, guint index, gdouble * area, gdouble * perimeter,
    gdouble * solidity)
{
  CclHullMeasures measures;
  gboolean known;

  g_return_val_if_fail (meta != NULL, FALSE);

  known = gst_ccl_blob_meta_get_hull_measures (meta, index, &measures);
  set (area, measures.area_convex);
  set (perimeter, measures.perimeter_convex);
  set (solidity, measures.solidity);
  return known;
}

/**
 * gst_ccl_blob_meta_get_convexity:
 * @meta: a blob meta
 * @index: 0 to length - 1
 * @convexity: (out) (optional): perimeter of its hull over the number of edges
 *   between its pixels and others, at most 1
 *
 * Compares the perimeter of the hull of a blob with its own.
 *
 * Returns: %FALSE when hull and perimeter were not measured
 *
 * Since: 0.1
 */
gboolean
gst_ccl_blob_meta_get_convexity (const GstCclBlobMeta * meta, guint index, gdouble * convexity)
{
  CclHullMeasures measures;
  gdouble crack;
  gboolean known;

  g_return_val_if_fail (meta != NULL, FALSE);

  known = gst_ccl_blob_meta_get_hull_measures (meta, index, &measures)
      && gst_ccl_blob_meta_get_perimeter (meta, index, &crack, NULL);
  set (convexity, known ? measures.perimeter_convex / crack : 0);
  return known;
}

/**
 * gst_ccl_blob_meta_get_feret:
 * @meta: a blob meta
 * @index: 0 to length - 1
 * @max: (out) (optional): largest distance of two corners of its pixels
 * @min: (out) (optional): least distance of two parallel lines around it
 *
 * Gets the largest and the least extent of a blob in any direction, in pixels.
 *
 * Returns: %FALSE when it was not measured
 *
 * Since: 0.1
 */
gboolean
gst_ccl_blob_meta_get_feret (const GstCclBlobMeta * meta, guint index, gdouble * max, gdouble * min)
{
  CclHullMeasures measures;
  gboolean known;

  g_return_val_if_fail (meta != NULL, FALSE);

  known = gst_ccl_blob_meta_get_hull_measures (meta, index, &measures);
  set (max, measures.feret_diameter_max);
  set (min, measures.min_feret);
  return known;
}

/**
 * gst_ccl_blob_meta_get_min_rect:
 * @meta: a blob meta
 * @index: 0 to length - 1
 * @length: (out) (optional): its longer side
 * @width: (out) (optional): its shorter side
 * @angle: (out) (optional): of the longer side, in radians from the x axis
 *   towards positive y: from -π/2 (not included) to π/2
 *
 * Gets the rectangle of smallest area around a blob, in pixels. Of several it is
 * the one of the smallest angle.
 *
 * Returns: %FALSE when it was not measured
 *
 * Since: 0.1
 */
gboolean
gst_ccl_blob_meta_get_min_rect (const GstCclBlobMeta * meta, guint index, gdouble * length, gdouble * width, gdouble * angle)
{
  CclHullMeasures measures;
  gboolean known;

  g_return_val_if_fail (meta != NULL, FALSE);

  known = gst_ccl_blob_meta_get_hull_measures (meta, index, &measures);
  set (length, measures.rect_length);
  set (width, measures.rect_width);
  set (angle, measures.rect_angle);
  return known;
}

/**
 * gst_ccl_blob_meta_get_min_rect_center:
 * @meta: a blob meta
 * @index: 0 to length - 1
 * @x: (out) (optional): pixels from the centre of the mask's first pixel
 * @y: (out) (optional): the same from the top
 *
 * Gets the centre of the rectangle of gst_ccl_blob_meta_get_min_rect().
 *
 * Returns: %FALSE when it was not measured
 *
 * Since: 0.1
 */
gboolean
gst_ccl_blob_meta_get_min_rect_center (const GstCclBlobMeta * meta, guint index, gdouble * x, gdouble * y)
{
  CclHullMeasures measures;
  gboolean known;

  g_return_val_if_fail (meta != NULL, FALSE);

  known = gst_ccl_blob_meta_get_hull_measures (meta, index, &measures);
  set (x, measures.rect_x);
  set (y, measures.rect_y);
  return known;
}

/**
 * gst_ccl_blob_meta_get_min_rect_corners:
 * @meta: a blob meta
 * @index: 0 to length - 1
 * @n_values: (out): length of the array: 8, or 0 without them
 *
 * Gets the corners of the rectangle of gst_ccl_blob_meta_get_min_rect() in the
 * frame, like a contour. Its first two corners are the ends of a longer side. In
 * a frame that was scaled differently in x and y it is a parallelogram.
 *
 * Returns: (transfer full) (nullable) (array length=n_values): x and y of each
 *   corner in turn; free it with g_free(). %NULL when it was not measured
 *
 * Since: 0.1
 */
gdouble *
gst_ccl_blob_meta_get_min_rect_corners (const GstCclBlobMeta * meta, guint index, guint * n_values)
{
  static const gdouble signs[4][2] = { {-0.5, -0.5}, {0.5, -0.5}, {0.5, 0.5}, {-0.5, 0.5} };
  CclHullMeasures m;
  gdouble *corners;

  g_return_val_if_fail (meta != NULL && n_values != NULL, NULL);

  *n_values = 0;
  if (!gst_ccl_blob_meta_get_hull_measures (meta, index, &m))
    return NULL;
  corners = g_new (gdouble, 8);
  for (guint i = 0; i < 4; i++) {
    const gdouble along = signs[i][0] * m.rect_length, across = signs[i][1] * m.rect_width;
    gdouble *const corner = corners + 2 * i;

    corner[0] = m.rect_x + 0.5 + along * cos (m.rect_angle) - across * sin (m.rect_angle);
    corner[1] = m.rect_y + 0.5 + along * sin (m.rect_angle) + across * cos (m.rect_angle);
    gst_ccl_matrix_map (meta->matrix, &corner[0], &corner[1]);
  }
  *n_values = 8;
  return corners;
}

/**
 * gst_ccl_blob_get_equivalent_rect:
 * @blob: a blob
 * @length: (out) (optional): its longer side
 * @width: (out) (optional): its shorter side
 *
 * Gets the rectangle with the same second moments, in pixels that are squares.
 * Its centre is the centroid; its longer side has the direction of the major
 * axis.
 *
 * Since: 0.1
 */
void
gst_ccl_blob_get_equivalent_rect (const GstCclBlob * blob, gdouble * length, gdouble * width)
{
  gdouble sides[2] = { 0, 0 };

  g_return_if_fail (blob != NULL);

  if (blob->area > 0) {
    CclShape shape;

    gst_ccl_blob_get_shape (blob, &shape);
    ccl_equivalent_rect (&shape, &sides[0], &sides[1]);
  }
  set (length, sides[0]);
  set (width, sides[1]);
}
