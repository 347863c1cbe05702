// SPDX-FileCopyrightText: gst-ccl contributors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Takes shadows out of the foreground bits: a warp for each word that may have any, by columns of the square that its lanes
// share.

#include "cuda_motion.cuh"

#define UNSHADOW_BLOCKS 12 /* on a multiprocessor */

/* Sums over the five rows around row y of column x; what is outside counts nothing. */
__device__ static MotionShadow column_sums(const MotionPicture &picture, const uint16_t *mean, int x, int y)
{
    const size_t pitch = picture.words * 32;
    MotionShadow sums = { 0, 0, 0 };
#pragma unroll
    for (int j = -MOTION_SHADOW_RADIUS; j <= MOTION_SHADOW_RADIUS; j++) {
        const int row = y + j;
        const bool inside = row >= 0 && row < (int)picture.height && x >= 0 && x < (int)picture.width;
        const uint32_t g = inside ? picture.luma[row * picture.stride + x] : 0;
        const uint32_t b = inside ? mean[row * pitch + x] >> 8 : 0;
        motion_shadow_add(&sums, g, b);
    }
    return sums;
}

/* The sum of five lanes, beginning with this one; the lanes of `more` come after the last of `here`. */
__device__ static uint32_t sum_five(uint32_t here, uint32_t more, uint32_t lane)
{
    uint32_t sum = 0;
#pragma unroll
    for (uint32_t i = 0; i <= 2 * MOTION_SHADOW_RADIUS; i++) {
        const uint32_t a = __shfl_sync(~0u, here, (lane + i) % 32), b = __shfl_sync(~0u, more, (lane + i) % 32);
        sum += lane + i < 32 ? a : b;
    }
    return sum;
}

__global__ static void __launch_bounds__(MOTION_BLOCK_THREADS, UNSHADOW_BLOCKS)
unshadow(const __grid_constant__ MotionPicture picture, const uint16_t *mean, const __grid_constant__ MotionForeground bits,
         const MotionCounters *counters, uint64_t max_raw)
{
    const uint32_t lane = threadIdx.x % 32, n_warps = gridDim.x * MOTION_BLOCK_THREADS / 32;

    let_successor_start();
    wait_for_predecessor();
    const unsigned long long raw = counters->raw;
    const uint32_t n = (uint32_t)raw > max_raw ? 0 : (uint32_t)(raw >> 32);
    for (uint32_t i = (blockIdx.x * MOTION_BLOCK_THREADS + threadIdx.x) / 32; i < n; i += n_warps) {
        const uint2 listed = bits.dark[i];
        const uint32_t word = listed.x, set = listed.y;
        const int y = (int)(word / picture.words), x0 = (int)(word % picture.words) * 32, x = x0 + (int)lane;
        const bool darker = set >> lane & 1 && picture.luma[y * picture.stride + x] <
                                                   mean[(size_t)y * picture.words * 32 + x] >> 8;
        const MotionShadow here = column_sums(picture, mean, x - MOTION_SHADOW_RADIUS, y);
        MotionShadow more = { 0, 0, 0 };
        if (lane < 2 * MOTION_SHADOW_RADIUS)
            more = column_sums(picture, mean, x + 32 - MOTION_SHADOW_RADIUS, y);
        const MotionShadow sums = { sum_five(here.bb, more.bb, lane), sum_five(here.gb, more.gb, lane),
                                    sum_five(here.gg, more.gg, lane) };
        const uint32_t shadows = __ballot_sync(~0u, darker && motion_is_shadow(&sums));
        if (!lane && shadows)
            bits.image[word] = set & ~shadows;
    }
}

CclStatus cuda_motion_unshadow(const CclMotion *motion, const MotionWork *work, const uint16_t *mean)
{
    const CudaMotion *const cuda = cuda_motion(motion);
    const unsigned max_blocks = blocks_for((size_t)work->picture.words * work->picture.height * 32, MOTION_BLOCK_THREADS);
    const unsigned n_blocks = min(max_blocks, cuda->device.multiprocessors * UNSHADOW_BLOCKS);
    return cuda_motion_launch(cuda, true, unshadow, { n_blocks, MOTION_BLOCK_THREADS, 0 }, work->picture, mean,
                              work->foreground, work->counters, work->frame->max_raw_foreground);
}
