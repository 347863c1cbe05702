// SPDX-FileCopyrightText: gst-ccl contributors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Method "feedback": pixels of the filtered mask that may be background which moved. A block has a tile; most are empty.

#include "feedback.cuh"

#define EXPLAIN_THREADS 256u
#define TILE_WIDTH      64
#define TILE_HEIGHT     16
#define TILE_WORDS      (TILE_WIDTH * TILE_HEIGHT / 32)
#define HALO            FEEDBACK_FAR_RADIUS
#define ROWS            (TILE_HEIGHT + 2 * HALO)

typedef struct ExplainTile {
    uint16_t mean[ROWS][TILE_WIDTH + 2 * HALO];
    uint16_t row_min[ROWS][TILE_WIDTH], row_max[ROWS][TILE_WIDTH];
    uint32_t bits[TILE_WORDS], explained[TILE_WORDS];
} ExplainTile;

/* The picture repeats its border, which changes no range. */
__device__ static void load_means(const Feedback &f, ExplainTile &tile, uint32_t gain, int x0, int y0)
{
    for (int i = (int)threadIdx.x; i < ROWS * (TILE_WIDTH + 2 * HALO); i += (int)blockDim.x) {
        const int row = i / (TILE_WIDTH + 2 * HALO), column = i % (TILE_WIDTH + 2 * HALO);
        const int y = min(max(y0 - HALO + row, 0), (int)f.height - 1), x = min(max(x0 - HALO + column, 0), (int)f.width - 1);
        tile.mean[row][column] = rescaled(f.mean[(size_t)y * f.pitch + x], gain);
    }
}

__device__ static void range_rows(ExplainTile &tile)
{
    for (int i = (int)threadIdx.x; i < ROWS * TILE_WIDTH; i += (int)blockDim.x) {
        const int row = i / TILE_WIDTH, column = i % TILE_WIDTH;
        uint32_t smallest = 65535, largest = 0;
        for (int k = 0; k <= 2 * HALO; k++) {
            const uint32_t mean = tile.mean[row][column + k];
            smallest = min(smallest, mean), largest = max(largest, mean);
        }
        tile.row_min[row][column] = (uint16_t)smallest, tile.row_max[row][column] = (uint16_t)largest;
    }
}

__device__ static bool is_explained(const Feedback &f, const ExplainTile &tile, uint32_t gain, int row, int column, int x, int y)
{
    uint32_t smallest = 65535, largest = 0;
    for (int k = 0; k <= 2 * HALO; k++) {
        smallest = min(smallest, (uint32_t)tile.row_min[row + k][column]);
        largest = max(largest, (uint32_t)tile.row_max[row + k][column]);
    }
    if (!feedback_is_explained(f.value[(size_t)y * f.pitch + x], f.state->frame.base, smallest, largest))
        return false;
    if (!f.chroma_width)
        return true;
    const size_t sample = (size_t)(y / 2) * f.chroma_pitch + x / 2;
    const uint32_t uv[2] = { f.uv[0][sample], f.uv[1][sample] };
    const FeedbackChromaRange range = chroma_range(f, gain, x / 2, y / 2);
    return feedback_chroma_is_explained(uv, &range);
}

__global__ static void __launch_bounds__(EXPLAIN_THREADS) explain(const __grid_constant__ Feedback f)
{
    __shared__ ExplainTile tile;
    const uint32_t t = threadIdx.x, word0 = blockIdx.x * (TILE_WIDTH / 32), row0 = blockIdx.y * TILE_HEIGHT;
    const uint32_t own_row = row0 + t / (TILE_WIDTH / 32), own_word = word0 + t % (TILE_WIDTH / 32);
    const bool owns = t < TILE_WORDS && own_row < f.height;
    const size_t at = (size_t)own_row * f.words + own_word;
    wait_for_predecessor();
    let_successor_start();
    if (f.state->skip || f.state->frame.silent)
        return;
    const uint32_t own = owns ? f.filtered[at] : 0, gain = (uint32_t)f.state->light.rescale;
    if (!__syncthreads_or(own != 0))
        return;
    if (t < TILE_WORDS)
        tile.bits[t] = own, tile.explained[t] = 0;
    load_means(f, tile, gain, (int)word0 * 32, (int)row0);
    __syncthreads();
    range_rows(tile);
    __syncthreads();
    for (int i = (int)t; i < TILE_WIDTH * TILE_HEIGHT; i += (int)blockDim.x) {
        const int row = i / TILE_WIDTH, column = i % TILE_WIDTH;
        if (tile.bits[i / 32] >> i % 32 & 1 &&
            is_explained(f, tile, gain, row, column, (int)word0 * 32 + column, (int)row0 + row))
            atomicOr(&tile.explained[i / 32], 1u << i % 32);
    }
    __syncthreads();
    if (owns && own)
        f.explained[at] = tile.explained[t];
}

CclStatus feedback_launch_explain(const CudaMotion *cuda, const Feedback *f)
{
    const dim3 grid(blocks_for(f->words, TILE_WIDTH / 32), blocks_for(f->height, TILE_HEIGHT));
    return cuda_motion_launch(cuda, true, explain, grid, EXPLAIN_THREADS, 0, *f);
}
