/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * LE: Label Equivalence.
 * Hawick, Leist, Playne, "Parallel Graph Component Labelling with GPUs and CUDA", Parallel Computing 36(12), 2010,
 * doi 10.1016/j.parco.2010.07.002.
 *
 * Equivalences of labels travel instead of labels. A table has for each label a lower label of the same component. Pixels enter
 * the lowest label around them, chains of entries are followed to their ends, and every pixel takes the entry of its label. So
 * neighbouring parts of a component become one in a single iteration, whatever their size. Shapes with nested peaks need more
 * iterations (Asad, Marroquim, Souza, "On GPU Connected Components and Properties", 2019: ridge pattern R_l takes exactly l).
 *
 *   init        each pixel its own label; the table's first entries: the lowest label around
 *   analysis    entries of labels in use point at the end of their chains  }
 *   labelling   each pixel takes its label's entry                         } repeated until scan finds no pair of
 *   scan        each pixel enters the lowest label around its own          } neighbours with different labels
 *
 * The published order is init, then scan, analysis and labelling in the loop. Here the first scan is part of init: it needs no
 * atomics, because no two pixels have the same label, and no flag. So the loop begins one kernel later, which saves an
 * iteration. The number of iterations is that of the paper on properties.
 *
 * `le-early` and `le-late` are that paper's two ways to measure components (../properties.cuh). In `le-early`, init fills each
 * pixel's sums, and analysis moves the sums of labels that are no longer used. `le` leaves measuring to the backend.
 */
#include "cuda/published/iterate.cuh"
#include "cuda/properties.cuh"
#include "cuda/propagate.cuh"
#include "cuda/union_find.cuh"
#include "pixels.cuh"

template <bool eight, bool early>
__global__ static void init(const __grid_constant__ CudaVars vars, uint32_t width, uint32_t height, uint32_t *table,
                            PixelSums sums)
{
    const uint32_t x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const uint32_t index = y * width + x;
    const bool foreground = is_foreground(vars.mask[y * vars.mask_stride + x], vars);
    vars.labels[y * vars.label_stride + x] = foreground ? index + 1 : 0;
    if (!foreground)
        return;
    table[index] = first_neighbour<eight>(vars, x, y, width);
    if (early)
        pixel_sums_begin(sums, index, x, y);
}

/* A label is in use if its own pixel has it. */
template <bool early>
__global__ static void analysis(const __grid_constant__ CudaVars vars, uint32_t width, uint32_t height, uint32_t *table,
                                PixelSums sums)
{
    const uint32_t x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const uint32_t index = y * width + x;
    if (vars.labels[y * vars.label_stride + x] != index + 1)
        return;
    const uint32_t root = compress(table, index);
    if (early && root != index)
        pixel_sums_move(sums, index, root);
}

__global__ static void labelling(const __grid_constant__ CudaVars vars, uint32_t width, uint32_t height,
                                 const uint32_t *table)
{
    const uint32_t x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    uint32_t *const label = vars.labels + y * vars.label_stride + x;
    if (*label)
        *label = table[*label - 1] + 1;
}

template <bool eight>
__global__ static void scan(const __grid_constant__ CudaVars vars, uint32_t width, uint32_t height, uint32_t *table,
                            uint32_t *changed)
{
    const uint32_t x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const size_t stride = vars.label_stride;
    const uint32_t *const label = vars.labels + y * stride + x;
    const uint32_t own = *label;
    if (!own)
        return;
    const uint32_t lowest = lowest_around<eight, 0>(label, stride, { x, y, width, height }, own);
    if (lowest < own) {
        if (table[own - 1] > lowest - 1) /* mostly another pixel has stored it already */
            atomicMin(&table[own - 1], lowest - 1);
        note_change(changed);
    }
}

/* Each iteration except the last removes at least one label. */
template <bool eight, bool early> static CclStatus label_all(CudaFrame *frame, uint32_t *table, PixelSums sums)
{
    const uint32_t width = frame->shape.width, height = frame->shape.height;
    const dim3 threads(32, 8), grid(blocks_for(width, 32), blocks_for(height, 8));

    CCL_CUDA_LAUNCH(frame, "init", (init<eight, early>), grid, threads, 0, frame->vars, width, height, table, sums);
    return iterate(frame, pixels_of(&frame->shape), [&](uint32_t *changed) -> CclStatus {
        CCL_CUDA_LAUNCH(frame, "analysis", analysis<early>, grid, threads, 0, frame->vars, width, height, table, sums);
        CCL_CUDA_LAUNCH(frame, "labelling", labelling, grid, threads, 0, frame->vars, width, height, table);
        CCL_CUDA_LAUNCH(frame, "scan", scan<eight>, grid, threads, 0, frame->vars, width, height, table, changed);
        return CCL_OK;
    });
}

template <bool early> static CclStatus label(CclContext *context, CclFrame *ccl_frame)
{
    CudaFrame *const frame = cuda_frame(ccl_frame);
    const PixelSums sums = early ? early_sums(context, frame) : PixelSums{};
    uint32_t *const table = early ? early_words(context, frame) : (uint32_t *)frame->workspace;
    return is_eight(context) ? label_all<true, early>(frame, table, sums)
                             : label_all<false, early>(frame, table, sums);
}

const CclAlgorithm ccl_cuda_le = {
    .info = { .name = "le", .title = "Label Equivalence", .paper = "Hawick, Leist & Playne, Parallel Computing 2010",
              .backend = CCL_BACKEND_CUDA, .connectivity = CCL_CONNECT_4 | CCL_CONNECT_8 },
    .unit = "pixel",
    .bytes_per_pixel = 4,
    .first_pixel_roots = true,
    .iterative = true,
    .workspace_size = parents_size,
    .label = label<false>,
};

const CclAlgorithm ccl_cuda_le_early = {
    .info = { .name = "le-early", .title = "Label Equivalence, sums travel with the labels",
              .paper = "Kalentev, Rai, Kemnitz & Schneider, JPDC 2011; Asad, Marroquim & Souza 2019",
              .backend = CCL_BACKEND_CUDA, .connectivity = CCL_CONNECT_4 | CCL_CONNECT_8 },
    .unit = "pixel",
    .bytes_per_pixel = 60,
    .first_pixel_roots = true,
    .iterative = true,
    .workspace_size = early_workspace_size,
    .label = label<true>,
    .features = features_early,
};

const CclAlgorithm ccl_cuda_le_late = {
    .info = { .name = "le-late", .title = "Label Equivalence, sums after numbering",
              .paper = "Asad, Marroquim & Souza 2019", .backend = CCL_BACKEND_CUDA,
              .connectivity = CCL_CONNECT_4 | CCL_CONNECT_8 },
    .unit = "pixel",
    .bytes_per_pixel = 4,
    .first_pixel_roots = true,
    .iterative = true,
    .workspace_size = parents_size,
    .label = label<false>,
    .features = features_late,
};
