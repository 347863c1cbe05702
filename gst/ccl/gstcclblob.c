/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* One blob, and the shared list of them. */

#include "gstcclprivate.h"

G_STATIC_ASSERT (GST_CCL_BLOB_FLAGS_BORDER == (GST_CCL_BLOB_FLAG_TOUCHES_LEFT | GST_CCL_BLOB_FLAG_TOUCHES_TOP
        | GST_CCL_BLOB_FLAG_TOUCHES_RIGHT | GST_CCL_BLOB_FLAG_TOUCHES_BOTTOM));

G_DEFINE_BOXED_TYPE (GstCclBlob, gst_ccl_blob, gst_ccl_blob_copy, gst_ccl_blob_free);
G_DEFINE_BOXED_TYPE (GstCclBlobList, gst_ccl_blob_list, gst_ccl_blob_list_ref, gst_ccl_blob_list_unref);

/* Not with G_DEFINE_QUARK: GNU indent puts spaces into the name. */
GQuark
gst_ccl_error_quark (void)
{
  return g_quark_from_static_string ("gst-ccl-error-quark");
}

/**
 * gst_ccl_blob_new:
 *
 * Makes a blob with every number 0 and no mirror (#GstCclBlob.mtd_id is
 * %GST_CCL_MTD_ID_NONE).
 *
 * Returns: (transfer full): a new blob; free it with gst_ccl_blob_free()
 *
 * Since: 0.1
 */
GstCclBlob *
gst_ccl_blob_new (void)
{
  GstCclBlob *const blob = g_new0 (GstCclBlob, 1);

  blob->mtd_id = GST_CCL_MTD_ID_NONE;
  return blob;
}

/**
 * gst_ccl_blob_copy:
 * @blob: a blob
 *
 * Copies a blob.
 *
 * Returns: (transfer full): a copy; free it with gst_ccl_blob_free()
 *
 * Since: 0.1
 */
GstCclBlob *
gst_ccl_blob_copy (const GstCclBlob * blob)
{
  GstCclBlob *copy;

  g_return_val_if_fail (blob != NULL, NULL);

  copy = g_new (GstCclBlob, 1);
  *copy = *blob;
  return copy;
}

/**
 * gst_ccl_blob_free:
 * @blob: (transfer full): a blob from gst_ccl_blob_new() or gst_ccl_blob_copy()
 *
 * Frees a blob.
 *
 * Since: 0.1
 */
void
gst_ccl_blob_free (GstCclBlob * blob)
{
  g_free (blob);
}

void
gst_ccl_blob_get_shape (const GstCclBlob * blob, CclShape * shape)
{
  const CclMoments moments = {
    .area = blob->area,
    .m10 = blob->m10,
    .m01 = blob->m01,
    .m20 = blob->m20,
    .m11 = blob->m11,
    .m02 = blob->m02,
  };

  if (blob->area == 0) {
    *shape = (CclShape) {
    .x = blob->x + (blob->width - 1.0) / 2,.y = blob->y + (blob->height - 1.0) / 2};
  } else {
    ccl_shape_from_moments (&moments, shape);
  }
}

/**
 * gst_ccl_blob_get_centroid:
 * @blob: a blob
 * @x: (out) (optional): mean column of its pixels
 * @y: (out) (optional): mean row
 *
 * Gets the centre of gravity in mask pixels; the centre of the mask's first
 * pixel is (0, 0). For a blob without pixels, such as a prediction, this is the
 * centre of its box.
 *
 * Since: 0.1
 */
void
gst_ccl_blob_get_centroid (const GstCclBlob * blob, gdouble * x, gdouble * y)
{
  CclShape shape = { 0 };

  if (blob != NULL)
    gst_ccl_blob_get_shape (blob, &shape);
  if (x != NULL)
    *x = shape.x;
  if (y != NULL)
    *y = shape.y;
}

/**
 * gst_ccl_blob_get_covariance:
 * @blob: a blob
 * @xx: (out) (optional): variance of the columns
 * @xy: (out) (optional): covariance of columns and rows
 * @yy: (out) (optional): variance of the rows
 *
 * Gets the population covariance of the pixel centres, in mask pixels squared.
 * Nothing is added for the extent of a pixel, so the covariance of a single
 * pixel is 0.
 *
 * Since: 0.1
 */
void
gst_ccl_blob_get_covariance (const GstCclBlob * blob, gdouble * xx, gdouble * xy, gdouble * yy)
{
  CclShape shape = { 0 };

  if (blob != NULL)
    gst_ccl_blob_get_shape (blob, &shape);
  if (xx != NULL)
    *xx = shape.xx;
  if (xy != NULL)
    *xy = shape.xy;
  if (yy != NULL)
    *yy = shape.yy;
}

/**
 * gst_ccl_blob_get_orientation:
 * @blob: a blob
 *
 * Gets the direction of the major axis, like scikit-image's `orientation`: the
 * angle from the y axis, which points down, to the major axis, positive towards
 * positive x.
 *
 * Returns: radians, -π/2 to π/2
 *
 * Since: 0.1
 */
gdouble
gst_ccl_blob_get_orientation (const GstCclBlob * blob)
{
  CclShape shape;

  g_return_val_if_fail (blob != NULL, 0);
  gst_ccl_blob_get_shape (blob, &shape);
  return shape.orientation;
}

/**
 * gst_ccl_blob_get_axes:
 * @blob: a blob
 * @major: (out) (optional): length of the major axis
 * @minor: (out) (optional): length of the minor axis
 *
 * Gets the full lengths, in mask pixels, of the axes of the ellipse with the
 * same second moments (scikit-image: `axis_major_length`, `axis_minor_length`).
 *
 * Since: 0.1
 */
void
gst_ccl_blob_get_axes (const GstCclBlob * blob, gdouble * major, gdouble * minor)
{
  CclShape shape = { 0 };

  if (blob != NULL)
    gst_ccl_blob_get_shape (blob, &shape);
  if (major != NULL)
    *major = shape.axis_major_length;
  if (minor != NULL)
    *minor = shape.axis_minor_length;
}

/**
 * gst_ccl_blob_get_eccentricity:
 * @blob: a blob
 *
 * Gets the eccentricity of the ellipse with the same second moments.
 *
 * Returns: 0 (a circle) to 1 (a line)
 *
 * Since: 0.1
 */
gdouble
gst_ccl_blob_get_eccentricity (const GstCclBlob * blob)
{
  CclShape shape;

  g_return_val_if_fail (blob != NULL, 0);
  gst_ccl_blob_get_shape (blob, &shape);
  return shape.eccentricity;
}

/**
 * gst_ccl_blob_get_extent:
 * @blob: a blob
 *
 * Gets the fraction of its box that the blob fills.
 *
 * Returns: area over area of the box, 0 to 1
 *
 * Since: 0.1
 */
gdouble
gst_ccl_blob_get_extent (const GstCclBlob * blob)
{
  g_return_val_if_fail (blob != NULL, 0);

  if (blob->width <= 0 || blob->height <= 0)
    return 0;
  return blob->area / ((gdouble) blob->width * blob->height);
}

/**
 * gst_ccl_blob_get_equivalent_diameter:
 * @blob: a blob
 *
 * Gets the diameter of the circle with the same area (scikit-image:
 * `equivalent_diameter_area`).
 *
 * Returns: mask pixels
 *
 * Since: 0.1
 */
gdouble
gst_ccl_blob_get_equivalent_diameter (const GstCclBlob * blob)
{
  CclShape shape;

  g_return_val_if_fail (blob != NULL, 0);
  gst_ccl_blob_get_shape (blob, &shape);
  return shape.equivalent_diameter;
}

/**
 * gst_ccl_blob_list_new_uninitialized: (skip)
 * @n_blobs: length of the list, up to 2^24
 * @blobs: (out): its array; the caller must set every field of every blob
 *
 * Makes a list whose array the caller fills in place. A list must not be
 * changed after it was passed on.
 *
 * Returns: (transfer full) (nullable): a new list; release it with
 *   gst_ccl_blob_list_unref(). %NULL without memory
 *
 * Since: 0.1
 */
GstCclBlobList *
gst_ccl_blob_list_new_uninitialized (guint n_blobs, GstCclBlob ** blobs)
{
  GstCclBlobList *list;

  g_return_val_if_fail (n_blobs <= GST_CCL_MAX_BLOBS, NULL);

  list = g_try_malloc (sizeof (GstCclBlobList) + n_blobs * sizeof (GstCclBlob));
  if (list == NULL)
    return NULL;
  g_atomic_ref_count_init (&list->refcount);
  list->n_blobs = n_blobs;
  list->points = NULL;
  memset (list->columns, 0, sizeof (list->columns));
  if (blobs != NULL)
    *blobs = list->blobs;
  return list;
}

/**
 * gst_ccl_blob_list_new:
 * @blobs: (array length=n_blobs) (nullable): blobs to copy
 * @n_blobs: number of blobs, up to 2^24
 *
 * Makes a list of copies of @blobs.
 *
 * Returns: (transfer full) (nullable): a new list; release it with
 *   gst_ccl_blob_list_unref(). %NULL without memory
 *
 * Since: 0.1
 */
GstCclBlobList *
gst_ccl_blob_list_new (const GstCclBlob * blobs, guint n_blobs)
{
  GstCclBlobList *list;
  GstCclBlob *array;

  g_return_val_if_fail (blobs != NULL || n_blobs == 0, NULL);

  list = gst_ccl_blob_list_new_uninitialized (n_blobs, &array);
  if (list != NULL && n_blobs > 0)
    memcpy (array, blobs, n_blobs * sizeof (GstCclBlob));
  return list;
}

/**
 * gst_ccl_blob_list_copy: (skip)
 * @list: a list
 * @blobs: (out): the array of the copy, for the caller to change
 *
 * Makes a list of the same blobs, with their contours, trails and counts, for an
 * element that changes them. A list must not be changed after it was passed on.
 *
 * Returns: (transfer full) (nullable): a new list; release it with
 *   gst_ccl_blob_list_unref(). %NULL without memory
 *
 * Since: 0.1
 */
GstCclBlobList *
gst_ccl_blob_list_copy (const GstCclBlobList * list, GstCclBlob ** blobs)
{
  GstCclBlobList *copy;

  g_return_val_if_fail (list != NULL && blobs != NULL, NULL);

  copy = gst_ccl_blob_list_new (list->blobs, list->n_blobs);
  if (copy == NULL)
    return NULL;
  gst_ccl_blob_list_set_points (copy, list->points);
  gst_ccl_blob_list_copy_columns (copy, list);
  *blobs = copy->blobs;
  return copy;
}

/**
 * gst_ccl_blob_list_ref:
 * @list: a list
 *
 * Takes a reference. Safe from any thread.
 *
 * Returns: (transfer full): @list
 *
 * Since: 0.1
 */
GstCclBlobList *
gst_ccl_blob_list_ref (GstCclBlobList * list)
{
  g_return_val_if_fail (list != NULL, NULL);

  g_atomic_ref_count_inc (&list->refcount);
  return list;
}

/**
 * gst_ccl_blob_list_unref:
 * @list: (transfer full): a list
 *
 * Releases a reference; the last one frees the list. Safe from any thread.
 *
 * Since: 0.1
 */
void
gst_ccl_blob_list_unref (GstCclBlobList * list)
{
  g_return_if_fail (list != NULL);

  if (g_atomic_ref_count_dec (&list->refcount)) {
    g_clear_pointer (&list->points, g_bytes_unref);
    for (guint i = 0; i < GST_CCL_N_COLUMNS; i++)
      g_clear_pointer (&list->columns[i], g_bytes_unref);
    g_free (list);
  }
}

/**
 * gst_ccl_blob_list_get_length:
 * @list: (nullable): a list; %NULL counts as empty
 *
 * Gets the number of blobs.
 *
 * Returns: the number of blobs in the list
 *
 * Since: 0.1
 */
guint
gst_ccl_blob_list_get_length (const GstCclBlobList * list)
{
  return list != NULL ? list->n_blobs : 0;
}

/**
 * gst_ccl_blob_list_get: (skip)
 * @list: a list
 * @index: 0 to length - 1
 *
 * Gets a blob of the list. The blobs are consecutive in memory: the blob at
 * index 0 is the first element of their array.
 *
 * Returns: (transfer none) (nullable): the blob, alive as long as @list; %NULL
 *   past the end
 *
 * Since: 0.1
 */
const GstCclBlob *
gst_ccl_blob_list_get (const GstCclBlobList * list, guint index)
{
  return index < gst_ccl_blob_list_get_length (list) ? &list->blobs[index] : NULL;
}

/**
 * gst_ccl_blob_list_dup: (rename-to gst_ccl_blob_list_get)
 * @list: a list
 * @index: 0 to length - 1
 *
 * Copies a blob of the list. In bindings this is `get`, because the copy may
 * outlive the list.
 *
 * Returns: (transfer full) (nullable): a copy of the blob; %NULL past the end
 *
 * Since: 0.1
 */
GstCclBlob *
gst_ccl_blob_list_dup (const GstCclBlobList * list, guint index)
{
  const GstCclBlob *const blob = gst_ccl_blob_list_get (list, index);

  return blob != NULL ? gst_ccl_blob_copy (blob) : NULL;
}

/**
 * gst_ccl_blob_list_set_points: (skip)
 * @list: a list that was not passed on yet
 * @points: (nullable) (transfer none): an array of #GstCclPoint; %NULL: none
 *
 * Sets the contours and trails of the blobs. The points of a blob begin at
 * #GstCclBlob.first_point: first #GstCclBlob.n_contour points of its contour,
 * then #GstCclBlob.n_trail points of its trail. A blob whose points are not all
 * in @points has none. Lists can share points: an element that makes a new list
 * from the blobs of another one passes on the result of
 * gst_ccl_blob_list_get_points().
 *
 * Since: 0.1
 */
void
gst_ccl_blob_list_set_points (GstCclBlobList * list, GBytes * points)
{
  GBytes *old;

  g_return_if_fail (list != NULL);

  old = list->points;
  list->points = points != NULL ? g_bytes_ref (points) : NULL;
  if (old != NULL)
    g_bytes_unref (old);
}

/**
 * gst_ccl_blob_list_get_points: (skip)
 * @list: (nullable): a list; %NULL has none
 *
 * Gets the points that gst_ccl_blob_list_set_points() has set.
 *
 * Returns: (transfer none) (nullable): an array of #GstCclPoint
 *
 * Since: 0.1
 */
GBytes *
gst_ccl_blob_list_get_points (const GstCclBlobList * list)
{
  return list != NULL ? list->points : NULL;
}

/* The contour of a blob and the trail behind it; NULL when it has neither. */
static const GstCclPoint *
get_points (const GstCclBlobList * list, const GstCclBlob * blob)
{
  const gsize n = blob != NULL ? (gsize) blob->n_contour + blob->n_trail : 0;
  const GstCclPoint *points;
  gsize size;

  if (n == 0 || list->points == NULL)
    return NULL;
  points = g_bytes_get_data (list->points, &size);
  return blob->first_point + n <= size / sizeof (GstCclPoint) ? points + blob->first_point : NULL;
}

/**
 * gst_ccl_blob_list_get_contour: (skip)
 * @list: (nullable): a list
 * @index: 0 to length - 1
 * @n_points: (out): its length
 *
 * Gets the contour of a blob, in the plane of the mask; see
 * gst_ccl_blob_meta_get_contour().
 *
 * Returns: (transfer none) (nullable) (array length=n_points): its corners,
 *   valid as long as @list; %NULL when it was not traced
 *
 * Since: 0.1
 */
const GstCclPoint *
gst_ccl_blob_list_get_contour (const GstCclBlobList * list, guint index, guint * n_points)
{
  const GstCclBlob *const blob = gst_ccl_blob_list_get (list, index);
  const GstCclPoint *const points = get_points (list, blob);

  *n_points = points != NULL ? blob->n_contour : 0;
  return *n_points > 0 ? points : NULL;
}

/**
 * gst_ccl_blob_list_get_trail: (skip)
 * @list: (nullable): a list
 * @index: 0 to length - 1
 * @n_points: (out): its length
 *
 * Gets the past positions of the track of a blob, in the plane of the mask; see
 * gst_ccl_blob_meta_get_trail().
 *
 * Returns: (transfer none) (nullable) (array length=n_points): its positions,
 *   oldest first, valid as long as @list; %NULL when there is none
 *
 * Since: 0.1
 */
const GstCclPoint *
gst_ccl_blob_list_get_trail (const GstCclBlobList * list, guint index, guint * n_points)
{
  const GstCclBlob *const blob = gst_ccl_blob_list_get (list, index);
  const GstCclPoint *const points = get_points (list, blob);

  *n_points = points != NULL ? blob->n_trail : 0;
  return *n_points > 0 ? points + blob->n_contour : NULL;
}
