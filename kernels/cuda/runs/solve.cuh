/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The first kernel of label/runs.cu: the runs of a tile, and which belong together there. */
#ifndef CCL_CUDA_RUNS_SOLVE_CUH
#define CCL_CUDA_RUNS_SOLVE_CUH

#include "../bits.cuh"
#include "plan.cuh"

/* The runs of a tile, and the row above it, are numbered in raster order: an index. A slot holds the run's parent, an
 * index, in its upper half and its place, local word << 6 | first column, in the lower one, which never changes: the
 * smaller of two values for a slot is the one with the smaller parent. */
#define SLOT_PLACE 0xffffu
#define NEAR_PAIRS 800u

#define SOLVE_THREADS(lanes) (LOCAL_WORDS * (lanes))
#define SOLVE_BLOCKS (RESIDENT_THREADS / LOCAL_WORDS) /* of one lane to a word, on a multiprocessor, at least */
#define FEW_RUNS 1024u /* that solve has room for where many tiles share a multiprocessor */
#define DENSE_LANES 1u
#define DENSE_BLOCKS 4u /* on a multiprocessor */

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
    const uint32_t from = x + first * 16;
    const uint8_t *const pixels = vars->mask + y * vars->mask_stride + from;
    const bool aligned = (uintptr_t)pixels % 16 == 0;
    uint4 bytes[EACH];
    uint32_t n[EACH];
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++) {
        n[i] = 16;
        if (aligned && from + i * 512 + 16 <= width) {
            bytes[i] = __ldg((const uint4 *)(pixels + i * 512));
        } else {
            n[i] = from + i * 512 < width ? min(width - from - i * 512, 16u) : 0;
            bytes[i] = n[i] ? load16_bytes(pixels + i * 512, n[i]) : make_uint4(0, 0, 0, 0);
        }
    }
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++)
        out[i * 32 + first] = (uint16_t)(pack16(bytes[i], than) & ((1u << n[i]) - 1));
}

/* A tile in shared memory, but for the slots of its runs. */
typedef struct Tile {
    uint64_t bits[LOCAL_WORDS];
    uint64_t pairs[LOCAL_WORDS - 32];    /* of a word and the one above */
    uint64_t implied[LOCAL_WORDS - 32];  /* see implied_in() */
    uint32_t heads[LOCAL_WORDS];         /* ranks that are roots of the tile */
    uint32_t joined[32];                 /* ranks in the row above that the tile joins to others there */
    uint32_t full[TILE_ROWS + 1];        /* words of a row that are all ones */
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

/* Where a tile is. */
typedef struct TileAt {
    uint32_t x, band;
} TileAt;

__device__ static inline uint32_t tile_number(const Plan &plan, TileAt where)
{
    return where.band * plan.tiles_x + where.x;
}

/* Mask -> bits. */
template <uint32_t LANES, bool PACKED>
__device__ static inline void load_tile(Tile *tile, const Plan &plan, TileAt where, const CudaVars *vars)
{
    const uint32_t thread = threadIdx.x, at = thread % LOCAL_WORDS, lane = at % 32, mine = thread / LOCAL_WORDS;
    const uint32_t y = where.band * TILE_ROWS + at / 32 - 1, word_x = where.x * 32 + lane;
    const bool in_image = y < plan.height; /* above band 0, y wraps around */

    const uint64_t *const packed_row = (const uint64_t *)(vars->mask + y * vars->mask_stride);
    if (PACKED && mine == 0)
        tile->bits[at] = in_image && word_x * 64 < plan.width ? packed_row[word_x] : 0;
    else if (!PACKED && in_image)
        pack_row<LANES>(vars, where.x * 2048, y, plan.width, (uint16_t *)(tile->bits + at - lane), mine);
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

/* Bits -> pairs, and slots of runs that are their own parents. Returns how many runs there are: with more than `room`
 * no slot is written. */
template <bool EIGHT, uint32_t LANES>
__device__ static inline uint32_t list_runs(Tile *tile, uint32_t *slots, uint32_t room)
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
    const uint32_t in_row = lane <= TILE_ROWS ? tile->n_in_row[lane] : 0;
    const uint32_t n_runs = warp_sum(in_row), n_before = warp_sum(lane < row ? in_row : 0);
    if (n_runs > room)
        return n_runs;
    const uint32_t first_run = n_before + n_up_to - n_starts;
    /* Of two lanes, each takes half of the word. */
    static_assert(LANES <= 2, "a word has two halves");
    uint32_t run = first_run + (mine ? __popc((uint32_t)starts) : 0);
    for (uint32_t half = mine; half <= (LANES == 2 ? mine : 1); half++)
        for (uint32_t left = (uint32_t)(starts >> 32 * half); left; left &= left - 1, run++)
            slots[run] = run << 16 | at << 6 | half << 5 | (__ffs(left) - 1);
    if (mine == 0)
        tile->first_run[at] = first_run;
    __syncthreads();
    return n_runs;
}

/* Every run takes a run before it as parent, if one touches. What else it touches goes to the list of pairs. Returns
 * which of this thread's runs have no parent then. */
template <bool EIGHT, uint32_t THREADS>
__device__ static inline uint64_t link_runs(Tile *tile, uint32_t *slots, const Plan &plan, uint32_t *far,
                                            uint32_t n_runs)
{
    uint64_t unlinked = 0, bit = 1;
    for (uint32_t run = threadIdx.x; run < n_runs; run += THREADS, bit <<= 1) {
        const uint32_t slot = slots[run];
        Touching to;
        const uint32_t parent = link_of<EIGHT>(*tile, slot, &to);
        if (parent)
            slots[run] = with_parent(slot, parent - 1);
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
__device__ static inline void publish_runs(Tile *tile, const volatile uint32_t *slots, const Plan &plan, TileAt where,
                                           uint32_t *runs, uint32_t n_runs)
{
    const uint32_t n_above = tile->n_in_row[0], border = (where.band * plan.row_words + where.x * 32) << 5;
    const auto node_of = [&](uint32_t key) {
        const uint32_t key_y = where.band * TILE_ROWS + (key >> 10) - 1;
        return (key_y * plan.row_words + where.x * 32 + (key >> 5 & 31)) << 5 | (key & 31);
    };
    const auto key_of = [&](uint32_t run, uint32_t word) { return word << 5 | (run - tile->first_run[word]); };
    const auto is_at_side = [&](uint32_t word) { return plan.tiles_x > 1 && (word + 1) % 32 < 2; };

    for (uint32_t run = threadIdx.x; run < n_runs; run += THREADS) {
        const uint32_t slot = slots[run], word = word_of(slot);
        const uint32_t root = parent_of(slots[parent_of(slot)]), root_key = key_of(root, word_of(slots[root]));
        /* A root in the row above counts only when runs of the tile have it: what ends there has nothing to join. */
        if (word >= 32 && (root == run || root_key < 32 << 5))
            atomicOr(&tile->heads[root_key >> 5], 1u << root_key % 32);
        if (word >= 32) {
            runs[run - n_above] = run_entry(root_key, (slot & SLOT_PLACE) - (32 << 6));
            if (root == run || word >= TILE_ROWS * 32 || is_at_side(word))
                plan.parents[node_of(key_of(run, word))] = node_of(root_key);
        } else if (root != run && !(slot % 64 == 0 && word && tile->bits[word - 1] >> 63)) { /* continues none */
            const uint32_t key = key_of(run, word);
            atomicOr(&tile->joined[word], 1u << key % 32);
            plan.partners[border + key] = node_of(root_key);
        }
    }
    if (threadIdx.x == 0)
        plan.n_runs[tile_number(plan, where)] = n_runs - n_above;
    __syncthreads();
}

/* Threads take words to load and to store, and runs in between. False: the tile has more runs than there is room. */
template <bool EIGHT, uint32_t LANES, bool PACKED>
__device__ static inline bool solve_tile(const Plan &plan, TileAt where, const CudaVars *vars, uint32_t room)
{
    constexpr uint32_t THREADS = SOLVE_THREADS(LANES);
    extern __shared__ uint32_t slots[];
    __shared__ Tile tile;
    uint32_t *const runs = plan.runs + (size_t)tile_number(plan, where) * TILE_RUNS;

    load_tile<LANES, PACKED>(&tile, plan, where, vars);
    const uint32_t n_runs = list_runs<EIGHT, LANES>(&tile, slots, room);
    if (n_runs > room)
        return false;
    const uint64_t unlinked = link_runs<EIGHT, THREADS>(&tile, slots, plan, runs, n_runs);
    flatten<THREADS>(slots, n_runs);
    if (tile.n_pairs)
        unite_pairs<THREADS>(&tile, slots, plan, runs, unlinked);
    let_successor_start();
    publish_runs<THREADS>(&tile, slots, plan, where, runs, n_runs);

    const uint32_t at = threadIdx.x, row = at / 32;
    const uint32_t y = where.band * TILE_ROWS + row - 1, word_x = where.x * 32 + at % 32;
    if (at >= LOCAL_WORDS || y >= plan.height || word_x >= plan.row_words)
        return true;
    const uint32_t word = y * plan.row_words + word_x;
    if (row) {
        plan.bits[word] = tile.bits[at];
        plan.roots[word] = make_uint2(tile.heads[at], 0);
        plan.first_runs[word] = tile.first_run[at] - tile.n_in_row[0];
    } else {
        plan.border[where.band * plan.row_words + word_x] = make_uint2(tile.heads[at], tile.joined[at]);
    }
    return true;
}

/* A tile a block. Those with more runs than there is room are left to solve_dense. */
template <bool EIGHT, uint32_t LANES, bool PACKED, typename Jobs>
static __global__ void __launch_bounds__(SOLVE_THREADS(LANES), LANES == 1 ? SOLVE_BLOCKS : 1)
    solve(const __grid_constant__ CudaVars given, const Jobs jobs)
{
    const Job &job = jobs.get();
    const Plan &plan = job.plan;
    const TileAt where = { blockIdx.x, blockIdx.y };
    if (Jobs::MANY && (where.x >= plan.tiles_x || where.band >= plan.bands))
        return;
    if (!Jobs::MANY && where.x == 0 && where.band == 0 && threadIdx.x == 0)
        *job.vars = given;
    if (!solve_tile<EIGHT, LANES, PACKED>(plan, where, Jobs::MANY ? job.vars : &given, jobs.room) && threadIdx.x == 0)
        plan.dense[atomicAdd(&plan.counts->n_dense, 1)] = tile_number(plan, where);
}

/* The tiles with more runs than solve has room for. */
template <bool EIGHT, bool PACKED, typename Jobs>
static __global__ void __launch_bounds__(SOLVE_THREADS(DENSE_LANES)) solve_dense(const Jobs jobs)
{
    const Job &job = jobs.get();
    const Plan &plan = job.plan;

    wait_for_predecessor();
    const uint32_t n_dense = plan.counts->n_dense;
    for (uint32_t i = blockIdx.x; i < n_dense; i += gridDim.x) {
        const uint32_t number = plan.dense[i];
        const TileAt where = { number % plan.tiles_x, number / plan.tiles_x };
        solve_tile<EIGHT, DENSE_LANES, PACKED>(plan, where, job.vars, RUN_SLOTS);
        __syncthreads();
    }
}

#endif
