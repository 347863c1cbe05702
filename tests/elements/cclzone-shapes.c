/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclzone: circles, directions and minimum times. */

#include "cclzone.h"

static guint
count_events (Test * t, const gchar * wanted)
{
  const gchar *event;
  guint n = 0;

  while ((event = next_event (t, NULL)))
    n += strcmp (event, wanted) == 0;
  return n;
}

/* A radius of 50 pixels in a frame of 320x240, in both units: the corners of the box around the circle are outside. */
GST_START_TEST (test_circle)
{
  static const gchar *const texts[] = {
    ZONES ("{\"name\":\"ring\",\"circle\":[160,120,50]}"),
    "{\"units\":\"relative\",\"zones\":[{\"name\":\"ring\",\"circle\":[0.5,0.5,0.2083333]}]}",
  };
  static const struct
  {
    gint x, y;
    gboolean is_inside;
  } places[] = {
    {160, 120, TRUE}, {206, 120, TRUE}, {214, 120, FALSE}, {160, 166, TRUE}, {160, 174, FALSE}, {125, 155, TRUE}, {120, 160, FALSE},
  };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    Test t = new_test (texts[i]);

    for (guint k = 0; k < G_N_ELEMENTS (places); k++) {
      const GstCclBlob blob = blob_at (places[k].x, places[k].y, 0, 0);
      GstBuffer *buffer = push (&t, &blob, 1);

      fail_unless_equals_int (bits_of (buffer, 0), places[k].is_inside);
      fail_unless_equals_int (zone_of (buffer, 0).n_inside, places[k].is_inside);
      gst_buffer_unref (buffer);
    }
    end_test (&t);
  }
}

GST_END_TEST;

GST_START_TEST (test_circle_events)
{
  Test t = new_test (ZONES ("{\"name\":\"ring\",\"circle\":[160,120,50]}"));

  for (gint x = 80; x <= 240; x += 10)
    walk (&t, x, 120);
  fail_unless_equals_string (next_event (&t, NULL), "enter ring");
  fail_unless_equals_string (next_event (&t, NULL), "leave ring");
  fail_unless (next_event (&t, NULL) == NULL);
  end_test (&t);
}

GST_END_TEST;

/* Along it, against it, across it, and in at one side and out at the same. */
GST_START_TEST (test_direction)
{
  static const struct
  {
    gint from[2], to[2];
    const gchar *direction;
  } ways[] = {
    {{60, 100}, {240, 100}, "forward"}, {{240, 100}, {60, 100}, "backward"}, {{150, 20}, {150, 180}, NULL},
    {{60, 60}, {240, 140}, "forward"}, {{150, 100}, {150, 100}, NULL},
  };

  for (guint i = 0; i < G_N_ELEMENTS (ways); i++) {
    Test t = new_test (ZONES ("{\"name\":\"room\",\"polygon\":[[100,50],[200,50],[200,150],[100,150]],"
            "\"direction\":[[0,0],[10,0]]}"));
    const GstStructure *s;

    for (gint step = 0; step <= 16; step++)
      walk (&t, ways[i].from[0] + (ways[i].to[0] - ways[i].from[0]) * step / 16,
          ways[i].from[1] + (ways[i].to[1] - ways[i].from[1]) * step / 16);
    for (gint step = 0; step <= 16; step++)
      walk (&t, -1, 0);
    fail_unless_equals_string (next_event (&t, &s), "enter room");
    fail_unless (gst_structure_get_string (s, "direction") == NULL);
    fail_unless_equals_string (next_event (&t, &s), "leave room");
    fail_unless_equals_string (gst_structure_get_string (s, "direction"), ways[i].direction);
    end_test (&t);
  }
}

GST_END_TEST;

/* With a minimum time of three frames: the same object walks on, turns back, and crosses twice slowly. */
GST_START_TEST (test_min_time_of_line)
{
  static const gint on[] = { 100, 130, 170, 190, 210, 230, 250 };
  static const gint back[] = { 100, 130, 170, 190, 130, 100, 80, 60, 40 };
  static const gint twice[] = { 100, 130, 170, 190, 210, 230, 210, 180, 130, 110, 90, 70, 50 };
  static const struct
  {
    const gint *x;
    guint n, n_crossings;
  } ways[] = { {on, G_N_ELEMENTS (on), 1}, {back, G_N_ELEMENTS (back), 0}, {twice, G_N_ELEMENTS (twice), 2} };

  for (guint i = 0; i < G_N_ELEMENTS (ways); i++) {
    Test t = new_test (ZONES ("{\"name\":\"gate\",\"line\":[[150,0],[150,240]],\"min_time\":0.3}"));

    for (guint k = 0; k < ways[i].n; k++)
      walk (&t, ways[i].x[k], 100);
    fail_unless_equals_int (count_events (&t, "cross gate"), ways[i].n_crossings);
    end_test (&t);
  }
}

GST_END_TEST;

/* A short visit is none, a short absence neither; a stay begins when the object came in. */
GST_START_TEST (test_min_time_of_polygon)
{
  static const gint steps[] = { 60, 130, 130, 60, 60, 130, 130, 130, 130, 130, 60, 60, 130, 130, 60, 60, 60, 60, 60 };
  Test t = new_test (ZONES ("{\"name\":\"room\",\"polygon\":[[100,50],[200,50],[200,150],[100,150]],\"min_time\":0.3}"));
  const GstStructure *s;

  for (guint i = 0; i < G_N_ELEMENTS (steps); i++)
    walk (&t, steps[i], 100);
  fail_unless_equals_string (next_event (&t, &s), "enter room");
  fail_unless_equals_uint64 (get_uint64 (s, "timestamp"), 8 * FRAME);
  fail_unless_equals_string (next_event (&t, &s), "leave room");
  fail_unless_equals_uint64 (get_uint64 (s, "duration"), 9 * FRAME);    /* from frame 5 to 14 */
  fail_unless (next_event (&t, NULL) == NULL);
  end_test (&t);
}

GST_END_TEST;

/* In every frame the number inside is that of the events: entered less left. */
GST_START_TEST (test_inside_and_events)
{
  Test t = new_test (ZONES ("{\"name\":\"ring\",\"circle\":[160,120,60],\"min_time\":0.2}," ROOM));
  gint inside[2] = { 0, 0 };
  guint32 random = 1;

  for (guint frame = 0; frame < 400; frame++) {
    GstCclBlob blobs[6];
    GstBuffer *buffer;
    const gchar *event;
    guint n = 0;

    for (guint id = 1; id <= G_N_ELEMENTS (blobs); id++) {
      random = random * 1664525 + 1013904223;
      if (random >> 30 != 0)    /* one in four is not seen */
        blobs[n++] = blob_at (20 + (random >> 8) % 280, 20 + (random >> 18) % 200, id + 10 * (frame / 100),
            GST_CCL_BLOB_FLAG_CONFIRMED);
    }
    buffer = push (&t, blobs, n);
    while ((event = next_event (&t, NULL)))
      inside[strstr (event, "room") != NULL] += g_str_has_prefix (event, "enter") - g_str_has_prefix (event, "leave");
    for (guint i = 0; i < 2; i++)
      fail_unless_equals_int (zone_of (buffer, i).n_inside, inside[i]);
    gst_buffer_unref (buffer);
  }
  end_test (&t);
}

GST_END_TEST;

GST_START_TEST (test_wrong_shapes)
{
  static const WrongZones cases[] = {
    {ZONES ("{\"name\":\"a\",\"circle\":[1,2]}"), "circle is not [x, y, radius]"},
    {ZONES ("{\"name\":\"a\",\"circle\":5}"), "circle is not [x, y, radius]"},
    {ZONES ("{\"name\":\"a\",\"circle\":[1,2,0]}"), "the radius of circle is 0; it takes more than 0"},
    {ZONES ("{\"name\":\"a\",\"circle\":[0.5,0.5,0.2]}"), "fractions of the frame take \"units\":\"relative\""},
    {ZONES ("{\"name\":\"a\",\"circle\":[9,9,5],\"line\":[[0,0],[9,9]]}"), "needs a polygon or a line"},
    {ZONES ("{\"name\":\"a\",\"line\":[[0,0],[9,9]],\"direction\":[[0,0],[9,9]]}"), "the direction of a line follows"},
    {ZONES ("{\"name\":\"a\",\"circle\":[9,9,5],\"direction\":[0,1]}"), "point 0 of direction is not [x, y]"},
    {ZONES ("{\"name\":\"a\",\"circle\":[9,9,5],\"direction\":[[1,1]]}"), "direction is not [[x, y], [x, y]]"},
    {ZONES ("{\"name\":\"a\",\"circle\":[9,9,5],\"direction\":[[1,1],[1,1]]}"), "both points of direction are the same"},
    {ZONES ("{\"name\":\"a\",\"circle\":[9,9,5],\"min_time\":-1}"), "min_time is not a number from 0"},
  };
  Test t = new_test (ZONES (ROOM));

  check_wrong_zones (&t, cases, G_N_ELEMENTS (cases));
  end_test (&t);
}

GST_END_TEST;

TCase *
zone_shape_tests (void)
{
  TCase *tests = tcase_create ("shapes");

  tcase_add_test (tests, test_circle);
  tcase_add_test (tests, test_circle_events);
  tcase_add_test (tests, test_direction);
  tcase_add_test (tests, test_min_time_of_line);
  tcase_add_test (tests, test_min_time_of_polygon);
  tcase_add_test (tests, test_inside_and_events);
  tcase_add_test (tests, test_wrong_shapes);
  return tests;
}
