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

#include <mosquitto.h>

#include "delivery/gstcclmqttsinkprivate.h"
#include "base/gstccldocument.h"
#include "delivery/gstccltopic.h"

GST_DEBUG_CATEGORY (gst_ccl_mqtt_sink_debug);
#define GST_CAT_DEFAULT gst_ccl_mqtt_sink_debug

#define gst_ccl_mqtt_sink_parent_class parent_class
G_DEFINE_FINAL_TYPE_WITH_CODE (GstCclMqttSink, gst_ccl_mqtt_sink, GST_TYPE_CCL_DELIVERY_SINK,
    GST_DEBUG_CATEGORY_INIT (gst_ccl_mqtt_sink_debug, "cclmqttsink", 0, "MQTT publisher"));
GST_ELEMENT_REGISTER_DEFINE (cclmqttsink, "cclmqttsink", GST_RANK_NONE, GST_TYPE_CCL_MQTT_SINK);

/* ---------------------------------------------------------------- start and stop */

/* Certificates without TLS: the user expects an encrypted connection. */
static void
warn_of_settings (GstCclMqttSink * self)
{
  const GstCclMqttSettings *const settings = &self->active;
  const gchar *const unused = self->connection.address.tls ? NULL : settings->ca_file ? "ca-file"
      : settings->cert_file ? "cert-file" : settings->key_file ? "key-file" : NULL;

  if (unused)
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS, ("%s has no effect: the connection to %s is not encrypted.", unused,
            settings->uri), ("mqtts://HOST[:PORT] is, at port 8883 when none is given."));
  if (settings->will_message && !settings->will_topic)
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS, ("will-message is never published: there is no will-topic."),
        (NULL));
}

static gboolean
check_topic (const gchar * topic, GError ** error, const gchar ** hint)
{
  gchar *const example = gst_ccl_topic_insert (topic, "unknown");
  const gboolean valid = *example && mosquitto_pub_topic_check (example) == MOSQ_ERR_SUCCESS;

  g_free (example);
  if (!valid) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "\"%s\" is no topic to publish to.", topic);
    *hint = "A topic is not empty and has no + or #; " GST_CCL_TOPIC_SOURCE " stands for the source of each line.";
  }
  return valid;
}

static gboolean
open_sink (GstCclDeliverySink * sink, guint * max_in_flight, GError ** error, const gchar ** hint)
{
  GstCclMqttSink *const self = GST_CCL_MQTT_SINK (sink);
  g_autofree gchar *topic = NULL;
  gboolean retain;
  gint qos_level;

  gst_ccl_mqtt_settings_clear (&self->active);
  GST_OBJECT_LOCK (self);
  gst_ccl_mqtt_settings_copy (&self->active, &self->settings);
  topic = g_strdup (self->topic);
  qos_level = self->qos_level;
  retain = self->retain;
  GST_OBJECT_UNLOCK (self);
  if (!check_topic (topic, error, hint))
    return FALSE;
  gst_ccl_mqtt_connection_set_delivery (&self->connection, qos_level, retain);
  if (!gst_ccl_mqtt_connection_open (&self->connection, &self->active, error, hint))
    return FALSE;
  warn_of_settings (self);      /* before the warnings of the thread */
  *max_in_flight = GST_CCL_MQTT_MAX_IN_FLIGHT;
  return TRUE;
}

static void
close_sink (GstCclDeliverySink * sink)
{
  g_clear_pointer (&GST_CCL_MQTT_SINK (sink)->connection.address.host, g_free);
}

/* ---------------------------------------------------------------- transport */

static void
start_transport (gpointer transport, GstCclDelivery * delivery)
{
  gst_ccl_mqtt_connection_start (&GST_CCL_MQTT_SINK (transport)->connection, delivery);
}

static void
stop_transport (gpointer transport)
{
  gst_ccl_mqtt_connection_stop (&GST_CCL_MQTT_SINK (transport)->connection);
}

static GstCclSendResult
send_message (gpointer transport, const GstCclDeliveryMessage * message, gchar * reason)
{
  return gst_ccl_mqtt_connection_send (&GST_CCL_MQTT_SINK (transport)->connection, message, reason);
}

static const GstCclDeliveryTransport mqtt_transport = { start_transport, stop_transport, send_message };

/* ---------------------------------------------------------------- messages */

static const gchar *
get_topic (GstCclDeliverySink * sink)
{
  return GST_CCL_MQTT_SINK (sink)->topic;
}

static gboolean
wants_source (GstCclDeliverySink * sink)
{
  const gchar *const properties = GST_CCL_MQTT_SINK (sink)->active.user_properties;

  return properties && gst_ccl_topic_has_source (properties);
}

static gchar *
get_address (GstCclDeliverySink * sink)
{
  const GstCclMqttAddress *const address = &GST_CCL_MQTT_SINK (sink)->connection.address;

  return g_strdup_printf ("%s:%d", address->host ? address->host : "", address->port);
}

static const gchar *
get_hint (GstCclDeliverySink * sink)
{
  return GST_CCL_MQTT_SINK (sink)->connection.address.tls ?
      "With mqtts:// the broker has to speak TLS at this port, with a certificate for this host name from an "
      "authority in ca-file, or from one the system trusts." :
      "uri says where the broker is; fail-on-disconnect=true ends the pipeline instead.";
}

/* ---------------------------------------------------------------- class */

static void
gst_ccl_mqtt_sink_finalize (GObject * object)
{
  GstCclMqttSink *const self = GST_CCL_MQTT_SINK (object);

  g_free (self->topic);
  gst_ccl_mqtt_settings_clear (&self->settings);
  gst_ccl_mqtt_settings_clear (&self->active);
  gst_ccl_mqtt_connection_clear (&self->connection);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_ccl_mqtt_sink_class_init (GstCclMqttSinkClass * klass)
{
  GObjectClass *const object = G_OBJECT_CLASS (klass);
  GstElementClass *const element = GST_ELEMENT_CLASS (klass);
  GstCclDeliverySinkClass *const sink = GST_CCL_DELIVERY_SINK_CLASS (klass);

  mosquitto_lib_init ();

  object->finalize = gst_ccl_mqtt_sink_finalize;
  gst_ccl_mqtt_sink_install_properties (object);

  gst_element_class_set_static_metadata (element, "MQTT publisher", "Sink/Network",
      "Publishes lines of JSON, or CBOR, over MQTT; an absent broker does not stop the pipeline",
      "gst-ccl contributors");
  gst_ccl_element_class_set_document (element, "cclmqttsink");

  sink->protocol = "MQTT";
  sink->state_name = "ccl-mqtt";
  sink->stats_name = "cclmqttsink-stats";
  sink->max_payload = GST_CCL_MQTT_MAX_PAYLOAD;
  sink->transport = &mqtt_transport;
  sink->open = open_sink;
  sink->close = close_sink;
  sink->get_topic = get_topic;
  sink->wants_source = wants_source;
  sink->get_address = get_address;
  sink->get_hint = get_hint;
}

static void
gst_ccl_mqtt_sink_init (GstCclMqttSink * self)
{
  gst_ccl_mqtt_connection_init (&self->connection, GST_OBJECT (self));
  gst_ccl_mqtt_sink_init_settings (self);
}
