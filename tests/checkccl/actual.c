/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The result that a method has for a case. */
#include "judge.h"

#include <stdio.h>
#include <string.h>

static bool context_fits(const Subject *subject, const CclConfig *wanted, bool exact)
{
    const CclConfig *const made = &subject->made;
    if (!subject->context || made->order != wanted->order || made->features != wanted->features ||
        made->selects != wanted->selects || made->depth < wanted->depth)
        return false;
    if (made->max_components != wanted->max_components && (exact || made->max_components < wanted->max_components))
        return false;
    if (exact)
        return made->max_width == wanted->max_width && made->max_height == wanted->max_height &&
               made->labels == wanted->labels;
    return made->max_width >= wanted->max_width && made->max_height >= wanted->max_height &&
           made->labels >= wanted->labels;
}

/* A configuration for n cases: for one exact case just that, otherwise larger, so that the context can be used again. */
static CclConfig config_for(const Subject *subject, const Case *cases, unsigned n, uint32_t rows, bool *exact)
{
    CclConfig config = subject->config;
    *exact = cases[0].exact || cases[0].max_components;
    config.order = cases[0].order;
    config.features = cases[0].features;
    config.selects = cases[0].selects || cases[0].filter.selection;
    config.depth = *exact ? n : CCL_MAX_DEPTH;
    config.labels = !*exact || cases[0].product != PRODUCT_TABLE;
    config.max_width = config.max_height = 1;
    for (unsigned i = 0; i < n; i++) {
        config.max_width = at_least(config.max_width, cases[i].image->width);
        config.max_height = at_least(config.max_height, cases[i].image->height);
    }
    config.max_components = cases[0].max_components ? cases[0].max_components : rows;
    if (*exact)
        return config;
    /* Keep a context that is large enough, or grow, but not to the width of one image and the height of another. */
    const uint32_t width = at_least(config.max_width, 300), height = at_least(config.max_height, 300);
    if ((uint64_t)at_least(width, subject->made.max_width) * at_least(height, subject->made.max_height) < 1u << 20) {
        config.max_width = at_least(width, subject->made.max_width);
        config.max_height = at_least(height, subject->made.max_height);
    }
    config.max_components = at_least(rows, 1u << 14);
    return config;
}

static bool open_context(Subject *subject, const Case *cases, unsigned n, uint32_t rows, char error[400])
{
    bool exact;
    const CclConfig config = config_for(subject, cases, n, rows, &exact);
    if (context_fits(subject, &config, exact))
        return true;
    ccl_context_free(subject->context);
    subject->made = config;
    if (ccl_context_new(&config, &subject->context) == CCL_OK)
        return true;
    snprintf(error, 400, "ccl_context_new for %ux%u, %u rows, depth %u: %s", config.max_width, config.max_height,
             config.max_components, config.depth, ccl_error_message());
    subject->context = NULL;
    memset(&subject->made, 0, sizeof subject->made);
    return false;
}

void subject_close(Subject *subject)
{
    ccl_context_free(subject->context);
    subject->context = NULL;
    memset(&subject->made, 0, sizeof subject->made);
}

static void fail_outcome(Outcome *outcome, Subject *subject, const char *call, CclStatus status)
{
    snprintf(outcome->error, sizeof outcome->error, "%s: %s", call, ccl_error_message());
    if (status == CCL_ERROR_DEVICE)
        subject->dead = true;
}

static void forget_outcome(Outcome *outcome)
{
    outcome->error[0] = '\0';
    memset(&outcome->table, 0, sizeof outcome->table);
}

void run_method(Subject *subject, const Case *cases, unsigned n, uint32_t rows, Outcome *outcomes)
{
    unsigned submitted = 0;
    for (unsigned i = 0; i < n; i++)
        forget_outcome(&outcomes[i]);
    layout_now_running(subject, &cases[0]);
    if (!open_context(subject, cases, n, rows, outcomes[0].error))
        return;

    for (; submitted < n; submitted++) {
        CclMask mask;
        CclLabels labels;
        layout_prepare(submitted, &cases[submitted], subject->config.backend, &mask, &labels);
        const CclStatus status =
            ccl_submit(subject->context, &mask, &cases[submitted].filter, labels.data ? &labels : NULL);
        if (status != CCL_OK) {
            fail_outcome(&outcomes[submitted], subject, "ccl_submit", status);
            break;
        }
        if (subject->fault && subject->fault->trespass)
            subject->fault->trespass(&mask, &labels);
    }
    for (unsigned i = 0; i < submitted; i++) {
        CclTable table = { 0 };
        const CclStatus status = ccl_collect(subject->context, &table);
        if (status != CCL_OK) {
            fail_outcome(&outcomes[i], subject, "ccl_collect", status);
            continue;
        }
        keep_table(&outcomes[i], &table);
        if ((subject->made.features & CCL_FEATURE_SHAPE && !table.shape) ||
            (subject->made.features & CCL_FEATURE_HULL && !table.hull) ||
            (subject->made.features & CCL_FEATURE_INTENSITY && !table.intensity) ||
            (subject->made.features & CCL_FEATURE_HOLES && !(table.holes && table.hole_rows)))
            fail_outcome(&outcomes[i], subject, "no counts of a feature", CCL_OK);
        layout_finish(i, &outcomes[i]);
        if (subject->fault && subject->fault->spoil)
            subject->fault->spoil(&cases[i], &outcomes[i]);
    }
}

uint32_t rows_needed(const Outcome *expected)
{
    return at_least(expected->table.n_components, 1);
}

Outcome actual_outcome_for(Subject *subject, const Case *c, uint32_t rows)
{
    Outcome outcome = { 0 };
    run_method(subject, c, 1, at_least(rows, 1), &outcome);
    return outcome;
}

Outcome actual_outcome(Subject *subject, const Case *c)
{
    Outcome expected = expected_outcome(c, subject->config.connectivity);
    Outcome outcome = actual_outcome_for(subject, c, rows_needed(&expected));
    outcome_free(&expected);
    return outcome;
}
