/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* For elements that work in place on all pixels of the caps, and do not know GstVideoCropMeta. */
#ifndef __GST_CCL_CROP_H__
#define __GST_CCL_CROP_H__

#include <gst/video/video.h>

G_BEGIN_DECLS

/* Removes the crop metadata from an allocation query that downstream has answered: upstream has to crop before this element. */
static inline void
gst_ccl_crop_refuse (GstQuery * query)
{
  guint index;

  while (gst_query_find_allocation_meta (query, GST_VIDEO_CROP_META_API_TYPE, &index))
    gst_query_remove_nth_allocation_meta (query, index);
}

G_END_DECLS

#endif
