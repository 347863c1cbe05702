/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The reference for all other methods: breadth-first flood fill, pixel by pixel. Sums are added pixel by pixel too.
 *
 * A component is found at its first pixel in raster order, so the order of finding is the raster numbering. It is deliberately
 * slow and simple. It shares only the filter rule with the methods that it checks.
 */
#include "algorithms.h"
#include "cpu/context.h"

#include <string.h>

typedef struct Fill {
    const CclMask *mask;
    CclConnectivity connectivity;
    uint8_t *seen;   /* one byte per pixel */
    uint32_t *queue; /* pixel indices of the component being filled; at most all pixels */
    uint32_t n;
} Fill;

static void visit(Fill *fill, int64_t x, int64_t y)
{
    const CclMask *const mask = fill->mask;
    if (x < 0 || y < 0 || x >= mask->width || y >= mask->height)
        return;
    const uint32_t pixel = (uint32_t)(y * mask->width + x);
    if (fill->seen[pixel] || !is_foreground(mask, (uint32_t)x, (uint32_t)y))
        return;
    fill->seen[pixel] = 1;
    fill->queue[fill->n++] = pixel;
}

static void flood(Fill *fill, uint32_t x, uint32_t y)
{
    fill->n = 0;
    visit(fill, x, y);
    for (uint32_t i = 0; i < fill->n; i++) {
        const int64_t px = fill->queue[i] % fill->mask->width, py = fill->queue[i] / fill->mask->width;
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++)
                if (fill->connectivity == CCL_CONNECT_8 || !dx || !dy)
                    visit(fill, px + dx, py + dy);
    }
}

static CclComponent measure(const Fill *fill)
{
    const uint32_t width = fill->mask->width;
    CclComponent c = { .x0 = UINT16_MAX, .y0 = UINT16_MAX, .first_x = (uint16_t)(fill->queue[0] % width) };

    for (uint32_t i = 0; i < fill->n; i++) {
        const uint64_t x = fill->queue[i] % width, y = fill->queue[i] / width;
        c.moments.area++;
        c.moments.m10 += x;
        c.moments.m01 += y;
        c.moments.m20 += x * x;
        c.moments.m11 += x * y;
        c.moments.m02 += y * y;
        c.x0 = x < c.x0 ? (uint16_t)x : c.x0;
        c.y0 = y < c.y0 ? (uint16_t)y : c.y0;
        c.x1 = x >= c.x1 ? (uint16_t)(x + 1) : c.x1;
        c.y1 = y >= c.y1 ? (uint16_t)(y + 1) : c.y1;
    }
    return c;
}

static void paint(const Fill *fill, const CclLabels *labels, uint32_t label)
{
    for (uint32_t i = 0; i < fill->n; i++)
        labels_row(labels, fill->queue[i] / fill->mask->width)[fill->queue[i] % fill->mask->width] = label;
}

static void finish_component(CclFrame *frame, const Fill *fill, uint32_t capacity)
{
    CclTable *const table = &frame->table;

    table->n_found++;
    CclComponent c = measure(fill);
    const uint16_t touches = ccl_border_flags(c.x0, c.y0, c.x1, c.y1, frame->mask.width, frame->mask.height);
    if (!ccl_keeps(&frame->limits, c.moments.area, c.x1 - c.x0, c.y1 - c.y0, touches))
        return;
    c.flags = frame->limits.border == CCL_BORDER_KEEP ? 0 : touches;
    c.label = ++table->n_kept;
    if (c.label <= capacity)
        frame->rows[c.label - 1] = c;
    if (frame->labels.data)
        paint(fill, &frame->labels, c.label);
}

static CclStatus analyze(CclContext *context, CclFrame *frame)
{
    const CclMask *const mask = &frame->mask;
    const size_t max_pixels = (size_t)context->config.max_width * context->config.max_height;
    Fill fill = { .mask = mask, .connectivity = context->config.connectivity, .queue = cpu_workspace(context) };
    fill.seen = (uint8_t *)(fill.queue + max_pixels);

    memset(fill.seen, 0, (size_t)mask->width * mask->height);
    if (frame->labels.data)
        for (uint32_t y = 0; y < mask->height; y++)
            memset(labels_row(&frame->labels, y), 0, (size_t)mask->width * 4);

    for (uint32_t y = 0; y < mask->height; y++)
        for (uint32_t x = 0; x < mask->width; x++) {
            flood(&fill, x, y);
            if (!fill.n)
                continue;
            if (frame->labels.provisional)
                paint(&fill, &frame->labels, 1 + fill.queue[0]);
            else
                finish_component(frame, &fill, context->capacity);
        }
    return CCL_OK;
}

static size_t workspace_size(const CclContext *context)
{
    return (size_t)context->config.max_width * context->config.max_height * (sizeof(uint32_t) + 1);
}

const CclAlgorithm ccl_cpu_reference = {
    .info = { .name = "reference", .title = "Breadth-first flood fill", .backend = CCL_BACKEND_CPU,
              .connectivity = CCL_CONNECT_4 | CCL_CONNECT_8 },
    .unit = "pixel",
    .first_pixel_roots = true,
    .workspace_size = workspace_size,
    .analyze = analyze,
};
