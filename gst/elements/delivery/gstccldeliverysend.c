/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The delivery core: the transport's side. */

#include "gstccldeliveryprivate.h"

GST_DEBUG_CATEGORY_EXTERN (gst_ccl_delivery_debug);
#define GST_CAT_DEFAULT gst_ccl_delivery_debug

/* After this number of broken connections without an acknowledgement messages are sent one by one. */
#define CAUTIOUS_LOSSES 3

/* A message is dropped when it was alone in flight on this number of connections that broke within this time. */
#define MAX_SUSPECT_LOSSES 8
#define SUSPECT_TIME (2 * G_TIME_SPAN_SECOND)

/* A broker that was full is full again soon: for this time messages are sent one by one, and one warning is enough. */
#define FULL_TIME (60 * G_TIME_SPAN_SECOND)

/* ---------------------------------------------------------------- the end of a message */

/* The first refusal since start() comes to the owner. */
typedef struct
{
  gchar *topic, *reason;        /* NULL: nothing to report */
} Refusal;

static void
report_refusal (GstCclDelivery * self, Refusal * refusal)
{
  if (refusal->topic)
    self->calls->refused (self->owner, refusal->topic, refusal->reason);
  g_free (refusal->topic);
  g_free (refusal->reason);
}

/* Both take the entry, with `lock`. */
static void
finish_acknowledged (GstCclDelivery * self, GstCclDeliveryEntry * entry)
{
  self->suspicion = (GstCclDeliverySuspicion) {
  0};
  self->stats.acknowledged++;
  self->stats.bytes += g_bytes_get_size (entry->message.payload);
  gst_ccl_min_avg_max_add (&self->stats.latency, (gdouble) (g_get_monotonic_time () - entry->message.arrived));
  gst_ccl_delivery_release (self, entry);
}

static void
finish_refused (GstCclDelivery * self, GstCclDeliveryEntry * entry, const gchar * reason, Refusal * refusal)
{
  GST_INFO ("message %" G_GUINT64_FORMAT " for \"%s\" is refused: %s", entry->message.id, entry->message.topic, reason);
  if (!self->refusal_reported)
    *refusal = (Refusal) {
    g_strdup (entry->message.topic), g_strdup (reason)};
  self->refusal_reported = TRUE;
  gst_ccl_delivery_drop (self, entry, GST_CCL_DROP_REFUSED);
}

/* The answer to a message; that to the one in send() waits until send() returns. FALSE: there is no such message. */
static gboolean
answer (GstCclDelivery * self, guint64 id, GstCclDeliveryAnswer kind, const gchar * reason)
{
  GstCclDeliveryEntry *entry = NULL;
  Refusal refusal = { NULL, NULL };
  gboolean is_known;

  g_mutex_lock (&self->lock);
  is_known = id && id == self->sending;
  if (is_known) {
    self->answer = kind;
    g_strlcpy (self->answer_reason, reason ? reason : "", sizeof self->answer_reason);
  } else {
    entry = gst_ccl_delivery_queue_remove (&self->queue, id);
  }
  if (entry && kind == GST_CCL_ANSWER_ACKNOWLEDGED)
    finish_acknowledged (self, entry);
  else if (entry && kind == GST_CCL_ANSWER_REFUSED)
    finish_refused (self, entry, reason, &refusal);
  else if (entry)
    gst_ccl_delivery_queue_wait_again (&self->queue, entry);
  is_known |= entry != NULL;
  if (is_known && kind == GST_CCL_ANSWER_POSTPONED) {
    self->is_full = TRUE;
    self->cautious_until = g_get_monotonic_time () + FULL_TIME;
  }
  if (entry)
    gst_ccl_delivery_changed (self);
  g_mutex_unlock (&self->lock);
  report_refusal (self, &refusal);
  return is_known;
}

void
gst_ccl_delivery_acknowledged (GstCclDelivery * self, guint64 id)
{
  answer (self, id, GST_CCL_ANSWER_ACKNOWLEDGED, NULL);
}

void
gst_ccl_delivery_refused (GstCclDelivery * self, guint64 id, const gchar * reason)
{
  answer (self, id, GST_CCL_ANSWER_REFUSED, reason);
}

void
gst_ccl_delivery_full (GstCclDelivery * self, const gchar * reason)
{
  const gint64 now = g_get_monotonic_time ();
  gboolean is_reported;

  g_mutex_lock (&self->lock);
  is_reported = now < self->full_until;
  self->full_until = now + FULL_TIME;
  g_strlcpy (self->stats.last_error, reason, sizeof self->stats.last_error);
  g_mutex_unlock (&self->lock);
  if (!is_reported)
    self->calls->full (self->owner, reason);
}

void
gst_ccl_delivery_postponed (GstCclDelivery * self, guint64 id, const gchar * reason)
{
  if (answer (self, id, GST_CCL_ANSWER_POSTPONED, reason))
    gst_ccl_delivery_full (self, reason);
}

/* ---------------------------------------------------------------- sending */

/* The next message to send, now in flight, or NULL. */
static GstCclDeliveryEntry *
take_next (GstCclDelivery * self)
{
  GstCclDeliveryQueue *const queue = &self->queue;
  const gboolean is_cautious = self->suspicion.n_losses >= CAUTIOUS_LOSSES
      || (self->cautious_until && g_get_monotonic_time () < self->cautious_until);
  const guint window = is_cautious ? 1 : self->max_in_flight;
  const GstCclDeliveryEntry *const next = g_queue_peek_head (&queue->waiting);

  if (!next || !self->stats.is_connected || self->is_blocked || self->is_full || queue->in_flight.length >= window)
    return NULL;
  /* Half of the memory stays for those that wait. */
  if (queue->in_flight.length && queue->in_flight_bytes + next->cost > self->limits.max_bytes / 2)
    return NULL;
  return gst_ccl_delivery_queue_take (queue);
}

/* What send() returned for the newest message in flight, or what was answered meanwhile. */
static void
handle_result (GstCclDelivery * self, GstCclDeliveryEntry * entry, GstCclSendResult result, const gchar * reason,
    Refusal * refusal)
{
  const GstCclDeliveryAnswer early = self->answer;

  entry->is_once = result == GST_CCL_SEND_ACCEPTED_ONCE;
  if (result == GST_CCL_SEND_LATER) {
    entry->message.n_sends--;
    gst_ccl_delivery_queue_put_back (&self->queue);
    return;
  }
  if (result != GST_CCL_SEND_REFUSED)
    self->stats.sent++;
  if (result != GST_CCL_SEND_REFUSED && early == GST_CCL_ANSWER_POSTPONED) {
    gst_ccl_delivery_queue_put_back (&self->queue);
    return;
  }
  if (result == GST_CCL_SEND_REFUSED || early != GST_CCL_ANSWER_NONE)
    gst_ccl_delivery_queue_remove (&self->queue, entry->message.id);
  if (result == GST_CCL_SEND_REFUSED || early == GST_CCL_ANSWER_REFUSED)
    finish_refused (self, entry, result == GST_CCL_SEND_REFUSED ? reason : self->answer_reason, refusal);
  else if (early == GST_CCL_ANSWER_ACKNOWLEDGED)
    finish_acknowledged (self, entry);
}

/* Sends one message. Releases `lock` meanwhile. */
static void
send_one (GstCclDelivery * self, GstCclDeliveryEntry * entry)
{
  const guint64 n_resumes = self->n_resumes;
  gchar reason[GST_CCL_DELIVERY_REASON_SIZE] = "the broker does not take it";
  Refusal refusal = { NULL, NULL };
  GstCclSendResult result;

  self->sending = entry->message.id;
  self->answer = GST_CCL_ANSWER_NONE;
  g_mutex_unlock (&self->lock);
  result = self->functions->send (self->transport, &entry->message, reason);
  g_mutex_lock (&self->lock);
  self->sending = 0;
  self->is_blocked = result == GST_CCL_SEND_LATER && self->n_resumes == n_resumes;
  handle_result (self, entry, result, reason, &refusal);
  gst_ccl_delivery_changed (self);
  if (refusal.topic) {
    g_mutex_unlock (&self->lock);
    report_refusal (self, &refusal);
    g_mutex_lock (&self->lock);
  }
}

gpointer
gst_ccl_delivery_run_sender (gpointer data)
{
  GstCclDelivery *const self = data;

  g_mutex_lock (&self->lock);
  while (!self->is_stopping) {
    GstCclDeliveryEntry *const entry = take_next (self);

    if (entry)
      send_one (self, entry);
    else
      g_cond_wait (&self->cond, &self->lock);
  }
  g_mutex_unlock (&self->lock);
  return NULL;
}

/* ---------------------------------------------------------------- connection */

void
gst_ccl_delivery_resume (GstCclDelivery * self)
{
  g_mutex_lock (&self->lock);
  self->n_resumes++;
  self->is_blocked = self->is_full = FALSE;
  gst_ccl_delivery_changed (self);
  g_mutex_unlock (&self->lock);
}

void
gst_ccl_delivery_connected (GstCclDelivery * self)
{
  g_mutex_lock (&self->lock);
  self->stats.is_connected = TRUE;
  self->stats.n_connects++;
  self->n_resumes++;
  self->is_blocked = self->is_full = self->outage_reported = FALSE;
  gst_ccl_delivery_changed (self);
  g_mutex_unlock (&self->lock);
  self->calls->connected (self->owner);
}

/* An outage is reported once for each reason, however often attempts fail. */
static void
report_outage (GstCclDelivery * self, const gchar * reason)
{
  gboolean is_reported;

  g_mutex_lock (&self->lock);
  self->stats.n_failures++;
  is_reported = self->outage_reported && !g_strcmp0 (self->stats.last_error, reason);
  self->outage_reported = TRUE;
  g_strlcpy (self->stats.last_error, reason, sizeof self->stats.last_error);
  gst_ccl_delivery_changed (self);
  g_mutex_unlock (&self->lock);
  GST_DEBUG ("%s", reason);
  if (!is_reported)
    self->calls->disconnected (self->owner, reason);
}

void
gst_ccl_delivery_not_connected (GstCclDelivery * self, const gchar * reason)
{
  report_outage (self, reason);
}

/* Before the messages in flight wait again: whether the only one breaks connections. */
static gboolean
is_guilty (GstCclDelivery * self)
{
  GstCclDeliverySuspicion *const suspicion = &self->suspicion;
  const GstCclDeliveryEntry *const oldest = g_queue_peek_head (&self->queue.in_flight);

  if (!oldest)
    return FALSE;
  suspicion->n_losses++;
  if (self->queue.in_flight.length > 1 || g_get_monotonic_time () - oldest->sent_at > SUSPECT_TIME) {
    suspicion->n_suspect_losses = 0;
    return FALSE;
  }
  if (suspicion->suspect != oldest->message.id)
    suspicion->n_suspect_losses = 0;
  suspicion->suspect = oldest->message.id;
  return ++suspicion->n_suspect_losses >= MAX_SUSPECT_LOSSES && !suspicion->has_dropped;
}

/* Puts back what was in flight. With `lock`. */
static void
lose_in_flight (GstCclDelivery * self, Refusal * refusal)
{
  const gboolean guilty = is_guilty (self);
  GQueue once = G_QUEUE_INIT;
  GstCclDeliveryEntry *entry;

  gst_ccl_delivery_queue_lose (&self->queue, &once);
  if (guilty && !once.length) {
    self->suspicion.has_dropped = TRUE;
    finish_refused (self, gst_ccl_delivery_queue_pop (&self->queue), "each connection broke when it was sent", refusal);
  }
  while ((entry = g_queue_pop_head (&once)))
    gst_ccl_delivery_drop (self, entry, GST_CCL_DROP_LOST);
}

void
gst_ccl_delivery_lost (GstCclDelivery * self, const gchar * reason)
{
  Refusal refusal = { NULL, NULL };
  gboolean was_connected;

  g_mutex_lock (&self->lock);
  was_connected = self->stats.is_connected;
  self->stats.is_connected = FALSE;
  while (self->sending)
    g_cond_wait (&self->cond, &self->lock);
  if (was_connected)
    lose_in_flight (self, &refusal);
  gst_ccl_delivery_changed (self);
  g_mutex_unlock (&self->lock);
  report_refusal (self, &refusal);
  if (was_connected)
    report_outage (self, reason);
}
