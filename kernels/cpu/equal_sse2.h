/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Compares 64 pixels with 64 others: bit i is set when pixels i are equal. SSE2. */
#ifndef CCL_CPU_EQUAL_SSE2_H
#define CCL_CPU_EQUAL_SSE2_H

#include <emmintrin.h>
#include <stdint.h>

static inline __m128i load_pixels(const uint8_t *pixels)
{
    return _mm_loadu_si128((const __m128i *)pixels);
}

static inline uint64_t equal_u8(const uint8_t *p, const uint8_t *q)
{
    uint64_t word = 0;
    for (unsigned i = 0; i < 64; i += 16) {
        const __m128i equal = _mm_cmpeq_epi8(load_pixels(p + i), load_pixels(q + i));
        word |= (uint64_t)(uint32_t)_mm_movemask_epi8(equal) << i;
    }
    return word;
}

static inline uint64_t equal_u16(const uint8_t *p, const uint8_t *q)
{
    uint64_t word = 0;
    for (unsigned i = 0; i < 64; i += 16, p += 32, q += 32) {
        const __m128i left = _mm_cmpeq_epi16(load_pixels(p), load_pixels(q));
        const __m128i right = _mm_cmpeq_epi16(load_pixels(p + 16), load_pixels(q + 16));
        word |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_packs_epi16(left, right)) << i;
    }
    return word;
}

#endif
