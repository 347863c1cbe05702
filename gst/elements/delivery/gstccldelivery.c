/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The delivery core: its life, the pipeline's side, and statistics. */

#include "gstccldeliveryprivate.h"

GST_DEBUG_CATEGORY (gst_ccl_delivery_debug);
#define GST_CAT_DEFAULT gst_ccl_delivery_debug

static const gchar *const drop_names[] = { "full", "too-large", "refused", "lost", "stopped", "spool-full",
  "spool-error"
};

G_STATIC_ASSERT (G_N_ELEMENTS (drop_names) == GST_CCL_DROP_N);

const gchar *
gst_ccl_drop_name (GstCclDrop drop)
{
  return drop_names[drop];
}

guint64
gst_ccl_delivery_stats_dropped (const GstCclDeliveryStats * stats)
{
  guint64 sum = 0;

  for (guint i = 0; i < GST_CCL_DROP_N; i++)
    sum += stats->dropped[i];
  return sum;
}

void
gst_ccl_delivery_changed (GstCclDelivery * self)
{
  self->n_changes++;
  g_cond_broadcast (&self->cond);
}

void
gst_ccl_delivery_delete_row (GstCclDelivery * self, const GstCclDeliveryEntry * entry)
{
  GstCclDeliverySpool *const spool = self->spool;

  if (entry->is_spooled) {
    g_array_append_val (spool->deleted, entry->message.id);
    spool->n_rows--;
    spool->row_bytes -= entry->cost;
  }
}

void
gst_ccl_delivery_release (GstCclDelivery * self, GstCclDeliveryEntry * entry)
{
  gst_ccl_delivery_delete_row (self, entry);
  gst_ccl_delivery_message_free (&entry->message);
}

void
gst_ccl_delivery_drop (GstCclDelivery * self, GstCclDeliveryEntry * entry, GstCclDrop reason)
{
  self->stats.dropped[reason]++;
  gst_ccl_delivery_release (self, entry);
}

/* ---------------------------------------------------------------- life */

GstCclDelivery *
gst_ccl_delivery_new (const GstCclDeliveryTransport * functions, gpointer transport, const GstCclDeliveryOwner * calls,
    gpointer owner)
{
  GstCclDelivery *const self = g_new0 (GstCclDelivery, 1);

  GST_DEBUG_CATEGORY_INIT (gst_ccl_delivery_debug, "ccldelivery", 0, "delivery of lines to brokers");
  self->functions = functions;
  self->transport = transport;
  self->calls = calls;
  self->owner = owner;
  self->limits = (GstCclDeliveryLimits) {
  GST_CCL_OVERFLOW_DROP_OLDEST, 1000, 64 << 20};
  g_mutex_init (&self->lock);
  g_cond_init (&self->cond);
  gst_ccl_delivery_queue_init (&self->queue);
  return self;
}

void
gst_ccl_delivery_free (GstCclDelivery * self)
{
  g_assert (!self->is_running);
  gst_ccl_delivery_queue_clear (&self->queue);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->cond);
  g_free (self);
}

static gboolean
start_spool (GstCclDelivery * self, const GstCclDeliverySettings * settings, GError ** error)
{
  if (!settings->spool_location)
    return TRUE;
#ifdef HAVE_SQLITE
  return gst_ccl_delivery_spool_start (self, settings->spool_location, settings->spool_max_bytes, error);
#else
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
      "spool-location is set, and this build has no spool: it lacks SQLite.");
  return FALSE;
#endif
}

gboolean
gst_ccl_delivery_start (GstCclDelivery * self, const GstCclDeliverySettings * settings, GError ** error)
{
  g_assert (!self->is_running);
  g_snprintf (self->instance, sizeof self->instance, "%08x%08x", g_random_int (), g_random_int ());
  self->max_in_flight = MAX (settings->max_in_flight, 1);
  self->stats = (GstCclDeliveryStats) {
  0};
  self->suspicion = (GstCclDeliverySuspicion) {
  0};
  self->next_id = 1;
  self->is_stopping = self->is_blocked = self->is_full = self->outage_reported = self->refusal_reported = FALSE;
  self->full_until = self->cautious_until = 0;
  self->sending = 0;
  if (!start_spool (self, settings, error))
    return FALSE;
  self->is_running = TRUE;
  self->sender = g_thread_new ("ccldelivery", gst_ccl_delivery_run_sender, self);
  self->functions->start (self->transport, self);
  return TRUE;
}

/* Drops what is only in memory. Returns the number. With `lock`. */
static guint
drop_left (GstCclDelivery * self)
{
  GQueue once = G_QUEUE_INIT;
  GstCclDeliveryEntry *entry;
  guint n = 0;

  gst_ccl_delivery_queue_lose (&self->queue, &once);
  while ((entry = g_queue_pop_head (&once)) || (entry = gst_ccl_delivery_queue_pop (&self->queue))) {
    n += !entry->is_spooled;
    gst_ccl_delivery_message_free (&entry->message);
  }
  return n;
}

guint
gst_ccl_delivery_stop (GstCclDelivery * self)
{
  guint left = 0;

  g_mutex_lock (&self->lock);
  self->is_stopping = TRUE;
  gst_ccl_delivery_changed (self);
  g_mutex_unlock (&self->lock);
  g_thread_join (self->sender);
  self->sender = NULL;
  self->functions->stop (self->transport);
#ifdef HAVE_SQLITE
  if (self->spool)
    left = gst_ccl_delivery_spool_stop (self);
#endif

  g_mutex_lock (&self->lock);
  left += drop_left (self);
  self->stats.dropped[GST_CCL_DROP_STOPPED] += left;
  self->is_running = self->stats.is_connected = FALSE;
  gst_ccl_delivery_changed (self);
  g_mutex_unlock (&self->lock);
  return left;
}

gboolean
gst_ccl_delivery_pause (GMutex * lock, GCond * cond, const gboolean * is_stopping, gint64 microseconds)
{
  const gint64 end = g_get_monotonic_time () + microseconds;
  gboolean stopping;

  g_mutex_lock (lock);
  while (!*is_stopping && g_cond_wait_until (cond, lock, end));
  stopping = *is_stopping;
  g_mutex_unlock (lock);
  return !stopping;
}

const gchar *
gst_ccl_delivery_get_instance (GstCclDelivery * self)
{
  return self->instance;
}

/* ---------------------------------------------------------------- push */

void
gst_ccl_delivery_set_limits (GstCclDelivery * self, const GstCclDeliveryLimits * limits)
{
  g_mutex_lock (&self->lock);
  self->limits = *limits;
  gst_ccl_delivery_changed (self);
  g_mutex_unlock (&self->lock);
}

static gboolean
has_space (const GstCclDelivery * self, const GstCclDeliveryEntry * entry)
{
  const GstCclDeliveryQueue *const queue = &self->queue;
  const GstCclDeliverySpool *const spool = self->spool;
  const guint n = spool ? spool->n_incoming : queue->waiting.length;
  const guint64 bytes = queue->waiting_bytes + queue->in_flight_bytes + entry->cost;

  /* Otherwise a full spool drops its oldest lines. */
  if (spool && self->limits.overflow == GST_CCL_OVERFLOW_BLOCK
      && spool->row_bytes + spool->incoming_bytes + entry->cost > spool->max_bytes)
    return FALSE;
  return n < self->limits.max_messages && bytes + (spool ? spool->incoming_bytes : 0) <= self->limits.max_bytes;
}

/* The oldest that only waits in memory. (transfer full) */
static GstCclDeliveryEntry *
pop_oldest (GstCclDelivery * self)
{
  GstCclDeliverySpool *const spool = self->spool;
  GstCclDeliveryEntry *entry;

  if (!spool)
    return gst_ccl_delivery_queue_pop (&self->queue);
  entry = g_queue_pop_head (&spool->incoming);
  if (entry) {
    spool->n_incoming--;
    spool->incoming_bytes -= entry->cost;
  }
  return entry;
}

/* Drops the oldest until the entry has space, or none is left. */
static void
make_space (GstCclDelivery * self, const GstCclDeliveryEntry * entry)
{
  GstCclDeliveryEntry *oldest;

  while (!has_space (self, entry) && (oldest = pop_oldest (self)))
    gst_ccl_delivery_drop (self, oldest, GST_CCL_DROP_FULL);
}

/* Appends to those that wait, or to those that the spool is to write. */
static void
append (GstCclDelivery * self, GstCclDeliveryEntry * entry)
{
  GstCclDeliverySpool *const spool = self->spool;

  entry->message.id = self->next_id++;
  if (!spool) {
    self->stats.accepted++;
    gst_ccl_delivery_queue_push (&self->queue, entry);
    return;
  }
  if (!spool->write_at)
    spool->write_at = g_get_monotonic_time () + GST_CCL_DELIVERY_GROUP_TIME;
  g_queue_push_tail (&spool->incoming, entry);
  spool->n_incoming++;
  spool->incoming_bytes += entry->cost;
}

static GstCclPushResult
push_locked (GstCclDelivery * self, GstCclDeliveryEntry * entry)
{
  const GstCclDeliveryLimits *const limits = &self->limits;
  const gboolean is_too_large = entry->cost > limits->max_bytes;

  if (!is_too_large && !has_space (self, entry)) {
    if (limits->overflow == GST_CCL_OVERFLOW_BLOCK)
      return GST_CCL_PUSH_FULL;
    if (self->stats.dropped[GST_CCL_DROP_FULL] == 0)
      GST_WARNING ("the queue of %u messages or %" G_GUINT64_FORMAT " bytes is full; dropping", limits->max_messages,
          limits->max_bytes);
    if (limits->overflow == GST_CCL_OVERFLOW_DROP_OLDEST)
      make_space (self, entry);
  }
  self->stats.pushed++;
  if (is_too_large || !has_space (self, entry)) {
    gst_ccl_delivery_drop (self, entry, is_too_large ? GST_CCL_DROP_TOO_LARGE : GST_CCL_DROP_FULL);
    return GST_CCL_PUSH_DROPPED;
  }
  append (self, entry);
  return GST_CCL_PUSH_QUEUED;
}

GstCclPushResult
gst_ccl_delivery_push (GstCclDelivery * self, GstCclDeliveryMessage * message)
{
  GstCclPushResult result;

  g_mutex_lock (&self->lock);
  result = push_locked (self, (GstCclDeliveryEntry *) message);
  if (result != GST_CCL_PUSH_FULL)
    gst_ccl_delivery_changed (self);
  g_mutex_unlock (&self->lock);
  return result;
}

void
gst_ccl_delivery_count_drop (GstCclDelivery * self, GstCclDrop drop)
{
  g_mutex_lock (&self->lock);
  self->stats.pushed++;
  self->stats.dropped[drop]++;
  g_mutex_unlock (&self->lock);
}

/* ---------------------------------------------------------------- waiting and statistics */

gboolean
gst_ccl_delivery_wait (GstCclDelivery * self, guint64 * seen, gint64 end)
{
  gboolean in_time = TRUE;

  g_mutex_lock (&self->lock);
  while (in_time && self->n_changes == *seen) {
    if (end < 0)
      g_cond_wait (&self->cond, &self->lock);
    else
      in_time = g_cond_wait_until (&self->cond, &self->lock, end);
  }
  *seen = self->n_changes;
  g_mutex_unlock (&self->lock);
  return in_time;
}

void
gst_ccl_delivery_wake (GstCclDelivery * self)
{
  g_mutex_lock (&self->lock);
  gst_ccl_delivery_changed (self);
  g_mutex_unlock (&self->lock);
}

void
gst_ccl_delivery_report_again (GstCclDelivery * self)
{
  g_mutex_lock (&self->lock);
  self->outage_reported = FALSE;
  g_mutex_unlock (&self->lock);
}

guint64
gst_ccl_delivery_n_undelivered (GstCclDelivery * self)
{
  guint64 n;

  g_mutex_lock (&self->lock);
  n = self->queue.waiting.length + self->queue.in_flight.length;
  if (self->spool)
    n += self->spool->n_incoming + self->spool->n_unloaded;
  g_mutex_unlock (&self->lock);
  return n;
}

void
gst_ccl_delivery_get_stats (GstCclDelivery * self, GstCclDeliveryStats * stats)
{
  g_mutex_lock (&self->lock);
  *stats = self->stats;
  stats->queued = self->queue.waiting.length;
  stats->in_flight = self->queue.in_flight.length;
  stats->queued_bytes = self->queue.waiting_bytes + self->queue.in_flight_bytes;
  if (self->spool) {
    stats->queued += self->spool->n_incoming;
    stats->queued_bytes += self->spool->incoming_bytes;
    stats->spool_messages = self->spool->n_rows;
    stats->spool_bytes = self->spool->row_bytes;
  }
  g_mutex_unlock (&self->lock);
}
