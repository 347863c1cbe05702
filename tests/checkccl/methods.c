/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is known of single methods beside their result: how many iterations they take, how much memory. */
#include "checkccl.h"
#include "patterns.h"

#include "backend.h"

#include <stdio.h>
#include <string.h>

static bool is_cuda(const Subject *subject, const char *algorithm)
{
    return subject->config.backend == CCL_BACKEND_CUDA && !strcmp(subject->config.algorithm, algorithm);
}

static CclContext *open_or_fail(Session *session, const Subject *subject, const CclConfig *config)
{
    CclContext *context;
    check(session, ccl_context_new(config, &context) == CCL_OK, "%s: no context: %s", subject->name,
          ccl_error_message());
    return context;
}

/* ---------------------------------------------------------------- ridge patterns */

/* How often the method launched this step for one image; 0 when anything goes wrong. */
static unsigned launches_of(Session *session, const Subject *subject, const Image *image, const char *step_name)
{
    CclConfig config = subject->config;
    config.max_width = image->width;
    config.max_height = image->height;
    config.timing = true;
    CclContext *const context = open_or_fail(session, subject, &config);
    if (!context)
        return 0;
    const CclMask mask = {
        .data = image->pixels, .stride = image->width, .width = image->width, .height = image->height
    };
    const CclStep *steps;
    CclTable table;
    unsigned count = 0;
    if (ccl_analyze(context, &mask, NULL, NULL, &table) == CCL_OK)
        for (unsigned n = ccl_steps(context, &steps), i = 0; i < n; i++)
            if (!strcmp(steps[i].name, step_name))
                count += steps[i].count;
    ccl_context_free(context);
    return count;
}

/* The properties paper's claim: label equivalence takes exactly l iterations on R_l, in any connectivity. */
static void check_ridges(Session *session, const Subject *subject)
{
    if (!is_cuda(subject, "le") && !is_cuda(subject, "le-early") && !is_cuda(subject, "le-late"))
        return;
    for (unsigned level = 1; level <= 8; level++) {
        Image image = pattern_ridge(level, 1);
        const unsigned count = launches_of(session, subject, &image, "analysis");
        check(session, count == level, "%s: ridge pattern %u took %u iterations", subject->name, level, count);
        image_free(&image);
    }
}

/* And the result, of all methods; the families are images that are timed (bench_images.c). */
static void judge_ridges(Session *session)
{
    Image merged = image_new(130, 135);
    pattern_ridges(&merged, &(Ridges){ 3, 2, 80, 50 }, &session->random);
    const Case families = case_new(&merged, PRODUCT_LABELS, "ridge patterns, merged");
    judge(session, &families, 1);
    image_free(&merged);
    for (unsigned level = 1; level <= 8; level++) {
        Image image = pattern_ridge(level, 1);
        const Case c = case_new(&image, PRODUCT_LABELS, "ridge pattern %u", level);
        judge(session, &c, 1);
        image_free(&image);
    }
}

/* The definition of the families: the number of patterns, and that lines between all of them make one component. */
static void check_ridge_families(Session *session)
{
    static const struct {
        double present, merged;
        uint32_t n_found;
    } families[] = { { 100, 0, 16 }, { 100, 100, 1 }, { 0, 0, 0 } };
    for (unsigned level = 1; level <= 4; level++)
        for (unsigned i = 0; i < sizeof families / sizeof *families; i++) {
            Image image = image_new(128, 140);
            const Ridges ridges = { level, 2, families[i].present, families[i].merged };
            const bool drawn = pattern_ridges(&image, &ridges, &session->random);
            const Case c = case_new(&image, PRODUCT_TABLE, "ridge patterns");
            Outcome outcome = expected_outcome(&c, CCL_CONNECT_4);
            check(session, drawn && outcome.table.n_found == families[i].n_found,
                  "16 ridge patterns of level %u: %u found", level, outcome.table.n_found);
            outcome_free(&outcome);
            image_free(&image);
        }
}

/* C++ requires this of std::mt19937's 10000th number. */
static void check_twister(Session *session)
{
    Twister twister;
    uint32_t number = 0;
    twister_seed(&twister, 5489);
    for (unsigned i = 0; i < 10000; i++)
        number = twister_next(&twister);
    check(session, number == 4123659995u, "MT19937: the 10000th number is %u", number);
}

/* ---------------------------------------------------------------- memory */

static size_t device_bytes(Session *session, const Subject *subject, const char *algorithm, uint32_t size)
{
    size_t host = 0, device = 0;
    CclConfig config = subject->config;
    config.algorithm = algorithm;
    config.max_width = config.max_height = size;
    CclContext *const context = open_or_fail(session, subject, &config);
    if (context)
        ccl_context_memory(context, &host, &device);
    ccl_context_free(context);
    return device;
}

/* Sums that travel with the labels take a slot per pixel: area in 4 bytes, two first and three second moments in 8
 * each, the box in 12. Sums after numbering take nothing beyond what the backend has for components. */
static void check_property_memory(Session *session, const Subject *subject, const char *plain, const char *early,
                                  const char *late)
{
    if (!is_cuda(subject, plain))
        return;
    const uint32_t size = 1024;
    const size_t without = device_bytes(session, subject, plain, size);
    const size_t with_early = device_bytes(session, subject, early, size);
    const size_t with_late = device_bytes(session, subject, late, size);
    check(session, with_early == without + (size_t)size * size * (4 + 5 * 8 + 12),
          "%s takes %zu bytes for %ux%u, %s takes %zu", early, with_early, size, size, plain, without);
    check(session, with_late == without, "%s takes %zu bytes for %ux%u, %s takes %zu", late, with_late, size, size,
          plain, without);
}

/* The method of the table that labels one frame, 8-connected, in the least memory of its own. */
static const CclAlgorithm *smallest_method(void)
{
    const CclAlgorithm *smallest = NULL;
    for (unsigned i = 0; ccl_algorithms[i]; i++) {
        const CclAlgorithm *const method = ccl_algorithms[i];
        if (method->label && !method->info.volume && method->info.backend == CCL_BACKEND_CUDA &&
            method->info.connectivity & CCL_CONNECT_8 &&
            (!smallest || method->bytes_per_pixel < smallest->bytes_per_pixel))
            smallest = method;
    }
    return smallest;
}

/* The table says how much memory of its own a method takes. The method that takes the least is the base. */
static void check_own_memory(Session *session, const Subject *subject)
{
    const uint32_t size = 1024;
    const CclAlgorithm *algorithm = NULL, *const base = smallest_method();
    for (unsigned i = 0; ccl_algorithms[i]; i++)
        if (is_cuda(subject, ccl_algorithms[i]->info.name))
            algorithm = ccl_algorithms[i];
    if (!algorithm || !algorithm->label || subject->config.connectivity != CCL_CONNECT_8)
        return;
    const size_t with = device_bytes(session, subject, subject->config.algorithm, size);
    const double more = ((double)with - (double)device_bytes(session, subject, base->info.name, size)) / (size * size);
    const double own = more + base->bytes_per_pixel;
    check(session, own > algorithm->bytes_per_pixel - .01 && own < algorithm->bytes_per_pixel + .01,
          "%s takes %.2f bytes a pixel, and not %.2f", subject->name, own, algorithm->bytes_per_pixel);
}

void check_single_methods(Session *session)
{
    judge_ridges(session);
    check_ridge_families(session);
    check_twister(session);
    for (unsigned s = 0; s < session->n_subjects; s++) {
        const Subject *const subject = &session->subjects[s];
        if (subject->muted || subject->dead)
            continue;
        check_ridges(session, subject);
        check_own_memory(session, subject);
        check_property_memory(session, subject, "le", "le-early", "le-late");
        check_property_memory(session, subject, "stava", "stava-early", "stava-late");
    }
}
