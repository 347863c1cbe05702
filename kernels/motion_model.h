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

#include "bounds.h"

#define MOTION_INLINE CCL_HOST_DEVICE static inline

#define MOTION_ONE          65535u    /* weight 1 */
#define MOTION_VARIANCE_MIN (4u << 8) /* a standard deviation of 2 gray levels */
#define MOTION_VARIANCE_NEW (15u << 8)
#define MOTION_VARIANCE_MAX (75u << 8)
#define MOTION_BACKGROUND   49151u /* modes are background until their weights add up to 0.75 */

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
    uint32_t dither; /* of the frame */
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

typedef struct MotionMode {
    uint32_t mean, variance, weight;
} MotionMode;

MOTION_INLINE void motion_swap(MotionMode *a, MotionMode *b)
{
    const MotionMode t = *a;
    *a = *b;
    *b = t;
}

/* A pixel of the value x (8.8) whose first mode does not fit: tests the others, and replaces the weakest if none fits.
 * Returns whether it is foreground. Modes have names, not indices, so that they stay in registers on a GPU. */
MOTION_INLINE bool motion_rest(uint32_t x, uint16_t *mean, uint16_t *variance, uint16_t *weight, MotionRest *rest,
                               const MotionRates *rates, uint32_t dither)
{
    MotionMode first = { *mean, *variance, *weight };
    MotionMode second = { rest->mean[0], rest->variance[0], (MOTION_ONE - first.weight) * rest->part >> 16 };
    MotionMode third = { rest->mean[1], rest->variance[1], second.weight ? MOTION_ONE - first.weight - second.weight : 0 };

    const bool fits_second = second.weight && motion_fits(motion_distance(x, second.mean), second.variance, rates);
    const bool fits_third = !fits_second && third.weight && motion_fits(motion_distance(x, third.mean), third.variance, rates);
    const uint32_t before = first.weight + (fits_third ? second.weight : 0);
    const bool foreground = !(fits_second || fits_third) || before >= MOTION_BACKGROUND;
    if (foreground && rates->freeze)
        return true;

    first.weight -= motion_step(first.weight, rates->rate, dither);
    second.weight -= motion_step(second.weight, rates->rate, dither);
    third.weight -= motion_step(third.weight, rates->rate, dither);
    const bool is_second = fits_second || (!fits_third && !second.weight);
    MotionMode mode = is_second ? second : third;
    if (fits_second || fits_third) {
        const uint32_t distance = motion_distance(x, mode.mean);
        mode.weight += rates->rate;
        /* A young mode learns faster: as if it had been alone from the start. */
        const uint32_t share = rates->rate * 65536u / (mode.weight ? mode.weight : 1);
        const uint32_t rate = share < 32768 ? share : 32768;
        mode.mean = motion_towards(mode.mean, x, motion_step(distance, rate, dither));
        mode.variance = motion_variance(mode.variance, distance, rate, dither);
    } else { /* replaces the weakest */
        mode.mean = x;
        mode.variance = MOTION_VARIANCE_NEW;
        mode.weight = rates->rate ? rates->rate : 1;
    }

    if (is_second) {
        second = mode;
    } else {
        third = mode;
        if (third.weight > second.weight)
            motion_swap(&second, &third);
    }
    if (second.weight > first.weight)
        motion_swap(&first, &second);
    /* The other modes have the weight that the first leaves, whatever the rounding of the sum. */
    const uint32_t w1 = second.weight < MOTION_ONE ? second.weight : MOTION_ONE;
    const uint32_t w2 = third.weight < MOTION_ONE ? third.weight : MOTION_ONE;
    *mean = (uint16_t)first.mean;
    *variance = (uint16_t)first.variance;
    *weight = (uint16_t)(first.weight < MOTION_ONE ? first.weight : MOTION_ONE);
    rest->part = (uint16_t)(w1 ? w1 * MOTION_ONE / (w1 + w2) : 0);
    rest->mean[0] = (uint16_t)second.mean;
    rest->mean[1] = (uint16_t)third.mean;
    rest->variance[0] = (uint16_t)second.variance;
    rest->variance[1] = (uint16_t)third.variance;
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
