/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclserversink.h"

#include "delivery/gstcclsettings.h"
#include "delivery/gstccltopic.h"

#define DEFAULT_MAX_PAUSE (30 * GST_SECOND)

static GObjectClass *parent_class;

static const GstCclServerSinkClass *
get_class (gconstpointer self)
{
  return (const GstCclServerSinkClass *) ((const GTypeInstance *) self)->g_class;
}

/* ---------------------------------------------------------------- properties */

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

static const GstCclPropertyRow *
find_row (GObject * object, guint id)
{
  return id < GST_CCL_SERVER_N_PROPERTIES ? &rows[id] : &get_class (object)->rows[id];
}

static void
set_property (GObject * object, guint id, const GValue * value, GParamSpec * pspec)
{
  GstCclServerSink *const self = (GstCclServerSink *) object;

  GST_OBJECT_LOCK (self);
  if (!gst_ccl_property_row_set (self, find_row (object, id), value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  gst_ccl_settings_hide_login (self->settings.servers);
  GST_OBJECT_UNLOCK (self);
}

static void
get_property (GObject * object, guint id, GValue * value, GParamSpec * pspec)
{
  GST_OBJECT_LOCK (object);
  if (!gst_ccl_property_row_get (object, find_row (object, id), value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  GST_OBJECT_UNLOCK (object);
}

static void
install_string (GObjectClass * object, guint id, const gchar * name, const gchar * nick, const gchar * text,
    const gchar * value)
{
  g_object_class_install_property (object, id,
      g_param_spec_string (name, nick, text, value, GST_CCL_SERVER_PARAM_READY));
}

void
gst_ccl_server_sink_class_install (GstCclServerSinkClass * klass)
{
  GObjectClass *const object = G_OBJECT_CLASS (klass);
  const GstCclServerDefaults *const defaults = klass->defaults;
  const GParamFlags ready = GST_CCL_SERVER_PARAM_READY;

  /* A class does not inherit these two. */
  object->set_property = set_property;
  object->get_property = get_property;
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

/* ---------------------------------------------------------------- start and stop */

static gboolean
check_topic (GstCclServerSink * self, GError ** error, const gchar ** hint)
{
  g_autofree gchar *topic = NULL, *example = NULL;

  GST_OBJECT_LOCK (self);
  topic = g_strdup (self->topic ? self->topic : "");
  GST_OBJECT_UNLOCK (self);
  example = gst_ccl_topic_insert (topic, "source");
  if (get_class (self)->is_valid_topic (example))
    return TRUE;
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "\"%s\" is no topic to publish to.", topic);
  *hint = get_class (self)->topic_hint;
  return FALSE;
}

static gboolean
open_sink (GstCclDeliverySink * sink, guint * max_in_flight, GError ** error, const gchar ** hint)
{
  GstCclServerSink *const self = (GstCclServerSink *) sink;
  const GstCclServerSinkClass *const klass = get_class (self);

  gst_ccl_server_settings_clear (&self->active);
  GST_OBJECT_LOCK (self);
  gst_ccl_server_settings_copy (&self->active, &self->settings);
  GST_OBJECT_UNLOCK (self);
  *max_in_flight = klass->max_in_flight;
  return check_topic (self, error, hint) && klass->open_connection (self, &self->active, error, hint);
}

static void
close_sink (GstCclDeliverySink * sink)
{
  get_class (sink)->close_connection ((GstCclServerSink *) sink);
}

/* ---------------------------------------------------------------- transport */

static gpointer
get_connection (gpointer self)
{
  return (guint8 *) self + get_class (self)->connection;
}

static void
start_transport (gpointer transport, GstCclDelivery * delivery)
{
  GstCclServerSink *const self = transport;
  const gchar *const unused = gst_ccl_server_settings_get_unused (&self->active);

  /* The user expects an encrypted connection. */
  if (unused)
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS, ("%s has no effect: the connection is not encrypted.", unused),
        ("tls=true encrypts it."));
  get_class (self)->functions->start (get_connection (self), delivery);
}

static void
stop_transport (gpointer transport)
{
  get_class (transport)->functions->stop (get_connection (transport));
}

static GstCclSendResult
send_message (gpointer transport, const GstCclDeliveryMessage * message, gchar * reason)
{
  return get_class (transport)->functions->send (get_connection (transport), message, reason);
}

static const GstCclDeliveryTransport server_transport = { start_transport, stop_transport, send_message };

/* ---------------------------------------------------------------- messages */

static const gchar *
get_topic (GstCclDeliverySink * sink)
{
  return ((GstCclServerSink *) sink)->topic;
}

static gchar *
get_address (GstCclDeliverySink * sink)
{
  return g_strdup (((GstCclServerSink *) sink)->active.servers);
}

static const gchar *
get_hint (GstCclDeliverySink * sink)
{
  return ((GstCclServerSink *) sink)->active.tls ?
      "With tls=true the servers have to speak TLS at these ports, with a certificate for their host names from an "
      "authority in ca-file, or from one the system trusts." :
      "servers says where they are; fail-on-disconnect=true ends the pipeline instead.";
}

/* ---------------------------------------------------------------- class */

static void
finalize (GObject * object)
{
  GstCclServerSink *const self = (GstCclServerSink *) object;

  gst_ccl_server_settings_clear (&self->settings);
  gst_ccl_server_settings_clear (&self->active);
  g_free (self->topic);
  parent_class->finalize (object);
}

static void
class_init (gpointer klass, gpointer data)
{
  GObjectClass *const object = G_OBJECT_CLASS (klass);
  GstCclDeliverySinkClass *const sink = klass;

  parent_class = g_type_class_peek_parent (klass);
  object->finalize = finalize;
  sink->needs_source = TRUE;
  sink->transport = &server_transport;
  sink->open = open_sink;
  sink->close = close_sink;
  sink->get_topic = get_topic;
  sink->get_address = get_address;
  sink->get_hint = get_hint;
}

static void
instance_init (GTypeInstance * instance, gpointer klass)
{
  GstCclServerSink *const self = (GstCclServerSink *) instance;
  const GstCclServerDefaults *const defaults = ((GstCclServerSinkClass *) klass)->defaults;

  self->settings.servers = g_strdup (defaults->servers);
  self->settings.verify = TRUE;
  self->settings.max_pause = DEFAULT_MAX_PAUSE;
  self->topic = g_strdup (defaults->topic);
}

/* Like its parent, each plugin has this class inside, with a name of its own. */
GType
gst_ccl_server_sink_get_type (void)
{
  static gsize type = 0;

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_type_register_static_simple (GST_TYPE_CCL_DELIVERY_SINK,
            "GstCcl" GST_CCL_DELIVERY_NAME "ServerSink", sizeof (GstCclServerSinkClass), class_init,
            sizeof (GstCclServerSink), instance_init, G_TYPE_FLAG_ABSTRACT));
  return type;
}
