/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccljsonregions.h"

#include "base/gstcclmetas.h"
#include "base/gstcclobjects.h"

/* 0 + 1 + ... + (n - 1), and the same of the squares. */
static guint64
sum_below (guint64 n)
{
  return n == 0 ? 0 : n * (n - 1) / 2;
}

static guint64
sum_of_squares_below (guint64 n)
{
  return n == 0 ? 0 : n * (n - 1) * (2 * n - 1) / 6;
}

static gboolean
can_be_measured (gint64 x, gint64 y, gint64 width, gint64 height)
{
  return MAX (x, x + width) <= GST_CCL_JSON_MAX_REGION_END && MAX (y, y + height) <= GST_CCL_JSON_MAX_REGION_END;
}

/* A region has no mask: it counts as its filled rectangle, and is measured as one, from column and row 0 on. */
static GstCclBlob
blob_of_rectangle (gint64 x, gint64 y, gint64 width, gint64 height)
{
  const guint64 x0 = MAX (x, 0), x1 = MAX (x + width, (gint64) x0);
  const guint64 y0 = MAX (y, 0), y1 = MAX (y + height, (gint64) y0);
  const guint64 n_x = x1 - x0, n_y = y1 - y0;
  const guint64 sum_x = sum_below (x1) - sum_below (x0), sum_y = sum_below (y1) - sum_below (y0);

  return (GstCclBlob) {
  .x = (gint32) x0,.y = (gint32) y0,.width = (gint32) n_x,.height = (gint32) n_y,.first_x = (gint32) x0,.area =
        n_x * n_y,.m10 = n_y * sum_x,.m01 = n_x * sum_y,.m11 = sum_x * sum_y,.m20 =
        n_y * (sum_of_squares_below (x1) - sum_of_squares_below (x0)),.m02 =
        n_x * (sum_of_squares_below (y1) - sum_of_squares_below (y0)),.mtd_id = GST_CCL_MTD_ID_NONE,};
}

static GstCclJsonRegion
region_of_roi (GstVideoRegionOfInterestMeta * roi)
{
  const GstStructure *detection = gst_video_region_of_interest_meta_get_param (roi, "detection");
  GstCclJsonRegion region = {
    .type = g_quark_to_string (roi->roi_type),
    .id = roi->id,.parent_id = roi->parent_id,.label_id = -1,.confidence = -1
  };

  if (detection) {
    gst_structure_get_double (detection, "confidence", &region.confidence);
    gst_structure_get_int (detection, "label_id", &region.label_id);
  }
  return region;
}

static gboolean
add_region (GstCclJsonRegions * list, GstCclBlob blob, GstCclJsonRegion region)
{
  blob.label = list->blobs.len + 1;
  return gst_ccl_vector_append (&list->blobs, &blob, 1) && gst_ccl_vector_append (&list->regions, &region, 1);
}

static gboolean
add_rois (GstCclJsonRegions * list, GstBuffer * buffer)
{
  GstVideoRegionOfInterestMeta *roi;
  gpointer state = NULL;

  while ((roi = gst_ccl_next_roi (buffer, &state))) {
    GstCclBlob blob;

    if (!can_be_measured (roi->x, roi->y, roi->w, roi->h)) {
      list->n_left_out++;
      continue;
    }
    blob = blob_of_rectangle (roi->x, roi->y, roi->w, roi->h);
    blob.track_id = gst_ccl_roi_get_track_id (roi);
    if (!add_region (list, blob, region_of_roi (roi)))
      return FALSE;
  }
  return TRUE;
}

#ifdef HAVE_GST_ANALYTICS
/* Identity that a tracker related to the detection, from 1; 0: none. */
static guint64
track_of_detection (GstAnalyticsRelationMeta * meta, guint id)
{
  GstAnalyticsTrackingMtd tracking;
  GstClockTime first_seen, last_seen;
  gboolean lost;
  guint64 track = 0;

  if (gst_analytics_relation_meta_get_direct_related (meta, id, GST_ANALYTICS_REL_TYPE_RELATE_TO,
          gst_analytics_tracking_mtd_get_mtd_type (), NULL, &tracking))
    gst_analytics_tracking_mtd_get_info (&tracking, &track, &first_seen, &last_seen, &lost);
  return track;
}

static gboolean
add_detections (GstCclJsonRegions * list, GstBuffer * buffer)
{
  GstAnalyticsRelationMeta *meta = gst_buffer_get_analytics_relation_meta (buffer);
  GstAnalyticsODMtd detection;
  gpointer state = NULL;

  while (gst_ccl_next_detection (meta, &state, &detection)) {
    GstCclJsonRegion region = {.id = detection.id,.parent_id = -1,.label_id = -1,.confidence = -1 };
    gfloat confidence = -1;
    gint x, y, width, height;
    GstCclBlob blob;

    if (!gst_analytics_od_mtd_get_location (&detection, &x, &y, &width, &height, &confidence))
      continue;
    if (!can_be_measured (x, y, width, height)) {
      list->n_left_out++;
      continue;
    }
    region.type = g_quark_to_string (gst_analytics_od_mtd_get_obj_type (&detection));
    region.confidence = confidence;
    blob = blob_of_rectangle (x, y, width, height);
    blob.track_id = track_of_detection (meta, detection.id);
    if (!add_region (list, blob, region))
      return FALSE;
  }
  return TRUE;
}
#endif

gboolean
gst_ccl_json_regions_read (GstCclJsonRegions * list, GstBuffer * buffer)
{
  *list = (GstCclJsonRegions) {
  .blobs = {.element_size = sizeof (GstCclBlob) },.regions = {.element_size = sizeof (GstCclJsonRegion) },};
  if (!add_rois (list, buffer))
    return FALSE;
#ifdef HAVE_GST_ANALYTICS
  if (list->blobs.len + list->n_left_out == 0)
    return add_detections (list, buffer);
#endif
  return TRUE;
}

void
gst_ccl_json_regions_clear (GstCclJsonRegions * list)
{
  gst_ccl_vector_clear (&list->blobs);
  gst_ccl_vector_clear (&list->regions);
}
