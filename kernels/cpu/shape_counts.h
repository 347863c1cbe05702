/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A row of runs and the row above -> CclShapeCounts; compiled for each tier, with its instructions.
 *
 *     above   . # # # . # # .     the run of `here` touches two runs; its overlap with them is 2 + 1 pixels.
 *     here    . . # # # # . .     tops: its length minus the overlap. Diagonals: above it moved by one pixel to the right and
 *                                 to the left overlaps as much, but for the pixels at both ends of the run.
 *
 * All counts begin with a pixel's neighbours above, so each row is counted when the row above is known.
 */
#ifndef CCL_CPU_SHAPE_COUNTS_H
#define CCL_CPU_SHAPE_COUNTS_H

#include "host/words.h"
#include "tier.h"

static inline uint32_t pixel_bit(const CclRow *row, int32_t x)
{
    return row->bits[x >> 6] >> (x & 63) & 1;
}

/* Number of runs that end at pixel x or left of it, that is, before x. */
static inline uint32_t ends_before(const CclRow *row, uint32_t x)
{
    return row->rank[x / 64] + ones(row->ends[x / 64] & below(x));
}

/* What a run has in common with the row above. */
typedef struct CclContact {
    uint32_t n_runs;                     /* that it touches */
    uint32_t overlap;                    /* pixels */
    uint32_t before, first, last, after; /* the pixels above its ends, and beside these: 0 or 1 */
} CclContact;

/* The run and the pixels beside it are at most 64. */
ALWAYS_INLINE CclContact short_contact(const CclRow *above, uint32_t x0, uint32_t x1, bool eight)
{
    const int32_t from = (int32_t)x0 - 1;
    const uint64_t *const words = above->bits + (from >> 6);
    const uint32_t shift = from & 63, n = x1 - x0;
    const uint64_t pixels = words[0] >> shift | words[1] << 1 << (63 - shift); /* from x0 - 1 on */
    const uint64_t window = pixels & (((uint64_t)2 << (n + 1)) - 1), over = window >> 1 & (((uint64_t)1 << n) - 1);
    const uint64_t touching = eight ? window : over;
    return (CclContact){ .n_runs = ones(touching & ~(touching << 1)), .overlap = ones(over),
                         .before = window & 1, .first = over & 1,
                         .last = over >> (n - 1) & 1, .after = (uint32_t)(window >> (n + 1)) };
}

static CclContact long_contact(const CclRow *above, uint32_t x0, uint32_t x1, bool eight)
{
    const uint16_t *const x = above->x;
    CclContact contact = { .before = pixel_bit(above, (int32_t)x0 - 1), .first = pixel_bit(above, (int32_t)x0),
                           .last = pixel_bit(above, (int32_t)x1 - 1), .after = pixel_bit(above, (int32_t)x1) };
    const uint32_t from = ends_before(above, x0) + (eight ? 0 : contact.before & ~contact.first);
    const uint32_t to = ends_before(above, x1) + contact.last + (eight ? contact.after & ~contact.last : 0);

    contact.n_runs = to - from;
    for (size_t j = from; j < to; j++) {
        const uint32_t a0 = x[2 * j], a1 = x[2 * j + 1];
        contact.overlap += (a1 < x1 ? a1 : x1) - (a0 > x0 ? a0 : x0);
    }
    return contact;
}

/* A corner joins no 4-connected runs. If it turns out that their component is the same, then it is no background, and the
 * pixel has its diagonal neighbour after all. */
static inline void note_corner(CclStrip *strip, uint32_t label, uint32_t label_above)
{
    if (strip->parent[label] == strip->parent[label_above])
        strip->shape[label].diagonals--;
    else
        strip->corners[strip->n_corners++] = (CclCorner){ label, label_above };
}

ALWAYS_INLINE void count_shape(CclStrip *strip, const CclRow *here, const CclRow *above, bool eight)
{
    CclShapeCounts *restrict const shape = strip->shape;
    const uint16_t *restrict const x = here->x;
    const uint32_t *restrict const label = here->label;

    for (size_t k = 0, n = here->n; k < n; k++) {
        const uint32_t x0 = x[2 * k], x1 = x[2 * k + 1];
        const CclContact c = x1 - x0 <= 62 ? short_contact(above, x0, x1, eight) : long_contact(above, x0, x1, eight);
        const uint32_t left = c.before & ~c.first, right = c.after & ~c.last; /* corners */
        const uint32_t tops = x1 - x0 - c.overlap;
        CclShapeCounts *const counts = &shape[label[k]];

        counts->euler += 1 - (int32_t)c.n_runs;
        counts->runs += 1;
        counts->tops += tops;
        counts->diagonals += 2 * tops + c.first + c.last - c.before - c.after + (eight ? 0 : left + right);
        if (!eight && left)
            note_corner(strip, label[k], above->label[ends_before(above, x0)]);
        if (!eight && right)
            note_corner(strip, label[k], above->label[ends_before(above, x1) + c.last]);
    }
}

/* Rows that repeat the one above: each run touches itself, and its ends have no neighbour on one diagonal. */
static void count_repeated(CclShapeCounts *shape, const CclRow *row, uint64_t n_repeated)
{
    for (uint32_t k = 0; k < row->n; k++) {
        shape[row->label[k]].runs += (uint32_t)n_repeated;
        shape[row->label[k]].diagonals += 2 * (uint32_t)n_repeated;
    }
}

#endif
