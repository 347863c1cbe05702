// SPDX-FileCopyrightText: gst-ccl contributors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Method "feedback": three duties between the filters and the sums of regions. They need nothing of each other, so they are blocks of
// one kernel: joining the runs of the filtered mask; its pixels that may be background which moved; offsets of chroma, for the
// next picture.

#include "feedback_median.cuh"
#include "feedback_range.cuh"
#include "feedback_regions.cuh"

#define EXPLAIN_THREADS    REGION_THREADS
#define OFFSETS_PER_THREAD 8u
#define TILE_WIDTH         64
#define TILE_HEIGHT        16
#define TILE_WORDS         (TILE_WIDTH * TILE_HEIGHT / 32)
#define HALO               FEEDBACK_FAR_RADIUS
#define ROWS               (TILE_HEIGHT + 2 * HALO)
#define COLUMNS            (TILE_WIDTH + 2 * HALO)

/* ---------------------------------------------------------------- explain */

typedef struct ExplainTile {
    alignas(8) uint16_t mean[ROWS][COLUMNS];
    uint32_t bits[TILE_WORDS], explained[TILE_WORDS];
} ExplainTile;

/* The picture repeats its border, which changes no range. */
__device__ static void load_means(const Feedback &f, ExplainTile &tile, uint32_t gain, int x0, int y0)
{
    for (int i = (int)threadIdx.x; i < ROWS * COLUMNS / 4; i += (int)blockDim.x) {
        const int row = i / (COLUMNS / 4), column = i % (COLUMNS / 4) * 4;
        const int y = min(max(y0 - HALO + row, 0), (int)f.height - 1), x = x0 - HALO + column;
        const uint16_t *const at = f.mean + (size_t)y * f.pitch;
        FeedbackFour means;
        if (x >= 0 && x + 4 <= (int)f.width)
            means.words = *(const uint2 *)(at + x);
        else
            for (int k = 0; k < 4; k++)
                means.of[k] = at[min(max(x + k, 0), (int)f.width - 1)];
        for (int k = 0; k < 4 && gain; k++)
            means.of[k] = rescaled(means.of[k], gain);
        *(uint2 *)&tile.mean[row][column] = means.words;
    }
}

__device__ static bool is_explained(const Feedback &f, const ExplainTile &tile, uint32_t gain, const TilePixel &pixel)
{
    const int x = pixel.x, y = pixel.y;
    FeedbackRange range;
    far_range<COLUMNS>(&tile.mean[0][0], pixel.row, pixel.column, &range);
    if (!feedback_is_explained(f.value[(size_t)y * f.pitch + x], f.state->frame.base, range.far_min, range.far_max))
        return false;
    if (!f.chroma_width)
        return true;
    const size_t sample = (size_t)(y / 2) * f.chroma_pitch + x / 2;
    const uint32_t uv[2] = { f.uv[0][sample], f.uv[1][sample] };
    const FeedbackChromaRange chroma = chroma_range(f, gain, x / 2, y / 2);
    return feedback_chroma_is_explained(uv, &chroma);
}

/* A block has a tile; most are empty. */
__device__ static void explain_tile(const Feedback &f, ExplainTile &tile, uint32_t block)
{
    const uint32_t columns = (f.words * 32 + TILE_WIDTH - 1) / TILE_WIDTH, t = threadIdx.x;
    const uint32_t word0 = block % columns * (TILE_WIDTH / 32), row0 = block / columns * TILE_HEIGHT;
    const uint32_t own_row = row0 + t / (TILE_WIDTH / 32), own_word = word0 + t % (TILE_WIDTH / 32);
    const bool owns = t < TILE_WORDS && own_row < f.height;
    const size_t at = (size_t)own_row * f.words + own_word;
    const uint32_t own = owns ? f.filtered[at] : 0, gain = (uint32_t)f.state->light.rescale;
    if (!__syncthreads_or(own != 0))
        return;
    if (t < TILE_WORDS)
        tile.bits[t] = own, tile.explained[t] = 0;
    load_means(f, tile, gain, (int)word0 * 32, (int)row0);
    __syncthreads();
    for (int i = (int)t; i < TILE_WIDTH * TILE_HEIGHT; i += (int)blockDim.x) {
        const int row = i / TILE_WIDTH, column = i % TILE_WIDTH;
        if (tile.bits[i / 32] >> i % 32 & 1 &&
            is_explained(f, tile, gain, { (int)word0 * 32 + column, (int)row0 + row, column, row }))
            atomicOr(&tile.explained[i / 32], 1u << i % 32);
    }
    __syncthreads();
    if (owns && own)
        f.explained[at] = tile.explained[t];
}

/* ---------------------------------------------------------------- runs */

__device__ static void merge_blobs(const Feedback &f, uint32_t warp, RegionList *list)
{
    const uint32_t chunks = region_chunks(f), y = warp / chunks, first = warp % chunks * 32;
    if (y >= f.height)
        return;
    const Regions r = regions_of(f, f.filtered, 0);
    const auto load = [&](uint32_t word, uint32_t row) { return word < f.words ? f.filtered[(size_t)row * f.words + word] : 0; };
    merge_words<true>(f, r, make_uint2(first, y), list, load, [&](uint32_t node) { f.sums[node] = 0; });
}

/* ---------------------------------------------------------------- offsets of chroma */

__device__ static uint32_t smooth_chroma(const Feedback &f, const FeedbackPicture &picture, uint32_t k, uint32_t x, uint32_t y)
{
    uint8_t square[3][3];
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++) {
            const int cx = min(max((int)x + i, 0), (int)f.chroma_width - 1);
            const int cy = min(max((int)y + j, 0), (int)f.chroma_height - 1);
            square[j + 1][i + 1] = picture.chroma[k][cy * picture.chroma_stride[k] + cx * picture.chroma_step];
        }
    return feedback_smooth(square[0], square[1], square[2], 1, 3);
}

__device__ static void add_offsets(const Feedback &f, const FeedbackPicture &picture, uint32_t k, uint32_t *bins, uint32_t block,
                                   uint32_t n_blocks)
{
    const uint32_t dy = feedback_row_step(f.height) / 2, dx = feedback_column_step(f.width) / 2;
    const uint32_t rows = (f.chroma_height + dy - 1) / dy, columns = (f.chroma_width + dx - 1) / dx;
    for (uint32_t i = block * blockDim.x + threadIdx.x; i < rows * columns; i += n_blocks * blockDim.x) {
        const uint32_t y = i / columns * dy, x = i % columns * dx;
        if (bit_at(f, f.last_mask, 2 * x, 2 * y))
            continue;
        const uint32_t scaled = feedback_scale_chroma(smooth_chroma(f, picture, k, x, y), f.gains[2 * y]);
        FeedbackSample sample;
        sample.words = f.chroma[(size_t)y * f.chroma_pitch + x];
        atomicAdd(&bins[feedback_offset_bin(scaled, sample.chroma.mean[0][k])], 1u);
    }
}

/* n_blocks blocks for each of U and V. */
__device__ static void measure_offsets(const Feedback &f, const FeedbackPicture &picture, uint32_t *bins, uint32_t block,
                                       uint32_t n_blocks)
{
    const uint32_t k = block / n_blocks, warp = threadIdx.x / 32;
    if (f.state->light.rescale)
        return;
    for (uint32_t i = threadIdx.x; i < FEEDBACK_BINS; i += blockDim.x)
        bins[i] = 0;
    __syncthreads();
    add_offsets(f, picture, k, bins, block % n_blocks, n_blocks);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < FEEDBACK_BINS; i += blockDim.x)
        if (bins[i])
            atomicAdd(&f.offsets[k * FEEDBACK_BINS + i], bins[i]);
    if (!is_last_block(&f.state->chroma_blocks, 2 * n_blocks) || warp >= 2)
        return;
    const int median = take_median(f.offsets + warp * FEEDBACK_BINS);
    if (threadIdx.x % 32 == 0)
        f.state->control.offset[warp] = feedback_offset_of(median);
}

/* ---------------------------------------------------------------- kernel */

/* How many blocks have each duty, in this order. offsets: for each of U and V. */
typedef struct Duties {
    uint32_t merge, explain, offsets;
} Duties;

__global__ static void __launch_bounds__(EXPLAIN_THREADS)
    explain(const __grid_constant__ Feedback f, const __grid_constant__ FeedbackPicture picture,
            const __grid_constant__ Duties duties)
{
    __shared__ union {
        ExplainTile tile;
        uint32_t bins[FEEDBACK_BINS];
        RegionList lists[EXPLAIN_THREADS / 32];
    } shared;
    const uint32_t block = blockIdx.x;
    wait_for_predecessor();
    let_successor_start();
    if (f.state->skip)
        return;
    if (block >= duties.merge + duties.explain)
        measure_offsets(f, picture, shared.bins, block - duties.merge - duties.explain, duties.offsets);
    else if (f.state->frame.silent)
        return;
    else if (block >= duties.merge)
        explain_tile(f, shared.tile, block - duties.merge);
    else
        merge_blobs(f, row_of_warp(), &shared.lists[threadIdx.x / 32]);
}

static uint32_t offset_blocks(const Feedback *f)
{
    const uint32_t dy = feedback_row_step(f->height) / 2, dx = feedback_column_step(f->width) / 2;
    const uint32_t n = ((f->chroma_height + dy - 1) / dy) * ((f->chroma_width + dx - 1) / dx);
    return min(blocks_for(n, EXPLAIN_THREADS * OFFSETS_PER_THREAD), 64u);
}

CclStatus feedback_launch_explain(const CudaMotion *cuda, const Feedback *f, const FeedbackPicture *picture, CudaGraph *graph)
{
    const Duties duties = { blocks_for(f->height * region_chunks(*f), EXPLAIN_THREADS / 32),
                            blocks_for(f->words * 32, TILE_WIDTH) * blocks_for(f->height, TILE_HEIGHT),
                            f->chroma_width ? offset_blocks(f) : 0 };
    const uint32_t n_blocks = duties.merge + duties.explain + 2 * duties.offsets;
    return feedback_launch(cuda, graph, explain, { n_blocks, EXPLAIN_THREADS, 0 }, *f, *picture, duties);
}
