/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * BRB: Block-Run-Based labelling. Chen, Zhao, Tao, Sang, "Block-run-based connected component labelling algorithm for GPGPU
 * using shared memory", Electronics Letters 47, 2011, pp. 1309-1311; written from Bolelli et al., TPDS 2024, section III-A6.
 *
 * The image is divided into block rows of two pixel rows; each pixel row belongs to two block rows. With 8-connectivity,
 * consecutive columns of a block row with foreground are connected: a run. A 2x2 block belongs to at most one run. Block rows
 * are processed one after the other. A vote of the warp finds the runs. Then the roots of the block row before and of this one
 * take the lowest of each other's numbers, until nothing changes. This is done in shared memory. The result for a block is its
 * parent, in the next block row or its own.
 *
 *   scan       tiles: runs of a block row; until nothing changes: the row before, then this row takes the lowest
 *   join       unites what touches across the edges of tiles
 *   compress   each block points at its root
 *   propagate  pixels take their block's label
 *
 * Differences from the paper:
 * - Images of any size and labels of 32 bits. The published code has labels of 16 bits, kernels for widths of 512, 1024 and
 *   2048, and a thread block for each strip of whole rows. A single thread block then iterates over the strips' edges. Here
 *   tiles have 512 columns and 16 rows, and union-find joins them.
 * - Rows are processed from the bottom up, so that a block's parent comes before it, as union-find needs it.
 * - The lowest number is found with atomicMin. In the published code threads write to one address and then check which one
 *   succeeded, which takes more iterations and is a race.
 * - In the published second scan, roots pass labels on from row to row. Here every block finds its own.
 * - Parents are in the label image, at the first pixel of each pair.
 */
#include "cuda/block.cuh"

static const unsigned THREADS = 256; /* blocks in a row of a tile */
static const unsigned TILE_ROWS = 16;
static const uint32_t NONE = UINT32_MAX;

/* The pixels (x, y) and (x + 1, y) in two bits, 0 outside the mask; x is even. In one load where that is possible. */
__device__ static uint32_t pair_at(const CudaVars &vars, uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
    if (x >= width || y >= height)
        return 0;
    const uint8_t *const p = vars.mask + y * vars.mask_stride + x;
    if (x + 1 < width && ((uintptr_t)vars.mask | vars.mask_stride) % 2 == 0) {
        const uint32_t both = *(const uint16_t *)p;
        return (uint32_t)is_foreground(both & 255, vars) | (uint32_t)is_foreground(both >> 8, vars) << 1;
    }
    return (uint32_t)is_foreground(p[0], vars) | (x + 1 < width ? (uint32_t)is_foreground(p[1], vars) << 1 : 0);
}

/* The column where the run of this thread's block begins; NONE for an empty block. `columns`: those with foreground. All
 * threads of the block call it, and call it again only after another barrier. */
__device__ static uint32_t begin_of_run(uint32_t columns, uint32_t *last_begins)
{
    __shared__ uint32_t ends[THREADS / 32]; /* whether a warp's last block touches the next warp */
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const uint32_t reaching = __ballot_sync(~0u, columns & 2);
    if (lane == 31)
        ends[warp] = columns & 2;
    __syncthreads();
    const bool left = lane ? reaching >> (lane - 1) & 1 : warp && ends[warp - 1];
    const bool begins = columns && !(columns & 1 && left);
    const uint32_t all = __ballot_sync(~0u, begins), here = all & (~0u >> (31 - lane));
    if (lane == 31)
        last_begins[warp] = all ? warp * 32 + 31 - __clz(all) : NONE;
    __syncthreads();
    if (!columns)
        return NONE;
    if (here)
        return warp * 32 + 31 - __clz(here);
    uint32_t before = warp - 1; /* the run comes from a warp to the left */
    while (last_begins[before] == NONE)
        before--;
    return last_begins[before];
}

/* The node of the root, in block row y, of the block at x: at column `root` of the tile, or the block itself. */
__device__ static uint32_t own_root(const InPlace &image, uint32_t x0, uint32_t x, uint32_t y, uint32_t root)
{
    return image.at(root != NONE ? x0 + 2 * root : x, y);
}

/*
 * A thread has the same columns in all block rows of the tile. Block row y has the pixel rows y and y + 1. `below` is the
 * column of the root, in the block row below, of the block below. At the end of an iteration, blocks of that row are linked to
 * this row's roots.
 */
__global__ __launch_bounds__(THREADS) static void scan(const __grid_constant__ CudaVars vars, uint32_t width,
                                                       uint32_t height)
{
    __shared__ uint32_t here[THREADS];  /* parents of this block row's runs, by the column where they begin */
    __shared__ uint32_t links[THREADS]; /* of the roots below: the lowest root of this row that they touch */
    __shared__ uint32_t last_begins[THREADS / 32];

    const InPlace image = in_place(vars);
    const uint32_t x0 = blockIdx.x * THREADS * 2, y0 = blockIdx.y * TILE_ROWS, me = threadIdx.x, x = x0 + 2 * me;
    const uint32_t y_end = min(y0 + TILE_ROWS, height);

    uint32_t below = NONE, lower = pair_at(vars, x, y_end, width, height);
    for (uint32_t y = y_end; y-- > y0;) {
        const uint32_t upper = pair_at(vars, x, y, width, height);
        const uint32_t begin = begin_of_run(upper | lower, last_begins);
        const bool touches = lower && below != NONE; /* the pixels in `lower` are in both blocks */
        uint32_t root = begin;
        here[me] = me;
        links[me] = NONE;
        bool changed;
        do {
            __syncthreads();
            if (touches)
                atomicMin(&links[below], root);
            __syncthreads();
            if (touches && links[below] < root)
                atomicMin(&here[root], links[below]);
            __syncthreads();
            const uint32_t old = root;
            root = root == NONE ? NONE : find(here, root);
            changed = root != old;
        } while (__syncthreads_or(changed));

        if (y + 1 < y_end && x < width) {
            const bool links_up = below != NONE && links[below] != NONE;
            image[image.at(x, y + 1)] =
                links_up ? image.at(x0 + 2 * links[below], y) : own_root(image, x0, x, y + 1, below);
        }
        __syncthreads();
        below = root;
        lower = upper;
    }
    if (x < width)
        image[image.at(x, y0)] = own_root(image, x0, x, y0, below);
}

/* A thread per pair of the rows above an edge between tiles, then one per block row right of an upright edge. */
__global__ static void join(const __grid_constant__ CudaVars vars, uint32_t width, uint32_t height)
{
    const uint32_t per_row = (width + 1) / 2, n_edges = (height - 1) / TILE_ROWS, n_columns = (per_row - 1) / THREADS;
    const InPlace image = in_place(vars);
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n_edges * per_row) {
        const uint32_t x = i % per_row * 2, y = (i / per_row + 1) * TILE_ROWS;
        if (pair_at(vars, x, y, width, height)) /* in this block row and in the one above */
            unite(image, image.at(x, y), image.at(x, y - 1));
        return;
    }
    i -= n_edges * per_row;
    if (i >= n_columns * height)
        return;
    const uint32_t y = i / n_columns, x = (i % n_columns + 1) * THREADS * 2;
    const uint32_t left = pair_at(vars, x - 2, y, width, height) | pair_at(vars, x - 2, y + 1, width, height);
    const uint32_t right = pair_at(vars, x, y, width, height) | pair_at(vars, x, y + 1, width, height);
    if (left & 2 && right & 1)
        unite(image, image.at(x, y), image.at(x - 2, y));
}

/* This thread's pair of pixels. */
__device__ static bool pair_of_thread(uint32_t width, uint32_t height, uint32_t *x, uint32_t *y)
{
    *x = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    *y = blockIdx.y * blockDim.y + threadIdx.y;
    return *x < width && *y < height;
}

__global__ static void compress_pairs(const __grid_constant__ CudaVars vars, uint32_t width, uint32_t height)
{
    uint32_t x, y;
    if (pair_of_thread(width, height, &x, &y))
        compress(in_place(vars), in_place(vars).at(x, y));
}

__global__ static void propagate(const __grid_constant__ CudaVars vars, uint32_t width, uint32_t height)
{
    uint32_t x, y;
    if (!pair_of_thread(width, height, &x, &y))
        return;
    const uint32_t pixels = pair_at(vars, x, y, width, height);
    const InPlace image = in_place(vars);
    const uint32_t label = image.label_of(image[image.at(x, y)], width);
    uint32_t *const to = vars.labels + y * vars.label_stride + x;
    to[0] = pixels & 1 ? label : 0;
    if (x + 1 < width)
        to[1] = pixels & 2 ? label : 0;
}

static CclStatus label(CclContext *, CclFrame *ccl_frame)
{
    CudaFrame *const frame = cuda_frame(ccl_frame);
    const uint32_t width = frame->shape.width, height = frame->shape.height, per_row = (width + 1) / 2;
    const dim3 tiles(blocks_for(per_row, THREADS), blocks_for(height, TILE_ROWS));
    const uint32_t n_joins = (height - 1) / TILE_ROWS * per_row + (per_row - 1) / THREADS * height;
    const dim3 threads(BLOCK_THREADS_X, BLOCK_THREADS_Y);
    const dim3 grid(blocks_for(per_row, BLOCK_THREADS_X), blocks_for(height, BLOCK_THREADS_Y));

    const unsigned scanning = min(THREADS, blocks_for(per_row, 32) * 32); /* no idle warps in narrow images */
    CCL_CUDA_LAUNCH(frame, "scan", scan, tiles, scanning, 0, frame->vars, width, height);
    if (n_joins)
        CCL_CUDA_LAUNCH(frame, "join", join, blocks_for(n_joins, THREADS), THREADS, 0, frame->vars, width, height);
    CCL_CUDA_LAUNCH(frame, "compress", compress_pairs, grid, threads, 0, frame->vars, width, height);
    CCL_CUDA_LAUNCH(frame, "propagate", propagate, grid, threads, 0, frame->vars, width, height);
    return CCL_OK;
}

const CclAlgorithm ccl_cuda_brb = {
    .info = { .name = "brb", .title = "Block-Run-Based", .paper = "Chen, Zhao, Tao & Sang, Electronics Letters 2011",
              .backend = CCL_BACKEND_CUDA, .connectivity = CCL_CONNECT_8 },
    .unit = "2x2 block, run",
    .kind = "iterative",
    .label = label,
};
