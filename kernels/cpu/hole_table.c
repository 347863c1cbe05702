/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "hole_table.h"

#include "context.h"
#include "union_find.h"

#include <string.h>

/* A gap has the number of the run right of it among all stored runs; 0 is the outside. */
struct CclHoles {
    uint32_t *parent; /* of gaps; by number, like sums */
    CclHole *sums;
    uint32_t *root;   /* roots, ascending: the holes */
    uint32_t n_roots;
    uint32_t *outer;  /* by label: the gap left of its first run */
    const uint32_t *run_label; /* of all stored runs */
};

CclStatus ccl_holes_open(CclContext *context, size_t n_runs, size_t n_labels, CclHoles **result)
{
    CclHoles *holes;
    CCL_TRY(ccl_cpu_memory(context, sizeof *holes, (void **)&holes));
    CCL_TRY(ccl_cpu_memory(context, n_runs * sizeof *holes->parent, (void **)&holes->parent));
    CCL_TRY(ccl_cpu_memory(context, n_runs * sizeof *holes->sums, (void **)&holes->sums));
    CCL_TRY(ccl_cpu_memory(context, n_runs * sizeof *holes->root, (void **)&holes->root));
    *result = holes;
    return ccl_cpu_memory(context, n_labels * sizeof *holes->outer, (void **)&holes->outer);
}

/* ---------------------------------------------------------------- gaps */

/* Identical rows: gap k = 0..n ends at run k. */
typedef struct Gaps {
    const uint16_t *x;
    uint32_t n, first_run;
    uint32_t y0, y1;
    bool is_outside; /* of all gaps */
} Gaps;

static inline uint32_t gap_start(const Gaps *g, uint32_t k)
{
    return k ? g->x[2 * k - 1] : 0;
}

static inline uint32_t gap_end(const Gaps *g, uint32_t k, uint32_t width)
{
    return k < g->n ? g->x[2 * k] : width;
}

static inline uint32_t gap_number(const Gaps *g, uint32_t k)
{
    return k == 0 || k == g->n || g->is_outside ? 0 : g->first_run + k;
}

/* Begins the gaps of a row, and notes which of them are left of the first runs of roots: these ascend. */
static void begin_gaps(CclHoles *holes, const Gaps *g, const uint32_t *label, const uint32_t *root, uint32_t *next_label)
{
    for (uint32_t k = 0; k < g->n; k++) {
        const uint32_t i = gap_number(g, k);
        if (label[k] >= *next_label && root[label[k]] == label[k]) {
            holes->outer[label[k]] = i;
            *next_label = label[k] + 1;
        }
        if (!i)
            continue;
        const uint16_t x0 = g->x[2 * k - 1], x1 = g->x[2 * k];
        holes->parent[i] = i;
        holes->sums[i] = (CclHole){ .area = (x1 - x0) * (g->y1 - g->y0), .x0 = x0, .y0 = (uint16_t)g->y0, .x1 = x1,
                                    .y1 = (uint16_t)g->y1, .first_x = x0 };
    }
}

static void join_gaps(CclHoles *holes, const Gaps *above, const Gaps *here, uint32_t width, bool eight)
{
    uint32_t a = 0, b = 0;
    while (a <= above->n && b <= here->n) {
        const uint32_t end_a = gap_end(above, a, width), end_b = gap_end(here, b, width);
        if (gap_start(above, a) + eight <= end_b && gap_start(here, b) + eight <= end_a)
            unite(holes->parent, gap_number(above, a), gap_number(here, b));
        if (end_a < end_b)
            a++;
        else
            b++;
    }
}

static Gaps gaps_of(const CclHoles *holes, const CclStrip *strip, const CclStoredRow *row)
{
    return (Gaps){ .x = strip->stored_x + 2 * (size_t)row->first_run,
                   .n = row->n,
                   .first_run = (uint32_t)(strip->stored_labels - holes->run_label) + row->first_run,
                   .y0 = row->y0,
                   .y1 = row->y1,
                   .is_outside = row->y0 == 0 || row->y1 == strip->mask->height };
}

static void scan(CclHoles *holes, const CclStrip *strips, unsigned n_strips, bool eight)
{
    const uint32_t width = strips[0].mask->width;
    Gaps above = { .n = 0, .is_outside = true };
    for (unsigned s = 0; s < n_strips; s++) {
        uint32_t next_label = strips[s].first_label;
        for (uint32_t i = 0; i < strips[s].n_stored; i++) {
            const CclStoredRow *const row = &strips[s].stored[i];
            const Gaps here = gaps_of(holes, &strips[s], row);
            begin_gaps(holes, &here, strips[s].stored_labels + row->first_run, strips[s].parent, &next_label);
            join_gaps(holes, &above, &here, width, eight);
            above = here;
        }
    }
}

/* ---------------------------------------------------------------- holes */

static void merge(CclHole *to, const CclHole *from)
{
    to->area += from->area;
    to->x0 = from->x0 < to->x0 ? from->x0 : to->x0;
    to->x1 = from->x1 > to->x1 ? from->x1 : to->x1;
    to->y1 = from->y1 > to->y1 ? from->y1 : to->y1;
}

/* Roots have the smallest number, that is, the first gap of the hole in raster order. */
static void flatten(CclHoles *holes, const CclStrip *strips, unsigned n_strips)
{
    uint32_t *const parent = holes->parent;
    holes->n_roots = 0;
    for (unsigned s = 0; s < n_strips; s++)
        for (uint32_t i = 0; i < strips[s].n_stored; i++) {
            const Gaps g = gaps_of(holes, &strips[s], &strips[s].stored[i]);
            for (uint32_t k = 1; k < g.n && !g.is_outside; k++) {
                const uint32_t at = g.first_run + k, root = parent[parent[at]];
                parent[at] = root;
                if (root == at)
                    holes->root[holes->n_roots++] = at;
                else if (root)
                    merge(&holes->sums[root], &holes->sums[at]);
            }
        }
}

/* The root of the component around a hole. */
static uint32_t component_around(const CclHoles *holes, uint32_t hole, const CclLabelling *labels)
{
    return labels->parent[holes->run_label[hole - 1]];
}

/* Whatever is inside a component begins behind it in raster order, so the last components come first. */
static void fill(CclHoles *holes, CclHoleCounts *counts, const CclLabelling *labels)
{
    for (uint32_t k = 0; k < labels->n_roots; k++)
        counts[labels->root[k]] = (CclHoleCounts){ .area_filled = labels->sums[labels->root[k]].moments.area };
    for (uint32_t i = 0; i < holes->n_roots; i++) {
        CclHole *const hole = &holes->sums[holes->root[i]];
        CclHoleCounts *const around = &counts[component_around(holes, holes->root[i], labels)];
        hole->area_filled = hole->area;
        around->area_filled += hole->area;
        around->n_holes++;
    }
    for (uint32_t k = labels->n_roots; k-- > 0;) {
        const uint32_t island = labels->root[k], hole = holes->parent[holes->outer[island]];
        if (!hole)
            continue;
        holes->sums[hole].area_filled += (uint32_t)counts[island].area_filled;
        counts[component_around(holes, hole, labels)].area_filled += counts[island].area_filled;
    }
}

void ccl_holes_find(CclHoles *holes, const CclFrame *frame, const CclLabelling *labels, const CclStrip *strips,
                    unsigned n_strips, bool eight)
{
    holes->run_label = strips[0].stored_labels;
    scan(holes, strips, n_strips, eight);
    flatten(holes, strips, n_strips);
    fill(holes, frame->holes, labels);
}

void ccl_holes_from_roots(const CclHoles *holes, CclFrame *frame, uint32_t capacity, const CclLabelling *labels)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < labels->n_roots; k++) {
        const uint32_t label = labels->final[labels->root[k]];
        if (!label || label > capacity)
            continue;
        CclHoleCounts *const counts = &frame->holes[label - 1];
        *counts = frame->holes[labels->root[k]];
        counts->first = n; /* counted up below, then down again */
        n += counts->n_holes;
    }
    for (uint32_t i = 0; i < holes->n_roots; i++) {
        const uint32_t label = labels->final[component_around(holes, holes->root[i], labels)];
        if (!label || label > capacity)
            continue;
        CclHole *const row = &frame->hole_rows[frame->holes[label - 1].first++];
        *row = holes->sums[holes->root[i]];
        row->parent = label;
    }
    for (uint32_t k = 0; k < frame->table.n_kept && k < capacity; k++)
        frame->holes[k].first -= frame->holes[k].n_holes;
    frame->table.n_hole_rows = n;
}
