/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* 64 pixels -> one word: bit i is set when pixel i is greater than the threshold. SSE2: a pixel is not greater when
 * subtracting the threshold, stopping at 0, leaves 0. */
#ifndef CCL_CPU_BITS_SSE2_H
#define CCL_CPU_BITS_SSE2_H

#include <emmintrin.h>
#include <stdint.h>

static inline uint64_t pack64_u8(const uint8_t *pixels, unsigned threshold)
{
    const __m128i t = _mm_set1_epi8((char)threshold), zero = _mm_setzero_si128();
    uint64_t word = 0;
    for (unsigned i = 0; i < 4; i++) {
        const __m128i p = _mm_loadu_si128((const __m128i *)pixels + i);
        word |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_subs_epu8(p, t), zero)) << 16 * i;
    }
    return ~word;
}

static inline uint64_t pack64_u16(const uint8_t *pixels, unsigned threshold)
{
    const __m128i t = _mm_set1_epi16((short)threshold), zero = _mm_setzero_si128();
    uint64_t word = 0;
    for (unsigned i = 0; i < 4; i++) {
        const __m128i p = _mm_loadu_si128((const __m128i *)pixels + 2 * i);
        const __m128i q = _mm_loadu_si128((const __m128i *)pixels + 2 * i + 1);
        const __m128i not_greater = _mm_packs_epi16(_mm_cmpeq_epi16(_mm_subs_epu16(p, t), zero),
                                                    _mm_cmpeq_epi16(_mm_subs_epu16(q, t), zero));
        word |= (uint64_t)(uint32_t)_mm_movemask_epi8(not_greater) << 16 * i;
    }
    return ~word;
}

#endif
