/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bounds.h"

#include <float.h>
#include <math.h>

/* ---------------------------------------------------------------- argument checks */

CclStatus ccl_check_connectivity(CclConnectivity connectivity)
{
    if (connectivity != CCL_CONNECT_4 && connectivity != CCL_CONNECT_8)
        return ccl_fail(CCL_ERROR_ARGUMENT, "connectivity is 4 or 8, not %d", (int)connectivity);
    return CCL_OK;
}

CclStatus ccl_check_memory(CclBackendKind backend, CclMemory memory, const char *what)
{
    if (memory != CCL_MEMORY_HOST && memory != CCL_MEMORY_PINNED && memory != CCL_MEMORY_DEVICE)
        return ccl_fail(CCL_ERROR_ARGUMENT, "memory kind %d of the %s does not exist", (int)memory, what);
    if (memory == CCL_MEMORY_DEVICE && backend != CCL_BACKEND_CUDA)
        return ccl_fail(CCL_ERROR_ARGUMENT, "the CPU backend cannot reach a %s in device memory", what);
    return CCL_OK;
}

CclStatus ccl_check_mask(const CclConfig *config, const CclMask *mask)
{
    if (!mask->data)
        return ccl_fail(CCL_ERROR_ARGUMENT, "the mask has no data");
    if (mask->pixel_size > 2)
        return ccl_fail(CCL_ERROR_ARGUMENT, "mask pixels have 1 or 2 bytes, not %u", mask->pixel_size);
    if (mask->width < 1 || mask->height < 1 || mask->width > config->max_width || mask->height > config->max_height)
        return ccl_fail(CCL_ERROR_ARGUMENT, "mask %ux%u does not fit a context for 1x1 to %ux%u", mask->width,
                        mask->height, config->max_width, config->max_height);
    if (mask->stride < (size_t)mask->width * (mask->pixel_size == 2 ? 2 : 1))
        return ccl_fail(CCL_ERROR_ARGUMENT, "mask stride %zu is shorter than a row of %u pixels", mask->stride,
                        mask->width);
    if (config->foreground == CCL_FOREGROUND_EQUAL && (mask->threshold || mask->invert))
        return ccl_fail(CCL_ERROR_ARGUMENT, "a label map has no threshold and is not inverted");
    return ccl_check_memory(config->backend, mask->memory, "mask");
}

CclStatus ccl_check_picture(const CclConfig *config, const CclMask *mask)
{
    const CclPicture *const p = mask->picture;
    if (!p || !p->luma || p->sample_size > 2)
        return ccl_fail(CCL_ERROR_ARGUMENT, p ? "the picture has no luma of 1 or 2 bytes" : "there is no picture to measure");
    const size_t size = p->sample_size == 2 ? 2 : 1;
    if (p->stride < mask->width * size)
        return ccl_fail(CCL_ERROR_ARGUMENT, "picture stride %zu is shorter than a row of %u pixels", p->stride, mask->width);
    CCL_TRY(ccl_check_memory(config->backend, p->memory, "picture"));
    if (!p->chroma[0] && !p->chroma[1])
        return CCL_OK;
    if (!p->chroma[0] || !p->chroma[1] || p->chroma_step < 1 || p->chroma_step > 2 || p->shift_x > 2 || p->shift_y > 2)
        return ccl_fail(CCL_ERROR_ARGUMENT, "the chroma of the picture has a step of %u and shifts of %u and %u", p->chroma_step,
                        p->shift_x, p->shift_y);
    const size_t n_samples = (mask->width + (1u << p->shift_x) - 1) >> p->shift_x;
    if (p->chroma_stride < ((n_samples - 1) * p->chroma_step + 1) * size)
        return ccl_fail(CCL_ERROR_ARGUMENT, "chroma stride %zu is shorter than a row of %zu samples", p->chroma_stride,
                        n_samples);
    return CCL_OK;
}

CclStatus ccl_check_labels(const CclConfig *config, const CclMask *mask, const CclLabels *labels)
{
    if (!labels->data || (uintptr_t)labels->data % 4)
        return ccl_fail(CCL_ERROR_ARGUMENT, "the label image has no data, or its address %p is not a multiple of 4",
                        (void *)labels->data);
    if (labels->stride % 4 || labels->stride < (size_t)mask->width * 4)
        return ccl_fail(CCL_ERROR_ARGUMENT, "label image stride %zu is not a multiple of 4 of at least %u", labels->stride,
                        mask->width * 4);
    if (labels->stride / 4 > UINT32_MAX / mask->height)
        return ccl_fail(CCL_ERROR_ARGUMENT, "%u rows of a label image with stride %zu are more than 2^32 pixels",
                        mask->height, labels->stride);
    return ccl_check_memory(config->backend, labels->memory, "label image");
}

static CclStatus check_volume(const CclConfig *config)
{
    const uint32_t pixels = config->max_width * config->max_height;
    const uint64_t voxels = (uint64_t)pixels * config->volume;

    if (config->volume > CCL_MAX_FRAMES)
        return ccl_fail(CCL_ERROR_ARGUMENT, "a volume has 1 to %u frames, not %u", CCL_MAX_FRAMES, config->volume);
    if (voxels > CCL_MAX_VOXELS)
        return ccl_fail(CCL_ERROR_ARGUMENT,
                        "a volume of %u masks of %ux%u has more than %u voxels; at most %u masks fit", config->volume,
                        config->max_width, config->max_height, CCL_MAX_VOXELS, CCL_MAX_VOXELS / pixels);
    if (config->order != CCL_ORDER_RASTER)
        return ccl_fail(CCL_ERROR_ARGUMENT, "the table of a volume is in raster order only");
    return CCL_OK;
}

CclStatus ccl_check_config(const CclConfig *config)
{
    if (config->backend != CCL_BACKEND_CPU && config->backend != CCL_BACKEND_CUDA)
        return ccl_fail(CCL_ERROR_ARGUMENT, "backend %d does not exist", (int)config->backend);
    CCL_TRY(ccl_check_connectivity(config->connectivity));
    if (config->foreground != CCL_FOREGROUND_THRESHOLD && config->foreground != CCL_FOREGROUND_EQUAL)
        return ccl_fail(CCL_ERROR_ARGUMENT, "foreground %d does not exist", (int)config->foreground);
    if (config->background_value > UINT16_MAX)
        return ccl_fail(CCL_ERROR_ARGUMENT, "background value %u is more than %u", config->background_value, UINT16_MAX);
    if (config->max_width < 1 || config->max_width > CCL_MAX_SIZE || config->max_height < 1 ||
        config->max_height > CCL_MAX_SIZE)
        return ccl_fail(CCL_ERROR_ARGUMENT, "largest mask %ux%u is outside 1x1 to %ux%u", config->max_width,
                        config->max_height, CCL_MAX_SIZE, CCL_MAX_SIZE);
    if (config->max_components < 1 || config->max_components > CCL_MAX_COMPONENTS)
        return ccl_fail(CCL_ERROR_ARGUMENT, "max_components %u is outside 1 to %u", config->max_components,
                        CCL_MAX_COMPONENTS);
    if (config->depth < 1 || config->depth > CCL_MAX_DEPTH)
        return ccl_fail(CCL_ERROR_ARGUMENT, "depth %u is outside 1 to %u", config->depth, CCL_MAX_DEPTH);
    return config->volume ? check_volume(config) : CCL_OK;
}

/* ---------------------------------------------------------------- numbers of components */

uint32_t ccl_max_components(uint32_t width, uint32_t height, CclConnectivity connectivity)
{
    if (connectivity == CCL_CONNECT_4)
        return (uint32_t)(((uint64_t)width * height + 1) / 2);
    return ((width + 1) / 2) * ((height + 1) / 2);
}

uint32_t ccl_max_components_of(const CclConfig *config, uint32_t width, uint32_t height)
{
    return config->foreground == CCL_FOREGROUND_EQUAL ? width * height : ccl_max_components(width, height, config->connectivity);
}

/* Two components never have voxels in the same 2x2x2 block, or 6-connected in the same pair of voxels. */
uint32_t ccl_max_volume_components(const CclConfig *config)
{
    const uint32_t width = config->max_width, height = config->max_height;
    if (config->foreground == CCL_FOREGROUND_EQUAL)
        return width * height * config->volume;
    if (config->connectivity == CCL_CONNECT_4)
        return (width * height * config->volume + 1) / 2;
    return ((width + 1) / 2) * ((height + 1) / 2) * ((config->volume + 1) / 2);
}

/* ---------------------------------------------------------------- filters */

/* Tolerance of a relative area: 0.07 is not a double, and the product with the mask's area is rounded. */
#define RELATIVE_TOLERANCE (4 * DBL_EPSILON)

CclLimits ccl_absolute_limits(const CclFilter *filter, const CclMask *mask)
{
    static const CclFilter keep_all;
    const CclFilter *const f = filter ? filter : &keep_all;
    const double pixels = (double)mask->width * mask->height;
    CclLimits limits = { .max_area = UINT32_MAX, .max_width = UINT32_MAX, .max_height = UINT32_MAX };

    const double min_area = fmax((double)f->min_area, ceil(f->min_relative_area * pixels * (1 - RELATIVE_TOLERANCE)));
    double max_area = f->max_area ? (double)f->max_area : UINT32_MAX;
    if (f->max_relative_area > 0)
        max_area = fmin(max_area, floor(f->max_relative_area * pixels * (1 + RELATIVE_TOLERANCE)));
    limits.min_area = min_area < UINT32_MAX ? (uint32_t)min_area : UINT32_MAX;
    limits.max_area = max_area < UINT32_MAX ? (uint32_t)max_area : UINT32_MAX;
    limits.min_width = f->min_width;
    limits.min_height = f->min_height;
    if (f->max_width)
        limits.max_width = f->max_width;
    if (f->max_height)
        limits.max_height = f->max_height;
    limits.border = f->border;
    return limits;
}

bool ccl_keeps_all(const CclLimits *limits)
{
    return limits->min_area <= 1 && limits->max_area >= CCL_MAX_SIZE * CCL_MAX_SIZE && limits->min_width <= 1 &&
           limits->max_width >= CCL_MAX_SIZE && limits->min_height <= 1 && limits->max_height >= CCL_MAX_SIZE &&
           limits->border != CCL_BORDER_DROP;
}
