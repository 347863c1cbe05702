/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclmqttsink: settings that are wrong or without effect. */

#include "cclmqttsink.h"

static void
expect_wrong_setting (const gchar * property, const gchar * value, const gchar * words)
{
  GstElement *sink = new_sink ("mqtt", 1883, "t");
  Publisher publisher = {.bus = gst_bus_new () };

  g_object_set (sink, property, value, NULL);
  gst_element_set_bus (sink, publisher.bus);
  fail_unless_equals_int (gst_element_set_state (sink, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  expect_message (&publisher, GST_MESSAGE_ERROR, words);
  fail_unless (gst_bus_pop_filtered (publisher.bus, GST_MESSAGE_ERROR) == NULL, "one error is enough");
  gst_element_set_bus (sink, NULL);
  gst_element_set_state (sink, GST_STATE_NULL);
  gst_object_unref (sink);
  gst_object_unref (publisher.bus);
}

GST_START_TEST (test_wrong_settings)
{
  static const struct
  {
    const gchar *property, *value, *words;
  } cases[] = {
    {"uri", "http://localhost", "is not an MQTT address"},
    {"uri", "localhost:1883", "is not an MQTT address"},
    {"uri", "mqtt://", "is not an MQTT address"},
    {"uri", "mqtt://localhost:0", "no port 0"},
    {"uri", "mqtt://localhost:65536", "65536\" is not an MQTT address: "},
    {"uri", "mqtt://localhost:4294969179", "is not an MQTT address: "},
    {"uri", "mqtt://localhost:1883x", "is not an MQTT address: "},
    {"uri", "mqtt://me:secret@localhost", "holds a user name or password"},
    {"uri", "mqtt://me:secret@localhost:65536", "holds a user name or password"},
    {"uri", "mqtt://me:p/ss@localhost", "holds a user name or password"},
    {"topic", "blobs/#", "is no topic to publish to"},
    {"topic", "", "is no topic to publish to"},
    {"username", "\xff\xfe", "username cannot be sent"},
    {"password-env", "CCL_TEST_NOT_SET", "variable that password-env names is not set"},
    {"password-env", "secret", "variable that password-env names is not set"},
    {"user-properties", "door=\001", "user-properties is not valid"},
    {"user-properties", "door", "user-properties is not valid"},
    {"user-properties", "=x", "user-properties is not valid"},
    {"will-topic", "a/+/b", "is no topic for a will"},
  };
  gchar *long_name = g_strnfill (70000, 'x');

  g_unsetenv ("CCL_TEST_NOT_SET");
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    expect_wrong_setting (cases[i].property, cases[i].value, cases[i].words);
  expect_wrong_setting ("username", long_name, "username cannot be sent");
  g_free (long_name);
}

GST_END_TEST;

/* A password in the address is an error, and is forgotten at once: properties come into graphs and logs. */
GST_START_TEST (test_login_in_the_address)
{
  static const gchar *const cases[][2] = {
    {"mqtt://me:secret@localhost:1883", "mqtt://***@localhost:1883"},
    {"mqtt://me:s@ecret@localhost", "mqtt://***@localhost"},
    {"me:secret@localhost", "***@localhost"},
    {"mqtt://@localhost", "mqtt://@localhost"},
    {"mqtt://a@localhost", "mqtt://*@localhost"},
    {"mqtt://localhost", "mqtt://localhost"},
  };
  GstElement *sink = new_sink ("mqtt", 1883, "t");

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    gchar *uri;

    g_object_set (sink, "uri", cases[i][0], NULL);
    g_object_get (sink, "uri", &uri, NULL);
    fail_unless_equals_string (uri, cases[i][1]);
    g_free (uri);
  }
  gst_object_unref (sink);
}

GST_END_TEST;

/* The connection has the settings of the start. Later ones wait for the next start, and disturb no thread that reads. */
GST_START_TEST (test_settings_in_ready)
{
  NEED_BROKER ();

  static const gchar *const properties[] = { "uri", "username", "client-id", "user-properties", "will-topic" };
  const guint port = free_port ();
  Publisher publisher = publish_with (new_sink ("mqtt", port, "t"));
  GSubprocess *broker;

  push_numbers (&publisher, 1, 3);
  expect_message (&publisher, GST_MESSAGE_WARNING, "No connection");
  for (guint i = 0; i < 500; i++)
    g_object_set (publisher.harness->element, properties[i % G_N_ELEMENTS (properties)], "\xff\xfe", NULL);
  broker = start_broker (port, OPEN_TO_ALL);
  wait_for_stat (&publisher, "published", 3);
  close_publisher (&publisher);
  stop_program (broker);
}

GST_END_TEST;

GST_START_TEST (test_missing_ca_file)
{
  GstElement *sink = new_sink ("mqtts", 8883, "t");
  Publisher publisher = {.bus = gst_bus_new () };

  g_object_set (sink, "ca-file", "/nonexistent/ca.pem", NULL);
  gst_element_set_bus (sink, publisher.bus);
  fail_unless_equals_int (gst_element_set_state (sink, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  expect_message (&publisher, GST_MESSAGE_ERROR, "/nonexistent/ca.pem");
  gst_element_set_bus (sink, NULL);
  gst_element_set_state (sink, GST_STATE_NULL);
  gst_object_unref (sink);
  gst_object_unref (publisher.bus);
}

GST_END_TEST;

/* Settings without an effect: certificates where nothing is encrypted, a will without an address. */
GST_START_TEST (test_settings_without_effect)
{
  static const struct
  {
    const gchar *property, *value, *words;
  } cases[] = {
    {"ca-file", "/etc/hostname", "ca-file has no effect: the connection to mqtt://localhost:"},
    {"key-file", "/etc/hostname", "key-file has no effect"},
    {"will-message", "gone", "will-message is never published"},
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstElement *sink = new_sink ("mqtt", free_port (), "t");
    Publisher publisher = {.bus = gst_bus_new () };

    g_object_set (sink, cases[i].property, cases[i].value, NULL);
    gst_element_set_bus (sink, publisher.bus);
    fail_unless (gst_element_set_state (sink, GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE);
    expect_message (&publisher, GST_MESSAGE_WARNING, cases[i].words);
    gst_element_set_bus (sink, NULL);
    gst_element_set_state (sink, GST_STATE_NULL);
    gst_object_unref (sink);
    gst_object_unref (publisher.bus);
  }
}

GST_END_TEST;

TCase *
mqtt_setting_tests (void)
{
  TCase *tests = tcase_create ("settings");

  tcase_set_timeout (tests, 120);
  tcase_add_test (tests, test_wrong_settings);
  tcase_add_test (tests, test_login_in_the_address);
  tcase_add_test (tests, test_settings_in_ready);
  tcase_add_test (tests, test_missing_ca_file);
  tcase_add_test (tests, test_settings_without_effect);
  return tests;
}
