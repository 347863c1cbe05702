/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Runs of bit rows: our own method, from mask to table and label image.
 *
 * The mask is packed to one bit per pixel, and the nodes of the union-find are the runs inside 64-bit words: far fewer
 * than pixels or blocks, found and ranked with a handful of bit operations. Every run is linked to a run before it
 * without atomics (after Komura, "GPU-based cluster-labeling algorithm without the use of conventional iteration",
 * Computer Physics Communications 2015); only pairs that this leaves open are united, first inside a band of rows in
 * shared memory, then between bands. Threads take runs, not words: of the words most have none and some have many.
 * Nodes are in raster order and the smallest is the root, so components come out numbered by their first pixels.
 *
 *     solve    pack a tile and the row above it; link and unite its runs in shared memory
 *     join     shorten the ways up from band to band; unite what the bands joined, and runs cut by a tile's edge
 *     number   the roots are ranked, a chunk of words at a time
 *     measure  sums per component; labels
 *     rows     sums -> rows of the table, in host memory
 *
 * A filter adds two steps: measure, then for area and box alone, comes before
 *
 *     keep     components that pass are numbered on
 *
 * Frames of a batch are launched together: every kernel then has a list of them.
 *
 * Each kernel is launched while the one before it ends and then waits for it (programmatic dependent launch, sm_90): no
 * kernel writes, or reads what others write, before its wait. Only solve and join let their successor start earlier
 * than by ending: blocks that wait for long end up beside each other on few multiprocessors.
 */
#include "../bits.cuh"
#include "../overlap.cuh"
#include "../scan.cuh"
#include "../union_find.cuh"

#include <stdlib.h>

#define TILE_ROWS 8u
#define LOCAL_WORDS (32 * (TILE_ROWS + 1)) /* a tile is 32 words wide; the row above comes first */
#define TILE_WORDS (32 * TILE_ROWS)
#define TILE_RUNS (32 * TILE_WORDS) /* there are no more in a tile */
#define SMALL_LANES 2u /* lanes that share a word in images of at most two tiles per multiprocessor */
#define SOLVE_THREADS(lanes) (LOCAL_WORDS * (lanes))
#define JOIN_THREADS 256u
#define NUMBER_THREADS 256u
#define MEASURE_THREADS(lanes) (TILE_WORDS * (lanes))
#define ADD_ROUNDS 4u /* components of a warp whose runs are added up before they go to shared memory */
#define KEEP_THREADS 256u
#define ROWS_THREADS 256u
#define MOST_CHUNKS 1024u
#define SLOTS 192u /* components that a block of measure sums in shared memory */

#define NUMBERED 0x80000000u /* parents[root]: NUMBERED | chunk << 17 | rank in the chunk */

/* Sums of one component in global memory; all zero is empty. Four quarters of 16 bytes, the first three those of
 * CclMoments. */
typedef struct __align__(16) Sums {
    unsigned long long area, m10, m01, m20, m11, m02;
    uint32_t not_x0, x1, y1;
    uint32_t first; /* y << 16 | x of the first pixel */
} Sums;

/* What a filter asks of a component; all zero is empty. */
typedef struct __align__(16) Extent {
    uint32_t area, not_x0, x1, y1;
} Extent;

typedef struct Counts {
    uint32_t found, kept;
} Counts;

/* What all kernels of a launch share. A node is word << 5 | rank of the run among those of its word. */
typedef struct Plan {
    uint32_t width, height;
    uint32_t row_words;    /* words per row, a multiple of 4 */
    uint32_t tiles_x, bands;
    uint32_t chunk_words, n_chunks;
    uint32_t capacity;     /* rows of the table */
    uint32_t slots, near_pairs; /* SLOTS, NEAR_PAIRS, or fewer to test what happens past them */

    Counts *counts;
    Sums *sums;            /* [id] of a kept component; all zero between frames */
    Extent *extents;       /* [id] of a component found; all zero between frames */
    uint32_t *keep_scan;   /* all zero between frames */
    uint32_t *finals;      /* [id] of a component found: y << 16 | x of its first pixel, then its label or 0 */
    uint64_t *bits;        /* [word] */
    uint32_t *heads;       /* [word]: ranks that are roots of their tile */
    uint32_t *runs;        /* [tile][run of the tile]: see run_entry() */
    uint32_t *n_runs;      /* [tile] */
    uint16_t *first_runs;  /* [word]: its first run among those of the tile */
    uint32_t *parents;     /* [node]: tile roots, last rows and tile edges only */
    uint2 *border;         /* [band][word of a row]: ranks in the row above, x: that are roots of parts of the band,
                            * y: that it joined to others there */
    uint32_t *partners;    /* [band][word of a row][rank]: to which */
    uint32_t *chunk_counts;
} Plan;

/* A frame, for the kernels. */
typedef struct Job {
    Plan plan;
    CudaVars *vars;        /* alone: solve stores them there */
    CclComponent *rows;
    CudaResult *result;
} Job;

/* Where a launch has its frame: in the kernel's argument, ... */
struct Alone {
    static constexpr bool MANY = false;
    Job job;
    __device__ const Job &get() const { return job; }
};

typedef struct __align__(16) BatchJob {
    Job job;
    CudaVars vars;
} BatchJob;

/* ... or in a list, blockIdx.z. Grids then fit the largest: blocks past a frame's own end at once. */
struct Listed {
    static constexpr bool MANY = true;
    const BatchJob *jobs;
    __device__ const Job &get() const /* once per kernel */
    {
        __shared__ Job job;
        const uint32_t *const from = (const uint32_t *)&jobs[blockIdx.z].job;
        for (uint32_t i = threadIdx.x; i < sizeof job / sizeof *from; i += blockDim.x)
            ((uint32_t *)&job)[i] = from[i];
        __syncthreads();
        return job;
    }
};

/* ---------------------------------------------------------------- small things */

/* Starts of the runs inside one word. */
__device__ static inline uint64_t starts_of(uint64_t bits)
{
    return bits & ~(bits << 1);
}

/* Which of the word's runs pixel x belongs to. */
__device__ static inline uint32_t rank_of(uint64_t starts, uint32_t x)
{
    return __popcll(starts & ((2ull << x) - 1)) - 1;
}

__device__ static inline uint32_t last_rank(uint64_t bits)
{
    return __popcll(starts_of(bits)) - 1;
}

/* The starts that the lane-th of the lanes that share a word takes care of: those in its share of the columns. */
template <uint32_t LANES> __device__ static inline uint64_t share_of(uint64_t starts, uint32_t lane)
{
    return LANES == 1 ? starts : starts & (~0ull >> (64 - 64 / LANES)) << lane * (64 / LANES);
}

/* How many starts are before those of a share. */
__device__ static inline uint32_t ranks_before(uint64_t starts, uint64_t share)
{
    return __popcll(starts & ((share & -share) - 1));
}

/* Sum over the lanes up to and with this one. */
__device__ static inline uint32_t warp_scan(uint32_t value)
{
    const uint32_t lane = threadIdx.x % 32;
#pragma unroll
    for (uint32_t i = 1; i < 32; i *= 2) {
        const uint32_t other = __shfl_up_sync(~0u, value, i);
        if (lane >= i)
            value += other;
    }
    return value;
}

/* Sum over the threads before this one; *total over the block. Once per kernel, or with a barrier in between. */
template <uint32_t THREADS> __device__ static inline uint32_t block_scan(uint32_t value, uint32_t *total)
{
    __shared__ uint32_t warps[THREADS / 32];
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const uint32_t sum = warp_scan(value);

    if (lane == 31)
        warps[warp] = sum;
    __syncthreads();
    uint32_t before = 0, all = 0;
#pragma unroll
    for (uint32_t i = 0; i < THREADS / 32; i++) {
        before += i < warp ? warps[i] : 0;
        all += warps[i];
    }
    *total = all;
    return before + sum - value;
}

__device__ static inline uint32_t warp_max(uint32_t value)
{
    return ~warp_min(~value);
}

/* ---------------------------------------------------------------- solve */

/* The runs of a tile, and the row above it, are numbered in raster order: an index. A slot holds the run's parent, an
 * index, in its upper half and its place, local word << 6 | first column, in the lower one, which never changes: the
 * smaller of two values for a slot is the one with the smaller parent. */
#define SLOT_PLACE 0xffffu
#define RUN_SLOTS (LOCAL_WORDS * 32)
#define NEAR_PAIRS 800u

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

/* 2048 pixels of a row, 16 at a time, to 32 words. Called by as many warps as lanes share a word. */
template <uint32_t LANES>
__device__ static inline void pack_row(const CudaVars *vars, uint32_t x, uint32_t y, uint32_t width, uint16_t *out,
                                       uint32_t share)
{
    constexpr uint32_t EACH = 4 / LANES;
    const uint32_t first = share * EACH * 32 + threadIdx.x % 32;
    const Comparison than = comparison(*vars);
    const uint8_t *const row = vars->mask + y * vars->mask_stride;
    uint4 bytes[EACH];
    uint32_t n[EACH];
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++) {
        const uint32_t from = x + (i * 32 + first) * 16;
        n[i] = from < width ? min(width - from, 16u) : 0;
        bytes[i] = n[i] ? load16(row + from, n[i]) : make_uint4(0, 0, 0, 0);
    }
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++)
        out[i * 32 + first] = (uint16_t)(pack16(bytes[i], than) & ((1u << n[i]) - 1));
}

/* A tile in shared memory. */
typedef struct Tile {
    uint64_t bits[LOCAL_WORDS];
    uint64_t pairs[LOCAL_WORDS - 32];    /* of a word and the one above */
    uint64_t implied[LOCAL_WORDS - 32];  /* see implied_in() */
    uint32_t slots[RUN_SLOTS];
    uint32_t heads[LOCAL_WORDS];         /* ranks that are roots of the tile */
    uint32_t joined[32];                 /* ranks in the row above that the tile joins to others there */
    uint32_t full[TILE_ROWS + 1];        /* words of a row that are all ones */
    uint32_t n_in_row[TILE_ROWS + 1];
    uint16_t first_run[LOCAL_WORDS];     /* of a word: index */
    uint32_t n_pairs;
    uint32_t near_pairs[NEAR_PAIRS];     /* to unite: run << 16 | run; see pair_at() */
} Tile;

/* Where the i-th pair to unite is. The first are near, the others where the tile's runs are published later; there is
 * room, as linking leaves no more pairs of two rows than the upper one has runs. */
__device__ static inline uint32_t *pair_at(Tile *tile, const Plan &plan, uint32_t *far, uint32_t i)
{
    return i < plan.near_pairs ? &tile->near_pairs[i] : &far[i - plan.near_pairs];
}

/* What a run has to do with those before it: which it continues, or those in the row above that it touches. */
typedef struct Touching {
    uint32_t continued;   /* index + 1, or 0 */
    uint64_t pairs;       /* first columns where they touch it */
    bool beyond;          /* the first run of the next word above, too */
} Touching;

template <bool EIGHT> __device__ static inline Touching touching(const Tile &tile, uint32_t at, uint32_t x)
{
    const uint64_t *const bits = tile.bits;
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
    to.pairs = tile.pairs[at - 32] & span;
    const bool ends_word = after < begin;
    to.beyond =
        EIGHT && ends_word && lane < 31 && !(bits[at + 1] & 1) && bits[at - 31] & 1 && !(bits[at - 32] >> 63);
    return to;
}

/* The run above that is first of those left, and goes from them. */
__device__ static inline uint32_t next_above(const Tile &tile, uint32_t at, Touching *to)
{
    if (!to->pairs) {
        to->beyond = false;
        return tile.first_run[at - 31];
    }
    const uint64_t upper = tile.bits[at - 32];
    const uint32_t x = __ffsll(to->pairs) - 1, before = ~(upper >> x) & 1, first = tile.first_run[at - 32];
    to->pairs &= to->pairs - 1;
    return before && x == 0 ? first - 1 : first + rank_of(starts_of(upper), x - before);
}

/* What a run is linked to, index + 1 (0: nothing), and what it has to be united with then. */
template <bool EIGHT> __device__ static inline uint32_t link_of(const Tile &tile, uint32_t slot, Touching *left)
{
    const uint32_t at = word_of(slot);
    *left = touching<EIGHT>(tile, at, slot % 64);
    uint32_t parent = left->continued;
    if (!parent && (left->pairs || left->beyond))
        parent = next_above(tile, at, left) + 1;
    if (at >= 32)
        left->pairs &= ~tile.implied[at - 32];
    return parent;
}

/* Mask -> bits. */
template <uint32_t LANES, bool PACKED>
__device__ static inline void load_tile(Tile *tile, const Plan &plan, const CudaVars *vars)
{
    const uint32_t thread = threadIdx.x, at = thread % LOCAL_WORDS, lane = at % 32, mine = thread / LOCAL_WORDS;
    const uint32_t y = blockIdx.y * TILE_ROWS + at / 32 - 1, word_x = blockIdx.x * 32 + lane;
    const bool in_image = y < plan.height; /* above band 0, y wraps around */

    const uint64_t *const packed_row = (const uint64_t *)(vars->mask + y * vars->mask_stride);
    if (PACKED && mine == 0)
        tile->bits[at] = in_image && word_x * 64 < plan.width ? packed_row[word_x] : 0;
    else if (!PACKED && in_image)
        pack_row<LANES>(vars, blockIdx.x * 2048, y, plan.width, (uint16_t *)(tile->bits + at - lane), mine);
    else if (!PACKED && mine == 0)
        tile->bits[at] = 0;
    if (mine == 0)
        tile->heads[at] = 0;
    if (thread < 32)
        tile->joined[thread] = 0;
    if (thread == 0)
        tile->n_pairs = 0;
    __syncthreads();
}

/* Bits -> pairs, and slots of runs that are their own parents. Returns how many runs there are. */
template <bool EIGHT, uint32_t LANES> __device__ static inline uint32_t list_runs(Tile *tile)
{
    const uint64_t *const bits = tile->bits;
    const uint32_t at = threadIdx.x % LOCAL_WORDS, lane = at % 32, row = at / 32, mine = threadIdx.x / LOCAL_WORDS;
    const uint64_t starts = starts_of(bits[at]);
    const uint32_t n_starts = __popcll(starts), n_up_to = warp_scan(n_starts);
    const uint32_t full = __ballot_sync(~0u, bits[at] == ~0ull);

    if (mine == 0 && row) {
        const bool above_before = lane && bits[at - 33] >> 63;
        const Pairs pairs = pairs_of<EIGHT>(bits[at], bits[at - 32], lane && bits[at - 1] >> 63, above_before);
        tile->pairs[at - 32] = pairs.over | pairs.left | pairs.right;
        tile->implied[at - 32] = 0;
        if (row > 1)
            tile->implied[at - 32] =
                implied_in<EIGHT>(bits[at - 32], bits[at - 64], above_before, lane && bits[at - 65] >> 63);
    }
    if (mine == 0 && lane == 31) {
        tile->n_in_row[row] = n_up_to;
        tile->full[row] = full;
    }
    __syncthreads();
    uint32_t n_runs = 0, n_before = 0;
#pragma unroll
    for (uint32_t i = 0; i <= TILE_ROWS; i++) {
        n_before += i < row ? tile->n_in_row[i] : 0;
        n_runs += tile->n_in_row[i];
    }
    const uint32_t first_run = n_before + n_up_to - n_starts;
    const uint64_t share = share_of<LANES>(starts, mine);
    uint32_t run = first_run + ranks_before(starts, share);
    for (uint64_t left = share; left; left &= left - 1, run++)
        tile->slots[run] = run << 16 | at << 6 | (__ffsll(left) - 1);
    if (mine == 0)
        tile->first_run[at] = first_run;
    __syncthreads();
    return n_runs;
}

/* Every run takes a run before it as parent, if one touches. What else it touches goes to the list of pairs. Returns
 * which of this thread's runs have no parent then. */
template <bool EIGHT, uint32_t THREADS>
__device__ static inline uint64_t link_runs(Tile *tile, const Plan &plan, uint32_t *far, uint32_t n_runs)
{
    uint64_t unlinked = 0, bit = 1;
    for (uint32_t run = threadIdx.x; run < n_runs; run += THREADS, bit <<= 1) {
        const uint32_t slot = tile->slots[run];
        Touching to;
        const uint32_t parent = link_of<EIGHT>(*tile, slot, &to);
        if (parent)
            tile->slots[run] = with_parent(slot, parent - 1);
        else
            unlinked |= bit;
        if (!to.pairs && !to.beyond)
            continue;
        uint32_t pair = atomicAdd(&tile->n_pairs, __popcll(to.pairs) + to.beyond);
        do
            *pair_at(tile, plan, far, pair++) = run << 16 | next_above(*tile, word_of(slot), &to);
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
__device__ static inline void unite_pairs(Tile *tile, const Plan &plan, uint32_t *far, uint64_t unlinked)
{
    volatile uint32_t *const slots = tile->slots;
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

    bool moved = true;
    while (moved) { /* each turn halves the ways, at least */
        moved = false;
        for (uint64_t left = unlinked; left; left &= left - 1) {
            const uint32_t run = threadIdx.x + (__ffsll(left) - 1) * THREADS, slot = slots[run];
            const uint32_t parent = parent_of(slot), above = parent_of(slots[parent]);
            if (above != parent) {
                shorten(slots, run, slot, above);
                moved = true;
            }
        }
        moved = __syncthreads_or(moved);
    }
}

/* A run of a tile, for measure: the tile's root as local word << 5 | rank, the place without the row above. */
__device__ static inline uint32_t run_entry(uint32_t root_key, uint32_t place)
{
    return root_key << 14 | place;
}

/* Each run's root goes to measure, and to join what the bands below and the tiles beside may ask for. */
template <uint32_t THREADS>
__device__ static inline void publish_runs(Tile *tile, const Plan &plan, uint32_t *runs, uint32_t n_runs)
{
    const volatile uint32_t *const slots = tile->slots;
    const uint32_t n_above = tile->n_in_row[0], border = (blockIdx.y * plan.row_words + blockIdx.x * 32) << 5;
    const auto node_of = [&](uint32_t key) {
        const uint32_t key_y = blockIdx.y * TILE_ROWS + (key >> 10) - 1;
        return (key_y * plan.row_words + blockIdx.x * 32 + (key >> 5 & 31)) << 5 | (key & 31);
    };
    const auto key_of = [&](uint32_t run, uint32_t word) { return word << 5 | (run - tile->first_run[word]); };

    for (uint32_t run = threadIdx.x; run < n_runs; run += THREADS) {
        const uint32_t slot = slots[run], word = word_of(slot), lane = word % 32, key = key_of(run, word);
        const uint32_t root = parent_of(slots[parent_of(slot)]), root_key = key_of(root, word_of(slots[root]));
        const bool continues = slot % 64 == 0 && lane && tile->bits[word - 1] >> 63;
        if (root == run)
            atomicOr(&tile->heads[word], 1u << key % 32);
        if (word >= 32) {
            runs[run - n_above] = run_entry(root_key, (slot & SLOT_PLACE) - (32 << 6));
            if (root == run || word >= TILE_ROWS * 32 || (plan.tiles_x > 1 && (lane == 0 || lane == 31)))
                plan.parents[node_of(key)] = node_of(root_key);
        } else if (root != run && !continues) {
            atomicOr(&tile->joined[word], 1u << key % 32);
            plan.partners[border + key] = node_of(root_key);
        }
    }
    if (threadIdx.x == 0)
        plan.n_runs[blockIdx.y * plan.tiles_x + blockIdx.x] = n_runs - n_above;
    __syncthreads();
}

/* Threads take words to load and to store, and runs in between. */
template <bool EIGHT, uint32_t LANES, bool PACKED, typename Jobs>
static __global__ void __launch_bounds__(SOLVE_THREADS(LANES))
    solve(const __grid_constant__ CudaVars given, const Jobs jobs)
{
    const Job &job = jobs.get();
    const Plan &plan = job.plan;
    constexpr uint32_t THREADS = SOLVE_THREADS(LANES);
    if (Jobs::MANY && (blockIdx.x >= plan.tiles_x || blockIdx.y >= plan.bands))
        return;
    if (!Jobs::MANY && blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0)
        *job.vars = given;
    __shared__ Tile tile;
    uint32_t *const runs = plan.runs + (size_t)(blockIdx.y * plan.tiles_x + blockIdx.x) * TILE_RUNS;

    load_tile<LANES, PACKED>(&tile, plan, Jobs::MANY ? job.vars : &given);
    const uint32_t n_runs = list_runs<EIGHT, LANES>(&tile);
    const uint64_t unlinked = link_runs<EIGHT, THREADS>(&tile, plan, runs, n_runs);
    flatten<THREADS>(tile.slots, n_runs);
    if (tile.n_pairs)
        unite_pairs<THREADS>(&tile, plan, runs, unlinked);
    let_successor_start();
    publish_runs<THREADS>(&tile, plan, runs, n_runs);

    const uint32_t at = threadIdx.x, row = at / 32;
    const uint32_t y = blockIdx.y * TILE_ROWS + row - 1, word_x = blockIdx.x * 32 + at % 32;
    if (at >= LOCAL_WORDS || y >= plan.height || word_x >= plan.row_words)
        return;
    const uint32_t word = y * plan.row_words + word_x;
    if (row) {
        plan.bits[word] = tile.bits[at];
        plan.heads[word] = tile.heads[at];
        plan.first_runs[word] = tile.first_run[at] - tile.n_in_row[0];
    } else {
        plan.border[blockIdx.y * plan.row_words + word_x] = make_uint2(tile.heads[at], tile.joined[at]);
    }
}

/* ---------------------------------------------------------------- join */

/* The root above a node; its own slot follows the climb, so that others who pass have a shorter way. */
__device__ static inline uint32_t climb(uint32_t *parents, uint32_t node)
{
    uint32_t parent = __ldcg(&parents[node]);
    if (parent == node)
        return node;
    for (;;) {
        const uint32_t grandparent = __ldcg(&parents[parent]);
        if (grandparent == parent)
            return parent;
        __stcg(&parents[node], grandparent);
        parent = grandparent;
    }
}

/* Climbs from both at once, so that two loads are on their way, and hooks the larger root under the smaller. */
__device__ static inline void unite_nodes(uint32_t *parents, uint32_t a, uint32_t b)
{
    uint32_t up_a = __ldcg(&parents[a]), up_b = __ldcg(&parents[b]);
    while (up_a != up_b) {
        const uint32_t next_a = __ldcg(&parents[up_a]), next_b = __ldcg(&parents[up_b]);
        if (next_a != up_a || next_b != up_b) {
            if (next_a != up_a)
                __stcg(&parents[a], next_a);
            if (next_b != up_b)
                __stcg(&parents[b], next_b);
            up_a = next_a;
            up_b = next_b;
            continue;
        }
        const uint32_t larger = max(up_a, up_b), smaller = min(up_a, up_b);
        const uint32_t old = atomicMin(&parents[larger], smaller);
        if (old == larger)
            return;
        a = larger;
        b = up_b = smaller;
        up_a = old;
    }
}

/* Between bands, eight lanes to a word of a band's last row: the runs that are roots of parts of the tile below climb,
 * and those that it joined to others are united with these. */
__device__ static inline void join_bands(const Plan &plan, uint32_t band, uint32_t word_x)
{
    if (word_x >= plan.row_words)
        return;
    const uint32_t first_node = ((band * TILE_ROWS + TILE_ROWS - 1) * plan.row_words + word_x) << 5;
    const uint32_t below = (band + 1) * plan.row_words + word_x, ours = 0x01010101u << threadIdx.x % 8;
    const uint2 masks = plan.border[below];
    for (uint32_t left = masks.x & ours; left; left &= left - 1)
        climb(plan.parents, first_node | (__ffs(left) - 1));
    for (uint32_t left = masks.y & ours; left; left &= left - 1)
        unite_nodes(plan.parents, first_node | (__ffs(left) - 1), plan.partners[below << 5 | (__ffs(left) - 1)]);
}

/* Between tiles side by side: what the row above does not imply. */
template <bool EIGHT> __device__ static inline void join_sides(const Plan &plan, uint32_t y, uint32_t seam)
{
    const uint32_t right_word = y * plan.row_words + seam * 32, left_word = right_word - 1;
    const uint64_t left = plan.bits[left_word], right = plan.bits[right_word];
    const uint64_t upper_left = y ? plan.bits[left_word - plan.row_words] : 0;
    const uint64_t upper_right = y ? plan.bits[right_word - plan.row_words] : 0;
    const bool l = left >> 63, r = right & 1, ul = upper_left >> 63, ur = upper_right & 1;
    if (l && r && !(ul && ur))
        unite_nodes(plan.parents, left_word << 5 | last_rank(left), right_word << 5);
    if (EIGHT && l && ur && !ul && !r)
        unite_nodes(plan.parents, left_word << 5 | last_rank(left), (right_word - plan.row_words) << 5);
    if (EIGHT && r && ul && !ur && !l)
        unite_nodes(plan.parents, right_word << 5, (left_word - plan.row_words) << 5 | last_rank(upper_left));
}

/* Blocks (x, band) take 32 words of a band's last row; the rows of the grid past them take the sides of tiles. */
template <bool EIGHT, typename Jobs> static __global__ void __launch_bounds__(JOIN_THREADS) join(const Jobs jobs)
{
    const Plan &plan = jobs.get().plan;
    if (Jobs::MANY && blockIdx.x >= plan.tiles_x)
        return;
    let_successor_start();
    wait_for_predecessor();
    if (blockIdx.y + 1 < plan.bands) {
        join_bands(plan, blockIdx.y, blockIdx.x * 32 + threadIdx.x / 8);
    } else {
        const uint32_t y = (blockIdx.y + 1 - plan.bands) * JOIN_THREADS + threadIdx.x;
        if (blockIdx.x && y < plan.height)
            join_sides<EIGHT>(plan, y, blockIdx.x);
    }
}

/* ---------------------------------------------------------------- number */

/* A chunk of words per block. */
template <typename Jobs> static __global__ void __launch_bounds__(NUMBER_THREADS) number(const Jobs jobs)
{
    const Plan &plan = jobs.get().plan;
    if (Jobs::MANY && blockIdx.x >= plan.n_chunks)
        return;
    const uint32_t n_words = plan.height * plan.row_words, each = plan.chunk_words / NUMBER_THREADS;
    const uint32_t first = blockIdx.x * plan.chunk_words + threadIdx.x * each;

    wait_for_predecessor();
    uint32_t n_roots = 0, total;
    for (uint32_t i = 0; i < each && first + i < n_words; i++) {
        const uint32_t heads = plan.heads[first + i];
        uint32_t roots = 0;
        for (uint32_t left = heads; left; left &= left - 1) {
            const uint32_t node = (first + i) << 5 | (__ffs(left) - 1);
            if (__ldcg(&plan.parents[node]) == node)
                roots |= left & -left;
        }
        if (roots != heads)
            plan.heads[first + i] = roots;
        n_roots += __popc(roots);
    }
    uint32_t rank = block_scan<NUMBER_THREADS>(n_roots, &total);
    if (threadIdx.x == 0)
        plan.chunk_counts[blockIdx.x] = total;
    if (!n_roots)
        return;
    for (uint32_t i = 0; i < each && first + i < n_words; i++)
        for (uint32_t roots = plan.heads[first + i]; roots; roots &= roots - 1)
            plan.parents[(first + i) << 5 | (__ffs(roots) - 1)] = NUMBERED | blockIdx.x << 17 | rank++;
}

/* ---------------------------------------------------------------- measure */

/* What measure does. */
enum Pass {
    PASS_ALL,  /* nothing is dropped: sums and labels */
    PASS_FIND, /* what a filter asks for */
    PASS_KEPT, /* when the filter has numbered the components it keeps: sums and labels */
};

/* Sums over pixels of a tile: coordinates relative to its corner; the sum of x squared in two parts, as 32 bits are not
 * enough for that of a tile. All zero is empty. */
enum { AREA, SX, SY, SXX_LOW, SXX_HIGH, SXY, SYY, N_SUMS, NOT_X0 = N_SUMS, X1, Y1, N_FIELDS };
typedef struct RunSums {
    uint32_t of[N_FIELDS];
} RunSums;

/* Sums of the components of a block, found by id. */
typedef struct BlockSums {
    uint32_t ids[SLOTS]; /* id + 1; 0: free */
    uint32_t fields[N_FIELDS][SLOTS];
} BlockSums;

/* Sum of i squared for i < n. */
__device__ static inline uint32_t squares_below(uint32_t n)
{
    return (n - 1) * n * (2 * n - 1) / 6; /* 0 for 0: unsigned wraps twice */
}

/* Adds the run that begins in a column of a word. */
__device__ static inline void add_run(RunSums *to, uint64_t bits, uint32_t at, uint32_t begin)
{
    const uint64_t rest = ~(bits >> begin);
    const uint32_t y = at / 32, left = at % 32 * 64, length = rest ? __ffsll(rest) - 1 : 64, end = begin + length;
    const uint32_t in_word = length * (begin + end - 1) / 2, x = in_word + left * length;
    const uint32_t xx = squares_below(end) - squares_below(begin) + left * (in_word + x);
    to->of[AREA] += length;
    to->of[SX] += x;
    to->of[SY] += y * length;
    to->of[SXX_LOW] += xx & 0xffff;
    to->of[SXX_HIGH] += xx >> 16;
    to->of[SXY] += y * x;
    to->of[SYY] += y * y * length;
    to->of[NOT_X0] = max(to->of[NOT_X0], ~(left + begin));
    to->of[X1] = max(to->of[X1], left + end);
    to->of[Y1] = y + 1;
}

/* Adds up the runs of a warp that have the same id (~0: none), for the first few ids. Returns whether this lane is to
 * pass on what is in *sums then. */
__device__ static inline bool add_up(uint32_t id, RunSums *sums)
{
    const uint32_t lane = threadIdx.x % 32;
    uint32_t pending = __ballot_sync(~0u, id != ~0u);
    bool speaks = pending >> lane & 1;
    for (uint32_t round = 0; round < ADD_ROUNDS && pending; round++) {
        const uint32_t leader = __ffs(pending) - 1, chosen = __shfl_sync(~0u, id, leader);
        const bool peer = id == chosen;
        const uint32_t peers = __ballot_sync(~0u, peer);
        pending &= ~peers;
        if (!(peers & (peers - 1)))
            continue;
        RunSums all;
#pragma unroll
        for (uint32_t field = 0; field < N_FIELDS; field++) {
            const uint32_t value = peer ? sums->of[field] : 0;
            all.of[field] = field < N_SUMS ? warp_sum(value) : warp_max(value);
        }
        if (lane == leader)
            *sums = all;
        else if (peer)
            speaks = false;
    }
    return speaks;
}

/* (x, y): what the sums are relative to. */
__device__ static inline void add_global(Extent *to, const RunSums &sums, uint32_t x, uint32_t y)
{
    atomicAdd(&to->area, sums.of[AREA]);
    atomicMax(&to->not_x0, sums.of[NOT_X0] - x);
    atomicMax(&to->x1, x + sums.of[X1]);
    atomicMax(&to->y1, y + sums.of[Y1]);
}

__device__ static inline void add_global(Sums *to, const RunSums &sums, uint32_t x, uint32_t y)
{
    const uint64_t n = sums.of[AREA], sx = sums.of[SX], sy = sums.of[SY], m10 = sx + x * n;
    const uint64_t xx = sums.of[SXX_LOW] + ((uint64_t)sums.of[SXX_HIGH] << 16);
    atomicAdd(&to->area, (unsigned long long)n);
    atomicAdd(&to->m10, (unsigned long long)m10);
    atomicAdd(&to->m01, (unsigned long long)(sy + y * n));
    atomicAdd(&to->m20, (unsigned long long)(xx + x * sx + x * m10));
    atomicAdd(&to->m11, (unsigned long long)(sums.of[SXY] + x * sy + y * m10));
    atomicAdd(&to->m02, (unsigned long long)(sums.of[SYY] + 2 * y * sy + y * (y * n)));
    atomicMax(&to->not_x0, sums.of[NOT_X0] - x);
    atomicMax(&to->x1, x + sums.of[X1]);
    atomicMax(&to->y1, y + sums.of[Y1]);
}

/* The slot of a component, or SLOTS when those near its place are taken. */
__device__ static inline uint32_t slot_of(BlockSums *block, uint32_t id, uint32_t n_slots)
{
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t slot = (id + i) % n_slots, old = atomicCAS(&block->ids[slot], 0, id + 1);
        if (old == 0 || old == id + 1)
            return slot;
    }
    return SLOTS;
}

__device__ static inline void add_block(BlockSums *block, uint32_t slot, const RunSums &sums)
{
#pragma unroll
    for (uint32_t field = 0; field < N_FIELDS; field++) {
        if (field < N_SUMS)
            atomicAdd(&block->fields[field][slot], sums.of[field]);
        else
            atomicMax(&block->fields[field][slot], sums.of[field]);
    }
}

template <Pass PASS, bool LABELS, uint32_t LANES, typename Jobs>
static __global__ void __launch_bounds__(MEASURE_THREADS(LANES)) measure(const Jobs jobs)
{
    const Job &job = jobs.get();
    const Plan &plan = job.plan;
    if (Jobs::MANY && (blockIdx.x >= plan.tiles_x || blockIdx.y >= plan.bands))
        return;
    constexpr uint32_t THREADS = MEASURE_THREADS(LANES);
    __shared__ BlockSums block;
    __shared__ uint32_t bases[MOST_CHUNKS];
    __shared__ uint64_t tile_bits[TILE_WORDS];
    __shared__ uint32_t labels[LABELS ? TILE_RUNS : 1]; /* of the tile's runs */

    /* As painters, a warp has four words of eight rows. */
    const uint32_t thread = threadIdx.x, lane = thread % 32, mine = thread / TILE_WORDS;
    const uint32_t warp_x = thread % TILE_WORDS / 32 * 4, column = warp_x + lane % 4, row = lane / 4;
    const uint32_t tile_x = blockIdx.x * 2048, tile_y = blockIdx.y * TILE_ROWS;
    const uint32_t word_x = blockIdx.x * 32 + column;
    const bool inside = tile_y + row < plan.height && word_x < plan.row_words;
    const uint32_t word = (tile_y + row) * plan.row_words + word_x;
    const uint32_t tile_at = blockIdx.y * plan.tiles_x + blockIdx.x;
    const uint32_t *const runs = plan.runs + (size_t)tile_at * TILE_RUNS;

    for (uint32_t i = thread; i < SLOTS; i += THREADS) {
        block.ids[i] = 0;
        for (uint32_t field = 0; field < N_FIELDS; field++)
            block.fields[field][i] = 0;
    }
    wait_for_predecessor();

    const uint64_t bits = inside ? plan.bits[word] : 0;
    const uint32_t first_run = LABELS && bits ? plan.first_runs[word] : 0, n_runs = plan.n_runs[tile_at];
    const auto node_of = [&](uint32_t entry) {
        const uint32_t key = entry >> 14, root_y = tile_y + (key >> 10) - 1;
        return (root_y * plan.row_words + blockIdx.x * 32 + (key >> 5 & 31)) << 5 | (key & 31);
    };
    /* The first loads of a lane's chain start before the block waits for other things. */
    const uint32_t n_each = (n_runs + THREADS - 1) / THREADS, end_run = min((thread + 1) * n_each, n_runs);
    uint32_t run = thread * n_each, next_entry = 0, next_number = 0;
    const auto fetch = [&](uint32_t at) {
        if (at < end_run) {
            next_entry = runs[at];
            next_number = plan.parents[node_of(next_entry)];
        }
    };
    fetch(run);
    if (mine == 0)
        tile_bits[row * 32 + column] = bits;

    /* Chunk counts -> ids of their first components. */
    {
        uint32_t counts[MOST_CHUNKS / THREADS], sum = 0, total;
#pragma unroll
        for (uint32_t i = 0; i < MOST_CHUNKS / THREADS; i++) {
            const uint32_t chunk = thread * (MOST_CHUNKS / THREADS) + i;
            counts[i] = chunk < plan.n_chunks ? plan.chunk_counts[chunk] : 0;
            sum += counts[i];
        }
        uint32_t base = block_scan<THREADS>(sum, &total);
#pragma unroll
        for (uint32_t i = 0; i < MOST_CHUNKS / THREADS; i++) {
            bases[thread * (MOST_CHUNKS / THREADS) + i] = base;
            base += counts[i];
        }
        if (PASS != PASS_KEPT && thread == 0 && blockIdx.x == 0 && blockIdx.y == 0)
            plan.counts->found = plan.counts->kept = total;
        __syncthreads();
    }

    /* Sums: a lane adds up its runs while they belong to one component; the warp its lanes, the block its warps. */
    const auto add = [&](uint32_t id, const RunSums &sums) {
        if (PASS != PASS_FIND && id >= plan.capacity)
            return;
        const uint32_t slot = slot_of(&block, id, plan.slots);
        if (slot < SLOTS)
            add_block(&block, slot, sums);
        else if (PASS == PASS_FIND)
            add_global(&plan.extents[id], sums, tile_x, tile_y);
        else
            add_global(&plan.sums[id], sums, tile_x, tile_y);
    };
    if ((thread - lane) * n_each < n_runs) {
        RunSums sums = {};
        uint32_t current = ~0u, entry_before = ~0u, id = ~0u;
        for (; run < end_run; run++) {
            const uint32_t entry = next_entry;
            uint32_t number = next_number;
            fetch(run + 1);
            const uint32_t at = entry >> 6 & 0xff, begin = entry & 63, key = entry >> 14;
            if (key != entry_before >> 14) {
                const bool is_root = number & NUMBERED && key >> 5 == at + 32 &&
                                     (key & 31) == rank_of(starts_of(tile_bits[at]), begin);
                while (!(number & NUMBERED))
                    number = plan.parents[number];
                id = bases[number >> 17 & (MOST_CHUNKS - 1)] + (number & 0x1ffff);
                const uint32_t first = (tile_y + at / 32) << 16 | (tile_x + at % 32 * 64 + begin);
                if (PASS == PASS_FIND && is_root)
                    plan.finals[id] = first;
                if (PASS == PASS_ALL && is_root && id < plan.capacity)
                    plan.sums[id].first = first;
                if (PASS == PASS_KEPT)
                    id = plan.finals[id] - 1; /* dropped: past the end of every table */
                entry_before = entry;
            }
            if (LABELS)
                labels[run] = id + 1;
            if (id != current) {
                if (current != ~0u)
                    add(current, sums);
                sums = RunSums{};
                current = id;
            }
            add_run(&sums, tile_bits[at], at, begin);
        }
        if (add_up(current, &sums))
            add(current, sums);
    }
    __syncthreads();
    for (uint32_t slot = thread; slot < plan.slots; slot += THREADS) {
        const uint32_t id = block.ids[slot] - 1;
        if (id == ~0u)
            continue;
        RunSums sums;
        for (uint32_t field = 0; field < N_FIELDS; field++)
            sums.of[field] = block.fields[field][slot];
        if (PASS == PASS_FIND)
            add_global(&plan.extents[id], sums, tile_x, tile_y);
        else
            add_global(&plan.sums[id], sums, tile_x, tile_y);
    }

    __syncthreads();
    /* Labels: a warp writes half a kilobyte of a row at a time, two words of its four. */
    if (!LABELS)
        return;
    const CudaVars *const vars = job.vars;
    const uint32_t occupied = __ballot_sync(~0u, bits != 0);
    const uint32_t low = (uint32_t)bits, high = (uint32_t)(bits >> 32);
    for (uint32_t i = mine * (32 / LANES); i < (mine + 1) * (32 / LANES); i += 2) {
        const uint32_t pixel_x = tile_x + warp_x * 64 + i % 4 * 64 + lane * 4, pixel_y = tile_y + i / 4;
        uint4 value = make_uint4(0, 0, 0, 0);
        if (occupied >> i & 3) {
            const uint32_t owner = i + lane / 16, shift = lane % 16 * 4;
            const uint64_t b = __shfl_sync(~0u, low, owner) | (uint64_t)__shfl_sync(~0u, high, owner) << 32;
            const uint32_t first = __shfl_sync(~0u, first_run, owner), nibble = b >> shift & 15;
            if (nibble) {
                const uint32_t from = __ffs(nibble) - 1;
                const uint32_t *const label = &labels[first + rank_of(starts_of(b), shift + from)];
                const uint32_t again = nibble & ~(nibble << 1) & ~(1u << from); /* where a second run starts */
                const uint32_t one = label[0], two = again ? label[1] : 0;
                const uint32_t before = again ? again - 1 : 15;
                value.x = nibble & 1 ? one : 0;
                value.y = nibble & 2 ? before & 2 ? one : two : 0;
                value.z = nibble & 4 ? before & 4 ? one : two : 0;
                value.w = nibble & 8 ? before & 8 ? one : two : 0;
            }
        }
        if (pixel_y >= plan.height || pixel_x >= plan.width)
            continue;
        uint32_t *const pixels = vars->labels + pixel_y * vars->label_stride + pixel_x;
        if ((uintptr_t)pixels % 16 == 0 && pixel_x + 4 <= plan.width) {
            __stcs((uint4 *)pixels, value);
        } else {
            pixels[0] = value.x;
            if (pixel_x + 1 < plan.width)
                pixels[1] = value.y;
            if (pixel_x + 2 < plan.width)
                pixels[2] = value.z;
            if (pixel_x + 3 < plan.width)
                pixels[3] = value.w;
        }
    }
}

/* ---------------------------------------------------------------- keep */

/* Numbers the components that the filter keeps. */
template <typename Jobs> static __global__ void __launch_bounds__(KEEP_THREADS) keep(const Jobs jobs)
{
    __shared__ uint32_t shared_before;
    const Job &job = jobs.get();
    const Plan &plan = job.plan;
    const CclLimits limits = job.vars->limits;

    wait_for_predecessor();
    const uint32_t n = plan.counts->found;
    for (;;) {
        const uint32_t tile = scan_next_tile(plan.keep_scan), id = tile * KEEP_THREADS + threadIdx.x;
        if (tile * KEEP_THREADS >= n)
            return;
        bool kept = false;
        uint32_t first = 0;
        if (id < n) {
            const Extent extent = plan.extents[id];
            const uint32_t x0 = ~extent.not_x0;
            plan.extents[id] = Extent{ 0, 0, 0, 0 };
            first = plan.finals[id];
            kept = ccl_keeps(&limits, extent.area, extent.x1 - x0, extent.y1 - (first >> 16),
                             ccl_border_flags(x0, first >> 16, extent.x1, extent.y1, plan.width, plan.height));
        }
        uint32_t n_kept;
        const uint32_t rank = block_scan<KEEP_THREADS>(kept, &n_kept);
        if (threadIdx.x < 32) {
            const uint32_t before = scan_before(plan.keep_scan, tile, n_kept);
            if (threadIdx.x == 0) {
                shared_before = before;
                if ((tile + 1) * KEEP_THREADS >= n)
                    plan.counts->kept = before + n_kept;
            }
        }
        __syncthreads();
        const uint32_t kept_id = shared_before + rank;
        if (id < n)
            plan.finals[id] = kept ? kept_id + 1 : 0;
        if (kept && kept_id < plan.capacity)
            plan.sums[kept_id].first = first;
    }
}

/* ---------------------------------------------------------------- rows */

/* Four lanes to a row, 16 bytes each; the sums are left empty for the next frame. */
template <typename Jobs>
static __global__ void __launch_bounds__(ROWS_THREADS) write_rows(const Jobs jobs, bool filtered)
{
    const Job &job = jobs.get();
    const Plan &plan = job.plan;
    const CudaVars *const vars = job.vars;
    const uint32_t thread = blockIdx.x * ROWS_THREADS + threadIdx.x, n_threads = gridDim.x * ROWS_THREADS;
    const bool flagged = vars->limits.border == CCL_BORDER_FLAG;

    wait_for_predecessor();
    const uint32_t found = plan.counts->found, kept = plan.counts->kept, n = min(kept, plan.capacity);
    if (thread == 0)
        *job.result = CudaResult{ found, kept };
    if (filtered)
        for (uint32_t i = thread; i < SCAN_WORDS((found + KEEP_THREADS - 1) / KEEP_THREADS); i += n_threads)
            plan.keep_scan[i] = 0;
    for (uint32_t i = thread; i < n * 4; i += n_threads) {
        uint4 *const quarter = (uint4 *)plan.sums + i;
        uint4 value = __ldcg(quarter);
        __stcg(quarter, make_uint4(0, 0, 0, 0));
        if (i % 4 == 3) {
            const uint32_t x0 = ~value.x & 0xffff, x1 = value.y, y1 = value.z, y0 = value.w >> 16;
            const uint32_t flags = flagged ? ccl_border_flags(x0, y0, x1, y1, plan.width, plan.height) : 0;
            value = make_uint4(i / 4 + 1, x0 | y0 << 16, x1 | y1 << 16, (value.w & 0xffff) | flags << 16);
        }
        ((uint4 *)job.rows)[i] = value;
    }
}

/* ---------------------------------------------------------------- launch */

static size_t take(size_t *used, size_t bytes)
{
    const size_t at = *used;
    *used += (bytes + 255) / 256 * 256;
    return at;
}

/* CCL_TEST_LIMIT in the environment makes room in shared memory this small, so that tests see what happens past it. */
static uint32_t test_limit(uint32_t n)
{
    const char *const text = getenv("CCL_TEST_LIMIT");
    const int limit = text ? atoi(text) : 0;
    return limit > 0 ? min(n, (uint32_t)limit) : n;
}

/* CudaRoom.of */
enum { ROOM_ROWS, ROOM_COMPONENTS, ROOM_WORDS, ROOM_BORDER_WORDS, ROOM_TILES };

static uint32_t row_words_of(uint32_t width)
{
    return (width + 255) / 256 * 4;
}

static uint32_t tiles_x_of(uint32_t width)
{
    return (row_words_of(width) + 31) / 32;
}

static uint32_t bands_of(uint32_t height)
{
    return (height + TILE_ROWS - 1) / TILE_ROWS;
}

static CudaRoom room_for(const CclContext *context)
{
    const CclConfig *const config = &context->config;
    CudaRoom room = {};
    room.of[ROOM_ROWS] = context->capacity;
    room.of[ROOM_COMPONENTS] = ccl_most_components(config->max_width, config->max_height, config->connectivity);
    room.of[ROOM_WORDS] = (size_t)row_words_of(config->max_width) * config->max_height;
    room.of[ROOM_BORDER_WORDS] = (size_t)row_words_of(config->max_width) * bands_of(config->max_height);
    room.of[ROOM_TILES] = (size_t)tiles_x_of(config->max_width) * bands_of(config->max_height);
    return room;
}

/* Lays out the workspace, the same for every frame that it has room for, and returns its bytes. So what must stay zero
 * between frames stays in its place. */
static size_t lay_out(Plan *plan, uint8_t *workspace, const CudaRoom *room)
{
    const size_t n_words = room->of[ROOM_WORDS], n_border_words = room->of[ROOM_BORDER_WORDS];
    const size_t n_tiles = room->of[ROOM_TILES];
    const size_t n_rows = room->of[ROOM_ROWS], most = room->of[ROOM_COMPONENTS];
    size_t used = 0;

    plan->counts = (Counts *)(workspace + take(&used, sizeof(Counts)));
    plan->sums = (Sums *)(workspace + take(&used, n_rows * sizeof(Sums)));
    plan->extents = (Extent *)(workspace + take(&used, most * sizeof(Extent)));
    const size_t n_keep_words = SCAN_WORDS(blocks_for(most, KEEP_THREADS));
    plan->keep_scan = (uint32_t *)(workspace + take(&used, n_keep_words * sizeof(uint32_t)));
    plan->finals = (uint32_t *)(workspace + take(&used, most * sizeof(uint32_t)));
    plan->chunk_counts = (uint32_t *)(workspace + take(&used, MOST_CHUNKS * sizeof(uint32_t)));
    plan->bits = (uint64_t *)(workspace + take(&used, n_words * sizeof(uint64_t)));
    plan->heads = (uint32_t *)(workspace + take(&used, n_words * sizeof(uint32_t)));
    plan->runs = (uint32_t *)(workspace + take(&used, n_tiles * TILE_RUNS * sizeof(uint32_t)));
    plan->n_runs = (uint32_t *)(workspace + take(&used, n_tiles * sizeof(uint32_t)));
    plan->first_runs = (uint16_t *)(workspace + take(&used, n_words * sizeof(uint16_t)));
    plan->parents = (uint32_t *)(workspace + take(&used, n_words * 32 * sizeof(uint32_t)));
    plan->border = (uint2 *)(workspace + take(&used, n_border_words * sizeof(uint2)));
    plan->partners = (uint32_t *)(workspace + take(&used, n_border_words * 32 * sizeof(uint32_t)));
    return used;
}

static size_t workspace_size(const CudaRoom *room)
{
    Plan plan;
    return lay_out(&plan, NULL, room);
}

static Plan plan_for(const CclContext *context, void *workspace, const CudaRoom *room, uint32_t width, uint32_t height)
{
    Plan plan;
    plan.width = width;
    plan.height = height;
    plan.row_words = row_words_of(width);
    plan.tiles_x = tiles_x_of(width);
    plan.bands = bands_of(height);
    const size_t n_words = (size_t)plan.row_words * height;
    plan.chunk_words = NUMBER_THREADS * blocks_for(n_words, NUMBER_THREADS * MOST_CHUNKS);
    plan.n_chunks = blocks_for(n_words, plan.chunk_words);
    plan.capacity = context->capacity;
    plan.slots = test_limit(SLOTS);
    plan.near_pairs = test_limit(NEAR_PAIRS);
    lay_out(&plan, (uint8_t *)workspace, room);
    return plan;
}

static Job job_for(const CclContext *context, const CudaFrame *frame, void *workspace, const CudaRoom *room,
                   CudaVars *vars)
{
    return Job{ plan_for(context, workspace, room, frame->shape.width, frame->shape.height), vars, frame->rows,
                frame->result };
}

/* Blocks of each kernel. */
typedef struct Grids {
    dim3 solve, join, number, measure, keep, rows;
} Grids;

static Grids grids_for(const Plan *plan, unsigned multiprocessors)
{
    const uint32_t n_sides = plan->tiles_x > 1 ? blocks_for(plan->height, JOIN_THREADS) : 0;
    Grids grids;
    grids.solve = dim3(plan->tiles_x, plan->bands);
    grids.join = dim3(plan->tiles_x, plan->bands - 1 + n_sides);
    grids.number = dim3(plan->n_chunks);
    grids.measure = dim3(plan->tiles_x, plan->bands);
    grids.keep = dim3(2 * multiprocessors);
    grids.rows = dim3(min(blocks_for((size_t)plan->capacity * 4, ROWS_THREADS), 128u));
    return grids;
}

/* Launches a kernel; with `overlap` it may start while the one before it ends. */
template <typename... Args>
static CclStatus launch(CudaFrame *frame, const char *name, bool overlap, void (*kernel)(Args...), dim3 grid,
                        uint32_t threads, Args... args)
{
    CCL_CUDA_TRY(launch_in(frame->stream, overlap && frame->overlap, kernel, grid, threads, 0, args...));
    return cuda_launched(frame, name, cuda_parameters_with_vars(kernel), __FILE__, __LINE__);
}

/* The launches for a frame, or for all of a list. */
template <bool EIGHT, uint32_t LANES, typename Jobs>
static CclStatus launch_with(CudaFrame *frame, const CudaShape *shape, const Jobs &jobs, const Grids &grids)
{
    const bool labels = shape->label_mode != CUDA_LABELS_NONE, filtered = !shape->keep_all;
    const auto run_measure = [&](const char *name, void (*kernel)(const Jobs)) {
        return launch(frame, name, true, kernel, grids.measure, MEASURE_THREADS(LANES), jobs);
    };

    const auto solve_input = shape->packed ? solve<EIGHT, LANES, true, Jobs> : solve<EIGHT, LANES, false, Jobs>;
    const CudaVars given = Jobs::MANY ? CudaVars{} : frame->vars;
    CCL_TRY(launch(frame, "solve", false, solve_input, grids.solve, SOLVE_THREADS(LANES), given, jobs));
    if (grids.join.y)
        CCL_TRY(launch(frame, "join", true, join<EIGHT, Jobs>, grids.join, JOIN_THREADS, jobs));
    CCL_TRY(launch(frame, "number", true, number<Jobs>, grids.number, NUMBER_THREADS, jobs));
    if (filtered) {
        CCL_TRY(run_measure("find", measure<PASS_FIND, false, LANES, Jobs>));
        CCL_TRY(launch(frame, "keep", true, keep<Jobs>, grids.keep, KEEP_THREADS, jobs));
        CCL_TRY(run_measure("measure",
                            labels ? measure<PASS_KEPT, true, LANES, Jobs> : measure<PASS_KEPT, false, LANES, Jobs>));
    } else {
        CCL_TRY(run_measure("measure",
                            labels ? measure<PASS_ALL, true, LANES, Jobs> : measure<PASS_ALL, false, LANES, Jobs>));
    }
    return launch(frame, "rows", true, write_rows<Jobs>, grids.rows, ROWS_THREADS, jobs, filtered);
}

/* Few tiles leave multiprocessors idle; then more lanes share the work of a word. */
template <typename Jobs>
static CclStatus launch_all(CudaFrame *frame, const CudaShape *shape, CclConnectivity connectivity,
                            unsigned multiprocessors, const Jobs &jobs, const Grids &grids, uint32_t n_tiles)
{
        const bool small = n_tiles <= 2 * multiprocessors;
    if (connectivity == CCL_CONNECT_8)
        return small ? launch_with<true, SMALL_LANES>(frame, shape, jobs, grids)
                     : launch_with<true, 1>(frame, shape, jobs, grids);
    return small ? launch_with<false, SMALL_LANES>(frame, shape, jobs, grids)
                 : launch_with<false, 1>(frame, shape, jobs, grids);
}

static CclStatus analyze(CclContext *context, CclFrame *ccl_frame)
{
    CudaFrame *const frame = cuda_frame(ccl_frame);
    const unsigned multiprocessors = cuda_multiprocessors(context);
    const Alone alone = { job_for(context, frame, cuda_workspace(context), cuda_room(context), frame->kept) };
    const Plan *const plan = &alone.job.plan;
    return launch_all(frame, &frame->shape, context->config.connectivity, multiprocessors, alone,
                      grids_for(plan, multiprocessors), plan->tiles_x * plan->bands);
}

/* ---------------------------------------------------------------- batches */

static void describe(const CudaBatch *batch)
{
    BatchJob *const jobs = (BatchJob *)batch->jobs;
    BatchJob *const d_jobs = (BatchJob *)batch->d_jobs;
    for (unsigned i = 0; i < batch->n; i++) {
        jobs[i].job = job_for(batch->contexts[i], batch->frames[i], batch->workspaces[i], batch->room, &d_jobs[i].vars);
        jobs[i].vars = *batch->vars[i];
    }
}

static dim3 larger(dim3 a, dim3 b)
{
    return dim3(max(a.x, b.x), max(a.y, b.y), max(a.z, b.z));
}

/* Grids for all frames at once: blocks for the largest for each, so that the keepers and writers, whose number is free,
 * are shared out. */
static CclStatus launch_batch(const CudaBatch *batch)
{
    const BatchJob *const jobs = (const BatchJob *)batch->jobs;
    const Listed listed = { (const BatchJob *)batch->d_jobs };
    uint32_t n_tiles = 0;
    Grids all = {};
    for (unsigned i = 0; i < batch->n; i++) {
        const Plan *const plan = &jobs[i].job.plan;
        const Grids grids = grids_for(plan, max(1u, batch->multiprocessors / batch->n));
        n_tiles += plan->tiles_x * plan->bands;
        all.solve = larger(all.solve, grids.solve);
        all.join = i ? larger(all.join, grids.join) : grids.join;
        all.number = larger(all.number, grids.number);
        all.measure = larger(all.measure, grids.measure);
        all.keep = larger(all.keep, grids.keep);
        all.rows = larger(all.rows, grids.rows);
    }
    all.rows.x = min(all.rows.x, max(2u, 256u / batch->n));
    dim3 *const every[] = { &all.solve, &all.join, &all.number, &all.measure, &all.keep, &all.rows };
    for (dim3 *grid : every)
        grid->z = batch->n;
    return launch_all(batch->launcher, &batch->shape, batch->connectivity, batch->multiprocessors, listed, all,
                      n_tiles);
}

static const CudaBatches batches = { room_for, workspace_size, sizeof(BatchJob), describe, launch_batch };

const CclAlgorithm ccl_cuda_runs = {
    .info = { .name = "runs", .title = "Runs of bit rows as union-find nodes", .paper = NULL,
              .backend = CCL_BACKEND_CUDA, .connectivity = CCL_CONNECT_4 | CCL_CONNECT_8 },
    .unit = "run",
    .takes_bits = true,
    .analyze = analyze,
    .batches = &batches,
};
