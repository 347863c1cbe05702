/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What HA4 and HA8 share: all but the rule for which runs of neighbouring rows touch.
 *
 * A warp looks at 32 pixels of a row at once as a word of bits (a ballot). The pixels of a word that follow each other are a
 * segment; its first pixel is its node, named by its index y * width + x, and the only one whose parent is stored. A
 * segment that goes on where the word before ended has the start of the whole run as its parent.
 *
 * On-segment sums, the paper's analysis: area, moments and box of a segment are known from its first column and its
 * length, so its first pixel adds them to the component's sums with one atomic operation each, and pixels are not looked
 * at one by one. They replace the shared stage `features` in ha4-sums and ha8-sums. The paper has slots for all pixels,
 * found by the root, and no label image; here components are numbered before, and have the slots of the shared stage.
 */
#ifndef CCL_CUDA_LABEL_HA_CUH
#define CCL_CUDA_LABEL_HA_CUH

#include "../sums.cuh"
#include "../union_find.cuh"

static const unsigned STRIP = 4; /* rows per block, a warp each */

/* Foreground pixels directly left of bit x: the distance from pixel x to the start of its segment, or, x being
 * background, from x to the start of the segment that ends at x - 1. */
__device__ static inline uint32_t ones_left(uint32_t pixels, uint32_t x)
{
    return x ? __clz(~(pixels << (32 - x))) : 0;
}

/* The same for the bit past the word. */
__device__ static inline uint32_t ones_at_end(uint32_t pixels)
{
    return __clz(~pixels);
}

/*
 * Do the segments around pixel x touch across the rows, and is x where that is seen first? `here` and `above` are the two
 * pixels, n_here and n_above their ones_left(). Each pair of touching segments is seen once; it is x - n_here and
 * x - n_above that are to be united.
 *
 *     above  # #    . #    # .
 *     here   # #    # .    . #      4-connectivity: the first only
 *              x      x      x
 */
template <bool eight>
__device__ static inline bool touch(bool here, bool above, uint32_t n_here, uint32_t n_above)
{
    if (here && above)
        return !n_here || !n_above;
    if (!eight)
        return false;
    return (here && !n_here && n_above) || (above && !n_above && n_here);
}

template <bool eight>
__global__ __launch_bounds__(32 * STRIP) static void label_strips(const CudaVars *pvars, uint32_t width, uint32_t height,
                                                                  uint32_t *parents)
{
    /* By parity of the word's number: a warp may be one word ahead of the warp that reads its pixels. The published code
     * has one buffer and, on architectures from Volta on, no second barrier: a data race. */
    __shared__ uint32_t shared_pixels[2][STRIP];

    const CudaVars &vars = *pvars;
    const uint32_t lane = threadIdx.x, row = threadIdx.y, y = blockIdx.x * STRIP + row;
    const uint32_t row_index = y * width;
    uint32_t run_here = 0, run_above = 0; /* length so far of the runs that the word before left open; 0: none */

    bool next = y < height && pixel_at(vars, lane, y, width);
    for (uint32_t x0 = 0, parity = 0; x0 < width; x0 += 32, parity ^= 1) {
        const uint32_t x = x0 + lane, index = row_index + x;
        const bool here = next;
        next = y < height && pixel_at(vars, x + 32, y, width); /* on its way while this word is worked on */

        const uint32_t pixels = __ballot_sync(~0u, here);
        const uint32_t n_here = lane ? ones_left(pixels, lane) : run_here;
        if (here && (!n_here || !lane))
            parents[index] = index - n_here;
        if (!lane)
            shared_pixels[parity][row] = pixels;
        __syncthreads();

        const uint32_t pixels_above = row ? shared_pixels[parity][row - 1] : 0;
        const uint32_t n_above = lane ? ones_left(pixels_above, lane) : run_above;
        if (touch<eight>(here, pixels_above >> lane & 1, n_here, n_above))
            unite(parents, index - n_here, index - width - n_above);

        run_here = pixels == ~0u ? run_here + 32 : ones_at_end(pixels);
        run_above = pixels_above == ~0u ? run_above + 32 : ones_at_end(pixels_above);
    }
}

/* First rows of strips against last rows of the strips above. */
template <bool eight>
__global__ static void merge_strips(const CudaVars *pvars, uint32_t width, uint32_t height, uint32_t *parents)
{
    const CudaVars &vars = *pvars;
    const uint32_t lane = threadIdx.x, x = blockIdx.x * 32 + lane;
    const uint32_t y = (blockIdx.y * blockDim.y + threadIdx.y + 1) * STRIP;
    if (y >= height)
        return;
    const uint32_t index = y * width + x;
    const bool here = pixel_at(vars, x, y, width), above = pixel_at(vars, x, y - 1, width);
    const bool here_before = x >= 32 && pixel_at(vars, x - 32, y, width);
    const bool above_before = x >= 32 && pixel_at(vars, x - 32, y - 1, width);
    const uint32_t pixels = __ballot_sync(~0u, here), pixels_above = __ballot_sync(~0u, above);
    const uint32_t before = __ballot_sync(~0u, here_before), before_above = __ballot_sync(~0u, above_before);

    const uint32_t n_here = lane ? ones_left(pixels, lane) : ones_at_end(before);
    const uint32_t n_above = lane ? ones_left(pixels_above, lane) : ones_at_end(before_above);
    if (touch<eight>(here, above, n_here, n_above))
        unite(parents, index - n_here, index - width - n_above);
}

/* A segment's first pixel finds the root, the others take it from there. */
__global__ static void relabel_segments(const CudaVars *pvars, uint32_t width, uint32_t height, const uint32_t *parents)
{
    const CudaVars &vars = *pvars;
    const uint32_t lane = threadIdx.x, x = blockIdx.x * 32 + lane, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y >= height)
        return;
    const bool here = pixel_at(vars, x, y, width);
    const uint32_t pixels = __ballot_sync(~0u, here);
    const uint32_t distance = ones_left(pixels, lane);
    uint32_t label = 0;
    if (here && !distance)
        label = 1 + find(parents, y * width + x);
    label = __shfl_sync(~0u, label, lane - distance);
    if (x < width)
        vars.labels[y * vars.label_stride + x] = here ? label : 0;
}

/* A segment's sums follow from where it begins and how long it is: its first pixel adds them to the component's. */
__global__ static void sum_segments(const CudaVars *pvars, uint32_t width, uint32_t height, uint32_t capacity,
                                    unsigned round, StageBuffers buffers)
{
    const CudaVars &vars = *pvars;
    const uint32_t lane = threadIdx.x, x = blockIdx.x * 32 + lane, y = blockIdx.y * blockDim.y + threadIdx.y;
    clear_words(buffers.table_scan, buffers.n_table_scan);
    const SumsTarget target = sums_target(buffers, vars, capacity, round, x, y);
    if (y >= height || target.past_id <= target.first_id)
        return;
    const bool here = pixel_at(vars, x, y, width);
    const uint32_t pixels = __ballot_sync(~0u, here);
    if (!here || ones_left(pixels, lane))
        return;
    Part part = {};
    part.n = part.x1 = __clz(__brev(~(pixels >> lane)));
    part.x = part.n * (part.n - 1) / 2;
    part.xx = part.x * (2 * part.n - 1) / 3;
    part.y1 = 1;
    part.first = y * width + x;
    part.label = vars.labels[y * vars.label_stride + x];
    add_to_sums(target, part);
}

static size_t ha_workspace_size(const CclContext *context)
{
    return (size_t)context->config.max_width * context->config.max_height * sizeof(uint32_t);
}

template <bool eight> static CclStatus ha_label(CclContext *context, CclFrame *ccl_frame)
{
    CudaFrame *const frame = cuda_frame(ccl_frame);
    const uint32_t width = frame->shape.width, height = frame->shape.height;
    uint32_t *const parents = (uint32_t *)cuda_workspace(context);
    const unsigned words = blocks_for(width, 32), strips = blocks_for(height, STRIP);
    const dim3 threads(32, STRIP);

    CCL_CUDA_LAUNCH(frame, "strips", label_strips<eight>, strips, threads, 0, frame->vars, width, height, parents);
    if (strips > 1)
        CCL_CUDA_LAUNCH(frame, "merge", merge_strips<eight>, dim3(words, blocks_for(strips - 1, STRIP)), threads, 0,
                        frame->vars, width, height, parents);
    CCL_CUDA_LAUNCH(frame, "spread", relabel_segments, dim3(words, strips), threads, 0, frame->vars, width, height,
                    parents);
    return CCL_OK;
}

static CclStatus ha_features(const CclContext *context, CclFrame *ccl_frame, const StageBuffers *buffers,
                             unsigned round)
{
    CudaFrame *const frame = cuda_frame(ccl_frame);
    const uint32_t width = frame->shape.width, height = frame->shape.height;
    const dim3 grid(blocks_for(width, 32), blocks_for(height, STRIP)), threads(32, STRIP);
    CCL_CUDA_LAUNCH(frame, "features", sum_segments, grid, threads, 0, frame->vars, width, height, context->capacity, round,
                    *buffers);
    return CCL_OK;
}

#endif
