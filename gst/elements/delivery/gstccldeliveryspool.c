/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The delivery core: the thread of its spool. */

#include "gstccldeliveryprivate.h"
#include "gstcclspool.h"

GST_DEBUG_CATEGORY_EXTERN (gst_ccl_delivery_debug);
#define GST_CAT_DEFAULT gst_ccl_delivery_debug

/* Rows that are no longer needed are deleted with the next lines, or after this time. */
#define DELETE_TIME (200 * G_TIME_SPAN_MILLISECOND)
#define RETRY_TIME G_TIME_SPAN_SECOND

/* A group is large when the disk was slow. After this number of lines a push that waits gets `lock`. A thread that locks it
 * again at once mostly wins against one that waits. */
#define MAX_LOCKED 500
#define PUSH_TIME 100           /* microseconds */

/* ---------------------------------------------------------------- memory */

/* Lines that were written stay in memory up to half of the messages and a quarter of the bytes. */
static gboolean
memory_has_space (const GstCclDelivery * self, guint64 cost)
{
  const GstCclDeliveryQueue *const queue = &self->queue;

  return queue->waiting.length == 0
      || (queue->waiting.length < self->limits.max_messages / 2
      && queue->waiting_bytes + cost <= self->limits.max_bytes / 4);
}

/* Frees without `lock`, because a push may wait for it. */
static void
free_entries (GstCclDelivery * self, GQueue * entries)
{
  GstCclDeliveryEntry *entry;

  g_mutex_unlock (&self->lock);
  while ((entry = g_queue_pop_head (entries)))
    gst_ccl_delivery_message_free (&entry->message);
  g_mutex_lock (&self->lock);
}

/* Called after each of many entries; n: their number so far. */
static void
let_push_in (GstCclDelivery * self, guint n, GQueue * to_free)
{
  if (n % MAX_LOCKED)
    return;
  free_entries (self, to_free);
  g_mutex_unlock (&self->lock);
  g_usleep (PUSH_TIME);
  g_mutex_lock (&self->lock);
}

/* A line of a group is in the file: it waits in memory, or there. */
static void
accept_entry (GstCclDelivery * self, GstCclDeliveryEntry * entry, GQueue * unloaded)
{
  GstCclDeliverySpool *const spool = self->spool;

  spool->n_incoming--;
  spool->incoming_bytes -= entry->cost;
  spool->n_rows++;
  spool->row_bytes += entry->cost;
  self->stats.accepted++;
  entry->is_spooled = TRUE;
  if (spool->n_unloaded == 0 && memory_has_space (self, entry->cost)) {
    spool->last_loaded = entry->message.id;
    gst_ccl_delivery_queue_push (&self->queue, entry);
  } else {
    spool->n_unloaded++;
    g_queue_push_tail (unloaded, entry);
  }
}

/* Releases `lock` meanwhile. */
static void
accept_entries (GstCclDelivery * self, GQueue * entries)
{
  GQueue unloaded = G_QUEUE_INIT;

  for (guint i = 1; entries->length; i++) {
    accept_entry (self, g_queue_pop_head (entries), &unloaded);
    let_push_in (self, i, &unloaded);
  }
  free_entries (self, &unloaded);
}

/* ---------------------------------------------------------------- work */

static void
report (GstCclDelivery * self, gchar * text)
{
  g_mutex_unlock (&self->lock);
  self->calls->warning (self->owner, text);
  g_mutex_lock (&self->lock);
  g_free (text);
}

/* Drops the oldest lines of the file, of this size or a little more. Releases `lock` meanwhile. */
static void
drop_oldest (GstCclDelivery * self, guint64 bytes)
{
  GstCclDeliverySpool *const spool = self->spool;
  GQueue entries = G_QUEUE_INIT;
  guint64 dropped = bytes, n;

  for (guint i = 1; dropped > 0 && self->queue.waiting.length; i++) {
    GstCclDeliveryEntry *const oldest = gst_ccl_delivery_queue_pop (&self->queue);

    dropped -= MIN (dropped, oldest->cost);
    self->stats.dropped[GST_CCL_DROP_SPOOL_FULL]++;
    gst_ccl_delivery_delete_row (self, oldest);
    g_queue_push_tail (&entries, oldest);
    let_push_in (self, i, &entries);
  }
  free_entries (self, &entries);
  if (dropped == 0 || spool->n_unloaded == 0)
    return;
  g_mutex_unlock (&self->lock);
  n = gst_ccl_spool_drop_oldest (spool->file, spool->last_loaded, &dropped);
  g_mutex_lock (&self->lock);
  spool->n_unloaded -= MIN (spool->n_unloaded, n);
  spool->n_rows -= MIN (spool->n_rows, n);
  spool->row_bytes -= MIN (spool->row_bytes, dropped);
  self->stats.dropped[GST_CCL_DROP_SPOOL_FULL] += n;
}

/* The disk is full, or broken: the lines stay in memory, the oldest in the file make space, and it is tried again. */
static void
handle_failure (GstCclDelivery * self, GQueue * entries, GArray * deleted, const GError * error)
{
  GstCclDeliverySpool *const spool = self->spool;
  const gboolean is_first = !spool->is_failing;
  GstCclDeliveryEntry *later;

  while ((later = g_queue_pop_head (&spool->incoming))) /* fewer than the group has */
    g_queue_push_tail (entries, later);
  spool->incoming = *entries;
  g_queue_init (entries);
  g_array_prepend_vals (spool->deleted, deleted->data, deleted->len);
  spool->is_failing = TRUE;
  spool->retry_at = g_get_monotonic_time () + RETRY_TIME;
  if (is_first)
    report (self, g_strdup_printf ("The spool cannot be written: %s. New lines wait in memory; trying again.",
            error->message));
  /* As long as the memory has space, nothing is dropped. */
  if (spool->is_stopping || self->limits.overflow == GST_CCL_OVERFLOW_BLOCK
      || (spool->n_incoming <= self->limits.max_messages / 2 && spool->incoming_bytes <= self->limits.max_bytes / 4))
    return;
  g_mutex_unlock (&self->lock);
  gst_ccl_spool_shrink (spool->file);
  g_mutex_lock (&self->lock);
  drop_oldest (self, spool->incoming_bytes);
}

/* Writes what has come, and deletes what is no longer needed. Releases `lock` meanwhile. */
static void
write_group (GstCclDelivery * self)
{
  GstCclDeliverySpool *const spool = self->spool;
  GQueue entries = spool->incoming;
  GArray *const deleted = spool->deleted;
  GError *error = NULL;
  gboolean is_written;

  g_queue_init (&spool->incoming);
  spool->deleted = g_array_new (FALSE, FALSE, sizeof (guint64));
  spool->write_at = spool->delete_at = spool->retry_at = 0;
  g_mutex_unlock (&self->lock);
  is_written = gst_ccl_spool_write (spool->file, &entries, deleted, &error);
  g_mutex_lock (&self->lock);
  if (is_written) {
    spool->is_failing = FALSE;
    accept_entries (self, &entries);
    if (spool->row_bytes > spool->max_bytes && self->limits.overflow != GST_CCL_OVERFLOW_BLOCK)
      drop_oldest (self, spool->row_bytes - spool->max_bytes);
  } else {
    handle_failure (self, &entries, deleted, error);
  }
  g_clear_error (&error);
  g_array_unref (deleted);
  gst_ccl_delivery_changed (self);
}

/* Reads the next lines of the file into memory. Releases `lock` meanwhile. */
static void
load (GstCclDelivery * self)
{
  GstCclDeliverySpool *const spool = self->spool;
  const guint max_messages = MAX (self->limits.max_messages / 2, 1);
  const guint64 max_bytes = self->limits.max_bytes / 4;
  GQueue entries = G_QUEUE_INIT, nothing = G_QUEUE_INIT;
  GError *error = NULL;
  GstCclDeliveryEntry *entry;

  g_mutex_unlock (&self->lock);
  gst_ccl_spool_load (spool->file, spool->last_loaded, max_messages, max_bytes, &entries, &error);
  g_mutex_lock (&self->lock);
  if (!entries.length) {
    const guint64 n = spool->n_unloaded;

    self->stats.dropped[GST_CCL_DROP_SPOOL_ERROR] += n;
    spool->n_rows -= MIN (spool->n_rows, n);
    spool->n_unloaded = 0;
    spool->last_loaded = self->next_id - 1;
    report (self, g_strdup_printf ("%" G_GUINT64_FORMAT " lines of the spool cannot be read and are dropped: %s.", n,
            error ? error->message : "they are not there"));
  }
  for (guint i = 1; (entry = g_queue_pop_head (&entries)); i++) {
    spool->last_loaded = entry->message.id;
    spool->n_unloaded -= MIN (spool->n_unloaded, 1);
    gst_ccl_delivery_queue_push (&self->queue, entry);
    let_push_in (self, i, &nothing);
  }
  g_clear_error (&error);
  gst_ccl_delivery_changed (self);
}

/* ---------------------------------------------------------------- thread */

/* Whether to write now. If not, `next` is the time to ask again, or unchanged. */
static gboolean
is_due (GstCclDelivery * self, gint64 * next)
{
  GstCclDeliverySpool *const spool = self->spool;
  const gint64 now = g_get_monotonic_time ();
  gint64 time = 0;

  if (spool->deleted->len && !spool->delete_at)
    spool->delete_at = now + DELETE_TIME;
  if (spool->incoming.length)
    time = spool->write_at;
  else if (spool->deleted->len)
    time = spool->delete_at;
  if (!spool->incoming.length && !spool->deleted->len)
    return FALSE;
  if (spool->is_failing)
    time = spool->retry_at;
  if (spool->is_stopping || time <= now)
    return TRUE;
  *next = time;
  return FALSE;
}

static gpointer
run_spool (gpointer data)
{
  GstCclDelivery *const self = data;
  GstCclDeliverySpool *const spool = self->spool;
  gboolean is_done = FALSE;

  g_mutex_lock (&self->lock);
  while (!is_done) {
    gint64 next = g_get_monotonic_time () + G_TIME_SPAN_SECOND;

    if (is_due (self, &next)) {
      write_group (self);
      is_done = spool->is_stopping && spool->is_failing;
    } else if (spool->is_stopping) {
      is_done = TRUE;
    } else if (spool->n_unloaded && self->queue.waiting.length <= self->max_in_flight) {
      load (self);
    } else {
      g_cond_wait_until (&self->cond, &self->lock, next);
    }
  }
  g_mutex_unlock (&self->lock);
  return NULL;
}

/* ---------------------------------------------------------------- life */

gboolean
gst_ccl_delivery_spool_start (GstCclDelivery * self, const gchar * location, guint64 max_bytes, GError ** error)
{
  GstCclDeliverySpool *spool;
  GstCclSpoolContents contents;
  struct _GstCclSpool *const file = gst_ccl_spool_open (location, &contents, error);

  if (!file)
    return FALSE;
  spool = g_new0 (GstCclDeliverySpool, 1);
  spool->file = file;
  spool->max_bytes = max_bytes;
  spool->deleted = g_array_new (FALSE, FALSE, sizeof (guint64));
  spool->n_rows = spool->n_unloaded = contents.n_rows;
  spool->row_bytes = contents.bytes;
  self->next_id = contents.last_id + 1;
  g_strlcpy (self->instance, contents.instance, sizeof self->instance);
  self->stats.recovered = contents.n_rows;
  self->stats.dropped[GST_CCL_DROP_SPOOL_ERROR] = contents.n_damaged;
  self->spool = spool;
  if (contents.moved_aside) {
    gchar *const text = g_strdup_printf ("The spool is damaged. It was moved to %s, with %" G_GUINT64_FORMAT
        " lines or more.", contents.moved_aside, contents.n_damaged);

    self->calls->warning (self->owner, text);
    g_free (text);
    g_free (contents.moved_aside);
  }
  spool->thread = g_thread_new ("cclspool", run_spool, self);
  return TRUE;
}

static void
free_entry (gpointer entry)
{
  gst_ccl_delivery_message_free (&((GstCclDeliveryEntry *) entry)->message);
}

guint
gst_ccl_delivery_spool_stop (GstCclDelivery * self)
{
  GstCclDeliverySpool *const spool = self->spool;
  guint left;

  g_mutex_lock (&self->lock);
  spool->is_stopping = TRUE;
  gst_ccl_delivery_changed (self);
  g_mutex_unlock (&self->lock);
  g_thread_join (spool->thread);

  g_mutex_lock (&self->lock);
  left = spool->incoming.length;
  self->stats.spool_messages = spool->n_rows;
  self->stats.spool_bytes = spool->row_bytes;
  self->spool = NULL;
  g_mutex_unlock (&self->lock);
  g_queue_clear_full (&spool->incoming, free_entry);
  gst_ccl_spool_close (spool->file);
  g_array_unref (spool->deleted);
  g_free (spool);
  return left;
}
