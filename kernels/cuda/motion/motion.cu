// SPDX-FileCopyrightText: gst-ccl contributors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The motion detector on CUDA; the arithmetic of a pixel is motion_model.h's.
//
//   shrink    with a working size: averages of boxes
//   update    picture to foreground bits, model updated; a block first does the pixels whose first mode fits, then all
//             its threads the few others, which cost ten times as much each
//   unshadow  takes shadows out of the bits: a warp for each word that may have any, by columns of the square that
//             lanes share
//   filter    a tile of bits with its surroundings in shared memory: median, [confirm,] open, close, dilate, bytes; the
//             last block tells the host
//
// Each starts while the one before it ends. For 1920x1080 they take longer to start, to wait for memory and to end than
// to compute: what counts is how many steps come one after the other.
//
// With several pictures in flight, update of the next runs beside filter of this one: nothing that it reads or writes is
// filter's, as bits, list and counters are there twice and thrice. filter lets it start only after what comes before
// filter is done, and its last block waits for filter: so whoever waits for it has waited for all.
//
// Bits are words of 32, bit 0 leftmost; rows of 2 * motion->words.

#include "motion_backend.h"
#include "cuda/backend.cuh"
#include "cuda/overlap.cuh"
#include "cuda/warp.cuh"

#include <chrono>
#include <stdlib.h>
#include <string.h>

#define BLOCK_THREADS 128 /* small: they find room beside the blocks of other kernels */
#define THREAD_PIXELS 8
#define BLOCK_PIXELS (BLOCK_THREADS * THREAD_PIXELS)
#define BLOCK_WIDTH 128 /* of the model's blocks */
#define BLOCK_HEIGHT (BLOCK_PIXELS / BLOCK_WIDTH)
#define BLOCK_GROUPS 4 /* of rows, far apart: what moves is in crowds, and so more blocks share them */
#define UPDATE_BLOCKS 10 /* on a multiprocessor: one and a half rounds of an H200 for 1920x1080 */
#define UNSHADOW_BLOCKS 12
#define FILTER_THREADS 512u

typedef struct Counters {
    unsigned long long raw; /* pixels that do not fit, and in the upper half words in Bits.dark */
    unsigned long long done; /* blocks of the last kernel << 40, and the pixels of the mask they kept */
} Counters;

/* What the last block of a frame tells the host, in one word of mapped memory: pixels that did not fit, pixels of the
 * mask, both at most 2^28, and the last bits of the frame's number. */
#define RESULT_BITS 29
#define RESULT_FRAMES 64
#define RESULTS (2 * CCL_MAX_DEPTH) /* one for each in flight, and again when they are done again */
#define COUNTERS 3u

/* One load and one store. */
typedef union Rest {
    MotionRest modes;
    uint4 words;
} Rest;

typedef struct Model {
    uint16_t *mean, *variance, *weight;
    uint8_t *settled;  /* of THREAD_PIXELS pixels each: all weights are 1, and stay so while the first modes fit */
    Rest *rest;
    uint8_t *last;
    uint32_t *ignored;
} Model;

/* Of a frame: what fits not. */
typedef struct Bits {
    uint32_t *image;
    uint2 *dark;       /* words that may have shadows, in any order: index, bits */
} Bits;

/* The part of CpuMotion that is here in device memory. */
typedef struct CudaMotion {
    cudaStream_t stream;
    cudaEvent_t produced;
    cudaEvent_t begin[CCL_MAX_DEPTH], end[CCL_MAX_DEPTH]; /* by slot; with timing */
    cudaEvent_t down[CCL_MAX_DEPTH];                      /* the mask is in host memory */
    cudaEvent_t alarm;                                    /* to sleep on; made when first needed */
    Model model;
    Bits bits[2];             /* in turn; one alone where only one picture is in flight */
    uint32_t *kept, *confirm; /* kept: between two filters; confirm: five planes */
    uint8_t *luma;   /* uploaded pictures */
    size_t luma_pitch;
    uint8_t *shrunk; /* rows of words * 64 */
    uint8_t *mask;   /* for masks in host memory */
    size_t mask_pitch;
    Counters *counters; /* used in turn: each frame clears those of the next but one */
    unsigned long long *results, *d_results; /* the same memory, as the device calls it; used in turn */
    uint32_t serial;    /* of the last frame */
    unsigned multiprocessors;
    bool overlaps;      /* a kernel may start while the one before it ends */
    void *blocks[24];
    unsigned n_blocks;
} CudaMotion;

/* What the kernels know of a frame. */
typedef struct Picture {
    const uint8_t *luma;
    size_t stride;
    uint32_t width, height, words; /* words of 32 */
    MotionRates rates;
} Picture;

static CudaMotion *impl(const CclMotion *motion)
{
    return (CudaMotion *)motion->impl;
}

/* ---------------------------------------------------------------- shrink */

__global__ static void shrink(const uint8_t *luma, size_t stride, uint32_t full_width, uint32_t full_height,
                              uint8_t *shrunk, uint32_t pitch, uint32_t width, uint32_t height)
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
    uint32_t pairs[THREAD_PIXELS / 2];
    uint16_t of[THREAD_PIXELS];
} Pixels;

/* What the kernel before has written is in the L2 cache, but this kernel may have begun before that was so: nothing of
 * the model is read through a multiprocessor's own cache. */
__device__ static uint64_t load_luma(const Picture &picture, uint32_t x, uint32_t y)
{
    const uint8_t *const at = picture.luma + y * picture.stride + x;
    uint64_t pixels = 0;
    if (x + THREAD_PIXELS <= picture.width && ((uintptr_t)at & 7) == 0)
        return __ldcg((const uint64_t *)at);
    for (uint32_t i = 0; i < THREAD_PIXELS && x + i < picture.width; i++)
        pixels |= (uint64_t)__ldcg(at + i) << 8 * i;
    return pixels;
}

/* What became of a thread's pixels, a bit for each. */
typedef struct Fate {
    uint32_t foreground;
    uint32_t darker; /* those of them that are darker than the background: what may be a shadow */
    uint32_t missed; /* the first mode does not fit */
} Fate;

/* One half of a word, 16 bits, `rate` of the way on: motion_towards() and motion_step() at once. The result is the
 * upper half. A step down is one up of the negative distance, rounded with the dither's complement. */
__device__ static uint32_t moved(uint32_t pair, bool upper, int32_t way, uint32_t rate, uint32_t dither)
{
#ifdef __NVCC__ /* the half and the way's sign twice: __byte_perm() cannot say that */
    uint32_t from;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(from) : "r"(pair), "r"(way), "r"(upper ? 0x32ff : 0x10ff));
#else
    const uint32_t from = (upper ? pair & ~65535u : pair << 16) | (way < 0 ? 65535 : 0);
#endif
    return (from ^ (dither & 65535)) + (uint32_t)way * rate;
}

/* The weights of first modes that fit grow. Returns whether all are 1 then. */
__device__ static bool grow_weights(uint4 *at, uint32_t misses, const MotionRates &rates, uint32_t dither)
{
    Pixels weight;
    uint32_t all = ~0u;
    weight.words = __ldcg(at);
#pragma unroll
    for (uint32_t i = 0; i < THREAD_PIXELS; i += 2) {
        const uint32_t old = weight.pairs[i / 2], d = dither + i * MOTION_DITHER_X, d2 = d + MOTION_DITHER_X;
        const uint32_t a = (old << 16 | (d & 65535)) + (~old & 65535) * (misses >> i & 1 ? 0 : rates.rate);
        const uint32_t b = ((old & ~65535u) | (d2 & 65535)) + (~old >> 16) * (misses >> i & 2 ? 0 : rates.rate);
        all &= weight.pairs[i / 2] = __byte_perm(a, b, 0x7632);
    }
    *at = weight.words;
    return all == ~0u;
}

/* The first modes of a thread's pixels; bit i of the result: pixel i does not fit, and stays as it is. What
 * motion_model.h says in 60 instructions a pixel is said in half of them here, by halves of words that are not taken
 * apart. LOW: a threshold below 32, with which rates.shift is 0. */
template <bool LOW>
__device__ static uint32_t first_modes(const Model &model, size_t at, uint64_t luma, const MotionRates &rates,
                                       uint32_t dither)
{
    const uint32_t shift = LOW ? 0 : rates.shift, most = LOW ? ~0u : rates.cap << 16;
    Pixels mean, variance;
    uint32_t misses = 0;
    mean.words = __ldcg((const uint4 *)(model.mean + at));
    variance.words = __ldcg((const uint4 *)(model.variance + at));
    const bool settled = __ldcg(model.settled + at / THREAD_PIXELS);
#pragma unroll
    for (uint32_t i = 0; i < THREAD_PIXELS; i += 2) {
        uint32_t &m = mean.pairs[i / 2], &v = variance.pairs[i / 2], new_mean[2], new_variance[2];
#pragma unroll
        for (uint32_t j = 0; j < 2; j++) {
            const uint32_t x = __byte_perm((uint32_t)(luma >> 8 * (i & 4)), 0, 0x4404 | (i % 4 + j) << 4);
            const uint32_t d = dither + (i + j) * MOTION_DITHER_X, old = j ? v >> 16 : v & 65535;
            const uint32_t way = x - (j ? m >> 16 : m & 65535), square = way * way;
            const bool fits = (square >> shift | 65535) < min(old * rates.scale, most);
            const uint32_t rate = fits ? rates.rate : 0;
            misses |= fits ? 0u : 1u << (i + j);
            new_mean[j] = moved(m, j, (int32_t)way, rate, d);
            new_variance[j] = moved(v, j, (int32_t)((min(square, 4095u * 4095u) >> 8) - old), rate, ~d);
        }
        m = __byte_perm(new_mean[0], new_mean[1], 0x7632);
        v = __vmaxu2(__vminu2(__byte_perm(new_variance[0], new_variance[1], 0x7632), MOTION_VARIANCE_MAX * 65537),
                     MOTION_VARIANCE_MIN * 65537);
    }
    *(uint4 *)(model.mean + at) = mean.words;
    *(uint4 *)(model.variance + at) = variance.words;
    const bool still = (settled || grow_weights((uint4 *)(model.weight + at), misses, rates, dither)) && !misses;
    if (still != settled)
        model.settled[at / THREAD_PIXELS] = still;
    return misses;
}

__device__ static Fate running_mean(const Model &model, size_t at, uint64_t luma, const MotionRates &rates,
                                    uint32_t dither)
{
    Pixels mean;
    Fate fate = { 0, 0, 0 };
    mean.words = __ldcg((const uint4 *)(model.mean + at));
#pragma unroll
    for (uint32_t i = 0; i < THREAD_PIXELS; i++) {
        const uint32_t x = (uint32_t)(luma >> 8 * i & 255) << 8, m = mean.of[i], distance = motion_distance(x, m);
        const bool is_far = distance > rates.threshold << 8;
        const uint32_t step = motion_step(distance, rates.rate, (dither + i * MOTION_DITHER_X) & 65535);
        mean.of[i] = (uint16_t)motion_towards(m, x, is_far && rates.freeze ? 0 : step);
        fate.foreground |= (is_far ? 1u : 0u) << i;
        fate.darker |= (is_far && x < mean.of[i] ? 1u : 0u) << i;
    }
    *(uint4 *)(model.mean + at) = mean.words;
    return fate;
}

__device__ static uint32_t difference(const Model &model, size_t at, uint64_t luma, const MotionRates &rates)
{
    const uint64_t last = __ldcg((const uint64_t *)(model.last + at));
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
    const Rest none = {};
    if (METHOD == CCL_MOTION_MOG2)
        model.settled[at / THREAD_PIXELS] = 1;
    for (uint32_t i = 0; i < THREAD_PIXELS; i++) {
        model.mean[at + i] = (uint16_t)((luma >> 8 * i & 255) << 8);
        if (METHOD == CCL_MOTION_MOG2) {
            model.variance[at + i] = MOTION_VARIANCE_NEW;
            model.weight[at + i] = MOTION_ONE;
            model.rest[at + i] = none;
        }
    }
}

static_assert(BLOCK_PIXELS / 32 % 32 == 0, "the words of a block are stored by whole warps");

/* What became of 32 pixels, by whole warps: to the bits, and to the list if there may be shadows. */
__device__ static void store_bits(const Picture &picture, const uint32_t *ignored, const Bits &to, uint32_t bits,
                                  uint32_t darker, uint32_t word, uint32_t y, Counters *counters)
{
    const uint32_t at = y * picture.words + word;
    uint32_t set = 0;
    if (word < picture.words && y < picture.height) {
        const uint32_t left = picture.width - min(picture.width, word * 32);
        set = bits & (left >= 32 ? ~0u : (1u << left) - 1);
        if (set)
            set &= ~ignored[at];
        to.image[at] = set;
    }
    const uint32_t lane = threadIdx.x % 32, sum = warp_sum(__popc(set)), listed = __ballot_sync(~0u, set & darker);
    uint32_t slot = 0;
    if (!sum)
        return;
    if (!listed) { /* nobody waits for the sum */
        if (!lane)
            atomicAdd(&counters->raw, sum);
        return;
    }
    if (!lane)
        slot = (uint32_t)(atomicAdd(&counters->raw, sum | (unsigned long long)__popc(listed) << 32) >> 32);
    slot = __shfl_sync(~0u, slot, 0);
    if (set & darker)
        to.dark[slot + __popc(listed & ((1u << lane) - 1))] = make_uint2(at, set);
}

/* Row of the picture that is row i of this block. */
__device__ static uint32_t row_of(uint32_t i)
{
    const uint32_t group = BLOCK_HEIGHT / BLOCK_GROUPS;
    return (i / group * gridDim.y + blockIdx.y) * group + i % group;
}

/* A pixel whose first mode does not fit. */
typedef struct Missed {
    uint32_t x, y, value;
    uint16_t mean, variance, weight;
    Rest rest;
} Missed;

__device__ static Missed load_missed(const Picture &picture, const Model &model, uint32_t x, uint32_t y)
{
    const size_t at = (size_t)y * picture.words * 32 + x;
    Missed missed;
    missed.x = x, missed.y = y;
    missed.value = x < picture.width ? __ldcg(picture.luma + y * picture.stride + x) : 0;
    missed.mean = __ldcg(model.mean + at), missed.variance = __ldcg(model.variance + at);
    missed.weight = __ldcg(model.weight + at);
    missed.rest.words = __ldcg(&model.rest[at].words);
    return missed;
}

/* Returns whether it is foreground. */
__device__ static bool other_modes(const Picture &picture, const Model &model, Missed &missed)
{
    const size_t at = (size_t)missed.y * picture.words * 32 + missed.x;
    const uint32_t dither = (motion_dither_row(&picture.rates, missed.y) + missed.x * MOTION_DITHER_X) & 65535;
    const bool foreground = motion_rest(missed.value << 8, &missed.mean, &missed.variance, &missed.weight,
                                        &missed.rest.modes, &picture.rates, dither);
    model.mean[at] = missed.mean, model.variance[at] = missed.variance, model.weight[at] = missed.weight;
    model.rest[at].words = missed.rest.words;
    return foreground;
}

__device__ static void set_foreground(const Missed &missed, uint32_t pixel, uint32_t *foreground, uint32_t *darker)
{
    atomicOr(&foreground[pixel / 32], 1u << pixel % 32);
    if (missed.value < missed.mean >> 8)
        atomicOr(&darker[pixel / 32], 1u << pixel % 32);
}

/* The pixels of a block whose first mode does not fit cost ten times as much as the others: all its threads share them,
 * two at a time, and set the bits of those that are foreground. `missed`: of the thread's own pixels. */
__device__ static void do_misses(const Picture &picture, const Model &model, uint32_t missed, uint32_t x0,
                                 uint32_t *foreground, uint32_t *darker)
{
    __shared__ uint32_t n_misses;
    __shared__ uint16_t misses[BLOCK_PIXELS];
    const uint32_t t = threadIdx.x;
    if (!t)
        n_misses = 0;
    if (!__syncthreads_or(missed != 0))
        return;
    uint32_t slot = missed ? atomicAdd(&n_misses, __popc(missed)) : 0;
    for (uint32_t left = missed; left; left &= left - 1)
        misses[slot++] = (uint16_t)(t * THREAD_PIXELS + __ffs(left) - 1);
    __syncthreads();
    for (uint32_t i = t; i < n_misses; i += 2 * BLOCK_THREADS) {
        const bool more = i + BLOCK_THREADS < n_misses;
        const uint32_t first = misses[i], second = more ? misses[i + BLOCK_THREADS] : first;
        Missed a = load_missed(picture, model, x0 + first % BLOCK_WIDTH, row_of(first / BLOCK_WIDTH));
        Missed b = load_missed(picture, model, x0 + second % BLOCK_WIDTH, row_of(second / BLOCK_WIDTH));
        if (other_modes(picture, model, a))
            set_foreground(a, first, foreground, darker);
        if (more && other_modes(picture, model, b))
            set_foreground(b, second, foreground, darker);
    }
}

/* A block does BLOCK_WIDTH x BLOCK_HEIGHT pixels. Rows of the model are whole words of 64: a thread's pixels never
 * cross a row's end. */
template <int METHOD, bool SEED, bool LOW = false>
__global__ static void __launch_bounds__(BLOCK_THREADS, UPDATE_BLOCKS)
update(const __grid_constant__ Picture picture, const __grid_constant__ Model model, const __grid_constant__ Bits bits,
       Counters *counters)
{
    __shared__ uint32_t foreground[BLOCK_PIXELS / 32], darker[BLOCK_PIXELS / 32];
    const uint32_t pitch = picture.words * 32, t = threadIdx.x;
    const uint32_t x0 = blockIdx.x * BLOCK_WIDTH, x = x0 + t * THREAD_PIXELS % BLOCK_WIDTH;
    const uint32_t y = row_of(t * THREAD_PIXELS / BLOCK_WIDTH);
    const size_t at = (size_t)y * pitch + x;
    Fate fate = { 0, 0, 0 };

    let_successor_start();
    if (y < picture.height && x < pitch) {
        const uint64_t luma = load_luma(picture, x, y);
        const uint32_t dither = motion_dither_row(&picture.rates, y) + x * MOTION_DITHER_X;
        if (SEED)
            seed<METHOD>(model, at, luma);
        else if (METHOD == CCL_MOTION_MOG2)
            fate.missed = first_modes<LOW>(model, at, luma, picture.rates, dither);
        else if (METHOD == CCL_MOTION_EMA)
            fate = running_mean(model, at, luma, picture.rates, dither);
        else
            fate.foreground = difference(model, at, luma, picture.rates);
    }
    ((uint8_t *)foreground)[t] = (uint8_t)fate.foreground;
    ((uint8_t *)darker)[t] = (uint8_t)fate.darker;
    if (METHOD == CCL_MOTION_MOG2 && !SEED)
        do_misses(picture, model, fate.missed, x0, foreground, darker);
    __syncthreads();
    if (t < BLOCK_PIXELS / 32)
        store_bits(picture, model.ignored, bits, foreground[t], darker[t], x0 / 32 + t % (BLOCK_WIDTH / 32),
                   row_of(t / (BLOCK_WIDTH / 32)), counters);
    if (blockIdx.x == gridDim.x - 1 && blockIdx.y == gridDim.y - 1)
        wait_for_predecessor();
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

__global__ static void __launch_bounds__(BLOCK_THREADS, UNSHADOW_BLOCKS)
unshadow(const __grid_constant__ Picture picture, const uint16_t *mean, const __grid_constant__ Bits bits,
         const Counters *counters, uint64_t most)
{
    const uint32_t lane = threadIdx.x % 32, n_warps = gridDim.x * BLOCK_THREADS / 32;

    let_successor_start();
    wait_for_predecessor();
    const unsigned long long raw = counters->raw;
    const uint32_t n = (uint32_t)raw > most ? 0 : (uint32_t)(raw >> 32);
    for (uint32_t i = (blockIdx.x * BLOCK_THREADS + threadIdx.x) / 32; i < n; i += n_warps) {
        const uint2 listed = bits.dark[i];
        const uint32_t word = listed.x, set = listed.y;
        const int y = (int)(word / picture.words), x0 = (int)(word % picture.words) * 32, x = x0 + (int)lane;
        const bool darker = set >> lane & 1 && picture.luma[y * picture.stride + x] <
                                                   mean[(size_t)y * picture.words * 32 + x] >> 8;
        const MotionShadow here = column_sums(picture, mean, x - MOTION_SHADOW_RADIUS, y);
        MotionShadow more = { 0, 0, 0 };
        if (lane < 2 * MOTION_SHADOW_RADIUS)
            more = column_sums(picture, mean, x + 32 - MOTION_SHADOW_RADIUS, y);
        const MotionShadow sums = { five(here.bb, more.bb, lane), five(here.gb, more.gb, lane),
                                    five(here.gg, more.gg, lane) };
        const uint32_t shadows = __ballot_sync(~0u, darker && motion_is_shadow(&sums));
        if (!lane && shadows)
            bits.image[word] = set & ~shadows;
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
    uint32_t tile_rows, tile_words; /* without what is around */
    const uint32_t *from;
    uint32_t *to;               /* bits; NULL: the mask is painted */
    uint32_t *confirm;          /* five planes */
    uint32_t confirm_frames;    /* 0 or 1: not here */
    const uint32_t *ignored;
    uint8_t *mask;
    size_t mask_stride;
    uint64_t most;              /* raw foreground above this: the mask is empty */
    bool silent;
    unsigned long long *result; /* mapped host memory */
    uint32_t serial;            /* of the frame */
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
template <int WORDS>
__device__ static uint32_t most_of(const uint32_t *one, const uint32_t *two, const uint32_t *four, int radius)
{
    uint32_t sum[5] = { 0, 0, 0, 0, 0 };
    for (int j = -radius; j <= radius; j++) {
        const int at = j * WORDS;
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

template <int WORDS>
__device__ static uint32_t grown_along(const uint32_t *at, int radius, uint32_t flip)
{
    uint32_t grown = 0;
    for (int j = -radius; j <= radius; j++)
        grown |= at[j * WORDS] ^ flip;
    return grown ^ flip;
}

/* The foreground of a word that has been so for `frames` frames; counts go on, or `again` from nothing. */
__device__ static uint32_t confirmed(uint32_t set, uint32_t *counts, size_t plane, uint32_t frames, bool again)
{
    uint32_t full = set, less = 0, count[5];
    for (int p = 0; again && p < 5; p++)
        counts[p * plane] = 0;
    if (again)
        return 0;
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

/* Four bits to four bytes of 0 or 255. */
__device__ static uint32_t four_bytes(uint32_t bits)
{
    return ((bits & 15) * 0x204081u & 0x01010101u) * 255;
}

/* The tile's pixels, 16 at a time; NULL: nothing moves there. */
template <int WORDS>
__device__ static void paint(const Picture &picture, const Filter &filter, const uint32_t *tile, int y0, int word0)
{
    const bool aligned = (((uintptr_t)filter.mask | filter.mask_stride) & 15) == 0;
    for (uint32_t i = threadIdx.x; i < filter.tile_rows * WORDS * 2; i += blockDim.x) {
        const uint32_t row = i / (WORDS * 2), half = i % (WORDS * 2);
        const uint32_t y = (uint32_t)y0 + row, x = (uint32_t)word0 * 32 + half * 16;
        if (y >= picture.height || x >= picture.width || half / 2 >= filter.tile_words)
            continue;
        const uint32_t at = (row + filter.halo_rows) * WORDS + half / 2 + filter.halo_words;
        const uint32_t bits = tile ? tile[at] >> half % 2 * 16 : 0;
        uint8_t *const to = filter.mask + y * filter.mask_stride + x;
        if (aligned && x + 16 <= picture.width)
            *(uint4 *)to =
                make_uint4(four_bytes(bits), four_bytes(bits >> 4), four_bytes(bits >> 8), four_bytes(bits >> 12));
        else
            for (uint32_t j = 0; j < 16 && x + j < picture.width; j++)
                to[j] = bits >> j & 1 ? 255 : 0;
    }
}

/* Tells the host, once all blocks have come here, how many pixels were kept. Their stores come first. */
__device__ static void finish(const Filter &filter, Counters *counters, uint32_t n_kept)
{
    const unsigned long long block = 1ull << 40, n_blocks = (unsigned long long)gridDim.x * gridDim.y;
    __threadfence();
    const unsigned long long done = atomicAdd(&counters->done, block + n_kept) + block + n_kept;
    if (done >> 40 < n_blocks)
        return;
    __threadfence_system();
    *(volatile unsigned long long *)filter.result = (unsigned long long)filter.serial << 2 * RESULT_BITS |
                                                    (done & (block - 1)) << RESULT_BITS | (uint32_t)counters->raw;
}

/* One step for rows [margin, rows - margin) of the tile; `radius` fewer on either side are good after it. Returns
 * whether any pixel of the picture is set. */
template <int WORDS>
__device__ static bool filter_step(const Picture &picture, const FilterStep step, uint32_t *tile, uint32_t *other,
                                   int n_words, int margin, int y_first, int word_first, bool whole, uint32_t outside)
{
    const uint32_t flip = step.kind == FILTER_ERODE ? ~0u : 0;
    uint32_t *const twos = other + n_words, *const fours = twos + n_words;
    uint32_t any = 0;
    for (int i = margin * WORDS + (int)threadIdx.x; i < n_words - margin * WORDS; i += (int)blockDim.x) {
        if (step.kind == FILTER_MEDIAN)
            count_across(tile + i, step.radius, other + i, twos + i, fours + i);
        else
            other[i] = grown_across(tile + i, step.radius, flip);
    }
    __syncthreads();
    margin += (int)step.radius;
    for (int i = margin * WORDS + (int)threadIdx.x; i < n_words - margin * WORDS; i += (int)blockDim.x) {
        const int radius = (int)step.radius;
        const uint32_t bits = step.kind == FILTER_MEDIAN ? most_of<WORDS>(other + i, twos + i, fours + i, radius)
                                                         : grown_along<WORDS>(other + i, radius, flip);
        const uint32_t inside =
            whole ? ~0u : in_picture(picture, y_first + i / WORDS, word_first + i % WORDS);
        tile[i] = (bits & inside) | (outside & ~inside);
        any |= bits & inside;
    }
    return __syncthreads_or(any != 0);
}

template <int WORDS>
__global__ static void __launch_bounds__(FILTER_THREADS)
filter_tiles(const __grid_constant__ Picture picture, const __grid_constant__ Filter filter, Counters *counters,
             Counters *next_but_one)
{
    extern __shared__ uint32_t shared[];
    __shared__ uint32_t n_kept;
    const int rows = (int)filter.tile_rows + 2 * (int)filter.halo_rows, n_words = rows * WORDS;
    const int y0 = (int)(blockIdx.y * filter.tile_rows), word0 = (int)(blockIdx.x * filter.tile_words);
    const int y_first = y0 - (int)filter.halo_rows, word_first = word0 - (int)filter.halo_words;
    const size_t plane = (size_t)picture.words * picture.height;
    const bool whole = y_first >= 0 && y_first + rows <= (int)picture.height && word_first >= 0 &&
                       (word_first + WORDS) * 32 <= (int)picture.width;
    uint32_t *const tile = shared + 1, *const other = tile + n_words + 2; /* a word of no meaning around each */
    uint32_t outside = outside_for(filter, 0), found = 0;

    wait_for_predecessor();
    let_successor_start(); /* update of the next picture does not wait */
    const uint32_t raw = (uint32_t)counters->raw; /* the tile's loads do not wait for it */
    if (!threadIdx.x)
        n_kept = 0;
    for (int i = (int)threadIdx.x; i < n_words; i += (int)blockDim.x) {
        const int y = y_first + i / WORDS, word = word_first + i % WORDS;
        const uint32_t inside = whole ? ~0u : in_picture(picture, y, word);
        const uint32_t bits = inside ? filter.from[(size_t)y * picture.words + word] & inside : 0;
        tile[i] = bits | (outside & ~inside);
        found |= bits;
    }
    const bool empty = filter.silent || raw > filter.most;
    bool any = __syncthreads_or(found && !empty); /* of nothing comes nothing, in every step */

    int margin = 0;
    for (uint32_t s = 0; s < filter.n_steps && any; s++) {
        outside = outside_for(filter, s + 1);
        any = filter_step<WORDS>(picture, filter.steps[s], tile, other, n_words, margin, y_first, word_first, whole,
                                 outside);
        margin += (int)filter.steps[s].radius;
    }

    const bool counts = filter.confirm && (empty || filter.confirm_frames > 1);
    if (any || counts || filter.to) {
        uint32_t n = 0;
        for (int i = (int)threadIdx.x; i < (int)filter.tile_rows * WORDS; i += (int)blockDim.x) {
            const int row = i / WORDS, word = i % WORDS;
            if (word >= (int)filter.tile_words || !in_picture(picture, y0 + row, word0 + word))
                continue;
            const size_t at = (size_t)(y0 + row) * picture.words + word0 + word;
            uint32_t *const here = &tile[(row + (int)filter.halo_rows) * WORDS + word + (int)filter.halo_words];
            uint32_t set = any ? *here : 0;
            if (counts)
                set = confirmed(set, filter.confirm + at, plane, filter.confirm_frames, empty);
            if (filter.to) {
                filter.to[at] = set;
                continue;
            }
            if (set)
                set &= ~filter.ignored[at];
            *here = set;
            n += __popc(set);
        }
        n = warp_sum(n);
        if (threadIdx.x % 32 == 0 && n)
            atomicAdd(&n_kept, n);
        __syncthreads();
    }
    if (filter.to)
        return;
    if (!threadIdx.x && !blockIdx.x && !blockIdx.y)
        *next_but_one = Counters();
    if (filter.mask)
        paint<WORDS>(picture, filter, any ? tile : NULL, y0, word0);
    __syncthreads();
    if (!threadIdx.x)
        finish(filter, counters, n_kept);
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
    CCL_CUDA_TRY_AS("cudaMalloc", error);
    cuda->blocks[cuda->n_blocks++] = block;
    motion->device_bytes += size;
    memcpy(memory, &block, sizeof block);
    CCL_CUDA_TRY(cudaMemsetAsync(block, 0, size, cuda->stream));
    return CCL_OK;
}

static CclStatus take_model(CclMotion *motion, CudaMotion *cuda)
{
    const size_t n = (size_t)motion->words * 64 * motion->height;
    Model *const model = &cuda->model;
    if (motion->config.method == CCL_MOTION_DIFF)
        return take(motion, &model->last, n);
    CCL_TRY(take(motion, &model->mean, n * sizeof *model->mean));
    if (motion->config.method == CCL_MOTION_EMA)
        return CCL_OK;
    CCL_TRY(take(motion, &model->variance, n * sizeof *model->variance));
    CCL_TRY(take(motion, &model->weight, n * sizeof *model->weight));
    CCL_TRY(take(motion, &model->settled, n / THREAD_PIXELS));
    return take(motion, &model->rest, n * sizeof *model->rest);
}

static CclStatus take_bits(CclMotion *motion, CudaMotion *cuda)
{
    const size_t n_words = (size_t)motion->words * motion->height;
    for (unsigned i = 0; i < min(motion->config.depth, 2u); i++) {
        CCL_TRY(take(motion, &cuda->bits[i].image, n_words * 8));
        CCL_TRY(take(motion, &cuda->bits[i].dark, n_words * 16));
    }
    if (motion->config.depth == 1)
        cuda->bits[1] = cuda->bits[0];
    return CCL_OK;
}

static CclStatus make_events(CclMotion *motion, CudaMotion *cuda)
{
    CCL_CUDA_TRY(cudaEventCreateWithFlags(&cuda->produced, cudaEventDisableTiming));
    for (unsigned i = 0; i < motion->config.depth; i++) {
        CCL_CUDA_TRY(cudaEventCreateWithFlags(&cuda->down[i], cudaEventDisableTiming));
        if (!motion->config.timing)
            continue;
        CCL_CUDA_TRY(cudaEventCreate(&cuda->begin[i]));
        CCL_CUDA_TRY(cudaEventCreate(&cuda->end[i]));
    }
    return CCL_OK;
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
    cuda->multiprocessors = (unsigned)multiprocessors;
    cuda->overlaps = attributes.ptxVersion >= 90; /* of the code that was chosen: does it wait? */
    CCL_CUDA_TRY(cudaStreamCreateWithFlags(&cuda->stream, cudaStreamNonBlocking));
    CCL_TRY(make_events(motion, cuda));
    CCL_CUDA_TRY(cudaHostAlloc((void **)&cuda->results, RESULTS * sizeof *cuda->results,
                               cudaHostAllocPortable | cudaHostAllocMapped));
    memset(cuda->results, 0, RESULTS * sizeof *cuda->results);
    CCL_CUDA_TRY(cudaHostGetDevicePointer((void **)&cuda->d_results, cuda->results, 0));

    CCL_TRY(take_model(motion, cuda));
    CCL_TRY(take_bits(motion, cuda));
    CCL_TRY(take(motion, &cuda->kept, n_words * 8));
    CCL_TRY(take(motion, &cuda->model.ignored, n_words * 8));
    CCL_TRY(take(motion, &cuda->confirm, 5 * n_words * 8));
    cuda->luma_pitch = (config->width + 127u) / 128 * 128;
    CCL_TRY(take(motion, &cuda->luma, cuda->luma_pitch * config->height));
    cuda->mask_pitch = (size_t)motion->words * 64;
    CCL_TRY(take(motion, &cuda->mask, cuda->mask_pitch * motion->height));
    CCL_TRY(take(motion, &cuda->counters, COUNTERS * sizeof *cuda->counters));
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
    if (cuda->results)
        cudaFreeHost(cuda->results);
    if (cuda->produced)
        cudaEventDestroy(cuda->produced);
    if (cuda->alarm)
        cudaEventDestroy(cuda->alarm);
    for (const auto &events : { cuda->begin, cuda->end, cuda->down })
        for (unsigned i = 0; i < CCL_MAX_DEPTH; i++)
            if (events[i])
                cudaEventDestroy(events[i]);
    if (cuda->stream)
        cudaStreamDestroy(cuda->stream);
    (void)cudaGetLastError();
    free(cuda);
}

static CclStatus cuda_set_ignored(CclMotion *motion, const uint64_t *ignored)
{
    CCL_TRY(cuda_use_device(motion->config.device));
    CCL_CUDA_TRY(cudaMemcpyAsync(impl(motion)->model.ignored, ignored, (size_t)motion->words * motion->height * 8,
                                 cudaMemcpyHostToDevice, impl(motion)->stream));
    CCL_CUDA_TRY(cudaStreamSynchronize(impl(motion)->stream));
    return CCL_OK;
}

/* ---------------------------------------------------------------- a picture */

/* overlap: the kernel waits for the one before it by itself. */
template <typename... Parameters, typename... Values>
static CclStatus launch(const CudaMotion *cuda, bool overlap, void (*kernel)(Parameters...), dim3 grid,
                        unsigned threads, size_t shared, const Values &...values)
{
    CCL_CUDA_TRY(launch_in(cuda->stream, overlap && cuda->overlaps, 0, 0, kernel, grid, threads, shared, values...));
    return CCL_OK;
}

/* The picture where the kernels can read it, at the working size. overlap: the first kernel may start while the frame
 * before is filtered; not where it has to wait for anything else. */
static CclStatus bring_picture(CclMotion *motion, const MotionFrame *frame, Picture *picture, bool *overlap)
{
    CudaMotion *const cuda = impl(motion);
    const CclMask *const luma = &frame->luma;
    picture->luma = (const uint8_t *)luma->data;
    picture->stride = luma->stride;
    *overlap = luma->memory == CCL_MEMORY_DEVICE && !luma->producer_stream && !cuda->shrunk;
    if (luma->memory == CCL_MEMORY_DEVICE && luma->producer_stream) {
        CCL_CUDA_TRY(cudaEventRecord(cuda->produced, (cudaStream_t)luma->producer_stream));
        CCL_CUDA_TRY(cudaStreamWaitEvent(cuda->stream, cuda->produced, 0));
    }
    if (luma->memory != CCL_MEMORY_DEVICE) {
        CCL_CUDA_TRY(cuda_copy_rows(cuda->luma, cuda->luma_pitch, luma->data, luma->stride, luma->width, luma->height,
                                    cudaMemcpyHostToDevice, cuda->stream));
        picture->luma = cuda->luma;
        picture->stride = cuda->luma_pitch;
    }
    if (motion->config.timing)
        CCL_CUDA_TRY(cudaEventRecord(cuda->begin[frame->slot], cuda->stream));
    if (!cuda->shrunk)
        return CCL_OK;
    const uint32_t pitch = motion->words * 64;
    const dim3 grid(blocks_for(motion->width, BLOCK_THREADS), motion->height);
    CCL_TRY(launch(cuda, false, shrink, grid, BLOCK_THREADS, 0, picture->luma, picture->stride, luma->width, luma->height,
                   cuda->shrunk, pitch, motion->width, motion->height));
    picture->luma = cuda->shrunk;
    picture->stride = pitch;
    return CCL_OK;
}

static CclStatus run_model(const CclMotion *motion, const MotionFrame *frame, const Picture &picture, bool overlap,
                           const Bits &bits, Counters *counters)
{
    const CudaMotion *const cuda = impl(motion);
    const dim3 grid(blocks_for((size_t)motion->words * 64, BLOCK_WIDTH), blocks_for(motion->height, BLOCK_HEIGHT));
    void (*kernel)(Picture, Model, Bits, Counters *) = NULL;
    switch (motion->config.method) {
    case CCL_MOTION_DIFF: kernel = frame->seed ? update<CCL_MOTION_DIFF, true> : update<CCL_MOTION_DIFF, false>; break;
    case CCL_MOTION_EMA: kernel = frame->seed ? update<CCL_MOTION_EMA, true> : update<CCL_MOTION_EMA, false>; break;
    case CCL_MOTION_MOG2:
        kernel = frame->seed           ? update<CCL_MOTION_MOG2, true>
                 : frame->rates.shift ? update<CCL_MOTION_MOG2, false, false>
                                      : update<CCL_MOTION_MOG2, false, true>;
        break;
    }
    return launch(cuda, overlap, kernel, grid, BLOCK_THREADS, 0, picture, cuda->model, bits, counters);
}

static void add_step(Filter *filter, FilterKind kind, uint32_t radius)
{
    if (!radius)
        return;
    filter->steps[filter->n_steps++] = { (uint32_t)kind, radius };
    filter->halo_rows += radius;
    filter->halo_words = (filter->halo_rows + 31) / 32;
}

template <int WORDS>
static CclStatus launch_filter(const CudaMotion *cuda, const Picture &picture, Filter filter, Counters *counters,
                               Counters *next_but_one)
{
    filter.tile_words = WORDS - 2 * filter.halo_words;
    const dim3 grid(blocks_for(picture.words, filter.tile_words), blocks_for(picture.height, filter.tile_rows));
    const unsigned n_words = (filter.tile_rows + 2 * filter.halo_rows) * WORDS, threads = (n_words + 31) / 32 * 32;
    return launch(cuda, true, filter_tiles<WORDS>, grid, min(threads, FILTER_THREADS),
                  (4 * n_words + 4) * sizeof(uint32_t), picture, filter, counters, next_but_one);
}

/* Small tiles: nothing is done in most of them, and those where much is are on as many multiprocessors as there can be.
 * With far-reaching filters they would be all surroundings. With other pictures in flight larger ones, that take less of
 * the GPU's time and room. */
static CclStatus run_filter(const CclMotion *motion, const Picture &picture, Filter filter, Counters *counters,
                            Counters *next_but_one)
{
    filter.tile_rows = motion->n_waiting ? 32 : min(max(filter.halo_rows, 8u), 16u);
    const auto launch = filter.halo_words > 1 ? launch_filter<16> : launch_filter<8>;
    return launch(impl(motion), picture, filter, counters, next_but_one);
}

/* Confirming changes counts, which a tile's surroundings must not do a second time: what comes before it is a run of
 * its own. */
static CclStatus run_filters(const CclMotion *motion, const MotionFrame *frame, const Picture &picture,
                             const Bits &bits, Counters *counters, Counters *next_but_one)
{
    CudaMotion *const cuda = impl(motion);
    const CclMotionParams *const params = &frame->params;
    Filter filter = {};
    filter.from = bits.image;
    filter.ignored = cuda->model.ignored;
    filter.confirm = cuda->confirm;
    filter.confirm_frames = params->confirm_frames;
    filter.most = frame->most;
    filter.silent = frame->silent;
    filter.result = cuda->d_results + frame->serial % RESULTS;
    filter.serial = frame->serial % RESULT_FRAMES;
    if (frame->forgets)
        CCL_CUDA_TRY(cudaMemsetAsync(cuda->confirm, 0, (size_t)5 * motion->words * motion->height * 8, cuda->stream));
    add_step(&filter, FILTER_MEDIAN, params->median);
    if (params->confirm_frames > 1) {
        filter.to = cuda->kept;
        CCL_TRY(run_filter(motion, picture, filter, counters, next_but_one));
        filter.from = cuda->kept;
        filter.to = NULL;
        filter.confirm = NULL;
        filter.n_steps = filter.halo_rows = filter.halo_words = 0;
    }
    add_step(&filter, FILTER_ERODE, params->open);
    add_step(&filter, FILTER_DILATE, params->open + params->close);
    add_step(&filter, FILTER_ERODE, params->close);
    add_step(&filter, FILTER_DILATE, params->dilate);
    if (frame->mask.data) {
        const bool direct = frame->mask.memory == CCL_MEMORY_DEVICE;
        filter.mask = direct ? frame->mask.data : cuda->mask;
        filter.mask_stride = direct ? frame->mask.stride : cuda->mask_pitch;
    }
    return run_filter(motion, picture, filter, counters, next_but_one);
}

static bool goes_down(const MotionFrame *frame)
{
    return frame->mask.data && frame->mask.memory != CCL_MEMORY_DEVICE;
}

static CclStatus launch_frame(CclMotion *motion, MotionFrame *frame)
{
    CudaMotion *const cuda = impl(motion);
    const uint32_t serial = frame->serial = ++cuda->serial;
    const Bits &bits = cuda->bits[serial % 2];
    Counters *const counters = cuda->counters + serial % COUNTERS;
    Counters *const next_but_one = cuda->counters + (serial + 2) % COUNTERS;
    Picture picture = { NULL, 0, motion->width, motion->height, motion->words * 2, frame->rates };
    bool overlap;

    CCL_TRY(cuda_use_device(motion->config.device));
    CCL_TRY(bring_picture(motion, frame, &picture, &overlap));
    CCL_TRY(run_model(motion, frame, picture, overlap, bits, counters));
    if (frame->params.drop_shadow && !frame->silent) {
        const unsigned most = blocks_for((size_t)picture.words * picture.height * 32, BLOCK_THREADS);
        CCL_TRY(launch(cuda, true, unshadow, min(most, cuda->multiprocessors * UNSHADOW_BLOCKS), BLOCK_THREADS, 0,
                       picture, cuda->model.mean, bits, counters, frame->most));
    }
    CCL_TRY(run_filters(motion, frame, picture, bits, counters, next_but_one));
    if (motion->config.timing)
        CCL_CUDA_TRY(cudaEventRecord(cuda->end[frame->slot], cuda->stream));
    if (goes_down(frame)) {
        CCL_CUDA_TRY(cuda_copy_rows(frame->mask.data, frame->mask.stride, cuda->mask, cuda->mask_pitch, motion->width,
                                    motion->height, cudaMemcpyDeviceToHost, cuda->stream));
        CCL_CUDA_TRY(cudaEventRecord(cuda->down[frame->slot], cuda->stream));
    }
    return CCL_OK;
}

/* Once a frame has failed its memory is the caller's again: nothing that was begun may still use it. */
static CclStatus cuda_start(CclMotion *motion, MotionFrame *frame)
{
    const CclStatus status = launch_frame(motion, frame);
    if (status != CCL_OK) {
        cudaStreamSynchronize(impl(motion)->stream);
        (void)cudaGetLastError();
    }
    return status;
}

/* Until all that is in the stream by now is done. */
static CclStatus sleep_until_done(CudaMotion *cuda)
{
    if (!cuda->alarm)
        CCL_CUDA_TRY(cudaEventCreateWithFlags(&cuda->alarm, cudaEventDisableTiming | cudaEventBlockingSync));
    CCL_CUDA_TRY(cudaEventRecord(cuda->alarm, cuda->stream));
    CCL_CUDA_TRY(cudaEventSynchronize(cuda->alarm));
    return CCL_OK;
}

/* What the last kernel of a frame says. A frame mostly takes less than the driver needs to notice its end: looks a while
 * for that, and only then asks the driver, which tells if something went wrong. */
static CclStatus wait_for_result(CudaMotion *cuda, uint32_t serial, unsigned long long *result)
{
    const unsigned long long *const at = cuda->results + serial % RESULTS;
    const auto start = std::chrono::steady_clock::now();
    bool done = false;
    while ((*result = __atomic_load_n(at, __ATOMIC_ACQUIRE)) >> 2 * RESULT_BITS != serial % RESULT_FRAMES) {
        if (done) /* and nothing was said */
            return ccl_fail(CCL_ERROR_DEVICE, "a picture was lost on the device");
        if (std::chrono::steady_clock::now() - start < std::chrono::microseconds(200))
            continue;
        CCL_TRY(sleep_until_done(cuda));
        done = true;
    }
    return CCL_OK;
}

static CclStatus cuda_finish(CclMotion *motion, MotionFrame *frame)
{
    CudaMotion *const cuda = impl(motion);
    const unsigned long long most = (1u << RESULT_BITS) - 1;
    unsigned long long result;

    CCL_TRY(cuda_use_device(motion->config.device));
    if (motion->config.timing)
        CCL_CUDA_TRY(cudaEventSynchronize(cuda->end[frame->slot]));
    CCL_TRY(wait_for_result(cuda, frame->serial, &result));
    if (goes_down(frame))
        CCL_CUDA_TRY(cudaEventSynchronize(cuda->down[frame->slot])); /* a copy's time, at most */
    if (motion->config.timing) {
        CCL_CUDA_TRY(cudaEventElapsedTime(&frame->kernel_us, cuda->begin[frame->slot], cuda->end[frame->slot]));
        frame->kernel_us *= 1000;
    }
    frame->raw_foreground = result & most;
    frame->foreground = result >> RESULT_BITS & most;
    return CCL_OK;
}

const MotionBackend motion_cuda_backend = {
    cuda_open,
    cuda_close,
    cuda_set_ignored,
    cuda_start,
    cuda_finish,
};
