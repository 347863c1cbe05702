/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A run as vectors of 16 samples; the tier's LumaLanes and its functions must come before. */
#ifndef CCL_CPU_LUMA_RUN_H
#define CCL_CPU_LUMA_RUN_H

/* Adds n samples, at most LUMA_PART. The last vector ends where the run ends, so it may begin before the run, but not before
 * the row. */
static inline void add_luma_part(LumaLanes *lanes, const uint8_t *samples, uint32_t n)
{
    uint32_t k = 0;
    for (; k + LUMA_LANES <= n; k += LUMA_LANES)
        add_luma_lanes(lanes, samples + k, LUMA_LANES, k);
    if (k < n)
        add_luma_lanes(lanes, samples + n - LUMA_LANES, n - k, k);
}

/* The samples [x0, x1) of a row. */
static inline CclLuma luma_of_run(const uint8_t *row, uint32_t x0, uint32_t x1)
{
    CclLuma luma = ccl_no_luma;
    LumaLanes lanes = { .min = _mm_set1_epi8(-1), .max = _mm_setzero_si128() };

    if (x1 < LUMA_LANES) {
        for (uint32_t x = x0; x < x1; x++)
            add_sample(&luma, x - x0, row[x]);
        return luma;
    }
    uint32_t x = x0, sums[4];
    for (; x + LUMA_PART < x1; x += LUMA_PART) {
        luma_lanes_clear(&lanes);
        add_luma_part(&lanes, row + x, LUMA_PART);
        luma_lanes_sum(&lanes, sums);
        add_part(&luma, x - x0, sums);
    }
    luma_lanes_clear(&lanes);
    add_luma_part(&lanes, row + x, x1 - x);
    luma_lanes_sum(&lanes, sums);
    luma_reduce_extremes(&luma, lanes.min, lanes.max);
    if (x > x0)
        add_part(&luma, x - x0, sums);
    else /* nearly all runs */
        luma.sum = sums[0], luma.squares = sums[1], luma.k = sums[2], luma.kk = sums[3];
    return luma;
}

#endif
