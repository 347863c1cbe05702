/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Hull, smallest rectangle and holes of a blob. */
#ifndef __GST_CCL_SHAPES_H__
#define __GST_CCL_SHAPES_H__

#include <gst/ccl/gstcclblobmeta.h>

#include "gstcclpen.h"

G_BEGIN_DECLS

/* Each draws nothing where the blob has no contour, or was not measured. */
void gst_ccl_draw_hull (GstCclPen * pen, const GstCclBlobMeta * meta, guint index, GstCclColour colour, gdouble alpha);
void gst_ccl_draw_rectangle (GstCclPen * pen, const GstCclBlobMeta * meta, guint index, GstCclColour colour,
    gdouble alpha);
void gst_ccl_draw_holes (GstCclPen * pen, const GstCclBlobMeta * meta, guint index, GstCclColour colour, gdouble alpha);

G_END_DECLS

#endif
