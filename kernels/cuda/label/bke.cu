/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * BKE: Block-based Komura Equivalence.
 * Allegretti, Bolelli, Grana, "Optimized Block-Based Algorithms to Label Connected Components on GPUs", IEEE TPDS 31(2),
 * 2020, doi 10.1109/TPDS.2019.2934683.
 *
 * With 8-connectivity the foreground of a 2x2 block is one set, so blocks are labelled and not pixels. Komura's idea: a
 * block first takes one connected neighbour as its parent, a plain store, and the chains are compressed before the few
 * other neighbours are united. What a block needs to know of its pixels is kept in one byte.
 *
 *   init      pixels -> each block's byte and parent
 *   compress  each block points at its root
 *   merge     blocks with a further neighbour unite with it
 *   spread    each block finds its root; its pixels take the label
 *
 *     P | Q | R      the neighbours of block X that come before it; each is connected to X when a pixel of it touches
 *     --+---+--      a pixel of X
 *     S | X |
 *
 * Where this departs from the paper, none of it a matter of principle:
 * - Parents and bytes have arrays of their own, a word and a byte per block, instead of unused pixels of the label image:
 *   memory is allocated once here, and half the bytes move.
 * - A node is named by its first foreground pixel, so the smallest node of a component is the component's first pixel.
 *   S may come after X then (X has a pixel in the upper row, S has not); such a pair is left to merge.
 * - A chain of S links inside a warp is skipped at once; and neighbours that are connected among themselves in a way that
 *   another block sees to need no union: in solid areas merge has nothing to do.
 */
#include "../backend.cuh"
#include "../union_find.cuh"

/* A node is y << 16 | x of any pixel of its block; a root's own is that of the block's first foreground pixel. */
typedef struct Blocks {
    uint32_t *parent; /* one per block */
    uint8_t *info;    /* bits 0-3: foreground pixels; INFO_Q, _R, _S: to be united */
    uint32_t per_row; /* blocks, rounded up to 4 */

    __device__ uint32_t &operator[](uint32_t node) const
    {
        return parent[(node >> 17) * per_row + ((node & 0xffff) >> 1)];
    }
} Blocks;

enum {
    TOP_LEFT = 1,
    TOP_RIGHT = 2,
    BOTTOM_LEFT = 4,
    BOTTOM_RIGHT = 8,
    TOP = TOP_LEFT | TOP_RIGHT,
    INFO_Q = 32,
    INFO_R = 64,
    INFO_S = 128,
};

static const uint32_t NO_PARENT = UINT32_MAX; /* of blocks without foreground */
static const unsigned PER_THREAD = 4;         /* blocks of a row that init and compress take at once */
static const unsigned THREADS_X = 32, THREADS_Y = 8;

/* What init needs of the eight pixels [x, x + 8) of a row: bit i is pixel x + i. Outside the mask is background. */
__device__ static uint32_t load_eight(const CudaVars &vars, uint32_t x, uint32_t y, uint32_t width, uint32_t height,
                                      bool aligned)
{
    if (y >= height || x >= width) /* row -1 too: y wraps round */
        return 0;
    const uint8_t *const p = vars.mask + y * vars.mask_stride + x;
    if (aligned && x + 8 <= width) {
        const uint2 bytes = *(const uint2 *)p;
        return foreground_bits(bytes.x, vars) | foreground_bits(bytes.y, vars) << 4;
    }
    uint32_t bits = 0;
    for (uint32_t i = 0; i < min(8u, width - x); i++)
        bits |= (uint32_t)is_foreground(p[i], vars) << i;
    return bits;
}

__device__ static uint32_t load_one(const CudaVars &vars, uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
    return y < height && x < width && is_foreground(vars.mask[y * vars.mask_stride + x], vars);
}

__device__ static uint32_t first_pixel(uint32_t x, uint32_t y, uint32_t pixels)
{
    if (pixels & TOP)
        return y << 16 | (x + !(pixels & TOP_LEFT));
    return (y + 1) << 16 | (x + !(pixels & BOTTOM_LEFT));
}

/* Block X at (x, y): `above` has the pixels (x - 1 .. x + 2, y - 1) in bits 0-3, `left` and `pixels` those of S and X. Its
 * parent, or LINK_S when that is S's; and its byte. */
static const uint32_t LINK_S = UINT32_MAX - 1;

__device__ static uint32_t parent_of_block(uint32_t x, uint32_t y, uint32_t above, uint32_t left, uint32_t pixels,
                                           uint32_t *info)
{
    const bool p_br = above & 1, q_bl = above & 2, q_br = above & 4, r_bl = above & 8;
    const bool s_tr = left & TOP_RIGHT, s_br = left & BOTTOM_RIGHT;
    const bool touches_p = p_br && pixels & TOP_LEFT;
    const bool touches_q = (q_bl || q_br) && pixels & TOP;
    const bool touches_r = r_bl && pixels & TOP_RIGHT;
    const bool touches_s = (s_tr || s_br) && pixels & (TOP_LEFT | BOTTOM_LEFT);
    const bool s_comes_before = left & TOP || !(pixels & TOP);
    const bool links_up = touches_p || touches_q || touches_r;
    const bool links_s = !links_up && touches_s && s_comes_before;

    *info = pixels;
    if (touches_q && touches_p && !q_bl) /* else P and Q touch each other, which Q sees to */
        *info |= INFO_Q;
    if (touches_r && (touches_p || touches_q) && !(touches_q && q_br)) /* Q and R: R sees to that */
        *info |= INFO_R;
    if (touches_s && !links_s && !(s_tr && (touches_p || (touches_q && q_bl)))) /* S and P, S and Q: S does */
        *info |= INFO_S;
    if (links_up)
        return ((y - 1) << 16) | (touches_p ? x - 1 : touches_q ? x : x + 2);
    if (links_s)
        return LINK_S;
    return pixels ? first_pixel(x, y, pixels) : NO_PARENT;
}

__global__ __launch_bounds__(THREADS_X *THREADS_Y) static void init(const CudaVars *pvars, uint32_t width, uint32_t height,
                                                                    Blocks blocks)
{
    const uint32_t bx = (blockIdx.x * THREADS_X + threadIdx.x) * PER_THREAD, by = blockIdx.y * THREADS_Y + threadIdx.y;
    const uint32_t x = 2 * bx, y = 2 * by, lane = threadIdx.x;
    const CudaVars vars = *pvars;
    const bool aligned = ((uintptr_t)vars.mask | vars.mask_stride) % 8 == 0;

    /* Rows y - 1, y and y + 1. The neighbours' pixels come from the neighbour lanes, at the warp's ends from memory. */
    const uint32_t above = load_eight(vars, x, y - 1, width, height, aligned);
    const uint32_t top = load_eight(vars, x, y, width, height, aligned);
    const uint32_t bottom = load_eight(vars, x, y + 1, width, height, aligned);
    uint32_t edge = 0; /* lane 0: left pixels, pair by pair from row y - 1 down; lane 31: the pixel right above */
    if (lane == 0 && x > 0)
        for (uint32_t i = 0; i < 6; i++)
            edge |= load_one(vars, x - 2 + i % 2, y - 1 + i / 2, width, height) << i;
    if (lane == 31)
        edge = load_one(vars, x + 8, y - 1, width, height);
    const uint32_t right = above >> 6 | (top >> 6) << 2 | (bottom >> 6) << 4; /* what the lane to the right needs */
    const uint32_t from_left = __shfl_up_sync(~0u, right, 1), from_right = __shfl_down_sync(~0u, above, 1);
    const uint32_t left = lane ? from_left : edge;
    const uint32_t after = lane < 31 ? from_right & 1 : edge;

    const uint32_t wide_above = (left >> 1 & 1) | above << 1 | after << 9; /* bit 0: pixel x - 1 */
    uint32_t parents[PER_THREAD], bytes = 0, pixels_left = left >> 2;
#pragma unroll
    for (uint32_t i = 0; i < PER_THREAD; i++) {
        const uint32_t pixels = (top >> 2 * i & 3) | (bottom >> 2 * i & 3) << 2;
        uint32_t info;
        parents[i] = parent_of_block(x + 2 * i, y, wide_above >> 2 * i & 15, pixels_left, pixels, &info);
        bytes |= info << 8 * i;
        pixels_left = pixels;
    }
    /* Along a chain of S links the parent is that of the block where the chain begins, or the last one before this warp. */
#pragma unroll
    for (uint32_t i = 1; i < PER_THREAD; i++)
        parents[i] = parents[i] == LINK_S ? parents[i - 1] : parents[i];
    const uint32_t ends = __ballot_sync(~0u, parents[PER_THREAD - 1] != LINK_S) & ((1u << lane) - 1);
    const uint32_t carried = __shfl_sync(~0u, parents[PER_THREAD - 1], ends ? 31 - __clz(ends) : 0);
    const uint32_t begin = ends ? carried : y << 16 | (x - 8 * lane - 2);
#pragma unroll
    for (uint32_t i = 0; i < PER_THREAD; i++)
        parents[i] = parents[i] == LINK_S ? begin : parents[i];

    if (bx < blocks.per_row && y < height) {
        const uint32_t index = by * blocks.per_row + bx;
        *(uint4 *)&blocks.parent[index] = make_uint4(parents[0], parents[1], parents[2], parents[3]);
        *(uint32_t *)&blocks.info[index] = bytes;
    }
}

/* Neighbouring blocks mostly have the same parent: the way up is gone once. */
__global__ static void compress_blocks(uint32_t n_rows, Blocks blocks)
{
    const uint32_t bx = (blockIdx.x * THREADS_X + threadIdx.x) * PER_THREAD, by = blockIdx.y * THREADS_Y + threadIdx.y;
    if (bx >= blocks.per_row || by >= n_rows)
        return;
    uint32_t *const own = &blocks.parent[by * blocks.per_row + bx];
    const uint4 before = *(const uint4 *)own;
    const uint32_t parents[PER_THREAD] = { before.x, before.y, before.z, before.w };

    uint32_t last = NO_PARENT, root = NO_PARENT;
#pragma unroll
    for (uint32_t i = 0; i < PER_THREAD; i++) {
        if (parents[i] == NO_PARENT)
            continue;
        if (parents[i] == last) {
            if (root != last)
                own[i] = root;
            continue;
        }
        last = parents[i];
        root = compress(blocks, by << 17 | (bx + i) << 1);
    }
}

/* Most pairs meet again at the same parent: nothing to do then. */
__device__ static void unite_blocks(const Blocks &blocks, uint32_t a, uint32_t b)
{
    const uint32_t parent_a = blocks[a], parent_b = blocks[b];
    if (parent_a != parent_b)
        unite(blocks, parent_a, parent_b);
}

__global__ static void merge(uint32_t n_rows, Blocks blocks)
{
    const uint32_t bx = blockIdx.x * THREADS_X + threadIdx.x, by = blockIdx.y * THREADS_Y + threadIdx.y;
    if (bx >= blocks.per_row || by >= n_rows)
        return;
    const uint32_t info = blocks.info[by * blocks.per_row + bx];
    const uint32_t node = by << 17 | bx << 1;
    if (info & INFO_Q)
        unite_blocks(blocks, node, node - (2 << 16));
    if (info & INFO_R)
        unite_blocks(blocks, node, node - (2 << 16) + 2);
    if (info & INFO_S)
        unite_blocks(blocks, node, node - 2);
}

/* The label of a block's pixels: 1 + index of the component's first pixel. */
__device__ static uint32_t label_of_block(const Blocks &blocks, uint32_t node, uint32_t width)
{
    const uint32_t root = compress(blocks, node);
    return 1 + (root >> 16) * width + (root & 0xffff);
}

__device__ static void store_quad(uint32_t *to, uint4 v, uint32_t n, bool aligned)
{
    if (aligned && n >= 4) {
        *(uint4 *)to = v;
        return;
    }
    to[0] = v.x;
    if (n > 1)
        to[1] = v.y;
    if (n > 2)
        to[2] = v.z;
    if (n > 3)
        to[3] = v.w;
}

/* Two blocks per thread: 16 bytes of two rows. */
__global__ static void spread(const CudaVars *vars, uint32_t width, uint32_t height, Blocks blocks)
{
    const uint32_t bx = (blockIdx.x * THREADS_X + threadIdx.x) * 2, by = blockIdx.y * THREADS_Y + threadIdx.y;
    const uint32_t x = bx * 2, y = by * 2;
    if (x >= width || y >= height)
        return;
    uint32_t *const labels = vars->labels + y * vars->label_stride + x;
    const size_t stride = vars->label_stride;
    const bool aligned = ((uintptr_t)vars->labels | stride * 4) % 16 == 0;

    const uint32_t info = *(const uint16_t *)&blocks.info[by * blocks.per_row + bx];
    const uint32_t pixels_a = info, pixels_b = info >> 8;
    const uint32_t node = y << 16 | x;
    const uint32_t a = pixels_a & 15 ? label_of_block(blocks, node, width) : 0;
    const uint32_t b = pixels_b & 15 ? label_of_block(blocks, node + 2, width) : 0;

    store_quad(labels,
               make_uint4(pixels_a & TOP_LEFT ? a : 0, pixels_a & TOP_RIGHT ? a : 0, pixels_b & TOP_LEFT ? b : 0,
                          pixels_b & TOP_RIGHT ? b : 0),
               width - x, aligned);
    if (y + 1 < height)
        store_quad(labels + stride,
                   make_uint4(pixels_a & BOTTOM_LEFT ? a : 0, pixels_a & BOTTOM_RIGHT ? a : 0,
                              pixels_b & BOTTOM_LEFT ? b : 0, pixels_b & BOTTOM_RIGHT ? b : 0),
                   width - x, aligned);
}

static uint32_t blocks_per_row(uint32_t width)
{
    return (width + 7) / 8 * 4;
}

static size_t workspace_size(const CclContext *context)
{
    return (size_t)blocks_per_row(context->config.max_width) * ((context->config.max_height + 1) / 2) * 5;
}

static CclStatus label(CclContext *context, CclFrame *ccl_frame)
{
    CudaFrame *const frame = cuda_frame(ccl_frame);
    const uint32_t width = frame->shape.width, height = frame->shape.height;
    const uint32_t per_row = blocks_per_row(width), n_rows = (height + 1) / 2;
    uint32_t *const parent = (uint32_t *)cuda_workspace(context);
    const Blocks blocks = { parent, (uint8_t *)(parent + (size_t)per_row * n_rows), per_row };

    const dim3 threads(THREADS_X, THREADS_Y);
    const dim3 grid(blocks_for(per_row, THREADS_X), blocks_for(n_rows, THREADS_Y));
    const dim3 half(blocks_for(per_row, 2 * THREADS_X), grid.y), quarter(blocks_for(per_row, PER_THREAD * THREADS_X), grid.y);

    CCL_CUDA_LAUNCH(frame, "init", init, quarter, threads, 0, frame->vars, width, height, blocks);
    CCL_CUDA_LAUNCH(frame, "compress", compress_blocks, quarter, threads, 0, n_rows, blocks);
    CCL_CUDA_LAUNCH(frame, "merge", merge, grid, threads, 0, n_rows, blocks);
    CCL_CUDA_LAUNCH(frame, "spread", spread, half, threads, 0, frame->vars, width, height, blocks);
    return CCL_OK;
}

const CclAlgorithm ccl_cuda_bke = {
    .info = { .name = "bke", .title = "Block-based Komura Equivalence", .paper = "Allegretti, Bolelli & Grana, TPDS 2020",
              .backend = CCL_BACKEND_CUDA, .connectivity = CCL_CONNECT_8 },
    .first_pixel_roots = true,
    .workspace_size = workspace_size,
    .label = label,
};
