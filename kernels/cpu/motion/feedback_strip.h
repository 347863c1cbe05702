/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Method "feedback", from pixels to bits, for rows of a picture; compiled for each tier, with its instructions. Blocks of 64 pixels
 * go through loops in 16-bit arithmetic, which compilers turn into vector instructions. What such a loop cannot decide, it
 * returns as bits: those pixels go through the rules of motion_feedback.h one by one.
 */
#ifndef CCL_CPU_FEEDBACK_STRIP_H
#define CCL_CPU_FEEDBACK_STRIP_H

#include "cpu_feedback.h"
#include "strip16.h"

/* ---------------------------------------------------------------- blocks, bits */

static inline size_t row_at(const FeedbackSize *size, uint32_t y)
{
    return (size_t)y * size->words * BLOCK;
}

/* The bits of word w of a row that lie in the picture. */
static inline uint64_t bits_inside(const FeedbackSize *size, uint32_t w)
{
    const uint32_t rest = size->width - w * BLOCK;
    return rest >= BLOCK ? ~(uint64_t)0 : below(rest);
}

static inline void rows_of_chroma(const FeedbackStrip *strip, uint32_t *y0, uint32_t *y1)
{
    *y0 = strip->data->chroma.width ? strip->y0 / 2 : 0;
    *y1 = strip->data->chroma.width ? (strip->y1 + 1) / 2 : 0;
}

/* Each of 32 bits twice. */
static inline uint64_t twice(uint64_t bits)
{
    bits = (bits | bits << 16) & 0x0000ffff0000ffffu;
    bits = (bits | bits << 8) & 0x00ff00ff00ff00ffu;
    bits = (bits | bits << 4) & 0x0f0f0f0f0f0f0f0fu;
    bits = (bits | bits << 2) & 0x3333333333333333u;
    bits = (bits | bits << 1) & 0x5555555555555555u;
    return bits | bits << 1;
}

/* Every second bit, from bit 0 on. */
static inline uint64_t halved(uint64_t bits)
{
    bits &= 0x5555555555555555u;
    bits = (bits | bits >> 1) & 0x3333333333333333u;
    bits = (bits | bits >> 2) & 0x0f0f0f0f0f0f0f0fu;
    bits = (bits | bits >> 4) & 0x00ff00ff00ff00ffu;
    bits = (bits | bits >> 8) & 0x0000ffff0000ffffu;
    return (bits | bits >> 16) & 0x00000000ffffffffu;
}

/* Bits to lanes of 0 and 65535. */
static inline void lanes_of(uint64_t bits, uint16_t *restrict lanes)
{
    uint8_t bytes[BLOCK];
    for (unsigned i = 0; i < 8; i++) {
        const uint64_t eight = (bits >> 8 * i & 255) * 0x0101010101010101u & 0x8040201008040201u;
        memcpy(bytes + 8 * i, &eight, 8);
    }
    for (unsigned i = 0; i < BLOCK; i++)
        lanes[i] = bytes[i] ? 65535 : 0;
}

/* A word of a row of bits, 0 outside of the image. */
static inline uint64_t word_at(const uint64_t *bits, const FeedbackSize *size, int w, int y)
{
    return w < 0 || w >= (int)size->words || y < 0 || y >= (int)size->height ? 0 : bits[(size_t)y * size->words + (size_t)w];
}

/* ---------------------------------------------------------------- ranges of the model */

#define RANGE_COLUMNS (BLOCK + 2 * FEEDBACK_FAR_RADIUS)

/* Smallest and largest of 64 samples' squares. */
typedef struct RangeBlock {
    uint16_t min[BLOCK], max[BLOCK];
} RangeBlock;

/* Columns x0 - FEEDBACK_FAR_RADIUS and so on of a row; the first and the last of the row repeat. */
static inline void load_columns(const uint16_t *restrict row, const FeedbackSize *size, int x0, uint16_t *restrict columns)
{
    const int first = x0 - FEEDBACK_FAR_RADIUS;
    if (first >= 0 && first + RANGE_COLUMNS <= (int)size->width) {
        memcpy(columns, row + first, RANGE_COLUMNS * sizeof *columns);
        return;
    }
    for (int i = 0; i < RANGE_COLUMNS; i++)
        columns[i] = row[feedback_clamp(first + i, 0, (int)size->width - 1)];
}

/* Of the squares of this radius around samples x0..x0+63 of row y. */
static void range_of_block(const uint16_t *plane, const FeedbackSize *size, int x0, int y, int radius, RangeBlock *restrict range)
{
    uint16_t low[RANGE_COLUMNS], high[RANGE_COLUMNS], columns[RANGE_COLUMNS];
    const int y0 = y < radius ? 0 : y - radius, y1 = y + radius < (int)size->height ? y + radius : (int)size->height - 1;
    const int from = FEEDBACK_FAR_RADIUS - radius;

    load_columns(plane + row_at(size, (uint32_t)y0), size, x0, low);
    memcpy(high, low, sizeof high);
    for (int j = y0 + 1; j <= y1; j++) {
        load_columns(plane + row_at(size, (uint32_t)j), size, x0, columns);
        for (int i = 0; i < RANGE_COLUMNS; i++) {
            low[i] = min16(low[i], columns[i]);
            high[i] = max16(high[i], columns[i]);
        }
    }
    memcpy(range->min, low + from, sizeof range->min);
    memcpy(range->max, high + from, sizeof range->max);
    for (int k = 1; k <= 2 * radius; k++)
        for (int i = 0; i < BLOCK; i++) {
            range->min[i] = min16(range->min[i], low[from + k + i]);
            range->max[i] = max16(range->max[i], high[from + k + i]);
        }
}

/* ---------------------------------------------------------------- smoothing */

static inline void add_rows(const uint8_t *restrict above, const uint8_t *restrict row, const uint8_t *restrict below_row,
                            uint16_t *restrict columns, uint32_t width)
{
    for (uint32_t x = 0; x < width; x++)
        columns[x] = (uint16_t)(above[x] + 2 * row[x] + below_row[x]);
}

/* Three pointers: of one, compilers would keep two values for the next round, and make no vectors. */
static inline void add_columns(const uint16_t *restrict left, const uint16_t *restrict middle, const uint16_t *restrict right,
                               uint16_t *restrict out, uint32_t width)
{
    for (uint32_t x = 0; x < width; x++)
        out[x] = (uint16_t)((left[x] + 2 * middle[x] + right[x]) << 4);
}

/* Row y of a plane, smoothed. columns: two more than the row has. */
static void smooth_row(const FeedbackPlane *plane, uint32_t y, uint16_t *columns, uint16_t *out)
{
    const uint32_t width = plane->width;
    const uint8_t *const row = plane->data + y * plane->stride;
    const uint8_t *const above = y ? row - plane->stride : row, *const below_row =
                                                                    y + 1 < plane->height ? row + plane->stride : row;
    add_rows(above, row, below_row, columns + 1, width);
    columns[0] = columns[1];
    columns[width + 1] = columns[width];
    add_columns(columns, columns + 1, columns + 2, out, width);
}

static void normalise_row(uint16_t *restrict value, uint32_t n, uint32_t gain)
{
    const uint16_t clipped = gain < FEEDBACK_ONE ? 65535 : 0;
    for (uint32_t x = 0; x < n; x++) {
        const uint16_t v = value[x];
        const uint32_t scaled = (v * gain + FEEDBACK_ONE / 2) >> 12;
        const uint16_t white = v >= FEEDBACK_CLIPPED ? clipped : 0;
        value[x] = (uint16_t)((scaled < 65535 ? scaled : 65535) | white);
    }
}

/* ---------------------------------------------------------------- the first picture, samples, a step of light */

static void fill16(uint16_t *values, size_t n, uint16_t value)
{
    for (size_t i = 0; i < n; i++)
        values[i] = value;
}

static void seed_luma(const CpuFeedback *f, size_t at, size_t n)
{
    const FeedbackModel *const m = &f->model;
    memcpy(m->mean + at, f->value + at, n * 2);
    fill16(m->weight + at, n, MOTION_ONE), fill16(m->deviation + at, n, FEEDBACK_DEVIATION_NEW);
    memset(m->extra + at, 0, n * 2), memset(m->candidate + at, 0, n * 2), memset(m->still + at, 0, n * 2);
    memset(m->rest + at, 0, n * sizeof *m->rest), memset(m->rises + at, 0, n), memset(m->ghost + at, 0, n);
}

static void seed_chroma(const CpuFeedback *f, size_t at, size_t n)
{
    const FeedbackModel *const m = &f->model;
    for (unsigned k = 0; k < 2; k++) {
        memcpy(m->uv_mean[0][k] + at, f->uv[k] + at, n * 2);
        memset(m->uv_mean[1][k] + at, 0, n * 2), memset(m->uv_candidate[k] + at, 0, n * 2);
    }
    fill16(m->uv_weight + at, n, MOTION_ONE), fill16(m->uv_deviation + at, n, FEEDBACK_CHROMA_DEVIATION_NEW);
}

static void feedback_seed(FeedbackStrip *strip)
{
    CpuFeedback *const f = strip->data;
    uint32_t c0, c1;
    rows_of_chroma(strip, &c0, &c1);
    for (uint32_t y = strip->y0; y < strip->y1; y++) {
        const size_t at = row_at(&f->luma, y);
        smooth_row(&f->planes[0], y, strip->columns, f->value + at);
        seed_luma(f, at, f->luma.words * BLOCK);
    }
    for (uint32_t y = c0; y < c1; y++) {
        const size_t at = row_at(&f->chroma, y);
        for (unsigned k = 0; k < 2; k++)
            smooth_row(&f->planes[1 + k], y, strip->columns, f->uv[k] + at);
        seed_chroma(f, at, f->chroma.words * BLOCK);
    }
}

static void feedback_sample(FeedbackStrip *strip)
{
    CpuFeedback *const f = strip->data;
    const FeedbackPlane *const luma = &f->planes[0];
    const uint32_t width = luma->width, height = luma->height;
    const uint32_t dy = feedback_row_step(height), dx = feedback_column_step(width);
    const bool few = f->control.in_mask < (uint64_t)width * height / 4;

    memset(&strip->samples, 0, sizeof strip->samples);
    for (uint32_t y = (strip->y0 + dy / 2 - 1) / dy * dy + dy / 2; y < strip->y1; y += dy) {
        const uint8_t *const above = luma->data + (y ? y - 1 : 0) * luma->stride, *const row = luma->data + y * luma->stride;
        const uint8_t *const below_row = luma->data + (y + 1 < height ? y + 1 : y) * luma->stride;
        const uint16_t *const mean = f->model.mean + row_at(&f->luma, y);
        const uint64_t *const mask = f->last_mask + (size_t)y * f->luma.words;
        uint32_t *const bins = strip->samples.ratios[feedback_band(y, height)];
        for (uint32_t x = dx / 2; x < width; x += dx) {
            const uint32_t value = feedback_smooth(above, row, below_row, x, width);
            const uint32_t bin = feedback_ratio_bin(value, mean[x], few && mask[x / 64] >> x % 64 & 1);
            strip->samples.luma[mean[x] >> 8]++;
            if (bin < FEEDBACK_BINS)
                bins[bin]++;
        }
    }
}

static void rescale_row(uint16_t *values, size_t n, uint32_t gain)
{
    for (size_t i = 0; i < n; i++)
        values[i] = (uint16_t)feedback_scale(values[i], gain);
}

static void rescale_chroma_row(uint16_t *values, size_t n, uint32_t gain)
{
    for (size_t i = 0; i < n; i++)
        values[i] = (uint16_t)feedback_scale_chroma(values[i], gain);
}

static void feedback_rescale(FeedbackStrip *strip)
{
    const CpuFeedback *const f = strip->data;
    const FeedbackModel *const m = &f->model;
    const uint32_t gain = (uint32_t)f->light.rescale;
    uint32_t c0, c1;
    rows_of_chroma(strip, &c0, &c1);
    const size_t at = row_at(&f->luma, strip->y0), n = row_at(&f->luma, strip->y1) - at;
    rescale_row(m->mean + at, n, gain);
    rescale_row(m->candidate + at, n, gain);
    for (size_t i = at; i < at + n; i++)
        rescale_row(m->rest[i].mean, 2, gain);
    const size_t uv_at = row_at(&f->chroma, c0), uv_n = row_at(&f->chroma, c1) - uv_at;
    for (unsigned k = 0; k < 2 && uv_n; k++) {
        rescale_chroma_row(m->uv_mean[0][k] + uv_at, uv_n, gain);
        rescale_chroma_row(m->uv_mean[1][k] + uv_at, uv_n, gain);
        rescale_chroma_row(m->uv_candidate[k] + uv_at, uv_n, gain);
    }
}

/* ---------------------------------------------------------------- chroma: compare */

/* Samples further from their first mode than their threshold. */
static inline uint64_t chroma_misses(const CpuFeedback *f, size_t at)
{
    const uint16_t *restrict const u = f->uv[0] + at, *restrict const v = f->uv[1] + at;
    const uint16_t *restrict const mean_u = f->model.uv_mean[0][0] + at, *restrict const mean_v = f->model.uv_mean[0][1] + at;
    const uint16_t *restrict const deviation = f->model.uv_deviation + at;
    uint8_t far_off[BLOCK];
    for (unsigned i = 0; i < BLOCK; i++) {
        const uint16_t du = distance16(u[i], mean_u[i]), dv = distance16(v[i], mean_v[i]);
        const uint16_t sum = (uint16_t)(du + dv);
        const uint16_t threshold = (uint16_t)(FEEDBACK_CHROMA_THRESHOLD + deviation[i] * FEEDBACK_CHROMA_DEVIATIONS);
        const uint16_t carry = sum < du ? 255 : 0, is_far = sum > threshold ? 255 : 0;
        far_off[i] = (uint8_t)(carry | is_far);
    }
    return pack64_u8(far_off, 0);
}

static FeedbackChromaRange chroma_range(const RangeBlock *ranges, uint32_t i)
{
    return (FeedbackChromaRange){ { ranges[0].min[i], ranges[1].min[i] }, { ranges[0].max[i], ranges[1].max[i] } };
}

static void load_chroma_ranges(const CpuFeedback *f, int x0, int y, RangeBlock *ranges)
{
    for (unsigned k = 0; k < 2; k++)
        range_of_block(f->model.uv_mean[0][k], &f->chroma, x0, y, FEEDBACK_FAR_RADIUS_CHROMA, &ranges[k]);
}

static void classify_chroma_word(const CpuFeedback *f, uint32_t w, uint32_t y)
{
    const FeedbackModel *const m = &f->model;
    const size_t at = row_at(&f->chroma, y) + w * BLOCK, word = (size_t)y * f->chroma.words + w;
    const uint8_t *const rises = m->rises + row_at(&f->luma, 2 * y) + 2 * w * BLOCK;
    uint64_t misses = f->light.rescale ? 0 : chroma_misses(f, at) & bits_inside(&f->chroma, w);
    RangeBlock ranges[2];

    f->uv_raw[word] = f->uv_rises[word] = 0;
    if (misses)
        load_chroma_ranges(f, (int)(w * BLOCK), (int)y, ranges);
    for (; misses; misses &= misses - 1) {
        const uint32_t i = lowest(misses);
        const size_t p = at + i;
        const uint32_t uv[2] = { f->uv[0][p], f->uv[1][p] };
        const uint16_t mean[2] = { m->uv_mean[0][0][p], m->uv_mean[0][1][p] };
        const uint16_t second[2] = { m->uv_mean[1][0][p], m->uv_mean[1][1][p] };
        const FeedbackChromaRange range = chroma_range(ranges, i);
        const uint32_t flags = feedback_chroma_miss(uv, feedback_chroma_threshold(m->uv_deviation[p]), mean, second,
                                                    m->uv_weight[p], rises[2 * i], &range);
        f->uv_raw[word] |= (uint64_t)((flags & FEEDBACK_RAW) != 0) << i;
        f->uv_rises[word] |= (uint64_t)((flags & FEEDBACK_RISES) != 0) << i;
    }
}

/* Scales a row, adds its samples of the grid to the histogram, takes the offset off. */
static void normalise_chroma_row(FeedbackStrip *strip, unsigned k, uint32_t y)
{
    CpuFeedback *const f = strip->data;
    const uint32_t width = f->chroma.width, gain = feedback_row_gain(&f->light, 2 * y, f->luma.height);
    const uint32_t dy = feedback_row_step(f->luma.height) / 2, dx = feedback_column_step(f->luma.width) / 2;
    uint16_t *const row = f->uv[k] + row_at(&f->chroma, y);
    const uint16_t *const mean = f->model.uv_mean[0][k] + row_at(&f->chroma, y);
    const uint64_t *const mask = f->last_mask + (size_t)2 * y * f->luma.words;
    const int32_t offset = f->control.offset[k];

    for (uint32_t x = 0; x < width; x++)
        row[x] = (uint16_t)feedback_scale_chroma(row[x], gain);
    for (uint32_t x = 0; y % dy == 0 && x < width; x += dx)
        if (!(mask[x / 32] >> x % 32 * 2 & 1))
            strip->offsets[k][feedback_offset_bin(row[x], mean[x])]++;
    for (uint32_t x = 0; x < width; x++)
        row[x] = (uint16_t)feedback_take_offset(row[x], offset);
}

static void feedback_chroma(FeedbackStrip *strip)
{
    CpuFeedback *const f = strip->data;
    uint32_t c0, c1;
    rows_of_chroma(strip, &c0, &c1);
    memset(strip->offsets, 0, sizeof strip->offsets);
    for (uint32_t y = c0; y < c1; y++) {
        for (unsigned k = 0; k < 2; k++) {
            smooth_row(&f->planes[1 + k], y, strip->columns, f->uv[k] + row_at(&f->chroma, y));
            normalise_chroma_row(strip, k, y);
        }
        for (uint32_t w = 0; w < f->chroma.words; w++)
            classify_chroma_word(f, w, y);
    }
}

/* ---------------------------------------------------------------- luma: compare */

/* Pixels further from their first mode than their threshold. */
static inline uint64_t luma_misses(const CpuFeedback *f, size_t at)
{
    const uint16_t *restrict const value = f->value + at, *restrict const mean = f->model.mean + at;
    const uint16_t *restrict const deviation = f->model.deviation + at, *restrict const extra = f->model.extra + at;
    const uint16_t base = (uint16_t)f->frame.base;
    uint8_t far_off[BLOCK];
    for (unsigned i = 0; i < BLOCK; i++)
        far_off[i] = (uint8_t)(distance16(value[i], mean[i]) > threshold16(base, mean[i], deviation[i], extra[i]) ? 255 : 0);
    return pack64_u8(far_off, 0);
}

/* The chroma's bits of a word of luma: `all`, and those `inside` of their region. */
static inline void chroma_bits(const CpuFeedback *f, uint32_t w, uint32_t y, uint64_t *all, uint64_t *inside, uint64_t *rises)
{
    const int c = (int)(w / 2), row = (int)(y / 2);
    const unsigned half = w % 2 * 32;
    *all = *inside = *rises = 0;
    if (!f->chroma.width)
        return;
    const uint64_t raw = word_at(f->uv_raw, &f->chroma, c, row);
    *rises = twice(word_at(f->uv_rises, &f->chroma, c, row) >> half & 0xffffffffu);
    if (!raw)
        return;
    const uint64_t left = raw << 1 | word_at(f->uv_raw, &f->chroma, c - 1, row) >> 63;
    const uint64_t right = raw >> 1 | word_at(f->uv_raw, &f->chroma, c + 1, row) << 63;
    const uint64_t both = word_at(f->uv_raw, &f->chroma, c, row - 1) & word_at(f->uv_raw, &f->chroma, c, row + 1);
    *all = twice(raw >> half & 0xffffffffu);
    *inside = twice((raw & left & right & both) >> half & 0xffffffffu);
}

/* Pixels that miss their first mode: foreground, and rises. */
static uint64_t classify_misses(const CpuFeedback *f, size_t at, uint64_t misses, const RangeBlock *near_range,
                                const RangeBlock *far_range, uint64_t *rises)
{
    const FeedbackModel *const m = &f->model;
    uint64_t raw = 0;
    for (uint64_t todo = misses; todo; todo &= todo - 1) {
        const uint32_t i = lowest(todo);
        const size_t p = at + i;
        const FeedbackRange range = { near_range->min[i], near_range->max[i], far_range->min[i], far_range->max[i] };
        const uint32_t threshold = feedback_threshold(f->frame.base, m->mean[p], m->deviation[p], m->extra[p]);
        const uint32_t flags =
            feedback_miss(f->value[p], threshold, m->mean[p], m->weight[p], m->extra[p], m->rises[p], &m->rest[p], &range);
        raw |= (uint64_t)((flags & FEEDBACK_RAW) != 0) << i;
        *rises |= (uint64_t)((flags & FEEDBACK_RISES) != 0) << i;
    }
    return raw;
}

static uint64_t dim_bits(const CpuFeedback *f, size_t at, uint64_t bits)
{
    uint64_t dim = 0;
    for (uint64_t todo = bits; todo; todo &= todo - 1) {
        const uint32_t i = lowest(todo);
        dim |= (uint64_t)(f->value[at + i] <= f->model.mean[at + i]) << i;
    }
    return dim;
}

static uint64_t classify_luma_word(const CpuFeedback *f, uint32_t w, uint32_t y)
{
    const size_t at = row_at(&f->luma, y) + w * BLOCK, word = (size_t)y * f->luma.words + w;
    const uint64_t inside = bits_inside(&f->luma, w), misses = luma_misses(f, at) & inside;
    uint64_t by_luma = 0, by_chroma, chroma_inside, rises;
    RangeBlock near_range, far_range;

    chroma_bits(f, w, y, &by_chroma, &chroma_inside, &rises);
    by_chroma &= chroma_inside | misses;
    if (misses) {
        range_of_block(f->model.mean, &f->luma, (int)(w * BLOCK), (int)y, FEEDBACK_FAR_RADIUS, &far_range);
        range_of_block(f->model.mean, &f->luma, (int)(w * BLOCK), (int)y, 1, &near_range);
        by_luma = classify_misses(f, at, misses, &near_range, &far_range, &rises);
    }
    const uint64_t raw = (by_luma | by_chroma) & inside & ~f->ignored[word];
    f->raw[word] = f->seen[word] = raw;
    f->rises[word] = rises & inside;
    f->dim[word] = f->drop_shadow ? dim_bits(f, at, raw & ~by_chroma) : 0;
    return raw;
}

static void feedback_luma(FeedbackStrip *strip)
{
    const CpuFeedback *const f = strip->data;
    strip->n_raw = 0;
    for (uint32_t y = strip->y0; y < strip->y1; y++) {
        uint16_t *const row = f->value + row_at(&f->luma, y);
        smooth_row(&f->planes[0], y, strip->columns, row);
        normalise_row(row, f->luma.width, feedback_row_gain(&f->light, y, f->luma.height));
        for (uint32_t w = 0; w < f->luma.words; w++)
            strip->n_raw += ones(classify_luma_word(f, w, y));
    }
}

#endif
