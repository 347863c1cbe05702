/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The polygons of the property ignore of cclmotion, and the map of their pixels. */
#include "fuzz.h"

#include <math.h>

#include "motion/gstcclignore.h"

static void
check_polygons (GPtrArray * polygons)
{
  for (guint i = 0; i < polygons->len; i++) {
    const GArray *const points = g_ptr_array_index (polygons, i);

    g_assert_true (points->len >= 6 && points->len % 2 == 0);
    for (guint k = 0; k < points->len; k++)
      g_assert_true (isfinite (g_array_index (points, gdouble, k)));
  }
}

/* The map lies between bytes that stay. */
static void
fill_map (GPtrArray * polygons)
{
  guint8 bytes[2 + 16 * 12] = { 0 };
  guint8 *const map = bytes + 1;

  bytes[0] = bytes[sizeof bytes - 1] = 77;
  g_assert_true (gst_ccl_ignore_fill (polygons, 64, 48, map, 16, 12));
  g_assert_true (bytes[0] == 77 && bytes[sizeof bytes - 1] == 77);
  for (guint i = 0; i < 16 * 12; i++)
    g_assert_cmpuint (map[i], <=, 1);
}

int
LLVMFuzzerTestOneInput (const guint8 * data, gsize size)
{
  gchar *const text = fuzz_whole_text (data, size);
  GError *error = NULL;
  GPtrArray *const polygons = gst_ccl_ignore_parse (text, &error);

  g_assert_true ((polygons == NULL) == (error != NULL));
  if (polygons) {
    check_polygons (polygons);
    fill_map (polygons);
    g_ptr_array_unref (polygons);
  }
  g_clear_error (&error);
  g_free (text);
  return 0;
}
