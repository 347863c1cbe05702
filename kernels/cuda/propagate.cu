/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* First and last step of methods whose nodes are pixels; see propagate.cuh. A thread has four pixels. */
#include "propagate.cuh"

#include "threads.cuh"
#include "union_find.cuh"

static const dim3 THREADS(32, 8);

/* Bit i: pixel i of the n (four at most) from p on is foreground. */
__device__ static uint32_t load_four(const uint8_t *p, uint32_t n, const CudaVars &vars)
{
    if (n >= 4 && (uintptr_t)p % 4 == 0)
        return foreground_bits(*(const uint32_t *)p, vars);
    uint32_t bits = 0;
    for (uint32_t i = 0; i < min(n, 4u); i++)
        bits |= (uint32_t)is_foreground(p[i], vars) << i;
    return bits;
}

template <bool as_labels>
__global__ static void init(const __grid_constant__ CudaVars vars, uint32_t width, uint32_t height, uint32_t *parents)
{
    const uint32_t x = (blockIdx.x * blockDim.x + threadIdx.x) * 4, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const uint32_t bits = load_four(vars.mask + y * vars.mask_stride + x, width - x, vars);
    const uint32_t value = y * width + x + as_labels, none = as_labels ? 0 : NO_PARENT;
    uint32_t *const to = as_labels ? vars.labels + y * vars.label_stride + x : parents + y * width + x;
    store_four(to, make_uint4(bits & 1 ? value : none, bits & 2 ? value + 1 : none, bits & 4 ? value + 2 : none,
                              bits & 8 ? value + 3 : none), width - x, (uintptr_t)to % 16 == 0);
}

/* Loads n parents of a row, at most 2 or 4, and no further one. */
template <unsigned COLUMNS>
__device__ static void load_row(const uint32_t *p, uint32_t n, uint32_t parents[COLUMNS])
{
    if (n == COLUMNS && (uintptr_t)p % (COLUMNS * sizeof *p) == 0) {
        if (COLUMNS == 4)
            *(uint4 *)parents = *(const uint4 *)p;
        else
            *(uint2 *)parents = *(const uint2 *)p;
        return;
    }
#pragma unroll
    for (uint32_t i = 0; i < COLUMNS; i++)
        parents[i] = i < n ? p[i] : NO_PARENT;
}

template <unsigned COLUMNS>
__device__ static void store_row(uint32_t *to, uint32_t n, const uint32_t labels[COLUMNS])
{
    if (n == COLUMNS && (uintptr_t)to % (COLUMNS * sizeof *to) == 0) {
        if (COLUMNS == 4)
            *(uint4 *)to = *(const uint4 *)labels;
        else
            *(uint2 *)to = *(const uint2 *)labels;
        return;
    }
#pragma unroll
    for (uint32_t i = 0; i < COLUMNS; i++)
        if (i < n)
            to[i] = labels[i];
}

/* A thread has four pixels, in a square or in a row. Neighbours mostly have the same parent, whose root is looked up once. */
template <unsigned COLUMNS>
__global__ static void propagate(const __grid_constant__ CudaVars vars, uint32_t width, uint32_t height, uint32_t *parents)
{
    const unsigned ROWS = 4 / COLUMNS;
    const uint32_t x = (blockIdx.x * blockDim.x + threadIdx.x) * COLUMNS;
    const uint32_t y = (blockIdx.y * blockDim.y + threadIdx.y) * ROWS;
    if (x >= width || y >= height)
        return;
    const uint32_t index = y * width + x, n = min(width - x, COLUMNS);
    alignas(16) uint32_t own[4], labels[4] = { 0, 0, 0, 0 };
#pragma unroll
    for (uint32_t row = 0; row < ROWS; row++)
        load_row<COLUMNS>(parents + index + row * width, y + row < height ? n : 0, own + row * COLUMNS);

    uint32_t parent = NO_PARENT, root = 0;
#pragma unroll
    for (uint32_t i = 0; i < 4; i++) {
        if (own[i] == NO_PARENT)
            continue;
        if (own[i] != parent) {
            parent = own[i];
            root = compress(parents, index + i / COLUMNS * width + i % COLUMNS);
        }
        labels[i] = 1 + root;
    }

    uint32_t *const to = vars.labels + y * vars.label_stride + x;
#pragma unroll
    for (uint32_t row = 0; row < ROWS; row++)
        store_row<COLUMNS>(to + row * vars.label_stride, y + row < height ? n : 0, labels + row * COLUMNS);
}

__global__ static void propagate_each(const __grid_constant__ CudaVars vars, uint32_t width, uint32_t height,
                                   uint32_t *parents)
{
    const uint32_t x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const uint32_t index = y * width + x;
    vars.labels[y * vars.label_stride + x] = parents[index] == NO_PARENT ? 0 : 1 + compress(parents, index);
}

static dim3 grid_of(const CudaFrame *frame)
{
    return dim3(blocks_for(frame->shape.width, 4 * THREADS.x), blocks_for(frame->shape.height, THREADS.y));
}

size_t parents_size(const CclContext *context)
{
    return (size_t)context->config.max_width * context->config.max_height * sizeof(uint32_t);
}

CclStatus init_parents(CudaFrame *frame, uint32_t *parents)
{
    CCL_CUDA_LAUNCH(frame, "init", init<false>, grid_of(frame), THREADS, 0, frame->vars, frame->shape.width,
                    frame->shape.height, parents);
    return CCL_OK;
}

CclStatus init_labels(CudaFrame *frame)
{
    CCL_CUDA_LAUNCH(frame, "init", init<true>, grid_of(frame), THREADS, 0, frame->vars, frame->shape.width,
                    frame->shape.height, (uint32_t *)NULL);
    return CCL_OK;
}

/* A warp has 32 x 4 pixels. More of these have the same root than of 128 x 1 pixels, and their climbs end at the same time. */
template <unsigned COLUMNS> static CclStatus launch_propagate(CudaFrame *frame, uint32_t *parents)
{
    const dim3 threads(32 / COLUMNS, 8 * COLUMNS);
    const dim3 grid(blocks_for(frame->shape.width, 32), blocks_for(frame->shape.height, 32));
    CCL_CUDA_LAUNCH(frame, "propagate", propagate<COLUMNS>, grid, threads, 0, frame->vars, frame->shape.width,
                    frame->shape.height, parents);
    return CCL_OK;
}

CclStatus propagate_from_parents(CudaFrame *frame, uint32_t *parents)
{
    return launch_propagate<2>(frame, parents);
}

CclStatus propagate_rows_from_parents(CudaFrame *frame, uint32_t *parents)
{
    return launch_propagate<4>(frame, parents);
}

CclStatus propagate_each_from_parents(CudaFrame *frame, uint32_t *parents)
{
    const dim3 threads(BLOCK_THREADS_X, BLOCK_THREADS_Y);
    const dim3 grid(blocks_for(frame->shape.width, threads.x), blocks_for(frame->shape.height, threads.y));
    CCL_CUDA_LAUNCH(frame, "propagate", propagate_each, grid, threads, 0, frame->vars, frame->shape.width,
                    frame->shape.height, parents);
    return CCL_OK;
}
