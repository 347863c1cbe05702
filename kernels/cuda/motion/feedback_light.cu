// SPDX-FileCopyrightText: gst-ccl contributors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Method "feedback": what all pixels of a picture share. Blocks count samples; the last block takes medians and decides.

#include "feedback_median.cuh"

#define SAMPLE_THREADS     512u
#define SAMPLES_PER_THREAD 1u
#define LIGHT_PARTS        (FEEDBACK_BANDS + 2) /* medians of bands, of the picture; black: a warp each */
#define OFFSET_THREADS     256u
#define OFFSETS_PER_THREAD 8u

static_assert(LIGHT_PARTS * 32 <= SAMPLE_THREADS, "a warp for each part");

/* ---------------------------------------------------------------- light */

typedef struct Grid {
    uint32_t first, step, n;
} Grid;

/* Samples of the grid in [from, to), which end at `size`. */
__device__ static Grid grid_within(uint32_t from, uint32_t to, uint32_t step)
{
    const uint32_t half = step / 2;
    const uint32_t begin = from <= half ? 0 : (from - half + step - 1) / step;
    const uint32_t end = to <= half ? 0 : (to - half + step - 1) / step;
    return { half + begin * step, step, end > begin ? end - begin : 0 };
}

/* The first row of a band. */
__device__ static uint32_t band_row(uint32_t band, uint32_t height)
{
    return (band * height + FEEDBACK_BANDS - 1) / FEEDBACK_BANDS;
}

__device__ static void add_samples(const Feedback &f, const FeedbackPicture &picture, uint32_t band, uint32_t *bins,
                                   uint32_t *luma)
{
    const Grid rows = grid_within(band_row(band, f.height), band_row(band + 1, f.height), feedback_row_step(f.height));
    const Grid columns = grid_within(0, f.width, feedback_column_step(f.width));
    const bool few = f.state->n_mask < (uint64_t)f.width * f.height / 4;
    const uint32_t first = blockIdx.x / FEEDBACK_BANDS * blockDim.x + threadIdx.x;
    const uint32_t n_blocks = gridDim.x / FEEDBACK_BANDS; /* of the band */
    for (uint32_t i = first; i < rows.n * columns.n; i += n_blocks * blockDim.x) {
        const uint32_t y = rows.first + i / columns.n * rows.step, x = columns.first + i % columns.n * columns.step;
        const uint8_t *const row = picture.luma + y * picture.stride;
        const uint32_t value =
            feedback_smooth(y ? row - picture.stride : row, row, y + 1 < f.height ? row + picture.stride : row, x, f.width);
        const uint32_t mean = f.mean[(size_t)y * f.pitch + x];
        const uint32_t bin = feedback_ratio_bin(value, mean, few && bit_at(f, f.last_mask, x, y));
        atomicAdd(&luma[mean >> 8], 1u);
        if (bin < FEEDBACK_BINS)
            atomicAdd(&bins[bin], 1u);
    }
}

/* All that a picture begins with but its light, which is not known yet. One thread calls, while other blocks still count: they
 * read n_mask. */
__device__ static void begin_picture(FeedbackState *state, const FeedbackPicture &picture)
{
    const FeedbackControl none = {};
    FeedbackControl control = picture.resets ? none : state->control;
    const FeedbackFrame frame = feedback_begin(&control, &state->hold, picture.us, picture.threshold, picture.absorb_ms);
    if (frame.seed)
        control.offset[0] = control.offset[1] = 0;
    control.in_mask = frame.seed ? 0 : state->n_mask;
    state->control = control;
    state->frame = frame;
    state->skip = frame.seed;
    state->had_still = frame.seed ? 0 : state->any_still;
    state->any_still = 0;
    state->classify_blocks = state->chroma_blocks = 0;
    state->raw = state->edges = state->raw_edges = 0;
    state->n_pictures++;
    state->target = picture.target;
}

/* Fills the parts from the histograms: a warp each. */
__device__ static void measure_light(const Feedback &f, int *parts)
{
    const uint32_t warp = threadIdx.x / 32;
    if (warp >= LIGHT_PARTS)
        return;
    const int part = warp <= FEEDBACK_BANDS ? take_median(f.ratios + warp * FEEDBACK_BINS)
                                            : (int)(take_bin<256 / 32>(f.luma, 50).bin * FEEDBACK_LEVEL);
    if (threadIdx.x % 32 == 0)
        parts[warp] = part;
}

/* When all blocks are done. One thread calls. */
__device__ static void store_light(FeedbackState *state, const FeedbackLight &light)
{
    state->light = light;
    state->n_mask = 0;
    atomicExch(&state->sample_blocks, 0u);
    if (light.rescale)
        state->control.offset[0] = state->control.offset[1] = 0;
}

/* Adds a block's histograms to those of the picture. */
__device__ static void add_bins(const Feedback &f, uint32_t band, const uint32_t *bins, const uint32_t *luma)
{
    for (uint32_t i = threadIdx.x; i < FEEDBACK_BINS; i += blockDim.x)
        if (bins[i]) {
            atomicAdd(&f.ratios[band * FEEDBACK_BINS + i], bins[i]);
            atomicAdd(&f.ratios[FEEDBACK_BANDS * FEEDBACK_BINS + i], bins[i]);
        }
    for (uint32_t i = threadIdx.x; i < 256; i += blockDim.x)
        if (luma[i])
            atomicAdd(&f.luma[i], luma[i]);
}

/* The last block of the grid begins the picture; the others count, FEEDBACK_BANDS times the same number of them. */
__global__ static void __launch_bounds__(SAMPLE_THREADS)
    sample(const __grid_constant__ Feedback f, const __grid_constant__ FeedbackPicture picture)
{
    __shared__ uint32_t bins[FEEDBACK_BINS], luma[256];
    __shared__ int parts[LIGHT_PARTS];
    __shared__ FeedbackLight light;
    const uint32_t band = blockIdx.x % FEEDBACK_BANDS;
    for (uint32_t i = threadIdx.x; i < FEEDBACK_BINS; i += blockDim.x)
        bins[i] = 0;
    for (uint32_t i = threadIdx.x; i < 256; i += blockDim.x)
        luma[i] = 0;
    __syncthreads();
    wait_for_predecessor();
    let_successor_start();
    if (blockIdx.x + 1 < gridDim.x) {
        add_samples(f, picture, band, bins, luma);
        __syncthreads();
        add_bins(f, band, bins, luma);
    } else if (!threadIdx.x) {
        begin_picture(f.state, picture);
    }
    if (!is_last_block(&f.state->sample_blocks, gridDim.x))
        return;
    measure_light(f, parts);
    __syncthreads();
    if (!threadIdx.x)
        light = feedback_light_of(parts, (uint32_t)parts[LIGHT_PARTS - 1]);
    __syncthreads();
    if (threadIdx.x == SAMPLE_THREADS - 32)
        store_light(f.state, light);
    for (uint32_t y = threadIdx.x; y < f.height; y += blockDim.x)
        f.gains[y] = (uint16_t)feedback_row_gain(&light, y, f.height);
}

CclStatus feedback_launch_sample(const CudaMotion *cuda, const Feedback *f, const FeedbackPicture *picture, CudaGraph *graph)
{
    const uint32_t n =
        (f->height / feedback_row_step(f->height) / FEEDBACK_BANDS + 1) * (f->width / feedback_column_step(f->width) + 1);
    const uint32_t parts = min(blocks_for(n, SAMPLE_THREADS * SAMPLES_PER_THREAD), 64u);
    return feedback_launch(cuda, graph, sample, { FEEDBACK_BANDS * parts + 1, SAMPLE_THREADS, 0 }, *f, *picture);
}
