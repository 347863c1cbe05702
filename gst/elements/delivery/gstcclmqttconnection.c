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
#define DISCONNECT_TIME G_TIME_SPAN_SECOND

/* ---------------------------------------------------------------- messages */

void
gst_ccl_mqtt_connection_push (GstCclMqttConnection * self, GstCclMessage * message, GstCclOverflow overflow, guint size)
{
  if (gst_ccl_message_queue_n_waiting (&self->queue) >= size && self->queue.dropped == 0)
    GST_WARNING_OBJECT (self->owner, "the queue of %u messages is full; dropping", size);
  gst_ccl_message_queue_push (&self->queue, message, overflow, size);
}

/* Hands over one message. Releases `lock` meanwhile. FALSE: the connection has just been lost. */
static gboolean
send_message (GstCclMqttConnection * self, GstCclMessage * message)
{
  const gint qos_level = self->qos_level;
  const gboolean retain = self->retain;
  gboolean is_lost;
  gint result;

  g_mutex_unlock (&self->lock);
  result = mosquitto_publish (self->client, NULL, message->topic, (int) g_bytes_get_size (message->payload),
      g_bytes_get_data (message->payload, NULL), qos_level, retain);
  g_mutex_lock (&self->lock);

  /* libmosquitto then drops a message with QoS 0. From level 1 on it keeps the message, and sends it with the next
   * connection. */
  is_lost = result == MOSQ_ERR_NO_CONN || result == MOSQ_ERR_CONN_LOST;
  if (is_lost && qos_level == 0) {
    gst_ccl_message_queue_put_back (&self->queue, message);
    return FALSE;
  }
  if (is_lost || result == MOSQ_ERR_SUCCESS) {
    gst_ccl_message_queue_handed_over (&self->queue, message);
  } else {
    GST_WARNING_OBJECT (self->owner, "message for topic \"%s\" dropped: %s", message->topic,
        mosquitto_strerror (result));
    gst_ccl_message_queue_reject (&self->queue, message);
  }
  return TRUE;
}

/* Every change of a condition calls it. A second caller leaves the work to the first, which checks again after each
 * message. */
void
gst_ccl_mqtt_connection_send_queued (GstCclMqttConnection * self)
{
  GstCclMessage *message;

  g_mutex_lock (&self->lock);
  if (self->is_sending) {
    g_mutex_unlock (&self->lock);
    return;
  }
  self->is_sending = TRUE;
  while (self->is_connected && !self->is_stopping
      && (message = gst_ccl_message_queue_take (&self->queue, self->qos_level)) && send_message (self, message));
  self->is_sending = FALSE;
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
  self->n_failures++;
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
  self->is_accepted = TRUE;
}

/* After on_connect() libmosquitto sends the messages of the last connection again. New messages follow, so that the order is
 * kept. */
static void
begin_sending (GstCclMqttConnection * self)
{
  self->is_accepted = FALSE;
  g_mutex_lock (&self->lock);
  self->is_connected = TRUE;
  self->outage_reported = FALSE;
  self->n_connects++;
  g_cond_broadcast (&self->cond);
  g_mutex_unlock (&self->lock);
  GST_INFO_OBJECT (self->owner, "connected to %s:%d", self->address.host, self->address.port);
  self->connected (self->owner);
  gst_ccl_mqtt_connection_send_queued (self);
}

static void
on_disconnect (struct mosquitto *client, void *user_data, int code)
{
  GstCclMqttConnection *const self = user_data;
  gboolean was_connected;

  self->is_accepted = FALSE;
  g_mutex_lock (&self->lock);
  was_connected = self->is_connected;
  self->is_connected = FALSE;
  gst_ccl_message_queue_lose (&self->queue);
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
  gst_ccl_message_queue_acknowledge (&self->queue);
  g_cond_broadcast (&self->cond);
  g_mutex_unlock (&self->lock);
  gst_ccl_mqtt_connection_send_queued (self);
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

/* Sends the remaining messages, and the DISCONNECT that close() has queued. The loop fails when this is done. A broker that did
 * not accept the connection gets less time. */
static void
finish_connection (GstCclMqttConnection * self, gboolean connected)
{
  const gint64 end =
      g_get_monotonic_time () + (connected ? DISCONNECT_TIME : LOOP_TIMEOUT_MS * G_TIME_SPAN_MILLISECOND);

  while (mosquitto_loop (self->client, LOOP_TIMEOUT_MS, 1) == MOSQ_ERR_SUCCESS && g_get_monotonic_time () < end);
}

/* The error of a socket that is writable but not connected; 0: it is connected. */
static gint
failure_of (gint descriptor)
{
  struct sockaddr_storage peer;
  socklen_t size = sizeof peer, reason_size = sizeof (gint);
  gint reason = 0;

  if (getsockopt (descriptor, SOL_SOCKET, SO_ERROR, &reason, &reason_size))
    return errno;
  /* The socket reports its error once. With TLS libmosquitto may have read it already. */
  return !reason && getpeername (descriptor, (struct sockaddr *) &peer, &size) ? ECONNREFUSED : reason;
}

/* Waits until the connection is made, or the element stops. Returns 0, or the errno of the failure. */
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

/* Whether the connection ended during the TLS handshake; errno has the reason. libmosquitto takes such a connection for one
 * that is not ready yet, and tries without a limit. */
static gboolean
has_ended (GstCclMqttConnection * self)
{
  const gint descriptor = mosquitto_socket (self->client);
  gchar byte;
  const gssize n = descriptor < 0 ? 1 : recv (descriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

  if (n == 0)                   /* also if libmosquitto has already read the reason */
    errno = ECONNRESET;
  return n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

/* Connects from a local address, and serves the connection until it ends or the element stops. Returns libmosquitto's result,
 * and errno in saved_errno. */
static gint
connect_once (GstCclMqttConnection * self, const gchar * local, gboolean * was_connected, gint * saved_errno)
{
  gint result;

  errno = 0;
  result =
      mosquitto_connect_bind_async (self->client, self->address.host, self->address.port, (int) self->keep_alive,
      local);
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
    if (self->is_accepted)
      begin_sending (self);
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

/* The wildcard address of each family in which the host has an address, in the resolver's order. Returns their number, 0 for
 * an unknown host. */
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
    if (n == 0 || (n == 1 && strcmp (any, local[0]) != 0))
      local[n++] = any;
  }
  freeaddrinfo (addresses);
  return n;
}

/* Connects by the first family of addresses, then by the second. libmosquitto itself tries the first address of a host only. A
 * local address makes it leave out the other family, and stays set until another is given. */
static gint
connect_either (GstCclMqttConnection * self, gboolean * was_connected, gint * saved_errno)
{
  const gchar *local[2];
  const guint n = local_addresses (self, local);
  gint first, second, second_errno;

  if (n == 0)
    return MOSQ_ERR_EAI;
  if (is_stopping (self))       /* the name lookup may have taken long */
    return MOSQ_ERR_SUCCESS;
  first = connect_once (self, local[0], was_connected, saved_errno);
  if (n < 2 || first != MOSQ_ERR_ERRNO || *saved_errno == ECONNRESET || *was_connected || is_stopping (self))
    return first;
  second = connect_once (self, local[1], was_connected, &second_errno);
  if (second == MOSQ_ERR_ERRNO && second_errno != ECONNRESET && !*was_connected)
    return first;               /* report the failure of the preferred family */
  *saved_errno = second_errno;
  return second;
}

/* The thread. libmosquitto's own loop ends on some errors (name not found, TLS); this one tries again. */
static gpointer
run_connection (gpointer data)
{
  GstCclMqttConnection *const self = data;
  gint64 pause = FIRST_PAUSE;
  sigset_t broken_pipe;

  /* TLS writes to closed sockets, and the signal would end the process. */
  sigemptyset (&broken_pipe);
  sigaddset (&broken_pipe, SIGPIPE);
  pthread_sigmask (SIG_BLOCK, &broken_pipe, NULL);

  while (!is_stopping (self)) {
    gboolean was_connected = FALSE;
    gint saved_errno = 0;
    const gint result = connect_either (self, &was_connected, &saved_errno);

    if (result == MOSQ_ERR_SUCCESS) {
      finish_connection (self, was_connected);
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
  gst_ccl_message_queue_init (&self->queue);
}

void
gst_ccl_mqtt_connection_clear (GstCclMqttConnection * self)
{
  gst_ccl_message_queue_clear (&self->queue);
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
  gst_ccl_message_queue_init (&self->queue);
  self->n_connects = self->n_failures = 0;
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
  left = gst_ccl_message_queue_clear (&self->queue);
  self->is_connected = FALSE;
  g_mutex_unlock (&self->lock);
  g_clear_pointer (&self->client, mosquitto_destroy);
  return left;
}
