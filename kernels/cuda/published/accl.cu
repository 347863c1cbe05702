/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * ACCL: Accelerated Connected Component Labeling. Nina Paravecino, Kaeli, "Accelerated Connected Component Labeling Using CUDA
 * Framework", ICCVG 2014. Written from the descriptions in Bolelli et al., IEEE TPDS 2024, section III-B4, and Chen et al.,
 * IEEE Access 2018, section II-C.
 *
 * Rows are turned into lists of spans, runs of foreground with their first and last column, each with a label of its
 * own. Spans of neighbouring rows that touch are merged. Pixels take the label of their span.
 *
 *   spans      pixels -> list of spans of each row; each pixel points at its span's first
 *   merge      spans that touch one of the row above are united
 *   propagate  each pixel finds its root and takes its label
 *
 * Differences from the paper:
 * - No dynamic parallelism. The paper merges one pair after the other, and each merge launches a kernel that renames one label
 *   everywhere. Here all pairs are united at once.
 * - A warp finds the spans of a row, 32 pixels at a time, instead of one thread.
 * - For each span of either row, bisection finds the span of the other row that contains its start. So every pair is found
 *   once, and no thread has a long span with many short ones alone.
 */
#include "spans.cuh"

static const unsigned THREADS = 256; /* spans per block of merge_spans */

/* A thread for the i-th span of a row and of the row above. */
template <bool EIGHT> __global__ static void merge_spans(uint32_t width, Spans spans, uint32_t *parents)
{
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x, y = blockIdx.y + 1;
    const uint32_t n_lower = spans.counts[y], n_upper = spans.counts[y - 1];
    const uint32_t lower_row = y * width, upper_row = lower_row - width;
    const uint32_t lower = y * spans.per_row, upper = lower - spans.per_row;
    const uint16_t *const lower_starts = spans.starts + lower, *const lower_ends = spans.ends + lower;
    const uint16_t *const upper_starts = spans.starts + upper, *const upper_ends = spans.ends + upper;

    if (i < n_lower) { /* whether its start, or 8-connected the pixel before it, is below a span */
        const uint32_t start = lower_starts[i], n = count_up_to(upper_starts, n_upper, start, false);
        if (n && upper_ends[n - 1] + EIGHT > start)
            unite(parents, lower_row + start, upper_row + upper_starts[n - 1]);
    }
    if (i < n_upper) { /* the other way round; equal starts are found above */
        const uint32_t start = upper_starts[i], n = count_up_to(lower_starts, n_lower, start, true);
        if (n && lower_ends[n - 1] + EIGHT > start)
            unite(parents, upper_row + start, lower_row + lower_starts[n - 1]);
    }
}

static CclStatus label(CclContext *context, CclFrame *ccl_frame)
{
    CudaFrame *const frame = cuda_frame(ccl_frame);
    const uint32_t width = frame->shape.width, height = frame->shape.height;
    uint32_t *const parents = (uint32_t *)frame->workspace;
    const Spans spans = spans_behind(parents, frame->shape);
    const dim3 grid(blocks_for(spans.per_row, THREADS), height - 1);

    CCL_CUDA_LAUNCH(frame, "spans", find_spans<true>, blocks_for(height, SPAN_ROWS), dim3(32, SPAN_ROWS), 0,
                    frame->vars, width, height, spans, parents);
    if (height > 1 && context->config.connectivity == CCL_CONNECT_8)
        CCL_CUDA_LAUNCH(frame, "merge", merge_spans<true>, grid, THREADS, 0, width, spans, parents);
    else if (height > 1)
        CCL_CUDA_LAUNCH(frame, "merge", merge_spans<false>, grid, THREADS, 0, width, spans, parents);
    return propagate_from_parents(frame, parents);
}

const CclAlgorithm ccl_cuda_accl = {
    .info = { .name = "accl", .title = "Accelerated Connected Component Labeling",
              .paper = "Paravecino & Kaeli, ICCVG 2014", .backend = CCL_BACKEND_CUDA,
              .connectivity = CCL_CONNECT_4 | CCL_CONNECT_8 },
    .unit = "run",
    .bytes_per_pixel = 6,
    .first_pixel_roots = true,
    .workspace_size = spans_workspace_size,
    .label = label,
};
