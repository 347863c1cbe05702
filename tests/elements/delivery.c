/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The parts of cclmqttsink that need neither a pipeline nor a broker: addresses and topics. */

#include <time.h>

#include <gst/check/gstcheck.h>

#include "delivery/gstcclmqttaddress.h"
#include "delivery/gstcclline.h"
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
    {"mqtt://localhost/", "localhost", 1883, FALSE},
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
    "mqtt://host:70000", "mqtt://user:secret@host", "mqtt://user@host", "mqtt://user:secret@host:x",
    "user:secret@host", "mqtt:user:secret@host", "mqtt://host:secret", "mqtt://host?password=secret",
    "mqtt://host#secret",
    "mqtt://host/secret", "user:secret", "secret", "mqtt://ho st:secret", "mqtt://[secret", "mqtts://secret:0x1",
    "mqtt:secret",
    "mqtt://host:1883?secret", "ssl://secret"
  };

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    GstCclMqttAddress address = { NULL };
    GError *error = NULL;
    const gchar *hint = NULL;

    fail_if (gst_ccl_mqtt_address_parse (wrong[i], &address, &error, &hint), "%s", wrong[i]);
    fail_unless (error && hint && !address.host);
    fail_if (strstr (error->message, "secret") || strstr (hint, "secret"), "%s", error->message);
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
  check_topic ("a/{source-id}", "", "a/unknown");
  check_topic ("a/{source-id}", "{\"source\":null}", "a/unknown");
}

GST_END_TEST;

static void
check_text (const gchar * line, gsize size, const gchar * name, const gchar * expected)
{
  gchar *const text = gst_ccl_line_get_text (line, size, name);

  fail_unless_equals_string (text, expected);
  g_free (text);
}

/* What a line says about itself: nothing behind it is read, and nothing that is not valid taken. */
GST_START_TEST (test_texts)
{
  static const gchar *const cases[][2] = {
    {"{\"source\":\"cam\"", "cam"},
    {" { \"a\" : [1,\"]\",{\"source\":\"x\"}] , \"b\":-1.5e3,\"c\":{\"d\":[]},\"source\" : \"cam\" } x", "cam"},
    {"{\"source\":\"first\",\"source\":\"second\"}", "first"},
    {"{\"source\":\"a\\\"b\\u00e9\\ud83d\\ude00\\n\"}", "a\"b\303\251\360\237\230\200\n"},
    {"{\"source\":\"a\\u0000b\"}", NULL},
    {"{\"source\":\"a\\ud83d\"}", NULL},
    {"{\"source\":\"a\\x\"}", NULL},
    {"{\"source\":\"a\\\"", NULL},
    {"{\"source\":\"a", NULL},
    {"{\"source\":\"", NULL},
    {"{\"source\":\"\"}", NULL},
    {"{\"source\":\"a\001\"}", NULL},
    {"{\"source\":\"\377\376\"}", NULL},
    {"{\"source\":", NULL},
    {"{\"source\"", NULL},
    {"{\"source", NULL},
    {"{\"sources\":\"a\"}", NULL},
    {"{\"a\":1 \"source\":\"a\"}", NULL},
    {"{\"a\":\"source\",\"b\":\"c\"}", NULL},
    {"{\"a\":{\"source\":\"x\"}}", NULL},
    {"[\"source\",\"a\"]", NULL},
    {"{", NULL},
    {"", NULL},
  };
  static const gchar with_zero[] = "{\"source\":\"a\0b\"}", zero_behind[] = "{\"source\":\"a\",\0\"b\"}";

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check_text (cases[i][0], strlen (cases[i][0]), "source", cases[i][1]);
  check_text (with_zero, sizeof with_zero - 1, "source", NULL);
  check_text (zero_behind, sizeof zero_behind - 1, "source", "a");
  check_text ("{\"schema\":\"s\",\"source\":\"x\"}", 27, "schema", "s");
}

GST_END_TEST;

/* A long line costs no time of the processor. Parsing this one takes a hundred times longer. */
GST_START_TEST (test_long_line)
{
  gchar *const blobs = g_strnfill (10000000, ' ');
  gchar *const line = g_strdup_printf ("{\"source\":\"cam\",\"blobs\":[%s]}", blobs);
  const gsize size = strlen (line);
  const clock_t start = clock ();

  for (guint i = 0; i < 1000; i++)
    check_text (line, size, "source", "cam");
  fail_unless (clock () - start < 5 * CLOCKS_PER_SEC);
  g_free (line);
  g_free (blobs);
}

GST_END_TEST;

typedef struct
{
  const gchar *bytes;
  gsize size;
  const gchar *expected;
} CborCase;

#define CBOR_CASE(bytes, expected) { bytes, sizeof bytes - 1, expected }
#define SOURCE "\x66" "source"

/* Of the copy, which is as long as the item, no byte beyond the end is read. */
static void
check_cbor (const gchar * bytes, gsize size, const gchar * expected)
{
  gchar *const copy = g_memdup2 (bytes, size);
  gchar *const topic = gst_ccl_topic_expand ("{source-id}", copy, size);

  fail_unless_equals_string (topic, expected);
  g_free (topic);
  g_free (copy);
}

GST_START_TEST (test_cbor)
{
  static const CborCase cases[] = {
    CBOR_CASE ("\xa1" SOURCE "\x63" "cam", "cam"),
    CBOR_CASE ("\xa1" SOURCE "\x78\x05" "a/b+c", "a_b_c"),
    CBOR_CASE ("\xa1" SOURCE "\x7b\0\0\0\0\0\0\0\x03" "cam", "cam"),
    CBOR_CASE ("\xbb\0\0\0\0\0\0\0\x02\x61" "a\x20" SOURCE "\x63" "cam", "cam"),
    /* Behind an object, an array, a tag, bytes and numbers of each length. */
    CBOR_CASE ("\xa6\x61" "a\xa2\x61" "b\x82\x01\xf6\x61" "c\x80\x61" "b\xc1\x1a\x01\x02\x03\x04\x61"
        "c\x42\xff\x00\x61" "d\xfb\1\2\3\4\5\6\7\x08\x61" "e\xf9\x3c\x00" SOURCE "\x63" "cam", "cam"),
    CBOR_CASE ("\xa1" SOURCE "\x01", "unknown"),
    CBOR_CASE ("\xa1" SOURCE "\x60", "unknown"),
    CBOR_CASE ("\xa1" SOURCE "\x63" "a\0b", "unknown"),
    CBOR_CASE ("\xa1" SOURCE "\x62\xff\xff", "unknown"),
    CBOR_CASE ("\xa1" SOURCE "\x7f\x63" "cam\xff", "unknown"),
    CBOR_CASE ("\xa1\x01" SOURCE, "unknown"),
    CBOR_CASE ("\xa0", "unknown"),
    CBOR_CASE ("\xbf" SOURCE "\x63" "cam\xff", "unknown"),
    CBOR_CASE ("\x82" SOURCE "\x63" "cam", "unknown"),
    CBOR_CASE ("\xa2\x61" "a\x9b\xff\xff\xff\xff\xff\xff\xff\xff", "unknown"),
    CBOR_CASE ("\xa2\x61" "a\xbb\x80\0\0\0\0\0\0\x01", "unknown"),
    CBOR_CASE ("\xa2\x61" "a\x5b\xff\xff\xff\xff\xff\xff\xff\xff", "unknown"),
    CBOR_CASE ("\xbb\xff\xff\xff\xff\xff\xff\xff\xff\x61" "a\x01", "unknown"),
    CBOR_CASE ("\xa1\x7b\xff\xff\xff\xff\xff\xff\xff\xff", "unknown"),
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    check_cbor (cases[i].bytes, cases[i].size, cases[i].expected);
    for (gsize size = 0; size < cases[i].size && strcmp (cases[i].expected, "unknown"); size++)
      check_cbor (cases[i].bytes, size, "unknown");
  }
}

GST_END_TEST;

/* Nested deeper than a stack is: a reader that calls itself would exceed it. */
GST_START_TEST (test_deep_cbor)
{
  static const gchar head[] = "\xa2\x61" "a", tail[] = SOURCE "\x63" "cam";
  static const guint8 nesting[] = { 0x81, 0xc1, 0xa1 };

  for (guint i = 0; i < G_N_ELEMENTS (nesting); i++) {
    GString *const item = g_string_new_len (head, sizeof head - 1);
    const gsize start = item->len;

    g_string_set_size (item, start + 300000);
    memset (item->str + start, nesting[i], 300000);
    g_string_append_c (item, 0x01);
    g_string_append_len (item, tail, sizeof tail - 1);
    check_cbor (item->str, item->len, nesting[i] == 0xa1 ? "unknown" : "cam");
    g_string_free (item, TRUE);
  }
}

GST_END_TEST;

/* json-glib 1.6 would exceed its stack. */
GST_START_TEST (test_deep_topic)
{
  gchar *const brackets = g_strnfill (300000, '['), *const braces = g_strnfill (300000, '{');
  gchar *const inside = g_strconcat ("{\"source\":\"cam\",\"a\":", brackets, NULL);
  gchar *const behind = g_strconcat ("{\"a\":", brackets, ",\"source\":\"cam\"}", NULL);

  check_topic ("a/{source-id}", brackets, "a/unknown");
  check_topic ("a/{source-id}", braces, "a/unknown");
  check_topic ("a/{source-id}", inside, "a/cam");
  check_topic ("a/{source-id}", behind, "a/unknown");
  g_free (behind);
  g_free (inside);
  g_free (braces);
  g_free (brackets);
}

GST_END_TEST;

/* A topic of MQTT has at most 65535 bytes. */
GST_START_TEST (test_long_source)
{
  static const gsize sizes[] = { 65535, 65536, 300000 };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    gchar *const source = g_strnfill (sizes[i], 's'), *const line = g_strdup_printf ("{\"source\":\"%s\"}", source);

    check_topic ("{source-id}", line, sizes[i] > 65535 ? "unknown" : source);
    g_free (line);
    g_free (source);
  }
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
  tcase_add_test (tc, test_texts);
  tcase_add_test (tc, test_long_line);
  tcase_add_test (tc, test_deep_topic);
  tcase_add_test (tc, test_cbor);
  tcase_add_test (tc, test_deep_cbor);
  tcase_add_test (tc, test_long_source);
  return suite;
}

GST_CHECK_MAIN (delivery);
