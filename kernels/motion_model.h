/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The arithmetic of the background model of one pixel, shared by the CPU tiers and CUDA: integers only, so that all agree.
 *
 * Mixture of up to three Gaussians (Zivkovic & van der Heijden 2006), the heaviest first. Means and variances are 8.8
 * fixed point, weights 0.16. Weights are kept as broken sticks: weight, then the second mode's part of what the first
 * leaves. So while the first mode fits, which is nearly always, nothing of the others changes: a pixel costs six bytes to
 * read and six to write.
 *
 * A step is the product of a distance and a rate, and mostly smaller than the fixed point can say: it is rounded up or down
 * by a number that runs evenly through 0..65535 from frame to frame (dither), so that steps are right in the mean.
 */
#ifndef CCL_MOTION_MODEL_H
#define CCL_MOTION_MODEL_H

#include "backend.h"

#define MOTION_INLINE CCL_HOST_DEVICE static inline

#define MOTION_ONE 65535u              /* weight 1 */
#define MOTION_VARIANCE_MIN (4u << 8)  /* a standard deviation of 2 gray levels */
#define MOTION_VARIANCE_NEW (15u << 8)
#define MOTION_VARIANCE_MAX (75u << 8)
#define MOTION_BACKGROUND 49151u       /* modes are background until their weights add up to 0.75 */

/* Second and third mode; weight 0: not there. */
typedef struct MotionRest {
    uint16_t mean[2], variance[2];
    uint16_t part; /* the second mode's, of what the first leaves */
    uint16_t unused;
} MotionRest;

/* The parameters of a frame, as pixels need them. */
typedef struct MotionRates {
    uint32_t rate;      /* 0.16, 0..65535 */
    uint32_t threshold; /* gray levels; diff and EMA */
    /* MOG2: a pixel fits where distance² < (min(variance * scale >> 16, cap) << shift), gray levels squared. */
    uint32_t scale, cap, shift;
    uint32_t dither;    /* of the frame */
    uint32_t freeze;
} MotionRates;

/* threshold² / 4 in units of the smallest variance, as 16 bits and a shift. */
MOTION_INLINE MotionRates motion_rates(unsigned threshold, double rate, unsigned frame, bool freeze)
{
    MotionRates rates;
    const double scaled = rate * 65536 + 0.5;
    uint32_t scale = threshold * threshold * 64;
    rates.shift = 0;
    while (scale >> rates.shift > 65535)
        rates.shift++;
    rates.scale = scale >> rates.shift;
    rates.cap = 65535u >> rates.shift;
    rates.rate = scaled > 65535 ? 65535 : (uint32_t)scaled;
    rates.threshold = threshold;
    rates.dither = frame * 40503u & 65535u;
    rates.freeze = freeze;
    return rates;
}

/* The dither of pixel (x, y) is dither_row + x * MOTION_DITHER_X, 16 bits. */
#define MOTION_DITHER_X 25717u

MOTION_INLINE uint32_t motion_dither_row(const MotionRates *rates, uint32_t y)
{
    return rates->dither + y * 51749u;
}

/* distance * rate, rounded by the dither. All below 2^16; the largest sum just fits 32 bits. */
MOTION_INLINE uint32_t motion_step(uint32_t distance, uint32_t rate, uint32_t dither)
{
    return (distance * rate + dither) >> 16;
}

MOTION_INLINE uint32_t motion_distance(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

/* `from` a step towards `to`. */
MOTION_INLINE uint32_t motion_towards(uint32_t from, uint32_t to, uint32_t step)
{
    return to > from ? from + step : from - step;
}

MOTION_INLINE bool motion_fits(uint32_t distance, uint32_t variance, const MotionRates *rates)
{
    const uint32_t limit = variance * rates->scale >> 16;
    return distance * distance >> 16 < (limit < rates->cap ? limit : rates->cap) << rates->shift;
}

/* distance² as 8.8, at most 255.94: more than any variance. */
MOTION_INLINE uint32_t motion_square(uint32_t distance)
{
    const uint32_t near = (distance < 4095 ? distance : 4095) << 4;
    return near * near >> 16;
}

MOTION_INLINE uint32_t motion_variance(uint32_t variance, uint32_t distance, uint32_t rate, uint32_t dither)
{
    const uint32_t square = motion_square(distance);
    const uint32_t step = motion_step(motion_distance(square, variance), rate, dither ^ 65535);
    const uint32_t moved = motion_towards(variance, square, step);
    return moved < MOTION_VARIANCE_MIN ? MOTION_VARIANCE_MIN : moved > MOTION_VARIANCE_MAX ? MOTION_VARIANCE_MAX : moved;
}

/* A pixel of the value x (8.8) whose first mode does not fit: looks at the others, makes room for a new one if none fits.
 * Returns whether it is foreground. */
MOTION_INLINE bool motion_rest(uint32_t x, uint16_t *mean, uint16_t *variance, uint16_t *weight, MotionRest *rest,
                               const MotionRates *rates, uint32_t dither)
{
    uint32_t m[3] = { *mean, rest->mean[0], rest->mean[1] };
    uint32_t v[3] = { *variance, rest->variance[0], rest->variance[1] };
    uint32_t w[3];
    w[0] = *weight;
    w[1] = (MOTION_ONE - w[0]) * rest->part >> 16;
    w[2] = w[1] ? MOTION_ONE - w[0] - w[1] : 0;

    uint32_t before = w[0];
    unsigned k = 1;
    while (k < 3 && w[k] && !motion_fits(motion_distance(x, m[k]), v[k], rates))
        before += w[k++];
    const bool known = k < 3 && w[k];
    const bool foreground = !known || before >= MOTION_BACKGROUND;
    if (foreground && rates->freeze)
        return true;

    for (unsigned i = 0; i < 3; i++)
        w[i] -= motion_step(w[i], rates->rate, dither);
    if (known) {
        const uint32_t distance = motion_distance(x, m[k]);
        w[k] += rates->rate;
        /* A young mode learns faster: as if it had been alone from the start. */
        const uint32_t share = rates->rate * 65536u / (w[k] ? w[k] : 1);
        const uint32_t rate = share < 32768 ? share : 32768;
        m[k] = motion_towards(m[k], x, motion_step(distance, rate, dither));
        v[k] = motion_variance(v[k], distance, rate, dither);
    } else {
        k = k < 3 ? k : 2; /* the weakest makes room */
        w[k] = rates->rate ? rates->rate : 1;
        m[k] = x;
        v[k] = MOTION_VARIANCE_NEW;
    }

    for (; k && w[k] > w[k - 1]; k--) {
        const uint32_t tm = m[k], tv = v[k], tw = w[k];
        m[k] = m[k - 1], v[k] = v[k - 1], w[k] = w[k - 1];
        m[k - 1] = tm, v[k - 1] = tv, w[k - 1] = tw;
    }
    /* What the first leaves is the others', whatever rounding made of the sum. */
    for (unsigned i = 0; i < 3; i++)
        w[i] = w[i] < MOTION_ONE ? w[i] : MOTION_ONE;
    *mean = (uint16_t)m[0];
    *variance = (uint16_t)v[0];
    *weight = (uint16_t)w[0];
    rest->part = (uint16_t)(w[1] ? w[1] * MOTION_ONE / (w[1] + w[2]) : 0);
    for (unsigned i = 0; i < 2; i++) {
        rest->mean[i] = (uint16_t)m[i + 1];
        rest->variance[i] = (uint16_t)v[i + 1];
    }
    return foreground;
}

/* Sums over the square around a pixel for the test below: g what is seen, b the background. */
typedef struct MotionShadow {
    uint32_t bb, gb, gg;
} MotionShadow;

MOTION_INLINE void motion_shadow_add(MotionShadow *sums, uint32_t g, uint32_t b)
{
    sums->bb += b * b;
    sums->gb += g * b;
    sums->gg += g * g;
}

/*
 * A shadow dims the background by a factor that is the same all over the neighbourhood (Jacques, Jung & Musse, SIBGRAPI
 * 2005): g = f b with f = gb / bb from 0.5 to 0.98, and what that leaves, gg - gb² / bb, is below 0.003 bb.
 */
#define MOTION_SHADOW_RADIUS 2

MOTION_INLINE bool motion_is_shadow(const MotionShadow *sums)
{
    const uint64_t bb = sums->bb, gb = sums->gb, gg = sums->gg;
    return 2 * gb > bb && 100 * gb < 98 * bb && 1000 * (gg * bb - gb * gb) < 3 * bb * bb;
}

#endif
