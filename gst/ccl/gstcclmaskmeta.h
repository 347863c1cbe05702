/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_MASK_META_H__
#define __GST_CCL_MASK_META_H__

#include <gst/gst.h>
#include <gst/video/video.h>
#include <gst/ccl/ccl-prelude.h>

G_BEGIN_DECLS

/**
 * GstCclMaskMetaFlags:
 * @GST_CCL_MASK_META_FLAG_NONE: no flag
 * @GST_CCL_MASK_META_FLAG_LEARNING: the detector is still learning what the
 *   background is; the mask is empty
 * @GST_CCL_MASK_META_FLAG_GLOBAL_CHANGE: the whole picture changed (light, or
 *   the camera); the mask is empty and learning starts again
 *
 * State of the whole mask.
 */
typedef enum
{
  GST_CCL_MASK_META_FLAG_NONE = 0,
  GST_CCL_MASK_META_FLAG_LEARNING = (1 << 0),
  GST_CCL_MASK_META_FLAG_GLOBAL_CHANGE = (1 << 1),
} GstCclMaskMetaFlags;

typedef struct _GstCclMaskMeta GstCclMaskMeta;

/**
 * GstCclMaskMeta:
 * @meta: parent #GstMeta
 * @mask: the mask: one plane of %GST_VIDEO_FORMAT_GRAY8 with a #GstVideoMeta,
 *   0 for background, 255 for foreground; %NULL only in a new meta
 * @flags: #GstCclMaskMetaFlags
 * @ref_width: width of the mask, pixels
 * @ref_height: its height
 * @width: width of the frame the buffer holds now, pixels
 * @height: its height
 * @n_foreground: foreground pixels of the mask
 * @area_ratio: foreground over all pixels that are not ignored, 0 to 1
 * @source: name of the element that attached the meta, a quark; 0 when not known
 * @matrix: row-major 3x3 matrix that takes mask coordinates to coordinates of
 *   the current frame, as in #GstCclBlobMeta
 *
 * A mask beside the picture it was made of. Copies of the buffer share the
 * mask. Copying and scaling the frame (from GStreamer 1.28 on also cropping and
 * flipping) changes only @matrix, @width and @height.
 *
 * The mask may be in device memory. A plain map downloads it.
 */
struct _GstCclMaskMeta
{
  GstMeta meta;

  GstBuffer *mask;
  guint32 flags;
  guint ref_width;
  guint ref_height;
  guint width;
  guint height;
  guint64 n_foreground;
  gdouble area_ratio;
  GQuark source;
  gdouble matrix[9];

  /*< private >*/
  gpointer _gst_reserved[GST_PADDING];
};

#define GST_TYPE_CCL_MASK_META (gst_ccl_mask_meta_get_type ())
GST_CCL_API
GType gst_ccl_mask_meta_get_type (void);

/* Copies a meta. */
GST_CCL_API
GstCclMaskMeta *gst_ccl_mask_meta_copy (const GstCclMaskMeta * meta);

/* Frees a copy. */
GST_CCL_API
void gst_ccl_mask_meta_free (GstCclMaskMeta * meta);

GST_CCL_API
GType gst_ccl_mask_meta_api_get_type (void);
#define GST_CCL_MASK_META_API_TYPE (gst_ccl_mask_meta_api_get_type ())

/* Gets the #GstMetaInfo. */
GST_CCL_API
const GstMetaInfo *gst_ccl_mask_meta_get_info (void);
#define GST_CCL_MASK_META_INFO (gst_ccl_mask_meta_get_info ())

/* Adds a meta whose matrix stretches the mask over the frame and whose other fields are 0. */
GST_CCL_API
GstCclMaskMeta *gst_buffer_add_ccl_mask_meta (GstBuffer * buffer, GstBuffer * mask, guint width, guint height);

/* Gets the mask of a frame. */
GST_CCL_API
GstCclMaskMeta *gst_buffer_get_ccl_mask_meta (GstBuffer * buffer);

/* Copies the meta that gst_buffer_get_ccl_mask_meta() gets. */
GST_CCL_API
GstCclMaskMeta *gst_buffer_dup_ccl_mask_meta (GstBuffer * buffer);

/* Gets the mask. */
GST_CCL_API
GstBuffer *gst_ccl_mask_meta_get_mask (const GstCclMaskMeta * meta);

/* Gets the name of the element that attached the meta. */
GST_CCL_API
const gchar *gst_ccl_mask_meta_get_source (const GstCclMaskMeta * meta);

/* Maps a point of the mask to the frame; see gst_ccl_blob_meta_map_point(). */
GST_CCL_API
void gst_ccl_mask_meta_map_point (const GstCclMaskMeta * meta, gdouble * x, gdouble * y);

G_END_DECLS

#endif
