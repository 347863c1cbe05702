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

void device_late_copy(void *stream, void *target, const void *source, size_t size, double idle_us)
{
    idle<<<1, 1, 0, as_stream(stream)>>>((unsigned long long)(idle_us * 1e3));
    MUST(cudaGetLastError());
    MUST(cudaMemcpyAsync(target, source, size, cudaMemcpyDeviceToDevice, as_stream(stream)));
}

double device_null_us(void *target, void *const *sources, unsigned n_sources, size_t size, void *labels, unsigned n)
{
    void *const begin = device_event_new(), *const end = device_event_new();
    MUST(cudaDeviceSynchronize());
    device_event_record(begin, nullptr);
    for (unsigned i = 0; i < n; i++) {
        MUST(cudaMemcpyAsync(target, sources[i % n_sources], size, cudaMemcpyDeviceToDevice, 0));
        if (labels)
            MUST(cudaMemsetAsync(labels, 0, 4 * size, 0));
    }
    device_event_record(end, nullptr);
    const double us = device_event_us(begin, end) / n;
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
