/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The message queue of cclmqttsink, and how a connection hands its messages over, without a pipeline, broker or network: the
 * program's own mosquitto_publish() stands in for that of libmosquitto. */

#include <gst/check/gstcheck.h>

#include <mosquitto.h>

#include "delivery.h"
#include "delivery/gstcclmqttconnection.h"

GST_DEBUG_CATEGORY (gst_ccl_mqtt_sink_debug);

/* ---------------------------------------------------------------- queue */

static GstCclMessage *
message_of (const gchar * text)
{
  return gst_ccl_message_new (g_strdup ("t"), text, strlen (text));
}

static void
check (const GstCclMessageQueue * queue, const gchar * waiting, guint64 dropped)
{
  check_waiting (queue, waiting);
  fail_unless_equals_uint64 (queue->dropped, dropped);
}

GST_START_TEST (test_overflow)
{
  GstCclMessageQueue queue;

  gst_ccl_message_queue_init (&queue);
  gst_ccl_message_queue_push (&queue, message_of ("a"), GST_CCL_OVERFLOW_DROP_NEWEST, 2);
  gst_ccl_message_queue_push (&queue, message_of ("b"), GST_CCL_OVERFLOW_DROP_NEWEST, 2);
  gst_ccl_message_queue_push (&queue, message_of ("c"), GST_CCL_OVERFLOW_DROP_NEWEST, 2);
  check (&queue, "ab", 1);
  gst_ccl_message_queue_push (&queue, message_of ("d"), GST_CCL_OVERFLOW_DROP_OLDEST, 2);
  check (&queue, "bd", 2);
  gst_ccl_message_queue_push (&queue, message_of ("e"), GST_CCL_OVERFLOW_DROP_OLDEST, 1);
  check (&queue, "e", 4);
  fail_unless_equals_int (gst_ccl_message_queue_n_undelivered (&queue), 1);
  fail_unless_equals_int (gst_ccl_message_queue_clear (&queue), 1);
  check (&queue, "", 5);
}

GST_END_TEST;

static void
push_letters (GstCclMessageQueue * queue, const gchar * letters)
{
  for (; *letters; letters++) {
    const gchar text[2] = { *letters, '\0' };

    gst_ccl_message_queue_push (queue, message_of (text), GST_CCL_OVERFLOW_DROP_OLDEST, 100);
  }
}

GST_START_TEST (test_delivery)
{
  GstCclMessageQueue queue;
  GstCclMessage *message;

  gst_ccl_message_queue_init (&queue);
  push_letters (&queue, "abc");
  message = gst_ccl_message_queue_take (&queue, 0);
  check (&queue, "bc", 0);
  gst_ccl_message_queue_put_back (&queue, message);
  check (&queue, "abc", 0);
  fail_unless_equals_int (queue.n_in_flight, 0);

  gst_ccl_message_queue_handed_over (&queue, gst_ccl_message_queue_take (&queue, 1));
  fail_unless_equals_int (gst_ccl_message_queue_n_undelivered (&queue), 3);
  fail_unless_equals_uint64 (queue.bytes, 1);
  gst_ccl_message_queue_acknowledge (&queue);
  fail_unless_equals_uint64 (queue.published, 1);
  fail_unless_equals_uint64 (queue.latency.n, 1);

  gst_ccl_message_queue_reject (&queue, gst_ccl_message_queue_take (&queue, 1));
  check (&queue, "c", 1);
  fail_unless_equals_int (gst_ccl_message_queue_n_undelivered (&queue), 1);
  gst_ccl_message_queue_clear (&queue);
}

GST_END_TEST;

/* More messages than the ring has entries, twice around. */
GST_START_TEST (test_limit_in_flight)
{
  GstCclMessageQueue queue;
  GstCclMessage *message;
  guint n = 0;

  gst_ccl_message_queue_init (&queue);
  for (guint i = 0; i < 50; i++)
    push_letters (&queue, "x");
  while (n < 50) {
    while ((message = gst_ccl_message_queue_take (&queue, 1)))
      gst_ccl_message_queue_handed_over (&queue, message);
    fail_unless_equals_int (queue.n_in_flight, MIN (GST_CCL_MQTT_MAX_IN_FLIGHT, 50 - n));
    gst_ccl_message_queue_acknowledge (&queue);
    n++;
  }
  fail_unless_equals_int (gst_ccl_message_queue_n_undelivered (&queue), 0);
  fail_unless_equals_uint64 (queue.published, 50);
  fail_unless_equals_uint64 (queue.dropped, 0);
}

GST_END_TEST;

/* Only messages with QoS level 0 are lost with the connection, whatever the level is now. */
GST_START_TEST (test_lost_connection)
{
  GstCclMessageQueue queue;
  GstCclMessage *message;

  gst_ccl_message_queue_init (&queue);
  push_letters (&queue, "abcde");
  gst_ccl_message_queue_handed_over (&queue, gst_ccl_message_queue_take (&queue, 0));
  gst_ccl_message_queue_handed_over (&queue, gst_ccl_message_queue_take (&queue, 1));
  gst_ccl_message_queue_handed_over (&queue, gst_ccl_message_queue_take (&queue, 0));
  gst_ccl_message_queue_lose (&queue);
  check (&queue, "de", 2);
  fail_unless_equals_int (queue.n_in_flight, 1);

  /* The connection breaks while a message is handed over: it was counted as dropped, but waits again. */
  message = gst_ccl_message_queue_take (&queue, 0);
  gst_ccl_message_queue_lose (&queue);
  check (&queue, "e", 3);
  gst_ccl_message_queue_put_back (&queue, message);
  check (&queue, "de", 2);
  fail_unless_equals_int (queue.n_in_flight, 1);

  /* The same with level 1: libmosquitto has it. */
  message = gst_ccl_message_queue_take (&queue, 1);
  gst_ccl_message_queue_lose (&queue);
  gst_ccl_message_queue_handed_over (&queue, message);
  check (&queue, "e", 2);
  fail_unless_equals_int (queue.n_in_flight, 2);
  fail_unless_equals_int (gst_ccl_message_queue_clear (&queue), 3);
}

GST_END_TEST;

/* ---------------------------------------------------------------- handing over */

static GArray *sent;            /* of Sent */
static gint publish_result;

typedef struct
{
  gint qos_level;
  gboolean retain;
} Sent;

int
mosquitto_publish (struct mosquitto *client, int *id, const char *topic, int size, const void *payload, int qos_level,
    bool retain)
{
  const Sent one = { qos_level, retain };

  g_array_append_val (sent, one);
  return publish_result;
}

static void
open_connection (GstCclMqttConnection * connection, GstElement * owner)
{
  sent = g_array_new (FALSE, FALSE, sizeof (Sent));
  publish_result = MOSQ_ERR_SUCCESS;
  gst_ccl_mqtt_connection_init (connection, GST_OBJECT (owner));
  connection->is_connected = TRUE;
}

static void
close_connection (GstCclMqttConnection * connection)
{
  gst_ccl_mqtt_connection_clear (connection);
  g_array_unref (sent);
}

static void
push_one (GstCclMqttConnection * connection)
{
  g_mutex_lock (&connection->lock);
  gst_ccl_mqtt_connection_push (connection, message_of ("x"), GST_CCL_OVERFLOW_DROP_OLDEST, 1000);
  g_mutex_unlock (&connection->lock);
  gst_ccl_mqtt_connection_send_queued (connection);
}

GST_START_TEST (test_settings_of_delivery)
{
  GstElement *const owner = gst_pipeline_new (NULL);
  GstCclMqttConnection connection = { NULL };

  open_connection (&connection, owner);
  for (gint qos_level = 0; qos_level < 3; qos_level++)
    for (gint retain = 0; retain < 2; retain++) {
      gst_ccl_mqtt_connection_set_delivery (&connection, qos_level, retain);
      push_one (&connection);
      fail_unless_equals_int (g_array_index (sent, Sent, sent->len - 1).qos_level, qos_level);
      fail_unless_equals_int (g_array_index (sent, Sent, sent->len - 1).retain, retain);
    }
  fail_unless_equals_int (sent->len, 6);
  close_connection (&connection);
  gst_object_unref (owner);
}

GST_END_TEST;

static gint stop_switching;

/* Level 0 without retain, level 2 with it, in turn. */
static gpointer
switch_delivery (gpointer data)
{
  for (guint i = 0; !g_atomic_int_get (&stop_switching); i++)
    gst_ccl_mqtt_connection_set_delivery (data, i % 2 ? 2 : 0, i % 2);
  return NULL;
}

/* Sends a message. Returns whether the settings are those of `previous`; both must be of the same moment. */
static gboolean
send_and_compare (GstCclMqttConnection * connection, Sent * previous)
{
  const Sent before = *previous;

  push_one (connection);
  g_mutex_lock (&connection->lock);
  gst_ccl_message_queue_acknowledge (&connection->queue);
  g_mutex_unlock (&connection->lock);
  *previous = g_array_index (sent, Sent, sent->len - 1);
  g_array_set_size (sent, 0);
  fail_unless_equals_int (previous->qos_level, previous->retain ? 2 : 0);
  return previous->qos_level == before.qos_level;
}

/* Another thread changes both settings while messages are sent, until messages with each have alternated many times. */
GST_START_TEST (test_settings_change_while_sending)
{
  const gint64 end = g_get_monotonic_time () + 2 * G_TIME_SPAN_SECOND;
  GstElement *const owner = gst_pipeline_new (NULL);
  GstCclMqttConnection connection = { NULL };
  Sent previous = { 0 };
  guint n_changes = 0;
  GThread *thread;

  open_connection (&connection, owner);
  g_atomic_int_set (&stop_switching, FALSE);
  thread = g_thread_new ("switch", switch_delivery, &connection);
  while (n_changes == 0 || (n_changes < 20000 && g_get_monotonic_time () < end))
    n_changes += !send_and_compare (&connection, &previous);
  g_atomic_int_set (&stop_switching, TRUE);
  g_thread_join (thread);
  close_connection (&connection);
  gst_object_unref (owner);
}

GST_END_TEST;

GST_START_TEST (test_failed_handover)
{
  GstElement *const owner = gst_pipeline_new (NULL);
  GstCclMqttConnection connection = { NULL };

  open_connection (&connection, owner);
  publish_result = MOSQ_ERR_NO_CONN;
  push_one (&connection);
  push_one (&connection);       /* the second waits behind the first */
  fail_unless_equals_int (sent->len, 2);
  check (&connection.queue, "xx", 0);
  publish_result = MOSQ_ERR_PAYLOAD_SIZE;
  gst_ccl_mqtt_connection_send_queued (&connection);
  check (&connection.queue, "", 2);
  fail_unless_equals_int (connection.queue.n_in_flight, 0);
  close_connection (&connection);
  gst_object_unref (owner);
}

GST_END_TEST;

static Suite *
delivery_queue_suite (void)
{
  Suite *const suite = suite_create ("delivery-queue");
  TCase *const tc = tcase_create ("general");

  GST_DEBUG_CATEGORY_INIT (gst_ccl_mqtt_sink_debug, "cclmqttsink", 0, "MQTT publisher");
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_overflow);
  tcase_add_test (tc, test_delivery);
  tcase_add_test (tc, test_limit_in_flight);
  tcase_add_test (tc, test_lost_connection);
  tcase_add_test (tc, test_settings_of_delivery);
  tcase_add_test (tc, test_settings_change_while_sending);
  tcase_add_test (tc, test_failed_handover);
  return suite;
}

GST_CHECK_MAIN (delivery_queue);
