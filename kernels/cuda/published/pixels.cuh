/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Helpers of methods with a thread per pixel and a value per pixel. */
#ifndef CCL_CUDA_LABEL_PIXELS_CUH
#define CCL_CUDA_LABEL_PIXELS_CUH

#include "cuda/backend.cuh"

/*
 * The lowest of a pixel's own value and those of its neighbours. `p` points at the pixel; the next row begins `stride`
 * words on. `background` is 0 (labels) or NO_PARENT (parents); neighbours with this value are ignored.
 *
 * Methods that call this in place read values that other threads are lowering. They may read the old or the new value; both
 * belong to the component. If they miss the lower one, they are called again, because the thread that wrote it noted a change.
 */
template <bool eight, uint32_t background>
__device__ static inline uint32_t lowest_around(const uint32_t *p, size_t stride, const PixelPlace &place, uint32_t own)
{
    const uint32_t x = place.x, y = place.y, width = place.width, height = place.height;
    const uint32_t offset = background + 1; /* takes background to UINT32_MAX, and keeps the others' order */
    const bool left = x > 0, right = x + 1 < width;
    uint32_t lowest = own - offset;

    if (left)
        lowest = min(lowest, p[-1] - offset);
    if (right)
        lowest = min(lowest, p[1] - offset);
    if (y > 0) {
        const uint32_t *const above = p - stride;
        lowest = min(lowest, above[0] - offset);
        if (eight && left)
            lowest = min(lowest, above[-1] - offset);
        if (eight && right)
            lowest = min(lowest, above[1] - offset);
    }
    if (y + 1 < height) {
        const uint32_t *const below = p + stride;
        lowest = min(lowest, below[0] - offset);
        if (eight && left)
            lowest = min(lowest, below[-1] - offset);
        if (eight && right)
            lowest = min(lowest, below[1] - offset);
    }
    return lowest + offset;
}

/* The index of the first foreground neighbour, in raster order, that comes before foreground pixel (x, y), or of the pixel
 * itself.  */
template <bool eight>
__device__ static inline uint32_t first_neighbour(const CudaVars &vars, uint32_t x, uint32_t y, uint32_t width)
{
    const uint8_t *const row = vars.mask + y * vars.mask_stride, *const above = row - vars.mask_stride;
    const uint32_t index = y * width + x;
    if (y > 0) {
        if (eight && x > 0 && is_foreground(above[x - 1], vars))
            return index - width - 1;
        if (is_foreground(above[x], vars))
            return index - width;
        if (eight && x + 1 < width && is_foreground(above[x + 1], vars))
            return index - width + 1;
    }
    return x > 0 && is_foreground(row[x - 1], vars) ? index - 1 : index;
}

/* The maximum number of iterations of methods where each iteration lowers at least one label for good: the number of pixels. */
static inline uint64_t pixels_of(const CudaShape *shape)
{
    return (uint64_t)shape->width * shape->height;
}

static inline bool is_eight(const CclContext *context)
{
    return context->config.connectivity == CCL_CONNECT_8;
}

#endif
