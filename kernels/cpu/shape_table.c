/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "shape_table.h"

/* Pixels that [a0, a1) and [b0, b1) have in common. */
static uint32_t overlap(int32_t a0, int32_t a1, int32_t b0, int32_t b1)
{
    const int32_t from = a0 > b0 ? a0 : b0, to = a1 < b1 ? a1 : b1;
    return to > from ? (uint32_t)(to - from) : 0;
}

static void join_pair(CclStrip *strip, const uint16_t *above, uint32_t label_above, const uint16_t *here, uint32_t label,
                      bool eight)
{
    CclShapeCounts *const counts = &strip->shape[label];
    const uint32_t common = overlap(above[0], above[1], here[0], here[1]);

    if (!common && !eight) {
        strip->corners[strip->n_corners++] = (CclCorner){ label, label_above };
        return;
    }
    counts->euler--;
    counts->tops -= common;
    counts->diagonals -= overlap(above[0] + 1, above[1] + 1, here[0], here[1]) +
                         overlap(above[0] - 1, above[1] - 1, here[0], here[1]);
}

void ccl_join_shape(CclStrip *strip, const CclRow *above, bool eight)
{
    const CclRow *const here = &strip->first;
    uint32_t a = 0, b = 0;

    while (a < above->n && b < here->n) {
        const uint16_t *const p = &above->x[2 * a], *const q = &here->x[2 * b];
        if (p[0] <= q[1] && q[0] <= p[1])
            join_pair(strip, p, above->label[a], q, here->label[b], eight);
        if (p[1] < q[1])
            a++;
        else
            b++;
    }
}

void ccl_merge_shape(const CclStrip *strip)
{
    CclShapeCounts *const shape = strip->shape;
    const uint32_t *const root = strip->parent;

    for (uint32_t i = strip->first_label; i < strip->next_label; i++)
        if (root[i] != i) {
            CclShapeCounts *const to = &shape[root[i]];
            to->euler += shape[i].euler;
            to->runs += shape[i].runs;
            to->tops += shape[i].tops;
            to->diagonals += shape[i].diagonals;
        }
    for (uint32_t i = 0; i < strip->n_corners; i++) {
        const uint32_t label = root[strip->corners[i].label];
        shape[label].diagonals -= label == root[strip->corners[i].label_above];
    }
}

void ccl_shape_from_roots(CclShapeCounts *shape, uint32_t capacity, const CclLabelling *labels)
{
    for (uint32_t k = 0; k < labels->n_roots; k++) {
        const uint32_t label = labels->final[labels->root[k]];
        if (label && label <= capacity)
            shape[label - 1] = shape[labels->root[k]];
    }
}
