/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Provisional labels and their sums -> the table of components. */
#ifndef CCL_CPU_TABLE_H
#define CCL_CPU_TABLE_H

#include "tier.h"

/* The first label used and one past the last, of one strip. */
typedef struct CclLabelRange {
    uint32_t first, end;
} CclLabelRange;

/* Points every label at its root and adds its sums (unless NULL) to the root's. Returns how many roots there are. The
 * ranges ascend. */
uint32_t ccl_flatten(uint32_t *parent, CclSums *sums, const CclLabelRange *ranges, unsigned n_ranges);

/* Numbers the roots the filter keeps and writes their rows, up to `capacity`. Needs a flattened parent[]; with
 * `want_final` it becomes each label's final label, 0 for dropped components. */
void ccl_table_from_sums(CclFrame *frame, uint32_t capacity, uint32_t *parent, const CclSums *sums,
                         const CclLabelRange *ranges, unsigned n_ranges, bool want_final);

#endif
