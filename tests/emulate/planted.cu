/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Who checks the emulation: kernels with one fault each, which must be reported, and the same without it, which
 * must not. The last line is `N passed, N failed`. */
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <stdio.h>
#include <stdlib.h>

static const unsigned THREADS = 96, BLOCKS = 5, CLUSTER = 4, CLUSTERS = 3;

static unsigned passed, failed;

static void check(bool good, const char *name, const char *what)
{
    good ? passed++ : failed++;
    if (!good)
        printf("FAILED %s: %s\n", name, what);
}

/* ---------------------------------------------------------------- races */

template <bool FAULT> __global__ static void reverse_block(unsigned *data)
{
    __shared__ unsigned tile[THREADS];
    tile[threadIdx.x] = data[blockIdx.x * THREADS + threadIdx.x];
    if (!FAULT)
        __syncthreads();
    data[blockIdx.x * THREADS + threadIdx.x] = tile[THREADS - 1 - threadIdx.x];
}

template <bool FAULT> __global__ static void reverse_warps(unsigned *data)
{
    extern __shared__ unsigned pieces[];
    pieces[threadIdx.x] = threadIdx.x;
    if (!FAULT)
        __syncwarp();
    data[blockIdx.x * THREADS + threadIdx.x] = pieces[threadIdx.x ^ 31];
}

/* A vote makes lanes wait for each other and orders no memory. */
template <bool FAULT> __global__ static void vote_as_barrier(unsigned *data)
{
    __shared__ unsigned tile[THREADS];
    tile[threadIdx.x] = threadIdx.x;
    if (!__any_sync(~0u, 1) || !FAULT)
        __syncwarp();
    data[blockIdx.x * THREADS + threadIdx.x] = tile[threadIdx.x ^ 1];
}

template <bool FAULT> __global__ static void twice_in_shared(unsigned *data)
{
    __shared__ unsigned sum;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    if (FAULT)
        sum += 1;
    else
        atomicAdd(&sum, 1u);
    __syncthreads();
    data[blockIdx.x * THREADS + threadIdx.x] = sum;
}

template <bool FAULT> __global__ static void look_at_atomics(unsigned *data)
{
    __shared__ unsigned most;
    if (threadIdx.x == 0)
        most = 0;
    __syncthreads();
    const unsigned seen = FAULT ? most : (unsigned)*(volatile unsigned *)&most;
    if (seen < threadIdx.x)
        atomicMax(&most, threadIdx.x);
    __syncthreads();
    data[blockIdx.x * THREADS + threadIdx.x] = most;
}

template <bool FAULT> __global__ static void blocks_add(unsigned *data)
{
    if (FAULT)
        data[0] += threadIdx.x;
    else
        atomicAdd(&data[0], threadIdx.x);
}

/* The block that is last to finish reads what the others left. */
template <bool FAULT> __global__ static void last_block(unsigned *data)
{
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
        data[1 + blockIdx.x] = blockIdx.x;
        if (!FAULT)
            __threadfence();
        is_last = atomicAdd(&data[0], 1u) == gridDim.x - 1;
        if (!FAULT)
            __threadfence();
    }
    __syncthreads();
    if (is_last && threadIdx.x < gridDim.x)
        data[100 + threadIdx.x] = data[1 + threadIdx.x];
}

/* ---------------------------------------------------------------- memory */

template <bool FAULT> __global__ static void past_the_end(unsigned *data)
{
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    data[i + (FAULT && i == BLOCKS * THREADS - 1)] = i;
}

template <bool FAULT> __global__ static void before_the_start(unsigned *data)
{
    if (threadIdx.x == 0 && blockIdx.x == 0)
        data[0] = data[FAULT ? -1 : 1];
}

template <bool FAULT> __global__ static void past_shared(unsigned *data)
{
    __shared__ unsigned tile[THREADS], other[THREADS];
    other[threadIdx.x] = tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    data[blockIdx.x * THREADS + threadIdx.x] = tile[threadIdx.x + FAULT] + other[threadIdx.x];
}

template <bool FAULT> __global__ static void askew(unsigned *data)
{
    unsigned char *const bytes = (unsigned char *)data + (FAULT ? 2 : 4);
    if (threadIdx.x == 0 && blockIdx.x == 0)
        *(unsigned *)bytes = 1;
}

template <bool FAULT> __global__ static void wide_in_shared(unsigned *data)
{
    __shared__ unsigned long long sum;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    if (FAULT)
        atomicAdd(&sum, 1ull);
    else
        atomicAdd((unsigned *)&sum, 1u);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd((unsigned long long *)data, sum);
}

template <bool FAULT> __global__ static void host_memory(unsigned *data, unsigned *host)
{
    if (threadIdx.x == 0 && blockIdx.x == 0)
        *(FAULT ? host : data) = 1;
}

/* ---------------------------------------------------------------- threads that do not come */

template <bool FAULT> __global__ static void half_a_barrier(unsigned *data)
{
    if (FAULT && threadIdx.x % 2) {
        __syncwarp(0xaaaaaaaa);
        while (*(volatile unsigned *)data != 1) /* is never written: others wait for us */
            __syncwarp(0xaaaaaaaa);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        atomicMax(data, 1u);
}

template <bool FAULT> __global__ static void missing_lane(unsigned *data)
{
    unsigned value = threadIdx.x;
    if (threadIdx.x % 32 >= 8)
        value = __shfl_sync(FAULT ? ~0u : 0xffffff00u, value, 9);
    __syncthreads();
    data[blockIdx.x * THREADS + threadIdx.x] = value;
}

template <bool FAULT> __global__ static void not_in_mask(unsigned *data)
{
    data[blockIdx.x * THREADS + threadIdx.x] = __ballot_sync(FAULT ? 0xffff0000u : ~0u, 1);
}

/* ---------------------------------------------------------------- clusters */

namespace cg = cooperative_groups;

/* Each block's rank, on its right neighbour's threads. */
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

/* The same, but so late that the block surely has ended. */
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

/* What a block fills itself, before any other comes to add to it: but has it begun? */
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
    __shared__ unsigned most;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0)
        most = 0;
    cluster.sync();
    const unsigned rank = cluster.block_rank();
    unsigned *const there = cluster.map_shared_rank(&most, rank ^ 1);
    if (threadIdx.x == 0) {
        const unsigned seen = FAULT ? *there : (unsigned)*(volatile unsigned *)there;
        if (seen < rank)
            atomicMax(there, rank);
        atomicMax(&most, rank);
    }
    cluster.sync();
    data[blockIdx.x * THREADS + threadIdx.x] = most;
}

/* A cluster's barrier orders global memory, a block's does so for the block. */
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

/* The cluster that is last to finish reads what the others left; one fence is for all blocks of one. */
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

/* Who has arrived at a barrier does not know yet what others did before they arrived. */
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

/* Nor do others, when they have waited, what somebody does after arriving. */
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

/* ---------------------------------------------------------------- */

typedef void Kernel(unsigned *);

static const struct {
    const char *name;
    Kernel *good, *bad;
    bool clusters;
} plants[] = {
#define PLANT(name) { #name, name<false>, name<true>, false }
#define CLUSTER_PLANT(name) { #name, name<false>, name<true>, true }
    PLANT(reverse_block), PLANT(reverse_warps), PLANT(vote_as_barrier), PLANT(twice_in_shared), PLANT(look_at_atomics),
    PLANT(blocks_add), PLANT(last_block), PLANT(past_the_end), PLANT(before_the_start), PLANT(past_shared),
    PLANT(askew), PLANT(wide_in_shared), PLANT(half_a_barrier), PLANT(missing_lane), PLANT(not_in_mask),
    CLUSTER_PLANT(read_neighbour), CLUSTER_PLANT(leave_early), CLUSTER_PLANT(come_late), CLUSTER_PLANT(come_early),
    CLUSTER_PLANT(cluster_adds), CLUSTER_PLANT(look_at_neighbour), CLUSTER_PLANT(cluster_in_global),
    CLUSTER_PLANT(last_cluster), CLUSTER_PLANT(wide_in_neighbour), CLUSTER_PLANT(past_neighbour),
    CLUSTER_PLANT(no_such_rank), CLUSTER_PLANT(not_shared), CLUSTER_PLANT(half_a_cluster),
    CLUSTER_PLANT(look_before_waiting), CLUSTER_PLANT(write_after_arriving), CLUSTER_PLANT(arrive_twice),
    CLUSTER_PLANT(wait_without_arriving), CLUSTER_PLANT(arrive_and_end),
};

/* In clusters of so many blocks. */
struct Config : cudaLaunchConfig_t {
    cudaLaunchAttribute attribute;
    Config(unsigned blocks, unsigned threads, size_t shared, unsigned cluster, cudaStream_t in = NULL)
        : cudaLaunchConfig_t{ blocks, threads, shared, in, &attribute, 1 }
    {
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim = { cluster, 1, 1 };
    }
    Config(const Config &) = delete;
};

static unsigned reports_of(Kernel *kernel, bool clusters)
{
    const unsigned blocks = clusters ? CLUSTER * CLUSTERS : BLOCKS;
    const unsigned before = emulate_reports(true);
    unsigned *data = NULL;
    if (cudaMalloc(&data, blocks * THREADS * sizeof *data) != cudaSuccess ||
        cudaMemset(data, 0, blocks * THREADS * sizeof *data) != cudaSuccess)
        exit(2);
    const Config config(blocks, THREADS, THREADS * sizeof *data, CLUSTER);
    if (clusters)
        cudaLaunchKernelEx(&config, kernel, data);
    else
        kernel<<<blocks, THREADS, THREADS * sizeof *data>>>(data);
    cudaDeviceSynchronize();
    cudaFree(data);
    return emulate_reports(true) - before;
}

template <bool FAULT> __global__ static void tell_host(unsigned *data, unsigned *host)
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

static void check_telling()
{
    static const struct { const char *name; void (*kernel)(unsigned *, unsigned *); bool bad; } kernels[] = {
        { "told in time", tell_host<false>, false }, { "told early", tell_host<true>, true } };
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

static void check_host_memory()
{
    unsigned *data = NULL, *const host = (unsigned *)malloc(sizeof *host);
    cudaMalloc(&data, sizeof *data);
    unsigned before = emulate_reports(true);
    host_memory<false><<<1, 1>>>(data, host);
    check(cudaDeviceSynchronize() == cudaSuccess && emulate_reports(true) == before, "host memory",
          "reported where there is none");
    host_memory<true><<<1, 1>>>(data, host);
    check(cudaDeviceSynchronize() != cudaSuccess && emulate_reports(true) > before, "host memory", "not reported");
    before = emulate_reports(true);
    cudaFree(data);
    host_memory<false><<<1, 1>>>(data, host);
    check(cudaDeviceSynchronize() != cudaSuccess && emulate_reports(true) > before, "freed memory", "not reported");
    free(host);
}

/* Two streams: without an event in between, the copy sometimes comes before what it should copy. */
static bool in_order(bool waits)
{
    unsigned *data = NULL, *pinned = NULL;
    cudaStream_t first, second;
    cudaEvent_t written;
    cudaMalloc(&data, sizeof *data);
    cudaHostAlloc(&pinned, sizeof *pinned, cudaHostAllocDefault);
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&written, cudaEventDisableTiming);
    cudaMemsetAsync(data, 1, sizeof *data, first);
    cudaEventRecord(written, first);
    if (waits)
        cudaStreamWaitEvent(second, written);
    cudaMemcpyAsync(pinned, data, sizeof *data, cudaMemcpyDeviceToHost, second);
    cudaStreamSynchronize(second);
    const bool right = *pinned == 0x01010101;
    cudaEventDestroy(written);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    cudaFree(data);
    cudaFreeHost(pinned);
    return right;
}

/* Every block has numbers of its own, and least and all bits of its right neighbour's and of those that come after. */
__global__ static void meet(unsigned *data, unsigned n)
{
    extern __shared__ unsigned numbers[];
    __shared__ struct { unsigned unused, least[2], bits; } found;
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank(), size = cluster.num_blocks(), right = (rank + 1) % size;
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x)
        numbers[i] = blockIdx.x * 1000 + i;
    if (threadIdx.x == 0)
        found = { 0, { ~0u, ~0u }, 0 };
    cluster.sync();
    auto *const there = cluster.map_shared_rank(&found, right);
    unsigned *const least = cluster.map_shared_rank(&found.least[1], right);
    unsigned *const theirs = cluster.map_shared_rank(numbers + 1, right);
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x)
        atomicMin(least, theirs[(int)i - 1]);
    for (unsigned i = threadIdx.x; i < size; i += blockDim.x)
        atomicOr(&cluster.map_shared_rank(&found, i)->bits, 1u << rank);
    cluster.sync();
    if (threadIdx.x == 0) {
        data[2 * blockIdx.x] = found.least[1];
        data[2 * blockIdx.x + 1] = there->bits + (blockIdx.y << 16);
    }
    cluster.sync();
}

/* How many of the blocks found something else than they should, of all when the launch failed. */
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

/* A node of a graph stays in clusters, with whatever arguments. */
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

static void check_clusters()
{
    const unsigned most = 227 << 10, before = emulate_reports(true);
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

    check(refused(data, 4, (48 << 10) / 4 + 1, 2) == cudaErrorInvalidConfiguration, "much shared memory",
          "allowed to everybody");
    check(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0) == cudaSuccess &&
              value == (int)most, "much shared memory", "another size");
    check(cudaFuncSetAttribute(meet, cudaFuncAttributeMaxDynamicSharedMemorySize, most + 1) == cudaErrorInvalidValue,
          "much shared memory", "more than there is");
    check(cudaFuncSetAttribute(meet, cudaFuncAttributeMaxDynamicSharedMemorySize, most) == cudaSuccess &&
              launch_wrong(data, 4, 96, (most - 16) / 4, 2) == 0, "much shared memory", "a wrong result");
    check_graph(data);
    check(emulate_reports(true) == before, "clusters", "reported where there is no fault");
    check(launch_wrong(data, 4, 96, most / 4, 2) == 4 && emulate_reports(true) > before, "much shared memory",
          "variables are not counted");
    cudaFree(data);
    cudaGetLastError();
}

int main()
{
    for (const auto &plant : plants) {
        check(reports_of(plant.good, plant.clusters) == 0, plant.name, "reported where there is no fault");
        check(reports_of(plant.bad, plant.clusters) > 0, plant.name, "not found");
    }
    check_clusters();
    check_host_memory();
    check_telling();
    unsigned right = 0, right_with_event = 0;
    for (unsigned i = 0; i < 20; i++) {
        right += in_order(false);
        right_with_event += in_order(true);
    }
    check(right < 20, "streams", "a missing event is not noticed");
    check(right_with_event == 20, "streams", "an event is not waited for");
    check(emulate_held() == 0, "memory", "something has not been given back");
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
