/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A strip of rows -> provisional labels and their sums; compiled for each tier, with its instructions. Row by row:
 *
 *   pack     mask -> bits; a row like the one above costs nothing more
 *   encode   bits -> runs, and which runs of the row above they bridge
 *   link     unite the labels of bridged runs
 *   label    each run takes the label of the first run above that it touches, or a new one
 *   measure  sums of the runs, once for all rows that are alike
 *
 * Needs the tier's primitives: see the other headers included here.
 */
#ifndef CCL_CPU_STRIP_H
#define CCL_CPU_STRIP_H

#include "host/bits.h"
#include "runs.h"
#include "tier.h"
#include "union_find.h"

/* Unites the labels of neighbours above that one run touches. Many are the same already; which, is hard to predict, so
 * those are left out first, without a branch. */
static void link_above(CclStrip *strip, const CclRow *above, uint32_t n_bridges)
{
    const CclBridge *restrict const bridges = strip->bridge;
    const uint32_t *restrict const label = above->label;
    uint32_t *restrict const parent = strip->parent, *restrict const pair = strip->label_at;
    uint32_t n = 0;

    for (uint32_t i = 0; i < n_bridges; i++) {
        const uint32_t rank = above->rank[bridges[i].word];
        const uint64_t ends = above->ends[bridges[i].word];
        for (uint64_t bits = bridges[i].bits; bits; bits &= bits - 1) {
            const uint32_t j = rank + ones(ends & below_lowest(bits));
            pair[n] = label[j - 1];
            pair[n + 1] = label[j];
            n += pair[n] != pair[n + 1] ? 2 : 0;
        }
    }
    for (uint32_t i = 0; i < n; i += 2)
        unite(parent, pair[i], pair[i + 1]);
}

/* Sums whose memory is fetched before they are made. */
#define NEW_AHEAD 128

/* Makes the new labels of the runs fresh[]. */
static void begin_labels(CclStrip *strip, const uint16_t *x, uint32_t y, uint32_t n_new)
{
    const uint32_t next = strip->next_label;
    uint32_t *restrict const parent = strip->parent + next;
    const uint16_t *restrict const fresh = strip->fresh;

    for (uint32_t i = 0; i < n_new; i++)
        parent[i] = next + i;
    if (strip->sums) {
        CclComponent *restrict const sums = strip->sums + next;
        for (uint32_t i = 0; i < n_new; i++) {
            __builtin_prefetch(&sums[i + NEW_AHEAD], 1); /* new memory all the time: 5 to 10 % in fine noise */
            sums[i] = (CclComponent){ .y0 = (uint16_t)y, .first_x = x[2 * fresh[i]] };
        }
    }
    strip->next_label = next + n_new;
}

/* Labels the runs of `here`. Without a branch on what is above a run: that is a coin flip in a noisy mask. Returns
 * how many are new; fresh[] says which. */
ALWAYS_INLINE uint32_t label_few(CclStrip *strip, CclRow *here, const CclRow *above,
                                                                bool eight)
{
    const uint32_t *restrict const parent = strip->parent;
    const uint16_t *restrict const x = here->x, *restrict const x_above = above->x, *restrict const rank = above->rank;
    const uint32_t *restrict const label_above = above->label;
    const uint64_t *restrict const ends = above->ends;
    uint32_t *restrict const label = here->label;
    uint16_t *restrict const fresh = strip->fresh;
    const uint32_t n = here->n, next = strip->next_label;
    uint32_t n_new = 0;

    for (size_t k = 0; k < n; k++) {
        const uint32_t x0 = x[2 * k] + !eight, x1 = x[2 * k + 1];
        const size_t j = rank[x0 / 64] + ones(ends[x0 / 64] & below(x0)); /* ends left of the run */
        const bool is_new = x_above[2 * j] + (uint32_t)!eight > x1;
        const uint32_t old = parent[label_above[j]];
        label[k] = is_new ? next + n_new : old;
        fresh[n_new] = (uint16_t)k;
        n_new += is_new;
    }
    return n_new;
}

/* The same for many runs: the labels of the row above are laid out pixel by pixel, so that each run finds its own at
 * its first pixel; the runs that touch nothing are found by the carry that passes through them. */
ALWAYS_INLINE uint32_t label_many(CclStrip *strip, CclRow *here, const CclRow *above,
                                                                 uint32_t words, bool eight)
{
    const uint32_t *restrict const parent = strip->parent, *restrict const at = strip->label_at + !eight;
    const uint16_t *restrict const x = here->x;
    uint32_t *restrict const label = here->label, *restrict const label_above = above->label;
    const uint32_t n = here->n, n_above = above->n;

    for (uint32_t j = 0; j < n_above; j++)
        label_above[j] = parent[label_above[j]];
    spread_labels(strip->label_at, above->ends, label_above, words * 8);
    for (uint32_t k = 0; k < n; k++)
        label[k] = at[x[2 * k]];

    const uint32_t n_new = untouched_runs(here, above, words, eight, strip->fresh);
    for (uint32_t i = 0; i < n_new; i++)
        label[strip->fresh[i]] = strip->next_label + i;
    return n_new;
}

ALWAYS_INLINE void label_runs(CclStrip *strip, CclRow *here, const CclRow *above, uint32_t y,
                                                             uint32_t words, bool eight)
{
    const bool many = here->n > words * RUNS_PER_WORD_IF_MANY && strip->n_new < here->n / 8;
    const uint32_t n_new = many ? label_many(strip, here, above, words, eight) : label_few(strip, here, above, eight);

    here->label[here->n] = strip->first_label;
    strip->n_new = n_new;
    begin_labels(strip, here->x, y, n_new);
}

static void copy_first_row(CclStrip *strip, const CclRow *row)
{
    strip->first.n = row->n;
    memcpy(strip->first.x, row->x, row->n * 2 * sizeof *row->x);
    memcpy(strip->first.label, row->label, row->n * sizeof *row->label);
}

/* A row that is not `above`; its bits and labels go where they will be painted from, or nowhere that lasts. */
static CclRow *new_row(CclStrip *strip, const CclRow *above, uint32_t words, uint32_t n_labels)
{
    const unsigned i = above == &strip->row[0];
    CclRow *const row = &strip->row[i];
    row->bits = strip->line ? line_bits(strip, strip->n_lines, words) : strip->row_bits[i];
    row->bits[-1] = 0;
    row->label = strip->line ? strip->line_labels + n_labels : strip->row_labels[i];
    return row;
}

static void begin_line(CclStrip *strip, const CclRow *row, uint32_t y, uint32_t n_labels)
{
    if (strip->line)
        strip->line[strip->n_lines++] = (CclLine){ .y0 = y, .y1 = y + 1, .first_run = n_labels, .n = row->n };
}

ALWAYS_INLINE void label_strip(CclStrip *strip, bool eight)
{
    const uint32_t words = row_words(strip->mask->width);
    const CclRow *here = &strip->blank;
    CclRowSums alike = { 0 };
    uint32_t n_labels = 0;

    strip->n_lines = 0;
    strip->next_label = strip->first_label;
    strip->n_new = 0;
    strip->parent[strip->first_label] = strip->first_label;
    for (uint32_t y = strip->y0; y < strip->y1; y++) {
        CclRow *const row = new_row(strip, here, words, n_labels);
        const RowBits bits = pack_row(strip->mask, y, row->bits, here->bits);
        if (!bits.differs && y > strip->y0) {
            add_row(&alike, y);
            if (strip->line)
                strip->line[strip->n_lines - 1].y1 = y + 1;
            continue;
        }
        if (strip->sums)
            measure_runs(strip->sums, strip->prefix, here, &alike, strip->other);
        alike = (CclRowSums){ 0 };
        add_row(&alike, y);
        if (bits.any) {
            link_above(strip, here, runs_from_bits(row, here, words, eight, strip->bridge));
            label_runs(strip, row, here, y, words, eight);
            here = row;
        } else {
            here = &strip->blank;
        }
        begin_line(strip, here, y, n_labels);
        n_labels += here->n ? here->n + 1 : 0;
        if (y == strip->y0)
            copy_first_row(strip, here);
    }
    if (strip->sums)
        measure_runs(strip->sums, strip->prefix, here, &alike, strip->other);
    strip->last = here;
}

static void label_strip4(CclStrip *strip)
{
    label_strip(strip, false);
}

static void label_strip8(CclStrip *strip)
{
    label_strip(strip, true);
}

#endif
