/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Runs of volumes: each row of each frame is cut into maximal horizontal runs. A run is united with every run that it
 * touches in the row above, and in the three nearest rows of the frame before. Nearly all work is done when a mask is
 * added.
 *
 *   add     mask -> bits -> runs -> provisional labels and their sums
 *   label   provisional labels -> labels, sums go to the components
 *   paint   runs -> label images, where wanted
 *
 *     a b c      frame before: rows y - 1, y, y + 1
 *       d x      this frame: row y - 1, the run
 *
 * With 6-connectivity a and c do not count, and runs do not touch across a corner.
 */
#include "algorithms.h"
#include "cpu/context.h"
#include "cpu/join.h"
#include "cpu/map.h"
#include "cpu/tier.h"
#include "host/pack.h"
#include "host/words.h"

#include <string.h>

typedef struct Runs {
    CclPackRows *pack_rows;
    const CclMapTier *map; /* of label maps; else NULL */
    unsigned background_value;
    uint64_t *bits;      /* of one row */
    uint32_t *first_run; /* of row y of frame t: [t * height + y]; one more past the last */
    uint16_t *x;         /* run k is [x[2k], x[2k+1]) */
    uint32_t *label;     /* of run k: provisional, from 1 */
    uint16_t *class_id;  /* of run k; NULL without label maps */
    uint32_t *parent;    /* of provisional labels; after volume_label() their final labels */
    uint32_t n_labels;
} Runs;

/* ---------------------------------------------------------------- add */

static CclRow row_at(const Runs *runs, size_t row)
{
    const uint32_t first = runs->first_run[row];
    return (CclRow){ .x = runs->x + 2 * (size_t)first, .label = runs->label + first,
                     .n = runs->first_run[row + 1] - first };
}

/* Returns the number of runs. The last bit of the last word is always 0. */
static uint32_t runs_from_bits(const uint64_t *bits, uint32_t n_words, uint16_t *x)
{
    uint16_t *end = x;
    uint64_t before = 0;
    for (uint32_t w = 0; w < n_words; w++) {
        for (uint64_t changes = bits[w] ^ (bits[w] << 1 | before >> 63); changes; changes &= changes - 1)
            *end++ = (uint16_t)(w * 64 + lowest(changes));
        before = bits[w];
    }
    return (uint32_t)(end - x) / 2;
}

/* The spans of the foreground of one row, with their values. */
static uint32_t runs_from_map(const Runs *runs, const CclMask *mask, uint32_t y, uint32_t first)
{
    uint16_t *x = runs->x + 2 * (size_t)first, *class_id = runs->class_id + first;
    uint64_t *const starts = runs->bits;
    unsigned value = runs->background_value;

    runs->map->find_starts(mask, y, starts);
    for (uint32_t w = 0; w < (mask->width + 63) / 64; w++)
        for (; starts[w]; starts[w] &= starts[w] - 1) {
            const uint32_t at = w * 64 + lowest(starts[w]);
            if (value != runs->background_value)
                *x++ = (uint16_t)at;
            value = pixel_value(mask, at, y);
            if (value == runs->background_value)
                continue;
            *x++ = (uint16_t)at;
            *class_id++ = (uint16_t)value;
        }
    if (value != runs->background_value)
        *x++ = (uint16_t)mask->width;
    return (uint32_t)(class_id - runs->class_id) - first;
}

/* Of one row; returns their number. */
static uint32_t runs_from_mask(const Runs *runs, const CclMask *mask, uint32_t y, uint32_t first)
{
    if (runs->map)
        return runs_from_map(runs, mask, y, first);
    runs->pack_rows(mask, y, y + 1, runs->bits, 0);
    return runs_from_bits(runs->bits, row_words(mask->width), runs->x + 2 * (size_t)first);
}

/* Unites the runs of a row with those of an earlier one. */
static void join(const Runs *runs, size_t earlier, size_t row, const CclRow *here, uint32_t reach)
{
    const CclRow before = row_at(runs, earlier);
    if (runs->map)
        ccl_map_join(runs->parent, &(CclMapRuns){ &before, runs->class_id + runs->first_run[earlier] },
                     &(CclMapRuns){ here, runs->class_id + runs->first_run[row] }, reach);
    else
        join_rows(runs->parent, &before, here, reach);
}

static void join_neighbours(const Runs *runs, const CclVolume *volume, bool all_26, uint32_t y, const CclRow *here)
{
    const size_t row = (size_t)volume->n_frames * volume->height + y;
    if (y)
        join(runs, row - 1, row, here, all_26);
    if (!volume->n_frames)
        return;
    const uint32_t reach = all_26, first = y > reach ? y - reach : 0;
    const uint32_t last = y + reach < volume->height ? y + reach : volume->height - 1;
    for (uint32_t near = first; near <= last; near++)
        join(runs, row - volume->height + near - y, row, here, reach);
}

/* Gives new labels to runs that touch no other, and adds up the sums of all runs. */
static void measure_row(Runs *runs, const CclVolume *volume, uint32_t y, const CclRow *here)
{
    const uint16_t t = (uint16_t)volume->n_frames;
    for (uint32_t k = 0; k < here->n; k++) {
        const uint16_t x0 = here->x[2 * k], x1 = here->x[2 * k + 1];
        if (!here->label[k]) {
            const uint32_t fresh = here->label[k] = ++runs->n_labels;
            runs->parent[fresh] = fresh;
            volume->records[fresh] = (CclVolumeComponent){ .x0 = x0, .y0 = (uint16_t)y, .frame0 = t, .first_x = x0,
                                                        .first_y = (uint16_t)y };
        }
        CclVolumeComponent *const sums = &volume->records[here->label[k]];
        sums->voxels += x1 - x0;
        sums->x0 = x0 < sums->x0 ? x0 : sums->x0;
        sums->x1 = x1 > sums->x1 ? x1 : sums->x1;
        sums->y0 = y < sums->y0 ? (uint16_t)y : sums->y0; /* of a later frame */
        sums->y1 = y >= sums->y1 ? (uint16_t)(y + 1) : sums->y1;
        sums->frame1 = (uint16_t)(t + 1);
    }
}

/* The runs of the frame before point at their roots, so that most labels that meet are the same. */
static void refresh_labels(Runs *runs, const CclVolume *volume)
{
    const size_t first_row = (size_t)(volume->n_frames - 1) * volume->height;
    const uint32_t end = runs->first_run[first_row + volume->height];
    for (uint32_t k = runs->first_run[first_row]; k < end; k++)
        runs->label[k] = find(runs->parent, runs->label[k]);
}

static CclStatus volume_add(CclContext *context, const CclMask *mask)
{
    Runs *const runs = cpu_method(context);
    const CclVolume *const volume = &context->volume;
    const size_t first_row = (size_t)volume->n_frames * mask->height;

    if (!volume->n_frames)
        runs->n_labels = runs->first_run[0] = 0;
    else
        refresh_labels(runs, volume);
    for (uint32_t y = 0; y < mask->height; y++) {
        uint32_t *const first = &runs->first_run[first_row + y];
        first[1] = first[0] + runs_from_mask(runs, mask, y, first[0]);
        const CclRow here = row_at(runs, first_row + y);
        if (!here.n)
            continue;
        memset(here.label, 0, here.n * sizeof *here.label);
        join_neighbours(runs, volume, context->config.connectivity == CCL_CONNECT_8, y, &here);
        measure_row(runs, volume, y, &here);
    }
    return CCL_OK;
}

/* ---------------------------------------------------------------- label */

static void merge_sums(CclVolumeComponent *to, const CclVolumeComponent *from)
{
    to->voxels += from->voxels;
    to->x0 = from->x0 < to->x0 ? from->x0 : to->x0;
    to->y0 = from->y0 < to->y0 ? from->y0 : to->y0;
    to->x1 = from->x1 > to->x1 ? from->x1 : to->x1;
    to->y1 = from->y1 > to->y1 ? from->y1 : to->y1;
    to->frame1 = from->frame1 > to->frame1 ? from->frame1 : to->frame1; /* the smaller label is of the earlier frame */
}

/* Roots are the first labels of their components, and are in raster order of first voxels. When a label is reached, smaller
 * labels point at their root already, and later at their final label. */
static void number_labels(Runs *runs, CclVolume *volume)
{
    uint32_t *const parent = runs->parent;
    for (uint32_t i = 1; i <= runs->n_labels; i++) {
        if (parent[i] == i)
            continue;
        parent[i] = parent[parent[i]];
        merge_sums(&volume->records[parent[i]], &volume->records[i]);
    }
    volume->n_found = 0;
    for (uint32_t i = 1; i <= runs->n_labels; i++) {
        if (parent[i] != i) {
            parent[i] = parent[parent[i]];
            continue;
        }
        /* In place: a record is written where the sums were read, or before. */
        CclVolumeComponent *const record = &volume->records[volume->n_found++];
        *record = volume->records[i];
        record->label = parent[i] = volume->n_found;
        record->flags = ccl_border_flags(record->x0, record->y0, record->x1, record->y1, volume->width, volume->height);
    }
}

static void paint_frame(const Runs *runs, const CclVolume *volume, uint32_t t, const CclLabels *labels)
{
    for (uint32_t y = 0; y < volume->height; y++) {
        const CclRow row = row_at(runs, (size_t)t * volume->height + y);
        uint32_t *const pixels = labels_row(labels, y);
        memset(pixels, 0, volume->width * sizeof *pixels);
        for (uint32_t k = 0; k < row.n; k++)
            for (uint32_t x = row.x[2 * k]; x < row.x[2 * k + 1]; x++)
                pixels[x] = runs->parent[row.label[k]];
    }
}

/* All runs of a component have the same value. */
static void find_class_ids(const Runs *runs, CclVolume *volume, uint32_t capacity)
{
    const uint32_t n_runs = runs->first_run[(size_t)volume->n_frames * volume->height];
    for (uint32_t k = 0; k < n_runs; k++) {
        const uint32_t label = runs->parent[runs->label[k]];
        if (label <= capacity)
            volume->class_ids[label - 1] = runs->class_id[k];
    }
}

static CclStatus volume_label(CclContext *context, const CclLabels *labels)
{
    Runs *const runs = cpu_method(context);
    CclVolume *const volume = &context->volume;

    number_labels(runs, volume);
    if (runs->map)
        find_class_ids(runs, volume, context->capacity);
    for (uint32_t t = 0; labels && t < volume->n_frames; t++)
        paint_frame(runs, volume, t, &labels[t]);
    return CCL_OK;
}

/* The last run that does not begin past x. */
static uint32_t label_at(const Runs *runs, const CclRow *row, uint32_t x)
{
    uint32_t low = 0, high = row->n;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (row->x[2 * middle] <= x)
            low = middle + 1;
        else
            high = middle;
    }
    return low && x < row->x[2 * low - 1] ? runs->parent[row->label[low - 1]] : 0;
}

static CclStatus volume_look_up(CclContext *context, const CclVoxel *voxels, uint32_t n, uint32_t *labels)
{
    const Runs *const runs = cpu_method(context);
    for (uint32_t i = 0; i < n; i++) {
        const CclRow row = row_at(runs, (size_t)voxels[i].frame * context->volume.height + voxels[i].y);
        labels[i] = label_at(runs, &row, voxels[i].x);
    }
    return CCL_OK;
}

/* ---------------------------------------------------------------- memory */

static uint32_t max_row_runs(const CclConfig *config)
{
    return config->foreground == CCL_FOREGROUND_EQUAL ? config->max_width : (config->max_width + 1) / 2;
}

/* Reserves memory for the worst volume. Only used pages take memory. */
static CclStatus open_runs(CclContext *context)
{
    const CclConfig *const config = &context->config;
    const size_t n_rows = (size_t)config->max_height * config->volume, n_runs = n_rows * max_row_runs(config);
    const size_t n_labels = (size_t)ccl_max_volume_components(config) + 1;
    Runs *runs;
    CCL_TRY(ccl_cpu_memory(context, sizeof *runs, (void **)&runs));
    cpu_set_method(context, runs);
    runs->pack_rows = ccl_pack_rows(config->cpu_flags);
    if (config->foreground == CCL_FOREGROUND_EQUAL) {
        runs->map = ccl_tier(config->cpu_flags)->map;
        runs->background_value = config->background_value;
        CCL_TRY(ccl_cpu_memory(context, n_runs * sizeof(uint16_t), (void **)&runs->class_id));
    }
    CCL_TRY(ccl_cpu_memory(context, row_words(config->max_width) * sizeof(uint64_t), (void **)&runs->bits));
    CCL_TRY(ccl_cpu_memory(context, (n_rows + 1) * sizeof(uint32_t), (void **)&runs->first_run));
    CCL_TRY(ccl_cpu_memory(context, 2 * n_runs * sizeof(uint16_t), (void **)&runs->x));
    CCL_TRY(ccl_cpu_memory(context, n_runs * sizeof(uint32_t), (void **)&runs->label));
    CCL_TRY(ccl_cpu_memory(context, n_labels * sizeof(uint32_t), (void **)&runs->parent));
    return ccl_cpu_memory(context, n_labels * sizeof(CclVolumeComponent), (void **)&context->volume.records);
}

const CclAlgorithm ccl_cpu_runs_3d = {
    .info = { .name = "runs-3d", .title = "Union-find over runs of volumes", .backend = CCL_BACKEND_CPU,
              .connectivity = CCL_CONNECT_4 | CCL_CONNECT_8, .volume = true },
    .unit = "run",
    .takes_maps = true,
    .open = open_runs,
    .volume_add = volume_add,
    .volume_label = volume_label,
    .volume_look_up = volume_look_up,
};
