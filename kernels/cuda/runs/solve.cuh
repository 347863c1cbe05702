/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The first kernel of label/runs.cu: the runs of a tile, and which of them are connected there. solve_*.cu compile it. */
#ifndef CCL_CUDA_RUNS_SOLVE_CUH
#define CCL_CUDA_RUNS_SOLVE_CUH

#include "cuda/bits.cuh"
#include "cuda/runs/launch.cuh"
#include "cuda/runs/strips.cuh"

#define SOLVE_THREADS(lanes) (LOCAL_WORDS * (lanes))
#define SOLVE_BLOCKS         (RESIDENT_THREADS / LOCAL_WORDS) /* minimum on a multiprocessor, with one lane for each word */

/* The word of a thread, ... */
template <uint32_t LANES> __device__ static inline uint32_t word_of_thread()
{
    return LANES == 1 ? threadIdx.x : threadIdx.x % LOCAL_WORDS;
}

/* ... and its index among the lanes that share the word. */
template <uint32_t LANES> __device__ static inline uint32_t share_of_thread()
{
    static_assert(LANES <= 2, "a word has two halves");
    return LANES == 1 ? 0 : threadIdx.x / LOCAL_WORDS;
}

/* Packs 2048 pixels of a row, 16 at a time, to 32 words. Called by one warp for each lane of a word. */
template <uint32_t LANES>
__device__ static inline void pack_row(const CudaVars *vars, uint32_t x, uint32_t y, uint32_t width, uint16_t *out)
{
    constexpr uint32_t EACH = 4 / LANES;
    const uint32_t first = share_of_thread<LANES>() * EACH * 32 + threadIdx.x % 32;
    const uint32_t from = x + first * 16;
    const uint8_t *const pixels = vars->mask + y * vars->mask_stride + from;
    const bool aligned = (uintptr_t)pixels % 16 == 0;
    uint4 bytes[EACH];
    uint32_t valid[EACH];
    if (aligned && width % 16 == 0) { /* the usual case: all 16 pixels exist, or none */
#pragma unroll
        for (uint32_t i = 0; i < EACH; i++) {
            const bool here = from + i * 512 < width;
            bytes[i] = here ? __ldg((const uint4 *)(pixels + i * 512)) : make_uint4(0, 0, 0, 0);
            valid[i] = here ? 0xffff : 0;
        }
    } else {
#pragma unroll
        for (uint32_t i = 0; i < EACH; i++) {
            const uint32_t n = from + i * 512 < width ? min(width - from - i * 512, 16u) : 0;
            if (aligned && n == 16)
                bytes[i] = __ldg((const uint4 *)(pixels + i * 512));
            else
                bytes[i] = n ? load16_bytes(pixels + i * 512, n) : make_uint4(0, 0, 0, 0);
            valid[i] = (1u << n) - 1;
        }
    }
    const Comparison than = comparison(*vars);
    if (than.complements)
#pragma unroll
        for (uint32_t i = 0; i < EACH; i++)
            bytes[i] = complement(bytes[i]);
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++)
        out[i * 32 + first] = (uint16_t)(pack16(bytes[i], than) & valid[i]);
}

/* Where a tile's bits come from. */
enum SolveInput {
    SOLVE_PIXELS,
    SOLVE_BITS,
    SOLVE_AWAITED, /* from the host, which may still have to pack them */
};

/* Waits for the rows of a tile and the row above. All threads call it. RowChunks.band_rows is TILE_ROWS, see awaited_rows(). */
__device__ static inline bool await_rows(const RowChunks &chunks, uint32_t band)
{
    static_assert(TILE_ROWS % MIN_BAND_ROWS == 0 && CHUNK_ROWS % TILE_ROWS == 0, "a chunk begins where a tile does");
    const uint32_t n_each = chunks.rows / TILE_ROWS, chunk = band / n_each, flag = ready_flag(n_each, chunk, band % n_each);
    const bool is_first = band % n_each == 0 && chunk, polls = threadIdx.x == 0 || (is_first && threadIdx.x == 32);
    const bool there = __syncthreads_and(!polls || await_host(chunks, threadIdx.x ? flag - 1 : flag));
    if (!there && threadIdx.x == 0)
        note_timeout(chunks);
    return there;
}

/* The bits to use in a tile that misses a row, or the row above: the wait timed out. The tile below may have the last row of
 * this tile, and reads the parents of its runs. So the last row gets the maximum number of runs, none of which continues in the
 * next word. Other rows are empty. */
__device__ static inline uint64_t bits_of_missing_row(uint32_t row, uint32_t word_x, uint32_t width)
{
    const uint32_t n = min(width - word_x * 64, 64u);
    return row == TILE_ROWS ? 0x5555555555555555ull & ~0ull >> (64 - n) : 0;
}

/* Mask -> bits, for an image of this size. */
template <uint32_t LANES, SolveInput INPUT>
__device__ static inline void load_tile(Tile *tile, TileAt where, uint32_t width, uint32_t height,
                                        const CudaVars *vars, bool there)
{
    const uint32_t thread = threadIdx.x, at = word_of_thread<LANES>(), lane = at % 32;
    const uint32_t y = where.band * TILE_ROWS + at / 32 - 1, word_x = where.x * 32 + lane;
    const bool in_image = y < height; /* above band 0, y wraps around */
    const bool mine = share_of_thread<LANES>() == 0;

    const uint64_t *const packed_row = (const uint64_t *)(vars->mask + y * vars->mask_stride);
    if (INPUT != SOLVE_PIXELS && mine) {
        const bool in_row = in_image && word_x * 64 < width;
        tile->bits[at] = !in_row ? 0 : there ? packed_row[word_x] : bits_of_missing_row(at / 32, word_x, width);
    }
    if (INPUT == SOLVE_PIXELS)
        pack_row<LANES>(vars, where.x * 2048, y, in_image ? width : 0, (uint16_t *)(tile->bits + at - lane));
    if (mine)
        tile->heads[at] = 0;
    if (thread < 32)
        tile->joined[thread] = 0;
    if (thread == 0)
        tile->n_pairs = 0;
    __syncthreads();
}

/* Stores the slots of the runs that start in half a word; `place`: of this half in the tile; `run`: index of the first run. */
__device__ static inline void list_half(uint32_t *slots, uint32_t starts, uint32_t run, uint32_t place)
{
    for (; starts; starts &= starts - 1, run++)
        slots[run] = run << 16 | place | (__ffs(starts) - 1);
}

/* Bits -> slots of runs that are their own parents and, if there are many runs, pairs. Returns the number of runs. If it
 * exceeds `capacity`, no slot is written. */
template <bool EIGHT, uint32_t LANES>
__device__ static inline uint32_t list_runs(Tile *tile, uint32_t *slots, uint32_t capacity)
{
    const uint64_t *const bits = tile->bits;
    const uint32_t at = word_of_thread<LANES>(), lane = at % 32, row = at / 32, mine = share_of_thread<LANES>();
    const uint64_t starts = starts_of(bits[at]);
    const uint32_t n_low = __popc((uint32_t)starts), n_starts = n_low + __popc((uint32_t)(starts >> 32));
    const uint32_t n_up_to = warp_scan(n_starts);
    const uint32_t full = __ballot_sync(~0u, bits[at] == ~0ull);

    if (mine == 0 && lane == 31) {
        tile->n_in_row[row] = n_up_to;
        tile->full[row] = full;
    }
    __syncthreads();
    uint32_t n_runs;
    const uint32_t first_run = runs_before<TILE_ROWS + 1>(*tile, row, &n_runs) + n_up_to - n_starts;
    if (n_runs > capacity)
        return n_runs;
    if (LANES == 1 || mine == 0)
        list_half(slots, (uint32_t)starts, first_run, at << 6);
    if (LANES == 1 || mine == 1)
        list_half(slots, (uint32_t)(starts >> 32), first_run + n_low, at << 6 | 32);
    if (mine == 0) {
        tile->first_run[at] = first_run;
        if (row && has_listed_pairs(n_runs)) {
            tile->pairs[at - 32] = pairs_at<EIGHT>(*tile, at);
            tile->implied[at - 32] = row > 1 ? implied_at<EIGHT>(*tile, at) : 0;
        }
    }
    __syncthreads();
    return n_runs;
}

/* Stores each run's root for measure, and for join the parents that the band below and the tiles beside need. */
template <bool STRIPS, uint32_t THREADS>
__device__ static inline void publish_runs(Tile *tile, const volatile uint32_t *slots, const Plan &plan, TileAt where,
                                           uint32_t *runs, uint32_t n_runs)
{
    const uint32_t n_above = tile->n_in_row[0], border = (where.band * plan.row_words + where.x * 32) << 5;
    const auto is_at_side = [&](uint32_t word) { return plan.tiles_x > 1 && (word + 1) % 32 < 2; };

    for (uint32_t run = threadIdx.x; run < n_runs; run += THREADS) {
        const uint32_t slot = slots[run], at = word_of(slot), root = parent_of(slots[parent_of(slot)]);
        const uint32_t root_key = root_key_of<STRIPS>(*tile, slots, n_runs, root);
        /* A root in the row above counts only if runs of the tile have it. A component that ends in that row has nothing to
         * join. Many threads may set the same bit: reading first saves most of their atomics. */
        uint32_t *const heads = &tile->heads[root_key >> 5];
        if (at >= 32 && (root == run || (root_key < 32 << 5 && !(*(volatile uint32_t *)heads >> root_key % 32 & 1))))
            atomicOr(heads, 1u << root_key % 32);
        if (at >= 32) {
            const uint32_t place = upper_row_of<STRIPS>(at) << 6 | slot % 64;
            runs[run - n_above] = root_key << 14 | (place - (32 << 6));
            if (root == run)
                plan.parents[node_of(plan, where, root_key)] = node_of(plan, where, root_key);
            else if (!STRIPS && (at >= TILE_ROWS * 32 || is_at_side(at)))
                plan.parents[node_of(plan, where, key_of(*tile, run, at))] = node_of(plan, where, root_key);
        } else if (root != run && !(slot % 64 == 0 && at && tile->bits[at - 1] >> 63)) { /* it continues no run */
            const uint32_t key = key_of(*tile, run, at);
            atomicOr(&tile->joined[at], 1u << key % 32);
            plan.partners[border + key] = node_of(plan, where, root_key);
        }
    }
    if (STRIPS)
        publish_edges<THREADS>(*tile, slots, plan, where, n_runs);
    if (threadIdx.x == 0) {
        plan.n_runs[tile_number(plan, where)] = (n_runs - n_above) | (STRIPS ? OF_STRIPS : 0);
        atomicAdd(&plan.counts->n_runs, n_runs - n_above);
    }
    __syncthreads();
}

/* Takes the listed runs of a tile from links to global memory. */
template <bool EIGHT, bool STRIPS, uint32_t THREADS>
__device__ static inline void solve_runs(Tile *tile, uint32_t *slots, const Plan &plan, TileAt where, uint32_t n_runs)
{
    uint32_t *const runs = plan.runs + (size_t)tile_number(plan, where) * TILE_RUNS;
    const uint64_t unlinked = link_runs<EIGHT, STRIPS, THREADS>(tile, slots, plan, runs, n_runs);
    flatten<THREADS>(slots, n_runs);
    if (tile->n_pairs)
        unite_pairs<THREADS>(tile, slots, plan, runs, unlinked);
    let_successor_start();
    if (STRIPS)
        key_strips<THREADS>(*tile, slots, n_runs);
    publish_runs<STRIPS, THREADS>(tile, slots, plan, where, runs, n_runs);

    const uint32_t at = threadIdx.x, row = at / 32;
    const uint32_t y = where.band * TILE_ROWS + row - 1, word_x = where.x * 32 + at % 32;
    if (at >= LOCAL_WORDS || y >= plan.height || word_x >= plan.row_words)
        return;
    const uint32_t word = y * plan.row_words + word_x;
    if (row) {
        plan.bits[word] = tile->bits[at];
        plan.roots[word] = make_uint2(tile->heads[at], 0);
        plan.first_runs[word] = tile->first_run[STRIPS ? strip_of(at) : at] - tile->n_in_row[0];
    } else {
        plan.border[where.band * plan.row_words + word_x] = make_uint2(tile->heads[at], tile->joined[at]);
    }
}

__device__ static inline void note_slots(const Plan &plan, uint32_t n_slots, uint32_t few)
{
    if (n_slots > few && threadIdx.x == 0)
        atomicAdd(&plan.counts->n_dense, 1);
}

/* Counts runs of rows beyond the runs of strips. */
__device__ static inline void note_more_runs(const Plan &plan, uint32_t n)
{
    if (threadIdx.x == 0)
        atomicAdd(&plan.counts->n_runs, n);
}

template <bool EIGHT, uint32_t LANES>
__device__ static __noinline__ void solve_in_global(Tile *tile, const Plan &plan, TileAt where, uint32_t few);

/* Solves a tile whose bits are loaded. Threads take words, and in some steps runs. ALL: the capacity is the maximum number of
 * runs. */
template <bool EIGHT, uint32_t LANES, bool ALL>
__device__ static inline void solve_tile(Tile *tile, uint32_t *slots, const Plan &plan, TileAt where, TileCapacity capacity)
{
    constexpr uint32_t THREADS = SOLVE_THREADS(LANES);
    const uint32_t max_runs = EIGHT ? min(capacity.slots, plan.max_runs) : capacity.slots;
    const uint32_t n_runs = list_runs<EIGHT, LANES>(tile, slots, max_runs);
    if (n_runs <= max_runs) {
        note_slots(plan, n_runs, capacity.few);
        solve_runs<EIGHT, false, THREADS>(tile, slots, plan, where, n_runs);
        return;
    }
    const uint32_t n_in_strips = EIGHT && n_runs > plan.max_runs ? list_strips<THREADS>(tile, slots, capacity.slots) : 0;
    if (n_in_strips) {
        note_slots(plan, 2 * n_in_strips - tile->n_in_row[0], capacity.few); /* including the keys of strips */
        note_more_runs(plan, n_runs - n_in_strips);
        solve_runs<EIGHT, EIGHT, THREADS>(tile, slots, plan, where, n_in_strips);
    } else if constexpr (!ALL) {
        solve_in_global<EIGHT, LANES>(tile, plan, where, capacity.few);
    }
}

/* Solves a tile with slots in global memory. Not inlined, so that the usual case keeps its registers. */
template <bool EIGHT, uint32_t LANES>
__device__ static __noinline__ void solve_in_global(Tile *tile, const Plan &plan, TileAt where, uint32_t few)
{
    uint32_t *const slots = plan.finals + ((size_t)where.band * plan.row_words + where.x * 32) * COLUMN_SLOTS;
    __syncthreads();
    solve_tile<EIGHT, LANES, true>(tile, slots, plan, where, TileCapacity{ RUN_SLOTS, few });
}

/* The argument of solve besides the job. */
template <SolveInput INPUT> struct GivenFor {
    typedef CudaVars Type;
};
template <> struct GivenFor<SOLVE_AWAITED> {
    typedef CudaAwaited Type;
};
__device__ static inline const CudaVars &vars_of(const CudaVars &given) { return given; }
__device__ static inline const CudaVars &vars_of(const CudaAwaited &given) { return given.vars; }

/* The frame's variables, before the job has arrived: so the loads of pixels start earlier. */
__device__ static inline const CudaVars *first_vars(const CudaVars &given, const Alone &) { return &given; }
__device__ static inline const CudaVars *first_vars(const CudaVars &, const Listed &jobs) { return &jobs.vars(); }

/* A block solves a tile. */
template <bool EIGHT, uint32_t LANES, SolveInput INPUT, bool ALL, typename Jobs>
static __global__ void __launch_bounds__(SOLVE_THREADS(LANES), LANES == 1 ? SOLVE_BLOCKS : 1)
    solve(const __grid_constant__ typename GivenFor<INPUT>::Type given, const __grid_constant__ Jobs jobs)
{
    __shared__ Tile tile;
    extern __shared__ uint32_t slots[];
    const TileAt where = { blockIdx.x, blockIdx.y };
    const Job &job = jobs.fetch();
    const Plan &plan = job.plan, &source = jobs.source().plan;

    bool there = true;
    if constexpr (INPUT == SOLVE_AWAITED)
        there = await_rows(given.chunks, where.band);
    load_tile<LANES, INPUT>(&tile, where, source.width, source.height, first_vars(vars_of(given), jobs), there);
    if (Jobs::MANY && (where.x >= plan.tiles_x || where.band >= plan.bands))
        return;
    if (!Jobs::MANY && where.x == 0 && where.band == 0 && threadIdx.x == 0)
        *job.vars = vars_of(given);
    solve_tile<EIGHT, LANES, ALL>(&tile, slots, plan, where, jobs.capacity);
}

__device__ static inline uint64_t inverse_of(uint64_t bits, uint32_t word_x, uint32_t width)
{
    const uint32_t n = word_x * 64 < width ? min(width - word_x * 64, 64u) : 0;
    return n ? ~bits & ~0ull >> (64 - n) : 0;
}

/* The same for the inverse of a mask, whose bits are in the plan of that mask. Clears the marks of the outside. */
template <bool EIGHT, uint32_t LANES, bool ALL>
static __global__ void __launch_bounds__(SOLVE_THREADS(LANES), LANES == 1 ? SOLVE_BLOCKS : 1)
    solve_inverse(const __grid_constant__ WithInverse jobs, const TileCapacity capacity)
{
    __shared__ Tile tile;
    extern __shared__ uint32_t slots[];
    const Plan &plan = jobs.jobs[1].plan;
    const TileAt where = { blockIdx.x, blockIdx.y };
    const uint32_t at = word_of_thread<LANES>(), y = where.band * TILE_ROWS + at / 32 - 1, word_x = where.x * 32 + at % 32;
    const uint32_t word = y * plan.row_words + word_x;

    wait_for_predecessor();
    if (share_of_thread<LANES>() == 0) {
        tile.bits[at] =
            y < plan.height && word_x < plan.row_words ? inverse_of(jobs.jobs[0].plan.bits[word], word_x, plan.width) : 0;
        tile.heads[at] = 0;
        if (at >= 32 && y < plan.height && word_x < plan.row_words)
            jobs.outside[word] = 0;
    }
    if (threadIdx.x < 32)
        tile.joined[threadIdx.x] = 0;
    if (threadIdx.x == 0)
        tile.n_pairs = 0;
    __syncthreads();
    solve_tile<EIGHT, LANES, ALL>(&tile, slots, plan, where, capacity);
}

/* ---------------------------------------------------------------- launch */

template <bool EIGHT, uint32_t LANES>
CclStatus launch_solve_inverse(CudaFrame *frame, const WithInverse &jobs, TileCapacity capacity, dim3 grid)
{
    const bool all = capacity.slots >= RUN_SLOTS;
    return cuda_launch(frame, "inverse", CUDA_OVERLAP,
                       all ? solve_inverse<EIGHT, LANES, true> : solve_inverse<EIGHT, LANES, false>,
                       { grid, SOLVE_THREADS(LANES), capacity.slots * sizeof(uint32_t) }, jobs, capacity);
}

template <bool EIGHT, uint32_t LANES, typename Jobs>
CclStatus launch_solve(CudaFrame *frame, const CudaShape *shape, const Jobs &jobs, dim3 grid)
{
    const bool all = jobs.capacity.slots >= RUN_SLOTS; /* always with two lanes for each word, except in tests */
    const auto run_solve = [&](auto all_runs, auto few_runs, const auto &given) {
        return cuda_launch(frame, "solve", CUDA_AFTER, all ? all_runs : few_runs,
                           { grid, SOLVE_THREADS(LANES), jobs.capacity.slots * sizeof(uint32_t) }, given, jobs);
    };
    const CudaVars given = Jobs::MANY ? CudaVars{} : frame->vars;
    if (shape->form == CUDA_PIXELS)
        return run_solve(solve<EIGHT, LANES, SOLVE_PIXELS, true, Jobs>, solve<EIGHT, LANES, SOLVE_PIXELS, false, Jobs>, given);
    if constexpr (!Jobs::MANY && LANES == SMALL_LANES) /* see awaited_rows() */
        if (shape->form == CUDA_BITS_AWAITED)
            return run_solve(solve<EIGHT, LANES, SOLVE_AWAITED, true, Jobs>, solve<EIGHT, LANES, SOLVE_AWAITED, false, Jobs>,
                             CudaAwaited{ given, *frame->chunks });
    return run_solve(solve<EIGHT, LANES, SOLVE_BITS, true, Jobs>, solve<EIGHT, LANES, SOLVE_BITS, false, Jobs>, given);
}

#endif
