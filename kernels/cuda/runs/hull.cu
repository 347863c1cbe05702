/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * CclHullCounts, from the runs of tiles. Only components of the table have a hull.
 *
 *     heights    runs -> the first and last row of each component
 *     places     heights -> a place for the extents of its rows
 *     extents    runs -> the columns of each component in each row
 *     hulls      extents -> chains of corners -> CclHullCounts, with the functions of the CPU. A warp takes a component: half of
 *                it the right side, half the left. Each lane makes a chain of some rows, and these are joined to one.
 *
 * The first three run before measure, the last one when the table is complete. It clears what they have filled.
 */
#include "cuda/runs/counts.cuh"

#include "analysis/hull_chain.h"

#define HULL_THREADS 128u
#define HULL_LANES   16u /* of a side */

/* ---------------------------------------------------------------- runs */

static __global__ void __launch_bounds__(COUNT_THREADS) find_heights(const Alone jobs, const CudaHulls hulls, bool filtered)
{
    __shared__ uint32_t bases[MAX_CHUNKS];
    __shared__ uint64_t words[AROUND_WORDS];
    const Plan &plan = jobs.get().plan;
    const uint32_t tile_at = blockIdx.y * plan.tiles_x + blockIdx.x;
    wait_for_predecessor();
    load_around(plan, words);
    const uint32_t n_listed = __ldcg(&plan.n_runs[tile_at]);
    scan_chunks<PASS_KEPT, COUNT_THREADS>(plan, bases); /* ends with a barrier */
    uint32_t place = ~0u, rows = 0;
    const auto visit = [&](uint32_t at, const RunPixels &run) {
        const uint32_t first = run.y + !run.rows[0], range = range_of(first, run.y + 1 + !!run.rows[1]);
        if (at != place && rows)
            add_range(&hulls.heights[place], rows);
        rows = at == place ? united(rows, range) : range;
        place = at;
    };
    visit_runs(CountTile{ plan, bases, words, false, filtered }, plan.runs + (size_t)tile_at * TILE_RUNS, n_listed, plan.capacity,
               visit);
    if (rows)
        add_range(&hulls.heights[place], rows);
}

static __global__ void __launch_bounds__(COUNT_THREADS) find_extents(const Alone jobs, const CudaHulls hulls, bool filtered)
{
    __shared__ uint32_t bases[MAX_CHUNKS];
    __shared__ uint64_t words[AROUND_WORDS];
    const Plan &plan = jobs.get().plan;
    const uint32_t tile_at = blockIdx.y * plan.tiles_x + blockIdx.x;
    wait_for_predecessor();
    load_around(plan, words);
    const uint32_t n_listed = __ldcg(&plan.n_runs[tile_at]);
    scan_chunks<PASS_KEPT, COUNT_THREADS>(plan, bases); /* ends with a barrier */
    uint32_t row = ~0u, columns = 0;
    const auto visit = [&](uint32_t place, const RunPixels &run) {
        const uint32_t first_row = hulls.places[place] - (~hulls.heights[place] & 0xffff);
        for (uint32_t i = 0; i < 2; i++) {
            const uint64_t pixels = run.rows[i];
            if (!pixels)
                continue;
            const uint32_t at = first_row + run.y + i,
                           range = range_of(run.x + __ffsll(pixels) - 1, run.x + 64 - __clzll(pixels));
            if (at != row && columns)
                add_range(&hulls.extents[row], columns);
            columns = at == row ? united(columns, range) : range;
            row = at;
        }
    };
    visit_runs(CountTile{ plan, bases, words, false, filtered }, plan.runs + (size_t)tile_at * TILE_RUNS, n_listed, plan.capacity,
               visit);
    if (columns)
        add_range(&hulls.extents[row], columns);
}

/* ---------------------------------------------------------------- components */

/* A component has one line of corners more than rows. Places come in any order. */
static __global__ void __launch_bounds__(HULL_THREADS) find_places(const Alone jobs, const CudaHulls hulls)
{
    const uint32_t capacity = jobs.get().plan.capacity, lane = threadIdx.x % 32;
    wait_for_predecessor();
    for (uint32_t warp = blockIdx.x * HULL_THREADS + threadIdx.x - lane; warp < capacity; warp += gridDim.x * HULL_THREADS) {
        const uint32_t i = warp + lane, height = i < capacity ? __ldcg(&hulls.heights[i]) : 0;
        const uint32_t n_lines = height ? (height >> 16) - (~height & 0xffff) + 1 : 0, before = warp_scan(n_lines);
        uint32_t first = 0;
        if (lane == 31 && before)
            first = atomicAdd(&hulls.n_lines[0], before);
        first = __shfl_sync(~0u, first, 31);
        if (n_lines)
            hulls.places[i] = first + before - n_lines;
    }
}

/* Joins the chains of the lanes of a side; lane 0 of them gets the number of points. */
__device__ static inline uint32_t join_chains(Point *chain, uint32_t n_own, uint32_t n_lines)
{
    const uint32_t lane = threadIdx.x % 32, side = lane & HULL_LANES;
    uint32_t n = 0;
    for (uint32_t i = 0; i < HULL_LANES; i++) {
        const uint32_t n_points = __shfl_sync(~0u, n_own, side + i);
        const Point *const points = chain + n_lines * i / HULL_LANES;
        for (uint32_t k = 0; k < n_points && lane == side; k++)
            n = push(chain, n, points[k]);
    }
    return n;
}

/* The corners of a component's hull; returns their number. Called by a warp. */
__device__ static inline uint32_t find_corners(const CclExtent *rows, uint32_t n_rows, uint32_t y0, Point *points)
{
    const uint32_t lane = threadIdx.x % 32, n_lines = n_rows + 1;
    const uint32_t from = n_lines * (lane % HULL_LANES) / HULL_LANES, to = n_lines * (lane % HULL_LANES + 1) / HULL_LANES;
    Point *const chain = points + (lane < HULL_LANES ? 0 : n_lines);
    const uint32_t n_own = lane < HULL_LANES ? right_chain(rows, n_rows, y0, from, to, chain + from)
                                             : left_chain(rows, n_rows, y0, from, to, chain + from);
    __syncwarp();
    const uint32_t n = join_chains(chain, n_own, n_lines);
    const uint32_t n_right = __shfl_sync(~0u, n, 0), n_left = __shfl_sync(~0u, n, HULL_LANES);
    __syncwarp();
    if (lane)
        return 0;
    for (uint32_t i = 0; i < n_left; i++)
        points[n_right + i] = points[n_lines + i];
    return n_right + n_left;
}

/* A warp takes a component. */
static __global__ void __launch_bounds__(HULL_THREADS)
    find_hulls(const Alone jobs, const CudaHulls hulls, GlobalPointer<CclHullCounts> counts)
{
    const Plan &plan = jobs.get().plan;
    const uint32_t lane = threadIdx.x % 32, warp = (blockIdx.x * HULL_THREADS + threadIdx.x) / 32;
    wait_for_predecessor();
    const uint32_t n = min(__ldcg(&plan.counts->kept), plan.capacity);
    if (warp == 0 && lane == 0)
        hulls.n_lines[0] = 0;
    for (uint32_t i = warp; i < n; i += gridDim.x * HULL_THREADS / 32) {
        const uint32_t height = __ldcg(&hulls.heights[i]), place = __ldcg(&hulls.places[i]);
        const uint32_t y0 = ~height & 0xffff, n_rows = (height >> 16) - y0;
        uint32_t *const extents = hulls.extents + place;
        CclExtent *const rows = (CclExtent *)extents;
        for (uint32_t k = lane; k < n_rows; k += 32)
            rows[k] = CclExtent{ (uint16_t)~extents[k], (uint16_t)(extents[k] >> 16) };
        __syncwarp();
        Point *const points = hulls.points + 2 * (size_t)place;
        const uint32_t n_points = find_corners(rows, n_rows, y0, points);
        for (uint32_t k = lane; k < n_rows; k += 32)
            extents[k] = 0;
        if (lane == 0) {
            hulls.heights[i] = 0;
            counts[i] = count_hull(points, n_points);
        }
        __syncwarp();
    }
}

/* ---------------------------------------------------------------- launch */

CclStatus launch_find_extents(CudaFrame *frame, const Alone &jobs, dim3 grid, bool filtered)
{
    const CudaHulls *const hulls = &frame->counts.hulls;
    const dim3 places(min(blocks_for(jobs.job.plan.capacity, HULL_THREADS), 128u));
    CCL_TRY(cuda_launch(frame, "heights", CUDA_OVERLAP, find_heights, { grid, COUNT_THREADS, 0 }, jobs, *hulls, filtered));
    CCL_TRY(cuda_launch(frame, "places", CUDA_OVERLAP, find_places, { places, HULL_THREADS, 0 }, jobs, *hulls));
    return cuda_launch(frame, "extents", CUDA_OVERLAP, find_extents, { grid, COUNT_THREADS, 0 }, jobs, *hulls, filtered);
}

CclStatus launch_find_hulls(CudaFrame *frame, const Alone &jobs)
{
    const GlobalPointer<CclHullCounts> counts = { frame->counts.hull };
    const dim3 grid(min(blocks_for(jobs.job.plan.capacity, HULL_THREADS / 32), 512u));
    return cuda_launch(frame, "hulls", CUDA_OVERLAP, find_hulls, { grid, HULL_THREADS, 0 }, jobs, frame->counts.hulls, counts);
}
