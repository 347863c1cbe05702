/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * BE for volumes: Block Equivalence. Zavalishin, Safonov, Bekhtin, Kurilin, "Block Equivalence Algorithm for Labeling 2D and 3D
 * Images on GPU", Electronic Imaging 2016(2), pp. 1-7; written from Bolelli et al., TPDS 2024, section III-A9.
 *
 * Label equivalence, with 2x2x2 blocks as nodes. A word per block keeps which of its 26 neighbours it touches. Then the root of
 * each block takes the lowest label next to the block, and every block takes its root's label, until no label changes.
 *
 *   init       voxels -> each block's label and the word of its neighbours
 *   scan       a block's label, as a node, takes the lowest neighbour's label           } until scan finds
 *   analyze    each block points at its root                                          } nothing to change
 *   propagate  voxels take their block's label
 *
 * Differences from the paper: labels of blocks are in the label image, at each block's first voxel. scan uses atomicMin: the
 * published read-compare-write may lose a smaller label to a larger one, and then needs more iterations. An iteration is two
 * kernels here, so the last analyze has nothing to do. For the cost of an iteration see iterate.cuh.
 */
#include "cuda/published/iterate.cuh"
#include "cuda/volume.cuh"

/* Blocks without foreground are roots that touch nothing. */
__global__ static void init(const __grid_constant__ CudaVars vars, Space space, uint32_t *words)
{
    Cube cube;
    if (!cube_of_thread(space, &cube))
        return;
    const uint32_t voxels = cube_voxels(vars, space, cube), node = cube_node(space, cube);
    vars.labels[node] = node;
    words[cube_index(space, cube)] =
        voxels ? cube_touched<CUBE_NEIGHBOURS>(cube_window<CUBE_AROUND>(vars, space, cube, voxels)) : 0;
}

__global__ static void scan(const __grid_constant__ CudaVars vars, Space space, const uint32_t *words,
                            uint32_t *changed)
{
    Cube cube;
    if (!cube_of_thread(space, &cube))
        return;
    uint32_t *const labels = vars.labels;
    const uint32_t node = cube_node(space, cube), label = labels[node];
    uint32_t lowest = label;
    for (uint32_t touched = words[cube_index(space, cube)]; touched; touched &= touched - 1)
        lowest = min(lowest, labels[cube_neighbour(space, node, __ffs(touched) - 1)]);
    if (lowest < label) {
        atomicMin(&labels[label], lowest);
        *changed = 1; /* race: all threads store the same value */
    }
}

__global__ static void analyze(const __grid_constant__ CudaVars vars, Space space)
{
    Cube cube;
    if (cube_of_thread(space, &cube))
        compress(vars.labels, cube_node(space, cube));
}

/* By now a block's slot has its root, and only its own thread reads it. So labels may overwrite the slots. */
__global__ static void propagate(const __grid_constant__ CudaVars vars, Space space)
{
    Cube cube;
    if (!cube_of_thread(space, &cube))
        return;
    store_cube(vars, space, cube, cube_voxels(vars, space, cube), 1 + vars.labels[cube_node(space, cube)]);
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
    /* Each iteration except the last hooks at least one root. */
    const uint64_t max_iterations = max_cubes(context) + 1;

    CCL_CUDA_LAUNCH(frame, "init", init, grid, threads, 0, frame->vars, space, words);
    CCL_TRY(iterate(frame, max_iterations, [&](uint32_t *changed) -> CclStatus {
        CCL_CUDA_LAUNCH(frame, "scan", scan, grid, threads, 0, frame->vars, space, words, changed);
        CCL_CUDA_LAUNCH(frame, "analyze", analyze, grid, threads, 0, frame->vars, space);
        return CCL_OK;
    }));
    CCL_CUDA_LAUNCH(frame, "propagate", propagate, grid, threads, 0, frame->vars, space);
    return CCL_OK;
}

const CclAlgorithm ccl_cuda_be_3d = {
    .info = { .name = "be-3d", .title = "Block Equivalence of volumes",
              .paper = "Zavalishin, Safonov, Bekhtin & Kurilin, Electronic Imaging 2016", .backend = CCL_BACKEND_CUDA,
              .connectivity = CCL_CONNECT_8, .volume = true },
    .unit = "2x2x2 block",
    .iterative = true,
    .workspace_size = workspace_size,
    .label = label,
};
