/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Where the mask of a buffer is: in its own picture, or beside it in metadata. */
#ifndef __GST_CCL_MASK_SOURCE_H__
#define __GST_CCL_MASK_SOURCE_H__

#include "base/gstcclanalyzer.h"

G_BEGIN_DECLS

#if G_BYTE_ORDER == G_LITTLE_ENDIAN
#define GST_CCL_GRAY_FORMATS "GRAY8, GRAY16_LE, "
#else
#define GST_CCL_GRAY_FORMATS "GRAY8, "
#endif

/* Parts of the pad templates: frames with the mask in alpha, and all others. */
#define GST_CCL_ALPHA_CAPS "video/x-raw, format = (string) { A420, AV12 }, " GST_CCL_SIZE_RANGE
#define GST_CCL_MASK_CAPS GST_CCL_CUDA_CAPS \
    "video/x-raw, format = (string) { " GST_CCL_GRAY_FORMATS GST_CCL_YUV_FORMATS " }, " GST_CCL_SIZE_RANGE

/* The properties that choose the mask. */
typedef struct
{
  gint source;                  /* GstCclMaskSource */
  gint segmentation;            /* index of a segmentation; -1: all */
  gint region_id;               /* id of a region of it; -1: all */
  gboolean is_map;              /* regions keep their ids, else all are foreground */
} GstCclMaskChoice;

/* Finds the chosen mask in a buffer with the caps `info`, all but is_missing. FALSE: there is none. */
gboolean gst_ccl_mask_source_find (const GstCclMaskChoice * choice, GstBuffer * buffer, const GstVideoInfo * info,
    GstCclFoundMask * found);

/* The caps of frames for a GstCclMaskSource. Others do not offer alpha, which converters would prefer for pictures with it. */
GstCaps *gst_ccl_mask_source_caps (gint source);

/* Whether this build can read segmentations. */
gboolean gst_ccl_mask_source_has_segmentations (void);

G_END_DECLS

#endif
