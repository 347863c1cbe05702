/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * BUF, BUF_IC: Block-based Union Find, without and with inline compression. Allegretti, Bolelli, Grana, "Optimized
 * Block-Based Algorithms to Label Connected Components on GPUs", IEEE TPDS 31(2), 2020, doi 10.1109/TPDS.2019.2934683,
 * section 5.1.
 *
 * Oliveira and Lotufo's union-find, with 2x2 blocks as nodes. A block reads its own pixels first, then only pixels of its
 * neighbours that could touch one. Parents are in the label image, at each block's upper left pixel, so no further memory is
 * needed. With inline compression, a block that climbs to its root stores every ancestor on the path.
 *
 *   init       each block is a root
 *   merge      each block unites with those of P, Q, R and S it touches
 *   compress   each block points at its root
 *   propagate  pixels take their block's label
 *
 * Difference from the paper: masks may have any byte values.
 */
#include "cuda/block.cuh"

__global__ static void merge(const __grid_constant__ CudaVars vars, uint32_t width, uint32_t height)
{
    uint32_t x, y;
    if (!block_of_thread(width, height, &x, &y))
        return;
    const uint32_t pixels = block_pixels(vars, x, y, width, height);
    if (!pixels)
        return;
    const uint32_t window = block_window<TOUCHES_BEFORE>(vars, pixels, x, y, width, height);
    const InPlace parents = in_place(vars);
    const uint32_t node = parents.at(x, y), above = node - 2 * parents.stride;
    if (window & TOUCHES_P)
        unite(parents, node, above - 2);
    if (window & TOUCHES_Q)
        unite(parents, node, above);
    if (window & TOUCHES_R)
        unite(parents, node, above + 2);
    if (window & TOUCHES_S)
        unite(parents, node, node - 2);
}

template <bool inline_paths> static CclStatus label(CclContext *, CclFrame *ccl_frame)
{
    CudaFrame *const frame = cuda_frame(ccl_frame);
    CCL_TRY(blocks_start(frame));
    CCL_CUDA_LAUNCH(frame, "merge", merge, block_grid(frame->shape), block_threads(), 0, frame->vars,
                    frame->shape.width, frame->shape.height);
    CCL_TRY(blocks_compress(frame, inline_paths));
    return blocks_propagate(frame);
}

const CclAlgorithm ccl_cuda_buf = {
    .info = { .name = "buf", .title = "Block-based Union Find", .paper = "Allegretti, Bolelli & Grana, TPDS 2020",
              .backend = CCL_BACKEND_CUDA, .connectivity = CCL_CONNECT_8 },
    .unit = "2x2 block",
    .label = label<false>,
};

const CclAlgorithm ccl_cuda_buf_ic = {
    .info = { .name = "buf-ic", .title = "Block-based Union Find, inline compression",
              .paper = "Allegretti, Bolelli & Grana, TPDS 2020", .backend = CCL_BACKEND_CUDA,
              .connectivity = CCL_CONNECT_8 },
    .unit = "2x2 block",
    .label = label<true>,
};
