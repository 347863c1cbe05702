/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Arithmetic in 16 bits for loops over blocks of 64 pixels; compiled for each tier. The tier's bits_*.h must come before. */
#ifndef CCL_CPU_MOTION_STRIP16_H
#define CCL_CPU_MOTION_STRIP16_H

#include "motion_feedback.h"
#include "host/words.h"

#define BLOCK 64

/* motion_step() in 16 bits: the upper half of the product, and the carry out of the lower. */
static inline uint16_t step16(uint16_t distance, uint16_t rate, uint16_t dither)
{
    const uint16_t high = (uint16_t)((uint32_t)distance * rate >> 16);
    const uint16_t low = (uint16_t)((uint32_t)distance * rate);
    const uint16_t sum = (uint16_t)(low + dither);
    return (uint16_t)(high + (sum < low));
}

static inline uint64_t pack64_u8(const uint8_t *pixels, unsigned threshold)
{
    uint64_t word;
    pack_u8(&word, pixels, 1, threshold);
    return word;
}

static inline uint16_t min16(uint16_t a, uint16_t b)
{
    return a < b ? a : b;
}

static inline uint16_t max16(uint16_t a, uint16_t b)
{
    return a > b ? a : b;
}

static inline uint16_t distance16(uint16_t a, uint16_t b)
{
    return (uint16_t)(max16(a, b) - min16(a, b));
}

static inline uint16_t towards16(uint16_t from, uint16_t to, uint16_t step)
{
    return (uint16_t)(to > from ? from + step : from - step);
}

/* a where the mask is 65535, b where it is 0; without a branch, which would keep a loop from becoming vector instructions. */
static inline uint16_t select16(uint16_t mask, uint16_t a, uint16_t b)
{
    return (uint16_t)((a & mask) | (b & (uint16_t)~mask));
}

/* feedback_threshold() */
static inline uint16_t threshold16(uint16_t base, uint16_t mean, uint16_t deviation, uint16_t extra)
{
    const uint16_t relative = (uint16_t)((uint32_t)mean * (FEEDBACK_RELATIVE << 8) >> 16);
    return (uint16_t)(base + deviation * FEEDBACK_DEVIATIONS + relative + extra);
}

/* feedback_first_share() */
static inline uint16_t share16(uint16_t rate, uint16_t weight)
{
    const uint16_t u = (uint16_t)(MOTION_ONE - weight);
    const uint16_t once = (uint16_t)(rate + ((uint32_t)rate * u >> 16));
    return min16((uint16_t)(rate + ((uint32_t)once * u >> 16)), 32768);
}

#endif
