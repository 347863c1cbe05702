/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The result that a case must have: the reference method, then the rules of ccl.h in a second version. */
#include "expression.h"
#include "judge.h"
#include "pictures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static CclContext *references[2]; /* 4- and 8-connected */
static CclConfig reference_configs[2];

static CclContext *reference_for(const Image *image, CclConnectivity connectivity, unsigned features, uint32_t rows)
{
    CclContext **const context = &references[connectivity == CCL_CONNECT_8];
    CclConfig *const made = &reference_configs[connectivity == CCL_CONNECT_8];
    if (*context && made->max_width >= image->width && made->max_height >= image->height &&
        made->max_components >= rows && made->features == features)
        return *context;
    ccl_context_free(*context);
    *made = ccl_config_default();
    made->algorithm = "reference";
    made->connectivity = connectivity;
    made->max_width = image->width > 64 ? image->width : 64;
    made->max_height = image->height > 64 ? image->height : 64;
    made->max_components = rows > 4096 ? rows : 4096;
    made->labels = true;
    made->features = features;
    if (ccl_context_new(made, context) != CCL_OK) {
        fprintf(stderr, "checkccl: reference: %s\n", ccl_error_message());
        exit(2);
    }
    return *context;
}

/* Table and label image of the whole image, nothing left out. A table too small for it is made larger and filled again.
 */
static void run_reference(const Case *c, CclConnectivity connectivity, Outcome *outcome)
{
    const Image *const image = c->image;
    const CclMask mask = {
        .data = image->pixels,
        .stride = image->width,
        .width = image->width,
        .height = image->height,
        .picture = c->features & CCL_FEATURE_INTENSITY ? picture_plain(c->picture, image->width, image->height) : NULL,
    };
    outcome->labels = grow(outcome->labels, &outcome->labels_size, (size_t)image->width * image->height * 4);
    const CclLabels labels = { .data = outcome->labels, .stride = (size_t)image->width * 4 };
    uint32_t rows = 1;

    for (;;) {
        CclTable table;
        if (ccl_analyze(reference_for(image, connectivity, c->features, rows), &mask, NULL, &labels, &table) != CCL_OK) {
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

/* The last image and its reference result: most images are judged several times, one product after the other. */
typedef struct Memory {
    uint32_t width, height;
    uint8_t *pixels;
    size_t pixels_size;
    unsigned features, picture;
    Outcome outcome;
} Memory;

static Memory memories[2]; /* 4- and 8-connected */

static void recall_reference(const Case *c, CclConnectivity connectivity, Outcome *outcome)
{
    const Image *const image = c->image;
    const size_t n = (size_t)image->width * image->height;
    Memory *const memory = &memories[connectivity == CCL_CONNECT_8];
    if (n > MAX_KEPT) {
        run_reference(c, connectivity, outcome);
        return;
    }
    if (memory->width != image->width || memory->height != image->height || memory->features != c->features ||
        memory->picture != c->picture || memcmp(memory->pixels, image->pixels, n)) {
        run_reference(c, connectivity, &memory->outcome);
        memory->features = c->features, memory->picture = c->picture;
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

/* The rules of CclFilter, in a second version. */
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

/* Of the table that qsort() is at. */
static CclOrder order;
static const Outcome *ordered;

/* Of the row with this label. */
static Counts counts_of(const Outcome *outcome, uint32_t label)
{
    return (Counts){ .shape = outcome->table.shape ? &outcome->shape[label - 1] : NULL,
                     .hull = outcome->table.hull ? &outcome->hull[label - 1] : NULL,
                     .holes = outcome->table.holes ? &outcome->holes[label - 1] : NULL,
                     .intensity = outcome->table.intensity ? &outcome->intensity[label - 1] : NULL };
}

/* Undefined ones last, equal ones by label. */
static int by_order(const void *a, const void *b)
{
    const CclComponent *const x = a, *const y = b;
    const Counts of_x = counts_of(ordered, x->label), of_y = counts_of(ordered, y->label);
    const double u = expected_number(ccl_order_number(order), x, &of_x);
    const double v = expected_number(ccl_order_number(order), y, &of_y);
    if (isnan(u) != isnan(v))
        return isnan(u) ? 1 : -1;
    if (u != v && !isnan(u))
        return (u > v) == ccl_order_is_descending(order) ? -1 : 1;
    return x->label < y->label ? -1 : x->label > y->label;
}

/* The component of row i gets this label. Its holes follow those of the labels before. */
static void move_holes(Outcome *outcome, uint32_t i, uint32_t label)
{
    const CclHoleCounts *const before = label > 1 ? &outcome->holes[label - 2] : NULL;
    CclHoleCounts counts = outcome->holes[i];
    const CclHole *const from = &outcome->hole_rows[counts.first];
    counts.first = before ? before->first + before->n_holes : 0;
    for (uint32_t k = 0; k < counts.n_holes; k++) {
        outcome->hole_rows[counts.first + k] = from[k];
        outcome->hole_rows[counts.first + k].parent = label;
    }
    outcome->holes[label - 1] = counts;
    outcome->table.n_hole_rows = counts.first + counts.n_holes;
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
        const Counts of_row = counts_of(outcome, i + 1);
        if (!passes(&c->filter, &row, c->image) ||
            (c->expression && !expression_passes(c->expression, &row, &of_row, c->image->width, c->image->height)))
            continue;
        renamed[row.label] = ++n;
        row.label = n;
        row.flags = c->filter.border == CCL_BORDER_KEEP ? 0 : (uint16_t)touches(&row, c->image);
        outcome->rows[n - 1] = row;
        if (outcome->table.shape)
            outcome->shape[n - 1] = outcome->shape[i];
        if (outcome->table.hull)
            outcome->hull[n - 1] = outcome->hull[i];
        if (outcome->table.intensity)
            outcome->intensity[n - 1] = outcome->intensity[i];
        if (outcome->table.holes)
            move_holes(outcome, i, n);
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
    order = c->order;
    ordered = outcome;
    if (c->order != CCL_ORDER_RASTER)
        qsort(outcome->rows, table->n_components, sizeof(CclComponent), by_order);
    if (table->n_components > cap)
        table->n_components = cap;
    table->flags = table->n_kept > table->n_components ? CCL_TABLE_TRUNCATED : 0;
}

void expect(const Case *c, CclConnectivity connectivity, Outcome *outcome)
{
    outcome->error[0] = '\0';
    recall_reference(c, connectivity, outcome);
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
