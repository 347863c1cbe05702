/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Memory of contexts and detectors, and of callers of the core. */
#include "memory.cuh"

#include "ccl.h"

#include <string.h>

CclStatus cuda_memory_alloc(CudaMemory *memory, void *block, size_t size)
{
    void *found = NULL;
    if (memory->n_device == CUDA_MAX_DEVICE_BLOCKS)
        return ccl_fail(CCL_ERROR_DEVICE, "a %s has more than %u blocks of device memory", memory->owner, CUDA_MAX_DEVICE_BLOCKS);
    const cudaError_t error = cudaMalloc(&found, size);
    if (error == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "no %zu bytes of device memory left (the %s holds %zu already)", size,
                        memory->owner, *memory->device_bytes);
    }
    CCL_CUDA_TRY_AS("cudaMalloc", error);
    memory->device[memory->n_device++] = found;
    *memory->device_bytes += size;
    memcpy(block, &found, sizeof found);
    return CCL_OK;
}

CclStatus cuda_memory_alloc_pinned(CudaMemory *memory, void *block, size_t size)
{
    void *found = NULL;
    if (memory->n_pinned == CUDA_MAX_PINNED_BLOCKS)
        return ccl_fail(CCL_ERROR_DEVICE, "a %s has more than %u blocks of page-locked memory", memory->owner,
                        CUDA_MAX_PINNED_BLOCKS);
    const cudaError_t error = cudaHostAlloc(&found, size, cudaHostAllocMapped | cudaHostAllocPortable);
    if (error == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "no %zu bytes of page-locked memory left (the %s holds %zu already)", size,
                        memory->owner, *memory->host_bytes);
    }
    CCL_CUDA_TRY_AS("cudaHostAlloc", error);
    memory->pinned[memory->n_pinned++] = found;
    *memory->host_bytes += size;
    memcpy(block, &found, sizeof found);
    return CCL_OK;
}

void cuda_memory_free(CudaMemory *memory)
{
    for (unsigned i = 0; i < memory->n_device; i++)
        cudaFree(memory->device[i]);
    for (unsigned i = 0; i < memory->n_pinned; i++)
        cudaFreeHost(memory->pinned[i]);
    memory->n_device = memory->n_pinned = 0;
}

/* ---------------------------------------------------------------- for callers of the core */

void *ccl_pinned_alloc(size_t size, int device)
{
    void *memory = NULL;
    if (!size || !cuda_use_device_or_context(device) ||
        cudaHostAlloc(&memory, size, cudaHostAllocPortable | cudaHostAllocMapped) != cudaSuccess) {
        (void)cudaGetLastError();
        return NULL;
    }
    return memory;
}

void ccl_pinned_free(void *memory)
{
    if (memory && cudaFreeHost(memory) != cudaSuccess)
        (void)cudaGetLastError();
}

void *ccl_device_alloc(size_t size, int device)
{
    void *memory = NULL;
    if (!size || !cuda_use_device_or_context(device) || cudaMalloc(&memory, size) != cudaSuccess) {
        (void)cudaGetLastError();
        return NULL;
    }
    return memory;
}

void ccl_device_free(void *memory)
{
    if (memory && cudaFree(memory) != cudaSuccess)
        (void)cudaGetLastError();
}

bool ccl_device_download(void *host, const void *memory, size_t size)
{
    const bool ok = cudaMemcpy(host, memory, size, cudaMemcpyDeviceToHost) == cudaSuccess;
    (void)cudaGetLastError();
    return ok;
}
