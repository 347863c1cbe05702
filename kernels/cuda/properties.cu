/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Published ways to measure components; see properties.cuh. */
#include "properties.cuh"

#include "sums.cuh"

/* ---------------------------------------------------------------- early */

static size_t pixels_of_context(const CclContext *context)
{
    return (size_t)context->config.max_width * context->config.max_height;
}

/* Moments first, because they must be aligned to 8. */
PixelSums early_sums(const CclContext *context, const CudaFrame *frame)
{
    const size_t n = pixels_of_context(context);
    unsigned long long *const moments = (unsigned long long *)frame->workspace;
    uint32_t *const words = (uint32_t *)(moments + 5 * n);
    return PixelSums{ moments,         moments + n, moments + 2 * n, moments + 3 * n, moments + 4 * n,
                      words,           words + n,   words + 2 * n,   words + 3 * n };
}

uint32_t *early_words(const CclContext *context, const CudaFrame *frame)
{
    return early_sums(context, frame).y1 + pixels_of_context(context);
}

size_t early_workspace_size(const CclContext *context)
{
    return pixels_of_context(context) * (5 * sizeof(uint64_t) + (4 + 1) * sizeof(uint32_t));
}

__global__ static void take_over(const __grid_constant__ CudaVars vars, uint32_t width, uint32_t height,
                                 uint32_t capacity, unsigned round, StageBuffers buffers, PixelSums from)
{
    const uint32_t x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const uint32_t index = y * width + x;
    clear_words(buffers.table_scan, buffers.n_table_scan);
    if (x >= width || y >= height || vars.labels[y * vars.label_stride + x] != index + 1)
        return;
    Sums *const sums = sums_of(sums_target(buffers, vars, capacity, round, 0, 0), index + 1);
    if (!sums)
        return;
    sums->m10 = from.m10[index];
    sums->m01 = from.m01[index];
    sums->m20 = from.m20[index];
    sums->m11 = from.m11[index];
    sums->m02 = from.m02[index];
    sums->area = from.area[index];
    sums->not_x0 = ~from.x0[index];
    sums->x1 = from.x1[index];
    sums->y1 = from.y1[index];
    sums->not_first = ~index;
    sums->root = index;
}

CclStatus features_early(const CclContext *context, CclFrame *ccl_frame, const StageBuffers *buffers, unsigned round)
{
    CudaFrame *const frame = cuda_frame(ccl_frame);
    const uint32_t width = frame->shape.width, height = frame->shape.height;
    const dim3 threads(32, 8), grid(blocks_for(width, 32), blocks_for(height, 8));
    CCL_CUDA_LAUNCH(frame, "features", take_over, grid, threads, 0, frame->vars, width, height, context->capacity,
                    round, *buffers, early_sums(context, frame));
    return CCL_OK;
}

/* ---------------------------------------------------------------- late */

__global__ static void add_pixels(const __grid_constant__ CudaVars vars, uint32_t width, uint32_t height,
                                  uint32_t capacity, unsigned round, StageBuffers buffers)
{
    const uint32_t x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    clear_words(buffers.table_scan, buffers.n_table_scan);
    const uint32_t label = x < width && y < height ? vars.labels[y * vars.label_stride + x] : 0;
    if (!label)
        return;
    Part part = {};
    part.label = label;
    part.n = part.x1 = part.y1 = 1;
    part.first = y * width + x;
    add_to_sums(sums_target(buffers, vars, capacity, round, x, y), part);
}

CclStatus features_late(const CclContext *context, CclFrame *ccl_frame, const StageBuffers *buffers, unsigned round)
{
    CudaFrame *const frame = cuda_frame(ccl_frame);
    const uint32_t width = frame->shape.width, height = frame->shape.height;
    const dim3 threads(32, 8), grid(blocks_for(width, 32), blocks_for(height, 8));
    CCL_CUDA_LAUNCH(frame, "features", add_pixels, grid, threads, 0, frame->vars, width, height, context->capacity,
                    round, *buffers);
    return CCL_OK;
}
