/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Samples of 8 bits -> sums. Plain C. */
#ifndef CCL_CPU_LUMA_PLAIN_H
#define CCL_CPU_LUMA_PLAIN_H

#include "intensity.h"

/* The samples [x0, x1) of a row. */
static inline CclLuma luma_of_run(const uint8_t *row, uint32_t x0, uint32_t x1)
{
    CclLuma luma = ccl_no_luma;
    for (uint32_t x = x0; x < x1; x++)
        add_sample(&luma, x - x0, row[x]);
    return luma;
}

/* The samples [first, first + n) of a row. */
static inline uint64_t sum_of_samples(const uint8_t *row, uint32_t first, uint32_t n)
{
    uint64_t sum = 0;
    for (uint32_t i = first; i < first + n; i++)
        sum += row[i];
    return sum;
}

/* The same of a row of which every second byte is a sample. */
static inline uint64_t sum_of_second_samples(const uint8_t *row, uint32_t first, uint32_t n)
{
    uint64_t sum = 0;
    for (uint32_t i = first; i < first + n; i++)
        sum += row[2 * (size_t)i];
    return sum;
}

#endif
