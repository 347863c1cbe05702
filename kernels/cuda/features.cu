/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Provisional labels and ids -> sums per component.
 *
 * Atomics on one component's sums take their turns, so they are made rare: a lane adds up a column of pixels as long as the
 * label stays the same (background in between does no harm), lanes of a warp with the same label are added up, and so is
 * the largest group of each warp of the block. Until then everything is relative to the block's first pixel and fits 32
 * bits: at most 8192 pixels with coordinates below 128.
 */
#include "scan.cuh"
#include "stages.cuh"

static const unsigned WARPS = 8;
static const unsigned TILE_WIDTH = 128; /* four pixels per lane */
static const unsigned ROWS = 8;         /* per warp */
static const unsigned TILE_HEIGHT = WARPS * ROWS;

/* Sums of pixels with one label, relative to the block's first pixel. */
typedef struct Part {
    uint32_t label; /* 0: empty */
    uint32_t n, x, y, xx, xy, yy;
    uint32_t x0, x1, y1; /* box, y0 is the first pixel's row */
    uint32_t first;      /* y * width + x in the image */
} Part;

typedef struct Target {
    StageBuffers buffers;
    uint32_t first_id, past_id; /* measured in this round */
    uint32_t x, y;              /* the block's first pixel */
} Target;

__device__ static uint32_t warp_min(uint32_t value)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_min_sync(~0u, value);
#else
    for (int i = 16; i; i /= 2)
        value = min(value, __shfl_xor_sync(~0u, value, i));
    return value;
#endif
}

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

__device__ static Part empty_part()
{
    Part part = {};
    part.x0 = part.first = UINT32_MAX;
    return part;
}

/* One part into the component's sums. */
__device__ static void add_part(const Target &t, const Part &part)
{
    const uint32_t state = t.buffers.root_state[part.label - 1];
    const uint32_t id = state & ROOT_VALUE;
    if (state & ROOT_FINAL || id < t.first_id || id >= t.past_id)
        return;
    Sums *const sums = &t.buffers.sums[id - t.first_id];
    const unsigned long long n = part.n, x = part.x, y = part.y, tx = t.x, ty = t.y;

    atomicAdd(&sums->m10, x + n * tx);
    atomicAdd(&sums->m01, y + n * ty);
    atomicAdd(&sums->m20, part.xx + 2 * tx * x + n * tx * tx);
    atomicAdd(&sums->m11, part.xy + tx * y + ty * x + n * tx * ty);
    atomicAdd(&sums->m02, part.yy + 2 * ty * y + n * ty * ty);
    atomicAdd(&sums->area, part.n);
    atomicMax(&sums->not_x0, ~(part.x0 + t.x));
    atomicMax(&sums->x1, part.x1 + t.x);
    atomicMax(&sums->y1, part.y1 + t.y);
    atomicMax(&sums->not_first, ~part.first);
    sums->root = part.label - 1; /* the same from everybody */
}

/*
 * Adds up lanes of equal label, by one group after another. Groups of at least four are added up, the first few of them;
 * lanes left over add on their own. The largest group is not added but returned (to lane 0 at least), for the caller to
 * merge further.
 */
__device__ static Part merge_lanes(const Target &t, const Part &part)
{
    const uint32_t lane = threadIdx.x % 32;
    uint32_t pending = __ballot_sync(~0u, part.label != 0);
    uint32_t solo = 0; /* lanes that add on their own */
    Part largest = empty_part();

    for (int group = 0; pending && group < 4; group++) {
        const uint32_t label = __shfl_sync(~0u, part.label, __ffs(pending) - 1);
        const bool mine = part.label == label;
        const uint32_t peers = __ballot_sync(~0u, mine);
        pending &= ~peers;
        if (__popc(peers) < 4) {
            solo |= peers;
            continue;
        }
        Part sum = warp_part(mine ? part : empty_part(), label);
        if (sum.n > largest.n) {
            const Part other = largest;
            largest = sum;
            sum = other;
        }
        if (sum.label && lane == 0)
            add_part(t, sum);
    }
    if ((pending | solo) >> lane & 1)
        add_part(t, part);
    return largest;
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
__device__ static void add_run(const Target &t, Part *part, uint32_t label, uint32_t x, uint32_t y, uint32_t n,
                               uint32_t width)
{
    if (part->label != label) {
        if (part->label)
            add_part(t, *part);
        *part = empty_part();
        part->label = label;
        part->first = (t.y + y) * width + t.x + x;
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

/* The runs of equal labels among the four pixels [x, x + 4) of row y. */
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
            add_run(t, part, label, x + start, y, end - start, width);
    } while (starts);
}

__device__ static void clear_words(uint32_t *words, uint32_t n)
{
    const uint32_t block = blockIdx.y * gridDim.x + blockIdx.x;
    for (uint32_t i = block * blockDim.x + threadIdx.x; i < n; i += gridDim.x * gridDim.y * blockDim.x)
        words[i] = 0;
}

__global__ __launch_bounds__(WARPS * 32) static void features(const CudaVars *vars, uint32_t width, uint32_t height,
                                                              uint32_t capacity, unsigned round, StageBuffers buffers)
{
    __shared__ Part parts[WARPS];

    const uint32_t first_id = round * buffers.n_sums;
    const uint32_t n_measured = measured_ids(buffers, *vars, capacity);
    if (round == 0)
        clear_words(buffers.number_scan, buffers.n_number_scan);
    clear_words(buffers.table_scan, buffers.n_table_scan);
    if (n_measured <= first_id)
        return;

    const Target t = { buffers, first_id, min(n_measured, first_id + buffers.n_sums), blockIdx.x * TILE_WIDTH,
                       blockIdx.y * TILE_HEIGHT };
    const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const uint32_t x = lane * 4, y0 = warp * ROWS;
    const size_t stride = vars->label_stride;
    const uint32_t *const labels = vars->labels;
    const bool aligned = ((uintptr_t)labels | stride * 4) % 16 == 0;

    uint4 rows[ROWS];
#pragma unroll
    for (unsigned i = 0; i < ROWS; i++) {
        const uint32_t y = t.y + y0 + i;
        rows[i] = y < height ? load_labels(labels + y * stride, t.x + x, width, aligned) : make_uint4(0, 0, 0, 0);
    }
    Part part = empty_part();
#pragma unroll
    for (unsigned i = 0; i < ROWS; i++)
        add_quad(t, &part, rows[i], x, y0 + i, width);
    if (!__syncthreads_or(part.label != 0))
        return;
    const Part largest = merge_lanes(t, part);
    if (lane == 0)
        parts[warp] = largest;
    __syncthreads();
    if (warp)
        return;
    const Part rest = merge_lanes(t, lane < WARPS ? parts[lane] : empty_part());
    if (lane == 0 && rest.label)
        add_part(t, rest);
}

CclStatus features_from_labels(const CclContext *context, CudaFrame *frame, const StageBuffers *buffers, unsigned round)
{
    const uint32_t width = frame->shape.width, height = frame->shape.height;
    const dim3 grid(blocks_for(width, TILE_WIDTH), blocks_for(height, TILE_HEIGHT));
    CCL_CUDA_LAUNCH(frame, "features", features, grid, WARPS * 32, 0, frame->vars, width, height, context->capacity, round,
                    *buffers);
    return CCL_OK;
}
