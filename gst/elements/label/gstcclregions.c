/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclregions.h"

#include <stdlib.h>

gboolean
gst_ccl_regions_add (GstCclVector * regions, guint segmentation, const gboolean * is_present, guint n_ids)
{
  gboolean ok = TRUE;

  for (guint id = 0; id < n_ids && ok; id++)
    if (is_present[id])
      ok = gst_ccl_vector_append (regions, &(GstCclRegion) {.segmentation = segmentation,.id = id}, 1);
  return ok;
}

static gint
compare (const GstCclRegion * a, const GstCclRegion * b, gboolean by_id)
{
  const gint ids = (gint) a->id - b->id;
  const gint segmentations = (a->segmentation > b->segmentation) - (a->segmentation < b->segmentation);

  return by_id ? (ids ? ids : segmentations) : (segmentations ? segmentations : ids);
}

static gint
compare_ids (gconstpointer a, gconstpointer b)
{
  return compare (a, b, TRUE);
}

static gint
compare_segmentations (gconstpointer a, gconstpointer b)
{
  return compare (a, b, FALSE);
}

GBytes *
gst_ccl_regions_number (GstCclVector * regions)
{
  GstCclRegion *const all = regions->data;
  const guint n = regions->len;
  guint16 *const classes = n <= G_MAXUINT16 ? g_try_new0 (guint16, n + 1) : NULL;

  if (!classes)
    return NULL;
  if (n)
    qsort (all, n, sizeof *all, compare_ids);
  for (guint i = 0; i < n; i++) {
    all[i].number = i + 1;
    classes[i + 1] = all[i].id;
  }
  if (n)
    qsort (all, n, sizeof *all, compare_segmentations);
  return g_bytes_new_take (classes, (n + 1) * sizeof *classes);
}

/* The first region of a segmentation or of a later one. */
static guint
find_first (const GstCclVector * regions, guint segmentation)
{
  guint first = 0, n = regions->len;

  while (n > 0) {
    const guint half = n / 2;

    if (gst_ccl_vector_at (regions, GstCclRegion, first + half)->segmentation < segmentation) {
      first += half + 1;
      n -= half + 1;
    } else {
      n = half;
    }
  }
  return first;
}

void
gst_ccl_regions_get_numbers (const GstCclVector * regions, guint segmentation, guint16 * numbers)
{
  for (guint i = find_first (regions, segmentation); i < regions->len; i++) {
    const GstCclRegion *const region = gst_ccl_vector_at (regions, GstCclRegion, i);

    if (region->segmentation != segmentation)
      break;
    numbers[region->id] = region->number;
  }
}
