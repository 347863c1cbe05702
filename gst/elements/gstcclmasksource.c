/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclmasksource.h"

#include <string.h>

#include <gst/ccl/gstcclblobmeta.h>
#include <gst/ccl/gstcclmaskmeta.h>

#include "gstcclenums.h"

#ifdef HAVE_GST_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

static void
use_frame (const GstVideoInfo * info, GstCclFoundMask * found)
{
  *found = (GstCclFoundMask) {.info = *info,.matrix = {1, 0, 0, 0, 1, 0, 0, 0, 1} };
}

/* A mask in a buffer of its own, described by its video meta. */
static void
use_buffer (GstBuffer * mask, GstVideoFormat format, guint width, guint height, GstCclFoundMask * found)
{
  *found = (GstCclFoundMask) {.buffer = gst_buffer_ref (mask),.matrix = {1, 0, 0, 0, 1, 0, 0, 0, 1} };
  gst_video_info_set_format (&found->info, format, width, height);
}

static gboolean
find_mask_meta (GstBuffer * buffer, GstCclFoundMask * found)
{
  const GstCclMaskMeta *const meta = gst_buffer_get_ccl_mask_meta (buffer);

  if (!meta || !meta->mask)
    return FALSE;
  use_buffer (meta->mask, GST_VIDEO_FORMAT_GRAY8, meta->ref_width, meta->ref_height, found);
  memcpy (found->matrix, meta->matrix, sizeof found->matrix);
  if (meta->flags & GST_CCL_MASK_META_FLAG_GLOBAL_CHANGE)
    found->flags |= GST_CCL_BLOB_META_FLAG_GLOBAL_CHANGE;
  return TRUE;
}

/* The first segmentation of the frame; pixels of region 0 are background. */
static gboolean
find_segmentation (GstBuffer * buffer, GstCclFoundMask * found)
{
#if defined HAVE_GST_ANALYTICS && GST_CHECK_VERSION (1, 26, 0)
  GstAnalyticsRelationMeta *const relations = gst_buffer_get_analytics_relation_meta (buffer);
  GstAnalyticsSegmentationMtd segmentation;
  gpointer state = NULL;

  while (relations && gst_analytics_relation_meta_iterate (relations, &state, gst_analytics_segmentation_mtd_get_mtd_type
          (), &segmentation)) {
    gint x = 0, y = 0;
    guint width = 0, height = 0;
    GstBuffer *const mask = gst_analytics_segmentation_mtd_get_mask (&segmentation, &x, &y, &width, &height);
    const GstVideoMeta *const layout = mask ? gst_buffer_get_video_meta (mask) : NULL;
    const gboolean usable = layout && layout->width && layout->height && width && height
        && (layout->format == GST_VIDEO_FORMAT_GRAY8 || layout->format == GST_VIDEO_FORMAT_GRAY16_LE);

    if (usable) {
      use_buffer (mask, layout->format, layout->width, layout->height, found);
      found->matrix[0] = (gdouble) width / layout->width;
      found->matrix[2] = x;
      found->matrix[4] = (gdouble) height / layout->height;
      found->matrix[5] = y;
    }
    gst_clear_buffer ((GstBuffer **) & mask);
    if (usable)
      return TRUE;
  }
#else
  (void) buffer, (void) found;
#endif
  return FALSE;
}

gboolean
gst_ccl_mask_source_find (gint source, GstBuffer * buffer, const GstVideoInfo * info, GstCclFoundMask * found)
{
  switch (source) {
    case GST_CCL_MASK_SOURCE_MASK_META:
      return find_mask_meta (buffer, found);
    case GST_CCL_MASK_SOURCE_SEGMENTATION_MTD:
      return find_segmentation (buffer, found);
    case GST_CCL_MASK_SOURCE_AUTO:
      if (find_mask_meta (buffer, found))
        return TRUE;
      break;
    default:
      break;
  }
  use_frame (info, found);
  return TRUE;
}
