/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a message carries beside topic and payload in MQTT 5. */

#include "gstcclmqttconnection.h"

#include <string.h>

#include <mosquitto.h>
#include <mqtt_protocol.h>

#include "delivery/gstcclline.h"
#include "delivery/gstccltopic.h"

/* A broker ends the connection for a text that MQTT does not allow: control characters are among them. */
static gboolean
is_valid_text (const gchar * text)
{
  const gsize size = strlen (text);

  return size <= G_MAXUINT16 && mosquitto_validate_utf8 (text, (int) size) == MOSQ_ERR_SUCCESS;
}

gboolean
gst_ccl_mqtt_check_user_properties (const gchar * text)
{
  gchar **const parts = g_strsplit (text ? text : "", ",", -1);
  gboolean is_valid = TRUE;

  for (gchar ** part = parts; *part; part++) {
    const gchar *const equals = strchr (*part, '=');

    is_valid &= equals && equals > *part && is_valid_text (*part);
  }
  g_strfreev (parts);
  return is_valid;
}

/* Without the pair if MQTT does not allow its value. */
static void
add_pair (mosquitto_property ** properties, const gchar * key, const gchar * value)
{
  if (is_valid_text (value))
    mosquitto_property_add_string_pair (properties, MQTT_PROP_USER_PROPERTY, key, value);
}

static void
add_user_properties (mosquitto_property ** properties, const gchar * text, const gchar * source)
{
  gchar **const parts = g_strsplit (text ? text : "", ",", -1);

  for (gchar ** part = parts; *part; part++) {
    gchar **const pair = g_strsplit (*part, "=", 2);
    gchar **const pieces = g_strsplit (pair[1], GST_CCL_TOPIC_SOURCE, -1);
    gchar *const value = g_strjoinv (source, pieces);

    add_pair (properties, pair[0], value);
    g_free (value);
    g_strfreev (pieces);
    g_strfreev (pair);
  }
  g_strfreev (parts);
}

/* Whether KEY=VALUE,... has this key. */
static gboolean
has_key (const gchar * text, const gchar * key)
{
  gchar **const parts = g_strsplit (text ? text : "", ",", -1);
  const gsize length = strlen (key);
  gboolean has = FALSE;

  for (gchar ** part = parts; *part; part++)
    has |= g_str_has_prefix (*part, key) && (*part)[length] == '=';
  g_strfreev (parts);
  return has;
}

/* What the line says about itself, unless the user gives another value. */
static void
add_line_properties (mosquitto_property ** properties, const gchar * user_properties, GBytes * payload)
{
  static const gchar *const names[] = { "source", "schema" };
  gsize size;
  const gchar *const line = g_bytes_get_data (payload, &size);

  if (line && gst_ccl_line_is_cbor (line, size))
    mosquitto_property_add_string (properties, MQTT_PROP_CONTENT_TYPE, "application/cbor");
  for (guint i = 0; line && i < G_N_ELEMENTS (names); i++) {
    gchar *const value = has_key (user_properties, names[i]) ? NULL : gst_ccl_line_get_text (line, size, names[i]);

    if (value)
      add_pair (properties, names[i], value);
    g_free (value);
  }
}

mosquitto_property *
gst_ccl_mqtt_message_properties (const GstCclMqttSettings * settings, const GstCclDeliveryMessage * message,
    gboolean with_line)
{
  const gint64 waited = (g_get_monotonic_time () - message->arrived) / G_TIME_SPAN_SECOND;
  mosquitto_property *properties = NULL;

  if (settings->message_expiry)
    mosquitto_property_add_int32 (&properties, MQTT_PROP_MESSAGE_EXPIRY_INTERVAL,
        (uint32_t) MAX ((gint64) settings->message_expiry - waited, 1));
  if (with_line)
    add_line_properties (&properties, settings->user_properties, message->payload);
  add_user_properties (&properties, settings->user_properties, message->source);
  return properties;
}
