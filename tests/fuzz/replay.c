/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Runs a target without libFuzzer, with any compiler: each input of a folder whole, and cut at many lengths.
 *
 *     fuzz-TARGET FOLDER|FILE
 */
#include "fuzz.h"

/* Cuts of an input: an even part of all lengths. */
#define MAX_CUTS 16

static guint n_runs = 0;

/* In memory of exactly this size, where sanitizers and valgrind see a read behind it. */
static void
run (const gchar * data, gsize size)
{
  guint8 *const copy = g_memdup2 (data, size);

  LLVMFuzzerTestOneInput (copy, size);
  g_free (copy);
  n_runs++;
}

static void
run_file (const gchar * path)
{
  GError *error = NULL;
  gchar *data;
  gsize size;

  g_file_get_contents (path, &data, &size, &error);
  g_assert_no_error (error);
  g_printerr ("%s\n", path);
  run (data, size);
  for (gsize i = 0; i < MIN (size, MAX_CUTS); i++)
    run (data, i * size / MIN (size, MAX_CUTS));
  g_free (data);
}

static void
run_folder (const gchar * path)
{
  GDir *const folder = g_dir_open (path, 0, NULL);
  const gchar *name;
  guint n_files = 0;

  g_assert_nonnull (folder);
  while ((name = g_dir_read_name (folder))) {
    gchar *const file = g_build_filename (path, name, NULL);

    run_file (file);
    g_free (file);
    n_files++;
  }
  g_dir_close (folder);
  g_assert_cmpuint (n_files, >, 0);
}

int
main (int argc, char **argv)
{
  const gchar *const path = argc == 2 ? argv[1] : NULL;

  g_assert_nonnull (path);
  LLVMFuzzerInitialize (&argc, &argv);
  if (g_file_test (path, G_FILE_TEST_IS_DIR))
    run_folder (path);
  else
    run_file (path);
  g_print ("%u inputs\n", n_runs);
  return 0;
}
