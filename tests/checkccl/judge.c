/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Run, compare, shrink, show. */
#include "checkccl.h"

#include "backend.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Pixels of the largest image of which more than is needed right now is kept: contexts, what the reference said. */
enum { MAX_KEPT = 1 << 26 };

/* ---------------------------------------------------------------- outcomes */

static void *grow(void *memory, size_t *size, size_t wanted)
{
    if (wanted <= *size)
        return memory;
    memory = realloc(memory, wanted);
    if (!memory) {
        fprintf(stderr, "checkccl: no memory for %zu bytes\n", wanted);
        exit(2);
    }
    *size = wanted;
    return memory;
}

static void keep_table(Outcome *outcome, const CclTable *table)
{
    const size_t bytes = (size_t)table->n_components * sizeof(CclComponent);
    outcome->rows = grow(outcome->rows, &outcome->rows_size, bytes + 1);
    if (bytes)
        memcpy(outcome->rows, table->components, bytes);
    outcome->table = *table;
    outcome->table.components = outcome->rows;
}

void outcome_free(Outcome *outcome)
{
    free(outcome->rows);
    free(outcome->labels);
    memset(outcome, 0, sizeof *outcome);
}

/* ---------------------------------------------------------------- what is expected */

static CclContext *references[2]; /* 4- and 8-connected */
static CclConfig reference_configs[2];

static CclContext *reference_for(const Image *image, CclConnectivity connectivity, uint32_t rows)
{
    CclContext **const context = &references[connectivity == CCL_CONNECT_8];
    CclConfig *const made = &reference_configs[connectivity == CCL_CONNECT_8];
    if (*context && made->max_width >= image->width && made->max_height >= image->height &&
        made->max_components >= rows)
        return *context;
    ccl_context_free(*context);
    *made = ccl_config_default();
    made->algorithm = "reference";
    made->connectivity = connectivity;
    made->max_width = image->width > 64 ? image->width : 64;
    made->max_height = image->height > 64 ? image->height : 64;
    made->max_components = rows > 4096 ? rows : 4096;
    made->labels = true;
    if (ccl_context_new(made, context) != CCL_OK) {
        fprintf(stderr, "checkccl: reference: %s\n", ccl_error_message());
        exit(2);
    }
    return *context;
}

/* Table and label image of the whole image, nothing left out. A table too small for it is made larger and filled again.
 */
static void run_reference(const Image *image, CclConnectivity connectivity, Outcome *outcome)
{
    const CclMask mask = {
        .data = image->pixels, .stride = image->width, .width = image->width, .height = image->height
    };
    outcome->labels = grow(outcome->labels, &outcome->labels_size, (size_t)image->width * image->height * 4);
    const CclLabels labels = { .data = outcome->labels, .stride = (size_t)image->width * 4 };
    uint32_t rows = 1;

    for (;;) {
        CclTable table;
        if (ccl_analyze(reference_for(image, connectivity, rows), &mask, NULL, &labels, &table) != CCL_OK) {
            fprintf(stderr, "checkccl: reference: %s\n", ccl_error_message());
            exit(2);
        }
        if (table.n_components == table.n_kept || table.n_components == CCL_MAX_COMPONENTS) {
            keep_table(outcome, &table);
            return;
        }
        rows = table.n_kept < CCL_MAX_COMPONENTS ? table.n_kept : CCL_MAX_COMPONENTS;
    }
}

/* The last image and what the reference said: most images are asked for several times, one product after the other. */
typedef struct Memory {
    uint32_t width, height;
    uint8_t *pixels;
    size_t pixels_size;
    Outcome outcome;
} Memory;

static Memory memories[2]; /* 4- and 8-connected */

static void recall_reference(const Image *image, CclConnectivity connectivity, Outcome *outcome)
{
    const size_t n = (size_t)image->width * image->height;
    Memory *const memory = &memories[connectivity == CCL_CONNECT_8];
    if (n > MAX_KEPT) {
        run_reference(image, connectivity, outcome);
        return;
    }
    if (memory->width != image->width || memory->height != image->height || memcmp(memory->pixels, image->pixels, n)) {
        run_reference(image, connectivity, &memory->outcome);
        memory->width = image->width, memory->height = image->height;
        memory->pixels = grow(memory->pixels, &memory->pixels_size, n);
        memcpy(memory->pixels, image->pixels, n);
    }
    outcome->labels = grow(outcome->labels, &outcome->labels_size, 4 * n);
    memcpy(outcome->labels, memory->outcome.labels, 4 * n);
    keep_table(outcome, &memory->outcome.table);
}

static bool within(double value, double smallest, double largest)
{
    return value >= smallest && (largest == 0 || value <= largest);
}

/* The rules of CclFilter, spelt a second time. */
static bool passes(const CclFilter *filter, const CclComponent *c, const Image *image)
{
    const double area = (double)c->moments.area, pixels = (double)image->width * image->height;
    return within(area, (double)filter->min_area, (double)filter->max_area) &&
           within(area / pixels, filter->min_relative_area, filter->max_relative_area) &&
           within(c->x1 - c->x0, filter->min_width, filter->max_width) &&
           within(c->y1 - c->y0, filter->min_height, filter->max_height) &&
           !(filter->border == CCL_BORDER_DROP &&
             (c->x0 == 0 || c->y0 == 0 || c->x1 == image->width || c->y1 == image->height));
}

static unsigned touches(const CclComponent *c, const Image *image)
{
    return (c->x0 == 0) * CCL_TOUCHES_LEFT + (c->y0 == 0) * CCL_TOUCHES_TOP +
           (c->x1 == image->width) * CCL_TOUCHES_RIGHT + (c->y1 == image->height) * CCL_TOUCHES_BOTTOM;
}

static int by_area(const void *a, const void *b)
{
    const CclComponent *const x = a, *const y = b;
    if (x->moments.area != y->moments.area)
        return x->moments.area > y->moments.area ? -1 : 1;
    return x->label < y->label ? -1 : x->label > y->label;
}

/* Leaves out and renumbers; also in the label image. Only for tables that hold every component. */
static void apply_filter(const Case *c, Outcome *outcome)
{
    static const CclFilter none;
    if (!memcmp(&c->filter, &none, sizeof none))
        return;
    uint32_t *const renamed = calloc((size_t)outcome->table.n_found + 1, sizeof *renamed);
    uint32_t n = 0;
    for (uint32_t i = 0; i < outcome->table.n_components; i++) {
        CclComponent row = outcome->rows[i];
        if (!passes(&c->filter, &row, c->image))
            continue;
        renamed[row.label] = ++n;
        row.label = n;
        row.flags = c->filter.border == CCL_BORDER_KEEP ? 0 : (uint16_t)touches(&row, c->image);
        outcome->rows[n - 1] = row;
    }
    for (size_t i = 0; i < (size_t)c->image->width * c->image->height; i++)
        outcome->labels[i] = renamed[outcome->labels[i]];
    outcome->table.n_components = outcome->table.n_kept = n;
    free(renamed);
}

static void apply_order_and_cap(const Case *c, Outcome *outcome)
{
    CclTable *const table = &outcome->table;
    const uint32_t cap = c->max_components ? c->max_components : CCL_MAX_COMPONENTS;
    if (c->order == CCL_ORDER_AREA)
        qsort(outcome->rows, table->n_components, sizeof(CclComponent), by_area);
    if (table->n_components > cap)
        table->n_components = cap;
    table->flags = table->n_kept > table->n_components ? CCL_TABLE_TRUNCATED : 0;
}

static void expect(const Case *c, CclConnectivity connectivity, Outcome *outcome)
{
    outcome->error[0] = '\0';
    recall_reference(c->image, connectivity, outcome);
    if (c->product == PRODUCT_PROVISIONAL) { /* no table then */
        outcome->table = (CclTable){ .width = c->image->width, .height = c->image->height };
        return;
    }
    apply_filter(c, outcome);
    apply_order_and_cap(c, outcome);
}

Outcome expected_outcome(const Case *c, CclConnectivity connectivity)
{
    Outcome outcome = { 0 };
    expect(c, connectivity, &outcome);
    return outcome;
}

/* ---------------------------------------------------------------- what a method makes of it */

static bool context_fits(const Subject *subject, const CclConfig *wanted, bool exact)
{
    const CclConfig *const made = &subject->made;
    if (!subject->context || made->order != wanted->order || made->depth < wanted->depth)
        return false;
    if (made->max_components != wanted->max_components && (exact || made->max_components < wanted->max_components))
        return false;
    if (exact)
        return made->max_width == wanted->max_width && made->max_height == wanted->max_height &&
               made->labels == wanted->labels;
    return made->max_width >= wanted->max_width && made->max_height >= wanted->max_height &&
           made->labels >= wanted->labels;
}

static uint32_t at_least(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* What the n cases need: for one exact case just that, otherwise with room to be used again. */
static CclConfig config_for(const Subject *subject, const Case *cases, unsigned n, uint32_t rows, bool *exact)
{
    CclConfig config = subject->config;
    *exact = cases[0].exact || cases[0].max_components;
    config.order = cases[0].order;
    config.depth = *exact ? n : CCL_MAX_DEPTH;
    config.labels = !*exact || cases[0].product != PRODUCT_TABLE;
    config.max_width = config.max_height = 1;
    for (unsigned i = 0; i < n; i++) {
        config.max_width = at_least(config.max_width, cases[i].image->width);
        config.max_height = at_least(config.max_height, cases[i].image->height);
    }
    config.max_components = cases[0].max_components ? cases[0].max_components : rows;
    if (*exact)
        return config;
    /* Keep one that is large enough, or grow, but not to width of one image times height of another. */
    const uint32_t width = at_least(config.max_width, 300), height = at_least(config.max_height, 300);
    if ((uint64_t)at_least(width, subject->made.max_width) * at_least(height, subject->made.max_height) < 1u << 20) {
        config.max_width = at_least(width, subject->made.max_width);
        config.max_height = at_least(height, subject->made.max_height);
    }
    config.max_components = at_least(rows, 1u << 14);
    return config;
}

static bool open_context(Subject *subject, const Case *cases, unsigned n, uint32_t rows, char error[400])
{
    bool exact;
    const CclConfig config = config_for(subject, cases, n, rows, &exact);
    if (context_fits(subject, &config, exact))
        return true;
    ccl_context_free(subject->context);
    subject->made = config;
    if (ccl_context_new(&config, &subject->context) == CCL_OK)
        return true;
    snprintf(error, 400, "ccl_context_new for %ux%u, %u rows, depth %u: %s", config.max_width, config.max_height,
             config.max_components, config.depth, ccl_error_message());
    subject->context = NULL;
    memset(&subject->made, 0, sizeof subject->made);
    return false;
}

void subject_close(Subject *subject)
{
    ccl_context_free(subject->context);
    subject->context = NULL;
    memset(&subject->made, 0, sizeof subject->made);
}

static void fail_outcome(Outcome *outcome, Subject *subject, const char *call, CclStatus status)
{
    snprintf(outcome->error, sizeof outcome->error, "%s: %s", call, ccl_error_message());
    if (status == CCL_ERROR_DEVICE)
        subject->dead = true;
}

static void forget_outcome(Outcome *outcome)
{
    outcome->error[0] = '\0';
    memset(&outcome->table, 0, sizeof outcome->table);
}

/* All n in flight together. `rows`: what the tables must hold. */
static void run_method(Subject *subject, const Case *cases, unsigned n, uint32_t rows, Outcome *outcomes)
{
    unsigned submitted = 0;
    for (unsigned i = 0; i < n; i++)
        forget_outcome(&outcomes[i]);
    layout_now_running(subject, &cases[0]);
    if (!open_context(subject, cases, n, rows, outcomes[0].error))
        return;

    for (; submitted < n; submitted++) {
        CclMask mask;
        CclLabels labels;
        layout_prepare(submitted, &cases[submitted], subject->config.backend, &mask, &labels);
        const CclStatus status =
            ccl_submit(subject->context, &mask, &cases[submitted].filter, labels.data ? &labels : NULL);
        if (status != CCL_OK) {
            fail_outcome(&outcomes[submitted], subject, "ccl_submit", status);
            break;
        }
        if (subject->fault && subject->fault->trespass)
            subject->fault->trespass(&mask, &labels);
    }
    for (unsigned i = 0; i < submitted; i++) {
        CclTable table = { 0 };
        const CclStatus status = ccl_collect(subject->context, &table);
        if (status != CCL_OK) {
            fail_outcome(&outcomes[i], subject, "ccl_collect", status);
            continue;
        }
        keep_table(&outcomes[i], &table);
        layout_finish(i, &outcomes[i]);
        if (subject->fault && subject->fault->spoil)
            subject->fault->spoil(&cases[i], &outcomes[i]);
    }
}

static uint32_t rows_needed(const Outcome *expected)
{
    return at_least(expected->table.n_components, 1);
}

Outcome actual_outcome_for(Subject *subject, const Case *c, uint32_t rows)
{
    Outcome outcome = { 0 };
    run_method(subject, c, 1, at_least(rows, 1), &outcome);
    return outcome;
}

Outcome actual_outcome(Subject *subject, const Case *c)
{
    Outcome expected = expected_outcome(c, subject->config.connectivity);
    Outcome outcome = actual_outcome_for(subject, c, rows_needed(&expected));
    outcome_free(&expected);
    return outcome;
}

/* ---------------------------------------------------------------- comparison */

/* Where the last comparison found them to differ; what show_grids() shows. */
static _Thread_local uint32_t bad_x, bad_y;

static void differ_at(const Image *image, size_t pixel)
{
    bad_x = (uint32_t)(pixel % image->width);
    bad_y = (uint32_t)(pixel / image->width);
}

static bool same_labels(const Image *image, const uint32_t *expected, const uint32_t *got, char why[400])
{
    const size_t n = (size_t)image->width * image->height;
    if (!memcmp(expected, got, 4 * n))
        return true;
    size_t i = 0;
    while (expected[i] == got[i])
        i++;
    differ_at(image, i);
    snprintf(why, 400, "label image at (%u,%u): expected %u, got %u", bad_x, bad_y, expected[i], got[i]);
    return false;
}

/* One label per component, the other way round too, and background 0. Labels may have gaps, so that the largest can be
 * larger than the image has pixels. */
static bool same_partition(const Image *image, const uint32_t *expected, const uint32_t *got, char why[400])
{
    const size_t n = (size_t)image->width * image->height;
    static uint32_t *maps;
    static size_t maps_size;
    uint32_t largest = 0;
    for (size_t i = 0; i < n; i++)
        if (got[i] > largest) {
            largest = got[i];
            differ_at(image, i);
        }
    if (largest > 64 * n + (1u << 20)) {
        snprintf(why, 400, "label %u at (%u,%u) of an image of %zu pixels", largest, bad_x, bad_y, n);
        return false;
    }
    const size_t size = (n + 1 + (size_t)largest + 1) * sizeof *maps;
    maps = grow(maps, &maps_size, size);
    memset(maps, 0, size);
    uint32_t *const to_got = maps, *const to_expected = maps + n + 1;

    for (size_t i = 0; i < n; i++) {
        const uint32_t e = expected[i], g = got[i];
        if (!e && !g)
            continue;
        if (e && g && !to_got[e])
            to_got[e] = g;
        if (e && g && !to_expected[g])
            to_expected[g] = e;
        if (e && g && to_got[e] == g && to_expected[g] == e)
            continue;
        differ_at(image, i);
        if (!e || !g)
            snprintf(why, 400, "pixel (%u,%u) is %s, its label is %u", bad_x, bad_y, e ? "foreground" : "background",
                     g);
        else if (to_got[e] != g)
            snprintf(why, 400, "component %u is cut: label %u, but %u at (%u,%u)", e, to_got[e], g, bad_x, bad_y);
        else
            snprintf(why, 400, "components %u and %u both have label %u, at (%u,%u)", to_expected[g], e, g, bad_x,
                     bad_y);
        return false;
    }
    return true;
}

static void row_text(const CclComponent *c, char text[170])
{
    const CclMoments *const m = &c->moments;
    snprintf(text, 170,
             "label %u area %llu box [%u,%u)x[%u,%u) first_x %u flags %u m10 %llu m01 %llu m20 %llu m11 %llu m02 %llu",
             c->label, (unsigned long long)m->area, c->x0, c->x1, c->y0, c->y1, c->first_x, c->flags,
             (unsigned long long)m->m10, (unsigned long long)m->m01, (unsigned long long)m->m20,
             (unsigned long long)m->m11, (unsigned long long)m->m02);
}

static bool same_table(const CclTable *expected, const CclTable *got, char why[400])
{
#define SAME(field)                                                                             \
    if (expected->field != got->field) {                                                        \
        snprintf(why, 400, #field ": expected %u, got %u", expected->field, got->field);        \
        return false;                                                                           \
    }
    SAME(n_found)
    SAME(n_kept)
    SAME(n_components)
    SAME(flags)
    SAME(width)
    SAME(height)
#undef SAME
    for (uint32_t i = 0; i < expected->n_components; i++)
        if (memcmp(&expected->components[i], &got->components[i], sizeof(CclComponent))) {
            char e[170], g[170];
            bad_x = expected->components[i].first_x, bad_y = expected->components[i].y0;
            row_text(&expected->components[i], e);
            row_text(&got->components[i], g);
            snprintf(why, 400, "row %u:\n    expected %.165s\n    got      %.165s", i, e, g);
            return false;
        }
    return true;
}

bool same_outcome(const Case *c, const Outcome *expected, const Outcome *got, char why[400])
{
    bad_x = bad_y = 0;
    if (got->error[0]) {
        snprintf(why, 400, "%.399s", got->error);
        return false;
    }
    if (!same_table(&expected->table, &got->table, why))
        return false;
    if (c->product == PRODUCT_LABELS)
        return same_labels(c->image, expected->labels, got->labels, why);
    if (c->product == PRODUCT_PROVISIONAL)
        return same_partition(c->image, expected->labels, got->labels, why);
    return true;
}

/* ---------------------------------------------------------------- shrinking */

static bool case_fails(Subject *subject, const Case *c, char why[400])
{
    static Outcome expected, got;
    expect(c, subject->config.connectivity, &expected);
    for (unsigned attempt = 0; attempt < 3; attempt++) { /* a race shows only now and then */
        run_method(subject, c, 1, rows_needed(&expected), &got);
        if (!same_outcome(c, &expected, &got, why))
            return true;
    }
    return false;
}

double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static Image without_rows(const Image *image, uint32_t y, uint32_t n)
{
    Image out = image_new(image->width, image->height - n);
    memcpy(out.pixels, image->pixels, (size_t)y * image->width);
    memcpy(image_at(&out, 0, 0) + (size_t)y * image->width, image->pixels + (size_t)(y + n) * image->width,
           (size_t)(out.height - y) * image->width);
    return out;
}

/* Takes `smaller` when the case still fails on it. */
static bool try_image(Subject *subject, Case *c, Image *image, Image smaller)
{
    char why[400];
    Case trial = *c;
    trial.image = &smaller;
    if (!layout_fits(&c->layout, &smaller) || !case_fails(subject, &trial, why)) {
        image_free(&smaller);
        return false;
    }
    image_free(image);
    *image = smaller;
    return true;
}

static bool drop_rows(Subject *subject, Case *c, Image *image, bool columns, double deadline)
{
    bool any = false;
    const uint32_t size = columns ? image->width : image->height;
    uint32_t most = 1; /* powers of two, so that what lies at a word's edge can stay there */
    while (most <= size / 4)
        most *= 2;
    for (uint32_t n = most; n > 0; n /= 2)
        for (uint32_t at = 0; seconds() < deadline;) {
            const uint32_t left = columns ? image->width : image->height;
            if (left <= n || at + n > left)
                break;
            Image smaller;
            if (columns) {
                Image turned = image_transpose(image), cut = without_rows(&turned, at, n);
                smaller = image_transpose(&cut);
                image_free(&turned);
                image_free(&cut);
            } else {
                smaller = without_rows(image, at, n);
            }
            if (try_image(subject, c, image, smaller))
                any = true;
            else
                at += n;
        }
    return any;
}

static bool clear_pixels(Subject *subject, Case *c, Image *image, double deadline)
{
    bool any = false;
    const size_t size = (size_t)image->width * image->height;
    for (size_t n = size / 2 ? size / 2 : 1; n > 0; n /= 2)
        for (size_t at = 0; at < size && seconds() < deadline; at += n) {
            const size_t end = at + n < size ? at + n : size;
            if (!memchr(image->pixels + at, 1, end - at))
                continue;
            Image smaller = image_copy(image);
            memset(smaller.pixels + at, 0, end - at);
            any |= try_image(subject, c, image, smaller);
        }
    return any;
}

bool shrink(Subject *subject, Case *c, Image *image, char why[400])
{
    const double deadline = seconds() + 8;
    if (!case_fails(subject, c, why))
        return false;
    bool smaller = true;
    while (smaller && seconds() < deadline && !subject->dead) {
        smaller = drop_rows(subject, c, image, false, deadline);
        smaller |= drop_rows(subject, c, image, true, deadline);
        smaller |= clear_pixels(subject, c, image, deadline);
    }
    c->image = image;
    char now_why[400];
    if (case_fails(subject, c, now_why))
        memcpy(why, now_why, sizeof now_why);
    return true;
}

/* ---------------------------------------------------------------- showing */

enum { SHOWN_WIDTH = 36, SHOWN_HEIGHT = 40 };

static char label_letter(uint32_t label)
{
    static const char letters[] = ".123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    return label < sizeof letters - 1 ? letters[label] : '*';
}

/* Begin of the `shown` out of `size` that have `bad` in the middle. */
static uint32_t window(uint32_t bad, uint32_t size, uint32_t shown)
{
    const uint32_t begin = bad > shown / 2 ? bad - shown / 2 : 0;
    return begin < size - shown ? begin : size - shown;
}

static void show_grids(const Case *c, const Outcome *expected, const Outcome *got)
{
    const Image *const image = c->image;
    const uint32_t width = image->width < SHOWN_WIDTH ? image->width : SHOWN_WIDTH;
    const uint32_t height = image->height < SHOWN_HEIGHT ? image->height : SHOWN_HEIGHT;
    const uint32_t left = window(bad_x, image->width, width), top = window(bad_y, image->height, height);
    const bool labels = c->product != PRODUCT_TABLE && got->labels && !got->error[0];
    const int column = (int)(width > 8 ? width : 8) + 3;

    printf("    %-*s%-*s%s\n", column, "mask", column, "expected", labels ? "got" : "");
    for (uint32_t y = 0; y < height; y++) {
        char line[3][SHOWN_WIDTH + 1] = { { 0 } };
        for (uint32_t x = 0; x < width; x++) {
            const size_t i = (size_t)(top + y) * image->width + left + x;
            line[0][x] = image->pixels[i] ? '#' : '.';
            line[1][x] = label_letter(expected->labels[i]);
            line[2][x] = labels ? label_letter(got->labels[i]) : ' ';
        }
        printf("    %-*s%-*s%s\n", column, line[0], column, line[1], line[2]);
    }
    if (width < image->width || height < image->height)
        printf("    (%ux%u of %ux%u, from (%u,%u))\n", width, height, image->width, image->height, left, top);
}

static const char *product_name(Product product)
{
    switch (product) {
    case PRODUCT_TABLE:
        return "table";
    case PRODUCT_LABELS:
        return "table and labels";
    case PRODUCT_PROVISIONAL:
        break;
    }
    return "provisional labels";
}

static void report(Session *session, Subject *subject, const Case *failed, unsigned n, const char *first_why)
{
    char why[400];
    Case c = *failed;
    Image image = image_copy(failed->image);
    c.image = &image;

    printf("FAILED %s: \"%s\" %ux%u, %s, layout \"%s\", seed %llu\n    %s\n", subject->name, c.name, image.width,
           image.height, product_name(c.product), c.layout.name, (unsigned long long)session->seed, first_why);
    if (subject->dead) {
        printf("    the device is lost: no more of this method\n");
    } else if (!shrink(subject, &c, &image, why)) {
        printf(
            "    not when run alone (%u frame%s in flight then): the context's past or the frames beside it matter, or"
            " a race\n",
            n, n == 1 ? " was" : "s were");
    } else {
        Outcome expected = expected_outcome(&c, subject->config.connectivity), got = actual_outcome(subject, &c);
        printf("    smallest found that fails: %ux%u\n    %s\n", image.width, image.height, why);
        show_grids(&c, &expected, &got);
        outcome_free(&expected);
        outcome_free(&got);
    }
    fflush(stdout);
    image_free(&image);
}

/* ---------------------------------------------------------------- judging */

static void count_failure(Session *session, Subject *subject)
{
    session->failed++;
    subject->failed++;
    subject->muted = true;
}

static void judge_subject(Session *session, Subject *subject, const Case *cases, unsigned n, const Outcome *expected)
{
    static Outcome got[2][CCL_MAX_DEPTH];
    uint32_t rows = 1;
    for (unsigned i = 0; i < n; i++)
        rows = at_least(rows, expected[i].table.n_components);

    for (unsigned time = 0; time < (cases[0].twice ? 2 : 1); time++)
        run_method(subject, cases, n, rows, got[time]);

    for (unsigned i = 0; i < n && !subject->muted; i++) {
        char why[400];
        bool same = same_outcome(&cases[i], &expected[i], &got[0][i], why);
        if (same && cases[i].twice && !same_outcome(&cases[i], &expected[i], &got[1][i], why)) {
            memmove(why + 16, why, sizeof why - 16);
            memcpy(why, "the second time ", 16);
            why[sizeof why - 1] = '\0';
            same = false;
        }
        if (same) {
            session->passed++;
            subject->passed++;
            continue;
        }
        count_failure(session, subject);
        if (!session->quiet)
            report(session, subject, &cases[i], n, why);
    }
}

bool too_large(const Session *session, const Subject *subject, const Image *image)
{
    const uint64_t n = (uint64_t)image->width * image->height;
    return (session->max_pixels && n > session->max_pixels) || (subject->max_pixels && n > subject->max_pixels);
}

void judge(Session *session, const Case *cases, unsigned n)
{
    static const CclConnectivity connectivities[] = { CCL_CONNECT_8, CCL_CONNECT_4 };
    static Outcome expected[CCL_MAX_DEPTH];

    for (unsigned k = 0; k < 2; k++) {
        bool known = false;
        for (unsigned s = 0; s < session->n_subjects; s++) {
            Subject *const subject = &session->subjects[s];
            if (subject->muted || subject->dead || subject->config.connectivity != connectivities[k] ||
                too_large(session, subject, cases[0].image))
                continue;
            const unsigned every =
                cases[0].one_of_many && subject->every_of_many ? subject->every_of_many : subject->every;
            if (every && subject->turn++ % every)
                continue;
            for (unsigned i = 0; i < n && !known; i++)
                expect(&cases[i], connectivities[k], &expected[i]);
            known = true;
            judge_subject(session, subject, cases, n, expected);
            if ((uint64_t)cases[0].image->width * cases[0].image->height > MAX_KEPT)
                subject_close(subject);
        }
    }
}

Case case_new(const Image *image, Product product, const char *name, ...)
{
    Case c = { .image = image, .layout = plain_layout, .product = product };
    va_list args;
    va_start(args, name);
    vsnprintf(c.name, sizeof c.name, name, args);
    va_end(args);
    return c;
}

const CclAlgorithm *method_of(const CclConfig *config)
{
    for (unsigned i = 0; ccl_algorithms[i]; i++)
        if (ccl_algorithms[i]->info.backend == config->backend &&
            !strcmp(ccl_algorithms[i]->info.name, config->algorithm))
            return ccl_algorithms[i];
    return NULL;
}

bool check(Session *session, bool passed, const char *format, ...)
{
    if (passed) {
        session->passed++;
        return true;
    }
    session->failed++;
    if (!session->quiet) {
        va_list args;
        va_start(args, format);
        printf("FAILED ");
        vprintf(format, args);
        printf("\n");
        va_end(args);
        fflush(stdout);
    }
    return false;
}

bool subjects_active(const Session *session)
{
    for (unsigned s = 0; s < session->n_subjects; s++)
        if (!session->subjects[s].muted && !session->subjects[s].dead)
            return true;
    return false;
}

void judge_close(void)
{
    for (unsigned i = 0; i < 2; i++) {
        ccl_context_free(references[i]);
        references[i] = NULL;
        outcome_free(&memories[i].outcome);
        free(memories[i].pixels);
        memset(&memories[i], 0, sizeof memories[i]);
    }
}
