/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* 64 pixels -> one word: bit i is set when pixel i is greater than the threshold. Plain C. */
#ifndef CCL_CPU_BITS_PLAIN_H
#define CCL_CPU_BITS_PLAIN_H

#include <stdint.h>
#include <string.h>

static inline uint64_t pack64_u8(const uint8_t *pixels, unsigned threshold)
{
    uint64_t word = 0;
    for (unsigned i = 0; i < 64; i++)
        word |= (uint64_t)(pixels[i] > threshold) << i;
    return word;
}

static inline uint64_t pack64_u16(const uint8_t *pixels, unsigned threshold)
{
    uint64_t word = 0;
    for (unsigned i = 0; i < 64; i++) {
        uint16_t pixel;
        memcpy(&pixel, pixels + 2 * i, 2);
        word |= (uint64_t)(pixel > threshold) << i;
    }
    return word;
}

#endif
