/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-cclmqttsink
 * @title: cclmqttsink
 * @short_description: publishes lines of JSON (or any text) over MQTT
 *
 * Each buffer becomes one message. While the broker is slow or not reachable, messages wait in a bounded queue and the
 * pipeline continues. The element tries to connect again after increasing pauses. The property #cclmqttsink:overflow
 * selects the action when the queue is full. The property #cclmqttsink:stats has the counts.
 *
 * With overflow=block and no broker, a full queue delays the end of the stream without a limit. Then `gst-launch-1.0
 * -e` needs a second Ctrl-C. A program sets another #cclmqttsink:overflow, or the pipeline to NULL.
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

#include "delivery/gstcclmqttsinkprivate.h"
#include "delivery/gstccltopic.h"
#include "base/gstccldocument.h"

GST_DEBUG_CATEGORY (gst_ccl_mqtt_sink_debug);
#define GST_CAT_DEFAULT gst_ccl_mqtt_sink_debug

#define FOREVER (-1)

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
    /* After the error, because users see the first error only. */
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
  const gchar *const unused =
      self->connection.address.tls ? NULL : self->settings.ca_file ? "ca-file" : self->
      settings.cert_file ? "cert-file" : self->settings.key_file ? "key-file" : NULL;

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

/* Waits until a member under `lock` has changed, or a pause or a flush begins. Called with the preroll lock of the base class
 * and `lock`, and releases both meanwhile, because changes of state need the preroll lock. FALSE: it is past `end`. */
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

/* Waits until all messages are delivered, the time is up, or the element is flushed. Returns the number of remaining messages.
 * Called with the preroll lock. */
static guint
drain (GstCclMqttSink * self)
{
  const gint64 end = g_get_monotonic_time () + (gint64) (self->drain_timeout / 1000);
  guint left;

  g_mutex_lock (&self->connection.lock);
  while (gst_ccl_message_queue_n_undelivered (&self->connection.queue) && !GST_BASE_SINK (self)->flushing
      && wait_for_change (self, end));
  left = gst_ccl_message_queue_n_undelivered (&self->connection.queue);
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

/* Copies a buffer without the line's end. FALSE: it cannot be read. The message is NULL if it cannot be sent. */
static gboolean
copy_message (GstCclMqttSink * self, GstBuffer * buffer, GstCclMessage ** message)
{
  gchar *topic = NULL;
  GstMapInfo map;
  gsize size;

  if (!gst_buffer_map (buffer, &map, GST_MAP_READ))
    return FALSE;
  size = map.size;
  while (size && (map.data[size - 1] == '\n' || map.data[size - 1] == '\r'))
    size--;
  if (size <= GST_CCL_MQTT_MAX_PAYLOAD) {
    GST_OBJECT_LOCK (self);
    topic = gst_ccl_topic_expand (self->topic, (const gchar *) map.data, size);
    GST_OBJECT_UNLOCK (self);
  }
  *message = gst_ccl_message_new (topic, map.data, size);
  if (!*message)
    GST_WARNING_OBJECT (self, "message of %" G_GSIZE_FORMAT " bytes dropped: too large, or no memory", size);
  gst_buffer_unmap (buffer, &map);
  return TRUE;
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

/* With overflow=block: waits until the queue has space, the owner has given up on the connection, or `overflow` changes. Also
 * waits while the element is paused. Called with the preroll lock and `lock`, and releases both meanwhile. */
static GstFlowReturn
wait_for_space (GstCclMqttSink * self, GstBuffer * buffer, gint * overflow, guint * size)
{
  GstBaseSink *const sink = GST_BASE_SINK (self);
  GstFlowReturn result = GST_FLOW_OK;

  while (result == GST_FLOW_OK && (*overflow = get_limit (self, size)) == GST_CCL_OVERFLOW_BLOCK
      && !self->connection.failed && gst_ccl_message_queue_n_waiting (&self->connection.queue) >= *size) {
    wait_for_change (self, FOREVER);
    g_mutex_unlock (&self->connection.lock);
    /* Returns at once, or at the end of a pause. It does not check for an earlier flush. */
    result = sink->flushing ? GST_FLOW_FLUSHING : gst_base_sink_do_preroll (sink, GST_MINI_OBJECT (buffer));
    g_mutex_lock (&self->connection.lock);
  }
  return result;
}

/* Queues a message, or counts one that cannot be sent. Takes it. */
static GstFlowReturn
queue_message (GstCclMqttSink * self, GstBuffer * buffer, GstCclMessage * message)
{
  GstCclMqttConnection *const connection = &self->connection;
  GstFlowReturn result;
  gint overflow;
  guint size;

  g_mutex_lock (&connection->lock);
  result = message ? wait_for_space (self, buffer, &overflow, &size) : GST_FLOW_OK;
  if (connection->failed)
    result = GST_FLOW_ERROR;
  if (!message)
    connection->queue.dropped++;
  else if (result == GST_FLOW_OK)
    gst_ccl_mqtt_connection_push (connection, message, overflow, size);
  else
    gst_ccl_message_free (message);
  g_mutex_unlock (&connection->lock);
  return result;
}

static GstFlowReturn
gst_ccl_mqtt_sink_render (GstBaseSink * sink, GstBuffer * buffer)
{
  GstCclMqttSink *const self = GST_CCL_MQTT_SINK (sink);
  GstCclMqttConnection *const connection = &self->connection;
  const GstClockTime start = gst_util_get_timestamp ();
  GstCclMessage *message;
  GstFlowReturn result;

  if (!copy_message (self, buffer, &message)) {
    GST_ELEMENT_ERROR (self, RESOURCE, READ, ("A buffer cannot be read."), (NULL));
    return GST_FLOW_ERROR;
  }
  result = queue_message (self, buffer, message);
  if (result != GST_FLOW_OK)
    return result;
  gst_ccl_mqtt_connection_send_queued (connection);

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

    /* The base class does not check this. It would wait for a preroll while the flushing thread waits for the stream. */
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

/* ---------------------------------------------------------------- class */

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
gst_ccl_mqtt_sink_class_init (GstCclMqttSinkClass * klass)
{
  GObjectClass *const object = G_OBJECT_CLASS (klass);
  GstElementClass *const element = GST_ELEMENT_CLASS (klass);
  GstBaseSinkClass *const sink = GST_BASE_SINK_CLASS (klass);

  mosquitto_lib_init ();

  object->finalize = gst_ccl_mqtt_sink_finalize;
  gst_ccl_mqtt_sink_install_properties (object);

  gst_element_class_add_static_pad_template (element, &sink_template);
  gst_element_class_set_static_metadata (element, "MQTT publisher", "Sink/Network",
      "Publishes lines of JSON over MQTT; an absent broker does not stop the pipeline", "gst-ccl contributors");
  gst_ccl_element_class_set_document (element, "cclmqttsink");

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
  gst_ccl_mqtt_sink_init_settings (self);
  /* Lines are sent when they arrive, and a stream without lines does not block the pipeline. */
  gst_base_sink_set_sync (GST_BASE_SINK (self), FALSE);
  gst_base_sink_set_async_enabled (GST_BASE_SINK (self), FALSE);
}
