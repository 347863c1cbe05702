/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Provisional labels -> ids 0..n-1 in raster order of the components' first pixels.
 *
 *   first    methods whose roots are not first pixels: each root learns its component's first pixel
 *   number   first pixels are counted by chunks of the image; the last block to finish adds the chunks up. For label maps,
 *            roots are counted instead
 */
#include "map.cuh"
#include "overlap.cuh"

static const unsigned THREADS = 256;
static const unsigned GROUPS = 4; /* of four pixels per thread */
static const unsigned CHUNK = NUMBER_CHUNK;
static_assert(CHUNK == THREADS * GROUPS * 4, "a chunk is a block's pixels");

typedef struct Image {
    const uint32_t *labels;
    size_t stride;
    uint32_t width;
    uint64_t magic;
    uint32_t reach; /* a first pixel is less than this after its root; see CclAlgorithm */
} Image;

__device__ static uint32_t label_at(const Image &image, uint32_t pixel)
{
    if (image.stride == image.width)
        return image.labels[pixel];
    const uint32_t y = divide_by_width(pixel, image.magic);
    return image.labels[y * image.stride + (pixel - y * image.width)];
}

/* Whether this pixel can be the first of its component. Its left and upper neighbours would come earlier, and so would the
 * pixel before a row's first one. `left`: the label of the pixel before. */
__device__ static bool may_be_first(const Image &image, uint32_t pixel, uint32_t label, uint32_t left)
{
    return label && label != left && pixel - (label - 1) < image.reach &&
           (pixel < image.width || label_at(image, pixel - image.width) != label);
}

/* Labels of the four pixels from `pixel` on; past the last pixel 0. */
__device__ static uint4 load_four(const Image &image, uint32_t pixel, uint32_t n_pixels, bool aligned)
{
    if (aligned && pixel + 4 <= n_pixels)
        return *(const uint4 *)(image.labels + pixel);
    uint32_t v[4];
#pragma unroll
    for (uint32_t i = 0; i < 4; i++)
        v[i] = pixel + i < n_pixels ? label_at(image, pixel + i) : 0;
    return make_uint4(v[0], v[1], v[2], v[3]);
}

__device__ static bool is_aligned(const Image &image)
{
    return image.stride == image.width && (uintptr_t)image.labels % 16 == 0;
}

/* Bit i: pixel + i may be the first of its component. */
__device__ static uint32_t candidates(const Image &image, uint32_t pixel, uint4 v)
{
    if (!(v.x | v.y | v.z | v.w))
        return 0;
    const uint32_t left = pixel && v.x ? label_at(image, pixel - 1) : 0;
    return (uint32_t)may_be_first(image, pixel, v.x, left) | (uint32_t)may_be_first(image, pixel + 1, v.y, v.x) << 1 |
           (uint32_t)may_be_first(image, pixel + 2, v.z, v.y) << 2 |
           (uint32_t)may_be_first(image, pixel + 3, v.w, v.z) << 3;
}

__global__ static void first(const __grid_constant__ CudaVars vars, uint32_t width, uint64_t magic, uint32_t reach,
                             uint32_t n_pixels, uint32_t *root_state)
{
    const Image image = { vars.labels, vars.label_stride, width, magic, reach };
    const uint32_t pixel = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    const uint4 v = load_four(image, pixel, n_pixels, is_aligned(image));
    const uint32_t labels[4] = { v.x, v.y, v.z, v.w }, may_be = candidates(image, pixel, v);
#pragma unroll
    for (uint32_t i = 0; i < 4; i++)
        if (may_be >> i & 1 && root_state[labels[i] - 1] > pixel + i)
            atomicMin(&root_state[labels[i] - 1], pixel + i);
}

/* Exclusive sums over a block's values; the total in *total. */
__device__ static uint32_t scan_block(uint32_t value, uint32_t *total)
{
    __shared__ uint32_t sums[THREADS / 32];
    const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    uint32_t inclusive = value;
    for (uint32_t i = 1; i < 32; i *= 2) {
        const uint32_t other = __shfl_up_sync(~0u, inclusive, i);
        if (lane >= i)
            inclusive += other;
    }
    if (lane == 31)
        sums[warp] = inclusive;
    __syncthreads();
    uint32_t before = 0, all = 0;
    for (uint32_t i = 0; i < THREADS / 32; i++) {
        before += i < warp ? sums[i] : 0;
        all += sums[i];
    }
    __syncthreads();
    *total = all;
    return before + inclusive - value;
}

/* Counts per chunk -> first id per chunk, by one block. */
__device__ static void add_up_chunks(const StageBuffers &buffers, uint32_t n_chunks)
{
    const uint32_t per_thread = 8;
    uint32_t before = 0;
    for (uint32_t start = 0; start < n_chunks; start += THREADS * per_thread) {
        const uint32_t first = start + threadIdx.x * per_thread;
        uint32_t ids[per_thread], mine = 0, total;
#pragma unroll
        for (uint32_t i = 0; i < per_thread; i++) {
            ids[i] = mine;
            mine += first + i < n_chunks ? __ldcg(&buffers.chunk_ids[first + i]) : 0;
        }
        const uint32_t base = before + scan_block(mine, &total);
#pragma unroll
        for (uint32_t i = 0; i < per_thread; i++)
            if (first + i < n_chunks)
                buffers.chunk_ids[first + i] = base + ids[i];
        before += total;
    }
    if (threadIdx.x == 0)
        buffers.counts->n_found = before;
}

/* Bit i: pixel + i is the first of its component. */
template <bool first_pixel_roots>
__device__ static uint32_t firsts_of_four(const Image &image, uint32_t pixel, uint4 v, const uint32_t *root_state)
{
    if (first_pixel_roots)
        return (uint32_t)(v.x == pixel + 1) | (uint32_t)(v.y == pixel + 2) << 1 | (uint32_t)(v.z == pixel + 3) << 2 |
               (uint32_t)(v.w == pixel + 4) << 3;
    const uint32_t labels[4] = { v.x, v.y, v.z, v.w }, may_be = candidates(image, pixel, v);
    uint32_t firsts = 0;
#pragma unroll
    for (uint32_t i = 0; i < 4; i++)
        firsts |= (uint32_t)(may_be >> i & 1 && root_state[labels[i] - 1] == pixel + i) << i;
    return firsts;
}

/* Stores each first pixel's rank in its chunk with its root. firsts: bits 4 * i to 4 * i + 3 are of labels[i]. Returns the
 * number of first pixels. All threads of a block call it. */
__device__ static __forceinline__ uint32_t store_ranks(const uint4 (&labels)[GROUPS], uint32_t firsts, uint32_t *root_state)
{
    __shared__ uint32_t before_warp[GROUPS][THREADS / 32];
    const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    uint32_t n_firsts, mine = 0;
    /* Number before this thread in its warp: a byte for each i, at most 128. */
#pragma unroll
    for (unsigned i = 0; i < GROUPS; i++)
        mine |= __popc(firsts >> 4 * i & 15) << 8 * i;
    uint32_t before = mine;
    for (uint32_t i = 1; i < 32; i *= 2) {
        const uint32_t other = __shfl_up_sync(~0u, before, i);
        before += lane >= i ? other : 0;
    }
    if (lane == 31)
        for (unsigned i = 0; i < GROUPS; i++)
            before_warp[i][warp] = before >> 8 * i & 255;
    before -= mine;
    __syncthreads();
    const bool counts = threadIdx.x < GROUPS * (THREADS / 32);
    uint32_t *const count = &before_warp[0][0] + threadIdx.x;
    const uint32_t rank = scan_block(counts ? *count : 0, &n_firsts);
    if (counts)
        *count = rank;
    __syncthreads();
#pragma unroll
    for (unsigned i = 0; i < GROUPS; i++) {
        const uint32_t four[4] = { labels[i].x, labels[i].y, labels[i].z, labels[i].w };
        uint32_t state = ROOT_NUMBERED | (blockIdx.x * CHUNK + before_warp[i][warp] + (before >> 8 * i & 255));
#pragma unroll
        for (unsigned j = 0; j < 4; j++)
            if (firsts >> (4 * i + j) & 1) /* race: firsts_of_four() asks for another pixel; this is none, nor was */
                root_state[four[j] - 1] = state++;
    }
    return n_firsts;
}

/* A thread has four groups of four pixels: the warps of a block divide 1024 pixels, then the next 1024. */
template <bool first_pixel_roots>
__global__ __launch_bounds__(THREADS) static void number(const __grid_constant__ CudaVars vars, uint32_t width,
                                                         uint64_t magic, uint32_t reach, uint32_t n_pixels,
                                                         StageBuffers buffers)
{
    __shared__ bool is_last;

    const Image image = { vars.labels, vars.label_stride, width, magic, reach };
    const bool aligned = is_aligned(image);
    const uint32_t start = blockIdx.x * CHUNK + threadIdx.x * 4;

    uint4 labels[GROUPS];
#pragma unroll
    for (unsigned i = 0; i < GROUPS; i++)
        labels[i] = load_four(image, start + i * THREADS * 4, n_pixels, aligned);
    uint32_t firsts = 0;
#pragma unroll
    for (unsigned i = 0; i < GROUPS; i++)
        firsts |= firsts_of_four<first_pixel_roots>(image, start + i * THREADS * 4, labels[i], buffers.root_state)
                  << 4 * i;
    uint32_t n_firsts = 0;
    if (__syncthreads_or(firsts))
        n_firsts = store_ranks(labels, firsts, buffers.root_state);
    if (threadIdx.x == 0) {
        buffers.chunk_ids[blockIdx.x] = n_firsts;
        __threadfence(); /* the count is visible before the block is counted as done */
        is_last = atomicInc(&buffers.counts->n_chunks_done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last) {
        __threadfence();
        add_up_chunks(buffers, gridDim.x);
    }
}

CclStatus number_from_labels(const CclContext *context, CudaFrame *frame, const StageBuffers *buffers)
{
    const uint32_t width = frame->shape.width, n_pixels = width * frame->shape.height;
    const uint32_t reach = context->algorithm->info.volume ? n_pixels : 2 * width;
    const uint64_t magic = divide_magic(width);
    const unsigned chunks = blocks_for(n_pixels, CHUNK);

    if (context->algorithm->first_pixel_roots) {
        CCL_CUDA_LAUNCH(frame, "number", number<true>, chunks, THREADS, 0, frame->vars, width, magic, reach, n_pixels,
                        *buffers);
        return CCL_OK;
    }
    CCL_CUDA_TRY(cudaMemsetAsync(buffers->root_state, 0xff, (size_t)n_pixels * sizeof(uint32_t), frame->stream));
    CCL_CUDA_LAUNCH(frame, "first", first, blocks_for(n_pixels, 4 * THREADS), THREADS, 0, frame->vars, width, magic,
                    reach, n_pixels, buffers->root_state);
    CCL_CUDA_LAUNCH(frame, "number", number<false>, chunks, THREADS, 0, frame->vars, width, magic, reach, n_pixels,
                    *buffers);
    return CCL_OK;
}

/* ---------------------------------------------------------------- label maps */

static const unsigned CHUNK_WORDS = CHUNK / 64; /* of MapPlan.roots: two for each lane of a warp */
static_assert(CHUNK_WORDS == 2 * 32, "a chunk is a warp's words");

/* A warp numbers the roots of a chunk. */
__device__ static void number_chunk(const uint64_t *roots, uint32_t n_words, uint32_t chunk, const StageBuffers &buffers)
{
    const uint32_t lane = threadIdx.x % 32, first = chunk * CHUNK_WORDS + 2 * lane;
    const uint64_t words[2] = { first < n_words ? roots[first] : 0, first + 1 < n_words ? roots[first + 1] : 0 };
    const uint32_t mine = __popcll(words[0]) + __popcll(words[1]);
    uint32_t up_to = mine;
    for (uint32_t i = 1; i < 32; i *= 2) {
        const uint32_t other = __shfl_up_sync(~0u, up_to, i);
        up_to += lane >= i ? other : 0;
    }
    uint32_t state = ROOT_NUMBERED | (chunk * CHUNK + up_to - mine);
#pragma unroll
    for (uint32_t i = 0; i < 2; i++)
        for (uint64_t left = words[i]; left; left &= left - 1)
            buffers.root_state[(size_t)(first + i) * 64 + __ffsll((long long)left) - 1] = state++;
    if (lane == 31 && chunk * CHUNK_WORDS < n_words)
        buffers.chunk_ids[chunk] = up_to;
}

__global__ __launch_bounds__(THREADS) static void number_roots(const uint64_t *roots, uint32_t n_words, uint32_t n_chunks,
                                                               StageBuffers buffers)
{
    __shared__ bool is_last;
    wait_for_predecessor();
    number_chunk(roots, n_words, blockIdx.x * (THREADS / 32) + threadIdx.x / 32, buffers);
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence(); /* the counts are visible before the block is counted as done */
        is_last = atomicInc(&buffers.counts->n_chunks_done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last) {
        __threadfence();
        add_up_chunks(buffers, n_chunks);
    }
}

CclStatus number_from_roots(CudaFrame *frame, const MapPlan &plan, const StageBuffers *buffers)
{
    const uint32_t n_words = plan.row_words * plan.height, n_chunks = blocks_for(n_words, CHUNK_WORDS);
    return cuda_launch(frame, "number", CUDA_OVERLAP, number_roots, { blocks_for(n_chunks, THREADS / 32), THREADS, 0 },
                       (const uint64_t *)plan.roots, n_words, n_chunks, *buffers);
}
