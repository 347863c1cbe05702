/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bench_state.h"
#include "device.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_STEPS = 64 };

typedef struct StepFigures {
    Figure steps[MAX_STEPS], upload, kernels;
    char names[MAX_STEPS][64];
    unsigned n_steps, n_launches; /* of the last frame */
} StepFigures;

static void time_steps(const Bench *bench, CclContext *context, const CclMask *mask, const CclLabels *labels,
                       StepFigures *figures)
{
    CclTable table;
    const CclStep *steps;
    must(ccl_analyze(context, mask, &bench->options->filter, labels, &table));
    const unsigned n = ccl_steps(context, &steps);
    figures->n_steps = n < MAX_STEPS ? n : MAX_STEPS;
    figures->n_launches = 0;
    for (unsigned i = 0; i < figures->n_steps; i++) {
        snprintf(figures->names[i], sizeof figures->names[i], "step %u %.40s", i, steps[i].name);
        add_sample(&figures->steps[i], (double)steps[i].us);
        figures->n_launches = steps[i].count > figures->n_launches ? steps[i].count : figures->n_launches;
    }
    add_sample(&figures->upload, (double)table.upload_us);
    add_sample(&figures->kernels, (double)table.kernel_us);
}

static Figure time_allocation(const Bench *bench, const Subject *subject, bool with_labels)
{
    Figure allocation = { .n = 0 };
    for (unsigned i = 0; i < 5; i++) {
        const double start = now_us();
        CclContext *const context = open_context(bench, subject, 1, with_labels, true);
        add_sample(&allocation, now_us() - start);
        ccl_context_free(context);
    }
    return allocation;
}

static void print_steps(const Bench *bench, const Subject *subject, Product product, StepFigures *figures,
                        Figure *allocation)
{
    for (unsigned i = 0; i < figures->n_steps; i++)
        print_figure(bench, series_of(subject, product, figures->names[i]), &figures->steps[i], 0);
    print_figure(bench, series_of(subject, product, "upload"), &figures->upload, 0);
    print_figure(bench, series_of(subject, product, "kernels"), &figures->kernels, 0);
    print_figure(bench, series_of(subject, product, "allocation"), allocation, 0);
    print_count(bench, subject, product, "iterations", "launches", figures->n_launches);
}

/* The library times the steps by events or the clock around each. They show the shares of the steps, not their sum. */
void bench_steps(Bench *bench, const Subject *subject, Product product)
{
    const bool with_labels = product != PRODUCT_TABLE, cuda = subject->config.backend == CCL_BACKEND_CUDA;
    Figure allocation = time_allocation(bench, subject, with_labels);
    CclContext *const context = open_context(bench, subject, 1, with_labels, true);
    void *const labels = must_have(cuda ? device_alloc(4 * mask_size(bench)) : malloc(4 * mask_size(bench)));
    StepFigures *const figures = must_have(calloc(1, sizeof *figures));
    const CclLabels image = { .data = labels, .stride = (size_t)bench->width * 4,
                              .memory = cuda ? CCL_MEMORY_DEVICE : CCL_MEMORY_HOST,
                              .provisional = product == PRODUCT_PROVISIONAL };

    for (unsigned round = 0; round < 21; round++) {
        const CclMask mask = mask_at(bench, bench->frames[round % bench->n_frames].pixels, CCL_MEMORY_HOST);
        time_steps(bench, context, &mask, with_labels ? &image : NULL, figures);
    }
    print_steps(bench, subject, product, figures, &allocation);
    cuda ? device_free(labels) : free(labels);
    free(figures);
    ccl_context_free(context);
}
