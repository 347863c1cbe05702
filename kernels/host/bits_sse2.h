/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* 64 pixels -> one word: bit i is set when pixel i is greater than the threshold. SSE2: a pixel is not greater if the
 * saturating subtraction of the threshold gives 0. */
#ifndef CCL_HOST_BITS_SSE2_H
#define CCL_HOST_BITS_SSE2_H

#include "row_bits.h"

#include <emmintrin.h>

static inline void pack_u8(uint64_t *bits, const uint8_t *pixels, uint32_t n_words, unsigned threshold)
{
    const __m128i t = _mm_set1_epi8((char)threshold), zero = _mm_setzero_si128();
    for (uint32_t w = 0; w < n_words; w++, pixels += 64) {
        fetch_ahead(pixels);
        uint64_t word = 0;
        for (unsigned i = 0; i < 4; i++) {
            const __m128i p = _mm_loadu_si128((const __m128i *)pixels + i);
            word |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_subs_epu8(p, t), zero)) << 16 * i;
        }
        bits[w] = ~word;
    }
}

static inline void pack_u16(uint64_t *bits, const uint8_t *pixels, uint32_t n_words, unsigned threshold)
{
    const __m128i t = _mm_set1_epi16((short)threshold), zero = _mm_setzero_si128();
    for (uint32_t w = 0; w < n_words; w++, pixels += 128) {
        fetch_ahead(pixels);
        fetch_ahead(pixels + 64);
        uint64_t word = 0;
        for (unsigned i = 0; i < 4; i++) {
            const __m128i p = _mm_loadu_si128((const __m128i *)pixels + 2 * i);
            const __m128i q = _mm_loadu_si128((const __m128i *)pixels + 2 * i + 1);
            const __m128i not_greater = _mm_packs_epi16(_mm_cmpeq_epi16(_mm_subs_epu16(p, t), zero),
                                                        _mm_cmpeq_epi16(_mm_subs_epu16(q, t), zero));
            word |= (uint64_t)(uint32_t)_mm_movemask_epi8(not_greater) << 16 * i;
        }
        bits[w] = ~word;
    }
}

static inline uint64_t any_bit(__m128i v)
{
    return (uint64_t)(_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_setzero_si128())) ^ 0xffff);
}

static inline RowBits compare_words(const uint64_t *bits, const uint64_t *above, uint32_t n)
{
    __m128i any = _mm_setzero_si128(), differs = any;
    uint32_t w = 0;
    for (; w + 2 <= n; w += 2) {
        const __m128i b = _mm_loadu_si128((const __m128i *)(bits + w));
        any = _mm_or_si128(any, b);
        differs = _mm_or_si128(differs, _mm_xor_si128(b, _mm_loadu_si128((const __m128i *)(above + w))));
    }
    RowBits seen = { any_bit(any), any_bit(differs) };
    for (; w < n; w++) {
        seen.any |= bits[w];
        seen.differs |= bits[w] ^ above[w];
    }
    return seen;
}

#endif
