/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A device that is lost at any of its calls. Needs the emulated device. */
#include "ccllabel-volume.h"

#include "support/emulation.h"

/* All frames come out with their blobs. The volume during the loss has no ids, the later ones have. Returns FALSE when the
 * element made fewer calls than that. */
static gboolean
check_lost_at (guint call, const gchar * settings)
{
  GstHarness *harness = label_harness (1, settings);
  GstBus *bus = watch_bus (harness);
  guint without_id = 0;
  guint64 last = 0;
  gboolean lost;

  for (guint i = 0; i < 13; i++) {
    Mask mask = mask_random (70, 40, i, 0.3);

    if (i == 0) {
      set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
      emulate_fail (NULL, call, ERROR_LAUNCH_FAILURE, true);
    }
    fail_unless_equals_int (push_mask (harness, &mask, i), GST_FLOW_OK);
    mask_free (&mask);
  }
  gst_harness_push_event (harness, gst_event_new_eos ());
  lost = emulate_calls () >= call;
  for (guint i = 0; i < 13; i++) {
    Mask mask = mask_random (70, 40, i, 0.3);
    GstBuffer *buffer = gst_harness_try_pull (harness);
    guint64 id;

    fail_unless (buffer != NULL, "call %u: frame %u was lost", call, i);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), i * 40 * GST_MSECOND);
    assert_blobs (buffer, &mask, 8);
    id = id_of (buffer, 0);
    fail_unless (id == 0 || id >= last, "call %u: id %" G_GUINT64_FORMAT " after %" G_GUINT64_FORMAT, call, id, last);
    without_id += id == 0;
    last = MAX (last, id);
    gst_buffer_unref (buffer);
    mask_free (&mask);
  }
  fail_unless (without_id <= 4, "call %u: %u frames without ids", call, without_id);
  end_lost_stream (harness, bus, lost);
  return lost;
}

GST_START_TEST (test_lost_device)
{
  const gchar *const settings =
      __i__ ? "backend=auto volume=4 async-depth=2 foreground=equal" : "backend=auto volume=4";
  guint call = 1 + __i__;
  guint allocated;

  check_lost_at (1, settings);
  allocated = emulate_n_allocated ();
  while (check_lost_at (call, settings)) {
    fail_unless_equals_int (emulate_n_allocated (), allocated);
    call += 9;
  }
  fail_unless (call > 100, "only %u calls", call);
}

GST_END_TEST;

void
ccllabel_volume_add_lost_tests (Suite * suite)
{
  TCase *tests = tcase_create ("lost");

  tcase_set_timeout (tests, 120);
  tcase_add_loop_test (tests, test_lost_device, 0, 2);
  suite_add_tcase (suite, tests);
}
