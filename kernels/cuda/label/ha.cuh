/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The code of HA4 and HA8. They differ only in the rule for which runs of neighbouring rows touch.
 *
 * A warp takes 32 pixels of a row at once as a word of bits (a ballot), or 64 with two pixels for each thread. Consecutive
 * foreground pixels of a word are a segment. Its node is its first pixel, by the index y * width + x. Only nodes have a parent
 * in memory. If a segment continues a run of the word before, its parent is the first pixel of that run.
 *
 * On-segment sums are the paper's analysis: area, moments and box of a segment follow from its first column and its length. So
 * its first pixel adds them to the component's sums with one atomic operation each. ha4-sums and ha8-sums use this instead of
 * the shared stage `features`. The paper has slots for all pixels, found by the root, and no label image. Here components are
 * numbered first, and have the slots of the shared stage.
 */
#ifndef CCL_CUDA_LABEL_HA_CUH
#define CCL_CUDA_LABEL_HA_CUH

#include "cuda/propagate.cuh"
#include "cuda/sums.cuh"
#include "cuda/union_find.cuh"

static const unsigned STRIP = 4; /* rows per block, a warp each */

/* Number of pixels of a word that a thread has: bits from per_thread * lane on. */
template <typename Word> __host__ __device__ constexpr uint32_t per_thread()
{
    return sizeof(Word) / sizeof(uint32_t);
}

template <typename Word> __host__ __device__ constexpr uint32_t per_word()
{
    return 32 * per_thread<Word>();
}

__device__ static inline uint32_t leading_zeros(uint32_t word)
{
    return __clz(word);
}

__device__ static inline uint32_t leading_zeros(uint64_t word)
{
    return __clzll(word);
}

/* Loads the word of row y that begins at x: first each lane's pixels, then a vote gives all lanes the word. */
template <typename Word> struct Pixels {
    bool of_lane[per_thread<Word>()];

    __device__ void load(const CudaVars &vars, uint32_t x, uint32_t y, uint32_t width, uint32_t height)
    {
#pragma unroll
        for (uint32_t i = 0; i < per_thread<Word>(); i++)
            of_lane[i] = y < height && pixel_at(vars, x + 32 * i + threadIdx.x, y, width);
    }

    __device__ Word vote() const
    {
        Word word = 0;
#pragma unroll
        for (uint32_t i = 0; i < per_thread<Word>(); i++)
            word |= (Word)__ballot_sync(~0u, of_lane[i]) << 32 * i;
        return word;
    }
};

template <typename Word>
__device__ static inline Word word_at(const CudaVars &vars, uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
    Pixels<Word> pixels;
    pixels.load(vars, x, y, width, height);
    return pixels.vote();
}

/* Number of consecutive foreground pixels left of bit x. If x is foreground, this is its distance from the start of its
 * segment. Otherwise it is the length of the segment that ends at x - 1. */
template <typename Word> __device__ static inline uint32_t ones_left(Word pixels, uint32_t x)
{
    return x ? leading_zeros((Word) ~(pixels << (per_word<Word>() - x))) : 0;
}

/* The same for the bit past the word. */
template <typename Word> __device__ static inline uint32_t ones_at_end(Word pixels)
{
    return leading_zeros((Word)~pixels);
}

/*
 * Whether the segments at pixel x touch across the rows, and x is the first column that shows it. `here` and `above` are the
 * two pixels, n_here and n_above their ones_left(). Each pair of touching segments has one such column. The nodes to unite are
 * at x - n_here and x - n_above.
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

template <bool eight, typename Word>
__global__ __launch_bounds__(32 * STRIP) static void label_strips(const __grid_constant__ CudaVars vars, uint32_t width,
                                                                  uint32_t height, uint32_t *parents)
{
    /* Two buffers, used in turn: a warp may be one word ahead of the warp that reads its pixels. The published code has one
     * buffer and, from Volta on, no second barrier: a data race. */
    __shared__ Word shared_pixels[2][STRIP];

    const uint32_t lane = threadIdx.x, row = threadIdx.y, y = blockIdx.x * STRIP + row;
    const uint32_t row_index = y * width;
    uint32_t run_here = 0, run_above = 0; /* length of the run that the word before ends with; 0: none */

    Pixels<Word> next;
    next.load(vars, 0, y, width, height);
    for (uint32_t x0 = 0, parity = 0; x0 < width; x0 += per_word<Word>(), parity ^= 1) {
        const Word pixels = next.vote();
        next.load(vars, x0 + per_word<Word>(), y, width, height); /* this load overlaps the work on the current word */
#pragma unroll
        for (uint32_t i = 0; i < per_thread<Word>(); i++) {
            const uint32_t bit = lane * per_thread<Word>() + i, index = row_index + x0 + bit;
            const uint32_t n_here = bit ? ones_left(pixels, bit) : run_here;
            if (pixels >> bit & 1 && (!n_here || !bit))
                parents[index] = index - n_here;
        }
        if (!lane)
            shared_pixels[parity][row] = pixels;
        __syncthreads();

        const Word pixels_above = row ? shared_pixels[parity][row - 1] : 0;
#pragma unroll
        for (uint32_t i = 0; i < per_thread<Word>(); i++) {
            const uint32_t bit = lane * per_thread<Word>() + i, index = row_index + x0 + bit;
            const uint32_t n_here = bit ? ones_left(pixels, bit) : run_here;
            const uint32_t n_above = bit ? ones_left(pixels_above, bit) : run_above;
            if (touch<eight>(pixels >> bit & 1, pixels_above >> bit & 1, n_here, n_above))
                unite(parents, index - n_here, index - width - n_above);
        }
        run_here = pixels == (Word)~(Word)0 ? run_here + per_word<Word>() : ones_at_end(pixels);
        run_above = pixels_above == (Word)~(Word)0 ? run_above + per_word<Word>() : ones_at_end(pixels_above);
    }
}

/* First rows of strips against last rows of the strips above. */
template <bool eight, typename Word>
__global__ static void merge_strips(const __grid_constant__ CudaVars vars, uint32_t width, uint32_t height,
                                    uint32_t *parents)
{
    const uint32_t lane = threadIdx.x, x0 = blockIdx.x * per_word<Word>();
    const uint32_t y = (blockIdx.y * blockDim.y + threadIdx.y + 1) * STRIP;
    if (y >= height)
        return;
    const Word pixels = word_at<Word>(vars, x0, y, width, height);
    const Word pixels_above = word_at<Word>(vars, x0, y - 1, width, height);
    const Word before = x0 ? word_at<Word>(vars, x0 - per_word<Word>(), y, width, height) : 0;
    const Word before_above = x0 ? word_at<Word>(vars, x0 - per_word<Word>(), y - 1, width, height) : 0;
#pragma unroll
    for (uint32_t i = 0; i < per_thread<Word>(); i++) {
        const uint32_t bit = lane * per_thread<Word>() + i, index = y * width + x0 + bit;
        const uint32_t n_here = bit ? ones_left(pixels, bit) : ones_at_end(before);
        const uint32_t n_above = bit ? ones_left(pixels_above, bit) : ones_at_end(before_above);
        if (touch<eight>(pixels >> bit & 1, pixels_above >> bit & 1, n_here, n_above))
            unite(parents, index - n_here, index - width - n_above);
    }
}

/* A segment's first pixel finds the root, and the others take it from there. At most one of a thread's pixels begins a segment.
 * compress() shortens the path for later threads. */
template <typename Word>
__global__ static void relabel_segments(const __grid_constant__ CudaVars vars, uint32_t width, uint32_t height,
                                        uint32_t *parents)
{
    const uint32_t lane = threadIdx.x, x0 = blockIdx.x * per_word<Word>(), y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y >= height)
        return;
    const Word pixels = word_at<Word>(vars, x0, y, width, height);
    uint32_t root = 0;
#pragma unroll
    for (uint32_t i = 0; i < per_thread<Word>(); i++) {
        const uint32_t bit = lane * per_thread<Word>() + i;
        if (pixels >> bit & 1 && !ones_left(pixels, bit))
            root = compress(parents, y * width + x0 + bit);
    }
#pragma unroll
    for (uint32_t i = 0; i < per_thread<Word>(); i++) {
        const uint32_t bit = lane * per_thread<Word>() + i, start = bit - ones_left(pixels, bit);
        const uint32_t label = 1 + __shfl_sync(~0u, root, start / per_thread<Word>());
        if (x0 + bit < width)
            vars.labels[y * vars.label_stride + x0 + bit] = pixels >> bit & 1 ? label : 0;
    }
}

/* A segment's sums follow from its start and length. Its first pixel adds them to the sums of the component. */
__global__ static void sum_segments(const __grid_constant__ CudaVars vars, uint32_t width, uint32_t height,
                                    uint32_t capacity, unsigned round, StageBuffers buffers)
{
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

template <bool eight, typename Word = uint32_t> static CclStatus ha_label(CclContext *context, CclFrame *ccl_frame)
{
    CudaFrame *const frame = cuda_frame(ccl_frame);
    const uint32_t width = frame->shape.width, height = frame->shape.height;
    uint32_t *const parents = (uint32_t *)frame->workspace;
    const unsigned words = blocks_for(width, per_word<Word>()), strips = blocks_for(height, STRIP);
    const dim3 threads(32, STRIP);

    CCL_CUDA_LAUNCH(frame, "strips", (label_strips<eight, Word>), strips, threads, 0, frame->vars, width, height,
                    parents);
    if (strips > 1)
        CCL_CUDA_LAUNCH(frame, "merge", (merge_strips<eight, Word>), dim3(words, blocks_for(strips - 1, STRIP)), threads,
                        0, frame->vars, width, height, parents);
    CCL_CUDA_LAUNCH(frame, "propagate", relabel_segments<Word>, dim3(words, strips), threads, 0, frame->vars, width,
                    height, parents);
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
