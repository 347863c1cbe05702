/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The positions of the bits of a word, one by one. */
#ifndef CCL_CPU_POSITIONS_PLAIN_H
#define CCL_CPU_POSITIONS_PLAIN_H

#include "host/words.h"

/* Appends base + i for each bit i of t, ascending; `n` = ones(t). May write up to 16 entries past the returned end. */
static inline uint16_t *put_positions(uint16_t *x, uint64_t t, uint32_t n, uint32_t base)
{
    for (uint32_t i = 0; i < n; i++, t &= t - 1)
        x[i] = (uint16_t)(base + lowest(t));
    return x + n;
}

#endif
