/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Provisional labels -> ids 0..n-1 in raster order of the components' first pixels.
 *
 *   first    methods whose roots are not first pixels: each root learns its component's first pixel
 *   number   first pixels are counted, in chunks of the image and by a scan over the chunks
 */
#include "scan.cuh"
#include "stages.cuh"

static const unsigned THREADS = 256;
static const unsigned PER_THREAD = 16;
static const unsigned CHUNK = NUMBER_CHUNK;
static_assert(CHUNK == THREADS * PER_THREAD, "a chunk is a block's pixels");

typedef struct Image {
    const uint32_t *labels;
    size_t stride;
    uint32_t width;
    uint64_t magic;
} Image;

__device__ static uint32_t label_at(const Image &image, uint32_t pixel)
{
    if (image.stride == image.width)
        return image.labels[pixel];
    const uint32_t y = divide_by_width(pixel, image.magic);
    return image.labels[y * image.stride + (pixel - y * image.width)];
}

/* Can this pixel be the first of its component? Its left and upper neighbours would come earlier. */
__device__ static bool may_be_first(const Image &image, uint32_t pixel, uint32_t label)
{
    const uint32_t y = divide_by_width(pixel, image.magic);
    return label && (pixel == y * image.width || label_at(image, pixel - 1) != label) &&
           (y == 0 || label_at(image, pixel - image.width) != label);
}

__global__ static void first(const CudaVars *vars, uint32_t width, uint64_t magic, uint32_t n_pixels,
                             uint32_t *root_state)
{
    const Image image = { vars->labels, vars->label_stride, width, magic };
    const uint32_t pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel >= n_pixels)
        return;
    const uint32_t label = label_at(image, pixel);
    if (may_be_first(image, pixel, label) && root_state[label - 1] > pixel)
        atomicMin(&root_state[label - 1], pixel);
}

/* Exclusive sums of the 128 counts of a chunk, by the first warp; returns their total in all its lanes. */
__device__ static uint32_t scan_counts(uint32_t *counts)
{
    const uint32_t lane = threadIdx.x % 32;
    uint32_t mine[4], sum = 0;
    for (int i = 0; i < 4; i++) {
        mine[i] = sum;
        sum += counts[lane * 4 + i];
    }
    uint32_t inclusive = sum;
    for (int i = 1; i < 32; i *= 2) {
        const uint32_t other = __shfl_up_sync(~0u, inclusive, i);
        if (lane >= i)
            inclusive += other;
    }
    for (int i = 0; i < 4; i++)
        counts[lane * 4 + i] = inclusive - sum + mine[i];
    return __shfl_sync(~0u, inclusive, 31);
}

template <bool first_pixel_roots>
__global__ __launch_bounds__(THREADS) static void number(const CudaVars *vars, uint32_t width, uint64_t magic,
                                                         uint32_t n_pixels, StageBuffers buffers)
{
    __shared__ uint32_t counts[CHUNK / 32]; /* first pixels per 32 pixels of the chunk */
    __shared__ uint32_t n_before;

    const Image image = { vars->labels, vars->label_stride, width, magic };
    const uint32_t chunk = scan_next_tile(buffers.number_scan);
    const uint32_t start = chunk * CHUNK + threadIdx.x;
    const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    uint32_t labels[PER_THREAD];
#pragma unroll
    for (unsigned i = 0; i < PER_THREAD; i++) {
        const uint32_t pixel = start + i * THREADS;
        labels[i] = pixel < n_pixels ? label_at(image, pixel) : 0;
    }
    uint32_t is_first = 0; /* bit i: of labels[i] */
#pragma unroll
    for (unsigned i = 0; i < PER_THREAD; i++) {
        const uint32_t pixel = start + i * THREADS;
        const bool mine = first_pixel_roots
                              ? labels[i] == pixel + 1
                              : may_be_first(image, pixel, labels[i]) && buffers.root_state[labels[i] - 1] == pixel;
        is_first |= (uint32_t)mine << i;
        const uint32_t firsts = __ballot_sync(~0u, mine);
        if (lane == 0)
            counts[i * (THREADS / 32) + warp] = __popc(firsts);
    }
    __syncthreads();

    if (warp == 0) {
        const uint32_t n = scan_counts(counts);
        const uint32_t before = scan_before(buffers.number_scan, chunk, n);
        if (lane == 0) {
            n_before = before;
            if (chunk == gridDim.x - 1)
                buffers.counts->n_found = before + n;
        }
    }
    if (!__syncthreads_or(is_first))
        return;
#pragma unroll
    for (unsigned i = 0; i < PER_THREAD; i++) {
        const bool mine = is_first >> i & 1;
        const uint32_t firsts = __ballot_sync(~0u, mine);
        if (mine)
            buffers.root_state[labels[i] - 1] =
                ROOT_NUMBERED | (n_before + counts[i * (THREADS / 32) + warp] + __popc(firsts & ((1u << lane) - 1)));
    }
}

CclStatus number_from_labels(const CclContext *context, CudaFrame *frame, const StageBuffers *buffers)
{
    const uint32_t width = frame->shape.width, n_pixels = width * frame->shape.height;
    const uint64_t magic = divide_magic(width);
    const unsigned chunks = blocks_for(n_pixels, CHUNK);

    if (context->algorithm->first_pixel_roots) {
        CCL_CUDA_LAUNCH(frame, "number", number<true>, chunks, THREADS, 0, frame->vars, width, magic, n_pixels, *buffers);
        return CCL_OK;
    }
    CCL_CUDA_TRY(cudaMemsetAsync(buffers->root_state, 0xff, (size_t)n_pixels * sizeof(uint32_t), frame->stream));
    CCL_CUDA_LAUNCH(frame, "first", first, blocks_for(n_pixels, THREADS), THREADS, 0, frame->vars, width, magic, n_pixels,
                    buffers->root_state);
    CCL_CUDA_LAUNCH(frame, "number", number<false>, chunks, THREADS, 0, frame->vars, width, magic, n_pixels, *buffers);
    return CCL_OK;
}
