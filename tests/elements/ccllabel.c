/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* ccllabel: masks in, blobs out. Every test runs on each backend that is there. */
#include "ccllabel.h"

#include <dirent.h>
#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>
#include <malloc.h>
#include <stdio.h>
#include <unistd.h>

static const GstVideoFormat formats[] = {
  GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_GRAY16_LE, GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_NV21,
  GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_YV12, GST_VIDEO_FORMAT_Y42B, GST_VIDEO_FORMAT_Y444,
};

/* Shapes that 4- and 8-connectivity tell apart, with borders touched and not. */
static Mask
example_mask (void)
{
  return MASK ( /**/ ".##......", "...#..##.", "#.....##.", "........#");
}

/* ---------------------------------------------------------------- blobs */

GST_START_TEST (test_example)
{
  NEED_BACKEND (__i__);

  GstHarness *harness;
  GstBuffer *buffer;
  GstCclBlobMeta *meta;
  const GstCclBlob *blob;
  Mask mask = example_mask ();
  gdouble x, y;

  harness = label_harness (__i__, "connectivity=8");
  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  fail_unless_equals_int (push_mask (harness, &mask, 0), GST_FLOW_OK);
  buffer = gst_harness_pull (harness);
  meta = gst_buffer_get_ccl_blob_meta (buffer);
  fail_unless (meta != NULL);
  fail_unless_equals_int (gst_ccl_blob_meta_get_length (meta), 3);
  fail_unless_equals_string (gst_ccl_blob_meta_get_source (meta), "label");
  fail_unless (gst_ccl_blob_meta_is_identity (meta));

  blob = gst_ccl_blob_meta_get_blob (meta, 0);
  fail_unless_equals_int (blob->label, 1);
  fail_unless_equals_uint64 (blob->area, 3);
  fail_unless_equals_int (blob->x, 1);
  fail_unless_equals_int (blob->y, 0);
  fail_unless_equals_int (blob->width, 3);
  fail_unless_equals_int (blob->height, 2);
  fail_unless_equals_int (blob->first_x, 1);
  fail_unless_equals_int (blob->flags, GST_CCL_BLOB_FLAG_TOUCHES_TOP);
  gst_ccl_blob_meta_get_centroid (meta, 0, &x, &y);
  fail_unless_equals_float (x, 2.0);
  fail_unless_equals_float (y, 1.0 / 3);
  blob = gst_ccl_blob_meta_get_blob (meta, 1);
  fail_unless_equals_uint64 (blob->area, 5);
  fail_unless_equals_int (blob->flags, GST_CCL_BLOB_FLAG_TOUCHES_RIGHT | GST_CCL_BLOB_FLAG_TOUCHES_BOTTOM);
  blob = gst_ccl_blob_meta_get_blob (meta, 2);
  fail_unless_equals_int (blob->flags, GST_CCL_BLOB_FLAG_TOUCHES_LEFT);

  gst_buffer_unref (buffer);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

static void
check_format (guint backend, GstVideoFormat format, guint width, guint height)
{
  GstHarness *harness = label_harness (backend, "connectivity=8 max-components=1000000");
  Mask mask = mask_random (width, height, width * 131 + height, 0.4);
  GstBuffer *buffer;

  set_mask_caps (harness, format, &mask);
  buffer = gst_harness_push_and_pull (harness, buffer_from_mask (format, &mask));
  fail_unless (buffer != NULL);
  assert_blobs (buffer, &mask, 8);
  gst_buffer_unref (buffer);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_START_TEST (test_formats)
{
  NEED_BACKEND (__i__);

  static const guint sizes[][2] = { {1, 1}, {1, 33}, {65, 1}, {7, 5}, {64, 48}, {127, 31}, {320, 241} };

  for (guint f = 0; f < G_N_ELEMENTS (formats); f++)
    for (guint s = 0; s < G_N_ELEMENTS (sizes); s++)
      check_format (__i__, formats[f], sizes[s][0], sizes[s][1]);
}

GST_END_TEST;

/* A frame inside a larger one: rows further apart than they are wide, first pixel not at the start, foreground all
 * around. Only the video meta knows. */
GST_START_TEST (test_window_by_video_meta)
{
  NEED_BACKEND (__i__);

  const guint left = 5, top = 3, right = 9, bottom = 2;

  for (guint f = 0; f < 2 * G_N_ELEMENTS (formats); f++) {
    const GstVideoFormat format = formats[f / 2];
    const gboolean deep = format == GST_VIDEO_FORMAT_GRAY16_LE;
    const guint on = deep ? 256 : 255, pixel_size = deep ? 2 : 1;
    GstHarness *harness = label_harness (__i__, f % 2 ? "connectivity=4" : "connectivity=4 output=mask");
    Mask mask = mask_random (53, 37, 7, 0.5);
    const gsize stride = (left + mask.width + right) * pixel_size;
    const gsize size = stride * (top + mask.height + bottom);
    gsize offsets[GST_VIDEO_MAX_PLANES] = { top * stride + left * pixel_size, size, 2 * size };
    gint strides[GST_VIDEO_MAX_PLANES] = { stride, stride, stride };
    const GstVideoFormatInfo *info = gst_video_format_get_info (format);
    GstBuffer *buffer = gst_buffer_new_allocate (NULL, 3 * size, NULL);
    GstMapInfo map;

    gst_buffer_memset (buffer, 0, 255, 3 * size);
    gst_buffer_map (buffer, &map, GST_MAP_WRITE);
    draw_mask (map.data + offsets[0], stride, pixel_size, &mask, on, 0);
    gst_buffer_unmap (buffer, &map);
    gst_buffer_add_video_meta_full (buffer, 0, format, mask.width, mask.height, info->n_planes, offsets, strides);

    set_mask_caps (harness, format, &mask);
    buffer = gst_harness_push_and_pull (harness, buffer);
    fail_unless (buffer != NULL);
    assert_blobs (buffer, &mask, 4);
    gst_buffer_unref (buffer);
    gst_harness_teardown (harness);
    mask_free (&mask);
  }
}

GST_END_TEST;

/* Planes in memories of their own: the luma alone is mapped, and the buffer leaves with the same memories. */
GST_START_TEST (test_plane_per_memory)
{
  NEED_BACKEND (__i__);

  GstHarness *harness;
  Mask mask = mask_random (64, 48, 1, 0.3);
  GstBuffer *whole = buffer_from_mask (GST_VIDEO_FORMAT_I420, &mask), *buffer = gst_buffer_new (), *out;
  GstMemory *memories[3];
  const gsize sizes[] = { 64 * 48, 32 * 24, 32 * 24 };
  gsize offset = 0;

  for (guint i = 0; i < 3; offset += sizes[i++]) {
    memories[i] = gst_allocator_alloc (NULL, sizes[i], NULL);
    GstMapInfo map;
    gst_memory_map (memories[i], &map, GST_MAP_WRITE);
    gst_buffer_extract (whole, offset, map.data, sizes[i]);
    gst_memory_unmap (memories[i], &map);
    gst_buffer_append_memory (buffer, memories[i]);
  }
  gst_buffer_unref (whole);
  harness = label_harness (__i__, "");
  set_mask_caps (harness, GST_VIDEO_FORMAT_I420, &mask);
  out = gst_harness_push_and_pull (harness, buffer);
  fail_unless (out != NULL);
  assert_blobs (out, &mask, 8);
  fail_unless_equals_int (gst_buffer_n_memory (out), 3);
  for (guint i = 0; i < 3; i++)
    fail_unless (gst_buffer_peek_memory (out, i) == memories[i]);
  gst_buffer_unref (out);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

/* Memories that end where they like, within the last row too. */
GST_START_TEST (test_memories_split_anywhere)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_random (16, 8, 3, 0.4);
  GstHarness *harness = label_harness (__i__, "");

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  for (guint at = 1; at < 16 * 8; at++) {
    GstBuffer *whole = buffer_from_mask (GST_VIDEO_FORMAT_GRAY8, &mask), *buffer;

    buffer = gst_buffer_copy_region (whole, GST_BUFFER_COPY_MEMORY, 0, at);
    buffer = gst_buffer_append (buffer, gst_buffer_copy_region (whole, GST_BUFFER_COPY_MEMORY, at, -1));
    gst_buffer_unref (whole);
    fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_OK);
    buffer = gst_harness_pull (harness);
    assert_blobs (buffer, &mask, 8);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

/* ---------------------------------------------------------------- foreground */

static void
check_threshold (guint backend, GstVideoFormat format, const gchar * settings, guint value, gboolean foreground)
{
  GstHarness *harness = label_harness (backend, settings);
  Mask mask = mask_new (4, 3);
  GstBuffer *buffer = buffer_from_values (format, &mask, value, value);

  set_mask_caps (harness, format, &mask);
  buffer = gst_harness_push_and_pull (harness, buffer);
  fail_unless (buffer != NULL);
  fail_unless (n_blobs (buffer) == (foreground ? 1 : 0), "%s %s: value %u is %s", gst_video_format_to_string (format),
      settings, value, foreground ? "background" : "foreground");
  gst_buffer_unref (buffer);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_START_TEST (test_thresholds)
{
  NEED_BACKEND (__i__);

  const GstVideoFormat gray = GST_VIDEO_FORMAT_GRAY8, deep = GST_VIDEO_FORMAT_GRAY16_LE, yuv = GST_VIDEO_FORMAT_NV12;

  check_threshold (__i__, gray, "", 0, FALSE);
  check_threshold (__i__, gray, "", 1, TRUE);
  check_threshold (__i__, deep, "", 256, TRUE);
  check_threshold (__i__, yuv, "", 16, FALSE);
  check_threshold (__i__, yuv, "", 127, FALSE);
  check_threshold (__i__, yuv, "", 128, TRUE);
  check_threshold (__i__, gray, "threshold=99", 99, FALSE);
  check_threshold (__i__, gray, "threshold=99", 100, TRUE);
  check_threshold (__i__, gray, "threshold=255", 255, FALSE);
  check_threshold (__i__, gray, "threshold=65535", 255, FALSE);
  check_threshold (__i__, deep, "threshold=1000", 1000, FALSE);
  check_threshold (__i__, deep, "threshold=1000", 1001, TRUE);
  check_threshold (__i__, yuv, "threshold=0", 16, TRUE);
  check_threshold (__i__, gray, "threshold=99 invert=true", 99, TRUE);
  check_threshold (__i__, gray, "threshold=99 invert=true", 100, FALSE);
  check_threshold (__i__, gray, "invert=true", 0, TRUE);
  check_threshold (__i__, yuv, "invert=true", 127, TRUE);
  check_threshold (__i__, yuv, "invert=true", 128, FALSE);
}

GST_END_TEST;

/* ---------------------------------------------------------------- filters */

static void
check_filter (guint backend, const gchar * settings, const CclFilter * filter)
{
  gchar *all = g_strdup_printf ("max-components=1000000 min-area=0 %s", settings);
  GstHarness *harness = label_harness (backend, all);
  Mask mask = mask_random (97, 61, 5, 0.35);
  GstBuffer *buffer;

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  buffer = gst_harness_push_and_pull (harness, buffer_from_mask (GST_VIDEO_FORMAT_GRAY8, &mask));
  fail_unless (buffer != NULL);
  fail_unless (n_blobs (buffer) > 0, "%s leaves nothing to test", settings);
  assert_blobs_filtered (buffer, &mask, 8, filter);
  gst_buffer_unref (buffer);
  gst_harness_teardown (harness);
  mask_free (&mask);
  g_free (all);
}

GST_START_TEST (test_filters)
{
  NEED_BACKEND (__i__);
  check_filter (__i__, "min-area=7", &(CclFilter) {
      .min_area = 7});
  check_filter (__i__, "max-area=7", &(CclFilter) {
      .max_area = 7});
  check_filter (__i__, "min-rel-area=0.001", &(CclFilter) {
      .min_relative_area = 0.001});
  check_filter (__i__, "max-rel-area=0.001", &(CclFilter) {
      .max_relative_area = 0.001});
  check_filter (__i__, "min-width=4", &(CclFilter) {
      .min_width = 4});
  check_filter (__i__, "max-width=4", &(CclFilter) {
      .max_width = 4});
  check_filter (__i__, "min-height=4", &(CclFilter) {
      .min_height = 4});
  check_filter (__i__, "max-height=4", &(CclFilter) {
      .max_height = 4});
  check_filter (__i__, "border=drop", &(CclFilter) {
      .border = CCL_BORDER_DROP});
  check_filter (__i__, "border=keep", &(CclFilter) {
      .border = CCL_BORDER_KEEP});
  check_filter (__i__, "border=flag min-area=2 max-area=50 min-width=2 max-height=9", &(CclFilter) {
      .border = CCL_BORDER_FLAG,.min_area = 2,.max_area = 50,.min_width = 2,.max_height = 9});
}

GST_END_TEST;

GST_START_TEST (test_sort)
{
  NEED_BACKEND (__i__);

  GstHarness *harness;
  GstBuffer *buffer;
  GstCclBlobMeta *meta;
  Mask mask = MASK ("#..###..##..###", ".............#.");
  static const guint labels[] = { 4, 2, 3 }, areas[] = { 4, 3, 2 };

  harness = label_harness (__i__, "sort=area-desc max-components=3");
  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  push_mask (harness, &mask, 0);
  buffer = gst_harness_pull (harness);
  meta = gst_buffer_get_ccl_blob_meta (buffer);
  fail_unless_equals_int (meta->n_kept, 4);
  fail_unless_equals_int (gst_ccl_blob_meta_get_length (meta), 3);
  for (guint i = 0; i < 3; i++) {
    fail_unless_equals_int (gst_ccl_blob_meta_get_blob (meta, i)->label, labels[i]);
    fail_unless_equals_uint64 (gst_ccl_blob_meta_get_blob (meta, i)->area, areas[i]);
  }
  gst_buffer_unref (buffer);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

/* Ten frames like this, and a warning: video's black is foreground to the threshold of masks. */
static void
push_black_video (GstHarness * harness, const Mask * black, guint n, guint value)
{
  for (guint i = 0; i < n; i++) {
    fail_unless_equals_int (gst_harness_push (harness, buffer_from_values (GST_VIDEO_FORMAT_GRAY8, black, 0, value)),
        GST_FLOW_OK);
    gst_buffer_unref (gst_harness_pull (harness));
  }
}

GST_START_TEST (test_frames_without_background_are_warned_of)
{
  NEED_BACKEND (__i__);

  GstHarness *harness = label_harness (__i__, "");
  GstBus *bus = watch_bus (harness);
  Mask black = mask_new (20, 10);

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &black);
  push_black_video (harness, &black, 9, 16);
  push_black_video (harness, &black, 1, 0);
  push_black_video (harness, &black, 9, 16);
  assert_no_message (bus, GST_MESSAGE_WARNING);
  push_black_video (harness, &black, 12, 16);
  assert_message (bus, GST_MESSAGE_WARNING, "Every pixel of the last 10 frames is foreground");
  assert_no_message (bus, GST_MESSAGE_WARNING);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);

  /* Whoever sets a threshold means it. */
  harness = label_harness (__i__, "threshold=0");
  bus = watch_bus (harness);
  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &black);
  push_black_video (harness, &black, 12, 16);
  assert_no_message (bus, GST_MESSAGE_WARNING);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
  mask_free (&black);
}

GST_END_TEST;

/* The noise of a difference, in which nothing has moved yet. */
GST_START_TEST (test_noise_below_the_threshold_is_not_warned_of)
{
  GstHarness *harness = label_harness (0, "threshold=25");
  GstBus *bus = watch_bus (harness);
  Mask noise = mask_new (20, 10);

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &noise);
  for (guint i = 0; i < 40; i++) {
    GstBuffer *const buffer = buffer_from_values (GST_VIDEO_FORMAT_GRAY8, &noise, 0, 0);
    GstMapInfo map;

    fail_unless (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
    for (gsize k = 0; k < map.size; k++)
      map.data[k] = k * 7 % 12;
    gst_buffer_unmap (buffer, &map);
    fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_OK);
    gst_buffer_unref (gst_harness_pull (harness));
  }
  assert_no_message (bus, GST_MESSAGE_WARNING);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
  mask_free (&noise);
}

GST_END_TEST;

/* Masks of 0 and 1 to a threshold for black and white; not video's black, nor masks that have had a blob. */
GST_START_TEST (test_masks_below_the_threshold_are_warned_of)
{
  static const struct
  {
    const gchar *properties;
    guint first, all;
    gboolean is_warned_of;
  } cases[] = {
    {"threshold=127", 1, 1, TRUE},
    {"threshold=127", 255, 1, FALSE},
    {"threshold=127", 16, 16, FALSE},
    {"threshold=127", 0, 0, FALSE},
    {"threshold=0", 1, 1, FALSE},
    {"threshold=127 invert=true", 1, 1, FALSE},
  };

  NEED_BACKEND (__i__);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstHarness *harness = label_harness (__i__, cases[i].properties);
    GstBus *bus = watch_bus (harness);
    Mask black = mask_new (20, 10);

    set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &black);
    push_black_video (harness, &black, 1, cases[i].first);
    push_black_video (harness, &black, 28, cases[i].all);
    assert_no_message (bus, GST_MESSAGE_WARNING);
    push_black_video (harness, &black, 10, cases[i].all);
    if (cases[i].is_warned_of)
      assert_message (bus, GST_MESSAGE_WARNING,
          "pixels are up to 1 in the last, and only those above the threshold, 127, count");
    assert_no_message (bus, GST_MESSAGE_WARNING);
    drop_bus (harness, bus);
    gst_harness_teardown (harness);
    mask_free (&black);
  }
}

GST_END_TEST;

GST_START_TEST (test_limits_that_leave_nothing_are_warned_of)
{
  GstHarness *harness = label_harness (0, "min-area=50 max-area=10 min-width=5 max-width=5 min-height=9");
  GstBus *bus = watch_bus (harness);

  gst_element_set_state (harness->element, GST_STATE_NULL);
  gst_element_set_state (harness->element, GST_STATE_PLAYING);
  assert_message (bus, GST_MESSAGE_WARNING, "min-area=50 is above max-area=10");
  assert_no_message (bus, GST_MESSAGE_WARNING);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
}

GST_END_TEST
GST_START_TEST (test_truncation_is_flagged_and_warned_of_once_per_caps)
{
  NEED_BACKEND (__i__);

  GstHarness *harness;
  GstBus *bus;
  Mask mask = mask_dots (20), other = mask_dots (21);

  harness = label_harness (__i__, "max-components=7");
  bus = watch_bus (harness);
  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  for (guint i = 0; i < 3; i++) {
    GstBuffer *buffer;
    GstCclBlobMeta *meta;

    fail_unless_equals_int (push_mask (harness, &mask, i), GST_FLOW_OK);
    buffer = gst_harness_pull (harness);
    meta = gst_buffer_get_ccl_blob_meta (buffer);
    fail_unless_equals_int (meta->flags, GST_CCL_BLOB_META_FLAG_TRUNCATED);
    fail_unless_equals_int (meta->n_kept, 20);
    fail_unless_equals_int (meta->n_total, 20);
    fail_unless_equals_int (gst_ccl_blob_meta_get_length (meta), 7);
    gst_buffer_unref (buffer);
  }
  assert_message (bus, GST_MESSAGE_WARNING, "20 blobs, the table holds 7");
  assert_no_message (bus, GST_MESSAGE_WARNING);

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &other);
  push_mask (harness, &other, 3);
  assert_message (bus, GST_MESSAGE_WARNING, "21 blobs");
  assert_no_message (bus, GST_MESSAGE_WARNING);
  fail_unless_equals_uint64 (stat_uint64 (harness, "truncated"), 4);

  set_label (harness, "max-components", "21");
  push_mask (harness, &other, 4);
  gst_buffer_unref (gst_harness_pull (harness));
  {
    GstBuffer *buffer = gst_harness_pull (harness);
    assert_blobs (buffer, &other, 8);
    gst_buffer_unref (buffer);
  }
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
  mask_free (&mask);
  mask_free (&other);
}

GST_END_TEST;

/* ---------------------------------------------------------------- attached metadata */

static guint
count_regions (GstBuffer * buffer, const gchar * type)
{
  GstVideoRegionOfInterestMeta *region;
  gpointer state = NULL;
  guint n = 0;

  while ((region = (GstVideoRegionOfInterestMeta *) gst_buffer_iterate_meta_filtered (buffer, &state,
              GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)))
    n += region->roi_type == g_quark_from_string (type);
  return n;
}

GST_START_TEST (test_attach)
{
  NEED_BACKEND (__i__);

  static const struct
  {
    const gchar *settings;
    guint blobs, regions;
  } cases[] = {
    {"", 5, 0},
    {"attach=blob+roi roi-type=thing", 5, 5},
    {"attach=roi roi-type=thing", 0, 5},
    {"attach=roi roi-type=thing max-mirror=2", 0, 2},
    {"attach=roi max-mirror=0", 0, 0},
    {"attach=analytics", 0, 0}, {"attach=blob+analytics", 5, 0},
    {"attach=0", 0, 0},
  };
  Mask mask = mask_dots (5);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstHarness *harness = label_harness (__i__, cases[i].settings);
    GstBuffer *buffer;
    GstCclBlobMeta *meta;

    set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
    push_mask (harness, &mask, 0);
    buffer = gst_harness_pull (harness);
    meta = gst_buffer_get_ccl_blob_meta (buffer);
    fail_unless_equals_int (meta ? gst_ccl_blob_meta_get_length (meta) : 0, cases[i].blobs);
    fail_unless_equals_int (meta != NULL, cases[i].blobs != 0);
    fail_unless_equals_int (count_regions (buffer, "thing"), cases[i].regions);
#ifdef HAVE_GST_ANALYTICS
    if (meta && strstr (cases[i].settings, "analytics"))
      for (guint b = 0; b < 5; b++)
        fail_unless (gst_ccl_blob_meta_get_blob (meta, b)->mtd_id != GST_CCL_MTD_ID_NONE);
#endif
    gst_buffer_unref (buffer);
    gst_harness_teardown (harness);
  }
  mask_free (&mask);
}

GST_END_TEST;

/* ---------------------------------------------------------------- the picture stays as it is */

GST_START_TEST (test_pixels_are_neither_changed_nor_copied)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_random (64, 48, 3, 0.4);

  for (guint shared = 0; shared < 2; shared++) {
    GstHarness *harness = label_harness (__i__, "");
    GstBuffer *in = buffer_from_mask (GST_VIDEO_FORMAT_NV12, &mask), *out;
    GstBuffer *before = gst_buffer_copy_deep (in);
    GstMemory *memory = gst_buffer_peek_memory (in, 0);
    GstMapInfo a, b;

    /* As behind a tee: somebody else holds the buffer too. */
    if (shared)
      gst_buffer_ref (in);
    set_mask_caps (harness, GST_VIDEO_FORMAT_NV12, &mask);
    out = gst_harness_push_and_pull (harness, in);
    fail_unless (out != NULL);
    fail_unless (gst_buffer_peek_memory (out, 0) == memory);
    fail_unless_equals_int (gst_buffer_n_memory (out), 1);
    fail_unless (shared ? out != in : out == in);
    assert_blobs (out, &mask, 8);
    if (shared) {
      fail_unless (gst_buffer_get_ccl_blob_meta (in) == NULL, "the other holder's buffer was changed");
      gst_buffer_unref (in);
    }
    gst_buffer_map (before, &a, GST_MAP_READ);
    gst_buffer_map (out, &b, GST_MAP_READ);
    fail_unless_equals_int (a.size, b.size);
    fail_unless (memcmp (a.data, b.data, a.size) == 0, "pixels changed");
    gst_buffer_unmap (before, &a);
    gst_buffer_unmap (out, &b);
    gst_buffer_unref (before);
    gst_buffer_unref (out);
    gst_harness_teardown (harness);
  }
  mask_free (&mask);
}

GST_END_TEST;

GST_START_TEST (test_same_masks_same_bytes)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_random (333, 222, 9, 0.5);
  GBytes *first = NULL;

  for (guint i = 0; i < 5; i++) {
    GstHarness *harness = label_harness (__i__, i % 2 ? "async-depth=2" : "");
    GstBuffer *buffer;
    GBytes *bytes;

    set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
    push_mask (harness, &mask, 0);
    gst_harness_push_event (harness, gst_event_new_eos ());
    buffer = gst_harness_pull (harness);
    bytes = gst_ccl_blob_meta_to_bytes (gst_buffer_get_ccl_blob_meta (buffer));
    if (first)
      fail_unless (g_bytes_equal (first, bytes), "run %u differs", i);
    else
      first = g_bytes_ref (bytes);
    g_bytes_unref (bytes);
    gst_buffer_unref (buffer);
    gst_harness_teardown (harness);
  }
  g_bytes_unref (first);
  mask_free (&mask);
}

GST_END_TEST;

/* ---------------------------------------------------------------- changes while playing */

static void
check_pulled (GstHarness * harness, const Mask * mask, guint connectivity, guint n)
{
  GstBuffer *buffer = gst_harness_try_pull (harness);

  fail_unless (buffer != NULL, "frame %u did not come out", n);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), n * 40 * GST_MSECOND);
  assert_blobs (buffer, mask, connectivity);
  gst_buffer_unref (buffer);
}

/* A change is for the frames after it; those in flight leave as they were asked for. */
GST_START_TEST (test_connectivity_and_algorithm_change_while_playing)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_random (80, 60, 11, 0.4);

  for (guint depth = 0; depth <= 3; depth++) {
    gchar *settings = g_strdup_printf ("async-depth=%u connectivity=8", depth);
    GstHarness *harness = label_harness (__i__, settings);
    guint pushed = 0, connectivity = 8;

    set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
    for (guint i = 0; i < 3; i++)
      fail_unless_equals_int (push_mask (harness, &mask, pushed++), GST_FLOW_OK);
    set_label (harness, "connectivity", "4");
    for (guint i = 0; i < 3; i++)
      fail_unless_equals_int (push_mask (harness, &mask, pushed++), GST_FLOW_OK);
    for (guint i = 0; ccl_algorithm (i); i++) {
      const CclAlgorithmInfo *info = ccl_algorithm (i);

      if (info->volume || info->backend != (__i__ ? CCL_BACKEND_CUDA : CCL_BACKEND_CPU)
          || !(info->connectivity & CCL_CONNECT_4))
        continue;
      set_label (harness, "algorithm", info->name);
      fail_unless_equals_int (push_mask (harness, &mask, pushed++), GST_FLOW_OK);
      gchar *name = stat_string (harness, "algorithm");
      fail_unless_equals_string (name, info->name);
      g_free (name);
    }
    gst_harness_push_event (harness, gst_event_new_eos ());
    for (guint i = 0; i < pushed; i++) {
      connectivity = i < 3 ? 8 : 4;
      check_pulled (harness, &mask, connectivity, i);
    }
    fail_unless_equals_int (gst_harness_buffers_in_queue (harness), 0);
    gst_harness_teardown (harness);
    g_free (settings);
  }
  mask_free (&mask);
}

GST_END_TEST;

GST_START_TEST (test_properties_change_while_playing)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_from_rows ((const gchar * const[]) { "#..##..###", NULL });
  static const struct
  {
    const gchar *name, *value;
    guint n;
  } steps[] = {
    {"min-area", "2", 2}, {"max-area", "2", 1}, {"max-area", "0", 2}, {"min-area", "1", 3}, {"min-width", "3", 1},
    {"min-width", "0", 3}, {"border", "drop", 0}, {"border", "flag", 3}, {"invert", "true", 2},
    {"invert", "false", 3}, {"threshold", "1", 0}, {"threshold", "-1", 3}, {"max-components", "2", 2},
    {"max-components", "100", 3}, {"sort", "area-desc", 3}, {"min-rel-area", "0.3", 1}, {"min-rel-area", "0", 3},
    {"async-depth", "2", 0}, {"async-depth", "0", 3}, {"threads", "1", 3}, {"timing", "true", 3},
  };
  GstHarness *harness;
  guint n = 0;

  harness = label_harness (__i__, "");
  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
    GstBuffer *buffer;
    const gboolean delayed = strcmp (steps[i].name, "async-depth") == 0 && steps[i].value[0] != '0';

    set_label (harness, steps[i].name, steps[i].value);
    fail_unless_equals_int (push_mask (harness, &mask, n++), GST_FLOW_OK);
    if (delayed)
      continue;
    while (gst_harness_buffers_in_queue (harness) > 1)
      gst_buffer_unref (gst_harness_pull (harness));
    buffer = gst_harness_try_pull (harness);
    fail_unless (buffer != NULL);
    fail_unless (n_blobs (buffer) == steps[i].n, "%s=%s: %u blobs, not %u", steps[i].name, steps[i].value,
        n_blobs (buffer), steps[i].n);
    gst_buffer_unref (buffer);
  }
  fail_unless_equals_int (gst_harness_buffers_received (harness), n);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

/* Whatever is set while frames flow: no crash, no error, no frame lost. */
GST_START_TEST (test_properties_change_from_another_thread)
{
  NEED_BACKEND (__i__);

  static const gchar *const changes[][2] = {
    {"connectivity", "4"}, {"async-depth", "3"}, {"output", "mask"}, {"max-components", "10"}, {"sort", "area-desc"},
    {"algorithm", "reference"}, {"async-depth", "0"}, {"attach", "blob+roi"}, {"backend", "auto"}, {"interval", "3"},
    {"output", "labels"}, {"connectivity", "8"}, {"async-depth", "1"}, {"algorithm", "auto"}, {"roi-type", "thing"},
    {"output", "passthrough"}, {"threshold", "77"}, {"attach", "blob"}, {"interval", "1"}, {"max-components", "4096"},
    {"backend", "cpu"}, {"invert", "true"}, {"sort", "raster"}, {"async-depth", "2"}, {"invert", "false"},
  };
  GstContext *context = __i__ ? shared_cuda_context (NULL) : NULL;
  gchar *line = g_strdup_printf ("videotestsrc pattern=ball num-buffers=400 ! video/x-raw,format=GRAY8 ! "
      "ccllabel name=label backend=%s ! fakesink name=sink", backends[__i__]);
  GstElement *pipeline = gst_parse_launch (line, NULL), *label = gst_bin_get_by_name (GST_BIN (pipeline), "label");
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message = NULL;
  GstStructure *stats;
  guint64 frames = 0;

  if (context)
    gst_element_set_context (pipeline, context);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint i = 0; !message; i++) {
    const gchar *const *change = changes[i % G_N_ELEMENTS (changes)];

    gst_util_set_object_arg (G_OBJECT (label), change[0], change[1]);
    g_object_get (label, "stats", &stats, NULL);
    gst_structure_get_uint64 (stats, "frames", &frames);
    gst_structure_free (stats);
    message = gst_bus_timed_pop_filtered (bus, 200 * GST_USECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  }
  fail_unless (GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS, "%" GST_PTR_FORMAT, message);
  g_object_get (label, "stats", &stats, NULL);
  gst_structure_get_uint64 (stats, "frames", &frames);
  gst_structure_free (stats);
  fail_unless_equals_uint64 (frames, 400);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (label);
  gst_object_unref (pipeline);
  if (context)
    gst_context_unref (context);
  g_free (line);
}

GST_END_TEST;

/* A control binding moves a property along with the stream's time. */
GST_START_TEST (test_controlled_property)
{
  NEED_BACKEND (__i__);

  Mask mask = MASK ("#.##.###.####");
  GstHarness *harness = label_harness (__i__, "async-depth=1");
  GstObject *label = GST_OBJECT (label_of (harness));
  GstControlSource *source = gst_interpolation_control_source_new ();

  g_object_set (source, "mode", GST_INTERPOLATION_MODE_NONE, NULL);
  for (guint i = 0; i < 4; i++)
    gst_timed_value_control_source_set (GST_TIMED_VALUE_CONTROL_SOURCE (source), i * 40 * GST_MSECOND, i + 1);
  gst_object_add_control_binding (label, gst_direct_control_binding_new_absolute (label, "min-area", source));
  gst_object_unref (source);
  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  for (guint i = 0; i < 4; i++)
    push_mask (harness, &mask, i);
  gst_harness_push_event (harness, gst_event_new_eos ());
  for (guint i = 0; i < 4; i++) {
    GstBuffer *buffer = gst_harness_pull (harness);
    fail_unless_equals_int (n_blobs (buffer), 4 - i);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

/* ---------------------------------------------------------------- frames in flight */

GST_START_TEST (test_async_order_and_latency)
{
  NEED_BACKEND (__i__);

  Mask masks[8];

  for (guint i = 0; i < 8; i++)
    masks[i] = mask_random (40 + i % 2, 30, i, 0.1 * i);
  for (guint depth = 0; depth <= 3; depth++) {
    gchar *settings = g_strdup_printf ("async-depth=%u max-components=1000", depth);
    GstHarness *harness = label_harness (__i__, settings);

    gst_harness_set_upstream_latency (harness, 5 * GST_MSECOND);
    set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &masks[0]);
    fail_unless_equals_uint64 (harness_latency (harness), 5 * GST_MSECOND + depth * 40 * GST_MSECOND);
    for (guint i = 0; i < 8; i += 2) {
      fail_unless_equals_int (push_mask (harness, &masks[i], i), GST_FLOW_OK);
      fail_unless_equals_int (gst_harness_buffers_received (harness), i / 2 + 1 > depth ? i / 2 + 1 - depth : 0);
    }
    fail_unless (gst_harness_push_event (harness, gst_event_new_eos ()));
    fail_unless_equals_int (gst_harness_buffers_received (harness), 4);
    for (guint i = 0; i < 8; i += 2)
      check_pulled (harness, &masks[i], 8, i);
    gst_harness_teardown (harness);
    g_free (settings);
  }
  for (guint i = 0; i < 8; i++)
    mask_free (&masks[i]);
}

GST_END_TEST;

GST_START_TEST (test_latency_message_when_depth_changes)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_dots (3);
  GstHarness *harness;
  GstMessage *message;
  GstBus *bus;

  harness = label_harness (__i__, "");
  bus = watch_bus (harness);
  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  push_mask (harness, &mask, 0);
  assert_no_message (bus, GST_MESSAGE_LATENCY);
  set_label (harness, "async-depth", "2");
  push_mask (harness, &mask, 1);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_LATENCY);
  fail_unless (message != NULL, "latency changed, nobody was told");
  gst_message_unref (message);
  fail_unless_equals_uint64 (harness_latency (harness), 80 * GST_MSECOND);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

/* Nothing may overtake a frame: each of these comes out after the frames that went in before it. */
GST_START_TEST (test_events_wait_for_frames)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_dots (3), other = mask_dots (4);

  for (guint kind = 0; kind < 6; kind++) {
    GstHarness *harness = label_harness (__i__, "async-depth=3");
    GstBuffer *buffer;

    set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
    push_mask (harness, &mask, 0);
    push_mask (harness, &mask, 1);
    fail_unless_equals_int (gst_harness_buffers_received (harness), 0);
    switch (kind) {
      case 0:
        set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &other);
        break;
      case 1:
        gst_harness_push_event (harness, segment_from (7 * GST_SECOND));
        break;
      case 2:
        gst_harness_push_event (harness, gst_event_new_gap (0, GST_SECOND));
        break;
      case 3:
        gst_harness_push_event (harness, gst_event_new_tag (gst_tag_list_new (GST_TAG_TITLE, "t", NULL)));
        break;
      case 4:
        buffer = buffer_from_mask (GST_VIDEO_FORMAT_GRAY8, &mask);
        GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
        GST_BUFFER_PTS (buffer) = GST_SECOND;
        gst_harness_push (harness, buffer);
        break;
      case 5:
      {
        GstQuery *drain = gst_query_new_drain ();
        gst_pad_peer_query (harness->srcpad, drain);
        gst_query_unref (drain);
        break;
      }
    }
    fail_unless (gst_harness_buffers_received (harness) == 2, "kind %u: %u frames came out, not 2", kind,
        gst_harness_buffers_received (harness));
    check_pulled (harness, &mask, 8, 0);
    check_pulled (harness, &mask, 8, 1);
    if (kind == 4) {
      gst_harness_push_event (harness, gst_event_new_eos ());
      buffer = gst_harness_pull (harness);
      fail_unless (GST_BUFFER_IS_DISCONT (buffer));
      gst_buffer_unref (buffer);
    }
    gst_harness_teardown (harness);
  }
  mask_free (&mask);
  mask_free (&other);
}

GST_END_TEST;

/* Old frames leave under the old caps. */
static GstPadProbeReturn
record (GstPad * pad, GstPadProbeInfo * info, gpointer log)
{
  (void) pad;
  if (GST_IS_BUFFER (info->data))
    g_string_append_c (log, 'b');
  else if (GST_EVENT_TYPE (info->data) == GST_EVENT_CAPS)
    g_string_append_c (log, 'C');
  else if (GST_EVENT_TYPE (info->data) == GST_EVENT_SEGMENT)
    g_string_append_c (log, 'S');
  else if (GST_EVENT_TYPE (info->data) == GST_EVENT_EOS)
    g_string_append_c (log, 'E');
  return GST_PAD_PROBE_OK;
}

GST_START_TEST (test_stream_order_over_caps_changes)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_dots (3), other = mask_dots (4);
  GString *log = g_string_new (NULL);
  GstHarness *harness;

  harness = label_harness (__i__, "async-depth=2");
  gst_pad_add_probe (harness->sinkpad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, record, log,
      NULL);
  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  push_mask (harness, &mask, 0);
  push_mask (harness, &mask, 1);
  push_mask (harness, &mask, 2);
  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &other);
  push_mask (harness, &other, 3);
  gst_harness_push_event (harness, segment_from (7 * GST_SECOND));
  set_label (harness, "output", "mask");
  push_mask (harness, &other, 4);
  push_mask (harness, &other, 5);
  gst_harness_push_event (harness, gst_event_new_eos ());
  fail_unless_equals_string (log->str, "CSbbbCSbSbbE");
  gst_harness_teardown (harness);
  g_string_free (log, TRUE);
  mask_free (&mask);
  mask_free (&other);
}

GST_END_TEST;

GST_START_TEST (test_flush_drops_frames_in_flight)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_dots (3);

  for (guint depth = 1; depth <= 3; depth++) {
    gchar *settings = g_strdup_printf ("async-depth=%u", depth);
    GstHarness *harness = label_harness (__i__, settings);

    set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
    for (guint i = 0; i < depth; i++)
      push_mask (harness, &mask, i);
    fail_unless_equals_int (gst_harness_buffers_received (harness), 0);
    gst_harness_push_event (harness, gst_event_new_flush_start ());
    gst_harness_push_event (harness, gst_event_new_flush_stop (TRUE));
    gst_harness_push_event (harness, segment_from (7 * GST_SECOND));
    fail_unless_equals_int (gst_harness_buffers_received (harness), 0);
    for (guint i = 0; i <= depth; i++)
      fail_unless_equals_int (push_mask (harness, &mask, 200 + i), GST_FLOW_OK);
    check_pulled (harness, &mask, 8, 200);
    gst_harness_teardown (harness);
    g_free (settings);
  }
  mask_free (&mask);
}

GST_END_TEST;

/* Raw pictures from a file come in bytes: no times to synchronise to, no lateness. */
GST_START_TEST (test_segment_in_bytes)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_dots (3);
  GstHarness *harness = label_harness (__i__, "skip-when-late=true async-depth=1");
  GstSegment segment;

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  gst_segment_init (&segment, GST_FORMAT_BYTES);
  gst_harness_push_event (harness, gst_event_new_segment (&segment));
  push_mask (harness, &mask, 0);
  push_mask (harness, &mask, 1);
  gst_harness_push_event (harness, gst_event_new_eos ());
  check_pulled (harness, &mask, 8, 0);
  check_pulled (harness, &mask, 8, 1);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

/* Stopped with frames in flight: nothing hangs, nothing leaks. */
GST_START_TEST (test_stop_with_frames_in_flight)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_random (200, 100, 1, 0.5);
  GstHarness *harness;
  GstBuffer *buffer;

  harness = label_harness (__i__, "async-depth=3");
  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  buffer = buffer_from_mask (GST_VIDEO_FORMAT_GRAY8, &mask);
  gst_harness_push (harness, gst_buffer_ref (buffer));
  push_mask (harness, &mask, 1);
  gst_element_set_state (harness->element, GST_STATE_NULL);
  ASSERT_BUFFER_REFCOUNT (buffer, "buffer", 1);
  gst_buffer_unref (buffer);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

/* ---------------------------------------------------------------- skipping */

GST_START_TEST (test_interval)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_dots (6);
  GstHarness *harness;

  harness = label_harness (__i__, "interval=3 async-depth=1");
  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  for (guint i = 0; i < 7; i++)
    fail_unless_equals_int (push_mask (harness, &mask, i), GST_FLOW_OK);
  gst_harness_push_event (harness, gst_event_new_eos ());
  for (guint i = 0; i < 7; i++) {
    GstBuffer *buffer = gst_harness_pull (harness);
    GstCclBlobMeta *meta = gst_buffer_get_ccl_blob_meta (buffer);

    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), i * 40 * GST_MSECOND);
    fail_unless_equals_int (meta->flags, i % 3 ? GST_CCL_BLOB_META_FLAG_SKIPPED : 0);
    fail_unless_equals_int (gst_ccl_blob_meta_get_length (meta), i % 3 ? 0 : 6);
    gst_buffer_unref (buffer);
  }
  fail_unless_equals_uint64 (stat_uint64 (harness, "frames"), 7);
  fail_unless_equals_uint64 (stat_uint64 (harness, "skipped"), 4);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

GST_START_TEST (test_skip_when_late)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_dots (6);

  for (guint skip = 0; skip < 2; skip++) {
    GstHarness *harness = label_harness (__i__, skip ? "skip-when-late=true" : "");
    GstBus *bus = watch_bus (harness);
    GstMessage *message;

    set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
    push_mask (harness, &mask, 0);
    /* The sink was 100 ms late with the frame at 0: what is due before 100 ms is late. */
    gst_harness_push_upstream_event (harness, gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 2.0, 100 * GST_MSECOND, 0));
    for (guint i = 1; i < 5; i++)
      fail_unless_equals_int (push_mask (harness, &mask, i), GST_FLOW_OK);
    for (guint i = 0; i < 5; i++) {
      GstBuffer *buffer = gst_harness_pull (harness);
      const gboolean late = skip && (i == 1 || i == 2);
      GstCclBlobMeta *meta = gst_buffer_get_ccl_blob_meta (buffer);

      fail_unless_equals_int (meta->flags, late ? GST_CCL_BLOB_META_FLAG_SKIPPED : 0);
      fail_unless_equals_int (gst_ccl_blob_meta_get_length (meta), late ? 0 : 6);
      gst_buffer_unref (buffer);
    }
    fail_unless_equals_uint64 (stat_uint64 (harness, "late"), skip ? 2 : 0);
    message = gst_bus_pop_filtered (bus, GST_MESSAGE_QOS);
    fail_unless_equals_int (message != NULL, skip);
    gst_clear_message (&message);
    drop_bus (harness, bus);
    gst_harness_teardown (harness);
  }
  mask_free (&mask);
}

GST_END_TEST;

/* ---------------------------------------------------------------- other pictures */

/* What the reference says the label of each pixel is. */
static guint32 *
label_image (const Mask * mask, guint connectivity, const CclFilter * filter)
{
  guint32 *labels = g_new0 (guint32, (gsize) mask->width * mask->height);
  CclConfig config = ccl_config_default ();
  const CclMask view = {.data = mask->pixels,.stride = mask->width,.width = mask->width,.height = mask->height };
  const CclLabels image = {.data = labels,.stride = mask->width * 4 };
  CclContext *context;
  CclTable table;

  config.algorithm = "reference";
  config.connectivity = connectivity;
  config.max_width = mask->width;
  config.max_height = mask->height;
  config.labels = TRUE;
  fail_unless (ccl_context_new (&config, &context) == CCL_OK);
  fail_unless (ccl_analyze (context, &view, filter, &image, &table) == CCL_OK);
  ccl_context_free (context);
  return labels;
}

static guint32
output_pixel (const guint8 * row, guint x, GstVideoFormat format)
{
  if (format == GST_VIDEO_FORMAT_GRAY8)
    return row[x];
  if (format == GST_VIDEO_FORMAT_GRAY16_LE)
    return GST_READ_UINT16_LE (row + 2 * x);
  return GST_READ_UINT32_LE (row + 4 * x);
}

static void
assert_picture (GstBuffer * buffer, GstVideoFormat format, const Mask * mask, const guint32 * labels)
{
  GstVideoInfo info;
  GstVideoFrame frame;

  gst_video_info_set_format (&info, format, mask->width, mask->height);
  fail_unless (gst_video_frame_map (&frame, &info, buffer, GST_MAP_READ));
  for (guint y = 0; y < mask->height; y++)
    for (guint x = 0; x < mask->width; x++) {
      const guint32 label = labels[y * mask->width + x];
      const guint32 expected = format == GST_VIDEO_FORMAT_GRAY8 ? (label ? 255 : 0)
          : format == GST_VIDEO_FORMAT_GRAY16_LE ? MIN (label, 65535) : label;
      const guint8 *row = (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) +
          y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0);
      const guint32 pixel = output_pixel (row, x, format);

      fail_unless (pixel == expected, "%s at (%u, %u): %u, not %u", gst_video_format_to_string (format), x, y, pixel,
          expected);
    }
  gst_video_frame_unmap (&frame);
}

static void
check_output (guint backend, const gchar * settings, GstVideoFormat in, GstVideoFormat out, const Mask * mask)
{
  gchar *all = g_strdup_printf ("connectivity=8 min-area=2 %s", settings);
  GstHarness *harness = label_harness (backend, all);
  gchar *caps = g_strdup_printf ("video/x-raw, format=%s", gst_video_format_to_string (out));
  const CclFilter filter = {.min_area = 2 };
  guint32 *labels = label_image (mask, 8, &filter);
  guint8 *const pixels_before = g_memdup2 (mask->pixels, mask->width * mask->height);
  GstBuffer *buffer = buffer_from_mask (in, mask);

  gst_harness_set_sink_caps_str (harness, caps);
  set_mask_caps (harness, in, mask);
  GST_BUFFER_PTS (buffer) = 123;
  gst_buffer_add_video_region_of_interest_meta (buffer, "upstream", 0, 0, 1, 1);
  buffer = gst_harness_push_and_pull (harness, buffer);
  fail_unless (buffer != NULL);
  assert_picture (buffer, out, mask, labels);
  assert_blobs_filtered (buffer, mask, 8, &filter);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), 123);
  fail_unless_equals_int (count_regions (buffer, "upstream"), 1);
  fail_unless (memcmp (pixels_before, mask->pixels, mask->width * mask->height) == 0);
  gst_buffer_unref (buffer);
  gst_harness_teardown (harness);
  g_free (all);
  g_free (caps);
  g_free (labels);
  g_free (pixels_before);
}

GST_START_TEST (test_outputs)
{
  NEED_BACKEND (__i__);

  static const guint sizes[][2] = { {1, 1}, {7, 5}, {33, 9}, {64, 48} };

  for (guint s = 0; s < G_N_ELEMENTS (sizes); s++) {
    Mask mask = mask_random (sizes[s][0], sizes[s][1], 3, 0.4);

    for (guint f = 0; f < G_N_ELEMENTS (formats); f++) {
      check_output (__i__, "output=mask", formats[f], GST_VIDEO_FORMAT_GRAY8, &mask);
      check_output (__i__, "output=labels", formats[f], GST_VIDEO_FORMAT_GRAY16_LE, &mask);
      check_output (__i__, "output=labels", formats[f], GST_VIDEO_FORMAT_RGBA, &mask);
    }
    mask_free (&mask);
  }
}

GST_END_TEST;

GST_START_TEST (test_output_changes_while_playing)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_random (31, 17, 4, 0.4);
  guint32 *labels = label_image (&mask, 8, NULL);
  GstHarness *harness;
  static const struct
  {
    const gchar *value;
    GstVideoFormat format;
  } steps[] = {
    {"mask", GST_VIDEO_FORMAT_GRAY8}, {"labels", GST_VIDEO_FORMAT_GRAY16_LE}, {"passthrough", GST_VIDEO_FORMAT_GRAY8},
    {"labels", GST_VIDEO_FORMAT_GRAY16_LE}, {"mask", GST_VIDEO_FORMAT_GRAY8},
  };

  for (guint depth = 0; depth < 3; depth++) {
    gchar *settings = g_strdup_printf ("async-depth=%u", depth);

    harness = label_harness (__i__, settings);
    set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
    push_mask (harness, &mask, 0);
    for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
      set_label (harness, "output", steps[i].value);
      fail_unless_equals_int (push_mask (harness, &mask, i + 1), GST_FLOW_OK);
    }
    gst_harness_push_event (harness, gst_event_new_eos ());
    fail_unless_equals_int (gst_harness_buffers_received (harness), 1 + G_N_ELEMENTS (steps));
    check_pulled (harness, &mask, 8, 0);
    for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
      GstBuffer *buffer = gst_harness_pull (harness);

      assert_blobs (buffer, &mask, 8);
      if (strcmp (steps[i].value, "passthrough") != 0)
        assert_picture (buffer, steps[i].format, &mask, labels);
      gst_buffer_unref (buffer);
    }
    gst_harness_teardown (harness);
    g_free (settings);
  }
  g_free (labels);
  mask_free (&mask);
}

GST_END_TEST;

/* In place, downstream has a say in upstream's buffers. */
GST_START_TEST (test_output_change_reaches_upstream)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_dots (8);
  GstHarness *harness = label_harness (__i__, "output=mask");

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  push_mask (harness, &mask, 0);
  n_reconfigures (harness);
  set_label (harness, "output", "passthrough");
  push_mask (harness, &mask, 1);
  fail_unless (n_reconfigures (harness) > 0);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

typedef struct
{
  GstHarness *harness;
  gint stop;
  guint n_asked, n_empty;
} Asker;

static gpointer
ask_for_caps (gpointer data)
{
  Asker *const asker = data;
  GstCaps *const filter = gst_caps_from_string ("video/x-raw,format=I420,width=16,height=16");

  for (; !g_atomic_int_get (&asker->stop); asker->n_asked++) {
    GstCaps *const caps = gst_pad_peer_query_caps (asker->harness->srcpad, filter);

    asker->n_empty += gst_caps_is_empty (caps);
    gst_caps_unref (caps);
    g_usleep (1);               /* valgrind lets others on when one waits */
  }
  gst_caps_unref (filter);
  return NULL;
}

/* A queue has the source ask in a thread of its own. */
GST_START_TEST (test_caps_while_output_changes)
{
  NEED_BACKEND (__i__);

  static const gchar *const outputs[] = { "mask", "labels", "passthrough" };
  Mask mask = mask_dots (8);
  GstHarness *harness = label_harness (__i__, "");
  Asker asker = {.harness = harness };
  GThread *thread;

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  thread = g_thread_new ("asker", ask_for_caps, &asker);
  for (guint i = 0; i < 1000; i++) {
    set_label (harness, "output", outputs[i % 3]);
    fail_unless_equals_int (push_mask (harness, &mask, i), GST_FLOW_OK);
    gst_buffer_unref (gst_harness_pull (harness));
  }
  g_atomic_int_set (&asker.stop, TRUE);
  g_thread_join (thread);
  fail_unless (asker.n_asked > 0);
  fail_unless_equals_int (asker.n_empty, 0);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

/* A pool of so many buffers and no more would leave upstream without one, for ever. */
static void
hold_more_frames_back (guint backend, guint max)
{
  static const struct
  {
    const gchar *name, *value;
    guint held;
  } steps[] = { {"async-depth", "3", 3}, {"async-depth", "1", 1}, {"volume", "4", 3}, {"volume", "9", 8} };
  Mask mask = mask_dots (8);
  GstHarness *harness = label_harness (backend, "");
  guint n = 0, before = 0;

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  limit_pool (harness->sinkpad, max);
  fail_unless_equals_int (ask_for_buffers (harness), 2);
  for (guint i = 0; i < G_N_ELEMENTS (steps); before = steps[i++].held) {
    guint n_out;

    n_reconfigures (harness);
    set_label (harness, steps[i].name, steps[i].value);
    n_out = gst_harness_buffers_received (harness);
    if (steps[i].held > before) {
      /* As before until there is room; upstream is told once. */
      push_mask (harness, &mask, n++);
      push_mask (harness, &mask, n++);
      fail_unless_equals_int (gst_harness_buffers_received (harness) - n_out, before < 2 ? 2 - before : 0);
      fail_unless_equals_int (n_reconfigures (harness), 1);
      fail_unless_equals_int (ask_for_buffers (harness), 2 + steps[i].held);
      n_out = gst_harness_buffers_received (harness);
      fail_unless_equals_int (n_out, n);
    }
    for (guint k = 0; k < steps[i].held; k++)
      push_mask (harness, &mask, n++);
    fail_unless_equals_int (gst_harness_buffers_received (harness), n_out);
    push_mask (harness, &mask, n++);
    fail_unless (gst_harness_buffers_received (harness) > n_out);
    fail_unless_equals_int (n_reconfigures (harness), 0);
    ask_for_buffers (harness);
  }
  gst_harness_teardown (harness);
  mask_free (&mask);
}

static void
assert_stat_string (GstHarness * harness, const gchar * name, const gchar * expected)
{
  gchar *const value = stat_string (harness, name);

  fail_unless_equals_string (value, expected);
  g_free (value);
}

/* What needs no room does not wait with it. */
GST_START_TEST (test_method_does_not_wait_for_room)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_random (16, 16, 1, 0.4);
  GstHarness *harness = label_harness (__i__, "");
  GstBuffer *buffer;

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  limit_pool (harness->sinkpad, 2);
  ask_for_buffers (harness);
  push_mask (harness, &mask, 0);
  gst_buffer_unref (gst_harness_pull (harness));
  set_label (harness, "async-depth", "2");
  set_label (harness, "connectivity", "4");
  push_mask (harness, &mask, 1);
  buffer = gst_harness_pull (harness);
  assert_blobs (buffer, &mask, 4);
  gst_buffer_unref (buffer);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

/* Nor does it after a start of the element alone. One for volumes does. */
GST_START_TEST (test_method_does_not_wait_for_room_after_a_start)
{
  NEED_BACKEND (__i__);

  static const gchar *const methods[] = { "reference", "runs-3d" };
  Mask mask = mask_random (16, 16, 1, 0.4);
  GstHarness *harness = label_harness (__i__, "");
  gint active;

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  limit_pool (harness->sinkpad, 2);
  ask_for_buffers (harness);
  push_mask (harness, &mask, 0);
  for (guint i = 0; i < G_N_ELEMENTS (methods); i++) {
    gst_element_set_state (harness->element, GST_STATE_READY);
    set_label (harness, "backend", "cpu");
    set_label (harness, "algorithm", methods[i]);
    set_label (harness, "volume", "4");
    fail_unless_equals_int (gst_element_set_state (harness->element, GST_STATE_PLAYING), GST_STATE_CHANGE_SUCCESS);
    push_mask (harness, &mask, 1 + i);
    fail_unless_equals_int (gst_harness_buffers_received (harness), 2 + i);
    assert_stat_string (harness, "algorithm", "reference");
    g_object_get (label_of (harness), "active-backend", &active, NULL);
    fail_unless_equals_int (active, 2);
  }
  ask_for_buffers (harness);
  push_mask (harness, &mask, 3);
  assert_stat_string (harness, "volume-algorithm", "runs-3d");
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

/* Where upstream asked for less meanwhile, too. */
GST_START_TEST (test_method_for_volumes_waits_for_room)
{
  Mask mask = mask_random (16, 16, 1, 0.4);
  GstHarness *harness = label_harness (0, "volume=3 algorithm=runs-3d");
  GstBus *bus = watch_bus (harness);

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  limit_pool (harness->sinkpad, 2);
  ask_for_buffers (harness);
  push_mask (harness, &mask, 0);
  set_label (harness, "volume", "0");
  ask_for_buffers (harness);
  set_label (harness, "volume", "4");
  for (guint i = 0; i < 2; i++) {
    push_mask (harness, &mask, 1 + i);
    assert_stat_string (harness, "volume-algorithm", i ? "runs-3d" : "none");
    ask_for_buffers (harness);
  }
  assert_no_message (bus, GST_MESSAGE_WARNING);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

/* Nor does the end of volumes, with as many frames held back meanwhile as there is room for. */
GST_START_TEST (test_end_of_volumes_does_not_wait_for_room)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_random (16, 16, 1, 0.4);
  GstHarness *harness = label_harness (__i__, "volume=3");
  GstBuffer *buffer;
  guint n = 0;

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  limit_pool (harness->sinkpad, 2);
  fail_unless_equals_int (ask_for_buffers (harness), 4);
  while (n < 3)
    push_mask (harness, &mask, n++);
  while ((buffer = gst_harness_try_pull (harness)))
    gst_buffer_unref (buffer);
  fail_unless_equals_int (gst_harness_buffers_received (harness), 3);
  set_label (harness, "volume", "0");
  set_label (harness, "async-depth", "3");
  set_label (harness, "connectivity", "4");
  while (n < 6)
    push_mask (harness, &mask, n++);
  fail_unless_equals_int (gst_harness_buffers_received (harness), 4);
  buffer = gst_harness_pull (harness);
  assert_blobs (buffer, &mask, 4);
  gst_buffer_unref (buffer);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

GST_START_TEST (test_more_frames_held_back_wait_for_room)
{
  NEED_BACKEND (__i__);
  hold_more_frames_back (__i__, 2);
  hold_more_frames_back (__i__, 0);
}

GST_END_TEST;

GST_START_TEST (test_skipped_frames_have_empty_pictures)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_random (31, 17, 4, 0.4);
  guint32 *nothing = g_new0 (guint32, 31 * 17);
  GstHarness *harness;
  GstBuffer *buffer;

  harness = label_harness (__i__, "output=mask interval=2");
  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  push_mask (harness, &mask, 0);
  push_mask (harness, &mask, 1);
  gst_buffer_unref (gst_harness_pull (harness));
  buffer = gst_harness_pull (harness);
  assert_picture (buffer, GST_VIDEO_FORMAT_GRAY8, &mask, nothing);
  fail_unless_equals_int (gst_buffer_get_ccl_blob_meta (buffer)->flags, GST_CCL_BLOB_META_FLAG_SKIPPED);
  gst_buffer_unref (buffer);
  gst_harness_teardown (harness);
  g_free (nothing);
  mask_free (&mask);
}

GST_END_TEST;

/* More blobs than GRAY16 can tell apart. */
GST_START_TEST (test_labels_saturate)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_new (600, 600);
  guint32 *labels;

  for (guint y = 0; y < 600; y += 2)
    for (guint x = 0; x < 600; x += 2)
      mask.pixels[y * 600 + x] = 1;
  labels = label_image (&mask, 8, NULL);
  for (guint rgba = 0; rgba < 2; rgba++) {
    GstHarness *harness = label_harness (__i__, "output=labels max-components=3");
    GstBus *bus = watch_bus (harness);
    GstBuffer *buffer;

    gst_harness_set_sink_caps_str (harness, rgba ? "video/x-raw,format=RGBA" : "video/x-raw,format=GRAY16_LE");
    set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
    for (guint i = 0; i < 2; i++) {
      push_mask (harness, &mask, i);
      buffer = gst_harness_pull (harness);
      assert_picture (buffer, rgba ? GST_VIDEO_FORMAT_RGBA : GST_VIDEO_FORMAT_GRAY16_LE, &mask, labels);
      fail_unless_equals_int (gst_buffer_get_ccl_blob_meta (buffer)->n_kept, 90000);
      gst_buffer_unref (buffer);
    }
    if (!rgba)
      assert_message (bus, GST_MESSAGE_WARNING, "90000 blobs, GRAY16_LE can tell 65535");
    assert_message (bus, GST_MESSAGE_WARNING, "the table holds 3");
    assert_no_message (bus, GST_MESSAGE_WARNING);
    drop_bus (harness, bus);
    gst_harness_teardown (harness);
  }
  g_free (labels);
  mask_free (&mask);
}

GST_END_TEST;

/* ---------------------------------------------------------------- negotiation and allocation */

static gboolean
has_cuda_feature (GstCaps * caps)
{
  for (guint i = 0; i < gst_caps_get_size (caps); i++)
    if (gst_caps_features_contains (gst_caps_get_features (caps, i), "memory:CUDAMemory"))
      return TRUE;
  return FALSE;
}

GST_START_TEST (test_caps)
{
  GstElement *label = gst_element_factory_make ("ccllabel", NULL);
  GstPad *sink = gst_element_get_static_pad (label, "sink");
  GstCaps *caps = gst_pad_query_caps (sink, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    gchar *text = caps_string (formats[i], 64, 48);
    GstCaps *format = gst_caps_from_string (text);

    fail_unless (gst_caps_can_intersect (caps, format), "%s is not taken", text);
    gst_caps_unref (format);
    g_free (text);
  }
  if (!have_backend ("cuda"))
    fail_if (has_cuda_feature (caps), "CUDA memory is offered without a device");
  gst_caps_unref (caps);
  gst_object_unref (sink);
  gst_object_unref (label);
}

GST_END_TEST;

static void
check_caps_query (const gchar * settings, const gchar * downstream, const gchar * upstream, gboolean possible)
{
  GstHarness *harness = label_harness (0, settings);
  GstCaps *caps, *wanted = gst_caps_from_string (upstream);

  gst_harness_set_sink_caps_str (harness, downstream);
  caps = gst_pad_peer_query_caps (harness->srcpad, NULL);
  fail_unless (gst_caps_can_intersect (caps, wanted) == possible, "%s to %s %s", upstream, downstream, settings);
  gst_caps_unref (caps);
  gst_caps_unref (wanted);
  gst_harness_teardown (harness);
}

GST_START_TEST (test_negotiation)
{
  check_caps_query ("", "video/x-raw,format=NV12", "video/x-raw,format=NV12", TRUE);
  check_caps_query ("", "video/x-raw,format=NV12", "video/x-raw,format=GRAY8", FALSE);
  check_caps_query ("", "video/x-raw,width=99", "video/x-raw,format=GRAY8,width=98", FALSE);
  check_caps_query ("", "ANY", "video/x-raw,format=RGB", FALSE);
  check_caps_query ("", "ANY", "video/x-raw,format=GRAY8,width=16384,height=16384", TRUE);
  check_caps_query ("", "ANY", "video/x-raw,format=GRAY8,width=16385,height=1", FALSE);
  check_caps_query ("", "ANY", "video/x-raw,format=GRAY8,width=1,height=16385", FALSE);
  check_caps_query ("output=mask", "video/x-raw,format=GRAY8", "video/x-raw,format=NV12", TRUE);
  check_caps_query ("output=mask", "video/x-raw,format=NV12", "video/x-raw,format=NV12", FALSE);
  check_caps_query ("output=mask", "video/x-raw,width=5", "video/x-raw,format=I420,width=6", FALSE);
  check_caps_query ("output=labels", "video/x-raw,format=GRAY16_LE", "video/x-raw,format=Y444", TRUE);
  check_caps_query ("output=labels", "video/x-raw,format=RGBA", "video/x-raw,format=GRAY8", TRUE);
  check_caps_query ("output=labels", "video/x-raw,format=GRAY8", "video/x-raw,format=GRAY8", FALSE);
}

GST_END_TEST;

static GstQuery *
query_allocation (GstHarness * harness, GstVideoFormat format, const Mask * mask)
{
  gchar *text = caps_string (format, mask->width, mask->height);
  GstCaps *caps = gst_caps_from_string (text);
  GstQuery *query = gst_query_new_allocation (caps, TRUE);

  gst_pad_peer_query (harness->srcpad, query);
  gst_caps_unref (caps);
  g_free (text);
  return query;
}

static gboolean
offers_pinned (GstQuery * query)
{
  GstAllocator *allocator = NULL;
  gboolean pinned;

  if (!gst_query_get_n_allocation_params (query))
    return FALSE;
  gst_query_parse_nth_allocation_param (query, 0, &allocator, NULL);
  pinned = allocator && g_strcmp0 (allocator->mem_type, "CclPinnedMemory") == 0;
  gst_clear_object (&allocator);
  return pinned;
}

/* In place, downstream's answer counts, with room for the frames in flight; else we take any layout. */
GST_START_TEST (test_allocation)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_dots (8);
  GstHarness *harness;
  GstBufferPool *pool = gst_buffer_pool_new (), *offered;
  GstQuery *query;
  guint size, min, max;

  harness = label_harness (__i__, "async-depth=2");
  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  query = query_allocation (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  fail_if (gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL));
  fail_unless_equals_int (offers_pinned (query), __i__);
  gst_query_unref (query);

  gst_harness_add_propose_allocation_meta (harness, GST_VIDEO_META_API_TYPE, NULL);
  query = query_allocation (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  fail_unless (gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL));
  gst_query_unref (query);
  gst_harness_teardown (harness);

  harness = label_harness (__i__, "output=labels");
  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  query = query_allocation (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  fail_unless (gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL));
  fail_unless_equals_int (offers_pinned (query), __i__);
  gst_query_unref (query);
  gst_harness_teardown (harness);

  /* A pool of downstream's, with three buffers at most, has to do without the two we hold. */
  harness = label_harness (__i__, "async-depth=2");
  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  {
    GstElement *label = label_of (harness);
    GstBaseTransformClass *klass = GST_BASE_TRANSFORM_GET_CLASS (label);
    gchar *text = caps_string (GST_VIDEO_FORMAT_GRAY8, mask.width, mask.height);
    GstCaps *caps = gst_caps_from_string (text);
    GstQuery *decided = gst_query_new_allocation (caps, TRUE);

    query = gst_query_new_allocation (caps, TRUE);
    gst_query_add_allocation_pool (query, pool, 16, 1, 3);
    fail_unless (klass->propose_allocation (GST_BASE_TRANSFORM (label), decided, query));
    gst_query_parse_nth_allocation_pool (query, 0, &offered, &size, &min, &max);
    fail_unless (offered == pool);
    fail_unless_equals_int (min, 3);
    fail_unless_equals_int (max, 5);
    fail_if (offers_pinned (query));
    gst_object_unref (offered);
    gst_query_unref (query);
    gst_query_unref (decided);
    gst_caps_unref (caps);
    g_free (text);
  }
  gst_harness_teardown (harness);
  gst_object_unref (pool);
  mask_free (&mask);
}

GST_END_TEST;

/* A sink that crops by itself: upstream must not leave that to it, since we see the pixels before. */
GST_START_TEST (test_cropping_is_not_left_to_downstream)
{
  static const gchar *const elements[] = { "ccllabel", "cclmotion", "ccloverlay" };
  Mask mask = mask_new (32, 16);

  for (guint i = 0; i < G_N_ELEMENTS (elements); i++) {
    GstElement *element = gst_element_factory_make (elements[i], NULL);
    GstHarness *harness;
    GstQuery *query;

    if (!element)               /* ccloverlay needs pango */
      continue;
    harness = gst_harness_new_with_element (element, "sink", "src");
    gst_harness_add_propose_allocation_meta (harness, GST_VIDEO_META_API_TYPE, NULL);
    gst_harness_add_propose_allocation_meta (harness, GST_VIDEO_CROP_META_API_TYPE, NULL);
    set_mask_caps (harness, GST_VIDEO_FORMAT_I420, &mask);
    query = query_allocation (harness, GST_VIDEO_FORMAT_I420, &mask);
    fail_unless (gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL), "%s", elements[i]);
    fail_if (gst_query_find_allocation_meta (query, GST_VIDEO_CROP_META_API_TYPE, NULL), "%s", elements[i]);
    gst_query_unref (query);
    gst_harness_teardown (harness);
    gst_object_unref (element);
  }
  mask_free (&mask);
}

GST_END_TEST;

/* The frame that follows those dropped is the one that does not follow on. */
GST_START_TEST (test_discont_after_frames_dropped)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_dots (6);
  GstHarness *harness = label_harness (__i__, "qos=true async-depth=2");
  GstBuffer *buffer;

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  for (guint i = 0; i < 8; i++) {
    /* What is due before 180 ms is late: frame 4. */
    if (i == 4)
      gst_harness_push_upstream_event (harness,
          gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 2.0, 10 * GST_MSECOND, 160 * GST_MSECOND));
    fail_unless_equals_int (push_mask (harness, &mask, i), GST_FLOW_OK);
  }
  gst_harness_push_event (harness, gst_event_new_eos ());
  while ((buffer = gst_harness_try_pull (harness))) {
    const guint n = GST_BUFFER_PTS (buffer) / (40 * GST_MSECOND);

    fail_unless (GST_BUFFER_IS_DISCONT (buffer) == (n == 5), "frame %u", n);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

/* ---------------------------------------------------------------- stats */

GST_START_TEST (test_stats)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_dots (5);
  GstHarness *harness;
  GstStructure *stats;
  gchar *text;
  gdouble min, avg, max;
  gint active;

  harness = label_harness (__i__, "timing=true");
  g_object_get (label_of (harness), "active-backend", &active, NULL);
  fail_unless_equals_int (active, __i__ ? 1 : 2);
  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  for (guint i = 0; i < 10; i++)
    push_mask (harness, &mask, i);
  fail_unless_equals_uint64 (stat_uint64 (harness, "frames"), 10);
  fail_unless_equals_uint64 (stat_uint64 (harness, "skipped"), 0);
  fail_unless_equals_uint64 (stat_uint64 (harness, "components"), 50);
  fail_unless_equals_uint64 (stat_uint64 (harness, "truncated"), 0);
  fail_unless (stat_uint64 (harness, "host-bytes") > 0);
  fail_unless_equals_int (stat_uint64 (harness, "device-bytes") > 0, __i__);
  text = stat_string (harness, "backend");
  fail_unless_equals_string (text, backends[__i__]);
  g_free (text);
  text = stat_string (harness, "path");
  fail_unless_equals_string (text, "system");
  g_free (text);

  g_object_get (label_of (harness), "stats", &stats, NULL);
  for (guint i = 0; i < 2; i++) {
    const gchar *const fields[][3] = { {"host-us-min", "host-us-avg", "host-us-max"}, {"kernel-us-min",
        "kernel-us-avg", "kernel-us-max"}
    };
    fail_unless (gst_structure_get (stats, fields[i][0], G_TYPE_DOUBLE, &min, fields[i][1], G_TYPE_DOUBLE, &avg,
            fields[i][2], G_TYPE_DOUBLE, &max, NULL));
    fail_unless (0 <= min && min <= avg && avg <= max && max > 0, "%s: %f %f %f", fields[i][0], min, avg, max);
  }
  gst_structure_free (stats);
  gst_element_set_state (harness->element, GST_STATE_NULL);
  g_object_get (label_of (harness), "active-backend", &active, NULL);
  fail_unless_equals_int (active, 0);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

/* ---------------------------------------------------------------- what goes wrong */

GST_START_TEST (test_bad_caps)
{
  static const gchar *const bad[] = {
    "video/x-raw,format=RGB,width=4,height=4,framerate=25/1",
    "video/x-raw,format=GRAY8,width=16385,height=4,framerate=25/1",
    "video/x-raw,format=GRAY8,width=4,height=0,framerate=25/1",
    "video/x-raw(memory:DMABuf),format=GRAY8,width=4,height=4,framerate=25/1",
    "audio/x-raw,format=S16LE,rate=8000,channels=1,layout=interleaved",
  };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    GstHarness *harness = label_harness (0, "");
    GstCaps *caps = gst_caps_from_string (bad[i]);

    gst_harness_push_event (harness, gst_event_new_stream_start ("s"));
    gst_harness_push_event (harness, gst_event_new_caps (caps));
    gst_harness_push_event (harness, segment_from (7 * GST_SECOND));
    fail_unless_equals_int (gst_harness_push (harness, gst_buffer_new_allocate (NULL, 16, NULL)),
        GST_FLOW_NOT_NEGOTIATED);
    fail_unless_equals_int (gst_harness_buffers_received (harness), 0);
    gst_caps_unref (caps);
    gst_harness_teardown (harness);
  }
}

GST_END_TEST;

/* What somebody sees who writes such a pipeline: before it starts or, where the caps come later, from the source. */
GST_START_TEST (test_bad_caps_are_told_of)
{
  GstElement *pipeline, *source;
  GstBus *bus;
  GstBuffer *buffer;
  GstCaps *caps;
  GstMessage *message;
  GstFlowReturn flow;
  GError *error = NULL;
  gchar *debug;

  pipeline = gst_parse_launch ("videotestsrc ! video/x-raw,format=RGB ! ccllabel name=label ! fakesink", &error);
  fail_unless (error && strstr (error->message, "label") && strstr (error->message, "RGB"), "%s",
      error ? error->message : "no error");
  g_clear_error (&error);
  gst_clear_object (&pipeline);

  pipeline = gst_parse_launch ("appsrc name=source ! ccllabel ! fakesink", &error);
  g_assert_no_error (error);
  source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  caps = gst_caps_from_string ("video/x-raw,format=RGB,width=4,height=4,framerate=25/1");
  g_object_set (source, "caps", caps, "format", GST_FORMAT_TIME, NULL);
  buffer = gst_buffer_new_allocate (NULL, 48, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_signal_emit_by_name (source, "push-buffer", buffer, &flow);
  bus = gst_element_get_bus (pipeline);
  message = gst_bus_timed_pop_filtered (bus, 10 * GST_SECOND, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  fail_unless (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR);
  gst_message_parse_error (message, &error, &debug);
  fail_unless (strstr (debug, "not-negotiated") != NULL, "%s", debug);
  g_error_free (error);
  g_free (debug);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_buffer_unref (buffer);
  gst_caps_unref (caps);
  gst_object_unref (bus);
  gst_object_unref (source);
  gst_object_unref (pipeline);
}

GST_END_TEST;

GST_START_TEST (test_buffer_smaller_than_caps)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_random (64, 48, 1, 0.5);

  for (guint f = 0; f < G_N_ELEMENTS (formats); f++)
    for (guint kind = 0; kind < 4; kind++) {
      GstHarness *harness = label_harness (__i__, "async-depth=1");
      GstBus *bus = watch_bus (harness);
      GstBuffer *buffer = buffer_from_mask (formats[f], &mask);
      gsize offsets[GST_VIDEO_MAX_PLANES] = { 0, };
      gint strides[GST_VIDEO_MAX_PLANES] = { 128, 128, 128 };
      const guint n_planes = gst_video_format_get_info (formats[f])->n_planes;

      set_mask_caps (harness, formats[f], &mask);
      switch (kind) {
        case 0:                /* one byte short */
          gst_buffer_set_size (buffer, gst_buffer_get_size (buffer) - 1);
          break;
        case 1:                /* nothing at all */
          gst_buffer_remove_all_memory (buffer);
          break;
        case 2:                /* a stride that leaves the memory */
          strides[0] = 1 << 20;
          gst_buffer_add_video_meta_full (buffer, 0, formats[f], 64, 48, n_planes, offsets, strides);
          break;
        case 3:                /* rows that overlap */
          strides[0] = 63;
          gst_buffer_add_video_meta_full (buffer, 0, formats[f], 64, 48, n_planes, offsets, strides);
          break;
      }
      fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_ERROR);
      assert_message (bus, GST_MESSAGE_ERROR, "smaller than its caps say");
      fail_unless_equals_int (gst_harness_buffers_received (harness), 0);
      drop_bus (harness, bus);
      gst_harness_teardown (harness);
    }
  mask_free (&mask);
}

GST_END_TEST;

static gboolean
map_by_itself (GstVideoMeta * meta, guint plane, GstMapInfo * map, gpointer * data, gint * stride, GstMapFlags flags)
{
  GstMemory *const memory = gst_buffer_peek_memory (meta->buffer, 0);
  GstMapInfo info;

  (void) plane;
  gst_memory_map (memory, &info, flags);
  *data = info.data;
  *stride = meta->stride[0];
  gst_memory_unmap (memory, &info);     /* memory of the system stays where it is */
  map->flags = flags;
  return TRUE;
}

static gboolean
unmap_by_itself (GstVideoMeta * meta, guint plane, GstMapInfo * map)
{
  (void) meta, (void) plane, (void) map;
  return TRUE;
}

/* As those of gstreamer-vaapi: of what is mapped nothing is said but where its pixels are. */
GST_START_TEST (test_video_meta_that_maps_by_itself)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_random (64, 48, 1, 0.3);
  GstHarness *harness = label_harness (__i__, "");
  GstBuffer *buffer = buffer_from_mask (GST_VIDEO_FORMAT_GRAY8, &mask);
  GstVideoMeta *const meta = gst_buffer_add_video_meta (buffer, 0, GST_VIDEO_FORMAT_GRAY8, 64, 48);

  meta->map = map_by_itself;
  meta->unmap = unmap_by_itself;
  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  buffer = gst_harness_push_and_pull (harness, buffer);
  assert_blobs (buffer, &mask, 8);
  gst_buffer_unref (buffer);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

GST_START_TEST (test_video_meta_of_another_frame)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_random (64, 48, 1, 0.5);
  static const struct
  {
    GstVideoFormat format;
    guint width, height;
  } metas[] = {
    {GST_VIDEO_FORMAT_GRAY8, 63, 48}, {GST_VIDEO_FORMAT_GRAY8, 64, 47}, {GST_VIDEO_FORMAT_GRAY16_LE, 64, 24},
  };

  for (guint i = 0; i < G_N_ELEMENTS (metas); i++) {
    GstHarness *harness = label_harness (__i__, "");
    GstBus *bus = watch_bus (harness);
    GstBuffer *buffer = buffer_from_mask (GST_VIDEO_FORMAT_GRAY8, &mask);

    gst_buffer_add_video_meta (buffer, 0, metas[i].format, metas[i].width, metas[i].height);
    set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
    fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_ERROR);
    assert_message (bus, GST_MESSAGE_ERROR, "video meta says");
    drop_bus (harness, bus);
    gst_harness_teardown (harness);
  }
  mask_free (&mask);
}

GST_END_TEST;

GST_START_TEST (test_caps_change_mid_stream)
{
  NEED_BACKEND (__i__);
  for (guint depth = 0; depth <= 2; depth++) {
    gchar *settings = g_strdup_printf ("async-depth=%u max-components=100000", depth);
    GstHarness *harness = label_harness (__i__, settings);
    guint n = 0;

    for (guint s = 1; s < 12; s++) {
      Mask mask = mask_random (17 * s % 97 + 1, 29 * s % 61 + 1, s, 0.45);
      const GstVideoFormat format = formats[s % G_N_ELEMENTS (formats)];
      GstBuffer *buffer = buffer_from_mask (format, &mask);

      set_mask_caps (harness, format, &mask);
      GST_BUFFER_PTS (buffer) = n * 40 * GST_MSECOND;
      fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_OK);
      gst_harness_push_event (harness, gst_event_new_gap (0, 1));
      check_pulled (harness, &mask, 8, n++);
      mask_free (&mask);
    }
    gst_harness_teardown (harness);
    g_free (settings);
  }
}

GST_END_TEST;

/* Starts a bare element and returns what it said. */
static gchar *
start_error (const gchar * settings)
{
  gchar *line = g_strdup_printf ("ccllabel %s", settings);
  GstElement *label = gst_parse_launch (line, NULL);
  GstBus *bus = gst_bus_new ();
  GstMessage *message;
  GError *error = NULL;
  gchar *debug = NULL, *text = NULL;

  fail_unless (label != NULL, "%s", line);
  gst_element_set_bus (label, bus);
  if (gst_element_set_state (label, GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE) {
    message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
    fail_unless (message != NULL, "%s fails without a word", settings);
    gst_message_parse_error (message, &error, &debug);
    text = g_strdup_printf ("%s\n%s", error->message, debug);
    g_error_free (error);
    g_free (debug);
    gst_message_unref (message);
    fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR) == NULL, "%s: more than one error", settings);
  }
  gst_element_set_state (label, GST_STATE_NULL);
  gst_element_set_bus (label, NULL);
  gst_object_unref (bus);
  gst_object_unref (label);
  g_free (line);
  return text;
}

static void
assert_start_error (const gchar * settings, const gchar * expected)
{
  gchar *text = start_error (settings);

  fail_unless (text != NULL, "%s: no error", settings);
  fail_unless (strstr (text, expected) != NULL, "%s: expected \"%s\" in \"%s\"", settings, expected, text);
  g_free (text);
}

GST_START_TEST (test_contradictions_stop_the_start)
{
  assert_start_error ("backend=cuda algorithm=reference",
      ccl_backend_built (CCL_BACKEND_CUDA) ? "the CUDA backend has no algorithm \"reference\"" : "no CUDA backend");
  for (guint i = 0; ccl_algorithm (i); i++) {
    const CclAlgorithmInfo *info = ccl_algorithm (i);
    gchar *settings, *expected;

    if (info->connectivity == (CCL_CONNECT_4 | CCL_CONNECT_8))
      continue;
    settings = g_strdup_printf ("algorithm=%s connectivity=%u backend=%s volume=%u", info->name,
        info->connectivity ^ (CCL_CONNECT_4 | CCL_CONNECT_8), info->backend == CCL_BACKEND_CUDA ? "cuda" : "cpu",
        info->volume ? 2 : 0);
    expected = g_strdup_printf ("algorithm \"%s\" does not do", info->name);
    /* Without a device that may be what is found first. */
    if (info->backend == CCL_BACKEND_CPU || have_backend ("cuda"))
      assert_start_error (settings, expected);
    g_free (settings);
    g_free (expected);
  }
  for (guint i = 0; ccl_algorithm (i); i++) {
    const CclAlgorithmInfo *info = ccl_algorithm (i);
    gchar *settings = g_strdup_printf ("backend=cpu algorithm=%s connectivity=%u volume=%u", info->name,
        info->connectivity & CCL_CONNECT_8 ? 8 : 4, info->volume ? 2 : 0);
    gchar *text = start_error (settings);

    if (info->backend == CCL_BACKEND_CPU)
      fail_unless (text == NULL, "%s", text);
    g_free (text);
    g_free (settings);
  }
}

GST_END_TEST;

/* What kept it from starting can be corrected. */
GST_START_TEST (test_output_is_corrected_after_a_failed_start)
{
  GstElement *label = gst_parse_launch ("ccllabel backend=cpu volume=5 output=mask", NULL);

  fail_unless_equals_int (gst_element_set_state (label, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  gst_element_set_state (label, GST_STATE_NULL);
  gst_util_set_object_arg (G_OBJECT (label), "output", "passthrough");
  fail_unless_equals_int (gst_element_set_state (label, GST_STATE_PAUSED), GST_STATE_CHANGE_SUCCESS);
  gst_element_set_state (label, GST_STATE_NULL);
  gst_object_unref (label);
}

GST_END_TEST;

GST_START_TEST (test_cuda_without_a_device)
{
  gchar *text;

  if (have_backend ("cuda")) {
    assert_start_error ("backend=cuda cuda-device-id=99", "device");
    text = start_error ("backend=auto cuda-device-id=99");
    fail_unless (text == NULL, "auto fails without the device: %s", text);
    return;
  }
  assert_start_error ("backend=cuda", "Use backend=auto or backend=cpu");
  text = start_error ("backend=auto");
  fail_unless (text == NULL, "auto fails without a device: %s", text);
  /* A method of CUDA alone leaves backend=auto no choice. */
  for (guint i = 0; ccl_algorithm (i); i++) {
    const CclAlgorithmInfo *const info = ccl_algorithm (i);
    gchar *settings = g_strdup_printf ("algorithm=%s connectivity=%u volume=%u", info->name,
        info->connectivity & CCL_CONNECT_8 ? 8 : 4, info->volume ? 2 : 0);
    gboolean on_cpu = FALSE;

    for (guint k = 0; ccl_algorithm (k); k++)
      on_cpu |= ccl_algorithm (k)->backend == CCL_BACKEND_CPU && g_str_equal (ccl_algorithm (k)->name, info->name);
    text = start_error (settings);
    fail_unless (on_cpu ? text == NULL : text && strstr (text, "No GPU to label on"), "%s: %s", settings, text);
    g_free (text);
    g_free (settings);
  }
}

GST_END_TEST;

/* backend=auto goes on without the device that was asked for, but says so: once. */
GST_START_TEST (test_auto_without_the_device_asked_for)
{
  static const guint sizes[] = { 32, 48 };
  GstHarness *harness = gst_harness_new_parse ("ccllabel name=label backend=auto cuda-device-id=99");
  GstElement *label = gst_bin_get_by_name (GST_BIN (harness->element), "label");
  GstBus *bus;
  gint active = 0;

  gst_element_set_state (harness->element, GST_STATE_NULL);
  bus = watch_bus (harness);
  gst_harness_play (harness);
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    Mask mask = mask_random (sizes[i], 16, i, 0.4);
    GstBuffer *buffer;

    set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
    buffer = gst_harness_push_and_pull (harness, buffer_from_mask (GST_VIDEO_FORMAT_GRAY8, &mask));
    assert_blobs (buffer, &mask, 8);
    gst_buffer_unref (buffer);
    mask_free (&mask);
  }
  g_object_get (label, "active-backend", &active, NULL);
  fail_unless_equals_int (active, 2);
  assert_message (bus, GST_MESSAGE_WARNING, "Continuing on the CPU");
  assert_no_message (bus, GST_MESSAGE_WARNING);
  assert_no_message (bus, GST_MESSAGE_ERROR);
  drop_bus (harness, bus);
  gst_object_unref (label);
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* While playing a contradiction is a warning: the pipeline lives, the method stays. */
GST_START_TEST (test_contradiction_while_playing)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_random (40, 30, 2, 0.4);
  GstHarness *harness;
  GstBus *bus;
  gint active;

  harness = label_harness (__i__, "async-depth=1");
  bus = watch_bus (harness);
  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  push_mask (harness, &mask, 0);
  /* There is no such method for CUDA; on a build or machine without CUDA there is nothing at all. */
  set_label (harness, "algorithm", "reference");
  set_label (harness, "backend", "cuda");
  for (guint i = 1; i < 4; i++)
    fail_unless_equals_int (push_mask (harness, &mask, i), GST_FLOW_OK);
  assert_message (bus, GST_MESSAGE_WARNING, "The method stays as it was");
  assert_no_message (bus, GST_MESSAGE_WARNING);
  g_object_get (label_of (harness), "active-backend", &active, NULL);
  fail_unless_equals_int (active, __i__ ? 1 : 2);
  /* Resolved: the CPU has it. */
  set_label (harness, "backend", "cpu");
  push_mask (harness, &mask, 4);
  gst_harness_push_event (harness, gst_event_new_eos ());
  for (guint i = 0; i < 5; i++)
    check_pulled (harness, &mask, 8, i);
  g_object_get (label_of (harness), "active-backend", &active, NULL);
  fail_unless_equals_int (active, 2);
  assert_no_message (bus, GST_MESSAGE_WARNING);
  assert_no_message (bus, GST_MESSAGE_ERROR);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

/* Nor is it told of for every frame that volumes wait for buffers. */
GST_START_TEST (test_contradiction_while_there_is_no_room)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_random (40, 30, 2, 0.4);
  GstHarness *harness = label_harness (__i__, "");
  GstBus *bus = watch_bus (harness);
  guint n = 0;

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  limit_pool (harness->sinkpad, 2);
  ask_for_buffers (harness);
  push_mask (harness, &mask, n++);
  set_label (harness, "algorithm", "reference");        /* see test_contradiction_while_playing */
  set_label (harness, "backend", "cuda");
  set_label (harness, "volume", "3");
  while (n < 4)
    fail_unless_equals_int (push_mask (harness, &mask, n++), GST_FLOW_OK);
  fail_unless_equals_int (gst_harness_buffers_received (harness), 4);
  ask_for_buffers (harness);
  while (n < 7)
    fail_unless_equals_int (push_mask (harness, &mask, n++), GST_FLOW_OK);
  fail_unless_equals_int (gst_harness_buffers_received (harness), 7);
  assert_message (bus, GST_MESSAGE_WARNING, "The method stays as it was");
  assert_no_message (bus, GST_MESSAGE_WARNING);
  assert_no_message (bus, GST_MESSAGE_ERROR);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

/* A method for volumes without one: a warning as well, and none once there is a volume again. */
GST_START_TEST (test_volume_is_switched_off_while_playing)
{
  Mask mask = mask_random (40, 30, 2, 0.4);
  GstHarness *harness = label_harness (0, "volume=2 algorithm=reference-3d");
  GstBus *bus = watch_bus (harness);
  gchar *algorithm;

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  for (guint i = 0; i < 8; i++) {
    if (i == 2 || i == 4)
      set_label (harness, "volume", i == 2 ? "0" : "2");
    if (i == 6)
      set_label (harness, "volume", "0");
    fail_unless_equals_int (push_mask (harness, &mask, i), GST_FLOW_OK);
    if (i == 2 || i == 6)
      assert_message (bus, GST_MESSAGE_WARNING, "Going on with algorithm=auto");
    algorithm = stat_string (harness, "volume-algorithm");
    fail_unless_equals_string (algorithm, i / 2 % 2 ? "none" : "reference-3d");
    g_free (algorithm);
  }
  assert_no_message (bus, GST_MESSAGE_WARNING);
  assert_no_message (bus, GST_MESSAGE_ERROR);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

/* ---------------------------------------------------------------- many times over */

static gsize
resident_pages (void)
{
  FILE *file = fopen ("/proc/self/statm", "r");
  unsigned long total = 0, resident = 0;

  fail_unless (file != NULL && fscanf (file, "%lu %lu", &total, &resident) == 2);
  fclose (file);
  return resident;
}

static guint
open_files (void)
{
  DIR *directory = opendir ("/proc/self/fd");
  guint n = 0;

  while (readdir (directory))
    n++;
  closedir (directory);
  return n;
}

/* Sanitizers and valgrind keep freed memory on purpose, and look for leaks themselves. */
static gboolean
memory_is_counted_elsewhere (void)
{
  const gchar *preload = g_getenv ("LD_PRELOAD");
#if defined (__SANITIZE_ADDRESS__) || defined (__SANITIZE_THREAD__)
  return TRUE;
#endif
  return preload && strstr (preload, "vgpreload");
}

GST_START_TEST (test_start_and_stop_without_growth)
{
  NEED_BACKEND (__i__);

  const guint n = memory_is_counted_elsewhere ()? 20 : 1000, fifth = n / 5;
  GstContext *context = __i__ ? shared_cuda_context (NULL) : NULL;
  gchar *line;
  GstElement *pipeline;
  gsize first_pages = 0, last_pages = 0, pages = 0, min_growth = G_MAXSIZE;
  guint files = 0;

#ifdef M_ARENA_MAX
  mallopt (M_ARENA_MAX, 1);     /* with more, which thread gets which makes pages come and go */
#endif
  line = g_strdup_printf ("videotestsrc pattern=snow ! video/x-raw,format=GRAY8,width=320,height=240 ! "
      "ccllabel backend=%s async-depth=1 threshold=200 ! fakesink", backends[__i__]);
  pipeline = gst_parse_launch (line, NULL);
  if (context)
    gst_element_set_context (pipeline, context);
  for (guint i = 0; i < n; i++) {
    gst_element_set_state (pipeline, GST_STATE_PAUSED);
    gst_element_get_state (pipeline, NULL, NULL, GST_CLOCK_TIME_NONE);
    gst_element_set_state (pipeline, GST_STATE_NULL);
    if ((i + 1) % fifth)
      continue;
    pages = resident_pages ();
    if (i + 1 == fifth) {
      files = open_files ();
      first_pages = pages;
    } else {
      min_growth = MIN (min_growth, pages > last_pages ? pages - last_pages : 0);
    }
    last_pages = pages;
  }
  fail_unless_equals_int (open_files (), files);
  /* A leak grows in every fifth. What a driver or the allocator takes once, and late, grows in one, by a megabyte or so. */
  if (!memory_is_counted_elsewhere ()) {
    fail_unless (min_growth <= 64, "grew by %" G_GSIZE_FORMAT " pages or more every %u times", min_growth, fifth);
    fail_unless (pages <= first_pages + 512, "grew from %" G_GSIZE_FORMAT " to %" G_GSIZE_FORMAT " pages", first_pages,
        pages);
  }
  gst_object_unref (pipeline);
  if (context)
    gst_context_unref (context);
  g_free (line);
}

GST_END_TEST;

static Suite *
ccllabel_suite (void)
{
  Suite *suite = suite_create ("ccllabel");
  TCase *both = tcase_create ("backends"), *once = tcase_create ("element");
  const gint n = G_N_ELEMENTS (backends);

  tcase_set_timeout (both, 300);
  tcase_add_loop_test (both, test_example, 0, n);
  tcase_add_loop_test (both, test_formats, 0, n);
  tcase_add_loop_test (both, test_window_by_video_meta, 0, n);
  tcase_add_loop_test (both, test_plane_per_memory, 0, n);
  tcase_add_loop_test (both, test_memories_split_anywhere, 0, n);
  tcase_add_loop_test (both, test_thresholds, 0, n);
  tcase_add_loop_test (both, test_filters, 0, n);
  tcase_add_loop_test (both, test_sort, 0, n);
  tcase_add_loop_test (both, test_frames_without_background_are_warned_of, 0, n);
  tcase_add_loop_test (both, test_masks_below_the_threshold_are_warned_of, 0, n);
  tcase_add_test (both, test_noise_below_the_threshold_is_not_warned_of);
  tcase_add_test (both, test_limits_that_leave_nothing_are_warned_of);
  tcase_add_loop_test (both, test_truncation_is_flagged_and_warned_of_once_per_caps, 0, n);
  tcase_add_loop_test (both, test_attach, 0, n);
  tcase_add_loop_test (both, test_pixels_are_neither_changed_nor_copied, 0, n);
  tcase_add_loop_test (both, test_same_masks_same_bytes, 0, n);
  tcase_add_loop_test (both, test_connectivity_and_algorithm_change_while_playing, 0, n);
  tcase_add_loop_test (both, test_properties_change_while_playing, 0, n);
  tcase_add_loop_test (both, test_properties_change_from_another_thread, 0, n);
  tcase_add_loop_test (both, test_controlled_property, 0, n);
  tcase_add_loop_test (both, test_async_order_and_latency, 0, n);
  tcase_add_loop_test (both, test_latency_message_when_depth_changes, 0, n);
  tcase_add_loop_test (both, test_events_wait_for_frames, 0, n);
  tcase_add_loop_test (both, test_stream_order_over_caps_changes, 0, n);
  tcase_add_loop_test (both, test_flush_drops_frames_in_flight, 0, n);
  tcase_add_loop_test (both, test_segment_in_bytes, 0, n);
  tcase_add_loop_test (both, test_stop_with_frames_in_flight, 0, n);
  tcase_add_loop_test (both, test_interval, 0, n);
  tcase_add_loop_test (both, test_skip_when_late, 0, n);
  tcase_add_loop_test (both, test_outputs, 0, n);
  tcase_add_loop_test (both, test_output_changes_while_playing, 0, n);
  tcase_add_loop_test (both, test_output_change_reaches_upstream, 0, n);
  tcase_add_loop_test (both, test_caps_while_output_changes, 0, n);
  tcase_add_loop_test (both, test_more_frames_held_back_wait_for_room, 0, n);
  tcase_add_loop_test (both, test_method_does_not_wait_for_room, 0, n);
  tcase_add_loop_test (both, test_method_does_not_wait_for_room_after_a_start, 0, n);
  tcase_add_loop_test (both, test_end_of_volumes_does_not_wait_for_room, 0, n);
  tcase_add_loop_test (both, test_skipped_frames_have_empty_pictures, 0, n);
  tcase_add_loop_test (both, test_labels_saturate, 0, n);
  tcase_add_loop_test (both, test_allocation, 0, n);
  tcase_add_loop_test (both, test_discont_after_frames_dropped, 0, n);
  tcase_add_loop_test (both, test_stats, 0, n);
  tcase_add_loop_test (both, test_buffer_smaller_than_caps, 0, n);
  tcase_add_loop_test (both, test_video_meta_that_maps_by_itself, 0, n);
  tcase_add_loop_test (both, test_video_meta_of_another_frame, 0, n);
  tcase_add_loop_test (both, test_caps_change_mid_stream, 0, n);
  tcase_add_loop_test (both, test_contradiction_while_playing, 0, n);
  tcase_add_loop_test (both, test_contradiction_while_there_is_no_room, 0, n);
  tcase_add_loop_test (both, test_start_and_stop_without_growth, 0, n);
  suite_add_tcase (suite, both);

  tcase_add_test (once, test_caps);
  tcase_add_test (once, test_negotiation);
  tcase_add_test (once, test_cropping_is_not_left_to_downstream);
  tcase_add_test (once, test_bad_caps);
  tcase_add_test (once, test_bad_caps_are_told_of);
  tcase_add_test (once, test_contradictions_stop_the_start);
  tcase_add_test (once, test_volume_is_switched_off_while_playing);
  tcase_add_test (once, test_method_for_volumes_waits_for_room);
  tcase_add_test (once, test_output_is_corrected_after_a_failed_start);
  tcase_add_test (once, test_cuda_without_a_device);
  tcase_add_test (once, test_auto_without_the_device_asked_for);
  suite_add_tcase (suite, once);
  return suite;
}

GST_CHECK_MAIN (ccllabel);
