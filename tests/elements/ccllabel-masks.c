/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Masks in every format and layout of memory, and which pixels are foreground. */
#include "ccllabel.h"

#include <gst/ccl/gstcclmaskmeta.h>

/* Shapes that 4- and 8-connectivity tell apart, with borders touched and not. */
static Mask
example_mask (void)
{
  return MASK ( /**/ ".##......", "...#..##.", "#.....##.", "........#");
}

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
  buffer = label_one (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
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

  buffer = label_one (harness, format, &mask);
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

/* The mask beside a frame is released with the frame. */
GST_START_TEST (test_mask_meta_is_released)
{
  NEED_BACKEND (__i__);

  GstHarness *const harness = label_harness (__i__, "mask-source=mask-meta async-depth=1");
  GstBuffer *const mask = plain_frame (64 * 48, 255, GST_CLOCK_TIME_NONE, GST_CLOCK_TIME_NONE);
  GstBuffer *out;

  gst_buffer_add_video_meta (mask, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 64, 48);
  gst_harness_set_src_caps_str (harness, "video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1");
  for (guint i = 0; i < 3; i++) {
    GstBuffer *const frame = plain_frame (64 * 48, 0, i * GST_SECOND, GST_SECOND);

    gst_buffer_add_ccl_mask_meta (frame, mask, 64, 48);
    fail_unless_equals_int (gst_harness_push (harness, frame), GST_FLOW_OK);
  }
  gst_harness_push_event (harness, gst_event_new_eos ());
  for (guint i = 0; i < 3; i++) {
    out = gst_harness_pull (harness);
    fail_unless_equals_int (gst_ccl_blob_meta_get_length (gst_buffer_get_ccl_blob_meta (out)), 1);
    gst_buffer_unref (out);
  }
  gst_harness_teardown (harness);
  fail_unless_equals_int (GST_MINI_OBJECT_REFCOUNT_VALUE (mask), 1);
  gst_buffer_unref (mask);
}

GST_END_TEST;

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

    /* As behind a tee: another branch holds the buffer too. */
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

/* Like the metas of gstreamer-vaapi: the map function returns the pixels and leaves the GstMapInfo empty. */
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

void
ccllabel_add_masks_tests (Suite * suite)
{
  TCase *tests = tcase_create ("masks");

  tcase_set_timeout (tests, 300);
  tcase_add_loop_test (tests, test_example, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_mask_meta_is_released, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_formats, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_window_by_video_meta, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_plane_per_memory, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_memories_split_anywhere, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_thresholds, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_pixels_are_neither_changed_nor_copied, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_same_masks_same_bytes, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_buffer_smaller_than_caps, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_video_meta_that_maps_by_itself, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_video_meta_of_another_frame, 0, G_N_ELEMENTS (backends));
  suite_add_tcase (suite, tests);
}
