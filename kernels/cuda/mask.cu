/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* 16-bit masks -> 8-bit masks, so that methods know one kind only. */
#include "stages.cuh"

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
