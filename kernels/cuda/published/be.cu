/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * BE: Block Equivalence. Zavalishin, Safonov, Bekhtin, Kurilin, "Block Equivalence Algorithm for Labeling 2D and 3D Images on
 * GPU", Electronic Imaging 2016(2), pp. 1-7; written from Bolelli et al., TPDS 2024, section III-A9.
 *
 * Label equivalence in the form of Kalentev et al., with one label array, and with 2x2 blocks as nodes. A byte per block keeps
 * which of its eight neighbours it touches; no decision tree is needed. Then the root of each block takes the lowest label next
 * to the block, and every block takes its root's label, until no label changes.
 *
 *   init       pixels -> each block's label and the byte of its neighbours
 *   scan       a block's label, as a node, takes the lowest neighbour's label           } until scan finds
 *   analyze    each block points at its root                                          } nothing to change
 *   propagate  pixels take their block's label
 *
 * Differences from the paper: scan uses atomicMin. The published read-compare-write may lose a smaller label to a larger one,
 * and then needs more iterations. An iteration is two kernels here, so the last analyze has nothing to do. Empty blocks have
 * the label EMPTY instead of 0. For the cost of an iteration see iterate.cuh.
 */
#include "cuda/block.cuh"
#include "cuda/published/iterate.cuh"

static const uint32_t EMPTY = UINT32_MAX; /* instead of a parent: a block without foreground */

/* The neighbours in the order of their bits in Blocks.info. */
__device__ static const uint32_t NEIGHBOUR_TOUCHES[8] = {
    TOUCHES_P, TOUCHES_Q, TOUCHES_R, TOUCHES_S, TOUCHES_RIGHT, TOUCHES_BELOW_LEFT, TOUCHES_BELOW, TOUCHES_BELOW_RIGHT,
};
__device__ static const int32_t NEIGHBOUR_AT[8] = {
    -(2 << 16) - 2, -(2 << 16), -(2 << 16) + 2, -2, 2, (2 << 16) - 2, 2 << 16, (2 << 16) + 2,
};

__global__ static void init(const __grid_constant__ CudaVars vars, uint32_t width, uint32_t height, Blocks blocks)
{
    uint32_t x, y;
    if (!block_of_thread(width, height, &x, &y))
        return;
    const uint32_t pixels = block_pixels(vars, x, y, width, height);
    const uint32_t window = block_window<TOUCHES_ANY>(vars, pixels, x, y, width, height);
    uint32_t neighbours = 0;
#pragma unroll
    for (uint32_t i = 0; i < 8; i++)
        neighbours |= window & NEIGHBOUR_TOUCHES[i] ? 1u << i : 0;
    const uint32_t node = y << 16 | x;
    blocks[node] = pixels ? node : EMPTY;
    blocks.info_of(node) = (uint8_t)neighbours;
}

__global__ static void scan(uint32_t width, uint32_t height, Blocks blocks, uint32_t *changed)
{
    uint32_t x, y;
    if (!block_of_thread(width, height, &x, &y))
        return;
    const uint32_t node = y << 16 | x, neighbours = blocks.info_of(node);
    if (!neighbours)
        return;
    const uint32_t label = blocks[node];
    uint32_t lowest = label;
#pragma unroll
    for (uint32_t i = 0; i < 8; i++)
        if (neighbours >> i & 1)
            lowest = min(lowest, blocks[node + NEIGHBOUR_AT[i]]);
    if (lowest < label) {
        atomicMin(&blocks[label], lowest);
        *changed = 1; /* race: all threads store the same value */
    }
}

__global__ static void analyze(uint32_t width, uint32_t height, Blocks blocks)
{
    uint32_t x, y;
    if (!block_of_thread(width, height, &x, &y))
        return;
    const uint32_t node = y << 16 | x;
    if (blocks[node] != EMPTY)
        compress(blocks, node);
}

__global__ static void propagate(const __grid_constant__ CudaVars vars, uint32_t width, uint32_t height, Blocks blocks)
{
    uint32_t x, y;
    if (!block_of_thread(width, height, &x, &y))
        return;
    const uint32_t root = blocks[y << 16 | x];
    store_block(vars, block_pixels(vars, x, y, width, height), label_of_node(root, width), { x, y, width, height });
}

static size_t workspace_size(const CclContext *context)
{
    return blocks_size(context->config.max_width, context->config.max_height);
}

static CclStatus label(CclContext *context, CclFrame *ccl_frame)
{
    CudaFrame *const frame = cuda_frame(ccl_frame);
    const uint32_t width = frame->shape.width, height = frame->shape.height;
    const Blocks blocks = blocks_at(frame->workspace, width, height);
    const dim3 grid = block_grid(frame->shape), threads = block_threads();
    /* Each iteration except the last hooks at least one root. */
    const uint64_t max_iterations = (uint64_t)((width + 1) / 2) * ((height + 1) / 2) + 1;

    CCL_CUDA_LAUNCH(frame, "init", init, grid, threads, 0, frame->vars, width, height, blocks);
    CCL_TRY(iterate(frame, max_iterations, [&](uint32_t *changed) -> CclStatus {
        CCL_CUDA_LAUNCH(frame, "scan", scan, grid, threads, 0, width, height, blocks, changed);
        CCL_CUDA_LAUNCH(frame, "analyze", analyze, grid, threads, 0, width, height, blocks);
        return CCL_OK;
    }));
    CCL_CUDA_LAUNCH(frame, "propagate", propagate, grid, threads, 0, frame->vars, width, height, blocks);
    return CCL_OK;
}

const CclAlgorithm ccl_cuda_be = {
    .info = { .name = "be", .title = "Block Equivalence",
              .paper = "Zavalishin, Safonov, Bekhtin & Kurilin, Electronic Imaging 2016", .backend = CCL_BACKEND_CUDA,
              .connectivity = CCL_CONNECT_8 },
    .unit = "2x2 block",
    .bytes_per_pixel = 1.25,
    .iterative = true,
    .workspace_size = workspace_size,
    .label = label,
};
