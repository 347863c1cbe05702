/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Lines and shapes on a canvas. Every line has a dark edge, so that it is visible on any background. */
#ifndef __GST_CCL_PEN_H__
#define __GST_CCL_PEN_H__

#include "gstcclcanvas.h"
#include "gstcclpalette.h"

G_BEGIN_DECLS

typedef struct
{
  GstCclCanvas *canvas;
  cairo_t *cr;
  guint width, height;          /* of the canvas */
  gdouble line, edge;           /* width of a line and of its edge on either side, whole pixels */
} GstCclPen;

typedef struct
{
  gdouble x0, y0, x1, y1;
} GstCclBox;

typedef struct
{
  gdouble x, y;                 /* centre */
  gdouble xx, xy, yy;           /* covariance; 0: unknown */
} GstCclEllipse;

/* `line_width`: pixels; 0: by the shorter side of the canvas. */
GstCclPen gst_ccl_pen_new (GstCclCanvas * canvas, gdouble line_width);

/* Limits a coordinate to what Cairo can draw. NaN becomes a far point. */
gdouble gst_ccl_pen_clamp (gdouble value);

/* The edge's colour, with `alpha`. */
void gst_ccl_pen_use_dark (GstCclPen * pen, gdouble alpha);
void gst_ccl_pen_use_colour (GstCclPen * pen, GstCclColour colour, gdouble alpha);

/* `points`: x and y in turn, each from gst_ccl_pen_clamp(). */
void gst_ccl_pen_draw_polyline (GstCclPen * pen, const gdouble * points, guint n, GstCclColour colour, gdouble alpha);
void gst_ccl_pen_draw_polygon (GstCclPen * pen, const gdouble * points, guint n, GstCclColour colour, gdouble alpha);

/* The line surrounds the pixels of the box. Where it would leave the canvas it is drawn inside. */
void gst_ccl_pen_draw_box (GstCclPen * pen, const GstCclBox * box, gboolean dashed, GstCclColour colour, gdouble alpha);

/* Two standard deviations along each axis: the ellipse with the same second moments as the object. */
void gst_ccl_pen_draw_ellipse (GstCclPen * pen, const GstCclEllipse * ellipse, GstCclColour colour, gdouble alpha);

void gst_ccl_pen_draw_dot (GstCclPen * pen, gdouble x, gdouble y, GstCclColour colour, gdouble alpha);

/* The head of an arrow at (x, y) in the direction (dx, dy). */
void gst_ccl_pen_draw_arrow (GstCclPen * pen, gdouble x, gdouble y, gdouble dx, gdouble dy, GstCclColour colour);

G_END_DECLS

#endif
