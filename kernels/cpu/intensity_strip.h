/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The runs of a strip -> sums of the picture under them, for each provisional label; compiled for each tier, with its
 * instructions. The tier's luma_*.h must come before. */
#ifndef CCL_CPU_INTENSITY_STRIP_H
#define CCL_CPU_INTENSITY_STRIP_H

#include "intensity.h"
#include "tier.h"

static inline CclLuma wide_luma_of_run(const uint8_t *row, uint32_t x0, uint32_t x1)
{
    CclLuma luma = ccl_no_luma;
    for (uint32_t x = x0; x < x1; x++)
        add_sample(&luma, x - x0, wide_sample(row, x));
    return luma;
}

/* Sums of samples of 8 bits fit in 64 bits: y^2 I of a full mask of CCL_MAX_SIZE squared is below 2^63. */
ALWAYS_INLINE void add_moment(uint64_t sum[2], uint64_t value, bool wide)
{
    if (wide)
        add_wide(sum, value, 0);
    else
        sum[0] += value;
}

ALWAYS_INLINE void add_luma(CclIntensityCounts *c, const CclLuma *luma, uint64_t x0, uint64_t y, bool wide)
{
    const uint64_t x = luma->k + x0 * luma->sum, xx = luma->kk + x0 * (luma->k + x), y_sum = y * luma->sum;
    c->min = luma->min < c->min ? luma->min : c->min;
    c->max = luma->max > c->max ? luma->max : c->max;
    c->sum += luma->sum;
    c->squares += luma->squares;
    c->x += x;
    c->y += y_sum;
    add_moment(c->xx, xx, wide);
    add_moment(c->xy, x * y, wide);
    add_moment(c->yy, y * y_sum, wide);
}

static inline uint64_t sum_of_wide_samples(const uint8_t *row, uint32_t first, uint32_t n, uint32_t step)
{
    uint64_t sum = 0;
    for (uint32_t i = first; i < first + n; i++)
        sum += wide_sample(row, (size_t)i * step);
    return sum;
}

/* A sample of chroma counts for each pixel of the run that it belongs to: the first and the last sample may belong to pixels
 * beside the run. */
ALWAYS_INLINE void add_chroma(CclIntensityCounts *c, const CclPicture *picture, uint32_t x0, uint32_t x1, uint32_t y, bool wide)
{
    const unsigned shift = picture->shift_x, step = picture->chroma_step;
    const uint32_t first = x0 >> shift, last = (x1 - 1) >> shift, n = last - first + 1;
    const uint64_t before = x0 - (first << shift), behind = ((last + 1) << shift) - x1;
    const size_t at = (size_t)(y >> picture->shift_y) * picture->chroma_stride;

    for (unsigned k = 0; k < 2; k++) {
        const uint8_t *const row = (const uint8_t *)picture->chroma[k] + at;
        const size_t from = (size_t)first * step, to = (size_t)last * step;
        if (wide)
            c->chroma[k] += (sum_of_wide_samples(row, first, n, step) << shift) - before * wide_sample(row, from) -
                            behind * wide_sample(row, to);
        else
            c->chroma[k] += ((step == 1 ? sum_of_samples(row, first, n) : sum_of_second_samples(row, first, n)) << shift) -
                            before * row[from] - behind * row[to];
    }
}

/* A row of the picture and its runs: row y of the strip's stored row i. */
typedef struct RunsRow {
    const CclStrip *strip;
    uint32_t i, y;
} RunsRow;

/* False past the last row. */
static inline bool next_row(RunsRow *row)
{
    if (++row->y < row->strip->stored[row->i].y1)
        return true;
    if (++row->i >= row->strip->n_stored)
        return false;
    row->y = row->strip->stored[row->i].y0;
    return true;
}

/* Most runs are in one or two cache lines: no branch on which. */
ALWAYS_INLINE void fetch(const uint8_t *row, size_t from, size_t to)
{
    __builtin_prefetch(row + from);
    __builtin_prefetch(row + to - 1);
    for (size_t i = from + 64; i < to; i += 64)
        __builtin_prefetch(row + i);
}

/* Few samples are read, and most are not in a cache. Inline: GCC drops the call of a function that only prefetches. */
ALWAYS_INLINE void fetch_row(const RunsRow *at)
{
    const CclStrip *const strip = at->strip;
    const CclStoredRow *const stored = &strip->stored[at->i];
    const CclPicture *const picture = strip->mask->picture;
    const size_t size = picture->sample_size == 2 ? 2 : 1, step = size * picture->chroma_step;
    const uint8_t *const row = (const uint8_t *)picture->luma + (size_t)at->y * picture->stride;
    const uint16_t *const x = strip->stored_x + 2 * (size_t)stored->first_run;
    const size_t below = (size_t)(at->y >> picture->shift_y) * picture->chroma_stride;

    for (size_t i = 0; i < stored->n; i++)
        fetch(row, x[2 * i] * size, x[2 * i + 1] * size);
    for (unsigned k = 0; k < 2 && picture->chroma[k] && (at->y & ((1u << picture->shift_y) - 1)) == 0; k++)
        for (size_t i = 0; i < stored->n; i++)
            fetch((const uint8_t *)picture->chroma[k] + below, (x[2 * i] >> picture->shift_x) * step,
                  ((x[2 * i + 1] - 1u) >> picture->shift_x) * step + 1);
}

ALWAYS_INLINE void measure_row_of_runs(const RunsRow *at, bool wide)
{
    const CclStrip *const strip = at->strip;
    const CclStoredRow *const stored = &strip->stored[at->i];
    const CclPicture *const picture = strip->mask->picture;
    const uint8_t *const row = (const uint8_t *)picture->luma + (size_t)at->y * picture->stride;
    const uint32_t *const label = strip->stored_labels + stored->first_run;
    const uint16_t *const x = strip->stored_x + 2 * (size_t)stored->first_run;

    for (size_t i = 0; i < stored->n; i++) {
        CclIntensityCounts *const c = &strip->intensity[label[i]];
        const uint32_t x0 = x[2 * i], x1 = x[2 * i + 1];
        const CclLuma luma = wide ? wide_luma_of_run(row, x0, x1) : luma_of_run(row, x0, x1);
        add_luma(c, &luma, x0, at->y, wide);
        if (picture->chroma[0])
            add_chroma(c, picture, x0, x1, at->y, wide);
    }
}

/* Rows ahead of the current one that are fetched. */
enum { ROWS_AHEAD = 4 };

static void begin_intensity(const CclStrip *strip)
{
    const CclIntensityCounts none = { .min = UINT16_MAX, .has_chroma = strip->mask->picture->chroma[0] != NULL };
    for (uint32_t i = strip->first_label; i < strip->next_label; i++)
        strip->intensity[i] = none;
}

ALWAYS_INLINE void measure_samples(const CclStrip *strip, bool wide)
{
    RunsRow at = { strip, 0, strip->stored[0].y0 }, ahead = at;
    bool is_ahead = true;

    for (uint32_t i = 0; i < ROWS_AHEAD && is_ahead; i++)
        is_ahead = next_row(&ahead);
    begin_intensity(strip);
    do {
        if (is_ahead) {
            fetch_row(&ahead);
            is_ahead = next_row(&ahead);
        }
        measure_row_of_runs(&at, wide);
    } while (next_row(&at));
}

static void measure_intensity(const CclStrip *strip)
{
    if (strip->mask->picture->sample_size == 2)
        measure_samples(strip, true);
    else
        measure_samples(strip, false);
}

#endif
