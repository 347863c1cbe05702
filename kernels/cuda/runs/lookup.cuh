/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* From a pixel to its run, and from a run to the root of its component. */
#ifndef CCL_CUDA_RUNS_LOOKUP_CUH
#define CCL_CUDA_RUNS_LOOKUP_CUH

#include "cuda/runs/plan.cuh"

/* value: the node itself, or NUMBERED; then each component has another. */
typedef struct Root {
    uint32_t node, value;
} Root;

__device__ static inline TileAt tile_of_pixel(uint32_t x, uint32_t y)
{
    return TileAt{ x / 2048, y / TILE_ROWS };
}

/* The entry of Plan.runs of a foreground pixel, also in tiles whose runs are those of strips. */
__device__ static inline uint32_t entry_of_pixel(const Plan &plan, uint32_t x, uint32_t y)
{
    const uint32_t word = y * plan.row_words + x / 64, tile_at = tile_number(plan, tile_of_pixel(x, y));
    /* Loaded in any case, so that several lookups have no branch between their loads. */
    const uint64_t other = plan.bits[min(y ^ 1, plan.height - 1) * plan.row_words + x / 64];
    const bool joins = plan.n_runs[tile_at] & OF_STRIPS && (y ^ 1) < plan.height;
    const uint64_t nodes = plan.bits[word] | (joins ? other : 0);
    const uint32_t run = plan.first_runs[word] + rank_of(starts_of(nodes), x % 64);
    return plan.runs[(size_t)tile_at * TILE_RUNS + run];
}

__device__ static inline Root root_of_entry(const Plan &plan, TileAt where, uint32_t entry)
{
    Root root = { node_of(plan, where, entry >> 14), 0 };
    root.value = __ldcg(&plan.parents[root.node]); /* race: of a root, which gets its number; both values tell that it is one */
    while (root.value != root.node && !(root.value & NUMBERED)) {
        root.node = root.value;
        root.value = __ldcg(&plan.parents[root.node]); /* race: the same */
    }
    return root;
}

__device__ static inline Root root_of_pixel(const Plan &plan, uint32_t x, uint32_t y)
{
    return root_of_entry(plan, tile_of_pixel(x, y), entry_of_pixel(plan, x, y));
}

#endif
