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

  /*< private >*/
  guint64 _gst_reserved[2];
} GstCclHullCounts;

/* Sets the counts behind the hulls. */
GST_CCL_API
void gst_ccl_blob_list_set_hull (GstCclBlobList * list, GBytes * hull);

/* Gets the counts that gst_ccl_blob_list_set_hull() has set. */
GST_CCL_API
GBytes *gst_ccl_blob_list_get_hull (const GstCclBlobList * list);

/**
 * GstCclFilledCounts:
 * @label: the blob, by its #GstCclBlob.label
 * @n_holes: number of its holes
 * @area_filled: pixels of the blob, its holes and whatever is in them
 *
 * A blob with its holes filled.
 */
typedef struct
{
  guint32 label;
  guint32 n_holes;
  guint64 area_filled;

  /*< private >*/
  guint64 _gst_reserved[2];
} GstCclFilledCounts;

/**
 * GstCclHole:
 * @parent: #GstCclBlob.label of the blob around it
 * @area: pixels of background; 0 if other values of a label map fill it
 * @area_filled: with the blobs inside and their holes
 * @x: left edge of the box, in mask pixels
 * @y: top edge of the box
 * @width: width of the box
 * @height: height of the box
 * @first_x: column of the first pixel in raster order; its row is @y
 *
 * A hole: background that reaches no border of the mask, 4-connected in an
 * 8-connected blob and 8-connected in a 4-connected one.
 */
typedef struct
{
  guint32 parent;
  guint32 area;
  guint32 area_filled;
  gint32 x;
  gint32 y;
  gint32 width;
  gint32 height;
  gint32 first_x;

  /*< private >*/
  guint32 _gst_reserved[4];
} GstCclHole;

/* Sets the filled areas and the holes. */
GST_CCL_API
void gst_ccl_blob_list_set_holes (GstCclBlobList * list, GBytes * filled, GBytes * holes);

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

  /*< private >*/
  guint32 _gst_reserved[2];
} GstCclClassId;

/* Sets the values that the blobs have in a label map. */
GST_CCL_API
void gst_ccl_blob_list_set_class_ids (GstCclBlobList * list, GBytes * class_ids);

/* Gets the values that gst_ccl_blob_list_set_class_ids() has set. */
GST_CCL_API
GBytes *gst_ccl_blob_list_get_class_ids (const GstCclBlobList * list);

/* Gets the class or instance of a blob of a label map, as ccllabel foreground=equal finds it. */
GST_CCL_API
gboolean gst_ccl_blob_meta_get_class_id (const GstCclBlobMeta * meta, guint index, guint * class_id);

/**
 * GstCclIntensityCounts:
 * @label: the blob, by its #GstCclBlob.label
 * @min: smallest luma I of its pixels
 * @max: largest one
 * @has_chroma: 1, or 0 where the frame has none
 * @sum: sum of I
 * @squares: sum of I²
 * @x: sum of x·I
 * @y: sum of y·I
 * @xx: sum of x²·I, the low 64 bits first
 * @xy: sum of x·y·I
 * @yy: sum of y²·I
 * @cb: sum of the blue difference
 * @cr: sum of the red difference
 *
 * Exact integers behind the intensity of a blob.
 */
typedef struct
{
  guint32 label;
  guint32 min;
  guint32 max;
  guint32 has_chroma;
  guint64 sum;
  guint64 squares;
  guint64 x;
  guint64 y;
  guint64 xx[2];
  guint64 xy[2];
  guint64 yy[2];
  guint64 cb;
  guint64 cr;

  /*< private >*/
  guint64 _gst_reserved[2];
} GstCclIntensityCounts;

/* Sets the sums behind the intensity. */
GST_CCL_API
void gst_ccl_blob_list_set_intensity (GstCclBlobList * list, GBytes * intensity);

/* Gets the sums that gst_ccl_blob_list_set_intensity() has set. */
GST_CCL_API
GBytes *gst_ccl_blob_list_get_intensity (const GstCclBlobList * list);

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

/* Gets the corners of the rectangle of gst_ccl_blob_meta_get_min_rect() in the frame, like a
 * contour. */
GST_CCL_API
gdouble *gst_ccl_blob_meta_get_min_rect_corners (const GstCclBlobMeta * meta, guint index, guint * n_values);

/* Gets the rectangle with the same second moments, in pixels that are squares. */
GST_CCL_API
void gst_ccl_blob_get_equivalent_rect (const GstCclBlob * blob, gdouble * length, gdouble * width);

/* With ccllabel features=holes. */

/* Gets the area of a blob with its holes filled. */
GST_CCL_API
gboolean gst_ccl_blob_meta_get_filled_area (const GstCclBlobMeta * meta, guint index, guint64 * area, guint * n_holes);

/* Gets a hole of a blob. */
GST_CCL_API
gboolean gst_ccl_blob_meta_get_hole (const GstCclBlobMeta * meta, guint index, guint hole, GstCclHole * details);

/* Gets all holes of a blob that are listed, in raster order of first pixels and in pixels of the
 * mask. */
GST_CCL_API
const GstCclHole *gst_ccl_blob_meta_list_holes (const GstCclBlobMeta * meta, guint index, guint * n_holes);

/* Gets the bounding box of a hole in pixels of the frame, as gst_ccl_blob_meta_get_box() does for a
 * blob. */
GST_CCL_API
void gst_ccl_blob_meta_get_hole_box (const GstCclBlobMeta * meta, const GstCclHole * hole, gdouble * x, gdouble * y,
    gdouble * width, gdouble * height);

/* With ccllabel features=intensity, of the frame under the mask. FALSE: not measured. */

/* Gets the luma of the pixels of a blob, in the values of the frame. */
GST_CCL_API
gboolean gst_ccl_blob_meta_get_intensity (const GstCclBlobMeta * meta, guint index, gdouble * min, gdouble * max,
    gdouble * mean, gdouble * std);

/* Gets the mean chroma of the pixels of a blob, in the values of the frame. */
GST_CCL_API
gboolean gst_ccl_blob_meta_get_chroma (const GstCclBlobMeta * meta, guint index, gdouble * cb, gdouble * cr);

/* Gets the centroid of a blob in which each pixel weighs as much as its luma. */
GST_CCL_API
gboolean gst_ccl_blob_meta_get_weighted_centroid (const GstCclBlobMeta * meta, guint index, gdouble * x, gdouble * y);

/* Gets the covariance of a blob in which each pixel weighs as much as its luma. */
GST_CCL_API
gboolean gst_ccl_blob_meta_get_weighted_covariance (const GstCclBlobMeta * meta, guint index, gdouble * xx, gdouble * xy,
    gdouble * yy);

/* All measures of many blobs at once. */

/**
 * GstCclBlobRow:
 * @label: number of the blob in its frame
 * @flags: #GstCclBlobFlags
 * @age: frames its track has lived
 * @zones: bit i is set when it is in zone i
 * @track_id: identity over time
 * @parent_id: the track that its track has split off
 * @volume_id: its component of a stack of frames
 * @area: pixels of the frame, as the members up to @orientation
 * @box: x, y, width, height
 * @centroid: x, y
 * @covariance: xx, xy, yy
 * @axes: major, minor
 * @orientation: radians
 * @euler_number: ccllabel features=shape, in pixels of the mask, as all members
 *   from here on
 * @n_holes: features=shape or holes
 * @perimeter_crack: features=shape
 * @perimeter_crofton: features=shape
 * @circularity: features=shape
 * @compactness: features=shape
 * @area_convex: features=hull
 * @solidity: features=hull
 * @perimeter_convex: features=hull
 * @feret_diameter_max: features=hull
 * @min_feret: features=hull
 * @rect_center: features=hull: x, y
 * @rect_size: features=hull: length, width
 * @rect_angle: features=hull, radians
 * @area_filled: features=holes
 * @intensity_min: features=intensity
 * @intensity_max: features=intensity
 * @intensity_sum: features=intensity
 * @intensity_mean: features=intensity
 * @intensity_std: features=intensity
 * @centroid_weighted: features=intensity: x, y
 * @covariance_weighted: features=intensity: xx, xy, yy
 * @cb_mean: features=intensity
 * @cr_mean: features=intensity
 * @convexity: features=shape+hull
 * @class_id: foreground=equal
 *
 * A row of gst_ccl_blob_meta_to_table(): each member is what the getter of that
 * measure gives. NaN: not measured, or undefined. There is no padding.
 */
typedef struct
{
  guint32 label;
  guint32 flags;
  guint32 age;
  guint32 zones;
  guint64 track_id;
  guint64 parent_id;
  guint64 volume_id;
  gdouble area;
  gdouble box[4];
  gdouble centroid[2];
  gdouble covariance[3];
  gdouble axes[2];
  gdouble orientation;
  gdouble euler_number;
  gdouble n_holes;
  gdouble perimeter_crack;
  gdouble perimeter_crofton;
  gdouble circularity;
  gdouble compactness;
  gdouble area_convex;
  gdouble solidity;
  gdouble perimeter_convex;
  gdouble feret_diameter_max;
  gdouble min_feret;
  gdouble rect_center[2];
  gdouble rect_size[2];
  gdouble rect_angle;
  gdouble area_filled;
  gdouble intensity_min;
  gdouble intensity_max;
  gdouble intensity_sum;
  gdouble intensity_mean;
  gdouble intensity_std;
  gdouble centroid_weighted[2];
  gdouble covariance_weighted[3];
  gdouble cb_mean;
  gdouble cr_mean;
  gdouble convexity;
  gdouble class_id;
} GstCclBlobRow;

/* Writes the measures of blobs as an array of #GstCclBlobRow, in the order of the list. */
GST_CCL_API
GBytes *gst_ccl_blob_meta_to_table (const GstCclBlobMeta * meta, guint first, guint n_blobs);

G_END_DECLS

#endif
