/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "folder.h"

#include <glib/gstdio.h>

void
remove_folder (const gchar * folder)
{
  GDir *directory = g_dir_open (folder, 0, NULL);
  const gchar *name;

  while (directory && (name = g_dir_read_name (directory))) {
    gchar *const path = g_build_filename (folder, name, NULL);

    if (g_file_test (path, G_FILE_TEST_IS_DIR) && !g_file_test (path, G_FILE_TEST_IS_SYMLINK))
      remove_folder (path);
    else
      g_remove (path);
    g_free (path);
  }
  g_clear_pointer (&directory, g_dir_close);
  g_rmdir (folder);
}
