/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Runs -> sums. Plain C. */
#ifndef CCL_CPU_MEASURE_PLAIN_H
#define CCL_CPU_MEASURE_PLAIN_H

#include "measure.h"

/* Adds the runs of one or more identical rows to the sums of their labels. */
static void measure_runs(CclComponent *sums, const CclPrefix *prefix, const CclRow *row, const CclRowSums *rows,
                         uint16_t *scratch)
{
    (void)scratch;
    measure_by_label(sums, prefix, row, rows);
}

#endif
