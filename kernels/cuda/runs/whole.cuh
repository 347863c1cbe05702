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
 *     write     sums of parts that are not a component each; rows of those that are; rows of the others
 *
 * A block has room for so many runs, pairs and parts. With more it takes longer: runs are in global memory, pairs are
 * found twice, and the sums of runs go to global memory one by one. So masks that had many go by the other kernels.
 */
#ifndef CCL_CUDA_RUNS_WHOLE_CUH
#define CCL_CUDA_RUNS_WHOLE_CUH

#include "cuda/scheduler.h"
#include "cuda/bits.cuh"
#include "link.cuh"
#include "measure.cuh"

#include <cooperative_groups.h>

#ifndef WHOLE_RANKS /* fewer where each thread is one of the host's: tests/emulate */
#define WHOLE_RANKS 16u /* blocks of a cluster */
#define WHOLE_THREADS 768u /* of a block, at most */
#endif
#define WHOLE_BLOCKS (RESIDENT_THREADS / WHOLE_THREADS) /* on a multiprocessor, at least */
#define PIECE_RUNS 4096u    /* of a block in shared memory, at most */
/* Small blocks, of which a multiprocessor has three at once: of its 228 KB (sm_90, sm_100) a third less what the system and
 * static variables take. Where one waits for others of its cluster, those of other frames go on. */
#define SMALL_PIECE ((76u << 10) - 1280) /* bytes of shared memory */
#define SMALL_PIECE_RUNS 2048u           /* that there must be room for at least */
#define SMALL_PIECE_THREADS (WHOLE_THREADS * 2 / 3 / 64 * 64)
#define PIECE_PARTS 448u    /* that are summed there */
#define PIECE_PAIRS 512u    /* of touching runs, inside the block and with the one above */
#define PIECE_SEGMENTS 320u /* of 32 words of a row */
#define PEERS_WORTH 4u      /* runs of a part in a warp that are added up before they go to shared memory */
#define PEER_ROUNDS 2u

/* A node is block << 20 | run. Runs of a block are numbered in raster order, those of the row above for themselves. The
 * smallest node of a component is its root. */
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
#define MAX_PIECE_ROWS ROW_MASK
#define MAX_PIECE_WORDS (WORD_MASK + 1)
#define SLOT_SHIFT 21
#define SLOT_MASK 0x3ffu
#define NOT_FIRST 0x3ffu
#define NO_SLOT 0x3feu
#define PARTED 0x80000000u

#define DROPPED 0xffffffffu /* NUMBERED | past the end of every table */

static_assert(WHOLE_THREADS % 64 == 0 && SMALL_PIECE_THREADS > 0, "a warp has the same of two segments, always");
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
#define MANY_FRAMES(filtered) ((filtered) ? 48u : CCL_MAX_BATCH)

static_assert(sizeof(Pieces) + sizeof(Frames<MANY_FRAMES(false), false>) <= 4096 &&
              sizeof(Pieces) + sizeof(Frames<MANY_FRAMES(true), true>) <= 4096, "all devices take arguments of 4 KB");

/* Sums of a part: those of RunSums, relative to the block's first row and the image's first column. That of xy is in two
 * parts, like that of x squared: in its field is the lower one. */
enum { XY_HIGH = N_FIELDS, N_PART_FIELDS };

/* A list of pairs, run << 16 | run; n may be more than there is room for. */
typedef struct PairList {
    uint32_t n;
    uint32_t of[PIECE_PAIRS];
} PairList;

/* What a block has found. */
typedef struct __align__(16) Found {
    uint32_t n_runs;
    uint32_t n_parts, n_hooked; /* of these, under parts of others */
    uint32_t crowded;           /* there was no room for all runs or parts */
} Found;

/* What a block has in shared memory, before its bits and runs. */
typedef struct __align__(16) Piece {
    uint32_t sums[N_PART_FIELDS][PIECE_PARTS];
    Found found;
    uint32_t n_kept; /* roots that the filter keeps */

    /* Each block writes its own to those of all: who needs them then need not ask, and wait for the answer. */
    uint32_t *all_parents[WHOLE_RANKS]; /* [run]: node; in the end, of roots of the image, NUMBERED | rank among those of
                                         * the block, or DROPPED */
    uint32_t *all_places[WHOLE_RANKS];
    uint32_t last_row; /* of the block above: the first run of its last row */

    uint32_t n_numbered, many;
    uint32_t bases[WHOLE_RANKS];     /* components of the blocks before */
    uint32_t firsts[PIECE_SEGMENTS]; /* of 32 words of a row: their first run */
    uint32_t full[PIECE_SEGMENTS];   /* words that are all ones */
    PairList inside, above;          /* the second of a pair `above` is in the row above */
    uint32_t roots[PIECE_PARTS];     /* of a part: its first run */
} Piece;

/* The rows of a block and, first, the one above. */
typedef struct Rows {
    uint32_t first_y, n;
    uint32_t words, segments; /* of a row */
    uint32_t n_segments;      /* with those of the row above; 0 without rows */
    uint64_t *bits;      /* [1 + n][words] */
    uint32_t *first_run; /* [1 + n][words]: the word's first run */
} Rows;

/* Runs of a block. NEAR: in shared memory. */
template <bool NEAR> struct Runs {
    uint32_t *parents, *places; /* as in Piece */
    uint32_t n;
    uint32_t tag; /* of their nodes */
};

/* What functions of a block know of the frame's table. */
typedef struct Output {
    GlobalPointer<Sums> sums;
    GlobalPointer<uint4> rows; /* four to a row */
    uint32_t width, height, capacity;
    bool flagged;
} Output;

/* ---------------------------------------------------------------- mask -> bits */

/* How the mask is given. */
enum Input {
    BITS,
    ALIGNED,    /* pixels: 16 at a time are aligned, and all there or none */
    COMPLEMENTS, /* the same, and complements are compared: bits.cuh */
    UNALIGNED,  /* pixels */
};

static inline __device__ Input input_of(const FrameJob &job)
{
    if (((uintptr_t)job.mask | job.mask_stride | job.width) % 16)
        return UNALIGNED;
    return job.threshold >= 128 ? COMPLEMENTS : ALIGNED;
}

/* Up to 2048 pixels of a row, by a warp. left: pixels of the row from this lane's first on; n_out: of the lane's pieces of
 * 16 bits, those that there is room for. */
template <Input INPUT>
__device__ static inline void pack_segment(const uint8_t *pixels, uint32_t left, Comparison than, uint16_t *out,
                                           uint32_t n_out)
{
    uint4 bytes[4];
#pragma unroll
    for (uint32_t i = 0; i < 4; i++) {
        const uint8_t *const from = pixels + i * 512;
        bytes[i] = make_uint4(0, 0, 0, 0);
        if (i * 512 < left)
            bytes[i] = INPUT == UNALIGNED ? load16_bytes(from, min(left - i * 512, 16u)) : __ldg((const uint4 *)from);
    }
#pragma unroll
    for (uint32_t i = 0; i < 4; i++) {
        if (INPUT == COMPLEMENTS || (INPUT == UNALIGNED && than.complements))
            bytes[i] = complement(bytes[i]);
        uint32_t bits = pack16(bytes[i], than);
        if (i * 512 >= left)
            bits = 0;
        else if (INPUT == UNALIGNED && left - i * 512 < 16)
            bits &= (1u << (left - i * 512)) - 1;
        if (i < n_out)
            out[i * 32] = (uint16_t)bits;
    }
}

/* The compiler computes it anew wherever it is used, to save a register; it is not to. */
__device__ static inline uint32_t in_register(uint32_t value)
{
    asm volatile("" : "+r"(value));
    return value;
}

/* A warp's way through the segments of a block's rows: 32 words of a row each, or the rest of it. */
typedef struct Walk {
    uint32_t segment, row;
    uint32_t word;     /* the segment's first, of all rows */
    uint32_t part;     /* of its row, which the segment is; always the same, as the number of warps is even */
    uint32_t n_words;
    uint32_t n_warps, n_rows, n_steps; /* to the next: so many segments, rows, words */
} Walk;

__device__ static inline Walk first_segment(const Rows &rows)
{
    Walk at;
    at.segment = threadIdx.x / 32;
    at.row = at.segment / rows.segments;
    at.part = rows.segments == 2 ? at.segment % 2 : 0;
    at.word = at.row * rows.words + at.part * 32;
    at.n_words = min(rows.words - at.part * 32, 32u);
    at.n_warps = blockDim.x / 32;
    at.n_rows = at.n_warps / rows.segments;
    at.n_steps = at.n_rows * rows.words;
    return at;
}

__device__ static inline void next_segment(Walk *at)
{
    at->segment += at->n_warps;
    at->row += at->n_rows;
    at->word += at->n_steps;
}

/* Fills rows.bits. A segment's `firsts` is how many runs it has, a word's first run how many the segment has before it. */
template <Input INPUT> __device__ static inline void load_rows(Piece *piece, const Rows &rows, const FrameJob &job)
{
    const uint32_t lane = threadIdx.x % 32;
    Walk at = first_segment(rows);
    const uint32_t x = at.part * 2048 + lane * (INPUT == BITS ? 64 : 16), left = x < job.width ? job.width - x : 0;
    const uint32_t n_out = lane < at.n_words * 4 ? (at.n_words * 4 - lane + 31) / 32 : 0;
    const bool has_word = lane < at.n_words;
    Comparison than = comparison(job.threshold, job.invert);
    than.addend = in_register(than.addend);
    than.inverse = in_register(than.inverse);
    /* Nothing is read of the row above the image's first. */
    uintptr_t from = (uintptr_t)(const uint8_t *)job.mask + (rows.first_y + at.row - (size_t)1) * job.mask_stride;
    from += INPUT == BITS ? x / 8 : x;
    for (; at.segment < rows.n_segments; next_segment(&at), from += at.n_rows * job.mask_stride) {
        const bool is_there = rows.first_y || at.row;
        uint64_t *const out = rows.bits + at.word;
        uint64_t word = 0;
        if (INPUT == BITS || !is_there) {
            if (INPUT == BITS && is_there && left)
                word = *(const uint64_t *)from;
            if (has_word)
                out[lane] = word;
        } else {
            pack_segment<INPUT>((const uint8_t *)from, left, than, (uint16_t *)out + lane, n_out);
            __syncwarp();
            word = has_word ? out[lane] : 0;
        }
        const uint32_t n = __popcll(starts_of(word)), up_to = warp_scan(n), full = __ballot_sync(~0u, word == ~0ull);
        if (has_word)
            rows.first_run[at.word + lane] = up_to - n;
        if (lane == 31) {
            piece->firsts[at.segment] = up_to;
            piece->full[at.segment] = full;
        }
    }
}

/* Of half a word. */
__device__ static inline uint32_t *list_starts(uint32_t starts, uint32_t place, uint32_t *places)
{
    for (; starts; starts &= starts - 1)
        *places++ = place + __ffs(starts) - 1;
    return places;
}

/* The first run of every word, and where runs are. */
__device__ static inline void list_runs(const Piece *piece, const Rows &rows, uint32_t *places)
{
    const uint32_t lane = threadIdx.x % 32;
    Walk at = first_segment(rows);
    if (lane >= at.n_words)
        return;
    for (; at.segment < rows.n_segments; next_segment(&at)) {
        const uint32_t first = piece->firsts[at.segment] + rows.first_run[at.word + lane];
        rows.first_run[at.word + lane] = first;
        if (at.row) {
            const uint64_t starts = starts_of(rows.bits[at.word + lane]);
            const uint32_t place = at.row << ROW_SHIFT | at.part << 11 | lane << 6;
            uint32_t *const past = list_starts((uint32_t)starts, place, places + first);
            list_starts((uint32_t)(starts >> 32), place + 32, past);
        }
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
template <bool EIGHT, bool NEAR>
__device__ static inline void link_piece(Piece *piece, const Rows &rows, const Runs<NEAR> &runs, uint32_t max_pairs)
{
    for (uint32_t run = threadIdx.x; run < runs.n; run += blockDim.x) {
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
        if (NEAR && at + n <= max_pairs)
            for (uint32_t i = 0; i < n; i++)
                list->of[at + i] = run << 16 | next_touching(rows, place, &to);
    }
}

/* The root of a run. Each step is a shorter way for those who pass meanwhile; nobody hooks. */
template <bool NEAR>
__device__ static inline uint32_t flatten_run(const Runs<NEAR> &runs, uint32_t run)
{
    volatile uint32_t *const parents = runs.parents;
    uint32_t root = parents[run] & RUN_MASK, up;
    while ((up = parents[root] & RUN_MASK) != root) {
        atomicMin(&runs.parents[run], runs.tag | up);
        root = up;
    }
    return root;
}

template <bool NEAR>
__device__ static inline void flatten_piece(const Runs<NEAR> &runs)
{
    for (uint32_t run = threadIdx.x; run < runs.n; run += blockDim.x)
        flatten_run(runs, run);
    __syncthreads();
}

/* Climbs from both at once and hooks the larger root under the smaller. Ways are short: they have just been flattened. */
template <bool NEAR>
__device__ static inline void unite_in_piece(const Runs<NEAR> &runs, uint32_t a, uint32_t b)
{
    volatile uint32_t *const parents = runs.parents;
    for (;;) {
        const uint32_t up_a = parents[a] & RUN_MASK, up_b = parents[b] & RUN_MASK;
        if (up_a == up_b)
            return;
        if (up_a != a || up_b != b) {
            a = up_a;
            b = up_b;
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
template <bool EIGHT, bool NEAR, typename With>
__device__ static inline void for_pairs(const Piece *piece, const PairList &list, const Rows &rows,
                                        const Runs<NEAR> &runs, uint32_t max_pairs, bool first_row, With with)
{
    if (NEAR && list.n <= max_pairs) {
        for (uint32_t i = threadIdx.x; i < list.n; i += blockDim.x)
            with(list.of[i] >> 16, list.of[i] & 0xffff);
        return;
    }
    for (uint32_t run = threadIdx.x; run < runs.n; run += blockDim.x) {
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
template <bool NEAR>
__device__ static inline void give_slots(Piece *piece, const Runs<NEAR> &runs, uint32_t max_parts)
{
    for (uint32_t run = threadIdx.x; run < runs.n; run += blockDim.x) {
        uint32_t slot = NOT_FIRST;
        if (flatten_run(runs, run) == run) {
            const uint32_t part = atomicAdd(&piece->found.n_parts, 1);
            const bool has_room = NEAR && part < max_parts;
            slot = has_room ? part : NO_SLOT;
            if (has_room)
                piece->roots[part] = run;
            else
                atomicOr(&piece->found.crowded, 1);
        }
        runs.places[run] |= slot << SLOT_SHIFT;
    }
}

__device__ static inline uint32_t slot_of_place(uint32_t place)
{
    return place >> SLOT_SHIFT & SLOT_MASK;
}

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

__device__ static inline void sum_parts(Piece *piece, const Rows &rows, const Runs<true> &runs)
{
    const uint32_t lane = threadIdx.x % 32;
    for (uint32_t first = threadIdx.x - lane; first < runs.n; first += blockDim.x) {
        const uint32_t run = first + lane;
        uint32_t slot = NO_SLOT;
        PartSums part = {};
        if (run < runs.n) {
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
        atomicAdd(&piece->sums[XY_HIGH][slot], part.xy_high);
    }
}

/* ---------------------------------------------------------------- between blocks */

__device__ static inline volatile uint32_t *parent_at(const Piece *piece, uint32_t node)
{
    return piece->all_parents[node >> RANK_SHIFT] + (node & RUN_MASK);
}

/* Climbs from both at once and hooks the larger root under the smaller, which has parts then. So the root of a component
 * of several parts has: there is none but it that the last but one can have been hooked under. */
template <typename Cluster>
__device__ static inline void unite_parts(const Cluster &cluster, Piece *piece, uint32_t a, uint32_t b)
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
            atomicAdd(&cluster.map_shared_rank(piece, larger >> RANK_SHIFT)->found.n_hooked, 1);
            atomicOr(piece->all_places[smaller >> RANK_SHIFT] + (smaller & RUN_MASK), PARTED);
            return;
        }
        up_a = old;
        up_b = smaller;
    }
}

/* Gives runs that are chosen their ranks among those of the block. Each is asked for once. Returns how many there are. */
template <bool NEAR, typename Chosen>
__device__ static inline uint32_t number_roots(const Runs<NEAR> &runs, Chosen is_chosen)
{
    const uint32_t each = (runs.n + blockDim.x - 1) / blockDim.x;
    const uint32_t begin = min(threadIdx.x * each, runs.n), end = min(begin + each, runs.n);
    uint32_t n = 0, total;
    for (uint32_t run = begin; run < end; run++)
        if (is_chosen(run)) {
            runs.parents[run] = NUMBERED;
            n++;
        }
    uint32_t rank = block_scan<WHOLE_THREADS>(n, &total, blockDim.x);
    for (uint32_t run = begin; run < end; run++)
        if (runs.parents[run] == NUMBERED)
            runs.parents[run] = NUMBERED | rank++;
    return total;
}

/* By a warp: the components of all blocks, of which the lane's block has n. */
__device__ static inline void add_up(Piece *piece, uint32_t n)
{
    const uint32_t lane = threadIdx.x % 32, sum = warp_scan(n);
    if (lane < WHOLE_RANKS)
        piece->bases[lane] = sum - n;
    if (lane == 31)
        piece->n_numbered = sum;
}

/* Roots are parts that were not hooked. By the last warp, which has least to do meanwhile; a barrier comes after. */
template <typename Cluster> __device__ static inline void add_up_found(const Cluster &cluster, Piece *piece)
{
    if (threadIdx.x / 32 != blockDim.x / 32 - 1)
        return;
    const uint32_t lane = threadIdx.x % 32;
    Found found = {};
    if (lane < WHOLE_RANKS)
        found = *cluster.map_shared_rank(&piece->found, lane);
    const uint32_t n_runs = warp_sum(found.n_runs), crowded = __ballot_sync(~0u, found.crowded != 0);
    add_up(piece, found.n_parts - found.n_hooked);
    if (lane == 0)
        piece->many = crowded || n_runs > MANY_RUNS;
}

/* By the block: of those that the filter keeps. */
template <typename Cluster> __device__ static inline void add_up_kept(const Cluster &cluster, Piece *piece)
{
    if (threadIdx.x < 32)
        add_up(piece, threadIdx.x < WHOLE_RANKS ? *cluster.map_shared_rank(&piece->n_kept, threadIdx.x) : 0);
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
    part.xy_high = piece->sums[XY_HIGH][slot];
    return part;
}

/* Calls with the runs of parts for which there was no slot. */
template <bool NEAR, typename With>
__device__ static inline void for_slotless(const Piece *piece, const Runs<NEAR> &runs, With with)
{
    if (!piece->found.crowded)
        return;
    for (uint32_t run = threadIdx.x; run < runs.n; run += blockDim.x) {
        uint32_t slot = slot_of_place(runs.places[run]);
        if (slot == NOT_FIRST) /* only roots have other parents since */
            slot = slot_of_place(runs.places[runs.parents[run] & RUN_MASK]);
        if (slot == NO_SLOT)
            with(run);
    }
}

/* What the filter asks of components that are not whole in one block. */
template <bool NEAR>
__device__ static inline void add_extents(const Piece *piece, const Rows &rows, const Runs<NEAR> &runs, Extent *extents,
                                          uint32_t n_parts)
{
    uint32_t root;
    for (uint32_t slot = threadIdx.x; slot < n_parts; slot += blockDim.x) {
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
template <bool NEAR>
__device__ static inline void keep_roots(Piece *piece, const Rows &rows, const Runs<NEAR> &runs, Extent *extents,
                                         const CclLimits &limits, uint32_t width, uint32_t height)
{
    const uint32_t n = number_roots(runs, [&](uint32_t run) {
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
    if (threadIdx.x == 0)
        piece->n_kept = n;
}

/* ---------------------------------------------------------------- rows of the table */

__device__ static inline uint32_t first_pixel(const Rows &rows, uint32_t place)
{
    return (rows.first_y + row_of(place) - 1) << 16 | (place & ((1u << ROW_SHIFT) - 1));
}

/* Calls with (slot, quarter, run, place) for four lanes of each part: its first run and where that is. */
template <bool NEAR, typename With>
__device__ static inline void for_quarters(const Piece *piece, const Runs<NEAR> &runs, uint32_t n_parts, With with)
{
    for (uint32_t i = threadIdx.x; i < n_parts * 4; i += blockDim.x) {
        const uint32_t run = piece->roots[i / 4];
        with(i / 4, i % 4, run, runs.places[run]);
    }
}

/* Adds up parts of components that are not whole. */
template <bool NEAR>
__device__ static inline void add_parts(const Piece *piece, const Rows &rows, const Runs<NEAR> &runs, const Output &out,
                                        uint32_t n_parts)
{
    for_quarters(piece, runs, n_parts, [&](uint32_t slot, uint32_t quarter, uint32_t run, uint32_t place) {
        const bool is_root = runs.parents[run] & NUMBERED;
        if (is_root && is_whole(place))
            return;
        uint32_t root;
        const uint32_t id = number_of(piece, runs.tag | run, &root);
        if (id >= out.capacity)
            return;
        const PartSums part = sums_of_part(piece, slot);
        add_quarter(&out.sums[id], part.sums, xy_of(part), quarter, 0, rows.first_y);
        if (is_root && quarter == 3)
            out.sums[id].first = first_pixel(rows, place);
    });
}

/* Rows of components that are one part. */
template <bool NEAR>
__device__ static inline void write_parts(const Piece *piece, const Rows &rows, const Runs<NEAR> &runs, const Output &out,
                                          uint32_t n_parts)
{
    for_quarters(piece, runs, n_parts, [&](uint32_t slot, uint32_t quarter, uint32_t run, uint32_t place) {
        const uint32_t parent = runs.parents[run], id = number_with(piece, runs.tag, parent);
        if (!(parent & NUMBERED) || !is_whole(place) || id >= out.capacity)
            return;
        const PartSums part = sums_of_part(piece, slot);
        const ulonglong2 moments = moments_of(part.sums, xy_of(part), quarter, 0, rows.first_y);
        const uint4 ends = make_uint4(part.sums.of[NOT_X0], part.sums.of[X1], rows.first_y + part.sums.of[Y1],
                                      first_pixel(rows, place));
        const uint4 end = row_end(out.width, out.height, id, ends, out.flagged);
        const uint4 value = quarter < 3 ? make_uint4((uint32_t)moments.x, (uint32_t)(moments.x >> 32),
                                                     (uint32_t)moments.y, (uint32_t)(moments.y >> 32)) : end;
        __syncwarp(15u << (threadIdx.x % 32 & ~3u)); /* 64 bytes in one piece, for the bus */
        out.rows[id * 4 + quarter] = value;
    });
}

/* Runs of parts for which there was no slot. */
template <bool NEAR>
__device__ static inline void add_runs(const Piece *piece, const Rows &rows, const Runs<NEAR> &runs, const Output &out)
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
template <bool NEAR>
__device__ static inline void write_added(const Piece *piece, const Runs<NEAR> &runs, const Output &out, uint32_t run,
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
template <bool NEAR>
__device__ static inline void write_others(const Piece *piece, const Runs<NEAR> &runs, const Output &out, uint32_t n_parts)
{
    for_quarters(piece, runs, n_parts, [&](uint32_t, uint32_t quarter, uint32_t run, uint32_t place) {
        if (place & PARTED)
            write_added(piece, runs, out, run, quarter);
    });
    if (!piece->found.crowded)
        return;
    for (uint32_t i = threadIdx.x; i < runs.n * 4; i += blockDim.x)
        if (slot_of_place(runs.places[i / 4]) == NO_SLOT)
            write_added(piece, runs, out, i / 4, i % 4);
}

/* ---------------------------------------------------------------- all of it */

__host__ __device__ static inline uint32_t rows_each(uint32_t height)
{
    return (height + WHOLE_RANKS - 1) / WHOLE_RANKS;
}

/* Where a block has its things in shared memory. */
typedef struct Memory {
    Piece *piece;
    Rows rows;
    uint32_t *runs; /* parents, then places */
} Memory;

__device__ static inline Memory memory_for(const FrameJob &job)
{
    extern __shared__ __align__(16) uint8_t piece_memory[];
    const uint32_t each = rows_each(job.height);
    Rows rows;
    rows.first_y = min(blockIdx.x * each, (uint32_t)job.height);
    rows.n = min(each, job.height - rows.first_y);
    rows.words = row_words_of(job.width);
    rows.segments = (rows.words + 31) / 32;
    rows.n_segments = rows.n ? (rows.n + 1) * rows.segments : 0;
    rows.bits = (uint64_t *)(piece_memory + sizeof(Piece));
    rows.first_run = (uint32_t *)(rows.bits + (each + 1) * rows.words);
    return Memory{ (Piece *)piece_memory, rows, rows.first_run + (each + 1) * rows.words };
}

__device__ static inline void clear(Piece *piece)
{
    static_assert(PIECE_PARTS % 4 == 0, "sums are cleared four at a time");
    for (uint32_t i = threadIdx.x; i < N_PART_FIELDS * PIECE_PARTS / 4; i += blockDim.x)
        ((uint4 *)piece->sums)[i] = make_uint4(0, 0, 0, 0);
    if (threadIdx.x == 0)
        piece->inside.n = piece->above.n = piece->found.n_parts = piece->found.n_hooked = piece->found.crowded = 0;
}

/* Mask -> bits. Returns how many runs there are. */
template <bool PACKED>
__device__ static inline uint32_t load(Piece *piece, const Rows &rows, const FrameJob &job)
{
    const Input input = PACKED ? BITS : input_of(job);
    if (PACKED)
        load_rows<BITS>(piece, rows, job);
    else if (input == ALIGNED)
        load_rows<ALIGNED>(piece, rows, job);
    else if (input == COMPLEMENTS)
        load_rows<COMPLEMENTS>(piece, rows, job);
    else
        load_rows<UNALIGNED>(piece, rows, job);
    __syncthreads();
    const bool has_segment = threadIdx.x < rows.n_segments;
    const uint32_t n = has_segment ? piece->firsts[threadIdx.x] : 0;
    uint32_t above = 0, with_above;
    for (uint32_t i = 0; rows.n && i < rows.segments; i++)
        above += piece->firsts[i];
    const uint32_t first = block_scan<WHOLE_THREADS>(n, &with_above, blockDim.x);
    if (has_segment)
        piece->firsts[threadIdx.x] = threadIdx.x < rows.segments ? first : first - above;
    __syncthreads();
    return with_above - above;
}

/* Tells all blocks where this one's runs are, and the one below where its last row's begin; and notes how many. */
template <bool NEAR, typename Cluster>
__device__ static inline void publish(const Cluster &cluster, Piece *piece, const Rows &rows, const Runs<NEAR> &runs)
{
    if (threadIdx.x < WHOLE_RANKS) {
        Piece *const other = cluster.map_shared_rank(piece, threadIdx.x);
        other->all_parents[blockIdx.x] = NEAR ? cluster.map_shared_rank(runs.parents, blockIdx.x) : runs.parents;
        other->all_places[blockIdx.x] = NEAR ? cluster.map_shared_rank(runs.places, blockIdx.x) : runs.places;
        if (threadIdx.x == blockIdx.x + 1)
            other->last_row = rows.n ? piece->firsts[rows.n * rows.segments] : 0;
        if (threadIdx.x == 0)
            piece->found.n_runs = runs.n;
    }
}

/* What belongs together inside a block, with its sums. */
template <bool EIGHT, bool NEAR>
__device__ static inline void find_parts(Piece *piece, const Rows &rows, const Runs<NEAR> &runs, const PieceRoom &room)
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
    if constexpr (NEAR)
        sum_parts(piece, rows, runs);
}

template <bool EIGHT, bool NEAR, typename Cluster>
__device__ static inline void join_parts(const Cluster &cluster, Piece *piece, const Rows &rows, const Runs<NEAR> &runs,
                                         uint32_t max_pairs)
{
    if (!blockIdx.x || !piece->above.n)
        return;
    const uint32_t above = ((blockIdx.x - 1) << RANK_SHIFT) + piece->last_row;
    for_pairs<EIGHT>(piece, piece->above, rows, runs, max_pairs, true,
                     [&](uint32_t a, uint32_t b) { unite_parts(cluster, piece, runs.tag | a, above + b); });
}

/* Finds components and numbers them. All blocks of the cluster have begun. */
template <bool EIGHT, bool NEAR, typename Cluster>
__device__ static inline void find_components(const Cluster &cluster, Piece *piece, const Rows &rows,
                                              const Runs<NEAR> &runs, const PieceRoom &room)
{
    publish(cluster, piece, rows, runs);
    list_runs(piece, rows, runs.places);
    __syncthreads();
    find_parts<EIGHT>(piece, rows, runs, room);
    cluster.sync();
    join_parts<EIGHT>(cluster, piece, rows, runs, room.pairs);
    cluster.sync();
    add_up_found(cluster, piece);
    number_roots(runs, [&](uint32_t run) { return runs.parents[run] == (runs.tag | run); });
    cluster.sync();
}

template <bool NEAR, typename Cluster>
__device__ static inline void write_table(const Cluster &cluster, Piece *piece, const Rows &rows, const Runs<NEAR> &runs,
                                          const Output &out, uint32_t n_parts)
{
    add_parts(piece, rows, runs, out, n_parts);
    add_runs(piece, rows, runs, out);
    cluster.barrier_arrive(); /* no block looks at another's memory any more; and what crosses the bus has yet to come */
    write_parts(piece, rows, runs, out, n_parts);
    cluster.barrier_wait();
    write_others(piece, runs, out, n_parts);
}

template <bool EIGHT, bool FILTERED, bool NEAR, typename Cluster>
__device__ static inline void analyze_runs(const Cluster &cluster, const Memory &memory, const Runs<NEAR> &runs,
                                           const FrameJob &job, const Pieces &pieces, const CclLimits &limits)
{
    Piece *const piece = memory.piece;
    const Rows &rows = memory.rows;
    find_components<EIGHT>(cluster, piece, rows, runs, pieces.room);
    const uint32_t n_found = piece->n_numbered, n_parts = NEAR ? min(piece->found.n_parts, pieces.room.parts) : 0;
    if (FILTERED) {
        const GlobalPointer<Extent> extents = { (Extent *)(job.workspace + pieces.extents) };
        add_extents(piece, rows, runs, extents, n_parts);
        cluster.sync();
        keep_roots(piece, rows, runs, extents, limits, job.width, job.height);
        cluster.sync();
        add_up_kept(cluster, piece);
    }
    const Output out = { { (Sums *)(job.workspace + pieces.sums) }, { (uint4 *)(CclComponent *)job.rows }, job.width,
                         job.height, job.capacity, job.flagged };
    write_table(cluster, piece, rows, runs, out, n_parts);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *job.result = CudaResult{ n_found, piece->n_numbered, (uint32_t)(piece->many ? CUDA_MANY : CUDA_SPARSE) };
    cluster.sync(); /* all that other blocks have written comes before what this one says */
    if (blockIdx.x == 0 && threadIdx.x == 0)
        store_release(&job.result->complete, 1);
}

#ifdef _CG_HAS_CLUSTER_GROUP

/* With runs in global memory, as there are so many. Apart, so that the usual way knows where its runs are. */
template <bool EIGHT, bool FILTERED>
__device__ static __noinline__ void analyze_far(const FrameJob &job, const Pieces &pieces, const CclLimits &limits,
                                                uint32_t n_runs)
{
    const Memory memory = memory_for(job);
    const size_t at = (size_t)memory.rows.first_y * memory.rows.words * 32;
    const Runs<false> runs = { (uint32_t *)(job.workspace + pieces.parents) + at,
                               (uint32_t *)(job.workspace + pieces.places) + at, n_runs, blockIdx.x << RANK_SHIFT };
    if (threadIdx.x == 0)
        memory.piece->found.crowded = 1;
    analyze_runs<EIGHT, FILTERED>(cooperative_groups::this_cluster(), memory, runs, job, pieces, limits);
}

#endif

/* blockIdx: (block of the cluster, 0, frame). */
template <bool EIGHT, bool PACKED, uint32_t MOST, bool FILTERED>
static __global__ void __launch_bounds__(WHOLE_THREADS, WHOLE_BLOCKS)
    whole(const __grid_constant__ Pieces pieces, const __grid_constant__ Frames<MOST, FILTERED> frames)
{
#ifdef _CG_HAS_CLUSTER_GROUP
    const auto cluster = cooperative_groups::this_cluster();
    const FrameJob &job = frames.of[blockIdx.z];
    const CclLimits &limits = frames.limits[FILTERED ? blockIdx.z : 0];
    const Memory memory = memory_for(job);
    cluster.barrier_arrive();
    clear(memory.piece);
    const uint32_t n_runs = load<PACKED>(memory.piece, memory.rows, job);
    cluster.barrier_wait(); /* all blocks have begun */
    if (n_runs <= pieces.room.runs) {
        const Runs<true> runs = { memory.runs, memory.runs + pieces.room.runs, n_runs, blockIdx.x << RANK_SHIFT };
        analyze_runs<EIGHT, FILTERED>(cluster, memory, runs, job, pieces, limits);
    } else {
        analyze_far<EIGHT, FILTERED>(job, pieces, limits, n_runs);
    }
#endif
}

#define RUN_MEMORY (2 * sizeof(uint32_t)) /* a parent and a place */

/* Shared memory of a block for a frame of this size, without its runs; ~0: the frame is too large. */
static size_t bare_piece(uint32_t width, uint32_t height, uint32_t n_threads)
{
    const uint64_t row_words = row_words_of(width), n = rows_each(height), n_segments = (n + 1) * ((row_words + 31) / 32);
    const bool fits = n <= MAX_PIECE_ROWS && row_words <= MAX_PIECE_WORDS;
    /* The sum of y squared is the largest for its 32 bits. */
    if (!fits || n_segments > min(PIECE_SEGMENTS, n_threads) || n * n * n / 3 * width >> 32)
        return ~(size_t)0;
    return sizeof(Piece) + (n + 1) * row_words * (sizeof(uint64_t) + sizeof(uint32_t));
}

#endif
