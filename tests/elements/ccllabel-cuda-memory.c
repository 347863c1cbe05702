/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Masks in CUDA memory. */
#include "ccllabel-cuda.h"

static const GstVideoFormat cuda_formats[] = {
  GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_NV21, GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_YV12, GST_VIDEO_FORMAT_Y42B,
  GST_VIDEO_FORMAT_Y444,
};

/* Pulls `n` buffers with the timestamps 0, 1, ... Their blobs are those of the masks in turn. */
static void
assert_pulled (GstHarness * harness, guint n, const Mask * masks, guint n_masks)
{
  for (guint i = 0; i < n; i++) {
    GstBuffer *buffer = gst_harness_pull (harness);

    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), i);
    assert_blobs (buffer, &masks[i % n_masks], 8);
    gst_buffer_unref (buffer);
  }
}

static void
end_test (GstHarness * harness, Mask * mask, GstCudaContext * context)
{
  gst_harness_teardown (harness);
  mask_free (mask);
  gst_object_unref (context);
}

GST_START_TEST (test_formats)
{
  static const guint sizes[][2] = { {2, 2}, {64, 48}, {127, 31}, {320, 242}, {1, 33}, {1920, 1080} };
  GstCudaContext *context = new_context ();

  for (guint f = 0; f < G_N_ELEMENTS (cuda_formats); f++)
    for (guint s = 0; s < G_N_ELEMENTS (sizes); s++)
      for (guint connectivity = 4; connectivity <= 8; connectivity += 4) {
        gchar *settings = g_strdup_printf ("max-components=100000 connectivity=%u", connectivity);
        GstHarness *harness = harness_with (__i__, settings, context);
        Mask mask = mask_random (sizes[s][0], sizes[s][1], s, 0.6);
        GstBuffer *in = cuda_buffer (context, cuda_formats[f], &mask), *out;
        GstMemory *memory = gst_buffer_peek_memory (in, 0);

        set_cuda_caps (harness, cuda_formats[f], &mask);
        out = gst_harness_push_and_pull (harness, in);
        fail_unless (out != NULL);
        assert_blobs (out, &mask, connectivity);
        fail_unless (gst_buffer_peek_memory (out, 0) == memory, "the memory was copied");
        assert_path (harness, __i__ ? "cuda-memory" : "cuda-memory-downloaded");
        gst_buffer_unref (out);
        gst_harness_teardown (harness);
        mask_free (&mask);
        g_free (settings);
      }
  gst_object_unref (context);
}

GST_END_TEST;

/* CUDA memory with caps of system memory. cudadownload passes such buffers on. */
GST_START_TEST (test_cuda_memory_under_system_caps)
{
  GstCudaContext *context = new_context ();
  GstHarness *harness = harness_with (__i__, "", context);
  Mask mask = mask_random (320, 240, 1, 0.4);
  GstBuffer *buffer;

  set_mask_caps (harness, GST_VIDEO_FORMAT_NV12, &mask);
  buffer = gst_harness_push_and_pull (harness, cuda_buffer (context, GST_VIDEO_FORMAT_NV12, &mask));
  assert_blobs (buffer, &mask, 8);
  assert_path (harness, __i__ ? "cuda-memory" : "cuda-memory-downloaded");
  gst_buffer_unref (buffer);
  end_test (harness, &mask, context);
}

GST_END_TEST;

/* System masks behind caps that say CUDA memory, and both in turn. */
GST_START_TEST (test_memory_changes_from_frame_to_frame)
{
  GstCudaContext *context = new_context ();
  GstHarness *harness = harness_with (__i__, "async-depth=2 max-components=100000", context);
  Mask mask = mask_random (321, 243, 2, 0.4);

  set_cuda_caps (harness, GST_VIDEO_FORMAT_I420, &mask);
  for (guint i = 0; i < 12; i++) {
    GstBuffer *buffer = i % 3 ? cuda_buffer (context, GST_VIDEO_FORMAT_I420, &mask)
        : buffer_from_mask (GST_VIDEO_FORMAT_I420, &mask);
    GST_BUFFER_PTS (buffer) = i;
    fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_OK);
  }
  gst_harness_push_event (harness, gst_event_new_eos ());
  assert_pulled (harness, 12, &mask, 1);
  end_test (harness, &mask, context);
}

GST_END_TEST;

GST_START_TEST (test_async_in_cuda_memory)
{
  GstCudaContext *context = new_context ();

  for (guint depth = 0; depth <= 3; depth++) {
    gchar *settings = g_strdup_printf ("async-depth=%u max-components=100000", depth);
    GstHarness *harness = harness_with (__i__, settings, context);
    Mask masks[10];

    for (guint i = 0; i < 10; i++) {
      GstBuffer *buffer;

      masks[i] = mask_random (640, 480, i, 0.05 * i);
      buffer = cuda_buffer (context, GST_VIDEO_FORMAT_NV12, &masks[i]);
      if (i == 0)
        set_cuda_caps (harness, GST_VIDEO_FORMAT_NV12, &masks[0]);
      GST_BUFFER_PTS (buffer) = i;
      fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_OK);
      fail_unless_equals_int (gst_harness_buffers_received (harness), i + 1 > depth ? i + 1 - depth : 0);
    }
    gst_harness_push_event (harness, gst_event_new_eos ());
    assert_pulled (harness, 10, masks, 10);
    for (guint i = 0; i < 10; i++)
      mask_free (&masks[i]);
    gst_harness_teardown (harness);
    g_free (settings);
  }
  gst_object_unref (context);
}

GST_END_TEST;

GST_START_TEST (test_outputs_of_cuda_memory)
{
  GstCudaContext *context = new_context ();
  GstHarness *harness = harness_with (__i__, "output=mask async-depth=1", context);
  Mask mask = mask_random (65, 33, 1, 0.4);
  GstBuffer *buffer;
  GstVideoInfo info;
  GstVideoFrame frame;

  set_cuda_caps (harness, GST_VIDEO_FORMAT_Y444, &mask);
  gst_harness_push (harness, cuda_buffer (context, GST_VIDEO_FORMAT_Y444, &mask));
  gst_harness_push_event (harness, gst_event_new_eos ());
  buffer = gst_harness_pull (harness);
  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_GRAY8, 65, 33);
  fail_unless (gst_video_frame_map (&frame, &info, buffer, GST_MAP_READ));
  for (guint y = 0; y < 33; y++)
    for (guint x = 0; x < 65; x++)
      fail_unless_equals_int (((guint8 *) frame.data[0])[y * frame.info.stride[0] + x],
          mask.pixels[y * 65 + x] ? 255 : 0);
  gst_video_frame_unmap (&frame);
  assert_blobs (buffer, &mask, 8);
  gst_buffer_unref (buffer);
  end_test (harness, &mask, context);
}

GST_END_TEST;

/* Measures of masks in CUDA memory: the same metadata on both backends. */
static GBytes *
measure (guint backend, const gchar * settings, GstCudaContext * context)
{
  GstHarness *harness = harness_with (backend, settings, context);
  GBytes *metas;

  for (guint i = 0; i < 6; i++) {
    Mask mask = mask_random (i < 3 ? 320 : 222, 240, i, 0.1 + 0.1 * i);

    if (i % 3 == 0)
      set_cuda_caps (harness, GST_VIDEO_FORMAT_NV12, &mask);
    fail_unless_equals_int (gst_harness_push (harness, cuda_buffer (context, GST_VIDEO_FORMAT_NV12, &mask)),
        GST_FLOW_OK);
    mask_free (&mask);
  }
  gst_harness_push_event (harness, gst_event_new_eos ());
  metas = pull_blob_metas (harness);
  fail_unless_equals_int (gst_harness_buffers_received (harness), 6);
  gst_harness_teardown (harness);
  return metas;
}

GST_START_TEST (test_measures_in_cuda_memory)
{
  static const gchar *const settings[] = { "features=shape", "features=shape async-depth=2", "features=intensity",
    "features=shape+intensity sort=circularity-desc filter=\"intensity-mean > 20\" async-depth=1"
  };
  GstCudaContext *context = new_context ();
  GBytes *const on_cpu = measure (0, settings[__i__], context), *const on_gpu = measure (1, settings[__i__], context);

  fail_unless (g_bytes_equal (on_cpu, on_gpu), "%s", settings[__i__]);
  g_bytes_unref (on_cpu);
  g_bytes_unref (on_gpu);
  gst_object_unref (context);
}

GST_END_TEST;

void
ccllabel_cuda_add_memory_tests (Suite * suite)
{
  TCase *tests = tcase_create ("cuda-memory");

  tcase_set_timeout (tests, 120);
  tcase_add_loop_test (tests, test_formats, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_cuda_memory_under_system_caps, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_memory_changes_from_frame_to_frame, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_async_in_cuda_memory, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_outputs_of_cuda_memory, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_measures_in_cuda_memory, 0, 4);
  suite_add_tcase (suite, tests);
}
