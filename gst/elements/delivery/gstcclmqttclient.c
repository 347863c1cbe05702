/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The client of libmosquitto, and its session with the broker. */

#include "gstcclmqttconnection.h"

#include <mosquitto.h>
#include <mqtt_protocol.h>

GST_DEBUG_CATEGORY_EXTERN (gst_ccl_mqtt_sink_debug);
#define GST_CAT_DEFAULT gst_ccl_mqtt_sink_debug

/* A line that breaks each connection must not come again without a limit. After more connections of a session than this without
 * an answer, the core decides what is sent. */
#define MAX_SILENT 2

/* A broker that always claims to have a session gets none. */
#define MAX_BEGUN_AGAIN 2

static gboolean
has_session (const GstCclMqttConnection * self)
{
  return self->session_id && self->version == MQTT_PROTOCOL_V5 && self->n_begun_again < MAX_BEGUN_AGAIN;
}

/* A user changes it at any time. */
static gint
get_qos_level (GstCclMqttConnection * self)
{
  gint qos_level;

  g_mutex_lock (&self->lock);
  qos_level = self->qos_level;
  g_mutex_unlock (&self->lock);
  return qos_level;
}

static mosquitto_property *
new_session_expiry (guint seconds)
{
  mosquitto_property *properties = NULL;

  mosquitto_property_add_int32 (&properties, MQTT_PROP_SESSION_EXPIRY_INTERVAL, seconds);
  return properties;
}

void
gst_ccl_mqtt_client_set_up_session (GstCclMqttConnection * self)
{
  const GstCclMqttSettings *const settings = self->settings;
  const gboolean is_wanted = settings->session_expiry && get_qos_level (self) == 2 && self->version == MQTT_PROTOCOL_V5;
  const gboolean has_id = settings->client_id && *settings->client_id;

  g_clear_pointer (&self->session_id, g_free);
  if (is_wanted)
    self->session_id = has_id ? g_strdup (settings->client_id)
        : g_strdup_printf ("ccl%08x%08x", g_random_int (), g_random_int ());
  self->resumes = self->begins_again = FALSE;
  self->n_begun_again = self->n_silent = 0;
  self->has_warned = FALSE;
}

void
gst_ccl_mqtt_client_warn_of_version (GstCclMqttConnection * self)
{
  const GstCclMqttSettings *const settings = self->settings;
  const gchar *names[4] = { NULL };
  g_autofree gchar *list = NULL;
  guint n = 0;

  if (self->version == MQTT_PROTOCOL_V5 || self->has_warned)
    return;
  if (settings->message_expiry)
    names[n++] = "message-expiry";
  if (settings->session_expiry && settings->has_session_expiry)
    names[n++] = "session-expiry";
  if (settings->user_properties)
    names[n++] = "user-properties";
  list = g_strjoinv (", ", (gchar **) names);
  if (n)
    GST_ELEMENT_WARNING (self->owner, RESOURCE, SETTINGS, ("No effect with MQTT 3.1.1: %s.", list),
        ("The connection to %s:%d needs MQTT 5 for it.", self->address.host, self->address.port));
  self->has_warned = TRUE;
}

void
gst_ccl_mqtt_client_disconnect (GstCclMqttConnection * self)
{
  mosquitto_property *properties = has_session (self) ? new_session_expiry (0) : NULL;

  mosquitto_disconnect_v5 (self->client, 0, properties);
  mosquitto_property_free_all (&properties);
}

/* ---------------------------------------------------------------- calls of libmosquitto */

/* libmosquitto sends again what it has right after this call. If the broker has no state to it, or the state of another client,
 * both are given up: nothing follows a DISCONNECT. */
static void
on_connect (struct mosquitto *client, void *user_data, int code, int flags, const mosquitto_property * properties)
{
  GstCclMqttConnection *const self = user_data;
  const gboolean is_present = flags & 1;

  self->is_accepted = code == 0;
  self->refusal = code;
  if (!self->is_accepted || !has_session (self))
    return;
  if (is_present == self->resumes) {
    self->resumes = TRUE;
    self->n_begun_again = 0;
    return;
  }
  GST_INFO_OBJECT (self->owner, "the broker has %s session", is_present ? "another" : "lost the");
  gst_ccl_mqtt_client_disconnect (self);
  self->is_accepted = self->resumes = FALSE;
  self->begins_again = TRUE;
  self->n_begun_again++;
}

static void
on_publish (struct mosquitto *client, void *user_data, int number, int code, const mosquitto_property * properties)
{
  gst_ccl_mqtt_connection_take_answer (user_data, number, code);
}

/* ---------------------------------------------------------------- clients */

/* libmosquitto takes properties of a connection in a call that waits for the network. This call fails before, because there is
 * no host, and the properties stay for the next connection. If a version of the library does not keep them, the broker keeps
 * no session, as on_connect() finds out. */
static void
set_session_expiry (GstCclMqttConnection * self, struct mosquitto *client)
{
  mosquitto_property *properties = new_session_expiry (self->settings->session_expiry);

  mosquitto_connect_bind_v5 (client, NULL, 0, (int) self->settings->keep_alive, NULL, properties);
  mosquitto_property_free_all (&properties);
}

/* A client that knows of no earlier message, so that the core alone decides about the order. With a session it does not ask for
 * a clean start: it could not stop to ask on later connections. */
struct mosquitto *
gst_ccl_mqtt_client_create (GstCclMqttConnection * self, GError ** error, const gchar ** hint)
{
  const GstCclMqttSettings *const settings = self->settings;
  const gboolean session = has_session (self);
  const gchar *const own_id = settings->client_id && *settings->client_id ? settings->client_id : NULL;
  const gchar *const id = session ? self->session_id : own_id;
  struct mosquitto *client = mosquitto_new (id, !session, self);

  if (!client) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "No MQTT client with the id \"%s\".", id);
    return NULL;
  }
  mosquitto_threaded_set (client, TRUE);
  mosquitto_int_option (client, MOSQ_OPT_PROTOCOL_VERSION, self->version);
  mosquitto_connect_v5_callback_set (client, on_connect);
  mosquitto_publish_v5_callback_set (client, on_publish);
  mosquitto_max_inflight_messages_set (client, GST_CCL_MQTT_MAX_IN_FLIGHT);
  if (!gst_ccl_mqtt_configure (client, settings, self->address.tls, get_qos_level (self), error, hint))
    g_clear_pointer (&client, mosquitto_destroy);
  if (client && session)
    set_session_expiry (self, client);
  return client;
}

gboolean
gst_ccl_mqtt_client_renew (GstCclMqttConnection * self)
{
  const gboolean stays = self->client && self->resumes && has_session (self);
  const gchar *hint = NULL;
  GError *error = NULL;

  if (!stays)
    g_clear_pointer (&self->client, mosquitto_destroy);
  g_mutex_lock (&self->lock);
  if (!stays) {
    g_array_set_size (self->pending, 0);
    g_array_set_size (self->early, 0);
  }
  self->resume_at = self->full_pause = 0;
  self->has_answered = FALSE;
  g_mutex_unlock (&self->lock);
  self->is_accepted = self->is_reached = FALSE;
  self->refusal = 0;
  self->resumes = stays;
  if (stays)
    return TRUE;
  self->client = gst_ccl_mqtt_client_create (self, &error, &hint);
  if (self->client)
    return TRUE;
  gst_ccl_delivery_not_connected (self->delivery, error->message);
  g_error_free (error);
  return FALSE;
}

/* ---------------------------------------------------------------- the end of a connection */

gboolean
gst_ccl_mqtt_client_begins_again (GstCclMqttConnection * self)
{
  const gboolean begins_again = self->begins_again;

  self->begins_again = FALSE;
  return begins_again;
}

/* A broker whose port is closed was restarted. It may have restored an older state of the session, and would then confirm
 * messages that it does not have. No other failure to connect says this about the broker. */
void
gst_ccl_mqtt_client_give_up_session (GstCclMqttConnection * self)
{
  self->resumes = FALSE;
  self->n_silent = 0;
}

void
gst_ccl_mqtt_client_check_session (GstCclMqttConnection * self, gboolean was_connected)
{
  gboolean has_answered;

  g_mutex_lock (&self->lock);
  has_answered = self->has_answered;
  g_mutex_unlock (&self->lock);
  if (was_connected)
    self->n_silent = has_answered ? 0 : self->n_silent + 1;
  if (self->n_silent > MAX_SILENT)
    gst_ccl_mqtt_client_give_up_session (self);
}
