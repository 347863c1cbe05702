/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The time of day of a frame. */
#ifndef __GST_CCL_JSON_TIME_H__
#define __GST_CCL_JSON_TIME_H__

#include <gst/gst.h>

#include "gstccljsonframe.h"

G_BEGIN_DECLS

typedef enum
{
  GST_CCL_JSON_TIME_AUTO,
  GST_CCL_JSON_TIME_REFERENCE,
  GST_CCL_JSON_TIME_CLOCK,
  GST_CCL_JSON_TIME_SYSTEM,
  GST_CCL_JSON_TIME_NONE,
} GstCclJsonTime;

/* UTC from the reference timestamp of a buffer, or GST_CLOCK_TIME_NONE. */
GstClockTime gst_ccl_json_utc_from_reference (GstBuffer * buffer);

/* UTC from a time of the clock, or GST_CLOCK_TIME_NONE. A clock that does not tell the time of day is compared with the system's
 * time if `any_clock` is set. `clock` may be NULL. */
GstClockTime gst_ccl_json_utc_from_clock (GstClock * clock, GstClockTime clock_time, gboolean any_clock);

/* Sets utc and time_source of a frame, whose running_time is set. The clock is the element's. */
void gst_ccl_json_frame_set_utc (GstCclJsonFrame * frame, GstBuffer * buffer, GstCclJsonTime time, GstElement * element);

G_END_DECLS

#endif
