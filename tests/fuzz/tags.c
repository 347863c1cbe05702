/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The JSON object of the property tags, which becomes a part of each line. */
#include "fuzz.h"

#include <string.h>

#include "json/gstccljson.h"
#include "json/gstccljsoncheck.h"

/* An accepted object is valid in a line, and stays the same when it is read again. */
static void
check_line (const gchar * line)
{
  GError *error = NULL;
  gchar *const again = gst_ccl_json_tags (line, &error);

  g_assert_no_error (error);
  g_assert_cmpstr (again, ==, line);
  g_assert_true (g_utf8_validate (line, -1, NULL));
  g_assert_true (line[0] == '{' && line[strlen (line) - 1] == '}' && !strchr (line, '\n'));
  g_free (again);
}

int
LLVMFuzzerTestOneInput (const guint8 * data, gsize size)
{
  gchar *const text = fuzz_whole_text (data, size);
  GError *error = NULL;
  gchar *const line = gst_ccl_json_tags (text, &error);

  g_assert_true ((line == NULL) == (error != NULL));
  if (line)
    check_line (line);
  g_clear_error (&error);
  g_free (line);
  g_free (text);
  return 0;
}
