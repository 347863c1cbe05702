/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Copies masks from host to device memory, on a stream of their own. */
#include "context.cuh"

#include <limits.h>
#include <string.h>

cudaError_t cuda_copy_rows(void *to, size_t to_stride, const void *from, size_t from_stride, size_t row_size, uint32_t n_rows,
                           cudaMemcpyKind kind, cudaStream_t stream)
{
    if (to_stride <= INT_MAX && from_stride <= INT_MAX)
        return cudaMemcpy2DAsync(to, to_stride, from, from_stride, row_size, n_rows, kind, stream);
    cudaError_t error = cudaSuccess;
    for (uint32_t y = 0; y < n_rows && error == cudaSuccess; y++)
        error = cudaMemcpyAsync((uint8_t *)to + y * to_stride, (const uint8_t *)from + y * from_stride, row_size, kind, stream);
    return error;
}

CclStatus cuda_record(cudaEvent_t *event, cudaStream_t stream)
{
    if (!*event)
        CCL_CUDA_TRY(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
    CCL_CUDA_TRY(cudaEventRecord(*event, stream));
    return CCL_OK;
}

/* Copies rows of a mask in ordinary memory to the slot's pinned memory, and narrows 16-bit pixels. */
static void stage_rows(const CclMask *mask, uint8_t *to, size_t pitch, uint32_t y0, uint32_t y1)
{
    const uint8_t *const from = (const uint8_t *)mask->data;
    for (uint32_t y = y0; y < y1; y++) {
        const uint8_t *const row = from + y * mask->stride;
        uint8_t *const out = to + y * pitch;
        if (mask->pixel_size == 1) {
            memcpy(out, row, mask->width);
            continue;
        }
        for (uint32_t x = 0; x < mask->width; x++) {
            uint16_t value;
            memcpy(&value, row + 2 * x, 2);
            out[x] = (value > mask->threshold) != mask->invert ? 255 : 0;
        }
    }
}

/* Uploads a mask in ordinary memory. Some rows are staged at a time, so that their copy to the device overlaps staging the next
 * rows. */
static CclStatus upload_staged(CudaContext *cuda, CudaSlot *slot, const CclMask *mask, size_t pitch)
{
    const uint32_t step = max(1u, (uint32_t)((512u << 10) / pitch));
    for (uint32_t y = 0; y < mask->height; y += step) {
        const uint32_t end = min(y + step, mask->height);
        stage_rows(mask, slot->h_mask, pitch, y, end);
        const size_t size = (end - y - 1) * pitch + mask->width;
        CCL_CUDA_TRY(cudaMemcpyAsync(slot->d_mask + y * pitch, slot->h_mask + y * pitch, size, cudaMemcpyHostToDevice,
                                     cuda->upload));
    }
    return CCL_OK;
}

static CclStatus upload_pinned(CudaContext *cuda, CudaSlot *slot, const CclMask *mask, size_t pitch)
{
    if (mask->stride == pitch)
        CCL_CUDA_TRY(cudaMemcpyAsync(slot->d_mask, mask->data, (mask->height - 1) * pitch + mask->width,
                                     cudaMemcpyHostToDevice, cuda->upload));
    else
        CCL_CUDA_TRY(cuda_copy_rows(slot->d_mask, pitch, mask->data, mask->stride, mask->width, mask->height,
                                    cudaMemcpyHostToDevice, cuda->upload));
    return CCL_OK;
}

static CclStatus begin_upload(const CudaContext *cuda, CudaSlot *slot)
{
    slot->uploads = true;
    if (slot->frame.timing)
        CCL_CUDA_TRY(cudaEventRecord(slot->upload_start, cuda->upload));
    return CCL_OK;
}

static CclStatus end_upload(const CudaContext *cuda, CudaSlot *slot)
{
    if (slot->frame.timing)
        CCL_CUDA_TRY(cudaEventRecord(slot->upload_end, cuda->upload));
    return cuda_record(&slot->uploaded, cuda->upload);
}

CclStatus cuda_upload_mask(CudaContext *cuda, CudaSlot *slot, const CclMask *mask, size_t pitch)
{
    CCL_TRY(begin_upload(cuda, slot));
    if (mask->memory == CCL_MEMORY_PINNED && mask->pixel_size == 1)
        CCL_TRY(upload_pinned(cuda, slot, mask, pitch));
    else
        CCL_TRY(upload_staged(cuda, slot, mask, pitch));
    return end_upload(cuda, slot);
}

CclStatus cuda_upload_staged_bits(CudaContext *cuda, CudaSlot *slot, size_t size)
{
    CCL_TRY(begin_upload(cuda, slot));
    CCL_CUDA_TRY(cudaMemcpyAsync(slot->d_mask, slot->h_mask, size, cudaMemcpyHostToDevice, cuda->upload));
    return end_upload(cuda, slot);
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
    if (slot->uploads)
        CCL_CUDA_TRY(cudaStreamWaitEvent(stream, slot->uploaded, 0));
    return CCL_OK;
}
