/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Published ways to measure components, for the methods that were published with them (CclAlgorithm.features). All give the
 * same integers as the backend's own stage (features.cu).
 *
 * early   Every pixel has a slot of sums, filled with its own. When a root becomes another's child its slot is added
 *         to the other's, so the sums travel with the labels; in the end the roots' are the components'. Kalentev et
 *         al., JPDC 2011, for areas; Asad, Marroquim, Souza, "On GPU Connected Components and Properties", 2019, for
 *         more.
 * late    Pixels are labelled first, components then numbered, and every pixel adds itself to its component's slot.
 *         Asad, Marroquim, Souza, 2019.
 *
 * Memory in the paper (table I): 48 bytes per pixel or per component, for area, two first and three second moments. Here these
 * take 44 bytes, and the box 12. A component's slot also has its first pixel and its root: 64 bytes. `late` saves less memory
 * here than in the paper. Nothing is allocated while frames run, so stage_sizes() sets the number of slots, not the number of
 * components found.
 */
#ifndef CCL_CUDA_PROPERTIES_CUH
#define CCL_CUDA_PROPERTIES_CUH

#include "stages.cuh"

/* ---------------------------------------------------------------- early */

/* A slot per pixel of the largest mask; each field is an array. Only slots of pixels that are or were roots are used. */
typedef struct PixelSums {
    unsigned long long *m10, *m01, *m20, *m11, *m02;
    uint32_t *area;
    uint32_t *x0, *x1, *y1; /* box, half open; y0 is the root's row */
} PixelSums;

/* CclAlgorithm.workspace_size of an early method: the sums, and a word per pixel for the method. */
size_t early_workspace_size(const CclContext *context);
PixelSums early_sums(const CclContext *context, const CudaFrame *frame);
uint32_t *early_words(const CclContext *context, const CudaFrame *frame);

/* CclAlgorithm.features of an early method: copies the slots of roots whose ids are in this round. */
CclStatus features_early(const CclContext *context, CclFrame *frame, const StageBuffers *buffers, unsigned round);

/* Fills the slot of pixel (x, y) with its own sums. */
__device__ static inline void pixel_sums_begin(const PixelSums &sums, uint32_t index, uint32_t x, uint32_t y)
{
    sums.area[index] = 1;
    sums.m10[index] = x;
    sums.m01[index] = y;
    sums.m20[index] = x * x;
    sums.m11[index] = x * y;
    sums.m02[index] = y * y;
    sums.x0[index] = x;
    sums.x1[index] = x + 1;
    sums.y1[index] = y + 1;
}

/* Adds pixel (x, y) to the slot of a root, which must not move meanwhile. */
__device__ static inline void pixel_sums_add(const PixelSums &sums, uint32_t root, uint32_t x, uint32_t y)
{
    atomicAdd(&sums.area[root], 1u);
    atomicAdd(&sums.m10[root], (unsigned long long)x);
    atomicAdd(&sums.m01[root], (unsigned long long)y);
    atomicAdd(&sums.m20[root], (unsigned long long)(x * x));
    atomicAdd(&sums.m11[root], (unsigned long long)(x * y));
    atomicAdd(&sums.m02[root], (unsigned long long)(y * y));
    atomicMin(&sums.x0[root], x);
    atomicMax(&sums.x1[root], x + 1);
    atomicMax(&sums.y1[root], y + 1);
}

/* Adds the slot of `from` to the slot of its new root. One thread calls it once, when `from` is no longer a root, in a kernel
 * that hooks no further roots. */
__device__ static inline void pixel_sums_move(const PixelSums &sums, uint32_t from, uint32_t root)
{
    atomicAdd(&sums.area[root], sums.area[from]);
    atomicAdd(&sums.m10[root], sums.m10[from]);
    atomicAdd(&sums.m01[root], sums.m01[from]);
    atomicAdd(&sums.m20[root], sums.m20[from]);
    atomicAdd(&sums.m11[root], sums.m11[from]);
    atomicAdd(&sums.m02[root], sums.m02[from]);
    atomicMin(&sums.x0[root], sums.x0[from]);
    atomicMax(&sums.x1[root], sums.x1[from]);
    atomicMax(&sums.y1[root], sums.y1[from]);
}

/* ---------------------------------------------------------------- late */

/* CclAlgorithm.features: one set of atomic operations per foreground pixel. */
CclStatus features_late(const CclContext *context, CclFrame *frame, const StageBuffers *buffers, unsigned round);

#endif
