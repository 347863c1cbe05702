/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* 64 pixels -> one word: bit i is set when pixel i is greater than the threshold. AVX-512. */
#ifndef CCL_HOST_BITS_AVX512_H
#define CCL_HOST_BITS_AVX512_H

#include "row_bits.h"

#include <immintrin.h>

static inline void pack_u8(uint64_t *bits, const uint8_t *pixels, uint32_t n_words, unsigned threshold)
{
    const __m512i t = _mm512_set1_epi8((char)threshold);
    for (uint32_t w = 0; w < n_words; w++, pixels += 64) {
        fetch_ahead(pixels);
        bits[w] = _mm512_cmpgt_epu8_mask(_mm512_loadu_si512(pixels), t);
    }
}

static inline void pack_u16(uint64_t *bits, const uint8_t *pixels, uint32_t n_words, unsigned threshold)
{
    const __m512i t = _mm512_set1_epi16((short)threshold);
    for (uint32_t w = 0; w < n_words; w++, pixels += 128) {
        fetch_ahead(pixels);
        fetch_ahead(pixels + 64);
        const uint64_t low = _mm512_cmpgt_epu16_mask(_mm512_loadu_si512(pixels), t);
        const uint64_t high = _mm512_cmpgt_epu16_mask(_mm512_loadu_si512(pixels + 64), t);
        bits[w] = low | high << 32;
    }
}

static inline RowBits compare_words(const uint64_t *bits, const uint64_t *above, uint32_t n)
{
    __m512i any = _mm512_setzero_si512(), differs = any;
    for (uint32_t w = 0; w < n; w += 8) {
        const __mmask8 inside = (__mmask8)(n - w < 8 ? (1u << (n - w)) - 1 : 255);
        const __m512i b = _mm512_maskz_loadu_epi64(inside, bits + w);
        any = _mm512_or_si512(any, b);
        differs = _mm512_or_si512(differs, _mm512_xor_si512(b, _mm512_maskz_loadu_epi64(inside, above + w)));
    }
    return (RowBits){ _mm512_test_epi64_mask(any, any), _mm512_test_epi64_mask(differs, differs) };
}

#endif
