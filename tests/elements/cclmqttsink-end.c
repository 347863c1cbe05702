/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclmqttsink: the end of a stream, errors, and starts after them. */

#include "cclmqttsink.h"

/* Pushes until that is the answer. */
static void
wait_for_flow (Publisher * publisher, GstFlowReturn flow)
{
  const gint64 end = g_get_monotonic_time () + PATIENCE;

  while (push_number (publisher, 0) != flow) {
    fail_unless (g_get_monotonic_time () < end, "the stream goes on");
    g_usleep (20000);
  }
}

/* Nobody is there: the end of the stream comes after drain-timeout, with a count of what waits, and then of what was lost. */
GST_START_TEST (test_end_without_a_broker)
{
  GstElement *sink = new_sink ("mqtt", free_port (), "t");
  Publisher publisher;
  gint64 start;

  g_object_set (sink, "drain-timeout", (guint64) GST_SECOND / 2, NULL);
  publisher = publish_with (sink);
  push_numbers (&publisher, 1, 3);
  expect_message (&publisher, GST_MESSAGE_WARNING, "No connection");
  start = g_get_monotonic_time ();
  fail_unless (gst_harness_push_event (publisher.harness, gst_event_new_eos ()));
  fail_unless (g_get_monotonic_time () - start >= G_USEC_PER_SEC / 2);
  fail_unless (g_get_monotonic_time () - start < PATIENCE);
  /* It also says when it fails to connect for another reason than before. */
  expect_message_past (&publisher, GST_MESSAGE_WARNING, "No connection", "3 messages are still waiting");
  gst_element_set_state (publisher.harness->element, GST_STATE_NULL);
  expect_message_past (&publisher, GST_MESSAGE_WARNING, "No connection", "3 messages were not delivered");
  fail_unless_equals_uint64 (stat_of (&publisher, "dropped"), 3);
  close_publisher (&publisher);
}

GST_END_TEST;

/* Nobody is to wait, so nobody needs to know what waits: the next message is the one about what was lost. */
GST_START_TEST (test_end_that_waits_for_nothing)
{
  GstElement *sink = new_sink ("mqtt", free_port (), "t");
  Publisher publisher;

  g_object_set (sink, "drain-timeout", (guint64) 0, NULL);
  publisher = publish_with (sink);
  push_numbers (&publisher, 1, 3);
  fail_unless (gst_harness_push_event (publisher.harness, gst_event_new_eos ()));
  gst_element_set_state (publisher.harness->element, GST_STATE_NULL);
  expect_message_past (&publisher, GST_MESSAGE_WARNING, "No connection", "3 messages were not delivered");
  close_publisher (&publisher);
}

GST_END_TEST;

static gpointer
push_end (gpointer data)
{
  Publisher *const publisher = data;

  return GINT_TO_POINTER (gst_harness_push_event (publisher->harness, gst_event_new_eos ()));
}

/* A seek, or a stop, while the end waits for the broker: it stops waiting, without a warning, as nothing has ended. */
GST_START_TEST (test_end_is_given_up)
{
  const gboolean stops = __i__;
  GstElement *sink = new_sink ("mqtt", free_port (), "t");
  Publisher publisher;
  GThread *thread;

  g_object_set (sink, "drain-timeout", (guint64) 1000 * GST_SECOND, NULL);
  publisher = publish_with (sink);
  push_numbers (&publisher, 1, 3);
  thread = g_thread_new ("end", push_end, &publisher);
  g_usleep (G_USEC_PER_SEC / 5);
  if (!stops)
    fail_unless (gst_harness_push_event (publisher.harness, gst_event_new_flush_start ()));
  gst_element_set_state (publisher.harness->element, GST_STATE_NULL);
  fail_if (GPOINTER_TO_INT (g_thread_join (thread)));
  expect_message_past (&publisher, GST_MESSAGE_WARNING, "No connection", "3 messages were not delivered");
  close_publisher (&publisher);
}

GST_END_TEST;

/* After an error READY is enough to begin anew: with a broker that is there by now, or with the same error. */
GST_START_TEST (test_starts_again_after_an_error)
{
  SKIP_TEST_UNLESS (!__i__ || have_broker (), "mosquitto and mosquitto-clients are not installed");

  const gboolean broker_comes = __i__;
  const guint port = free_port ();
  GstElement *sink = new_sink ("mqtt", port, "t");
  GSubprocess *broker = NULL;
  Publisher publisher;

  g_object_set (sink, "fail-on-disconnect", TRUE, NULL);
  publisher = publish_with (sink);
  expect_message (&publisher, GST_MESSAGE_ERROR, "No connection to the MQTT broker");
  wait_for_flow (&publisher, GST_FLOW_ERROR);
  gst_element_set_state (sink, GST_STATE_READY);
  if (broker_comes) {
    broker = start_broker (port, OPEN_TO_ALL);
    wait_for_stat (&publisher, "connected", 1);
  }
  gst_element_set_state (sink, GST_STATE_PLAYING);
  gst_harness_set_src_caps_str (publisher.harness, CAPS);
  if (broker_comes) {
    fail_unless_equals_int (push_number (&publisher, 1), GST_FLOW_OK);
  } else {
    expect_message (&publisher, GST_MESSAGE_ERROR, "No connection to the MQTT broker");
  }
  close_publisher (&publisher);
  if (broker)
    stop_program (broker);
}

GST_END_TEST;

GST_START_TEST (test_fail_on_disconnect)
{
  GstElement *sink = new_sink ("mqtt", free_port (), "t");
  Publisher publisher;

  g_object_set (sink, "fail-on-disconnect", TRUE, NULL);
  publisher = publish_with (sink);
  expect_message (&publisher, GST_MESSAGE_ERROR, "No connection to the MQTT broker");
  wait_for_flow (&publisher, GST_FLOW_ERROR);

  /* Once more from the start, now with patience. */
  gst_element_set_state (sink, GST_STATE_NULL);
  g_object_set (sink, "fail-on-disconnect", FALSE, NULL);
  gst_element_set_state (sink, GST_STATE_PLAYING);
  gst_harness_set_src_caps_str (publisher.harness, CAPS);
  push_numbers (&publisher, 1, 3);
  fail_unless_equals_uint64 (stat_of (&publisher, "queued"), 3);
  close_publisher (&publisher);
}

GST_END_TEST;

/* It also ends the wait of a streaming thread for space in the queue. */
GST_START_TEST (test_fail_on_disconnect_unblocks)
{
  guint port;
  GSocketListener *broker = new_listener (&port);
  GstElement *sink = new_sink ("mqtt", port, "t");
  GSocketConnection *connection;
  Publisher publisher;
  GThread *thread;

  g_object_set (sink, "fail-on-disconnect", TRUE, NULL);
  gst_util_set_object_arg (G_OBJECT (sink), "protocol-version", "3.1.1");
  thread = start_waiting_for_room (sink, &publisher);
  connection = accept_client (broker);
  g_object_unref (connection);  /* closes it */
  expect_message (&publisher, GST_MESSAGE_ERROR, "No connection to the MQTT broker");
  fail_unless_equals_int (GPOINTER_TO_INT (g_thread_join (thread)), GST_FLOW_ERROR);
  close_publisher (&publisher);
  g_object_unref (broker);
}

GST_END_TEST;

/* A broker that takes what comes only after a while: whether it ends with a DISCONNECT. */
static gpointer
read_late (gpointer data)
{
  GInputStream *const stream = g_io_stream_get_input_stream (data);
  guint8 *const part = g_malloc (65536);
  guint8 last[2] = { 0 };
  gssize size;

  g_usleep (200000);
  while ((size = g_input_stream_read (stream, part, 65536, NULL, NULL)) > 0) {
    last[0] = size > 1 ? part[size - 2] : last[1];
    last[1] = part[size - 1];
  }
  g_free (part);
  return GINT_TO_POINTER (last[0] == 0xe0 && last[1] == 0);
}

/* More than a socket holds, so that the DISCONNECT waits behind it: without one the broker publishes the will. */
GST_START_TEST (test_stop_on_a_slow_link)
{
  guint port;
  GSocketListener *broker = new_listener (&port);
  GstElement *sink = new_sink ("mqtt", port, "t");
  GSocketConnection *connection;
  Publisher publisher;
  GThread *thread;

  g_object_set (sink, "qos-level", 0, "will-topic", "gone", NULL);
  gst_util_set_object_arg (G_OBJECT (sink), "protocol-version", "3.1.1");
  publisher = publish_with (sink);
  connection = accept_client (broker);
  welcome_client (connection);
  wait_for_stat (&publisher, "connected", TRUE);
  for (guint i = 0; i < 30; i++) {
    const gsize size = 400000;
    fail_unless_equals_int (gst_harness_push (publisher.harness, gst_buffer_new_wrapped (g_strnfill (size, 'x'), size)),
        GST_FLOW_OK);
  }
  thread = g_thread_new ("broker", read_late, connection);
  gst_element_set_state (sink, GST_STATE_NULL);
  fail_unless (GPOINTER_TO_INT (g_thread_join (thread)), "no DISCONNECT");
  close_publisher (&publisher);
  g_object_unref (connection);
  g_object_unref (broker);
}

GST_END_TEST;

TCase *
mqtt_end_tests (void)
{
  TCase *tests = tcase_create ("end");

  tcase_set_timeout (tests, 120);
  tcase_add_test (tests, test_end_without_a_broker);
  tcase_add_test (tests, test_end_that_waits_for_nothing);
  tcase_add_loop_test (tests, test_end_is_given_up, 0, 2);
  tcase_add_test (tests, test_fail_on_disconnect);
  tcase_add_loop_test (tests, test_starts_again_after_an_error, 0, 2);
  tcase_add_test (tests, test_fail_on_disconnect_unblocks);
  tcase_add_test (tests, test_stop_on_a_slow_link);
  return tests;
}
