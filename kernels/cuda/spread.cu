/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* First and last step of methods whose nodes are pixels; see spread.cuh. A thread has four pixels of a row. */
#include "spread.cuh"

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

__device__ static uint4 load_parents(const uint32_t *p, uint32_t n)
{
    if (n == 4 && (uintptr_t)p % 16 == 0)
        return *(const uint4 *)p;
    return make_uint4(p[0], n > 1 ? p[1] : NO_PARENT, n > 2 ? p[2] : NO_PARENT, n > 3 ? p[3] : NO_PARENT);
}

/* Neighbours mostly have the same parent: its root is looked up once. */
__global__ static void spread(const __grid_constant__ CudaVars vars, uint32_t width, uint32_t height, uint32_t *parents)
{
    const uint32_t x = (blockIdx.x * blockDim.x + threadIdx.x) * 4, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const uint32_t index = y * width + x, n = min(width - x, 4u);
    const uint4 four = load_parents(parents + index, n);
    const uint32_t own[4] = { four.x, four.y, four.z, four.w };
    uint32_t labels[4] = { 0, 0, 0, 0 }, parent = NO_PARENT, root = 0;
#pragma unroll
    for (uint32_t i = 0; i < 4; i++) {
        if (own[i] == NO_PARENT)
            continue;
        if (own[i] != parent) {
            parent = own[i];
            root = compress(parents, index + i);
        }
        labels[i] = 1 + root;
    }
    uint32_t *const to = vars.labels + y * vars.label_stride + x;
    store_four(to, make_uint4(labels[0], labels[1], labels[2], labels[3]), n, (uintptr_t)to % 16 == 0);
}

__global__ static void spread_each(const __grid_constant__ CudaVars vars, uint32_t width, uint32_t height,
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

/* A warp has 32 x 4 pixels: more of them have the same root than of 128 x 1, and walks that end together. */
CclStatus spread_from_parents(CudaFrame *frame, uint32_t *parents)
{
    const dim3 threads(8, 32);
    const dim3 grid(blocks_for(frame->shape.width, 4 * threads.x), blocks_for(frame->shape.height, threads.y));
    CCL_CUDA_LAUNCH(frame, "spread", spread, grid, threads, 0, frame->vars, frame->shape.width, frame->shape.height,
                    parents);
    return CCL_OK;
}

CclStatus spread_each_from_parents(CudaFrame *frame, uint32_t *parents)
{
    const dim3 threads(BLOCK_THREADS_X, BLOCK_THREADS_Y);
    const dim3 grid(blocks_for(frame->shape.width, threads.x), blocks_for(frame->shape.height, threads.y));
    CCL_CUDA_LAUNCH(frame, "spread", spread_each, grid, threads, 0, frame->vars, frame->shape.width,
                    frame->shape.height, parents);
    return CCL_OK;
}
