/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The spool of the delivery core: what survives the end of the process, a full disk, a damaged file, and an older schema. */

#include <glib/gstdio.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "deliverylink.h"
#include "support/folder.h"

#define PATIENCE (100 * G_TIME_SPAN_SECOND)

static gchar *folder, *location, *program;

static const GstCclDeliveryLimits block = { GST_CCL_OVERFLOW_BLOCK, 1000, 1 << 20 };

static void
open_folder (void)
{
  folder = g_dir_make_tmp ("delivery-spool-XXXXXX", NULL);
  location = g_build_filename (folder, "spool", NULL);
}

static void
close_folder (void)
{
  remove_folder (folder);
  g_clear_pointer (&folder, g_free);
  g_clear_pointer (&location, g_free);
}

static void
open_spool (Link * link, guint64 max_bytes, const GstCclDeliveryLimits * limits)
{
  const GstCclDeliverySettings settings = {.max_in_flight = 20,.spool_location = location,.spool_max_bytes = max_bytes
  };
  GError *error = NULL;

  fail_unless (try_link (link, &settings, limits, &error), "%s", error ? error->message : "");
}

static void
stop_spool (Link * link, guint left)
{
  fail_unless_equals_int (gst_ccl_delivery_stop (link->delivery), left);
  close_link (link);
}

static void
wait_for_accepted (Link * link, guint64 n)
{
  const gint64 end = g_get_monotonic_time () + PATIENCE;

  while (get_stats (link).accepted < n && g_get_monotonic_time () < end)
    g_usleep (2000);
  fail_unless_equals_uint64 (get_stats (link).accepted, n);
}

/* Lines are accepted just before older ones are dropped for them. */
static void
wait_for_space (Link * link, guint64 max_bytes)
{
  const gint64 end = g_get_monotonic_time () + PATIENCE;

  while (get_stats (link).spool_bytes > max_bytes && g_get_monotonic_time () < end)
    g_usleep (2000);
  fail_unless (get_stats (link).spool_bytes <= max_bytes);
}

/* Connects, and acknowledges all until nothing is left. Returns the number. */
static guint
deliver_all (Link * link)
{
  const gint64 end = g_get_monotonic_time () + PATIENCE;
  guint n = 0, n_sent = 0;

  gst_ccl_delivery_connected (link->delivery);
  while (gst_ccl_delivery_n_undelivered (link->delivery) && g_get_monotonic_time () < end) {
    g_mutex_lock (&link->lock);
    n_sent = link->ids->len;
    g_mutex_unlock (&link->lock);
    for (; n < n_sent; n++)
      acknowledge (link, n);
    g_usleep (500);
  }
  fail_unless_equals_uint64 (gst_ccl_delivery_n_undelivered (link->delivery), 0);
  return n;
}

/* ---------------------------------------------------------------- starts */

GST_START_TEST (test_lines_survive_a_stop)
{
  gchar instance[17];
  Link link;

  open_folder ();
  open_spool (&link, 1 << 20, NULL);
  g_strlcpy (instance, gst_ccl_delivery_get_instance (link.delivery), sizeof instance);
  push_letters (&link, "abcd");
  wait_for_accepted (&link, 4);
  gst_ccl_delivery_connected (link.delivery);
  expect_sent (&link, "abcd");
  acknowledge (&link, 0);
  acknowledge (&link, 2);
  push_letters (&link, "e");    /* the stop commits it */
  stop_spool (&link, 0);

  open_spool (&link, 1 << 20, NULL);
  fail_unless_equals_uint64 (get_stats (&link).recovered, 3);
  fail_unless_equals_string (gst_ccl_delivery_get_instance (link.delivery), instance);
  push_letters (&link, "f");
  gst_ccl_delivery_connected (link.delivery);
  expect_sent (&link, "bdef");
  fail_unless_equals_uint64 (g_array_index (link.ids, guint64, 0), 2);
  fail_unless_equals_uint64 (g_array_index (link.ids, guint64, 3), 6);
  fail_unless_equals_int (deliver_all (&link), 4);
  stop_spool (&link, 0);

  open_spool (&link, 1 << 20, NULL);
  fail_unless_equals_uint64 (get_stats (&link).recovered, 0);
  stop_spool (&link, 0);
  close_folder ();
}

GST_END_TEST;

/* The time of an earlier start counts. */
GST_START_TEST (test_time_of_arrival)
{
  Link link;

  open_folder ();
  open_spool (&link, 1 << 20, NULL);
  push_letters (&link, "a");
  wait_for_accepted (&link, 1);
  stop_spool (&link, 0);
  g_usleep (300000);
  open_spool (&link, 1 << 20, NULL);
  deliver_all (&link);
  fail_unless (get_stats (&link).latency.min > 300000 && get_stats (&link).latency.max < 30000000);
  stop_spool (&link, 0);
  close_folder ();
}

GST_END_TEST;

/* Two sinks cannot share a file. */
GST_START_TEST (test_second_sink)
{
  const GstCclDeliverySettings settings = {.max_in_flight = 1,.spool_location = NULL };
  GstCclDeliverySettings same;
  GError *error = NULL;
  Link link, second;

  open_folder ();
  open_spool (&link, 1 << 20, NULL);
  same = settings;
  same.spool_location = location;
  fail_if (try_link (&second, &same, NULL, &error));
  fail_unless (strstr (error->message, location) && strstr (error->message, "locked"), "%s", error->message);
  g_error_free (error);
  stop_spool (&link, 0);
  close_folder ();
}

GST_END_TEST;

/* More lines than the memory takes: the others wait in the file, and come in order. */
GST_START_TEST (test_memory)
{
  enum
  { N = 3000, SIZE = 1000 };
  const GstCclDeliveryLimits limits = { GST_CCL_OVERFLOW_BLOCK, 1000, 400000 };
  gchar *const text = g_strnfill (SIZE, 'x');
  guint64 max_bytes = 0, seen = 0;
  Link link;

  open_folder ();
  open_spool (&link, 1 << 30, &limits);
  for (guint i = 0; i < N; i++) {
    GstCclDeliveryMessage *const message = gst_ccl_delivery_message_new (g_strdup ("s"), g_strdup ("t"), text, SIZE);

    while (gst_ccl_delivery_push (link.delivery, message) == GST_CCL_PUSH_FULL)
      gst_ccl_delivery_wait (link.delivery, &seen, -1);
    max_bytes = MAX (max_bytes, get_stats (&link).queued_bytes);
  }
  wait_for_accepted (&link, N);
  fail_unless (max_bytes <= limits.max_bytes && max_bytes > 100000);
  fail_unless (get_stats (&link).queued_bytes <= limits.max_bytes / 2);
  fail_unless_equals_uint64 (get_stats (&link).spool_messages, N);
  fail_unless_equals_int (deliver_all (&link), N);
  for (guint i = 0; i < N; i++)
    fail_unless_equals_uint64 (g_array_index (link.ids, guint64, i), i + 1);
  stop_spool (&link, 0);
  g_free (text);
  close_folder ();
}

GST_END_TEST;

/* The oldest are dropped, those in memory and those in the file, and counted. */
GST_START_TEST (test_size)
{
  const GstCclDeliveryLimits limits = { GST_CCL_OVERFLOW_DROP_OLDEST, 40, 1 << 20 };
  Link link;

  open_folder ();
  open_spool (&link, 26000, &limits);   /* about 100 lines */
  for (guint i = 0; i < 10; i++) {
    push_letters (&link, "abcdefghijklmnopqrstuvwxyzabcd");
    wait_for_accepted (&link, 30 * (i + 1));
  }
  wait_for_space (&link, 26000);
  fail_unless_equals_uint64 (get_stats (&link).spool_messages + get_stats (&link).dropped[GST_CCL_DROP_SPOOL_FULL],
      300);
  fail_unless (get_stats (&link).spool_messages > 90);
  deliver_all (&link);
  for (guint i = 1; i < link.ids->len; i++)
    fail_unless_equals_uint64 (g_array_index (link.ids, guint64, i), g_array_index (link.ids, guint64, i - 1) + 1);
  fail_unless_equals_uint64 (g_array_index (link.ids, guint64, link.ids->len - 1), 300);
  stop_spool (&link, 0);
  close_folder ();
}

GST_END_TEST;

/* ---------------------------------------------------------------- kill -9 */

/* The program as a child: pushes until it is killed, and says after each line how many were accepted. */
static int
push_until_killed (const gchar * path)
{
  const GstCclDeliverySettings settings = {.max_in_flight = 1,.spool_location = path,.spool_max_bytes = 1 << 30 };
  GError *error = NULL;
  Link link;

  if (!try_link (&link, &settings, &block, &error))
    return 1;
  for (;;) {
    push_letters (&link, "a");
    printf ("%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT "\n", get_stats (&link).accepted, get_stats (&link).pushed);
    fflush (stdout);
    g_usleep (500);
  }
}

/* The last line of the child's output: how many lines were accepted, and how many pushed. */
static void
run_and_kill (gulong time, guint64 * accepted, guint64 * pushed)
{
  gchar *const arguments[] = { program, (gchar *) "--push", location, NULL };
  /* The thread sanitizer does not know GLib's locks there. */
  gchar **const environment = g_environ_setenv (g_get_environ (), "TSAN_OPTIONS", "report_bugs=0", TRUE);
  gchar line[64], last[64] = "";
  gint output;
  GPid pid;
  FILE *stream;

  fail_unless (g_spawn_async_with_pipes (NULL, (gchar **) arguments, environment, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL,
          &pid, NULL, &output, NULL, NULL));
  g_strfreev (environment);
  stream = fdopen (output, "r");
  do
    fail_unless (fgets (last, sizeof last, stream) != NULL);
  while (g_ascii_strtoull (last, NULL, 10) < 2);
  g_usleep (time);
  kill (pid, SIGKILL);
  waitpid (pid, NULL, 0);
  while (fgets (line, sizeof line, stream))
    if (strchr (line, '\n'))
      g_strlcpy (last, line, sizeof last);
  fclose (stream);
  *accepted = g_ascii_strtoull (last, NULL, 10);
  *pushed = g_ascii_strtoull (strchr (last, ' '), NULL, 10);
}

/* All that was accepted is there after kill -9; of the others only the newest are missing. */
GST_START_TEST (test_kill)
{
  guint64 total = 0;
  Link link;

  open_folder ();
  for (guint round = 0; round < 5; round++) {
    guint64 accepted, pushed, n;

    run_and_kill (100000 + 37000 * round, &accepted, &pushed);
    open_spool (&link, 1 << 30, &block);
    n = get_stats (&link).recovered - total;
    printf ("%u: pushed %u, accepted %u, there %u\n", round, (guint) pushed, (guint) accepted, (guint) n);
    fail_unless (n >= accepted && n <= pushed + 1);
    total += n;
    stop_spool (&link, 0);
  }
  fail_unless (total > 5);
  open_spool (&link, 1 << 30, &block);
  fail_unless_equals_int (deliver_all (&link), total);
  for (guint i = 0; i < total; i++)
    fail_unless_equals_uint64 (g_array_index (link.ids, guint64, i), i + 1);
  stop_spool (&link, 0);
  close_folder ();
}

GST_END_TEST;

/* ---------------------------------------------------------------- a disk that fails */

static gint disk_is_full;
static sqlite3_vfs failing_disk, *real_disk;

/* SQLite has one set of functions for the database, and another for its log. */
static struct
{
  const sqlite3_io_methods *real;
  sqlite3_io_methods failing;
} methods[4];

static const sqlite3_io_methods *
real_methods_of (sqlite3_file * file)
{
  guint i = 0;

  while (file->pMethods != &methods[i].failing)
    i++;
  return methods[i].real;
}

static int
write_failing (sqlite3_file * file, const void *data, int size, sqlite3_int64 offset)
{
  return g_atomic_int_get (&disk_is_full) ? SQLITE_FULL : real_methods_of (file)->xWrite (file, data, size, offset);
}

static int
sync_failing (sqlite3_file * file, int flags)
{
  return g_atomic_int_get (&disk_is_full) ? SQLITE_IOERR_FSYNC : real_methods_of (file)->xSync (file, flags);
}

static int
open_failing (sqlite3_vfs * vfs, const char *name, sqlite3_file * file, int flags, int *out_flags)
{
  const int result = real_disk->xOpen (real_disk, name, file, flags, out_flags);
  guint i = 0;

  if (result != SQLITE_OK || !file->pMethods)
    return result;
  while (methods[i].real && methods[i].real != file->pMethods)
    i++;
  fail_unless (i < G_N_ELEMENTS (methods));
  methods[i].real = file->pMethods;
  methods[i].failing = *file->pMethods;
  methods[i].failing.xWrite = write_failing;
  methods[i].failing.xSync = sync_failing;
  file->pMethods = &methods[i].failing;
  return result;
}

/* A file system of SQLite, in front of the machine's own, that is full on demand. */
static void
register_failing_disk (void)
{
  if (real_disk)                /* without CK_FORK, by an earlier test */
    return;
  sqlite3_initialize ();
  real_disk = sqlite3_vfs_find (NULL);
  failing_disk = *real_disk;
  failing_disk.zName = "failing";
  failing_disk.xOpen = open_failing;
  sqlite3_vfs_register (&failing_disk, TRUE);
}

/* The thread of the spool has found the disk full. It tries again after a second. */
static void
wait_for_warning (Link * link)
{
  const gint64 end = g_get_monotonic_time () + PATIENCE;
  guint n = 0;

  while (n == 0 && g_get_monotonic_time () < end) {
    g_usleep (2000);
    g_mutex_lock (&link->lock);
    n = link->n_warnings;
    g_mutex_unlock (&link->lock);
  }
  fail_unless_equals_int (n, 1);
}

/* Nothing is accepted while the disk is full, nor lost: it comes when there is space again. */
GST_START_TEST (test_full_disk)
{
  Link link;

  register_failing_disk ();
  open_folder ();
  open_spool (&link, 1 << 20, NULL);
  push_letters (&link, "ab");
  wait_for_accepted (&link, 2);
  g_atomic_int_set (&disk_is_full, TRUE);
  push_letters (&link, "cd");
  wait_for_warning (&link);
  g_usleep (1300000);
  fail_unless_equals_uint64 (get_stats (&link).accepted, 2);
  fail_unless_equals_int (link.n_warnings, 1);
  g_atomic_int_set (&disk_is_full, FALSE);
  push_letters (&link, "e");
  wait_for_accepted (&link, 5);
  gst_ccl_delivery_connected (link.delivery);
  expect_sent (&link, "abcde");
  fail_unless_equals_uint64 (get_stats (&link).dropped[GST_CCL_DROP_SPOOL_FULL], 0);

  g_atomic_int_set (&disk_is_full, TRUE);
  push_letters (&link, "fg");
  stop_spool (&link, 2);
  g_atomic_int_set (&disk_is_full, FALSE);
  open_spool (&link, 1 << 20, NULL);
  fail_unless_equals_uint64 (get_stats (&link).recovered, 5);
  stop_spool (&link, 0);
  close_folder ();
}

GST_END_TEST;

/* It stays full: the oldest make space in memory, the newest stay, each counted. */
GST_START_TEST (test_disk_stays_full)
{
  const GstCclDeliveryLimits limits = { GST_CCL_OVERFLOW_DROP_OLDEST, 8, 1 << 20 };
  GstCclDeliveryStats stats;
  Link link;

  register_failing_disk ();
  open_folder ();
  open_spool (&link, 1 << 20, &limits);
  push_letters (&link, "abcd");
  wait_for_accepted (&link, 4);
  g_atomic_int_set (&disk_is_full, TRUE);
  push_letters (&link, "e");
  wait_for_warning (&link);
  push_letters (&link, "fghijklmnopqr");
  g_usleep (1300000);
  g_atomic_int_set (&disk_is_full, FALSE);
  wait_for_accepted (&link, 12);
  stats = get_stats (&link);
  fail_unless_equals_uint64 (stats.pushed, 18);
  fail_unless_equals_uint64 (stats.dropped[GST_CCL_DROP_FULL], 6);
  deliver_all (&link);
  fail_unless (g_str_has_suffix (link.letters->str, "klmnopqr"), "%s", link.letters->str);
  stats = get_stats (&link);
  fail_unless_equals_uint64 (stats.acknowledged + gst_ccl_delivery_stats_dropped (&stats), 18);
  stop_spool (&link, 0);
  close_folder ();
}

GST_END_TEST;

/* ---------------------------------------------------------------- files of others */

/* Damaged at its head, or in the middle: moved aside, counted and reported; the sink works with a new file. */
GST_START_TEST (test_damaged_file)
{
  gchar *contents, *aside;
  gsize size;
  Link link;

  open_folder ();
  open_spool (&link, 1 << 20, NULL);
  for (guint i = 0; i < 50; i++)
    push_letters (&link, "abcdefghij");
  wait_for_accepted (&link, 500);
  stop_spool (&link, 0);
  fail_unless (g_file_get_contents (location, &contents, &size, NULL));
  if (__i__ == 0)
    memset (contents, 'x', 100);
  else
    memset (contents + 4096, 0xff, size - 4096);
  fail_unless (g_file_set_contents (location, contents, (gssize) size, NULL));
  g_free (contents);

  open_spool (&link, 1 << 20, NULL);
  fail_unless (get_stats (&link).dropped[GST_CCL_DROP_SPOOL_ERROR] >= 1);
  fail_unless_equals_int (link.n_warnings, 1);
  fail_unless_equals_uint64 (get_stats (&link).recovered, 0);
  push_letters (&link, "z");
  wait_for_accepted (&link, 1);
  stop_spool (&link, 0);
  aside = g_strdup_printf ("ls '%s' | grep -q 'spool.damaged-'", folder);
  fail_unless (system (aside) == 0);
  g_free (aside);
  close_folder ();
}

GST_END_TEST;

static void
execute_sql (const gchar * statements)
{
  sqlite3 *database;

  fail_unless (sqlite3_open (location, &database) == SQLITE_OK);
  fail_unless (sqlite3_exec (database, statements, NULL, NULL, NULL) == SQLITE_OK, "%s", sqlite3_errmsg (database));
  sqlite3_close (database);
}

GST_START_TEST (test_older_schema)
{
  Link link;

  open_folder ();
  execute_sql ("CREATE TABLE lines (id INTEGER PRIMARY KEY AUTOINCREMENT, source TEXT NOT NULL, topic TEXT NOT NULL,"
      " payload BLOB NOT NULL);" "CREATE TABLE info (instance TEXT NOT NULL);"
      "INSERT INTO info VALUES ('0123456789abcdef'); PRAGMA user_version = 1;"
      "INSERT INTO lines (source, topic, payload) VALUES ('s', 't', 'a'), ('s', 't', 'b')");
  open_spool (&link, 1 << 20, NULL);
  fail_unless_equals_uint64 (get_stats (&link).recovered, 2);
  fail_unless_equals_string (gst_ccl_delivery_get_instance (link.delivery), "0123456789abcdef");
  push_letters (&link, "c");
  gst_ccl_delivery_connected (link.delivery);
  expect_sent (&link, "abc");
  stop_spool (&link, 0);
  close_folder ();
}

GST_END_TEST;

/* A newer one is left as it is. */
GST_START_TEST (test_newer_schema)
{
  GstCclDeliverySettings settings = {.max_in_flight = 1 };
  GError *error = NULL;
  Link link;

  open_folder ();
  execute_sql ("CREATE TABLE lines (id INTEGER); PRAGMA user_version = 99");
  settings.spool_location = location;
  fail_if (try_link (&link, &settings, NULL, &error));
  fail_unless (strstr (error->message, "newer version") != NULL, "%s", error->message);
  g_error_free (error);
  fail_unless (g_file_test (location, G_FILE_TEST_EXISTS));
  close_folder ();
}

GST_END_TEST;

static Suite *
delivery_spool_suite (void)
{
  Suite *const suite = suite_create ("delivery-spool");
  TCase *const tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
  tcase_set_timeout (tc, 120);
  tcase_add_test (tc, test_lines_survive_a_stop);
  tcase_add_test (tc, test_time_of_arrival);
  tcase_add_test (tc, test_second_sink);
  tcase_add_test (tc, test_memory);
  tcase_add_test (tc, test_size);
  tcase_add_test (tc, test_kill);
  tcase_add_test (tc, test_full_disk);
  tcase_add_test (tc, test_disk_stays_full);
  tcase_add_loop_test (tc, test_damaged_file, 0, 2);
  tcase_add_test (tc, test_older_schema);
  tcase_add_test (tc, test_newer_schema);
  return suite;
}

int
main (int argc, char **argv)
{
  if (argc == 3 && !strcmp (argv[1], "--push"))
    return push_until_killed (argv[2]);
  program = argv[0];
  gst_check_init (&argc, &argv);
  return gst_check_run_suite (delivery_spool_suite (), "delivery-spool", __FILE__);
}
