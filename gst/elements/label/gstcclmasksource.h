/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Where the mask of a buffer is: in its own picture, or beside it in metadata. */
#ifndef __GST_CCL_MASK_SOURCE_H__
#define __GST_CCL_MASK_SOURCE_H__

#include "base/gstcclmask.h"

G_BEGIN_DECLS

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

/* Whether this build can read segmentations. */
gboolean gst_ccl_mask_source_has_segmentations (void);

G_END_DECLS

#endif
