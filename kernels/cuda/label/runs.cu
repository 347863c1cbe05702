/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Runs of bit rows: our own method, from mask to table and label image.
 *
 * The mask is packed to one bit per pixel, and the nodes of the union-find are the runs inside 64-bit words: far fewer
 * than pixels or blocks, found and ranked with a handful of bit operations. Every run is linked to a run before it
 * without atomics (after Komura, "GPU-based cluster-labeling algorithm without the use of conventional iteration",
 * Computer Physics Communications 2015); only pairs that this leaves open are united, first inside a band of rows in
 * shared memory, then between bands. Nodes are in raster order and the smallest is the root, so components come out
 * numbered by their first pixels.
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
 * kernel writes, or reads what others write, before its wait. None lets its successor start earlier than by ending:
 * blocks that wait for long end up beside each other on few multiprocessors.
 */
#include "../bits.cuh"
#include "../scan.cuh"
#include "../union_find.cuh"

#include <stdlib.h>

#define TILE_ROWS 8u
#define LOCAL_WORDS (32 * (TILE_ROWS + 1)) /* a tile is 32 words wide; the row above comes first */
#define SMALL_LANES 2u /* lanes that share a word in images of at most a tile per multiprocessor */
#define SOLVE_THREADS(lanes) (LOCAL_WORDS * (lanes))
#define JOIN_THREADS 256u
#define NUMBER_THREADS 256u
#define MEASURE_WORDS 256u
#define MEASURE_THREADS(lanes) (MEASURE_WORDS * (lanes))
#define MEASURE_ROWS 8u
#define KEEP_THREADS 256u
#define ROWS_THREADS 256u
#define MOST_CHUNKS 1024u
#define SLOTS 256u /* components that a block of measure sums in shared memory */

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
    uint32_t slots;        /* SLOTS, or fewer to test what happens past them */

    Counts *counts;
    Sums *sums;            /* [id] of a kept component; all zero between frames */
    Extent *extents;       /* [id] of a component found; all zero between frames */
    uint32_t *keep_scan;   /* all zero between frames */
    uint32_t *finals;      /* [id] of a component found: y << 16 | x of its first pixel, then its label or 0 */
    uint64_t *bits;        /* [word] */
    uint32_t *heads;       /* [word]: ranks that are roots of their tile */
    uint16_t *parts;       /* [node]: key of its tile root */
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

__device__ static inline void wait_for_predecessor()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

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

__device__ static inline uint32_t lanes_before()
{
    return (1u << threadIdx.x % 32) - 1;
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

/* A run inside a tile is a key: local word << 5 | rank. Slots of one rank lie side by side, so that neighbouring words
 * use different banks. */
class LocalParents {
public:
    __device__ explicit LocalParents(uint32_t *slots) : slots_(slots) {}
    __device__ volatile uint32_t &operator[](uint32_t key) const { return slots_[slot(key)]; }
    __device__ uint32_t min(uint32_t key, uint32_t value) const { return atomicMin(&slots_[slot(key)], value); }

private:
    __device__ static uint32_t slot(uint32_t key) { return (key & 31) * LOCAL_WORDS + (key >> 5); }
    uint32_t *slots_;
};

/* find(), halving the way up. Shortening is a minimum and not a store, as others unite meanwhile: what they hooked a node
 * to is never lost, and the loads around, which are volatile, meet nothing but atomics. Nobody waits for its result. */
__device__ static inline uint32_t find_halving(const LocalParents &parents, uint32_t key)
{
    uint32_t parent = parents[key];
    while (parent != key) {
        const uint32_t grandparent = parents[parent];
        if (grandparent == parent)
            return parent;
        parents.min(key, grandparent);
        key = grandparent;
        parent = parents[key];
    }
    return key;
}

__device__ static inline void unite_local(const LocalParents &parents, uint32_t a, uint32_t b)
{
    a = find_halving(parents, a);
    b = find_halving(parents, b);
    while (a != b) {
        const uint32_t larger = a > b ? a : b, smaller = a > b ? b : a;
        const uint32_t old = parents.min(larger, smaller);
        if (old == larger)
            return;
        a = find_halving(parents, old);
        b = find_halving(parents, smaller);
    }
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
__device__ static inline Pairs pairs_of(uint64_t lower, uint64_t upper, uint64_t lower_left, uint64_t upper_left)
{
    const uint64_t lower_before = lower_left >> 63, upper_before = upper_left >> 63;
    const uint64_t lower_starts = starts_of(lower), upper_starts = starts_of(upper);
    Pairs pairs = { lower & upper & (lower_starts | upper_starts) & ~(lower_before & upper_before), 0, 0 };
    if (EIGHT) {
        pairs.left = lower_starts & ~upper & (upper << 1 | upper_before) & ~lower_before;
        pairs.right = upper_starts & ~lower & (lower << 1 | lower_before) & ~upper_before;
    }
    return pairs;
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

/* The run that the one at the start of this lane's word continues: past the full words to the left, which are one run
 * each and do the same. `full`: lanes whose words are. */
__device__ static inline uint32_t continued_key(const uint64_t *row_bits, uint32_t full, uint32_t row)
{
    const uint32_t open = ~full & lanes_before();
    uint32_t head = open ? 31 - __clz(open) : 0;
    if (open && !(row_bits[head] >> 63))
        head++; /* a full word begins the run */
    return (row * 32 + head) << 5 | last_rank(row_bits[head]);
}

/* The keys of the runs of a pair at x, for the word `at`. */
__device__ static inline uint32_t upper_key(const uint64_t *bits, uint32_t at, const Pairs &pairs, uint32_t x)
{
    const bool before = pairs.left >> x & 1;
    if (before && x == 0)
        return (at - 33) << 5 | last_rank(bits[at - 33]);
    return (at - 32) << 5 | rank_of(starts_of(bits[at - 32]), x - before);
}

__device__ static inline uint32_t lower_key(const uint64_t *bits, uint32_t at, const Pairs &pairs, uint32_t x)
{
    const bool before = pairs.right >> x & 1;
    if (before && x == 0)
        return (at - 1) << 5 | last_rank(bits[at - 1]);
    return at << 5 | rank_of(starts_of(bits[at]), x - before);
}

/* What linking a word leaves open. */
typedef struct Links {
    Pairs pairs;
    uint64_t residual; /* pairs to unite */
} Links;

/* Each run of a row takes the run it continues as parent, else the first above that it touches. Called by a warp. */
template <bool EIGHT>
__device__ static inline Links link_row(const LocalParents &parents, const uint64_t *bits, uint32_t at, uint64_t share,
                                        bool *continues)
{
    const uint32_t lane = at % 32, row = at / 32;
    const uint64_t lower = bits[at], lower_left = lane ? bits[at - 1] : 0, starts = starts_of(lower);
    Links links = {};
    if (row)
        links.pairs = pairs_of<EIGHT>(lower, bits[at - 32], lower_left, lane ? bits[at - 33] : 0);
    *continues = lower & 1 && lower_left >> 63;

    /* The carry runs from a run's start to its first pair; a run that continues another one takes none. */
    const uint64_t at_start = links.pairs.over | links.pairs.left, all = at_start | links.pairs.right;
    const uint64_t carried = (lower & ~at_start) + (starts & ~(uint64_t)*continues);
    const uint64_t first = carried & all;
    links.residual = all & ~carried;
    const uint32_t full = __ballot_sync(~0u, lower == ~0ull);
    uint32_t key = at << 5 | ranks_before(starts, share);
    for (uint64_t left = share; left; left &= left - 1, key++) {
        const uint64_t begin = left & -left, later = starts & -(begin << 1);
        const uint64_t pair = first & ~(begin - 1) & ((later & -later) - 1);
        uint32_t parent = key;
        if (begin == 1 && *continues)
            parent = continued_key(bits + row * 32, full, row);
        else if (pair)
            parent = upper_key(bits, at, links.pairs, __ffsll(pair) - 1);
        parents[key] = parent;
    }
    return links;
}

template <bool EIGHT, uint32_t LANES, bool PACKED, typename Jobs>
static __global__ void __launch_bounds__(SOLVE_THREADS(LANES))
    solve(const Jobs jobs, const __grid_constant__ CudaVars given)
{
    const Job &job = jobs.get();
    const Plan &plan = job.plan;
    const CudaVars *const vars = Jobs::MANY ? job.vars : &given;
    if (Jobs::MANY && (blockIdx.x >= plan.tiles_x || blockIdx.y >= plan.bands))
        return;
    if (!Jobs::MANY && blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0)
        *job.vars = given;
    __shared__ uint64_t bits[LOCAL_WORDS];
    __shared__ uint32_t slots[LOCAL_WORDS * 32];
    __shared__ uint32_t shared_heads[LANES == 1 ? 1 : LOCAL_WORDS], shared_joined[LANES == 1 ? 1 : 32];

    const LocalParents parents(slots);
    const uint32_t at = threadIdx.x % LOCAL_WORDS, lane = at % 32, row = at / 32, mine = threadIdx.x / LOCAL_WORDS;
    const uint32_t tile_x = blockIdx.x, band = blockIdx.y;
    const uint32_t y = band * TILE_ROWS + row - 1, word_x = tile_x * 32 + lane;
    const bool in_image = y < plan.height; /* above band 0, y wraps around */
    const uint32_t word = y * plan.row_words + word_x;

    const uint64_t *const packed_row = (const uint64_t *)(vars->mask + y * vars->mask_stride);
    if (PACKED && mine == 0)
        bits[at] = in_image && word_x * 64 < plan.width ? packed_row[word_x] : 0;
    else if (!PACKED && in_image)
        pack_row<LANES>(vars, tile_x * 2048, y, plan.width, (uint16_t *)(bits + row * 32), mine);
    else if (!PACKED && mine == 0)
        bits[at] = 0;
    if (LANES > 1 && mine == 0)
        shared_heads[at] = 0;
    if (LANES > 1 && threadIdx.x < 32)
        shared_joined[lane] = 0;
    __syncthreads();

    /* Link: every run takes a run before it as parent, if one touches. */
    const uint64_t lower = bits[at], starts = starts_of(lower), share = share_of<LANES>(starts, mine);
    const uint32_t first_rank = ranks_before(starts, share), end_rank = first_rank + __popcll(share);
    bool continues = false;
    Links links = {};
    if (__any_sync(~0u, lower != 0))
        links = link_row<EIGHT>(parents, bits, at, share, &continues);
    if (LANES > 1)
        links.residual &= share_of<LANES>(~0ull, mine);

    /* Unite what the links left open. Flat trees first: the ways up are walked many times. */
    if (__syncthreads_or(links.residual != 0)) {
        for (uint32_t rank = first_rank; rank < end_rank; rank++) {
            const uint32_t key = at << 5 | rank, parent = parents[key], root = find(parents, parent);
            if (root != parent)
                parents.min(key, root);
        }
        __syncthreads();
        for (uint64_t left = links.residual; left; left &= left - 1) {
            const uint32_t x = __ffsll(left) - 1;
            unite_local(parents, lower_key(bits, at, links.pairs, x), upper_key(bits, at, links.pairs, x));
        }
        __syncthreads();
    }

    /* Publish each run's root. */
    const bool publishes = in_image && word_x < plan.row_words;
    const auto node_of = [&](uint32_t key) {
        const uint32_t key_y = band * TILE_ROWS + (key >> 10) - 1;
        return (key_y * plan.row_words + tile_x * 32 + (key >> 5 & 31)) << 5 | (key & 31);
    };
    uint32_t heads = 0, joined = 0;
    const bool shared = row == TILE_ROWS || (plan.tiles_x > 1 && (lane == 0 || lane == 31));
    for (uint32_t i = first_rank; publishes && i < end_rank; i += 4) {
        uint32_t roots[4];
#pragma unroll
        for (uint32_t j = 0; j < 4; j++)
            roots[j] = at << 5 | (i + j < end_rank ? i + j : i);
        for (bool moved = true; moved;) { /* four chains in flight */
            moved = false;
#pragma unroll
            for (uint32_t j = 0; j < 4; j++) {
                const uint32_t parent = parents[roots[j]];
                moved |= parent != roots[j];
                roots[j] = parent;
            }
        }
#pragma unroll
        for (uint32_t j = 0; j < 4; j++) {
            const uint32_t rank = i + j;
            if (rank >= end_rank)
                break;
            if (roots[j] == (at << 5 | rank))
                heads |= 1u << rank;
            else if (row == 0 && !(rank == 0 && continues)) {
                joined |= 1u << rank;
                plan.partners[(band * plan.row_words + word_x) << 5 | rank] = node_of(roots[j]);
            }
            if (row && (heads >> rank & 1 || shared))
                plan.parents[word << 5 | rank] = node_of(roots[j]);
            if (row && (LANES > 1 || end_rank - i == 1))
                plan.parts[word << 5 | rank] = (uint16_t)roots[j];
        }
        if (LANES == 1 && row && end_rank - i > 1)
            *(uint2 *)(plan.parts + (word << 5 | i)) = make_uint2(roots[0] | roots[1] << 16, roots[2] | roots[3] << 16);
    }
    if (LANES > 1) {
        if (heads)
            atomicOr(&shared_heads[at], heads);
        if (joined)
            atomicOr(&shared_joined[lane], joined);
        __syncthreads();
        heads = shared_heads[at];
        joined = shared_joined[lane];
    }
    if (!publishes || mine)
        return;
    if (row) {
        plan.bits[word] = lower;
        plan.heads[word] = heads;
    } else {
        plan.border[band * plan.row_words + word_x] = make_uint2(heads, joined);
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

/* Sums over pixels: coordinates relative to some corner. */
typedef struct PixelSums {
    uint32_t n, x, y, xx, xy, yy;
    uint32_t x0, x1, y1;
} PixelSums;

/* Sums of the components of a block, relative to its first pixel, found by id. */
enum { AREA, SX, SY, SXX_LOW, SXX_HIGH, SXY, SYY, NOT_X0, X1, Y1, N_FIELDS };
typedef struct BlockSums {
    uint32_t ids[SLOTS]; /* id + 1; 0: free */
    uint32_t fields[N_FIELDS][SLOTS];
} BlockSums;

/* Sum of i squared for i < n. */
__device__ static inline uint32_t squares_below(uint32_t n)
{
    return (n - 1) * n * (2 * n - 1) / 6; /* 0 for 0: unsigned wraps twice */
}

/* (x, y): what the sums are relative to. */
__device__ static inline void add_global(Extent *to, const PixelSums &sums, uint32_t x, uint32_t y, uint64_t)
{
    atomicAdd(&to->area, sums.n);
    atomicMax(&to->not_x0, ~(x + sums.x0));
    atomicMax(&to->x1, x + sums.x1);
    atomicMax(&to->y1, y + sums.y1);
}

__device__ static inline void add_global(Sums *to, const PixelSums &sums, uint32_t x, uint32_t y, uint64_t xx)
{
    const uint64_t n = sums.n, m10 = sums.x + x * n;
    atomicAdd(&to->area, (unsigned long long)n);
    atomicAdd(&to->m10, (unsigned long long)m10);
    atomicAdd(&to->m01, (unsigned long long)(sums.y + y * n));
    atomicAdd(&to->m20, (unsigned long long)(xx + (uint64_t)x * sums.x + x * m10));
    atomicAdd(&to->m11, (unsigned long long)(sums.xy + (uint64_t)x * sums.y + y * m10));
    atomicAdd(&to->m02, (unsigned long long)(sums.yy + 2ull * y * sums.y + y * (y * n)));
    atomicMax(&to->not_x0, ~(x + sums.x0));
    atomicMax(&to->x1, x + sums.x1);
    atomicMax(&to->y1, y + sums.y1);
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

/* xx: relative to the block, where 32 bits are not enough. */
__device__ static inline void add_block(BlockSums *block, uint32_t slot, const PixelSums &sums, uint64_t xx)
{
    atomicAdd(&block->fields[AREA][slot], sums.n);
    atomicAdd(&block->fields[SX][slot], sums.x);
    atomicAdd(&block->fields[SY][slot], sums.y);
    atomicAdd(&block->fields[SXX_LOW][slot], (uint32_t)xx & 0xffff);
    atomicAdd(&block->fields[SXX_HIGH][slot], (uint32_t)(xx >> 16));
    atomicAdd(&block->fields[SXY][slot], sums.xy);
    atomicAdd(&block->fields[SYY][slot], sums.yy);
    atomicMax(&block->fields[NOT_X0][slot], ~sums.x0);
    atomicMax(&block->fields[X1][slot], sums.x1);
    atomicMax(&block->fields[Y1][slot], sums.y1);
}

template <Pass PASS, bool LABELS, uint32_t LANES, typename Jobs>
static __global__ void __launch_bounds__(MEASURE_THREADS(LANES)) measure(const Jobs jobs)
{
    const Job &job = jobs.get();
    const Plan &plan = job.plan;
    if (Jobs::MANY && (blockIdx.x >= plan.tiles_x || blockIdx.y * MEASURE_ROWS >= plan.height))
        return;
    constexpr uint32_t THREADS = MEASURE_THREADS(LANES);
    __shared__ BlockSums block;
    __shared__ uint32_t bases[MOST_CHUNKS];
    __shared__ uint32_t labels[LABELS ? MEASURE_WORDS * 32 : 1]; /* [rank][word] */

    /* A warp takes four words of eight rows, so that its lanes share components. */
    const uint32_t thread = threadIdx.x, lane = thread % 32, at = thread % MEASURE_WORDS, mine = thread / MEASURE_WORDS;
    const uint32_t column = at / 32 * 4 + lane % 4, row = lane / 4;
    const uint32_t word_x = blockIdx.x * 32 + column, y = blockIdx.y * MEASURE_ROWS + row;
    const bool inside = y < plan.height && word_x < plan.row_words;
    const uint32_t word = y * plan.row_words + word_x;

    for (uint32_t i = thread; i < SLOTS; i += THREADS) {
        block.ids[i] = 0;
        for (uint32_t field = 0; field < N_FIELDS; field++)
            block.fields[field][i] = 0;
    }
    wait_for_predecessor();

    const uint64_t bits = inside ? plan.bits[word] : 0;
    const uint64_t starts = starts_of(bits), share = share_of<LANES>(starts, mine);
    const uint32_t first_rank = ranks_before(starts, share);
    const uint16_t *const parts = plan.parts + ((size_t)word << 5);
    uint2 pack = make_uint2(0, 0); /* of four runs */

    /* Chunk counts -> ids of their first components. */
    {
        uint32_t counts[MOST_CHUNKS / THREADS], sum = 0, total;
#pragma unroll
        for (uint32_t i = 0; i < MOST_CHUNKS / THREADS; i++) {
            const uint32_t chunk = thread * (MOST_CHUNKS / THREADS) + i;
            counts[i] = chunk < plan.n_chunks ? plan.chunk_counts[chunk] : 0;
            sum += counts[i];
        }
        if (share)
            pack = *(const uint2 *)(parts + first_rank / 4 * 4);
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

    /* Sums: a lane adds up its word's runs while they belong to one component; the warp adds up its lanes; the block
     * its warps. Here relative to the warp's first pixel. */
    const uint32_t block_x = blockIdx.x * 2048, warp_x = at / 32 * 256, block_y = blockIdx.y * MEASURE_ROWS;
    const auto add = [&](uint32_t id, PixelSums sums) {
        const uint64_t xx = sums.xx + (uint64_t)2 * warp_x * sums.x + (uint64_t)warp_x * warp_x * sums.n;
        sums.x += warp_x * sums.n;
        sums.xy += warp_x * sums.y;
        sums.x0 += warp_x;
        sums.x1 += warp_x;
        if (PASS != PASS_FIND && id >= plan.capacity)
            return;
        const uint32_t slot = slot_of(&block, id, plan.slots);
        if (slot < SLOTS)
            add_block(&block, slot, sums, xx);
        else if (PASS == PASS_FIND)
            add_global(&plan.extents[id], sums, block_x, block_y, xx);
        else
            add_global(&plan.sums[id], sums, block_x, block_y, xx);
    };
    if (__any_sync(~0u, share != 0)) {
        PixelSums sums = { 0, 0, 0, 0, 0, 0, 0, 0, row + 1 };
        uint32_t current = ~0u, key_before = ~0u, id = ~0u;
        uint32_t i = first_rank;
        const uint32_t x = lane % 4 * 64;
        const auto finish = [&]() { /* word -> warp */
            sums.xx += 2 * x * sums.x + x * x * sums.n;
            sums.x += x * sums.n;
            sums.x0 += x;
            sums.x1 += x;
            sums.y = row * sums.n;
            sums.xy = row * sums.x;
            sums.yy = row * row * sums.n;
        };
        for (uint64_t left = share; left; left &= left - 1, i++) {
            if (i % 4 == 0 && i != first_rank)
                pack = *(const uint2 *)(parts + i);
            const uint32_t key = (i % 4 < 2 ? pack.x : pack.y) >> i % 2 * 16 & 0xffff;
            const uint32_t begin = __ffsll(left) - 1;
            const uint64_t after = ~(bits >> begin);
            const uint32_t end = after ? begin + __ffsll(after) - 1 : 64;
            if (key != key_before) {
                key_before = key;
                const uint32_t root_y = y / TILE_ROWS * TILE_ROWS + (key >> 10) - 1;
                const uint32_t node = (root_y * plan.row_words + blockIdx.x * 32 + (key >> 5 & 31)) << 5 | (key & 31);
                uint32_t number = plan.parents[node];
                const bool is_root = number & NUMBERED;
                while (!(number & NUMBERED))
                    number = plan.parents[number];
                id = bases[number >> 17 & (MOST_CHUNKS - 1)] + (number & 0x1ffff);
                const uint32_t pixel = y << 16 | (word_x * 64 + begin);
                if (PASS == PASS_FIND && is_root && node == (word << 5 | i))
                    plan.finals[id] = pixel;
                if (PASS == PASS_ALL && is_root && node == (word << 5 | i) && id < plan.capacity)
                    plan.sums[id].first = pixel;
                if (PASS == PASS_KEPT)
                    id = plan.finals[id] - 1; /* dropped: past the end of every table */
            }
            if (LABELS)
                labels[i * MEASURE_WORDS + at] = id + 1;
            if (id != current) {
                if (current != ~0u) {
                    finish();
                    add(current, sums);
                }
                sums = PixelSums{ 0, 0, 0, 0, 0, 0, begin, 0, row + 1 };
                current = id;
            }
            const uint32_t length = end - begin;
            sums.n += length;
            sums.x += length * (begin + end - 1) / 2;
            sums.xx += squares_below(end) - squares_below(begin);
            sums.x1 = end;
        }
        finish();
        uint32_t pending = __ballot_sync(~0u, current != ~0u);
        for (uint32_t round = 0; round < 4 && pending; round++) {
            const uint32_t leader = __ffs(pending) - 1;
            const uint32_t chosen = __shfl_sync(~0u, current, leader);
            const uint32_t peers = __ballot_sync(~0u, current == chosen) & pending;
            const bool mine = peers >> lane & 1;
            PixelSums all = sums;
            if (peers & (peers - 1)) {
                const uint32_t n_y = warp_sum(mine ? sums.n | sums.y << 12 : 0);
                all.n = n_y & 0xfff;
                all.y = n_y >> 12;
                all.x = warp_sum(mine ? sums.x : 0);
                all.xx = warp_sum(mine ? sums.xx : 0);
                all.xy = warp_sum(mine ? sums.xy : 0);
                all.yy = warp_sum(mine ? sums.yy : 0);
                all.x0 = warp_min(mine ? sums.x0 : ~0u);
                all.x1 = warp_max(mine ? sums.x1 : 0);
                all.y1 = (31 - __clz(peers)) / 4 + 1;
            }
            if (lane == leader)
                add(chosen, all);
            pending &= ~peers;
        }
        if (pending >> lane & 1)
            add(current, sums);
    }
    __syncthreads();
    for (uint32_t slot = thread; slot < plan.slots; slot += THREADS) {
        const uint32_t id = block.ids[slot] - 1;
        if (id == ~0u)
            continue;
        const uint32_t (*const fields)[SLOTS] = block.fields;
        const PixelSums sums = { fields[AREA][slot], fields[SX][slot], fields[SY][slot], 0, fields[SXY][slot],
                                 fields[SYY][slot], ~fields[NOT_X0][slot], fields[X1][slot], fields[Y1][slot] };
        const uint64_t xx = fields[SXX_LOW][slot] + ((uint64_t)fields[SXX_HIGH][slot] << 16);
        if (PASS == PASS_FIND)
            add_global(&plan.extents[id], sums, block_x, block_y, xx);
        else
            add_global(&plan.sums[id], sums, block_x, block_y, xx);
    }

    /* Labels: a warp writes half a kilobyte of a row at a time, two words of its four. */
    if (!LABELS)
        return;
    const CudaVars *const vars = job.vars;
    const uint32_t occupied = __ballot_sync(~0u, bits != 0);
    const uint32_t low = (uint32_t)bits, high = (uint32_t)(bits >> 32);
    for (uint32_t i = mine * (32 / LANES); i < (mine + 1) * (32 / LANES); i += 2) {
        const uint32_t pixel_x = block_x + warp_x + i % 4 * 64 + lane * 4, pixel_y = block_y + i / 4;
        uint4 value = make_uint4(0, 0, 0, 0);
        if (occupied >> i & 3) {
            const uint32_t owner = i + lane / 16, shift = lane % 16 * 4;
            const uint64_t b = __shfl_sync(~0u, low, owner) | (uint64_t)__shfl_sync(~0u, high, owner) << 32;
            const uint32_t nibble = b >> shift & 15;
            if (nibble) {
                const uint32_t from = __ffs(nibble) - 1, rank = rank_of(starts_of(b), shift + from);
                const uint32_t *const label = &labels[rank * MEASURE_WORDS + (at - lane + owner)];
                const uint32_t again = nibble & ~(nibble << 1) & ~(1u << from); /* where a second run starts */
                const uint32_t one = label[0], two = again ? label[MEASURE_WORDS] : 0;
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
enum { ROOM_ROWS, ROOM_COMPONENTS, ROOM_WORDS, ROOM_BORDER_WORDS };

static uint32_t row_words_of(uint32_t width)
{
    return (width + 255) / 256 * 4;
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
    return room;
}

/* Lays out the workspace, the same for every frame that it has room for, and returns its bytes. So what must stay zero
 * between frames stays in its place. */
static size_t lay_out(Plan *plan, uint8_t *workspace, const CudaRoom *room)
{
    const size_t n_words = room->of[ROOM_WORDS], n_border_words = room->of[ROOM_BORDER_WORDS];
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
    plan->parts = (uint16_t *)(workspace + take(&used, n_words * 32 * sizeof(uint16_t)));
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
    plan.tiles_x = (plan.row_words + 31) / 32;
    plan.bands = bands_of(height);
    const size_t n_words = (size_t)plan.row_words * height;
    plan.chunk_words = NUMBER_THREADS * blocks_for(n_words, NUMBER_THREADS * MOST_CHUNKS);
    plan.n_chunks = blocks_for(n_words, plan.chunk_words);
    plan.capacity = context->capacity;
    plan.slots = test_limit(SLOTS);
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
    grids.measure = dim3(plan->tiles_x, blocks_for(plan->height, MEASURE_ROWS));
    grids.keep = dim3(2 * multiprocessors);
    grids.rows = dim3(min(blocks_for((size_t)plan->capacity * 4, ROWS_THREADS), 128u));
    return grids;
}

/* Launches a kernel; with `overlap` it may start while the one before it ends. */
template <typename... Args>
static CclStatus launch(CudaFrame *frame, const char *name, bool overlap, void (*kernel)(Args...), dim3 grid,
                        uint32_t threads, Args... args)
{
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = grid;
    config.blockDim = dim3(threads);
    config.stream = frame->stream;
    config.attrs = &attribute;
    config.numAttrs = overlap && frame->overlap;
    CCL_CUDA_TRY(cudaLaunchKernelEx(&config, kernel, args...));
    return cuda_launched(frame, name, __FILE__, __LINE__);
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
    const CudaVars given = Jobs::MANY ? CudaVars{} : *frame->given;
    CCL_TRY(launch(frame, "solve", false, solve_input, grids.solve, SOLVE_THREADS(LANES), jobs, given));
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
    const bool small = n_tiles <= multiprocessors;
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
    const Alone alone = { job_for(context, frame, cuda_workspace(context), cuda_room(context), frame->vars) };
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
    .takes_vars = true,
    .analyze = analyze,
    .batches = &batches,
};
