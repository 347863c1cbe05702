/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclzone: when an object enters, dwells, leaves or crosses a line. */

#include "cclzone.h"

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

GST_START_TEST (test_min_area)
{
  Test t = new_test (ZONES ("{\"name\":\"big\",\"polygon\":[[0,0],[320,0],[320,240]],\"min_area\":101}"));

  walk (&t, 200, 100);
  fail_unless (next_event (&t, NULL) == NULL);
  end_test (&t);
}

GST_END_TEST;

/* One track, or a blob without one; class -1: it has none. */
static GstBuffer *
walk_with_class (Test * t, gint x, guint64 track, gint class_id)
{
  const GstCclBlob blob = blob_at (x, 100, track, track ? GST_CCL_BLOB_FLAG_CONFIRMED : 0);
  const GstCclClassId entry = {.label = blob.label,.class_id = class_id };
  GstBuffer *const buffer = gst_buffer_new_allocate (NULL, 4, NULL);
  GstCclBlobList *const list = gst_ccl_blob_list_new (&blob, 1);
  GBytes *const class_ids = g_bytes_new (&entry, sizeof entry);

  if (class_id >= 0)
    gst_ccl_blob_list_set_class_ids (list, class_ids);
  GST_BUFFER_PTS (buffer) = t->frame++ * FRAME;
  gst_buffer_add_ccl_blob_meta (buffer, list, 320, 240);
  gst_ccl_blob_list_unref (list);
  g_bytes_unref (class_ids);
  return gst_harness_push_and_pull (t->h, buffer);
}

#define RIGHT "\"polygon\":[[160,0],[320,0],[320,240],[160,240]]"

/* Zones count the objects of their classes only, and the class known last holds. */
GST_START_TEST (test_class)
{
  Test t = new_test (ZONES ("{\"name\":\"cars\"," RIGHT ",\"class\":3},{\"name\":\"some\"," RIGHT
          ",\"class\":[0,65535]},{\"name\":\"all\"," RIGHT "},"
          "{\"name\":\"gate\",\"line\":[[160,0],[160,240]],\"class\":[3]}"));
  static const struct
  {
    gint class_id;
    guint32 zones;
  } blobs[] = { {3, 5}, {0, 6}, {65535, 6}, {4, 4}, {-1, 4} };

  for (guint i = 0; i < G_N_ELEMENTS (blobs); i++) {
    GstBuffer *const buffer = walk_with_class (&t, 200, 0, blobs[i].class_id);

    fail_unless_equals_int (bits_of (buffer, 0), blobs[i].zones);
    gst_buffer_unref (buffer);
  }
  gst_buffer_unref (walk_with_class (&t, 100, 1, 3));
  gst_buffer_unref (walk_with_class (&t, 250, 1, -1));
  fail_unless_equals_string (next_event (&t, NULL), "enter cars");
  fail_unless_equals_string (next_event (&t, NULL), "enter all");
  fail_unless_equals_string (next_event (&t, NULL), "cross gate");
  fail_unless (next_event (&t, NULL) == NULL);
  gst_buffer_unref (walk_with_class (&t, 100, 2, 4));
  gst_buffer_unref (walk_with_class (&t, 250, 2, 4));
  fail_unless_equals_string (next_event (&t, NULL), "enter all");
  fail_unless (next_event (&t, NULL) == NULL);
  gst_buffer_unref (walk_with_class (&t, 250, 2, 3));   /* it is seen better now */
  fail_unless_equals_string (next_event (&t, NULL), "enter cars");
  fail_unless (next_event (&t, NULL) == NULL);
  end_test (&t);
}

GST_END_TEST;

/* Zones with a class behind blobs that have none. */
GST_START_TEST (test_class_is_missing)
{
  Test t = new_test (ZONES ("{\"name\":\"cars\"," RIGHT ",\"class\":3}"));
  gchar *warning;

  for (guint i = 0; i < 40; i++)
    gst_buffer_unref (walk_with_class (&t, 200, 1, -1));
  warning = pop_warning (&t);
  fail_unless (strstr (warning, "the blobs have no classes") != NULL, "%s", warning);
  fail_unless (gst_bus_pop_filtered (t.bus, GST_MESSAGE_WARNING) == NULL);
  fail_unless (next_event (&t, NULL) == NULL);
  g_free (warning);
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

TCase *
zone_event_tests (void)
{
  TCase *tests = tcase_create ("events");

  tcase_add_test (tests, test_enter_dwell_leave);
  tcase_add_test (tests, test_cross);
  tcase_add_test (tests, test_margin);
  tcase_add_test (tests, test_two_parts);
  tcase_add_test (tests, test_tracks_reset);
  tcase_add_test (tests, test_beside_the_line);
  tcase_add_test (tests, test_out_of_sight);
  tcase_add_test (tests, test_min_area);
  tcase_add_test (tests, test_class);
  tcase_add_test (tests, test_class_is_missing);
  tcase_add_test (tests, test_bottom_center);
  tcase_add_test (tests, test_relative);
  return tests;
}
