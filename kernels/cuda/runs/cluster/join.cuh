/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Between the blocks of the cluster kernel: shares are united, components are numbered. */
#ifndef CCL_CUDA_RUNS_CLUSTER_JOIN_CUH
#define CCL_CUDA_RUNS_CLUSTER_JOIN_CUH

#include "cuda/runs/cluster/block.cuh"

__device__ static inline volatile uint32_t *parent_at(const ClusterBlock *block, uint32_t node)
{
    return block->all_parents[node >> BLOCK_SHIFT] + (node & RUN_MASK);
}

/* Finds both roots at once, hooks the larger under the smaller, and marks the smaller as joined. So the root of every component
 * of several shares is marked in the end, when the last other root is hooked under it. */
template <typename Cluster>
__device__ static inline void unite_shares(const Cluster &cluster, ClusterBlock *block, uint32_t a, uint32_t b)
{
    uint32_t up_a = *parent_at(block, a), up_b = *parent_at(block, b);
    while (up_a != up_b) {
        const uint32_t next_a = *parent_at(block, up_a), next_b = *parent_at(block, up_b);
        if (next_a != up_a || next_b != up_b) {
            up_a = next_a;
            up_b = next_b;
            continue;
        }
        const uint32_t larger = max(up_a, up_b), smaller = min(up_a, up_b);
        const uint32_t old = atomicMin((uint32_t *)parent_at(block, larger), smaller);
        if (old == larger) {
            atomicAdd(&cluster.map_shared_rank(block, larger >> BLOCK_SHIFT)->counts.n_hooked, 1);
            atomicOr(block->all_places[smaller >> BLOCK_SHIFT] + (smaller & RUN_MASK), JOINED);
            return;
        }
        up_a = old;
        up_b = smaller;
    }
}

/* Ranks the chosen runs of the block. Calls is_chosen() once for each run. Returns the number of chosen runs. */
template <bool SHARED, typename Chosen>
__device__ static inline uint32_t number_roots(const BlockRuns<SHARED> &runs, Chosen is_chosen)
{
    const uint32_t each = (runs.n + blockDim.x - 1) / blockDim.x;
    const uint32_t begin = min(threadIdx.x * each, runs.n), end = min(begin + each, runs.n);
    uint32_t n = 0, total;
    for (uint32_t run = begin; run < end; run++)
        if (is_chosen(run)) {
            runs.parents[run] = NUMBERED;
            n++;
        }
    uint32_t rank = block_scan<CLUSTER_THREADS>(n, &total, blockDim.x);
    for (uint32_t run = begin; run < end; run++)
        if (runs.parents[run] == NUMBERED)
            runs.parents[run] = NUMBERED | rank++;
    return total;
}

/* A warp adds up the components of all blocks; n: those of the lane's block. */
__device__ static inline void add_up(ClusterBlock *block, uint32_t n)
{
    const uint32_t lane = threadIdx.x % 32, sum = warp_scan(n);
    if (lane < CLUSTER_BLOCKS)
        block->bases[lane] = sum - n;
    if (lane == 31)
        block->n_numbered = sum;
}

/* Counts the components found: shares that were not hooked. The last warp does it, because it has the least other work. A
 * barrier has to follow. */
template <typename Cluster> __device__ static inline void add_up_found(const Cluster &cluster, ClusterBlock *block)
{
    if (threadIdx.x / 32 != blockDim.x / 32 - 1)
        return;
    const uint32_t lane = threadIdx.x % 32;
    BlockCounts found = {};
    if (lane < CLUSTER_BLOCKS)
        found = *cluster.map_shared_rank(&block->counts, lane);
    const uint32_t n_runs = warp_sum(found.n_runs), over_capacity = __ballot_sync(~0u, found.over_capacity != 0);
    add_up(block, found.n_shares - found.n_hooked);
    if (lane == 0)
        block->many = over_capacity || n_runs > MAX_CLUSTER_RUNS;
}

/* Counts the components that the filter keeps. All threads call this. */
template <typename Cluster> __device__ static inline void add_up_kept(const Cluster &cluster, ClusterBlock *block)
{
    if (threadIdx.x < 32)
        add_up(block, threadIdx.x < CLUSTER_BLOCKS ? *cluster.map_shared_rank(&block->n_kept, threadIdx.x) : 0);
    __syncthreads();
}

/* The number, from 0, of the component whose root has this parent. */
__device__ static inline uint32_t number_with(const ClusterBlock *block, uint32_t root, uint32_t parent)
{
    return block->bases[root >> BLOCK_SHIFT] + (parent & ~NUMBERED);
}

/* The number of a run's component; *root: its root. */
__device__ static inline uint32_t number_of(const ClusterBlock *block, uint32_t node, uint32_t *root)
{
    uint32_t up;
    while (!((up = *parent_at(block, node)) & NUMBERED))
        node = up;
    *root = node;
    return number_with(block, node, up);
}

#endif
