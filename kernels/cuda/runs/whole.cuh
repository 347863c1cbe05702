/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A kernel of label/runs.cu for batches: each frame by one cluster of blocks (thread block clusters, sm_90), when its
 * table alone is wanted. A block takes some rows. What it finds there stays in its shared memory, where the others of the
 * cluster see it: nothing is launched, and next to nothing goes through global memory, from step to step.
 *
 *     load      mask -> bits; how many runs there are
 *     link      runs of the block, as in link.cuh: each to a run before it without atomics, then what that leaves open
 *     sum       of each part, that is what belongs together inside the block
 *     join      parts of neighbouring blocks
 *     number    roots, in raster order
 *     keep      with a filter: those whose components pass, numbered again
 *     write     rows of components of one part; sums of parts of others, whose rows come last
 *
 * A block has room for so many runs, pairs and parts. With more it takes longer: runs are in global memory, pairs are
 * found twice, and the sums of runs go to global memory one by one. So masks that had many go by the other kernels.
 */
#ifndef CCL_CUDA_RUNS_WHOLE_CUH
#define CCL_CUDA_RUNS_WHOLE_CUH

#include "../../engine.h"
#include "../bits.cuh"
#include "link.cuh"
#include "measure.cuh"

#include <cooperative_groups.h>

#ifndef WHOLE_RANKS /* fewer where each thread is one of the host's: tests/emulate */
#define WHOLE_RANKS 16u /* blocks of a cluster */
#define WHOLE_THREADS 768u
#endif
#define WHOLE_BLOCKS (RESIDENT_THREADS / WHOLE_THREADS) /* on a multiprocessor, at least */
#define WHOLE_WARPS (WHOLE_THREADS / 32)
#define PIECE_RUNS 4096u    /* of a block in shared memory */
#define PIECE_PARTS 640u    /* that are summed there */
#define PIECE_PAIRS 512u    /* of touching runs, inside the block and with the one above */
#define PIECE_SEGMENTS 320u /* of 32 words of a row */
#define PEERS_WORTH 4u      /* runs of a part in a warp that are added up before they go to shared memory */
#define PEER_ROUNDS 2u

/* A node is block << 20 | run. Runs of a block, with those of the row above, are numbered in raster order. The smallest
 * node of a component is its root. */
#define RANK_SHIFT 20
#define RUN_MASK 0xfffffu

/* places[run]: row << 12 | word << 6 | first column, the row above the block's being 0. Once parts have been found also:
 *
 *     NOT_FIRST << 21           it is not its part's first run
 *     slot << 21                it is, and the part has this slot
 *     NO_SLOT << 21             it is, and there was no room
 *     either of these | PARTED  and other parts have been joined to it
 */
#define ROW_SHIFT 12
#define ROW_MASK 0x1ffu
#define WORD_MASK 0x3fu
#define MOST_PIECE_ROWS ROW_MASK
#define MOST_PIECE_WORDS (WORD_MASK + 1)
#define SLOT_SHIFT 21
#define SLOT_MASK 0x3ffu
#define NOT_FIRST 0x3ffu
#define NO_SLOT 0x3feu
#define PARTED 0x80000000u

#define DROPPED 0xffffffffu /* NUMBERED | past the end of every table */

static_assert(PIECE_PARTS < NO_SLOT, "a slot has too few bits");
static_assert(PIECE_RUNS < 0x10000, "a pair is two runs of 16 bits");

/* Room of a block; less in tests. */
typedef struct PieceRoom {
    uint32_t runs, parts, pairs;
} PieceRoom;

/* A frame. */
typedef struct FrameJob {
    GlobalPointer<const uint8_t> mask;
    size_t mask_stride;
    GlobalPointer<uint8_t> workspace;
    GlobalPointer<CclComponent> rows;
    GlobalPointer<CudaResult> result;
    uint16_t width, height;
    uint8_t threshold, invert;
    bool flagged; /* components at the border are */
    uint32_t capacity;
} FrameJob;

/* What all frames of a launch share. */
typedef struct Pieces {
    PieceRoom room;
    size_t sums, extents, parents, places; /* in every workspace: those of Plan; places: its runs */
} Pieces;

/* The frames of a launch, by blockIdx.z. They come with it, not over the bus, where they would wait for rows of tables. */
template <uint32_t MOST, bool FILTERED> struct Frames {
    FrameJob of[MOST];
    CclLimits limits[FILTERED ? MOST : 1];
};

#define FEW_FRAMES 8u /* the host is done sooner where there is not room for more */
#define MANY_FRAMES(filtered) ((filtered) ? 48u : CCL_MOST_BATCH)

static_assert(sizeof(Pieces) + sizeof(Frames<MANY_FRAMES(false), false>) <= 4096 &&
              sizeof(Pieces) + sizeof(Frames<MANY_FRAMES(true), true>) <= 4096, "all devices take arguments of 4 KB");

/* A list of pairs, run << 16 | run; n may be more than there is room for. */
typedef struct PairList {
    uint32_t n;
    uint32_t of[PIECE_PAIRS];
} PairList;

/* What a block has in shared memory, before its bits and runs. */
typedef struct Piece {
    /* What others look at: */
    uint32_t *parents; /* [run]: node; in the end, of roots of the image, NUMBERED | rank among those of the block, or
                        * DROPPED */
    uint32_t *places;
    uint32_t last_row; /* the first run of the last row */
    uint32_t n_runs, n_roots;
    uint32_t crowded;  /* there was no room for all runs or parts */

    uint32_t n_parts, n_numbered, many;
    uint32_t bases[WHOLE_RANKS]; /* components of the blocks before */
    uint32_t *all_parents[WHOLE_RANKS], *all_places[WHOLE_RANKS];
    uint32_t firsts[PIECE_SEGMENTS]; /* of 32 words of a row: their first run */
    uint32_t full[PIECE_SEGMENTS];   /* words that are all ones */
    PairList inside, above;          /* the second of a pair `above` is in the row above */
    uint32_t roots[PIECE_PARTS];     /* of a part: its first run */
    uint32_t sums[N_FIELDS][PIECE_PARTS];
    uint32_t xy_highs[PIECE_PARTS];
} Piece;

/* The rows of a block and, first, the one above. */
typedef struct Rows {
    uint32_t first_y, n;
    uint32_t words, segments; /* of a row */
    uint64_t *bits;      /* [1 + n][words] */
    uint32_t *first_run; /* [1 + n][words]: the word's first run */
} Rows;

/* Runs of a block. */
typedef struct Runs {
    uint32_t *parents, *places; /* as in Piece */
    uint32_t begin, end;        /* those before are in the row above */
    uint32_t tag;               /* of their nodes */
    bool near;                  /* in shared memory */
} Runs;

/* What functions of a block know of the frame's table. */
typedef struct Output {
    GlobalPointer<Sums> sums;
    GlobalPointer<uint4> rows; /* four to a row */
    uint32_t width, height, capacity;
    bool flagged;
} Output;

/* ---------------------------------------------------------------- mask -> bits */

/* Up to 2048 pixels of a row, by a warp. EASY: 16 at a time are aligned, and all there or none. */
template <bool EASY>
__device__ static inline void pack_segment(const uint8_t *pixels, uint32_t x, uint32_t width, Comparison than,
                                           uint16_t *out, uint32_t n_out)
{
    uint4 bytes[4];
#pragma unroll
    for (uint32_t i = 0; i < 4; i++) {
        const uint8_t *const from = pixels + i * 512;
        bytes[i] = make_uint4(0, 0, 0, 0);
        if (x + i * 512 < width)
            bytes[i] = EASY ? __ldg((const uint4 *)from) : load16_bytes(from, min(width - x - i * 512, 16u));
    }
    if (than.complements)
#pragma unroll
        for (uint32_t i = 0; i < 4; i++)
            bytes[i] = complement(bytes[i]);
#pragma unroll
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t left = x + i * 512 < width ? width - x - i * 512 : 0, at = threadIdx.x % 32 + i * 32;
        uint32_t bits = left ? pack16(bytes[i], than) : 0;
        if (!EASY && left < 16)
            bits &= (1u << left) - 1;
        if (at < n_out)
            out[at] = (uint16_t)bits;
    }
}

/* Fills rows.bits. A segment's `firsts` is how many runs it has, a word's first run how many the segment has before it. */
template <bool PACKED, bool EASY>
__device__ static inline void load_rows(Piece *piece, const Rows &rows, const FrameJob &job)
{
    static_assert(WHOLE_WARPS % 2 == 0, "a warp has the same of two segments, always");
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const uint32_t k = rows.segments == 2 ? warp % 2 : 0, n_words = min(rows.words - k * 32, 32u);
    const uint32_t step = WHOLE_WARPS / rows.segments, x = k * 2048 + lane * 16;
    const uint8_t *const mask = job.mask;
    const size_t stride = job.mask_stride;
    const uint32_t width = job.width, height = job.height;
    const Comparison than = comparison(job.threshold, job.invert);
    const bool has_word = lane < n_words;
    for (uint32_t row = warp / rows.segments; row <= rows.n; row += step) {
        const uint32_t y = rows.first_y + row - 1; /* above the first row, it wraps around */
        uint64_t *const out = rows.bits + row * rows.words + k * 32;
        uint64_t word = 0;
        if (PACKED || y >= height) {
            if (PACKED && has_word && y < height && (k * 32 + lane) * 64 < width)
                word = ((const uint64_t *)(mask + y * stride))[k * 32 + lane];
            if (has_word)
                out[lane] = word;
        } else {
            pack_segment<EASY>(mask + y * stride + x, x, width, than, (uint16_t *)out, n_words * 4);
            __syncwarp();
            word = has_word ? out[lane] : 0;
        }
        const uint32_t n = __popcll(starts_of(word)), up_to = warp_scan(n), full = __ballot_sync(~0u, word == ~0ull);
        if (has_word)
            rows.first_run[row * rows.words + k * 32 + lane] = up_to - n;
        if (lane == 31) {
            piece->firsts[row * rows.segments + k] = up_to;
            piece->full[row * rows.segments + k] = full;
        }
    }
}

__device__ static inline bool are_easy(const FrameJob &job)
{
    return ((uintptr_t)job.mask | job.mask_stride | job.width) % 16 == 0;
}

/* The first run of every word, and where runs are. */
__device__ static inline void list_runs(const Piece *piece, const Rows &rows, uint32_t *places)
{
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const uint32_t k = rows.segments == 2 ? warp % 2 : 0, column = k * 32 + lane;
    const bool has_word = column < rows.words;
    for (uint32_t row = warp / rows.segments; row <= rows.n; row += WHOLE_WARPS / rows.segments) {
        const uint32_t at = row * rows.words + column;
        if (!has_word)
            continue;
        uint32_t run = piece->firsts[row * rows.segments + k] + rows.first_run[at];
        rows.first_run[at] = run;
        if (row)
            for (uint64_t left = starts_of(rows.bits[at]); left; left &= left - 1)
                places[run++] = row << ROW_SHIFT | column << 6 | (__ffsll(left) - 1);
    }
}

/* ---------------------------------------------------------------- inside a block */

__device__ static inline uint32_t row_of(uint32_t place)
{
    return place >> ROW_SHIFT & ROW_MASK;
}

__device__ static inline uint32_t column_of(uint32_t place)
{
    return place >> 6 & WORD_MASK;
}

/* touching() of link.cuh, in rows of any width. */
template <bool EIGHT>
__device__ static inline Touching touching_in(const Piece *piece, const Rows &rows, uint32_t place)
{
    const uint32_t row = row_of(place), column = column_of(place), x = place & 63, at = row * rows.words + column;
    const uint64_t *const bits = rows.bits + at, *const upper = bits - rows.words;
    const uint64_t lower = bits[0];
    const bool before = column && bits[-1] >> 63;
    Touching to = {};
    if (x == 0 && before) {
        const uint32_t lane = column % 32;
        uint32_t past = 0; /* full words to the left, of the segment, which continue the same */
        if (lane) {
            const uint32_t open = ~piece->full[row * rows.segments + column / 32] & ((1u << lane) - 1);
            const uint32_t head = open ? 31 - __clz(open) : 0;
            past = lane - 1 - head - (open && !(rows.bits[at - lane + head] >> 63)); /* a full word begins it */
        }
        to.continued = rows.first_run[at - past];
    }
    const uint64_t begin = 1ull << x, after = lower + begin, span = (after ^ lower) | begin;
    const Pairs pairs = pairs_of<EIGHT>(lower, upper[0], before, column && upper[-1] >> 63);
    to.pairs = (pairs.over | pairs.left | pairs.right) & span;
    to.beyond = EIGHT && after < begin && column + 1 < rows.words && !(bits[1] & 1) && upper[1] & 1 && !(upper[0] >> 63);
    return to;
}

__device__ static inline uint32_t count_touching(const Touching &to)
{
    return __popcll(to.pairs) + to.beyond;
}

/* The run above that is first of those left, and goes from them. */
__device__ static inline uint32_t next_touching(const Rows &rows, uint32_t place, Touching *to)
{
    const uint32_t at = (row_of(place) - 1) * rows.words + column_of(place), first = rows.first_run[at];
    if (!to->pairs) {
        to->beyond = false;
        return rows.first_run[at + 1];
    }
    const uint64_t upper = rows.bits[at];
    const uint32_t x = __ffsll(to->pairs) - 1, before = ~(upper >> x) & 1;
    to->pairs &= to->pairs - 1;
    return before && x == 0 ? first - 1 : first + rank_of(starts_of(upper), x - before);
}

/* Every run takes one before it for its parent, if one touches; what else touches goes to the lists, if there is room. */
template <bool EIGHT>
__device__ static inline void link_piece(Piece *piece, const Rows &rows, const Runs &runs, uint32_t most_pairs)
{
    for (uint32_t run = runs.begin + threadIdx.x; run < runs.end; run += WHOLE_THREADS) {
        const uint32_t place = runs.places[run];
        const bool first_row = row_of(place) == 1;
        Touching to = touching_in<EIGHT>(piece, rows, place);
        uint32_t parent = run;
        if (to.continued)
            parent = to.continued - 1;
        else if (!first_row && (to.pairs || to.beyond))
            parent = next_touching(rows, place, &to);
        runs.parents[run] = runs.tag | parent;
        const uint32_t n = count_touching(to);
        if (!n)
            continue;
        PairList *const list = first_row ? &piece->above : &piece->inside;
        const uint32_t at = atomicAdd(&list->n, n);
        if (at + n <= most_pairs && runs.near)
            for (uint32_t i = 0; i < n; i++)
                list->of[at + i] = run << 16 | next_touching(rows, place, &to);
    }
}

/* The root of a run. Each step is a shorter way for those who pass meanwhile; nobody hooks. */
__device__ static inline uint32_t flatten_run(const Runs &runs, uint32_t run)
{
    volatile uint32_t *const parents = runs.parents;
    uint32_t root = parents[run] & RUN_MASK, up;
    while ((up = parents[root] & RUN_MASK) != root) {
        atomicMin(&runs.parents[run], runs.tag | up);
        root = up;
    }
    return root;
}

__device__ static inline void flatten_piece(const Runs &runs)
{
    for (uint32_t run = runs.begin + threadIdx.x; run < runs.end; run += WHOLE_THREADS)
        flatten_run(runs, run);
    __syncthreads();
}

__device__ static inline void unite_in_piece(const Runs &runs, uint32_t a, uint32_t b)
{
    volatile uint32_t *const parents = runs.parents;
    for (;;) {
        const uint32_t up_a = parents[a] & RUN_MASK, up_b = parents[b] & RUN_MASK;
        if (up_a == up_b)
            return;
        if (up_a != a || up_b != b) {
            const uint32_t top_a = parents[up_a] & RUN_MASK, top_b = parents[up_b] & RUN_MASK;
            if (top_a != up_a)
                atomicMin(&runs.parents[a], runs.tag | top_a);
            if (top_b != up_b)
                atomicMin(&runs.parents[b], runs.tag | top_b);
            a = top_a;
            b = top_b;
            continue;
        }
        const uint32_t larger = max(a, b), smaller = min(a, b);
        const uint32_t old = atomicMin(&runs.parents[larger], runs.tag | smaller) & RUN_MASK;
        if (old == larger)
            return;
        a = old;
        b = smaller;
    }
}

/* Calls with (run, the one above that it touches) for all pairs of a list or, where it is not complete, of all runs of
 * those rows: without those that are linked already it would be as good. */
template <bool EIGHT, typename With>
__device__ static inline void for_pairs(const Piece *piece, const PairList &list, const Rows &rows, const Runs &runs,
                                        uint32_t most_pairs, bool first_row, With with)
{
    if (list.n <= most_pairs && runs.near) {
        for (uint32_t i = threadIdx.x; i < list.n; i += WHOLE_THREADS)
            with(list.of[i] >> 16, list.of[i] & 0xffff);
        return;
    }
    for (uint32_t run = runs.begin + threadIdx.x; run < runs.end; run += WHOLE_THREADS) {
        /* Others may set PARTED, which is of no matter here. */
        const uint32_t place = ((volatile uint32_t *)runs.places)[run];
        if ((row_of(place) == 1) != first_row)
            continue;
        Touching to = touching_in<EIGHT>(piece, rows, place);
        while (to.pairs || to.beyond)
            with(run, next_touching(rows, place, &to));
    }
}

/* ---------------------------------------------------------------- sums of parts */

/* Runs find their roots, and roots get slots, as far as there is room. */
__device__ static inline void give_slots(Piece *piece, const Runs &runs, uint32_t most_parts)
{
    for (uint32_t run = runs.begin + threadIdx.x; run < runs.end; run += WHOLE_THREADS) {
        uint32_t slot = NOT_FIRST;
        if (flatten_run(runs, run) == run) {
            const uint32_t part = runs.near ? atomicAdd(&piece->n_parts, 1) : most_parts;
            slot = part < most_parts ? part : NO_SLOT;
            if (part < most_parts)
                piece->roots[part] = run;
            else
                atomicOr(&piece->crowded, 1);
        }
        runs.places[run] |= slot << SLOT_SHIFT;
    }
}

__device__ static inline uint32_t slot_of_place(uint32_t place)
{
    return place >> SLOT_SHIFT & SLOT_MASK;
}

/* Relative to the block's first row and the image's first column. The sum of xy is in two parts, like that of x squared: in
 * `sums` is the lower one. */
typedef struct PartSums {
    RunSums sums;
    uint32_t xy_high;
} PartSums;

__device__ static inline uint64_t xy_of(const PartSums &part)
{
    return part.sums.of[SXY] + ((uint64_t)part.xy_high << 16);
}

__device__ static inline PartSums sums_of_run(const Rows &rows, uint32_t place)
{
    const uint64_t bits = rows.bits[row_of(place) * rows.words + column_of(place)];
    const uint32_t y = row_of(place) - 1, left = column_of(place) * 64, begin = place & 63;
    const uint64_t rest = ~(bits >> begin);
    const uint32_t length = rest ? __ffsll(rest) - 1 : 64, end = begin + length;
    const uint32_t in_word = length * (begin + end - 1) / 2, x = in_word + left * length;
    const uint32_t xx = squares_below(end) - squares_below(begin) + left * (in_word + x), xy = y * x;
    PartSums part;
    part.sums.of[AREA] = length;
    part.sums.of[SX] = x;
    part.sums.of[SY] = y * length;
    part.sums.of[SXX_LOW] = xx & 0xffff;
    part.sums.of[SXX_HIGH] = xx >> 16;
    part.sums.of[SXY] = xy & 0xffff;
    part.sums.of[SYY] = y * y * length;
    part.sums.of[NOT_X0] = ~(left + begin);
    part.sums.of[X1] = left + end;
    part.sums.of[Y1] = y + 1;
    part.xy_high = xy >> 16;
    return part;
}

/* Adds up the runs of a warp that are of the same part, of the first parts that have some. Returns whether this lane is to
 * pass on what is in *part then. */
__device__ static inline bool add_up_peers(uint32_t slot, PartSums *part)
{
    const uint32_t lane = threadIdx.x % 32;
    bool speaks = slot < NO_SLOT;
    uint32_t pending = __ballot_sync(~0u, speaks);
    for (uint32_t round = 0; round < PEER_ROUNDS && pending; round++) {
        const uint32_t leader = __ffs(pending) - 1, chosen = __shfl_sync(~0u, slot, leader);
        const bool peer = slot == chosen;
        const uint32_t peers = __ballot_sync(~0u, peer);
        pending &= ~peers;
        if (__popc(peers) < PEERS_WORTH)
            continue;
#pragma unroll
        for (uint32_t field = 0; field < N_FIELDS; field++) {
            const uint32_t value = peer ? part->sums.of[field] : 0;
            const uint32_t all = field < N_SUMS ? warp_sum(value) : warp_max(value);
            if (lane == leader)
                part->sums.of[field] = all;
        }
        const uint32_t all = warp_sum(peer ? part->xy_high : 0);
        if (lane == leader)
            part->xy_high = all;
        speaks = speaks && (!peer || lane == leader);
    }
    return speaks;
}

__device__ static inline void sum_parts(Piece *piece, const Rows &rows, const Runs &runs)
{
    const uint32_t lane = threadIdx.x % 32;
    for (uint32_t first = runs.begin + threadIdx.x - lane; first < runs.end; first += WHOLE_THREADS) {
        const uint32_t run = first + lane;
        uint32_t slot = NO_SLOT;
        PartSums part = {};
        if (run < runs.end) {
            slot = slot_of_place(runs.places[runs.parents[run] & RUN_MASK]);
            part = sums_of_run(rows, runs.places[run]);
        }
        if (!add_up_peers(slot, &part))
            continue;
#pragma unroll
        for (uint32_t field = 0; field < N_FIELDS; field++) {
            if (field < N_SUMS)
                atomicAdd(&piece->sums[field][slot], part.sums.of[field]);
            else
                atomicMax(&piece->sums[field][slot], part.sums.of[field]);
        }
        atomicAdd(&piece->xy_highs[slot], part.xy_high);
    }
}

/* ---------------------------------------------------------------- between blocks */

__device__ static inline volatile uint32_t *parent_at(const Piece *piece, uint32_t node)
{
    return piece->all_parents[node >> RANK_SHIFT] + (node & RUN_MASK);
}

/* Climbs from both at once and hooks the larger root under the smaller, which has parts then; as the last root of a
 * component does that others were hooked under. */
__device__ static inline void unite_parts(const Piece *piece, uint32_t a, uint32_t b)
{
    uint32_t up_a = *parent_at(piece, a), up_b = *parent_at(piece, b);
    while (up_a != up_b) {
        const uint32_t next_a = *parent_at(piece, up_a), next_b = *parent_at(piece, up_b);
        if (next_a != up_a || next_b != up_b) {
            up_a = next_a;
            up_b = next_b;
            continue;
        }
        const uint32_t larger = max(up_a, up_b), smaller = min(up_a, up_b);
        const uint32_t old = atomicMin((uint32_t *)parent_at(piece, larger), smaller);
        if (old == larger) {
            atomicOr(piece->all_places[smaller >> RANK_SHIFT] + (smaller & RUN_MASK), PARTED);
            return;
        }
        up_a = old;
        up_b = smaller;
    }
}

/* Gives runs that are chosen their ranks among those of the block. Each is asked for once. */
template <typename Chosen> __device__ static inline void number_roots(Piece *piece, const Runs &runs, Chosen is_chosen)
{
    const uint32_t each = (runs.end - runs.begin + WHOLE_THREADS - 1) / WHOLE_THREADS;
    const uint32_t begin = min(runs.begin + threadIdx.x * each, runs.end), end = min(begin + each, runs.end);
    uint32_t n = 0, total;
    for (uint32_t run = begin; run < end; run++)
        if (is_chosen(run)) {
            runs.parents[run] = NUMBERED;
            n++;
        }
    uint32_t rank = block_scan<WHOLE_THREADS>(n, &total);
    for (uint32_t run = begin; run < end; run++)
        if (runs.parents[run] == NUMBERED)
            runs.parents[run] = NUMBERED | rank++;
    if (threadIdx.x == 0)
        piece->n_roots = total;
}

/* By the block: what all blocks have found. */
template <typename Cluster> __device__ static inline void add_up_blocks(Piece *piece, const Cluster &cluster)
{
    if (threadIdx.x < 32) {
        const bool mine = threadIdx.x < WHOLE_RANKS;
        const Piece *const other = cluster.map_shared_rank(piece, mine ? threadIdx.x : 0);
        const uint32_t n = mine ? other->n_roots : 0, sum = warp_scan(n);
        const uint32_t n_runs = warp_sum(mine ? other->n_runs : 0);
        const uint32_t crowded = __ballot_sync(~0u, mine && other->crowded);
        if (mine)
            piece->bases[threadIdx.x] = sum - n;
        if (threadIdx.x == 31) {
            piece->n_numbered = sum;
            piece->many = crowded || n_runs > MANY_RUNS;
        }
    }
    __syncthreads();
}

/* The number, from 0, of a component whose root has this parent. */
__device__ static inline uint32_t number_with(const Piece *piece, uint32_t root, uint32_t parent)
{
    return piece->bases[root >> RANK_SHIFT] + (parent & ~NUMBERED);
}

/* The number of a run's component; *root: its root. */
__device__ static inline uint32_t number_of(const Piece *piece, uint32_t node, uint32_t *root)
{
    uint32_t up;
    while (!((up = *parent_at(piece, node)) & NUMBERED))
        node = up;
    *root = node;
    return number_with(piece, node, up);
}

/* ---------------------------------------------------------------- filter */

/* Is the component of this root a single part, which has its sums here? */
__device__ static inline bool is_whole(uint32_t place)
{
    return slot_of_place(place) < NO_SLOT && !(place & PARTED);
}

__device__ static inline PartSums sums_of_part(const Piece *piece, uint32_t slot)
{
    PartSums part;
#pragma unroll
    for (uint32_t field = 0; field < N_FIELDS; field++)
        part.sums.of[field] = piece->sums[field][slot];
    part.xy_high = piece->xy_highs[slot];
    return part;
}

/* Calls with the runs of parts for which there was no slot. */
template <typename With> __device__ static inline void for_slotless(const Piece *piece, const Runs &runs, With with)
{
    if (!piece->crowded)
        return;
    for (uint32_t run = runs.begin + threadIdx.x; run < runs.end; run += WHOLE_THREADS) {
        uint32_t slot = slot_of_place(runs.places[run]);
        if (slot == NOT_FIRST) /* only roots have other parents since */
            slot = slot_of_place(runs.places[runs.parents[run] & RUN_MASK]);
        if (slot == NO_SLOT)
            with(run);
    }
}

/* What the filter asks of components that are not whole in one block. */
__device__ static inline void add_extents(const Piece *piece, const Rows &rows, const Runs &runs, Extent *extents,
                                          uint32_t n_parts)
{
    uint32_t root;
    for (uint32_t slot = threadIdx.x; slot < n_parts; slot += WHOLE_THREADS) {
        const uint32_t run = piece->roots[slot], id = number_of(piece, runs.tag | run, &root);
        if (root != (runs.tag | run) || !is_whole(runs.places[run]))
            add_global(&extents[id], sums_of_part(piece, slot).sums, 0, rows.first_y);
    }
    for_slotless(piece, runs, [&](uint32_t run) {
        const uint32_t id = number_of(piece, runs.tag | run, &root);
        add_global(&extents[id], sums_of_run(rows, runs.places[run]).sums, 0, rows.first_y);
    });
}

/* Of a root's component, which leaves it empty for the next frame. */
__device__ static inline Extent take_extent(const Piece *piece, const Rows &rows, uint32_t place, Extent *extent)
{
    if (is_whole(place)) {
        const uint32_t slot = slot_of_place(place);
        return Extent{ piece->sums[AREA][slot], piece->sums[NOT_X0][slot], piece->sums[X1][slot],
                       rows.first_y + piece->sums[Y1][slot] };
    }
    const uint4 value = __ldcg((const uint4 *)extent);
    __stcg((uint4 *)extent, make_uint4(0, 0, 0, 0));
    return Extent{ value.x, value.y, value.z, value.w };
}

/* Numbers the roots whose components pass, and marks the others. */
__device__ static inline void keep_roots(Piece *piece, const Rows &rows, const Runs &runs, Extent *extents,
                                         const CclLimits &limits, uint32_t width, uint32_t height)
{
    number_roots(piece, runs, [&](uint32_t run) {
        const uint32_t parent = runs.parents[run], place = runs.places[run];
        if (!(parent & NUMBERED))
            return false;
        const Extent extent = take_extent(piece, rows, place, &extents[number_with(piece, runs.tag, parent)]);
        const uint32_t x0 = ~extent.not_x0, y0 = rows.first_y + row_of(place) - 1;
        const bool kept = ccl_keeps(&limits, extent.area, extent.x1 - x0, extent.y1 - y0,
                                    ccl_border_flags(x0, y0, extent.x1, extent.y1, width, height));
        if (!kept)
            runs.parents[run] = DROPPED;
        return kept;
    });
}

/* ---------------------------------------------------------------- rows of the table */

__device__ static inline uint32_t first_pixel(const Rows &rows, uint32_t place)
{
    return (rows.first_y + row_of(place) - 1) << 16 | (place & ((1u << ROW_SHIFT) - 1));
}

/* Four lanes to a part. Components of one part have their rows then; parts of others are added up. */
__device__ static inline void write_parts(const Piece *piece, const Rows &rows, const Runs &runs, const Output &out,
                                          uint32_t n_parts)
{
    for (uint32_t i = threadIdx.x; i < n_parts * 4; i += WHOLE_THREADS) {
        const uint32_t slot = i / 4, quarter = i % 4, run = piece->roots[slot], place = runs.places[run];
        uint32_t root;
        const uint32_t id = number_of(piece, runs.tag | run, &root);
        if (id >= out.capacity)
            continue;
        const bool is_root = root == (runs.tag | run);
        const PartSums part = sums_of_part(piece, slot);
        if (is_root && is_whole(place)) {
            const ulonglong2 moments = moments_of(part.sums, xy_of(part), quarter, 0, rows.first_y);
            const uint4 ends = make_uint4(part.sums.of[NOT_X0], part.sums.of[X1], rows.first_y + part.sums.of[Y1],
                                          first_pixel(rows, place));
            const uint4 end = row_end(out.width, out.height, id, ends, out.flagged);
            const uint4 value = quarter < 3 ? make_uint4((uint32_t)moments.x, (uint32_t)(moments.x >> 32),
                                                         (uint32_t)moments.y, (uint32_t)(moments.y >> 32)) : end;
            __syncwarp(15u << (threadIdx.x % 32 & ~3u)); /* 64 bytes in one piece, for the bus */
            out.rows[id * 4 + quarter] = value;
        } else {
            add_quarter(&out.sums[id], part.sums, xy_of(part), quarter, 0, rows.first_y);
            if (is_root && quarter == 3)
                out.sums[id].first = first_pixel(rows, place);
        }
    }
}

/* Runs of parts for which there was no slot. */
__device__ static inline void add_runs(const Piece *piece, const Rows &rows, const Runs &runs, const Output &out)
{
    for_slotless(piece, runs, [&](uint32_t run) {
        uint32_t root;
        const uint32_t id = number_of(piece, runs.tag | run, &root), place = runs.places[run];
        if (id >= out.capacity)
            return;
        const PartSums part = sums_of_run(rows, place);
        for (uint32_t quarter = 0; quarter < 4; quarter++)
            add_quarter(&out.sums[id], part.sums, xy_of(part), quarter, 0, rows.first_y);
        if (root == (runs.tag | run))
            out.sums[id].first = first_pixel(rows, place);
    });
}

/* The row of a component that was added up, if the run is its root; the sums are left empty for the next frame. */
__device__ static inline void write_added(const Piece *piece, const Runs &runs, const Output &out, uint32_t run,
                                          uint32_t quarter)
{
    const uint32_t parent = runs.parents[run], id = number_with(piece, runs.tag, parent);
    if (!(parent & NUMBERED) || id >= out.capacity)
        return;
    uint4 *const sums = (uint4 *)&out.sums[id] + quarter;
    const uint4 value = __ldcg(sums);
    __stcg(sums, make_uint4(0, 0, 0, 0));
    out.rows[id * 4 + quarter] = quarter < 3 ? value : row_end(out.width, out.height, id, value, out.flagged);
}

/* Rows of components of several parts. */
__device__ static inline void write_others(const Piece *piece, const Runs &runs, const Output &out, uint32_t n_parts)
{
    for (uint32_t i = threadIdx.x; i < n_parts * 4; i += WHOLE_THREADS)
        if (runs.places[piece->roots[i / 4]] & PARTED)
            write_added(piece, runs, out, piece->roots[i / 4], i % 4);
    if (!piece->crowded)
        return;
    for (uint32_t i = runs.begin * 4 + threadIdx.x; i < runs.end * 4; i += WHOLE_THREADS)
        if (slot_of_place(runs.places[i / 4]) == NO_SLOT)
            write_added(piece, runs, out, i / 4, i % 4);
}

/* ---------------------------------------------------------------- all of it */

__host__ __device__ static inline uint32_t rows_each(uint32_t height)
{
    return (height + WHOLE_RANKS - 1) / WHOLE_RANKS;
}

#ifdef _CG_HAS_CLUSTER_GROUP

/* The rows of a block, in shared memory that comes after the piece; *past them. */
__device__ static inline Rows rows_for(const FrameJob &job, uint8_t *memory, uint32_t **past)
{
    Rows rows;
    const uint32_t each = rows_each(job.height);
    rows.first_y = min(blockIdx.x * each, (uint32_t)job.height);
    rows.n = min(each, job.height - rows.first_y);
    rows.words = row_words_of(job.width);
    rows.segments = (rows.words + 31) / 32;
    rows.bits = (uint64_t *)memory;
    rows.first_run = (uint32_t *)(rows.bits + (each + 1) * rows.words);
    *past = rows.first_run + (each + 1) * rows.words;
    return rows;
}

__device__ static inline void clear(Piece *piece)
{
    for (uint32_t i = threadIdx.x; i < N_FIELDS * PIECE_PARTS; i += WHOLE_THREADS)
        (&piece->sums[0][0])[i] = 0;
    for (uint32_t i = threadIdx.x; i < PIECE_PARTS; i += WHOLE_THREADS)
        piece->xy_highs[i] = 0;
    if (threadIdx.x == 0)
        piece->inside.n = piece->above.n = piece->n_parts = 0;
}

/* Mask -> bits -> runs. Those of the row above come first, and have no place in memory. */
template <bool PACKED, typename Cluster>
__device__ static inline Runs find_runs(const Cluster &cluster, Piece *piece, const Rows &rows, const FrameJob &job,
                                        const Pieces &pieces, uint32_t *near)
{
    const uint32_t n_segments = rows.n ? (rows.n + 1) * rows.segments : 0;
    if (n_segments && !PACKED && are_easy(job))
        load_rows<false, true>(piece, rows, job);
    else if (n_segments)
        load_rows<PACKED, false>(piece, rows, job);
    __syncthreads();
    Runs runs;
    const bool mine = threadIdx.x < n_segments;
    const uint32_t first = block_scan<WHOLE_THREADS>(mine ? piece->firsts[threadIdx.x] : 0, &runs.end);
    if (mine)
        piece->firsts[threadIdx.x] = first;
    __syncthreads();
    runs.begin = n_segments ? piece->firsts[rows.segments] : 0;
    runs.tag = blockIdx.x << RANK_SHIFT;
    runs.near = runs.end - runs.begin <= pieces.room.runs;
    uint32_t *parents = near, *places = near + pieces.room.runs;
    if (!runs.near) {
        const size_t at = (size_t)rows.first_y * rows.words * 32;
        parents = (uint32_t *)(job.workspace + pieces.parents) + at;
        places = (uint32_t *)(job.workspace + pieces.places) + at;
    }
    runs.parents = parents - runs.begin;
    runs.places = places - runs.begin;
    if (threadIdx.x == 0) {
        piece->parents = (runs.near ? cluster.map_shared_rank(parents, blockIdx.x) : parents) - runs.begin;
        piece->places = (runs.near ? cluster.map_shared_rank(places, blockIdx.x) : places) - runs.begin;
        piece->last_row = n_segments ? piece->firsts[rows.n * rows.segments] : 0;
        piece->n_runs = runs.end - runs.begin;
        piece->crowded = !runs.near;
    }
    if (n_segments)
        list_runs(piece, rows, runs.places);
    __syncthreads();
    return runs;
}

/* What belongs together inside a block, with its sums. */
template <bool EIGHT>
__device__ static inline void find_parts(Piece *piece, const Rows &rows, const Runs &runs, const PieceRoom &room)
{
    link_piece<EIGHT>(piece, rows, runs, room.pairs);
    __syncthreads();
    if (piece->inside.n) {
        flatten_piece(runs);
        for_pairs<EIGHT>(piece, piece->inside, rows, runs, room.pairs, false,
                         [&](uint32_t a, uint32_t b) { unite_in_piece(runs, a, b); });
        __syncthreads();
    }
    give_slots(piece, runs, room.parts);
    __syncthreads();
    if (runs.near)
        sum_parts(piece, rows, runs);
}

template <bool EIGHT, typename Cluster>
__device__ static inline void join_parts(const Cluster &cluster, Piece *piece, const Rows &rows, const Runs &runs,
                                         uint32_t most_pairs)
{
    if (threadIdx.x < WHOLE_RANKS) {
        const Piece *const other = cluster.map_shared_rank(piece, threadIdx.x);
        piece->all_parents[threadIdx.x] = other->parents;
        piece->all_places[threadIdx.x] = other->places;
    }
    __syncthreads();
    if (!blockIdx.x || !piece->above.n)
        return;
    const uint32_t before = blockIdx.x - 1;
    const uint32_t above = (before << RANK_SHIFT) + cluster.map_shared_rank(piece, before)->last_row;
    for_pairs<EIGHT>(piece, piece->above, rows, runs, most_pairs, true,
                     [&](uint32_t a, uint32_t b) { unite_parts(piece, runs.tag | a, above + b); });
}

#endif

/* blockIdx: (block of the cluster, 0, frame). */
template <bool EIGHT, bool PACKED, uint32_t MOST, bool FILTERED>
static __global__ void __launch_bounds__(WHOLE_THREADS, WHOLE_BLOCKS)
    whole(const __grid_constant__ Pieces pieces, const __grid_constant__ Frames<MOST, FILTERED> frames)
{
#ifdef _CG_HAS_CLUSTER_GROUP
    extern __shared__ __align__(16) uint8_t piece_memory[];
    const auto cluster = cooperative_groups::this_cluster();
    const FrameJob &job = frames.of[blockIdx.z];
    Piece *const piece = (Piece *)piece_memory;
    uint32_t *near;
    const Rows rows = rows_for(job, piece_memory + sizeof(Piece), &near);
    clear(piece);
    const Runs runs = find_runs<PACKED>(cluster, piece, rows, job, pieces, near);
    find_parts<EIGHT>(piece, rows, runs, pieces.room);
    cluster.sync();
    join_parts<EIGHT>(cluster, piece, rows, runs, pieces.room.pairs);
    cluster.sync();
    number_roots(piece, runs, [&](uint32_t run) { return runs.parents[run] == (runs.tag | run); });
    cluster.sync();
    add_up_blocks(piece, cluster);

    const uint32_t n_found = piece->n_numbered, n_parts = min(piece->n_parts, pieces.room.parts);
    if (FILTERED) {
        const GlobalPointer<Extent> extents = { (Extent *)(job.workspace + pieces.extents) };
        add_extents(piece, rows, runs, extents, n_parts);
        cluster.sync();
        keep_roots(piece, rows, runs, extents, frames.limits[blockIdx.z], job.width, job.height);
        cluster.sync();
        add_up_blocks(piece, cluster);
    }
    const Output out = { { (Sums *)(job.workspace + pieces.sums) }, { (uint4 *)(CclComponent *)job.rows }, job.width,
                         job.height, job.capacity, job.flagged };
    write_parts(piece, rows, runs, out, n_parts);
    add_runs(piece, rows, runs, out);
    cluster.sync(); /* after it no block looks at another's memory */
    write_others(piece, runs, out, n_parts);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *job.result = CudaResult{ n_found, piece->n_numbered, (uint32_t)(piece->many ? CUDA_MANY : CUDA_SPARSE) };
#endif
}

/* Shared memory for a frame of this size; ~0: it is too large. */
static size_t whole_memory(uint32_t row_words, uint32_t width, uint32_t height, uint32_t room)
{
    const uint64_t n = rows_each(height), n_segments = (n + 1) * ((row_words + 31) / 32);
    const bool fits = n <= MOST_PIECE_ROWS && row_words <= MOST_PIECE_WORDS;
    /* The sum of y squared is the largest for its 32 bits. */
    if (!fits || n_segments > min(PIECE_SEGMENTS, WHOLE_THREADS) || n * n * n / 3 * width >> 32)
        return ~(size_t)0;
    return sizeof(Piece) + (n + 1) * row_words * (sizeof(uint64_t) + sizeof(uint32_t)) + 2 * room * sizeof(uint32_t);
}

#endif
