/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* For tiers without a permutation of 32-bit values: runs are always painted one by one. */
#ifndef CCL_CPU_PAINT_NO_EXPAND_H
#define CCL_CPU_PAINT_NO_EXPAND_H

#include <stdint.h>

#define RUNS_PER_WORD_TO_EXPAND_WORDS 64u

static inline const uint32_t *expand_words(uint32_t *out, const uint64_t *bits, uint32_t n, const uint32_t *label)
{
    (void)out, (void)bits, (void)n;
    return label;
}

#endif
