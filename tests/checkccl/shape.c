/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Holes and perimeters: the reference against their definitions, every CPU method against the reference, and the measures that
 * follow from the counts. */
#include "group.h"
#include "patterns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

/* ---------------------------------------------------------------- definitions, on the label image */

/* One component with a border of background around its box. */
typedef struct Alone {
    uint32_t width, height;
    uint8_t *own; /* 1: the component; 2: background that was filled */
    uint32_t *queue;
} Alone;

static bool own_at(const Alone *alone, uint32_t x, uint32_t y)
{
    return x < alone->width && y < alone->height && alone->own[(size_t)y * alone->width + x] == 1;
}

static Alone cut_out(const Image *image, const uint32_t *labels, const CclComponent *c)
{
    Alone alone = { .width = c->x1 - c->x0 + 2u, .height = c->y1 - c->y0 + 2u };
    const size_t n = (size_t)alone.width * alone.height;
    alone.own = calloc(n, 1);
    alone.queue = calloc(n, sizeof *alone.queue);
    for (uint32_t y = c->y0; y < c->y1; y++)
        for (uint32_t x = c->x0; x < c->x1; x++)
            alone.own[(size_t)(y - c->y0 + 1) * alone.width + x - c->x0 + 1] = labels[(size_t)y * image->width + x] == c->label;
    return alone;
}

/* Fills the background from this pixel on. The background of an 8-connected component is 4-connected. */
static void fill_background(Alone *alone, uint32_t start, CclConnectivity connectivity)
{
    uint32_t n = 0;
    alone->own[start] = 2;
    alone->queue[n++] = start;
    for (uint32_t i = 0; i < n; i++) {
        const int64_t x = alone->queue[i] % alone->width, y = alone->queue[i] / alone->width;
        for (int64_t dy = -1; dy <= 1; dy++)
            for (int64_t dx = -1; dx <= 1; dx++) {
                const int64_t at = (y + dy) * alone->width + x + dx;
                if ((dx && dy && connectivity == CCL_CONNECT_8) || x + dx < 0 || y + dy < 0 || x + dx >= alone->width ||
                    y + dy >= alone->height || alone->own[at])
                    continue;
                alone->own[at] = 2;
                alone->queue[n++] = (uint32_t)at;
            }
    }
}

static int32_t count_holes(Alone *alone, CclConnectivity connectivity)
{
    int32_t n_holes = -1; /* the surroundings */
    for (uint32_t i = 0; i < alone->width * alone->height; i++)
        if (!alone->own[i]) {
            fill_background(alone, i, connectivity);
            n_holes++;
        }
    return n_holes;
}

/* A component has as many right edges as left ones, and so on: these are the others than the methods count. */
static CclShapeCounts shape_of(Alone *alone, CclConnectivity connectivity)
{
    CclShapeCounts shape = { .euler = 1 - count_holes(alone, connectivity) };
    for (uint32_t y = 0; y < alone->height; y++)
        for (uint32_t x = 0; x < alone->width; x++)
            if (own_at(alone, x, y)) {
                shape.runs += !own_at(alone, x + 1, y);
                shape.tops += !own_at(alone, x, y + 1);
                shape.diagonals += !own_at(alone, x + 1, y + 1) + !own_at(alone, x - 1, y + 1);
            }
    return shape;
}

static void check_reference(Session *session, const Image *image, const char *name)
{
    Case c = case_new(image, PRODUCT_LABELS, "%s", name);
    c.features = CCL_FEATURE_SHAPE;
    for (int connectivity = 4; connectivity <= 8; connectivity += 4) {
        Outcome outcome = expected_outcome(&c, (CclConnectivity)connectivity);
        uint32_t bad = 0;
        for (uint32_t i = 0; i < outcome.table.n_components && !bad; i++) {
            Alone alone = cut_out(image, outcome.labels, &outcome.rows[i]);
            const CclShapeCounts shape = shape_of(&alone, (CclConnectivity)connectivity);
            bad = memcmp(&shape, &outcome.shape[i], sizeof shape) ? i + 1 : 0;
            free(alone.own);
            free(alone.queue);
        }
        check(session, !bad, "reference, %d-connected, \"%s\" %ux%u: the shape of row %u is not as defined", connectivity, name,
              image->width, image->height, bad - 1);
        outcome_free(&outcome);
    }
}

/* ---------------------------------------------------------------- methods */

static const FeatureGroup group = { .name = "shape",
                                    .features = CCL_FEATURE_SHAPE,
                                    .min_density = 5,
                                    .n_densities = 90,
                                    .reference_step = 10,
                                    .check_reference = check_reference };

static void check_images(Session *session)
{
    check_group_patterns(session, &group);
    check_group_image(session, &group, pattern_word_edges(64, false), "edges of words");
    check_group_image(session, &group, pattern_word_edges(64, true), "edges of words, full");
}

/* ---------------------------------------------------------------- measures */

/* By scikit-image 0.26.0: euler_number(mask, 2), perimeter_crofton(mask). */
static const struct {
    const char *name;
    const char *rows[6];
    int32_t euler;
    uint32_t crack;
    double crofton;
} known[] = {
    { "pixel", { "#" }, 1, 4, 2.6815170613344881 },
    { "row", { "#####" }, 1, 12, 10.265992653082648 },
    { "column", { "#", "#", "#", "#" }, 1, 10, 8.3698737551456066 },
    { "square", { "###", "###", "###" }, 1, 12, 10.265992653082646 },
    { "diagonal down", { "#...", ".#..", "..#.", "...#" }, 1, 16, 9.0599871435285664 },
    { "diagonal up", { "...#", "..#.", ".#..", "#..." }, 1, 16, 9.0599871435285646 },
    { "L", { "#....", "#....", "#....", "#####" }, 1, 18, 15.398988979623972 },
    { "blob", { "..###...", ".######.", "########", ".#######", "...####.", "....##.." }, 1, 28, 20.436700531150802 },
    { "ring", { "#####", "#...#", "#...#", "#####" }, 0, 28, 24.324223102039376 },
    { "diamond", { "..#..", ".#.#.", "#...#", ".#.#.", "..#.." }, 0, 32, 17.009253552517539 },
    { "two holes", { "######", "#.##.#", "#.#..#", "######" }, -1, 34, 28.346498694041106 },
};

static void check_known(Session *session, unsigned which)
{
    Image image = image_of_rows(known[which].rows, 6, 1, 1);
    Case c = case_new(&image, PRODUCT_LABELS, "%s", known[which].name);
    c.features = CCL_FEATURE_SHAPE;
    Outcome outcome = expected_outcome(&c, CCL_CONNECT_8);
    const uint64_t area = outcome.rows[0].moments.area;
    CclShapeMeasures m;
    ccl_shape_measures(&outcome.shape[0], area, &m);
    const double compactness = known[which].crofton * known[which].crofton / (4 * PI * (double)area);

    check(session, m.euler_number == known[which].euler && m.n_holes == (uint32_t)(1 - known[which].euler),
          "\"%s\": euler number %d, %u holes", known[which].name, m.euler_number, m.n_holes);
    check(session, m.perimeter_crack == known[which].crack, "\"%s\": crack length %u, not %u", known[which].name,
          m.perimeter_crack, known[which].crack);
    check(session, fabs(m.perimeter_crofton - known[which].crofton) < 1e-12 * known[which].crofton,
          "\"%s\": Crofton perimeter %.17g, not %.17g", known[which].name, m.perimeter_crofton, known[which].crofton);
    check(session, fabs(m.compactness - compactness) < 1e-12 * compactness, "\"%s\": compactness %.17g", known[which].name,
          m.compactness);
    check(session, fabs(m.circularity - fmin(1 / compactness, 1)) < 1e-12, "\"%s\": circularity %.17g", known[which].name,
          m.circularity);
    outcome_free(&outcome);
    image_free(&image);
}

/* Of a large disc, by the definition: close to 1. */
static void check_disc(Session *session)
{
    Image image = image_new(401, 401);
    for (uint32_t y = 0; y < 401; y++)
        for (uint32_t x = 0; x < 401; x++)
            *image_at(&image, x, y) = hypot(x - 200.0, y - 200.0) < 200;
    Case c = case_new(&image, PRODUCT_LABELS, "disc");
    c.features = CCL_FEATURE_SHAPE;
    Outcome outcome = expected_outcome(&c, CCL_CONNECT_8);
    CclShapeMeasures m;
    ccl_shape_measures(&outcome.shape[0], outcome.rows[0].moments.area, &m);
    check(session, m.circularity > 0.98 && m.circularity <= 1, "a disc has circularity %.17g", m.circularity);
    check(session, m.perimeter_crack == 1596 || m.perimeter_crack == 1600 || m.perimeter_crack == 1604,
          "a disc has a crack length of %u", m.perimeter_crack);
    outcome_free(&outcome);
    image_free(&image);
}

void check_shape(Session *session)
{
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
        check_known(session, i);
    check_disc(session);
    check_images(session);
    judge_group_tables(session, &group);
    judge_group_noise(session, &group);
}
