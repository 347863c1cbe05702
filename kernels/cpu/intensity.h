/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Sums of samples of luma and chroma under runs. */
#ifndef CCL_CPU_INTENSITY_H
#define CCL_CPU_INTENSITY_H

#include "ccl.h"

#include <string.h>

/* Over the samples I of one run, k = 0, 1, ... from its first pixel. */
typedef struct CclLuma {
    uint64_t sum, squares, k, kk; /* of I, I^2, k I, k^2 I */
    uint16_t min, max;
} CclLuma;

static const CclLuma ccl_no_luma = { 0, 0, 0, 0, UINT16_MAX, 0 };

static inline uint16_t wide_sample(const uint8_t *samples, size_t i)
{
    uint16_t sample;
    memcpy(&sample, samples + 2 * i, 2);
    return sample;
}

static inline void add_sample(CclLuma *luma, uint64_t k, uint16_t sample)
{
    const uint64_t value = sample;
    luma->sum += value;
    luma->squares += value * value;
    luma->k += k * value;
    luma->kk += k * k * value;
    luma->min = sample < luma->min ? sample : luma->min;
    luma->max = sample > luma->max ? sample : luma->max;
}

/* Adds the sums over a part of a run that begins at pixel `at` of it: sum, squares, k and kk from the part's first pixel. */
static inline void add_part(CclLuma *luma, uint64_t at, const uint32_t part[4])
{
    luma->sum += part[0];
    luma->squares += part[1];
    luma->k += part[2] + at * part[0];
    luma->kk += part[3] + 2 * at * part[2] + at * at * part[0];
}

/* A sum of two words, the low one first. */
static inline void add_wide(uint64_t sum[2], uint64_t low, uint64_t high)
{
    sum[0] += low;
    sum[1] += high + (sum[0] < low);
}

#endif
