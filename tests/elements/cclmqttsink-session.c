/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclmqttsink: the session of MQTT 5, in which nothing of QoS 2 comes twice. */

#include "cclmqttsink.h"

#include <string.h>

#include "mqttproxy.h"

static Publisher
publish_through (MqttProxy * proxy, const gchar * settings)
{
  gchar *const launch = g_strdup_printf ("cclmqttsink uri=mqtt://127.0.0.1:%u topic=t qos-level=2 "
      "max-reconnect-delay=500000000 %s", proxy->port,
      settings);
  GstElement *const sink = gst_parse_launch (launch, NULL);

  g_free (launch);
  fail_unless (sink != NULL);
  return publish_with (gst_object_ref_sink (sink));
}

/* The broker has five messages, and its last answers are lost with the connection. In the session it gets none again. */
GST_START_TEST (test_nothing_comes_twice)
{
  NEED_BROKER ();

  HeardBroker broker = start_heard_broker (OPEN_TO_ALL, NULL);
  MqttProxy *const proxy = start_proxy (0, broker.port);
  Publisher publisher = publish_through (proxy, __i__ ? "" : "session-expiry=0");

  set_proxy_drops_completions (proxy, TRUE);
  push_numbers (&publisher, 1, 5);
  expect_numbers (&broker.listener, "t", 1, 5);
  wait_for_dropped (proxy, 5);
  fail_unless_equals_uint64 (stat_of (&publisher, "published"), 0);
  push_numbers (&publisher, 6, 7);
  expect_numbers (&broker.listener, "t", 6, 7);
  wait_for_dropped (proxy, 7);
  set_proxy_drops_completions (proxy, FALSE);
  cut_proxy (proxy);
  wait_for_stat (&publisher, "published", 7);
  push_numbers (&publisher, 8, 30);
  if (__i__ == 0)
    expect_numbers (&broker.listener, "t", 1, 7);
  expect_numbers (&broker.listener, "t", 8, 30);
  wait_for_stat (&publisher, "published", 30);
  expect_all_published (&publisher, 30);
  fail_unless_equals_int (proxy_connections (proxy), 2);
  close_publisher (&publisher);
  stop_proxy (proxy);
  stop_heard_broker (&broker);
}

GST_END_TEST;

/* The broker was restarted, and knows nothing of the session: all that it did not complete comes again. */
GST_START_TEST (test_session_is_lost)
{
  NEED_BROKER ();

  const guint port = free_port ();
  GSubprocess *broker = start_broker (port, OPEN_TO_ALL);
  MqttProxy *const proxy = start_proxy (0, port);
  Publisher publisher = publish_through (proxy, "");
  Listener listener;

  set_proxy_drops_completions (proxy, TRUE);
  push_numbers (&publisher, 1, 5);
  wait_for_dropped (proxy, 5);
  set_proxy_refuses (proxy, TRUE);
  g_subprocess_force_exit (broker);
  g_subprocess_wait (broker, NULL, NULL);
  g_object_unref (broker);
  set_proxy_drops_completions (proxy, FALSE);
  broker = start_broker (port, OPEN_TO_ALL);
  listener = listen_at (port, NULL);
  push_numbers (&publisher, 6, 10);
  set_proxy_refuses (proxy, FALSE);
  expect_numbers_at_least_once (&listener, 1, 10);
  wait_for_stat (&publisher, "published", 10);
  expect_all_published (&publisher, 10);
  close_publisher (&publisher);
  stop_proxy (proxy);
  close_listener (&listener);
  stop_program (broker);
}

GST_END_TEST;

/* The port was closed, as that of a broker that was restarted: its session is not trusted, and all comes again. */
GST_START_TEST (test_port_was_closed)
{
  NEED_BROKER ();

  HeardBroker broker = start_heard_broker (OPEN_TO_ALL, NULL);
  MqttProxy *proxy = start_proxy (0, broker.port);
  const guint proxy_port = proxy->port;
  Publisher publisher = publish_through (proxy, "");

  set_proxy_drops_completions (proxy, TRUE);
  push_numbers (&publisher, 1, 5);
  wait_for_dropped (proxy, 5);
  stop_proxy (proxy);
  wait_for_at_least (&publisher, "failures", 3);
  proxy = start_proxy (proxy_port, broker.port);
  wait_for_stat (&publisher, "published", 5);
  for (guint i = 0; i < 2; i++)
    expect_numbers (&broker.listener, "t", 1, 5);
  close_publisher (&publisher);
  stop_proxy (proxy);
  stop_heard_broker (&broker);
}

GST_END_TEST;

/* A client of this name that has gone left a session, with a message 1 that it never released. */
static void
leave_session (guint port)
{
  static const guint8 text[] = { 0x10, 22, 0, 4, 'M', 'Q', 'T', 'T', 5, 2, 0, 60, 5, 0x11, 0, 0, 2, 88, 0, 4, 'c', 'a',
    'm', '1', 0x34, 7, 0, 1, 't', 0, 1, 0, 'x'
  };
  GSocketConnection *const connection = connect_with (port, text, sizeof text);
  guint8 answer[2];

  fail_unless (g_input_stream_read (g_io_stream_get_input_stream (G_IO_STREAM (connection)), answer, 2, NULL,
          NULL) == 2);
  fail_unless_equals_int (answer[0], 0x20);
  g_usleep (100000);
  g_object_unref (connection);
}

GST_START_TEST (test_session_of_another)
{
  NEED_BROKER ();

  HeardBroker broker = start_heard_broker (OPEN_TO_ALL, NULL);
  MqttProxy *const proxy = start_proxy (0, broker.port);
  Publisher publisher;

  leave_session (broker.port);
  publisher = publish_through (proxy, "client-id=cam1");
  push_numbers (&publisher, 1, 5);
  wait_for_stat (&publisher, "published", 5);
  expect_numbers (&broker.listener, "t", 1, 5);
  fail_unless_equals_int (proxy_connections (proxy), 2);
  fail_unless_equals_uint64 (stat_of (&publisher, "connects"), 1);
  close_publisher (&publisher);
  stop_proxy (proxy);
  stop_heard_broker (&broker);
}

GST_END_TEST;

/* The session ends with the element: the next one of this name finds none. */
GST_START_TEST (test_session_ends)
{
  NEED_BROKER ();

  const guint port = free_port ();
  GSubprocess *broker = start_broker (port, OPEN_TO_ALL);
  MqttProxy *const proxy = start_proxy (0, port);

  for (guint i = 1; i <= 2; i++) {
    Publisher publisher = publish_through (proxy, "client-id=cam1");

    push_numbers (&publisher, 1, 1);
    wait_for_stat (&publisher, "published", 1);
    close_publisher (&publisher);
    fail_unless_equals_int (proxy_connections (proxy), i);
  }
  stop_proxy (proxy);
  stop_program (broker);
}

GST_END_TEST;

static void
check_value (const gchar * value, guint expected)
{
  gchar *const launch = g_strdup_printf ("cclmqttsink session-expiry=%s", value);
  GstElement *const sink = gst_parse_launch (launch, NULL);
  guint seconds;

  g_object_get (sink, "session-expiry", &seconds, NULL);
  fail_unless_equals_int (seconds, expected);
  gst_object_unref (gst_object_ref_sink (sink));
  g_free (launch);
}

/* A value outside the range is refused, by some versions of GLib with a warning, and the old one stays. */
GST_START_TEST (test_range)
{
  check_value ("0", 0);
  check_value ("2147483647", G_MAXINT);
  _gst_check_expecting_log = TRUE;
  check_value ("2147483648", 3600);
  check_value ("-1", 3600);
  _gst_check_expecting_log = FALSE;
}

GST_END_TEST;

TCase *
mqtt_session_tests (void)
{
  TCase *tests = tcase_create ("session");

  tcase_set_timeout (tests, 120);
  tcase_add_loop_test (tests, test_nothing_comes_twice, 0, 2);
  tcase_add_test (tests, test_session_is_lost);
  tcase_add_test (tests, test_port_was_closed);
  tcase_add_test (tests, test_session_of_another);
  tcase_add_test (tests, test_session_ends);
  tcase_add_test (tests, test_range);
  return tests;
}
