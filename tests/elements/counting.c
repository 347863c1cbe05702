/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Masks through ccllabel, ccltrack and cclzone with their defaults: how often one object is counted when it walks, waits,
 * is fast, flickers, falls into two parts or vanishes, and when the camera changes its resolution. */

#include <gst/ccl/ccl.h>

#include "support/harness.h"

#define FRAME (GST_SECOND / 30)
#define SPEED 3                 /* pixels a frame */

/* A line down the middle of the picture, and its right half. */
#define ZONES "{\"units\":\"relative\",\"zones\":[{\"name\":\"line\",\"line\":[[0.5,0],[0.5,1]]}," \
    "{\"name\":\"room\",\"polygon\":[[0.5,0],[1,0],[1,1],[0.5,1]]}]}"

typedef struct
{
  GstHarness *h;
  GstElement *zone;
  GstBus *bus;
  guint width, height, n_frames;
  guint inside, max_inside;     /* of the room, in the last frame and in all */
  guint crossings, enters, leaves;
} Scene;

typedef struct
{
  gint x, y, width, height;
} Box;

static void
set_size (Scene * scene, guint width, guint height)
{
  gchar *const caps = g_strdup_printf ("video/x-raw,format=GRAY8,width=%u,height=%u,framerate=30/1", width, height);

  gst_harness_set_src_caps_str (scene->h, caps);
  scene->width = width;
  scene->height = height;
  g_free (caps);
}

static Scene
new_scene (guint width, guint height)
{
  Scene scene = {.h = element_harness ("ccllabel", "min-area=50 ! ccltrack ! cclzone", NULL),.bus = gst_bus_new () };

  scene.zone = gst_harness_find_element (scene.h, "cclzone");
  gst_element_set_bus (scene.zone, scene.bus);
  g_object_set (scene.zone, "zones", ZONES, NULL);
  set_size (&scene, width, height);
  return scene;
}

static void
end_scene (Scene * scene)
{
  gst_element_set_bus (scene->zone, NULL);
  gst_object_unref (scene->bus);
  gst_object_unref (scene->zone);
  gst_harness_teardown (scene->h);
}

/* Pushes a mask with these boxes and takes the counts of the frame. */
static void
show (Scene * scene, const Box * boxes, guint n_boxes)
{
  GstBuffer *buffer = plain_frame (scene->width * scene->height, 0, scene->n_frames++ * FRAME, FRAME);
  const GstCclZone *zones;

  for (guint i = 0; i < n_boxes; i++)
    for (gint y = boxes[i].y; y < boxes[i].y + boxes[i].height; y++)
      gst_buffer_memset (buffer, y * scene->width + boxes[i].x, 255, boxes[i].width);
  buffer = gst_harness_push_and_pull (scene->h, buffer);
  zones = gst_buffer_get_ccl_zone_meta (buffer)->zones;
  scene->crossings = (guint) (zones[0].n_forward + zones[0].n_backward);
  scene->enters = (guint) zones[1].n_forward;
  scene->leaves = (guint) zones[1].n_backward;
  scene->inside = zones[1].n_inside;
  scene->max_inside = MAX (scene->max_inside, scene->inside);
  gst_buffer_unref (buffer);
}

/* A person, 20 pixels wide, with the left side at x. */
static void
show_person (Scene * scene, gint x)
{
  show (scene, &(Box) { x, 40, 20, 40 }, 1);
}

static void
stand (Scene * scene, gint x, guint n_frames)
{
  for (guint i = 0; i < n_frames; i++)
    show_person (scene, x);
}

/* Walks from x to `end`, without the last step. */
static void
walk (Scene * scene, gint x, gint end)
{
  for (; ABS (end - x) >= SPEED; x += x < end ? SPEED : -SPEED)
    show_person (scene, x);
}

GST_START_TEST (test_walks)
{
  static const struct
  {
    const gchar *what;
    gint stops[4];              /* it waits a second at each but the first; 0 ends the list */
    guint crossings, inside;
  } cases[] = {
    {"across", {20, 260}, 1, 1}, {"across, to the left", {260, 20}, 1, 0},
    {"turns back before the line", {20, 110, 20}, 0, 0},
    {"there and back", {20, 230, 20}, 2, 0}, {"waits before the line", {20, 110, 260}, 1, 1},
    {"waits on the line", {20, 150, 260}, 1, 1}, {"waits on the line and turns back", {20, 150, 20}, 0, 0},
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    Scene scene = new_scene (320, 120);

    for (guint k = 1; k < G_N_ELEMENTS (cases[0].stops) && cases[i].stops[k]; k++) {
      walk (&scene, cases[i].stops[k - 1], cases[i].stops[k]);
      stand (&scene, cases[i].stops[k], 30);
    }
    fail_unless (scene.crossings == cases[i].crossings, "%s: %u crossings", cases[i].what, scene.crossings);
    fail_unless (scene.inside == cases[i].inside && scene.max_inside <= 1, "%s: %u inside, %u at most", cases[i].what,
        scene.inside, scene.max_inside);
    end_scene (&scene);
  }
}

GST_END_TEST;

/* A car that goes by at more than its own length a frame. */
GST_START_TEST (test_fast_car)
{
  Scene scene = new_scene (640, 120);

  for (gint x = 5; x + 40 < 640; x += 48)
    show (&scene, &(Box) { x, 40, 40, 20 }, 1);
  fail_unless_equals_uint64 (harness_stat (scene.h, "ccltrack", "started"), 1);
  fail_unless_equals_int (scene.crossings, 1);
  end_scene (&scene);
}

GST_END_TEST;

/* The outline of someone who stands on the line moves by two pixels. */
GST_START_TEST (test_flicker)
{
  Scene scene = new_scene (320, 120);

  walk (&scene, 20, 150);
  for (gint i = 0; i < 90; i++)
    show (&scene, &(Box) { 149 + i % 2 * 2, 40, 20, 40 }, 1);
  fail_unless (scene.crossings <= 1, "%u crossings", scene.crossings);
  fail_unless (scene.enters <= 1, "entered %u times", scene.enters);
  end_scene (&scene);
}

GST_END_TEST;

/* A post on the line cuts the object in two for a second; then it stays, or walks on. */
GST_START_TEST (test_cut_in_two)
{
  for (gint goes_on = 0; goes_on < 2; goes_on++) {
    Scene scene = new_scene (320, 120);
    gint x = 40;

    for (; x < 115; x += SPEED)
      show (&scene, &(Box) { x, 40, 80, 40 }, 1);
    for (gint i = 0; i < 30; i++)
      show (&scene, (const Box[]) { {x, 40, 157 - x, 40}, {163, 40, x + 80 - 163, 40} }, 2);
    for (gint i = 0; i < 40; i++, x += SPEED * goes_on)
      show (&scene, &(Box) { x, 40, 80, 40 }, 1);
    fail_unless (goes_on ? scene.crossings == 1 : scene.crossings <= 1, "%u crossings", scene.crossings);
    fail_unless (scene.enters <= 1 && scene.leaves <= 1, "entered %u, left %u times", scene.enters, scene.leaves);
    fail_unless (scene.max_inside <= 1, "%u inside", scene.max_inside);
    end_scene (&scene);
  }
}

GST_END_TEST;

/* The camera doubles its resolution while someone stands in the room. */
GST_START_TEST (test_new_size)
{
  for (guint changes = 0; changes < 2; changes++) {
    Scene scene = new_scene (160, 120);

    for (guint i = 0; i < 30; i++)
      show (&scene, &(Box) { 110, 50, 10, 10 }, 1);
    fail_unless_equals_int (scene.inside, 1);
    if (changes)
      set_size (&scene, 320, 240);
    for (guint i = 0; i < 60; i++)
      show (&scene, changes ? &(Box) { 220, 100, 20, 20 } : &(Box) { 110, 50, 10, 10 }, 1);
    fail_unless_equals_int (scene.inside, 1);
    fail_unless_equals_int (scene.max_inside, 1);
    fail_unless (scene.enters == 1 + changes, "entered %u times", scene.enters);
    end_scene (&scene);
  }
}

GST_END_TEST;

/* The next "leave"; 0 when there is none. */
static guint64
next_stay (Scene * scene)
{
  guint64 duration = 0;
  GstMessage *message;

  while (duration == 0 && (message = gst_bus_pop_filtered (scene->bus, GST_MESSAGE_ELEMENT))) {
    const GstStructure *const s = gst_message_get_structure (message);

    if (g_strcmp0 (gst_structure_get_string (s, "event"), "leave") == 0)
      fail_unless (gst_structure_get_uint64 (s, "duration", &duration));
    gst_message_unref (message);
  }
  return duration;
}

/* Someone vanishes inside the room after a second: the stay is as long as it was seen. */
GST_START_TEST (test_vanishes)
{
  Scene scene = new_scene (320, 120);
  guint64 duration;

  stand (&scene, 220, 30);
  fail_unless_equals_int (scene.inside, 1);
  for (guint i = 0; i < 120; i++)
    show (&scene, NULL, 0);
  fail_unless_equals_int (scene.inside, 0);
  duration = next_stay (&scene);
  fail_unless (duration >= GST_SECOND * 8 / 10 && duration <= GST_SECOND, "%" GST_TIME_FORMAT, GST_TIME_ARGS (duration));
  fail_unless_equals_uint64 (next_stay (&scene), 0);
  end_scene (&scene);
}

GST_END_TEST;

static Suite *
counting_suite (void)
{
  Suite *suite = suite_create ("counting");
  TCase *tests = tcase_create ("general");

  suite_add_tcase (suite, tests);
  tcase_set_timeout (tests, 60);
  tcase_add_test (tests, test_walks);
  tcase_add_test (tests, test_fast_car);
  tcase_add_test (tests, test_flicker);
  tcase_add_test (tests, test_cut_in_two);
  tcase_add_test (tests, test_new_size);
  tcase_add_test (tests, test_vanishes);
  return suite;
}

GST_CHECK_MAIN (counting);
