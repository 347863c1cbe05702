/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Properties and statistics that all sinks share. */

#include "delivery/gstccldeliverysinkprivate.h"

#include "base/gstcclpropertyrow.h"

#define DEFAULT_QUEUE_SIZE 1000
#define DEFAULT_QUEUE_BYTES ((guint64) 64 << 20)
#define DEFAULT_SPOOL_SIZE ((guint64) 1 << 30)
#define DEFAULT_DRAIN_TIMEOUT (5 * GST_SECOND)

enum
{
  PROP_0,
  PROP_QUEUE_SIZE,
  PROP_QUEUE_BYTES,
  PROP_OVERFLOW,
  PROP_DRAIN_TIMEOUT,
  PROP_FAIL_ON_DISCONNECT,
  PROP_SPOOL_LOCATION,
  PROP_SPOOL_SIZE,
  PROP_STATS,
  N_PROPERTIES,
};

/* Properties that are plain members. */
static const GstCclPropertyRow rows[N_PROPERTIES] = {
  [PROP_QUEUE_SIZE] = GST_CCL_PROPERTY_ROW (GstCclDeliverySinkPrivate, limits.max_messages),
  [PROP_QUEUE_BYTES] = GST_CCL_PROPERTY_ROW (GstCclDeliverySinkPrivate, limits.max_bytes),
  [PROP_OVERFLOW] = GST_CCL_PROPERTY_ROW (GstCclDeliverySinkPrivate, limits.overflow),
  [PROP_DRAIN_TIMEOUT] = GST_CCL_PROPERTY_ROW (GstCclDeliverySinkPrivate, drain_timeout),
  [PROP_FAIL_ON_DISCONNECT] = GST_CCL_PROPERTY_ROW (GstCclDeliverySinkPrivate, fail_on_disconnect),
  [PROP_SPOOL_LOCATION] = GST_CCL_PROPERTY_ROW (GstCclDeliverySinkPrivate, spool_location),
  [PROP_SPOOL_SIZE] = GST_CCL_PROPERTY_ROW (GstCclDeliverySinkPrivate, spool_size),
};

static GType
overflow_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    {GST_CCL_OVERFLOW_DROP_OLDEST, "Drop the message that has waited longest", "drop-oldest"},
    {GST_CCL_OVERFLOW_DROP_NEWEST, "Drop the message that arrives", "drop-newest"},
    {GST_CCL_OVERFLOW_BLOCK, "Block the pipeline until a message was sent: nothing is dropped, live sources stall",
        "block"},
    {0, NULL, NULL}
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstCcl" GST_CCL_DELIVERY_NAME "Overflow", values));
  return type;
}

static void
set_property (GObject * object, guint id, const GValue * value, GParamSpec * pspec)
{
  GstCclDeliverySink *const self = GST_CCL_DELIVERY_SINK (object);
  GstCclDeliverySinkPrivate *const private = gst_ccl_delivery_sink_get_private (self);
  GstCclDeliveryLimits limits;

  GST_OBJECT_LOCK (self);
  if (!gst_ccl_property_row_set (private, &rows[id], value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  limits = private->limits;
  GST_OBJECT_UNLOCK (self);
  gst_ccl_delivery_set_limits (private->delivery, &limits);
}

static void
add_drops (GstStructure * structure, const GstCclDeliveryStats * stats)
{
  for (guint i = 0; i < GST_CCL_DROP_N; i++) {
    gchar *const name = g_strconcat ("dropped-", gst_ccl_drop_name (i), NULL);

    gst_structure_set (structure, name, G_TYPE_UINT64, stats->dropped[i], NULL);
    g_free (name);
  }
}

static GstStructure *
create_stats (GstCclDeliverySink * self)
{
  GstCclDeliverySinkPrivate *const private = gst_ccl_delivery_sink_get_private (self);
  GstCclDeliveryStats stats;
  GstStructure *structure;

  gst_ccl_delivery_get_stats (private->delivery, &stats);
  GST_OBJECT_LOCK (self);
  structure = gst_structure_new (GST_CCL_DELIVERY_SINK_GET_CLASS (self)->stats_name,
      "connected", G_TYPE_BOOLEAN, stats.is_connected,
      "frames", G_TYPE_UINT64, private->frames,
      "accepted", G_TYPE_UINT64, stats.accepted,
      "sent", G_TYPE_UINT64, stats.sent,
      "published", G_TYPE_UINT64, stats.acknowledged,
      "dropped", G_TYPE_UINT64, gst_ccl_delivery_stats_dropped (&stats),
      "queued", G_TYPE_UINT, stats.queued,
      "in-flight", G_TYPE_UINT, stats.in_flight,
      "queued-bytes", G_TYPE_UINT64, stats.queued_bytes,
      "spool-messages", G_TYPE_UINT64, stats.spool_messages,
      "spool-bytes", G_TYPE_UINT64, stats.spool_bytes,
      "recovered", G_TYPE_UINT64, stats.recovered,
      "bytes", G_TYPE_UINT64, stats.bytes,
      "connects", G_TYPE_UINT64, stats.n_connects,
      "failures", G_TYPE_UINT64, stats.n_failures, "last-error", G_TYPE_STRING, stats.last_error, NULL);
  add_drops (structure, &stats);
  gst_ccl_min_avg_max_to_structure (&private->host, "host", structure);
  gst_ccl_min_avg_max_to_structure (&stats.latency, "latency", structure);
  GST_OBJECT_UNLOCK (self);
  return structure;
}

static void
get_property (GObject * object, guint id, GValue * value, GParamSpec * pspec)
{
  GstCclDeliverySink *const self = GST_CCL_DELIVERY_SINK (object);

  if (id == PROP_STATS) {
    g_value_take_boxed (value, create_stats (self));
    return;
  }
  GST_OBJECT_LOCK (self);
  if (!gst_ccl_property_row_get (gst_ccl_delivery_sink_get_private (self), &rows[id], value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  GST_OBJECT_UNLOCK (self);
}

void
gst_ccl_delivery_sink_install_properties (GObjectClass * object)
{
  const GParamFlags ready = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY;
  const GParamFlags playing = GST_CCL_PARAM_PLAYING;

  object->set_property = set_property;
  object->get_property = get_property;
  g_object_class_install_property (object, PROP_QUEUE_SIZE, g_param_spec_uint ("queue-size", "Queue size",
          "Maximum number of messages that wait in memory", 1, G_MAXINT, DEFAULT_QUEUE_SIZE, playing));
  g_object_class_install_property (object, PROP_QUEUE_BYTES, g_param_spec_uint64 ("queue-bytes", "Queue bytes",
          "Maximum memory of all messages, in bytes; a larger message is dropped", 4096, G_MAXINT64,
          DEFAULT_QUEUE_BYTES, playing));
  g_object_class_install_property (object, PROP_OVERFLOW, g_param_spec_enum ("overflow", "Overflow",
          "Action when the queue is full", overflow_get_type (), GST_CCL_OVERFLOW_DROP_OLDEST, playing));
  g_object_class_install_property (object, PROP_DRAIN_TIMEOUT, g_param_spec_uint64 ("drain-timeout", "Drain timeout",
          "Maximum time to wait for delivery at the end of the stream, in nanoseconds (0 = do not wait)", 0, G_MAXINT64,
          DEFAULT_DRAIN_TIMEOUT, ready));
  g_object_class_install_property (object, PROP_FAIL_ON_DISCONNECT, g_param_spec_boolean ("fail-on-disconnect",
          "Fail on disconnect", "Post an error instead of a warning when the broker is not reachable", FALSE, playing));
  g_object_class_install_property (object, PROP_SPOOL_LOCATION, g_param_spec_string ("spool-location", "Spool location",
          "File in which messages wait and survive a crash (unset = they wait in memory)", NULL, ready));
  g_object_class_install_property (object, PROP_SPOOL_SIZE, g_param_spec_uint64 ("spool-size", "Spool size",
          "Maximum size of the messages in the spool, in bytes; the oldest are dropped first", 65536, G_MAXINT64,
          DEFAULT_SPOOL_SIZE, ready));
  g_object_class_install_property (object, PROP_STATS, g_param_spec_boxed ("stats", "Statistics",
          "Since the start: connected, frames, accepted, sent, published, dropped (and by reason), queued, in-flight, "
          "queued-bytes, spool-messages, spool-bytes, recovered, bytes, connects, failures, last-error; host-us and "
          "latency-us, each -min, -avg and -max in microseconds (-1 = not measured)",
          GST_TYPE_STRUCTURE, GST_CCL_PARAM_READ_ONLY));
  gst_type_mark_as_plugin_api (overflow_get_type (), 0);
}

void
gst_ccl_delivery_sink_init_settings (GstCclDeliverySink * self)
{
  GstCclDeliverySinkPrivate *const private = gst_ccl_delivery_sink_get_private (self);

  private->limits = (GstCclDeliveryLimits) {
  GST_CCL_OVERFLOW_DROP_OLDEST, DEFAULT_QUEUE_SIZE, DEFAULT_QUEUE_BYTES};
  private->drain_timeout = DEFAULT_DRAIN_TIMEOUT;
  private->spool_size = DEFAULT_SPOOL_SIZE;
  gst_ccl_delivery_set_limits (private->delivery, &private->limits);
}
