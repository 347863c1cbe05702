/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccltrails.h"

#include <math.h>

#include "base/gstccltrailring.h"

typedef struct
{
  GstCclTrailRing *ring;
  guint64 seen;                 /* number of the frame */
} Trail;

struct _GstCclTrails
{
  GHashTable *by_track;         /* guint64* -> Trail */
};

static void
trail_free (gpointer data)
{
  Trail *const trail = data;

  g_free (trail->ring);
  g_free (trail);
}

GstCclTrails *
gst_ccl_trails_new (void)
{
  GstCclTrails *const trails = g_new0 (GstCclTrails, 1);

  trails->by_track = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, trail_free);
  return trails;
}

void
gst_ccl_trails_free (GstCclTrails * trails)
{
  g_hash_table_unref (trails->by_track);
  g_free (trails);
}

void
gst_ccl_trails_reset (GstCclTrails * trails)
{
  g_hash_table_remove_all (trails->by_track);
}

void
gst_ccl_trails_add (GstCclTrails * trails, guint64 track_id, GstCclPoint place, guint capacity, guint64 frame)
{
  Trail *trail = g_hash_table_lookup (trails->by_track, &track_id);

  if (!trail || trail->ring->capacity != capacity) {
    trail = g_new0 (Trail, 1);
    trail->ring = gst_ccl_trail_ring_new (capacity);
    g_hash_table_insert (trails->by_track, g_memdup2 (&track_id, sizeof track_id), trail);
  }
  trail->seen = frame;
  gst_ccl_trail_ring_add (trail->ring, place);
}

void
gst_ccl_trails_forget_unseen (GstCclTrails * trails, guint64 frame)
{
  GHashTableIter iter;
  gpointer trail;

  g_hash_table_iter_init (&iter, trails->by_track);
  while (g_hash_table_iter_next (&iter, NULL, &trail))
    if (((const Trail *) trail)->seen + GST_CCL_MAX_UNSEEN_FRAMES < frame)
      g_hash_table_iter_remove (&iter);
}

gdouble *
gst_ccl_trails_get (const GstCclTrails * trails, guint64 track_id, guint width, guint height, guint * n_places)
{
  const Trail *const trail = g_hash_table_lookup (trails->by_track, &track_id);
  gdouble *places;

  *n_places = trail ? trail->ring->n : 0;
  if (!trail)
    return NULL;
  places = g_new (gdouble, 2 * *n_places);
  for (guint i = 0; i < *n_places; i++) {
    const GstCclPoint place = gst_ccl_trail_ring_get (trail->ring, i);

    places[2 * i] = place.x * width;
    places[2 * i + 1] = place.y * height;
  }
  return places;
}

/* ---------------------------------------------------------------- drawing */

guint
gst_ccl_trail_thin_out (gdouble * points, guint n, gdouble line)
{
  guint left = 0;

  for (guint i = 0; i < n; i++) {
    const gdouble x = gst_ccl_pen_clamp (points[2 * i]), y = gst_ccl_pen_clamp (points[2 * i + 1]);

    if (left > 0 && i + 1 < n && hypot (x - points[2 * left - 2], y - points[2 * left - 1]) < line + 1)
      continue;
    points[2 * left] = x;
    points[2 * left + 1] = y;
    left++;
  }
  return left;
}

/* Whether every point between the first and the last is close to the line between these two. */
static gboolean
is_straight (const gdouble * points, guint n, gdouble tolerance)
{
  const gdouble dx = points[2 * n - 2] - points[0], dy = points[2 * n - 1] - points[1];
  const gdouble length = hypot (dx, dy), limit = tolerance * length;

  for (guint i = 1; i + 1 < n; i++) {
    const gdouble px = points[2 * i] - points[0], py = points[2 * i + 1] - points[1], along = px * dx + py * dy;

    if (!(fabs (px * dy - py * dx) <= limit) || along < 0 || along > length * length)
      return FALSE;
  }
  return TRUE;
}

/* Maximum number of points that one straight line replaces. It bounds the time, which grows with its square. */
#define MAX_STRAIGHT_POINTS 32

/* The time of a stroke grows with its number of points. */
guint
gst_ccl_trail_straighten (gdouble * points, guint n, gdouble tolerance)
{
  guint left = 0, at = 0;

  while (at < n) {
    guint last = MIN (at + 1, n - 1);

    points[2 * left] = points[2 * at];
    points[2 * left++ + 1] = points[2 * at + 1];
    while (last + 1 < n && last - at < MAX_STRAIGHT_POINTS && is_straight (points + 2 * at, last - at + 2, tolerance))
      last++;
    at = at + 1 < n ? last : n;
  }
  return left;
}

#define N_SHADES 5

void
gst_ccl_trail_draw (GstCclPen * pen, gdouble * points, guint n, GstCclColour colour)
{
  n = gst_ccl_trail_thin_out (points, n, pen->line);
  cairo_set_line_join (pen->cr, CAIRO_LINE_JOIN_ROUND);
  for (guint shade = 0; shade < N_SHADES && n > 1; shade++) {
    const guint first = shade * (n - 1) / N_SHADES, last = (shade + 1) * (n - 1) / N_SHADES;
    gdouble *const section = points + 2 * first;
    const gdouble end[2] = { points[2 * last], points[2 * last + 1] };
    guint n_left;

    if (last == first)
      continue;
    n_left = gst_ccl_trail_straighten (section, last - first + 1, pen->line / 8);
    gst_ccl_pen_draw_polyline (pen, section, n_left, colour, (shade + 1.0) / N_SHADES);
    /* The next shade begins there, and straightening may have overwritten it. */
    points[2 * last] = end[0];
    points[2 * last + 1] = end[1];
  }
  cairo_set_line_join (pen->cr, CAIRO_LINE_JOIN_MITER);
}
