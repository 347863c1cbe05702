/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclzone: the text of zones when it is wrong. */

#include "cclzone.h"
#include <string.h>

/* Every mistake is named with its place, and what was valid stays. */
GST_START_TEST (test_wrong_text)
{
  static const WrongZones cases[] = {
    {"{", "1:"},
    {"{\"zones\":[", "1:"},
    {"[]", "not an object"},
    {ZONES (ROOM) ZONES (ROOM), "something follows after its end"},
    {"{\n\"zones\":[\n\n{\"name\":a_1}]}", "line 4: JSON has _ in strings only"},
    {"{}", "zones is missing"},
    {"{\"zones\":{}}", "not a list"},
    {"{\"zones\":[],\"unit\":1}", "no member \"unit\"; there are: units, zones"},
    {"{\"units\":\"metres\",\"zones\":[]}", "units are"},
    {ZONES ("5"), "zones[0]: is not an object"},
    {ZONES ("{}"), "zones[0]: needs a name"},
    {ZONES ("{\"name\":\"\"}"), "zones[0]: needs a name"},
    {ZONES (ROOM "," ROOM), "zones[1]: the name \"room\" is taken"},
    {ZONES ("{\"name\":\"a\",\"polgon\":[]}"), "zones[0] \"a\": there is no member \"polgon\""},
    {ZONES ("{\"name\":\"a\",\"polygon\":[[0,0],[1,1]]}"), "polygon has 2 points; it takes 3 to 256"},
    {ZONES ("{\"name\":\"a\",\"polygon\":7}"), "polygon is not a list"},
    {ZONES ("{\"name\":\"a\",\"line\":[[0,0],[1,1],[2,2]]}"), "line has 3 points; it takes 2"},
    {ZONES ("{\"name\":\"a\",\"line\":[[0,0],[0,0]]}"), "are the same"},
    {ZONES ("{\"name\":\"a\",\"polygon\":[[0,0],[1,1],[2,2]]}"), "no area"},
    {ZONES ("{\"name\":\"a\",\"polygon\":[[0,0],[9,9],[9,0],[0,9]]}"), "from point 0 to 1, and from 2 to 3"},
    {ZONES ("{\"name\":\"a\",\"polygon\":[[5,0],[5,9],[0,4],[9,2],[9,0]]}"), "crosses itself: from point 0 to 1"},
    {ZONES ("{\"name\":\"a\",\"polygon\":[[0,0],[9,0],[9,9]],\"dwell\":1,\"dwell\":2}"), "\"dwell\" more than once"},
    {"{\"zones\":[],\"zones\":[]}", "\"zones\" more than once"},
    {ZONES ("{\"name\":\"a\",\"polygon\":[[0,0],[1,\"1\"],[2,0]]}"), "point 1 of polygon is not [x, y]"},
    {ZONES ("{\"name\":\"a\",\"polygon\":[[0,0],[1,1,1],[2,0]]}"), "point 1 of polygon"},
    {ZONES ("{\"name\":\"a\",\"polygon\":[[0,0],[1,1],[1e999,0]]}"), "the number 1e999 is too large"},
    {ZONES ("{\"name\":\"a\",\"polygon\":[[0,0],[99999999999999999999,0],[99,99]]}"), "the number 99999999999999999999"},
    {ZONES ("{\"name\":\"a\",\"polygon\":[[0,0],[99,0],[99,99]],\"dwell\":18446744073709551617}"),
        "the number 18446744073709551617 is too large"},
    {ZONES ("{\"name\":\"a\",\"line\":[[0,0],[1,1]],\"polygon\":[]}"), "needs a polygon or a line"},
    {ZONES ("{\"name\":\"a\",\"line\":[[0.5,0],[0.5,1]]}"), "zones[0] \"a\": all of it is in one pixel"},
    {"{\"units\":\"relative\",\"zones\":[{\"name\":\"a\",\"line\":[[0,0],[180,90]]}]}",
        "180 is no fraction of the frame"},
    {ZONES ("{\"name\":\"a\",\"line\":[[0,0],[2,2]],\"dwell\":1}"), "nobody dwells on a line"},
    {ZONES ("{\"name\":\"a\",\"polygon\":[[0,0],[1,1],[2,0]],\"dwell\":-1}"), "dwell is not a number from 0"},
    {ZONES ("{\"name\":\"a\",\"polygon\":[[0,0],[1,1],[2,0]],\"min_area\":\"9\"}"), "min_area is not a number"},
    {ZONES ("{\"name\":\"a\",\"polygon\":[[0,0],[1,1],[2,0]],\"class\":1.5}"), "class is not a whole number from 0"},
    {ZONES ("{\"name\":\"a\",\"polygon\":[[0,0],[1,1],[2,0]],\"class\":[3,65536]}"),
        "class is not a whole number from 0"},
    {ZONES ("{\"name\":\"a\",\"polygon\":[[0,0],[1,1],[2,0]],\"class\":[3,\"4\"]}"),
        "class is not a whole number from 0"},
    {ZONES ("{\"name\":\"a\",\"polygon\":[[0,0],[1,1],[2,0]],\"class\":[]}"), "class has 0 numbers; it takes 1 to 32"},
  };
  Test t = new_test (ZONES (ROOM));

  check_wrong_zones (&t, cases, G_N_ELEMENTS (cases));
  walk (&t, 150, 100);
  fail_unless_equals_string (next_event (&t, NULL), "enter room");
  end_test (&t);
}

GST_END_TEST;

/* Without a limit json-glib 1.6 runs out of stack. */
GST_START_TEST (test_deep_text)
{
  /* json-glib takes a part of the last three for comments, escapes and strings that JSON does not have. */
  static const struct
  {
    const gchar *before, *says;
  } cases[] = {
    {"{\"zones\":", "nested deeper than 100 levels"},
    {"{\"a\":/*/", "JSON has / in strings only"},
    {"{\"a\":\"\\u12\\\" ,\"b\":", "a backslash in it with which no escape begins"},
    {"{\"a\":\"\\ud800\",\" ,\"b\":", "half a pair of surrogates"},
  };
  Test t = new_test (ZONES (ROOM));
  gchar *const brackets = g_strnfill (200000, '[');

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    gchar *const text = g_strconcat (cases[i].before, brackets, NULL);
    gchar *warning;

    g_object_set (t.element, "zones", text, NULL);
    warning = pop_warning (&t);
    fail_unless (strstr (warning, cases[i].says) != NULL, "%s", warning);
    g_free (warning);
    g_free (text);
  }
  g_free (brackets);
  end_test (&t);
}

GST_END_TEST;

/* Names that could be no name as they are. */
GST_START_TEST (test_names_that_are_no_text)
{
  static const gchar *const texts[] = {
    ZONES ("{\"name\":\"\\ud800x\",\"polygon\":[[0,0],[9,0],[9,9]]}"),
    ZONES ("{\"name\":\"a\",\"\\ud800x\":0}"),
    ZONES ("{\"name\":\"a\\u0000b\",\"polygon\":[[0,0],[9,0],[9,9]]}"),
    ZONES ("{\"name\":\"a\xff\",\"polygon\":[[0,0],[9,0],[9,9]]}"),
  };
  Test t = new_test (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    gchar *warning;

    g_object_set (t.element, "zones", texts[i], NULL);
    warning = pop_warning (&t);
    fail_unless (strstr (warning, i < 2 ? "half a pair of surrogates" : i < 3 ? "\\u0000" : "UTF-8"), "%s", warning);
    fail_unless (g_utf8_validate (warning, -1, NULL));
    g_free (warning);
  }
  end_test (&t);
}

GST_END_TEST;

TCase *
zone_text_tests (void)
{
  TCase *tests = tcase_create ("text");

  tcase_add_test (tests, test_wrong_text);
  tcase_add_test (tests, test_deep_text);
  tcase_add_test (tests, test_names_that_are_no_text);
  return tests;
}
