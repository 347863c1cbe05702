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
 * The blobs are measured once, in pixels of the mask, with exact integers.
 * Copies of the buffer share their list. A 3x3 matrix maps them to the frame
 * that the buffer holds now. So a copy takes one reference, and scaling takes
 * one multiplication of matrices.
 */

#include "gstcclmatrix.h"
#include "gstcclprivate.h"

GST_DEBUG_CATEGORY_STATIC (gst_ccl_meta_debug);
#define GST_CAT_DEFAULT gst_ccl_meta_debug

/* ---------------------------------------------------------------- transforms */

/* All members except the list. */
static void
copy_members (GstCclBlobMeta * copy, const GstCclBlobMeta * meta)
{
  copy->flags = meta->flags;
  copy->ref_width = meta->ref_width;
  copy->ref_height = meta->ref_height;
  copy->width = meta->width;
  copy->height = meta->height;
  copy->n_kept = meta->n_kept;
  copy->n_total = meta->n_total;
  copy->connectivity = meta->connectivity;
  copy->source = meta->source;
  memcpy (copy->matrix, meta->matrix, sizeof (GstCclMatrix));
}

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
  copy_members (added, blob_meta);
  added->width = frame.width;
  added->height = frame.height;
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
free_meta (GstMeta * meta, GstBuffer * buffer)
{
  gst_ccl_blob_meta_set_list ((GstCclBlobMeta *) meta, NULL);
}

/* Adds a meta that is read from its flat form. */
static GstCclBlobMeta *
add_from_flat (GstBuffer * buffer, const guint8 * data, gsize size, GError ** error)
{
  GstCclBlobMeta read, *meta;

  if (!gst_buffer_is_writable (buffer)) {
    g_set_error (error, GST_CCL_ERROR, GST_CCL_ERROR_DATA,
        "cannot read the flat form of a blob meta: the buffer is not writable");
    return NULL;
  }
  if (!gst_ccl_blob_meta_read_flat (&read, data, size, error))
    return NULL;
  meta = gst_buffer_add_ccl_blob_meta (buffer, read.list, read.ref_width, read.ref_height);
  gst_ccl_blob_list_unref (read.list);
  copy_members (meta, &read);
  return meta;
}

#if GST_CHECK_VERSION (1, 24, 0)
/* A buffer returns to its pool: no data of the last frame may stay. */
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
  /* The flat form contains its version. */
  *version = 0;
  return TRUE;
}

static GstMeta *
gst_ccl_blob_meta_deserialize (const GstMetaInfo * info, GstBuffer * buffer, const guint8 * data, gsize size,
    guint8 version)
{
  GError *error = NULL;
  GstCclBlobMeta *const meta = add_from_flat (buffer, data, size, &error);

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
  GstMetaInfo *const info =
      gst_meta_info_new (GST_CCL_BLOB_META_API_TYPE, "GstCclBlobMetaImpl", sizeof (GstCclBlobMeta));

  info->init_func = gst_ccl_blob_meta_init;
  info->free_func = free_meta;
  info->transform_func = gst_ccl_blob_meta_transform;
  info->serialize_func = gst_ccl_blob_meta_serialize;
  info->deserialize_func = gst_ccl_blob_meta_deserialize;
  info->clear_func = gst_ccl_blob_meta_clear;
  return gst_meta_info_register (info);
#else
  return gst_meta_register (GST_CCL_BLOB_META_API_TYPE, "GstCclBlobMetaImpl", sizeof (GstCclBlobMeta),
      gst_ccl_blob_meta_init, free_meta, gst_ccl_blob_meta_transform);
#endif
}

/**
 * gst_ccl_blob_meta_get_info: (skip)
 *
 * Gets the #GstMetaInfo. The first call registers the meta. A process that
 * calls gst_meta_deserialize() must call this before, or any function that adds
 * or gets a meta.
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
 * Adds a meta whose matrix is the identity, whose `n_kept` is the length of
 * @list, and whose other fields are 0. The caller sets these fields. When mask
 * and frame differ in size, set width, height and the matrix too.
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
 * gst_buffer_get_ccl_blob_meta: (skip)
 * @buffer: a buffer
 *
 * Gets the blobs of a frame. If there are several metas, this is the last one,
 * from the nearest element upstream.
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
  return gst_ccl_buffer_get_last_meta (buffer, GST_CCL_BLOB_META_API_TYPE);
}

/**
 * gst_buffer_dup_ccl_blob_meta: (rename-to gst_buffer_get_ccl_blob_meta)
 * @buffer: a buffer
 *
 * Copies the meta that gst_buffer_get_ccl_blob_meta() gets. In bindings this is
 * `buffer_get_ccl_blob_meta`, because the copy may outlive the buffer.
 *
 * Returns: (transfer full) (nullable): a copy; %NULL when the buffer has no meta
 *
 * Since: 0.1
 */
GstCclBlobMeta *
gst_buffer_dup_ccl_blob_meta (GstBuffer * buffer)
{
  const GstCclBlobMeta *const meta = gst_buffer_get_ccl_blob_meta (buffer);

  return meta != NULL ? gst_ccl_blob_meta_copy (meta) : NULL;
}

/**
 * gst_buffer_set_ccl_blob_meta:
 * @buffer: a writable buffer
 * @meta: a blob meta, which may be a copy
 *
 * Gives the meta that gst_buffer_get_ccl_blob_meta() gets the blobs and all
 * fields of @meta. If @buffer has none, one is added.
 *
 * Returns: %FALSE when @buffer is not writable
 *
 * Since: 0.1
 */
gboolean
gst_buffer_set_ccl_blob_meta (GstBuffer * buffer, const GstCclBlobMeta * meta)
{
  GstCclBlobMeta *target;

  g_return_val_if_fail (GST_IS_BUFFER (buffer), FALSE);
  g_return_val_if_fail (meta != NULL, FALSE);

  if (!gst_buffer_is_writable (buffer))
    return FALSE;
  target = gst_buffer_get_ccl_blob_meta (buffer);
  if (target == NULL)
    target = gst_buffer_add_ccl_blob_meta (buffer, NULL, meta->width, meta->height);
  gst_ccl_blob_meta_set_list (target, meta->list);
  copy_members (target, meta);
  return TRUE;
}

/* ---------------------------------------------------------------- copies */

G_DEFINE_BOXED_TYPE (GstCclBlobMeta, gst_ccl_blob_meta, gst_ccl_blob_meta_copy, gst_ccl_blob_meta_free);

/**
 * gst_ccl_blob_meta_copy:
 * @meta: a blob meta
 *
 * Copies a meta. The copy is on no buffer; it shares the list.
 *
 * Returns: (transfer full): the copy
 *
 * Since: 0.1
 */
GstCclBlobMeta *
gst_ccl_blob_meta_copy (const GstCclBlobMeta * meta)
{
  GstCclBlobMeta *copy;

  g_return_val_if_fail (meta != NULL, NULL);

  copy = g_new0 (GstCclBlobMeta, 1);
  copy->meta.info = GST_CCL_BLOB_META_INFO;
  gst_ccl_blob_meta_set_list (copy, meta->list);
  copy_members (copy, meta);
  return copy;
}

/**
 * gst_ccl_blob_meta_free:
 * @meta: (transfer full): the result of gst_ccl_blob_meta_copy()
 *
 * Frees a copy.
 *
 * Since: 0.1
 */
void
gst_ccl_blob_meta_free (GstCclBlobMeta * meta)
{
  g_return_if_fail (meta != NULL);

  gst_ccl_blob_meta_set_list (meta, NULL);
  g_free (meta);
}

/* ---------------------------------------------------------------- content */

/**
 * gst_ccl_blob_meta_get_length:
 * @meta: a blob meta
 *
 * Gets the number of blobs listed; `n_kept` and `n_total` may be larger.
 *
 * Returns: the number of blobs in the list
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
 * Copies a blob. In bindings this is `get_blob`, because the copy may outlive
 * the buffer.
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
 * Replaces the blobs. Copies of the buffer keep theirs. `n_kept` and `n_total`
 * do not change.
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
 * Sets #GstCclBlobMeta.matrix, for languages that cannot write to the field.
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

    if (list == NULL)
      return NULL;
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

/* ---------------------------------------------------------------- flat form */

/**
 * gst_ccl_blob_meta_to_bytes:
 * @meta: a blob meta
 *
 * Writes the meta in its flat form, for files, sockets and other processes. The
 * flat form is little endian and the same on every machine; `docs/metadata.md`
 * describes it byte by byte. It does not contain #GstCclBlob.mtd_id and
 * #GstCclBlob.zones, because they belong to the buffer, nor a source whose name
 * is longer than 255 bytes.
 *
 * Returns: (transfer full) (nullable): the flat form; %NULL without memory
 *
 * Since: 0.1
 */
GBytes *
gst_ccl_blob_meta_to_bytes (const GstCclBlobMeta * meta)
{
  gsize size;
  guint8 *data;

  g_return_val_if_fail (meta != NULL, NULL);

  size = gst_ccl_blob_meta_get_flat_size (meta);
  data = g_try_malloc (size);
  if (data == NULL)
    return NULL;
  gst_ccl_blob_meta_write_flat (meta, data);
  return g_bytes_new_take (data, size);
}

/**
 * gst_buffer_add_ccl_blob_meta_from_bytes:
 * @buffer: a writable buffer
 * @bytes: the result of gst_ccl_blob_meta_to_bytes(), from this or another
 *   process
 * @error: return location for an error of #GST_CCL_ERROR
 *
 * Adds the meta that @bytes describes. The function fails, and does not change
 * @buffer, when the bytes are damaged, too short or something else. It also
 * fails when the matrix has no inverse or an entry beyond ±10¹², or when the
 * name of the source is longer than 255 bytes.
 *
 * A process never frees the name of a source. After 1024 new names have come
 * from bytes, a meta with a further new name is added with `source` 0.
 *
 * Returns: (transfer none): the meta; it belongs to @buffer. %NULL on error
 *
 * Since: 0.1
 */
GstCclBlobMeta *
gst_buffer_add_ccl_blob_meta_from_bytes (GstBuffer * buffer, GBytes * bytes, GError ** error)
{
  gconstpointer data;
  gsize size;

  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);
  g_return_val_if_fail (bytes != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  data = g_bytes_get_data (bytes, &size);
  return add_from_flat (buffer, data, size, error);
}
