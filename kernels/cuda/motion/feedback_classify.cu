// SPDX-FileCopyrightText: gst-ccl contributors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Method "feedback": from the picture to foreground without shadows. A block has a tile of the picture and of the model in
// shared memory, with what lies around it. Pixels whose first mode fits are done at once; the block's threads share the others.

#include "feedback_range.cuh"

#include "cuda/warp.cuh"

#define CLASSIFY_THREADS 256u
#define TILE_WIDTH       64
#define TILE_HEIGHT      16
#define TILE_PIXELS      (TILE_WIDTH * TILE_HEIGHT)
#define TILE_WORDS       (TILE_PIXELS / 32)

/* What surrounds the tile, pixels: of the model, of values, of luma. */
#define MEAN_HALO    FEEDBACK_FAR_RADIUS
#define MEAN_WIDTH   (TILE_WIDTH + 2 * MEAN_HALO)
#define MEAN_HEIGHT  (TILE_HEIGHT + 2 * MEAN_HALO)
#define VALUE_HALO   MOTION_SHADOW_RADIUS
#define VALUE_WIDTH  (TILE_WIDTH + 2 * VALUE_HALO)
#define VALUE_HEIGHT (TILE_HEIGHT + 2 * VALUE_HALO)
#define LUMA_HALO    (VALUE_HALO + 1)
#define LUMA_WIDTH   (TILE_WIDTH + 8) /* whole words: begins four pixels left of the tile */
#define LUMA_HEIGHT  (TILE_HEIGHT + 2 * LUMA_HALO)

/* The same in chroma samples: of flags and values, of what they are made of. */
#define FLAG_WIDTH    (TILE_WIDTH / 2 + 2)
#define FLAG_HEIGHT   (TILE_HEIGHT / 2 + 2)
#define CHROMA_WIDTH  (TILE_WIDTH / 2 + 4)
#define CHROMA_HEIGHT (TILE_HEIGHT / 2 + 4)

static_assert(TILE_PIXELS == CLASSIFY_THREADS * 4, "a thread has four pixels");
static_assert(VALUE_HEIGHT <= CLASSIFY_THREADS, "a thread loads the gain of a row");
static_assert(VALUE_HALO >= 2 && MEAN_HALO >= 2, "edges look two pixels away");

typedef struct ClassifyTile {
    alignas(8) uint16_t mean[MEAN_HEIGHT][MEAN_WIDTH];
    alignas(4) uint16_t value[VALUE_HEIGHT][VALUE_WIDTH];
    uint16_t gains[VALUE_HEIGHT];
    alignas(4) uint8_t luma[LUMA_HEIGHT][LUMA_WIDTH];
    uint32_t raw[TILE_WORDS], seen[TILE_WORDS], rising[TILE_WORDS];
    uint16_t todo[TILE_PIXELS]; /* pixels to look at again, and MISSES */
    uint32_t n_todo;
    uint32_t sums[6]; /* raw pixels; FeedbackEdges.raw, edges, lost, raw_edges, raw_lost */
} ClassifyTile;

typedef struct ChromaTile {
    uint8_t samples[2][CHROMA_HEIGHT][CHROMA_WIDTH];
    uint16_t uv[2][FLAG_HEIGHT][FLAG_WIDTH];
    uint8_t flags[FLAG_HEIGHT][FLAG_WIDTH];
} ChromaTile;

#define MISSES 0x8000u
static_assert(TILE_PIXELS <= MISSES, "");

/* What a thread knows of the picture. */
typedef struct Classify {
    int x0, y0;    /* of the tile */
    uint32_t gain; /* of a step of light, or 0 */
    uint32_t base, black;
    bool drop_shadow;
} Classify;

/* ---------------------------------------------------------------- load */

/* The picture repeats its border; so ranges and smoothing need no test for it. */
__device__ static void load_luma(const Feedback &f, const FeedbackPicture &picture, ClassifyTile &tile, int x0, int y0)
{
    const bool aligned = (((uintptr_t)picture.luma | picture.stride) & 3) == 0;
    for (int i = (int)threadIdx.x; i < LUMA_HEIGHT * LUMA_WIDTH / 4; i += (int)blockDim.x) {
        const int row = i / (LUMA_WIDTH / 4), word = i % (LUMA_WIDTH / 4);
        const int y = min(max(y0 - LUMA_HALO + row, 0), (int)f.height - 1), x = x0 - 4 + word * 4;
        const uint8_t *const at = picture.luma + y * picture.stride;
        uint32_t four = 0;
        if (aligned && x >= 0 && x + 4 <= (int)f.width)
            four = __ldcg((const uint32_t *)(at + x));
        else
            for (int k = 0; k < 4; k++)
                four |= (uint32_t)__ldcg(at + min(max(x + k, 0), (int)f.width - 1)) << 8 * k;
        *(uint32_t *)&tile.luma[row][word * 4] = four;
    }
}

__device__ static void load_means(const Feedback &f, ClassifyTile &tile, int x0, int y0)
{
    for (int i = (int)threadIdx.x; i < MEAN_HEIGHT * MEAN_WIDTH / 4; i += (int)blockDim.x) {
        const int row = i / (MEAN_WIDTH / 4), four = i % (MEAN_WIDTH / 4);
        const int y = min(max(y0 - MEAN_HALO + row, 0), (int)f.height - 1), x = x0 - MEAN_HALO + four * 4;
        const uint16_t *const at = f.mean + (size_t)y * f.pitch;
        FeedbackFour means;
        if (x >= 0 && x + 4 <= (int)f.width)
            /* race: the first picture stores means, and uses none that are loaded here */
            means.words = __ldcg((const uint2 *)(at + x));
        else
            for (int k = 0; k < 4; k++)
                /* race: as above */
                means.of[k] = __ldcg(at + min(max(x + k, 0), (int)f.width - 1));
        *(uint2 *)&tile.mean[row][four * 4] = means.words;
    }
}

/* What load_means() has put there, by the same threads. */
__device__ static void rescale_means(ClassifyTile &tile, uint32_t gain)
{
    for (int i = (int)threadIdx.x; gain && i < MEAN_HEIGHT * MEAN_WIDTH / 4; i += (int)blockDim.x)
        for (int k = 0; k < 4; k++) {
            uint16_t *const mean = &tile.mean[0][0] + i * 4 + k;
            *mean = rescaled(*mean, gain);
        }
}

__device__ static void load_gains(const Feedback &f, ClassifyTile &tile, int y0)
{
    if (threadIdx.x < VALUE_HEIGHT)
        tile.gains[threadIdx.x] = f.gains[min(max(y0 - VALUE_HALO + (int)threadIdx.x, 0), (int)f.height - 1)];
}

__device__ static uint32_t smoothed(const ClassifyTile &tile, int row, int column)
{
    const int x = column + 4 - VALUE_HALO, y = row + LUMA_HALO - VALUE_HALO;
    return feedback_smooth(tile.luma[y - 1], tile.luma[y], tile.luma[y + 1], (uint32_t)x, LUMA_WIDTH);
}

/* Four pixels of a row weighted 1, 2, 1 with their neighbours: columns 0 and 2, and 1 and 3, in halves of 16 bits. */
typedef struct Weighted {
    uint32_t even, odd;
} Weighted;

/* Of a word of luma, which is neither the first nor the last of its row. */
__device__ static Weighted weigh_across(const ClassifyTile &tile, int y, int word)
{
    const uint32_t *const at = (const uint32_t *)tile.luma[y] + word, mask = 0x00ff00ff;
    const uint32_t even = at[0] & mask, odd = at[0] >> 8 & mask;
    const uint32_t before = odd << 16 | at[-1] >> 24;         /* columns -1 and 1 */
    const uint32_t after = even >> 16 | (at[1] & 255u) << 16; /* columns 2 and 4 */
    return { before + 2 * even + odd, even + 2 * odd + after };
}

/* feedback_smooth() and feedback_normalise() of four pixels, from their row and those above and below. */
__device__ static void store_four(ClassifyTile &tile, const Weighted *rows, int row, int column)
{
    const uint32_t gain = tile.gains[row];
    const uint32_t even = (rows[0].even + 2 * rows[1].even + rows[2].even) << 4; /* at most 65280 each */
    const uint32_t odd = (rows[0].odd + 2 * rows[1].odd + rows[2].odd) << 4;
    uint32_t *const to = (uint32_t *)&tile.value[row][column];
    to[0] = feedback_normalise(even & 65535, gain) | feedback_normalise(odd & 65535, gain) << 16;
    to[1] = feedback_normalise(even >> 16, gain) | feedback_normalise(odd >> 16, gain) << 16;
}

/* The values of the tile four by two at a time; other threads those left and right of it. */
__device__ static void compute_values(ClassifyTile &tile)
{
    const int fours = TILE_WIDTH / 4, n_inside = VALUE_HEIGHT / 2 * fours, sides = 2 * VALUE_HALO;
    static_assert(VALUE_HEIGHT % 2 == 0 && LUMA_HALO == VALUE_HALO + 1, "rows of luma begin one above those of values");
    for (int i = (int)threadIdx.x; i < n_inside; i += (int)blockDim.x) {
        const int row = i / fours * 2, four = i % fours;
        Weighted rows[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            rows[k] = weigh_across(tile, row + k, four + 1);
        store_four(tile, rows, row, four * 4 + VALUE_HALO);
        store_four(tile, rows + 1, row + 1, four * 4 + VALUE_HALO);
    }
    for (int i = (int)(threadIdx.x + blockDim.x - n_inside % blockDim.x) % (int)blockDim.x; i < VALUE_HEIGHT * sides;
         i += (int)blockDim.x) {
        const int row = i / sides, side = i % sides, column = side < VALUE_HALO ? side : TILE_WIDTH + side;
        tile.value[row][column] = (uint16_t)feedback_normalise(smoothed(tile, row, column), tile.gains[row]);
    }
}

/* ---------------------------------------------------------------- chroma */

__device__ static void load_chroma(const Feedback &f, const FeedbackPicture &picture, ChromaTile *tile, int x0, int y0)
{
    const int n = CHROMA_HEIGHT * CHROMA_WIDTH;
    for (int i = (int)threadIdx.x; i < 2 * n; i += (int)blockDim.x) {
        const int k = i / n, row = i % n / CHROMA_WIDTH, column = i % CHROMA_WIDTH;
        const int y = min(max(y0 / 2 - 2 + row, 0), (int)f.chroma_height - 1);
        const int x = min(max(x0 / 2 - 2 + column, 0), (int)f.chroma_width - 1);
        tile->samples[k][row][column] = __ldcg(picture.chroma[k] + y * picture.chroma_stride[k] + x * picture.chroma_step);
    }
}

/* FEEDBACK_... of a sample. After a step of light no chroma counts. */
__device__ static uint32_t chroma_flags(const Feedback &f, const Classify &c, const uint32_t *uv, int x, int y)
{
    FeedbackSample sample;
    if (c.gain)
        return 0;
    sample.words = f.chroma[(size_t)y * f.chroma_pitch + x];
    const FeedbackChroma &model = sample.chroma;
    const uint32_t threshold = feedback_chroma_threshold(model.deviation);
    if (feedback_chroma_distance(uv[0], uv[1], model.mean[0][0], model.mean[0][1]) <= threshold)
        return 0;
    const FeedbackChromaRange range = chroma_range(f, c.gain, x, y);
    return feedback_chroma_miss(uv, threshold, model.mean[0], model.mean[1], model.weight,
                                f.rises[(size_t)2 * y * f.pitch + 2 * x], &range);
}

__device__ static void compare_chroma(const Feedback &f, ChromaTile &tile, const Classify &c)
{
    const FeedbackState *const state = f.state;
    const int32_t offsets[2] = { state->control.offset[0], state->control.offset[1] };
    for (int i = (int)threadIdx.x; i < FLAG_HEIGHT * FLAG_WIDTH; i += (int)blockDim.x) {
        const int row = i / FLAG_WIDTH, column = i % FLAG_WIDTH, y = c.y0 / 2 - 1 + row, x = c.x0 / 2 - 1 + column;
        uint32_t flags = 0;
        if (y >= 0 && y < (int)f.chroma_height && x >= 0 && x < (int)f.chroma_width) {
            uint32_t uv[2];
            for (int k = 0; k < 2; k++) {
                const uint32_t smooth = feedback_smooth(tile.samples[k][row], tile.samples[k][row + 1], tile.samples[k][row + 2],
                                                        (uint32_t)column + 1, CHROMA_WIDTH);
                uv[k] = feedback_take_offset(feedback_scale_chroma(smooth, f.gains[2 * y]), offsets[k]);
                tile.uv[k][row][column] = (uint16_t)uv[k];
                if (row && row < FLAG_HEIGHT - 1 && column && column < FLAG_WIDTH - 1)
                    f.uv[k][(size_t)y * f.chroma_pitch + x] = (uint16_t)uv[k];
            }
            flags = chroma_flags(f, c, uv, x, y);
        }
        tile.flags[row][column] = (uint8_t)flags;
    }
}

/* A foreground sample whose neighbours are foreground too. */
__device__ static bool is_inside(const ChromaTile &tile, int row, int column)
{
    return tile.flags[row][column] & tile.flags[row][column - 1] & tile.flags[row][column + 1] & tile.flags[row - 1][column] &
           tile.flags[row + 1][column] & FEEDBACK_RAW;
}

/* ---------------------------------------------------------------- luma */

/* Four pixels of a thread: what their thresholds need. */
typedef struct Noise {
    FeedbackFour deviation, extra;
} Noise;

__device__ static Noise load_noise(const Feedback &f, int x0, int y0)
{
    const int y = y0 + (int)threadIdx.x * 4 / TILE_WIDTH, x = x0 + (int)threadIdx.x * 4 % TILE_WIDTH;
    const size_t at = (size_t)min(y, (int)f.height - 1) * f.pitch + x;
    Noise noise;
    noise.deviation.words = __ldcg((const uint2 *)(f.deviation + at));
    noise.extra.words = __ldcg((const uint2 *)(f.extra + at));
    return noise;
}

/* Compares a thread's four pixels with their first modes, stores their values, and lists those to look at again. */
template <bool CHROMA>
__device__ static void first_modes(const Feedback &f, ClassifyTile &tile, const ChromaTile *chroma, const Classify &c,
                                   const Noise &noise)
{
    const int row = (int)threadIdx.x * 4 / TILE_WIDTH, column = (int)threadIdx.x * 4 % TILE_WIDTH, y = c.y0 + row;
    uint32_t misses = 0, again = 0, rising = 0;
    if (y < (int)f.height) {
        const uint32_t *const values = (const uint32_t *)&tile.value[row + VALUE_HALO][column + VALUE_HALO];
        FeedbackFour value, mean;
        value.words = make_uint2(values[0], values[1]);
        mean.words = *(const uint2 *)&tile.mean[row + MEAN_HALO][column + MEAN_HALO];
        for (int i = 0; i < 4; i++) {
            const uint32_t threshold = feedback_threshold(c.base, mean.of[i], noise.deviation.of[i], noise.extra.of[i]);
            misses |= (motion_distance(value.of[i], mean.of[i]) > threshold ? 1u : 0u) << i;
        }
        *(uint2 *)(f.value + (size_t)y * f.pitch + c.x0 + column) = value.words;
        again = misses;
        for (int i = 0; CHROMA && i < 4; i += 2) {
            const int chroma_row = row / 2 + 1, chroma_column = (column + i) / 2 + 1;
            again |= is_inside(*chroma, chroma_row, chroma_column) ? 3u << i : 0;
            rising |= chroma->flags[chroma_row][chroma_column] & FEEDBACK_RISES ? 3u << i : 0;
        }
        const uint32_t valid = valid_bits(f, (uint32_t)(c.x0 + column) / 32) >> column % 32;
        again &= valid, rising &= valid;
    }
    if (rising)
        atomicOr(&tile.rising[threadIdx.x / 8], rising << threadIdx.x % 8 * 4);
    uint32_t slot = again ? atomicAdd(&tile.n_todo, (uint32_t)__popc(again)) : 0;
    for (uint32_t left = again; left; left &= left - 1) {
        const uint32_t i = (uint32_t)__ffs((int)left) - 1;
        tile.todo[slot++] = (uint16_t)((threadIdx.x * 4 + i) | (misses >> i & 1 ? MISSES : 0));
    }
}

__device__ static FeedbackRange range_around(const ClassifyTile &tile, int row, int column)
{
    FeedbackRange range = { 65535, 0, 65535, 0 };
    far_range<MEAN_WIDTH>(&tile.mean[0][0], row, column, &range);
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++) {
            const uint32_t mean = tile.mean[row + MEAN_HALO + j][column + MEAN_HALO + i];
            range.near_min = min(range.near_min, mean), range.near_max = max(range.near_max, mean);
        }
    return range;
}

/* The sums of the 5x5 around a pixel; INSIDE: all of it is in the picture. */
template <bool INSIDE>
__device__ static MotionShadow shadow_sums(const Feedback &f, const ClassifyTile &tile, const Classify &c, int row, int column)
{
    MotionShadow sums = { 0, 0, 0 };
#pragma unroll
    for (int j = -MOTION_SHADOW_RADIUS; j <= MOTION_SHADOW_RADIUS; j++)
#pragma unroll
        for (int i = -MOTION_SHADOW_RADIUS; i <= MOTION_SHADOW_RADIUS; i++) {
            const int y = c.y0 + row + j, x = c.x0 + column + i;
            if (INSIDE || (y >= 0 && y < (int)f.height && x >= 0 && x < (int)f.width))
                motion_shadow_add(&sums, feedback_above_black(tile.value[row + VALUE_HALO + j][column + VALUE_HALO + i], c.black),
                                  feedback_above_black(tile.mean[row + MEAN_HALO + j][column + MEAN_HALO + i], c.black));
        }
    return sums;
}

__device__ static bool is_shadow(const Feedback &f, const ClassifyTile &tile, const Classify &c, int row, int column)
{
    const int r = MOTION_SHADOW_RADIUS;
    if (tile.value[row + VALUE_HALO][column + VALUE_HALO] > tile.mean[row + MEAN_HALO][column + MEAN_HALO])
        return false;
    /* Of the tile: its threads go the same way. */
    const bool inside =
        c.x0 >= r && c.y0 >= r && c.x0 + TILE_WIDTH + r <= (int)f.width && c.y0 + TILE_HEIGHT + r <= (int)f.height;
    const MotionShadow sums = inside ? shadow_sums<true>(f, tile, c, row, column) : shadow_sums<false>(f, tile, c, row, column);
    return feedback_is_shadow(&sums);
}

/* feedback_miss() of a listed pixel. */
__device__ static uint32_t miss(const Feedback &f, const Classify &c, uint32_t value, uint32_t mean, size_t at,
                                const FeedbackRange &range)
{
    FeedbackRest rest = rest_of(f.rest[at]);
    const uint32_t extra = f.extra[at];
    rest.mean[0] = rescaled(rest.mean[0], c.gain), rest.mean[1] = rescaled(rest.mean[1], c.gain);
    return feedback_miss(value, feedback_threshold(c.base, mean, f.deviation[at], extra), mean, f.weight[at], extra, f.rises[at],
                         &rest, &range);
}

template <bool CHROMA>
__device__ static void look_again(const Feedback &f, ClassifyTile &tile, const ChromaTile *chroma, const Classify &c,
                                  uint32_t entry)
{
    const uint32_t pixel = entry & (MISSES - 1), bit = 1u << pixel % 32;
    const int row = (int)pixel / TILE_WIDTH, column = (int)pixel % TILE_WIDTH, x = c.x0 + column, y = c.y0 + row;
    const uint32_t value = tile.value[row + VALUE_HALO][column + VALUE_HALO];
    const uint32_t mean = tile.mean[row + MEAN_HALO][column + MEAN_HALO];
    const uint32_t luma = entry & MISSES ? miss(f, c, value, mean, (size_t)y * f.pitch + x, range_around(tile, row, column)) : 0;
    bool by_chroma = false;
    if (CHROMA)
        by_chroma = entry & MISSES ? chroma->flags[row / 2 + 1][column / 2 + 1] & FEEDBACK_RAW : true;
    if (luma & FEEDBACK_RISES)
        atomicOr(&tile.rising[pixel / 32], bit);
    if (!(luma & FEEDBACK_RAW || by_chroma) || bit_at(f, f.ignored, (uint32_t)x, (uint32_t)y))
        return;
    atomicOr(&tile.raw[pixel / 32], bit);
    if (!(c.drop_shadow && !by_chroma && is_shadow(f, tile, c, row, column)))
        atomicOr(&tile.seen[pixel / 32], bit);
}

/* ---------------------------------------------------------------- sums, stores */

__device__ static void add_edges(const Feedback &f, ClassifyTile &tile, const Classify &c)
{
    const int dy = (int)feedback_row_step(f.height), dx = (int)feedback_column_step(f.width), columns = TILE_WIDTH / dx;
    FeedbackEdges sums = {};
    if ((int)threadIdx.x / 32 * 32 >= TILE_HEIGHT / dy * columns)
        return; /* the whole warp */
    for (int i = (int)threadIdx.x; i < TILE_HEIGHT / dy * columns; i += (int)blockDim.x) {
        const int row = dy / 2 + i / columns * dy, column = dx / 2 + i % columns * dx, y = c.y0 + row, x = c.x0 + column;
        if (x < 2 || y < 2 || x >= (int)f.width - 2 || y >= (int)f.height - 2)
            continue;
        const uint16_t *const m = &tile.mean[row + MEAN_HALO][column + MEAN_HALO];
        const uint16_t *const v = &tile.value[row + VALUE_HALO][column + VALUE_HALO];
        const uint16_t means[4] = { m[2], m[-2], m[2 * MEAN_WIDTH], m[-2 * MEAN_WIDTH] };
        const uint16_t values[4] = { v[2], v[-2], v[2 * VALUE_WIDTH], v[-2 * VALUE_WIDTH] };
        const uint32_t pixel = (uint32_t)(row * TILE_WIDTH + column);
        feedback_add_edge(&sums, means, values, tile.raw[pixel / 32] >> pixel % 32 & 1);
    }
    const uint32_t all[5] = { warp_sum(sums.raw), warp_sum(sums.edges), warp_sum(sums.lost), warp_sum(sums.raw_edges),
                              warp_sum(sums.raw_lost) };
    for (int k = 0; k < 5; k++)
        if (threadIdx.x % 32 == 0 && all[k])
            atomicAdd(&tile.sums[1 + k], all[k]);
}

/* By the last threads: the first add up edges. */
__device__ static void store_bits(const Feedback &f, ClassifyTile &tile, const Classify &c)
{
    static_assert(TILE_WORDS % 32 == 0, "whole warps");
    if (threadIdx.x < CLASSIFY_THREADS - TILE_WORDS)
        return;
    const uint32_t i = threadIdx.x - (CLASSIFY_THREADS - TILE_WORDS), y = (uint32_t)c.y0 + i / (TILE_WIDTH / 32),
                   word = (uint32_t)c.x0 / 32 + i % (TILE_WIDTH / 32);
    const uint32_t n = warp_sum((uint32_t)__popc(tile.raw[i]));
    if (i % 32 == 0 && n)
        atomicAdd(&tile.sums[0], n);
    if (y >= f.height)
        return;
    const size_t at = (size_t)y * f.words + word;
    f.raw[at] = tile.raw[i], f.seen[at] = tile.seen[i], f.rising[at] = tile.rising[i];
}

/* Samples of FeedbackEdges: grid points at least two pixels from the border. */
__device__ static uint32_t edge_samples(uint32_t size, uint32_t step)
{
    const uint32_t first = step / 2 < 2 ? step / 2 + step : step / 2;
    return size <= first + 2 ? 0 : (size - 2 - first + step - 1) / step;
}

/* Decides whether learning restarts, and tells the host. One thread of the last block calls. */
__device__ static void decide(const Feedback &f, const FeedbackPicture &picture)
{
    FeedbackState *const state = f.state;
    const FeedbackFrame frame = state->frame;
    const unsigned long long raw = __ldcg(&state->raw), edges = __ldcg(&state->edges), raw_edges = __ldcg(&state->raw_edges);
    FeedbackEdges sums;
    sums.samples = edge_samples(f.width, feedback_column_step(f.width)) * edge_samples(f.height, feedback_row_step(f.height));
    sums.raw = (uint32_t)raw, sums.edges = (uint32_t)(edges >> 32), sums.lost = (uint32_t)edges;
    sums.raw_edges = (uint32_t)(raw_edges >> 32), sums.raw_lost = (uint32_t)raw_edges;
    unsigned long long outcome = state->control.n_learnt - 1 + (frame.silent ? FEEDBACK_OUTCOME_SILENT : 0);
    bool restarts = false;
    if (!frame.seed) {
        FeedbackControl control = state->control;
        restarts = feedback_decide(&control, &frame, &sums, raw >> 32, picture.target.max_raw);
        state->control = control;
    }
    if (restarts) {
        state->skip = 1;
        outcome |= FEEDBACK_OUTCOME_RESTARTS;
    }
    picture.target.counters->raw = raw >> 32 | (frame.seed || frame.silent || restarts ? MOTION_EMPTY : 0);
    *picture.outcome = outcome; /* there before the result, which the last kernel writes after a fence */
}

/* ---------------------------------------------------------------- the first picture */

__device__ static void seed_pixel(const Feedback &f, size_t at, uint32_t value)
{
    f.mean[at] = (uint16_t)value, f.weight[at] = MOTION_ONE, f.deviation[at] = FEEDBACK_DEVIATION_NEW;
    f.extra[at] = 0, f.rises[at] = 0, f.candidate[at] = 0;
    f.rest[at] = make_ushort4(0, 0, 0, 0);
}

template <bool CHROMA>
__device__ static void seed(const Feedback &f, const ClassifyTile &tile, const ChromaTile *chroma, int x0, int y0)
{
    for (int i = (int)threadIdx.x; i < TILE_PIXELS; i += (int)blockDim.x) {
        const int row = i / TILE_WIDTH, column = i % TILE_WIDTH, y = y0 + row;
        if (y >= (int)f.height)
            break;
        seed_pixel(f, (size_t)y * f.pitch + x0 + column, smoothed(tile, row + VALUE_HALO, column + VALUE_HALO));
        if (column % 32 == 0) {
            const size_t at = (size_t)y * f.words + (x0 + column) / 32;
            f.last_mask[at] = f.last_rising[at] = f.last_still[at] = 0;
        }
    }
    for (int i = (int)threadIdx.x; CHROMA && i < TILE_PIXELS / 4; i += (int)blockDim.x) {
        const int row = i / (TILE_WIDTH / 2), column = i % (TILE_WIDTH / 2), y = y0 / 2 + row, x = x0 / 2 + column;
        FeedbackSample sample;
        uint32_t uv[2];
        if (y >= (int)f.chroma_height || x >= (int)f.chroma_width)
            continue;
        for (int k = 0; k < 2; k++)
            uv[k] = feedback_smooth(chroma->samples[k][row + 1], chroma->samples[k][row + 2], chroma->samples[k][row + 3],
                                    (uint32_t)column + 2, CHROMA_WIDTH);
        sample.words = make_uint4(0, 0, 0, 0);
        feedback_seed_chroma(uv, &sample.chroma);
        f.chroma[(size_t)y * f.chroma_pitch + x] = sample.words;
    }
}

/* ---------------------------------------------------------------- kernel */

/* A block's sums to those of the picture. The first warp calls. Returns whether the block is the last. */
__device__ static bool add_sums(FeedbackState *state, const ClassifyTile &tile, uint32_t n_blocks)
{
    bool is_last = false;
    if (threadIdx.x < 3) {
        const uint32_t *const pair = tile.sums + 2 * threadIdx.x;
        unsigned long long *const sums = !threadIdx.x ? &state->raw : threadIdx.x == 1 ? &state->edges : &state->raw_edges;
        if (pair[0] | pair[1])
            atomicAdd(sums, (unsigned long long)pair[0] << 32 | pair[1]);
        __threadfence();
    }
    __syncwarp();
    if (!threadIdx.x) {
        is_last = atomicAdd(&state->classify_blocks, 1u) + 1 == n_blocks;
        __threadfence();
    }
    return is_last;
}

template <bool CHROMA>
__device__ static void compare(const Feedback &f, const FeedbackPicture &picture, ClassifyTile &tile, ChromaTile *chroma,
                               const Classify &c, const Noise &noise)
{
    compute_values(tile);
    if (CHROMA)
        compare_chroma(f, *chroma, c);
    __syncthreads();
    first_modes<CHROMA>(f, tile, chroma, c, noise);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < tile.n_todo; i += blockDim.x)
        look_again<CHROMA>(f, tile, chroma, c, tile.todo[i]);
    __syncthreads();
    add_edges(f, tile, c);
    store_bits(f, tile, c);
    __syncthreads();
}

/* What does not depend on the light is loaded before the wait: `sample` writes none of it, and has waited for those who did. */
template <bool CHROMA>
__global__ static void __launch_bounds__(CLASSIFY_THREADS, CHROMA ? 6 : 8)
    classify(const __grid_constant__ Feedback f, const __grid_constant__ FeedbackPicture picture)
{
    __shared__ ClassifyTile tile;
    __shared__ ChromaTile chroma_tile; /* without chroma it takes no memory */
    ChromaTile *const chroma = CHROMA ? &chroma_tile : NULL;
    FeedbackState *const state = f.state;
    const int x0 = (int)blockIdx.x * TILE_WIDTH, y0 = (int)blockIdx.y * TILE_HEIGHT;
    if (threadIdx.x < TILE_WORDS)
        tile.raw[threadIdx.x] = tile.seen[threadIdx.x] = tile.rising[threadIdx.x] = 0;
    if (threadIdx.x < 6)
        tile.sums[threadIdx.x] = 0;
    if (!threadIdx.x)
        tile.n_todo = 0;
    load_luma(f, picture, tile, x0, y0);
    if (CHROMA)
        load_chroma(f, picture, chroma, x0, y0);
    load_means(f, tile, x0, y0);
    const Noise noise = load_noise(f, x0, y0);
    wait_for_predecessor();
    let_successor_start();
    const Classify c = {
        x0, y0, (uint32_t)state->light.rescale, state->frame.base, state->light.black, picture.drop_shadow != 0
    };
    load_gains(f, tile, y0);
    rescale_means(tile, c.gain);
    __syncthreads();
    if (state->frame.seed)
        seed<CHROMA>(f, tile, chroma, x0, y0);
    else
        compare<CHROMA>(f, picture, tile, chroma, c, noise);
    if (threadIdx.x < 32 && add_sums(state, tile, gridDim.x * gridDim.y))
        decide(f, picture);
}

CclStatus feedback_launch_classify(const CudaMotion *cuda, const Feedback *f, const FeedbackPicture *picture, CudaGraph *graph)
{
    const dim3 grid(blocks_for(f->pitch, TILE_WIDTH), blocks_for(f->height, TILE_HEIGHT));
    return feedback_launch(cuda, graph, f->chroma_width ? classify<true> : classify<false>, { grid, CLASSIFY_THREADS, 0 }, *f,
                           *picture);
}
