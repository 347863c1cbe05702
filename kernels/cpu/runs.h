/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Bits -> runs, and which runs of the row above are joined by one run; compiled for each tier, with its instructions. The
 * tier's positions_*.h and nonzero_words_*.h must come before. */
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
 * Fills ends, rank, x and n of `here` from its bits, and lists its bridges: where one run of `here` touches two
 * neighbouring runs above, the first bit of the right-hand one. Returns the number of words in the list.
 *
 * A run touches both only by covering the gap between them. To find covered gaps, add 1 to (here & ~above) at the first
 * bit of each gap. Where the carry arrives at the start of the next run above, the gap is covered:
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
        for (uint64_t nonzero = find_ends(bits + from, n, ends + from, rank + from); nonzero; nonzero &= nonzero - 1) {
            const uint32_t w = from + lowest(nonzero);
            const uint64_t word = bits[w], shifted = word << 1 | bits[(int32_t)w - 1] >> 63, changes = word ^ shifted;
            rank[w] = (uint16_t)ones(ends[w]);
            x = put_positions(x, changes, ones(changes), w * 64);

            const uint64_t upper = bits_above[w], upper_starts = upper & ~(upper << 1 | bits_above[(int32_t)w - 1] >> 63);
            const uint64_t gap = word & ~upper, first = ends_above[w] & word & (eight ? ~(uint64_t)0 : shifted);
            const uint64_t half = gap + first, sum = half + carry;
            const uint64_t bridged = sum & upper_starts & (eight ? ~(uint64_t)0 : word);
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

/* Lists the runs of `here` that touch no run of `above`, in the same way: a 1 added at the start of such a run carries to its
 * end. Returns their number. */
ALWAYS_INLINE uint32_t untouched_runs(const CclRow *here, const CclRow *above, uint32_t words,
                                                                     bool eight, uint16_t *run)
{
    const uint64_t *const bits = here->bits, *const bits_above = above->bits, *const ends = here->ends;
    const uint16_t *const rank = here->rank;
    uint32_t n = 0;
    uint64_t carry = 0;

    for (uint32_t w = 0; w < words; w++) {
        const uint64_t word = bits[w], before = bits[(int32_t)w - 1];
        const uint64_t upper = bits_above[w], upper_before = bits_above[(int32_t)w - 1];
        const uint64_t beside = eight ? upper << 1 | upper_before >> 63 | upper >> 1 | bits_above[w + 1] << 63 : 0;
        const uint64_t alone = word & ~(upper | beside), start = alone & ~(word << 1 | before >> 63);
        const uint64_t half = alone + start, sum = half + carry;
        carry = (half < alone) | (sum < half);
        for (uint64_t e = sum & ends[w]; e; e &= e - 1)
            run[n++] = (uint16_t)(rank[w] + ones(ends[w] & below_lowest(e)));
    }
    return n;
}

#endif
