/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Finds where the runs of a row end, and which of its words contain a run or its end. SSE2. */
#ifndef CCL_CPU_NONZERO_WORDS_SSE2_H
#define CCL_CPU_NONZERO_WORDS_SSE2_H

#include "sums_sse2.h"
#include "host/words.h"

/* For up to 64 words: sets ends[] and clears count[]. Returns a mask whose bit w is set when word w is not 0, or a run
 * ends at its first bit. Works on four words at a time, up to three past the end. */
static inline uint64_t find_ends(const uint64_t *bits, uint32_t n, uint64_t *ends, uint16_t *count)
{
    const __m128i zero = _mm_setzero_si128();
    uint64_t zero_words = 0;
    for (uint32_t w = 0; w < n; w += 2) {
        const __m128i s = _mm_loadu_si128((const __m128i *)(bits + w));
        const __m128i before = _mm_loadu_si128((const __m128i *)(bits + (int32_t)w - 1));
        const __m128i shifted = _mm_or_si128(_mm_slli_epi64(s, 1), _mm_srli_epi64(before, 63));
        _mm_storeu_si128((__m128i *)(ends + w), _mm_andnot_si128(s, shifted));
        const unsigned halves =
            (unsigned)_mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(_mm_or_si128(s, shifted), zero)));
        zero_words |= (uint64_t)((halves & halves >> 1 & 1) | (halves >> 1 & halves >> 2 & 2)) << w;
    }
    for (uint32_t w = 0; w < n; w += 8)
        _mm_storeu_si128((__m128i *)(count + w), zero);
    return ~zero_words & (n < 64 ? below(n) : ~(uint64_t)0);
}

#endif
