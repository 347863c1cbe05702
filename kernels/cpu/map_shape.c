/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "map_shape.h"

/* Pixels that [a0, a1) and [b0, b1) have in common. */
static inline uint32_t overlap(int32_t a0, int32_t a1, int32_t b0, int32_t b1)
{
    const int32_t from = a0 > b0 ? a0 : b0, to = a1 < b1 ? a1 : b1;
    return to > from ? (uint32_t)(to - from) : 0;
}

/* A corner joins no 4-connected runs: note_corner() of shape_counts.h. Returns the diagonals that are known to be none. */
static uint32_t corner(CclStrip *strip, uint32_t label, uint32_t label_above)
{
    if (strip->parent[label] == strip->parent[label_above])
        return 1;
    strip->corners[strip->n_corners++] = (CclCorner){ label, label_above };
    return 0;
}

/* A run and the row above it. */
typedef struct Place {
    int32_t x0, x1;
    uint32_t label;
    uint16_t class_id;
    uint32_t first; /* the first run above that touches it, of any value */
    const CclMapRuns *above;
} Place;

/* Takes what a run has in common with runs of its value above away from its counts. */
static inline CclShapeCounts subtract_contacts(CclShapeCounts counts, CclStrip *strip, const Place *run, bool eight)
{
    const CclRow *const above = run->above->row;
    const int32_t x0 = run->x0, x1 = run->x1;

    for (size_t k = run->first; k < above->n && above->x[2 * k] <= x1; k++) {
        const int32_t a0 = above->x[2 * k], a1 = above->x[2 * k + 1];
        const uint32_t common = overlap(a0, a1, x0, x1);
        if (run->above->class_id[k] != run->class_id)
            continue;
        if (!common && !eight) {
            counts.diagonals -= corner(strip, run->label, above->label[k]);
            continue;
        }
        counts.euler--;
        counts.tops -= common;
        counts.diagonals -= overlap(a0 + 1, a1 + 1, x0, x1) + overlap(a0 - 1, a1 - 1, x0, x1);
    }
    return counts;
}

/* is_new: the runs were not counted as if nothing were above them. */
static inline void count_row(CclStrip *strip, const CclMapRuns *above, const CclMapRuns *here, bool eight, bool is_new)
{
    const CclRow *const runs = here->row;
    Place run = { .above = above };

    for (size_t b = 0; b < runs->n; b++) {
        CclShapeCounts *const counts = &strip->shape[runs->label[b]];
        run.x0 = runs->x[2 * b], run.x1 = runs->x[2 * b + 1];
        run.label = runs->label[b];
        run.class_id = here->class_id[b];
        run.first = ccl_map_first_touching(above->row, run.first, (uint32_t)run.x0, 1);
        const uint32_t n = (uint32_t)(run.x1 - run.x0);
        const CclShapeCounts alone = is_new ? (CclShapeCounts){ 1, 1, n, 2 * n } : (CclShapeCounts){ 0 };
        const CclShapeCounts more = subtract_contacts(alone, strip, &run, eight);
        counts->euler += more.euler;
        counts->runs += more.runs;
        counts->tops += more.tops;
        counts->diagonals += more.diagonals;
    }
}

void ccl_map_count_shape(CclStrip *strip, const CclMapRuns *above, const CclMapRuns *here, bool eight)
{
    count_row(strip, above, here, eight, true);
}

void ccl_map_join_shape(CclStrip *strip, const CclStrip *above, bool eight)
{
    const CclMapRuns last = { above->last, above->map->last }, first = { &strip->first, strip->map->first };
    count_row(strip, &last, &first, eight, false);
}
