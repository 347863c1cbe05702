/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Holes: components of the inverse mask, with the other connectivity, that touch no border of the mask.
 *
 *     invert     bits of the mask -> bits of the inverse, and the job of its kernels
 *     solve, join, number    of the inverse, as a batch of one
 *     clear      the sums of its components
 *     boxes      runs -> box and first pixel of each
 *     parents    which of them are holes, and the component left of the first pixel
 *     fill       runs -> area and filled area of each hole
 *     list       holes -> host memory, as many as fit there
 *
 * A filled area has no tree of holes and islands: it is what the outer edge of a hole encloses. Left and right of that edge are
 * pixels of the parent only, and islands are other components.
 *
 *     # # # # # # #     The row of the island adds 6 - 1: the gaps end at the parent in column 6 and begin at it in column 1.
 *     # . . # . . #     The ends at the island are left out.
 *     # # # # # # #
 *
 * All this is done before measure, which may overwrite the list of runs with labels.
 */
#include "cuda/runs/counts.cuh"

#define NO_PARENT ~0u

/* ---------------------------------------------------------------- the inverse */

static __global__ void __launch_bounds__(COUNT_THREADS)
    invert(const CudaHoles holes, GlobalPointer<const uint64_t> bits, const uint32_t width, const uint32_t row_words,
           const uint32_t n_words, const BatchJob job)
{
    const uint32_t i = blockIdx.x * COUNT_THREADS + threadIdx.x;
    wait_for_predecessor();
    if (i == 0)
        *(BatchJob *)holes.job = job;
    if (i >= n_words)
        return;
    const uint32_t x = i % row_words * 64, n = x < width ? min(width - x, 64u) : 0;
    holes.bits[i] = n ? ~__ldcg(&bits[i]) & ~0ull >> (64 - n) : 0;
}

/* The number of components of the inverse. */
static __global__ void __launch_bounds__(COUNT_THREADS) clear_holes(const Listed inverse, const CudaHoles holes)
{
    __shared__ uint32_t bases[MAX_CHUNKS];
    wait_for_predecessor();
    const Plan &plan = inverse.get().plan;
    const uint32_t n = scan_chunks<PASS_KEPT, COUNT_THREADS>(plan, bases), i = blockIdx.x * COUNT_THREADS + threadIdx.x;
    for (uint32_t k = i; k < n; k += gridDim.x * COUNT_THREADS)
        holes.sums[k] = CudaHole{};
    if (i == 0)
        holes.n[0] = n;
}

/* ---------------------------------------------------------------- boxes */

__device__ static inline void raise(uint32_t *to, uint32_t value)
{
    if (*(volatile uint32_t *)to < value)
        atomicMax(to, value);
}

/* The box of some pixels of a component. */
typedef struct Box {
    uint32_t columns, not_first, y1;
} Box;

__device__ static inline void add_pixels(Box *box, uint64_t pixels, uint32_t word_x, uint32_t y)
{
    if (!pixels)
        return;
    const uint32_t x0 = word_x + __ffsll(pixels) - 1;
    box->columns = united(box->columns, range_of(x0, word_x + 64 - __clzll(pixels)));
    box->not_first = max(box->not_first, ~(y << 16 | x0));
    box->y1 = max(box->y1, y + 1);
}

__device__ static inline void add_box(CudaHole *to, const Box &box)
{
    add_range(&to->columns, box.columns);
    raise(&to->not_first, box.not_first);
    raise(&to->y1, box.y1);
}

static __global__ void __launch_bounds__(COUNT_THREADS) find_boxes(const Listed inverse, const CudaHoles holes)
{
    __shared__ uint32_t bases[MAX_CHUNKS];
    __shared__ uint64_t words[AROUND_WORDS];
    wait_for_predecessor();
    const Plan &plan = inverse.get().plan;
    const uint32_t tile_at = blockIdx.y * plan.tiles_x + blockIdx.x;
    load_around(plan, words);
    const uint32_t n_listed = __ldcg(&plan.n_runs[tile_at]);
    scan_chunks<PASS_KEPT, COUNT_THREADS>(plan, bases); /* ends with a barrier */
    uint32_t id = ~0u;
    Box box = {};
    const auto visit = [&](uint32_t next, const RunPixels &run) {
        if (next != id && id != ~0u)
            add_box(&holes.sums[id], box);
        if (next != id)
            box = Box{};
        id = next;
        add_pixels(&box, run.rows[0], run.x, run.y);
        add_pixels(&box, run.rows[1], run.x, run.y + 1);
    };
    visit_runs(CountTile{ plan, bases, words, false, false }, plan.runs + (size_t)tile_at * TILE_RUNS, n_listed, ~0u, visit);
    if (id != ~0u)
        add_box(&holes.sums[id], box);
}

/* ---------------------------------------------------------------- parents */

static __global__ void __launch_bounds__(COUNT_THREADS) find_parents(const Alone jobs, const CudaHoles holes, const bool filtered)
{
    __shared__ uint32_t bases[MAX_CHUNKS];
    const Plan &plan = jobs.get().plan;
    wait_for_predecessor();
    scan_chunks<PASS_KEPT, COUNT_THREADS>(plan, bases); /* ends with a barrier */
    const CountTile tile = { plan, bases, NULL, false, filtered };
    const uint32_t n = __ldcg(&holes.n[0]);
    for (uint32_t i = blockIdx.x * COUNT_THREADS + threadIdx.x; i < n; i += gridDim.x * COUNT_THREADS) {
        CudaHole *const hole = &holes.sums[i];
        const uint32_t x0 = ~hole->columns & 0xffff, x1 = hole->columns >> 16, first = ~hole->not_first;
        if (ccl_border_flags(x0, first >> 16, x1, hole->y1, plan.width, plan.height)) {
            hole->parent = NO_PARENT;
            continue;
        }
        const uint32_t id = id_of_pixel(tile, (first & 0xffff) - 1, first >> 16), place = place_of(tile, id);
        hole->parent = id;
        hole->label = place < plan.capacity ? place + 1 : 0;
    }
}

/* ---------------------------------------------------------------- areas */

/* The pixels of a hole in one row of a run: their number, and the ends at the parent minus the beginnings there. */
__device__ static inline void add_areas(uint32_t areas[2], const CountTile &mask, const RunPixels &run, uint32_t row,
                                        uint32_t parent)
{
    const uint64_t *const here = run.here + row * AROUND_COLUMNS;
    const uint64_t left = here[0] << 1 | here[-1] >> 63, right = here[0] >> 1 | here[1] << 63, pixels = run.rows[row];
    const uint32_t y = run.y + row;
    areas[0] += __popcll(pixels);
    for (uint64_t firsts = pixels & ~left; firsts; firsts &= firsts - 1) {
        const uint32_t x = run.x + __ffsll(firsts) - 1;
        areas[1] -= id_of_pixel(mask, x - 1, y) == parent ? x : 0;
    }
    for (uint64_t lasts = pixels & ~right; lasts; lasts &= lasts - 1) {
        const uint32_t x = run.x + __ffsll(lasts);
        areas[1] += id_of_pixel(mask, x, y) == parent ? x : 0;
    }
}

__device__ static inline void add_to_hole(CudaHole *to, const uint32_t areas[2])
{
    atomicAdd(&to->area, areas[0]);
    atomicAdd(&to->area_filled, areas[1]);
}

static __global__ void __launch_bounds__(COUNT_THREADS) fill_holes(const Alone jobs, const Listed inverse, const CudaHoles holes)
{
    __shared__ uint32_t bases[MAX_CHUNKS], mask_bases[MAX_CHUNKS];
    __shared__ uint64_t words[AROUND_WORDS];
    const Plan &mask_plan = jobs.get().plan;
    wait_for_predecessor();
    const Plan &plan = inverse.get().plan;
    const uint32_t tile_at = blockIdx.y * plan.tiles_x + blockIdx.x;
    load_around(plan, words);
    const uint32_t n_listed = __ldcg(&plan.n_runs[tile_at]);
    scan_chunks<PASS_KEPT, COUNT_THREADS>(mask_plan, mask_bases);
    scan_chunks<PASS_KEPT, COUNT_THREADS>(plan, bases); /* ends with a barrier */
    const CountTile tile = { plan, bases, words, false, false }, mask = { mask_plan, mask_bases, NULL, false, false };
    uint32_t id = ~0u, parent = NO_PARENT, areas[2] = { 0, 0 };
    const auto visit = [&](uint32_t next, const RunPixels &run) {
        if (next != id) {
            if (parent != NO_PARENT)
                add_to_hole(&holes.sums[id], areas);
            id = next;
            parent = holes.sums[id].parent;
            areas[0] = areas[1] = 0;
        }
        if (parent == NO_PARENT)
            return;
        add_areas(areas, mask, run, 0, parent);
        if (run.rows[1])
            add_areas(areas, mask, run, 1, parent);
    };
    visit_runs(tile, plan.runs + (size_t)tile_at * TILE_RUNS, n_listed, ~0u, visit);
    if (parent != NO_PARENT)
        add_to_hole(&holes.sums[id], areas);
}

/* The host copies the others. */
static __global__ void __launch_bounds__(COUNT_THREADS) list_holes(const CudaHoles holes, const uint32_t max_listed)
{
    wait_for_predecessor();
    const uint32_t n = min(__ldcg(&holes.n[0]), max_listed);
    for (uint32_t i = blockIdx.x * COUNT_THREADS + threadIdx.x; i < n; i += gridDim.x * COUNT_THREADS)
        holes.listed[i] = holes.sums[i];
}

/* ---------------------------------------------------------------- launch */

template <bool EIGHT> static CclStatus launch_inverse(CudaFrame *frame, const Listed &inverse, const InverseLaunch &launch)
{
    CudaShape shape = frame->shape;
    shape.form = CUDA_BITS;
    CCL_TRY((launch_solve<EIGHT, 1>(frame, &shape, inverse, launch.solve)));
    if (launch.join.y)
        CCL_TRY(launch_join<EIGHT>(frame, inverse, launch.join));
    return launch_number(frame, inverse, launch.number);
}

CclStatus launch_find_holes(CudaFrame *frame, const Alone &jobs, const InverseLaunch &launch, bool eight, bool filtered)
{
    const CudaHoles *const holes = &frame->counts.holes;
    const Plan *const plan = &jobs.job.plan;
    const Listed inverse = { (const BatchJob *)holes->job, launch.capacity };
    const uint32_t n_words = plan->row_words * plan->height;
    const dim3 few(min(blocks_for(n_words, COUNT_THREADS), 128u));
    const GlobalPointer<const uint64_t> bits = { plan->bits };
    CCL_TRY(cuda_launch(frame, "invert", CUDA_OVERLAP, invert, { dim3(blocks_for(n_words, COUNT_THREADS)), COUNT_THREADS, 0 },
                        *holes, bits, plan->width, plan->row_words, n_words, launch.job));
    CCL_TRY(eight ? launch_inverse<false>(frame, inverse, launch) : launch_inverse<true>(frame, inverse, launch));
    CCL_TRY(cuda_launch(frame, "clear", CUDA_OVERLAP, clear_holes, { few, COUNT_THREADS, 0 }, inverse, *holes));
    CCL_TRY(cuda_launch(frame, "boxes", CUDA_OVERLAP, find_boxes, { launch.solve, COUNT_THREADS, 0 }, inverse, *holes));
    CCL_TRY(cuda_launch(frame, "parents", CUDA_OVERLAP, find_parents, { few, COUNT_THREADS, 0 }, jobs, *holes, filtered));
    CCL_TRY(cuda_launch(frame, "fill", CUDA_OVERLAP, fill_holes, { launch.solve, COUNT_THREADS, 0 }, jobs, inverse, *holes));
    return cuda_launch(frame, "list", CUDA_OVERLAP, list_holes, { few, COUNT_THREADS, 0 }, *holes, test_limit(CUDA_LISTED_HOLES));
}
