/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The self-test: the right method with a planted fault, one at a time. The suites must find each, and nothing in the method
 * without a fault. The faults are of kinds that real methods have: at the edges of words and blocks, in sums that are too
 * narrow, in data left from the frame before, at the maximum number of components, in memory outside the images.
 */
#include "checkccl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PIXEL(labels, image, x, y) ((labels)[(size_t)(y) * (image)->width + (x)])

static bool lit(const Case *c, uint32_t x, uint32_t y)
{
    return x < c->image->width && y < c->image->height && *image_at(c->image, x, y);
}

/* ---------------------------------------------------------------- labels */

static void rename_label(const Case *c, Outcome *o, uint32_t from, uint32_t to)
{
    for (size_t i = 0; i < (size_t)c->image->width * c->image->height; i++)
        if (o->labels[i] == from)
            o->labels[i] = to;
}

static void swaps_labels(const Case *c, Outcome *o)
{
    if (c->product != PRODUCT_LABELS || o->table.n_kept < 40)
        return;
    rename_label(c, o, 38, UINT32_MAX);
    rename_label(c, o, 39, 38);
    rename_label(c, o, UINT32_MAX, 39);
}

static void drops_pixel_at_word_end(const Case *c, Outcome *o)
{
    if (c->product == PRODUCT_TABLE)
        return;
    for (uint32_t y = 0; y < c->image->height; y++)
        for (uint32_t x = 31; x < c->image->width; x += 32)
            if (lit(c, x, y) && !lit(c, x - 1, y))
                PIXEL(o->labels, c->image, x, y) = 0;
}

static void misses_last_odd_column(const Case *c, Outcome *o)
{
    if (c->product == PRODUCT_PROVISIONAL && c->image->width > 1 && c->image->width % 2)
        for (uint32_t y = 0; y < c->image->height; y++)
            PIXEL(o->labels, c->image, c->image->width - 1, y) = 0;
}

static void cuts_at_block_edge(const Case *c, Outcome *o)
{
    if (c->product != PRODUCT_PROVISIONAL)
        return;
    for (uint32_t y = 16; y < c->image->height; y += 16)
        for (uint32_t x = 15; x + 1 < c->image->width; x += 16)
            if (lit(c, x, y - 1) && lit(c, x + 1, y) && !lit(c, x, y) && !lit(c, x + 1, y - 1) &&
                PIXEL(o->labels, c->image, x, y - 1) == PIXEL(o->labels, c->image, x + 1, y))
                PIXEL(o->labels, c->image, x + 1, y) = (uint32_t)((size_t)c->image->width * c->image->height);
}

static void joins_across_corner(const Case *c, Outcome *o)
{
    if (c->product != PRODUCT_PROVISIONAL)
        return;
    for (uint32_t y = 8; y < c->image->height; y += 8)
        for (uint32_t x = 7; x + 1 < c->image->width; x += 8)
            if (lit(c, x + 1, y - 1) && lit(c, x, y) && !lit(c, x, y - 1) && !lit(c, x + 1, y))
                rename_label(c, o, PIXEL(o->labels, c->image, x, y), PIXEL(o->labels, c->image, x + 1, y - 1));
}

static void keeps_labels_in_16_bits(const Case *c, Outcome *o)
{
    if (c->product == PRODUCT_LABELS)
        for (size_t i = 0; i < (size_t)c->image->width * c->image->height; i++)
            o->labels[i] &= 0xffff;
}

static void forgets_to_clear_blank_rows(const Case *c, Outcome *o)
{
    if (c->product == PRODUCT_TABLE)
        return;
    for (uint32_t y = 0; y < c->image->height; y++)
        if (!memchr(image_at(c->image, 0, y), 1, c->image->width))
            PIXEL(o->labels, c->image, c->image->width / 2, y) = 0xa5a5a5a5;
}

static void labels_dropped_components(const Case *c, Outcome *o)
{
    if (c->product == PRODUCT_LABELS && c->filter.border == CCL_BORDER_DROP)
        for (uint32_t x = 0; x < c->image->width; x++)
            if (lit(c, x, 0))
                PIXEL(o->labels, c->image, x, 0) = 1;
}

static void labels_stop_at_the_cap(const Case *c, Outcome *o)
{
    if (c->product == PRODUCT_LABELS && c->max_components && c->order == CCL_ORDER_RASTER)
        for (size_t i = 0; i < (size_t)c->image->width * c->image->height; i++)
            if (o->labels[i] > c->max_components)
                o->labels[i] = 0;
}

/* ---------------------------------------------------------------- sums and boxes */

#define EACH_ROW(row, o) for (CclComponent *row = (o)->rows; row < (o)->rows + (o)->table.n_components; row++)

static void adds_in_32_bits(const Case *c, Outcome *o)
{
    (void)c;
    EACH_ROW (row, o)
        row->moments.m20 = (uint32_t)row->moments.m20;
}

static void counts_area_in_16_bits(const Case *c, Outcome *o)
{
    (void)c;
    EACH_ROW (row, o)
        row->moments.area = (uint16_t)row->moments.area;
}

static void miscounts_m11_of_long_rows(const Case *c, Outcome *o)
{
    (void)c;
    EACH_ROW (row, o)
        if (row->x1 - row->x0 > 64 && row->y1 - row->y0 == 1)
            row->moments.m11++;
}

static void swaps_m10_and_m01(const Case *c, Outcome *o)
{
    (void)c;
    EACH_ROW (row, o) {
        const uint64_t m10 = row->moments.m10;
        row->moments.m10 = row->moments.m01;
        row->moments.m01 = m10;
    }
}

static void closes_boxes(const Case *c, Outcome *o)
{
    (void)c;
    EACH_ROW (row, o)
        if (row->x1 % 64 == 0)
            row->x1--;
}

static void takes_left_for_first(const Case *c, Outcome *o)
{
    (void)c;
    EACH_ROW (row, o)
        row->first_x = row->x0;
}

static void flags_by_the_context_size(const Case *c, Outcome *o)
{
    (void)c;
    EACH_ROW (row, o)
        if (o->table.width % 32)
            row->flags &= (uint16_t)~CCL_TOUCHES_RIGHT;
}

static void flags_with_border_keep(const Case *c, Outcome *o)
{
    if (c->filter.border == CCL_BORDER_KEEP)
        EACH_ROW (row, o)
            if (!row->y0)
                row->flags |= CCL_TOUCHES_TOP;
}

static void misses_diagonals_at_word_ends(const Case *c, Outcome *o)
{
    (void)c;
    EACH_ROW (row, o)
        if (o->table.shape && row->x1 == 64)
            o->shape[row->label - 1].diagonals++;
}

static void counts_holes_of_large_components_only(const Case *c, Outcome *o)
{
    (void)c;
    EACH_ROW (row, o)
        if (o->table.shape && row->moments.area < 9)
            o->shape[row->label - 1].euler = 1;
}

static void takes_the_rectangle_on_any_edge(const Case *c, Outcome *o)
{
    (void)c;
    EACH_ROW (row, o)
        if (o->table.hull && row->x1 - row->x0 == 5)
            o->hull[row->label - 1].rect_dy = 0;
}

static void measures_pixel_centres(const Case *c, Outcome *o)
{
    (void)c;
    EACH_ROW (row, o)
        if (o->table.hull && row->moments.area == 7)
            o->hull[row->label - 1].area2 -= 2;
}

static void weighs_from_the_box(const Case *c, Outcome *o)
{
    (void)c;
    for (uint32_t i = 0; o->table.intensity && i < o->table.n_components; i++)
        o->intensity[o->rows[i].label - 1].x -= o->rows[i].x0 * o->intensity[o->rows[i].label - 1].sum;
}

static void counts_half_of_chroma(const Case *c, Outcome *o)
{
    (void)c;
    for (uint32_t i = 0; o->table.intensity && i < o->table.n_components; i++)
        if (o->rows[i].x1 % 2)
            o->intensity[o->rows[i].label - 1].chroma[1] /= 2;
}

static void forgets_islands(const Case *c, Outcome *o)
{
    (void)c;
    for (uint32_t i = 0; o->table.holes && i < o->table.n_hole_rows; i++)
        o->hole_rows[i].area_filled = o->hole_rows[i].area;
}

/* ---------------------------------------------------------------- the table */

static void swap_rows(CclComponent *a, CclComponent *b)
{
    const CclComponent t = *a;
    *a = *b;
    *b = t;
}

static void numbers_by_the_box(const Case *c, Outcome *o)
{
    (void)c;
    for (uint32_t i = 1; i < o->table.n_components; i++)
        if (o->rows[i - 1].y0 == o->rows[i].y0 && o->rows[i - 1].x0 > o->rows[i].x0) {
            swap_rows(&o->rows[i - 1], &o->rows[i]);
            o->rows[i - 1].label--;
            o->rows[i].label++;
        }
}

static void sorts_equal_areas_anyhow(const Case *c, Outcome *o)
{
    const uint32_t n = o->table.n_components;
    if (c->order == CCL_ORDER_AREA && n > 1 && o->rows[n - 1].moments.area == o->rows[n - 2].moments.area)
        swap_rows(&o->rows[n - 1], &o->rows[n - 2]);
}

static void stops_counting_at_the_cap(const Case *c, Outcome *o)
{
    (void)c;
    o->table.n_kept = o->table.n_components;
}

static void counts_found_after_the_filter(const Case *c, Outcome *o)
{
    (void)c;
    o->table.n_found = o->table.n_kept;
}

static void forgets_the_truncated_flag(const Case *c, Outcome *o)
{
    (void)c;
    o->table.flags = 0;
}

static void filters_too_much(const Case *c, Outcome *o)
{
    const uint32_t n = o->table.n_components;
    if (n && c->filter.min_area && o->rows[n - 1].moments.area == c->filter.min_area) /* > instead of >= */
        o->table.n_components--, o->table.n_kept--;
}

static void loses_the_last_row(const Case *c, Outcome *o)
{
    (void)c;
    if (o->table.n_components % 256 == 255)
        memset(&o->rows[o->table.n_components - 1], 0, sizeof *o->rows);
}

/* ---------------------------------------------------------------- what a frame leaves to the next */

static void adds_to_the_frame_before(const Case *c, Outcome *o)
{
    static uint32_t before;
    (void)c;
    if (before > 3 && o->table.n_components == 3)
        o->rows[2].moments.area++;
    before = o->table.n_components;
}

static void races(const Case *c, Outcome *o)
{
    static unsigned turn;
    (void)c;
    if (o->table.n_components > 20 && ++turn % 13 == 0)
        o->rows[17].moments.m02++;
}

static void mixes_frames_in_flight(const Case *c, Outcome *o)
{
    static Outcome before;
    static uint32_t width, height;
    const bool same = width == c->image->width && height == c->image->height && before.table.n_components == 2;
    const uint32_t n = o->table.n_components;
    CclComponent last[2] = { 0 };
    if (n == 2)
        memcpy(last, o->rows, sizeof last);
    if (same && n == 2)
        memcpy(o->rows, before.rows, sizeof last);
    width = c->image->width, height = c->image->height;
    before.table.n_components = n;
    if (!before.rows)
        before.rows = calloc(2, sizeof last);
    memcpy(before.rows, last, sizeof last);
}

/* ---------------------------------------------------------------- how masks lie */

static void one_more(Outcome *o, bool wrong)
{
    if (wrong)
        o->table.n_found++;
}

static void counts_padding(const Case *c, Outcome *o)
{
    one_more(o, c->layout.mask_pad > 0);
}

static void takes_low_bytes(const Case *c, Outcome *o)
{
    one_more(o, c->layout.pixel_size == 2 && c->layout.threshold > 255);
}

static void compares_signed(const Case *c, Outcome *o)
{
    one_more(o, c->layout.pixel_size == 1 && c->layout.threshold > 127 && c->layout.threshold < 255);
}

static void wraps_thresholds(const Case *c, Outcome *o)
{
    one_more(o, c->layout.threshold > 255 && c->layout.pixel_size == 1);
}

static void forgets_to_invert(const Case *c, Outcome *o)
{
    one_more(o, c->layout.invert && c->layout.threshold == 0);
}

static void fails(const Case *c, Outcome *o)
{
    if (c->image->width == 1 && c->image->height > 16)
        snprintf(o->error, sizeof o->error, "ccl_submit: planted");
}

/* ---------------------------------------------------------------- memory */

static void writes_behind_a_row(const CclMask *mask, const CclLabels *labels)
{
    if (labels->data && labels->stride > 4 * (size_t)mask->width)
        labels->data[mask->width] = 0;
}

static void writes_before_the_labels(const CclMask *mask, const CclLabels *labels)
{
    (void)mask;
    if (labels->data)
        labels->data[-1] = 0;
}

static void writes_the_mask(const CclMask *mask, const CclLabels *labels)
{
    (void)labels;
    ((uint8_t *)(uintptr_t)mask->data)[0] ^= 1;
}

static void reads_behind_the_mask(const CclMask *mask, const CclLabels *labels)
{
    (void)labels;
    const uint8_t *const end = (const uint8_t *)mask->data + (mask->height - 1) * mask->stride;
    volatile uint8_t byte = end[(size_t)mask->width * mask->pixel_size];
    (void)byte;
}

static void reads_before_the_mask(const CclMask *mask, const CclLabels *labels)
{
    (void)labels;
    volatile uint8_t byte = ((const uint8_t *)mask->data)[-1];
    (void)byte;
}

static void writes_behind_the_labels(const CclMask *mask, const CclLabels *labels)
{
    if (labels->data)
        *(volatile uint32_t *)((uint8_t *)labels->data + (mask->height - 1) * labels->stride +
                               4 * (size_t)mask->width) = 0;
}

/* ---------------------------------------------------------------- all of them */

#define SPOILS(name) { #name, name, NULL, false }
static const Fault faults[] = {
    SPOILS(swaps_labels),
    SPOILS(drops_pixel_at_word_end),
    SPOILS(misses_last_odd_column),
    SPOILS(cuts_at_block_edge),
    SPOILS(joins_across_corner),
    SPOILS(keeps_labels_in_16_bits),
    SPOILS(forgets_to_clear_blank_rows),
    SPOILS(labels_dropped_components),
    SPOILS(labels_stop_at_the_cap),
    SPOILS(adds_in_32_bits),
    SPOILS(counts_area_in_16_bits),
    SPOILS(miscounts_m11_of_long_rows),
    SPOILS(swaps_m10_and_m01),
    SPOILS(closes_boxes),
    SPOILS(takes_left_for_first),
    SPOILS(flags_by_the_context_size),
    SPOILS(flags_with_border_keep),
    SPOILS(misses_diagonals_at_word_ends),
    SPOILS(counts_holes_of_large_components_only),
    SPOILS(takes_the_rectangle_on_any_edge),
    SPOILS(measures_pixel_centres),
    SPOILS(forgets_islands),
    SPOILS(weighs_from_the_box),
    SPOILS(counts_half_of_chroma),
    SPOILS(numbers_by_the_box),
    SPOILS(sorts_equal_areas_anyhow),
    SPOILS(stops_counting_at_the_cap),
    SPOILS(counts_found_after_the_filter),
    SPOILS(forgets_the_truncated_flag),
    SPOILS(filters_too_much),
    SPOILS(loses_the_last_row),
    SPOILS(adds_to_the_frame_before),
    SPOILS(races),
    SPOILS(mixes_frames_in_flight),
    SPOILS(counts_padding),
    SPOILS(takes_low_bytes),
    SPOILS(compares_signed),
    SPOILS(wraps_thresholds),
    SPOILS(forgets_to_invert),
    SPOILS(fails),
    { "writes_behind_a_row", NULL, writes_behind_a_row, false },
    { "writes_before_the_labels", NULL, writes_before_the_labels, false },
    { "writes_the_mask", NULL, writes_the_mask, false },
    { "reads_behind_the_mask", NULL, reads_behind_the_mask, true },
    { "reads_before_the_mask", NULL, reads_before_the_mask, true },
    { "writes_behind_the_labels", NULL, writes_behind_the_labels, true },
};
enum { N_FAULTS = sizeof faults / sizeof *faults };

static Subject faulty_subject(const Fault *fault, CclConnectivity connectivity)
{
    Subject subject = { .config = ccl_config_default(), .features_counted = ~0u, .fault = fault };
    subject.config.algorithm = "runs";
    subject.config.connectivity = connectivity;
    subject.config.threads = 1;
    snprintf(subject.name, sizeof subject.name, "runs %d with a fault", (int)connectivity);
    return subject;
}

/* Failures of both connectivities, in the quick suites; each stops at its first. */
static unsigned long failures_with(const Session *session, const Fault *fault)
{
    static void (*const suites[])(Session *) = { check_features, check_table,  check_shape,    check_hull,
                                                 check_holes,    check_labels, check_intensity }; /* shortest first */
    Subject subjects[2] = { faulty_subject(fault, CCL_CONNECT_8), faulty_subject(fault, CCL_CONNECT_4) };
    Session trial = { .subjects = subjects, .n_subjects = 2, .seed = session->seed, .quick = true, .quiet = true };

    for (unsigned i = 0; i < sizeof suites / sizeof *suites && !(fault && trial.failed); i++) {
        trial.random.state = session->seed;
        suites[i](&trial);
    }
    subject_close(&subjects[0]);
    subject_close(&subjects[1]);
    return trial.failed;
}

/* The same where the fault ends the process: as a child, which must say what happened and leave with 1. */
static bool crash_is_reported(const Session *session, const Fault *fault)
{
    int ends[2], status;
    char said[300] = "";
    if (pipe(ends))
        return false;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        failures_with(session, fault);
        _exit(0);
    }
    close(ends[1]);
    size_t n = 0;
    for (ssize_t got; n < sizeof said - 1 && (got = read(ends[0], said + n, sizeof said - 1 - n)) > 0;)
        n += (size_t)got;
    close(ends[0]);
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 1 &&
           strstr(said, "touched memory outside");
}

/* A failing large image must come back small. */
static void check_shrinking(Session *session)
{
    static const Fault cut = SPOILS(cuts_at_block_edge);
    Subject subject = faulty_subject(&cut, CCL_CONNECT_8);
    Random random = { session->seed };
    Image image = image_noise(300, 200, 60, 1, &random);
    Case c = case_new(&image, PRODUCT_PROVISIONAL, "to shrink");
    char why[400] = "";
    unsigned lit_pixels = 0;
    const bool found = shrink(&subject, &c, &image, why);
    for (size_t i = 0; i < (size_t)image.width * image.height; i++)
        lit_pixels += image.pixels[i];
    check(session, found && image.width <= 17 && image.height <= 17 && lit_pixels <= 3,
          "shrinking stopped at %ux%u with %u pixels: %s", image.width, image.height, lit_pixels, why);
    image_free(&image);
    subject_close(&subject);
}

void check_faults(Session *session)
{
    const unsigned long failed = failures_with(session, NULL);
    check(session, failed == 0, "self-test: %lu failures where no fault is planted", failed);
    for (unsigned i = 0; i < N_FAULTS; i++) {
        const Fault *const fault = &faults[i];
        const bool found = fault->crashes ? crash_is_reported(session, fault) : failures_with(session, fault) > 0;
        check(session, found, "self-test: \"%s\" was not found", fault->name);
        printf("  %-32s %s\n", fault->name, found ? "found" : "MISSED");
    }
    check_shrinking(session);
    check_volume_faults(session);
}
