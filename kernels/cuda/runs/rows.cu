/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The last kernels of label/runs.cu: the filter, and the records of the table. */
#include "cuda/runs/end.cuh"
#include "cuda/runs/launch.cuh"
#include "cuda/scan.cuh"

/* ---------------------------------------------------------------- keep */

/* Numbers the components that the filter keeps. */
template <typename Jobs> static __global__ void __launch_bounds__(KEEP_THREADS) keep(const Jobs jobs)
{
    __shared__ uint32_t shared_before;
    const Job &job = jobs.get();
    const Plan &plan = job.plan;

    wait_for_predecessor();
    const CclLimits limits = job.vars->limits;
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
    }
}

/* ---------------------------------------------------------------- rows */

/* Four lanes write a record, 16 bytes each. They clear the sums for the next frame. */
template <typename Jobs>
static __global__ void __launch_bounds__(ROWS_THREADS) write_rows(const Jobs jobs, bool filtered)
{
    const Job &job = jobs.get();
    const Plan &plan = job.plan;
    const uint32_t thread = blockIdx.x * ROWS_THREADS + threadIdx.x, n_threads = gridDim.x * ROWS_THREADS;

    wait_for_predecessor();
    const uint4 *const sums = (const uint4 *)(Sums *)plan.sums;
    uint4 next = thread < plan.capacity * 4 ? __ldcg(sums + thread) : make_uint4(0, 0, 0, 0);
    const uint32_t found = plan.counts->found, kept = plan.counts->kept, n = min(kept, plan.capacity);
    if (filtered)
        for (uint32_t i = thread; i < SCAN_WORDS((found + KEEP_THREADS - 1) / KEEP_THREADS); i += n_threads)
            plan.keep_scan[i] = 0;
    if (!Jobs::MANY && job.vars->sets_flag && plan.counts->complete)
        return; /* the host has all results, and may have freed its memory */
    const bool flagged = job.vars->limits.border == CCL_BORDER_FLAG;
    if (thread == 0)
        write_result(job, found, kept, density_of(plan.counts));
    for (uint32_t i = thread; i < n * 4; i += n_threads) {
        const uint4 value = next;
        if (i + n_threads < n * 4)
            next = __ldcg(sums + i + n_threads);
        /* Every record has an area. Where it is 0, measure has written the record. */
        const uint32_t leader = threadIdx.x % 32 & ~3u;
        if (!__shfl_sync(15u << leader, value.x, leader))
            continue;
        write_quarter(job, i, value, flagged);
    }
}

/* ---------------------------------------------------------------- launch */

template <typename Jobs> CclStatus launch_keep(CudaFrame *frame, const Jobs &jobs, dim3 grid)
{
    return cuda_launch(frame, "keep", LAUNCH_SOONER, keep<Jobs>, { grid, KEEP_THREADS, 0 }, jobs);
}

template <typename Jobs> CclStatus launch_rows(CudaFrame *frame, const Jobs &jobs, dim3 grid, bool filtered)
{
    return cuda_launch(frame, "rows", LAUNCH_SOONER, write_rows<Jobs>, { grid, ROWS_THREADS, 0 }, jobs, filtered);
}

template CclStatus launch_keep(CudaFrame *, const Alone &, dim3);
template CclStatus launch_keep(CudaFrame *, const Listed &, dim3);
template CclStatus launch_rows(CudaFrame *, const Alone &, dim3, bool);
template CclStatus launch_rows(CudaFrame *, const Listed &, dim3, bool);
