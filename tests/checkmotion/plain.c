/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The plain detector: one pixel after the other, one byte per pixel, filters by their definition. */
#include "checkmotion.h"

Plain plain_new(const CclMotionConfig *config, const uint8_t *ignored)
{
    Plain p = { .method = config->method,
                .width = config->work_width ? config->work_width : config->width,
                .height = config->work_height ? config->work_height : config->height };
    const size_t n = (size_t)p.width * p.height;
    p.mean = must(calloc(n, 2)), p.variance = must(calloc(n, 2)), p.weight = must(calloc(n, 2));
    p.rest = must(calloc(n, sizeof *p.rest));
    p.last = must(calloc(n, 1)), p.luma = must(calloc(n, 1)), p.mask = must(calloc(n, 1));
    p.scratch = must(calloc(n, 1)), p.ignored = must(calloc(n, 1)), p.count = must(calloc(n, 1));
    if (ignored)
        memcpy(p.ignored, ignored, n);
    for (size_t i = 0; i < n; i++)
        p.pixels += !p.ignored[i];
    return p;
}

void plain_free(Plain *p)
{
    free(p->mean), free(p->variance), free(p->weight), free(p->rest), free(p->last), free(p->luma), free(p->mask);
    free(p->scratch), free(p->ignored), free(p->count);
}

static void plain_shrink(Plain *p, const CclMask *luma)
{
    for (uint32_t y = 0; y < p->height; y++)
        for (uint32_t x = 0; x < p->width; x++) {
            const uint32_t x0 = (uint32_t)((uint64_t)x * luma->width / p->width);
            const uint32_t x1 = (uint32_t)((uint64_t)(x + 1) * luma->width / p->width);
            const uint32_t y0 = (uint32_t)((uint64_t)y * luma->height / p->height);
            const uint32_t y1 = (uint32_t)((uint64_t)(y + 1) * luma->height / p->height);
            const uint32_t area = (x1 - x0) * (y1 - y0);
            uint32_t sum = 0;
            for (uint32_t j = y0; j < y1; j++)
                for (uint32_t i = x0; i < x1; i++)
                    sum += ((const uint8_t *)luma->data)[j * luma->stride + i];
            p->luma[y * p->width + x] = (uint8_t)((sum + area / 2) / area);
        }
}

/* One pixel through the model; whether it is foreground. */
static bool plain_pixel(Plain *p, size_t i, uint32_t x, uint32_t y, const MotionRates *rates, bool seed)
{
    const uint32_t value = (uint32_t)p->luma[i] << 8;
    const uint32_t dither = (rates->dither + y * 51749u + x * 25717u) & 65535;
    if (seed) {
        p->last[i] = p->luma[i];
        p->mean[i] = (uint16_t)value, p->variance[i] = MOTION_VARIANCE_NEW, p->weight[i] = 65535;
        memset(&p->rest[i], 0, sizeof p->rest[i]);
        return false;
    }
    if (p->method == CCL_MOTION_DIFF) {
        const int difference = abs(p->luma[i] - p->last[i]);
        p->last[i] = p->luma[i];
        return difference > (int)rates->threshold;
    }
    const uint32_t distance = (uint32_t)abs((int)value - p->mean[i]);
    if (p->method == CCL_MOTION_EMA) {
        const bool far_off = distance > rates->threshold << 8;
        const int step = (int)(((uint64_t)distance * rates->rate + dither) >> 16);
        if (!(far_off && rates->freeze))
            p->mean[i] = (uint16_t)(value > p->mean[i] ? p->mean[i] + step : p->mean[i] - step);
        return far_off;
    }
    if (!motion_fits(distance, p->variance[i], rates))
        return motion_rest(value, &p->mean[i], &p->variance[i], &p->weight[i], &p->rest[i], rates, dither);
    p->variance[i] = (uint16_t)motion_variance(p->variance[i], distance, rates->rate, dither);
    p->mean[i] = (uint16_t)motion_towards(p->mean[i], value, motion_step(distance, rates->rate, dither));
    p->weight[i] = (uint16_t)(p->weight[i] + motion_step(65535u - p->weight[i], rates->rate, dither));
    return false;
}

static void plain_unshadow(Plain *p)
{
    const int w = (int)p->width, h = (int)p->height;
    memcpy(p->scratch, p->mask, (size_t)w * h);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            double bb = 0, gb = 0, gg = 0;
            if (!p->scratch[y * w + x] || p->luma[y * w + x] >= p->mean[y * w + x] >> 8)
                continue;
            for (int j = y - 2; j <= y + 2; j++)
                for (int i = x - 2; i <= x + 2; i++)
                    if (j >= 0 && j < h && i >= 0 && i < w) {
                        const double g = p->luma[j * w + i], b = p->mean[j * w + i] >> 8;
                        bb += b * b, gb += g * b, gg += g * g;
                    }
            /* integers below 2^53: exact */
            if (2 * gb > bb && 100 * gb < 98 * bb && 1000 * (gg * bb - gb * gb) < 3 * bb * bb)
                p->mask[y * w + x] = 0;
        }
}

/* Number of pixels set in the square around one; `n`: pixels of the square inside the picture. */
static unsigned around(const Plain *p, const uint8_t *mask, int x, int y, int r, unsigned *n)
{
    unsigned set = 0;
    *n = 0;
    for (int j = y - r; j <= y + r; j++)
        for (int i = x - r; i <= x + r; i++)
            if (j >= 0 && j < (int)p->height && i >= 0 && i < (int)p->width)
                set += mask[(size_t)j * p->width + i] != 0, ++*n;
    return set;
}

/* 'm'edian, 'd'ilate, 'e'rode */
static void plain_filter(Plain *p, char kind, unsigned radius)
{
    if (!radius)
        return;
    memcpy(p->scratch, p->mask, (size_t)p->width * p->height);
    for (uint32_t y = 0; y < p->height; y++)
        for (uint32_t x = 0; x < p->width; x++) {
            unsigned n;
            const unsigned set = around(p, p->scratch, (int)x, (int)y, (int)radius, &n);
            p->mask[(size_t)y * p->width + x] = kind == 'm'   ? 2 * set > (2 * radius + 1) * (2 * radius + 1)
                                                : kind == 'd' ? set > 0
                                                              : set == n;
        }
}

void plain_apply(Plain *p, const CclMask *luma, const CclMotionParams *params)
{
    const size_t n = (size_t)p->width * p->height;
    const bool seed = !p->n_learnt, silent = seed || p->n_seen < params->warmup_frames;
    const double early = 0.5 / (p->n_learnt + 1), wanted = params->learning_rate < 0 ? 0.003 : params->learning_rate;
    const unsigned threshold = params->threshold ? params->threshold : p->method == CCL_MOTION_MOG2 ? 12 : 25;
    const MotionRates rates = motion_rates(threshold, wanted > 0 && wanted < early ? early : wanted, p->n_seen, params->freeze);

    plain_shrink(p, luma);
    p->raw = p->kept = 0;
    for (size_t i = 0; i < n; i++) {
        const bool set = plain_pixel(p, i, (uint32_t)(i % p->width), (uint32_t)(i / p->width), &rates, seed);
        p->raw += p->mask[i] = set && !p->ignored[i];
    }
    const bool changed = !silent && (double)p->raw > (double)(uint64_t)((double)p->pixels * params->max_motion);
    if (silent || changed) {
        memset(p->mask, 0, n);
        memset(p->count, 0, n);
    } else {
        if (params->drop_shadow && p->method != CCL_MOTION_DIFF)
            plain_unshadow(p);
        plain_filter(p, 'm', params->median);
        if (params->confirm_frames <= 1)
            memset(p->count, 0, n);
        for (size_t i = 0; i < n && params->confirm_frames > 1; i++) {
            p->count[i] = p->mask[i] ? (uint8_t)(p->count[i] < 31 ? p->count[i] + 1 : 31) : 0;
            p->mask[i] = p->count[i] >= params->confirm_frames;
        }
        plain_filter(p, 'e', params->open), plain_filter(p, 'd', params->open);
        plain_filter(p, 'd', params->close), plain_filter(p, 'e', params->close);
        plain_filter(p, 'd', params->dilate);
    }
    for (size_t i = 0; i < n; i++)
        p->kept += p->mask[i] = p->mask[i] && !p->ignored[i];
    p->flags = (silent ? CCL_MOTION_LEARNING : 0) | (changed ? CCL_MOTION_GLOBAL_CHANGE : 0);
    p->n_learnt = changed ? 0 : p->n_learnt + 1;
    p->n_seen++;
}
