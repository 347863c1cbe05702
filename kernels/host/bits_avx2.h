/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* 64 pixels -> one word: bit i is set when pixel i is greater than the threshold. AVX2: a pixel is greater if the minimum of
 * pixel and threshold + 1 is threshold + 1. */
#ifndef CCL_HOST_BITS_AVX2_H
#define CCL_HOST_BITS_AVX2_H

#include "row_bits.h"

#include <immintrin.h>
#include <string.h>

static inline void pack_u8(uint64_t *bits, const uint8_t *pixels, uint32_t n_words, unsigned threshold)
{
    const __m256i minimum = _mm256_set1_epi8((char)(threshold + 1));
    if (threshold == 255) {
        memset(bits, 0, n_words * sizeof *bits);
        return;
    }
    for (uint32_t w = 0; w < n_words; w++, pixels += 64) {
        fetch_ahead(pixels);
        const __m256i p = _mm256_loadu_si256((const __m256i *)pixels);
        const __m256i q = _mm256_loadu_si256((const __m256i *)pixels + 1);
        const uint64_t low = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_min_epu8(p, minimum), minimum));
        const uint64_t high = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_min_epu8(q, minimum), minimum));
        bits[w] = low | high << 32;
    }
}

static inline void pack_u16(uint64_t *bits, const uint8_t *pixels, uint32_t n_words, unsigned threshold)
{
    const __m256i minimum = _mm256_set1_epi16((short)(threshold + 1));
    if (threshold == 65535) {
        memset(bits, 0, n_words * sizeof *bits);
        return;
    }
    for (uint32_t w = 0; w < n_words; w++, pixels += 128) {
        fetch_ahead(pixels);
        fetch_ahead(pixels + 64);
        bits[w] = 0;
        for (unsigned i = 0; i < 2; i++) {
            const __m256i p = _mm256_loadu_si256((const __m256i *)pixels + 2 * i);
            const __m256i q = _mm256_loadu_si256((const __m256i *)pixels + 2 * i + 1);
            const __m256i greater = _mm256_packs_epi16(_mm256_cmpeq_epi16(_mm256_min_epu16(p, minimum), minimum),
                                                       _mm256_cmpeq_epi16(_mm256_min_epu16(q, minimum), minimum));
            /* The pack works in 128-bit halves: quarters are 0 2 1 3 here. */
            const __m256i ordered = _mm256_permute4x64_epi64(greater, _MM_SHUFFLE(3, 1, 2, 0));
            bits[w] |= (uint64_t)(uint32_t)_mm256_movemask_epi8(ordered) << 32 * i;
        }
    }
}

static inline RowBits compare_words(const uint64_t *bits, const uint64_t *above, uint32_t n)
{
    __m256i any = _mm256_setzero_si256(), differs = any;
    uint32_t w = 0;
    for (; w + 4 <= n; w += 4) {
        const __m256i b = _mm256_loadu_si256((const __m256i *)(bits + w));
        any = _mm256_or_si256(any, b);
        differs = _mm256_or_si256(differs, _mm256_xor_si256(b, _mm256_loadu_si256((const __m256i *)(above + w))));
    }
    RowBits seen = { !_mm256_testz_si256(any, any), !_mm256_testz_si256(differs, differs) };
    for (; w < n; w++) {
        seen.any |= bits[w];
        seen.differs |= bits[w] ^ above[w];
    }
    return seen;
}

#endif
