/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The queue of the delivery core. */

#include <gst/check/gstcheck.h>

#include "delivery/gstccldeliveryqueue.h"

static GstCclDeliveryEntry *
entry_of (guint64 id)
{
  const gchar letter = (gchar) ('a' + id);
  GstCclDeliveryMessage *const message = gst_ccl_delivery_message_new (g_strdup ("s"), g_strdup ("t"), &letter, 1);

  message->id = id;
  return (GstCclDeliveryEntry *) message;
}

static gchar *
letters_of (const GQueue * entries)
{
  GString *const letters = g_string_new (NULL);

  for (GList * node = entries->head; node; node = node->next) {
    const GstCclDeliveryEntry *const entry = node->data;

    g_string_append_c (letters, *(const gchar *) g_bytes_get_data (entry->message.payload, NULL));
  }
  return g_string_free (letters, FALSE);
}

/* The payloads of both lists, and that the sums of bytes are those of the entries. */
static void
check (const GstCclDeliveryQueue * queue, const gchar * expected_waiting, const gchar * expected_in_flight)
{
  const guint64 cost = 1 + 2 + GST_CCL_DELIVERY_MESSAGE_COST;
  gchar *const waiting = letters_of (&queue->waiting), *const in_flight = letters_of (&queue->in_flight);

  fail_unless_equals_string (waiting, expected_waiting);
  fail_unless_equals_string (in_flight, expected_in_flight);
  fail_unless_equals_uint64 (queue->waiting_bytes, strlen (waiting) * cost);
  fail_unless_equals_uint64 (queue->in_flight_bytes, strlen (in_flight) * cost);
  g_free (waiting);
  g_free (in_flight);
}

static void
fill (GstCclDeliveryQueue * queue, guint n)
{
  gst_ccl_delivery_queue_init (queue);
  for (guint id = 0; id < n; id++)
    gst_ccl_delivery_queue_push (queue, entry_of (id));
}

static void
free_removed (GstCclDeliveryEntry * entry, guint64 expected_id)
{
  fail_unless (entry != NULL);
  fail_unless_equals_uint64 (entry->message.id, expected_id);
  gst_ccl_delivery_message_free (&entry->message);
}

GST_START_TEST (test_take_and_put_back)
{
  GstCclDeliveryQueue queue;

  fill (&queue, 3);
  check (&queue, "abc", "");
  fail_unless_equals_int (gst_ccl_delivery_queue_take (&queue)->message.n_sends, 1);
  gst_ccl_delivery_queue_take (&queue);
  check (&queue, "c", "ab");
  gst_ccl_delivery_queue_put_back (&queue);
  check (&queue, "bc", "a");
  free_removed (gst_ccl_delivery_queue_pop (&queue), 1);
  check (&queue, "c", "a");
  fail_unless_equals_int (gst_ccl_delivery_queue_clear (&queue), 2);
  check (&queue, "", "");
  fail_unless (gst_ccl_delivery_queue_take (&queue) == NULL);
}

GST_END_TEST;

/* Answers come in any order, and for messages that wait to be sent again. */
GST_START_TEST (test_remove)
{
  GstCclDeliveryQueue queue;
  GQueue once = G_QUEUE_INIT;

  fill (&queue, 5);
  for (guint i = 0; i < 4; i++)
    gst_ccl_delivery_queue_take (&queue);
  free_removed (gst_ccl_delivery_queue_remove (&queue, 1), 1);
  check (&queue, "e", "acd");
  fail_unless (gst_ccl_delivery_queue_remove (&queue, 1) == NULL);
  fail_unless (gst_ccl_delivery_queue_remove (&queue, 4) == NULL, "it was never sent");
  gst_ccl_delivery_queue_lose (&queue, &once);
  check (&queue, "acde", "");
  fail_unless_equals_int (once.length, 0);
  free_removed (gst_ccl_delivery_queue_remove (&queue, 2), 2);
  fail_unless (gst_ccl_delivery_queue_remove (&queue, 4) == NULL);
  check (&queue, "ade", "");
  gst_ccl_delivery_queue_clear (&queue);
}

GST_END_TEST;

/* Those sent at most once do not wait again. */
GST_START_TEST (test_lose)
{
  GstCclDeliveryQueue queue;
  GQueue once = G_QUEUE_INIT;
  gchar *letters;

  fill (&queue, 5);
  for (guint i = 0; i < 4; i++)
    gst_ccl_delivery_queue_take (&queue)->is_once = i % 2;
  gst_ccl_delivery_queue_lose (&queue, &once);
  check (&queue, "ace", "");
  letters = letters_of (&once);
  fail_unless_equals_string (letters, "bd");
  g_free (letters);
  free_removed (g_queue_pop_head (&once), 1);
  free_removed (g_queue_pop_head (&once), 3);
  fail_if (gst_ccl_delivery_queue_take (&queue)->is_once);
  gst_ccl_delivery_queue_clear (&queue);
}

GST_END_TEST;

static Suite *
delivery_queue_suite (void)
{
  Suite *const suite = suite_create ("delivery-queue");
  TCase *const tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_take_and_put_back);
  tcase_add_test (tc, test_remove);
  tcase_add_test (tc, test_lose);
  return suite;
}

GST_CHECK_MAIN (delivery_queue);
