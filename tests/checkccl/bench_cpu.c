/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bench_state.h"

#include <stdlib.h>
#include <string.h>

typedef struct CpuRun {
    const Subject *subject; /* NULL: null */
    Product product;
    CclContext *context;
    Figure wall, processor, times_null; /* times_null: processor time over null's, for each round */
} CpuRun;

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
            if (memchr(mask.data, 3, mask_size(bench))) /* a value that no mask has */
                abort();
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
}

static void print_cpu_run(const Bench *bench, CpuRun *run)
{
    const char *const name = run->subject ? run->subject->name : "cpu null", *const product = product_names[run->product];
    const unsigned connectivity = run->subject ? run->subject->config.connectivity : 0;
    const double times = percentile(&run->times_null, 50);
    if (kind_wanted(bench->options->measures, "wall"))
        print_figure(bench, (Series){ name, connectivity, product, "wall" }, &run->wall, 0);
    if (kind_wanted(bench->options->measures, "processor"))
        print_figure(bench, (Series){ name, connectivity, product, "processor" }, &run->processor, times);
    if (run->subject)
        print_memory(bench, run->subject, run->product, run->context);
}

void bench_cpu(Bench *bench, Subject *subjects, unsigned n)
{
    CpuRun *const runs = must_have(calloc((size_t)n * N_PRODUCTS + 2, sizeof *runs));
    unsigned n_runs = 0;
    runs[n_runs++].product = PRODUCT_TABLE;
    runs[n_runs++].product = PRODUCT_LABELS;
    for (unsigned s = 0; s < n; s++)
        for (unsigned p = 0; p < N_PRODUCTS; p++)
            if (subjects[s].config.backend == CCL_BACKEND_CPU && !subjects[s].muted &&
                product_wanted(bench, products[p]))
                runs[n_runs++] =
                    (CpuRun){ .subject = &subjects[s],
                              .product = products[p],
                              .context = open_context(bench, &subjects[s], 1, products[p] != PRODUCT_TABLE, false) };
    if (n_runs > 2) {
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
    for (unsigned i = 0; i < n_runs; i++)
        ccl_context_free(runs[i].context);
    free(runs);
}
