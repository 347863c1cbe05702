/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "reference_hull.h"

#include <math.h>
#include <stdbool.h>

typedef CclReferencePoint Point;

__extension__ typedef unsigned __int128 Wide;

/* ---------------------------------------------------------------- corners */

/* The columns of corners of a component: the first is x0, the last x0 + width. */
typedef struct Corners {
    CclReferenceColumn *columns;
    uint32_t x0, width;
} Corners;

static void add_pixel(const Corners *corners, uint32_t x, int32_t y)
{
    for (unsigned i = 0; i < 2; i++) {
        CclReferenceColumn *const c = &corners->columns[x - corners->x0 + i];
        c->top = y < c->top ? y : c->top;
        c->bottom = y + 1 > c->bottom ? y + 1 : c->bottom;
    }
}

static int64_t turn(Point a, Point b, Point c)
{
    return (int64_t)(b.x - a.x) * (c.y - a.y) - (int64_t)(b.y - a.y) * (c.x - a.x);
}

static int64_t distance2(Point a, Point b)
{
    return (int64_t)(b.x - a.x) * (b.x - a.x) + (int64_t)(b.y - a.y) * (b.y - a.y);
}

static bool is_same(Point a, Point b)
{
    return a.x == b.x && a.y == b.y;
}

/* The corner after `from` on the hull: no other is to the right of the way there. */
static Point next_corner(const Corners *corners, Point from)
{
    Point next = from;
    for (uint32_t i = 0; i <= corners->width; i++)
        for (unsigned end = 0; end < 2; end++) {
            const CclReferenceColumn *const c = &corners->columns[i];
            const Point p = { (int32_t)(corners->x0 + i), end ? c->bottom : c->top };
            const int64_t side = turn(from, next, p);
            if (is_same(next, from) || side < 0 || (side == 0 && distance2(from, p) > distance2(from, next)))
                next = p;
        }
    return next;
}

static Point corner(const CclReferenceColumn *columns, uint32_t i)
{
    return columns[i / 2].corner[i % 2];
}

/* Returns the number of the hull's corners. */
static uint32_t wrap(const Corners *corners)
{
    const Point first = { (int32_t)corners->x0, corners->columns[0].top };
    Point p = first;
    uint32_t n = 0;
    do {
        corners->columns[n / 2].corner[n % 2] = p;
        n++;
        p = next_corner(corners, p);
    } while (!is_same(p, first));
    return n;
}

/* ---------------------------------------------------------------- rectangles */

static int32_t divisor(int32_t a, int32_t b)
{
    return b ? divisor(b, a % b) : a < 0 ? -a : a;
}

/* As CclHullCounts has directions. */
static Point direction(int32_t dx, int32_t dy)
{
    const int32_t g = divisor(dx, dy), sign = dx < 0 || (dx == 0 && dy < 0) ? -1 : 1;
    return (Point){ sign * dx / g, sign * dy / g };
}

/* The box of the hull in a direction and the one at a right angle to it. */
typedef struct Rect {
    Point d;
    int32_t along0, along1, across0, across1;
} Rect;

static Rect rect_in(const CclReferenceColumn *columns, uint32_t n, Point d)
{
    Rect r = { d, INT32_MAX, INT32_MIN, INT32_MAX, INT32_MIN };
    for (uint32_t i = 0; i < n; i++) {
        const Point p = corner(columns, i);
        const int32_t along = p.x * d.x + p.y * d.y, across = p.y * d.x - p.x * d.y;
        r.along0 = along < r.along0 ? along : r.along0;
        r.along1 = along > r.along1 ? along : r.along1;
        r.across0 = across < r.across0 ? across : r.across0;
        r.across1 = across > r.across1 ? across : r.across1;
    }
    return r;
}

static uint64_t squared_length(Point d)
{
    return (uint64_t)((int64_t)d.x * d.x + (int64_t)d.y * d.y);
}

/* Whether a is better than b: a smaller value over squared length, or an equal one at a smaller angle. */
static bool is_better(uint64_t a, Point da, uint64_t b, Point db)
{
    const Wide left = (Wide)a * squared_length(db), right = (Wide)b * squared_length(da);
    if (left != right)
        return left < right;
    return turn((Point){ 0, 0 }, da, db) > 0;
}

static uint64_t area_of(const Rect *r)
{
    return (uint64_t)(r->along1 - r->along0) * (uint64_t)(r->across1 - r->across0);
}

static uint64_t width2_of(const Rect *r)
{
    return (uint64_t)(r->across1 - r->across0) * (uint64_t)(r->across1 - r->across0);
}

static void find_rects(CclHullCounts *counts, const CclReferenceColumn *columns, uint32_t n)
{
    Rect smallest = { 0 }, narrowest = { 0 };
    for (uint32_t i = 0; i < n; i++) {
        const Point a = corner(columns, i), b = corner(columns, (i + 1) % n), d = direction(b.x - a.x, b.y - a.y);
        const Rect on_edge = rect_in(columns, n, d), turned = rect_in(columns, n, direction(-d.y, d.x));
        if (i == 0 || is_better(width2_of(&on_edge), d, width2_of(&narrowest), narrowest.d))
            narrowest = on_edge;
        for (unsigned k = 0; k < 2; k++) {
            const Rect *const r = k ? &turned : &on_edge;
            const bool is_long = r->along1 - r->along0 >= r->across1 - r->across0;
            if (is_long && ((!smallest.d.x && !smallest.d.y) || is_better(area_of(r), r->d, area_of(&smallest), smallest.d)))
                smallest = *r;
        }
    }
    counts->width = (uint32_t)(narrowest.across1 - narrowest.across0);
    counts->width_dx = (int16_t)narrowest.d.x, counts->width_dy = (int16_t)narrowest.d.y;
    counts->rect_dx = (int16_t)smallest.d.x, counts->rect_dy = (int16_t)smallest.d.y;
    counts->along0 = smallest.along0, counts->along1 = smallest.along1;
    counts->across0 = smallest.across0, counts->across1 = smallest.across1;
}

/* ---------------------------------------------------------------- all */

static Corners lay_out(CclReferenceColumn *columns, const uint32_t *pixels, uint32_t n, uint32_t width)
{
    uint32_t x0 = UINT32_MAX, x1 = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t x = pixels[i] % width;
        x0 = x < x0 ? x : x0;
        x1 = x > x1 ? x : x1;
    }
    const Corners corners = { columns, x0, x1 + 1 - x0 };
    for (uint32_t i = 0; i <= corners.width; i++)
        columns[i].top = INT32_MAX, columns[i].bottom = INT32_MIN;
    for (uint32_t i = 0; i < n; i++)
        add_pixel(&corners, pixels[i] % width, (int32_t)(pixels[i] / width));
    return corners;
}

CclHullCounts ccl_reference_hull(CclReferenceColumn *columns, const uint32_t *pixels, uint32_t n_pixels, uint32_t width)
{
    CclHullCounts counts = { 0 };
    int64_t area2 = 0;
    const Corners corners = lay_out(columns, pixels, n_pixels, width);
    const uint32_t n = wrap(&corners);
    for (uint32_t i = 0; i < n; i++) {
        const Point a = corner(columns, i), b = corner(columns, (i + 1) % n);
        area2 += (int64_t)a.x * b.y - (int64_t)a.y * b.x;
        counts.perimeter += (uint64_t)ldexp(sqrt((double)distance2(a, b)), 40);
        for (uint32_t k = 0; k < n; k++) {
            const uint32_t d2 = (uint32_t)distance2(a, corner(columns, k));
            counts.diameter2 = d2 > counts.diameter2 ? d2 : counts.diameter2;
        }
    }
    counts.area2 = (uint64_t)(area2 < 0 ? -area2 : area2);
    find_rects(&counts, columns, n);
    return counts;
}
