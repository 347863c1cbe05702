/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Blobs as standard metadata of GStreamer: regions of interest, and object detections of gst-analytics. */

#include "gstcclprivate.h"

#include <math.h>

#ifdef HAVE_GST_ANALYTICS
# include <gst/analytics/analytics.h>
#endif

/* The smallest rectangle of whole pixels around the blob's box, inside the frame; FALSE when none is left. */
static gboolean
get_pixel_box (const GstCclBlobMeta * meta, guint index, GstVideoRectangle * box)
{
  /* Rounding errors of the matrix move edges, because GStreamer describes crops with floats. They must not add or remove a
   * pixel. */
  const gdouble tolerance = 1.0 / 256;
  gdouble x, y, width, height;

  gst_ccl_blob_meta_get_box (meta, index, &x, &y, &width, &height);

  const gdouble x0 = MAX (floor (x + tolerance), 0), x1 = MIN (ceil (x + width - tolerance), meta->width);
  const gdouble y0 = MAX (floor (y + tolerance), 0), y1 = MIN (ceil (y + height - tolerance), meta->height);

  if (!(x0 < x1 && y0 < y1 && x1 <= G_MAXINT && y1 <= G_MAXINT))
    return FALSE;
  box->x = x0;
  box->y = y0;
  box->w = x1 - x0;
  box->h = y1 - y0;
  return TRUE;
}

/* The box in fractions of the frame, as the elements of Intel's DL Streamer write and read it. */
static GstStructure *
new_detection (const GstCclBlobMeta * meta, guint index, const GstVideoRectangle * box)
{
  const GstCclBlob *const blob = gst_ccl_blob_meta_get_blob (meta, index);

  return gst_structure_new ("detection",
      "x_min", G_TYPE_DOUBLE, (gdouble) box->x / meta->width,
      "x_max", G_TYPE_DOUBLE, (gdouble) (box->x + box->w) / meta->width,
      "y_min", G_TYPE_DOUBLE, (gdouble) box->y / meta->height,
      "y_max", G_TYPE_DOUBLE, (gdouble) (box->y + box->h) / meta->height,
      "confidence", G_TYPE_DOUBLE, gst_ccl_blob_get_extent (blob), "label_id", G_TYPE_INT, 0, NULL);
}

static GstStructure *
new_blob_structure (const GstCclBlobMeta * meta, guint index)
{
  const GstCclBlob *const blob = gst_ccl_blob_meta_get_blob (meta, index);
  gdouble cx, cy, cxx, cxy, cyy;
  GstStructure *structure;

  gst_ccl_blob_meta_get_centroid (meta, index, &cx, &cy);
  gst_ccl_blob_meta_get_covariance (meta, index, &cxx, &cxy, &cyy);
  structure = gst_structure_new (GST_CCL_ROI_PARAM,
      "label", G_TYPE_UINT, blob->label,
      "area", G_TYPE_UINT, (guint) MIN (gst_ccl_blob_meta_get_area (meta, index) + 0.5, G_MAXUINT),
      "cx", G_TYPE_DOUBLE, cx, "cy", G_TYPE_DOUBLE, cy,
      "cxx", G_TYPE_DOUBLE, cxx, "cxy", G_TYPE_DOUBLE, cxy, "cyy", G_TYPE_DOUBLE, cyy, NULL);
  if (blob->track_id != 0)
    gst_structure_set (structure, "track-id", G_TYPE_UINT64, blob->track_id, NULL);
  if (meta->source)
    gst_structure_set (structure, "source", G_TYPE_STRING, g_quark_to_string (meta->source), NULL);
  return structure;
}

/**
 * gst_buffer_add_ccl_roi_mirror:
 * @buffer: a writable buffer
 * @meta: the blobs, a meta of @buffer
 * @type: what the regions are, for example "blob" or "motion"
 * @max: maximum number to add
 *
 * Adds a #GstVideoRegionOfInterestMeta for each of the first @max blobs of the
 * list, in its order. The box is in whole pixels of the frame; blobs outside
 * the frame are left out. The id is the id of its object detection, or else the
 * label. The parameters "detection", "object_id" (tracked blobs only) and
 * "ccl/blob" are described in `docs/metadata.md`.
 *
 * Returns: the number of regions added
 *
 * Since: 0.1
 */
guint
gst_buffer_add_ccl_roi_mirror (GstBuffer * buffer, const GstCclBlobMeta * meta, const gchar * type, guint max)
{
  guint n, n_added = 0;

  /* A meta that is added to a shared buffer is lost. */
  g_return_val_if_fail (GST_IS_BUFFER (buffer) && gst_buffer_is_writable (buffer), 0);
  g_return_val_if_fail (meta != NULL && type != NULL, 0);

  n = gst_ccl_blob_meta_get_length (meta);
  for (guint i = 0; i < n && n_added < max; i++) {
    const GstCclBlob *const blob = gst_ccl_blob_meta_get_blob (meta, i);
    GstVideoRegionOfInterestMeta *roi;
    GstVideoRectangle box;

    if (!get_pixel_box (meta, i, &box))
      continue;
    roi = gst_buffer_add_video_region_of_interest_meta (buffer, type, box.x, box.y, box.w, box.h);
    if (roi == NULL)
      break;
    roi->id = blob->mtd_id != GST_CCL_MTD_ID_NONE ? blob->mtd_id : blob->label;
    gst_video_region_of_interest_meta_add_param (roi, new_detection (meta, i, &box));
    if (blob->track_id != 0) {
      /* An int by convention; larger ids wrap around. */
      gst_video_region_of_interest_meta_add_param (roi, gst_structure_new ("object_id",
              "id", G_TYPE_INT, (gint) (blob->track_id & G_MAXINT), NULL));
    }
    gst_video_region_of_interest_meta_add_param (roi, new_blob_structure (meta, i));
    n_added++;
  }
  return n_added;
}

#ifdef HAVE_GST_ANALYTICS
/* The buffer's relation meta, or a new one with space for n detections. It contains an n x n matrix, which would be copied each
 * time it grows. */
static GstAnalyticsRelationMeta *
ensure_relation_meta (GstBuffer * buffer, guint n)
{
  GstAnalyticsRelationMeta *const present = gst_buffer_get_analytics_relation_meta (buffer);
  GstAnalyticsRelationMetaInitParams params = { MAX (n, 1), MAX (n, 1) * 64 };

  return present != NULL ? present : gst_buffer_add_analytics_relation_meta_full (buffer, &params);
}
#endif

/**
 * gst_buffer_add_ccl_analytics_mirror:
 * @buffer: a writable buffer
 * @meta: the blobs, a meta of @buffer
 * @type: what the objects are, for example "blob" or "motion"
 * @max: maximum number to add
 *
 * Adds an object detection for each of the first @max blobs of the list, in its
 * order, to the buffer's GstAnalyticsRelationMeta, or to a new one. The box is
 * in whole pixels of the frame; the confidence is -1 (not known). The list of
 * the meta is replaced by one with these ids in #GstCclBlob.mtd_id. Call it
 * before gst_buffer_add_ccl_roi_mirror() so that the regions get the same ids.
 *
 * The relation meta needs memory for the square of the number of detections:
 * keep @max in the hundreds.
 *
 * Returns: the number of detections added; 0 when the library was built without
 *   gst-analytics (GStreamer before 1.24)
 *
 * Since: 0.1
 */
guint
gst_buffer_add_ccl_analytics_mirror (GstBuffer * buffer, GstCclBlobMeta * meta, const gchar * type, guint max)
{
  guint n_added = 0;

  g_return_val_if_fail (GST_IS_BUFFER (buffer) && gst_buffer_is_writable (buffer), 0);
  g_return_val_if_fail (meta != NULL && type != NULL, 0);

#ifdef HAVE_GST_ANALYTICS
  const guint n = gst_ccl_blob_meta_get_length (meta);
  const GQuark quark = g_quark_from_string (type);
  GstAnalyticsRelationMeta *relations;
  GstCclBlob *blobs;

  if (n == 0 || max == 0)
    return 0;
  relations = ensure_relation_meta (buffer, MIN (n, max));
  if (relations == NULL)
    return 0;

  blobs = gst_ccl_blob_meta_edit (meta);
  if (blobs == NULL)
    return 0;
  for (guint i = 0; i < n && n_added < max; i++) {
    GstAnalyticsODMtd mtd;
    GstVideoRectangle box;

    if (!get_pixel_box (meta, i, &box))
      continue;
    if (!gst_analytics_relation_meta_add_od_mtd (relations, quark, box.x, box.y, box.w, box.h, -1, &mtd))
      break;
    blobs[i].mtd_id = mtd.id;
    n_added++;
  }
#endif
  return n_added;
}
