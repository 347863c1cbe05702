/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Starts that fail, and a thousand starts. */
#include "ccllabel.h"

#include <dirent.h>
#include <malloc.h>
#include <stdio.h>

/* Starts an element without a pipeline and returns its error. */
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
    /* Without a device, this error may come first. */
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

/* After a failed start the settings can be corrected. */
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

GST_START_TEST (test_cuda_with_another_device)
{
  gchar *text;

  SKIP_TEST_UNLESS (have_backend ("cuda"), "there is no GPU");
  assert_start_error ("backend=cuda cuda-device-id=99", "device");
  text = start_error ("backend=auto cuda-device-id=99");
  fail_unless (text == NULL, "auto fails without the device: %s", text);
}

GST_END_TEST;

GST_START_TEST (test_cuda_without_a_device)
{
  gchar *text;

  SKIP_TEST_UNLESS (!have_backend ("cuda"), "there is a GPU");
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

/* backend=auto goes on without the device that was asked for, with one warning. */
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

    buffer = label_one (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
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
  /* A leak grows in every fifth of the runs. A driver or the allocator may take a megabyte once, which shows in one fifth. */
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

void
ccllabel_add_start_tests (Suite * suite)
{
  TCase *tests = tcase_create ("start");

  tcase_set_timeout (tests, 300);
  tcase_add_loop_test (tests, test_start_and_stop_without_growth, 0, G_N_ELEMENTS (backends));
  tcase_add_test (tests, test_contradictions_stop_the_start);
  tcase_add_test (tests, test_output_is_corrected_after_a_failed_start);
  tcase_add_test (tests, test_cuda_with_another_device);
  tcase_add_test (tests, test_cuda_without_a_device);
  tcase_add_test (tests, test_auto_without_the_device_asked_for);
  suite_add_tcase (suite, tests);
}
