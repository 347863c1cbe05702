/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The plain detector's method "feedback": the steps of motion_feedback_picture.h one after the other, each over the whole
 * picture, one byte or one struct a pixel. */
#include "plain.h"

#include "motion_feedback_picture.h"

struct PlainFeedback {
    int w, h, cw, ch; /* cw 0: no chroma */
    FeedbackControl control;
    FeedbackFrame frame;
    FeedbackLight light;
    FeedbackPixel *pixels;
    FeedbackChroma *chroma;
    uint16_t *value, *uv[2];            /* smoothed and normalised */
    uint8_t *luma_flags, *chroma_flags; /* of feedback_miss(), feedback_chroma_miss(); 128: the first mode does not fit */
    uint8_t *raw, *seen, *rises;        /* seen: foreground after the shadows are taken out */
    uint8_t *mask, *guarded;
    uint8_t *last_mask, *last_rises; /* of the picture before */
    uint8_t *static_pixels;
    uint32_t *label, *parent;
    CclMotionBox boxes[CCL_MOTION_MAX_BOXES]; /* held */
    unsigned n_boxes;
    uint64_t held_ms; /* the pictures that the list has served cover this time */
};

#define FIRST_MISSES 128u

PlainFeedback *plain_feedback_new(uint32_t width, uint32_t height, bool has_chroma)
{
    PlainFeedback *const f = must(calloc(1, sizeof *f));
    const size_t n = (size_t)width * height;
    f->w = (int)width, f->h = (int)height;
    f->cw = has_chroma ? (f->w + 1) / 2 : 0, f->ch = has_chroma ? (f->h + 1) / 2 : 0;
    const size_t c = (size_t)f->cw * f->ch + 1;
    f->pixels = must(calloc(n, sizeof *f->pixels)), f->chroma = must(calloc(c, sizeof *f->chroma));
    f->value = must(calloc(n, 2)), f->uv[0] = must(calloc(c, 2)), f->uv[1] = must(calloc(c, 2));
    f->luma_flags = must(calloc(n, 1)), f->chroma_flags = must(calloc(c, 1));
    f->raw = must(calloc(n, 1)), f->seen = must(calloc(n, 1)), f->rises = must(calloc(n, 1));
    f->mask = must(calloc(n, 1)), f->guarded = must(calloc(n, 1));
    f->last_mask = must(calloc(n, 1)), f->last_rises = must(calloc(n, 1)), f->static_pixels = must(calloc(n, 1));
    f->label = must(calloc(n, 4)), f->parent = must(calloc(n + 1, 4));
    return f;
}

void plain_feedback_free(PlainFeedback *f)
{
    if (!f)
        return;
    void *const blocks[] = { f->pixels,       f->chroma,     f->value,         f->uv[0], f->uv[1],  f->luma_flags,
                             f->chroma_flags, f->raw,        f->seen,          f->rises, f->mask,   f->guarded,
                             f->last_mask,    f->last_rises, f->static_pixels, f->label, f->parent, f };
    for (unsigned i = 0; i < sizeof blocks / sizeof *blocks; i++)
        free(blocks[i]);
}

void plain_feedback_reset(PlainFeedback *f)
{
    memset(&f->control, 0, sizeof f->control);
}

void plain_feedback_reload(PlainFeedback *f)
{
    const size_t n = (size_t)f->w * f->h;
    const FeedbackControl before = f->control;
    f->control = (FeedbackControl){ .n_learnt = before.n_learnt,
                                    .learnt_ms = before.learnt_ms,
                                    .ms = before.ms,
                                    .offset = { before.offset[0], before.offset[1] } };
    for (size_t i = 0; i < n; i++) {
        FeedbackPixel *const p = &f->pixels[i];
        p->candidate = p->mean, p->still = 0, p->ghost = 0;
    }
    for (size_t i = 0; i < (size_t)f->cw * f->ch; i++)
        memcpy(f->chroma[i].candidate, f->chroma[i].mean[0], sizeof f->chroma[i].candidate);
    memset(f->last_mask, 0, n), memset(f->last_rises, 0, n), memset(f->mask, 0, n);
}

static size_t sample_at(const PlainFeedback *f, int x, int y)
{
    return (size_t)(y / 2) * f->cw + x / 2;
}

/* ---------------------------------------------------------------- smooth, light */

static void smooth(const uint8_t *plane, uint16_t *out, int w, int h)
{
    for (int y = 0; y < h; y++) {
        const uint8_t *const above = plane + (size_t)(y ? y - 1 : 0) * w, *const row = plane + (size_t)y * w;
        const uint8_t *const below = plane + (size_t)(y + 1 < h ? y + 1 : y) * w;
        for (int x = 0; x < w; x++)
            out[(size_t)y * w + x] = (uint16_t)feedback_smooth(above, row, below, (uint32_t)x, (uint32_t)w);
    }
}

static void seed(PlainFeedback *f)
{
    const size_t n = (size_t)f->w * f->h;
    for (size_t i = 0; i < n; i++)
        f->pixels[i] = (FeedbackPixel){ .mean = f->value[i], .weight = MOTION_ONE, .deviation = FEEDBACK_DEVIATION_NEW };
    for (size_t i = 0; i < (size_t)f->cw * f->ch; i++) {
        const uint32_t uv[2] = { f->uv[0][i], f->uv[1][i] };
        memset(&f->chroma[i], 0, sizeof f->chroma[i]);
        feedback_seed_chroma(uv, &f->chroma[i]);
    }
    memset(f->last_mask, 0, n), memset(f->last_rises, 0, n), memset(f->mask, 0, n);
    f->control.in_mask = 0, f->control.offset[0] = f->control.offset[1] = 0;
}

static void rescale(PlainFeedback *f, uint32_t gain)
{
    for (size_t i = 0; i < (size_t)f->w * f->h; i++) {
        FeedbackPixel *const p = &f->pixels[i];
        p->mean = (uint16_t)feedback_scale(p->mean, gain), p->candidate = (uint16_t)feedback_scale(p->candidate, gain);
        for (int k = 0; k < 2; k++)
            p->rest.mean[k] = (uint16_t)feedback_scale(p->rest.mean[k], gain);
    }
    for (size_t i = 0; i < (size_t)f->cw * f->ch; i++)
        for (int k = 0; k < 2; k++) {
            FeedbackChroma *const c = &f->chroma[i];
            c->mean[0][k] = (uint16_t)feedback_scale_chroma(c->mean[0][k], gain);
            c->mean[1][k] = (uint16_t)feedback_scale_chroma(c->mean[1][k], gain);
            c->candidate[k] = (uint16_t)feedback_scale_chroma(c->candidate[k], gain);
        }
}

static void measure_light(PlainFeedback *f)
{
    static FeedbackSamples samples;
    const int dy = (int)feedback_row_step((uint32_t)f->h), dx = (int)feedback_column_step((uint32_t)f->w);
    const bool few = f->control.in_mask < (uint64_t)f->w * f->h / 4;
    memset(&samples, 0, sizeof samples);
    for (int y = dy / 2; y < f->h; y += dy)
        for (int x = dx / 2; x < f->w; x += dx) {
            const size_t i = (size_t)y * f->w + x;
            const uint32_t mean = f->pixels[i].mean, bin = feedback_ratio_bin(f->value[i], mean, few && f->last_mask[i]);
            samples.luma[mean >> 8]++;
            if (bin < FEEDBACK_BINS) {
                samples.ratios[feedback_band((uint32_t)y, (uint32_t)f->h)][bin]++;
                samples.ratios[FEEDBACK_BANDS][bin]++;
            }
        }
    f->light = feedback_light(&samples);
}

/* Normalises chroma, with the offsets that the picture before had, and measures those of this picture. */
static void normalise_chroma(PlainFeedback *f)
{
    const int dy = (int)feedback_row_step((uint32_t)f->h) / 2, dx = (int)feedback_column_step((uint32_t)f->w) / 2;
    for (int k = 0; k < 2; k++) {
        uint32_t bins[FEEDBACK_BINS] = { 0 };
        for (int y = 0; y < f->ch; y++) {
            const uint32_t gain = feedback_row_gain(&f->light, (uint32_t)(2 * y), (uint32_t)f->h);
            for (int x = 0; x < f->cw; x++) {
                uint16_t *const value = &f->uv[k][(size_t)y * f->cw + x];
                const uint32_t scaled = feedback_scale_chroma(*value, gain);
                if (y % dy == 0 && x % dx == 0 && !f->last_mask[(size_t)(2 * y) * f->w + 2 * x])
                    bins[feedback_offset_bin(scaled, f->chroma[(size_t)y * f->cw + x].mean[0][k])]++;
                *value = (uint16_t)feedback_take_offset(scaled, f->control.offset[k]);
            }
        }
        f->control.offset[k] = f->light.rescale ? 0 : feedback_offset(bins);
    }
}

static void normalise(PlainFeedback *f)
{
    for (int y = 0; y < f->h; y++) {
        const uint32_t gain = feedback_row_gain(&f->light, (uint32_t)y, (uint32_t)f->h);
        for (int x = 0; x < f->w; x++) {
            uint16_t *const value = &f->value[(size_t)y * f->w + x];
            *value = (uint16_t)feedback_normalise(*value, gain);
        }
    }
    if (f->light.rescale)
        f->control.offset[0] = f->control.offset[1] = 0;
    normalise_chroma(f);
}

/* ---------------------------------------------------------------- classify */

static uint32_t threshold_of(const PlainFeedback *f, const FeedbackPixel *p)
{
    return feedback_threshold(f->frame.base, p->mean, p->deviation, p->extra);
}

static FeedbackRange range_around(const PlainFeedback *f, int x, int y)
{
    FeedbackRange range = { 65535, 0, 65535, 0 };
    for (int j = y - FEEDBACK_FAR_RADIUS; j <= y + FEEDBACK_FAR_RADIUS; j++)
        for (int i = x - FEEDBACK_FAR_RADIUS; i <= x + FEEDBACK_FAR_RADIUS; i++) {
            if (j < 0 || j >= f->h || i < 0 || i >= f->w)
                continue;
            const uint32_t mean = f->pixels[(size_t)j * f->w + i].mean;
            range.far_min = mean < range.far_min ? mean : range.far_min;
            range.far_max = mean > range.far_max ? mean : range.far_max;
            if (abs(j - y) > 1 || abs(i - x) > 1)
                continue;
            range.near_min = mean < range.near_min ? mean : range.near_min;
            range.near_max = mean > range.near_max ? mean : range.near_max;
        }
    return range;
}

static FeedbackChromaRange chroma_range_around(const PlainFeedback *f, int x, int y)
{
    FeedbackChromaRange range = { { 65535, 65535 }, { 0, 0 } };
    for (int j = y - FEEDBACK_FAR_RADIUS_CHROMA; j <= y + FEEDBACK_FAR_RADIUS_CHROMA; j++)
        for (int i = x - FEEDBACK_FAR_RADIUS_CHROMA; i <= x + FEEDBACK_FAR_RADIUS_CHROMA; i++)
            for (int k = 0; k < 2 && j >= 0 && j < f->ch && i >= 0 && i < f->cw; k++) {
                const uint32_t mean = f->chroma[(size_t)j * f->cw + i].mean[0][k];
                range.min[k] = mean < range.min[k] ? mean : range.min[k];
                range.max[k] = mean > range.max[k] ? mean : range.max[k];
            }
    return range;
}

static uint8_t classify_luma(const PlainFeedback *f, int x, int y)
{
    const size_t i = (size_t)y * f->w + x;
    const FeedbackPixel *const p = &f->pixels[i];
    const uint32_t threshold = threshold_of(f, p);
    if (motion_distance(f->value[i], p->mean) <= threshold)
        return 0;
    const FeedbackRange range = range_around(f, x, y);
    return (uint8_t)(FIRST_MISSES |
                     feedback_miss(f->value[i], threshold, p->mean, p->weight, p->extra, p->rises, &p->rest, &range));
}

static uint8_t classify_chroma(const PlainFeedback *f, int x, int y)
{
    const size_t i = (size_t)y * f->cw + x;
    const FeedbackChroma *const c = &f->chroma[i];
    const uint32_t uv[2] = { f->uv[0][i], f->uv[1][i] }, threshold = feedback_chroma_threshold(c->deviation);
    if (f->light.rescale || feedback_chroma_distance(uv[0], uv[1], c->mean[0][0], c->mean[0][1]) <= threshold)
        return 0;
    const FeedbackChromaRange range = chroma_range_around(f, x, y);
    return (uint8_t)feedback_chroma_miss(uv, threshold, c->mean[0], c->mean[1], c->weight,
                                         f->pixels[(size_t)2 * y * f->w + 2 * x].rises, &range);
}

/* Foreground by chroma counts inside of its region; at the outline the first mode of luma must not fit either: a sample is two
 * pixels wide, and smoothed. */
static bool counts_by_chroma(const PlainFeedback *f, int x, int y)
{
    const int cx = x / 2, cy = y / 2;
    static const int dx[5] = { 0, -1, 1, 0, 0 }, dy[5] = { 0, 0, 0, -1, 1 };
    bool is_inside = true;
    if (!f->cw || !(f->chroma_flags[sample_at(f, x, y)] & FEEDBACK_RAW))
        return false;
    for (int k = 1; k < 5; k++) {
        const int i = cx + dx[k], j = cy + dy[k];
        is_inside &= i >= 0 && i < f->cw && j >= 0 && j < f->ch && f->chroma_flags[(size_t)j * f->cw + i] & FEEDBACK_RAW;
    }
    return is_inside || f->luma_flags[(size_t)y * f->w + x] & FIRST_MISSES;
}

static bool is_explained(const PlainFeedback *f, int x, int y)
{
    const FeedbackRange range = range_around(f, x, y);
    if (!feedback_is_explained(f->value[(size_t)y * f->w + x], f->frame.base, range.far_min, range.far_max))
        return false;
    if (!f->cw)
        return true;
    const uint32_t uv[2] = { f->uv[0][sample_at(f, x, y)], f->uv[1][sample_at(f, x, y)] };
    const FeedbackChromaRange chroma = chroma_range_around(f, x / 2, y / 2);
    return feedback_chroma_is_explained(uv, &chroma);
}

static bool is_shadow(const PlainFeedback *f, int x, int y)
{
    MotionShadow sums = { 0, 0, 0 };
    const size_t here = (size_t)y * f->w + x;
    if (f->value[here] > f->pixels[here].mean)
        return false;
    for (int j = y - 2; j <= y + 2; j++)
        for (int i = x - 2; i <= x + 2; i++)
            if (j >= 0 && j < f->h && i >= 0 && i < f->w) {
                const size_t at = (size_t)j * f->w + i;
                motion_shadow_add(&sums, feedback_above_black(f->value[at], f->light.black),
                                  feedback_above_black(f->pixels[at].mean, f->light.black));
            }
    return feedback_is_shadow(&sums);
}

/* Fills raw, seen, rises. Returns the number of raw pixels. */
static uint64_t classify(PlainFeedback *f, const uint8_t *ignored, bool drop_shadow)
{
    uint64_t n_raw = 0;
    for (int y = 0; y < f->h; y++)
        for (int x = 0; x < f->w; x++)
            f->luma_flags[(size_t)y * f->w + x] = classify_luma(f, x, y);
    for (int y = 0; y < f->ch; y++)
        for (int x = 0; x < f->cw; x++)
            f->chroma_flags[(size_t)y * f->cw + x] = classify_chroma(f, x, y);
    for (int y = 0; y < f->h; y++)
        for (int x = 0; x < f->w; x++) {
            const size_t i = (size_t)y * f->w + x;
            const uint8_t luma = f->luma_flags[i], chroma = f->cw ? f->chroma_flags[sample_at(f, x, y)] : 0;
            const bool by_chroma = counts_by_chroma(f, x, y);
            f->raw[i] = (luma & FEEDBACK_RAW || by_chroma) && !ignored[i];
            f->rises[i] = ((luma | chroma) & FEEDBACK_RISES) != 0;
            f->seen[i] = f->raw[i] && !(drop_shadow && !by_chroma && is_shadow(f, x, y));
            n_raw += f->raw[i];
        }
    return n_raw;
}

/* ---------------------------------------------------------------- camera */

static FeedbackEdges measure_edges(const PlainFeedback *f)
{
    FeedbackEdges sums = { 0 };
    const int dy = (int)feedback_row_step((uint32_t)f->h), dx = (int)feedback_column_step((uint32_t)f->w);
    for (int y = dy / 2; y < f->h - 2; y += dy)
        for (int x = dx / 2; x < f->w - 2; x += dx) {
            if (x < 2 || y < 2)
                continue;
            const size_t i = (size_t)y * f->w + x, w2 = 2 * (size_t)f->w;
            const size_t at[4] = { i + 2, i - 2, i + w2, i - w2 };
            uint16_t mean[4], value[4];
            for (int k = 0; k < 4; k++)
                mean[k] = f->pixels[at[k]].mean, value[k] = f->value[at[k]];
            feedback_add_edge(&sums, mean, value, f->raw[i]);
        }
    return sums;
}

/* ---------------------------------------------------------------- regions */

static uint32_t root_of(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/* Labels of all pixels: those set have 8 neighbours, the others 4. A label is 1 + the index of the component's first pixel. */
static void label(PlainFeedback *f, const uint8_t *set)
{
    const int w = f->w, h = f->h;
    static const int dx[4] = { -1, 0, -1, 1 }, dy[4] = { 0, -1, -1, -1 };
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            const uint32_t i = (uint32_t)(y * w + x), l = i + 1;
            f->parent[l] = l;
            f->label[i] = l;
            for (int k = 0; k < (set[i] ? 4 : 2); k++) {
                const int nx = x + dx[k], ny = y + dy[k];
                if (nx < 0 || nx >= w || ny < 0 || set[ny * w + nx] != set[i])
                    continue;
                const uint32_t a = root_of(f->parent, l), b = root_of(f->parent, f->label[ny * w + nx]);
                f->parent[a > b ? a : b] = a > b ? b : a;
            }
        }
    for (size_t i = 0; i < (size_t)w * h; i++)
        f->label[i] = root_of(f->parent, f->label[i]);
}

/* Drops blobs that are explained; fills small holes in the others. */
static void judge_blobs(PlainFeedback *f)
{
    const size_t n = (size_t)f->w * f->h;
    uint64_t *const area = must(calloc(n + 1, 8)), *const explained = must(calloc(n + 1, 8));
    uint8_t *const keep = must(calloc(n + 1, 1)), *const at_border = must(calloc(n + 1, 1));
    label(f, f->mask);
    for (size_t i = 0; i < n; i++) {
        const uint32_t l = f->label[i];
        const size_t x = i % f->w, y = i / f->w;
        area[l]++;
        explained[l] += f->mask[i] && is_explained(f, (int)x, (int)y);
        at_border[l] |= x == 0 || y == 0 || x + 1 == (size_t)f->w || y + 1 == (size_t)f->h;
    }
    for (size_t i = 0; i < n; i++) { /* first pixels come before the others, and what encloses a hole before the hole */
        const uint32_t l = (uint32_t)i + 1;
        if (f->label[i] != l)
            continue;
        if (f->mask[i])
            keep[l] = !feedback_blob_is_explained(area[l], explained[l]);
        else
            keep[l] = !at_border[l] && area[l] < n / FEEDBACK_HOLE_PART && keep[f->label[i - f->w]];
    }
    for (size_t i = 0; i < n; i++)
        f->mask[i] = keep[f->label[i]];
    free(area), free(explained), free(keep), free(at_border);
}

/* ---------------------------------------------------------------- held boxes */

void plain_feedback_hold(PlainFeedback *f, const CclMotionBox *boxes, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        f->boxes[i] = boxes[i];
    f->n_boxes = n, f->held_ms = 0;
}

static bool is_held(const PlainFeedback *f, uint32_t x, uint32_t y)
{
    for (unsigned i = 0; i < f->n_boxes; i++)
        if (x >= f->boxes[i].x0 && x < f->boxes[i].x1 && y >= f->boxes[i].y0 && y < f->boxes[i].y1)
            return true;
    return false;
}

/* ---------------------------------------------------------------- learn */

/* In a box `still` grows to 62 units, a second, and no further. */
static void watch(PlainFeedback *f, int x, int y, uint32_t threshold, uint32_t dither)
{
    const size_t i = (size_t)y * f->w + x;
    FeedbackPixel *const p = &f->pixels[i];
    const uint16_t before = p->still;
    feedback_watch(f->value[i], threshold, &p->candidate, &p->still, &f->frame, dither);
    if (is_held(f, (uint32_t)x, (uint32_t)y) && p->still > before && p->still > 62)
        p->still = before > 62 ? before : 62;
}

static void learn_pixel(PlainFeedback *f, int x, int y)
{
    const size_t i = (size_t)y * f->w + x;
    FeedbackPixel *const p = &f->pixels[i];
    const uint32_t threshold = threshold_of(f, p), value = f->value[i];
    const uint32_t dither = feedback_dither(&f->frame, (uint32_t)x, (uint32_t)y);
    const bool is_rise = f->rises[i] && !f->last_rises[i] && !f->last_mask[i];

    p->rises = (uint8_t)feedback_rises(p->rises, is_rise, f->frame.decay, dither);
    if (!f->guarded[i]) {
        if (feedback_is_near(value, p->mean, threshold))
            feedback_learn_first(value, &p->mean, &p->weight, &p->deviation, &f->frame, dither);
        else
            feedback_learn_any(value, threshold, &p->mean, &p->weight, &p->deviation, &p->rest, &f->frame, dither);
        p->extra = (uint16_t)feedback_extra(p->extra, f->raw[i] && !f->frame.silent);
    }
    if (f->mask[i])
        watch(f, x, y, threshold, dither);
    else
        p->still = 0, p->ghost = 0;
}

static void learn_chroma(PlainFeedback *f, int x, int y)
{
    const size_t i = (size_t)y * f->cw + x, top_left = (size_t)2 * y * f->w + 2 * x;
    const uint32_t uv[2] = { f->uv[0][i], f->uv[1][i] };
    const uint32_t dither = feedback_dither(&f->frame, (uint32_t)x, (uint32_t)y);
    if (f->guarded[top_left])
        feedback_watch_chroma(uv, &f->chroma[i], f->pixels[top_left].still, dither);
    else if (f->light.rescale)
        feedback_seed_chroma(uv, &f->chroma[i]);
    else
        feedback_learn_chroma(uv, &f->chroma[i], &f->frame, dither);
}

static void absorb(PlainFeedback *f, size_t i)
{
    FeedbackPixel *const p = &f->pixels[i];
    feedback_absorb(p->candidate, &p->mean, &p->weight, &p->rest, &p->still, &p->ghost);
    f->last_mask[i] = 0;
    if (f->cw)
        feedback_absorb_chroma(&f->chroma[sample_at(f, (int)(i % f->w), (int)(i / f->w))]);
}

static void learn(PlainFeedback *f)
{
    const size_t n = (size_t)f->w * f->h;
    memcpy(f->guarded, f->mask, n);
    plain_grow(f->guarded, f->w, f->h, FEEDBACK_GUARD);
    for (int y = 0; y < f->h; y++)
        for (int x = 0; x < f->w; x++)
            learn_pixel(f, x, y);
    for (int y = 0; y < f->ch; y++)
        for (int x = 0; x < f->cw; x++)
            learn_chroma(f, x, y);
    memcpy(f->last_mask, f->mask, n), memcpy(f->last_rises, f->rises, n);
    for (size_t i = 0; i < n; i++)
        if (f->mask[i] && f->pixels[i].still >= f->frame.absorb && !is_held(f, (uint32_t)(i % f->w), (uint32_t)(i / f->w)))
            absorb(f, i);
}

/* ---------------------------------------------------------------- ghosts */

static void add_outline(const PlainFeedback *f, FeedbackRegion *region, int x, int y, int dx, int dy)
{
    const int px = x - dx * FEEDBACK_OUTLINE_INSIDE, py = y - dy * FEEDBACK_OUTLINE_INSIDE;
    const int qx = x + dx * FEEDBACK_OUTLINE_OUTSIDE, qy = y + dy * FEEDBACK_OUTLINE_OUTSIDE;
    if (qx < 0 || qy < 0 || qx >= f->w || qy >= f->h || px < 0 || py < 0 || px >= f->w || py >= f->h)
        return;
    const size_t p = (size_t)py * f->w + px, q = (size_t)qy * f->w + qx;
    if (f->static_pixels[(size_t)(y + dy) * f->w + x + dx] || f->mask[q] || !f->static_pixels[p])
        return;
    feedback_add_outline(region, f->pixels[p].candidate, f->pixels[p].mean, f->value[q], f->pixels[q].mean);
    for (int k = 0; k < 2 && f->cw; k++) {
        const FeedbackChroma *const inside = &f->chroma[sample_at(f, px, py)], *const outside = &f->chroma[sample_at(f, qx, qy)];
        feedback_add_outline(region, inside->candidate[k], inside->mean[0][k], f->uv[k][sample_at(f, qx, qy)],
                             outside->mean[0][k]);
    }
}

static void judge_still_regions(PlainFeedback *f)
{
    const size_t n = (size_t)f->w * f->h;
    FeedbackRegion *const regions = must(calloc(n + 1, sizeof *regions));
    for (size_t i = 0; i < n; i++)
        f->static_pixels[i] = f->mask[i] && f->pixels[i].still >= FEEDBACK_STATIC;
    plain_majority(f->static_pixels, f->w, f->h, 2);
    for (size_t i = 0; i < n; i++) /* outside the mask there are no candidates */
        f->static_pixels[i] &= f->mask[i];
    label(f, f->static_pixels);
    for (int y = 0; y < f->h; y++)
        for (int x = 0; x < f->w; x++) {
            const size_t i = (size_t)y * f->w + x;
            FeedbackRegion *const region = &regions[f->label[i]];
            if (!f->static_pixels[i])
                continue;
            region->area++;
            region->motionless += f->pixels[i].still >= FEEDBACK_MOTIONLESS;
            add_outline(f, region, x, y, 1, 0), add_outline(f, region, x, y, -1, 0);
            add_outline(f, region, x, y, 0, 1), add_outline(f, region, x, y, 0, -1);
        }
    for (size_t i = 0; i < n; i++) {
        const uint32_t more = f->static_pixels[i] ? feedback_ghost_step(&regions[f->label[i]], &f->frame) : 0;
        f->pixels[i].ghost = (uint8_t)(more ? feedback_min(f->pixels[i].ghost + more, 255) : 0);
        if (f->pixels[i].ghost >= FEEDBACK_GHOST)
            absorb(f, i);
    }
    free(regions);
}

/* ---------------------------------------------------------------- a picture */

void plain_feedback_apply(PlainFeedback *f, const PlainPicture *picture, const uint8_t *ignored, const CclMotionParams *params,
                          uint64_t most, PlainResult *result)
{
    const size_t n = (size_t)f->w * f->h;
    FeedbackHold none = { 0 };
    f->frame = feedback_begin(&f->control, &none, picture->us, params->threshold, params->absorb_ms);
    f->n_boxes = f->held_ms < 5000 ? f->n_boxes : 0;
    f->held_ms += f->frame.ms;
    *result = (PlainResult){ .mask = f->mask, .frames = f->control.n_learnt, .flags = f->frame.silent ? CCL_MOTION_LEARNING : 0 };
    smooth(picture->luma, f->value, f->w, f->h);
    for (int k = 0; k < 2 && f->cw; k++)
        smooth(picture->chroma[k], f->uv[k], f->cw, f->ch);
    if (f->frame.seed) {
        seed(f);
        return;
    }
    measure_light(f);
    if (f->light.rescale)
        rescale(f, (uint32_t)f->light.rescale);
    normalise(f);
    result->raw = classify(f, ignored, params->drop_shadow);
    const FeedbackEdges edges = measure_edges(f);
    if (feedback_decide(&f->control, &f->frame, &edges, result->raw, most)) {
        memset(f->mask, 0, n);
        result->frames = 0;
        result->flags |= CCL_MOTION_GLOBAL_CHANGE;
        return;
    }
    memcpy(f->mask, f->seen, n);
    plain_majority(f->mask, f->w, f->h, (int)params->median);
    plain_shrink_mask(f->mask, f->w, f->h, (int)params->open), plain_grow(f->mask, f->w, f->h, (int)params->open);
    plain_grow(f->mask, f->w, f->h, (int)params->close), plain_shrink_mask(f->mask, f->w, f->h, (int)params->close);
    judge_blobs(f);
    if (f->frame.silent)
        memset(f->mask, 0, n);
    learn(f);
    f->control.in_mask = 0;
    for (size_t i = 0; i < n; i++)
        f->control.in_mask += f->mask[i];
    if (!f->frame.silent)
        judge_still_regions(f);
}
