/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Label maps on every method that labels them. The expected table is made from binary masks, one for each value, by the
 * reference method for masks. */
#include "judge.h"

#include "analysis/selection.h"
#include "device.h"
#include "pictures.h"
#include "pixels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- maps */

typedef struct Map {
    uint32_t width, height;
    unsigned picture; /* of picture_kinds[]: what is measured under it */
    uint16_t background_value;
    unsigned pixel_size;
    size_t stride;
    uint8_t *data; /* no byte more than the last row has */
} Map;

typedef uint16_t ValueAt(uint32_t x, uint32_t y, Random *random, uint32_t n_values);

static Map map_new(uint32_t width, uint32_t height, unsigned pixel_size, unsigned pad)
{
    static unsigned turn;
    Map map = { .width = width, .height = height, .picture = turn++ % N_PICTURES };
    size_t size = 0;
    map.pixel_size = pixel_size;
    map.stride = (size_t)width * pixel_size + pad;
    map.data = grow(NULL, &size, map.stride * (height - 1) + (size_t)width * pixel_size);
    memset(map.data, 0xa5, size);
    return map;
}

static void map_set(const Map *map, uint32_t x, uint32_t y, uint16_t value)
{
    uint8_t *const pixel = map->data + y * map->stride + (size_t)x * map->pixel_size;
    if (map->pixel_size == 2)
        memcpy(pixel, &value, 2);
    else
        *pixel = (uint8_t)value;
}

static CclMask map_mask(const Map *map)
{
    return (CclMask){ .data = map->data,
                      .stride = map->stride,
                      .width = map->width,
                      .height = map->height,
                      .pixel_size = map->pixel_size,
                      .picture = picture_plain(map->picture, map->width, map->height) };
}

static Map map_draw(uint32_t width, uint32_t height, unsigned pixel_size, ValueAt *value_at, uint32_t n_values, Random *random)
{
    Map map = map_new(width, height, pixel_size, random_below(random, 3));
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            map_set(&map, x, y, value_at(x, y, random, n_values));
    map.background_value = (uint16_t)random_below(random, n_values + 1); /* perhaps one that does not occur */
    return map;
}

/* ---------------------------------------------------------------- expected results */

/* The features of a component are those that it has in the binary mask of its value. */
typedef struct Row {
    CclComponent component;
    uint16_t class_id;
    CclShapeCounts shape;
    CclHullCounts hull;
    CclIntensityCounts intensity;
    CclHoleCounts holes; /* first: of hole_rows */
} Row;

typedef struct Expected {
    Row *rows;
    size_t rows_size;
    uint32_t n;
    CclHole *hole_rows; /* by parent: Row.holes; their areas are those of the binary mask */
    size_t hole_rows_size;
    uint32_t n_hole_rows;
    uint32_t *labels;
    size_t labels_size;
} Expected;

enum { ALL_FEATURES = CCL_FEATURE_SHAPE | CCL_FEATURE_HULL | CCL_FEATURE_HOLES | CCL_FEATURE_INTENSITY };

static int compare_rows(const void *a, const void *b)
{
    const CclComponent *const x = &((const Row *)a)->component, *const y = &((const Row *)b)->component;
    return x->y0 != y->y0 ? (x->y0 < y->y0 ? -1 : 1) : x->first_x < y->first_x ? -1 : 1;
}

/* Adds the components of one value. `binary` is scratch. */
static void add_value(Expected *expected, const Map *map, uint16_t value, CclConnectivity connectivity, Image *binary)
{
    const CclMask mask = map_mask(map);
    bool is_there = false;
    for (uint32_t y = 0; y < map->height; y++)
        for (uint32_t x = 0; x < map->width; x++)
            is_there |= *image_at(binary, x, y) = pixel_value(&mask, x, y) == value;
    if (!is_there || value == map->background_value)
        return;
    Case c = case_new(binary, PRODUCT_TABLE, "one value");
    c.features = ALL_FEATURES;
    c.picture = map->picture;
    Outcome outcome = expected_outcome(&c, connectivity);
    expected->rows = grow(expected->rows, &expected->rows_size, (expected->n + outcome.table.n_components) * sizeof(Row));
    for (uint32_t i = 0; i < outcome.table.n_components; i++) {
        CclHoleCounts holes = outcome.holes[i];
        holes.first += expected->n_hole_rows;
        expected->rows[expected->n++] =
            (Row){ outcome.rows[i], value, outcome.shape[i], outcome.hull[i], outcome.intensity[i], holes };
    }
    const uint32_t n_holes = outcome.table.n_hole_rows;
    expected->hole_rows =
        grow(expected->hole_rows, &expected->hole_rows_size, (expected->n_hole_rows + n_holes + 1) * sizeof(CclHole));
    memcpy(expected->hole_rows + expected->n_hole_rows, outcome.hole_rows, n_holes * sizeof(CclHole));
    expected->n_hole_rows += n_holes;
    outcome_free(&outcome);
}

/* The component of a pixel has its first pixel before, or here. Slow and plain: it is filled from its first pixel. */
static void flood(const Map *map, uint32_t *labels, const Row *row, CclConnectivity connectivity)
{
    const CclMask mask = map_mask(map);
    const CclComponent *const c = &row->component;
    bool grows = true;
    labels[(size_t)c->y0 * map->width + c->first_x] = c->label;
    while (grows) {
        grows = false;
        for (int64_t y = c->y0; y < c->y1; y++)
            for (int64_t x = c->x0; x < c->x1; x++) {
                const size_t at = (size_t)(y * map->width + x);
                if (labels[at] || pixel_value(&mask, (uint32_t)x, (uint32_t)y) != row->class_id)
                    continue;
                for (int64_t i = 0; i < 9 && !labels[at]; i++) {
                    const int64_t nx = x + i % 3 - 1, ny = y + i / 3 - 1;
                    const bool is_near = nx >= 0 && ny >= 0 && nx < map->width && ny < map->height &&
                                         (connectivity == CCL_CONNECT_8 || nx == x || ny == y);
                    if (is_near && labels[ny * map->width + nx] == c->label)
                        labels[at] = c->label;
                }
                grows |= labels[at] != 0;
            }
    }
}

static Expected expect_map(const Map *map, CclConnectivity connectivity)
{
    const CclMask mask = map_mask(map);
    static bool is_used[UINT16_MAX + 1];
    Image binary = image_new(map->width, map->height);
    Expected expected = { 0 };

    memset(is_used, 0, sizeof is_used);
    for (uint32_t y = 0; y < map->height; y++)
        for (uint32_t x = 0; x < map->width; x++)
            is_used[pixel_value(&mask, x, y)] = true;
    for (uint32_t value = 0; value <= UINT16_MAX; value++)
        if (is_used[value])
            add_value(&expected, map, (uint16_t)value, connectivity, &binary);
    if (expected.n)
        qsort(expected.rows, expected.n, sizeof *expected.rows, compare_rows);
    const size_t size = (size_t)map->width * map->height * sizeof *expected.labels;
    expected.labels = grow(NULL, &expected.labels_size, size);
    memset(expected.labels, 0, size);
    for (uint32_t i = 0; i < expected.n; i++) {
        expected.rows[i].component.label = i + 1;
        flood(map, expected.labels, &expected.rows[i], connectivity);
    }
    image_free(&binary);
    return expected;
}

static void expected_free(Expected *expected)
{
    free(expected->rows);
    free(expected->hole_rows);
    free(expected->labels);
}

/* ---------------------------------------------------------------- judging */

/* A copy of the map in device memory, with nothing behind its last pixel. */
static void *map_upload(const Map *map)
{
    const size_t size = map->stride * (map->height - 1) + (size_t)map->width * map->pixel_size;
    void *const device = device_alloc(size);
    device_upload(device, map->data, size);
    return device;
}

static CclContext *context_for(const Subject *subject, const Map *map, unsigned features)
{
    CclConfig config = subject->config;
    CclContext *context;
    config.foreground = CCL_FOREGROUND_EQUAL;
    config.background_value = map->background_value;
    config.max_width = map->width;
    config.max_height = map->height;
    config.max_components = at_least(map->width * map->height, 1);
    config.labels = config.selects = true;
    config.features = features;
    if (ccl_context_new(&config, &context) == CCL_OK)
        return context;
    fprintf(stderr, "checkccl: label map: %s\n", ccl_error_message());
    exit(2);
}

static bool same_rows(const Expected *expected, const CclTable *table)
{
    bool same =
        table->n_found == expected->n && table->n_kept == expected->n && table->n_components == expected->n && table->class_ids;
    for (uint32_t i = 0; i < expected->n && same; i++)
        same = !memcmp(&expected->rows[i].component, &table->components[i], sizeof(CclComponent)) &&
               table->class_ids[i] == expected->rows[i].class_id;
    return same;
}

/* Pixels of the background's value in a hole: a flood from its first pixel over all that is not of its parent. */
static uint32_t background_in(const Map *map, const uint32_t *labels, const CclHole *hole, bool eight)
{
    static uint32_t *queue;
    static uint8_t *seen;
    static size_t queue_size, seen_size;
    const CclMask mask = map_mask(map);
    const size_t n_pixels = (size_t)map->width * map->height;
    uint32_t n = 1, n_background = 0;

    queue = grow(queue, &queue_size, n_pixels * sizeof *queue);
    seen = grow(seen, &seen_size, n_pixels);
    memset(seen, 0, n_pixels);
    queue[0] = (uint32_t)hole->y0 * map->width + hole->first_x;
    seen[queue[0]] = 1;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t x = queue[i] % map->width, y = queue[i] / map->width;
        n_background += pixel_value(&mask, x, y) == map->background_value;
        for (uint32_t k = 0; k < 9; k++) {
            const uint32_t at = queue[i] + (k / 3) * map->width + k % 3 - map->width - 1;
            if ((!eight && k % 2 == 0) || seen[at] || labels[at] == hole->parent)
                continue;
            seen[at] = 1;
            queue[n++] = at;
        }
    }
    return n_background;
}

static bool same_holes(const Map *map, const Expected *expected, const Row *row, const CclTable *table, bool eight)
{
    const CclHoleCounts *const got = &table->holes[row->component.label - 1];
    bool same = got->n_holes == row->holes.n_holes && got->area_filled == row->holes.area_filled &&
                got->first + got->n_holes <= table->n_hole_rows;
    for (uint32_t i = 0; i < row->holes.n_holes && same; i++) {
        CclHole hole = expected->hole_rows[row->holes.first + i];
        hole.parent = row->component.label;
        hole.area = background_in(map, expected->labels, &hole, eight);
        same = !memcmp(&hole, &table->hole_rows[got->first + i], sizeof hole);
    }
    return same;
}

static bool same_features(const Map *map, const Expected *expected, const CclTable *table, unsigned features, bool eight)
{
    bool same = !table->shape == !(features & CCL_FEATURE_SHAPE) && !table->hull == !(features & CCL_FEATURE_HULL) &&
                !table->holes == !(features & CCL_FEATURE_HOLES) && !table->intensity == !(features & CCL_FEATURE_INTENSITY) &&
                (!table->holes || table->n_hole_rows == expected->n_hole_rows);
    for (uint32_t i = 0; i < expected->n && same; i++) {
        const Row *const row = &expected->rows[i];
        same = (!table->shape || !memcmp(&table->shape[i], &row->shape, sizeof row->shape)) &&
               (!table->hull || !memcmp(&table->hull[i], &row->hull, sizeof row->hull)) &&
               (!table->intensity || !memcmp(&table->intensity[i], &row->intensity, sizeof row->intensity)) &&
               (!table->holes || same_holes(map, expected, row, table, eight));
    }
    return same;
}

/* With the label image and without. On CUDA also in device memory. */
static bool judge_on(const Subject *subject, const Map *map, const Expected *expected, unsigned features)
{
    static uint32_t *got;
    static size_t got_size;
    const size_t size = (size_t)map->width * map->height * sizeof *got;
    CclMask mask = map_mask(map);
    CclContext *const context = context_for(subject, map, features);
    void *const device = subject->config.backend == CCL_BACKEND_CUDA ? map_upload(map) : NULL;
    bool same = true;

    got = grow(got, &got_size, size);
    const CclLabels labels = { .data = got, .stride = (size_t)map->width * 4 };
    for (unsigned i = 0; i < (device ? 4 : 2) && same; i++) {
        const bool with_labels = i % 2;
        CclTable table;
        if (i == 2)
            mask.data = device, mask.memory = CCL_MEMORY_DEVICE;
        memset(got, 0xff, size);
        same = ccl_analyze(context, &mask, NULL, with_labels ? &labels : NULL, &table) == CCL_OK && same_rows(expected, &table) &&
               same_features(map, expected, &table, features, subject->config.connectivity == CCL_CONNECT_4) &&
               (!with_labels || !memcmp(got, expected->labels, size));
    }
    ccl_context_free(context);
    if (device)
        device_free(device);
    return same;
}

/* Takes the map. Each subject has other features in turn: none, one alone, several, all. */
static void judge_map(Session *session, Map map, const char *name)
{
    static unsigned turn;
    for (unsigned connectivity = 4; connectivity <= 8; connectivity += 4) {
        Expected expected = expect_map(&map, (CclConnectivity)connectivity);
        for (unsigned s = 0; s < session->n_subjects; s++) {
            Subject *const subject = &session->subjects[s];
            if (subject->config.connectivity != connectivity || !subject->map_features || subject->muted ||
                (subject->every && subject->turn++ % (5 * subject->every)))
                continue;
            const unsigned wanted = turn++ % 5 % 2 ? ALL_FEATURES : turn / 5 % (ALL_FEATURES + 1);
            const unsigned features = wanted & subject->map_features;
            subject->muted = !check(session, judge_on(subject, &map, &expected, features),
                                    "%s: label map \"%s\" %ux%u, %u bytes, background %u, features 0x%x", subject->name, name,
                                    map.width, map.height, map.pixel_size, map.background_value, features);
        }
        expected_free(&expected);
    }
    free(map.data);
}

/* ---------------------------------------------------------------- the maps */

static uint16_t noise(uint32_t x, uint32_t y, Random *random, uint32_t n_values)
{
    (void)x, (void)y;
    return (uint16_t)random_below(random, n_values);
}

static uint16_t checkerboard(uint32_t x, uint32_t y, Random *random, uint32_t n_values)
{
    (void)random;
    return (uint16_t)((x + y) % n_values);
}

/* No two pixels are equal, as far as the values go. */
static uint16_t all_different(uint32_t x, uint32_t y, Random *random, uint32_t n_values)
{
    (void)random, (void)n_values;
    return (uint16_t)(y * 251 + x);
}

/* Rows repeat often. */
static uint16_t patches(uint32_t x, uint32_t y, Random *random, uint32_t n_values)
{
    (void)random;
    return (uint16_t)((x / 5 * 7 + y / 4 * 3) % n_values);
}

/* Diagonals of one pixel, of values side by side: 8-connected they cross. */
static uint16_t crossings(uint32_t x, uint32_t y, Random *random, uint32_t n_values)
{
    (void)random;
    return (uint16_t)(x % 2 == y % 2 ? 1 + x / 2 % (n_values - 1) : 0);
}

/* Squares in squares, 12 pixels wide: holes in holes. */
static uint16_t rings(uint32_t x, uint32_t y, Random *random, uint32_t n_values)
{
    const uint32_t dx = smaller(x % 12, 11 - x % 12), dy = smaller(y % 12, 11 - y % 12);
    (void)random;
    return (uint16_t)((smaller(dx, dy) + x / 12) % n_values);
}

/* High values, and low bytes that are equal. */
static uint16_t high_bytes(uint32_t x, uint32_t y, Random *random, uint32_t n_values)
{
    (void)x, (void)y;
    return (uint16_t)(random_below(random, n_values) << 8 | random_below(random, 2));
}

static const struct {
    const char *name;
    ValueAt *value_at;
} kinds[] = {
    { "noise", noise },     { "checkerboard", checkerboard }, { "all different", all_different },
    { "patches", patches }, { "crossings", crossings },       { "high bytes", high_bytes },
    { "rings", rings },
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

static void judge_kinds(Session *session)
{
    static const uint32_t sizes[][2] = { { 1, 1 }, { 2, 2 }, { 1, 40 }, { 70, 1 }, { 63, 9 }, { 64, 9 }, { 65, 9 }, { 131, 12 } };
    for (unsigned k = 0; k < N_KINDS; k++)
        for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (unsigned pixel_size = 1; pixel_size <= 2; pixel_size++)
                for (uint32_t n_values = 2; n_values <= (session->quick ? 3 : 5); n_values++)
                    judge_map(session,
                              map_draw(sizes[s][0], sizes[s][1], pixel_size, kinds[k].value_at, n_values, &session->random),
                              kinds[k].name);
}

static void judge_random(Session *session)
{
    for (unsigned i = 0; i < (session->quick ? 40 : 400); i++) {
        const uint32_t width = 1 + random_below(&session->random, 150), height = 1 + random_below(&session->random, 24);
        const unsigned k = random_below(&session->random, N_KINDS);
        judge_map(session,
                  map_draw(width, height, 1 + i % 2, kinds[k].value_at, 2 + random_below(&session->random, 6), &session->random),
                  kinds[k].name);
    }
}

/* All maps of width x height pixels with three values, one below the other with a row of background between. */
static void judge_small(Session *session, uint32_t width, uint32_t height, unsigned pixel_size)
{
    uint32_t n = 1;
    for (uint32_t i = 0; i < width * height; i++)
        n *= 3;
    for (uint32_t first = 0; first < n; first += 81) {
        Map map = map_new(width, 81 * (height + 1), pixel_size, 0);
        for (uint32_t y = 0; y < map.height; y++)
            for (uint32_t x = 0; x < width; x++) {
                uint32_t digits = first + y / (height + 1), value = 0;
                for (uint32_t i = 0; i <= y % (height + 1) * width + x; i++, digits /= 3)
                    value = digits % 3;
                map_set(&map, x, y, (uint16_t)(y % (height + 1) == height ? 0 : value));
            }
        judge_map(session, map, "all small ones");
    }
}

/* ---------------------------------------------------------------- filters, orders, small tables */

/* Every method against the reference method, and the reference against the filter. */
static void judge_filter(Session *session, unsigned i)
{
    const Map map = map_draw(60, 20, 1 + i % 2, noise, 4, &session->random);
    const CclMask mask = map_mask(&map);
    static CclSelection selection;
    CclFilter filter = { .selection = &selection, .min_area = i % 3, .border = (CclBorder)(i % 3) };
    Outcome expected = { 0 };
    static uint16_t class_ids[60 * 20];

    check(session, ccl_selection_parse("class_id == 2 or class-id > 2 and area > 2", &selection) == CCL_OK, "class_id");
    for (unsigned s = 0; s < session->n_subjects; s++) {
        const Subject *const subject = &session->subjects[s];
        CclConfig config = subject->config;
        CclContext *context;
        CclTable table;
        config.foreground = CCL_FOREGROUND_EQUAL;
        config.background_value = map.background_value;
        config.max_width = 60, config.max_height = 20, config.selects = true;
        config.max_components = i % 2 ? 9 : 4096;
        config.order = i % 4 < 2 ? CCL_ORDER_RASTER : ccl_order_by(CCL_MEASURE_CLASS_ID, i % 4 == 2);
        if (!subject->map_features || config.connectivity != 8 - i % 2 * 4)
            continue;
        if (!check(session,
                   ccl_context_new(&config, &context) == CCL_OK && ccl_analyze(context, &mask, &filter, NULL, &table) == CCL_OK,
                   "%s: filtered label map: %s", subject->name, ccl_error_message()))
            continue;
        bool right = true, same = !expected.rows ||
                                  (table.n_components == expected.table.n_components && table.n_kept == expected.table.n_kept &&
                                   !memcmp(table.components, expected.rows, table.n_components * sizeof *expected.rows));
        for (uint32_t k = 0; k < table.n_components && same; k++) {
            const CclComponent *const c = &table.components[k];
            const uint16_t class_id = table.class_ids[c->label - 1];
            right &= class_id == pixel_value(&mask, c->first_x, c->y0) && class_id != map.background_value &&
                     (class_id == 2 || (class_id > 2 && c->moments.area > 2));
            right &= config.order == CCL_ORDER_RASTER || !k ||
                     (i % 4 == 2 ? class_ids[k - 1] >= class_id : class_ids[k - 1] <= class_id);
            class_ids[k] = class_id;
        }
        check(session, right && same, "%s: filtered label map %u", subject->name, i);
        if (!expected.rows)
            keep_table(&expected, &table);
        ccl_context_free(context);
    }
    outcome_free(&expected);
    free(map.data);
}

static bool passes_measures(const Row *row)
{
    CclHullMeasures hull;
    ccl_hull_measures(&row->hull, row->component.moments.area, &hull);
    return row->holes.n_holes > 0 || (hull.solidity < 0.9 && row->class_id > 1 && row->intensity.max >= 100);
}

/* The kept records are those of the expected table, in the order of their filled areas. */
static bool right_records(const Expected *expected, const CclTable *table)
{
    uint32_t kept = 0;
    bool right = true;
    for (uint32_t i = 0; i < expected->n; i++) {
        const Row *const row = &expected->rows[i];
        if (!passes_measures(row))
            continue;
        const uint32_t label = ++kept;
        for (uint32_t k = 0; k < table->n_components && right; k++) {
            const CclComponent *const c = &table->components[k];
            if (c->label == label)
                right = c->moments.m11 == row->component.moments.m11 && c->first_x == row->component.first_x &&
                        table->holes[label - 1].area_filled == row->holes.area_filled &&
                        table->class_ids[label - 1] == row->class_id;
            right &= !k || table->holes[c[-1].label - 1].area_filled >= table->holes[c->label - 1].area_filled;
        }
    }
    return right && table->n_kept == kept && table->n_found == expected->n;
}

/* Filtered and sorted by measures and class. */
static void judge_measures(Session *session, unsigned i)
{
    const CclConnectivity connectivity = i % 2 ? CCL_CONNECT_4 : CCL_CONNECT_8;
    const Map map = map_draw(60, 30, 1 + i / 2 % 2, i % 3 ? rings : noise, 4, &session->random);
    const CclMask mask = map_mask(&map);
    static CclSelection selection;
    const CclFilter filter = { .selection = &selection };
    Expected expected = expect_map(&map, connectivity);

    check(session,
          ccl_selection_parse("n-holes > 0 or solidity < 0.9 and class-id > 1 and intensity-max >= 100", &selection) == CCL_OK,
          "measures");
    for (unsigned s = 0; s < session->n_subjects; s++) {
        CclConfig config = session->subjects[s].config;
        CclContext *context;
        CclTable table;
        if (ALL_FEATURES & ~session->subjects[s].map_features || config.connectivity != connectivity)
            continue;
        config.foreground = CCL_FOREGROUND_EQUAL;
        config.background_value = map.background_value;
        config.max_width = 60, config.max_height = 30, config.selects = true, config.features = ALL_FEATURES;
        config.max_components = i % 4 < 2 ? 5 : 4096;
        config.order = ccl_order_by(CCL_MEASURE_AREA_FILLED, true);
        if (!check(session,
                   ccl_context_new(&config, &context) == CCL_OK && ccl_analyze(context, &mask, &filter, NULL, &table) == CCL_OK,
                   "%s: label map, measures: %s", session->subjects[s].name, ccl_error_message()))
            continue;
        check(session, right_records(&expected, &table), "%s: label map filtered by measures %u", session->subjects[s].name, i);
        ccl_context_free(context);
    }
    expected_free(&expected);
    free(map.data);
}

/* ---------------------------------------------------------------- arguments */

static void check_refusals(Session *session)
{
    CclConfig config = ccl_config_default();
    CclContext *context;
    const uint8_t pixels[4] = { 1, 2, 3, 4 };
    CclTable table;

    config.max_width = config.max_height = 4;
    config.foreground = (CclForeground)2;
    check(session, ccl_context_new(&config, &context) == CCL_ERROR_ARGUMENT, "foreground 2 exists");
    config.foreground = CCL_FOREGROUND_EQUAL;
    config.background_value = 65536;
    check(session, ccl_context_new(&config, &context) == CCL_ERROR_ARGUMENT, "background value 65536 exists");
    config.background_value = 3;
    if (!check(session, ccl_context_new(&config, &context) == CCL_OK, "label map: %s", ccl_error_message()))
        return;
    CclMask mask = { .data = pixels, .stride = 4, .width = 4, .height = 1, .threshold = 1 };
    check(session, ccl_analyze(context, &mask, NULL, NULL, &table) == CCL_ERROR_ARGUMENT, "a label map has a threshold");
    mask.threshold = 0;
    mask.invert = true;
    check(session, ccl_analyze(context, &mask, NULL, NULL, &table) == CCL_ERROR_ARGUMENT, "a label map is inverted");
    mask.invert = false;
    check(session,
          ccl_analyze(context, &mask, NULL, NULL, &table) == CCL_OK && table.n_components == 3 && table.class_ids[2] == 4,
          "1 2 3 4 with background 3 has not three components");
    ccl_context_free(context);
}

void check_maps(Session *session)
{
    check_refusals(session);
    judge_small(session, 3, 3, 1);
    judge_small(session, 8, 1, 2);
    judge_small(session, 1, 8, 1);
    judge_small(session, 5, session->quick ? 1 : 2, 1);
    judge_kinds(session);
    judge_random(session);
    for (unsigned i = 0; i < 24; i++)
        judge_filter(session, i);
    for (unsigned i = 0; i < 12; i++)
        judge_measures(session, i);
    check_short_maps(session);
    check_many_maps(session);
    check_volume_maps(session);
}
