/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclzone: which blobs are in which zone, and how many. */

#include "cclzone.h"

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

/* Without a tracker blobs are inside, but nobody enters. */
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

/* Blobs that come before the first track, as with ccltrack emit=0, are not counted with the objects that enter. */
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

TCase *
zone_count_tests (void)
{
  TCase *tests = tcase_create ("counts");

  tcase_add_test (tests, test_blobs_and_counts);
  tcase_add_test (tests, test_untracked);
  tcase_add_test (tests, test_first_track);
  return tests;
}
