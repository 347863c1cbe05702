/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The runtime API: memory, copies and memset. */
#include "runtime.h"

#include <climits>

using namespace emulate;

/* ---------------------------------------------------------------- copies */

static Kind kind_of(const void *memory)
{
    return in_memory((uintptr_t)memory) ? memory_owner((uintptr_t)memory).kind : Kind::NONE;
}

static bool is_pageable(const void *memory)
{
    return !in_memory((uintptr_t)memory);
}

/* Whether all of it is inside one allocation, or it is ordinary host memory. */
static bool is_inside(const void *memory, size_t size)
{
    if (is_pageable(memory))
        return true;
    const Allocation &owner = memory_owner((uintptr_t)memory);
    return owner.kind != Kind::NONE && (uintptr_t)memory + size <= owner.end;
}

static size_t span(size_t pitch, size_t width, size_t height)
{
    return height ? (height - 1) * pitch + width : 0;
}

static void copy_rows(char *to, size_t to_pitch, const char *from, size_t from_pitch, size_t width, size_t height)
{
    for (size_t y = 0; y < height; y++)
        memcpy(to + y * to_pitch, from + y * from_pitch, width);
}

static bool is_on(const void *memory, bool device)
{
    return (kind_of(memory) == Kind::DEVICE) == device || kind_of(memory) == Kind::PINNED;
}

static cudaError_t copy(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                 cudaMemcpyKind kind, cudaStream_t stream)
{
    if (to_pitch < width || from_pitch < width)
        return fail(cudaErrorInvalidValue);
    if (!width || !height)
        return cudaSuccess;
    const size_t to_span = span(to_pitch, width, height), from_span = span(from_pitch, width, height);
    const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (!is_inside(to, to_span) || !is_inside(from, from_span) ||
        (kind != cudaMemcpyDefault && (!is_on(to, to_device) || !is_on(from, from_device)))) {
        report("a copy of %zu rows of %zu bytes is not inside its allocation, or that is of the wrong kind", height, width);
        return fail(cudaErrorInvalidValue);
    }
    if ((is_pageable(to) || is_pageable(from)) && invalidates_capture(stream))
        return fail(cudaErrorStreamCaptureUnsupported);
    if (is_pageable(to)) { /* there when the call returns */
        if (const cudaError_t error = run_until([=] { return stream_of(stream)->queue.empty(); }))
            return error;
        copy_rows((char *)to, to_pitch, (const char *)from, from_pitch, width, height);
        return cudaSuccess;
    }
    if (is_pageable(from)) { /* read before the call returns */
        auto staged = std::make_shared<std::vector<char>>(width * height);
        copy_rows(staged->data(), width, (const char *)from, from_pitch, width, height);
        return enqueue(stream, { [=] { copy_rows((char *)to, to_pitch, staged->data(), width, width, height); },
                             nullptr, 0 });
    }
    return enqueue(stream, { [=] { copy_rows((char *)to, to_pitch, (const char *)from, from_pitch, width, height); },
                         nullptr, 0 });
}

static cudaError_t set(void *memory, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream)
{
    if (!width || !height)
        return cudaSuccess;
    if (is_pageable(memory) || !is_inside(memory, span(pitch, width, height))) {
        report("a memset of %zu rows of %zu bytes is not inside device memory", height, width);
        return fail(cudaErrorInvalidValue);
    }
    return enqueue(stream, { [=] {
                            for (size_t y = 0; y < height; y++)
                                memset((char *)memory + y * pitch, value, width);
                        },
                        nullptr, 0 });
}

/* ---------------------------------------------------------------- the API */

static cudaError_t allocate(void **memory, size_t size, Kind kind)
{
    if (invalidates_any_capture())
        return fail(cudaErrorStreamCaptureUnsupported);
    if (!size)
        return fail(cudaErrorInvalidValue);
    *memory = memory_allocate(size, kind);
    if (*memory)
        memory_owner((uintptr_t)*memory).device = current_device;
    return *memory ? cudaSuccess : fail(cudaErrorMemoryAllocation);
}

static cudaError_t free_memory(void *memory, Kind kind, cudaError_t planted)
{
    if (!memory)
        return fail(planted);
    if (planted == cudaSuccess && run_all() != cudaSuccess)
        planted = last_error();
    if (kind_of(memory) != kind || !memory_free(memory)) {
        report("%p is freed, which is not the start of %s memory", memory,
               kind == Kind::DEVICE ? "device" : "pinned");
        return fail(cudaErrorInvalidValue);
    }
    return fail(planted);
}

cudaError_t cudaMalloc(void **memory, size_t size)
{
    ENTER("cudaMalloc");
    return allocate(memory, size, Kind::DEVICE);
}

/* The memory counts as freed also with a planted fault, because a caller cannot do more. */
cudaError_t cudaFree(void *memory)
{
    const std::lock_guard<std::recursive_mutex> guard(lock);
    return free_memory(memory, Kind::DEVICE, enter("cudaFree"));
}

cudaError_t cudaHostAlloc(void **memory, size_t size, unsigned)
{
    ENTER("cudaHostAlloc");
    return allocate(memory, size, Kind::PINNED);
}

cudaError_t cudaFreeHost(void *memory)
{
    const std::lock_guard<std::recursive_mutex> guard(lock);
    return free_memory(memory, Kind::PINNED, enter("cudaFreeHost"));
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned)
{
    ENTER("cudaHostGetDevicePointer");
    if (kind_of(host) != Kind::PINNED)
        return fail(cudaErrorInvalidValue);
    *device = host;
    return cudaSuccess;
}

cudaError_t cudaHostGetFlags(unsigned *flags, void *host)
{
    ENTER("cudaHostGetFlags");
    if (kind_of(host) != Kind::PINNED)
        return fail(cudaErrorInvalidValue);
    *flags = cudaHostAllocPortable | cudaHostAllocMapped;
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *memory)
{
    ENTER("cudaPointerGetAttributes");
    const Kind kind = kind_of(memory);
    *attributes = cudaPointerAttributes{};
    if (kind == Kind::NONE)
        return cudaSuccess;
    attributes->type = kind == Kind::DEVICE ? cudaMemoryTypeDevice : cudaMemoryTypeHost;
    attributes->devicePointer = (void *)memory;
    attributes->hostPointer = kind == Kind::DEVICE ? nullptr : (void *)memory;
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, cudaMemcpyKind kind, cudaStream_t stream)
{
    ENTER("cudaMemcpyAsync");
    return copy(to, size, from, size, size, 1, kind, stream);
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream)
{
    ENTER("cudaMemcpy2DAsync");
    if (to_pitch > INT_MAX || from_pitch > INT_MAX) /* cudaDevAttrMaxPitch */
        return fail(cudaErrorInvalidValue);
    return copy(to, to_pitch, from, from_pitch, width, height, kind, stream);
}

/* Waits for the blocking streams. A copy within the device is enqueued to stream 0, others are complete on return. */
cudaError_t cudaMemcpy(void *to, const void *from, size_t size, cudaMemcpyKind kind)
{
    ENTER("cudaMemcpy");
    if (invalidates_any_capture())
        return fail(cudaErrorStreamCaptureUnsupported);
    cudaError_t error = run_until([] {
        for (const CUstream_st *stream : streams)
            if (stream->device == current_device && stream->blocking && !stream->queue.empty())
                return false;
        return true;
    });
    if (error == cudaSuccess)
        error = copy(to, size, from, size, size, 1, kind, nullptr);
    if (error == cudaSuccess && kind != cudaMemcpyDeviceToDevice)
        error = run_until([] { return legacy[current_device].queue.empty(); });
    return error;
}

cudaError_t cudaMemsetAsync(void *memory, int value, size_t size, cudaStream_t stream)
{
    ENTER("cudaMemsetAsync");
    return set(memory, size, value, size, 1, stream);
}

cudaError_t cudaMemset(void *memory, int value, size_t size)
{
    ENTER("cudaMemset");
    return set(memory, size, value, size, 1, nullptr);
}

cudaError_t cudaMemset2DAsync(void *memory, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream)
{
    ENTER("cudaMemset2DAsync");
    return set(memory, pitch, value, width, height, stream);
}
