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

/* Sets same[], 1 past the width; returns whether the rows are equal. */
ALWAYS_INLINE bool compare_rows(const uint8_t *p, const uint8_t *above, uint32_t width, bool wide, uint64_t *same)
{
    const uint32_t full = width / 64, rest = width % 64;
    uint64_t all = ~(uint64_t)0;

    for (uint32_t w = 0; w < full; w++) {
        const size_t at = (size_t)w * 64 << wide;
        fetch_ahead(p + at);
        if (wide)
            fetch_ahead(p + at + 64);
        same[w] = equal_pixels(p + at, above + at, wide);
        all &= same[w];
    }
    if (rest) {
        const size_t at = (size_t)full * 64 << wide;
        same[full] = equal_rest(p + at, above + at, rest, wide) | ~below(rest);
        all &= same[full];
    }
    return all == ~(uint64_t)0;
}

/* Of words w0..w1-1; bits past the width are 0. */
ALWAYS_INLINE void find_starts(const uint8_t *p, uint32_t width, bool wide, uint32_t w0, uint32_t w1, uint64_t *starts)
{
    const size_t size = (size_t)1 << wide;
    const uint32_t full = width / 64;
    uint8_t left[128] = { 0 }; /* the left neighbours of the first 64 pixels */

    if (w0 == 0)
        memcpy(left + size, p, ((width < 64 ? width : 64) - 1) * size);
    for (uint32_t w = w0; w < w1; w++) {
        const uint8_t *const pixels = p + w * 64 * size, *const before = w ? pixels - size : left;
        starts[w] =
            w < full ? ~equal_pixels(pixels, before, wide) : ~equal_rest(pixels, before, width % 64, wide) & below(width % 64);
    }
    starts[0] |= 1;
}

/* The same for a row that equals the row above in most words. */
ALWAYS_INLINE void update_starts(CclMapRow *row, const CclMapRow *above, const uint64_t *same, uint32_t width, bool wide)
{
    const uint32_t n_words = (width + 63) / 64;
    memcpy(row->starts, above->starts, n_words * sizeof *row->starts);
    for (uint32_t from = 0; from < n_words; from += 64) {
        const uint32_t n = n_words - from < 64 ? n_words - from : 64;
        uint64_t differs = 0;
        for (uint32_t w = from; w < from + n; w++)
            differs |= (uint64_t)(~same[w] != 0 || !(same[(int32_t)w - 1] >> 63)) << (w - from);
        for (; differs; differs &= differs - 1) {
            const uint32_t w = from + lowest(differs);
            find_starts(row->pixels, width, wide, w, w + 1, row->starts);
        }
    }
}

ALWAYS_INLINE void cut_row(CclMapRow *row, uint32_t width, bool wide)
{
    const uint32_t n_words = (width + 63) / 64;
    uint16_t *x = row->x;
    uint32_t n = 0;

    for (uint32_t from = 0; from < n_words; from += 64) {
        const uint32_t to = n_words - from < 64 ? n_words : from + 64;
        uint64_t nonzero = 0;
        for (uint32_t w = from; w < to; w++) {
            row->rank[w] = (uint16_t)n;
            n += ones(row->starts[w]);
            nonzero |= (uint64_t)(row->starts[w] != 0) << (w - from);
        }
        row->nonzero[from / 64] = nonzero;
        for (; nonzero; nonzero &= nonzero - 1) {
            const uint32_t w = from + lowest(nonzero);
            x = put_positions(x, row->starts[w], ones(row->starts[w]), w * 64);
        }
    }
    *x = (uint16_t)width;
    row->n = n;
    for (uint32_t i = 0; i < n; i++) {
        row->label[i] = NO_LABEL;
        if (wide)
            memcpy(&row->value[i], row->pixels + 2 * (size_t)row->x[i], 2);
        else
            row->value[i] = row->pixels[row->x[i]];
    }
}

/* ---------------------------------------------------------------- link */

/* If `touches`, gives a span the label, or lists the pair that its own label makes with it. Returns the length of the list.
 * There is no branch, because noise is hard to predict. */
static inline uint32_t take_label(uint32_t *label, uint32_t other, bool touches, uint32_t *pair, uint32_t n)
{
    const uint32_t own = *label;
    const bool is_new = own == NO_LABEL;
    *label = touches & is_new ? other : own;
    pair[n] = own;
    pair[n + 1] = other;
    return n + (touches & !is_new & (own != other)) * 2;
}

/* The index in the row of the span of pixel x. */
static inline uint32_t span_at(const CclMapRow *row, uint32_t x)
{
    return row->rank[x / 64] + ones(row->starts[x / 64] & (~(uint64_t)0 >> (63 - x % 64))) - 1;
}

/* Lists the pixels at which a pair of spans touches first, and the corners at which spans may touch. */
ALWAYS_INLINE void find_touching(CclMapStrip *map, const CclMapRow *here, const CclMapRow *above, uint32_t n_words, bool eight)
{
    const uint64_t *const same = map->same;
    uint16_t *at = map->touching, *corner = map->corner;

    for (uint32_t from = 0; from < n_words; from += 64)
        for (uint64_t nonzero = here->nonzero[from / 64] | above->nonzero[from / 64]; nonzero; nonzero &= nonzero - 1) {
            const uint32_t w = from + lowest(nonzero);
            const uint64_t bits = same[w] & (here->starts[w] | above->starts[w]);
            at = put_positions(at, bits, ones(bits), w * 64);
            if (!eight)
                continue;
            /* Where the pixel on the left or on the right equals the one above, no corner does. */
            const uint64_t near = same[w] | same[w] << 1 | same[(int32_t)w - 1] >> 63;
            const uint64_t corners = here->starts[w] & above->starts[w] & ~near;
            corner = put_positions(corner, corners, ones(corners), w * 64);
        }
    map->n_touching = (uint32_t)(at - map->touching);
    map->n_corners = (uint32_t)(corner - map->corner);
}

/* Spans of the background are equal to others of the background, whose label is 0: its parent is 0 too. */
ALWAYS_INLINE void link_spans(CclStrip *strip, const CclMapRow *here, const CclMapRow *above, uint32_t n_words, bool eight)
{
    CclMapStrip *const map = strip->map;
    uint32_t *const parent = strip->parent, *const pair = map->pair;
    uint32_t n = 0;

    find_touching(map, here, above, n_words, eight);
    for (uint32_t k = 0; k < map->n_touching; k++) {
        const uint32_t x = map->touching[k];
        n = take_label(&here->label[span_at(here, x)], parent[above->label[span_at(above, x)]], true, pair, n);
    }
    for (uint32_t k = 0; k < map->n_corners; k++) {
        const uint32_t x = map->corner[k], i = span_at(here, x), j = span_at(above, x);
        n = take_label(&here->label[i], parent[above->label[j - 1]], here->value[i] == above->value[j - 1], pair, n);
        n = take_label(&here->label[i - 1], parent[above->label[j]], here->value[i - 1] == above->value[j], pair, n);
    }
    for (uint32_t i = 0; i < n; i += 2)
        unite(parent, pair[i], pair[i + 1]);
}

/* ---------------------------------------------------------------- label */

/* Lists the spans of the foreground as runs. Those without a label take a new one. */
static inline void label_spans(CclStrip *strip, CclRow *runs, const CclMapRow *here, uint32_t y)
{
    const unsigned background = strip->map->background_value;
    const uint32_t next = strip->next_label;
    uint32_t n_new = 0, n = 0;

    for (uint32_t i = 0; i < here->n; i++) {
        const uint32_t is_run = here->value[i] != background, is_new = is_run & (here->label[i] == NO_LABEL);
        const uint32_t label = is_new ? next + n_new : is_run ? here->label[i] : 0;
        here->label[i] = label;
        runs->x[2 * n] = here->x[i];
        runs->x[2 * n + 1] = here->x[i + 1];
        runs->label[n] = label;
        here->class_id[n] = here->value[i];
        strip->new_runs[n_new] = (uint16_t)n;
        n_new += is_new;
        n += is_run;
    }
    runs->n = n;
    runs->label[n] = strip->first_label;
    begin_labels(strip, runs->x, y, n_new);
}

/* The row of strip->map that is not `above`. */
static CclMapRow *new_map_row(const CclStrip *strip, const CclMapRow *above, uint32_t y, uint32_t n_labels)
{
    CclMapStrip *const map = strip->map;
    const unsigned i = above == &map->row[0];
    CclMapRow *const row = &map->row[i];
    row->pixels = mask_row(strip->mask, y);
    row->starts = strip->stored ? stored_bits(strip, strip->n_stored, row_words(strip->mask->width)) : map->row_starts[i];
    row->label = strip->stored ? strip->stored_labels + n_labels : map->row_labels[i];
    return row;
}

static void end_map_row(CclStrip *strip, const CclRow *runs, const CclMapRow *here, uint32_t y, uint32_t n_labels)
{
    if (strip->stored)
        strip->stored[strip->n_stored++] = (CclStoredRow){ .y0 = y, .y1 = y + 1, .first_run = n_labels, .n = here->n };
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
        if (above && compare_rows(pixels, mask_row(strip->mask, y - 1), width, wide, strip->map->same)) {
            add_row(&identical, y);
            if (strip->stored)
                strip->stored[strip->n_stored - 1].y1 = y + 1;
            continue;
        }
        measure_rows(strip, runs, &identical);
        identical = (CclRowSums){ 0 };
        add_row(&identical, y);
        CclMapRow *const here = new_map_row(strip, above, y, n_labels);
        CclRow *const row = &strip->row[here == &strip->map->row[1]];
        if (above)
            update_starts(here, above, strip->map->same, width, wide);
        else
            find_starts(pixels, width, wide, 0, n_words, here->starts);
        cut_row(here, width, wide);
        if (above)
            link_spans(strip, here, above, n_words, eight);
        label_spans(strip, row, here, y);
        end_map_row(strip, row, here, y, n_labels);
        n_labels += here->n;
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
    const uint32_t width = strip->mask->width, words = row_words(width);
    uint16_t *const x = strip->map->row[0].x;

    for (uint32_t i = 0; i < strip->n_stored; i++) {
        const CclStoredRow *const stored = &strip->stored[i];
        const uint64_t *const starts = stored_bits(strip, i, words);
        const uint32_t *const label = strip->stored_labels + stored->first_run;
        uint32_t *const out = labels_row(labels, stored->y0);
        uint16_t *end = x;

        for (uint32_t w = 0; w < (width + 63) / 64; w++)
            end = put_positions(end, starts[w], ones(starts[w]), w * 64);
        *end = (uint16_t)width;
        for (uint32_t k = 0; k < stored->n; k++)
            fill(out, x[k], x[k + 1], width, final[label[k]]);
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
