/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclmeta2json: the property tags, right and wrong. */

#include "cclmeta2json.h"

#include <string.h>

GST_START_TEST (test_malformed_tags)
{
  const gchar *wrong[] = { "{site:A}", "[1]", "3", "{\"a\":1", "site=A", "{\"a\":1} {",
    "{\"a\":1e400}", "{\"a\":[{\"b\":-1e400}]}", "{\"a\":123456789012345678901234567890}",
    "{\"a\":-123456789012345678901234567890}", "{\"a\":9223372036854775808}", "{\"a\":-9223372036854775809}",
    "{\"a\\\"\":0xfffffffffffffffff}", "{\"a\":0x1f}", "{\"a\":$ffffffffffffffffff}", "{\"a\":$1}", "{\"a\":0b11}",
    "{\"a\":1}{\"b\":2}", "{\"a\":1}3", "3{\"a\":1}", "{\"a\":.5}", "{\"a\":5.}", "{\"a\":1.e5}", "{\"a\":.e1}", "{\"a\":1e}",
    "{\"a\":- 1}", "{\"a\":+1}", "{\"a\":1.5.5}", "{\"a\":1.5.5\xc3\xa9}", "{\"a\":1-1}", "{\"a\":\"b\nc\"}", "{\"a\":\"b\tc\"}", "{\"a\":1}]", "{\"a\":017}", "{\"a\":-09}", "{\"a\":.5e999}", "{'1e400':1e400}", "{'a':1}", "{\"a\":/* \" */1e400}",
    "{\"a\":/ \" /1e400}", "{\"a\":/*/1e400}", "{\"a\":1} // b", "{\"a\":1}\\", "{\"a\":1}#",
    "{\"a\":\"\\ud800x\"}", "{\"a\":\"\\uDFFF\"}", "{\"a\":\"\\ud83d\\n\"}", "{\"a\":\"\\ud83d\\ud83d\"}",
    "{\"a\":\"\\ud800\",\"b\":1}",
    "{\"a\":\"\\ud8zz\"}", "{\"a\":\"x\\u00zz\"}", "{\"a\":\"\\u12\\\" ,\"b\":1e400}", "{\"a\":\"\\u12\xc3\xa9\"}", "{\"a\":\"\\q\"}",
    "{\"a\":\"x\\u0000y\"}", "{\"\\u0000\":1}", "{\"a\":[\"\\\\\\u0000\"]}", "{\"a\":\"\\0\"}",
    "{\"a\":\"\\377\"}", "{\"a\":\"\xff\"}", "{\"a\":\"\\", "{\"a\":\"\\u00",
  };

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    GstElement *element = gst_element_factory_make ("cclmeta2json", NULL);
    GstBus *bus = gst_bus_new ();
    GstMessage *message;
    GError *error = NULL;
    gchar *debug = NULL;

    gst_element_set_bus (element, bus);
    g_object_set (element, "tags", wrong[i], NULL);
    fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
    message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
    fail_unless (message != NULL, "%s: no message", wrong[i]);
    gst_message_parse_error (message, &error, &debug);
    fail_unless (g_str_has_prefix (error->message, "Property tags cannot be used: "), "%s", error->message);
    fail_unless (g_utf8_validate (error->message, -1, NULL));
    fail_unless (strstr (debug, "{\"site\":\"A\"}"), "%s", debug);
    g_clear_error (&error);
    g_free (debug);
    gst_message_unref (message);

    /* Right tags make it start. */
    g_object_set (element, "tags", "{}", NULL);
    fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED), GST_STATE_CHANGE_SUCCESS);
    gst_element_set_state (element, GST_STATE_NULL);
    gst_element_set_bus (element, NULL);
    gst_object_unref (bus);
    gst_object_unref (element);
  }
}

GST_END_TEST;

/* The largest there are, and what only looks like a number. */
GST_START_TEST (test_large_numbers_in_tags)
{
  GstHarness *h = new_harness ();
  gchar *line;

  g_object_set (h->element, "tags", "{\"a\":[9223372036854775807,-9223372036854775808,1.5e+308,-1E308],"
      "\"1e400\":\"\\\"123456789012345678901234567890 it's /* 1e400 */\" , \"b\":9223372036854775807}", NULL);
  line = push_for_line (h, small_frame (0));
  fail_unless (strstr (line, "[9223372036854775807,-9223372036854775808,1.5"), "%s", line);
  fail_unless (strstr (line, "\"1e400\":\"\\\"123456789012345678901234567890 it's /* 1e400 */\",\"b\":9223372036854775807}"),
      "%s", line);
  g_free (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Text that only looks like a refused escape. */
GST_START_TEST (test_escapes_in_tags)
{
  GstHarness *h = new_harness ();
  gchar *line;

  g_object_set (h->element, "tags", "{\"a\":\"\\uD83D\\uDE00\\\\u0000\\\\ud800\\u0001\\/\\n\",\"b\\\\u0000\":1}", NULL);
  line = push_for_line (h, small_frame (0));
  fail_unless (strstr (line, "{\"a\":\"\xf0\x9f\x98\x80\\\\u0000\\\\ud800\\u0001/\\n\",\"b\\\\u0000\":1}"), "%s", line);
  g_free (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* {"a":[[...]]} with `depth` brackets of all kinds open at a time, and some in strings. */
static gchar *
nested_tags (guint depth)
{
  gchar *const opening = g_strnfill (depth - 1, '['), *const closing = g_strnfill (depth - 1, ']');
  gchar *const tags = g_strdup_printf ("{\"[[]{\\\"[\":[[],{}],\"a\":%s%s}", opening, closing);

  g_free (opening);
  g_free (closing);
  return tags;
}

/* Without a limit json-glib 1.6 runs out of stack. */
GST_START_TEST (test_deep_tags)
{
  const guint depths[] = { 2, 100, 101, 100000 };

  for (guint i = 0; i < G_N_ELEMENTS (depths); i++) {
    GstElement *element = gst_element_factory_make ("cclmeta2json", NULL);
    gchar *const tags = nested_tags (depths[i]);

    g_object_set (element, "tags", tags, NULL);
    fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED),
        depths[i] <= 100 ? GST_STATE_CHANGE_SUCCESS : GST_STATE_CHANGE_FAILURE);
    gst_element_set_state (element, GST_STATE_NULL);
    gst_object_unref (element);
    g_free (tags);
  }
}

GST_END_TEST;

GST_START_TEST (test_tags)
{
  const gchar *tags = "{\"site\":\"A\\n\\u00e9\",\"n\":[1,2.5,true,null,{}],\"gain\":0.1}";
  GstHarness *h = new_harness ();
  GstBus *bus = gst_bus_new ();
  GstMessage *message;
  JsonNode *line, *expected = parse (tags);
  gchar *text;

  gst_element_set_bus (h->element, bus);
  line = push_in_both (h, small_frame (0));
  fail_if (json_object_has_member (json_node_get_object (line), "tags"));
  json_node_unref (line);

  g_object_set (h->element, "tags", tags, NULL);
  line = push_in_both (h, small_frame (1));
  assert_schema ("ccl-blob-1.schema.json", line);
  fail_unless (json_node_equal (json_object_get_member (json_node_get_object (line), "tags"), expected));
  json_node_unref (line);

  /* While running, wrong ones are refused and the old ones stay. */
  g_object_set (h->element, "tags", "{", NULL);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING);
  fail_unless (message != NULL);
  gst_message_unref (message);
  line = push_in_both (h, small_frame (2));
  fail_unless (json_node_equal (json_object_get_member (json_node_get_object (line), "tags"), expected));
  json_node_unref (line);
  g_object_get (h->element, "tags", &text, NULL);
  fail_unless_equals_string (text, tags);
  g_free (text);

  g_object_set (h->element, "tags", NULL, NULL);
  line = push_in_both (h, empty_frame (3));
  fail_if (json_object_has_member (json_node_get_object (line), "tags"));
  json_node_unref (line);
  json_node_unref (expected);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}

GST_END_TEST;

TCase *
json_tag_tests (void)
{
  TCase *tests = tcase_create ("tags");

  tcase_set_timeout (tests, 120);
  tcase_add_test (tests, test_malformed_tags);
  tcase_add_test (tests, test_large_numbers_in_tags);
  tcase_add_test (tests, test_escapes_in_tags);
  tcase_add_test (tests, test_deep_tags);
  tcase_add_test (tests, test_tags);
  return tests;
}
