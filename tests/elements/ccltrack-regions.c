/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* ccltrack: regions of interest, and frames without metadata. */

#include "ccltrack.h"

static GstBuffer *
frame_with_rois (guint frame, gboolean swapped)
{
  GstBuffer *buffer = new_frame (frame * FRAME);
  const gint first = swapped ? 200 : 10;

  gst_buffer_add_video_region_of_interest_meta (buffer, "person", first + 3 * frame, 20, 30, 60);
  gst_buffer_add_video_region_of_interest_meta (buffer, "car", 210 - first + 3 * frame, 20, 30, 60);
  return buffer;
}

static gint
object_id_of (GstBuffer * buffer, guint index)
{
  GstVideoRegionOfInterestMeta *roi = NULL;
  gpointer state = NULL;
  gint id = 0;

  for (guint i = 0; i <= index; i++)
    roi = (GstVideoRegionOfInterestMeta *) gst_buffer_iterate_meta_filtered (buffer, &state,
        GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
  fail_unless (roi != NULL);
  if (gst_video_region_of_interest_meta_get_param (roi, "object_id"))
    gst_structure_get_int (gst_video_region_of_interest_meta_get_param (roi, "object_id"), "id", &id);
  return id;
}

GST_START_TEST (test_rois)
{
  GstHarness *h = new_harness ("emit=tentative-boxes");
  gint person = 0, car = 0;

  for (guint frame = 0; frame < 6; frame++) {
    GstBuffer *buffer = gst_harness_push_and_pull (h, frame_with_rois (frame, FALSE));

    if (frame == 0) {
      person = object_id_of (buffer, 0);
      car = object_id_of (buffer, 1);
    }
    fail_unless (person > 0 && car > 0 && person != car);
    fail_unless_equals_int (object_id_of (buffer, 0), person);
    fail_unless_equals_int (object_id_of (buffer, 1), car);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Where the person was there is a car now: another object, unless types do not count. */
GST_START_TEST (test_types)
{
  for (guint per_type = 0; per_type < 2; per_type++) {
    GstHarness *h = new_harness (per_type ? "min-hits=1 per-type=true" : "min-hits=1 per-type=false");
    GstBuffer *buffer;
    gint person;

    buffer = gst_harness_push_and_pull (h, frame_with_rois (0, FALSE));
    person = object_id_of (buffer, 0);
    gst_buffer_unref (buffer);
    buffer = gst_harness_push_and_pull (h, frame_with_rois (1, TRUE));
    fail_unless ((object_id_of (buffer, 1) == person) == !per_type);
    gst_buffer_unref (buffer);
    gst_harness_teardown (h);
  }
}

GST_END_TEST;

/* Our own blobs and their mirror: the blobs are followed, the regions get their ids by label. */
GST_START_TEST (test_roi_mirror)
{
  GstHarness *h = new_harness ("");
  const Box boxes[] = { {10, 10, 20, 20}, {100, 100, 30, 30}, {200, 50, 9, 9} };
  GstBuffer *buffer = new_frame (0);
  GstCclBlobMeta *meta = add_boxes (buffer, boxes, 3);
  GstVideoRegionOfInterestMeta *roi;
  guint64 id;

  gst_buffer_add_video_region_of_interest_meta (buffer, "face", 1, 1, 5, 5);
  gst_buffer_add_ccl_roi_mirror (buffer, meta, "blob", 2);
  buffer = gst_harness_push_and_pull (h, buffer);
  fail_unless_equals_int (object_id_of (buffer, 0), 0);
  fail_unless_equals_int (object_id_of (buffer, 1), (gint) blob_at (buffer, 0).track_id);
  fail_unless_equals_int (object_id_of (buffer, 2), (gint) blob_at (buffer, 1).track_id);
  roi = gst_buffer_get_video_region_of_interest_meta_id (buffer, 2);
  fail_unless (gst_structure_get_uint64 (gst_video_region_of_interest_meta_get_param (roi, GST_CCL_ROI_PARAM),
          "track-id", &id) && id == blob_at (buffer, 1).track_id);
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* One region whose detector gave this confidence; `is_mirror`: it mirrors a blob. */
static GstBuffer *
frame_with_confidence (guint frame, gdouble confidence, gboolean is_mirror)
{
  GstBuffer *buffer = new_frame (frame * FRAME);
  GstVideoRegionOfInterestMeta *roi =
      gst_buffer_add_video_region_of_interest_meta (buffer, "person", 10 + 3 * frame, 20, 30, 60);

  gst_video_region_of_interest_meta_add_param (roi, gst_structure_new ("detection", "confidence", G_TYPE_DOUBLE, confidence,
          NULL));
  if (is_mirror)
    gst_video_region_of_interest_meta_add_param (roi, gst_structure_new_empty (GST_CCL_ROI_PARAM));
  return buffer;
}

/* A region has its id from the third frame on. An uncertain one keeps a track alive and starts none. */
GST_START_TEST (test_confirmed_regions)
{
  GstHarness *h = new_harness ("");
  gint first = 0;

  for (guint frame = 0; frame < 9; frame++) {
    GstBuffer *buffer = gst_harness_push_and_pull (h, frame_with_confidence (frame, frame < 5 ? 0.9 : 0.4, FALSE));
    const gint id = object_id_of (buffer, 0);

    first = frame == 2 ? id : first;
    fail_unless (frame < 2 ? id == 0 : id > 0 && id == first, "frame %u: id %d", frame, id);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (h);
}

GST_END_TEST;

/* The confidence in a mirror of a blob is the part of its box that it fills: no reason to doubt it. */
GST_START_TEST (test_confidence_of_regions)
{
  static const struct
  {
    const gchar *settings;
    gboolean is_mirror, starts;
  } cases[] = {
    {"min-hits=1", FALSE, FALSE}, {"min-hits=1", TRUE, TRUE}, {"min-hits=1 high-confidence=0.4", FALSE, TRUE},
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstHarness *h = new_harness (cases[i].settings);
    GstBuffer *buffer;

    harness_set (h, "ccltrack", "input", "roi");
    buffer = gst_harness_push_and_pull (h, frame_with_confidence (0, 0.5, cases[i].is_mirror));
    fail_unless_equals_int (object_id_of (buffer, 0) > 0, cases[i].starts);
    gst_buffer_unref (buffer);
    gst_harness_teardown (h);
  }
}

GST_END_TEST;

/* A region that is hidden for 1.5 s and for 2.5 s, at 10 frames a second; the frame rate is measured where the caps have none. */
GST_START_TEST (test_memory)
{
  static const gchar *const caps[] = { SMALL, "video/x-raw,format=GRAY8,width=320,height=240,framerate=0/1" };
  static const struct
  {
    const gchar *settings;
    guint gap;
    gboolean keeps;
  } cases[] = { {"", 15, TRUE}, {"", 25, FALSE}, {"max-age-time=3000000000", 25, TRUE}, {"max-age=60", 25, FALSE} };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (cases); i++) {
    GstHarness *h = new_harness (cases[i / 2].settings);
    gint id = 0;

    gst_harness_set_src_caps_str (h, caps[i % 2]);
    for (guint frame = 0; frame < 20 + cases[i / 2].gap; frame++) {
      const gboolean hidden = frame >= 10 && frame < 10 + cases[i / 2].gap;
      GstBuffer *buffer = gst_harness_push_and_pull (h, hidden ? new_frame (frame * FRAME) : frame_with_confidence (frame, 0.9,
              FALSE));

      if (frame == 9)
        id = object_id_of (buffer, 0);
      if (frame == 19 + cases[i / 2].gap)
        fail_unless ((object_id_of (buffer, 0) == id) == cases[i / 2].keeps, "case %u", i);
      gst_buffer_unref (buffer);
    }
    fail_unless (id > 0);
    gst_harness_teardown (h);
  }
}

GST_END_TEST;

/* Nothing to follow: nothing happens. */
GST_START_TEST (test_no_metadata)
{
  static const gchar *const inputs[] = { "auto", "ccl", "roi", "analytics" };

  for (guint i = 0; i < G_N_ELEMENTS (inputs); i++) {
    GstHarness *h = new_harness ("");
    GstBuffer *buffer;

    harness_set (h, "ccltrack", "input", inputs[i]);
    buffer = gst_harness_push_and_pull (h, new_frame (0));
    fail_unless (gst_buffer_get_ccl_blob_meta (buffer) == NULL);
    gst_buffer_unref (buffer);
    gst_harness_teardown (h);
  }
}

GST_END_TEST;

TCase *
track_region_tests (void)
{
  TCase *tests = tcase_create ("regions");

  tcase_add_test (tests, test_rois);
  tcase_add_test (tests, test_types);
  tcase_add_test (tests, test_roi_mirror);
  tcase_add_test (tests, test_confirmed_regions);
  tcase_add_test (tests, test_memory);
  tcase_add_test (tests, test_confidence_of_regions);
  tcase_add_test (tests, test_no_metadata);
  return tests;
}
