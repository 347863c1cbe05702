/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Counts -> prefix sums. SSE2. */
#ifndef CCL_CPU_SUMS_SSE2_H
#define CCL_CPU_SUMS_SSE2_H

#include <emmintrin.h>
#include <stdint.h>

/* Replaces count[w] by the sum of the counts before it. Works on eight at a time, up to seven past the end. */
static inline void sum_up(uint16_t *count, uint32_t n)
{
    __m128i before = _mm_setzero_si128();
    for (uint32_t w = 0; w < n; w += 8) {
        const __m128i c = _mm_loadu_si128((const __m128i *)(count + w));
        __m128i sum = _mm_add_epi16(c, _mm_slli_si128(c, 2));
        sum = _mm_add_epi16(sum, _mm_slli_si128(sum, 4));
        sum = _mm_add_epi16(sum, _mm_slli_si128(sum, 8));
        _mm_storeu_si128((__m128i *)(count + w), _mm_add_epi16(before, _mm_slli_si128(sum, 2)));
        const __m128i last = _mm_shufflehi_epi16(sum, _MM_SHUFFLE(3, 3, 3, 3));
        before = _mm_add_epi16(before, _mm_unpackhi_epi64(last, last));
    }
}

#endif
