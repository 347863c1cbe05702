/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A strip of rows -> provisional labels and their sums; compiled for each tier, with its instructions. Steps for each row:
 *
 *   pack     mask -> bits; a row identical to the one above needs no further step
 *   encode   bits -> runs, and which runs of the row above they bridge
 *   link     unite the labels of bridged runs
 *   label    each run takes the label of the first run above that it touches, or a new one
 *   count    with CCL_FEATURE_SHAPE: what the runs and the row above have in common   (shape_counts.h)
 *   gaps     with CCL_FEATURE_HOLES: labels of the background between runs         (gaps.h)
 *   measure  sums of the runs, once for all identical rows
 *
 * The headers with the tier's versions of these must come before: see cpu/tier/.
 */
#ifndef CCL_CPU_STRIP_H
#define CCL_CPU_STRIP_H

#include "host/bits.h"
#include "gaps.h"
#include "runs.h"
#include "shape_counts.h"
#include "tier.h"
#include "union_find.h"

/* Unites the labels of neighbours above that one run touches. Many pairs have the same label already, at random. A first pass
 * removes them without a branch. */
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

/* How many sums ahead of the current one their memory is fetched. */
#define NEW_AHEAD 128

/* Makes the labels of the runs new_runs[]. */
static void begin_labels(CclStrip *strip, const uint16_t *x, uint32_t y, uint32_t n_new)
{
    const uint32_t next = strip->next_label;
    uint32_t *restrict const parent = strip->parent + next;
    const uint16_t *restrict const new_runs = strip->new_runs;

    for (uint32_t i = 0; i < n_new; i++)
        parent[i] = next + i;
    if (strip->sums) {
        CclComponent *restrict const sums = strip->sums + next;
        for (uint32_t i = 0; i < n_new; i++) {
            __builtin_prefetch(&sums[i + NEW_AHEAD], 1); /* each is used for the first time: 5 to 10 % in fine noise */
            sums[i] = (CclComponent){ .y0 = (uint16_t)y, .first_x = x[2 * new_runs[i]] };
        }
    }
    if (strip->shape) {
        CclShapeCounts *restrict const shape = strip->shape + next;
        for (uint32_t i = 0; i < n_new; i++) {
            __builtin_prefetch(&shape[i + NEW_AHEAD], 1);
            shape[i] = (CclShapeCounts){ 0 };
        }
    }
    strip->next_label = next + n_new;
}

/* Labels the runs of `here`: each looks up the first run above that does not end before it. There is no branch on whether
 * it touches that run, which is random in a noisy mask. Returns the number of new labels; new_runs[] lists their runs. */
ALWAYS_INLINE uint32_t label_by_search(CclStrip *strip, CclRow *here, const CclRow *above,
                                                                bool eight)
{
    const uint32_t *restrict const parent = strip->parent;
    const uint16_t *restrict const x = here->x, *restrict const x_above = above->x, *restrict const rank = above->rank;
    const uint32_t *restrict const label_above = above->label;
    const uint64_t *restrict const ends = above->ends;
    uint32_t *restrict const label = here->label;
    uint16_t *restrict const new_runs = strip->new_runs;
    const uint32_t n = here->n, next = strip->next_label;
    uint32_t n_new = 0;

    for (size_t k = 0; k < n; k++) {
        const uint32_t x0 = x[2 * k] + !eight, x1 = x[2 * k + 1];
        const size_t j = rank[x0 / 64] + ones(ends[x0 / 64] & below(x0)); /* ends left of the run */
        const bool is_new = x_above[2 * j] + (uint32_t)!eight > x1;
        const uint32_t old = parent[label_above[j]];
        label[k] = is_new ? next + n_new : old;
        new_runs[n_new] = (uint16_t)k;
        n_new += is_new;
    }
    return n_new;
}

/* The same for rows with many runs. Expands the labels of the row above to its pixels, so that each run reads its label at its
 * first pixel. untouched_runs() finds the runs that touch none. */
ALWAYS_INLINE uint32_t label_by_expansion(CclStrip *strip, CclRow *here, const CclRow *above,
                                                                 uint32_t words, bool eight)
{
    const uint32_t *restrict const parent = strip->parent, *restrict const at = strip->label_at + !eight;
    const uint16_t *restrict const x = here->x;
    uint32_t *restrict const label = here->label, *restrict const label_above = above->label;
    const uint32_t n = here->n, n_above = above->n;

    for (uint32_t j = 0; j < n_above; j++)
        label_above[j] = parent[label_above[j]];
    expand_labels(strip->label_at, above->ends, label_above, words * 8);
    for (uint32_t k = 0; k < n; k++)
        label[k] = at[x[2 * k]];

    const uint32_t n_new = untouched_runs(here, above, words, eight, strip->new_runs);
    for (uint32_t i = 0; i < n_new; i++)
        label[strip->new_runs[i]] = strip->next_label + i;
    return n_new;
}

ALWAYS_INLINE void label_runs(CclStrip *strip, CclRow *here, const CclRow *above, uint32_t y,
                                                             uint32_t words, bool eight)
{
    const bool many = here->n > words * RUNS_PER_WORD_TO_EXPAND_LABELS && strip->n_new < here->n / 8;
    const uint32_t n_new = many ? label_by_expansion(strip, here, above, words, eight)
                                : label_by_search(strip, here, above, eight);

    here->label[here->n] = strip->first_label;
    strip->n_new = n_new;
    begin_labels(strip, here->x, y, n_new);
}

/* Once for all identical rows. */
static void measure_rows(CclStrip *strip, const CclRow *row, const CclRowSums *identical)
{
    if (strip->sums)
        measure_runs(strip->sums, strip->prefix, row, identical, strip->other_runs);
    if (strip->shape && identical->n > 1)
        count_repeated(strip->shape, row, identical->n - 1);
}

static void copy_first_row(CclStrip *strip, const CclRow *row)
{
    strip->first.n = row->n;
    memcpy(strip->first.x, row->x, row->n * 2 * sizeof *row->x);
    memcpy(strip->first.label, row->label, row->n * sizeof *row->label);
}

/* The row of strip->row that is not `above`. Its bits, labels and x are stored for later steps, or used until the next row. */
static CclRow *new_row(CclStrip *strip, const CclRow *above, uint32_t words, uint32_t n_labels)
{
    const unsigned i = above == &strip->row[0];
    CclRow *const row = &strip->row[i];
    row->bits = strip->stored_bits ? stored_bits(strip, strip->n_stored, words) : strip->row_bits[i];
    row->bits[-1] = 0;
    row->label = strip->stored ? strip->stored_labels + n_labels : strip->row_labels[i];
    row->x = strip->stored_x ? strip->stored_x + 2 * (size_t)n_labels : strip->row_x[i];
    return row;
}

static void store_row(CclStrip *strip, const CclRow *row, uint32_t y, uint32_t n_labels)
{
    if (strip->stored)
        strip->stored[strip->n_stored++] = (CclStoredRow){ .y0 = y, .y1 = y + 1, .first_run = n_labels, .n = row->n };
}

ALWAYS_INLINE void label_strip(CclStrip *strip, bool eight)
{
    const uint32_t words = row_words(strip->mask->width);
    const CclRow *here = &strip->empty;
    CclRowSums identical = { 0 };
    uint32_t n_labels = 0;

    strip->n_stored = strip->n_corners = 0;
    strip->next_label = strip->first_label;
    strip->n_new = 0;
    strip->parent[strip->first_label] = strip->first_label;
    for (uint32_t y = strip->y0; y < strip->y1; y++) {
        CclRow *const row = new_row(strip, here, words, n_labels);
        const RowBits bits = pack_row(strip->mask, y, row->bits, here->bits);
        if (!bits.differs && y > strip->y0) {
            add_row(&identical, y);
            if (strip->stored)
                strip->stored[strip->n_stored - 1].y1 = y + 1;
            continue;
        }
        measure_rows(strip, here, &identical);
        identical = (CclRowSums){ 0 };
        add_row(&identical, y);
        if (bits.any) {
            link_above(strip, here, runs_from_bits(row, here, words, eight, strip->bridge));
            label_runs(strip, row, here, y, words, eight);
            if (strip->shape)
                count_shape(strip, row, here, eight);
            if (strip->gaps.label)
                note_outer(strip, strip->gaps.first + n_labels);
        }
        const CclRow *const above = here;
        here = bits.any ? row : &strip->empty;
        if (strip->gaps.label)
            link_gaps(strip, here, above, strip->gaps.first + n_labels, eight);
        store_row(strip, here, y, n_labels);
        n_labels += here->n ? here->n + 1 : 0;
        if (y == strip->y0)
            copy_first_row(strip, here);
    }
    measure_rows(strip, here, &identical);
    unite_pairs(&strip->gaps);
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
