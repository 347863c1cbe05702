/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* 64 pixels -> one word: bit i is set when pixel i is greater than the threshold. AVX2: a pixel is not greater when the
 * larger of the two is the threshold. */
#ifndef CCL_CPU_BITS_AVX2_H
#define CCL_CPU_BITS_AVX2_H

#include <immintrin.h>
#include <stdint.h>

static inline uint64_t pack64_u8(const uint8_t *pixels, unsigned threshold)
{
    const __m256i t = _mm256_set1_epi8((char)threshold);
    const __m256i p = _mm256_loadu_si256((const __m256i *)pixels);
    const __m256i q = _mm256_loadu_si256((const __m256i *)pixels + 1);
    const uint64_t low = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_max_epu8(p, t), t));
    const uint64_t high = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_max_epu8(q, t), t));
    return ~(low | high << 32);
}

static inline uint64_t pack64_u16(const uint8_t *pixels, unsigned threshold)
{
    const __m256i t = _mm256_set1_epi16((short)threshold);
    uint64_t word = 0;
    for (unsigned i = 0; i < 2; i++) {
        const __m256i p = _mm256_loadu_si256((const __m256i *)pixels + 2 * i);
        const __m256i q = _mm256_loadu_si256((const __m256i *)pixels + 2 * i + 1);
        const __m256i not_greater = _mm256_packs_epi16(_mm256_cmpeq_epi16(_mm256_max_epu16(p, t), t),
                                                       _mm256_cmpeq_epi16(_mm256_max_epu16(q, t), t));
        /* The pack works in 128-bit halves: quarters are 0 2 1 3 here. */
        const __m256i ordered = _mm256_permute4x64_epi64(not_greater, _MM_SHUFFLE(3, 1, 2, 0));
        word |= (uint64_t)(uint32_t)_mm256_movemask_epi8(ordered) << 32 * i;
    }
    return ~word;
}

#endif
