/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclpen.h"

#include <math.h>

/* Corners are mitred. Their maximum length is this, times half the line's width, which suffices for the corners of boxes. Round
 * corners would take Cairo 2.8 times as long for contours. */
#define MITER 1.5

GstCclPen
gst_ccl_pen_new (GstCclCanvas * canvas, gdouble line_width)
{
  GstCclPen pen = {
    .canvas = canvas,.cr = gst_ccl_canvas_get_cairo (canvas),.width = gst_ccl_canvas_get_width (canvas),
    .height = gst_ccl_canvas_get_height (canvas),
  };
  const gdouble side = MIN (pen.height, pen.width), wanted = line_width > 0 ? line_width : 1 + side / 360;

  pen.line = MAX (floor (wanted + 0.5), 1);
  pen.edge = MAX (floor (pen.line / 3 + 0.5), 1);
  cairo_set_miter_limit (pen.cr, MITER);
  return pen;
}

gdouble
gst_ccl_pen_clamp (gdouble value)
{
  return fmax (fmin (value, GST_CCL_CANVAS_FAR / 2.0), -GST_CCL_CANVAS_FAR / 2.0);
}

void
gst_ccl_pen_use_dark (GstCclPen * pen, gdouble alpha)
{
  cairo_set_source_rgba (pen->cr, 0.05, 0.05, 0.07, 0.65 * alpha);
}

void
gst_ccl_pen_use_colour (GstCclPen * pen, GstCclColour colour, gdouble alpha)
{
  cairo_set_source_rgba (pen->cr, colour.red, colour.green, colour.blue, colour.alpha * alpha);
}

/* ---------------------------------------------------------------- lines */

static void
stroke_path (GstCclPen * pen, GstCclColour colour, gdouble alpha)
{
  cairo_set_line_width (pen->cr, pen->line + 2 * pen->edge);
  gst_ccl_pen_use_dark (pen, alpha);
  cairo_stroke_preserve (pen->cr);
  cairo_set_line_width (pen->cr, pen->line);
  gst_ccl_pen_use_colour (pen, colour, alpha);
  cairo_stroke (pen->cr);
}

/* Maximum distance of a line's pixels from its path. */
static gdouble
reach (const GstCclPen * pen)
{
  return MITER * (pen->line / 2 + pen->edge) + 1;
}

static void
draw_path (GstCclPen * pen, const gdouble * points, guint n, gboolean closed)
{
  cairo_new_path (pen->cr);
  for (guint i = 0; i < n; i++)
    cairo_line_to (pen->cr, points[2 * i], points[2 * i + 1]);
  if (closed)
    cairo_close_path (pen->cr);
  for (guint i = 0; i + 1 < n + closed; i++) {
    const gdouble *const a = points + 2 * i, *const b = points + 2 * ((i + 1) % n);

    gst_ccl_canvas_touch_line (pen->canvas, a[0], a[1], b[0], b[1], reach (pen));
  }
}

void
gst_ccl_pen_draw_polyline (GstCclPen * pen, const gdouble * points, guint n, GstCclColour colour, gdouble alpha)
{
  draw_path (pen, points, n, FALSE);
  stroke_path (pen, colour, alpha);
}

void
gst_ccl_pen_draw_polygon (GstCclPen * pen, const gdouble * points, guint n, GstCclColour colour, gdouble alpha)
{
  draw_path (pen, points, n, TRUE);
  stroke_path (pen, colour, alpha);
}

void
gst_ccl_pen_draw_arrow (GstCclPen * pen, gdouble x, gdouble y, gdouble dx, gdouble dy, GstCclColour colour)
{
  const gdouble size = 5 * pen->line + 4, length = hypot (dx, dy);
  gdouble points[6];

  if (!(length > 0))
    return;
  dx *= size / length;
  dy *= size / length;
  points[0] = x + dx / 2 + dy;
  points[1] = y + dy / 2 - dx;
  points[2] = x + 1.5 * dx;
  points[3] = y + 1.5 * dy;
  points[4] = x + dx / 2 - dy;
  points[5] = y + dy / 2 + dx;
  gst_ccl_pen_draw_polyline (pen, points, 3, colour, 1);
}

/* ---------------------------------------------------------------- shapes */

/* The frame of a rectangle, on whole pixels, as four rectangles. */
static void
fill_frame (GstCclPen * pen, const GstCclBox * box, gdouble width)
{
  const gdouble box_width = box->x1 - box->x0, inner_height = box->y1 - box->y0 - 2 * width;

  cairo_rectangle (pen->cr, box->x0, box->y0, box_width, width);
  cairo_rectangle (pen->cr, box->x0, box->y1 - width, box_width, width);
  cairo_rectangle (pen->cr, box->x0, box->y0 + width, width, inner_height);
  cairo_rectangle (pen->cr, box->x1 - width, box->y0 + width, width, inner_height);
  cairo_fill (pen->cr);
}

static void
touch_frame (GstCclPen * pen, const GstCclBox * box, gdouble width)
{
  gst_ccl_canvas_touch (pen->canvas, box->x0, box->y0, box->x1, box->y0 + width);
  gst_ccl_canvas_touch (pen->canvas, box->x0, box->y1 - width, box->x1, box->y1);
  gst_ccl_canvas_touch (pen->canvas, box->x0, box->y0, box->x0 + width, box->y1);
  gst_ccl_canvas_touch (pen->canvas, box->x1 - width, box->y0, box->x1, box->y1);
}

static void
stroke_dashed_frame (GstCclPen * pen, const GstCclBox * box, GstCclColour colour, gdouble alpha)
{
  const gdouble middle = pen->edge + pen->line / 2, dashes[] = { 4 * pen->line, 3 * pen->line };

  cairo_rectangle (pen->cr, box->x0 + middle, box->y0 + middle, box->x1 - box->x0 - 2 * middle,
      box->y1 - box->y0 - 2 * middle);
  cairo_set_dash (pen->cr, dashes, 2, 0);
  stroke_path (pen, colour, alpha);
  cairo_set_dash (pen->cr, NULL, 0, 0);
}

void
gst_ccl_pen_draw_box (GstCclPen * pen, const GstCclBox * box, gboolean dashed, GstCclColour colour, gdouble alpha)
{
  const gdouble line = pen->line, edge = pen->edge, width = line + 2 * edge;
  GstCclBox outer = {
    .x0 = MAX (gst_ccl_pen_clamp (floor (box->x0) - width), -edge),
    .y0 = MAX (gst_ccl_pen_clamp (floor (box->y0) - width), -edge),
  };

  outer.x1 = MAX (MIN (gst_ccl_pen_clamp (ceil (box->x1) + width), pen->width + edge), outer.x0 + 2 * width);
  outer.y1 = MAX (MIN (gst_ccl_pen_clamp (ceil (box->y1) + width), pen->height + edge), outer.y0 + 2 * width);
  touch_frame (pen, &outer, width);
  cairo_set_antialias (pen->cr, CAIRO_ANTIALIAS_NONE);
  if (dashed) {
    stroke_dashed_frame (pen, &outer, colour, alpha);
  } else {
    const GstCclBox inner = { outer.x0 + edge, outer.y0 + edge, outer.x1 - edge, outer.y1 - edge };

    gst_ccl_pen_use_dark (pen, alpha);
    fill_frame (pen, &outer, width);
    gst_ccl_pen_use_colour (pen, colour, alpha);
    fill_frame (pen, &inner, line);
  }
  cairo_set_antialias (pen->cr, CAIRO_ANTIALIAS_DEFAULT);
}

#define ELLIPSE_POINTS 40

void
gst_ccl_pen_draw_ellipse (GstCclPen * pen, const GstCclEllipse * ellipse, GstCclColour colour, gdouble alpha)
{
  const gdouble mean = (ellipse->xx + ellipse->yy) / 2, half = (ellipse->xx - ellipse->yy) / 2;
  /* The eigenvalues of the covariance are mean + radius and mean - radius. */
  const gdouble radius = hypot (half, ellipse->xy), angle = atan2 (ellipse->xy, half) / 2;
  const gdouble a = 2 * sqrt (MAX (mean + radius, 0)), b = 2 * sqrt (MAX (mean - radius, 0));
  gdouble points[2 * ELLIPSE_POINTS];

  if (!(a > 0))
    return;
  for (guint i = 0; i < ELLIPSE_POINTS; i++) {
    const gdouble t = 2 * G_PI * i / ELLIPSE_POINTS, u = a * cos (t), v = MAX (b, 0.5) * sin (t);

    points[2 * i] = gst_ccl_pen_clamp (ellipse->x + u * cos (angle) - v * sin (angle));
    points[2 * i + 1] = gst_ccl_pen_clamp (ellipse->y + u * sin (angle) + v * cos (angle));
  }
  gst_ccl_pen_draw_polygon (pen, points, ELLIPSE_POINTS, colour, alpha);
}

void
gst_ccl_pen_draw_dot (GstCclPen * pen, gdouble x, gdouble y, GstCclColour colour, gdouble alpha)
{
  const gdouble radius = 1.25 * pen->line + 0.5, outer = radius + pen->edge;

  if (gst_ccl_pen_clamp (x) != x || gst_ccl_pen_clamp (y) != y)
    return;
  gst_ccl_canvas_touch (pen->canvas, x - outer - 1, y - outer - 1, x + outer + 1, y + outer + 1);
  gst_ccl_pen_use_dark (pen, alpha);
  cairo_arc (pen->cr, x, y, outer, 0, 2 * G_PI);
  cairo_fill (pen->cr);
  gst_ccl_pen_use_colour (pen, colour, alpha);
  cairo_arc (pen->cr, x, y, radius, 0, 2 * G_PI);
  cairo_fill (pen->cr);
}
