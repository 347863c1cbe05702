/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A small canvas and its pixels. */
#ifndef __CCLOVERLAY_PARTS_H__
#define __CCLOVERLAY_PARTS_H__

#include <gst/check/gstcheck.h>

#include "overlay/gstcclcanvas.h"

#define WIDTH 160
#define HEIGHT 120

static inline GstCclCanvas *
new_canvas (void)
{
  GstCclCanvas *const canvas = gst_ccl_canvas_new (WIDTH, HEIGHT);

  fail_unless (canvas != NULL);
  return canvas;
}

/* The pixel (x, y), ARGB. */
static inline guint32
pixel (GstCclCanvas * canvas, guint x, guint y)
{
  cairo_surface_t *const surface = cairo_get_target (gst_ccl_canvas_get_cairo (canvas));

  cairo_surface_flush (surface);
  return ((const guint32 *) cairo_image_surface_get_data (surface))[y * WIDTH + x];
}

/* Number of pixels in a rectangle that are not transparent. */
static inline guint
count_drawn (GstCclCanvas * canvas, guint x0, guint y0, guint x1, guint y1)
{
  guint n = 0;

  for (guint y = y0; y < y1; y++)
    for (guint x = x0; x < x1; x++)
      n += pixel (canvas, x, y) != 0;
  return n;
}

static inline guint
count_all (GstCclCanvas * canvas)
{
  return count_drawn (canvas, 0, 0, WIDTH, HEIGHT);
}

/* Number of pixels of exactly this colour. */
static inline guint
count_colour (GstCclCanvas * canvas, guint32 argb)
{
  guint n = 0;

  for (guint y = 0; y < HEIGHT; y++)
    for (guint x = 0; x < WIDTH; x++)
      n += pixel (canvas, x, y) == argb;
  return n;
}

#endif
