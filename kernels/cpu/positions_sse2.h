/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The positions of the bits of a word: a few one by one, many from a table, eight at a time. SSE2. */
#ifndef CCL_CPU_POSITIONS_SSE2_H
#define CCL_CPU_POSITIONS_SSE2_H

#include "byte_table.h"
#include "host/words.h"

#include <emmintrin.h>

/* Appends base + i for each bit i of t, ascending; `n` = ones(t). May write up to 16 entries past the returned end. */
static inline uint16_t *put_positions(uint16_t *x, uint64_t t, uint32_t n, uint32_t base)
{
    if (n <= 4) {
        /* Always writes all four, because their number is hard to predict. */
#pragma GCC unroll 4
        for (uint32_t i = 0; i < 4; i++, t &= t - 1)
            x[i] = (uint16_t)(base + lowest_if_any(t));
        return x + n;
    }
    /* Bits below each byte: the bytes' counts, summed up by a multiplication. */
    uint64_t count = t - (t >> 1 & 0x5555555555555555u);
    count = (count & 0x3333333333333333u) + (count >> 2 & 0x3333333333333333u);
    count = (count + (count >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    const uint64_t before = count * 0x0101010101010101u << 8;
    __m128i from = _mm_set1_epi16((short)base);
#pragma GCC unroll 8
    for (uint32_t i = 0; i < 8; i++) {
        const __m128i p = _mm_loadl_epi64((const __m128i *)ccl_byte_positions[t >> 8 * i & 255]);
        const __m128i wide = _mm_unpacklo_epi8(p, _mm_setzero_si128());
        _mm_storeu_si128((__m128i *)(x + (before >> 8 * i & 255)), _mm_add_epi16(wide, from));
        from = _mm_add_epi16(from, _mm_set1_epi16(8));
    }
    return x + n;
}

#endif
