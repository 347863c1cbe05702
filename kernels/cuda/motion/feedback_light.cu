// SPDX-FileCopyrightText: gst-ccl contributors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Method "feedback": what all pixels of a picture share. Blocks count samples; the last block takes medians and decides.

#include "feedback.cuh"

#include "cuda/warp.cuh"

#define SAMPLE_THREADS     512u
#define SAMPLES_PER_THREAD 2u
#define LIGHT_PARTS        (FEEDBACK_BANDS + 2) /* medians of bands, of the picture; black: a warp each */
#define OFFSET_THREADS     256u
#define OFFSETS_PER_THREAD 8u

static_assert(LIGHT_PARTS * 32 <= SAMPLE_THREADS, "a warp for each part");

/* ---------------------------------------------------------------- medians */

/* The first bin at which `part` times the samples so far are all samples or more. */
typedef struct FoundBin {
    uint32_t n, bin, before, in_bin; /* all samples; those before the bin; those in it */
} FoundBin;

/* A warp calls. count(bin) is called once for each bin, in order within a lane; n_bins: a multiple of 32. */
template <typename Count> __device__ static FoundBin find_bin(uint32_t n_bins, uint32_t part, Count count)
{
    const uint32_t lane = threadIdx.x % 32, per_lane = n_bins / 32;
    uint32_t own = 0, before;
    for (uint32_t i = 0; i < per_lane; i++)
        own += count(lane * per_lane + i);
    before = own;
    for (uint32_t d = 1; d < 32; d *= 2) {
        const uint32_t other = __shfl_up_sync(~0u, before, d);
        before += lane >= d ? other : 0;
    }
    FoundBin found = { __shfl_sync(~0u, before, 31), 0, 0, 0 };
    const uint32_t there = __ballot_sync(~0u, part * before >= found.n);
    const uint32_t owner = (uint32_t)__ffs((int)there) - 1; /* the last lane has them all */
    uint32_t sum = before - own;
    if (lane == owner)
        for (uint32_t i = 0; i < per_lane; i++) {
            const uint32_t n = count(lane * per_lane + i);
            if (part * (sum + n) >= found.n) {
                found.bin = lane * per_lane + i, found.before = sum, found.in_bin = n;
                break;
            }
            sum += n;
        }
    found.bin = __shfl_sync(~0u, found.bin, owner);
    found.before = __shfl_sync(~0u, found.before, owner);
    found.in_bin = __shfl_sync(~0u, found.in_bin, owner);
    return found;
}

/* feedback_median() by a warp. */
template <typename Count> __device__ static int median_of(Count count)
{
    const FoundBin found = find_bin(FEEDBACK_BINS, 2, count);
    if (found.n < FEEDBACK_MIN_SAMPLES)
        return -1;
    return feedback_median_in_bin(found.n, found.bin, found.before, found.in_bin);
}

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
    for (uint32_t i = first; i < rows.n * columns.n; i += gridDim.x / FEEDBACK_BANDS * blockDim.x) {
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

/* A warp's part of the light: the median of a band or of all bands, or the model's black. */
__device__ static int measure_part(const Feedback &f, uint32_t part)
{
    if (part < FEEDBACK_BANDS)
        return median_of([&](uint32_t bin) { return __ldcg(f.ratios + part * FEEDBACK_BINS + bin); });
    if (part == FEEDBACK_BANDS)
        return median_of([&](uint32_t bin) {
            uint32_t sum = 0;
            for (uint32_t k = 0; k < FEEDBACK_BANDS; k++)
                sum += __ldcg(f.ratios + k * FEEDBACK_BINS + bin);
            return sum;
        });
    return (int)(find_bin(256, 50, [&](uint32_t bin) { return __ldcg(f.luma + bin); }).bin * FEEDBACK_LEVEL);
}

/* Fills the parts from the histograms, which are 0 afterwards. */
__device__ static void measure_light(const Feedback &f, int *parts)
{
    const uint32_t warp = threadIdx.x / 32;
    if (warp < LIGHT_PARTS) {
        const int part = measure_part(f, warp);
        if (threadIdx.x % 32 == 0)
            parts[warp] = part;
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < FEEDBACK_BANDS * FEEDBACK_BINS; i += blockDim.x)
        f.ratios[i] = 0;
    for (uint32_t i = threadIdx.x; i < 256; i += blockDim.x)
        f.luma[i] = 0;
}

/* The state of a picture before its pixels are compared. One thread calls. */
__device__ static void begin_picture(FeedbackState *state, const FeedbackPicture &picture, const FeedbackLight &light)
{
    const FeedbackControl none = {};
    FeedbackControl control = picture.resets ? none : state->control;
    const FeedbackFrame frame = feedback_begin(&control, picture.us, picture.threshold, picture.absorb_ms);
    if (frame.seed || light.rescale)
        control.offset[0] = control.offset[1] = 0;
    control.in_mask = frame.seed ? 0 : state->n_mask;
    state->control = control;
    state->frame = frame;
    state->light = light;
    state->skip = frame.seed;
    state->n_mask = 0;
    state->had_still = frame.seed ? 0 : state->any_still;
    state->any_still = 0;
    state->classify_blocks = state->chroma_blocks = 0;
    atomicExch(&state->sample_blocks, 0u);
    state->raw = state->edges = 0;
    state->n_pictures++;
}

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
    add_samples(f, picture, band, bins, luma);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < FEEDBACK_BINS; i += blockDim.x)
        if (bins[i])
            atomicAdd(&f.ratios[band * FEEDBACK_BINS + i], bins[i]);
    for (uint32_t i = threadIdx.x; i < 256; i += blockDim.x)
        if (luma[i])
            atomicAdd(&f.luma[i], luma[i]);
    if (!is_last_block(&f.state->sample_blocks))
        return;
    measure_light(f, parts);
    if (!threadIdx.x) {
        light = feedback_light_of(parts, (uint32_t)parts[LIGHT_PARTS - 1]);
        begin_picture(f.state, picture, light);
    }
    __syncthreads();
    for (uint32_t y = threadIdx.x; y < f.height; y += blockDim.x)
        f.gains[y] = (uint16_t)feedback_row_gain(&light, y, f.height);
}

CclStatus feedback_launch_sample(const CudaMotion *cuda, const Feedback *f, const FeedbackPicture *picture)
{
    const uint32_t n =
        (f->height / feedback_row_step(f->height) / FEEDBACK_BANDS + 1) * (f->width / feedback_column_step(f->width) + 1);
    const uint32_t parts = min(blocks_for(n, SAMPLE_THREADS * SAMPLES_PER_THREAD), 64u);
    return cuda_motion_launch(cuda, true, sample, FEEDBACK_BANDS * parts, SAMPLE_THREADS, 0, *f, *picture);
}

/* ---------------------------------------------------------------- offsets of chroma */

__device__ static uint32_t smooth_chroma(const Feedback &f, const FeedbackPicture &picture, uint32_t k, uint32_t x, uint32_t y)
{
    uint8_t square[3][3];
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++) {
            const int cx = min(max((int)x + i, 0), (int)f.chroma_width - 1);
            const int cy = min(max((int)y + j, 0), (int)f.chroma_height - 1);
            square[j + 1][i + 1] = picture.chroma[k][cy * picture.chroma_stride + cx * picture.chroma_step];
        }
    return feedback_smooth(square[0], square[1], square[2], 1, 3);
}

__device__ static void add_offsets(const Feedback &f, const FeedbackPicture &picture, uint32_t k, uint32_t *bins)
{
    const uint32_t dy = feedback_row_step(f.height) / 2, dx = feedback_column_step(f.width) / 2;
    const uint32_t rows = (f.chroma_height + dy - 1) / dy, columns = (f.chroma_width + dx - 1) / dx;
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * columns; i += gridDim.x * blockDim.x) {
        const uint32_t y = i / columns * dy, x = i % columns * dx;
        if (bit_at(f, f.last_mask, 2 * x, 2 * y))
            continue;
        const uint32_t scaled = feedback_scale_chroma(smooth_chroma(f, picture, k, x, y), f.gains[2 * y]);
        FeedbackSample sample;
        sample.words = f.chroma[(size_t)y * f.chroma_pitch + x];
        atomicAdd(&bins[feedback_offset_bin(scaled, sample.chroma.mean[0][k])], 1u);
    }
}

__global__ static void __launch_bounds__(OFFSET_THREADS)
    measure_offsets(const __grid_constant__ Feedback f, const __grid_constant__ FeedbackPicture picture)
{
    __shared__ uint32_t bins[FEEDBACK_BINS];
    const uint32_t k = blockIdx.y;
    for (uint32_t i = threadIdx.x; i < FEEDBACK_BINS; i += blockDim.x)
        bins[i] = 0;
    __syncthreads();
    wait_for_predecessor();
    let_successor_start();
    if (f.state->skip || f.state->light.rescale)
        return;
    add_offsets(f, picture, k, bins);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < FEEDBACK_BINS; i += blockDim.x)
        if (bins[i])
            atomicAdd(&f.offsets[k * FEEDBACK_BINS + i], bins[i]);
    if (!is_last_block(&f.state->chroma_blocks))
        return;
    const uint32_t warp = threadIdx.x / 32;
    if (warp < 2) {
        const int median = median_of([&](uint32_t bin) { return __ldcg(f.offsets + warp * FEEDBACK_BINS + bin); });
        if (threadIdx.x % 32 == 0)
            f.state->control.offset[warp] = feedback_offset_of(median);
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < 2 * FEEDBACK_BINS; i += blockDim.x)
        f.offsets[i] = 0;
}

CclStatus feedback_launch_offsets(const CudaMotion *cuda, const Feedback *f, const FeedbackPicture *picture)
{
    const uint32_t dy = feedback_row_step(f->height) / 2, dx = feedback_column_step(f->width) / 2;
    const uint32_t n = ((f->chroma_height + dy - 1) / dy) * ((f->chroma_width + dx - 1) / dx);
    const dim3 grid(min(blocks_for(n, OFFSET_THREADS * OFFSETS_PER_THREAD), 64u), 2);
    return cuda_motion_launch(cuda, true, measure_offsets, grid, OFFSET_THREADS, 0, *f, *picture);
}
