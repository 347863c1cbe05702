/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* ccllabel on a GPU, through libgstcuda: masks in CUDA memory, shared contexts, pinned memory, a device that fails.
 * Exit status 77 without a device. */
#include "ccllabel-cuda.h"

#include <sys/wait.h>
#include <unistd.h>

GstCudaContext *
new_context (void)
{
  GstCudaContext *context;

  fail_unless (gst_cuda_load_library ());
  gst_cuda_memory_init_once ();
  context = gst_cuda_context_new (0);
  fail_unless (context != NULL);
  return context;
}

GstBuffer *
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

GstBuffer *
cuda_buffer (GstCudaContext * context, GstVideoFormat format, const Mask * mask)
{
  return cuda_buffer_of_stream (context, NULL, format, mask);
}

void
set_cuda_caps (GstHarness * harness, GstVideoFormat format, const Mask * mask)
{
  gchar *system = caps_string (format, mask->width, mask->height);
  GstCaps *caps = gst_caps_from_string (system);

  gst_caps_set_features (caps, 0, gst_caps_features_new ("memory:CUDAMemory", NULL));
  gst_harness_set_src_caps (harness, caps);
  g_free (system);
}

GstHarness *
harness_with (guint backend, const gchar * settings, GstCudaContext * cuda)
{
  GstContext *context = gst_context_new_cuda_context (cuda);
  GstHarness *harness = harness_in_context (backend, settings, context);

  gst_context_unref (context);
  return harness;
}

void
assert_path (GstHarness * harness, const gchar * expected)
{
  gchar *path = stat_string (harness, "path");

  fail_unless_equals_string (path, expected);
  g_free (path);
}

/* A child process looks for a device, because CUDA does not survive a fork. */
static gboolean
have_device (void)
{
  const pid_t child = fork ();
  int status = 0;

  if (child == 0)
    _exit (gst_cuda_load_library () && gst_cuda_context_new (0) ? 0 : 1);
  return child > 0 && waitpid (child, &status, 0) == child && WIFEXITED (status) && WEXITSTATUS (status) == 0;
}

static Suite *
ccllabel_cuda_suite (void)
{
  Suite *suite = suite_create ("ccllabel-cuda");

  ccllabel_cuda_add_memory_tests (suite);
  ccllabel_cuda_add_streams_tests (suite);
  ccllabel_cuda_add_contexts_tests (suite);
  ccllabel_cuda_add_failures_tests (suite);
  ccllabel_cuda_add_growth_tests (suite);
  ccllabel_cuda_add_stock_tests (suite);
  return suite;
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
