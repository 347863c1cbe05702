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

/* A thread has 16 pixels: a piece. */
__global__ static void pack(const __grid_constant__ CudaVars vars, uint32_t width, uint32_t n_rows, uint32_t row_pieces,
                            uint16_t *bits)
{
    const uint32_t piece = blockIdx.x * blockDim.x + threadIdx.x, y = piece / row_pieces, x = piece % row_pieces * 16;
    if (y >= n_rows)
        return;
    const uint8_t *const pixels = vars.mask + y * vars.mask_stride + x;
    const uint32_t n = x < width ? min(width - x, 16u) : 0;
    uint4 bytes = make_uint4(0, 0, 0, 0);
    if (n == 16 && (uintptr_t)pixels % 16 == 0)
        bytes = __ldg((const uint4 *)pixels);
    else if (n)
        bytes = load16_bytes(pixels, n);
    const Comparison than = comparison(vars);
    if (than.complements)
        bytes = complement(bytes);
    bits[piece] = (uint16_t)(pack16(bytes, than) & ((1u << n) - 1));
}

CclStatus mask_to_bits(const CudaVars *vars, uint32_t width, uint32_t n_rows, uint64_t *bits, size_t row_words,
                       cudaStream_t stream)
{
    const uint32_t row_pieces = (uint32_t)row_words * 4, threads = 256;
    const dim3 grid(blocks_for((size_t)row_pieces * n_rows, threads));
    if (n_rows)
        CCL_CUDA_TRY(launch_in(stream, false, 0, 0, pack, grid, threads, 0, *vars, width, n_rows, row_pieces,
                               (uint16_t *)bits));
    return CCL_OK;
}
