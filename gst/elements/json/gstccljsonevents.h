/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The schema "ccl-event-1": an event of cclzone or cclmotion as a line. */
#ifndef __GST_CCL_JSON_EVENTS_H__
#define __GST_CCL_JSON_EVENTS_H__

#include "gstccljsonframe.h"

G_BEGIN_DECLS

/* `frame`: source, times and tags. `event`: as gst_ccl_inband_push() sent it. (transfer full) */
GString *gst_ccl_json_event_line (const GstCclJsonFrame * frame, const GstStructure * event, GstCclJsonFormat format);

G_END_DECLS

#endif
