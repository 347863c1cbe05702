/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A publisher of NATS JetStream, as a transport of the delivery core. A thread of its own connects and watches the connection.
 *
 * A stream can refuse one message and take the next a moment later, for example while it chooses a leader. So one message of a
 * source is in flight at a time. Each message has an id: a stream stores it once within its duplicate window, however often it is
 * sent. The client does not connect again by itself, because it would send old messages from a buffer of its own.
 */
#ifndef __GST_CCL_NATS_CONNECTION_H__
#define __GST_CCL_NATS_CONNECTION_H__

#include <gst/gst.h>

#include "delivery/gstccldelivery.h"
#include "delivery/gstcclserverlist.h"

G_BEGIN_DECLS

/* Messages of different sources without an acknowledgement. */
#define GST_CCL_NATS_MAX_IN_FLIGHT 64

/* For open(). Strings may be NULL. */
typedef struct
{
  const GstCclServerSettings *servers;
  const gchar *credentials_file;
  guint keep_alive;             /* seconds */
  guint64 ack_timeout;          /* ns */
} GstCclNatsSettings;

/* A message without an acknowledgement. */
typedef struct
{
  guint64 id;                   /* 0: unused */
  gchar *source, *topic;
  GBytes *payload;
  struct __natsMsg *message;    /* the client has it; NULL: it has to be sent again */
  gint64 sent;                  /* monotonic time, microseconds */
  /* Answers that it was known, without a sequence number. Servers up to 2.10 remember the id of a message that they refused, or
   * have not stored yet. From the second answer on the message has another id. */
  guint n_unsure;
} GstCclNatsInFlight;

typedef enum
{
  GST_CCL_NATS_NO_FAILURE,
  GST_CCL_NATS_NOT_TAKEN,       /* a stream did not take a message: it is sent again after a pause */
  GST_CCL_NATS_SILENT,          /* an acknowledgement will not come: another connection is made */
  GST_CCL_NATS_CLOSED,          /* the connection has ended */
} GstCclNatsFailure;

typedef struct
{
  GstObject *owner;             /* for log lines; set before open() */

  /* Fixed from open() to close(). */
  struct __natsOptions *options;
  gint64 max_pause, ack_timeout;        /* microseconds */

  /* Fixed from start() to stop(). */
  GstCclDelivery *delivery;
  GThread *thread;

  GMutex lock;
  GCond cond;

  /* Under lock. */
  struct __jsCtx *context;      /* NULL: there is none to hand messages to */
  guint n_publishing;           /* calls that use it */
  GstCclNatsInFlight in_flight[GST_CCL_NATS_MAX_IN_FLIGHT];
  gboolean is_connected;        /* in the eyes of the core */
  gboolean is_outage;           /* an outage was reported while it is */
  gboolean is_full;             /* `failure` is that a stream is */
  gboolean is_waiting;          /* send() has said "later" */
  gboolean is_stopping;
  gboolean has_delivered;       /* since the last pause */
  GstCclNatsFailure failure;    /* for `reason`: send() takes no message */
  gchar reason[GST_CCL_DELIVERY_REASON_SIZE];
} GstCclNatsConnection;

/* The functions get a GstCclNatsConnection. */
extern const GstCclDeliveryTransport gst_ccl_nats_transport;

void gst_ccl_nats_connection_init (GstCclNatsConnection * connection, GstObject * owner);
void gst_ccl_nats_connection_clear (GstCclNatsConnection * connection);

/* Reads the settings. FALSE: `error` says why, and `hint` (static or NULL) what to do. close() takes them back. */
gboolean gst_ccl_nats_connection_open (GstCclNatsConnection * connection, const GstCclNatsSettings * settings,
    GError ** error, const gchar ** hint);
void gst_ccl_nats_connection_close (GstCclNatsConnection * connection);

G_END_DECLS

#endif
