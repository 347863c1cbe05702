/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Opens and closes a CUDA context: streams, memory, slots. */
#include "context.cuh"
#include "map.cuh"
#include "volume.cuh"

#include "host/words.h"

#include <stdlib.h>
#include <string.h>

static size_t align(size_t size)
{
    return (size + 255) / 256 * 256;
}

static CclStatus open_stages(CclContext *context, StageBuffers *stages)
{
    *stages = stage_sizes(context);
    CCL_TRY(cuda_device_alloc(context, (void **)&stages->root_state, stage_roots(context) * sizeof(uint32_t), false));
    CCL_TRY(cuda_device_alloc(context, (void **)&stages->sums, stages->n_sums * sizeof(Sums), true));
    CCL_TRY(cuda_device_alloc(context, (void **)&stages->chunk_ids, stages->n_chunks * sizeof(uint32_t), false));
    CCL_TRY(cuda_device_alloc(context, (void **)&stages->table_scan, stages->n_table_scan * sizeof(uint32_t), true));
    return cuda_device_alloc(context, (void **)&stages->counts, sizeof(Counts), true);
}

static CclStatus open_loop(CclContext *context)
{
    CudaLoop *const loop = &cuda_context(context)->loop;
    if (!context->algorithm->iterative)
        return CCL_OK;
    CCL_TRY(cuda_device_alloc(context, (void **)&loop->changed, sizeof(uint32_t), true));
    CCL_TRY(cuda_pinned_alloc(context, (void **)&loop->host, sizeof(uint32_t)));
    CCL_CUDA_TRY(cudaHostGetDevicePointer((void **)&loop->seen, (void *)loop->host, 0));
    if (context->config.timing)
        CCL_CUDA_TRY(cudaEventCreate(&loop->started));
    return CCL_OK;
}

/* One allocation of each kind: pinning takes time, and there may be a thousand contexts to open. */
static CclStatus open_memory(CclContext *context, CudaSlot *slot, CclFrame *ccl_frame)
{
    const uint32_t width = context->config.max_width, height = context->config.max_height;
    const uint32_t max_pixel = cuda_takes_maps(context) ? 2 : 1;
    const size_t mask_size = align(cuda_mask_pitch(max_pixel * width) * height);
    const size_t up_size = cuda_packs_masks(context) ? align(row_words(width) * sizeof(uint64_t) * height) : mask_size;
    const size_t result_size = align(sizeof(CudaResult));
    const uint32_t n_bands = max(min(blocks_for(height, MIN_BAND_ROWS), MAX_READY_BANDS), MAX_ROW_CHUNKS);
    const uint32_t n_lines = 1 + (cuda_packs_masks(context) ? READY_FLAGS(n_bands) : 0);
    const size_t ready_size = align(n_lines * READY_FLAG_STRIDE * sizeof(uint32_t));
    uint8_t *host, *device;

    CCL_TRY(cuda_pinned_alloc(context, (void **)&host,
                              up_size + result_size + ready_size + context->capacity * sizeof(CclComponent)));
    slot->h_mask = host;
    slot->h_result = (CudaResult *)(host + up_size);
    *slot->h_result = CudaResult{};
    slot->h_timed_out = (volatile uint32_t *)(host + up_size + result_size);
    slot->h_ready_flags = (uint32_t *)slot->h_timed_out + READY_FLAG_STRIDE;
    memset((void *)slot->h_timed_out, 0, ready_size);
    CCL_CUDA_TRY(cudaHostGetDevicePointer((void **)&slot->mapped_mask, slot->h_mask, 0));
    slot->frame.chunks = &slot->bits.chunks;
    CCL_CUDA_TRY(cudaHostGetDevicePointer((void **)&slot->bits.chunks.timed_out, (void *)slot->h_timed_out, 0));
    slot->bits.chunks.ready_flags = slot->bits.chunks.timed_out + READY_FLAG_STRIDE;
    ccl_frame->records = (CclComponent *)(host + up_size + result_size + ready_size);
    CCL_CUDA_TRY(cudaHostGetDevicePointer((void **)&slot->frame.result, slot->h_result, 0));
    CCL_CUDA_TRY(cudaHostGetDevicePointer((void **)&slot->frame.records, ccl_frame->records, 0));

    CCL_TRY(cuda_device_alloc(context, (void **)&device, mask_size + sizeof(CudaVars), false));
    slot->d_mask = device;
    slot->frame.kept = (CudaVars *)(device + mask_size);
    return CCL_OK;
}

static CclStatus open_shape(CclContext *context, CudaCounts *counts, CclFrame *ccl_frame)
{
    if (!(context->config.features & CCL_FEATURE_SHAPE))
        return CCL_OK;
    CCL_TRY(cuda_pinned_alloc(context, (void **)&ccl_frame->shape, context->capacity * sizeof(CclShapeCounts)));
    CCL_CUDA_TRY(cudaHostGetDevicePointer((void **)&counts->shape, ccl_frame->shape, 0));
    return CCL_OK;
}

static CclStatus open_hull(CclContext *context, CudaCounts *counts, CclFrame *ccl_frame)
{
    if (!(context->config.features & CCL_FEATURE_HULL))
        return CCL_OK;
    CCL_TRY(cuda_pinned_alloc(context, (void **)&ccl_frame->hull, context->capacity * sizeof(CclHullCounts)));
    CCL_CUDA_TRY(cudaHostGetDevicePointer((void **)&counts->hull, ccl_frame->hull, 0));
    return CCL_OK;
}

/* A row of a mask has at most a component for every two pixels, a row of a label map one for each pixel. */
static CclStatus open_hulls(CclContext *context, CudaHulls *hulls)
{
    const size_t n = context->capacity, width = context->config.max_width, height = context->config.max_height;
    const size_t n_lines = min(n, cuda_takes_maps(context) ? width : (width + 1) / 2) * height + n;
    CCL_TRY(cuda_device_alloc(context, (void **)&hulls->heights.pointer, n * sizeof(CudaRange), true));
    CCL_TRY(cuda_device_alloc(context, (void **)&hulls->places.pointer, n * sizeof(uint32_t), false));
    CCL_TRY(cuda_device_alloc(context, (void **)&hulls->extents.pointer, n_lines * sizeof(CudaRange), true));
    CCL_TRY(cuda_device_alloc(context, (void **)&hulls->large.pointer, n * sizeof(CudaLargeHull), false));
    CCL_TRY(cuda_device_alloc(context, (void **)&hulls->n_used.pointer, 2 * sizeof(uint32_t), false));
    return cuda_device_alloc(context, (void **)&hulls->points.pointer, 2 * n_lines * sizeof(CclCornerPoint), false);
}

static CclStatus open_stream_slot_counts(CclContext *context, CudaStreamSlot *stream_slot)
{
    if (context->config.features & CCL_FEATURE_SHAPE)
        CCL_TRY(cuda_device_alloc(context, (void **)&stream_slot->shape_sums, context->capacity * sizeof(CclShapeCounts), true));
    if (context->config.features & CCL_FEATURE_INTENSITY)
        CCL_TRY(cuda_device_alloc(context, (void **)&stream_slot->intensity_sums, context->capacity * sizeof(CclIntensityCounts),
                                  true));
    if (context->config.features & CCL_FEATURE_HULL)
        CCL_TRY(open_hulls(context, &stream_slot->hulls));
    return context->config.features & CCL_FEATURE_HOLES ? cuda_open_hole_memory(context, stream_slot) : CCL_OK;
}

static CclStatus open_intensity(CclContext *context, CudaSlot *slot, CclFrame *ccl_frame)
{
    const size_t size = align(context->capacity * sizeof(CclIntensityCounts));
    CudaCounts *const counts = &slot->frame.counts;
    uint8_t *host;
    if (!(context->config.features & CCL_FEATURE_INTENSITY))
        return CCL_OK;
    CCL_TRY(cuda_pinned_alloc(context, (void **)&host, size + sizeof(CudaPicture)));
    ccl_frame->intensity = (CclIntensityCounts *)host;
    slot->samples.description = (CudaPicture *)(host + size);
    CCL_CUDA_TRY(cudaHostGetDevicePointer((void **)&counts->intensity, host, 0));
    return cuda_device_alloc(context, (void **)&counts->picture, sizeof(CudaPicture), false);
}

static CclStatus open_class_ids(CclContext *context, CudaFrame *frame, CclFrame *ccl_frame)
{
    if (!cuda_takes_maps(context))
        return CCL_OK;
    CCL_TRY(cuda_pinned_alloc(context, (void **)&ccl_frame->class_ids, context->capacity * sizeof(uint16_t)));
    CCL_CUDA_TRY(cudaHostGetDevicePointer((void **)&frame->class_ids, ccl_frame->class_ids, 0));
    return CCL_OK;
}

static CclStatus open_slot(CclContext *context, CudaSlot *slot, CclFrame *ccl_frame)
{
    CudaFrame *const frame = &slot->frame;

    slot->context = context;
    /* With an engine each launch sets it. */
    frame->stream = cuda_context(context)->engine ? NULL : cuda_context(context)->stream_slots[slot->stream_slot].stream;
    frame->timing = context->config.timing;
    frame->overlap = cuda_context(context)->device.overlaps && !frame->timing;
    slot->ccl_frame = ccl_frame;
    frame->loop = context->algorithm->iterative ? &cuda_context(context)->loop : NULL;
    ccl_frame->slot = frame;
    CCL_TRY(open_memory(context, slot, ccl_frame));
    CCL_TRY(open_shape(context, &frame->counts, ccl_frame));
    CCL_TRY(open_intensity(context, slot, ccl_frame));
    CCL_TRY(open_class_ids(context, frame, ccl_frame));
    CCL_TRY(open_hull(context, &frame->counts, ccl_frame));
    if (context->config.features & CCL_FEATURE_HOLES)
        CCL_TRY(cuda_open_holes(context, slot));

    if (frame->timing) {
        CCL_CUDA_TRY(cudaEventCreate(&slot->upload_start));
        CCL_CUDA_TRY(cudaEventCreate(&slot->upload_end));
        for (cudaEvent_t &event : frame->step_events)
            CCL_CUDA_TRY(cudaEventCreate(&event));
    }
    return CCL_OK;
}

/* Label images of the context. There is one for each slot if labels may be copied to the host, one for each stream slot if
 * label() needs one, and none for analyze() or label maps without labels. */
static CclStatus open_labels(CclContext *context, size_t n_pixels)
{
    CudaContext *const cuda = cuda_context(context);
    if (!context->config.labels && (context->algorithm->analyze || cuda_takes_maps(context)))
        return CCL_OK;
    for (unsigned i = 0; i < context->config.depth; i++) {
        if (i >= cuda->n_stream_slots && !context->config.labels)
            cuda->slots[i].d_labels = cuda->slots[cuda->slots[i].stream_slot].d_labels;
        else
            CCL_TRY(cuda_device_alloc(context, (void **)&cuda->slots[i].d_labels, n_pixels * sizeof(uint32_t), false));
    }
    return CCL_OK;
}

/* Number of stream slots. Each frame in flight has one, because a single frame leaves most of the device free, or waits for the
 * bus. One suffices if the method waits for the host, or frames are timed. Benchmarks may set fewer. */
static unsigned stream_slots_wanted(const CclContext *context)
{
    if (context->algorithm->iterative || context->config.timing || context->config.volume)
        return 1;
    return limit_of(context->config.depth, ccl_test_switches()->max_stream_slots);
}

/* The context's own streams, or those of an engine. */
static CclStatus open_streams(CclContext *context)
{
    CudaContext *const cuda = cuda_context(context);
    if (context->config.shared && context->algorithm->batches && !context->config.timing && !context->config.features) {
        CCL_TRY(cuda_engine_join(context, &cuda_batch_calls));
        for (unsigned i = 0; i < context->config.depth; i++)
            ccl_ticket_init(&cuda->slots[i].ticket, &cuda->slots[i]);
        return CCL_OK;
    }
    if (cuda_packs_masks(context) && context->config.threads > 1)
        cuda->packers = ccl_pool_new(context->config.threads);
    cuda->n_stream_slots = stream_slots_wanted(context);
    for (unsigned i = 0; i < context->config.depth; i++)
        cuda->slots[i].stream_slot = i % cuda->n_stream_slots;
    for (unsigned i = 0; i < cuda->n_stream_slots; i++)
        CCL_CUDA_TRY(cudaStreamCreateWithFlags(&cuda->stream_slots[i].stream, cudaStreamNonBlocking));
    CCL_CUDA_TRY(cudaStreamCreateWithFlags(&cuda->upload, cudaStreamNonBlocking));
    CCL_CUDA_TRY(cudaStreamCreateWithFlags(&cuda->download, cudaStreamNonBlocking));
    return CCL_OK;
}

static CclStatus open_stream_slots(CclContext *context)
{
    const CclAlgorithm *const algorithm = context->algorithm;
    CudaContext *const cuda = cuda_context(context);
    if (cuda->engine)
        return CCL_OK;
    if (algorithm->batches)
        cuda->capacity = algorithm->batches->capacity(context);
    const size_t size = algorithm->batches          ? algorithm->batches->workspace_size(&cuda->capacity)
                        : algorithm->workspace_size ? algorithm->workspace_size(context)
                                                    : 0;
    for (unsigned i = 0; i < cuda->n_stream_slots; i++) {
        CudaStreamSlot *const stream_slot = &cuda->stream_slots[i];
        if (!algorithm->analyze && !context->config.volume)
            CCL_TRY(open_stages(context, &stream_slot->stages));
        if (size)
            CCL_TRY(cuda_device_alloc(context, &stream_slot->workspace, size, true));
        CCL_TRY(open_stream_slot_counts(context, stream_slot));
    }
    CCL_CUDA_TRY(cudaStreamSynchronize(cuda->stream_slots[0].stream)); /* its memory was cleared on this stream */
    return CCL_OK;
}

CclStatus cuda_open(CclContext *context)
{
    const size_t n_pixels = (size_t)context->config.max_width * context->config.max_height;

    CCL_TRY(cuda_check_device(context->config.device));
    CCL_TRY(cuda_use_device(context->config.device));
    CudaContext *const cuda = (CudaContext *)calloc(1, sizeof *cuda);
    if (!cuda)
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "out of memory");
    context->impl = cuda;
    cuda->memory.owner = "context";
    cuda->memory.device_bytes = &context->device_bytes;
    cuda->memory.host_bytes = &context->host_bytes;

    cuda->no_graphs = ccl_test_switches()->no_graphs;
    CCL_TRY(cuda_query_device(&cuda->device));
    cuda->pack_rows = ccl_pack_rows(context->config.cpu_flags);
    cuda->share = CCL_SHARE_FIRST;
    cuda->density = CUDA_MANY; /* for the first frame: a cluster of blocks takes very long for very many runs */
    cuda->density_left = 1;
    CCL_TRY(open_streams(context));
    CCL_TRY(open_loop(context));
    for (unsigned i = 0; i < context->config.depth; i++)
        CCL_TRY(open_slot(context, &cuda->slots[i], &context->frames[i]));
    CCL_CUDA_TRY(cudaStreamSynchronize(cuda->upload)); /* the slots' memory was cleared on this stream */
    CCL_TRY(open_labels(context, n_pixels));
    if (context->config.volume)
        CCL_TRY(cuda_volume_open(context));
    return open_stream_slots(context);
}

static void close_slot(CudaSlot *slot)
{
    cudaEvent_t events[] = { slot->uploaded, slot->produced,     slot->picture_produced, slot->computed,
                             slot->done,     slot->upload_start, slot->upload_end };
    for (cudaEvent_t event : events)
        if (event)
            cudaEventDestroy(event);
    for (cudaEvent_t event : slot->frame.step_events)
        if (event)
            cudaEventDestroy(event);
    cuda_close_holes(slot);
    for (CudaReplay &replay : slot->replays)
        cuda_graph_drop(&replay.graph);
    cuda_free_samples(&slot->samples);
    if (slot->ticket.frame)
        ccl_ticket_clear(&slot->ticket);
}

/* Drops frames that will not be collected. */
static void drop_tickets(CudaContext *cuda)
{
    for (CudaSlot &slot : cuda->slots)
        if (slot.ticket.state != CCL_TICKET_FREE)
            (void)ccl_scheduler_collect(cuda->engine->queue, &slot.ticket);
}

void cuda_close(CclContext *context)
{
    CudaContext *const cuda = cuda_context(context);
    if (!cuda)
        return;
    if (context->config.device >= 0)
        cudaSetDevice(context->config.device);
    if (cuda->waiter.stream)
        cudaStreamSynchronize(cuda->waiter.stream);
    cudaStream_t streams[2 + CCL_MAX_DEPTH] = { cuda->upload, cuda->download }; /* its own, or the engine's */
    for (unsigned i = 0; i < CCL_MAX_DEPTH; i++)
        streams[2 + i] = cuda->stream_slots[i].stream;
    if (cuda->engine) {
        drop_tickets(cuda);
        cuda_engine_finish_frames(context);
    }
    for (cudaStream_t stream : streams)
        if (stream && !cuda->engine)
            cudaStreamSynchronize(stream);
    for (CudaSlot &slot : cuda->slots)
        close_slot(&slot);
    for (CudaStreamSlot &stream_slot : cuda->stream_slots)
        cuda_memory_free(&stream_slot.hole_sums);
    if (cuda->loop.started)
        cudaEventDestroy(cuda->loop.started);
    cuda_memory_free(&cuda->memory);
    for (cudaStream_t stream : streams)
        if (stream && !cuda->engine)
            cudaStreamDestroy(stream);
    cuda_waiter_free(&cuda->waiter);
    cuda_engine_leave(context);
    (void)cudaGetLastError();
    ccl_pool_free(cuda->packers);
    free(cuda);
}
