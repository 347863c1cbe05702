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
    {"password-env", "CCL_TEST_NOT_SET", "CCL_TEST_NOT_SET"},
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

  tcase_set_timeout (tests, 60);
  tcase_add_test (tests, test_wrong_settings);
  tcase_add_test (tests, test_missing_ca_file);
  tcase_add_test (tests, test_settings_without_effect);
  return tests;
}
