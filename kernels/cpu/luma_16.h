/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What vectors of 16 samples need: weights, masks and sums of chroma. SSE2 or SSE4.1. */
#ifndef CCL_CPU_LUMA_16_H
#define CCL_CPU_LUMA_16_H

#include "intensity.h"

#include <emmintrin.h>
#ifdef __SSE4_1__
#include <smmintrin.h>
#endif

/* Samples of a run that are added in 32 bits: the sum of 255 k^2 is below 2^28. */
enum { LUMA_PART = 128, LUMA_LANES = 16 };

/* k and k^2 of the samples of a part, after as many entries that are 0: a part that begins inside a vector reads them. */
typedef struct LumaWeights {
    int16_t k[LUMA_LANES + LUMA_PART], kk[LUMA_LANES + LUMA_PART];
} LumaWeights;

#define W1(f, i)  f(i)
#define W4(f, i)  W1(f, i), W1(f, (i) + 1), W1(f, (i) + 2), W1(f, (i) + 3)
#define W16(f, i) W4(f, i), W4(f, (i) + 4), W4(f, (i) + 8), W4(f, (i) + 12)
#define W64(f, i) W16(f, i), W16(f, (i) + 16), W16(f, (i) + 32), W16(f, (i) + 48)
#define K(i)      (i)
#define KK(i)     ((i) * (i))
static const LumaWeights luma_weights = { { [LUMA_LANES] = W64(K, 0), W64(K, 64) }, { [LUMA_LANES] = W64(KK, 0), W64(KK, 64) } };
#undef W1
#undef W4
#undef W16
#undef W64
#undef K
#undef KK

/* Read from n on: the last n lanes are all ones, the others are 0. */
static const uint8_t luma_lanes[2 * LUMA_LANES] = {
    [LUMA_LANES] = 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff
};

/* The sums of the lanes of four vectors. */
static inline void luma_reduce(__m128i a, __m128i b, __m128i c, __m128i d, uint32_t sums[4])
{
    const __m128i ab = _mm_add_epi32(_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b));
    const __m128i cd = _mm_add_epi32(_mm_unpacklo_epi32(c, d), _mm_unpackhi_epi32(c, d));
    _mm_storeu_si128((__m128i *)sums, _mm_add_epi32(_mm_unpacklo_epi64(ab, cd), _mm_unpackhi_epi64(ab, cd)));
}

#ifdef __SSE4_1__
/* The smallest of 16. */
static inline uint16_t luma_reduce_min(__m128i v)
{
    return (uint16_t)_mm_cvtsi128_si32(_mm_minpos_epu16(_mm_min_epu8(v, _mm_srli_epi16(v, 8))));
}
#else
static inline uint16_t luma_reduce_min(__m128i v)
{
    v = _mm_min_epu8(v, _mm_srli_si128(v, 8));
    v = _mm_min_epu8(v, _mm_srli_si128(v, 4));
    v = _mm_min_epu8(v, _mm_srli_si128(v, 2));
    v = _mm_min_epu8(v, _mm_srli_si128(v, 1));
    return (uint16_t)(_mm_cvtsi128_si32(v) & 0xff);
}
#endif

static inline void luma_reduce_extremes(CclLuma *luma, __m128i min, __m128i max)
{
    luma->min = luma_reduce_min(min);
    luma->max = 255 - luma_reduce_min(_mm_xor_si128(max, _mm_set1_epi8(-1)));
}

static inline uint64_t luma_sum_of_halves(__m128i sum)
{
    return (uint32_t)_mm_cvtsi128_si32(sum) + (uint64_t)(uint32_t)_mm_cvtsi128_si32(_mm_srli_si128(sum, 8));
}

/* The samples [first, first + n) of a row. The last vector ends where they end, so it may begin before them, but not before the
 * row. */
static inline uint64_t sum_of_samples(const uint8_t *row, uint32_t first, uint32_t n)
{
    const uint8_t *const samples = row + first;
    const __m128i zero = _mm_setzero_si128();
    __m128i sums = zero;
    uint32_t i = 0;
    if (first + n < 16) {
        uint64_t sum = 0;
        for (; i < n; i++)
            sum += samples[i];
        return sum;
    }
    for (; i + 16 < n; i += 16)
        sums = _mm_add_epi64(sums, _mm_sad_epu8(_mm_loadu_si128((const __m128i *)(samples + i)), zero));
    const __m128i used = _mm_loadu_si128((const __m128i *)(luma_lanes + n - i));
    const __m128i last = _mm_and_si128(_mm_loadu_si128((const __m128i *)(row + (first + n - 16))), used);
    return luma_sum_of_halves(_mm_add_epi64(sums, _mm_sad_epu8(last, zero)));
}

/* The same of a row of which every second byte is a sample. */
static inline uint64_t sum_of_second_samples(const uint8_t *row, uint32_t first, uint32_t n)
{
    const uint8_t *const samples = row + 2 * (size_t)first;
    const __m128i zero = _mm_setzero_si128();
    __m128i sums = zero;
    uint32_t i = 0;
    if (first + n <= 8) {
        uint64_t sum = 0;
        for (; i < n; i++)
            sum += samples[2 * (size_t)i];
        return sum;
    }
    for (; i + 8 < n; i += 8) {
        const __m128i pairs = _mm_loadu_si128((const __m128i *)(samples + 2 * (size_t)i));
        sums = _mm_add_epi64(sums, _mm_sad_epu8(_mm_and_si128(pairs, _mm_set1_epi16(0xff)), zero));
    }
    const __m128i used = _mm_loadu_si128((const __m128i *)(luma_lanes + 2 * (n - i)));
    const __m128i pairs = _mm_loadu_si128((const __m128i *)(row + (2 * (size_t)(first + n) - 17))); /* ends with a sample */
    return luma_sum_of_halves(_mm_add_epi64(sums, _mm_sad_epu8(_mm_and_si128(_mm_srli_epi16(pairs, 8), used), zero)));
}

#endif
