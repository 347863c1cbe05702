/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The form in which metadata passes elements that crop or turn: a meta without tags, which all elements copy. */
#ifndef __GST_CCL_KEPT_META_H__
#define __GST_CCL_KEPT_META_H__

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct
{
  GstMeta meta;
  GstBuffer *holder;            /* a buffer with the kept metas and no data */
  gint width, height;           /* of the frame they were on */
  gint par_n, par_d;            /* shape of its pixels */
} GstCclKeptMeta;

GstCclKeptMeta *gst_ccl_buffer_add_kept_meta (GstBuffer * buffer, GstBuffer * holder);

/* NULL: the buffer has none. */
GstCclKeptMeta *gst_ccl_buffer_get_kept_meta (GstBuffer * buffer);

G_END_DECLS

#endif
