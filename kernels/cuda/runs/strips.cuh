/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * 8-connected tiles with many runs: strips of two rows.
 *
 * Pixels of two rows in the same or in adjacent columns touch, so a run of one row OR the other is connected. Such runs are the
 * nodes here. On a checkerboard, one node replaces 64; on a comb, one replaces two. Two rules differ from runs of rows:
 *
 * - Whether strips touch depends on the rows on both sides of the seam, and several columns may join the same two runs.
 * - Components are numbered by their first pixels. The node with the smallest index may not contain the first pixel, if it has
 *   pixels in the lower row only. So outside a tile, nodes are runs of rows, with the key local word << 5 | rank. Each tile
 *   share finds its smallest key.
 */
#ifndef CCL_CUDA_RUNS_STRIPS_CUH
#define CCL_CUDA_RUNS_STRIPS_CUH

#include "cuda/runs/link.cuh"

/* The word of strips that contains a word of a row. */
__device__ static inline uint32_t strip_of(uint32_t word)
{
    return (word / 32 + 1) / 2 * 32 + word % 32;
}

/* pairs_of() of the rows where two strips meet, but only one pair for each two runs of strips. */
__device__ static inline uint64_t pairs_of_strips(const Tile &tile, uint32_t at)
{
    const uint64_t *const strips = tile.strips + at, *const rows = tile.bits + upper_row_of<true>(at);
    const bool inside = at % 32;
    const uint64_t lower_before = inside ? rows[-1] : 0, upper_before = inside ? rows[-33] : 0;
    const uint64_t both_before = inside ? strips[-1] & strips[-33] : 0;
    const Pairs pairs = pairs_of<true>(rows[0], rows[-32], lower_before >> 63, upper_before >> 63);
    const uint64_t all = pairs.over | pairs.left | pairs.right;
    /* Whether the last columns of the words to the left join the runs that continue from there. */
    const bool joined = (lower_before & upper_before) >> 63 ||
                        (both_before >> 62 == 3 && lower_before >> 62 && upper_before >> 62);
    const uint64_t open = ~(starts_of(strips[0]) | starts_of(strips[-32])) | joined;
    const uint64_t sum = (all | open) + all + joined, after = sum ^ (open & ~all);
    return all & ~(after & open);
}

/* Whether the runs of a word and those above touch one to one, as vertical lines do. Then all four rows of the two strips are
 * equal, and no pixel at a side of the word has a neighbour beyond it. */
__device__ static inline bool is_alike(const Tile &tile, uint32_t at)
{
    const uint64_t *const strips = tile.strips + at, *const rows = tile.bits + upper_row_of<true>(at);
    const uint64_t word = strips[0], left = at % 32 ? strips[-1] | strips[-33] : 0;
    const uint64_t right = at % 32 < 31 ? strips[1] | strips[-31] : 0;
    return word == strips[-32] && word == rows[0] && word == rows[-32] && !(word & left >> 63) && !(word >> 63 & right);
}

/* Rows -> strips and pairs, and slots of runs that are their own parents. The keys of roots follow the slots, all unset.
 * Returns the number of runs, or 0 if it exceeds the capacity. */
template <uint32_t THREADS> __device__ static inline uint32_t list_strips(Tile *tile, uint32_t *slots, uint32_t capacity)
{
    const uint32_t thread = threadIdx.x, lane = thread % 32, strip = thread / 32;
    uint32_t n_starts = 0, n_up_to = 0, n_runs;

    __syncthreads(); /* the number of runs in each row is known */
    if (thread < STRIP_WORDS) {
        const uint64_t *const row = tile->bits + (strip ? upper_row_of<true>(thread) : thread);
        const uint64_t word = strip ? row[0] | row[32] : row[0];
        const uint32_t full = __ballot_sync(~0u, word == ~0ull);
        n_starts = __popcll(starts_of(word));
        n_up_to = warp_scan(n_starts);
        tile->strips[thread] = word;
        if (lane == 31) {
            tile->n_in_row[strip] = n_up_to;
            tile->full[strip] = full;
        }
    }
    __syncthreads();
    const uint32_t first_run = runs_before<TILE_ROWS / 2 + 1>(*tile, strip, &n_runs) + n_up_to - n_starts;
    const uint32_t n_inside = n_runs - tile->n_in_row[0];
    if (n_runs + n_inside > capacity)
        return 0;
    if (thread < STRIP_WORDS)
        tile->first_run[thread] = first_run;
    if (thread < STRIP_WORDS) {
        const uint32_t alike = __ballot_sync(~0u, strip && is_alike(*tile, thread));
        if (lane == 0)
            tile->alike[strip] = alike;
        if (strip)
            tile->pairs[thread - 32] = pairs_of_strips(*tile, thread);
    }
    __syncthreads();
    /* A warp takes a word. If each has many runs, their slots are in different banks. */
    for (uint32_t at = strip; at < STRIP_WORDS; at += THREADS / 32) {
        const uint64_t starts = starts_of(tile->strips[at]);
        for (uint32_t x = lane; x < 64; x += 32) {
            const uint32_t run = tile->first_run[at] + __popcll(starts & ((1ull << x) - 1));
            if (starts >> x & 1)
                slots[run] = run << 16 | at << 6 | x;
        }
    }
    for (uint32_t i = thread; i < n_inside; i += THREADS)
        slots[n_runs + i] = ~0u;
    __syncthreads();
    return n_runs;
}

/* The key of the run of a row that a run of a strip begins with. */
__device__ static inline uint32_t first_key(const Tile &tile, uint32_t slot)
{
    const uint32_t place = first_of_strip(tile.bits, upper_row_of<true>(word_of(slot)), slot % 64), at = place >> 6;
    return at << 5 | rank_of(starts_of(tile.bits[at]), place % 64);
}

/* Finds the smallest key of each root's tile share. It is in the strip of the root. */
template <uint32_t THREADS>
__device__ static inline void key_strips(const Tile &tile, uint32_t *slots, uint32_t n_runs)
{
    const uint32_t n_above = tile.n_in_row[0];
    for (uint32_t run = n_above + threadIdx.x; run < n_runs; run += THREADS) {
        const uint32_t slot = slots[run], root = parent_of(slots[parent_of(slot)]);
        if (root >= n_above && word_of(slots[root]) / 32 == word_of(slot) / 32)
            atomicMin(&slots[n_runs + root - n_above], first_key(tile, slot));
    }
    __syncthreads();
}

/* The key of a run of a row, or of the row above. */
__device__ static inline uint32_t key_of(const Tile &tile, uint32_t run, uint32_t word)
{
    return word << 5 | (run - tile.first_run[word]);
}

template <bool STRIPS>
__device__ static inline uint32_t root_key_of(const Tile &tile, const volatile uint32_t *slots, uint32_t n_runs,
                                              uint32_t root)
{
    const uint32_t n_above = tile.n_in_row[0];
    if (STRIPS && root >= n_above)
        return slots[n_runs + root - n_above];
    return key_of(tile, root, word_of(slots[root]));
}

/* Stores for join the roots of runs of rows, in the last row and at the sides. Roots have theirs already. */
template <uint32_t THREADS>
__device__ static inline void publish_edges(const Tile &tile, const volatile uint32_t *slots, const Plan &plan,
                                            TileAt where, uint32_t n_runs)
{
    const auto publish = [&](uint32_t word, uint32_t x) {
        const uint32_t at = strip_of(word), run = tile.first_run[at] + rank_of(starts_of(tile.strips[at]), x);
        const uint32_t root = parent_of(slots[parent_of(slots[run])]);
        const uint32_t root_key = root_key_of<true>(tile, slots, n_runs, root);
        const uint32_t key = word << 5 | rank_of(starts_of(tile.bits[word]), x);
        if (key != root_key)
            plan.parents[node_of(plan, where, key)] = node_of(plan, where, root_key);
    };
    for (uint32_t i = threadIdx.x; i < 32 * 64; i += THREADS)
        if (starts_of(tile.bits[TILE_ROWS * 32 + i / 64]) >> i % 64 & 1)
            publish(TILE_ROWS * 32 + i / 64, i % 64);
    if (plan.tiles_x > 1 && threadIdx.x < 2 * (TILE_ROWS - 1)) {
        const uint32_t row = threadIdx.x / 2 + 1, right = threadIdx.x % 2;
        const uint32_t word = row * 32 + 31 * right, x = 63 * right;
        if (tile.bits[word] >> x & 1)
            publish(word, x);
    }
}

#endif
