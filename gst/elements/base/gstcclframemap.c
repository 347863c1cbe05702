/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclframemap.h"

/* gst_video_frame_map() has these as assertions. */
static gboolean
is_usable (const GstVideoMeta * meta, const GstVideoInfo * info)
{
  return meta->format == GST_VIDEO_INFO_FORMAT (info) && meta->n_planes == GST_VIDEO_INFO_N_PLANES (info)
      && meta->width >= (guint) info->width && meta->height >= (guint) info->height
      && meta->width <= G_MAXINT && meta->height <= G_MAXINT;
}

/* Has each pixel its own bytes? Not in groups, tiles and palettes of pixels. */
static gboolean
has_plain_pixels (const GstVideoFormatInfo * format)
{
  for (guint i = 0; i < GST_VIDEO_FORMAT_INFO_N_COMPONENTS (format); i++)
    if (GST_VIDEO_FORMAT_INFO_PSTRIDE (format, i) <= 0)
      return FALSE;
  return !GST_VIDEO_FORMAT_INFO_IS_TILED (format) && !GST_VIDEO_FORMAT_INFO_IS_COMPLEX (format)
      && !GST_VIDEO_FORMAT_INFO_HAS_PALETTE (format);
}

/* Bytes from the start of a plane to the end of what is mapped. */
static gsize
size_of_plane (const GstVideoFrame * frame, guint plane)
{
  const GstMapInfo *const map = &frame->map[frame->meta ? plane : 0];

  /* A meta that maps by itself need not say what it has mapped. */
  return map->data ? (gsize) (map->data + map->size - (const guint8 *) frame->data[plane]) : G_MAXSIZE;
}

static gboolean
holds_component (const GstVideoFrame * frame, guint component)
{
  const guint plane = GST_VIDEO_FRAME_COMP_PLANE (frame, component);
  const gsize row = (gsize) GST_VIDEO_FRAME_COMP_WIDTH (frame, component)
      * (gsize) GST_VIDEO_FRAME_COMP_PSTRIDE (frame, component);
  const gsize n_rows = (gsize) GST_VIDEO_FRAME_COMP_HEIGHT (frame, component);
  const gint stride = GST_VIDEO_FRAME_PLANE_STRIDE (frame, plane);

  return stride > 0 && (gsize) stride >= row && size_of_plane (frame, plane) >= (gsize) stride *(n_rows - 1) + row;
}

/* Other layouts are accepted only as the caps have them. */
static gboolean
holds_plane_of_caps (const GstVideoFrame * frame, const GstVideoInfo * info, guint plane)
{
  const gsize end = plane + 1 < GST_VIDEO_INFO_N_PLANES (info) ? GST_VIDEO_INFO_PLANE_OFFSET (info, plane + 1)
      : GST_VIDEO_INFO_SIZE (info);

  return GST_VIDEO_FRAME_PLANE_STRIDE (frame, plane) == GST_VIDEO_INFO_PLANE_STRIDE (info, plane)
      && frame->info.width == info->width && frame->info.height == info->height
      && size_of_plane (frame, plane) >= end - GST_VIDEO_INFO_PLANE_OFFSET (info, plane);
}

static gboolean
is_complete (const GstVideoFrame * frame, const GstVideoInfo * info)
{
  const gboolean is_plain = has_plain_pixels (info->finfo);
  const guint n = is_plain ? GST_VIDEO_INFO_N_COMPONENTS (info) : GST_VIDEO_INFO_N_PLANES (info);

  for (guint i = 0; i < n; i++)
    if (is_plain ? !holds_component (frame, i) : !holds_plane_of_caps (frame, info, i))
      return FALSE;
  return TRUE;
}

gboolean
gst_ccl_frame_map (GstVideoFrame * frame, const GstVideoInfo * info, GstBuffer * buffer, GstMapFlags flags)
{
  const GstVideoMeta *const meta = gst_buffer_get_video_meta (buffer);

  if ((meta && !is_usable (meta, info)) || !gst_video_frame_map (frame, (GstVideoInfo *) info, buffer, flags))
    return FALSE;
  if (is_complete (frame, info))
    return TRUE;
  gst_video_frame_unmap (frame);
  return FALSE;
}
