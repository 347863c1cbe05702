/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Volumes: a stack of masks, from the first mask to the look-up, the same for every backend. */
#include "context.h"

static CclStatus check_volume_context(const CclContext *context)
{
    CCL_TRY(ccl_check_usable(context));
    if (!context->config.volume)
        return ccl_fail(CCL_ERROR_ARGUMENT, "the context is one for single masks; CclConfig.volume was 0");
    return CCL_OK;
}

CclStatus ccl_volume_add(CclContext *context, const CclMask *mask)
{
    CclVolume *const volume = &context->volume;

    CCL_TRY(check_volume_context(context));
    CCL_TRY(ccl_check_mask(&context->config, mask));
    const uint32_t n_stacked = volume->labelled ? 0 : volume->n_frames;
    if (n_stacked && (mask->width != volume->width || mask->height != volume->height))
        return ccl_fail(CCL_ERROR_ARGUMENT, "the volume has masks of %ux%u; one of %ux%u does not fit", volume->width,
                        volume->height, mask->width, mask->height);
    if (n_stacked == context->config.volume)
        return ccl_fail(CCL_ERROR_ARGUMENT, "the volume has its %u masks already; label it first", n_stacked);

    CclMask complete = *mask;
    if (!complete.pixel_size)
        complete.pixel_size = 1;
    volume->width = mask->width;
    volume->height = mask->height;
    volume->n_frames = n_stacked;
    volume->labelled = false;
    const CclStatus status = context->backend->volume_add(context, &complete);
    context->lost = status != CCL_OK;
    volume->n_frames += status == CCL_OK;
    return status;
}

void ccl_volume_clear(CclContext *context)
{
    context->volume.n_frames = 0;
    context->volume.labelled = false;
}

static CclStatus check_images(const CclContext *context, const CclLabels *labels)
{
    const CclVolume *const volume = &context->volume;
    const CclMask size = { .width = volume->width, .height = volume->height };

    for (uint32_t i = 0; labels && i < volume->n_frames; i++) {
        CCL_TRY(ccl_check_labels(&context->config, &size, &labels[i]));
        if (labels[i].provisional)
            return ccl_fail(CCL_ERROR_ARGUMENT, "a volume has no provisional labels");
    }
    return CCL_OK;
}

CclStatus ccl_volume_label(CclContext *context, const CclLabels *labels, CclVolumeTable *table)
{
    CclVolume *const volume = &context->volume;

    CCL_TRY(check_volume_context(context));
    if (!volume->n_frames || volume->labelled)
        return ccl_fail(CCL_ERROR_ARGUMENT, "no mask is stacked");
    CCL_TRY(check_images(context, labels));

    volume->kernel_us = -1;
    const CclStatus status = context->backend->volume_label(context, labels);
    context->lost = status != CCL_OK;
    CCL_TRY(status);
    volume->labelled = true;
    const uint32_t max = context->config.max_components, n = volume->n_found < max ? volume->n_found : max;
    *table = (CclVolumeTable){
        .components = volume->records,
        .class_ids = volume->class_ids,
        .n_components = n,
        .n_found = volume->n_found,
        .flags = volume->n_found > n ? CCL_TABLE_TRUNCATED : 0,
        .width = volume->width,
        .height = volume->height,
        .n_frames = volume->n_frames,
        .kernel_us = volume->kernel_us,
    };
    return CCL_OK;
}

CclStatus ccl_volume_look_up(CclContext *context, const CclVoxel *voxels, uint32_t n, uint32_t *labels)
{
    const CclVolume *const volume = &context->volume;

    CCL_TRY(check_volume_context(context));
    if (!volume->labelled)
        return ccl_fail(CCL_ERROR_ARGUMENT, "no volume is labelled");
    for (uint32_t i = 0; i < n; i++)
        if (voxels[i].x >= volume->width || voxels[i].y >= volume->height || voxels[i].frame >= volume->n_frames)
            return ccl_fail(CCL_ERROR_ARGUMENT, "voxel (%u,%u) of frame %u is outside a volume of %u frames of %ux%u",
                            voxels[i].x, voxels[i].y, voxels[i].frame, volume->n_frames, volume->width, volume->height);
    const CclStatus status = context->backend->volume_look_up(context, voxels, n, labels);
    context->lost = status != CCL_OK;
    return status;
}
