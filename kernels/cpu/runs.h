/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Bits -> runs, and which runs of the row above one run joins; compiled for each tier, with its instructions. Needs the
 * tier's put_positions(), find_ends() and sum_up(). */
#ifndef CCL_CPU_RUNS_H
#define CCL_CPU_RUNS_H

#include "row.h"
#include "host/words.h"

/* A word in which runs are bridged, and the first bits of their right-hand runs. */
typedef struct CclBridge {
    uint64_t bits;
    uint32_t word;
} CclBridge;

/*
 * Fills ends, rank, x and n of `here` from its bits, and lists what it bridges: where one run of `here` touches two
 * neighbours above, the first bit of the right one. Returns how many words the list has.
 *
 * A run touches two neighbours only by covering the gap between them, and a gap is covered when a 1 added at its first
 * bit to (here & ~above) is carried through to the start of the next run:
 *
 *     above   1 1 0 0 0 1 0 0 1      the first gap is covered, the carry ends in the bit of the second run's start;
 *     here    0 0 1 1 1 0 0 1 0      the second is not. (8-connected; 4-connected, the pixels beside
 *                                    the gap count too.)
 */
ALWAYS_INLINE uint32_t runs_from_bits(CclRow *here, const CclRow *above, uint32_t words,
                                                                     bool eight, CclBridge *bridges)
{
    const uint64_t *const bits = here->bits, *const bits_above = above->bits, *const ends_above = above->ends;
    uint64_t *const ends = here->ends;
    uint16_t *const rank = here->rank;
    uint16_t *x = here->x;
    uint32_t n_bridges = 0;
    uint64_t carry = 0;

    for (uint32_t from = 0; from < words; from += 64) {
        const uint32_t n = words - from < 64 ? words - from : 64;
        for (uint64_t live = find_ends(bits + from, n, ends + from, rank + from); live; live &= live - 1) {
            const uint32_t w = from + lowest(live);
            const uint64_t s = bits[w], shifted = s << 1 | bits[(int32_t)w - 1] >> 63, turns = s ^ shifted;
            rank[w] = (uint16_t)ones(ends[w]);
            x = put_positions(x, turns, ones(turns), w * 64);

            const uint64_t u = bits_above[w], u_starts = u & ~(u << 1 | bits_above[(int32_t)w - 1] >> 63);
            const uint64_t gap = s & ~u, first = ends_above[w] & s & (eight ? ~(uint64_t)0 : shifted);
            const uint64_t half = gap + first, sum = half + carry;
            const uint64_t bridged = sum & u_starts & (eight ? ~(uint64_t)0 : s);
            carry = (half < gap) | (sum < half);
            bridges[n_bridges] = (CclBridge){ bridged, w };
            n_bridges += bridged != 0;
        }
    }
    sum_up(rank, words);
    here->n = (uint32_t)(x - here->x) / 2;
    *x = UINT16_MAX;
    return n_bridges;
}

/* Lists the runs of `here` that touch none of `above`, by the same trick: a 1 added at the start of such a run is
 * carried through to its end. */
ALWAYS_INLINE uint32_t untouched_runs(const CclRow *here, const CclRow *above, uint32_t words,
                                                                     bool eight, uint16_t *run)
{
    const uint64_t *const bits = here->bits, *const bits_above = above->bits, *const ends = here->ends;
    const uint16_t *const rank = here->rank;
    uint32_t n = 0;
    uint64_t carry = 0;

    for (uint32_t w = 0; w < words; w++) {
        const uint64_t s = bits[w], s_before = bits[(int32_t)w - 1];
        const uint64_t u = bits_above[w], u_before = bits_above[(int32_t)w - 1];
        const uint64_t beside = eight ? u << 1 | u_before >> 63 | u >> 1 | bits_above[w + 1] << 63 : 0;
        const uint64_t alone = s & ~(u | beside), start = alone & ~(s << 1 | s_before >> 63);
        const uint64_t half = alone + start, sum = half + carry;
        carry = (half < alone) | (sum < half);
        for (uint64_t e = sum & ends[w]; e; e &= e - 1)
            run[n++] = (uint16_t)(rank[w] + ones(ends[w] & below_lowest(e)));
    }
    return n;
}

#endif
