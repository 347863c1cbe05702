/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Runs -> sums. AVX2: the sums of a label are two vectors. */
#ifndef CCL_CPU_MEASURE_AVX2_H
#define CCL_CPU_MEASURE_AVX2_H

#include "byte_table.h"
#include "measure.h"
#include "host/words.h"

#include <immintrin.h>
#include <string.h>

/* The same for all runs of identical rows. */
typedef struct RowVectors {
    __m256i factor; /* sum of y, of y squared, of y, 0: each below 2^32 */
    __m256i y1;     /* at its position in the box, with the bits that complement x0 */
    __m128i rows;   /* their number, in both lanes */
} RowVectors;

/* A CclPrefix. */
static inline __m128i run_vector(const CclPrefix *prefix, uint32_t x0, uint32_t x1)
{
    const __m128i to = _mm_loadu_si128((const __m128i *)&prefix[x1]);
    return _mm_sub_epi64(to, _mm_loadu_si128((const __m128i *)&prefix[x0]));
}

/* Both ends of a run, in every lane. */
static inline __m256i ends_vector(const uint16_t *x)
{
    uint32_t ends;
    memcpy(&ends, x, sizeof ends);
    return _mm256_set1_epi32((int)ends);
}

/* 64 bits times 32. */
static inline __m128i times(__m128i v, __m128i factor)
{
    return _mm_add_epi64(_mm_mul_epu32(v, factor), _mm_slli_epi64(_mm_mul_epu32(_mm_srli_epi64(v, 32), factor), 32));
}

/* Adds runs of identical rows (a CclPrefix) with the ends of the box around them. one: there is one row. */
ALWAYS_INLINE void add_vector(CclComponent *sums, __m128i runs, __m256i ends, const RowVectors *row, bool one)
{
    const __m256i by_1 = _mm256_setr_epi32(0, 7, 1, 7, 7, 7, 2, 3); /* n, x, 0, xx */
    const __m256i by_y = _mm256_setr_epi32(1, 7, 0, 7, 0, 7, 7, 7);   /* x, n, n, 0 */
    const __m256i place = _mm256_setr_epi8(-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, /* m11 m02 */
                                           -1, -1, -1, -1, 0, 1, -1, -1, 2, 3, -1, -1, -1, -1, -1, -1);
    const __m256i run = _mm256_zextsi128_si256(runs);
    const __m256i box = _mm256_xor_si256(_mm256_shuffle_epi8(ends, place), row->y1);
    const __m256i products = _mm256_mul_epu32(_mm256_permutevar8x32_epi32(run, by_y), row->factor); /* xy, yy, y, 0 */
    const __m256i all_rows = one ? run : _mm256_zextsi128_si256(times(runs, row->rows));
    const __m256i plain = _mm256_permutevar8x32_epi32(all_rows, by_1);
    __m256i *const s = (__m256i *)sums;

    const __m256i low = _mm256_load_si256(s), high = _mm256_load_si256(s + 1);
    _mm256_store_si256(s, _mm256_add_epi64(low, _mm256_blend_epi32(plain, products, 0x30)));
    const __m256i grown = _mm256_max_epu16(high, box);
    _mm256_store_si256(s + 1, _mm256_blend_epi32(_mm256_add_epi64(high, products), grown, 0xf0));
}

/* The sums of all runs of a row. */
static inline __m128i row_total(const uint16_t *x, uint32_t n)
{
    const __m256i sign = _mm256_set1_epi32(0x0001ffff); /* -x0, +x1 */
    __m256i count = _mm256_setzero_si256(), squares = count, cubes = count;

    for (uint32_t k = 0; k < n; k += 8) {
        __m256i v = _mm256_loadu_si256((const __m256i *)(x + 2 * k));
        if (n - k < 8) {
            const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
            v = _mm256_and_si256(v, _mm256_cmpgt_epi32(_mm256_set1_epi32((int)(n - k)), lane));
        }
        const __m256i from = _mm256_and_si256(v, _mm256_set1_epi32(0xffff)), to = _mm256_srli_epi32(v, 16);
        const __m256i from2 = _mm256_srli_epi64(from, 32), to2 = _mm256_srli_epi64(to, 32);
        count = _mm256_add_epi32(count, _mm256_madd_epi16(v, sign));
        squares = _mm256_add_epi32(squares, _mm256_madd_epi16(v, _mm256_sign_epi16(v, sign)));
        cubes = _mm256_add_epi64(cubes, _mm256_mul_epu32(_mm256_mul_epu32(to, to), to));
        cubes = _mm256_add_epi64(cubes, _mm256_mul_epu32(_mm256_mul_epu32(to2, to2), to2));
        cubes = _mm256_sub_epi64(cubes, _mm256_mul_epu32(_mm256_mul_epu32(from, from), from));
        cubes = _mm256_sub_epi64(cubes, _mm256_mul_epu32(_mm256_mul_epu32(from2, from2), from2));
    }
    uint32_t counts[8], square[8];
    uint64_t cube[4];
    _mm256_storeu_si256((__m256i *)counts, count);
    _mm256_storeu_si256((__m256i *)square, squares);
    _mm256_storeu_si256((__m256i *)cube, cubes);
    uint64_t pixels = 0, sum2 = 0;
    for (unsigned i = 0; i < 8; i++)
        pixels += counts[i], sum2 += square[i];
    /* Sums of 0..x-1: x (x - 1) / 2, and of their squares: (2 x^3 - 3 x^2 + x) / 6. */
    const uint64_t sum3 = cube[0] + cube[1] + cube[2] + cube[3];
    const uint64_t sum_x = (sum2 - pixels) / 2, sum_xx = (2 * sum3 - 3 * sum2 + pixels) / 6;
    return _mm_set_epi64x((long long)sum_xx, (long long)(pixels | sum_x << 32));
}

/* The label that two of three samples have, or UINT32_MAX. */
static inline uint32_t frequent_label(const CclRow *row)
{
    const uint32_t a = row->label[row->n / 4], b = row->label[row->n / 2], c = row->label[row->n - row->n / 4];
    return a == b || a == c ? a : b == c ? b : UINT32_MAX;
}

/* Lists the runs whose label is not `label`; returns their number. May write up to eight past the last. */
static inline uint32_t find_others(const uint32_t *labels, uint32_t n, uint32_t label, uint16_t *others)
{
    const __m256i one = _mm256_set1_epi32((int)label);
    uint32_t n_others = 0;
    for (uint32_t k = 0; k < n; k += 8) {
        const __m256i same = _mm256_cmpeq_epi32(_mm256_loadu_si256((const __m256i *)(labels + k)), one);
        uint32_t differ = ~(uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(same)) & 255;
        if (n - k < 8)
            differ &= (uint32_t)below(n - k);
        const __m128i at = _mm_cvtepu8_epi16(_mm_loadl_epi64((const __m128i *)ccl_byte_positions[differ]));
        _mm_storeu_si128((__m128i *)(others + n_others), _mm_add_epi16(at, _mm_set1_epi16((short)k)));
        n_others += ones(differ);
    }
    return n_others;
}

/* A label that more than half of a row's runs have, and the runs with other labels. */
typedef struct Majority {
    uint32_t label;
    const uint16_t *others;
    uint32_t n_others;
} Majority;

/* Adds the row's total minus the other runs to the label of the majority. This is one addition instead of a chain of dependent
 * ones. */
static inline void measure_majority(CclComponent *sums, const CclPrefix *prefix, const CclRow *row, const Majority *majority,
                                    const RowVectors *vectors, bool one)
{
    const uint16_t *const x = row->x;
    const uint32_t *const label = row->label;
    __m128i total = row_total(x, row->n);
    uint32_t first = 0, last = row->n - 1;

    for (uint32_t i = 0; i < majority->n_others; i++) {
        const size_t k = majority->others[i];
        const __m128i run = run_vector(prefix, x[2 * k], x[2 * k + 1]);
        total = _mm_sub_epi64(total, run);
        add_vector(&sums[label[k]], run, ends_vector(x + 2 * k), vectors, one);
    }
    while (label[first] != majority->label)
        first++;
    while (label[last] != majority->label)
        last--;
    const uint16_t box[2] = { x[2 * first], x[2 * last + 1] };
    add_vector(&sums[majority->label], total, ends_vector(box), vectors, one);
}

ALWAYS_INLINE void measure_each(CclComponent *sums, const CclPrefix *prefix, const CclRow *row,
                                const RowVectors *vectors, bool one)
{
    const uint16_t *const x = row->x;
    const uint32_t *const label = row->label;
    for (size_t k = 0, n = row->n; k < n; k++)
        add_vector(&sums[label[k]], run_vector(prefix, x[2 * k], x[2 * k + 1]), ends_vector(x + 2 * k), vectors, one);
}

/* Adds the runs of one or more identical rows to the sums of their labels. */
static void measure_runs(CclComponent *sums, const CclPrefix *prefix, const CclRow *row, const CclRowSums *rows,
                         uint16_t *scratch)
{
    if (rows->yy >> 32 || rows->n > 16) {
        measure_by_label(sums, prefix, row, rows);
        return;
    }
    const bool one = rows->n == 1;
    const RowVectors vectors = {
        .factor = _mm256_setr_epi64x((long long)rows->y, (long long)rows->yy, (long long)rows->y, 0),
        .y1 = _mm256_setr_epi64x(0, 0, (long long)0xffff00000000, (long long)((uint64_t)rows->y1 << 16)),
        .rows = _mm_set1_epi64x((long long)rows->n),
    };
    if (row->n >= 32 && frequent_label(row) != UINT32_MAX) {
        const uint32_t frequent = frequent_label(row), n_others = find_others(row->label, row->n, frequent, scratch);
        if (n_others < row->n / 2) {
            measure_majority(sums, prefix, row, &(Majority){ frequent, scratch, n_others }, &vectors, one);
            return;
        }
    }
    if (one)
        measure_each(sums, prefix, row, &vectors, true);
    else
        measure_each(sums, prefix, row, &vectors, false);
}

#endif
