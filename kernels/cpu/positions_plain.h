/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The positions of the bits of a word, one by one. */
#ifndef CCL_CPU_POSITIONS_PLAIN_H
#define CCL_CPU_POSITIONS_PLAIN_H

#include "words.h"

/* Appends base + i for each bit i of t, ascending; may write up to 16 entries past the returned end. */
static inline uint16_t *put_positions(uint16_t *x, uint64_t t, uint32_t base)
{
    for (; t; t &= t - 1)
        *x++ = (uint16_t)(base + lowest(t));
    return x;
}

#endif
