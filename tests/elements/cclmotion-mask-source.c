/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* ccllabel with the mask beside the frame: mask-source. */
#include "cclmotion.h"

#include <gst/ccl/gstcclblobmeasures.h>

#ifdef HAVE_GST_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

static GstBuffer *
frame_with_mask (const Mask * mask, guint width, guint height, guint n)
{
  GstBuffer *frame = scene (GST_VIDEO_FORMAT_I420, width, height, n, G_MAXUINT);
  GstBuffer *buffer = buffer_from_values (GST_VIDEO_FORMAT_GRAY8, mask, 255, 0);
  gsize offset[GST_VIDEO_MAX_PLANES] = { 0 };
  gint stride[GST_VIDEO_MAX_PLANES] = { GST_ROUND_UP_4 (mask->width) };

  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, mask->width, mask->height,
      1, offset, stride);
  gst_buffer_add_ccl_mask_meta (frame, buffer, width, height);
  gst_buffer_unref (buffer);
  return frame;
}

GST_START_TEST (test_label_takes_the_mask_beside_the_frame)
{
  static const gchar *const sources[] = { "auto", "mask-meta" };
  gchar *settings = g_strdup_printf ("mask-source=%s", sources[__i__]);
  GstHarness *harness = label_harness (0, settings);
  gchar *caps = caps_string (GST_VIDEO_FORMAT_I420, 160, 90);
  GstBus *bus = watch_bus (harness);

  gst_harness_set_src_caps_str (harness, caps);
  for (guint n = 0; n < 6; n++) {
    Mask mask = mask_random (n < 3 ? 40 : 37, n < 3 ? 30 : 161, n, 0.3);        /* the mask may change its size */
    GstBuffer *buffer = gst_harness_push_and_pull (harness, frame_with_mask (&mask, 160, 90, n));
    GstCclBlobMeta *meta = gst_buffer_get_ccl_blob_meta (buffer);

    ck_assert_uint_eq (meta->width, 160);
    ck_assert_uint_eq (meta->height, 90);
    fail_unless (meta->matrix[0] == 160.0 / mask.width && meta->matrix[4] == 90.0 / mask.height);
    meta->width = mask.width, meta->height = mask.height;       /* the rest is as if the mask were the frame */
    assert_blobs (buffer, &mask, 8);
    gst_buffer_unref (buffer);
    mask_free (&mask);
  }
  assert_no_message (bus, GST_MESSAGE_WARNING);
  drop_bus (harness, bus);
  g_free (caps);
  g_free (settings);
  gst_harness_teardown (harness);
}

GST_END_TEST;

GST_START_TEST (test_label_takes_the_frame_if_set)
{
  GstHarness *harness = label_harness (0, "mask-source=frame");
  gchar *caps = caps_string (GST_VIDEO_FORMAT_I420, 160, 90);
  Mask mask = mask_random (40, 30, 1, 0.3);
  GstBuffer *buffer;

  gst_harness_set_src_caps_str (harness, caps);
  buffer = gst_harness_push_and_pull (harness, frame_with_mask (&mask, 160, 90, 0));
  ck_assert_uint_eq (n_blobs (buffer), 0);      /* the scene is darker than 128 */
  ck_assert_uint_eq (gst_buffer_get_ccl_blob_meta (buffer)->ref_width, 160);
  gst_buffer_unref (buffer);
  mask_free (&mask);
  g_free (caps);
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* A frame without a mask has the flag SKIPPED. There is one warning. */
GST_START_TEST (test_label_without_a_mask)
{
  GstHarness *harness = label_harness (0, "mask-source=mask-meta async-depth=1");
  GstBus *bus = watch_bus (harness);
  Mask mask = mask_random (40, 30, 1, 0.3);
  GstBuffer *buffer;
  gchar *caps = caps_string (GST_VIDEO_FORMAT_I420, 160, 90);

  gst_harness_set_src_caps_str (harness, caps);
  for (guint n = 0; n < 4; n++)
    gst_harness_push (harness, n == 2 ? frame_with_mask (&mask, 160, 90, n) : scene (GST_VIDEO_FORMAT_I420, 160, 90, n,
            G_MAXUINT));
  gst_harness_push_event (harness, gst_event_new_eos ());
  for (guint n = 0; n < 4; n++) {
    buffer = gst_harness_pull (harness);
    ck_assert_uint_eq (gst_buffer_get_ccl_blob_meta (buffer)->flags, n == 2 ? 0 : GST_CCL_BLOB_META_FLAG_SKIPPED);
    fail_unless ((n_blobs (buffer) > 0) == (n == 2));
    gst_buffer_unref (buffer);
  }
  assert_message (bus, GST_MESSAGE_WARNING, "carries no mask");
  assert_no_message (bus, GST_MESSAGE_WARNING);
  drop_bus (harness, bus);
  mask_free (&mask);
  g_free (caps);
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* Labels of a smaller mask as a picture of the frame's size. */
GST_START_TEST (test_label_draws_a_smaller_mask)
{
  GstHarness *harness = label_harness (0, "output=mask");
  gchar *caps = caps_string (GST_VIDEO_FORMAT_I420, 8, 4);
  Mask mask = MASK ("#...", "..#.");
  GstBuffer *buffer;
  GstMapInfo map;

  gst_harness_set_src_caps_str (harness, caps);
  buffer = gst_harness_push_and_pull (harness, frame_with_mask (&mask, 8, 4, 0));
  gst_buffer_map (buffer, &map, GST_MAP_READ);
  for (guint y = 0; y < 4; y++)
    for (guint x = 0; x < 8; x++)
      ck_assert_uint_eq (map.data[y * 8 + x], mask.pixels[y / 2 * 4 + x / 2] ? 255 : 0);
  gst_buffer_unmap (buffer, &map);
  gst_buffer_unref (buffer);
  mask_free (&mask);
  g_free (caps);
  gst_harness_teardown (harness);
}

GST_END_TEST;

#if defined HAVE_GST_ANALYTICS && GST_CHECK_VERSION (1, 26, 0)
/* A segmentation that covers a part of the frame: every region but 0 is foreground, blobs are where that part is. */
GST_START_TEST (test_label_takes_a_segmentation)
{
  GstHarness *harness = label_harness (0, "mask-source=segmentation-mtd connectivity=4");
  gchar *caps = caps_string (GST_VIDEO_FORMAT_I420, 160, 90);
  Mask mask = MASK ("##..", "...#", "...#");
  GstBuffer *frame = scene (GST_VIDEO_FORMAT_I420, 160, 90, 0, G_MAXUINT);
  GstBuffer *regions = buffer_from_values (GST_VIDEO_FORMAT_GRAY8, &mask, 3, 0);
  guint ids[] = { 0, 3 };
  GstAnalyticsSegmentationMtd segmentation;
  GstCclBlobMeta *blobs;
  gdouble x, y, width, height;

  gst_buffer_add_video_meta (regions, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 4, 3);
  fail_unless (gst_analytics_relation_meta_add_segmentation_mtd (gst_buffer_add_analytics_relation_meta (frame),
          regions, GST_SEGMENTATION_TYPE_SEMANTIC, G_N_ELEMENTS (ids), ids, 20, 30, 40, 60, &segmentation));
  gst_harness_set_src_caps_str (harness, caps);
  frame = gst_harness_push_and_pull (harness, frame);
  blobs = gst_buffer_get_ccl_blob_meta (frame);
  ck_assert_uint_eq (gst_ccl_blob_meta_get_length (blobs), 2);
  ck_assert_uint_eq (blobs->width, 160);
  gst_ccl_blob_meta_get_box (blobs, 1, &x, &y, &width, &height);
  fail_unless (x == 50 && y == 50 && width == 10 && height == 40, "%g,%g %gx%g", x, y, width, height);
  gst_buffer_unref (frame);
  mask_free (&mask);
  g_free (caps);
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* A mask of ids in a part of a frame of 160x90. */
static void
add_segmentation (GstBuffer * frame, const Mask * mask, guint id, GstVideoFormat format, GstVideoRectangle box)
{
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (frame);
  GstBuffer *regions = buffer_from_values (format, mask, id, 0);
  guint ids[] = { 0, id };
  GstAnalyticsSegmentationMtd segmentation;

  gst_buffer_add_video_meta (regions, GST_VIDEO_FRAME_FLAG_NONE, format, mask->width, mask->height);
  if (!relations)
    relations = gst_buffer_add_analytics_relation_meta (frame);
  fail_unless (gst_analytics_relation_meta_add_segmentation_mtd (relations, regions, GST_SEGMENTATION_TYPE_INSTANCE, 2,
          ids, box.x, box.y, box.w, box.h, &segmentation));
}

typedef struct
{
  const gchar *settings;
  guint n;
  gdouble boxes[4][4];          /* in the frame, in the order of the list */
  gint class_ids[4];            /* with foreground=equal */
} Choice;

static void
check_blob (const GstCclBlobMeta * blobs, guint i, const Choice * choice)
{
  const gdouble *const box = choice->boxes[i];
  gdouble x, y, width, height;
  guint class_id;

  gst_ccl_blob_meta_get_box (blobs, i, &x, &y, &width, &height);
  fail_unless (ABS (x - box[0]) < 1e-9 && ABS (y - box[1]) < 1e-9 && ABS (width - box[2]) < 1e-9
      && ABS (height - box[3]) < 1e-9, "%s: %g,%g %gx%g", choice->settings, x, y, width, height);
  ck_assert_int_eq (gst_ccl_blob_meta_get_class_id (blobs, i, &class_id), strstr (choice->settings, "equal") != NULL);
  ck_assert_uint_eq (class_id, choice->class_ids[i]);
}

/* Labels three segmentations: rectangles, the first and the last, and a ring that reaches beyond the frame. */
static void
check_choice (const Choice * choice, const guint * ids, GstVideoRectangle last)
{
  gchar *settings = g_strdup_printf ("mask-source=segmentation-mtd connectivity=4 %s", choice->settings);
  GstHarness *harness = label_harness (0, settings);
  gchar *caps = caps_string (GST_VIDEO_FORMAT_I420, 160, 90);
  Mask small = MASK ("####", "####"), ring = MASK ("###", "#.#", "###");
  GstBuffer *frame = scene (GST_VIDEO_FORMAT_I420, 160, 90, 0, G_MAXUINT);
  GstCclBlobMeta *blobs;

  add_segmentation (frame, &small, ids[0], GST_VIDEO_FORMAT_GRAY8, (GstVideoRectangle) {
      20, 20, 20, 20});
  add_segmentation (frame, &ring, ids[1], GST_VIDEO_FORMAT_GRAY16_LE, (GstVideoRectangle) {
      140, 60, 40, 40});
  add_segmentation (frame, &small, ids[2], GST_VIDEO_FORMAT_GRAY8, last);
  gst_harness_set_src_caps_str (harness, caps);
  frame = gst_harness_push_and_pull (harness, frame);
  blobs = gst_buffer_get_ccl_blob_meta (frame);
  ck_assert_uint_eq (gst_ccl_blob_meta_get_length (blobs), choice->n);
  ck_assert_uint_eq (blobs->width, 160);
  for (guint i = 0; i < choice->n; i++)
    check_blob (blobs, i, choice);
  gst_buffer_unref (frame);
  mask_free (&small);
  mask_free (&ring);
  g_free (caps);
  g_free (settings);
  gst_harness_teardown (harness);
}

static const Choice choices[] = {
  /* All three; the third lies over the first. */
  {"", 2, {{20, 20, 30, 20}, {140, 60, 20, 30}}},
  {"foreground=equal", 3, {{20, 20, 20, 20}, {30, 20, 20, 10}, {140, 60, 20, 30}}, {7, 9, 300}},
  {"segmentation=0", 1, {{20, 20, 20, 20}}},
  {"segmentation=1", 1, {{140, 60, 40, 40}}},
  {"foreground=equal segmentation=1", 1, {{140, 60, 40, 40}}, {300}},
  {"segmentation=2 region-id=-1", 1, {{30, 20, 20, 10}}},
  {"region-id=300", 1, {{140, 60, 20, 30}}},
  {"foreground=equal region-id=300", 1, {{140, 60, 20, 30}}, {300}},
  {"segmentation=0 region-id=7", 1, {{20, 20, 20, 20}}},
  {"segmentation=0 region-id=8", 0, {{0}}},
  {"foreground=equal segmentation=0 region-id=8", 0, {{0}}},
};

/* Several segmentations, one for each instance: all, one of them, one region. */
GST_START_TEST (test_label_chooses_segmentations)
{
  static const guint ids[] = { 7, 300, 9 };

  check_choice (&choices[__i__], ids, (GstVideoRectangle) { 30, 20, 20, 10 });
}

GST_END_TEST;

#define LEFT {20, 20, 20, 20}
#define RIGHT {40, 20, 20, 20}
#define RING {140, 60, 20, 30}
#define HOLE {154, 74, 6, 13}   /* the part of it in the frame */

static const Choice neighbours[] = {
  {"", 2, {{20, 20, 40, 20}, RING}},
  {"foreground=equal", 3, {LEFT, RIGHT, RING}, {1, 1, 2}},
  {"foreground=equal region-id=1", 2, {LEFT, RIGHT}, {1, 1}},
  {"foreground=equal filter=\"class_id == 1\"", 2, {LEFT, RIGHT}, {1, 1}},
  {"foreground=equal filter=\"class_id > 1 and area > 9\" algorithm=reference", 1, {RING}, {2}},
  {"foreground=equal sort=class-id-desc max-components=1 contours=true", 1, {RING}, {2}},
  {"foreground=equal sort=class-id", 3, {LEFT, RIGHT, RING}, {1, 1, 2}},
  /* Region 0 is no background when it is asked for. */
  {"region-id=0", 1, {HOLE}},
  {"foreground=equal region-id=0", 1, {HOLE}, {0}},
  {"foreground=equal region-id=0 filter=\"class_id == 0\"", 1, {HOLE}, {0}},
  {"foreground=equal region-id=0 segmentation=1", 1, {{140 + 40 / 3.0, 60 + 40 / 3.0, 40 / 3.0, 40 / 3.0}}, {0}},
  {"foreground=equal region-id=0 segmentation=0", 0, {{0}}},
};

/* Regions of the same id in two segmentations touch: they are two blobs. */
GST_START_TEST (test_label_parts_segmentations)
{
  static const guint ids[] = { 1, 2, 1 };

  check_choice (&neighbours[__i__], ids, (GstVideoRectangle) RIGHT);
}

GST_END_TEST;

/* Numbers of regions are those of a frame, so a volume of them is warned of, once. With one segmentation they are its ids. */
GST_START_TEST (test_label_warns_of_volumes)
{
  GstHarness *harness = label_harness (0, "mask-source=segmentation-mtd foreground=equal volume=2");
  GstBus *bus = watch_bus (harness);
  gchar *caps = caps_string (GST_VIDEO_FORMAT_I420, 160, 90);
  Mask mask = MASK ("####", "####");

  gst_harness_set_src_caps_str (harness, caps);
  for (guint i = 0; i < 4; i++) {
    GstBuffer *frame = scene (GST_VIDEO_FORMAT_I420, 160, 90, i, G_MAXUINT);

    for (guint k = 0; k < (i < 2 ? 1 : 2); k++)
      add_segmentation (frame, &mask, 1, GST_VIDEO_FORMAT_GRAY8, (GstVideoRectangle) {
          20 + 20 * k, 20, 20, 20}
    );
    gst_harness_push (harness, frame);
    if (i < 2)
      assert_no_message (bus, GST_MESSAGE_WARNING);
  }
  gst_harness_push_event (harness, gst_event_new_eos ());
  assert_message (bus, GST_MESSAGE_WARNING, "volume_id may join or part regions");
  assert_no_message (bus, GST_MESSAGE_WARNING);
  drop_bus (harness, bus);
  mask_free (&mask);
  g_free (caps);
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* Layouts that say more than the buffer of the mask holds, or run backwards: no mask, and nothing is read there. */
GST_START_TEST (test_label_refuses_a_short_segmentation)
{
  static const struct
  {
    gsize size;
    gint stride;
    gboolean is_read;
  } layouts[] = { {12, 4, TRUE}, {11, 4, FALSE}, {12, 5, FALSE}, {12, 3, FALSE}, {12, 0, FALSE}, {12, -4, FALSE} };
  GstHarness *harness = label_harness (0, __i__ ? "mask-source=segmentation-mtd region-id=3 foreground=equal" :
      "mask-source=segmentation-mtd region-id=3");
  gchar *caps = caps_string (GST_VIDEO_FORMAT_I420, 160, 90);
  Mask mask = MASK ("##..", "...#", "...#");

  gst_harness_set_src_caps_str (harness, caps);
  for (guint i = 0; i < G_N_ELEMENTS (layouts); i++) {
    GstBuffer *frame = scene (GST_VIDEO_FORMAT_I420, 160, 90, i, G_MAXUINT);
    GstBuffer *regions = buffer_from_values (GST_VIDEO_FORMAT_GRAY8, &mask, 3, 0);
    guint ids[] = { 0, 3 };
    GstAnalyticsSegmentationMtd segmentation;

    gst_buffer_add_video_meta (regions, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 4, 3)->stride[0] =
        layouts[i].stride;
    gst_buffer_set_size (regions, layouts[i].size);
    fail_unless (gst_analytics_relation_meta_add_segmentation_mtd (gst_buffer_add_analytics_relation_meta (frame),
            regions, GST_SEGMENTATION_TYPE_SEMANTIC, G_N_ELEMENTS (ids), ids, 20, 30, 40, 60, &segmentation));
    frame = gst_harness_push_and_pull (harness, frame);
    fail_unless ((n_blobs (frame) > 0) == layouts[i].is_read, "layout %u", i);
    gst_buffer_unref (frame);
  }
  mask_free (&mask);
  g_free (caps);
  gst_harness_teardown (harness);
}

GST_END_TEST;
#else
GST_START_TEST (test_label_warns_of_volumes)
{
  SKIP_TEST ("GStreamer before 1.26, or without analytics");
}

GST_END_TEST;

GST_START_TEST (test_label_takes_a_segmentation)
{
  SKIP_TEST ("GStreamer before 1.26, or without analytics");
}

GST_END_TEST;

GST_START_TEST (test_label_chooses_segmentations)
{
  SKIP_TEST ("GStreamer before 1.26, or without analytics");
}

GST_END_TEST;

GST_START_TEST (test_label_parts_segmentations)
{
  SKIP_TEST ("GStreamer before 1.26, or without analytics");
}

GST_END_TEST;

GST_START_TEST (test_label_refuses_a_short_segmentation)
{
  SKIP_TEST ("GStreamer before 1.26, or without analytics");
}

GST_END_TEST;
#endif

void
cclmotion_add_mask_source_tests (Suite * suite)
{
  TCase *tests = tcase_create ("mask-source");

  tcase_set_timeout (tests, 60);
  tcase_add_loop_test (tests, test_label_takes_the_mask_beside_the_frame, 0, 2);
  tcase_add_test (tests, test_label_takes_the_frame_if_set);
  tcase_add_test (tests, test_label_without_a_mask);
  tcase_add_test (tests, test_label_draws_a_smaller_mask);
#if defined HAVE_GST_ANALYTICS && GST_CHECK_VERSION (1, 26, 0)
  tcase_add_loop_test (tests, test_label_chooses_segmentations, 0, G_N_ELEMENTS (choices));
  tcase_add_loop_test (tests, test_label_parts_segmentations, 0, G_N_ELEMENTS (neighbours));
#else
  tcase_add_test (tests, test_label_parts_segmentations);
  tcase_add_test (tests, test_label_chooses_segmentations);
#endif
  tcase_add_test (tests, test_label_takes_a_segmentation);
  tcase_add_test (tests, test_label_warns_of_volumes);
  tcase_add_loop_test (tests, test_label_refuses_a_short_segmentation, 0, 2);
  suite_add_tcase (suite, tests);
}
