/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Rows of label maps -> CclShapeCounts (map_strip.h). As shape_counts.h, but runs of different values stand side by side. A pair
 * of runs of equal value that touch takes its overlaps away from what its lower run would have alone.
 *
 *     above  a a b b c     the run b of `here` alone: 3 tops, 6 diagonals without a neighbour. Above it overlaps by 2 pixels,
 *     here   c a b b b     moved to the right by 2 and to the left by 1: this leaves 1 top and 3 diagonals.
 */
#ifndef CCL_CPU_MAP_SHAPE_H
#define CCL_CPU_MAP_SHAPE_H

#include "map.h"
#include "tier.h"

/* Entries of CclStrip.corners for a row: at the left of each pixel but the first, two pairs may touch. */
static inline size_t ccl_map_corners(uint32_t width)
{
    return 2 * (size_t)width;
}

/* Pixels that [a0, a1) and [b0, b1) have in common. */
static inline uint32_t ccl_map_overlap(int32_t a0, int32_t a1, int32_t b0, int32_t b1)
{
    const int32_t from = a0 > b0 ? a0 : b0, to = a1 < b1 ? a1 : b1;
    return to > from ? (uint32_t)(to - from) : 0;
}

/* A run [p[0], p[1]) above and a run [q[0], q[1]) of the same value that have columns in common. */
static inline void ccl_map_count_overlap(CclShapeCounts *counts, const uint16_t *p, const uint16_t *q)
{
    counts->euler--;
    counts->tops -= ccl_map_overlap(p[0], p[1], q[0], q[1]);
    counts->diagonals -= ccl_map_overlap(p[0] + 1, p[1] + 1, q[0], q[1]) + ccl_map_overlap(p[0] - 1, p[1] - 1, q[0], q[1]);
}

/* Two that touch at a corner only. It joins no 4-connected runs: note_corner() of shape_counts.h. */
static inline void ccl_map_count_corner(CclStrip *strip, uint32_t label, uint32_t label_above, bool eight)
{
    CclShapeCounts *const counts = &strip->shape[label];
    if (!eight && strip->parent[label] != strip->parent[label_above]) {
        strip->corners[strip->n_corners++] = (CclCorner){ label, label_above };
        return;
    }
    counts->euler -= eight;
    counts->diagonals--;
}

/* The first row of `strip` was counted as if nothing were above it. Takes the last row of the strip above into account. */
void ccl_map_join_shape(CclStrip *strip, const CclStrip *strip_above, bool eight);

#endif
