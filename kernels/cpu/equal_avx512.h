/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Compares 64 pixels with 64 others: bit i is set when pixels i are equal. AVX-512. */
#ifndef CCL_CPU_EQUAL_AVX512_H
#define CCL_CPU_EQUAL_AVX512_H

#include <immintrin.h>
#include <stdint.h>

static inline uint64_t equal_u8(const uint8_t *p, const uint8_t *q)
{
    return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(p), _mm512_loadu_si512(q));
}

static inline uint64_t equal_u16(const uint8_t *p, const uint8_t *q)
{
    const __mmask32 left = _mm512_cmpeq_epi16_mask(_mm512_loadu_si512(p), _mm512_loadu_si512(q));
    const __mmask32 right = _mm512_cmpeq_epi16_mask(_mm512_loadu_si512(p + 64), _mm512_loadu_si512(q + 64));
    return _mm512_kunpackd(right, left); /* gcc 12 with -fsanitize=undefined loses bits of a shift and an or */
}

#endif
