/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * CclShapeCounts, from the runs of a tile. Each pixel is compared with its neighbours on the left and above, so a tile needs
 * the row above it and a pixel on each side.
 *
 *     above   . # # # . # # .     pairs of runs that touch, each counted at one pixel of the lower run: where a run above
 *     here    . . # # # # . .     begins, at the lower run's first pixel, or at its last one
 */
#ifndef CCL_CUDA_RUNS_SHAPE_CUH
#define CCL_CUDA_RUNS_SHAPE_CUH

#include "cuda/runs/counts.cuh"

/* In the order of CclShapeCounts. */
enum { EULER, RUNS, TOPS, DIAGONALS, N_SHAPE };
static_assert(sizeof(CclShapeCounts) == N_SHAPE * sizeof(uint32_t), "the counts of a component are an array");

typedef struct ShapeSums {
    uint32_t of[N_SHAPE];
} ShapeSums;

/* Hash table of the counts of a block's components. */
typedef struct BlockShapes {
    uint32_t ids[SLOTS]; /* place in the table + 1; 0: free */
    uint32_t fields[N_SHAPE][SLOTS];
} BlockShapes;

/* ---------------------------------------------------------------- pixels */

/* A word of a row and the one above, and both moved by a pixel: bit x has the neighbour of pixel x. */
typedef struct Neighbours {
    uint64_t left, right, above, above_left, above_right;
} Neighbours;

__device__ static inline Neighbours neighbours_of(const uint64_t *here)
{
    const uint64_t *const above = here - AROUND_COLUMNS;
    return Neighbours{ here[0] << 1 | here[-1] >> 63, here[0] >> 1 | here[1] << 63, above[0], above[0] << 1 | above[-1] >> 63,
                       above[0] >> 1 | above[1] << 63 };
}

/* Adds the pixels of a run in one row of a word. */
__device__ static inline void add_pixels_of_run(ShapeSums *to, const Neighbours &to_pixel, uint64_t pixels, bool eight)
{
    const Neighbours &n = to_pixel;
    const uint64_t firsts = pixels & ~n.left, lasts = pixels & ~n.right;
    const uint32_t n_pairs = eight ? __popcll(pixels & n.above & ~n.above_left) + __popcll(firsts & n.above_left) +
                                         __popcll(lasts & n.above_right & ~n.above)
                                   : __popcll(pixels & n.above & ~(n.left & n.above_left));
    to->of[EULER] += __popcll(firsts) - n_pairs;
    to->of[RUNS] += __popcll(firsts);
    to->of[TOPS] += __popcll(pixels & ~n.above);
    to->of[DIAGONALS] += __popcll(pixels & ~n.above_left) + __popcll(pixels & ~n.above_right);
}

/* 4-connected: a corner joins no runs. If it belongs to another component, then it is background for this one. */
__device__ static inline uint32_t foreign_corners(const CountTile &tile, const Neighbours &n, uint64_t pixels, uint32_t at,
                                                  uint32_t id)
{
    const uint64_t left = pixels & ~n.left & n.above_left & ~n.above, right = pixels & ~n.right & n.above_right & ~n.above;
    const uint32_t x = blockIdx.x * 2048 + at % 32 * 64, y = blockIdx.y * TILE_ROWS + at / 32;
    uint32_t n_foreign = 0;
    if (left)
        n_foreign += id_at(tile, x + __ffsll(left) - 2, y - 1) != id;
    if (right)
        n_foreign += id_at(tile, x + __ffsll(right), y - 1) != id;
    return n_foreign;
}

/* Adds a run of the tile: one row of it, or two rows of a strip. entry: of Plan.runs. */
__device__ static inline void add_shape(ShapeSums *to, const CountTile &tile, uint32_t entry, uint32_t id, bool strips)
{
    const uint32_t at = entry >> 6 & 0xff, begin = entry & 63;
    const uint64_t *const here = word_around(tile, at);
    const uint64_t span = span_of(strips ? here[0] | here[AROUND_COLUMNS] : here[0], begin);
    const Neighbours n = neighbours_of(here);
    add_pixels_of_run(to, n, here[0] & span, tile.eight);
    if (strips)
        add_pixels_of_run(to, neighbours_of(here + AROUND_COLUMNS), here[AROUND_COLUMNS] & span, tile.eight);
    if (!tile.eight)
        to->of[DIAGONALS] += foreign_corners(tile, n, span, at, id);
}

/* ---------------------------------------------------------------- components */

__device__ static inline void add_to_block(BlockShapes *block, const Plan &plan, uint32_t *global, uint32_t place,
                                           const ShapeSums &sums)
{
    if (place >= plan.capacity)
        return;
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t slot = (place + i) % SLOTS;
        const uint32_t old = slot < plan.slots ? atomicCAS(&block->ids[slot], 0, place + 1) : ~0u;
        if (old != 0 && old != place + 1)
            continue;
        for (uint32_t field = 0; field < N_SHAPE; field++)
            atomicAdd(&block->fields[field][slot], sums.of[field]);
        return;
    }
    for (uint32_t field = 0; field < N_SHAPE; field++)
        atomicAdd(&global[place * N_SHAPE + field], sums.of[field]);
}

/* Adds up the counts of a warp that are of the same component, for the first few ones. Returns whether this lane has to pass on
 * *sums. Like add_up() of measure. */
__device__ static inline bool add_up_shapes(uint32_t place, ShapeSums *sums)
{
    const uint32_t lane = threadIdx.x % 32;
    uint32_t pending = __ballot_sync(~0u, place != ~0u);
    bool speaks = pending >> lane & 1;
    for (uint32_t round = 0; round < ADD_ROUNDS && pending; round++) {
        const uint32_t leader = __ffs(pending) - 1, chosen = __shfl_sync(~0u, place, leader);
        const bool peer = place == chosen;
        const uint32_t peers = __ballot_sync(~0u, peer);
        pending &= ~peers;
        if (!(peers & (peers - 1)))
            continue;
        ShapeSums all;
#pragma unroll
        for (uint32_t field = 0; field < N_SHAPE; field++)
            all.of[field] = warp_sum(peer ? sums->of[field] : 0);
        if (lane == leader)
            *sums = all;
        else if (peer)
            speaks = false;
    }
    return speaks;
}

/* The runs of a thread; they lie next to each other, so most belong to the same component. Called by whole warps. */
__device__ static inline void add_runs(BlockShapes *block, const CountTile &tile, uint32_t *global)
{
    const uint32_t n_runs = tile.n_listed & ~OF_STRIPS;
    const uint32_t n_each = (n_runs + COUNT_THREADS - 1) / COUNT_THREADS;
    const uint32_t first = threadIdx.x * n_each, end = min(first + n_each, n_runs);
    uint32_t key_before = ~0u, id = ~0u, place = ~0u;
    ShapeSums sums = {};
    for (uint32_t run = first; run < end; run++) {
        const uint32_t entry = tile.runs[run];
        if (entry >> 14 != key_before) {
            key_before = entry >> 14;
            id = id_of_entry(tile, { blockIdx.x, blockIdx.y }, entry);
            const uint32_t next = place_of(tile, id);
            if (next != place && place != ~0u)
                add_to_block(block, tile.plan, global, place, sums);
            if (next != place)
                sums = ShapeSums{};
            place = next;
        }
        add_shape(&sums, tile, entry, id, tile.n_listed & OF_STRIPS);
    }
    if (add_up_shapes(place, &sums))
        add_to_block(block, tile.plan, global, place, sums);
}

/* ---------------------------------------------------------------- tile */

/* Called by a block. */
__device__ static inline void count_shape(const CountTile &tile, uint32_t *sums)
{
    __shared__ BlockShapes block;
    const uint32_t n_runs = tile.n_listed & ~OF_STRIPS, thread = threadIdx.x;
    for (uint32_t i = thread; i < SLOTS; i += COUNT_THREADS) {
        block.ids[i] = 0;
        for (uint32_t field = 0; field < N_SHAPE; field++)
            block.fields[field][i] = 0;
    }
    __syncthreads();
    if (thread / 32 * 32 * ((n_runs + COUNT_THREADS - 1) / COUNT_THREADS) < n_runs)
        add_runs(&block, tile, sums);
    __syncthreads();
    for (uint32_t i = thread; i < SLOTS * N_SHAPE; i += COUNT_THREADS) {
        const uint32_t slot = i / N_SHAPE, field = i % N_SHAPE;
        if (block.ids[slot] && block.fields[field][slot])
            atomicAdd(&sums[(block.ids[slot] - 1) * N_SHAPE + field], block.fields[field][slot]);
    }
}

#endif
