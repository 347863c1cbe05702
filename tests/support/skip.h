/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests that cannot run here. tests/count-results.py counts the line that they print. */
#ifndef CCL_TEST_SKIP_H
#define CCL_TEST_SKIP_H

#include <gst/check/gstcheck.h>

/* Prints "skipped: TEST: reason". */
void skip_test (const gchar * test, const gchar * reason, ...) G_GNUC_PRINTF (2, 3);

/* In a test: ends it, counted as skipped. The arguments are the reason, as for printf. */
#define SKIP_TEST(...)                   \
  G_STMT_START {                         \
    skip_test (__func__, __VA_ARGS__);   \
    return;                              \
  } G_STMT_END

#define SKIP_TEST_UNLESS(condition, ...) \
  G_STMT_START {                         \
    if (!(condition))                    \
      SKIP_TEST (__VA_ARGS__);           \
  } G_STMT_END

#endif
