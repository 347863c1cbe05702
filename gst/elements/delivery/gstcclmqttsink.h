/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_MQTT_SINK_H__
#define __GST_CCL_MQTT_SINK_H__

#include <gst/gst.h>

#include "delivery/gstccldeliverysink.h"

G_BEGIN_DECLS

#define GST_TYPE_CCL_MQTT_SINK (gst_ccl_mqtt_sink_get_type ())
G_DECLARE_FINAL_TYPE (GstCclMqttSink, gst_ccl_mqtt_sink, GST, CCL_MQTT_SINK, GstCclDeliverySink)

GST_ELEMENT_REGISTER_DECLARE (cclmqttsink);

G_END_DECLS

#endif
