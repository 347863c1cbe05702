/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* librdkafka's own cluster for tests, inside the test program: real connections to brokers on the loopback interface. */
#ifndef CCL_TEST_KAFKACLUSTER_H
#define CCL_TEST_KAFKACLUSTER_H

#include <gst/check/gstcheck.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#define KAFKA_TOPIC "blobs"
#define KAFKA_PARTITIONS 4
#define KAFKA_PRODUCE 0         /* the number of this request in the protocol */

typedef struct
{
  rd_kafka_t *owner;
  rd_kafka_mock_cluster_t *cluster;
  gint n_brokers;
} KafkaCluster;

/* The topic is there. */
KafkaCluster *start_kafka (gint n_brokers);
void stop_kafka (KafkaCluster * self);

/* HOST:PORT of all, with commas between. */
gchar *kafka_addresses (KafkaCluster * self);

/* A broker, or all (-1), ends its connections and takes no others. */
void set_broker_down (KafkaCluster * self, gint broker, gboolean down);

/* The payloads in the topic, partition after partition; the keys are those of the sources in the lines. */
GPtrArray *read_kafka_topic (KafkaCluster * self);

/* The main function: 77, skipped, under gcc's thread sanitizer, which does not see the C11 threads of librdkafka. */
gint run_kafka_suite (gint argc, gchar ** argv, Suite * suite, const gchar * name);

#endif
