/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * BUF for volumes: Block-based Union Find.
 * Allegretti, Bolelli, Grana, "Optimized Block-Based Algorithms to Label Connected Components on GPUs", IEEE TPDS
 * 31(2), 2020, doi 10.1109/TPDS.2019.2934683, sections 5.1 and 5.3.
 *
 * Union-find with 2x2x2 blocks as nodes. A block reads its own voxels first, then only voxels of the 13 neighbours before it
 * that could touch one. Parents are in the label image, at each block's first voxel. A byte per block keeps which voxels are
 * foreground, so that the last kernel does not read the stack again.
 *
 *   init       each block is a root
 *   merge      each block unites with the neighbours before it that it touches, and notes its voxels
 *   compress   each block points at its root
 *   propagate  voxels take their block's label
 *
 * Differences from the paper: the bytes have an array of their own instead of unused voxels of the label image, so that odd
 * sizes need no special case. A thread block has 32x4 blocks of one layer, so that a warp reads one row.
 */
#include "cuda/volume.cuh"

__global__ static void init(const __grid_constant__ CudaVars vars, Space space)
{
    Cube cube;
    if (!cube_of_thread(space, &cube))
        return;
    const uint32_t node = cube_node(space, cube);
    vars.labels[node] = node;
}

__global__ static void merge(const __grid_constant__ CudaVars vars, Space space, uint8_t *bytes)
{
    Cube cube;
    if (!cube_of_thread(space, &cube))
        return;
    const uint32_t voxels = cube_voxels(vars, space, cube), node = cube_node(space, cube);
    bytes[cube_index(space, cube)] = (uint8_t)voxels;
    if (!voxels)
        return;
    uint32_t touched = cube_touched<CUBE_ITSELF>(cube_window<CUBE_BEFORE>(vars, space, cube, voxels));
    for (; touched; touched &= touched - 1)
        unite(vars.labels, node, cube_neighbour(space, node, __ffs(touched) - 1));
}

__global__ static void compress_cubes(const __grid_constant__ CudaVars vars, Space space)
{
    Cube cube;
    if (cube_of_thread(space, &cube))
        compress(vars.labels, cube_node(space, cube));
}

/* By now a block's slot has its root, and only its own thread reads it. So labels may overwrite the slots. */
__global__ static void propagate(const __grid_constant__ CudaVars vars, Space space, const uint8_t *bytes)
{
    Cube cube;
    if (!cube_of_thread(space, &cube))
        return;
    store_cube(vars, space, cube, bytes[cube_index(space, cube)], 1 + vars.labels[cube_node(space, cube)]);
}

static CclStatus label(CclContext *context, CclFrame *ccl_frame)
{
    CudaFrame *const frame = cuda_frame(ccl_frame);
    const Space space = space_of(frame->shape);
    const dim3 grid = cube_grid(space), threads = cube_threads();
    uint8_t *const bytes = (uint8_t *)frame->workspace;

    CCL_CUDA_LAUNCH(frame, "init", init, grid, threads, 0, frame->vars, space);
    CCL_CUDA_LAUNCH(frame, "merge", merge, grid, threads, 0, frame->vars, space, bytes);
    CCL_CUDA_LAUNCH(frame, "compress", compress_cubes, grid, threads, 0, frame->vars, space);
    CCL_CUDA_LAUNCH(frame, "propagate", propagate, grid, threads, 0, frame->vars, space, bytes);
    return CCL_OK;
}

const CclAlgorithm ccl_cuda_buf_3d = {
    .info = { .name = "buf-3d", .title = "Block-based Union Find of volumes",
              .paper = "Allegretti, Bolelli & Grana, TPDS 2020", .backend = CCL_BACKEND_CUDA,
              .connectivity = CCL_CONNECT_8, .volume = true },
    .unit = "2x2x2 block",
    .workspace_size = max_cubes,
    .label = label,
};
