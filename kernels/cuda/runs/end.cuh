/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The end of a frame of label/runs.cu: sums become records, and the host gets counts and completion flag. */
#ifndef CCL_CUDA_RUNS_END_CUH
#define CCL_CUDA_RUNS_END_CUH

#include "cuda/order.cuh"
#include "cuda/runs/plan.cuh"

/* The last quarter of a record, from the last quarter of Sums. */
__device__ static inline uint4 record_end(uint32_t width, uint32_t height, uint32_t id, uint4 sums, bool flagged)
{
    const uint32_t x0 = ~sums.x & 0xffff, x1 = sums.y, y1 = sums.z, y0 = sums.w >> 16;
    const uint32_t flags = flagged ? ccl_border_flags(x0, y0, x1, y1, width, height) : 0;
    return make_uint4(id + 1, x0 | y0 << 16, x1 | y1 << 16, (sums.w & 0xffff) | flags << 16);
}

/* Writes quarter i of the records from quarter i of the sums, which it clears for the next frame. */
__device__ static inline void write_quarter(const Job &job, uint32_t i, uint4 value, bool flagged)
{
    __stcg((uint4 *)(Sums *)job.plan.sums + i, make_uint4(0, 0, 0, 0));
    ((uint4 *)(CclComponent *)job.records)[i] =
        i % 4 < 3 ? value : record_end(job.plan.width, job.plan.height, i / 4, value, flagged);
}

__device__ static inline CudaDensity density_of(const Counts *counts)
{
    const uint32_t n_dense = __ldcg(&counts->n_dense), n_runs = __ldcg(&counts->n_runs);
    return n_dense ? CUDA_DENSE : n_runs > MAX_CLUSTER_RUNS ? CUDA_MANY : CUDA_SPARSE;
}

/* Called by one thread. */
__device__ static inline void write_result(const Job &job, uint32_t found, uint32_t kept, CudaDensity density)
{
    job.result->n_found = found;
    job.result->n_kept = kept;
    job.result->density = density;
    job.plan.counts->n_runs = job.plan.counts->n_dense = 0;
}

#define TILE_ADDED 64u

/* Components that have sums in global memory, and their first run in a tile. */
typedef struct AddedIds {
    uint32_t n; /* above TILE_ADDED not all are counted */
    uint32_t of[TILE_ADDED];
} AddedIds;

__device__ static inline void note_added(AddedIds *added, uint32_t id)
{
    if (*(volatile uint32_t *)&added->n > TILE_ADDED) /* very many threads would wait for each other */
        return;
    const uint32_t at = atomicAdd(&added->n, 1);
    if (at < TILE_ADDED)
        added->of[at] = id;
}

/* Called by one warp. */
__device__ static inline void publish_added(const Plan &plan, const AddedIds &added)
{
    const uint32_t lane = threadIdx.x % 32, n = added.n;
    uint32_t first = 0;
    if (n && lane == 0)
        first = atomicAdd(&plan.counts->n_added, n <= TILE_ADDED ? n : MAX_ADDED + 1);
    first = __shfl_sync(~0u, first, 0);
    for (uint32_t i = lane; i < min(n, TILE_ADDED) && first + i < MAX_ADDED; i += 32)
        plan.added[first + i] = added.of[i];
}

/* All blocks of measure call this at their end. The last one writes the records of components that have sums, if these are few,
 * and sets the completion flag. So the host waits neither for `rows` nor for the end of the launch. */
template <uint32_t THREADS> __device__ static inline void end_with_flag(const Job &job, uint32_t found, uint32_t kept)
{
    const Plan &plan = job.plan;
    Counts *const counts = plan.counts;
    const uint32_t last = gridDim.x * gridDim.y - 1, thread = threadIdx.x;
    __syncthreads(); /* all writes of the block come before the count of its first thread */
    if (!__syncthreads_or(thread == 0 && count_up(&counts->n_measured, last) == last))
        return;
    static_assert(THREADS / 4 <= MAX_ADDED, "the first id is loaded before it is known that there is one");
    uint32_t id = __ldcg(&plan.added[thread / 4]);
    const uint32_t n = __ldcg(&counts->n_added);
    const CudaDensity density = density_of(counts);
    const bool few = n <= plan.max_added, flagged = job.vars->limits.border == CCL_BORDER_FLAG;
    for (uint32_t i = thread; few && i < n * 4; i += THREADS) {
        const uint32_t quarter = id * 4 + i % 4;
        write_quarter(job, quarter, __ldcg((const uint4 *)(const Sums *)plan.sums + quarter), flagged);
        if (i + THREADS < n * 4)
            id = __ldcg(&plan.added[(i + THREADS) / 4]);
    }
    __syncthreads();
    if (thread)
        return;
    counts->complete = few;
    counts->n_added = 0;
    if (few) {
        write_result(job, found, kept, density);
        store_release(&job.result->complete, 1);
    }
}

#endif
