/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The parts of cclmqttsink that need neither a pipeline nor a broker: addresses, topics, the bounded queue. */

#include <gst/check/gstcheck.h>

#include "delivery/gstcclmqttaddress.h"
#include "delivery/gstcclmqttconnection.h"
#include "delivery/gstccltopic.h"

GST_DEBUG_CATEGORY (gst_ccl_mqtt_sink_debug);

GST_START_TEST (test_addresses)
{
  static const struct
  {
    const gchar *uri, *host;
    gint port;
    gboolean tls;
  } right[] = {
    {"mqtt://localhost", "localhost", 1883, FALSE},
    {"MQTT://broker.example.org:1234", "broker.example.org", 1234, FALSE},
    {"mqtts://10.0.0.1", "10.0.0.1", 8883, TRUE},
    {"mqtt://[::1]:1", "::1", 1, FALSE},
  };

  for (guint i = 0; i < G_N_ELEMENTS (right); i++) {
    GstCclMqttAddress address = { NULL };
    GError *error = NULL;
    const gchar *hint;

    fail_unless (gst_ccl_mqtt_address_parse (right[i].uri, &address, &error, &hint), "%s", right[i].uri);
    fail_unless_equals_string (address.host, right[i].host);
    fail_unless_equals_int (address.port, right[i].port);
    fail_unless_equals_int (address.tls, right[i].tls);
    g_free (address.host);
  }
}

GST_END_TEST;

GST_START_TEST (test_wrong_addresses)
{
  static const gchar *const wrong[] = { NULL, "", "localhost", "http://localhost", "mqtt://", "mqtt://host:0",
    "mqtt://host:70000", "mqtt://user:secret@host", "mqtt://user@host", "mqtt://user:secret@host:x"
  };

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    GstCclMqttAddress address = { NULL };
    GError *error = NULL;
    const gchar *hint = NULL;

    fail_if (gst_ccl_mqtt_address_parse (wrong[i], &address, &error, &hint), "%s", wrong[i]);
    fail_unless (error && hint && !address.host);
    fail_if (strstr (error->message, "secret"), "%s", error->message);
    g_error_free (error);
  }
}

GST_END_TEST;

static void
check_topic (const gchar * pattern, const gchar * text, const gchar * expected)
{
  gchar *const topic = gst_ccl_topic_expand (pattern, text, strlen (text));

  fail_unless_equals_string (topic, expected);
  g_free (topic);
}

GST_START_TEST (test_topics)
{
  check_topic ("a/b", "{\"source\":\"cam\"}", "a/b");
  check_topic ("a/{source-id}/b", "{\"source\":\"cam\"}", "a/cam/b");
  check_topic ("{source-id}/{source-id}", "{\"source\":\"cam\"}", "cam/cam");
  check_topic ("a/{source-id}", "{\"source\":\"x/+#y\"}", "a/x___y");
  check_topic ("a/{source-id}", "{\"source\":\"\"}", "a/unknown");
  check_topic ("a/{source-id}", "{\"source\":1}", "a/unknown");
  check_topic ("a/{source-id}", "[1]", "a/unknown");
  check_topic ("a/{source-id}", "no JSON", "a/unknown");
}

GST_END_TEST;

static void
push (GstCclMqttConnection * connection, const gchar * text, GstCclOverflow overflow, guint size)
{
  g_mutex_lock (&connection->lock);
  gst_ccl_mqtt_connection_push (connection, gst_ccl_message_new (g_strdup ("t"), text, strlen (text)), overflow, size);
  g_mutex_unlock (&connection->lock);
}

/* The payloads that wait, as one string. */
static gchar *
waiting (GstCclMqttConnection * connection)
{
  GString *const all = g_string_new (NULL);

  for (GList * node = connection->queue.head; node; node = node->next) {
    gsize size;
    const gchar *const data = g_bytes_get_data (((GstCclMessage *) node->data)->payload, &size);
    g_string_append_len (all, data, size);
  }
  return g_string_free (all, FALSE);
}

static void
check_waiting (GstCclMqttConnection * connection, const gchar * expected, guint64 dropped)
{
  gchar *const text = waiting (connection);

  fail_unless_equals_string (text, expected);
  fail_unless_equals_uint64 (connection->stats.dropped, dropped);
  g_free (text);
}

GST_START_TEST (test_overflow)
{
  GstElement *const owner = gst_pipeline_new (NULL);
  GstCclMqttConnection connection = { NULL };

  gst_ccl_mqtt_connection_init (&connection, GST_OBJECT (owner));
  push (&connection, "a", GST_CCL_OVERFLOW_DROP_NEWEST, 2);
  push (&connection, "b", GST_CCL_OVERFLOW_DROP_NEWEST, 2);
  push (&connection, "c", GST_CCL_OVERFLOW_DROP_NEWEST, 2);
  check_waiting (&connection, "ab", 1);
  push (&connection, "d", GST_CCL_OVERFLOW_DROP_OLDEST, 2);
  check_waiting (&connection, "bd", 2);
  push (&connection, "e", GST_CCL_OVERFLOW_DROP_OLDEST, 1);
  check_waiting (&connection, "e", 4);
  fail_unless_equals_int (gst_ccl_mqtt_connection_n_waiting (&connection), 1);
  g_queue_clear_full (&connection.queue, (GDestroyNotify) gst_ccl_message_free);
  gst_ccl_mqtt_connection_clear (&connection);
  gst_object_unref (owner);
}

GST_END_TEST;

static Suite *
delivery_suite (void)
{
  Suite *const suite = suite_create ("delivery");
  TCase *const tc = tcase_create ("general");

  GST_DEBUG_CATEGORY_INIT (gst_ccl_mqtt_sink_debug, "cclmqttsink", 0, "MQTT publisher");
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_addresses);
  tcase_add_test (tc, test_wrong_addresses);
  tcase_add_test (tc, test_topics);
  tcase_add_test (tc, test_overflow);
  return suite;
}

GST_CHECK_MAIN (delivery);
