/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-cclkafkasink
 * @title: cclkafkasink
 * @short_description: publishes lines of JSON (or any text) to Apache Kafka
 *
 * Each buffer becomes one message. The source that a line names is the key of its message, so that the lines of a source
 * stay in order in one partition. While no broker is reachable, messages wait in a bounded queue and the pipeline continues.
 *
 * ## Blobs to a broker on this machine
 * |[
 * gst-launch-1.0 videotestsrc pattern=ball is-live=true ! video/x-raw,format=GRAY8 ! ccllabel threshold=100 !
 *     cclmeta2json source-id=cam1 ! cclkafkasink servers=localhost:9092 topic=blobs
 * ]|
 */

#include "gstcclkafkasink.h"

#include "base/gstccldocument.h"
#include "delivery/gstcclkafkaconnection.h"
#include "delivery/gstccltopic.h"

GST_DEBUG_CATEGORY (gst_ccl_kafka_sink_debug);
#define GST_CAT_DEFAULT gst_ccl_kafka_sink_debug

#define TOPIC_HINT "A topic of Kafka has 1 to 249 letters, digits, dots, - and _; " GST_CCL_TOPIC_SOURCE \
    " stands for the source of each line."

/* Of librdkafka: message.max.bytes, less the key and the header. */
#define MAX_PAYLOAD 990000

enum
{
  PROP_COMPRESSION = GST_CCL_SERVER_N_PROPERTIES,
  PROP_SASL_MECHANISM,
  PROP_CONFIG,
  N_PROPERTIES,
};

typedef enum
{
  COMPRESSION_NONE,
  COMPRESSION_GZIP,
  COMPRESSION_SNAPPY,
  COMPRESSION_LZ4,
  COMPRESSION_ZSTD,
} GstCclKafkaCompression;

static const GEnumValue compressions[] = {
  {COMPRESSION_NONE, "No compression", "none"},
  {COMPRESSION_GZIP, "gzip", "gzip"},
  {COMPRESSION_SNAPPY, "Snappy", "snappy"},
  {COMPRESSION_LZ4, "LZ4", "lz4"},
  {COMPRESSION_ZSTD, "Zstandard", "zstd"},
  {0, NULL, NULL}
};

struct _GstCclKafkaSink
{
  GstCclServerSink parent;

  /* Properties; object lock. */
  gint compression;
  gchar *mechanism, *config;

  GstCclKafkaConnection connection;
};

static const GstCclPropertyRow rows[N_PROPERTIES] = {
  [PROP_COMPRESSION] = GST_CCL_PROPERTY_ROW (GstCclKafkaSink, compression),
  [PROP_SASL_MECHANISM] = GST_CCL_PROPERTY_ROW (GstCclKafkaSink, mechanism),
  [PROP_CONFIG] = GST_CCL_PROPERTY_ROW (GstCclKafkaSink, config),
};

static const GstCclServerDefaults defaults = {
  "Some brokers of the cluster: HOST[:PORT], with commas between (default port 9092)", "localhost:9092",
  "Topic to publish to (" GST_CCL_TOPIC_SOURCE " = the source in the line of JSON)", "ccl-blobs",
};

G_DEFINE_FINAL_TYPE_WITH_CODE (GstCclKafkaSink, gst_ccl_kafka_sink, GST_TYPE_CCL_SERVER_SINK,
    GST_DEBUG_CATEGORY_INIT (gst_ccl_kafka_sink_debug, "cclkafkasink", 0, "Kafka publisher"));
GST_ELEMENT_REGISTER_DEFINE (cclkafkasink, "cclkafkasink", GST_RANK_NONE, GST_TYPE_CCL_KAFKA_SINK);

/* ---------------------------------------------------------------- connection */

/* Of a source in a topic. */
static gboolean
is_kept (gchar character)
{
  return g_ascii_isalnum (character) || character == '.' || character == '-';
}

static gboolean
open_connection (GstCclServerSink * sink, const GstCclServerSettings * servers, GError ** error, const gchar ** hint)
{
  GstCclKafkaSink *const self = GST_CCL_KAFKA_SINK (sink);
  g_autofree gchar *mechanism = NULL, *config = NULL;
  GstCclKafkaSettings settings = {.servers = servers };

  GST_OBJECT_LOCK (self);
  settings.compression = compressions[self->compression].value_nick;
  mechanism = g_strdup (self->mechanism);
  settings.mechanism = mechanism;
  config = g_strdup (self->config);
  settings.config = config;
  GST_OBJECT_UNLOCK (self);
  return gst_ccl_kafka_connection_open (&self->connection, &settings, error, hint);
}

static void
close_connection (GstCclServerSink * sink)
{
  gst_ccl_kafka_connection_close (&GST_CCL_KAFKA_SINK (sink)->connection);
}

/* ---------------------------------------------------------------- class */

static void
gst_ccl_kafka_sink_finalize (GObject * object)
{
  GstCclKafkaSink *const self = GST_CCL_KAFKA_SINK (object);

  gst_ccl_kafka_connection_clear (&self->connection);
  g_free (self->mechanism);
  g_free (self->config);
  G_OBJECT_CLASS (gst_ccl_kafka_sink_parent_class)->finalize (object);
}

static GType
compression_get_type (void)
{
  static gsize type = 0;

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstCclKafkaCompression", compressions));
  return type;
}

static void
install_properties (GObjectClass * object)
{
  const GParamFlags ready = GST_CCL_SERVER_PARAM_READY;

  g_object_class_install_property (object, PROP_COMPRESSION, g_param_spec_enum ("compression", "Compression",
          "Compression of messages that are sent together", compression_get_type (), COMPRESSION_LZ4, ready));
  g_object_class_install_property (object, PROP_SASL_MECHANISM, g_param_spec_string ("sasl-mechanism",
          "SASL mechanism", "Way to log in: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512", "PLAIN", ready));
  g_object_class_install_property (object, PROP_CONFIG, g_param_spec_string ("config", "Configuration",
          "Further settings of librdkafka: KEY=VALUE, with commas between (unset = none)", NULL, ready));
  gst_type_mark_as_plugin_api (compression_get_type (), 0);
}

static void
gst_ccl_kafka_sink_class_init (GstCclKafkaSinkClass * klass)
{
  GObjectClass *const object = G_OBJECT_CLASS (klass);
  GstElementClass *const element = GST_ELEMENT_CLASS (klass);
  GstCclDeliverySinkClass *const sink = GST_CCL_DELIVERY_SINK_CLASS (klass);
  GstCclServerSinkClass *const server = &klass->parent_class;

  object->finalize = gst_ccl_kafka_sink_finalize;

  server->defaults = &defaults;
  server->rows = rows;
  server->connection = G_STRUCT_OFFSET (GstCclKafkaSink, connection);
  server->functions = &gst_ccl_kafka_transport;
  server->is_valid_topic = gst_ccl_kafka_topic_is_valid;
  server->topic_hint = TOPIC_HINT;
  server->max_in_flight = GST_CCL_KAFKA_MAX_IN_FLIGHT;
  server->open_connection = open_connection;
  server->close_connection = close_connection;
  gst_ccl_server_sink_class_install (server);
  install_properties (object);

  gst_element_class_set_static_metadata (element, "Kafka publisher", "Sink/Network",
      "Publishes lines of JSON, or CBOR, to Kafka; an absent broker does not stop the pipeline",
      "gst-ccl contributors");
  gst_ccl_element_class_set_document (element, "cclkafkasink");

  sink->protocol = "Kafka";
  sink->state_name = "ccl-kafka";
  sink->stats_name = "cclkafkasink-stats";
  sink->max_payload = MAX_PAYLOAD;
  sink->is_kept = is_kept;
}

static void
gst_ccl_kafka_sink_init (GstCclKafkaSink * self)
{
  gst_ccl_kafka_connection_init (&self->connection, GST_OBJECT (self));
  self->compression = COMPRESSION_LZ4;
  self->mechanism = g_strdup ("PLAIN");
}
