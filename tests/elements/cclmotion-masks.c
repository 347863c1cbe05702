/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The masks of cclmotion and their metadata. */
#include "cclmotion.h"

#include "motion.h"

static void
assert_mask (GstBuffer * buffer, const guint8 * expected, guint width, guint height)
{
  GstCclMaskMeta *meta = gst_buffer_get_ccl_mask_meta (buffer);
  GstVideoInfo info;
  GstVideoFrame frame;

  ck_assert_uint_eq (meta->ref_width, width);
  ck_assert_uint_eq (meta->ref_height, height);
  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_GRAY8, width, height);
  fail_unless (gst_video_frame_map (&frame, &info, meta->mask, GST_MAP_READ));
  for (guint y = 0; y < height; y++)
    fail_unless (memcmp ((guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0)
            + y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0), expected + y * width, width) == 0, "row %u differs", y);
  gst_video_frame_unmap (&frame);
}

static const GstVideoFormat formats[] = {
  GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_NV21, GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_YV12,
  GST_VIDEO_FORMAT_Y42B, GST_VIDEO_FORMAT_Y444
};

/* The element gives the masks of the core in every format. The frame stays unchanged. */
GST_START_TEST (test_masks_are_the_cores)
{
  const guint width = 86, height = 58;
  GstHarness *harness = motion_harness ("", formats[__i__], width, height);
  CclMotionConfig config = ccl_motion_config_default ();
  CclMotionParams params = ccl_motion_params_default ();
  guint8 luma[86 * 58], expected[86 * 58];
  guint64 seen = 0;
  CclMotion *core;

  config.method = CCL_MOTION_MOG2;
  config.width = width, config.height = height;
  params.warmup_frames = 5;
  fail_unless (ccl_motion_new (&config, &core) == CCL_OK);
  for (guint n = 0; n < 20; n++) {
    GstBuffer *input = scene (formats[__i__], width, height, n, 8), *copy = gst_buffer_copy_deep (input), *output;
    const CclMask view = {.data = luma,.stride = width,.width = width,.height = height };
    CclMotionInfo info;
    GstCclMaskMeta *meta;
    GstMapInfo map;

    draw_scene (luma, width, width, height, n, 8);
    fail_unless (ccl_motion_apply (core, &view, &params, &(CclMotionMask) {
            .data = expected,.stride = width}, &info)
        == CCL_OK);
    GstMemory *const memory = gst_buffer_peek_memory (input, 0);
    output = gst_harness_push_and_pull (harness, input);
    fail_unless (gst_buffer_peek_memory (output, 0) == memory, "the picture was copied");
    gst_buffer_map (copy, &map, GST_MAP_READ);
    fail_unless (gst_buffer_memcmp (output, 0, map.data, map.size) == 0, "the picture was changed");
    gst_buffer_unmap (copy, &map);

    meta = gst_buffer_get_ccl_mask_meta (output);
    fail_unless (meta != NULL);
    ck_assert_uint_eq (meta->width, width);
    ck_assert_uint_eq (meta->height, height);
    ck_assert_uint_eq (meta->flags, n < 5 ? GST_CCL_MASK_META_FLAG_LEARNING : 0);
    fail_unless_equals_uint64 (meta->n_foreground, info.foreground);
    ck_assert_str_eq (gst_ccl_mask_meta_get_source (meta), "motion");
    assert_mask (output, expected, width, height);
    seen += info.foreground;
    gst_buffer_unref (copy);
    gst_buffer_unref (output);
  }
  fail_unless (seen > 12 * 200, "the square was not seen");
  ccl_motion_free (core);
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* A mask of half the height: blobs are where the square is in the frame. */
GST_START_TEST (test_blobs_of_a_smaller_mask)
{
  GstHarness *harness = motion_harness ("work-height=30 median=0 close=0 ! ccllabel name=label backend=cpu "
      "mask-source=mask-meta min-area=20", GST_VIDEO_FORMAT_GRAY8, W, H);
  GstBuffer *buffer = NULL;
  GstCclBlobMeta *blobs;
  gdouble x, y, width, height;

  for (guint n = 0; n < 12; n++) {
    gst_clear_buffer (&buffer);
    buffer = push_scene (harness, n, 11);
  }
  ck_assert_uint_eq (gst_buffer_get_ccl_mask_meta (buffer)->ref_width, W / 2);
  blobs = gst_buffer_get_ccl_blob_meta (buffer);
  fail_unless (blobs != NULL);
  ck_assert_uint_eq (blobs->ref_width, W / 2);
  ck_assert_uint_eq (blobs->ref_height, H / 2);
  ck_assert_uint_eq (blobs->width, W);
  ck_assert_uint_eq (blobs->height, H);
  ck_assert_uint_eq (gst_ccl_blob_meta_get_length (blobs), 1);
  gst_ccl_blob_meta_get_box (blobs, 0, &x, &y, &width, &height);
  fail_unless (x == 10 && y == 20 && width == 16 && height == 16, "box %g,%g %gx%g", x, y, width, height);
  gst_buffer_unref (buffer);
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* A mask has no colours, whatever the frame says of its own. */
GST_START_TEST (test_output_caps)
{
  GstHarness *harness = motion_harness ("output=mask", GST_VIDEO_FORMAT_I420, W, H);
  gchar *caps_text = caps_string (GST_VIDEO_FORMAT_I420, W, H), *text;
  GstCaps *caps;

  text = g_strconcat (caps_text, ",colorimetry=bt709,chroma-site=mpeg2", NULL);
  gst_harness_set_src_caps_str (harness, text);
  gst_buffer_unref (gst_harness_push_and_pull (harness, scene (GST_VIDEO_FORMAT_I420, W, H, 0, 9)));
  caps = gst_pad_get_current_caps (harness->sinkpad);
  fail_if (gst_structure_has_field (gst_caps_get_structure (caps, 0), "chroma-site"), "%" GST_PTR_FORMAT, caps);
  fail_if (g_strcmp0 (gst_structure_get_string (gst_caps_get_structure (caps, 0), "colorimetry"), "bt709") == 0,
      "%" GST_PTR_FORMAT, caps);
  gst_caps_unref (caps);
  gst_harness_teardown (harness);
  g_free (text);
  g_free (caps_text);
}

GST_END_TEST;

GST_START_TEST (test_output_mask)
{
  GstHarness *harness = motion_harness ("output=mask work-height=30", GST_VIDEO_FORMAT_I420, W, H);
  GstBuffer *buffer = NULL;
  GstCaps *caps;
  GstMapInfo map;
  guint set = 0;

  for (guint n = 0; n < 12; n++) {
    gst_clear_buffer (&buffer);
    buffer = gst_harness_push_and_pull (harness, scene (GST_VIDEO_FORMAT_I420, W, H, n, 11));
  }
  caps = gst_pad_get_current_caps (harness->sinkpad);
  GstStructure *structure = gst_caps_get_structure (caps, 0);
  gint width = 0, height = 0;
  ck_assert_str_eq (gst_structure_get_string (structure, "format"), "GRAY8");
  gst_structure_get_int (structure, "width", &width);
  gst_structure_get_int (structure, "height", &height);
  ck_assert_int_eq (width, W / 2);
  ck_assert_int_eq (height, H / 2);
  gst_caps_unref (caps);
  gst_buffer_map (buffer, &map, GST_MAP_READ);
  for (gsize i = 0; i < map.size; i++) {
    fail_unless (map.data[i] == 0 || map.data[i] == 255);
    set += map.data[i] != 0;
  }
  gst_buffer_unmap (buffer, &map);
  fail_unless (set >= 50 && set <= 90, "%u pixels set, the square has 64", set);
  fail_unless (gst_buffer_get_ccl_mask_meta (buffer) == NULL);
  gst_buffer_unref (buffer);

  /* Back to the frames, and to another size, while playing. */
  set_motion (harness, "output", "passthrough");
  buffer = gst_harness_push_and_pull (harness, scene (GST_VIDEO_FORMAT_I420, W, H, 13, 11));
  fail_unless (gst_buffer_get_ccl_mask_meta (buffer) != NULL);
  ck_assert_uint_eq (gst_buffer_get_size (buffer), W * H * 3 / 2);
  ck_assert_uint_eq (gst_buffer_get_ccl_mask_meta (buffer)->flags, 0);  /* nothing was forgotten */
  gst_buffer_unref (buffer);
  set_motion (harness, "output", "mask");
  set_motion (harness, "work-height", "20");
  buffer = gst_harness_push_and_pull (harness, scene (GST_VIDEO_FORMAT_I420, W, H, 14, 11));
  ck_assert_uint_eq (gst_buffer_get_size (buffer), GST_ROUND_UP_4 (27) * 20);
  gst_buffer_unref (buffer);
  gst_harness_teardown (harness);
}

GST_END_TEST;

GST_START_TEST (test_meta_follows_the_frame)
{
  GstHarness *harness = gst_harness_new_parse ("cclmotion backend=cpu ! videoscale ! "
      "capsfilter caps=\"video/x-raw,width=(int)40,height=(int)120\"");
  gchar *caps = caps_string (GST_VIDEO_FORMAT_GRAY8, W, H);
  GstBuffer *buffer, *copy, *part;
  GstCclMaskMeta *meta;
  gdouble x = 20, y = 30;

  gst_harness_set_src_caps_str (harness, caps);
  g_free (caps);
  buffer = push_scene (harness, 0, G_MAXUINT);
  meta = gst_buffer_get_ccl_mask_meta (buffer);
  fail_unless (meta != NULL);
  ck_assert_uint_eq (meta->width, 40);
  ck_assert_uint_eq (meta->height, 120);
  ck_assert_uint_eq (meta->ref_width, W);
  gst_ccl_mask_meta_map_point (meta, &x, &y);
  fail_unless (x == 10 && y == 60, "%g %g", x, y);

  copy = gst_buffer_copy (buffer);
  fail_unless (gst_buffer_get_ccl_mask_meta (copy)->mask == meta->mask);
  ck_assert_uint_eq (gst_buffer_get_ccl_mask_meta (copy)->flags, GST_CCL_MASK_META_FLAG_LEARNING);
  part = gst_buffer_copy_region (buffer, GST_BUFFER_COPY_ALL, 0, 10);
  fail_unless (gst_buffer_get_ccl_mask_meta (part) == NULL);
  gst_buffer_unref (part);
  gst_buffer_unref (copy);
  gst_buffer_unref (buffer);
  gst_harness_teardown (harness);
}

GST_END_TEST;

GST_START_TEST (test_meta_needs_a_layout)
{
  GstBuffer *frame = gst_buffer_new (), *mask = gst_buffer_new_allocate (NULL, 64, NULL);

  ASSERT_CRITICAL (gst_buffer_add_ccl_mask_meta (frame, mask, 8, 8));
  gst_buffer_add_video_meta (mask, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 8, 8);
  fail_unless (gst_buffer_add_ccl_mask_meta (frame, mask, 16, 8) != NULL);
  GstBuffer *again = gst_ccl_mask_meta_get_mask (gst_buffer_get_ccl_mask_meta (frame));
  fail_unless (again == mask);
  gst_buffer_unref (again);
  gst_buffer_unref (mask);
  gst_buffer_unref (frame);
}

GST_END_TEST;

/* With a GPU: the same masks, which stay on the device until a reader maps them. */
GST_START_TEST (test_cuda_masks)
{
  NEED_BACKEND (1);

  GstHarness *cpu = motion_harness ("", GST_VIDEO_FORMAT_GRAY8, W, H);
  GstHarness *cuda = motion_harness ("", GST_VIDEO_FORMAT_GRAY8, W, H);

  set_motion (cuda, "backend", "cuda");
  for (guint n = 0; n < 20; n++) {
    GstBuffer *a = push_scene (cpu, n, 8), *b = push_scene (cuda, n, 8);
    GstMapInfo map;

    fail_unless (gst_memory_is_type (gst_buffer_peek_memory (gst_buffer_get_ccl_mask_meta (b)->mask, 0),
            "CclDeviceMemory"));
    fail_unless (gst_buffer_map (gst_buffer_get_ccl_mask_meta (a)->mask, &map, GST_MAP_READ));
    assert_mask (b, map.data, W, H);
    gst_buffer_unmap (gst_buffer_get_ccl_mask_meta (a)->mask, &map);
    gst_buffer_unref (a);
    gst_buffer_unref (b);
  }
  gst_harness_teardown (cpu);
  gst_harness_teardown (cuda);
}

GST_END_TEST;

void
cclmotion_add_masks_tests (Suite * suite)
{
  TCase *tests = tcase_create ("masks");

  tcase_set_timeout (tests, 60);
  tcase_add_loop_test (tests, test_masks_are_the_cores, 0, G_N_ELEMENTS (formats));
  tcase_add_test (tests, test_blobs_of_a_smaller_mask);
  tcase_add_test (tests, test_output_caps);
  tcase_add_test (tests, test_output_mask);
  tcase_add_test (tests, test_meta_follows_the_frame);
  tcase_add_test (tests, test_meta_needs_a_layout);
  tcase_add_test (tests, test_cuda_masks);
  suite_add_tcase (suite, tests);
}
