/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:gstcclmaskmeta
 * @title: GstCclMaskMeta
 * @short_description: a mask beside the picture it was made of
 *
 * `cclmotion` adds one #GstCclMaskMeta to each buffer and does not change the
 * picture; `ccllabel mask-source=mask-meta` finds the blobs of that mask. Any
 * other element or probe may add one:
 *
 * |[<!-- language="C" -->
 * GstBuffer *mask = gst_buffer_new_allocate (NULL, 320 * 240, NULL);
 * gst_buffer_add_video_meta (mask, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 320, 240);
 * // ... fill it with 0 and 255
 * gst_buffer_add_ccl_mask_meta (frame, mask, 1280, 960);
 * gst_buffer_unref (mask);
 * ]|
 *
 * The mask covers the whole frame, whatever its size.
 */

#include "gstcclmaskmeta.h"

#include <string.h>

#include "gstcclmatrix.h"
#include "gstcclprivate.h"

/* ---------------------------------------------------------------- registration */

/* Does the video meta say GRAY8, and any pixels? Another element may have changed it since. */
static gboolean
is_mask (GstBuffer * mask)
{
  const GstVideoMeta *const layout = gst_buffer_get_video_meta (mask);

  return layout != NULL && layout->format == GST_VIDEO_FORMAT_GRAY8 && layout->width > 0 && layout->height > 0;
}

static gboolean
gst_ccl_mask_meta_transform (GstBuffer * dest, GstMeta * meta, GstBuffer * buffer, GQuark type, gpointer data)
{
  const GstCclMaskMeta *const from = (const GstCclMaskMeta *) meta;
  GstCclFrameMatrix frame = {.width = from->width,.height = from->height };
  GstCclMaskMeta *added;

  memcpy (frame.matrix, from->matrix, sizeof (GstCclMatrix));
  if (from->mask == NULL || !is_mask (from->mask) || !gst_ccl_frame_matrix_follow (&frame, type, data))
    return FALSE;

  added = gst_buffer_add_ccl_mask_meta (dest, from->mask, frame.width, frame.height);
  if (added == NULL)
    return FALSE;
  added->flags = from->flags;
  added->n_foreground = from->n_foreground;
  added->area_ratio = from->area_ratio;
  added->source = from->source;
  memcpy (added->matrix, frame.matrix, sizeof (GstCclMatrix));
  return TRUE;
}

static void
reset (GstCclMaskMeta * meta)
{
  /* Everything past the header, which belongs to the buffer. */
  memset ((guint8 *) meta + sizeof (GstMeta), 0, sizeof (GstCclMaskMeta) - sizeof (GstMeta));
  gst_ccl_matrix_set_identity (meta->matrix);
}

static gboolean
gst_ccl_mask_meta_init (GstMeta * meta, gpointer params, GstBuffer * buffer)
{
  reset ((GstCclMaskMeta *) meta);
  return TRUE;
}

static void
free_meta (GstMeta * meta, GstBuffer * buffer)
{
  gst_clear_buffer (&((GstCclMaskMeta *) meta)->mask);
}

#if GST_CHECK_VERSION (1, 24, 0)
/* A buffer returns to its pool: no data of the last frame may stay. */
static void
gst_ccl_mask_meta_clear (GstBuffer * buffer, GstMeta * meta)
{
  free_meta (meta, buffer);
  reset ((GstCclMaskMeta *) meta);
}
#endif

GType
gst_ccl_mask_meta_api_get_type (void)
{
  static gsize type = 0;

  if (g_once_init_enter (&type)) {
    static const gchar *tags[] = {
      GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR, GST_META_TAG_VIDEO_ORIENTATION_STR, NULL
    };

    g_once_init_leave (&type, gst_meta_api_type_register ("GstCclMaskMetaAPI", tags));
  }
  return type;
}

static const GstMetaInfo *
register_info (void)
{
#if GST_CHECK_VERSION (1, 24, 0)
  GstMetaInfo *const info =
      gst_meta_info_new (GST_CCL_MASK_META_API_TYPE, "GstCclMaskMetaImpl", sizeof (GstCclMaskMeta));

  info->init_func = gst_ccl_mask_meta_init;
  info->free_func = free_meta;
  info->transform_func = gst_ccl_mask_meta_transform;
  info->clear_func = gst_ccl_mask_meta_clear;
  return gst_meta_info_register (info);
#else
  return gst_meta_register (GST_CCL_MASK_META_API_TYPE, "GstCclMaskMetaImpl", sizeof (GstCclMaskMeta),
      gst_ccl_mask_meta_init, free_meta, gst_ccl_mask_meta_transform);
#endif
}

/**
 * gst_ccl_mask_meta_get_info: (skip)
 *
 * Gets the #GstMetaInfo.
 *
 * Returns: (transfer none): the info
 *
 * Since: 0.1
 */
const GstMetaInfo *
gst_ccl_mask_meta_get_info (void)
{
  static const GstMetaInfo *info = NULL;

  if (g_once_init_enter (&info))
    g_once_init_leave (&info, register_info ());
  return info;
}

/* ---------------------------------------------------------------- adding and getting */

/**
 * gst_buffer_add_ccl_mask_meta:
 * @buffer: a writable buffer
 * @mask: (transfer none): the mask, with a #GstVideoMeta of format GRAY8
 * @width: width of the frame in @buffer, pixels
 * @height: its height
 *
 * Adds a meta whose matrix stretches the mask over the frame and whose other
 * fields are 0.
 *
 * Returns: (transfer none) (nullable): the meta; it belongs to @buffer. %NULL
 *   when @mask has no video meta of format GRAY8.
 *
 * Since: 0.1
 */
GstCclMaskMeta *
gst_buffer_add_ccl_mask_meta (GstBuffer * buffer, GstBuffer * mask, guint width, guint height)
{
  const GstVideoMeta *layout;
  GstCclMaskMeta *meta;

  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);
  g_return_val_if_fail (GST_IS_BUFFER (mask), NULL);

  g_return_val_if_fail (is_mask (mask), NULL);

  layout = gst_buffer_get_video_meta (mask);
  meta = (GstCclMaskMeta *) gst_buffer_add_meta (buffer, GST_CCL_MASK_META_INFO, NULL);
  if (meta == NULL)
    return NULL;
  meta->mask = gst_buffer_ref (mask);
  meta->ref_width = layout->width;
  meta->ref_height = layout->height;
  meta->width = width;
  meta->height = height;
  meta->matrix[0] = (gdouble) width / layout->width;
  meta->matrix[4] = (gdouble) height / layout->height;
  return meta;
}

/**
 * gst_buffer_get_ccl_mask_meta: (skip)
 * @buffer: a buffer
 *
 * Gets the mask of a frame. If there are several metas, this is the last one,
 * from the nearest element upstream.
 *
 * Returns: (transfer none) (nullable): the meta, alive as long as it is on
 *   @buffer; %NULL when the buffer has none
 *
 * Since: 0.1
 */
GstCclMaskMeta *
gst_buffer_get_ccl_mask_meta (GstBuffer * buffer)
{
  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);

  gst_ccl_mask_meta_get_info ();
  return gst_ccl_buffer_get_last_meta (buffer, GST_CCL_MASK_META_API_TYPE);
}

/**
 * gst_buffer_dup_ccl_mask_meta: (rename-to gst_buffer_get_ccl_mask_meta)
 * @buffer: a buffer
 *
 * Copies the meta that gst_buffer_get_ccl_mask_meta() gets. In bindings this is
 * `buffer_get_ccl_mask_meta`, because the copy may outlive the buffer.
 *
 * Returns: (transfer full) (nullable): a copy; %NULL when the buffer has no meta
 *
 * Since: 0.1
 */
GstCclMaskMeta *
gst_buffer_dup_ccl_mask_meta (GstBuffer * buffer)
{
  const GstCclMaskMeta *const meta = gst_buffer_get_ccl_mask_meta (buffer);

  return meta != NULL ? gst_ccl_mask_meta_copy (meta) : NULL;
}

G_DEFINE_BOXED_TYPE (GstCclMaskMeta, gst_ccl_mask_meta, gst_ccl_mask_meta_copy, gst_ccl_mask_meta_free);

/**
 * gst_ccl_mask_meta_copy:
 * @meta: a mask meta
 *
 * Copies a meta. The copy is on no buffer; it shares the mask.
 *
 * Returns: (transfer full): the copy
 *
 * Since: 0.1
 */
GstCclMaskMeta *
gst_ccl_mask_meta_copy (const GstCclMaskMeta * meta)
{
  GstCclMaskMeta *copy;

  g_return_val_if_fail (meta != NULL, NULL);

  copy = g_new (GstCclMaskMeta, 1);
  *copy = *meta;
  copy->meta.flags = GST_META_FLAG_NONE;
  if (copy->mask != NULL)
    gst_buffer_ref (copy->mask);
  return copy;
}

/**
 * gst_ccl_mask_meta_free:
 * @meta: (transfer full): the result of gst_ccl_mask_meta_copy()
 *
 * Frees a copy.
 *
 * Since: 0.1
 */
void
gst_ccl_mask_meta_free (GstCclMaskMeta * meta)
{
  g_return_if_fail (meta != NULL);

  gst_clear_buffer (&meta->mask);
  g_free (meta);
}

/**
 * gst_ccl_mask_meta_get_mask:
 * @meta: a mask meta
 *
 * Gets the mask.
 *
 * Returns: (transfer full) (nullable): the mask, GRAY8 with a #GstVideoMeta
 *
 * Since: 0.1
 */
GstBuffer *
gst_ccl_mask_meta_get_mask (const GstCclMaskMeta * meta)
{
  g_return_val_if_fail (meta != NULL, NULL);

  return meta->mask != NULL ? gst_buffer_ref (meta->mask) : NULL;
}

/**
 * gst_ccl_mask_meta_get_source:
 * @meta: a mask meta
 *
 * Gets the name of the element that attached the meta.
 *
 * Returns: (transfer none) (nullable): the name; %NULL when not known
 *
 * Since: 0.1
 */
const gchar *
gst_ccl_mask_meta_get_source (const GstCclMaskMeta * meta)
{
  g_return_val_if_fail (meta != NULL, NULL);

  return g_quark_to_string (meta->source);
}

/**
 * gst_ccl_mask_meta_map_point:
 * @meta: a mask meta
 * @x: (inout): column, in the mask before and in the frame after
 * @y: (inout): row
 *
 * Maps a point of the mask to the frame; see gst_ccl_blob_meta_map_point().
 *
 * Since: 0.1
 */
void
gst_ccl_mask_meta_map_point (const GstCclMaskMeta * meta, gdouble * x, gdouble * y)
{
  g_return_if_fail (meta != NULL && x != NULL && y != NULL);

  gst_ccl_matrix_map (meta->matrix, x, y);
}
