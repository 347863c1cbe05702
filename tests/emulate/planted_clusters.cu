/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Planted faults in clusters. */
#include <cooperative_groups.h>

#include "planted.h"

namespace cg = cooperative_groups;

/* Each block reads its left neighbour's rank. */
template <bool FAULT> __global__ static void read_neighbour(unsigned *data)
{
    __shared__ unsigned tile[THREADS];
    cg::cluster_group cluster = cg::this_cluster();
    tile[threadIdx.x] = 0;
    cluster.sync();
    tile[threadIdx.x] = cluster.block_rank();
    if (FAULT)
        __syncthreads();
    else
        cluster.sync();
    const unsigned left = (cluster.block_rank() + cluster.num_blocks() - 1) % cluster.num_blocks();
    data[blockIdx.x * THREADS + threadIdx.x] = cluster.map_shared_rank(tile, left)[threadIdx.x];
    cluster.sync();
}

template <bool FAULT> __global__ static void leave_early(unsigned *data)
{
    __shared__ unsigned tile[THREADS];
    cg::cluster_group cluster = cg::this_cluster();
    tile[threadIdx.x] = cluster.block_rank();
    cluster.sync();
    const unsigned *const first = cluster.map_shared_rank(tile, 0);
    data[blockIdx.x * THREADS + threadIdx.x] = first[threadIdx.x];
    if (!FAULT)
        cluster.sync();
}

/* The same, but so late that the other block has certainly ended. */
template <bool FAULT> __global__ static void come_late(unsigned *data)
{
    __shared__ unsigned rank;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0)
        rank = cluster.block_rank();
    cluster.sync();
    if (FAULT && cluster.block_rank() == 0)
        return;
    for (unsigned i = 0; FAULT && i < 10000; i++)
        __nanosleep(100);
    data[blockIdx.x * THREADS + threadIdx.x] = *cluster.map_shared_rank(&rank, 0);
    cluster.sync();
}

/* Blocks add to memory that another block initializes, perhaps later. */
template <bool FAULT> __global__ static void come_early(unsigned *data)
{
    extern __shared__ unsigned pieces[];
    cg::cluster_group cluster = cg::this_cluster();
    if (!FAULT || cluster.block_rank() == 0)
        pieces[threadIdx.x] = 0;
    if (!FAULT)
        cluster.sync();
    if (!FAULT || cluster.block_rank() != 0)
        atomicAdd(cluster.map_shared_rank(&pieces[threadIdx.x], 0), 1u);
    cluster.sync();
    data[blockIdx.x * THREADS + threadIdx.x] = pieces[threadIdx.x];
}

template <bool FAULT> __global__ static void cluster_adds(unsigned *data)
{
    __shared__ unsigned sum;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0)
        sum = 0;
    cluster.sync();
    unsigned *const first = cluster.map_shared_rank(&sum, 0);
    if (threadIdx.x == 0 && FAULT)
        *first += 1;
    else
        atomicAdd(first, 1u);
    cluster.sync();
    data[blockIdx.x * THREADS + threadIdx.x] = sum;
}

template <bool FAULT> __global__ static void look_at_neighbour(unsigned *data)
{
    __shared__ unsigned maximum;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0)
        maximum = 0;
    cluster.sync();
    const unsigned rank = cluster.block_rank();
    unsigned *const there = cluster.map_shared_rank(&maximum, rank ^ 1);
    if (threadIdx.x == 0) {
        const unsigned seen = FAULT ? *there : (unsigned)*(volatile unsigned *)there;
        if (seen < rank)
            atomicMax(there, rank);
        atomicMax(&maximum, rank);
    }
    cluster.sync();
    data[blockIdx.x * THREADS + threadIdx.x] = maximum;
}

/* A cluster barrier orders global memory for the cluster, a block barrier only for the block. */
template <bool FAULT> __global__ static void cluster_in_global(unsigned *data)
{
    cg::cluster_group cluster = cg::this_cluster();
    data[blockIdx.x * THREADS + threadIdx.x] = threadIdx.x;
    if (FAULT)
        __syncthreads();
    else
        cluster.sync();
    const unsigned neighbour = data[(blockIdx.x ^ 1) * THREADS + threadIdx.x];
    cluster.sync();
    data[blockIdx.x * THREADS + threadIdx.x] = neighbour;
}

/* The last cluster to finish reads the data of the others; one fence counts for all blocks of a cluster. */
template <bool FAULT> __global__ static void last_cluster(unsigned *data)
{
    __shared__ bool is_last;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) {
        data[1 + blockIdx.x] = blockIdx.x;
        is_last = false;
    }
    cluster.sync();
    if (threadIdx.x == 0 && cluster.block_rank() == 0) {
        if (!FAULT)
            __threadfence();
        const bool last = atomicAdd(&data[0], 1u) == gridDim.x / cluster.num_blocks() - 1;
        if (!FAULT)
            __threadfence();
        for (unsigned rank = 0; rank < cluster.num_blocks(); rank++)
            *cluster.map_shared_rank(&is_last, rank) = last;
    }
    cluster.sync();
    if (is_last && threadIdx.x < gridDim.x && cluster.block_rank() == 1)
        data[100 + threadIdx.x] = data[1 + threadIdx.x];
}

template <bool FAULT> __global__ static void wide_in_neighbour(unsigned *data)
{
    __shared__ unsigned long long sum;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0)
        sum = 0;
    cluster.sync();
    unsigned long long *const there = cluster.map_shared_rank(&sum, cluster.block_rank() ^ 1);
    if (FAULT)
        atomicAdd(there, 1ull);
    else
        atomicAdd((unsigned *)there, 1u);
    cluster.sync();
    if (threadIdx.x == 0)
        atomicAdd((unsigned long long *)data, sum);
}

template <bool FAULT> __global__ static void past_neighbour(unsigned *data)
{
    __shared__ unsigned tile[THREADS];
    cg::cluster_group cluster = cg::this_cluster();
    cluster.sync();
    cluster.map_shared_rank(tile, cluster.block_rank() ^ 1)[threadIdx.x + FAULT] = 1;
    cluster.sync();
    data[blockIdx.x * THREADS + threadIdx.x] = tile[threadIdx.x];
}

template <bool FAULT> __global__ static void no_such_rank(unsigned *data)
{
    __shared__ unsigned rank;
    cg::cluster_group cluster = cg::this_cluster();
    cluster.sync();
    if (threadIdx.x == 0)
        *cluster.map_shared_rank(&rank, (cluster.block_rank() ^ 1) + (FAULT ? CLUSTER : 0)) = 1;
    cluster.sync();
    data[blockIdx.x * THREADS + threadIdx.x] = rank;
}

template <bool FAULT> __global__ static void not_shared(unsigned *data)
{
    cg::cluster_group cluster = cg::this_cluster();
    __shared__ unsigned rank;
    rank = 0; /* race: all the same */
    data[blockIdx.x * THREADS + threadIdx.x] = cluster.map_shared_rank(FAULT ? data : &rank, 1) != data;
}

/* A thread that has arrived at a barrier does not yet see the accesses of others before they arrived. */
template <bool FAULT> __global__ static void look_before_waiting(unsigned *data)
{
    __shared__ unsigned tile[THREADS];
    cg::cluster_group cluster = cg::this_cluster();
    cluster.sync();
    tile[threadIdx.x] = cluster.block_rank();
    cluster.barrier_arrive();
    if (!FAULT)
        cluster.barrier_wait();
    data[blockIdx.x * THREADS + threadIdx.x] = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1)[threadIdx.x];
    if (FAULT)
        cluster.barrier_wait();
    cluster.sync();
}

/* Threads that have waited do not see the accesses of others after arriving. */
template <bool FAULT> __global__ static void write_after_arriving(unsigned *data)
{
    __shared__ unsigned tile[THREADS];
    cg::cluster_group cluster = cg::this_cluster();
    cluster.barrier_arrive();
    cluster.barrier_wait();
    if (!FAULT)
        tile[threadIdx.x] = cluster.block_rank();
    cluster.barrier_arrive();
    if (FAULT)
        tile[threadIdx.x] = cluster.block_rank();
    cluster.barrier_wait();
    data[blockIdx.x * THREADS + threadIdx.x] = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1)[threadIdx.x];
    cluster.sync();
}

template <bool FAULT> __global__ static void arrive_twice(unsigned *data)
{
    cg::cluster_group cluster = cg::this_cluster();
    cluster.barrier_arrive();
    if (FAULT && threadIdx.x == 3)
        cluster.barrier_arrive();
    cluster.barrier_wait();
    data[blockIdx.x * THREADS + threadIdx.x] = 1;
}

template <bool FAULT> __global__ static void wait_without_arriving(unsigned *data)
{
    cg::cluster_group cluster = cg::this_cluster();
    if (!FAULT || threadIdx.x != 3)
        cluster.barrier_arrive();
    cluster.barrier_wait();
    data[blockIdx.x * THREADS + threadIdx.x] = 1;
}

template <bool FAULT> __global__ static void arrive_and_end(unsigned *data)
{
    cg::cluster_group cluster = cg::this_cluster();
    data[blockIdx.x * THREADS + threadIdx.x] = 1;
    cluster.barrier_arrive();
    if (!FAULT || threadIdx.x != 3)
        cluster.barrier_wait();
}

template <bool FAULT> __global__ static void half_a_cluster(unsigned *data)
{
    cg::cluster_group cluster = cg::this_cluster();
    if (FAULT && cluster.block_rank() == 2 && threadIdx.x < 32)
        __syncthreads();
    cluster.sync();
    if (threadIdx.x == 0)
        atomicMax(data, 1u);
}

const Plant cluster_plants[] = {
    CLUSTER_PLANT(read_neighbour), CLUSTER_PLANT(leave_early), CLUSTER_PLANT(come_late), CLUSTER_PLANT(come_early),
    CLUSTER_PLANT(cluster_adds), CLUSTER_PLANT(look_at_neighbour), CLUSTER_PLANT(cluster_in_global),
    CLUSTER_PLANT(last_cluster), CLUSTER_PLANT(wide_in_neighbour), CLUSTER_PLANT(past_neighbour),
    CLUSTER_PLANT(no_such_rank), CLUSTER_PLANT(not_shared), CLUSTER_PLANT(half_a_cluster),
    CLUSTER_PLANT(look_before_waiting), CLUSTER_PLANT(write_after_arriving), CLUSTER_PLANT(arrive_twice),
    CLUSTER_PLANT(wait_without_arriving), CLUSTER_PLANT(arrive_and_end),
    { NULL, NULL, NULL, true },
};

/* ---------------------------------------------------------------- completion flags */

template <bool FAULT> __global__ static void set_flag(unsigned *data, unsigned *host)
{
    cg::cluster_group cluster = cg::this_cluster();
    data[blockIdx.x * THREADS + threadIdx.x] = 1;
    if (!FAULT)
        cluster.sync();
    if (cluster.block_rank() || threadIdx.x)
        return;
    __threadfence_system();
    *(volatile unsigned *)host = 1;
}

void check_flags()
{
    static const struct { const char *name; void (*kernel)(unsigned *, unsigned *); bool bad; } kernels[] = {
        { "flag in time", set_flag<false>, false }, { "flag too early", set_flag<true>, true } };
    unsigned *data = NULL, *pinned = NULL;
    const Config config(CLUSTER, THREADS, 0, CLUSTER);
    cudaMalloc(&data, CLUSTER * THREADS * sizeof *data);
    cudaHostAlloc(&pinned, sizeof *pinned, cudaHostAllocMapped);
    for (const auto &kernel : kernels) {
        const unsigned before = emulate_reports(true);
        cudaLaunchKernelEx(&config, kernel.kernel, data, pinned);
        check(cudaDeviceSynchronize() == cudaSuccess && (emulate_reports(true) > before) == kernel.bad, kernel.name,
              kernel.bad ? "not reported" : "reported where there is nothing");
    }
    cudaFree(data);
    cudaFreeHost(pinned);
}

/* ---------------------------------------------------------------- launches */

/* Blocks write the minimum of their numbers to their right neighbour, and a bit to all blocks of the cluster. */
__global__ static void meet(unsigned *data, unsigned n)
{
    extern __shared__ unsigned numbers[];
    __shared__ struct {
        unsigned unused, minimum[2], bits;
    } found;
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank(), size = cluster.num_blocks(), right = (rank + 1) % size;
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x)
        numbers[i] = blockIdx.x * 1000 + i;
    if (threadIdx.x == 0)
        found = { 0, { ~0u, ~0u }, 0 };
    cluster.sync();
    auto *const there = cluster.map_shared_rank(&found, right);
    unsigned *const minimum = cluster.map_shared_rank(&found.minimum[1], right);
    unsigned *const theirs = cluster.map_shared_rank(numbers + 1, right);
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x)
        atomicMin(minimum, theirs[(int)i - 1]);
    for (unsigned i = threadIdx.x; i < size; i += blockDim.x)
        atomicOr(&cluster.map_shared_rank(&found, i)->bits, 1u << rank);
    cluster.sync();
    if (threadIdx.x == 0) {
        data[2 * blockIdx.x] = found.minimum[1];
        data[2 * blockIdx.x + 1] = there->bits + (blockIdx.y << 16);
    }
    cluster.sync();
}

/* Number of blocks with a wrong result; all when the launch failed. */
static unsigned wrong_of(cudaError_t launched, const unsigned *data, unsigned blocks, unsigned size)
{
    unsigned *const host = (unsigned *)malloc(2 * blocks * sizeof *host), bits = (1u << size) - 1;
    if (launched != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess ||
        cudaMemcpy(host, data, 2 * blocks * sizeof *host, cudaMemcpyDeviceToHost) != cudaSuccess) {
        free(host);
        return blocks;
    }
    unsigned wrong = 0;
    for (unsigned i = 0; i < blocks; i++)
        wrong += host[2 * i] != i * 1000 || host[2 * i + 1] != bits;
    free(host);
    return wrong;
}

static unsigned launch_wrong(unsigned *data, unsigned blocks, unsigned threads, unsigned n, unsigned size)
{
    const Config config(blocks, threads, n * sizeof *data, size);
    return wrong_of(cudaLaunchKernelEx(&config, meet, data, n), data, blocks, size);
}

static cudaError_t refused(unsigned *data, unsigned blocks, unsigned n, unsigned size, unsigned size_y = 1)
{
    Config config(blocks, 32, n * sizeof *data, size);
    config.attribute.val.clusterDim.y = size_y;
    int fit = 0;
    const cudaError_t launched = cudaLaunchKernelEx(&config, meet, data, n);
    check(cudaOccupancyMaxActiveClusters(&fit, meet, &config) == launched && (fit > 0) == (launched == cudaSuccess),
          "occupancy", "not as for the launch");
    cudaDeviceSynchronize();
    return launched;
}

/* A node of a graph keeps its clusters when its arguments change. */
static void check_graph(unsigned *data)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamCaptureStatus status;
    const cudaGraphNode_t *nodes = NULL;
    size_t n_nodes = 0;
    unsigned n = 10;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    const Config config(12, 32, 50 * sizeof *data, 4, stream);
    cudaLaunchKernelEx(&config, meet, data, n);
    cudaStreamGetCaptureInfo(stream, &status, NULL, NULL, &nodes, NULL, &n_nodes);
    const cudaGraphNode_t node = n_nodes == 1 ? *nodes : NULL;
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    check(wrong_of(cudaGraphLaunch(exec, stream), data, 12, 4) == 0, "graph", "not as without one");
    cudaKernelNodeParams params;
    check(cudaGraphKernelNodeGetParams(node, &params) == cudaSuccess, "graph", "not a kernel's node");
    void *arguments[] = { &data, &(n = 50) };
    params.kernelParams = arguments;
    params.gridDim.x = 10;
    check(cudaGraphExecKernelNodeSetParams(exec, node, &params) != cudaSuccess, "graph", "two clusters and a half");
    params.gridDim.x = 8;
    check(cudaGraphExecKernelNodeSetParams(exec, node, &params) == cudaSuccess &&
              wrong_of(cudaGraphLaunch(exec, stream), data, 8, 4) == 0, "graph", "no clusters after a change");
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
}

void check_clusters()
{
    const unsigned maximum = 227 << 10, before = emulate_reports(true);
    int value = 0;
    unsigned *data = NULL;
    cudaMalloc(&data, 2 * 64 * sizeof *data);
    for (unsigned size = 1; size <= 8; size++)
        check(launch_wrong(data, size * 3, 40, 100, size) == 0, "clusters", "a wrong result");
    check(refused(data, 16, 10, 16) == cudaErrorInvalidClusterSize, "clusters of 16", "allowed to everybody");
    check(cudaFuncSetAttribute(meet, cudaFuncAttributeNonPortableClusterSizeAllowed, 1) == cudaSuccess &&
              launch_wrong(data, 32, 768, 1000, 16) == 0, "clusters of 16", "a wrong result");
    check(refused(data, 17, 10, 17) == cudaErrorInvalidClusterSize, "clusters of 17", "allowed");
    check(refused(data, 4, 10, 2, 2) == cudaErrorInvalidClusterSize, "clusters of two rows", "allowed");
    check(refused(data, 6, 10, 4) == cudaErrorInvalidConfiguration, "a cluster and a half", "allowed");
    check(refused(data, 6, 10, 3) == cudaSuccess, "two clusters", "not allowed");

    check(refused(data, 4, (48 << 10) / 4 + 1, 2) == cudaErrorInvalidConfiguration, "much shared memory", "allowed to everybody");
    check(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0) == cudaSuccess && value == (int)maximum,
          "much shared memory", "another size");
    check(cudaFuncSetAttribute(meet, cudaFuncAttributeMaxDynamicSharedMemorySize, maximum + 1) == cudaErrorInvalidValue,
          "much shared memory", "more than there is");
    check(cudaFuncSetAttribute(meet, cudaFuncAttributeMaxDynamicSharedMemorySize, maximum) == cudaSuccess &&
              launch_wrong(data, 4, 96, (maximum - 16) / 4, 2) == 0,
          "much shared memory", "a wrong result");
    check_graph(data);
    check(emulate_reports(true) == before, "clusters", "reported where there is no fault");
    check(launch_wrong(data, 4, 96, maximum / 4, 2) == 4 && emulate_reports(true) > before, "much shared memory",
          "variables are not counted");
    cudaFree(data);
    cudaGetLastError();
}
