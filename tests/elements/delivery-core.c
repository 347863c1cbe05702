/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The delivery core without a broker: what it sends, in which order, and what it counts. */

#include "deliverylink.h"
#include "delivery/gstccldeliveryqueue.h"

#define ONE_COST (1 + 2 + GST_CCL_DELIVERY_MESSAGE_COST)

static void
set_limits (Link * link, GstCclOverflow overflow, guint max_messages, guint64 max_bytes)
{
  const GstCclDeliveryLimits limits = { overflow, max_messages, max_bytes };

  gst_ccl_delivery_set_limits (link->delivery, &limits);
}

/* Stops the core, which drops `left` messages. */
static void
stop_link_with (Link * link, guint left)
{
  fail_unless_equals_int (gst_ccl_delivery_stop (link->delivery), left);
  fail_unless_equals_uint64 (get_stats (link).dropped[GST_CCL_DROP_STOPPED], left);
  close_link (link);
}

static void
wait_for_acknowledged (Link * link, guint64 n)
{
  for (guint i = 0; i < 20000 && get_stats (link).acknowledged < n; i++)
    g_usleep (1000);
  fail_unless_equals_uint64 (get_stats (link).acknowledged, n);
}

static void
wait_for_calls (Link * link, guint n)
{
  guint n_calls = 0;

  for (guint i = 0; i < 20000 && n_calls < n; i++) {
    g_usleep (1000);
    g_mutex_lock (&link->lock);
    n_calls = link->n_calls;
    g_mutex_unlock (&link->lock);
  }
  fail_unless (n_calls >= n);
}

GST_START_TEST (test_overflow)
{
  Link link;

  open_link (&link, 20);
  set_limits (&link, GST_CCL_OVERFLOW_DROP_NEWEST, 2, 1 << 20);
  fail_unless_equals_int (push_letters (&link, "abc"), GST_CCL_PUSH_DROPPED);
  fail_unless_equals_uint64 (get_stats (&link).dropped[GST_CCL_DROP_FULL], 1);
  set_limits (&link, GST_CCL_OVERFLOW_DROP_OLDEST, 2, 1 << 20);
  fail_unless_equals_int (push_letters (&link, "d"), GST_CCL_PUSH_QUEUED);
  set_limits (&link, GST_CCL_OVERFLOW_BLOCK, 2, 1 << 20);
  fail_unless_equals_int (push_letters (&link, "e"), GST_CCL_PUSH_FULL);
  fail_unless_equals_uint64 (get_stats (&link).pushed, 4);
  fail_unless_equals_uint64 (gst_ccl_delivery_n_undelivered (link.delivery), 2);
  gst_ccl_delivery_connected (link.delivery);
  expect_sent (&link, "bd");
  acknowledge (&link, 0);
  acknowledge (&link, 1);
  wait_for_acknowledged (&link, 2);
  fail_unless_equals_uint64 (gst_ccl_delivery_stats_dropped (&(GstCclDeliveryStats) {
            .dropped = { 1, 2 }
          }
      ), 3);
  stop_link_with (&link, 0);
}

GST_END_TEST;

/* The limit of bytes counts what is in flight, of which there is at most half. */
GST_START_TEST (test_bytes)
{
  Link link;

  open_link (&link, 20);
  set_limits (&link, GST_CCL_OVERFLOW_DROP_OLDEST, 100, 4 * ONE_COST);
  push_letters (&link, "abcdef");
  fail_unless_equals_uint64 (get_stats (&link).queued_bytes, 4 * ONE_COST);
  fail_unless_equals_uint64 (get_stats (&link).dropped[GST_CCL_DROP_FULL], 2);
  gst_ccl_delivery_connected (link.delivery);
  expect_sent (&link, "cd");
  g_usleep (20000);
  fail_unless_equals_int (get_stats (&link).in_flight, 2);
  push_letters (&link, "g");
  fail_unless_equals_uint64 (get_stats (&link).queued_bytes, 4 * ONE_COST);
  acknowledge (&link, 0);
  expect_sent (&link, "cdf");

  set_limits (&link, GST_CCL_OVERFLOW_BLOCK, 100, ONE_COST - 1);
  fail_unless_equals_int (push_letters (&link, "h"), GST_CCL_PUSH_DROPPED);
  fail_unless_equals_uint64 (get_stats (&link).dropped[GST_CCL_DROP_TOO_LARGE], 1);
  stop_link_with (&link, 3);
}

GST_END_TEST;

/* After a broken connection everything is sent again before anything newer, except what was acknowledged, even late. */
GST_START_TEST (test_lost)
{
  Link link;

  open_link (&link, 3);
  push_letters (&link, "abcde");
  gst_ccl_delivery_connected (link.delivery);
  expect_sent (&link, "abc");
  acknowledge (&link, 1);
  expect_sent (&link, "abcd");
  gst_ccl_delivery_lost (link.delivery, "broken");
  gst_ccl_delivery_lost (link.delivery, "without effect");
  acknowledge (&link, 3);
  acknowledge (&link, 3);
  gst_ccl_delivery_acknowledged (link.delivery, 77);
  fail_unless_equals_uint64 (get_stats (&link).acknowledged, 2);
  fail_unless_equals_int (get_stats (&link).queued, 3);
  push_letters (&link, "f");
  gst_ccl_delivery_connected (link.delivery);
  expect_sent (&link, "abcdace");
  fail_unless_equals_uint64 (get_stats (&link).n_connects, 2);
  fail_unless_equals_uint64 (get_stats (&link).n_failures, 1);
  fail_unless_equals_int (link.n_disconnected, 1);
  stop_link_with (&link, 4);
}

GST_END_TEST;

GST_START_TEST (test_at_most_once)
{
  Link link;

  open_link (&link, 2);
  link.result = GST_CCL_SEND_ACCEPTED_ONCE;
  push_letters (&link, "abc");
  gst_ccl_delivery_connected (link.delivery);
  expect_sent (&link, "ab");
  gst_ccl_delivery_lost (link.delivery, "broken");
  fail_unless_equals_uint64 (get_stats (&link).dropped[GST_CCL_DROP_LOST], 2);
  gst_ccl_delivery_connected (link.delivery);
  expect_sent (&link, "abc");
  stop_link_with (&link, 1);
}

GST_END_TEST;

/* send() and the broker refuse: the message is dropped and counted, the owner hears of the first, and the next follows. */
GST_START_TEST (test_refused)
{
  Link link;

  open_link (&link, 1);
  link.result = GST_CCL_SEND_REFUSED;
  push_letters (&link, "ab");
  gst_ccl_delivery_connected (link.delivery);
  for (guint i = 0; i < 20000 && get_stats (&link).dropped[GST_CCL_DROP_REFUSED] < 2; i++)
    g_usleep (1000);
  fail_unless_equals_uint64 (get_stats (&link).dropped[GST_CCL_DROP_REFUSED], 2);
  fail_unless_equals_uint64 (get_stats (&link).sent, 0);
  g_mutex_lock (&link.lock);
  link.result = GST_CCL_SEND_ACCEPTED;
  g_mutex_unlock (&link.lock);
  push_letters (&link, "cd");
  expect_sent (&link, "c");
  gst_ccl_delivery_refused (link.delivery, g_array_index (link.ids, guint64, 0), "by the broker");
  expect_sent (&link, "cd");
  fail_unless_equals_uint64 (get_stats (&link).dropped[GST_CCL_DROP_REFUSED], 3);
  fail_unless_equals_int (link.n_refused, 1);
  stop_link_with (&link, 1);
}

GST_END_TEST;

/* "Later" sends nothing until the transport resumes. */
GST_START_TEST (test_later)
{
  Link link;

  open_link (&link, 5);
  link.result = GST_CCL_SEND_LATER;
  push_letters (&link, "ab");
  gst_ccl_delivery_connected (link.delivery);
  wait_for_calls (&link, 1);
  for (guint i = 0; i < 20000 && get_stats (&link).queued < 2; i++)     /* send() has returned */
    g_usleep (1000);
  fail_unless_equals_int (get_stats (&link).queued, 2);
  g_mutex_lock (&link.lock);
  link.result = GST_CCL_SEND_ACCEPTED;
  g_mutex_unlock (&link.lock);
  push_letters (&link, "c");
  g_usleep (20000);
  fail_unless_equals_uint64 (get_stats (&link).sent, 0);
  gst_ccl_delivery_resume (link.delivery);
  expect_sent (&link, "abc");
  stop_link_with (&link, 3);
}

GST_END_TEST;

/* A full broker took some of the messages under way: the others wait again in order, and are sent one by one. */
GST_START_TEST (test_full)
{
  Link link;

  open_link (&link, 5);
  push_letters (&link, "abcdefg");
  gst_ccl_delivery_connected (link.delivery);
  expect_sent (&link, "abcde");
  gst_ccl_delivery_postponed (link.delivery, g_array_index (link.ids, guint64, 4), "full");
  gst_ccl_delivery_postponed (link.delivery, g_array_index (link.ids, guint64, 1), "full");
  gst_ccl_delivery_postponed (link.delivery, 77, "not known");
  acknowledge (&link, 0);
  acknowledge (&link, 2);
  g_usleep (20000);
  fail_unless_equals_uint64 (get_stats (&link).sent, 5);
  fail_unless_equals_uint64 (gst_ccl_delivery_n_undelivered (link.delivery), 5);
  acknowledge (&link, 3);
  gst_ccl_delivery_resume (link.delivery);
  expect_sent (&link, "abcdeb");
  g_usleep (20000);
  fail_unless_equals_uint64 (get_stats (&link).sent, 6);
  gst_ccl_delivery_postponed (link.delivery, g_array_index (link.ids, guint64, 5), "full");
  gst_ccl_delivery_lost (link.delivery, "broken");
  gst_ccl_delivery_connected (link.delivery);
  for (guint i = 6; i < 10; i++) {
    expect_sent (&link, (const gchar *[]) { "abcdebb", "abcdebbe", "abcdebbef", "abcdebbefg" }[i - 6]);
    acknowledge (&link, i);
  }
  wait_for_acknowledged (&link, 7);
  fail_unless_equals_int (link.n_full, 1);
  stop_link_with (&link, 0);
}

GST_END_TEST;

/* What the broker postponed comes before what was in flight with it and is lost. */
GST_START_TEST (test_full_and_lost)
{
  Link link;

  open_link (&link, 4);
  push_letters (&link, "abcde");
  gst_ccl_delivery_connected (link.delivery);
  expect_sent (&link, "abcd");
  gst_ccl_delivery_postponed (link.delivery, g_array_index (link.ids, guint64, 1), "full");
  gst_ccl_delivery_lost (link.delivery, "broken");
  gst_ccl_delivery_connected (link.delivery);
  for (guint i = 4; i < 9; i++) {
    gchar *const expected = g_strndup ("abcdabcde", i + 1);

    expect_sent (&link, expected);
    acknowledge (&link, i);
    g_free (expected);
  }
  wait_for_acknowledged (&link, 5);
  stop_link_with (&link, 0);
}

GST_END_TEST;

/* The broker is full before send() returns. */
GST_START_TEST (test_full_inside)
{
  Link link;

  open_link (&link, 2);
  link.is_full = TRUE;
  push_letters (&link, "ab");
  gst_ccl_delivery_connected (link.delivery);
  expect_sent (&link, "a");
  for (guint i = 0; i < 20000 && get_stats (&link).queued < 2; i++)
    g_usleep (1000);
  fail_unless_equals_int (get_stats (&link).queued, 2);
  g_mutex_lock (&link.lock);
  link.is_full = FALSE;
  g_mutex_unlock (&link.lock);
  gst_ccl_delivery_resume (link.delivery);
  expect_sent (&link, "aa");
  acknowledge (&link, 1);
  expect_sent (&link, "aab");
  stop_link_with (&link, 1);
}

GST_END_TEST;

/* The answer may come before send() returns. */
GST_START_TEST (test_answer_inside)
{
  Link link;

  open_link (&link, 1);
  link.answers_inside = TRUE;
  push_letters (&link, "abcdef");
  gst_ccl_delivery_connected (link.delivery);
  expect_sent (&link, "abcdef");
  wait_for_acknowledged (&link, 6);
  fail_unless_equals_uint64 (get_stats (&link).bytes, 6);
  stop_link_with (&link, 0);
}

GST_END_TEST;

/* A refusal may, too. Its reason is reported. */
GST_START_TEST (test_refusal_inside)
{
  Link link;

  open_link (&link, 1);
  link.refuses_inside = TRUE;
  push_letters (&link, "a");
  gst_ccl_delivery_connected (link.delivery);
  for (guint i = 0; i < 20000 && get_stats (&link).dropped[GST_CCL_DROP_REFUSED] < 1; i++)
    g_usleep (1000);
  fail_unless_equals_int (gst_ccl_delivery_stop (link.delivery), 0);
  fail_unless_equals_string (link.reason, "by the broker");
  close_link (&link);
}

GST_END_TEST;

/* Serves the link until it is empty: breaks the connection when poison was sent, or anything. */
static void
serve_poisoned (Link * link, gboolean breaks_always, guint n_rounds)
{
  guint n_answered = 0;

  for (guint round = 0; round < n_rounds && gst_ccl_delivery_n_undelivered (link->delivery); round++) {
    gboolean is_poisoned;
    guint n_sent;

    gst_ccl_delivery_connected (link->delivery);
    do {
      g_usleep (5000);
      g_mutex_lock (&link->lock);
      n_sent = link->ids->len;
      is_poisoned = (breaks_always && n_sent > n_answered) || link->is_poisoned;
      link->is_poisoned = FALSE;
      g_mutex_unlock (&link->lock);
      for (; !is_poisoned && n_answered < n_sent; n_answered++)
        acknowledge (link, n_answered);
    } while (!is_poisoned && gst_ccl_delivery_n_undelivered (link->delivery));
    n_answered = n_sent;
    gst_ccl_delivery_lost (link->delivery, "broken");
  }
}

/* A message that breaks each connection is found, dropped and counted; the others are delivered. */
GST_START_TEST (test_poison)
{
  Link link;

  open_link (&link, 4);
  link.poison = 'x';
  push_letters (&link, "abxcdexfg");
  serve_poisoned (&link, FALSE, 60);
  fail_unless_equals_uint64 (get_stats (&link).acknowledged, 7);
  fail_unless_equals_uint64 (get_stats (&link).dropped[GST_CCL_DROP_REFUSED], 2);
  fail_unless_equals_int (link.n_refused, 1);
  stop_link_with (&link, 0);
}

GST_END_TEST;

/* A broker that breaks all connections costs one message at most. */
GST_START_TEST (test_broken_broker)
{
  Link link;

  open_link (&link, 4);
  push_letters (&link, "abcdefgh");
  serve_poisoned (&link, TRUE, 40);
  fail_unless_equals_uint64 (get_stats (&link).dropped[GST_CCL_DROP_REFUSED], 1);
  fail_unless_equals_int (get_stats (&link).queued, 7);
  stop_link_with (&link, 7);
}

GST_END_TEST;

/* Pushing does not wait for a transport that does. */
GST_START_TEST (test_push_does_not_wait)
{
  Link link;

  open_link (&link, 20);
  link.is_held = TRUE;
  gst_ccl_delivery_connected (link.delivery);
  push_letters (&link, "a");
  wait_for_calls (&link, 1);
  for (guint i = 0; i < 200; i++)
    fail_unless_equals_int (push_letters (&link, "b"), GST_CCL_PUSH_QUEUED);
  fail_unless_equals_uint64 (get_stats (&link).sent, 0);
  g_mutex_lock (&link.lock);
  link.is_held = FALSE;
  g_mutex_unlock (&link.lock);
  gst_ccl_delivery_stop (link.delivery);
  close_link (&link);
}

GST_END_TEST;

static gpointer
wait_for_change (gpointer data)
{
  Link *const link = data;
  guint64 seen = 0;

  while (gst_ccl_delivery_n_undelivered (link->delivery) > 1)
    gst_ccl_delivery_wait (link->delivery, &seen, -1);
  return NULL;
}

GST_START_TEST (test_wait)
{
  guint64 seen = 0;
  GThread *thread;
  Link link;

  open_link (&link, 20);
  push_letters (&link, "ab");
  fail_unless (gst_ccl_delivery_wait (link.delivery, &seen, 0));
  fail_if (gst_ccl_delivery_wait (link.delivery, &seen, g_get_monotonic_time () + 1000));
  gst_ccl_delivery_wake (link.delivery);
  fail_unless (gst_ccl_delivery_wait (link.delivery, &seen, 0));
  thread = g_thread_new ("wait", wait_for_change, &link);
  gst_ccl_delivery_connected (link.delivery);
  expect_sent (&link, "ab");
  acknowledge (&link, 0);
  g_thread_join (thread);
  stop_link_with (&link, 1);
}

GST_END_TEST;

static Suite *
delivery_core_suite (void)
{
  Suite *const suite = suite_create ("delivery-core");
  TCase *const tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
  tcase_set_timeout (tc, 120);
  tcase_add_test (tc, test_overflow);
  tcase_add_test (tc, test_bytes);
  tcase_add_test (tc, test_lost);
  tcase_add_test (tc, test_at_most_once);
  tcase_add_test (tc, test_refused);
  tcase_add_test (tc, test_later);
  tcase_add_test (tc, test_full);
  tcase_add_test (tc, test_full_and_lost);
  tcase_add_test (tc, test_full_inside);
  tcase_add_test (tc, test_answer_inside);
  tcase_add_test (tc, test_refusal_inside);
  tcase_add_test (tc, test_poison);
  tcase_add_test (tc, test_broken_broker);
  tcase_add_test (tc, test_push_does_not_wait);
  tcase_add_test (tc, test_wait);
  return suite;
}

GST_CHECK_MAIN (delivery_core);
