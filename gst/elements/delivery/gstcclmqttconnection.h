/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A connection to an MQTT broker, kept up by a thread of its own, and the bounded queue of messages before it.
 *
 * The broker may be late, go away and come back: messages wait in the queue, and the thread tries again after growing
 * pauses. Any thread may call; `lock` guards what the comments say, and `cond` tells of every change. `lock` is never held
 * while libmosquitto is called, because that calls back with locks of its own.
 *
 *     gst_ccl_mqtt_connection_open (connection, &settings, &error, &hint);
 *     gst_ccl_mqtt_connection_start (connection);
 *     gst_ccl_mqtt_connection_push (connection, message, overflow, size);     with `lock`
 *     gst_ccl_mqtt_connection_pump (connection);
 *     left = gst_ccl_mqtt_connection_close (connection);
 */
#ifndef __GST_CCL_MQTT_CONNECTION_H__
#define __GST_CCL_MQTT_CONNECTION_H__

#include <gst/gst.h>

#include "base/gstcclminavgmax.h"
#include "delivery/gstcclmqttaddress.h"

G_BEGIN_DECLS

/* Messages handed to libmosquitto and not yet acknowledged. The others wait here, where they are counted and bounded. */
#define GST_CCL_MQTT_MAX_IN_FLIGHT 20

typedef enum
{
  GST_CCL_OVERFLOW_DROP_OLDEST,
  GST_CCL_OVERFLOW_DROP_NEWEST,
  GST_CCL_OVERFLOW_BLOCK,
} GstCclOverflow;

#define GST_TYPE_CCL_MQTT_OVERFLOW (gst_ccl_mqtt_overflow_get_type ())
GType gst_ccl_mqtt_overflow_get_type (void);

typedef struct
{
  gchar *topic;
  GBytes *payload;
  GstClockTime arrived;
} GstCclMessage;

/* What open() reads. Strings may be NULL. */
typedef struct
{
  gchar *uri, *client_id, *username, *password_env;
  gchar *ca_file, *cert_file, *key_file;
  gchar *will_topic, *will_message;
  gboolean verify;
  guint keep_alive;             /* seconds */
  guint64 max_pause;            /* between attempts to connect, ns */
} GstCclMqttSettings;

typedef struct
{
  guint64 published;            /* acknowledged by the broker, as far as the QoS level asks for that */
  guint64 dropped;
  guint64 bytes;
  guint64 connects;
  guint64 failures;             /* failed attempts and broken connections */
  GstCclMinAvgMax latency;      /* from arrival until the broker has the message */
} GstCclMqttStats;

typedef struct _GstCclMqttConnection GstCclMqttConnection;

struct mosquitto;

struct _GstCclMqttConnection
{
  /* Set by the owner before open(). Called from the connection's thread, without `lock`. */
  GstObject *owner;             /* for log lines */
  void (*connected) (GstObject * owner);
  void (*disconnected) (GstObject * owner, const gchar * reason);       /* once per outage and reason */

  /* Fixed from open() to close(). */
  GstCclMqttAddress address;
  struct mosquitto *client;
  GThread *thread;
  guint keep_alive;
  guint64 max_pause;

  GMutex lock;
  GCond cond;

  /* Under `lock`. */
  gint qos_level;
  gboolean retain;
  GQueue queue;                 /* of GstCclMessage */
  guint n_in_flight;
  GstClockTime arrived[GST_CCL_MQTT_MAX_IN_FLIGHT];     /* of those in flight: a ring, in the order of sending */
  guint first_arrived;
  gboolean is_pumping;          /* one thread at a time hands over messages, which keeps their order */
  gboolean is_connected, is_stopping;
  gboolean outage_reported;
  gboolean failed;              /* the owner has given up */
  GstCclMqttStats stats;
  gchar *last_error;
};

void gst_ccl_mqtt_connection_init (GstCclMqttConnection * connection, GstObject * owner);
void gst_ccl_mqtt_connection_clear (GstCclMqttConnection * connection);

/* Reads the settings. FALSE: `error` says why, and `hint` (static or NULL) what to do. */
gboolean gst_ccl_mqtt_connection_open (GstCclMqttConnection * connection, const GstCclMqttSettings * settings,
    GError ** error, const gchar ** hint);

/* Starts the thread, which connects. After open(). */
void gst_ccl_mqtt_connection_start (GstCclMqttConnection * connection);

/* Ends thread and connection; the messages that are left are dropped. Returns their number. */
guint gst_ccl_mqtt_connection_close (GstCclMqttConnection * connection);

/* For the messages to come; any time. */
void gst_ccl_mqtt_connection_set_delivery (GstCclMqttConnection * connection, gint qos_level, gboolean retain);

/* A copy of `size` bytes that arrives now. */
GstCclMessage *gst_ccl_message_new (gchar * topic, gconstpointer data, gsize size);
void gst_ccl_message_free (GstCclMessage * message);

/* Takes the message, or drops it or older ones if `size` wait. With `lock`. */
void gst_ccl_mqtt_connection_push (GstCclMqttConnection * connection, GstCclMessage * message, GstCclOverflow overflow,
    guint size);

/* Messages that wait or are in flight. With `lock`. */
guint gst_ccl_mqtt_connection_n_waiting (GstCclMqttConnection * connection);

/* Hands messages to the broker while it may have more. After push(), without `lock`. */
void gst_ccl_mqtt_connection_pump (GstCclMqttConnection * connection);

/* The owner gives up: nothing waits for space any more. Also wakes all who wait. */
void gst_ccl_mqtt_connection_fail (GstCclMqttConnection * connection);
void gst_ccl_mqtt_connection_wake (GstCclMqttConnection * connection);

/* Inside: the TLS, login and will of a new client. */
gboolean gst_ccl_mqtt_configure (struct mosquitto *client, const GstCclMqttSettings * settings, gboolean tls, gint qos_level,
    GError ** error, const gchar ** hint);

G_END_DECLS

#endif
