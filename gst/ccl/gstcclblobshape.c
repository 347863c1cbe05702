/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Holes and perimeters of the blobs of a meta. */

#include "gstcclprivate.h"

static guint32
get_label (const guint8 * entries, gsize index, gsize size)
{
  guint32 label;

  memcpy (&label, entries + index * size, sizeof (label));
  return label;
}

/* The first entry whose label is at least this one; n when there is none. A blob can have many entries. */
static gsize
find_first (const guint8 * entries, gsize n, gsize size, guint64 label)
{
  gsize first = 0;

  while (n > 0) {
    const gsize half = n / 2;

    if (get_label (entries, first + half, size) < label) {
      first += half + 1;
      n -= half + 1;
    } else {
      n = half;
    }
  }
  return first;
}

gconstpointer
gst_ccl_blob_meta_find_entries (const GstCclBlobMeta * meta, guint index, GstCclColumn column, guint * n_entries)
{
  const GstCclBlob *const blob = gst_ccl_blob_meta_get_blob (meta, index);
  GBytes *const bytes = blob != NULL && blob->area > 0 ? meta->list->columns[column] : NULL;
  const gsize size = gst_ccl_column_infos[column].size;
  gsize n_all = 0, first;
  const guint8 *const entries = bytes != NULL ? g_bytes_get_data (bytes, &n_all) : NULL;

  n_all /= size;
  first = n_all > 0 ? find_first (entries, n_all, size, blob->label) : 0;
  *n_entries = n_all > 0 ? find_first (entries, n_all, size, (guint64) blob->label + 1) - first : 0;
  return *n_entries > 0 ? entries + first * size : NULL;
}

gconstpointer
gst_ccl_blob_meta_find_counts (const GstCclBlobMeta * meta, guint index, GstCclColumn column)
{
  guint n_entries;

  return gst_ccl_blob_meta_find_entries (meta, index, column, &n_entries);
}

gboolean
gst_ccl_blob_meta_get_shape_measures (const GstCclBlobMeta * meta, guint index, CclShapeMeasures * measures)
{
  const GstCclShapeCounts *const counts = gst_ccl_blob_meta_find_counts (meta, index, GST_CCL_COLUMN_SHAPE);

  if (counts == NULL) {
    *measures = (CclShapeMeasures) { 0 };
    return FALSE;
  }
  ccl_shape_measures (&(CclShapeCounts) { counts->euler, counts->runs, counts->tops, counts->diagonals},
      gst_ccl_blob_meta_get_blob (meta, index)->area, measures);
  return TRUE;
}

/**
 * gst_ccl_blob_meta_get_holes:
 * @meta: a blob meta
 * @index: 0 to length - 1
 * @euler_number: (out) (optional): 1 - @n_holes
 * @n_holes: (out) (optional): number of its holes
 *
 * Gets the holes of a blob: parts of the background that it encloses, with
 * other blobs inside or not. A hole of an 8-connected blob is 4-connected, and
 * one of a 4-connected blob 8-connected.
 *
 * Returns: %FALSE when they were not counted
 *
 * Since: 0.1
 */
gboolean
gst_ccl_blob_meta_get_holes (const GstCclBlobMeta * meta, guint index, gint * euler_number, guint * n_holes)
{
  CclShapeMeasures measures;
  gboolean known;

  g_return_val_if_fail (meta != NULL, FALSE);

  known = gst_ccl_blob_meta_get_shape_measures (meta, index, &measures);
  if (euler_number != NULL)
    *euler_number = measures.euler_number;
  if (n_holes != NULL)
    *n_holes = measures.n_holes;
  return known;
}

/**
 * gst_ccl_blob_meta_get_perimeter:
 * @meta: a blob meta
 * @index: 0 to length - 1
 * @crack: (out) (optional): number of edges between its pixels and others
 * @crofton: (out) (optional): the length by Crofton's formula in four
 *   directions, as scikit-image's `perimeter_crofton()`
 *
 * Gets the length of the border of a blob and its holes, in pixels of the mask.
 *
 * Returns: %FALSE when it was not measured
 *
 * Since: 0.1
 */
gboolean
gst_ccl_blob_meta_get_perimeter (const GstCclBlobMeta * meta, guint index, gdouble * crack, gdouble * crofton)
{
  CclShapeMeasures measures;
  gboolean known;

  g_return_val_if_fail (meta != NULL, FALSE);

  known = gst_ccl_blob_meta_get_shape_measures (meta, index, &measures);
  if (crack != NULL)
    *crack = measures.perimeter_crack;
  if (crofton != NULL)
    *crofton = measures.perimeter_crofton;
  return known;
}

/**
 * gst_ccl_blob_meta_get_circularity:
 * @meta: a blob meta
 * @index: 0 to length - 1
 * @circularity: (out) (optional): 4π area / crofton², at most 1: 1 for a disc
 * @compactness: (out) (optional): crofton² / (4π area)
 *
 * Compares the area of a blob with its perimeter.
 *
 * Returns: %FALSE when it was not measured
 *
 * Since: 0.1
 */
gboolean
gst_ccl_blob_meta_get_circularity (const GstCclBlobMeta * meta, guint index, gdouble * circularity,
    gdouble * compactness)
{
  CclShapeMeasures measures;
  gboolean known;

  g_return_val_if_fail (meta != NULL, FALSE);

  known = gst_ccl_blob_meta_get_shape_measures (meta, index, &measures);
  if (circularity != NULL)
    *circularity = measures.circularity;
  if (compactness != NULL)
    *compactness = measures.compactness;
  return known;
}
