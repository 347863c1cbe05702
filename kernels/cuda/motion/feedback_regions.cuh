/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Regions of a plane of bits: union-find over runs of its rows. A run has a node, the place of its first pixel: 1 + y * pitch +
 * x. Node 0 is what lies outside of the picture; runs of 0 at the border belong to it. The root of a region is its smallest
 * node, that is its first pixel.
 *
 * A picture needs no clearing: an entry of `parents` has the number of its labelling in its upper bits, and entries of earlier
 * labellings count as none. Numbers go down, so that atomicMin() replaces what is old.
 *
 * Three kernels: `merge` joins the runs of a row with those above, `sum` adds what the runs have to their roots, and then anyone
 * may look up the root of a pixel. A warp has a row.
 */
#ifndef CCL_CUDA_MOTION_FEEDBACK_REGIONS_CUH
#define CCL_CUDA_MOTION_FEEDBACK_REGIONS_CUH

#include "feedback.cuh"

#define REGION_NODE_BITS 29
#define REGION_THREADS   256u
#define REGION_OUTSIDE   0u

static_assert((uint64_t)CCL_MAX_SIZE * CCL_MAX_SIZE < 1u << REGION_NODE_BITS, "");

typedef struct Regions {
    const uint32_t *bits;
    unsigned long long *parents;
    unsigned long long labelling; /* its number */
    const uint16_t *run_starts;   /* by word: where the run of the bit left of it begins */
    uint32_t words, pitch;
} Regions;

/* The kernels of regions have a warp for each row. */
__device__ static inline uint32_t row_of_warp()
{
    return (blockIdx.x * blockDim.x + threadIdx.x) / 32;
}

/* phase: 0 blobs, 1 still regions */
__device__ static inline Regions regions_of(const Feedback &f, const uint32_t *bits, uint32_t phase)
{
    const unsigned long long last = (1ull << (64 - REGION_NODE_BITS)) - 2;
    return { bits, f.parents, last - 2 * f.state->n_pictures - phase, f.run_starts, f.words, f.pitch };
}

__device__ static inline uint32_t region_node(const Regions &r, uint32_t start, uint32_t y)
{
    return 1 + y * r.pitch + start;
}

__device__ static inline uint32_t region_root(const Regions &r, uint32_t node)
{
    for (;;) {
        const unsigned long long entry = __ldcg(r.parents + node);
        if (entry >> REGION_NODE_BITS != r.labelling)
            return node;
        node = (uint32_t)entry & ((1u << REGION_NODE_BITS) - 1);
    }
}

/* The same, for kernels that join or add: parents on the way become grandparents. Rows that begin together make chains as long
 * as a region is high, which rows that climb together halve with each step. */
__device__ static inline uint32_t region_climb(const Regions &r, uint32_t node)
{
    const uint32_t mask = (1u << REGION_NODE_BITS) - 1;
    unsigned long long entry = __ldcg(r.parents + node);
    while (entry >> REGION_NODE_BITS == r.labelling) {
        const uint32_t parent = (uint32_t)entry & mask;
        const unsigned long long next = __ldcg(r.parents + parent);
        if (next >> REGION_NODE_BITS != r.labelling)
            return parent;
        atomicMin(r.parents + node, next);
        node = (uint32_t)next & mask;
        entry = __ldcg(r.parents + node);
    }
    return node;
}

/* `node` gets the parent `to`, if that is smaller than the one it has. Returns the one it had, or `to` if it had none. */
__device__ static inline uint32_t region_attach(const Regions &r, uint32_t node, uint32_t to)
{
    const unsigned long long old = atomicMin(r.parents + node, r.labelling << REGION_NODE_BITS | to);
    return old >> REGION_NODE_BITS == r.labelling ? (uint32_t)old & ((1u << REGION_NODE_BITS) - 1) : to;
}

__device__ static inline void region_join(const Regions &r, uint32_t a, uint32_t b)
{
    for (;;) {
        a = region_climb(r, a), b = region_climb(r, b);
        if (a == b)
            return;
        const uint32_t large = max(a, b);
        b = min(a, b);
        a = region_attach(r, large, b); /* another thread may have been faster: then its parent has to join too */
    }
}

/* The same with what lies outside: a node gets it as its parent at once. */
__device__ static inline void region_join_outside(const Regions &r, uint32_t node)
{
    const uint32_t old = region_attach(r, node, REGION_OUTSIDE);
    if (old != REGION_OUTSIDE)
        region_join(r, old, REGION_OUTSIDE);
}

/* A word of a row. */
typedef struct RunWord {
    uint32_t bits;
    uint32_t before; /* bit left of it */
    uint32_t begins; /* where runs begin, of either kind */
    uint32_t start;  /* where the run of the bit left of it begins */
} RunWord;

/* Where the run of bit b of word `word` begins. */
__device__ static inline uint32_t run_start(const RunWord &w, uint32_t word, uint32_t b)
{
    const uint32_t begins = w.begins & ((2u << b) - 1);
    return begins ? word * 32 + 31 - (uint32_t)__clz((int)begins) : w.start;
}

/* A word whose row has been through `merge`. */
__device__ static inline RunWord load_run_word(const Regions &r, uint32_t word, uint32_t y)
{
    const size_t at = (size_t)y * r.words + word;
    RunWord w;
    w.bits = __ldcg(r.bits + at);
    w.before = word ? __ldcg(r.bits + at - 1) >> 31 : 0;
    w.begins = (w.bits ^ (w.bits << 1 | w.before)) | (word ? 0 : 1);
    w.start = __ldcg(r.run_starts + at);
    return w;
}

/* The root of a pixel's region. */
__device__ static inline uint32_t region_at(const Regions &r, uint32_t x, uint32_t y)
{
    return region_root(r, region_node(r, run_start(load_run_word(r, x / 32, y), x / 32, x % 32), y));
}

/* What a warp carries from 32 words of a row to the next. */
typedef struct RowScan {
    uint32_t before, start;
} RowScan;

/* The lane's word of 32 words. */
__device__ static inline RunWord scan_row(RowScan &scan, uint32_t bits, uint32_t word)
{
    const uint32_t lane = threadIdx.x % 32;
    RunWord w;
    w.bits = bits;
    w.before = __shfl_up_sync(~0u, bits >> 31, 1);
    if (!lane)
        w.before = scan.before;
    w.begins = (bits ^ (bits << 1 | w.before)) | (word ? 0 : 1);
    uint32_t start = w.begins ? word * 32 + 31 - (uint32_t)__clz((int)w.begins) : 0;
    for (uint32_t d = 1; d < 32; d *= 2)
        start = max(start, __shfl_up_sync(~0u, start, d)); /* of a lane below d its own */
    start = max(start, scan.start);
    w.start = __shfl_up_sync(~0u, start, 1);
    if (!lane)
        w.start = scan.start;
    scan.before = __shfl_sync(~0u, bits >> 31, 31);
    scan.start = __shfl_sync(~0u, start, 31);
    return w;
}

/* The bits right of a word's: bit x is pixel x + 1. `next`: the word after the warp's last. */
__device__ static inline uint32_t shifted_left(uint32_t bits, uint32_t next)
{
    uint32_t after = __shfl_down_sync(~0u, bits, 1);
    if (threadIdx.x % 32 == 31)
        after = next;
    return __funnelshift_r(bits, after, 1);
}

/* The runs of row y, as the warp's lanes see them: joins them with those above. BOTH: also runs of 0, by edges. load(word, y):
 * the row's bits, 0 past its end. begin(node): a run's node. */
template <bool BOTH, typename Load, typename Begin>
__device__ static inline void merge_row(const Feedback &f, const Regions &r, uint32_t y, Load load, Begin begin)
{
    const uint32_t lane = threadIdx.x % 32;
    RowScan here = { 0, 0 }, above = { 0, 0 };
    for (uint32_t first = 0; first < f.words; first += 32) {
        const uint32_t word = first + lane, valid = word < f.words ? valid_bits(f, word) : 0;
        const uint32_t bits = load(word, y), up = y ? load(word, y - 1) : 0;
        const RunWord a = scan_row(here, bits, word), b = scan_row(above, up, word);
        const uint32_t a_right = shifted_left(bits, load(first + 32, y));
        const uint32_t b_right = shifted_left(up, y ? load(first + 32, y - 1) : 0);
        const uint32_t a_left = bits << 1 | a.before, b_left = up << 1 | b.before;
        if (word >= f.words)
            continue;
        f.run_starts[(size_t)y * f.words + word] = (uint16_t)a.start;
        for (uint32_t left = a.begins & valid & (BOTH ? ~0u : bits); left; left &= left - 1) {
            const uint32_t i = (uint32_t)__ffs((int)left) - 1, node = region_node(r, word * 32 + i, y);
            begin(node);
            if (BOTH && !(bits >> i & 1) && (!y || y + 1 == f.height || word * 32 + i == 0))
                region_join_outside(r, node);
        }
        if (BOTH && word == (f.width - 1) / 32 && !(bits >> (f.width - 1) % 32 & 1))
            region_join_outside(r, region_node(r, run_start(a, word, (f.width - 1) % 32), y));
        if (!y)
            continue;
        uint32_t straight = bits & up & ~(a_left & b_left);
        if (BOTH)
            straight |= ~bits & ~up & (a_left | b_left) & valid;
        for (; straight; straight &= straight - 1) {
            const uint32_t i = (uint32_t)__ffs((int)straight) - 1;
            region_join(r, region_node(r, run_start(a, word, i), y), region_node(r, run_start(b, word, i), y - 1));
        }
        for (uint32_t left = bits & ~a_left & b_left & ~up; left; left &= left - 1) {
            const uint32_t i = (uint32_t)__ffs((int)left) - 1;
            const uint32_t start = i ? run_start(b, word, i - 1) : b.start;
            region_join(r, region_node(r, word * 32 + i, y), region_node(r, start, y - 1));
        }
        for (uint32_t left = bits & ~a_right & b_right & ~up; left; left &= left - 1) {
            const uint32_t i = (uint32_t)__ffs((int)left) - 1;
            region_join(r, region_node(r, run_start(a, word, i), y), region_node(r, word * 32 + i + 1, y - 1));
        }
    }
}

/* What the warp carries of the sums of a run. */
typedef struct SumScan {
    uint32_t sum, at_start; /* so far; before the run of the last bit */
} SumScan;

/* Two numbers, each 0 or 1 a pixel: they count where these bits of a word are set. */
typedef struct CountedBits {
    uint32_t low, high;
} CountedBits;

/* Adds up numbers over the runs of 1 of a row. end(start, sum) is called for each run with its first pixel and
 * high << 16 | low. */
template <typename End>
__device__ static inline void sum_runs(const RunWord &w, uint32_t next_bits, uint32_t word, CountedBits counted,
                                       SumScan &scan, End end)
{
    const uint32_t low = counted.low, high = counted.high;
    const uint32_t lane = threadIdx.x % 32;
    const auto count = [&](uint32_t mask) { return (uint32_t)__popc(low & mask) | (uint32_t)__popc(high & mask) << 16; };
    const uint32_t own = count(~0u), begins = w.begins & w.bits;
    uint32_t sum = own;
    for (uint32_t d = 1; d < 32; d *= 2) {
        const uint32_t other = __shfl_up_sync(~0u, sum, d);
        sum += lane >= d ? other : 0;
    }
    const uint32_t before = scan.sum + sum - own;
    /* Sums never go down, so the largest is that of the last run that began. */
    uint32_t at_start = begins ? before + count((1u << (31 - __clz((int)begins))) - 1) : 0;
    for (uint32_t d = 1; d < 32; d *= 2)
        at_start = max(at_start, __shfl_up_sync(~0u, at_start, d));
    at_start = max(at_start, scan.at_start);
    uint32_t start_before = __shfl_up_sync(~0u, at_start, 1);
    if (!lane)
        start_before = scan.at_start;
    for (uint32_t ends = w.bits & ~next_bits; ends; ends &= ends - 1) {
        const uint32_t b = (uint32_t)__ffs((int)ends) - 1, own_begins = begins & ((2u << b) - 1);
        const uint32_t from = own_begins ? before + count((1u << (31 - __clz((int)own_begins))) - 1) : start_before;
        end(run_start(w, word, b), before + count((2u << b) - 1) - from);
    }
    scan.sum += __shfl_sync(~0u, sum, 31);
    scan.at_start = __shfl_sync(~0u, at_start, 31);
}

#endif
