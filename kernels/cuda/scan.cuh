/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A running sum over the tiles of a grid in one kernel, after Merrill and Garland, "Single-pass Parallel Prefix Scan with
 * Decoupled Look-back", NVIDIA 2016. A tile publishes its own count. Then it adds up the values of the tiles before it, back to
 * one that has published its total. Then it publishes its own total.
 *
 * A counter gives tiles to blocks in order, so a tile only waits for tiles that are already running. So there is no deadlock,
 * even if few blocks run at a time. scan[0] is the counter, scan[1 + tile] the word of a tile. All are zero at the start.
 */
#ifndef CCL_CUDA_SCAN_CUH
#define CCL_CUDA_SCAN_CUH

#include "warp.cuh"

#include <stdint.h>

#define SCAN_COUNT 0x40000000u /* the tile's own count is known */
#define SCAN_TOTAL 0x80000000u /* the sum up to and with the tile is known */
#define SCAN_VALUE 0x3fffffffu

#define SCAN_WORDS(n_tiles) ((n_tiles) + 1)

/* The next tile, for the whole block. */
__device__ static inline uint32_t scan_next_tile(uint32_t *scan)
{
    __shared__ uint32_t tile;
    __syncthreads(); /* all threads have read the number of the tile before */
    if (threadIdx.x == 0)
        tile = atomicAdd(&scan[0], 1);
    __syncthreads();
    return tile;
}

/* Sum of the counts of all tiles before `tile`. Called by one whole warp. */
__device__ static inline uint32_t scan_before(uint32_t *scan, uint32_t tile, uint32_t count)
{
    volatile uint32_t *const words = scan + 1;
    const uint32_t lane = threadIdx.x % 32;
    uint32_t before = 0;

    if (tile && lane == 0)
        words[tile] = SCAN_COUNT | count;
    for (int64_t last = (int64_t)tile - 1; last >= 0; last -= 32) {
        const int64_t i = last - lane; /* lane 0 has the nearest */
        uint32_t word;
        do
            word = i < 0 ? SCAN_TOTAL : words[i];
        while (__any_sync(~0u, !(word & (SCAN_COUNT | SCAN_TOTAL))));
        const uint32_t totals = __ballot_sync(~0u, (word & SCAN_TOTAL) != 0);
        const uint32_t nearest = totals ? __ffs(totals) - 1 : 31;
        before += warp_sum(lane <= nearest ? word & SCAN_VALUE : 0);
        if (totals)
            break;
    }
    if (lane == 0)
        words[tile] = SCAN_TOTAL | (before + count);
    return before;
}

#endif
