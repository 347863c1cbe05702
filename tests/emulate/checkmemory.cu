/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The list of an owner's memory: its bounds, its sums, and that all of it is freed. */
#include "cuda/memory.cuh"

#include "emulate.h"

#include <stdio.h>

static unsigned n_failed;

static void check(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "FAILED: %s\n", what);
    n_failed++;
}

/* Allocates blocks of 100 bytes until that fails, and one more; returns how many there were. */
static unsigned fill(CudaMemory *memory, CclStatus (*alloc)(CudaMemory *, void *, size_t))
{
    unsigned n = 0;
    void *block = NULL;
    CclStatus status;
    while ((status = alloc(memory, &block, 100)) == CCL_OK && n < 1000) {
        check(block != NULL, "a block has an address");
        n++;
    }
    check(status == CCL_ERROR_DEVICE, "a full list is an error");
    check(alloc(memory, &block, 100) == CCL_ERROR_DEVICE, "a full list stays full");
    return n;
}

int main(void)
{
    size_t device_bytes = 0, host_bytes = 0;
    CudaMemory memory = {};
    memory.owner = "test";
    memory.device_bytes = &device_bytes;
    memory.host_bytes = &host_bytes;
    const unsigned allocated = emulate_n_allocated();

    check(fill(&memory, cuda_memory_alloc) == CUDA_MAX_DEVICE_BLOCKS, "the list of device memory can be filled");
    check(fill(&memory, cuda_memory_alloc_pinned) == CUDA_MAX_PINNED_BLOCKS, "the list of page-locked memory can be filled");
    check(device_bytes == 100 * CUDA_MAX_DEVICE_BLOCKS && host_bytes == 100 * CUDA_MAX_PINNED_BLOCKS, "bytes are counted");
    check(emulate_n_allocated() == allocated + CUDA_MAX_DEVICE_BLOCKS + CUDA_MAX_PINNED_BLOCKS,
          "no block is allocated past the end");
    cuda_memory_free(&memory);
    check(emulate_n_allocated() == allocated, "all blocks are freed");
    printf("checkmemory: %u failed\n", n_failed);
    return n_failed != 0;
}
