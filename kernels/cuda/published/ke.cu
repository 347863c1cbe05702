/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * KE: Komura Equivalence.
 * Komura, "GPU-based cluster-labeling algorithm without the use of conventional iteration: Application to the
 * Swendsen-Wang multi-cluster spin flip algorithm", Computer Physics Communications 194, 2015; 8-connected as in
 * Allegretti, Bolelli, Cancilla, Grana, "Optimizing GPU-Based Connected Components Labeling Algorithms", IPAS 2018.
 *
 * A pixel begins as a child of one foreground neighbour that comes before it, set with a plain store, instead of as a set of
 * its own. These trees are flattened. Only the remaining pairs are united with atomic hooks. Then every pixel looks up its
 * root.
 *
 *   init       pixels -> parent: the neighbour above, above left, above right or to the left, or the pixel itself
 *   compress   each pixel points at its root
 *   reduce     pixels are united with the neighbours to the left and above right
 *   propagate  each pixel finds its root and takes its label
 *
 * Differences from the papers: parents have an array of their own instead of the label image, and `init` marks background
 * there. The public 4-connected code needs a label image that is zero before.
 */
#include "cuda/propagate.cuh"
#include "cuda/threads.cuh"
#include "cuda/union_find.cuh"

template <bool EIGHT>
__global__ static void init(const __grid_constant__ CudaVars vars, uint32_t width, uint32_t height, uint32_t *parents)
{
    const uint32_t x = blockIdx.x * BLOCK_THREADS_X + threadIdx.x, y = blockIdx.y * BLOCK_THREADS_Y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const uint32_t index = y * width + x;
    uint32_t parent = index;
    if (!pixel_at(vars, x, y, width))
        parent = NO_PARENT;
    else if (y && pixel_at(vars, x, y - 1, width))
        parent = index - width;
    else if (EIGHT && y && x && pixel_at(vars, x - 1, y - 1, width))
        parent = index - width - 1;
    else if (EIGHT && y && pixel_at(vars, x + 1, y - 1, width))
        parent = index - width + 1;
    else if (x && pixel_at(vars, x - 1, y, width))
        parent = index - 1;
    parents[index] = parent;
}

__global__ static void compress_pixels(uint32_t n_pixels, uint32_t *parents)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n_pixels && parents[i] != NO_PARENT)
        compress(parents, i);
}

/* The pixels above and above left are already united with this one, or another pixel unites them. */
template <bool EIGHT> __global__ static void reduce(uint32_t width, uint32_t height, uint32_t *parents)
{
    const uint32_t x = blockIdx.x * BLOCK_THREADS_X + threadIdx.x, y = blockIdx.y * BLOCK_THREADS_Y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const uint32_t index = y * width + x;
    if (parents[index] == NO_PARENT)
        return;
    if (x && parents[index - 1] != NO_PARENT)
        unite(parents, index, index - 1);
    if (EIGHT && y && x + 1 < width && parents[index - width + 1] != NO_PARENT)
        unite(parents, index, index - width + 1);
}

template <bool EIGHT> static CclStatus label(CudaFrame *frame, uint32_t *parents)
{
    const uint32_t width = frame->shape.width, height = frame->shape.height, threads = 256;
    const dim3 block(BLOCK_THREADS_X, BLOCK_THREADS_Y);
    const dim3 grid(blocks_for(width, BLOCK_THREADS_X), blocks_for(height, BLOCK_THREADS_Y));

    CCL_CUDA_LAUNCH(frame, "init", init<EIGHT>, grid, block, 0, frame->vars, width, height, parents);
    CCL_CUDA_LAUNCH(frame, "compress", compress_pixels, blocks_for(width * height, threads), threads, 0,
                    width * height, parents);
    CCL_CUDA_LAUNCH(frame, "reduce", reduce<EIGHT>, grid, block, 0, width, height, parents);
    return propagate_from_parents(frame, parents);
}

const CclAlgorithm ccl_cuda_ke = {
    .info = { .name = "ke", .title = "Komura Equivalence", .paper = "Komura, CPC 2015; Allegretti et al., IPAS 2018",
              .backend = CCL_BACKEND_CUDA, .connectivity = CCL_CONNECT_4 | CCL_CONNECT_8 },
    .unit = "pixel",
    .bytes_per_pixel = 4,
    .first_pixel_roots = true,
    .workspace_size = parents_size,
    .label = label_with_parents<label<false>, label<true>>,
};
