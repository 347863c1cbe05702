/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * LNP: Local Neighbour Propagation.
 * Hawick, Leist, Playne, "Parallel Graph Component Labelling with GPUs and CUDA", Parallel Computing 36(12), 2010,
 * doi 10.1016/j.parco.2010.07.002.
 *
 * Neighbour Propagation (np.cu) in tiles of 16x16 pixels. A pixel first takes the lowest label around it from the image, so
 * labels come in from other tiles. Then the tile propagates labels in shared memory until nothing changes. So labels travel up
 * to a tile per iteration instead of a pixel.
 *
 *   init       each pixel its own label
 *   propagate  the lowest label around, then within the tile to the end; repeated until no label changes
 *
 * Works in the label image and needs no other memory.
 */
#include "cuda/published/iterate.cuh"
#include "cuda/propagate.cuh"
#include "pixels.cuh"

static const uint32_t TILE = 16;

template <bool eight>
__global__ __launch_bounds__(TILE *TILE) static void propagate(const __grid_constant__ CudaVars vars, uint32_t width,
                                                               uint32_t height, uint32_t *changed)
{
    __shared__ uint32_t tile[TILE][TILE];
    const uint32_t tx = threadIdx.x, ty = threadIdx.y;
    const uint32_t x = blockIdx.x * TILE + tx, y = blockIdx.y * TILE + ty;
    const bool inside = x < width && y < height;
    const size_t stride = vars.label_stride;
    uint32_t *const label = vars.labels + y * stride + x;

    const uint32_t before = inside ? *label : 0;
    uint32_t own = before;
    if (before)
        own = lowest_around<eight, 0>(label, stride, { x, y, width, height }, before);
    /* If no label came in, nothing is left to do inside either. */
    if (!__syncthreads_or(own < before))
        return;
    if (tx == 0 && ty == 0)
        note_change(changed);
    for (;;) {
        tile[ty][tx] = own;
        __syncthreads();
        const uint32_t lowest = own ? lowest_around<eight, 0>(&tile[ty][tx], TILE, { tx, ty, TILE, TILE }, own) : 0;
        const bool lower = lowest < own;
        own = lowest;
        if (!__syncthreads_or(lower))
            break;
    }
    if (own < before)
        *label = own; /* race: see lowest_around() */
}

/* As NP, whose iterations these contain. */
template <bool eight> static CclStatus label_all(CudaFrame *frame)
{
    const uint32_t width = frame->shape.width, height = frame->shape.height;
    const dim3 threads(TILE, TILE), grid(blocks_for(width, TILE), blocks_for(height, TILE));

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

const CclAlgorithm ccl_cuda_lnp = {
    .info = { .name = "lnp", .title = "Local Neighbour Propagation",
              .paper = "Hawick, Leist & Playne, Parallel Computing 2010", .backend = CCL_BACKEND_CUDA,
              .connectivity = CCL_CONNECT_4 | CCL_CONNECT_8 },
    .unit = "pixel",
    .first_pixel_roots = true,
    .iterative = true,
    .label = label,
};
