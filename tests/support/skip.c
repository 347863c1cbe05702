/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "skip.h"

void
skip_test (const gchar * test, const gchar * reason, ...)
{
  va_list arguments;
  gchar *text;

  va_start (arguments, reason);
  text = g_strdup_vprintf (reason, arguments);
  va_end (arguments);
  g_printerr ("skipped: %s: %s\n", test, text);
  g_free (text);
}
