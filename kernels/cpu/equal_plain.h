/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Compares 64 pixels with 64 others: bit i is set when pixels i are equal. Plain C. */
#ifndef CCL_CPU_EQUAL_PLAIN_H
#define CCL_CPU_EQUAL_PLAIN_H

#include <stdint.h>

static inline uint64_t equal_u8(const uint8_t *p, const uint8_t *q)
{
    uint64_t word = 0;
    for (unsigned i = 0; i < 64; i++)
        word |= (uint64_t)(p[i] == q[i]) << i;
    return word;
}

static inline uint64_t equal_u16(const uint8_t *p, const uint8_t *q)
{
    uint64_t word = 0;
    for (unsigned i = 0; i < 64; i++)
        word |= (uint64_t)(p[2 * i] == q[2 * i] && p[2 * i + 1] == q[2 * i + 1]) << i;
    return word;
}

#endif
