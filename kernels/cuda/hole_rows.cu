/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The rows of holes: memory, and their order, by parents. Components of the inverse mask come in raster order. */
#include "context.cuh"

/* Few masks have more holes than are listed. For the rest there is address space, which takes memory where it is written. */
CclStatus cuda_open_holes(CclContext *context, CudaSlot *slot)
{
    CudaHoles *const holes = &slot->frame.counts.holes;
    CclFrame *const frame = slot->ccl_frame;
    const CclConnectivity other = context->config.connectivity == CCL_CONNECT_8 ? CCL_CONNECT_4 : CCL_CONNECT_8;
    const size_t n = ccl_max_components(context->config.max_width, context->config.max_height, other);
    uint8_t *host;

    CCL_TRY(cuda_pinned_alloc(context, (void **)&host, CUDA_LISTED_HOLES * sizeof(CudaHole) + sizeof(uint32_t)));
    slot->h_holes = (CudaHole *)host;
    slot->h_n_holes = (uint32_t *)(slot->h_holes + CUDA_LISTED_HOLES);
    CCL_CUDA_TRY(cudaHostGetDevicePointer((void **)&holes->listed.pointer, slot->h_holes, 0));
    holes->n = (uint32_t *)(holes->listed.pointer + CUDA_LISTED_HOLES);
    CCL_TRY(cuda_device_alloc(context, (void **)&holes->sums.pointer, n * sizeof(CudaHole), false));
    frame->holes = (CclHoleCounts *)calloc(context->capacity, sizeof(CclHoleCounts));
    frame->hole_rows = (CclHole *)calloc(n, sizeof(CclHole));
    slot->more_holes = (CudaHole *)calloc(n, sizeof(CudaHole));
    if (!frame->holes || !frame->hole_rows || !slot->more_holes)
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "no memory for the holes of %u components", context->capacity);
    context->host_bytes += context->capacity * sizeof(CclHoleCounts) + n * (sizeof(CclHole) + sizeof(CudaHole));
    return CCL_OK;
}

void cuda_close_holes(CudaSlot *slot)
{
    if (!slot->ccl_frame)
        return;
    free(slot->ccl_frame->holes);
    free(slot->ccl_frame->hole_rows);
    free(slot->more_holes);
}

static CclHole row_of(const CudaHole *hole)
{
    const uint32_t first = ~hole->not_first;
    return CclHole{ hole->label,
                    hole->area,
                    hole->area_filled,
                    (uint16_t)~hole->columns,
                    (uint16_t)(first >> 16),
                    (uint16_t)(hole->columns >> 16),
                    (uint16_t)hole->y1,
                    (uint16_t)first,
                    0 };
}

static void count_holes(CclHoleCounts *counts, const CudaHole *holes, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!holes[i].label || holes[i].parent == ~0u)
            continue;
        counts[holes[i].label - 1].n_holes++;
        counts[holes[i].label - 1].area_filled += holes[i].area_filled;
    }
}

static void write_rows(CclFrame *frame, const CudaHole *holes, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (holes[i].label && holes[i].parent != ~0u)
            frame->hole_rows[frame->holes[holes[i].label - 1].first++] = row_of(&holes[i]);
}

CclStatus cuda_collect_holes(const CclContext *context, CudaSlot *slot)
{
    CclFrame *const frame = slot->ccl_frame;
    const uint32_t n_all = *slot->h_n_holes, n_listed = min(n_all, test_limit(CUDA_LISTED_HOLES)), n_more = n_all - n_listed;
    const uint32_t n = min(frame->table.n_kept, context->capacity);
    uint32_t n_rows = 0;

    if (n_more) {
        cudaStream_t const stream = cuda_context(context)->download;
        CCL_CUDA_TRY(cudaMemcpyAsync(slot->more_holes, slot->frame.counts.holes.sums + n_listed, n_more * sizeof(CudaHole),
                                     cudaMemcpyDeviceToHost, stream));
        CCL_CUDA_TRY(cudaStreamSynchronize(stream));
    }
    for (uint32_t k = 0; k < n; k++)
        frame->holes[k] = CclHoleCounts{ frame->records[k].moments.area, 0, 0 };
    count_holes(frame->holes, slot->h_holes, n_listed);
    count_holes(frame->holes, slot->more_holes, n_more);
    for (uint32_t k = 0; k < n; k++) {
        frame->holes[k].first = n_rows; /* counted up below, then down again */
        n_rows += frame->holes[k].n_holes;
    }
    write_rows(frame, slot->h_holes, n_listed);
    write_rows(frame, slot->more_holes, n_more);
    for (uint32_t k = 0; k < n; k++)
        frame->holes[k].first -= frame->holes[k].n_holes;
    frame->table.n_hole_rows = n_rows;
    return CCL_OK;
}
