/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * LBUF: Line-Based Union-Find. Yonehara, Aizawa, "A Line-Based Connected Component Labeling Algorithm Using GPUs", CANDAR 2015.
 * Written from Bolelli et al., IEEE TPDS 2024, section III-B2, and Chen et al., IEEE Access 2018, section II-C.
 *
 * Like UF, but the tiles are lines. In a line, a pixel has one earlier neighbour, so it is linked to that, and no union is
 * needed. Links are flattened at once. Then every pixel is united with the pixels above, and looks up its root.
 *
 *   lines      pixels -> first pixel of their run, within a line
 *   merge      pixels are united with their neighbours in the row above
 *   propagate  each pixel finds its root and takes its label
 *
 * Differences from the paper: a line is 256 pixels of a row, so that rows may have any length. `merge` unites runs that are
 * cut. Links in a line are not followed one after the other: warps vote on their pixels, and the bits show where a run begins.
 * In the public code (YACCLAB) a pixel copies the label to its left while another thread writes it, and shortens its path while
 * others follow it.
 */
#include "cuda/propagate.cuh"
#include "cuda/threads.cuh"
#include "cuda/union_find.cuh"

static const unsigned LINE = 256;

__global__ __launch_bounds__(LINE) static void label_lines(const __grid_constant__ CudaVars vars, uint32_t width,
                                                           uint32_t *parents)
{
    __shared__ uint32_t words[LINE / 32]; /* of each warp's pixels */
    const uint32_t place = threadIdx.x, x0 = blockIdx.x * LINE, x = x0 + place, y = blockIdx.y;
    const bool here = pixel_at(vars, x, y, width);
    const uint32_t word = __ballot_sync(~0u, here);
    if (place % 32 == 0)
        words[place / 32] = word;
    __syncthreads();
    if (x >= width)
        return;
    uint32_t start = place - __clz(~(word << (31 - place % 32))) + 1; /* of the run, in this word; */
    while (start % 32 == 0 && start && words[start / 32 - 1] >> 31)   /* and in those before */
        start -= __clz(~words[start / 32 - 1]);
    parents[y * width + x] = here ? y * width + x0 + start : NO_PARENT;
}

template <bool EIGHT> __global__ static void merge(uint32_t width, uint32_t height, uint32_t *parents)
{
    const uint32_t x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const uint32_t index = y * width + x;
    if (parents[index] == NO_PARENT)
        return;
    const auto foreground = [&](bool exists, uint32_t at) { return exists && parents[at] != NO_PARENT; };
    const bool west = foreground(x, index - 1);
    if (west && x % LINE == 0)
        unite(parents, index, index - 1);
    if (!y)
        return;
    const uint32_t above = index - width;
    if (parents[above] != NO_PARENT) {
        unite(parents, index, above);
    } else if (EIGHT) { /* across a corner, where no pixel of either row is between */
        if (!west && foreground(x, above - 1))
            unite(parents, index, above - 1);
        if (!foreground(x + 1 < width, index + 1) && foreground(x + 1 < width, above + 1))
            unite(parents, index, above + 1);
    }
}

template <bool EIGHT> static CclStatus label(CudaFrame *frame, uint32_t *parents)
{
    const uint32_t width = frame->shape.width, height = frame->shape.height;
    const dim3 block(BLOCK_THREADS_X, BLOCK_THREADS_Y);
    const dim3 grid(blocks_for(width, BLOCK_THREADS_X), blocks_for(height, BLOCK_THREADS_Y));

    CCL_CUDA_LAUNCH(frame, "lines", label_lines, dim3(blocks_for(width, LINE), height), LINE, 0, frame->vars, width,
                    parents);
    CCL_CUDA_LAUNCH(frame, "merge", merge<EIGHT>, grid, block, 0, width, height, parents);
    return propagate_rows_from_parents(frame, parents);
}

const CclAlgorithm ccl_cuda_lbuf = {
    .info = { .name = "lbuf", .title = "Line-Based Union-Find", .paper = "Yonehara & Aizawa, CANDAR 2015",
              .backend = CCL_BACKEND_CUDA, .connectivity = CCL_CONNECT_4 | CCL_CONNECT_8 },
    .unit = "line",
    .bytes_per_pixel = 4,
    .first_pixel_roots = true,
    .workspace_size = parents_size,
    .label = label_with_parents<label<false>, label<true>>,
};
