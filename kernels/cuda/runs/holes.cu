/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Holes: components of the inverse mask, with the other connectivity, that touch no border of the mask.
 *
 *     inverse    solve for the inverse, after that of the mask; join and number take both at once. number also marks the roots of
 *                components that touch the border
 *     holes      runs -> sums of each hole: box, area, filled area, and the component left of its first pixel
 *     list       holes -> host memory, as many as fit there; it clears the sums
 *
 * A filled area has no tree of holes and islands: it is what the outer edge of a hole encloses. Left and right of that edge are
 * pixels of the parent only, and islands are other components.
 *
 *     # # # # # # #     The row of the island adds 6 - 1: the gaps end at the parent in column 6 and begin at it in column 1.
 *     # . . # . . #     The ends at the island are left out.
 *     # # # # # # #
 *
 * Most of the inverse is outside. Its runs end at a mark: otherwise thousands of threads would add to the sums of one component.
 * All this is done before measure, which may overwrite the list of runs with labels.
 */
#include "cuda/hole_list.cuh"
#include "cuda/runs/counts.cuh"
#include "cuda/runs/lookup.cuh"

#define NONE ~0u

/* The hole of a run, and its first pixel. id: NONE if it is outside, or has no sums. */
typedef struct Hole {
    uint32_t id, x, y;
} Hole;

/* Of the runs of a row: pixels after an edge, and before one. */
typedef struct Edges {
    uint64_t firsts, lasts;
} Edges;

typedef struct PixelAt {
    uint32_t x, y;
} PixelAt;

/* What the runs of a thread add to the sums of a hole. */
typedef struct HoleShare {
    uint32_t id, area, area_filled, not_x0, x1, y1;
} HoleShare;

/* ---------------------------------------------------------------- a run */

/* Column of the set bit with this rank. */
__device__ static inline uint32_t column_of(uint64_t starts, uint32_t rank)
{
    while (rank--)
        starts &= starts - 1;
    return __ffsll(starts) - 1;
}

__device__ static inline Hole hole_of_entry(const CountTile &inverse, const CudaHoles &holes, uint32_t entry)
{
    const Plan &plan = inverse.plan;
    uint32_t node = node_of(plan, { blockIdx.x, blockIdx.y }, entry >> 14);
    uint32_t value = plan.parents[node], marks = holes.outside[node / 32]; /* both loads are in flight */
    while (!(value & NUMBERED)) {
        node = value;
        value = plan.parents[node];
        marks = holes.outside[node / 32];
    }
    const uint32_t word = node / 32, id = inverse.bases[value >> 17 & (MAX_CHUNKS - 1)] + (value & 0x1ffff);
    if (word < plan.row_words || marks >> node % 32 & 1 || id >= holes.capacity)
        return Hole{ NONE, 0, 0 };
    const uint32_t y = word / plan.row_words;
    return Hole{ id, (word - y * plan.row_words) * 64 + column_of(starts_of(plan.bits[word]), node % 32), y };
}

__device__ static inline Edges edges_of(const RunPixels &run, uint32_t row)
{
    const uint64_t *const here = run.here + row * AROUND_COLUMNS;
    const uint64_t pixels = row ? run.rows[1] : run.rows[0];
    if (!pixels)
        return Edges{ 0, 0 };
    return Edges{ pixels & ~(here[0] << 1 | here[-1] >> 63), pixels & ~(here[0] >> 1 | here[1] << 63) };
}

/* Sums the x of edges that have the parent on their other side; minus those on its right. */
__device__ static inline uint32_t sum_edges(const Plan &mask, uint32_t parent, Edges edges, PixelAt word)
{
    uint32_t sum = 0;
    for (; edges.firsts; edges.firsts &= edges.firsts - 1) {
        const uint32_t x = word.x + __ffsll(edges.firsts) - 1;
        sum -= root_of_pixel(mask, x - 1, word.y).value == parent ? x : 0;
    }
    for (; edges.lasts; edges.lasts &= edges.lasts - 1) {
        const uint32_t x = word.x + __ffsll(edges.lasts);
        sum += root_of_pixel(mask, x, word.y).value == parent ? x : 0;
    }
    return sum;
}

/* The numbers of three pixels' components, with their loads in flight together. */
__device__ static inline void look_up(const Plan &plan, const PixelAt (&at)[3], uint32_t (&values)[3])
{
    uint32_t entries[3];
#pragma unroll
    for (uint32_t i = 0; i < 3; i++)
        entries[i] = entry_of_pixel(plan, at[i].x, at[i].y);
#pragma unroll
    for (uint32_t i = 0; i < 3; i++)
        values[i] = __ldcg(&plan.parents[node_of(plan, tile_of_pixel(at[i].x, at[i].y), entries[i] >> 14)]);
    while (!(values[0] & values[1] & values[2] & NUMBERED)) {
#pragma unroll
        for (uint32_t i = 0; i < 3; i++)
            if (!(values[i] & NUMBERED))
                values[i] = __ldcg(&plan.parents[values[i]]);
    }
}

/* Adds the pixels of a run. Returns the number of the hole's parent. A run of a row has at most one edge on each side; only those
 * of strips have more. */
__device__ static inline uint32_t add_run(HoleShare *share, const Plan &mask, const Hole &hole, const RunPixels &run)
{
    const Edges upper = edges_of(run, 0), lower = edges_of(run, 1), none = { 0, 0 };
    Edges edges = run.rows[0] ? upper : lower;
    const uint64_t first = edges.firsts & -edges.firsts, last = edges.lasts & -edges.lasts;
    const uint32_t y = run.y + !run.rows[0], x0 = run.x + __ffsll(first) - 1, x1 = run.x + __ffsll(last);
    const PixelAt beside = { hole.x - 1, hole.y };
    const PixelAt at[3] = { beside, first ? PixelAt{ x0 - 1, y } : beside, last ? PixelAt{ x1, y } : beside };
    uint32_t of[3];
    look_up(mask, at, of);
    edges = Edges{ edges.firsts ^ first, edges.lasts ^ last };
    share->area += __popcll(run.rows[0]) + __popcll(run.rows[1]);
    share->area_filled += (last && of[2] == of[0] ? x1 : 0) - (first && of[1] == of[0] ? x0 : 0);
    share->area_filled +=
        sum_edges(mask, of[0], edges, { run.x, y }) + sum_edges(mask, of[0], run.rows[0] ? lower : none, { run.x, run.y + 1 });
    const uint64_t columns = run.rows[0] | run.rows[1];
    share->not_x0 = max(share->not_x0, ~(run.x + __ffsll(columns) - 1));
    share->x1 = max(share->x1, run.x + 64 - __clzll(columns));
    share->y1 = max(share->y1, run.y + 1 + !!run.rows[1]);
    return of[0];
}

/* ---------------------------------------------------------------- sums */

__device__ static inline void add_share(const CudaHoles &holes, const HoleShare &share)
{
    CudaHole *const to = &holes.sums[share.id];
    atomicAdd(&to->area, share.area);
    atomicAdd(&to->area_filled, share.area_filled);
    atomicMax(&to->not_x0, share.not_x0);
    atomicMax(&to->x1, share.x1);
    atomicMax(&to->y1, share.y1);
}

/* The last hole of each thread: a hole of many lanes is added once. */
__device__ static inline void add_last(const CudaHoles &holes, const HoleShare &share)
{
    const uint32_t lane = threadIdx.x % 32, pending = __ballot_sync(~0u, share.id != NONE);
    if (!pending)
        return;
    const uint32_t leader = __ffs(pending) - 1, id = __shfl_sync(~0u, share.id, leader);
    const bool peer = share.id == id;
    if (__popc(__ballot_sync(~0u, peer)) == 1) {
        if (share.id != NONE)
            add_share(holes, share);
        return;
    }
    const auto if_peer = [&](uint32_t value) { return peer ? value : 0; };
    const HoleShare all = { id,
                            warp_sum(if_peer(share.area)),
                            warp_sum(if_peer(share.area_filled)),
                            warp_max(if_peer(share.not_x0)),
                            warp_max(if_peer(share.x1)),
                            warp_max(if_peer(share.y1)) };
    if (lane == leader)
        add_share(holes, all);
    else if (!peer && share.id != NONE)
        add_share(holes, share);
}

/* The run with the first pixel stores what is known of the hole already. */
__device__ static inline void store_first(const CudaHoles &holes, const Hole &hole, uint32_t parent, const RunPixels &run)
{
    const uint32_t row = hole.y - run.y;
    if (row > 1 || run.x != (hole.x & ~63u) || !((row ? run.rows[1] : run.rows[0]) >> hole.x % 64 & 1))
        return;
    holes.sums[hole.id].first = hole.y << 16 | hole.x;
    holes.sums[hole.id].parent = parent;
}

static __global__ void __launch_bounds__(COUNT_THREADS)
    count_holes(const __grid_constant__ WithInverse jobs, const __grid_constant__ CudaHoles holes)
{
    __shared__ uint32_t bases[MAX_CHUNKS];
    __shared__ uint64_t words[AROUND_WORDS];
    const Plan &mask = jobs.jobs[0].plan, &plan = jobs.jobs[1].plan;
    const uint32_t tile_at = blockIdx.y * plan.tiles_x + blockIdx.x;
    load_around(plan, words); /* of solve: see number() */
    const uint32_t n_listed = __ldcg(&plan.n_runs[tile_at]), n_runs = n_listed & ~OF_STRIPS;
    wait_for_predecessor();
    scan_chunks<PASS_KEPT, COUNT_THREADS>(plan, bases); /* ends with a barrier */
    const CountTile tile = { plan, bases, words, false, false };
    const uint32_t *const runs = plan.runs + (size_t)tile_at * TILE_RUNS;
    uint32_t next = threadIdx.x < n_runs ? runs[threadIdx.x] : 0;
    HoleShare share = { NONE, 0, 0, 0, 0, 0 };
    for (uint32_t i = threadIdx.x; i < n_runs; i += COUNT_THREADS) {
        const uint32_t entry = next;
        if (i + COUNT_THREADS < n_runs)
            next = runs[i + COUNT_THREADS];
        const Hole hole = hole_of_entry(tile, holes, entry);
        if (hole.id == NONE)
            continue;
        if (hole.id != share.id) {
            if (share.id != NONE)
                add_share(holes, share);
            share = HoleShare{ hole.id, 0, 0, 0, 0, 0 };
        }
        const RunPixels run = pixels_of(tile, entry, n_listed & OF_STRIPS);
        const uint32_t parent = add_run(&share, mask, hole, run);
        store_first(holes, hole, parent, run);
    }
    add_last(holes, share);
}

/* ---------------------------------------------------------------- list */

static __global__ void __launch_bounds__(COUNT_THREADS)
    list_holes(const __grid_constant__ WithInverse jobs, const __grid_constant__ CudaHoles holes, const bool filtered)
{
    __shared__ uint32_t bases[MAX_CHUNKS];
    const Plan &mask = jobs.jobs[0].plan;
    wait_for_predecessor();
    const uint32_t n_found = scan_chunks<PASS_KEPT, COUNT_THREADS>(jobs.jobs[1].plan, bases), n = min(n_found, holes.capacity);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        holes.n[0] = n_found;
    if (blockIdx.x * COUNT_THREADS >= n)
        return;
    scan_chunks<PASS_KEPT, COUNT_THREADS>(mask, bases); /* ends with a barrier */
    const CountTile tile = { mask, bases, NULL, false, filtered };
    list_rows<COUNT_THREADS>(holes, n, [&](uint32_t number) {
        const uint32_t place = place_of(tile, bases[number >> 17 & (MAX_CHUNKS - 1)] + (number & 0x1ffff));
        return place < mask.capacity ? place + 1 : 0;
    });
}

/* ---------------------------------------------------------------- launch */

CclStatus launch_count_holes(CudaFrame *frame, const WithInverse &jobs, dim3 grid, bool filtered)
{
    const CudaHoles *const holes = &frame->counts.holes;
    CCL_TRY(cuda_launch(frame, "holes", CUDA_OVERLAP, count_holes, { grid, COUNT_THREADS, 0 }, jobs, *holes));
    return cuda_launch(frame, "list", CUDA_OVERLAP, list_holes, { list_grid(holes, COUNT_THREADS), COUNT_THREADS, 0 }, jobs,
                       *holes, filtered);
}
