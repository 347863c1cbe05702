/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Method "feedback": the range of means around a pixel, two pixels at a time. */
#ifndef CCL_CUDA_MOTION_FEEDBACK_RANGE_CUH
#define CCL_CUDA_MOTION_FEEDBACK_RANGE_CUH

#include "feedback.cuh"

/* The smaller and the larger half of a word. */
__device__ static inline uint32_t smaller_half(uint32_t halves)
{
    return min(halves & 65535, halves >> 16);
}

__device__ static inline uint32_t larger_half(uint32_t halves)
{
    return max(halves & 65535, halves >> 16);
}

/* The halves of the words of a group that come before column `n` of it. */
__device__ static inline uint2 columns_before(uint32_t n)
{
    return make_uint2(n >= 2 ? ~0u : n ? 0xffffu : 0, n >= 4 ? ~0u : n == 3 ? 0xffffu : 0);
}

/* Smallest and largest of 9x9 means, of which the first is in this row and column of a tile: the columns are in three groups of
 * four, of which the first and the last are not whole. Rows are WIDTH wide, and aligned to groups. */
template <int WIDTH> __device__ static inline void far_range(const uint16_t *tile, int row, int column, FeedbackRange *range)
{
    static_assert(2 * FEEDBACK_FAR_RADIUS == 8 && WIDTH % 4 == 0, "three groups");
    const uint32_t in_first = (uint32_t)column % 4;
    const uint2 before = columns_before(in_first), in_last = columns_before(in_first + 1);
    uint2 least[3], most[3];
    for (int g = 0; g < 3; g++)
        least[g] = make_uint2(~0u, ~0u), most[g] = make_uint2(0, 0);
#pragma unroll
    for (int j = 0; j <= 2 * FEEDBACK_FAR_RADIUS; j++) {
        const uint2 *const means = (const uint2 *)(tile + (row + j) * WIDTH + (column & ~3));
#pragma unroll
        for (int g = 0; g < 3; g++) {
            const uint2 four = means[g];
            least[g].x = __vminu2(least[g].x, four.x), least[g].y = __vminu2(least[g].y, four.y);
            most[g].x = __vmaxu2(most[g].x, four.x), most[g].y = __vmaxu2(most[g].y, four.y);
        }
    }
    uint32_t smallest = __vminu2(least[1].x, least[1].y), largest = __vmaxu2(most[1].x, most[1].y);
    smallest = __vminu2(smallest, __vminu2(least[0].x | before.x, least[0].y | before.y));
    largest = __vmaxu2(largest, __vmaxu2(most[0].x & ~before.x, most[0].y & ~before.y));
    smallest = __vminu2(smallest, __vminu2(least[2].x | ~in_last.x, least[2].y | ~in_last.y));
    largest = __vmaxu2(largest, __vmaxu2(most[2].x & in_last.x, most[2].y & in_last.y));
    range->far_min = smaller_half(smallest), range->far_max = larger_half(largest);
}

#endif
