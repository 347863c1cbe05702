// SPDX-FileCopyrightText: gst-ccl contributors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Method "feedback": regions of the mask that stand still. Those that are ghosts are absorbed.

#include "feedback_regions.cuh"
#include "filter_words.cuh"

/* Sums along the outline, by a region's node / 2: two runs of 1 do not begin side by side. */
#define OUTLINE_SUMS 3
#define STILL_RADIUS 2 /* of the median of still pixels */

__device__ static uint32_t still_word(const Feedback &f, uint32_t word, uint32_t y)
{
    return word < f.words ? f.still_filtered[(size_t)y * f.words + word] : 0;
}

__device__ static bool is_still(const Feedback &f, int x, int y)
{
    return still_word(f, (uint32_t)x / 32, (uint32_t)y) >> x % 32 & 1;
}

/* Whether nothing is to be done. */
__device__ static bool is_idle(const Feedback &f)
{
    return f.state->skip || !f.state->any_still;
}

/* ---------------------------------------------------------------- median, merge */

/* Whether rows y - 3 to y + 2 have any still pixel; a warp calls. Rows at the border repeat. */
__device__ static bool any_still_near(const Feedback &f, uint32_t y)
{
    uint32_t found = 0;
    for (uint32_t word = threadIdx.x % 32; word < f.words; word += 32)
#pragma unroll
        for (int j = -STILL_RADIUS - 1; j <= STILL_RADIUS; j++) {
            const int row = min(max((int)y + j, 0), (int)f.height - 1);
            found |= __ldcg(f.still_bits + (size_t)row * f.words + word);
        }
    return __any_sync(~0u, found != 0);
}

/* A word of still pixels after the median, in the mask. */
__device__ static uint32_t median_word(const Feedback &f, uint32_t word, uint32_t y)
{
    uint32_t ones[2 * STILL_RADIUS + 1], twos[2 * STILL_RADIUS + 1], fours[2 * STILL_RADIUS + 1];
    const uint32_t mask = word < f.words ? __ldcg(f.mask + (size_t)y * f.words + word) : 0;
    if (!mask)
        return 0;
#pragma unroll
    for (int j = 0; j <= 2 * STILL_RADIUS; j++) {
        const int row = min(max((int)y + j - STILL_RADIUS, 0), (int)f.height - 1);
        const uint32_t *const bits = f.still_bits + (size_t)row * f.words;
        const uint32_t around[3] = { repeated(f.width, bits, (int)word - 1), repeated(f.width, bits, (int)word),
                                     repeated(f.width, bits, (int)word + 1) };
        count_across(around + 1, STILL_RADIUS, ones + j, twos + j, fours + j);
    }
    return majority<1>(ones + STILL_RADIUS, twos + STILL_RADIUS, fours + STILL_RADIUS, STILL_RADIUS) & mask;
}

/* Row y by a warp. */
__device__ static void merge_still_row(const Feedback &f, uint32_t y, RegionList *list)
{
    const bool any = any_still_near(f, y);
    for (uint32_t word = threadIdx.x % 32; word < f.words; word += 32)
        f.still_filtered[(size_t)y * f.words + word] = any ? median_word(f, word, y) : 0;
    __syncwarp();
    if (!any)
        return;
    for (uint32_t first = 0; first < f.words; first += 32)
        merge_words<false>(
            f, regions_of(f, NULL, 1), make_uint2(first, y), list,
            [&](uint32_t word, uint32_t row) { return row == y ? still_word(f, word, y) : median_word(f, word, row); },
            [&](uint32_t node) {
                f.sums[node] = 0;
                for (int k = 0; k < OUTLINE_SUMS; k++)
                    f.outlines[(size_t)(node / 2) * OUTLINE_SUMS + k] = 0;
            });
}

/* The output, which comes before this, writes nothing that is needed here, and has itself waited for `learn`. */
__global__ static void __launch_bounds__(REGION_THREADS) merge_still(const __grid_constant__ Feedback f)
{
    __shared__ RegionList lists[REGION_THREADS / 32];
    const uint32_t y = row_of_warp();
    let_successor_start();
    if (y < f.height && !__ldcg(&f.state->skip) && __ldcg(&f.state->any_still))
        merge_still_row(f, y, &lists[threadIdx.x / 32]);
    wait_for_predecessor(); /* whoever waits for this kernel has waited for all before */
}

/* ---------------------------------------------------------------- outlines */

__device__ static uint32_t climb(const Regions &r, uint32_t node)
{
    return region_climb(r, node, __ldcg(r.parents + node));
}

/* The outline at a pixel of a still region, in direction (dx, dy). */
__device__ static void add_outline(const Feedback &f, FeedbackRegion &region, int x, int y, int dx, int dy)
{
    const int px = x - dx * FEEDBACK_OUTLINE_INSIDE, py = y - dy * FEEDBACK_OUTLINE_INSIDE;
    const int qx = x + dx * FEEDBACK_OUTLINE_OUTSIDE, qy = y + dy * FEEDBACK_OUTLINE_OUTSIDE;
    const int w = (int)f.width, h = (int)f.height;
    if (qx < 0 || qy < 0 || qx >= w || qy >= h || px < 0 || py < 0 || px >= w || py >= h)
        return;
    if (is_still(f, x + dx, y + dy) || bit_at(f, f.mask, (uint32_t)qx, (uint32_t)qy) || !is_still(f, px, py))
        return;
    const size_t p = (size_t)py * f.pitch + px, q = (size_t)qy * f.pitch + qx;
    feedback_add_outline(&region, f.candidate[p], f.mean[p], f.value[q], f.mean[q]);
    if (!f.chroma_width)
        return;
    const size_t inside_at = (size_t)(py / 2) * f.chroma_pitch + px / 2, outside_at = (size_t)(qy / 2) * f.chroma_pitch + qx / 2;
    FeedbackSample inside, outside;
    inside.words = f.chroma[inside_at], outside.words = f.chroma[outside_at];
    for (int k = 0; k < 2; k++)
        feedback_add_outline(&region, inside.chroma.candidate[k], inside.chroma.mean[0][k], f.uv[k][outside_at],
                             outside.chroma.mean[0][k]);
}

/* Outlines of a word's pixels, by run. `above`, `below`, `next`: still pixels around. */
__device__ static void add_outlines(const Feedback &f, const Regions &r, const RunWord &w, uint32_t next, uint32_t word,
                                    uint32_t y)
{
    const uint32_t above = y ? still_word(f, word, y - 1) : 0, below = y + 1 < f.height ? still_word(f, word, y + 1) : 0;
    const uint32_t left = w.bits & ~(w.bits << 1 | w.before), right = w.bits & ~next;
    const uint32_t edge = left | right | (w.bits & ~(above & below));
    for (uint32_t todo = w.bits; todo;) {
        const uint32_t b = (uint32_t)__ffs((int)todo) - 1, after = ~w.bits & ~((2u << b) - 1);
        const uint32_t run = (after ? (1u << (__ffs((int)after) - 1)) - 1 : ~0u) & ~((1u << b) - 1);
        FeedbackRegion sums = {};
        todo &= ~run;
        for (uint32_t pixels = run & edge; pixels; pixels &= pixels - 1) {
            const int i = __ffs((int)pixels) - 1, x = (int)word * 32 + i;
            add_outline(f, sums, x, (int)y, 1, 0), add_outline(f, sums, x, (int)y, -1, 0);
            add_outline(f, sums, x, (int)y, 0, 1), add_outline(f, sums, x, (int)y, 0, -1);
        }
        if (!(sums.picture | sums.background))
            continue;
        const uint32_t root = climb(r, region_node(r, run_start(w, word, b), y));
        unsigned long long *const to = f.outlines + (size_t)(root / 2) * OUTLINE_SUMS;
        atomicAdd(to, (unsigned long long)sums.picture), atomicAdd(to + 1, (unsigned long long)sums.background);
        atomicAdd(to + 2, (unsigned long long)sums.change);
    }
}

/* A root's sums: pixels << 32 and those that are motionless; and along the outline. */
__global__ static void __launch_bounds__(REGION_THREADS) sum_still(const __grid_constant__ Feedback f)
{
    const uint32_t y = row_of_warp(), lane = threadIdx.x % 32;
    wait_for_predecessor();
    let_successor_start();
    if (y >= f.height || is_idle(f))
        return;
    const Regions r = regions_of(f, NULL, 1);
    RowScan scan = { 0, 0 };
    SumScan sums = { 0, 0 };
    for (uint32_t first = 0; first < f.words; first += 32) {
        const uint32_t word = first + lane, bits = still_word(f, word, y);
        const RunWord w = scan_row(scan, bits, word);
        const uint32_t next = shifted_left(bits, still_word(f, first + 32, y));
        const uint32_t motionless = bits ? f.motionless[(size_t)y * f.words + word] & bits : 0;
        sum_runs(w, next, word, { motionless, bits }, sums, [&](uint32_t start, uint32_t sum) {
            atomicAdd(f.sums + climb(r, region_node(r, start, y)), (unsigned long long)(sum >> 16) << 32 | (sum & 65535));
        });
        if (bits)
            add_outlines(f, r, w, next, word, y);
    }
}

/* ---------------------------------------------------------------- absorb */

__device__ static FeedbackRegion load_region(const Feedback &f, uint32_t root)
{
    const unsigned long long *const outline = f.outlines + (size_t)(root / 2) * OUTLINE_SUMS;
    FeedbackRegion region;
    region.area = f.sums[root] >> 32, region.motionless = f.sums[root] & 0xffffffffu;
    region.picture = outline[0], region.background = outline[1], region.change = outline[2];
    return region;
}

__device__ static void absorb_pixel(const Feedback &f, uint32_t x, uint32_t y)
{
    const size_t at = (size_t)y * f.pitch + x;
    FeedbackRest rest = rest_of(f.rest[at]);
    feedback_absorb(f.candidate[at], f.mean + at, f.weight + at, &rest, f.still + at, f.ghost + at);
    f.rest[at] = words_of(rest);
    if (!f.chroma_width)
        return;
    FeedbackChroma *const sample = (FeedbackChroma *)(f.chroma + (size_t)(y / 2) * f.chroma_pitch + x / 2);
    /* race: the other pixels of the sample may store the same values */
    sample->mean[0][0] = sample->candidate[0];
    sample->mean[0][1] = sample->candidate[1]; /* race: the same */
    sample->weight = FEEDBACK_ABSORBED;        /* race: the same */
}

/* Counts for how long the pixels of a word have looked like a ghost. Returns those that are absorbed. */
__device__ static uint32_t count_ghosts(const Feedback &f, const Regions &r, const RunWord &w, uint32_t word, uint32_t y,
                                        uint32_t counted)
{
    const FeedbackFrame frame = f.state->frame;
    uint32_t absorbed = 0, more = 0;
    for (uint32_t todo = w.bits; todo; todo &= todo - 1) {
        const uint32_t b = (uint32_t)__ffs((int)todo) - 1, x = word * 32 + b;
        uint8_t *const ghost = f.ghost + (size_t)y * f.pitch + x;
        if (w.begins >> b & 1 || todo == w.bits) {
            const FeedbackRegion region = load_region(f, region_root(r, region_node(r, run_start(w, word, b), y)));
            more = feedback_ghost_step(&region, &frame);
        }
        const uint32_t time = more ? feedback_min((counted >> b & 1 ? *ghost : 0) + more, 255) : 0;
        *ghost = (uint8_t)time;
        if (time < FEEDBACK_GHOST)
            continue;
        absorb_pixel(f, x, y);
        absorbed |= 1u << b;
    }
    return absorbed;
}

__global__ static void __launch_bounds__(REGION_THREADS) absorb_ghosts(const __grid_constant__ Feedback f)
{
    const uint32_t y = row_of_warp(), lane = threadIdx.x % 32;
    wait_for_predecessor();
    let_successor_start();
    if (y >= f.height || f.state->skip || !(f.state->any_still | f.state->had_still))
        return;
    const bool any_still = f.state->any_still;
    const Regions r = regions_of(f, NULL, 1);
    RowScan scan = { 0, 0 };
    for (uint32_t first = 0; first < f.words; first += 32) {
        const uint32_t word = first + lane, bits = any_still ? still_word(f, word, y) : 0;
        const RunWord w = scan_row(scan, bits, word);
        if (word >= f.words)
            continue;
        const size_t at = (size_t)y * f.words + word;
        const uint32_t last_still = f.last_still[at];
        if (bits) {
            const uint32_t mask = f.last_mask[at], absorbed = count_ghosts(f, r, w, word, y, last_still & mask);
            f.last_mask[at] = mask & ~absorbed;
        }
        if (bits | last_still)
            f.last_still[at] = bits;
    }
}

CclStatus feedback_launch_ghosts(const CudaMotion *cuda, const Feedback *f)
{
    const unsigned blocks = blocks_for(f->height, REGION_THREADS / 32);
    CCL_TRY(cuda_motion_launch(cuda, true, merge_still, { blocks, REGION_THREADS, 0 }, *f));
    CCL_TRY(cuda_motion_launch(cuda, true, sum_still, { blocks, REGION_THREADS, 0 }, *f));
    return cuda_motion_launch(cuda, true, absorb_ghosts, { blocks, REGION_THREADS, 0 }, *f);
}
