/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* One row as runs. */
#ifndef CCL_CPU_ROW_H
#define CCL_CPU_ROW_H

#include <stdint.h>

typedef struct CclRow {
    uint64_t *bits;  /* row_words() of them, bit 0 leftmost, 0 past the width; bits[-1] may be read, its bit 63 is 0 */
    uint64_t *ends;  /* bit e: a run ends before pixel e */
    uint16_t *rank;  /* rank[w]: ends in the words before w */
    uint16_t *x;     /* run k is [x[2k], x[2k+1]); x[2n] is UINT16_MAX */
    uint32_t *label; /* label[k] of run k; label[n] is some valid label */
    uint32_t n;      /* runs */
} CclRow;

#endif
