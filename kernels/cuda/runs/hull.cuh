/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * CclHullCounts, from the runs of tiles. Only components of the table have a hull.
 *
 *     heights    runs -> the first and last row of each component
 *     places     heights -> a place for the extents of its rows
 *     extents    runs -> the columns of each component in each row
 *     hulls      extents -> chains of corners -> CclHullCounts, with the functions of the CPU
 *
 * The first three run before measure, the last one when the table is complete. It clears what they have filled.
 *
 * Most components are specks of one row. There a lane takes each. A warp takes each of the others: half of it the right side,
 * half the left. Each lane makes a chain of some rows, and these are joined to one. Then each lane takes some edges of the hull.
 */
#ifndef CCL_CUDA_RUNS_HULL_CUH
#define CCL_CUDA_RUNS_HULL_CUH

#include "cuda/runs/counts.cuh"

#include "analysis/hull_chain.h"

#define HULL_THREADS 128u
#define HULL_LANES   16u  /* of a side */
#define SHARED_LINES 128u /* of a component whose corners fit in shared memory */

/* ---------------------------------------------------------------- tile */

__device__ static inline CudaRange range_from(uint32_t first, uint32_t end)
{
    return CudaRange{ UINT16_MAX - first, end };
}

__device__ static inline uint32_t first_of(const CudaRange &range)
{
    return UINT16_MAX - range.not_first;
}

__device__ static inline uint32_t length_of(const CudaRange &range)
{
    return range.end ? range.end - first_of(range) : 0;
}

/* A range of a thread that others have not seen yet. Runs next to each other mostly widen the same one. */
typedef struct PendingRange {
    CudaRange *ranges;
    uint32_t at;
    CudaRange range;
    __device__ void flush()
    {
        if (!range.end)
            return;
        atomicMax(&ranges[at].not_first, range.not_first);
        atomicMax(&ranges[at].end, range.end);
    }
    __device__ void add(uint32_t to, const CudaRange &more)
    {
        if (to != at) {
            flush();
            range = CudaRange{ 0, 0 };
        }
        range = CudaRange{ max(range.not_first, more.not_first), max(range.end, more.end) };
        at = to;
    }
} PendingRange;

/* Adds up the ranges of a warp that belong to the same component, for the first few ones, and flushes. Like add_up() of
 * measure. */
__device__ static inline void flush_warp(PendingRange *pending)
{
    const uint32_t lane = threadIdx.x % 32;
    uint32_t left = __ballot_sync(~0u, pending->range.end != 0);
    for (uint32_t round = 0; round < ADD_ROUNDS && left; round++) {
        const uint32_t leader = __ffs(left) - 1, chosen = __shfl_sync(~0u, pending->at, leader);
        const bool peer = left >> lane & 1 && pending->at == chosen;
        const uint32_t peers = __ballot_sync(~0u, peer);
        left &= ~peers;
        if (!(peers & (peers - 1)))
            continue;
        const CudaRange all = { warp_max(peer ? pending->range.not_first : 0), warp_max(peer ? pending->range.end : 0) };
        if (peer)
            pending->range = lane == leader ? all : CudaRange{ 0, 0 };
    }
    pending->flush();
}

/* Calls visit(place, pixels) for the runs of a thread whose component is in the table. */
template <typename Visit> __device__ static inline void visit_runs(const CountTile &tile, Visit visit)
{
    const bool strips = tile.n_listed & OF_STRIPS;
    const uint32_t n_runs = tile.n_listed & ~OF_STRIPS, n_each = (n_runs + COUNT_THREADS - 1) / COUNT_THREADS;
    const uint32_t first = threadIdx.x * n_each, end = min(first + n_each, n_runs);
    uint32_t key_before = ~0u, place = ~0u;
    for (uint32_t run = first; run < end; run++) {
        const uint32_t entry = tile.runs[run];
        if (entry >> 14 != key_before) {
            key_before = entry >> 14;
            place = place_of(tile, id_of_entry(tile, { blockIdx.x, blockIdx.y }, entry));
        }
        if (place < tile.plan.capacity)
            visit(place, pixels_of(tile, entry, strips));
    }
}

/* Called by a block, as find_extents(). */
__device__ static inline void find_heights(const CountTile &tile, const CudaHulls &hulls)
{
    PendingRange pending = { hulls.heights, ~0u, {} };
    if (blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x < 2)
        hulls.n_used[threadIdx.x] = 0;
    visit_runs(tile, [&](uint32_t place, const RunPixels &run) {
        pending.add(place, range_from(run.y + !run.rows[0], run.y + 1 + !!run.rows[1]));
    });
    flush_warp(&pending);
}

__device__ static inline void find_extents(const CountTile &tile, const CudaHulls &hulls)
{
    PendingRange pending = { hulls.extents, ~0u, {} };
    visit_runs(tile, [&](uint32_t place, const RunPixels &run) {
        const uint32_t line = hulls.places[place] - first_of(hulls.heights[place]) + run.y;
#pragma unroll
        for (uint32_t i = 0; i < 2; i++)
            if (run.rows[i])
                pending.add(line + i, range_from(run.x + __ffsll(run.rows[i]) - 1, run.x + 64 - __clzll(run.rows[i])));
    });
    pending.flush();
}

/* ---------------------------------------------------------------- corners */

/* What a warp needs of a component. */
typedef struct HullWarp {
    CclExtent rows[SHARED_LINES];
    union {
        Point points[2 * SHARED_LINES];
        CclHullCounts counts[32];
    };
} HullWarp;

/* A corner of this lane's side, in the line between two rows. Lines are counted as a chain goes: down the right side, up the left
 * one. */
__device__ static inline bool corner_at(const CclExtent *rows, uint32_t n_rows, uint32_t y0, uint32_t line, Point *corner)
{
    const bool left = threadIdx.x % 32 >= HULL_LANES;
    const uint32_t i = left ? n_rows - line : line;
    const CclExtent none = { UINT16_MAX, 0 }, above = i ? rows[i - 1] : none, below = i < n_rows ? rows[i] : none;
    const uint32_t x = left ? min(above.left, below.left) : max(above.right, below.right);
    *corner = point_at((int32_t)x, (int32_t)(y0 + i));
    return x != (left ? UINT16_MAX : 0);
}

/* The first line of a lane of a side. */
__device__ static inline uint32_t first_line(uint32_t n_lines, uint32_t lane)
{
    return n_lines * lane / HULL_LANES;
}

/* The chain of a lane's lines; returns its length. chain: of the side. */
__device__ static inline uint32_t own_chain(const CclExtent *rows, uint32_t n_rows, uint32_t y0, Point *chain)
{
    const uint32_t at = threadIdx.x % HULL_LANES, from = first_line(n_rows + 1, at), to = first_line(n_rows + 1, at + 1);
    uint32_t n = 0;
    for (uint32_t line = from; line < to; line++) {
        Point corner;
        if (corner_at(rows, n_rows, y0, line, &corner))
            n = push(chain + from, n, corner);
    }
    __syncwarp();
    return n;
}

/* Joins four chains to one, for every fourth of the lanes that have one; `step` is between two of those. Returns the length of
 * this lane's chain. */
__device__ static inline uint32_t join_four(Point *chain, uint32_t n_own, uint32_t n_lines, uint32_t step)
{
    const uint32_t at = threadIdx.x % HULL_LANES;
    Point *const own = chain + first_line(n_lines, at);
    for (uint32_t i = 1; i < 4; i++) {
        const uint32_t n_points = __shfl_down_sync(~0u, n_own, i * step, HULL_LANES);
        const Point *const points = chain + first_line(n_lines, at + i * step);
        for (uint32_t k = 0; at % (4 * step) == 0 && k < n_points; k++)
            n_own = push(own, n_own, points[k]);
    }
    __syncwarp();
    return n_own;
}

/* The corners of a component's hull; returns their number. Called by a warp. */
__device__ static inline uint32_t find_corners(const CclExtent *rows, uint32_t n_rows, uint32_t y0, Point *points)
{
    const uint32_t lane = threadIdx.x % 32, n_lines = n_rows + 1;
    Point *const chain = points + (lane < HULL_LANES ? 0 : n_lines);
    uint32_t n = own_chain(rows, n_rows, y0, chain);
    for (uint32_t step = 1; step < HULL_LANES; step *= 4)
        n = join_four(chain, n, n_lines, step);
    const uint32_t n_right = __shfl_sync(~0u, n, 0), n_left = __shfl_sync(~0u, n, HULL_LANES);
    for (uint32_t first = 0; first < n_left; first += 32) {
        const Point p = first + lane < n_left ? points[n_lines + first + lane] : Point{};
        __syncwarp();
        if (first + lane < n_left)
            points[n_right + first + lane] = p;
        __syncwarp();
    }
    return n_right + n_left;
}

/* ---------------------------------------------------------------- edges */

__device__ static inline EdgeCounts from_later_lane(const EdgeCounts &own, uint32_t distance)
{
    constexpr uint32_t N = sizeof(EdgeCounts) / sizeof(uint32_t);
    uint32_t words[N];
    EdgeCounts later;
    memcpy(words, &own, sizeof words);
#pragma unroll
    for (uint32_t i = 0; i < N; i++)
        words[i] = __shfl_down_sync(~0u, words[i], distance);
    memcpy(&later, words, sizeof words);
    return later;
}

/* Of all edges, for lane 0. Called by a warp. Each lane takes edges next to each other. */
__device__ static inline EdgeCounts count_all_edges(const Point *points, uint32_t n)
{
    const uint32_t lane = threadIdx.x % 32, n_each = (n + 31) / 32, n_lanes = (n + n_each - 1) / n_each;
    EdgeCounts counts = {};
    if (lane < n_lanes)
        counts = count_edges(points, n, lane * n_each, min((lane + 1) * n_each, n));
    for (uint32_t distance = 1; distance < n_lanes; distance *= 2) {
        const EdgeCounts later = from_later_lane(counts, distance);
        if (lane + distance < n_lanes)
            join_edges(&counts, &later);
    }
    return counts;
}

/* For lane 0. Called by a warp. Two lanes divide the two directions, because that takes long. */
__device__ static inline CclHullCounts counts_of_corners(const Point *points, uint32_t n)
{
    const uint32_t lane = threadIdx.x % 32;
    const EdgeCounts edges = count_all_edges(points, n);
    const Point edge = edges.best.width.edge, side = lane ? edge : long_direction(&edges.best.area);
    const Point of_edge = { __shfl_sync(~0u, edge.x, 0), __shfl_sync(~0u, edge.y, 0) };
    const Point of_side = { __shfl_sync(~0u, side.x, 0), __shfl_sync(~0u, side.y, 0) };
    const Point divided = shortest(lane == 1 ? of_side : of_edge);
    const Point divided_side = { __shfl_sync(~0u, divided.x, 1), __shfl_sync(~0u, divided.y, 1) };
    return lane ? CclHullCounts{} : counts_of_hull(&edges, points, divided, divided_side);
}

/* ---------------------------------------------------------------- components */

/* Writes the counts of a warp's components to the host, from its shared memory: those of `mask`, from first on. */
__device__ static inline void write_hulls(const HullWarp &warp, CclHullCounts *counts, uint32_t mask)
{
    constexpr uint32_t N = sizeof(CclHullCounts) / sizeof(uint4);
    static_assert(sizeof(CclHullCounts) % sizeof(uint4) == 0, "whole vectors");
    __syncwarp();
    for (uint32_t i = threadIdx.x % 32; i < 32 * N && mask >> i / N; i += 32)
        if (mask >> i / N & 1)
            ((uint4 *)counts)[i] = ((const uint4 *)warp.counts)[i];
    __syncwarp();
}

/* 32 components from first on, of which those of one row have a box. */
__device__ static inline void count_boxes(HullWarp *warp, const CudaHulls &hulls, CclHullCounts *counts, uint32_t first,
                                          uint32_t n)
{
    const uint32_t lane = threadIdx.x % 32, i = first + lane;
    const CudaRange rows = i < n ? hulls.heights[i] : CudaRange{ 0, 0 };
    const bool is_box = length_of(rows) == 1;
    if (i < n)
        hulls.heights[i] = CudaRange{ 0, 0 };
    if (is_box) {
        const uint32_t place = hulls.places[i], y = first_of(rows);
        const CudaRange columns = hulls.extents[place];
        warp->counts[lane] = counts_of_box(first_of(columns), y, columns.end, y + 1);
        hulls.extents[place] = CudaRange{ 0, 0 };
    }
    write_hulls(*warp, counts + first, __ballot_sync(~0u, is_box));
}

/* Copies the extents of the rows and clears them. They may take the place of the extents. Called by a warp. */
__device__ static inline void take_rows(CclExtent *rows, CudaRange *extents, uint32_t n_rows)
{
    for (uint32_t first = 0; first < n_rows; first += 32) {
        const uint32_t k = first + threadIdx.x % 32;
        const CudaRange extent = k < n_rows ? extents[k] : CudaRange{ 0, 0 };
        if (k < n_rows)
            extents[k] = CudaRange{ 0, 0 };
        __syncwarp();
        if (k < n_rows)
            rows[k] = CclExtent{ (uint16_t)first_of(extent), (uint16_t)extent.end };
        __syncwarp();
    }
}

/* rows, points: memory for the component, which may take the place of its extents. Called by a warp. */
__device__ static __forceinline__ CclHullCounts counts_of_large(const CudaLargeHull &large, CudaRange *extents, CclExtent *rows,
                                                                Point *points)
{
    take_rows(rows, extents, large.n_rows);
    return counts_of_corners(points, find_corners(rows, large.n_rows, large.y0, points));
}

/* shared_lines: at most SHARED_LINES; tests use fewer. */
__device__ static inline void count_large(HullWarp *warp, const CudaHulls &hulls, CclHullCounts *counts,
                                          const CudaLargeHull &large, uint32_t shared_lines)
{
    const uint32_t lane = threadIdx.x % 32;
    CudaRange *const extents = hulls.extents + large.place;
    CclHullCounts result;
    if (large.n_rows < shared_lines) {
        result = counts_of_large(large, extents, warp->rows, warp->points);
    } else {
        CclExtent *const rows = (CclExtent *)extents;
        result = counts_of_large(large, extents, rows, hulls.points + 2 * (size_t)large.place);
        for (uint32_t k = lane; k < large.n_rows; k += 32)
            rows[k] = CclExtent{ 0, 0 };
    }
    __syncwarp();
    if (lane == 0)
        warp->counts[0] = result;
    write_hulls(*warp, counts + large.at, 1);
}

/* Called by the blocks of a row of the grid. The last warps have no boxes, so large components begin with them. */
__device__ static inline void count_hulls(const CudaHulls &hulls, CclHullCounts *counts, uint32_t n, uint32_t shared_lines)
{
    __shared__ HullWarp warps[HULL_THREADS / 32];
    HullWarp *const own = &warps[threadIdx.x / 32];
    const uint32_t warp = (blockIdx.x * HULL_THREADS + threadIdx.x) / 32, n_warps = gridDim.x * HULL_THREADS / 32;
    const uint32_t n_large = __ldcg(&hulls.n_used[1]);
    for (uint32_t first = warp * 32; first < n; first += n_warps * 32)
        count_boxes(own, hulls, counts, first, n);
    for (uint32_t k = n_warps - 1 - warp; k < n_large; k += n_warps)
        count_large(own, hulls, counts, hulls.large[k], shared_lines);
}

#endif
