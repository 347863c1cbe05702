/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* ccltrack feedback=true and cclmotion: what a track follows does not become background. */

#include <gst/ccl/ccl.h>

#include "support/blobs.h"
#include "support/harness.h"
#include "support/messages.h"

#define W 96
#define H 64
#define FRAME (40 * GST_MSECOND)
#define CAPS "video/x-raw,format=GRAY8,framerate=25/1,width=96,height=64"
#define SQUARE 20
#define ABSORB "absorb-time=4000000000"

/* ---------------------------------------------------------------- frames */

/* A gray picture. The first square comes from below to (10, 20); the second appears at (60, 20). `age`: frames since then. */
static GstBuffer *
picture (guint n, guint width, guint height, guint n_squares, guint age)
{
  const guint top = age < 12 ? 44 - 2 * age : 20;
  GstBuffer *const buffer = plain_frame (width * height, 0, n * FRAME, FRAME);
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (guint i = 0; i < width * height; i++) {
    const guint x = i % width, y = i / width, left = x < 50 ? 10 : 60, above = x < 50 ? top : 20;
    const gboolean inside = y >= above && y < above + SQUARE && x >= left && x < left + SQUARE
        && (x < 50 ? 0 : 1) < n_squares;

    map.data[i] = inside ? 200 : 90 + x / 4 + (i * 31 + n * 17) % 3;
  }
  gst_buffer_unmap (buffer, &map);
  return buffer;
}

/* A camera, whose frames go on through all calls. */
typedef struct
{
  GstHarness *harness;
  guint width, height, n, age;
  guint64 foreground;           /* of the last mask */
} Camera;

static Camera
camera_new (const gchar * elements)
{
  Camera camera = {.harness = gst_harness_new_parse (elements),.width = W,.height = H };

  gst_harness_set_src_caps_str (camera.harness, CAPS);
  return camera;
}

static void
watch (Camera * camera, gdouble seconds, guint n_squares)
{
  for (guint i = 0; i < seconds * GST_SECOND / FRAME; i++) {
    GstBuffer *const buffer = gst_harness_push_and_pull (camera->harness, picture (camera->n++, camera->width,
            camera->height, n_squares, camera->age));

    fail_unless (buffer != NULL);
    camera->age += n_squares > 0;
    camera->foreground = gst_buffer_get_ccl_mask_meta (buffer)->n_foreground;
    gst_buffer_unref (buffer);
  }
}

/* ---------------------------------------------------------------- the chain */

/* An object comes and stands for twice the absorb time. Without feedback it is absorbed, and so it is afterwards. */
GST_START_TEST (test_chain)
{
  const gboolean feedback = __i__;
  gchar *const elements = g_strdup_printf ("cclmotion " ABSORB " ! ccllabel mask-source=mask-meta min-area=50 ! "
      "ccltrack name=track feedback=%d", feedback);
  Camera camera = camera_new (elements);

  watch (&camera, 3, 0);
  watch (&camera, 2, 1);
  fail_unless (camera.foreground > 300, "%u pixels at first", (guint) camera.foreground);
  watch (&camera, 6, 1);
  if (feedback) {
    fail_unless (camera.foreground > 300, "only %u pixels are left", (guint) camera.foreground);
    harness_set (camera.harness, "ccltrack", "feedback", "false");
    watch (&camera, 2, 1);
    fail_unless (camera.foreground > 300, "absorbed at once");
    watch (&camera, 2.5, 1);
  }
  fail_unless (camera.foreground < 200, "%u pixels are not absorbed", (guint) camera.foreground);
  gst_harness_teardown (camera.harness);
  g_free (elements);
}

GST_END_TEST;

/* What appears and never moved is no object that is known. */
GST_START_TEST (test_moved)
{
  Camera camera =
      camera_new ("cclmotion " ABSORB " ! ccllabel mask-source=mask-meta min-area=50 ! ccltrack feedback=true");

  watch (&camera, 3, 0);
  watch (&camera, 1, 2);
  fail_unless (camera.foreground > 800, "%u pixels at first", (guint) camera.foreground);
  watch (&camera, 7, 2);
  fail_unless (camera.foreground > 300 && camera.foreground < 600, "%u pixels", (guint) camera.foreground);
  gst_harness_teardown (camera.harness);
}

GST_END_TEST;

/* ---------------------------------------------------------------- what ccltrack sends */

static GstBuffer *
frame_with_box (guint n, gint x)
{
  GstBuffer *const buffer = plain_frame (16, 7, n * 100 * GST_MSECOND, GST_CLOCK_TIME_NONE);
  const GstCclBlob blob = rectangle (1, x, 50, 20, 40);
  GstCclBlobList *const list = gst_ccl_blob_list_new (&blob, x < 0 ? 0 : 1);

  gst_buffer_add_ccl_blob_meta (buffer, list, 320, 240);
  gst_ccl_blob_list_unref (list);
  return buffer;
}

/* The events of a frame with a box at x; below 0 without. */
static guint
push_box (GstHarness * h, guint n, gint x, GstStructure ** last)
{
  guint n_events = 0;
  GstEvent *event;

  gst_buffer_unref (gst_harness_push_and_pull (h, frame_with_box (n, x)));
  while ((event = gst_harness_try_pull_upstream_event (h))) {
    if (gst_event_has_name (event, "ccl-tracks")) {
      n_events++;
      if (*last)
        gst_structure_free (*last);
      *last = gst_structure_copy (gst_event_get_structure (event));
    }
    gst_event_unref (event);
  }
  return n_events;
}

/* One box. */
static void
assert_sent (const GstStructure * sent, const gint * box)
{
  const GValue *const boxes = gst_structure_get_value (sent, "boxes");
  guint width, height;

  fail_unless (gst_structure_get (sent, "width", G_TYPE_UINT, &width, "height", G_TYPE_UINT, &height, NULL));
  fail_unless_equals_int (width, 320);
  fail_unless_equals_int (height, 240);
  fail_unless_equals_int (gst_value_array_get_size (boxes), 1);
  for (guint i = 0; i < 4; i++)
    fail_unless_equals_int (g_value_get_int (gst_value_array_get_value (gst_value_array_get_value (boxes, 0), i)),
        box[i]);
}

GST_START_TEST (test_events)
{
  GstHarness *h = element_harness ("ccltrack", "feedback=true min-hits=3 max-age=2",
      "video/x-raw,format=GRAY8,width=320,height=240,framerate=10/1");
  GstStructure *last = NULL;
  guint n, n_events = 0;

  for (n = 0; n < 12; n++)
    fail_unless_equals_int (push_box (h, n, 10 + (gint) n % 2, &last), 0);      /* it has not moved */
  for (; n_events == 0; n++)
    n_events = push_box (h, n, 12 + ((gint) n - 12) * 5, &last);
  fail_unless (n > 14 && n < 20, "frame %u", n);
  assert_sent (last, (const gint[]) { 12 + ((gint) n - 13) * 5, 50, 20, 40 });
  for (n_events = 0; n < 23; n++)       /* and stops */
    push_box (h, n, 40, &last);
  for (; n < 43; n++)
    n_events += push_box (h, n, 40, &last);
  fail_unless_equals_int (n_events, 2); /* nothing changes: one a second */
  for (n_events = 0; n < 73; n++)
    n_events += push_box (h, n, 40 + (gint) (n - 43) * 2, &last);
  fail_unless (n_events >= 9 && n_events <= 11, "%u events in three seconds", n_events);
  for (n_events = 0; n < 90; n++)
    n_events += push_box (h, n, -1, &last);
  fail_unless_equals_int (n_events, 1); /* none is left: once */
  fail_unless_equals_int (gst_value_array_get_size (gst_structure_get_value (last, "boxes")), 0);
  gst_structure_free (last);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Frames that were not analysed say nothing of tracks. */
GST_START_TEST (test_skipped_frames)
{
  GstHarness *h = element_harness ("ccltrack", "feedback=true min-hits=3",
      "video/x-raw,format=GRAY8,width=320,height=240,framerate=10/1");
  GstStructure *last = NULL;
  guint n;

  for (n = 0; !last; n++)
    push_box (h, n, 10 + 5 * (gint) n, &last);
  for (const guint end = n + 30; n < end; n++) {
    if (n % 2) {
      GstBuffer *const frame = frame_with_box (n, -1);

      gst_buffer_get_ccl_blob_meta (frame)->flags = GST_CCL_BLOB_META_FLAG_SKIPPED;
      gst_buffer_unref (gst_harness_push_and_pull (h, frame));
    }
    push_box (h, n, 10 + 5 * (gint) n, &last);
    fail_unless_equals_int (gst_value_array_get_size (gst_structure_get_value (last, "boxes")), 1);
  }
  gst_structure_free (last);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_no_events)
{
  GstHarness *h = element_harness ("ccltrack", "", "video/x-raw,format=GRAY8,width=320,height=240,framerate=10/1");
  GstStructure *last = NULL;

  for (guint n = 0; n < 20; n++)
    fail_unless_equals_int (push_box (h, n, 10 + 5 * (gint) n, &last), 0);
  gst_harness_teardown (h);
}

GST_END_TEST;

static gboolean
refuse (GstPad * pad, GstObject * parent, GstEvent * event)
{
  (void) pad, (void) parent;
  gst_event_unref (event);
  return FALSE;
}

/* Without cclmotion. */
GST_START_TEST (test_nobody_takes_them)
{
  GstHarness *h = gst_harness_new_parse ("identity ! ccltrack feedback=true");
  GstStructure *last = NULL;
  GstBus *bus = watch_bus (h);

  gst_harness_set_src_caps_str (h, "video/x-raw,format=GRAY8,width=320,height=240,framerate=10/1");
  gst_pad_set_event_function (h->srcpad, refuse);
  for (guint n = 0; n < 30; n++)
    push_box (h, n, 10 + n, &last);
  assert_message (bus, GST_MESSAGE_WARNING, "no element upstream takes the tracks");
  assert_no_message (bus, GST_MESSAGE_WARNING);
  drop_bus (h, bus);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* ---------------------------------------------------------------- what cclmotion takes */

static gboolean
send (GstHarness * h, const gchar * text)
{
  GstStructure *const structure = gst_structure_from_string (text, NULL);

  fail_unless (structure != NULL, "%s", text);
  return gst_harness_push_upstream_event (h, gst_event_new_custom (GST_EVENT_CUSTOM_UPSTREAM, structure));
}

#define GOOD "ccl-tracks,width=(uint)96,height=(uint)64,boxes=<<10,20,20,20>>"

static const struct
{
  const gchar *text;
  gboolean is_taken;
} events[] = {
  {GOOD, TRUE},
  {"ccl-tracks,width=(uint)96,height=(uint)64,boxes=<>", TRUE},
  {"ccl-tracks,width=(uint)16384,height=(uint)1,boxes=<<-2147483648,-7,2147483647,2147483647>>", TRUE},
  {"ccl-tracks,width=(uint)96,height=(uint)64,boxes=<<2147483647,2147483647,2147483647,1>>", TRUE},
  {"ccl-tracks", FALSE},
  {"ccl-tracks,width=(uint)96,boxes=<>", FALSE},
  {"ccl-tracks,width=(uint)0,height=(uint)64,boxes=<>", FALSE},
  {"ccl-tracks,width=(uint)96,height=(uint)4000000000,boxes=<>", FALSE},
  {"ccl-tracks,width=(int)96,height=(int)64,boxes=<>", FALSE},
  {"ccl-tracks,width=(uint)96,height=(uint)64", FALSE},
  {"ccl-tracks,width=(uint)96,height=(uint)64,boxes=(string)none", FALSE},
  {"ccl-tracks,width=(uint)96,height=(uint)64,boxes=<1,2,3,4>", FALSE},
  {"ccl-tracks,width=(uint)96,height=(uint)64,boxes=<<1,2,3>>", FALSE},
  {"ccl-tracks,width=(uint)96,height=(uint)64,boxes=<<1,2,3,4,5>>", FALSE},
  {"ccl-tracks,width=(uint)96,height=(uint)64,boxes=<<1.0,2.0,3.0,4.0>>", FALSE},
  {"ccl-tracks,width=(uint)96,height=(uint)64,boxes=<<1,2,0,4>>", FALSE},
  {"ccl-tracks,width=(uint)96,height=(uint)64,boxes=<<1,2,3,-4>>", FALSE},
};

/* The event ends at cclmotion. Frames go on, whatever comes. */
GST_START_TEST (test_wrong_events)
{
  Camera camera = camera_new ("cclmotion " ABSORB);
  const guint before = gst_harness_upstream_events_received (camera.harness);
  GstStructure *many;
  GValue boxes = G_VALUE_INIT, one = G_VALUE_INIT;

  for (guint i = 0; i < G_N_ELEMENTS (events); i++) {
    fail_unless (send (camera.harness, events[i].text) == events[i].is_taken, "%s", events[i].text);
    watch (&camera, 0.04, 0);
  }
  many = gst_structure_from_string (GOOD, NULL);
  g_value_init (&boxes, GST_TYPE_ARRAY);
  g_value_init (&one, GST_TYPE_ARRAY);
  for (guint i = 0; i < 129; i++)
    gst_value_array_append_value (&boxes, &one);
  gst_structure_take_value (many, "boxes", &boxes);
  g_value_unset (&one);
  fail_if (gst_harness_push_upstream_event (camera.harness, gst_event_new_custom (GST_EVENT_CUSTOM_UPSTREAM, many)));
  fail_unless_equals_int (gst_harness_upstream_events_received (camera.harness), before);
  watch (&camera, 3, 0);
  watch (&camera, 1, 1);
  fail_unless (camera.foreground > 300);
  gst_harness_teardown (camera.harness);
}

GST_END_TEST;

/* Boxes of frames of half the size, also for masks of another size. A box beside the square holds nothing. */
static const struct
{
  const gchar *settings, *boxes;
  gboolean is_held;
} scales[] = {
  {"", "width=(uint)48,height=(uint)32,boxes=<<5,10,10,10>>", TRUE},
  {"work-height=32", "width=(uint)96,height=(uint)64,boxes=<<10,20,20,20>>", TRUE},
  {"output=mask work-height=32", "width=(uint)48,height=(uint)32,boxes=<<5,10,10,10>>", TRUE},
  {"", "width=(uint)192,height=(uint)128,boxes=<<10,20,20,20>>", FALSE},
};

static guint64
mask_pixels (GstBuffer * buffer)
{
  const GstCclMaskMeta *const meta = gst_buffer_get_ccl_mask_meta (buffer);
  guint64 n = 0;
  GstMapInfo map;

  if (meta)
    return meta->n_foreground;
  gst_buffer_map (buffer, &map, GST_MAP_READ);
  for (gsize i = 0; i < map.size; i++)
    n += map.data[i] == 255;
  gst_buffer_unmap (buffer, &map);
  return n;
}

GST_START_TEST (test_scales)
{
  gchar *const elements = g_strdup_printf ("cclmotion " ABSORB " %s", scales[__i__].settings);
  gchar *const event = g_strdup_printf ("ccl-tracks,%s", scales[__i__].boxes);
  Camera camera = camera_new (elements);
  guint64 n = 0;

  for (; camera.n < 300; camera.n++) {
    GstBuffer *buffer = picture (camera.n, W, H, camera.n > 75, camera.n);

    if (camera.n % 25 == 0)
      fail_unless (send (camera.harness, event));
    buffer = gst_harness_push_and_pull (camera.harness, buffer);
    n = mask_pixels (buffer);
    gst_buffer_unref (buffer);
  }
  fail_unless (scales[__i__].is_held ? n > 70 : n < 20, "%u pixels", (guint) n);
  gst_harness_teardown (camera.harness);
  g_free (event);
  g_free (elements);
}

GST_END_TEST;

/* A flush and a new size end the boxes: what appears afterwards is absorbed although the list would still hold. */
GST_START_TEST (test_seams)
{
  Camera camera = camera_new ("cclmotion " ABSORB);

  watch (&camera, 3, 0);
  fail_unless (send (camera.harness, GOOD));
  if (__i__ == 1)
    flush_harness (camera.harness);
  if (__i__ == 2) {
    camera.height = 60;
    gst_harness_set_src_caps_str (camera.harness, "video/x-raw,format=GRAY8,framerate=25/1,width=96,height=60");
  }
  watch (&camera, 1.6, 0);
  watch (&camera, 1, 1);
  fail_unless (camera.foreground > 300, "%u pixels", (guint) camera.foreground);
  watch (&camera, 4, 1);
  fail_unless (__i__ ? camera.foreground < 200 : camera.foreground > 300, "%u pixels", (guint) camera.foreground);
  gst_harness_teardown (camera.harness);
}

GST_END_TEST;

GST_START_TEST (test_other_method)
{
  Camera camera = camera_new ("cclmotion method=mog2");
  GstBus *bus = watch_bus (camera.harness);

  watch (&camera, 1, 0);
  fail_unless (send (camera.harness, GOOD));
  watch (&camera, 1, 0);
  fail_unless (send (camera.harness, GOOD));
  watch (&camera, 1, 0);
  assert_message (bus, GST_MESSAGE_WARNING, "ccltrack feedback=true has no effect with method=mog2");
  assert_no_message (bus, GST_MESSAGE_WARNING);
  drop_bus (camera.harness, bus);
  gst_harness_teardown (camera.harness);
}

GST_END_TEST;

/* An application saves the background in the thread that posts a message. */
static GstBusSyncReply
save_background (GstBus * bus, GstMessage * message, gpointer data)
{
  guint *const n_saves = data;
  gboolean is_saved;

  (void) bus;
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING && (*n_saves)++ == 0)
    g_signal_emit_by_name (GST_MESSAGE_SRC (message), "save-background", &is_saved);
  return GST_BUS_PASS;
}

GST_START_TEST (test_save_in_a_warning)
{
  Camera camera = camera_new ("cclmotion method=mog2 background-location=/nowhere");
  GstBus *bus = watch_bus (camera.harness);
  guint n_saves = 0;

  gst_bus_set_sync_handler (bus, save_background, &n_saves, NULL);
  watch (&camera, 1, 0);
  fail_unless (send (camera.harness, GOOD));
  watch (&camera, 1, 0);
  fail_unless_equals_int (n_saves, 2);  /* the second says that nothing was saved */
  gst_bus_set_sync_handler (bus, NULL, NULL, NULL);
  drop_bus (camera.harness, bus);
  gst_harness_teardown (camera.harness);
}

GST_END_TEST;

/* Events from another thread than the frames. */
static gpointer
send_many (gpointer data)
{
  for (guint i = 0; i < 2000; i++)
    send (data, events[i % G_N_ELEMENTS (events)].text);
  return NULL;
}

GST_START_TEST (test_threads)
{
  Camera camera = camera_new ("cclmotion " ABSORB);
  GThread *const thread = g_thread_new ("events", send_many, camera.harness);

  watch (&camera, 8, 1);
  g_thread_join (thread);
  gst_harness_teardown (camera.harness);
}

GST_END_TEST;

static Suite *
track_feedback_suite (void)
{
  Suite *suite = suite_create ("track-feedback");
  TCase *test_case = tcase_create ("feedback");

  suite_add_tcase (suite, test_case);
  tcase_set_timeout (test_case, 60);
  tcase_add_loop_test (test_case, test_chain, 0, 2);
  tcase_add_test (test_case, test_moved);
  tcase_add_test (test_case, test_events);
  tcase_add_test (test_case, test_skipped_frames);
  tcase_add_test (test_case, test_no_events);
  tcase_add_test (test_case, test_nobody_takes_them);
  tcase_add_test (test_case, test_wrong_events);
  tcase_add_loop_test (test_case, test_scales, 0, G_N_ELEMENTS (scales));
  tcase_add_loop_test (test_case, test_seams, 0, 3);
  tcase_add_test (test_case, test_other_method);
  tcase_add_test (test_case, test_save_in_a_warning);
  tcase_add_test (test_case, test_threads);
  return suite;
}

GST_CHECK_MAIN (track_feedback);
