/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclmqttsink: failures to connect that say nothing about the broker. The session outlives them, and no line comes twice. */

#include "cclmqttsink.h"

#include "mqttproxy.h"

/* Without TLS, in a test whose broker hangs, the sink gives up soon. */
static Publisher
publish_to (const gchar * scheme, guint port, const gchar * certificate)
{
  GstElement *const sink = new_sink (scheme, port, "t");

  g_object_set (sink, "qos-level", 2, "keep-alive", certificate ? 60 : 5, "ca-file", certificate, NULL);
  return publish_with (sink);
}

/* localhost is ::1 too, where the port is closed. The broker at 127.0.0.1 hangs meanwhile. It has five lines, of which the sink
 * does not know. */
GST_START_TEST (test_other_address_is_closed)
{
  NEED_BROKER ();

  HeardBroker broker = start_heard_broker (OPEN_TO_ALL, NULL);
  MqttProxy *const proxy = start_proxy (0, broker.port);
  Publisher publisher = publish_to ("mqtt", proxy->port, NULL);

  set_proxy_drops_completions (proxy, TRUE);
  push_numbers (&publisher, 1, 5);
  expect_numbers (&broker.listener, "t", 1, 5);
  wait_for_dropped (proxy, 5);
  set_proxy_hangs (proxy, TRUE);
  cut_proxy (proxy);
  wait_for_at_least (&publisher, "failures", 2);        /* the cut, and one attempt of both addresses */
  set_proxy_drops_completions (proxy, FALSE);
  set_proxy_hangs (proxy, FALSE);
  wait_for_stat (&publisher, "published", 5);
  push_numbers (&publisher, 6, 9);
  expect_numbers (&broker.listener, "t", 6, 9);
  wait_for_stat (&publisher, "published", 9);
  expect_all_published (&publisher, 9);
  close_publisher (&publisher);
  stop_proxy (proxy);
  stop_heard_broker (&broker);
}

GST_END_TEST;

/* With TLS. Each connection breaks before the handshake, or the port is closed: only then the broker may have been restarted. A
 * session that the sink has given up costs a connection more, because the broker still has it. */
GST_START_TEST (test_tls)
{
  NEED_OPENSSL ();

  const guint port = free_port ();
  gchar *const certificate = in_folder ("trust.pem"), *const settings = tls_settings ("trust");
  GSubprocess *broker;
  MqttProxy *proxy;
  Publisher publisher;
  guint proxy_port;

  make_certificate ("trust", "localhost");
  broker = start_broker (port, settings);
  proxy = start_opaque_proxy (0, port);
  proxy_port = proxy->port;
  publisher = publish_to ("mqtts", proxy_port, certificate);
  push_numbers (&publisher, 1, 5);
  wait_for_stat (&publisher, "published", 5);
  if (__i__ == 0) {
    set_proxy_refuses (proxy, TRUE);
    cut_proxy (proxy);
    wait_for_at_least (&publisher, "failures", 5);
    set_proxy_refuses (proxy, FALSE);
  } else {
    stop_proxy (proxy);
    wait_for_at_least (&publisher, "failures", 3);
    proxy = start_opaque_proxy (proxy_port, port);
  }
  push_numbers (&publisher, 6, 9);
  wait_for_stat (&publisher, "published", 9);
  expect_all_published (&publisher, 9);
  fail_unless_equals_int (proxy_connections (proxy), 2);
  close_publisher (&publisher);
  stop_proxy (proxy);
  stop_program (broker);
  g_free (settings);
  g_free (certificate);
}

GST_END_TEST;

TCase *
mqtt_trust_tests (void)
{
  TCase *tests = tcase_create ("trust");

  tcase_set_timeout (tests, 120);
  tcase_add_test (tests, test_other_address_is_closed);
  tcase_add_loop_test (tests, test_tls, 0, 2);
  return tests;
}
