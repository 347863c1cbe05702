/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* 64 pixels -> one word: bit i is set when pixel i is greater than the threshold. AVX-512. */
#ifndef CCL_CPU_BITS_AVX512_H
#define CCL_CPU_BITS_AVX512_H

#include <immintrin.h>
#include <stdint.h>

static inline uint64_t pack64_u8(const uint8_t *pixels, unsigned threshold)
{
    return _mm512_cmpgt_epu8_mask(_mm512_loadu_si512(pixels), _mm512_set1_epi8((char)threshold));
}

static inline uint64_t pack64_u16(const uint8_t *pixels, unsigned threshold)
{
    const __m512i t = _mm512_set1_epi16((short)threshold);
    const uint64_t low = _mm512_cmpgt_epu16_mask(_mm512_loadu_si512(pixels), t);
    const uint64_t high = _mm512_cmpgt_epu16_mask(_mm512_loadu_si512(pixels + 64), t);
    return low | high << 32;
}

#endif
