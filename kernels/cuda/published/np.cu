/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * NP: Neighbour Propagation.
 * Hawick, Leist, Playne, "Parallel Graph Component Labelling with GPUs and CUDA", Parallel Computing 36(12), 2010,
 * doi 10.1016/j.parco.2010.07.002.
 *
 * The simplest method. Every pixel begins with its own index as label and takes the lowest label of its neighbours, again and
 * again, until no label changes. The lowest label of a component travels a pixel per iteration. So the number of iterations
 * grows with the length of the longest path through a component: hundreds for blobs, millions for a spiral.
 *
 *   init       each pixel its own label
 *   propagate  the lowest label around; repeated until none changes
 *
 * Works in the label image and needs no other memory.
 */
#include "cuda/published/iterate.cuh"
#include "cuda/propagate.cuh"
#include "pixels.cuh"

template <bool eight>
__global__ static void propagate(const __grid_constant__ CudaVars vars, uint32_t width, uint32_t height,
                                 uint32_t *changed)
{
    const uint32_t x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const size_t stride = vars.label_stride;
    uint32_t *const label = vars.labels + y * stride + x;
    const uint32_t own = *label;
    if (!own)
        return;
    const uint32_t lowest = lowest_around<eight, 0>(label, stride, { x, y, width, height }, own);
    if (lowest < own) {
        *label = lowest; /* race: see lowest_around() */
        note_change(changed);
    }
}

/* A path of n pixels takes n - 1 iterations, and one more to see that it is done. */
template <bool eight> static CclStatus label_all(CudaFrame *frame)
{
    const uint32_t width = frame->shape.width, height = frame->shape.height;
    const dim3 threads(32, 8), grid(blocks_for(width, 32), blocks_for(height, 8));

    CCL_TRY(init_labels(frame));
    return iterate(frame, pixels_of(&frame->shape), [&](uint32_t *changed) -> CclStatus {
        CCL_CUDA_LAUNCH(frame, "propagate", propagate<eight>, grid, threads, 0, frame->vars, width, height, changed);
        return CCL_OK;
    });
}

static CclStatus label(CclContext *context, CclFrame *ccl_frame)
{
    CudaFrame *const frame = cuda_frame(ccl_frame);
    return is_eight(context) ? label_all<true>(frame) : label_all<false>(frame);
}

const CclAlgorithm ccl_cuda_np = {
    .info = { .name = "np", .title = "Neighbour Propagation",
              .paper = "Hawick, Leist & Playne, Parallel Computing 2010", .backend = CCL_BACKEND_CUDA,
              .connectivity = CCL_CONNECT_4 | CCL_CONNECT_8 },
    .unit = "pixel",
    .first_pixel_roots = true,
    .iterative = true,
    .label = label,
};
