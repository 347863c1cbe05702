/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Finds where the runs of a row end, and which of its words contain a run or its end. AVX2. */
#ifndef CCL_CPU_NONZERO_WORDS_AVX2_H
#define CCL_CPU_NONZERO_WORDS_AVX2_H

#include "sums_sse2.h"
#include "host/words.h"

#include <immintrin.h>

/* For up to 64 words: sets ends[] and clears count[]. Returns a mask whose bit w is set when word w is not 0, or a run
 * ends at its first bit. Works on four words at a time, up to three past the end. */
static inline uint64_t find_ends(const uint64_t *bits, uint32_t n, uint64_t *ends, uint16_t *count)
{
    const __m256i zero = _mm256_setzero_si256();
    uint64_t zero_words = 0;
    for (uint32_t w = 0; w < n; w += 4) {
        const __m256i s = _mm256_loadu_si256((const __m256i *)(bits + w));
        const __m256i before = _mm256_loadu_si256((const __m256i *)(bits + (int32_t)w - 1));
        const __m256i shifted = _mm256_or_si256(_mm256_add_epi64(s, s), _mm256_srli_epi64(before, 63));
        _mm256_storeu_si256((__m256i *)(ends + w), _mm256_andnot_si256(s, shifted));
        const __m256i is_zero = _mm256_cmpeq_epi64(_mm256_or_si256(s, shifted), zero);
        zero_words |= (uint64_t)(uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(is_zero)) << w;
    }
    for (uint32_t w = 0; w < n; w += 16)
        _mm256_storeu_si256((__m256i *)(count + w), zero);
    return ~zero_words & (n < 64 ? below(n) : ~(uint64_t)0);
}

#endif
