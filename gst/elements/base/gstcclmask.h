/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The mask of a frame: where it is, and a plane of a video buffer as a mask for the core, a view without a copy. */
#ifndef __GST_CCL_MASK_H__
#define __GST_CCL_MASK_H__

#include <gst/video/video.h>
#include "ccl.h"

G_BEGIN_DECLS

/* Where the mask of a frame is. */
typedef struct
{
  gboolean is_missing;          /* the frame carries no mask: the rest describes a mask of its size */
  GstBuffer *buffer;            /* a reference to the buffer with the mask; NULL: the frame itself */
  GstVideoInfo info;            /* of the mask */
  guint component;              /* GST_VIDEO_COMP_A: the alpha plane; 0: the gray or luma plane */
  guint32 flags;                /* GstCclBlobMetaFlags to pass on */
  gdouble matrix[9];            /* mask to frame, as in GstCclBlobMeta */
  GBytes *classes;              /* a reference to the class of each value of a label map, as guint16; NULL: the value */
} GstCclFoundMask;

typedef struct
{
  CclMask mask;                 /* the caller sets threshold and invert */
  const gchar *path;            /* how the pixels get to the backend, for statistics: "system", "pinned", ... */

  /*< private >*/
  GstBuffer *buffer;
  GstMemory *memory;            /* mapped on the device; NULL: buffer and meta are mapped */
  GstVideoMeta *meta;
  guint plane;
  GstMapInfo map;
} GstCclMaskView;

/*
 * Maps one plane of a buffer with the caps `info`.
 *
 * component: as in GstCclFoundMask
 * on_device: CUDA memory stays on the device; otherwise it is downloaded. Only the first plane can stay.
 * Errors:    GST_STREAM_ERROR_FORMAT when the buffer is smaller than its caps say, GST_RESOURCE_ERROR_READ when it cannot be
 *            mapped. Unmapping is harmless then.
 */
gboolean gst_ccl_mask_view_map (GstCclMaskView * view, GstBuffer * buffer, const GstVideoInfo * info,
    guint component, gboolean on_device, GError ** error);
void gst_ccl_mask_view_unmap (GstCclMaskView * view);

G_END_DECLS

#endif
