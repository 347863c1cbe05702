/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The cluster kernel and its launch. cluster_*.cu compile it. */
#ifndef CCL_CUDA_RUNS_CLUSTER_ANALYZE_CUH
#define CCL_CUDA_RUNS_CLUSTER_ANALYZE_CUH

#include "cuda/runs/cluster/launch.cuh"
#include "cuda/runs/cluster/load.cuh"
#include "cuda/runs/cluster/table.cuh"

#include <cooperative_groups.h>

/* Gives all blocks the pointers to this one's runs, and the block below the first run of its last row. Stores their number. */
template <bool SHARED, typename Cluster>
__device__ static inline void publish(const Cluster &cluster, ClusterBlock *block, const BlockRows &rows,
                                      const BlockRuns<SHARED> &runs)
{
    if (threadIdx.x < CLUSTER_BLOCKS) {
        ClusterBlock *const other = cluster.map_shared_rank(block, threadIdx.x);
        other->all_parents[blockIdx.x] = SHARED ? cluster.map_shared_rank(runs.parents, blockIdx.x) : runs.parents;
        other->all_places[blockIdx.x] = SHARED ? cluster.map_shared_rank(runs.places, blockIdx.x) : runs.places;
        if (threadIdx.x == blockIdx.x + 1)
            other->last_row = rows.n ? block->first_runs[rows.n * rows.segments] : 0;
        if (threadIdx.x == 0)
            block->counts.n_runs = runs.n;
    }
}

/* Finds the shares of the block and their sums. */
template <bool EIGHT, bool SHARED>
__device__ static inline void find_shares(ClusterBlock *block, const BlockRows &rows, const BlockRuns<SHARED> &runs,
                                          const BlockCapacity &capacity)
{
    link_block<EIGHT>(block, rows, runs, capacity.pairs);
    __syncthreads();
    if (block->inside.n) {
        flatten_block(runs);
        for_pairs<EIGHT>(block, block->inside, rows, runs, capacity.pairs, false,
                         [&](uint32_t a, uint32_t b) { unite_in_block(runs, a, b); });
        __syncthreads();
    }
    give_slots(block, runs, capacity.shares);
    __syncthreads();
    if constexpr (SHARED)
        sum_shares(block, rows, runs);
}

template <bool EIGHT, bool SHARED, typename Cluster>
__device__ static inline void join_shares(const Cluster &cluster, ClusterBlock *block, const BlockRows &rows,
                                          const BlockRuns<SHARED> &runs,
                                         uint32_t max_pairs)
{
    if (!blockIdx.x || !block->above.n)
        return;
    const uint32_t above = ((blockIdx.x - 1) << BLOCK_SHIFT) + block->last_row;
    for_pairs<EIGHT>(block, block->above, rows, runs, max_pairs, true,
                     [&](uint32_t a, uint32_t b) { unite_shares(cluster, block, runs.tag | a, above + b); });
}

/* Finds components and numbers them. All blocks of the cluster must have started. */
template <bool EIGHT, bool SHARED, typename Cluster>
__device__ static inline void find_components(const Cluster &cluster, ClusterBlock *block, const BlockRows &rows,
                                              const BlockRuns<SHARED> &runs, const BlockCapacity &capacity)
{
    publish(cluster, block, rows, runs);
    list_block_runs(block, rows, runs.places);
    __syncthreads();
    find_shares<EIGHT>(block, rows, runs, capacity);
    cluster.sync();
    join_shares<EIGHT>(cluster, block, rows, runs, capacity.pairs);
    cluster.sync();
    add_up_found(cluster, block);
    number_roots(runs, [&](uint32_t run) { return runs.parents[run] == (runs.tag | run); });
    cluster.sync();
}

template <bool SHARED, typename Cluster>
__device__ static inline void write_table(const Cluster &cluster, ClusterBlock *block, const BlockRows &rows,
                                          const BlockRuns<SHARED> &runs,
                                          const TableOutput &out, uint32_t n_shares)
{
    add_shares(block, rows, runs, out, n_shares);
    add_runs(block, rows, runs, out);
    cluster.barrier_arrive(); /* this block no longer reads memory of others; its records cross the bus only now */
    write_complete(block, rows, runs, out, n_shares);
    cluster.barrier_wait();
    write_joined(block, runs, out, n_shares);
}

template <bool EIGHT, bool FILTERED, bool SHARED, typename Cluster>
__device__ static inline void analyze_runs(const Cluster &cluster, const BlockMemory &memory, const BlockRuns<SHARED> &runs,
                                           const FrameJob &job, const ClusterLaunch &launch, const CclLimits &limits)
{
    ClusterBlock *const block = memory.block;
    const BlockRows &rows = memory.rows;
    find_components<EIGHT>(cluster, block, rows, runs, launch.capacity);
    const uint32_t n_found = block->n_numbered, n_shares = SHARED ? min(block->counts.n_shares, launch.capacity.shares) : 0;
    if (FILTERED) {
        const GlobalPointer<Extent> extents = { (Extent *)(job.workspace + launch.extents) };
        add_extents(block, rows, runs, extents, n_shares);
        cluster.sync();
        keep_roots(block, rows, runs, extents, limits, job.width, job.height);
        cluster.sync();
        add_up_kept(cluster, block);
    }
    const TableOutput out = { { (Sums *)(job.workspace + launch.sums) }, { (uint4 *)(CclComponent *)job.records }, job.width,
                         job.height, job.capacity, job.flagged };
    write_table(cluster, block, rows, runs, out, n_shares);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *job.result = CudaResult{ n_found, block->n_numbered, (uint32_t)(block->many ? CUDA_MANY : CUDA_SPARSE) };
    cluster.sync(); /* the records of all blocks come before the completion flag */
    if (blockIdx.x == 0 && threadIdx.x == 0)
        store_release(&job.result->complete, 1);
}

#ifdef _CG_HAS_CLUSTER_GROUP

/* With more runs than fit: they are in global memory. Not inlined, so that the compiler knows the usual runs are in shared
 * memory. */
template <bool EIGHT, bool FILTERED>
__device__ static __noinline__ void analyze_in_global(const FrameJob &job, const ClusterLaunch &launch, const CclLimits &limits,
                                                uint32_t n_runs)
{
    const BlockMemory memory = memory_for(job);
    const size_t at = (size_t)memory.rows.first_y * memory.rows.words * 32;
    const BlockRuns<false> runs = { (uint32_t *)(job.workspace + launch.parents) + at,
                               (uint32_t *)(job.workspace + launch.places) + at, n_runs, blockIdx.x << BLOCK_SHIFT };
    if (threadIdx.x == 0)
        memory.block->counts.over_capacity = 1;
    analyze_runs<EIGHT, FILTERED>(cooperative_groups::this_cluster(), memory, runs, job, launch, limits);
}

#endif

/* blockIdx: (block of the cluster, 0, frame). */
template <bool EIGHT, bool PACKED, uint32_t MAX_FRAMES, bool FILTERED>
static __global__ void __launch_bounds__(CLUSTER_THREADS, CLUSTER_RESIDENT_BLOCKS)
    analyze_in_cluster(const __grid_constant__ ClusterLaunch launch, const __grid_constant__ Frames<MAX_FRAMES, FILTERED> frames)
{
#ifdef _CG_HAS_CLUSTER_GROUP
    const auto cluster = cooperative_groups::this_cluster();
    const FrameJob &job = frames.of[blockIdx.z];
    const CclLimits &limits = frames.limits[FILTERED ? blockIdx.z : 0];
    const BlockMemory memory = memory_for(job);
    cluster.barrier_arrive();
    clear(memory.block);
    const uint32_t n_runs = load_block<PACKED>(memory.block, memory.rows, job);
    cluster.barrier_wait(); /* all blocks have started */
    if (n_runs <= launch.capacity.runs) {
        const BlockRuns<true> runs = { memory.runs, memory.runs + launch.capacity.runs, n_runs, blockIdx.x << BLOCK_SHIFT };
        analyze_runs<EIGHT, FILTERED>(cluster, memory, runs, job, launch, limits);
    } else {
        analyze_in_global<EIGHT, FILTERED>(job, launch, limits, n_runs);
    }
#endif
}

/* ---------------------------------------------------------------- launch */

template <bool EIGHT, uint32_t MAX_FRAMES, bool FILTERED> struct ClusterKernels {
    typedef void Kernel(ClusterLaunch, Frames<MAX_FRAMES, FILTERED>);
    static constexpr Kernel *of_pixels = analyze_in_cluster<EIGHT, false, MAX_FRAMES, FILTERED>;
    static constexpr Kernel *of_bits = analyze_in_cluster<EIGHT, true, MAX_FRAMES, FILTERED>;
};

template <typename Kernel> static cudaError_t allow_cluster(Kernel *kernel, size_t memory)
{
    const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    return error == cudaSuccess ? cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)memory) : error;
}

template <bool EIGHT, bool FILTERED> cudaError_t allow_clusters(size_t memory)
{
    typedef ClusterKernels<EIGHT, FEW_FRAMES, FILTERED> Few;
    typedef ClusterKernels<EIGHT, MANY_FRAMES(FILTERED), FILTERED> Many;
    cudaError_t error = allow_cluster(Few::of_pixels, memory);
    if (error == cudaSuccess)
        error = allow_cluster(Few::of_bits, memory);
    if (error == cudaSuccess)
        error = allow_cluster(Many::of_pixels, memory);
    return error == cudaSuccess ? allow_cluster(Many::of_bits, memory) : error;
}

template <bool EIGHT, bool FILTERED> cudaError_t query_cluster_kernel(cudaFuncAttributes *attributes)
{
    return cudaFuncGetAttributes(attributes, ClusterKernels<EIGHT, FEW_FRAMES, FILTERED>::of_pixels);
}

template <bool EIGHT, bool FILTERED> cudaError_t count_resident_clusters(size_t memory, int *n)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = CLUSTER_BLOCKS;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(CLUSTER_BLOCKS);
    config.blockDim = dim3(CLUSTER_THREADS);
    config.dynamicSmemBytes = memory;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cudaOccupancyMaxActiveClusters(n, ClusterKernels<EIGHT, FEW_FRAMES, FILTERED>::of_pixels, &config);
}

template <bool EIGHT, uint32_t MAX_FRAMES, bool FILTERED>
CclStatus launch_clusters(CudaFrame *launcher, const BlockSize &size, unsigned n_frames, bool packed,
                          const ClusterLaunch &launch, const Frames<MAX_FRAMES, FILTERED> &frames)
{
    typedef ClusterKernels<EIGHT, MAX_FRAMES, FILTERED> Kernels;
    return cuda_launch_clusters(launcher, "cluster", packed ? Kernels::of_bits : Kernels::of_pixels,
                                { dim3(CLUSTER_BLOCKS, 1, n_frames), size.n_threads, size.memory }, launch, frames);
}

#endif
