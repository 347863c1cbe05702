/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "ccllabel.h"

#ifdef CCL_EMULATED
#include "support/emulation.h"
#endif

#include <gst/ccl/gstcclmaskmeta.h>

#include "motion.h"

#ifdef HAVE_GST_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

#define W 80
#define H 60
#define FRAME (40 * GST_MSECOND)

/* A gray background with a little noise; from frame `from` on a bright square of 16 pixels that wanders. */
static void
draw_scene (guint8 * data, gsize stride, guint width, guint height, guint n, guint from)
{
  for (guint y = 0; y < height; y++)
    for (guint x = 0; x < width; x++)
      data[y * stride + x] = 90 + (x * 7 + y * 3 + n * 5) % 5;
  for (guint y = 20; n >= from && y < 36; y++)
    for (guint x = 0; x < 16; x++)
      data[y * stride + (10 + 2 * (n - from)) % (width - 16) + x] = 220;
}

static GstBuffer *
scene (GstVideoFormat format, guint width, guint height, guint n, guint from)
{
  GstVideoInfo info;
  GstBuffer *buffer;
  GstMapInfo map;

  gst_video_info_set_format (&info, format, width, height);
  buffer = gst_buffer_new_allocate (NULL, info.size, NULL);
  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (gsize i = 0; i < map.size; i++)
    map.data[i] = i * 37 + n * 11;      /* what is not luma must not matter */
  draw_scene (map.data + info.offset[0], info.stride[0], width, height, n, from);
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = n * FRAME;
  GST_BUFFER_DURATION (buffer) = FRAME;
  return buffer;
}

static GstHarness *
motion_harness (const gchar * settings, GstVideoFormat format, guint width, guint height)
{
  gchar *line = g_strdup_printf ("cclmotion name=motion backend=cpu warmup-frames=5 %s", settings);
  gchar *caps = caps_string (format, width, height);
  GstHarness *harness = gst_harness_new_parse (line);

  gst_harness_set_src_caps_str (harness, caps);
  g_free (caps);
  g_free (line);
  return harness;
}

static GstElement *
find_element (GstHarness * harness, const gchar * name)
{
  GstElement *element = gst_bin_get_by_name (GST_BIN (harness->element), name);

  gst_object_unref (element);
  return element;
}

static void
set_motion (GstHarness * harness, const gchar * name, const gchar * value)
{
  gst_util_set_object_arg (G_OBJECT (find_element (harness, "motion")), name, value);
}

static GstBuffer *
push_scene (GstHarness * harness, guint n, guint from)
{
  GstBuffer *buffer = gst_harness_push_and_pull (harness, scene (GST_VIDEO_FORMAT_GRAY8, W, H, n, from));

  fail_unless (buffer != NULL);
  return buffer;
}

static guint32
push_for_flags (GstHarness * harness, guint n, guint from)
{
  GstBuffer *buffer = push_scene (harness, n, from);
  const guint32 flags = gst_buffer_get_ccl_mask_meta (buffer)->flags;

  gst_buffer_unref (buffer);
  return flags;
}

static guint64
push_for_count (GstHarness * harness, guint n, guint from)
{
  GstBuffer *buffer = push_scene (harness, n, from);
  const guint64 count = gst_buffer_get_ccl_mask_meta (buffer)->n_foreground;

  gst_buffer_unref (buffer);
  return count;
}

/* Frames 0..n-1 without anything that moves. */
static void
push_background (GstHarness * harness, guint n)
{
  for (guint i = 0; i < n; i++)
    push_for_count (harness, i, G_MAXUINT);
}

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

/* ---------------------------------------------------------------- masks */

static const GstVideoFormat formats[] = {
  GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_NV21, GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_YV12,
  GST_VIDEO_FORMAT_Y42B, GST_VIDEO_FORMAT_Y444
};

/* The element gives what the core gives, whatever the format; the frame stays as it is. */
GST_START_TEST (test_masks_are_the_cores)
{
  const guint width = 86, height = 58;
  GstHarness *harness = motion_harness ("", formats[__i__], width, height);
  CclMotionConfig config = ccl_motion_config_default ();
  CclMotionParams params = ccl_motion_params_default ();
  guint8 luma[86 * 58], expected[86 * 58];
  guint64 seen = 0;
  CclMotion *core;

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

/* ---------------------------------------------------------------- the meta */

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

/* ---------------------------------------------------------------- mask-source */

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

GST_START_TEST (test_label_takes_the_frame_if_told)
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

/* A frame without a mask is not analysed and says so; one warning. */
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
add_segmentation (GstBuffer * frame, const Mask * mask, guint id, GstVideoFormat format, gint x, gint y, guint width,
    guint height)
{
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (frame);
  GstBuffer *regions = buffer_from_values (format, mask, id, 0);
  guint ids[] = { 0, id };
  GstAnalyticsSegmentationMtd segmentation;

  gst_buffer_add_video_meta (regions, GST_VIDEO_FRAME_FLAG_NONE, format, mask->width, mask->height);
  if (!relations)
    relations = gst_buffer_add_analytics_relation_meta (frame);
  fail_unless (gst_analytics_relation_meta_add_segmentation_mtd (relations, regions, GST_SEGMENTATION_TYPE_INSTANCE, 2,
          ids, x, y, width, height, &segmentation));
}

static const struct
{
  const gchar *settings;
  guint n;
  gint boxes[4][4];             /* in the frame, raster order */
} choices[] = {
  /* All three; the second reaches beyond the frame, the third lies over the first. */
  {"", 2, {{20, 20, 30, 20}, {140, 60, 20, 30}}},
  {"segmentation=0", 1, {{20, 20, 20, 20}}},
  {"segmentation=1", 1, {{140, 60, 40, 40}}},
  {"segmentation=2 region-id=-1", 1, {{30, 20, 20, 10}}},
  {"region-id=300", 1, {{140, 60, 20, 30}}},
  {"segmentation=0 region-id=7", 1, {{20, 20, 20, 20}}},
  {"segmentation=0 region-id=8", 0, {{0}}},
};

/* Several segmentations, one for each instance: all, one of them, one region. */
GST_START_TEST (test_label_chooses_segmentations)
{
  gchar *settings = g_strdup_printf ("mask-source=segmentation-mtd connectivity=4 %s", choices[__i__].settings);
  GstHarness *harness = label_harness (0, settings);
  gchar *caps = caps_string (GST_VIDEO_FORMAT_I420, 160, 90);
  Mask small = MASK ("####", "####"), ring = MASK ("###", "#.#", "###");
  GstBuffer *frame = scene (GST_VIDEO_FORMAT_I420, 160, 90, 0, G_MAXUINT);
  GstCclBlobMeta *blobs;

  add_segmentation (frame, &small, 7, GST_VIDEO_FORMAT_GRAY8, 20, 20, 20, 20);
  add_segmentation (frame, &ring, 300, GST_VIDEO_FORMAT_GRAY16_LE, 140, 60, 40, 40);
  add_segmentation (frame, &small, 9, GST_VIDEO_FORMAT_GRAY8, 30, 20, 20, 10);
  gst_harness_set_src_caps_str (harness, caps);
  frame = gst_harness_push_and_pull (harness, frame);
  blobs = gst_buffer_get_ccl_blob_meta (frame);
  ck_assert_uint_eq (gst_ccl_blob_meta_get_length (blobs), choices[__i__].n);
  ck_assert_uint_eq (blobs->width, 160);
  for (guint i = 0; i < choices[__i__].n; i++) {
    const gint *const box = choices[__i__].boxes[i];
    gdouble x, y, width, height;

    gst_ccl_blob_meta_get_box (blobs, i, &x, &y, &width, &height);
    fail_unless (ABS (x - box[0]) < 1e-9 && ABS (y - box[1]) < 1e-9 && ABS (width - box[2]) < 1e-9
        && ABS (height - box[3]) < 1e-9, "%s: %g,%g %gx%g", settings, x, y, width, height);
  }
  gst_buffer_unref (frame);
  mask_free (&small);
  mask_free (&ring);
  g_free (caps);
  g_free (settings);
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
  GstHarness *harness = label_harness (0, "mask-source=segmentation-mtd region-id=3");
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
#endif

/* ---------------------------------------------------------------- messages */

/* The next ccl-motion message must have this state; its fields. */
static GstStructure *
pop_state (GstBus * bus, const gchar * state)
{
  GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT);
  GstStructure *structure;

  fail_unless (message != NULL, "no message, expected %s", state);
  structure = gst_structure_copy (gst_message_get_structure (message));
  fail_unless (gst_structure_has_name (structure, "ccl-motion"));
  ck_assert_str_eq (gst_structure_get_string (structure, "state"), state);
  gst_message_unref (message);
  return structure;
}

static guint64
field (const GstStructure * structure, const gchar * name)
{
  guint64 value = 0;

  fail_unless (gst_structure_get_uint64 (structure, name, &value), "no field %s", name);
  return value;
}

GST_START_TEST (test_messages)
{
  GstHarness *harness = motion_harness ("off-delay=200000000", GST_VIDEO_FORMAT_GRAY8, W, H);
  GstBus *bus = watch_bus (harness);
  GstStructure *structure;
  gdouble ratio = 0;

  for (guint n = 0; n < 30; n++)
    push_for_count (harness, n, n >= 10 && n < 15 ? 10 : G_MAXUINT);
  structure = pop_state (bus, "begin");
  fail_unless_equals_uint64 (field (structure, "running-time"), 10 * FRAME);
  fail_unless_equals_uint64 (field (structure, "stream-time"), 10 * FRAME);
  fail_unless_equals_uint64 (field (structure, "duration"), 0);
  fail_unless (field (structure, "n-foreground") > 200);
  fail_unless (gst_structure_get_double (structure, "area-ratio", &ratio) && ratio > 0.03 && ratio < 0.1);
  gst_structure_free (structure);
  structure = pop_state (bus, "end");
  fail_unless (field (structure, "running-time") >= 14 * FRAME && field (structure, "running-time") <= 16 * FRAME);
  fail_unless_equals_uint64 (field (structure, "duration"), field (structure, "running-time") - 10 * FRAME);
  gst_structure_free (structure);
  assert_no_message (bus, GST_MESSAGE_ELEMENT);

  /* All, and the end of the stream ends what goes on. */
  set_motion (harness, "post-messages", "all");
  for (guint n = 30; n < 33; n++)
    push_for_count (harness, n, 30);
  gst_harness_push_event (harness, gst_event_new_eos ());
  gst_structure_free (pop_state (bus, "begin"));
  gst_structure_free (pop_state (bus, "update"));
  gst_structure_free (pop_state (bus, "update"));
  gst_structure_free (pop_state (bus, "end"));
  assert_no_message (bus, GST_MESSAGE_ELEMENT);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);

  harness = motion_harness ("post-messages=none", GST_VIDEO_FORMAT_GRAY8, W, H);
  bus = watch_bus (harness);
  for (guint n = 0; n < 15; n++)
    push_for_count (harness, n, 10);
  assert_no_message (bus, GST_MESSAGE_ELEMENT);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
}

GST_END_TEST;

GST_START_TEST (test_global_change)
{
  GstHarness *harness = motion_harness ("! ccllabel name=label mask-source=mask-meta backend=cpu",
      GST_VIDEO_FORMAT_GRAY8, W, H);
  GstBus *bus = watch_bus (harness);
  GstBuffer *buffer;
  GstStructure *structure;
  gboolean changed = FALSE;

  push_background (harness, 10);
  buffer = scene (GST_VIDEO_FORMAT_GRAY8, W, H, 10, 10);
  gst_buffer_memset (buffer, 0, 250, W * H);
  buffer = gst_harness_push_and_pull (harness, buffer);
  ck_assert_uint_eq (gst_buffer_get_ccl_mask_meta (buffer)->flags, GST_CCL_MASK_META_FLAG_GLOBAL_CHANGE);
  fail_unless_equals_uint64 (gst_buffer_get_ccl_mask_meta (buffer)->n_foreground, 0);
  ck_assert_uint_eq (gst_buffer_get_ccl_blob_meta (buffer)->flags, GST_CCL_BLOB_META_FLAG_GLOBAL_CHANGE);
  gst_buffer_unref (buffer);
  structure = pop_state (bus, "begin");
  fail_unless (gst_structure_get_boolean (structure, "global-change", &changed) && changed);
  gst_structure_free (structure);

  /* What comes next is learnt, without a warm-up: the square is seen in the frame after. */
  ck_assert_uint_eq (push_for_flags (harness, 11, G_MAXUINT), GST_CCL_MASK_META_FLAG_LEARNING);
  fail_unless (push_for_count (harness, 12, 12) > 200);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* ---------------------------------------------------------------- time */

GST_START_TEST (test_what_starts_learning_again)
{
  GstHarness *harness = motion_harness ("", GST_VIDEO_FORMAT_GRAY8, W, H);
  GstBuffer *buffer;
  GstSegment segment;

  push_background (harness, 10);
  ck_assert_uint_eq (push_for_flags (harness, 10, G_MAXUINT), 0);

  /* A gap of a second, marked or not, and a step back: the scene is the same. */
  buffer = scene (GST_VIDEO_FORMAT_GRAY8, W, H, 35, G_MAXUINT);
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  buffer = gst_harness_push_and_pull (harness, buffer);
  ck_assert_uint_eq (gst_buffer_get_ccl_mask_meta (buffer)->flags, 0);
  gst_buffer_unref (buffer);
  ck_assert_uint_eq (push_for_flags (harness, 20, G_MAXUINT), 0);
  ck_assert_uint_eq (push_for_flags (harness, 900, G_MAXUINT), 0);

  /* A marked jump. */
  buffer = scene (GST_VIDEO_FORMAT_GRAY8, W, H, 5, G_MAXUINT);
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  buffer = gst_harness_push_and_pull (harness, buffer);
  ck_assert_uint_eq (gst_buffer_get_ccl_mask_meta (buffer)->flags, GST_CCL_MASK_META_FLAG_LEARNING);
  gst_buffer_unref (buffer);
  for (guint n = 6; n < 12; n++)
    push_for_count (harness, n, G_MAXUINT);
  ck_assert_uint_eq (push_for_flags (harness, 12, G_MAXUINT), 0);

  /* A flush. */
  gst_harness_push_event (harness, gst_event_new_flush_start ());
  gst_harness_push_event (harness, gst_event_new_flush_stop (TRUE));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (harness, gst_event_new_segment (&segment));
  ck_assert_uint_eq (push_for_flags (harness, 13, G_MAXUINT), GST_CCL_MASK_META_FLAG_LEARNING);
  gst_harness_teardown (harness);
}

GST_END_TEST;

GST_START_TEST (test_caps_change)
{
  GstHarness *harness = motion_harness ("", GST_VIDEO_FORMAT_GRAY8, W, H);
  gchar *caps;
  GstBuffer *buffer;

  push_background (harness, 10);
  /* The same size in another format: nothing to learn anew. */
  caps = caps_string (GST_VIDEO_FORMAT_NV12, W, H);
  gst_harness_set_src_caps_str (harness, caps);
  g_free (caps);
  buffer = gst_harness_push_and_pull (harness, scene (GST_VIDEO_FORMAT_NV12, W, H, 10, 10));
  fail_unless (gst_buffer_get_ccl_mask_meta (buffer)->n_foreground > 200);
  gst_buffer_unref (buffer);

  caps = caps_string (GST_VIDEO_FORMAT_NV12, 2 * W, H);
  gst_harness_set_src_caps_str (harness, caps);
  g_free (caps);
  buffer = gst_harness_push_and_pull (harness, scene (GST_VIDEO_FORMAT_NV12, 2 * W, H, 11, 10));
  ck_assert_uint_eq (gst_buffer_get_ccl_mask_meta (buffer)->flags, GST_CCL_MASK_META_FLAG_LEARNING);
  ck_assert_uint_eq (gst_buffer_get_ccl_mask_meta (buffer)->ref_width, 2 * W);
  gst_buffer_unref (buffer);
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* Without any timestamps everything still works. */
GST_START_TEST (test_no_timestamps)
{
  GstHarness *harness = motion_harness ("off-delay=200000000", GST_VIDEO_FORMAT_GRAY8, W, H);
  GstBus *bus = watch_bus (harness);

  for (guint n = 0; n < 30; n++) {
    GstBuffer *buffer = scene (GST_VIDEO_FORMAT_GRAY8, W, H, n, n >= 10 && n < 15 ? 10 : G_MAXUINT);
    GST_BUFFER_PTS (buffer) = GST_CLOCK_TIME_NONE;
    gst_buffer_unref (gst_harness_push_and_pull (harness, buffer));
  }
  gst_structure_free (pop_state (bus, "begin"));
  gst_structure_free (pop_state (bus, "end"));
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* ---------------------------------------------------------------- properties */

GST_START_TEST (test_ignore)
{
  GstHarness *harness = motion_harness ("", GST_VIDEO_FORMAT_GRAY8, W, H);
  GstBus *bus = watch_bus (harness);
  gchar *value;

  push_background (harness, 10);
  fail_unless (push_for_count (harness, 10, 10) > 200);
  set_motion (harness, "ignore", "0,0;1,0;1,0.7;0,0.7");
  fail_unless_equals_uint64 (push_for_count (harness, 11, 10), 0);
  set_motion (harness, "ignore", "0,40; 80,40; 80,60; 0,60 | 70,0;80,0;80,10"); /* pixels; the square is above */
  fail_unless (push_for_count (harness, 12, 10) > 200);
  assert_no_message (bus, GST_MESSAGE_WARNING);

  static const gchar *const wrong[] = {
    "0,0;1", "1,2;3,4", "a,b;c,d;e,f", "0,0;1,1;2,2;", "0,0;1,1;nan,2", "0,0,1,1,2,2"
  };
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_object_set (find_element (harness, "motion"), "ignore", wrong[i], NULL);
    if (i != 3)                 /* a ; at the end is no harm */
      assert_message (bus, GST_MESSAGE_WARNING, "is no list of polygons");
  }
  assert_no_message (bus, GST_MESSAGE_WARNING);
  g_object_get (find_element (harness, "motion"), "ignore", &value, NULL);
  ck_assert_str_eq (value, "0,0;1,1;2,2;");
  g_free (value);
  g_object_set (find_element (harness, "motion"), "ignore", NULL, NULL);
  fail_unless (push_for_count (harness, 13, 10) > 200);

  /* A pipeline has no bus yet when its properties are set: it hears of it at the start. */
  fail_unless (gst_element_set_state (harness->element, GST_STATE_NULL) == GST_STATE_CHANGE_SUCCESS);
  g_object_set (find_element (harness, "motion"), "ignore", "abc", NULL);
  assert_no_message (bus, GST_MESSAGE_WARNING);
  fail_unless (gst_element_set_state (harness->element, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE);
  assert_message (bus, GST_MESSAGE_WARNING, "is no list of polygons");
  assert_no_message (bus, GST_MESSAGE_WARNING);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* Everything may change while playing; what was learnt stays where it can. */
GST_START_TEST (test_changes_while_playing)
{
  static const struct
  {
    const gchar *name, *value;
    gboolean keeps;
  } changes[] = {
    {"threshold", "40", TRUE}, {"threshold", "0", TRUE}, {"learning-rate", "0.02", TRUE}, {"shadow", "keep", TRUE},
    {"median", "1", TRUE}, {"open", "1", TRUE}, {"close", "3", TRUE}, {"dilate", "2", TRUE},
    {"confirm-frames", "1", TRUE},
    {"freeze-on-motion", "true", TRUE}, {"max-motion", "0.9", TRUE}, {"min-motion", "0.1", TRUE},
    {"post-messages", "none", TRUE}, {"off-delay", "0", TRUE}, {"work-height", "30", FALSE}, {"method", "ema", FALSE},
    {"method", "diff", FALSE}, {"method", "mog2", FALSE}, {"threads", "2", FALSE}, {"work-height", "0", FALSE},
  };
  GstHarness *harness = motion_harness ("", GST_VIDEO_FORMAT_GRAY8, W, H);
  guint n = 0;

  for (; n < 10; n++)
    push_for_count (harness, n, G_MAXUINT);
  for (guint i = 0; i < G_N_ELEMENTS (changes); i++) {
    set_motion (harness, changes[i].name, changes[i].value);
    ck_assert_uint_eq (push_for_flags (harness, n++, G_MAXUINT),
        changes[i].keeps ? 0 : GST_CCL_MASK_META_FLAG_LEARNING);
    for (guint j = 0; j < 6; j++)
      push_for_count (harness, n++, G_MAXUINT);
    fail_unless (push_for_count (harness, n, n) > 50, "%s=%s: nothing moves", changes[i].name, changes[i].value);
    n++;
    for (guint j = 0; j < 3; j++)
      push_for_count (harness, n++, G_MAXUINT);
  }
  gst_harness_teardown (harness);
}

GST_END_TEST;

GST_START_TEST (test_stats)
{
  GstHarness *harness = motion_harness ("", GST_VIDEO_FORMAT_GRAY8, W, H);
  GstStructure *stats = NULL;
  gdouble us = -1;

  for (guint n = 0; n < 12; n++)
    push_for_count (harness, n, 10);
  g_object_get (find_element (harness, "motion"), "stats", &stats, NULL);
  fail_unless_equals_uint64 (field (stats, "frames"), 12);
  fail_unless_equals_uint64 (field (stats, "learning"), 5);
  fail_unless_equals_uint64 (field (stats, "with-motion"), 2);
  fail_unless_equals_uint64 (field (stats, "global-changes"), 0);
  fail_unless (field (stats, "host-bytes") > W * H * 6);
  ck_assert_str_eq (gst_structure_get_string (stats, "backend"), "cpu");
  ck_assert_str_eq (gst_structure_get_string (stats, "path"), "system");
  fail_unless (gst_structure_get_double (stats, "detect-us-avg", &us) && us > 0);
  gst_structure_free (stats);
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* ---------------------------------------------------------------- frames held back */

static GstHarness *
harness_of_depth (guint backend, guint depth)
{
  gchar *settings = g_strdup_printf ("async-depth=%u", depth);
  GstHarness *harness = motion_harness (settings, GST_VIDEO_FORMAT_GRAY8, W, H);

  set_motion (harness, "backend", backends[backend]);
  g_free (settings);
  return harness;
}

static GstBuffer *
changed_scene (guint n)
{
  GstBuffer *buffer = scene (GST_VIDEO_FORMAT_GRAY8, W, H, n, 10);

  gst_buffer_memset (buffer, 0, 200 + n % 7, W * H);
  return buffer;
}

/* Takes what has come out, and says what it is. */
static void
describe_output (GstHarness * harness, GString * log)
{
  GstBuffer *buffer;

  while ((buffer = gst_harness_try_pull (harness))) {
    GstCclMaskMeta *meta = gst_buffer_get_ccl_mask_meta (buffer);
    GstBuffer *mask = meta ? meta->mask : buffer;
    gchar *sum;
    GstMapInfo map;

    fail_unless (gst_buffer_map (mask, &map, GST_MAP_READ));
    sum = g_compute_checksum_for_data (G_CHECKSUM_MD5, map.data, map.size);
    gst_buffer_unmap (mask, &map);
    g_string_append_printf (log, "%" G_GUINT64_FORMAT " %s", GST_BUFFER_PTS (buffer) / FRAME, sum);
    if (meta)
      g_string_append_printf (log, " flags %x foreground %" G_GUINT64_FORMAT, meta->flags, meta->n_foreground);
    g_string_append_c (log, '\n');
    g_free (sum);
    gst_buffer_unref (buffer);
  }
}

static void
describe_messages (GstBus * bus, GString * log)
{
  GstMessage *message;

  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT))) {
    gchar *text = gst_structure_to_string (gst_message_get_structure (message));
    g_string_append_printf (log, "%s\n", text);
    g_free (text);
    gst_message_unref (message);
  }
}

/* All that leaves of a clip in which everything happens. changing: other depths on the way. */
static gchar *
describe_clip (guint backend, guint depth, gboolean changing)
{
  GstHarness *harness = harness_of_depth (backend, depth);
  GstBus *bus = watch_bus (harness);
  GString *log = g_string_new (NULL);

  for (guint n = 0; n < 60; n++) {
    GstBuffer *buffer = n == 12 || n == 13 || n == 16 || n == 40 ? changed_scene (n)
        : scene (GST_VIDEO_FORMAT_GRAY8, W, H, n, 8);

    if (n == 20)
      set_motion (harness, "confirm-frames", "2");
    if (n == 23)
      set_motion (harness, "ignore", "0,0;0.4,0;0.4,1;0,1");
    if (n == 26)
      set_motion (harness, "ignore", "");
    if (n == 28)
      set_motion (harness, "work-height", "30");
    if (n == 36)
      gst_harness_push_event (harness, gst_event_new_gap (n * FRAME, FRAME));
    if (n == 38 || n == 44)
      set_motion (harness, "output", n == 38 ? "mask" : "passthrough");
    if (n == 46) {
      GST_BUFFER_PTS (buffer) += 10 * GST_SECOND;
      GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
    }
    if (n == 54)
      gst_harness_push_event (harness, segment_from (0));
    if (changing && n % 3 == 0) {
      gchar *value = g_strdup_printf ("%u", n / 3 * 5 % 4);
      set_motion (harness, "async-depth", value);
      g_free (value);
    }
    ck_assert_int_eq (gst_harness_push (harness, buffer), GST_FLOW_OK);
    describe_output (harness, log);
  }
  gst_harness_push_event (harness, gst_event_new_eos ());
  describe_output (harness, log);
  describe_messages (bus, log);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
  return g_string_free (log, FALSE);
}

static void
assert_same_lines (const gchar * is, const gchar * expected)
{
  gchar **const a = g_strsplit (is, "\n", -1), **const b = g_strsplit (expected, "\n", -1);

  for (guint i = 0; a[i] && b[i]; i++)
    fail_unless (strcmp (a[i], b[i]) == 0, "line %u is \"%s\", not \"%s\"", i, a[i], b[i]);
  ck_assert_uint_eq (g_strv_length (a), g_strv_length (b));
  g_strfreev (a);
  g_strfreev (b);
}

GST_START_TEST (test_async_is_the_same)
{
  gchar *expected, *is;

  NEED_BACKEND (__i__);
  expected = describe_clip (0, 0, FALSE);
  fail_unless (strstr (expected, "flags 2") != NULL, "no global change");
  fail_unless (strstr (expected, "state=(string)end") != NULL, "no messages");
  for (guint depth = 0; depth <= 4; depth++) {
    is = describe_clip (__i__, depth % 4, depth == 4);
    assert_same_lines (is, expected);
    g_free (is);
  }
  g_free (expected);
}

GST_END_TEST;

GST_START_TEST (test_async_latency)
{
  NEED_BACKEND (__i__);
  for (guint depth = 0; depth <= 3; depth++) {
    GstHarness *harness = harness_of_depth (__i__, depth);
    GstBus *bus = watch_bus (harness);
    GstMessage *message;

    for (guint n = 0; n < 8; n++) {
      ck_assert_int_eq (gst_harness_push (harness, scene (GST_VIDEO_FORMAT_GRAY8, W, H, n, 8)), GST_FLOW_OK);
      ck_assert_uint_eq (gst_harness_buffers_received (harness), n + 1 > depth ? n + 1 - depth : 0);
    }
    fail_unless_equals_uint64 (harness_latency (harness), depth * FRAME);
    while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_LATENCY)))
      gst_message_unref (message);
    set_motion (harness, "async-depth", depth ? "0" : "2");
    gst_harness_push (harness, scene (GST_VIDEO_FORMAT_GRAY8, W, H, 8, 8));
    message = gst_bus_pop_filtered (bus, GST_MESSAGE_LATENCY);
    fail_unless (message != NULL, "latency changed, nobody was told");
    gst_message_unref (message);
    fail_unless_equals_uint64 (harness_latency (harness), (depth ? 0 : 2) * FRAME);
    drop_bus (harness, bus);
    gst_harness_teardown (harness);
  }
}

GST_END_TEST;

/* A pool of so many buffers and no more would leave upstream without one, for ever. */
GST_START_TEST (test_more_frames_held_back_wait_for_room)
{
  NEED_BACKEND (__i__);

  GstHarness *harness = harness_of_depth (__i__, 1);
  guint n = 0;

  limit_pool (harness->sinkpad, 0);
  ck_assert_uint_eq (ask_for_buffers (harness), 3);
  n_reconfigures (harness);
  set_motion (harness, "async-depth", "3");
  for (; n < 3; n++)
    gst_harness_push (harness, scene (GST_VIDEO_FORMAT_GRAY8, W, H, n, 8));
  ck_assert_uint_eq (gst_harness_buffers_received (harness), n - 1);
  ck_assert_uint_eq (n_reconfigures (harness), 1);
  ck_assert_uint_eq (ask_for_buffers (harness), 5);
  ck_assert_uint_eq (gst_harness_buffers_received (harness), n);
  for (; n < 10; n++)
    gst_harness_push (harness, scene (GST_VIDEO_FORMAT_GRAY8, W, H, n, 8));
  ck_assert_uint_eq (gst_harness_buffers_received (harness), n - 3);
  ck_assert_uint_eq (n_reconfigures (harness), 0);
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* The mark of a gap is on the frame after the one that qos dropped, not on an older one. */
GST_START_TEST (test_discont_after_frames_dropped)
{
  NEED_BACKEND (__i__);

  GstHarness *harness = harness_of_depth (__i__, 2);
  GstBuffer *buffer;

  set_motion (harness, "qos", "true");
  for (guint n = 0; n < 8; n++) {
    /* What is due before 180 ms is late: frame 4. */
    if (n == 4)
      gst_harness_push_upstream_event (harness,
          gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 2.0, 10 * GST_MSECOND, 160 * GST_MSECOND));
    ck_assert_int_eq (gst_harness_push (harness, scene (GST_VIDEO_FORMAT_GRAY8, W, H, n, 8)), GST_FLOW_OK);
  }
  gst_harness_push_event (harness, gst_event_new_eos ());
  ck_assert_uint_eq (gst_harness_buffers_received (harness), 7);
  while ((buffer = gst_harness_try_pull (harness))) {
    const guint n = GST_BUFFER_PTS (buffer) / FRAME;

    fail_unless (GST_BUFFER_IS_DISCONT (buffer) == (n == 5), "frame %u", n);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* Caps that come with another output are for that one: downstream would not take the one before. */
GST_START_TEST (test_output_changes_with_the_caps)
{
  GstHarness *harness = motion_harness ("", GST_VIDEO_FORMAT_GRAY8, W, H);
  gchar *caps = caps_string (GST_VIDEO_FORMAT_I420, W, H);

  gst_harness_set_sink_caps_str (harness, "video/x-raw,format=GRAY8");
  gst_buffer_unref (gst_harness_push_and_pull (harness, scene (GST_VIDEO_FORMAT_GRAY8, W, H, 0, 8)));
  set_motion (harness, "output", "mask");
  gst_harness_set_src_caps_str (harness, caps);
  ck_assert_int_eq (gst_harness_push (harness, scene (GST_VIDEO_FORMAT_I420, W, H, 1, 8)), GST_FLOW_OK);
  gst_harness_teardown (harness);
  g_free (caps);
}

GST_END_TEST;

/* In place, downstream has a say in upstream's buffers. */
GST_START_TEST (test_output_change_reaches_upstream)
{
  GstHarness *harness = motion_harness ("output=mask", GST_VIDEO_FORMAT_GRAY8, W, H);

  gst_buffer_unref (gst_harness_push_and_pull (harness, scene (GST_VIDEO_FORMAT_GRAY8, W, H, 0, 8)));
  n_reconfigures (harness);
  set_motion (harness, "output", "passthrough");
  gst_buffer_unref (gst_harness_push_and_pull (harness, scene (GST_VIDEO_FORMAT_GRAY8, W, H, 1, 8)));
  fail_unless (n_reconfigures (harness) > 0);
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* Nothing may overtake a frame: each of these comes out after the frames that went in before it. */
GST_START_TEST (test_events_wait_for_frames)
{
  NEED_BACKEND (__i__);
  for (guint kind = 0; kind < 6; kind++) {
    GstHarness *harness = harness_of_depth (__i__, 3);
    GstBuffer *buffer = scene (GST_VIDEO_FORMAT_GRAY8, W, H, 2, 8);
    gchar *caps = caps_string (GST_VIDEO_FORMAT_GRAY8, 2 * W, H);
    GstQuery *query = gst_query_new_drain ();

    for (guint n = 0; n < 2; n++)
      gst_harness_push (harness, scene (GST_VIDEO_FORMAT_GRAY8, W, H, n, 8));
    ck_assert_uint_eq (gst_harness_buffers_received (harness), 0);
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
    switch (kind) {
      case 0:
        gst_harness_set_src_caps_str (harness, caps);
        break;
      case 1:
        gst_harness_push_event (harness, segment_from (GST_SECOND));
        break;
      case 2:
        gst_harness_push_event (harness, gst_event_new_gap (0, GST_SECOND));
        break;
      case 3:
        gst_harness_push_event (harness, gst_event_new_eos ());
        break;
      case 4:
        gst_harness_push (harness, gst_buffer_ref (buffer));
        break;
      case 5:
        gst_pad_peer_query (harness->srcpad, query);
        break;
    }
    ck_assert_msg (gst_harness_buffers_received (harness) == 2, "kind %u: %u frames came out, not 2", kind,
        gst_harness_buffers_received (harness));
    gst_query_unref (query);
    gst_buffer_unref (buffer);
    gst_harness_teardown (harness);
    g_free (caps);
  }
}

GST_END_TEST;

/* Frames in flight are dropped by a flush, after which learning begins, and given back at the end. */
GST_START_TEST (test_frames_in_flight_go)
{
  NEED_BACKEND (__i__);
  for (guint depth = 1; depth <= 3; depth++) {
    GstHarness *harness = harness_of_depth (__i__, depth);
    GstBuffer *buffer, *held = scene (GST_VIDEO_FORMAT_GRAY8, W, H, 30, 8);

    for (guint n = 0; n < 10; n++)
      gst_harness_push (harness, scene (GST_VIDEO_FORMAT_GRAY8, W, H, n, 8));
    ck_assert_uint_eq (gst_harness_buffers_received (harness), 10 - depth);
    while ((buffer = gst_harness_try_pull (harness)))
      gst_buffer_unref (buffer);
    gst_harness_push_event (harness, gst_event_new_flush_start ());
    gst_harness_push_event (harness, gst_event_new_flush_stop (TRUE));
    gst_harness_push_event (harness, segment_from (0));
    for (guint n = 0; n <= depth; n++)
      gst_harness_push (harness, scene (GST_VIDEO_FORMAT_GRAY8, W, H, 20 + n, 8));
    buffer = gst_harness_try_pull (harness);
    fail_unless (buffer != NULL);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), 20 * FRAME);
    ck_assert_uint_eq (gst_buffer_get_ccl_mask_meta (buffer)->flags, GST_CCL_MASK_META_FLAG_LEARNING);
    gst_buffer_unref (buffer);

    gst_harness_push (harness, gst_buffer_ref (held));
    gst_element_set_state (harness->element, GST_STATE_NULL);
    ASSERT_BUFFER_REFCOUNT (held, "held", 1);
    gst_buffer_unref (held);
    gst_harness_teardown (harness);
  }
}

GST_END_TEST;

/* ---------------------------------------------------------------- what goes wrong */

GST_START_TEST (test_buffer_too_small)
{
  GstHarness *harness = motion_harness ("", GST_VIDEO_FORMAT_GRAY8, W, H);
  GstBus *bus = watch_bus (harness);

  ck_assert_int_eq (gst_harness_push (harness, gst_buffer_new_allocate (NULL, W * H - 1, NULL)), GST_FLOW_ERROR);
  assert_message (bus, GST_MESSAGE_ERROR, "smaller than its caps say");
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
}

GST_END_TEST;

GST_START_TEST (test_no_gpu)
{
  SKIP_TEST_UNLESS (!have_backend ("cuda"), "there is a GPU");

  GstElement *element = gst_element_factory_make ("cclmotion", NULL);
  GstBus *bus = gst_bus_new ();
  GError *error = NULL;
  GstMessage *message;

  gst_element_set_bus (element, bus);
  gst_util_set_object_arg (G_OBJECT (element), "backend", "cuda");
  ck_assert_int_eq (gst_element_set_state (element, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (strstr (error->message, "No GPU to detect motion on") != NULL, "%s", error->message);
  g_error_free (error);
  gst_message_unref (message);
  gst_element_set_state (element, GST_STATE_NULL);
  /* A start that failed leaves nothing behind: it is as before the first, where nobody hears a warning yet. */
  gst_util_set_object_arg (G_OBJECT (element), "backend", "auto");
  g_object_set (element, "ignore", "rubbish", NULL);
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING) == NULL);
  ck_assert_int_ne (gst_element_set_state (element, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  assert_message (bus, GST_MESSAGE_WARNING, "rubbish");
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  gst_object_unref (bus);
  gst_object_unref (element);
}

GST_END_TEST;

/* backend=auto goes on without the device that was asked for, but says so: once. */
GST_START_TEST (test_auto_without_the_device_asked_for)
{
  GstHarness *harness = motion_harness ("backend=auto cuda-device-id=99", GST_VIDEO_FORMAT_GRAY8, W, H);
  GstBus *bus;

  gst_element_set_state (harness->element, GST_STATE_NULL);
  bus = watch_bus (harness);
  gst_harness_play (harness);
  for (guint n = 0; n < 3; n++)
    gst_buffer_unref (push_scene (harness, n, 8));
  assert_message (bus, GST_MESSAGE_WARNING, "Continuing on the CPU");
  assert_no_message (bus, GST_MESSAGE_WARNING);
  assert_no_message (bus, GST_MESSAGE_ERROR);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* With a GPU: the same masks, which stay there until somebody looks. */
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

#ifdef CCL_EMULATED
/* ---------------------------------------------------------------- a device that is lost */

/* Frames come out with their masks whatever happens; after the device was lost learning begins. FALSE: the device was
 * not asked that often. */
static gboolean
check_lost_at (guint call, guint depth)
{
  GstHarness *harness = harness_of_depth (1, depth);
  GstBus *bus = watch_bus (harness);
  guint learning = 0;
  gboolean lost;

  set_motion (harness, "backend", "auto");
  for (guint n = 0; n < 10; n++) {
    if (n == 1)
      emulate_fail (NULL, call, ERROR_LAUNCH_FAILURE, true);
    ck_assert_int_eq (gst_harness_push (harness, scene (GST_VIDEO_FORMAT_GRAY8, W, H, n, 8)), GST_FLOW_OK);
  }
  gst_harness_push_event (harness, gst_event_new_eos ());
  lost = emulate_calls () >= call;
  for (guint n = 0; n < 10; n++) {
    GstBuffer *buffer = gst_harness_try_pull (harness);

    fail_unless (buffer != NULL, "call %u: frame %u was lost", call, n);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), n * FRAME);
    fail_unless (gst_buffer_get_ccl_mask_meta (buffer) != NULL);
    learning += (gst_buffer_get_ccl_mask_meta (buffer)->flags & GST_CCL_MASK_META_FLAG_LEARNING) != 0;
    gst_buffer_unref (buffer);
  }
  fail_unless (learning >= 5);
  if (lost)
    assert_message (bus, GST_MESSAGE_WARNING, "Continuing on the CPU");
  assert_no_message (bus, GST_MESSAGE_ERROR);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
  find_device_again ();
  return lost;
}

GST_START_TEST (test_lost_device)
{
  guint call = 1, held;

  check_lost_at (1, __i__);
  held = emulate_held ();
  for (; check_lost_at (call, __i__); call += 3)
    ck_assert_uint_eq (emulate_held (), held);
  fail_unless (call > 60, "only %u calls", call);
}

GST_END_TEST;
#endif

static Suite *
cclmotion_suite (void)
{
  Suite *suite = suite_create ("cclmotion");
  TCase *cases = tcase_create ("all");

  suite_add_tcase (suite, cases);
  tcase_set_timeout (cases, 60);
  tcase_add_loop_test (cases, test_masks_are_the_cores, 0, G_N_ELEMENTS (formats));
  tcase_add_test (cases, test_blobs_of_a_smaller_mask);
  tcase_add_test (cases, test_output_mask);
  tcase_add_test (cases, test_meta_follows_the_frame);
  tcase_add_test (cases, test_meta_needs_a_layout);
  tcase_add_loop_test (cases, test_label_takes_the_mask_beside_the_frame, 0, 2);
  tcase_add_test (cases, test_label_takes_the_frame_if_told);
  tcase_add_test (cases, test_label_without_a_mask);
  tcase_add_test (cases, test_label_draws_a_smaller_mask);
#if defined HAVE_GST_ANALYTICS && GST_CHECK_VERSION (1, 26, 0)
  tcase_add_test (cases, test_label_takes_a_segmentation);
  tcase_add_loop_test (cases, test_label_chooses_segmentations, 0, G_N_ELEMENTS (choices));
  tcase_add_test (cases, test_label_refuses_a_short_segmentation);
#endif
  tcase_add_test (cases, test_messages);
  tcase_add_test (cases, test_global_change);
  tcase_add_test (cases, test_what_starts_learning_again);
  tcase_add_test (cases, test_caps_change);
  tcase_add_test (cases, test_no_timestamps);
  tcase_add_test (cases, test_ignore);
  tcase_add_test (cases, test_changes_while_playing);
  tcase_add_test (cases, test_stats);
  tcase_add_loop_test (cases, test_async_is_the_same, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (cases, test_async_latency, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (cases, test_more_frames_held_back_wait_for_room, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (cases, test_discont_after_frames_dropped, 0, G_N_ELEMENTS (backends));
  tcase_add_test (cases, test_output_changes_with_the_caps);
  tcase_add_test (cases, test_output_change_reaches_upstream);
  tcase_add_loop_test (cases, test_events_wait_for_frames, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (cases, test_frames_in_flight_go, 0, G_N_ELEMENTS (backends));
  tcase_add_test (cases, test_buffer_too_small);
  tcase_add_test (cases, test_no_gpu);
  tcase_add_test (cases, test_auto_without_the_device_asked_for);
  tcase_add_test (cases, test_cuda_masks);
#ifdef CCL_EMULATED
  tcase_add_loop_test (cases, test_lost_device, 0, 4);
#endif
  return suite;
}

TEST_MAIN (cclmotion, "cclmotion");
