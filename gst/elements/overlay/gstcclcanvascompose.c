/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A canvas as overlay rectangles beside a frame. */

#include "gstcclcanvasprivate.h"

#include <string.h>

static GstVideoOverlayRectangle *
copy_region (GstCclCanvas * canvas, const GstVideoRectangle * r)
{
  const gsize size = 4 * (gsize) r->w * r->h;
  guint8 *const pixels = g_try_malloc (size);   /* the allocator of GStreamer ends the program without memory */
  GstVideoOverlayRectangle *rectangle;
  GstBuffer *buffer;

  if (!pixels)
    return NULL;
  for (gint y = 0; y < r->h; y++)
    memcpy (pixels + (gsize) 4 * y * r->w, canvas->pixels + (gsize) (r->y + y) * canvas->stride + 4 * r->x, 4 * r->w);
  buffer = gst_buffer_new_wrapped (pixels, size);
  gst_buffer_add_video_meta (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_OVERLAY_COMPOSITION_FORMAT_RGB, r->w, r->h);
  rectangle = gst_video_overlay_rectangle_new_raw (buffer, r->x, r->y, r->w, r->h,
      GST_VIDEO_OVERLAY_FORMAT_FLAG_PREMULTIPLIED_ALPHA);
  gst_buffer_unref (buffer);
  return rectangle;
}

GstVideoOverlayComposition *
gst_ccl_canvas_compose (GstCclCanvas * canvas, GstVideoOverlayComposition * under, guint64 * pixels)
{
  const GstCclVector *const regions = gst_ccl_canvas_find_regions (canvas, GST_CCL_CANVAS_RECTANGLES);
  GstVideoOverlayComposition *composition = under ? gst_video_overlay_composition_make_writable (under) : NULL;

  cairo_surface_flush (canvas->surface);
  for (guint i = 0; i < regions->len; i++) {
    const GstVideoRectangle *const r = gst_ccl_vector_at (regions, GstVideoRectangle, i);
    GstVideoOverlayRectangle *const rectangle = copy_region (canvas, r);

    if (!rectangle)
      continue;
    if (composition)
      gst_video_overlay_composition_add_rectangle (composition, rectangle);
    else
      composition = gst_video_overlay_composition_new (rectangle);
    gst_video_overlay_rectangle_unref (rectangle);
    *pixels += (guint64) r->w * r->h;
  }
  return composition;
}
