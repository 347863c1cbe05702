/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The label image of a tile, written by measure. */
#ifndef CCL_CUDA_RUNS_LABELS_CUH
#define CCL_CUDA_RUNS_LABELS_CUH

#include "cuda/runs/plan.cuh"

/* Writes the label image. A warp writes 512 bytes of a row at a time: two words of its four. Each lane has one of the words of
 * its warp, and the index of that word's first run. A strip is two of a warp's rows. */
template <uint32_t LANES, bool STRIPS>
__device__ static inline void paint(const Plan &plan, const CudaVars *vars, const uint32_t *labels, uint64_t bits,
                                    uint32_t first_run)
{
    const uint32_t lane = threadIdx.x % 32, mine = threadIdx.x / TILE_WORDS;
    const uint32_t x_of_lane = blockIdx.x * 2048 + threadIdx.x % TILE_WORDS / 32 * 256 + lane * 4;
    const uint32_t tile_y = blockIdx.y * TILE_ROWS;
    /* In variables. Otherwise they would be loaded again after each store. */
    const uint32_t width = plan.width, n_rows = min(plan.height - tile_y, TILE_ROWS);
    const size_t stride = vars->label_stride;
    uint32_t *const corner = vars->labels + tile_y * stride + x_of_lane;
    const bool aligned = (uintptr_t)corner % 16 == 0 && stride % 4 == 0;
    const uint32_t occupied = __ballot_sync(~0u, bits != 0);
    const uint32_t low = (uint32_t)bits, high = (uint32_t)(bits >> 32);
    const auto of_lane = [](uint32_t low, uint32_t high, uint32_t owner) {
        return __shfl_sync(~0u, low, owner) | (uint64_t)__shfl_sync(~0u, high, owner) << 32;
    };
    const auto of_strip = [](uint32_t half) { return half | __shfl_xor_sync(~0u, half, 4); };
    const uint32_t low_strip = STRIPS ? of_strip(low) : low, high_strip = STRIPS ? of_strip(high) : high;
    for (uint32_t i = mine * (32 / LANES); i < (mine + 1) * (32 / LANES); i += 2) {
        const uint32_t x = x_of_lane + i % 4 * 64;
        uint4 value = make_uint4(0, 0, 0, 0);
        if (occupied >> i & 3) {
            const uint32_t owner = i + lane / 16, shift = lane % 16 * 4;
            const uint64_t b = of_lane(low, high, owner), nodes = STRIPS ? of_lane(low_strip, high_strip, owner) : b;
            const uint32_t first = __shfl_sync(~0u, first_run, owner), nibble = b >> shift & 15;
            if (nibble) {
                const uint32_t runs = nodes >> shift & 15, from = __ffs(runs) - 1;
                const uint32_t *const label = &labels[first + rank_of(starts_of(nodes), shift + from)];
                const uint32_t again = runs & ~(runs << 1) & ~(1u << from); /* where a second run starts */
                const uint32_t one = label[0], two = again ? label[1] : 0;
                const uint32_t before = again ? again - 1 : 15;
                value.x = nibble & 1 ? one : 0;
                value.y = nibble & 2 ? before & 2 ? one : two : 0;
                value.z = nibble & 4 ? before & 4 ? one : two : 0;
                value.w = nibble & 8 ? before & 8 ? one : two : 0;
            }
        }
        if (i / 4 >= n_rows || x >= width)
            continue;
        uint32_t *const pixels = corner + i / 4 * stride + i % 4 * 64;
        if (aligned && x + 4 <= width)
            __stcs((uint4 *)pixels, value);
        else
            store_four(pixels, value, width - x, false);
    }
}

template <uint32_t LANES>
__device__ static __forceinline__ void paint_tile(const Plan &plan, const CudaVars *vars, const uint32_t *labels, uint64_t bits,
                                                  uint32_t first_run, bool strips)
{
    if (strips)
        paint<LANES, true>(plan, vars, labels, bits, first_run);
    else
        paint<LANES, false>(plan, vars, labels, bits, first_run);
}

#endif
