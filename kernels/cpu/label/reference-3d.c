/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The reference for all other methods for volumes: breadth-first flood fill, voxel by voxel.
 *
 * A component is found at its first voxel in raster order, so the order of finding is the raster numbering. It is deliberately
 * slow and simple, and shares no code with the methods that it checks.
 */
#include "algorithms.h"
#include "cpu/context.h"

#include <string.h>

/* Voxel (x, y) of frame t has index (t * height + y) * width + x. */
typedef struct Fill {
    uint32_t *label; /* 1..n; UNSEEN: foreground not reached yet; 0: background */
    uint32_t *queue; /* of the component being filled */
    uint16_t *value; /* of label maps; else all 0 */
    uint32_t n;
} Fill;

#define UNSEEN UINT32_MAX

static Fill fill_of(const CclContext *context)
{
    const CclConfig *const config = &context->config;
    const size_t n_voxels = (size_t)config->max_width * config->max_height * config->volume;
    uint32_t *const memory = cpu_workspace(context);
    return (Fill){ .label = memory, .queue = memory + n_voxels, .value = (uint16_t *)(memory + 2 * n_voxels) };
}

static CclStatus volume_add(CclContext *context, const CclMask *mask)
{
    const CclConfig *const config = &context->config;
    const Fill fill = fill_of(context);
    size_t voxel = (size_t)context->volume.n_frames * mask->width * mask->height;
    for (uint32_t y = 0; y < mask->height; y++)
        for (uint32_t x = 0; x < mask->width; x++, voxel++) {
            const unsigned value = pixel_value(mask, x, y);
            const bool is_map = config->foreground == CCL_FOREGROUND_EQUAL;
            fill.label[voxel] = (is_map ? value != config->background_value : is_foreground(mask, x, y)) ? UNSEEN : 0;
            fill.value[voxel] = is_map ? (uint16_t)value : 0;
        }
    return CCL_OK;
}

static void visit(const CclVolume *volume, Fill *fill, int64_t x, int64_t y, int64_t t, uint32_t label)
{
    if (x < 0 || y < 0 || t < 0 || x >= volume->width || y >= volume->height || t >= volume->n_frames)
        return;
    const uint32_t voxel = (uint32_t)((t * volume->height + y) * volume->width + x);
    if (fill->label[voxel] != UNSEEN || fill->value[voxel] != fill->value[fill->queue[0]])
        return;
    fill->label[voxel] = label;
    fill->queue[fill->n++] = voxel;
}

static void flood(const CclVolume *volume, Fill *fill, bool all_26, uint32_t first, uint32_t label)
{
    fill->n = 1;
    fill->queue[0] = first;
    fill->label[first] = label;
    for (uint32_t i = 0; i < fill->n; i++) {
        const int64_t x = fill->queue[i] % volume->width, row = fill->queue[i] / volume->width;
        const int64_t y = row % volume->height, t = row / volume->height;
        for (int dt = -1; dt <= 1; dt++)
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++)
                    if (all_26 || !!dt + !!dy + !!dx == 1)
                        visit(volume, fill, x + dx, y + dy, t + dt, label);
    }
}

static CclVolumeComponent measure(const CclVolume *volume, const Fill *fill, uint32_t label)
{
    CclVolumeComponent c = { .voxels = fill->n, .label = label, .x0 = UINT16_MAX, .y0 = UINT16_MAX,
                             .frame0 = UINT16_MAX };
    for (uint32_t i = 0; i < fill->n; i++) {
        const uint32_t x = fill->queue[i] % volume->width, row = fill->queue[i] / volume->width;
        const uint32_t y = row % volume->height, t = row / volume->height;
        c.first_x = i ? c.first_x : (uint16_t)x;
        c.first_y = i ? c.first_y : (uint16_t)y;
        c.x0 = x < c.x0 ? (uint16_t)x : c.x0;
        c.y0 = y < c.y0 ? (uint16_t)y : c.y0;
        c.frame0 = t < c.frame0 ? (uint16_t)t : c.frame0;
        c.x1 = x >= c.x1 ? (uint16_t)(x + 1) : c.x1;
        c.y1 = y >= c.y1 ? (uint16_t)(y + 1) : c.y1;
        c.frame1 = t >= c.frame1 ? (uint16_t)(t + 1) : c.frame1;
    }
    c.flags = ccl_border_flags(c.x0, c.y0, c.x1, c.y1, volume->width, volume->height);
    return c;
}

static void paint(const CclVolume *volume, const Fill *fill, const CclLabels *labels)
{
    const uint32_t *from = fill->label;
    for (uint32_t t = 0; t < volume->n_frames; t++)
        for (uint32_t y = 0; y < volume->height; y++, from += volume->width)
            memcpy(labels_row(&labels[t], y), from, volume->width * sizeof *from);
}

static CclStatus volume_label(CclContext *context, const CclLabels *labels)
{
    CclVolume *const volume = &context->volume;
    const uint32_t n_voxels = volume->width * volume->height * volume->n_frames;
    Fill fill = fill_of(context);

    volume->n_found = 0;
    for (uint32_t i = 0; i < n_voxels; i++) {
        if (fill.label[i] != UNSEEN)
            continue;
        const uint32_t label = ++volume->n_found;
        flood(volume, &fill, context->config.connectivity == CCL_CONNECT_8, i, label);
        if (label <= context->capacity)
            volume->records[label - 1] = measure(volume, &fill, label);
        if (label <= context->capacity && volume->class_ids)
            volume->class_ids[label - 1] = fill.value[i];
    }
    if (labels)
        paint(volume, &fill, labels);
    return CCL_OK;
}

static CclStatus volume_look_up(CclContext *context, const CclVoxel *voxels, uint32_t n, uint32_t *labels)
{
    const CclVolume *const volume = &context->volume;
    const uint32_t *const label = fill_of(context).label;
    for (uint32_t i = 0; i < n; i++)
        labels[i] = label[((size_t)voxels[i].frame * volume->height + voxels[i].y) * volume->width + voxels[i].x];
    return CCL_OK;
}

static CclStatus open_reference(CclContext *context)
{
    return ccl_cpu_memory(context, context->capacity * sizeof(CclVolumeComponent), (void **)&context->volume.records);
}

static size_t workspace_size(const CclContext *context)
{
    const CclConfig *const config = &context->config;
    return (size_t)config->max_width * config->max_height * config->volume * (2 * sizeof(uint32_t) + sizeof(uint16_t));
}

const CclAlgorithm ccl_cpu_reference_3d = {
    .info = { .name = "reference-3d", .title = "Breadth-first flood fill of volumes", .backend = CCL_BACKEND_CPU,
              .connectivity = CCL_CONNECT_4 | CCL_CONNECT_8, .volume = true },
    .unit = "voxel",
    .takes_maps = true,
    .open = open_reference,
    .workspace_size = workspace_size,
    .volume_add = volume_add,
    .volume_label = volume_label,
    .volume_look_up = volume_look_up,
};
