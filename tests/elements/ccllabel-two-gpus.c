/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* ccllabel on two GPUs: where streams start, what the second GPU brings, and a GPU that fails. several-gpus.c has the same on
 * emulated GPUs. Exit status 77 with fewer than two GPUs. */
#include "ccllabel-cuda.h"

#include <sys/wait.h>
#include <unistd.h>

#define N_STREAMS 8
#define N_FRAMES 20
#define N_CAMERAS 32
#define SECONDS 3

static gint
stat_gpu (GstHarness * harness)
{
  GstStructure *stats;
  gint gpu = -2;

  g_object_get (label_of (harness), "stats", &stats, NULL);
  gst_structure_get_int (stats, "gpu", &gpu);
  gst_structure_free (stats);
  return gpu;
}

static void
start_streams (GstHarness ** streams, GstBus ** buses, const gchar * settings)
{
  Mask mask = mask_random (320, 240, 0, 0.3);

  for (guint i = 0; i < N_STREAMS; i++) {
    streams[i] = harness_in_context (1, settings, NULL);
    buses[i] = watch_bus (streams[i]);
    set_mask_caps (streams[i], GST_VIDEO_FORMAT_GRAY8, &mask);
    fail_unless_equals_int (stat_gpu (streams[i]), (gint) i % 2);
  }
  mask_free (&mask);
}

static void
push_frame (GstHarness * stream, guint n)
{
  Mask mask = mask_random (320, 240, n, 0.3);

  fail_unless_equals_int (push_mask (stream, &mask, n), GST_FLOW_OK);
  mask_free (&mask);
}

/* Frames in flight may still come out. */
static void
push_until_error (GstHarness * stream)
{
  Mask mask = mask_random (320, 240, 0, 0.3);
  GstFlowReturn flow = GST_FLOW_OK;

  for (guint n = 5; n < N_FRAMES && flow == GST_FLOW_OK; n++)
    flow = push_mask (stream, &mask, n);
  fail_unless_equals_int (flow, GST_FLOW_ERROR);
  mask_free (&mask);
}

static void
assert_frames (GstHarness * stream)
{
  gst_harness_push_event (stream, gst_event_new_eos ());
  for (guint n = 0; n < N_FRAMES; n++) {
    GstBuffer *const buffer = gst_harness_try_pull (stream);
    Mask mask = mask_random (320, 240, n, 0.3);

    fail_unless (buffer != NULL, "frame %u was lost", n);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), n * 40 * GST_MSECOND);
    assert_blobs (buffer, &mask, 8);
    gst_buffer_unref (buffer);
    mask_free (&mask);
  }
  fail_unless_equals_uint64 (stat_uint64 (stream, "skipped"), 0);
}

GST_START_TEST (test_streams_spread)
{
  GstHarness *streams[N_STREAMS];
  GstBus *buses[N_STREAMS];

  start_streams (streams, buses, "async-depth=1");
  for (guint n = 0; n < N_FRAMES; n++)
    for (guint i = 0; i < N_STREAMS; i++)
      push_frame (streams[i], n);
  for (guint i = 0; i < N_STREAMS; i++) {
    assert_frames (streams[i]);
    assert_no_message (buses[i], GST_MESSAGE_WARNING);
    drop_bus (streams[i], buses[i]);
    gst_harness_teardown (streams[i]);
  }
}

GST_END_TEST;

static void
give_context (GstBin * bin, const gchar * name, GstCudaContext * cuda)
{
  GstElement *const label = gst_bin_get_by_name (bin, name);
  GstContext *const context = gst_context_new_cuda_context (cuda);

  gst_element_set_context (label, context);
  gst_context_unref (context);
  gst_object_unref (label);
}

/* The downstream neighbour, which is asked first, has a context on another GPU than the wanted one. */
GST_START_TEST (test_neighbours)
{
  GstElement *const bin = gst_parse_bin_from_description ("ccllabel name=upstream backend=cuda cuda-device-id=1 ! "
      "ccllabel name=label backend=cuda cuda-device-id=1 ! ccllabel name=downstream backend=cuda cuda-device-id=0",
      TRUE, NULL);
  GstElement *const label = gst_bin_get_by_name (GST_BIN (bin), "label");
  GstCudaContext *given[2], *found;

  fail_unless (gst_cuda_load_library ());
  gst_object_ref_sink (bin);
  for (guint i = 0; i < 2; i++) {
    given[i] = gst_cuda_context_new (i);
    give_context (GST_BIN (bin), i ? "upstream" : "downstream", given[i]);
  }
  fail_unless (gst_element_set_state (bin, GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE);
  found = context_of_element (label);
  fail_unless (found == given[1]);
  gst_object_unref (found);
  gst_object_unref (label);
  gst_element_set_state (bin, GST_STATE_NULL);
  gst_object_unref (bin);
  for (guint i = 0; i < 2; i++) {
    ASSERT_OBJECT_REFCOUNT (given[i], "given context", 1);
    gst_object_unref (given[i]);
  }
}

GST_END_TEST;

/* A store to address 0, which leaves a context in which every later call fails. */
static void
break_context_of (GstHarness * harness)
{
  static const gchar ptx[] = ".version 6.4\n.target sm_75\n.address_size 64\n.visible .entry boom()\n{\n"
      " .reg .u64 %a;\n mov.u64 %a, 0;\n st.global.u64 [%a], %a;\n ret;\n}\n";
  GstCudaContext *const cuda = context_of (harness);
  CUmodule module;
  CUfunction function;

  gst_cuda_context_push (cuda);
  fail_unless (CuModuleLoadData (&module, ptx) == CUDA_SUCCESS);
  fail_unless (CuModuleGetFunction (&function, module, "boom") == CUDA_SUCCESS);
  fail_unless (CuLaunchKernel (function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) == CUDA_SUCCESS);
  fail_unless (CuStreamSynchronize (NULL) != CUDA_SUCCESS, "the access was legal");
  gst_cuda_context_pop (NULL);
  gst_object_unref (cuda);
}

/* It ends all of CUDA in its process: the streams go on with the CPU, or say so. Each test runs in a child process. */
GST_START_TEST (test_illegal_access)
{
  const gboolean automatic = __i__ == 0;
  GstHarness *streams[N_STREAMS];
  GstBus *buses[N_STREAMS];
  gchar *const settings = g_strdup_printf ("backend=%s async-depth=%d batch=%s", automatic ? "auto" : "cuda",
      automatic ? 0 : __i__ - 1, __i__ == 3 ? "false" : "true");

  start_streams (streams, buses, settings);
  for (guint n = 0; n < (automatic ? N_FRAMES : 5); n++) {
    if (n == 5)
      break_context_of (streams[0]);
    for (guint i = 0; i < N_STREAMS; i++)
      push_frame (streams[i], n);
  }
  if (!automatic)
    break_context_of (streams[0]);
  for (guint i = 0; i < N_STREAMS; i++) {
    if (automatic) {
      assert_frames (streams[i]);
      fail_unless_equals_int (stat_gpu (streams[i]), -1);
      assert_message (buses[i], GST_MESSAGE_WARNING, "start the program again");
    } else {
      push_until_error (streams[i]);
      assert_message (buses[i], GST_MESSAGE_ERROR, "start the program again");
    }
    drop_bus (streams[i], buses[i]);
    gst_harness_teardown (streams[i]);
  }
  g_free (settings);
}

GST_END_TEST;

/* ---------------------------------------------------------------- a GPU without memory */

#define MAX_BLOCKS 512

/* All of the memory of GPU 0, in ever smaller blocks. */
static guint
fill_gpu (CUdeviceptr * blocks)
{
  guint n = 0;

  for (gsize size = (gsize) 1 << 38; size >= 1 << 12; size /= 2)
    while (n < MAX_BLOCKS && CuMemAlloc (&blocks[n], size) == CUDA_SUCCESS)
      n++;
  fail_unless (n < MAX_BLOCKS);
  return n;
}

/* A stream that becomes larger while its GPU is full. */
GST_START_TEST (test_full_gpu)
{
  Mask small = mask_random (16, 16, 1, 0.3), large = mask_random (4000, 2000, 2, 0.0001);
  GstHarness *const stream = harness_in_context (1, "backend=cuda", NULL);
  GstBus *const bus = watch_bus (stream);
  GstCudaContext *const cuda = gst_cuda_context_new (0);
  CUdeviceptr blocks[MAX_BLOCKS];
  GstBuffer *labelled;
  guint n;

  set_mask_caps (stream, GST_VIDEO_FORMAT_GRAY8, &small);
  fail_unless_equals_int (stat_gpu (stream), 0);
  gst_cuda_context_push (cuda);
  n = fill_gpu (blocks);
  set_mask_caps (stream, GST_VIDEO_FORMAT_GRAY8, &large);
  fail_unless_equals_int (push_mask (stream, &large, 0), GST_FLOW_OK);
  gst_harness_push_event (stream, gst_event_new_eos ());
  labelled = gst_harness_pull (stream);
  assert_blobs (labelled, &large, 8);
  gst_buffer_unref (labelled);
  fail_unless_equals_int (stat_gpu (stream), 1);
  assert_message (bus, GST_MESSAGE_WARNING, "Continuing on GPU 1");
  while (n > 0)
    CuMemFree (blocks[--n]);
  gst_cuda_context_pop (NULL);
  gst_object_unref (cuda);
  drop_bus (stream, bus);
  gst_harness_teardown (stream);
  mask_free (&small);
  mask_free (&large);
}

GST_END_TEST;

/* ---------------------------------------------------------------- speed */

typedef struct
{
  GstHarness *harness;
  GThread *thread;
  guint64 n_frames;
  const Mask *mask;
} Camera;

static gint cameras_run;        /* atomic */

static gpointer
run_camera (gpointer data)
{
  Camera *const camera = data;
  GstBuffer *const frame = buffer_from_mask (GST_VIDEO_FORMAT_GRAY8, camera->mask), *labelled;

  for (; g_atomic_int_get (&cameras_run); camera->n_frames++) {
    gst_harness_push (camera->harness, gst_buffer_copy (frame));        /* of the buffer, not of the memory */
    while ((labelled = gst_harness_try_pull (camera->harness)))
      gst_buffer_unref (labelled);
  }
  gst_buffer_unref (frame);
  return NULL;
}

/* Frames a second of all cameras, each as fast as it can. */
static gdouble
measure (const gchar * settings)
{
  Camera cameras[N_CAMERAS] = { 0 };
  Mask mask = mask_random (1920, 1080, 1, 0.001);
  gdouble n_frames = 0;

  g_atomic_int_set (&cameras_run, TRUE);
  for (guint i = 0; i < N_CAMERAS; i++) {
    cameras[i].mask = &mask;
    cameras[i].harness = harness_in_context (1, settings, NULL);
    set_mask_caps (cameras[i].harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  }
  for (guint i = 0; i < N_CAMERAS; i++)
    cameras[i].thread = g_thread_new ("camera", run_camera, &cameras[i]);
  g_usleep (SECONDS * G_USEC_PER_SEC);
  g_atomic_int_set (&cameras_run, FALSE);
  for (guint i = 0; i < N_CAMERAS; i++) {
    g_thread_join (cameras[i].thread);
    n_frames += (gdouble) cameras[i].n_frames;
    gst_harness_teardown (cameras[i].harness);
  }
  mask_free (&mask);
  return n_frames / SECONDS;
}

/* The second GPU must help. By how much depends on the host, too. */
GST_START_TEST (test_speed)
{
  const gdouble one = measure ("async-depth=3 cuda-device-id=0"), two = measure ("async-depth=3");

  g_print ("%d cameras of 1920x1080: %.0f frames/s on one GPU, %.0f on two: %.2f times\n", N_CAMERAS, one, two,
      two / one);
  fail_unless (two > one, "%.0f frames/s on one GPU, %.0f on two", one, two);
}

GST_END_TEST;

static guint
count_gpus (void)
{
  gint n = 0;

  return gst_cuda_load_library () && CuInit (0) == CUDA_SUCCESS
      && CuDeviceGetCount (&n) == CUDA_SUCCESS ? (guint) n : 0;
}

/* In a child process: a process that has used CUDA cannot fork for the tests. */
static gboolean
have_two_gpus (void)
{
  const pid_t child = fork ();
  gint status = 1;

  if (child == 0)
    _exit (count_gpus () < 2);
  return child > 0 && waitpid (child, &status, 0) == child && status == 0;
}

static Suite *
ccllabel_two_gpus_suite (void)
{
  Suite *suite = suite_create ("ccllabel-two-gpus");
  TCase *tests = tcase_create ("general");

  suite_add_tcase (suite, tests);
  tcase_set_timeout (tests, 120);
  tcase_add_test (tests, test_streams_spread);
  tcase_add_test (tests, test_neighbours);
  tcase_add_loop_test (tests, test_illegal_access, 0, 4);
  tcase_add_test (tests, test_full_gpu);
  tcase_add_test (tests, test_speed);
  return suite;
}

int
main (int argc, char **argv)
{
  g_setenv ("CUDA_VISIBLE_DEVICES", "0,1", FALSE);      /* of more */
  gst_check_init (&argc, &argv);
  if (!have_two_gpus ()) {
    g_print ("skipped: fewer than two GPUs\n");
    return 77;
  }
  TEST_REGISTER ();
  return gst_check_run_suite (ccllabel_two_gpus_suite (), "ccllabel-two-gpus", __FILE__);
}
