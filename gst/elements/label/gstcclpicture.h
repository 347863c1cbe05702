/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The luma and chroma of a frame as a picture for the core, a view without a copy. */
#ifndef __GST_CCL_PICTURE_H__
#define __GST_CCL_PICTURE_H__

#include <gst/video/video.h>

#include "base/gstcclcuda.h"
#include "base/gstcclmask.h"

G_BEGIN_DECLS

typedef struct
{
  CclPicture picture;

  /*< private >*/
  GstVideoFrame frame;
  gboolean is_mapped;
  GstMemory *memory;            /* mapped on the device; NULL: the frame is */
} GstCclPictureView;

/*
 * Maps the picture that the intensity of blobs is measured in. CUDA memory is mapped on the device or downloaded.
 *
 * cuda:   of a core that works on the device; NULL: on the CPU
 * info:   of the frame
 * mask:   found in it, of the same size and place
 * Errors: GST_STREAM_ERROR_FORMAT when the mask has other pixels, planes reach beyond the buffer, or those of chroma have
 *         different strides; GST_RESOURCE_ERROR_READ when it cannot be mapped. Unmapping is harmless then.
 */
gboolean gst_ccl_picture_view_map (GstCclPictureView * view, GstBuffer * buffer, const GstVideoInfo * info,
    const GstCclFoundMask * mask, const GstCclCuda * cuda, GError ** error);
void gst_ccl_picture_view_unmap (GstCclPictureView * view);

G_END_DECLS

#endif
