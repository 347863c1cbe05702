/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The sums of a component, what follows from them, and that they move with the image. */
#include "checkccl.h"
#include "patterns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

/* ---------------------------------------------------------------- sums, from the label image */

static void add_pixel(CclComponent *c, uint64_t x, uint64_t y)
{
    if (c->moments.area == 0 || x < c->x0)
        c->x0 = (uint16_t)x;
    if (c->moments.area == 0) {
        c->y0 = (uint16_t)y;
        c->first_x = (uint16_t)x;
    }
    if (x >= c->x1)
        c->x1 = (uint16_t)(x + 1);
    c->y1 = (uint16_t)(y + 1);
    c->moments.area += 1;
    c->moments.m10 += x;
    c->moments.m01 += y;
    c->moments.m20 += x * x;
    c->moments.m11 += x * y;
    c->moments.m02 += y * y;
}

/* The table must be what its own label image adds up to. */
static bool sums_fit(const Image *image, const Outcome *outcome, uint32_t *bad)
{
    const uint32_t n = outcome->table.n_components;
    CclComponent *const sums = calloc((size_t)n + 1, sizeof *sums);
    bool fit = true;
    for (uint32_t y = 0; y < image->height; y++)
        for (uint32_t x = 0; x < image->width; x++) {
            const uint32_t label = outcome->labels[(size_t)y * image->width + x];
            if (label && label <= n)
                add_pixel(&sums[label], x, y);
        }
    for (uint32_t i = 0; i < n && fit; i++) {
        CclComponent row = outcome->rows[i];
        fit = row.label == i + 1;
        row.label = 0, row.flags = 0;
        fit = fit && !memcmp(&row, &sums[i + 1], sizeof row);
        *bad = i;
    }
    free(sums);
    return fit;
}

/* On the reference, against which judge() compares all others, and on each method by itself. */
static void check_sums(Session *session, const Image *image, const char *name)
{
    const Case c = case_new(image, PRODUCT_LABELS, "%s", name);
    for (int connectivity = 4; connectivity <= 8; connectivity += 4) {
        Outcome outcome = expected_outcome(&c, (CclConnectivity)connectivity);
        uint32_t bad = 0;
        const bool fit = sums_fit(image, &outcome, &bad);
        check(session, fit, "reference, %d-connected, \"%s\" %ux%u: row %u is not the sum of its pixels", connectivity,
              name, image->width, image->height, bad);
        outcome_free(&outcome);
    }
    judge(session, &c, 1);
}

static void check_all_sums(Session *session)
{
    static const char *const names[] = { "full", "spiral", "rings", "diamonds", "comb_up", "all_but_last", "border" };
    static const uint32_t wide[][2] = {
        { CCL_MAX_SIZE, 1 }, { CCL_MAX_SIZE, 37 }, { 41, CCL_MAX_SIZE }, { CCL_MAX_SIZE - 1, 5 }
    };

    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        Image image = pattern_named(names[i], 313, 211);
        check_sums(session, &image, names[i]);
        image_free(&image);
    }
    for (unsigned i = 0; i < (session->quick ? 2u : sizeof wide / sizeof *wide); i++) {
        Image image = pattern_named("full", wide[i][0], wide[i][1]);
        check_sums(session, &image, "full");
        image_free(&image);
        image = image_noise(wide[i][0], wide[i][1], 65, 3, &session->random);
        check_sums(session, &image, "wide noise");
        image_free(&image);
    }
    for (double density = 15; density < 95; density += 20) {
        Image image = image_noise(251, 173, density, 2, &session->random);
        check_sums(session, &image, "noise");
        image_free(&image);
    }
}

/* ---------------------------------------------------------------- shapes, by scikit-image 0.26.0 */

typedef struct KnownShape {
    const char *name;
    const char *rows[6];
    CclShape shape; /* regionprops: centroid, moments_central / area, orientation, axes, eccentricity, diameter */
    double extent;
} KnownShape;

static const KnownShape known_shapes[] = {
    { "pixel", { "#" }, { 0, 0, 0, 0, 0, -0.78539816339744828, 0, 0, 0, 1.1283791670955126 }, 1 },
    { "row", { "#####" }, { 2, 0, 2, 0, 0, 1.5707963267948966, 5.6568542494923806, 0, 1, 2.5231325220201604 }, 1 },
    { "column", { "#", "#", "#", "#" }, { 0, 1.5, 0, 0, 1.25, 0, 4.4721359549995796, 0, 1, 2.2567583341910251 }, 1 },
    { "square",
      { "###", "###", "###" },
      { 1, 1, 0.66666666666666663, 0, 0.66666666666666663, -0.78539816339744828, 3.2659863237109041, 3.2659863237109041,
        0, 3.3851375012865379 },
      1 },
    { "diagonal down",
      { "#...", ".#..", "..#.", "...#" },
      { 1.5, 1.5, 1.25, 1.25, 1.25, 0.78539816339744828, 6.324555320336759, 0, 1, 2.2567583341910251 },
      0.25 },
    { "diagonal up",
      { "...#", "..#.", ".#..", "#..." },
      { 1.5, 1.5, 1.25, -1.25, 1.25, -0.78539816339744828, 6.324555320336759, 0, 1, 2.2567583341910251 },
      0.25 },
    { "L",
      { "#....", "#....", "#....", "#####" },
      { 1.25, 2.25, 2.1875, 0.9375, 1.1875, 1.0303768265243125, 6.6332495807107996, 3.1622776601683795,
        0.87904907299153257, 3.1915382432114616 },
      0.40000000000000002 },
    { "blob",
      { "..###...", ".######.", "########", ".#######", "...####.", "....##.." },
      { 3.7666666666666666, 2.2999999999999998, 3.3788888888888891, 0.60333333333333328, 1.8766666666666665,
        1.2324352229735727, 7.5801828507119549, 5.160398903055972, 0.73249260285029871, 6.1803872323710332 },
      0.625 },
    { "ring",
      { "#####", "#...#", "#...#", "#####" },
      { 2, 1.5, 2.5714285714285716, 0, 1.6785714285714286, 1.5707963267948966, 6.4142698058981855, 5.1823877563477296,
        0.58925565098878963, 4.2220082456447523 },
      0.69999999999999996 },
    { "slanted",
      { "##........", ".####.....", "...####...", "......####", "........##" },
      { 4.75, 2, 8.1875, 3.25, 1.5, 1.1852057708609169, 12.333179041607201, 1.7007923822915263, 0.9904456265335625,
        4.5135166683820502 },
      0.32000000000000001 },
};

static CclComponent component_of(const KnownShape *known, uint32_t left, uint32_t top)
{
    CclComponent c = { 0 };
    for (uint32_t y = 0; y < 6 && known->rows[y]; y++)
        for (uint32_t x = 0; known->rows[y][x]; x++)
            if (known->rows[y][x] == '#')
                add_pixel(&c, left + x, top + y);
    return c;
}

static bool near(double a, double b, double tolerance)
{
    return fabs(a - b) <= tolerance * (1 + fabs(b));
}

/* Moved away from the origin only the centroid may change: the rest is the same to the last digits, also where x
 * squared times the area has long used up a double. */
static void check_known_shape(Session *session, const KnownShape *known, uint32_t left, uint32_t top)
{
    const CclComponent c = component_of(known, left, top);
    CclShape s;
    ccl_shape_from_moments(&c.moments, &s);

    const struct {
        const char *name;
        double got, expected;
    } values[] = {
        { "x", s.x, known->shape.x + left },
        { "y", s.y, known->shape.y + top },
        { "xx", s.xx, known->shape.xx },
        { "xy", s.xy, known->shape.xy },
        { "yy", s.yy, known->shape.yy },
        { "orientation", s.orientation, known->shape.orientation },
        { "axis_major_length", s.axis_major_length, known->shape.axis_major_length },
        { "axis_minor_length", s.axis_minor_length, known->shape.axis_minor_length },
        { "eccentricity", s.eccentricity, known->shape.eccentricity },
        { "equivalent_diameter", s.equivalent_diameter, known->shape.equivalent_diameter },
        { "extent", ccl_extent(&c), known->extent },
    };
    for (unsigned i = 0; i < sizeof values / sizeof *values; i++) {
        /* An axis of length 0 is the root of a rounding error. */
        const double tolerance = values[i].expected == 0 ? 1e-7 : 1e-12;
        check(session, near(values[i].got, values[i].expected, tolerance),
              "shape of \"%s\" at (%u,%u): %s is %.17g, not %.17g", known->name, left, top, values[i].name,
              values[i].got, values[i].expected);
    }
}

static void check_shapes(Session *session)
{
    static const uint32_t places[][2] = {
        { 0, 0 }, { 7600, 4100 }, { CCL_MAX_SIZE - 10, CCL_MAX_SIZE - 6 }, { 1, 12000 }
    };
    for (unsigned i = 0; i < sizeof known_shapes / sizeof *known_shapes; i++)
        for (unsigned k = 0; k < sizeof places / sizeof *places; k++)
            check_known_shape(session, &known_shapes[i], places[k][0], places[k][1]);
}

static uint64_t sum_of_squares(uint64_t n) /* 0^2 + ... + (n-1)^2 */
{
    return n * (n - 1) * (2 * n - 1) / 6;
}

/* The largest sums there are: every pixel of the largest mask. */
static void check_largest_shape(Session *session)
{
    const uint64_t n = CCL_MAX_SIZE, sum = n * (n - 1) / 2;
    const CclMoments m = { .area = n * n,
                           .m10 = n * sum,
                           .m01 = n * sum,
                           .m20 = n * sum_of_squares(n),
                           .m11 = sum * sum,
                           .m02 = n * sum_of_squares(n) };
    const double variance = ((double)n * (double)n - 1) / 12;
    CclShape s;
    ccl_shape_from_moments(&m, &s);
    check(session, near(s.x, (n - 1) / 2.0, 1e-15) && near(s.y, (n - 1) / 2.0, 1e-15),
          "centroid of the full mask: (%.17g,%.17g)", s.x, s.y);
    check(session, near(s.xx, variance, 1e-13) && near(s.yy, variance, 1e-13) && fabs(s.xy) < 1e-6,
          "covariance of the full mask: %.17g %.17g %.17g, not %.17g 0", s.xx, s.xy, s.yy, variance);
    check(session, near(s.equivalent_diameter, 2 * (double)n / sqrt(PI), 1e-14), "diameter of the full mask: %.17g",
          s.equivalent_diameter);

    /* One long row: exact variance, no width. */
    const CclMoments row = { .area = n, .m10 = sum, .m01 = n * (n - 1), .m20 = sum_of_squares(n), .m11 = (n - 1) * sum,
                             .m02 = n * (n - 1) * (n - 1) };
    ccl_shape_from_moments(&row, &s);
    check(session,
          near(s.xx, variance, 1e-13) && s.yy == 0 && s.xy == 0 && s.axis_minor_length == 0 && s.eccentricity == 1,
          "shape of the longest row: xx %.17g yy %.17g xy %.17g minor %.17g", s.xx, s.yy, s.xy, s.axis_minor_length);
}

/* A small component far out in a wide mask, through the methods. */
static void judge_far_out(Session *session)
{
    Image image = image_new(7680, 40);
    for (unsigned i = 0; i < sizeof known_shapes / sizeof *known_shapes; i++)
        for (uint32_t y = 0; y < 6 && known_shapes[i].rows[y]; y++)
            for (uint32_t x = 0; known_shapes[i].rows[y][x]; x++)
                *image_at(&image, 7500 + 12 * i + x, 30 + y) = known_shapes[i].rows[y][x] == '#';
    const Case c = case_new(&image, PRODUCT_LABELS, "shapes at x=7600");
    judge(session, &c, 1);
    image_free(&image);
}

/* ---------------------------------------------------------------- flips and transposition */

typedef void Move(CclComponent *c, uint32_t width, uint32_t height);

static void move_flip_x(CclComponent *c, uint32_t width, uint32_t height)
{
    CclMoments *const m = &c->moments;
    const uint64_t far = width - 1;
    (void)height;
    m->m20 = far * far * m->area - 2 * far * m->m10 + m->m20;
    m->m11 = far * m->m01 - m->m11;
    m->m10 = far * m->area - m->m10;
    const uint16_t x0 = c->x0;
    c->x0 = (uint16_t)(width - c->x1);
    c->x1 = (uint16_t)(width - x0);
}

static void move_transpose(CclComponent *c, uint32_t width, uint32_t height)
{
    CclMoments *const m = &c->moments;
    const CclMoments old = *m;
    const CclComponent box = *c;
    (void)width, (void)height;
    m->m10 = old.m01, m->m01 = old.m10;
    m->m20 = old.m02, m->m02 = old.m20;
    c->x0 = box.y0, c->x1 = box.y1;
    c->y0 = box.x0, c->y1 = box.x1;
}

static void move_flip_y(CclComponent *c, uint32_t width, uint32_t height)
{
    move_transpose(c, width, height);
    move_flip_x(c, height, width);
    move_transpose(c, height, width);
}

static int by_content(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(CclComponent));
}

/* Rows in an order that does not depend on how the image lay; without what depends on it. */
static void sort_rows(Outcome *outcome)
{
    for (uint32_t i = 0; i < outcome->table.n_components; i++)
        outcome->rows[i].label = outcome->rows[i].first_x = outcome->rows[i].flags = 0;
    qsort(outcome->rows, outcome->table.n_components, sizeof(CclComponent), by_content);
}

static void check_moved(Session *session, Subject *subject, const Image *image, const char *name)
{
    static const struct {
        const char *name;
        Image (*image)(const Image *);
        Move *component;
    } moves[] = { { "flipped left to right", image_flip_x, move_flip_x },
                  { "flipped top to bottom", image_flip_y, move_flip_y },
                  { "transposed", image_transpose, move_transpose } };

    for (unsigned i = 0; i < sizeof moves / sizeof *moves && !subject->muted; i++) {
        Image moved = moves[i].image(image);
        const Case before = case_new(image, PRODUCT_TABLE, "%s", name);
        const Case after = case_new(&moved, PRODUCT_TABLE, "%s, %s", name, moves[i].name);
        Outcome a = actual_outcome(subject, &before), b = actual_outcome(subject, &after);
        for (uint32_t k = 0; k < a.table.n_components; k++)
            moves[i].component(&a.rows[k], image->width, image->height);
        sort_rows(&a);
        sort_rows(&b);
        const bool same = !a.error[0] && !b.error[0] && a.table.n_components == b.table.n_components &&
                          !memcmp(a.rows, b.rows, a.table.n_components * sizeof *a.rows);
        check(session, same, "%s: \"%s\" %ux%u %s gives other components (seed %llu)", subject->name, name,
              image->width, image->height, moves[i].name, (unsigned long long)session->seed);
        subject->muted |= !same;
        *(same ? &subject->passed : &subject->failed) += 1;
        outcome_free(&a);
        outcome_free(&b);
        image_free(&moved);
    }
}

static void check_invariance(Session *session)
{
    static const char *const names[] = { "spiral", "comb_up", "staircase", "w_shapes", "chevrons", "funnel" };
    for (unsigned i = 0; i < sizeof names / sizeof *names + (session->quick ? 1 : 6); i++) {
        const bool named = i < sizeof names / sizeof *names;
        Image image = named ? pattern_named(names[i], 101, 67)
                            : image_noise(200 + 7 * i, 150, 25 + 5 * i, 1 + i % 3, &session->random);
        for (unsigned s = 0; s < session->n_subjects; s++)
            if (!session->subjects[s].muted && !session->subjects[s].dead &&
                !too_large(session, &session->subjects[s], &image))
                check_moved(session, &session->subjects[s], &image, named ? names[i] : "noise");
        image_free(&image);
    }
}

void check_features(Session *session)
{
    check_shapes(session);
    check_largest_shape(session);
    check_all_sums(session);
    judge_far_out(session);
    check_invariance(session);
}
