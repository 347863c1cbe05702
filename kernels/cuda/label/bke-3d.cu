/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * BKE for volumes: Block-based Komura Equivalence.
 * Allegretti, Bolelli, Grana, "Optimized Block-Based Algorithms to Label Connected Components on GPUs", IEEE TPDS
 * 31(2), 2020, doi 10.1109/TPDS.2019.2934683, sections 5.2 and 5.3.
 *
 * Komura's equivalence, with 2x2x2 blocks as nodes. The parent of a block is the first of the 13 neighbours before it that it
 * touches, set with a plain store. When the chains are compressed, the block unites with the other neighbours. A word per block
 * keeps what later kernels need: 8 bits for the voxels, 13 for the neighbours to unite with.
 *
 *   init       voxels -> each block's parent and word
 *   compress   each block points at its root
 *   merge      blocks that touch more than their parent unite with the others
 *   compress   each block points at its root
 *   propagate  voxels take their block's label
 *
 * Differences from the paper: the words have an array of their own instead of three bytes in unused voxels of the label image,
 * so that odd sizes need no special case. A thread block has 32x4 blocks of one layer.
 */
#include "cuda/volume.cuh"

__global__ static void init(const __grid_constant__ CudaVars vars, Space space, uint32_t *words)
{
    Cube cube;
    if (!cube_of_thread(space, &cube))
        return;
    const uint32_t voxels = cube_voxels(vars, space, cube), node = cube_node(space, cube);
    const uint32_t touched =
        voxels ? cube_touched<CUBE_ITSELF>(cube_window<CUBE_BEFORE>(vars, space, cube, voxels)) : 0;
    vars.labels[node] = touched ? cube_neighbour(space, node, __ffs(touched) - 1) : node;
    words[cube_index(space, cube)] = voxels | (touched & (touched - 1)) << 8;
}

__global__ static void compress_cubes(const __grid_constant__ CudaVars vars, Space space)
{
    Cube cube;
    if (cube_of_thread(space, &cube))
        compress(vars.labels, cube_node(space, cube));
}

__global__ static void merge(const __grid_constant__ CudaVars vars, Space space, const uint32_t *words)
{
    Cube cube;
    if (!cube_of_thread(space, &cube))
        return;
    uint32_t *const labels = vars.labels;
    const uint32_t node = cube_node(space, cube);
    for (uint32_t others = words[cube_index(space, cube)] >> 8; others; others &= others - 1)
        unite(labels, node, cube_neighbour(space, node, __ffs(others) - 1));
}

/* By now a block's slot has its root, and only its own thread reads it. So labels may overwrite the slots. */
__global__ static void propagate(const __grid_constant__ CudaVars vars, Space space, const uint32_t *words)
{
    Cube cube;
    if (!cube_of_thread(space, &cube))
        return;
    store_cube(vars, space, cube, words[cube_index(space, cube)], 1 + vars.labels[cube_node(space, cube)]);
}

static size_t workspace_size(const CclContext *context)
{
    return max_cubes(context) * sizeof(uint32_t);
}

static CclStatus label(CclContext *context, CclFrame *ccl_frame)
{
    CudaFrame *const frame = cuda_frame(ccl_frame);
    const Space space = space_of(frame->shape);
    const dim3 grid = cube_grid(space), threads = cube_threads();
    uint32_t *const words = (uint32_t *)frame->workspace;

    CCL_CUDA_LAUNCH(frame, "init", init, grid, threads, 0, frame->vars, space, words);
    CCL_CUDA_LAUNCH(frame, "compress", compress_cubes, grid, threads, 0, frame->vars, space);
    CCL_CUDA_LAUNCH(frame, "merge", merge, grid, threads, 0, frame->vars, space, words);
    CCL_CUDA_LAUNCH(frame, "compress", compress_cubes, grid, threads, 0, frame->vars, space);
    CCL_CUDA_LAUNCH(frame, "propagate", propagate, grid, threads, 0, frame->vars, space, words);
    return CCL_OK;
}

const CclAlgorithm ccl_cuda_bke_3d = {
    .info = { .name = "bke-3d", .title = "Block-based Komura Equivalence of volumes",
              .paper = "Allegretti, Bolelli & Grana, TPDS 2020", .backend = CCL_BACKEND_CUDA,
              .connectivity = CCL_CONNECT_8, .volume = true },
    .unit = "2x2x2 block",
    .workspace_size = workspace_size,
    .label = label,
};
