/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Rows of label maps -> CclShapeCounts. As shape_counts.h, but runs of different values stand side by side. A pair of runs of
 * equal value that touch takes its overlaps away from what its lower run would have alone.
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

/* Counts the runs of a row; `above` has none before the strip's first row. */
void ccl_map_count_shape(CclStrip *strip, const CclMapRuns *above, const CclMapRuns *here, bool eight);

/* The first row of `strip` was counted as if nothing were above it. Takes the last row of the strip above into account. */
void ccl_map_join_shape(CclStrip *strip, const CclStrip *above, bool eight);

#endif
