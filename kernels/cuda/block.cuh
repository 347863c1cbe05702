/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * 2x2 blocks, for the methods that label blocks instead of pixels: with 8-connectivity the foreground of a block is one set.
 *
 *     P | Q | R      the neighbours of block X that come before it; each is connected to X when a pixel of it touches
 *     --+---+--      a pixel of X
 *     S | X |
 *
 * Where an image has an odd width or height, blocks stick out of it; they have background there.
 */
#ifndef CCL_CUDA_BLOCK_CUH
#define CCL_CUDA_BLOCK_CUH

#include "backend.cuh"
#include "threads.cuh"
#include "union_find.cuh"

/* The pixels of a block in four bits. */
enum {
    TOP_LEFT = 1,
    TOP_RIGHT = 2,
    BOTTOM_LEFT = 4,
    BOTTOM_RIGHT = 8,
    TOP = TOP_LEFT | TOP_RIGHT,
    ALL_FOUR = 15,
};

/* Parents in an array of their own, and a byte for each block. A node is y << 16 | x of any pixel of the block. */
typedef struct Blocks {
    uint32_t *parent; /* one per block */
    uint8_t *info;    /* one per block, for the method's use */
    uint32_t per_row; /* blocks, rounded up to 4 */

    __device__ uint32_t &operator[](uint32_t node) const
    {
        return parent[(node >> 17) * per_row + ((node & 0xffff) >> 1)];
    }

    __device__ uint8_t &info_of(uint32_t node) const
    {
        return info[(node >> 17) * per_row + ((node & 0xffff) >> 1)];
    }
} Blocks;

static inline uint32_t blocks_per_row(uint32_t width)
{
    return (width + 7) / 8 * 4;
}

/* The memory of Blocks for a mask of this size, and Blocks in this memory. */
static inline size_t blocks_size(uint32_t width, uint32_t height)
{
    return (size_t)blocks_per_row(width) * ((height + 1) / 2) * 5;
}

static inline Blocks blocks_at(void *memory, uint32_t width, uint32_t height)
{
    const uint32_t per_row = blocks_per_row(width);
    uint32_t *const parent = (uint32_t *)memory;
    return Blocks{ parent, (uint8_t *)(parent + (size_t)per_row * ((height + 1) / 2)), per_row };
}

/* Parents in the label image: each pixel has a slot. A node is the index of a pixel in the image; for a block, its upper left
 * pixel. The limits of ccl.h keep it in 32 bits. */
typedef struct InPlace {
    uint32_t *labels;
    uint32_t stride;

    __device__ uint32_t at(uint32_t x, uint32_t y) const { return y * stride + x; }

    __device__ uint32_t &operator[](uint32_t node) const { return labels[node]; }

    /* The provisional label that a root gives. */
    __device__ uint32_t label_of(uint32_t root, uint32_t width) const
    {
        return 1 + (stride == width ? root : root / stride * width + root % stride);
    }
} InPlace;

__device__ static inline InPlace in_place(const CudaVars &vars)
{
    return InPlace{ vars.labels, (uint32_t)vars.label_stride };
}

/* The provisional label that a root in Blocks gives. */
__device__ static inline uint32_t label_of_node(uint32_t node, uint32_t width)
{
    return 1 + (node >> 16) * width + (node & 0xffff);
}

/* ---------------------------------------------------------------- a block and what touches it */

/*
 * The 4x4 pixels around block X: bit 4 * i + j is pixel (x - 1 + j, y - 1 + i), where (x, y) is X's upper left. Bits are set
 * for the foreground pixels of X, and for pixels of other blocks that touch them. If any bit of TOUCHES_Q is set, Q is
 * connected to X.
 */
enum {
    TOUCHES_P = 0x0001,
    TOUCHES_Q = 0x0006,
    TOUCHES_R = 0x0008,
    TOUCHES_S = 0x0110,
    TOUCHES_RIGHT = 0x0880, /* and the four that come after X */
    TOUCHES_BELOW_LEFT = 0x1000,
    TOUCHES_BELOW = 0x6000,
    TOUCHES_BELOW_RIGHT = 0x8000,
    TOUCHES_BEFORE = TOUCHES_P | TOUCHES_Q | TOUCHES_R | TOUCHES_S,
    TOUCHES_ANY = TOUCHES_BEFORE | TOUCHES_RIGHT | TOUCHES_BELOW_LEFT | TOUCHES_BELOW | TOUCHES_BELOW_RIGHT,
};

/* The four pixels of the block at (x, y); x is even. The two pixels of a row take one load where that is possible. Both rows
 * are loaded before one is used. */
__device__ static inline uint32_t block_pixels(const CudaVars &vars, uint32_t x, uint32_t y, uint32_t width,
                                               uint32_t height)
{
    const bool right = x + 1 < width, below = y + 1 < height;
    const uint8_t *const top = vars.mask + y * vars.mask_stride + x;
    const uint8_t *const bottom = top + (below ? vars.mask_stride : 0);
    uint32_t values[4];
    if (right && ((uint32_t)(uintptr_t)vars.mask.pointer | (uint32_t)vars.mask_stride) % 2 == 0) {
        const uint32_t both_top = *(const uint16_t *)top, both_bottom = *(const uint16_t *)bottom;
        values[0] = both_top & 255, values[1] = both_top >> 8;
        values[2] = both_bottom & 255, values[3] = both_bottom >> 8;
    } else {
        values[0] = top[0], values[1] = top[right];
        values[2] = bottom[0], values[3] = bottom[right];
    }
    const uint32_t inside = (right ? ALL_FOUR : TOP_LEFT | BOTTOM_LEFT) & (below ? ALL_FOUR : TOP);
    return inside & ((uint32_t)is_foreground(values[0], vars) | (uint32_t)is_foreground(values[1], vars) << 1 |
                     (uint32_t)is_foreground(values[2], vars) << 2 | (uint32_t)is_foreground(values[3], vars) << 3);
}

/* The bits of `which` around the block at (x, y) whose pixels are `pixels`, and the block's own. Only pixels that can
 * touch it are read (Zavalishin 2016). */
template <uint32_t which>
__device__ static inline uint32_t block_window(const CudaVars &vars, uint32_t pixels, uint32_t x, uint32_t y,
                                               uint32_t width, uint32_t height)
{
    if (!pixels) /* masks are mostly background */
        return 0;
    const uint32_t around = 0x777; /* of a pixel at bit 5 */
    uint32_t near = (pixels & TOP_LEFT ? around : 0) | (pixels & TOP_RIGHT ? around << 1 : 0) |
                    (pixels & BOTTOM_LEFT ? around << 4 : 0) | (pixels & BOTTOM_RIGHT ? around << 5 : 0);
    near &= (x ? 0xffff : 0xeeee) & (y ? 0xffff : 0xfff0); /* without pixels outside the mask */
    near &= x + 2 < width ? 0xffff : x + 1 < width ? 0x7777 : 0x3333;
    near &= y + 2 < height ? 0xffff : y + 1 < height ? 0x0fff : 0x00ff;

    const uint8_t *const corner = vars.mask + y * vars.mask_stride + x - vars.mask_stride - 1; /* maybe outside */
    uint32_t values[16], window = 0; /* all are loaded before one is used */
#pragma unroll
    for (uint32_t i = 0; i < 16; i++)
        values[i] = which >> i & 1 && near >> i & 1 ? corner[i / 4 * vars.mask_stride + i % 4] : 0;
#pragma unroll
    for (uint32_t i = 0; i < 16; i++)
        window |= which >> i & 1 ? (uint32_t)is_foreground(values[i], vars) << i : 0;
    return (window & near) | (pixels & TOP) << 5 | (pixels >> 2) << 9;
}

/* Whether the two label pixels from (x, y) on can be read and written at once; x is even. */
__device__ static inline bool is_label_pair(const CudaVars &vars, uint32_t x, uint32_t width)
{
    return x + 1 < width && ((uint32_t)(uintptr_t)vars.labels.pointer | (uint32_t)vars.label_stride * 4) % 8 == 0;
}

/* The foreground pixels of a block take its label, the others 0. `first`: its pixel TOP_LEFT. */
__device__ static inline void store_block(const CudaVars &vars, uint32_t pixels, uint32_t label, const PixelPlace &first)
{
    const uint32_t x = first.x, y = first.y, width = first.width, height = first.height;
    uint32_t *const top = vars.labels + y * vars.label_stride + x;
    uint32_t *const bottom = top + vars.label_stride;
    const bool below = y + 1 < height;
    const uint2 pairs[2] = { make_uint2(pixels & TOP_LEFT ? label : 0, pixels & TOP_RIGHT ? label : 0),
                             make_uint2(pixels & BOTTOM_LEFT ? label : 0, pixels & BOTTOM_RIGHT ? label : 0) };
    if (is_label_pair(vars, x, width)) {
        *(uint2 *)top = pairs[0];
        if (below)
            *(uint2 *)bottom = pairs[1];
        return;
    }
    top[0] = pairs[0].x;
    if (below)
        bottom[0] = pairs[1].x;
    if (x + 1 < width) {
        top[1] = pairs[0].y;
        if (below)
            bottom[1] = pairs[1].y;
    }
}

/* ---------------------------------------------------------------- kernels with a thread per block, parents in place */

/* The launch of a kernel with a thread for each block. block_of_thread() gives the upper left pixel. */
static inline dim3 block_threads(void)
{
    return dim3(BLOCK_THREADS_X, BLOCK_THREADS_Y);
}

static inline dim3 block_grid(const CudaShape &shape)
{
    return dim3(blocks_for(shape.width, 2 * BLOCK_THREADS_X), blocks_for(shape.height, 2 * BLOCK_THREADS_Y));
}

/* This thread's block; false when there is none. */
__device__ static inline bool block_of_thread(uint32_t width, uint32_t height, uint32_t *x, uint32_t *y)
{
    *x = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    *y = 2 * (blockIdx.y * blockDim.y + threadIdx.y);
    return *x < width && *y < height;
}

/* The steps that the methods have in common. */
CclStatus blocks_start(CudaFrame *frame);                       /* "init": each block is a root */
CclStatus blocks_compress(CudaFrame *frame, bool inline_paths); /* "compress": each block points at its root */
CclStatus blocks_propagate(CudaFrame *frame);                   /* "propagate": pixels take the label; after compress */

#endif
