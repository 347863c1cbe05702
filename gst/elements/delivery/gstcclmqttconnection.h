/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A connection to an MQTT broker. A thread of its own maintains it and sends the messages of a queue.
 *
 * The broker may be slow, or not reachable for a time. Messages then wait in the queue, and the thread tries again after
 * increasing pauses. Any thread may call these functions. `lock` guards the members marked below, and `cond` signals every
 * change. `lock` is never locked during calls of libmosquitto, because its callbacks run with locks of its own.
 *
 *     gst_ccl_mqtt_connection_open (connection, &settings, &error, &hint);
 *     gst_ccl_mqtt_connection_start (connection);
 *     gst_ccl_mqtt_connection_push (connection, message, overflow, size);     with `lock`
 *     gst_ccl_mqtt_connection_send_queued (connection);
 *     left = gst_ccl_mqtt_connection_close (connection);
 */
#ifndef __GST_CCL_MQTT_CONNECTION_H__
#define __GST_CCL_MQTT_CONNECTION_H__

#include <gst/gst.h>

#include "delivery/gstcclmessagequeue.h"
#include "delivery/gstcclmqttaddress.h"

G_BEGIN_DECLS

/* The settings for open(). Strings may be NULL. */
typedef struct
{
  gchar *uri, *client_id, *username, *password_env;
  gchar *ca_file, *cert_file, *key_file;
  gchar *will_topic, *will_message;
  gboolean verify;
  guint keep_alive;             /* seconds */
  guint64 max_pause;            /* between attempts to connect, ns */
} GstCclMqttSettings;

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

  gboolean is_accepted;         /* of the connection's thread: the broker has just let it in */

  GMutex lock;
  GCond cond;

  /* Under `lock`. */
  gint qos_level;
  gboolean retain;
  GstCclMessageQueue queue;
  gboolean is_sending;          /* one thread at a time hands over messages, which keeps their order */
  gboolean is_connected, is_stopping;
  gboolean outage_reported;
  gboolean failed;              /* the owner has given up */
  guint64 n_connects;
  guint64 n_failures;           /* failed attempts and broken connections */
  gchar *last_error;
};

void gst_ccl_mqtt_connection_init (GstCclMqttConnection * connection, GstObject * owner);
void gst_ccl_mqtt_connection_clear (GstCclMqttConnection * connection);

/* Reads the settings. FALSE: `error` says why, and `hint` (static or NULL) what to do. */
gboolean gst_ccl_mqtt_connection_open (GstCclMqttConnection * connection, const GstCclMqttSettings * settings,
    GError ** error, const gchar ** hint);

/* Starts the thread, which connects. After open(). */
void gst_ccl_mqtt_connection_start (GstCclMqttConnection * connection);

/* Ends thread and connection, and drops the remaining messages. Returns their number. */
guint gst_ccl_mqtt_connection_close (GstCclMqttConnection * connection);

/* Sets QoS level and retain of the messages that are sent from now on. */
void gst_ccl_mqtt_connection_set_delivery (GstCclMqttConnection * connection, gint qos_level, gboolean retain);

/* Pushes into the queue, and logs the first message that is dropped. With `lock`. */
void gst_ccl_mqtt_connection_push (GstCclMqttConnection * connection, GstCclMessage * message, GstCclOverflow overflow,
    guint size);

/* Hands messages to the broker while it may have more. After push(), without `lock`. */
void gst_ccl_mqtt_connection_send_queued (GstCclMqttConnection * connection);

/* fail(): the owner gives up, so no thread waits for space any longer. Both wake all waiting threads. */
void gst_ccl_mqtt_connection_fail (GstCclMqttConnection * connection);
void gst_ccl_mqtt_connection_wake (GstCclMqttConnection * connection);

/* Inside: the TLS, login and will of a new client. */
gboolean gst_ccl_mqtt_configure (struct mosquitto *client, const GstCclMqttSettings * settings, gboolean tls, gint qos_level,
    GError ** error, const gchar ** hint);

G_END_DECLS

#endif
