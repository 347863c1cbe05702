/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * 8DLS: 8-Directional Label Selection, and M8DLS, its modification.
 * Soh, Raja, Hae, Kim, "Fast Parallel Connected Component Labeling Algorithms Using CUDA Based on 8-Directional Label
 * Selection", International Journal of Latest Research in Science and Technology 3(2), 2014.
 *
 * A pixel walks in all eight directions until it meets background, and takes the lowest label on the way. So a label travels
 * along a straight line of any length in one iteration, and each turn of a component takes a further iteration. M8DLS skips the
 * walks of pixels whose label is final. It considers a label final if its own pixel still has it after two iterations.
 *
 *   init     each pixel its own label
 *   select   the lowest label in eight directions; repeated until no label changes
 *
 * As published, M8DLS is wrong: the lowest label may need any number of turns to reach a pixel. Until then, a pixel that is the
 * lowest of its neighbourhood keeps its own label. Here the rule is only a guess: a pixel whose label is considered final reads
 * its eight neighbours, and walks if one of them is lower. So labels stop changing only when no neighbours differ, which is
 * right for any guess. When labels are really final, the guess saves almost all walks.
 */
#include "cuda/published/iterate.cuh"
#include "cuda/propagate.cuh"
#include "cuda/stages.cuh"
#include "cuda/threads.cuh"
#include "pixels.cuh"

/* The lowest label from the pixel on in one direction, at most max_steps away; `own`: the label of the pixel. */
__device__ static uint32_t lowest_towards(const uint32_t *label, ptrdiff_t step, uint32_t max_steps, uint32_t own)
{
    uint32_t lowest = own;
    for (; max_steps; max_steps--) {
        label += step;
        if (!*label)
            break;
        lowest = min(lowest, *label);
    }
    return lowest;
}

__device__ static uint32_t lowest_of_walks(const uint32_t *label, ptrdiff_t stride, const PixelPlace &place, uint32_t own)
{
    /* Number of pixels in each direction. */
    const uint32_t left = place.x, right = place.width - 1 - place.x, up = place.y, down = place.height - 1 - place.y;
    uint32_t lowest = lowest_towards(label, -1, left, own);
    lowest = lowest_towards(label, 1, right, lowest);
    lowest = lowest_towards(label, -stride, up, lowest);
    lowest = lowest_towards(label, stride, down, lowest);
    lowest = lowest_towards(label, -stride - 1, min(left, up), lowest);
    lowest = lowest_towards(label, -stride + 1, min(right, up), lowest);
    lowest = lowest_towards(label, stride - 1, min(left, down), lowest);
    return lowest_towards(label, stride + 1, min(right, down), lowest);
}

/* `guess`: labels that their own pixels still have are considered final. */
__global__ static void select(const __grid_constant__ CudaVars vars, uint32_t width, uint32_t height, bool guess,
                              uint64_t magic, uint32_t *changed)
{
    const uint32_t x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const size_t stride = vars.label_stride;
    uint32_t *const label = vars.labels + y * stride + x;
    const uint32_t own = *label;
    const PixelPlace place = { x, y, width, height };
    if (!own)
        return;
    if (guess) {
        const uint32_t root_y = divide_by_width(own - 1, magic), root_x = own - 1 - root_y * width;
        if (vars.labels[root_y * stride + root_x] == own &&
            lowest_around<true, 0>(label, stride, place, own) == own)
            return;
    }
    const uint32_t lowest = lowest_of_walks(label, (ptrdiff_t)stride, place, own);
    if (lowest < own) {
        *label = lowest; /* race: as in lowest_around() */
        note_change(changed);
    }
}

/* Each iteration moves a label along a path by at least one pixel. */
template <bool modified> static CclStatus label(CclContext *context, CclFrame *ccl_frame)
{
    CudaFrame *const frame = cuda_frame(ccl_frame);
    const uint32_t width = frame->shape.width, height = frame->shape.height;
    const dim3 threads(BLOCK_THREADS_X, BLOCK_THREADS_Y);
    const dim3 grid(blocks_for(width, BLOCK_THREADS_X), blocks_for(height, BLOCK_THREADS_Y));
    const uint64_t magic = divide_magic(width);
    unsigned n = 0;
    (void)context;

    CCL_TRY(init_labels(frame));
    return iterate(frame, pixels_of(&frame->shape), [&](uint32_t *changed) -> CclStatus {
        const bool guess = modified && n >= 2;
        n++;
        CCL_CUDA_LAUNCH(frame, "select", select, grid, threads, 0, frame->vars, width, height, guess, magic, changed);
        return CCL_OK;
    });
}

const CclAlgorithm ccl_cuda_8dls = {
    .info = { .name = "8dls", .title = "8-Directional Label Selection",
              .paper = "Soh, Raja, Hae & Kim, IJLRST 2014", .backend = CCL_BACKEND_CUDA,
              .connectivity = CCL_CONNECT_8 },
    .unit = "pixel",
    .first_pixel_roots = true,
    .iterative = true,
    .label = label<false>,
};

const CclAlgorithm ccl_cuda_m8dls = {
    .info = { .name = "m8dls", .title = "Modified 8-Directional Label Selection",
              .paper = "Soh, Raja, Hae & Kim, IJLRST 2014", .backend = CCL_BACKEND_CUDA,
              .connectivity = CCL_CONNECT_8 },
    .unit = "pixel",
    .first_pixel_roots = true,
    .iterative = true,
    .label = label<true>,
};
