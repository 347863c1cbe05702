/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Runs of a block of the cluster kernel: which runs touch, and union-find inside the block. */
#ifndef CCL_CUDA_RUNS_CLUSTER_LINK_CUH
#define CCL_CUDA_RUNS_CLUSTER_LINK_CUH

#include "cuda/runs/cluster/block.cuh"
#include "cuda/runs/link.cuh"

/* touching() of runs/link.cuh, in rows of any width. */
template <bool EIGHT>
__device__ static inline Touching touching_in_block(const ClusterBlock *block, const BlockRows &rows, uint32_t place)
{
    const uint32_t row = row_of(place), column = column_of(place), x = place & 63, at = row * rows.words + column;
    const uint64_t *const bits = rows.bits + at, *const upper = bits - rows.words;
    const uint64_t lower = bits[0];
    const bool before = column && bits[-1] >> 63;
    Touching to = {};
    if (x == 0 && before) {
        const uint32_t lane = column % 32;
        uint32_t past = 0; /* full words of the segment to the left, which continue the same run */
        if (lane) {
            const uint32_t open = ~block->full[row * rows.segments + column / 32] & ((1u << lane) - 1);
            const uint32_t head = open ? 31 - __clz(open) : 0;
            past = lane - 1 - head - (open && !(rows.bits[at - lane + head] >> 63)); /* the run begins with a full word */
        }
        to.continued = rows.first_run[at - past];
    }
    const uint64_t begin = 1ull << x, after = lower + begin, span = (after ^ lower) | begin;
    const Pairs pairs = pairs_of<EIGHT>(lower, upper[0], before, column && upper[-1] >> 63);
    to.pairs = (pairs.over | pairs.left | pairs.right) & span;
    to.beyond = EIGHT && after < begin && column + 1 < rows.words && !(bits[1] & 1) && upper[1] & 1 && !(upper[0] >> 63);
    return to;
}

__device__ static inline uint32_t count_touching(const Touching &to)
{
    return __popcll(to.pairs) + to.beyond;
}

/* Takes the first of the remaining runs above. */
__device__ static inline uint32_t next_touching(const BlockRows &rows, uint32_t place, Touching *to)
{
    const uint32_t at = (row_of(place) - 1) * rows.words + column_of(place), first = rows.first_run[at];
    if (!to->pairs) {
        to->beyond = false;
        return rows.first_run[at + 1];
    }
    const uint64_t upper = rows.bits[at];
    const uint32_t x = __ffsll(to->pairs) - 1, before = ~(upper >> x) & 1;
    to->pairs &= to->pairs - 1;
    return before && x == 0 ? first - 1 : first + rank_of(starts_of(upper), x - before);
}

/* Every run takes an earlier run that touches it as parent. Other touching pairs go to the lists, up to their capacity. */
template <bool EIGHT, bool SHARED>
__device__ static inline void link_block(ClusterBlock *block, const BlockRows &rows, const BlockRuns<SHARED> &runs,
                                         uint32_t max_pairs)
{
    for (uint32_t run = threadIdx.x; run < runs.n; run += blockDim.x) {
        const uint32_t place = runs.places[run];
        const bool first_row = row_of(place) == 1;
        Touching to = touching_in_block<EIGHT>(block, rows, place);
        uint32_t parent = run;
        if (to.continued)
            parent = to.continued - 1;
        else if (!first_row && (to.pairs || to.beyond))
            parent = next_touching(rows, place, &to);
        runs.parents[run] = runs.tag | parent;
        const uint32_t n = count_touching(to);
        if (!n)
            continue;
        PairList *const list = first_row ? &block->above : &block->inside;
        const uint32_t at = atomicAdd(&list->n, n);
        if (SHARED && at + n <= max_pairs)
            for (uint32_t i = 0; i < n; i++)
                list->of[at + i] = run << 16 | next_touching(rows, place, &to);
    }
}

/* Finds the root of a run. Each step shortens the path for other threads; no thread hooks roots meanwhile. */
template <bool SHARED>
__device__ static inline uint32_t flatten_run(const BlockRuns<SHARED> &runs, uint32_t run)
{
    volatile uint32_t *const parents = runs.parents;
    uint32_t root = parents[run] & RUN_MASK, up;
    while ((up = parents[root] & RUN_MASK) != root) {
        atomicMin(&runs.parents[run], runs.tag | up);
        root = up;
    }
    return root;
}

template <bool SHARED> __device__ static inline void flatten_block(const BlockRuns<SHARED> &runs)
{
    for (uint32_t run = threadIdx.x; run < runs.n; run += blockDim.x)
        flatten_run(runs, run);
    __syncthreads();
}

/* Finds both roots at once and hooks the larger under the smaller. The paths are short, because they were just flattened. */
template <bool SHARED>
__device__ static inline void unite_in_block(const BlockRuns<SHARED> &runs, uint32_t a, uint32_t b)
{
    volatile uint32_t *const parents = runs.parents;
    for (;;) {
        const uint32_t up_a = parents[a] & RUN_MASK, up_b = parents[b] & RUN_MASK;
        if (up_a == up_b)
            return;
        if (up_a != a || up_b != b) {
            a = up_a;
            b = up_b;
            continue;
        }
        const uint32_t larger = max(a, b), smaller = min(a, b);
        const uint32_t old = atomicMin(&runs.parents[larger], runs.tag | smaller) & RUN_MASK;
        if (old == larger)
            return;
        a = old;
        b = smaller;
    }
}

/* Calls with(run, touching run above) for all pairs of a list. If the list is incomplete, it finds the pairs of all runs of
 * these rows again, also those that are already linked, which does no harm. */
template <bool EIGHT, bool SHARED, typename With>
__device__ static inline void for_pairs(const ClusterBlock *block, const PairList &list, const BlockRows &rows,
                                        const BlockRuns<SHARED> &runs, uint32_t max_pairs, bool first_row, With with)
{
    if (SHARED && list.n <= max_pairs) {
        for (uint32_t i = threadIdx.x; i < list.n; i += blockDim.x)
            with(list.of[i] >> 16, list.of[i] & 0xffff);
        return;
    }
    for (uint32_t run = threadIdx.x; run < runs.n; run += blockDim.x) {
        /* Volatile, because other threads may set JOINED. */
        const uint32_t place = ((volatile uint32_t *)runs.places)[run];
        if ((row_of(place) == 1) != first_row)
            continue;
        Touching to = touching_in_block<EIGHT>(block, rows, place);
        while (to.pairs || to.beyond)
            with(run, next_touching(rows, place, &to));
    }
}

#endif
