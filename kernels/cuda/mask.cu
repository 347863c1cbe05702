/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Masks before methods see them. */
#include "bits.cuh"
#include "overlap.cuh"
#include "stages.cuh"

/* ---------------------------------------------------------------- 16-bit masks -> 8-bit masks */

__global__ static void narrow(const __grid_constant__ CudaVars vars, uint32_t width, uint32_t height)
{
    const uint32_t x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const uint8_t *const from = vars.wide + y * vars.wide_stride + 2 * x; /* any address: two byte loads */
    const uint32_t value = from[0] | (uint32_t)from[1] << 8;
    const bool foreground = (value > vars.wide_threshold) != (vars.wide_invert != 0);
    ((uint8_t *)vars.mask.pointer)[y * vars.mask_stride + x] = foreground ? 255 : 0;
}

CclStatus mask_from_wide(const CudaFrame *frame, CudaFrame *launcher)
{
    const uint32_t width = frame->shape.width, height = frame->shape.height;
    const dim3 grid(blocks_for(width, 32), blocks_for(height, 8));
    CCL_CUDA_LAUNCH(launcher, "narrow", narrow, grid, dim3(32, 8), 0, frame->vars, width, height);
    return CCL_OK;
}

/* ---------------------------------------------------------------- 8-bit masks -> bits */

#define PACK_THREADS 256u
#define CHUNK_EACH   8u /* loads of 16 bytes that a thread has in flight over the bus */

/* Copies a row chunk that the host packs to device memory. Writes zeros if it is not packed, because the memory may contain
 * anything. */
__device__ static void copy_chunk(const BitsJob &job, uint32_t chunk, bool there)
{
    const uint32_t begin = chunk * job.chunk_words / 2, end = min(begin + job.chunk_words / 2, (job.n_words + 1) / 2);
    const uint4 *const from = (const uint4 *)job.chunks.words;
    uint4 *const to = (uint4 *)(job.bits + (size_t)job.n_rows * job.row_words);
    for (uint32_t i = begin + threadIdx.x; i < end; i += CHUNK_EACH * PACK_THREADS) {
        uint4 words[CHUNK_EACH] = {};
#pragma unroll
        for (uint32_t k = 0; k < CHUNK_EACH; k++)
            if (there && i + k * PACK_THREADS < end)
                words[k] = from[i + k * PACK_THREADS];
#pragma unroll
        for (uint32_t k = 0; k < CHUNK_EACH; k++)
            if (i + k * PACK_THREADS < end)
                to[i + k * PACK_THREADS] = words[k];
    }
}

/* Each of the first blocks copies a row chunk of the host. In the other blocks each thread packs 16 pixels. */
__global__ __launch_bounds__(PACK_THREADS) static void pack(const __grid_constant__ BitsJob job)
{
    if (blockIdx.x < job.chunks.n) {
        const uint32_t flag = ready_flag(job.chunks.rows / job.chunks.band_rows, blockIdx.x, 0);
        const bool there = __syncthreads_or(threadIdx.x == 0 && await_host(job.chunks, flag));
        copy_chunk(job, blockIdx.x, there);
        if (!there && threadIdx.x == 0)
            note_timeout(job.chunks);
        return;
    }
    const uint32_t sixteen = (blockIdx.x - job.chunks.n) * PACK_THREADS + threadIdx.x, row_sixteens = job.row_words * 4;
    const uint32_t y = sixteen / row_sixteens, x = sixteen % row_sixteens * 16;
    if (y >= job.n_rows)
        return;
    const uint8_t *const pixels = job.mask + y * job.mask_stride + x;
    const uint32_t n = x < job.width ? min(job.width - x, 16u) : 0;
    uint4 bytes = make_uint4(0, 0, 0, 0);
    if (n == 16 && (uintptr_t)pixels % 16 == 0)
        bytes = __ldg((const uint4 *)pixels);
    else if (n)
        bytes = load16_bytes(pixels, n);
    const Comparison than = comparison(min(job.threshold, 255u), job.invert != 0);
    if (than.complements)
        bytes = complement(bytes);
    ((uint16_t *)job.bits)[sixteen] = (uint16_t)(pack16(bytes, than) & ((1u << n) - 1));
}

dim3 mask_to_bits_grid(const BitsJob *job)
{
    return dim3(job->chunks.n + blocks_for((size_t)job->row_words * 4 * job->n_rows, PACK_THREADS));
}

CclStatus mask_to_bits(const BitsJob *job, cudaStream_t stream)
{
    CCL_CUDA_TRY(launch_in(stream, {}, pack, { mask_to_bits_grid(job), PACK_THREADS, 0 }, *job));
    return CCL_OK;
}
