/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The picture that CCL_FEATURE_INTENSITY measures, where kernels can read it:
 *
 *     device memory     in place
 *     page-locked       uploaded
 *     ordinary memory   copied to the slot's page-locked memory and uploaded, some rows at a time
 *
 * A description of it is uploaded too, because a captured graph is for all pictures.
 */
#include "context.cuh"

#include <string.h>

#define STEP_BYTES (512u << 10) /* copied to page-locked memory before their upload begins */

/* Samples to upload. */
typedef struct SamplePlane {
    CudaRows from;
    size_t pitch, offset; /* in the slot's memory: bytes from row to row, and before the first */
} SamplePlane;

typedef struct SamplePlanes {
    SamplePlane of[3];
    unsigned n;
    size_t size; /* of all */
} SamplePlanes;

static void add_plane(SamplePlanes *planes, const CudaRows &from)
{
    const size_t pitch = (from.size + 127) / 128 * 128;
    planes->of[planes->n++] = SamplePlane{ from, pitch, planes->size };
    planes->size += pitch * from.n;
}

/* Whether one plane has both kinds of chroma in turn. */
static bool is_paired(const CclPicture *picture, size_t row, size_t sample_size)
{
    const uint8_t *const blue = (const uint8_t *)picture->chroma[0], *const red = (const uint8_t *)picture->chroma[1];
    return picture->chroma_step == 2 && picture->chroma_stride >= row && (blue + sample_size == red || red + sample_size == blue);
}

static SamplePlanes planes_of(const CclPicture *picture, uint32_t width, uint32_t height)
{
    SamplePlanes planes = {};
    const size_t size = picture->sample_size == 2 ? 2 : 1;
    add_plane(&planes, { picture->luma, picture->stride, width * size, height });
    if (!picture->chroma[0])
        return planes;
    const uint32_t n = (width + (1u << picture->shift_x) - 1) >> picture->shift_x;
    const uint32_t n_rows = (height + (1u << picture->shift_y) - 1) >> picture->shift_y;
    const size_t pairs = 2 * n * size, row = ((n - 1) * (size_t)picture->chroma_step + 1) * size;
    if (is_paired(picture, pairs, size)) {
        const bool blue_first = (uintptr_t)picture->chroma[0] < (uintptr_t)picture->chroma[1];
        add_plane(&planes, { picture->chroma[blue_first ? 0 : 1], picture->chroma_stride, pairs, n_rows });
        return planes;
    }
    for (const void *chroma : picture->chroma)
        add_plane(&planes, { chroma, picture->chroma_stride, row, n_rows });
    return planes;
}

/* ---------------------------------------------------------------- memory */

/* Makes a block of the slot's samples larger. The slot has no frame in flight. */
template <typename Alloc>
static CclStatus grow(CudaMemory *memory, uint8_t **block, size_t *size, size_t wanted, size_t *total, Alloc alloc)
{
    if (wanted <= *size)
        return CCL_OK;
    cuda_memory_free(memory);
    *total -= *size;
    *block = NULL;
    *size = 0;
    CCL_TRY(alloc(memory, block, wanted));
    *size = wanted;
    return CCL_OK;
}

static CclStatus grow_samples(CclContext *context, CudaSamples *samples, size_t size, bool on_host)
{
    CudaMemory *const device = &samples->device_memory, *const pinned = &samples->pinned_memory;
    for (CudaMemory *memory : { device, pinned }) {
        memory->owner = "context";
        memory->device_bytes = &context->device_bytes;
        memory->host_bytes = &context->host_bytes;
    }
    CCL_TRY(grow(device, &samples->device, &samples->device_size, size, &context->device_bytes, cuda_memory_alloc));
    return on_host ? grow(pinned, &samples->pinned, &samples->pinned_size, size, &context->host_bytes, cuda_memory_alloc_pinned)
                   : CCL_OK;
}

void cuda_free_samples(CudaSamples *samples)
{
    cuda_memory_free(&samples->device_memory);
    cuda_memory_free(&samples->pinned_memory);
}

/* ---------------------------------------------------------------- upload */

static CclStatus upload_staged(const CudaContext *cuda, const CudaSamples *samples, const SamplePlane *plane)
{
    const CudaRows &from = plane->from;
    const uint32_t step = max(1u, (uint32_t)(STEP_BYTES / plane->pitch));
    for (uint32_t y = 0; y < from.n; y += step) {
        const uint32_t end = min(y + step, from.n);
        const size_t begin = plane->offset + y * plane->pitch;
        for (uint32_t i = y; i < end; i++)
            memcpy(samples->pinned + plane->offset + i * plane->pitch, (const uint8_t *)from.data + i * from.stride, from.size);
        CCL_CUDA_TRY(cudaMemcpyAsync(samples->device + begin, samples->pinned + begin, (end - y - 1) * plane->pitch + from.size,
                                     cudaMemcpyHostToDevice, cuda->upload));
    }
    return CCL_OK;
}

static CclStatus upload_planes(const CudaContext *cuda, const CudaSamples *samples, const SamplePlanes *planes, bool staged)
{
    for (unsigned i = 0; i < planes->n; i++) {
        const SamplePlane *const plane = &planes->of[i];
        if (staged)
            CCL_TRY(upload_staged(cuda, samples, plane));
        else
            CCL_CUDA_TRY(
                cuda_copy_rows(samples->device + plane->offset, plane->pitch, plane->from, cudaMemcpyHostToDevice, cuda->upload));
    }
    return CCL_OK;
}

/* The addresses and strides of the uploaded planes. */
static void describe_uploaded(CudaPicture *to, const CclPicture *picture, const SamplePlanes *planes, uint8_t *device)
{
    to->luma = device;
    to->stride = planes->of[0].pitch;
    for (unsigned k = 0; k < 2 && planes->n > 1; k++) {
        const SamplePlane *const plane = &planes->of[planes->n == 3 ? 1 + k : 1];
        to->chroma[k] = device + plane->offset + ((const uint8_t *)picture->chroma[k] - (const uint8_t *)plane->from.data);
        to->chroma_stride = plane->pitch;
    }
}

static CudaPicture describe(const CclPicture *picture)
{
    CudaPicture to = {};
    to.luma = (const uint8_t *)picture->luma;
    to.stride = picture->stride;
    to.chroma[0] = (const uint8_t *)picture->chroma[0];
    to.chroma[1] = (const uint8_t *)picture->chroma[1];
    to.chroma_stride = picture->chroma_stride;
    to.chroma_step = picture->chroma_step;
    to.shift_x = picture->shift_x;
    to.shift_y = picture->shift_y;
    to.wide = picture->sample_size == 2;
    return to;
}

CclStatus cuda_stage_picture(CclContext *context, CudaSlot *slot, const CclMask *mask)
{
    const CudaContext *const cuda = cuda_context(context);
    CudaSamples *const samples = &slot->samples;
    slot->picture_is_produced = false;
    if (!(context->config.features & CCL_FEATURE_INTENSITY))
        return CCL_OK;
    const CclPicture *const picture = mask->picture;
    *samples->description = describe(picture);
    if (!slot->uploads)
        CCL_TRY(cuda_begin_upload(cuda, slot));
    if (picture->memory == CCL_MEMORY_DEVICE) {
        slot->picture_is_produced = picture->producer_stream != NULL;
        if (slot->picture_is_produced)
            CCL_TRY(cuda_record(&slot->picture_produced, (cudaStream_t)picture->producer_stream));
    } else {
        const bool staged = picture->memory == CCL_MEMORY_HOST;
        const SamplePlanes planes = planes_of(picture, mask->width, mask->height);
        CCL_TRY(grow_samples(context, samples, planes.size, staged));
        CCL_TRY(upload_planes(cuda, samples, &planes, staged));
        describe_uploaded(samples->description, picture, &planes, samples->device);
    }
    CCL_CUDA_TRY(cudaMemcpyAsync((void *)slot->frame.counts.picture, samples->description, sizeof *samples->description,
                                 cudaMemcpyHostToDevice, cuda->upload));
    return cuda_end_upload(cuda, slot);
}
