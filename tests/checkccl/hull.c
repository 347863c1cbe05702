/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Hulls: the reference against the definitions in ccl.h, every CPU method against the reference, and the measures that follow
 * from the counts. */
#include "group.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double PI = 3.14159265358979323846;

__extension__ typedef unsigned __int128 Wide;

/* ---------------------------------------------------------------- an exact hull, of every corner of every pixel */

typedef struct Point {
    int32_t x, y;
} Point;

typedef struct Hull {
    Point *corners, *points;
    uint32_t n_corners, n;
} Hull;

static int by_column(const void *a, const void *b)
{
    const Point *const p = a, *const q = b;
    return p->x != q->x ? (p->x > q->x) - (p->x < q->x) : (p->y > q->y) - (p->y < q->y);
}

static int64_t side(Point a, Point b, Point c)
{
    return (int64_t)(b.x - a.x) * (c.y - a.y) - (int64_t)(b.y - a.y) * (c.x - a.x);
}

/* Appends a corner to a half of the hull, which begins at point `first`. */
static void append(Hull *hull, uint32_t first, Point p)
{
    while (hull->n >= first + 2 && side(hull->points[hull->n - 2], hull->points[hull->n - 1], p) <= 0)
        hull->n--;
    hull->points[hull->n++] = p;
}

static Hull hull_of(const Image *image, const uint32_t *labels, const CclComponent *c)
{
    const size_t max = 4 * c->moments.area;
    Hull hull = { .corners = calloc(max, sizeof(Point)), .points = calloc(max + 2, sizeof(Point)) };
    for (uint32_t y = c->y0; y < c->y1; y++)
        for (uint32_t x = c->x0; x < c->x1; x++)
            for (uint32_t k = 0; k < 4 && labels[(size_t)y * image->width + x] == c->label; k++)
                hull.corners[hull.n_corners++] = (Point){ (int32_t)(x + k % 2), (int32_t)(y + k / 2) };
    qsort(hull.corners, hull.n_corners, sizeof(Point), by_column);
    for (uint32_t i = 0; i < hull.n_corners; i++)
        append(&hull, 0, hull.corners[i]);
    const uint32_t n_half = --hull.n;
    for (uint32_t i = hull.n_corners; i-- > 0;)
        append(&hull, n_half, hull.corners[i]);
    hull.n--;
    return hull;
}

static void hull_free(Hull *hull)
{
    free(hull->corners);
    free(hull->points);
}

static Point edge_of(const Hull *hull, uint32_t i)
{
    const Point a = hull->points[i], b = hull->points[(i + 1) % hull->n];
    return (Point){ b.x - a.x, b.y - a.y };
}

/* ---------------------------------------------------------------- definitions */

/* Least and largest a x + b y over all corners. */
static void extent_in(const Hull *hull, Point d, int64_t extent[2])
{
    extent[0] = INT64_MAX, extent[1] = INT64_MIN;
    for (uint32_t i = 0; i < hull->n_corners; i++) {
        const int64_t value = (int64_t)d.x * hull->corners[i].x + (int64_t)d.y * hull->corners[i].y;
        extent[0] = value < extent[0] ? value : extent[0];
        extent[1] = value > extent[1] ? value : extent[1];
    }
}

static bool is_direction(Point d)
{
    int32_t common = 0;
    for (int32_t i = 1; i <= abs(d.x) || i <= abs(d.y); i++)
        common += d.x % i == 0 && d.y % i == 0;
    return common == 1 && (d.x > 0 || (d.x == 0 && d.y > 0));
}

static bool is_parallel_to_edge(const Hull *hull, Point d)
{
    for (uint32_t i = 0; i < hull->n; i++) {
        const Point e = edge_of(hull, i);
        if ((int64_t)e.x * d.y == (int64_t)e.y * d.x)
            return true;
    }
    return false;
}

static uint64_t length2(Point d)
{
    return (uint64_t)((int64_t)d.x * d.x + (int64_t)d.y * d.y);
}

static double angle(Point d)
{
    return d.x || d.y > 0 ? atan2(d.x < 0 ? -d.y : d.y, abs(d.x)) : PI / 2;
}

/* Whether (value, d) is no worse than (other, e): smaller over the squared length, or equal and at no larger angle. */
static bool is_best(uint64_t value, Point d, uint64_t other, Point e)
{
    const Wide left = (Wide)value * length2(e), right = (Wide)other * length2(d);
    return left != right ? left < right : angle(d) <= angle(e) + 1e-12;
}

static bool is_width(const Hull *hull, const CclHullCounts *c)
{
    const Point d = { c->width_dx, c->width_dy }, normal = { -d.y, d.x };
    int64_t extent[2];
    extent_in(hull, normal, extent);
    if (!is_direction(d) || !is_parallel_to_edge(hull, d) || extent[1] - extent[0] != c->width)
        return false;
    for (uint32_t i = 0; i < hull->n; i++) {
        const Point e = edge_of(hull, i), across = { -e.y, e.x };
        extent_in(hull, across, extent);
        const uint64_t other = (uint64_t)(extent[1] - extent[0]);
        if (!is_best((uint64_t)c->width * c->width, d, other * other, e))
            return false;
    }
    return true;
}

static bool is_rect(const Hull *hull, const CclHullCounts *c)
{
    const Point d = { c->rect_dx, c->rect_dy }, normal = { -d.y, d.x };
    int64_t along[2], across[2];
    extent_in(hull, d, along);
    extent_in(hull, normal, across);
    if (!is_direction(d) || (!is_parallel_to_edge(hull, d) && !is_parallel_to_edge(hull, normal)) || along[0] != c->along0 ||
        along[1] != c->along1 || across[0] != c->across0 || across[1] != c->across1)
        return false;
    const int64_t length = along[1] - along[0], width = across[1] - across[0];
    for (uint32_t i = 0; i < hull->n; i++) {
        const Point e = edge_of(hull, i), beside = { -e.y, e.x };
        extent_in(hull, e, along);
        extent_in(hull, beside, across);
        const int64_t sides[2] = { along[1] - along[0], across[1] - across[0] };
        const uint64_t area = (uint64_t)sides[0] * (uint64_t)sides[1];
        if ((sides[0] >= sides[1] && !is_best((uint64_t)(length * width), d, area, e)) ||
            (sides[1] >= sides[0] && !is_best((uint64_t)(length * width), d, area, beside)))
            return false;
    }
    return length >= width;
}

static bool is_outline(const Hull *hull, const CclHullCounts *c)
{
    int64_t area2 = 0;
    uint64_t diameter2 = 0;
    long double perimeter = 0;
    for (uint32_t i = 0; i < hull->n; i++) {
        perimeter += sqrtl((long double)length2(edge_of(hull, i)));
        area2 += side((Point){ 0, 0 }, hull->points[i], hull->points[(i + 1) % hull->n]);
        for (uint32_t k = 0; k < i; k++) {
            const uint64_t d2 = length2((Point){ hull->points[i].x - hull->points[k].x, hull->points[i].y - hull->points[k].y });
            diameter2 = d2 > diameter2 ? d2 : diameter2;
        }
    }
    return (uint64_t)area2 == c->area2 && diameter2 == c->diameter2 &&
           fabsl(perimeter - (long double)c->perimeter * 0x1p-40L) <= 1e-12L * perimeter;
}

static void check_reference(Session *session, const Image *image, const char *name)
{
    Case c = case_new(image, PRODUCT_LABELS, "%s", name);
    c.features = CCL_FEATURE_HULL;
    for (int connectivity = 4; connectivity <= 8; connectivity += 4) {
        Outcome outcome = expected_outcome(&c, (CclConnectivity)connectivity);
        uint32_t bad = 0;
        for (uint32_t i = 0; i < outcome.table.n_components && !bad; i++) {
            Hull hull = hull_of(image, outcome.labels, &outcome.rows[i]);
            const CclHullCounts *const counts = &outcome.hull[i];
            bad = is_outline(&hull, counts) && is_width(&hull, counts) && is_rect(&hull, counts) ? 0 : i + 1;
            hull_free(&hull);
        }
        check(session, !bad, "reference, %d-connected, \"%s\" %ux%u: the hull of row %u is not as defined", connectivity, name,
              image->width, image->height, bad - 1);
        outcome_free(&outcome);
    }
}

/* ---------------------------------------------------------------- methods */

static const FeatureGroup group = { .name = "hull",
                                    .features = CCL_FEATURE_HULL,
                                    .beside = CCL_FEATURE_SHAPE,
                                    .min_density = 5,
                                    .n_densities = 90,
                                    .reference_step = 10,
                                    .check_reference = check_reference };

static uint32_t offset(const Random *random, unsigned i, uint32_t below)
{
    Random copy = { random->state + i };
    return random_below(&copy, below);
}

/* Ellipses and discs have hulls of many edges, with parallel ones. */
static Image draw_ellipse(uint32_t size, Random *random)
{
    Image image = image_new(size, size);
    const double a = 0.1 + offset(random, 1, 900) / 1000.0, turn = offset(random, 2, 4) * PI / 8, r = size / 2.0;
    for (uint32_t y = 0; y < size; y++)
        for (uint32_t x = 0; x < size; x++) {
            const double dx = x + 0.5 - r, dy = y + 0.5 - r;
            const double u = dx * cos(turn) + dy * sin(turn), v = (dy * cos(turn) - dx * sin(turn)) / a;
            *image_at(&image, x, y) = u * u + v * v <= r * r;
        }
    random_next(random);
    return image;
}

/* The longest differences of corners, whose products are the largest. */
static Image draw_corners(unsigned which)
{
    Image image = image_new(which ? 16384 : 300, which ? 300 : 16384);
    for (uint32_t i = 0; i < 16384; i++) {
        *image_at(&image, which ? i : 299 * i / 16383, which ? 299 * i / 16383 : i) = 1;
        if (i % 4096 < 2)
            *image_at(&image, which ? i : 150, which ? 150 : i) = 1;
    }
    return image;
}

static void check_images(Session *session)
{
    check_group_patterns(session, &group);
    for (unsigned i = 0; i < 24; i++)
        check_group_image(session, &group, draw_ellipse(8 + 7 * i, &session->random), "ellipse");
    check_group_image(session, &group, draw_corners(0), "tall");
    check_group_image(session, &group, draw_corners(1), "wide");
}

/* ---------------------------------------------------------------- measures */

static const struct {
    const char *name;
    const char *rows[6];
    CclHullMeasures m; /* x and y of the rectangle from the centre of the first pixel of the rows */
} known[] = {
    { "pixel", { "#" }, { 1, 1, 4, 1.4142135623730951, 1, 0, 0, 1, 1, 0 } },
    { "row", { "#####" }, { 5, 1, 12, 5.0990195135927845, 1, 2, 0, 5, 1, 0 } },
    { "column", { "#", "#", "#" }, { 3, 1, 8, 3.1622776601683795, 1, 0, 1, 3, 1, 1.5707963267948966 } },
    { "square", { "##", "##" }, { 4, 1, 8, 2.8284271247461903, 2, 0.5, 0.5, 2, 2, 0 } },
    { "diagonal down",
      { "#....", ".#...", "..#..", "...#.", "....#" },
      { 9, 5. / 9, 15.313708498984761, 7.0710678118654755, 1.4142135623730951, 2, 2, 7.0710678118654755, 1.4142135623730951,
        0.78539816339744828 } },
    { "diagonal up",
      { "..#", ".#.", "#.." },
      { 5, 0.6, 9.6568542494923806, 4.2426406871192857, 1.4142135623730951, 1, 1, 4.2426406871192857, 1.4142135623730951,
        -0.78539816339744828 } },
    { "plus",
      { ".#.", "###", ".#." },
      { 7, 5. / 7, 9.6568542494923806, 3.1622776601683795, 2.8284271247461903, 1, 1, 2.8284271247461903, 2.8284271247461903,
        -0.78539816339744828 } },
};

static void check_known(Session *session, unsigned which)
{
    Image image = image_of_rows(known[which].rows, 6, 1, 2);
    Case c = case_new(&image, PRODUCT_LABELS, "%s", known[which].name);
    c.features = CCL_FEATURE_HULL;
    Outcome outcome = expected_outcome(&c, CCL_CONNECT_8);
    CclHullMeasures m;
    ccl_hull_measures(&outcome.hull[0], outcome.rows[0].moments.area, &m);
    m.rect_x -= 1, m.rect_y -= 2;

    const double *const got = &m.area_convex, *const wanted = &known[which].m.area_convex;
    static const char *const names[] = { "area_convex", "solidity", "perimeter_convex", "feret_diameter_max", "min_feret",
                                         "rect_x",      "rect_y",   "rect_length",      "rect_width",         "rect_angle" };
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        check(session, fabs(got[i] - wanted[i]) < 1e-11, "\"%s\": %s is %.17g, not %.17g", known[which].name, names[i], got[i],
              wanted[i]);
    outcome_free(&outcome);
    image_free(&image);
}

/* The equivalent rectangle of a rectangle is itself. */
static void check_equivalent_rect(Session *session)
{
    const CclMoments m = { .area = 12, .m10 = 18, .m01 = 12, .m20 = 42, .m11 = 18, .m02 = 20 }; /* 4x3 at the origin */
    CclShape shape;
    double length, width;
    ccl_shape_from_moments(&m, &shape);
    ccl_equivalent_rect(&shape, &length, &width);
    check(session, fabs(length - 4) < 1e-12 && fabs(width - 3) < 1e-12, "the equivalent rectangle of 4x3 is %.17gx%.17g", length,
          width);
}

void check_hull(Session *session)
{
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
        check_known(session, i);
    check_equivalent_rect(session);
    check_images(session);
    judge_group_tables(session, &group);
    judge_group_noise(session, &group);
}
