/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccltrackinput.h"

static CclDetection
rectangle_detection (gdouble x, gdouble y, gdouble width, gdouble height)
{
  return (CclDetection) {
  .x = x + width / 2,.y = y + height / 2,.x0 = x,.y0 = y,.x1 = x + width,.y1 = y + height};
}

gboolean
gst_ccl_track_is_added (const GstCclBlob * blob)
{
  return blob->label == 0 && blob->area == 0;
}

/* In the plane of pixel squares of the frame. One detection per blob, so that their indices are the same. */
static gboolean
read_blobs (GstCclVector * detections, const GstCclBlobMeta * meta)
{
  const guint n = gst_ccl_blob_meta_get_length (meta);

  if (!gst_ccl_vector_set_size (detections, n))
    return FALSE;
  for (guint i = 0; i < n; i++) {
    const GstCclBlobPlace place = gst_ccl_blob_get_place (meta, i);
    CclDetection d = {.x = place.x,.y = place.y,.x0 = place.x0,.y0 = place.y0,.x1 = place.x1,.y1 = place.y1 };

    gst_ccl_blob_meta_get_covariance (meta, i, &d.xx, &d.xy, &d.yy);
    gst_ccl_blob_meta_get_class_id (meta, i, &d.class_id);
    if (gst_ccl_track_is_added (gst_ccl_blob_meta_get_blob (meta, i)))
      d.x1 = d.x0;              /* empty: the tracker ignores it */
    *gst_ccl_vector_at (detections, CclDetection, i) = d;
  }
  return TRUE;
}

/* DL Streamer's detectors write it; 0: not known. The mirror of a blob has another number there. */
static gdouble
confidence_of (GstVideoRegionOfInterestMeta * roi)
{
  const GstStructure *const detection = gst_video_region_of_interest_meta_get_param (roi, "detection");
  gdouble confidence = 0;

  if (gst_video_region_of_interest_meta_get_param (roi, GST_CCL_ROI_PARAM))
    return 0;
  return detection && gst_structure_get_double (detection, "confidence", &confidence) ? confidence : 0;
}

static gboolean
read_rois (GstCclVector * detections, GstBuffer * buffer)
{
  GstVideoRegionOfInterestMeta *roi;
  gpointer state = NULL;

  while ((roi = gst_ccl_next_roi (buffer, &state))) {
    CclDetection d = rectangle_detection (roi->x, roi->y, roi->w, roi->h);

    d.type = roi->roi_type;
    d.confidence = confidence_of (roi);
    if (!gst_ccl_vector_append (detections, &d, 1))
      return FALSE;
  }
  return TRUE;
}

static gboolean
read_objects (GstCclVector * detections, GstBuffer * buffer)
{
#ifdef HAVE_GST_ANALYTICS
  GstAnalyticsRelationMeta *const relations = gst_buffer_get_analytics_relation_meta (buffer);
  GstAnalyticsODMtd object;
  gpointer state = NULL;

  while (gst_ccl_next_detection (relations, &state, &object)) {
    gint x = 0, y = 0, width = 0, height = 0;
    gfloat confidence = 0;
    CclDetection d;

    gst_analytics_od_mtd_get_location (&object, &x, &y, &width, &height, &confidence);
    d = rectangle_detection (x, y, width, height);
    d.type = gst_analytics_od_mtd_get_obj_type (&object);
    d.confidence = confidence;
    if (!gst_ccl_vector_append (detections, &d, 1))
      return FALSE;
  }
#endif
  return TRUE;
}

GstCclTrackInput
gst_ccl_track_input_choose (GstCclTrackInput wanted, GstBuffer * buffer)
{
  gpointer state = NULL;

  if (wanted != GST_CCL_TRACK_INPUT_AUTO)
    return wanted;
  if (gst_buffer_get_ccl_blob_meta (buffer))
    return GST_CCL_TRACK_INPUT_CCL;
  return gst_ccl_next_roi (buffer, &state) ? GST_CCL_TRACK_INPUT_ROI : GST_CCL_TRACK_INPUT_ANALYTICS;
}

gboolean
gst_ccl_track_input_is_there (GstCclTrackInput input, GstBuffer * buffer)
{
  gpointer state = NULL;

  if (input == GST_CCL_TRACK_INPUT_CCL)
    return gst_buffer_get_ccl_blob_meta (buffer) != NULL;
  if (input == GST_CCL_TRACK_INPUT_ROI)
    return gst_ccl_next_roi (buffer, &state) != NULL;
#ifdef HAVE_GST_ANALYTICS
  return gst_buffer_get_analytics_relation_meta (buffer) != NULL;
#else
  return FALSE;
#endif
}

gboolean
gst_ccl_track_input_read (GstCclTrackInput input, GstBuffer * buffer, GstCclVector * detections)
{
  const GstCclBlobMeta *const meta = gst_buffer_get_ccl_blob_meta (buffer);

  detections->len = 0;
  if (input == GST_CCL_TRACK_INPUT_CCL)
    return !meta || read_blobs (detections, meta);
  return input == GST_CCL_TRACK_INPUT_ROI ? read_rois (detections, buffer) : read_objects (detections, buffer);
}
