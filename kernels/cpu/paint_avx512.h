/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Values of a label image, sixteen at a time. AVX-512 with VPOPCNTDQ. */
#ifndef CCL_CPU_PAINT_AVX512_H
#define CCL_CPU_PAINT_AVX512_H

#include "host/words.h"

#include <immintrin.h>

#define LANES 16u
#define RUNS_PER_WORD_TO_EXPAND_WORDS 0u

static inline void store_lanes(uint32_t *out, uint32_t value)
{
    _mm512_storeu_si512(out, _mm512_set1_epi32((int)value));
}

static inline void fill_word(uint32_t *out, uint32_t value)
{
#pragma GCC unroll 8
    for (uint32_t x = 0; x < 64; x += LANES)
        store_lanes(out + x, value);
}

/* Paints n words. The index of a pixel's label is the number of runs that end before the pixel. Returns where the labels of the
 * next word begin; reads up to sixteen of them. */
static inline const uint32_t *expand_words(uint32_t *out, const uint64_t *bits, uint32_t n, const uint32_t *label)
{
    const __m512i bits_below = _mm512_setr_epi32(0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 1023, 2047, 4095, 8191, 16383,
                                                 32767);
    for (uint32_t w = 0; w < n; w++) {
        uint64_t s = bits[w], ends = (s << 1 | bits[(int32_t)w - 1] >> 63) & ~s;
        if (s + 1 <= 1) { /* all 0 or all 1 */
            fill_word(out, *label & -(uint32_t)(s & 1));
            out += 64;
            label += ends;
            continue;
        }
#pragma GCC unroll 4
        for (uint32_t i = 0; i < 4; i++, out += 16, s >>= 16, ends >>= 16) {
            const __m512i before = _mm512_popcnt_epi32(_mm512_and_si512(_mm512_set1_epi32((int)ends), bits_below));
            _mm512_storeu_si512(out, _mm512_maskz_permutexvar_epi32((__mmask16)s, before, _mm512_loadu_si512(label)));
            label += ones(ends & 0xffff);
        }
    }
    return label;
}

#endif
