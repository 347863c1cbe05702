/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Properties of cclmqttsink. */

#include "delivery/gstcclmqttsinkprivate.h"

#include "base/gstcclpropertyrow.h"
#include "delivery/gstcclsettings.h"
#include "delivery/gstccltopic.h"

#define DEFAULT_TOPIC "ccl/blobs"
#define DEFAULT_SESSION_EXPIRY 3600

enum
{
  PROP_0,
  PROP_URI,
  PROP_TOPIC,
  PROP_QOS_LEVEL,
  PROP_RETAIN,
  PROP_CLIENT_ID,
  PROP_USERNAME,
  PROP_PASSWORD_ENV,
  PROP_CA_FILE,
  PROP_CERT_FILE,
  PROP_KEY_FILE,
  PROP_VERIFY,
  PROP_WILL_TOPIC,
  PROP_WILL_MESSAGE,
  PROP_PROTOCOL_VERSION,
  PROP_MESSAGE_EXPIRY,
  PROP_SESSION_EXPIRY,
  PROP_USER_PROPERTIES,
  PROP_KEEP_ALIVE,
  PROP_MAX_RECONNECT_DELAY,
  N_PROPERTIES,
};

/* Properties that are plain members. */
static const GstCclPropertyRow rows[N_PROPERTIES] = {
  [PROP_URI] = GST_CCL_PROPERTY_ROW (GstCclMqttSink, settings.uri),
  [PROP_TOPIC] = GST_CCL_PROPERTY_ROW (GstCclMqttSink, topic),
  [PROP_QOS_LEVEL] = GST_CCL_PROPERTY_ROW (GstCclMqttSink, qos_level),
  [PROP_RETAIN] = GST_CCL_PROPERTY_ROW (GstCclMqttSink, retain),
  [PROP_CLIENT_ID] = GST_CCL_PROPERTY_ROW (GstCclMqttSink, settings.client_id),
  [PROP_USERNAME] = GST_CCL_PROPERTY_ROW (GstCclMqttSink, settings.username),
  [PROP_PASSWORD_ENV] = GST_CCL_PROPERTY_ROW (GstCclMqttSink, settings.password_env),
  [PROP_CA_FILE] = GST_CCL_PROPERTY_ROW (GstCclMqttSink, settings.ca_file),
  [PROP_CERT_FILE] = GST_CCL_PROPERTY_ROW (GstCclMqttSink, settings.cert_file),
  [PROP_KEY_FILE] = GST_CCL_PROPERTY_ROW (GstCclMqttSink, settings.key_file),
  [PROP_VERIFY] = GST_CCL_PROPERTY_ROW (GstCclMqttSink, settings.verify),
  [PROP_WILL_TOPIC] = GST_CCL_PROPERTY_ROW (GstCclMqttSink, settings.will_topic),
  [PROP_WILL_MESSAGE] = GST_CCL_PROPERTY_ROW (GstCclMqttSink, settings.will_message),
  [PROP_PROTOCOL_VERSION] = GST_CCL_PROPERTY_ROW (GstCclMqttSink, settings.version),
  [PROP_MESSAGE_EXPIRY] = GST_CCL_PROPERTY_ROW (GstCclMqttSink, settings.message_expiry),
  [PROP_SESSION_EXPIRY] = GST_CCL_PROPERTY_ROW (GstCclMqttSink, settings.session_expiry),
  [PROP_USER_PROPERTIES] = GST_CCL_PROPERTY_ROW (GstCclMqttSink, settings.user_properties),
  [PROP_KEEP_ALIVE] = GST_CCL_PROPERTY_ROW (GstCclMqttSink, settings.keep_alive),
  [PROP_MAX_RECONNECT_DELAY] = GST_CCL_PROPERTY_ROW (GstCclMqttSink, settings.max_pause),
};

static void
gst_ccl_mqtt_sink_set_property (GObject * object, guint id, const GValue * value, GParamSpec * pspec)
{
  GstCclMqttSink *const self = GST_CCL_MQTT_SINK (object);
  gboolean retain;
  gint qos_level;

  GST_OBJECT_LOCK (self);
  if (!gst_ccl_property_row_set (self, &rows[id], value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  gst_ccl_settings_hide_login (self->settings.uri);
  self->settings.has_session_expiry |= id == PROP_SESSION_EXPIRY;
  if (!self->topic)
    self->topic = g_strdup (DEFAULT_TOPIC);
  qos_level = self->qos_level;
  retain = self->retain;
  GST_OBJECT_UNLOCK (self);
  gst_ccl_mqtt_connection_set_delivery (&self->connection, qos_level, retain);
}

static void
gst_ccl_mqtt_sink_get_property (GObject * object, guint id, GValue * value, GParamSpec * pspec)
{
  GstCclMqttSink *const self = GST_CCL_MQTT_SINK (object);

  GST_OBJECT_LOCK (self);
  if (!gst_ccl_property_row_get (self, &rows[id], value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  GST_OBJECT_UNLOCK (self);
}

static GType
version_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    {GST_CCL_MQTT_AUTO, "5, or 3.1.1 if the broker does not know 5", "auto"},
    {GST_CCL_MQTT_5, "MQTT 5", "5"},
    {GST_CCL_MQTT_3_1_1, "MQTT 3.1.1", "3.1.1"},
    {0, NULL, NULL}
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstCclMqttVersion", values));
  return type;
}

#define READY_PARAM (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY)

static void
install_string (GObjectClass * object, guint id, const gchar * name, const gchar * nick, const gchar * text,
    const gchar * value)
{
  g_object_class_install_property (object, id, g_param_spec_string (name, nick, text, value, READY_PARAM));
}

void
gst_ccl_mqtt_sink_install_properties (GObjectClass * object)
{
  const GParamFlags ready = READY_PARAM;

  object->set_property = gst_ccl_mqtt_sink_set_property;
  object->get_property = gst_ccl_mqtt_sink_get_property;

  install_string (object, PROP_URI, "uri", "URI",
      "Address of the broker: mqtt://HOST[:PORT], or mqtts://HOST[:PORT] for TLS", "mqtt://localhost");
  install_string (object, PROP_TOPIC, "topic", "Topic",
      "Topic to publish to (" GST_CCL_TOPIC_SOURCE " = the source in the line of JSON)", DEFAULT_TOPIC);
  g_object_class_install_property (object, PROP_QOS_LEVEL, g_param_spec_int ("qos-level", "QoS level",
          "Delivery guarantee (0 = at most once, 1 = at least once, 2 = exactly once)", 0, 2, 1, ready));
  g_object_class_install_property (object, PROP_RETAIN, g_param_spec_boolean ("retain", "Retain",
          "Let the broker keep the last message of each topic for later subscribers", FALSE, ready));
  install_string (object, PROP_CLIENT_ID, "client-id", "Client ID",
      "Name of this client, unique at the broker (unset = random)", NULL);
  install_string (object, PROP_USERNAME, "username", "User name", "Name to log in with (unset = no login)", NULL);
  install_string (object, PROP_PASSWORD_ENV, "password-env", "Password variable",
      "Name of the environment variable with the password (unset = no password)", NULL);
  install_string (object, PROP_CA_FILE, "ca-file", "CA file",
      "PEM file of the trusted authorities for TLS (unset = those of the system)", NULL);
  install_string (object, PROP_CERT_FILE, "cert-file", "Certificate file",
      "PEM file of the client certificate for TLS (unset = none)", NULL);
  install_string (object, PROP_KEY_FILE, "key-file", "Key file",
      "PEM file of the unencrypted key of cert-file (unset = none)", NULL);
  g_object_class_install_property (object, PROP_VERIFY, g_param_spec_boolean ("verify", "Verify",
          "Verify certificate and host name of the broker with TLS", TRUE, ready));
  install_string (object, PROP_WILL_TOPIC, "will-topic", "Will topic",
      "Topic of the retained message that the broker publishes when this client vanishes (unset = none)", NULL);
  install_string (object, PROP_WILL_MESSAGE, "will-message", "Will message", "Message for will-topic (unset = empty)",
      NULL);
  g_object_class_install_property (object, PROP_PROTOCOL_VERSION, g_param_spec_enum ("protocol-version",
          "Protocol version", "Version of MQTT", version_get_type (), GST_CCL_MQTT_AUTO, ready));
  g_object_class_install_property (object, PROP_MESSAGE_EXPIRY, g_param_spec_uint ("message-expiry", "Message expiry",
          "MQTT 5: time after its arrival at which a message is no longer delivered, in seconds (0 = none)", 0,
          G_MAXINT, 0, ready));
  g_object_class_install_property (object, PROP_SESSION_EXPIRY, g_param_spec_uint ("session-expiry", "Session expiry",
          "MQTT 5 with qos-level=2: time for which the broker keeps the session of a broken connection, in seconds "
          "(0 = it ends with the connection)", 0, G_MAXINT, DEFAULT_SESSION_EXPIRY, ready));
  install_string (object, PROP_USER_PROPERTIES, "user-properties", "User properties",
      "MQTT 5: KEY=VALUE,KEY=VALUE of each message (" GST_CCL_TOPIC_SOURCE " = its source; unset = none)", NULL);
  gst_type_mark_as_plugin_api (version_get_type (), 0);
  g_object_class_install_property (object, PROP_KEEP_ALIVE, g_param_spec_uint ("keep-alive", "Keep alive",
          "Idle time after which the connection is probed, in seconds", 5, 65535, 30, ready));
  g_object_class_install_property (object, PROP_MAX_RECONNECT_DELAY, g_param_spec_uint64 ("max-reconnect-delay",
          "Maximum reconnect delay", "Maximum pause between attempts to connect, in nanoseconds", GST_SECOND / 2,
          24 * 3600 * GST_SECOND, 30 * GST_SECOND, ready));
}

void
gst_ccl_mqtt_sink_init_settings (GstCclMqttSink * self)
{
  self->settings = (GstCclMqttSettings) {
  .uri = g_strdup ("mqtt://localhost"),.verify = TRUE,.session_expiry = DEFAULT_SESSION_EXPIRY,.keep_alive =
        30,.max_pause = 30 * GST_SECOND,};
  self->topic = g_strdup (DEFAULT_TOPIC);
  self->qos_level = 1;
}
