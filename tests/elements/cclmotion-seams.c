/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclmotion method=feedback where time or the scene breaks off: pauses, seeks, clocks, sizes, cameras, light. */
#include "cclmotion.h"

/* What the camera sees. */
typedef struct
{
  guint camera;                 /* pixels by which it has turned */
  guint gain;                   /* of the light, per cent */
  guint lamp;                   /* another gain for the left 2/5, per cent */
  gboolean is_infrared;         /* at night: other materials are bright */
  gboolean has_square;
} Look;

#define MIN_FALSE_BLOB 30       /* pixels; specks do not count */

#define DAY {0, 100, 100, FALSE, FALSE}

typedef struct
{
  GstHarness *harness;
  Look look;
  guint width;
  GstClockTime time, step;
  guint n;
  gboolean is_discont;          /* the next frame */
  guint64 foreground;           /* of the last frame */
  gboolean is_learning;
} Camera;

static void
camera_open (Camera * camera, const gchar * settings, GstClockTime step)
{
  gchar *line = g_strdup_printf ("method=feedback warmup-frames=30 %s", settings);

  *camera = (Camera) {
  .harness = motion_harness (line, GST_VIDEO_FORMAT_GRAY8, W, H),.look = DAY,.width = W,.step = step};
  g_free (line);
}

static guint8
pixel (const Camera * camera, guint x, guint y)
{
  const Look *const look = &camera->look;
  const guint wx = x + look->camera, tile = (wx / 7 * 5 + y / 6 * 3) % 8;
  guint value = look->is_infrared ? 40 + (tile * 3 + 5) % 8 * 14 : 40 + tile * 12;

  if (look->has_square && x >= 30 && x < 50 && y >= 20 && y < 40)
    value = 190 + (x + y) % 4 * 8;
  value = value * (x < camera->width * 2 / 5 ? look->lamp : 100) / 100 * look->gain / 100;
  return MIN (value + (x * 31 + y * 17 + camera->n * 13) % 3, 255);
}

static void
camera_push (Camera * camera)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, camera->width * H, NULL);
  const GstCclMaskMeta *mask;
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (guint i = 0; i < camera->width * H; i++)
    map.data[i] = pixel (camera, i % camera->width, i / camera->width);
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = camera->time;
  if (camera->is_discont)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  buffer = gst_harness_push_and_pull (camera->harness, buffer);
  mask = gst_buffer_get_ccl_mask_meta (buffer);
  camera->foreground = mask->n_foreground;
  camera->is_learning = (mask->flags & GST_CCL_MASK_META_FLAG_LEARNING) != 0;
  gst_buffer_unref (buffer);
  camera->time += camera->step;
  camera->n++, camera->is_discont = FALSE;
}

static void
camera_run (Camera * camera, gdouble seconds)
{
  const GstClockTime end = camera->time + (GstClockTime) (seconds * GST_SECOND);

  while (camera->time < end)
    camera_push (camera);
}

/* Now the square is foreground, and nothing else. */
static void
assert_sees_square (Camera * camera)
{
  camera->look.has_square = TRUE;
  camera_run (camera, 1);
  fail_unless (camera->foreground > 340 && camera->foreground < 480, "%u pixels of foreground, not 400",
      (guint) camera->foreground);
}

/* Seconds from now to the last frame with foreground or without a mask, of at most `most`. */
static gdouble
seconds_to_settle (Camera * camera, gdouble most)
{
  const GstClockTime begin = camera->time, end = begin + (GstClockTime) (most * GST_SECOND);
  GstClockTime last = begin;

  while (camera->time < end) {
    camera_push (camera);
    if (camera->foreground >= MIN_FALSE_BLOB || camera->is_learning)
      last = camera->time;
  }
  return (last - begin) / (gdouble) GST_SECOND;
}

static const GstClockTime steps[] = { 40 * GST_MSECOND, 200 * GST_MSECOND };

/* ---------------------------------------------------------------- time */

/* A pause says nothing about what was there: a minute without frames counts as ten seconds. */
GST_START_TEST (test_pause)
{
  Camera camera;

  camera_open (&camera, "absorb-time=30000000000", steps[__i__]);
  camera_run (&camera, 5);
  assert_sees_square (&camera);
  camera.time += 60 * GST_SECOND;
  camera_push (&camera);
  fail_unless (!camera.is_learning && camera.foreground > 340);
  camera_run (&camera, 10);
  fail_unless (camera.foreground > 340, "absorbed after 22 of 30 seconds");
  camera_run (&camera, 15);
  fail_unless_equals_uint64 (camera.foreground, 0);
  gst_harness_teardown (camera.harness);
}

GST_END_TEST;

/* A seek, and a stream that is marked as another one, learn anew at once; a gap event and a short gap do not. */
GST_START_TEST (test_jumps)
{
  Camera camera;

  camera_open (&camera, "", steps[__i__]);
  camera_run (&camera, 5);
  gst_harness_push_event (camera.harness, gst_event_new_gap (camera.time, GST_SECOND));
  camera.time += GST_SECOND, camera.is_discont = TRUE;
  camera_push (&camera);
  fail_if (camera.is_learning);
  for (guint i = 0; i < 2; i++) {
    if (i == 0)
      flush_harness (camera.harness);
    camera.look.camera += 20;
    camera.time = i * 3600 * GST_SECOND, camera.is_discont = TRUE;
    camera.look.has_square = FALSE;
    camera_push (&camera);
    fail_unless (camera.is_learning);
    camera_run (&camera, 3);
    fail_if (camera.is_learning);
    fail_unless_equals_uint64 (camera.foreground, 0);
    assert_sees_square (&camera);
  }
  gst_harness_teardown (camera.harness);
}

GST_END_TEST;

/* A source that restarts its clock without saying so: what was learnt stays, and time goes on from there. */
GST_START_TEST (test_clock_back)
{
  Camera camera;

  camera_open (&camera, "absorb-time=8000000000", steps[__i__]);
  camera_run (&camera, 20);
  camera.look.has_square = TRUE;
  camera_run (&camera, 4);
  camera.time = 0;
  camera_run (&camera, 2);
  fail_unless (!camera.is_learning && camera.foreground > 340);
  camera_run (&camera, 4);
  fail_unless_equals_uint64 (camera.foreground, 0);
  gst_harness_teardown (camera.harness);
}

GST_END_TEST;

GST_START_TEST (test_new_size)
{
  Camera camera;

  camera_open (&camera, "", steps[__i__]);
  camera_run (&camera, 5);
  for (guint i = 0; i < 2; i++) {
    gchar *caps = caps_string (GST_VIDEO_FORMAT_GRAY8, camera.width = i ? W : 2 * W, H);

    gst_harness_set_src_caps_str (camera.harness, caps);
    g_free (caps);
    camera.look.has_square = FALSE;
    camera_push (&camera);
    fail_unless (camera.is_learning);
    camera_run (&camera, 3);
    assert_sees_square (&camera);
  }
  gst_harness_teardown (camera.harness);
}

GST_END_TEST;

/* ---------------------------------------------------------------- the scene */

static const struct
{
  const gchar *what;
  Look look;
  gdouble limit;                /* seconds until the mask is right again */
} changes[] = {
  {"a camera that was moved", {25, 100, 100, FALSE, FALSE}, 4},
  {"night", {0, 45, 100, TRUE, FALSE}, 5},
  {"more light", {0, 140, 100, FALSE, FALSE}, 5},
  {"less light", {0, 60, 100, FALSE, FALSE}, 5},
  {"a lamp in a part of the room", {0, 100, 140, FALSE, FALSE}, 5},
  {"less light in a part of the room", {0, 100, 40, FALSE, FALSE}, 5},
};

/* What changes the whole picture is learnt within seconds, at any rate; and so is the way back. */
GST_START_TEST (test_changes)
{
  const guint i = __i__ / 2;
  Camera camera;

  camera_open (&camera, "", steps[__i__ % 2]);
  camera_run (&camera, 10);
  for (guint back = 0; back < 2; back++) {
    gdouble seconds;

    camera.look = back ? (Look) DAY : changes[i].look;
    seconds = seconds_to_settle (&camera, 15);
    fail_unless (seconds <= changes[i].limit, "%s%s: wrong for %.1f s", changes[i].what, back ? ", back" : "", seconds);
    assert_sees_square (&camera);
    camera.look.has_square = FALSE;
    camera_run (&camera, 10);
  }
  gst_harness_teardown (camera.harness);
}

GST_END_TEST;

/* What was absorbed and leaves is no ghost for more than five seconds. */
GST_START_TEST (test_absorbed_object_leaves)
{
  Camera camera;
  gdouble seconds;

  camera_open (&camera, "absorb-time=10000000000", steps[__i__]);
  camera_run (&camera, 20);
  assert_sees_square (&camera);
  camera_run (&camera, 30);
  fail_unless_equals_uint64 (camera.foreground, 0);
  camera.look.has_square = FALSE;
  seconds = seconds_to_settle (&camera, 20);
  fail_unless (seconds <= 5, "a ghost for %.1f s", seconds);
  assert_sees_square (&camera);
  gst_harness_teardown (camera.harness);
}

GST_END_TEST;

void
cclmotion_add_seams_tests (Suite * suite)
{
  TCase *tests = tcase_create ("seams");

  suite_add_tcase (suite, tests);
  tcase_set_timeout (tests, 120);
  tcase_add_loop_test (tests, test_pause, 0, G_N_ELEMENTS (steps));
  tcase_add_loop_test (tests, test_jumps, 0, G_N_ELEMENTS (steps));
  tcase_add_loop_test (tests, test_clock_back, 0, G_N_ELEMENTS (steps));
  tcase_add_loop_test (tests, test_new_size, 0, G_N_ELEMENTS (steps));
  tcase_add_loop_test (tests, test_changes, 0, G_N_ELEMENTS (steps) * G_N_ELEMENTS (changes));
  tcase_add_loop_test (tests, test_absorbed_object_leaves, 0, G_N_ELEMENTS (steps));
}
