/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * CclIntensityCounts, from the runs of a tile and the picture under them. Eight lanes share a run:
 *
 *     lane      0 1 2 3 4 5 6 7 0 1 2 3 4 ...
 *     samples   # # # # # # # # # # # # #        neighbouring lanes load neighbouring samples
 *
 * They take one run after the other, from a part of the tile's list. Each lane adds up its samples, in registers, as long as the
 * runs are of the same component. Then the lanes add up their sums, and add these to a small hash table of the block. It is added
 * to global memory at the end, because atomics on the sums of one component are serialized there.
 */
#ifndef CCL_CUDA_RUNS_INTENSITY_CUH
#define CCL_CUDA_RUNS_INTENSITY_CUH

#include "cuda/runs/counts.cuh"

#define RUN_LANES   8u /* that share a run */
#define RUN_GROUPS  (COUNT_THREADS / RUN_LANES)
#define LOADS_AHEAD 4u /* loads of a lane in flight */

#define INTENSITY_SLOTS 64u /* components that a block sums in shared memory */

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

/* Hash table of the sums of a block's components. */
typedef struct BlockIntensity {
    uint32_t ids[INTENSITY_SLOTS]; /* place in the table + 1; 0: free */
    uint32_t low[N_INTENSITY][INTENSITY_SLOTS], high[N_INTENSITY][INTENSITY_SLOTS];
    uint32_t not_min[INTENSITY_SLOTS], max[INTENSITY_SLOTS];
} BlockIntensity;

/* Where a block adds. */
typedef struct IntensityTarget {
    BlockIntensity *block;
    IntensitySums *all; /* [place] */
    uint32_t n_slots;   /* at most INTENSITY_SLOTS; tests use fewer */
} IntensityTarget;

/* The slot of a component, or INTENSITY_SLOTS if the slots near its hash are taken. */
__device__ static inline uint32_t slot_of(const IntensityTarget &to, uint32_t place)
{
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t slot = (place + i) % INTENSITY_SLOTS;
        const uint32_t old = slot < to.n_slots ? atomicCAS(&to.block->ids[slot], 0, place + 1) : ~0u;
        if (old == 0 || old == place + 1)
            return slot;
    }
    return INTENSITY_SLOTS;
}

/* An atomic of 64 bits on shared memory is a loop. */
__device__ static inline void add_to_slot(BlockIntensity *block, uint32_t field, uint32_t slot, uint64_t value)
{
    const uint32_t low = (uint32_t)value, before = atomicAdd(&block->low[field][slot], low);
    const uint32_t high = (uint32_t)(value >> 32) + (before + low < before);
    if (high)
        atomicAdd(&block->high[field][slot], high);
}

/* Adds the sums of neighbouring lanes, those of `mask`, to the component's. All of them call it. */
template <uint32_t LANES>
__device__ static inline void flush(const IntensityTarget &to, uint32_t place, const LaneSums &sums, uint32_t mask)
{
    const uint32_t lane = threadIdx.x % LANES;
    const uint32_t slot = __shfl_sync(mask, lane ? 0 : slot_of(to, place), 0, LANES);
    const bool listed = slot < INTENSITY_SLOTS;
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
        if (lane != field % RUN_LANES)
            continue;
        if (listed)
            add_to_slot(to.block, field, slot, sum);
        else
            add_field(&to.all[place], field, sum);
    }
    if (lane == RUN_LANES - 1) {
        atomicMax(listed ? &to.block->not_min[slot] : &to.all[place].not_min, not_min);
        atomicMax(listed ? &to.block->max[slot] : &to.all[place].max, largest);
    }
}

/* What the block shares of its next runs. */
typedef struct ListedRuns {
    uint32_t entries[COUNT_THREADS]; /* of Plan.runs */
    uint32_t places[COUNT_THREADS];
} ListedRuns;

/* The next `n` runs, from `first` on: a thread finds the component of one. */
__device__ static inline void list_runs(ListedRuns *listed, const CountTile &tile, uint32_t first, uint32_t n)
{
    __syncthreads(); /* all have read the ones before */
    if (threadIdx.x < n) {
        const uint32_t entry = tile.runs[first + threadIdx.x];
        listed->entries[threadIdx.x] = entry;
        listed->places[threadIdx.x] = place_of(tile, id_of_entry(tile, { blockIdx.x, blockIdx.y }, entry));
    }
    __syncthreads();
}

/* The sums of a lane's last runs, which belong to one component; place: ~0: none. */
typedef struct PlaceSums {
    uint32_t place;
    LaneSums sums;
} PlaceSums;

/* The listed runs of some lanes. They lie next to each other, so many belong to the same component. */
__device__ static inline void add_listed(PlaceSums *last, const ListedRuns &listed, const CountTile &tile,
                                         const CudaPicture &picture, const IntensityTarget &to, uint32_t n_runs)
{
    const uint32_t n_each = (n_runs + RUN_GROUPS - 1) / RUN_GROUPS;
    const uint32_t first = threadIdx.x / RUN_LANES * n_each, end = min(first + n_each, n_runs);
    const uint32_t group = ((1u << RUN_LANES) - 1) << (threadIdx.x % 32 / RUN_LANES * RUN_LANES);
    for (uint32_t run = first; run < end; run++) {
        const uint32_t place = listed.places[run];
        if (place >= tile.plan.capacity)
            continue;
        if (place != last->place && last->place != ~0u)
            flush<RUN_LANES>(to, last->place, last->sums, group);
        if (place != last->place)
            *last = PlaceSums{ place, {} };
        const RunPixels pixels = pixels_of(tile, listed.entries[run], tile.n_listed & OF_STRIPS);
        add_row(&last->sums, picture, pixels.rows[0], pixels.x, pixels.y);
        add_row(&last->sums, picture, pixels.rows[1], pixels.x, pixels.y + 1);
    }
}

/* The lanes of a warp at the end of their runs. If all have the same component, then it is told once. */
__device__ static inline void flush_warp(const IntensityTarget &to, const PlaceSums &last)
{
    const uint32_t group = ((1u << RUN_LANES) - 1) << (threadIdx.x % 32 / RUN_LANES * RUN_LANES);
    const bool same = __all_sync(~0u, last.place == __shfl_sync(~0u, last.place, 0));
    if (last.place == ~0u)
        return;
    if (same)
        flush<32>(to, last.place, last.sums, ~0u);
    else
        flush<RUN_LANES>(to, last.place, last.sums, group);
}

/* ---------------------------------------------------------------- tile */

__device__ static inline void clear_slots(BlockIntensity *block)
{
    for (uint32_t i = threadIdx.x; i < sizeof *block / sizeof(uint32_t); i += COUNT_THREADS)
        ((uint32_t *)block)[i] = 0;
}

__device__ static inline void empty_slots(const IntensityTarget &to)
{
    const BlockIntensity *const block = to.block;
    for (uint32_t i = threadIdx.x; i < INTENSITY_SLOTS * (N_INTENSITY + 1); i += COUNT_THREADS) {
        const uint32_t slot = i / (N_INTENSITY + 1), field = i % (N_INTENSITY + 1), id = block->ids[slot];
        if (!id)
            continue;
        IntensitySums *const sums = &to.all[id - 1];
        if (field < N_INTENSITY) {
            add_field(sums, field, block->low[field][slot] | (uint64_t)block->high[field][slot] << 32);
        } else {
            atomicMax(&sums->not_min, block->not_min[slot]);
            atomicMax(&sums->max, block->max[slot]);
        }
    }
}

/* Called by the block of a slice of a tile's runs. */
__device__ static inline void sum_intensity(const CountTile &tile, const CudaPicture *picture, IntensitySums *sums,
                                            uint32_t slice, uint32_t n_slices)
{
    __shared__ ListedRuns listed;
    __shared__ BlockIntensity block;
    const IntensityTarget to = { &block, sums, min(tile.plan.slots, INTENSITY_SLOTS) };
    const uint32_t n_runs = tile.n_listed & ~OF_STRIPS;
    const uint32_t end = n_runs * (slice + 1) / n_slices;
    const CudaPicture samples = *picture;
    PlaceSums last = { ~0u, {} };
    clear_slots(&block); /* there are barriers in list_runs() */
    for (uint32_t first = n_runs * slice / n_slices; first < end; first += COUNT_THREADS) {
        const uint32_t n = min(end - first, COUNT_THREADS);
        list_runs(&listed, tile, first, n);
        add_listed(&last, listed, tile, samples, to, n);
    }
    flush_warp(to, last);
    __syncthreads();
    empty_slots(to);
}

#endif
