/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "checkccl.h"
#include "device.h"
#include "subjects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_SKIPPED = 77 };

static const struct {
    const char *name;
    void (*run)(Session *session);
} suites[] = {
    { "labels", check_labels },
    { "table", check_table },
    { "features", check_features },
    { "shape", check_shape },
    { "hull", check_hull },
    { "holes", check_holes },
    { "intensity", check_intensity },
    { "selection", check_selection },
    { "maps", check_maps },
    { "contour", check_contour },
    { "blend", check_blend },
    { "api", check_api },
    { "methods", check_single_methods },
    { "volume", check_volume },
    { "batch", check_batch },
    { "crowd", check_crowd },
    { "repeat", check_repeat },
    { "cpus", check_cpus },
    { "pool", check_pool },
    { "huge", check_huge }, /* only when asked for */
};
enum { N_SUITES = sizeof suites / sizeof *suites };

/* Whether the text up to the next comma names a suite. */
static bool is_suite(const char *item)
{
    for (unsigned i = 0; i < N_SUITES; i++)
        if (strlen(suites[i].name) == strcspn(item, ",") && !strncmp(suites[i].name, item, strcspn(item, ",")))
            return true;
    return false;
}

/* ---------------------------------------------------------------- running */

static void list(void)
{
    const CclAlgorithmInfo *info;
    printf("methods:\n");
    for (unsigned i = 0; (info = ccl_algorithm(i)); i++)
        printf("  %-4s %-12s %s%s  %s%s%s\n", info->backend == CCL_BACKEND_CUDA ? "cuda" : "cpu", info->name,
               info->connectivity & 4 ? "4" : " ", info->connectivity & 8 ? "8" : " ", info->title,
               info->paper ? "; " : "", info->paper ? info->paper : "");
    printf("suites:\n ");
    for (unsigned i = 0; i < N_SUITES; i++)
        printf(" %s", suites[i].name);
    printf("\nCUDA: %s, %d device(s)\n", ccl_backend_built(CCL_BACKEND_CUDA) ? "built" : "not built", device_count());
}

static void print_subject(const Subject *subject)
{
    if (!subject->passed && !subject->failed && !subject->dead)
        return; /* not in these suites */
    printf("%-28s %8lu passed, %lu failed%s\n", subject->name, subject->passed, subject->failed,
           subject->dead ? ", device lost" : "");
}

static void run_suites(Session *session, const Options *options)
{
    for (unsigned i = 0; i < N_SUITES; i++) {
        const bool named = named_in(options->suite, suites[i].name);
        if (options->suite ? !named : suites[i].run == check_huge && !options->huge)
            continue;
        const double start = seconds();
        const unsigned long passed = session->passed, failed = session->failed;
        for (unsigned s = 0; s < session->n_subjects; s++)
            session->subjects[s].muted = false;
        for (unsigned s = 0; s < session->n_volumes; s++)
            session->volumes[s].muted = false;
        session->random.state = session->seed;
        suites[i].run(session);
        printf("%-9s %8lu passed, %lu failed, %.1f s\n", suites[i].name, session->passed - passed,
               session->failed - failed, seconds() - start);
    }
    for (unsigned s = 0; s < session->n_subjects; s++)
        print_subject(&session->subjects[s]);
    for (unsigned s = 0; s < session->n_volumes; s++)
        print_subject(&session->volumes[s]);
}

static void close_session(Session *session)
{
    for (unsigned s = 0; s < session->n_subjects; s++)
        subject_close(&session->subjects[s]);
    for (unsigned s = 0; s < session->n_volumes; s++)
        subject_close(&session->volumes[s]);
    layout_close();
    judge_close();
    free(session->subjects);
    free(session->volumes);
}

/* Times the methods. False when one gave a wrong result. */
static bool run_bench(Session *session, BenchOptions options)
{
    options.volumes = session->volumes;
    options.n_volumes = session->n_volumes;
    return bench_run(&options, session->subjects, session->n_subjects);
}

/* Judges the methods. False when a check failed. */
static bool run_checks(Session *session, const Options *options)
{
    printf("seed %llu%s\n", (unsigned long long)session->seed, session->quick ? ", quick" : "");
    if (session->cuda)
        printf("device: %s\n", device_description());
    if (options->self_test)
        check_faults(session);
    else
        run_suites(session, options);
    return !session->failed;
}

int main(int argc, char **argv)
{
    const Options options = options_parse(argc, argv, is_suite);
    Session session = {
        .seed = options.seed, .quick = options.quick, .verbose = options.verbose, .images = options.images,
        .max_pixels = options.max_pixels,
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (options.list) {
        list();
        return 0;
    }
    if (options.backend && !strcmp(options.backend, "cuda") && !device_count()) {
        printf("skipped: %s\n", ccl_backend_built(CCL_BACKEND_CUDA) ? "no CUDA device" : "built without CUDA");
        return EXIT_SKIPPED;
    }
    layout_catch_faults();
    choose_subjects(&session, &options);
    if (!session.n_subjects && !session.n_volumes) {
        fprintf(stderr, "checkccl: this build has no method that the options name; --list shows its methods\n");
        return 2;
    }
    const bool right = options.bench ? run_bench(&session, options.bench_options) : run_checks(&session, &options);
    close_session(&session);
    if (!options.bench)
        printf("%lu passed, %lu failed\n", session.passed, session.failed);
    return right ? 0 : 1;
}
