/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The regions of interest or object detections of other elements, in the form that the writer needs. */
#ifndef __GST_CCL_JSON_REGIONS_H__
#define __GST_CCL_JSON_REGIONS_H__

#include <gst/gst.h>

#include "base/gstcclvector.h"
#include "gstccljsonframe.h"

G_BEGIN_DECLS

/* Regions are measured up to this column and row: 65535^4 / 3 is less than 2^64, so no sum of squares overflows. */
#define GST_CCL_JSON_MAX_REGION_END 65535

typedef struct
{
  GstCclVector blobs;           /* of GstCclBlob: each region as a filled rectangle */
  GstCclVector regions;         /* of GstCclJsonRegion, one for each blob */
  guint n_left_out;             /* regions that cannot be measured */
} GstCclJsonRegions;

/* Reads the regions of interest of a buffer or, if it has none, its object detections. An analyser that knows both forms
 * attaches one of each for an object, so only one form is read. FALSE: no memory for this number of them. */
gboolean gst_ccl_json_regions_read (GstCclJsonRegions * regions, GstBuffer * buffer);
void gst_ccl_json_regions_clear (GstCclJsonRegions * regions);

G_END_DECLS

#endif
