/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A device that is lost at any of its calls. Needs the emulated device. */
#include "cclmotion.h"

#include "support/emulation.h"

/* All frames come out with their masks. Learning begins anew after the loss. Returns FALSE when the element made fewer
 * calls than that. */
static gboolean
check_lost_at (guint call, guint depth, const gchar * method)
{
  GstHarness *harness = harness_of_depth (1, depth);
  GstBus *bus = watch_bus (harness);
  guint learning = 0;
  gboolean lost;

  set_motion (harness, "method", method);
  set_motion (harness, "backend", "auto");
  for (guint n = 0; n < 10; n++) {
    if (n == 1)
      emulate_fail (NULL, call, ERROR_LAUNCH_FAILURE, true);
    ck_assert_int_eq (gst_harness_push (harness, scene (GST_VIDEO_FORMAT_GRAY8, W, H, n, 8)), GST_FLOW_OK);
  }
  gst_harness_push_event (harness, gst_event_new_eos ());
  lost = emulate_calls () >= call;
  for (guint n = 0; n < 10; n++) {
    GstBuffer *buffer = gst_harness_try_pull (harness);

    fail_unless (buffer != NULL, "call %u: frame %u was lost", call, n);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), n * FRAME);
    fail_unless (gst_buffer_get_ccl_mask_meta (buffer) != NULL);
    learning += (gst_buffer_get_ccl_mask_meta (buffer)->flags & GST_CCL_MASK_META_FLAG_LEARNING) != 0;
    gst_buffer_unref (buffer);
  }
  fail_unless (learning >= 5);
  end_lost_stream (harness, bus, lost);
  return lost;
}

/* The depth and the method. */
GST_START_TEST (test_lost_device)
{
  const gchar *const method = __i__ < 4 ? "mog2" : "feedback";
  guint call = 1, allocated;

  check_lost_at (1, __i__ % 4, method);
  allocated = emulate_n_allocated ();
  for (; check_lost_at (call, __i__ % 4, method); call += 3)
    ck_assert_uint_eq (emulate_n_allocated (), allocated);
  fail_unless (call > 60, "only %u calls", call);
}

GST_END_TEST;

void
cclmotion_add_lost_tests (Suite * suite)
{
  TCase *tests = tcase_create ("lost");

  tcase_set_timeout (tests, 60);
  tcase_add_loop_test (tests, test_lost_device, 0, 8);
  suite_add_tcase (suite, tests);
}
