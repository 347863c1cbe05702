/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which frames have a line when not every frame needs one. Counts of zones are sums, so a missing line loses none. */
#ifndef __GST_CCL_JSON_THIN_H__
#define __GST_CCL_JSON_THIN_H__

#include "gstccljsonframe.h"

G_BEGIN_DECLS

typedef struct
{
  GstClockTime interval;        /* minimum time from line to line, 0: none */
  gboolean on_change;
} GstCclJsonThinning;

/* The last line. */
typedef struct
{
  gboolean is_any;
  GstClockTime time;
  guint64 state;                /* digest of its tracks and zones */
} GstCclJsonWritten;

/* TRUE: the frame has a line, and `written` knows it. */
gboolean gst_ccl_json_thinning_lets_pass (const GstCclJsonThinning * thinning, GstCclJsonWritten * written,
    const GstCclJsonFrame * frame);

G_END_DECLS

#endif
