/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The gaps of a row and of the row above -> provisional labels of gaps; compiled for each tier, with its instructions. A gap is
 * the background left of a run, or right of the last one. Gaps are 4-connected if runs are 8-connected, and 8 if 4.
 *
 *     above   # . . # # . #     gap 1 of `here` touches gaps 1 and 2 above: it takes the label of the first, and the second is
 *     here    # . . . . . #     united with it. A gap that touches none has its own number for a label. Label 0 is the outside.
 */
#ifndef CCL_CPU_GAPS_H
#define CCL_CPU_GAPS_H

#include "shape_counts.h"
#include "union_find.h"

/* Of the row above. */
typedef struct GapsTouched {
    int32_t from, to; /* none: to < from */
} GapsTouched;

/* By pixels x0..x1-1 of a row of `width` pixels; reach: 1 where gaps touch across a corner too. */
ALWAYS_INLINE GapsTouched touched_gaps(const CclRow *above, uint32_t x0, uint32_t x1, uint32_t width, uint32_t reach)
{
    const uint32_t from = x0 - (x0 ? reach : 0), to = x1 + (x1 < width ? reach : 0);
    return (GapsTouched){ .from = (int32_t)(ends_before(above, from + 1) + pixel_bit(above, (int32_t)from)),
                          .to = (int32_t)ends_before(above, to) };
}

/* Writes nothing where both are united already: all strips share the label 0. */
static void unite_labels(uint32_t *parent, uint32_t a, uint32_t b)
{
    a = find(parent, a), b = find(parent, b);
    if (a < b)
        parent[b] = a;
    else if (b < a)
        parent[a] = b;
}

/* Collected pairs of labels; their order does not matter. */
static void unite_pairs(CclGaps *gaps)
{
    for (uint32_t i = 0; i < gaps->n_pairs; i++)
        unite_labels(gaps->parent, gaps->pair[2 * (size_t)i], gaps->pair[2 * (size_t)i + 1]);
    gaps->n_pairs = 0;
}

/* Lists the pairs of a label and those of gaps above. Many are the same already: no branch on that. */
static inline uint32_t list_pairs(const CclGaps *gaps, GapsTouched touched, uint32_t label, uint32_t n)
{
    for (int32_t j = touched.from; j <= touched.to; j++) {
        gaps->pair[2 * (size_t)n] = label;
        gaps->pair[2 * (size_t)n + 1] = gaps->above[j];
        n += gaps->above[j] != label;
    }
    return n;
}

/* Gaps at the border of the mask. */
static inline uint32_t link_outside(const CclGaps *gaps, const CclRow *here, const CclRow *above, uint32_t width, uint32_t reach)
{
    const uint32_t n = here->n, left = n ? here->x[0] : width, right = n ? here->x[2 * n - 1] : width;
    uint32_t n_pairs = gaps->n_pairs;
    if (left)
        n_pairs = list_pairs(gaps, touched_gaps(above, 0, left, width, reach), 0, n_pairs);
    if (right < width)
        n_pairs = list_pairs(gaps, touched_gaps(above, right, width, width, reach), 0, n_pairs);
    return n_pairs;
}

/* Runs are numbered over all stored rows; own: the number of the first run of `here`. There is no branch on whether a gap touches
 * one above or two, which is random; few touch more. */
ALWAYS_INLINE void link_gaps(CclStrip *strip, const CclRow *here, const CclRow *above, uint32_t own, bool eight)
{
    CclGaps *const gaps = &strip->gaps;
    const uint32_t *const upper = gaps->above, width = strip->mask->width, n = here->n;
    uint32_t *const parent = gaps->parent, *const label = n ? gaps->label + own : &gaps->outside, *const pair = gaps->pair;
    const uint16_t *const x = here->x;
    uint32_t n_pairs = upper ? link_outside(gaps, here, above, width, !eight) : 0;

    for (uint32_t k = 1; k < n; k++) {
        const GapsTouched t = upper ? touched_gaps(above, x[2 * k - 1], x[2 * k], width, !eight) : (GapsTouched){ 0, -1 };
        const uint32_t is_new = t.from > t.to, mask = 0 - is_new, number = own + k;
        const uint32_t old = upper ? upper[(uint32_t)t.from & ~mask] : 0, mine = (number & mask) | (old & ~mask);
        const uint32_t second = upper ? upper[(uint32_t)(t.from + (t.from < t.to)) & ~mask] : 0;
        parent[number] = number;
        label[k] = mine;
        pair[2 * (size_t)n_pairs] = mine;
        pair[2 * (size_t)n_pairs + 1] = second;
        n_pairs += !is_new & (mine != second);
        if (t.from + 1 < t.to)
            n_pairs = list_pairs(gaps, (GapsTouched){ t.from + 2, t.to }, mine, n_pairs);
    }
    label[0] = label[n] = 0;
    gaps->above = label;
    gaps->n_pairs = n_pairs;
    if (n_pairs > CCL_MAX_GAP_PAIRS)
        unite_pairs(gaps);
}

/* Notes the gaps left of the runs of `here` that began the last labels. */
static inline void note_outer(const CclStrip *strip, uint32_t own)
{
    uint32_t *const outer = strip->gaps.outer + strip->next_label - strip->n_new;
    for (uint32_t i = 0; i < strip->n_new; i++)
        outer[i] = own + strip->new_runs[i];
}

#endif
