/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Copies masks from host to device memory, on a stream of their own. */
#include "context.cuh"

#include <limits.h>

cudaError_t cuda_copy_rows(void *to, size_t to_stride, const CudaRows &from, cudaMemcpyKind kind, cudaStream_t stream)
{
    if (to_stride <= INT_MAX && from.stride <= INT_MAX)
        return cudaMemcpy2DAsync(to, to_stride, from.data, from.stride, from.size, from.n, kind, stream);
    cudaError_t error = cudaSuccess;
    for (uint32_t y = 0; y < from.n && error == cudaSuccess; y++)
        error = cudaMemcpyAsync((uint8_t *)to + y * to_stride, (const uint8_t *)from.data + y * from.stride, from.size, kind,
                                stream);
    return error;
}

CclStatus cuda_record(cudaEvent_t *event, cudaStream_t stream)
{
    if (!*event)
        CCL_CUDA_TRY(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
    CCL_CUDA_TRY(cudaEventRecord(*event, stream));
    return CCL_OK;
}

CclStatus cuda_begin_upload(const CudaContext *cuda, CudaSlot *slot)
{
    slot->uploads = true;
    if (slot->frame.timing)
        CCL_CUDA_TRY(cudaEventRecord(slot->upload_start, cuda->upload));
    return CCL_OK;
}

CclStatus cuda_end_upload(const CudaContext *cuda, CudaSlot *slot)
{
    if (slot->frame.timing)
        CCL_CUDA_TRY(cudaEventRecord(slot->upload_end, cuda->upload));
    return cuda_record(&slot->uploaded, cuda->upload);
}

CclStatus cuda_upload_staged(const CudaContext *cuda, const CudaSlot *slot, size_t begin, size_t size)
{
    CCL_CUDA_TRY(cudaMemcpyAsync(slot->d_mask + begin, slot->h_mask + begin, size, cudaMemcpyHostToDevice, cuda->upload));
    return CCL_OK;
}

CclStatus cuda_upload_pinned(const CudaContext *cuda, const CudaSlot *slot, const CclMask *mask, size_t pitch)
{
    if (mask->stride == pitch)
        CCL_CUDA_TRY(cudaMemcpyAsync(slot->d_mask, mask->data, (mask->height - 1) * pitch + mask->width,
                                     cudaMemcpyHostToDevice, cuda->upload));
    else
        CCL_CUDA_TRY(cuda_copy_rows(slot->d_mask, pitch, { mask->data, mask->stride, mask->width, mask->height },
                                    cudaMemcpyHostToDevice, cuda->upload));
    return CCL_OK;
}

CclStatus cuda_mark_producer(CudaSlot *slot, const CclMask *mask)
{
    slot->is_produced = mask->producer_stream != NULL;
    if (slot->is_produced)
        CCL_TRY(cuda_record(&slot->produced, (cudaStream_t)mask->producer_stream));
    return CCL_OK;
}

CclStatus cuda_stream_awaits_mask(const CudaSlot *slot, cudaStream_t stream)
{
    if (slot->is_produced)
        CCL_CUDA_TRY(cudaStreamWaitEvent(stream, slot->produced, 0));
    if (slot->picture_is_produced)
        CCL_CUDA_TRY(cudaStreamWaitEvent(stream, slot->picture_produced, 0));
    if (slot->uploads)
        CCL_CUDA_TRY(cudaStreamWaitEvent(stream, slot->uploaded, 0));
    return CCL_OK;
}
