/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Replaces the CUDA backend in a build without the CUDA toolkit. ccl_context_new() never calls the backend, because the table
 * has no CUDA method. */
#include "backend.h"

static CclStatus no_cuda(CclContext *context)
{
    (void)context;
    return ccl_fail(CCL_ERROR_UNSUPPORTED, "this build has no CUDA backend (built without the CUDA toolkit)");
}

static void nothing(CclContext *context)
{
    (void)context;
}

const CclBackend ccl_cuda_backend = { .name = "cuda", .open = no_cuda, .close = nothing };
const CclBackend ccl_cuda_volumes = { .name = "cuda", .open = no_cuda, .close = nothing };

unsigned ccl_n_devices(void)
{
    return 0;
}

void *ccl_pinned_alloc(size_t size, int device)
{
    (void)size, (void)device;
    return NULL;
}

void ccl_pinned_free(void *memory)
{
    (void)memory;
}

void *ccl_device_alloc(size_t size, int device)
{
    (void)size, (void)device;
    return NULL;
}

void ccl_device_free(void *memory)
{
    (void)memory;
}

bool ccl_device_download(void *host, const void *memory, size_t size)
{
    (void)host, (void)memory, (void)size;
    return false;
}

void *ccl_context_stream(const CclContext *context, unsigned i)
{
    (void)context, (void)i;
    return NULL;
}

unsigned ccl_context_timeouts(const CclContext *context)
{
    (void)context;
    return 0;
}
