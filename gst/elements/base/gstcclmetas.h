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

G_END_DECLS

#endif
