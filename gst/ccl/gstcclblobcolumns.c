/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Counts beside the blobs of a list, for groups of measures that are not always there. */

#include "gstcclprivate.h"

/* ---------------------------------------------------------------- entries */

static gboolean
is_valid_shape (gconstpointer data)
{
  const GstCclShapeCounts *const counts = data;

  return counts->euler <= 1;
}

static gboolean
is_direction (gint32 dx, gint32 dy)
{
  return (dx > 0 || (dx == 0 && dy > 0)) && dx <= G_MAXINT16 && ABS ((gint64) dy) <= G_MAXINT16;
}

static gboolean
is_valid_hull (gconstpointer data)
{
  const GstCclHullCounts *const counts = data;

  return counts->area2 > 0 && counts->width > 0 && is_direction (counts->width_dx, counts->width_dy)
      && is_direction (counts->rect_dx, counts->rect_dy) && counts->along1 > counts->along0
      && counts->across1 > counts->across0;
}

static gboolean
is_valid_filled (gconstpointer data)
{
  return ((const GstCclFilledCounts *) data)->area_filled > 0;
}

/* In a label map other values can fill a hole: then no pixel of it is background. */
static gboolean
is_valid_hole (gconstpointer data)
{
  const GstCclHole *const hole = data;

  return hole->area_filled > 0 && hole->area_filled >= hole->area && hole->width > 0 && hole->height > 0
      && hole->area_filled <= (guint64) hole->width * hole->height;
}

static gboolean
is_valid_class_id (gconstpointer data)
{
  return ((const GstCclClassId *) data)->class_id <= G_MAXUINT16;
}

/* Bounds of the core: the arithmetic of the measures does not overflow. */
static gboolean
is_valid_intensity (gconstpointer data)
{
  const GstCclIntensityCounts *const c = data;
  const guint64 max_sum = G_GUINT64_CONSTANT (1) << 44, max_of_places = G_GUINT64_CONSTANT (1) << 58;

  return c->min <= c->max && c->max <= G_MAXUINT16 && c->has_chroma <= 1 && c->sum <= max_sum
      && c->squares <= G_GUINT64_CONSTANT (1) << 60 && c->x <= max_of_places && c->y <= max_of_places
      && c->xx[1] <= G_MAXUINT8 && c->xy[1] <= G_MAXUINT8 && c->yy[1] <= G_MAXUINT8 && c->cb <= max_sum
      && c->cr <= max_sum;
}

#define INFO(type, n_words, n_longs, repeats, is_valid) {n_words, n_longs, sizeof (type), repeats, is_valid}

const GstCclColumnInfo gst_ccl_column_infos[GST_CCL_N_COLUMNS] = {
  [GST_CCL_COLUMN_SHAPE] = INFO (GstCclShapeCounts, 5, 0, FALSE, is_valid_shape),
  [GST_CCL_COLUMN_HULL] = INFO (GstCclHullCounts, 12, 1, FALSE, is_valid_hull),
  [GST_CCL_COLUMN_FILLED] = INFO (GstCclFilledCounts, 2, 1, FALSE, is_valid_filled),
  [GST_CCL_COLUMN_HOLES] = INFO (GstCclHole, 8, 0, TRUE, is_valid_hole),
  [GST_CCL_COLUMN_CLASS_ID] = INFO (GstCclClassId, 2, 0, FALSE, is_valid_class_id),
  [GST_CCL_COLUMN_INTENSITY] = INFO (GstCclIntensityCounts, 4, 12, FALSE, is_valid_intensity),
};

#define ASSERT_RESERVED_AT(type, offset) G_STATIC_ASSERT (G_STRUCT_OFFSET (type, _gst_reserved) == (offset))

ASSERT_RESERVED_AT (GstCclShapeCounts, 5 * 4);
ASSERT_RESERVED_AT (GstCclHullCounts, 12 * 4 + 8);
ASSERT_RESERVED_AT (GstCclFilledCounts, 2 * 4 + 8);
ASSERT_RESERVED_AT (GstCclHole, 8 * 4);
ASSERT_RESERVED_AT (GstCclClassId, 2 * 4);

/* ---------------------------------------------------------------- columns */

void
gst_ccl_blob_list_set_column (GstCclBlobList * list, GstCclColumn column, GBytes * bytes)
{
  GBytes *const old = list->columns[column];

  list->columns[column] = bytes != NULL ? g_bytes_ref (bytes) : NULL;
  if (old != NULL)
    g_bytes_unref (old);
}

/**
 * gst_ccl_blob_list_copy_columns: (skip)
 * @list: a list that was not passed on yet
 * @other: (nullable): another list
 *
 * Sets the counts of @other. An element that makes a new list from the blobs
 * of another one passes them on so.
 *
 * Since: 0.1
 */
void
gst_ccl_blob_list_copy_columns (GstCclBlobList * list, const GstCclBlobList * other)
{
  g_return_if_fail (list != NULL);

  for (guint i = 0; i < GST_CCL_N_COLUMNS; i++)
    gst_ccl_blob_list_set_column (list, i, other != NULL ? other->columns[i] : NULL);
}

/**
 * gst_ccl_blob_list_set_shape: (skip)
 * @list: a list that was not passed on yet
 * @shape: (nullable) (transfer none): an array of #GstCclShapeCounts with
 *   ascending labels; %NULL: not measured
 *
 * Sets the counts behind the holes and perimeters. A blob without an entry for
 * its label has none.
 *
 * Since: 0.1
 */
void
gst_ccl_blob_list_set_shape (GstCclBlobList * list, GBytes * shape)
{
  g_return_if_fail (list != NULL);

  gst_ccl_blob_list_set_column (list, GST_CCL_COLUMN_SHAPE, shape);
}

/**
 * gst_ccl_blob_list_get_shape: (skip)
 * @list: (nullable): a list; %NULL has none
 *
 * Gets the counts that gst_ccl_blob_list_set_shape() has set.
 *
 * Returns: (transfer none) (nullable): an array of #GstCclShapeCounts
 *
 * Since: 0.1
 */
GBytes *
gst_ccl_blob_list_get_shape (const GstCclBlobList * list)
{
  return list != NULL ? list->columns[GST_CCL_COLUMN_SHAPE] : NULL;
}

/**
 * gst_ccl_blob_list_set_hull: (skip)
 * @list: a list that was not passed on yet
 * @hull: (nullable) (transfer none): an array of #GstCclHullCounts with
 *   ascending labels; %NULL: not measured
 *
 * Sets the counts behind the hulls. A blob without an entry for its label has
 * none.
 *
 * Since: 0.1
 */
void
gst_ccl_blob_list_set_hull (GstCclBlobList * list, GBytes * hull)
{
  g_return_if_fail (list != NULL);

  gst_ccl_blob_list_set_column (list, GST_CCL_COLUMN_HULL, hull);
}

/**
 * gst_ccl_blob_list_get_hull: (skip)
 * @list: (nullable): a list; %NULL has none
 *
 * Gets the counts that gst_ccl_blob_list_set_hull() has set.
 *
 * Returns: (transfer none) (nullable): an array of #GstCclHullCounts
 *
 * Since: 0.1
 */
GBytes *
gst_ccl_blob_list_get_hull (const GstCclBlobList * list)
{
  return list != NULL ? list->columns[GST_CCL_COLUMN_HULL] : NULL;
}

/**
 * gst_ccl_blob_list_set_holes: (skip)
 * @list: a list that was not passed on yet
 * @filled: (nullable) (transfer none): an array of #GstCclFilledCounts with
 *   ascending labels; %NULL: not measured
 * @holes: (nullable) (transfer none): an array of #GstCclHole by their parents;
 *   %NULL: none
 *
 * Sets the filled areas and the holes.
 *
 * Since: 0.1
 */
void
gst_ccl_blob_list_set_holes (GstCclBlobList * list, GBytes * filled, GBytes * holes)
{
  g_return_if_fail (list != NULL);

  gst_ccl_blob_list_set_column (list, GST_CCL_COLUMN_FILLED, filled);
  gst_ccl_blob_list_set_column (list, GST_CCL_COLUMN_HOLES, holes);
}
