/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclmqttconnection.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

#include <mosquitto.h>

GST_DEBUG_CATEGORY_EXTERN (gst_ccl_mqtt_sink_debug);
#define GST_CAT_DEFAULT gst_ccl_mqtt_sink_debug

#define FIRST_PAUSE (500 * G_TIME_SPAN_MILLISECOND)
#define LOOP_TIMEOUT_MS 100
#define CONNECT_TIME (5 * G_TIME_SPAN_SECOND)
#define GOODBYE_TIME G_TIME_SPAN_SECOND

/* ---------------------------------------------------------------- messages */

GType
gst_ccl_mqtt_overflow_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    {GST_CCL_OVERFLOW_DROP_OLDEST, "Drop the message that has waited longest", "drop-oldest"},
    {GST_CCL_OVERFLOW_DROP_NEWEST, "Drop the message that comes", "drop-newest"},
    {GST_CCL_OVERFLOW_BLOCK, "Make the pipeline wait for room: nothing is dropped, live sources stall", "block"},
    {0, NULL, NULL}
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstCclMqttOverflow", values));
  return type;
}

GstCclMessage *
gst_ccl_message_new (gchar * topic, gconstpointer data, gsize size)
{
  GstCclMessage *const message = g_new (GstCclMessage, 1);

  message->topic = topic;
  message->payload = g_bytes_new (data, size);
  message->arrived = gst_util_get_timestamp ();
  return message;
}

void
gst_ccl_message_free (GstCclMessage * message)
{
  g_free (message->topic);
  g_bytes_unref (message->payload);
  g_free (message);
}

void
gst_ccl_mqtt_connection_push (GstCclMqttConnection * self, GstCclMessage * message, GstCclOverflow overflow,
    guint size)
{
  if (g_queue_get_length (&self->queue) >= size && self->stats.dropped == 0)
    GST_WARNING_OBJECT (self->owner, "the queue of %u messages is full; dropping", size);
  if (g_queue_get_length (&self->queue) >= size && overflow == GST_CCL_OVERFLOW_DROP_NEWEST) {
    gst_ccl_message_free (message);
    self->stats.dropped++;
    return;
  }
  g_queue_push_tail (&self->queue, message);
  /* Several, where queue-size has been lowered. */
  for (; g_queue_get_length (&self->queue) > size; self->stats.dropped++)
    gst_ccl_message_free (g_queue_pop_head (&self->queue));
}

guint
gst_ccl_mqtt_connection_n_waiting (GstCclMqttConnection * self)
{
  return g_queue_get_length (&self->queue) + self->n_in_flight;
}

/* The newest message in flight was not sent. on_disconnect() may have counted it as dropped. Under `lock`. */
static void
take_back (GstCclMqttConnection * self)
{
  if (self->n_in_flight > 0)
    self->n_in_flight--;
  else
    self->stats.dropped--;
}

/* Every change of a condition calls it. A second caller leaves the work to the first, which looks again after each
 * message. */
void
gst_ccl_mqtt_connection_pump (GstCclMqttConnection * self)
{
  g_mutex_lock (&self->lock);
  if (self->is_pumping) {
    g_mutex_unlock (&self->lock);
    return;
  }
  self->is_pumping = TRUE;
  while (self->is_connected && !self->is_stopping && self->n_in_flight < GST_CCL_MQTT_MAX_IN_FLIGHT && !g_queue_is_empty (&self->queue)) {
    GstCclMessage *const message = g_queue_pop_head (&self->queue);
    const gsize size = g_bytes_get_size (message->payload);
    gboolean lost, retain;
    gint result, qos_level;

    self->arrived[(self->first_arrived + self->n_in_flight++) % GST_CCL_MQTT_MAX_IN_FLIGHT] = message->arrived;
    qos_level = self->qos_level;
    retain = self->retain;
    g_mutex_unlock (&self->lock);
    result = mosquitto_publish (self->client, NULL, message->topic, (int) size,
        g_bytes_get_data (message->payload, NULL), qos_level, retain);
    g_mutex_lock (&self->lock);

    /* When the connection has just been lost, libmosquitto has nothing of a message with QoS 0. From level 1 on it
     * keeps it, and sends it with the next connection. */
    lost = result == MOSQ_ERR_NO_CONN || result == MOSQ_ERR_CONN_LOST;
    if (lost && qos_level == 0) {
      take_back (self);
      g_queue_push_head (&self->queue, message);
      break;
    }
    if (lost || result == MOSQ_ERR_SUCCESS) {
      self->stats.bytes += size;
    } else {
      take_back (self);
      self->stats.dropped++;
      GST_WARNING_OBJECT (self->owner, "message for topic \"%s\" dropped: %s", message->topic, mosquitto_strerror (result));
    }
    gst_ccl_message_free (message);
  }
  self->is_pumping = FALSE;
  g_cond_broadcast (&self->cond);
  g_mutex_unlock (&self->lock);
}

void
gst_ccl_mqtt_connection_set_delivery (GstCclMqttConnection * self, gint qos_level, gboolean retain)
{
  g_mutex_lock (&self->lock);
  self->qos_level = qos_level;
  self->retain = retain;
  g_mutex_unlock (&self->lock);
}

void
gst_ccl_mqtt_connection_wake (GstCclMqttConnection * self)
{
  g_mutex_lock (&self->lock);
  g_cond_broadcast (&self->cond);
  g_mutex_unlock (&self->lock);
}

void
gst_ccl_mqtt_connection_fail (GstCclMqttConnection * self)
{
  g_mutex_lock (&self->lock);
  self->failed = TRUE;
  g_cond_broadcast (&self->cond);
  g_mutex_unlock (&self->lock);
}

/* ---------------------------------------------------------------- connection */

/* An outage is reported once, however often the attempts fail. */
static void
report_outage (GstCclMqttConnection * self, const gchar * reason)
{
  gboolean reported;

  g_mutex_lock (&self->lock);
  self->stats.failures++;
  reported = self->outage_reported && !g_strcmp0 (self->last_error, reason);
  self->outage_reported = TRUE;
  if (!reported) {
    g_free (self->last_error);
    self->last_error = g_strdup (reason);
  }
  g_mutex_unlock (&self->lock);

  GST_DEBUG_OBJECT (self->owner, "%s:%d: %s", self->address.host, self->address.port, reason);
  if (!reported)
    self->disconnected (self->owner, reason);
}

static void
on_connect (struct mosquitto *client, void *user_data, int code)
{
  GstCclMqttConnection *const self = user_data;

  if (code) {
    report_outage (self, mosquitto_connack_string (code));
    return;
  }
  g_mutex_lock (&self->lock);
  self->is_connected = TRUE;
  self->outage_reported = FALSE;
  self->stats.connects++;
  g_cond_broadcast (&self->cond);
  g_mutex_unlock (&self->lock);
  GST_INFO_OBJECT (self->owner, "connected to %s:%d", self->address.host, self->address.port);
  self->connected (self->owner);
  gst_ccl_mqtt_connection_pump (self);
}

static void
on_disconnect (struct mosquitto *client, void *user_data, int code)
{
  GstCclMqttConnection *const self = user_data;
  gboolean was_connected;

  g_mutex_lock (&self->lock);
  was_connected = self->is_connected;
  self->is_connected = FALSE;
  /* What was being sent with QoS 0 is gone; from level 1 on libmosquitto keeps it and sends it again. */
  if (self->qos_level == 0) {
    self->stats.dropped += self->n_in_flight;
    self->n_in_flight = 0;
  }
  g_cond_broadcast (&self->cond);
  g_mutex_unlock (&self->lock);
  if (was_connected && code)
    report_outage (self, "the connection was lost");
}

static void
on_publish (struct mosquitto *client, void *user_data, int message_id)
{
  GstCclMqttConnection *const self = user_data;

  g_mutex_lock (&self->lock);
  if (self->n_in_flight > 0) {
    gst_ccl_min_avg_max_add (&self->stats.latency,
        (gst_util_get_timestamp () - self->arrived[self->first_arrived]) / (gdouble) GST_USECOND);
    self->first_arrived = (self->first_arrived + 1) % GST_CCL_MQTT_MAX_IN_FLIGHT;
    self->n_in_flight--;
  }
  self->stats.published++;
  g_cond_broadcast (&self->cond);
  g_mutex_unlock (&self->lock);
  gst_ccl_mqtt_connection_pump (self);
}

/* Waits, unless the element stops. */
static gboolean
pause_for (GstCclMqttConnection * self, gint64 microseconds)
{
  const gint64 end = g_get_monotonic_time () + microseconds;
  gboolean stopping;

  g_mutex_lock (&self->lock);
  while (!self->is_stopping && g_cond_wait_until (&self->cond, &self->lock, end));
  stopping = self->is_stopping;
  g_mutex_unlock (&self->lock);
  return !stopping;
}

static gboolean
is_stopping (GstCclMqttConnection * self)
{
  gboolean stopping;

  g_mutex_lock (&self->lock);
  stopping = self->is_stopping;
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
say_goodbye (GstCclMqttConnection * self, gboolean connected)
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
wait_for_connection (GstCclMqttConnection * self)
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
has_ended (GstCclMqttConnection * self)
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
connect_once (GstCclMqttConnection * self, const gchar * local, gboolean * was_connected, gint * saved_errno)
{
  gint result;

  errno = 0;
  result = mosquitto_connect_bind_async (self->client, self->address.host, self->address.port, (int) self->keep_alive, local);
  *saved_errno = errno;
  if (result == MOSQ_ERR_SUCCESS) {
    *saved_errno = wait_for_connection (self);
    if (*saved_errno)
      result = MOSQ_ERR_ERRNO;
  }
  while (result == MOSQ_ERR_SUCCESS && !is_stopping (self)) {
    errno = 0;
    if (self->address.tls && !*was_connected && has_ended (self))
      result = MOSQ_ERR_ERRNO;
    else
      result = mosquitto_loop (self->client, LOOP_TIMEOUT_MS, 1);
    *saved_errno = errno;
    g_mutex_lock (&self->lock);
    *was_connected |= self->is_connected;
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
local_addresses (GstCclMqttConnection * self, const gchar * local[2])
{
  const struct addrinfo hints = {.ai_family = AF_UNSPEC,.ai_socktype = SOCK_STREAM };
  struct addrinfo *addresses = NULL;
  guint n = 0;

  if (getaddrinfo (self->address.host, NULL, &hints, &addresses))
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
connect_either (GstCclMqttConnection * self, gboolean * was_connected, gint * saved_errno)
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
  GstCclMqttConnection *const self = data;
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

/* ---------------------------------------------------------------- open and close */

void
gst_ccl_mqtt_connection_init (GstCclMqttConnection * self, GstObject * owner)
{
  self->owner = owner;
  g_mutex_init (&self->lock);
  g_cond_init (&self->cond);
  g_queue_init (&self->queue);
}

void
gst_ccl_mqtt_connection_clear (GstCclMqttConnection * self)
{
  g_free (self->last_error);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->cond);
}

static void
free_client (GstCclMqttConnection * self)
{
  g_clear_pointer (&self->client, mosquitto_destroy);
  g_clear_pointer (&self->address.host, g_free);
}

gboolean
gst_ccl_mqtt_connection_open (GstCclMqttConnection * self, const GstCclMqttSettings * settings, GError ** error,
    const gchar ** hint)
{
  const gchar *const id = settings->client_id && *settings->client_id ? settings->client_id : NULL;

  *hint = NULL;
  if (!gst_ccl_mqtt_address_parse (settings->uri, &self->address, error, hint))
    return FALSE;
  self->client = mosquitto_new (id, TRUE, self);
  if (!self->client) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "No MQTT client with the id \"%s\".", id);
    free_client (self);
    return FALSE;
  }
  mosquitto_threaded_set (self->client, TRUE);
  mosquitto_connect_callback_set (self->client, on_connect);
  mosquitto_disconnect_callback_set (self->client, on_disconnect);
  mosquitto_publish_callback_set (self->client, on_publish);
  mosquitto_max_inflight_messages_set (self->client, GST_CCL_MQTT_MAX_IN_FLIGHT);
  if (!gst_ccl_mqtt_configure (self->client, settings, self->address.tls, self->qos_level, error, hint)) {
    free_client (self);
    return FALSE;
  }
  self->keep_alive = settings->keep_alive;
  self->max_pause = settings->max_pause;
  self->is_connected = self->is_stopping = self->outage_reported = self->failed = FALSE;
  self->n_in_flight = 0;
  memset (&self->stats, 0, sizeof self->stats);
  g_clear_pointer (&self->last_error, g_free);
  return TRUE;
}

void
gst_ccl_mqtt_connection_start (GstCclMqttConnection * self)
{
  self->thread = g_thread_new ("cclmqttsink", run_connection, self);
}

guint
gst_ccl_mqtt_connection_close (GstCclMqttConnection * self)
{
  guint left;

  g_mutex_lock (&self->lock);
  self->is_stopping = TRUE;
  g_cond_broadcast (&self->cond);
  g_mutex_unlock (&self->lock);
  /* A clean end, so that the broker does not publish the will. This queues it, and wakes the thread. */
  mosquitto_disconnect (self->client);
  g_thread_join (self->thread);
  self->thread = NULL;

  g_mutex_lock (&self->lock);
  left = gst_ccl_mqtt_connection_n_waiting (self);
  self->stats.dropped += left;
  self->n_in_flight = 0;
  self->is_connected = FALSE;
  g_queue_clear_full (&self->queue, (GDestroyNotify) gst_ccl_message_free);
  g_mutex_unlock (&self->lock);
  g_clear_pointer (&self->client, mosquitto_destroy);
  return left;
}
