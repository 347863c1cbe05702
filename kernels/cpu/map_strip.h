/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A strip of a label map -> provisional labels and their sums; compiled for each tier, with its instructions. Rows that can be
 * are labelled as in strip.h (map_bits.h). In the others runs of different values stand side by side, so they are cut into spans
 * (map.h). Steps for each row:
 *
 *   compare  pixels with those above and with the background; an identical row needs no further step
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
#include "map_bits.h"
#include "map_shape.h"
#include "strip.h"

#define NO_LABEL UINT32_MAX

/* ---------------------------------------------------------------- compare and cut */

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

/* Of a row that equals the row above in most words: a word may differ where it, or the pixel on its left, does. */
ALWAYS_INLINE void update_starts(CclMapStrip *map, CclMapRow *row, const CclMapRow *above, uint32_t width, bool wide)
{
    const uint32_t n_words = (width + 63) / 64;
    memcpy(row->starts, above->starts, n_words * sizeof *row->starts);
    for (uint32_t from = 0; from < n_words; from += 64) {
        const uint32_t n = n_words - from < 64 ? n_words - from : 64;
        uint64_t nonzero = above->nonzero[from / 64];
        for (uint64_t words = find_ends(map->differs + from, n, map->ends, row->rank + from); words; words &= words - 1) {
            const uint32_t w = from + lowest(words);
            find_starts(row->pixels, width, wide, w, w + 1, row->starts + w);
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

/* Spans of a row that was labelled without. */
ALWAYS_INLINE void make_spans(const CclMapStrip *map, CclMapRow *row, const CclRow *runs, uint32_t width, bool wide)
{
    uint32_t k = 0;
    begin_starts(row, width, wide);
    cut_row(row, width, wide);
    for (uint32_t i = 0; i < row->n; i++) {
        const uint32_t is_run = row->value[i] != map->background_value;
        row->label[i] = is_run ? runs->label[k] : 0;
        k += is_run;
    }
    row->has_spans = true;
}

/* Row y and the row above. */
typedef struct MapStep {
    uint32_t y;
    CclRow *row;
    const CclRow *row_above;
    CclMapRow *here, *above; /* above: NULL in the strip's first row */
} MapStep;

ALWAYS_INLINE void label_row_by_spans(CclStrip *strip, const MapStep *step, bool eight, bool wide)
{
    const uint32_t width = strip->mask->width;
    CclMapRow *const here = step->here, *const above = step->above;
    if (above && !above->has_spans)
        make_spans(strip->map, above, step->row_above, width, wide);
    if (above)
        update_starts(strip->map, here, above, width, wide);
    else
        begin_starts(here, width, wide);
    cut_row(here, width, wide);
    here->has_spans = here->mixed = true;
    if (above)
        link_spans(strip, here, above, (width + 63) / 64, eight);
    label_spans(strip, step->row, here, step->y);
    if (strip->shape)
        count_map_shape(strip, step->row, here, above, eight);
}

/* As a row of a mask, where that gives the same. False: it does not, and nothing is done. */
ALWAYS_INLINE bool label_row_by_bits(CclStrip *strip, const MapStep *step, bool eight, bool wide)
{
    CclMapRow *const here = step->here, *const above = step->above;
    CclRow *const row = step->row;
    const CclRow *const row_above = step->row_above;
    const uint32_t words = row_words(strip->mask->width), n_bridges = runs_from_bits(row, row_above, words, eight, strip->bridge);
    here->mixed = read_class_ids(here->pixels, row, wide, here->class_id);
    const bool one_value = above && !above->mixed && !here->mixed && here->class_id[0] == above->class_id[0];
    if (above && row_above->n && !one_value && !touches_equals(row, here->class_id, row_above, above->class_id))
        return false;
    here->has_spans = false;
    link_above(strip, row_above, n_bridges);
    label_runs(strip, row, row_above, step->y, words, eight);
    if (strip->shape)
        count_shape(strip, row, row_above, eight);
    return true;
}

/* Rows that are cut into spans after one that had to be. */
enum { SPAN_ROWS = 8 };

/* Makes the row above one that label_row_by_bits() can look runs up in. False: it has values side by side. */
ALWAYS_INLINE bool prepare_bits(const CclStrip *strip, CclRow *row, const CclMapRow *here, bool eight, bool wide)
{
    const MapPixels pixels = { here->pixels, NULL, strip->mask->width, false };
    const MapBits bits = pack_map_row(strip->map, &pixels, wide, row->bits);
    if (bits.pure)
        runs_from_bits(row, &strip->empty, row_words(pixels.width), eight, strip->bridge);
    return bits.pure;
}

/* n_spans: rows that are still to be cut into spans; 0: the row above has bits. */
ALWAYS_INLINE MapBits compare_map_row(const CclStrip *strip, const MapStep *step, uint32_t n_spans, bool wide)
{
    const uint32_t width = strip->mask->width;
    const uint8_t *const above = step->above ? mask_row(strip->mask, step->y - 1) : NULL;
    if (n_spans)
        return (MapBits){ .differs = !compare_rows(step->here->pixels, above, width, wide, strip->map->differs) };
    return pack_map_row(strip->map, &(MapPixels){ step->here->pixels, above, width, true }, wide, step->row->bits);
}

ALWAYS_INLINE void label_map_rows(CclStrip *strip, bool eight, bool wide)
{
    CclMapRow *above = NULL;
    const CclRow *runs = &strip->empty;
    CclRowSums identical = { 0 };
    uint32_t n_labels = 0, n_spans = 0;

    fill_background(strip->map, wide);
    for (uint32_t y = strip->y0; y < strip->y1; y++) {
        CclMapRow *const here = new_map_row(strip, above, y);
        CclRow *const row = new_map_runs(strip, here, n_labels);
        const MapStep step = { y, row, runs, here, above };
        const MapBits bits = compare_map_row(strip, &step, n_spans, wide);
        if (above && !bits.differs) {
            add_row(&identical, y);
            if (strip->stored)
                strip->stored[strip->n_stored - 1].y1 = y + 1;
            continue;
        }
        measure_rows(strip, runs, &identical);
        identical = (CclRowSums){ 0 };
        add_row(&identical, y);
        if (!bits.pure || !label_row_by_bits(strip, &step, eight, wide)) {
            label_row_by_spans(strip, &step, eight, wide);
            n_spans = n_spans ? n_spans - 1 : SPAN_ROWS;
            if (!n_spans && !prepare_bits(strip, row, here, eight, wide))
                n_spans = SPAN_ROWS;
        }
        end_map_row(strip, row, here, y, n_labels);
        n_labels += row->n + 1;
        above = here;
        runs = row->n ? row : &strip->empty;
    }
    measure_rows(strip, runs, &identical);
    strip->last = runs;
    strip->map->last = above->class_id;
}

static void label_map_strip(CclStrip *strip, bool eight, bool wide)
{
    strip->n_stored = strip->n_corners = strip->n_new = 0;
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
