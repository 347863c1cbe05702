/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* TLS, login and will of an MQTT client. */

#include "gstcclmqttconnection.h"

#include <string.h>

#include <mosquitto.h>

#include "delivery/gstcclsettings.h"

#define SYSTEM_CA_PATH "/etc/ssl/certs"

static const gsize strings[] = {
  G_STRUCT_OFFSET (GstCclMqttSettings, uri), G_STRUCT_OFFSET (GstCclMqttSettings, client_id),
  G_STRUCT_OFFSET (GstCclMqttSettings, username), G_STRUCT_OFFSET (GstCclMqttSettings, password_env),
  G_STRUCT_OFFSET (GstCclMqttSettings, ca_file), G_STRUCT_OFFSET (GstCclMqttSettings, cert_file),
  G_STRUCT_OFFSET (GstCclMqttSettings, key_file), G_STRUCT_OFFSET (GstCclMqttSettings, will_topic),
  G_STRUCT_OFFSET (GstCclMqttSettings, will_message), G_STRUCT_OFFSET (GstCclMqttSettings, user_properties),
};

void
gst_ccl_mqtt_settings_clear (GstCclMqttSettings * settings)
{
  gst_ccl_settings_free_strings (settings, strings, G_N_ELEMENTS (strings));
}

void
gst_ccl_mqtt_settings_copy (GstCclMqttSettings * to, const GstCclMqttSettings * from)
{
  *to = *from;
  gst_ccl_settings_copy_strings (to, strings, G_N_ELEMENTS (strings));
}

static gboolean
set_error (GError ** error, const gchar * format, const gchar * detail)
{
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, format, detail);
  return FALSE;
}

static gboolean
set_up_tls (struct mosquitto *client, const GstCclMqttSettings * settings, GError ** error, const gchar ** hint)
{
  gint result;

  if (!gst_ccl_settings_check_file ("ca-file", settings->ca_file, error)
      || !gst_ccl_settings_check_file ("cert-file", settings->cert_file, error)
      || !gst_ccl_settings_check_file ("key-file", settings->key_file, error))
    return FALSE;
  result = mosquitto_tls_set (client, settings->ca_file, settings->ca_file ? NULL : SYSTEM_CA_PATH, settings->cert_file,
      settings->key_file, NULL);
  if (result == MOSQ_ERR_SUCCESS && !settings->verify) {
    mosquitto_tls_opts_set (client, 0, NULL, NULL);
    result = mosquitto_tls_insecure_set (client, TRUE);
  }
  if (result == MOSQ_ERR_SUCCESS)
    return TRUE;
  *hint = "cert-file and key-file go together.";
  return set_error (error, "TLS cannot be set up: %s", mosquitto_strerror (result));
}

static gboolean
set_up_login (struct mosquitto *client, const GstCclMqttSettings * settings, GError ** error, const gchar ** hint)
{
  const gchar *const password = settings->password_env ? g_getenv (settings->password_env) : NULL;

  if (!gst_ccl_settings_check_password (settings->password_env, settings->username, error, hint))
    return FALSE;
  if (!settings->username || mosquitto_username_pw_set (client, settings->username, password) == MOSQ_ERR_SUCCESS)
    return TRUE;
  *hint = "It has to be UTF-8, of at most 65535 bytes.";
  return set_error (error, "%s", "username cannot be sent to a broker.");
}

static gboolean
set_up_will (struct mosquitto *client, const GstCclMqttSettings * settings, gint qos_level, GError ** error)
{
  const gchar *const text = settings->will_message ? settings->will_message : "";

  if (!settings->will_topic
      || mosquitto_will_set (client, settings->will_topic, (int) strlen (text), text, qos_level, TRUE)
      == MOSQ_ERR_SUCCESS)
    return TRUE;
  return set_error (error, "\"%s\" is no topic for a will.", settings->will_topic);
}

gboolean
gst_ccl_mqtt_configure (struct mosquitto *client, const GstCclMqttSettings * settings, gboolean tls, gint qos_level,
    GError ** error, const gchar ** hint)
{
  return (!tls || set_up_tls (client, settings, error, hint)) && set_up_login (client, settings, error, hint)
      && set_up_will (client, settings, qos_level, error);
}
