/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Label maps of several tiles of a GPU, with tables for all components and for fewer: every method against the CPU's, which
 * maps.c compares with masks. */
#include "judge.h"

#include "device.h"
#include "pictures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WIDTH = 200, MAX_HEIGHT = 90, MAX_BYTES = MAX_HEIGHT * (2 * MAX_WIDTH + 3) };

/* A map and the label image of its table. */
typedef struct MapImage {
    uint8_t pixels[MAX_BYTES];
    uint32_t labels[MAX_WIDTH * MAX_HEIGHT];
    CclMask mask;
    uint64_t min_area; /* of a filter */
} MapImage;

/* Patches of `grain` pixels; one pixel of 16 is noise. So components reach across tiles, and there are many small ones. */
static void draw_map(MapImage *map, unsigned pixel_size, Random *random)
{
    const uint32_t width = 1 + random_below(random, MAX_WIDTH), height = 1 + random_below(random, MAX_HEIGHT);
    const uint32_t n_values = 2 + random_below(random, 5), grain = 1 + random_below(random, 40), high = pixel_size == 2 ? 256 : 1;
    const size_t stride = (size_t)width * pixel_size + random_below(random, 4);
    uint8_t patches[MAX_WIDTH + MAX_HEIGHT];
    for (uint32_t i = 0; i < MAX_WIDTH + MAX_HEIGHT; i++)
        patches[i] = (uint8_t)random_below(random, n_values);
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++) {
            const uint32_t patch = (patches[x / grain] + patches[MAX_WIDTH + y / grain]) % n_values;
            const uint16_t value = (uint16_t)(high * (random_below(random, 16) ? patch : random_below(random, n_values)));
            memcpy(map->pixels + y * stride + (size_t)x * pixel_size, &value, pixel_size);
        }
    map->min_area = random_below(random, 2) * random_below(random, 5);
    map->mask = (CclMask){ .data = map->pixels,
                           .stride = stride,
                           .width = width,
                           .height = height,
                           .pixel_size = pixel_size,
                           .picture = picture_plain(random_below(random, N_PICTURES), width, height) };
}

static CclConfig config_of(const Subject *subject, const MapImage *map, unsigned background)
{
    CclConfig config = subject->config;
    config.foreground = CCL_FOREGROUND_EQUAL;
    config.background_value = background;
    config.max_width = map->mask.width;
    config.max_height = map->mask.height;
    config.labels = true;
    return config;
}

static CclContext *table_of(const CclConfig *config, MapImage *map, CclTable *table)
{
    const CclLabels labels = { .data = map->labels, .stride = (size_t)map->mask.width * 4 };
    const CclFilter filter = { .min_area = map->min_area };
    CclContext *context = NULL;
    memset(map->labels, 0xff, sizeof map->labels);
    if (ccl_context_new(config, &context) == CCL_OK && ccl_analyze(context, &map->mask, &filter, &labels, table) == CCL_OK)
        return context;
    fprintf(stderr, "checkccl: label map: %s\n", ccl_error_message());
    exit(2);
}

static bool same_holes(const CclTable *all, const CclTable *table)
{
    bool same = true;
    for (uint32_t i = 0; i < table->n_components && same; i++) {
        const CclHoleCounts *const a = &all->holes[i], *const b = &table->holes[i];
        same = a->n_holes == b->n_holes && a->area_filled == b->area_filled &&
               !memcmp(all->hole_rows + a->first, table->hole_rows + b->first, a->n_holes * sizeof(CclHole));
    }
    return same;
}

/* A table of n rows has the first ones of the table of all. */
static bool same_beginning(const CclTable *all, const CclTable *table, uint32_t n, unsigned features)
{
    const bool short_one = n < all->n_components;
    n = short_one ? n : all->n_components;
    return table->n_components == n && table->n_found == all->n_found && table->n_kept == all->n_kept &&
           !(table->flags & CCL_TABLE_TRUNCATED) == !short_one &&
           !memcmp(table->components, all->components, n * sizeof *all->components) &&
           !memcmp(table->class_ids, all->class_ids, n * sizeof *all->class_ids) &&
           (!(features & CCL_FEATURE_SHAPE) || !memcmp(table->shape, all->shape, n * sizeof *all->shape)) &&
           (!(features & CCL_FEATURE_HULL) || !memcmp(table->hull, all->hull, n * sizeof *all->hull)) &&
           (!(features & CCL_FEATURE_INTENSITY) || !memcmp(table->intensity, all->intensity, n * sizeof *all->intensity)) &&
           (!(features & CCL_FEATURE_HOLES) || same_holes(all, table));
}

/* One subject, with fewer records than components, just enough, or more. */
static void judge_subject(Session *session, Subject *subject, MapImage *map, const CclConfig *all_config)
{
    static MapImage other;
    CclTable all, table;
    CclContext *const all_context = table_of(all_config, map, &all);
    const uint32_t counts[] = { 1, 1 + random_below(&session->random, all.n_kept + 1), all.n_kept, all.n_kept + 3 };
    CclConfig config = config_of(subject, map, all_config->background_value);
    config.max_components = at_least(counts[subject->turn++ % 4], 1);
    config.features = all_config->features & subject->map_features;
    other = *map;
    other.mask.data = other.pixels;
    CclContext *const context = table_of(&config, &other, &table);
    subject->muted =
        !check(session,
               same_beginning(&all, &table, config.max_components, config.features) &&
                   !memcmp(map->labels, other.labels, (size_t)map->mask.width * map->mask.height * sizeof *map->labels),
               "%s: label map %ux%u, %u bytes, background %u, area from %u on, %u of %u records, features 0x%x", subject->name,
               map->mask.width, map->mask.height, map->mask.pixel_size, all_config->background_value, (unsigned)map->min_area,
               config.max_components, all.n_kept, config.features);
    ccl_context_free(context);
    ccl_context_free(all_context);
}

void check_short_maps(Session *session)
{
    enum { ALL = CCL_FEATURE_SHAPE | CCL_FEATURE_HULL | CCL_FEATURE_HOLES | CCL_FEATURE_INTENSITY };
    static MapImage map;
    Subject cpu = { .config = ccl_config_default() };
    cpu.config.backend = CCL_BACKEND_CPU;
    for (unsigned i = 0; i < (session->quick ? 24 : 300); i++) {
        draw_map(&map, 1 + i / 2 % 2, &session->random);
        CclConfig config = config_of(&cpu, &map, random_below(&session->random, 4));
        config.connectivity = i % 2 ? CCL_CONNECT_4 : CCL_CONNECT_8;
        config.max_components = map.mask.width * map.mask.height;
        config.features = i % 3 ? ALL : 0;
        for (unsigned s = 0; s < session->n_subjects; s++) {
            Subject *const subject = &session->subjects[s];
            if (subject->config.connectivity == config.connectivity && subject->map_features && !subject->muted)
                judge_subject(session, subject, &map, &config);
        }
    }
}
