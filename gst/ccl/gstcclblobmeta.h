/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_BLOB_META_H__
#define __GST_CCL_BLOB_META_H__

#include <gst/gst.h>
#include <gst/video/video.h>
#include <gst/ccl/ccl-prelude.h>

G_BEGIN_DECLS

/**
 * GstCclBlobFlags:
 * @GST_CCL_BLOB_FLAG_NONE: no flag
 * @GST_CCL_BLOB_FLAG_TOUCHES_LEFT: the blob touches the left border of the mask
 * @GST_CCL_BLOB_FLAG_TOUCHES_TOP: it touches the top border
 * @GST_CCL_BLOB_FLAG_TOUCHES_RIGHT: it touches the right border
 * @GST_CCL_BLOB_FLAG_TOUCHES_BOTTOM: it touches the bottom border
 * @GST_CCL_BLOB_FLAG_TENTATIVE: its track is new and not yet confirmed
 * @GST_CCL_BLOB_FLAG_CONFIRMED: its track is confirmed
 * @GST_CCL_BLOB_FLAG_PREDICTED: not seen in this frame; position predicted by the tracker
 * @GST_CCL_BLOB_FLAG_LOST: its track has just ended
 * @GST_CCL_BLOB_FLAG_MERGED: several tracks share this blob
 * @GST_CCL_BLOB_FLAG_SPLIT: its track has split off another track in this frame
 *
 * State of a blob.
 */
typedef enum
{
  GST_CCL_BLOB_FLAG_NONE = 0,
  GST_CCL_BLOB_FLAG_TOUCHES_LEFT = (1 << 0),
  GST_CCL_BLOB_FLAG_TOUCHES_TOP = (1 << 1),
  GST_CCL_BLOB_FLAG_TOUCHES_RIGHT = (1 << 2),
  GST_CCL_BLOB_FLAG_TOUCHES_BOTTOM = (1 << 3),
  GST_CCL_BLOB_FLAG_TENTATIVE = (1 << 8),
  GST_CCL_BLOB_FLAG_CONFIRMED = (1 << 9),
  GST_CCL_BLOB_FLAG_PREDICTED = (1 << 10),
  GST_CCL_BLOB_FLAG_LOST = (1 << 11),
  GST_CCL_BLOB_FLAG_MERGED = (1 << 12),
  GST_CCL_BLOB_FLAG_SPLIT = (1 << 13),
} GstCclBlobFlags;

/**
 * GST_CCL_BLOB_FLAGS_BORDER:
 *
 * All flags for the borders of the mask that a blob touches.
 */
#define GST_CCL_BLOB_FLAGS_BORDER 0xf

/**
 * GST_CCL_MTD_ID_NONE:
 *
 * #GstCclBlob.mtd_id of a blob that no object detection mirrors.
 */
#define GST_CCL_MTD_ID_NONE ((guint32) 0xffffffff)

/**
 * GST_CCL_ERROR:
 *
 * Error domain of this library; codes are #GstCclError.
 */
#define GST_CCL_ERROR (gst_ccl_error_quark ())

/**
 * GstCclError:
 * @GST_CCL_ERROR_DATA: the bytes are not a blob meta, or were damaged or cut short
 * @GST_CCL_ERROR_VERSION: a newer version of this library wrote them
 * @GST_CCL_ERROR_NO_MEMORY: there is no memory for the blobs
 *
 * Reasons why a flat form cannot be read.
 */
typedef enum
{
  GST_CCL_ERROR_DATA = 1,
  GST_CCL_ERROR_VERSION,
  GST_CCL_ERROR_NO_MEMORY,
} GstCclError;

GST_CCL_API
GQuark gst_ccl_error_quark (void);

typedef struct _GstCclBlob GstCclBlob;

/**
 * GstCclBlob:
 * @label: number of the blob in its frame, 1..n in raster order of first
 *   pixels; 0 for a blob that a tracker added
 * @flags: #GstCclBlobFlags
 * @x: left edge of the box, in mask pixels
 * @y: top edge of the box
 * @width: width of the box; the box holds columns @x to @x + @width - 1
 * @height: height of the box
 * @first_x: column of the first pixel in raster order; its row is @y
 * @age: frames its track has lived; 0 when untracked
 * @area: number of pixels (m00)
 * @m10: sum of x over the pixels, x counted from the centre of the mask's
 *   first pixel
 * @m01: sum of y
 * @m20: sum of x²
 * @m11: sum of x·y
 * @m02: sum of y²
 * @track_id: identity over time, from 1 up; 0 when untracked
 * @mtd_id: id of the object detection that mirrors this blob in the buffer's
 *   GstAnalyticsRelationMeta; %GST_CCL_MTD_ID_NONE when there is none
 * @zones: bit i is set when it is in zone i of the buffer's #GstCclZoneMeta
 * @parent_id: the track that its track has split off; 0 when none
 * @first_point: index of its first point among the points of its list, see
 *   gst_ccl_blob_list_set_points()
 * @n_contour: corners of its contour; 0: not traced
 * @n_trail: positions of its trail, after the contour; 0: none
 * @volume_id: component of a stack of frames to which it belongs: blobs of
 *   successive frames have the same id when they touch over time. From 1 up,
 *   unique in a stream; 0 when frames are labelled one by one
 *
 * One connected component, measured in pixels of the mask it was found in.
 * All sums are exact integers.
 */
struct _GstCclBlob
{
  guint32 label;
  guint32 flags;
  gint32 x;
  gint32 y;
  gint32 width;
  gint32 height;
  gint32 first_x;
  guint32 age;
  guint64 area;
  guint64 m10;
  guint64 m01;
  guint64 m20;
  guint64 m11;
  guint64 m02;
  guint64 track_id;
  guint32 mtd_id;
  guint32 zones;
  guint64 parent_id;
  guint32 first_point;
  guint16 n_contour;
  guint16 n_trail;
  guint64 volume_id;

  /*< private >*/
  guint64 _gst_reserved;
};

#define GST_TYPE_CCL_BLOB (gst_ccl_blob_get_type ())
GST_CCL_API
GType gst_ccl_blob_get_type (void);

/* Makes a blob with every number 0 and no mirror (#GstCclBlob.mtd_id is %GST_CCL_MTD_ID_NONE). */
GST_CCL_API
GstCclBlob *gst_ccl_blob_new (void);

/* Copies a blob. */
GST_CCL_API
GstCclBlob *gst_ccl_blob_copy (const GstCclBlob * blob);

/* Frees a blob. */
GST_CCL_API
void gst_ccl_blob_free (GstCclBlob * blob);

/* Shape in mask pixels, with names and definitions as in scikit-image. */

/* Gets the centre of gravity in mask pixels; the centre of the mask's first pixel is (0, 0). */
GST_CCL_API
void gst_ccl_blob_get_centroid (const GstCclBlob * blob, gdouble * x, gdouble * y);

/* Gets the population covariance of the pixel centres, in mask pixels squared. */
GST_CCL_API
void gst_ccl_blob_get_covariance (const GstCclBlob * blob, gdouble * xx, gdouble * xy, gdouble * yy);

/* Gets the direction of the major axis, like scikit-image's `orientation`: the angle from the y
 * axis, which points down, to the major axis, positive towards positive x. */
GST_CCL_API
gdouble gst_ccl_blob_get_orientation (const GstCclBlob * blob);

/* Gets the full lengths, in mask pixels, of the axes of the ellipse with the same second moments
 * (scikit-image: `axis_major_length`, `axis_minor_length`). */
GST_CCL_API
void gst_ccl_blob_get_axes (const GstCclBlob * blob, gdouble * major, gdouble * minor);

/* Gets the eccentricity of the ellipse with the same second moments. */
GST_CCL_API
gdouble gst_ccl_blob_get_eccentricity (const GstCclBlob * blob);

/* Gets the fraction of its box that the blob fills. */
GST_CCL_API
gdouble gst_ccl_blob_get_extent (const GstCclBlob * blob);

/* Gets the diameter of the circle with the same area (scikit-image: `equivalent_diameter_area`). */
GST_CCL_API
gdouble gst_ccl_blob_get_equivalent_diameter (const GstCclBlob * blob);

/**
 * GstCclBlobList:
 *
 * An immutable, reference-counted array of #GstCclBlob. Copies of a buffer
 * share it.
 */
typedef struct _GstCclBlobList GstCclBlobList;

#define GST_TYPE_CCL_BLOB_LIST (gst_ccl_blob_list_get_type ())
GST_CCL_API
GType gst_ccl_blob_list_get_type (void);

/* Makes a list of copies of @blobs. */
GST_CCL_API
GstCclBlobList *gst_ccl_blob_list_new (const GstCclBlob * blobs, guint n_blobs);

/* Makes a list whose array the caller fills in place. */
GST_CCL_API
GstCclBlobList *gst_ccl_blob_list_new_uninitialized (guint n_blobs, GstCclBlob ** blobs);

/* Makes a list of the same blobs, with their contours, trails and counts, for an element that
 * changes them. */
GST_CCL_API
GstCclBlobList *gst_ccl_blob_list_copy (const GstCclBlobList * list, GstCclBlob ** blobs);

/* Takes a reference. */
GST_CCL_API
GstCclBlobList *gst_ccl_blob_list_ref (GstCclBlobList * list);

/* Releases a reference; the last one frees the list. */
GST_CCL_API
void gst_ccl_blob_list_unref (GstCclBlobList * list);

/* Gets the number of blobs. */
GST_CCL_API
guint gst_ccl_blob_list_get_length (const GstCclBlobList * list);

/* Gets a blob of the list. */
GST_CCL_API
const GstCclBlob *gst_ccl_blob_list_get (const GstCclBlobList * list, guint index);

/* Copies a blob of the list. */
GST_CCL_API
GstCclBlob *gst_ccl_blob_list_dup (const GstCclBlobList * list, guint index);

/**
 * GstCclPoint:
 * @x: column
 * @y: row
 *
 * A point in the plane of the mask. Pixel (x, y) covers the square
 * [x, x+1) × [y, y+1).
 */
typedef struct
{
  gfloat x;
  gfloat y;
} GstCclPoint;

/* Sets the contours and trails of the blobs. */
GST_CCL_API
void gst_ccl_blob_list_set_points (GstCclBlobList * list, GBytes * points);

/* Gets the points that gst_ccl_blob_list_set_points() has set. */
GST_CCL_API
GBytes *gst_ccl_blob_list_get_points (const GstCclBlobList * list);

/* Gets the contour of a blob, in the plane of the mask; see gst_ccl_blob_meta_get_contour(). */
GST_CCL_API
const GstCclPoint *gst_ccl_blob_list_get_contour (const GstCclBlobList * list, guint index, guint * n_points);

/* Gets the past positions of the track of a blob, in the plane of the mask; see
 * gst_ccl_blob_meta_get_trail(). */
GST_CCL_API
const GstCclPoint *gst_ccl_blob_list_get_trail (const GstCclBlobList * list, guint index, guint * n_points);

/**
 * GstCclShapeCounts:
 * @label: the blob, by its #GstCclBlob.label
 * @euler: 1 minus the number of its holes
 * @runs: its maximal horizontal runs
 * @tops: its pixels without an upper neighbour
 * @diagonals: its pixels without an upper left neighbour, and those without an
 *   upper right one
 *
 * Exact integers behind the holes and perimeters of a blob.
 */
typedef struct
{
  guint32 label;
  gint32 euler;
  guint32 runs;
  guint32 tops;
  guint32 diagonals;

  /*< private >*/
  guint32 _gst_reserved[3];
} GstCclShapeCounts;

/* Sets the counts behind the holes and perimeters. */
GST_CCL_API
void gst_ccl_blob_list_set_shape (GstCclBlobList * list, GBytes * shape);

/* Gets the counts that gst_ccl_blob_list_set_shape() has set. */
GST_CCL_API
GBytes *gst_ccl_blob_list_get_shape (const GstCclBlobList * list);

/**
 * GstCclBlobMetaFlags:
 * @GST_CCL_BLOB_META_FLAG_NONE: no flag
 * @GST_CCL_BLOB_META_FLAG_TRUNCATED: more blobs passed the filter than the list
 *   has; `n_kept` is their number
 * @GST_CCL_BLOB_META_FLAG_SKIPPED: this frame was not analysed (interval, or
 *   late); the list is empty
 * @GST_CCL_BLOB_META_FLAG_GLOBAL_CHANGE: the whole picture changed; the mask is
 *   not usable
 * @GST_CCL_BLOB_META_FLAG_PREDICTED_ONLY: every blob is a prediction
 * @GST_CCL_BLOB_META_FLAG_HOLES_TRUNCATED: the blobs have more holes than are
 *   listed
 *
 * State of the whole list.
 */
typedef enum
{
  GST_CCL_BLOB_META_FLAG_NONE = 0,
  GST_CCL_BLOB_META_FLAG_TRUNCATED = (1 << 0),
  GST_CCL_BLOB_META_FLAG_SKIPPED = (1 << 1),
  GST_CCL_BLOB_META_FLAG_GLOBAL_CHANGE = (1 << 2),
  GST_CCL_BLOB_META_FLAG_PREDICTED_ONLY = (1 << 3),
  GST_CCL_BLOB_META_FLAG_HOLES_TRUNCATED = (1 << 4),
} GstCclBlobMetaFlags;

typedef struct _GstCclBlobMeta GstCclBlobMeta;

/**
 * GstCclBlobMeta:
 * @meta: parent #GstMeta
 * @list: the blobs, in pixels of the mask; %NULL only in a new meta
 * @flags: #GstCclBlobMetaFlags
 * @ref_width: width of the mask the blobs were measured in, pixels
 * @ref_height: its height
 * @width: width of the frame the buffer holds now, pixels
 * @height: its height
 * @n_kept: blobs that passed the filter; more than the list has when it is
 *   truncated
 * @n_total: components in the mask before the filter
 * @connectivity: 4 or 8
 * @source: name of the element that attached the meta, a quark; 0 when not known
 * @matrix: row-major 3x3 matrix from mask coordinates to coordinates of the
 *   current frame
 *
 * The blobs of a frame. Copying and scaling the buffer (from GStreamer 1.28 on
 * also cropping and flipping) changes only @matrix, @width and @height. Nothing
 * is rounded and nothing is lost.
 *
 * Pixel (x, y) covers the square [x, x+1) × [y, y+1) of the plane that @matrix
 * maps. So the centroid of a one-pixel blob at (x, y) is mapped as
 * (x + 0.5, y + 0.5), and then shifted back by half a pixel of the frame.
 */
struct _GstCclBlobMeta
{
  GstMeta meta;

  GstCclBlobList *list;
  guint32 flags;
  guint ref_width;
  guint ref_height;
  guint width;
  guint height;
  guint n_kept;
  guint n_total;
  guint connectivity;
  GQuark source;
  gdouble matrix[9];

  /*< private >*/
  gpointer _gst_reserved[GST_PADDING];
};

#define GST_TYPE_CCL_BLOB_META (gst_ccl_blob_meta_get_type ())
GST_CCL_API
GType gst_ccl_blob_meta_get_type (void);

/* Copies a meta. */
GST_CCL_API
GstCclBlobMeta *gst_ccl_blob_meta_copy (const GstCclBlobMeta * meta);

/* Frees a copy. */
GST_CCL_API
void gst_ccl_blob_meta_free (GstCclBlobMeta * meta);

GST_CCL_API
GType gst_ccl_blob_meta_api_get_type (void);
#define GST_CCL_BLOB_META_API_TYPE (gst_ccl_blob_meta_api_get_type ())

/* Gets the #GstMetaInfo. */
GST_CCL_API
const GstMetaInfo *gst_ccl_blob_meta_get_info (void);
#define GST_CCL_BLOB_META_INFO (gst_ccl_blob_meta_get_info ())

/* Adds a meta whose matrix is the identity, whose `n_kept` is the length of @list, and whose other
 * fields are 0. */
GST_CCL_API
GstCclBlobMeta *gst_buffer_add_ccl_blob_meta (GstBuffer * buffer, GstCclBlobList * list, guint width, guint height);

/* Gets the blobs of a frame. */
GST_CCL_API
GstCclBlobMeta *gst_buffer_get_ccl_blob_meta (GstBuffer * buffer);

/* Copies the meta that gst_buffer_get_ccl_blob_meta() gets. */
GST_CCL_API
GstCclBlobMeta *gst_buffer_dup_ccl_blob_meta (GstBuffer * buffer);

/* Gives the meta that gst_buffer_get_ccl_blob_meta() gets the blobs and all fields of @meta. */
GST_CCL_API
gboolean gst_buffer_set_ccl_blob_meta (GstBuffer * buffer, const GstCclBlobMeta * meta);

/* Gets the number of blobs listed; `n_kept` and `n_total` may be larger. */
GST_CCL_API
guint gst_ccl_blob_meta_get_length (const GstCclBlobMeta * meta);

/* Gets a blob, in pixels of the mask. */
GST_CCL_API
const GstCclBlob *gst_ccl_blob_meta_get_blob (const GstCclBlobMeta * meta, guint index);

/* Copies a blob. */
GST_CCL_API
GstCclBlob *gst_ccl_blob_meta_dup_blob (const GstCclBlobMeta * meta, guint index);

/* Replaces the blobs. */
GST_CCL_API
void gst_ccl_blob_meta_set_list (GstCclBlobMeta * meta, GstCclBlobList * list);

/* Sets #GstCclBlobMeta.matrix, for languages that cannot write to the field. */
GST_CCL_API
void gst_ccl_blob_meta_set_matrix (GstCclBlobMeta * meta, const gdouble * matrix);

/* Gets the name of the element that attached the meta. */
GST_CCL_API
const gchar *gst_ccl_blob_meta_get_source (const GstCclBlobMeta * meta);

/* Describes the meta in one line, for logs and tests. */
GST_CCL_API
gchar *gst_ccl_blob_meta_to_string (const GstCclBlobMeta * meta);

/* Measures of ccllabel features=shape, in pixels of the mask. FALSE: not measured. */

/* Gets the holes of a blob: parts of the background that it encloses, with other blobs inside or
 * not. */
GST_CCL_API
gboolean gst_ccl_blob_meta_get_holes (const GstCclBlobMeta * meta, guint index, gint * euler_number, guint * n_holes);

/* Gets the length of the border of a blob and its holes, in pixels of the mask. */
GST_CCL_API
gboolean gst_ccl_blob_meta_get_perimeter (const GstCclBlobMeta * meta, guint index, gdouble * crack, gdouble * crofton);

/* Compares the area of a blob with its perimeter. */
GST_CCL_API
gboolean gst_ccl_blob_meta_get_circularity (const GstCclBlobMeta * meta, guint index, gdouble * circularity,
    gdouble * compactness);

/* The same measures in pixels of the current frame, mapped by the matrix. */

/* Gets the bounding box in pixels of the frame. */
GST_CCL_API
void gst_ccl_blob_meta_get_box (const GstCclBlobMeta * meta, guint index, gdouble * x, gdouble * y, gdouble * width,
    gdouble * height);

/* Gets the area that the blob covers in the frame. */
GST_CCL_API
gdouble gst_ccl_blob_meta_get_area (const GstCclBlobMeta * meta, guint index);

/* Gets the centre of gravity in pixels of the frame; the centre of the frame's first pixel is (0,
 * 0). */
GST_CCL_API
void gst_ccl_blob_meta_get_centroid (const GstCclBlobMeta * meta, guint index, gdouble * x, gdouble * y);

/* Gets the covariance of gst_ccl_blob_get_covariance() in pixels of the frame squared. */
GST_CCL_API
void gst_ccl_blob_meta_get_covariance (const GstCclBlobMeta * meta, guint index, gdouble * xx, gdouble * xy,
    gdouble * yy);

/* Gets the ellipse with the same second moments in the frame; see gst_ccl_blob_get_axes() and
 * gst_ccl_blob_get_orientation(). */
GST_CCL_API
void gst_ccl_blob_meta_get_axes (const GstCclBlobMeta * meta, guint index, gdouble * major, gdouble * minor,
    gdouble * orientation);

/* Gets the outer contour of the blob as a polygon of the frame, if it was traced (`ccllabel
 * contours=true`). */
GST_CCL_API
gdouble *gst_ccl_blob_meta_get_contour (const GstCclBlobMeta * meta, guint index, guint * n_values);

/* Gets the past positions of the track of the blob (`ccltrack history=...`): its centre of gravity
 * in earlier frames and, last, in this frame, in coordinates of this frame. */
GST_CCL_API
gdouble *gst_ccl_blob_meta_get_trail (const GstCclBlobMeta * meta, guint index, guint * n_values);

/* Maps a point of the mask to the frame. */
GST_CCL_API
void gst_ccl_blob_meta_map_point (const GstCclBlobMeta * meta, gdouble * x, gdouble * y);

/* Maps a point of the frame to the mask: the inverse of gst_ccl_blob_meta_map_point(). */
GST_CCL_API
gboolean gst_ccl_blob_meta_unmap_point (const GstCclBlobMeta * meta, gdouble * x, gdouble * y);

/* Tells whether pixels of the mask are pixels of the frame. */
GST_CCL_API
gboolean gst_ccl_blob_meta_is_identity (const GstCclBlobMeta * meta);

/* Copies in GStreamer's standard metadata, for elements that do not read GstCclBlobMeta. */

/**
 * GST_CCL_ROI_PARAM:
 *
 * Name of the parameter structure that carries a blob in its
 * #GstVideoRegionOfInterestMeta.
 */
#define GST_CCL_ROI_PARAM "ccl/blob"

/* Adds a #GstVideoRegionOfInterestMeta for each of the first @max blobs of the list, in its
 * order. */
GST_CCL_API
guint gst_buffer_add_ccl_roi_mirror (GstBuffer * buffer, const GstCclBlobMeta * meta, const gchar * type, guint max);

/* Adds an object detection for each of the first @max blobs of the list, in its order, to the
 * buffer's GstAnalyticsRelationMeta, or to a new one. */
GST_CCL_API
guint gst_buffer_add_ccl_analytics_mirror (GstBuffer * buffer, GstCclBlobMeta * meta, const gchar * type, guint max);

/* A flat form of a meta; see docs/metadata.md. GStreamer 1.24 and newer use it through gst_meta_serialize(). The name of a
 * source has at most 255 bytes there. A process accepts at most 1024 new names from such bytes. */

/* Writes the meta in its flat form, for files, sockets and other processes. */
GST_CCL_API
GBytes *gst_ccl_blob_meta_to_bytes (const GstCclBlobMeta * meta);

/* Adds the meta that @bytes describes. */
GST_CCL_API
GstCclBlobMeta *gst_buffer_add_ccl_blob_meta_from_bytes (GstBuffer * buffer, GBytes * bytes, GError ** error);

G_END_DECLS

#endif
