/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A tile in shared memory: which of its runs touch; they are linked and united. */
#ifndef CCL_CUDA_RUNS_LINK_CUH
#define CCL_CUDA_RUNS_LINK_CUH

#include "cuda/runs/plan.cuh"

/* The runs of a tile, and the row above it, are numbered in raster order: an index. A slot holds the run's parent, an
 * index, in its upper half and its place, local word << 6 | first column, in the lower one, which never changes: the
 * smaller of two values for a slot is the one with the smaller parent.
 *
 * 8-connected, pixels of two rows in the same or in adjacent columns touch. So where a tile has many runs, those of the
 * two rows of a strip, one OR the other, take their place: strips.cuh. The row above is the first strip, of one row. */
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

/* A shorter way up. A minimum and not a store, as others unite meanwhile: what they hooked a run to is never lost, and
 * the loads around, which are volatile, meet nothing but atomics. Nobody waits for its result. */
__device__ static inline void shorten(volatile uint32_t *slots, uint32_t run, uint32_t slot, uint32_t parent)
{
    atomicMin((uint32_t *)&slots[run], with_parent(slot, parent));
}

/* One step of uniting two runs: up from both, halving the ways, or the larger root is hooked under the smaller. False
 * when they are united. */
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
 *     left   at x: lower (x), upper (x - 1)     8-connected only: the lower one starts where the upper has ended
 *     right  at x: lower (x - 1), upper (x)     8-connected only: the upper one starts where the lower has ended
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

/* Runs of a row that the row above joins to the one before them: a run there spans the gap. Who touches both need be
 * united with one only. A bit each, at their starts, where the gap's first bridged column carries to if all are. */
template <bool EIGHT>
__device__ static inline uint64_t implied_in(uint64_t row, uint64_t above, bool row_before, bool above_before)
{
    const uint64_t bridged = ~row & above, gaps = ~row & (row << 1 | row_before);
    if (EIGHT)
        return (bridged + (gaps & bridged)) & starts_of(row);
    /* It has to reach over the pixels on both sides of the gap. */
    return (bridged + (gaps & bridged & (above << 1 | above_before))) & starts_of(row) & above;
}

/* A tile in shared memory, but for the slots of its runs. */
typedef struct Tile {
    uint64_t bits[LOCAL_WORDS];
    uint64_t pairs[LOCAL_WORDS - 32];    /* of a word and the one above; see has_listed_pairs() */
    union {
        uint64_t implied[LOCAL_WORDS - 32]; /* see implied_in() */
        uint64_t strips[STRIP_WORDS];       /* the rows of a strip, one OR the other */
    };
    uint32_t heads[LOCAL_WORDS];         /* ranks that are roots of the tile */
    uint32_t joined[32];                 /* ranks in the row above that the tile joins to others there */
    uint32_t full[TILE_ROWS + 1];        /* words of a row that are all ones */
    uint32_t alike[TILE_ROWS / 2 + 1];   /* words of a strip whose runs touch those above one to one; see is_alike() */
    uint32_t n_in_row[TILE_ROWS + 1];
    uint16_t first_run[LOCAL_WORDS];     /* of a word: index */
    uint32_t n_pairs;
    uint32_t near_pairs[NEAR_PAIRS];     /* to unite: run << 16 | run; see pair_at() */
} Tile;

static_assert(sizeof(Tile) + RUN_SLOTS * sizeof(uint32_t) + sizeof(Job) + 64 <= 48 << 10,
              "more shared memory than a block has everywhere");

/* Where the i-th pair to unite is. The first are near, the others where the tile's runs are published later; there is
 * room, as linking leaves no more pairs of two rows than the upper one has runs. */
__device__ static inline uint32_t *pair_at(Tile *tile, const Plan &plan, uint32_t *far, uint32_t i)
{
    return i < plan.near_pairs ? &tile->near_pairs[i] : &far[i - plan.near_pairs];
}

/* The number of the first run of a row, or strip, of N; *n_runs in all. By a warp; n_in_row is complete. */
template <uint32_t N>
__device__ static inline uint32_t runs_before(const Tile &tile, uint32_t row, uint32_t *n_runs)
{
    const uint32_t lane = threadIdx.x % 32, in_row = lane < N ? tile.n_in_row[lane] : 0;
    *n_runs = warp_sum(in_row);
    return warp_sum(lane < row ? in_row : 0);
}

/* Pairs of a word of a row and the one above. */
template <bool EIGHT> __device__ static inline uint64_t pairs_at(const Tile &tile, uint32_t at)
{
    const uint64_t *const bits = tile.bits + at;
    const bool inside = at % 32;
    const Pairs pairs = pairs_of<EIGHT>(bits[0], bits[-32], inside && bits[-1] >> 63, inside && bits[-33] >> 63);
    return pairs.over | pairs.left | pairs.right;
}

/* Of the word above, below the second row. */
template <bool EIGHT> __device__ static inline uint64_t implied_at(const Tile &tile, uint32_t at)
{
    const uint64_t *const bits = tile.bits + at;
    const bool inside = at % 32;
    return implied_in<EIGHT>(bits[-32], bits[-64], inside && bits[-33] >> 63, inside && bits[-65] >> 63);
}

/* Where a tile has few runs, most words have none: then who links a run finds its pairs. With many each word's are
 * found once, and those left out that are implied. */
__device__ static inline bool has_listed_pairs(uint32_t n_runs)
{
    return n_runs > LOCAL_WORDS;
}

/* What a run has to do with those before it: which it continues, or those in the row above that it touches. */
typedef struct Touching {
    uint32_t continued;   /* index + 1, or 0 */
    uint64_t pairs;       /* first columns where they touch it */
    bool beyond;          /* the first run of the next word above, too */
} Touching;

/* The words that runs are of. */
template <bool STRIPS> __device__ static inline const uint64_t *words_of(const Tile &tile)
{
    return STRIPS ? tile.strips : tile.bits;
}

/* The word of a row, the upper one of a strip. Not of the first strip. */
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
        /* Past the full words to the left, which are one run each and continue the same. */
        const uint32_t open = ~tile.full[at / 32] & ((1u << lane) - 1);
        uint32_t head = open ? 31 - __clz(open) : 0;
        if (open && !(bits[at - lane + head] >> 63))
            head++; /* a full word begins the run */
        to.continued = tile.first_run[at - lane + head + 1];
    }
    if (at < 32)
        return to;
    /* Its columns and the one after: adding to the lowest bit of a run carries to there. */
    const uint64_t begin = 1ull << x, after = lower + begin, span = (after ^ lower) | begin;
    to.pairs = (STRIPS || listed ? tile.pairs[at - 32] : pairs_at<EIGHT>(tile, at)) & span;
    const bool ends_word = after < begin;
    const uint64_t *const row = tile.bits + upper_row_of<STRIPS>(at);
    to.beyond = EIGHT && ends_word && lane < 31 && !(bits[at + 1] & 1) && (!STRIPS || row[0] >> 63) &&
                row[-31] & 1 && !(row[-32] >> 63);
    return to;
}

/* The run above that is first of those left, and goes from them. */
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

/* What a run is linked to, index + 1 (0: nothing), and what it has to be united with then. */
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

/* Every run takes a run before it as parent, if one touches. What else it touches goes to the list of pairs. Returns
 * which of this thread's runs have no parent then. */
template <bool EIGHT, bool STRIPS, uint32_t THREADS>
__device__ static inline uint64_t link_runs(Tile *tile, uint32_t *slots, const Plan &plan, uint32_t *far,
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
            *pair_at(tile, plan, far, pair++) = run << 16 | next_above<STRIPS>(*tile, at, &to);
        while (to.pairs || to.beyond);
    }
    __syncthreads();
    return unlinked;
}

/* Linked runs find the unlinked ones, which alone are hooked to others later. */
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

/* Unites the pairs. One loop for all climbs of a lane, so that lanes of a warp wait for others at its end only. Runs
 * then are two steps from their roots, at most: unlinked ones, `unlinked` of this thread, find theirs. */
template <uint32_t THREADS>
__device__ static inline void unite_pairs(Tile *tile, volatile uint32_t *slots, const Plan &plan, uint32_t *far,
                                          uint64_t unlinked)
{
    /* A thread takes neighbours: others then seldom unite the same two parts. An odd number: all banks in turn. */
    const uint32_t n_pairs = tile->n_pairs, n_each = (n_pairs + THREADS - 1) / THREADS | 1;
    const uint32_t end = min((threadIdx.x + 1) * n_each, n_pairs);
    uint32_t next = threadIdx.x * n_each;
    bool busy = false;
    for (uint32_t a = 0, b = 0; busy || next < end;) {
        if (!busy) {
            const uint32_t pair = *pair_at(tile, plan, far, next++);
            a = pair >> 16;
            b = pair & 0xffff;
        }
        busy = climb_or_hook(slots, &a, &b);
    }
    __syncthreads();

    /* In turns of all its runs, each of which takes the parent of its parent, until that is a root: nobody hooks any more. */
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
