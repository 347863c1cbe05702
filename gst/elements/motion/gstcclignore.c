/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclignore.h"

#include <math.h>

#include "analysis/polygon.h"

/* Reads "x,y" and the separator behind it. FALSE: `expected` should stand at `*at`. */
static gboolean
read_point (const gchar ** at, gdouble * point, gchar * separator, const gchar ** expected)
{
  for (guint i = 0; i < 2; i++) {
    gchar *end;

    point[i] = g_ascii_strtod (*at, &end);
    while (g_ascii_isspace (*end))
      end++;
    *separator = *end;
    if (end == *at || !isfinite (point[i])
        || (i == 0 ? *separator != ',' : *separator && *separator != ';' && *separator != '|')) {
      *expected = i == 0 ? "," : ";, | or the end";
      return FALSE;
    }
    *at = *separator ? end + 1 : end;
  }
  while (g_ascii_isspace (**at))
    (*at)++;
  return TRUE;
}

GPtrArray *
gst_ccl_ignore_parse (const gchar * text, GError ** error)
{
  GPtrArray *polygons = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  const gchar *at = text ? text : "", *expected;

  while (*at) {
    GArray *const points = g_array_new (FALSE, FALSE, sizeof (gdouble));
    gdouble point[2];
    gchar separator;

    g_ptr_array_add (polygons, points);
    do {
      if (!read_point (&at, point, &separator, &expected)) {
        g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
            "\"%s\" is no list of polygons: a number and then \"%s\" is expected at character %u", text, expected,
            (guint) (at - text) + 1);
        g_ptr_array_unref (polygons);
        return NULL;
      }
      g_array_append_vals (points, point, 2);
    } while (separator == ';' && *at);
    if (points->len < 6) {
      g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
          "\"%s\" is no list of polygons: number %u has less than three points", text, polygons->len);
      g_ptr_array_unref (polygons);
      return NULL;
    }
  }
  return polygons;
}

/* To pixels of the map. */
static void
scale_polygon (GArray * points, gdouble frame_width, gdouble frame_height, guint width, guint height)
{
  gdouble *const xy = (gdouble *) points->data;
  gboolean relative = TRUE;

  for (guint i = 0; i < points->len; i++)
    relative &= xy[i] <= 1;
  for (guint i = 0; i < points->len; i++)
    xy[i] *= i & 1 ? (relative ? height : height / frame_height) : (relative ? width : width / frame_width);
}

gboolean
gst_ccl_ignore_fill (GPtrArray * polygons, gdouble frame_width, gdouble frame_height, guint8 * map, guint width,
    guint height)
{
  const CclPlane plane = {.data = map,.stride = width,.width = width,.height = height };

  for (guint i = 0; i < polygons->len; i++) {
    GArray *const points = g_ptr_array_index (polygons, i);

    scale_polygon (points, frame_width, frame_height, width, height);
    if (ccl_polygon_fill ((gdouble *) points->data, points->len / 2, 1, &plane) != CCL_OK)
      return FALSE;
  }
  return TRUE;
}
