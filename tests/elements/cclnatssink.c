/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclnatssink against real nats-servers on the loopback interface. Without nats-server the tests that need it are skipped. */

#include <string.h>

#include "natsserver.h"
#include "publisher.h"

#define TOPIC "topic=cams.{source-id}.blobs "

static LinePublisher *
open_sink (NatsServers * servers, const gchar * settings, guint n_sources)
{
  return open_publisher ("cclnatssink", nats_addresses (servers), settings, n_sources);
}

/* All lines are in the stream, in order, each once. */
static void
expect_all_once (NatsServers * servers, LinePublisher * publisher, guint missing)
{
  GPtrArray *const lines = read_nats_stream (servers, "blobs", NULL);

  fail_unless_equals_int (check_lines (publisher, lines, missing), 0);
  g_ptr_array_unref (lines);
}

GST_START_TEST (test_lines)
{
  NatsServers *servers;
  LinePublisher *publisher;
  GPtrArray *lines, *subjects;

  NEED_NATS ();
  servers = start_nats (1, NULL);
  add_nats_stream (servers, "blobs", "cams.>", 0);
  publisher = open_sink (servers, TOPIC, 3);
  push_lines (publisher, 100, 0);
  wait_for_all_lines (publisher);
  lines = read_nats_stream (servers, "blobs", &subjects);
  fail_unless_equals_int (lines->len, 300);
  fail_unless_equals_int (check_lines (publisher, lines, 0), 0);
  for (guint i = 0; i < subjects->len; i++)     /* a source is one word of the subject */
    fail_unless (g_regex_match_simple ("^cams\\.cam_[0-2]\\.blobs$", g_ptr_array_index (subjects, i), 0, 0));
  fail_unless_equals_uint64 (publisher_stat (publisher, "connects"), 1);
  g_ptr_array_unref (lines);
  g_ptr_array_unref (subjects);
  close_publisher (publisher);
  stop_nats (servers);
}

GST_END_TEST;

GST_START_TEST (test_cbor)
{
  NatsServers *servers;
  LinePublisher *publisher;
  GPtrArray *lines, *subjects;

  NEED_NATS ();
  servers = start_nats (1, NULL);
  add_nats_stream (servers, "blobs", "cams.>", 0);
  publisher = open_sink (servers, TOPIC, 1);
  push_items (publisher);
  wait_for_all_lines (publisher);
  lines = read_nats_stream (servers, "blobs", &subjects);
  check_items (lines);
  for (guint i = 0; i < subjects->len; i++)
    fail_unless_equals_string (g_ptr_array_index (subjects, i), "cams.cam_0.blobs");
  g_ptr_array_unref (lines);
  g_ptr_array_unref (subjects);
  close_publisher (publisher);
  stop_nats (servers);
}

GST_END_TEST;

/* The pipeline starts before the server. Meanwhile the settings change. */
GST_START_TEST (test_late_server)
{
  NatsServers *servers;
  LinePublisher *publisher;
  gchar *text;

  NEED_NATS ();
  servers = start_nats (1, NULL);
  add_nats_stream (servers, "blobs", "cams.>", 0);
  kill_nats (servers, 0);
  publisher = open_sink (servers, TOPIC, 2);
  push_lines (publisher, 50, 0);
  wait_for_message (publisher, GST_MESSAGE_WARNING, "No connection to the NATS", NULL);
  fail_unless_equals_uint64 (publisher_stat (publisher, "connected"), 0);
  /* For the next start. The password is forgotten at once. */
  g_object_set (publisher->harness->element, "servers", "me:secret@elsewhere", "username", "else", NULL);
  g_object_get (publisher->harness->element, "servers", &text, NULL);
  fail_unless_equals_string (text, "***@elsewhere");
  g_free (text);
  revive_nats (servers, 0);
  wait_for_all_lines (publisher);
  expect_all_once (servers, publisher, 0);
  close_publisher (publisher);
  stop_nats (servers);
}

GST_END_TEST;

/* Killed twice while lines arrive. */
GST_START_TEST (test_killed_server)
{
  NatsServers *servers;
  LinePublisher *publisher;

  NEED_NATS ();
  servers = start_nats (1, NULL);
  add_nats_stream (servers, "blobs", "cams.>", 0);
  publisher = open_sink (servers, TOPIC, 4);
  for (guint i = 0; i < 2; i++) {
    push_lines (publisher, 50, 2000);
    kill_nats (servers, 0);
    push_lines (publisher, 50, 2000);
    revive_nats (servers, 0);
  }
  push_lines (publisher, 50, 2000);
  wait_for_all_lines (publisher);
  expect_all_once (servers, publisher, 0);
  fail_unless (publisher_stat (publisher, "connects") >= 2);
  fail_unless (publisher->longest_push < MAX_PUSH_TIME, "a push took %" G_GINT64_FORMAT " us", publisher->longest_push);
  close_publisher (publisher);
  stop_nats (servers);
}

GST_END_TEST;

/* One line is larger than the stream takes, another larger than the server takes. */
GST_START_TEST (test_large_line)
{
  static const gsize sizes[] = { 3000, 60000 };

  NEED_NATS ();
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    NatsServers *const servers = start_nats (1, "max_payload: 50000");
    LinePublisher *publisher;

    add_nats_stream (servers, "blobs", "cams.>", 2000);
    publisher = open_sink (servers, TOPIC, 2);
    push_lines (publisher, 10, 0);
    push_large_line (publisher, sizes[i]);
    push_lines (publisher, 10, 0);
    wait_for_publisher (publisher, "published", 40);
    fail_unless_equals_uint64 (publisher_stat (publisher, "dropped-refused"), 1);
    wait_for_message (publisher, GST_MESSAGE_WARNING, "was refused and dropped", NULL);
    expect_all_once (servers, publisher, 11);
    close_publisher (publisher);
    stop_nats (servers);
  }
}

GST_END_TEST;

/* Lines wait until a stream takes their subject. */
GST_START_TEST (test_late_stream)
{
  NatsServers *servers;
  LinePublisher *publisher;

  NEED_NATS ();
  servers = start_nats (1, NULL);
  publisher = open_sink (servers, TOPIC, 3);
  push_lines (publisher, 20, 0);
  wait_for_message (publisher, GST_MESSAGE_WARNING, "no stream takes this subject", NULL);
  add_nats_stream (servers, "blobs", "cams.>", 0);
  wait_for_all_lines (publisher);
  expect_all_once (servers, publisher, 0);
  close_publisher (publisher);
  stop_nats (servers);
}

GST_END_TEST;

/* A stream that discards new lines is full: they wait until it has space. */
GST_START_TEST (test_full_stream)
{
  NatsServers *servers;
  LinePublisher *publisher;

  NEED_NATS ();
  servers = start_nats (1, NULL);
  add_small_nats_stream (servers, "blobs", "cams.>", 30);
  publisher = open_sink (servers, TOPIC, 3);
  push_lines (publisher, 20, 0);
  wait_for_message (publisher, GST_MESSAGE_WARNING, "The broker is full: maximum messages exceeded", NULL);
  wait_for_publisher (publisher, "published", 30);
  g_usleep (1000000);
  fail_unless_equals_uint64 (publisher_stat (publisher, "published"), 30);
  fail_unless (gst_bus_pop_filtered (publisher->bus, GST_MESSAGE_WARNING) == NULL, "one warning is enough");
  enlarge_nats_stream (servers, "blobs", "cams.>");
  wait_for_all_lines (publisher);
  expect_all_once (servers, publisher, 0);
  fail_unless_equals_uint64 (publisher_stat (publisher, "connects"), 1);
  close_publisher (publisher);
  stop_nats (servers);
}

GST_END_TEST;

#define USERS "authorization { users: [ { user: door, password: secret, permissions: { publish: { deny: \"%s\" } } }," \
    " { user: other, password: \"\" } ] }\nno_auth_user: other"

GST_START_TEST (test_login)
{
  gchar *const settings = g_strdup_printf (USERS, "nothing");
  NatsServers *servers;
  LinePublisher *publisher;

  NEED_NATS ();
  g_setenv ("CCL_TEST_PASSWORD", "secret", TRUE);
  g_setenv ("CCL_TEST_WRONG", "secretive", TRUE);
  servers = start_nats (1, settings);
  add_nats_stream (servers, "blobs", "cams.>", 0);
  publisher = open_sink (servers, TOPIC "username=door password-env=CCL_TEST_PASSWORD", 1);
  push_lines (publisher, 5, 0);
  wait_for_all_lines (publisher);
  expect_all_once (servers, publisher, 0);
  close_publisher (publisher);

  publisher = open_sink (servers, TOPIC "username=door password-env=CCL_TEST_WRONG", 1);
  wait_for_message (publisher, GST_MESSAGE_WARNING, "uthoriz", "secret");
  close_publisher (publisher);
  stop_nats (servers);
  g_free (settings);
}

GST_END_TEST;

/* The server refuses a user's subject. Once it allows it, all lines arrive. */
GST_START_TEST (test_permission)
{
  gchar *const settings = g_strdup_printf (USERS, "cams.>");
  NatsServers *servers;
  LinePublisher *publisher;

  NEED_NATS ();
  g_setenv ("CCL_TEST_PASSWORD", "secret", TRUE);
  servers = start_nats (1, settings);
  add_nats_stream (servers, "blobs", "cams.>", 0);
  publisher = open_sink (servers, TOPIC "username=door password-env=CCL_TEST_PASSWORD", 2);
  push_lines (publisher, 20, 0);
  wait_for_message (publisher, GST_MESSAGE_WARNING, "ermission", "secret");
  kill_nats (servers, 0);
  g_free (servers->settings);
  servers->settings = g_strdup_printf (USERS, "nothing");
  revive_nats (servers, 0);
  wait_for_all_lines (publisher);
  expect_all_once (servers, publisher, 0);
  close_publisher (publisher);
  stop_nats (servers);
  g_free (settings);
}

GST_END_TEST;

GST_START_TEST (test_wrong_settings)
{
  static const gchar *const wrong[][2] = {
    {"topic=\"\"", "is no topic"},
    {"topic=\"a b\"", "is no topic"},
    {"topic=a..b", "is no topic"},
    {"topic=.a", "is no topic"},
    {"topic=a.", "is no topic"},
    {"topic=a.*", "is no topic"},
    {"topic=a.>", "is no topic"},
    {"topic=\"a\tb\"", "is no topic"},
    {"topic=$JS.API", "is no topic"},
    {"servers=\"\"", "servers is empty"},
    {"servers=user:secret@host", "holds a user name or password"},
    {"servers=nats://host", "no scheme"},
    {"servers=host:0", "Server 1"},
    {"servers=host:70000", "Server 1"},
    {"servers=host,,host", "Server 2"},
    {"servers=\"host secret\"", "Server 1"},
    {"ca-file=/nowhere", "ca-file cannot be read"},
    {"credentials-file=/nowhere", "credentials-file cannot be read"},
    {"cert-file=/etc/hostname", "One of cert-file and key-file is missing"},
    {"username=a password-env=CCL_TEST_NOT_SET", "is not set"},
  };

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    expect_wrong_settings ("cclnatssink", wrong[i][0], wrong[i][1]);
}

GST_END_TEST;

static Suite *
cclnatssink_suite (void)
{
  Suite *const suite = suite_create ("cclnatssink");
  TCase *const tests = tcase_create ("general");

  suite_add_tcase (suite, tests);
  tcase_set_timeout (tests, 120);
  tcase_add_test (tests, test_lines);
  tcase_add_test (tests, test_cbor);
  tcase_add_test (tests, test_late_server);
  tcase_add_test (tests, test_killed_server);
  tcase_add_test (tests, test_large_line);
  tcase_add_test (tests, test_late_stream);
  tcase_add_test (tests, test_full_stream);
  tcase_add_test (tests, test_login);
  tcase_add_test (tests, test_permission);
  tcase_add_test (tests, test_wrong_settings);
  return suite;
}

GST_CHECK_MAIN (cclnatssink);
