/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include "device.h"

#include <cstdio>
#include <cstdlib>

#define MUST(call)                                                                                          \
    do {                                                                                                    \
        const cudaError_t error_ = (call);                                                                  \
        if (error_ != cudaSuccess) {                                                                        \
            fprintf(stderr, "checkccl: %s at %s:%d: %s\n", #call, __FILE__, __LINE__,                       \
                    cudaGetErrorString(error_));                                                            \
            exit(2);                                                                                        \
        }                                                                                                   \
    } while (0)

static cudaStream_t as_stream(void *stream)
{
    return static_cast<cudaStream_t>(stream);
}

int device_count(void)
{
    int n = 0;
    if (cudaGetDeviceCount(&n) != cudaSuccess) {
        cudaGetLastError(); /* not an error of whoever asks next */
        return 0;
    }
    return n;
}

const char *device_description(void)
{
    static char text[400];
    cudaDeviceProp properties;
    int device, driver, runtime;
    MUST(cudaGetDevice(&device));
    MUST(cudaGetDeviceProperties(&properties, device));
    MUST(cudaDriverGetVersion(&driver));
    MUST(cudaRuntimeGetVersion(&runtime));
    snprintf(text, sizeof text, "%s, %d SMs, driver for CUDA %d.%d, runtime %d.%d", properties.name,
             properties.multiProcessorCount, driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
    return text;
}

size_t device_free_bytes(void)
{
    size_t left, total;
    MUST(cudaMemGetInfo(&left, &total));
    return left;
}

void *device_alloc(size_t size)
{
    void *memory;
    MUST(cudaMalloc(&memory, size));
    return memory;
}

void device_free(void *memory)
{
    MUST(cudaFree(memory));
}

void device_upload(void *device, const void *host, size_t size)
{
    MUST(cudaMemcpy(device, host, size, cudaMemcpyHostToDevice));
    MUST(cudaDeviceSynchronize()); /* the library's streams do not wait for the default one */
}

void device_download(void *host, const void *device, size_t size)
{
    MUST(cudaMemcpy(host, device, size, cudaMemcpyDeviceToHost));
}

void device_synchronize(void)
{
    MUST(cudaDeviceSynchronize());
}

void *device_stream_new(void)
{
    cudaStream_t stream;
    MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

void device_stream_free(void *stream)
{
    MUST(cudaStreamDestroy(as_stream(stream)));
}

__global__ static void idle(unsigned long long nanoseconds)
{
    unsigned long long start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - start < nanoseconds);
}

void device_delayed_copy(void *stream, void *target, const void *source, size_t size, double idle_us)
{
    idle<<<1, 1, 0, as_stream(stream)>>>((unsigned long long)(idle_us * 1e3));
    MUST(cudaGetLastError());
    MUST(cudaMemcpyAsync(target, source, size, cudaMemcpyDeviceToDevice, as_stream(stream)));
}

/* The least that labelling does: reads the mask, 16 pixels a thread, and writes as many labels, neighbours side by side. */
__global__ static void touch(const uint4 *mask, size_t n, uint4 *labels, unsigned *any)
{
    const size_t first = (size_t)blockIdx.x * blockDim.x, i = first + threadIdx.x;
    const uint4 pixels = i < n ? mask[i] : make_uint4(0, 0, 0, 0);
    if ((pixels.x | pixels.y | pixels.z | pixels.w) > 0x1010101) /* never: masks are 0 and 1. But they have to be read */
        *any = 1;
    for (unsigned k = 0; labels && k < 4; k++) {
        const size_t at = first * 4 + k * blockDim.x + threadIdx.x;
        if (at < n * 4)
            labels[at] = make_uint4(0, 0, 0, 0);
    }
}

enum { TOUCH_THREADS = 256, MIN_TOUCHES = 50 };

double device_null_us(void *target, void *const *sources, unsigned n_sources, size_t size, void *labels, unsigned n)
{
    void *const begin = device_event_new(), *const end = device_event_new(), *const stream = device_stream_new();
    const size_t n_wide = size / sizeof(uint4);
    const unsigned n_touches = n_sources > MIN_TOUCHES ? n_sources : (unsigned)MIN_TOUCHES;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    MUST(cudaStreamBeginCapture(as_stream(stream), cudaStreamCaptureModeThreadLocal));
    for (unsigned i = 0; i < n_touches; i++) {
        touch<<<(unsigned)((n_wide + TOUCH_THREADS - 1) / TOUCH_THREADS), TOUCH_THREADS, 0, as_stream(stream)>>>(
            static_cast<const uint4 *>(sources[i % n_sources]), n_wide, static_cast<uint4 *>(labels),
            static_cast<unsigned *>(target));
        MUST(cudaGetLastError());
    }
    MUST(cudaStreamEndCapture(as_stream(stream), &graph));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphLaunch(exec, as_stream(stream))); /* a first time takes longer */
    device_event_record(begin, stream);
    for (unsigned i = 0; i < n; i += n_touches)
        MUST(cudaGraphLaunch(exec, as_stream(stream)));
    device_event_record(end, stream);
    const double us = device_event_us(begin, end) / ((n + n_touches - 1) / n_touches * n_touches);
    MUST(cudaGraphExecDestroy(exec));
    MUST(cudaGraphDestroy(graph));
    device_stream_free(stream);
    device_event_free(begin);
    device_event_free(end);
    return us;
}

void *device_event_new(void)
{
    cudaEvent_t event;
    MUST(cudaEventCreate(&event));
    return event;
}

void device_event_free(void *event)
{
    MUST(cudaEventDestroy(static_cast<cudaEvent_t>(event)));
}

void device_event_record(void *event, void *stream)
{
    MUST(cudaEventRecord(static_cast<cudaEvent_t>(event), as_stream(stream)));
}

void device_stream_wait(void *stream, void *event)
{
    MUST(cudaStreamWaitEvent(as_stream(stream), static_cast<cudaEvent_t>(event), 0));
}

double device_event_us(void *begin, void *end)
{
    float ms;
    MUST(cudaEventSynchronize(static_cast<cudaEvent_t>(end)));
    MUST(cudaEventElapsedTime(&ms, static_cast<cudaEvent_t>(begin), static_cast<cudaEvent_t>(end)));
    return 1e3 * ms;
}
