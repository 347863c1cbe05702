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
#include "delivery/gstcclnatsconnection.h"
#include "delivery/gstccltopic.h"

GST_DEBUG_CATEGORY (gst_ccl_nats_sink_debug);
#define GST_CAT_DEFAULT gst_ccl_nats_sink_debug

#define TOPIC_HINT "A subject is words with dots between, without spaces, * and >, and does not begin with $; " \
    GST_CCL_TOPIC_SOURCE " stands for the source of each line."

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

G_DEFINE_FINAL_TYPE_WITH_CODE (GstCclNatsSink, gst_ccl_nats_sink, GST_TYPE_CCL_SERVER_SINK,
    GST_DEBUG_CATEGORY_INIT (gst_ccl_nats_sink_debug, "cclnatssink", 0, "NATS publisher"));
GST_ELEMENT_REGISTER_DEFINE (cclnatssink, "cclnatssink", GST_RANK_NONE, GST_TYPE_CCL_NATS_SINK);

/* ---------------------------------------------------------------- connection */

/* Of a source, which is one word of a subject. */
static gboolean
is_kept (gchar character)
{
  return !g_ascii_iscntrl (character) && character != ' ' && character != '.' && character != '*' && character != '>';
}

static gboolean
open_connection (GstCclServerSink * sink, const GstCclServerSettings * servers, GError ** error, const gchar ** hint)
{
  GstCclNatsSink *const self = GST_CCL_NATS_SINK (sink);
  g_autofree gchar *credentials_file = NULL;
  GstCclNatsSettings settings = {.servers = servers };

  GST_OBJECT_LOCK (self);
  credentials_file = g_strdup (self->credentials_file);
  settings.credentials_file = credentials_file;
  settings.keep_alive = self->keep_alive;
  settings.ack_timeout = self->ack_timeout;
  GST_OBJECT_UNLOCK (self);
  return gst_ccl_nats_connection_open (&self->connection, &settings, error, hint);
}

static void
close_connection (GstCclServerSink * sink)
{
  gst_ccl_nats_connection_close (&GST_CCL_NATS_SINK (sink)->connection);
}

/* ---------------------------------------------------------------- class */

static void
gst_ccl_nats_sink_finalize (GObject * object)
{
  GstCclNatsSink *const self = GST_CCL_NATS_SINK (object);

  gst_ccl_nats_connection_clear (&self->connection);
  g_free (self->credentials_file);
  G_OBJECT_CLASS (gst_ccl_nats_sink_parent_class)->finalize (object);
}

static void
install_properties (GObjectClass * object)
{
  const GParamFlags ready = GST_CCL_SERVER_PARAM_READY;

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
  GstCclServerSinkClass *const server = &klass->parent_class;

  object->finalize = gst_ccl_nats_sink_finalize;

  server->defaults = &defaults;
  server->rows = rows;
  server->connection = G_STRUCT_OFFSET (GstCclNatsSink, connection);
  server->functions = &gst_ccl_nats_transport;
  server->is_valid_topic = gst_ccl_nats_subject_is_valid;
  server->topic_hint = TOPIC_HINT;
  server->max_in_flight = GST_CCL_NATS_MAX_IN_FLIGHT;
  server->open_connection = open_connection;
  server->close_connection = close_connection;
  gst_ccl_server_sink_class_install (server);
  install_properties (object);

  gst_element_class_set_static_metadata (element, "NATS publisher", "Sink/Network",
      "Publishes lines of JSON, or CBOR, to a stream of NATS; an absent server does not stop the pipeline",
      "gst-ccl contributors");
  gst_ccl_element_class_set_document (element, "cclnatssink");

  sink->protocol = "NATS";
  sink->state_name = "ccl-nats";
  sink->stats_name = "cclnatssink-stats";
  sink->is_kept = is_kept;
}

static void
gst_ccl_nats_sink_init (GstCclNatsSink * self)
{
  gst_ccl_nats_connection_init (&self->connection, GST_OBJECT (self));
  self->keep_alive = DEFAULT_KEEP_ALIVE;
  self->ack_timeout = DEFAULT_ACK_TIMEOUT;
}
