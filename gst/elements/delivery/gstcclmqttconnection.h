/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A connection to an MQTT broker: a transport of the delivery core, with a thread of its own. The thread connects, and tries
 * again after increasing pauses. Each connection has a new client of libmosquitto, so that the core alone decides what is
 * sent again. The exception is a session of MQTT 5 with QoS 2: while the broker has it, the client stays, and itself sends again
 * what the broker has not completed, before anything else. So the broker can recognise repetitions.
 * `lock` is never locked during calls of libmosquitto, because its callbacks run with locks of its own.
 */
#ifndef __GST_CCL_MQTT_CONNECTION_H__
#define __GST_CCL_MQTT_CONNECTION_H__

#include <gst/gst.h>

#include "delivery/gstccldelivery.h"
#include "delivery/gstcclmqttaddress.h"

G_BEGIN_DECLS

typedef enum
{
  GST_CCL_MQTT_AUTO,            /* 5, or 3.1.1 where the broker does not know 5 */
  GST_CCL_MQTT_5,
  GST_CCL_MQTT_3_1_1,
} GstCclMqttVersion;

/* The settings for open(). Strings may be NULL. */
typedef struct
{
  gchar *uri, *client_id, *username, *password_env;
  gchar *ca_file, *cert_file, *key_file;
  gchar *will_topic, *will_message;
  gboolean verify;
  gchar *user_properties;       /* KEY=VALUE,... */
  gint version;                 /* GstCclMqttVersion */
  guint message_expiry;         /* seconds, 0: none */
  guint session_expiry;         /* seconds, 0: no session */
  gboolean has_session_expiry;  /* a user has set it */
  guint keep_alive;             /* seconds */
  guint64 max_pause;            /* between attempts to connect, ns */
} GstCclMqttSettings;

/* The strings of `to` must not be set. */
void gst_ccl_mqtt_settings_copy (GstCclMqttSettings * to, const GstCclMqttSettings * from);
void gst_ccl_mqtt_settings_clear (GstCclMqttSettings * settings);

typedef struct _GstCclMqttConnection GstCclMqttConnection;

struct mosquitto;

struct _GstCclMqttConnection
{
  GstObject *owner;             /* for log lines */

  /* Fixed from open() to stop(). */
  const GstCclMqttSettings *settings;
  GstCclMqttAddress address;
  GstCclDelivery *delivery;
  GThread *thread;

  /* Of the thread. send() uses the client and the version while the core is connected. */
  struct mosquitto *client;
  gint version;                 /* of the protocol, as libmosquitto names it */
  gboolean knows_5, is_older;   /* the broker has accepted version 5, or has said that it does not know it */
  guint n_closed;               /* connections that the broker closed instead */
  gboolean is_reached;          /* somebody listens at the address */
  gboolean is_accepted;         /* the broker has just let it in */
  gint refusal;                 /* the broker's code if not; 0: none */
  const gchar *local;           /* static: the wildcard address of the family by which it last did; NULL: never */
  gint64 connected_at;          /* time */
  gboolean has_warned;          /* of settings without an effect */

  /* The session; of the thread too. send() reads `resumes` while the core is connected. */
  gchar *session_id;            /* the client's name in it; NULL: no session. Fixed from open() */
  gboolean resumes;             /* the broker has the session of `client` */
  gboolean begins_again;        /* the broker has lost it, or has another: both sides forget theirs */
  guint n_begun_again, n_silent;        /* in a row; connections of the session without an answer */

  GMutex lock;
  GCond cond;

  /* Under `lock`. */
  gint qos_level;
  gboolean retain, is_stopping;
  gboolean has_answered;        /* the broker has answered to a message on this connection */
  GArray *pending;              /* messages that libmosquitto numbered and the broker has not answered */
  GArray *early;                /* answers that came before send() knew the number */
  gint64 resume_at, full_pause; /* the broker is full: when to try again, and the pause before; 0: it is not */
};

/* Messages in flight. */
#define GST_CCL_MQTT_MAX_IN_FLIGHT 20

/* The maximum size of a packet in MQTT, in bytes. */
#define GST_CCL_MQTT_MAX_PAYLOAD 268435455

void gst_ccl_mqtt_connection_init (GstCclMqttConnection * connection, GstObject * owner);
void gst_ccl_mqtt_connection_clear (GstCclMqttConnection * connection);

/* Checks the settings, which must stay valid until stop(). FALSE: `error` says why, and `hint` (static or NULL) what to do. */
gboolean gst_ccl_mqtt_connection_open (GstCclMqttConnection * connection, const GstCclMqttSettings * settings,
    GError ** error, const gchar ** hint);

/* The functions of a transport. start() after open(). */
void gst_ccl_mqtt_connection_start (GstCclMqttConnection * connection, GstCclDelivery * delivery);
void gst_ccl_mqtt_connection_stop (GstCclMqttConnection * connection);
GstCclSendResult gst_ccl_mqtt_connection_send (GstCclMqttConnection * connection, const GstCclDeliveryMessage * message,
    gchar * reason);

/* Sets QoS level and retain of the messages that are sent from now on. */
void gst_ccl_mqtt_connection_set_delivery (GstCclMqttConnection * connection, gint qos_level, gboolean retain);

/* Inside: the client of libmosquitto, and its session with the broker (gstcclmqttclient.c). create() has no side effect. */
void gst_ccl_mqtt_client_set_up_session (GstCclMqttConnection * connection);
struct mosquitto *gst_ccl_mqtt_client_create (GstCclMqttConnection * connection, GError ** error, const gchar ** hint);

/* Inside: a client for the next connection: the same as long as the broker may have its session. FALSE: there is none, as is
 * reported. */
gboolean gst_ccl_mqtt_client_renew (GstCclMqttConnection * connection);

/* Inside: a warning about settings for which the version of the connection is too old, once. */
void gst_ccl_mqtt_client_warn_of_version (GstCclMqttConnection * connection);

/* Inside: says goodbye to the broker, which ends the session. */
void gst_ccl_mqtt_client_disconnect (GstCclMqttConnection * connection);

/* Inside, after the end of a connection: whether to connect at once, with another client. */
gboolean gst_ccl_mqtt_client_begins_again (GstCclMqttConnection * connection);

/* Inside: the session cannot be trusted, because the broker's port is closed. */
void gst_ccl_mqtt_client_give_up_session (GstCclMqttConnection * connection);

/* Inside, after the end of a connection: gives up the session after too many connections without an answer. */
void gst_ccl_mqtt_client_check_session (GstCclMqttConnection * connection, gboolean was_connected);

/* Inside: the broker's answer to a message. */
void gst_ccl_mqtt_connection_take_answer (GstCclMqttConnection * connection, gint number, gint code);

/* Inside: the properties of a message in MQTT 5, or NULL. `with_line`: also what its line says about itself.
 * mosquitto_property_free_all() */
struct mqtt5__property *gst_ccl_mqtt_message_properties (const GstCclMqttSettings * settings,
    const GstCclDeliveryMessage * message, gboolean with_line);

/* Inside: whether KEY=VALUE,... has a key in each part, and is UTF-8. */
gboolean gst_ccl_mqtt_check_user_properties (const gchar * text);

/* Inside: the TLS, login and will of a new client. */
gboolean gst_ccl_mqtt_configure (struct mosquitto *client, const GstCclMqttSettings * settings, gboolean tls, gint qos_level,
    GError ** error, const gchar ** hint);

G_END_DECLS

#endif
