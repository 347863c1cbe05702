/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The outer contour of a component as a polygon.
 *
 * Pixel (x, y) is the square [x, x+1) x [y, y+1). The polygon follows the edges between the component and the pixels around it,
 * clockwise on a screen, from the upper left corner of its first pixel. Only corners are listed. The filled polygon (pixels
 * whose centre is inside) is the component with its holes filled:
 *
 *     . # # . .           (1,0) (3,0) (3,1) (4,1) (4,2) (3,2) (3,1) (1,1)
 *     . . . # .           8-connected: (3,1), where two pixels touch, is listed twice
 *     # . . . .
 *
 * The method is border following along the edges ("cracks") between pixels: Rosenfeld & Kak, Digital Picture Processing, 1976.
 * The result is the outer border of Suzuki & Abe, who go from pixel to pixel: "Topological structural analysis of digitized
 * binary images by border following", CVGIP 30, 1985. Only pixels at the border are read. No label image is needed, because the
 * border never leaves the component.
 *
 * The polygon is simplified with the method of Douglas & Peucker, "Algorithms for the reduction of the number of points
 * required to represent a digitized line or its caricature", Cartographica 10, 1973. No omitted corner is farther than
 * `epsilon` from the polygon. The outermost corners on each side of the component's box always stay, at most eight, so that the
 * polygon has the same box.
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
    float x, y; /* in pixels, integers */
} CclPoint;

typedef struct CclContourConfig {
    CclConnectivity connectivity; /* of the components */
    double epsilon;               /* tolerance, pixels; 0: every corner stays */
    uint32_t max_points;          /* a longer polygon is simplified again with twice the tolerance, until it fits;
                                     CCL_CONTOUR_MIN_POINTS..CCL_CONTOUR_MAX_POINTS */
    bool is_map;                  /* of a label map: a pixel belongs to the component if its value is the same */
} CclContourConfig;

/* The contours of a frame, one after the other, and working memory that is reused for later frames. Used by one thread at a
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
 * mask:      the mask in which it was found, in host memory. n_points:  receives the number of points appended. Errors:
 * ARGUMENT (the component is not in this mask, or a setting is out of its range), OUT_OF_MEMORY; nothing is
 *            appended.
 */
CclStatus ccl_contours_add(CclContours *contours, const CclMask *mask, const CclComponent *component,
                           const CclContourConfig *config, uint32_t *n_points);

/* The points of all contours; valid until the next call. */
const CclPoint *ccl_contours_points(const CclContours *contours, size_t *n_points);

#ifdef __cplusplus
}
#endif

#endif
