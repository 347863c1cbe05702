/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclmqttsink: the queue when it is full. */

#include "cclmqttsink.h"

#include "mqttproxy.h"

GST_START_TEST (test_full_queue)
{
  NEED_BROKER ();

  const guint port = free_port ();
  static const gchar *const policies[] = { "drop-oldest", "drop-newest" };

  for (guint i = 0; i < G_N_ELEMENTS (policies); i++) {
    GSubprocess *const broker = start_broker (port, OPEN_TO_ALL);
    Listener listener = listen_at (port, NULL);
    MqttProxy *const proxy = start_proxy (0, port);
    GstElement *sink = new_sink ("mqtt", proxy->port, "t");
    Publisher publisher;

    set_proxy_refuses (proxy, TRUE);    /* the listener is there first */
    g_object_set (sink, "queue-size", 10, NULL);
    gst_util_set_object_arg (G_OBJECT (sink), "overflow", policies[i]);
    publisher = publish_with (sink);
    expect_message (&publisher, GST_MESSAGE_WARNING, "No connection");
    push_numbers (&publisher, 1, 25);
    fail_unless_equals_uint64 (stat_of (&publisher, "dropped"), 15);
    fail_unless_equals_uint64 (stat_of (&publisher, "queued"), 10);
    set_proxy_refuses (proxy, FALSE);
    wait_for_stat (&publisher, "published", 10);
    if (i == 0)
      expect_numbers (&listener, "t", 16, 25);
    else
      expect_numbers (&listener, "t", 1, 10);
    close_publisher (&publisher);
    stop_proxy (proxy);
    close_listener (&listener);
    stop_program (broker);
  }
}

GST_END_TEST;

/* Of the messages that wait only as many stay as a lower queue-size allows; drop-newest drops no other than the one
 * that comes. */
GST_START_TEST (test_shorter_queue)
{
  static const struct
  {
    const gchar *policy;
    guint queued;
  } cases[] = { {"drop-oldest", 3}, {"drop-newest", 10} };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstElement *sink = new_sink ("mqtt", free_port (), "t");
    Publisher publisher;

    g_object_set (sink, "queue-size", 10, NULL);
    gst_util_set_object_arg (G_OBJECT (sink), "overflow", cases[i].policy);
    publisher = publish_with (sink);
    push_numbers (&publisher, 1, 10);
    g_object_set (sink, "queue-size", 3, NULL);
    push_numbers (&publisher, 11, 11);
    fail_unless_equals_uint64 (stat_of (&publisher, "queued"), cases[i].queued);
    fail_unless_equals_uint64 (stat_of (&publisher, "dropped"), 11 - cases[i].queued);
    close_publisher (&publisher);
  }
}

GST_END_TEST;

GST_START_TEST (test_full_queue_blocks_and_unblocks)
{
  Publisher publisher;
  GThread *thread = start_waiting_for_room (new_sink ("mqtt", free_port (), "t"), &publisher);

  g_usleep (200000);
  fail_unless_equals_uint64 (stat_of (&publisher, "queued"), 10);
  fail_unless_equals_uint64 (stat_of (&publisher, "dropped"), 0);
  fail_unless (gst_harness_push_event (publisher.harness, gst_event_new_flush_start ()));
  fail_unless_equals_int (GPOINTER_TO_INT (g_thread_join (thread)), GST_FLOW_FLUSHING);
  close_publisher (&publisher);
}

GST_END_TEST;

/* A change of `overflow` or of the queue's size ends the wait for space at once. */
GST_START_TEST (test_new_settings_end_the_wait_for_room)
{
  static const struct
  {
    const gchar *property, *value;
    guint queued;
  } cases[] = { {"queue-size", "20", 11}, {"overflow", "drop-oldest", 10}, {"overflow", "drop-newest", 10} };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    Publisher publisher;
    GThread *thread = start_waiting_for_room (new_sink ("mqtt", free_port (), "t"), &publisher);

    gst_util_set_object_arg (G_OBJECT (publisher.harness->element), cases[i].property, cases[i].value);
    fail_unless_equals_int (GPOINTER_TO_INT (g_thread_join (thread)), GST_FLOW_OK);
    fail_unless_equals_uint64 (stat_of (&publisher, "queued"), cases[i].queued);
    fail_unless_equals_uint64 (stat_of (&publisher, "dropped"), 11 - cases[i].queued);
    close_publisher (&publisher);
  }
}

GST_END_TEST;

/* A pause is no flush: the message that waits for room is there when the pipeline plays again. */
GST_START_TEST (test_full_queue_blocks_through_a_pause)
{
  guint port;
  GSocketListener *broker = new_listener (&port);
  GstElement *sink = new_sink ("mqtt", port, "t");
  GSocketConnection *connection;
  Publisher publisher;
  GThread *thread;

  g_object_set (sink, "qos-level", 0, NULL);
  gst_util_set_object_arg (G_OBJECT (sink), "protocol-version", "3.1.1");
  thread = start_waiting_for_room (sink, &publisher);
  connection = accept_client (broker);
  for (guint i = 0; i < 1000; i++) {
    fail_unless_equals_int (gst_element_set_state (sink, GST_STATE_PAUSED), GST_STATE_CHANGE_SUCCESS);
    fail_unless_equals_int (gst_element_set_state (sink, GST_STATE_PLAYING), GST_STATE_CHANGE_SUCCESS);
  }
  fail_unless_equals_uint64 (stat_of (&publisher, "queued"), 10);
  welcome_client (connection);
  fail_unless_equals_int (GPOINTER_TO_INT (g_thread_join (thread)), GST_FLOW_OK);
  wait_for_stat (&publisher, "published", 11);
  fail_unless_equals_uint64 (stat_of (&publisher, "dropped"), 0);
  close_publisher (&publisher);
  g_object_unref (connection);
  g_object_unref (broker);
}

GST_END_TEST;

TCase *
mqtt_queue_tests (void)
{
  TCase *tests = tcase_create ("queue");

  tcase_set_timeout (tests, 120);
  tcase_add_test (tests, test_shorter_queue);
  tcase_add_test (tests, test_full_queue_blocks_and_unblocks);
  tcase_add_test (tests, test_new_settings_end_the_wait_for_room);
  tcase_add_test (tests, test_full_queue_blocks_through_a_pause);
  tcase_add_test (tests, test_full_queue);
  return tests;
}
