/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Many label maps of changing sizes through one context of each method, with holes: against the reference method, which maps.c
 * compares with masks. */
#include "judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PIXELS = 27000, N_COMPONENTS = 300 };

/* What the contexts of a round have in common. */
typedef struct Round {
    CclConnectivity connectivity;
    uint32_t max_width, max_height;
    unsigned background;
    bool wide;
    unsigned n_maps;
} Round;

static CclContext *open_context(CclConfig config, const Round *round)
{
    CclContext *context;
    config.foreground = CCL_FOREGROUND_EQUAL;
    config.background_value = round->background;
    config.connectivity = round->connectivity;
    config.features = CCL_FEATURE_HOLES;
    config.max_width = round->max_width;
    config.max_height = round->max_height;
    config.max_components = N_COMPONENTS;
    config.depth = 1;
    if (ccl_context_new(&config, &context) == CCL_OK)
        return context;
    fprintf(stderr, "checkccl: label maps: %s\n", ccl_error_message());
    exit(2);
}

/* Nested boxes, or noise of two, four or eight values. */
static Image draw(const Round *round, unsigned i, Random *random)
{
    const uint32_t width = 1 + random_below(random, round->max_width), height = 1 + random_below(random, round->max_height);
    if (i % 3)
        return image_nested(width, height, 2 + random_below(random, 4), 1 + random_below(random, 12), random);
    Image image = image_new(width, height);
    for (unsigned bit = 0, n_bits = 1 + random_below(random, 3); bit < n_bits; bit++) {
        Image noise = image_noise(width, height, 20 + random_below(random, 60), 1 + random_below(random, 4), random);
        for (size_t at = 0; at < (size_t)width * height; at++)
            image.pixels[at] |= (uint8_t)(noise.pixels[at] << bit);
        image_free(&noise);
    }
    return image;
}

static bool same_tables(const CclTable *expected, const CclTable *table)
{
    const uint32_t n = expected->n_components;
    return table->n_components == n && table->n_found == expected->n_found && table->n_kept == expected->n_kept &&
           table->n_hole_rows == expected->n_hole_rows &&
           !memcmp(table->components, expected->components, n * sizeof *table->components) &&
           !memcmp(table->holes, expected->holes, n * sizeof *table->holes) &&
           !memcmp(table->hole_rows, expected->hole_rows, expected->n_hole_rows * sizeof *table->hole_rows);
}

static CclMask mask_of(const Image *image, bool wide)
{
    static uint16_t pixels[MAX_PIXELS];
    const size_t n = (size_t)image->width * image->height;
    for (size_t i = 0; i < n && wide; i++)
        pixels[i] = image->pixels[i];
    return (CclMask){ .data = wide ? (const uint8_t *)pixels : image->pixels,
                      .stride = image->width * (wide ? 2u : 1u),
                      .width = image->width,
                      .height = image->height,
                      .pixel_size = wide ? 2 : 1 };
}

static bool is_judged(const Subject *subject, const Round *round)
{
    return subject->map_features & CCL_FEATURE_HOLES && !subject->muted && subject->config.connectivity == round->connectivity;
}

/* Other methods than CUDA's get some of the maps: they have many variants. */
static void judge_round(Session *session, const Round *round)
{
    CclConfig reference_config = ccl_config_default();
    reference_config.algorithm = "reference";
    CclContext *const reference = open_context(reference_config, round);
    CclContext **const contexts = calloc(session->n_subjects, sizeof(CclContext *));
    for (unsigned s = 0; s < session->n_subjects; s++)
        if (is_judged(&session->subjects[s], round))
            contexts[s] = open_context(session->subjects[s].config, round);
    for (unsigned i = 0; i < round->n_maps; i++) {
        Image image = draw(round, i, &session->random);
        const CclMask mask = mask_of(&image, round->wide);
        const CclFilter filter = { .min_area = i % 4 < 2 ? 0 : 1 + random_below(&session->random, 9) };
        CclTable expected, table;
        const bool known = ccl_analyze(reference, &mask, &filter, NULL, &expected) == CCL_OK;
        for (unsigned s = 0; s < session->n_subjects; s++) {
            Subject *const subject = &session->subjects[s];
            const unsigned every = subject->config.backend == CCL_BACKEND_CUDA ? at_least(subject->every, 1) : 8;
            if (!contexts[s] || subject->muted || subject->turn++ % every)
                continue;
            subject->muted = !check(session,
                                    known && ccl_analyze(contexts[s], &mask, &filter, NULL, &table) == CCL_OK &&
                                        same_tables(&expected, &table),
                                    "%s: label map %u of many, %ux%u, background %u, area from %u on", subject->name, i,
                                    mask.width, mask.height, round->background, (unsigned)filter.min_area);
        }
        image_free(&image);
    }
    for (unsigned s = 0; s < session->n_subjects; s++)
        ccl_context_free(contexts[s]);
    free(contexts);
    ccl_context_free(reference);
}

void check_many_maps(Session *session)
{
    for (unsigned i = 0; i < 10; i++) { /* the last two: rows of more than 64 words */
        const bool is_long = i >= 8;
        const Round round = { .connectivity = i % 2 ? CCL_CONNECT_4 : CCL_CONNECT_8,
                              .max_width = is_long ? MAX_PIXELS / 6 : 140,
                              .max_height = is_long ? 6 : 70,
                              .background = i / 4 * 3,
                              .wide = i / 2 % 2,
                              .n_maps = session->quick ? 20 : 1250 };
        judge_round(session, &round);
    }
}
