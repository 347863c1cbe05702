/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Events of the analysis that pass downstream, besides the messages on the bus. They come before their frame, whose timestamp is
 * in their field `timestamp`, and may overtake the frames before it: an element does not empty its delay queue for them. */
#ifndef __GST_CCL_INBAND_H__
#define __GST_CCL_INBAND_H__

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

/* Sends a copy of the structure, with the name of the element and `event` in the fields of these names. In the streaming thread,
 * without locks. */
void gst_ccl_inband_push (GstBaseTransform * transform, const GstStructure * structure, const gchar * event);

gboolean gst_ccl_inband_is_event (GstEvent * event);

G_END_DECLS

#endif
