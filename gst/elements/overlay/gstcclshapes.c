/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclshapes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gst/ccl/gstcclblobmeasures.h>

typedef struct
{
  gdouble x, y;
} Point;

static int
by_column (gconstpointer a, gconstpointer b)
{
  const Point *const p = a, *const q = b;

  return p->x != q->x ? (p->x > q->x) - (p->x < q->x) : (p->y > q->y) - (p->y < q->y);
}

/* Above 0: c is to the left of the way from a to b. */
static gdouble
side (const Point * a, const Point * b, const Point * c)
{
  return (b->x - a->x) * (c->y - a->y) - (b->y - a->y) * (c->x - a->x);
}

/* Andrew's monotone chain: from sorted points to the corners of their hull. `hull` has space for one more than twice as many. */
static guint
find_hull (const Point * points, guint n_points, Point * hull)
{
  guint n = 0, n_half;

  for (guint i = 0; i < n_points; i++) {
    while (n >= 2 && side (&hull[n - 2], &hull[n - 1], &points[i]) <= 0)
      n--;
    hull[n++] = points[i];
  }
  n_half = n;
  for (guint i = n_points; i-- > 0;) {
    while (n > n_half && side (&hull[n - 2], &hull[n - 1], &points[i]) <= 0)
      n--;
    hull[n++] = points[i];
  }
  return n - 1;
}

/* The contour goes along the edges of the pixels, so that its hull is that of their corners. */
void
gst_ccl_draw_hull (GstCclPen * pen, const GstCclBlobMeta * meta, guint index, GstCclColour colour, gdouble alpha)
{
  guint n_values;
  gdouble *const values = gst_ccl_blob_meta_get_contour (meta, index, &n_values);
  Point *const hull = values ? g_try_new (Point, n_values + 1) : NULL;

  for (guint i = 0; i < n_values && hull; i++)
    values[i] = gst_ccl_pen_clamp (values[i]);
  if (hull) {
    qsort (values, n_values / 2, sizeof (Point), by_column);
    n_values = 2 * find_hull ((const Point *) values, n_values / 2, hull);
    gst_ccl_pen_draw_polygon (pen, (const gdouble *) hull, n_values / 2, colour, alpha);
  }
  g_free (hull);
  g_free (values);
}

void
gst_ccl_draw_rectangle (GstCclPen * pen, const GstCclBlobMeta * meta, guint index, GstCclColour colour, gdouble alpha)
{
  gdouble x, y, length, width, angle, corners[8];

  if (!gst_ccl_blob_meta_get_min_rect (meta, index, &length, &width, &angle)
      || !gst_ccl_blob_meta_get_min_rect_center (meta, index, &x, &y))
    return;
  for (guint i = 0; i < 4; i++) {
    const gdouble along = (i == 1 || i == 2 ? length : -length) / 2, across = (i >= 2 ? width : -width) / 2;

    /* The centre of pixel (0, 0) is half a pixel from its corner. */
    corners[2 * i] = x + 0.5 + along * cos (angle) - across * sin (angle);
    corners[2 * i + 1] = y + 0.5 + along * sin (angle) + across * cos (angle);
    gst_ccl_blob_meta_map_point (meta, &corners[2 * i], &corners[2 * i + 1]);
    corners[2 * i] = gst_ccl_pen_clamp (corners[2 * i]);
    corners[2 * i + 1] = gst_ccl_pen_clamp (corners[2 * i + 1]);
  }
  gst_ccl_pen_draw_polygon (pen, corners, 4, colour, alpha);
}

void
gst_ccl_draw_holes (GstCclPen * pen, const GstCclBlobMeta * meta, guint index, GstCclColour colour, gdouble alpha)
{
  guint n_holes;
  const GstCclHole *const holes = gst_ccl_blob_meta_list_holes (meta, index, &n_holes);

  for (guint i = 0; i < n_holes && holes; i++) {
    GstCclBox box;
    gdouble width, height;

    gst_ccl_blob_meta_get_hole_box (meta, &holes[i], &box.x0, &box.y0, &width, &height);
    box.x1 = box.x0 + width;
    box.y1 = box.y0 + height;
    gst_ccl_pen_draw_box (pen, &box, FALSE, colour, alpha);
  }
}
