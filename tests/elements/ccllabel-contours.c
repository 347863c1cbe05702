/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* ccllabel contours=true: the contours are those of the mask of the frame, wherever it is. checkccl and contours.py
 * check the contours themselves. Every test runs on each backend that is there. */
#include <string.h>

#include "support/backends.h"
#include "support/blobs.h"
#include "support/labelharness.h"
#include "support/masks.h"
#include "support/program.h"
#include "analysis/contour.h"

static const GstVideoFormat formats[] = {
  GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_GRAY16_LE, GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_Y444,
};

static void
assert_contours (GstBuffer * buffer, const Mask * mask, guint connectivity, gdouble epsilon, guint max_points)
{
  const GstCclBlobMeta *const meta = gst_buffer_get_ccl_blob_meta (buffer);
  const CclMask whole = {.data = mask->pixels,.stride = mask->width,.width = mask->width,.height = mask->height };
  const CclContourConfig config = {.connectivity = connectivity,.epsilon = epsilon,.max_points = max_points };
  CclContours *const contours = ccl_contours_new ();

  for (guint i = 0; i < gst_ccl_blob_meta_get_length (meta); i++) {
    const GstCclBlob *const blob = gst_ccl_blob_meta_get_blob (meta, i);
    const CclComponent component = {.moments = {.area = blob->area},.label = blob->label,.x0 = blob->x,.y0 = blob->y,
    .x1 = blob->x + blob->width,.y1 = blob->y + blob->height,.first_x = blob->first_x
    };
    guint32 n_expected;
    gsize n_all;
    guint n;
    const GstCclPoint *const points = gst_ccl_blob_list_get_contour (meta->list, i, &n);

    ccl_contours_clear (contours);
    fail_unless (ccl_contours_add (contours, &whole, &component, &config, &n_expected) == CCL_OK);
    fail_unless_equals_int (n, n_expected);
    fail_unless (memcmp (points, ccl_contours_points (contours, &n_all), n * sizeof *points) == 0);
  }
  ccl_contours_free (contours);
}

/* In every format, and with queued frames: the contours belong to the mask of the same frame. */
GST_START_TEST (test_contours)
{
  NEED_BACKEND (__i__);

  for (guint f = 0; f < G_N_ELEMENTS (formats); f++) {
    const guint connectivity = f % 2 ? 4 : 8;
    gchar *settings = g_strdup_printf ("contours=true contour-epsilon=0.5 contour-max-points=20 connectivity=%u "
        "async-depth=%u max-components=3000 sort=%s", connectivity, f % 3, f % 2 ? "area-desc" : "raster");
    GstHarness *harness = label_harness (__i__, settings);
    Mask masks[4];

    for (guint i = 0; i < G_N_ELEMENTS (masks); i++) {
      masks[i] = mask_random (70, 50, i, 0.55);
      set_mask_caps (harness, formats[f], &masks[i]);
      gst_harness_push (harness, buffer_from_mask (formats[f], &masks[i]));
    }
    gst_harness_push_event (harness, gst_event_new_eos ());
    for (guint i = 0; i < G_N_ELEMENTS (masks); i++) {
      GstBuffer *buffer = gst_harness_pull (harness);

      fail_unless (n_blobs (buffer) > 5);
      assert_contours (buffer, &masks[i], connectivity, 0.5, 20);
      gst_buffer_unref (buffer);
      mask_free (&masks[i]);
    }
    gst_harness_teardown (harness);
    g_free (settings);
  }
}

GST_END_TEST;

/* Only when asked for, from one frame to the next; with frames that were not analysed between. */
GST_START_TEST (test_contours_change_while_playing)
{
  NEED_BACKEND (__i__);

  GstHarness *harness = label_harness (__i__, "interval=2");
  Mask mask = MASK (".##......", "...#..##.", "#.....##.", "........#");

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  for (guint i = 0; i < 6; i++) {
    GstBuffer *buffer;

    set_label (harness, "contours", i >= 2 && i < 5 ? "true" : "false");
    buffer = label_mask (harness, &mask, i);
    fail_unless_equals_int (n_blobs (buffer), i % 2 ? 0 : 3);
    fail_unless_equals_int (gst_ccl_blob_list_get_points (gst_buffer_get_ccl_blob_meta (buffer)->list) != NULL,
        i == 2 || i == 4);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

/* A light square on dark ground that moves, in I420. */
static GstBuffer *
square_at (guint frame)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 96 * 64 * 3 / 2, NULL);

  gst_buffer_memset (buffer, 0, 40, 96 * 64);
  gst_buffer_memset (buffer, 96 * 64, 128, 96 * 32);
  for (guint y = 10; y < 30; y++)
    gst_buffer_memset (buffer, 96 * (y + frame) + 8 + 3 * frame, 200, 20 - y / 2);
  GST_BUFFER_PTS (buffer) = frame * 40 * GST_MSECOND;
  return buffer;
}

/* From a mask beside the picture, which cclmotion leaves in the memory of its device: brought home, and mapped to the
 * frame. The same bytes on every backend. */
GST_START_TEST (test_contours_of_mask_meta)
{
  NEED_BACKEND (__i__);

  static GBytes *expected[8];
  gchar *line = g_strdup_printf ("cclmotion backend=%s method=diff warmup-frames=1 ! ccllabel name=label "
      "mask-source=mask-meta backend=%s contours=true contour-epsilon=0.5 async-depth=1", backends[__i__],
      backends[__i__]);
  GstHarness *harness = gst_harness_new_parse (line);
  guint n_points = 0;

  gst_harness_set_src_caps_str (harness, "video/x-raw,format=I420,width=96,height=64,framerate=25/1");
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    fail_unless_equals_int (gst_harness_push (harness, square_at (i)), GST_FLOW_OK);
  gst_harness_push_event (harness, gst_event_new_eos ());
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++) {
    GstBuffer *buffer = gst_harness_pull (harness);
    GBytes *bytes = gst_ccl_blob_meta_to_bytes (gst_buffer_get_ccl_blob_meta (buffer));
    guint n;

    if (n_blobs (buffer) > 0)
      fail_unless (gst_ccl_blob_list_get_contour (gst_buffer_get_ccl_blob_meta (buffer)->list, 0, &n) != NULL);
    n_points += n_blobs (buffer) > 0 ? n : 0;
    if (!expected[i])
      expected[i] = g_bytes_ref (bytes);
    fail_unless (g_bytes_equal (bytes, expected[i]), "frame %u on %s", i, backends[__i__]);
    g_bytes_unref (bytes);
    gst_buffer_unref (buffer);
  }
  fail_unless (n_points > 20, "only %u points: this tests nothing", n_points);
  gst_harness_teardown (harness);
  g_free (line);
}

GST_END_TEST;

static Suite *
ccllabel_contours_suite (void)
{
  Suite *suite = suite_create ("ccllabel-contours");
  TCase *tests = tcase_create ("general");
  const gint n = G_N_ELEMENTS (backends);

  suite_add_tcase (suite, tests);
  tcase_set_timeout (tests, 120);
  tcase_add_loop_test (tests, test_contours, 0, n);
  tcase_add_loop_test (tests, test_contours_change_while_playing, 0, n);
  tcase_add_loop_test (tests, test_contours_of_mask_meta, 0, n);
  return suite;
}

TEST_MAIN (ccllabel_contours, "ccllabel-contours");
