/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclzonedrawing.h"

/* Forward is from the left of the line to its right, seen from its first point towards its second; y points down. */
static void
draw_direction (GstCclPen * pen, const gdouble * points, const gdouble * middle, GstCclColour colour)
{
  gst_ccl_pen_draw_arrow (pen, middle[0], middle[1], points[1] - points[3], points[2] - points[0], colour);
}

static void
draw_counts (GstCclPen * pen, GstCclTexts * texts, const GstCclZone * zone, const gdouble * point, GstCclColour colour)
{
  gchar *words = zone->kind == GST_CCL_ZONE_LINE
      ? g_strdup_printf ("%s  +%" G_GUINT64_FORMAT "  -%" G_GUINT64_FORMAT, zone->name, zone->n_forward,
      zone->n_backward)
      : g_strdup_printf ("%s  %u", zone->name, zone->n_inside);

  gst_ccl_texts_draw_at (texts, pen, words, point, colour);
  g_free (words);
}

void
gst_ccl_zone_draw (GstCclPen * pen, GstCclTexts * texts, const GstCclZone * zone, guint index)
{
  /* A sequence of colours that differs from that of the objects. */
  const GstCclColour colour = gst_ccl_colour_of_number (index * 2 + 7);
  gdouble *points, middle[2] = { 0 };

  if (zone->n_points < 2)
    return;
  points = g_try_new (gdouble, 2 * (gsize) zone->n_points);
  if (!points)
    return;
  for (gsize i = 0; i < 2 * (gsize) zone->n_points; i++) {
    points[i] = gst_ccl_pen_clamp (zone->points[i] * (i & 1 ? pen->height : pen->width));
    middle[i & 1] += points[i] / zone->n_points;
  }
  if (zone->kind == GST_CCL_ZONE_LINE) {
    gst_ccl_pen_draw_polyline (pen, points, zone->n_points, colour, 0.9);
    draw_direction (pen, points, middle, colour);
    draw_counts (pen, texts, zone, points, colour);
  } else {
    gst_ccl_pen_draw_polygon (pen, points, zone->n_points, colour, 0.9);
    draw_counts (pen, texts, zone, middle, colour);
  }
  g_free (points);
}
