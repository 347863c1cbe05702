/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Runs: each row is cut into maximal horizontal runs. A run that touches a run of the row above takes its label. Sums of
 * a component are closed forms over its runs. Pixels are read once, as bits.
 *
 *   label     strips of rows, in parallel: mask -> bits -> runs -> provisional labels and their sums   (strip.h)
 *             with CCL_FEATURE_HOLES: gaps between runs -> labels                                     (gaps.h)
 *   measure   with CCL_FEATURE_INTENSITY: the picture under the runs               (intensity_strip.h, intensity_avx2.h)
 *   join      labels that touch across the seam of two strips are united
 *   flatten   provisional labels -> roots, sums go to the roots                                        (table.c)
 *   hull      with CCL_FEATURE_HULL: runs -> rows of components -> convex hulls                       (hull_table.c)
 *   holes     with CCL_FEATURE_HOLES: gaps between runs -> holes and their parents        (hole_table.c, map_holes.c)
 *   number    roots are in raster order of first pixels -> table
 *   paint     strips, in parallel: runs -> label image                                                 (paint.h)
 */
#include "algorithms.h"
#include "cpu/context.h"
#include "cpu/hole_table.h"
#include "cpu/hull_table.h"
#include "cpu/intensity_table.h"
#include "cpu/join.h"
#include "cpu/map.h"
#include "cpu/map_holes.h"
#include "cpu/map_shape.h"
#include "cpu/shape_table.h"
#include "cpu/table.h"
#include "cpu/tier.h"
#include "host/clock.h"
#include "host/cpus.h"
#include "host/pool.h"
#include "host/words.h"

#include <stdatomic.h>

#define MAX_STRIPS 16u

/* Entries after the end of an array that vectors may read or write. */
#define PADDING 64u

/* With less work, another thread costs more than it gains: waking it takes about 50 us. */
#define STRIP_US 250.0

typedef struct Runs {
    const CclTier *tier;
    bool is_map;   /* CCL_FOREGROUND_EQUAL */
    CclPool *pool; /* NULL: one thread */
    unsigned n_threads;
    bool auto_threads; /* CclConfig.threads is 0 */
    unsigned n_cpus;
    double work_us;     /* of the last frame, all strips together */

    CclPrefix *prefix;
    CclLabelling labels;
    CclStoredRow *stored;  /* NULL without label images and features that read runs, as stored_labels */
    uint64_t *stored_bits; /* NULL without label images */
    uint32_t *stored_labels;
    uint16_t *stored_x; /* NULL without features that read runs; not of a label map */
    CclHulls *hulls;
    CclHoles *holes;
    CclMapHoles *map_holes;
    CclCorner *corners;   /* 4-connected with CCL_FEATURE_SHAPE */
    CclStrip strip[MAX_STRIPS];
} Runs;

/* Input and output of the tasks of one frame. */
typedef struct Job {
    Runs *runs;
    CclFrame *frame;
    unsigned eight;
    unsigned n_strips;
    double strip_us[MAX_STRIPS];
} Job;

/* ---------------------------------------------------------------- label */

static void label_task(void *data, unsigned i)
{
    Job *const job = data;
    const double start = ccl_now_us();
    const CclTier *const tier = job->runs->tier;
    CclStrip *const strip = &job->runs->strip[i];
    (job->runs->is_map ? tier->map->label : tier->label)[job->eight](strip);
    if (strip->intensity)
        tier->measure_intensity(strip);
    job->strip_us[i] = ccl_now_us() - start;
}

/* First provisional label of strip i. Before it there is space for the labels of all rows above, and of a gap for the label
 * after the last of each strip. */
static uint32_t first_label(const CclMask *mask, const CclConfig *config, unsigned i, uint32_t y0)
{
    return 1 + i * 2 + (y0 ? ccl_max_components_of(config, mask->width, y0) : 0);
}

/* Runs side by side need no gap in a label map. */
static uint32_t max_row_runs(const Runs *runs, uint32_t width)
{
    return runs->is_map ? width : (width + 1) / 2;
}

static size_t max_row_corners(const Runs *runs, uint32_t width)
{
    return runs->is_map ? ccl_map_corners(width) : width + 1;
}

/* Strips start at even rows: then their ranges of labels do not overlap. */
static uint32_t first_row(const CclMask *mask, unsigned i, unsigned n_strips)
{
    return (uint32_t)((uint64_t)mask->height * i / n_strips) & ~1u;
}

static void cut_strips(Job *job, const CclConfig *config)
{
    Runs *const runs = job->runs;
    const CclMask *const mask = &job->frame->mask;
    const bool provisional = job->frame->labels.provisional;
    const bool paint = job->frame->labels.data,
               measured = (job->frame->hull || job->frame->holes || job->frame->intensity) && !provisional;

    for (unsigned i = 0; i < job->n_strips; i++) {
        CclStrip *const s = &runs->strip[i];
        s->mask = mask;
        s->y0 = first_row(mask, i, job->n_strips);
        s->y1 = i + 1 < job->n_strips ? first_row(mask, i + 1, job->n_strips) : mask->height;
        s->first_label = first_label(mask, config, i, s->y0);
        s->parent = runs->labels.parent;
        s->sums = provisional ? NULL : runs->labels.sums;
        s->prefix = runs->prefix;
        s->shape = provisional ? NULL : job->frame->shape;
        s->intensity = provisional ? NULL : job->frame->intensity;
        s->corners = runs->corners ? runs->corners + s->y0 * max_row_corners(runs, mask->width) : NULL;
        const size_t first_run = (size_t)s->y0 * (max_row_runs(runs, mask->width) + 1) + i * PADDING;
        s->stored = paint || measured ? runs->stored + s->y0 : NULL;
        const size_t first_word = (size_t)s->y0 * (row_words(mask->width) + 1) + i * PADDING;
        s->stored_bits = paint && !runs->is_map ? runs->stored_bits + first_word : NULL;
        s->stored_labels = paint || measured ? runs->stored_labels + first_run : NULL;
        s->stored_x = measured || (paint && runs->is_map) ? runs->stored_x + 2 * first_run : NULL;
        s->gaps.label = NULL;
        if (runs->holes && !provisional)
            ccl_holes_begin(runs->holes, s, (uint32_t)first_run);
    }
}

/* Frames that are being labelled in this process. They share the CPUs, so each gets fewer threads. */
static atomic_uint n_frames_at_work;

static unsigned choose_n_strips(const Runs *runs, uint32_t height, unsigned n_at_work)
{
    unsigned n = runs->n_threads;
    if (runs->auto_threads && n > runs->n_cpus / n_at_work)
        n = runs->n_cpus / n_at_work;
    if (runs->auto_threads && n > runs->work_us / STRIP_US)
        n = (unsigned)(runs->work_us / STRIP_US);
    if (n > height / 2)
        n = height / 2;
    return n ? n : 1;
}

/* ---------------------------------------------------------------- paint */

static void paint_task(void *data, unsigned i)
{
    Job *const job = data;
    const double start = ccl_now_us();
    const CclTier *const tier = job->runs->tier;
    (job->runs->is_map ? tier->map->paint : tier->paint)(&job->runs->strip[i], &job->frame->labels, job->runs->labels.parent);
    job->strip_us[i] += ccl_now_us() - start;
}

/* ---------------------------------------------------------------- hulls */

static void extent_task(void *data, unsigned i)
{
    Job *const job = data;
    const double start = ccl_now_us();
    ccl_hull_extents(job->runs->hulls, &job->runs->strip[i]);
    job->strip_us[i] += ccl_now_us() - start;
}

static void hull_task(void *data, unsigned i)
{
    Job *const job = data;
    const double start = ccl_now_us();
    ccl_hulls_of_part(job->runs->hulls, job->frame, &job->runs->labels, i, job->n_strips);
    job->strip_us[i] += ccl_now_us() - start;
}

/* Where no root is dropped, the table has the first ones. */
static void find_hulls(Job *job, uint32_t capacity)
{
    Runs *const runs = job->runs;
    const bool drops = !ccl_keeps_all(&job->frame->limits) || job->frame->selection;
    ccl_hulls_begin(runs->hulls, &runs->labels, drops ? UINT32_MAX : capacity);
    ccl_pool_run(runs->pool, extent_task, job, job->n_strips, true);
    ccl_pool_run(runs->pool, hull_task, job, job->n_strips, job->frame->labels.data);
}

/* ---------------------------------------------------------------- frame */

/* Roots are in raster order of first pixels. */
static void make_table(Job *job, uint32_t capacity)
{
    Runs *const runs = job->runs;
    CclFrame *const frame = job->frame;
    if (frame->hull)
        find_hulls(job, capacity);
    if (frame->holes && runs->is_map)
        ccl_map_holes_find(runs->map_holes, frame, &runs->labels, runs->strip, job->n_strips, job->eight);
    else if (frame->holes)
        ccl_holes_find(runs->holes, frame, &runs->labels, runs->strip, job->n_strips, job->eight);
    ccl_table_from_sums(frame, capacity, &runs->labels);
    if (runs->is_map)
        ccl_class_ids_from_mask(frame, capacity);
    if (frame->shape)
        ccl_shape_from_roots(frame->shape, capacity, &runs->labels);
    if (frame->hull)
        ccl_hulls_from_roots(frame->hull, capacity, &runs->labels);
    if (frame->intensity)
        ccl_intensity_from_roots(frame->intensity, capacity, &runs->labels);
    if (frame->holes && runs->is_map)
        ccl_map_holes_from_roots(frame, capacity, &runs->labels);
    else if (frame->holes)
        ccl_holes_from_roots(runs->holes, frame, capacity, &runs->labels);
}

/* After join_strips(). */
static void join_shape(Runs *runs, unsigned i, bool eight)
{
    if (runs->is_map)
        ccl_map_join_shape(&runs->strip[i], &runs->strip[i - 1], eight);
    else
        ccl_join_shape(&runs->strip[i], runs->strip[i - 1].last, eight);
}

/* Unites the labels of strip i and of the strip above. */
static void join_strips(const Runs *runs, unsigned i, bool eight)
{
    const CclStrip *const above = &runs->strip[i - 1], *const strip = &runs->strip[i];
    if (runs->is_map)
        ccl_map_join(runs->labels.parent, &(CclMapRuns){ above->last, above->map->last },
                     &(CclMapRuns){ &strip->first, strip->map->first }, eight);
    else
        join_rows(runs->labels.parent, above->last, &strip->first, eight);
}

static CclStatus analyze(CclContext *context, CclFrame *frame)
{
    Runs *const runs = cpu_method(context);
    const bool eight = context->config.connectivity == CCL_CONNECT_8;
    const unsigned n_at_work = atomic_fetch_add(&n_frames_at_work, 1) + 1;
    Job job = {
        .runs = runs, .frame = frame, .eight = eight, .n_strips = choose_n_strips(runs, frame->mask.height, n_at_work)
    };
    CclLabelling *const labels = &runs->labels;
    labels->sums = frame->records;
    const bool measured = !frame->labels.provisional;

    cut_strips(&job, &context->config);
    ccl_pool_run(runs->pool, label_task, &job, job.n_strips, frame->labels.data || frame->hull);
    for (unsigned i = 1; i < job.n_strips; i++)
        join_strips(runs, i, eight);
    for (unsigned i = 1; i < job.n_strips && runs->strip[0].shape; i++)
        join_shape(runs, i, eight);

    labels->n_roots = 0;
    for (unsigned i = 0; i < job.n_strips; i++)
        ccl_flatten(labels, runs->strip[i].first_label, runs->strip[i].next_label, measured);
    for (unsigned i = 0; i < job.n_strips && runs->strip[0].shape; i++)
        ccl_merge_shape(&runs->strip[i]);
    for (unsigned i = 0; i < job.n_strips && runs->strip[0].intensity; i++)
        ccl_merge_intensity(&runs->strip[i]);
    if (measured)
        make_table(&job, context->capacity);
    if (frame->labels.data) {
        for (unsigned i = 0; i < job.n_strips && measured; i++)
            ccl_final_labels(labels, runs->strip[i].first_label, runs->strip[i].next_label);
        ccl_pool_run(runs->pool, paint_task, &job, job.n_strips, false);
    }

    runs->work_us = 0;
    for (unsigned i = 0; i < job.n_strips; i++)
        runs->work_us += job.strip_us[i];
    atomic_fetch_sub(&n_frames_at_work, 1);
    return CCL_OK;
}

/* ---------------------------------------------------------------- memory */

static void fill_prefix(CclPrefix *prefix, uint32_t width)
{
    uint64_t x_sum = 0, xx_sum = 0;
    for (uint64_t x = 0; x <= width; x++) {
        prefix[x] = (CclPrefix){ .n_x = x | x_sum << 32, .xx = xx_sum };
        x_sum += x;
        xx_sum += x * x;
    }
}

static CclStatus open_strip(CclContext *context, const Runs *runs, CclStrip *strip)
{
    const uint32_t width = context->config.max_width, words = row_words(width);
    const uint32_t n_runs = max_row_runs(runs, width);

    CclRow *const rows[] = { &strip->row[0], &strip->row[1], &strip->empty, &strip->first };
    for (unsigned i = 0; i < 4; i++) {
        CCL_TRY(ccl_cpu_memory(context, (words + PADDING) * sizeof(uint64_t), (void **)&rows[i]->bits));
        CCL_TRY(ccl_cpu_memory(context, (words + PADDING) * sizeof(uint64_t), (void **)&rows[i]->ends));
        CCL_TRY(ccl_cpu_memory(context, (words + PADDING) * sizeof(uint16_t), (void **)&rows[i]->rank));
        CCL_TRY(ccl_cpu_memory(context, (2 * n_runs + PADDING) * sizeof(uint16_t), (void **)&rows[i]->x));
        CCL_TRY(ccl_cpu_memory(context, (n_runs + PADDING) * sizeof(uint32_t), (void **)&rows[i]->label));
        rows[i]->bits++;
    }
    for (unsigned i = 0; i < 2; i++) {
        strip->row_bits[i] = strip->row[i].bits;
        strip->row_labels[i] = strip->row[i].label;
        strip->row_x[i] = strip->row[i].x;
    }
    strip->empty.x[0] = UINT16_MAX;
    if (runs->is_map)
        CCL_TRY(ccl_map_open(context, strip));
    CCL_TRY(ccl_cpu_memory(context, (words + 1) * 16, (void **)&strip->bridge));
    CCL_TRY(ccl_cpu_memory(context, (n_runs + PADDING) * sizeof(uint16_t), (void **)&strip->other_runs));
    CCL_TRY(ccl_cpu_memory(context, (n_runs + PADDING) * sizeof(uint16_t), (void **)&strip->new_runs));
    if (!runs->is_map && context->config.features & CCL_FEATURE_HOLES)
        CCL_TRY(ccl_cpu_memory(context, 2 * (CCL_MAX_GAP_PAIRS + 2 * n_runs + PADDING) * sizeof(uint32_t),
                               (void **)&strip->gap_pair));
    return ccl_cpu_memory(context, (words * 64 + PADDING) * sizeof(uint32_t), (void **)&strip->label_at);
}

static CclStatus open_stored_rows(CclContext *context, Runs *runs, size_t n_roots)
{
    const CclConfig *const config = &context->config;
    const uint32_t width = config->max_width;
    const size_t height = config->max_height;
    const unsigned measured = config->features & (CCL_FEATURE_HULL | CCL_FEATURE_HOLES | CCL_FEATURE_INTENSITY);
    if (!config->labels && !measured)
        return CCL_OK;
    const size_t n_bits = height * (row_words(width) + 1) + MAX_STRIPS * PADDING;
    const size_t n_labels = height * (max_row_runs(runs, width) + 1) + MAX_STRIPS * PADDING;
    CCL_TRY(ccl_cpu_memory(context, height * sizeof(CclStoredRow), (void **)&runs->stored));
    CCL_TRY(ccl_cpu_memory(context, n_labels * sizeof(uint32_t), (void **)&runs->stored_labels));
    if (config->labels && !runs->is_map)
        CCL_TRY(ccl_cpu_memory(context, n_bits * sizeof(uint64_t), (void **)&runs->stored_bits));
    if (measured || runs->is_map)
        CCL_TRY(ccl_cpu_memory(context, n_labels * 2 * sizeof(uint16_t), (void **)&runs->stored_x));
    if (measured & CCL_FEATURE_HULL)
        CCL_TRY(ccl_hulls_open(context, runs->n_threads, &runs->hulls));
    if (!(measured & CCL_FEATURE_HOLES))
        return CCL_OK;
    return runs->is_map ? ccl_map_holes_open(context, n_labels, n_roots, &runs->map_holes)
                        : ccl_holes_open(context, n_labels, n_roots, &runs->holes);
}

static CclStatus open_records(CclContext *context, size_t n_labels)
{
    const CclConfig *const config = &context->config;
    for (unsigned i = 0; i < config->depth; i++) {
        CclFrame *const frame = &context->frames[i];
        /* Sums become records in place: a record is written where its sums were, or before. */
        CCL_TRY(ccl_cpu_memory(context, n_labels * sizeof(CclComponent), (void **)&frame->records));
        if (config->features & CCL_FEATURE_SHAPE)
            CCL_TRY(ccl_cpu_memory(context, n_labels * sizeof(CclShapeCounts), (void **)&frame->shape));
        if (config->features & CCL_FEATURE_HULL)
            CCL_TRY(ccl_cpu_memory(context, n_labels * sizeof(CclHullCounts), (void **)&frame->hull));
        if (config->features & CCL_FEATURE_INTENSITY)
            CCL_TRY(ccl_cpu_memory(context, n_labels * sizeof(CclIntensityCounts), (void **)&frame->intensity));
        if (config->features & CCL_FEATURE_HOLES)
            CCL_TRY(ccl_cpu_memory(context, n_labels * sizeof(CclHoleCounts), (void **)&frame->holes));
        if (config->features & CCL_FEATURE_HOLES)
            CCL_TRY(ccl_cpu_hole_rows(context, frame));
    }
    return CCL_OK;
}

static CclStatus open_runs(CclContext *context)
{
    const CclConfig *const config = &context->config;
    const size_t n_labels = (size_t)ccl_max_components_of(config, config->max_width, config->max_height) + 2 * MAX_STRIPS + 64;
    Runs *runs;
    CCL_TRY(ccl_cpu_memory(context, sizeof *runs, (void **)&runs));
    cpu_set_method(context, runs);

    runs->tier = ccl_tier(config->cpu_flags);
    runs->is_map = config->foreground == CCL_FOREGROUND_EQUAL;
    runs->auto_threads = config->threads == 0;
    runs->n_cpus = ccl_cpu_count();
    runs->n_threads = config->threads ? config->threads : runs->n_cpus;
    if (runs->n_threads > MAX_STRIPS)
        runs->n_threads = MAX_STRIPS;

    CCL_TRY(ccl_cpu_memory(context, (config->max_width + 1) * sizeof(CclPrefix), (void **)&runs->prefix));
    fill_prefix(runs->prefix, config->max_width);
    CCL_TRY(ccl_cpu_memory(context, n_labels * sizeof(uint32_t), (void **)&runs->labels.parent));
    CCL_TRY(ccl_cpu_memory(context, n_labels * sizeof(uint32_t), (void **)&runs->labels.root));
    CCL_TRY(ccl_cpu_memory(context, n_labels * sizeof(uint32_t), (void **)&runs->labels.final));
    CCL_TRY(open_records(context, n_labels));
    if (config->features & CCL_FEATURE_SHAPE && config->connectivity == CCL_CONNECT_4)
        CCL_TRY(ccl_cpu_memory(context, config->max_height * max_row_corners(runs, config->max_width) * sizeof(CclCorner),
                               (void **)&runs->corners));
    CCL_TRY(open_stored_rows(context, runs, n_labels));
    for (unsigned i = 0; i < runs->n_threads; i++)
        CCL_TRY(open_strip(context, runs, &runs->strip[i]));
    if (runs->n_threads > 1 && !(runs->pool = ccl_pool_new(runs->n_threads)))
        runs->n_threads = 1;
    return CCL_OK;
}

static void close_runs(CclContext *context)
{
    const Runs *const runs = cpu_method(context);
    if (runs)
        ccl_pool_free(runs->pool);
}

const CclAlgorithm ccl_cpu_runs = {
    .info = { .name = "runs", .title = "Union-find over runs", .backend = CCL_BACKEND_CPU,
              .connectivity = CCL_CONNECT_4 | CCL_CONNECT_8 },
    .unit = "run",
    .features_counted = CCL_FEATURE_SHAPE | CCL_FEATURE_HULL | CCL_FEATURE_HOLES | CCL_FEATURE_INTENSITY,
    .takes_maps = true,
    .map_features = CCL_FEATURE_SHAPE | CCL_FEATURE_HULL | CCL_FEATURE_HOLES | CCL_FEATURE_INTENSITY,
    .open = open_runs,
    .close = close_runs,
    .analyze = analyze,
};
