/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bench_state.h"

#include "host/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct CpuRun {
    const Subject *subject; /* NULL: null */
    Product product;
    CclContext *context;
    unsigned threads;
    CclPool *pool;                      /* of null with more than one thread */
    const struct CpuRun *reader;        /* null with as many threads; NULL: none */
    Figure wall, processor, times_null; /* times_null: processor time over null's, for each round */
    Figure times_reader;                /* wall time over the reader's */
} CpuRun;

/* A part of a mask for each thread. */
typedef struct Reading {
    const uint8_t *pixels;
    size_t size;
    unsigned n_parts;
} Reading;

static void read_part(void *data, unsigned i)
{
    const Reading *const r = data;
    const size_t from = r->size * i / r->n_parts, to = r->size * (i + 1) / r->n_parts;
    if (memchr(r->pixels + from, 3, to - from)) /* a value that no mask has */
        abort();
}

static void run_cpu_frames(const Bench *bench, const CpuRun *run, uint32_t *labels)
{
    const CclLabels image = { .data = labels, .stride = (size_t)bench->width * 4,
                              .provisional = run->product == PRODUCT_PROVISIONAL };
    const bool with_labels = run->product != PRODUCT_TABLE;
    for (unsigned f = 0; f < bench->n_frames; f++) {
        const CclMask mask = mask_at(bench, bench->frames[f].pixels, CCL_MEMORY_HOST);
        CclTable table;
        if (run->subject) {
            must(ccl_analyze(run->context, &mask, &bench->options->filter, with_labels ? &image : NULL, &table));
        } else {
            ccl_pool_run(run->pool, read_part, &(Reading){ mask.data, mask_size(bench), run->threads }, run->threads, false);
            if (with_labels)
                memset(labels, 0, 4 * mask_size(bench));
        }
    }
}

/* nulls: the first two runs. */
static void time_cpu_round(const Bench *bench, CpuRun *run, const CpuRun *nulls, uint32_t *labels)
{
    const CpuRun *const null = &nulls[run->product != PRODUCT_TABLE];
    const double wall = now_us(), processor = processor_us();
    run_cpu_frames(bench, run, labels);
    add_sample(&run->processor, (processor_us() - processor) / bench->n_frames);
    add_sample(&run->wall, (now_us() - wall) / bench->n_frames);
    add_sample(&run->times_null,
               run->processor.samples[run->processor.n - 1] / null->processor.samples[run->processor.n - 1]);
    if (run->reader)
        add_sample(&run->times_reader, run->wall.samples[run->wall.n - 1] / run->reader->wall.samples[run->reader->wall.n - 1]);
}

static void print_cpu_run(const Bench *bench, CpuRun *run)
{
    char null_name[32] = "cpu null";
    if (run->threads > 1)
        snprintf(null_name, sizeof null_name, "cpu null threads=%u", run->threads);
    const char *const name = run->subject ? run->subject->name : null_name, *const product = product_names[run->product];
    const unsigned connectivity = run->subject ? run->subject->config.connectivity : 0;
    const double times = percentile(&run->times_null, 50);
    if (kind_wanted(bench->options->measures, "wall"))
        print_figure(bench, (Series){ name, connectivity, product, "wall" }, &run->wall,
                     run->reader ? percentile(&run->times_reader, 50) : 0);
    if (kind_wanted(bench->options->measures, "processor"))
        print_figure(bench, (Series){ name, connectivity, product, "processor" }, &run->processor, times);
    if (run->subject)
        print_memory(bench, run->subject, run->product, run->context);
}

/* The null of the table with as many threads: a new run at the end, unless there is one. */
static const CpuRun *reader_for(CpuRun *runs, unsigned *n_runs, unsigned threads)
{
    for (unsigned i = 0; i < *n_runs; i++)
        if (!runs[i].subject && runs[i].threads == threads && runs[i].product == PRODUCT_TABLE)
            return &runs[i];
    CclPool *const pool = ccl_pool_new(threads);
    if (!pool)
        return NULL;
    runs[*n_runs] = (CpuRun){ .product = PRODUCT_TABLE, .threads = threads, .pool = pool };
    return &runs[(*n_runs)++];
}

static void add_readers(CpuRun *runs, unsigned *n_runs, const Subject *subjects, unsigned n)
{
    runs[(*n_runs)++] = (CpuRun){ .product = PRODUCT_TABLE, .threads = 1 };
    runs[(*n_runs)++] = (CpuRun){ .product = PRODUCT_LABELS, .threads = 1 };
    for (unsigned s = 0; s < n; s++)
        if (subjects[s].config.backend == CCL_BACKEND_CPU && !subjects[s].muted && subjects[s].config.threads > 1)
            reader_for(runs, n_runs, subjects[s].config.threads);
}

static void free_runs(CpuRun *runs, unsigned n_runs)
{
    for (unsigned i = 0; i < n_runs; i++) {
        ccl_context_free(runs[i].context);
        ccl_pool_free(runs[i].pool);
    }
    free(runs);
}

void bench_cpu(Bench *bench, Subject *subjects, unsigned n)
{
    CpuRun *const runs = must_have(calloc((size_t)n * (N_PRODUCTS + 1) + 2, sizeof *runs));
    unsigned n_runs = 0;
    add_readers(runs, &n_runs, subjects, n);
    const unsigned n_readers = n_runs;
    for (unsigned s = 0; s < n; s++)
        for (unsigned p = 0; p < N_PRODUCTS; p++)
            if (subjects[s].config.backend == CCL_BACKEND_CPU && !subjects[s].muted && product_wanted(bench, products[p]))
                runs[n_runs++] = (CpuRun){ .subject = &subjects[s],
                                           .product = products[p],
                                           .threads = subjects[s].config.threads,
                                           .reader = products[p] == PRODUCT_TABLE && subjects[s].config.threads
                                                         ? reader_for(runs, &n_runs, subjects[s].config.threads)
                                                         : NULL,
                                           .context = open_context(bench, &subjects[s], 1, products[p] != PRODUCT_TABLE, false) };
    if (n_runs > n_readers) {
        uint32_t *const labels = must_have(malloc(4 * mask_size(bench)));
        for (unsigned i = 0; i < n_runs; i++) /* warms up */
            run_cpu_frames(bench, &runs[i], labels);
        for (unsigned round = 0; round < bench->n_rounds; round++)
            for (unsigned i = 0; i < n_runs; i++)
                time_cpu_round(bench, &runs[i], runs, labels);
        for (unsigned i = 0; i < n_runs; i++)
            print_cpu_run(bench, &runs[i]);
        free(labels);
    }
    free_runs(runs, n_runs);
}
