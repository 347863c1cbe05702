// SPDX-FileCopyrightText: gst-ccl contributors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Method "feedback": the sums that decide which blobs of the mask and which holes in them stay.

#include "feedback_regions.cuh"

#define BACKGROUND_RUN (1u << 31)

/* A run: where it begins, and BACKGROUND_RUN; what it adds. */
__device__ static void add_run(const Feedback &f, const Regions &r, uint32_t y, uint2 run)
{
    const uint32_t node = region_node(r, run.x & ~BACKGROUND_RUN, y);
    const uint32_t root = region_climb(r, node, __ldcg(r.parents + node));
    const unsigned long long sum = run.x & BACKGROUND_RUN ? run.y : (unsigned long long)(run.y >> 16) << 32 | (run.y & 65535);
    if (root == REGION_OUTSIDE)
        return;
    if (sum)
        atomicAdd(f.sums + root, sum);
    if (root != node)
        region_attach(r, node, root); /* a shorter way for those who ask later */
}

/* Adds the runs that end in 32 words of a row. */
__device__ static void sum_words(const Feedback &f, const Regions &r, uint32_t own, uint32_t y, RegionList *list)
{
    const uint32_t lane = threadIdx.x % 32;
    const auto load = [&](uint32_t word) { return word < f.words ? f.filtered[(size_t)y * f.words + word] : 0; };
    RowScan scan = { 0, 0 };
    SumScan sums = { 0, 0 };
    for (uint32_t first = 0; first <= own; first += 32) {
        const uint32_t word = first + lane, bits = load(word), valid = word < f.words ? valid_bits(f, word) : 0;
        const RunWord w = scan_row(scan, bits, word);
        const uint32_t next = shifted_left(bits, load(first + 32));
        const uint32_t explained = bits ? f.explained[(size_t)y * f.words + word] : 0, holes = ~bits & next & valid;
        if (first < own) {
            sum_runs(w, next, word, { explained, bits }, sums, [](uint32_t, uint32_t) {});
            continue;
        }
        const auto put = [&](auto add) {
            SumScan copy = sums;
            sum_runs(w, next, word, { explained, bits }, copy,
                     [&](uint32_t start, uint32_t sum) { add(make_uint2(start, sum)); });
            for (uint32_t ends = holes; ends; ends &= ends - 1) {
                const uint32_t b = (uint32_t)__ffs((int)ends) - 1, start = run_start(w, word, b);
                add(make_uint2(start | BACKGROUND_RUN, word * 32 + b + 1 - start));
            }
        };
        share_list(list, (uint32_t)(__popc(bits & ~next) + __popc(holes)), put, [&](uint2 run) { add_run(f, r, y, run); });
    }
}

/* A root's sum: of a blob, its pixels << 32 and those that are explained; of a hole, its pixels. */
__global__ static void __launch_bounds__(REGION_THREADS) sum_blobs(const __grid_constant__ Feedback f)
{
    __shared__ RegionList lists[REGION_THREADS / 32];
    const uint32_t chunks = region_chunks(f), y = row_of_warp() / chunks, first = row_of_warp() % chunks * 32;
    wait_for_predecessor();
    let_successor_start();
    if (y >= f.height || f.state->skip || f.state->frame.silent)
        return;
    sum_words(f, regions_of(f, f.filtered, 0), first, y, &lists[threadIdx.x / 32]);
}

CclStatus feedback_launch_blobs(const CudaMotion *cuda, const Feedback *f)
{
    const unsigned blocks = blocks_for(f->height * region_chunks(*f), REGION_THREADS / 32);
    return cuda_motion_launch(cuda, true, sum_blobs, { blocks, REGION_THREADS, 0 }, *f);
}
