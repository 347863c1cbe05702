/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccldeliveryqueue.h"

#include <string.h>

GstCclDeliveryMessage *
gst_ccl_delivery_message_new (gchar * source, gchar * topic, gconstpointer data, gsize size)
{
  gpointer const copy = g_try_malloc (MAX (size, 1));
  GstCclDeliveryEntry *entry;

  if (!copy) {
    g_free (source);
    g_free (topic);
    return NULL;
  }
  if (size > 0)
    memcpy (copy, data, size);
  entry = g_new0 (GstCclDeliveryEntry, 1);
  entry->message = (GstCclDeliveryMessage) {
  .source = source,.topic = topic,.payload = g_bytes_new_take (copy, size),.arrived =
        g_get_monotonic_time (),.arrived_utc = g_get_real_time ()};
  entry->cost = size + strlen (source) + strlen (topic) + GST_CCL_DELIVERY_MESSAGE_COST;
  return &entry->message;
}

void
gst_ccl_delivery_message_free (GstCclDeliveryMessage * message)
{
  g_free (message->source);
  g_free (message->topic);
  g_bytes_unref (message->payload);
  g_free (message);             /* the first member of its entry */
}

static void
free_entry (gpointer entry)
{
  gst_ccl_delivery_message_free (&((GstCclDeliveryEntry *) entry)->message);
}

void
gst_ccl_delivery_queue_init (GstCclDeliveryQueue * queue)
{
  g_queue_init (&queue->waiting);
  g_queue_init (&queue->in_flight);
  queue->waiting_bytes = queue->in_flight_bytes = 0;
}

guint
gst_ccl_delivery_queue_clear (GstCclDeliveryQueue * queue)
{
  const guint n = queue->waiting.length + queue->in_flight.length;

  g_queue_clear_full (&queue->waiting, free_entry);
  g_queue_clear_full (&queue->in_flight, free_entry);
  queue->waiting_bytes = queue->in_flight_bytes = 0;
  return n;
}

void
gst_ccl_delivery_queue_push (GstCclDeliveryQueue * queue, GstCclDeliveryEntry * entry)
{
  g_queue_push_tail (&queue->waiting, entry);
  queue->waiting_bytes += entry->cost;
}

GstCclDeliveryEntry *
gst_ccl_delivery_queue_pop (GstCclDeliveryQueue * queue)
{
  GstCclDeliveryEntry *const entry = g_queue_pop_head (&queue->waiting);

  if (entry)
    queue->waiting_bytes -= entry->cost;
  return entry;
}

GstCclDeliveryEntry *
gst_ccl_delivery_queue_take (GstCclDeliveryQueue * queue)
{
  GstCclDeliveryEntry *const entry = gst_ccl_delivery_queue_pop (queue);

  if (entry) {
    g_queue_push_tail (&queue->in_flight, entry);
    queue->in_flight_bytes += entry->cost;
    entry->is_once = FALSE;
    entry->message.n_sends++;
    entry->sent_at = g_get_monotonic_time ();
  }
  return entry;
}

/* Few wait again, so that the place is near the head. */
void
gst_ccl_delivery_queue_wait_again (GstCclDeliveryQueue * queue, GstCclDeliveryEntry * entry)
{
  GList *next = queue->waiting.head;

  while (next && ((const GstCclDeliveryEntry *) next->data)->message.id < entry->message.id)
    next = next->next;
  g_queue_insert_before (&queue->waiting, next, entry);
  queue->waiting_bytes += entry->cost;
}

void
gst_ccl_delivery_queue_put_back (GstCclDeliveryQueue * queue)
{
  GstCclDeliveryEntry *const entry = g_queue_pop_tail (&queue->in_flight);

  queue->in_flight_bytes -= entry->cost;
  gst_ccl_delivery_queue_wait_again (queue, entry);
}

GstCclDeliveryEntry *
gst_ccl_delivery_queue_remove (GstCclDeliveryQueue * queue, guint64 id)
{
  GstCclDeliveryEntry *entry;
  GList *node;

  for (node = queue->in_flight.head; node; node = node->next) {
    entry = node->data;
    if (entry->message.id == id) {
      g_queue_delete_link (&queue->in_flight, node);
      queue->in_flight_bytes -= entry->cost;
      return entry;
    }
  }
  for (node = queue->waiting.head; node; node = node->next) {
    entry = node->data;
    if (entry->message.n_sends == 0 || entry->message.id > id)
      break;
    if (entry->message.id == id) {
      g_queue_delete_link (&queue->waiting, node);
      queue->waiting_bytes -= entry->cost;
      return entry;
    }
  }
  return NULL;
}

void
gst_ccl_delivery_queue_lose (GstCclDeliveryQueue * queue, GQueue * once)
{
  while (queue->in_flight.length) {
    GstCclDeliveryEntry *const newest = g_queue_peek_tail (&queue->in_flight);

    gst_ccl_delivery_queue_put_back (queue);
    if (newest->is_once) {
      g_queue_remove (&queue->waiting, newest);
      queue->waiting_bytes -= newest->cost;
      g_queue_push_head (once, newest);
    }
  }
}
