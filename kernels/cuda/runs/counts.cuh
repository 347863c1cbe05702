/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The counts of CclConfig.features: what its kernels share. They run after the components are numbered, and before measure,
 * which may overwrite the list of runs with labels. */
#ifndef CCL_CUDA_RUNS_COUNTS_CUH
#define CCL_CUDA_RUNS_COUNTS_CUH

#include "cuda/runs/measure.cuh"

#define COUNT_THREADS  TILE_WORDS
#define AROUND_COLUMNS 34u /* the words of a tile in a row, and one on each side */
#define AROUND_WORDS   (AROUND_COLUMNS * (TILE_ROWS + 1))

/* What the threads of a block share. */
typedef struct CountTile {
    const Plan &plan;
    const uint32_t *bases; /* [chunk]: the id of its first component */
    const uint64_t *words; /* [AROUND_WORDS]: of the row above the tile, and of its rows */
    bool eight, filtered;
    const uint32_t *runs; /* of the tile, as in Plan */
    uint32_t n_listed;    /* Plan.n_runs */
} CountTile;

/* The word of a tile in CountTile.words. The one above it is AROUND_COLUMNS before. */
__device__ static inline const uint64_t *word_around(const CountTile &tile, uint32_t at)
{
    return tile.words + (at / 32 + 1) * AROUND_COLUMNS + at % 32 + 1;
}

__device__ static inline void load_around(const Plan &plan, uint64_t *words)
{
    for (uint32_t i = threadIdx.x; i < AROUND_WORDS; i += COUNT_THREADS) {
        /* Left of the first word and above the first row these wrap around. */
        const uint32_t word_x = blockIdx.x * 32 + i % AROUND_COLUMNS - 1;
        const uint32_t y = blockIdx.y * TILE_ROWS + i / AROUND_COLUMNS - 1;
        const bool inside = word_x < plan.row_words && y < plan.height;
        words[i] = inside ? __ldcg(&plan.bits[y * plan.row_words + word_x]) : 0;
    }
}

/* The id of a run's component, before the filter. entry: of Plan.runs. */
__device__ static inline uint32_t id_of_entry(const CountTile &tile, TileAt where, uint32_t entry)
{
    uint32_t number = tile.plan.parents[node_of(tile.plan, where, entry >> 14)];
    while (!(number & NUMBERED))
        number = tile.plan.parents[number];
    return tile.bases[number >> 17 & (MAX_CHUNKS - 1)] + (number & 0x1ffff);
}

/* The same for a pixel of the foreground. Not in tiles whose runs are those of strips. */
__device__ static inline uint32_t id_at(const CountTile &tile, uint32_t x, uint32_t y)
{
    const Plan &plan = tile.plan;
    const TileAt where = { x / 2048, y / TILE_ROWS };
    const uint32_t word = y * plan.row_words + x / 64;
    const uint32_t run = plan.first_runs[word] + rank_of(starts_of(plan.bits[word]), x % 64);
    return id_of_entry(tile, where, plan.runs[(size_t)tile_number(plan, where) * TILE_RUNS + run]);
}

/* The place of a component in the table: ~0 or past its end for one that is dropped. */
__device__ static inline uint32_t place_of(const CountTile &tile, uint32_t id)
{
    return tile.filtered ? tile.plan.finals[id] - 1 : id;
}

/* ---------------------------------------------------------------- runs */

/* The pixels of a run in its row, or in both rows of a strip. */
typedef struct RunPixels {
    const uint64_t *here; /* its word in CountTile.words */
    uint64_t rows[2];
    uint32_t x, y; /* of the word and the first row */
} RunPixels;

__device__ static inline RunPixels pixels_of(const CountTile &tile, uint32_t entry, bool strips)
{
    const uint32_t at = entry >> 6 & 0xff;
    const uint64_t *const here = word_around(tile, at);
    const uint64_t below = strips ? here[AROUND_COLUMNS] : 0, span = span_of(here[0] | below, entry & 63);
    return RunPixels{
        here, { here[0] & span, below & span }, blockIdx.x * 2048 + at % 32 * 64, blockIdx.y * TILE_ROWS + at / 32
    };
}

#endif
