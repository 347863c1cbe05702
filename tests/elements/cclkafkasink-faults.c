/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclkafkasink and three brokers with faults at random. CCL_TEST_SECONDS is the time that this takes, and CCL_TEST_SEED repeats a
 * run. */

#include <stdlib.h>

#include "kafkacluster.h"
#include "publisher.h"

#define TURN (80 * G_TIME_SPAN_MILLISECOND)     /* a line of each of 8 sources: 100 lines a second */

static guint
number_of (const gchar * variable, guint otherwise)
{
  const gchar *const text = g_getenv (variable);

  return text ? (guint) g_ascii_strtoull (text, NULL, 10) : otherwise;
}

static void
answer_with_errors (KafkaCluster * cluster, GRand * random)
{
  static const rd_kafka_resp_err_t errors[] = {
    RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS,
    RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT, RD_KAFKA_RESP_ERR__TRANSPORT, RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR,
    RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR_UNKNOWN,
  };
  const gint n = g_rand_int_range (random, 1, 4);

  for (gint i = 0; i < n; i++)
    rd_kafka_mock_push_request_errors (cluster->cluster, KAFKA_PRODUCE, 1,
        errors[g_rand_int_range (random, 0, G_N_ELEMENTS (errors))]);
}

/* Between requests: these brokers do not check sequence numbers, by which a real one refuses a request that has overtaken another
 * on its way to the former leader. */
static void
move_partition (KafkaCluster * cluster, LinePublisher * publisher, GRand * random)
{
  wait_for_all_lines (publisher);
  rd_kafka_mock_partition_set_leader (cluster->cluster, KAFKA_TOPIC, g_rand_int_range (random, 0, KAFKA_PARTITIONS),
      g_rand_int_range (random, 1, cluster->n_brokers + 1));
}

static void
slow_down (KafkaCluster * cluster, GRand * random)
{
  for (gint i = 1; i <= cluster->n_brokers; i++)
    rd_kafka_mock_broker_set_rtt (cluster->cluster, i, g_rand_boolean (random) ? 0 : g_rand_int_range (random, 1, 300));
}

static void
speed_up (KafkaCluster * cluster)
{
  for (gint i = 1; i <= cluster->n_brokers; i++)
    rd_kafka_mock_broker_set_rtt (cluster->cluster, i, 0);
}

/* A broker, or all. */
static void
take_down (KafkaCluster * cluster, LinePublisher * publisher, GRand * random)
{
  const gint broker = g_rand_boolean (random) ? -1 : g_rand_int_range (random, 1, cluster->n_brokers + 1);

  set_broker_down (cluster, broker, TRUE);
  push_lines (publisher, (guint) g_rand_int_range (random, 1, 30), TURN);
  set_broker_down (cluster, broker, FALSE);
}

static void
make_faults (KafkaCluster * cluster, LinePublisher * publisher, GRand * random, gint64 end)
{
  while (g_get_monotonic_time () < end) {
    switch (g_rand_int_range (random, 0, 4)) {
      case 0:
        answer_with_errors (cluster, random);
        break;
      case 1:
        move_partition (cluster, publisher, random);
        break;
      case 2:
        slow_down (cluster, random);
        break;
      default:
        take_down (cluster, publisher, random);
        break;
    }
    push_lines (publisher, (guint) g_rand_int_range (random, 5, 30), TURN);
  }
}

GST_START_TEST (test_faults)
{
  const guint seconds = number_of ("CCL_TEST_SECONDS", 20);
  const guint seed = number_of ("CCL_TEST_SEED", g_random_int ());
  GRand *const random = g_rand_new_with_seed (seed);
  KafkaCluster *const cluster = start_kafka (3);
  LinePublisher *const publisher = open_publisher ("cclkafkasink", kafka_addresses (cluster), "topic=" KAFKA_TOPIC, 8);
  GPtrArray *lines;
  guint n_again;

  g_print ("seed %u, %u seconds\n", seed, seconds);
  make_faults (cluster, publisher, random, g_get_monotonic_time () + seconds * G_TIME_SPAN_SECOND);
  wait_for_all_lines (publisher);
  speed_up (cluster);
  lines = read_kafka_topic (cluster);
  n_again = check_lines (publisher, lines, 0);
  g_print ("%u lines, %u came again, longest push %" G_GINT64_FORMAT " us, %" G_GUINT64_FORMAT " connections\n",
      8 * (publisher->next[0] - 1), n_again, publisher->longest_push, publisher_stat (publisher, "connects"));
  fail_unless (publisher->longest_push < G_TIME_SPAN_SECOND);   /* no broker was away for less */
  g_ptr_array_unref (lines);
  close_publisher (publisher);
  stop_kafka (cluster);
  g_rand_free (random);
}

GST_END_TEST;

static Suite *
cclkafkasink_faults_suite (void)
{
  Suite *const suite = suite_create ("cclkafkasink-faults");
  TCase *const tests = tcase_create ("general");

  suite_add_tcase (suite, tests);
  tcase_set_timeout (tests, number_of ("CCL_TEST_SECONDS", 20) + 120);
  tcase_add_test (tests, test_faults);
  return suite;
}

int
main (int argc, char **argv)
{
  return run_kafka_suite (argc, argv, cclkafkasink_faults_suite (), "cclkafkasink-faults");
}
