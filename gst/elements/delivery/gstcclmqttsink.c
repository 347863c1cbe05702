/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-cclmqttsink
 * @title: cclmqttsink
 * @short_description: publishes lines of JSON (or any text) over MQTT
 *
 * Each buffer becomes one message. The broker may be late, go away and come back: messages wait in a bounded queue,
 * the connection is tried again with growing pauses, and the pipeline goes on all the while. What a full queue does
 * is #cclmqttsink:overflow; how it all went is #cclmqttsink:stats.
 *
 * With overflow=block and no broker the end of the stream waits behind the messages, for ever if need be:
 * `gst-launch-1.0 -e` then takes a second Ctrl-C, and a program sets another #cclmqttsink:overflow, or the pipeline to
 * NULL.
 *
 * ## Blobs to a broker on this machine
 * |[
 * gst-launch-1.0 videotestsrc pattern=ball is-live=true ! video/x-raw,format=GRAY8 ! ccllabel threshold=100 !
 *     cclmeta2json source-id=cam1 ! cclmqttsink uri=mqtt://localhost topic=cams/{source-id}/blobs
 * ]|
 * ## With TLS and a password, which is taken from the environment
 * |[
 * MQTT_PASSWORD=... gst-launch-1.0 ... ! cclmqttsink uri=mqtts://broker.example.org topic=blobs username=cam1
 *     password-env=MQTT_PASSWORD
 * ]|
 */

#include "gstcclmqttsink.h"

#include <string.h>

#include <mosquitto.h>

#include "base/gstcclminavgmax.h"
#include "base/gstcclpropertyrow.h"
#include "delivery/gstcclmqttconnection.h"
#include "delivery/gstccltopic.h"

GST_DEBUG_CATEGORY (gst_ccl_mqtt_sink_debug);
#define GST_CAT_DEFAULT gst_ccl_mqtt_sink_debug

#define DEFAULT_TOPIC "ccl/blobs"
#define FOREVER (-1)

struct _GstCclMqttSink
{
  GstBaseSink parent;

  /* Properties; object lock. */
  GstCclMqttSettings settings;
  gchar *topic;
  gint qos_level, overflow;
  gboolean retain, fail_on_disconnect;
  guint queue_size;
  guint64 drain_timeout;        /* ns */

  GstCclMqttConnection connection;

  /* The connection's lock. */
  guint64 frames;               /* buffers that came, one message each */
  GstCclMinAvgMax host;         /* time in render() */
};

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
  PROP_QUEUE_SIZE,
  PROP_OVERFLOW,
  PROP_KEEP_ALIVE,
  PROP_MAX_RECONNECT_DELAY,
  PROP_DRAIN_TIMEOUT,
  PROP_FAIL_ON_DISCONNECT,
  PROP_STATS,
  N_PROPERTIES,
};

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
    GST_STATIC_CAPS ("application/x-json; text/x-raw"));

#define gst_ccl_mqtt_sink_parent_class parent_class
G_DEFINE_FINAL_TYPE_WITH_CODE (GstCclMqttSink, gst_ccl_mqtt_sink, GST_TYPE_BASE_SINK,
    GST_DEBUG_CATEGORY_INIT (gst_ccl_mqtt_sink_debug, "cclmqttsink", 0, "MQTT publisher"));
GST_ELEMENT_REGISTER_DEFINE (cclmqttsink, "cclmqttsink", GST_RANK_NONE, GST_TYPE_CCL_MQTT_SINK);

/* ---------------------------------------------------------------- connection */

static void
post_state (GstCclMqttSink * self, const gchar * state, const gchar * reason)
{
  GstStructure *structure = gst_structure_new ("ccl-mqtt", "state", G_TYPE_STRING, state,
      "host", G_TYPE_STRING, self->connection.address.host, "port", G_TYPE_INT, self->connection.address.port, NULL);

  if (reason)
    gst_structure_set (structure, "reason", G_TYPE_STRING, reason, NULL);
  gst_element_post_message (GST_ELEMENT (self), gst_message_new_element (GST_OBJECT (self), structure));
}

static void
on_connected (GstObject * owner)
{
  post_state (GST_CCL_MQTT_SINK (owner), "connected", NULL);
}

static void
on_disconnected (GstObject * owner, const gchar * reason)
{
  GstCclMqttSink *const self = GST_CCL_MQTT_SINK (owner);
  const GstCclMqttAddress *const address = &self->connection.address;
  /* libmosquitto's reasons end with a full stop, those of the system do not. */
  const gint length = (gint) strlen (reason) - g_str_has_suffix (reason, ".");
  gboolean fail;

  GST_OBJECT_LOCK (self);
  fail = self->fail_on_disconnect;
  GST_OBJECT_UNLOCK (self);
  post_state (self, "disconnected", reason);
  if (fail) {
    GST_ELEMENT_ERROR (self, RESOURCE, OPEN_WRITE, ("No connection to the MQTT broker %s:%d: %.*s.", address->host,
            address->port, length, reason), ("fail-on-disconnect is set."));
    /* After the error, because users see the first one. */
    gst_ccl_mqtt_connection_fail (&self->connection);
  } else {
    GST_ELEMENT_WARNING (self, RESOURCE, OPEN_WRITE, ("No connection to the MQTT broker %s:%d: %.*s. Messages wait; "
            "trying again.", address->host, address->port, length, reason), ("%s", address->tls ?
            "With mqtts:// the broker has to speak TLS at this port, with a certificate for this host name from an "
            "authority in ca-file, or from one the system trusts." :
            "uri says where the broker is; fail-on-disconnect=true ends the pipeline instead."));
  }
}

/* ---------------------------------------------------------------- start and stop */

/* Certificates without TLS: the user expects an encrypted connection. */
static void
warn_of_settings (GstCclMqttSink * self)
{
  const gchar *const unused = self->connection.address.tls ? NULL : self->settings.ca_file ? "ca-file" : self->settings.cert_file ? "cert-file"
      : self->settings.key_file ? "key-file" : NULL;

  if (unused)
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS, ("%s has no effect: the connection to %s is not encrypted.", unused,
            self->settings.uri), ("mqtts://HOST[:PORT] is, at port 8883 when none is given."));
  if (self->settings.will_message && !self->settings.will_topic)
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS, ("will-message is never published: there is no will-topic."),
        (NULL));
}

static gboolean
topic_is_valid (GstCclMqttSink * self)
{
  gchar *const example = gst_ccl_topic_expand (self->topic, "", 0);
  const gboolean valid = *example && mosquitto_pub_topic_check (example) == MOSQ_ERR_SUCCESS;

  g_free (example);
  if (!valid)
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS, ("\"%s\" is no topic to publish to.", self->topic),
        ("A topic is not empty and has no + or #; " GST_CCL_TOPIC_SOURCE " stands for the source of each line."));
  return valid;
}

static gboolean
start (GstCclMqttSink * self)
{
  const gchar *hint = NULL;
  GError *error = NULL;

  self->frames = 0;
  memset (&self->host, 0, sizeof self->host);
  if (!topic_is_valid (self))
    return FALSE;
  gst_ccl_mqtt_connection_set_delivery (&self->connection, self->qos_level, self->retain);
  if (!gst_ccl_mqtt_connection_open (&self->connection, &self->settings, &error, &hint)) {
    gst_element_message_full (GST_ELEMENT (self), GST_MESSAGE_ERROR, error->domain, error->code,
        g_strdup (error->message), g_strdup (hint), __FILE__, GST_FUNCTION, __LINE__);
    g_error_free (error);
    return FALSE;
  }
  warn_of_settings (self);      /* before the warnings of the thread */
  gst_ccl_mqtt_connection_start (&self->connection);
  return TRUE;
}

/* Waits until something under `lock` has changed, or a pause or a flush begins. Under the base class's preroll lock and
 * `lock`, and gives up both meanwhile: no change of state goes on without the former. FALSE: it is past `end`. */
static gboolean
wait_for_change (GstCclMqttSink * self, gint64 end)
{
  gboolean in_time = TRUE;

  GST_BASE_SINK_PREROLL_UNLOCK (self);
  if (end == FOREVER)
    g_cond_wait (&self->connection.cond, &self->connection.lock);
  else
    in_time = g_cond_wait_until (&self->connection.cond, &self->connection.lock, end);
  g_mutex_unlock (&self->connection.lock);
  GST_BASE_SINK_PREROLL_LOCK (self);
  g_mutex_lock (&self->connection.lock);
  return in_time;
}

/* Until all is delivered, the time is up, or the element is flushed. Returns what is left. Under the preroll lock. */
static guint
drain (GstCclMqttSink * self)
{
  const gint64 end = g_get_monotonic_time () + (gint64) (self->drain_timeout / 1000);
  guint left;

  g_mutex_lock (&self->connection.lock);
  while (gst_ccl_mqtt_connection_n_waiting (&self->connection) && !GST_BASE_SINK (self)->flushing && wait_for_change (self, end));
  left = gst_ccl_mqtt_connection_n_waiting (&self->connection);
  g_mutex_unlock (&self->connection.lock);
  return left;
}

static void
stop (GstCclMqttSink * self)
{
  const guint left = gst_ccl_mqtt_connection_close (&self->connection);
  GstCclMqttAddress *const address = &self->connection.address;

  if (left)
    GST_ELEMENT_WARNING (self, RESOURCE, WRITE, ("%u messages were not delivered.", left),
        ("The broker %s:%d was not reached in time.", address->host, address->port));
  g_clear_pointer (&address->host, g_free);
}

/* start() and stop() of GstBaseSink would add an error of their own to ours. */
static GstStateChangeReturn
gst_ccl_mqtt_sink_change_state (GstElement * element, GstStateChange change)
{
  GstCclMqttSink *const self = GST_CCL_MQTT_SINK (element);
  GstStateChangeReturn result;

  if (change == GST_STATE_CHANGE_NULL_TO_READY && !start (self))
    return GST_STATE_CHANGE_FAILURE;
  if (change == GST_STATE_CHANGE_READY_TO_PAUSED) {     /* a new stream reports a missing broker again */
    g_mutex_lock (&self->connection.lock);
    if (self->connection.failed)
      self->connection.failed = self->connection.outage_reported = FALSE;
    g_mutex_unlock (&self->connection.lock);
  }
  result = GST_ELEMENT_CLASS (parent_class)->change_state (element, change);
  if (change == GST_STATE_CHANGE_READY_TO_NULL
      || (change == GST_STATE_CHANGE_NULL_TO_READY && result == GST_STATE_CHANGE_FAILURE))
    stop (self);
  return result;
}

/* ---------------------------------------------------------------- data */

/* A copy of a buffer as a message, without the line's end. */
static GstCclMessage *
message_of_buffer (GstCclMqttSink * self, GstBuffer * buffer)
{
  GstCclMessage *message;
  GstMapInfo map;
  gchar *topic;
  gsize size;

  if (!gst_buffer_map (buffer, &map, GST_MAP_READ))
    return NULL;
  size = map.size;
  while (size && (map.data[size - 1] == '\n' || map.data[size - 1] == '\r'))
    size--;
  GST_OBJECT_LOCK (self);
  topic = gst_ccl_topic_expand (self->topic, (const gchar *) map.data, size);
  GST_OBJECT_UNLOCK (self);
  message = gst_ccl_message_new (topic, map.data, size);
  gst_buffer_unmap (buffer, &map);
  return message;
}

static gint
get_limit (GstCclMqttSink * self, guint * size)
{
  gint overflow;

  GST_OBJECT_LOCK (self);
  overflow = self->overflow;
  *size = self->queue_size;
  GST_OBJECT_UNLOCK (self);
  return overflow;
}

/* Waits until there is room, also while the element is paused, or the connection has failed for good; not where
 * `overflow` asks for something else, or no longer for that. Under the preroll lock and `lock`; gives up both meanwhile. */
static GstFlowReturn
wait_for_room (GstCclMqttSink * self, GstBuffer * buffer, gint * overflow, guint * size)
{
  GstBaseSink *const sink = GST_BASE_SINK (self);
  GstFlowReturn result = GST_FLOW_OK;

  while (result == GST_FLOW_OK && (*overflow = get_limit (self, size)) == GST_CCL_OVERFLOW_BLOCK && !self->connection.failed
      && g_queue_get_length (&self->connection.queue) >= *size) {
    wait_for_change (self, FOREVER);
    g_mutex_unlock (&self->connection.lock);
    /* Returns at once, or at the end of a pause; does not ask for a flush that was there before it. */
    result = sink->flushing ? GST_FLOW_FLUSHING : gst_base_sink_do_preroll (sink, GST_MINI_OBJECT (buffer));
    g_mutex_lock (&self->connection.lock);
  }
  return result;
}

static GstFlowReturn
gst_ccl_mqtt_sink_render (GstBaseSink * sink, GstBuffer * buffer)
{
  GstCclMqttSink *const self = GST_CCL_MQTT_SINK (sink);
  GstCclMqttConnection *const connection = &self->connection;
  const GstClockTime start = gst_util_get_timestamp ();
  GstCclMessage *const message = message_of_buffer (self, buffer);
  GstFlowReturn result;
  gint overflow;
  guint size;

  if (!message) {
    GST_ELEMENT_ERROR (self, RESOURCE, READ, ("A buffer cannot be read."), (NULL));
    return GST_FLOW_ERROR;
  }

  g_mutex_lock (&connection->lock);
  result = wait_for_room (self, buffer, &overflow, &size);
  if (connection->failed)
    result = GST_FLOW_ERROR;
  if (result == GST_FLOW_OK)
    gst_ccl_mqtt_connection_push (connection, message, overflow, size);
  else
    gst_ccl_message_free (message);
  g_mutex_unlock (&connection->lock);
  if (result != GST_FLOW_OK)
    return result;
  gst_ccl_mqtt_connection_pump (connection);

  g_mutex_lock (&connection->lock);
  self->frames++;
  gst_ccl_min_avg_max_add (&self->host, (gst_util_get_timestamp () - start) / (gdouble) GST_USECOND);
  g_mutex_unlock (&connection->lock);
  return GST_FLOW_OK;
}

static gboolean
gst_ccl_mqtt_sink_event (GstBaseSink * sink, GstEvent * event)
{
  GstCclMqttSink *const self = GST_CCL_MQTT_SINK (sink);

  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS) {
    const guint left = drain (self);

    /* The base class does not look: it would wait for a preroll, and who flushes, or stops the element, for the stream. */
    if (sink->flushing) {
      gst_event_unref (event);
      return FALSE;
    }
    if (left && self->drain_timeout)
      GST_ELEMENT_WARNING (self, RESOURCE, WRITE, ("%u messages are still waiting at the end of the stream.", left),
          ("The broker %s:%d did not take them within drain-timeout; they are lost if the element stops now.",
              self->connection.address.host, self->connection.address.port));
  }
  return GST_BASE_SINK_CLASS (parent_class)->event (sink, event);
}

/* A pause or a flush begins, or ends. A waiting thread gets the preroll lock when it has begun. */
static gboolean
gst_ccl_mqtt_sink_unlock (GstBaseSink * sink)
{
  gst_ccl_mqtt_connection_wake (&GST_CCL_MQTT_SINK (sink)->connection);
  return TRUE;
}

/* ---------------------------------------------------------------- properties */

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
  [PROP_QUEUE_SIZE] = GST_CCL_PROPERTY_ROW (GstCclMqttSink, queue_size),
  [PROP_OVERFLOW] = GST_CCL_PROPERTY_ROW (GstCclMqttSink, overflow),
  [PROP_KEEP_ALIVE] = GST_CCL_PROPERTY_ROW (GstCclMqttSink, settings.keep_alive),
  [PROP_MAX_RECONNECT_DELAY] = GST_CCL_PROPERTY_ROW (GstCclMqttSink, settings.max_pause),
  [PROP_DRAIN_TIMEOUT] = GST_CCL_PROPERTY_ROW (GstCclMqttSink, drain_timeout),
  [PROP_FAIL_ON_DISCONNECT] = GST_CCL_PROPERTY_ROW (GstCclMqttSink, fail_on_disconnect),
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
  if (!self->topic)
    self->topic = g_strdup (DEFAULT_TOPIC);
  qos_level = self->qos_level;
  retain = self->retain;
  GST_OBJECT_UNLOCK (self);
  gst_ccl_mqtt_connection_set_delivery (&self->connection, qos_level, retain);
  gst_ccl_mqtt_connection_wake (&self->connection);
}

static GstStructure *
create_stats (GstCclMqttSink * self)
{
  GstStructure *structure;
  GstCclMqttConnection *const connection = &self->connection;

  g_mutex_lock (&connection->lock);
  structure = gst_structure_new ("cclmqttsink-stats",
      "connected", G_TYPE_BOOLEAN, connection->is_connected,
      "frames", G_TYPE_UINT64, self->frames,
      "published", G_TYPE_UINT64, connection->stats.published,
      "dropped", G_TYPE_UINT64, connection->stats.dropped,
      "queued", G_TYPE_UINT, g_queue_get_length (&connection->queue),
      "in-flight", G_TYPE_UINT, connection->n_in_flight,
      "bytes", G_TYPE_UINT64, connection->stats.bytes,
      "connects", G_TYPE_UINT64, connection->stats.connects,
      "failures", G_TYPE_UINT64, connection->stats.failures,
      "last-error", G_TYPE_STRING, connection->last_error ? connection->last_error : "", NULL);
  gst_ccl_min_avg_max_to_structure (&self->host, "host", structure);
  gst_ccl_min_avg_max_to_structure (&connection->stats.latency, "latency", structure);
  g_mutex_unlock (&connection->lock);
  return structure;
}

static void
gst_ccl_mqtt_sink_get_property (GObject * object, guint id, GValue * value, GParamSpec * pspec)
{
  GstCclMqttSink *const self = GST_CCL_MQTT_SINK (object);

  if (id == PROP_STATS) {
    g_value_take_boxed (value, create_stats (self));
    return;
  }
  GST_OBJECT_LOCK (self);
  if (!gst_ccl_property_row_get (self, &rows[id], value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_ccl_mqtt_sink_finalize (GObject * object)
{
  GstCclMqttSink *const self = GST_CCL_MQTT_SINK (object);
  const GstCclMqttSettings *const settings = &self->settings;
  gchar *const strings[] = { self->topic, settings->uri, settings->client_id, settings->username,
    settings->password_env, settings->ca_file, settings->cert_file, settings->key_file, settings->will_topic,
    settings->will_message
  };

  for (guint i = 0; i < G_N_ELEMENTS (strings); i++)
    g_free (strings[i]);
  gst_ccl_mqtt_connection_clear (&self->connection);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
install_properties (GObjectClass * object)
{
  const GParamFlags ready = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY;
  const GParamFlags playing = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING;

  g_object_class_install_property (object, PROP_URI, g_param_spec_string ("uri", "URI",
          "The broker: mqtt://HOST[:PORT] (port 1883 when not given), or mqtts:// for TLS (8883)",
          "mqtt://localhost", ready));
  g_object_class_install_property (object, PROP_TOPIC, g_param_spec_string ("topic", "Topic",
          "Topic to publish to; " GST_CCL_TOPIC_SOURCE " in it stands for the source each line of JSON names",
          DEFAULT_TOPIC, ready));
  g_object_class_install_property (object, PROP_QOS_LEVEL, g_param_spec_int ("qos-level", "QoS level",
          "Delivery: 0 at most once (what is under way when the connection breaks is lost), 1 at least once, "
          "2 exactly once", 0, 2, 1, ready));
  g_object_class_install_property (object, PROP_RETAIN, g_param_spec_boolean ("retain", "Retain",
          "The broker keeps the last message of each topic for those who come later", FALSE, ready));
  g_object_class_install_property (object, PROP_CLIENT_ID, g_param_spec_string ("client-id", "Client ID",
          "Name of this client, unique at the broker; unset: a random one", NULL, ready));
  g_object_class_install_property (object, PROP_USERNAME, g_param_spec_string ("username", "User name",
          "Name to log in with; unset: no login", NULL, ready));
  g_object_class_install_property (object, PROP_PASSWORD_ENV, g_param_spec_string ("password-env", "Password variable",
          "Name of the environment variable that holds the password of username (a password itself would be seen in "
          "the list of processes); unset: no password", NULL, ready));
  g_object_class_install_property (object, PROP_CA_FILE, g_param_spec_string ("ca-file", "CA file",
          "PEM file of the authorities whose certificates count (mqtts://); unset: those of the system", NULL, ready));
  g_object_class_install_property (object, PROP_CERT_FILE, g_param_spec_string ("cert-file", "Certificate file",
          "PEM file of this client's certificate, for brokers that ask for one (mqtts://, with key-file); unset: none",
          NULL, ready));
  g_object_class_install_property (object, PROP_KEY_FILE, g_param_spec_string ("key-file", "Key file",
          "PEM file of the certificate's key, not encrypted (with cert-file); unset: none", NULL, ready));
  g_object_class_install_property (object, PROP_VERIFY, g_param_spec_boolean ("verify", "Verify",
          "Check the broker's certificate and host name (mqtts://). FALSE lets anyone pose as the broker",
          TRUE, ready));
  g_object_class_install_property (object, PROP_WILL_TOPIC, g_param_spec_string ("will-topic", "Will topic",
          "Topic the broker publishes will-message to (retained) when this client vanishes; unset: none", NULL, ready));
  g_object_class_install_property (object, PROP_WILL_MESSAGE, g_param_spec_string ("will-message", "Will message",
          "What the broker publishes to will-topic when this client vanishes; unset: an empty message", NULL, ready));
  g_object_class_install_property (object, PROP_QUEUE_SIZE, g_param_spec_uint ("queue-size", "Queue size",
          "Most messages that wait for the broker (see overflow)", 1, G_MAXINT, 1000, playing));
  g_object_class_install_property (object, PROP_OVERFLOW, g_param_spec_enum ("overflow", "Overflow",
          "What happens to a message that comes when queue-size of them wait",
          GST_TYPE_CCL_MQTT_OVERFLOW, GST_CCL_OVERFLOW_DROP_OLDEST, playing));
  g_object_class_install_property (object, PROP_KEEP_ALIVE, g_param_spec_uint ("keep-alive", "Keep alive",
          "Time without a message after which the connection is probed, seconds", 5, 65535, 30, ready));
  g_object_class_install_property (object, PROP_MAX_RECONNECT_DELAY, g_param_spec_uint64 ("max-reconnect-delay",
          "Maximum reconnect delay",
          "Longest pause between attempts to connect, nanoseconds; the first is half a second, each twice the one "
          "before",
          GST_SECOND / 2, 24 * 3600 * GST_SECOND, 30 * GST_SECOND, ready));
  g_object_class_install_property (object, PROP_DRAIN_TIMEOUT, g_param_spec_uint64 ("drain-timeout", "Drain timeout",
          "Longest time that the end of the stream waits for messages to be delivered, nanoseconds; 0: not at all",
          0, G_MAXINT64, 5 * GST_SECOND, ready));
  g_object_class_install_property (object, PROP_FAIL_ON_DISCONNECT, g_param_spec_boolean ("fail-on-disconnect",
          "Fail on disconnect", "End the pipeline with an error when the broker is not there, instead of waiting",
          FALSE, playing));
  g_object_class_install_property (object, PROP_STATS, g_param_spec_boxed ("stats", "Statistics",
          "Since the start: connected, frames (that came), published, dropped, queued, in-flight, bytes, connects, "
          "failures, last-error; host-us (time the pipeline spent on a message) and latency-us (until the broker had "
          "it), each -min, -avg and -max in microseconds (-1: not measured)",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

static void
gst_ccl_mqtt_sink_class_init (GstCclMqttSinkClass * klass)
{
  GObjectClass *const object = G_OBJECT_CLASS (klass);
  GstElementClass *const element = GST_ELEMENT_CLASS (klass);
  GstBaseSinkClass *const sink = GST_BASE_SINK_CLASS (klass);

  mosquitto_lib_init ();

  object->set_property = gst_ccl_mqtt_sink_set_property;
  object->get_property = gst_ccl_mqtt_sink_get_property;
  object->finalize = gst_ccl_mqtt_sink_finalize;
  install_properties (object);

  gst_element_class_add_static_pad_template (element, &sink_template);
  gst_element_class_set_static_metadata (element, "MQTT publisher", "Sink/Network",
      "Publishes lines of JSON over MQTT; an absent broker does not stop the pipeline", "gst-ccl contributors");

  element->change_state = gst_ccl_mqtt_sink_change_state;
  sink->render = gst_ccl_mqtt_sink_render;
  sink->event = gst_ccl_mqtt_sink_event;
  sink->unlock = gst_ccl_mqtt_sink_unlock;
  sink->unlock_stop = gst_ccl_mqtt_sink_unlock;

  gst_type_mark_as_plugin_api (GST_TYPE_CCL_MQTT_OVERFLOW, 0);
}

static void
gst_ccl_mqtt_sink_init (GstCclMqttSink * self)
{
  gst_ccl_mqtt_connection_init (&self->connection, GST_OBJECT (self));
  self->connection.connected = on_connected;
  self->connection.disconnected = on_disconnected;
  self->settings = (GstCclMqttSettings) {
    .uri = g_strdup ("mqtt://localhost"),
    .verify = TRUE,
    .keep_alive = 30,
    .max_pause = 30 * GST_SECOND,
  };
  self->topic = g_strdup (DEFAULT_TOPIC);
  self->qos_level = 1;
  self->queue_size = 1000;
  self->drain_timeout = 5 * GST_SECOND;
  /* Lines go out as they come, and a stream without any does not hold up the pipeline. */
  gst_base_sink_set_sync (GST_BASE_SINK (self), FALSE);
  gst_base_sink_set_async_enabled (GST_BASE_SINK (self), FALSE);
}
