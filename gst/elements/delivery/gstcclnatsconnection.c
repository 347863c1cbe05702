/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclnatsconnection.h"

#include <string.h>

#include <nats/nats.h>

GST_DEBUG_CATEGORY_EXTERN (gst_ccl_nats_sink_debug);
#define GST_CAT_DEFAULT gst_ccl_nats_sink_debug

#define FIRST_PAUSE (G_USEC_PER_SEC / 4)
/* How often the thread looks for messages without an acknowledgement. */
#define CHECK_TIME (G_USEC_PER_SEC / 10)

/* ---------------------------------------------------------------- sessions */

/* The client calls from threads of its own, also a moment after a connection was closed. Each call has the number of a session,
 * which is a connection to a server, and finds a publisher only while that session lasts. */
static GRWLock sessions_lock;
static GHashTable *sessions;    /* of GstCclNatsConnection by number */
static guint last_session;

static gpointer
begin_session (GstCclNatsConnection * self)
{
  gpointer session;

  g_rw_lock_writer_lock (&sessions_lock);
  if (!sessions)
    sessions = g_hash_table_new (NULL, NULL);
  session = GUINT_TO_POINTER (++last_session);
  g_hash_table_insert (sessions, session, self);
  g_rw_lock_writer_unlock (&sessions_lock);
  return session;
}

/* Waits for calls that run. */
static void
end_session (gpointer session)
{
  g_rw_lock_writer_lock (&sessions_lock);
  g_hash_table_remove (sessions, session);
  g_rw_lock_writer_unlock (&sessions_lock);
}

/* The publisher until leave(); NULL: the session has ended. */
static GstCclNatsConnection *
enter (gpointer session)
{
  g_rw_lock_reader_lock (&sessions_lock);
  return g_hash_table_lookup (sessions, session);
}

static void
leave (void)
{
  g_rw_lock_reader_unlock (&sessions_lock);
}

/* ---------------------------------------------------------------- messages in flight */

/* All with `lock`. NULL: there is none. */
static GstCclNatsInFlight *
find_message (GstCclNatsConnection * self, const natsMsg * message)
{
  for (guint i = 0; i < GST_CCL_NATS_MAX_IN_FLIGHT; i++) {
    if (self->in_flight[i].id && self->in_flight[i].message == message)
      return &self->in_flight[i];
  }
  return NULL;
}

static GstCclNatsInFlight *
find_source (GstCclNatsConnection * self, const gchar * source)
{
  for (guint i = 0; i < GST_CCL_NATS_MAX_IN_FLIGHT; i++) {
    if (self->in_flight[i].id && !strcmp (self->in_flight[i].source, source))
      return &self->in_flight[i];
  }
  return NULL;
}

static GstCclNatsInFlight *
find_unused (GstCclNatsConnection * self)
{
  for (guint i = 0; i < GST_CCL_NATS_MAX_IN_FLIGHT; i++) {
    if (!self->in_flight[i].id)
      return &self->in_flight[i];
  }
  return NULL;
}

static void
remove_message (GstCclNatsInFlight * in_flight)
{
  g_free (in_flight->source);
  g_free (in_flight->topic);
  g_bytes_unref (in_flight->payload);
  memset (in_flight, 0, sizeof *in_flight);
}

static void
remove_all_messages (GstCclNatsConnection * self)
{
  for (guint i = 0; i < GST_CCL_NATS_MAX_IN_FLIGHT; i++) {
    if (self->in_flight[i].id)
      remove_message (&self->in_flight[i]);
  }
}

/* Whether a message has waited too long for its acknowledgement. */
static gboolean
is_overdue (GstCclNatsConnection * self)
{
  const gint64 limit = g_get_monotonic_time () - self->ack_timeout;

  for (guint i = 0; i < GST_CCL_NATS_MAX_IN_FLIGHT; i++) {
    if (self->in_flight[i].message && self->in_flight[i].sent < limit)
      return TRUE;
  }
  return FALSE;
}

/* ---------------------------------------------------------------- calls of the client */

/* With `lock`. The first reason counts, and the greatest failure. */
static void
fail (GstCclNatsConnection * self, GstCclNatsFailure failure, const gchar * reason)
{
  if (!self->failure)
    g_strlcpy (self->reason, reason, sizeof self->reason);
  self->failure = MAX (self->failure, failure);
  g_cond_broadcast (&self->cond);
}

static void
on_closed (natsConnection * connection, void *session)
{
  GstCclNatsConnection *const self = enter (session);
  const char *text = NULL;
  const natsStatus status = natsConnection_GetLastError (connection, &text);

  if (self) {
    g_mutex_lock (&self->lock);
    fail (self, GST_CCL_NATS_CLOSED, text
        && *text ? text : status != NATS_OK ? natsStatus_GetText (status) : "the connection was lost");
    g_mutex_unlock (&self->lock);
  }
  leave ();
}

/* For example a subject that this user may not publish to: no acknowledgement will come. */
static void
on_error (natsConnection * connection, natsSubscription * subscription, natsStatus status, void *session)
{
  GstCclNatsConnection *const self = enter (session);
  const char *text = NULL;

  if (self) {
    natsConnection_GetLastError (connection, &text);
    GST_INFO_OBJECT (self->owner, "%s: %s", natsStatus_GetText (status), text ? text : "");
    if (status == NATS_NOT_PERMITTED) {
      g_mutex_lock (&self->lock);
      fail (self, GST_CCL_NATS_SILENT, text && *text ? text : natsStatus_GetText (status));
      g_mutex_unlock (&self->lock);
    }
  }
  leave ();
}

static const gchar *
reason_of (const jsPubAckErr * error)
{
  if (error->Err == NATS_NO_RESPONDERS)
    return "no stream takes this subject, or its leader is away";
  return error->ErrText && *error->ErrText ? error->ErrText : natsStatus_GetText (error->Err);
}

/* A stream that discards new messages has reached its limits, or its server has. */
static gboolean
is_full (const jsPubAckErr * error)
{
  return error->ErrCode == JSAccountResourcesExceededErr || error->ErrCode == JSInsufficientResourcesErr
      || error->ErrCode == JSMemoryResourcesExceededErr || error->ErrCode == JSStorageResourcesExceededErr
      || (error->ErrCode == JSStreamStoreFailedErr && error->ErrText && strstr (error->ErrText, "exceeded"));
}

/* The stream's answer to a message. A message that it did not take stays in flight, and is sent again after a pause. */
static void
take_answer (GstCclNatsConnection * self, natsMsg * message, const jsPubAck * taken, const jsPubAckErr * error)
{
  const gboolean is_refused = error && error->ErrCode == JSStreamMessageExceedsMaximumErr;
  const gboolean is_unsure = taken && taken->Duplicate && !taken->Sequence;
  GstCclNatsInFlight *in_flight;
  gboolean was_waiting, ends_outage = FALSE;
  guint64 id = 0;

  g_mutex_lock (&self->lock);
  in_flight = find_message (self, message);
  if (in_flight && (is_unsure || (error && !is_refused))) {
    in_flight->message = NULL;
    in_flight->n_unsure += is_unsure;
    self->is_full |= error && !self->failure && is_full (error);
    fail (self, GST_CCL_NATS_NOT_TAKEN, error ? reason_of (error) : "the stream may not have stored a message");
  } else if (in_flight) {
    id = in_flight->id;
    remove_message (in_flight);
    self->has_delivered = TRUE;
    ends_outage = self->is_outage;
    self->is_outage = FALSE;
  }
  was_waiting = self->is_waiting;
  self->is_waiting = FALSE;
  g_mutex_unlock (&self->lock);

  if (id && taken)
    GST_LOG_OBJECT (self->owner, "message %" G_GUINT64_FORMAT " has the sequence number %" G_GUINT64_FORMAT "%s", id,
        taken->Sequence, taken->Duplicate ? " already" : "");
  if (id && is_refused)
    gst_ccl_delivery_refused (self->delivery, id, reason_of (error));
  else if (id)
    gst_ccl_delivery_acknowledged (self->delivery, id);
  if (ends_outage)
    gst_ccl_delivery_connected (self->delivery);
  else if (was_waiting)
    gst_ccl_delivery_resume (self->delivery);
}

static void
on_answer (jsCtx * context, natsMsg * message, jsPubAck * answer, jsPubAckErr * error, void *session)
{
  GstCclNatsConnection *const self = enter (session);

  if (self)
    take_answer (self, message, answer, error);
  leave ();
  natsMsg_Destroy (message);
}

/* ---------------------------------------------------------------- sending */

/* Keeps a message in the table. NULL: one of its source is in flight, or there is no space. With `lock`. */
static GstCclNatsInFlight *
add_message (GstCclNatsConnection * self, const GstCclDeliveryMessage * message)
{
  GstCclNatsInFlight *const unused = find_unused (self);

  if (!unused || find_source (self, message->source))
    return NULL;
  unused->id = message->id;
  unused->source = g_strdup (message->source);
  unused->topic = g_strdup (message->topic);
  unused->payload = g_bytes_ref (message->payload);
  return unused;
}

static natsMsg *
copy_message (const GstCclNatsInFlight * in_flight)
{
  natsMsg *copy = NULL;
  gsize size;
  gconstpointer const data = g_bytes_get_data (in_flight->payload, &size);

  return natsMsg_Create (&copy, in_flight->topic, NULL, data, (int) size) == NATS_OK ? copy : NULL;
}

/* A message that the client did not take. TRUE: it never will. */
static gboolean
take_failure (GstCclNatsConnection * self, const natsMsg * copy, natsStatus status)
{
  const gboolean is_refused = status == NATS_MAX_PAYLOAD || status == NATS_INVALID_SUBJECT;
  GstCclNatsInFlight *in_flight;

  g_mutex_lock (&self->lock);
  in_flight = find_message (self, copy);
  if (in_flight && is_refused)
    remove_message (in_flight);
  else if (in_flight)
    in_flight->message = NULL;
  if (!is_refused)
    fail (self, GST_CCL_NATS_CLOSED, natsStatus_GetText (status));
  g_mutex_unlock (&self->lock);
  return is_refused;
}

/* Sends a message of the table. Called with `lock`, and releases it meanwhile. */
static void
publish (GstCclNatsConnection * self, GstCclNatsInFlight * in_flight)
{
  jsCtx *const context = self->context;
  natsMsg *const copy = copy_message (in_flight);
  natsMsg *given = copy;
  const guint64 id = in_flight->id;
  const guint n_unsure = in_flight->n_unsure;
  gchar text[64];
  gint n;
  jsPubOptions options;
  natsStatus status = NATS_NO_MEMORY;

  in_flight->message = copy;
  in_flight->sent = g_get_monotonic_time ();
  self->n_publishing++;
  g_mutex_unlock (&self->lock);
  n = g_snprintf (text, sizeof text, "%s-%" G_GUINT64_FORMAT, gst_ccl_delivery_get_instance (self->delivery), id);
  if (n_unsure > 1)
    g_snprintf (text + n, sizeof text - n, "-%u", n_unsure);
  jsPubOptions_Init (&options);
  options.MsgId = text;
  if (copy)
    status = js_PublishMsgAsync (context, &given, &options);
  if (status != NATS_OK && take_failure (self, copy, status))
    gst_ccl_delivery_refused (self->delivery, id,
        status == NATS_MAX_PAYLOAD ? "larger than the server's max_payload" : natsStatus_GetText (status));
  natsMsg_Destroy (given);
  g_mutex_lock (&self->lock);
  self->n_publishing--;
  g_cond_broadcast (&self->cond);
}

static GstCclSendResult
send_message (gpointer transport, const GstCclDeliveryMessage * message, gchar * reason)
{
  GstCclNatsConnection *const self = transport;
  const GstCclNatsInFlight *earlier;
  GstCclNatsInFlight *added = NULL;
  gboolean is_known;

  if (!gst_ccl_nats_subject_is_valid (message->topic) || g_bytes_get_size (message->payload) > G_MAXINT) {
    g_strlcpy (reason, "the subject is not valid, or the message too large", GST_CCL_DELIVERY_REASON_SIZE);
    return GST_CCL_SEND_REFUSED;
  }
  g_strlcpy (reason, "the server does not take it", GST_CCL_DELIVERY_REASON_SIZE);
  g_mutex_lock (&self->lock);
  earlier = find_source (self, message->source);
  is_known = earlier && earlier->id == message->id;     /* its answer is still to come */
  if (!is_known && self->context && !self->failure)
    added = add_message (self, message);
  if (added)
    publish (self, added);
  else if (!is_known)
    self->is_waiting = TRUE;
  g_mutex_unlock (&self->lock);
  return added || is_known ? GST_CCL_SEND_ACCEPTED : GST_CCL_SEND_LATER;
}

/* ---------------------------------------------------------------- the thread */

/* The client's text of its last error, without the file and line before it. */
static const gchar *
last_error (natsStatus status)
{
  const gchar *const text = nats_GetLastError (NULL);
  const gchar *const end = text && *text == '(' ? strstr (text, "): ") : NULL;

  return end ? end + strlen ("): ") : text && *text ? text : natsStatus_GetText (status);
}

static natsConnection *
connect_once (GstCclNatsConnection * self, gpointer session)
{
  natsConnection *connection = NULL;
  gchar reason[GST_CCL_DELIVERY_REASON_SIZE];
  natsStatus status;

  natsOptions_SetClosedCB (self->options, on_closed, session);
  natsOptions_SetErrorHandler (self->options, on_error, session);
  status = natsConnection_Connect (&connection, self->options);
  if (status == NATS_OK)
    return connection;
  g_strlcpy (reason, last_error (status), sizeof reason);
  g_mutex_lock (&self->lock);
  if (self->is_connected)       /* the core takes it so: the last connection was given up */
    fail (self, GST_CCL_NATS_CLOSED, reason);
  g_mutex_unlock (&self->lock);
  gst_ccl_delivery_not_connected (self->delivery, reason);
  return NULL;
}

static jsCtx *
open_context (GstCclNatsConnection * self, natsConnection * connection, gpointer session)
{
  jsCtx *context = NULL;
  jsOptions options;

  jsOptions_Init (&options);
  options.PublishAsync.AckHandler = on_answer;
  options.PublishAsync.AckHandlerClosure = session;
  if (natsConnection_JetStream (&context, connection, &options) != NATS_OK)
    gst_ccl_delivery_not_connected (self->delivery, "no memory");
  return context;
}

/* Waits for a failure, or until the element stops. */
static GstCclNatsFailure
watch (GstCclNatsConnection * self)
{
  GstCclNatsFailure failure;

  g_mutex_lock (&self->lock);
  while (!self->is_stopping && !self->failure) {
    g_cond_wait_until (&self->cond, &self->lock, g_get_monotonic_time () + CHECK_TIME);
    if (is_overdue (self))
      fail (self, GST_CCL_NATS_SILENT, "no acknowledgement came in time");
  }
  failure = self->is_stopping ? GST_CCL_NATS_CLOSED : self->failure;
  g_mutex_unlock (&self->lock);
  return failure;
}

/* Sends again what was not taken. All of it goes before new messages. */
static void
send_again (GstCclNatsConnection * self)
{
  g_mutex_lock (&self->lock);
  if (self->failure == GST_CCL_NATS_NOT_TAKEN)
    self->failure = GST_CCL_NATS_NO_FAILURE;
  self->is_full = FALSE;
  for (guint i = 0; i < GST_CCL_NATS_MAX_IN_FLIGHT && !self->failure; i++) {
    if (self->in_flight[i].id && !self->in_flight[i].message)
      publish (self, &self->in_flight[i]);
  }
  g_mutex_unlock (&self->lock);
  gst_ccl_delivery_resume (self->delivery);
}

/* The next pause between attempts: it doubles until a message is delivered. */
static gint64
next_pause (GstCclNatsConnection * self, gint64 pause)
{
  g_mutex_lock (&self->lock);
  pause = self->has_delivered ? FIRST_PAUSE : MIN (2 * pause, self->max_pause);
  self->has_delivered = FALSE;
  g_mutex_unlock (&self->lock);
  return pause;
}

/* An outage without an end of the connection: what is in flight stays there. */
static void
report_outage (GstCclNatsConnection * self)
{
  gchar reason[GST_CCL_DELIVERY_REASON_SIZE];
  gboolean full;

  g_mutex_lock (&self->lock);
  full = self->failure == GST_CCL_NATS_NOT_TAKEN && self->is_full;
  self->is_outage |= !full;
  g_strlcpy (reason, self->reason, sizeof reason);
  g_mutex_unlock (&self->lock);
  if (full)
    gst_ccl_delivery_full (self->delivery, reason);
  else
    gst_ccl_delivery_not_connected (self->delivery, reason);
}

/* The end of a connection: the core sends again what was in flight. With `lock`, and releases it meanwhile. */
static void
lose (GstCclNatsConnection * self)
{
  const gboolean stopping = self->is_stopping;

  self->is_connected = FALSE;
  g_mutex_unlock (&self->lock);
  if (!stopping)
    gst_ccl_delivery_lost (self->delivery, self->reason);
  g_mutex_lock (&self->lock);
  remove_all_messages (self);
}

/* Serves a connection until it ends, or another is needed. */
static void
serve (GstCclNatsConnection * self, jsCtx * context, gint64 * pause)
{
  gboolean was_connected;
  GstCclNatsFailure failure;

  g_mutex_lock (&self->lock);
  self->context = context;
  was_connected = self->is_connected;
  self->is_connected = TRUE;
  self->is_outage &= was_connected;
  g_mutex_unlock (&self->lock);
  if (!was_connected)
    gst_ccl_delivery_connected (self->delivery);
  do {
    send_again (self);
    failure = watch (self);
    if (failure != GST_CCL_NATS_CLOSED)
      report_outage (self);
    if (failure != GST_CCL_NATS_NOT_TAKEN)
      break;
    *pause = next_pause (self, *pause);
  } while (gst_ccl_delivery_pause (&self->lock, &self->cond, &self->is_stopping, *pause));
}

/* Forgets a context, and with it the answers that are still to come. */
static void
leave_context (GstCclNatsConnection * self)
{
  g_mutex_lock (&self->lock);
  if (self->failure == GST_CCL_NATS_CLOSED || self->is_stopping)
    lose (self);
  self->context = NULL;
  while (self->n_publishing)
    g_cond_wait (&self->cond, &self->lock);
  for (guint i = 0; i < GST_CCL_NATS_MAX_IN_FLIGHT; i++)
    self->in_flight[i].message = NULL;
  self->failure = GST_CCL_NATS_NO_FAILURE;
  g_mutex_unlock (&self->lock);
}

static void
connect_and_serve (GstCclNatsConnection * self, gint64 * pause)
{
  gpointer const session = begin_session (self);
  natsConnection *const connection = connect_once (self, session);
  jsCtx *const context = connection ? open_context (self, connection, session) : NULL;

  if (context)
    serve (self, context, pause);
  end_session (session);
  leave_context (self);
  jsCtx_Destroy (context);
  natsConnection_Destroy (connection);
}

static gpointer
run_connection (gpointer data)
{
  GstCclNatsConnection *const self = data;
  gint64 pause = FIRST_PAUSE / 2;

  do {
    connect_and_serve (self, &pause);
    pause = next_pause (self, pause);
  } while (gst_ccl_delivery_pause (&self->lock, &self->cond, &self->is_stopping, pause));
  nats_ReleaseThreadMemory ();
  return NULL;
}

/* ---------------------------------------------------------------- start and stop */

static void
start (gpointer transport, GstCclDelivery * delivery)
{
  GstCclNatsConnection *const self = transport;

  self->delivery = delivery;
  self->is_stopping = self->is_waiting = self->is_connected = self->is_outage = self->has_delivered = self->is_full =
      FALSE;
  self->failure = GST_CCL_NATS_NO_FAILURE;
  self->thread = g_thread_new ("cclnatssink", run_connection, self);
}

static void
stop (gpointer transport)
{
  GstCclNatsConnection *const self = transport;

  g_mutex_lock (&self->lock);
  self->is_stopping = TRUE;
  g_cond_broadcast (&self->cond);
  g_mutex_unlock (&self->lock);
  g_thread_join (self->thread);
  self->thread = NULL;
}

const GstCclDeliveryTransport gst_ccl_nats_transport = { start, stop, send_message };

void
gst_ccl_nats_connection_init (GstCclNatsConnection * self, GstObject * owner)
{
  memset (self, 0, sizeof *self);
  self->owner = owner;
  g_mutex_init (&self->lock);
  g_cond_init (&self->cond);
}

void
gst_ccl_nats_connection_clear (GstCclNatsConnection * self)
{
  gst_ccl_nats_connection_close (self);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->cond);
}
