/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bench_state.h"

#include <stdio.h>

/* Compares one product of one frame. Returns how long the method took, in microseconds, or -1 when it is wrong. */
static double check_product(const Bench *bench, Subject *subject, const Case *c, const Outcome *expected)
{
    const double slow_us = 1e6 * bench->options->slow_s;
    double start = now_us();
    Outcome want = *expected, got = actual_outcome_for(subject, c, expected->table.n_components);
    double took_us = now_us() - start;
    char why[400];

    if (took_us > slow_us) { /* the first call also loads kernels and allocates memory */
        outcome_free(&got);
        start = now_us();
        got = actual_outcome_for(subject, c, expected->table.n_components);
        took_us = now_us() - start;
    }
    if (c->product == PRODUCT_PROVISIONAL)
        want.table = (CclTable){ .width = bench->width, .height = bench->height };
    const bool right = same_outcome(c, &want, &got, why);
    if (!right)
        fprintf(stderr, "FAILED %s: \"%s\" %ux%u: %s\n", subject->name, bench->kind, bench->width, bench->height, why);
    outcome_free(&got);
    return right ? took_us : -1;
}

/* Mutes a method that is wrong, or too slow to be timed. */
static void check_subject(Bench *bench, Subject *subject, Image *frame, const Outcome *expected)
{
    for (unsigned p = 0; p < N_PRODUCTS && !subject->muted; p++) {
        if (!product_wanted(bench, products[p]))
            continue;
        Case c = case_new(frame, products[p], "%s", bench->kind);
        c.exact = true;
        c.filter = bench->options->filter;
        const double took_us = check_product(bench, subject, &c, expected);
        if (took_us > 1e6 * bench->options->slow_s)
            fprintf(stderr, "%s: not timed, a frame takes %.1f s\n", subject->name, took_us * 1e-6);
        subject->muted = took_us < 0 || took_us > 1e6 * bench->options->slow_s;
        bench->all_right &= took_us >= 0;
    }
    subject_close(subject);
}

static bool is_checked(const Subject *subject, CclConnectivity connectivity)
{
    return !subject->muted && subject->config.connectivity == connectivity;
}

static void check_frame(Bench *bench, Image *frame, CclConnectivity connectivity, Subject *subjects, unsigned n)
{
    const unsigned k = connectivity == CCL_CONNECT_8;
    unsigned first = 0;
    while (first < n && !is_checked(&subjects[first], connectivity))
        first++;
    if (first == n)
        return;
    Outcome expected = expected_outcome(
        &(Case){ .image = frame, .product = PRODUCT_LABELS, .filter = bench->options->filter }, connectivity);
    for (unsigned s = first; s < n; s++)
        if (is_checked(&subjects[s], connectivity))
            check_subject(bench, &subjects[s], frame, &expected);
    if (!bench->checked[k])
        bench->n_components[k] = expected.table.n_found;
    bench->checked[k] = true;
    outcome_free(&expected);
}

void check_subjects(Bench *bench, Subject *subjects, unsigned n)
{
    bench->checked[0] = bench->checked[1] = false;
    for (unsigned f = 0; f < bench->n_frames; f++) {
        check_frame(bench, &bench->frames[f], CCL_CONNECT_4, subjects, n);
        check_frame(bench, &bench->frames[f], CCL_CONNECT_8, subjects, n);
    }
}
