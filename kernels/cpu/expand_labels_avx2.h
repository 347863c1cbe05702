/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Labels of runs -> label at each pixel. AVX2: eight pixels in one permutation. */
#ifndef CCL_CPU_EXPAND_LABELS_AVX2_H
#define CCL_CPU_EXPAND_LABELS_AVX2_H

#include "byte_table.h"
#include "host/words.h"

#include <immintrin.h>

/* Rows with more runs per word expand the labels of the row above; other rows look each label up. */
#define RUNS_PER_WORD_TO_EXPAND_LABELS 7

/* label_at[x] = label[number of ends left of x], for all pixels of `n_bytes` bytes of ends. */
static inline void expand_labels(uint32_t *label_at, const uint64_t *ends, const uint32_t *label, uint32_t n_bytes)
{
    for (uint32_t w = 0; w < n_bytes / 8; w++) {
        uint64_t e = ends[w];
#pragma GCC unroll 8
        for (uint32_t i = 0; i < 8; i++, e >>= 8, label_at += 8) {
            const __m256i next = _mm256_loadu_si256((const __m256i *)label);
            const __m128i before = _mm_loadl_epi64((const __m128i *)ccl_byte_ranks[e & 255]);
            _mm256_storeu_si256((__m256i *)label_at, _mm256_permutevar8x32_epi32(next, _mm256_cvtepu8_epi32(before)));
            label += ones(e & 255);
        }
    }
}

#endif
