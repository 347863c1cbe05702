/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A producer of Kafka, as a transport of the delivery core. A thread of its own makes the producer and takes its reports.
 *
 * librdkafka's producer is idempotent: it repeats a request without a limit of time, and a broker stores a message once. The
 * source is the key, so that the messages of a source are in one partition, in order. The producer keeps what it has over an
 * outage. If a broker refuses a message, librdkafka ends the producer before it sends later ones (its gap-less guarantee). The
 * thread then makes a new one, which sends again what was not acknowledged.
 */
#ifndef __GST_CCL_KAFKA_CONNECTION_H__
#define __GST_CCL_KAFKA_CONNECTION_H__

#include <gst/gst.h>

#include "delivery/gstccldelivery.h"
#include "delivery/gstcclserverlist.h"

G_BEGIN_DECLS

/* Messages that librdkafka has at most. */
#define GST_CCL_KAFKA_MAX_IN_FLIGHT 1000

/* For open(). Strings may be NULL. */
typedef struct
{
  const GstCclServerSettings *servers;
  const gchar *compression;     /* none, gzip, snappy, lz4 or zstd */
  const gchar *mechanism;       /* of SASL: PLAIN, SCRAM-SHA-256, ... */
  const gchar *config;          /* KEY=VALUE,... for librdkafka */
} GstCclKafkaSettings;

typedef struct
{
  GstObject *owner;             /* for log lines; set before open() */

  /* Fixed from open() to close(). */
  struct rd_kafka_conf_s *conf; /* each producer gets a copy */
  struct rd_kafka_s *first;     /* the first producer, until the thread takes it */
  gint64 max_pause;             /* microseconds */

  /* Fixed from start() to stop(). */
  GstCclDelivery *delivery;
  GThread *thread;

  /* Of the thread. */
  gboolean is_connected;
  gboolean has_delivered;       /* this producer has */
  gboolean is_outage;           /* an outage was reported while a broker answers */
  gboolean all_down;            /* librdkafka has lost its last broker */
  gint failure;                 /* the first error that this producer cannot repair, as rd_kafka_resp_err_t; 0: none */
  gint outage;                  /* the kind of the last error of a broker */
  gchar reason[256];            /* of it */

  GMutex lock;
  GCond cond;

  /* Under lock. */
  struct rd_kafka_s *producer;  /* NULL: there is none to hand messages to */
  GQueue messages;              /* of GstCclKafkaMessage, in the order of their ids: without a report */
  GList *unsent;                /* the first that librdkafka does not have; NULL: it has all */
  GQueue refused;               /* by librdkafka, and not reported yet */
  guint n_produced;             /* librdkafka has them */
  guint n_alone;                /* this many messages are sent one at a time, to find the one that is refused */
  gboolean is_waiting;          /* send() has said "later" */
  gint send_failure;            /* as `failure`, found by send() */
  gboolean is_stopping;
} GstCclKafkaConnection;

/* The functions get a GstCclKafkaConnection. */
extern const GstCclDeliveryTransport gst_ccl_kafka_transport;

void gst_ccl_kafka_connection_init (GstCclKafkaConnection * connection, GstObject * owner);
void gst_ccl_kafka_connection_clear (GstCclKafkaConnection * connection);

/* Reads the settings. FALSE: `error` says why, and `hint` (static or NULL) what to do. close() takes them back. */
gboolean gst_ccl_kafka_connection_open (GstCclKafkaConnection * connection, const GstCclKafkaSettings * settings,
    GError ** error, const gchar ** hint);
void gst_ccl_kafka_connection_close (GstCclKafkaConnection * connection);

/* The configuration for librdkafka, without calls. NULL: `error` says why. */
struct rd_kafka_conf_s *gst_ccl_kafka_configure (const GstCclKafkaSettings * settings, GError ** error, const gchar ** hint);

G_END_DECLS

#endif
