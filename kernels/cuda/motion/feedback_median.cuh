/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Method "feedback": medians of histograms in device memory. */
#ifndef CCL_CUDA_MOTION_FEEDBACK_MEDIAN_CUH
#define CCL_CUDA_MOTION_FEEDBACK_MEDIAN_CUH

#include "feedback.cuh"

/* The first bin at which `part` times the samples so far are all samples or more. */
typedef struct FoundBin {
    uint32_t n, bin, before, in_bin; /* all samples; those before the bin; those in it */
} FoundBin;

/* A warp looks for the bin; a histogram of 32 * PER_LANE bins, which is 0 afterwards. All its loads are on their way at once. */
template <uint32_t PER_LANE> __device__ static inline FoundBin take_bin(uint32_t *bins, uint32_t part)
{
    const uint32_t lane = threadIdx.x % 32;
    uint4 *const at = (uint4 *)(bins + lane * PER_LANE);
    union {
        uint4 words[PER_LANE / 4];
        uint32_t of[PER_LANE];
    } counts;
    uint32_t own = 0;
#pragma unroll
    for (uint32_t i = 0; i < PER_LANE / 4; i++)
        counts.words[i] = __ldcg(at + i);
#pragma unroll
    for (uint32_t i = 0; i < PER_LANE; i++)
        own += counts.of[i];
    for (uint32_t i = 0; i < PER_LANE / 4; i++)
        at[i] = make_uint4(0, 0, 0, 0);
    uint32_t before = own;
    for (uint32_t d = 1; d < 32; d *= 2) {
        const uint32_t other = __shfl_up_sync(~0u, before, d);
        before += lane >= d ? other : 0;
    }
    FoundBin found = { __shfl_sync(~0u, before, 31), 0, 0, 0 };
    /* The last lane has them all. */
    const uint32_t owner = (uint32_t)__ffs((int)__ballot_sync(~0u, part * before >= found.n)) - 1;
    uint32_t sum = before - own;
    bool is_found = false;
#pragma unroll
    for (uint32_t i = 0; i < PER_LANE; i++) {
        if (!is_found && part * (sum + counts.of[i]) >= found.n) {
            found.bin = lane * PER_LANE + i, found.before = sum, found.in_bin = counts.of[i];
            is_found = true;
        }
        sum += counts.of[i];
    }
    found.bin = __shfl_sync(~0u, found.bin, owner);
    found.before = __shfl_sync(~0u, found.before, owner);
    found.in_bin = __shfl_sync(~0u, found.in_bin, owner);
    return found;
}

/* feedback_median() by a warp, of a histogram that is 0 afterwards. */
__device__ static inline int take_median(uint32_t *bins)
{
    const FoundBin found = take_bin<FEEDBACK_BINS / 32>(bins, 2);
    return found.n < FEEDBACK_MIN_SAMPLES ? -1 : feedback_median_in_bin(found.n, found.bin, found.before, found.in_bin);
}

#endif
