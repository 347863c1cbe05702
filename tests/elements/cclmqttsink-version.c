/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclmqttsink: what MQTT 5 adds, and brokers that do not know it. */

#include "cclmqttsink.h"

#include <stdlib.h>
#include <string.h>

#include "support/harness.h"

static void
expect_text (Listener * listener, const gchar * expected)
{
  gchar *const line = g_data_input_stream_read_line (listener->lines, NULL, NULL, NULL);

  fail_unless_equals_string (line, expected);
  g_free (line);
}

/* Message 1, in the format "%P|%E|%p". Some of its time has passed. */
static void
expect_properties_and_expiry (Listener * listener, const gchar * properties, guint expiry)
{
  gchar *const line = g_data_input_stream_read_line (listener->lines, NULL, NULL, NULL);
  gchar **const parts = g_strsplit (line ? line : "", "|", 3);

  fail_unless_equals_int (g_strv_length (parts), 3);
  fail_unless_equals_string (parts[0], properties);
  if (expiry)
    fail_unless (atoi (parts[1]) > (gint) expiry / 2 && atoi (parts[1]) <= (gint) expiry, "%s", line);
  else
    fail_unless_equals_string (parts[1], "");
  fail_unless_equals_string (parts[2], "{\"source\":\"cam/1\",\"seq\":1}");
  g_strfreev (parts);
  g_free (line);
}

/* A message carries its properties and the time that is left to it. In 3.1.1 it carries none. */
GST_START_TEST (test_properties)
{
  NEED_BROKER ();

  static const gchar *const format[] = { "-V", "mqttv5", "-F", "%P|%E|%p", NULL };
  static const struct
  {
    const gchar *version, *properties;
    guint expiry;
  } cases[] = { {"auto", "source:cam/1 site:door which:cam/1-x", 6000}, {"3.1.1", "", 0} };
  HeardBroker broker = start_heard_broker (OPEN_TO_ALL, format);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstElement *sink = new_sink ("mqtt", broker.port, "t");
    Publisher publisher;

    g_object_set (sink, "user-properties", "site=door,which={source-id}-x", "message-expiry", 6000, NULL);
    gst_util_set_object_arg (G_OBJECT (sink), "protocol-version", cases[i].version);
    publisher = publish_with (sink);
    push_numbers (&publisher, 1, 1);
    wait_for_stat (&publisher, "published", 1);
    expect_properties_and_expiry (&broker.listener, cases[i].properties, cases[i].expiry);
    if (i)
      expect_message (&publisher, GST_MESSAGE_WARNING, "No effect with MQTT 3.1.1: message-expiry, user-properties.");
    fail_unless (gst_bus_pop_filtered (publisher.bus, GST_MESSAGE_WARNING) == NULL);
    close_publisher (&publisher);
  }
  stop_heard_broker (&broker);
}

GST_END_TEST;

static void
push_text (Publisher * publisher, gconstpointer text, gsize size)
{
  fail_unless_equals_int (gst_harness_push (publisher->harness, gst_buffer_new_memdup (text, size)), GST_FLOW_OK);
}

static void
expect_properties (Listener * listener, const gchar * properties, gsize size)
{
  gchar *const expected = g_strdup_printf ("%s|%" G_GSIZE_FORMAT, properties, size);

  expect_text (listener, expected);
  g_free (expected);
}

/* Each message carries the source and the schema of its line. What MQTT does not allow is left out, and the connection stays. */
GST_START_TEST (test_line_properties)
{
  NEED_BROKER ();

  static const gchar *const format[] = { "-V", "mqttv5", "-F", "%P|%l", NULL };
  static const gchar with_zero[] = "{\"source\":\"a\0b\",\"schema\":\"s\"}";
  static const struct
  {
    const gchar *line, *expected;
  } cases[] = {
    {"{\"schema\":\"ccl-blob-1\",\"source\":\"cam/1\"}", "source:cam/1 schema:ccl-blob-1"},
    {"{\"objects\":[{\"source\":\"x\"}],\"source\":\"cam\"}", "source:cam"},
    {"{\"source\":\"a\\u0001b\",\"schema\":\"s\"}", "schema:s"},
    {"{\"source\":\"a\\u0000b\",\"schema\":\"s\"}", "schema:s"},
    {"{\"source\":\"a\\uffffb\",\"schema\":\"s\"}", "schema:s"},
    {"{\"source\":\"\377\376\",\"schema\":\"s\"}", "schema:s"},
    {"no JSON", ""},
    {"[1]", ""},
  };
  HeardBroker broker = start_heard_broker (OPEN_TO_ALL, format);
  gchar *const source = g_strnfill (65536, 's'), *const long_line = g_strdup_printf ("{\"source\":\"%s\"}", source);
  Publisher publisher = publish_with (new_sink ("mqtt", broker.port, "t"));

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    push_text (&publisher, cases[i].line, strlen (cases[i].line));
    expect_properties (&broker.listener, cases[i].expected, strlen (cases[i].line));
  }
  push_text (&publisher, with_zero, sizeof with_zero - 1);
  expect_properties (&broker.listener, "schema:s", sizeof with_zero - 1);
  push_text (&publisher, long_line, strlen (long_line));
  expect_properties (&broker.listener, "", strlen (long_line));
  fail_unless_equals_uint64 (stat_of (&publisher, "connects"), 1);
  wait_for_stat (&publisher, "published", G_N_ELEMENTS (cases) + 2);
  close_publisher (&publisher);
  g_free (long_line);
  g_free (source);
  stop_heard_broker (&broker);
}

GST_END_TEST;

/* The user's own value counts. A line that fits the broker's largest packet is not refused for its properties. */
GST_START_TEST (test_line_properties_are_optional)
{
  NEED_BROKER ();

  static const gchar *const format[] = { "-V", "mqttv5", "-F", "%P|%l", NULL };
  HeardBroker broker = start_heard_broker (OPEN_TO_ALL "\nmax_packet_size 400", format);
  gchar *const filling = g_strnfill (350, 'x'), *const line = g_strdup_printf ("{\"source\":\"c\",\"a\":\"%s", filling);
  GstElement *sink = new_sink ("mqtt", broker.port, "t");
  Publisher publisher;

  g_object_set (sink, "user-properties", "source=mine", NULL);
  publisher = publish_with (sink);
  push_numbers (&publisher, 1, 1);
  expect_properties (&broker.listener, "source:mine", strlen ("{\"source\":\"cam/1\",\"seq\":1}"));
  close_publisher (&publisher);
  publisher = publish_with (new_sink ("mqtt", broker.port, "t"));
  for (gsize size = 340; size <= strlen (line); size++)
    push_text (&publisher, line, size);
  wait_for_stat (&publisher, "published", strlen (line) - 339);
  close_publisher (&publisher);
  g_free (line);
  g_free (filling);
  stop_heard_broker (&broker);
}

GST_END_TEST;

typedef struct
{
  guint8 bytes[5];
} Answer;

/* Reads a message of QoS 1 of our own topic, whose head has one byte for its length. It has this number. Gives the answer. */
static Answer
read_message (GSocketConnection * connection, guint number, guint8 code)
{
  GInputStream *const input = g_io_stream_get_input_stream (G_IO_STREAM (connection));
  gchar *const expected = g_strdup_printf ("\"seq\":%u}", number);
  guint8 packet[2 + 127 + 1] = { 0 };
  Answer answer = { {0x40, 3, 0, 0, code} };
  gsize n;

  fail_unless (g_input_stream_read_all (input, packet, 2, &n, NULL, NULL) && n == 2);
  fail_unless_equals_int (packet[0] & 0xf6, 0x32);
  fail_unless (packet[1] < 128);
  fail_unless (g_input_stream_read_all (input, packet + 2, packet[1], &n, NULL, NULL) && n == packet[1]);
  fail_unless (g_str_has_suffix ((const gchar *) packet + 2 + n - strlen (expected), expected), "not message %u",
      number);
  memcpy (answer.bytes + 2, packet + 5, 2);     /* behind the topic of one letter */
  g_free (expected);
  return answer;
}

static void
answer_message (GSocketConnection * connection, guint number, guint8 code)
{
  const Answer answer = read_message (connection, number, code);

  send_bytes (connection, answer.bytes, sizeof answer.bytes);
}

/* A broker says that it is full: what it refused comes again after a pause, in order and one by one, and one warning says so. */
GST_START_TEST (test_full_answers)
{
  static const guint8 connack[] = { 0x20, 3, 0, 0, 0 };
  const guint8 full = 0x97;
  guint port;
  GSocketListener *broker = new_listener (&port);
  GSocketConnection *connection;
  Publisher publisher = publish_with (new_sink ("mqtt", port, "t"));
  Answer answers[3];

  push_numbers (&publisher, 1, 3);
  connection = accept_client (broker);
  send_bytes (connection, connack, sizeof connack);
  /* After the first answer no more would be sent. */
  for (guint i = 0; i < 3; i++)
    answers[i] = read_message (connection, i + 1, full);
  for (guint i = 0; i < 3; i++)
    send_bytes (connection, answers[i].bytes, sizeof answers[i].bytes);
  expect_message (&publisher, GST_MESSAGE_WARNING, "The broker is full: Quota exceeded");
  answer_message (connection, 1, 0);
  answer_message (connection, 2, full);
  answer_message (connection, 2, 0);
  answer_message (connection, 3, 0);
  wait_for_stat (&publisher, "published", 3);
  expect_all_published (&publisher, 3);
  fail_unless (gst_bus_pop_filtered (publisher.bus, GST_MESSAGE_WARNING) == NULL, "one warning is enough");
  close_publisher (&publisher);
  g_object_unref (connection);
  g_object_unref (broker);
}

GST_END_TEST;

/* A broker that takes few messages of QoS 2 at a time may say that it is full: none is lost, and none comes twice. */
GST_START_TEST (test_full_broker)
{
  NEED_BROKER ();

  const guint port = free_port ();
  GstElement *sink = new_sink ("mqtt", port, "t");
  gboolean has_come[21] = { FALSE };
  Publisher publisher;
  GSubprocess *broker;
  Listener listener;

  g_object_set (sink, "qos-level", 2, NULL);
  broker = start_broker (port, OPEN_TO_ALL "\nmax_inflight_bytes 10");
  listener = listen_at (port, NULL);
  publisher = publish_with (sink);
  push_numbers (&publisher, 1, 20);
  wait_for_stat (&publisher, "published", 20);
  expect_all_published (&publisher, 20);
  fail_unless_equals_uint64 (stat_of (&publisher, "connects"), 1);
  for (guint i = 0; i < 20; i++) {
    gchar *const line = g_data_input_stream_read_line (listener.lines, NULL, NULL, NULL);
    const guint number = (guint) g_ascii_strtoull (strstr (line, "\"seq\":") + strlen ("\"seq\":"), NULL, 10);

    fail_if (has_come[number], "message %u came twice", number);
    has_come[number] = TRUE;
    g_free (line);
  }
  close_publisher (&publisher);
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
  HeardBroker broker = start_heard_broker (OPEN_TO_ALL, format);

  for (guint i = 0; i < G_N_ELEMENTS (versions); i++) {
    GstElement *sink = new_sink ("mqtt", broker.port, "t/{source-id}");
    Publisher publisher;

    gst_util_set_object_arg (G_OBJECT (sink), "protocol-version", versions[i]);
    publisher = publish_with (sink);
    gst_harness_set_src_caps_str (publisher.harness, "application/cbor");
    push_text (&publisher, item, sizeof item - 1);
    push_numbers (&publisher, 1, 1);
    wait_for_stat (&publisher, "published", 2);
    expect_text (&broker.listener,
        i ? "t/a||a266736f757263656161616e0a" : "t/a|application/cbor|a266736f757263656161616e0a");
    expect_text (&broker.listener, "t/cam_1||7b22736f75726365223a2263616d2f31222c22736571223a317d");
    close_publisher (&publisher);
  }
  stop_heard_broker (&broker);
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
  for (gint64 end = g_get_monotonic_time () + PATIENCE; stat_of (&publisher, "published") == 0;) {
    fail_unless (g_get_monotonic_time () < end, "nothing was published");
    push_numbers (&publisher, 4, 4);    /* on a busy machine one may be late, too */
    g_usleep (100000);
  }
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

/* Brokers that do not know MQTT 5 say so in the form of 3.1.1, or answer as if they were asked in it. Of one that just closes the
 * connection this is not certain. */
GST_START_TEST (test_fallback)
{
  static const guint8 refusal[] = { 0x20, 2, 0, 1 }, welcome[] = { 0x20, 2, 0, 0 };
  static const guint n_tries[] = { 1, 3, 1 };
  guint port;
  GSocketListener *broker = new_listener (&port);
  GSocketConnection *connection;
  Publisher publisher;
  guint8 version;

  publisher = publish_with (new_sink ("mqtt", port, "t"));
  push_numbers (&publisher, 1, 1);
  for (guint i = 0; i < n_tries[__i__]; i++) {
    connection = accept_version (broker, &version);
    fail_unless_equals_int (version, 5);
    if (__i__ != 1)
      send_bytes (connection, __i__ ? welcome : refusal, sizeof refusal);
    g_object_unref (connection);
  }
  connection = accept_version (broker, &version);
  fail_unless_equals_int (version, 4);
  welcome_client (connection);
  wait_for_stat (&publisher, "in-flight", 1);
  g_object_unref (connection);
  connection = accept_version (broker, &version);
  fail_unless_equals_int (version, __i__ == 1 ? 5 : 4);
  g_object_unref (connection);
  close_publisher (&publisher);
  g_object_unref (broker);
}

GST_END_TEST;

/* One connection after the other: the version that the client asks for, and the answer. */
typedef struct
{
  guint8 version;
  guint8 answer[5];
  guint8 size;
} Try;

static const struct
{
  Try tries[4];
  const gchar *past, *says;     /* NULL: no warning is expected */
} stories[] = {
  /* A broker that has accepted MQTT 5 is not taken for an older one when an answer comes garbled. */
  {{{5, {0x20, 3, 0, 0, 0}, 5}, {5, {0xf3, 2, 0xff, 0xff}, 4}, {5, {0xf3, 2, 0xff, 0xff}, 4}}, NULL, NULL},
  /* A refusal of 3.1.1, which is tried when 5 was closed several times, is told in its own words. */
  {{{5, {0}, 0}, {5, {0}, 0}, {5, {0}, 0}, {4, {0x20, 2, 0, 5}, 4}}, "The connection was lost",
      "Connection Refused: not authorised"},
};

GST_START_TEST (test_tries)
{
  const Try *const tries = stories[__i__].tries;
  guint port;
  GSocketListener *broker = new_listener (&port);
  Publisher publisher = publish_with (new_sink ("mqtt", port, "t"));
  guint8 version;

  push_numbers (&publisher, 1, 1);
  for (guint i = 0; i < 4 && tries[i].version; i++) {
    GSocketConnection *const connection = accept_version (broker, &version);

    fail_unless_equals_int (version, tries[i].version);
    if (tries[i].size)
      send_bytes (connection, tries[i].answer, tries[i].size);
    if (tries[i].size == 5)     /* it has accepted the client */
      wait_for_stat (&publisher, "in-flight", 1);
    g_object_unref (connection);
  }
  if (stories[__i__].says)
    expect_message_past (&publisher, GST_MESSAGE_WARNING, stories[__i__].past, stories[__i__].says);
  close_publisher (&publisher);
  g_object_unref (broker);
}

GST_END_TEST;

TCase *
mqtt_version_tests (void)
{
  TCase *tests = tcase_create ("version");

  tcase_set_timeout (tests, 120);
  tcase_add_test (tests, test_properties);
  tcase_add_test (tests, test_line_properties);
  tcase_add_test (tests, test_line_properties_are_optional);
  tcase_add_test (tests, test_full_answers);
  tcase_add_test (tests, test_full_broker);
  tcase_add_test (tests, test_content_type);
  tcase_add_test (tests, test_expiry);
  tcase_add_test (tests, test_no_permission);
  tcase_add_loop_test (tests, test_fallback, 0, 3);
  tcase_add_loop_test (tests, test_tries, 0, G_N_ELEMENTS (stories));
  return tests;
}
