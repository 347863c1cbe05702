/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* ccltrack: the tracks, states and families of blobs. */

#include "ccltrack.h"

GST_START_TEST (test_states_and_ages)
{
  GstHarness *h = new_harness ("");
  guint64 id = 0;

  for (guint frame = 0; frame < 6; frame++) {
    GstBuffer *buffer = push_box (h, frame, 10 + 5 * frame);
    const GstCclBlob blob = blob_at (buffer, 0);

    id = frame == 0 ? blob.track_id : id;
    fail_unless (blob.track_id == id && id > 0);
    fail_unless_equals_int (blob.age, frame + 1);
    fail_unless_equals_int (blob.flags, frame < 2 ? GST_CCL_BLOB_FLAG_TENTATIVE : GST_CCL_BLOB_FLAG_CONFIRMED);
    fail_unless_equals_int (blob.label, 1);
    fail_unless_equals_int (blob.area, 800);
    fail_unless_equals_int (count_blobs (buffer), 1);
    gst_buffer_unref (buffer);
  }
  fail_unless_equals_int (get_stat (h, "frames"), 6);
  fail_unless_equals_int (get_stat (h, "detections"), 6);
  fail_unless_equals_int (get_stat (h, "tracks"), 1);
  fail_unless_equals_int (get_stat (h, "started"), 1);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Pixels, memory and copies of the buffer stay as they are. */
GST_START_TEST (test_only_metadata)
{
  GstHarness *h = new_harness ("");
  GstBuffer *in = new_frame (0), *kept, *out;
  GstMemory *memory = gst_buffer_peek_memory (in, 0);

  add_boxes (in, &(Box) { 10, 10, 20, 20 }, 1);
  kept = gst_buffer_copy (in);
  gst_harness_push (h, gst_buffer_ref (in));
  out = gst_harness_pull (h);
  fail_unless (gst_buffer_peek_memory (out, 0) == memory);
  fail_unless (blob_at (out, 0).track_id != 0);
  fail_unless (blob_at (kept, 0).track_id == 0 && blob_at (in, 0).track_id == 0);
  gst_buffer_unref (in);
  gst_buffer_unref (kept);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_any_caps)
{
  static const gchar *const caps[] = {
    "video/x-raw,format=NV12,width=64,height=48,framerate=0/1",
    "video/x-raw(memory:CUDAMemory),format=NV12,width=64,height=48,framerate=30/1",
    "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=NV12,width=64,height=48,framerate=30/1",
    "video/x-raw(memory:GLMemory),format=RGBA,width=16385,height=1,framerate=30/1",
  };

  for (guint i = 0; i < G_N_ELEMENTS (caps); i++) {
    GstHarness *h = gst_harness_new ("ccltrack");
    GstBuffer *buffer;

    gst_harness_set_src_caps_str (h, caps[i]);
    buffer = push_box (h, 0, 5);
    fail_unless (blob_at (buffer, 0).track_id != 0, "%s", caps[i]);
    gst_buffer_unref (buffer);
    gst_harness_teardown (h);
  }
}

GST_END_TEST;

GST_START_TEST (test_emit_nothing_extra)
{
  GstHarness *h = new_harness ("emit=0");

  for (guint frame = 0; frame < 5; frame++)
    fail_unless ((track_box (h, frame, 10 + frame) != 0) == (frame >= 2));
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_emit_predicted_and_lost)
{
  GstHarness *h = new_harness ("emit=predicted+lost max-age=3");
  guint64 id = 0;

  for (guint frame = 0; frame < 10; frame++)
    id = track_box (h, frame, 10 + 4 * frame);
  for (guint frame = 10; frame < 15; frame++) {
    GstBuffer *buffer = push_boxes (h, frame * FRAME, NULL, 0);
    const gboolean only = gst_buffer_get_ccl_blob_meta (buffer)->flags & GST_CCL_BLOB_META_FLAG_PREDICTED_ONLY;

    fail_unless_equals_int (count_blobs (buffer), frame < 14);
    fail_unless (only == (frame < 14) * GST_CCL_BLOB_META_FLAG_PREDICTED_ONLY);
    if (frame < 14) {
      const GstCclBlob blob = blob_at (buffer, 0);

      fail_unless (blob.track_id == id && blob.label == 0 && blob.area == 0);
      fail_unless_equals_int (blob.flags, frame < 13 ? GST_CCL_BLOB_FLAG_PREDICTED : GST_CCL_BLOB_FLAG_LOST);
      fail_unless (ABS (blob.x - (10 + 4 * (gint) frame)) <= 3, "at %d in frame %u", blob.x, frame);
      fail_unless (blob.width == 20 && blob.height == 40);
    }
    gst_buffer_unref (buffer);
  }
  fail_unless_equals_int (get_stat (h, "ended"), 1);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Two walk into each other: one blob of nobody, two tracks inside it; then the old names come back. */
GST_START_TEST (test_merge)
{
  GstHarness *h = new_harness ("");
  guint64 left = 0, right = 0;
  guint n_merged = 0;

  for (guint frame = 0; frame < 50; frame++) {
    const gint a = 10 + 4 * frame, b = 210 - 4 * frame;
    const Box apart[] = { {a, 50, 20, 60}, {b, 56, 20, 60} };
    const Box both = { MIN (a, b), 50, MAX (a, b) + 20 - MIN (a, b), 66 };
    const gboolean merged = ABS (a - b) < 20;
    GstBuffer *buffer = push_boxes (h, frame * FRAME, merged ? &both : apart, merged ? 1 : 2);

    if (frame == 5) {
      left = blob_at (buffer, 0).track_id;
      right = blob_at (buffer, 1).track_id;
    }
    if (merged && count_blobs (buffer) == 3) {
      fail_unless (blob_at (buffer, 0).track_id == 0 && blob_at (buffer, 0).flags == GST_CCL_BLOB_FLAG_MERGED);
      fail_unless (blob_at (buffer, 1).track_id == left && blob_at (buffer, 2).track_id == right);
      fail_unless_equals_int (blob_at (buffer, 1).flags, GST_CCL_BLOB_FLAG_MERGED | GST_CCL_BLOB_FLAG_PREDICTED);
      n_merged++;
    }
    if (frame == 49)
      fail_unless (blob_at (buffer, 0).track_id == left && blob_at (buffer, 1).track_id == right, "ids changed");
    gst_buffer_unref (buffer);
  }
  fail_unless (n_merged >= 3, "%u frames", n_merged);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* One splits into two: the new one names its parent. */
GST_START_TEST (test_lineage)
{
  GstHarness *h = new_harness ("");
  guint64 parent = 0, child = 0;

  for (guint frame = 0; frame < 30; frame++) {
    const gint apart = frame < 10 ? 0 : 3 * (frame - 9);
    const Box parts[] = { {100 - apart, 50, 30, 60}, {125 + apart, 50, 30, 60} };
    const Box whole = { 100, 50, 55, 60 };
    GstBuffer *buffer = push_boxes (h, frame * FRAME, apart < 3 ? &whole : parts, apart < 3 ? 1 : 2);

    if (frame == 5)
      parent = blob_at (buffer, 0).track_id;
    for (guint i = 0; i < count_blobs (buffer); i++) {
      const GstCclBlob blob = blob_at (buffer, i);

      if (blob.flags & GST_CCL_BLOB_FLAG_SPLIT) {
        fail_unless (child == 0 && blob.parent_id == parent);
        child = blob.track_id;
      }
    }
    gst_buffer_unref (buffer);
  }
  fail_unless (child != 0, "nobody split");
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Blobs of a mask of half the size: tracked in pixels of the frame, predicted in pixels of the mask. */
GST_START_TEST (test_matrix)
{
  GstHarness *h = new_harness ("emit=predicted");
  GstBuffer *buffer;

  for (guint frame = 0; frame < 9; frame++) {
    GstCclBlobMeta *meta;

    buffer = new_frame (frame * FRAME);
    meta = add_boxes (buffer, &(Box) { 20 + 2 * frame, 30, 10, 20 }, frame < 8);
    meta->width = 640;
    meta->height = 720;
    meta->matrix[0] = 2;
    meta->matrix[4] = 3;
    buffer = gst_harness_push_and_pull (h, buffer);
    if (frame < 8)
      gst_buffer_unref (buffer);
  }
  fail_unless (ABS (blob_at (buffer, 0).x - 36) <= 1, "at %d", blob_at (buffer, 0).x);
  fail_unless (blob_at (buffer, 0).y == 30 && blob_at (buffer, 0).width == 10 && blob_at (buffer, 0).height == 20);
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_settings_while_playing)
{
  GstHarness *h = new_harness ("max-tracks=1");
  const Box boxes[] = { {10, 10, 20, 20}, {100, 100, 20, 20} };
  GstBuffer *buffer = push_boxes (h, 0, boxes, 2);

  fail_unless (blob_at (buffer, 0).track_id != 0 && blob_at (buffer, 1).track_id == 0);
  gst_buffer_unref (buffer);
  harness_set (h, "ccltrack", "max-tracks", "2");
  buffer = push_boxes (h, FRAME, boxes, 2);
  fail_unless (blob_at (buffer, 0).track_id != 0 && blob_at (buffer, 1).track_id != 0);
  fail_unless (blob_at (buffer, 1).flags & GST_CCL_BLOB_FLAG_TENTATIVE);
  gst_buffer_unref (buffer);
  harness_set (h, "ccltrack", "min-hits", "1");
  harness_set (h, "ccltrack", "method", "iou");
  buffer = push_boxes (h, 2 * FRAME, boxes, 2);
  fail_unless (blob_at (buffer, 1).flags & GST_CCL_BLOB_FLAG_CONFIRMED);
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Two trackers in a row: the second takes the first one's additions away and adds its own. */
GST_START_TEST (test_in_series)
{
  GstHarness *h = gst_harness_new_parse ("ccltrack emit=predicted ! ccltrack name=second emit=predicted");

  gst_harness_set_src_caps_str (h, SMALL);
  for (guint frame = 0; frame < 8; frame++) {
    GstBuffer *buffer = push_boxes (h, frame * FRAME, &(Box) { 50, 50, 20, 40 }, frame < 5);

    fail_unless_equals_int (count_blobs (buffer), 1);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (h);
}

GST_END_TEST;

TCase *
track_blob_tests (void)
{
  TCase *tests = tcase_create ("blobs");

  tcase_add_test (tests, test_states_and_ages);
  tcase_add_test (tests, test_only_metadata);
  tcase_add_test (tests, test_any_caps);
  tcase_add_test (tests, test_emit_nothing_extra);
  tcase_add_test (tests, test_emit_predicted_and_lost);
  tcase_add_test (tests, test_merge);
  tcase_add_test (tests, test_lineage);
  tcase_add_test (tests, test_matrix);
  tcase_add_test (tests, test_settings_while_playing);
  tcase_add_test (tests, test_in_series);
  return tests;
}
