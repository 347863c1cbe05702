/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The crop, turn and scaling of a frame, in this order. */
#ifndef __GST_CCL_REMAP_FRAME_H__
#define __GST_CCL_REMAP_FRAME_H__

#include <gst/ccl/gstcclmatrix.h>

G_BEGIN_DECLS

typedef struct
{
  gint mode;                    /* GstCclRemapMode */
  guint left, right, top, bottom;       /* cropped pixels */
  gint direction;               /* GstVideoOrientationMethod */
} GstCclRemapSettings;

typedef struct
{
  gint turned_width, turned_height;     /* after crop and turn */
  gint width, height;           /* after scaling */
  GstCclMatrixTransform transform;      /* refers to `infos` */
  GstVideoInfo infos[2];
} GstCclRemapFrame;

/* Describes crop and turn of a frame of the kept size, and scaling to `width` x `height` (0: not scaled). FALSE: the crop leaves
 * nothing. */
gboolean gst_ccl_remap_describe (const GstCclRemapSettings * settings, gint kept_width, gint kept_height, gint width,
    gint height, GstCclRemapFrame * frame);

G_END_DECLS

#endif
