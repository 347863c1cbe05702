/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:gstcclblobmeta
 * @title: GstCclBlobMeta
 * @short_description: the connected components of a frame
 *
 * `ccllabel` adds one #GstCclBlobMeta to each buffer:
 *
 * |[<!-- language="C" -->
 * GstCclBlobMeta *meta = gst_buffer_get_ccl_blob_meta (buffer);
 * for (guint i = 0; meta != NULL && i < gst_ccl_blob_meta_get_length (meta); i++) {
 *   gdouble x, y;
 *   gst_ccl_blob_meta_get_centroid (meta, i, &x, &y);
 * }
 * ]|
 *
 * The blobs are measured once, in pixels of the mask, with exact integers, in
 * a list that copies of the buffer share. A 3x3 matrix takes them to the frame
 * that the buffer holds now; copying costs a reference, scaling a
 * multiplication.
 */

#include "gstcclmatrix.h"
#include "gstcclprivate.h"

#include <math.h>

GST_DEBUG_CATEGORY_STATIC (gst_ccl_meta_debug);
#define GST_CAT_DEFAULT gst_ccl_meta_debug

/* ---------------------------------------------------------------- transforms */

static gboolean
gst_ccl_blob_meta_transform (GstBuffer * dest, GstMeta * meta, GstBuffer * buffer, GQuark type, gpointer data)
{
  const GstCclBlobMeta *const blob_meta = (const GstCclBlobMeta *) meta;
  GstCclFrameMatrix frame = {.width = blob_meta->width,.height = blob_meta->height };
  GstCclBlobMeta *added;

  memcpy (frame.matrix, blob_meta->matrix, sizeof (GstCclMatrix));
  if (!gst_ccl_frame_matrix_follow (&frame, type, data)) {
    GST_INFO ("dropping the blobs: %s cannot be followed", g_quark_to_string (type));
    return FALSE;
  }

  added = gst_buffer_add_ccl_blob_meta (dest, blob_meta->list, blob_meta->ref_width, blob_meta->ref_height);
  if (added == NULL)
    return FALSE;
  added->flags = blob_meta->flags;
  added->width = frame.width;
  added->height = frame.height;
  added->n_kept = blob_meta->n_kept;
  added->n_total = blob_meta->n_total;
  added->connectivity = blob_meta->connectivity;
  added->source = blob_meta->source;
  memcpy (added->matrix, frame.matrix, sizeof (GstCclMatrix));
  return TRUE;
}

/* ---------------------------------------------------------------- registration */

static void
reset (GstCclBlobMeta * meta)
{
  /* Everything past the header, which belongs to the buffer. */
  memset ((guint8 *) meta + sizeof (GstMeta), 0, sizeof (GstCclBlobMeta) - sizeof (GstMeta));
  gst_ccl_matrix_set_identity (meta->matrix);
}

static gboolean
gst_ccl_blob_meta_init (GstMeta * meta, gpointer params, GstBuffer * buffer)
{
  reset ((GstCclBlobMeta *) meta);
  return TRUE;
}

static void
gst_ccl_blob_meta_free (GstMeta * meta, GstBuffer * buffer)
{
  gst_ccl_blob_meta_set_list ((GstCclBlobMeta *) meta, NULL);
}

#if GST_CHECK_VERSION (1, 24, 0)
/* A pool takes its buffer back: nothing of the last frame may stay. */
static void
gst_ccl_blob_meta_clear (GstBuffer * buffer, GstMeta * meta)
{
  gst_ccl_blob_meta_set_list ((GstCclBlobMeta *) meta, NULL);
  reset ((GstCclBlobMeta *) meta);
}

static gboolean
gst_ccl_blob_meta_serialize (const GstMeta * meta, GstByteArrayInterface * data, guint8 * version)
{
  const GstCclBlobMeta *const blob_meta = (const GstCclBlobMeta *) meta;
  guint8 *const flat = gst_byte_array_interface_append (data, gst_ccl_blob_meta_get_flat_size (blob_meta));

  if (flat == NULL)
    return FALSE;
  gst_ccl_blob_meta_write_flat (blob_meta, flat);
  /* The flat form says its version itself. */
  *version = 0;
  return TRUE;
}

static GstMeta *
gst_ccl_blob_meta_deserialize (const GstMetaInfo * info, GstBuffer * buffer, const guint8 * data, gsize size,
    guint8 version)
{
  GError *error = NULL;
  GstCclBlobMeta *const meta = gst_buffer_add_ccl_blob_meta_from_flat (buffer, data, size, &error);

  if (meta == NULL) {
    GST_WARNING ("%s", error->message);
    g_clear_error (&error);
  }
  return (GstMeta *) meta;
}
#endif

GType
gst_ccl_blob_meta_api_get_type (void)
{
  static gsize type = 0;

  if (g_once_init_enter (&type)) {
    static const gchar *tags[] = {
      GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR, GST_META_TAG_VIDEO_ORIENTATION_STR, NULL
    };

    g_once_init_leave (&type, gst_meta_api_type_register ("GstCclBlobMetaAPI", tags));
  }
  return type;
}

static const GstMetaInfo *
register_info (void)
{
  GST_DEBUG_CATEGORY_INIT (gst_ccl_meta_debug, "cclmeta", 0, "metadata of connected components");

#if GST_CHECK_VERSION (1, 24, 0)
  GstMetaInfo *const info = gst_meta_info_new (GST_CCL_BLOB_META_API_TYPE, "GstCclBlobMeta", sizeof (GstCclBlobMeta));

  info->init_func = gst_ccl_blob_meta_init;
  info->free_func = gst_ccl_blob_meta_free;
  info->transform_func = gst_ccl_blob_meta_transform;
  info->serialize_func = gst_ccl_blob_meta_serialize;
  info->deserialize_func = gst_ccl_blob_meta_deserialize;
  info->clear_func = gst_ccl_blob_meta_clear;
  return gst_meta_info_register (info);
#else
  return gst_meta_register (GST_CCL_BLOB_META_API_TYPE, "GstCclBlobMeta", sizeof (GstCclBlobMeta),
      gst_ccl_blob_meta_init, gst_ccl_blob_meta_free, gst_ccl_blob_meta_transform);
#endif
}

/**
 * gst_ccl_blob_meta_get_info: (skip)
 *
 * Gets the #GstMetaInfo. The first call registers the meta: a process that
 * calls gst_meta_deserialize() must have come by here, or through any function
 * that adds or gets a meta, before.
 *
 * Returns: (transfer none): the info
 *
 * Since: 0.1
 */
const GstMetaInfo *
gst_ccl_blob_meta_get_info (void)
{
  static const GstMetaInfo *info = NULL;

  if (g_once_init_enter (&info))
    g_once_init_leave (&info, register_info ());
  return info;
}

/* ---------------------------------------------------------------- adding and getting */

/**
 * gst_buffer_add_ccl_blob_meta:
 * @buffer: a writable buffer
 * @list: (nullable) (transfer none): the blobs, in pixels of the mask; %NULL: none
 * @width: width of the mask and of the frame, pixels
 * @height: their height
 *
 * Adds a meta whose matrix is the identity, whose n-kept is the length of
 * @list, and whose other fields are 0: those are for the caller to set. When
 * mask and frame differ in size, set width, height and the matrix too.
 *
 * Returns: (transfer none) (nullable): the meta; it belongs to @buffer. %NULL
 *   when @buffer is not writable
 *
 * Since: 0.1
 */
GstCclBlobMeta *
gst_buffer_add_ccl_blob_meta (GstBuffer * buffer, GstCclBlobList * list, guint width, guint height)
{
  GstCclBlobMeta *meta;

  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);

  meta = (GstCclBlobMeta *) gst_buffer_add_meta (buffer, GST_CCL_BLOB_META_INFO, NULL);
  if (meta == NULL)
    return NULL;
  gst_ccl_blob_meta_set_list (meta, list);
  meta->n_kept = gst_ccl_blob_list_get_length (list);
  meta->ref_width = meta->width = width;
  meta->ref_height = meta->height = height;
  return meta;
}

/**
 * gst_buffer_get_ccl_blob_meta:
 * @buffer: a buffer
 *
 * Gets the blobs of a frame; the first meta, should there be several.
 *
 * Returns: (transfer none) (nullable): the meta, alive as long as it is on
 *   @buffer; %NULL when the buffer has none
 *
 * Since: 0.1
 */
GstCclBlobMeta *
gst_buffer_get_ccl_blob_meta (GstBuffer * buffer)
{
  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);

  gst_ccl_blob_meta_get_info ();
  return (GstCclBlobMeta *) gst_buffer_get_meta (buffer, GST_CCL_BLOB_META_API_TYPE);
}

/**
 * gst_ccl_blob_meta_get_length:
 * @meta: a blob meta
 *
 * Gets the number of blobs listed; `n_kept` and `n_total` may be larger.
 *
 * Returns: how many blobs the list holds
 *
 * Since: 0.1
 */
guint
gst_ccl_blob_meta_get_length (const GstCclBlobMeta * meta)
{
  g_return_val_if_fail (meta != NULL, 0);

  return gst_ccl_blob_list_get_length (meta->list);
}

/**
 * gst_ccl_blob_meta_get_blob: (skip)
 * @meta: a blob meta
 * @index: 0 to length - 1
 *
 * Gets a blob, in pixels of the mask.
 *
 * Returns: (transfer none) (nullable): the blob, alive as long as the list;
 *   %NULL past the end
 *
 * Since: 0.1
 */
const GstCclBlob *
gst_ccl_blob_meta_get_blob (const GstCclBlobMeta * meta, guint index)
{
  g_return_val_if_fail (meta != NULL, NULL);

  return gst_ccl_blob_list_get (meta->list, index);
}

/**
 * gst_ccl_blob_meta_dup_blob: (rename-to gst_ccl_blob_meta_get_blob)
 * @meta: a blob meta
 * @index: 0 to length - 1
 *
 * Copies a blob; what bindings call `get_blob`, since a copy may outlive the
 * buffer.
 *
 * Returns: (transfer full) (nullable): a copy of the blob; %NULL past the end
 *
 * Since: 0.1
 */
GstCclBlob *
gst_ccl_blob_meta_dup_blob (const GstCclBlobMeta * meta, guint index)
{
  const GstCclBlob *const blob = gst_ccl_blob_meta_get_blob (meta, index);

  return blob != NULL ? gst_ccl_blob_copy (blob) : NULL;
}

/**
 * gst_ccl_blob_meta_set_list:
 * @meta: a blob meta of a writable buffer
 * @list: (nullable) (transfer none): its new blobs; %NULL: none
 *
 * Replaces the blobs; copies of the buffer keep theirs. `n_kept` and `n_total`
 * stay as they are.
 *
 * Since: 0.1
 */
void
gst_ccl_blob_meta_set_list (GstCclBlobMeta * meta, GstCclBlobList * list)
{
  GstCclBlobList *old;

  g_return_if_fail (meta != NULL);

  old = meta->list;
  meta->list = list != NULL ? gst_ccl_blob_list_ref (list) : NULL;
  if (old != NULL)
    gst_ccl_blob_list_unref (old);
}

/**
 * gst_ccl_blob_meta_set_matrix:
 * @meta: a blob meta of a writable buffer
 * @matrix: (array fixed-size=9): row-major, from mask to frame
 *
 * Sets #GstCclBlobMeta.matrix; for languages that cannot write to the field.
 *
 * Since: 0.1
 */
void
gst_ccl_blob_meta_set_matrix (GstCclBlobMeta * meta, const gdouble * matrix)
{
  g_return_if_fail (meta != NULL && matrix != NULL);

  memcpy (meta->matrix, matrix, sizeof (meta->matrix));
}

GstCclBlob *
gst_ccl_blob_meta_edit (GstCclBlobMeta * meta)
{
  GstCclBlob *blobs = NULL;

  if (gst_ccl_blob_meta_get_length (meta) > 0) {
    GstCclBlobList *const list = gst_ccl_blob_list_copy (meta->list, &blobs);

    gst_ccl_blob_meta_set_list (meta, list);
    gst_ccl_blob_list_unref (list);
  }
  return blobs;
}

/**
 * gst_ccl_blob_meta_get_source:
 * @meta: a blob meta
 *
 * Gets the name of the element that attached the meta.
 *
 * Returns: (transfer none) (nullable): the name; %NULL when not known
 *
 * Since: 0.1
 */
const gchar *
gst_ccl_blob_meta_get_source (const GstCclBlobMeta * meta)
{
  g_return_val_if_fail (meta != NULL, NULL);

  return g_quark_to_string (meta->source);
}

/* ---------------------------------------------------------------- measures in the frame */

/* Shape of a blob in the frame: centroid, covariance and axes. FALSE and zeros past the end. */
static gboolean
get_mapped_shape (const GstCclBlobMeta * meta, guint index, CclShape * shape)
{
  const GstCclBlob *const blob = gst_ccl_blob_meta_get_blob (meta, index);
  gdouble j[4];

  memset (shape, 0, sizeof (CclShape));
  g_return_val_if_fail (blob != NULL, FALSE);

  gst_ccl_blob_get_shape (blob, shape);
  if (gst_ccl_blob_meta_is_identity (meta))
    return TRUE;

  /* Centres of pixels are half a pixel inside their squares, before and after. */
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
  return TRUE;
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
 * may reach past the frame after a crop; of a box that was turned it is the
 * upright box around it.
 *
 * Since: 0.1
 */
void
gst_ccl_blob_meta_get_box (const GstCclBlobMeta * meta, guint index, gdouble * x, gdouble * y, gdouble * width,
    gdouble * height)
{
  const GstCclBlob *const blob = gst_ccl_blob_meta_get_blob (meta, index);
  gdouble left = 0, right = 0, top = 0, bottom = 0;

  for (gint corner = 0; blob != NULL && corner < 4; corner++) {
    gdouble cx = blob->x + (corner & 1 ? (gdouble) blob->width : 0);
    gdouble cy = blob->y + (corner & 2 ? (gdouble) blob->height : 0);

    gst_ccl_matrix_map (meta->matrix, &cx, &cy);
    left = corner == 0 ? cx : MIN (left, cx);
    right = corner == 0 ? cx : MAX (right, cx);
    top = corner == 0 ? cy : MIN (top, cy);
    bottom = corner == 0 ? cy : MAX (bottom, cy);
  }

  if (x != NULL)
    *x = left;
  if (y != NULL)
    *y = top;
  if (width != NULL)
    *width = right - left;
  if (height != NULL)
    *height = bottom - top;
  g_return_if_fail (blob != NULL);
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

  get_mapped_shape (meta, index, &shape);
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

  get_mapped_shape (meta, index, &shape);
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

  get_mapped_shape (meta, index, &shape);
  if (major != NULL)
    *major = shape.axis_major_length;
  if (minor != NULL)
    *minor = shape.axis_minor_length;
  if (orientation != NULL)
    *orientation = shape.orientation;
}

/* x and y of each in turn, in the frame. */
static gdouble *
map_points (const GstCclBlobMeta * meta, const GstCclPoint * points, guint n_points, guint * n_values)
{
  gdouble *const values = n_points > 0 ? g_new (gdouble, 2 * n_points) : NULL;

  for (guint i = 0; i < n_points; i++) {
    values[2 * i] = points[i].x;
    values[2 * i + 1] = points[i].y;
    gst_ccl_matrix_map (meta->matrix, &values[2 * i], &values[2 * i + 1]);
  }
  *n_values = 2 * n_points;
  return values;
}

/**
 * gst_ccl_blob_meta_get_contour:
 * @meta: a blob meta
 * @index: which blob, 0 to length - 1
 * @n_values: (out): length of the array, two for each corner
 *
 * Gets the outer contour of the blob, where it was traced (`ccllabel
 * contours=true`), as a polygon of the frame. It runs along the edges of
 * pixels: a pixel of the mask belongs to it when its centre is inside; holes
 * are not cut out. A contour that was simplified is off by its tolerance.
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
 * @n_values: (out): length of the array, two for each place
 *
 * Gets where the track of the blob has been (`ccltrack history=...`): its
 * centre of gravity in the frames before and, last, in this one, as places of
 * this frame.
 *
 * Returns: (transfer full) (nullable) (array length=n_values): x and y of each
 *   place in turn, oldest first; free it with g_free(). %NULL when there is none
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
 * Takes a place in the mask to its place in the frame. Pixel (x, y) covers
 * [x, x+1) × [y, y+1): corners of boxes go in as they are; for the centre of a
 * pixel add 0.5 before and subtract 0.5 after, as
 * gst_ccl_blob_meta_get_centroid() does.
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
 * Takes a place in the frame to its place in the mask: what
 * gst_ccl_blob_meta_map_point() does, the other way.
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

/* ---------------------------------------------------------------- text */

static void
append_double (GString * string, gdouble value)
{
  gchar text[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append (string, g_ascii_formatd (text, sizeof (text), "%.10g", value));
}

/* The names of the bits set, joined by "+". */
static void
append_flags (GString * string, guint32 flags, const gchar * const names[], guint n_names)
{
  const gchar *between = "";

  for (guint bit = 0; bit < 32; bit++) {
    if (!(flags & (1u << bit)))
      continue;
    g_string_append (string, between);
    if (bit < n_names && names[bit] != NULL)
      g_string_append (string, names[bit]);
    else
      g_string_append_printf (string, "bit%u", bit);
    between = "+";
  }
}

static void
append_blob (GString * string, const GstCclBlob * blob)
{
  static const gchar *const names[] = {
    "left", "top", "right", "bottom", NULL, NULL, NULL, NULL,
    "tentative", "confirmed", "predicted", "lost", "merged", "split"
  };

  g_string_append_printf (string, "; blob %u: area %" G_GUINT64_FORMAT ", box %d,%d %dx%d", blob->label, blob->area,
      blob->x, blob->y, blob->width, blob->height);
  if (blob->track_id != 0)
    g_string_append_printf (string, ", track %" G_GUINT64_FORMAT ", age %u", blob->track_id, blob->age);
  if (blob->parent_id != 0)
    g_string_append_printf (string, ", out of track %" G_GUINT64_FORMAT, blob->parent_id);
  if (blob->volume_id != 0)
    g_string_append_printf (string, ", volume %" G_GUINT64_FORMAT, blob->volume_id);
  if (blob->flags != 0) {
    g_string_append (string, ", ");
    append_flags (string, blob->flags, names, G_N_ELEMENTS (names));
  }
}

/**
 * gst_ccl_blob_meta_to_string:
 * @meta: a blob meta
 *
 * Describes the meta in one line, the same for the same content wherever it is
 * made: for logs and for tests.
 *
 * Returns: (transfer full): the description; free it with g_free()
 *
 * Since: 0.1
 */
gchar *
gst_ccl_blob_meta_to_string (const GstCclBlobMeta * meta)
{
  static const gchar *const names[] = { "truncated", "skipped", "global-change", "predicted-only" };
  GString *string;
  guint n;

  g_return_val_if_fail (meta != NULL, NULL);

  n = gst_ccl_blob_meta_get_length (meta);
  string = g_string_new (NULL);
  g_string_append_printf (string, "%u blobs (kept %u of %u, %u-connected) of a %ux%u mask in a %ux%u frame", n,
      meta->n_kept, meta->n_total, meta->connectivity, meta->ref_width, meta->ref_height, meta->width, meta->height);
  if (!gst_ccl_blob_meta_is_identity (meta)) {
    for (gint i = 0; i < 9; i++) {
      g_string_append (string, i == 0 ? ", matrix " : i % 3 == 0 ? " / " : " ");
      append_double (string, meta->matrix[i]);
    }
  }
  if (meta->flags != 0) {
    g_string_append (string, ", ");
    append_flags (string, meta->flags, names, G_N_ELEMENTS (names));
  }
  if (meta->source != 0)
    g_string_append_printf (string, ", from %s", gst_ccl_blob_meta_get_source (meta));
  for (guint i = 0; i < n; i++)
    append_blob (string, gst_ccl_blob_meta_get_blob (meta, i));
  return g_string_free (string, FALSE);
}
