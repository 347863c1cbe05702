/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Rows of a label map, in which runs of different values stand side by side. */
#ifndef CCL_CPU_MAP_H
#define CCL_CPU_MAP_H

#include "context.h"
#include "host/words.h"
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
} CclMapRow;

/* What a strip of a label map has beside its CclStrip. */
typedef struct CclMapStrip {
    unsigned background_value;
    CclMapRow row[2];        /* the current row and the one above, in turn */
    uint64_t *differs;           /* bit x: pixel x differs from the pixel above; differs[-1] is 0 */
    uint64_t *ends;              /* scratch for find_ends() */
    uint16_t *touching, *corner; /* scratch: where spans touch those above, and where they may at a corner */
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

/* Two runs of equal value, a of `before` and b of `here`, that touch. */
typedef void CclMapPair(void *data, const CclMapRuns *before, uint32_t a, const CclMapRuns *here, uint32_t b);

/* Calls `pair` for each pair of equal value that touches; with `reach` 1 across a corner too. Two pointers walk the rows. Where
 * runs end in the same column, each can touch the other's right neighbour at a corner. */
ALWAYS_INLINE void ccl_map_pairs(const CclMapRuns *before, const CclMapRuns *here, uint32_t reach, CclMapPair *pair, void *data)
{
    const uint32_t n_before = before->row->n, n_here = here->row->n;
    const uint16_t *const class_before = before->class_id, *const class_here = here->class_id;
    uint32_t a = 0, b = 0;
    while (a < n_before && b < n_here) {
        const uint16_t *const p = &before->row->x[2 * a], *const q = &here->row->x[2 * b];
        if (class_before[a] == class_here[b] && p[0] < q[1] + reach && q[0] < p[1] + reach)
            pair(data, before, a, here, b);
        if (p[1] == q[1] && reach && a + 1 < n_before && p[2] == q[1] && class_before[a + 1] == class_here[b])
            pair(data, before, a + 1, here, b);
        if (p[1] == q[1] && reach && b + 1 < n_here && q[2] == p[1] && class_before[a] == class_here[b + 1])
            pair(data, before, a, here, b + 1);
        const uint32_t end = p[1], end_here = q[1];
        a += end <= end_here;
        b += end_here <= end;
    }
}

/* join_rows() of join.h for runs of label maps. */
void ccl_map_join(uint32_t *parent, const CclMapRuns *before, const CclMapRuns *here, uint32_t reach);

#endif
