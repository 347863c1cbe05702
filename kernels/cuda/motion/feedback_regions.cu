// SPDX-FileCopyrightText: gst-ccl contributors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Method "feedback": the sums that decide which blobs of the mask and which holes in them stay.

#include "feedback_regions.cuh"

/* A root's sum: of a blob, its pixels << 32 and those that are explained; of a hole, its pixels. */
__global__ static void __launch_bounds__(REGION_THREADS) sum_blobs(const __grid_constant__ Feedback f)
{
    const uint32_t y = row_of_warp(), lane = threadIdx.x % 32;
    wait_for_predecessor();
    let_successor_start();
    if (y >= f.height || f.state->skip || f.state->frame.silent)
        return;
    const Regions r = regions_of(f, f.filtered, 0);
    const auto load = [&](uint32_t word) { return word < f.words ? f.filtered[(size_t)y * f.words + word] : 0; };
    const auto add = [&](uint32_t start, unsigned long long sum) {
        const uint32_t node = region_node(r, start, y), root = region_climb(r, node);
        if (root == REGION_OUTSIDE)
            return;
        if (sum)
            atomicAdd(f.sums + root, sum);
        if (root != node)
            region_attach(r, node, root); /* a shorter way for those who ask later */
    };
    RowScan scan = { 0, 0 };
    SumScan sums = { 0, 0 };
    for (uint32_t first = 0; first < f.words; first += 32) {
        const uint32_t word = first + lane, bits = load(word), valid = word < f.words ? valid_bits(f, word) : 0;
        const RunWord w = scan_row(scan, bits, word);
        const uint32_t next = shifted_left(bits, load(first + 32));
        const uint32_t explained = bits ? f.explained[(size_t)y * f.words + word] : 0;
        sum_runs(w, next, word, { explained, bits }, sums,
                 [&](uint32_t start, uint32_t sum) { add(start, (unsigned long long)(sum >> 16) << 32 | (sum & 65535)); });
        for (uint32_t ends = ~bits & next & valid; ends; ends &= ends - 1) {
            const uint32_t b = (uint32_t)__ffs((int)ends) - 1, start = run_start(w, word, b);
            add(start, word * 32 + b + 1 - start);
        }
    }
}

CclStatus feedback_launch_blobs(const CudaMotion *cuda, const Feedback *f)
{
    const unsigned blocks = blocks_for(f->height, REGION_THREADS / 32);
    return cuda_motion_launch(cuda, true, sum_blobs, { blocks, REGION_THREADS, 0 }, *f);
}
