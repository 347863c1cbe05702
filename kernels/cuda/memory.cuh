/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The memory of one owner, a context or a motion detector. It is freed together. */
#ifndef CCL_CUDA_MEMORY_CUH
#define CCL_CUDA_MEMORY_CUH

#include "devices.cuh"

#define CUDA_MAX_DEVICE_BLOCKS 72u
#define CUDA_MAX_PINNED_BLOCKS 24u

typedef struct CudaMemory {
    const char *owner;                 /* for messages */
    size_t *device_bytes, *host_bytes; /* of all blocks */
    void *device[CUDA_MAX_DEVICE_BLOCKS], *pinned[CUDA_MAX_PINNED_BLOCKS];
    unsigned n_device, n_pinned;
} CudaMemory;

/* block: a pointer to any pointer. */
CclStatus cuda_memory_alloc(CudaMemory *memory, void *block, size_t size);
/* Page-locked and visible to kernels. */
CclStatus cuda_memory_alloc_pinned(CudaMemory *memory, void *block, size_t size);
void cuda_memory_free(CudaMemory *memory);

#endif
