/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-cclmqttsink
 * @title: cclmqttsink
 * @short_description: publishes lines of JSON (or any text) over MQTT
 *
 * Each buffer becomes one message. The broker may be late, go away and come back: messages wait in a bounded queue,
 * the connection is tried again with growing pauses, and the pipeline goes on all the while. What a full queue does
 * is #cclmqttsink:overflow; how it all went is #cclmqttsink:stats.
 *
 * With overflow=block and no broker the end of the stream waits behind the messages, for ever if need be:
 * `gst-launch-1.0 -e` then takes a second Ctrl-C, and a program sets another #cclmqttsink:overflow, or the pipeline to
 * NULL.
 *
 * ## Blobs to a broker on this machine
 * |[
 * gst-launch-1.0 videotestsrc pattern=ball is-live=true ! video/x-raw,format=GRAY8 ! ccllabel threshold=100 !
 *     cclmeta2json source-id=cam1 ! cclmqttsink uri=mqtt://localhost topic=cams/{source-id}/blobs
 * ]|
 * ## With TLS and a password, which is taken from the environment
 * |[
 * MQTT_PASSWORD=... gst-launch-1.0 ... ! cclmqttsink uri=mqtts://broker.example.org topic=blobs username=cam1
 *     password-env=MQTT_PASSWORD
 * ]|
 */

#include "gstcclmqttsink.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

#include <json-glib/json-glib.h>
#include <mosquitto.h>

#include "base/gstcclminavgmax.h"

GST_DEBUG_CATEGORY_STATIC (gst_ccl_mqtt_sink_debug);
#define GST_CAT_DEFAULT gst_ccl_mqtt_sink_debug

#define DEFAULT_TOPIC "ccl/blobs"
#define SOURCE_PLACEHOLDER "{source-id}"
#define SYSTEM_CA_PATH "/etc/ssl/certs"
#define FIRST_PAUSE (500 * G_TIME_SPAN_MILLISECOND)
#define LOOP_TIMEOUT_MS 100
#define CONNECT_TIME (5 * G_TIME_SPAN_SECOND)
#define GOODBYE_TIME G_TIME_SPAN_SECOND
#define FOREVER (-1)

/* Messages handed to libmosquitto and not yet acknowledged; the rest waits here, where it is counted and bounded. */
#define MAX_IN_FLIGHT 20

typedef enum
{
  OVERFLOW_DROP_OLDEST,
  OVERFLOW_DROP_NEWEST,
  OVERFLOW_BLOCK,
} Overflow;

typedef struct
{
  gchar *topic;
  GBytes *payload;
  GstClockTime arrived;
} Message;

typedef struct
{
  guint64 frames;               /* buffers that came, of one message each */
  guint64 published;            /* given to the broker, acknowledged as far as the QoS level goes */
  guint64 dropped;              /* never will be */
  guint64 bytes;
  guint64 connects;
  guint64 failures;             /* attempts that failed, connections that broke */
  GstCclMinAvgMax host;            /* time in render() */
  GstCclMinAvgMax latency;         /* from render() until the broker has it */
} Stats;

struct _GstCclMqttSink
{
  GstBaseSink parent;

  /* Properties; object lock. */
  gchar *uri, *topic, *client_id, *username, *password_env;
  gchar *ca_file, *cert_file, *key_file;
  gchar *will_topic, *will_message;
  gint qos_level, overflow;
  gboolean retain, verify, fail_on_disconnect;
  guint queue_size, keep_alive;
  guint64 max_pause, drain_timeout;     /* ns */

  /* Fixed from start to stop. */
  struct mosquitto *client;
  gchar *host;
  gint port;
  gboolean tls;
  GThread *thread;

  /* Under `lock`. Never held while libmosquitto is called: it calls back with locks of its own. */
  GMutex lock;
  GCond cond;                   /* any of these changed */
  GQueue queue;                 /* of Message */
  guint in_flight;
  GstClockTime arrived[MAX_IN_FLIGHT];  /* of those in flight: a ring, acknowledged in the order they were sent */
  guint first_arrived;
  gboolean pumping;             /* a thread is handing over messages; keeps their order */
  gboolean connected, stopping;
  gboolean outage_told;         /* this outage has been reported */
  gboolean failed;              /* as an error, with which the stream ends */
  Stats stats;
  gchar *last_error;
};

enum
{
  PROP_0,
  PROP_URI,
  PROP_TOPIC,
  PROP_QOS_LEVEL,
  PROP_RETAIN,
  PROP_CLIENT_ID,
  PROP_USERNAME,
  PROP_PASSWORD_ENV,
  PROP_CA_FILE,
  PROP_CERT_FILE,
  PROP_KEY_FILE,
  PROP_VERIFY,
  PROP_WILL_TOPIC,
  PROP_WILL_MESSAGE,
  PROP_QUEUE_SIZE,
  PROP_OVERFLOW,
  PROP_KEEP_ALIVE,
  PROP_MAX_RECONNECT_DELAY,
  PROP_DRAIN_TIMEOUT,
  PROP_FAIL_ON_DISCONNECT,
  PROP_STATS,
};

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
    GST_STATIC_CAPS ("application/x-json; text/x-raw"));

#define gst_ccl_mqtt_sink_parent_class parent_class
G_DEFINE_FINAL_TYPE_WITH_CODE (GstCclMqttSink, gst_ccl_mqtt_sink, GST_TYPE_BASE_SINK,
    GST_DEBUG_CATEGORY_INIT (gst_ccl_mqtt_sink_debug, "cclmqttsink", 0, "MQTT publisher"));
GST_ELEMENT_REGISTER_DEFINE (cclmqttsink, "cclmqttsink", GST_RANK_NONE, GST_TYPE_CCL_MQTT_SINK);

#define GST_TYPE_CCL_MQTT_OVERFLOW (gst_ccl_mqtt_overflow_get_type ())
static GType
gst_ccl_mqtt_overflow_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    {OVERFLOW_DROP_OLDEST, "Drop the message that has waited longest", "drop-oldest"},
    {OVERFLOW_DROP_NEWEST, "Drop the message that comes", "drop-newest"},
    {OVERFLOW_BLOCK, "Make the pipeline wait for room: nothing is dropped, live sources stall", "block"},
    {0, NULL, NULL}
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstCclMqttOverflow", values));
  return type;
}

/* ---------------------------------------------------------------- messages */

static void
message_free (Message * message)
{
  g_free (message->topic);
  g_bytes_unref (message->payload);
  g_free (message);
}

/* The "source" of a line of ours, fit to be one level of a topic. */
static gchar *
source_of (const gchar * text, gsize size)
{
  JsonParser *parser = json_parser_new_immutable ();
  gchar *source = NULL;

  if (json_parser_load_from_data (parser, text, (gssize) size, NULL)) {
    JsonNode *root = json_parser_get_root (parser);
    if (root && JSON_NODE_HOLDS_OBJECT (root)) {
      JsonNode *node = json_object_get_member (json_node_get_object (root), "source");
      if (node && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING)
        source = json_node_dup_string (node);
    }
  }
  g_object_unref (parser);
  if (!source || !*source) {
    g_free (source);
    return g_strdup ("unknown");
  }
  return g_strdelimit (source, "/+#", '_');
}

static gchar *
topic_for (const gchar * pattern, const gchar * text, gsize size)
{
  gchar **parts, *source, *topic;

  if (!strstr (pattern, SOURCE_PLACEHOLDER))
    return g_strdup (pattern);
  source = source_of (text, size);
  parts = g_strsplit (pattern, SOURCE_PLACEHOLDER, -1);
  topic = g_strjoinv (source, parts);
  g_strfreev (parts);
  g_free (source);
  return topic;
}

/* A copy of a buffer as a message, without the line's end. */
static Message *
message_new (GstCclMqttSink * self, GstBuffer * buffer)
{
  Message *message;
  GstMapInfo map;
  gsize size;

  if (!gst_buffer_map (buffer, &map, GST_MAP_READ))
    return NULL;
  size = map.size;
  while (size && (map.data[size - 1] == '\n' || map.data[size - 1] == '\r'))
    size--;
  message = g_new (Message, 1);
  message->arrived = gst_util_get_timestamp ();
  GST_OBJECT_LOCK (self);
  message->topic = topic_for (self->topic, (const gchar *) map.data, size);
  GST_OBJECT_UNLOCK (self);
  message->payload = g_bytes_new (map.data, size);
  gst_buffer_unmap (buffer, &map);
  return message;
}

/* The newest of those in flight is not, after all; on_disconnect() may have counted it among the dropped. Under
 * `lock`. */
static void
take_back (GstCclMqttSink * self)
{
  if (self->in_flight > 0)
    self->in_flight--;
  else
    self->stats.dropped--;
}

/* Hands waiting messages to libmosquitto while it may have more. Whoever changes a condition it waits for calls it; a
 * second caller leaves it to the first, who looks again after each message. */
static void
pump (GstCclMqttSink * self)
{
  g_mutex_lock (&self->lock);
  if (self->pumping) {
    g_mutex_unlock (&self->lock);
    return;
  }
  self->pumping = TRUE;
  while (self->connected && !self->stopping && self->in_flight < MAX_IN_FLIGHT && !g_queue_is_empty (&self->queue)) {
    Message *const message = g_queue_pop_head (&self->queue);
    const gsize size = g_bytes_get_size (message->payload);
    gboolean lost;
    gint result;

    self->arrived[(self->first_arrived + self->in_flight++) % MAX_IN_FLIGHT] = message->arrived;
    g_mutex_unlock (&self->lock);
    result = mosquitto_publish (self->client, NULL, message->topic, (int) size,
        g_bytes_get_data (message->payload, NULL), self->qos_level, self->retain);
    g_mutex_lock (&self->lock);

    /* When the connection has just been lost, libmosquitto has nothing of a message with QoS 0. From level 1 on it
     * keeps it, and sends it with the next connection. */
    lost = result == MOSQ_ERR_NO_CONN || result == MOSQ_ERR_CONN_LOST;
    if (lost && self->qos_level == 0) {
      take_back (self);
      g_queue_push_head (&self->queue, message);
      break;
    }
    if (lost || result == MOSQ_ERR_SUCCESS) {
      self->stats.bytes += size;
    } else {
      take_back (self);
      self->stats.dropped++;
      GST_WARNING_OBJECT (self, "message for topic \"%s\" dropped: %s", message->topic, mosquitto_strerror (result));
    }
    message_free (message);
  }
  self->pumping = FALSE;
  g_cond_broadcast (&self->cond);
  g_mutex_unlock (&self->lock);
}

/* ---------------------------------------------------------------- connection */

static void
post_state (GstCclMqttSink * self, const gchar * state, const gchar * reason)
{
  GstStructure *structure = gst_structure_new ("ccl-mqtt", "state", G_TYPE_STRING, state,
      "host", G_TYPE_STRING, self->host, "port", G_TYPE_INT, self->port, NULL);

  if (reason)
    gst_structure_set (structure, "reason", G_TYPE_STRING, reason, NULL);
  gst_element_post_message (GST_ELEMENT (self), gst_message_new_element (GST_OBJECT (self), structure));
}

/* Ends the stream, after the error that says why: what comes first is what users see. */
static void
fail_stream (GstCclMqttSink * self)
{
  g_mutex_lock (&self->lock);
  self->failed = TRUE;
  g_cond_broadcast (&self->cond);
  g_mutex_unlock (&self->lock);
}

/* Tells of an outage, once however often the attempts fail. */
static void
report_outage (GstCclMqttSink * self, const gchar * reason)
{
  /* libmosquitto's reasons end with a full stop, those of the system do not. */
  const gint length = (gint) strlen (reason) - g_str_has_suffix (reason, ".");
  gboolean told, fail;

  GST_OBJECT_LOCK (self);
  fail = self->fail_on_disconnect;
  GST_OBJECT_UNLOCK (self);

  g_mutex_lock (&self->lock);
  self->stats.failures++;
  told = self->outage_told && !g_strcmp0 (self->last_error, reason);
  self->outage_told = TRUE;
  if (!told) {
    g_free (self->last_error);
    self->last_error = g_strdup (reason);
  }
  g_mutex_unlock (&self->lock);

  GST_DEBUG_OBJECT (self, "%s:%d: %s", self->host, self->port, reason);
  if (told)
    return;
  post_state (self, "disconnected", reason);
  if (fail) {
    GST_ELEMENT_ERROR (self, RESOURCE, OPEN_WRITE, ("No connection to the MQTT broker %s:%d: %.*s.", self->host,
            self->port, length, reason), ("fail-on-disconnect is set."));
    fail_stream (self);
  } else {
    GST_ELEMENT_WARNING (self, RESOURCE, OPEN_WRITE, ("No connection to the MQTT broker %s:%d: %.*s. Messages wait; "
            "trying again.", self->host, self->port, length, reason), ("%s", self->tls ?
            "With mqtts:// the broker has to speak TLS at this port, with a certificate for this host name from an "
            "authority in ca-file, or from one the system trusts." :
            "uri says where the broker is; fail-on-disconnect=true ends the pipeline instead."));
  }
}

static void
on_connect (struct mosquitto *client, void *user_data, int code)
{
  GstCclMqttSink *const self = user_data;

  if (code) {
    report_outage (self, mosquitto_connack_string (code));
    return;
  }
  g_mutex_lock (&self->lock);
  self->connected = TRUE;
  self->outage_told = FALSE;
  self->stats.connects++;
  g_cond_broadcast (&self->cond);
  g_mutex_unlock (&self->lock);
  GST_INFO_OBJECT (self, "connected to %s:%d", self->host, self->port);
  post_state (self, "connected", NULL);
  pump (self);
}

static void
on_disconnect (struct mosquitto *client, void *user_data, int code)
{
  GstCclMqttSink *const self = user_data;
  gboolean was_connected;

  g_mutex_lock (&self->lock);
  was_connected = self->connected;
  self->connected = FALSE;
  /* What was being sent with QoS 0 is gone; from level 1 on libmosquitto keeps it and sends it again. */
  if (self->qos_level == 0) {
    self->stats.dropped += self->in_flight;
    self->in_flight = 0;
  }
  g_cond_broadcast (&self->cond);
  g_mutex_unlock (&self->lock);
  if (was_connected && code)
    report_outage (self, "the connection was lost");
}

static void
on_publish (struct mosquitto *client, void *user_data, int message_id)
{
  GstCclMqttSink *const self = user_data;

  g_mutex_lock (&self->lock);
  if (self->in_flight > 0) {
    gst_ccl_min_avg_max_add (&self->stats.latency,
        (gst_util_get_timestamp () - self->arrived[self->first_arrived]) / (gdouble) GST_USECOND);
    self->first_arrived = (self->first_arrived + 1) % MAX_IN_FLIGHT;
    self->in_flight--;
  }
  self->stats.published++;
  g_cond_broadcast (&self->cond);
  g_mutex_unlock (&self->lock);
  pump (self);
}

/* Waits, unless the element stops. */
static gboolean
pause_for (GstCclMqttSink * self, gint64 microseconds)
{
  const gint64 end = g_get_monotonic_time () + microseconds;
  gboolean stopping;

  g_mutex_lock (&self->lock);
  while (!self->stopping && g_cond_wait_until (&self->cond, &self->lock, end));
  stopping = self->stopping;
  g_mutex_unlock (&self->lock);
  return !stopping;
}

static gboolean
is_stopping (GstCclMqttSink * self)
{
  gboolean stopping;

  g_mutex_lock (&self->lock);
  stopping = self->stopping;
  g_mutex_unlock (&self->lock);
  return stopping;
}

static const gchar *
reason_of (gint result, gint saved_errno)
{
  return result == MOSQ_ERR_ERRNO && saved_errno ? g_strerror (saved_errno) : mosquitto_strerror (result);
}

/* Sends what stop() has queued: that the connection ends, after all that is still on its way. The loop fails when that
 * is done. A broker that has not let us in is not waited for. */
static void
say_goodbye (GstCclMqttSink * self, gboolean connected)
{
  const gint64 end = g_get_monotonic_time () + (connected ? GOODBYE_TIME : LOOP_TIMEOUT_MS * G_TIME_SPAN_MILLISECOND);

  while (mosquitto_loop (self->client, LOOP_TIMEOUT_MS, 1) == MOSQ_ERR_SUCCESS && g_get_monotonic_time () < end);
}

/* Why a socket that can be written to has no connection, or 0 when it has one. */
static gint
failure_of (gint descriptor)
{
  struct sockaddr_storage peer;
  socklen_t size = sizeof peer, reason_size = sizeof (gint);
  gint reason = 0;

  if (getsockopt (descriptor, SOL_SOCKET, SO_ERROR, &reason, &reason_size))
    return errno;
  /* It is told once; with TLS libmosquitto may have been, if the host was quick. */
  return !reason && getpeername (descriptor, (struct sockaddr *) &peer, &size) ? ECONNREFUSED : reason;
}

/* Waits until the connection that is being made has come about, or the element stops. Returns 0, or the system's reason
 * why it has not. */
static gint
wait_for_connection (GstCclMqttSink * self)
{
  const gint64 end = g_get_monotonic_time () + CONNECT_TIME;
  struct pollfd descriptor = {.fd = mosquitto_socket (self->client),.events = POLLOUT };

  while (!is_stopping (self)) {
    if (poll (&descriptor, 1, LOOP_TIMEOUT_MS) > 0)
      return failure_of (descriptor.fd);
    if (g_get_monotonic_time () >= end)
      return ETIMEDOUT;
  }
  return 0;
}

/* Whether a connection has ended before TLS was agreed upon, with the reason in errno: libmosquitto takes it for one
 * that is not ready yet, and asks it again for ever. */
static gboolean
has_ended (GstCclMqttSink * self)
{
  const gint descriptor = mosquitto_socket (self->client);
  gchar byte;
  const gssize n = descriptor < 0 ? 1 : recv (descriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

  if (n == 0)                   /* also when libmosquitto has been given the reason */
    errno = ECONNRESET;
  return n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

/* One connection, from the attempt to its end or that of the element, from a local address. Returns what ended it, and
 * in saved_errno the system's reason. */
static gint
connect_once (GstCclMqttSink * self, const gchar * local, gboolean * was_connected, gint * saved_errno)
{
  gint result;

  errno = 0;
  result = mosquitto_connect_bind_async (self->client, self->host, self->port, (int) self->keep_alive, local);
  *saved_errno = errno;
  if (result == MOSQ_ERR_SUCCESS) {
    *saved_errno = wait_for_connection (self);
    if (*saved_errno)
      result = MOSQ_ERR_ERRNO;
  }
  while (result == MOSQ_ERR_SUCCESS && !is_stopping (self)) {
    errno = 0;
    if (self->tls && !*was_connected && has_ended (self))
      result = MOSQ_ERR_ERRNO;
    else
      result = mosquitto_loop (self->client, LOOP_TIMEOUT_MS, 1);
    *saved_errno = errno;
    g_mutex_lock (&self->lock);
    *was_connected |= self->connected;
    g_mutex_unlock (&self->lock);
  }
  if (result == MOSQ_ERR_KEEPALIVE && !*was_connected) {        /* mosquitto_strerror() does not know it */
    *saved_errno = ETIMEDOUT;
    result = MOSQ_ERR_ERRNO;
  }
  return result;
}

/* Where to connect from: any address of each family that the host has one of, in the order of those. Returns how many:
 * none where there is no such host. */
static guint
local_addresses (GstCclMqttSink * self, const gchar * local[2])
{
  const struct addrinfo hints = {.ai_family = AF_UNSPEC,.ai_socktype = SOCK_STREAM };
  struct addrinfo *addresses = NULL;
  guint n = 0;

  if (getaddrinfo (self->host, NULL, &hints, &addresses))
    return 0;
  for (const struct addrinfo * address = addresses; address; address = address->ai_next) {
    const gchar *const any = address->ai_family == AF_INET6 ? "::" : "0.0.0.0";
    if (n == 0 || (n == 1 && strcmp (any, local[0])))
      local[n++] = any;
  }
  freeaddrinfo (addresses);
  return n;
}

/* The same by IPv6 and by IPv4, if the host has both and is not reached by the first: libmosquitto tries the first
 * address of a host alone. With a local address it leaves out those of the other family; and without one it takes the
 * last one given. */
static gint
connect_either (GstCclMqttSink * self, gboolean * was_connected, gint * saved_errno)
{
  const gchar *local[2];
  const guint n = local_addresses (self, local);
  gint first, second, second_errno;

  if (n == 0)
    return MOSQ_ERR_EAI;
  if (is_stopping (self))       /* looking a name up may take long */
    return MOSQ_ERR_SUCCESS;
  first = connect_once (self, local[0], was_connected, saved_errno);
  if (n < 2 || first != MOSQ_ERR_ERRNO || *saved_errno == ECONNRESET || *was_connected || is_stopping (self))
    return first;
  second = connect_once (self, local[1], was_connected, &second_errno);
  if (second == MOSQ_ERR_ERRNO && second_errno != ECONNRESET && !*was_connected)
    return first;               /* the family that the host prefers says why */
  *saved_errno = second_errno;
  return second;
}

/* libmosquitto's own loop gives up for good on some errors (name not found, TLS); a camera should not. */
static gpointer
run_connection (gpointer data)
{
  GstCclMqttSink *const self = data;
  gint64 pause = FIRST_PAUSE;
  sigset_t broken_pipe;

  /* What TLS writes to a socket that is gone would end the process. */
  sigemptyset (&broken_pipe);
  sigaddset (&broken_pipe, SIGPIPE);
  pthread_sigmask (SIG_BLOCK, &broken_pipe, NULL);

  while (!is_stopping (self)) {
    gboolean was_connected = FALSE;
    gint saved_errno = 0;
    const gint result = connect_either (self, &was_connected, &saved_errno);

    if (result == MOSQ_ERR_SUCCESS) {
      say_goodbye (self, was_connected);
      break;
    }
    if (!was_connected && result != MOSQ_ERR_CONN_REFUSED && !is_stopping (self))
      report_outage (self, reason_of (result, saved_errno));
    if (was_connected)
      pause = FIRST_PAUSE;
    if (!pause_for (self, pause))
      break;
    pause = MIN (2 * pause, (gint64) (self->max_pause / 1000));
  }
  return NULL;
}

/* ---------------------------------------------------------------- start and stop */

static gboolean
parse_uri (GstCclMqttSink * self)
{
  gchar *scheme = NULL, *user = NULL, *host = NULL;
  GError *error = NULL;
  gint port = -1;
  gboolean ok = FALSE;

  if (self->uri)
    g_uri_split (self->uri, G_URI_FLAGS_NONE, &scheme, &user, &host, &port, NULL, NULL, NULL, &error);
  self->tls = scheme && !g_ascii_strcasecmp (scheme, "mqtts");
  if (user || (error && strchr (self->uri, '@'))) {     /* what is wrong is not said: it may be the password */
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS, ("The MQTT address holds a user name or password."),
        ("Others can read it there. Use username, and password-env for the name of an environment variable."));
  } else if (!scheme || (!self->tls && g_ascii_strcasecmp (scheme, "mqtt")) || !host || !*host) {
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS, ("\"%s\" is not an MQTT address%s%s.", self->uri ? self->uri : "",
            error ? ": " : "", error ? error->message : ""), ("uri is mqtt://HOST[:PORT], or mqtts:// for TLS."));
  } else if (port == 0) {
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS, ("There is no port 0."), ("Ports are numbers from 1 to 65535."));
  } else {
    self->host = g_strdup (host);
    self->port = port > 0 ? port : self->tls ? 8883 : 1883;
    ok = TRUE;
  }
  g_free (scheme);
  g_free (user);
  g_free (host);
  g_clear_error (&error);
  return ok;
}

static gboolean
file_is_readable (GstCclMqttSink * self, const gchar * property, const gchar * path)
{
  gchar *contents;
  GError *error = NULL;

  if (!path)
    return TRUE;
  if (g_file_get_contents (path, &contents, NULL, &error)) {
    g_free (contents);
    return TRUE;
  }
  GST_ELEMENT_ERROR (self, RESOURCE, NOT_FOUND, ("%s cannot be read: %s.", property, error->message), (NULL));
  g_error_free (error);
  return FALSE;
}

static gboolean
set_up_tls (GstCclMqttSink * self)
{
  gint result;

  if (!file_is_readable (self, "ca-file", self->ca_file) || !file_is_readable (self, "cert-file", self->cert_file) ||
      !file_is_readable (self, "key-file", self->key_file))
    return FALSE;
  result = mosquitto_tls_set (self->client, self->ca_file, self->ca_file ? NULL : SYSTEM_CA_PATH, self->cert_file,
      self->key_file, NULL);
  if (result == MOSQ_ERR_SUCCESS && !self->verify) {
    mosquitto_tls_opts_set (self->client, 0, NULL, NULL);
    result = mosquitto_tls_insecure_set (self->client, TRUE);
  }
  if (result == MOSQ_ERR_SUCCESS)
    return TRUE;
  GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS, ("TLS cannot be set up: %s", mosquitto_strerror (result)),
      ("cert-file and key-file go together."));
  return FALSE;
}

static gboolean
set_up_login (GstCclMqttSink * self)
{
  const gchar *password = NULL;

  if (self->password_env) {
    password = g_getenv (self->password_env);
    if (!password || !self->username) {
      GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS, (password ? "password-env without username."
              : "The environment variable %s, which password-env names, is not set.", self->password_env), (NULL));
      return FALSE;
    }
  }
  if (!self->username || mosquitto_username_pw_set (self->client, self->username, password) == MOSQ_ERR_SUCCESS)
    return TRUE;
  GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS, ("username cannot be sent to a broker."),
      ("It has to be UTF-8, of at most 65535 bytes."));
  return FALSE;
}

static gboolean
set_up_will (GstCclMqttSink * self)
{
  const gchar *const text = self->will_message ? self->will_message : "";

  if (!self->will_topic)
    return TRUE;
  if (mosquitto_will_set (self->client, self->will_topic, (int) strlen (text), text, self->qos_level, TRUE)
      == MOSQ_ERR_SUCCESS)
    return TRUE;
  GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS, ("\"%s\" is no topic for a will.", self->will_topic), (NULL));
  return FALSE;
}

/* Who asks for certificates wants a connection that nobody else reads. */
static void
warn_of_settings (GstCclMqttSink * self)
{
  const gchar *const unused = self->tls ? NULL : self->ca_file ? "ca-file" : self->cert_file ? "cert-file"
      : self->key_file ? "key-file" : NULL;

  if (unused)
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS, ("%s has no effect: the connection to %s is not encrypted.", unused,
            self->uri), ("mqtts://HOST[:PORT] is, at port 8883 when none is given."));
  if (self->will_message && !self->will_topic)
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS, ("will-message is never published: there is no will-topic."),
        (NULL));
}

static gboolean
topic_is_valid (GstCclMqttSink * self)
{
  gchar *example = topic_for (self->topic, "", 0);
  const gboolean valid = *example && mosquitto_pub_topic_check (example) == MOSQ_ERR_SUCCESS;

  g_free (example);
  if (!valid)
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS, ("\"%s\" is no topic to publish to.", self->topic),
        ("A topic is not empty and has no + or #; " SOURCE_PLACEHOLDER " stands for the source of each line."));
  return valid;
}

static void
close_client (GstCclMqttSink * self)
{
  g_clear_pointer (&self->client, mosquitto_destroy);
  g_clear_pointer (&self->host, g_free);
}

static gboolean
start (GstCclMqttSink * self)
{
  if (!parse_uri (self) || !topic_is_valid (self))
    goto failed;
  self->client = mosquitto_new (self->client_id && *self->client_id ? self->client_id : NULL, TRUE, self);
  if (!self->client) {
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS, ("No MQTT client with the id \"%s\".", self->client_id), (NULL));
    goto failed;
  }
  mosquitto_threaded_set (self->client, TRUE);
  mosquitto_connect_callback_set (self->client, on_connect);
  mosquitto_disconnect_callback_set (self->client, on_disconnect);
  mosquitto_publish_callback_set (self->client, on_publish);
  mosquitto_max_inflight_messages_set (self->client, MAX_IN_FLIGHT);
  if ((self->tls && !set_up_tls (self)) || !set_up_login (self) || !set_up_will (self))
    goto failed;
  warn_of_settings (self);

  self->connected = self->stopping = self->outage_told = self->failed = FALSE;
  self->in_flight = 0;
  memset (&self->stats, 0, sizeof self->stats);
  g_clear_pointer (&self->last_error, g_free);
  self->thread = g_thread_new ("cclmqttsink", run_connection, self);
  return TRUE;

failed:
  close_client (self);
  return FALSE;
}

static guint
waiting_messages (GstCclMqttSink * self)
{
  return g_queue_get_length (&self->queue) + self->in_flight;
}

/* Waits until something under `lock` has changed, or a pause or a flush begins. Under the base class's preroll lock and
 * `lock`, and gives up both meanwhile: no change of state goes on without the former. FALSE: it is past `end`. */
static gboolean
wait_for_change (GstCclMqttSink * self, gint64 end)
{
  gboolean in_time = TRUE;

  GST_BASE_SINK_PREROLL_UNLOCK (self);
  if (end == FOREVER)
    g_cond_wait (&self->cond, &self->lock);
  else
    in_time = g_cond_wait_until (&self->cond, &self->lock, end);
  g_mutex_unlock (&self->lock);
  GST_BASE_SINK_PREROLL_LOCK (self);
  g_mutex_lock (&self->lock);
  return in_time;
}

/* Until all is delivered, the time is up, or the element is flushed. Returns what is left. Under the preroll lock. */
static guint
drain (GstCclMqttSink * self)
{
  const gint64 end = g_get_monotonic_time () + (gint64) (self->drain_timeout / 1000);
  guint left;

  g_mutex_lock (&self->lock);
  while (waiting_messages (self) && !GST_BASE_SINK (self)->flushing && wait_for_change (self, end));
  left = waiting_messages (self);
  g_mutex_unlock (&self->lock);
  return left;
}

static void
stop (GstCclMqttSink * self)
{
  guint left;

  g_mutex_lock (&self->lock);
  self->stopping = TRUE;
  g_cond_broadcast (&self->cond);
  g_mutex_unlock (&self->lock);
  /* A clean goodbye, so that the broker does not publish the will. This queues it, and wakes the thread. */
  mosquitto_disconnect (self->client);
  g_thread_join (self->thread);
  self->thread = NULL;

  g_mutex_lock (&self->lock);
  left = waiting_messages (self);
  self->stats.dropped += left;
  self->in_flight = 0;
  self->connected = FALSE;
  g_queue_clear_full (&self->queue, (GDestroyNotify) message_free);
  g_mutex_unlock (&self->lock);
  if (left)
    GST_ELEMENT_WARNING (self, RESOURCE, WRITE, ("%u messages were not delivered.", left),
        ("The broker %s:%d was not reached in time.", self->host, self->port));
  close_client (self);
}

/* Not start() and stop() of the base class, which would add to our error that none was posted. */
static GstStateChangeReturn
gst_ccl_mqtt_sink_change_state (GstElement * element, GstStateChange change)
{
  GstCclMqttSink *const self = GST_CCL_MQTT_SINK (element);
  GstStateChangeReturn result;

  if (change == GST_STATE_CHANGE_NULL_TO_READY && !start (self))
    return GST_STATE_CHANGE_FAILURE;
  if (change == GST_STATE_CHANGE_READY_TO_PAUSED) {     /* a new stream; if there is no broker, it is told again */
    g_mutex_lock (&self->lock);
    if (self->failed)
      self->failed = self->outage_told = FALSE;
    g_mutex_unlock (&self->lock);
  }
  result = GST_ELEMENT_CLASS (parent_class)->change_state (element, change);
  if (change == GST_STATE_CHANGE_READY_TO_NULL
      || (change == GST_STATE_CHANGE_NULL_TO_READY && result == GST_STATE_CHANGE_FAILURE))
    stop (self);
  return result;
}

/* ---------------------------------------------------------------- data */

static gint
get_limit (GstCclMqttSink * self, guint * size)
{
  gint overflow;

  GST_OBJECT_LOCK (self);
  overflow = self->overflow;
  *size = self->queue_size;
  GST_OBJECT_UNLOCK (self);
  return overflow;
}

/* Waits until there is room, also while the element is paused, or the connection has failed for good; not where
 * `overflow` asks for something else, or no longer for that. Under the preroll lock and `lock`; gives up both meanwhile. */
static GstFlowReturn
wait_for_room (GstCclMqttSink * self, GstBuffer * buffer, gint * overflow, guint * size)
{
  GstBaseSink *const sink = GST_BASE_SINK (self);
  GstFlowReturn result = GST_FLOW_OK;

  while (result == GST_FLOW_OK && (*overflow = get_limit (self, size)) == OVERFLOW_BLOCK && !self->failed
      && g_queue_get_length (&self->queue) >= *size) {
    wait_for_change (self, FOREVER);
    g_mutex_unlock (&self->lock);
    /* Returns at once, or at the end of a pause; does not ask for a flush that was there before it. */
    result = sink->flushing ? GST_FLOW_FLUSHING : gst_base_sink_do_preroll (sink, GST_MINI_OBJECT (buffer));
    g_mutex_lock (&self->lock);
  }
  return result;
}

/* Takes the message, or drops it. Under `lock`. */
static void
enqueue (GstCclMqttSink * self, Message * message, gint overflow, guint size)
{
  if (g_queue_get_length (&self->queue) >= size && self->stats.dropped == 0)
    GST_WARNING_OBJECT (self, "the queue of %u messages is full; dropping", size);
  if (g_queue_get_length (&self->queue) >= size && overflow == OVERFLOW_DROP_NEWEST) {
    message_free (message);
    self->stats.dropped++;
    return;
  }
  g_queue_push_tail (&self->queue, message);
  /* Several, where queue-size has been lowered. */
  for (; g_queue_get_length (&self->queue) > size; self->stats.dropped++)
    message_free (g_queue_pop_head (&self->queue));
}

static GstFlowReturn
gst_ccl_mqtt_sink_render (GstBaseSink * sink, GstBuffer * buffer)
{
  GstCclMqttSink *const self = GST_CCL_MQTT_SINK (sink);
  const GstClockTime start = gst_util_get_timestamp ();
  Message *const message = message_new (self, buffer);
  GstFlowReturn result;
  gint overflow;
  guint size;

  if (!message) {
    GST_ELEMENT_ERROR (self, RESOURCE, READ, ("A buffer cannot be read."), (NULL));
    return GST_FLOW_ERROR;
  }

  g_mutex_lock (&self->lock);
  result = wait_for_room (self, buffer, &overflow, &size);
  if (self->failed)
    result = GST_FLOW_ERROR;
  if (result != GST_FLOW_OK) {
    g_mutex_unlock (&self->lock);
    message_free (message);
    return result;
  }
  enqueue (self, message, overflow, size);
  g_mutex_unlock (&self->lock);
  pump (self);

  g_mutex_lock (&self->lock);
  self->stats.frames++;
  gst_ccl_min_avg_max_add (&self->stats.host, (gst_util_get_timestamp () - start) / (gdouble) GST_USECOND);
  g_mutex_unlock (&self->lock);
  return GST_FLOW_OK;
}

static gboolean
gst_ccl_mqtt_sink_event (GstBaseSink * sink, GstEvent * event)
{
  GstCclMqttSink *const self = GST_CCL_MQTT_SINK (sink);

  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS) {
    const guint left = drain (self);

    /* The base class does not look: it would wait for a preroll, and who flushes, or stops the element, for the stream. */
    if (sink->flushing) {
      gst_event_unref (event);
      return FALSE;
    }
    if (left && self->drain_timeout)
      GST_ELEMENT_WARNING (self, RESOURCE, WRITE, ("%u messages are still waiting at the end of the stream.", left),
          ("The broker %s:%d did not take them within drain-timeout; they are lost if the element stops now.",
              self->host, self->port));
  }
  return GST_BASE_SINK_CLASS (parent_class)->event (sink, event);
}

static void
wake_waiting (GstCclMqttSink * self)
{
  g_mutex_lock (&self->lock);
  g_cond_broadcast (&self->cond);
  g_mutex_unlock (&self->lock);
}

/* A pause or a flush begins; and, as unlock_stop(), with the preroll lock, which whoever waits gets when it has begun. */
static gboolean
gst_ccl_mqtt_sink_unlock (GstBaseSink * sink)
{
  wake_waiting (GST_CCL_MQTT_SINK (sink));
  return TRUE;
}

/* ---------------------------------------------------------------- properties */

static void
set_string (gchar ** field, const GValue * value)
{
  g_free (*field);
  *field = g_value_dup_string (value);
}

static void
gst_ccl_mqtt_sink_set_property (GObject * object, guint id, const GValue * value, GParamSpec * pspec)
{
  GstCclMqttSink *const self = GST_CCL_MQTT_SINK (object);

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_URI:
      set_string (&self->uri, value);
      break;
    case PROP_TOPIC:
      g_free (self->topic);
      self->topic = g_strdup (g_value_get_string (value) ? g_value_get_string (value) : DEFAULT_TOPIC);
      break;
    case PROP_QOS_LEVEL:
      self->qos_level = g_value_get_int (value);
      break;
    case PROP_RETAIN:
      self->retain = g_value_get_boolean (value);
      break;
    case PROP_CLIENT_ID:
      set_string (&self->client_id, value);
      break;
    case PROP_USERNAME:
      set_string (&self->username, value);
      break;
    case PROP_PASSWORD_ENV:
      set_string (&self->password_env, value);
      break;
    case PROP_CA_FILE:
      set_string (&self->ca_file, value);
      break;
    case PROP_CERT_FILE:
      set_string (&self->cert_file, value);
      break;
    case PROP_KEY_FILE:
      set_string (&self->key_file, value);
      break;
    case PROP_VERIFY:
      self->verify = g_value_get_boolean (value);
      break;
    case PROP_WILL_TOPIC:
      set_string (&self->will_topic, value);
      break;
    case PROP_WILL_MESSAGE:
      set_string (&self->will_message, value);
      break;
    case PROP_QUEUE_SIZE:
      self->queue_size = g_value_get_uint (value);
      break;
    case PROP_OVERFLOW:
      self->overflow = g_value_get_enum (value);
      break;
    case PROP_KEEP_ALIVE:
      self->keep_alive = g_value_get_uint (value);
      break;
    case PROP_MAX_RECONNECT_DELAY:
      self->max_pause = g_value_get_uint64 (value);
      break;
    case PROP_DRAIN_TIMEOUT:
      self->drain_timeout = g_value_get_uint64 (value);
      break;
    case PROP_FAIL_ON_DISCONNECT:
      self->fail_on_disconnect = g_value_get_boolean (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
  if (id == PROP_QUEUE_SIZE || id == PROP_OVERFLOW)
    wake_waiting (self);
}

static GstStructure *
create_stats (GstCclMqttSink * self)
{
  GstStructure *structure;

  g_mutex_lock (&self->lock);
  structure = gst_structure_new ("cclmqttsink-stats",
      "connected", G_TYPE_BOOLEAN, self->connected,
      "frames", G_TYPE_UINT64, self->stats.frames,
      "published", G_TYPE_UINT64, self->stats.published,
      "dropped", G_TYPE_UINT64, self->stats.dropped,
      "queued", G_TYPE_UINT, g_queue_get_length (&self->queue),
      "in-flight", G_TYPE_UINT, self->in_flight,
      "bytes", G_TYPE_UINT64, self->stats.bytes,
      "connects", G_TYPE_UINT64, self->stats.connects,
      "failures", G_TYPE_UINT64, self->stats.failures,
      "last-error", G_TYPE_STRING, self->last_error ? self->last_error : "", NULL);
  gst_ccl_min_avg_max_to_structure (&self->stats.host, "host", structure);
  gst_ccl_min_avg_max_to_structure (&self->stats.latency, "latency", structure);
  g_mutex_unlock (&self->lock);
  return structure;
}

static void
gst_ccl_mqtt_sink_get_property (GObject * object, guint id, GValue * value, GParamSpec * pspec)
{
  GstCclMqttSink *const self = GST_CCL_MQTT_SINK (object);

  if (id == PROP_STATS) {
    g_value_take_boxed (value, create_stats (self));
    return;
  }
  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_URI:
      g_value_set_string (value, self->uri);
      break;
    case PROP_TOPIC:
      g_value_set_string (value, self->topic);
      break;
    case PROP_QOS_LEVEL:
      g_value_set_int (value, self->qos_level);
      break;
    case PROP_RETAIN:
      g_value_set_boolean (value, self->retain);
      break;
    case PROP_CLIENT_ID:
      g_value_set_string (value, self->client_id);
      break;
    case PROP_USERNAME:
      g_value_set_string (value, self->username);
      break;
    case PROP_PASSWORD_ENV:
      g_value_set_string (value, self->password_env);
      break;
    case PROP_CA_FILE:
      g_value_set_string (value, self->ca_file);
      break;
    case PROP_CERT_FILE:
      g_value_set_string (value, self->cert_file);
      break;
    case PROP_KEY_FILE:
      g_value_set_string (value, self->key_file);
      break;
    case PROP_VERIFY:
      g_value_set_boolean (value, self->verify);
      break;
    case PROP_WILL_TOPIC:
      g_value_set_string (value, self->will_topic);
      break;
    case PROP_WILL_MESSAGE:
      g_value_set_string (value, self->will_message);
      break;
    case PROP_QUEUE_SIZE:
      g_value_set_uint (value, self->queue_size);
      break;
    case PROP_OVERFLOW:
      g_value_set_enum (value, self->overflow);
      break;
    case PROP_KEEP_ALIVE:
      g_value_set_uint (value, self->keep_alive);
      break;
    case PROP_MAX_RECONNECT_DELAY:
      g_value_set_uint64 (value, self->max_pause);
      break;
    case PROP_DRAIN_TIMEOUT:
      g_value_set_uint64 (value, self->drain_timeout);
      break;
    case PROP_FAIL_ON_DISCONNECT:
      g_value_set_boolean (value, self->fail_on_disconnect);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_ccl_mqtt_sink_finalize (GObject * object)
{
  GstCclMqttSink *const self = GST_CCL_MQTT_SINK (object);
  gchar *const strings[] = { self->uri, self->topic, self->client_id, self->username, self->password_env,
    self->ca_file, self->cert_file, self->key_file, self->will_topic, self->will_message, self->last_error
  };

  for (guint i = 0; i < G_N_ELEMENTS (strings); i++)
    g_free (strings[i]);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->cond);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
install_properties (GObjectClass * object)
{
  const GParamFlags ready = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY;
  const GParamFlags playing = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING;

  g_object_class_install_property (object, PROP_URI, g_param_spec_string ("uri", "URI",
          "The broker: mqtt://HOST[:PORT] (port 1883 when not given), or mqtts:// for TLS (8883)",
          "mqtt://localhost", ready));
  g_object_class_install_property (object, PROP_TOPIC, g_param_spec_string ("topic", "Topic",
          "Topic to publish to; " SOURCE_PLACEHOLDER " in it stands for the source each line of JSON names",
          DEFAULT_TOPIC, ready));
  g_object_class_install_property (object, PROP_QOS_LEVEL, g_param_spec_int ("qos-level", "QoS level",
          "Delivery: 0 at most once (what is under way when the connection breaks is lost), 1 at least once, "
          "2 exactly once", 0, 2, 1, ready));
  g_object_class_install_property (object, PROP_RETAIN, g_param_spec_boolean ("retain", "Retain",
          "The broker keeps the last message of each topic for those who come later", FALSE, ready));
  g_object_class_install_property (object, PROP_CLIENT_ID, g_param_spec_string ("client-id", "Client ID",
          "Name of this client, unique at the broker; unset: a random one", NULL, ready));
  g_object_class_install_property (object, PROP_USERNAME, g_param_spec_string ("username", "User name",
          "Name to log in with; unset: no login", NULL, ready));
  g_object_class_install_property (object, PROP_PASSWORD_ENV, g_param_spec_string ("password-env", "Password variable",
          "Name of the environment variable that holds the password of username (a password itself would be seen in "
          "the list of processes); unset: no password", NULL, ready));
  g_object_class_install_property (object, PROP_CA_FILE, g_param_spec_string ("ca-file", "CA file",
          "PEM file of the authorities whose certificates count (mqtts://); unset: those of the system", NULL, ready));
  g_object_class_install_property (object, PROP_CERT_FILE, g_param_spec_string ("cert-file", "Certificate file",
          "PEM file of this client's certificate, for brokers that ask for one (mqtts://, with key-file); unset: none",
          NULL, ready));
  g_object_class_install_property (object, PROP_KEY_FILE, g_param_spec_string ("key-file", "Key file",
          "PEM file of the certificate's key, not encrypted (with cert-file); unset: none", NULL, ready));
  g_object_class_install_property (object, PROP_VERIFY, g_param_spec_boolean ("verify", "Verify",
          "Check the broker's certificate and host name (mqtts://). FALSE lets anyone pose as the broker",
          TRUE, ready));
  g_object_class_install_property (object, PROP_WILL_TOPIC, g_param_spec_string ("will-topic", "Will topic",
          "Topic the broker publishes will-message to (retained) when this client vanishes; unset: none", NULL, ready));
  g_object_class_install_property (object, PROP_WILL_MESSAGE, g_param_spec_string ("will-message", "Will message",
          "What the broker publishes to will-topic when this client vanishes; unset: an empty message", NULL, ready));
  g_object_class_install_property (object, PROP_QUEUE_SIZE, g_param_spec_uint ("queue-size", "Queue size",
          "Most messages that wait for the broker (see overflow)", 1, G_MAXINT, 1000, playing));
  g_object_class_install_property (object, PROP_OVERFLOW, g_param_spec_enum ("overflow", "Overflow",
          "What happens to a message that comes when queue-size of them wait",
          GST_TYPE_CCL_MQTT_OVERFLOW, OVERFLOW_DROP_OLDEST, playing));
  g_object_class_install_property (object, PROP_KEEP_ALIVE, g_param_spec_uint ("keep-alive", "Keep alive",
          "Time without a message after which the connection is probed, seconds", 5, 65535, 30, ready));
  g_object_class_install_property (object, PROP_MAX_RECONNECT_DELAY, g_param_spec_uint64 ("max-reconnect-delay",
          "Maximum reconnect delay",
          "Longest pause between attempts to connect, nanoseconds; the first is half a second, each twice the one "
          "before",
          GST_SECOND / 2, 24 * 3600 * GST_SECOND, 30 * GST_SECOND, ready));
  g_object_class_install_property (object, PROP_DRAIN_TIMEOUT, g_param_spec_uint64 ("drain-timeout", "Drain timeout",
          "Longest time that the end of the stream waits for messages to be delivered, nanoseconds; 0: not at all",
          0, G_MAXINT64, 5 * GST_SECOND, ready));
  g_object_class_install_property (object, PROP_FAIL_ON_DISCONNECT, g_param_spec_boolean ("fail-on-disconnect",
          "Fail on disconnect", "End the pipeline with an error when the broker is not there, instead of waiting",
          FALSE, playing));
  g_object_class_install_property (object, PROP_STATS, g_param_spec_boxed ("stats", "Statistics",
          "Since the start: connected, frames (that came), published, dropped, queued, in-flight, bytes, connects, "
          "failures, last-error; host-us (time the pipeline spent on a message) and latency-us (until the broker had "
          "it), each -min, -avg and -max in microseconds (-1: not measured)",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

static void
gst_ccl_mqtt_sink_class_init (GstCclMqttSinkClass * klass)
{
  GObjectClass *const object = G_OBJECT_CLASS (klass);
  GstElementClass *const element = GST_ELEMENT_CLASS (klass);
  GstBaseSinkClass *const sink = GST_BASE_SINK_CLASS (klass);

  mosquitto_lib_init ();

  object->set_property = gst_ccl_mqtt_sink_set_property;
  object->get_property = gst_ccl_mqtt_sink_get_property;
  object->finalize = gst_ccl_mqtt_sink_finalize;
  install_properties (object);

  gst_element_class_add_static_pad_template (element, &sink_template);
  gst_element_class_set_static_metadata (element, "MQTT publisher", "Sink/Network",
      "Publishes lines of JSON over MQTT; an absent broker does not stop the pipeline", "gst-ccl contributors");

  element->change_state = gst_ccl_mqtt_sink_change_state;
  sink->render = gst_ccl_mqtt_sink_render;
  sink->event = gst_ccl_mqtt_sink_event;
  sink->unlock = gst_ccl_mqtt_sink_unlock;
  sink->unlock_stop = gst_ccl_mqtt_sink_unlock;

  gst_type_mark_as_plugin_api (GST_TYPE_CCL_MQTT_OVERFLOW, 0);
}

static void
gst_ccl_mqtt_sink_init (GstCclMqttSink * self)
{
  g_mutex_init (&self->lock);
  g_cond_init (&self->cond);
  g_queue_init (&self->queue);
  self->uri = g_strdup ("mqtt://localhost");
  self->topic = g_strdup (DEFAULT_TOPIC);
  self->qos_level = 1;
  self->verify = TRUE;
  self->queue_size = 1000;
  self->keep_alive = 30;
  self->max_pause = 30 * GST_SECOND;
  self->drain_timeout = 5 * GST_SECOND;
  /* Lines go out as they come, and a stream without any does not hold up the pipeline. */
  gst_base_sink_set_sync (GST_BASE_SINK (self), FALSE);
  gst_base_sink_set_async_enabled (GST_BASE_SINK (self), FALSE);
}
