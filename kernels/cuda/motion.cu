// SPDX-FileCopyrightText: gst-ccl contributors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The motion detector on CUDA; the arithmetic of a pixel is motion_model.h's.
//
//   shrink    with a working size: averages of boxes
//   model     picture to foreground bits, model updated; a block first does the pixels whose first mode fits, then together
//             the few others, which cost ten times as much each
//   unshadow  takes shadows out of the bits: a warp for each word that has any, by columns of the square that lanes share
//   filter    a tile of bits with its surroundings in shared memory: median, [confirm,] open, close, dilate, bytes
//
// Bits are words of 32, bit 0 leftmost; rows of 2 * motion->words.

#include "../motion_backend.h"
#include "backend.cuh"
#include "warp.cuh"

#include <stdlib.h>
#include <string.h>

#define BLOCK_THREADS 256
#define THREAD_PIXELS 8
#define BLOCK_PIXELS (BLOCK_THREADS * THREAD_PIXELS)
#define STORED_WORDS 16 /* of a row of a tile, what is around it included */
#define TILE_ROWS 16

typedef struct Counters {
    uint32_t raw, kept;
    uint32_t n_words; /* in the list that unshadow works on */
} Counters;

/* The part of CpuMotion that is here in device memory. */
typedef struct CudaMotion {
    cudaStream_t stream;
    cudaEvent_t produced;
    cudaEvent_t begin, end; /* with timing */
    uint16_t *mean, *variance, *weight;
    MotionRest *rest;
    uint8_t *last;
    uint32_t *bits, *kept, *ignored, *confirm; /* kept: between two filters; confirm: five planes */
    uint32_t *list;  /* words of bits that are not 0, in any order */
    uint8_t *luma;   /* uploaded pictures */
    size_t luma_pitch;
    uint8_t *shrunk; /* rows of words * 64 */
    uint8_t *mask;   /* for masks in host memory */
    size_t mask_pitch;
    Counters *counters; /* two, used in turn: each frame clears the next one's */
    Counters *h_counters;
    unsigned turn;
    unsigned unshadow_blocks; /* that fill the device once */
    void *blocks[16];
    unsigned n_blocks;
} CudaMotion;

/* What the kernels know of a frame. */
typedef struct Picture {
    const uint8_t *luma;
    size_t stride;
    uint32_t width, height, words; /* words of 32 */
    MotionRates rates;
} Picture;

typedef struct Model {
    uint16_t *mean, *variance, *weight;
    MotionRest *rest;
    uint8_t *last;
    uint32_t *bits;
    const uint32_t *ignored;
    uint32_t *list; /* of words that are not 0 */
} Model;

static CudaMotion *impl(const CclMotion *motion)
{
    return (CudaMotion *)motion->impl;
}

/* ---------------------------------------------------------------- shrink */

__global__ static void shrink(const uint8_t *luma, size_t stride, uint32_t full_width, uint32_t full_height, uint8_t *shrunk,
                              uint32_t pitch, uint32_t width, uint32_t height)
{
    const uint32_t x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= width)
        return;
    const uint32_t x0 = motion_box(x, width, full_width), x1 = motion_box(x + 1, width, full_width);
    const uint32_t y0 = motion_box(y, height, full_height), y1 = motion_box(y + 1, height, full_height);
    const uint32_t area = (x1 - x0) * (y1 - y0);
    uint32_t sum = area / 2;
    for (uint32_t j = y0; j < y1; j++)
        for (uint32_t i = x0; i < x1; i++)
            sum += luma[j * stride + i];
    shrunk[(size_t)y * pitch + x] = (uint8_t)(sum / area);
}

/* ---------------------------------------------------------------- model */

/* 8 pixels of 16 bits. */
typedef union Pixels {
    uint4 words;
    uint16_t of[THREAD_PIXELS];
} Pixels;

__device__ static uint64_t load_luma(const Picture &picture, uint32_t x, uint32_t y)
{
    const uint8_t *const at = picture.luma + y * picture.stride + x;
    uint64_t pixels = 0;
    if (x + THREAD_PIXELS <= picture.width && ((uintptr_t)at & 7) == 0)
        return *(const uint64_t *)at;
    for (uint32_t i = 0; i < THREAD_PIXELS && x + i < picture.width; i++)
        pixels |= (uint64_t)at[i] << 8 * i;
    return pixels;
}

/* The first modes of a thread's pixels; bit i: pixel i does not fit. */
__device__ static uint32_t first_modes(const Model &model, size_t at, uint64_t luma, const MotionRates &rates,
                                       uint32_t dither)
{
    Pixels mean, variance, weight;
    uint32_t misses = 0;
    mean.words = *(const uint4 *)(model.mean + at);
    variance.words = *(const uint4 *)(model.variance + at);
    weight.words = *(const uint4 *)(model.weight + at);
#pragma unroll
    for (uint32_t i = 0; i < THREAD_PIXELS; i++) {
        const uint32_t x = (uint32_t)(luma >> 8 * i & 255) << 8, m = mean.of[i], v = variance.of[i], w = weight.of[i];
        const uint32_t d = (dither + i * MOTION_DITHER_X) & 65535, distance = motion_distance(x, m);
        const bool fits = motion_fits(distance, v, &rates);
        if (fits) {
            mean.of[i] = (uint16_t)motion_towards(m, x, motion_step(distance, rates.rate, d));
            variance.of[i] = (uint16_t)motion_variance(v, distance, rates.rate, d);
            weight.of[i] = (uint16_t)(w + motion_step(MOTION_ONE - w, rates.rate, d));
        }
        misses |= (fits ? 0u : 1u) << i;
    }
    *(uint4 *)(model.mean + at) = mean.words;
    *(uint4 *)(model.variance + at) = variance.words;
    *(uint4 *)(model.weight + at) = weight.words;
    return misses;
}

__device__ static uint32_t running_mean(const Model &model, size_t at, uint64_t luma, const MotionRates &rates,
                                        uint32_t dither)
{
    Pixels mean;
    uint32_t far_bits = 0;
    mean.words = *(const uint4 *)(model.mean + at);
#pragma unroll
    for (uint32_t i = 0; i < THREAD_PIXELS; i++) {
        const uint32_t x = (uint32_t)(luma >> 8 * i & 255) << 8, m = mean.of[i], distance = motion_distance(x, m);
        const bool is_far = distance > rates.threshold << 8;
        const uint32_t step = motion_step(distance, rates.rate, (dither + i * MOTION_DITHER_X) & 65535);
        mean.of[i] = (uint16_t)motion_towards(m, x, is_far && rates.freeze ? 0 : step);
        far_bits |= (is_far ? 1u : 0u) << i;
    }
    *(uint4 *)(model.mean + at) = mean.words;
    return far_bits;
}

__device__ static uint32_t difference(const Model &model, size_t at, uint64_t luma, const MotionRates &rates)
{
    const uint64_t last = *(const uint64_t *)(model.last + at);
    uint32_t far_bits = 0;
    *(uint64_t *)(model.last + at) = luma;
#pragma unroll
    for (uint32_t i = 0; i < THREAD_PIXELS; i++)
        far_bits |= (motion_distance((uint32_t)(luma >> 8 * i & 255), (uint32_t)(last >> 8 * i & 255)) > rates.threshold
                         ? 1u : 0u) << i;
    return far_bits;
}

template <int METHOD>
__device__ static void seed(const Model &model, size_t at, uint64_t luma)
{
    if (METHOD == CCL_MOTION_DIFF) {
        *(uint64_t *)(model.last + at) = luma;
        return;
    }
    const MotionRest none = {};
    for (uint32_t i = 0; i < THREAD_PIXELS; i++) {
        model.mean[at + i] = (uint16_t)((luma >> 8 * i & 255) << 8);
        if (METHOD == CCL_MOTION_MOG2) {
            model.variance[at + i] = MOTION_VARIANCE_NEW;
            model.weight[at + i] = MOTION_ONE;
            model.rest[at + i] = none;
        }
    }
}

/* Pixels in the order of the model, whose rows are whole words of 64: a thread's never cross a row's end. */
template <int METHOD, bool SEED>
__global__ static void __launch_bounds__(BLOCK_THREADS) update(const __grid_constant__ Picture picture,
                                                               const __grid_constant__ Model model, Counters *counters)
{
    __shared__ uint32_t bits[BLOCK_PIXELS / 32];
    __shared__ uint32_t n_misses;
    __shared__ uint16_t misses[METHOD == CCL_MOTION_MOG2 ? BLOCK_PIXELS : 1];
    const uint32_t pitch = picture.words * 32, t = threadIdx.x;
    const size_t first = (size_t)blockIdx.x * BLOCK_PIXELS, at = first + t * THREAD_PIXELS;
    const uint32_t y = (uint32_t)(at / pitch), x = (uint32_t)(at - (size_t)y * pitch);
    const bool inside = y < picture.height;
    uint32_t foreground = 0;

    if (!t)
        n_misses = 0;
    if (METHOD == CCL_MOTION_MOG2)
        __syncthreads();
    if (inside) {
        const uint64_t luma = load_luma(picture, x, y);
        const uint32_t dither = motion_dither_row(&picture.rates, y) + x * MOTION_DITHER_X;
        if (SEED)
            seed<METHOD>(model, at, luma);
        else if (METHOD == CCL_MOTION_MOG2) {
            const uint32_t missed = first_modes(model, at, luma, picture.rates, dither);
            uint32_t slot = missed ? atomicAdd(&n_misses, __popc(missed)) : 0;
            for (uint32_t left = missed; left; left &= left - 1)
                misses[slot++] = (uint16_t)(t * THREAD_PIXELS + __ffs(left) - 1);
        } else if (METHOD == CCL_MOTION_EMA)
            foreground = running_mean(model, at, luma, picture.rates, dither);
        else
            foreground = difference(model, at, luma, picture.rates);
    }
    ((uint8_t *)bits)[t] = (uint8_t)foreground;
    __syncthreads();

    if (METHOD == CCL_MOTION_MOG2 && !SEED) {
        for (uint32_t i = t; i < n_misses; i += BLOCK_THREADS) {
            const size_t pixel = first + misses[i];
            const uint32_t py = (uint32_t)(pixel / pitch), px = (uint32_t)(pixel - (size_t)py * pitch);
            const uint32_t value = px < picture.width ? picture.luma[py * picture.stride + px] : 0;
            const uint32_t dither = (motion_dither_row(&picture.rates, py) + px * MOTION_DITHER_X) & 65535;
            if (motion_rest(value << 8, model.mean + pixel, model.variance + pixel, model.weight + pixel,
                            model.rest + pixel, &picture.rates, dither))
                atomicOr(&bits[misses[i] / 32], 1u << misses[i] % 32);
        }
        __syncthreads();
    }

    uint32_t n = 0;
    const size_t word = first / 32 + t;
    if (t < BLOCK_PIXELS / 32 && word < (size_t)picture.words * picture.height) {
        const uint32_t left = picture.width - min(picture.width, (uint32_t)(word % picture.words) * 32);
        const uint32_t valid = left >= 32 ? ~0u : (1u << left) - 1;
        const uint32_t set = bits[t] & valid & ~model.ignored[word];
        model.bits[word] = set;
        n = __popc(set);
    }
    if (t < BLOCK_PIXELS / 32) {
        const uint32_t lane = t % 32, filled = __ballot_sync(~0u, n != 0), sum = warp_sum(n);
        uint32_t slot = 0;
        if (lane == 0 && sum) {
            atomicAdd(&counters->raw, sum);
            slot = atomicAdd(&counters->n_words, __popc(filled));
        }
        slot = __shfl_sync(~0u, slot, 0);
        if (n)
            model.list[slot + __popc(filled & ((1u << lane) - 1))] = (uint32_t)word;
    }
}

/* ---------------------------------------------------------------- unshadow */

/* Sums over the five rows around row y of column x; what is outside counts nothing. */
__device__ static MotionShadow column_sums(const Picture &picture, const uint16_t *mean, int x, int y)
{
    const size_t pitch = picture.words * 32;
    MotionShadow sums = { 0, 0, 0 };
#pragma unroll
    for (int j = -MOTION_SHADOW_RADIUS; j <= MOTION_SHADOW_RADIUS; j++) {
        const int row = y + j;
        const bool inside = row >= 0 && row < (int)picture.height && x >= 0 && x < (int)picture.width;
        const uint32_t g = inside ? picture.luma[row * picture.stride + x] : 0;
        const uint32_t b = inside ? mean[row * pitch + x] >> 8 : 0;
        motion_shadow_add(&sums, g, b);
    }
    return sums;
}

/* The sum of five lanes from this one on; the lanes of `more` come after the last of `here`. */
__device__ static uint32_t five(uint32_t here, uint32_t more, uint32_t lane)
{
    uint32_t sum = 0;
#pragma unroll
    for (uint32_t i = 0; i <= 2 * MOTION_SHADOW_RADIUS; i++) {
        const uint32_t a = __shfl_sync(~0u, here, (lane + i) % 32), b = __shfl_sync(~0u, more, (lane + i) % 32);
        sum += lane + i < 32 ? a : b;
    }
    return sum;
}

__global__ static void __launch_bounds__(BLOCK_THREADS) unshadow(const __grid_constant__ Picture picture,
                                                                 const __grid_constant__ Model model, const Counters *counters,
                                                                 uint64_t most)
{
    const uint32_t lane = threadIdx.x % 32, n_warps = gridDim.x * BLOCK_THREADS / 32;
    const uint32_t n = counters->raw > most ? 0 : counters->n_words;

    for (uint32_t i = (blockIdx.x * BLOCK_THREADS + threadIdx.x) / 32; i < n; i += n_warps) {
        const uint32_t word = model.list[i], bits = model.bits[word];
        const int y = (int)(word / picture.words), x0 = (int)(word % picture.words) * 32, x = x0 + (int)lane;
        const MotionShadow here = column_sums(picture, model.mean, x - MOTION_SHADOW_RADIUS, y);
        MotionShadow more = { 0, 0, 0 };
        if (lane < 2 * MOTION_SHADOW_RADIUS)
            more = column_sums(picture, model.mean, x + 32 - MOTION_SHADOW_RADIUS, y);
        const MotionShadow sums = { five(here.bb, more.bb, lane), five(here.gb, more.gb, lane), five(here.gg, more.gg, lane) };
        const bool darker = bits >> lane & 1 && picture.luma[y * picture.stride + x] <
                                                    model.mean[(size_t)y * picture.words * 32 + x] >> 8;
        const uint32_t shadows = __ballot_sync(~0u, darker && motion_is_shadow(&sums));
        if (!lane && shadows & bits)
            model.bits[word] = bits & ~shadows;
    }
}

/* ---------------------------------------------------------------- filter */

typedef enum FilterKind { FILTER_MEDIAN, FILTER_DILATE, FILTER_ERODE } FilterKind;

typedef struct FilterStep {
    uint32_t kind, radius;
} FilterStep;

typedef struct Filter {
    FilterStep steps[5];
    uint32_t n_steps;
    uint32_t halo_rows, halo_words; /* that the steps reach */
    uint32_t tile_words;
    const uint32_t *from;
    uint32_t *to;               /* bits; NULL: the mask is painted */
    uint32_t *confirm;          /* five planes */
    uint32_t confirm_frames;    /* 0 or 1: not here */
    const uint32_t *ignored;
    uint8_t *mask;
    size_t mask_stride;
    uint64_t most;              /* raw foreground above this: the mask is empty */
    bool silent;
} Filter;

/* Bit x is bit x + n, 0 < |n| < 32, of the row left, here, right. */
__device__ static uint32_t from_right(uint32_t here, uint32_t right, uint32_t n)
{
    return __funnelshift_r(here, right, n);
}

__device__ static uint32_t from_left(uint32_t left, uint32_t here, uint32_t n)
{
    return __funnelshift_l(left, here, n);
}

__device__ static void add3(uint32_t a, uint32_t b, uint32_t c, uint32_t *sum, uint32_t *carry)
{
    *sum = a ^ b ^ c;
    *carry = (a & b) | (c & (a ^ b));
}

/* Rows of a tile and what is around it, in shared memory. What is outside the picture has the value the next step wants
 * there; a word at either end of a row has a neighbour of no meaning, which costs as many pixels of the surroundings as the
 * step reaches. */

/* How many of the n = 3 or 5 pixels around are set: bit planes for 1, 2 and 4. */
__device__ static void count_across(const uint32_t *at, uint32_t radius, uint32_t *one, uint32_t *two, uint32_t *four)
{
    const uint32_t l = at[-1], h = at[0], r = at[1];
    uint32_t s, c, s2, c2 = 0;
    add3(from_left(l, h, 1), h, from_right(h, r, 1), &s, &c);
    if (radius == 2)
        add3(s, from_left(l, h, 2), from_right(h, r, 2), &s2, &c2);
    else
        s2 = s;
    *one = s2, *two = c ^ c2, *four = c & c2;
}

/* Whether more than half of n rows of such counts. */
__device__ static uint32_t most_of(const uint32_t *one, const uint32_t *two, const uint32_t *four, int radius)
{
    uint32_t sum[5] = { 0, 0, 0, 0, 0 };
    for (int j = -radius; j <= radius; j++) {
        const int at = j * STORED_WORDS;
        const uint32_t carry = sum[0] & one[at];
        uint32_t carry2, carry3;
        sum[0] ^= one[at];
        add3(sum[1], two[at], carry, &sum[1], &carry2);
        add3(sum[2], four[at], carry2, &sum[2], &carry3);
        sum[4] ^= sum[3] & carry3, sum[3] ^= carry3;
    }
    return radius == 2 ? sum[4] | (sum[3] & sum[2] & (sum[1] | sum[0])) : sum[3] | (sum[2] & (sum[1] | sum[0]));
}

__device__ static uint32_t grown_across(const uint32_t *at, uint32_t radius, uint32_t flip)
{
    const uint32_t l = at[-1] ^ flip, h = at[0] ^ flip, r = at[1] ^ flip;
    uint32_t grown = h;
    for (uint32_t n = 1; n <= radius; n++)
        grown |= from_left(l, h, n) | from_right(h, r, n);
    return grown ^ flip;
}

__device__ static uint32_t grown_along(const uint32_t *at, int radius, uint32_t flip)
{
    uint32_t grown = 0;
    for (int j = -radius; j <= radius; j++)
        grown |= at[j * STORED_WORDS] ^ flip;
    return grown ^ flip;
}

/* The foreground of a word that has been so for `frames` frames; counts go on. */
__device__ static uint32_t confirmed(uint32_t set, uint32_t *counts, size_t plane, uint32_t frames)
{
    uint32_t full = set, less = 0, count[5];
    for (int p = 0; p < 5; p++)
        full &= count[p] = counts[p * plane];
    uint32_t carry = set & ~full;
    for (int p = 0; p < 5; p++) {
        const uint32_t old = count[p] & set;
        counts[p * plane] = count[p] = old ^ carry;
        carry &= old;
    }
    for (int p = 0; p < 5; p++)
        less = frames >> p & 1 ? ~count[p] | less : ~count[p] & less;
    return set & ~less;
}

/* Which bits of a word are pixels of the picture. */
__device__ static uint32_t in_picture(const Picture &picture, int y, int word)
{
    if (y < 0 || y >= (int)picture.height || word < 0 || word >= (int)picture.words)
        return 0;
    const uint32_t left = picture.width - min(picture.width, (uint32_t)word * 32);
    return left >= 32 ? ~0u : (1u << left) - 1;
}

__device__ static uint32_t outside_for(const Filter &filter, uint32_t step)
{
    return step < filter.n_steps && filter.steps[step].kind == FILTER_ERODE ? ~0u : 0;
}

/* The tile's pixels, four at a time. */
__device__ static void paint(const Picture &picture, const Filter &filter, const uint32_t *tile, int y0, int word0)
{
    const bool aligned = (((uintptr_t)filter.mask | filter.mask_stride) & 3) == 0;
    for (uint32_t i = threadIdx.x; i < TILE_ROWS * STORED_WORDS * 8; i += BLOCK_THREADS) {
        const uint32_t row = i / (STORED_WORDS * 8), quad = i % (STORED_WORDS * 8);
        const uint32_t y = (uint32_t)y0 + row, x = (uint32_t)word0 * 32 + quad * 4;
        if (y >= picture.height || x >= picture.width || quad / 8 >= filter.tile_words)
            continue;
        const uint32_t four = tile[(row + filter.halo_rows) * STORED_WORDS + quad / 8 + filter.halo_words] >> quad % 8 * 4;
        uint8_t *const to = filter.mask + y * filter.mask_stride + x;
        const uint32_t bytes = ((four & 1) | (four & 2) << 7 | (four & 4) << 14 | (four & 8) << 21) * 255;
        if (aligned && x + 4 <= picture.width)
            *(uint32_t *)to = bytes;
        else
            for (uint32_t j = 0; j < 4 && x + j < picture.width; j++)
                to[j] = (uint8_t)(bytes >> 8 * j);
    }
}

/* Rows [margin, rows - margin) of the tile are good before the step, `radius` fewer on either side after it. */
__global__ static void __launch_bounds__(BLOCK_THREADS) filter_tiles(const __grid_constant__ Picture picture,
                                                                     const __grid_constant__ Filter filter, Counters *counters,
                                                                     Counters *next)
{
    extern __shared__ uint32_t shared[];
    const int rows = TILE_ROWS + 2 * (int)filter.halo_rows, n_words = rows * STORED_WORDS;
    const int y0 = (int)blockIdx.y * TILE_ROWS, word0 = (int)(blockIdx.x * filter.tile_words);
    const int y_first = y0 - (int)filter.halo_rows, word_first = word0 - (int)filter.halo_words;
    const size_t plane = (size_t)picture.words * picture.height;
    const bool empty = filter.silent || counters->raw > filter.most;
    const bool whole = y_first >= 0 && y_first + rows <= (int)picture.height && word_first >= 0 &&
                       (word_first + STORED_WORDS) * 32 <= (int)picture.width;
    uint32_t *const tile = shared + 1, *const other = tile + n_words + 2; /* a word of no meaning before and after each */
    uint32_t *const twos = other + n_words, *const fours = twos + n_words;
    uint32_t outside = outside_for(filter, 0);

    for (int i = (int)threadIdx.x; i < n_words; i += BLOCK_THREADS) {
        const int y = y_first + i / STORED_WORDS, word = word_first + i % STORED_WORDS;
        const uint32_t inside = empty ? 0 : whole ? ~0u : in_picture(picture, y, word);
        tile[i] = inside ? (filter.from[(size_t)y * picture.words + word] & inside) | (outside & ~inside) : outside;
    }
    __syncthreads();

    int margin = 0;
    for (uint32_t s = 0; s < filter.n_steps && !empty; s++) {
        const FilterStep step = filter.steps[s];
        const uint32_t flip = step.kind == FILTER_ERODE ? ~0u : 0;
        outside = outside_for(filter, s + 1);
        for (int i = margin * STORED_WORDS + (int)threadIdx.x; i < n_words - margin * STORED_WORDS; i += BLOCK_THREADS) {
            if (step.kind == FILTER_MEDIAN)
                count_across(tile + i, step.radius, other + i, twos + i, fours + i);
            else
                other[i] = grown_across(tile + i, step.radius, flip);
        }
        __syncthreads();
        margin += (int)step.radius;
        for (int i = margin * STORED_WORDS + (int)threadIdx.x; i < n_words - margin * STORED_WORDS; i += BLOCK_THREADS) {
            const uint32_t bits = step.kind == FILTER_MEDIAN ? most_of(other + i, twos + i, fours + i, (int)step.radius)
                                                             : grown_along(other + i, (int)step.radius, flip);
            const uint32_t inside =
                whole ? ~0u : in_picture(picture, y_first + i / STORED_WORDS, word_first + i % STORED_WORDS);
            tile[i] = (bits & inside) | (outside & ~inside);
        }
        __syncthreads();
    }

    uint32_t n = 0;
    for (int i = (int)threadIdx.x; i < TILE_ROWS * STORED_WORDS; i += BLOCK_THREADS) {
        const int row = i / STORED_WORDS, word = i % STORED_WORDS;
        if (word >= (int)filter.tile_words || !in_picture(picture, y0 + row, word0 + word))
            continue;
        const size_t at = (size_t)(y0 + row) * picture.words + word0 + word;
        uint32_t *const here = &tile[(row + (int)filter.halo_rows) * STORED_WORDS + word + (int)filter.halo_words];
        uint32_t set = empty ? 0 : *here;
        if (filter.confirm && empty)
            for (int p = 0; p < 5; p++)
                filter.confirm[p * plane + at] = 0;
        else if (filter.confirm && filter.confirm_frames > 1)
            set = confirmed(set, filter.confirm + at, plane, filter.confirm_frames);
        if (filter.to) {
            filter.to[at] = set;
            continue;
        }
        *here = set &= ~filter.ignored[at];
        n += __popc(set);
    }
    if (filter.to)
        return;
    n = warp_sum(n);
    if (threadIdx.x % 32 == 0 && n)
        atomicAdd(&counters->kept, n);
    if (!threadIdx.x && !blockIdx.x && !blockIdx.y)
        next->raw = next->kept = next->n_words = 0;
    __syncthreads();
    if (filter.mask)
        paint(picture, filter, tile, y0, word0);
}

/* ---------------------------------------------------------------- memory */

static CclStatus take(CclMotion *motion, void *memory, size_t size)
{
    CudaMotion *const cuda = impl(motion);
    void *block = NULL;
    const cudaError_t error = cudaMalloc(&block, size);
    if (error == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "no %zu bytes of device memory left (the detector holds %zu already)", size,
                        motion->device_bytes);
    }
    CCL_CUDA_TRY(error);
    cuda->blocks[cuda->n_blocks++] = block;
    motion->device_bytes += size;
    memcpy(memory, &block, sizeof block);
    CCL_CUDA_TRY(cudaMemsetAsync(block, 0, size, cuda->stream));
    return CCL_OK;
}

static CclStatus take_model(CclMotion *motion, CudaMotion *cuda)
{
    const size_t n = (size_t)motion->words * 64 * motion->height;
    if (motion->config.method == CCL_MOTION_DIFF)
        return take(motion, &cuda->last, n);
    CCL_TRY(take(motion, &cuda->mean, n * sizeof *cuda->mean));
    if (motion->config.method == CCL_MOTION_EMA)
        return CCL_OK;
    CCL_TRY(take(motion, &cuda->variance, n * sizeof *cuda->variance));
    CCL_TRY(take(motion, &cuda->weight, n * sizeof *cuda->weight));
    return take(motion, &cuda->rest, n * sizeof *cuda->rest);
}

static CclStatus cuda_open(CclMotion *motion)
{
    const CclMotionConfig *const config = &motion->config;
    const size_t n_words = (size_t)motion->words * motion->height;

    CCL_TRY(cuda_check_device(config->device));
    CCL_TRY(cuda_use_device(config->device));
    CudaMotion *const cuda = (CudaMotion *)calloc(1, sizeof *cuda);
    if (!cuda)
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "out of memory");
    motion->impl = cuda;
    cudaFuncAttributes attributes;
    CCL_CUDA_TRY(cudaFuncGetAttributes(&attributes, unshadow)); /* is there code for this device at all? */
    int device = 0, multiprocessors = 0;
    CCL_CUDA_TRY(cudaGetDevice(&device));
    CCL_CUDA_TRY(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    cuda->unshadow_blocks = (unsigned)multiprocessors * (2048 / BLOCK_THREADS);
    CCL_CUDA_TRY(cudaStreamCreateWithFlags(&cuda->stream, cudaStreamNonBlocking));
    CCL_CUDA_TRY(cudaEventCreateWithFlags(&cuda->produced, cudaEventDisableTiming));
    CCL_CUDA_TRY(cudaHostAlloc((void **)&cuda->h_counters, sizeof *cuda->h_counters, cudaHostAllocPortable));
    if (config->timing) {
        CCL_CUDA_TRY(cudaEventCreate(&cuda->begin));
        CCL_CUDA_TRY(cudaEventCreate(&cuda->end));
    }

    CCL_TRY(take_model(motion, cuda));
    CCL_TRY(take(motion, &cuda->bits, n_words * 8));
    CCL_TRY(take(motion, &cuda->kept, n_words * 8));
    CCL_TRY(take(motion, &cuda->list, n_words * 8));
    CCL_TRY(take(motion, &cuda->ignored, n_words * 8));
    CCL_TRY(take(motion, &cuda->confirm, 5 * n_words * 8));
    cuda->luma_pitch = (config->width + 127u) / 128 * 128;
    CCL_TRY(take(motion, &cuda->luma, cuda->luma_pitch * config->height));
    cuda->mask_pitch = (size_t)motion->words * 64;
    CCL_TRY(take(motion, &cuda->mask, cuda->mask_pitch * motion->height));
    CCL_TRY(take(motion, &cuda->counters, 2 * sizeof *cuda->counters));
    if (motion->width != config->width || motion->height != config->height)
        CCL_TRY(take(motion, &cuda->shrunk, n_words * 64));
    CCL_CUDA_TRY(cudaStreamSynchronize(cuda->stream));
    return CCL_OK;
}

static void cuda_close(CclMotion *motion)
{
    CudaMotion *const cuda = impl(motion);
    if (!cuda)
        return;
    if (motion->config.device >= 0)
        cudaSetDevice(motion->config.device);
    if (cuda->stream)
        cudaStreamSynchronize(cuda->stream);
    for (unsigned i = 0; i < cuda->n_blocks; i++)
        cudaFree(cuda->blocks[i]);
    if (cuda->h_counters)
        cudaFreeHost(cuda->h_counters);
    cudaEvent_t events[] = { cuda->produced, cuda->begin, cuda->end };
    for (cudaEvent_t event : events)
        if (event)
            cudaEventDestroy(event);
    if (cuda->stream)
        cudaStreamDestroy(cuda->stream);
    (void)cudaGetLastError();
    free(cuda);
}

static CclStatus cuda_set_ignored(CclMotion *motion, const uint64_t *ignored)
{
    CCL_TRY(cuda_use_device(motion->config.device));
    CCL_CUDA_TRY(cudaMemcpyAsync(impl(motion)->ignored, ignored, (size_t)motion->words * motion->height * 8,
                                 cudaMemcpyHostToDevice, impl(motion)->stream));
    CCL_CUDA_TRY(cudaStreamSynchronize(impl(motion)->stream));
    return CCL_OK;
}

/* ---------------------------------------------------------------- a picture */

#define LAUNCH(kernel, grid, shared, ...)                                          \
    do {                                                                           \
        kernel<<<(grid), BLOCK_THREADS, (shared), cuda->stream>>>(__VA_ARGS__);    \
        CCL_CUDA_TRY(cudaGetLastError());                                          \
    } while (0)

/* The picture where the kernels can read it, at the working size. */
static CclStatus bring_picture(CclMotion *motion, const CclMask *luma, Picture *picture)
{
    CudaMotion *const cuda = impl(motion);
    picture->luma = (const uint8_t *)luma->data;
    picture->stride = luma->stride;
    if (luma->memory == CCL_MEMORY_DEVICE && luma->producer_stream) {
        CCL_CUDA_TRY(cudaEventRecord(cuda->produced, (cudaStream_t)luma->producer_stream));
        CCL_CUDA_TRY(cudaStreamWaitEvent(cuda->stream, cuda->produced, 0));
    }
    if (luma->memory != CCL_MEMORY_DEVICE) {
        CCL_CUDA_TRY(cudaMemcpy2DAsync(cuda->luma, cuda->luma_pitch, luma->data, luma->stride, luma->width, luma->height,
                                       cudaMemcpyHostToDevice, cuda->stream));
        picture->luma = cuda->luma;
        picture->stride = cuda->luma_pitch;
    }
    if (cuda->begin)
        CCL_CUDA_TRY(cudaEventRecord(cuda->begin, cuda->stream));
    if (!cuda->shrunk)
        return CCL_OK;
    const uint32_t pitch = motion->words * 64;
    LAUNCH(shrink, dim3(blocks_for(motion->width, BLOCK_THREADS), motion->height), 0, picture->luma, picture->stride,
           luma->width, luma->height, cuda->shrunk, pitch, motion->width, motion->height);
    picture->luma = cuda->shrunk;
    picture->stride = pitch;
    return CCL_OK;
}

static CclStatus run_model(const CclMotion *motion, const MotionFrame *frame, const Picture &picture, const Model &model,
                           Counters *counters)
{
    CudaMotion *const cuda = impl(motion);
    const unsigned grid = blocks_for((size_t)motion->words * 64 * motion->height, BLOCK_PIXELS);
    const int variant = (int)motion->config.method * 2 + (frame->seed ? 1 : 0);
    switch (variant) {
    case CCL_MOTION_DIFF * 2: LAUNCH((update<CCL_MOTION_DIFF, false>), grid, 0, picture, model, counters); break;
    case CCL_MOTION_DIFF * 2 + 1: LAUNCH((update<CCL_MOTION_DIFF, true>), grid, 0, picture, model, counters); break;
    case CCL_MOTION_EMA * 2: LAUNCH((update<CCL_MOTION_EMA, false>), grid, 0, picture, model, counters); break;
    case CCL_MOTION_EMA * 2 + 1: LAUNCH((update<CCL_MOTION_EMA, true>), grid, 0, picture, model, counters); break;
    case CCL_MOTION_MOG2 * 2: LAUNCH((update<CCL_MOTION_MOG2, false>), grid, 0, picture, model, counters); break;
    default: LAUNCH((update<CCL_MOTION_MOG2, true>), grid, 0, picture, model, counters); break;
    }
    return CCL_OK;
}

static void add_step(Filter *filter, FilterKind kind, uint32_t radius)
{
    if (!radius)
        return;
    filter->steps[filter->n_steps++] = { (uint32_t)kind, radius };
    filter->halo_rows += radius;
    filter->halo_words = (filter->halo_rows + 31) / 32;
}

static CclStatus run_filter(const CclMotion *motion, const Picture &picture, Filter filter, Counters *counters,
                            Counters *next)
{
    CudaMotion *const cuda = impl(motion);
    filter.tile_words = STORED_WORDS - 2 * filter.halo_words;
    const dim3 grid(blocks_for(picture.words, filter.tile_words), blocks_for(picture.height, TILE_ROWS));
    const size_t rows = TILE_ROWS + 2 * filter.halo_rows;
    LAUNCH(filter_tiles, grid, (4 * rows * STORED_WORDS + 4) * sizeof(uint32_t), picture, filter, counters, next);
    return CCL_OK;
}

/* Confirming changes counts, which a tile's surroundings must not do a second time: what comes before it is a run of its
 * own. */
static CclStatus run_filters(const CclMotion *motion, const MotionFrame *frame, const Picture &picture, Counters *counters,
                             Counters *next)
{
    CudaMotion *const cuda = impl(motion);
    const CclMotionParams *const params = &frame->params;
    Filter filter = {};
    filter.from = cuda->bits;
    filter.ignored = cuda->ignored;
    filter.confirm = cuda->confirm;
    filter.confirm_frames = params->confirm_frames;
    filter.most = frame->most;
    filter.silent = frame->silent;
    add_step(&filter, FILTER_MEDIAN, params->median);
    if (params->confirm_frames > 1) {
        filter.to = cuda->kept;
        CCL_TRY(run_filter(motion, picture, filter, counters, next));
        filter.from = cuda->kept;
        filter.to = NULL;
        filter.confirm = NULL;
        filter.n_steps = filter.halo_rows = filter.halo_words = 0;
    }
    add_step(&filter, FILTER_ERODE, params->open);
    add_step(&filter, FILTER_DILATE, params->open + params->close);
    add_step(&filter, FILTER_ERODE, params->close);
    add_step(&filter, FILTER_DILATE, params->dilate);
    if (frame->mask->data) {
        const bool direct = frame->mask->memory == CCL_MEMORY_DEVICE;
        filter.mask = direct ? frame->mask->data : cuda->mask;
        filter.mask_stride = direct ? frame->mask->stride : cuda->mask_pitch;
    }
    return run_filter(motion, picture, filter, counters, next);
}

static CclStatus cuda_apply(CclMotion *motion, MotionFrame *frame)
{
    CudaMotion *const cuda = impl(motion);
    Counters *const counters = cuda->counters + cuda->turn, *const next = cuda->counters + (cuda->turn ^ 1);
    Picture picture = { NULL, 0, motion->width, motion->height, motion->words * 2, frame->rates };
    const Model model = { cuda->mean, cuda->variance, cuda->weight, cuda->rest, cuda->last, cuda->bits, cuda->ignored,
                          cuda->list };

    CCL_TRY(cuda_use_device(motion->config.device));
    CCL_TRY(bring_picture(motion, frame->luma, &picture));
    CCL_TRY(run_model(motion, frame, picture, model, counters));
    if (frame->params.drop_shadow && !frame->silent) {
        const unsigned most = blocks_for((size_t)picture.words * picture.height * 32, BLOCK_THREADS);
        LAUNCH(unshadow, min(most, cuda->unshadow_blocks), 0, picture, model, counters, frame->most);
    }
    CCL_TRY(run_filters(motion, frame, picture, counters, next));
    if (cuda->end)
        CCL_CUDA_TRY(cudaEventRecord(cuda->end, cuda->stream));
    if (frame->mask->data && frame->mask->memory != CCL_MEMORY_DEVICE)
        CCL_CUDA_TRY(cudaMemcpy2DAsync(frame->mask->data, frame->mask->stride, cuda->mask, cuda->mask_pitch, motion->width,
                                       motion->height, cudaMemcpyDeviceToHost, cuda->stream));
    CCL_CUDA_TRY(cudaMemcpyAsync(cuda->h_counters, counters, sizeof *counters, cudaMemcpyDeviceToHost, cuda->stream));
    CCL_CUDA_TRY(cudaStreamSynchronize(cuda->stream));
    if (cuda->end)
        CCL_CUDA_TRY(cudaEventElapsedTime(&frame->kernel_us, cuda->begin, cuda->end));
    frame->kernel_us *= cuda->end ? 1000 : 1;
    cuda->turn ^= 1;
    frame->raw_foreground = cuda->h_counters->raw;
    frame->foreground = cuda->h_counters->kept;
    return CCL_OK;
}

const MotionBackend motion_cuda_backend = {
    cuda_open,
    cuda_close,
    cuda_set_ignored,
    cuda_apply,
};
