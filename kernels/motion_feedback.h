/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Method "feedback": the rules for one pixel and for one chroma sample. Integers only, shared by the plain reference, the CPU
 * tiers and CUDA. motion_feedback_picture.h has the rules for the whole picture and for regions, and the order of the steps.
 *
 * The model of a pixel is a mixture of up to three modes and one mean deviation. Two loops of feedback adapt it:
 *  - a false alarm, that is foreground which the filters take out of the mask, raises the pixel's own threshold;
 *  - a pixel in the mask is not learnt. What stands there is a candidate, and the time for which it stands still is counted.
 *
 * Values are 8.8 fixed point: 256 is one level of luma or chroma. Weights and rates are 0.16. "A part of" is 256ths.
 */
#ifndef CCL_MOTION_FEEDBACK_H
#define CCL_MOTION_FEEDBACK_H

#include "motion_model.h"

/* ---------------------------------------------------------------- constants */

#define FEEDBACK_LEVEL 256u

/* Background. docs/motion-model.md has each constant's reason, and F at half and double. */
#define FEEDBACK_MEMORY_MS     20000u /* memory of the modes; a mode that is gone is forgotten in 2.3 times this */
#define FEEDBACK_RATE_MAX      26214u /* 0.4: keeps feedback_first_share() within 16 bits */
#define FEEDBACK_BACKGROUND    6554u  /* a mode is background from this weight on, 0.1: 2 s of 20 s */
#define FEEDBACK_DEVIATION_NEW (2u * FEEDBACK_LEVEL)
#define FEEDBACK_DEVIATION_MAX (20u * FEEDBACK_LEVEL) /* keeps the threshold within 16 bits */
#define FEEDBACK_ABSORBED      60000u                 /* weight of the first mode after absorption, 0.92 */

/* Threshold of luma: base + 3 deviations + brightness * 6 / 256 + extra. */
#define FEEDBACK_THRESHOLD     5u   /* levels of the smoothed luma: the base, if the caller names none */
#define FEEDBACK_THRESHOLD_MAX 100u /* levels: larger ones count as this */
#define FEEDBACK_DEVIATIONS    3u   /* 3 mean deviations are 2.4 standard deviations */
#define FEEDBACK_RELATIVE      6u   /* 256ths of the brightness: shot noise, errors of the gain */
#define FEEDBACK_EXTRA_UP      256u /* 1/256 level: a false alarm raises extra by this */
#define FEEDBACK_EXTRA_DOWN    1u   /* 1/256 level: a picture lowers extra by this; so one false alarm in 256 pictures is kept */
#define FEEDBACK_EXTRA_MAX     (40u * FEEDBACK_LEVEL)

/* Range of the background around a pixel. */
#define FEEDBACK_NEAR_PART         32u    /* this part of the 3x3 range always counts; all of it from an extra of */
#define FEEDBACK_NEAR_EXTRA        4u     /* this many levels on */
#define FEEDBACK_FAR_RADIUS        4      /* pixels: how far the background moves where it moves again and again */
#define FEEDBACK_FAR_RADIUS_CHROMA 2      /* the same in chroma samples */
#define FEEDBACK_RISE              32u    /* counter of recurrence: for each rise */
#define FEEDBACK_RISES_MS          10000u /* ms: its memory */
#define FEEDBACK_RISES_MIN         48u    /* 1.5 rises: the far range begins to count; all of it at twice this */
#define FEEDBACK_BRIGHT            (225u * FEEDBACK_LEVEL) /* an overexposed pixel fits a background above this */

/* Chroma: thresholds of |U| + |V|. */
#define FEEDBACK_CHROMA_THRESHOLD     (7u * FEEDBACK_LEVEL)
#define FEEDBACK_CHROMA_DEVIATIONS    4u /* chroma noise is not white */
#define FEEDBACK_CHROMA_DEVIATION_NEW FEEDBACK_LEVEL

/* Candidates: what is seen in the mask. */
#define FEEDBACK_CANDIDATE_RATE 8192u /* 1/8 a picture */
#define FEEDBACK_STILL_MS       16u   /* unit of the time for which a candidate stands still, up to */
#define FEEDBACK_STILL_FINE     1024u /* this many units, 16.4 s; longer times count in parts of what is left of absorb_ms */
#define FEEDBACK_STILL_KEPT \
    250u                             /* units, 4 s: a candidate that stood still for this long loses 1/16 by a change,
                                            not all: people shift their weight */
#define FEEDBACK_STILL_COARSE 60000u /* number of parts */
#define FEEDBACK_STILL_HELD   62u    /* units, 1 s: the most that counts in a held box; enough for ghosts to be judged */

/* Results of feedback_miss(). */
#define FEEDBACK_RAW   1u /* fits nothing: foreground, before shadows and filters */
#define FEEDBACK_RISES 2u /* fits no mode, but lies in the far range: the background may be moving */

/* ---------------------------------------------------------------- types */

/* Second and third mode, as broken sticks: `part` is the second's part of what the first mode's weight leaves, the third has the
 * rest; 0: neither exists. So nothing here changes while the first mode fits. */
typedef struct FeedbackRest {
    uint16_t mean[2];
    uint16_t part;
} FeedbackRest;

/* One pixel. Kept in separate arrays: 20 bytes in all, of which a pixel whose first mode fits needs the first five members. */
typedef struct FeedbackPixel {
    uint16_t mean, weight; /* of the first mode */
    uint16_t deviation;    /* mean deviation of what fits */
    uint16_t extra;        /* added to the threshold because of false alarms */
    uint8_t rises;         /* recurrence: FEEDBACK_RISE for each rise, decaying */
    FeedbackRest rest;
    uint16_t candidate; /* in the mask: what is seen there, */
    uint16_t still;     /* and for how long: feedback_still_ms() */
    uint8_t ghost;      /* in the mask: how long its region has looked like a ghost, 64ths of a second */
} FeedbackPixel;

/* One chroma sample, 16 bytes; of 2x2 pixels. */
typedef struct FeedbackChroma {
    uint16_t mean[2][2]; /* of two modes: U and V */
    uint16_t weight;     /* of the first mode; the second has the rest */
    uint16_t deviation;
    uint16_t candidate[2]; /* near the mask: U and V seen there */
} FeedbackChroma;

/* What all pixels of a picture share; made by feedback_begin(). */
typedef struct FeedbackFrame {
    uint32_t rate;                     /* 0.16, at most FEEDBACK_RATE_MAX: share of this picture in the modes */
    uint32_t deviation_rate;           /* 0.16, at most 0.5 */
    uint32_t decay;                    /* 0.16: of `rises` */
    uint32_t dither;                   /* 16 bits; of a pixel: feedback_dither() */
    uint32_t ms;                       /* since the picture before, 1..FEEDBACK_MAX_MS */
    uint32_t base;                     /* base of the threshold, 8.8 */
    uint32_t still_fine, still_coarse; /* 16.16: added to `still` */
    uint32_t absorb;                   /* value of `still` at which a pixel is absorbed; 65536: never */
    uint32_t ghost, moved;             /* added to `ghost` in such regions */
    uint32_t seed;                     /* the first picture: the model becomes it */
    uint32_t silent;                   /* learning has just begun: the mask is empty */
} FeedbackFrame;

/* ---------------------------------------------------------------- arithmetic */

MOTION_INLINE uint32_t feedback_min(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

MOTION_INLINE int feedback_clamp(int v, int lo, int hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

/* Rounds the values of a pixel. It has 16 bits, and takes each value once in 65,536 pictures. */
MOTION_INLINE uint32_t feedback_dither(const FeedbackFrame *frame, uint32_t x, uint32_t y)
{
    return (frame->dither + y * 51749u + x * MOTION_DITHER_X) & 65535u;
}

/* `from` moved towards `to` by a part `rate` of the distance, rounded by the dither. */
MOTION_INLINE uint32_t feedback_towards(uint32_t from, uint32_t to, uint32_t rate, uint32_t dither)
{
    return motion_towards(from, to, motion_step(motion_distance(from, to), rate, dither));
}

/* The part that a picture has in a mode of this weight, which includes the picture: young modes learn faster. */
MOTION_INLINE uint32_t feedback_share(uint32_t rate, uint32_t weight)
{
    return weight <= 2 * rate ? 32768u : rate * 65536u / weight;
}

/* The same of a first mode, whose weight is a third or more: 1 / weight is 1 + u + u^2, which needs no division. */
MOTION_INLINE uint32_t feedback_first_share(uint32_t rate, uint32_t weight)
{
    const uint32_t u = MOTION_ONE - weight, once = rate + (rate * u >> 16);
    return feedback_min(rate + (once * u >> 16), 32768u);
}

/* ---------------------------------------------------------------- luma: compare */

/* Below 2^16. */
MOTION_INLINE uint32_t feedback_threshold(uint32_t base, uint32_t mean, uint32_t deviation, uint32_t extra)
{
    return base + deviation * FEEDBACK_DEVIATIONS + (mean * FEEDBACK_RELATIVE >> 8) + extra;
}

MOTION_INLINE uint32_t feedback_second_weight(uint32_t weight, uint32_t part)
{
    return ((MOTION_ONE - weight) * part + MOTION_ONE) >> 16;
}

/* Smallest and largest first mode in the squares around a pixel, as far as they lie in the picture. */
typedef struct FeedbackRange {
    uint32_t near_min, near_max; /* 3x3 */
    uint32_t far_min, far_max;   /* 9x9 */
} FeedbackRange;

/* A part of the range around `mean`, and `margin` beyond. */
MOTION_INLINE bool feedback_within(uint32_t value, uint32_t mean, uint32_t min, uint32_t max, uint32_t part, uint32_t margin)
{
    return value + ((mean - min) * part >> 8) + margin >= mean && value <= mean + ((max - mean) * part >> 8) + margin;
}

/* How much of the far range counts, 256ths. */
MOTION_INLINE uint32_t feedback_far_part(uint32_t rises)
{
    return rises <= FEEDBACK_RISES_MIN ? 0 : feedback_min((rises - FEEDBACK_RISES_MIN) * 256u / FEEDBACK_RISES_MIN, 256u);
}

/* A pixel that is further than `threshold` from its first mode: FEEDBACK_... */
MOTION_INLINE uint32_t feedback_miss(uint32_t value, uint32_t threshold, uint32_t mean, uint32_t weight, uint32_t extra,
                                     uint32_t rises, const FeedbackRest *rest, const FeedbackRange *range)
{
    const uint32_t second = feedback_second_weight(weight, rest->part), third = MOTION_ONE - weight - second;
    const uint32_t near_part = feedback_min(FEEDBACK_NEAR_PART + extra / FEEDBACK_NEAR_EXTRA, 256u);
    const bool in_far_range = value >= range->far_min && value <= range->far_max;

    if (second >= FEEDBACK_BACKGROUND && motion_distance(value, rest->mean[0]) <= threshold)
        return 0;
    if (second && third >= FEEDBACK_BACKGROUND && motion_distance(value, rest->mean[1]) <= threshold)
        return 0;
    if (value == 65535u && mean > FEEDBACK_BRIGHT)
        return 0;
    if (feedback_within(value, mean, range->near_min, range->near_max, near_part, threshold))
        return 0;
    const bool fits = feedback_within(value, mean, range->far_min, range->far_max, feedback_far_part(rises), threshold);
    return (fits ? 0u : FEEDBACK_RAW) | (in_far_range ? FEEDBACK_RISES : 0u);
}

/* A pixel of the mask that may be background which moved: the far range contains it, give or take half a base threshold. Its
 * chroma, if there is any, must be explained too. */
MOTION_INLINE bool feedback_is_explained(uint32_t value, uint32_t base, uint32_t far_min, uint32_t far_max)
{
    return value + base / 2 >= far_min && value <= far_max + base / 2;
}

/* ---------------------------------------------------------------- luma: learn */

/* After one picture. A rise: FEEDBACK_RISES that was not there in the picture before, outside that picture's mask. */
MOTION_INLINE uint32_t feedback_rises(uint32_t rises, bool is_rise, uint32_t decay, uint32_t dither)
{
    const uint32_t more = feedback_min(rises + (is_rise ? FEEDBACK_RISE : 0u), 255u);
    return more - ((more * decay + dither) >> 16);
}

/* A false alarm: FEEDBACK_RAW outside the mask, while the mask is not silent. */
MOTION_INLINE uint32_t feedback_extra(uint32_t extra, bool is_alarm)
{
    const uint32_t less = extra - feedback_min(extra, FEEDBACK_EXTRA_DOWN);
    return is_alarm ? feedback_min(less + FEEDBACK_EXTRA_UP, FEEDBACK_EXTRA_MAX) : less;
}

MOTION_INLINE uint32_t feedback_deviation(uint32_t deviation, uint32_t distance, uint32_t rate, uint32_t dither)
{
    return feedback_min(feedback_towards(deviation, distance, rate, dither ^ 65535u), FEEDBACK_DEVIATION_MAX);
}

/* So near to its first mode that no other is asked: nearly all pixels. */
MOTION_INLINE bool feedback_is_near(uint32_t value, uint32_t mean, uint32_t threshold)
{
    return 2 * motion_distance(value, mean) <= threshold;
}

MOTION_INLINE void feedback_learn_first(uint32_t value, uint16_t *mean, uint16_t *weight, uint16_t *deviation,
                                        const FeedbackFrame *frame, uint32_t dither)
{
    const uint32_t distance = motion_distance(value, *mean);
    const uint32_t heavier = *weight + motion_step(MOTION_ONE - *weight, frame->rate, dither);
    *mean = (uint16_t)feedback_towards(*mean, value, feedback_first_share(frame->rate, heavier), dither);
    *weight = (uint16_t)heavier;
    *deviation = (uint16_t)feedback_deviation(*deviation, distance, frame->deviation_rate, dither);
}

/* Any pixel: the nearest mode within the threshold learns; if there is none, a new one begins in the place of the third. */
MOTION_INLINE void feedback_learn_any(uint32_t value, uint32_t threshold, uint16_t *mean, uint16_t *weight, uint16_t *deviation,
                                      FeedbackRest *rest, const FeedbackFrame *frame, uint32_t dither)
{
    const uint32_t before = feedback_second_weight(*weight, rest->part);
    uint32_t second = before - motion_step(before, frame->rate, dither);
    const uint32_t third_before = before ? MOTION_ONE - *weight - before : 0;
    uint32_t third = third_before - motion_step(third_before, frame->rate, dither);
    uint32_t mean_1 = rest->mean[0], mean_2 = rest->mean[1];
    const uint32_t to_second = before ? motion_distance(value, mean_1) : 65536u;
    const uint32_t to_third = third_before ? motion_distance(value, mean_2) : 65536u;
    const uint32_t to_first = motion_distance(value, *mean);
    if (to_first <= threshold && to_first <= to_second && to_first <= to_third) {
        feedback_learn_first(value, mean, weight, deviation, frame, dither);
        return;
    }

    if (to_second <= threshold && to_second <= to_third) {
        second += frame->rate;
        mean_1 = feedback_towards(mean_1, value, feedback_share(frame->rate, second), dither);
        *deviation = (uint16_t)feedback_deviation(*deviation, to_second, frame->deviation_rate, dither);
    } else if (to_third <= threshold) {
        third += frame->rate;
        mean_2 = feedback_towards(mean_2, value, feedback_share(frame->rate, third), dither);
        *deviation = (uint16_t)feedback_deviation(*deviation, to_third, frame->deviation_rate, dither);
    } else {
        /* The weight of a mode that is replaced falls to the first and the second in proportion. */
        second = before * (MOTION_ONE - frame->rate) / (MOTION_ONE - third_before);
        third = frame->rate;
        mean_2 = value;
    }
    uint32_t first = MOTION_ONE - feedback_min(second + third, MOTION_ONE);
    if (third > second) {
        const uint32_t w = second, m = mean_1;
        second = third, mean_1 = mean_2;
        third = w, mean_2 = m;
    }
    if (second > first) {
        const uint32_t w = first, m = *mean;
        first = second, *mean = (uint16_t)mean_1;
        second = w, mean_1 = m;
    }
    *weight = (uint16_t)first;
    rest->mean[0] = (uint16_t)mean_1, rest->mean[1] = (uint16_t)mean_2;
    rest->part = (uint16_t)(second + third ? second * MOTION_ONE / (second + third) : 0);
}

/* ---------------------------------------------------------------- luma: candidates */

/* A pixel of the mask. */
MOTION_INLINE void feedback_watch(uint32_t value, uint32_t threshold, uint16_t *candidate, uint16_t *still,
                                  const FeedbackFrame *frame, uint32_t dither)
{
    if (motion_distance(value, *candidate) <= threshold) {
        const uint32_t more = *still < FEEDBACK_STILL_FINE ? frame->still_fine : frame->still_coarse;
        *candidate = (uint16_t)feedback_towards(*candidate, value, FEEDBACK_CANDIDATE_RATE, dither);
        *still = (uint16_t)feedback_min(*still + ((more + dither) >> 16), 65535u);
    } else {
        *candidate = (uint16_t)value;
        *still = (uint16_t)(*still > FEEDBACK_STILL_KEPT ? *still - *still / 16 : 0);
    }
}

/* `still` of a pixel in a held box, which was `before` in the picture before: time beyond FEEDBACK_STILL_HELD does not count. */
MOTION_INLINE uint16_t feedback_held_still(uint32_t before, uint32_t still)
{
    return (uint16_t)feedback_min(still, before > FEEDBACK_STILL_HELD ? before : FEEDBACK_STILL_HELD);
}

/* The candidate becomes the first mode. Its chroma: feedback_absorb_chroma(). The pixel no longer counts as in the mask of the
 * picture before. */
MOTION_INLINE void feedback_absorb(uint32_t candidate, uint16_t *mean, uint16_t *weight, FeedbackRest *rest, uint16_t *still,
                                   uint8_t *ghost)
{
    rest->mean[1] = rest->mean[0];
    rest->mean[0] = *mean;
    rest->part = (uint16_t)(MOTION_ONE * 2u / 3u);
    *mean = (uint16_t)candidate;
    *weight = FEEDBACK_ABSORBED;
    *still = 0;
    *ghost = 0;
}

/* ---------------------------------------------------------------- shadows */

/* Luma for the sums of MotionShadow: above the model's black, in quarters of a level. Squares of 25 fit 32 bits. */
MOTION_INLINE uint32_t feedback_above_black(uint32_t value, uint32_t black)
{
    return value > black ? (value - black) >> 6 : 0;
}

/* As motion_is_shadow(), with limits for smoothed luma above black: the factor is from 0.5 to 0.96, and what it leaves is below
 * 0.006 of the background's energy. */
MOTION_INLINE bool feedback_is_shadow(const MotionShadow *sums)
{
    const uint64_t bb = sums->bb, gb = sums->gb, gg = sums->gg;
    return 2 * gb > bb && 100 * gb < 96 * bb && 1000 * (gg * bb - gb * gb) < 6 * bb * bb;
}

/* ---------------------------------------------------------------- chroma */

MOTION_INLINE uint32_t feedback_chroma_threshold(uint32_t deviation)
{
    return FEEDBACK_CHROMA_THRESHOLD + deviation * FEEDBACK_CHROMA_DEVIATIONS;
}

MOTION_INLINE uint32_t feedback_chroma_distance(uint32_t u, uint32_t v, uint32_t mean_u, uint32_t mean_v)
{
    return motion_distance(u, mean_u) + motion_distance(v, mean_v);
}

/* Smallest and largest first mode in the 5x5 around a sample, as far as they lie in the picture: of U and of V. */
typedef struct FeedbackChromaRange {
    uint32_t min[2], max[2];
} FeedbackChromaRange;

/* A sample that is further than `threshold` from its first mode. `rises`: of the pixel at its top left. */
MOTION_INLINE uint32_t feedback_chroma_miss(const uint32_t *uv, uint32_t threshold, const uint16_t *mean, const uint16_t *second,
                                            uint32_t weight, uint32_t rises, const FeedbackChromaRange *range)
{
    const uint32_t part = feedback_far_part(rises), margin = threshold / 2;
    bool in_far_range = true, fits = part > 0;

    for (int k = 0; k < 2; k++) {
        const uint32_t min = range->min[k], max = range->max[k];
        in_far_range &= feedback_within(uv[k], mean[k], min, max, 256u, margin);
        fits &= feedback_within(uv[k], mean[k], min, max, part, margin);
    }
    if (MOTION_ONE - weight >= FEEDBACK_BACKGROUND && feedback_chroma_distance(uv[0], uv[1], second[0], second[1]) <= threshold)
        return 0;
    return (in_far_range && fits ? 0u : FEEDBACK_RAW) | (in_far_range ? FEEDBACK_RISES : 0u);
}

/* The chroma of a pixel of the mask. */
MOTION_INLINE bool feedback_chroma_is_explained(const uint32_t *uv, const FeedbackChromaRange *range)
{
    const uint32_t margin = FEEDBACK_CHROMA_THRESHOLD / 2;
    return uv[0] + margin >= range->min[0] && uv[0] <= range->max[0] + margin && uv[1] + margin >= range->min[1] &&
           uv[1] <= range->max[1] + margin;
}

/* A sample outside the mask grown by FEEDBACK_GUARD, of which its top left pixel decides. */
MOTION_INLINE void feedback_learn_chroma(const uint32_t *uv, FeedbackChroma *c, const FeedbackFrame *frame, uint32_t dither)
{
    const uint32_t threshold = feedback_chroma_threshold(c->deviation);
    const uint32_t to_first = feedback_chroma_distance(uv[0], uv[1], c->mean[0][0], c->mean[0][1]);
    const uint32_t to_second = feedback_chroma_distance(uv[0], uv[1], c->mean[1][0], c->mean[1][1]);
    const int k = to_first <= threshold ? 0 : c->weight < MOTION_ONE && to_second <= threshold ? 1 : 2;

    c->weight = (uint16_t)feedback_towards(c->weight, k == 0 ? MOTION_ONE : 0, frame->rate, dither);
    if (k < 2) {
        const uint32_t share =
            k == 0 ? feedback_first_share(frame->rate, c->weight) : feedback_share(frame->rate, MOTION_ONE - c->weight);
        c->mean[k][0] = (uint16_t)feedback_towards(c->mean[k][0], uv[0], share, dither);
        c->mean[k][1] = (uint16_t)feedback_towards(c->mean[k][1], uv[1], share, dither ^ 65535u);
        c->deviation = (uint16_t)feedback_deviation(c->deviation, k ? to_second : to_first, frame->deviation_rate, dither);
    } else {
        c->mean[1][0] = (uint16_t)uv[0], c->mean[1][1] = (uint16_t)uv[1];
    }
    if (c->weight < 32768u) {
        c->weight = (uint16_t)(MOTION_ONE - c->weight);
        for (int j = 0; j < 2; j++) {
            const uint16_t m = c->mean[0][j];
            c->mean[0][j] = c->mean[1][j], c->mean[1][j] = m;
        }
    }
}

/* A sample in the mask grown by FEEDBACK_GUARD; `still`: of its top left pixel. */
MOTION_INLINE void feedback_watch_chroma(const uint32_t *uv, FeedbackChroma *c, uint32_t still, uint32_t dither)
{
    for (int j = 0; j < 2; j++)
        c->candidate[j] = (uint16_t)(still ? feedback_towards(c->candidate[j], uv[j], FEEDBACK_CANDIDATE_RATE, dither) : uv[j]);
}

/* Learnt anew: by the first picture, and after a step of light, because channels then clip differently and lamps have colours. */
MOTION_INLINE void feedback_seed_chroma(const uint32_t *uv, FeedbackChroma *c)
{
    c->mean[0][0] = (uint16_t)uv[0], c->mean[0][1] = (uint16_t)uv[1];
    c->weight = MOTION_ONE;
    c->deviation = FEEDBACK_CHROMA_DEVIATION_NEW;
}

/* With feedback_absorb() of any of its pixels. */
MOTION_INLINE void feedback_absorb_chroma(FeedbackChroma *c)
{
    c->mean[0][0] = c->candidate[0], c->mean[0][1] = c->candidate[1];
    c->weight = FEEDBACK_ABSORBED;
}

#endif
