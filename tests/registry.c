/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Makes the registry of plugins before other tests need it: with sanitizers that happens in the process itself, and
 * what plugins of others leak meanwhile would be laid at the first test's door. */

#include <gst/gst.h>

/* Asked by the leak sanitizer, if there is one. */
int __lsan_is_turned_off (void);

int
__lsan_is_turned_off (void)
{
  return 1;
}

int
main (int argc, char **argv)
{
  GError *error = NULL;

  if (!gst_init_check (&argc, &argv, &error)) {
    g_printerr ("%s\n", error->message);
    return 1;
  }
  return 0;
}
