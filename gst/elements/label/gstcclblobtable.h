/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Blobs from the core's table of components. */
#ifndef __GST_CCL_BLOB_TABLE_H__
#define __GST_CCL_BLOB_TABLE_H__

#include <gst/ccl/gstcclblobmeta.h>

#include "analysis/contour.h"

G_BEGIN_DECLS

/* One blob for each record, in the order of the table. `classes`: class of each value of a label map; NULL: the value.
 * `max_holes`: further ones are left out, those of the greatest labels first. NULL without memory. (transfer full) */
GstCclBlobList *gst_ccl_blob_table_to_list (const CclTable * table, const guint16 * classes, guint max_holes);

/* Holes of all blobs of the table. */
gsize gst_ccl_blob_table_count_holes (const CclTable * table);

/* Adds the contour of each blob of the table's list, traced in `mask`, which must be in host memory. `contours`: scratch. A blob
 * whose contour cannot be traced has none, and the last failure is logged. FALSE without memory. */
gboolean gst_ccl_blob_table_add_contours (GstCclBlobList * list, const CclTable * table, const CclMask * mask,
    const CclContourConfig * config, CclContours * contours);

G_END_DECLS

#endif
