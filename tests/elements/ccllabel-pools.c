/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Queued frames and the headroom of upstream's pool. */
#include "ccllabel.h"

/* With more queued frames than the pool has headroom, upstream would wait for a buffer without end. */
static void
queue_more_frames (guint backend, guint max)
{
  static const struct
  {
    const gchar *name, *value;
    guint queued;
  } steps[] = { {"async-depth", "3", 3}, {"async-depth", "1", 1}, {"volume", "4", 3}, {"volume", "9", 8} };
  Mask mask = mask_dots (8);
  GstHarness *harness = label_harness (backend, "");
  guint n = 0, before = 0;

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  limit_pool (harness->sinkpad, max);
  fail_unless_equals_int (ask_for_buffers (harness), 2);
  for (guint i = 0; i < G_N_ELEMENTS (steps); before = steps[i++].queued) {
    guint n_out;

    n_reconfigures (harness);
    set_label (harness, steps[i].name, steps[i].value);
    n_out = gst_harness_buffers_received (harness);
    if (steps[i].queued > before) {
      /* The old limit holds until upstream asks for buffers. One RECONFIGURE event tells it to. */
      push_mask (harness, &mask, n++);
      push_mask (harness, &mask, n++);
      fail_unless_equals_int (gst_harness_buffers_received (harness) - n_out, before < 2 ? 2 - before : 0);
      fail_unless_equals_int (n_reconfigures (harness), 1);
      fail_unless_equals_int (ask_for_buffers (harness), 2 + steps[i].queued);
      n_out = gst_harness_buffers_received (harness);
      fail_unless_equals_int (n_out, n);
    }
    for (guint k = 0; k < steps[i].queued; k++)
      push_mask (harness, &mask, n++);
    fail_unless_equals_int (gst_harness_buffers_received (harness), n_out);
    push_mask (harness, &mask, n++);
    fail_unless (gst_harness_buffers_received (harness) > n_out);
    fail_unless_equals_int (n_reconfigures (harness), 0);
    ask_for_buffers (harness);
  }
  gst_harness_teardown (harness);
  mask_free (&mask);
}

static void
assert_stat_string (GstHarness * harness, const gchar * name, const gchar * expected)
{
  gchar *const value = stat_string (harness, name);

  fail_unless_equals_string (value, expected);
  g_free (value);
}

/* A change that needs no headroom does not wait for it. */
GST_START_TEST (test_method_does_not_wait_for_headroom)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_random (16, 16, 1, 0.4);
  GstHarness *harness = label_harness (__i__, "");
  GstBuffer *buffer;

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  limit_pool (harness->sinkpad, 2);
  ask_for_buffers (harness);
  gst_buffer_unref (label_mask (harness, &mask, 0));
  set_label (harness, "async-depth", "2");
  set_label (harness, "connectivity", "4");
  buffer = label_mask (harness, &mask, 1);
  assert_blobs (buffer, &mask, 4);
  gst_buffer_unref (buffer);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

/* It does not wait after a start of the element alone either. A method for volumes waits. */
GST_START_TEST (test_method_does_not_wait_for_headroom_after_a_start)
{
  NEED_BACKEND (__i__);

  static const gchar *const methods[] = { "reference", "runs-3d" };
  Mask mask = mask_random (16, 16, 1, 0.4);
  GstHarness *harness = label_harness (__i__, "");
  gint active;

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  limit_pool (harness->sinkpad, 2);
  ask_for_buffers (harness);
  push_mask (harness, &mask, 0);
  for (guint i = 0; i < G_N_ELEMENTS (methods); i++) {
    gst_element_set_state (harness->element, GST_STATE_READY);
    set_label (harness, "backend", "cpu");
    set_label (harness, "algorithm", methods[i]);
    set_label (harness, "volume", "4");
    fail_unless_equals_int (gst_element_set_state (harness->element, GST_STATE_PLAYING), GST_STATE_CHANGE_SUCCESS);
    push_mask (harness, &mask, 1 + i);
    fail_unless_equals_int (gst_harness_buffers_received (harness), 2 + i);
    assert_stat_string (harness, "algorithm", "reference");
    g_object_get (label_of (harness), "active-backend", &active, NULL);
    fail_unless_equals_int (active, 2);
  }
  ask_for_buffers (harness);
  push_mask (harness, &mask, 3);
  assert_stat_string (harness, "volume-algorithm", "runs-3d");
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

/* Also after upstream asked for fewer buffers in between. */
GST_START_TEST (test_method_for_volumes_waits_for_headroom)
{
  Mask mask = mask_random (16, 16, 1, 0.4);
  GstHarness *harness = label_harness (0, "volume=3 algorithm=runs-3d");
  GstBus *bus = watch_bus (harness);

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  limit_pool (harness->sinkpad, 2);
  ask_for_buffers (harness);
  push_mask (harness, &mask, 0);
  set_label (harness, "volume", "0");
  ask_for_buffers (harness);
  set_label (harness, "volume", "4");
  for (guint i = 0; i < 2; i++) {
    push_mask (harness, &mask, 1 + i);
    assert_stat_string (harness, "volume-algorithm", i ? "runs-3d" : "none");
    ask_for_buffers (harness);
  }
  assert_no_message (bus, GST_MESSAGE_WARNING);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

/* The end of volumes does not wait. Until upstream asks again, the queue is as long as the headroom allows. */
GST_START_TEST (test_end_of_volumes_does_not_wait_for_headroom)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_random (16, 16, 1, 0.4);
  GstHarness *harness = label_harness (__i__, "volume=3");
  GstBuffer *buffer;
  guint n = 0;

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  limit_pool (harness->sinkpad, 2);
  fail_unless_equals_int (ask_for_buffers (harness), 4);
  while (n < 3)
    push_mask (harness, &mask, n++);
  while ((buffer = gst_harness_try_pull (harness)))
    gst_buffer_unref (buffer);
  fail_unless_equals_int (gst_harness_buffers_received (harness), 3);
  set_label (harness, "volume", "0");
  set_label (harness, "async-depth", "3");
  set_label (harness, "connectivity", "4");
  while (n < 6)
    push_mask (harness, &mask, n++);
  fail_unless_equals_int (gst_harness_buffers_received (harness), 4);
  buffer = gst_harness_pull (harness);
  assert_blobs (buffer, &mask, 4);
  gst_buffer_unref (buffer);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

GST_START_TEST (test_more_queued_frames_wait_for_headroom)
{
  NEED_BACKEND (__i__);
  queue_more_frames (__i__, 2);
  queue_more_frames (__i__, 0);
}

GST_END_TEST;

void
ccllabel_add_pools_tests (Suite * suite)
{
  TCase *tests = tcase_create ("pools");

  tcase_set_timeout (tests, 300);
  tcase_add_loop_test (tests, test_more_queued_frames_wait_for_headroom, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_method_does_not_wait_for_headroom, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_method_does_not_wait_for_headroom_after_a_start, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_end_of_volumes_does_not_wait_for_headroom, 0, G_N_ELEMENTS (backends));
  tcase_add_test (tests, test_method_for_volumes_waits_for_headroom);
  suite_add_tcase (suite, tests);
}
