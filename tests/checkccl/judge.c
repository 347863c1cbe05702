/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Runs cases on every method and compares the results with the expected ones. */
#include "judge.h"

#include "backend.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---------------------------------------------------------------- outcomes */

void *grow(void *memory, size_t *size, size_t wanted)
{
    if (wanted <= *size)
        return memory;
    memory = realloc(memory, wanted);
    if (!memory) {
        fprintf(stderr, "checkccl: no memory for %zu bytes\n", wanted);
        exit(2);
    }
    *size = wanted;
    return memory;
}

/* A column of the components in the table, by their labels: grows `kept` and copies `size` bytes for each. */
static void *keep_column(void *kept, size_t *kept_size, const CclTable *table, const void *column, size_t size)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < table->n_components; i++)
        last = at_least(last, table->components[i].label);
    kept = grow(kept, kept_size, last * size + 1);
    for (uint32_t i = 0; i < table->n_components; i++) {
        const size_t at = (table->components[i].label - 1) * size;
        memcpy((uint8_t *)kept + at, (const uint8_t *)column + at, size);
    }
    return kept;
}

static void keep_columns(Outcome *outcome, const CclTable *table)
{
    if (table->shape)
        outcome->table.shape = outcome->shape =
            keep_column(outcome->shape, &outcome->shape_size, table, table->shape, sizeof *table->shape);
    if (table->hull)
        outcome->table.hull = outcome->hull =
            keep_column(outcome->hull, &outcome->hull_size, table, table->hull, sizeof *table->hull);
    if (table->intensity)
        outcome->table.intensity = outcome->intensity =
            keep_column(outcome->intensity, &outcome->intensity_size, table, table->intensity, sizeof *table->intensity);
    if (!table->holes)
        return;
    const size_t bytes = table->n_hole_rows * sizeof *table->hole_rows;
    outcome->table.holes = outcome->holes =
        keep_column(outcome->holes, &outcome->holes_size, table, table->holes, sizeof *table->holes);
    outcome->hole_rows = grow(outcome->hole_rows, &outcome->hole_rows_size, bytes + 1);
    if (bytes)
        memcpy(outcome->hole_rows, table->hole_rows, bytes);
    outcome->table.hole_rows = outcome->hole_rows;
}

void keep_table(Outcome *outcome, const CclTable *table)
{
    const size_t bytes = (size_t)table->n_components * sizeof(CclComponent);
    outcome->rows = grow(outcome->rows, &outcome->rows_size, bytes + 1);
    if (bytes)
        memcpy(outcome->rows, table->components, bytes);
    outcome->table = *table;
    outcome->table.components = outcome->rows;
    keep_columns(outcome, table);
}

void outcome_free(Outcome *outcome)
{
    free(outcome->rows);
    free(outcome->labels);
    free(outcome->shape);
    free(outcome->hull);
    free(outcome->holes);
    free(outcome->hole_rows);
    free(outcome->intensity);
    memset(outcome, 0, sizeof *outcome);
}

uint32_t at_least(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* ---------------------------------------------------------------- judging */

static void count_failure(Session *session, Subject *subject)
{
    session->failed++;
    subject->failed++;
    subject->muted = true;
}

static void judge_subject(Session *session, Subject *subject, const Case *cases, unsigned n, const Outcome *expected)
{
    static Outcome got[2][CCL_MAX_DEPTH];
    uint32_t rows = 1;
    for (unsigned i = 0; i < n; i++)
        rows = at_least(rows, expected[i].table.n_components);

    for (unsigned time = 0; time < (cases[0].twice ? 2 : 1); time++)
        run_method(subject, cases, n, rows, got[time]);

    for (unsigned i = 0; i < n && !subject->muted; i++) {
        char why[400];
        bool same = same_outcome(&cases[i], &expected[i], &got[0][i], why);
        if (same && cases[i].twice && !same_outcome(&cases[i], &expected[i], &got[1][i], why)) {
            memmove(why + 16, why, sizeof why - 16);
            memcpy(why, "the second time ", 16);
            why[sizeof why - 1] = '\0';
            same = false;
        }
        if (same) {
            session->passed++;
            subject->passed++;
            continue;
        }
        count_failure(session, subject);
        if (!session->quiet)
            report(session, subject, &cases[i], n, why);
    }
}

bool too_large(const Session *session, const Subject *subject, const Image *image)
{
    const uint64_t n = (uint64_t)image->width * image->height;
    return (session->max_pixels && n > session->max_pixels) || (subject->max_pixels && n > subject->max_pixels);
}

void judge(Session *session, const Case *cases, unsigned n)
{
    static const CclConnectivity connectivities[] = { CCL_CONNECT_8, CCL_CONNECT_4 };
    static Outcome expected[CCL_MAX_DEPTH];

    for (unsigned k = 0; k < 2; k++) {
        bool known = false;
        for (unsigned s = 0; s < session->n_subjects; s++) {
            Subject *const subject = &session->subjects[s];
            if (subject->muted || subject->dead || subject->config.connectivity != connectivities[k] ||
                too_large(session, subject, cases[0].image) || cases[0].features & ~subject->features_counted)
                continue;
            const unsigned every =
                cases[0].one_of_many && subject->every_of_many ? subject->every_of_many : subject->every;
            if (every && subject->turn++ % every)
                continue;
            for (unsigned i = 0; i < n && !known; i++)
                expect(&cases[i], connectivities[k], &expected[i]);
            known = true;
            judge_subject(session, subject, cases, n, expected);
            if ((uint64_t)cases[0].image->width * cases[0].image->height > MAX_KEPT)
                subject_close(subject);
        }
    }
}

Case case_new(const Image *image, Product product, const char *name, ...)
{
    Case c = { .image = image, .layout = plain_layout, .product = product };
    va_list args;
    va_start(args, name);
    vsnprintf(c.name, sizeof c.name, name, args);
    va_end(args);
    return c;
}

const CclAlgorithm *method_of(const CclConfig *config)
{
    for (unsigned i = 0; ccl_algorithms[i]; i++)
        if (ccl_algorithms[i]->info.backend == config->backend &&
            !strcmp(ccl_algorithms[i]->info.name, config->algorithm))
            return ccl_algorithms[i];
    return NULL;
}

bool check(Session *session, bool passed, const char *format, ...)
{
    if (passed) {
        session->passed++;
        return true;
    }
    session->failed++;
    if (!session->quiet) {
        va_list args;
        va_start(args, format);
        printf("FAILED ");
        vprintf(format, args);
        printf("\n");
        va_end(args);
        fflush(stdout);
    }
    return false;
}

bool subjects_active(const Session *session)
{
    for (unsigned s = 0; s < session->n_subjects; s++)
        if (!session->subjects[s].muted && !session->subjects[s].dead)
            return true;
    return false;
}
