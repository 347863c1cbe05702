/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclmqttsink: hosts with addresses of IPv4 and IPv6. */

#include "cclmqttsink.h"

/* A socket of IPv6 at the port, or NULL where there is no such thing. */
static GSocket *
ipv6_socket (guint port)
{
  GSocket *socket = g_socket_new (G_SOCKET_FAMILY_IPV6, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, NULL);
  GSocketAddress *address = g_inet_socket_address_new_from_string ("::1", port);

  if (socket && !g_socket_bind (socket, address, TRUE, NULL))
    g_clear_object (&socket);
  g_object_unref (address);
  return socket;
}

static gboolean
have_ipv6 (void)
{
  GSocket *socket = ipv6_socket (0);
  const gboolean answer = socket != NULL;

  g_clear_object (&socket);
  return answer;
}

#define NEED_IPV6() SKIP_TEST_UNLESS (have_ipv6 (), "no IPv6 here")

/* Attempts by IPv4 in between do no harm. */
GST_START_TEST (test_ipv6_broker_starts_later)
{
  NEED_BROKER ();
  NEED_IPV6 ();

  static const gchar *const hosts[] = { "[::1]", "localhost" };

  for (guint i = 0; i < G_N_ELEMENTS (hosts); i++) {
    const guint port = free_port ();
    GSocket *probe = ipv6_socket (port);
    GstElement *sink = new_sink ("mqtt", port, "t");
    gchar *uri = g_strdup_printf ("mqtt://%s:%u", hosts[i], port);
    Publisher publisher;
    GSubprocess *broker;

    g_object_set (sink, "uri", uri, NULL);
    publisher = publish_with (sink);
    fail_unless (probe != NULL);
    g_object_unref (probe);
    push_numbers (&publisher, 1, 5);
    expect_message (&publisher, GST_MESSAGE_WARNING, "Connection refused");
    wait_for_at_least (&publisher, "failures", 2);
    broker = start_broker_at ("::1", port, OPEN_TO_ALL);
    wait_for_stat (&publisher, "published", 5);
    expect_all_published (&publisher, 5);
    stop_program (broker);
    close_publisher (&publisher);
    g_free (uri);
  }
}

GST_END_TEST;

/* Nobody answers at the first address, as behind a firewall: its queue is full. */
GST_START_TEST (test_first_address_is_silent)
{
  NEED_BROKER ();
  NEED_IPV6 ();

  const guint port = free_port ();
  GSocket *silent = ipv6_socket (port), *clients[4];
  GSocketAddress *address = g_inet_socket_address_new_from_string ("::1", port);
  GstElement *sink = new_sink ("mqtt", port, "t");
  Publisher publisher;
  GSubprocess *broker;

  fail_unless (silent != NULL);
  g_socket_set_listen_backlog (silent, 0);
  fail_unless (g_socket_listen (silent, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (clients); i++) {
    clients[i] = g_socket_new (G_SOCKET_FAMILY_IPV6, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, NULL);
    g_socket_set_blocking (clients[i], FALSE);
    g_socket_connect (clients[i], address, NULL, NULL);
  }
  broker = start_broker (port, OPEN_TO_ALL);
  publisher = publish_with (sink);
  push_numbers (&publisher, 1, 5);
  wait_for_stat (&publisher, "published", 5);
  expect_all_published (&publisher, 5);
  fail_unless_equals_uint64 (stat_of (&publisher, "failures"), 0);
  close_publisher (&publisher);
  stop_program (broker);
  for (guint i = 0; i < G_N_ELEMENTS (clients); i++)
    g_object_unref (clients[i]);
  g_object_unref (silent);
  g_object_unref (address);
}

GST_END_TEST;

TCase *
mqtt_address_tests (void)
{
  TCase *tests = tcase_create ("addresses");

  tcase_set_timeout (tests, 120);
  tcase_add_test (tests, test_ipv6_broker_starts_later);
  tcase_add_test (tests, test_first_address_is_silent);
  return tests;
}
