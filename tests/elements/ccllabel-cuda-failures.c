/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A device that fails. */
#include "ccllabel-cuda.h"

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

/* backend=auto: one warning, at the latest when the element waits for a frame of the device. The CPU goes on, and every
 * frame comes out with its blobs. */
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

/* backend=cuda: an error that names the failure. */
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

void
ccllabel_cuda_add_failures_tests (Suite * suite)
{
  TCase *tests = tcase_create ("failures");

  tcase_set_timeout (tests, 120);
  tcase_add_loop_test (tests, test_device_fails_with_auto, 0, 4);
  tcase_add_test (tests, test_device_fails_with_cuda);
  suite_add_tcase (suite, tests);
}
