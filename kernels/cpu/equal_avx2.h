/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Compares 64 pixels with 64 others: bit i is set when pixels i are equal. AVX2. */
#ifndef CCL_CPU_EQUAL_AVX2_H
#define CCL_CPU_EQUAL_AVX2_H

#include <immintrin.h>
#include <stdint.h>

static inline __m256i load_pixels(const uint8_t *pixels)
{
    return _mm256_loadu_si256((const __m256i *)pixels);
}

static inline uint64_t equal_u8(const uint8_t *p, const uint8_t *q)
{
    const __m256i left = _mm256_cmpeq_epi8(load_pixels(p), load_pixels(q));
    const __m256i right = _mm256_cmpeq_epi8(load_pixels(p + 32), load_pixels(q + 32));
    return (uint32_t)_mm256_movemask_epi8(left) | (uint64_t)(uint32_t)_mm256_movemask_epi8(right) << 32;
}

static inline uint64_t equal_u16(const uint8_t *p, const uint8_t *q)
{
    uint64_t word = 0;
    for (unsigned i = 0; i < 64; i += 32, p += 64, q += 64) {
        const __m256i left = _mm256_cmpeq_epi16(load_pixels(p), load_pixels(q));
        const __m256i right = _mm256_cmpeq_epi16(load_pixels(p + 32), load_pixels(q + 32));
        /* The pack works in 128-bit halves: quarters are 0 2 1 3 here. */
        const __m256i both = _mm256_permute4x64_epi64(_mm256_packs_epi16(left, right), _MM_SHUFFLE(3, 1, 2, 0));
        word |= (uint64_t)(uint32_t)_mm256_movemask_epi8(both) << i;
    }
    return word;
}

#endif
