/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Finds where the runs of a row end, and which of its words contain a run or its end. Plain C. */
#ifndef CCL_CPU_NONZERO_WORDS_PLAIN_H
#define CCL_CPU_NONZERO_WORDS_PLAIN_H

#include "host/words.h"

/* For up to 64 words: sets ends[] and clears count[]. Returns a mask whose bit w is set when word w is not 0, or a run
 * ends at its first bit. */
static inline uint64_t find_ends(const uint64_t *bits, uint32_t n, uint64_t *ends, uint16_t *count)
{
    uint64_t nonzero = 0;
    for (uint32_t w = 0; w < n; w++) {
        const uint64_t shifted = bits[w] << 1 | bits[(int32_t)w - 1] >> 63;
        ends[w] = shifted & ~bits[w];
        count[w] = 0;
        nonzero |= (uint64_t)((bits[w] | shifted) != 0) << w;
    }
    return nonzero;
}

/* Replaces count[w] by the sum of the counts before it. */
static inline void sum_up(uint16_t *count, uint32_t n)
{
    uint32_t sum = 0;
    for (uint32_t w = 0; w < n; w++) {
        const uint32_t c = count[w];
        count[w] = (uint16_t)sum;
        sum += c;
    }
}

#endif
