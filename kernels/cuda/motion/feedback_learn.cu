// SPDX-FileCopyrightText: gst-ccl contributors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Method "feedback": which blobs and holes stay in the mask, and what the model learns. A block has a tile of the picture.

#include "feedback_regions.cuh"

#include "cuda/warp.cuh"

#define LEARN_THREADS 256u
#define LEARN_BLOCKS  4 /* on a multiprocessor */
#define LEARN_WORDS   4 /* of 32 pixels, each way */
#define LEARN_ROWS    16
#define GUARD         ((int)FEEDBACK_GUARD)

static_assert(LEARN_THREADS * 8 == LEARN_WORDS * 32 * LEARN_ROWS, "a thread has eight pixels");
static_assert(GUARD < 32, "the guard is in the next word");

/* A pixel whose first mode is not near: the block's threads share such pixels. */
typedef struct LearnTodo {
    uint16_t pixel, value, threshold, mean, weight, deviation;
} LearnTodo;

typedef struct LearnTile {
    uint32_t mask[LEARN_ROWS + 2 * GUARD][LEARN_WORDS + 2];
    uint32_t guard[LEARN_ROWS][LEARN_WORDS];
    uint32_t still[LEARN_ROWS][LEARN_WORDS]; /* candidates that have stood still at all */
    uint32_t absorbed[LEARN_ROWS][LEARN_WORDS];
    LearnTodo todo[LEARN_THREADS * 8];
    uint32_t n_todo;
    FeedbackFrame frame; /* copies of the state: past the L1 cache, all threads would ask for the same line */
    uint32_t skip, gain;
} LearnTile;

/* ---------------------------------------------------------------- final mask */

__device__ static bool keeps_blob(const Feedback &f, uint32_t root)
{
    const unsigned long long sum = f.sums[root];
    return !feedback_blob_is_explained(sum >> 32, sum & 0xffffffffu);
}

__device__ static bool fills_hole(const Feedback &f, const Regions &r, uint32_t root)
{
    const uint64_t area = f.sums[root], pixels = (uint64_t)f.width * f.height;
    if (area >= pixels / FEEDBACK_HOLE_PART)
        return false;
    /* Above a hole's first pixel is the blob around it. */
    return keeps_blob(f, region_at(r, (root - 1) % r.pitch, (root - 1) / r.pitch - 1));
}

/* Whether the word is part of the run of 0 at the left border, or at the right one. */
__device__ static bool is_border_run(const RunWord &w)
{
    return !w.bits && !w.start && !(w.begins & ~1u) && !w.before;
}

__device__ static uint32_t final_word(const Feedback &f, const Regions &r, int word, int y)
{
    uint32_t mask = 0;
    if (y < 0 || y >= (int)f.height || word < 0 || word * 32 >= (int)f.width)
        return 0;
    const RunWord w = load_run_word(r, (uint32_t)word, (uint32_t)y);
    if (is_border_run(w))
        return 0;
    for (uint32_t b = 0; b < 32;) {
        const uint32_t later = w.begins & ~((2u << b) - 1), end = later ? (uint32_t)__ffs((int)later) - 1 : 32;
        const uint32_t run = (end < 32 ? (1u << end) - 1 : ~0u) & ~((1u << b) - 1);
        const uint32_t root = region_root(r, region_node(r, run_start(w, (uint32_t)word, b), (uint32_t)y));
        if (root != REGION_OUTSIDE && (w.bits >> b & 1 ? keeps_blob(f, root) : fills_hole(f, r, root)))
            mask |= run;
        b = end;
        if ((uint32_t)word * 32 + b >= f.width)
            break;
    }
    return mask & valid_bits(f, (uint32_t)word);
}

__device__ static uint32_t guard_word(const LearnTile &tile, int row, int word)
{
    uint32_t left = 0, here = 0, right = 0;
    for (int j = 0; j <= 2 * GUARD; j++)
        left |= tile.mask[row + j][word], here |= tile.mask[row + j][word + 1], right |= tile.mask[row + j][word + 2];
    uint32_t grown = here;
    for (uint32_t n = 1; n <= GUARD; n++)
        grown |= __funnelshift_l(left, here, n) | __funnelshift_r(here, right, n);
    return grown;
}

__device__ static void load_state(const FeedbackState *state, LearnTile &tile)
{
    const uint32_t i = threadIdx.x, n = sizeof tile.frame / 4;
    if (i < n)
        ((uint32_t *)&tile.frame)[i] = __ldcg((const uint32_t *)&state->frame + i);
    else if (i == n)
        tile.skip = __ldcg(&state->skip);
    else if (i == n + 1)
        tile.gain = (uint32_t)__ldcg(&state->light.rescale);
    else if (i == n + 2)
        tile.n_todo = 0;
}

/* Whether no region is in the tile and around it, so that the mask is empty there. All threads call. */
__device__ static bool is_clear(const Feedback &f, int word0, int y0)
{
    const Regions r = regions_of(f, f.filtered, 0);
    const int columns = LEARN_WORDS + 2, i = (int)threadIdx.x, y = y0 - GUARD + i / columns, word = word0 - 1 + i % columns;
    static_assert((LEARN_ROWS + 2 * GUARD) * columns <= (int)LEARN_THREADS, "a thread has a word");
    bool has_runs = false;
    if (i < (LEARN_ROWS + 2 * GUARD) * columns && y >= 0 && y < (int)f.height && word >= 0 && word < (int)f.words)
        has_runs = !is_border_run(load_run_word(r, (uint32_t)word, (uint32_t)y));
    return !__syncthreads_or(has_runs);
}

/* The mask of the tile, and the tile's guard. */
__device__ static void make_masks(const Feedback &f, LearnTile &tile, int word0, int y0, bool clear)
{
    const Regions r = regions_of(f, f.filtered, 0);
    const int columns = LEARN_WORDS + 2, row = (int)threadIdx.x / LEARN_WORDS, word = (int)threadIdx.x % LEARN_WORDS;
    if (!clear) {
        for (int i = (int)threadIdx.x; i < (LEARN_ROWS + 2 * GUARD) * columns; i += (int)blockDim.x)
            tile.mask[i / columns][i % columns] = final_word(f, r, word0 - 1 + i % columns, y0 - GUARD + i / columns);
        __syncthreads();
    }
    if (row >= LEARN_ROWS)
        return;
    const uint32_t mask = clear ? 0 : tile.mask[row + GUARD][word + 1];
    tile.guard[row][word] = clear ? 0 : guard_word(tile, row, word);
    if (y0 + row < (int)f.height && word0 + word < (int)f.words)
        f.mask[(size_t)(y0 + row) * f.words + word0 + word] = mask;
    const uint32_t n = clear ? 0 : warp_sum((uint32_t)__popc(mask));
    if (threadIdx.x % 32 == 0 && n)
        atomicAdd(&f.state->n_mask, n);
}

static_assert(LEARN_ROWS * LEARN_WORDS % 32 == 0, "whole warps add up the mask");

/* ---------------------------------------------------------------- luma */

/* A thread's eight pixels, a bit for each. */
typedef struct LearnBits {
    uint32_t mask, guard, raw, rises, valid;
    uint32_t last_mask, last_rising;
} LearnBits;

/* What eight pixels become. */
typedef struct Learnt {
    uint32_t still, motionless, any_still; /* for a second, for eight, at all */
    uint32_t absorbed;
} Learnt;

/* After a step of light, of all that later pictures may look at. */
__device__ static void rescale_rest(const Feedback &f, size_t at, uint32_t gain)
{
    for (uint32_t i = 0; i < 8; i++) {
        ushort4 rest = f.rest[at + i];
        rest.x = rescaled(rest.x, gain), rest.y = rescaled(rest.y, gain);
        f.rest[at + i] = rest;
        f.candidate[at + i] = rescaled(f.candidate[at + i], gain);
    }
}

__device__ static void learn_rises(const Feedback &f, size_t at, const FeedbackFrame &frame, uint32_t rises, uint32_t x,
                                   uint32_t y)
{
    union {
        uint2 words;
        uint8_t of[8];
    } old;
    old.words = __ldcg((const uint2 *)(f.rises + at));
    if (!(old.words.x | old.words.y | rises))
        return;
#pragma unroll
    for (uint32_t i = 0; i < 8; i++)
        old.of[i] = (uint8_t)feedback_rises(old.of[i], rises >> i & 1, frame.decay, feedback_dither(&frame, x + i, y));
    *(uint2 *)(f.rises + at) = old.words;
}

/* Pixels of the mask: `thresholds` are those of the model before it learnt. */
__device__ static Learnt watch(const Feedback &f, size_t at, const FeedbackFrame &frame, const LearnBits &bits,
                               const FeedbackEight &value, const FeedbackEight &thresholds, uint32_t x, uint32_t y)
{
    FeedbackEight candidate, still;
    Learnt learnt = { 0, 0, 0, 0 };
    const uint32_t held = (uint32_t)feedback_held_pixels(&f.state->hold, x, y, 8);
    candidate.words = *(const uint4 *)(f.candidate + at), still.words = *(const uint4 *)(f.still + at);
#pragma unroll
    for (uint32_t i = 0; i < 8; i++) {
        if (!(bits.mask >> i & 1))
            continue;
        if (!(bits.last_mask >> i & 1))
            still.of[i] = 0;
        const bool is_held = held >> i & 1;
        const uint16_t before = still.of[i];
        feedback_watch(value.of[i], thresholds.of[i], &candidate.of[i], &still.of[i], &frame, feedback_dither(&frame, x + i, y));
        if (is_held)
            still.of[i] = feedback_held_still(before, still.of[i]);
        const bool is_absorbed = !is_held && still.of[i] >= frame.absorb;
        learnt.any_still |= (still.of[i] ? 1u : 0u) << i;
        learnt.absorbed |= (is_absorbed ? 1u : 0u) << i;
        if (is_absorbed)
            still.of[i] = 0;
        learnt.still |= (still.of[i] >= FEEDBACK_STATIC ? 1u : 0u) << i;
        learnt.motionless |= (still.of[i] >= FEEDBACK_MOTIONLESS ? 1u : 0u) << i;
    }
    *(uint4 *)(f.candidate + at) = candidate.words;
    *(uint4 *)(f.still + at) = still.words;
    return learnt;
}

/* The candidates of pixels become their first modes. */
__device__ static void absorb_pixels(const Feedback &f, size_t at, uint32_t pixels)
{
    for (; pixels; pixels &= pixels - 1) {
        const size_t i = at + (uint32_t)__ffs((int)pixels) - 1;
        FeedbackRest rest = rest_of(f.rest[i]);
        uint16_t still;
        uint8_t ghost;
        feedback_absorb(f.candidate[i], f.mean + i, f.weight + i, &rest, &still, &ghost);
        f.rest[i] = words_of(rest);
    }
}

__device__ static bool differ(const uint4 &a, const uint4 &b)
{
    return (a.x ^ b.x) | (a.y ^ b.y) | (a.z ^ b.z) | (a.w ^ b.w);
}

/* Pixels outside of the guard. Fills the thresholds of all eight. */
__device__ static void learn_modes(const Feedback &f, LearnTile &tile, size_t at, const FeedbackFrame &frame,
                                   const LearnBits &bits, uint32_t gain, const FeedbackEight &value, FeedbackEight &thresholds,
                                   uint32_t x, uint32_t y)
{
    FeedbackEight mean, weight, deviation, extra;
    mean.words = __ldcg((const uint4 *)(f.mean + at)), weight.words = __ldcg((const uint4 *)(f.weight + at));
    deviation.words = __ldcg((const uint4 *)(f.deviation + at)), extra.words = __ldcg((const uint4 *)(f.extra + at));
    const uint4 old_extra = extra.words, old_weight = weight.words;
    uint32_t far = 0;
#pragma unroll
    for (uint32_t i = 0; i < 8; i++) {
        const uint32_t dither = feedback_dither(&frame, x + i, y);
        mean.of[i] = rescaled(mean.of[i], gain);
        const uint32_t threshold = feedback_threshold(frame.base, mean.of[i], deviation.of[i], extra.of[i]);
        thresholds.of[i] = (uint16_t)threshold;
        if (bits.guard >> i & 1)
            continue;
        if (feedback_is_near(value.of[i], mean.of[i], threshold)) {
            feedback_learn_first(value.of[i], &mean.of[i], &weight.of[i], &deviation.of[i], &frame, dither);
        } else {
            far |= bits.valid & 1u << i;
        }
        extra.of[i] = (uint16_t)feedback_extra(extra.of[i], bits.raw >> i & 1 && !frame.silent);
    }
    if (bits.guard != 255 || gain) {
        *(uint4 *)(f.mean + at) = mean.words, *(uint4 *)(f.deviation + at) = deviation.words;
        if (differ(weight.words, old_weight))
            *(uint4 *)(f.weight + at) = weight.words;
    }
    if (differ(extra.words, old_extra))
        *(uint4 *)(f.extra + at) = extra.words;
    uint32_t slot = far ? atomicAdd(&tile.n_todo, (uint32_t)__popc(far)) : 0;
#pragma unroll
    for (uint32_t i = 0; i < 8; i++)
        if (far >> i & 1)
            tile.todo[slot++] = {
                (uint16_t)(threadIdx.x * 8 + i), value.of[i], thresholds.of[i], mean.of[i], weight.of[i], deviation.of[i]
            };
}

/* A listed pixel. Its owner has stored the first mode as it was; this store comes after a barrier. */
__device__ static void learn_listed(const Feedback &f, const LearnTodo &todo, const FeedbackFrame &frame, int word0, int y0)
{
    const uint32_t x = (uint32_t)word0 * 32 + todo.pixel % (LEARN_WORDS * 32), y = (uint32_t)y0 + todo.pixel / (LEARN_WORDS * 32);
    const size_t at = (size_t)y * f.pitch + x;
    FeedbackRest rest = rest_of(__ldcg(f.rest + at));
    uint16_t mean = todo.mean, weight = todo.weight, deviation = todo.deviation;
    feedback_learn_any(todo.value, todo.threshold, &mean, &weight, &deviation, &rest, &frame, feedback_dither(&frame, x, y));
    f.mean[at] = mean, f.weight[at] = weight, f.deviation[at] = deviation;
    f.rest[at] = words_of(rest);
}

__device__ static LearnBits load_bits(const Feedback &f, const LearnTile &tile, const TilePixel &first, bool clear)
{
    const size_t byte = (size_t)first.y * f.words * 4 + (uint32_t)first.x / 8;
    const auto load = [&](const uint32_t *bits) { return (uint32_t)__ldcg((const uint8_t *)bits + byte); };
    const uint32_t shift = (uint32_t)first.column % 32;
    LearnBits bits;
    bits.raw = load(f.raw), bits.rises = load(f.rising), bits.last_mask = load(f.last_mask),
    bits.last_rising = load(f.last_rising);
    bits.mask = clear ? 0 : tile.mask[first.row + GUARD][first.column / 32 + 1] >> shift & 255;
    bits.guard = clear ? 0 : tile.guard[first.row][first.column / 32] >> shift & 255;
    bits.valid = valid_bits(f, (uint32_t)first.x / 32) >> shift & 255;
    return bits;
}

__device__ static void store_bits(const Feedback &f, const TilePixel &first, const LearnBits &bits, const Learnt &learnt)
{
    const size_t byte = (size_t)first.y * f.words * 4 + (uint32_t)first.x / 8;
    ((uint8_t *)f.last_mask)[byte] = (uint8_t)(bits.mask & ~learnt.absorbed);
    ((uint8_t *)f.last_rising)[byte] = (uint8_t)bits.rises;
    ((uint8_t *)f.still_bits)[byte] = (uint8_t)learnt.still;
    ((uint8_t *)f.motionless)[byte] = (uint8_t)learnt.motionless;
}

/* A thread's eight pixels. */
__device__ static Learnt learn_eight(const Feedback &f, LearnTile &tile, const LearnBits &bits, const FeedbackFrame &frame,
                                    const TilePixel &first)
{
    const uint32_t x = (uint32_t)first.x, y = (uint32_t)first.y, gain = tile.gain;
    const size_t at = (size_t)y * f.pitch + x;
    FeedbackEight value, thresholds;
    Learnt learnt = { 0, 0, 0, 0 };
    value.words = __ldcg((const uint4 *)(f.value + at));
    if (gain)
        rescale_rest(f, at, gain);
    learn_rises(f, at, frame, bits.rises & ~bits.last_rising & ~bits.last_mask, x, y);
    learn_modes(f, tile, at, frame, bits, gain, value, thresholds, x, y);
    if (bits.mask)
        learnt = watch(f, at, frame, bits, value, thresholds, x, y);
    if (learnt.absorbed)
        absorb_pixels(f, at, learnt.absorbed);
    return learnt;
}

/* ---------------------------------------------------------------- chroma */

/* A sample of chroma; its place in the tile is that among the tile's samples. */
__device__ static void learn_chroma(const Feedback &f, const LearnTile &tile, const FeedbackFrame &frame, uint32_t gain,
                                    const TilePixel &place)
{
    const int row = place.row, column = place.column;
    const uint32_t x = (uint32_t)place.x, y = (uint32_t)place.y;
    const int word = column * 2 / 32, shift = column * 2 % 32;
    const size_t at = (size_t)y * f.chroma_pitch + x;
    const uint32_t uv[2] = { __ldcg(f.uv[0] + at), __ldcg(f.uv[1] + at) }, dither = feedback_dither(&frame, x, y);
    const uint32_t absorbed = (tile.absorbed[2 * row][word] | tile.absorbed[2 * row + 1][word]) >> shift & 3;
    FeedbackSample sample;
    sample.words = __ldcg(f.chroma + at);
    for (int k = 0; k < 2 && gain; k++) {
        sample.chroma.mean[0][k] = rescaled_chroma(sample.chroma.mean[0][k], gain);
        sample.chroma.mean[1][k] = rescaled_chroma(sample.chroma.mean[1][k], gain);
        sample.chroma.candidate[k] = rescaled_chroma(sample.chroma.candidate[k], gain);
    }
    if (tile.guard[2 * row][word] >> shift & 1)
        feedback_watch_chroma(uv, &sample.chroma, tile.still[2 * row][word] >> shift & 1, dither);
    else if (gain)
        feedback_seed_chroma(uv, &sample.chroma);
    else
        feedback_learn_chroma(uv, &sample.chroma, &frame, dither);
    if (absorbed)
        feedback_absorb_chroma(&sample.chroma);
    f.chroma[at] = sample.words;
}

__device__ static void learn_chroma_tile(const Feedback &f, const LearnTile &tile, const FeedbackFrame &frame, int word0, int y0)
{
    const int columns = LEARN_WORDS * 16;
    for (int i = (int)threadIdx.x; i < LEARN_ROWS / 2 * columns; i += (int)blockDim.x) {
        const int row = i / columns, column = i % columns;
        const uint32_t y = (uint32_t)(y0 / 2 + row), x = (uint32_t)(word0 * 16 + column);
        if (y < f.chroma_height && x < f.chroma_width)
            learn_chroma(f, tile, frame, tile.gain, { (int)x, (int)y, column, row });
    }
}

/* ---------------------------------------------------------------- kernel */

/* A block whose mask is empty anyway does not wait for the sums of regions: sum_blobs() writes nothing else, and has itself
 * waited for all that is read and written here. Loads before the wait go past the L1 cache, which nothing has cleared. */
template <bool CHROMA>
__global__ static void __launch_bounds__(LEARN_THREADS, LEARN_BLOCKS) learn(const __grid_constant__ Feedback f)
{
    __shared__ LearnTile tile;
    const int word0 = (int)blockIdx.x * LEARN_WORDS, y0 = (int)blockIdx.y * LEARN_ROWS;
    const int row = (int)threadIdx.x / (LEARN_WORDS * 4), column = (int)threadIdx.x % (LEARN_WORDS * 4) * 8;
    const TilePixel first = { word0 * 32 + column, y0 + row, column, row };
    const bool inside = first.y < (int)f.height && first.x < (int)f.pitch;
    Learnt learnt = { 0, 0, 0, 0 };
    let_successor_start();
    load_state(f.state, tile);
    const bool empty = is_clear(f, word0, y0), clear = !tile.skip && (empty || tile.frame.silent);
    if (!clear)
        wait_for_predecessor();
    if (tile.skip)
        return;
    const FeedbackFrame &frame = tile.frame;
    make_masks(f, tile, word0, y0, clear);
    if (!clear)
        __syncthreads();
    if (inside) {
        const LearnBits bits = load_bits(f, tile, first, clear);
        learnt = learn_eight(f, tile, bits, frame, first);
        store_bits(f, first, bits, learnt);
    }
    ((uint8_t *)tile.still)[threadIdx.x] = (uint8_t)learnt.any_still;
    ((uint8_t *)tile.absorbed)[threadIdx.x] = (uint8_t)learnt.absorbed;
    if (__any_sync(~0u, learnt.still != 0) && threadIdx.x % 32 == 0)
        atomicOr(&f.state->any_still, 1u);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < tile.n_todo; i += blockDim.x)
        learn_listed(f, tile.todo[i], frame, word0, y0);
    if (CHROMA)
        learn_chroma_tile(f, tile, frame, word0, y0);
    if (clear)
        wait_for_predecessor(); /* whoever waits for this kernel has waited for all before */
}

CclStatus feedback_launch_learn(const CudaMotion *cuda, const Feedback *f)
{
    const dim3 grid(blocks_for(f->words, LEARN_WORDS), blocks_for(f->height, LEARN_ROWS));
    return cuda_motion_launch(cuda, true, f->chroma_width ? learn<true> : learn<false>, { grid, LEARN_THREADS, 0 }, *f);
}
