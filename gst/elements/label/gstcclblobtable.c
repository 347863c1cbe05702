/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclblobtable.h"

#include <stdlib.h>

#include <gst/ccl/gstcclblobmeasures.h>

#include "base/gstcclvector.h"

G_STATIC_ASSERT (CCL_TOUCHES_LEFT == GST_CCL_BLOB_FLAG_TOUCHES_LEFT);
G_STATIC_ASSERT (CCL_TOUCHES_TOP == GST_CCL_BLOB_FLAG_TOUCHES_TOP);
G_STATIC_ASSERT (CCL_TOUCHES_RIGHT == GST_CCL_BLOB_FLAG_TOUCHES_RIGHT);
G_STATIC_ASSERT (CCL_TOUCHES_BOTTOM == GST_CCL_BLOB_FLAG_TOUCHES_BOTTOM);
G_STATIC_ASSERT (sizeof (CclPoint) == sizeof (GstCclPoint));

/* Entries of columns begin with a label. */
static gint
compare_labels (gconstpointer a, gconstpointer b)
{
  const guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;

  return x < y ? -1 : x > y;
}

/* By label, for tables in any order. Takes the entries. */
static void
add_column (GstCclBlobList * list, gpointer entries, gsize n, gsize size, void (*set) (GstCclBlobList *, GBytes *))
{
  GBytes *bytes;

  qsort (entries, n, size, compare_labels);
  bytes = g_bytes_new_take (entries, n * size);
  set (list, bytes);
  g_bytes_unref (bytes);
}

/* FALSE without memory. */
static gboolean
add_shape (GstCclBlobList * list, const CclTable * table)
{
  const gsize n = table->n_components;
  GstCclShapeCounts *const counts = g_try_new (GstCclShapeCounts, n);

  if (!counts)
    return n == 0;
  for (gsize i = 0; i < n; i++) {
    const guint32 label = table->components[i].label;
    const CclShapeCounts *const shape = &table->shape[label - 1];

    counts[i] = (GstCclShapeCounts) { label, shape->euler, shape->runs, shape->tops, shape->diagonals, {0} };
  }
  add_column (list, counts, n, sizeof *counts, gst_ccl_blob_list_set_shape);
  return TRUE;
}

static gboolean
add_hull (GstCclBlobList * list, const CclTable * table)
{
  const gsize n = table->n_components;
  GstCclHullCounts *const counts = g_try_new (GstCclHullCounts, n);

  if (!counts)
    return n == 0;
  for (gsize i = 0; i < n; i++) {
    const guint32 label = table->components[i].label;
    const CclHullCounts *const hull = &table->hull[label - 1];

    counts[i] = (GstCclHullCounts) {
      .label = label,
      .area2 = hull->area2,
      .diameter2 = hull->diameter2,
      .width = hull->width,
      .width_dx = hull->width_dx,
      .width_dy = hull->width_dy,
      .rect_dx = hull->rect_dx,
      .rect_dy = hull->rect_dy,
      .along0 = hull->along0,
      .along1 = hull->along1,
      .across0 = hull->across0,
      .across1 = hull->across1,
      .perimeter = hull->perimeter,
    };
  }
  add_column (list, counts, n, sizeof *counts, gst_ccl_blob_list_set_hull);
  return TRUE;
}

static gboolean
add_class_ids (GstCclBlobList * list, const CclTable * table, const guint16 * classes)
{
  const gsize n = table->n_components;
  GstCclClassId *const entries = g_try_new (GstCclClassId, n);

  if (!entries)
    return n == 0;
  for (gsize i = 0; i < n; i++) {
    const guint32 label = table->components[i].label;
    const guint16 value = table->class_ids[label - 1];

    entries[i] = (GstCclClassId) {.label = label,.class_id = classes ? classes[value] : value };
  }
  add_column (list, entries, n, sizeof *entries, gst_ccl_blob_list_set_class_ids);
  return TRUE;
}

static gboolean
add_intensity (GstCclBlobList * list, const CclTable * table)
{
  const gsize n = table->n_components;
  GstCclIntensityCounts *const counts = g_try_new (GstCclIntensityCounts, n);

  if (!counts)
    return n == 0;
  for (gsize i = 0; i < n; i++) {
    const guint32 label = table->components[i].label;
    const CclIntensityCounts *const c = &table->intensity[label - 1];

    counts[i] = (GstCclIntensityCounts) {
    .label = label,.min = c->min,.max = c->max,.has_chroma = c->has_chroma,.sum = c->sum,.squares = c->squares,.x =
          c->x,.y = c->y,.xx = { c->xx[0], c->xx[1] },.xy = { c->xy[0], c->xy[1] },.yy = { c->yy[0], c->yy[1] },.cb =
          c->chroma[0],.cr = c->chroma[1],};
  }
  add_column (list, counts, n, sizeof *counts, gst_ccl_blob_list_set_intensity);
  return TRUE;
}

static GstCclHole
hole_of (const CclHole * hole)
{
  return (GstCclHole) {
    .parent = hole->parent,
    .area = hole->area,
    .area_filled = hole->area_filled,
    .x = hole->x0,
    .y = hole->y0,
    .width = hole->x1 - hole->x0,
    .height = hole->y1 - hole->y0,
    .first_x = hole->first_x,
  };
}

gsize
gst_ccl_blob_table_count_holes (const CclTable * table)
{
  gsize n = 0;

  for (guint i = 0; table->holes && i < table->n_components; i++)
    n += table->holes[table->components[i].label - 1].n_holes;
  return n;
}

/* The holes of the blobs in the table. FALSE without memory. */
static gboolean
add_holes (GstCclBlobList * list, const CclTable * table, guint max_holes)
{
  const gsize n = table->n_components;
  GstCclFilledCounts *const filled = g_try_new (GstCclFilledCounts, n);
  GBytes *bytes, *of_rows;
  GstCclHole *rows;
  const gsize max_rows = MIN (gst_ccl_blob_table_count_holes (table), max_holes);
  gsize n_rows = 0;

  for (gsize i = 0; i < n && filled; i++) {
    const guint32 label = table->components[i].label;
    const CclHoleCounts *const counts = &table->holes[label - 1];

    filled[i] = (GstCclFilledCounts) { label, counts->n_holes, counts->area_filled, {0} };
  }
  rows = g_try_new (GstCclHole, max_rows);
  if ((!filled && n) || (!rows && max_rows)) {
    g_free (filled);
    g_free (rows);
    return FALSE;
  }
  qsort (filled, n, sizeof *filled, compare_labels);
  for (gsize i = 0; i < n; i++)
    for (guint k = 0; k < filled[i].n_holes && n_rows < max_rows; k++)
      rows[n_rows++] = hole_of (&table->hole_rows[table->holes[filled[i].label - 1].first + k]);
  bytes = g_bytes_new_take (filled, n * sizeof *filled);
  of_rows = g_bytes_new_take (rows, n_rows * sizeof *rows);
  gst_ccl_blob_list_set_holes (list, bytes, of_rows);
  g_bytes_unref (bytes);
  g_bytes_unref (of_rows);
  return TRUE;
}

static gboolean
add_columns (GstCclBlobList * list, const CclTable * table, const guint16 * classes, guint max_holes)
{
  return (!table->shape || add_shape (list, table)) && (!table->hull || add_hull (list, table))
      && (!table->holes || !table->n_components || add_holes (list, table, max_holes))
      && (!table->intensity || add_intensity (list, table))
      && (!table->class_ids || add_class_ids (list, table, classes));
}

GstCclBlobList *
gst_ccl_blob_table_to_list (const CclTable * table, const guint16 * classes, guint max_holes)
{
  GstCclBlob *blobs;
  GstCclBlobList *list = gst_ccl_blob_list_new_uninitialized (table->n_components, &blobs);

  for (guint i = 0; list && i < table->n_components; i++) {
    const CclComponent *const component = &table->components[i];
    blobs[i] = (GstCclBlob) {
      .label = component->label,
      .flags = component->flags,
      .x = component->x0,
      .y = component->y0,
      .width = component->x1 - component->x0,
      .height = component->y1 - component->y0,
      .first_x = component->first_x,
      .area = component->moments.area,
      .m10 = component->moments.m10,
      .m01 = component->moments.m01,
      .m20 = component->moments.m20,
      .m11 = component->moments.m11,
      .m02 = component->moments.m02,
      .mtd_id = GST_CCL_MTD_ID_NONE,
    };
  }
  if (list && !add_columns (list, table, classes, max_holes))
    g_clear_pointer (&list, gst_ccl_blob_list_unref);
  return list;
}

gboolean
gst_ccl_blob_table_add_contours (GstCclBlobList * list, const CclTable * table, const CclMask * mask,
    const CclContourConfig * config, CclContours * contours)
{
  GstCclBlob *const blobs = (GstCclBlob *) gst_ccl_blob_list_get (list, 0);
  const CclPoint *points;
  gsize n_points;
  GBytes *bytes;

  ccl_contours_clear (contours);
  for (guint i = 0; i < table->n_components; i++) {
    gsize first;
    guint32 n;

    ccl_contours_points (contours, &first);
    if (ccl_contours_add (contours, mask, &table->components[i], config, &n) != CCL_OK) {
      GST_WARNING ("blob %u has no contour: %s", blobs[i].label, ccl_error_message ());
      continue;
    }
    blobs[i].first_point = first;
    blobs[i].n_contour = n;
  }
  points = ccl_contours_points (contours, &n_points);
  bytes = gst_ccl_bytes_try_new (points, n_points * sizeof (CclPoint));
  if (!bytes)
    return FALSE;
  gst_ccl_blob_list_set_points (list, bytes);
  g_bytes_unref (bytes);
  return TRUE;
}
