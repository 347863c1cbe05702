/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The spool of the delivery core and power cuts at random times, also while it recovers from the last one: every line that was
 * accepted is there, in order, and no id comes again. CCL_TEST_SEED sets what is drawn. */

#include <glib/gstdio.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "delivery/gstcclspool.h"
#include "deliverylink.h"
#include "powercut.h"
#include "support/folder.h"
#include "support/skip.h"

#define N_ROUNDS 4
#define N_STEPS 20
#define MAX_CUTS 40             /* a round */

/* What a cut may leave. A line's number is its id, too. */
typedef struct
{
  gchar *folder;
  guint64 first, last;          /* these lines at least; last < first: none */
  guint64 pushed;               /* no line after this one */
} Cut;

static GRand *randoms;          /* of what the test does */
static GRand *cut_randoms;      /* of the cuts, in the thread of the spool */
static gchar *folder, *instance;
static GArray *cuts;
static Link *running;           /* NULL: while it starts */
static guint round_number;
static guint64 recovered_last;  /* the largest id when the round began */
static guint64 n_pushed, n_acknowledged;        /* the last number; atomic */

/* ---------------------------------------------------------------- cuts */

static void
cut_sometimes (void)
{
  const guint64 acknowledged = __atomic_load_n (&n_acknowledged, __ATOMIC_SEQ_CST);
  Link *const link = g_atomic_pointer_get (&running);
  Cut cut;

  if (power_n_writes () == 0 || cuts->len == MAX_CUTS || g_rand_int_range (cut_randoms, 0, 8))
    return;
  cut.folder = g_strdup_printf ("%s/cut-%u-%u", folder, round_number, cuts->len);
  cut.first = acknowledged + 1;
  cut.last = recovered_last + (link ? get_stats (link).accepted : 0);
  cut.pushed = __atomic_load_n (&n_pushed, __ATOMIC_SEQ_CST);
  power_cut (cut.folder, cut_randoms);
  g_array_append_val (cuts, cut);
}

static gchar
letter_of (guint64 number)
{
  return 'a' + (gchar) (number % 26);
}

/* The number of the line, which is as it was pushed. */
static guint64
check_line (const GstCclDeliveryMessage * message)
{
  gsize size;
  const gchar *const text = g_bytes_get_data (message->payload, &size);
  gchar *rest;
  const guint64 number = g_ascii_strtoull (text, &rest, 10);

  fail_unless_equals_uint64 (number, message->id);
  while (rest < text + size && *rest == letter_of (number))
    rest++;
  fail_unless (rest == text + size);
  return number;
}

/* Opens the spool that a cut has left, and closes it. Sets the first line that is there, and the largest id of all times. */
static void
check_cut (const Cut * cut, guint64 * first, guint64 * last_id)
{
  gchar *const location = g_build_filename (cut->folder, "spool", NULL);
  GstCclSpoolContents contents;
  GError *error = NULL;
  GstCclSpool *const spool = gst_ccl_spool_open (location, &contents, &error);
  GQueue lines = G_QUEUE_INIT;
  guint64 next = 0;
  GstCclDeliveryEntry *line;

  fail_unless (spool != NULL, "%s", error ? error->message : "");
  fail_unless (contents.moved_aside == NULL, "%s is damaged", cut->folder);
  fail_unless (gst_ccl_spool_load (spool, 0, G_MAXUINT16, G_MAXUINT64, &lines, NULL));
  fail_unless_equals_uint64 (lines.length, contents.n_rows);
  *last_id = contents.last_id;
  *first = contents.last_id + 1;
  while ((line = g_queue_pop_head (&lines))) {
    const guint64 number = check_line (&line->message);

    fail_unless (next ? number == next : number <= cut->first, "%s: line %u comes instead of %u", cut->folder,
        (guint) number, (guint) (next ? next : cut->first));
    if (!next)
      *first = number;
    next = number + 1;
    gst_ccl_delivery_message_free (&line->message);
  }
  fail_unless (cut->last < cut->first || next > cut->last, "%s: line %u is lost", cut->folder, (guint) cut->last);
  fail_unless (contents.last_id >= cut->last && contents.last_id <= cut->pushed, "%s: the last id is %u, not %u to %u",
      cut->folder, (guint) contents.last_id, (guint) cut->last, (guint) cut->pushed);
  fail_unless (!cut->last || !strcmp (instance, contents.instance), "%s has another instance", cut->folder);
  gst_ccl_spool_close (spool);
  g_free (location);
}

/* ---------------------------------------------------------------- the spool at work */

/* Its payload is its number, and then one letter. */
static void
push_line (Link * link)
{
  const guint64 number = __atomic_add_fetch (&n_pushed, 1, __ATOMIC_SEQ_CST);
  const gsize size = (gsize) g_rand_int_range (randoms, 20, g_rand_int_range (randoms, 0, 10) ? 600 : 20000);
  gchar *const text = g_strnfill (size, letter_of (number));

  text[g_snprintf (text, 20, "%" G_GUINT64_FORMAT, number)] = letter_of (number);
  gst_ccl_delivery_push (link->delivery, gst_ccl_delivery_message_new (g_strdup ("s"), g_strdup ("t"), text, size));
  g_free (text);
}

/* Acknowledges the oldest of the lines that were sent. */
static void
acknowledge_some (Link * link, guint * n_done)
{
  guint n_sent, until;

  g_mutex_lock (&link->lock);
  n_sent = link->ids->len;
  g_mutex_unlock (&link->lock);
  until = (guint) g_rand_int_range (randoms, (gint32) * n_done, (gint32) n_sent + 1);
  for (; *n_done < until; ++*n_done) {
    __atomic_add_fetch (&n_acknowledged, 1, __ATOMIC_SEQ_CST);
    acknowledge (link, *n_done);
  }
}

static void
work (const gchar * location)
{
  const GstCclDeliverySettings settings = {.max_in_flight = 20,.spool_location = location,.spool_max_bytes = 1 << 30 };
  const GstCclDeliveryLimits limits = { GST_CCL_OVERFLOW_BLOCK, 1000, 1 << 26 };
  GError *error = NULL;
  guint n_done = 0;
  Link link;

  fail_unless (try_link (&link, &settings, &limits, &error), "%s", error ? error->message : "");
  g_free (instance);
  instance = g_strdup (gst_ccl_delivery_get_instance (link.delivery));
  g_atomic_pointer_set (&running, &link);
  gst_ccl_delivery_connected (link.delivery);
  for (guint i = 0; i < N_STEPS; i++) {
    for (gint n = g_rand_int_range (randoms, 0, 12); n > 0; n--)
      push_line (&link);
    g_usleep ((gulong) g_rand_int_range (randoms, 0, 60000));
    acknowledge_some (&link, &n_done);
  }
  fail_unless_equals_int (gst_ccl_delivery_stop (link.delivery), 0);
  g_atomic_pointer_set (&running, NULL);
  power_unwatch ();
  close_link (&link);
}

/* ---------------------------------------------------------------- rounds */

static void
copy_folder (const gchar * from, const gchar * to)
{
  GDir *const directory = g_dir_open (from, 0, NULL);
  const gchar *name;

  g_mkdir (to, 0700);
  while ((name = g_dir_read_name (directory))) {
    gchar *const source = g_build_filename (from, name, NULL), *const target = g_build_filename (to, name, NULL), *data;
    gsize size;

    fail_unless (g_file_get_contents (source, &data, &size, NULL));
    fail_unless (g_file_set_contents (target, data, (gssize) size, NULL));
    g_free (data);
    g_free (source);
    g_free (target);
  }
  g_dir_close (directory);
}

/* Checks all cuts of a round. One is the disk of the next round. */
static void
check_cuts (const gchar * next_disk)
{
  const guint chosen = (guint) g_rand_int_range (randoms, 0, (gint32) cuts->len);

  copy_folder (g_array_index (cuts, Cut, chosen).folder, next_disk);
  for (guint i = 0; i < cuts->len; i++) {
    const Cut *const cut = &g_array_index (cuts, Cut, i);
    guint64 first, last_id;

    check_cut (cut, &first, &last_id);
    if (i == chosen) {
      n_acknowledged = first - 1;
      n_pushed = recovered_last = last_id;
    }
    g_free (cut->folder);
  }
  g_array_set_size (cuts, 0);
}

/* The log of SQLite goes into the database much more often than by default. */
static int
set_checkpoints (sqlite3 * database, char **message, const void *functions)
{
  return sqlite3_wal_autocheckpoint (database, 20);
}

static guint32
seed_of_run (void)
{
  const gchar *const wanted = g_getenv ("CCL_TEST_SEED");
  const guint32 seed = wanted ? (guint32) g_ascii_strtoull (wanted, NULL, 10) : g_random_int ();

  printf ("CCL_TEST_SEED=%u\n", seed);
  return seed;
}

GST_START_TEST (test_power_cuts)
{
  const guint32 seed = seed_of_run ();
  gchar *const made = g_dir_make_tmp ("delivery-powercut-XXXXXX", NULL);
  guint n_cuts = 0;

  folder = realpath (made, NULL);
  randoms = g_rand_new_with_seed (seed);
  cut_randoms = g_rand_new_with_seed (seed + 1);
  cuts = g_array_new (FALSE, FALSE, sizeof (Cut));
  sqlite3_auto_extension ((void (*) (void)) set_checkpoints);
  for (round_number = 0; round_number < N_ROUNDS; round_number++) {
    gchar *const disk = g_strdup_printf ("%s/disk-%u", folder, round_number);
    gchar *const next_disk = g_strdup_printf ("%s/disk-%u", folder, round_number + 1);
    gchar *const location = g_build_filename (disk, "spool", NULL);

    g_mkdir (disk, 0700);
    power_watch (disk, cut_sometimes);
    work (location);
    n_cuts += cuts->len;
    if (cuts->len)
      check_cuts (next_disk);
    g_free (disk);
    g_free (next_disk);
    g_free (location);
  }
  printf ("%u cuts, %u writes, %u syncs, lines up to %u\n", n_cuts, power_n_writes (), power_n_syncs (),
      (guint) n_pushed);
  remove_folder (made);
  g_free (made);
  free (folder);
  g_free (instance);
  g_rand_free (randoms);
  g_rand_free (cut_randoms);
  g_array_unref (cuts);
  sqlite3_reset_auto_extension ();
  if (power_n_writes () == 0)
    SKIP_TEST ("this SQLite writes by calls that are not recorded");
  fail_unless (n_cuts >= N_ROUNDS);
}

GST_END_TEST;

static Suite *
delivery_powercut_suite (void)
{
  Suite *const suite = suite_create ("delivery-powercut");
  TCase *const tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
  tcase_set_timeout (tc, 100);
  tcase_add_test (tc, test_power_cuts);
  return suite;
}

GST_CHECK_MAIN (delivery_powercut);
