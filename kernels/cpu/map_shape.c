/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "map_shape.h"

/* Pixels that [a0, a1) and [b0, b1) have in common. */
static inline uint32_t overlap(int32_t a0, int32_t a1, int32_t b0, int32_t b1)
{
    const int32_t from = a0 > b0 ? a0 : b0, to = a1 < b1 ? a1 : b1;
    return to > from ? (uint32_t)(to - from) : 0;
}

static inline void count_pair(void *data, const CclMapRuns *above, uint32_t a, const CclMapRuns *here, uint32_t b)
{
    const CclStrip *const strip = data;
    const uint16_t *const p = &above->row->x[2 * a], *const q = &here->row->x[2 * b];
    CclShapeCounts *const counts = &strip->shape[here->row->label[b]];

    counts->euler--;
    counts->tops -= overlap(p[0], p[1], q[0], q[1]);
    counts->diagonals -= overlap(p[0] + 1, p[1] + 1, q[0], q[1]) + overlap(p[0] - 1, p[1] - 1, q[0], q[1]);
}

/* A corner joins no 4-connected runs: note_corner() of shape_counts.h. */
static inline void count_pair4(void *data, const CclMapRuns *above, uint32_t a, const CclMapRuns *here, uint32_t b)
{
    CclStrip *const strip = data;
    const uint16_t *const p = &above->row->x[2 * a], *const q = &here->row->x[2 * b];
    const uint32_t label = here->row->label[b], label_above = above->row->label[a];

    if (p[0] < q[1] && q[0] < p[1])
        count_pair(data, above, a, here, b);
    else if (strip->parent[label] == strip->parent[label_above])
        strip->shape[label].diagonals--;
    else
        strip->corners[strip->n_corners++] = (CclCorner){ label, label_above };
}

static void count_pairs(CclStrip *strip, const CclMapRuns *above, const CclMapRuns *here, bool eight)
{
    if (eight)
        ccl_map_pairs(above, here, 1, count_pair, strip);
    else
        ccl_map_pairs(above, here, 1, count_pair4, strip);
}

void ccl_map_count_shape(CclStrip *strip, const CclMapRuns *above, const CclMapRuns *here, bool eight)
{
    const uint16_t *const x = here->row->x;
    for (size_t k = 0; k < here->row->n; k++) {
        CclShapeCounts *const counts = &strip->shape[here->row->label[k]];
        const uint32_t n = (uint32_t)(x[2 * k + 1] - x[2 * k]);
        counts->euler++;
        counts->runs++;
        counts->tops += n;
        counts->diagonals += 2 * n;
    }
    count_pairs(strip, above, here, eight);
}

void ccl_map_join_shape(CclStrip *strip, const CclStrip *above, bool eight)
{
    count_pairs(strip, &(CclMapRuns){ above->last, above->map->last }, &(CclMapRuns){ &strip->first, strip->map->first }, eight);
}
