/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * DPL: Directional Propagation Labelling, 4-connected.
 * Hawick, Leist, Playne, "Parallel Graph Component Labelling with GPUs and CUDA", Parallel Computing 36(12), 2010,
 * doi 10.1016/j.parco.2010.07.002.
 *
 * Rows and columns are swept in the four directions in turn. Each pixel takes the lower label of itself and its predecessor in
 * the sweep. So a label travels along a straight line of any length in one iteration, and each turn of a component takes
 * further iterations. There are no diagonal sweeps, hence 4-connectivity only.
 *
 *   init    each pixel its own label
 *   right   sweep of the rows from left to right       }
 *   up      of the columns from bottom to top          } repeated until no label changes
 *   left    of the rows from right to left             }
 *   down    of the columns from top to bottom          }
 *
 * A column has a thread, as published. A row has a warp, which takes 32 pixels at once with a segmented scan. With a thread per
 * row, neighbouring threads would read different rows, and not share a cache line.
 */
#include "cuda/published/iterate.cuh"
#include "cuda/propagate.cuh"
#include "pixels.cuh"

/* The lowest label of the lanes from the start of the run to this one. `run`: length of the run up to this lane.  */
__device__ static uint32_t lowest_of_run(uint32_t label, uint32_t run, uint32_t lane)
{
#pragma unroll
    for (uint32_t step = 1; step < 32; step *= 2) {
        const uint32_t other = __shfl_up_sync(~0u, label, step);
        if (lane >= step && run > step)
            label = min(label, other);
    }
    return label;
}

template <bool backwards>
__global__ static void sweep_rows(const __grid_constant__ CudaVars vars, uint32_t width, uint32_t height,
                                  uint32_t *changed)
{
    const uint32_t lane = threadIdx.x, y = blockIdx.x * blockDim.y + threadIdx.y;
    if (y >= height) /* the whole warp */
        return;
    uint32_t *const row = vars.labels + y * vars.label_stride;
    uint32_t carried = UINT32_MAX; /* the lowest label of the run that the pixels before end with */
    bool lowered = false;

    for (uint32_t start = 0; start < width; start += 32) {
        const uint32_t i = start + lane, x = backwards ? width - 1 - i : i;
        const uint32_t before = i < width ? row[x] : 0;
        const uint32_t pixels = __ballot_sync(~0u, before != 0);
        const uint32_t run = __clz(~(pixels << (31 - lane)));
        uint32_t label = lowest_of_run(before, run, lane);
        if (run == lane + 1)
            label = min(label, carried);
        if (label < before) {
            row[x] = label;
            lowered = true;
        }
        const uint32_t last = __shfl_sync(~0u, label, 31);
        carried = pixels >> 31 ? last : UINT32_MAX;
    }
    if (lowered)
        note_change(changed);
}

template <bool backwards>
__global__ static void sweep_columns(const __grid_constant__ CudaVars vars, uint32_t width, uint32_t height,
                                     uint32_t *changed)
{
    const uint32_t x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= width)
        return;
    const size_t stride = vars.label_stride;
    uint32_t lowest = UINT32_MAX;
    bool lowered = false;

    for (uint32_t i = 0; i < height; i++) {
        uint32_t *const label = vars.labels + (backwards ? height - 1 - i : i) * stride + x;
        const uint32_t before = *label;
        lowest = before ? min(lowest, before) : UINT32_MAX;
        if (lowest < before) {
            *label = lowest;
            lowered = true;
        }
    }
    if (lowered)
        note_change(changed);
}

/* Each iteration moves a label along a path by at least one pixel. */
static CclStatus label(CclContext *context, CclFrame *ccl_frame)
{
    CudaFrame *const frame = cuda_frame(ccl_frame);
    const uint32_t width = frame->shape.width, height = frame->shape.height;
    const dim3 row_threads(32, 4);
    const unsigned column_threads = 64, rows = blocks_for(height, 4), columns = blocks_for(width, column_threads);
    (void)context;

    CCL_TRY(init_labels(frame));
    return iterate(frame, pixels_of(&frame->shape), [&](uint32_t *changed) -> CclStatus {
        CCL_CUDA_LAUNCH(frame, "right", sweep_rows<false>, rows, row_threads, 0, frame->vars, width, height, changed);
        CCL_CUDA_LAUNCH(frame, "up", sweep_columns<true>, columns, column_threads, 0, frame->vars, width, height,
                        changed);
        CCL_CUDA_LAUNCH(frame, "left", sweep_rows<true>, rows, row_threads, 0, frame->vars, width, height, changed);
        CCL_CUDA_LAUNCH(frame, "down", sweep_columns<false>, columns, column_threads, 0, frame->vars, width, height,
                        changed);
        return CCL_OK;
    });
}

const CclAlgorithm ccl_cuda_dpl = {
    .info = { .name = "dpl", .title = "Directional Propagation Labelling",
              .paper = "Hawick, Leist & Playne, Parallel Computing 2010", .backend = CCL_BACKEND_CUDA,
              .connectivity = CCL_CONNECT_4 },
    .unit = "run",
    .first_pixel_roots = true,
    .iterative = true,
    .label = label,
};
