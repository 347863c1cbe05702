/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Rows of a component -> the convex hull of its pixels' corners -> CclHullCounts. */
#ifndef CCL_ANALYSIS_HULL_H
#define CCL_ANALYSIS_HULL_H

#include "ccl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The columns of a component in one row: left <= x < right. Empty: right is 0, left UINT16_MAX. */
typedef struct CclExtent {
    uint16_t left, right;
} CclExtent;

typedef struct CclCornerPoint {
    int32_t x, y;
} CclCornerPoint;

/* points: space for 2 * n_rows + 2. rows[0] and rows[n_rows - 1] are not empty; empty rows between them are skipped. Returns the
 * number of points, at least 4: down the right side, then up the left one; no three on a line. Andrew,
 * "Another efficient algorithm for convex hulls in two dimensions", 1979. */
uint32_t ccl_hull_points(const CclExtent *rows, uint32_t n_rows, uint32_t y0, CclCornerPoint *points);

/* Of a hull as above. */
CclHullCounts ccl_hull_count(const CclCornerPoint *points, uint32_t n);

/* The same of a component whose pixels fill its box. */
CclHullCounts ccl_hull_of_box(uint32_t x0, uint32_t y0, uint32_t x1, uint32_t y1);

#ifdef __cplusplus
}
#endif

#endif
