/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * BKE: Block-based Komura Equivalence, tuned; bke_published.cu has it in its published shape.
 * Allegretti, Bolelli, Grana, "Optimized Block-Based Algorithms to Label Connected Components on GPUs", IEEE TPDS 31(2),
 * 2020, doi 10.1109/TPDS.2019.2934683.
 *
 * With 8-connectivity the foreground of a 2x2 block is one set, so the nodes are blocks instead of pixels. Komura's idea: a
 * block first takes one connected neighbour as its parent, with a plain store. The chains are compressed before the few other
 * neighbours are united. One byte per block keeps what later kernels need to know of its pixels.
 *
 *   init       pixels -> each block's byte and parent
 *   compress   each block points at its root
 *   merge      blocks with a further neighbour unite with it
 *   propagate  each block finds its root; its pixels take the label
 *
 * P, Q, R and S are the neighbours of block X that come before it, see block.cuh.
 *
 * Differences from the paper, none of them in principle:
 * - Parents and bytes have arrays of their own, a word and a byte per block, instead of unused pixels of the label image.
 *   Memory is allocated once here, and half as many bytes are moved.
 * - The number of a node is its first foreground pixel, so the smallest node of a component is its first pixel. Then S may come
 *   after X, if X has a pixel in the upper row and S has none. Such a pair is left to merge.
 * - A chain of S links inside a warp is skipped at once. Neighbours that another block connects need no union: in solid areas
 *   merge has nothing to do.
 */
#include "cuda/block.cuh"

/* The node of a root is its block's first foreground pixel. Blocks.info has the pixels in bits 0 to 3, and these neighbours to
 * unite: */
enum {
    INFO_Q = 32,
    INFO_R = 64,
    INFO_S = 128,
};

static const uint32_t NO_PARENT = UINT32_MAX; /* of blocks without foreground */
static const unsigned PER_THREAD = 4;         /* blocks of a row that init takes at once */
static const unsigned THREADS_X = 32, THREADS_Y = 8;

/* The eight pixels from x on, of rows y - 1, y and y + 1: bit i of each is pixel x + i. Outside the mask is background. */
typedef struct Rows {
    uint32_t above, top, bottom;
} Rows;

__device__ static uint32_t load_eight(const CudaVars &vars, uint32_t x, uint32_t y, uint32_t width)
{
    const uint8_t *const p = vars.mask + y * vars.mask_stride + x;
    uint32_t bits = 0;
    for (uint32_t i = 0; i < min(8u, width - x); i++)
        bits |= (uint32_t)is_foreground(p[i], vars) << i;
    return bits;
}

__device__ static Rows load_rows(const CudaVars &vars, uint32_t x, uint32_t y, uint32_t width, uint32_t height, bool aligned)
{
    Rows rows = { 0, 0, 0 };
    if (x >= width || y >= height) /* x may have wrapped around */
        return rows;
    const uint32_t y_above = y ? y - 1 : 0, y_bottom = min(y + 1, height - 1);
    if (aligned && x + 8 <= width) {
        const uint8_t *const p = vars.mask + x; /* all three are loaded before one is used */
        const uint2 above = *(const uint2 *)(p + y_above * vars.mask_stride);
        const uint2 top = *(const uint2 *)(p + y * vars.mask_stride);
        const uint2 bottom = *(const uint2 *)(p + y_bottom * vars.mask_stride);
        rows.above = foreground_bits(above.x, vars) | foreground_bits(above.y, vars) << 4;
        rows.top = foreground_bits(top.x, vars) | foreground_bits(top.y, vars) << 4;
        rows.bottom = foreground_bits(bottom.x, vars) | foreground_bits(bottom.y, vars) << 4;
    } else {
        rows.above = load_eight(vars, x, y_above, width);
        rows.top = load_eight(vars, x, y, width);
        rows.bottom = load_eight(vars, x, y_bottom, width);
    }
    rows.above = y ? rows.above : 0;
    rows.bottom = y + 1 < height ? rows.bottom : 0;
    return rows;
}

/* The last two pixels of each row, from above down. */
__device__ static uint32_t last_pairs(const Rows &rows)
{
    return rows.above >> 6 | (rows.top >> 6) << 2 | (rows.bottom >> 6) << 4;
}

/* The four blocks of a thread at once: bit 2 * i of each word is about block i. */
typedef struct Quad {
    uint32_t top_left, top_right, bottom_left, bottom_right;
    uint32_t touches_p, touches_q, touches_r, links_s; /* links_s: S is the parent */
    uint32_t unites_q, unites_r, unites_s;
} Quad;

/* From rows of pixels with one more pixel on either side: bit 0 is pixel x - 1. */
__device__ static Quad look_around(uint32_t above, uint32_t top, uint32_t bottom, uint32_t first_of_left)
{
    const uint32_t even = 0x55;
    Quad q;
    q.top_left = top >> 1 & even;
    q.top_right = top >> 2 & even;
    q.bottom_left = bottom >> 1 & even;
    q.bottom_right = bottom >> 2 & even;
    const uint32_t p_br = above & even, q_bl = above >> 1 & even, q_br = above >> 2 & even, r_bl = above >> 3 & even;
    const uint32_t s_tr = top & even, s_br = bottom & even;
    const uint32_t s_tl = (q.top_left << 2 | first_of_left) & even; /* of the block to the left */
    const uint32_t x_top = q.top_left | q.top_right;

    q.touches_p = p_br & q.top_left;
    q.touches_q = (q_bl | q_br) & x_top;
    q.touches_r = r_bl & q.top_right;
    const uint32_t touches_s = (s_tr | s_br) & (q.top_left | q.bottom_left);
    const uint32_t s_comes_before = s_tl | s_tr | ~x_top;
    q.links_s = touches_s & s_comes_before & ~(q.touches_p | q.touches_q | q.touches_r);

    /* Not if the parent touches that neighbour too: then an earlier block connects them. */
    q.unites_q = q.touches_q & q.touches_p & ~q_bl;
    q.unites_r = q.touches_r & (q.touches_p | q.touches_q) & ~(q.touches_q & q_br);
    q.unites_s = touches_s & ~q.links_s & ~(s_tr & (q.touches_p | (q.touches_q & q_bl)));
    return q;
}

static const uint32_t LINK_S = UINT32_MAX - 1; /* in place of a parent, for now */

__device__ static uint32_t parent_of_block(const Quad &q, uint32_t i, uint32_t x, uint32_t y)
{
    const uint32_t bit = 1u << 2 * i;
    if (q.touches_p & bit)
        return ((y - 1) << 16) | (x - 1);
    if (q.touches_q & bit)
        return ((y - 1) << 16) | x;
    if (q.touches_r & bit)
        return ((y - 1) << 16) | (x + 2);
    if (q.links_s & bit)
        return LINK_S;
    if ((q.top_left | q.top_right) & bit)
        return y << 16 | (x + !(q.top_left & bit));
    if ((q.bottom_left | q.bottom_right) & bit)
        return (y + 1) << 16 | (x + !(q.bottom_left & bit));
    return NO_PARENT;
}

__device__ static uint32_t info_of_block(const Quad &q, uint32_t i)
{
    const auto bit = [i](uint32_t word, uint32_t info) { return word >> 2 * i & 1 ? info : 0; };
    return bit(q.top_left, TOP_LEFT) | bit(q.top_right, TOP_RIGHT) | bit(q.bottom_left, BOTTOM_LEFT) |
           bit(q.bottom_right, BOTTOM_RIGHT) | bit(q.unites_q, INFO_Q) | bit(q.unites_r, INFO_R) | bit(q.unites_s, INFO_S);
}

static const uint32_t TILE_WIDTH = THREADS_X * PER_THREAD; /* blocks */

/* Climbs from a node while the parents are in this thread block's tile. There, block i of lane l is in column i * 32 + l. */
__device__ static uint32_t leave_tile(const uint32_t (*tile)[TILE_WIDTH], uint32_t node)
{
    for (;;) {
        const uint32_t column = ((node & 0xffff) >> 1) - blockIdx.x * TILE_WIDTH, row = (node >> 17) - blockIdx.y * THREADS_Y;
        if (column >= TILE_WIDTH || row >= THREADS_Y) /* NO_PARENT too */
            return node;
        const uint32_t parent = tile[row][column % PER_THREAD * THREADS_X + column / PER_THREAD];
        if (((parent ^ node) & ~0x10001u) == 0)
            return parent; /* a root: its own number */
        node = parent;
    }
}

/* The blocks of a chain of S links take the parent of the block where the chain begins, or the last block before this warp. */
__device__ static void resolve_links(uint32_t *parents, uint32_t x, uint32_t y)
{
    const uint32_t lane = threadIdx.x;
#pragma unroll
    for (uint32_t i = 1; i < PER_THREAD; i++)
        parents[i] = parents[i] == LINK_S ? parents[i - 1] : parents[i];
    const uint32_t ends = __ballot_sync(~0u, parents[PER_THREAD - 1] != LINK_S) & ((1u << lane) - 1);
    const uint32_t carried = __shfl_sync(~0u, parents[PER_THREAD - 1], ends ? 31 - __clz(ends) : 0);
    const uint32_t begin = ends ? carried : y << 16 | (x - 8 * lane - 2);
#pragma unroll
    for (uint32_t i = 0; i < PER_THREAD; i++)
        parents[i] = parents[i] == LINK_S ? begin : parents[i];
}

__global__ __launch_bounds__(THREADS_X *THREADS_Y) static void init(const __grid_constant__ CudaVars vars,
                                                                    uint32_t width, uint32_t height, Blocks blocks)
{
    const uint32_t bx = (blockIdx.x * THREADS_X + threadIdx.x) * PER_THREAD, by = blockIdx.y * THREADS_Y + threadIdx.y;
    const uint32_t x = 2 * bx, y = 2 * by, lane = threadIdx.x;
    __shared__ uint32_t tile[THREADS_Y][TILE_WIDTH];
    const bool aligned = ((uintptr_t)vars.mask | vars.mask_stride) % 8 == 0;

    /* The neighbours' pixels come from neighbouring lanes, at the ends of the warp from memory. */
    const Rows rows = load_rows(vars, x, y, width, height, aligned);
    const uint32_t top = rows.top, bottom = rows.bottom, above = rows.above;
    const uint32_t edge_x = lane == 0 ? x - 8 : lane == 31 ? x + 8 : width;
    const Rows edge = load_rows(vars, edge_x, y, width, height, aligned);
    const uint32_t right = last_pairs(rows); /* for the lane to the right */
    const uint32_t from_left = __shfl_up_sync(~0u, right, 1), from_right = __shfl_down_sync(~0u, above, 1);
    const uint32_t left = lane ? from_left : last_pairs(edge);
    const uint32_t after = (lane < 31 ? from_right : edge.above) & 1;

    uint32_t parents[PER_THREAD] = { NO_PARENT, NO_PARENT, NO_PARENT, NO_PARENT }, bytes = 0;
    if (__any_sync(~0u, top | bottom)) { /* masks are mostly background */
        const Quad quad = look_around((left >> 1 & 1) | above << 1 | after << 9, (left >> 3 & 1) | top << 1,
                                      (left >> 5 & 1) | bottom << 1, left >> 2 & 1);
#pragma unroll
        for (uint32_t i = 0; i < PER_THREAD; i++) {
            parents[i] = parent_of_block(quad, i, x + 2 * i, y);
            bytes |= info_of_block(quad, i) << 8 * i;
        }
        resolve_links(parents, x, y);
    }
    /* Climbs through the rows of this thread block in shared memory. Chains leave it, or end, in at most eight steps. */
#pragma unroll
    for (uint32_t i = 0; i < PER_THREAD; i++)
        tile[threadIdx.y][i * THREADS_X + lane] = parents[i];
    __syncthreads();
#pragma unroll
    for (uint32_t i = 0; i < PER_THREAD; i++)
        parents[i] = leave_tile(tile, parents[i]);

    if (bx < blocks.per_row && y < height) {
        const uint32_t index = by * blocks.per_row + bx;
        *(uint4 *)&blocks.parent[index] = make_uint4(parents[0], parents[1], parents[2], parents[3]);
        *(uint32_t *)&blocks.info[index] = bytes;
    }
}

__global__ static void compress_blocks(uint32_t n_rows, Blocks blocks)
{
    const uint32_t bx = blockIdx.x * THREADS_X + threadIdx.x, by = blockIdx.y * THREADS_Y + threadIdx.y;
    if (bx >= blocks.per_row || by >= n_rows)
        return;
    const uint32_t node = by << 17 | bx << 1;
    if (blocks[node] != NO_PARENT)
        compress(blocks, node);
}

/* Both blocks of a pair mostly have the same parent: then nothing is left to do. */
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
    return label_of_node(compress(blocks, node), width);
}

/* A thread has two blocks: 16 bytes of each of two rows. */
__global__ static void propagate(const __grid_constant__ CudaVars vars, uint32_t width, uint32_t height, Blocks blocks)
{
    const uint32_t bx = (blockIdx.x * THREADS_X + threadIdx.x) * 2, by = blockIdx.y * THREADS_Y + threadIdx.y;
    const uint32_t x = bx * 2, y = by * 2;
    if (x >= width || y >= height)
        return;
    uint32_t *const labels = vars.labels + y * vars.label_stride + x;
    const size_t stride = vars.label_stride;
    const bool aligned = ((uintptr_t)vars.labels | stride * 4) % 16 == 0;

    const uint32_t info = *(const uint16_t *)&blocks.info[by * blocks.per_row + bx];
    const uint32_t pixels_a = info, pixels_b = info >> 8;
    const uint32_t node = y << 16 | x;
    const uint32_t a = pixels_a & ALL_FOUR ? label_of_block(blocks, node, width) : 0;
    const uint32_t b = pixels_b & ALL_FOUR ? label_of_block(blocks, node + 2, width) : 0;

    store_four(labels,
               make_uint4(pixels_a & TOP_LEFT ? a : 0, pixels_a & TOP_RIGHT ? a : 0, pixels_b & TOP_LEFT ? b : 0,
                          pixels_b & TOP_RIGHT ? b : 0),
               width - x, aligned);
    if (y + 1 < height)
        store_four(labels + stride,
                   make_uint4(pixels_a & BOTTOM_LEFT ? a : 0, pixels_a & BOTTOM_RIGHT ? a : 0,
                              pixels_b & BOTTOM_LEFT ? b : 0, pixels_b & BOTTOM_RIGHT ? b : 0),
                   width - x, aligned);
}

static size_t workspace_size(const CclContext *context)
{
    return blocks_size(context->config.max_width, context->config.max_height);
}

static CclStatus label(CclContext *context, CclFrame *ccl_frame)
{
    CudaFrame *const frame = cuda_frame(ccl_frame);
    const uint32_t width = frame->shape.width, height = frame->shape.height, n_rows = (height + 1) / 2;
    const Blocks blocks = blocks_at(frame->workspace, width, height);

    const dim3 threads(THREADS_X, THREADS_Y);
    const dim3 grid(blocks_for(blocks.per_row, THREADS_X), blocks_for(n_rows, THREADS_Y));
    const dim3 half(blocks_for(blocks.per_row, 2 * THREADS_X), grid.y);
    const dim3 quarter(blocks_for(blocks.per_row, PER_THREAD * THREADS_X), grid.y);

    CCL_CUDA_LAUNCH(frame, "init", init, quarter, threads, 0, frame->vars, width, height, blocks);
    CCL_CUDA_LAUNCH(frame, "compress", compress_blocks, grid, threads, 0, n_rows, blocks);
    CCL_CUDA_LAUNCH(frame, "merge", merge, grid, threads, 0, n_rows, blocks);
    CCL_CUDA_LAUNCH(frame, "propagate", propagate, half, threads, 0, frame->vars, width, height, blocks);
    return CCL_OK;
}

const CclAlgorithm ccl_cuda_bke = {
    .info = { .name = "bke", .title = "Block-based Komura Equivalence, tuned",
              .paper = "Allegretti, Bolelli & Grana, TPDS 2020", .backend = CCL_BACKEND_CUDA,
              .connectivity = CCL_CONNECT_8 },
    .unit = "2x2 block",
    .bytes_per_pixel = 1.25,
    .first_pixel_roots = true,
    .workspace_size = workspace_size,
    .label = label,
};
