/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The blobs, regions or object detections of a frame, as detections for the tracker. */
#ifndef __GST_CCL_TRACK_INPUT_H__
#define __GST_CCL_TRACK_INPUT_H__

#include <gst/video/video.h>
#include <gst/ccl/ccl.h>

#include "analysis/track.h"
#include "base/gstcclenums.h"
#include "base/gstcclmetas.h"
#include "base/gstcclobjects.h"
#include "base/gstcclvector.h"

G_BEGIN_DECLS

/* Which metadata is followed: `wanted`, or for AUTO the first kind that the buffer has. */
GstCclTrackInput gst_ccl_track_input_choose (GstCclTrackInput wanted, GstBuffer * buffer);

/* Does the buffer carry this kind of metadata, also if it holds no object? */
gboolean gst_ccl_track_input_is_there (GstCclTrackInput input, GstBuffer * buffer);

/* Replaces `detections` (of CclDetection) by those of the buffer, in the order of its metadata. FALSE without memory. */
gboolean gst_ccl_track_input_read (GstCclTrackInput input, GstBuffer * buffer, GstCclVector * detections);

/* Did a tracker upstream add the blob, for a track without a blob of its own? It is no component of the mask. */
gboolean gst_ccl_track_is_added (const GstCclBlob * blob);

G_END_DECLS

#endif
