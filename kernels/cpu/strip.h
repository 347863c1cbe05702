/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A strip of rows -> provisional labels and their sums; compiled for each tier, with its instructions. Row by row:
 *
 *   pack     mask -> bits; a row like the one above costs nothing more
 *   encode   bits -> runs, and the links they make between runs of the row above
 *   link     unite linked labels
 *   label    each run takes the label of the first run above that it touches, or a new one
 *   measure  sums of the runs, once for all rows that are alike
 *
 * Needs the tier's pack64_u8(), pack64_u16() and put_positions().
 */
#ifndef CCL_CPU_STRIP_H
#define CCL_CPU_STRIP_H

#include "bits.h"
#include "runs.h"
#include "tier.h"
#include "union_find.h"

static void link_above(uint32_t *parent, const CclRow *above, const uint16_t *link, uint32_t n_links)
{
    for (uint32_t i = 0; i < n_links; i++)
        unite(parent, above->label[link[i] - 1], above->label[link[i]]);
}

/* Labels the runs of `here`. Without a branch on what is above a run: that is a coin flip in a noisy mask. */
static inline __attribute__((always_inline)) void label_runs(CclStrip *strip, CclRow *here, const CclRow *above, uint32_t y,
                                                             bool eight)
{
    uint32_t *const parent = strip->parent;
    uint32_t next = strip->next_label, n_new = 0;

    for (uint32_t k = 0; k < here->n; k++) {
        const uint32_t x0 = here->x[2 * k], x1 = here->x[2 * k + 1];
        const uint32_t j = ends_below(above, x0 + !eight);
        const uint32_t is_new = above->x[2 * j] + (uint32_t)!eight > x1;
        const uint32_t old = parent[above->label[j]];
        here->label[k] = old ^ ((old ^ next) & -is_new);
        parent[next] = next;
        strip->fresh[n_new] = (uint16_t)x0;
        n_new += is_new;
        next += is_new;
    }
    here->label[here->n] = strip->first_label;

    if (strip->sums)
        for (uint32_t i = 0; i < n_new; i++)
            strip->sums[strip->next_label + i] = (CclSums){ .y0 = (uint16_t)y, .first_x = strip->fresh[i] };
    strip->next_label = next;
}

/* Adds the runs of `row` to the sums of their labels; neighbours of one label in one go. */
static void measure_runs(const CclStrip *strip, const CclRow *row, const CclRowSums *rows)
{
    for (uint32_t k = 0; k < row->n;) {
        const uint32_t label = row->label[k], x0 = row->x[2 * k];
        CclPrefix runs = { 0, 0 };
        do {
            const CclPrefix run = run_sums(strip->prefix, row->x[2 * k], row->x[2 * k + 1]);
            runs.n_x += run.n_x;
            runs.xx += run.xx;
            k++;
        } while (k < row->n && row->label[k] == label);
        add_runs(&strip->sums[label], runs, x0, row->x[2 * k - 1], rows);
    }
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
    row->bits = strip->line ? strip->line_bits + (size_t)strip->n_lines * words : strip->row_bits[i];
    row->label = strip->line ? strip->line_labels + n_labels : strip->row_labels[i];
    return row;
}

static void begin_line(CclStrip *strip, const CclRow *row, uint32_t y, uint32_t n_labels)
{
    if (strip->line)
        strip->line[strip->n_lines++] = (CclLine){ .y0 = y, .y1 = y + 1, .first_run = n_labels, .n = row->n };
}

static inline __attribute__((always_inline)) void label_strip(CclStrip *strip, bool eight)
{
    const uint32_t words = row_words(strip->mask->width);
    const CclRow *here = &strip->blank;
    CclRowSums alike = { 0 };
    uint32_t n_labels = 0;

    strip->n_lines = 0;
    strip->next_label = strip->first_label;
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
            measure_runs(strip, here, &alike);
        alike = (CclRowSums){ 0 };
        add_row(&alike, y);
        if (bits.any) {
            link_above(strip->parent, here, strip->link, runs_from_bits(row, here, words, eight, strip->link));
            label_runs(strip, row, here, y, eight);
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
        measure_runs(strip, here, &alike);
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
