/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "hole_table.h"

#include "context.h"
#include "union_find.h"

#include <string.h>

struct CclHoles {
    uint32_t *label;  /* of gaps, by the number of the run right of them; 0: the outside */
    uint32_t *parent; /* of labels */
    CclHole *sums;    /* of roots */
    uint32_t *root;   /* roots, ascending: the holes */
    uint32_t n_roots;
    uint32_t *outer;           /* by label of runs: the gap left of its first run */
    const uint32_t *run_label; /* of all stored runs */
};

CclStatus ccl_holes_open(CclContext *context, size_t n_runs, size_t n_labels, CclHoles **result)
{
    CclHoles *holes;
    CCL_TRY(ccl_cpu_memory(context, sizeof *holes, (void **)&holes));
    CCL_TRY(ccl_cpu_memory(context, n_runs * sizeof *holes->label, (void **)&holes->label));
    CCL_TRY(ccl_cpu_memory(context, n_runs * sizeof *holes->parent, (void **)&holes->parent));
    CCL_TRY(ccl_cpu_memory(context, n_runs * sizeof *holes->sums, (void **)&holes->sums));
    CCL_TRY(ccl_cpu_memory(context, n_runs * sizeof *holes->root, (void **)&holes->root));
    *result = holes;
    return ccl_cpu_memory(context, n_labels * sizeof *holes->outer, (void **)&holes->outer);
}

void ccl_holes_begin(CclHoles *holes, CclStrip *strip, uint32_t first_run)
{
    strip->gaps = (CclGaps){
        .label = holes->label, .parent = holes->parent, .first = first_run, .outer = holes->outer, .pair = strip->gap_pair
    };
    strip->gaps.above = strip->y0 ? NULL : &strip->gaps.outside; /* above the mask is the outside */
}

/* ---------------------------------------------------------------- gaps */

/* Identical rows. Gap k = 0..n ends at run k. */
typedef struct Gaps {
    const uint16_t *x;
    uint32_t n, first_run;
    uint32_t *label;
    uint32_t y0, y1;
} Gaps;

static Gaps gaps_of(CclStrip *strip, const CclStoredRow *row)
{
    const uint32_t first_run = strip->gaps.first + row->first_run;
    return (Gaps){ .x = strip->stored_x + 2 * (size_t)row->first_run,
                   .n = row->n,
                   .first_run = first_run,
                   .label = row->n ? strip->gaps.label + first_run : &strip->gaps.outside,
                   .y0 = row->y0,
                   .y1 = row->y1 };
}

static inline uint32_t gap_start(const Gaps *g, uint32_t k)
{
    return k ? g->x[2 * k - 1] : 0;
}

static inline uint32_t gap_end(const Gaps *g, uint32_t k, uint32_t width)
{
    return k < g->n ? g->x[2 * k] : width;
}

static void join_gaps(CclHoles *holes, const Gaps *above, const Gaps *here, uint32_t width, bool eight)
{
    uint32_t a = 0, b = 0;
    while (a <= above->n && b <= here->n) {
        const uint32_t end_a = gap_end(above, a, width), end_b = gap_end(here, b, width);
        if (gap_start(above, a) + eight <= end_b && gap_start(here, b) + eight <= end_a)
            unite(holes->parent, above->label[a], here->label[b]);
        if (end_a < end_b)
            a++;
        else
            b++;
    }
}

static void join_strips(CclHoles *holes, CclStrip *strips, unsigned n_strips, bool eight)
{
    for (unsigned s = 1; s < n_strips; s++) {
        const Gaps above = gaps_of(&strips[s - 1], &strips[s - 1].stored[strips[s - 1].n_stored - 1]);
        const Gaps here = gaps_of(&strips[s], &strips[s].stored[0]);
        join_gaps(holes, &above, &here, strips[s].mask->width, eight);
    }
    CclStrip *const last = &strips[n_strips - 1];
    const Gaps bottom = gaps_of(last, &last->stored[last->n_stored - 1]);
    for (uint32_t k = 0; k <= bottom.n; k++)
        unite(holes->parent, bottom.label[k], 0);
}

/* ---------------------------------------------------------------- holes */

static void add_gap(CclHole *hole, const Gaps *g, uint32_t k)
{
    const uint16_t x0 = g->x[2 * k - 1], x1 = g->x[2 * k];
    hole->area += (uint32_t)(x1 - x0) * (g->y1 - g->y0);
    hole->x0 = x0 < hole->x0 ? x0 : hole->x0;
    hole->x1 = x1 > hole->x1 ? x1 : hole->x1;
    hole->y1 = (uint16_t)g->y1;
}

/* Smaller labels are flat already. Lists the gaps of holes behind the roots, without a branch on which they are; returns their
 * number. */
static uint32_t flatten(CclHoles *holes, const CclStrip *strip)
{
    const CclStoredRow *const last = &strip->stored[strip->n_stored - 1];
    const uint32_t first = strip->gaps.first, end = first + last->first_run + (last->n ? last->n + 1 : 0);
    uint32_t *const parent = holes->parent, *const label = holes->label, *const list = holes->root + holes->n_roots, n = 0;
    for (uint32_t i = first; i < end; i++) {
        const uint32_t root = parent[parent[label[i]]];
        parent[label[i]] = root;
        label[i] = root;
        list[n] = i;
        n += root != 0;
    }
    return n;
}

/* Roots have the smallest number, that is, the first gap of the hole in raster order. */
static void measure_holes(CclHoles *holes, CclStrip *strip, uint32_t n)
{
    const uint32_t *const list = holes->root + holes->n_roots; /* read before roots are written there */
    uint32_t row = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t number = list[i], run = number - strip->gaps.first;
        while (run >= strip->stored[row].first_run + strip->stored[row].n)
            row++;
        const Gaps g = gaps_of(strip, &strip->stored[row]);
        const uint32_t k = number - g.first_run, root = holes->label[number];
        if (root == number) {
            holes->root[holes->n_roots++] = root;
            holes->sums[root] = (CclHole){ .x0 = UINT16_MAX, .y0 = (uint16_t)g.y0, .first_x = g.x[2 * k - 1] };
        }
        add_gap(&holes->sums[root], &g, k);
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
        const uint32_t island = labels->root[k], hole = holes->label[holes->outer[island]];
        if (!hole)
            continue;
        holes->sums[hole].area_filled += (uint32_t)counts[island].area_filled;
        counts[component_around(holes, hole, labels)].area_filled += counts[island].area_filled;
    }
}

void ccl_holes_find(CclHoles *holes, const CclFrame *frame, const CclLabelling *labels, CclStrip *strips, unsigned n_strips,
                    bool eight)
{
    holes->run_label = strips[0].stored_labels;
    join_strips(holes, strips, n_strips, eight);
    holes->n_roots = 0;
    for (unsigned s = 0; s < n_strips; s++)
        measure_holes(holes, &strips[s], flatten(holes, &strips[s]));
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
