/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Holes: the reference against known images and against components of the inverse mask, every CPU method against the
 * reference. */
#include "group.h"
#include "patterns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- the reference */

/* Sums over the holes of all components. */
typedef struct Sums {
    uint64_t n, area, boxes, firsts;
} Sums;

static void add(Sums *sums, uint64_t area, const uint16_t box[4], uint16_t first_x)
{
    sums->n++;
    sums->area += area;
    sums->boxes += box[0] + 3u * box[1] + 7u * box[2] + 11u * box[3];
    sums->firsts += first_x * (box[1] + 1u);
}

static Sums sums_of_inverse(const Image *image, int connectivity)
{
    Image inverse = image_copy(image);
    for (size_t i = 0; i < (size_t)image->width * image->height; i++)
        inverse.pixels[i] = !image->pixels[i];
    Case c = case_new(&inverse, PRODUCT_TABLE, "inverse");
    c.filter.border = CCL_BORDER_DROP;
    Outcome outcome = expected_outcome(&c, (CclConnectivity)(12 - connectivity));
    Sums sums = { 0 };
    for (uint32_t i = 0; i < outcome.table.n_components; i++) {
        const CclComponent *const row = &outcome.rows[i];
        add(&sums, row->moments.area, (uint16_t[]){ row->x0, row->y0, row->x1, row->y1 }, row->first_x);
    }
    outcome_free(&outcome);
    image_free(&inverse);
    return sums;
}

/* The rows of a component are its own, in raster order, and their filled areas and its own make its filled area. */
static bool is_consistent(const Image *image, const Outcome *outcome, uint32_t label)
{
    const CclHoleCounts *const counts = &outcome->holes[label - 1];
    uint64_t filled = outcome->rows[label - 1].moments.area, last = 0;
    for (uint32_t k = 0; k < counts->n_holes; k++) {
        const CclHole *const hole = &outcome->hole_rows[counts->first + k];
        const size_t first = (size_t)hole->y0 * image->width + hole->first_x;
        if (hole->parent != label || outcome->labels[first - 1] != label || (k && first <= last) || image->pixels[first])
            return false;
        last = first;
        filled += hole->area_filled;
    }
    return filled == counts->area_filled && counts->n_holes == 1 - (uint32_t)outcome->shape[label - 1].euler;
}

static void check_reference(Session *session, const Image *image, const char *name)
{
    Case c = case_new(image, PRODUCT_LABELS, "%s", name);
    c.features = CCL_FEATURE_HOLES | CCL_FEATURE_SHAPE;
    for (int connectivity = 4; connectivity <= 8; connectivity += 4) {
        Outcome outcome = expected_outcome(&c, (CclConnectivity)connectivity);
        Sums sums = { 0 };
        const Sums inverse = sums_of_inverse(image, connectivity);
        uint32_t bad = 0;
        for (uint32_t label = 1; label <= outcome.table.n_components && !bad; label++)
            bad = is_consistent(image, &outcome, label) ? 0 : label;
        for (uint32_t i = 0; i < outcome.table.n_hole_rows; i++) {
            const CclHole *const row = &outcome.hole_rows[i];
            add(&sums, row->area, (uint16_t[]){ row->x0, row->y0, row->x1, row->y1 }, row->first_x);
        }
        check(session, !bad, "reference, %d-connected, \"%s\" %ux%u: the holes of label %u are not as defined", connectivity,
              name, image->width, image->height, bad);
        check(session, !memcmp(&sums, &inverse, sizeof sums),
              "reference, %d-connected, \"%s\" %ux%u: %llu holes of %llu pixels, the inverse mask has %llu of %llu", connectivity,
              name, image->width, image->height, (unsigned long long)sums.n, (unsigned long long)sums.area,
              (unsigned long long)inverse.n, (unsigned long long)inverse.area);
        outcome_free(&outcome);
    }
}

/* ---------------------------------------------------------------- methods */

static const FeatureGroup group = { .name = "holes",
                                    .features = CCL_FEATURE_HOLES,
                                    .beside = CCL_FEATURE_HULL | CCL_FEATURE_SHAPE,
                                    .min_density = 30,
                                    .n_densities = 60,
                                    .reference_step = 5,
                                    .check_reference = check_reference };

/* Squares in squares: rings, and the last is a pixel or a hole. */
static Image draw_nested(uint32_t size, uint32_t ring)
{
    Image image = image_new(size, size);
    for (uint32_t y = 0; y < size; y++)
        for (uint32_t x = 0; x < size; x++) {
            const uint32_t dx = smaller(x, size - 1 - x), dy = smaller(y, size - 1 - y);
            *image_at(&image, x, y) = smaller(dx, dy) / ring % 2 == 1;
        }
    return image;
}

/* Background at the sides that touches neither the first row nor the last, and holes of the same size. */
static Image draw_bays(uint32_t width, uint32_t height)
{
    Image image = image_new(width, height);
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            *image_at(&image, x, y) = y % 2 == 0 || x != (y / 2 % 3) * (width - 1) / 2;
    return image;
}

static void check_images(Session *session)
{
    for (uint32_t height = 101; height < 600; height += 50) /* more than a block of number marks */
        check_group_image(session, &group, draw_bays(9, height), "bays at the sides");
    check_group_patterns(session, &group);
    check_group_image(session, &group, pattern_mosaic(3, 5), "all images of 3x5");
    for (uint32_t size = 1; size < 90; size += 11)
        for (uint32_t ring = 1; ring < 4; ring++)
            check_group_image(session, &group, draw_nested(size, ring), "nested squares");
    for (unsigned i = 0; i < (session->quick ? 40 : 1000); i++) {
        const uint32_t width = 1 + random_below(&session->random, 150), height = 1 + random_below(&session->random, 60);
        Image image = image_nested(width, height, 2, 8, &session->random); /* holes in islands in holes, four times */
        check_group_image(session, &group, image, "nested boxes");
    }
}

/* ---------------------------------------------------------------- known images */

static const struct {
    const char *name;
    const char *rows[7];
    uint64_t filled;
    uint32_t n_holes;
    CclHole first; /* of the first component, 8-connected; at (1, 2) of a larger image */
} known[] = {
    { "pixel", { "#" }, 1, 0, { 0 } },
    { "bay", { "###", "#..", "###" }, 7, 0, { 0 } },
    { "ring", { "###", "#.#", "###" }, 9, 1, { 1, 1, 1, 2, 3, 3, 4, 2, 0 } },
    { "diamond", { ".#.", "#.#", ".#." }, 5, 1, { 1, 1, 1, 2, 3, 3, 4, 2, 0 } },
    { "island", { "#####", "#...#", "#.#.#", "#...#", "#####" }, 25, 1, { 1, 8, 9, 2, 3, 5, 6, 2, 0 } },
    { "hole in an island",
      { "#######", "#.....#", "#.###.#", "#.#.#.#", "#.###.#", "#.....#", "#######" },
      49,
      1,
      { 1, 16, 25, 2, 3, 7, 8, 2, 0 } },
    { "two holes", { "######", "#.##.#", "#.#..#", "######" }, 24, 2, { 1, 2, 2, 2, 3, 3, 5, 2, 0 } },
    { "two holes at a corner", { "####", "#.##", "##.#", "####" }, 16, 2, { 1, 1, 1, 2, 3, 3, 4, 2, 0 } },
};

static void check_known(Session *session, unsigned which)
{
    Image image = image_of_rows(known[which].rows, 7, 1, 2);
    Case c = case_new(&image, PRODUCT_LABELS, "%s", known[which].name);
    c.features = CCL_FEATURE_HOLES;
    Outcome outcome = expected_outcome(&c, CCL_CONNECT_8);
    const CclHoleCounts *const counts = &outcome.holes[0];

    check(session, counts->area_filled == known[which].filled && counts->n_holes == known[which].n_holes && !counts->first,
          "\"%s\": filled %llu, %u holes", known[which].name, (unsigned long long)counts->area_filled, counts->n_holes);
    const CclHole first = outcome.table.n_hole_rows ? outcome.hole_rows[0] : (CclHole){ 0 };
    check(session, !memcmp(&first, &known[which].first, sizeof first),
          "\"%s\": the first hole has area %u, filled %u, first pixel (%u,%u)", known[which].name, first.area, first.area_filled,
          first.first_x, first.y0);
    outcome_free(&outcome);
    image_free(&image);
}

void check_holes(Session *session)
{
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
        check_known(session, i);
    check_images(session);
    judge_group_tables(session, &group);
    judge_group_noise(session, &group);
}
