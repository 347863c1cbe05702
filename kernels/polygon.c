/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "motion.h"

#include <math.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

/* Where the outline crosses the line y, from left to right; returns how often. */
static unsigned crossings(const double *xy, unsigned n, double y, double *x)
{
    unsigned found = 0;
    for (unsigned i = 0; i < n; i++) {
        const double *const a = xy + 2 * i, *const b = xy + 2 * ((i + 1) % n);
        if ((a[1] <= y) != (b[1] <= y))
            x[found++] = a[0] + (y - a[1]) / (b[1] - a[1]) * (b[0] - a[0]);
    }
    qsort(x, found, sizeof *x, compare);
    return found;
}

/* The first pixel whose centre is at x or right of it, 0..width. */
static uint32_t pixel_from(double x, uint32_t width)
{
    const double first = ceil(x - 0.5);
    return first < 0 ? 0 : first > width ? width : (uint32_t)first;
}

CclStatus ccl_polygon_fill(const double *xy, unsigned n, uint8_t value, uint8_t *picture, size_t stride, uint32_t width,
                           uint32_t height)
{
    double *const x = malloc((n + 1) * sizeof *x);
    if (!x)
        return CCL_ERROR_OUT_OF_MEMORY;
    for (uint32_t row = 0; row < height; row++) {
        const unsigned found = crossings(xy, n, row + 0.5, x);
        for (unsigned i = 0; i + 1 < found; i += 2)
            for (uint32_t at = pixel_from(x[i], width); at < pixel_from(x[i + 1], width); at++)
                picture[row * stride + at] = value;
    }
    free(x);
    return CCL_OK;
}
