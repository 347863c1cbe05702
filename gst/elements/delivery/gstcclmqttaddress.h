/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The address of an MQTT broker. */
#ifndef __GST_CCL_MQTT_ADDRESS_H__
#define __GST_CCL_MQTT_ADDRESS_H__

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct
{
  gchar *host;
  gint port;                    /* 1..65535 */
  gboolean tls;
} GstCclMqttAddress;

/* Reads mqtt://HOST[:PORT] (1883) or mqtts://HOST[:PORT] (8883). FALSE: `error` says why, and `hint` (static) what to do. An
 * address with a user name, a password, a path, a query or a fragment is an error. The error does not repeat a text that may be
 * a password. */
gboolean gst_ccl_mqtt_address_parse (const gchar * uri, GstCclMqttAddress * address, GError ** error, const gchar ** hint);

G_END_DECLS

#endif
