/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Volumes: stacks of masks of one size, labelled in x, y and the frame t by methods with CclAlgorithmInfo.volume.
 *
 * The backend (volume.cu) keeps the stack as one tall mask of 0 and 1, frame below frame. For label(), CudaVars and CudaShape
 * describe it like any mask, with CudaShape.frame_height for the height of a frame. A stack of label maps has their values
 * instead, as 16 bits also where the maps have 8: in CudaVars.wide, aligned to 2. The label image has the same shape without
 * padding: voxel (x, y, t) has index (t * height + y) * width + x. So a node of a union-find forest can be this index, and the
 * label image can hold its parent. Provisional labels are like those of masks: 1 + the index of some voxel, the same for all
 * voxels of a component. The stage `number` numbers them as for masks.
 */
#ifndef CCL_CUDA_VOLUME_CUH
#define CCL_CUDA_VOLUME_CUH

#include "backend.cuh"
#include "union_find.cuh"

typedef struct Space {
    uint32_t width, height, n_frames;

    __device__ uint32_t index(uint32_t x, uint32_t y, uint32_t t) const
    {
        return (t * height + y) * width + x;
    }
} Space;

static inline Space space_of(const CudaShape &shape)
{
    return Space{ shape.width, shape.frame_height, shape.height / shape.frame_height };
}

__device__ static inline bool voxel_at(const CudaVars &vars, const Space &space, uint32_t x, uint32_t y, uint32_t t)
{
    return vars.mask[(size_t)(t * space.height + y) * vars.mask_stride + x] != 0;
}

/* Of a stack of label maps; its background is vars.threshold. */
__device__ static inline uint32_t voxel_value_at(const CudaVars &vars, const Space &space, uint32_t x, uint32_t y, uint32_t t)
{
    return ((const uint16_t *)(vars.wide + (size_t)(t * space.height + y) * vars.wide_stride))[x];
}

/* ---------------------------------------------------------------- 2x2x2 blocks */

/*
 * With 26-connectivity the foreground of a block is one set. A block's node is the index of its first voxel,
 * foreground or not; blocks that stick out of the volume have background there. A thread per block, its first voxel is
 * (x, y, t) of cube_of_thread().
 *
 * A block and the voxels around it are 4x4x4 voxels: bit 16 * k + 4 * i + j is voxel (x - 1 + j, y - 1 + i, t - 1 + k). Its
 * neighbours are numbered in raster order from 0 to 26; the block itself is 13. The blocks before it are 0 to 12.
 */

static const unsigned CUBE_THREADS_X = 32, CUBE_THREADS_Y = 4;
static const unsigned CUBE_NEIGHBOURS = 27, CUBE_ITSELF = 13;

static inline dim3 cube_threads(void)
{
    return dim3(CUBE_THREADS_X, CUBE_THREADS_Y);
}

static inline dim3 cube_grid(const Space &space)
{
    return dim3(blocks_for(space.width, 2 * CUBE_THREADS_X), blocks_for(space.height, 2 * CUBE_THREADS_Y),
                (space.n_frames + 1) / 2);
}

/* Number of blocks in the largest volume of a context: for arrays with an entry for each, at cube_index(). */
static inline size_t max_cubes(const CclContext *context)
{
    const CclConfig *const config = &context->config;
    return (size_t)((config->max_width + 1) / 2) * ((config->max_height + 1) / 2) * ((config->volume + 1) / 2);
}

typedef struct Cube {
    uint32_t x, y, t;
} Cube;

/* Returns false if this thread has no block. */
__device__ static inline bool cube_of_thread(const Space &space, Cube *cube)
{
    cube->x = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    cube->y = 2 * (blockIdx.y * blockDim.y + threadIdx.y);
    cube->t = 2 * blockIdx.z;
    return cube->x < space.width && cube->y < space.height;
}

__device__ static inline uint32_t cube_node(const Space &space, const Cube &cube)
{
    return space.index(cube.x, cube.y, cube.t);
}

__device__ static inline uint32_t cube_index(const Space &space, const Cube &cube)
{
    return (cube.t / 2 * ((space.height + 1) / 2) + cube.y / 2) * ((space.width + 1) / 2) + cube.x / 2;
}

/* The node of neighbour n of a block. */
__device__ static inline uint32_t cube_neighbour(const Space &space, uint32_t node, uint32_t n)
{
    const int32_t dx = 2 * ((int32_t)(n % 3) - 1), dy = 2 * ((int32_t)(n / 3 % 3) - 1), dt = 2 * ((int32_t)(n / 9) - 1);
    return node + (uint32_t)((dt * (int32_t)space.height + dy) * (int32_t)space.width + dx);
}

/* The bits of neighbour n: a quarter, half and quarter of the 64 along each axis. */
__device__ static inline uint64_t cube_bits_of(uint32_t n)
{
    const uint64_t columns[3] = { 0x1111111111111111, 0x6666666666666666, 0x8888888888888888 };
    const uint64_t rows[3] = { 0x000f000f000f000f, 0x0ff00ff00ff00ff0, 0xf000f000f000f000 };
    const uint64_t frames[3] = { 0x000000000000ffff, 0x0000ffffffff0000, 0xffff000000000000 };
    return columns[n % 3] & rows[n / 3 % 3] & frames[n / 9];
}

/* The bits of all neighbours that come before a block, and of all that come before or after. */
static const uint64_t CUBE_BEFORE = 0x0000011f011fffff, CUBE_AROUND = ~0x0000066006600000ull;

/* The eight voxels of a block: bit 4 * k + 2 * i + j is voxel (x + j, y + i, t + k). */
__device__ static inline uint32_t cube_voxels(const CudaVars &vars, const Space &space, const Cube &cube)
{
    uint32_t voxels = 0;
#pragma unroll
    for (uint32_t i = 0; i < 8; i++) {
        const uint32_t x = cube.x + (i & 1), y = cube.y + (i >> 1 & 1), t = cube.t + (i >> 2);
        if (x < space.width && y < space.height && t < space.n_frames)
            voxels |= (uint32_t)voxel_at(vars, space, x, y, t) << i;
    }
    return voxels;
}

/* The bits of `which` whose voxels are foreground and touch the block's foreground. Only voxels that can touch it are read
 * (Zavalishin 2016). */
template <uint64_t which>
__device__ static inline uint64_t cube_window(const CudaVars &vars, const Space &space, const Cube &cube,
                                              uint32_t voxels)
{
    const uint64_t around = 0x0000077707770777; /* of the voxel at bit 21, the block's first */
    uint64_t near = 0;
#pragma unroll
    for (uint32_t i = 0; i < 8; i++)
        near |= voxels >> i & 1 ? around << ((i & 1) + 4 * (i >> 1 & 1) + 16 * (i >> 2)) : 0;
    near &= cube.x ? ~0ull : ~0x1111111111111111ull; /* without voxels outside the volume */
    near &= cube.x + 2 < space.width ? ~0ull : cube.x + 1 < space.width ? 0x7777777777777777 : 0x3333333333333333;
    near &= cube.y ? ~0ull : ~0x000f000f000f000full;
    near &= cube.y + 2 < space.height ? ~0ull : cube.y + 1 < space.height ? 0x0fff0fff0fff0fff : 0x00ff00ff00ff00ff;
    near &= cube.t ? ~0ull : ~0xffffull;
    near &= cube.t + 2 < space.n_frames ? ~0ull : cube.t + 1 < space.n_frames ? 0x0000ffffffffffff : 0x00000000ffffffff;

    uint64_t window = 0;
#pragma unroll
    for (uint32_t i = 0; i < 64; i++) {
        const uint32_t x = cube.x + i % 4 - 1, y = cube.y + i / 4 % 4 - 1, t = cube.t + i / 16 - 1;
        if (which >> i & 1 && near >> i & 1)
            window |= (uint64_t)voxel_at(vars, space, x, y, t) << i;
    }
    return window;
}

/* Bit n is set when neighbour n has foreground in the window, for n from 0 to n_neighbours - 1. */
template <uint32_t n_neighbours> __device__ static inline uint32_t cube_touched(uint64_t window)
{
    uint32_t touched = 0;
#pragma unroll
    for (uint32_t n = 0; n < n_neighbours; n++)
        touched |= n != CUBE_ITSELF && window & cube_bits_of(n) ? 1u << n : 0;
    return touched;
}

/* The foreground voxels of a block take its label, the others 0. */
__device__ static inline void store_cube(const CudaVars &vars, const Space &space, const Cube &cube, uint32_t voxels,
                                         uint32_t label)
{
#pragma unroll
    for (uint32_t i = 0; i < 8; i++) {
        const uint32_t x = cube.x + (i & 1), y = cube.y + (i >> 1 & 1), t = cube.t + (i >> 2);
        if (x < space.width && y < space.height && t < space.n_frames)
            vars.labels[space.index(x, y, t)] = voxels >> i & 1 ? label : 0;
    }
}

/* ---------------------------------------------------------------- the backend, for volume.cu and backend.cu */

CclStatus cuda_volume_open(CclContext *context);
CclStatus cuda_volume_add(CclContext *context, const CclMask *mask);
CclStatus cuda_volume_label(CclContext *context, const CclLabels *labels);
CclStatus cuda_volume_look_up(CclContext *context, const CclVoxel *voxels, uint32_t n, uint32_t *labels);

#endif
