/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclmessagequeue.h"

#include <string.h>

GType
gst_ccl_mqtt_overflow_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    {GST_CCL_OVERFLOW_DROP_OLDEST, "Drop the message that has waited longest", "drop-oldest"},
    {GST_CCL_OVERFLOW_DROP_NEWEST, "Drop the message that arrives", "drop-newest"},
    {GST_CCL_OVERFLOW_BLOCK, "Block the pipeline until a message was sent: nothing is dropped, live sources stall",
        "block"},
    {0, NULL, NULL}
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstCclMqttOverflow", values));
  return type;
}

GstCclMessage *
gst_ccl_message_new (gchar * topic, gconstpointer data, gsize size)
{
  gpointer const copy = size <= GST_CCL_MQTT_MAX_PAYLOAD ? g_try_malloc (MAX (size, 1)) : NULL;
  GstCclMessage *message;

  if (!copy) {
    g_free (topic);
    return NULL;
  }
  if (size > 0)
    memcpy (copy, data, size);
  message = g_new (GstCclMessage, 1);
  message->topic = topic;
  message->payload = g_bytes_new_take (copy, size);
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
gst_ccl_message_queue_init (GstCclMessageQueue * queue)
{
  *queue = (GstCclMessageQueue) {
  .first_in_flight = 0};
  g_queue_init (&queue->waiting);
}

guint
gst_ccl_message_queue_clear (GstCclMessageQueue * queue)
{
  const guint n = gst_ccl_message_queue_n_undelivered (queue);

  g_queue_clear_full (&queue->waiting, (GDestroyNotify) gst_ccl_message_free);
  queue->n_in_flight = 0;
  queue->dropped += n;
  return n;
}

void
gst_ccl_message_queue_push (GstCclMessageQueue * queue, GstCclMessage * message, GstCclOverflow overflow, guint size)
{
  if (gst_ccl_message_queue_n_waiting (queue) >= size && overflow == GST_CCL_OVERFLOW_DROP_NEWEST) {
    gst_ccl_message_free (message);
    queue->dropped++;
    return;
  }
  g_queue_push_tail (&queue->waiting, message);
  /* Drops several messages if `size` has become smaller. */
  for (; gst_ccl_message_queue_n_waiting (queue) > size; queue->dropped++)
    gst_ccl_message_free (g_queue_pop_head (&queue->waiting));
}

guint
gst_ccl_message_queue_n_waiting (const GstCclMessageQueue * queue)
{
  return queue->waiting.length;
}

guint
gst_ccl_message_queue_n_undelivered (const GstCclMessageQueue * queue)
{
  return queue->waiting.length + queue->n_in_flight;
}

static GstCclInFlight *
get_in_flight (GstCclMessageQueue * queue, guint index)
{
  return &queue->in_flight[(queue->first_in_flight + index) % GST_CCL_MQTT_MAX_IN_FLIGHT];
}

GstCclMessage *
gst_ccl_message_queue_take (GstCclMessageQueue * queue, gint qos_level)
{
  GstCclMessage *message;

  if (queue->n_in_flight >= GST_CCL_MQTT_MAX_IN_FLIGHT)
    return NULL;
  message = g_queue_pop_head (&queue->waiting);
  if (message) {
    GstCclInFlight *const entry = get_in_flight (queue, queue->n_in_flight++);

    entry->arrived = message->arrived;
    entry->qos_level = qos_level;
    queue->is_sending = TRUE;
    queue->is_lost = FALSE;
  }
  return message;
}

/* The newest message in flight was not sent. */
static void
take_back (GstCclMessageQueue * queue)
{
  if (queue->is_lost)
    queue->dropped--;
  else if (queue->n_in_flight > 0)
    queue->n_in_flight--;
  queue->is_sending = FALSE;
}

void
gst_ccl_message_queue_handed_over (GstCclMessageQueue * queue, GstCclMessage * message)
{
  queue->is_sending = FALSE;
  queue->bytes += g_bytes_get_size (message->payload);
  gst_ccl_message_free (message);
}

void
gst_ccl_message_queue_put_back (GstCclMessageQueue * queue, GstCclMessage * message)
{
  take_back (queue);
  g_queue_push_head (&queue->waiting, message);
}

void
gst_ccl_message_queue_reject (GstCclMessageQueue * queue, GstCclMessage * message)
{
  take_back (queue);
  queue->dropped++;
  gst_ccl_message_free (message);
}

void
gst_ccl_message_queue_acknowledge (GstCclMessageQueue * queue)
{
  if (queue->n_in_flight > 0) {
    gst_ccl_min_avg_max_add (&queue->latency,
        (gst_util_get_timestamp () - get_in_flight (queue, 0)->arrived) / (gdouble) GST_USECOND);
    queue->first_in_flight = (queue->first_in_flight + 1) % GST_CCL_MQTT_MAX_IN_FLIGHT;
    queue->n_in_flight--;
  }
  queue->published++;
}

void
gst_ccl_message_queue_lose (GstCclMessageQueue * queue)
{
  guint n_kept = 0;

  if (queue->is_sending && queue->n_in_flight > 0)
    queue->is_lost = get_in_flight (queue, queue->n_in_flight - 1)->qos_level == 0;
  for (guint i = 0; i < queue->n_in_flight; i++)
    if (get_in_flight (queue, i)->qos_level > 0)
      *get_in_flight (queue, n_kept++) = *get_in_flight (queue, i);
  queue->dropped += queue->n_in_flight - n_kept;
  queue->n_in_flight = n_kept;
}
