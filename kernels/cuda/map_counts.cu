/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The counts of features of label maps.
 *
 *     places     runs -> places of their components in the table
 *     shape      each pixel is compared with its neighbours
 *     holes      map_holes.cu
 *     planes     runs -> masks, for hull and intensity: runs/map_planes.cu
 */
#include "map.cuh"
#include "map_pixels.cuh"
#include "overlap.cuh"

static const unsigned LANES = MAP_WIDTH / MAP_EACH; /* of a row */
static const unsigned THREADS = MAP_HEIGHT * LANES;

/* A block takes a tile. The label of a dropped component is 0. */
__global__ __launch_bounds__(THREADS) static void map_places(const __grid_constant__ MapPlan map, StageBuffers buffers,
                                                             uint32_t capacity)
{
    const uint32_t tile_at = blockIdx.y * map.tiles_x + blockIdx.x;
    const size_t first = (size_t)tile_at * MAP_PIXELS;
    wait_for_predecessor();
    const uint32_t n_runs = map.n_runs[tile_at];
    for (uint32_t i = threadIdx.x; i < n_runs; i += THREADS) {
        const uint32_t node = map_node(map, blockIdx.x * MAP_WIDTH, blockIdx.y * MAP_HEIGHT, map_run(map.runs[first + i]).root);
        map.places[first + i] = min(final_label(buffers, map_root(map, node).state) - 1, capacity);
    }
}

/* ---------------------------------------------------------------- shape */

/* In the order of CclShapeCounts. */
enum { EULER, RUNS, TOPS, DIAGONALS, N_SHAPE };
static_assert(sizeof(CclShapeCounts) == N_SHAPE * sizeof(uint32_t), "the counts of a component are an array");

/* Sums of a tile fit 16 bits: two in a word, the first in the lower half. */
typedef struct ShapeTile {
    uint32_t runs_and_pairs[MAP_PIXELS]; /* [place of a root]; pairs: of runs that touch */
    uint32_t tops_and_diagonals[MAP_PIXELS];
    uint16_t roots[MAP_PIXELS]; /* [place of a run's first pixel] */
} ShapeTile;

typedef struct ShapeRoot {
    ShapeTile *tile;
    uint32_t root;
} ShapeRoot;

/* The pixels of a thread: which of them have the value of a neighbour. */
typedef struct Equals {
    uint32_t west, east, north, north_west, north_east;
} Equals;

template <bool WIDE>
__device__ static Equals equals_of(const CudaVars &vars, const MapPlan &map, const MapPixels<WIDE> &pixels, uint32_t x,
                                   uint32_t y)
{
    constexpr uint32_t SHIFT = WIDE ? 16 : 24;
    const uint32_t n = min(map.width - x, MAP_EACH), not_first = x ? 0xffff : 0xfffe,
                   not_last = x + n < map.width ? 0xffff : (1u << (n - 1)) - 1;
    const auto value = [&](uint32_t at, uint32_t row, bool inside) { return inside ? map_value_at(vars, at, row) : 0; };
    Equals equals = {};
    equals.west = equal_bits(pixels, one_earlier(pixels, value(x - 1, y, x > 0) << SHIFT)) & not_first;
    equals.east = equal_bits(pixels, one_later(pixels, value(x + MAP_EACH, y, x + MAP_EACH < map.width))) & not_last;
    if (!y)
        return equals;
    const MapPixels<WIDE> above = load_map<WIDE>(vars, x, y - 1, n);
    equals.north = equal_bits(pixels, above);
    equals.north_west = equal_bits(pixels, one_earlier(above, value(x - 1, y - 1, x > 0) << SHIFT)) & not_first;
    equals.north_east = equal_bits(pixels, one_later(above, value(x + MAP_EACH, y - 1, x + MAP_EACH < map.width))) & not_last;
    return equals;
}

/* The root of a pixel of the foreground. */
__device__ static uint32_t root_at(const MapPlan &map, uint32_t x, uint32_t y)
{
    const uint32_t word_x = x / MAP_WIDTH, tile_y = y / MAP_HEIGHT;
    const size_t word = (size_t)y * map.row_words + word_x;
    const uint32_t run = map.first_runs[word] + __popcll(map.starts[word] & ((2ull << x % MAP_WIDTH) - 1)) - 1;
    const uint32_t entry = map.runs[(size_t)(tile_y * map.tiles_x + word_x) * MAP_PIXELS + run];
    return map_root(map, map_node(map, word_x * MAP_WIDTH, tile_y * MAP_HEIGHT, map_run(entry).root)).node;
}

/* 4-connected: a corner joins no runs. If it belongs to another component, then it is background for this one. */
__device__ static uint32_t foreign_corners(const MapPlan &map, const Equals &equals, uint32_t pixels, uint32_t x, uint32_t y)
{
    uint32_t n = 0;
    for (uint32_t left = pixels & equals.north_west & ~equals.west & ~equals.north; left; left &= left - 1) {
        const uint32_t at = x + __ffs(left) - 1;
        n += root_at(map, at, y) != root_at(map, at - 1, y - 1);
    }
    for (uint32_t left = pixels & equals.north_east & ~equals.east & ~equals.north; left; left &= left - 1) {
        const uint32_t at = x + __ffs(left) - 1;
        n += root_at(map, at, y) != root_at(map, at + 1, y - 1);
    }
    return n;
}

/* Adds some of the pixels from (x, y) on, which belong to one run. to: the root of the run. See runs/shape.cuh. */
template <bool EIGHT>
__device__ static void add_shape(ShapeRoot to, const MapPlan &map, const Equals &equals, uint32_t pixels, uint32_t x, uint32_t y)
{
    const uint32_t firsts = pixels & ~equals.west, lasts = pixels & ~equals.east;
    const uint32_t north = equals.north, north_west = equals.north_west, north_east = equals.north_east;
    const uint32_t n_pairs =
        EIGHT ? __popc(pixels & north & ~north_west) + __popc(firsts & north_west) + __popc(lasts & north_east & ~north)
              : __popc(pixels & north & ~(equals.west & north_west));
    const uint32_t diagonals =
        __popc(pixels & ~north_west) + __popc(pixels & ~north_east) + (EIGHT ? 0 : foreign_corners(map, equals, pixels, x, y));
    atomicAdd(&to.tile->runs_and_pairs[to.root], __popc(firsts) + (n_pairs << 16));
    atomicAdd(&to.tile->tops_and_diagonals[to.root], __popc(pixels & ~north) + (diagonals << 16));
}

/* A block takes a tile. */
template <bool EIGHT, bool WIDE>
__global__ __launch_bounds__(THREADS) static void map_shape(const __grid_constant__ CudaVars vars,
                                                            const __grid_constant__ MapPlan map, uint32_t capacity,
                                                            uint32_t *sums)
{
    __shared__ ShapeTile tile;
    const uint32_t tile_at = blockIdx.y * map.tiles_x + blockIdx.x, x0 = blockIdx.x * MAP_WIDTH, y0 = blockIdx.y * MAP_HEIGHT;
    const uint32_t *const runs = map.runs + (size_t)tile_at * MAP_PIXELS;
    wait_for_predecessor();
    const uint32_t n_runs = map.n_runs[tile_at];
    if (!n_runs)
        return;
    for (uint32_t i = threadIdx.x; i < n_runs; i += THREADS) {
        const MapRun run = map_run(runs[i]);
        tile.roots[run.place] = (uint16_t)run.root;
        tile.runs_and_pairs[run.place] = tile.tops_and_diagonals[run.place] = 0;
    }
    __syncthreads();
    const uint32_t row = threadIdx.x / LANES, column = threadIdx.x % LANES * MAP_EACH, x = x0 + column, y = y0 + row;
    if (x < map.width && y < map.height) {
        const size_t word = (size_t)y * map.row_words + blockIdx.x;
        const uint64_t starts = map.starts[word];
        const uint32_t foreground = (uint32_t)(map.foreground[word] >> column) & 0xffff,
                       own_starts = (uint32_t)(starts >> column) & 0xffff;
        if (foreground) {
            const Equals equals = equals_of(vars, map, load_map<WIDE>(vars, x, y, min(map.width - x, MAP_EACH)), x, y);
            for (uint32_t left = foreground; left;) {
                const uint32_t first = __ffs(left) - 1, later = own_starts & ~1u << first;
                const uint32_t pixels = left & (later ? (later & -later) - 1 : ~0u);
                const uint64_t before = starts & ((2ull << (column + first)) - 1);
                const uint32_t place = row * MAP_WIDTH + 63 - __clzll((long long)before);
                add_shape<EIGHT>({ &tile, tile.roots[place] }, map, equals, pixels, x, y);
                left &= ~pixels;
            }
        }
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < n_runs; i += THREADS) {
        const MapRun run = map_run(runs[i]);
        const uint32_t place = run.root == run.place ? map.places[(size_t)tile_at * MAP_PIXELS + i] : capacity;
        if (place >= capacity)
            continue;
        const uint32_t first = tile.runs_and_pairs[run.root], second = tile.tops_and_diagonals[run.root];
        const uint32_t counts[N_SHAPE] = { (first & 0xffff) - (first >> 16), first & 0xffff, second & 0xffff, second >> 16 };
        for (uint32_t field = 0; field < N_SHAPE; field++)
            if (counts[field])
                atomicAdd(&sums[place * N_SHAPE + field], counts[field]);
    }
}

/* ---------------------------------------------------------------- launch */

template <bool EIGHT> static CclStatus count_shape(const CclContext *context, CudaFrame *frame, const MapPlan &plan)
{
    return cuda_launch(frame, "shape", CUDA_OVERLAP, frame->vars.wide ? map_shape<EIGHT, true> : map_shape<EIGHT, false>,
                       { dim3(plan.tiles_x, plan.bands), THREADS, 0 }, frame->vars, plan, context->capacity,
                       (uint32_t *)frame->counts.shape_sums);
}

CclStatus count_map_features(const CclContext *context, CudaFrame *frame, const MapPlan &plan, const StageBuffers *buffers)
{
    CCL_TRY(cuda_launch(frame, "places", CUDA_OVERLAP, map_places, { dim3(plan.tiles_x, plan.bands), THREADS, 0 }, plan, *buffers,
                        context->capacity));
    if (frame->counts.shape)
        CCL_TRY(context->config.connectivity == CCL_CONNECT_8 ? count_shape<true>(context, frame, plan)
                                                              : count_shape<false>(context, frame, plan));
    if (context->config.features & CCL_FEATURE_HOLES)
        CCL_TRY(find_map_holes(context, frame, plan));
    return plan.planes ? launch_map_planes(frame, plan, context->capacity) : CCL_OK;
}
