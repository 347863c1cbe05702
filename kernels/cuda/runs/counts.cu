/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The kernels for the counts of features. Each takes several features at once, by different blocks. */
#include "cuda/runs/hull.cuh"
#include "cuda/runs/intensity.cuh"
#include "cuda/runs/shape.cuh"

#define INTENSITY_BLOCKS 2u /* of a tile */

/* What the blocks with the same blockIdx.z do. */
typedef enum TileTask { TASK_HEIGHTS, TASK_EXTENTS, TASK_SHAPE, TASK_INTENSITY } TileTask;

typedef struct TileTasks {
    uint8_t of[INTENSITY_BLOCKS + 2]; /* TileTask by blockIdx.z; the blocks of intensity come first */
    uint8_t n;
    GlobalPointer<uint32_t> shape;
    GlobalPointer<IntensitySums> intensity;
    GlobalPointer<const CudaPicture> picture;
    CudaHulls hulls;
    bool eight, filtered;
} TileTasks;

/* A block takes a task of a tile. */
static __global__ void __launch_bounds__(COUNT_THREADS, 3) count_tiles(const Alone jobs, const __grid_constant__ TileTasks tasks)
{
    __shared__ uint32_t bases[MAX_CHUNKS];
    __shared__ uint64_t words[AROUND_WORDS];
    const Plan &plan = jobs.get().plan;
    const uint32_t tile_at = blockIdx.y * plan.tiles_x + blockIdx.x;
    wait_for_predecessor();
    load_around(plan, words);
    const uint32_t n_listed = __ldcg(&plan.n_runs[tile_at]);
    scan_chunks<PASS_KEPT, COUNT_THREADS>(plan, bases); /* ends with a barrier */
    const CountTile tile = { plan, bases, words, tasks.eight, tasks.filtered, plan.runs + (size_t)tile_at * TILE_RUNS, n_listed };
    switch (tasks.of[blockIdx.z]) {
    case TASK_HEIGHTS:
        find_heights(tile, tasks.hulls);
        break;
    case TASK_EXTENTS:
        find_extents(tile, tasks.hulls);
        break;
    case TASK_SHAPE:
        count_shape(tile, tasks.shape);
        break;
    default:
        sum_intensity(tile, tasks.picture, tasks.intensity, blockIdx.z, INTENSITY_BLOCKS);
    }
}

/* A place for the rows of each component, in any order, and the list of large ones. A component has one line of corners more
 * than rows. */
static __global__ void __launch_bounds__(HULL_THREADS) find_places(const Alone jobs, const CudaHulls hulls)
{
    const uint32_t capacity = jobs.get().plan.capacity, lane = threadIdx.x % 32;
    wait_for_predecessor();
    for (uint32_t warp = blockIdx.x * HULL_THREADS + threadIdx.x - lane; warp < capacity; warp += gridDim.x * HULL_THREADS) {
        const uint32_t i = warp + lane;
        const CudaRange rows = i < capacity ? hulls.heights[i] : CudaRange{ 0, 0 };
        const uint32_t n_rows = length_of(rows), n_lines = n_rows ? n_rows + 1 : 0, through = warp_scan(n_lines);
        const uint32_t large = __ballot_sync(~0u, n_rows > 1), n_more = lane == 31 ? through : __popc(large);
        const uint32_t used = lane >= 30 && n_more ? atomicAdd(&hulls.n_used[31 - lane], n_more) : 0;
        const uint32_t place = __shfl_sync(~0u, used, 31) + through - n_lines;
        const uint32_t at = __shfl_sync(~0u, used, 30) + __popc(large & ((1u << lane) - 1));
        if (n_rows)
            hulls.places[i] = place;
        if (n_rows > 1)
            hulls.large[at] = CudaLargeHull{ i, first_of(rows), n_rows, place };
    }
}

/* ---------------------------------------------------------------- to the host */

/* Sums of the stream slot, and counts in host memory; NULL without the feature. */
typedef struct WrittenCounts {
    GlobalPointer<uint4> shape_sums, shape;
    GlobalPointer<unsigned long long> intensity_sums, intensity;
    GlobalPointer<const CudaPicture> picture;
    CudaHulls hulls;
    GlobalPointer<CclHullCounts> hull;
    uint32_t shared_lines;
} WrittenCounts;

/* Copies the counts of the table's components to the host, and clears them for the next frame. */
__device__ static inline void write_shape(const WrittenCounts &counts, uint32_t n)
{
    for (uint32_t i = blockIdx.x * HULL_THREADS + threadIdx.x; i < n; i += gridDim.x * HULL_THREADS) {
        counts.shape[i] = __ldcg(&counts.shape_sums[i]);
        counts.shape_sums[i] = make_uint4(0, 0, 0, 0);
    }
}

__device__ static inline void write_intensity(const WrittenCounts &counts, uint32_t n)
{
    const uint64_t has_chroma = counts.picture->chroma[0] != NULL;
    for (uint32_t i = blockIdx.x * HULL_THREADS + threadIdx.x; i < n * INTENSITY_WORDS; i += gridDim.x * HULL_THREADS) {
        const uint64_t word = __ldcg(&counts.intensity_sums[i]);
        const uint32_t min_max = (UINT16_MAX - (uint32_t)word) | (uint32_t)(word >> 32) << 16;
        counts.intensity[i] = i % INTENSITY_WORDS ? word : has_chroma << 32 | min_max;
        counts.intensity_sums[i] = 0;
    }
}

/* The blocks of a row of the grid take the hulls, or the other counts. */
static __global__ void __launch_bounds__(HULL_THREADS) write_counts(const Alone jobs, const WrittenCounts counts)
{
    const Plan &plan = jobs.get().plan;
    wait_for_predecessor();
    const uint32_t n = min(__ldcg(&plan.counts->kept), plan.capacity);
    if (counts.hull && blockIdx.y == 0) {
        count_hulls(counts.hulls, counts.hull, n, counts.shared_lines);
        return;
    }
    if (counts.shape)
        write_shape(counts, n);
    if (counts.intensity)
        write_intensity(counts, n);
}

/* ---------------------------------------------------------------- launch */

static CclStatus launch_tasks(CudaFrame *frame, const char *name, const Alone &jobs, dim3 grid, const TileTasks &tasks)
{
    grid.z = tasks.n;
    return tasks.n ? cuda_launch(frame, name, CUDA_OVERLAP, count_tiles, { grid, COUNT_THREADS, 0 }, jobs, tasks) : CCL_OK;
}

static TileTasks tasks_for(const CudaCounts *counts, bool eight, bool filtered)
{
    return TileTasks{ {},
                      0,
                      { (uint32_t *)counts->shape_sums },
                      { (IntensitySums *)counts->intensity_sums },
                      { counts->picture },
                      counts->hulls,
                      eight,
                      filtered };
}

static CclStatus launch_places(CudaFrame *frame, const Alone &jobs)
{
    const dim3 places(min(blocks_for(jobs.job.plan.capacity, HULL_THREADS), 128u));
    return cuda_launch(frame, "places", CUDA_OVERLAP, find_places, { places, HULL_THREADS, 0 }, jobs, frame->counts.hulls);
}

CclStatus launch_plane_counts(CudaFrame *frame, const Alone planes[2], dim3 grid)
{
    const CudaCounts *const counts = &frame->counts;
    TileTasks tasks = tasks_for(counts, false, false);
    if (counts->hull) {
        tasks.of[tasks.n++] = TASK_HEIGHTS;
        for (unsigned i = 0; i < 2; i++)
            CCL_TRY(launch_tasks(frame, "heights", planes[i], grid, tasks));
        CCL_TRY(launch_places(frame, planes[0]));
    }
    tasks.n = 0;
    while (counts->intensity && tasks.n < INTENSITY_BLOCKS)
        tasks.of[tasks.n++] = TASK_INTENSITY;
    if (counts->hull)
        tasks.of[tasks.n++] = TASK_EXTENTS;
    for (unsigned i = 0; i < 2; i++)
        CCL_TRY(launch_tasks(frame, "counts", planes[i], grid, tasks));
    return CCL_OK;
}

CclStatus launch_counts(CudaFrame *frame, const Alone &jobs, dim3 grid, bool eight, bool filtered)
{
    const CudaCounts *const counts = &frame->counts;
    TileTasks tasks = tasks_for(counts, eight, filtered);
    if (counts->hull) {
        tasks.of[tasks.n++] = TASK_HEIGHTS;
        if (counts->shape)
            tasks.of[tasks.n++] = TASK_SHAPE;
        CCL_TRY(launch_tasks(frame, "heights", jobs, grid, tasks));
        CCL_TRY(launch_places(frame, jobs));
    }
    tasks.n = 0;
    while (counts->intensity && tasks.n < INTENSITY_BLOCKS)
        tasks.of[tasks.n++] = TASK_INTENSITY;
    if (counts->hull)
        tasks.of[tasks.n++] = TASK_EXTENTS;
    else if (counts->shape)
        tasks.of[tasks.n++] = TASK_SHAPE;
    return launch_tasks(frame, "counts", jobs, grid, tasks);
}

CclStatus launch_written_counts(CudaFrame *frame, const Alone &jobs)
{
    const CudaCounts *const counts = &frame->counts;
    if (!counts->shape && !counts->intensity && !counts->hull)
        return CCL_OK;
    const WrittenCounts written = { { (uint4 *)counts->shape_sums },
                                    { (uint4 *)counts->shape },
                                    { (unsigned long long *)counts->intensity_sums },
                                    { (unsigned long long *)counts->intensity },
                                    { counts->picture },
                                    counts->hulls,
                                    { counts->hull },
                                    test_limit(SHARED_LINES) };
    const dim3 grid(min(blocks_for(jobs.job.plan.capacity, HULL_THREADS / 32), 64u),
                    !!counts->hull + (counts->shape || counts->intensity));
    return cuda_launch(frame, "write-counts", CUDA_OVERLAP, write_counts, { grid, HULL_THREADS, 0 }, jobs, written);
}
