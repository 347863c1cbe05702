/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Samples of 8 bits -> sums. SSE2. */
#ifndef CCL_CPU_LUMA_SSE2_H
#define CCL_CPU_LUMA_SSE2_H

#include "luma_16.h"

typedef struct LumaLanes {
    __m128i sum, squares, k, kk, min, max;
} LumaLanes;

/* Adds the last n of 16 samples; the first of them is sample k of the part. */
static inline void add_luma_lanes(LumaLanes *lanes, const uint8_t *samples, uint32_t n, uint32_t k)
{
    const __m128i zero = _mm_setzero_si128(), used = _mm_loadu_si128((const __m128i *)(luma_lanes + n));
    const __m128i value = _mm_and_si128(_mm_loadu_si128((const __m128i *)samples), used);
    const __m128i low = _mm_unpacklo_epi8(value, zero), high = _mm_unpackhi_epi8(value, zero);
    const __m128i *const ks = (const __m128i *)(luma_weights.k + k + n), *const kks = (const __m128i *)(luma_weights.kk + k + n);

    lanes->sum = _mm_add_epi32(lanes->sum, _mm_sad_epu8(value, zero));
    lanes->squares = _mm_add_epi32(lanes->squares, _mm_add_epi32(_mm_madd_epi16(low, low), _mm_madd_epi16(high, high)));
    lanes->k = _mm_add_epi32(
        lanes->k, _mm_add_epi32(_mm_madd_epi16(low, _mm_loadu_si128(ks)), _mm_madd_epi16(high, _mm_loadu_si128(ks + 1))));
    lanes->kk = _mm_add_epi32(
        lanes->kk, _mm_add_epi32(_mm_madd_epi16(low, _mm_loadu_si128(kks)), _mm_madd_epi16(high, _mm_loadu_si128(kks + 1))));
    lanes->min = _mm_min_epu8(lanes->min, _mm_or_si128(value, _mm_andnot_si128(used, _mm_set1_epi8(-1))));
    lanes->max = _mm_max_epu8(lanes->max, value);
}

static inline void luma_lanes_clear(LumaLanes *lanes)
{
    lanes->sum = lanes->squares = lanes->k = lanes->kk = _mm_setzero_si128();
}

static inline void luma_lanes_sum(const LumaLanes *lanes, uint32_t sums[4])
{
    luma_reduce(lanes->sum, lanes->squares, lanes->k, lanes->kk, sums);
}

#include "luma_run.h"

#endif
