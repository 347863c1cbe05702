/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "contour.h"

#include "bounds.h"
#include "pixels.h"

#include <stdlib.h>
#include <string.h>

typedef struct Corner {
    uint16_t x, y;
} Corner;

struct CclContours {
    Corner *corners; /* of one contour; the first one is repeated at the end */
    uint8_t *kept;   /* for each corner: whether it stays */
    uint32_t n_corners, capacity;
    CclPoint *points; /* of all contours */
    size_t n_points, points_capacity;
};

CclContours *ccl_contours_new(void)
{
    return calloc(1, sizeof(CclContours));
}

void ccl_contours_free(CclContours *contours)
{
    if (!contours)
        return;
    free(contours->corners);
    free(contours->kept);
    free(contours->points);
    free(contours);
}

void ccl_contours_clear(CclContours *contours)
{
    contours->n_points = 0;
}

const CclPoint *ccl_contours_points(const CclContours *contours, size_t *n_points)
{
    *n_points = contours->n_points;
    return contours->points;
}

/* ---------------------------------------------------------------- tracing */

static bool append_corner(CclContours *c, int x, int y)
{
    if (c->n_corners == c->capacity) {
        const uint32_t capacity = c->capacity ? 2 * c->capacity : 256;
        Corner *const corners = realloc(c->corners, capacity * sizeof *corners);
        if (!corners)
            return false;
        c->corners = corners;
        uint8_t *const kept = realloc(c->kept, capacity);
        if (!kept)
            return false;
        c->kept = kept;
        c->capacity = capacity;
    }
    c->corners[c->n_corners++] = (Corner){ (uint16_t)x, (uint16_t)y };
    return true;
}

/* What is traced. */
typedef struct Border {
    const CclMask *mask;
    CclConnectivity connectivity;
    bool is_map;
    unsigned value; /* in a label map: of the component */
} Border;

/* Pixels outside the mask are background. */
static bool is_set(const Border *border, int x, int y)
{
    const CclMask *const mask = border->mask;
    if ((unsigned)x >= mask->width || (unsigned)y >= mask->height)
        return false;
    return border->is_map ? pixel_value(mask, (uint32_t)x, (uint32_t)y) == border->value
                          : is_foreground(mask, (uint32_t)x, (uint32_t)y);
}

/* Directions, clockwise: right, down, left, up. */
static const int STEP_X[4] = { 1, 0, -1, 0 }, STEP_Y[4] = { 0, 1, 0, -1 };
/* The pixel ahead on the right of a corner. The pixel ahead on the left is the same for the direction before. */
static const int AHEAD_X[4] = { 0, -1, -1, 0 }, AHEAD_Y[4] = { 0, 0, -1, -1 };

static bool is_ahead(const Border *border, int x, int y, unsigned direction)
{
    return is_set(border, x + AHEAD_X[direction & 3], y + AHEAD_Y[direction & 3]);
}

/* How to go on at a corner: 0 straight, 1 to the right, 3 to the left. The component is on the right. Where two pixels
 * touch at this corner only, they belong together when 8-connected. */
static unsigned turn_at(const Border *border, int x, int y, unsigned direction)
{
    const bool right = is_ahead(border, x, y, direction);
    if (!right && border->connectivity == CCL_CONNECT_4)
        return 1;
    if (is_ahead(border, x, y, direction + 3))
        return 3;
    return right ? 0 : 1;
}

/* Traces the border of the component once. A border has at most four edges per pixel. */
static CclStatus trace(CclContours *c, const Border *border, const CclComponent *component)
{
    const int first_x = component->first_x, first_y = component->y0;
    uint64_t edges_left = 4 * component->moments.area;
    int x = first_x, y = first_y;
    unsigned direction = 0;

    c->n_corners = 0;
    if (!is_set(border, x, y))
        return ccl_fail(CCL_ERROR_ARGUMENT, "component %u is not in this mask", component->label);
    do {
        if (!append_corner(c, x, y))
            return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "no memory for a contour of %u corners", c->n_corners);
        unsigned turn;
        do {
            if (edges_left-- == 0)
                return ccl_fail(CCL_ERROR_ARGUMENT, "component %u is not in this mask", component->label);
            x += STEP_X[direction];
            y += STEP_Y[direction];
            turn = turn_at(border, x, y, direction);
        } while (turn == 0);
        direction = (direction + turn) & 3;
    } while (x != first_x || y != first_y);
    return CCL_OK;
}

/* ---------------------------------------------------------------- simplifying */

/* The squared distance of a corner from the line between two others. */
static double squared_distance(Corner p, Corner a, Corner b)
{
    const double dx = b.x - a.x, dy = b.y - a.y, px = p.x - a.x, py = p.y - a.y;
    const double length = dx * dx + dy * dy, along = px * dx + py * dy;
    if (along <= 0)
        return px * px + py * py;
    if (along >= length)
        return (px - dx) * (px - dx) + (py - dy) * (py - dy);
    const double across = px * dy - py * dx;
    return across * across / length;
}

/* From this depth on a span is divided in the middle of its corners, not at its widest place. In a comb the widest place cuts
 * off one tooth at a time, which takes n^2 steps; this takes n log n. */
enum { HALVE_FROM = 24 };

/* Douglas & Peucker's method between two corners that stay. */
static void keep_between(CclContours *c, uint32_t begin, uint32_t end, double epsilon, unsigned depth)
{
    double widest = -1;
    uint32_t at = begin;
    for (uint32_t i = begin + 1; i < end; i++) {
        const double d = squared_distance(c->corners[i], c->corners[begin], c->corners[end]);
        if (d > widest)
            widest = d, at = i;
    }
    if (!(widest > epsilon * epsilon))
        return;
    if (depth >= HALVE_FROM)
        at = begin + (end - begin) / 2;
    c->kept[at] = 1;
    keep_between(c, begin, at, epsilon, depth + 1);
    keep_between(c, at, end, epsilon, depth + 1);
}

/* Keeps, on each side of the box, the two corners that are farthest apart. */
static void keep_outermost(CclContours *c, const CclComponent *box)
{
    uint32_t first[4] = { 0 }, last[4] = { 0 };
    bool found[4] = { false };
    for (uint32_t i = 0; i < c->n_corners; i++) {
        const Corner p = c->corners[i];
        const bool on[4] = { p.y == box->y0, p.x == box->x1, p.y == box->y1, p.x == box->x0 };
        for (unsigned side = 0; side < 4; side++) {
            if (!on[side])
                continue;
            const Corner a = c->corners[first[side]], b = c->corners[last[side]];
            if (!found[side] || (side & 1 ? p.y < a.y : p.x < a.x))
                first[side] = i;
            if (!found[side] || (side & 1 ? p.y > b.y : p.x > b.x))
                last[side] = i;
            found[side] = true;
        }
    }
    for (unsigned side = 0; side < 4; side++)
        c->kept[first[side]] = c->kept[last[side]] = 1;
}

/* The first corner is an outermost one on top. So it stays, and so does its copy at the end. */
static void simplify(CclContours *c, const CclComponent *box, double epsilon)
{
    const uint32_t n = c->n_corners;
    uint32_t begin = 0, left = 0;

    memset(c->kept, 0, n);
    keep_outermost(c, box);
    c->corners[n] = c->corners[0];
    for (uint32_t i = 1; i <= n; i++)
        if (i == n || c->kept[i]) {
            keep_between(c, begin, i, epsilon, 0);
            begin = i;
        }
    for (uint32_t i = 0; i < n; i++)
        if (c->kept[i])
            c->corners[left++] = c->corners[i];
    c->n_corners = left;
}

/* ---------------------------------------------------------------- one component */

static CclStatus append_points(CclContours *c)
{
    if (c->n_points + c->n_corners > c->points_capacity) {
        const size_t capacity = 2 * (c->n_points + c->n_corners);
        CclPoint *const points = realloc(c->points, capacity * sizeof *points);
        if (!points)
            return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "no memory for contours of %zu points", capacity);
        c->points = points;
        c->points_capacity = capacity;
    }
    for (uint32_t i = 0; i < c->n_corners; i++)
        c->points[c->n_points++] = (CclPoint){ c->corners[i].x, c->corners[i].y };
    return CCL_OK;
}

CclStatus ccl_contours_add(CclContours *c, const CclMask *mask, const CclComponent *component,
                           const CclContourConfig *config, uint32_t *n_points)
{
    double epsilon = config->epsilon;

    *n_points = 0;
    CCL_TRY(ccl_check_connectivity(config->connectivity));
    if (!(epsilon >= 0) || config->max_points < CCL_CONTOUR_MIN_POINTS || config->max_points > CCL_CONTOUR_MAX_POINTS)
        return ccl_fail(CCL_ERROR_ARGUMENT, "a contour cannot be simplified to %u points with tolerance %g",
                        config->max_points, epsilon);
    if (mask->memory == CCL_MEMORY_DEVICE)
        return ccl_fail(CCL_ERROR_ARGUMENT, "contours are traced in masks in memory of the host");
    Border border = { .mask = mask, .connectivity = config->connectivity, .is_map = config->is_map };
    if (config->is_map && component->first_x < mask->width && component->y0 < mask->height)
        border.value = pixel_value(mask, component->first_x, component->y0);
    CCL_TRY(trace(c, &border, component));
    if (!append_corner(c, component->first_x, component->y0)) /* capacity for the copy of the first */
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "no memory for a contour of %u corners", c->n_corners);
    c->n_corners--;
    if (epsilon > 0)
        simplify(c, component, epsilon);
    while (c->n_corners > config->max_points) {
        epsilon = epsilon > 0 ? 2 * epsilon : 0.5;
        simplify(c, component, epsilon);
    }
    CCL_TRY(append_points(c));
    *n_points = c->n_corners;
    return CCL_OK;
}
