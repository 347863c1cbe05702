/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Runs: each row is cut into maximal horizontal runs, runs that touch a run of the row above are united, and every sum of
 * a component comes from closed forms over its runs. Pixels are looked at once.
 *
 *   extract   row -> runs [x0, x1)
 *   link      two pointers walk the rows y-1 and y; touching runs are united, the smaller index becomes the root
 *   number    roots in run order are in raster order of first pixels
 *   measure   run -> sums of its component
 *   paint     run -> label image
 */
#include "../../algorithms.h"
#include "../backend.h"

#include <string.h>

typedef struct Run {
    uint16_t x0, x1; /* half open */
    uint16_t y;
} Run;

typedef struct Runs {
    Run *run;         /* in raster order */
    uint32_t *parent; /* union-find over runs; a root is its own parent and the smallest index of its component */
    CclComponent *component; /* at most one per run */
    uint32_t n, n_components;
} Runs;

static bool is_foreground(const CclMask *mask, const uint8_t *row, uint32_t x)
{
    unsigned value = row[x];
    if (mask->pixel_size == 2) {
        uint16_t wide;
        memcpy(&wide, row + 2 * (size_t)x, 2);
        value = wide;
    }
    return (value > mask->threshold) != mask->invert;
}

static void extract(Runs *runs, const CclMask *mask, uint32_t y)
{
    const uint8_t *const row = mask_row(mask, y);
    uint32_t x = 0;
    while (x < mask->width) {
        while (x < mask->width && !is_foreground(mask, row, x))
            x++;
        if (x == mask->width)
            return;
        const uint32_t x0 = x;
        while (x < mask->width && is_foreground(mask, row, x))
            x++;
        runs->parent[runs->n] = runs->n;
        runs->run[runs->n++] = (Run){ .x0 = (uint16_t)x0, .x1 = (uint16_t)x, .y = (uint16_t)y };
    }
}

static uint32_t find(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

static void unite(uint32_t *parent, uint32_t a, uint32_t b)
{
    a = find(parent, a), b = find(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

/* Runs [above, here) are row y-1, [here, n) are row y. With 8-connectivity runs touch across a corner too: `reach` 1. */
static void link_rows(Runs *runs, uint32_t above, uint32_t here, uint32_t reach)
{
    uint32_t a = above, b = here;
    while (a < here && b < runs->n) {
        const Run p = runs->run[a], q = runs->run[b];
        if (p.x0 < q.x1 + reach && q.x0 < p.x1 + reach)
            unite(runs->parent, a, b);
        if (p.x1 < q.x1)
            a++;
        else
            b++;
    }
}

static void add_run(CclComponent *c, const Run *r)
{
    const uint64_t n = r->x1 - r->x0, y = r->y, a = r->x0, b = r->x1;
    const uint64_t sum_x = n * (a + b - 1) / 2;
    const uint64_t sum_xx = (b * (b - 1) * (2 * b - 1) - (a ? a * (a - 1) * (2 * a - 1) : 0)) / 6;

    c->moments.area += n;
    c->moments.m10 += sum_x;
    c->moments.m01 += n * y;
    c->moments.m20 += sum_xx;
    c->moments.m11 += y * sum_x;
    c->moments.m02 += n * y * y;
    c->x0 = r->x0 < c->x0 ? r->x0 : c->x0;
    c->x1 = r->x1 > c->x1 ? r->x1 : c->x1;
    c->y1 = (uint16_t)(r->y + 1);
}

/* Turns parent[] into component indices: smaller indices come first, so a run's parent is already one. */
static void measure(Runs *runs)
{
    runs->n_components = 0;
    for (uint32_t i = 0; i < runs->n; i++) {
        const Run *const r = &runs->run[i];
        if (runs->parent[i] == i) {
            runs->parent[i] = runs->n_components;
            runs->component[runs->n_components++] =
                (CclComponent){ .x0 = r->x0, .y0 = r->y, .first_x = r->x0 };
        } else {
            runs->parent[i] = runs->parent[runs->parent[i]];
        }
        add_run(&runs->component[runs->parent[i]], r);
    }
}

/* Numbers what the filter keeps; a component's label becomes 0 when it is dropped. */
static void keep(Runs *runs, CclFrame *frame, uint32_t capacity)
{
    CclTable *const table = &frame->table;
    table->n_found = runs->n_components;
    for (uint32_t i = 0; i < runs->n_components; i++) {
        CclComponent *const c = &runs->component[i];
        const uint16_t touches = ccl_border_flags(c->x0, c->y0, c->x1, c->y1, frame->mask.width, frame->mask.height);
        if (!ccl_keeps(&frame->limits, c->moments.area, c->x1 - c->x0, c->y1 - c->y0, touches))
            continue;
        c->flags = frame->limits.border == CCL_BORDER_KEEP ? 0 : touches;
        c->label = ++table->n_kept;
        if (c->label <= capacity)
            frame->rows[c->label - 1] = *c;
    }
}

static void paint(const Runs *runs, const CclFrame *frame)
{
    const CclLabels *const labels = &frame->labels;
    for (uint32_t y = 0; y < frame->mask.height; y++)
        memset(labels_row(labels, y), 0, (size_t)frame->mask.width * 4);
    for (uint32_t i = 0; i < runs->n; i++) {
        const Run *const r = &runs->run[i];
        const uint32_t component = runs->parent[i];
        const uint32_t label = labels->provisional ? component + 1 : runs->component[component].label;
        uint32_t *const row = labels_row(labels, r->y);
        for (uint32_t x = r->x0; x < r->x1; x++)
            row[x] = label;
    }
}

static size_t most_runs(const CclContext *context)
{
    return (size_t)(context->config.max_width + 1) / 2 * context->config.max_height;
}

static CclStatus analyze(CclContext *context, CclFrame *frame)
{
    const size_t most = most_runs(context);
    Runs runs = { .component = cpu_workspace(context) };
    runs.run = (Run *)(runs.component + most);
    runs.parent = (uint32_t *)(runs.run + most + most % 2);

    uint32_t above = 0;
    for (uint32_t y = 0; y < frame->mask.height; y++) {
        const uint32_t here = runs.n;
        extract(&runs, &frame->mask, y);
        link_rows(&runs, above, here, context->config.connectivity == CCL_CONNECT_8);
        above = here;
    }
    measure(&runs);
    if (!frame->labels.provisional)
        keep(&runs, frame, context->capacity);
    if (frame->labels.data)
        paint(&runs, frame);
    return CCL_OK;
}

static size_t workspace_size(const CclContext *context)
{
    return (most_runs(context) + 1) * (sizeof(CclComponent) + sizeof(Run) + sizeof(uint32_t));
}

const CclAlgorithm ccl_cpu_runs = {
    .info = { .name = "runs", .title = "Union-find over runs", .backend = CCL_BACKEND_CPU,
              .connectivity = CCL_CONNECT_4 | CCL_CONNECT_8 },
    .workspace_size = workspace_size,
    .analyze = analyze,
};
