/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_KAFKA_SINK_H__
#define __GST_CCL_KAFKA_SINK_H__

#include "delivery/gstcclserversink.h"

G_BEGIN_DECLS

#define GST_TYPE_CCL_KAFKA_SINK (gst_ccl_kafka_sink_get_type ())
G_DECLARE_FINAL_TYPE (GstCclKafkaSink, gst_ccl_kafka_sink, GST, CCL_KAFKA_SINK, GstCclServerSink)

GST_ELEMENT_REGISTER_DECLARE (cclkafkasink);

G_END_DECLS

#endif
