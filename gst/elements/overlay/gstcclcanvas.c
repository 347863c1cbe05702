/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclcanvasprivate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Side of a tile in pixels: about the width of a line, and a multiple of any chroma subsampling. */
#define TILE 8

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
  canvas->pixels = calloc (height, canvas->stride);     /* pages that are never drawn on take no memory */
  canvas->tiles = calloc (canvas->rows, canvas->columns);
  canvas->coarse = calloc (canvas->rows, canvas->columns);
  canvas->open = calloc (canvas->columns, sizeof (guint));
  canvas->regions.element_size = sizeof (GstVideoRectangle);
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
  gst_ccl_vector_clear (&canvas->regions);
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

  /* Also FALSE for NaN. */
  if (!(x0 < canvas->width && y0 < canvas->height && x1 > 0 && y1 > 0 && x1 > x0 && y1 > y0))
    return;
  left = (guint) MAX (x0, 0) / TILE;
  /* The area is half open: if it ends at the edge of a tile, it does not include the next one. */
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
  /* A vertical or horizontal line is its own box. */
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
    GstVideoRectangle *const above = gst_ccl_vector_at (&canvas->regions, GstVideoRectangle, *open - 1);

    if (above->w == width && above->y + above->h == y) {
      above->h += height;
      return;
    }
  }
  if (gst_ccl_vector_append (&canvas->regions, &(GstVideoRectangle) {
          x, y, width, height}
          , 1))
    *open = canvas->regions.len;
}

static void
collect_regions (GstCclCanvas * canvas, const guint8 * tiles, guint columns, guint rows, guint tile)
{
  canvas->regions.len = 0;
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

/* Works in place: a tile of the new map is set if one of its four tiles in the old map is. */
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

const GstCclVector *
gst_ccl_canvas_find_regions (GstCclCanvas * canvas, guint max)
{
  guint columns = canvas->columns, rows = canvas->rows, tile = TILE;

  collect_regions (canvas, canvas->tiles, columns, rows, tile);
  if (canvas->regions.len <= max)
    return &canvas->regions;
  memcpy (canvas->coarse, canvas->tiles, (gsize) columns * rows);
  while (canvas->regions.len > max && columns * rows > 1) {
    coarsen (canvas->coarse, &columns, &rows);
    tile *= 2;
    collect_regions (canvas, canvas->coarse, columns, rows, tile);
  }
  return &canvas->regions;
}

void
gst_ccl_canvas_wipe (GstCclCanvas * canvas)
{
  const GstCclVector *const regions = gst_ccl_canvas_find_regions (canvas, G_MAXUINT);

  cairo_surface_flush (canvas->surface);
  for (guint i = 0; i < regions->len; i++) {
    const GstVideoRectangle r = *gst_ccl_vector_at (regions, GstVideoRectangle, i);

    for (gint y = r.y; y < r.y + r.h; y++)
      memset (canvas->pixels + (gsize) y * canvas->stride + 4 * r.x, 0, 4 * r.w);
  }
  cairo_surface_mark_dirty (canvas->surface);
  memset (canvas->tiles, 0, (gsize) canvas->columns * canvas->rows);
  canvas->empty = TRUE;
}
