/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * BKE, BKE_IC: Block-based Komura Equivalence as published, without and with inline compression, for comparison. `bke` (bke.cu)
 * is a faster version. Allegretti, Bolelli, Grana, "Optimized Block-Based Algorithms to Label Connected Components on GPUs",
 * IEEE TPDS 31(2), 2020, doi 10.1109/TPDS.2019.2934683, section 5.2.
 *
 * Komura's equivalence, with 2x2 blocks as nodes. The parent of a block is the first of P, Q, R and S that it touches. When the
 * chains are compressed, the block unites with the others. A byte per block keeps what later kernels need of its pixels, so the
 * mask is read once. Parents and bytes are in pixels of the label image that propagate overwrites, so no further memory is
 * needed.
 *
 *   init       pixels -> each block's parent and byte
 *   compress   each block points at its root
 *   merge      blocks that touch more than their parent unite with the others
 *   compress   each block points at its root
 *   propagate  pixels take their block's label
 *
 * Differences from the paper: masks may have any byte values. In an image with odd width and height, the byte of the last block
 * has memory of its own. The paper has it in a pixel of block P, whose thread may overwrite it before it is read.
 */
#include "cuda/block.cuh"

/* Bits of a block's byte besides the pixels: neighbours to unite with. */
enum {
    INFO_Q = 32,
    INFO_R = 64,
    INFO_S = 128,
};

/* The byte of the block at (x, y): in a pixel of the block other than its upper left, or `corner`. */
__device__ static uint32_t &info_of(const InPlace &image, uint32_t *corner, uint32_t x, uint32_t y, uint32_t width,
                                    uint32_t height)
{
    if (x + 1 < width)
        return image[image.at(x + 1, y)];
    return y + 1 < height ? image[image.at(x, y + 1)] : *corner;
}

__global__ static void init(const __grid_constant__ CudaVars vars, uint32_t width, uint32_t height, uint32_t *corner)
{
    uint32_t x, y;
    if (!block_of_thread(width, height, &x, &y))
        return;
    const uint32_t pixels = block_pixels(vars, x, y, width, height);
    const uint32_t window = block_window<TOUCHES_BEFORE>(vars, pixels, x, y, width, height);
    const bool p = window & TOUCHES_P, q = window & TOUCHES_Q, r = window & TOUCHES_R, s = window & TOUCHES_S;

    const InPlace image = in_place(vars);
    const uint32_t node = image.at(x, y), above = node - 2 * image.stride;
    const uint32_t parent = p ? above - 2 : q ? above : r ? above + 2 : s ? node - 2 : node;
    const uint32_t info =
        pixels | (q && p ? INFO_Q : 0) | (r && (p || q) ? INFO_R : 0) | (s && (p || q || r) ? INFO_S : 0);
    if (is_label_pair(vars, x, width)) {
        *(uint2 *)&image[node] = make_uint2(parent, info);
        return;
    }
    image[node] = parent;
    info_of(image, corner, x, y, width, height) = info;
}

__global__ static void merge(const __grid_constant__ CudaVars vars, uint32_t width, uint32_t height, uint32_t *corner)
{
    uint32_t x, y;
    if (!block_of_thread(width, height, &x, &y))
        return;
    const InPlace image = in_place(vars);
    const uint32_t info = info_of(image, corner, x, y, width, height);
    const uint32_t node = image.at(x, y), above = node - 2 * image.stride;
    if (info & INFO_Q)
        unite(image, node, above);
    if (info & INFO_R)
        unite(image, node, above + 2);
    if (info & INFO_S)
        unite(image, node, node - 2);
}

__global__ static void propagate(const __grid_constant__ CudaVars vars, uint32_t width, uint32_t height, uint32_t *corner)
{
    uint32_t x, y;
    if (!block_of_thread(width, height, &x, &y))
        return;
    const InPlace image = in_place(vars);
    const uint32_t node = image.at(x, y);
    const uint2 both = is_label_pair(vars, x, width)
                           ? *(const uint2 *)&image[node]
                           : make_uint2(image[node], info_of(image, corner, x, y, width, height));
    store_block(vars, both.y, image.label_of(both.x, width), { x, y, width, height });
}

static size_t workspace_size(const CclContext *)
{
    return sizeof(uint32_t); /* the corner's byte */
}

template <bool inline_paths> static CclStatus label(CclContext *context, CclFrame *ccl_frame)
{
    CudaFrame *const frame = cuda_frame(ccl_frame);
    const uint32_t width = frame->shape.width, height = frame->shape.height;
    uint32_t *const corner = (uint32_t *)frame->workspace;
    const dim3 grid = block_grid(frame->shape), threads = block_threads();

    CCL_CUDA_LAUNCH(frame, "init", init, grid, threads, 0, frame->vars, width, height, corner);
    CCL_TRY(blocks_compress(frame, inline_paths));
    CCL_CUDA_LAUNCH(frame, "merge", merge, grid, threads, 0, frame->vars, width, height, corner);
    CCL_TRY(blocks_compress(frame, inline_paths));
    CCL_CUDA_LAUNCH(frame, "propagate", propagate, grid, threads, 0, frame->vars, width, height, corner);
    return CCL_OK;
}

const CclAlgorithm ccl_cuda_bke_published = {
    .info = { .name = "bke-published", .title = "Block-based Komura Equivalence as published",
              .paper = "Allegretti, Bolelli & Grana, TPDS 2020", .backend = CCL_BACKEND_CUDA,
              .connectivity = CCL_CONNECT_8 },
    .unit = "2x2 block",
    .workspace_size = workspace_size,
    .label = label<false>,
};

const CclAlgorithm ccl_cuda_bke_ic = {
    .info = { .name = "bke-ic", .title = "Block-based Komura Equivalence as published, inline compression",
              .paper = "Allegretti, Bolelli & Grana, TPDS 2020", .backend = CCL_BACKEND_CUDA,
              .connectivity = CCL_CONNECT_8 },
    .unit = "2x2 block",
    .workspace_size = workspace_size,
    .label = label<true>,
};
