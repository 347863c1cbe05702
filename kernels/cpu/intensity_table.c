/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "intensity_table.h"

#include "intensity.h"

static void merge(CclIntensityCounts *to, const CclIntensityCounts *from)
{
    to->min = to->min < from->min ? to->min : from->min;
    to->max = to->max > from->max ? to->max : from->max;
    to->sum += from->sum;
    to->squares += from->squares;
    to->x += from->x;
    to->y += from->y;
    add_wide(to->xx, from->xx[0], from->xx[1]);
    add_wide(to->xy, from->xy[0], from->xy[1]);
    add_wide(to->yy, from->yy[0], from->yy[1]);
    to->chroma[0] += from->chroma[0];
    to->chroma[1] += from->chroma[1];
}

void ccl_merge_intensity(const CclStrip *strip)
{
    const uint32_t *const root = strip->parent;
    for (uint32_t i = strip->first_label; i < strip->next_label; i++)
        if (root[i] != i)
            merge(&strip->intensity[root[i]], &strip->intensity[i]);
}

void ccl_intensity_from_roots(CclIntensityCounts *intensity, uint32_t capacity, const CclLabelling *labels)
{
    for (uint32_t k = 0; k < labels->n_roots; k++) {
        const uint32_t label = labels->final[labels->root[k]];
        if (label && label <= capacity)
            intensity[label - 1] = intensity[labels->root[k]];
    }
}
