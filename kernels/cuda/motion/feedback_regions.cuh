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
 * may look up the root of a pixel. A warp has 32 words of a row, a lane a word. What takes several loads one after the other is
 * listed first, and then shared by the lanes.
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
    const uint16_t *run_starts;   /* by word: where the run of the bit left of it begins; of an empty word whose run of 0 goes on
                                     to the right border 0, as of those at the left one */
    uint32_t words, pitch;
} Regions;

/* The kernels of still regions have a warp for each row. */
__device__ static inline uint32_t row_of_warp()
{
    return (blockIdx.x * blockDim.x + threadIdx.x) / 32;
}

/* Those of blobs have one for each 32 words of a row. */
CCL_HOST_DEVICE static inline uint32_t region_chunks(const Feedback &f)
{
    return (f.words + 31) / 32;
}

/* What a warp has listed. */
typedef struct RegionList {
    uint2 items[64];
} RegionList;

#define REGION_LIST (sizeof(RegionList) / sizeof(uint2))

/* Lists what the lanes have, n of each, as often as the list is full, and shares it. put(add): calls add(item) for each item of
 * the lane; take(item). All lanes of the warp call. */
template <typename Put, typename Take> __device__ static inline void share_list(RegionList *list, uint32_t n, Put put, Take take)
{
    const uint32_t lane = threadIdx.x % 32;
    uint32_t sum = n;
    for (uint32_t d = 1; d < 32; d *= 2) {
        const uint32_t other = __shfl_up_sync(~0u, sum, d);
        sum += lane >= d ? other : 0;
    }
    const uint32_t total = __shfl_sync(~0u, sum, 31);
    for (uint32_t base = 0; base < total; base += REGION_LIST) {
        uint32_t slot = sum - n - base; /* what is in another list is beyond the end */
        put([&](uint2 item) {
            if (slot < REGION_LIST)
                list->items[slot] = item;
            slot++;
        });
        __syncwarp();
        for (uint32_t i = lane; i < min(total - base, (uint32_t)REGION_LIST); i += 32)
            take(list->items[i]);
        __syncwarp();
    }
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
 * as a region is high, which rows that climb together halve with each step. entry: of `node`. */
__device__ static inline uint32_t region_climb(const Regions &r, uint32_t node, unsigned long long entry)
{
    const uint32_t mask = (1u << REGION_NODE_BITS) - 1;
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
        const unsigned long long entry_a = __ldcg(r.parents + a), entry_b = __ldcg(r.parents + b); /* both on their way */
        a = region_climb(r, a, entry_a), b = region_climb(r, b, entry_b);
        if (a == b)
            return;
        const uint32_t large = max(a, b);
        b = min(a, b);
        a = region_attach(r, large, b); /* another thread may have been faster: then its parent has to join too */
    }
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

/* A word's runs, those above it, and the bits at which they are to be joined: to what lies outside; to the run straight above, or
 * above and left or right of the bit. */
typedef struct MergeWord {
    RunWord here, above;
    uint32_t word, outside, straight, left, right;
    bool ends_outside;
    bool at_right; /* it is part of the run of 0 at the right border */
} MergeWord;

/* The words of 32 that begin with `first`. load(word, y): the row's bits, 0 past its end. */
template <bool BOTH, typename Load>
__device__ static inline MergeWord scan_words(const Feedback &f, uint32_t first, uint32_t y, Load load)
{
    const uint32_t lane = threadIdx.x % 32, word = first + lane, valid = word < f.words ? valid_bits(f, word) : 0;
    RowScan here = { 0, 0 }, above = { 0, 0 };
    for (uint32_t before = 0; before < first; before += 32) {
        scan_row(here, load(before + lane, y), before + lane);
        scan_row(above, y ? load(before + lane, y - 1) : 0, before + lane);
    }
    const uint32_t bits = load(word, y), up = y ? load(word, y - 1) : 0;
    uint32_t later = 0;
    for (uint32_t after = first + 32; BOTH && after < f.words; after += 32)
        later |= load(after + lane, y);
    MergeWord m;
    m.word = word;
    m.here = scan_row(here, bits, word), m.above = scan_row(above, up, word);
    const uint32_t right = shifted_left(bits, load(first + 32, y)), up_right = shifted_left(up, y ? load(first + 32, y - 1) : 0);
    const uint32_t left = bits << 1 | m.here.before, up_left = up << 1 | m.above.before;
    m.straight = bits & up & ~(left & up_left);
    if (BOTH)
        m.straight |= ~bits & ~up & (left | up_left) & valid;
    m.straight = y ? m.straight : 0;
    m.left = bits & ~left & up_left & ~up, m.right = bits & ~right & up_right & ~up;
    m.outside = BOTH ? m.here.begins & ~bits & valid & (!y || y + 1 == f.height ? ~0u : word ? 0 : 1) : 0;
    m.at_right = BOTH && !(__ballot_sync(~0u, bits != 0) >> lane) && !m.here.before;
    m.at_right &= !__any_sync(~0u, later != 0);
    m.ends_outside = BOTH && word == (f.width - 1) / 32 && !(bits >> (f.width - 1) % 32 & 1);
    return m;
}

/* Calls add() with the pairs of nodes that a word joins. */
template <typename Add>
__device__ static inline void list_joins(const Feedback &f, const Regions &r, const MergeWord &m, uint32_t y, Add add)
{
    const auto node = [&](uint32_t i) { return region_node(r, run_start(m.here, m.word, i), y); };
    const auto node_above = [&](uint32_t i) { return region_node(r, run_start(m.above, m.word, i), y - 1); };
    for (uint32_t todo = m.outside; todo; todo &= todo - 1)
        add(make_uint2(node((uint32_t)__ffs((int)todo) - 1), REGION_OUTSIDE));
    if (m.ends_outside)
        add(make_uint2(node((f.width - 1) % 32), REGION_OUTSIDE));
    for (uint32_t todo = m.straight; todo; todo &= todo - 1) {
        const uint32_t i = (uint32_t)__ffs((int)todo) - 1;
        add(make_uint2(node(i), node_above(i)));
    }
    for (uint32_t todo = m.left; todo; todo &= todo - 1) {
        const uint32_t i = (uint32_t)__ffs((int)todo) - 1;
        add(make_uint2(node(i), i ? node_above(i - 1) : region_node(r, m.above.start, y - 1)));
    }
    for (uint32_t todo = m.right; todo; todo &= todo - 1) {
        const uint32_t i = (uint32_t)__ffs((int)todo) - 1;
        add(make_uint2(node(i), region_node(r, m.word * 32 + i + 1, y - 1)));
    }
}

/* Joins the runs of 32 words of row y with those above. BOTH: also runs of 0, by edges. load: as above. begin(node): a run's
 * node. */
template <bool BOTH, typename Load, typename Begin>
__device__ static inline void merge_words(const Feedback &f, const Regions &r, const uint2 &place, RegionList *list, Load load,
                                          Begin begin)
{
    const uint32_t y = place.y;
    const MergeWord m = scan_words<BOTH>(f, place.x, y, load);
    uint32_t n = 0;
    if (m.word < f.words) {
        f.run_starts[(size_t)y * f.words + m.word] = (uint16_t)(m.at_right ? 0 : m.here.start);
        for (uint32_t todo = m.here.begins & valid_bits(f, m.word) & (BOTH ? ~0u : m.here.bits); todo; todo &= todo - 1)
            begin(region_node(r, m.word * 32 + (uint32_t)__ffs((int)todo) - 1, y));
        n = (uint32_t)(__popc(m.outside) + __popc(m.straight) + __popc(m.left) + __popc(m.right)) + m.ends_outside;
    }
    share_list(
        list, n,
        [&](auto add) {
            if (n)
                list_joins(f, r, m, y, add);
        },
        [&](uint2 pair) { region_join(r, pair.x, pair.y); });
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
