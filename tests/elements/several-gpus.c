/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Streams on several GPUs, which are emulated (tests/emulate): where they start, and where they go when a GPU fails. The
 * emulation has three, and the tests use two unless they say otherwise. */
#include <string.h>

#include "base/gstcclgpus.h"
#include "support/emulation.h"
#include "support/labelharness.h"
#include "support/program.h"
#include "support/reference.h"

#define N_STREAMS 8
#define N_GPUS 3
#define N_FRAMES 4

typedef struct
{
  GstHarness *harness;
  GstBus *bus;
  guint n_pushed, n_pulled;
} Stream;

static gint
gpu_of (GstElement * element)
{
  GstStructure *stats;
  gint gpu = -2;

  g_object_get (element, "stats", &stats, NULL);
  fail_unless (gst_structure_get_int (stats, "gpu", &gpu));
  gst_structure_free (stats);
  return gpu;
}

static gint
gpu_of_stream (const Stream * stream)
{
  GstElement *const label = label_of (stream->harness);

  return gpu_of (label);
}

static Mask
nth_mask (guint n)
{
  return mask_random (70, 40, n, 0.3);
}

static Stream
start_stream (const gchar * settings)
{
  Stream stream = {.harness = harness_in_context (1, settings, NULL) };
  Mask mask = nth_mask (0);

  stream.bus = watch_bus (stream.harness);
  set_mask_caps (stream.harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  mask_free (&mask);
  return stream;
}

static void
push (Stream * stream)
{
  Mask mask = nth_mask (stream->n_pushed);

  fail_unless_equals_int (push_mask (stream->harness, &mask, stream->n_pushed), GST_FLOW_OK);
  stream->n_pushed++;
  mask_free (&mask);
}

/* All frames have left, each with its blobs. */
static void
stop_stream (Stream * stream)
{
  GstBuffer *buffer;

  gst_harness_push_event (stream->harness, gst_event_new_eos ());
  while ((buffer = gst_harness_try_pull (stream->harness))) {
    Mask mask = nth_mask (stream->n_pulled);

    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), stream->n_pulled * 40 * GST_MSECOND);
    assert_blobs (buffer, &mask, 8);
    gst_buffer_unref (buffer);
    mask_free (&mask);
    stream->n_pulled++;
  }
  fail_unless_equals_int (stream->n_pulled, stream->n_pushed);
  fail_unless_equals_uint64 (stat_uint64 (stream->harness, "skipped"), 0);
  assert_no_message (stream->bus, GST_MESSAGE_WARNING);
  assert_no_message (stream->bus, GST_MESSAGE_ERROR);
  drop_bus (stream->harness, stream->bus);
  gst_harness_teardown (stream->harness);
}

/* The GPU of the next call is lost: that of the stream that pushes next. */
static void
lose_next_gpu (void)
{
  emulate_fail (NULL, 1, ERROR_LAUNCH_FAILURE, true);
}

/* The GPUs work again. When all are marked as failed, the next start forgets the marks. */
static void
find_gpus_again (void)
{
  find_device_again ();
  for (gint i = 0; i < N_GPUS; i++)
    gst_ccl_gpus_set_failed (i);
}

/* The third GPU takes no streams. */
static void
use_two_gpus (void)
{
  Stream on_cpu = start_stream ("backend=cpu"), on_gpu = start_stream ("");

  fail_unless_equals_int (gpu_of_stream (&on_cpu), -1);
  fail_unless_equals_int (gpu_of_stream (&on_gpu), 0);
  stop_stream (&on_cpu);
  stop_stream (&on_gpu);
  gst_ccl_gpus_set_failed (2);
}

GST_START_TEST (test_choice)
{
  GstCclGpuLoads loads = {.n = 3,.n_streams = {2, 1, 1} };

  fail_unless_equals_int (gst_ccl_gpu_loads_choose (&loads, 0), 1);
  fail_unless_equals_int (gst_ccl_gpu_loads_choose (&loads, GST_CCL_GPU_BIT (1)), 2);
  fail_unless_equals_int (gst_ccl_gpu_loads_choose (&loads, 6), 0);
  fail_unless_equals_int (gst_ccl_gpu_loads_choose (&loads, 7), -1);
  loads.failed = GST_CCL_GPU_BIT (1);
  fail_unless_equals_int (gst_ccl_gpu_loads_choose (&loads, 0), 2);
  loads.n = 0;
  fail_unless_equals_int (gst_ccl_gpu_loads_choose (&loads, 0), -1);
}

GST_END_TEST;

/* A stream takes the GPU with the fewest streams, and of equal ones the first. Streams with an id count, too. */
GST_START_TEST (test_streams_spread)
{
  static const gint expected[N_STREAMS] = { 0, 1, 1, 0, 0, 1, 0, 1 };
  Stream streams[N_STREAMS];

  use_two_gpus ();
  for (guint i = 0; i < N_STREAMS; i++) {
    streams[i] = start_stream (i == 2 ? "cuda-device-id=1" : "");
    fail_unless_equals_int (gpu_of_stream (&streams[i]), expected[i]);
  }
  for (guint n = 0; n < N_FRAMES; n++)
    for (guint i = 0; i < N_STREAMS; i++)
      push (&streams[i]);
  for (guint i = 0; i < N_STREAMS; i++)
    fail_unless_equals_uint64 (stat_uint64 (streams[i].harness, "gpu-changes"), 0);
  stop_stream (&streams[3]);
  stop_stream (&streams[4]);
  set_label (streams[1].harness, "backend", "cpu");
  push (&streams[1]);           /* GPU 0 has two streams, GPU 1 three */
  fail_unless_equals_int (gpu_of_stream (&streams[1]), -1);
  for (guint i = 3; i < 5; i++) {
    streams[i] = start_stream ("");
    fail_unless_equals_int (gpu_of_stream (&streams[i]), 0);
    push (&streams[i]);
  }
  set_label (streams[1].harness, "backend", "cuda");    /* where it was */
  push (&streams[1]);
  fail_unless_equals_int (gpu_of_stream (&streams[1]), 1);
  for (guint i = 0; i < N_STREAMS; i++)
    stop_stream (&streams[i]);
  find_gpus_again ();
}

GST_END_TEST;

static const gchar *const settings[] = {
  "backend=auto", "backend=cuda async-depth=2", "backend=auto batch=false async-depth=1 output=labels",
};

/* All streams of the GPU that fails go on with the other. Then that one fails, and the streams go on with the CPU where they
 * may. */
GST_START_TEST (test_gpu_fails)
{
  const gboolean may_use_cpu = strstr (settings[__i__], "auto") != NULL;
  Stream streams[N_STREAMS], late;

  use_two_gpus ();
  for (guint i = 0; i < N_STREAMS; i++) {
    streams[i] = start_stream (settings[__i__]);
    push (&streams[i]);
    fail_unless_equals_int (gpu_of_stream (&streams[i]), (gint) i % 2);
  }
  lose_next_gpu ();
  for (guint n = 1; n < N_FRAMES; n++)
    for (guint i = 0; i < N_STREAMS; i++)
      push (&streams[i]);
  for (guint i = 0; i < N_STREAMS; i++) {
    if (i % 2 == 0)
      assert_message (streams[i].bus, GST_MESSAGE_WARNING, "Continuing on GPU 1");
    fail_unless_equals_int (gpu_of_stream (&streams[i]), 1);
    fail_unless_equals_uint64 (stat_uint64 (streams[i].harness, "gpu-changes"), i % 2 == 0);
  }
  late = start_stream (settings[__i__]);
  fail_unless_equals_int (gpu_of_stream (&late), 1);
  push (&late);
  if (may_use_cpu) {
    find_device_again ();       /* GPU 0 keeps its mark */
    lose_next_gpu ();
    for (guint n = 0; n < N_FRAMES; n++)
      for (guint i = 0; i < N_STREAMS; i++)
        push (&streams[i]);
    for (guint i = 0; i < N_STREAMS; i++) {
      assert_message (streams[i].bus, GST_MESSAGE_WARNING, "Continuing on the CPU");
      fail_unless_equals_int (gpu_of_stream (&streams[i]), -1);
    }
    push (&late);
    push (&late);
    assert_message (late.bus, GST_MESSAGE_WARNING, "Continuing on the CPU");
  }
  for (guint i = 0; i < N_STREAMS; i++)
    stop_stream (&streams[i]);
  stop_stream (&late);
  find_gpus_again ();
}

GST_END_TEST;

/* A stream whose GPU the user chose does not move. */
GST_START_TEST (test_chosen_gpu_fails)
{
  Stream fixed, beside;

  use_two_gpus ();
  fixed = start_stream ("backend=auto cuda-device-id=1");
  beside = start_stream ("backend=auto");
  push (&fixed);
  push (&beside);
  fail_unless_equals_int (gpu_of_stream (&fixed), 1);
  fail_unless_equals_int (gpu_of_stream (&beside), 0);
  lose_next_gpu ();
  push (&fixed);
  push (&beside);
  assert_message (fixed.bus, GST_MESSAGE_WARNING, "Continuing on the CPU");
  fail_unless_equals_int (gpu_of_stream (&fixed), -1);
  fail_unless_equals_int (gpu_of_stream (&beside), 0);
  stop_stream (&fixed);
  stop_stream (&beside);
  find_gpus_again ();
}

GST_END_TEST;

/* The GPU fails at any call, also while the stream opens. */
static gboolean
check_lost_at (guint call, const gchar * text)
{
  Stream stream;
  guint64 n_changes;
  gboolean lost;

  emulate_fail (NULL, call, ERROR_LAUNCH_FAILURE, true);
  stream = start_stream (text);
  for (guint n = 0; n < N_FRAMES; n++)
    push (&stream);
  gst_harness_push_event (stream.harness, gst_event_new_eos ());
  lost = emulate_calls () >= call;
  n_changes = stat_uint64 (stream.harness, "gpu-changes");
  fail_unless (n_changes <= 1, "call %u: %" G_GUINT64_FORMAT " changes", call, n_changes);
  fail_unless_equals_int (gpu_of_stream (&stream), (gint) n_changes);
  if (n_changes && gst_bus_have_pending (stream.bus))   /* during the start there is no bus yet */
    assert_message (stream.bus, GST_MESSAGE_WARNING, "Continuing on GPU 1");
  stop_stream (&stream);
  find_gpus_again ();
  return lost;
}

GST_START_TEST (test_lost_at_any_call)
{
  guint call = 1 + __i__, allocated;

  find_gpus_again ();
  check_lost_at (1 << 30, settings[__i__]);
  allocated = emulate_n_allocated ();
  for (; check_lost_at (call, settings[__i__]); call += 59)
    fail_unless_equals_int (emulate_n_allocated (), allocated);
  fail_unless (call > 50, "only %u calls", call);
}

GST_END_TEST;

/* Two of three GPUs fail one after the other. */
GST_START_TEST (test_two_fail)
{
  Stream stream;

  find_gpus_again ();
  stream = start_stream ("backend=cuda async-depth=1");
  push (&stream);
  for (guint i = 1; i < N_GPUS; i++) {
    lose_next_gpu ();
    push (&stream);
    push (&stream);
    assert_message (stream.bus, GST_MESSAGE_WARNING, i == 1 ? "Continuing on GPU 1" : "Continuing on GPU 2");
    fail_unless_equals_int (gpu_of_stream (&stream), (gint) i);
    find_device_again ();
  }
  stop_stream (&stream);
  find_gpus_again ();
}

GST_END_TEST;

/* Masks in the memory of cclmotion's GPU are labelled there, and not downloaded. */
GST_START_TEST (test_masks_on_a_gpu)
{
  GstHarness *harness;
  GstElement *motion, *label;
  Mask mask = nth_mask (0);
  gchar *path;

  find_gpus_again ();
  harness = gst_harness_new_parse ("cclmotion name=motion backend=cuda ! ccllabel name=label backend=cuda");
  motion = gst_bin_get_by_name (GST_BIN (harness->element), "motion");
  label = gst_bin_get_by_name (GST_BIN (harness->element), "label");
  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  fail_unless (gpu_of (motion) != gpu_of (label));
  for (guint n = 0; n < N_FRAMES; n++)
    fail_unless_equals_int (push_mask (harness, &mask, n), GST_FLOW_OK);
  fail_unless_equals_int (gpu_of (motion), gpu_of (label));
  path = stat_string (harness, "path");
  fail_unless_equals_string (path, "cuda-memory");
  g_free (path);
  gst_object_unref (motion);
  gst_object_unref (label);
  gst_harness_teardown (harness);
  mask_free (&mask);
  find_gpus_again ();
}

GST_END_TEST;

/* ---------------------------------------------------------------- too little memory */

/* The next allocation in device memory fails, as if the context were too large. */
static void
run_out_of_memory (void)
{
  emulate_fail ("cudaMalloc", 1, ERROR_NO_MEMORY, false);
}

/* Opens a larger context, for which there is no memory. */
static void
grow_too_large (Stream * stream)
{
  run_out_of_memory ();
  set_label (stream->harness, "max-components", "100000");
  push (stream);
}

/* Of three new streams at least one takes GPU 0. */
static void
assert_gpu_in_use (void)
{
  Stream streams[3];
  guint n = 0;

  for (guint i = 0; i < 3; i++) {
    streams[i] = start_stream ("backend=cuda");
    push (&streams[i]);
    n += gpu_of_stream (&streams[i]) == 0;
  }
  fail_unless (n > 0, "no stream takes GPU 0");
  for (guint i = 0; i < 3; i++)
    stop_stream (&streams[i]);
}

/* backend=auto: the stream alone leaves its GPU, for another or for the CPU, until its settings change. */
GST_START_TEST (test_too_large)
{
  const gint may_move = __i__ % 2, of_frame = __i__ / 2;
  Stream large, beside;

  use_two_gpus ();
  large = start_stream (may_move ? "backend=auto" : "backend=auto cuda-device-id=0");
  push (&large);
  beside = start_stream ("backend=cuda cuda-device-id=0");
  push (&beside);
  fail_unless_equals_int (gpu_of_stream (&large), 0);
  if (of_frame) {               /* memory of the picture, which the first frame takes */
    set_label (large.harness, "features", "intensity");
    emulate_fail ("cudaMalloc", 1 << 30, ERROR_NO_MEMORY, false);
    push (&large);
    emulate_fail ("cudaMalloc", emulate_calls (), ERROR_NO_MEMORY, false);
    set_label (large.harness, "max-components", "5000");
    push (&large);
  } else {
    grow_too_large (&large);
  }
  assert_message (large.bus, GST_MESSAGE_WARNING, "Not enough memory to label on GPU 0: no ");
  find_device_again ();
  fail_unless_equals_int (gpu_of_stream (&large), may_move ? 1 : -1);
  push (&beside);
  fail_unless_equals_int (gpu_of_stream (&beside), 0);
  assert_gpu_in_use ();
  set_label (large.harness, "max-components", "10000");
  push (&large);
  fail_unless_equals_int (gpu_of_stream (&large), may_move ? 1 : 0);
  stop_stream (&large);
  stop_stream (&beside);
  find_gpus_again ();
}

GST_END_TEST;

/* backend=cuda: an error with the GPU, the bytes, and the settings that need less. */
GST_START_TEST (test_too_large_for_cuda)
{
  Stream large, beside;
  Mask mask = nth_mask (1);

  use_two_gpus ();
  large = start_stream ("backend=cuda cuda-device-id=0");
  beside = start_stream ("backend=cuda cuda-device-id=0");
  push (&large);
  run_out_of_memory ();
  set_label (large.harness, "max-components", "100000");
  fail_unless_equals_int (push_mask (large.harness, &mask, 1), GST_FLOW_ERROR);
  find_device_again ();
  assert_message (large.bus, GST_MESSAGE_ERROR, "Not enough memory to label on GPU 0: no ");
  push (&beside);
  fail_unless_equals_int (gpu_of_stream (&beside), 0);
  assert_gpu_in_use ();
  drop_bus (large.harness, large.bus);
  gst_harness_teardown (large.harness);
  stop_stream (&beside);
  mask_free (&mask);
  find_gpus_again ();
}

GST_END_TEST;

static Suite *
several_gpus_suite (void)
{
  Suite *suite = suite_create ("several-gpus");
  TCase *tests = tcase_create ("general");

  suite_add_tcase (suite, tests);
  tcase_set_timeout (tests, 120);
  tcase_add_test (tests, test_choice);
  tcase_add_test (tests, test_streams_spread);
  tcase_add_loop_test (tests, test_gpu_fails, 0, G_N_ELEMENTS (settings));
  tcase_add_test (tests, test_chosen_gpu_fails);
  tcase_add_loop_test (tests, test_lost_at_any_call, 0, G_N_ELEMENTS (settings));
  tcase_add_test (tests, test_two_fail);
  tcase_add_test (tests, test_masks_on_a_gpu);
  tcase_add_loop_test (tests, test_too_large, 0, 4);
  tcase_add_test (tests, test_too_large_for_cuda);
  return suite;
}

TEST_MAIN (several_gpus, "several-gpus");
