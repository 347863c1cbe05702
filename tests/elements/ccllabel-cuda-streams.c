/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Masks that another stream still writes. */
#include "ccllabel-cuda.h"

#include <dlfcn.h>

#if GST_CHECK_VERSION (1, 24, 0)
/* A kernel that runs for a given number of nanoseconds. */
static CUfunction
load_delay (void)
{
  static const gchar ptx[] =
      ".version 6.4\n.target sm_75\n.address_size 64\n.visible .entry delay(.param .u64 ns)\n{\n"
      " .reg .u64 %end, %now;\n .reg .pred %early;\n"
      " ld.param.u64 %end, [ns];\n mov.u64 %now, %globaltimer;\n add.u64 %end, %end, %now;\n"
      "again:\n mov.u64 %now, %globaltimer;\n setp.lt.u64 %early, %now, %end;\n @%early bra again;\n ret;\n}\n";
  CUmodule module;
  CUfunction function;

  fail_unless (CuModuleLoadData (&module, ptx) == CUDA_SUCCESS);
  fail_unless (CuModuleGetFunction (&function, module, "delay") == CUDA_SUCCESS);
  return function;
}

/* The luma plane becomes what is at `pixels` (page-locked), in the memory's stream, 50 ms from now. Returns whether that
 * is still to come. */
static gboolean
write_delayed (GstMemory * memory, const guint8 * pixels, CUfunction delay)
{
  static CUresult (*stream_query) (CUstream);
  const GstVideoInfo *const info = &GST_CUDA_MEMORY_CAST (memory)->info;
  const CUstream stream = gst_cuda_stream_get_handle (gst_cuda_memory_get_stream (GST_CUDA_MEMORY_CAST (memory)));
  CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,.srcHost = pixels,.srcPitch = info->width,
    .dstMemoryType = CU_MEMORYTYPE_DEVICE,.dstPitch = info->stride[0],
    .WidthInBytes = info->width,.Height = info->height
  };
  guint64 ns = 50 * GST_MSECOND;
  gpointer arguments[] = { &ns };
  GstMapInfo map;

  if (!stream_query)
    stream_query = (CUresult (*)(CUstream)) dlsym (dlopen ("libcuda.so.1", RTLD_NOW), "cuStreamQuery");
  fail_unless (gst_memory_map (memory, &map, (GstMapFlags) (GST_MAP_WRITE | GST_MAP_CUDA)));
  copy.dstDevice = (CUdeviceptr) map.data + info->offset[0];
  fail_unless (CuLaunchKernel (delay, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL) == CUDA_SUCCESS);
  fail_unless (CuMemcpy2DAsync (&copy, stream) == CUDA_SUCCESS);
  gst_memory_unmap (memory, &map);
  return stream_query (stream) == CUDA_ERROR_NOT_READY;
}

/* Frames with delayed masks: each has a stream of its own. Until the stream has written the mask, another picture is there. */
typedef struct
{
  GstCudaContext *context;
  CUfunction delay;
  guint8 *pixels;               /* page-locked, of all frames */
  guint8 on, off;
  guint n_delayed;              /* how many were still to be written when they were pushed */
} Delayed;

enum
{ N_DELAYED = 6, DELAYED_WIDTH = 640, DELAYED_HEIGHT = 480 };

static Mask
delayed_mask (guint n)
{
  return mask_random (DELAYED_WIDTH, DELAYED_HEIGHT, n, 0.4);
}

static Delayed
delayed_new (guint8 on, guint8 off)
{
  Delayed delayed = {.context = new_context (),.on = on,.off = off };

  gst_cuda_context_push (delayed.context);
  delayed.delay = load_delay ();
  fail_unless (CuMemAllocHost ((gpointer *) & delayed.pixels,
          N_DELAYED * DELAYED_WIDTH * DELAYED_HEIGHT) == CUDA_SUCCESS);
  gst_cuda_context_pop (NULL);
  return delayed;
}

static void
delayed_free (Delayed * delayed)
{
  fail_unless (delayed->n_delayed > 0, "every frame was there at once: this tests nothing");
  gst_cuda_context_push (delayed->context);
  CuMemFreeHost (delayed->pixels);
  gst_cuda_context_pop (NULL);
  gst_object_unref (delayed->context);
}

/* Pushes all frames, and the end of the stream. */
static void
delayed_push (Delayed * delayed, GstHarness * harness)
{
  Mask mask = delayed_mask (0);

  set_cuda_caps (harness, GST_VIDEO_FORMAT_NV12, &mask);
  mask_free (&mask);
  for (guint i = 0; i < N_DELAYED; i++) {
    GstCudaStream *stream = gst_cuda_stream_new (delayed->context);
    guint8 *pixels = delayed->pixels + i * DELAYED_WIDTH * DELAYED_HEIGHT;
    Mask before = delayed_mask (100 + i);
    GstBuffer *buffer = cuda_buffer_of_stream (delayed->context, stream, GST_VIDEO_FORMAT_NV12, &before);

    mask = delayed_mask (i);
    draw_mask (pixels, DELAYED_WIDTH, 1, &mask, delayed->on, delayed->off);
    gst_cuda_context_push (delayed->context);
    delayed->n_delayed += write_delayed (gst_buffer_peek_memory (buffer, 0), pixels, delayed->delay);
    gst_cuda_context_pop (NULL);
    GST_BUFFER_PTS (buffer) = i * 40 * GST_MSECOND;
    fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_OK);
    gst_cuda_stream_unref (stream);
    mask_free (&before);
    mask_free (&mask);
  }
  gst_harness_push_event (harness, gst_event_new_eos ());
}

GST_START_TEST (test_stream_of_the_memory_is_waited_for)
{
  static const gchar *const settings[] = {
    "max-components=100000", "max-components=100000 async-depth=1", "max-components=100000 async-depth=2",
    "max-components=100000 volume=3",
  };
  Delayed delayed = delayed_new (128, 127);

  for (guint s = 0; s < G_N_ELEMENTS (settings); s++) {
    GstHarness *harness = harness_with (__i__, settings[s], delayed.context);

    delayed_push (&delayed, harness);
    for (guint i = 0; i < N_DELAYED; i++) {
      GstBuffer *buffer = gst_harness_pull (harness);
      Mask mask = delayed_mask (i);

      assert_blobs (buffer, &mask, 8);
      mask_free (&mask);
      gst_buffer_unref (buffer);
    }
    assert_path (harness, __i__ ? "cuda-memory" : "cuda-memory-downloaded");
    gst_harness_teardown (harness);
  }
  delayed_free (&delayed);
}

GST_END_TEST;

/* Late frames in CUDA memory give the same motion as the same frames in system memory. */
GST_START_TEST (test_stream_of_a_frame_is_waited_for_by_cclmotion)
{
  Delayed delayed = delayed_new (200, 40);
  GBytes *expected[N_DELAYED];
  guint n = 0;

  for (guint is_delayed = 0; is_delayed <= 1; is_delayed++) {
    GstContext *context = gst_context_new_cuda_context (delayed.context);
    GstHarness *harness = gst_harness_new_parse ("cclmotion backend=cuda method=diff warmup-frames=1 ! "
        "ccllabel name=label backend=cuda mask-source=mask-meta max-components=100000");

    gst_element_set_state (harness->element, GST_STATE_NULL);
    gst_element_set_context (harness->element, context);
    gst_harness_play (harness);
    gst_context_unref (context);
    if (is_delayed) {
      delayed_push (&delayed, harness);
    } else {
      for (guint i = 0; i < N_DELAYED; i++) {
        Mask mask = delayed_mask (i);
        GstBuffer *buffer = buffer_from_values (GST_VIDEO_FORMAT_NV12, &mask, delayed.on, delayed.off);

        if (i == 0)
          set_mask_caps (harness, GST_VIDEO_FORMAT_NV12, &mask);
        GST_BUFFER_PTS (buffer) = i * 40 * GST_MSECOND;
        fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_OK);
        mask_free (&mask);
      }
      gst_harness_push_event (harness, gst_event_new_eos ());
    }
    for (guint i = 0; i < N_DELAYED; i++) {
      GstBuffer *buffer = gst_harness_pull (harness);
      GBytes *bytes = gst_ccl_blob_meta_to_bytes (gst_buffer_get_ccl_blob_meta (buffer));

      n += n_blobs (buffer);
      if (is_delayed) {
        fail_unless (g_bytes_equal (bytes, expected[i]), "frame %u: not what moves in it", i);
        g_bytes_unref (expected[i]);
        g_bytes_unref (bytes);
      } else {
        expected[i] = bytes;
      }
      gst_buffer_unref (buffer);
    }
    gst_harness_teardown (harness);
  }
  fail_unless (n > 100, "only %u blobs: this tests nothing", n);
  delayed_free (&delayed);
}

GST_END_TEST;
#else
GST_START_TEST (test_stream_of_the_memory_is_waited_for)
{
  SKIP_TEST ("GStreamer before 1.24");
}

GST_END_TEST;

GST_START_TEST (test_stream_of_a_frame_is_waited_for_by_cclmotion)
{
  SKIP_TEST ("GStreamer before 1.24");
}

GST_END_TEST;
#endif

void
ccllabel_cuda_add_streams_tests (Suite * suite)
{
  TCase *tests = tcase_create ("streams");

  tcase_set_timeout (tests, 120);
  tcase_add_loop_test (tests, test_stream_of_the_memory_is_waited_for, 0, G_N_ELEMENTS (backends));
  tcase_add_test (tests, test_stream_of_a_frame_is_waited_for_by_cclmotion);
  suite_add_tcase (suite, tests);
}
