/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Bits -> runs, and which runs of the row above one run joins; compiled for each tier, with its instructions. Needs the
 * tier's put_positions(). */
#ifndef CCL_CPU_RUNS_H
#define CCL_CPU_RUNS_H

#include "row.h"
#include "words.h"

/* Ends of runs left of x. */
static inline uint32_t ends_below(const CclRow *row, uint32_t x)
{
    return row->rank[x / 64] + ones(row->ends[x / 64] & below(x));
}

/*
 * Fills ends, rank, x and n of `here` from its bits, and lists what it bridges: link[i] = j when one run of `here`
 * touches the runs j-1 and j of `above`. Returns how many.
 *
 * A run touches two neighbours only by covering the gap between them, and a gap is covered when a 1 added at its first
 * bit to (here & ~above) is carried through to the start of the next run:
 *
 *     above   1 1 0 0 0 1 0 0 1      the first gap is covered, the carry ends in the bit of the second run's start;
 *     here    0 0 1 1 1 0 0 1 0      the second is not. (8-connected; 4-connected, both pixels beside the gap count too.)
 */
static inline __attribute__((always_inline)) uint32_t runs_from_bits(CclRow *here, const CclRow *above, uint32_t words,
                                                                     bool eight, uint16_t *link)
{
    uint16_t *x = here->x;
    uint32_t n_ends = 0, n_links = 0;
    uint64_t carry = 0;

    for (uint32_t w = 0; w < words; w++) {
        const uint64_t s = here->bits[w], shifted = s << 1 | (w ? here->bits[w - 1] >> 63 : 0);
        here->rank[w] = (uint16_t)n_ends;
        if (!(s | shifted)) {
            here->ends[w] = 0;
            continue;
        }
        const uint64_t ends = shifted & ~s;
        here->ends[w] = ends;
        n_ends += ones(ends);
        x = put_positions(x, s ^ shifted, w * 64);

        const uint64_t u = above->bits[w], u_starts = u & ~(u << 1 | (w ? above->bits[w - 1] >> 63 : 0));
        const uint64_t gap = s & ~u, first = above->ends[w] & s & (eight ? ~(uint64_t)0 : shifted);
        const uint64_t half = gap + first, sum = half + carry;
        carry = (half < gap) | (sum < half);
        for (uint64_t bridged = sum & u_starts & (eight ? ~(uint64_t)0 : s); bridged; bridged &= bridged - 1)
            link[n_links++] = (uint16_t)ends_below(above, w * 64 + lowest(bridged));
    }
    here->n = n_ends;
    *x = UINT16_MAX;
    return n_links;
}

#endif
