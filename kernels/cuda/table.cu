/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Sums per component -> records of the table, counts, and final labels.
 *
 *   table     numbers the components that the filter keeps (a scan), writes their records into host memory, and stores
 *             their label with their root
 *   relabel   provisional -> final labels, in place
 */
#include "map.cuh"
#include "overlap.cuh"
#include "scan.cuh"

/* Neighbouring threads write neighbouring 16 bytes, so that rows cross the bus in large transactions. */
__device__ static void write_rows(const CclComponent *from, CclComponent *rows, uint32_t n)
{
    const uint4 *const source = (const uint4 *)from;
    uint4 *const target = (uint4 *)rows;
    for (uint32_t i = threadIdx.x; i < n * (sizeof(CclComponent) / sizeof(uint4)); i += blockDim.x)
        target[i] = source[i];
}

__device__ static CclComponent component_from_sums(const Sums &sums, uint32_t width)
{
    CclComponent c = {};
    const uint32_t first = ~sums.not_first;
    c.moments.area = sums.area;
    c.moments.m10 = sums.m10;
    c.moments.m01 = sums.m01;
    c.moments.m20 = sums.m20;
    c.moments.m11 = sums.m11;
    c.moments.m02 = sums.m02;
    c.x0 = (uint16_t)~sums.not_x0;
    c.x1 = (uint16_t)sums.x1;
    c.y1 = (uint16_t)sums.y1;
    c.y0 = (uint16_t)(first / width);
    c.first_x = (uint16_t)(first % width);
    return c;
}

/* Number of earlier threads of the block with `yes`; *total: of all its threads. */
__device__ static uint32_t rank_in_block(bool yes, uint32_t *total)
{
    __shared__ uint32_t counts[TABLE_TILE / 32];
    const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const uint32_t votes = __ballot_sync(~0u, yes);
    if (lane == 0)
        counts[warp] = __popc(votes);
    __syncthreads();
    uint32_t before = 0, all = 0;
    for (uint32_t i = 0; i < TABLE_TILE / 32; i++) {
        before += i < warp ? counts[i] : 0;
        all += counts[i];
    }
    *total = all;
    return before + __popc(votes & ((1u << lane) - 1));
}

/* A component that may get a record. */
typedef struct Candidate {
    CclComponent component; /* without its label */
    uint32_t root;
    bool kept;
} Candidate;

/* Takes and clears a component's sums. */
__device__ static __forceinline__ Candidate take_component(Sums *sums, uint32_t width, uint32_t height, const CclLimits &limits)
{
    Candidate candidate;
    CclComponent *const c = &candidate.component;
    *c = component_from_sums(*sums, width);
    candidate.root = sums->root;
    *sums = Sums{};
    const uint16_t touches = ccl_border_flags(c->x0, c->y0, c->x1, c->y1, width, height);
    candidate.kept = ccl_keeps(&limits, c->moments.area, c->x1 - c->x0, c->y1 - c->y0, touches);
    c->flags = limits.border == CCL_BORDER_KEEP ? 0 : touches;
    return candidate;
}

/* What a label map has beside its records. */
typedef struct MapRecords {
    uint16_t *class_ids;
    uint32_t *heights; /* see map_heights() */
} MapRecords;

/* Stores what belongs to record i, if there is one. */
__device__ static void store_beside(const CudaVars &vars, const CclComponent &c, uint32_t i, uint32_t capacity,
                                    const MapRecords &beside)
{
    if (i >= capacity)
        return;
    beside.class_ids[i] = (uint16_t)map_value_at(vars, c.first_x, c.y0);
    if (beside.heights)
        beside.heights[i] = (uint32_t)c.y1 << 16 | c.y0;
}

__device__ static void store_beside(const CudaVars &, const CclComponent &, uint32_t, uint32_t) {}

/* beside: MapRecords, of label maps only. */
template <typename... Beside>
__global__ __launch_bounds__(TABLE_TILE) static void table(const __grid_constant__ CudaVars vars, uint32_t width, uint32_t height,
                                                           uint32_t capacity, unsigned round, StageBuffers buffers,
                                                           CclComponent *rows, CudaResult *result, Beside... beside)
{
    __shared__ __align__(16) CclComponent out[TABLE_TILE];
    __shared__ uint32_t shared_before;
    if (sizeof...(Beside))
        wait_for_predecessor();
    const uint32_t first_id = round * buffers.n_sums;
    const bool keep_all = vars.keep_all;
    const uint32_t n_found = buffers.counts->n_found, past_id = past_id_of(buffers, vars, capacity, round);
    const uint32_t kept_before = round ? buffers.counts->n_kept[round] : 0;
    const CclLimits limits = vars.limits;

    if (round == 0 && blockIdx.x == 0 && threadIdx.x == 0 && (keep_all || !n_found)) {
        result->n_found = n_found;
        result->n_kept = n_found;
    }
    for (uint32_t turn = blockIdx.x;; turn += gridDim.x) {
        const uint32_t tile = keep_all ? turn : scan_next_tile(buffers.table_scan);
        const uint32_t start = first_id + tile * TABLE_TILE;
        if (start >= past_id)
            return;
        const uint32_t id = start + threadIdx.x;
        Candidate candidate = {};
        if (id < past_id)
            candidate = take_component(&buffers.sums[id - first_id], width, height, limits);
        CclComponent &c = candidate.component;
        const bool kept = candidate.kept;
        uint32_t n_kept;
        __syncthreads(); /* all threads have read the shared memory of the tile before */
        const uint32_t rank = rank_in_block(kept, &n_kept);
        if (threadIdx.x < 32) {
            const uint32_t before = keep_all ? start : kept_before + scan_before(buffers.table_scan, tile, n_kept);
            if (threadIdx.x == 0)
                shared_before = before;
        }
        __syncthreads();
        const uint32_t before = shared_before;
        if (kept) {
            c.label = before + rank + 1;
            out[rank] = c;
            store_beside(vars, c, before + rank, capacity, beside...);
        }
        if (!keep_all && id < past_id)
            buffers.root_state[candidate.root] = ROOT_NUMBERED | ROOT_FINAL | c.label;
        __syncthreads();
        if (before < capacity)
            write_rows(out, rows + before, min(n_kept, capacity - before));
        if (!keep_all && threadIdx.x == 0 && start + TABLE_TILE >= past_id) { /* the round's last tile */
            if (past_id == n_found) {
                result->n_found = n_found;
                result->n_kept = before + n_kept;
            } else {
                buffers.counts->n_kept[round + 1] = before + n_kept;
            }
        }
    }
}

CclStatus table_from_features(const CclContext *context, CudaFrame *frame, const StageBuffers *buffers, unsigned round)
{
    const unsigned grid = min(blocks_for(buffers->n_sums, TABLE_TILE), 2 * cuda_multiprocessors(context));
    const CudaThreads threads = { grid, TABLE_TILE, 0 };
    const uint32_t width = frame->shape.width, height = frame->shape.height;
    if (cuda_takes_maps(context))
        return cuda_launch(frame, "table", CUDA_OVERLAP, table<MapRecords>, threads, frame->vars, width, height,
                           context->capacity, round, *buffers, frame->records, frame->result,
                           MapRecords{ frame->class_ids, map_heights(frame) });
    return cuda_launch(frame, "table", CUDA_AFTER, table<>, threads, frame->vars, width, height, context->capacity, round,
                       *buffers, frame->records, frame->result);
}

/* ---------------------------------------------------------------- relabel */

/* The final labels of four pixels. Equal provisional labels are looked up once. */
__device__ static uint4 final_labels(const StageBuffers &buffers, uint4 v)
{
    uint32_t four[4] = { v.x, v.y, v.z, v.w }, provisional = 0, label = 0;
#pragma unroll
    for (uint32_t i = 0; i < 4; i++) {
        if (four[i] != provisional && four[i]) {
            provisional = four[i];
            label = final_label(buffers, buffers.root_state[provisional - 1]);
        }
        four[i] = four[i] ? label : 0;
    }
    return make_uint4(four[0], four[1], four[2], four[3]);
}

static const unsigned ROWS = 2; /* per thread, whose loads overlap */

__global__ static void relabel_quads(const __grid_constant__ CudaVars vars, uint32_t width, uint32_t height,
                                     StageBuffers buffers)
{
    const uint32_t x = (blockIdx.x * blockDim.x + threadIdx.x) * 4, y = (blockIdx.y * blockDim.y + threadIdx.y) * ROWS;
    if (x >= width)
        return;
    uint32_t *const pixels = vars.labels + y * vars.label_stride + x;
    const size_t stride = vars.label_stride;
    if (x + 4 > width || ((uintptr_t)pixels | stride * 4) % 16) {
        for (uint32_t i = 0; i < ROWS && y + i < height; i++)
            for (uint32_t j = 0; j < min(4u, width - x); j++)
                if (pixels[i * stride + j])
                    pixels[i * stride + j] = final_label(buffers, buffers.root_state[pixels[i * stride + j] - 1]);
        return;
    }
    uint4 quads[ROWS];
#pragma unroll
    for (uint32_t i = 0; i < ROWS; i++)
        quads[i] = y + i < height ? *(const uint4 *)(pixels + i * stride) : make_uint4(0, 0, 0, 0);
#pragma unroll
    for (uint32_t i = 0; i < ROWS; i++)
        if (quads[i].x | quads[i].y | quads[i].z | quads[i].w)
            *(uint4 *)(pixels + i * stride) = final_labels(buffers, quads[i]);
}

CclStatus relabel(const CclContext *context, CudaFrame *frame, const StageBuffers *buffers)
{
    const uint32_t width = frame->shape.width, height = frame->shape.height;
    const dim3 grid(blocks_for(width, 4 * 32), blocks_for(height, 8 * ROWS));
    (void)context;
    CCL_CUDA_LAUNCH(frame, "relabel", relabel_quads, grid, dim3(32, 8), 0, frame->vars, width, height, *buffers);
    return CCL_OK;
}

/* ---------------------------------------------------------------- sizes */

unsigned stage_rounds(uint32_t n_sums, uint32_t max_components)
{
    return blocks_for(max_components, n_sums);
}

#define MIN_SUMS (1u << 21)

size_t stage_roots(const CclContext *context)
{
    const uint32_t width = context->config.max_width, height = context->config.max_height;
    return cuda_takes_maps(context) ? map_nodes(width, height) : (size_t)width * height;
}

/* Sums for MIN_SUMS components or, in large images, for an eighth of the maximum number. */
StageBuffers stage_sizes(const CclContext *context)
{
    const uint32_t width = context->config.max_width, height = context->config.max_height;
    const uint32_t max_components = ccl_max_components_of(&context->config, width, height);
    StageBuffers sizes = {};
    const uint32_t min_sums = limit_of(MIN_SUMS, ccl_test_switches()->max_sums);
    sizes.n_sums = min(max_components, max(min_sums, blocks_for(max_components, MAX_ROUNDS)));
    sizes.n_chunks = blocks_for(stage_roots(context), NUMBER_CHUNK);
    sizes.n_table_scan = SCAN_WORDS(blocks_for(sizes.n_sums, TABLE_TILE));
    return sizes;
}
