/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * FLSL with conflict detection: Faster Light Speed Labeling on GPUs, written anew as a baseline. Lemaitre, Hennequin,
 * Lacassagne, "Taming Voting Algorithms on GPUs for an Efficient Connected Component Analysis Algorithm", ICASSP 2021, and
 * their talk at GTC 2021. Neither was available. This is written from a public research note about both (docs/benchmarks.md);
 * other details are our own.
 *
 * The nodes are runs of a whole row, while the runs of HA are cut every 32 pixels. A warp has a row. Ballots find where runs
 * begin and end, and the number of earlier edges is the index in the row's list. Then each thread unites a run with the runs
 * above, and labels are set run by run. To measure, a run votes once for all of its pixels. Runs of a warp that would vote for
 * the same component (a conflict) are first added up in registers.
 *
 *   spans      pixels -> list of runs of each row
 *   merge      each run is united with those of the row above that it touches
 *   propagate  each run finds its root; its pixels take the label
 *   features   runs -> sums of their components, one vote per component and warp
 *
 * Our own details, which the note leaves open: bisection finds the first run above. 32 runs are filled together, and each pixel
 * finds its run by bisection. Components are numbered before they are measured, and a label image is always made. The "on the
 * fly" variant, whose sums travel along the unions, is not included.
 */
#include "cuda/sums.cuh"
#include "spans.cuh"

static const unsigned THREADS = 128; /* threads that divide a row's runs */
static const unsigned FILL_ROWS = 4; /* per block of fill_runs, a warp each */

template <bool EIGHT> __global__ static void merge_runs(uint32_t width, Spans spans, uint32_t *parents)
{
    const uint32_t y = blockIdx.x + 1, row = y * width, lower = y * spans.per_row, upper = lower - spans.per_row;
    const uint16_t *const starts = spans.starts + lower, *const ends = spans.ends + lower;
    const uint16_t *const upper_starts = spans.starts + upper, *const upper_ends = spans.ends + upper;
    const uint32_t n = spans.counts[y], n_upper = spans.counts[y - 1];

    for (uint32_t i = threadIdx.x; i < n; i += THREADS) {
        const uint32_t start = starts[i], end = ends[i] + EIGHT;
        for (uint32_t j = count_up_to(upper_ends, n_upper, start, EIGHT); j < n_upper && upper_starts[j] < end; j++)
            unite(parents, row + start, row - width + upper_starts[j]);
    }
}

/* The last of a warp's 32 runs, one per lane and in order, that begins at or before x; 32: none. */
__device__ static uint32_t run_before(uint32_t start, uint32_t x)
{
    uint32_t n = 0; /* runs that begin at or before x */
#pragma unroll
    for (uint32_t step = 16; step; step /= 2)
        n += __shfl_sync(~0u, start, n + step - 1) <= x ? step : 0;
    n += __shfl_sync(~0u, start, n) <= x;
    return n ? n - 1 : 32;
}

__global__ __launch_bounds__(32 * FILL_ROWS) static void fill_runs(const __grid_constant__ CudaVars vars,
                                                                   uint32_t width, uint32_t height, Spans spans,
                                                                   uint32_t *parents)
{
    const uint32_t lane = threadIdx.x, y = blockIdx.x * FILL_ROWS + threadIdx.y;
    if (y >= height)
        return;
    const uint16_t *const starts = spans.starts + y * spans.per_row, *const ends = spans.ends + y * spans.per_row;
    uint32_t *const labels = vars.labels + y * vars.label_stride;
    const uint32_t n = spans.counts[y];

    for (uint32_t i = 0, x0 = 0; i == 0 || i < n; i += 32) {
        const bool mine = i + lane < n;
        const uint32_t start = mine ? starts[i + lane] : UINT32_MAX, end = mine ? ends[i + lane] : 0;
        const uint32_t label = mine ? 1 + compress(parents, y * width + start) : 0;
        const uint32_t x1 = i + 32 < n ? __shfl_sync(~0u, end, 31) : width;
        for (; x0 < x1; x0 += 32) {
            const uint32_t x = x0 + lane, run = run_before(start, x);
            const uint32_t run_end = __shfl_sync(~0u, end, run % 32), run_label = __shfl_sync(~0u, label, run % 32);
            if (x < x1)
                labels[x] = run < 32 && x < run_end ? run_label : 0;
        }
        x0 = x1;
    }
}

/* The sums of runs of one row with the same label. */
typedef struct Vote {
    uint32_t n, x;         /* pixels, sum of columns */
    unsigned long long xx; /* of their squares */
    uint32_t x0, x1;
} Vote;

__device__ static Vote vote_of_run(uint32_t start, uint32_t end)
{
    const unsigned long long n = end - start, s = start;
    const unsigned long long sum = n * (n - 1) / 2;
    return Vote{ (uint32_t)n, (uint32_t)(n * s + sum), n * s * s + 2 * s * sum + sum * (2 * n - 1) / 3, start, end };
}

/* Adds up the votes of lanes with the same label in the first of them; returns true there. In each round every other lane with
 * this label takes the vote of its successor, until one lane is left. */
__device__ static bool gather_votes(uint32_t label, Vote *vote)
{
    const uint32_t lane = threadIdx.x % 32, after = lane < 31 ? ~0u << (lane + 1) : 0;
    uint32_t peers = __match_any_sync(~0u, label);
    uint32_t rank = __popc(peers & ~after) - 1;
    const bool first = rank == 0;
    while (__any_sync(~0u, (peers & after) != 0)) {
        const uint32_t others = peers & after, from = others ? __ffs(others) - 1 : lane;
        const Vote other = { __shfl_sync(~0u, vote->n, from), __shfl_sync(~0u, vote->x, from),
                             __shfl_sync(~0u, vote->xx, from), __shfl_sync(~0u, vote->x0, from),
                             __shfl_sync(~0u, vote->x1, from) };
        if (others) {
            vote->n += other.n;
            vote->x += other.x;
            vote->xx += other.xx;
            vote->x0 = min(vote->x0, other.x0);
            vote->x1 = max(vote->x1, other.x1);
        }
        peers &= __ballot_sync(~0u, rank % 2 == 0);
        peers = rank % 2 == 0 ? peers : 0; /* its vote has been taken by another lane */
        rank /= 2;
    }
    return first;
}

__device__ static void cast_vote(Sums *sums, const Vote &vote, uint32_t label, uint32_t y, uint32_t width)
{
    const unsigned long long n = vote.n, x = vote.x, wide_y = y;
    atomicAdd(&sums->m10, x);
    atomicAdd(&sums->m01, n * wide_y);
    atomicAdd(&sums->m20, vote.xx);
    atomicAdd(&sums->m11, x * wide_y);
    atomicAdd(&sums->m02, n * wide_y * wide_y);
    atomicAdd(&sums->area, vote.n);
    atomicMax(&sums->not_x0, ~vote.x0);
    atomicMax(&sums->x1, vote.x1);
    atomicMax(&sums->y1, y + 1);
    atomicMax(&sums->not_first, ~(y * width + vote.x0));
    sums->root = label - 1; /* race: all threads store the same value */
}

__global__ __launch_bounds__(THREADS) static void vote_by_runs(const __grid_constant__ CudaVars vars, uint32_t width,
                                                               uint32_t capacity, unsigned round, Spans spans,
                                                               StageBuffers buffers)
{
    const uint32_t y = blockIdx.x, n = spans.counts[y];
    const uint16_t *const starts = spans.starts + y * spans.per_row, *const ends = spans.ends + y * spans.per_row;
    const SumsTarget target = sums_target(buffers, vars, capacity, round, 0, 0);
    clear_words(buffers.table_scan, buffers.n_table_scan);
    if (target.past_id <= target.first_id)
        return;
    for (uint32_t i0 = threadIdx.x & ~31u; i0 < n; i0 += THREADS) {
        const uint32_t i = i0 + threadIdx.x % 32;
        Vote vote = {};
        uint32_t label = 0;
        if (i < n) {
            vote = vote_of_run(starts[i], ends[i]);
            label = vars.labels[y * vars.label_stride + starts[i]];
        }
        const bool first = gather_votes(label, &vote);
        Sums *const sums = first && label ? sums_of(target, label) : NULL;
        if (sums)
            cast_vote(sums, vote, label, y, width);
    }
}

static CclStatus label(CclContext *context, CclFrame *ccl_frame)
{
    CudaFrame *const frame = cuda_frame(ccl_frame);
    const uint32_t width = frame->shape.width, height = frame->shape.height;
    uint32_t *const parents = (uint32_t *)frame->workspace;
    const Spans spans = spans_behind(parents, frame->shape);
    const bool eight = context->config.connectivity == CCL_CONNECT_8;

    CCL_CUDA_LAUNCH(frame, "spans", find_spans<false>, blocks_for(height, SPAN_ROWS), dim3(32, SPAN_ROWS), 0,
                    frame->vars, width, height, spans, parents);
    if (height > 1) {
        const auto merge = eight ? merge_runs<true> : merge_runs<false>;
        CCL_CUDA_LAUNCH(frame, "merge", merge, height - 1, THREADS, 0, width, spans, parents);
    }
    CCL_CUDA_LAUNCH(frame, "propagate", fill_runs, blocks_for(height, FILL_ROWS), dim3(32, FILL_ROWS), 0, frame->vars,
                    width, height, spans, parents);
    return CCL_OK;
}

static CclStatus features(const CclContext *context, CclFrame *ccl_frame, const StageBuffers *buffers, unsigned round)
{
    CudaFrame *const frame = cuda_frame(ccl_frame);
    const Spans spans = spans_behind((uint32_t *)frame->workspace, frame->shape);
    CCL_CUDA_LAUNCH(frame, "features", vote_by_runs, frame->shape.height, THREADS, 0, frame->vars, frame->shape.width,
                    context->capacity, round, spans, *buffers);
    return CCL_OK;
}

const CclAlgorithm ccl_cuda_flsl = {
    .info = { .name = "flsl", .title = "Faster Light Speed Labeling with conflict detection",
              .paper = "Lemaitre, Hennequin & Lacassagne, ICASSP 2021", .backend = CCL_BACKEND_CUDA,
              .connectivity = CCL_CONNECT_4 | CCL_CONNECT_8 },
    .unit = "run",
    .bytes_per_pixel = 6,
    .first_pixel_roots = true,
    .workspace_size = spans_workspace_size,
    .label = label,
    .features = features,
};
