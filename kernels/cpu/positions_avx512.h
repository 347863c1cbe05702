/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The positions of the bits of a word: 0..63 compressed by the word. AVX-512 VBMI2. */
#ifndef CCL_CPU_POSITIONS_AVX512_H
#define CCL_CPU_POSITIONS_AVX512_H

#include "host/words.h"

#include <immintrin.h>

static const uint8_t counting[64] __attribute__((aligned(64))) = {
    0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
    22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
    44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63,
};

/* Appends base + i for each bit i of t, ascending; `n` = ones(t). May write up to 32 entries past the returned end. */
static inline uint16_t *put_positions(uint16_t *x, uint64_t t, uint32_t n, uint32_t base)
{
    /* In a register, then stored whole: compressing to memory is slow on some CPUs. */
    const __m512i p = _mm512_maskz_compress_epi8(t, _mm512_load_si512(counting));
    const __m512i from = _mm512_set1_epi16((short)base);
    _mm512_storeu_si512(x, _mm512_add_epi16(_mm512_cvtepu8_epi16(_mm512_castsi512_si256(p)), from));
    if (n > 32)
        _mm512_storeu_si512(x + 32, _mm512_add_epi16(_mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(p, 1)), from));
    return x + n;
}

#endif
