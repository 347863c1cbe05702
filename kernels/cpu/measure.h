/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Runs -> exact sums of a label.
 *
 * While sums grow, they are CclComponents with the left end of the box complemented, so that each entry of the box only grows.
 * y0 and first_x are set at a label's first run and stay.
 */
#ifndef CCL_CPU_MEASURE_H
#define CCL_CPU_MEASURE_H

#include "ccl.h"
#include "row.h"

/* Sums over the pixels 0..x-1 of a row: the sums of a run [x0, x1) are one subtraction. */
typedef struct CclPrefix {
    uint64_t n_x; /* count in the low half, sum of x (below 2^28) in the high: neither borrows */
    uint64_t xx;
} CclPrefix;

/* Identical rows one below the other, measured together. */
typedef struct CclRowSums {
    uint64_t n, y, yy; /* rows, sum of y, of y squared */
    uint16_t y1;
} CclRowSums;

static inline void add_row(CclRowSums *rows, uint32_t y)
{
    rows->n++;
    rows->y += y;
    rows->yy += (uint64_t)y * y;
    rows->y1 = (uint16_t)(y + 1);
}

static inline CclPrefix run_sums(const CclPrefix *prefix, uint32_t x0, uint32_t x1)
{
    return (CclPrefix){ .n_x = prefix[x1].n_x - prefix[x0].n_x, .xx = prefix[x1].xx - prefix[x0].xx };
}

/* Adds runs of identical rows, with the box [x0, x1) around them. */
static inline void add_runs(CclComponent *c, CclPrefix runs, uint32_t x0, uint32_t x1, const CclRowSums *rows)
{
    const uint64_t n = (uint32_t)runs.n_x, x = runs.n_x >> 32;
    const uint16_t not_x0 = (uint16_t)~x0;
    c->moments.area += n * rows->n;
    c->moments.m10 += x * rows->n;
    c->moments.m01 += n * rows->y;
    c->moments.m20 += runs.xx * rows->n;
    c->moments.m11 += x * rows->y;
    c->moments.m02 += n * rows->yy;
    c->x0 = c->x0 > not_x0 ? c->x0 : not_x0;
    c->x1 = c->x1 > x1 ? c->x1 : (uint16_t)x1;
    c->y1 = rows->y1;
}

/* Adds the runs of identical rows to the sums of their labels; neighbours with the same label together. */
static inline void measure_by_label(CclComponent *sums, const CclPrefix *prefix, const CclRow *row,
                                    const CclRowSums *rows)
{
    for (uint32_t k = 0; k < row->n;) {
        const uint32_t label = row->label[k], x0 = row->x[2 * k];
        CclPrefix runs = { 0, 0 };
        do {
            const CclPrefix run = run_sums(prefix, row->x[2 * k], row->x[2 * k + 1]);
            runs.n_x += run.n_x;
            runs.xx += run.xx;
            k++;
        } while (k < row->n && row->label[k] == label);
        add_runs(&sums[label], runs, x0, row->x[2 * k - 1], rows);
    }
}

#endif
