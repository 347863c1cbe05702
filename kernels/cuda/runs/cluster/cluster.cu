/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Batches of label/runs.cu, each frame by one thread block cluster: sizes, arguments and launches. */
#include "cuda/runs/cluster/launch.cuh"

/* ---------------------------------------------------------------- what the device can do */

static cudaError_t allow_all_clusters(size_t memory)
{
    const cudaError_t errors[] = { allow_clusters<false, false>(memory), allow_clusters<true, false>(memory),
                                   allow_clusters<false, true>(memory), allow_clusters<true, true>(memory) };
    for (const cudaError_t error : errors)
        if (error != cudaSuccess)
            return error;
    return cudaSuccess;
}

/* *memory: of a block. Stays 0 on a device without clusters. */
static cudaError_t query_cluster_memory(size_t *memory)
{
    cudaFuncAttributes attributes;
    int device = 0, max_memory = 0, n = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = query_cluster_kernel<false, true>(&attributes);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&max_memory, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (error != cudaSuccess || attributes.ptxVersion < 90) /* not compiled for devices with clusters */
        return error;
    const size_t size = (size_t)max_memory - attributes.sharedSizeBytes;
    error = allow_all_clusters(size);
    if (error == cudaSuccess)
        error = count_resident_clusters<false, true>(size, &n);
    if (error == cudaSuccess && n)
        *memory = size;
    return error;
}

size_t runs_cluster_memory(void)
{
    size_t memory = 0;
    if (query_cluster_memory(&memory) != cudaSuccess)
        (void)cudaGetLastError(); /* then the other kernels are used */
    return memory;
}

/* ---------------------------------------------------------------- sizes */

#define RUN_MEMORY (2 * sizeof(uint32_t)) /* a parent and a place */

/* Shared memory of a block for a frame of this size, without its runs; ~0: the frame is too large. */
static size_t memory_without_runs(uint32_t width, uint32_t height, uint32_t n_threads)
{
    const uint64_t row_words = padded_row_words(width), n = rows_of_block(height), n_segments = (n + 1) * ((row_words + 31) / 32);
    const bool fits = n <= MAX_BLOCK_ROWS && row_words <= MAX_ROW_WORDS;
    /* The sum of y squared is the largest that needs 32 bits. */
    if (!fits || n_segments > min(MAX_SEGMENTS, n_threads) || n * n * n / 3 * width >> 32)
        return ~(size_t)0;
    return sizeof(ClusterBlock) + (n + 1) * row_words * (sizeof(uint64_t) + sizeof(uint32_t));
}

size_t runs_memory_in_cluster(const CudaShape *shape)
{
    const size_t bare = memory_without_runs(shape->width, shape->height, CLUSTER_THREADS);
    return shape->label_mode != CUDA_LABELS_NONE || bare == ~(size_t)0 ? ~(size_t)0 : bare + MAX_BLOCK_RUNS * RUN_MEMORY;
}

/* Small blocks if all frames fit, with as many runs as they have space for. Tests with small limits get large blocks. */
static BlockSize block_size_for(const CudaBatch *batch, unsigned begin, unsigned n)
{
    const bool tests_limits = test_limit(~0u) != ~0u;
    size_t small = tests_limits ? SMALL_BLOCK_MEMORY : 0, large = 0;
    for (unsigned i = begin; i < begin + n; i++) {
        const CudaShape *const shape = &batch->frames[i]->shape;
        small = max(small, memory_without_runs(shape->width, shape->height, SMALL_BLOCK_THREADS));
        large = max(large, memory_without_runs(shape->width, shape->height, CLUSTER_THREADS));
    }
    if (small > SMALL_BLOCK_MEMORY - SMALL_BLOCK_MIN_RUNS * RUN_MEMORY)
        return BlockSize{ CLUSTER_THREADS, MAX_BLOCK_RUNS, large + MAX_BLOCK_RUNS * RUN_MEMORY };
    const uint32_t max_runs = (uint32_t)min((size_t)MAX_BLOCK_RUNS, (SMALL_BLOCK_MEMORY - small) / RUN_MEMORY);
    return BlockSize{ SMALL_BLOCK_THREADS, max_runs, small + max_runs * RUN_MEMORY };
}

/* ---------------------------------------------------------------- launch */

static FrameJob frame_job_of(const CclContext *context, const CudaFrame *frame, void *workspace)
{
    const CudaVars *const vars = &frame->vars;
    FrameJob job = {};
    job.mask = vars->mask.pointer;
    job.mask_stride = vars->mask_stride;
    job.workspace = (uint8_t *)workspace;
    job.records = frame->records;
    job.result = frame->result;
    job.width = (uint16_t)frame->shape.width;
    job.height = (uint16_t)frame->shape.height;
    job.threshold = (uint8_t)min(vars->threshold, 255u);
    job.invert = vars->invert != 0;
    job.flagged = vars->limits.border == CCL_BORDER_FLAG;
    job.capacity = context->capacity;
    return job;
}

/* One launch, for n frames of a batch. */
template <uint32_t MAX_FRAMES, bool FILTERED>
static CclStatus launch_frames(const CudaBatch *batch, ClusterLaunch launch, unsigned begin, unsigned n)
{
    const BlockSize size = block_size_for(batch, begin, n);
    const bool packed = batch->shape.form != CUDA_PIXELS;
    launch.capacity = { test_limit(size.max_runs), test_limit(MAX_BLOCK_SHARES), test_limit(MAX_BLOCK_PAIRS) };
    Frames<MAX_FRAMES, FILTERED> frames = {};
    for (unsigned i = 0; i < n; i++) {
        const CudaFrame *const frame = batch->frames[begin + i];
        frames.of[i] = frame_job_of(batch->contexts[begin + i], frame, batch->workspaces[begin + i]);
        if (FILTERED)
            frames.limits[i] = frame->vars.limits;
    }
    return batch->connectivity == CCL_CONNECT_8 ? launch_clusters<true>(batch->launcher, size, n, packed, launch, frames)
                                                : launch_clusters<false>(batch->launcher, size, n, packed, launch, frames);
}

template <bool FILTERED> static CclStatus launch_batch(const CudaBatch *batch, const ClusterLaunch &offsets)
{
    const unsigned n_launches = blocks_for(batch->n, MANY_FRAMES(FILTERED)), each = blocks_for(batch->n, n_launches);
    for (unsigned begin = 0, n; begin < batch->n; begin += n) {
        n = min(batch->n - begin, each);
        CCL_TRY(n > FEW_FRAMES ? (launch_frames<MANY_FRAMES(FILTERED), FILTERED>(batch, offsets, begin, n))
                               : (launch_frames<FEW_FRAMES, FILTERED>(batch, offsets, begin, n)));
    }
    return CCL_OK;
}

CclStatus runs_launch_in_clusters(const CudaBatch *batch, const ClusterLaunch &offsets)
{
    return batch->shape.keep_all ? launch_batch<false>(batch, offsets) : launch_batch<true>(batch, offsets);
}
