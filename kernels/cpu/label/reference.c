/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The reference for all other methods: breadth-first flood fill, pixel by pixel. Sums are added pixel by pixel too.
 *
 * A component is found at its first pixel in raster order, so the order of finding is the raster numbering. It is deliberately
 * slow and simple. It shares only the rules of filters with the methods that it checks.
 */
#include "algorithms.h"
#include "analysis/selection.h"
#include "cpu/context.h"
#include "reference_holes.h"
#include "reference_hull.h"
#include "reference_intensity.h"

#include <string.h>

typedef struct Fill {
    const CclMask *mask;
    const CclConfig *config;
    unsigned value;  /* in a label map: of the component being filled */
    uint8_t *seen;   /* one byte per pixel */
    uint32_t *queue; /* pixel indices of the component being filled; at most all pixels */
    uint32_t n;
    CclReferenceColumn *columns; /* one per pixel of a row, and one more */
    CclReferenceHoles holes;     /* with CCL_FEATURE_HOLES */
} Fill;

/* Whether the pixel can be part of the component being filled. */
static bool belongs(const Fill *fill, uint32_t x, uint32_t y)
{
    if (fill->config->foreground == CCL_FOREGROUND_THRESHOLD)
        return is_foreground(fill->mask, x, y);
    return fill->value != fill->config->background_value && pixel_value(fill->mask, x, y) == fill->value;
}

static void visit(Fill *fill, int64_t x, int64_t y)
{
    const CclMask *const mask = fill->mask;
    if (x < 0 || y < 0 || x >= mask->width || y >= mask->height)
        return;
    const uint32_t pixel = (uint32_t)(y * mask->width + x);
    if (fill->seen[pixel] || !belongs(fill, (uint32_t)x, (uint32_t)y))
        return;
    fill->seen[pixel] = 1;
    fill->queue[fill->n++] = pixel;
}

static void flood(Fill *fill, uint32_t x, uint32_t y)
{
    fill->n = 0;
    fill->value = pixel_value(fill->mask, x, y);
    visit(fill, x, y);
    for (uint32_t i = 0; i < fill->n; i++) {
        const int64_t px = fill->queue[i] % fill->mask->width, py = fill->queue[i] / fill->mask->width;
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++)
                if (fill->config->connectivity == CCL_CONNECT_8 || !dx || !dy)
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

/* Pixels of the component being measured are marked in `seen`. */
enum { SEEN = 1, OWN = 2 };

static bool is_own(const Fill *fill, int64_t x, int64_t y)
{
    const CclMask *const mask = fill->mask;
    return x >= 0 && y >= 0 && x < mask->width && y < mask->height && fill->seen[y * mask->width + x] == OWN;
}

/* The part that pixel (x, y) has of four times the Euler number, by Gray's patterns of 2x2 pixels: 1 for each pattern of one
 * pixel, -1 for three, and for two on a diagonal -2 if they touch (8-connected), else 2. The first own pixel of a pattern, in
 * raster order, counts it. */
static int32_t euler_part(const Fill *fill, int64_t x, int64_t y)
{
    int32_t part = 0;
    for (int64_t top = y - 1; top <= y; top++)
        for (int64_t left = x - 1; left <= x; left++) {
            const bool own[4] = { is_own(fill, left, top), is_own(fill, left + 1, top), is_own(fill, left, top + 1),
                                  is_own(fill, left + 1, top + 1) };
            const int64_t place = 2 * (y - top) + (x - left), n = own[0] + own[1] + own[2] + own[3];
            bool is_first = true;
            for (int64_t i = 0; i < place; i++)
                is_first &= !own[i];
            if (!is_first)
                continue;
            if (n == 2 && own[0] == own[3])
                part += fill->config->connectivity == CCL_CONNECT_8 ? -2 : 2;
            else
                part += n == 1 ? 1 : n == 3 ? -1 : 0;
        }
    return part;
}

static CclShapeCounts count_shape(const Fill *fill)
{
    const uint32_t width = fill->mask->width;
    CclShapeCounts counts = { 0, 0, 0, 0 };
    int32_t euler = 0;

    for (uint32_t i = 0; i < fill->n; i++)
        fill->seen[fill->queue[i]] = OWN;
    for (uint32_t i = 0; i < fill->n; i++) {
        const int64_t x = fill->queue[i] % width, y = fill->queue[i] / width;
        euler += euler_part(fill, x, y);
        counts.runs += !is_own(fill, x - 1, y);
        counts.tops += !is_own(fill, x, y - 1);
        counts.diagonals += !is_own(fill, x - 1, y - 1) + !is_own(fill, x + 1, y - 1);
    }
    for (uint32_t i = 0; i < fill->n; i++)
        fill->seen[fill->queue[i]] = SEEN;
    counts.euler = euler / 4;
    return counts;
}

static void paint(const Fill *fill, const CclLabels *labels, uint32_t label)
{
    for (uint32_t i = 0; i < fill->n; i++)
        labels_row(labels, fill->queue[i] / fill->mask->width)[fill->queue[i] % fill->mask->width] = label;
}

/* What the features add to a component. */
typedef struct Counts {
    CclShapeCounts shape;
    CclHullCounts hull;
    CclHoleCounts holes;
    CclIntensityCounts intensity;
    uint16_t class_id;
} Counts;

static Counts count(const CclFrame *frame, const Fill *fill, const CclComponent *c)
{
    const uint32_t width = fill->mask->width, number = frame->table.n_found;
    Counts counts = { .class_id = (uint16_t)fill->value };
    if (frame->shape)
        counts.shape = count_shape(fill);
    if (frame->hull)
        counts.hull = ccl_reference_hull(fill->columns, fill->queue, fill->n, width);
    if (frame->intensity)
        counts.intensity = ccl_reference_intensity(fill->mask->picture, fill->queue, fill->n, width);
    for (uint32_t i = 0; frame->holes && i < fill->n; i++)
        fill->holes.component[fill->queue[i]] = number;
    if (frame->holes)
        counts.holes = ccl_reference_count_holes(&fill->holes, c, number, width);
    return counts;
}

static bool is_selected(const CclFrame *frame, const CclComponent *component, const Counts *counts)
{
    CclMeasuring measuring = { .width = frame->mask.width, .height = frame->mask.height };
    ccl_measure_next(&measuring, component, &counts->shape, &counts->hull, &counts->holes, &counts->intensity);
    measuring.class_id = frame->class_ids ? &counts->class_id : NULL;
    return !frame->selection || ccl_selection_keeps(frame->selection, &measuring);
}

static void write_record(CclFrame *frame, const CclComponent *c, const Counts *counts)
{
    frame->records[c->label - 1] = *c;
    if (frame->shape)
        frame->shape[c->label - 1] = counts->shape;
    if (frame->hull)
        frame->hull[c->label - 1] = counts->hull;
    if (frame->holes)
        frame->holes[c->label - 1] = counts->holes;
    if (frame->intensity)
        frame->intensity[c->label - 1] = counts->intensity;
    if (frame->class_ids)
        frame->class_ids[c->label - 1] = counts->class_id;
}

static void finish_component(CclFrame *frame, const Fill *fill, uint32_t capacity)
{
    CclTable *const table = &frame->table;

    table->n_found++;
    CclComponent c = measure(fill);
    const Counts counts = count(frame, fill, &c);
    const uint16_t touches = ccl_border_flags(c.x0, c.y0, c.x1, c.y1, frame->mask.width, frame->mask.height);
    if (frame->holes)
        fill->holes.label[table->n_found] = 0;
    if (!ccl_keeps(&frame->limits, c.moments.area, c.x1 - c.x0, c.y1 - c.y0, touches) || !is_selected(frame, &c, &counts))
        return;
    c.flags = frame->limits.border == CCL_BORDER_KEEP ? 0 : touches;
    c.label = ++table->n_kept;
    if (frame->holes)
        fill->holes.label[table->n_found] = c.label;
    if (c.label <= capacity)
        write_record(frame, &c, &counts);
    if (frame->labels.data)
        paint(fill, &frame->labels, c.label);
}

static CclStatus analyze(CclContext *context, CclFrame *frame)
{
    const CclMask *const mask = &frame->mask;
    const size_t max_pixels = (size_t)context->config.max_width * context->config.max_height;
    Fill fill = { .mask = mask, .config = &context->config, .queue = cpu_workspace(context) };
    fill.columns = (CclReferenceColumn *)(fill.queue + max_pixels);
    fill.seen = (uint8_t *)(fill.columns + context->config.max_width + 1);

    if (frame->holes) {
        fill.holes = ccl_reference_holes_new(&context->config, cpu_method(context));
        memset(fill.holes.component, 0, (size_t)mask->width * mask->height * sizeof(uint32_t));
    }

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
    if (frame->holes && !frame->labels.provisional)
        ccl_reference_write_holes(&fill.holes, frame, context->capacity);
    return CCL_OK;
}

static CclStatus open(CclContext *context)
{
    void *memory;
    if (!(context->config.features & CCL_FEATURE_HOLES))
        return CCL_OK;
    CCL_TRY(ccl_cpu_memory(context, ccl_reference_holes_size(&context->config), &memory));
    cpu_set_method(context, memory);
    return CCL_OK;
}

static size_t workspace_size(const CclContext *context)
{
    const size_t width = context->config.max_width;
    return width * context->config.max_height * (sizeof(uint32_t) + 1) + (width + 1) * sizeof(CclReferenceColumn);
}

const CclAlgorithm ccl_cpu_reference = {
    .info = { .name = "reference", .title = "Breadth-first flood fill", .backend = CCL_BACKEND_CPU,
              .connectivity = CCL_CONNECT_4 | CCL_CONNECT_8 },
    .unit = "pixel",
    .first_pixel_roots = true,
    .open = open,
    .features_counted = CCL_FEATURE_SHAPE | CCL_FEATURE_HULL | CCL_FEATURE_HOLES | CCL_FEATURE_INTENSITY,
    .takes_maps = true,
    .map_features = CCL_FEATURE_SHAPE | CCL_FEATURE_HULL | CCL_FEATURE_HOLES | CCL_FEATURE_INTENSITY,
    .workspace_size = workspace_size,
    .analyze = analyze,
};
