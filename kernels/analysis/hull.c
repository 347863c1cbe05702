/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "hull_chain.h"

uint32_t ccl_hull_points(const CclExtent *rows, uint32_t n_rows, uint32_t y0, Point *points)
{
    const uint32_t n_right = right_chain(rows, n_rows, y0, 0, n_rows + 1, points);
    return n_right + left_chain(rows, n_rows, y0, 0, n_rows + 1, points + n_right);
}

CclHullCounts ccl_hull_count(const Point *p, uint32_t n)
{
    const EdgeCounts edges = count_edges(p, n, 0, n);
    return counts_of_hull(&edges, p, shortest(edges.best.width.edge), shortest(long_direction(&edges.best.area)));
}

CclHullCounts ccl_hull_of_box(uint32_t x0, uint32_t y0, uint32_t x1, uint32_t y1)
{
    return counts_of_box(x0, y0, x1, y1);
}

/* ---------------------------------------------------------------- measures */

void ccl_hull_measures(const CclHullCounts *c, uint64_t area, CclHullMeasures *measures)
{
    const double dx = c->rect_dx, dy = c->rect_dy, length2 = dx * dx + dy * dy, length = sqrt(length2);
    const double width_length2 = (double)c->width_dx * c->width_dx + (double)c->width_dy * c->width_dy;
    const double along = ((double)c->along0 + c->along1) / 2, across = ((double)c->across0 + c->across1) / 2;

    measures->area_convex = (double)c->area2 / 2;
    measures->solidity = (double)area / measures->area_convex;
    measures->perimeter_convex = (double)c->perimeter * 0x1p-40;
    measures->feret_diameter_max = sqrt(c->diameter2);
    measures->min_feret = (double)c->width / sqrt(width_length2);
    measures->rect_x = (along * dx - across * dy) / length2 - 0.5;
    measures->rect_y = (along * dy + across * dx) / length2 - 0.5;
    measures->rect_length = ((double)c->along1 - c->along0) / length;
    measures->rect_width = ((double)c->across1 - c->across0) / length;
    measures->rect_angle = atan2(dy, dx);
}
