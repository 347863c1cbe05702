/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Holes of label maps: each component alone, as cpu/map_holes.h describes.
 *
 *     lines      heights of components, which `table` has stored -> a place for the lines of each
 *     gaps       runs -> the gaps of each row in the order of their lines, and these from left to right
 *     join       gaps that touch are united
 *     number     roots of gaps -> numbers of holes
 *     holes      gaps -> sums of each hole
 *     list       sums -> host memory, as many as fit there
 *
 * A line is a row of a component that is in the table. A component of fewer than three rows has no holes, and no lines. A gap
 * is the part of a line from the end of a run to the next run. The first gap of a line begins at column 0; right of the last
 * run there is no gap. Runs that continue in the next tile have no gap between them.
 *
 *     . a a . . a . a     gaps: [0, 1) [3, 5) [6, 7)
 *
 * A row has as many nodes of the union-find as pixels, and takes the first ones for its gaps. So the root of a hole has its first
 * pixel. Node 0 stands for the outside: no gap of the map's first row is in a hole.
 */
#include "hole_list.cuh"
#include "map.cuh"
#include "warp.cuh"

#define NONE     ~0u
#define MIN_ROWS 3u

static const unsigned THREADS = 256;

/* The rows of a component of the table. */
typedef struct __align__(8) MapRows
{
    uint32_t first_line; /* NONE: it has no lines */
    uint16_t y0, y1;
}
MapRows;

/* The memory. A place is that of a component in the table. */
typedef struct MapGaps {
    uint32_t *heights;   /* [place]: see map_heights(). All zero between frames, like the next one */
    uint32_t *n_lines;   /* of all components */
    MapRows *rows;       /* [place] */
    uint32_t *lines;     /* [line]: number of gaps << 16 | end of the last run */
    uint16_t *starts;    /* [line]: its first gap, of the row's gaps */
    uint32_t *ranks;     /* [tile][run]: of the gap that ends at the run: rank in its line << 16 | start; or NONE */
    uint16_t *n_before;  /* [word]: pixels of the foreground before it in its row */
    uint32_t *gaps;      /* [node]: start << 16 | end */
    uint64_t *roots;     /* bit by bit: nodes that are roots */
    StageBuffers stages; /* root_state: parents */
} MapGaps;

static_assert(CCL_MAX_SIZE <= 1 << 14, "a rank and a column fit 16 bits, and are not NONE");

/* ---------------------------------------------------------------- lines */

/* Places for the lines, in any order, and clears them. */
__global__ __launch_bounds__(THREADS) static void map_lines(const __grid_constant__ MapGaps gaps, uint32_t capacity)
{
    const uint32_t lane = threadIdx.x % 32;
    wait_for_predecessor();
    for (uint32_t warp = blockIdx.x * THREADS + threadIdx.x - lane; warp < capacity; warp += gridDim.x * THREADS) {
        const uint32_t i = warp + lane, height = i < capacity ? gaps.heights[i] : 0, y0 = height & 0xffff, y1 = height >> 16;
        const uint32_t n_lines = y1 - y0 < MIN_ROWS ? 0 : y1 - y0, through = warp_scan(n_lines);
        const uint32_t used = lane == 31 && through ? atomicAdd(gaps.n_lines, through) : 0;
        const uint32_t first = __shfl_sync(~0u, used, 31), n = __shfl_sync(~0u, through, 31);
        if (height) {
            gaps.rows[i] = MapRows{ n_lines ? first + through - n_lines : NONE, (uint16_t)y0, (uint16_t)y1 };
            gaps.heights[i] = 0;
        }
        for (uint32_t k = lane; k < n; k += 32)
            gaps.lines[first + k] = 0;
    }
}

/* ---------------------------------------------------------------- gaps */

/* A run of a row of the map. line NONE: there is none, or its component has no lines. */
typedef struct RowRun {
    uint32_t at, line; /* at: in MapGaps.ranks; NONE: there is no run */
    uint32_t x0, x1;
    bool is_outer; /* the first or the last row of its component */
} RowRun;

/* The number of lanes, at most 31, whose value is not more than `value`. Values rise from lane to lane. */
__device__ static inline uint32_t n_lanes_up_to(uint32_t values, uint32_t value)
{
    uint32_t n = 0;
    for (uint32_t step = 16; step; step /= 2)
        n += __shfl_sync(~0u, values, n + step - 1) <= value ? step : 0;
    return n;
}

/* Calls visit() with the runs of a row, from left to right, 32 at a time. Called by a warp, always with the same lanes for the
 * same runs. */
template <typename Visit>
__device__ static inline void visit_row(const MapPlan &map, const MapGaps &gaps, uint32_t capacity, uint32_t y, Visit visit)
{
    for (uint32_t first_word = 0; first_word < map.row_words; first_word += 32) {
        const uint32_t word = first_word + threadIdx.x % 32, at = y * map.row_words + word;
        const uint32_t n_starts = word < map.row_words ? __popcll(map.starts[at]) : 0, through = warp_scan(n_starts);
        const uint32_t tile = y / MAP_HEIGHT * map.tiles_x + word, n = __shfl_sync(~0u, through, 31);
        const uint32_t first_run = n_starts ? tile * MAP_PIXELS + map.first_runs[at] - (through - n_starts) : 0;
        for (uint32_t first = 0; first < n; first += 32) {
            const uint32_t i = first + threadIdx.x % 32, from = n_lanes_up_to(through, i);
            const uint32_t run_at = __shfl_sync(~0u, first_run, from) + i;
            RowRun row_run = { NONE, NONE, 0, 0, true };
            if (i < n) {
                const MapRun run = map_run(map.runs[run_at]);
                const uint32_t place = map.places[run_at], x0 = (first_word + from) * MAP_WIDTH + run.place % MAP_WIDTH;
                const MapRows rows = place < capacity ? gaps.rows[place] : MapRows{ NONE, 0, 0 };
                const uint32_t line = rows.first_line == NONE ? NONE : rows.first_line + y - rows.y0;
                row_run = RowRun{ run_at, line, x0, x0 + run.length, y == rows.y0 || y + 1 == rows.y1 };
            }
            visit(row_run);
        }
    }
}

/* Appends the gaps of 32 runs of a row to their lines, and stores their ranks. Called by a warp. */
__device__ static inline void rank_gaps(const MapGaps &gaps, const RowRun &run)
{
    const uint32_t lane = threadIdx.x % 32, line = run.line, state = line == NONE ? 0 : gaps.lines[line];
    const uint32_t peers = __match_any_sync(~0u, line), before = peers & ((1u << lane) - 1), n = state >> 16;
    const uint32_t end_before = __shfl_sync(~0u, run.x1, before ? 31 - __clz((int)before) : lane);
    const uint32_t start = before ? end_before : state & 0xffff;
    const bool ends_gap = line != NONE && ((!n && !before) || start < run.x0);
    const uint32_t more = peers & __ballot_sync(~0u, ends_gap);
    __syncwarp();
    if (line != NONE && peers >> lane == 1)
        gaps.lines[line] = (n + __popc(more)) << 16 | run.x1;
    if (run.at != NONE)
        gaps.ranks[run.at] = ends_gap ? (n + __popc(more & before)) << 16 | start : NONE;
    __syncwarp();
}

/* Stores the gaps of 32 runs of a row; n_used: of the row's nodes, which begin with `first`. Called by a warp, after all ranks of
 * the row. */
__device__ static inline void store_gaps(const MapGaps &gaps, const RowRun &run, uint32_t first, uint32_t *n_used)
{
    const uint32_t ranked = run.at == NONE ? NONE : gaps.ranks[run.at], rank = ranked >> 16;
    const bool is_left = ranked != NONE && !rank;
    const uint32_t n = is_left ? gaps.lines[run.line] >> 16 : 0, through = warp_scan(n);
    if (is_left)
        gaps.starts[run.line] = (uint16_t)(*n_used + through - n);
    *n_used += __shfl_sync(~0u, through, 31);
    __syncwarp();
    if (ranked == NONE)
        return;
    const uint32_t node = first + gaps.starts[run.line] + rank;
    const bool is_outside = is_left || run.is_outer;
    gaps.gaps[node] = (ranked & 0xffff) << 16 | run.x0;
    gaps.stages.root_state[node] = is_outside ? 0 : node;
    if (!is_outside)
        atomicOr((uint32_t *)gaps.roots + node / 32, 1u << node % 32);
}

/* A warp takes a row. */
__global__ __launch_bounds__(THREADS) static void map_gaps(const __grid_constant__ MapPlan map,
                                                           const __grid_constant__ MapGaps gaps, uint32_t capacity)
{
    const uint32_t lane = threadIdx.x % 32, y = (blockIdx.x * THREADS + threadIdx.x) / 32;
    uint32_t n_foreground = 0, n_used = 0;
    wait_for_predecessor();
    if (y >= map.height)
        return;
    if (y == 0 && lane == 0)
        *gaps.n_lines = gaps.stages.root_state[0] = 0;
    for (uint32_t first_word = 0; first_word < map.row_words; first_word += 32) {
        const uint32_t word = first_word + lane, at = y * map.row_words + word;
        const uint32_t n = word < map.row_words ? __popcll(map.foreground[at]) : 0, through = warp_scan(n);
        if (word < map.row_words) {
            gaps.n_before[at] = (uint16_t)(n_foreground + through - n);
            gaps.roots[at] = at == 0; /* the outside */
        }
        n_foreground += __shfl_sync(~0u, through, 31);
    }
    visit_row(map, gaps, capacity, y, [&](const RowRun &run) { rank_gaps(gaps, run); });
    visit_row(map, gaps, capacity, y, [&](const RowRun &run) { store_gaps(gaps, run, y * map.row_words * MAP_WIDTH, &n_used); });
}

/* A gap, and where its component has it. */
typedef struct Gap {
    uint32_t node, line, place;
    uint32_t start, end, y;
    uint32_t first_above, first_below; /* nodes of these rows */
    bool in_first, in_last; /* row of the component */
} Gap;

/* Calls visit() for the gaps of a tile between two runs. */
template <typename Visit> __device__ static inline void visit_gaps(const MapPlan &map, const MapGaps &gaps, Visit visit)
{
    const size_t first = (size_t)(blockIdx.y * map.tiles_x + blockIdx.x) * MAP_PIXELS;
    const uint32_t n_runs = map.n_runs[blockIdx.y * map.tiles_x + blockIdx.x], pitch = map.row_words * MAP_WIDTH;
    for (uint32_t i = threadIdx.x; i < n_runs; i += THREADS) {
        const uint32_t ranked = gaps.ranks[first + i];
        if (ranked == NONE || !(ranked >> 16))
            continue;
        const MapRun run = map_run(map.runs[first + i]);
        Gap gap;
        gap.place = map.places[first + i];
        gap.y = blockIdx.y * MAP_HEIGHT + run.place / MAP_WIDTH;
        gap.start = ranked & 0xffff;
        gap.end = blockIdx.x * MAP_WIDTH + run.place % MAP_WIDTH;
        const MapRows rows = gaps.rows[gap.place];
        gap.line = rows.first_line + gap.y - rows.y0;
        gap.node = gap.y * pitch + gaps.starts[gap.line] + (ranked >> 16);
        gap.first_above = (gap.y - 1) * pitch;
        gap.first_below = (gap.y + 1) * pitch;
        gap.in_first = gap.y == rows.y0;
        gap.in_last = gap.y + 1u == rows.y1;
        visit(gap);
    }
}

/* ---------------------------------------------------------------- join */

__device__ static inline uint32_t start_of(uint32_t gap)
{
    return gap >> 16;
}

__device__ static inline uint32_t end_of(uint32_t gap)
{
    return gap & 0xffff;
}

/* The first gap of a line whose end is not before `end`, or the number of gaps. */
__device__ static inline uint32_t first_gap(const uint32_t *gaps, uint32_t n, uint32_t end)
{
    uint32_t first = 0;
    while (first < n) {
        const uint32_t middle = (first + n) / 2;
        if (end_of(gaps[middle]) < end)
            first = middle + 1;
        else
            n = middle;
    }
    return first;
}

/* Unites a gap with those of the row above, and with the outside. nodes: the gaps, as a map whose roots number_from_roots()
 * counts. eight: of the runs. */
__device__ static inline void join_gap(const MapPlan &nodes, const MapGaps &gaps, const Gap &gap, uint32_t eight)
{
    bool is_outside = false;
    if (!gap.in_first) {
        const uint32_t line = gaps.lines[gap.line - 1], n = line >> 16, start = gap.first_above + gaps.starts[gap.line - 1];
        const uint32_t *const above = gaps.gaps + start;
        uint32_t i = first_gap(above, n, gap.start + eight);
        for (; i < n && start_of(above[i]) + eight <= gap.end; i++) {
            if (i)
                unite_nodes(nodes, gap.node, start + i);
            is_outside |= !i;
        }
        is_outside |= end_of(line) + eight <= gap.end;
    }
    if (!gap.in_last) {
        const uint32_t line = gaps.lines[gap.line + 1], below = gap.first_below + gaps.starts[gap.line + 1];
        is_outside |= gap.start + eight <= end_of(gaps.gaps[below]) || end_of(line) + eight <= gap.end;
    }
    if (is_outside)
        unite_nodes(nodes, gap.node, 0);
}

__global__ __launch_bounds__(THREADS) static void map_join_gaps(const __grid_constant__ MapPlan map,
                                                                const __grid_constant__ MapPlan nodes,
                                                                const __grid_constant__ MapGaps gaps, uint32_t eight)
{
    wait_for_predecessor();
    visit_gaps(map, gaps, [&](const Gap &gap) { join_gap(nodes, gaps, gap, eight); });
}

/* ---------------------------------------------------------------- holes */

/* Pixels of the foreground in row y before column x, which is inside. */
__device__ static inline uint32_t foreground_before(const MapPlan &map, const MapGaps &gaps, uint32_t x, uint32_t y)
{
    const size_t word = (size_t)y * map.row_words + x / MAP_WIDTH;
    return gaps.n_before[word] + __popcll(map.foreground[word] & ((1ull << x % MAP_WIDTH) - 1));
}

__device__ static inline void add_gap(CudaHole *hole, const Gap &gap, uint32_t area)
{
    if (area)
        atomicAdd(&hole->area, area);
    atomicAdd(&hole->area_filled, gap.end - gap.start);
    atomicMax(&hole->not_x0, ~gap.start);
    atomicMax(&hole->x1, gap.end);
    atomicMax(&hole->y1, gap.y + 1);
}

__global__ __launch_bounds__(THREADS) static void map_holes(const __grid_constant__ MapPlan map,
                                                            const __grid_constant__ MapPlan nodes,
                                                            const __grid_constant__ MapGaps gaps,
                                                            const __grid_constant__ CudaHoles holes)
{
    wait_for_predecessor();
    visit_gaps(map, gaps, [&](const Gap &gap) {
        if (gap.in_first || gap.in_last)
            return;
        const MapRoot root = map_root_shortened(nodes, gap.node);
        const uint32_t id = id_of(gaps.stages, root.state);
        if (!id || id >= holes.capacity)
            return;
        const uint32_t n_foreground =
            foreground_before(map, gaps, gap.end, gap.y) - foreground_before(map, gaps, gap.start, gap.y);
        add_gap(&holes.sums[id], gap, gap.end - gap.start - n_foreground);
        if (root.node == gap.node) {
            holes.sums[id].first = gap.y << 16 | gap.start;
            holes.sums[id].parent = gap.place;
        }
    });
}

/* Sums 0 are of the outside, and empty. */
__global__ __launch_bounds__(THREADS) static void list_map_holes(const __grid_constant__ MapGaps gaps,
                                                                 const __grid_constant__ CudaHoles holes)
{
    wait_for_predecessor();
    const uint32_t n_found = __ldcg(&gaps.stages.counts->n_found);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        holes.n[0] = n_found;
    list_rows<THREADS>(holes, min(n_found, holes.capacity), [](uint32_t place) { return place + 1; });
}

/* ---------------------------------------------------------------- launch */

/* Lays out the memory for a map of this size, and returns its size in bytes. What has to be zero between frames has the same
 * place for every size. */
static size_t lay_out(MapGaps *gaps, void *memory, const MapPlan &map, uint32_t capacity)
{
    const size_t n_words = (size_t)map.row_words * map.height, n_nodes = n_words * MAP_WIDTH;
    const size_t n_runs = (size_t)map.tiles_x * map.bands * MAP_PIXELS, n_lines = (size_t)min(capacity, map.width) * map.height;
    size_t used = 0;
    const auto take = [&](size_t bytes) {
        uint8_t *const at = (uint8_t *)memory + used;
        used += (bytes + 255) / 256 * 256;
        return at;
    };
    gaps->heights = (uint32_t *)take(capacity * sizeof(uint32_t)); /* first: map_heights() */
    gaps->n_lines = (uint32_t *)take(sizeof(uint32_t));
    gaps->stages = StageBuffers{};
    gaps->stages.counts = (Counts *)take(sizeof(Counts));
    gaps->rows = (MapRows *)take(capacity * sizeof(MapRows));
    gaps->lines = (uint32_t *)take(n_lines * sizeof(uint32_t));
    gaps->starts = (uint16_t *)take(n_lines * sizeof(uint16_t));
    gaps->ranks = (uint32_t *)take(n_runs * sizeof(uint32_t));
    gaps->n_before = (uint16_t *)take(n_words * sizeof(uint16_t));
    gaps->gaps = (uint32_t *)take(n_nodes * sizeof(uint32_t));
    gaps->roots = (uint64_t *)take(n_words * sizeof(uint64_t));
    gaps->stages.root_state = (uint32_t *)take(n_nodes * sizeof(uint32_t));
    gaps->stages.n_chunks = blocks_for(n_nodes, NUMBER_CHUNK);
    gaps->stages.chunk_ids = (uint32_t *)take(gaps->stages.n_chunks * sizeof(uint32_t));
    return used;
}

size_t cuda_map_holes_size(const CclContext *context)
{
    MapPlan map = {};
    MapGaps gaps;
    map.width = context->config.max_width;
    map.height = context->config.max_height;
    map.row_words = map.tiles_x = map_row_words(map.width);
    map.bands = blocks_for(map.height, MAP_HEIGHT);
    return lay_out(&gaps, NULL, map, context->capacity);
}

CclStatus find_map_holes(const CclContext *context, CudaFrame *frame, const MapPlan &map)
{
    const CudaHoles *const holes = &frame->counts.holes;
    const uint32_t capacity = context->capacity, eight = context->config.connectivity == CCL_CONNECT_8;
    const CudaThreads tiles = { dim3(map.tiles_x, map.bands), THREADS, 0 };
    MapGaps gaps;
    lay_out(&gaps, holes->workspace, map, capacity);
    MapPlan nodes = map; /* of the gaps */
    nodes.parents = gaps.stages.root_state;
    nodes.roots = gaps.roots;
    const dim3 few(min(blocks_for(capacity, THREADS), 128u)), rows(blocks_for(map.height, THREADS / 32));

    CCL_TRY(cuda_launch(frame, "lines", CUDA_OVERLAP, map_lines, { few, THREADS, 0 }, gaps, capacity));
    CCL_TRY(cuda_launch(frame, "gaps", CUDA_OVERLAP, map_gaps, { rows, THREADS, 0 }, map, gaps, capacity));
    CCL_TRY(cuda_launch(frame, "join", CUDA_OVERLAP, map_join_gaps, tiles, map, nodes, gaps, eight));
    CCL_TRY(number_from_roots(frame, nodes, &gaps.stages));
    CCL_TRY(cuda_launch(frame, "holes", CUDA_OVERLAP, map_holes, tiles, map, nodes, gaps, *holes));
    return cuda_launch(frame, "list", CUDA_OVERLAP, list_map_holes, { list_grid(holes, THREADS), THREADS, 0 }, gaps, *holes);
}
