/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Runs -> exact sums of a component. */
#ifndef CCL_CPU_FEATURES_H
#define CCL_CPU_FEATURES_H

#include <stdint.h>

/* Sums over the pixels 0..x-1 of a row, so that those of a run [x0, x1) are one subtraction. */
typedef struct CclPrefix {
    uint64_t n_x; /* count in the low half, sum of x (below 2^28) in the high: neither borrows */
    uint64_t xx;
} CclPrefix;

/* What is known of one provisional label; 64 bytes. All box entries only ever grow, y0 and first_x stay. */
typedef struct CclSums {
    uint64_t n, x, xx;
    uint16_t not_x0, x1, y1, y0; /* half-open box, x0 complemented */
    uint64_t xy, yy, y;
    uint32_t first_x, unused;
} CclSums;

/* Identical rows one after the other, summed in one go. */
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

/* Adds runs of one row, with the box [x0, x1) around them. */
static inline void add_runs(CclSums *s, CclPrefix runs, uint32_t x0, uint32_t x1, const CclRowSums *rows)
{
    const uint64_t n = (uint32_t)runs.n_x, x = runs.n_x >> 32;
    const uint16_t not_x0 = (uint16_t)~x0;
    s->n += n * rows->n;
    s->x += x * rows->n;
    s->xx += runs.xx * rows->n;
    s->xy += x * rows->y;
    s->yy += n * rows->yy;
    s->y += n * rows->y;
    s->not_x0 = s->not_x0 > not_x0 ? s->not_x0 : not_x0;
    s->x1 = s->x1 > x1 ? s->x1 : (uint16_t)x1;
    s->y1 = rows->y1;
}

#endif
