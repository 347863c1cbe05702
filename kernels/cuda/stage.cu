/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Where kernels read a mask, and in which form. The host may have to copy or pack it to page-locked memory:
 *
 *     device memory                     pixels, in place
 *     page-locked, the device is idle   small: pixels, in place; large: packed by device and host (host_share.h)
 *     page-locked, else                 pixels, uploaded
 *     ordinary, the method takes bits   packed by the host; read in place or uploaded
 *     ordinary, else                    pixels, staged and uploaded
 *     label maps                        pixels of 8 or 16 bits: device memory in place, else uploaded
 */
#include "context.cuh"
#include "map.cuh"

#include "host/words.h"

#include <string.h>

/* Up to this size in bytes, bits are read in place, over the bus: quicker than a copy and its start. */
#define MAX_BITS_IN_PLACE (512u << 10)
/* The same for pixels, although the rows above tiles are then read twice. */
#define MAX_BYTES_IN_PLACE (4u << 20)
/* Masks of at least this size in bytes are packed in place instead, some rows by the caller, if shares_packing() allows it. For
 * smaller masks another kernel is not worth it. */
#define MIN_BYTES_SHARED (3u << 19)

/* Whether a mask is packed after the launch, so that both happen at the same time. Only if the device has loaded the kernels:
 * the driver may wait for an idle device before it loads one. */
static bool packs_meanwhile(const CclContext *context, const CudaSlot *slot, const CudaVars *vars, CudaMaskForm form)
{
    return cuda_has_graph(slot, cuda_shape_of(context, slot->ccl_frame, vars, form));
}

/* A mask from ordinary memory is packed into the slot's pinned memory, to an eighth of its size. Kernels read it there, or it
 * is uploaded. */
static CclStatus stage_bits(const CclContext *context, CudaSlot *slot, const CclMask *mask, CudaMaskForm *form,
                            CudaVars *vars)
{
    CudaContext *const cuda = cuda_context(context);
    vars->mask_stride = row_words(mask->width) * sizeof(uint64_t);
    vars->threshold = 0;
    const size_t size = vars->mask_stride * mask->height;
    const uint32_t awaited_rows = context->algorithm->awaited_rows(context, mask->width, mask->height);
    *form = !cuda_may_wait_for_host(cuda, context) ? CUDA_BITS : awaited_rows ? CUDA_BITS_AWAITED : CUDA_BITS_ASSEMBLED;
    slot->packs_meanwhile = *form != CUDA_BITS && packs_meanwhile(context, slot, vars, *form);
    cuda_plan_packing(slot, mask, 0, *form == CUDA_BITS_AWAITED ? awaited_rows : 0);
    if (!slot->packs_meanwhile)
        cuda_pack(cuda, slot);
    if (*form == CUDA_BITS_ASSEMBLED)
        return CCL_OK;
    if (*form == CUDA_BITS_AWAITED || size <= MAX_BITS_IN_PLACE) {
        vars->mask = (const uint8_t *)slot->mapped_mask;
        return CCL_OK;
    }
    CCL_TRY(cuda_begin_upload(cuda, slot));
    CCL_TRY(cuda_upload_staged(cuda, slot, 0, size));
    return cuda_end_upload(cuda, slot);
}

/* The device address of the caller's mask, in device memory or in pinned memory over the bus. NULL: kernels cannot read it. */
static const uint8_t *on_device(const CclMask *mask)
{
    cudaPointerAttributes about;
    if (mask->memory == CCL_MEMORY_DEVICE)
        return (const uint8_t *)mask->data;
    if (mask->memory != CCL_MEMORY_PINNED)
        return NULL;
    if (cudaPointerGetAttributes(&about, mask->data) != cudaSuccess) {
        (void)cudaGetLastError();
        return NULL;
    }
    /* For this call, memory that is not page-locked is no error. */
    return about.type == cudaMemoryTypeHost ? (const uint8_t *)about.devicePointer : NULL;
}

/* Whether kernels may read a pinned mask in place, over the bus. */
static bool reads_in_place(const CclContext *context, const CclMask *mask)
{
    return mask->memory == CCL_MEMORY_PINNED && mask->pixel_size == 1 && context->algorithm->takes_bits &&
           cuda_device_is_idle(context);
}

/* Whether the caller's thread can read a pinned mask as quickly as ordinary memory. Not if the memory is write-combined. */
static bool reads_quickly(const CclMask *mask)
{
    unsigned flags = 0;
    if (cudaHostGetFlags(&flags, (void *)mask->data) == cudaSuccess)
        return !(flags & cudaHostAllocWriteCombined);
    (void)cudaGetLastError();
    return false;
}

/* Whether the device and, for the last rows, the caller's thread pack a pinned mask to bits: the caller would
 * only wait for the device otherwise. Not if contexts share streams: frames of other contexts would wait. */
static bool shares_packing(const CclContext *context, const CclMask *mask, const uint8_t *there)
{
    const CudaContext *const cuda = cuda_context(context);
    const size_t min_bytes = ccl_test_switches()->packs_any_size ? 0 : MIN_BYTES_SHARED;
    return (size_t)mask->width * mask->height >= min_bytes && there && reads_in_place(context, mask) &&
           !mask->producer_stream && !context->config.timing && reads_quickly(mask) &&
           (!cuda->engine || cuda_engine_is_own(cuda->engine));
}

/* Measures how many bytes of a mask the device reads over the bus in 1 us. The device packs some rows of this mask three times,
 * each after another launch, so that no launch time is included. The shortest time counts. This takes the time of a few frames,
 * so it is done for the first mask and again after 2, 4, 8, ... further masks. The largest result counts: the bus may have been
 * asleep, or busy. */
static CclStatus measure_bus(CudaContext *cuda, CudaSlot *slot, const CclMask *mask)
{
    BitsJob some = slot->bits;
    const uint32_t n_rows = min(mask->height, max(1u, MIN_BYTES_SHARED / mask->width));
    float min_ms = 1e3f;
    some.n_rows = n_rows;
    some.chunks.n = 0;
    for (cudaEvent_t *event : { &slot->upload_start, &slot->upload_end })
        if (!*event)
            CCL_CUDA_TRY(cudaEventCreate(event));
    for (unsigned i = 0; i < 3; i++) {
        float ms;
        for (cudaEvent_t event : { slot->upload_start, slot->upload_end }) {
            CCL_TRY(mask_to_bits(&some, cuda->upload));
            CCL_CUDA_TRY(cudaEventRecord(event, cuda->upload));
        }
        CCL_CUDA_TRY(cudaEventSynchronize(slot->upload_end));
        CCL_CUDA_TRY(cudaEventElapsedTime(&ms, slot->upload_start, slot->upload_end));
        min_ms = min(min_ms, ms);
    }
    cuda->bus = max(cuda->bus, (float)mask->width * (float)n_rows / max(1e3f * min_ms, 1.0f));
    return CCL_OK;
}

/* Stages a mask that device and caller pack together, into the slot's device memory. */
static CclStatus stage_shared(const CclContext *context, CudaSlot *slot, const CclMask *mask, const uint8_t *there,
                              CudaVars *vars)
{
    CudaContext *const cuda = cuda_context(context);
    slot->bits.mask = there;
    slot->bits.mask_stride = mask->stride;
    slot->bits.threshold = mask->threshold;
    slot->bits.invert = mask->invert;
    vars->mask_stride = row_words(mask->width) * sizeof(uint64_t);
    vars->threshold = 0;
    slot->packs_meanwhile = cuda_may_wait_for_host(cuda, context) && packs_meanwhile(context, slot, vars, CUDA_BITS_ASSEMBLED);
    /* Packing before the launch would take longer than packing by the device alone. */
    const float tested = ccl_test_switches()->host_share;
    const float share = tested > 0 ? tested : slot->packs_meanwhile ? cuda->share : 0;
    const uint32_t n_rows = (uint32_t)((float)mask->height * (1 - share));
    cuda_plan_packing(slot, mask, share > 0 ? n_rows / CHUNK_ROWS * CHUNK_ROWS : mask->height, 0);
    if (!(cuda->n_shared & (cuda->n_shared - 1)))
        CCL_TRY(measure_bus(cuda, slot, mask));
    cuda->n_shared++;
    if (!slot->packs_meanwhile && slot->bits.chunks.n)
        cuda_pack(cuda, slot);
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

/* Copies a mask in ordinary memory to the slot's pinned memory and from there to the device. Some rows are staged at a time, so
 * that their upload overlaps staging the next rows. */
static CclStatus stage_and_upload_rows(const CudaContext *cuda, CudaSlot *slot, const CclMask *mask, size_t pitch)
{
    const uint32_t step = max(1u, (uint32_t)((512u << 10) / pitch));
    for (uint32_t y = 0; y < mask->height; y += step) {
        const uint32_t end = min(y + step, mask->height);
        stage_rows(mask, slot->h_mask, pitch, y, end);
        CCL_TRY(cuda_upload_staged(cuda, slot, y * pitch, (end - y - 1) * pitch + mask->width));
    }
    return CCL_OK;
}

/* A mask that is uploaded as pixels. */
static CclStatus stage_pixels(const CudaContext *cuda, CudaSlot *slot, const CclMask *mask, size_t pitch)
{
    CCL_TRY(cuda_begin_upload(cuda, slot));
    if (mask->memory == CCL_MEMORY_PINNED && mask->pixel_size == 1)
        CCL_TRY(cuda_upload_pinned(cuda, slot, mask, pitch));
    else
        CCL_TRY(stage_and_upload_rows(cuda, slot, mask, pitch));
    return cuda_end_upload(cuda, slot);
}

/* Whether only the caller packs the mask to bits. This holds for masks in ordinary memory. It also holds for 16-bit masks whose
 * memory is declared as page-locked but is not: these cannot be copied unchanged either. */
static bool is_packed_by_caller(const CclContext *context, const CclMask *mask, const uint8_t *there)
{
    return cuda_packs_masks(context) && (mask->memory == CCL_MEMORY_HOST || (mask->pixel_size == 2 && !there));
}

/* A label map: pixels keep their size. */
static CclStatus stage_map(const CclContext *context, CudaSlot *slot, const CclMask *mask, CudaVars *vars)
{
    CclMask bytes = *mask;
    bytes.width *= mask->pixel_size;
    bytes.pixel_size = 1;
    const bool in_place = mask->memory == CCL_MEMORY_DEVICE;
    const size_t pitch = cuda_mask_pitch(bytes.width);
    vars->mask = in_place ? (const uint8_t *)mask->data : slot->d_mask;
    vars->mask_stride = in_place ? mask->stride : pitch;
    vars->threshold = context->config.background_value;
    if (mask->pixel_size == 2) {
        vars->wide = vars->mask;
        vars->wide_stride = vars->mask_stride;
    }
    return in_place ? CCL_OK : stage_pixels(cuda_context(context), slot, &bytes, pitch);
}

CclStatus cuda_stage_mask(const CclContext *context, CudaSlot *slot, const CclMask *mask, CudaMaskForm *form,
                          CudaVars *vars)
{
    CudaContext *const cuda = cuda_context(context);
    const size_t pitch = cuda_mask_pitch(mask->width);
    const uint8_t *const there = on_device(mask);

    slot->uploads = slot->packs_meanwhile = false;
    slot->ccl_frame->table.pack_us = 0;
    CCL_TRY(cuda_mark_producer(slot, mask));
    if (cuda_takes_maps(context)) {
        *form = CUDA_PIXELS;
        return stage_map(context, slot, mask, vars);
    }
    vars->mask = slot->d_mask;
    vars->mask_stride = pitch;
    if (is_packed_by_caller(context, mask, there))
        return stage_bits(context, slot, mask, form, vars);
    *form = CUDA_BITS_ASSEMBLED;
    if (shares_packing(context, mask, there))
        return stage_shared(context, slot, mask, there, vars);
    *form = CUDA_PIXELS;
    if (mask->pixel_size == 2) { /* narrowed on the way: 0 or 255 */
        vars->threshold = 0;
        vars->invert = 0;
    } else {
        vars->threshold = mask->threshold;
        vars->invert = mask->invert;
    }
    if (there && mask->pixel_size == 2) {
        vars->wide = there;
        vars->wide_stride = mask->stride;
        vars->wide_threshold = mask->threshold;
        vars->wide_invert = mask->invert;
        return CCL_OK;
    }
    const bool small = (size_t)mask->width * mask->height <= MAX_BYTES_IN_PLACE;
    if (mask->memory == CCL_MEMORY_DEVICE || (there && small && reads_in_place(context, mask))) {
        vars->mask = there;
        vars->mask_stride = mask->stride;
        return CCL_OK;
    }
    return stage_pixels(cuda, slot, mask, pitch);
}
