/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclcanvas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/blend.h"
#include "ccl.h"

/* A line a few pixels wide should not make much more than itself dirty; a multiple of any chroma subsampling. */
#define TILE 8

struct _GstCclCanvas
{
  guint width, height, stride;
  guint8 *pixels;
  cairo_surface_t *surface;
  cairo_t *cairo;
  guint columns, rows;
  guint8 *tiles;                /* drawn on? */
  guint8 *coarse;               /* room for a map of larger tiles */
  guint *open;                  /* per column: 1 + index of the region that starts there and may grow downwards */
  GArray *regions;              /* of GstVideoRectangle, in pixels, inside the picture */
  gboolean empty;
};

GstCclCanvas *
gst_ccl_canvas_new (guint width, guint height)
{
  GstCclCanvas *canvas;

  if (width == 0 || height == 0 || width > 32767 || height > 32767)
    return NULL;
  canvas = g_new0 (GstCclCanvas, 1);
  canvas->width = width;
  canvas->height = height;
  canvas->stride = 4 * width;
  canvas->columns = (width + TILE - 1) / TILE;
  canvas->rows = (height + TILE - 1) / TILE;
  canvas->pixels = calloc (height, canvas->stride);     /* what is never drawn on stays virtual */
  canvas->tiles = calloc (canvas->rows, canvas->columns);
  canvas->coarse = calloc (canvas->rows, canvas->columns);
  canvas->open = calloc (canvas->columns, sizeof (guint));
  canvas->regions = g_array_new (FALSE, FALSE, sizeof (GstVideoRectangle));
  canvas->empty = TRUE;
  if (!canvas->pixels || !canvas->tiles || !canvas->coarse || !canvas->open) {
    gst_ccl_canvas_free (canvas);
    return NULL;
  }
  canvas->surface = cairo_image_surface_create_for_data (canvas->pixels, CAIRO_FORMAT_ARGB32, width, height,
      canvas->stride);
  canvas->cairo = cairo_create (canvas->surface);
  if (cairo_status (canvas->cairo) != CAIRO_STATUS_SUCCESS)
    g_clear_pointer (&canvas, gst_ccl_canvas_free);
  return canvas;
}

void
gst_ccl_canvas_free (GstCclCanvas * canvas)
{
  g_clear_pointer (&canvas->cairo, cairo_destroy);
  g_clear_pointer (&canvas->surface, cairo_surface_destroy);
  g_array_unref (canvas->regions);
  free (canvas->pixels);
  free (canvas->tiles);
  free (canvas->coarse);
  free (canvas->open);
  g_free (canvas);
}

guint
gst_ccl_canvas_get_width (const GstCclCanvas * canvas)
{
  return canvas->width;
}

guint
gst_ccl_canvas_get_height (const GstCclCanvas * canvas)
{
  return canvas->height;
}

cairo_t *
gst_ccl_canvas_get_cairo (GstCclCanvas * canvas)
{
  return canvas->cairo;
}

gboolean
gst_ccl_canvas_is_empty (const GstCclCanvas * canvas)
{
  return canvas->empty;
}

void
gst_ccl_canvas_touch (GstCclCanvas * canvas, gdouble x0, gdouble y0, gdouble x1, gdouble y1)
{
  guint left, right, bottom;

  /* Also FALSE of what is not a number. */
  if (!(x0 < canvas->width && y0 < canvas->height && x1 > 0 && y1 > 0 && x1 > x0 && y1 > y0))
    return;
  left = (guint) MAX (x0, 0) / TILE;
  /* Half open: what ends at the edge of a tile leaves the next one alone. */
  right = (guint) MIN (ceil (x1) - 1, canvas->width - 1) / TILE;
  bottom = (guint) MIN (ceil (y1) - 1, canvas->height - 1) / TILE;
  for (guint row = (guint) MAX (y0, 0) / TILE; row <= bottom; row++)
    memset (canvas->tiles + row * canvas->columns + left, 1, right - left + 1);
  canvas->empty = FALSE;
}

void
gst_ccl_canvas_touch_line (GstCclCanvas * canvas, gdouble x0, gdouble y0, gdouble x1, gdouble y1, gdouble radius)
{
  const gdouble dx = x1 - x0, dy = y1 - y0;
  guint n;

  if (!(fabs (x0) <= GST_CCL_CANVAS_FAR && fabs (y0) <= GST_CCL_CANVAS_FAR && fabs (x1) <= GST_CCL_CANVAS_FAR
          && fabs (y1) <= GST_CCL_CANVAS_FAR))
    return;
  /* An upright or level line is its own box. */
  n = MIN (fabs (dx), fabs (dy)) < 1 ? 1 : 1 + (guint) (MAX (fabs (dx), fabs (dy)) / TILE);
  for (guint i = 0; i < n; i++) {
    const gdouble ax = x0 + dx * i / n, ay = y0 + dy * i / n, bx = x0 + dx * (i + 1) / n, by = y0 + dy * (i + 1) / n;

    gst_ccl_canvas_touch (canvas, MIN (ax, bx) - radius, MIN (ay, by) - radius, MAX (ax, bx) + radius,
        MAX (ay, by) + radius);
  }
}

/* ---------------------------------------------------------------- regions */

static void
add_run (GstCclCanvas * canvas, guint row, guint start, guint end, guint tile)
{
  guint *const open = &canvas->open[start];
  const gint x = start * tile, y = row * tile;
  const gint width = MIN (end * tile, canvas->width) - x, height = MIN (tile, canvas->height - y);

  if (*open != 0) {
    GstVideoRectangle *const above = &g_array_index (canvas->regions, GstVideoRectangle, *open - 1);

    if (above->w == width && above->y + above->h == y) {
      above->h += height;
      return;
    }
  }
  g_array_append_val (canvas->regions, ((GstVideoRectangle) { x, y, width, height}));
  *open = canvas->regions->len;
}

static void
collect_regions (GstCclCanvas * canvas, const guint8 * tiles, guint columns, guint rows, guint tile)
{
  g_array_set_size (canvas->regions, 0);
  memset (canvas->open, 0, canvas->columns * sizeof (guint));
  for (guint row = 0; row < rows; row++) {
    const guint8 *const line = tiles + row * columns;
    const guint8 *set = memchr (line, 1, columns);

    while (set) {
      const guint start = set - line;
      const guint8 *const clear = memchr (set, 0, columns - start);
      const guint end = clear ? (guint) (clear - line) : columns;

      add_run (canvas, row, start, end, tile);
      set = memchr (line + end, 1, columns - end);
    }
  }
}

/* In place: a tile of the new map is set where one of four of the old one is. */
static void
coarsen (guint8 * tiles, guint * columns, guint * rows)
{
  const guint new_columns = (*columns + 1) / 2, new_rows = (*rows + 1) / 2;

  for (guint row = 0; row < new_rows; row++)
    for (guint column = 0; column < new_columns; column++) {
      guint8 set = 0;

      for (guint y = 2 * row; y < MIN (2 * row + 2, *rows); y++)
        for (guint x = 2 * column; x < MIN (2 * column + 2, *columns); x++)
          set |= tiles[y * *columns + x];
      tiles[row * new_columns + column] = set;
    }
  *columns = new_columns;
  *rows = new_rows;
}

/* Exactly the tiles, or at most `max` regions around them. */
static GArray *
find_regions (GstCclCanvas * canvas, guint max)
{
  guint columns = canvas->columns, rows = canvas->rows, tile = TILE;

  collect_regions (canvas, canvas->tiles, columns, rows, tile);
  if (canvas->regions->len <= max)
    return canvas->regions;
  memcpy (canvas->coarse, canvas->tiles, (gsize) columns * rows);
  while (canvas->regions->len > max && columns * rows > 1) {
    coarsen (canvas->coarse, &columns, &rows);
    tile *= 2;
    collect_regions (canvas, canvas->coarse, columns, rows, tile);
  }
  return canvas->regions;
}

void
gst_ccl_canvas_wipe (GstCclCanvas * canvas)
{
  const GArray *const regions = find_regions (canvas, G_MAXUINT);

  cairo_surface_flush (canvas->surface);
  for (guint i = 0; i < regions->len; i++) {
    const GstVideoRectangle r = g_array_index (regions, GstVideoRectangle, i);

    for (gint y = r.y; y < r.y + r.h; y++)
      memset (canvas->pixels + (gsize) y * canvas->stride + 4 * r.x, 0, 4 * r.w);
  }
  cairo_surface_mark_dirty (canvas->surface);
  memset (canvas->tiles, 0, (gsize) canvas->columns * canvas->rows);
  canvas->empty = TRUE;
}

/* ---------------------------------------------------------------- into a frame */

gboolean
gst_ccl_canvas_can_blend (const GstVideoInfo * info)
{
  const GstVideoFormatInfo *const format = info->finfo;

  /* Buffers that hold a field each are half as high as their caps say. */
  return format && format->pack_func && format->unpack_func && GST_VIDEO_FORMAT_INFO_FORMAT (format) !=
      GST_VIDEO_FORMAT_ENCODED && GST_VIDEO_INFO_WIDTH (info) > 0 && GST_VIDEO_INFO_HEIGHT (info) > 0
      && GST_VIDEO_INFO_INTERLACE_MODE (info) != GST_VIDEO_INTERLACE_MODE_ALTERNATE;
}

/* Can a part of a frame be addressed like a frame? Not where pixels are packed in groups, or tiles. */
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

/* The canvas as a frame that is mapped. */
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

/* gst_video_blend() converts whole lines of its target, so it is given no more than the region as one. */
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

/* Components of more than 8 bits, each by itself in a word of this machine's order. Formats that pack several into one
 * word describe themselves in the same terms, so these go by name. */
static gboolean
has_words (GstVideoFormat format)
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

/* Alpha in pixels of four bytes, which the other components are not multiplied by. */
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

/* What can be blended where it is: all that video in system memory usually is. */
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
            && !has_words (GST_VIDEO_FORMAT_INFO_FORMAT (format))))
      return FALSE;
  return TRUE;
}

/* What component `c` takes of red, green, blue and alpha, by the colorimetry of the frame. */
static void
set_factors (CclBlendTarget * target, const GstVideoInfo * info, guint c)
{
  const gdouble most = (1 << GST_VIDEO_FORMAT_INFO_DEPTH (info->finfo, c)) - 1;
  gdouble factors[4] = { (c == 0) * most / 255, (c == 1) * most / 255, (c == 2) * most / 255, 0 };      /* RGB */

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

/* In bytes, from the pixel on. What GStreamer says of P010 and its like is one byte behind U where V is two. */
static guint
place_of (const GstVideoFormatInfo * format, guint c)
{
  if (has_words (GST_VIDEO_FORMAT_INFO_FORMAT (format)) && GST_VIDEO_FORMAT_INFO_PSTRIDE (format, c) == 4)
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
          + place_of (format, c),
      .stride = GST_VIDEO_FRAME_COMP_STRIDE (frame, c),
      .step = GST_VIDEO_FRAME_COMP_PSTRIDE (frame, c),.place = place_of (format, c),
      .depth = GST_VIDEO_FORMAT_INFO_DEPTH (format, c),.low = GST_VIDEO_FORMAT_INFO_SHIFT (format, c),
      .shift_x = GST_VIDEO_FORMAT_INFO_W_SUB (format, c),.shift_y = GST_VIDEO_FORMAT_INFO_H_SUB (format, c),
    };
    if (c < 3)                  /* not of alpha */
      set_factors (&targets[c], &frame->info, c);
  }
  return n;
}

/* Regions are handed on as they are: of whole numbers that are not negative. */
G_STATIC_ASSERT (sizeof (CclBlendArea) == sizeof (GstVideoRectangle));
G_STATIC_ASSERT (G_STRUCT_OFFSET (CclBlendArea, width) == G_STRUCT_OFFSET (GstVideoRectangle, w));

static void
blend_directly (GstCclCanvas * canvas, GstVideoFrame * frame, const GArray * regions)
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
  const GArray *const regions = find_regions (canvas, G_MAXUINT);
  const gboolean directly = can_blend_directly (&frame->info);
  guint64 pixels = 0;

  cairo_surface_flush (canvas->surface);
  if (directly)
    blend_directly (canvas, frame, regions);
  for (guint i = 0; i < regions->len; i++) {
    const GstVideoRectangle *const r = &g_array_index (regions, GstVideoRectangle, i);

    if (!directly)
      blend_by_conversion (canvas, frame, r);
    pixels += (guint64) r->w * r->h;
  }
  return pixels;
}

/* ---------------------------------------------------------------- beside a frame */

static GstVideoOverlayRectangle *
copy_region (GstCclCanvas * canvas, const GstVideoRectangle * r)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 4 * (gsize) r->w * r->h, NULL);
  GstVideoOverlayRectangle *rectangle;
  GstMapInfo map;

  if (!buffer || !gst_buffer_map (buffer, &map, GST_MAP_WRITE)) {
    gst_clear_buffer (&buffer);
    return NULL;
  }
  for (gint y = 0; y < r->h; y++)
    memcpy (map.data + (gsize) 4 * y * r->w, canvas->pixels + (gsize) (r->y + y) * canvas->stride + 4 * r->x, 4 * r->w);
  gst_buffer_unmap (buffer, &map);
  gst_buffer_add_video_meta (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_OVERLAY_COMPOSITION_FORMAT_RGB, r->w, r->h);
  rectangle = gst_video_overlay_rectangle_new_raw (buffer, r->x, r->y, r->w, r->h,
      GST_VIDEO_OVERLAY_FORMAT_FLAG_PREMULTIPLIED_ALPHA);
  gst_buffer_unref (buffer);
  return rectangle;
}

GstVideoOverlayComposition *
gst_ccl_canvas_compose (GstCclCanvas * canvas, GstVideoOverlayComposition * under, guint64 * pixels)
{
  const GArray *const regions = find_regions (canvas, GST_CCL_CANVAS_RECTANGLES);
  GstVideoOverlayComposition *composition = under ? gst_video_overlay_composition_make_writable (under) : NULL;

  cairo_surface_flush (canvas->surface);
  for (guint i = 0; i < regions->len; i++) {
    const GstVideoRectangle *const r = &g_array_index (regions, GstVideoRectangle, i);
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
