/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclzone: timestamps that are missing or jump, and frames that were not analysed. */

#include "cclzone.h"

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
  skip (&t, 15, GST_CCL_BLOB_META_FLAG_SKIPPED);        /* longer than unseen-timeout */
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

TCase *
zone_time_tests (void)
{
  TCase *tests = tcase_create ("time");

  tcase_add_test (tests, test_odd_timestamps);
  tcase_add_test (tests, test_no_timestamps);
  tcase_add_test (tests, test_skipped);
  tcase_add_test (tests, test_gone_while_skipped);
  return tests;
}
