/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Filled areas and holes of the blobs of a meta. */

#include "gstcclprivate.h"

/**
 * gst_ccl_blob_meta_get_filled_area:
 * @meta: a blob meta
 * @index: 0 to length - 1
 * @area: (out) (optional): pixels of the blob, its holes and whatever is in them
 * @n_holes: (out) (optional): number of its holes
 *
 * Gets the area of a blob with its holes filled.
 *
 * Returns: %FALSE when it was not measured
 *
 * Since: 0.1
 */
gboolean
gst_ccl_blob_meta_get_filled_area (const GstCclBlobMeta * meta, guint index, guint64 * area, guint * n_holes)
{
  const GstCclFilledCounts *counts;

  g_return_val_if_fail (meta != NULL, FALSE);

  counts = gst_ccl_blob_meta_find_counts (meta, index, GST_CCL_COLUMN_FILLED);
  if (area != NULL)
    *area = counts != NULL ? counts->area_filled : 0;
  if (n_holes != NULL)
    *n_holes = counts != NULL ? counts->n_holes : 0;
  return counts != NULL;
}

/**
 * gst_ccl_blob_meta_get_hole:
 * @meta: a blob meta
 * @index: 0 to length - 1
 * @hole: from 0, in raster order of first pixels
 * @details: (out caller-allocates): the hole, in pixels of the mask
 *
 * Gets a hole of a blob.
 *
 * Returns: %FALSE when the blob has no such hole, or holes were not measured
 *
 * Since: 0.1
 */
gboolean
gst_ccl_blob_meta_get_hole (const GstCclBlobMeta * meta, guint index, guint hole, GstCclHole * details)
{
  const GstCclHole *holes;
  guint n_holes;

  g_return_val_if_fail (meta != NULL && details != NULL, FALSE);

  holes = gst_ccl_blob_meta_find_entries (meta, index, GST_CCL_COLUMN_HOLES, &n_holes);
  *details = hole < n_holes ? holes[hole] : (GstCclHole) { 0 };
  return hole < n_holes;
}

/**
 * gst_ccl_blob_meta_list_holes:
 * @meta: a blob meta
 * @index: 0 to length - 1
 * @n_holes: (out): length of the array
 *
 * Gets all holes of a blob that are listed, in raster order of first pixels and
 * in pixels of the mask. With #GST_CCL_BLOB_META_FLAG_HOLES_TRUNCATED a blob can
 * have more.
 *
 * Returns: (transfer none) (nullable) (array length=n_holes): the holes; %NULL
 *   when there are none, or holes were not measured
 *
 * Since: 0.1
 */
const GstCclHole *
gst_ccl_blob_meta_list_holes (const GstCclBlobMeta * meta, guint index, guint * n_holes)
{
  g_return_val_if_fail (meta != NULL && n_holes != NULL, NULL);

  return gst_ccl_blob_meta_find_entries (meta, index, GST_CCL_COLUMN_HOLES, n_holes);
}
