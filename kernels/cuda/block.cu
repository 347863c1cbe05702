/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The steps that block methods with their parents in the label image have in common. */
#include "block.cuh"

__global__ static void start(const __grid_constant__ CudaVars vars, uint32_t width, uint32_t height)
{
    uint32_t x, y;
    if (!block_of_thread(width, height, &x, &y))
        return;
    const InPlace parents = in_place(vars);
    parents[parents.at(x, y)] = parents.at(x, y);
}

/* With inline_paths a block's slot takes every ancestor on the path, else only the root. The papers have both variants. */
template <bool inline_paths>
__global__ static void compress_blocks(const __grid_constant__ CudaVars vars, uint32_t width, uint32_t height)
{
    uint32_t x, y;
    if (!block_of_thread(width, height, &x, &y))
        return;
    const InPlace parents = in_place(vars);
    const uint32_t node = parents.at(x, y);
    if (inline_paths) {
        compress(parents, node);
        return;
    }
    const uint32_t parent = parents[node], root = parent == node ? node : find(parents, parent);
    if (root != parent)
        parents[node] = root; /* race: as in compress() */
}

/* By now a block's slot has its root, and only its own thread reads it. So labels may overwrite the slots. */
__global__ static void propagate(const __grid_constant__ CudaVars vars, uint32_t width, uint32_t height)
{
    uint32_t x, y;
    if (!block_of_thread(width, height, &x, &y))
        return;
    const InPlace parents = in_place(vars);
    const uint32_t label = parents.label_of(parents[parents.at(x, y)], width);
    store_block(vars, block_pixels(vars, x, y, width, height), label, { x, y, width, height });
}

CclStatus blocks_start(CudaFrame *frame)
{
    CCL_CUDA_LAUNCH(frame, "init", start, block_grid(frame->shape), block_threads(), 0, frame->vars, frame->shape.width,
                    frame->shape.height);
    return CCL_OK;
}

CclStatus blocks_compress(CudaFrame *frame, bool inline_paths)
{
    const auto kernel = inline_paths ? compress_blocks<true> : compress_blocks<false>;
    CCL_CUDA_LAUNCH(frame, "compress", kernel, block_grid(frame->shape), block_threads(), 0, frame->vars,
                    frame->shape.width, frame->shape.height);
    return CCL_OK;
}

CclStatus blocks_propagate(CudaFrame *frame)
{
    CCL_CUDA_LAUNCH(frame, "propagate", propagate, block_grid(frame->shape), block_threads(), 0, frame->vars,
                    frame->shape.width, frame->shape.height);
    return CCL_OK;
}
