/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The outer contour of a component as a polygon.
 *
 * The polygon lies in the plane of pixel squares, where pixel (x, y) covers [x, x+1) x [y, y+1), and runs along the
 * edges between the component and what surrounds it, clockwise as seen on a screen, from the corner left above its
 * first pixel. Only corners are listed. Filled (a pixel is inside when its centre is) it gives the component with its
 * holes:
 *
 *     . # # . .           (1,0) (3,0) (3,1) (4,1) (4,2) (3,2) (3,1) (1,1)
 *     . . . # .           8-connected: the corner (3,1), where two pixels touch, comes twice
 *     # . . . .
 *
 * Border following of the edges ("cracks") between pixels: Rosenfeld & Kak, Digital Picture Processing, 1976; the outer
 * borders that Suzuki & Abe, "Topological structural analysis of digitized binary images by border following", CVGIP
 * 30, 1985, follow from pixel to pixel. Only the neighbourhood of the border is looked at, whatever the area; no label
 * image is needed, since the border of a component never leaves it.
 *
 * Simplified by Douglas & Peucker, "Algorithms for the reduction of the number of points required to represent a
 * digitized line or its caricature", Cartographica 10, 1973: no corner left out is farther than `epsilon` from the
 * polygon. The outermost corners on each side of the component's box always stay, eight at most, so that the polygon
 * has the same box.
 */
#ifndef CCL_CONTOUR_H
#define CCL_CONTOUR_H

#include "ccl.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CCL_CONTOUR_MIN_POINTS 8u
#define CCL_CONTOUR_MAX_POINTS 65535u

typedef struct CclPoint {
    float x, y; /* whole numbers, of pixels */
} CclPoint;

typedef struct CclContourConfig {
    CclConnectivity connectivity; /* of the components */
    double epsilon;               /* tolerance, pixels; 0: every corner stays */
    uint32_t max_points;          /* a polygon of more is simplified again, with twice the tolerance, until it fits;
                                     CCL_CONTOUR_MIN_POINTS..CCL_CONTOUR_MAX_POINTS */
} CclContourConfig;

/* The contours of a frame, one behind the other, and working memory, kept from frame to frame. Used by one thread at a
 * time. */
typedef struct CclContours CclContours;

/* NULL: no memory. */
CclContours *ccl_contours_new(void);
void ccl_contours_free(CclContours *contours);

/* Forgets the contours, keeps the memory. */
void ccl_contours_clear(CclContours *contours);

/*
 * Appends the contour of a component.
 *
 * mask:      the one it was found in, in memory of the host.
 * n_points:  receives the number of points appended.
 * Errors:    ARGUMENT (the component is not in this mask, or a setting is out of its range), OUT_OF_MEMORY; nothing is
 *            appended.
 */
CclStatus ccl_contours_add(CclContours *contours, const CclMask *mask, const CclComponent *component,
                           const CclContourConfig *config, uint32_t *n_points);

/* All that were appended; alive until the next call. */
const CclPoint *ccl_contours_points(const CclContours *contours, size_t *n_points);

#ifdef __cplusplus
}
#endif

#endif
