/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What goes wrong: buffers that are too small, devices that are not there. */
#include "cclmotion.h"

GST_START_TEST (test_buffer_too_small)
{
  GstHarness *harness = motion_harness ("", GST_VIDEO_FORMAT_GRAY8, W, H);
  GstBus *bus = watch_bus (harness);

  ck_assert_int_eq (gst_harness_push (harness, gst_buffer_new_allocate (NULL, W * H - 1, NULL)), GST_FLOW_ERROR);
  assert_message (bus, GST_MESSAGE_ERROR, "smaller than its caps say");
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
}

GST_END_TEST;

GST_START_TEST (test_no_gpu)
{
  SKIP_TEST_UNLESS (!have_backend ("cuda"), "there is a GPU");

  GstElement *element = gst_element_factory_make ("cclmotion", NULL);
  GstBus *bus = gst_bus_new ();
  GError *error = NULL;
  GstMessage *message;

  gst_element_set_bus (element, bus);
  gst_util_set_object_arg (G_OBJECT (element), "method", "mog2");
  gst_util_set_object_arg (G_OBJECT (element), "backend", "cuda");
  ck_assert_int_eq (gst_element_set_state (element, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (strstr (error->message, "No GPU to detect motion on") != NULL, "%s", error->message);
  g_error_free (error);
  gst_message_unref (message);
  gst_element_set_state (element, GST_STATE_NULL);
  /* A failed start leaves no state: as before the first start, the warning comes at the next start. */
  gst_util_set_object_arg (G_OBJECT (element), "backend", "auto");
  g_object_set (element, "ignore", "rubbish", NULL);
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING) == NULL);
  ck_assert_int_ne (gst_element_set_state (element, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  assert_message (bus, GST_MESSAGE_WARNING, "rubbish");
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  gst_object_unref (bus);
  gst_object_unref (element);
}

GST_END_TEST;

/* backend=auto goes on without the device that was asked for, with one warning. */
GST_START_TEST (test_auto_without_the_device_asked_for)
{
  GstHarness *harness = motion_harness ("backend=auto cuda-device-id=99", GST_VIDEO_FORMAT_GRAY8, W, H);
  GstBus *bus;

  gst_element_set_state (harness->element, GST_STATE_NULL);
  bus = watch_bus (harness);
  gst_harness_play (harness);
  for (guint n = 0; n < 3; n++)
    gst_buffer_unref (push_scene (harness, n, 8));
  assert_message (bus, GST_MESSAGE_WARNING, "Continuing on the CPU");
  assert_no_message (bus, GST_MESSAGE_WARNING);
  assert_no_message (bus, GST_MESSAGE_ERROR);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
}

GST_END_TEST;

void
cclmotion_add_device_tests (Suite * suite)
{
  TCase *tests = tcase_create ("device");

  tcase_set_timeout (tests, 60);
  tcase_add_test (tests, test_buffer_too_small);
  tcase_add_test (tests, test_no_gpu);
  tcase_add_test (tests, test_auto_without_the_device_asked_for);
  suite_add_tcase (suite, tests);
}
