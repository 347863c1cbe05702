/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Label maps; see map.cuh. The kernels from pixels to roots, the label image, and the launches. */
#include "map.cuh"

#include "map_pixels.cuh"
#include "overlap.cuh"
#include "union_find.cuh"

static const unsigned LANES = MAP_WIDTH / MAP_EACH; /* of a row */
static const unsigned THREADS = MAP_HEIGHT * LANES;
static_assert(MAP_EACH == 16, "the pixels of a thread are half a word");

/* ---------------------------------------------------------------- tiles */

template <bool WIDE> struct MapTile {
    uint32_t parents[MAP_PIXELS];                        /* [place]: of first pixels of runs */
    uint64_t foreground[MAP_HEIGHT], starts[MAP_HEIGHT]; /* bit by bit; starts: of runs */
    MapPixels<WIDE> pixels[MAP_HEIGHT][LANES];
    uint32_t n_runs[THREADS / 32]; /* of each warp */

    /* The first pixel of the run of a pixel. */
    __device__ uint32_t start_at(uint32_t row, uint32_t column) const
    {
        return row * MAP_WIDTH + column - __clzll((long long)(starts[row] << (63 - column)));
    }
};

/* The pixels of a thread, and which of them have the same value as the pixel on the left. */
template <bool WIDE> struct OwnPixels {
    uint32_t row, lane; /* of the row */
    MapPixels<WIDE> pixels;
    uint32_t foreground, west, starts;
};

/* Loads the tile. All threads of the block call it; the tile may be read after the next barrier. */
template <bool WIDE> __device__ static OwnPixels<WIDE> load_tile(const CudaVars &vars, const MapPlan &plan, MapTile<WIDE> *tile)
{
    OwnPixels<WIDE> own;
    own.row = threadIdx.x / LANES;
    own.lane = threadIdx.x % LANES;
    const uint32_t x = blockIdx.x * MAP_WIDTH + own.lane * MAP_EACH, y = blockIdx.y * MAP_HEIGHT + own.row;
    const uint32_t n = y < plan.height && x < plan.width ? min(plan.width - x, MAP_EACH) : 0;
    own.pixels = load_map<WIDE>(vars, x, y, n);
    const uint32_t before = __shfl_up_sync(~0u, own.pixels.of[MapPixels<WIDE>::WORDS - 1], 1);
    const uint32_t none = !WIDE && vars.threshold > 255 ? 0 : equal_bits(own.pixels, pixels_of_value<WIDE>(vars.threshold));
    own.foreground = ~none & ((1u << n) - 1);
    own.west = 0;
    if (own.foreground) {
        own.west = equal_bits(own.pixels, one_earlier(own.pixels, before)) & own.foreground & (own.lane ? 0xffff : 0xfffe);
        tile->pixels[own.row][own.lane] = own.pixels;
    }
    own.starts = own.foreground & ~own.west;
    ((uint16_t *)tile->foreground)[threadIdx.x] = (uint16_t)own.foreground;
    ((uint16_t *)tile->starts)[threadIdx.x] = (uint16_t)own.starts;
    return own;
}

/* The pixels above and beside a thread's pixels, with the same value. */
typedef struct Above {
    uint32_t north, north_west, north_east;
} Above;

/* Which pixels above a thread's pixels are united with them. A pair is left out where the pair to its left, or another pixel
 * between both, implies it. Called by all lanes of a warp. */
template <bool EIGHT, bool WIDE> __device__ static Above pairs_above(const MapTile<WIDE> &tile, const OwnPixels<WIDE> &own)
{
    const uint32_t lane = own.lane, above = own.row - 1, here = own.row ? own.foreground : 0;
    const uint32_t foreground = here ? (uint32_t)(tile.foreground[above] >> lane * MAP_EACH) & 0xffff : 0;
    uint32_t north = 0;
    if (foreground)
        north = equal_bits(own.pixels, tile.pixels[above][lane]) & here & foreground;
    const uint32_t north_before = __shfl_up_sync(~0u, north, 1), west_after = __shfl_down_sync(~0u, own.west, 1);
    const uint32_t implied = (north << 1 | (lane ? north_before >> 15 : 0)) & own.west;
    Above pairs = { north & ~implied, 0, 0 };
    if (!EIGHT || !(here & ~north))
        return pairs;
    const uint64_t row = tile.foreground[above];
    const uint32_t free = here & ~north, east = own.west >> 1 | (lane + 1 < LANES ? west_after << 15 & 0x8000 : 0);
    const uint32_t to_west = (uint32_t)(row << 1 >> lane * MAP_EACH) & free & ~own.west;
    const uint32_t to_east = (uint32_t)(row >> 1 >> lane * MAP_EACH) & free & ~east;
    const MapPixels<WIDE> *const there = &tile.pixels[above][lane];
    if (to_west)
        pairs.north_west =
            to_west & equal_bits(own.pixels, one_earlier(*there, lane ? there[-1].of[MapPixels<WIDE>::WORDS - 1] : 0));
    if (to_east)
        pairs.north_east = to_east & equal_bits(own.pixels, one_later(*there, lane + 1 < LANES ? there[1].of[0] : 0));
    return pairs;
}

/* The pixels of `own` from `first` on that belong to its run, as far as a thread has them. */
template <bool WIDE> __device__ static uint32_t run_part(const OwnPixels<WIDE> &own, uint32_t first)
{
    const uint32_t ends = (~own.foreground | own.starts) & ~1u << first;
    return (ends & -ends) - (1u << first); /* bit 16 ends a run too */
}

/* Every run that starts in a thread's pixels takes a run above as its parent, if these pixels touch one; else it is its own.
 * Returns the pairs that are left. */
template <bool WIDE> __device__ static Above link_runs(MapTile<WIDE> *tile, const OwnPixels<WIDE> &own, Above pairs)
{
    const uint32_t column = own.lane * MAP_EACH, above = own.row - 1;
    for (uint32_t left = own.starts; left; left &= left - 1) {
        const uint32_t first = __ffs(left) - 1, part = run_part(own, first), place = own.row * MAP_WIDTH + column + first;
        const uint32_t north = pairs.north & part, north_west = pairs.north_west & part, north_east = pairs.north_east & part;
        uint32_t parent = place;
        if (north_west) {
            parent = tile->start_at(above, column + __ffs(north_west) - 2);
            pairs.north_west ^= north_west;
        } else if (north) {
            parent = tile->start_at(above, column + __ffs(north) - 1);
            pairs.north ^= north & -north;
        } else if (north_east) {
            parent = above * MAP_WIDTH + column + __ffs(north_east);
            pairs.north_east ^= north_east;
        }
        tile->parents[place] = parent;
    }
    return pairs;
}

/* The root of a run. Its path is shortened for other threads, which do the same: so a chain of n runs takes log n steps. A
 * minimum instead of a store: no link is lost, and no thread waits for its result. */
__device__ static uint32_t shorten(volatile uint32_t *parents, uint32_t place)
{
    uint32_t root = parents[place], above;
    while ((above = parents[root]) != root) {
        root = above;
        atomicMin((uint32_t *)&parents[place], root);
    }
    return root;
}

/* Unites two runs: climbs from both and halves their paths, then hooks the larger root under the smaller. */
__device__ static void unite_runs(volatile uint32_t *parents, uint32_t a, uint32_t b)
{
    for (;;) {
        const uint32_t up_a = parents[a], up_b = parents[b];
        if (up_a == up_b)
            return;
        if (up_a != a || up_b != b) {
            const uint32_t top_a = parents[up_a], top_b = parents[up_b];
            if (top_a != up_a)
                atomicMin((uint32_t *)&parents[a], top_a);
            if (top_b != up_b)
                atomicMin((uint32_t *)&parents[b], top_b);
            a = top_a;
            b = top_b;
            continue;
        }
        const uint32_t larger = max(a, b), smaller = min(a, b);
        const uint32_t old = atomicMin((uint32_t *)&parents[larger], smaller);
        if (old == larger)
            return;
        a = old;
        b = smaller;
    }
}

/* Unites the pairs that are left. */
template <bool WIDE> __device__ static void unite_pairs(MapTile<WIDE> *tile, const OwnPixels<WIDE> &own, const Above &pairs)
{
    const uint32_t row = own.row, column = own.lane * MAP_EACH, above = row - 1;
    for (uint32_t left = pairs.north | pairs.north_east; left; left &= left - 1) {
        const uint32_t bit = left & -left, x = column + __ffs(left) - 1, run = tile->start_at(row, x);
        unite_runs(tile->parents, run, pairs.north & bit ? tile->start_at(above, x) : above * MAP_WIDTH + x + 1);
    }
}

/* Stores the runs that start in a thread's pixels, and which of them are roots. first: of the tile's list. */
template <bool WIDE>
__device__ static void store_runs(const MapPlan &plan, MapTile<WIDE> *tile, const OwnPixels<WIDE> &own, uint32_t first)
{
    const uint32_t x = blockIdx.x * MAP_WIDTH, y = blockIdx.y * MAP_HEIGHT;
    uint32_t *const runs = plan.runs + (size_t)(blockIdx.y * plan.tiles_x + blockIdx.x) * MAP_PIXELS + first;
    uint32_t roots = 0, i = 0;
    for (uint32_t left = own.starts; left; left &= left - 1, i++) {
        const uint32_t column = own.lane * MAP_EACH + __ffs(left) - 1, place = own.row * MAP_WIDTH + column;
        const uint64_t after = (~tile->foreground[own.row] | tile->starts[own.row]) & ~1ull << column;
        const uint32_t end = after ? __ffsll((long long)after) - 1 : MAP_WIDTH;
        const MapRun run = { place, end - column, shorten(tile->parents, place) };
        runs[i] = map_entry(run);
        if (run.root != place)
            continue;
        roots |= left & -left;
        const uint32_t node = map_node(plan, x, y, place);
        plan.parents[node] = node;
    }
    if (y + own.row >= plan.height)
        return;
    const size_t word = (size_t)(y + own.row) * plan.row_words + blockIdx.x;
    ((uint16_t *)plan.roots)[word * LANES + own.lane] = (uint16_t)roots;
    if (!plan.foreground || own.lane)
        return;
    plan.foreground[word] = tile->foreground[own.row];
    plan.starts[word] = tile->starts[own.row];
    plan.first_runs[word] = (uint16_t)first;
}

/* Stores the root of a pixel at a side of the tile: of the first row, the last row, the first column, the last column. */
template <bool WIDE> __device__ static void store_side(const MapPlan &plan, const MapTile<WIDE> &tile, uint32_t i)
{
    const uint32_t x0 = blockIdx.x * MAP_WIDTH, y0 = blockIdx.y * MAP_HEIGHT;
    const bool in_row = i < 2 * MAP_WIDTH, is_last = in_row ? i >= MAP_WIDTH : i >= 2 * MAP_WIDTH + MAP_HEIGHT;
    const uint32_t row = !in_row ? i % MAP_HEIGHT : is_last ? MAP_HEIGHT - 1 : 0;
    const uint32_t column = in_row ? i % MAP_WIDTH : is_last ? MAP_WIDTH - 1 : 0;
    if (!(tile.foreground[row] >> column & 1))
        return;
    const uint32_t root = map_node(plan, x0, y0, tile.parents[tile.start_at(row, column)]);
    uint32_t *const rows = is_last ? plan.last_rows : plan.first_rows, *const columns =
                                                                           is_last ? plan.last_columns : plan.first_columns;
    if (in_row)
        rows[blockIdx.y * plan.row_words * MAP_WIDTH + x0 + column] = root;
    else
        columns[blockIdx.x * plan.height + y0 + row] = root;
}

template <bool EIGHT, bool WIDE>
__global__ __launch_bounds__(THREADS) static void map_tiles(const __grid_constant__ CudaVars vars,
                                                            const __grid_constant__ MapPlan plan)
{
    __shared__ MapTile<WIDE> tile;
    const OwnPixels<WIDE> own = load_tile(vars, plan, &tile);
    const uint32_t n_starts = __popc(own.starts), warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const bool any = __syncthreads_or(own.foreground);
    uint32_t first = n_starts;
    if (any) {
        Above pairs = {};
        const bool has_runs = __any_sync(~0u, own.foreground);
        if (has_runs) {
            pairs = link_runs(&tile, own, pairs_above<EIGHT>(tile, own));
            for (uint32_t i = 1; i < 32; i *= 2) {
                const uint32_t other = __shfl_up_sync(~0u, first, i);
                first += lane >= i ? other : 0;
            }
        }
        if (lane == 31)
            tile.n_runs[warp] = first;
        __syncthreads();
        for (uint32_t left = own.starts; left; left &= left - 1)
            shorten(tile.parents, threadIdx.x * MAP_EACH + __ffs(left) - 1);
        first -= n_starts;
        for (uint32_t i = 0; i < warp; i++)
            first += tile.n_runs[i];
        if (__syncthreads_or(pairs.north | pairs.north_east)) {
            unite_pairs(&tile, own, pairs);
            __syncthreads();
        }
    }
    store_runs(plan, &tile, own, first);
    if (threadIdx.x == THREADS - 1)
        plan.n_runs[blockIdx.y * plan.tiles_x + blockIdx.x] = first + n_starts;
    if (!any)
        return;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < 2 * (MAP_WIDTH + MAP_HEIGHT); i += THREADS)
        store_side(plan, tile, i);
}

/* ---------------------------------------------------------------- seams */

__device__ static void unite_nodes(const MapPlan &plan, uint32_t a, uint32_t b)
{
    unite_shortening(plan.parents, a, b,
                     [&](uint32_t larger, uint32_t) { atomicAnd((uint32_t *)plan.roots + larger / 32, ~(1u << larger % 32)); });
}

/* A pixel at the first side of its tile. A seam goes along x above the tile, along y to its left. Pixels along it are in
 * [first, end). */
typedef struct SeamPixel {
    uint32_t x, y, value, first, end;
    bool along_x;
} SeamPixel;

/* Whether the pixel at this offset has the same value; across: -1 is on the other side. Offsets wrap below 0, and then are
 * outside. */
__device__ static inline bool is_equal(const CudaVars &vars, const SeamPixel &pixel, int along, int across)
{
    const uint32_t x = pixel.x + (uint32_t)(pixel.along_x ? along : across);
    const uint32_t y = pixel.y + (uint32_t)(pixel.along_x ? across : along), place = pixel.along_x ? x : y;
    return place >= pixel.first && place < pixel.end && map_value_at(vars, x, y) == pixel.value;
}

/* The pixels on the other side that a pixel is united with, by their offset along the seam. No pair implies another. */
typedef struct SeamPairs {
    bool before, straight, after;
} SeamPairs;

template <bool EIGHT> __device__ static SeamPairs seam_pairs(const CudaVars &vars, const SeamPixel &pixel)
{
    const bool straight = is_equal(vars, pixel, 0, -1), before = is_equal(vars, pixel, -1, -1);
    const bool own_before = is_equal(vars, pixel, -1, 0);
    const bool after = EIGHT && is_equal(vars, pixel, 1, -1), own_after = EIGHT && is_equal(vars, pixel, 1, 0);
    return SeamPairs{ EIGHT && before && !straight && !own_before, straight && !(before && own_before),
                      after && !straight && !own_after };
}

/* A block takes the seams above and to the left of a tile: a thread for each pixel of its first row, then of its first column. */
template <bool EIGHT> __global__ static void map_join(const __grid_constant__ CudaVars vars, const __grid_constant__ MapPlan plan)
{
    const uint32_t x0 = blockIdx.x * MAP_WIDTH, y0 = blockIdx.y * MAP_HEIGHT, i = threadIdx.x;
    const bool in_row = i < MAP_WIDTH;
    const uint32_t x = in_row ? x0 + i : x0, y = in_row ? y0 : y0 + i - MAP_WIDTH;
    SeamPairs pairs = {};
    if (x < plan.width && y < plan.height && (in_row ? y0 : x0)) {
        SeamPixel pixel = { x, y, map_value_at(vars, x, y), 0, plan.width, in_row };
        if (!in_row)
            pixel.first = y0, pixel.end = min(y0 + MAP_HEIGHT, plan.height);
        if (pixel.value != vars.threshold)
            pairs = seam_pairs<EIGHT>(vars, pixel);
    }
    wait_for_predecessor();
    if (!pairs.before && !pairs.straight && !pairs.after)
        return;
    const uint32_t pitch = plan.row_words * MAP_WIDTH, tile_x = blockIdx.x;
    const uint32_t here = in_row ? plan.first_rows[blockIdx.y * pitch + x] : plan.first_columns[tile_x * plan.height + y];
    const uint32_t *const there =
        in_row ? plan.last_rows + (blockIdx.y - 1) * pitch + x : plan.last_columns + (tile_x - 1) * plan.height + y;
    if (pairs.straight)
        unite_nodes(plan, here, there[0]);
    if (pairs.before)
        unite_nodes(plan, here, there[-1]);
    if (pairs.after)
        unite_nodes(plan, here, there[1]);
}

/* ---------------------------------------------------------------- the label image */

/* The label of a run's pixels. FINAL: as in the table; else 1 + the index of its component's first pixel. */
template <bool FINAL> __device__ static uint32_t label_of(const MapPlan &plan, const StageBuffers &buffers, uint32_t node)
{
    const MapRoot root = map_root(plan, node);
    if (FINAL)
        return final_label(buffers, root.state);
    const uint32_t pitch = plan.row_words * MAP_WIDTH;
    return 1 + root.node / pitch * plan.width + root.node % pitch;
}

/* The runs of a tile, as bits and labels. */
typedef struct LabelTile {
    uint32_t labels[MAP_PIXELS]; /* [place]: of the first pixels of runs */
    uint32_t foreground[MAP_PIXELS / 32], starts[MAP_PIXELS / 32];
} LabelTile;

__device__ static inline uint64_t word_at(const uint32_t *bits, uint32_t row)
{
    return bits[2 * row] | (uint64_t)bits[2 * row + 1] << 32;
}

__device__ static void mark_run(LabelTile *tile, const MapRun &run, uint32_t label)
{
    const uint32_t at = run.place / MAP_WIDTH * 2;
    const uint64_t pixels = (~0ull >> (64 - run.length)) << run.place % MAP_WIDTH;
    tile->labels[run.place] = label;
    atomicOr(&tile->starts[run.place / 32], 1u << run.place % 32);
    for (uint32_t half = 0; half < 2; half++)
        if ((uint32_t)(pixels >> 32 * half))
            atomicOr(&tile->foreground[at + half], (uint32_t)(pixels >> 32 * half));
}

/* Writes the labels of a thread's pixels. */
__device__ static void paint(const CudaVars &vars, const MapPlan &plan, const LabelTile &tile)
{
    const uint32_t row = threadIdx.x / LANES, y = blockIdx.y * MAP_HEIGHT + row, width = plan.width;
    if (y >= plan.height)
        return;
    const uint64_t foreground = word_at(tile.foreground, row), starts = word_at(tile.starts, row);
    for (uint32_t i = 0; i < MAP_EACH / 4; i++) { /* four pixels; the lanes of a row write neighbouring ones */
        const uint32_t column = (i * LANES + threadIdx.x % LANES) * 4, x = blockIdx.x * MAP_WIDTH + column;
        if (x >= width)
            return;
        uint32_t labels[4] = { 0, 0, 0, 0 };
        if (foreground >> column & 15) {
            const uint64_t before = starts << (63 - column);
            uint32_t label = before ? tile.labels[row * MAP_WIDTH + column - __clzll((long long)before)] : 0;
#pragma unroll
            for (uint32_t k = 0; k < 4; k++) {
                if (k && starts >> (column + k) & 1)
                    label = tile.labels[row * MAP_WIDTH + column + k];
                labels[k] = foreground >> (column + k) & 1 ? label : 0;
            }
        }
        uint32_t *const to = vars.labels + y * vars.label_stride + x;
        store_four(to, make_uint4(labels[0], labels[1], labels[2], labels[3]), width - x, (uintptr_t)to % 16 == 0);
    }
}

template <bool FINAL>
__global__ __launch_bounds__(THREADS) static void map_labels(const __grid_constant__ CudaVars vars,
                                                             const __grid_constant__ MapPlan plan, StageBuffers buffers)
{
    __shared__ LabelTile tile;
    const uint32_t tile_at = blockIdx.y * plan.tiles_x + blockIdx.x;
    const uint32_t *const runs = plan.runs + (size_t)tile_at * MAP_PIXELS;
    static_assert(THREADS >= MAP_PIXELS / 32, "a thread for each word");
    if (threadIdx.x < MAP_PIXELS / 32)
        tile.foreground[threadIdx.x] = tile.starts[threadIdx.x] = 0;
    __syncthreads();
    wait_for_predecessor();
    const uint32_t n_runs = plan.n_runs[tile_at];
    for (uint32_t i = threadIdx.x; i < n_runs; i += THREADS) {
        const MapRun run = map_run(runs[i]);
        const uint32_t node = map_node(plan, blockIdx.x * MAP_WIDTH, blockIdx.y * MAP_HEIGHT, run.root);
        mark_run(&tile, run, label_of<FINAL>(plan, buffers, node));
    }
    __syncthreads();
    paint(vars, plan, tile);
}

/* ---------------------------------------------------------------- launch */

static size_t take(size_t *used, size_t bytes)
{
    const size_t at = *used;
    *used += (bytes + 255) / 256 * 256;
    return at;
}

/* Lays out the workspace for a map of this size, and returns its size in bytes. */
static size_t lay_out(MapPlan *plan, uint8_t *workspace, uint32_t width, uint32_t height, bool features)
{
    *plan = MapPlan{};
    plan->width = width;
    plan->height = height;
    plan->row_words = plan->tiles_x = map_row_words(width);
    plan->bands = blocks_for(height, MAP_HEIGHT);
    const size_t n_tiles = (size_t)plan->tiles_x * plan->bands, n_words = (size_t)plan->row_words * height;
    const size_t n_in_rows = n_tiles * MAP_WIDTH, n_in_columns = (size_t)plan->tiles_x * height;
    size_t used = 0;
    plan->roots = (uint64_t *)(workspace + take(&used, n_words * sizeof(uint64_t)));
    plan->runs = (uint32_t *)(workspace + take(&used, n_tiles * MAP_PIXELS * sizeof(uint32_t)));
    plan->n_runs = (uint32_t *)(workspace + take(&used, n_tiles * sizeof(uint32_t)));
    plan->first_rows = (uint32_t *)(workspace + take(&used, n_in_rows * sizeof(uint32_t)));
    plan->last_rows = (uint32_t *)(workspace + take(&used, n_in_rows * sizeof(uint32_t)));
    plan->first_columns = (uint32_t *)(workspace + take(&used, n_in_columns * sizeof(uint32_t)));
    plan->last_columns = (uint32_t *)(workspace + take(&used, n_in_columns * sizeof(uint32_t)));
    if (!features)
        return used;
    plan->foreground = (uint64_t *)(workspace + take(&used, n_words * sizeof(uint64_t)));
    plan->starts = (uint64_t *)(workspace + take(&used, n_words * sizeof(uint64_t)));
    plan->first_runs = (uint16_t *)(workspace + take(&used, n_words * sizeof(uint16_t)));
    plan->places = (uint32_t *)(workspace + take(&used, n_tiles * MAP_PIXELS * sizeof(uint32_t)));
    plan->planes = workspace + take(&used, map_planes_size(width, height));
    return used;
}

size_t cuda_map_workspace_size(const CclContext *context)
{
    MapPlan plan;
    return lay_out(&plan, NULL, context->config.max_width, context->config.max_height, context->config.features);
}

/* The runs of each tile and their roots in the map. */
template <bool EIGHT, bool WIDE> static CclStatus find_roots(CudaFrame *frame, const MapPlan &plan)
{
    const dim3 grid(plan.tiles_x, plan.bands);
    CCL_TRY(cuda_launch(frame, "tiles", CUDA_AFTER, map_tiles<EIGHT, WIDE>, { grid, THREADS, 0 }, frame->vars, plan));
    if (plan.tiles_x * plan.bands == 1)
        return CCL_OK;
    return cuda_launch(frame, "join", CUDA_OVERLAP, map_join<EIGHT>, { grid, MAP_WIDTH + MAP_HEIGHT, 0 }, frame->vars, plan);
}

template <bool EIGHT> static CclStatus find_roots(CudaFrame *frame, const MapPlan &plan)
{
    return frame->vars.wide ? find_roots<EIGHT, true>(frame, plan) : find_roots<EIGHT, false>(frame, plan);
}

static CclStatus write_labels(CudaFrame *frame, const MapPlan &plan, const StageBuffers *stages, bool final)
{
    const dim3 grid(plan.tiles_x, plan.bands);
    return cuda_launch(frame, "labels", CUDA_OVERLAP, final ? map_labels<true> : map_labels<false>, { grid, THREADS, 0 },
                       frame->vars, plan, *stages);
}

CclStatus cuda_map_analyze(const CclContext *context, CudaFrame *frame, const StageBuffers *stages)
{
    const CudaShape *const shape = &frame->shape;
    const uint32_t max_components = ccl_max_components_of(&context->config, shape->width, shape->height);
    MapPlan plan;
    lay_out(&plan, (uint8_t *)frame->workspace, shape->width, shape->height, context->config.features);
    plan.parents = stages->root_state;
    CCL_TRY(context->config.connectivity == CCL_CONNECT_8 ? find_roots<true>(frame, plan) : find_roots<false>(frame, plan));
    if (shape->label_mode == CUDA_LABELS_PROVISIONAL)
        return write_labels(frame, plan, stages, false);
    CCL_TRY(number_from_roots(frame, plan, stages));
    for (unsigned round = 0; round < stage_rounds(stages->n_sums, max_components); round++) {
        CCL_TRY(features_from_runs(context, frame, plan, stages, round));
        CCL_TRY(table_from_features(context, frame, stages, round));
    }
    if (context->config.features)
        CCL_TRY(count_map_features(context, frame, plan, stages));
    return shape->label_mode == CUDA_LABELS_FINAL ? write_labels(frame, plan, stages, true) : CCL_OK;
}
