/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_BLOB_MEASURES_H__
#define __GST_CCL_BLOB_MEASURES_H__

#include <gst/ccl/gstcclblobmeta.h>

G_BEGIN_DECLS

/**
 * GstCclHullCounts:
 * @label: the blob, by its #GstCclBlob.label
 * @area2: twice the area of the convex hull of the corners of its pixels
 * @diameter2: square of the largest distance of two corners
 * @width: least distance of two parallel lines around the hull, times the
 *   length of their direction
 * @width_dx: that direction, as short as integers allow, at an angle from -π/2
 *   (not included) to π/2
 * @width_dy: its y
 * @rect_dx: the direction of the longer sides of the rectangle of least area
 *   around the hull, in the same way
 * @rect_dy: its y
 * @along0: least x·dx + y·dy of the corners in that direction
 * @along1: largest one
 * @across0: the same in the direction (-dy, dx)
 * @across1: largest one
 * @perimeter: of the hull, in 2⁻⁴⁰ pixels
 *
 * Exact integers behind the hull of a blob. Corner (x, y) is the upper left one
 * of pixel (x, y).
 */
typedef struct
{
  guint32 label;
  guint32 area2;
  guint32 diameter2;
  guint32 width;
  gint32 width_dx;
  gint32 width_dy;
  gint32 rect_dx;
  gint32 rect_dy;
  gint32 along0;
  gint32 along1;
  gint32 across0;
  gint32 across1;
  guint64 perimeter;
} GstCclHullCounts;

/* Sets the counts behind the hulls. */
GST_CCL_API
void gst_ccl_blob_list_set_hull (GstCclBlobList * list, GBytes * hull);

/* Gets the counts that gst_ccl_blob_list_set_hull() has set. */
GST_CCL_API
GBytes *gst_ccl_blob_list_get_hull (const GstCclBlobList * list);

/**
 * GstCclClassId:
 * @label: the blob, by its #GstCclBlob.label
 * @class_id: the value of its pixels
 *
 * The class or instance of a blob of a label map.
 */
typedef struct
{
  guint32 label;
  guint32 class_id;
} GstCclClassId;

/* Sets the values that the blobs have in a label map. */
GST_CCL_API
void gst_ccl_blob_list_set_class_ids (GstCclBlobList * list, GBytes * class_ids);

/* Gets the values that gst_ccl_blob_list_set_class_ids() has set. */
GST_CCL_API
GBytes *gst_ccl_blob_list_get_class_ids (const GstCclBlobList * list);

/* Gets the class or instance of a blob of a label map. FALSE: it is not of a label map. */
GST_CCL_API
gboolean gst_ccl_blob_meta_get_class_id (const GstCclBlobMeta * meta, guint index, guint * class_id);

/* Sets the counts of @other. */
GST_CCL_API
void gst_ccl_blob_list_copy_columns (GstCclBlobList * list, const GstCclBlobList * other);

/* Measures of ccllabel features=hull, in pixels of the mask. FALSE: not measured. */

/* Gets the convex hull of the corners of the pixels of a blob. */
GST_CCL_API
gboolean gst_ccl_blob_meta_get_hull (const GstCclBlobMeta * meta, guint index, gdouble * area, gdouble * perimeter,
    gdouble * solidity);

/* Compares the perimeter of the hull of a blob with its own. */
GST_CCL_API
gboolean gst_ccl_blob_meta_get_convexity (const GstCclBlobMeta * meta, guint index, gdouble * convexity);

/* Gets the largest and the least extent of a blob in any direction, in pixels. */
GST_CCL_API
gboolean gst_ccl_blob_meta_get_feret (const GstCclBlobMeta * meta, guint index, gdouble * max, gdouble * min);

/* Gets the rectangle of smallest area around a blob, in pixels. */
GST_CCL_API
gboolean gst_ccl_blob_meta_get_min_rect (const GstCclBlobMeta * meta, guint index, gdouble * length, gdouble * width,
    gdouble * angle);

/* Gets the centre of the rectangle of gst_ccl_blob_meta_get_min_rect(). */
GST_CCL_API
gboolean gst_ccl_blob_meta_get_min_rect_center (const GstCclBlobMeta * meta, guint index, gdouble * x, gdouble * y);

/* Gets the rectangle with the same second moments, in pixels that are squares. */
GST_CCL_API
void gst_ccl_blob_get_equivalent_rect (const GstCclBlob * blob, gdouble * length, gdouble * width);

G_END_DECLS

#endif
