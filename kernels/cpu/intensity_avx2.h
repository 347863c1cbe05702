/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The first pixels of each run of a row: those in a window of 32 pixels. AVX2. Lengths of runs are random, so there is no branch
 * on them. Many windows cross a cache line: to move them costs more than it gains.
 *
 *     row       . . # # # # # .     lanes outside the run are 0
 *     weights    0   2   2   1      of the samples of chroma below: pixels of the run
 */
#ifndef CCL_CPU_INTENSITY_AVX2_H
#define CCL_CPU_INTENSITY_AVX2_H

#include "intensity_strip.h"

#include <immintrin.h>

enum { WINDOW = 32 };

/* Read from WINDOW - n on: the first n lanes are all ones. */
static const uint8_t window_lanes[2 * WINDOW] = {
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255
};

static inline __m256i load_32(const void *from)
{
    return _mm256_loadu_si256((const __m256i *)from);
}

/* The lanes x0..x1-1. */
static inline __m256i lanes_used(uint32_t x0, uint32_t x1)
{
    return _mm256_andnot_si256(load_32(window_lanes + WINDOW - x0), load_32(window_lanes + WINDOW - x1));
}

/* Adds the lanes of four vectors. */
static inline __m128i add_lanes(__m256i a, __m256i b, __m256i c, __m256i d)
{
    const __m256i ab = _mm256_add_epi32(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
    const __m256i cd = _mm256_add_epi32(_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
    const __m256i all = _mm256_add_epi32(_mm256_unpacklo_epi64(ab, cd), _mm256_unpackhi_epi64(ab, cd));
    return _mm_add_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
}

/* Sums of 32 lanes, as of CclLuma: sum, squares, k, kk. */
static inline __m128i window_sums(__m256i value)
{
    const __m256i lane = _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
                                          24, 25, 26, 27, 28, 29, 30, 31);
    const __m256i square_low = _mm256_setr_epi16(0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121, 144, 169, 196, 225);
    const __m256i square_high = _mm256_setr_epi16(256, 289, 324, 361, 400, 441, 484, 529, 576, 625, 676, 729, 784, 841, 900, 961);
    const __m256i low = _mm256_cvtepu8_epi16(_mm256_castsi256_si128(value));
    const __m256i high = _mm256_cvtepu8_epi16(_mm256_extracti128_si256(value, 1));
    const __m256i sum = _mm256_sad_epu8(value, _mm256_setzero_si256());
    const __m256i squares = _mm256_add_epi32(_mm256_madd_epi16(low, low), _mm256_madd_epi16(high, high));
    const __m256i k = _mm256_madd_epi16(_mm256_maddubs_epi16(value, lane), _mm256_set1_epi16(1));
    const __m256i kk = _mm256_add_epi32(_mm256_madd_epi16(low, square_low), _mm256_madd_epi16(high, square_high));
    return add_lanes(sum, squares, k, kk);
}

/* The smallest of the lanes in use as 16 bits, then 255 - the largest. */
static inline uint32_t window_extremes(__m256i value, __m256i used)
{
    const __m256i ones = _mm256_set1_epi8(-1);
    const __m256i up = _mm256_or_si256(value, _mm256_andnot_si256(used, ones)), down = _mm256_xor_si256(value, ones);
    const __m256i half = _mm256_min_epu8(_mm256_permute2x128_si256(up, down, 0x20), _mm256_permute2x128_si256(up, down, 0x31));
    const __m256i words = _mm256_min_epu8(half, _mm256_srli_epi16(half, 8));
    const __m128i min = _mm_minpos_epu16(_mm256_castsi256_si128(words)),
                  max = _mm_minpos_epu16(_mm256_extracti128_si256(words, 1));
    return (uint32_t)_mm_cvtsi128_si32(_mm_unpacklo_epi16(min, max));
}

/* Adds the lanes in use of the samples; the first sample is pixel x0 of row y. */
ALWAYS_INLINE void add_luma_window(CclIntensityCounts *c, const uint8_t *samples, __m256i used, uint64_t x0, uint64_t y)
{
    const __m256i value = _mm256_and_si256(load_32(samples), used);
    const uint32_t extremes = window_extremes(value, used);
    const uint16_t min = (uint16_t)extremes, max = (uint16_t)(255 - (extremes >> 16));
    const __m128i sums = window_sums(value);
    const uint64_t sum = (uint32_t)_mm_cvtsi128_si32(sums), k = (uint32_t)_mm_extract_epi32(sums, 2);
    const uint64_t x = k + x0 * sum, y_sum = y * sum;
    c->min = min < c->min ? min : c->min;
    c->max = max > c->max ? max : c->max;
    c->sum += sum;
    c->squares += (uint32_t)_mm_extract_epi32(sums, 1);
    c->x += x;
    c->y += y_sum;
    c->xx[0] += (uint32_t)_mm_extract_epi32(sums, 3) + x0 * (k + x);
    c->xy[0] += x * y;
    c->yy[0] += y * y_sum;
}

/* Runs of several rows, side by side: loops over the few runs of each row would end where no branch predictor expects it. */
enum { BATCH = 96, BATCH_PADDING = 8 };

typedef struct RunBatch {
    uint32_t n;
    uint16_t x[2 * (BATCH + BATCH_PADDING)];
    uint32_t label[BATCH + BATCH_PADDING], y[BATCH + BATCH_PADDING];
    const uint8_t *row[BATCH + BATCH_PADDING]; /* of luma */
    size_t chroma_at[BATCH + BATCH_PADDING];   /* of rows of chroma, from its first sample */
} RunBatch;

/* What comes next: run `from` of row y, which is the strip's stored row i. */
typedef struct NextRuns {
    const CclStrip *strip;
    uint32_t i, y, from;
} NextRuns;

/* Fills up to BATCH_PADDING entries behind the last. */
static inline void put_runs(RunBatch *batch, const NextRuns *next, uint32_t n)
{
    const CclStrip *const strip = next->strip;
    const CclPicture *const picture = strip->mask->picture;
    const size_t first = (size_t)strip->stored[next->i].first_run + next->from;
    const __m256i y = _mm256_set1_epi32((int)next->y);
    const __m256i row = _mm256_set1_epi64x((long long)((uintptr_t)picture->luma + next->y * picture->stride));
    const __m256i chroma_at = _mm256_set1_epi64x((long long)((next->y >> picture->shift_y) * picture->chroma_stride));

    for (uint32_t k = 0; k < n; k += 8) {
        const uint32_t to = batch->n + k;
        memcpy(batch->x + 2 * to, strip->stored_x + 2 * (first + k), 8 * 2 * sizeof *batch->x);
        memcpy(batch->label + to, strip->stored_labels + first + k, 8 * sizeof *batch->label);
        _mm256_storeu_si256((__m256i *)(batch->y + to), y);
        _mm256_storeu_si256((__m256i *)(batch->row + to), row);
        _mm256_storeu_si256((__m256i *)(batch->row + to + 4), row);
        _mm256_storeu_si256((__m256i *)(batch->chroma_at + to), chroma_at);
        _mm256_storeu_si256((__m256i *)(batch->chroma_at + to + 4), chroma_at);
    }
    batch->n += n;
}

static void fill_batch(RunBatch *batch, NextRuns *next)
{
    const CclStrip *const strip = next->strip;
    batch->n = 0;
    while (next->i < strip->n_stored && batch->n < BATCH) {
        const CclStoredRow *const stored = &strip->stored[next->i];
        const uint32_t left = stored->n - next->from, n = left < BATCH - batch->n ? left : BATCH - batch->n;
        put_runs(batch, next, n);
        next->from += n;
        if (n < left)
            return;
        next->from = 0;
        if (++next->y < stored->y1)
            continue;
        if (++next->i < strip->n_stored)
            next->y = strip->stored[next->i].y0;
    }
}

/* Few samples are read, and most are not in a cache. Most runs are in one or two cache lines. */
ALWAYS_INLINE void fetch_run(const RunBatch *batch, size_t i, const CclPicture *picture)
{
    const uint8_t *const blue = picture->chroma[0], *const red = picture->chroma[1];
    const unsigned shift = picture->shift_x, step = picture->chroma_step;
    const uint32_t x0 = batch->x[2 * i], last = batch->x[2 * i + 1] - 1u;
    __builtin_prefetch(batch->row[i] + x0);
    __builtin_prefetch(batch->row[i] + last);
    if (!blue)
        return;
    __builtin_prefetch(blue + batch->chroma_at[i] + (x0 >> shift) * step);
    __builtin_prefetch(blue + batch->chroma_at[i] + (last >> shift) * step);
    __builtin_prefetch(red + batch->chroma_at[i] + (x0 >> shift) * step);
    __builtin_prefetch(red + batch->chroma_at[i] + (last >> shift) * step);
}

/* Chroma that is half as wide as the mask. */
typedef struct HalfChroma {
    const uint8_t *plane[2]; /* NULL: it is not like that */
    bool pairs, swapped;     /* plane[0] has both, plane[1] is not read; red first */
} HalfChroma;

static inline HalfChroma half_chroma(const CclPicture *picture)
{
    const uint8_t *const blue = picture->chroma[0], *const red = picture->chroma[1];
    const bool swapped = blue && blue == red + 1, pairs = swapped || (blue && red == blue + 1);
    if (!blue || picture->shift_x != 1 || pairs != (picture->chroma_step == 2))
        return (HalfChroma){ .plane = { NULL, NULL } };
    return (HalfChroma){ .plane = { swapped ? red : blue, red }, .pairs = pairs, .swapped = swapped };
}

/* at: of the row; x0: even. */
ALWAYS_INLINE void add_chroma_window(CclIntensityCounts *c, const HalfChroma *chroma, size_t at, __m256i used, uint32_t x0,
                                     bool pairs)
{
    const __m256i weights = _mm256_maddubs_epi16(_mm256_set1_epi8(1), _mm256_and_si256(used, _mm256_set1_epi8(1)));
    __m128i *const to = (__m128i *)c->chroma;
    __m256i blue, red;
    if (pairs) {
        const __m256i both = load_32(chroma->plane[0] + at + x0);
        blue = _mm256_and_si256(both, _mm256_set1_epi16(255));
        red = _mm256_srli_epi16(both, 8);
    } else {
        blue = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(chroma->plane[0] + at + x0 / 2)));
        red = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(chroma->plane[1] + at + x0 / 2)));
    }
    blue = _mm256_madd_epi16(blue, weights);
    red = _mm256_madd_epi16(red, weights);
    const __m256i turns = _mm256_add_epi32(_mm256_unpacklo_epi32(blue, red), _mm256_unpackhi_epi32(blue, red));
    const __m128i half = _mm_add_epi32(_mm256_castsi256_si128(turns), _mm256_extracti128_si256(turns, 1));
    const __m128i sums = _mm_cvtepu32_epi64(_mm_add_epi32(half, _mm_unpackhi_epi64(half, half)));
    const __m128i ordered = pairs && chroma->swapped ? _mm_shuffle_epi32(sums, _MM_SHUFFLE(1, 0, 3, 2)) : sums;
    _mm_storeu_si128(to, _mm_add_epi64(_mm_loadu_si128(to), ordered));
}

/* The first pixel of the window for a run; even. */
static inline uint32_t window_start(uint32_t x0, uint32_t width)
{
    const uint32_t last = width - WINDOW;
    return (x0 < last ? x0 : last) & ~1u;
}

/* Adds the pixels in the windows of the runs; those that have more stay in the batch, with the rest. Meanwhile fetches the first
 * runs of the next batch. half: there is chroma. */
ALWAYS_INLINE void add_windows(const CclStrip *strip, RunBatch *batch, const RunBatch *next, const HalfChroma *chroma, bool half,
                               bool pairs)
{
    const CclPicture *const picture = strip->mask->picture;
    CclIntensityCounts *const intensity = strip->intensity;
    const uint32_t width = strip->mask->width, n = batch->n;
    uint32_t n_left = 0;

    for (size_t i = 0; i < n; i++) {
        if (next && i < next->n)
            fetch_run(next, i, picture);
        const uint8_t *const row = batch->row[i];
        const uint32_t x0 = batch->x[2 * i], x1 = batch->x[2 * i + 1], start = window_start(x0, width);
        const uint32_t end = x1 - start < WINDOW ? x1 - start : WINDOW, label = batch->label[i], y = batch->y[i];
        const size_t chroma_at = batch->chroma_at[i];
        const __m256i used = lanes_used(x0 - start, end);
        CclIntensityCounts *const c = &intensity[label];
        batch->x[2 * n_left] = (uint16_t)(start + WINDOW);
        batch->x[2 * n_left + 1] = (uint16_t)x1;
        batch->label[n_left] = label;
        batch->y[n_left] = y;
        batch->row[n_left] = row;
        batch->chroma_at[n_left] = chroma_at;
        n_left += start + WINDOW < x1;
        add_luma_window(c, row + start, used, start, y);
        if (half)
            add_chroma_window(c, chroma, chroma_at, used, start, pairs);
    }
    batch->n = n_left;
}

/* Runs longer than this many windows are finished one by one. */
enum { MAX_WINDOWS = 4 };

static void measure_batch(const CclStrip *strip, RunBatch *batch, const RunBatch *next, const HalfChroma *chroma)
{
    const CclPicture *const picture = strip->mask->picture;
    const bool other_chroma = picture->chroma[0] && !chroma->plane[0];

    for (size_t i = 0; i < batch->n && other_chroma; i++)
        add_chroma(&strip->intensity[batch->label[i]], picture, batch->x[2 * i], batch->x[2 * i + 1], batch->y[i], false);
    for (unsigned k = 0; k < MAX_WINDOWS && batch->n; k++, next = NULL)
        if (!chroma->plane[0])
            add_windows(strip, batch, next, chroma, false, false);
        else if (chroma->pairs)
            add_windows(strip, batch, next, chroma, true, true);
        else
            add_windows(strip, batch, next, chroma, true, false);
    for (size_t i = 0; i < batch->n; i++) {
        CclIntensityCounts *const c = &strip->intensity[batch->label[i]];
        const uint32_t x0 = batch->x[2 * i], x1 = batch->x[2 * i + 1];
        const CclLuma luma = luma_of_run(batch->row[i], x0, x1);
        add_luma(c, &luma, x0, batch->y[i], false);
        if (chroma->plane[0])
            add_chroma(c, picture, x0, x1, batch->y[i], false);
    }
}

static void measure_intensity_by_windows(const CclStrip *strip)
{
    const CclPicture *const picture = strip->mask->picture;
    const HalfChroma chroma = half_chroma(picture);
    NextRuns next = { strip, 0, strip->stored[0].y0, 0 };
    RunBatch batch[2];

    if (picture->sample_size == 2 || strip->mask->width < WINDOW) {
        measure_intensity(strip);
        return;
    }
    begin_intensity(strip);
    fill_batch(&batch[0], &next);
    for (unsigned k = 0; batch[k].n; k = !k) {
        fill_batch(&batch[!k], &next);
        measure_batch(strip, &batch[k], &batch[!k], &chroma);
    }
}

#endif
