/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Metadata of a buffer that several elements read in the same way. */
#ifndef __GST_CCL_METAS_H__
#define __GST_CCL_METAS_H__

#include <gst/video/video.h>
#include <gst/ccl/gstcclblobmeta.h>

G_BEGIN_DECLS

/* FALSE: the frame was not analysed, so the absence of an object means nothing. A frame without the metadata counts as
 * analysed. */
static inline gboolean
gst_ccl_blobs_are_analysed (const GstCclBlobMeta * meta)
{
  return !meta || !(meta->flags & (GST_CCL_BLOB_META_FLAG_SKIPPED | GST_CCL_BLOB_META_FLAG_GLOBAL_CHANGE));
}

/* The next region of interest, or NULL. `state` is NULL before the first. */
static inline GstVideoRegionOfInterestMeta *
gst_ccl_next_roi (GstBuffer * buffer, gpointer * state)
{
  return (GstVideoRegionOfInterestMeta *) gst_buffer_iterate_meta_filtered (buffer, state,
      GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
}

/* The identity that a tracker gave a region of interest, from 1; 0: none. */
static inline guint64
gst_ccl_roi_get_track_id (GstVideoRegionOfInterestMeta * roi)
{
  const GstStructure *const object_id = gst_video_region_of_interest_meta_get_param (roi, "object_id");
  gint id = 0;

  return object_id && gst_structure_get_int (object_id, "id", &id) && id > 0 ? (guint64) id : 0;
}

/* A blob in the plane of pixel squares of the frame, where pixel (x, y) covers [x, x+1) × [y, y+1). */
typedef struct
{
  gdouble x, y;                 /* centroid */
  gdouble x0, y0, x1, y1;       /* edges of the box */
} GstCclBlobPlace;

static inline GstCclBlobPlace
gst_ccl_blob_get_place (const GstCclBlobMeta * meta, guint index)
{
  GstCclBlobPlace place;

  gst_ccl_blob_meta_get_centroid (meta, index, &place.x, &place.y);
  gst_ccl_blob_meta_get_box (meta, index, &place.x0, &place.y0, &place.x1, &place.y1);
  /* A centroid is relative to the centre of the first pixel. */
  place.x += 0.5;
  place.y += 0.5;
  place.x1 += place.x0;
  place.y1 += place.y0;
  return place;
}

G_END_DECLS

#endif
