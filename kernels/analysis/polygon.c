/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "polygon.h"

#include "status.h"

#include <math.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    return (*(const uint32_t *)a > *(const uint32_t *)b) - (*(const uint32_t *)a < *(const uint32_t *)b);
}

/* The first pixel whose centre is at x or right of it, 0..width; 0 if x is NaN. */
static uint32_t pixel_from(double x, uint32_t width)
{
    const double first = ceil(x - 0.5);
    return !(first > 0) ? 0 : first > width ? width : (uint32_t)first;
}

/* Stores, in order, the first pixel right of each crossing of the outline with the line y. Returns the number of crossings. */
static unsigned crossings(const double *xy, unsigned n, double y, uint32_t width, uint32_t *x)
{
    unsigned found = 0;
    for (unsigned i = 0; i < n; i++) {
        const double *const a = xy + 2 * i, *const b = xy + 2 * ((i + 1) % n);
        if ((a[1] <= y) != (b[1] <= y))
            x[found++] = pixel_from(a[0] + (y - a[1]) / (b[1] - a[1]) * (b[0] - a[0]), width);
    }
    qsort(x, found, sizeof *x, compare);
    return found;
}

CclStatus ccl_polygon_fill(const double *xy, unsigned n, uint8_t value, const CclPlane *plane)
{
    uint32_t *const x = malloc(((size_t)n + 1) * sizeof *x);
    if (!x)
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "no memory for a polygon of %u corners", n);
    for (uint32_t row = 0; row < plane->height; row++) {
        const unsigned found = crossings(xy, n, row + 0.5, plane->width, x);
        for (unsigned i = 0; i + 1 < found; i += 2)
            for (uint32_t at = x[i]; at < x[i + 1]; at++)
                plane->data[row * plane->stride + at] = value;
    }
    free(x);
    return CCL_OK;
}
