/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclmask.h"

#include "gstcclcuda.h"
#include "gstccldevice.h"
#include "gstcclpinned.h"

/* A video meta of another element can have any number as its format. */
static const gchar *
name_of_format (GstVideoFormat format)
{
  const gchar *const name = format != GST_VIDEO_FORMAT_UNKNOWN ? gst_video_format_to_string (format) : NULL;

  return name ? name : "of unknown format";
}

static gboolean
check_meta (const GstVideoMeta * meta, const GstVideoInfo * info, guint plane, GError ** error)
{
  if (meta->format == GST_VIDEO_INFO_FORMAT (info) && meta->n_planes > plane && meta->width >= (guint) info->width
      && meta->height >= (guint) info->height && meta->stride[plane] > 0)
    return TRUE;
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "The buffer's video meta says %ux%u %s with %u planes and stride %d, the caps say %dx%d %s.", meta->width,
      meta->height, name_of_format (meta->format), meta->n_planes, meta->stride[MIN (plane, GST_VIDEO_MAX_PLANES - 1)],
      info->width, info->height, gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (info)));
  return FALSE;
}

/* The plane as a video meta describes it; size: bytes from data to the end of what is mapped. */
static gboolean
map_with_meta (GstCclMaskView * view, gsize * size)
{
  gpointer data;
  gint stride;

  if (!gst_video_meta_map (view->meta, view->plane, &view->map, &data, &stride, GST_MAP_READ))
    return FALSE;
  view->mask.data = data;
  view->mask.stride = stride;
  /* A meta with a map function of its own, such as that of gstreamer-vaapi, may not report the memory. */
  *size = view->map.data ? (gsize) (view->map.data + view->map.size - (guint8 *) data) : G_MAXSIZE;
  return TRUE;
}

/* The plane at the offset of the caps. Only the memories that contain it are mapped, so that a buffer with a memory per plane
 * is not merged. */
static gboolean
map_with_info (GstCclMaskView * view, const GstVideoInfo * info, gsize * size)
{
  const gsize stride = view->mask.stride, row = (gsize) view->mask.width * view->mask.pixel_size;
  guint index, length;
  gsize skip;

  if (!gst_buffer_find_memory (view->buffer, GST_VIDEO_INFO_PLANE_OFFSET (info, view->plane),
          stride * (info->height - 1) + row, &index, &length, &skip)
      || !gst_buffer_map_range (view->buffer, index, length, &view->map, GST_MAP_READ))
    return FALSE;
  view->mask.data = view->map.data + skip;
  *size = view->map.size - skip;
  return TRUE;
}

/* Our own device memory, whose layout is in the video meta only. */
static gboolean
map_on_device (GstCclMaskView * view, GstMemory * memory, gsize * size)
{
  if (!gst_memory_map (memory, &view->map, (GstMapFlags) (GST_MAP_READ | GST_CCL_MAP_DEVICE)))
    return FALSE;
  view->memory = memory;
  view->mask.data = view->map.data;
  view->mask.memory = CCL_MEMORY_DEVICE;
  if (view->meta)
    view->mask.stride = view->meta->stride[0];
  *size = view->map.size;
  return TRUE;
}

static gboolean
fail_too_small (const GstCclMaskView * view, const GstVideoInfo * info, gsize size, GError ** error)
{
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "The buffer is smaller than its caps say: %" G_GSIZE_FORMAT " bytes with stride %" G_GSIZE_FORMAT
      " for a %dx%d %s frame.", size, view->mask.stride, info->width, info->height,
      gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (info)));
  return FALSE;
}

static void
choose_component (GstCclMaskView * view, const GstVideoInfo * info, guint component)
{
  view->plane = GST_VIDEO_INFO_COMP_PLANE (info, component);
  view->mask.stride = GST_VIDEO_INFO_COMP_STRIDE (info, component);
  view->mask.pixel_size = GST_VIDEO_INFO_COMP_PSTRIDE (info, component);
}

static gboolean
map_view (GstCclMaskView * view, GstBuffer * buffer, const GstVideoInfo * info, guint component, gboolean on_device,
    GError ** error)
{
  GstMemory *const memory = gst_buffer_n_memory (buffer) ? gst_buffer_peek_memory (buffer, 0) : NULL;
  const gboolean is_ours = memory && gst_ccl_is_device_memory (memory);
  const gboolean is_cuda = memory && (is_ours || gst_ccl_cuda_is_memory (memory));
  const gsize row = (gsize) info->width * GST_VIDEO_INFO_COMP_PSTRIDE (info, component);
  gsize size = 0;
  gboolean mapped;

  *view = (GstCclMaskView) {
    .mask = {
      .stride = GST_VIDEO_INFO_PLANE_STRIDE (info, 0),
      .width = info->width, .height = info->height, .pixel_size = GST_VIDEO_INFO_COMP_PSTRIDE (info, 0),
    },
    .path = is_cuda ? on_device ? "cuda-memory" : "cuda-memory-downloaded" : "system",
    .meta = gst_buffer_get_video_meta (buffer),
    .buffer = buffer,
  };

  choose_component (view, info, component);
  if (view->meta && !check_meta (view->meta, info, view->plane, error))
    return FALSE;
  if (!view->meta && !is_cuda && gst_buffer_get_size (buffer) < GST_VIDEO_INFO_SIZE (info))
    return fail_too_small (view, info, gst_buffer_get_size (buffer), error);

  if (is_ours && on_device) {
    mapped = map_on_device (view, memory, &size);
  } else if (is_cuda && on_device) {
    view->memory = memory;
    mapped = gst_ccl_cuda_map (memory, &view->map, &view->mask, &size);
  } else if (view->meta) {
    mapped = map_with_meta (view, &size);
  } else {
    mapped = map_with_info (view, info, &size);
  }
  if (!mapped) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        "The buffer of %" G_GSIZE_FORMAT " bytes cannot be mapped for reading.", gst_buffer_get_size (buffer));
    return FALSE;
  }
  if (view->mask.stride < row || size < view->mask.stride * (info->height - 1) + row) {
    gst_ccl_mask_view_unmap (view);
    return fail_too_small (view, info, size, error);
  }

  /* Not the first memory of the buffer, because mapping may have merged it with others into one that is not pinned. */
  if (view->mask.memory == CCL_MEMORY_HOST && view->map.memory && gst_ccl_is_pinned_memory (view->map.memory)) {
    view->mask.memory = CCL_MEMORY_PINNED;
    view->path = "pinned";
  }
  return TRUE;
}

gboolean
gst_ccl_mask_view_map (GstCclMaskView * view, GstBuffer * buffer, const GstVideoInfo * info, guint component,
    gboolean on_device, GError ** error)
{
  const gboolean is_mapped = map_view (view, buffer, info, component, on_device, error);

  if (!is_mapped)
    view->buffer = NULL;        /* nothing to unmap */
  return is_mapped;
}

void
gst_ccl_mask_view_unmap (GstCclMaskView * view)
{
  if (!view->buffer)
    return;
  if (view->memory)
    gst_memory_unmap (view->memory, &view->map);
  else if (view->meta)
    gst_video_meta_unmap (view->meta, view->plane, &view->map);
  else
    gst_buffer_unmap (view->buffer, &view->map);
  view->buffer = NULL;
}
