/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The sums of the shares of a block of the cluster kernel. */
#ifndef CCL_CUDA_RUNS_CLUSTER_SHARES_CUH
#define CCL_CUDA_RUNS_CLUSTER_SHARES_CUH

#include "cuda/runs/cluster/link.cuh"

#define MIN_PEERS 4u       /* runs of a share in a warp: with fewer, each adds to shared memory itself */
#define MAX_PEER_ROUNDS 2u /* shares of a warp whose runs are added up before */

/* Finds the root of each run, and gives each root a slot, up to the capacity. */
template <bool SHARED>
__device__ static inline void give_slots(ClusterBlock *block, const BlockRuns<SHARED> &runs, uint32_t max_shares)
{
    for (uint32_t run = threadIdx.x; run < runs.n; run += blockDim.x) {
        uint32_t slot = NOT_FIRST;
        if (flatten_run(runs, run) == run) {
            const uint32_t share = atomicAdd(&block->counts.n_shares, 1);
            const bool has_slot = SHARED && share < max_shares;
            slot = has_slot ? share : NO_SLOT;
            if (has_slot)
                block->roots[share] = run;
            else
                atomicOr(&block->counts.over_capacity, 1);
        }
        runs.places[run] |= slot << SLOT_SHIFT;
    }
}

__device__ static inline uint32_t slot_of_place(uint32_t place)
{
    return place >> SLOT_SHIFT & SLOT_MASK;
}

typedef struct ShareSums {
    RunSums sums;
    uint32_t xy_high;
} ShareSums;

__device__ static inline uint64_t xy_of(const ShareSums &share)
{
    return share.sums.of[SXY] + ((uint64_t)share.xy_high << 16);
}

__device__ static inline ShareSums sums_of_run(const BlockRows &rows, uint32_t place)
{
    const uint64_t bits = rows.bits[row_of(place) * rows.words + column_of(place)];
    const uint32_t y = row_of(place) - 1, left = column_of(place) * 64, begin = place & 63;
    const uint64_t rest = ~(bits >> begin);
    const uint32_t length = rest ? __ffsll(rest) - 1 : 64, end = begin + length;
    const uint32_t in_word = length * (begin + end - 1) / 2, x = in_word + left * length;
    const uint32_t xx = squares_below(end) - squares_below(begin) + left * (in_word + x), xy = y * x;
    ShareSums share;
    share.sums.of[AREA] = length;
    share.sums.of[SX] = x;
    share.sums.of[SY] = y * length;
    share.sums.of[SXX_LOW] = xx & 0xffff;
    share.sums.of[SXX_HIGH] = xx >> 16;
    share.sums.of[SXY] = xy & 0xffff;
    share.sums.of[SYY] = y * y * length;
    share.sums.of[NOT_X0] = ~(left + begin);
    share.sums.of[X1] = left + end;
    share.sums.of[Y1] = y + 1;
    share.xy_high = xy >> 16;
    return share;
}

/* Adds up the runs of a warp that belong to the same share, for the first shares found. Returns whether this lane has to add
 * *share to the block's sums. */
__device__ static inline bool add_up_peers(uint32_t slot, ShareSums *share)
{
    const uint32_t lane = threadIdx.x % 32;
    bool adds = slot < NO_SLOT;
    uint32_t pending = __ballot_sync(~0u, adds);
    for (uint32_t round = 0; round < MAX_PEER_ROUNDS && pending; round++) {
        const uint32_t leader = __ffs(pending) - 1, chosen = __shfl_sync(~0u, slot, leader);
        const bool peer = slot == chosen;
        const uint32_t peers = __ballot_sync(~0u, peer);
        pending &= ~peers;
        if (__popc(peers) < MIN_PEERS)
            continue;
#pragma unroll
        for (uint32_t field = 0; field < N_FIELDS; field++) {
            const uint32_t value = peer ? share->sums.of[field] : 0;
            const uint32_t all = field < N_SUMS ? warp_sum(value) : warp_max(value);
            if (lane == leader)
                share->sums.of[field] = all;
        }
        const uint32_t xy_high = warp_sum(peer ? share->xy_high : 0);
        if (lane == leader)
            share->xy_high = xy_high;
        adds = adds && (!peer || lane == leader);
    }
    return adds;
}

__device__ static inline void sum_shares(ClusterBlock *block, const BlockRows &rows, const BlockRuns<true> &runs)
{
    const uint32_t lane = threadIdx.x % 32;
    for (uint32_t first = threadIdx.x - lane; first < runs.n; first += blockDim.x) {
        const uint32_t run = first + lane;
        uint32_t slot = NO_SLOT;
        ShareSums share = {};
        if (run < runs.n) {
            slot = slot_of_place(runs.places[runs.parents[run] & RUN_MASK]);
            share = sums_of_run(rows, runs.places[run]);
        }
        if (!add_up_peers(slot, &share))
            continue;
#pragma unroll
        for (uint32_t field = 0; field < N_FIELDS; field++) {
            if (field < N_SUMS)
                atomicAdd(&block->sums[field][slot], share.sums.of[field]);
            else
                atomicMax(&block->sums[field][slot], share.sums.of[field]);
        }
        atomicAdd(&block->sums[XY_HIGH][slot], share.xy_high);
    }
}

__device__ static inline ShareSums sums_of_share(const ClusterBlock *block, uint32_t slot)
{
    ShareSums share;
#pragma unroll
    for (uint32_t field = 0; field < N_FIELDS; field++)
        share.sums.of[field] = block->sums[field][slot];
    share.xy_high = block->sums[XY_HIGH][slot];
    return share;
}

#endif
