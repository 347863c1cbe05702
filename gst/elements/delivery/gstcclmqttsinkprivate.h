/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The files of cclmqttsink share this. */
#ifndef __GST_CCL_MQTT_SINK_PRIVATE_H__
#define __GST_CCL_MQTT_SINK_PRIVATE_H__

#include "delivery/gstcclmqttsink.h"

#include "delivery/gstcclmqttconnection.h"

G_BEGIN_DECLS

struct _GstCclMqttSink
{
  GstCclDeliverySink parent;

  /* Properties; object lock. */
  GstCclMqttSettings settings;
  gchar *topic;
  gint qos_level;
  gboolean retain;

  /* What they were at the start: fixed from open() to close(), for all threads. */
  GstCclMqttSettings active;

  GstCclMqttConnection connection;
};

void gst_ccl_mqtt_sink_install_properties (GObjectClass * object);

/* The defaults of the properties. */
void gst_ccl_mqtt_sink_init_settings (GstCclMqttSink * sink);

G_END_DECLS

#endif
