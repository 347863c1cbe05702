/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclserversink.h"

#include "base/gstcclpropertyrow.h"
#include "delivery/gstccltopic.h"

#define DEFAULT_MAX_PAUSE (30 * GST_SECOND)

/* Properties that are plain members. */
static const GstCclPropertyRow rows[GST_CCL_SERVER_N_PROPERTIES] = {
  [GST_CCL_SERVER_PROP_SERVERS] = GST_CCL_PROPERTY_ROW (GstCclServerSink, settings.servers),
  [GST_CCL_SERVER_PROP_TOPIC] = GST_CCL_PROPERTY_ROW (GstCclServerSink, topic),
  [GST_CCL_SERVER_PROP_CLIENT_ID] = GST_CCL_PROPERTY_ROW (GstCclServerSink, settings.client_id),
  [GST_CCL_SERVER_PROP_USERNAME] = GST_CCL_PROPERTY_ROW (GstCclServerSink, settings.username),
  [GST_CCL_SERVER_PROP_PASSWORD_ENV] = GST_CCL_PROPERTY_ROW (GstCclServerSink, settings.password_env),
  [GST_CCL_SERVER_PROP_TLS] = GST_CCL_PROPERTY_ROW (GstCclServerSink, settings.tls),
  [GST_CCL_SERVER_PROP_CA_FILE] = GST_CCL_PROPERTY_ROW (GstCclServerSink, settings.ca_file),
  [GST_CCL_SERVER_PROP_CERT_FILE] = GST_CCL_PROPERTY_ROW (GstCclServerSink, settings.cert_file),
  [GST_CCL_SERVER_PROP_KEY_FILE] = GST_CCL_PROPERTY_ROW (GstCclServerSink, settings.key_file),
  [GST_CCL_SERVER_PROP_VERIFY] = GST_CCL_PROPERTY_ROW (GstCclServerSink, settings.verify),
  [GST_CCL_SERVER_PROP_MAX_RECONNECT_DELAY] = GST_CCL_PROPERTY_ROW (GstCclServerSink, settings.max_pause),
};

static void
install_string (GObjectClass * object, guint id, const gchar * name, const gchar * nick, const gchar * text,
    const gchar * value)
{
  g_object_class_install_property (object, id,
      g_param_spec_string (name, nick, text, value, GST_CCL_SERVER_PARAM_READY));
}

void
gst_ccl_server_sink_install_properties (GObjectClass * object, const GstCclServerDefaults * defaults)
{
  const GParamFlags ready = GST_CCL_SERVER_PARAM_READY;

  install_string (object, GST_CCL_SERVER_PROP_SERVERS, "servers", "Servers", defaults->servers_text, defaults->servers);
  install_string (object, GST_CCL_SERVER_PROP_TOPIC, "topic", "Topic", defaults->topic_text, defaults->topic);
  install_string (object, GST_CCL_SERVER_PROP_CLIENT_ID, "client-id", "Client ID",
      "Name of this client in logs of the servers (unset = that of the library)", NULL);
  install_string (object, GST_CCL_SERVER_PROP_USERNAME, "username", "User name",
      "Name to log in with (unset = no login)", NULL);
  install_string (object, GST_CCL_SERVER_PROP_PASSWORD_ENV, "password-env", "Password variable",
      "Name of the environment variable with the password (unset = no password)", NULL);
  g_object_class_install_property (object, GST_CCL_SERVER_PROP_TLS, g_param_spec_boolean ("tls", "TLS",
          "Encrypt the connection", FALSE, ready));
  install_string (object, GST_CCL_SERVER_PROP_CA_FILE, "ca-file", "CA file",
      "PEM file of the trusted authorities for TLS (unset = those of the system)", NULL);
  install_string (object, GST_CCL_SERVER_PROP_CERT_FILE, "cert-file", "Certificate file",
      "PEM file of the client certificate for TLS (unset = none)", NULL);
  install_string (object, GST_CCL_SERVER_PROP_KEY_FILE, "key-file", "Key file",
      "PEM file of the unencrypted key of cert-file (unset = none)", NULL);
  g_object_class_install_property (object, GST_CCL_SERVER_PROP_VERIFY, g_param_spec_boolean ("verify", "Verify",
          "Verify certificate and host name of the server with TLS", TRUE, ready));
  g_object_class_install_property (object, GST_CCL_SERVER_PROP_MAX_RECONNECT_DELAY,
      g_param_spec_uint64 ("max-reconnect-delay", "Maximum reconnect delay",
          "Maximum pause between attempts to connect, in nanoseconds", GST_SECOND / 2, 3600 * GST_SECOND,
          DEFAULT_MAX_PAUSE, ready));
}

gboolean
gst_ccl_server_sink_set_property (GstCclServerSink * self, guint id, const GValue * value)
{
  return id < GST_CCL_SERVER_N_PROPERTIES && gst_ccl_property_row_set (self, &rows[id], value);
}

gboolean
gst_ccl_server_sink_get_property (GstCclServerSink * self, guint id, GValue * value)
{
  return id < GST_CCL_SERVER_N_PROPERTIES && gst_ccl_property_row_get (self, &rows[id], value);
}

void
gst_ccl_server_sink_init (GstCclServerSink * self, const GstCclServerDefaults * defaults)
{
  self->settings.servers = g_strdup (defaults->servers);
  self->settings.verify = TRUE;
  self->settings.max_pause = DEFAULT_MAX_PAUSE;
  self->topic = g_strdup (defaults->topic);
}

void
gst_ccl_server_sink_finalize (GstCclServerSink * self)
{
  gst_ccl_server_settings_clear (&self->settings);
  g_free (self->topic);
}

const gchar *
gst_ccl_server_sink_get_topic (GstCclDeliverySink * sink)
{
  return ((GstCclServerSink *) sink)->topic;
}

gchar *
gst_ccl_server_sink_get_address (GstCclDeliverySink * sink)
{
  return g_strdup (((GstCclServerSink *) sink)->settings.servers);
}

const gchar *
gst_ccl_server_sink_get_hint (GstCclDeliverySink * sink)
{
  return ((GstCclServerSink *) sink)->settings.tls ?
      "With tls=true the servers have to speak TLS at these ports, with a certificate for their host names from an "
      "authority in ca-file, or from one the system trusts." :
      "servers says where they are; fail-on-disconnect=true ends the pipeline instead.";
}

void
gst_ccl_server_sink_warn_of_settings (GstCclServerSink * self)
{
  const gchar *const unused = gst_ccl_server_settings_get_unused (&self->settings);

  if (unused)
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS, ("%s has no effect: the connection is not encrypted.", unused),
        ("tls=true encrypts it."));
}

gboolean
gst_ccl_server_sink_check_topic (GstCclServerSink * self, gboolean (*is_valid) (const gchar *), GError ** error)
{
  g_autofree gchar *example = gst_ccl_topic_insert (self->topic ? self->topic : "", "source");

  if (is_valid (example))
    return TRUE;
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "\"%s\" is no topic to publish to.",
      self->topic ? self->topic : "");
  return FALSE;
}

gchar *
gst_ccl_server_sink_make_topic (GstCclServerSink * self, const GstCclDeliveryMessage * message,
    gboolean (*is_kept) (gchar))
{
  gchar *source, *topic = NULL;
  gboolean is_changed = FALSE;

  if (!self->topic || !gst_ccl_topic_has_source (self->topic))
    return NULL;
  source = g_strdup (message->source);
  for (gchar * at = source; *at; at++) {
    if (!is_kept (*at)) {
      *at = '_';
      is_changed = TRUE;
    }
  }
  if (is_changed)
    topic = gst_ccl_topic_insert (self->topic, source);
  g_free (source);
  return topic;
}
