/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Calls of CUDA's that ccllabel makes fail in turn, on a device that is emulated (tests/emulate): memory that runs out, a
 * launch that is refused, a device that is lost. Of each fault and setting every fifth, or every CCL_TEST_STEPth, call. */
#include <string.h>

#include "support/emulation.h"
#include "support/labelharness.h"
#include "support/masks.h"
#include "support/messages.h"
#include "support/program.h"
#include "support/reference.h"

#define N_FRAMES 6

typedef struct
{
  const gchar *name;
  int error;
  bool lost;
} Fault;

static const Fault faults[] = {
  {"out of memory", 2, false},
  {"a launch that fails", ERROR_LAUNCH_FAILURE, false},
  {"a lost device", ERROR_LAUNCH_FAILURE, true},
};

static const gchar *const settings[] = {
  "batch=true", "batch=false async-depth=2", "batch=true async-depth=1 output=labels",
  "batch=false min-area=3 threads=2",
};

static guint
count_messages (GstBus * bus, GstMessageType type)
{
  GstMessage *message;
  guint n = 0;

  while ((message = gst_bus_pop_filtered (bus, type))) {
    GError *error = NULL;

    if (type == GST_MESSAGE_ERROR)
      gst_message_parse_error (message, &error, NULL);
    else
      gst_message_parse_warning (message, &error, NULL);
    fail_unless (error->message && error->message[0], "a message without words");
    g_error_free (error);
    gst_message_unref (message);
    n++;
  }
  return n;
}

/* Pulls all frames, compares their blobs, and returns the number of frames. */
static guint
pull_frames (GstHarness * harness, const gchar * text)
{
  const gboolean filtered = strstr (text, "min-area") != NULL;
  const CclFilter filter = {.min_area = 3 };
  GstBuffer *buffer;
  guint n = 0;

  while ((buffer = gst_harness_try_pull (harness))) {
    Mask mask = mask_random (70, 40, n, 0.3);

    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), n * 40 * GST_MSECOND);
    if (filtered)
      assert_blobs_filtered (buffer, &mask, 8, &filter);
    else
      assert_blobs (buffer, &mask, 8);
    gst_buffer_unref (buffer);
    mask_free (&mask);
    n++;
  }
  return n;
}

/* Returns FALSE when the element made fewer calls than that. */
static gboolean
check_call (guint call, const Fault * fault, const gchar * backend, const gchar * text)
{
  gchar *description = g_strdup_printf ("backend=%s %s", backend, text);
  GstHarness *harness = label_harness (1, description);
  GstBus *bus = watch_bus (harness);
  GstFlowReturn flow = GST_FLOW_OK;
  guint n_frames, n_errors, n_warnings;
  gboolean failed;

  for (guint i = 0; i < N_FRAMES && flow == GST_FLOW_OK; i++) {
    Mask mask = mask_random (70, 40, i, 0.3);

    if (i == 0) {
      set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
      emulate_fail (NULL, call, fault->error, fault->lost);
    }
    flow = push_mask (harness, &mask, i);
    mask_free (&mask);
  }
  gst_harness_push_event (harness, gst_event_new_eos ());
  failed = emulate_calls () >= call;
  n_frames = pull_frames (harness, text);
  n_errors = count_messages (bus, GST_MESSAGE_ERROR);
  n_warnings = count_messages (bus, GST_MESSAGE_WARNING);

  /* backend=auto: no frame is missing, and there is at most one warning. backend=cuda: the same, or one error. */
  if (g_str_equal (backend, "auto")) {
    fail_unless (n_errors == 0 && n_frames == N_FRAMES, "call %u, %s, %s: %u frames, %u errors", call, fault->name,
        description, n_frames, n_errors);
    fail_unless (n_warnings <= 1, "call %u, %s, %s: %u warnings", call, fault->name, description, n_warnings);
  } else {
    fail_unless (n_errors == (n_frames < N_FRAMES), "call %u, %s, %s: %u frames, %u errors", call, fault->name,
        description, n_frames, n_errors);
    fail_unless (!fault->lost || !failed || n_errors == 1, "call %u, %s, %s: a lost device goes unnoticed", call,
        fault->name, description);
  }
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
  find_device_again ();
  g_free (description);
  return failed;
}

GST_START_TEST (test_calls)
{
  const Fault *const fault = &faults[__i__ / G_N_ELEMENTS (settings)];
  const gchar *const text = settings[__i__ % G_N_ELEMENTS (settings)];
  const gchar *const wanted = g_getenv ("CCL_TEST_STEP");
  const guint step = wanted ? MAX (atoi (wanted), 1) : 5;

  for (guint i = 0; i < 2; i++) {
    const gchar *const backend = i ? "cuda" : "auto";
    guint call = 1 + __i__ % step, allocated;

    check_call (1 << 30, fault, backend, text);
    allocated = emulate_n_allocated ();
    while (check_call (call, fault, backend, text)) {
      fail_unless_equals_int (emulate_n_allocated (), allocated);
      call += step;
    }
    fail_unless (call > 50, "only %u calls", call);
  }
}

GST_END_TEST;

static Suite *
ccllabel_faults_suite (void)
{
  Suite *suite = suite_create ("ccllabel-faults");
  TCase *tests = tcase_create ("general");

  suite_add_tcase (suite, tests);
  tcase_set_timeout (tests, 120);
  tcase_add_loop_test (tests, test_calls, 0, G_N_ELEMENTS (faults) * G_N_ELEMENTS (settings));
  return suite;
}

TEST_MAIN (ccllabel_faults, "ccllabel-faults");
