/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* 64 pixels -> one word: bit i is set when pixel i is greater than the threshold. Plain C. */
#ifndef CCL_HOST_BITS_PLAIN_H
#define CCL_HOST_BITS_PLAIN_H

#include "row_bits.h"

#include <string.h>

static inline void pack_u8(uint64_t *bits, const uint8_t *pixels, uint32_t n_words, unsigned threshold)
{
    for (uint32_t w = 0; w < n_words; w++, pixels += 64) {
        bits[w] = 0;
        for (unsigned i = 0; i < 64; i++)
            bits[w] |= (uint64_t)(pixels[i] > threshold) << i;
    }
}

static inline void pack_u16(uint64_t *bits, const uint8_t *pixels, uint32_t n_words, unsigned threshold)
{
    for (uint32_t w = 0; w < n_words; w++) {
        bits[w] = 0;
        for (unsigned i = 0; i < 64; i++, pixels += 2) {
            uint16_t pixel;
            memcpy(&pixel, pixels, 2);
            bits[w] |= (uint64_t)(pixel > threshold) << i;
        }
    }
}

static inline RowBits compare_words(const uint64_t *bits, const uint64_t *above, uint32_t n)
{
    RowBits seen = { 0, 0 };
    for (uint32_t w = 0; w < n; w++) {
        seen.any |= bits[w];
        seen.differs |= bits[w] ^ above[w];
    }
    return seen;
}

#endif
