/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The kernel of label/runs.cu for sums and labels. */
#ifndef CCL_CUDA_RUNS_MEASURE_CUH
#define CCL_CUDA_RUNS_MEASURE_CUH

#include "cuda/runs/end.cuh"
#include "cuda/runs/labels.cuh"
#include "cuda/runs/launch.cuh"
#include "cuda/runs/run_sums.cuh"

#include <type_traits>

#define MEASURE_THREADS(lanes) (TILE_WORDS * (lanes))
/* Of one lane to a word, on a multiprocessor, at least: more would have too few registers. */
#define MEASURE_BLOCKS (RESIDENT_THREADS == 1024 ? 4u : 5u)
#define ADD_ROUNDS 4u     /* components of a warp whose runs are added up before they go to shared memory */
#define SIDE_BY_SIDE 2u   /* slots that go together, to neighbouring ids: 64 bytes at a time are dear on the bus */

/* Sums of the components of a block, found by id. A slot without area has none. */
typedef struct BlockSums {
    uint32_t pairs[SLOTS / SIDE_BY_SIDE]; /* id / SIDE_BY_SIDE + 1 of those in these slots; 0: free */
    uint32_t not_firsts[SLOTS]; /* inverse of Sums.first of a component inside the tile; else 0 */
    uint32_t fields[N_FIELDS][SLOTS];
} BlockSums;

/* Is the field asked for? A filter wants area and box. */
__device__ static constexpr bool is_asked(Pass pass, uint32_t field)
{
    return pass != PASS_FIND || field == AREA || field >= N_SUMS;
}

/* Adds up the runs of a warp that have the same id (~0: none), for the first few ids. Returns whether this lane is to
 * pass on what is in *sums then. */
template <Pass PASS> __device__ static inline bool add_up(uint32_t id, RunSums *sums)
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
            if (!is_asked(PASS, field))
                continue;
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

/* The slot of a component, or SLOTS when those near its place are taken. */
__device__ static inline uint32_t slot_of(BlockSums *block, uint32_t id, uint32_t n_slots)
{
    const uint32_t pair = id / SIDE_BY_SIDE;
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t place = (pair + i) % (SLOTS / SIDE_BY_SIDE), slot = place * SIDE_BY_SIDE;
        const uint32_t old = slot + SIDE_BY_SIDE <= n_slots ? atomicCAS(&block->pairs[place], 0, pair + 1) : ~0u;
        if (old == 0 || old == pair + 1)
            return slot + id % SIDE_BY_SIDE;
    }
    return SLOTS;
}

__device__ static inline uint32_t id_in(const BlockSums *block, uint32_t slot)
{
    return (block->pairs[slot / SIDE_BY_SIDE] - 1) * SIDE_BY_SIDE + slot % SIDE_BY_SIDE;
}

template <Pass PASS>
__device__ static inline void add_block(BlockSums *block, uint32_t slot, const RunSums &sums)
{
#pragma unroll
    for (uint32_t field = 0; field < N_FIELDS; field++) {
        if (!is_asked(PASS, field))
            continue;
        if (field < N_SUMS)
            atomicAdd(&block->fields[field][slot], sums.of[field]);
        else
            atomicMax(&block->fields[field][slot], sums.of[field]);
    }
}

template <Pass PASS, bool LABELS, uint32_t LANES, typename Jobs>
static __global__ void __launch_bounds__(MEASURE_THREADS(LANES), LANES == 1 ? MEASURE_BLOCKS : 2)
    measure(const Jobs jobs)
{
    const Job &job = jobs.get();
    const Plan &plan = job.plan;
    if (Jobs::MANY && (blockIdx.x >= plan.tiles_x || blockIdx.y >= plan.bands))
        return;
    constexpr uint32_t THREADS = MEASURE_THREADS(LANES);
    constexpr bool MAY_END_EARLY = !Jobs::MANY && PASS != PASS_FIND;
    __shared__ BlockSums block;
    __shared__ uint32_t bases[MAX_CHUNKS];
    __shared__ uint64_t tile_bits[TILE_WORDS];
    __shared__ AddedIds added;
    __shared__ uint32_t near_labels[LABELS ? NEAR_LABELS : 1]; /* of the tile's runs */

    /* As painters, a warp has four words of eight rows. */
    const uint32_t thread = threadIdx.x, lane = thread % 32, mine = thread / TILE_WORDS;
    const uint32_t warp_x = thread % TILE_WORDS / 32 * 4, column = warp_x + lane % 4, row = lane / 4;
    const uint32_t tile_x = blockIdx.x * 2048, tile_y = blockIdx.y * TILE_ROWS;
    const uint32_t word_x = blockIdx.x * 32 + column;
    const bool inside = tile_y + row < plan.height && word_x < plan.row_words;
    const uint32_t word = (tile_y + row) * plan.row_words + word_x;
    const uint32_t tile_at = blockIdx.y * plan.tiles_x + blockIdx.x;
    uint32_t *const runs = plan.runs + (size_t)tile_at * TILE_RUNS;

    for (uint32_t i = thread; i < SLOTS; i += THREADS) {
        if (i < SLOTS / SIDE_BY_SIDE)
            block.pairs[i] = 0;
        block.not_firsts[i] = 0;
        for (uint32_t field = 0; field < N_FIELDS; field++)
            block.fields[field][i] = 0;
    }
    if (thread == 0)
        added.n = 0;
    /* What solve has written is there: of a frame launched by itself since number has let this kernel start. */
    if (Jobs::MANY)
        wait_for_predecessor();
    const uint64_t bits = inside ? __ldcg(&plan.bits[word]) : 0;
    const uint32_t first_entry = __ldcg(&runs[thread]); /* perhaps in vain: to know takes as long */
    const uint32_t first_run = LABELS && bits ? __ldcg(&plan.first_runs[word]) : 0;
    const uint32_t n_listed = __ldcg(&plan.n_runs[tile_at]), n_runs = n_listed & ~OF_STRIPS;
    const bool strips = n_listed & OF_STRIPS;
    if (!Jobs::MANY)
        wait_for_predecessor();

    const bool flagged = job.vars->limits.border == CCL_BORDER_FLAG, early = MAY_END_EARLY && job.vars->early;
    /* Where there are many, a label takes the place of its run. */
    uint32_t *const labels = n_runs <= min(plan.near_labels, NEAR_LABELS) ? near_labels : runs;
    /* A lane's loads start some runs ahead, and the first before the block waits for other things: of a run, then of
     * its tile's root, then of the root above that. */
    const uint32_t n_each = (n_runs + THREADS - 1) / THREADS, end_run = min((thread + 1) * n_each, n_runs);
    uint32_t run = thread * n_each, entries[3], numbers[2];
    const auto fetch_entry = [&](uint32_t at) { return at < end_run ? runs[at] : 0; };
    const auto fetch_number = [&](uint32_t at, uint32_t entry) {
        return at < end_run ? plan.parents[node_of(plan, { blockIdx.x, blockIdx.y }, entry >> 14)] : NUMBERED;
    };
    const auto fetch_above = [&](uint32_t number) { return number & NUMBERED ? number : plan.parents[number]; };
    entries[0] = n_each == 1 ? first_entry : fetch_entry(run);
    if (n_each > 1) {
        entries[1] = fetch_entry(run + 1);
        entries[2] = fetch_entry(run + 2);
    }
    numbers[0] = fetch_number(run, entries[0]);
    if (n_each > 1)
        numbers[1] = fetch_number(run + 1, entries[1]);
    if (mine == 0)
        tile_bits[row * 32 + column] = bits;

    /* Chunk counts -> ids of their first components. */
    uint32_t n_found;
    {
        uint32_t counts[MAX_CHUNKS / THREADS], sum = 0, total;
#pragma unroll
        for (uint32_t i = 0; i < MAX_CHUNKS / THREADS; i++) {
            const uint32_t chunk = thread * (MAX_CHUNKS / THREADS) + i;
            counts[i] = chunk < plan.n_chunks ? plan.chunk_counts[chunk] : 0;
            sum += counts[i];
        }
        uint32_t base = block_scan<THREADS>(sum, &total);
#pragma unroll
        for (uint32_t i = 0; i < MAX_CHUNKS / THREADS; i++) {
            bases[thread * (MAX_CHUNKS / THREADS) + i] = base;
            base += counts[i];
        }
        if (PASS != PASS_KEPT && thread == 0 && blockIdx.x == 0 && blockIdx.y == 0)
            plan.counts->found = plan.counts->kept = total;
        n_found = total;
        __syncthreads();
    }

    /* Sums: a lane adds up its runs while they belong to one component; the warp its lanes, the block its warps. */
    const auto add = [&](uint32_t id, const RunSums &sums) {
        if (PASS != PASS_FIND && id >= plan.capacity)
            return;
        const uint32_t slot = slot_of(&block, id, plan.slots);
        if (slot < SLOTS)
            add_block<PASS>(&block, slot, sums);
        else if (PASS == PASS_FIND)
            add_global(&plan.extents[id], sums, tile_x, tile_y);
        else
            add_global(&plan.sums[id], sums, tile_x, tile_y);
    };
    RunSums sums = {};
    uint32_t current = ~0u;
    const auto sum_runs = [&](auto of_strips) {
        constexpr bool STRIPS = decltype(of_strips)::value;
        uint32_t entry_before = ~0u, id = ~0u;
        uint32_t above = fetch_above(numbers[0]);
        for (; run < end_run; run++) {
            const uint32_t entry = entries[0];
            const bool own_root = numbers[0] & NUMBERED;
            uint32_t number = above;
            if (n_each > 1) {
                above = fetch_above(numbers[1]);
                numbers[0] = numbers[1];
                numbers[1] = fetch_number(run + 2, entries[2]);
                entries[0] = entries[1];
                entries[1] = entries[2];
                entries[2] = fetch_entry(run + 3);
            }
            const uint32_t at = entry >> 6 & 0xff, begin = entry & 63, key = entry >> 14;
            if (key != entry_before >> 14 || (STRIPS && own_root)) { /* in a strip, the root may come later */
                const uint32_t place = STRIPS && own_root ? first_of_strip(tile_bits, at, begin) : at << 6 | begin;
                const uint32_t first_at = place >> 6, first_x = place & 63;
                const bool is_root = own_root && key >> 5 == first_at + 32 &&
                                     (key & 31) == rank_of(starts_of(tile_bits[first_at]), first_x);
                while (!(number & NUMBERED))
                    number = plan.parents[number];
                id = bases[number >> 17 & (MAX_CHUNKS - 1)] + (number & 0x1ffff);
                const uint32_t first = (tile_y + first_at / 32) << 16 | (tile_x + first_at % 32 * 64 + first_x);
                if (PASS == PASS_FIND && is_root)
                    plan.finals[id] = first;
                if (PASS == PASS_KEPT)
                    id = plan.finals[id] - 1; /* dropped: past the end of every table */
                if (PASS != PASS_FIND && is_root && id < plan.capacity) {
                    const uint32_t slot = number & INSIDE ? slot_of(&block, id, plan.slots) : SLOTS;
                    if (slot < SLOTS)
                        block.not_firsts[slot] = ~first;
                    else
                        plan.sums[id].first = first;
                    if (early && slot >= SLOTS)
                        note_added(&added, id);
                }
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
            if (STRIPS)
                add_run_of_strip(&sums, tile_bits, at, begin);
            else
                add_run<1>(&sums, tile_bits[at], at, begin);
        }
    };
    if ((thread - lane) * n_each < n_runs) {
        if (strips)
            sum_runs(std::true_type());
        else
            sum_runs(std::false_type());
        if (add_up<PASS>(current, &sums))
            add(current, sums);
    }
    __syncthreads();
    if (early && thread / 32 == THREADS / 32 - 1) /* with two lanes to a word it has less to do then */
        publish_added(plan, added);
    /* Four lanes to a component. One that is inside the tile is complete: its row goes to the table at once. */
    constexpr uint32_t PARTS = PASS == PASS_FIND ? 1 : 4;
    for (uint32_t i = thread; i < plan.slots * PARTS; i += THREADS) {
        const uint32_t slot = i / PARTS, quarter = i % PARTS, id = id_in(&block, slot);
        if (!block.fields[AREA][slot])
            continue;
        RunSums sums;
        for (uint32_t field = 0; field < N_FIELDS; field++)
            sums.of[field] = block.fields[field][slot];
        if (PASS == PASS_FIND) {
            add_global(&plan.extents[id], sums, tile_x, tile_y);
        } else if (!block.not_firsts[slot]) {
            add_quarter(&plan.sums[id], sums, sums.of[SXY], quarter, tile_x, tile_y);
        } else {
            const ulonglong2 moments = moments_of(sums, sums.of[SXY], quarter, tile_x, tile_y);
            const uint4 end = record_end(plan.width, plan.height, id,
                                      make_uint4(sums.of[NOT_X0] - tile_x, tile_x + sums.of[X1],
                                                 tile_y + sums.of[Y1], ~block.not_firsts[slot]), flagged);
            const uint4 value = quarter < 3 ? make_uint4((uint32_t)moments.x, (uint32_t)(moments.x >> 32),
                                                         (uint32_t)moments.y, (uint32_t)(moments.y >> 32)) : end;
            __syncwarp(15u << (lane & ~3u)); /* 64 bytes in one piece, for the bus */
            ((uint4 *)(CclComponent *)job.rows)[id * 4 + quarter] = value;
        }
    }

    __syncthreads();
    if (LABELS && strips)
        paint<LANES, true>(plan, job.vars, labels, bits, first_run);
    else if (LABELS)
        paint<LANES, false>(plan, job.vars, labels, bits, first_run);
    if (early)
        end_early<THREADS>(job, n_found, PASS == PASS_KEPT ? __ldcg(&plan.counts->kept) : n_found);
}

/* ---------------------------------------------------------------- launch */

template <uint32_t LANES, typename Jobs>
CclStatus launch_measure(CudaFrame *frame, Pass pass, bool labels, const Jobs &jobs, dim3 grid)
{
    const auto run = [&](const char *name, void (*kernel)(const Jobs)) {
        return cuda_launch(frame, name, CUDA_OVERLAP, kernel, grid, MEASURE_THREADS(LANES), 0, jobs);
    };
    if (pass == PASS_FIND)
        return run("find", measure<PASS_FIND, false, LANES, Jobs>);
    if (pass == PASS_KEPT)
        return run("measure", labels ? measure<PASS_KEPT, true, LANES, Jobs> : measure<PASS_KEPT, false, LANES, Jobs>);
    return run("measure", labels ? measure<PASS_ALL, true, LANES, Jobs> : measure<PASS_ALL, false, LANES, Jobs>);
}

#endif
