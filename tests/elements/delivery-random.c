/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The delivery core on a transport that breaks connections at random, from a printed seed: nothing is lost, and nothing newer
 * overtakes. CCL_SEED=N repeats a run. */

#include <stdio.h>
#include <stdlib.h>

#include <gst/check/gstcheck.h>

#include "delivery/gstccldelivery.h"

#define N_SOURCES 8
#define N_MESSAGES 1500

typedef struct
{
  guint64 id;
  guint source, number;
} Line;

typedef struct
{
  GstCclDelivery *delivery;
  GThread *thread;
  GRand *random;                /* of the thread */

  GMutex lock;
  GArray *wire;                 /* of Line: sent and not received yet */
  gboolean is_cut;              /* what is sent goes nowhere */
  guint n_later;                /* send() says "later" this number of times */
  gboolean is_stopping;

  /* Of the thread. */
  guint next[N_SOURCES];        /* the number that is to come first next */
  guint n_received, n_repeated, n_lost;
} Wire;

static void
start_wire (gpointer transport, GstCclDelivery * delivery)
{
}

static GstCclSendResult
send_by_wire (gpointer transport, const GstCclDeliveryMessage * message, gchar * reason)
{
  Wire *const wire = transport;
  GstCclSendResult result = GST_CCL_SEND_ACCEPTED;
  Line line = {.id = message->id };

  memcpy (&line.number, g_bytes_get_data (message->payload, NULL), sizeof line.number);
  line.source = (guint) atoi (message->source);
  g_mutex_lock (&wire->lock);
  if (wire->n_later && !wire->is_cut) {
    wire->n_later--;
    result = GST_CCL_SEND_LATER;
  } else if (!wire->is_cut) {
    g_array_append_val (wire->wire, line);
  }
  g_mutex_unlock (&wire->lock);
  return result;
}

/* The broker has the next line. Its acknowledgement may get lost. FALSE: nothing was sent. */
static gboolean
receive (Wire * wire, gboolean acknowledges)
{
  Line line = { 0 };
  gboolean is_there;

  g_mutex_lock (&wire->lock);
  is_there = wire->wire->len > 0;
  if (is_there) {
    line = g_array_index (wire->wire, Line, 0);
    g_array_remove_index (wire->wire, 0);
  }
  g_mutex_unlock (&wire->lock);
  if (!is_there)
    return FALSE;
  fail_unless (line.number <= wire->next[line.source], "line %u of source %u overtakes %u", line.number, line.source,
      wire->next[line.source]);
  if (line.number < wire->next[line.source])
    wire->n_repeated++;
  else
    wire->next[line.source]++;
  wire->n_received++;
  if (acknowledges)
    gst_ccl_delivery_acknowledged (wire->delivery, line.id);
  return TRUE;
}

static void
cut (Wire * wire)
{
  g_mutex_lock (&wire->lock);
  wire->is_cut = TRUE;
  g_array_set_size (wire->wire, 0);
  g_mutex_unlock (&wire->lock);
  g_usleep ((gulong) g_rand_int_range (wire->random, 0, 2000));
  gst_ccl_delivery_lost (wire->delivery, "cut");
  wire->n_lost++;
  g_usleep ((gulong) g_rand_int_range (wire->random, 0, 3000));
  g_mutex_lock (&wire->lock);
  wire->is_cut = FALSE;
  wire->n_later = (guint) g_rand_int_range (wire->random, 0, 3);
  g_mutex_unlock (&wire->lock);
  gst_ccl_delivery_connected (wire->delivery);
}

static gpointer
run_wire (gpointer data)
{
  Wire *const wire = data;
  gboolean is_stopping = FALSE;

  gst_ccl_delivery_connected (wire->delivery);
  while (!is_stopping) {
    const gint dice = g_rand_int_range (wire->random, 0, 1000);

    if (dice < 4)
      cut (wire);
    else if (dice < 40)
      g_usleep (200);
    else if (dice < 60)
      gst_ccl_delivery_resume (wire->delivery);
    else if (!receive (wire, dice > 70))
      g_usleep (100);
    else if (dice <= 70)        /* without this acknowledgement only a cut goes on */
      cut (wire);
    g_mutex_lock (&wire->lock);
    is_stopping = wire->is_stopping;
    g_mutex_unlock (&wire->lock);
  }
  return NULL;
}

static void
stop_wire (gpointer transport)
{
  Wire *const wire = transport;

  g_mutex_lock (&wire->lock);
  wire->is_stopping = TRUE;
  g_mutex_unlock (&wire->lock);
  g_thread_join (wire->thread);
}

static void
on_state (gpointer owner)
{
}

static void
on_text (gpointer owner, const gchar * text)
{
}

static void
on_refused (gpointer owner, const gchar * topic, const gchar * reason)
{
  fail ("%s is refused: %s", topic, reason);
}

/* Each source has its own numbers, from 0. */
static void
push_all (Wire * wire, GRand * random)
{
  guint numbers[N_SOURCES] = { 0 };

  for (guint i = 0; i < N_MESSAGES; i++) {
    const guint source = (guint) g_rand_int_range (random, 0, N_SOURCES);
    gchar *const name = g_strdup_printf ("%u", source);
    GstCclDeliveryMessage *const message =
        gst_ccl_delivery_message_new (name, g_strdup ("t"), &numbers[source], sizeof (guint));
    guint64 seen = 0;

    while (gst_ccl_delivery_push (wire->delivery, message) == GST_CCL_PUSH_FULL)
      gst_ccl_delivery_wait (wire->delivery, &seen, -1);
    numbers[source]++;
  }
}

static void
run_seed (guint32 seed)
{
  static const GstCclDeliveryTransport functions = { start_wire, stop_wire, send_by_wire };
  static const GstCclDeliveryOwner calls = { on_state, on_text, on_refused, on_text, on_text };
  const GstCclDeliverySettings settings = {.max_in_flight = 1 + seed % 40 };
  const GstCclDeliveryLimits limits = { GST_CCL_OVERFLOW_BLOCK, 100, 1 << 20 };
  Wire wire = {.random = g_rand_new_with_seed (seed),.wire = g_array_new (FALSE, FALSE, sizeof (Line)) };
  GRand *const random = g_rand_new_with_seed (seed + 1);
  GstCclDeliveryStats stats;
  guint64 seen = 0;

  g_mutex_init (&wire.lock);
  wire.delivery = gst_ccl_delivery_new (&functions, &wire, &calls, &wire);
  gst_ccl_delivery_set_limits (wire.delivery, &limits);
  fail_unless (gst_ccl_delivery_start (wire.delivery, &settings, NULL));
  wire.thread = g_thread_new ("wire", run_wire, &wire);
  push_all (&wire, random);
  while (gst_ccl_delivery_n_undelivered (wire.delivery))
    gst_ccl_delivery_wait (wire.delivery, &seen, -1);
  fail_unless_equals_int (gst_ccl_delivery_stop (wire.delivery), 0);

  gst_ccl_delivery_get_stats (wire.delivery, &stats);
  fail_unless_equals_uint64 (stats.acknowledged, N_MESSAGES);
  fail_unless_equals_uint64 (gst_ccl_delivery_stats_dropped (&stats), 0);
  fail_unless_equals_int (wire.n_received - wire.n_repeated, N_MESSAGES);
  fail_unless (wire.n_lost > 10);
  printf ("seed %u: window %u, %u connections broken, %u lines repeated\n", seed, settings.max_in_flight, wire.n_lost,
      wire.n_repeated);
  gst_ccl_delivery_free (wire.delivery);
  g_mutex_clear (&wire.lock);
  g_array_unref (wire.wire);
  g_rand_free (wire.random);
  g_rand_free (random);
}

GST_START_TEST (test_random)
{
  const gchar *const fixed = g_getenv ("CCL_SEED");
  const guint32 seed = fixed ? (guint32) g_ascii_strtoull (fixed, NULL, 10) : g_random_int () % 1000000;

  for (guint i = 0; i < 3; i++) {
    printf ("CCL_SEED=%u\n", seed + i);
    run_seed (seed + i);
  }
}

GST_END_TEST;

static Suite *
delivery_random_suite (void)
{
  Suite *const suite = suite_create ("delivery-random");
  TCase *const tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
  tcase_set_timeout (tc, 120);
  tcase_add_test (tc, test_random);
  return suite;
}

GST_CHECK_MAIN (delivery_random);
