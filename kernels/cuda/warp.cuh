/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Sums and minima over a warp: one instruction from sm_80 on. All 32 lanes call it. */
#ifndef CCL_CUDA_WARP_CUH
#define CCL_CUDA_WARP_CUH

#include <stdint.h>

__device__ static inline uint32_t warp_sum(uint32_t value)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(~0u, value);
#else
    for (int i = 16; i; i /= 2)
        value += __shfl_xor_sync(~0u, value, i);
    return value;
#endif
}

__device__ static inline uint32_t warp_min(uint32_t value)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_min_sync(~0u, value);
#else
    for (int i = 16; i; i /= 2)
        value = min(value, __shfl_xor_sync(~0u, value, i));
    return value;
#endif
}

/* Sum over the lanes up to this one, inclusive. */
__device__ static inline uint32_t warp_scan(uint32_t value)
{
    const uint32_t lane = threadIdx.x % 32;
#pragma unroll
    for (uint32_t i = 1; i < 32; i *= 2) {
        const uint32_t other = __shfl_up_sync(~0u, value, i);
        if (lane >= i)
            value += other;
    }
    return value;
}

#endif
