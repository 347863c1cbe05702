/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Lists of the spans of each row, for accl.cu and flsl.cu. A span is a run of foreground: its first column, and the column past
 * its last. */
#ifndef CCL_CUDA_LABEL_SPANS_CUH
#define CCL_CUDA_LABEL_SPANS_CUH

#include "cuda/propagate.cuh"
#include "cuda/union_find.cuh"

static const unsigned SPAN_ROWS = 4; /* per block of find_spans, a warp each */

/* Spans [starts, ends) of the rows, `per_row` slots for each. */
typedef struct Spans {
    uint16_t *starts, *ends;
    uint32_t *counts; /* per row */
    uint32_t per_row;
} Spans;

static inline uint32_t max_spans(uint32_t width)
{
    return (width + 1) / 2;
}

/* CclAlgorithm.workspace_size: a parent image, then the lists. */
static inline size_t spans_workspace_size(const CclContext *context)
{
    const size_t height = context->config.max_height;
    return parents_size(context) + height * max_spans(context->config.max_width) * 2 * sizeof(uint16_t) +
           height * sizeof(uint32_t);
}

/* The lists in the workspace that begins with `parents`. */
static inline Spans spans_behind(uint32_t *parents, const CudaShape &shape)
{
    uint32_t *const counts = parents + (size_t)shape.width * shape.height;
    uint16_t *const starts = (uint16_t *)(counts + shape.height);
    const uint32_t per_row = max_spans(shape.width);
    return Spans{ starts, starts + (size_t)per_row * shape.height, counts, per_row };
}

/* A warp finds the spans of a row, 32 pixels at a time. The parent of each span's first pixel is the pixel itself. With
 * `each_pixel`, this is also the parent of the span's other pixels, and background gets NO_PARENT. */
template <bool each_pixel>
__global__ __launch_bounds__(32 * SPAN_ROWS) static void find_spans(const __grid_constant__ CudaVars vars,
                                                                    uint32_t width, uint32_t height, Spans spans,
                                                                    uint32_t *parents)
{
    const uint32_t lane = threadIdx.x, y = blockIdx.x * SPAN_ROWS + threadIdx.y, before = (1u << lane) - 1;
    if (y >= height)
        return;
    uint16_t *const row_starts = spans.starts + y * spans.per_row, *const row_ends = spans.ends + y * spans.per_row;
    uint32_t *const row_parents = parents + y * width;
    uint32_t n_starts = 0, n_ends = 0; /* number so far */
    uint32_t open = 0, start = 0;      /* the span that the word before ends with: 1 if there is one, and where it begins */

    bool next = pixel_at(vars, lane, y, width);
    for (uint32_t x0 = 0; x0 < width; x0 += 32) {
        const bool here = next;
        const uint32_t x = x0 + lane, pixels = __ballot_sync(~0u, here);
        next = pixel_at(vars, x + 32, y, width); /* this load overlaps the work on the current word */
        const uint32_t shifted = pixels << 1 | open, starts = pixels & ~shifted, ends = shifted & ~pixels;
        if (starts >> lane & 1)
            row_starts[n_starts + __popc(starts & before)] = x;
        if (ends >> lane & 1)
            row_ends[n_ends + __popc(ends & before)] = x;
        if (each_pixel && x < width) {
            const uint32_t mine = starts & (before << 1 | 1);
            row_parents[x] = here ? y * width + (mine ? x0 + 31 - __clz(mine) : start) : NO_PARENT;
        }
        if (!each_pixel && starts >> lane & 1)
            row_parents[x] = y * width + x;
        n_starts += __popc(starts);
        n_ends += __popc(ends);
        open = pixels >> 31;
        start = starts ? x0 + 31 - __clz(starts) : start;
    }
    if (lane == 0) {
        if (open)
            row_ends[n_ends] = width;
        spans.counts[y] = n_starts;
    }
}

/* Number of the first n values that are at most `limit` or, with `below`, less than `limit`; the values are ascending. */
__device__ static inline uint32_t count_up_to(const uint16_t *values, uint32_t n, uint32_t limit, bool below)
{
    uint32_t first = 0;
    while (n) {
        const uint32_t half = n / 2, value = values[first + half];
        if (value < limit || (value == limit && !below)) {
            first += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return first;
}

#endif
