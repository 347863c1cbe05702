/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Maps pictures whose video metadata another element wrote. */
#ifndef __GST_CCL_FRAME_MAP_H__
#define __GST_CCL_FRAME_MAP_H__

#include <gst/video/video.h>

G_BEGIN_DECLS

/* gst_video_frame_map() believes a video meta. This function also checks that the buffer holds each plane, as large as `info`
 * says or larger. FALSE: nothing is mapped. */
gboolean gst_ccl_frame_map (GstVideoFrame * frame, const GstVideoInfo * info, GstBuffer * buffer, GstMapFlags flags);

G_END_DECLS

#endif
