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
#include <mqtt_protocol.h>

GST_DEBUG_CATEGORY_EXTERN (gst_ccl_mqtt_sink_debug);
#define GST_CAT_DEFAULT gst_ccl_mqtt_sink_debug

#define FIRST_PAUSE (500 * G_TIME_SPAN_MILLISECOND)
#define LOOP_TIMEOUT_MS 100
#define CONNECT_TIME (5 * G_TIME_SPAN_SECOND)
#define DISCONNECT_TIME G_TIME_SPAN_SECOND

/* Connections that a broker closes without an answer to MQTT 5 before 3.1.1 is tried. */
#define MAX_CLOSED 3

/* ---------------------------------------------------------------- messages */

/* The core's id of a message, or what came for its number. */
typedef struct
{
  guint64 id;
  gint number, code;
} Pending;

/* The broker is full: the message is sent again after a pause, which doubles until one is taken. */
static void
postpone (GstCclMqttConnection * self, guint64 id)
{
  gst_ccl_delivery_postponed (self->delivery, id, mosquitto_reason_string (MQTT_RC_QUOTA_EXCEEDED));
  g_mutex_lock (&self->lock);
  if (!self->resume_at) {
    const gint64 max_pause = (gint64) (self->settings->max_pause / 1000);

    self->full_pause = self->full_pause ? MIN (2 * self->full_pause, max_pause) : FIRST_PAUSE;
    self->resume_at = g_get_monotonic_time () + self->full_pause;
  }
  g_mutex_unlock (&self->lock);
}

static void
resume_if_due (GstCclMqttConnection * self)
{
  gboolean is_due;

  g_mutex_lock (&self->lock);
  is_due = self->resume_at && g_get_monotonic_time () >= self->resume_at;
  if (is_due)
    self->resume_at = 0;
  g_mutex_unlock (&self->lock);
  if (is_due)
    gst_ccl_delivery_resume (self->delivery);
}

static void
answer (GstCclMqttConnection * self, guint64 id, gint code)
{
  if (code == MQTT_RC_QUOTA_EXCEEDED) {
    postpone (self, id);
  } else if (code >= MQTT_RC_UNSPECIFIED) {
    gst_ccl_delivery_refused (self->delivery, id, mosquitto_reason_string (code));
  } else {
    g_mutex_lock (&self->lock);
    self->full_pause = 0;
    g_mutex_unlock (&self->lock);
    gst_ccl_delivery_acknowledged (self->delivery, id);
  }
}

/* Takes the entry with this number out. FALSE: there is none. With `lock`. */
static gboolean
take_pending (GArray * entries, gint number, Pending * pending)
{
  for (guint i = 0; i < entries->len; i++) {
    *pending = g_array_index (entries, Pending, i);
    if (pending->number == number) {
      g_array_remove_index (entries, i);
      return TRUE;
    }
  }
  return FALSE;
}

static const Pending *
find_pending (const GArray * entries, gint number)
{
  for (guint i = 0; i < entries->len; i++)
    if (g_array_index (entries, Pending, i).number == number)
      return &g_array_index (entries, Pending, i);
  return NULL;
}

static void
remove_pending (GArray * entries, guint64 id)
{
  for (guint i = 0; i < entries->len; i++)
    if (g_array_index (entries, Pending, i).id == id) {
      g_array_remove_index (entries, i);
      return;
    }
}

/* The broker's answer may come before send() knows the number of its message. The entry goes after the answer is known: a message
 * without an entry is sent, and would come twice. */
void
gst_ccl_mqtt_connection_take_answer (GstCclMqttConnection * self, gint number, gint code)
{
  const Pending early = {.number = number,.code = code };
  const Pending *found;
  guint64 id = 0;

  g_mutex_lock (&self->lock);
  self->has_answered = TRUE;
  found = find_pending (self->pending, number);
  if (found)
    id = found->id;
  else
    g_array_append_val (self->early, early);
  g_mutex_unlock (&self->lock);
  if (!found)
    return;
  answer (self, id, code);
  g_mutex_lock (&self->lock);
  remove_pending (self->pending, id);
  g_mutex_unlock (&self->lock);
}

static void
add_pending (GstCclMqttConnection * self, guint64 id, gint number)
{
  Pending pending;
  gboolean is_early;

  g_mutex_lock (&self->lock);
  is_early = take_pending (self->early, number, &pending);
  if (!is_early) {
    pending = (Pending) {
    .id = id,.number = number};
    g_array_append_val (self->pending, pending);
  }
  g_mutex_unlock (&self->lock);
  if (is_early)
    answer (self, id, pending.code);
}

/* Whether libmosquitto has the message from an earlier connection of this session, and sends it again itself. */
static gboolean
is_pending (GstCclMqttConnection * self, guint64 id)
{
  gboolean is_found = FALSE;

  g_mutex_lock (&self->lock);
  for (guint i = 0; i < self->pending->len && !is_found; i++)
    is_found = g_array_index (self->pending, Pending, i).id == id;
  g_mutex_unlock (&self->lock);
  return is_found;
}

static gboolean
has_expired (GstCclMqttConnection * self, const GstCclDeliveryMessage * message)
{
  const guint expiry = self->settings->message_expiry;

  return expiry && g_get_monotonic_time () - message->arrived >= expiry * G_TIME_SPAN_SECOND;
}

/* Hands a message to libmosquitto. One that is too large for the broker only by what its line says about itself goes without. */
static gint
publish (GstCclMqttConnection * self, const GstCclDeliveryMessage * message, gint qos_level, gboolean retain,
    gint * number)
{
  const gint size = (gint) g_bytes_get_size (message->payload);
  gconstpointer const data = g_bytes_get_data (message->payload, NULL);
  gint result = MOSQ_ERR_OVERSIZE_PACKET;

  for (guint i = 0; i < 2 && result == MOSQ_ERR_OVERSIZE_PACKET; i++) {
    mosquitto_property *properties = self->version == MQTT_PROTOCOL_V5
        ? gst_ccl_mqtt_message_properties (self->settings, message, i == 0) : NULL;

    result = mosquitto_publish_v5 (self->client, number, message->topic, size, data, qos_level, retain, properties);
    mosquitto_property_free_all (&properties);
  }
  return result;
}

GstCclSendResult
gst_ccl_mqtt_connection_send (GstCclMqttConnection * self, const GstCclDeliveryMessage * message, gchar * reason)
{
  gint qos_level, result, number = 0;
  gboolean retain;

  if (is_pending (self, message->id))
    return GST_CCL_SEND_ACCEPTED;
  g_mutex_lock (&self->lock);
  qos_level = self->qos_level;
  retain = self->retain;
  g_mutex_unlock (&self->lock);
  if (self->version == MQTT_PROTOCOL_V5 && has_expired (self, message)) {
    g_strlcpy (reason, "message-expiry has passed", GST_CCL_DELIVERY_REASON_SIZE);
    return GST_CCL_SEND_REFUSED;
  }
  result = publish (self, message, qos_level, retain, &number);

  /* libmosquitto has kept the message. Without a session this ends with the client. */
  if ((result == MOSQ_ERR_NO_CONN || result == MOSQ_ERR_CONN_LOST) && (!self->resumes || qos_level == 0))
    return GST_CCL_SEND_LATER;
  if (result != MOSQ_ERR_SUCCESS && result != MOSQ_ERR_NO_CONN && result != MOSQ_ERR_CONN_LOST) {
    g_strlcpy (reason, mosquitto_strerror (result), GST_CCL_DELIVERY_REASON_SIZE);
    return GST_CCL_SEND_REFUSED;
  }
  add_pending (self, message->id, number);
  return qos_level == 0 ? GST_CCL_SEND_ACCEPTED_ONCE : GST_CCL_SEND_ACCEPTED;
}

void
gst_ccl_mqtt_connection_set_delivery (GstCclMqttConnection * self, gint qos_level, gboolean retain)
{
  g_mutex_lock (&self->lock);
  self->qos_level = qos_level;
  self->retain = retain;
  g_mutex_unlock (&self->lock);
}

/* ---------------------------------------------------------------- connection */

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

/* Sends the remaining messages and a DISCONNECT, so that the broker does not publish the will. The loop fails when this is done.
 * A broker that did not accept the connection gets less time. */
static void
finish_connection (GstCclMqttConnection * self, gboolean connected)
{
  const gint64 end =
      g_get_monotonic_time () + (connected ? DISCONNECT_TIME : LOOP_TIMEOUT_MS * G_TIME_SPAN_MILLISECOND);

  gst_ccl_mqtt_client_disconnect (self);
  while (mosquitto_loop (self->client, LOOP_TIMEOUT_MS, 1) == MOSQ_ERR_SUCCESS && g_get_monotonic_time () < end);
}

/* The error of a socket that is writable but not connected; 0: it is connected. A socket reports its error once. With TLS
 * libmosquitto may have read it, and left it in errno. */
static gint
failure_of (gint descriptor, gint saved_errno)
{
  struct sockaddr_storage peer;
  socklen_t size = sizeof peer, reason_size = sizeof (gint);
  gint reason = 0;

  if (getsockopt (descriptor, SOL_SOCKET, SO_ERROR, &reason, &reason_size))
    return errno;
  if (reason || !getpeername (descriptor, (struct sockaddr *) &peer, &size))
    return reason;
  return saved_errno && saved_errno != EINPROGRESS && saved_errno != EAGAIN ? saved_errno : ENOTCONN;
}

/* Waits until the connection is made, or the element stops. Returns 0, or the errno of the failure. */
static gint
wait_for_connection (GstCclMqttConnection * self, gint saved_errno)
{
  const gint64 end = g_get_monotonic_time () + CONNECT_TIME;
  struct pollfd descriptor = {.fd = mosquitto_socket (self->client),.events = POLLOUT };

  while (!is_stopping (self)) {
    if (poll (&descriptor, 1, LOOP_TIMEOUT_MS) > 0)
      return failure_of (descriptor.fd, saved_errno);
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

/* Serves the connection until it ends or the element stops. Returns libmosquitto's result, and errno in saved_errno. */
static gint
serve (GstCclMqttConnection * self, gboolean * was_connected, gint * saved_errno)
{
  gint result = MOSQ_ERR_SUCCESS;

  while (result == MOSQ_ERR_SUCCESS && !is_stopping (self)) {
    errno = 0;
    if (self->address.tls && !*was_connected && has_ended (self))
      result = MOSQ_ERR_ERRNO;
    else
      result = mosquitto_loop (self->client, LOOP_TIMEOUT_MS, 1);
    *saved_errno = errno;
    resume_if_due (self);
    if (self->is_accepted && !*was_connected) {
      GST_INFO_OBJECT (self->owner, "connected to %s:%d", self->address.host, self->address.port);
      self->knows_5 |= self->version == MQTT_PROTOCOL_V5;
      *was_connected = TRUE;
      self->connected_at = g_get_monotonic_time ();
      gst_ccl_mqtt_client_warn_of_version (self);
      gst_ccl_delivery_connected (self->delivery);
    }
  }
  return result;
}

/* Whether the broker last let the client in by this family of addresses. */
static gboolean
is_family_of_broker (const GstCclMqttConnection * self, const gchar * local)
{
  return g_strcmp0 (self->local, local) == 0;
}

/* Connects from a local address, and serves the connection. */
static gint
connect_once (GstCclMqttConnection * self, const gchar * local, gboolean * was_connected, gint * saved_errno)
{
  gint result;

  if (!gst_ccl_mqtt_client_renew (self))
    return MOSQ_ERR_CONN_REFUSED;
  errno = 0;
  result =
      mosquitto_connect_bind_async (self->client, self->address.host, self->address.port,
      (int) self->settings->keep_alive, local);
  *saved_errno = errno;
  if (result == MOSQ_ERR_SUCCESS) {
    *saved_errno = wait_for_connection (self, *saved_errno);
    if (*saved_errno)
      result = MOSQ_ERR_ERRNO;
  }
  if (result == MOSQ_ERR_SUCCESS) {
    self->is_reached = TRUE;
    result = serve (self, was_connected, saved_errno);
    if (*was_connected)
      self->local = local;
  } else if (result == MOSQ_ERR_ERRNO && *saved_errno == ECONNREFUSED && is_family_of_broker (self, local)) {
    gst_ccl_mqtt_client_give_up_session (self);
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
  gint first, second, second_errno = 0;

  if (n == 0)
    return MOSQ_ERR_EAI;
  if (is_stopping (self))       /* the name lookup may have taken long */
    return MOSQ_ERR_SUCCESS;
  first = connect_once (self, local[0], was_connected, saved_errno);
  if (n < 2 || first != MOSQ_ERR_ERRNO || *saved_errno == ECONNRESET || *was_connected || is_stopping (self))
    return first;
  second = connect_once (self, local[1], was_connected, &second_errno);
  if (second == MOSQ_ERR_ERRNO && second_errno != ECONNRESET && !*was_connected && !is_family_of_broker (self, local[1]))
    return first;               /* report the failure of the preferred family */
  *saved_errno = second_errno;
  return second;
}

/* Whether to try the other version at once. A broker that does not know version 5 says so, or answers in the form of 3.1.1. One
 * that closes the connection several times may not know it, or may be away behind a proxy: the next connection begins with 5
 * again. */
static gboolean
change_version (GstCclMqttConnection * self, gint result, gboolean was_connected)
{
  const gboolean is_garbled = result == MOSQ_ERR_PROTOCOL || result == MOSQ_ERR_MALFORMED_PACKET;
  const gboolean is_unknown = self->refusal == MQTT_RC_UNSUPPORTED_PROTOCOL_VERSION
      || self->refusal == CONNACK_REFUSED_PROTOCOL_VERSION || (is_garbled && !self->knows_5);

  if (self->settings->version != GST_CCL_MQTT_AUTO || self->is_older || !self->is_reached)
    return FALSE;
  if (was_connected || self->version != MQTT_PROTOCOL_V5) {
    self->version = MQTT_PROTOCOL_V5;
    self->n_closed = 0;
    return FALSE;
  }
  self->is_older = is_unknown;
  if (!is_unknown && (self->knows_5 || result != MOSQ_ERR_CONN_LOST || ++self->n_closed < MAX_CLOSED))
    return FALSE;
  GST_INFO_OBJECT (self->owner, "%s:%d may not know MQTT 5; trying 3.1.1", self->address.host, self->address.port);
  self->version = MQTT_PROTOCOL_V311;
  return TRUE;
}

/* A connection of this version was not made. */
static void
report_failure (GstCclMqttConnection * self, gint version, gint result, gint saved_errno)
{
  if (self->refusal)
    gst_ccl_delivery_not_connected (self->delivery, version == MQTT_PROTOCOL_V5
        ? mosquitto_reason_string (self->refusal) : mosquitto_connack_string (self->refusal));
  else if (result != MOSQ_ERR_CONN_REFUSED)
    gst_ccl_delivery_not_connected (self->delivery, reason_of (result, saved_errno));
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
    const gint version = self->version, result = connect_either (self, &was_connected, &saved_errno);

    if (result == MOSQ_ERR_SUCCESS) {
      if (self->client)
        finish_connection (self, was_connected);
      break;
    }
    /* Before the client or the version changes: it waits for a send(), which reads both, and no other follows. */
    if (was_connected)
      gst_ccl_delivery_lost (self->delivery, "the connection was lost");
    if (gst_ccl_mqtt_client_begins_again (self) || change_version (self, result, was_connected))
      continue;
    if (!was_connected)
      report_failure (self, version, result, saved_errno);
    gst_ccl_mqtt_client_check_session (self, was_connected);
    if (was_connected)
      pause = FIRST_PAUSE;
    /* At once, because a broker that was restarted is not back yet. */
    if (was_connected && self->resumes && g_get_monotonic_time () - self->connected_at >= FIRST_PAUSE)
      continue;
    if (!gst_ccl_delivery_pause (&self->lock, &self->cond, &self->is_stopping, pause))
      break;
    pause = MIN (2 * pause, (gint64) (self->settings->max_pause / 1000));
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
  self->pending = g_array_new (FALSE, FALSE, sizeof (Pending));
  self->early = g_array_new (FALSE, FALSE, sizeof (Pending));
}

void
gst_ccl_mqtt_connection_clear (GstCclMqttConnection * self)
{
  g_array_unref (self->pending);
  g_array_unref (self->early);
  g_free (self->address.host);
  g_free (self->session_id);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->cond);
}

gboolean
gst_ccl_mqtt_connection_open (GstCclMqttConnection * self, const GstCclMqttSettings * settings, GError ** error,
    const gchar ** hint)
{
  struct mosquitto *trial;

  *hint = NULL;
  g_clear_pointer (&self->address.host, g_free);
  if (!gst_ccl_mqtt_address_parse (settings->uri, &self->address, error, hint))
    return FALSE;
  self->settings = settings;
  self->version = settings->version == GST_CCL_MQTT_3_1_1 ? MQTT_PROTOCOL_V311 : MQTT_PROTOCOL_V5;
  self->knows_5 = self->is_older = FALSE;
  self->n_closed = 0;
  if (!gst_ccl_mqtt_check_user_properties (settings->user_properties)) {
    *hint = "The form is KEY=VALUE,KEY=VALUE.";
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "user-properties is not valid.");
    g_clear_pointer (&self->address.host, g_free);
    return FALSE;
  }
  gst_ccl_mqtt_client_set_up_session (self);
  trial = gst_ccl_mqtt_client_create (self, error, hint);
  if (trial)
    mosquitto_destroy (trial);
  else
    g_clear_pointer (&self->address.host, g_free);
  return trial != NULL;
}

void
gst_ccl_mqtt_connection_start (GstCclMqttConnection * self, GstCclDelivery * delivery)
{
  self->delivery = delivery;
  self->is_stopping = self->resumes = FALSE;
  self->local = NULL;
  self->thread = g_thread_new ("cclmqttsink", run_connection, self);
}

void
gst_ccl_mqtt_connection_stop (GstCclMqttConnection * self)
{
  g_mutex_lock (&self->lock);
  self->is_stopping = TRUE;
  g_cond_broadcast (&self->cond);
  g_mutex_unlock (&self->lock);
  g_thread_join (self->thread);
  self->thread = NULL;
  g_clear_pointer (&self->client, mosquitto_destroy);
  self->resumes = FALSE;
}
