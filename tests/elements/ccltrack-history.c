/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* ccltrack: the trails of tracks. */

#include "ccltrack.h"
#include <string.h>

/* The trail of the only blob: values in all, and the last place. */
static guint
get_trail (GstBuffer * buffer, gdouble oldest[2], gdouble newest[2])
{
  guint n;
  gdouble *const trail = gst_ccl_blob_meta_get_trail (gst_buffer_get_ccl_blob_meta (buffer), 0, &n);

  fail_unless ((trail != NULL) == (n > 0) && n % 2 == 0);
  if (n > 0) {
    memcpy (oldest, trail, 2 * sizeof (gdouble));
    memcpy (newest, trail + n - 2, 2 * sizeof (gdouble));
  }
  g_free (trail);
  return n / 2;
}

/* The trail grows to the number of places that `history` has. The last place is where the blob is, the one before where it
 * was. Places stay when the number changes. */
GST_START_TEST (test_history)
{
  GstHarness *h = new_harness ("history=5");
  gdouble oldest[2], newest[2], before[20][2];
  static const guint lengths[20] = { 1, 2, 3, 4, 5, 5, 5, 5, 5, 5, 6, 7, 8, 8, 8, 2, 2, 2, 0, 0 };

  for (guint frame = 0; frame < 20; frame++) {
    GstBuffer *buffer;
    guint n;

    if (frame == 10)
      harness_set (h, "ccltrack", "history", "8");
    if (frame == 15)
      harness_set (h, "ccltrack", "history", "2");
    if (frame == 18)
      harness_set (h, "ccltrack", "history", "0");
    buffer = push_box (h, frame, 20 + 4 * frame);
    n = get_trail (buffer, oldest, newest);
    fail_unless_equals_int (n, lengths[frame]);
    if (n > 0) {
      /* The middle of the box, filtered. */
      fail_unless (ABS (newest[0] - (30 + 4.0 * frame)) < 3 && ABS (newest[1] - 70) < 1, "at %g, %g", newest[0],
          newest[1]);
      memcpy (before[frame], newest, sizeof newest);
      fail_unless (memcmp (oldest, before[frame + 1 - n], sizeof oldest) == 0);
    }
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (h);
}

GST_END_TEST;

/* In the frame, whatever the size of the mask; with the contours of the blobs, in their order; of predictions too. */
GST_START_TEST (test_history_and_contours)
{
  static const GstCclPoint contour[] = { {1, 2}, {3, 4}, {5, 6} };
  GstHarness *h = new_harness ("min-hits=1 emit=predicted max-age=9");
  GBytes *points = g_bytes_new_static (contour, sizeof contour);
  gdouble oldest[2], newest[2];

  for (guint frame = 0; frame < 8; frame++) {
    const gboolean seen = frame < 5;
    const Box box = { 20 + 2 * frame, 50, 20, 40 };
    GstBuffer *buffer = new_frame (frame * FRAME);
    GstCclBlobMeta *meta = add_boxes (buffer, &box, seen);
    GstCclBlobList *list;
    GstCclBlob *blobs;
    const GstCclPoint *kept;
    guint n;

    /* A mask of half the width and a quarter of the height. */
    meta->matrix[0] = 2;
    meta->matrix[4] = 4;
    list = gst_ccl_blob_list_copy (meta->list, &blobs);
    gst_ccl_blob_list_set_points (list, points);
    if (seen)
      blobs[0].n_contour = 3;
    gst_ccl_blob_meta_set_list (meta, list);
    gst_ccl_blob_list_unref (list);
    buffer = gst_harness_push_and_pull (h, buffer);

    fail_unless_equals_int (count_blobs (buffer), 1);
    fail_unless_equals_int (get_trail (buffer, oldest, newest), frame + 1);
    fail_unless (ABS (oldest[0] - 60) < 1e-3 && ABS (oldest[1] - 280) < 1e-3, "%g, %g", oldest[0], oldest[1]);
    fail_unless (ABS (newest[0] - (60 + 4.0 * frame)) < 4 && ABS (newest[1] - 280) < 1, "%g, %g", newest[0], newest[1]);
    kept = gst_ccl_blob_list_get_contour (gst_buffer_get_ccl_blob_meta (buffer)->list, 0, &n);
    fail_unless_equals_int (n, seen ? 3 : 0);
    fail_unless (!seen || memcmp (kept, contour, sizeof contour) == 0);
    gst_buffer_unref (buffer);
  }
  g_bytes_unref (points);
  gst_harness_teardown (h);
}

GST_END_TEST;

TCase *
track_history_tests (void)
{
  TCase *tests = tcase_create ("history");

  tcase_add_test (tests, test_history);
  tcase_add_test (tests, test_history_and_contours);
  return tests;
}
