/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The rows of holes: memory, and their order, by parents. Components of the inverse mask come in raster order. */
#include "context.cuh"
#include "map.cuh"

/* ---------------------------------------------------------------- memory */

/* The capacity of a context that has seen no mask with more. An inverse mask can have a component for every second pixel, but
 * few have a hundredth of that. */
#define FIRST_CAPACITY 16384u

static CudaStreamSlot *stream_slot_of(const CclContext *context, const CudaSlot *slot)
{
    return &cuda_context(context)->stream_slots[slot->stream_slot];
}

static void own(CclContext *context, CudaMemory *memory)
{
    memory->owner = "context";
    memory->device_bytes = &context->device_bytes;
    memory->host_bytes = &context->host_bytes;
}

CclStatus cuda_open_hole_sums(CclContext *context, CudaStreamSlot *stream_slot, uint32_t capacity)
{
    CudaHoles *const holes = &stream_slot->holes;
    own(context, &stream_slot->hole_sums);
    cuda_memory_free(&stream_slot->hole_sums);
    context->device_bytes -= holes->capacity * sizeof(CudaHole);
    holes->capacity = 0;
    CCL_TRY(cuda_memory_alloc(&stream_slot->hole_sums, &holes->sums.pointer, capacity * sizeof(CudaHole)));
    holes->capacity = capacity;
    CCL_CUDA_TRY(cudaMemsetAsync(holes->sums, 0, capacity * sizeof(CudaHole), stream_slot->stream));
    return CCL_OK;
}

/* Memory for the rows as they come, and for the rows in their order. */
static CclStatus open_rows(CclContext *context, CudaSlot *slot, uint32_t capacity)
{
    CudaHoleRows *const rows = &slot->holes;
    CclFrame *const frame = slot->ccl_frame;
    own(context, &rows->memory);
    cuda_memory_free(&rows->memory);
    free(frame->hole_rows);
    frame->hole_rows = NULL;
    context->host_bytes -= 2 * rows->capacity * sizeof(CclHole);
    rows->capacity = 0;
    CCL_TRY(cuda_memory_alloc_pinned(&rows->memory, &rows->listed, capacity * sizeof(CclHole)));
    frame->hole_rows = (CclHole *)malloc(capacity * sizeof(CclHole));
    if (!frame->hole_rows) {
        cuda_memory_free(&rows->memory);
        context->host_bytes -= capacity * sizeof(CclHole);
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "no memory for %u holes", capacity);
    }
    context->host_bytes += capacity * sizeof(CclHole);
    rows->capacity = capacity;
    CCL_CUDA_TRY(cudaHostGetDevicePointer((void **)&slot->frame.counts.holes.listed.pointer, rows->listed, 0));
    return CCL_OK;
}

CclStatus cuda_open_holes(CclContext *context, CudaSlot *slot)
{
    CclFrame *const frame = slot->ccl_frame;
    CCL_TRY(cuda_pinned_alloc(context, (void **)&slot->holes.n, sizeof(uint32_t)));
    CCL_CUDA_TRY(cudaHostGetDevicePointer((void **)&slot->frame.counts.holes.n.pointer, (void *)slot->holes.n, 0));
    frame->holes = (CclHoleCounts *)calloc(context->capacity, sizeof(CclHoleCounts));
    if (!frame->holes)
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "no memory for the holes of %u components", context->capacity);
    context->host_bytes += context->capacity * sizeof(CclHoleCounts);
    return open_rows(context, slot, test_limit(FIRST_CAPACITY));
}

CclStatus cuda_open_hole_memory(CclContext *context, CudaStreamSlot *stream_slot)
{
    const CclConfig *const config = &context->config;
    CudaHoles *const holes = &stream_slot->holes;
    const size_t n_words = (size_t)(config->max_width + 255) / 256 * 4 * config->max_height;
    const bool is_map = cuda_takes_maps(context);
    const size_t size = is_map ? cuda_map_holes_size(context) : cuda_inverse_workspace_size(context);
    CCL_TRY(cuda_device_alloc(context, &holes->workspace, size, true));
    if (!is_map)
        CCL_TRY(cuda_device_alloc(context, (void **)&holes->outside.pointer, n_words * sizeof(uint32_t), false));
    return cuda_open_hole_sums(context, stream_slot, test_limit(FIRST_CAPACITY));
}

void cuda_close_holes(CudaSlot *slot)
{
    cuda_memory_free(&slot->holes.memory);
    if (!slot->ccl_frame)
        return;
    free(slot->ccl_frame->holes);
    free(slot->ccl_frame->hole_rows);
}

bool cuda_has_all_holes(const CudaSlot *slot)
{
    return *slot->holes.n <= slot->frame.counts.holes.capacity;
}

/* Graphs have the addresses of this memory. */
CclStatus cuda_reserve_holes(CclContext *context, CudaSlot *slot)
{
    const CclConfig *const config = &context->config;
    const CclConnectivity other = config->connectivity == CCL_CONNECT_8 ? CCL_CONNECT_4 : CCL_CONNECT_8;
    const uint32_t width = config->max_width, height = config->max_height, n = *slot->holes.n;
    const uint32_t most = cuda_takes_maps(context) ? width * height : ccl_max_components(width, height, other);
    const uint32_t capacity = max(n, min(max(n + n / 4, test_limit(FIRST_CAPACITY)), most));
    CudaStreamSlot *const stream_slot = stream_slot_of(context, slot);
    cuda_context(context)->generation++;
    CCL_CUDA_TRY(cudaStreamSynchronize(stream_slot->stream)); /* it may have frames of other slots */
    if (stream_slot->holes.capacity < n)
        CCL_TRY(cuda_open_hole_sums(context, stream_slot, capacity));
    return slot->holes.capacity < n ? open_rows(context, slot, capacity) : CCL_OK;
}

/* ---------------------------------------------------------------- order */

static void count_holes(CclHoleCounts *counts, const CclHole *holes, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!holes[i].parent)
            continue;
        counts[holes[i].parent - 1].n_holes++;
        counts[holes[i].parent - 1].area_filled += holes[i].area_filled;
    }
}

void cuda_collect_holes(const CclContext *context, CudaSlot *slot)
{
    CclFrame *const frame = slot->ccl_frame;
    const CclHole *const listed = slot->holes.listed;
    const uint32_t n_listed = *slot->holes.n, n = min(frame->table.n_kept, context->capacity);
    uint32_t n_rows = 0;

    for (uint32_t k = 0; k < n; k++)
        frame->holes[k] = CclHoleCounts{ frame->records[k].moments.area, 0, 0 };
    count_holes(frame->holes, listed, n_listed);
    for (uint32_t k = 0; k < n; k++)
        frame->holes[k].first = n_rows += frame->holes[k].n_holes; /* the end of its rows */
    for (uint32_t i = n_listed; i-- > 0;)                          /* the last row of each component comes first */
        if (listed[i].parent)
            frame->hole_rows[--frame->holes[listed[i].parent - 1].first] = listed[i];
    frame->table.hole_rows = frame->hole_rows; /* they may have been made larger */
    frame->table.n_hole_rows = n_rows;
}
