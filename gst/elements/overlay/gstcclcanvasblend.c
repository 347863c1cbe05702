/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A canvas blended into a frame. */

#include "gstcclcanvasprivate.h"

#include <math.h>

#include "analysis/blend.h"
#include "ccl.h"

gboolean
gst_ccl_canvas_can_blend (const GstVideoInfo * info)
{
  const GstVideoFormatInfo *const format = info->finfo;

  /* With alternating fields a buffer is half as high as its caps say. */
  return format && format->pack_func && format->unpack_func && GST_VIDEO_FORMAT_INFO_FORMAT (format) !=
      GST_VIDEO_FORMAT_ENCODED && GST_VIDEO_INFO_WIDTH (info) > 0 && GST_VIDEO_INFO_HEIGHT (info) > 0
      && GST_VIDEO_INFO_INTERLACE_MODE (info) != GST_VIDEO_INTERLACE_MODE_ALTERNATE;
}

/* Whether a part of a frame can be addressed like a frame. Not if pixels are packed in groups or tiles. */
static gboolean
can_crop (const GstVideoFormatInfo * format)
{
  if (GST_VIDEO_FORMAT_INFO_IS_TILED (format) || GST_VIDEO_FORMAT_INFO_IS_COMPLEX (format)
      || GST_VIDEO_FORMAT_INFO_HAS_PALETTE (format))
    return FALSE;
  for (guint i = 0; i < GST_VIDEO_FORMAT_INFO_N_COMPONENTS (format); i++)
    if (GST_VIDEO_FORMAT_INFO_PSTRIDE (format, i) <= 0)
      return FALSE;
  return TRUE;
}

static GstVideoFrame
crop_frame (const GstVideoFrame * frame, const GstVideoRectangle * r)
{
  const GstVideoFormatInfo *const format = frame->info.finfo;
  GstVideoFrame part = *frame;
  guint done = 0;

  part.info.width = r->w;
  part.info.height = r->h;
  for (guint i = 0; i < GST_VIDEO_FORMAT_INFO_N_COMPONENTS (format); i++) {
    const guint plane = GST_VIDEO_FORMAT_INFO_PLANE (format, i);

    if (done & (1 << plane))
      continue;
    done |= 1 << plane;
    part.data[plane] = (guint8 *) frame->data[plane]
        + (gssize) GST_VIDEO_FORMAT_INFO_SCALE_HEIGHT (format, i, r->y) * GST_VIDEO_FRAME_PLANE_STRIDE (frame, plane)
        + (gssize) GST_VIDEO_FORMAT_INFO_SCALE_WIDTH (format, i, r->x) * GST_VIDEO_FORMAT_INFO_PSTRIDE (format, i);
  }
  return part;
}

/* The canvas as a mapped frame. */
static GstVideoFrame
as_frame (GstCclCanvas * canvas)
{
  GstVideoFrame frame = { 0 };

  gst_video_info_set_format (&frame.info, GST_VIDEO_OVERLAY_COMPOSITION_FORMAT_RGB, canvas->width, canvas->height);
  frame.info.stride[0] = canvas->stride;
  frame.info.flags |= GST_VIDEO_FLAG_PREMULTIPLIED_ALPHA;
  frame.data[0] = canvas->pixels;
  return frame;
}

/* gst_video_blend() converts whole lines of its target, so the target is no larger than the region. */
static void
blend_by_conversion (GstCclCanvas * canvas, GstVideoFrame * frame, const GstVideoRectangle * r)
{
  const GstVideoFrame picture = as_frame (canvas);
  GstVideoFrame from = crop_frame (&picture, r);

  if (can_crop (frame->info.finfo)) {
    GstVideoFrame into = crop_frame (frame, r);
    gst_video_blend (&into, &from, 0, 0, 1);
  } else {
    gst_video_blend (frame, &from, r->x, r->y, 1);
  }
}

/* Whether each component of more than 8 bits has a 16-bit number of its own, in native byte order. Formats that pack several
 * components into one number have the same description, so the names decide. */
static gboolean
has_16_bit_components (GstVideoFormat format)
{
  switch (format) {
#if G_BYTE_ORDER == G_LITTLE_ENDIAN
    case GST_VIDEO_FORMAT_GBR_10LE:
    case GST_VIDEO_FORMAT_GBR_12LE:
    case GST_VIDEO_FORMAT_GRAY16_LE:
    case GST_VIDEO_FORMAT_I420_10LE:
    case GST_VIDEO_FORMAT_I420_12LE:
    case GST_VIDEO_FORMAT_I422_10LE:
    case GST_VIDEO_FORMAT_I422_12LE:
    case GST_VIDEO_FORMAT_P010_10LE:
    case GST_VIDEO_FORMAT_P012_LE:
    case GST_VIDEO_FORMAT_P016_LE:
    case GST_VIDEO_FORMAT_Y444_10LE:
    case GST_VIDEO_FORMAT_Y444_12LE:
    case GST_VIDEO_FORMAT_Y444_16LE:
      return TRUE;
#endif
    default:
      return FALSE;
  }
}

/* Whether pixels have four bytes, with an alpha that is not premultiplied. */
static gboolean
has_simple_alpha (const GstVideoInfo * info)
{
  const GstVideoFormatInfo *const format = info->finfo;

  for (guint i = 0; i < 4; i++)
    if (GST_VIDEO_FORMAT_INFO_N_COMPONENTS (format) != 4 || GST_VIDEO_FORMAT_INFO_PLANE (format, i) != 0
        || GST_VIDEO_FORMAT_INFO_PSTRIDE (format, i) != 4)
      return FALSE;
  return !(GST_VIDEO_INFO_FLAGS (info) & GST_VIDEO_FLAG_PREMULTIPLIED_ALPHA);
}

/* Whether ccl_blend() can write this format. It can write all common formats. */
static gboolean
can_blend_directly (const GstVideoInfo * info)
{
  const GstVideoFormatInfo *const format = info->finfo;

  if (!can_crop (format) || (GST_VIDEO_FORMAT_INFO_HAS_ALPHA (format) && !has_simple_alpha (info))
      || !(GST_VIDEO_FORMAT_INFO_IS_YUV (format) || GST_VIDEO_FORMAT_INFO_IS_RGB (format)
          || GST_VIDEO_FORMAT_INFO_IS_GRAY (format)))
    return FALSE;
  for (guint i = 0; i < GST_VIDEO_FORMAT_INFO_N_COMPONENTS (format); i++)
    if (GST_VIDEO_FORMAT_INFO_W_SUB (format, i) > 2 || GST_VIDEO_FORMAT_INFO_H_SUB (format, i) > 2
        || ((GST_VIDEO_FORMAT_INFO_DEPTH (format, i) != 8 || GST_VIDEO_FORMAT_INFO_SHIFT (format, i) != 0)
            && !has_16_bit_components (GST_VIDEO_FORMAT_INFO_FORMAT (format))))
      return FALSE;
  return TRUE;
}

/* The factors from red, green, blue and alpha to component `c`, by the colorimetry of the frame. */
static void
set_factors (CclBlendTarget * target, const GstVideoInfo * info, guint c)
{
  const gdouble max = (1 << GST_VIDEO_FORMAT_INFO_DEPTH (info->finfo, c)) - 1;
  gdouble factors[4] = { (c == 0) * max / 255, (c == 1) * max / 255, (c == 2) * max / 255, 0 };      /* RGB */

  if (!GST_VIDEO_INFO_IS_RGB (info)) {
    gint offset[GST_VIDEO_MAX_COMPONENTS], scale[GST_VIDEO_MAX_COMPONENTS];
    gdouble kr, kb;

    if (!gst_video_color_matrix_get_Kr_Kb (info->colorimetry.matrix, &kr, &kb))
      gst_video_color_matrix_get_Kr_Kb (GST_VIDEO_COLOR_MATRIX_BT601, &kr, &kb);
    const gdouble luma[3] = { kr, 1 - kr - kb, kb };

    gst_video_color_range_offsets (info->colorimetry.range, info->finfo, offset, scale);
    for (guint i = 0; i < 3; i++) {
      const gdouble chroma = c == 1 ? ((i == 2) - luma[i]) / (2 - 2 * kb) : ((i == 0) - luma[i]) / (2 - 2 * kr);
      factors[i] = (c == 0 ? luma[i] : chroma) * scale[c] / 255;
    }
    factors[3] = offset[c] / 255.0;
  }
  target->red = (gint32) floor (factors[0] * 65536 + 0.5);
  target->green = (gint32) floor (factors[1] * 65536 + 0.5);
  target->blue = (gint32) floor (factors[2] * 65536 + 0.5);
  target->alpha = (gint32) floor (factors[3] * 65536 + 0.5);
}

/* The offset of component `c` in a pixel, in bytes. For P010 and similar formats GStreamer gives V an offset of one byte after
 * U, but it is two. */
static guint
offset_of (const GstVideoFormatInfo * format, guint c)
{
  if (has_16_bit_components (GST_VIDEO_FORMAT_INFO_FORMAT (format)) && GST_VIDEO_FORMAT_INFO_PSTRIDE (format, c) == 4)
    return c == 2 ? 2 : 0;
  return GST_VIDEO_FORMAT_INFO_POFFSET (format, c);
}

static guint
set_targets (CclBlendTarget * targets, const GstVideoFrame * frame)
{
  const GstVideoFormatInfo *const format = frame->info.finfo;
  const guint n = GST_VIDEO_FORMAT_INFO_N_COMPONENTS (format);

  for (guint c = 0; c < n; c++) {
    targets[c] = (CclBlendTarget) {
      .data = (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (frame, GST_VIDEO_FORMAT_INFO_PLANE (format, c))
          + offset_of (format, c),
      .stride = GST_VIDEO_FRAME_COMP_STRIDE (frame, c),
      .step = GST_VIDEO_FRAME_COMP_PSTRIDE (frame, c),.place = offset_of (format, c),
      .depth = GST_VIDEO_FORMAT_INFO_DEPTH (format, c),.low = GST_VIDEO_FORMAT_INFO_SHIFT (format, c),
      .shift_x = GST_VIDEO_FORMAT_INFO_W_SUB (format, c),.shift_y = GST_VIDEO_FORMAT_INFO_H_SUB (format, c),
    };
    if (c < 3)                  /* alpha has none */
      set_factors (&targets[c], &frame->info, c);
  }
  return n;
}

/* Regions are passed to ccl_blend() unchanged; their numbers are not negative. */
G_STATIC_ASSERT (sizeof (CclBlendArea) == sizeof (GstVideoRectangle));
G_STATIC_ASSERT (G_STRUCT_OFFSET (CclBlendArea, width) == G_STRUCT_OFFSET (GstVideoRectangle, w));

static void
blend_directly (GstCclCanvas * canvas, GstVideoFrame * frame, const GstCclVector * regions)
{
  const CclDrawing drawing = {
    .pixels = (const guint32 *) canvas->pixels,.stride = canvas->stride / 4,.cpu_flags = CCL_CPU_ALL
  };
  CclBlendTarget targets[GST_VIDEO_MAX_COMPONENTS];

  ccl_blend (&drawing, (const CclBlendArea *) regions->data, regions->len, targets, set_targets (targets, frame));
}

guint64
gst_ccl_canvas_blend (GstCclCanvas * canvas, GstVideoFrame * frame)
{
  const GstCclVector *const regions = gst_ccl_canvas_find_regions (canvas, G_MAXUINT);
  const gboolean directly = can_blend_directly (&frame->info);
  guint64 pixels = 0;

  cairo_surface_flush (canvas->surface);
  if (directly)
    blend_directly (canvas, frame, regions);
  for (guint i = 0; i < regions->len; i++) {
    const GstVideoRectangle *const r = gst_ccl_vector_at (regions, GstVideoRectangle, i);

    if (!directly)
      blend_by_conversion (canvas, frame, r);
    pixels += (guint64) r->w * r->h;
  }
  return pixels;
}
