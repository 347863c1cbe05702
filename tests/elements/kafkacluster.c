/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "kafkacluster.h"

#include <string.h>

#define PATIENCE (100 * G_TIME_SPAN_SECOND)

static rd_kafka_t *
new_client (rd_kafka_type_t type, rd_kafka_conf_t * conf)
{
  gchar reason[256];
  rd_kafka_t *const client = rd_kafka_new (type, conf, reason, sizeof reason);

  fail_unless (client != NULL, "%s", reason);
  return client;
}

static rd_kafka_conf_t *
new_conf (const gchar * const settings[][2])
{
  rd_kafka_conf_t *const conf = rd_kafka_conf_new ();

  for (guint i = 0; settings[i][0]; i++)
    fail_unless_equals_int (rd_kafka_conf_set (conf, settings[i][0], settings[i][1], NULL, 0), RD_KAFKA_CONF_OK);
  return conf;
}

KafkaCluster *
start_kafka (gint n_brokers)
{
  static const gchar *const settings[][2] = { {"log_level", "0"}, {NULL, NULL} };
  KafkaCluster *const self = g_new0 (KafkaCluster, 1);

  self->owner = new_client (RD_KAFKA_PRODUCER, new_conf (settings));
  self->cluster = rd_kafka_mock_cluster_new (self->owner, n_brokers);
  self->n_brokers = n_brokers;
  fail_unless (self->cluster != NULL);
  fail_unless_equals_int (rd_kafka_mock_topic_create (self->cluster, KAFKA_TOPIC, KAFKA_PARTITIONS, 1),
      RD_KAFKA_RESP_ERR_NO_ERROR);
  return self;
}

void
stop_kafka (KafkaCluster * self)
{
  rd_kafka_mock_cluster_destroy (self->cluster);
  rd_kafka_destroy (self->owner);
  g_free (self);
}

gchar *
kafka_addresses (KafkaCluster * self)
{
  return g_strdup (rd_kafka_mock_cluster_bootstraps (self->cluster));
}

void
set_broker_down (KafkaCluster * self, gint broker, gboolean down)
{
  for (gint i = 1; i <= self->n_brokers; i++) {
    if (broker == -1 || broker == i)
      fail_unless_equals_int ((down ? rd_kafka_mock_broker_set_down : rd_kafka_mock_broker_set_up) (self->cluster, i),
          RD_KAFKA_RESP_ERR_NO_ERROR);
  }
}

static void
check_key (const rd_kafka_message_t * message)
{
  gchar *const line = g_strndup (message->payload, message->len);
  gchar *const key = g_strndup (message->key, message->key_len);
  gchar *const start = g_strdup_printf (*line == '{' ? "{\"source\":\"%s\"" : "\xa2\x66" "source\x65%s\x61", key);

  fail_unless (g_str_has_prefix (line, start), "%s has the key %s", line, key);
  g_free (start);
  g_free (key);
  g_free (line);
}

static rd_kafka_t *
open_consumer (KafkaCluster * self)
{
  const gchar *const settings[][2] = {
    {"bootstrap.servers", rd_kafka_mock_cluster_bootstraps (self->cluster)},
    {"group.id", "reader"}, {"enable.partition.eof", "true"}, {"enable.auto.commit", "false"},
    {"auto.offset.reset", "earliest"}, {"log_level", "0"}, {NULL, NULL}
  };
  rd_kafka_t *const consumer = new_client (RD_KAFKA_CONSUMER, new_conf (settings));
  rd_kafka_topic_partition_list_t *const partitions = rd_kafka_topic_partition_list_new (KAFKA_PARTITIONS);

  rd_kafka_poll_set_consumer (consumer);
  for (gint i = 0; i < KAFKA_PARTITIONS; i++)
    rd_kafka_topic_partition_list_add (partitions, KAFKA_TOPIC, i)->offset = 0;
  fail_unless_equals_int (rd_kafka_assign (consumer, partitions), RD_KAFKA_RESP_ERR_NO_ERROR);
  rd_kafka_topic_partition_list_destroy (partitions);
  return consumer;
}

GPtrArray *
read_kafka_topic (KafkaCluster * self)
{
  rd_kafka_t *const consumer = open_consumer (self);
  GPtrArray *const lines = g_ptr_array_new_with_free_func (g_free);
  const gint64 end = g_get_monotonic_time () + PATIENCE;
  guint n_ends = 0;

  while (n_ends < KAFKA_PARTITIONS) {
    rd_kafka_message_t *const message = rd_kafka_consumer_poll (consumer, 100);

    fail_unless (g_get_monotonic_time () < end, "only %u lines can be read", lines->len);
    if (message && message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
      n_ends++;
    } else if (message && !message->err) {
      check_key (message);
      g_ptr_array_add (lines, g_strndup (message->payload, message->len));
    }
    if (message)
      rd_kafka_message_destroy (message);
  }
  rd_kafka_consumer_close (consumer);
  rd_kafka_destroy (consumer);
  return lines;
}

gint
run_kafka_suite (gint argc, gchar ** argv, Suite * suite, const gchar * name)
{
#ifdef __SANITIZE_THREAD__
  g_print ("skipped: the thread sanitizer does not see librdkafka's threads\n");
  return 77;
#else
  gst_check_init (&argc, &argv);
  return gst_check_run_suite (suite, name, __FILE__);
#endif
}
