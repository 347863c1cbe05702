/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Values of a label image, eight at a time. AVX2. */
#ifndef CCL_CPU_PAINT_AVX2_H
#define CCL_CPU_PAINT_AVX2_H

#include "byte_table.h"
#include "host/words.h"

#include <immintrin.h>

#define LANES 8u
#define RUNS_PER_WORD_TO_EXPAND_WORDS 0u

static inline void store_lanes(uint32_t *out, uint32_t value)
{
    _mm256_storeu_si256((__m256i *)out, _mm256_set1_epi32((int)value));
}

static inline void fill_word(uint32_t *out, uint32_t value)
{
#pragma GCC unroll 8
    for (uint32_t x = 0; x < 64; x += LANES)
        store_lanes(out + x, value);
}

/* Paints n words. The index of a pixel's label is the number of runs that end before the pixel. Returns where the labels of the
 * next word begin; reads up to eight of them. */
static inline const uint32_t *expand_words(uint32_t *out, const uint64_t *bits, uint32_t n, const uint32_t *label)
{
    const __m256i lane_bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    for (uint32_t w = 0; w < n; w++) {
        uint64_t s = bits[w], ends = (s << 1 | bits[(int32_t)w - 1] >> 63) & ~s;
        if (s + 1 <= 1) { /* all 0 or all 1 */
            fill_word(out, *label & -(uint32_t)(s & 1));
            out += 64;
            label += ends;
            continue;
        }
#pragma GCC unroll 8
        for (uint32_t i = 0; i < 8; i++, out += 8, s >>= 8, ends >>= 8) {
            const __m256i labels = _mm256_loadu_si256((const __m256i *)label);
            const __m128i before = _mm_loadl_epi64((const __m128i *)ccl_byte_ranks[ends & 255]);
            const __m256i set = _mm256_and_si256(_mm256_set1_epi32((int)s), lane_bit);
            const __m256i value = _mm256_permutevar8x32_epi32(labels, _mm256_cvtepu8_epi32(before));
            _mm256_storeu_si256((__m256i *)out, _mm256_and_si256(value, _mm256_cmpeq_epi32(set, lane_bit)));
            label += ones(ends & 255);
        }
    }
    return label;
}

#endif
