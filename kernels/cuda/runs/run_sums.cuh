/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Sums over the pixels of runs, in registers and in global memory. */
#ifndef CCL_CUDA_RUNS_RUN_SUMS_CUH
#define CCL_CUDA_RUNS_RUN_SUMS_CUH

#include "cuda/runs/plan.cuh"

#define FEW_OF_STRIP 3u /* runs of rows in a run of a strip that are added one by one */

/* Sums over pixels of a tile, with coordinates relative to its corner. The sum of x squared has two fields, because 32 bits do
 * not suffice for a tile. All zero is empty. */
enum { AREA, SX, SY, SXX_LOW, SXX_HIGH, SXY, SYY, N_SUMS, NOT_X0 = N_SUMS, X1, Y1, N_FIELDS };
typedef struct RunSums {
    uint32_t of[N_FIELDS];
} RunSums;

/* Sum of i squared for i < n. */
__device__ static inline uint32_t squares_below(uint32_t n)
{
    return (n - 1) * n * (2 * n - 1) / 6; /* 0 for 0: unsigned wraps twice */
}

/* Adds the run that begins at a column of a word, or two equal runs, one below the other. */
template <uint32_t ROWS>
__device__ static inline void add_run(RunSums *to, uint64_t bits, uint32_t at, uint32_t begin)
{
    const uint64_t rest = ~(bits >> begin);
    const uint32_t y = at / 32, left = at % 32 * 64, length = rest ? __ffsll(rest) - 1 : 64, end = begin + length;
    const uint32_t in_word = length * (begin + end - 1) / 2, x = in_word + left * length;
    const uint32_t xx = ROWS * (squares_below(end) - squares_below(begin) + left * (in_word + x));
    const uint32_t sum_y = ROWS == 1 ? y : 2 * y + 1, sum_yy = ROWS == 1 ? y * y : 2 * y * (y + 1) + 1;
    to->of[AREA] += ROWS * length;
    to->of[SX] += ROWS * x;
    to->of[SY] += sum_y * length;
    to->of[SXX_LOW] += xx & 0xffff;
    to->of[SXX_HIGH] += xx >> 16;
    to->of[SXY] += sum_y * x;
    to->of[SYY] += sum_yy * length;
    to->of[NOT_X0] = max(to->of[NOT_X0], ~(left + begin));
    to->of[X1] = max(to->of[X1], left + end);
    to->of[Y1] = y + ROWS;
}

/* Of the set bits: their number, the sum of their positions, and the sum of the squares of their positions. */
typedef struct BitSums {
    uint32_t n, x, xx;
} BitSums;

/* A position is a sum of powers of two. So this counts the bits whose position contains one power, or two powers. */
__device__ static inline BitSums bit_sums(uint32_t bits)
{
    constexpr uint32_t with[] = { 0xaaaaaaaa, 0xcccccccc, 0xf0f0f0f0, 0xff00ff00, 0xffff0000 };
    BitSums sums = { (uint32_t)__popc(bits), 0, 0 };
#pragma unroll
    for (uint32_t i = 0; i < 5; i++) {
        const uint32_t n = __popc(bits & with[i]);
        sums.x += n << i;
        sums.xx += n << 2 * i;
#pragma unroll
        for (uint32_t j = 0; j < i; j++)
            sums.xx += __popc(bits & with[i] & with[j]) << (i + j + 1);
    }
    return sums;
}

/* Not inlined, because measure has few registers. */
__device__ static __noinline__ BitSums bit_sums(uint64_t bits)
{
    const BitSums low = bit_sums((uint32_t)bits), high = bit_sums((uint32_t)(bits >> 32));
    return BitSums{ low.n + high.n, low.x + high.x + 32 * high.n, low.xx + high.xx + 64 * high.x + 1024 * high.n };
}

/* Adds the pixels of two rows of a word. */
__device__ static inline void add_pixels(RunSums *to, uint64_t upper, uint64_t lower, uint32_t at)
{
    const uint32_t y = at / 32, left = at % 32 * 64;
    const BitSums up = bit_sums(upper), low = bit_sums(lower);
    const uint32_t n = up.n + low.n, in_word = up.x + low.x, x = in_word + left * n;
    const uint32_t xx = up.xx + low.xx + left * (in_word + x);
    to->of[AREA] += n;
    to->of[SX] += x;
    to->of[SY] += y * n + low.n;
    to->of[SXX_LOW] += xx & 0xffff;
    to->of[SXX_HIGH] += xx >> 16;
    to->of[SXY] += y * x + low.x + left * low.n;
    to->of[SYY] += y * y * n + (2 * y + 1) * low.n;
}

/* Adds the run of a strip that begins in a column: `at` is the word of its upper row. */
__device__ static inline void add_run_of_strip(RunSums *to, const uint64_t *tile_bits, uint32_t at, uint32_t begin)
{
    const uint64_t span = span_of(tile_bits[at] | tile_bits[at + 32], begin);
    const uint64_t upper = tile_bits[at] & span, lower = tile_bits[at + 32] & span;
    const uint32_t left = at % 32 * 64, y1 = max(to->of[Y1], at / 32 + (lower ? 2 : 1));
    const uint64_t of_upper = starts_of(upper), of_lower = starts_of(lower);
    if (upper == lower && !(of_upper & (of_upper - 1))) {
        add_run<2>(to, upper, at, begin);
    } else if (__popcll(of_upper) + __popcll(of_lower) > FEW_OF_STRIP) {
        add_pixels(to, upper, lower, at);
        to->of[NOT_X0] = max(to->of[NOT_X0], ~(left + begin));
        to->of[X1] = max(to->of[X1], left + 64 - __clzll(span));
    } else {
        for (uint64_t starts = of_upper; starts; starts &= starts - 1)
            add_run<1>(to, upper, at, __ffsll(starts) - 1);
        for (uint64_t starts = of_lower; starts; starts &= starts - 1)
            add_run<1>(to, lower, at + 32, __ffsll(starts) - 1);
    }
    to->of[Y1] = y1;
}

/* (x, y): the origin of the sums. */
__device__ static inline void add_global(Extent *to, const RunSums &sums, uint32_t x, uint32_t y)
{
    atomicAdd(&to->area, sums.of[AREA]);
    atomicMax(&to->not_x0, sums.of[NOT_X0] - x);
    atomicMax(&to->x1, x + sums.of[X1]);
    atomicMax(&to->y1, y + sums.of[Y1]);
}

/* One of the first three quarters of Sums; xy: the sum of xy. */
__device__ static inline ulonglong2 moments_of(const RunSums &sums, uint64_t xy, uint32_t quarter, uint32_t x,
                                                   uint32_t y)
{
    const uint64_t n = sums.of[AREA], sx = sums.of[SX], sy = sums.of[SY], m10 = sx + x * n;
    const uint64_t xx = sums.of[SXX_LOW] + ((uint64_t)sums.of[SXX_HIGH] << 16);
    const uint64_t m01 = sy + y * n, m20 = xx + x * sx + x * m10;
    const uint64_t m11 = xy + x * sy + y * m10, m02 = sums.of[SYY] + 2 * y * sy + y * (y * n);
    return make_ulonglong2(quarter == 0 ? n : quarter == 1 ? m01 : m11, quarter == 0 ? m10 : quarter == 1 ? m20 : m02);
}

__device__ static inline void add_quarter(Sums *to, const RunSums &sums, uint64_t xy, uint32_t quarter, uint32_t x,
                                          uint32_t y)
{
    if (quarter == 3) {
        atomicMax(&to->not_x0, sums.of[NOT_X0] - x);
        atomicMax(&to->x1, x + sums.of[X1]);
        atomicMax(&to->y1, y + sums.of[Y1]);
    } else {
        const ulonglong2 moments = moments_of(sums, xy, quarter, x, y);
        atomicAdd(&to->area + 2 * quarter, moments.x);
        atomicAdd(&to->area + 2 * quarter + 1, moments.y);
    }
}

__device__ static inline void add_global(Sums *to, const RunSums &sums, uint32_t x, uint32_t y)
{
#pragma unroll
    for (uint32_t quarter = 0; quarter < 4; quarter++)
        add_quarter(to, sums, sums.of[SXY], quarter, x, y);
}

#endif
