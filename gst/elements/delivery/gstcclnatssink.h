/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_NATS_SINK_H__
#define __GST_CCL_NATS_SINK_H__

#include "delivery/gstcclserversink.h"

G_BEGIN_DECLS

#define GST_TYPE_CCL_NATS_SINK (gst_ccl_nats_sink_get_type ())
G_DECLARE_FINAL_TYPE (GstCclNatsSink, gst_ccl_nats_sink, GST, CCL_NATS_SINK, GstCclServerSink)

GST_ELEMENT_REGISTER_DECLARE (cclnatssink);

G_END_DECLS

#endif
