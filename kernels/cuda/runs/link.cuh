/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A tile in shared memory: finds the runs that touch, links and unites them. */
#ifndef CCL_CUDA_RUNS_LINK_CUH
#define CCL_CUDA_RUNS_LINK_CUH

#include "cuda/runs/plan.cuh"

/* The runs of a tile, and of the row above it, have an index in raster order. The upper half of a run's slot is the index of
 * its parent. The lower half is its place, local word << 6 | first column, and never changes. So the smaller of two values for
 * a slot has the smaller parent.
 *
 * 8-connected, pixels of two rows in the same or in adjacent columns touch. So a tile with many runs uses the runs of strips
 * instead: of two rows, one OR the other. See strips.cuh. The row above is the first strip, of one row. */
#define SLOT_PLACE 0xffffu

__device__ static inline uint32_t parent_of(uint32_t slot)
{
    return slot >> 16;
}

__device__ static inline uint32_t word_of(uint32_t slot)
{
    return (slot & SLOT_PLACE) >> 6;
}

__device__ static inline uint32_t with_parent(uint32_t slot, uint32_t parent)
{
    return parent << 16 | (slot & SLOT_PLACE);
}

/* Shortens the path of a run. Other threads unite meanwhile, so this is a minimum instead of a store: no hook is lost, and the
 * volatile loads race with atomics only. No thread waits for its result. */
__device__ static inline void shorten(volatile uint32_t *slots, uint32_t run, uint32_t slot, uint32_t parent)
{
    atomicMin((uint32_t *)&slots[run], with_parent(slot, parent));
}

/* One step of uniting two runs. Climbs from both and halves the paths, or hooks the larger root under the smaller. Returns
 * false when the runs are united. */
__device__ static inline bool climb_or_hook(volatile uint32_t *slots, uint32_t *a, uint32_t *b)
{
    const uint32_t slot_a = slots[*a], slot_b = slots[*b], up_a = parent_of(slot_a), up_b = parent_of(slot_b);
    if (up_a == up_b)
        return false;
    if (up_a != *a || up_b != *b) {
        const uint32_t top_a = parent_of(slots[up_a]), top_b = parent_of(slots[up_b]);
        if (top_a != up_a)
            shorten(slots, *a, slot_a, top_a);
        if (top_b != up_b)
            shorten(slots, *b, slot_b, top_b);
        *a = top_a;
        *b = top_b;
        return true;
    }
    const uint32_t larger = up_a > up_b ? slot_a : slot_b, smaller = min(up_a, up_b);
    const uint32_t old = atomicMin((uint32_t *)&slots[parent_of(larger)], with_parent(larger, smaller));
    *a = parent_of(old);
    *b = smaller;
    return old != larger;
}

/* Pairs of touching runs of a word and of the row above: one bit each, at the first column where they touch.
 *
 *     over   at x: lower (x), upper (x)         both rows have the pixel
 *     left   at x: lower (x), upper (x - 1)     8-connected only: the lower run starts where the upper ends
 *     right  at x: lower (x - 1), upper (x)     8-connected only: the upper run starts where the lower ends
 *
 * A pair at x = 0 that the words to the left already join is left out. */
typedef struct Pairs {
    uint64_t over, left, right;
} Pairs;

template <bool EIGHT>
__device__ static inline Pairs pairs_of(uint64_t lower, uint64_t upper, bool lower_before, bool upper_before)
{
    const uint64_t lower_starts = starts_of(lower), upper_starts = starts_of(upper);
    Pairs pairs = { lower & upper & (lower_starts | upper_starts) & ~(uint64_t)(lower_before & upper_before), 0, 0 };
    if (EIGHT) {
        pairs.left = lower_starts & ~upper & (upper << 1 | upper_before) & ~(uint64_t)lower_before;
        pairs.right = upper_starts & ~lower & (lower << 1 | lower_before) & ~(uint64_t)upper_before;
    }
    return pairs;
}

/* The starts of the runs that the row above joins to the run before: a run there spans the gap. A run that touches both needs
 * to be united with one only. A carry from the gap's first bridged column reaches the start if the whole gap is bridged. */
template <bool EIGHT>
__device__ static inline uint64_t implied_in(uint64_t row, uint64_t above, bool row_before, bool above_before)
{
    const uint64_t bridged = ~row & above, gaps = ~row & (row << 1 | row_before);
    if (EIGHT)
        return (bridged + (gaps & bridged)) & starts_of(row);
    /* The run above must cover the pixels on both sides of the gap too. */
    return (bridged + (gaps & bridged & (above << 1 | above_before))) & starts_of(row) & above;
}

/* A tile in shared memory, without the slots of its runs. */
typedef struct Tile {
    uint64_t bits[LOCAL_WORDS];
    uint64_t pairs[LOCAL_WORDS - 32]; /* of a word and the word above; see has_listed_pairs() */
    union {
        uint64_t implied[LOCAL_WORDS - 32]; /* see implied_in() */
        uint64_t strips[STRIP_WORDS];       /* the rows of a strip, one OR the other */
    };
    uint32_t heads[LOCAL_WORDS];       /* ranks that are roots of the tile */
    uint32_t joined[32];               /* ranks in the row above that the tile joins to others there */
    uint32_t full[TILE_ROWS + 1];      /* words of a row that are all ones */
    uint32_t alike[TILE_ROWS / 2 + 1]; /* words of a strip whose runs touch those above one to one: is_alike() */
    uint32_t n_in_row[TILE_ROWS + 1];
    uint16_t first_run[LOCAL_WORDS];     /* of a word: index */
    uint32_t n_pairs;
    uint32_t shared_pairs[SHARED_PAIRS]; /* to unite: run << 16 | run; see pair_at() */
} Tile;

static_assert(sizeof(Tile) + RUN_SLOTS * sizeof(uint32_t) + sizeof(Job) + 64 <= 48 << 10,
              "more shared memory than a block has everywhere");

/* The address of the i-th pair to unite. The first pairs are in shared memory. The others are where the tile's runs are stored
 * later. They fit: for two rows, linking leaves at most as many pairs as the upper row has runs. */
__device__ static inline uint32_t *pair_at(Tile *tile, const Plan &plan, uint32_t *global_pairs, uint32_t i)
{
    return i < plan.shared_pairs ? &tile->shared_pairs[i] : &global_pairs[i - plan.shared_pairs];
}

/* The index of the first run of a row, or strip, of N; *n_runs: number of runs in all. Called by one warp, when n_in_row is
 * complete. */
template <uint32_t N>
__device__ static inline uint32_t runs_before(const Tile &tile, uint32_t row, uint32_t *n_runs)
{
    const uint32_t lane = threadIdx.x % 32, in_row = lane < N ? tile.n_in_row[lane] : 0;
    *n_runs = warp_sum(in_row);
    return warp_sum(lane < row ? in_row : 0);
}

/* The pairs of a word and the word above. */
template <bool EIGHT> __device__ static inline uint64_t pairs_at(const Tile &tile, uint32_t at)
{
    const uint64_t *const bits = tile.bits + at;
    const bool inside = at % 32;
    const Pairs pairs = pairs_of<EIGHT>(bits[0], bits[-32], inside && bits[-1] >> 63, inside && bits[-33] >> 63);
    return pairs.over | pairs.left | pairs.right;
}

/* implied_in() of the word above, for rows below the second. */
template <bool EIGHT> __device__ static inline uint64_t implied_at(const Tile &tile, uint32_t at)
{
    const uint64_t *const bits = tile.bits + at;
    const bool inside = at % 32;
    return implied_in<EIGHT>(bits[-32], bits[-64], inside && bits[-33] >> 63, inside && bits[-65] >> 63);
}

/* If a tile has few runs, most words have none: then the thread that links a run finds its pairs. If it has many, the pairs of
 * each word are found once, without the implied pairs. */
__device__ static inline bool has_listed_pairs(uint32_t n_runs)
{
    return n_runs > LOCAL_WORDS;
}

/* The earlier runs that touch a run: the run that it continues, or the runs in the row above. */
typedef struct Touching {
    uint32_t continued; /* index + 1; 0: none */
    uint64_t pairs;     /* first columns where runs above touch it */
    bool beyond;        /* the first run of the next word above touches it too */
} Touching;

/* The words in which the runs are. */
template <bool STRIPS> __device__ static inline const uint64_t *words_of(const Tile &tile)
{
    return STRIPS ? tile.strips : tile.bits;
}

/* The word of the upper row of a strip, or of the row itself. Not for the first strip. */
template <bool STRIPS> __device__ static inline uint32_t upper_row_of(uint32_t at)
{
    return STRIPS ? 2 * at - at % 32 - 32 : at;
}

template <bool EIGHT, bool STRIPS>
__device__ static inline Touching touching(const Tile &tile, uint32_t at, uint32_t x, bool listed)
{
    const uint64_t *const bits = words_of<STRIPS>(tile);
    const uint32_t lane = at % 32;
    const uint64_t lower = bits[at];
    Touching to = {};

    if (x == 0 && lane && bits[at - 1] >> 63) {
        /* Skips the full words to the left, each of which continues the same run. */
        const uint32_t open = ~tile.full[at / 32] & ((1u << lane) - 1);
        uint32_t head = open ? 31 - __clz(open) : 0;
        if (open && !(bits[at - lane + head] >> 63))
            head++; /* the run begins with a full word */
        to.continued = tile.first_run[at - lane + head + 1];
    }
    if (at < 32)
        return to;
    /* The run's columns, and the column after: adding at the lowest bit of a run carries to there. */
    const uint64_t begin = 1ull << x, after = lower + begin, span = (after ^ lower) | begin;
    to.pairs = (STRIPS || listed ? tile.pairs[at - 32] : pairs_at<EIGHT>(tile, at)) & span;
    const bool ends_word = after < begin;
    const uint64_t *const row = tile.bits + upper_row_of<STRIPS>(at);
    to.beyond = EIGHT && ends_word && lane < 31 && !(bits[at + 1] & 1) && (!STRIPS || row[0] >> 63) &&
                row[-31] & 1 && !(row[-32] >> 63);
    return to;
}

/* Takes the first of the remaining runs above. */
template <bool STRIPS>
__device__ static inline uint32_t next_above(const Tile &tile, uint32_t at, Touching *to)
{
    if (!to->pairs) {
        to->beyond = false;
        return tile.first_run[at - 31];
    }
    const uint64_t upper = tile.bits[upper_row_of<STRIPS>(at) - 32];
    const uint32_t x = __ffsll(to->pairs) - 1, before = ~(upper >> x) & 1, first = tile.first_run[at - 32];
    to->pairs &= to->pairs - 1;
    return before && x == 0 ? first - 1 : first + rank_of(starts_of(words_of<STRIPS>(tile)[at - 32]), x - before);
}

/* Returns the index + 1 of the run that a run is linked to (0: none), and leaves the runs to unite it with. */
template <bool EIGHT, bool STRIPS>
__device__ static inline uint32_t link_of(const Tile &tile, uint32_t slot, bool listed, Touching *left)
{
    const uint32_t at = word_of(slot);
    *left = touching<EIGHT, STRIPS>(tile, at, slot % 64, listed);
    uint32_t parent = left->continued;
    if (!parent && (left->pairs || left->beyond))
        parent = next_above<STRIPS>(tile, at, left) + 1;
    if (!STRIPS && listed && at >= 32)
        left->pairs &= ~tile.implied[at - 32];
    return parent;
}

/* Every run takes an earlier run that touches it as parent. Other touching pairs go to the list. Returns which of this thread's
 * runs got no parent. */
template <bool EIGHT, bool STRIPS, uint32_t THREADS>
__device__ static inline uint64_t link_runs(Tile *tile, uint32_t *slots, const Plan &plan, uint32_t *global_pairs,
                                            uint32_t n_runs)
{
    const bool listed = has_listed_pairs(n_runs);
    uint64_t unlinked = 0, bit = 1;
    for (uint32_t run = threadIdx.x; run < n_runs; run += THREADS, bit <<= 1) {
        const uint32_t slot = slots[run], at = word_of(slot);
        if (STRIPS && tile->alike[at / 32] >> at % 32 & 1) {
            slots[run] = with_parent(slot, run - tile->first_run[at] + tile->first_run[at - 32]);
            continue;
        }
        Touching to;
        const uint32_t parent = link_of<EIGHT, STRIPS>(*tile, slot, listed, &to);
        if (parent)
            slots[run] = with_parent(slot, parent - 1);
        else
            unlinked |= bit;
        if (!to.pairs && !to.beyond)
            continue;
        uint32_t pair = atomicAdd(&tile->n_pairs, __popcll(to.pairs) + to.beyond);
        do
            *pair_at(tile, plan, global_pairs, pair++) = run << 16 | next_above<STRIPS>(*tile, at, &to);
        while (to.pairs || to.beyond);
    }
    __syncthreads();
    return unlinked;
}

/* Points linked runs at unlinked ones. Only unlinked runs are hooked later. */
template <uint32_t THREADS> __device__ static inline void flatten(volatile uint32_t *slots, uint32_t n_runs)
{
    for (uint32_t run = threadIdx.x; run < n_runs; run += THREADS) {
        const uint32_t slot = slots[run];
        uint32_t root = parent_of(slot), above;
        while ((above = parent_of(slots[root])) != root)
            root = above;
        if (root != parent_of(slot))
            shorten(slots, run, slot, root);
    }
    __syncthreads();
}

/* Unites the pairs. All climbs of a lane are one loop, so that lanes of a warp wait for each other only at its end. Then the
 * unlinked runs of this thread (`unlinked`) find their roots, so that every run is at most two steps from its root. */
template <uint32_t THREADS>
__device__ static inline void unite_pairs(Tile *tile, volatile uint32_t *slots, const Plan &plan, uint32_t *global_pairs,
                                          uint64_t unlinked)
{
    /* A thread takes neighbouring pairs, so that two threads seldom unite the same sets. The number is odd, so that all banks
     * are used in turn. */
    const uint32_t n_pairs = tile->n_pairs, n_each = (n_pairs + THREADS - 1) / THREADS | 1;
    const uint32_t end = min((threadIdx.x + 1) * n_each, n_pairs);
    uint32_t next = threadIdx.x * n_each;
    bool busy = false;
    for (uint32_t a = 0, b = 0; busy || next < end;) {
        if (!busy) {
            const uint32_t pair = *pair_at(tile, plan, global_pairs, next++);
            a = pair >> 16;
            b = pair & 0xffff;
        }
        busy = climb_or_hook(slots, &a, &b);
    }
    __syncthreads();

    /* In turn, each run takes the parent of its parent until that is a root. No thread hooks any longer. */
    while (unlinked) {
        for (uint64_t left = unlinked; left; left &= left - 1) {
            const uint32_t run = threadIdx.x + (__ffsll(left) - 1) * THREADS, slot = slots[run];
            const uint32_t parent = parent_of(slot), above = parent_of(slots[parent]);
            if (above == parent)
                unlinked ^= left & -left;
            else
                shorten(slots, run, slot, above);
        }
    }
    __syncthreads();
}

#endif
