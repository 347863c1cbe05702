/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "map_holes.h"

#include "context.h"
#include "union_find.h"

/* A run of a component that has gaps, or after ccl_map_holes_find() has begun, also the gap on its left. */
typedef struct Run {
    uint16_t x0, x1;
    uint16_t n_background; /* pixels of the background in the row left of the run */
    uint16_t is_first;     /* of the component in the row */
    const CclStoredRow *row;
} Run;

/* The runs of a component. */
typedef struct Runs {
    const CclStoredRow *last_row; /* of its last run so far */
    uint32_t n, n_gaps;
    uint32_t next; /* where the next run goes */
} Runs;

struct CclMapHoles {
    Run *runs;        /* of the components that have gaps, one after the other; from 1 */
    uint32_t *parent; /* of the gap left of each run; 0: the outside */
    uint32_t *row;    /* of the gap's root: the number of its row of the table of holes */
    Runs *of;         /* by label, of roots */
};

CclStatus ccl_map_holes_open(CclContext *context, size_t n_runs, size_t n_labels, CclMapHoles **result)
{
    CclMapHoles *holes;
    CCL_TRY(ccl_cpu_memory(context, sizeof *holes, (void **)&holes));
    CCL_TRY(ccl_cpu_memory(context, (n_runs + 1) * sizeof *holes->runs, (void **)&holes->runs));
    CCL_TRY(ccl_cpu_memory(context, (n_runs + 1) * sizeof *holes->parent, (void **)&holes->parent));
    CCL_TRY(ccl_cpu_memory(context, (n_runs + 1) * sizeof *holes->row, (void **)&holes->row));
    *result = holes;
    return ccl_cpu_memory(context, n_labels * sizeof *holes->of, (void **)&holes->of);
}

/* ---------------------------------------------------------------- runs of components */

static void count_runs(CclMapHoles *holes, const CclStrip *strip)
{
    const uint32_t *const root = strip->parent;
    for (uint32_t i = 0; i < strip->n_stored; i++) {
        const CclStoredRow *const row = &strip->stored[i];
        const uint32_t *const label = strip->stored_labels + row->first_run;
        for (uint32_t k = 0; k < row->n; k++) {
            Runs *const of = &holes->of[root[label[k]]];
            of->n++;
            of->n_gaps += of->last_row == row;
            of->last_row = row;
        }
    }
}

static void list_runs(CclMapHoles *holes, const CclStrip *strip)
{
    const uint32_t *const root = strip->parent;
    for (uint32_t i = 0; i < strip->n_stored; i++) {
        const CclStoredRow *const row = &strip->stored[i];
        const uint32_t *const label = strip->stored_labels + row->first_run;
        const uint16_t *const x = strip->stored_x + 2 * (size_t)row->first_run;
        uint32_t n_foreground = 0;
        for (size_t k = 0; k < row->n; k++) {
            Runs *const of = &holes->of[root[label[k]]];
            if (of->n_gaps) {
                holes->runs[of->next++] = (Run){ .x0 = x[2 * k],
                                                 .x1 = x[2 * k + 1],
                                                 .row = row,
                                                 .n_background = (uint16_t)(x[2 * k] - n_foreground),
                                                 .is_first = of->last_row != row };
                of->last_row = row;
            }
            n_foreground += (uint32_t)(x[2 * k + 1] - x[2 * k]);
        }
    }
}

static void sort_runs(CclMapHoles *holes, const CclLabelling *labels, const CclStrip *strips, unsigned n_strips)
{
    uint32_t n = 1;
    for (uint32_t k = 0; k < labels->n_roots; k++)
        holes->of[labels->root[k]] = (Runs){ 0 };
    for (unsigned s = 0; s < n_strips; s++)
        count_runs(holes, &strips[s]);
    for (uint32_t k = 0; k < labels->n_roots; k++) {
        Runs *const of = &holes->of[labels->root[k]];
        of->last_row = NULL;
        of->next = n;
        n += of->n_gaps ? of->n : 0;
    }
    for (unsigned s = 0; s < n_strips; s++)
        list_runs(holes, &strips[s]);
}

/* ---------------------------------------------------------------- gaps of one component */

/* The runs [from, to) of one row of a component; gap i is left of run i, the last is right of all. */
typedef struct Gaps {
    const Run *runs;
    uint32_t from, to;
} Gaps;

static Gaps next_gaps(const Run *runs, uint32_t from, uint32_t end)
{
    uint32_t to = from + 1;
    while (to < end && !runs[to].is_first)
        to++;
    return (Gaps){ runs, from, to };
}

static inline uint32_t gap_start(const Gaps *g, uint32_t i)
{
    return i > g->from ? g->runs[i - 1].x1 : 0;
}

static inline uint32_t gap_end(const Gaps *g, uint32_t i)
{
    return i < g->to ? g->runs[i].x0 : UINT16_MAX;
}

static inline uint32_t gap_number(const Gaps *g, uint32_t i)
{
    return i > g->from && i < g->to ? i : 0;
}

static void join_gaps(uint32_t *parent, const Gaps *above, const Gaps *here, bool eight)
{
    uint32_t a = above->from, b = here->from;
    while (a <= above->to && b <= here->to) {
        const uint32_t end_a = gap_end(above, a), end_b = gap_end(here, b);
        if (gap_start(above, a) + eight <= end_b && gap_start(here, b) + eight <= end_a)
            unite(parent, gap_number(above, a), gap_number(here, b));
        if (end_a < end_b)
            a++;
        else
            b++;
    }
}

/* The gaps of the first and of the last row are beside the outside. */
static void join_rows_of(CclMapHoles *holes, uint32_t from, uint32_t end, bool eight)
{
    uint32_t *const parent = holes->parent;
    Gaps above = next_gaps(holes->runs, from, end);
    for (uint32_t i = from; i < end; i++)
        parent[i] = i < above.to ? 0 : i;
    while (above.to < end) {
        const Gaps here = next_gaps(holes->runs, above.to, end);
        join_gaps(parent, &above, &here, eight);
        above = here;
    }
    for (uint32_t i = above.from; i < above.to; i++)
        unite(parent, 0, gap_number(&above, i));
}

static void add_gap(CclHole *hole, const Run *left, const Run *run)
{
    const uint32_t n_rows = run->row->y1 - run->row->y0;
    hole->area += (uint32_t)(run->n_background - left->n_background) * n_rows;
    hole->area_filled += (uint32_t)(run->x0 - left->x1) * n_rows;
    hole->x0 = left->x1 < hole->x0 ? left->x1 : hole->x0;
    hole->x1 = run->x0 > hole->x1 ? run->x0 : hole->x1;
    hole->y1 = (uint16_t)run->row->y1;
}

/* Roots have the smallest number, that is, the first gap of the hole in raster order. */
static void write_holes(CclMapHoles *holes, CclFrame *frame, uint32_t from, uint32_t end, CclHoleCounts *counts)
{
    uint32_t *const parent = holes->parent;
    for (uint32_t i = from; i < end; i++) {
        const Run *const run = &holes->runs[i];
        const uint32_t root = parent[i] = parent[parent[i]];
        if (run->is_first || !root)
            continue;
        if (root == i) {
            holes->row[i] = counts->first + counts->n_holes++;
            frame->hole_rows[holes->row[i]] = (CclHole){ .x0 = run[-1].x1, .y0 = (uint16_t)run->row->y0, .first_x = run[-1].x1 };
        }
        add_gap(&frame->hole_rows[holes->row[root]], run - 1, run);
        counts->area_filled += (uint64_t)(run->x0 - run[-1].x1) * (run->row->y1 - run->row->y0);
    }
}

/* ---------------------------------------------------------------- all components */

void ccl_map_holes_find(CclMapHoles *holes, CclFrame *frame, const CclLabelling *labels, const CclStrip *strips,
                        unsigned n_strips, bool eight)
{
    uint32_t n = 0;
    sort_runs(holes, labels, strips, n_strips);
    holes->parent[0] = 0;
    for (uint32_t k = 0; k < labels->n_roots; k++) {
        const uint32_t root = labels->root[k];
        const Runs *const of = &holes->of[root];
        CclHoleCounts *const counts = &frame->holes[root];
        *counts = (CclHoleCounts){ .area_filled = labels->sums[root].moments.area, .first = n };
        if (!of->n_gaps)
            continue;
        join_rows_of(holes, of->next - of->n, of->next, eight);
        write_holes(holes, frame, of->next - of->n, of->next, counts);
        n += counts->n_holes;
    }
}

void ccl_map_holes_from_roots(CclFrame *frame, uint32_t capacity, const CclLabelling *labels)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < labels->n_roots; k++) {
        const uint32_t label = labels->final[labels->root[k]];
        if (!label || label > capacity)
            continue;
        CclHoleCounts *const counts = &frame->holes[label - 1];
        *counts = frame->holes[labels->root[k]];
        for (uint32_t i = 0; i < counts->n_holes; i++) {
            CclHole *const row = &frame->hole_rows[n + i];
            *row = frame->hole_rows[counts->first + i];
            row->parent = label;
        }
        counts->first = n;
        n += counts->n_holes;
    }
    frame->table.n_hole_rows = n;
}
