/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Labels of runs -> label at each pixel. Plain C never does this: each run looks its label up. */
#ifndef CCL_CPU_EXPAND_LABELS_PLAIN_H
#define CCL_CPU_EXPAND_LABELS_PLAIN_H

#include <stdint.h>

#define RUNS_PER_WORD_TO_EXPAND_LABELS 64

static inline void expand_labels(uint32_t *label_at, const uint64_t *ends, const uint32_t *label, uint32_t n_bytes)
{
    (void)label_at, (void)ends, (void)label, (void)n_bytes;
}

#endif
