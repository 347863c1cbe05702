/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * OLE: Optimized Label Equivalence.
 * Kalentev, Rai, Kemnitz, Schneider, "Connected component labeling on a 2D grid using CUDA", Journal of Parallel and
 * Distributed Computing 71(4), 2011, doi 10.1016/j.jpdc.2010.10.012.
 *
 * Label Equivalence (le.cu) with labels and equivalences in one image. A pixel's label is its parent, and the label's own pixel
 * has the equivalent label. So no labelling kernel is needed. Entries are made with plain stores: if two threads store an entry
 * for the same label, one is lost, and found again in the next iteration.
 *
 *   init       each pixel's parent is the first foreground pixel around it
 *   analysis   each pixel points at its root                                     } repeated until scan finds no pair of
 *   scan       roots get the lowest parent found around one of their pixels      } neighbours with different roots
 *   propagate  roots become labels
 *
 * The first scan is part of init, as in le.cu. Parents have an image of their own, because labels may have any stride and
 * parents are looked up by index. The number of iterations may differ from run to run, because different stores are lost.
 */
#include "cuda/published/iterate.cuh"
#include "cuda/propagate.cuh"
#include "cuda/union_find.cuh"
#include "pixels.cuh"

template <bool eight>
__global__ static void init(const __grid_constant__ CudaVars vars, uint32_t width, uint32_t height, uint32_t *parents)
{
    const uint32_t x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const bool foreground = is_foreground(vars.mask[y * vars.mask_stride + x], vars);
    parents[y * width + x] = foreground ? first_neighbour<eight>(vars, x, y, width) : NO_PARENT;
}

__global__ static void analysis(uint32_t n_pixels, uint32_t *parents)
{
    const uint32_t index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < n_pixels && parents[index] != NO_PARENT)
        compress(parents, index);
}

/* Whichever store is lost, a parent is always lower than its child, so these stores cannot form a cycle. One of several stores
 * to the same root stays, so each iteration leaves fewer roots. */
template <bool eight>
__global__ static void scan(uint32_t width, uint32_t height, uint32_t *parents, uint32_t *changed)
{
    const uint32_t x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const uint32_t *const parent = parents + y * width + x;
    const uint32_t root = *parent;
    if (root == NO_PARENT)
        return;
    const uint32_t lowest = lowest_around<eight, NO_PARENT>(parent, width, { x, y, width, height }, root);
    if (lowest < root) {
        if (lowest < parents[root])
            parents[root] = lowest; /* race: a lost store is found again */
        note_change(changed);
    }
}

template <bool eight> static CclStatus label_all(CudaFrame *frame, uint32_t *parents)
{
    const uint32_t width = frame->shape.width, height = frame->shape.height, n_pixels = width * height;
    const dim3 threads(32, 8), grid(blocks_for(width, 32), blocks_for(height, 8));

    CCL_CUDA_LAUNCH(frame, "init", init<eight>, grid, threads, 0, frame->vars, width, height, parents);
    CCL_TRY(iterate(frame, n_pixels, [&](uint32_t *changed) -> CclStatus {
        CCL_CUDA_LAUNCH(frame, "analysis", analysis, blocks_for(n_pixels, 256), 256, 0, n_pixels, parents);
        CCL_CUDA_LAUNCH(frame, "scan", scan<eight>, grid, threads, 0, width, height, parents, changed);
        return CCL_OK;
    }));
    return propagate_from_parents(frame, parents);
}

static CclStatus label(CclContext *context, CclFrame *ccl_frame)
{
    CudaFrame *const frame = cuda_frame(ccl_frame);
    uint32_t *const parents = (uint32_t *)frame->workspace;
    return is_eight(context) ? label_all<true>(frame, parents) : label_all<false>(frame, parents);
}

const CclAlgorithm ccl_cuda_ole = {
    .info = { .name = "ole", .title = "Optimized Label Equivalence",
              .paper = "Kalentev, Rai, Kemnitz & Schneider, JPDC 2011", .backend = CCL_BACKEND_CUDA,
              .connectivity = CCL_CONNECT_4 | CCL_CONNECT_8 },
    .unit = "pixel",
    .bytes_per_pixel = 4,
    .first_pixel_roots = true,
    .iterative = true,
    .workspace_size = parents_size,
    .label = label,
};
