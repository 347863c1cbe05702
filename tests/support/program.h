/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The main function of a test program of an element, with the plugin inside where CUDA is emulated. */
#ifndef CCL_TEST_PROGRAM_H
#define CCL_TEST_PROGRAM_H

#include <gst/check/gstcheck.h>

#ifdef CCL_EMULATED
GST_PLUGIN_STATIC_DECLARE (ccl);
#define TEST_REGISTER() GST_PLUGIN_STATIC_REGISTER (ccl)
#else
#define TEST_REGISTER()
#endif

/* TEST_MAIN (ccllabel_volume, "ccllabel-volume") runs ccllabel_volume_suite (). */
#define TEST_MAIN(function, name)                                      \
  int                                                                  \
  main (int argc, char **argv)                                         \
  {                                                                    \
    gst_check_init (&argc, &argv);                                     \
    TEST_REGISTER ();                                                  \
    return gst_check_run_suite (function##_suite (), name, __FILE__);  \
  }

#endif
