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
/* Minimum number of blocks on a multiprocessor, with one lane for each word. More blocks would leave too few registers. */
#define MEASURE_BLOCKS         (RESIDENT_THREADS == 1024 ? 4u : 5u)
#define ADD_ROUNDS             4u /* components of a warp whose runs are added up before they go to shared memory */
#define SIDE_BY_SIDE           2u /* slots that are assigned together, to neighbouring ids: transfers of 64 bytes are slow on the bus */

/* Hash table of the sums of the components of a block, by id. A slot with area 0 is empty. */
typedef struct BlockSums {
    uint32_t pairs[SLOTS / SIDE_BY_SIDE]; /* id / SIDE_BY_SIDE + 1 of these slots; 0: free */
    uint32_t not_firsts[SLOTS];           /* complement of Sums.first for a component inside the tile; else 0 */
    uint32_t fields[N_FIELDS][SLOTS];
} BlockSums;

/* Whether the pass needs the field. A filter needs area and box only. */
__device__ static constexpr bool is_asked(Pass pass, uint32_t field)
{
    return pass != PASS_FIND || field == AREA || field >= N_SUMS;
}

/* Adds up the runs of a warp that have the same id (~0: none), for the first few ids. Returns whether this lane has to pass on
 * *sums. */
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

/* The slot of a component, or SLOTS if the slots near its hash are taken. */
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

/* What the threads of a block share. */
typedef struct MeasureTile {
    const Plan &plan;
    BlockSums *sums;
    AddedIds *added;
    const uint32_t *bases; /* [chunk]: the id of its first component */
    const uint64_t *bits;
    const uint32_t *runs; /* as in Plan */
    uint32_t *labels;     /* [run] */
    uint32_t x, y;        /* the first pixel */
    bool sets_flag;       /* the last block sets the completion flag, so components with sums in global memory are listed */
} MeasureTile;

/* The next runs of a thread. Loads start some runs ahead: first a run, then its tile's root, then the parent of that root. */
typedef struct RunWindow {
    uint32_t run, end;
    uint32_t n_each;
    uint32_t entries[3]; /* of Plan.runs; the first is that of `run` */
    uint32_t numbers[2]; /* parents of their tile's roots */
} RunWindow;

__device__ static __forceinline__ uint32_t fetch_entry(const MeasureTile &tile, const RunWindow &window, uint32_t run)
{
    return run < window.end ? tile.runs[run] : 0;
}

__device__ static __forceinline__ uint32_t fetch_number(const MeasureTile &tile, const RunWindow &window, uint32_t run,
                                                            uint32_t entry)
{
    return run < window.end ? tile.plan.parents[node_of(tile.plan, { blockIdx.x, blockIdx.y }, entry >> 14)] : NUMBERED;
}

__device__ static __forceinline__ uint32_t fetch_above(const MeasureTile &tile, uint32_t number)
{
    return number & NUMBERED ? number : tile.plan.parents[number];
}

/* first_entry: entry of the thread's first run, if each thread has at most one. */
template <uint32_t THREADS>
__device__ static __forceinline__ RunWindow open_window(const MeasureTile &tile, uint32_t n_runs, uint32_t first_entry)
{
    RunWindow window;
    window.n_each = (n_runs + THREADS - 1) / THREADS;
    window.end = min((threadIdx.x + 1) * window.n_each, n_runs);
    window.run = threadIdx.x * window.n_each;
    window.entries[0] = window.n_each == 1 ? first_entry : fetch_entry(tile, window, window.run);
    if (window.n_each > 1) {
        window.entries[1] = fetch_entry(tile, window, window.run + 1);
        window.entries[2] = fetch_entry(tile, window, window.run + 2);
    }
    window.numbers[0] = fetch_number(tile, window, window.run, window.entries[0]);
    if (window.n_each > 1)
        window.numbers[1] = fetch_number(tile, window, window.run + 1, window.entries[1]);
    return window;
}

/* Starts the loads for a further run. Returns the parent of the tile root of the next run. */
__device__ static __forceinline__ uint32_t advance_window(const MeasureTile &tile, RunWindow *window)
{
    const uint32_t above = fetch_above(tile, window->numbers[1]);
    window->numbers[0] = window->numbers[1];
    window->numbers[1] = fetch_number(tile, *window, window->run + 2, window->entries[2]);
    window->entries[0] = window->entries[1];
    window->entries[1] = window->entries[2];
    window->entries[2] = fetch_entry(tile, *window, window->run + 3);
    return above;
}

template <uint32_t THREADS> __device__ static __forceinline__ void clear_sums(BlockSums *sums, AddedIds *added)
{
    for (uint32_t i = threadIdx.x; i < SLOTS; i += THREADS) {
        if (i < SLOTS / SIDE_BY_SIDE)
            sums->pairs[i] = 0;
        sums->not_firsts[i] = 0;
        for (uint32_t field = 0; field < N_FIELDS; field++)
            sums->fields[field][i] = 0;
    }
    if (threadIdx.x == 0)
        added->n = 0;
}

/* Chunk counts -> id of the first component of each chunk, for all threads. Returns the number of components. */
template <Pass PASS, uint32_t THREADS>
__device__ static __forceinline__ uint32_t scan_chunks(const Plan &plan, uint32_t *bases)
{
    constexpr uint32_t EACH = MAX_CHUNKS / THREADS;
    uint32_t counts[EACH], sum = 0, total;
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++) {
        const uint32_t chunk = threadIdx.x * EACH + i;
        counts[i] = chunk < plan.n_chunks ? plan.chunk_counts[chunk] : 0;
        sum += counts[i];
    }
    uint32_t base = block_scan<THREADS>(sum, &total);
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++) {
        bases[threadIdx.x * EACH + i] = base;
        base += counts[i];
    }
    if (PASS != PASS_KEPT && threadIdx.x == 0 && blockIdx.x == 0 && blockIdx.y == 0)
        plan.counts->found = plan.counts->kept = total;
    __syncthreads();
    return total;
}

/* Adds to the block's sums or, if all slots near the hash are taken, to those in global memory. */
template <Pass PASS> __device__ static __forceinline__ void add_sums(const MeasureTile &tile, uint32_t id, const RunSums &sums)
{
    if (PASS != PASS_FIND && id >= tile.plan.capacity)
        return;
    const uint32_t slot = slot_of(tile.sums, id, tile.plan.slots);
    if (slot < SLOTS)
        add_block<PASS>(tile.sums, slot, sums);
    else if (PASS == PASS_FIND)
        add_global(&tile.plan.extents[id], sums, tile.x, tile.y);
    else
        add_global(&tile.plan.sums[id], sums, tile.x, tile.y);
}

/* Stores the first pixel of a component, by its root. number: with INSIDE. */
__device__ static __forceinline__ void store_first(const MeasureTile &tile, uint32_t id, uint32_t number, uint32_t first)
{
    const uint32_t slot = number & INSIDE ? slot_of(tile.sums, id, tile.plan.slots) : SLOTS;
    if (slot < SLOTS)
        tile.sums->not_firsts[slot] = ~first;
    else
        tile.plan.sums[id].first = first;
    if (tile.sets_flag && slot >= SLOTS)
        note_added(tile.added, id);
}

/* The sums of a thread's last runs, which belong to one component; id: ~0: none. */
typedef struct ThreadSums {
    uint32_t id;
    RunSums sums;
} ThreadSums;

/* Adds up the runs of a thread while they belong to one component, and passes on the sums of all components but the last. */
template <Pass PASS, bool LABELS, bool STRIPS>
__device__ static __forceinline__ void sum_runs(const MeasureTile &tile, RunWindow *window, ThreadSums *last)
{
    const Plan &plan = tile.plan;
    uint32_t entry_before = ~0u, id = ~0u;
    uint32_t above = fetch_above(tile, window->numbers[0]);
    for (; window->run < window->end; window->run++) {
        const uint32_t entry = window->entries[0];
        const bool own_root = window->numbers[0] & NUMBERED;
        uint32_t number = above;
        if (window->n_each > 1)
            above = advance_window(tile, window);
        const uint32_t at = entry >> 6 & 0xff, begin = entry & 63, key = entry >> 14;
        if (key != entry_before >> 14 || (STRIPS && own_root)) { /* in a strip, the root may be a later run */
            const uint32_t place = STRIPS && own_root ? first_of_strip(tile.bits, at, begin) : at << 6 | begin;
            const uint32_t first_at = place >> 6, first_x = place & 63;
            const bool is_root = own_root && key >> 5 == first_at + 32 &&
                                 (key & 31) == rank_of(starts_of(tile.bits[first_at]), first_x);
            while (!(number & NUMBERED))
                number = plan.parents[number];
            id = tile.bases[number >> 17 & (MAX_CHUNKS - 1)] + (number & 0x1ffff);
            const uint32_t first = (tile.y + first_at / 32) << 16 | (tile.x + first_at % 32 * 64 + first_x);
            if (PASS == PASS_FIND && is_root)
                plan.finals[id] = first;
            if (PASS == PASS_KEPT)
                id = plan.finals[id] - 1; /* of a dropped component: past the end of every table */
            if (PASS != PASS_FIND && is_root && id < plan.capacity)
                store_first(tile, id, number, first);
            entry_before = entry;
        }
        if (LABELS)
            tile.labels[window->run] = id + 1;
        if (id != last->id) {
            if (last->id != ~0u)
                add_sums<PASS>(tile, last->id, last->sums);
            *last = ThreadSums{ id, {} };
        }
        if (STRIPS)
            add_run_of_strip(&last->sums, tile.bits, at, begin);
        else
            add_run<1>(&last->sums, tile.bits[at], at, begin);
    }
}

/* A quarter of a component's record. */
__device__ static __forceinline__ uint4 quarter_of_record(const MeasureTile &tile, const RunSums &sums, uint32_t id,
                                                          uint32_t first, uint32_t quarter, bool flagged)
{
    const ulonglong2 moments = moments_of(sums, sums.of[SXY], quarter, tile.x, tile.y);
    const uint4 extent = make_uint4(sums.of[NOT_X0] - tile.x, tile.x + sums.of[X1], tile.y + sums.of[Y1], first);
    const uint4 end = record_end(tile.plan.width, tile.plan.height, id, extent, flagged);
    return quarter < 3 ? make_uint4((uint32_t)moments.x, (uint32_t)(moments.x >> 32), (uint32_t)moments.y,
                                    (uint32_t)(moments.y >> 32)) : end;
}

/* Adds the block's sums to those in global memory, by four lanes for each component. Components inside the tile are complete:
 * their records go to the table. */
template <Pass PASS, uint32_t THREADS>
__device__ static __forceinline__ void write_sums(const MeasureTile &tile, const Job &job, bool flagged)
{
    constexpr uint32_t QUARTERS = PASS == PASS_FIND ? 1 : 4;
    for (uint32_t i = threadIdx.x; i < tile.plan.slots * QUARTERS; i += THREADS) {
        const uint32_t slot = i / QUARTERS, quarter = i % QUARTERS, id = id_in(tile.sums, slot);
        if (!tile.sums->fields[AREA][slot])
            continue;
        RunSums sums;
        for (uint32_t field = 0; field < N_FIELDS; field++)
            sums.of[field] = tile.sums->fields[field][slot];
        if (PASS == PASS_FIND) {
            add_global(&tile.plan.extents[id], sums, tile.x, tile.y);
        } else if (!tile.sums->not_firsts[slot]) {
            add_quarter(&tile.plan.sums[id], sums, sums.of[SXY], quarter, tile.x, tile.y);
        } else {
            const uint4 value = quarter_of_record(tile, sums, id, ~tile.sums->not_firsts[slot], quarter, flagged);
            __syncwarp(15u << (threadIdx.x % 32 & ~3u)); /* so that a record of 64 bytes crosses the bus at once */
            ((uint4 *)(CclComponent *)job.records)[id * 4 + quarter] = value;
        }
    }
}

/* The loads of solve's data stand here: in a function of their own, the kernel took 1 to 2 % longer. */
template <Pass PASS, bool LABELS, uint32_t LANES, typename Jobs>
static __global__ void __launch_bounds__(MEASURE_THREADS(LANES), LANES == 1 ? MEASURE_BLOCKS : 2) measure(const Jobs jobs)
{
    const Job &job = jobs.get();
    const Plan &plan = job.plan;
    if (Jobs::MANY && (blockIdx.x >= plan.tiles_x || blockIdx.y >= plan.bands))
        return;
    constexpr uint32_t THREADS = MEASURE_THREADS(LANES);
    constexpr bool MAY_SET_FLAG = !Jobs::MANY && PASS != PASS_FIND;
    __shared__ BlockSums block;
    __shared__ uint32_t bases[MAX_CHUNKS];
    __shared__ uint64_t tile_bits[TILE_WORDS];
    __shared__ AddedIds added;
    __shared__ uint32_t shared_labels[LABELS ? SHARED_LABELS : 1]; /* of the tile's runs */

    /* For the label image, a warp has four words of eight rows. */
    const uint32_t thread = threadIdx.x, lane = thread % 32, mine = thread / TILE_WORDS;
    const uint32_t column = thread % TILE_WORDS / 32 * 4 + lane % 4, row = lane / 4;
    const uint32_t tile_x = blockIdx.x * 2048, tile_y = blockIdx.y * TILE_ROWS, word_x = blockIdx.x * 32 + column;
    const bool inside = tile_y + row < plan.height && word_x < plan.row_words;
    const uint32_t word = (tile_y + row) * plan.row_words + word_x, tile_at = blockIdx.y * plan.tiles_x + blockIdx.x;
    uint32_t *const runs = plan.runs + (size_t)tile_at * TILE_RUNS;
    clear_sums<THREADS>(&block, &added);
    /* The data of solve is complete: for a frame that is launched alone, since number let this kernel start. */
    if (Jobs::MANY)
        wait_for_predecessor();
    const uint64_t bits = inside ? __ldcg(&plan.bits[word]) : 0;
    const uint32_t first_entry = __ldcg(&runs[thread]); /* loaded before it is known whether the tile has this many runs */
    const uint32_t first_run = LABELS && bits ? __ldcg(&plan.first_runs[word]) : 0; /* of the word */
    const uint32_t n_listed = __ldcg(&plan.n_runs[tile_at]), n_runs = n_listed & ~OF_STRIPS;
    const bool strips = n_listed & OF_STRIPS;
    if (!Jobs::MANY)
        wait_for_predecessor();
    const bool flagged = job.vars->limits.border == CCL_BORDER_FLAG, sets_flag = MAY_SET_FLAG && job.vars->sets_flag;
    /* If there are many, a label overwrites the entry of its run. */
    uint32_t *const labels = n_runs <= min(plan.shared_labels, SHARED_LABELS) ? shared_labels : runs;
    const MeasureTile tile = { plan, &block, &added, bases, tile_bits, runs, labels, tile_x, tile_y, sets_flag };
    RunWindow window = open_window<THREADS>(tile, n_runs, first_entry);
    if (mine == 0)
        tile_bits[row * 32 + column] = bits;
    const uint32_t n_found = scan_chunks<PASS, THREADS>(plan, bases);
    ThreadSums last = { ~0u, {} };
    if ((thread - lane) * window.n_each < n_runs) {
        if (strips)
            sum_runs<PASS, LABELS, true>(tile, &window, &last);
        else
            sum_runs<PASS, LABELS, false>(tile, &window, &last);
        if (add_up<PASS>(last.id, &last.sums))
            add_sums<PASS>(tile, last.id, last.sums);
    }
    __syncthreads();
    if (sets_flag && thread / 32 == THREADS / 32 - 1) /* with two lanes for each word, this warp has the least other work */
        publish_added(plan, added);
    write_sums<PASS, THREADS>(tile, job, flagged);
    __syncthreads();
    if (LABELS)
        paint_tile<LANES>(plan, job.vars, labels, bits, first_run, strips);
    if (sets_flag)
        end_with_flag<THREADS>(job, n_found, PASS == PASS_KEPT ? __ldcg(&plan.counts->kept) : n_found);
}

/* ---------------------------------------------------------------- launch */

template <uint32_t LANES, typename Jobs>
CclStatus launch_measure(CudaFrame *frame, Pass pass, bool labels, const Jobs &jobs, dim3 grid)
{
    const auto run = [&](const char *name, void (*kernel)(const Jobs)) {
        return cuda_launch(frame, name, CUDA_OVERLAP, kernel, { grid, MEASURE_THREADS(LANES), 0 }, jobs);
    };
    if (pass == PASS_FIND)
        return run("find", measure<PASS_FIND, false, LANES, Jobs>);
    if (pass == PASS_KEPT)
        return run("measure", labels ? measure<PASS_KEPT, true, LANES, Jobs> : measure<PASS_KEPT, false, LANES, Jobs>);
    return run("measure", labels ? measure<PASS_ALL, true, LANES, Jobs> : measure<PASS_ALL, false, LANES, Jobs>);
}

#endif
