/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclpicture.h"

#include <string.h>

static gboolean
is_identity (const gdouble matrix[9])
{
  for (gint i = 0; i < 9; i++)
    if (!(matrix[i] >= (i % 4 == 0) && matrix[i] <= (i % 4 == 0))) /* also of NaN */
      return FALSE;
  return TRUE;
}

/* The formats of ccllabel's caps all have planes of luma and chroma. */
static gboolean
check (const GstVideoInfo * info, const GstCclFoundMask * mask, GError ** error)
{
  if (mask->info.width != info->width || mask->info.height != info->height || !is_identity (mask->matrix)) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "Intensity needs a mask with the pixels of the frame: the mask has %dx%d, the frame %dx%d.", mask->info.width,
        mask->info.height, info->width, info->height);
    return FALSE;
  }
  return TRUE;
}

/* A video meta can describe more bytes than its buffer has. One with a map function of its own may not report the memory. */
static gboolean
is_inside (const GstVideoFrame * frame, guint component)
{
  const guint plane = GST_VIDEO_FRAME_COMP_PLANE (frame, component);
  const GstMapInfo *const map = &frame->map[frame->meta ? plane : 0];
  const gint stride = GST_VIDEO_FRAME_PLANE_STRIDE (frame, plane);
  const gsize row =
      (GST_VIDEO_FRAME_COMP_WIDTH (frame, component) - 1) * (gsize) GST_VIDEO_FRAME_COMP_PSTRIDE (frame, component)
      + (GST_VIDEO_FORMAT_INFO_BITS (frame->info.finfo) > 8 ? 2 : 1);
  const guint8 *const data = GST_VIDEO_FRAME_COMP_DATA (frame, component);

  return stride > 0 && (gsize) stride >= row && (!map->data
      || (gsize) stride * (GST_VIDEO_FRAME_COMP_HEIGHT (frame, component) - 1) + row
      <= (gsize) (map->data + map->size - data));
}

static gboolean
check_plane (const GstVideoFrame * frame, guint component, GError ** error)
{
  const guint plane = GST_VIDEO_FRAME_COMP_PLANE (frame, component);

  if (is_inside (frame, component))
    return TRUE;
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "Intensity cannot be measured: plane %u, with %d rows and a stride of %d bytes, is not inside the buffer.", plane,
      GST_VIDEO_FRAME_COMP_HEIGHT (frame, component), GST_VIDEO_FRAME_PLANE_STRIDE (frame, plane));
  return FALSE;
}

/* The core has one stride for both planes of chroma. */
static gboolean
check_chroma (const GstVideoFrame * frame, GError ** error)
{
  const gint u = GST_VIDEO_FRAME_COMP_STRIDE (frame, GST_VIDEO_COMP_U);
  const gint v = GST_VIDEO_FRAME_COMP_STRIDE (frame, GST_VIDEO_COMP_V);

  if (u != v)
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "Intensity needs one stride for both planes of chroma: the buffer's video meta says %d and %d bytes.", u, v);
  return u == v && check_plane (frame, GST_VIDEO_COMP_U, error) && check_plane (frame, GST_VIDEO_COMP_V, error);
}

static gboolean
use_planes (CclPicture * picture, const GstVideoFrame * frame, GError ** error)
{
  const GstVideoFormatInfo *const format = frame->info.finfo;
  const guint size = GST_VIDEO_FORMAT_INFO_BITS (format) > 8 ? 2 : 1;

  *picture = (CclPicture) {
  .luma = GST_VIDEO_FRAME_COMP_DATA (frame, GST_VIDEO_COMP_Y),.stride =
        GST_VIDEO_FRAME_COMP_STRIDE (frame, GST_VIDEO_COMP_Y),.sample_size = size,};
  if (!check_plane (frame, GST_VIDEO_COMP_Y, error))
    return FALSE;
  if (GST_VIDEO_FORMAT_INFO_IS_GRAY (format))
    return TRUE;
  picture->chroma[0] = GST_VIDEO_FRAME_COMP_DATA (frame, GST_VIDEO_COMP_U);
  picture->chroma[1] = GST_VIDEO_FRAME_COMP_DATA (frame, GST_VIDEO_COMP_V);
  picture->chroma_stride = GST_VIDEO_FRAME_COMP_STRIDE (frame, GST_VIDEO_COMP_U);
  picture->chroma_step = GST_VIDEO_FRAME_COMP_PSTRIDE (frame, GST_VIDEO_COMP_U) / size;
  picture->shift_x = GST_VIDEO_FORMAT_INFO_W_SUB (format, GST_VIDEO_COMP_U);
  picture->shift_y = GST_VIDEO_FORMAT_INFO_H_SUB (format, GST_VIDEO_COMP_U);
  return check_chroma (frame, error);
}

/* FALSE: the memory cannot be mapped so, or is not as the caps say. The frame is downloaded then. */
static gboolean
map_on_device (GstCclPictureView * view, GstMemory * memory, const GstVideoInfo * info)
{
  GstVideoFrame *const frame = &view->frame;
  gpointer stream;

  memset (frame, 0, sizeof *frame);
  if (!gst_ccl_cuda_map_planes (memory, &frame->map[0], &frame->info, &stream))
    return FALSE;
  view->memory = memory;
  view->is_mapped = TRUE;
  for (guint i = 0; i < GST_VIDEO_INFO_N_PLANES (&frame->info); i++)
    frame->data[i] = frame->map[0].data + GST_VIDEO_INFO_PLANE_OFFSET (&frame->info, i);
  if (frame->info.finfo == info->finfo && frame->info.width == info->width && frame->info.height == info->height
      && use_planes (&view->picture, frame, NULL)) {
    view->picture.memory = CCL_MEMORY_DEVICE;
    view->picture.producer_stream = stream;
    return TRUE;
  }
  gst_ccl_picture_view_unmap (view);
  return FALSE;
}

static gboolean
try_device (GstCclPictureView * view, GstBuffer * buffer, const GstVideoInfo * info, const GstCclCuda * cuda)
{
  GstMemory *const memory = cuda && gst_buffer_n_memory (buffer) == 1 ? gst_buffer_peek_memory (buffer, 0) : NULL;

  return memory && gst_ccl_cuda_is_memory (memory) && gst_ccl_cuda_can_read (cuda, memory)
      && map_on_device (view, memory, info);
}

gboolean
gst_ccl_picture_view_map (GstCclPictureView * view, GstBuffer * buffer, const GstVideoInfo * info,
    const GstCclFoundMask * mask, const GstCclCuda * cuda, GError ** error)
{
  const GstMapFlags flags = (GstMapFlags) (GST_MAP_READ | GST_VIDEO_FRAME_MAP_FLAG_NO_REF);

  view->is_mapped = FALSE;
  view->memory = NULL;
  if (!check (info, mask, error))
    return FALSE;
  if (try_device (view, buffer, info, cuda))
    return TRUE;
  view->is_mapped = gst_video_frame_map (&view->frame, info, buffer, flags);
  if (!view->is_mapped) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        "The frame cannot be mapped to measure intensity: %" G_GSIZE_FORMAT " bytes.", gst_buffer_get_size (buffer));
    return FALSE;
  }
  if (use_planes (&view->picture, &view->frame, error))
    return TRUE;
  gst_ccl_picture_view_unmap (view);
  return FALSE;
}

void
gst_ccl_picture_view_unmap (GstCclPictureView * view)
{
  if (view->is_mapped && view->memory)
    gst_memory_unmap (view->memory, &view->frame.map[0]);
  else if (view->is_mapped)
    gst_video_frame_unmap (&view->frame);
  view->is_mapped = FALSE;
  view->memory = NULL;
}
