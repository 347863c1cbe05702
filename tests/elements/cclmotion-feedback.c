/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclmotion method=feedback: chroma, times, and how long a still object stays foreground. */
#include "cclmotion.h"

#include "motion.h"

static GstHarness *
feedback_harness (const gchar * settings, GstVideoFormat format, guint width, guint height)
{
  gchar *line = g_strdup_printf ("method=feedback warmup-frames=30 %s", settings);
  GstHarness *harness = motion_harness (line, format, width, height);

  g_free (line);
  return harness;
}

static guint64
foreground_of (GstBuffer * buffer)
{
  return gst_buffer_get_ccl_mask_meta (buffer)->n_foreground;
}

/* ---------------------------------------------------------------- the core's masks */

static const GstVideoFormat formats[] = {
  GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_NV21, GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_YV12,
  GST_VIDEO_FORMAT_Y42B, GST_VIDEO_FORMAT_Y444
};

/* Chroma that changes where the square is, and nowhere else. */
static void
color_scene (GstBuffer * buffer, const GstVideoInfo * info, guint n)
{
  GstVideoFrame frame;

  fail_unless (gst_video_frame_map (&frame, info, buffer, GST_MAP_WRITE));
  for (guint c = 1; c < GST_VIDEO_INFO_N_COMPONENTS (info); c++)
    for (gint y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT (&frame, c); y++)
      for (gint x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH (&frame, c); x++)
        ((guint8 *) GST_VIDEO_FRAME_COMP_DATA (&frame, c))[y * GST_VIDEO_FRAME_COMP_STRIDE (&frame, c) +
            x * GST_VIDEO_FRAME_COMP_PSTRIDE (&frame, c)] = n > 50 && x > 4 && x < 20 && y > 3 ? 100 + 60 * c : 128;
  gst_video_frame_unmap (&frame);
}

static CclMotionPicture
picture_of (const GstVideoFrame * frame, GstClockTime time)
{
  const gboolean has_chroma = GST_VIDEO_FRAME_N_COMPONENTS (frame) > 1;
  CclMotionPicture picture = {.us = time / GST_USECOND };

  picture.luma = (CclMask) {
  .data = GST_VIDEO_FRAME_PLANE_DATA (frame, 0),.stride = GST_VIDEO_FRAME_PLANE_STRIDE (frame,
        0),.width = GST_VIDEO_FRAME_WIDTH (frame),.height = GST_VIDEO_FRAME_HEIGHT (frame)};
  if (has_chroma)
    picture.chroma = (CclMotionChroma) {
    .u = GST_VIDEO_FRAME_COMP_DATA (frame, 1),.v = GST_VIDEO_FRAME_COMP_DATA (frame,
        2),.stride = { GST_VIDEO_FRAME_COMP_STRIDE (frame, 1), GST_VIDEO_FRAME_COMP_STRIDE (frame, 2) },.step =
        GST_VIDEO_FRAME_COMP_PSTRIDE (frame, 1),.width = GST_VIDEO_FRAME_COMP_WIDTH (frame, 1),.height =
        GST_VIDEO_FRAME_COMP_HEIGHT (frame, 1)};
  return picture;
}

/* The element hands the core all planes and the time, on each backend. */
GST_START_TEST (test_masks_are_the_cores)
{
  NEED_BACKEND (__i__ % 2);

  const GstVideoFormat format = formats[__i__ / 2];
  const guint width = 86, height = 58;
  GstHarness *harness = feedback_harness ("absorb-time=2000000000", format, width, height);
  CclMotionConfig config = ccl_motion_config_default ();
  CclMotionParams params = ccl_motion_params_default ();
  guint8 expected[86 * 58];
  guint64 seen = 0;
  GstVideoInfo info;
  CclMotion *core;

  gst_video_info_set_format (&info, format, width, height);
  config.width = width, config.height = height;
  config.chroma = GST_VIDEO_INFO_N_COMPONENTS (&info) > 1;
  set_motion (harness, "backend", backends[__i__ % 2]);
  params.absorb_ms = 2000;
  fail_unless (ccl_motion_new (&config, &core) == CCL_OK);
  for (guint n = 0; n < 120; n++) {
    GstBuffer *input = scene (format, width, height, n, 60), *output;
    CclMotionInfo result;
    GstVideoFrame frame;

    color_scene (input, &info, n);
    fail_unless (gst_video_frame_map (&frame, &info, input, GST_MAP_READ));
    const CclMotionPicture picture = picture_of (&frame, GST_BUFFER_PTS (input));
    const CclMotionMask mask = {.data = expected,.stride = width };
    fail_unless (ccl_motion_submit_picture (core, &picture, &params, &mask) == CCL_OK, "%s", ccl_error_message ());
    fail_unless (ccl_motion_collect (core, &result) == CCL_OK);
    gst_video_frame_unmap (&frame);
    output = gst_harness_push_and_pull (harness, input);
    fail_unless_equals_uint64 (foreground_of (output), result.foreground);
    seen += result.foreground;
    gst_buffer_unref (output);
  }
  fail_unless (seen > 1000);
  ccl_motion_free (core);
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* ---------------------------------------------------------------- time */

/* A gray picture with a square, or without. */
static GstBuffer *
square_at (GstClockTime time, gboolean has_square, guint n)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, W * H, NULL);
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (guint i = 0; i < W * H; i++)
    map.data[i] = 90 + (i % W) / 4 + (i * 31 + n * 17) % 3;
  for (guint y = 20; y < 40 && has_square; y++)
    for (guint x = 30; x < 50; x++)
      map.data[y * W + x] = 200 + (x * y + n) % 3;
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = time;
  return buffer;
}

/* Milliseconds from frame to frame, repeated. */
static const struct
{
  guint step[4];
} rates[] =
    { {{40, 40, 40, 40}}, {{200, 200, 200, 200}}, {{33, 34, 33, 33}}, {{20, 180, 70, 10}}, {{1000, 1000, 1000, 1000}} };

/* Seconds for which a square that appears after `empty` seconds is foreground, of at most `most`. */
static gdouble
seconds_of_foreground (GstHarness * harness, const guint * step, gdouble empty, gdouble most)
{
  GstClockTime time = 0, gone = 0;
  const GstClockTime begin = empty * GST_SECOND, end = begin + (GstClockTime) (most * GST_SECOND);

  for (guint n = 0; time < end; n++) {
    GstBuffer *output = gst_harness_push_and_pull (harness, square_at (time, time >= begin, n));

    if (foreground_of (output) > 200)
      gone = time;
    gst_buffer_unref (output);
    time += step[n % 4] * GST_MSECOND;
  }
  return gone > begin ? (gone - begin) / (gdouble) GST_SECOND : 0;
}

/* absorb-time is a time, at every frame rate. */
GST_START_TEST (test_absorb_time)
{
  GstHarness *harness = feedback_harness ("absorb-time=6000000000", GST_VIDEO_FORMAT_GRAY8, W, H);
  const gdouble seconds = seconds_of_foreground (harness, rates[__i__].step, 15, 12);

  fail_unless (seconds >= 4.9 && seconds <= 7.1, "foreground for %.2f s", seconds);
  gst_harness_teardown (harness);
}

GST_END_TEST;

GST_START_TEST (test_absorb_never)
{
  GstHarness *harness = feedback_harness ("absorb-time=0", GST_VIDEO_FORMAT_GRAY8, W, H);

  fail_unless (seconds_of_foreground (harness, rates[1].step, 5, 700) > 699);
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* What was there when learning began, and leaves, is no ghost for more than five seconds. */
GST_START_TEST (test_ghost)
{
  GstHarness *harness = feedback_harness ("", GST_VIDEO_FORMAT_GRAY8, W, H);
  guint last = 0;

  for (guint n = 0; n < 400; n++) {
    GstBuffer *output = gst_harness_push_and_pull (harness, square_at (n * FRAME, n < 100, n));

    if (foreground_of (output))
      last = n;
    gst_buffer_unref (output);
  }
  fail_unless (last >= 100, "the square that left was not noticed");
  fail_unless (last < 225, "a ghost in frame %u", last);
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* Frames without timestamps, and a clock that runs back for a frame, are like regular ones. */
GST_START_TEST (test_times_that_are_missing)
{
  GstHarness *harness = feedback_harness ("absorb-time=6000000000", GST_VIDEO_FORMAT_GRAY8, W, H);
  guint begin = 0, end = 0;

  for (guint n = 0; n < 400; n++) {
    const GstClockTime time = n % 10 == 7 ? GST_CLOCK_TIME_NONE : n % 50 == 33 ? 0 : n * FRAME;
    GstBuffer *output = gst_harness_push_and_pull (harness, square_at (time, n >= 100, n));

    if (foreground_of (output) > 200)
      begin = begin ? begin : n, end = n;
    gst_buffer_unref (output);
  }
  fail_unless_equals_int (begin, 100);
  fail_unless (end > 220 && end < 275, "foreground until frame %u", end);
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* The first 1.5 seconds are learnt from, whatever warmup-frames says. */
GST_START_TEST (test_learning)
{
  GstHarness *harness = feedback_harness ("", GST_VIDEO_FORMAT_GRAY8, W, H);

  for (guint n = 0; n < 60; n++) {
    GstBuffer *output = gst_harness_push_and_pull (harness, square_at (n * FRAME, FALSE, n));
    const gboolean learns = gst_buffer_get_ccl_mask_meta (output)->flags & GST_CCL_MASK_META_FLAG_LEARNING;

    fail_unless (learns == (n * FRAME < 1500 * GST_MSECOND), "frame %u", n);
    gst_buffer_unref (output);
  }
  gst_harness_teardown (harness);
}

GST_END_TEST;

static void
note_freed (gpointer is_freed, GstMiniObject * object)
{
  *(gboolean *) is_freed = TRUE;
}

/* The luma is as the caps say; the video meta lies about the chroma. */
GST_START_TEST (test_chroma_outside_its_buffer)
{
  static const struct
  {
    gsize offset;
    gint stride;
  } cases[] = { {0, -W}, {1 << 20, W}, {W * H, 1 << 20}, {W * H, W / 2 - 1} };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstHarness *const harness = feedback_harness ("backend=cpu", GST_VIDEO_FORMAT_NV12, W, H);
    GstBus *const bus = watch_bus (harness);
    GstBuffer *const buffer = scene (GST_VIDEO_FORMAT_NV12, W, H, 0, 9);
    gsize offset[] = { 0, cases[i].offset, 0, 0 };
    gint stride[] = { W, cases[i].stride, 0, 0 };
    gboolean is_freed = FALSE;

    gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_NV12, W, H, 2, offset, stride);
    gst_mini_object_weak_ref (GST_MINI_OBJECT (buffer), note_freed, &is_freed);
    fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_ERROR);
    assert_message (bus, GST_MESSAGE_ERROR, "The chroma of a frame cannot be mapped.");
    drop_bus (harness, bus);
    gst_harness_teardown (harness);
    fail_unless (is_freed);
  }
}

GST_END_TEST;

void
cclmotion_add_feedback_tests (Suite * suite)
{
  TCase *tests = tcase_create ("feedback");

  suite_add_tcase (suite, tests);
  tcase_set_timeout (tests, 120);
  tcase_add_loop_test (tests, test_masks_are_the_cores, 0, 2 * G_N_ELEMENTS (formats));
  tcase_add_loop_test (tests, test_absorb_time, 0, G_N_ELEMENTS (rates));
  tcase_add_test (tests, test_absorb_never);
  tcase_add_test (tests, test_ghost);
  tcase_add_test (tests, test_times_that_are_missing);
  tcase_add_test (tests, test_chroma_outside_its_buffer);
  tcase_add_test (tests, test_learning);
}
