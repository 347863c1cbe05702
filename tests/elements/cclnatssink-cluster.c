/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclnatssink and a cluster of three servers, of which one after the other is killed at random. CCL_TEST_SECONDS is the time that
 * this takes, and CCL_TEST_SEED repeats a run. */

#include <stdlib.h>

#include "natsserver.h"
#include "publisher.h"

#define TURN (80 * G_TIME_SPAN_MILLISECOND)     /* a line of each of 8 sources: 100 lines a second */

static guint
number_of (const gchar * variable, guint otherwise)
{
  const gchar *const text = g_getenv (variable);

  return text ? (guint) g_ascii_strtoull (text, NULL, 10) : otherwise;
}

/* Runs `cycles` times: kills a server, pushes meanwhile, starts it again. */
static void
kill_in_turn (NatsServers * servers, LinePublisher * publisher, GRand * random, gint64 end)
{
  guint n_kills = 0;

  while (g_get_monotonic_time () < end) {
    const guint victim = (guint) g_rand_int_range (random, 0, (gint32) servers->n);

    push_lines (publisher, (guint) g_rand_int_range (random, 5, 40), TURN);
    kill_nats (servers, victim);
    push_lines (publisher, (guint) g_rand_int_range (random, 5, 40), TURN);
    revive_nats (servers, victim);
    n_kills++;
  }
  GST_INFO ("%u kills", n_kills);
  g_print ("%u kills, %u lines, longest push %" G_GINT64_FORMAT " us, %" G_GUINT64_FORMAT " connections\n", n_kills,
      8 * (publisher->next[0] - 1), publisher->longest_push, publisher_stat (publisher, "connects"));
}

GST_START_TEST (test_kills)
{
  const guint seconds = number_of ("CCL_TEST_SECONDS", 20);
  const guint seed = number_of ("CCL_TEST_SEED", g_random_int ());
  GRand *const random = g_rand_new_with_seed (seed);
  NatsServers *servers;
  LinePublisher *publisher;
  GPtrArray *lines;

  NEED_NATS ();
  g_print ("seed %u, %u seconds\n", seed, seconds);
  servers = start_nats (3, NULL);
  add_nats_stream (servers, "blobs", "cams.>", 0);
  publisher = open_publisher ("cclnatssink", nats_addresses (servers), "topic=cams.{source-id}", 8);
  kill_in_turn (servers, publisher, random, g_get_monotonic_time () + seconds * G_TIME_SPAN_SECOND);
  wait_for_all_lines (publisher);
  lines = read_nats_stream (servers, "blobs", NULL);
  fail_unless_equals_int (check_lines (publisher, lines, 0), 0);
  fail_unless (publisher->longest_push < G_TIME_SPAN_SECOND);   /* no broker was away for less */
  g_ptr_array_unref (lines);
  close_publisher (publisher);
  stop_nats (servers);
  g_rand_free (random);
}

GST_END_TEST;

static Suite *
cclnatssink_cluster_suite (void)
{
  Suite *const suite = suite_create ("cclnatssink-cluster");
  TCase *const tests = tcase_create ("general");

  suite_add_tcase (suite, tests);
  tcase_set_timeout (tests, number_of ("CCL_TEST_SECONDS", 20) + 120);
  tcase_add_test (tests, test_kills);
  return suite;
}

GST_CHECK_MAIN (cclnatssink_cluster);
