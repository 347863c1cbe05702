/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclmqttsink against a real mosquitto broker on the loopback interface, listened to by mosquitto_sub. The tests of all
 * subjects in one program, and what they share. Without mosquitto the tests that need it are skipped. */

#define _GNU_SOURCE             /* RTLD_NEXT */
#include "cclmqttsink.h"

#include <dlfcn.h>
#include <gmodule.h>
#include <netdb.h>
#include <string.h>

GstElement *
new_sink (const gchar * scheme, guint port, const gchar * topic)
{
  GstElement *sink = gst_element_factory_make ("cclmqttsink", NULL);
  gchar *uri = g_strdup_printf ("%s://localhost:%u", scheme, port);

  fail_unless (sink != NULL);
  g_object_set (sink, "uri", uri, "topic", topic, "max-reconnect-delay", GST_SECOND / 2, NULL);
  g_free (uri);
  return sink;
}

Publisher
publish_with (GstElement * sink)
{
  Publisher publisher = {.bus = gst_bus_new () };

  gst_element_set_bus (sink, publisher.bus);
  publisher.harness = gst_harness_new_with_element (sink, "sink", NULL);
  gst_object_unref (sink);
  gst_harness_set_src_caps_str (publisher.harness, CAPS);
  return publisher;
}

GstFlowReturn
push_number (Publisher * publisher, guint number)
{
  gchar *text = g_strdup_printf ("{\"source\":\"cam/1\",\"seq\":%u}\n", number);

  return gst_harness_push (publisher->harness, gst_buffer_new_wrapped (text, strlen (text)));
}

void
push_numbers (Publisher * publisher, guint first, guint last)
{
  for (guint i = first; i <= last; i++)
    fail_unless_equals_int (push_number (publisher, i), GST_FLOW_OK);
}

guint64
stat_of (Publisher * publisher, const gchar * field)
{
  return element_stat (publisher->harness->element, field);
}

void
wait_for_stat (Publisher * publisher, const gchar * field, guint64 value)
{
  const gint64 end = g_get_monotonic_time () + PATIENCE;

  while (stat_of (publisher, field) != value) {
    fail_unless (g_get_monotonic_time () < end, "%s stays %" G_GUINT64_FORMAT " instead of %" G_GUINT64_FORMAT, field,
        stat_of (publisher, field), value);
    g_usleep (20000);
  }
}

void
wait_for_at_least (Publisher * publisher, const gchar * field, guint64 value)
{
  const gint64 end = g_get_monotonic_time () + PATIENCE;

  while (stat_of (publisher, field) < value) {
    fail_unless (g_get_monotonic_time () < end, "%s does not reach %" G_GUINT64_FORMAT, field, value);
    g_usleep (20000);
  }
}

void
expect_all_published (Publisher * publisher, guint64 count)
{
  fail_unless_equals_uint64 (stat_of (publisher, "published"), count);
  fail_unless_equals_uint64 (stat_of (publisher, "dropped"), 0);
  fail_unless_equals_uint64 (stat_of (publisher, "queued") + stat_of (publisher, "in-flight"), 0);
}

/* Calls of libraries come to the functions that follow: a program's own go before theirs. */

/* As on many machines localhost has an address of IPv6 first; at that nobody listens here. */
G_MODULE_EXPORT int
getaddrinfo (const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **result)
{
  int (*const real) (const char *, const char *, const struct addrinfo *, struct addrinfo **) =
      dlsym (RTLD_NEXT, "getaddrinfo");
  struct addrinfo *last;

  if (!name || strcmp (name, "localhost") || real ("::1", service, hints, result))
    return real (name, service, hints, result);
  for (last = *result; last->ai_next; last = last->ai_next);
  real ("127.0.0.1", service, hints, &last->ai_next);
  return 0;
}

void
expect_message_past (Publisher * publisher, GstMessageType type, const gchar * past, const gchar * words)
{
  GstMessage *message = gst_bus_timed_pop_filtered (publisher->bus, PATIENCE * 1000, type);
  GError *error = NULL;
  gchar *debug = NULL;

  fail_unless (message != NULL, "no message about \"%s\"", words);
  if (type == GST_MESSAGE_ERROR)
    gst_message_parse_error (message, &error, &debug);
  else
    gst_message_parse_warning (message, &error, &debug);
  gst_message_unref (message);
  fail_if (strstr (error->message, "secret") || (debug && strstr (debug, "secret")), "the password is in a message");
  g_free (debug);
  if (past && strstr (error->message, past))
    expect_message_past (publisher, type, past, words);
  else
    fail_unless (strstr (error->message, words) != NULL, "\"%s\" does not say \"%s\"", error->message, words);
  g_error_free (error);
}

void
expect_message (Publisher * publisher, GstMessageType type, const gchar * words)
{
  expect_message_past (publisher, type, NULL, words);
}

void
close_publisher (Publisher * publisher)
{
  gst_element_set_bus (publisher->harness->element, NULL);
  gst_harness_teardown (publisher->harness);
  gst_object_unref (publisher->bus);
}

static gpointer
push_one_more (gpointer data)
{
  return GINT_TO_POINTER (push_number (data, 11));
}

GThread *
start_waiting_for_room (GstElement * sink, Publisher * publisher)
{
  GThread *thread;

  g_object_set (sink, "queue-size", 10, NULL);
  gst_util_set_object_arg (G_OBJECT (sink), "overflow", "block");
  *publisher = publish_with (sink);
  push_numbers (publisher, 1, 10);
  thread = g_thread_new ("pusher", push_one_more, publisher);
  g_usleep (100000);
  return thread;
}

static Suite *
cclmqttsink_suite (void)
{
  Suite *suite = suite_create ("cclmqttsink");

  suite_add_tcase (suite, mqtt_queue_tests ());
  suite_add_tcase (suite, mqtt_end_tests ());
  suite_add_tcase (suite, mqtt_setting_tests ());
  suite_add_tcase (suite, mqtt_delivery_tests ());
  suite_add_tcase (suite, mqtt_address_tests ());
  suite_add_tcase (suite, mqtt_security_tests ());
  suite_add_tcase (suite, mqtt_version_tests ());
  suite_add_tcase (suite, mqtt_session_tests ());
  suite_add_tcase (suite, mqtt_trust_tests ());
  return suite;
}

int
main (int argc, char **argv)
{
  int failures;

  gst_check_init (&argc, &argv);
  find_programs ();
  failures = gst_check_run_suite (cclmqttsink_suite (), "cclmqttsink", __FILE__);
  forget_programs ();
  return failures;
}
