/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bench_state.h"

#include <stdio.h>
#include <string.h>

static CclContext *open_volume(const Bench *bench, const CclConfig *of_method)
{
    CclConfig config = *of_method;
    CclContext *context;
    config.max_width = bench->width;
    config.max_height = bench->height;
    config.max_components = CCL_MAX_COMPONENTS;
    config.volume = bench->n_frames;
    config.timing = config.backend == CCL_BACKEND_CUDA;
    must(ccl_context_new(&config, &context));
    return context;
}

/* Microseconds per frame of stacking the frames and of labelling the stack: processor time on the CPU. */
static CclVolumeTable run_volume(const Bench *bench, CclContext *context, double *add_us, double *label_us)
{
    double (*const now)(void) = ccl_context_algorithm(context)->backend == CCL_BACKEND_CPU ? processor_us : now_us;
    CclVolumeTable table;
    const double start = now();
    for (unsigned f = 0; f < bench->n_frames; f++) {
        const CclMask mask = mask_at(bench, bench->frames[f].pixels, CCL_MEMORY_HOST);
        must(ccl_volume_add(context, &mask));
    }
    const double stacked = now();
    must(ccl_volume_label(context, NULL, &table));
    *add_us = (stacked - start) / bench->n_frames;
    *label_us = (now() - stacked) / bench->n_frames;
    return table;
}

/* Against the reference's table. */
static bool check_volume_subject(Bench *bench, const Subject *subject, CclContext *context)
{
    CclConfig config = subject->config;
    double us[2];
    config.backend = CCL_BACKEND_CPU;
    config.algorithm = "reference-3d";
    CclContext *const judge = open_volume(bench, &config);
    const CclVolumeTable expected = run_volume(bench, judge, &us[0], &us[1]);
    const CclVolumeTable got = run_volume(bench, context, &us[0], &us[1]);
    const bool right = expected.n_found == got.n_found &&
                       !memcmp(expected.components, got.components, got.n_components * sizeof *got.components) &&
                       (!got.class_ids || !memcmp(expected.class_ids, got.class_ids, got.n_components * sizeof *got.class_ids));
    if (!right)
        fprintf(stderr, "WRONG: %s on %s %ux%u, not timed\n", subject->name, bench->kind, bench->width, bench->height);
    else if (!bench->options->json)
        printf("  %s: one volume of %u components\n", subject->name, got.n_found);
    bench->all_right &= right;
    ccl_context_free(judge);
    return right;
}

void bench_volumes(Bench *bench)
{
    for (unsigned s = 0; s < bench->options->n_volumes; s++) {
        const bool cpu = bench->options->volumes[s].config.backend == CCL_BACKEND_CPU;
        const Subject *const subject = &bench->options->volumes[s];
        CclContext *const context = open_volume(bench, &subject->config);
        Figure add = { .n = 0 }, label = { .n = 0 }, kernels = { .n = 0 };
        const bool right = check_volume_subject(bench, subject, context);
        for (unsigned round = 0; right && round < bench->n_rounds; round++) {
            double add_us, label_us;
            const CclVolumeTable table = run_volume(bench, context, &add_us, &label_us);
            add_sample(&add, add_us);
            add_sample(&label, label_us);
            if (!cpu)
                add_sample(&kernels, (double)table.kernel_us / bench->n_frames);
        }
        Series series = { subject->name, subject->config.connectivity, "volume", cpu ? "add_processor" : "add_wall" };
        print_figure(bench, series, &add, 0);
        series.measure = cpu ? "label_processor" : "label_wall";
        print_figure(bench, series, &label, 0);
        series.measure = "label_kernels";
        print_figure(bench, series, &kernels, 0);
        ccl_context_free(context);
    }
}
