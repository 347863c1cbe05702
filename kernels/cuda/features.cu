/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Provisional labels and ids -> sums per component.
 *
 * Atomics on one component's sums in global memory are serialized, so the kernel needs few of them. First, a lane adds up a
 * column of pixels while the label stays the same. Background in between is skipped. Then lanes of a warp with the same label
 * are added up. The rest goes into a small hash table of the block in shared memory, and from there into the component's sums,
 * once per label and block. Until then everything is relative to the block's first pixel and fits 32 bits: at most 8192 pixels
 * with coordinates below 128, of a label map 16384 below 256.
 */
#include "map.cuh"
#include "overlap.cuh"
#include "sums.cuh"

static const unsigned WARPS = 8;
static const unsigned TILE_WIDTH = 128; /* four pixels per lane */
static const unsigned ROWS = 8;         /* per warp */
static const unsigned TILE_HEIGHT = WARPS * ROWS;

/* The block's hash table, by label. Each field is an array, so that neighbouring lanes use neighbouring banks. */
static const unsigned SLOTS = 512; /* tests use fewer */
static_assert((SLOTS & (SLOTS - 1)) == 0, "a power of two");
static const unsigned PROBES = 8;

typedef struct Slots {
    uint32_t label[SLOTS];
    uint32_t n[SLOTS], x[SLOTS], y[SLOTS], xx[SLOTS], xy[SLOTS], yy[SLOTS];
    uint32_t x0[SLOTS], x1[SLOTS], y1[SLOTS];
    uint32_t first[SLOTS];
} Slots;

typedef struct Target {
    SumsTarget sums; /* parts are relative to the block's first pixel */
    Slots *slots;
    uint32_t last_slot; /* last slot in use: a power of two minus one */
} Target;

/* The sum of a warp's parts. An empty part is neutral. */
__device__ static Part warp_part(const Part &part, uint32_t label)
{
    Part sum;
    sum.label = label;
    sum.n = warp_sum(part.n);
    sum.x = warp_sum(part.x);
    sum.y = warp_sum(part.y);
    sum.xx = warp_sum(part.xx);
    sum.xy = warp_sum(part.xy);
    sum.yy = warp_sum(part.yy);
    sum.x0 = warp_min(part.x0);
    sum.x1 = ~warp_min(~part.x1);
    sum.y1 = ~warp_min(~part.y1);
    sum.first = warp_min(part.first);
    return sum;
}

/* Adds a part to the hash table or, if that is full, to the component's sums. */
__device__ static void add_part(const Target &t, const Part &part)
{
    Slots *const slots = t.slots;
    uint32_t i = (part.label * 2654435761u) >> 16;
    for (unsigned probe = 0;; probe++, i++) {
        i &= t.last_slot;
        if (probe == PROBES) {
            add_to_sums(t.sums, part);
            return;
        }
        const uint32_t label = atomicCAS(&slots->label[i], 0, part.label);
        if (label == 0 || label == part.label)
            break;
    }
    atomicAdd(&slots->n[i], part.n);
    atomicAdd(&slots->x[i], part.x);
    atomicAdd(&slots->y[i], part.y);
    atomicAdd(&slots->xx[i], part.xx);
    atomicAdd(&slots->xy[i], part.xy);
    atomicAdd(&slots->yy[i], part.yy);
    atomicMin(&slots->x0[i], part.x0);
    atomicMax(&slots->x1[i], part.x1);
    atomicMax(&slots->y1[i], part.y1);
    atomicMin(&slots->first[i], part.first);
}

__device__ static void clear_slots(Slots *slots)
{
    for (uint32_t i = threadIdx.x; i < SLOTS; i += blockDim.x) {
        slots->label[i] = slots->n[i] = slots->x[i] = slots->y[i] = 0;
        slots->xx[i] = slots->xy[i] = slots->yy[i] = slots->x1[i] = slots->y1[i] = 0;
        slots->x0[i] = slots->first[i] = UINT32_MAX;
    }
}

__device__ static void empty_slots(const Target &t)
{
    const Slots *const s = t.slots;
    for (uint32_t i = threadIdx.x; i < SLOTS; i += blockDim.x) {
        if (!s->label[i])
            continue;
        const Part part = { s->label[i], s->n[i], s->x[i], s->y[i], s->xx[i], s->xy[i], s->yy[i], s->x0[i], s->x1[i],
                            s->y1[i], s->first[i] };
        add_to_sums(t.sums, part);
    }
}

/* Adds the lanes' parts. Groups of at least eight equal labels are added as one part, up to a few groups. The other lanes add
 * their own part. */
__device__ static void add_lanes(const Target &t, const Part &part)
{
    const uint32_t lane = threadIdx.x % 32;
    uint32_t pending = __ballot_sync(~0u, part.label != 0);
    uint32_t alone = 0;

    for (int group = 0; pending && group < 3; group++) {
        const uint32_t label = __shfl_sync(~0u, part.label, __ffs(pending) - 1);
        const bool mine = part.label == label;
        const uint32_t peers = __ballot_sync(~0u, mine);
        pending &= ~peers;
        if (__popc(peers) < 8) {
            alone |= peers;
            continue;
        }
        const Part sum = warp_part(mine ? part : empty_part(), label);
        if (lane == 0)
            add_part(t, sum);
    }
    if ((pending | alone) >> lane & 1)
        add_part(t, part);
}

__device__ static uint4 load_labels(const uint32_t *row, uint32_t x, uint32_t width, bool aligned)
{
    if (aligned && x + 4 <= width)
        return *(const uint4 *)(row + x);
    uint4 v = make_uint4(0, 0, 0, 0);
    if (x < width)
        v.x = row[x];
    if (x + 1 < width)
        v.y = row[x + 1];
    if (x + 2 < width)
        v.z = row[x + 2];
    if (x + 3 < width)
        v.w = row[x + 3];
    return v;
}

/* n pixels [x, x + n) of row y. */
typedef struct LabelRun {
    uint32_t label, x, y, n;
} LabelRun;

__device__ static void add_run(const Target &t, Part *part, const LabelRun &run, uint32_t width)
{
    const uint32_t label = run.label, x = run.x, y = run.y, n = run.n;
    if (part->label != label) {
        if (part->label)
            add_part(t, *part);
        *part = empty_part();
        part->label = label;
        part->first = (t.sums.y + y) * width + t.sums.x + x;
    }
    const uint32_t sum_x = n * x + n * (n - 1) / 2;
    part->n += n;
    part->x += sum_x;
    part->y += n * y;
    part->xx += n * x * x + n * (n - 1) * x + (n - 1) * n * (2 * n - 1) / 6;
    part->xy += sum_x * y;
    part->yy += n * y * y;
    part->x0 = min(part->x0, x);
    part->x1 = max(part->x1, x + n);
    part->y1 = y + 1;
}

/* Adds the runs of equal labels among the four pixels [x, x + 4) of row y. */
__device__ static void add_quad(const Target &t, Part *part, uint4 v, uint32_t x, uint32_t y, uint32_t width)
{
    if (!(v.x | v.y | v.z | v.w))
        return;
    uint32_t starts = 1 | (v.x != v.y) << 1 | (v.y != v.z) << 2 | (v.z != v.w) << 3;
    do {
        const uint32_t start = __ffs(starts) - 1;
        starts &= starts - 1;
        const uint32_t end = starts ? __ffs(starts) - 1 : 4;
        const uint32_t label = start < 2 ? (start ? v.y : v.x) : start == 2 ? v.z : v.w;
        if (label)
            add_run(t, part, { label, x + start, y, end - start }, width);
    } while (starts);
}

/* The pixels of a thread in a tile: four in each of its warp's rows. */
typedef struct Quads {
    uint4 row[ROWS];
} Quads;

__device__ static Quads load_tile(const CudaVars &vars, uint32_t tile_x, uint32_t tile_y, uint32_t width, uint32_t height)
{
    const uint32_t x = tile_x + threadIdx.x % 32 * 4, y = tile_y + threadIdx.x / 32 * ROWS;
    const bool aligned = ((uintptr_t)vars.labels | vars.label_stride * 4) % 16 == 0;
    Quads quads;
#pragma unroll
    for (unsigned i = 0; i < ROWS; i++)
        quads.row[i] = y + i < height ? load_labels(vars.labels + (y + i) * vars.label_stride, x, width, aligned)
                                      : make_uint4(0, 0, 0, 0);
    return quads;
}

/* Adds a tile of the image. All threads of the block call it. */
__device__ static void add_tile(const Target &t, const Quads &quads, uint32_t width)
{
    uint32_t any = 0;
#pragma unroll
    for (unsigned i = 0; i < ROWS; i++)
        any |= quads.row[i].x | quads.row[i].y | quads.row[i].z | quads.row[i].w;
    if (!__syncthreads_or(any)) /* also waits until the tile before is done with the table */
        return;
    clear_slots(t.slots);
    __syncthreads();

    Part part = empty_part();
#pragma unroll
    for (unsigned i = 0; i < ROWS; i++)
        add_quad(t, &part, quads.row[i], threadIdx.x % 32 * 4, threadIdx.x / 32 * ROWS + i, width);
    add_lanes(t, part);
    __syncthreads();
    empty_slots(t);
}

__global__ __launch_bounds__(WARPS * 32) static void features(const __grid_constant__ CudaVars vars, uint32_t width,
                                                              uint32_t height, uint32_t capacity, unsigned round,
                                                              StageBuffers buffers, uint32_t last_slot)
{
    __shared__ Slots slots;

    const uint32_t tiles_x = (width + TILE_WIDTH - 1) / TILE_WIDTH, tiles_y = (height + TILE_HEIGHT - 1) / TILE_HEIGHT;
    const uint32_t first_id = round * buffers.n_sums;
    uint32_t past_id = UINT32_MAX; /* looked up after the loads of the first labels have started */

    for (uint32_t tile = blockIdx.x; tile < tiles_x * tiles_y; tile += gridDim.x) {
        const uint32_t x = tile % tiles_x * TILE_WIDTH, y = tile / tiles_x * TILE_HEIGHT;
        const Quads quads = load_tile(vars, x, y, width, height);
        if (past_id == UINT32_MAX) {
            clear_words(buffers.table_scan, buffers.n_table_scan);
            past_id = past_id_of(buffers, vars, capacity, round);
        }
        if (past_id <= first_id)
            return;
        const Target t = { { buffers, first_id, past_id, x, y }, &slots, last_slot };
        add_tile(t, quads, width);
    }
}

static uint32_t slots_used(void)
{
    uint32_t n = SLOTS;
    while (n > test_limit(SLOTS))
        n /= 2;
    return n;
}

CclStatus features_from_labels(const CclContext *context, CudaFrame *frame, const StageBuffers *buffers, unsigned round)
{
    const uint32_t width = frame->shape.width, height = frame->shape.height;
    const unsigned tiles = blocks_for(width, TILE_WIDTH) * blocks_for(height, TILE_HEIGHT);
    /* Rounds after the first mostly find nothing to do. Few blocks detect this sooner. */
    const unsigned grid = round ? min(tiles, 2 * cuda_multiprocessors(context)) : tiles;
    CCL_CUDA_LAUNCH(frame, "features", features, grid, WARPS * 32, 0, frame->vars, width, height, context->capacity, round,
                    *buffers, slots_used() - 1);
    return CCL_OK;
}

/* ---------------------------------------------------------------- label maps */

/* Tiles of a map, side by side, that a block adds up: with fewer, large components get more atomics. */
static const unsigned MAP_TILES = 4;
static const unsigned MAP_THREADS = 128; /* of each */

/* Adds the runs of a tile, neighbouring runs by one thread. tile_x: its first pixel. Called by whole warps. */
__device__ static void add_runs(const Target &t, const MapPlan &plan, uint32_t tile, uint32_t tile_x)
{
    const uint32_t *const runs = plan.runs + (size_t)tile * MAP_PIXELS, n_runs = plan.n_runs[tile];
    const uint32_t n_each = (n_runs + MAP_THREADS - 1) / MAP_THREADS, first = threadIdx.x % MAP_THREADS * n_each;
    const uint32_t end = min(first + n_each, n_runs);
    uint32_t root = UINT32_MAX, label = 0;
    Part part = empty_part();
    for (uint32_t i = first; i < end; i++) {
        const MapRun run = map_run(runs[i]);
        if (run.root != root) {
            root = run.root;
            label = 1 + map_root_shortened(plan, map_node(plan, tile_x, t.sums.y, root)).node;
        }
        const uint32_t x = tile_x - t.sums.x + run.place % MAP_WIDTH;
        add_run(t, &part, { label, x, run.place / MAP_WIDTH, run.length }, plan.width);
    }
    add_lanes(t, part);
}

/* A label is 1 + the node of a root, here. A sum of x squared over MAP_TILES tiles fits 32 bits. */
__global__ __launch_bounds__(MAP_TILES *MAP_THREADS) static void run_features(const __grid_constant__ CudaVars vars,
                                                                              const __grid_constant__ MapPlan plan,
                                                                              uint32_t capacity, unsigned round,
                                                                              StageBuffers buffers, uint32_t last_slot)
{
    __shared__ Slots slots;
    const uint32_t first_id = round * buffers.n_sums, n_groups = (plan.tiles_x + MAP_TILES - 1) / MAP_TILES;

    clear_slots(&slots);
    wait_for_predecessor();
    clear_words(buffers.table_scan, buffers.n_table_scan);
    const uint32_t past_id = past_id_of(buffers, vars, capacity, round);
    if (past_id <= first_id)
        return;
    for (uint32_t group = blockIdx.x; group < n_groups * plan.bands; group += gridDim.x) {
        const uint32_t tile_x = group % n_groups * MAP_TILES, band = group / n_groups, own_x = tile_x + threadIdx.x / MAP_THREADS;
        const Target t = { { buffers, first_id, past_id, tile_x * MAP_WIDTH, band * MAP_HEIGHT }, &slots, last_slot };
        __syncthreads();
        if (own_x < plan.tiles_x)
            add_runs(t, plan, band * plan.tiles_x + own_x, own_x * MAP_WIDTH);
        __syncthreads();
        empty_slots(t);
        __syncthreads();
        if (group + gridDim.x < n_groups * plan.bands)
            clear_slots(&slots);
    }
}

CclStatus features_from_runs(const CclContext *context, CudaFrame *frame, const MapPlan &plan, const StageBuffers *buffers,
                             unsigned round)
{
    const unsigned groups = blocks_for(plan.tiles_x, MAP_TILES) * plan.bands;
    const unsigned grid = round ? min(groups, 2 * cuda_multiprocessors(context)) : groups; /* see features_from_labels() */
    return cuda_launch(frame, "features", CUDA_OVERLAP, run_features, { grid, MAP_TILES * MAP_THREADS, 0 }, frame->vars, plan,
                       context->capacity, round, *buffers, slots_used() - 1);
}
