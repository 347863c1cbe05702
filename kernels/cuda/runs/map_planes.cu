/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A label map as two masks, for kernels of runs/ that use nothing but the pixels of each run: hull and intensity.
 *
 *     planes     runs of a map -> runs of two masks
 *
 * In a mask, runs of a row have gaps between them. In a map they need not. So the first, third, ... run of a word goes to one
 * plane, the second, fourth, ... to the other: in each plane there are gaps. A run of a plane is its own root, and its number is
 * its place in the table.
 */
#include "cuda/map_plan.cuh"
#include "cuda/runs/launch.cuh"

#define PLANE_RANKS (1u << 17) /* of a chunk: a number is place / PLANE_RANKS << 17 | place % PLANE_RANKS, the place itself */

/* A word of a map. */
typedef struct MapWord {
    uint64_t foreground, starts;
    uint32_t tile, first_run, x, y; /* of the word's first pixel */
} MapWord;

/* Stores the runs of a word that have this parity. All threads of the block call it, one for each word of a tile of runs. */
__device__ static void store_plane(const MapPlan &map, const Plan &plane, const MapWord &word, uint32_t parity)
{
    const TileAt where = { blockIdx.x, blockIdx.y };
    const uint32_t tile_at = tile_number(plane, where), at = threadIdx.x, n = (__popcll(word.starts) + 1 - parity) / 2;
    const uint32_t plane_word = word.y * plane.row_words + word.x / MAP_WIDTH;
    uint32_t n_runs, rank = 0;
    uint32_t *to = plane.runs + (size_t)tile_at * TILE_RUNS + block_scan<TILE_WORDS>(n, &n_runs);
    uint64_t bits = 0, ends = ~word.foreground | word.starts, left = word.starts;
    for (uint32_t k = 0; left; left &= left - 1, k++) {
        if (k % 2 != parity)
            continue;
        const uint32_t begin = __ffsll((long long)left) - 1;
        const uint64_t after = ends & ~1ull << begin, up_to = after ? (after & -after) - 1 : ~0ull;
        bits |= up_to & ~0ull << begin;
        plane.parents[plane_word << 5 | rank] = NUMBERED | map.places[(size_t)word.tile * MAP_PIXELS + word.first_run + k];
        *to++ = ((at + 32) << 5 | rank) << 14 | at << 6 | begin;
        rank++;
    }
    if (word.y < plane.height && word.x / MAP_WIDTH < plane.row_words)
        plane.bits[plane_word] = bits;
    if (at == 0)
        plane.n_runs[tile_at] = n_runs;
    __syncthreads(); /* before the next scan */
}

__global__ __launch_bounds__(TILE_WORDS) static void map_planes(const __grid_constant__ MapPlan map,
                                                                const __grid_constant__ Plan first,
                                                                const __grid_constant__ Plan second, const CudaResult *result)
{
    const uint32_t at = threadIdx.x, word_x = blockIdx.x * 32 + at % 32, y = blockIdx.y * TILE_ROWS + at / 32;
    wait_for_predecessor();
    if (blockIdx.x == 0 && blockIdx.y == 0) {
        for (uint32_t i = at; i < MAX_CHUNKS; i += TILE_WORDS)
            first.chunk_counts[i] = PLANE_RANKS;
        if (at == 0)
            first.counts->kept = result->n_kept;
    }
    MapWord word = { 0, 0, 0, 0, word_x * MAP_WIDTH, y };
    if (word_x < map.row_words && y < map.height) {
        const size_t i = (size_t)y * map.row_words + word_x;
        word.foreground = map.foreground[i];
        word.starts = map.starts[i];
        word.first_run = map.first_runs[i];
        word.tile = y / MAP_HEIGHT * map.tiles_x + word_x;
    }
    store_plane(map, first, word, 0);
    store_plane(map, second, word, 1);
}

/* ---------------------------------------------------------------- launch */

/* Lays out the memory of both planes, and returns its size in bytes. */
static size_t lay_out(Plan planes[2], uint8_t *workspace, uint32_t width, uint32_t height)
{
    const size_t row_words = padded_row_words(width), n_words = row_words * height;
    const uint32_t tiles_x = (uint32_t)(row_words + 31) / 32, bands = (height + TILE_ROWS - 1) / TILE_ROWS;
    size_t used = 0;
    const auto take = [&](size_t bytes) {
        uint8_t *const at = workspace + used;
        used += (bytes + 255) / 256 * 256;
        return at;
    };
    uint32_t *const chunk_counts = (uint32_t *)take(MAX_CHUNKS * sizeof(uint32_t));
    Counts *const counts = (Counts *)take(sizeof(Counts));
    for (unsigned i = 0; i < 2; i++) {
        Plan plan = {};
        plan.width = width;
        plan.height = height;
        plan.row_words = (uint32_t)row_words;
        plan.tiles_x = tiles_x;
        plan.bands = bands;
        plan.n_chunks = MAX_CHUNKS;
        plan.chunk_counts = chunk_counts;
        plan.counts = counts;
        plan.slots = test_limit(SLOTS);
        plan.bits = (uint64_t *)take(n_words * sizeof(uint64_t));
        plan.runs = (uint32_t *)take((size_t)tiles_x * bands * TILE_RUNS * sizeof(uint32_t));
        plan.n_runs = (uint32_t *)take((size_t)tiles_x * bands * sizeof(uint32_t));
        plan.parents = (uint32_t *)take(n_words * 32 * sizeof(uint32_t));
        planes[i] = plan;
    }
    return used;
}

size_t map_planes_size(uint32_t width, uint32_t height)
{
    Plan planes[2];
    return lay_out(planes, NULL, width, height);
}

CclStatus launch_map_planes(CudaFrame *frame, const MapPlan &map, uint32_t capacity)
{
    Plan planes[2];
    Alone jobs[2] = {};
    lay_out(planes, map.planes, map.width, map.height);
    const dim3 grid(planes[0].tiles_x, planes[0].bands);
    for (unsigned i = 0; i < 2; i++) {
        planes[i].capacity = capacity;
        jobs[i].job.plan = planes[i];
    }
    CCL_TRY(cuda_launch(frame, "planes", CUDA_OVERLAP, map_planes, { grid, TILE_WORDS, 0 }, map, planes[0], planes[1],
                        (const CudaResult *)frame->result));
    CCL_TRY(launch_plane_counts(frame, jobs, grid));
    return launch_written_counts(frame, jobs[0]);
}
