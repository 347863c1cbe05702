/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* ccllabel on a GPU, through libgstcuda: masks in CUDA memory, shared contexts, pinned memory, a device that fails.
 * Exit status 77 without a device. */
#include "ccllabel.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>
#include <gst/cuda/cuda-gst.h>

static const GstVideoFormat cuda_formats[] = {
  GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_NV21, GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_YV12, GST_VIDEO_FORMAT_Y42B,
  GST_VIDEO_FORMAT_Y444,
};

static GstCudaContext *
new_context (void)
{
  GstCudaContext *context;

  fail_unless (gst_cuda_load_library ());
  gst_cuda_memory_init_once ();
  context = gst_cuda_context_new (0);
  fail_unless (context != NULL);
  return context;
}

/* Bytes free on the context's device. */
static gsize
free_device_memory (GstCudaContext * context)
{
  static CUresult (*get_info) (size_t *, size_t *);
  size_t bytes = 0, total;

  if (!get_info)
    get_info = (CUresult (*)(size_t *, size_t *)) dlsym (dlopen ("libcuda.so.1", RTLD_NOW), "cuMemGetInfo_v2");
  gst_cuda_context_push (context);
  fail_unless (get_info (&bytes, &total) == CUDA_SUCCESS);
  gst_cuda_context_pop (NULL);
  return bytes;
}

/* A mask in CUDA memory; written on the host, uploaded by whoever maps it on the device first. From 1.24 on the memory
 * knows the GstCudaStream it is written in. */
static GstBuffer *
cuda_buffer_of_stream (GstCudaContext * context, gpointer stream, GstVideoFormat format, const Mask * mask)
{
  GstAllocator *allocator = gst_allocator_find (GST_CUDA_MEMORY_TYPE_NAME);
  GstBuffer *buffer = gst_buffer_new ();
  GstMemory *memory;
  GstVideoInfo info, *layout;
  GstMapInfo map;

  gst_video_info_set_format (&info, format, mask->width, mask->height);
#if GST_CHECK_VERSION (1, 24, 0)
  memory = gst_cuda_allocator_alloc (GST_CUDA_ALLOCATOR_CAST (allocator), context, stream, &info);
#else
  (void) stream;
  memory = gst_cuda_allocator_alloc (GST_CUDA_ALLOCATOR_CAST (allocator), context, &info);
#endif
  gst_object_unref (allocator);
  fail_unless (memory != NULL);
  layout = &GST_CUDA_MEMORY_CAST (memory)->info;
  fail_unless (gst_memory_map (memory, &map, GST_MAP_WRITE));
  memset (map.data, 200, map.size);
  draw_mask (map.data + layout->offset[0], layout->stride[0], 1, mask, 128, 127);
  gst_memory_unmap (memory, &map);
  gst_buffer_append_memory (buffer, memory);
  gst_buffer_add_video_meta_full (buffer, 0, format, mask->width, mask->height, layout->finfo->n_planes, layout->offset,
      layout->stride);
  return buffer;
}

static GstBuffer *
cuda_buffer (GstCudaContext * context, GstVideoFormat format, const Mask * mask)
{
  return cuda_buffer_of_stream (context, NULL, format, mask);
}

static void
set_cuda_caps (GstHarness * harness, GstVideoFormat format, const Mask * mask)
{
  gchar *system = caps_string (format, mask->width, mask->height);
  GstCaps *caps = gst_caps_from_string (system);

  gst_caps_set_features (caps, 0, gst_caps_features_new ("memory:CUDAMemory", NULL));
  gst_harness_set_src_caps (harness, caps);
  g_free (system);
}

static GstHarness *
harness_with (guint backend, const gchar * settings, GstCudaContext * cuda)
{
  GstContext *context = gst_context_new_cuda_context (cuda);
  GstHarness *harness = harness_in_context (backend, settings, context);

  gst_context_unref (context);
  return harness;
}

static void
assert_path (GstHarness * harness, const gchar * expected)
{
  gchar *path = stat_string (harness, "path");

  fail_unless_equals_string (path, expected);
  g_free (path);
}

/* ---------------------------------------------------------------- masks in CUDA memory */

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

/* As cudadownload leaves it when it has nothing to do: CUDA memory behind caps that say system memory. */
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
  gst_harness_teardown (harness);
  mask_free (&mask);
  gst_object_unref (context);
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
  for (guint i = 0; i < 12; i++) {
    GstBuffer *buffer = gst_harness_pull (harness);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), i);
    assert_blobs (buffer, &mask, 8);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (harness);
  mask_free (&mask);
  gst_object_unref (context);
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
    for (guint i = 0; i < 10; i++) {
      GstBuffer *buffer = gst_harness_pull (harness);
      fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), i);
      assert_blobs (buffer, &masks[i], 8);
      gst_buffer_unref (buffer);
      mask_free (&masks[i]);
    }
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
  gst_harness_teardown (harness);
  mask_free (&mask);
  gst_object_unref (context);
}

GST_END_TEST;

/* ---------------------------------------------------------------- masks that are still being written */

#if GST_CHECK_VERSION (1, 24, 0)

/* A kernel that takes so many nanoseconds. */
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
write_late (GstMemory * memory, const guint8 * pixels, CUfunction delay)
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

/* Frames that come late: each has a stream of its own, and until that has written it another picture is there. */
typedef struct
{
  GstCudaContext *context;
  CUfunction delay;
  guint8 *pixels;               /* page-locked, of all frames */
  guint8 on, off;
  guint n_late;                 /* how many were still to be written when they were pushed */
} Late;

enum
{ N_LATE = 6, LATE_WIDTH = 640, LATE_HEIGHT = 480 };

static Mask
late_mask (guint n)
{
  return mask_random (LATE_WIDTH, LATE_HEIGHT, n, 0.4);
}

static Late
late_new (guint8 on, guint8 off)
{
  Late late = {.context = new_context (),.on = on,.off = off };

  gst_cuda_context_push (late.context);
  late.delay = load_delay ();
  fail_unless (CuMemAllocHost ((gpointer *) & late.pixels, N_LATE * LATE_WIDTH * LATE_HEIGHT) == CUDA_SUCCESS);
  gst_cuda_context_pop (NULL);
  return late;
}

static void
late_free (Late * late)
{
  fail_unless (late->n_late > 0, "every frame was there at once: this tests nothing");
  gst_cuda_context_push (late->context);
  CuMemFreeHost (late->pixels);
  gst_cuda_context_pop (NULL);
  gst_object_unref (late->context);
}

/* Pushes all frames, and the end of the stream. */
static void
late_push (Late * late, GstHarness * harness)
{
  Mask mask = late_mask (0);

  set_cuda_caps (harness, GST_VIDEO_FORMAT_NV12, &mask);
  mask_free (&mask);
  for (guint i = 0; i < N_LATE; i++) {
    GstCudaStream *stream = gst_cuda_stream_new (late->context);
    guint8 *pixels = late->pixels + i * LATE_WIDTH * LATE_HEIGHT;
    Mask before = late_mask (100 + i);
    GstBuffer *buffer = cuda_buffer_of_stream (late->context, stream, GST_VIDEO_FORMAT_NV12, &before);

    mask = late_mask (i);
    draw_mask (pixels, LATE_WIDTH, 1, &mask, late->on, late->off);
    gst_cuda_context_push (late->context);
    late->n_late += write_late (gst_buffer_peek_memory (buffer, 0), pixels, late->delay);
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
  Late late = late_new (128, 127);

  for (guint s = 0; s < G_N_ELEMENTS (settings); s++) {
    GstHarness *harness = harness_with (__i__, settings[s], late.context);

    late_push (&late, harness);
    for (guint i = 0; i < N_LATE; i++) {
      GstBuffer *buffer = gst_harness_pull (harness);
      Mask mask = late_mask (i);

      assert_blobs (buffer, &mask, 8);
      mask_free (&mask);
      gst_buffer_unref (buffer);
    }
    assert_path (harness, __i__ ? "cuda-memory" : "cuda-memory-downloaded");
    gst_harness_teardown (harness);
  }
  late_free (&late);
}

GST_END_TEST;

/* What moves in frames that come late is what moves in the same frames in system memory. */
GST_START_TEST (test_stream_of_a_frame_is_waited_for_by_cclmotion)
{
  Late late = late_new (200, 40);
  GBytes *expected[N_LATE];
  guint n = 0;

  for (guint is_late = 0; is_late <= 1; is_late++) {
    GstContext *context = gst_context_new_cuda_context (late.context);
    GstHarness *harness = gst_harness_new_parse ("cclmotion backend=cuda method=diff warmup-frames=1 ! "
        "ccllabel name=label backend=cuda mask-source=mask-meta max-components=100000");

    gst_element_set_state (harness->element, GST_STATE_NULL);
    gst_element_set_context (harness->element, context);
    gst_harness_play (harness);
    gst_context_unref (context);
    if (is_late) {
      late_push (&late, harness);
    } else {
      for (guint i = 0; i < N_LATE; i++) {
        Mask mask = late_mask (i);
        GstBuffer *buffer = buffer_from_values (GST_VIDEO_FORMAT_NV12, &mask, late.on, late.off);

        if (i == 0)
          set_mask_caps (harness, GST_VIDEO_FORMAT_NV12, &mask);
        GST_BUFFER_PTS (buffer) = i * 40 * GST_MSECOND;
        fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_OK);
        mask_free (&mask);
      }
      gst_harness_push_event (harness, gst_event_new_eos ());
    }
    for (guint i = 0; i < N_LATE; i++) {
      GstBuffer *buffer = gst_harness_pull (harness);
      GBytes *bytes = gst_ccl_blob_meta_to_bytes (gst_buffer_get_ccl_blob_meta (buffer));

      n += n_blobs (buffer);
      if (is_late) {
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
  late_free (&late);
}

GST_END_TEST;

#endif

/* ---------------------------------------------------------------- contexts */

GST_START_TEST (test_context_is_shared_and_followed)
{
  GstCudaContext *first = new_context (), *second = new_context ();
  GstHarness *harness = harness_with (1, "async-depth=1", first);
  Mask mask = mask_random (320, 240, 1, 0.4);
  GstContext *context = NULL;
  GstQuery *query = gst_query_new_context (GST_CUDA_CONTEXT_TYPE);
  GstCudaContext *answer = NULL;

  fail_unless (gst_pad_peer_query (harness->srcpad, query), "no answer to the CONTEXT query");
  gst_query_parse_context (query, &context);
  gst_structure_get (gst_context_get_structure (context), GST_CUDA_CONTEXT_TYPE, GST_TYPE_CUDA_CONTEXT, &answer, NULL);
  fail_unless (answer == first);
  gst_object_unref (answer);
  gst_query_unref (query);

  set_cuda_caps (harness, GST_VIDEO_FORMAT_NV12, &mask);
  for (guint i = 0; i < 9; i++) {
    GstBuffer *buffer = cuda_buffer (i / 3 % 2 ? second : first, GST_VIDEO_FORMAT_NV12, &mask);
    GST_BUFFER_PTS (buffer) = i;
    fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_OK);
  }
  gst_harness_push_event (harness, gst_event_new_eos ());
  for (guint i = 0; i < 9; i++) {
    GstBuffer *buffer = gst_harness_pull (harness);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), i);
    assert_blobs (buffer, &mask, 8);
    gst_buffer_unref (buffer);
  }
  assert_path (harness, "cuda-memory");
  gst_harness_teardown (harness);
  mask_free (&mask);
  ASSERT_OBJECT_REFCOUNT (first, "first context", 1);
  ASSERT_OBJECT_REFCOUNT (second, "second context", 1);
  gst_object_unref (first);
  gst_object_unref (second);
}

GST_END_TEST;

/* ---------------------------------------------------------------- pinned memory */

GST_START_TEST (test_pinned_memory)
{
  GstCudaContext *context = new_context ();
  GstHarness *harness = harness_with (1, "async-depth=1 max-components=100000", context);
  Mask mask = mask_random (640, 480, 1, 0.4);
  gchar *text = caps_string (GST_VIDEO_FORMAT_GRAY8, 640, 480);
  GstCaps *caps = gst_caps_from_string (text);
  GstQuery *query = gst_query_new_allocation (caps, TRUE);
  GstAllocationParams params;
  GstAllocator *allocator;
  GstBuffer *buffer;
  GstMemory *memory, *part;
  GstMapInfo map;

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  fail_unless (gst_pad_peer_query (harness->srcpad, query));
  gst_query_parse_nth_allocation_param (query, 0, &allocator, &params);
  fail_unless (allocator != NULL);
  gst_query_unref (query);

  for (guint i = 0; i < 20; i++) {
    /* Aligned, prefixed and padded as some decoders want it. */
    gst_allocation_params_init (&params);
    params.align = i % 2 ? 8191 : 63;
    params.prefix = i % 3 ? 64 : 0;
    params.padding = 32;
    memory = gst_allocator_alloc (allocator, 640 * 480, &params);
    fail_unless (gst_memory_is_type (memory, "CclPinnedMemory"));
    gst_memory_map (memory, &map, GST_MAP_WRITE);
    fail_unless_equals_int (((guintptr) map.data - params.prefix) & params.align, 0);
    draw_mask (map.data, 640, 1, &mask, 255, 0);
    gst_memory_unmap (memory, &map);
    buffer = gst_buffer_new ();
    if (i % 5 == 4) {
      part = gst_memory_share (memory, 0, -1);
      gst_memory_unref (memory);
      memory = part;
    }
    gst_buffer_append_memory (buffer, memory);
    fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_OK);
  }
  gst_harness_push_event (harness, gst_event_new_eos ());
  for (guint i = 0; i < 20; i++) {
    buffer = gst_harness_pull (harness);
    assert_blobs (buffer, &mask, 8);
    if (i == 19)
      memory = gst_memory_ref (gst_buffer_peek_memory (buffer, 0));
    gst_buffer_unref (buffer);
  }
  assert_path (harness, "pinned");
  gst_object_unref (allocator);
  gst_harness_teardown (harness);
  /* Memory outlives the element that offered it. */
  gst_memory_map (memory, &map, GST_MAP_READ);
  fail_unless_equals_int (map.data[0], mask.pixels[0] ? 255 : 0);
  gst_memory_unmap (memory, &map);
  gst_memory_unref (memory);
  ASSERT_OBJECT_REFCOUNT (context, "context", 1);
  gst_object_unref (context);
  gst_caps_unref (caps);
  g_free (text);
  mask_free (&mask);
}

GST_END_TEST;

/* What is mapped of a mask in two page-locked memories is a copy of both, which is not. */
GST_START_TEST (test_pinned_memories_that_are_merged)
{
  GstCudaContext *context = new_context ();
  GstHarness *harness = harness_with (1, "max-components=100000", context);
  Mask mask = mask_random (640, 480, 1, 0.4);
  const gsize sizes[] = { 640 * 100 + 77, 640 * 380 - 77 };
  GstBuffer *whole = buffer_from_mask (GST_VIDEO_FORMAT_GRAY8, &mask), *buffer;
  GstCaps *caps;
  GstQuery *query;
  GstAllocator *allocator;

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  caps = gst_pad_get_current_caps (harness->srcpad);
  query = gst_query_new_allocation (caps, TRUE);
  gst_caps_unref (caps);
  fail_unless (gst_pad_peer_query (harness->srcpad, query));
  gst_query_parse_nth_allocation_param (query, 0, &allocator, NULL);
  gst_query_unref (query);
  fail_unless (allocator != NULL);

  for (guint i = 0; i < 3; i++) {
    gsize offset = 0;

    buffer = gst_buffer_new ();
    for (guint m = 0; m < 2; offset += sizes[m++]) {
      GstMemory *const memory = gst_allocator_alloc (allocator, sizes[m], NULL);
      GstMapInfo map;

      fail_unless (gst_memory_is_type (memory, "CclPinnedMemory"));
      gst_memory_map (memory, &map, GST_MAP_WRITE);
      gst_buffer_extract (whole, offset, map.data, sizes[m]);
      gst_memory_unmap (memory, &map);
      gst_buffer_append_memory (buffer, memory);
    }
    buffer = gst_harness_push_and_pull (harness, buffer);
    fail_unless (buffer != NULL);
    assert_blobs (buffer, &mask, 8);
    gst_buffer_unref (buffer);
  }
  assert_path (harness, "system");
  gst_buffer_unref (whole);
  gst_object_unref (allocator);
  gst_harness_teardown (harness);
  ASSERT_OBJECT_REFCOUNT (context, "context", 1);
  gst_object_unref (context);
  mask_free (&mask);
}

GST_END_TEST;

/* ---------------------------------------------------------------- a device that fails */

/* A kernel that traps leaves a context in which every later call fails. */
static void
break_device (GstCudaContext * context)
{
  static const gchar ptx[] = ".version 6.4\n.target sm_75\n.address_size 64\n.visible .entry boom()\n{\n trap;\n}\n";
  CUmodule module;
  CUfunction function;

  gst_cuda_context_push (context);
  fail_unless (CuModuleLoadData (&module, ptx) == CUDA_SUCCESS);
  fail_unless (CuModuleGetFunction (&function, module, "boom") == CUDA_SUCCESS);
  fail_unless (CuLaunchKernel (function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) == CUDA_SUCCESS);
  fail_unless (CuStreamSynchronize (NULL) != CUDA_SUCCESS, "the kernel did not trap");
  gst_cuda_context_pop (NULL);
}

/* backend=auto: one warning, when a frame of the device's is waited for at the latest, the CPU goes on, every frame comes out
 * with its blobs. */
GST_START_TEST (test_device_fails_with_auto)
{
  const guint depth = __i__;
  GstCudaContext *context = new_context ();
  gchar *settings = g_strdup_printf ("backend=auto output=%s async-depth=%u", depth == 2 ? "mask" : "passthrough",
      depth);
  GstHarness *harness = harness_with (1, settings, context);
  GstBus *bus = watch_bus (harness);
  Mask masks[12];
  gint active;

  for (guint i = 0; i < 12; i++)
    masks[i] = mask_random (320, 240, i, 0.3);
  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &masks[0]);
  for (guint i = 0; i < 12; i++) {
    if (i == 5)
      break_device (context);
    fail_unless_equals_int (push_mask (harness, &masks[i], i), GST_FLOW_OK);
    g_object_get (label_of (harness), "active-backend", &active, NULL);
    if (i < 5 || i >= 5 + depth)
      fail_unless_equals_int (active, i < 5 ? 1 : 2);
  }
  gst_harness_push_event (harness, gst_event_new_eos ());
  for (guint i = 0; i < 12; i++) {
    GstBuffer *buffer = gst_harness_try_pull (harness);

    fail_unless (buffer != NULL, "frame %u was lost", i);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), i * 40 * GST_MSECOND);
    assert_blobs (buffer, &masks[i], 8);
    gst_buffer_unref (buffer);
    mask_free (&masks[i]);
  }
  assert_message (bus, GST_MESSAGE_WARNING, "Continuing on the CPU");
  assert_no_message (bus, GST_MESSAGE_WARNING);
  assert_no_message (bus, GST_MESSAGE_ERROR);
  fail_unless_equals_uint64 (stat_uint64 (harness, "skipped"), 0);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
  gst_object_unref (context);
  g_free (settings);
}

GST_END_TEST;

/* backend=cuda: an error that says so. */
GST_START_TEST (test_device_fails_with_cuda)
{
  GstCudaContext *context = new_context ();
  GstHarness *harness = harness_with (1, "async-depth=1", context);
  GstBus *bus = watch_bus (harness);
  Mask mask = mask_random (320, 240, 1, 0.3);
  GstFlowReturn flow = GST_FLOW_OK;

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  fail_unless_equals_int (push_mask (harness, &mask, 0), GST_FLOW_OK);
  fail_unless_equals_int (push_mask (harness, &mask, 1), GST_FLOW_OK);
  break_device (context);
  for (guint i = 2; i < 5 && flow == GST_FLOW_OK; i++)
    flow = push_mask (harness, &mask, i);
  fail_unless_equals_int (flow, GST_FLOW_ERROR);
  assert_message (bus, GST_MESSAGE_ERROR, "The GPU failed");
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
  mask_free (&mask);
  gst_object_unref (context);
}

GST_END_TEST;

/* ---------------------------------------------------------------- many times over */

/* Other programs on the device take and give memory as well: CCL_TEST_CROWDED=1 says that they are there. */
static gboolean
is_crowded (void)
{
  const gchar *const crowded = g_getenv ("CCL_TEST_CROWDED");

  return crowded && !g_str_equal (crowded, "0");
}

GST_START_TEST (test_device_memory_stays_flat)
{
  SKIP_TEST_UNLESS (!is_crowded (), "CCL_TEST_CROWDED is set");

  const guint n = 2000, settled = 50;
  GstCudaContext *context = new_context ();
  Mask mask = mask_random (640, 480, 1, 0.4);
  GstBuffer *system = buffer_from_mask (GST_VIDEO_FORMAT_NV12, &mask);
  GstBuffer *device = cuda_buffer (context, GST_VIDEO_FORMAT_NV12, &mask);
  gsize bytes = 0;

  for (guint i = 0; i < n; i++) {
    GstHarness *harness = harness_with (1, i % 2 ? "async-depth=2" : "", context);

    gst_harness_set_src_caps (harness, gst_caps_from_string (i % 3
            ? "video/x-raw(memory:CUDAMemory),format=NV12,width=640,height=480,framerate=25/1"
            : "video/x-raw,format=NV12,width=640,height=480,framerate=25/1"));
    gst_harness_push (harness, gst_buffer_ref (i % 3 ? device : system));
    gst_harness_teardown (harness);
    if (i == settled)
      bytes = free_device_memory (context);
  }
  fail_unless (free_device_memory (context) >= bytes, "%" G_GSIZE_FORMAT " bytes of device memory are gone (are there "
      "other programs on the device? CCL_TEST_CROWDED=1)", bytes - free_device_memory (context));
  gst_buffer_unref (system);
  gst_buffer_unref (device);
  mask_free (&mask);
  ASSERT_OBJECT_REFCOUNT (context, "context", 1);
  gst_object_unref (context);
}

GST_END_TEST;

/* Each with a context of its own, as elements alone in a process have it. */
GST_START_TEST (test_contexts_come_and_go)
{
  SKIP_TEST_UNLESS (!is_crowded (), "CCL_TEST_CROWDED is set");

  GstCudaContext *context = new_context ();
  Mask mask = mask_random (640, 480, 1, 0.4);
  gsize bytes = 0;

  for (guint i = 0; i < 12; i++) {
    GstHarness *harness = harness_in_context (1, "", NULL);

    set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
    push_mask (harness, &mask, 0);
    gst_harness_teardown (harness);
    if (i == 3)
      bytes = free_device_memory (context);
  }
  fail_unless (free_device_memory (context) >= bytes, "%" G_GSIZE_FORMAT " bytes of device memory are gone (are there "
      "other programs on the device? CCL_TEST_CROWDED=1)", bytes - free_device_memory (context));
  mask_free (&mask);
  gst_object_unref (context);
}

GST_END_TEST;

/* ---------------------------------------------------------------- with stock elements */

static GstPadProbeReturn
count_blobs (GstPad * pad, GstPadProbeInfo * info, gpointer count)
{
  (void) pad;
  *(guint64 *) count += n_blobs (GST_PAD_PROBE_INFO_BUFFER (info));
  return GST_PAD_PROBE_OK;
}

#if GST_CHECK_VERSION (1, 24, 0)
/* What comes in CUDA memory names the stream it is written in. */
static GstPadProbeReturn
look_for_stream (GstPad * pad, GstPadProbeInfo * info, gpointer unused)
{
  GstMemory *memory = gst_buffer_peek_memory (GST_PAD_PROBE_INFO_BUFFER (info), 0);

  (void) pad, (void) unused;
  if (gst_is_cuda_memory (memory))
    fail_unless (gst_cuda_memory_get_stream (GST_CUDA_MEMORY_CAST (memory)) != NULL, "CUDA memory without a stream");
  return GST_PAD_PROBE_OK;
}
#endif

static guint64
blobs_of_pipeline (const gchar * elements)
{
  gchar *line = g_strdup_printf ("videotestsrc pattern=ball motion=sweep num-buffers=20 ! "
      "video/x-raw,format=NV12,width=640,height=480 ! %s ! fakesink", elements);
  GstElement *pipeline = gst_parse_launch (line, NULL), *label = gst_bin_get_by_name (GST_BIN (pipeline), "label");
  GstPad *pad = gst_element_get_static_pad (label, "src"), *sink = gst_element_get_static_pad (label, "sink");
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;
  guint64 n = 0;

  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, count_blobs, &n, NULL);
#if GST_CHECK_VERSION (1, 24, 0)
  gst_pad_add_probe (sink, GST_PAD_PROBE_TYPE_BUFFER, look_for_stream, NULL, NULL);
#endif
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, 20 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS, "%s: %" GST_PTR_FORMAT, line, message);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pad);
  gst_object_unref (sink);
  gst_object_unref (label);
  gst_object_unref (pipeline);
  g_free (line);
  return n;
}

GST_START_TEST (test_between_cudaupload_and_cudadownload)
{
  SKIP_TEST_UNLESS (gst_registry_check_feature_version (gst_registry_get (), "cudaupload", 0, 0, 0),
      "no cudaupload (nvcodec needs libnvcuvid or libnvidia-encode)");

  guint64 expected;

  expected = blobs_of_pipeline ("ccllabel name=label backend=cpu");
  fail_unless (expected >= 20);
  fail_unless_equals_uint64 (blobs_of_pipeline ("ccllabel name=label backend=cuda"), expected);
  fail_unless_equals_uint64 (blobs_of_pipeline ("cudaupload ! ccllabel name=label backend=cuda ! cudadownload"),
      expected);
  fail_unless_equals_uint64 (blobs_of_pipeline ("cudaupload ! ccllabel name=label async-depth=2 ! cudadownload"),
      expected);
  fail_unless_equals_uint64 (blobs_of_pipeline ("cudaupload ! ccllabel name=label backend=cpu ! cudadownload"),
      expected);
  fail_unless_equals_uint64 (blobs_of_pipeline ("cudaupload ! cudadownload ! ccllabel name=label"), expected);
  expected = blobs_of_pipeline ("cclmotion method=diff warmup-frames=1 backend=cpu ! "
      "ccllabel name=label mask-source=mask-meta backend=cpu");
  fail_unless (expected >= 10);
  fail_unless_equals_uint64 (blobs_of_pipeline ("cudaupload ! cclmotion method=diff warmup-frames=1 backend=cuda ! "
          "ccllabel name=label mask-source=mask-meta backend=cuda ! cudadownload"), expected);
}

GST_END_TEST;

static Suite *
ccllabel_cuda_suite (void)
{
  Suite *suite = suite_create ("ccllabel-cuda");
  TCase *both = tcase_create ("backends"), *cuda = tcase_create ("cuda"), *memory = tcase_create ("memory");
  const gint n = G_N_ELEMENTS (backends);

  tcase_set_timeout (both, 120);
  tcase_add_loop_test (both, test_formats, 0, n);
  tcase_add_loop_test (both, test_cuda_memory_under_system_caps, 0, n);
  tcase_add_loop_test (both, test_memory_changes_from_frame_to_frame, 0, n);
  tcase_add_loop_test (both, test_async_in_cuda_memory, 0, n);
  tcase_add_loop_test (both, test_outputs_of_cuda_memory, 0, n);
#if GST_CHECK_VERSION (1, 24, 0)
  tcase_add_loop_test (both, test_stream_of_the_memory_is_waited_for, 0, n);
#endif
  suite_add_tcase (suite, both);

  tcase_set_timeout (cuda, 120);
  tcase_add_test (cuda, test_context_is_shared_and_followed);
#if GST_CHECK_VERSION (1, 24, 0)
  tcase_add_test (cuda, test_stream_of_a_frame_is_waited_for_by_cclmotion);
#endif
  tcase_add_test (cuda, test_pinned_memory);
  tcase_add_test (cuda, test_pinned_memories_that_are_merged);
  tcase_add_loop_test (cuda, test_device_fails_with_auto, 0, 4);
  tcase_add_test (cuda, test_device_fails_with_cuda);
  tcase_add_test (cuda, test_between_cudaupload_and_cudadownload);
  suite_add_tcase (suite, cuda);

  tcase_set_timeout (memory, 120);
  tcase_add_test (memory, test_device_memory_stays_flat);
  tcase_add_test (memory, test_contexts_come_and_go);
  suite_add_tcase (suite, memory);
  return suite;
}

/* Whether there is a device is found out in a process of its own: CUDA does not survive a fork. */
static gboolean
have_device (void)
{
  const pid_t child = fork ();
  int status = 0;

  if (child == 0)
    _exit (gst_cuda_load_library () && gst_cuda_context_new (0) ? 0 : 1);
  return child > 0 && waitpid (child, &status, 0) == child && WIFEXITED (status) && WEXITSTATUS (status) == 0;
}

int
main (int argc, char **argv)
{
  gst_check_init (&argc, &argv);
  if (!have_device ()) {
    g_print ("skipped: no CUDA device\n");
    return 77;
  }
  return gst_check_run_suite (ccllabel_cuda_suite (), "ccllabel-cuda", __FILE__);
}
