/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Device memory after many starts. */
#include "ccllabel-cuda.h"

#include <dlfcn.h>

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

/* Each element makes its own context, as a single element in a process does. */
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

void
ccllabel_cuda_add_growth_tests (Suite * suite)
{
  TCase *tests = tcase_create ("memory");

  tcase_set_timeout (tests, 120);
  tcase_add_test (tests, test_device_memory_stays_flat);
  tcase_add_test (tests, test_contexts_come_and_go);
  suite_add_tcase (suite, tests);
}
