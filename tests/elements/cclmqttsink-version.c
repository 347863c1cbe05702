/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclmqttsink: what MQTT 5 adds, and brokers that do not know it. */

#include "cclmqttsink.h"

#include <string.h>

#include "support/harness.h"

static void
expect_text (Listener * listener, const gchar * expected)
{
  gchar *const line = g_data_input_stream_read_line (listener->lines, NULL, NULL, NULL);

  fail_unless_equals_string (line, expected);
  g_free (line);
}

/* A message carries its properties and the time that is left to it. In 3.1.1 it carries none. */
GST_START_TEST (test_properties)
{
  NEED_BROKER ();

  static const gchar *const format[] = { "-V", "mqttv5", "-F", "%P|%E|%p", NULL };
  static const struct
  {
    const gchar *version, *expected;
  } cases[] = {
    {"auto", "site:door which:cam/1-x|600|{\"source\":\"cam/1\",\"seq\":1}"},
    {"3.1.1", "||{\"source\":\"cam/1\",\"seq\":1}"}
  };
  const guint port = free_port ();
  GSubprocess *broker = start_broker (port, OPEN_TO_ALL);
  Listener listener = listen_for (port, 100, format);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstElement *sink = new_sink ("mqtt", port, "t");
    Publisher publisher;

    g_object_set (sink, "user-properties", "site=door,which={source-id}-x", "message-expiry", 600, NULL);
    gst_util_set_object_arg (G_OBJECT (sink), "protocol-version", cases[i].version);
    publisher = publish_with (sink);
    push_numbers (&publisher, 1, 1);
    wait_for_stat (&publisher, "published", 1);
    expect_text (&listener, cases[i].expected);
    close_publisher (&publisher);
  }
  close_listener (&listener);
  stop_program (broker);
}

GST_END_TEST;

/* An item of CBOR is published byte for byte, under its source, and has its type. In 3.1.1 it has none. */
GST_START_TEST (test_content_type)
{
  NEED_BROKER ();

  static const gchar *const format[] = { "-V", "mqttv5", "-F", "%t|%C|%x", NULL };
  static const gchar *const versions[] = { "5", "3.1.1" };
  static const gchar item[] = "\xa2\x66" "source\x61" "a\x61" "n\x0a";
  const guint port = free_port ();
  GSubprocess *broker = start_broker (port, OPEN_TO_ALL);
  Listener listener = listen_for (port, 100, format);

  for (guint i = 0; i < G_N_ELEMENTS (versions); i++) {
    GstElement *sink = new_sink ("mqtt", port, "t/{source-id}");
    Publisher publisher;

    gst_util_set_object_arg (G_OBJECT (sink), "protocol-version", versions[i]);
    publisher = publish_with (sink);
    gst_harness_set_src_caps_str (publisher.harness, "application/cbor");
    fail_unless_equals_int (gst_harness_push (publisher.harness, gst_buffer_new_memdup (item, sizeof item - 1)),
        GST_FLOW_OK);
    push_numbers (&publisher, 1, 1);
    wait_for_stat (&publisher, "published", 2);
    expect_text (&listener, i ? "t/a||a266736f757263656161616e0a" : "t/a|application/cbor|a266736f757263656161616e0a");
    expect_text (&listener, "t/cam_1||7b22736f75726365223a2263616d2f31222c22736571223a317d");
    close_publisher (&publisher);
  }
  close_listener (&listener);
  stop_program (broker);
}

GST_END_TEST;

/* A message that has waited longer than its time is dropped and counted. */
GST_START_TEST (test_expiry)
{
  NEED_BROKER ();

  const guint port = free_port ();
  GstElement *sink = new_sink ("mqtt", port, "t");
  Publisher publisher;
  GSubprocess *broker;

  g_object_set (sink, "message-expiry", 1, NULL);
  publisher = publish_with (sink);
  push_numbers (&publisher, 1, 3);
  g_usleep (1200000);
  broker = start_broker (port, OPEN_TO_ALL);
  wait_for_stat (&publisher, "dropped-refused", 3);
  push_numbers (&publisher, 4, 4);
  wait_for_stat (&publisher, "published", 1);
  close_publisher (&publisher);
  stop_program (broker);
}

GST_END_TEST;

/* With MQTT 5 a broker says that it does not take a message: it is counted, reported once, and the next ones follow. With
 * 3.1.1 it does not say so. */
GST_START_TEST (test_no_permission)
{
  NEED_BROKER ();

  const guint port = free_port ();
  gchar *path = in_folder ("acl"), *settings = g_strdup_printf (OPEN_TO_ALL "\nacl_file %s", path);
  GSubprocess *broker;

  fail_unless (g_file_set_contents (path, "topic readwrite allowed/#\n", -1, NULL));
  broker = start_broker (port, settings);
  for (guint i = 0; i < 2; i++) {
    GstElement *sink = new_sink ("mqtt", port, "denied/t");
    Publisher publisher;

    gst_util_set_object_arg (G_OBJECT (sink), "protocol-version", i ? "3.1.1" : "5");
    publisher = publish_with (sink);
    push_numbers (&publisher, 1, 3);
    wait_for_stat (&publisher, i ? "published" : "dropped-refused", 3);
    if (i == 0) {
      expect_message (&publisher, GST_MESSAGE_WARNING,
          "A message for \"denied/t\" was refused and dropped: Not authori");
      fail_unless_equals_uint64 (stat_of (&publisher, "published"), 0);
    }
    g_object_set (sink, "topic", "allowed/t", NULL);
    push_numbers (&publisher, 4, 5);
    wait_for_stat (&publisher, "published", i ? 5 : 2);
    close_publisher (&publisher);
  }
  stop_program (broker);
  g_free (settings);
  g_free (path);
}

GST_END_TEST;

/* The next client, and the version in its first message. */
static GSocketConnection *
accept_version (GSocketListener * listener, guint8 * version)
{
  GSocketConnection *const connection = g_socket_listener_accept (listener, NULL, NULL, NULL);
  guint8 packet[256];

  fail_unless (connection != NULL);
  fail_unless (g_input_stream_read (g_io_stream_get_input_stream (G_IO_STREAM (connection)), packet, sizeof packet,
          NULL, NULL) > 8);
  *version = packet[8];
  return connection;
}

/* Brokers that do not know MQTT 5 say so in the form of 3.1.1. Of one that just closes the connection this is not certain. */
GST_START_TEST (test_fallback)
{
  static const guint8 refusal[] = { 0x20, 2, 0, 1 };
  guint port;
  GSocketListener *broker = new_listener (&port);
  GSocketConnection *connection;
  Publisher publisher;
  guint8 version;

  publisher = publish_with (new_sink ("mqtt", port, "t"));
  push_numbers (&publisher, 1, 1);
  for (guint i = 0; i < (__i__ ? 3 : 1); i++) {
    connection = accept_version (broker, &version);
    fail_unless_equals_int (version, 5);
    if (__i__ == 0)
      fail_unless (g_output_stream_write_all (g_io_stream_get_output_stream (G_IO_STREAM (connection)), refusal,
              sizeof refusal, NULL, NULL, NULL));
    g_object_unref (connection);
  }
  connection = accept_version (broker, &version);
  fail_unless_equals_int (version, 4);
  welcome_client (connection);
  wait_for_stat (&publisher, "in-flight", 1);
  g_object_unref (connection);
  connection = accept_version (broker, &version);
  fail_unless_equals_int (version, __i__ ? 5 : 4);
  g_object_unref (connection);
  close_publisher (&publisher);
  g_object_unref (broker);
}

GST_END_TEST;

TCase *
mqtt_version_tests (void)
{
  TCase *tests = tcase_create ("version");

  tcase_set_timeout (tests, 60);
  tcase_add_test (tests, test_properties);
  tcase_add_test (tests, test_content_type);
  tcase_add_test (tests, test_expiry);
  tcase_add_test (tests, test_no_permission);
  tcase_add_loop_test (tests, test_fallback, 0, 2);
  return tests;
}
