/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests of the emulation: kernels with one fault each, which must be reported, and the same kernels without it, which must
 * not. The last line is `N passed, N failed`. */
#include "planted.h"

static unsigned passed, failed;

void check(bool good, const char *name, const char *what)
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

/* A vote makes lanes wait for each other, but orders no memory. */
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
    __shared__ unsigned maximum;
    if (threadIdx.x == 0)
        maximum = 0;
    __syncthreads();
    const unsigned seen = FAULT ? maximum : (unsigned)*(volatile unsigned *)&maximum;
    if (seen < threadIdx.x)
        atomicMax(&maximum, threadIdx.x);
    __syncthreads();
    data[blockIdx.x * THREADS + threadIdx.x] = maximum;
}

template <bool FAULT> __global__ static void blocks_add(unsigned *data)
{
    if (FAULT)
        data[0] += threadIdx.x;
    else
        atomicAdd(&data[0], threadIdx.x);
}

/* The last block to finish reads the data of the others. */
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

/* ---------------------------------------------------------------- missing threads */

template <bool FAULT> __global__ static void half_a_barrier(unsigned *data)
{
    if (FAULT && threadIdx.x % 2) {
        __syncwarp(0xaaaaaaaa);
        while (*(volatile unsigned *)data != 1) /* never written: the others wait for these threads */
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

static const Plant plants[] = {
    PLANT(reverse_block), PLANT(reverse_warps), PLANT(vote_as_barrier), PLANT(twice_in_shared), PLANT(look_at_atomics),
    PLANT(blocks_add), PLANT(last_block), PLANT(past_the_end), PLANT(before_the_start), PLANT(past_shared),
    PLANT(askew), PLANT(wide_in_shared), PLANT(half_a_barrier), PLANT(missing_lane), PLANT(not_in_mask),
    { NULL, NULL, NULL, false },
};

/* ---------------------------------------------------------------- checks */

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

/* A kernel of one device on memory of another, and a launch in another device's stream. */
static void check_devices()
{
    unsigned *data = NULL;
    const unsigned before = emulate_reports(true);
    cudaStream_t stream;
    cudaSetDevice(1);
    cudaMalloc(&data, sizeof *data);
    host_memory<false><<<1, 1>>>(data, NULL);
    check(cudaDeviceSynchronize() == cudaSuccess && emulate_reports(true) == before, "own memory", "reported");
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaSetDevice(0);
    host_memory<false><<<1, 1>>>(data, NULL);
    check(cudaDeviceSynchronize() != cudaSuccess && emulate_reports(true) > before, "memory of another device", "not reported");
    host_memory<false><<<1, 1, 0, stream>>>(data, NULL);
    check(cudaGetLastError() == cudaErrorInvalidResourceHandle, "stream of another device", "accepted");
    cudaSetDevice(1);
    cudaStreamDestroy(stream);
    cudaFree(data);
    cudaSetDevice(0);
}

/* Two streams. Without an event between them the copy sometimes runs before the memset. */
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

static void check_plants(const Plant *plants)
{
    for (const Plant *plant = plants; plant->name; plant++) {
        check(reports_of(plant->good, plant->clusters) == 0, plant->name, "reported where there is no fault");
        check(reports_of(plant->bad, plant->clusters) > 0, plant->name, "not found");
    }
}

int main()
{
    check_plants(plants);
    check_plants(cluster_plants);
    check_clusters();
    check_host_memory();
    check_flags();
    check_devices();
    unsigned right = 0, right_with_event = 0;
    for (unsigned i = 0; i < 20; i++) {
        right += in_order(false);
        right_with_event += in_order(true);
    }
    check(right < 20, "streams", "a missing event is not noticed");
    check(right_with_event == 20, "streams", "an event is not waited for");
    check(emulate_n_allocated() == 0, "memory", "something has not been freed");
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
