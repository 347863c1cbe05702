/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * C_SAUF: CUDA Scan plus Array-based Union-Find. Allegretti, Bolelli, Cancilla, Pollastri, Canalini, Grana, "How does Connected
 * Components Labeling with Decision Trees perform on GPUs?", CAIP 2019, pp. 39-51; the tree is Wu, Otoo and Suzuki's, 2005.
 * Written from Bolelli et al., TPDS 2024, section III-B7.
 *
 * Union-find over pixels. A decision tree selects the neighbours to read, because two neighbours that touch each other need one
 * union only. The pixel above touches the three others, so if it is foreground, no other is read. Otherwise the pixel above
 * right is united, and one of the two pixels to the left.
 *
 *   init       each pixel is a root
 *   merge      each pixel goes through the tree and unites with one neighbour or two
 *   propagate  each pixel finds its root and takes its label
 *
 * Differences from the paper: parents have an array of their own instead of the label image, and compression is part of
 * propagate.
 */
#include "cuda/propagate.cuh"
#include "cuda/threads.cuh"
#include "cuda/union_find.cuh"

__global__ static void merge(const __grid_constant__ CudaVars vars, uint32_t width, uint32_t height, uint32_t *parents)
{
    const uint32_t x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y >= height)
        return;
    if (!pixel_at(vars, x, y, width))
        return;
    const uint32_t here = y * width + x, above = here - width;
    if (y && pixel_at(vars, x, y - 1, width)) {
        unite(parents, here, above);
        return;
    }
    if (y && pixel_at(vars, x + 1, y - 1, width))
        unite(parents, here, above + 1);
    if (x && y && pixel_at(vars, x - 1, y - 1, width))
        unite(parents, here, above - 1);
    else if (x && pixel_at(vars, x - 1, y, width))
        unite(parents, here, here - 1);
}

static CclStatus label(CclContext *context, CclFrame *ccl_frame)
{
    CudaFrame *const frame = cuda_frame(ccl_frame);
    const uint32_t width = frame->shape.width, height = frame->shape.height;
    uint32_t *const parents = (uint32_t *)frame->workspace;
    const dim3 threads(BLOCK_THREADS_X, BLOCK_THREADS_Y);
    const dim3 grid(blocks_for(width, BLOCK_THREADS_X), blocks_for(height, BLOCK_THREADS_Y));

    CCL_TRY(init_parents(frame, parents));
    CCL_CUDA_LAUNCH(frame, "merge", merge, grid, threads, 0, frame->vars, width, height, parents);
    return propagate_each_from_parents(frame, parents);
}

const CclAlgorithm ccl_cuda_c_sauf = {
    .info = { .name = "c-sauf", .title = "Scan plus Array-based Union-Find with a decision tree",
              .paper = "Allegretti, Bolelli, Cancilla, Pollastri, Canalini & Grana, CAIP 2019",
              .backend = CCL_BACKEND_CUDA, .connectivity = CCL_CONNECT_8 },
    .unit = "pixel",
    .bytes_per_pixel = 4,
    .first_pixel_roots = true,
    .workspace_size = parents_size,
    .label = label,
};
