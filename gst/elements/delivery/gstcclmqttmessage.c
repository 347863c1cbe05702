/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a message carries beside topic and payload in MQTT 5. */

#include "gstcclmqttconnection.h"

#include <string.h>

#include <mosquitto.h>
#include <mqtt_protocol.h>

#include "delivery/gstcclcborsource.h"
#include "delivery/gstccltopic.h"

gboolean
gst_ccl_mqtt_check_user_properties (const gchar * text)
{
  gchar **const parts = g_strsplit (text ? text : "", ",", -1);
  gboolean is_valid = !text || g_utf8_validate (text, -1, NULL);

  for (gchar ** part = parts; *part; part++) {
    const gchar *const equals = strchr (*part, '=');

    is_valid &= equals && equals > *part && strlen (*part) <= G_MAXUINT16;
  }
  g_strfreev (parts);
  return is_valid;
}

static void
add_user_properties (mosquitto_property ** properties, const gchar * text, const gchar * source)
{
  gchar **const parts = g_strsplit (text, ",", -1);

  for (gchar ** part = parts; *part; part++) {
    gchar **const pair = g_strsplit (*part, "=", 2);
    gchar **const pieces = g_strsplit (pair[1], GST_CCL_TOPIC_SOURCE, -1);
    gchar *const value = g_strjoinv (source, pieces);

    mosquitto_property_add_string_pair (properties, MQTT_PROP_USER_PROPERTY, pair[0], value);
    g_free (value);
    g_strfreev (pieces);
    g_strfreev (pair);
  }
  g_strfreev (parts);
}

mosquitto_property *
gst_ccl_mqtt_message_properties (const GstCclMqttSettings * settings, const GstCclDeliveryMessage * message)
{
  const gint64 waited = (g_get_monotonic_time () - message->arrived) / G_TIME_SPAN_SECOND;
  mosquitto_property *properties = NULL;

  if (settings->message_expiry)
    mosquitto_property_add_int32 (&properties, MQTT_PROP_MESSAGE_EXPIRY_INTERVAL,
        (uint32_t) MAX ((gint64) settings->message_expiry - waited, 1));
  if (gst_ccl_is_cbor (g_bytes_get_data (message->payload, NULL), g_bytes_get_size (message->payload)))
    mosquitto_property_add_string (&properties, MQTT_PROP_CONTENT_TYPE, "application/cbor");
  if (settings->user_properties)
    add_user_properties (&properties, settings->user_properties, message->source);
  return properties;
}
