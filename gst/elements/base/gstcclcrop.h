/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Elements that work in place on the pixels of the caps, not on those that a GstVideoCropMeta leaves of a larger buffer. */
#ifndef __GST_CCL_CROP_H__
#define __GST_CCL_CROP_H__

#include <gst/video/video.h>

G_BEGIN_DECLS

/* In an allocation query that downstream has answered: it may crop by itself, but upstream has to do so before us. */
static inline void
gst_ccl_crop_refuse (GstQuery * query)
{
  guint index;

  while (gst_query_find_allocation_meta (query, GST_VIDEO_CROP_META_API_TYPE, &index))
    gst_query_remove_nth_allocation_meta (query, index);
}

G_END_DECLS

#endif
