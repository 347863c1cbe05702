/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Numbers for the regions of segmentations, so that each has pixels of its own in one label map. */
#ifndef __GST_CCL_REGIONS_H__
#define __GST_CCL_REGIONS_H__

#include "base/gstcclvector.h"

G_BEGIN_DECLS

#define GST_CCL_N_REGION_IDS (G_MAXUINT16 + 1)

/* Found in the order of the segmentations. Numbers are from 1 on, ascending with the ids. */
typedef struct
{
  guint segmentation;           /* its index */
  guint16 id;
  guint16 number;
} GstCclRegion;

/* Adds those of the first ids that are marked. FALSE without memory. */
gboolean gst_ccl_regions_add (GstCclVector * regions, guint segmentation, const gboolean * is_present, guint n_ids);

/* Gives each a number. Returns the class of each number from 0 on, as guint16; NULL: too many, or no memory. */
GBytes *gst_ccl_regions_number (GstCclVector * regions);

/* Writes the numbers of the regions of a segmentation by their ids. Others stay as they are. */
void gst_ccl_regions_get_numbers (const GstCclVector * regions, guint segmentation, guint16 * numbers);

G_END_DECLS

#endif
