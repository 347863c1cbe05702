/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Method "feedback": shadows and edges, which need all rows to be normalised, and learning; compiled for each tier. */
#ifndef CCL_CPU_FEEDBACK_LEARN_H
#define CCL_CPU_FEEDBACK_LEARN_H

#include "feedback_strip.h"

/* ---------------------------------------------------------------- shadows */

#define DIM_COLUMNS (BLOCK + 2 * MOTION_SHADOW_RADIUS)

/* Sums of columns, of which neighbours share four. */
typedef struct DimColumns {
    uint32_t bb[DIM_COLUMNS], gb[DIM_COLUMNS], gg[DIM_COLUMNS];
} DimColumns;

static void add_dim_row(DimColumns *restrict sums, const uint16_t *restrict seen, const uint16_t *restrict mean, uint16_t black)
{
    for (int i = 0; i < DIM_COLUMNS; i++) {
        const uint32_t g = (uint32_t)(max16(seen[i], black) - black) >> 6, b = (uint32_t)(max16(mean[i], black) - black) >> 6;
        sums->bb[i] += b * b;
        sums->gb[i] += g * b;
        sums->gg[i] += g * g;
    }
}

/* Of the `bits` of 64 pixels from x0 on: the shadows. */
static uint64_t dim_shadows(const CpuFeedback *f, int x0, int y, uint64_t bits)
{
    const int r = MOTION_SHADOW_RADIUS, width = (int)f->luma.width, height = (int)f->luma.height;
    const int left = x0 < r ? 0 : x0 - r, right = x0 + BLOCK + r < width ? x0 + BLOCK + r : width;
    const int y0 = y < r ? 0 : y - r, y1 = y + r < height ? y + r : height - 1;
    DimColumns sums = { { 0 }, { 0 }, { 0 } };
    uint64_t shadows = 0;

    for (int j = y0; j <= y1; j++) {
        uint16_t seen[DIM_COLUMNS] = { 0 }, mean[DIM_COLUMNS] = { 0 };
        const size_t from = row_at(&f->luma, (uint32_t)j) + (size_t)left, n = (size_t)(right - left) * 2;
        memcpy(seen + (left - (x0 - r)), f->value + from, n);
        memcpy(mean + (left - (x0 - r)), f->model.mean + from, n);
        add_dim_row(&sums, seen, mean, (uint16_t)f->light.black);
    }
    for (uint64_t todo = bits; todo; todo &= todo - 1) {
        const uint32_t i = lowest(todo);
        MotionShadow shadow = { 0, 0, 0 };
        for (uint32_t k = i; k <= i + 2 * MOTION_SHADOW_RADIUS; k++)
            shadow.bb += sums.bb[k], shadow.gb += sums.gb[k], shadow.gg += sums.gg[k];
        shadows |= (uint64_t)feedback_is_shadow(&shadow) << i;
    }
    return shadows;
}

static void add_edges(FeedbackStrip *strip, uint32_t y)
{
    const CpuFeedback *const f = strip->data;
    const uint32_t width = f->luma.width, dx = feedback_column_step(width);
    const size_t pitch = f->luma.words * BLOCK, row = row_at(&f->luma, y);
    const uint64_t *const raw = f->raw + (size_t)y * f->luma.words;
    for (uint32_t x = dx / 2 < 2 ? dx / 2 + dx : dx / 2; x + 2 < width; x += dx) {
        const size_t at[4] = { row + x + 2, row + x - 2, row + x + 2 * pitch, row + x - 2 * pitch };
        const uint16_t *const means = f->model.mean, *const values = f->value;
        const uint16_t mean[4] = { means[at[0]], means[at[1]], means[at[2]], means[at[3]] };
        const uint16_t value[4] = { values[at[0]], values[at[1]], values[at[2]], values[at[3]] };
        feedback_add_edge(&strip->edges, mean, value, raw[x / 64] >> x % 64 & 1);
    }
}

static void feedback_unshadow(FeedbackStrip *strip)
{
    const CpuFeedback *const f = strip->data;
    const uint32_t words = f->luma.words, height = f->luma.height, dy = feedback_row_step(height);
    strip->edges = (FeedbackEdges){ 0 };
    for (uint32_t y = strip->y0; y < strip->y1; y++) {
        for (uint32_t w = 0; w < words; w++) {
            const size_t word = (size_t)y * words + w;
            if (f->dim[word])
                f->seen[word] &= ~dim_shadows(f, (int)(w * BLOCK), (int)y, f->dim[word]);
        }
        if (y % dy == dy / 2 && y >= 2 && y + 2 < height)
            add_edges(strip, y);
    }
}

/* ---------------------------------------------------------------- explain */

/* Of the pixels `mask` of a word, those that the far range explains. */
static uint64_t explained_bits(const CpuFeedback *f, uint32_t w, uint32_t y, uint64_t mask)
{
    const size_t at = row_at(&f->luma, y) + w * BLOCK, uv_at = row_at(&f->chroma, y / 2) + w * (BLOCK / 2);
    RangeBlock far_range, ranges[2];
    uint64_t explained = 0;
    range_of_block(f->model.mean, &f->luma, (int)(w * BLOCK), (int)y, FEEDBACK_FAR_RADIUS, &far_range);
    for (uint64_t todo = mask; todo; todo &= todo - 1) {
        const uint32_t i = lowest(todo);
        const bool is = feedback_is_explained(f->value[at + i], f->frame.base, far_range.min[i], far_range.max[i]);
        explained |= (uint64_t)is << i;
    }
    if (!explained || !f->chroma.width)
        return explained;
    load_chroma_ranges(f, (int)(w * (BLOCK / 2)), (int)(y / 2), ranges);
    for (uint64_t todo = explained; todo; todo &= todo - 1) {
        const uint32_t i = lowest(todo);
        const uint32_t uv[2] = { f->uv[0][uv_at + i / 2], f->uv[1][uv_at + i / 2] };
        const FeedbackChromaRange range = chroma_range(ranges, i / 2);
        explained &= ~((uint64_t)!feedback_chroma_is_explained(uv, &range) << i);
    }
    return explained;
}

static void feedback_explain(FeedbackStrip *strip)
{
    const CpuFeedback *const f = strip->data;
    for (uint32_t y = strip->y0; y < strip->y1; y++)
        for (uint32_t w = 0; w < f->luma.words; w++) {
            const size_t word = (size_t)y * f->luma.words + w;
            f->explained[word] = f->mask.image[word] ? explained_bits(f, w, y, f->mask.image[word]) : 0;
        }
}

/* ---------------------------------------------------------------- learn: luma */

/* Rates of a picture in 16 bits. */
typedef struct Rates16 {
    uint16_t rate, quick, base;
} Rates16;

static inline Rates16 rates16(const FeedbackFrame *frame)
{
    return (Rates16){ (uint16_t)frame->rate, (uint16_t)frame->deviation_rate, (uint16_t)frame->base };
}

/* Pixels near to their first mode, of those with lanes `free`: learns them. Returns the others, unchanged but for `extra`.
 * Fills the thresholds of all. */
static inline uint64_t learn_near(const uint16_t *restrict value, uint16_t *restrict mean, uint16_t *restrict weight,
                                  uint16_t *restrict deviation, uint16_t *restrict extra, Rates16 rates, uint16_t dither,
                                  const uint16_t *restrict free, uint16_t *restrict thresholds)
{
    uint8_t rest[BLOCK];
    for (unsigned i = 0; i < BLOCK; i++) {
        const uint16_t v = value[i], b = mean[i], w = weight[i], d = deviation[i], e = extra[i];
        const uint16_t random = (uint16_t)(dither + i * MOTION_DITHER_X), distance = distance16(v, b);
        const uint16_t threshold = threshold16(rates.base, b, d, e);
        const uint16_t is_alone = w == MOTION_ONE ? 65535 : 0; /* then no other mode can be nearer */
        const uint16_t limit = select16(is_alone, threshold, threshold >> 1);
        const uint16_t learns = (uint16_t)((distance <= limit ? 65535 : 0) & free[i]);

        const uint16_t new_weight = (uint16_t)(w + step16((uint16_t)(MOTION_ONE - w), rates.rate, random));
        const uint16_t new_mean = towards16(b, v, step16(distance, share16(rates.rate, new_weight), random));
        const uint16_t moved = towards16(d, distance, step16(distance16(d, distance), rates.quick, (uint16_t)~random));
        mean[i] = select16(learns, new_mean, b);
        weight[i] = select16(learns, new_weight, w);
        deviation[i] = select16(learns, min16(moved, FEEDBACK_DEVIATION_MAX), d);
        extra[i] = (uint16_t)(e - (min16(e, FEEDBACK_EXTRA_DOWN) & free[i]));
        thresholds[i] = threshold;
        rest[i] = (uint8_t)(free[i] & ~learns);
    }
    return pack64_u8(rest, 0);
}

static void update_rises(const CpuFeedback *f, size_t at, uint64_t is_rise, uint16_t dither)
{
    uint8_t *restrict const rises = f->model.rises + at;
    const uint16_t decay = (uint16_t)f->frame.decay;
    uint64_t eight[8], any = is_rise;
    uint16_t lanes[BLOCK];

    memcpy(eight, rises, BLOCK);
    for (unsigned i = 0; i < 8; i++)
        any |= eight[i];
    if (!any)
        return;
    lanes_of(is_rise, lanes);
    for (unsigned i = 0; i < BLOCK; i++) {
        const uint16_t random = (uint16_t)(dither + i * MOTION_DITHER_X);
        const uint16_t more = min16((uint16_t)(rises[i] + (lanes[i] & FEEDBACK_RISE)), 255);
        rises[i] = (uint8_t)(more - step16(more, decay, random));
    }
}

/* Pixels of the mask; `held`: those in boxes. Returns those that are still for FEEDBACK_STATIC. */
static uint64_t watch_pixels(const CpuFeedback *f, size_t word, uint64_t mask, uint64_t held, uint32_t dither,
                             const uint16_t *thresholds)
{
    const FeedbackModel *const m = &f->model;
    uint64_t is_static = 0, absorbed = 0;
    for (uint64_t todo = mask; todo; todo &= todo - 1) {
        const uint32_t i = lowest(todo);
        const size_t p = word * BLOCK + i;
        const uint16_t before = m->still[p];
        feedback_watch(f->value[p], thresholds[i], &m->candidate[p], &m->still[p], &f->frame,
                       (dither + i * MOTION_DITHER_X) & 65535u);
        if (held >> i & 1)
            m->still[p] = feedback_held_still(before, m->still[p]);
        is_static |= (uint64_t)(m->still[p] >= FEEDBACK_STATIC) << i;
        absorbed |= (uint64_t)(m->still[p] >= f->frame.absorb) << i;
    }
    f->absorbed[word] = absorbed & ~held;
    return is_static;
}

static void learn_luma_word(FeedbackStrip *strip, uint32_t w, uint32_t y)
{
    CpuFeedback *const f = strip->data;
    const FeedbackModel *const m = &f->model;
    const size_t at = row_at(&f->luma, y) + w * BLOCK, word = (size_t)y * f->luma.words + w;
    const uint64_t mask = f->mask.image[word], guard = f->guard.image[word], before = f->last_mask[word];
    const uint32_t dither = feedback_dither(&f->frame, w * BLOCK, y);
    uint16_t free[BLOCK], thresholds[BLOCK];

    update_rises(f, at, f->rises[word] & ~f->last_rises[word] & ~before, (uint16_t)dither);
    lanes_of(~guard, free);
    uint64_t rest = learn_near(f->value + at, m->mean + at, m->weight + at, m->deviation + at, m->extra + at, rates16(&f->frame),
                               (uint16_t)dither, free, thresholds);
    for (; rest; rest &= rest - 1) {
        const uint32_t i = lowest(rest);
        const size_t p = at + i;
        feedback_learn_any(f->value[p], thresholds[i], &m->mean[p], &m->weight[p], &m->deviation[p], &m->rest[p], &f->frame,
                           (dither + i * MOTION_DITHER_X) & 65535u);
    }
    for (uint64_t alarms = f->frame.silent ? 0 : f->raw[word] & ~guard; alarms; alarms &= alarms - 1) {
        uint16_t *const extra = &m->extra[at + lowest(alarms)];
        *extra = (uint16_t)feedback_min(*extra + FEEDBACK_EXTRA_UP, FEEDBACK_EXTRA_MAX);
    }
    for (uint64_t gone = before & ~mask; gone; gone &= gone - 1) {
        const size_t p = at + lowest(gone);
        m->still[p] = 0, m->ghost[p] = 0;
    }
    const uint64_t held = mask ? feedback_held_pixels(&f->hold, w * BLOCK, y, BLOCK) : 0;
    f->still.image[word] = watch_pixels(f, word, mask, held, dither, thresholds);
    strip->any_still |= f->still.image[word] != 0;
    strip->any_absorbed |= f->absorbed[word] != 0;
    f->last_mask[word] = mask;
    f->last_rises[word] = f->rises[word];
}

/* ---------------------------------------------------------------- learn: chroma */

/* As learn_near(), of chroma samples: those whose first mode fits. */
static inline uint64_t learn_first_chroma(const uint16_t *restrict u, const uint16_t *restrict v, uint16_t *restrict mean_u,
                                          uint16_t *restrict mean_v, uint16_t *restrict weight, uint16_t *restrict deviation,
                                          Rates16 rates, uint16_t dither, const uint16_t *restrict free)
{
    uint8_t rest[BLOCK];
    for (unsigned i = 0; i < BLOCK; i++) {
        const uint16_t b = mean_u[i], c = mean_v[i], w = weight[i], d = deviation[i];
        const uint16_t random = (uint16_t)(dither + i * MOTION_DITHER_X);
        const uint16_t du = distance16(u[i], b), dv = distance16(v[i], c), sum = (uint16_t)(du + dv);
        const uint16_t threshold = (uint16_t)(FEEDBACK_CHROMA_THRESHOLD + d * FEEDBACK_CHROMA_DEVIATIONS);
        const uint16_t no_carry = sum >= du ? 65535 : 0, fits = sum <= threshold ? 65535 : 0;
        const uint16_t learns = no_carry & fits & free[i];

        const uint16_t new_weight = (uint16_t)(w + step16((uint16_t)(MOTION_ONE - w), rates.rate, random));
        const uint16_t share = share16(rates.rate, new_weight);
        const uint16_t new_u = towards16(b, u[i], step16(du, share, random));
        const uint16_t new_v = towards16(c, v[i], step16(dv, share, (uint16_t)~random));
        const uint16_t moved = towards16(d, sum, step16(distance16(d, sum), rates.quick, (uint16_t)~random));
        mean_u[i] = select16(learns, new_u, b);
        mean_v[i] = select16(learns, new_v, c);
        weight[i] = select16(learns, new_weight, w);
        deviation[i] = select16(learns, min16(moved, FEEDBACK_DEVIATION_MAX), d);
        rest[i] = (uint8_t)(free[i] & ~learns);
    }
    return pack64_u8(rest, 0);
}

static FeedbackChroma load_chroma(const FeedbackModel *m, size_t p)
{
    return (FeedbackChroma){
        .mean = { { m->uv_mean[0][0][p], m->uv_mean[0][1][p] }, { m->uv_mean[1][0][p], m->uv_mean[1][1][p] } },
        .weight = m->uv_weight[p],
        .deviation = m->uv_deviation[p],
        .candidate = { m->uv_candidate[0][p], m->uv_candidate[1][p] },
    };
}

static void store_chroma(const FeedbackModel *m, size_t p, const FeedbackChroma *c)
{
    for (unsigned k = 0; k < 2; k++) {
        m->uv_mean[0][k][p] = c->mean[0][k], m->uv_mean[1][k][p] = c->mean[1][k];
        m->uv_candidate[k][p] = c->candidate[k];
    }
    m->uv_weight[p] = c->weight, m->uv_deviation[p] = c->deviation;
}

/* The guard of the pixels at the top left of 64 samples. */
static uint64_t chroma_guard(const CpuFeedback *f, uint32_t w, uint32_t y)
{
    const uint64_t *const row = f->guard.image + (size_t)2 * y * f->luma.words;
    const uint64_t high = 2 * w + 1 < f->luma.words ? row[2 * w + 1] : 0;
    return halved(row[2 * w]) | halved(high) << 32;
}

static void learn_chroma_word(const CpuFeedback *f, uint32_t w, uint32_t y)
{
    const size_t at = row_at(&f->chroma, y) + w * BLOCK;
    const FeedbackModel *const m = &f->model;
    const uint16_t *const still = m->still + row_at(&f->luma, 2 * y) + 2 * w * BLOCK;
    const uint32_t dither = feedback_dither(&f->frame, w * BLOCK, y);
    const uint64_t guard = chroma_guard(f, w, y), inside = bits_inside(&f->chroma, w);
    uint16_t free[BLOCK];

    lanes_of(f->light.rescale ? 0 : ~guard & inside, free);
    const uint64_t rest = learn_first_chroma(f->uv[0] + at, f->uv[1] + at, m->uv_mean[0][0] + at, m->uv_mean[0][1] + at,
                                             m->uv_weight + at, m->uv_deviation + at, rates16(&f->frame), (uint16_t)dither, free);
    for (uint64_t todo = rest | (f->light.rescale ? inside : guard & inside); todo; todo &= todo - 1) {
        const uint32_t i = lowest(todo), random = (dither + i * MOTION_DITHER_X) & 65535u;
        const uint32_t uv[2] = { f->uv[0][at + i], f->uv[1][at + i] };
        FeedbackChroma c = load_chroma(&f->model, at + i);
        if (guard >> i & 1)
            feedback_watch_chroma(uv, &c, still[2 * i], random);
        else if (f->light.rescale)
            feedback_seed_chroma(uv, &c);
        else
            feedback_learn_chroma(uv, &c, &f->frame, random);
        store_chroma(&f->model, at + i, &c);
    }
}

static void feedback_learn(FeedbackStrip *strip)
{
    const CpuFeedback *const f = strip->data;
    uint32_t c0, c1;
    rows_of_chroma(strip, &c0, &c1);
    strip->any_still = strip->any_absorbed = false;
    for (uint32_t y = strip->y0; y < strip->y1; y++)
        for (uint32_t w = 0; w < f->luma.words; w++)
            learn_luma_word(strip, w, y);
    for (uint32_t y = c0; y < c1; y++)
        for (uint32_t w = 0; w < f->chroma.words; w++)
            learn_chroma_word(f, w, y);
}

static const FeedbackTier feedback_tier = {
    .seed = feedback_seed,
    .sample = feedback_sample,
    .rescale = feedback_rescale,
    .chroma = feedback_chroma,
    .luma = feedback_luma,
    .unshadow = feedback_unshadow,
    .explain = feedback_explain,
    .learn = feedback_learn,
};

#endif
