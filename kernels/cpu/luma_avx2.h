/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Samples of 8 bits -> sums. AVX2. */
#ifndef CCL_CPU_LUMA_AVX2_H
#define CCL_CPU_LUMA_AVX2_H

#include "luma_16.h"

#include <immintrin.h>

typedef struct LumaLanes {
    __m256i squares, k, kk;
    __m128i sum, min, max;
} LumaLanes;

/* Adds the last n of 16 samples; the first of them is sample k of the part. */
static inline void add_luma_lanes(LumaLanes *lanes, const uint8_t *samples, uint32_t n, uint32_t k)
{
    const __m128i used = _mm_loadu_si128((const __m128i *)(luma_lanes + n));
    const __m128i value = _mm_and_si128(_mm_loadu_si128((const __m128i *)samples), used);
    const __m256i wide = _mm256_cvtepu8_epi16(value);
    const __m256i ks = _mm256_loadu_si256((const __m256i *)(luma_weights.k + k + n));
    const __m256i kks = _mm256_loadu_si256((const __m256i *)(luma_weights.kk + k + n));

    lanes->sum = _mm_add_epi32(lanes->sum, _mm_sad_epu8(value, _mm_setzero_si128()));
    lanes->squares = _mm256_add_epi32(lanes->squares, _mm256_madd_epi16(wide, wide));
    lanes->k = _mm256_add_epi32(lanes->k, _mm256_madd_epi16(wide, ks));
    lanes->kk = _mm256_add_epi32(lanes->kk, _mm256_madd_epi16(wide, kks));
    lanes->min = _mm_min_epu8(lanes->min, _mm_or_si128(value, _mm_andnot_si128(used, _mm_set1_epi8(-1))));
    lanes->max = _mm_max_epu8(lanes->max, value);
}

static inline void luma_lanes_clear(LumaLanes *lanes)
{
    lanes->squares = lanes->k = lanes->kk = _mm256_setzero_si256();
    lanes->sum = _mm_setzero_si128();
}

static inline __m128i add_halves(__m256i v)
{
    return _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
}

static inline void luma_lanes_sum(const LumaLanes *lanes, uint32_t sums[4])
{
    luma_reduce(lanes->sum, add_halves(lanes->squares), add_halves(lanes->k), add_halves(lanes->kk), sums);
}

#include "luma_run.h"

#endif
