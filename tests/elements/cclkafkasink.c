/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclkafkasink against librdkafka's mock cluster, whose brokers listen on the loopback interface. */

#include <string.h>

#include "kafkacluster.h"
#include "publisher.h"

#define TOPIC "topic=" KAFKA_TOPIC " "

static LinePublisher *
open_sink (KafkaCluster * cluster, const gchar * settings, guint n_sources)
{
  return open_publisher ("cclkafkasink", kafka_addresses (cluster), settings, n_sources);
}

/* All lines are in the topic, in order. Returns the number of those that are there twice. */
static guint
expect_all (KafkaCluster * cluster, LinePublisher * publisher, guint missing)
{
  GPtrArray *const lines = read_kafka_topic (cluster);
  const guint n_again = check_lines (publisher, lines, missing);

  g_ptr_array_unref (lines);
  return n_again;
}

GST_START_TEST (test_lines)
{
  static const gchar *const compressions[] = { "none", "zstd" };

  for (guint i = 0; i < G_N_ELEMENTS (compressions); i++) {
    KafkaCluster *const cluster = start_kafka (1);
    gchar *const settings = g_strconcat (TOPIC "compression=", compressions[i], NULL);
    LinePublisher *const publisher = open_sink (cluster, settings, 8);

    push_lines (publisher, 100, 0);
    wait_for_all_lines (publisher);
    fail_unless_equals_int (expect_all (cluster, publisher, 0), 0);
    fail_unless_equals_uint64 (publisher_stat (publisher, "connects"), 1);
    fail_unless_equals_uint64 (publisher_stat (publisher, "failures"), 0);
    close_publisher (publisher);
    stop_kafka (cluster);
    g_free (settings);
  }
}

GST_END_TEST;

GST_START_TEST (test_cbor)
{
  KafkaCluster *const cluster = start_kafka (1);
  LinePublisher *const publisher = open_sink (cluster, TOPIC, 1);
  GPtrArray *lines;

  push_items (publisher);
  wait_for_all_lines (publisher);
  lines = read_kafka_topic (cluster);
  check_items (lines);
  g_ptr_array_unref (lines);
  close_publisher (publisher);
  stop_kafka (cluster);
}

GST_END_TEST;

/* The pipeline starts before the brokers. */
GST_START_TEST (test_late_brokers)
{
  KafkaCluster *const cluster = start_kafka (3);
  LinePublisher *publisher;

  set_broker_down (cluster, -1, TRUE);
  publisher = open_sink (cluster, TOPIC, 4);
  push_lines (publisher, 50, 0);
  wait_for_message (publisher, GST_MESSAGE_WARNING, "No connection to the Kafka", NULL);
  fail_unless_equals_uint64 (publisher_stat (publisher, "connected"), 0);
  set_broker_down (cluster, -1, FALSE);
  wait_for_all_lines (publisher);
  fail_unless_equals_int (expect_all (cluster, publisher, 0), 0);
  close_publisher (publisher);
  stop_kafka (cluster);
}

GST_END_TEST;

/* Each broker in turn, and then all of them. The producer keeps its messages, so that none comes twice. */
GST_START_TEST (test_brokers_down)
{
  KafkaCluster *const cluster = start_kafka (3);
  LinePublisher *const publisher = open_sink (cluster, TOPIC, 8);

  for (gint broker = 1; broker <= 4; broker++) {
    const gint which = broker == 4 ? -1 : broker;

    push_lines (publisher, 20, 5000);
    set_broker_down (cluster, which, TRUE);
    push_lines (publisher, 50, 5000);
    set_broker_down (cluster, which, FALSE);
  }
  push_lines (publisher, 20, 5000);
  wait_for_all_lines (publisher);
  expect_all (cluster, publisher, 0);
  fail_unless (publisher->longest_push < MAX_PUSH_TIME, "a push took %" G_GINT64_FORMAT " us", publisher->longest_push);
  close_publisher (publisher);
  stop_kafka (cluster);
}

GST_END_TEST;

/* What a broker says while its cluster changes. */
GST_START_TEST (test_passing_errors)
{
  KafkaCluster *const cluster = start_kafka (1);
  LinePublisher *const publisher = open_sink (cluster, TOPIC, 4);

  push_lines (publisher, 20, 0);
  rd_kafka_mock_push_request_errors (cluster->cluster, KAFKA_PRODUCE, 6, RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
      RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT, RD_KAFKA_RESP_ERR__TRANSPORT,
      RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE, RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION);
  push_lines (publisher, 100, 2000);
  wait_for_all_lines (publisher);
  expect_all (cluster, publisher, 0);
  close_publisher (publisher);
  stop_kafka (cluster);
}

GST_END_TEST;

/* The user may not write for a time. The producer cannot repair that, so another takes its place. */
GST_START_TEST (test_permission)
{
  KafkaCluster *const cluster = start_kafka (1);
  LinePublisher *const publisher = open_sink (cluster, TOPIC, 2);

  push_lines (publisher, 20, 0);
  wait_for_all_lines (publisher);
  rd_kafka_mock_push_request_errors (cluster->cluster, KAFKA_PRODUCE, 3, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED,
      RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
  push_lines (publisher, 100, 2000);
  wait_for_message (publisher, GST_MESSAGE_WARNING, "authorization failed", NULL);
  wait_for_all_lines (publisher);
  expect_all (cluster, publisher, 0);
  close_publisher (publisher);
  stop_kafka (cluster);
}

GST_END_TEST;

/* librdkafka's own queue has space for some lines only, and then the broker for none: all wait. */
GST_START_TEST (test_full)
{
  KafkaCluster *const cluster = start_kafka (1);
  LinePublisher *publisher;

  set_broker_down (cluster, -1, TRUE);
  publisher = open_sink (cluster, TOPIC "config=queue.buffering.max.kbytes=1", 2);
  push_lines (publisher, 100, 0);
  set_broker_down (cluster, -1, FALSE);
  wait_for_all_lines (publisher);
  rd_kafka_mock_push_request_errors (cluster->cluster, KAFKA_PRODUCE, 2, RD_KAFKA_RESP_ERR_THROTTLING_QUOTA_EXCEEDED,
      RD_KAFKA_RESP_ERR_THROTTLING_QUOTA_EXCEEDED);
  push_lines (publisher, 50, 2000);
  wait_for_message (publisher, GST_MESSAGE_WARNING, "The broker is full: ", NULL);
  wait_for_all_lines (publisher);
  expect_all (cluster, publisher, 0);
  close_publisher (publisher);
  stop_kafka (cluster);
}

GST_END_TEST;

/* A broker refuses a batch, and then its first message alone: this one is dropped. */
GST_START_TEST (test_refused_line)
{
  KafkaCluster *const cluster = start_kafka (1);
  LinePublisher *publisher;

  set_broker_down (cluster, -1, TRUE);
  publisher = open_sink (cluster, TOPIC, 1);
  push_lines (publisher, 50, 0);
  rd_kafka_mock_push_request_errors (cluster->cluster, KAFKA_PRODUCE, 2, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE,
      RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE);
  set_broker_down (cluster, -1, FALSE);
  wait_for_message (publisher, GST_MESSAGE_WARNING, "was refused and dropped", NULL);
  wait_for_publisher (publisher, "published", 49);
  fail_unless_equals_uint64 (publisher_stat (publisher, "dropped-refused"), 1);
  push_lines (publisher, 10, 0);
  wait_for_publisher (publisher, "published", 59);
  expect_all (cluster, publisher, 1);
  close_publisher (publisher);
  stop_kafka (cluster);
}

GST_END_TEST;

/* Larger than the producer takes. */
GST_START_TEST (test_large_line)
{
  KafkaCluster *const cluster = start_kafka (1);
  LinePublisher *const publisher = open_sink (cluster, TOPIC "queue-bytes=100000000", 1);

  push_lines (publisher, 5, 0);
  push_large_line (publisher, 2000000);
  push_lines (publisher, 5, 0);
  wait_for_publisher (publisher, "published", 10);
  fail_unless_equals_uint64 (publisher_stat (publisher, "dropped"), 1);
  expect_all (cluster, publisher, 6);
  close_publisher (publisher);
  stop_kafka (cluster);
}

GST_END_TEST;

GST_START_TEST (test_wrong_settings)
{
  static const gchar *const wrong[][2] = {
    {"topic=\"\"", "is no topic"},
    {"topic=a/b", "is no topic"},
    {"topic=\"a b\"", "is no topic"},
    {"topic=..", "is no topic"},
    {"servers=\"\"", "servers is empty"},
    {"servers=user:secret@host", "holds a user name or password"},
    {"servers=kafka://host", "no scheme"},
    {"servers=host:0", "Server 1"},
    {"servers=host,:9092", "Server 2"},
    {"cert-file=/etc/hostname", "One of cert-file and key-file is missing"},
    {"tls=true ca-file=/etc/hostname", "librdkafka makes no producer"},
    {"username=a password-env=CCL_TEST_NOT_SET", "is not set"},
    {"username=a password-env=CCL_TEST_PASSWORD sasl-mechanism=NONE", "librdkafka"},
    {"config=linger.ms", "not KEY=VALUE"},
    {"config=linger.ms=secret", "value of linger.ms"},
    {"config=acks=0", "config cannot set acks"},
    {"config=sasl.password=secret", "config cannot set sasl.password"},
    {"config=no.such.key=1", "value of no.such.key"},
  };

  g_setenv ("CCL_TEST_PASSWORD", "secret", TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    expect_wrong_settings ("cclkafkasink", wrong[i][0], wrong[i][1]);
}

GST_END_TEST;

static Suite *
cclkafkasink_suite (void)
{
  Suite *const suite = suite_create ("cclkafkasink");
  TCase *const tests = tcase_create ("general");

  suite_add_tcase (suite, tests);
  tcase_set_timeout (tests, 120);
  tcase_add_test (tests, test_lines);
  tcase_add_test (tests, test_cbor);
  tcase_add_test (tests, test_late_brokers);
  tcase_add_test (tests, test_brokers_down);
  tcase_add_test (tests, test_passing_errors);
  tcase_add_test (tests, test_permission);
  tcase_add_test (tests, test_full);
  tcase_add_test (tests, test_refused_line);
  tcase_add_test (tests, test_large_line);
  tcase_add_test (tests, test_wrong_settings);
  return suite;
}

int
main (int argc, char **argv)
{
  return run_kafka_suite (argc, argv, cclkafkasink_suite (), "cclkafkasink");
}
