// SPDX-FileCopyrightText: gst-ccl contributors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Background models of single pixels: difference to the last picture, running mean, mixture of Gaussians. The arithmetic of
// a pixel is motion_model.h's. A block first updates the pixels whose first mode fits. Then all its threads share the few
// others, which cost ten times as much each.

#include "cuda_motion.cuh"

#include "cuda/warp.cuh"

#include <stdlib.h>

#define THREAD_PIXELS 8
#define BLOCK_PIXELS (MOTION_BLOCK_THREADS * THREAD_PIXELS)
#define BLOCK_WIDTH 128 /* of the model's blocks */
#define BLOCK_HEIGHT (BLOCK_PIXELS / BLOCK_WIDTH)
#define BLOCK_GROUPS 4 /* of rows, far apart: moving pixels are close together, and so more blocks share them */
#define UPDATE_BLOCKS 10 /* on a multiprocessor: one and a half rounds of an H200 for 1920x1080 */


/* One load and one store. */
typedef union Rest {
    MotionRest modes;
    uint4 words;
} Rest;

typedef struct PixelModels {
    uint16_t *mean, *variance, *weight;
    uint8_t *settled;  /* of THREAD_PIXELS pixels each: all weights are 1, and stay so while the first modes fit */
    Rest *rest;
    uint8_t *last;
    uint32_t *ignored;
} PixelModels;

/* 8 pixels of 16 bits. */
typedef union Pixels {
    uint4 words;
    uint32_t pairs[THREAD_PIXELS / 2];
    uint16_t of[THREAD_PIXELS];
} Pixels;

/* This kernel may begin before the kernel before it has written all to the L2 cache: nothing of the model is read through a
 * multiprocessor's own cache. */
__device__ static uint64_t load_luma(const MotionPicture &picture, uint32_t x, uint32_t y)
{
    const uint8_t *const at = picture.luma + y * picture.stride + x;
    uint64_t pixels = 0;
    if (x + THREAD_PIXELS <= picture.width && ((uintptr_t)at & 7) == 0)
        return __ldcg((const uint64_t *)at);
    for (uint32_t i = 0; i < THREAD_PIXELS && x + i < picture.width; i++)
        pixels |= (uint64_t)__ldcg(at + i) << 8 * i;
    return pixels;
}

/* The state of a thread's pixels, a bit for each. */
typedef struct PixelBits {
    uint32_t foreground;
    uint32_t darker; /* foreground that is darker than the background and may be a shadow */
    uint32_t missed; /* the first mode does not fit */
} PixelBits;

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

/* The first modes of a thread's pixels; bit i of the result: pixel i does not fit, and stays as it is. motion_model.h takes
 * 60 instructions a pixel for this. Working on halves of words in place takes half as many. LOW: a threshold below 32, with
 * which rates.shift is 0. */
template <bool LOW>
__device__ static uint32_t first_modes(const PixelModels &model, size_t at, uint64_t luma, const MotionRates &rates,
                                       uint32_t dither)
{
    const uint32_t shift = LOW ? 0 : rates.shift, cap = LOW ? ~0u : rates.cap << 16;
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
            const bool fits = (square >> shift | 65535) < min(old * rates.scale, cap);
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

__device__ static PixelBits running_mean(const PixelModels &model, size_t at, uint64_t luma, const MotionRates &rates,
                                    uint32_t dither)
{
    Pixels mean;
    PixelBits found = { 0, 0, 0 };
    mean.words = __ldcg((const uint4 *)(model.mean + at));
#pragma unroll
    for (uint32_t i = 0; i < THREAD_PIXELS; i++) {
        const uint32_t x = (uint32_t)(luma >> 8 * i & 255) << 8, m = mean.of[i], distance = motion_distance(x, m);
        const bool is_far = distance > rates.threshold << 8;
        const uint32_t step = motion_step(distance, rates.rate, (dither + i * MOTION_DITHER_X) & 65535);
        mean.of[i] = (uint16_t)motion_towards(m, x, is_far && rates.freeze ? 0 : step);
        found.foreground |= (is_far ? 1u : 0u) << i;
        found.darker |= (is_far && x < mean.of[i] ? 1u : 0u) << i;
    }
    *(uint4 *)(model.mean + at) = mean.words;
    return found;
}

__device__ static uint32_t difference(const PixelModels &model, size_t at, uint64_t luma, const MotionRates &rates)
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
__device__ static void seed(const PixelModels &model, size_t at, uint64_t luma)
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

/* Stores the bits of 32 pixels, and lists the word if it may have shadows. Whole warps call. */
__device__ static void store_bits(const MotionPicture &picture, const uint32_t *ignored, const MotionForeground &to,
                                  uint32_t bits, uint32_t darker, uint32_t word, uint32_t y, MotionCounters *counters)
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
    if (!listed) { /* no lane needs the sum before */
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

__device__ static Missed load_missed(const MotionPicture &picture, const PixelModels &model, uint32_t x, uint32_t y)
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
__device__ static bool other_modes(const MotionPicture &picture, const PixelModels &model, Missed &missed)
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
__device__ static void update_misses(const MotionPicture &picture, const PixelModels &model, uint32_t missed, uint32_t x0,
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
    for (uint32_t i = t; i < n_misses; i += 2 * MOTION_BLOCK_THREADS) {
        const bool more = i + MOTION_BLOCK_THREADS < n_misses;
        const uint32_t first = misses[i], second = more ? misses[i + MOTION_BLOCK_THREADS] : first;
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
__global__ static void __launch_bounds__(MOTION_BLOCK_THREADS, UPDATE_BLOCKS)
update(const __grid_constant__ MotionPicture picture, const __grid_constant__ PixelModels model,
       const __grid_constant__ MotionForeground bits, MotionCounters *counters)
{
    __shared__ uint32_t foreground[BLOCK_PIXELS / 32], darker[BLOCK_PIXELS / 32];
    const uint32_t pitch = picture.words * 32, t = threadIdx.x;
    const uint32_t x0 = blockIdx.x * BLOCK_WIDTH, x = x0 + t * THREAD_PIXELS % BLOCK_WIDTH;
    const uint32_t y = row_of(t * THREAD_PIXELS / BLOCK_WIDTH);
    const size_t at = (size_t)y * pitch + x;
    PixelBits found = { 0, 0, 0 };

    let_successor_start();
    if (y < picture.height && x < pitch) {
        const uint64_t luma = load_luma(picture, x, y);
        const uint32_t dither = motion_dither_row(&picture.rates, y) + x * MOTION_DITHER_X;
        if (SEED)
            seed<METHOD>(model, at, luma);
        else if (METHOD == CCL_MOTION_MOG2)
            found.missed = first_modes<LOW>(model, at, luma, picture.rates, dither);
        else if (METHOD == CCL_MOTION_EMA)
            found = running_mean(model, at, luma, picture.rates, dither);
        else
            found.foreground = difference(model, at, luma, picture.rates);
    }
    ((uint8_t *)foreground)[t] = (uint8_t)found.foreground;
    ((uint8_t *)darker)[t] = (uint8_t)found.darker;
    if (METHOD == CCL_MOTION_MOG2 && !SEED)
        update_misses(picture, model, found.missed, x0, foreground, darker);
    __syncthreads();
    if (t < BLOCK_PIXELS / 32)
        store_bits(picture, model.ignored, bits, foreground[t], darker[t], x0 / 32 + t % (BLOCK_WIDTH / 32),
                   row_of(t / (BLOCK_WIDTH / 32)), counters);
    if (blockIdx.x == gridDim.x - 1 && blockIdx.y == gridDim.y - 1)
        wait_for_predecessor();
}

/* ---------------------------------------------------------------- host */

static CclStatus open_models(CclMotion *motion)
{
    const size_t n = (size_t)motion->words * 64 * motion->height;
    PixelModels *const model = (PixelModels *)calloc(1, sizeof *model);
    if (!model)
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "out of memory");
    cuda_motion(motion)->model = model;
    model->ignored = cuda_motion(motion)->ignored;
    if (motion->config.method == CCL_MOTION_DIFF)
        return cuda_motion_alloc(motion, &model->last, n);
    CCL_TRY(cuda_motion_alloc(motion, &model->mean, n * sizeof *model->mean));
    if (motion->config.method == CCL_MOTION_EMA)
        return CCL_OK;
    CCL_TRY(cuda_motion_alloc(motion, &model->variance, n * sizeof *model->variance));
    CCL_TRY(cuda_motion_alloc(motion, &model->weight, n * sizeof *model->weight));
    CCL_TRY(cuda_motion_alloc(motion, &model->settled, n / THREAD_PIXELS));
    return cuda_motion_alloc(motion, &model->rest, n * sizeof *model->rest);
}

typedef void (*UpdateKernel)(MotionPicture, PixelModels, MotionForeground, MotionCounters *);

static UpdateKernel find_update(CclMotionMethod method, const MotionFrame *frame)
{
    switch (method) {
    case CCL_MOTION_DIFF:
        return frame->seed ? update<CCL_MOTION_DIFF, true> : update<CCL_MOTION_DIFF, false>;
    case CCL_MOTION_EMA:
        return frame->seed ? update<CCL_MOTION_EMA, true> : update<CCL_MOTION_EMA, false>;
    default:
        return frame->seed          ? update<CCL_MOTION_MOG2, true>
               : frame->rates.shift ? update<CCL_MOTION_MOG2, false, false>
                                    : update<CCL_MOTION_MOG2, false, true>;
    }
}

static CclStatus launch_models(const CclMotion *motion, const MotionWork *work)
{
    const CudaMotion *const cuda = cuda_motion(motion);
    const PixelModels *const model = (const PixelModels *)cuda->model;
    const dim3 grid(blocks_for((size_t)motion->words * 64, BLOCK_WIDTH), blocks_for(motion->height, BLOCK_HEIGHT));
    CCL_TRY(cuda_motion_launch(cuda, work->overlap, find_update(motion->config.method, work->frame),
                               { grid, MOTION_BLOCK_THREADS, 0 }, work->picture, *model, work->foreground, work->counters));
    if (work->frame->params.drop_shadow && !work->frame->silent)
        CCL_TRY(cuda_motion_unshadow(motion, work, model->mean));
    return cuda_motion_filter(motion, work);
}

const CudaMotionMethod cuda_motion_pixel_models = { open_models, launch_models, NULL, NULL, NULL, NULL, NULL };
