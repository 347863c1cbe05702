/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Measures derived from the sums and counts of a component. */
#include "ccl.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

/*
 * The sum of (x - c)(y - d) in exact integers, modulo 2^64. The true value is at most area * width * height, far below 2^63, so
 * intermediate results may wrap. The sum of squares minus the squared mean in floating point would lose all digits for a small
 * component far from the origin.
 */
static double centred(uint64_t sxy, uint64_t sx, uint64_t sy, uint64_t n, uint64_t c, uint64_t d)
{
    return (double)(int64_t)(sxy - c * sy - d * sx + n * c * d);
}

void ccl_axes_from_covariance(CclShape *shape)
{
    /* Eigenvalues of the covariance. */
    const double mean = (shape->xx + shape->yy) / 2;
    const double half = hypot((shape->xx - shape->yy) / 2, shape->xy);
    const double large = mean + half, small = fmax(mean - half, 0);

    shape->axis_major_length = 4 * sqrt(large);
    shape->axis_minor_length = 4 * sqrt(small);
    shape->eccentricity = large > 0 ? sqrt(fmax(1 - small / large, 0)) : 0;
    if (shape->xx == shape->yy)
        shape->orientation = shape->xy > 0 ? PI / 4 : -PI / 4;
    else
        shape->orientation = atan2(2 * shape->xy, shape->yy - shape->xx) / 2;
}

void ccl_shape_from_moments(const CclMoments *m, CclShape *shape)
{
    const uint64_t n = m->area;
    const uint64_t cx = (m->m10 + n / 2) / n, cy = (m->m01 + n / 2) / n;
    const double dx = (double)(int64_t)(m->m10 - n * cx) / (double)n;
    const double dy = (double)(int64_t)(m->m01 - n * cy) / (double)n;

    shape->x = (double)cx + dx;
    shape->y = (double)cy + dy;
    shape->xx = fmax(centred(m->m20, m->m10, m->m10, n, cx, cx) / (double)n - dx * dx, 0);
    shape->yy = fmax(centred(m->m02, m->m01, m->m01, n, cy, cy) / (double)n - dy * dy, 0);
    shape->xy = centred(m->m11, m->m10, m->m01, n, cx, cy) / (double)n - dx * dy;

    shape->equivalent_diameter = sqrt(4 * (double)n / PI);
    ccl_axes_from_covariance(shape);
}

/* A pixel has a variance of 1/12 in each direction, a rectangle its squared side / 12. The axes are 4 standard deviations. */
void ccl_equivalent_rect(const CclShape *shape, double *length, double *width)
{
    *length = sqrt(0.75 * shape->axis_major_length * shape->axis_major_length + 1);
    *width = sqrt(0.75 * shape->axis_minor_length * shape->axis_minor_length + 1);
}

double ccl_extent(const CclComponent *c)
{
    return (double)c->moments.area / ((double)(c->x1 - c->x0) * (c->y1 - c->y0));
}

/*
 * Crofton: lines in four directions cross a component once for each count. The lines are a pixel apart in the directions of
 * the axes, and 1/sqrt(2) of it on the diagonals.
 */
void ccl_shape_measures(const CclShapeCounts *counts, uint64_t area, CclShapeMeasures *measures)
{
    const double axes = (double)counts->runs + counts->tops, diagonals = counts->diagonals;
    const double perimeter = PI / 4 * (axes + diagonals / sqrt(2));

    measures->euler_number = counts->euler;
    measures->n_holes = 1 - (uint32_t)counts->euler;
    measures->perimeter_crack = 2 * (counts->runs + counts->tops);
    measures->perimeter_crofton = perimeter;
    measures->compactness = perimeter * perimeter / (4 * PI * (double)area);
    measures->circularity = fmin(1 / measures->compactness, 1);
}
