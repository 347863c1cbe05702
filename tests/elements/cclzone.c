/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclzone: who is where, events and their times, zones that change while frames flow, text that is wrong. */

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/ccl/ccl.h>
#include <glib/gstdio.h>
#include <string.h>

#define FRAME (100 * GST_MSECOND)

/* The middle of a 320x240 frame, and a line from its top to its bottom. */
#define ROOM "{\"name\":\"room\",\"polygon\":[[100,50],[200,50],[200,150],[100,150]],\"dwell\":0.5,\"min_area\":50}"
#define GATE "{\"name\":\"gate\",\"line\":[[150,0],[150,240]]}"
#define ZONES(list) "{\"zones\":[" list "]}"

typedef struct
{
  GstHarness *h;
  GstElement *element;
  GstBus *bus;
  guint frame;
} Test;

static Test
new_test (const gchar * zones)
{
  Test t = {.h = gst_harness_new ("cclzone"),.bus = gst_bus_new () };

  t.element = gst_harness_find_element (t.h, "cclzone");
  gst_element_set_bus (t.element, t.bus);
  g_object_set (t.element, "margin", 0.0, NULL);        /* each step counts */
  if (zones)
    g_object_set (t.element, "zones", zones, NULL);
  gst_harness_set_src_caps_str (t.h, "video/x-raw,format=GRAY8,width=320,height=240,framerate=10/1");
  return t;
}

static void
end_test (Test * t)
{
  gst_element_set_bus (t->element, NULL);
  gst_object_unref (t->bus);
  gst_object_unref (t->element);
  gst_harness_teardown (t->h);
}

/* A blob of 10x10 pixels around (x, y). */
static GstCclBlob
blob_at (gint x, gint y, guint64 track, guint32 flags)
{
  const guint64 n = 100, cx = x, cy = y;

  return (GstCclBlob) {
    .label = 1,.x = x - 5,.y = y - 5,.width = 10,.height = 10,.first_x = x - 5,.area = n,
    .m10 = n * cx,.m01 = n * cy,.m20 = n * cx * cx + 825,.m11 = n * cx * cy,.m02 = n * cy * cy + 825,
    .track_id = track,.flags = flags,.mtd_id = GST_CCL_MTD_ID_NONE
  };
}

static GstBuffer *
push_at (Test * t, GstClockTime pts, const GstCclBlob * blobs, guint n)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 4, NULL);
  GstCclBlobList *list = gst_ccl_blob_list_new (blobs, n);

  GST_BUFFER_PTS (buffer) = pts;
  gst_buffer_add_ccl_blob_meta (buffer, list, 320, 240);
  gst_ccl_blob_list_unref (list);
  buffer = gst_harness_push_and_pull (t->h, buffer);
  fail_unless (buffer != NULL);
  return buffer;
}

static GstBuffer *
push (Test * t, const GstCclBlob * blobs, guint n)
{
  return push_at (t, t->frame++ * FRAME, blobs, n);
}

/* One confirmed track, or nothing when x is negative. */
static void
walk (Test * t, gint x, gint y)
{
  const GstCclBlob blob = blob_at (x, y, 7, GST_CCL_BLOB_FLAG_CONFIRMED);

  gst_buffer_unref (push (t, &blob, x >= 0));
}

/* The next event, as "enter room"; NULL when there is none. */
static const gchar *
next_event (Test * t, const GstStructure ** details)
{
  static gchar text[64];
  static GstMessage *message = NULL;
  const GstStructure *s;

  g_clear_pointer (&message, gst_message_unref);
  message = gst_bus_pop_filtered (t->bus, GST_MESSAGE_ELEMENT);
  if (!message)
    return NULL;
  s = gst_message_get_structure (message);
  fail_unless (gst_structure_has_name (s, "ccl-zone"));
  g_snprintf (text, sizeof text, "%s %s", gst_structure_get_string (s, "event"), gst_structure_get_string (s, "zone"));
  if (details)
    *details = s;
  return text;
}

static guint64
get_uint64 (const GstStructure * s, const gchar * name)
{
  guint64 value = 0;

  fail_unless (gst_structure_get_uint64 (s, name, &value), "no %s", name);
  return value;
}

static GstCclZone
zone_of (GstBuffer * buffer, guint index)
{
  GstCclZoneMeta *const meta = gst_buffer_get_ccl_zone_meta (buffer);

  fail_unless (meta != NULL && index < meta->n_zones);
  return meta->zones[index];
}

static guint32
bits_of (GstBuffer * buffer, guint index)
{
  return gst_ccl_blob_meta_get_blob (gst_buffer_get_ccl_blob_meta (buffer), index)->zones;
}

GST_START_TEST (test_enter_dwell_leave)
{
  Test t = new_test (ZONES (ROOM));
  const GstStructure *s;
  guint inside;

  for (gint x = 60; x <= 120; x += 20)  /* inside from 100 on: the third frame */
    walk (&t, x, 100);
  fail_unless_equals_string (next_event (&t, &s), "enter room");
  fail_unless_equals_uint64 (get_uint64 (s, "track-id"), 7);
  fail_unless_equals_uint64 (get_uint64 (s, "timestamp"), 2 * FRAME);
  fail_unless_equals_uint64 (get_uint64 (s, "running-time"), 2 * FRAME);
  fail_unless_equals_uint64 (get_uint64 (s, "stream-time"), 2 * FRAME);
  fail_unless (gst_structure_get_uint (s, "inside", &inside) && inside == 1);
  fail_unless (next_event (&t, NULL) == NULL);

  for (gint i = 0; i < 10; i++)
    walk (&t, 130, 100);
  fail_unless_equals_string (next_event (&t, &s), "dwell room");
  fail_unless_equals_uint64 (get_uint64 (s, "duration"), 5 * FRAME);
  fail_unless (next_event (&t, NULL) == NULL);

  walk (&t, 250, 100);
  fail_unless_equals_string (next_event (&t, &s), "leave room");
  fail_unless_equals_uint64 (get_uint64 (s, "duration"), 12 * FRAME);
  fail_unless (gst_structure_get_uint (s, "inside", &inside) && inside == 0);
  fail_unless (next_event (&t, NULL) == NULL);
  end_test (&t);
}

GST_END_TEST;

/* The blob is 10 pixels high, so that the band reaches from 145 to 155. */
GST_START_TEST (test_margin)
{
  Test t = new_test (ZONES (GATE));
  static const gint steps[] = { 100, 148, 152, 148, 152, 148, 100, 152, 152, 180 };
  const GstStructure *s;

  g_object_set (t.element, "margin", 0.5, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
    fail_unless (next_event (&t, NULL) == NULL, "before step %u", i);
    walk (&t, steps[i], 100);
  }
  fail_unless_equals_string (next_event (&t, &s), "cross gate");
  fail_unless_equals_string (gst_structure_get_string (s, "direction"), "backward");
  fail_unless (next_event (&t, NULL) == NULL);
  end_test (&t);
}

GST_END_TEST;

/* A track of two blobs astride the line is one object, in the middle of the two. */
GST_START_TEST (test_two_parts)
{
  Test t = new_test (ZONES (GATE));
  const GstStructure *s;

  for (gint x = 100; x <= 200; x += 10) {
    const GstCclBlob parts[] = {
      blob_at (x - 20, 100, 7, GST_CCL_BLOB_FLAG_CONFIRMED), blob_at (x + 20, 100, 7, GST_CCL_BLOB_FLAG_CONFIRMED)
    };
    gst_buffer_unref (push (&t, parts, 2));
  }
  fail_unless_equals_string (next_event (&t, &s), "cross gate");
  fail_unless (next_event (&t, NULL) == NULL);
  end_test (&t);
}

GST_END_TEST;

/* Upstream forgets its tracks: the objects are no longer inside, and come in again under their new identities. */
GST_START_TEST (test_tracks_reset)
{
  Test t = new_test (ZONES (ROOM));
  guint inside;
  const GstStructure *s;
  GstCclBlob blob = blob_at (150, 100, 8, GST_CCL_BLOB_FLAG_CONFIRMED);

  walk (&t, 150, 100);
  fail_unless_equals_string (next_event (&t, NULL), "enter room");
  fail_unless (gst_harness_push_event (t.h, gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM,
              gst_structure_new_empty ("ccl-tracks-reset"))));
  gst_buffer_unref (push (&t, &blob, 1));
  fail_unless_equals_string (next_event (&t, &s), "enter room");
  fail_unless (gst_structure_get_uint (s, "inside", &inside) && inside == 1);
  fail_unless (next_event (&t, NULL) == NULL);
  end_test (&t);
}

GST_END_TEST;

/* The line goes down, so its left is the picture's right. */
GST_START_TEST (test_cross)
{
  Test t = new_test (ZONES (GATE));
  static const struct
  {
    gint x;
    const gchar *direction;
  } steps[] = {
    {100, NULL}, {140, NULL}, {160, "backward"}, {155, NULL}, {150, NULL}, {149, "forward"}, {130, NULL},
    {300, "backward"}
  };

  for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
    const GstStructure *s;
    const gchar *event;

    walk (&t, steps[i].x, 100);
    event = next_event (&t, &s);
    fail_unless ((event != NULL) == (steps[i].direction != NULL), "step %u: %s", i, event);
    if (event) {
      fail_unless_equals_string (event, "cross gate");
      fail_unless_equals_string (gst_structure_get_string (s, "direction"), steps[i].direction);
    }
  }
  end_test (&t);
}

GST_END_TEST;

/* Past the end of a line is not across it. */
GST_START_TEST (test_beside_the_line)
{
  Test t = new_test (ZONES ("{\"name\":\"gate\",\"line\":[[150,0],[150,100]]}"));

  walk (&t, 140, 150);
  walk (&t, 160, 150);
  fail_unless (next_event (&t, NULL) == NULL);
  walk (&t, 160, 50);
  walk (&t, 140, 50);
  fail_unless_equals_string (next_event (&t, NULL), "cross gate");
  end_test (&t);
}

GST_END_TEST;

GST_START_TEST (test_out_of_sight)
{
  Test t = new_test (ZONES (ROOM));
  const GstStructure *s;

  walk (&t, 150, 100);
  fail_unless_equals_string (next_event (&t, NULL), "enter room");
  for (gint i = 0; i < 10; i++)
    walk (&t, -1, 0);
  fail_unless (next_event (&t, NULL) == NULL);
  walk (&t, 150, 100);
  fail_unless_equals_string (next_event (&t, &s), "dwell room");
  for (gint i = 0; i < 11; i++)
    walk (&t, -1, 0);
  fail_unless_equals_string (next_event (&t, &s), "leave room");
  fail_unless (next_event (&t, NULL) == NULL);
  end_test (&t);
}

GST_END_TEST;

GST_START_TEST (test_blobs_and_counts)
{
  Test t = new_test (ZONES (ROOM "," GATE ",{\"name\":\"all\",\"polygon\":[[0,0],[320,0],[320,240],[0,240]]}"));
  const GstCclBlob blobs[] = {
    blob_at (150, 100, 1, GST_CCL_BLOB_FLAG_CONFIRMED), blob_at (30, 30, 2, GST_CCL_BLOB_FLAG_CONFIRMED),
    blob_at (120, 60, 3, GST_CCL_BLOB_FLAG_TENTATIVE), blob_at (160, 100, 0, 0)
  };
  GstBuffer *buffer = push (&t, blobs, 4);

  fail_unless (bits_of (buffer, 0) == 5 && bits_of (buffer, 1) == 4 && bits_of (buffer, 2) == 5);
  fail_unless_equals_string (zone_of (buffer, 0).name, "room");
  fail_unless_equals_int (zone_of (buffer, 0).n_inside, 1);
  fail_unless_equals_int (zone_of (buffer, 2).n_inside, 2);
  fail_unless_equals_uint64 (zone_of (buffer, 2).n_forward, 2);
  fail_unless_equals_int (zone_of (buffer, 1).kind, GST_CCL_ZONE_LINE);
  fail_unless (zone_of (buffer, 1).points[0] == 150.0 / 320 && zone_of (buffer, 1).points[3] == 1);
  gst_buffer_unref (buffer);
  end_test (&t);
}

GST_END_TEST;

/* No tracker: who is where, but nobody enters. */
GST_START_TEST (test_untracked)
{
  Test t = new_test (ZONES (ROOM));
  const GstCclBlob blobs[] = { blob_at (150, 100, 0, 0), blob_at (120, 60, 0, 0), blob_at (20, 20, 0, 0) };
  GstBuffer *buffer = push (&t, blobs, 3);

  fail_unless_equals_int (zone_of (buffer, 0).n_inside, 2);
  fail_unless (next_event (&t, NULL) == NULL);
  gst_buffer_unref (buffer);
  end_test (&t);
}

GST_END_TEST;

/* Blobs from before the first track, as with ccltrack emit=0, are not counted beside the objects that enter. */
GST_START_TEST (test_first_track)
{
  static const guint32 states[] = { GST_CCL_BLOB_FLAG_CONFIRMED, GST_CCL_BLOB_FLAG_TENTATIVE };

  for (guint i = 0; i < G_N_ELEMENTS (states); i++) {
    Test t = new_test (ZONES (ROOM));
    const gboolean is_confirmed = states[i] == GST_CCL_BLOB_FLAG_CONFIRMED;
    const GstCclBlob before[] = { blob_at (150, 100, 0, 0), blob_at (120, 60, 0, 0) };
    const GstCclBlob after[] = { before[0], blob_at (120, 60, 7, states[i]) };
    GstBuffer *buffer = push (&t, before, 2);

    fail_unless_equals_int (zone_of (buffer, 0).n_inside, 2);
    gst_buffer_unref (buffer);
    buffer = push (&t, after, 2);
    fail_unless_equals_int (zone_of (buffer, 0).n_inside, is_confirmed);
    fail_unless ((next_event (&t, NULL) != NULL) == is_confirmed);
    gst_buffer_unref (buffer);
    end_test (&t);
  }
}

GST_END_TEST;

GST_START_TEST (test_min_area)
{
  Test t = new_test (ZONES ("{\"name\":\"big\",\"polygon\":[[0,0],[320,0],[320,240]],\"min_area\":101}"));

  walk (&t, 200, 100);
  fail_unless (next_event (&t, NULL) == NULL);
  end_test (&t);
}

GST_END_TEST;

GST_START_TEST (test_bottom_center)
{
  Test t = new_test (ZONES ("{\"name\":\"floor\",\"polygon\":[[0,120],[320,120],[320,240],[0,240]]}"));

  walk (&t, 100, 117);          /* rows 112 to 121 */
  fail_unless (next_event (&t, NULL) == NULL);
  gst_util_set_object_arg (G_OBJECT (t.element), "evaluation-point", "bottom-center");
  walk (&t, 100, 117);
  fail_unless_equals_string (next_event (&t, NULL), "enter floor");
  walk (&t, 100, 235);          /* down to the last row */
  fail_unless (next_event (&t, NULL) == NULL);
  end_test (&t);
}

GST_END_TEST;

GST_START_TEST (test_relative)
{
  Test t = new_test ("{\"units\":\"relative\",\"zones\":[{\"name\":\"right\","
      "\"polygon\":[[0.5,0],[1,0],[1,1],[0.5,1]]}]}");

  walk (&t, 100, 100);
  fail_unless (next_event (&t, NULL) == NULL);
  walk (&t, 200, 100);
  fail_unless_equals_string (next_event (&t, NULL), "enter right");
  end_test (&t);
}

GST_END_TEST;

/* A zone that keeps its name keeps its guests and counts. */
GST_START_TEST (test_change_while_playing)
{
  Test t = new_test (ZONES (ROOM));
  const GstCclBlob blob = blob_at (150, 100, 7, GST_CCL_BLOB_FLAG_CONFIRMED);
  GstBuffer *buffer;

  walk (&t, 150, 100);
  fail_unless_equals_string (next_event (&t, NULL), "enter room");
  g_object_set (t.element, "zones", ZONES (GATE "," ROOM), NULL);
  buffer = push (&t, &blob, 1);
  fail_unless (next_event (&t, NULL) == NULL);
  fail_unless (bits_of (buffer, 0) == 2 && zone_of (buffer, 1).n_inside == 1 && zone_of (buffer, 1).n_forward == 1);
  gst_buffer_unref (buffer);

  g_object_set (t.element, "zones", NULL, NULL);
  buffer = push (&t, &blob, 1);
  fail_unless (gst_buffer_get_ccl_zone_meta (buffer) == NULL);
  gst_buffer_unref (buffer);
  end_test (&t);
}

GST_END_TEST;

static gchar *
pop_warning (Test * t)
{
  GstMessage *message = gst_bus_pop_filtered (t->bus, GST_MESSAGE_WARNING);
  GError *error = NULL;
  gchar *text;

  fail_unless (message != NULL, "no warning");
  gst_message_parse_warning (message, &error, NULL);
  text = g_strdup (error->message);
  g_error_free (error);
  gst_message_unref (message);
  return text;
}

GST_START_TEST (test_reload)
{
  gchar *path = g_build_filename (g_get_tmp_dir (), "cclzone-test-XXXXXX", NULL), *warning;
  Test t;
  gboolean ok;

  g_close (g_mkstemp (path), NULL);
  g_file_set_contents (path, ZONES (GATE), -1, NULL);
  t = (Test) {.h = gst_harness_new_parse ("cclzone name=zone"),.bus = gst_bus_new () };
  gst_element_set_state (t.h->element, GST_STATE_NULL);
  t.element = gst_harness_find_element (t.h, "cclzone");
  gst_element_set_bus (t.element, t.bus);
  g_object_set (t.element, "config", path, NULL);
  gst_harness_play (t.h);
  gst_harness_set_src_caps_str (t.h, "video/x-raw,format=GRAY8,width=320,height=240,framerate=10/1");

  walk (&t, 140, 100);
  walk (&t, 160, 100);
  fail_unless_equals_string (next_event (&t, NULL), "cross gate");

  g_file_set_contents (path, ZONES (ROOM), -1, NULL);
  g_signal_emit_by_name (t.element, "reload", &ok);
  fail_unless (ok);
  walk (&t, 160, 100);
  fail_unless_equals_string (next_event (&t, NULL), "enter room");

  g_file_set_contents (path, ZONES ("{\"name\":\"x\"}"), -1, NULL);
  g_signal_emit_by_name (t.element, "reload", &ok);
  fail_unless (!ok);
  warning = pop_warning (&t);
  fail_unless (strstr (warning, path) && strstr (warning, "zones[0] \"x\": needs a polygon or a line"), "%s", warning);
  g_free (warning);
  walk (&t, 10, 100);
  fail_unless_equals_string (next_event (&t, NULL), "leave room");

  g_unlink (path);
  g_free (path);
  end_test (&t);
}

GST_END_TEST;

/* Every mistake is named with its place, and what was valid stays. */
GST_START_TEST (test_wrong_text)
{
  static const struct
  {
    const gchar *text, *says;
  } cases[] = {
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
  };
  Test t = new_test (ZONES (ROOM));

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    gchar *warning;

    g_object_set (t.element, "zones", cases[i].text, NULL);
    warning = pop_warning (&t);
    fail_unless (strstr (warning, cases[i].says) != NULL, "%s: %s", cases[i].text, warning);
    g_free (warning);
  }
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

/* At the start a mistake is an error. */
GST_START_TEST (test_wrong_start)
{
  static const struct
  {
    const gchar *property, *value;
  } cases[] = { {"zones", "nonsense"}, {"config", "/nonexistent/zones.json"} };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstElement *element = gst_element_factory_make ("cclzone", NULL);
    GstBus *bus = gst_bus_new ();
    GstMessage *message;

    gst_element_set_bus (element, bus);
    g_object_set (element, cases[i].property, cases[i].value, NULL);
    fail_unless (gst_element_set_state (element, GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE);
    message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
    fail_unless (message != NULL);
    gst_message_unref (message);
    gst_element_set_state (element, GST_STATE_NULL);
    gst_element_set_bus (element, NULL);
    gst_object_unref (bus);
    gst_object_unref (element);
  }
}

GST_END_TEST;

static GstStateChangeReturn
restart (Test * t)
{
  GstStateChangeReturn ret;

  gst_element_set_state (t->element, GST_STATE_NULL);
  ret = gst_element_set_state (t->element, GST_STATE_PLAYING);
  if (ret != GST_STATE_CHANGE_FAILURE) {
    gst_harness_push_event (t->h, gst_event_new_stream_start ("again"));
    gst_harness_set_src_caps_str (t->h, "video/x-raw,format=GRAY8,width=320,height=240,framerate=10/1");
  }
  return ret;
}

/* A mistake that was only warned of while frames flowed is none less at the next start. */
GST_START_TEST (test_wrong_restart)
{
  Test t = new_test (ZONES (ROOM));
  GstMessage *message;

  walk (&t, 150, 100);
  fail_unless_equals_string (next_event (&t, NULL), "enter room");
  g_object_set (t.element, "zones", "garbage", NULL);
  g_free (pop_warning (&t));
  fail_unless_equals_int (restart (&t), GST_STATE_CHANGE_FAILURE);
  message = gst_bus_pop_filtered (t.bus, GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  gst_message_unref (message);

  g_object_set (t.element, "zones", ZONES (ROOM), NULL);
  fail_if (restart (&t) == GST_STATE_CHANGE_FAILURE);
  walk (&t, 150, 100);
  fail_unless_equals_string (next_event (&t, NULL), "enter room");
  end_test (&t);
}

GST_END_TEST;

/* Between reading the zones, when a pad comes to life, and PAUSED a mistake is warned of; before, the start will tell. */
GST_START_TEST (test_wrong_meanwhile)
{
  Test t = new_test (ZONES (ROOM));
  GstPad *const pad = gst_element_get_static_pad (t.element, "sink");

  gst_element_set_state (t.element, GST_STATE_READY);
  fail_unless (gst_pad_set_active (pad, TRUE));
  fail_unless_equals_int (GST_STATE (t.element), GST_STATE_READY);
  g_object_set (t.element, "zones", "garbage", NULL);
  g_free (pop_warning (&t));
  fail_unless (gst_pad_set_active (pad, FALSE));
  g_object_set (t.element, "zones", "rubbish", NULL);
  fail_if (gst_bus_pop_filtered (t.bus, GST_MESSAGE_WARNING));
  fail_unless_equals_int (gst_element_set_state (t.element, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  g_object_set (t.element, "zones", "trash", NULL);
  fail_if (gst_bus_pop_filtered (t.bus, GST_MESSAGE_WARNING));
  gst_object_unref (pad);
  end_test (&t);
}

GST_END_TEST;

/* A start takes the zones from the properties as they are then. */
GST_START_TEST (test_restart)
{
  gchar *path = g_build_filename (g_get_tmp_dir (), "cclzone-test-XXXXXX", NULL);
  Test t = new_test (NULL);
  GstBuffer *buffer;

  g_close (g_mkstemp (path), NULL);
  g_file_set_contents (path, ZONES (GATE), -1, NULL);
  g_object_set (t.element, "config", path, NULL);
  fail_if (restart (&t) == GST_STATE_CHANGE_FAILURE);
  buffer = push (&t, NULL, 0);
  fail_unless_equals_string (zone_of (buffer, 0).name, "gate");
  gst_buffer_unref (buffer);

  g_object_set (t.element, "zones", ZONES (ROOM), NULL);
  fail_if (restart (&t) == GST_STATE_CHANGE_FAILURE);
  buffer = push (&t, NULL, 0);
  fail_unless_equals_string (zone_of (buffer, 0).name, "room");
  gst_buffer_unref (buffer);

  g_object_set (t.element, "zones", NULL, NULL);
  fail_if (restart (&t) == GST_STATE_CHANGE_FAILURE);
  buffer = push (&t, NULL, 0);
  fail_unless_equals_string (zone_of (buffer, 0).name, "gate");
  gst_buffer_unref (buffer);

  gst_element_set_state (t.element, GST_STATE_NULL);
  g_object_set (t.element, "config", NULL, NULL);
  fail_if (restart (&t) == GST_STATE_CHANGE_FAILURE);
  buffer = push (&t, NULL, 0);
  fail_unless (gst_buffer_get_ccl_zone_meta (buffer) == NULL);
  gst_buffer_unref (buffer);

  g_unlink (path);
  g_free (path);
  end_test (&t);
}

GST_END_TEST;

/* Time that goes back, or is missing, ends nothing and counts nothing twice. */
GST_START_TEST (test_odd_timestamps)
{
  Test t = new_test (ZONES (ROOM));
  static const GstClockTime times[] = { 10 * GST_SECOND, GST_CLOCK_TIME_NONE, 0, GST_MSECOND, GST_CLOCK_TIME_NONE };
  const GstCclBlob blob = blob_at (150, 100, 7, GST_CCL_BLOB_FLAG_CONFIRMED);

  for (guint i = 0; i < G_N_ELEMENTS (times); i++)
    gst_buffer_unref (push_at (&t, times[i], &blob, 1));
  fail_unless_equals_string (next_event (&t, NULL), "enter room");
  fail_unless (next_event (&t, NULL) == NULL);
  end_test (&t);
}

GST_END_TEST;

/* Raw pictures from a file have no timestamps: their frames go by all the same. */
GST_START_TEST (test_no_timestamps)
{
  const GstCclBlob blob = blob_at (150, 100, 7, GST_CCL_BLOB_FLAG_CONFIRMED);
  Test t = new_test (ZONES (ROOM));

  for (guint i = 0; i < 3; i++)
    gst_buffer_unref (push_at (&t, GST_CLOCK_TIME_NONE, &blob, 1));
  fail_unless_equals_string (next_event (&t, NULL), "enter room");
  for (guint i = 0; i < 20; i++)
    gst_buffer_unref (push_at (&t, GST_CLOCK_TIME_NONE, &blob, 0));
  fail_unless_equals_string (next_event (&t, NULL), "leave room");
  end_test (&t);
}

GST_END_TEST;

/* Zones of a second element come behind those of the first, in the list and in the bits of blobs. */
GST_START_TEST (test_two_in_a_row)
{
  const GstCclBlob blob = blob_at (150, 100, 0, 0);
  Test first = new_test (ZONES ("{\"name\":\"corner\",\"polygon\":[[0,0],[10,0],[10,10]]}"));
  Test second = new_test (ZONES (ROOM));
  GstBuffer *buffer = push (&first, &blob, 1);
  GstCclZoneMeta *meta;

  buffer = gst_harness_push_and_pull (second.h, buffer);
  meta = gst_buffer_get_ccl_zone_meta (buffer);
  fail_unless_equals_int (gst_buffer_get_n_meta (buffer, GST_CCL_ZONE_META_API_TYPE), 1);
  fail_unless_equals_int (meta->n_zones, 2);
  fail_unless_equals_string (meta->zones[0].name, "corner");
  fail_unless_equals_string (meta->zones[1].name, "room");
  fail_unless_equals_int (meta->zones[0].n_inside, 0);
  fail_unless_equals_int (meta->zones[1].n_inside, 1);
  fail_unless_equals_int (gst_ccl_blob_meta_get_blob (gst_buffer_get_ccl_blob_meta (buffer), 0)->zones, 2);
  gst_buffer_unref (buffer);
  end_test (&first);
  end_test (&second);
}

GST_END_TEST;

/* A file that could not be read is forgotten with its name. */
GST_START_TEST (test_error_forgotten)
{
  GstElement *zone = gst_object_ref_sink (gst_element_factory_make ("cclzone", NULL));

  g_object_set (zone, "config", "/nonexistent", NULL);
  fail_unless_equals_int (gst_element_set_state (zone, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  gst_element_set_state (zone, GST_STATE_NULL);
  g_object_set (zone, "config", NULL, NULL);
  fail_unless (gst_element_set_state (zone, GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE);
  gst_element_set_state (zone, GST_STATE_NULL);
  gst_object_unref (zone);
}

GST_END_TEST;

static void
skip (Test * t, guint n, GstCclBlobMetaFlags why)
{
  for (guint i = 0; i < n; i++) {
    GstBuffer *buffer = gst_buffer_new_allocate (NULL, 4, NULL);

    GST_BUFFER_PTS (buffer) = t->frame++ * FRAME;
    gst_buffer_add_ccl_blob_meta (buffer, NULL, 320, 240)->flags |= why;
    buffer = gst_harness_push_and_pull (t->h, buffer);
    fail_unless_equals_int (zone_of (buffer, 0).n_inside, 1);
    fail_unless (next_event (t, NULL) == NULL);
    gst_buffer_unref (buffer);
  }
}

/* Frames that were not analysed change nothing, however many they are. */
GST_START_TEST (test_skipped)
{
  Test t = new_test (ZONES (ROOM "," GATE));

  walk (&t, 140, 100);
  fail_unless_equals_string (next_event (&t, NULL), "enter room");
  skip (&t, 1, GST_CCL_BLOB_META_FLAG_SKIPPED);
  skip (&t, 1, GST_CCL_BLOB_META_FLAG_GLOBAL_CHANGE);
  walk (&t, 140, 100);
  fail_unless (next_event (&t, NULL) == NULL);
  skip (&t, 15, GST_CCL_BLOB_META_FLAG_SKIPPED);        /* longer than linger */
  walk (&t, 160, 100);
  fail_unless_equals_string (next_event (&t, NULL), "dwell room");
  fail_unless_equals_string (next_event (&t, NULL), "cross gate");
  fail_unless (next_event (&t, NULL) == NULL);
  skip (&t, 15, GST_CCL_BLOB_META_FLAG_GLOBAL_CHANGE);
  walk (&t, 160, 100);
  fail_unless (next_event (&t, NULL) == NULL);
  end_test (&t);
}

GST_END_TEST;

/* The next frame that was analysed shows who has gone meanwhile. */
GST_START_TEST (test_gone_while_skipped)
{
  Test t = new_test (ZONES (ROOM));
  const GstStructure *s;

  walk (&t, 150, 100);
  walk (&t, 150, 100);
  fail_unless_equals_string (next_event (&t, NULL), "enter room");
  skip (&t, 15, GST_CCL_BLOB_META_FLAG_SKIPPED);
  walk (&t, -1, 0);
  fail_unless_equals_string (next_event (&t, &s), "leave room");
  fail_unless_equals_uint64 (get_uint64 (s, "duration"), 1 * FRAME);     /* it was last seen in the second frame */
  end_test (&t);
}

GST_END_TEST;

/* The whole way: a ball, tracked, through JSON. */
GST_START_TEST (test_json)
{
  GstHarness *h = gst_harness_new_parse ("videotestsrc pattern=ball num-buffers=20 ! "
      "video/x-raw,format=GRAY8,width=160,height=120 ! ccllabel threshold=127 ! ccltrack ! "
      "cclzone zones=\"{\\\"zones\\\":[{\\\"name\\\":\\\"all\\\","
      "\\\"polygon\\\":[[0,0],[160,0],[160,120],[0,120]]}]}\" ! "
      "cclmeta2json");
  GstBuffer *buffer = NULL;
  GstMapInfo map;
  gchar *line;

  gst_harness_play (h);
  for (gint i = 0; i < 10; i++) {
    gst_clear_buffer (&buffer);
    buffer = gst_harness_pull (h);
  }
  gst_buffer_map (buffer, &map, GST_MAP_READ);
  line = g_strndup ((gchar *) map.data, map.size);
  fail_unless (strstr (line, "\"state\":\"confirmed\",\"zones\":[\"all\"]"), "%s", line);
  fail_unless (strstr (line, "\"zones\":[{\"name\":\"all\",\"inside\":1,\"forward\":1,\"backward\":0}]"), "%s", line);
  g_free (line);
  gst_buffer_unmap (buffer, &map);
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Raw pictures from a file come in a segment of bytes: nobody asks it for times, and what needs none is done. */
GST_START_TEST (test_chain_in_bytes)
{
  GstElementFactory *overlay = gst_element_factory_find ("ccloverlay");
  gchar *line = g_strdup_printf ("cclmotion method=diff warmup-frames=0 ! ccllabel mask-source=frame threshold=127 ! "
      "ccltrack min-hits=1 ! cclzone zones=\"{\\\"zones\\\":[{\\\"name\\\":\\\"all\\\","
      "\\\"polygon\\\":[[0,0],[64,0],[64,48],[0,48]]}]}\" ! %s ! cclmeta2json", overlay ? "ccloverlay" : "identity");
  GstHarness *h = gst_harness_new_parse (line);
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_BYTES);
  gst_harness_set_src_caps_str (h, "video/x-raw,format=GRAY8,width=64,height=48,framerate=0/1");
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  for (guint i = 0; i < 4; i++) {
    GstBuffer *buffer = gst_buffer_new_allocate (NULL, 64 * 48, NULL);
    GstMapInfo map;

    gst_buffer_memset (buffer, 0, 16, 64 * 48);
    for (guint y = 10; y < 20; y++)
      gst_buffer_memset (buffer, 64 * y + 10 + 2 * i, 200, 10);
    GST_BUFFER_PTS (buffer) = i * 40 * GST_MSECOND;
    buffer = gst_harness_push_and_pull (h, buffer);
    gst_buffer_map (buffer, &map, GST_MAP_READ);
    fail_unless (g_strstr_len ((gchar *) map.data, map.size, "\"running_time\":null,\"stream_time\":null"));
    fail_unless (g_strstr_len ((gchar *) map.data, map.size, "\"inside\":1,\"forward\":1"), "%.*s", (gint) map.size,
        (gchar *) map.data);
    gst_buffer_unmap (buffer, &map);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (h);
  g_clear_pointer (&overlay, gst_object_unref);
  g_free (line);
}

GST_END_TEST;

static Suite *
cclzone_suite (void)
{
  Suite *suite = suite_create ("cclzone");
  TCase *tests = tcase_create ("general");

  suite_add_tcase (suite, tests);
  tcase_add_test (tests, test_enter_dwell_leave);
  tcase_add_test (tests, test_cross);
  tcase_add_test (tests, test_margin);
  tcase_add_test (tests, test_two_parts);
  tcase_add_test (tests, test_tracks_reset);
  tcase_add_test (tests, test_beside_the_line);
  tcase_add_test (tests, test_out_of_sight);
  tcase_add_test (tests, test_blobs_and_counts);
  tcase_add_test (tests, test_untracked);
  tcase_add_test (tests, test_first_track);
  tcase_add_test (tests, test_min_area);
  tcase_add_test (tests, test_bottom_center);
  tcase_add_test (tests, test_relative);
  tcase_add_test (tests, test_change_while_playing);
  tcase_add_test (tests, test_reload);
  tcase_add_test (tests, test_wrong_text);
  tcase_add_test (tests, test_deep_text);
  tcase_add_test (tests, test_names_that_are_no_text);
  tcase_add_test (tests, test_wrong_start);
  tcase_add_test (tests, test_wrong_restart);
  tcase_add_test (tests, test_wrong_meanwhile);
  tcase_add_test (tests, test_restart);
  tcase_add_test (tests, test_odd_timestamps);
  tcase_add_test (tests, test_no_timestamps);
  tcase_add_test (tests, test_two_in_a_row);
  tcase_add_test (tests, test_error_forgotten);
  tcase_add_test (tests, test_skipped);
  tcase_add_test (tests, test_gone_while_skipped);
  tcase_add_test (tests, test_json);
  tcase_add_test (tests, test_chain_in_bytes);
  return suite;
}

GST_CHECK_MAIN (cclzone);
