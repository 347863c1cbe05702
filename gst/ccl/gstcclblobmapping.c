/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The measures of a blob in pixels of the frame: the matrix of the meta maps them. */

#include "gstcclmatrix.h"
#include "gstcclprivate.h"

#include <math.h>

void
gst_ccl_blob_meta_get_mapped_shape (const GstCclBlobMeta * meta, guint index, CclShape * shape)
{
  const GstCclBlob *const blob = gst_ccl_blob_meta_get_blob (meta, index);
  gdouble j[4];

  memset (shape, 0, sizeof (CclShape));
  g_return_if_fail (blob != NULL);

  gst_ccl_blob_get_shape (blob, shape);
  if (gst_ccl_blob_meta_is_identity (meta))
    return;

  /* The centre of a pixel is half a pixel inside its square, before and after. */
  shape->x += 0.5;
  shape->y += 0.5;
  gst_ccl_matrix_get_jacobian (meta->matrix, shape->x, shape->y, j);
  gst_ccl_matrix_map (meta->matrix, &shape->x, &shape->y);
  shape->x -= 0.5;
  shape->y -= 0.5;

  /* J C J' */
  const gdouble xx = shape->xx, xy = shape->xy, yy = shape->yy;

  shape->xx = j[0] * j[0] * xx + 2 * j[0] * j[1] * xy + j[1] * j[1] * yy;
  shape->xy = j[0] * j[2] * xx + (j[0] * j[3] + j[1] * j[2]) * xy + j[1] * j[3] * yy;
  shape->yy = j[2] * j[2] * xx + 2 * j[2] * j[3] * xy + j[3] * j[3] * yy;
  if (gst_ccl_blob_meta_get_blob (meta, index)->area > 0)       /* without pixels there is no direction */
    ccl_axes_from_covariance (shape);
}

/* A box of pixels of the mask (x, y, width, height) in the frame. */
static void
map_box (const GstCclBlobMeta * meta, const gint box[4], gdouble mapped[4])
{
  gdouble right = 0, bottom = 0;

  for (gint corner = 0; corner < 4; corner++) {
    gdouble x = box[0] + (corner & 1 ? (gdouble) box[2] : 0);
    gdouble y = box[1] + (corner & 2 ? (gdouble) box[3] : 0);

    gst_ccl_matrix_map (meta->matrix, &x, &y);
    mapped[0] = corner == 0 ? x : MIN (mapped[0], x);
    right = corner == 0 ? x : MAX (right, x);
    mapped[1] = corner == 0 ? y : MIN (mapped[1], y);
    bottom = corner == 0 ? y : MAX (bottom, y);
  }
  mapped[2] = right - mapped[0];
  mapped[3] = bottom - mapped[1];
}

static void
set_box (const gdouble box[4], gdouble * x, gdouble * y, gdouble * width, gdouble * height)
{
  gdouble *const to[] = { x, y, width, height };

  for (guint i = 0; i < 4; i++)
    if (to[i] != NULL)
      *to[i] = box[i];
}

/**
 * gst_ccl_blob_meta_get_box:
 * @meta: a blob meta
 * @index: which blob, 0 to length - 1
 * @x: (out) (optional): left edge
 * @y: (out) (optional): top edge
 * @width: (out) (optional): width
 * @height: (out) (optional): height
 *
 * Gets the bounding box in pixels of the frame. It is exact, not rounded, and
 * may reach past the frame after a crop. For a rotated box, this is the upright
 * box around it.
 *
 * Since: 0.1
 */
void
gst_ccl_blob_meta_get_box (const GstCclBlobMeta * meta, guint index, gdouble * x, gdouble * y, gdouble * width,
    gdouble * height)
{
  const GstCclBlob *const blob = gst_ccl_blob_meta_get_blob (meta, index);
  const gint box[] = { blob ? blob->x : 0, blob ? blob->y : 0, blob ? blob->width : 0, blob ? blob->height : 0 };
  gdouble mapped[4] = { 0, 0, 0, 0 };

  if (blob != NULL)
    map_box (meta, box, mapped);
  set_box (mapped, x, y, width, height);
  g_return_if_fail (blob != NULL);
}

/**
 * gst_ccl_blob_meta_get_hole_box:
 * @meta: a blob meta
 * @hole: a hole of one of its blobs
 * @x: (out) (optional): left edge
 * @y: (out) (optional): top edge
 * @width: (out) (optional): width
 * @height: (out) (optional): height
 *
 * Gets the bounding box of a hole in pixels of the frame, as
 * gst_ccl_blob_meta_get_box() does for a blob.
 *
 * Since: 0.1
 */
void
gst_ccl_blob_meta_get_hole_box (const GstCclBlobMeta * meta, const GstCclHole * hole, gdouble * x, gdouble * y,
    gdouble * width, gdouble * height)
{
  gdouble mapped[4];

  g_return_if_fail (meta != NULL && hole != NULL);

  map_box (meta, (const gint[4]) { hole->x, hole->y, hole->width, hole->height }, mapped);
  set_box (mapped, x, y, width, height);
}

/**
 * gst_ccl_blob_meta_get_area:
 * @meta: a blob meta
 * @index: which blob, 0 to length - 1
 *
 * Gets the area that the blob covers in the frame.
 *
 * Returns: pixels of the frame
 *
 * Since: 0.1
 */
gdouble
gst_ccl_blob_meta_get_area (const GstCclBlobMeta * meta, guint index)
{
  const GstCclBlob *const blob = gst_ccl_blob_meta_get_blob (meta, index);
  gdouble x, y, j[4];

  g_return_val_if_fail (blob != NULL, 0);

  gst_ccl_blob_get_centroid (blob, &x, &y);
  gst_ccl_matrix_get_jacobian (meta->matrix, x + 0.5, y + 0.5, j);
  return blob->area * fabs (j[0] * j[3] - j[1] * j[2]);
}

/**
 * gst_ccl_blob_meta_get_centroid:
 * @meta: a blob meta
 * @index: which blob, 0 to length - 1
 * @x: (out) (optional): column
 * @y: (out) (optional): row
 *
 * Gets the centre of gravity in pixels of the frame; the centre of the frame's
 * first pixel is (0, 0).
 *
 * Since: 0.1
 */
void
gst_ccl_blob_meta_get_centroid (const GstCclBlobMeta * meta, guint index, gdouble * x, gdouble * y)
{
  CclShape shape;

  gst_ccl_blob_meta_get_mapped_shape (meta, index, &shape);
  if (x != NULL)
    *x = shape.x;
  if (y != NULL)
    *y = shape.y;
}

/**
 * gst_ccl_blob_meta_get_covariance:
 * @meta: a blob meta
 * @index: which blob, 0 to length - 1
 * @xx: (out) (optional): variance of the columns
 * @xy: (out) (optional): covariance of columns and rows
 * @yy: (out) (optional): variance of the rows
 *
 * Gets the covariance of gst_ccl_blob_get_covariance() in pixels of the frame
 * squared.
 *
 * Since: 0.1
 */
void
gst_ccl_blob_meta_get_covariance (const GstCclBlobMeta * meta, guint index, gdouble * xx, gdouble * xy, gdouble * yy)
{
  CclShape shape;

  gst_ccl_blob_meta_get_mapped_shape (meta, index, &shape);
  if (xx != NULL)
    *xx = shape.xx;
  if (xy != NULL)
    *xy = shape.xy;
  if (yy != NULL)
    *yy = shape.yy;
}

/**
 * gst_ccl_blob_meta_get_axes:
 * @meta: a blob meta
 * @index: which blob, 0 to length - 1
 * @major: (out) (optional): length of the major axis, pixels of the frame
 * @minor: (out) (optional): length of the minor axis
 * @orientation: (out) (optional): radians, -π/2 to π/2
 *
 * Gets the ellipse with the same second moments in the frame; see
 * gst_ccl_blob_get_axes() and gst_ccl_blob_get_orientation().
 *
 * Since: 0.1
 */
void
gst_ccl_blob_meta_get_axes (const GstCclBlobMeta * meta, guint index, gdouble * major, gdouble * minor,
    gdouble * orientation)
{
  CclShape shape;

  gst_ccl_blob_meta_get_mapped_shape (meta, index, &shape);
  if (major != NULL)
    *major = shape.axis_major_length;
  if (minor != NULL)
    *minor = shape.axis_minor_length;
  if (orientation != NULL)
    *orientation = shape.orientation;
}

/* x and y of each point in turn, in the frame. NULL without points or without memory. */
static gdouble *
map_points (const GstCclBlobMeta * meta, const GstCclPoint * points, guint n_points, guint * n_values)
{
  gdouble *const values = n_points > 0 ? g_try_new (gdouble, 2 * (gsize) n_points) : NULL;

  for (guint i = 0; values != NULL && i < n_points; i++) {
    values[2 * i] = points[i].x;
    values[2 * i + 1] = points[i].y;
    gst_ccl_matrix_map (meta->matrix, &values[2 * i], &values[2 * i + 1]);
  }
  *n_values = values != NULL ? 2 * n_points : 0;
  return values;
}

/**
 * gst_ccl_blob_meta_get_contour:
 * @meta: a blob meta
 * @index: which blob, 0 to length - 1
 * @n_values: (out): length of the array, two for each corner
 *
 * Gets the outer contour of the blob as a polygon of the frame, if it was
 * traced (`ccllabel contours=true`). The contour follows the edges of pixels: a
 * pixel of the mask belongs to it when its centre is inside. Holes are not cut
 * out. The error of a simplified contour is at most its tolerance.
 *
 * Returns: (transfer full) (nullable) (array length=n_values): x and y of each
 *   corner in turn; free it with g_free(). %NULL when it was not traced
 *
 * Since: 0.1
 */
gdouble *
gst_ccl_blob_meta_get_contour (const GstCclBlobMeta * meta, guint index, guint * n_values)
{
  const GstCclPoint *points;
  guint n_points;

  g_return_val_if_fail (meta != NULL && n_values != NULL, NULL);

  points = gst_ccl_blob_list_get_contour (meta->list, index, &n_points);
  return map_points (meta, points, n_points, n_values);
}

/**
 * gst_ccl_blob_meta_get_trail:
 * @meta: a blob meta
 * @index: which blob, 0 to length - 1
 * @n_values: (out): length of the array, two for each position
 *
 * Gets the past positions of the track of the blob (`ccltrack history=...`):
 * its centre of gravity in earlier frames and, last, in this frame, in
 * coordinates of this frame.
 *
 * Returns: (transfer full) (nullable) (array length=n_values): x and y of each
 *   position in turn, oldest first; free it with g_free(). %NULL when there is
 *   none
 *
 * Since: 0.1
 */
gdouble *
gst_ccl_blob_meta_get_trail (const GstCclBlobMeta * meta, guint index, guint * n_values)
{
  const GstCclPoint *points;
  guint n_points;

  g_return_val_if_fail (meta != NULL && n_values != NULL, NULL);

  points = gst_ccl_blob_list_get_trail (meta->list, index, &n_points);
  return map_points (meta, points, n_points, n_values);
}

/**
 * gst_ccl_blob_meta_map_point:
 * @meta: a blob meta
 * @x: (inout): column, in the mask before and in the frame after
 * @y: (inout): row
 *
 * Maps a point of the mask to the frame. Pixel (x, y) covers [x, x+1) × [y,
 * y+1), so corners of boxes are mapped unchanged. For the centre of a pixel add
 * 0.5 before and subtract 0.5 after, as gst_ccl_blob_meta_get_centroid() does.
 *
 * Since: 0.1
 */
void
gst_ccl_blob_meta_map_point (const GstCclBlobMeta * meta, gdouble * x, gdouble * y)
{
  g_return_if_fail (meta != NULL && x != NULL && y != NULL);

  gst_ccl_matrix_map (meta->matrix, x, y);
}

/**
 * gst_ccl_blob_meta_unmap_point:
 * @meta: a blob meta
 * @x: (inout): column, in the frame before and in the mask after
 * @y: (inout): row
 *
 * Maps a point of the frame to the mask: the inverse of
 * gst_ccl_blob_meta_map_point().
 *
 * Returns: %FALSE, and nothing changed, when the matrix has no inverse
 *
 * Since: 0.1
 */
gboolean
gst_ccl_blob_meta_unmap_point (const GstCclBlobMeta * meta, gdouble * x, gdouble * y)
{
  GstCclMatrix inverse;

  g_return_val_if_fail (meta != NULL && x != NULL && y != NULL, FALSE);

  if (!gst_ccl_matrix_invert (meta->matrix, inverse))
    return FALSE;
  gst_ccl_matrix_map (inverse, x, y);
  return TRUE;
}

/**
 * gst_ccl_blob_meta_is_identity:
 * @meta: a blob meta
 *
 * Tells whether pixels of the mask are pixels of the frame.
 *
 * Returns: %TRUE when nothing has to be mapped
 *
 * Since: 0.1
 */
gboolean
gst_ccl_blob_meta_is_identity (const GstCclBlobMeta * meta)
{
  g_return_val_if_fail (meta != NULL, TRUE);

  return gst_ccl_matrix_is_identity (meta->matrix);
}
