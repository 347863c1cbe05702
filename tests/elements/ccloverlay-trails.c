/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* ccloverlay: the trails of tracks. */

#include "ccloverlay.h"

GST_START_TEST (test_trail)
{
  Fixture f = new_fixture ("draw=trail color-by=fixed trail-length=5", "BGRx", 320, 240);
  GstBuffer *out = NULL;
  GstEvent *flush;

  for (gint i = 0; i < 20; i++) {
    gst_clear_buffer (&out);
    out = push_blob (&f, i, new_blob (1, 3, 20 + 10 * i, 100, 20, 20));
  }
  /* From x 180 to 220, at the height of the centroid. */
  fail_unless (pixel (&f, out, 210, 110) != GROUND * 0x10101);
  fail_unless (pixel (&f, out, 185, 110) != GROUND * 0x10101);
  assert_equals_int (pixel (&f, out, 160, 110), GROUND * 0x10101);
  gst_buffer_unref (out);

  /* After a seek it starts over. */
  flush = gst_event_new_flush_start ();
  gst_harness_push_event (f.harness, flush);
  gst_harness_push_event (f.harness, gst_event_new_flush_stop (TRUE));
  gst_harness_push_event (f.harness, gst_event_new_segment (&(GstSegment) {
          .rate = 1,.applied_rate = 1,.format = GST_FORMAT_TIME,.stop = -1,.duration = -1,.position = 0}));
  out = push_blob (&f, 0, new_blob (1, 3, 20, 100, 20, 20));
  assert_equals_int (count_changed (out), 0);
  gst_buffer_unref (out);
  gst_harness_teardown (f.harness);
}

GST_END_TEST;

/* What the tracker says counts, from the first frame on. */
GST_START_TEST (test_trail_of_the_tracker)
{
  static const GstCclPoint points[] = { {20, 30}, {20, 200}, {160, 200}, {200, 200} };
  Fixture f = new_fixture ("draw=trail color-by=fixed trail-length=3", "BGRx", 320, 240);
  GBytes *bytes = g_bytes_new_static (points, sizeof points);
  GstCclBlob blob = new_blob (1, 3, 190, 190, 20, 20);
  GstCclBlobList *list;
  GstBuffer *buffer = new_frame (&f, 0);

  blob.n_trail = 4;
  list = gst_ccl_blob_list_new (&blob, 1);
  gst_ccl_blob_list_set_points (list, bytes);
  gst_buffer_add_ccl_blob_meta (buffer, list, 320, 240);
  gst_ccl_blob_list_unref (list);
  g_bytes_unref (bytes);
  buffer = push (&f, buffer);
  fail_unless (pixel (&f, buffer, 60, 200) != GROUND * 0x10101);
  fail_unless (pixel (&f, buffer, 190, 200) != GROUND * 0x10101);
  assert_equals_int (pixel (&f, buffer, 20, 100), GROUND * 0x10101);
  gst_buffer_unref (buffer);
  gst_harness_teardown (f.harness);
}

GST_END_TEST;

TCase *
overlay_trail_tests (void)
{
  TCase *tests = tcase_create ("trails");

  tcase_set_timeout (tests, 120);
  tcase_add_test (tests, test_trail);
  tcase_add_test (tests, test_trail_of_the_tracker);
  return tests;
}
