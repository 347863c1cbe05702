/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-cclnatssink
 * @title: cclnatssink
 * @short_description: publishes lines of JSON (or any text) to a stream of NATS JetStream
 *
 * Each buffer becomes one message, which a stream acknowledges. The stream has to exist, and to take the subject. While it is
 * away, messages wait in a bounded queue and the pipeline continues. A message that is sent again has the same id, so that the
 * stream stores it once.
 *
 * ## Blobs to a server on this machine
 * |[
 * gst-launch-1.0 videotestsrc pattern=ball is-live=true ! video/x-raw,format=GRAY8 ! ccllabel threshold=100 !
 *     cclmeta2json source-id=cam1 ! cclnatssink servers=localhost:4222 topic=cams.{source-id}.blobs
 * ]|
 */

#include "gstcclnatssink.h"

#include "base/gstccldocument.h"
#include "base/gstcclpropertyrow.h"
#include "delivery/gstcclnatsconnection.h"
#include "delivery/gstcclserversink.h"
#include "delivery/gstccltopic.h"

GST_DEBUG_CATEGORY (gst_ccl_nats_sink_debug);
#define GST_CAT_DEFAULT gst_ccl_nats_sink_debug

#define DEFAULT_KEEP_ALIVE 30
#define DEFAULT_ACK_TIMEOUT (5 * GST_SECOND)

enum
{
  PROP_CREDENTIALS_FILE = GST_CCL_SERVER_N_PROPERTIES,
  PROP_KEEP_ALIVE,
  PROP_ACK_TIMEOUT,
  N_PROPERTIES,
};

struct _GstCclNatsSink
{
  GstCclServerSink parent;

  /* Properties; object lock. */
  gchar *credentials_file;
  guint keep_alive;             /* seconds */
  guint64 ack_timeout;          /* ns */

  GstCclNatsConnection connection;
};

static const GstCclPropertyRow rows[N_PROPERTIES] = {
  [PROP_CREDENTIALS_FILE] = GST_CCL_PROPERTY_ROW (GstCclNatsSink, credentials_file),
  [PROP_KEEP_ALIVE] = GST_CCL_PROPERTY_ROW (GstCclNatsSink, keep_alive),
  [PROP_ACK_TIMEOUT] = GST_CCL_PROPERTY_ROW (GstCclNatsSink, ack_timeout),
};

static const GstCclServerDefaults defaults = {
  "Servers of the cluster: HOST[:PORT], with commas between (default port 4222)", "localhost:4222",
  "Subject to publish to, of an existing stream (" GST_CCL_TOPIC_SOURCE " = the source in the line of JSON)",
  "ccl.blobs",
};

G_DEFINE_FINAL_TYPE_WITH_CODE (GstCclNatsSink, gst_ccl_nats_sink, GST_TYPE_CCL_DELIVERY_SINK,
    GST_DEBUG_CATEGORY_INIT (gst_ccl_nats_sink_debug, "cclnatssink", 0, "NATS publisher"));
GST_ELEMENT_REGISTER_DEFINE (cclnatssink, "cclnatssink", GST_RANK_NONE, GST_TYPE_CCL_NATS_SINK);

/* ---------------------------------------------------------------- transport */

static void
start (gpointer transport, GstCclDelivery * delivery)
{
  GstCclNatsSink *const self = transport;

  gst_ccl_server_sink_warn_of_settings (&self->parent);
  gst_ccl_nats_transport.start (&self->connection, delivery);
}

static void
stop (gpointer transport)
{
  gst_ccl_nats_transport.stop (&((GstCclNatsSink *) transport)->connection);
}

/* Of a source, which is one word of a subject. */
static gboolean
is_kept (gchar character)
{
  return !g_ascii_iscntrl (character) && character != ' ' && character != '.' && character != '*' && character != '>';
}

static GstCclSendResult
send_message (gpointer transport, const GstCclDeliveryMessage * message, gchar * reason)
{
  GstCclNatsSink *const self = transport;
  GstCclDeliveryMessage renamed = *message;
  gchar *const topic = gst_ccl_server_sink_make_topic (&self->parent, message, is_kept);
  GstCclSendResult result;

  if (topic)
    renamed.topic = topic;
  result = gst_ccl_nats_transport.send (&self->connection, &renamed, reason);
  g_free (topic);
  return result;
}

static const GstCclDeliveryTransport transport_functions = { start, stop, send_message };

static gboolean
open_sink (GstCclDeliverySink * sink, guint * max_in_flight, GError ** error, const gchar ** hint)
{
  GstCclNatsSink *const self = GST_CCL_NATS_SINK (sink);
  const GstCclNatsSettings settings = {
    .servers = &self->parent.settings,
    .credentials_file = self->credentials_file,
    .keep_alive = self->keep_alive,
    .ack_timeout = self->ack_timeout,
  };

  *max_in_flight = GST_CCL_NATS_MAX_IN_FLIGHT;
  if (!gst_ccl_server_sink_check_topic (&self->parent, gst_ccl_nats_subject_is_valid, error)) {
    *hint = "A subject is words with dots between, without spaces, * and >, and does not begin with $; "
        GST_CCL_TOPIC_SOURCE " stands for the source of each line.";
    return FALSE;
  }
  return gst_ccl_nats_connection_open (&self->connection, &settings, error, hint);
}

static void
close_sink (GstCclDeliverySink * sink)
{
  gst_ccl_nats_connection_close (&GST_CCL_NATS_SINK (sink)->connection);
}

/* ---------------------------------------------------------------- class */

static void
gst_ccl_nats_sink_set_property (GObject * object, guint id, const GValue * value, GParamSpec * pspec)
{
  GstCclNatsSink *const self = GST_CCL_NATS_SINK (object);

  GST_OBJECT_LOCK (self);
  if (!gst_ccl_server_sink_set_property (&self->parent, id, value)
      && !gst_ccl_property_row_set (self, &rows[id], value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_ccl_nats_sink_get_property (GObject * object, guint id, GValue * value, GParamSpec * pspec)
{
  GstCclNatsSink *const self = GST_CCL_NATS_SINK (object);

  GST_OBJECT_LOCK (self);
  if (!gst_ccl_server_sink_get_property (&self->parent, id, value)
      && !gst_ccl_property_row_get (self, &rows[id], value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_ccl_nats_sink_finalize (GObject * object)
{
  GstCclNatsSink *const self = GST_CCL_NATS_SINK (object);

  gst_ccl_nats_connection_clear (&self->connection);
  gst_ccl_server_sink_finalize (&self->parent);
  g_free (self->credentials_file);
  G_OBJECT_CLASS (gst_ccl_nats_sink_parent_class)->finalize (object);
}

static void
install_properties (GObjectClass * object)
{
  const GParamFlags ready = GST_CCL_SERVER_PARAM_READY;

  object->set_property = gst_ccl_nats_sink_set_property;
  object->get_property = gst_ccl_nats_sink_get_property;
  gst_ccl_server_sink_install_properties (object, &defaults);
  g_object_class_install_property (object, PROP_CREDENTIALS_FILE, g_param_spec_string ("credentials-file",
          "Credentials file", "File with the user's JWT and key, as nsc makes it (unset = none)", NULL, ready));
  g_object_class_install_property (object, PROP_KEEP_ALIVE, g_param_spec_uint ("keep-alive", "Keep alive",
          "Idle time after which the connection is probed, in seconds", 1, 65535, DEFAULT_KEEP_ALIVE, ready));
  g_object_class_install_property (object, PROP_ACK_TIMEOUT, g_param_spec_uint64 ("ack-timeout",
          "Acknowledgement timeout",
          "Maximum time for an acknowledgement, in nanoseconds; after it another server is tried", GST_SECOND / 10,
          3600 * GST_SECOND, DEFAULT_ACK_TIMEOUT, ready));
}

static void
gst_ccl_nats_sink_class_init (GstCclNatsSinkClass * klass)
{
  GObjectClass *const object = G_OBJECT_CLASS (klass);
  GstElementClass *const element = GST_ELEMENT_CLASS (klass);
  GstCclDeliverySinkClass *const sink = GST_CCL_DELIVERY_SINK_CLASS (klass);

  object->finalize = gst_ccl_nats_sink_finalize;
  install_properties (object);
  gst_element_class_set_static_metadata (element, "NATS publisher", "Sink/Network",
      "Publishes lines of JSON, or CBOR, to a stream of NATS; an absent server does not stop the pipeline",
      "gst-ccl contributors");
  gst_ccl_element_class_set_document (element, "cclnatssink");

  sink->protocol = "NATS";
  sink->state_name = "ccl-nats";
  sink->stats_name = "cclnatssink-stats";
  sink->needs_source = TRUE;
  sink->transport = &transport_functions;
  sink->open = open_sink;
  sink->close = close_sink;
  sink->get_topic = gst_ccl_server_sink_get_topic;
  sink->get_address = gst_ccl_server_sink_get_address;
  sink->get_hint = gst_ccl_server_sink_get_hint;
}

static void
gst_ccl_nats_sink_init (GstCclNatsSink * self)
{
  gst_ccl_nats_connection_init (&self->connection, GST_OBJECT (self));
  gst_ccl_server_sink_init (&self->parent, &defaults);
  self->keep_alive = DEFAULT_KEEP_ALIVE;
  self->ack_timeout = DEFAULT_ACK_TIMEOUT;
}
