/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* ccltrack: frames that were dropped, skipped or have odd timestamps. */

#include "ccltrack.h"

/* Frames were dropped: the interval says how far things have gone. */
GST_START_TEST (test_dropped_frames)
{
  GstHarness *h = new_harness ("");
  guint64 id = 0;

  for (guint frame = 0; frame < 24; frame = frame < 8 ? frame + 1 : frame + 5)
    id = track_box (h, frame, 10 + 10 * frame);
  fail_unless (id == track_box (h, 28, 10 + 280));
  fail_unless_equals_int (get_stat (h, "started"), 1);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_gap_ends_tracks)
{
  GstHarness *h = new_harness ("max-age=5");
  guint64 id = 0;

  for (guint frame = 0; frame < 5; frame++)
    id = track_box (h, frame, 50);
  fail_unless (track_box (h, 10, 50) == id, "unseen for 5 frames");
  fail_unless (track_box (h, 17, 50) > id, "unseen for 6 frames");
  gst_harness_teardown (h);
}

GST_END_TEST;

/* No frame rate in the caps: the intervals themselves say what is usual. */
GST_START_TEST (test_variable_rate)
{
  GstHarness *h = new_harness ("max-age=5");
  guint64 id = 0;

  gst_harness_set_src_caps_str (h, "video/x-raw,format=GRAY8,width=320,height=240,framerate=0/1");
  for (guint frame = 0; frame < 10; frame++)
    id = track_box (h, frame, 10 + 3 * frame);
  fail_unless (track_box (h, 13, 10 + 3 * 13) == id);
  fail_unless (track_box (h, 113, 10 + 3 * 13) > id);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Half of the frames have no timestamp: that is no reason to count time twice. */
GST_START_TEST (test_missing_timestamps)
{
  GstHarness *h = new_harness ("max-age=20");
  guint64 id = 0;

  for (guint frame = 0; frame < 60; frame++) {
    const gboolean hidden = frame > 20 && frame <= 40;
    GstBuffer *buffer = push_boxes (h, frame % 2 ? GST_CLOCK_TIME_NONE : frame * FRAME,
        &(Box) { 10 + 3 * (gint) frame, 50, 20, 40 }, !hidden);

    if (!hidden)
      id = id ? id : blob_at (buffer, 0).track_id;
    fail_unless (hidden || blob_at (buffer, 0).track_id == id, "frame %u", frame);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_odd_timestamps)
{
  GstHarness *h = new_harness ("");
  static const GstClockTime times[] = {
    5 * GST_SECOND, 5 * GST_SECOND, GST_CLOCK_TIME_NONE, 0, GST_MSECOND, GST_CLOCK_TIME_NONE, GST_SECOND
  };
  guint64 id = 0;

  for (guint i = 0; i < G_N_ELEMENTS (times); i++) {
    GstBuffer *buffer = push_boxes (h, times[i], &(Box) { 50 + (gint) i, 50, 20, 40 }, 1);

    id = i == 0 ? blob_at (buffer, 0).track_id : id;
    fail_unless (blob_at (buffer, 0).track_id == id, "frame %u", i);
    gst_buffer_unref (buffer);
  }
  fail_unless_equals_int (get_stat (h, "backwards"), 1);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Frames that nobody analysed end no track; where it should be can be asked for. */
GST_START_TEST (test_skipped_frames)
{
  static const guint flags[] = { GST_CCL_BLOB_META_FLAG_SKIPPED, GST_CCL_BLOB_META_FLAG_GLOBAL_CHANGE };

  for (guint i = 0; i < G_N_ELEMENTS (flags); i++) {
    GstHarness *h = new_harness ("max-age=2 emit=predicted");
    guint64 id = 0;

    for (guint frame = 0; frame < 5; frame++)
      id = track_box (h, frame, 50 + 2 * frame);
    for (guint frame = 5; frame < 15; frame++) {
      GstBuffer *buffer = new_frame (frame * FRAME);

      add_boxes (buffer, NULL, 0)->flags |= flags[i];
      buffer = gst_harness_push_and_pull (h, buffer);
      fail_unless (blob_at (buffer, 0).track_id == id && ABS (blob_at (buffer, 0).x - (50 + 2 * (gint) frame)) < 4);
      fail_unless (gst_buffer_get_ccl_blob_meta (buffer)->flags & flags[i]);
      gst_buffer_unref (buffer);
    }
    fail_unless (track_box (h, 15, 80) == id);
    fail_unless_equals_int (get_stat (h, "skipped"), 10);
    gst_harness_teardown (h);
  }
}

GST_END_TEST;

TCase *
track_time_tests (void)
{
  TCase *tests = tcase_create ("time");

  tcase_add_test (tests, test_dropped_frames);
  tcase_add_test (tests, test_gap_ends_tracks);
  tcase_add_test (tests, test_variable_rate);
  tcase_add_test (tests, test_missing_timestamps);
  tcase_add_test (tests, test_odd_timestamps);
  tcase_add_test (tests, test_skipped_frames);
  return tests;
}
