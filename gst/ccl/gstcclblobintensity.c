/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Luma and chroma of the blobs of a meta. */

#include "gstcclprivate.h"

#include <math.h>
#include <string.h>

/**
 * gst_ccl_blob_list_set_intensity: (skip)
 * @list: a list that was not passed on yet
 * @intensity: (nullable) (transfer none): an array of #GstCclIntensityCounts
 *   with ascending labels; %NULL: not measured
 *
 * Sets the sums behind the intensity. A blob without an entry for its label has
 * none.
 *
 * Since: 0.1
 */
void
gst_ccl_blob_list_set_intensity (GstCclBlobList * list, GBytes * intensity)
{
  g_return_if_fail (list != NULL);

  gst_ccl_blob_list_set_column (list, GST_CCL_COLUMN_INTENSITY, intensity);
}

/**
 * gst_ccl_blob_list_get_intensity: (skip)
 * @list: (nullable): a list; %NULL has none
 *
 * Gets the sums that gst_ccl_blob_list_set_intensity() has set.
 *
 * Returns: (transfer none) (nullable): an array of #GstCclIntensityCounts
 *
 * Since: 0.1
 */
GBytes *
gst_ccl_blob_list_get_intensity (const GstCclBlobList * list)
{
  return list != NULL ? list->columns[GST_CCL_COLUMN_INTENSITY] : NULL;
}

gboolean
gst_ccl_blob_meta_get_intensity_measures (const GstCclBlobMeta * meta, guint index, CclIntensityMeasures * measures)
{
  const GstCclIntensityCounts *const c = gst_ccl_blob_meta_find_counts (meta, index, GST_CCL_COLUMN_INTENSITY);
  CclIntensityCounts counts;

  memset (measures, 0, sizeof *measures);
  if (c == NULL)
    return FALSE;
  counts = (CclIntensityCounts) {.min = c->min,.max = c->max,.has_chroma = c->has_chroma,.sum = c->sum };
  counts.squares = c->squares;
  counts.x = c->x;
  counts.y = c->y;
  counts.chroma[0] = c->cb;
  counts.chroma[1] = c->cr;
  memcpy (counts.xx, c->xx, sizeof counts.xx);
  memcpy (counts.xy, c->xy, sizeof counts.xy);
  memcpy (counts.yy, c->yy, sizeof counts.yy);
  ccl_intensity_measures (&counts, gst_ccl_blob_meta_get_blob (meta, index)->area, measures);
  return TRUE;
}

/* Undefined ones are 0. FALSE: the first is. */
static gboolean
set (gdouble * const *to, const gdouble * values, guint n)
{
  for (guint i = 0; i < n; i++)
    if (to[i] != NULL)
      *to[i] = isnan (values[i]) ? 0 : values[i];
  return !isnan (values[0]);
}

/**
 * gst_ccl_blob_meta_get_intensity:
 * @meta: a blob meta
 * @index: 0 to length - 1
 * @min: (out) (optional): smallest luma
 * @max: (out) (optional): largest luma
 * @mean: (out) (optional): mean luma
 * @std: (out) (optional): standard deviation of the population
 *
 * Gets the luma of the pixels of a blob, in the values of the frame.
 *
 * Returns: %FALSE when it was not measured
 *
 * Since: 0.1
 */
gboolean
gst_ccl_blob_meta_get_intensity (const GstCclBlobMeta * meta, guint index, gdouble * min, gdouble * max, gdouble * mean,
    gdouble * std)
{
  CclIntensityMeasures m;
  gboolean known;

  g_return_val_if_fail (meta != NULL, FALSE);

  known = gst_ccl_blob_meta_get_intensity_measures (meta, index, &m);
  return set ((gdouble * const[]) { min, max, mean, std }, (gdouble[]) { m.min, m.max, m.mean, m.std }, 4) && known;
}

/**
 * gst_ccl_blob_meta_get_chroma:
 * @meta: a blob meta
 * @index: 0 to length - 1
 * @cb: (out) (optional): mean of the blue difference
 * @cr: (out) (optional): mean of the red difference
 *
 * Gets the mean chroma of the pixels of a blob, in the values of the frame.
 *
 * Returns: %FALSE when it was not measured, or the frame is gray
 *
 * Since: 0.1
 */
gboolean
gst_ccl_blob_meta_get_chroma (const GstCclBlobMeta * meta, guint index, gdouble * cb, gdouble * cr)
{
  CclIntensityMeasures m;
  gboolean known;

  g_return_val_if_fail (meta != NULL, FALSE);

  known = gst_ccl_blob_meta_get_intensity_measures (meta, index, &m);
  return set ((gdouble * const[]) { cb, cr }, (gdouble[]) { m.cb, m.cr }, 2) && known;
}

/**
 * gst_ccl_blob_meta_get_weighted_centroid:
 * @meta: a blob meta
 * @index: 0 to length - 1
 * @x: (out) (optional): pixels from the centre of the mask's first pixel
 * @y: (out) (optional): the same from the top
 *
 * Gets the centroid of a blob in which each pixel weighs as much as its luma.
 *
 * Returns: %FALSE when it was not measured, or all pixels are 0
 *
 * Since: 0.1
 */
gboolean
gst_ccl_blob_meta_get_weighted_centroid (const GstCclBlobMeta * meta, guint index, gdouble * x, gdouble * y)
{
  CclIntensityMeasures m;
  gboolean known;

  g_return_val_if_fail (meta != NULL, FALSE);

  known = gst_ccl_blob_meta_get_intensity_measures (meta, index, &m);
  return set ((gdouble * const[]) { x, y }, (gdouble[]) { m.x, m.y }, 2) && known;
}

/**
 * gst_ccl_blob_meta_get_weighted_covariance:
 * @meta: a blob meta
 * @index: 0 to length - 1
 * @xx: (out) (optional): variance in x, pixels of the mask squared
 * @xy: (out) (optional): covariance
 * @yy: (out) (optional): variance in y
 *
 * Gets the covariance of a blob in which each pixel weighs as much as its luma.
 *
 * Returns: %FALSE when it was not measured, or all pixels are 0
 *
 * Since: 0.1
 */
gboolean
gst_ccl_blob_meta_get_weighted_covariance (const GstCclBlobMeta * meta, guint index, gdouble * xx, gdouble * xy,
    gdouble * yy)
{
  CclIntensityMeasures m;
  gboolean known;

  g_return_val_if_fail (meta != NULL, FALSE);

  known = gst_ccl_blob_meta_get_intensity_measures (meta, index, &m);
  return set ((gdouble * const[]) { xx, xy, yy }, (gdouble[]) { m.xx, m.xy, m.yy }, 3) && known;
}
