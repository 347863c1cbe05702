/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * C_BBDT and C_DRAG: union-find over 2x2 blocks. A decision tree or graph selects the pixels to read, and which of P, Q, R and
 * S to unite with. The two methods differ only in the form of the decision, which decide.c writes.
 */
#ifndef CCL_CUDA_LABEL_DECISION_CUH
#define CCL_CUDA_LABEL_DECISION_CUH

#include "cuda/block.cuh"

/* The mask around a block. */
typedef struct View {
    const CudaVars &vars;
    const uint8_t *here;          /* the block's upper left pixel, */
    uint32_t x, y, width, height; /* its position, and the size of the mask */

    /* The pixel at (dx, dy) from the block's upper left; pixels outside the mask are background. */
    __device__ bool sees(int dx, int dy) const
    {
        return x + dx < width && y + dy < height && is_foreground(here[dy * (ptrdiff_t)vars.mask_stride + dx], vars);
    }
} View;

/* Used in the files that decide.c writes. */
#define SEES(dx, dy) view.sees(dx, dy)

/* `Decision` returns, for a View, the blocks to unite with: bits 0 to 3 for P, Q, R and S. */
template <typename Decision>
__global__ static void decide_and_merge(const __grid_constant__ CudaVars vars, uint32_t width, uint32_t height)
{
    uint32_t x, y;
    if (!block_of_thread(width, height, &x, &y))
        return;
    const uint32_t unites = Decision::of(View{ vars, vars.mask + y * vars.mask_stride + x, x, y, width, height });

    const InPlace parents = in_place(vars);
    const uint32_t node = parents.at(x, y), above = node - 2 * parents.stride;
    if (unites & 1)
        unite(parents, node, above - 2);
    if (unites & 2)
        unite(parents, node, above);
    if (unites & 4)
        unite(parents, node, above + 2);
    if (unites & 8)
        unite(parents, node, node - 2);
}

template <typename Decision> static CclStatus label_by_decision(CclContext *, CclFrame *ccl_frame)
{
    CudaFrame *const frame = cuda_frame(ccl_frame);
    CCL_TRY(blocks_start(frame));
    CCL_CUDA_LAUNCH(frame, "merge", decide_and_merge<Decision>, block_grid(frame->shape), block_threads(), 0,
                    frame->vars, frame->shape.width, frame->shape.height);
    CCL_TRY(blocks_compress(frame, false));
    return blocks_propagate(frame);
}

#endif
