/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The base class of the sinks that publish lines: a seam between GStreamer and the delivery core. It has the properties of the
 * queue and the spool, the statistics, back pressure, the drain at the end of the stream, and the messages on the bus.
 *
 * A subclass has the properties of its protocol, and the functions below. `topic` and its property are the subclass's.
 */
#ifndef __GST_CCL_DELIVERY_SINK_H__
#define __GST_CCL_DELIVERY_SINK_H__

#include <gst/gst.h>
#include <gst/base/gstbasesink.h>

#include "delivery/gstccldelivery.h"

G_BEGIN_DECLS

#define GST_TYPE_CCL_DELIVERY_SINK (gst_ccl_delivery_sink_get_type ())
G_DECLARE_DERIVABLE_TYPE (GstCclDeliverySink, gst_ccl_delivery_sink, GST, CCL_DELIVERY_SINK, GstBaseSink)

/* The first id that is free for properties of subclasses. Ids of a GObject class are its own, so they may begin at 1 too. */
struct _GstCclDeliverySinkClass
{
  GstBaseSinkClass parent_class;

  const gchar *protocol;        /* in messages: "MQTT" */
  const gchar *state_name;      /* of the element message about the connection: "ccl-mqtt" */
  const gchar *stats_name;      /* of the structure in `stats`: "cclmqttsink-stats" */
  guint64 max_payload;          /* larger ones are dropped; 0: no limit */
  gboolean needs_source;        /* for each line, also if the topic does not hold it */
  const GstCclDeliveryTransport *transport;     /* its functions get the sink as `transport` */

  /* NULL to READY: reads the settings. FALSE: `error` says why, and `hint` (static or NULL) what to do. `max_in_flight` is a
   * default that it may change. */
    gboolean (*open) (GstCclDeliverySink * sink, guint * max_in_flight, GError ** error, const gchar ** hint);

  /* READY to NULL, after the transport was stopped, or after an open() that succeeded and a start that failed. */
  void (*close) (GstCclDeliverySink * sink);

  /* The topic, "{source-id}" inside. Called with the object lock. (transfer none) */
  const gchar *(*get_topic) (GstCclDeliverySink * sink);

  /* Whether a source keeps this character in the topic. It becomes _ otherwise, as / + and # always do. NULL: all. */
    gboolean (*is_kept) (gchar character);

  /* Name of the broker for messages, for example "localhost:1883". Never holds a password. (transfer full) */
  gchar *(*get_address) (GstCclDeliverySink * sink);

  /* Whether each line's source is needed because of a setting. NULL: no. */
    gboolean (*wants_source) (GstCclDeliverySink * sink);

  /* What a user can do about a missing connection (static), or NULL. */
  const gchar *(*get_hint) (GstCclDeliverySink * sink);
};

/* The core, for the functions "for transports". (transfer none) */
GstCclDelivery *gst_ccl_delivery_sink_get_delivery (GstCclDeliverySink * sink);

G_END_DECLS

#endif
