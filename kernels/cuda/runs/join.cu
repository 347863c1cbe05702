/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The kernels of label/runs.cu between solve and measure: `join` unites tiles, `number` numbers components. */
#include "cuda/runs/launch.cuh"
#include "cuda/runs/lookup.cuh"
#include "cuda/union_find.cuh"

/* ---------------------------------------------------------------- join */

/* Notes that the component of a root has shares in other tiles. Many threads may note the same root: reading first saves most
 * of their atomics. */
__device__ static inline void note_other_shares(const Plan &plan, uint32_t root)
{
    uint32_t *const known = &plan.roots[root / 32].y;
    if (!(*(volatile uint32_t *)known >> root % 32 & 1))
        atomicOr(known, 1u << root % 32);
}

/* Climbs from up to four nodes at once, so that four loads are in flight: first_node | every eighth of the ranks. Each step
 * also shortens the path in the node's own slot, for other threads. If the first step ends at a root, that is the root of the
 * node's own tile, and it has shares in other tiles. A root that is found later is noted by another thread: by the one that
 * hooked a root to it, or by one that climbs from its own tile. To note it here too would send all threads of a comb-like mask
 * to the same few words. */
__device__ static inline void climb_from(const Plan &plan, uint32_t first_node, uint32_t ranks)
{
    uint32_t *const parents = plan.parents;
    uint32_t up[4];
    bool first = true;
#pragma unroll
    for (uint32_t i = 0; i < 4; i++)
        if (ranks >> 8 * i & 1)
            up[i] = __ldcg(&parents[first_node | 8 * i]);
    while (ranks) {
        uint32_t next[4];
#pragma unroll
        for (uint32_t i = 0; i < 4; i++)
            if (ranks >> 8 * i & 1)
                next[i] = __ldcg(&parents[up[i]]);
#pragma unroll
        for (uint32_t i = 0; i < 4; i++) {
            if (!(ranks >> 8 * i & 1))
                continue;
            if (next[i] == up[i]) {
                if (first)
                    note_other_shares(plan, up[i]);
                ranks &= ~(1u << 8 * i);
            } else {
                __stcg(&parents[first_node | 8 * i], next[i]);
                up[i] = next[i];
            }
        }
        first = false;
    }
}

/* *noted: the root that this thread noted last. */
__device__ static inline void unite_nodes(const Plan &plan, uint32_t a, uint32_t b, uint32_t *noted)
{
    unite_shortening(plan.parents, a, b, [&](uint32_t larger, uint32_t smaller) {
        atomicAnd(&plan.roots[larger / 32].x, ~(1u << larger % 32));
        if (smaller != *noted)
            note_other_shares(plan, smaller);
        *noted = smaller;
    });
}

/* Joins a band to the one below: eight lanes for each word of the band's last row. Runs that are roots of the tile below climb.
 * Runs that the tile below joins to other runs of this row are united with them. */
__device__ static inline void join_bands(const Plan &plan, uint32_t band, uint32_t word_x)
{
    if (word_x >= plan.row_words)
        return;
    const uint32_t first_node = ((band * TILE_ROWS + TILE_ROWS - 1) * plan.row_words + word_x) << 5;
    const uint32_t below = (band + 1) * plan.row_words + word_x, own_ranks = 0x01010101u << threadIdx.x % 8;
    const uint2 masks = plan.border[below];
    const uint32_t joined = masks.y & own_ranks, several = joined & (joined - 1) ? joined : 0;
    const uint32_t climbers = (masks.x & own_ranks) | several; /* several unions would climb one after the other */
    const auto partner_of = [&](uint32_t ranks) { return ranks ? plan.partners[below << 5 | (__ffs(ranks) - 1)] : 0; };
    uint32_t noted = ~0u, partner = partner_of(joined); /* its load overlaps the climb */
    if (climbers)
        climb_from(plan, first_node | threadIdx.x % 8, climbers >> threadIdx.x % 8);
    for (uint32_t left = joined; left;) {
        const uint32_t node = first_node | (__ffs(left) - 1), other = partner;
        left &= left - 1;
        partner = partner_of(left);
        unite_nodes(plan, node, other, &noted);
    }
}

/* Joins tiles side by side, where the row above does not imply it. */
template <bool EIGHT> __device__ static inline void join_sides(const Plan &plan, uint32_t y, uint32_t seam)
{
    const uint32_t right_word = y * plan.row_words + seam * 32, left_word = right_word - 1;
    const uint64_t left = plan.bits[left_word], right = plan.bits[right_word];
    const uint64_t upper_left = y ? plan.bits[left_word - plan.row_words] : 0;
    const uint64_t upper_right = y ? plan.bits[right_word - plan.row_words] : 0;
    const bool l = left >> 63, r = right & 1, ul = upper_left >> 63, ur = upper_right & 1;
    uint32_t noted = ~0u;
    if (l && r && !(ul && ur))
        unite_nodes(plan, left_word << 5 | last_rank(left), right_word << 5, &noted);
    if (EIGHT && l && ur && !ul && !r)
        unite_nodes(plan, left_word << 5 | last_rank(left), (right_word - plan.row_words) << 5, &noted);
    if (EIGHT && r && ul && !ur && !l)
        unite_nodes(plan, right_word << 5, (left_word - plan.row_words) << 5 | last_rank(upper_left), &noted);
}

/* Blocks (x, band) take 32 words of a band's last row. The later rows of the grid take the sides of tiles. */
template <bool EIGHT, typename Jobs> static __global__ void __launch_bounds__(JOIN_THREADS) join(const Jobs jobs)
{
    const Plan &plan = jobs.get().plan;
    if (Jobs::MANY && blockIdx.x >= plan.tiles_x)
        return;
    let_successor_start();
    wait_for_predecessor();
    if (blockIdx.y + 1 < plan.bands) {
        join_bands(plan, blockIdx.y, blockIdx.x * 32 + threadIdx.x / 8);
    } else {
        const uint32_t y = (blockIdx.y + 1 - plan.bands) * JOIN_THREADS + threadIdx.x;
        if (!blockIdx.x || y >= plan.height)
            return;
        if (Jobs::HAS_INVERSE && blockIdx.z)
            join_sides<!EIGHT>(plan, y, blockIdx.x);
        else
            join_sides<EIGHT>(plan, y, blockIdx.x);
    }
}

/* ---------------------------------------------------------------- outside */

/* Pixels of the bottom row come by words, those of the first and last columns one by one. */
static uint32_t n_border_items(const Plan &plan)
{
    return (plan.width + 63) / 64 + 2 * plan.height;
}

__device__ static inline void mark_outside(const Plan &plan, uint32_t *outside, uint32_t x, uint32_t y)
{
    const uint32_t node = root_of_pixel(plan, x, y).node;
    atomicOr(&outside[node / 32], 1u << node % 32);
}

/* Marks the roots of components that touch the bottom or a side. Roots in the first row need no mark. */
__device__ static inline void mark_border(const Plan &plan, uint32_t *outside, uint32_t item)
{
    const uint32_t n_words = (plan.width + 63) / 64, bottom = plan.height - 1;
    if (item < n_words) {
        for (uint64_t starts = starts_of(plan.bits[bottom * plan.row_words + item]); starts; starts &= starts - 1)
            mark_outside(plan, outside, item * 64 + __ffsll(starts) - 1, bottom);
        return;
    }
    const uint32_t y = (item - n_words) / 2, x = item - n_words & 1 ? plan.width - 1 : 0;
    if (y >= plan.height)
        return;
    /* The topmost pixel of a vertical line is enough. */
    const uint64_t *const word = plan.bits + y * plan.row_words + x / 64;
    const uint64_t above = y ? *(word - plan.row_words) : 0;
    if ((*word & ~above) >> x % 64 & 1)
        mark_outside(plan, outside, x, y);
}

/* ---------------------------------------------------------------- number */

/* A block takes a chunk of words. With an inverse, the blocks after the last chunk take its border, while others number roots:
 * a lookup ends at a root with a number or without. */
template <typename Jobs> static __global__ void __launch_bounds__(NUMBER_THREADS) number(const Jobs jobs)
{
    const Plan &plan = jobs.get().plan;
    if (Jobs::MANY && blockIdx.x >= plan.n_chunks)
        return;
    const uint32_t n_words = plan.height * plan.row_words, each = plan.chunk_words / NUMBER_THREADS;
    const uint32_t first = blockIdx.x * plan.chunk_words + threadIdx.x * each;

    wait_for_predecessor();
    if (!Jobs::MANY)
        let_successor_start(); /* solve and join have ended: measure and count_holes rely on that */
    if constexpr (Jobs::HAS_INVERSE)
        if (blockIdx.x >= plan.n_chunks) {
            if (blockIdx.z)
                mark_border(plan, jobs.outside, (blockIdx.x - plan.n_chunks) * NUMBER_THREADS + threadIdx.x);
            return;
        }
    uint32_t n_roots = 0, total;
    for (uint32_t i = 0; i < each && first + i < n_words; i++)
        n_roots += __popc(plan.roots[first + i].x);
    uint32_t rank = block_scan<NUMBER_THREADS>(n_roots, &total);
    if (threadIdx.x == 0)
        plan.chunk_counts[blockIdx.x] = total;
    if (!n_roots)
        return;
    for (uint32_t i = 0; i < each && first + i < n_words; i++) {
        const uint2 roots = plan.roots[first + i];
        for (uint32_t left = roots.x; left; left &= left - 1) {
            const uint32_t inside = roots.y & left & -left ? 0 : INSIDE;
            plan.parents[(first + i) << 5 | (__ffs(left) - 1)] = NUMBERED | inside | blockIdx.x << 17 | rank++;
        }
    }
}

/* ---------------------------------------------------------------- launch */

template <bool EIGHT, typename Jobs> CclStatus launch_join(CudaFrame *frame, const Jobs &jobs, dim3 grid)
{
    return cuda_launch(frame, "join", LAUNCH_SOONER, join<EIGHT, Jobs>, { grid, JOIN_THREADS, 0 }, jobs);
}

template <typename Jobs> CclStatus launch_number(CudaFrame *frame, const Jobs &jobs, dim3 grid)
{
    return cuda_launch(frame, "number", LAUNCH_SOONER, number<Jobs>, { grid, NUMBER_THREADS, 0 }, jobs);
}

CclStatus launch_number_both(CudaFrame *frame, const WithInverse &jobs)
{
    const Plan &plan = jobs.jobs[1].plan;
    const dim3 grid(plan.n_chunks + blocks_for(n_border_items(plan), NUMBER_THREADS), 1, 2);
    return launch_number(frame, jobs, grid);
}

template CclStatus launch_join<false>(CudaFrame *, const WithInverse &, dim3);
template CclStatus launch_join<true>(CudaFrame *, const WithInverse &, dim3);
template CclStatus launch_join<false>(CudaFrame *, const Alone &, dim3);
template CclStatus launch_join<false>(CudaFrame *, const Listed &, dim3);
template CclStatus launch_join<true>(CudaFrame *, const Alone &, dim3);
template CclStatus launch_join<true>(CudaFrame *, const Listed &, dim3);
template CclStatus launch_number(CudaFrame *, const Alone &, dim3);
template CclStatus launch_number(CudaFrame *, const Listed &, dim3);
