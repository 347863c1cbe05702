/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The hull of the reference method, by other algorithms than analysis/hull.c: columns instead of rows, gift wrapping instead of
 * a monotone chain, every pair instead of calipers. */
#ifndef CCL_CPU_REFERENCE_HULL_H
#define CCL_CPU_REFERENCE_HULL_H

#include "ccl.h"

typedef struct CclReferencePoint {
    int32_t x, y;
} CclReferencePoint;

typedef struct CclReferenceColumn {
    int32_t top, bottom;         /* of the component's corners in this column */
    CclReferencePoint corner[2]; /* of the hull: corner i is in column i / 2 */
} CclReferenceColumn;

/* pixels: indices y * width + x of a component's n pixels. columns: width + 1 of them, scratch. */
CclHullCounts ccl_reference_hull(CclReferenceColumn *columns, const uint32_t *pixels, uint32_t n, uint32_t width);

#endif
