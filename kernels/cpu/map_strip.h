/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A strip of a label map -> provisional labels and their sums; compiled for each tier, with its instructions. As strip.h, but
 * runs of different values stand side by side, so rows are cut into spans (map.h). Steps for each row:
 *
 *   compare  pixels with those above; an identical row needs no further step
 *   cut      pixels -> spans
 *   link     spans that touch an equal one above take its label, and unite the labels of several
 *   label    the others of the foreground take a new label; spans of the foreground -> runs
 *   count    with CCL_FEATURE_SHAPE: what the runs and the row above have in common   (map_shape.h)
 *   measure  sums of the runs, once for all identical rows
 *
 * Two spans of equal value touch where one of them begins and the pixel equals the one above: once for each pair. At a corner
 * they touch where both rows have a start:
 *
 *     above  a a b b c     b of `here` begins where the pixels are equal. a of `here` ends, and c begins, below starts: the
 *     here   c a b b b     values left and right of these columns decide.
 */
#ifndef CCL_CPU_MAP_STRIP_H
#define CCL_CPU_MAP_STRIP_H

#include "map.h"
#include "map_shape.h"
#include "strip.h"

#define NO_LABEL UINT32_MAX

/* ---------------------------------------------------------------- compare and cut */

ALWAYS_INLINE uint64_t equal_pixels(const uint8_t *p, const uint8_t *q, bool wide)
{
    return wide ? equal_u16(p, q) : equal_u8(p, q);
}

/* The same of n < 64 pixels, and no byte more. */
ALWAYS_INLINE uint64_t equal_rest(const uint8_t *p, const uint8_t *q, uint32_t n, bool wide)
{
    uint8_t from[128] = { 0 }, to[128] = { 0 };
    memcpy(from, p, (size_t)n << wide);
    memcpy(to, q, (size_t)n << wide);
    return equal_pixels(from, to, wide) & below(n);
}

/* Sets differs[]: bit x for each pixel that differs from the one above. */
ALWAYS_INLINE bool compare_rows(const uint8_t *p, const uint8_t *above, uint32_t width, bool wide, uint64_t *differs)
{
    const uint32_t full = width / 64, rest = width % 64;
    uint64_t all = ~(uint64_t)0;

    for (uint32_t w = 0; w < full; w++) {
        const size_t at = (size_t)w * 64 << wide;
        fetch_ahead(p + at);
        if (wide)
            fetch_ahead(p + at + 64);
        const uint64_t same = equal_pixels(p + at, above + at, wide);
        differs[w] = ~same;
        all &= same;
    }
    if (rest) {
        const size_t at = (size_t)full * 64 << wide;
        const uint64_t same = equal_rest(p + at, above + at, rest, wide) | ~below(rest);
        differs[full] = ~same;
        all &= same;
    }
    return all == ~(uint64_t)0;
}

/* Of words w0..w1-1; bits past the width are 0. */
ALWAYS_INLINE void find_starts(const uint8_t *p, uint32_t width, bool wide, uint32_t w0, uint32_t w1, uint64_t *starts)
{
    const size_t size = (size_t)1 << wide;
    const uint32_t full = width / 64;
    uint8_t left[128]; /* the left neighbours of the first 64 pixels */

    if (w0 == 0) {
        memset(left, 0, sizeof left);
        memcpy(left + size, p, ((width < 64 ? width : 64) - 1) * size);
    }
    for (uint32_t w = w0; w < w1; w++) {
        const uint8_t *const pixels = p + w * 64 * size, *const before = w ? pixels - size : left;
        starts[w] =
            w < full ? ~equal_pixels(pixels, before, wide) : ~equal_rest(pixels, before, width % 64, wide) & below(width % 64);
    }
    starts[0] |= 1;
}

/* The same for a row that equals the row above in most words: a word may differ where it, or the pixel on its left, does. */
ALWAYS_INLINE void update_starts(CclMapStrip *map, CclMapRow *row, const CclMapRow *above, uint32_t width, bool wide)
{
    const uint32_t n_words = (width + 63) / 64;
    memcpy(row->starts, above->starts, n_words * sizeof *row->starts);
    for (uint32_t from = 0; from < n_words; from += 64) {
        const uint32_t n = n_words - from < 64 ? n_words - from : 64;
        uint64_t nonzero = above->nonzero[from / 64];
        for (uint64_t words = find_ends(map->differs + from, n, map->ends, row->rank + from); words; words &= words - 1) {
            const uint32_t w = from + lowest(words);
            find_starts(row->pixels, width, wide, w, w + 1, row->starts);
            nonzero = (nonzero & ~((uint64_t)1 << (w - from))) | (uint64_t)(row->starts[w] != 0) << (w - from);
        }
        row->nonzero[from / 64] = nonzero;
    }
}

/* The same without a row above. */
ALWAYS_INLINE void begin_starts(CclMapRow *row, uint32_t width, bool wide)
{
    const uint32_t n_words = (width + 63) / 64;
    memset(row->nonzero, 0, sizeof row->nonzero);
    memset(row->rank, 0, n_words * sizeof *row->rank);
    find_starts(row->pixels, width, wide, 0, n_words, row->starts);
    for (uint32_t w = 0; w < n_words; w++)
        row->nonzero[w / 64] |= (uint64_t)(row->starts[w] != 0) << (w % 64);
}

/* rank[] is 0. */
ALWAYS_INLINE void cut_row(CclMapRow *row, uint32_t width, bool wide)
{
    const uint32_t n_words = (width + 63) / 64;
    const uint8_t *restrict const pixels = row->pixels;
    const uint64_t *restrict const starts = row->starts;
    uint16_t *restrict const rank = row->rank, *restrict const value = row->value, *x = row->x;
    uint32_t *restrict const label = row->label;

    for (uint32_t from = 0; from < n_words; from += 64)
        for (uint64_t nonzero = row->nonzero[from / 64]; nonzero; nonzero &= nonzero - 1) {
            const uint32_t w = from + lowest(nonzero), n = ones(starts[w]);
            rank[w] = (uint16_t)n;
            x = put_positions(x, starts[w], n, w * 64);
        }
    sum_up(rank, n_words);
    *x = (uint16_t)width;
    const uint32_t n = row->n = (uint32_t)(x - row->x);
    x = row->x;
    for (uint32_t i = 0; i < n; i++) {
        label[i] = NO_LABEL;
        if (wide)
            memcpy(&value[i], pixels + 2 * (size_t)x[i], 2);
        else
            value[i] = pixels[x[i]];
    }
}

/* ---------------------------------------------------------------- link */

/* The index in the row of the span of pixel x. */
static inline uint32_t span_at(const uint64_t *starts, const uint16_t *rank, uint32_t x)
{
    return rank[x / 64] + ones(starts[x / 64] & (~(uint64_t)0 >> (63 - x % 64))) - 1;
}

/* Lists the pixels at which a pair of spans touches first, and the corners at which spans may touch. */
ALWAYS_INLINE void find_touching(CclMapStrip *map, const CclMapRow *here, const CclMapRow *above, uint32_t n_words,
                                 bool corners_too)
{
    const uint64_t *restrict const differs = map->differs, *restrict const starts = here->starts;
    const uint64_t *restrict const starts_above = above->starts;
    uint16_t *at = map->touching, *corner = map->corner;

    for (uint32_t from = 0; from < n_words; from += 64)
        for (uint64_t nonzero = here->nonzero[from / 64] | above->nonzero[from / 64]; nonzero; nonzero &= nonzero - 1) {
            const uint32_t w = from + lowest(nonzero);
            const uint64_t differ = differs[w], bits = ~differ & (starts[w] | starts_above[w]);
            at = put_positions(at, bits, ones(bits), w * 64);
            if (!corners_too)
                continue;
            /* If the pixel on the left or on the right equals the one above, no corner touches. */
            const uint64_t both = differ & (differ << 1 | differs[(int32_t)w - 1] >> 63);
            const uint64_t corners = starts[w] & starts_above[w] & both;
            if (corners)
                corner = put_positions(corner, corners, ones(corners), w * 64);
        }
    map->n_touching = (uint32_t)(at - map->touching);
    map->n_corners = (uint32_t)(corner - map->corner);
}

/* Gives a span the label, or lists the pair that its own label makes with it. Returns the length of the list. There is no
 * branch, because noise is hard to predict. */
static inline uint32_t take_label(uint32_t *label, uint32_t other, uint32_t *pair, uint32_t n)
{
    const uint32_t own = *label == NO_LABEL ? other : *label;
    *label = own;
    pair[n] = own;
    pair[n + 1] = other;
    return n + (own != other) * 2;
}

/* Spans that touch at a corner only. */
static uint32_t link_corners(const CclStrip *strip, const CclMapRow *here, const CclMapRow *above, uint32_t n)
{
    const CclMapStrip *const map = strip->map;
    const uint32_t *const parent = strip->parent;

    for (uint32_t k = 0; k < map->n_corners; k++) {
        const uint32_t x = map->corner[k];
        const uint32_t i = span_at(here->starts, here->rank, x), j = span_at(above->starts, above->rank, x);
        if (here->value[i] == above->value[j - 1])
            n = take_label(&here->label[i], parent[above->label[j - 1]], map->pair, n);
        if (here->value[i - 1] == above->value[j])
            n = take_label(&here->label[i - 1], parent[above->label[j]], map->pair, n);
    }
    return n;
}

/* Spans of the background are equal to others of the background, whose label is 0: its parent is 0 too. */
ALWAYS_INLINE void link_spans(CclStrip *strip, const CclMapRow *here, const CclMapRow *above, uint32_t n_words, bool eight)
{
    CclMapStrip *const map = strip->map;
    uint32_t *restrict const parent = strip->parent, *restrict const pair = map->pair, *restrict const label = here->label;
    const uint32_t *restrict const label_above = above->label;
    const uint64_t *restrict const starts = here->starts, *restrict const starts_above = above->starts;
    const uint16_t *restrict const rank = here->rank, *restrict const rank_above = above->rank;
    const uint16_t *restrict const touching = map->touching;
    uint32_t n = 0;

    find_touching(map, here, above, n_words, eight || strip->shape);
    for (uint32_t k = 0, end = map->n_touching; k < end; k++) {
        const uint32_t x = touching[k], i = span_at(starts, rank, x);
        n = take_label(&label[i], parent[label_above[span_at(starts_above, rank_above, x)]], pair, n);
    }
    if (eight && map->n_corners)
        n = link_corners(strip, here, above, n);
    for (uint32_t i = 0; i < n; i += 2)
        unite(parent, pair[i], pair[i + 1]);
}

/* ---------------------------------------------------------------- label */

/* Lists the spans of the foreground as runs. Those without a label take a new one. */
static inline void label_spans(CclStrip *strip, CclRow *runs, const CclMapRow *here, uint32_t y)
{
    const uint32_t background = strip->map->background_value, next = strip->next_label, n_spans = here->n;
    const uint16_t *restrict const x = here->x, *restrict const value = here->value;
    uint16_t *restrict const run_x = runs->x, *restrict const class_id = here->class_id;
    uint16_t *restrict const new_runs = strip->new_runs;
    uint32_t *restrict const label = here->label, *restrict const run_label = runs->label;
    uint32_t n_new = 0, n = 0;

    for (uint32_t i = 0; i < n_spans; i++) {
        const uint32_t is_run = value[i] != background, is_new = is_run & (label[i] == NO_LABEL);
        const uint32_t fresh = is_new ? next + n_new : label[i], final = is_run ? fresh : 0;
        label[i] = final;
        run_x[2 * n] = x[i];
        run_x[2 * n + 1] = x[i + 1];
        run_label[n] = final;
        class_id[n] = value[i];
        new_runs[n_new] = (uint16_t)n;
        n_new += is_new;
        n += is_run;
    }
    runs->n = n;
    run_label[n] = strip->first_label;
    begin_labels(strip, run_x, y, n_new);
}

/* ---------------------------------------------------------------- count */

/* The pairs that link_spans() has found, but those of the background. */
static void count_touching(const CclStrip *strip, const CclMapRow *here, const CclMapRow *above)
{
    const CclMapStrip *const map = strip->map;
    for (uint32_t k = 0; k < map->n_touching; k++) {
        const uint32_t i = span_at(here->starts, here->rank, map->touching[k]);
        const uint32_t j = span_at(above->starts, above->rank, map->touching[k]);
        if (here->label[i])
            ccl_map_count_overlap(&strip->shape[here->label[i]], &above->x[j], &here->x[i]);
    }
}

static void count_corners(CclStrip *strip, const CclMapRow *here, const CclMapRow *above, bool eight)
{
    const CclMapStrip *const map = strip->map;
    for (uint32_t k = 0; k < map->n_corners; k++) {
        const uint32_t x = map->corner[k];
        const uint32_t i = span_at(here->starts, here->rank, x), j = span_at(above->starts, above->rank, x);
        if (here->label[i] && here->value[i] == above->value[j - 1])
            ccl_map_count_corner(strip, here->label[i], above->label[j - 1], eight);
        if (here->label[i - 1] && here->value[i - 1] == above->value[j])
            ccl_map_count_corner(strip, here->label[i - 1], above->label[j], eight);
    }
}

/* above: NULL in the strip's first row. */
static void count_map_shape(CclStrip *strip, const CclRow *runs, const CclMapRow *here, const CclMapRow *above, bool eight)
{
    for (size_t k = 0; k < runs->n; k++) {
        CclShapeCounts *const counts = &strip->shape[runs->label[k]];
        const uint32_t n = (uint32_t)(runs->x[2 * k + 1] - runs->x[2 * k]);
        counts->euler++;
        counts->runs++;
        counts->tops += n;
        counts->diagonals += 2 * n;
    }
    if (!above)
        return;
    count_touching(strip, here, above);
    count_corners(strip, here, above, eight);
}

/* The row of strip->map that is not `above`. */
static CclMapRow *new_map_row(const CclStrip *strip, const CclMapRow *above, uint32_t y)
{
    CclMapStrip *const map = strip->map;
    CclMapRow *const row = &map->row[above == &map->row[0]];
    row->pixels = mask_row(strip->mask, y);
    return row;
}

/* Its runs: where they are stored, or used until the next row. */
static CclRow *new_map_runs(CclStrip *strip, const CclMapRow *here, uint32_t n_labels)
{
    const unsigned i = here == &strip->map->row[1];
    CclRow *const runs = &strip->row[i];
    runs->label = strip->stored ? strip->stored_labels + n_labels : strip->row_labels[i];
    runs->x = strip->stored ? strip->stored_x + 2 * (size_t)n_labels : strip->row_x[i];
    return runs;
}

static void end_map_row(CclStrip *strip, const CclRow *runs, const CclMapRow *here, uint32_t y, uint32_t n_labels)
{
    store_row(strip, runs, y, n_labels);
    if (y != strip->y0)
        return;
    copy_first_row(strip, runs);
    memcpy(strip->map->first, here->class_id, runs->n * sizeof *here->class_id);
}

ALWAYS_INLINE void label_map_rows(CclStrip *strip, bool eight, bool wide)
{
    const uint32_t width = strip->mask->width, n_words = (width + 63) / 64;
    const CclMapRow *above = NULL;
    const CclRow *runs = &strip->empty;
    CclRowSums identical = { 0 };
    uint32_t n_labels = 0;

    for (uint32_t y = strip->y0; y < strip->y1; y++) {
        const uint8_t *const pixels = mask_row(strip->mask, y);
        if (above && compare_rows(pixels, mask_row(strip->mask, y - 1), width, wide, strip->map->differs)) {
            add_row(&identical, y);
            if (strip->stored)
                strip->stored[strip->n_stored - 1].y1 = y + 1;
            continue;
        }
        measure_rows(strip, runs, &identical);
        identical = (CclRowSums){ 0 };
        add_row(&identical, y);
        CclMapRow *const here = new_map_row(strip, above, y);
        CclRow *const row = new_map_runs(strip, here, n_labels);
        if (above)
            update_starts(strip->map, here, above, width, wide);
        else
            begin_starts(here, width, wide);
        cut_row(here, width, wide);
        if (above)
            link_spans(strip, here, above, n_words, eight);
        label_spans(strip, row, here, y);
        if (strip->shape)
            count_map_shape(strip, row, here, above, eight);
        end_map_row(strip, row, here, y, n_labels);
        n_labels += row->n + 1;
        above = here;
        runs = row;
    }
    measure_rows(strip, runs, &identical);
    strip->last = runs;
    strip->map->last = above->class_id;
}

static void label_map_strip(CclStrip *strip, bool eight, bool wide)
{
    strip->n_stored = strip->n_corners = 0;
    strip->next_label = strip->first_label;
    strip->parent[strip->first_label] = strip->first_label;
    if (eight && wide)
        label_map_rows(strip, true, true);
    else if (eight)
        label_map_rows(strip, true, false);
    else if (wide)
        label_map_rows(strip, false, true);
    else
        label_map_rows(strip, false, false);
}

static void label_map_strip4(CclStrip *strip)
{
    label_map_strip(strip, false, strip->mask->pixel_size == 2);
}

static void label_map_strip8(CclStrip *strip)
{
    label_map_strip(strip, true, strip->mask->pixel_size == 2);
}

/* ---------------------------------------------------------------- paint, and volumes */

static void paint_map_strip(const CclStrip *strip, const CclLabels *labels, const uint32_t *final)
{
    const uint32_t width = strip->mask->width;

    for (uint32_t i = 0; i < strip->n_stored; i++) {
        const CclStoredRow *const stored = &strip->stored[i];
        const uint16_t *const x = strip->stored_x + 2 * (size_t)stored->first_run;
        const uint32_t *const label = strip->stored_labels + stored->first_run;
        uint32_t *const out = labels_row(labels, stored->y0);
        uint32_t from = 0;

        for (size_t k = 0; k < stored->n; k++) {
            if (from < x[2 * k])
                fill(out, from, x[2 * k], width, 0);
            fill(out, x[2 * k], x[2 * k + 1], width, final[label[k]]);
            from = x[2 * k + 1];
        }
        fill(out, from, width, width, 0);
        for (uint32_t y = stored->y0 + 1; y < stored->y1; y++)
            memcpy(labels_row(labels, y), out, (size_t)width * sizeof *out);
    }
}

static void find_map_starts(const CclMask *mask, uint32_t y, uint64_t *starts)
{
    if (mask->pixel_size == 2)
        find_starts(mask_row(mask, y), mask->width, true, 0, (mask->width + 63) / 64, starts);
    else
        find_starts(mask_row(mask, y), mask->width, false, 0, (mask->width + 63) / 64, starts);
}

static const CclMapTier map_tier = {
    .label = { label_map_strip4, label_map_strip8 },
    .paint = paint_map_strip,
    .find_starts = find_map_starts,
};

#endif
