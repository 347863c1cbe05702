/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What other files ask of a context: memory, sizes, and the state of its device. */
#include "context.cuh"

CclStatus cuda_device_alloc(CclContext *context, void **memory, size_t size, bool cleared)
{
    CudaContext *const cuda = cuda_context(context);
    CCL_TRY(cuda_memory_alloc(&cuda->memory, memory, size));
    if (cleared)
        CCL_CUDA_TRY(cudaMemsetAsync(*memory, 0, size, cuda->stream_slots[0].stream));
    return CCL_OK;
}

CclStatus cuda_pinned_alloc(CclContext *context, void **memory, size_t size)
{
    return cuda_memory_alloc_pinned(&cuda_context(context)->memory, memory, size);
}

const CudaCapacity *cuda_capacity(const CclContext *context)
{
    const CudaContext *const cuda = cuda_context(context);
    return cuda->engine ? &cuda->engine->capacity : &cuda->capacity;
}

unsigned cuda_multiprocessors(const CclContext *context)
{
    return cuda_context(context)->device.multiprocessors;
}

/* On an idle device, kernels may read host memory over the bus, which saves the copy and its start. While other frames are in
 * flight, masks are copied. */
bool cuda_device_is_idle(const CclContext *context)
{
    const CudaContext *const cuda = cuda_context(context);
    return !context->n_waiting && (!cuda->engine || ccl_scheduler_idle(cuda->engine->queue));
}

unsigned ccl_context_timeouts(const CclContext *context)
{
    return context->config.backend == CCL_BACKEND_CUDA ? cuda_context(context)->n_timeouts : 0;
}

void *ccl_context_stream(const CclContext *context, unsigned i)
{
    const CudaContext *const cuda = context->config.backend == CCL_BACKEND_CUDA ? cuda_context(context) : NULL;
    return cuda && !cuda->engine && i < cuda->n_stream_slots ? (void *)cuda->stream_slots[i].stream : NULL;
}
