/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The last steps of the cluster kernel: the filter, and the records of the table. */
#ifndef CCL_CUDA_RUNS_CLUSTER_TABLE_CUH
#define CCL_CUDA_RUNS_CLUSTER_TABLE_CUH

#include "cuda/runs/cluster/join.cuh"
#include "cuda/runs/cluster/shares.cuh"
#include "cuda/runs/end.cuh"

/* ---------------------------------------------------------------- filter */

/* Is the component of this root a single share with sums in this block? */
__device__ static inline bool is_complete(uint32_t place)
{
    return slot_of_place(place) < NO_SLOT && !(place & JOINED);
}

/* Calls with(run) for the runs of shares that got no slot. */
template <bool SHARED, typename With>
__device__ static inline void for_slotless(const ClusterBlock *block, const BlockRuns<SHARED> &runs, With with)
{
    if (!block->counts.over_capacity)
        return;
    for (uint32_t run = threadIdx.x; run < runs.n; run += blockDim.x) {
        uint32_t slot = slot_of_place(runs.places[run]);
        if (slot == NOT_FIRST) /* only the parents of roots have changed since */
            slot = slot_of_place(runs.places[runs.parents[run] & RUN_MASK]);
        if (slot == NO_SLOT)
            with(run);
    }
}

/* Adds up the extents of components that are not complete in one block. */
template <bool SHARED>
__device__ static inline void add_extents(const ClusterBlock *block, const BlockRows &rows, const BlockRuns<SHARED> &runs,
                                          Extent *extents,
                                          uint32_t n_shares)
{
    uint32_t root;
    for (uint32_t slot = threadIdx.x; slot < n_shares; slot += blockDim.x) {
        const uint32_t run = block->roots[slot], id = number_of(block, runs.tag | run, &root);
        if (root != (runs.tag | run) || !is_complete(runs.places[run]))
            add_global(&extents[id], sums_of_share(block, slot).sums, 0, rows.first_y);
    }
    for_slotless(block, runs, [&](uint32_t run) {
        const uint32_t id = number_of(block, runs.tag | run, &root);
        add_global(&extents[id], sums_of_run(rows, runs.places[run]).sums, 0, rows.first_y);
    });
}

/* The extent of a root's component. Clears it in global memory, for the next frame. */
__device__ static inline Extent take_extent(const ClusterBlock *block, const BlockRows &rows, uint32_t place, Extent *extent)
{
    if (is_complete(place)) {
        const uint32_t slot = slot_of_place(place);
        return Extent{ block->sums[AREA][slot], block->sums[NOT_X0][slot], block->sums[X1][slot],
                       rows.first_y + block->sums[Y1][slot] };
    }
    const uint4 value = __ldcg((const uint4 *)extent);
    __stcg((uint4 *)extent, make_uint4(0, 0, 0, 0));
    return Extent{ value.x, value.y, value.z, value.w };
}

/* Numbers the roots whose components pass the filter, and marks the others. */
template <bool SHARED>
__device__ static inline void keep_roots(ClusterBlock *block, const BlockRows &rows, const BlockRuns<SHARED> &runs,
                                         Extent *extents,
                                         const CclLimits &limits, uint32_t width, uint32_t height)
{
    const uint32_t n = number_roots(runs, [&](uint32_t run) {
        const uint32_t parent = runs.parents[run], place = runs.places[run];
        if (!(parent & NUMBERED))
            return false;
        const Extent extent = take_extent(block, rows, place, &extents[number_with(block, runs.tag, parent)]);
        const uint32_t x0 = ~extent.not_x0, y0 = rows.first_y + row_of(place) - 1;
        const bool kept = ccl_keeps(&limits, extent.area, extent.x1 - x0, extent.y1 - y0,
                                    ccl_border_flags(x0, y0, extent.x1, extent.y1, width, height));
        if (!kept)
            runs.parents[run] = DROPPED;
        return kept;
    });
    if (threadIdx.x == 0)
        block->n_kept = n;
}

/* ---------------------------------------------------------------- records */

__device__ static inline uint32_t first_pixel(const BlockRows &rows, uint32_t place)
{
    return (rows.first_y + row_of(place) - 1) << 16 | (place & ((1u << ROW_SHIFT) - 1));
}

/* Calls with(slot, quarter, first run, place of this run), by four lanes for each share. */
template <bool SHARED, typename With>
__device__ static inline void for_quarters(const ClusterBlock *block, const BlockRuns<SHARED> &runs, uint32_t n_shares, With with)
{
    for (uint32_t i = threadIdx.x; i < n_shares * 4; i += blockDim.x) {
        const uint32_t run = block->roots[i / 4];
        with(i / 4, i % 4, run, runs.places[run]);
    }
}

/* Adds up the shares of components that are not complete in one block. */
template <bool SHARED>
__device__ static inline void add_shares(const ClusterBlock *block, const BlockRows &rows, const BlockRuns<SHARED> &runs,
                                         const TableOutput &out,
                                        uint32_t n_shares)
{
    for_quarters(block, runs, n_shares, [&](uint32_t slot, uint32_t quarter, uint32_t run, uint32_t place) {
        const bool is_root = runs.parents[run] & NUMBERED;
        if (is_root && is_complete(place))
            return;
        uint32_t root;
        const uint32_t id = number_of(block, runs.tag | run, &root);
        if (id >= out.capacity)
            return;
        const ShareSums share = sums_of_share(block, slot);
        add_quarter(&out.sums[id], share.sums, xy_of(share), quarter, 0, rows.first_y);
        if (is_root && quarter == 3)
            out.sums[id].first = first_pixel(rows, place);
    });
}

/* Writes the records of components that are one share. */
template <bool SHARED>
__device__ static inline void write_complete(const ClusterBlock *block, const BlockRows &rows, const BlockRuns<SHARED> &runs,
                                             const TableOutput &out,
                                          uint32_t n_shares)
{
    for_quarters(block, runs, n_shares, [&](uint32_t slot, uint32_t quarter, uint32_t run, uint32_t place) {
        const uint32_t parent = runs.parents[run], id = number_with(block, runs.tag, parent);
        if (!(parent & NUMBERED) || !is_complete(place) || id >= out.capacity)
            return;
        const ShareSums share = sums_of_share(block, slot);
        const ulonglong2 moments = moments_of(share.sums, xy_of(share), quarter, 0, rows.first_y);
        const uint4 ends = make_uint4(share.sums.of[NOT_X0], share.sums.of[X1], rows.first_y + share.sums.of[Y1],
                                      first_pixel(rows, place));
        const uint4 end = record_end(out.width, out.height, id, ends, out.flagged);
        const uint4 value = quarter < 3 ? make_uint4((uint32_t)moments.x, (uint32_t)(moments.x >> 32),
                                                     (uint32_t)moments.y, (uint32_t)(moments.y >> 32)) : end;
        __syncwarp(15u << (threadIdx.x % 32 & ~3u)); /* so that a record of 64 bytes crosses the bus at once */
        out.records[id * 4 + quarter] = value;
    });
}

/* Adds up the runs of shares that got no slot. */
template <bool SHARED>
__device__ static inline void add_runs(const ClusterBlock *block, const BlockRows &rows, const BlockRuns<SHARED> &runs,
                                       const TableOutput &out)
{
    for_slotless(block, runs, [&](uint32_t run) {
        uint32_t root;
        const uint32_t id = number_of(block, runs.tag | run, &root), place = runs.places[run];
        if (id >= out.capacity)
            return;
        const ShareSums share = sums_of_run(rows, place);
        for (uint32_t quarter = 0; quarter < 4; quarter++)
            add_quarter(&out.sums[id], share.sums, xy_of(share), quarter, 0, rows.first_y);
        if (root == (runs.tag | run))
            out.sums[id].first = first_pixel(rows, place);
    });
}

/* Writes a quarter of the record of a component with sums in global memory, if the run is its root. Clears the sums for the
 * next frame. */
template <bool SHARED>
__device__ static inline void write_added(const ClusterBlock *block, const BlockRuns<SHARED> &runs, const TableOutput &out,
                                          uint32_t run,
                                          uint32_t quarter)
{
    const uint32_t parent = runs.parents[run], id = number_with(block, runs.tag, parent);
    if (!(parent & NUMBERED) || id >= out.capacity)
        return;
    uint4 *const sums = (uint4 *)&out.sums[id] + quarter;
    const uint4 value = __ldcg(sums);
    __stcg(sums, make_uint4(0, 0, 0, 0));
    out.records[id * 4 + quarter] = quarter < 3 ? value : record_end(out.width, out.height, id, value, out.flagged);
}

/* Writes the records of components of several shares. */
template <bool SHARED>
__device__ static inline void write_joined(const ClusterBlock *block, const BlockRuns<SHARED> &runs, const TableOutput &out,
                                           uint32_t n_shares)
{
    for_quarters(block, runs, n_shares, [&](uint32_t, uint32_t quarter, uint32_t run, uint32_t place) {
        if (place & JOINED)
            write_added(block, runs, out, run, quarter);
    });
    if (!block->counts.over_capacity)
        return;
    for (uint32_t i = threadIdx.x; i < runs.n * 4; i += blockDim.x)
        if (slot_of_place(runs.places[i / 4]) == NO_SLOT)
            write_added(block, runs, out, i / 4, i % 4);
}

#endif
