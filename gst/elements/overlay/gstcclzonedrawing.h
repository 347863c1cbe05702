/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Polygons and lines of cclzone, with their names and counts. */
#ifndef __GST_CCL_ZONE_DRAWING_H__
#define __GST_CCL_ZONE_DRAWING_H__

#include <gst/ccl/ccl.h>

#include "gstccltexts.h"

G_BEGIN_DECLS

/* `index`: of the zone in its frame, which decides its colour. */
void gst_ccl_zone_draw (GstCclPen * pen, GstCclTexts * texts, const GstCclZone * zone, guint index);

G_END_DECLS

#endif
