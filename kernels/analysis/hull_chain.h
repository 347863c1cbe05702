/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The functions of hull.h, for hull.c and for a kernel. */
#ifndef CCL_ANALYSIS_HULL_CHAIN_H
#define CCL_ANALYSIS_HULL_CHAIN_H

#include "bounds.h"
#include "hull.h"

#include <math.h>

typedef CclCornerPoint Point;

__extension__ typedef unsigned __int128 Wide;

CCL_HOST_DEVICE static inline Point point_at(int32_t x, int32_t y)
{
    const Point p = { x, y };
    return p;
}

CCL_HOST_DEVICE static inline Point minus(Point a, Point b)
{
    return point_at(a.x - b.x, a.y - b.y);
}

/* Below 2^30 for differences of corners. */
CCL_HOST_DEVICE static inline int32_t cross(Point a, Point b)
{
    return a.x * b.y - a.y * b.x;
}

CCL_HOST_DEVICE static inline int32_t dot(Point a, Point b)
{
    return a.x * b.x + a.y * b.y;
}

/* ---------------------------------------------------------------- hull */

/* Adds a corner to a chain of n; returns the new length. */
CCL_HOST_DEVICE static inline uint32_t push(Point *chain, uint32_t n, Point p)
{
    while (n >= 2 && cross(minus(chain[n - 1], chain[n - 2]), minus(p, chain[n - 1])) <= 0)
        n--;
    chain[n] = p;
    return n + 1;
}

/* The lines from..to-1 of n_rows + 1 of the right side, downwards. Returns the number of points of the chain. */
CCL_HOST_DEVICE static inline uint32_t right_chain(const CclExtent *rows, uint32_t n_rows, uint32_t y0, uint32_t from,
                                                   uint32_t to, Point *chain)
{
    uint32_t n = 0, before = from ? rows[from - 1].right : 0;
    for (uint32_t i = from; i < to; i++) {
        const uint32_t here = i < n_rows ? rows[i].right : 0, x = here > before ? here : before;
        before = here;
        if (x)
            n = push(chain, n, point_at((int32_t)x, (int32_t)(y0 + i)));
    }
    return n;
}

/* The same of the left side, from its lower end upwards: line 0 is below the last row. */
CCL_HOST_DEVICE static inline uint32_t left_chain(const CclExtent *rows, uint32_t n_rows, uint32_t y0, uint32_t from, uint32_t to,
                                                  Point *chain)
{
    uint32_t n = 0, before = from ? rows[n_rows - from].left : UINT16_MAX;
    for (uint32_t i = n_rows - from + 1; i-- > n_rows + 1 - to;) {
        const uint32_t here = i ? rows[i - 1].left : UINT16_MAX, x = here < before ? here : before;
        before = here;
        if (x != UINT16_MAX)
            n = push(chain, n, point_at((int32_t)x, (int32_t)(y0 + i)));
    }
    return n;
}

/* ---------------------------------------------------------------- directions */

/* The same line, at an angle in (-pi/2, pi/2]. */
CCL_HOST_DEVICE static inline Point half_turn(Point d)
{
    return d.x < 0 || (d.x == 0 && d.y < 0) ? point_at(-d.x, -d.y) : d;
}

/* Of two such. */
CCL_HOST_DEVICE static inline bool has_smaller_angle(Point a, Point b)
{
    return cross(a, b) > 0;
}

CCL_HOST_DEVICE static inline Point shortest(Point d)
{
    int32_t a = d.x < 0 ? -d.x : d.x, b = d.y < 0 ? -d.y : d.y;
    while (b) {
        const int32_t rest = a % b;
        a = b;
        b = rest;
    }
    return point_at(d.x / a, d.y / a);
}

/* ---------------------------------------------------------------- calipers */

/* The rectangle around the hull on one of its edges. */
typedef struct Calipers {
    Point edge;
    uint32_t right, far, left; /* the points farthest in its direction, from it, and against its direction */
    int32_t along, across;     /* sides of the rectangle, times the length of the edge */
} Calipers;

typedef struct Best {
    Calipers width, area;
    uint32_t width_at, area_at; /* the edge's first point */
    uint32_t diameter2;
} Best;

CCL_HOST_DEVICE static inline uint32_t after(uint32_t i, uint32_t n)
{
    return i + 1 < n ? i + 1 : 0;
}

/* Moves on from the edge before. first: there is none, and c->right is the edge's second point. */
CCL_HOST_DEVICE static inline void turn(Calipers *c, const Point *p, uint32_t n, uint32_t i, bool first)
{
    c->edge = minus(p[after(i, n)], p[i]);
    while (dot(c->edge, minus(p[after(c->right, n)], p[c->right])) > 0)
        c->right = after(c->right, n);
    if (first)
        c->far = c->right;
    while (cross(c->edge, minus(p[after(c->far, n)], p[c->far])) > 0)
        c->far = after(c->far, n);
    if (first)
        c->left = c->far;
    while (dot(c->edge, minus(p[after(c->left, n)], p[c->left])) < 0)
        c->left = after(c->left, n);
    c->along = dot(c->edge, minus(p[c->right], p[c->left]));
    c->across = cross(c->edge, minus(p[c->far], p[i]));
}

/* Compares a squared numerator over a squared length with another: -1, 0, 1. */
CCL_HOST_DEVICE static inline int compare(uint64_t a, int32_t a_length2, uint64_t b, int32_t b_length2)
{
    const Wide left = (Wide)a * (uint32_t)b_length2, right = (Wide)b * (uint32_t)a_length2;
    return left < right ? -1 : left > right;
}

CCL_HOST_DEVICE static inline uint64_t squared(int32_t a)
{
    return (uint64_t)((int64_t)a * a);
}

CCL_HOST_DEVICE static inline uint64_t product(const Calipers *c)
{
    return (uint64_t)c->along * (uint64_t)c->across;
}

/* Of the longer sides; of a square, the one of the smaller angle. */
CCL_HOST_DEVICE static inline Point long_direction(const Calipers *c)
{
    const Point d = half_turn(c->edge), normal = half_turn(point_at(-c->edge.y, c->edge.x));
    if (c->along != c->across)
        return c->along > c->across ? d : normal;
    return has_smaller_angle(d, normal) ? d : normal;
}

/* Of equal ones, the one of the smaller angle is better, then the earlier one. */
CCL_HOST_DEVICE static inline void keep_thinner(Best *best, const Calipers *c, uint32_t at)
{
    const int32_t length2 = dot(c->edge, c->edge);
    const int width = compare(squared(c->across), length2, squared(best->width.across), dot(best->width.edge, best->width.edge));
    if (width < 0 || (width == 0 && has_smaller_angle(half_turn(c->edge), half_turn(best->width.edge)))) {
        best->width = *c;
        best->width_at = at;
    }
}

CCL_HOST_DEVICE static inline void keep_smaller(Best *best, const Calipers *c, uint32_t at)
{
    const int32_t length2 = dot(c->edge, c->edge);
    const int area = compare(product(c), length2, product(&best->area), dot(best->area.edge, best->area.edge));
    if (area < 0 || (area == 0 && has_smaller_angle(long_direction(c), long_direction(&best->area)))) {
        best->area = *c;
        best->area_at = at;
    }
}

CCL_HOST_DEVICE static inline void keep_farther(Best *best, Point a, Point b)
{
    const uint32_t distance2 = (uint32_t)dot(minus(a, b), minus(a, b));
    best->diameter2 = distance2 > best->diameter2 ? distance2 : best->diameter2;
}

/* The farthest point from an edge can be opposite to both its ends; with a parallel edge, so is the next one. */
CCL_HOST_DEVICE static inline void keep_diameters(Best *best, const Calipers *c, const Point *p, uint32_t n, uint32_t i)
{
    const uint32_t next = after(c->far, n);
    keep_farther(best, p[i], p[c->far]);
    keep_farther(best, p[after(i, n)], p[c->far]);
    if (cross(c->edge, minus(p[next], p[c->far])) == 0) {
        keep_farther(best, p[i], p[next]);
        keep_farther(best, p[after(i, n)], p[next]);
    }
}

CCL_HOST_DEVICE static inline void measure_rect(CclHullCounts *counts, const Best *best, const Point *p, Point d)
{
    const Point normal = { -d.y, d.x };
    const uint32_t touching[] = { best->area_at, best->area.right, best->area.far, best->area.left };
    counts->rect_dx = (int16_t)d.x, counts->rect_dy = (int16_t)d.y;
    counts->along0 = counts->across0 = INT32_MAX;
    counts->along1 = counts->across1 = INT32_MIN;
    for (unsigned i = 0; i < 4; i++) {
        const int32_t along = dot(d, p[touching[i]]), across = dot(normal, p[touching[i]]);
        counts->along0 = along < counts->along0 ? along : counts->along0;
        counts->along1 = along > counts->along1 ? along : counts->along1;
        counts->across0 = across < counts->across0 ? across : counts->across0;
        counts->across1 = across > counts->across1 ? across : counts->across1;
    }
}

/* A correctly rounded square root times a power of two is the same number everywhere. */
CCL_HOST_DEVICE static inline uint64_t length40(Point d)
{
    return (uint64_t)(sqrt((double)dot(d, d)) * 0x1p40);
}

/* Of some edges of a hull. */
typedef struct EdgeCounts {
    Best best;
    uint64_t perimeter, area2;
} EdgeCounts;

/* The edges from..to-1 of n, at least one. */
CCL_HOST_DEVICE static inline EdgeCounts count_edges(const Point *p, uint32_t n, uint32_t from, uint32_t to)
{
    Calipers c = { .right = after(from, n) };
    EdgeCounts counts = { .perimeter = 0, .area2 = 0 };

    counts.best.diameter2 = 0;
    for (uint32_t i = from; i < to; i++) {
        turn(&c, p, n, i, i == from);
        if (i == from) {
            counts.best.width = counts.best.area = c;
            counts.best.width_at = counts.best.area_at = i;
        } else {
            keep_thinner(&counts.best, &c, i);
            keep_smaller(&counts.best, &c, i);
        }
        keep_diameters(&counts.best, &c, p, n, i);
        counts.perimeter += length40(c.edge);
        counts.area2 += (uint64_t)(int64_t)cross(minus(p[i], p[0]), c.edge);
    }
    return counts;
}

/* Adds later edges. */
CCL_HOST_DEVICE static inline void join_edges(EdgeCounts *to, const EdgeCounts *later)
{
    const Best *const best = &later->best;
    keep_thinner(&to->best, &best->width, best->width_at);
    keep_smaller(&to->best, &best->area, best->area_at);
    to->best.diameter2 = best->diameter2 > to->best.diameter2 ? best->diameter2 : to->best.diameter2;
    to->perimeter += later->perimeter;
    to->area2 += later->area2;
}

/* edges: all edges of the hull. edge: shortest(best.width.edge), side: shortest(long_direction(&best.area)). */
CCL_HOST_DEVICE static inline CclHullCounts counts_of_hull(const EdgeCounts *edges, const Point *p, Point edge, Point side)
{
    const Best *const best = &edges->best;
    const Point d = half_turn(edge);
    CclHullCounts counts = { .area2 = edges->area2, .perimeter = edges->perimeter, .diameter2 = best->diameter2 };
    counts.width_dx = (int16_t)d.x, counts.width_dy = (int16_t)d.y;
    counts.width = (uint32_t)cross(edge, minus(p[best->width.far], p[best->width_at]));
    measure_rect(&counts, best, p, side);
    return counts;
}

/* Of a component whose pixels fill its box. */
CCL_HOST_DEVICE static inline CclHullCounts counts_of_box(uint32_t x0, uint32_t y0, uint32_t x1, uint32_t y1)
{
    const uint32_t width = x1 - x0, height = y1 - y0;
    const bool wide = width >= height;
    const CclHullCounts counts = {
        .area2 = 2 * (uint64_t)width * height,
        .perimeter = 2 * (uint64_t)(width + height) << 40,
        .diameter2 = width * width + height * height,
        .width = wide ? height : width,
        .width_dx = wide,
        .width_dy = !wide,
        .rect_dx = wide,
        .rect_dy = !wide,
        .along0 = (int32_t)(wide ? x0 : y0),
        .along1 = (int32_t)(wide ? x1 : y1),
        .across0 = wide ? (int32_t)y0 : -(int32_t)x1,
        .across1 = wide ? (int32_t)y1 : -(int32_t)x0,
    };
    return counts;
}

#endif
