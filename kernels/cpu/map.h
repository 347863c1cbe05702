/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Rows of a label map, in which runs of different values stand side by side. */
#ifndef CCL_CPU_MAP_H
#define CCL_CPU_MAP_H

#include "context.h"
#include "row.h"

struct CclStrip;

/*
 * One row of a label map as spans: pixels of one value side by side, as long as possible, the background's too.
 *
 *     pixels    0 0 3 3 7 0       spans [0,2) [2,4) [4,5) [5,6); runs, those of the foreground: [2,4) and [4,5)
 *     starts    1 0 1 0 1 1
 */
typedef struct CclMapRow {
    const uint8_t *pixels;
    uint64_t *starts;                               /* bit x: a span begins at pixel x */
    uint16_t *rank;                                 /* rank[w]: starts in the words before w */
    uint16_t *x;                                    /* span i is [x[i], x[i+1]) */
    uint16_t *value;                                /* value[i] of span i */
    uint32_t *label;                                /* label[i] of span i; 0: background */
    uint32_t n;                                     /* spans */
    uint64_t nonzero[(CCL_MAX_SIZE + 4095) / 4096]; /* bit w: word w has a start */
    uint16_t *class_id;                             /* the values of the runs, which the CclRow of the same row has */
    bool has_spans;                                 /* false: of all this, only pixels, class_id and mixed */
    bool mixed;                                     /* runs may have different values */
} CclMapRow;

/* What a strip of a label map has beside its CclStrip. */
typedef struct CclMapStrip {
    unsigned background_value;
    _Alignas(64) uint8_t background[128]; /* 64 pixels of it */
    uint64_t background_bits;             /* 0: no pixel can have the value */
    CclMapRow row[2];                     /* the current row and the one above, in turn */
    uint64_t *differs;                    /* bit x: pixel x differs from the pixel above; differs[-1] is 0 */
    uint64_t *ends;                       /* scratch for find_ends() */
    uint16_t *touching, *corner;          /* scratch: where spans touch those above, and where they may at a corner */
    uint32_t n_touching, n_corners;
    uint32_t *pair;  /* scratch: labels to unite */
    uint16_t *first; /* class ids of the runs of CclStrip.first, and of its last row */
    const uint16_t *last;
} CclMapStrip;

/* A row of runs with their class ids. */
typedef struct CclMapRuns {
    const CclRow *row;
    const uint16_t *class_id;
} CclMapRuns;

/* Memory for a strip of the context's size. */
CclStatus ccl_map_open(CclContext *context, struct CclStrip *strip);

/* The first run of `row`, from run a on, that ends behind x0 or, with `reach` 1, at x0. It touches a run [x0, x1) of the next row
 * if it begins before x1 + reach, and so do the runs behind it. */
static inline uint32_t ccl_map_first_touching(const CclRow *row, uint32_t a, uint32_t x0, uint32_t reach)
{
    while (a < row->n && row->x[2 * a + 1] + reach <= x0)
        a++;
    return a;
}

/* join_rows() of join.h for runs of label maps. */
void ccl_map_join(uint32_t *parent, const CclMapRuns *before, const CclMapRuns *here, uint32_t reach);

#endif
