/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The expression of the property filter of ccllabel, applied to some components. */
#include "fuzz.h"

#include <string.h>

#include "analysis/hull.h"
#include "analysis/selection.h"

/* A pixel, a row and a square. They have counts only if `features` asks for them: a selection that reads them nevertheless
 * crashes. */
static void
judge_components (const CclSelection * selection)
{
  static const CclComponent components[] = {
    {.moments = {1, 0, 0, 0, 0, 0},.x1 = 1,.y1 = 1},
    {.moments = {4, 18, 0, 86, 0, 0},.x0 = 3,.x1 = 7,.y1 = 1,.first_x = 3},
    {.moments = {4, 2, 2, 2, 1, 2},.x1 = 2,.y1 = 2},
  };
  static const CclShapeCounts counts[] = { {1, 1, 1, 2}, {1, 1, 4, 8}, {1, 2, 2, 6} };
  static const CclHoleCounts holes[] = { {1, 0, 0}, {4, 0, 0}, {4, 0, 0} };
  const CclHullCounts hulls[] =
      { ccl_hull_of_box (0, 0, 1, 1), ccl_hull_of_box (3, 0, 7, 1), ccl_hull_of_box (0, 0, 2, 2) };

  static const CclIntensityCounts intensities[] = {
    {.min = 7,.max = 7,.has_chroma = 1,.sum = 7,.squares = 49,.chroma = {3, 4}},
    {.max = 255,.sum = 300,.squares = 65534,.x = 1700,.xx = {9700}},
    {0},
  };

  for (guint i = 0; i < G_N_ELEMENTS (components); i++) {
    CclMeasuring measuring = {.component = &components[i],.width = 10,.height = 5 };

    if (selection->features & CCL_FEATURE_SHAPE)
      measuring.counts = &counts[i];
    if (selection->features & CCL_FEATURE_HOLES)
      measuring.hole_counts = &holes[i];
    if (selection->features & CCL_FEATURE_HULL)
      measuring.hull_counts = &hulls[i];
    if (selection->features & CCL_FEATURE_INTENSITY)
      measuring.intensity_counts = &intensities[i];
    ccl_selection_keeps (selection, &measuring);
  }
}

int
LLVMFuzzerTestOneInput (const guint8 * data, gsize size)
{
  gchar *const text = fuzz_whole_text (data, size);
  CclSelection *const selection = g_new (CclSelection, 1);
  const CclStatus status = ccl_selection_parse (text, selection);

  g_assert_true (status == CCL_OK || status == CCL_ERROR_ARGUMENT);
  if (status == CCL_OK)
    judge_components (selection);
  else
    g_assert_true (g_utf8_validate (ccl_error_message (), -1, NULL) && strlen (ccl_error_message ()) > 10);
  g_free (selection);
  g_free (text);
  return 0;
}
