/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclmqttsink: every message reaches the broker, in order, whenever the broker comes, goes or restarts. */

#include "cclmqttsink.h"

#include <dlfcn.h>
#include <gmodule.h>
#include <mosquitto.h>
#include <string.h>

static Publisher *interrupted;

static guint interrupted_port;

/* Of two clients with one name a broker keeps the one that comes last. */
static void
interrupt (Publisher * publisher, guint port)
{
  static const guint8 connect[] = { 0x10, 16, 0, 4, 'M', 'Q', 'T', 'T', 4, 2, 0, 60, 0, 4, 'c', 'a', 'm', '1' };
  GSocketConnection *const connection = connect_with (port, connect, sizeof connect);

  wait_for_stat (publisher, "connected", FALSE);
  g_object_unref (connection);
}

G_MODULE_EXPORT int
mosquitto_publish_v5 (struct mosquitto *client, int *id, const char *topic, int size, const void *payload, int qos,
    bool retain, const mosquitto_property * properties)
{
  void *const library = dlopen ("libmosquitto.so.1", RTLD_LAZY | RTLD_NOLOAD);
  int (*const real) (struct mosquitto *, int *, const char *, int, const void *, int, bool,
      const mosquitto_property *) = dlsym (library, "mosquitto_publish_v5");
  Publisher *const publisher = g_atomic_pointer_get (&interrupted);

  if (publisher && g_atomic_pointer_compare_and_exchange (&interrupted, publisher, NULL))
    interrupt (publisher, interrupted_port);
  dlclose (library);
  return real (client, id, topic, size, payload, qos, retain, properties);
}

GST_START_TEST (test_delivers_in_order)
{
  NEED_BROKER ();

  HeardBroker broker = start_heard_broker (OPEN_TO_ALL, NULL);

  for (gint level = 0; level <= 2; level++) {
    GstElement *sink = new_sink ("mqtt", broker.port, "cams/{source-id}/blobs");
    Publisher publisher;

    g_object_set (sink, "qos-level", level, "drain-timeout", 100 * GST_SECOND, NULL);
    publisher = publish_with (sink);
    push_numbers (&publisher, 1, 200);
    fail_unless (gst_harness_push_event (publisher.harness, gst_event_new_eos ()));
    expect_all_published (&publisher, 200);
    expect_numbers (&broker.listener, "cams/cam_1/blobs", 1, 200);
    close_publisher (&publisher);
  }
  stop_heard_broker (&broker);
}

GST_END_TEST;

GST_START_TEST (test_broker_starts_later)
{
  NEED_BROKER ();

  const guint port = free_port ();
  Publisher publisher = publish_with (new_sink ("mqtt", port, "t"));
  GSubprocess *broker;

  push_numbers (&publisher, 1, 50);
  expect_message (&publisher, GST_MESSAGE_WARNING, "No connection to the MQTT broker localhost:");
  fail_unless_equals_uint64 (stat_of (&publisher, "queued"), 50);
  fail_unless_equals_uint64 (stat_of (&publisher, "connected"), FALSE);

  broker = start_broker (port, OPEN_TO_ALL);
  wait_for_stat (&publisher, "published", 50);
  push_numbers (&publisher, 51, 60);
  wait_for_stat (&publisher, "published", 60);
  fail_unless_equals_uint64 (stat_of (&publisher, "dropped"), 0);
  close_publisher (&publisher);
  stop_program (broker);
}

GST_END_TEST;

/* At least once: a message under way when the broker dies may come twice, never not at all. */
GST_START_TEST (test_broker_restarts)
{
  NEED_BROKER ();

  const guint port = free_port ();
  gchar *settings = g_strdup_printf (OPEN_TO_ALL "\npersistence true\npersistence_location %s/\n", broker_folder);
  GSubprocess *broker = start_broker (port, settings);
  Publisher publisher = publish_with (new_sink ("mqtt", port, "t"));
  Listener listener = listen_at (port, NULL);

  wait_for_stat (&publisher, "connected", TRUE);
  push_numbers (&publisher, 1, 20);
  wait_for_stat (&publisher, "published", 20);
  stop_program (broker);
  wait_for_stat (&publisher, "connected", FALSE);
  expect_message (&publisher, GST_MESSAGE_WARNING, "the connection was lost");

  push_numbers (&publisher, 21, 120);
  fail_unless_equals_uint64 (stat_of (&publisher, "published"), 20);
  broker = start_broker (port, settings);
  wait_for_stat (&publisher, "published", 120);
  push_numbers (&publisher, 121, 130);
  wait_for_stat (&publisher, "published", 130);
  expect_numbers_at_least_once (&listener, 1, 130);
  fail_unless_equals_uint64 (stat_of (&publisher, "dropped"), 0);
  fail_unless (stat_of (&publisher, "connects") >= 2);
  close_publisher (&publisher);
  close_listener (&listener);
  stop_program (broker);
  g_free (settings);
}

GST_END_TEST;

/* The connection goes just as a message is handed over: it is published once all the same. */
GST_START_TEST (test_interrupted_message)
{
  NEED_BROKER ();

  HeardBroker broker = start_heard_broker (OPEN_TO_ALL, NULL);

  for (gint level = 0; level <= 2; level++) {
    GstElement *sink = new_sink ("mqtt", broker.port, "t");
    Publisher publisher;

    g_object_set (sink, "qos-level", level, "client-id", "cam1", NULL);
    publisher = publish_with (sink);
    wait_for_stat (&publisher, "connected", TRUE);
    interrupted_port = broker.port;
    g_atomic_pointer_set (&interrupted, &publisher);
    push_numbers (&publisher, 1, 1);
    wait_for_stat (&publisher, "published", 1);
    fail_unless (g_atomic_pointer_get (&interrupted) == NULL);
    push_numbers (&publisher, 2, 3);
    wait_for_stat (&publisher, "published", 3);
    fail_unless_equals_uint64 (stat_of (&publisher, "connects"), 2);
    expect_all_published (&publisher, 3);
    expect_numbers (&broker.listener, "t", 1, 3);
    close_publisher (&publisher);
  }
  stop_heard_broker (&broker);
}

GST_END_TEST;

/* The numbers of the next messages that a client publishes, which nobody acknowledges. */
static void
expect_packets (GSocketConnection * connection, guint first, guint last)
{
  GInputStream *const stream = g_io_stream_get_input_stream (G_IO_STREAM (connection));
  const guint payload = 2 + 1 + 2;      /* after the length of the topic "t", the topic and the packet's identifier */

  for (guint i = first; i <= last; i++) {
    gchar *const expected = g_strdup_printf ("\"seq\":%u}", i);
    guint8 head[2];
    gchar packet[128] = "";

    fail_unless (g_input_stream_read_all (stream, head, 2, NULL, NULL, NULL));
    fail_unless ((head[0] & 0xf0) == 0x30 && head[1] < sizeof packet, "no PUBLISH but %x", head[0]);
    fail_unless (g_input_stream_read_all (stream, packet, head[1], NULL, NULL, NULL));
    fail_unless (strstr (packet + payload, expected) != NULL, "not message %u but %s", i, packet + payload);
    g_free (expected);
  }
}

/* The connection breaks before messages were acknowledged. With the next one they come again, before later ones. */
GST_START_TEST (test_order_after_an_outage)
{
  guint port;
  GSocketListener *broker = new_listener (&port);
  GstElement *sink = new_sink ("mqtt", port, "t");
  Publisher publisher;

  gst_util_set_object_arg (G_OBJECT (sink), "protocol-version", "3.1.1");
  publisher = publish_with (sink);
  for (guint round = 0; round < 3; round++) {
    GSocketConnection *connection = accept_client (broker);

    push_numbers (&publisher, 10 * round + 1, 10 * round + 3);  /* it was not let in yet */
    welcome_client (connection);
    wait_for_stat (&publisher, "connects", round + 1);
    push_numbers (&publisher, 10 * round + 4, 10 * round + 4);
    for (guint before = 0; before <= round; before++)
      expect_packets (connection, 10 * before + 1, 10 * before + 4);
    g_object_unref (connection);        /* closes it */
    wait_for_stat (&publisher, "connected", FALSE);
  }
  fail_unless_equals_uint64 (stat_of (&publisher, "dropped"), 0);
  close_publisher (&publisher);
  g_object_unref (broker);
}

GST_END_TEST;

/* Killed without a warning in the middle of a stream, several times: nothing newer overtakes, and nothing is lost. */
GST_START_TEST (test_broker_is_killed)
{
  NEED_BROKER ();

  const guint port = free_port ();
  gchar *settings = g_strdup_printf (OPEN_TO_ALL "\npersistence true\npersistence_location %s/\n"
      "persistence_file killed%d.db\nautosave_on_changes true\nautosave_interval 1\nmax_inflight_messages 0\n",
      broker_folder, __i__);
  GSubprocess *broker = start_broker (port, settings);
  GstElement *sink = new_sink ("mqtt", port, "t");
  Listener listener = listen_at (port, NULL);
  Publisher publisher;

  g_object_set (sink, "qos-level", __i__, NULL);
  publisher = publish_with (sink);
  wait_for_stat (&publisher, "connected", TRUE);
  for (guint i = 1; i <= 400; i++) {
    push_numbers (&publisher, i, i);
    g_usleep (3000);
    if (i % 200 == 100) {
      g_subprocess_force_exit (broker);
      g_subprocess_wait (broker, NULL, NULL);
      g_object_unref (broker);
    } else if (i % 200 == 150) {
      broker = start_broker (port, settings);
    } else if (i % 200 == 0) {  /* before the listener is back, the broker alone has its lines */
      wait_for_stat (&publisher, "published", i);
      expect_numbers_at_least_once (&listener, i - 199, i);
    }
  }
  fail_unless_equals_uint64 (stat_of (&publisher, "dropped"), 0);
  fail_unless_equals_uint64 (stat_of (&publisher, "connects"), 3);
  close_publisher (&publisher);
  close_listener (&listener);
  stop_program (broker);
  g_free (settings);
}

GST_END_TEST;

TCase *
mqtt_delivery_tests (void)
{
  TCase *tests = tcase_create ("delivery");

  tcase_set_timeout (tests, 120);
  tcase_add_test (tests, test_delivers_in_order);
  tcase_add_test (tests, test_broker_starts_later);
  tcase_add_test (tests, test_broker_restarts);
  tcase_add_test (tests, test_interrupted_message);
  tcase_add_test (tests, test_order_after_an_outage);
  tcase_add_loop_test (tests, test_broker_is_killed, 1, 2);
  return tests;
}
