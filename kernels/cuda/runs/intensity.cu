/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * CclIntensityCounts, from the runs of a tile and the picture under them. Eight lanes share a run:
 *
 *     lane      0 1 2 3 4 5 6 7 0 1 2 3 4 ...
 *     samples   # # # # # # # # # # # # #        neighbouring lanes load neighbouring samples
 *
 * They take one run after the other, from a part of the tile's list. Each lane adds up its samples, in registers, as long as the
 * runs are of the same component. Then the lanes add up their sums, and add these to the component's in global memory.
 */
#include "cuda/runs/counts.cuh"

#define RUN_LANES   8u /* that share a run */
#define RUN_GROUPS  (COUNT_THREADS / RUN_LANES)
#define LOADS_AHEAD 4u /* loads of a lane in flight */

/* Sums of luma I and chroma, as in CclIntensityCounts. */
enum { SUM, SQUARES, X, Y, XX, XY, YY, CHROMA_0, CHROMA_1, N_INTENSITY };

/* Of a lane. Within a tile, 64 bits suffice. All zero is empty. */
typedef struct LaneSums {
    uint64_t of[N_INTENSITY];
    uint32_t not_min, max; /* not_min: UINT16_MAX - min */
} LaneSums;

/* Of a component, in global memory; all zero is empty. */
typedef struct IntensitySums {
    uint32_t not_min, max;
    unsigned long long sum, squares, x, y, xx[2], xy[2], yy[2], chroma[2];
} IntensitySums;
static_assert(sizeof(IntensitySums) == sizeof(CclIntensityCounts), "the same memory, as words");
#define INTENSITY_WORDS (sizeof(IntensitySums) / sizeof(uint64_t))

/* ---------------------------------------------------------------- samples */

/* Samples of 16 bits may have any address. */
__device__ static inline uint32_t sample_at(const uint8_t *row, uint32_t i, bool wide)
{
    return wide ? row[2 * (size_t)i] | (uint32_t)row[2 * (size_t)i + 1] << 8 : row[i];
}

/* Some of the pixels of a run in one row: column first, first + RUN_LANES, ... of the word that begins at pixel x. */
typedef struct LanePixels {
    uint64_t pixels; /* of the run */
    uint32_t first, x, y;
} LanePixels;

__device__ static inline bool has_pixel(const LanePixels &lane, uint32_t column)
{
    return column < 64 && lane.pixels >> column & 1;
}

__device__ static inline void add_luma(LaneSums *to, const CudaPicture &picture, const LanePixels &lane, uint32_t end)
{
    const uint8_t *const row = picture.luma + lane.y * picture.stride;
    uint32_t sum = 0, x_sum = 0, xx_sum = 0; /* by columns: 8 samples of 16 bits, x^2 below 64^2 */
    for (uint32_t column = lane.first; column < end; column += LOADS_AHEAD * RUN_LANES) {
        uint32_t samples[LOADS_AHEAD];
#pragma unroll
        for (uint32_t i = 0; i < LOADS_AHEAD; i++)
            samples[i] =
                has_pixel(lane, column + i * RUN_LANES) ? sample_at(row, lane.x + column + i * RUN_LANES, picture.wide) : ~0u;
#pragma unroll
        for (uint32_t i = 0; i < LOADS_AHEAD; i++) {
            const uint32_t k = column + i * RUN_LANES, sample = samples[i];
            if (sample == ~0u)
                continue;
            sum += sample;
            x_sum += k * sample;
            xx_sum += k * k * sample;
            to->of[SQUARES] += (uint64_t)sample * sample;
            to->not_min = max(to->not_min, UINT16_MAX - sample);
            to->max = max(to->max, sample);
        }
    }
    const uint64_t x0 = lane.x, x = x_sum + x0 * sum, y = lane.y * (uint64_t)sum;
    to->of[SUM] += sum;
    to->of[X] += x;
    to->of[Y] += y;
    to->of[XX] += xx_sum + x0 * (x_sum + x);
    to->of[XY] += x * lane.y;
    to->of[YY] += y * lane.y;
}

__device__ static inline void add_chroma(LaneSums *to, const CudaPicture &picture, const LanePixels &lane, uint32_t end)
{
    const size_t row = (size_t)(lane.y >> picture.shift_y) * picture.chroma_stride;
    uint32_t sums[2] = { 0, 0 };
    for (uint32_t column = lane.first; column < end; column += RUN_LANES) {
        const uint32_t i = ((lane.x + column) >> picture.shift_x) * picture.chroma_step;
        if (!has_pixel(lane, column))
            continue;
        sums[0] += sample_at(picture.chroma[0] + row, i, picture.wide);
        sums[1] += sample_at(picture.chroma[1] + row, i, picture.wide);
    }
    to->of[CHROMA_0] += sums[0];
    to->of[CHROMA_1] += sums[1];
}

/* Adds this lane's pixels of a run in one row. (x, y): the first pixel of the word. */
__device__ static inline void add_row(LaneSums *to, const CudaPicture &picture, uint64_t pixels, uint32_t x, uint32_t y)
{
    if (!pixels)
        return;
    const LanePixels lane = { pixels, (uint32_t)__ffsll(pixels) - 1 + threadIdx.x % RUN_LANES, x, y };
    const uint32_t end = 64 - __clzll(pixels);
    add_luma(to, picture, lane, end);
    if (picture.chroma[0])
        add_chroma(to, picture, lane, end);
}

/* ---------------------------------------------------------------- components */

__device__ static inline void add_wide(unsigned long long to[2], uint64_t value)
{
    const uint64_t before = atomicAdd(&to[0], (unsigned long long)value);
    if (before + value < before)
        atomicAdd(&to[1], 1ull);
}

__device__ static inline void add_field(IntensitySums *to, uint32_t field, uint64_t value)
{
    if (!value)
        return;
    switch (field) {
    case XX:
        add_wide(to->xx, value);
        break;
    case XY:
        add_wide(to->xy, value);
        break;
    case YY:
        add_wide(to->yy, value);
        break;
    default:
        atomicAdd(field < XX ? &to->sum + field : &to->chroma[field - CHROMA_0], (unsigned long long)value);
    }
}

/* Adds the sums of neighbouring lanes, those of `mask`, to the component's. All of them call it. */
template <uint32_t LANES> __device__ static inline void flush(IntensitySums *to, const LaneSums &sums, uint32_t mask)
{
    const uint32_t lane = threadIdx.x % LANES;
    uint32_t not_min = sums.not_min, largest = sums.max;
#pragma unroll
    for (uint32_t i = LANES / 2; i; i /= 2) {
        not_min = max(not_min, __shfl_xor_sync(mask, not_min, i));
        largest = max(largest, __shfl_xor_sync(mask, largest, i));
    }
#pragma unroll
    for (uint32_t field = 0; field < N_INTENSITY; field++) {
        uint64_t sum = sums.of[field];
#pragma unroll
        for (uint32_t i = LANES / 2; i; i /= 2)
            sum += __shfl_xor_sync(mask, sum, i);
        if (lane == field % RUN_LANES)
            add_field(to, field, sum);
    }
    if (lane == RUN_LANES - 1) {
        atomicMax(&to->not_min, not_min);
        atomicMax(&to->max, largest);
    }
}

/* The lanes of a warp at the end of their runs. If all have the same component, then it is told once. */
__device__ static inline void flush_warp(IntensitySums *all, const LaneSums &sums, uint32_t place)
{
    const uint32_t group = ((1u << RUN_LANES) - 1) << (threadIdx.x % 32 / RUN_LANES * RUN_LANES);
    const bool same = __all_sync(~0u, place == __shfl_sync(~0u, place, 0));
    if (place == ~0u)
        return;
    if (same)
        flush<32>(&all[place], sums, ~0u);
    else
        flush<RUN_LANES>(&all[place], sums, group);
}

/* The runs of some lanes; they lie next to each other, so many belong to the same component. Called by whole warps. */
__device__ static inline void add_runs(const CountTile &tile, const CudaPicture &picture, IntensitySums *all,
                                       const uint32_t *runs, uint32_t n_listed)
{
    const uint32_t n_runs = n_listed & ~OF_STRIPS, n_each = (n_runs + RUN_GROUPS - 1) / RUN_GROUPS;
    const uint32_t first = threadIdx.x / RUN_LANES * n_each, end = min(first + n_each, n_runs);
    const uint32_t group = ((1u << RUN_LANES) - 1) << (threadIdx.x % 32 / RUN_LANES * RUN_LANES);
    uint32_t key_before = ~0u, next = ~0u, place = ~0u;
    LaneSums sums = {};
    for (uint32_t run = first; run < end; run++) {
        const uint32_t entry = runs[run];
        if (entry >> 14 != key_before) {
            key_before = entry >> 14;
            next = place_of(tile, id_of_entry(tile, { blockIdx.x, blockIdx.y }, entry));
        }
        if (next >= tile.plan.capacity)
            continue;
        if (next != place && place != ~0u) {
            flush<RUN_LANES>(&all[place], sums, group);
            sums = LaneSums{};
        }
        place = next;
        const uint32_t at = entry >> 6 & 0xff, x = blockIdx.x * 2048 + at % 32 * 64, y = blockIdx.y * TILE_ROWS + at / 32;
        const uint64_t *const word = &tile.plan.bits[y * tile.plan.row_words + x / 64];
        const bool two = n_listed & OF_STRIPS && y + 1 < tile.plan.height;
        const uint64_t upper = __ldcg(word), lower = two ? __ldcg(word + tile.plan.row_words) : 0;
        const uint64_t span = span_of(upper | lower, entry & 63);
        add_row(&sums, picture, upper & span, x, y);
        add_row(&sums, picture, lower & span, x, y + 1);
    }
    flush_warp(all, sums, place);
}

/* ---------------------------------------------------------------- kernels */

/* A block takes a tile. */
static __global__ void __launch_bounds__(COUNT_THREADS, 3)
    sum_intensity(const Alone jobs, GlobalPointer<IntensitySums> sums, GlobalPointer<const CudaPicture> picture, bool filtered)
{
    __shared__ uint32_t bases[MAX_CHUNKS];
    const Plan &plan = jobs.get().plan;
    const uint32_t tile_at = blockIdx.y * plan.tiles_x + blockIdx.x;
    wait_for_predecessor();
    const uint32_t n_listed = __ldcg(&plan.n_runs[tile_at]), n_runs = n_listed & ~OF_STRIPS;
    scan_chunks<PASS_KEPT, COUNT_THREADS>(plan, bases); /* ends with a barrier */
    const CountTile tile = { plan, bases, NULL, false, filtered };
    const CudaPicture samples = *picture;
    if (threadIdx.x / 32 * (32 / RUN_LANES) * ((n_runs + RUN_GROUPS - 1) / RUN_GROUPS) < n_runs)
        add_runs(tile, samples, sums, plan.runs + (size_t)tile_at * TILE_RUNS, n_listed);
}

/* Copies the sums of the table's components to the host, and clears them for the next frame. */
static __global__ void __launch_bounds__(ROWS_THREADS)
    write_intensity(const Alone jobs, GlobalPointer<unsigned long long> sums, GlobalPointer<unsigned long long> counts,
                    GlobalPointer<const CudaPicture> picture)
{
    const Plan &plan = jobs.get().plan;
    wait_for_predecessor();
    const uint32_t n = min(__ldcg(&plan.counts->kept), plan.capacity) * INTENSITY_WORDS;
    const uint64_t has_chroma = picture->chroma[0] != NULL;
    for (uint32_t i = blockIdx.x * ROWS_THREADS + threadIdx.x; i < n; i += gridDim.x * ROWS_THREADS) {
        const uint64_t word = __ldcg(&sums[i]);
        const uint32_t min_max = (UINT16_MAX - (uint32_t)word) | (uint32_t)(word >> 32) << 16;
        counts[i] = i % INTENSITY_WORDS ? word : has_chroma << 32 | min_max;
        sums[i] = 0;
    }
}

/* ---------------------------------------------------------------- launch */

CclStatus launch_sum_intensity(CudaFrame *frame, const Alone &jobs, dim3 grid, bool filtered)
{
    const GlobalPointer<IntensitySums> sums = { (IntensitySums *)frame->counts.intensity_sums };
    const GlobalPointer<const CudaPicture> picture = { frame->counts.picture };
    return cuda_launch(frame, "intensity", CUDA_OVERLAP, sum_intensity, { grid, COUNT_THREADS, 0 }, jobs, sums, picture,
                       filtered);
}

CclStatus launch_write_intensity(CudaFrame *frame, const Alone &jobs, dim3 grid)
{
    const GlobalPointer<unsigned long long> sums = { (unsigned long long *)frame->counts.intensity_sums };
    const GlobalPointer<unsigned long long> counts = { (unsigned long long *)frame->counts.intensity };
    const GlobalPointer<const CudaPicture> picture = { frame->counts.picture };
    return cuda_launch(frame, "write-intensity", CUDA_OVERLAP, write_intensity, { grid, ROWS_THREADS, 0 }, jobs, sums, counts,
                       picture);
}
