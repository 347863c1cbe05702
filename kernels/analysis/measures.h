/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Every measure of a component by its name: for filters, orders and documents. */
#ifndef CCL_ANALYSIS_MEASURES_H
#define CCL_ANALYSIS_MEASURES_H

#include "ccl.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum CclMeasure {
    CCL_MEASURE_AREA = 0,
    CCL_MEASURE_X,
    CCL_MEASURE_Y,
    CCL_MEASURE_WIDTH,
    CCL_MEASURE_HEIGHT,
    CCL_MEASURE_CENTROID_X,
    CCL_MEASURE_CENTROID_Y,
    CCL_MEASURE_COV_XX,
    CCL_MEASURE_COV_XY,
    CCL_MEASURE_COV_YY,
    CCL_MEASURE_ORIENTATION,
    CCL_MEASURE_AXIS_MAJOR_LENGTH,
    CCL_MEASURE_AXIS_MINOR_LENGTH,
    CCL_MEASURE_ECCENTRICITY,
    CCL_MEASURE_EQUIVALENT_DIAMETER,
    CCL_MEASURE_EXTENT,
    CCL_MEASURE_EULER_NUMBER,
    CCL_MEASURE_N_HOLES,
    CCL_MEASURE_PERIMETER_CRACK,
    CCL_MEASURE_PERIMETER_CROFTON,
    CCL_MEASURE_CIRCULARITY,
    CCL_MEASURE_COMPACTNESS,
    CCL_MEASURE_AREA_CONVEX,
    CCL_MEASURE_SOLIDITY,
    CCL_MEASURE_PERIMETER_CONVEX,
    CCL_MEASURE_CONVEXITY,
    CCL_MEASURE_FERET_DIAMETER_MAX,
    CCL_MEASURE_MIN_FERET,
    CCL_MEASURE_RECT_X,
    CCL_MEASURE_RECT_Y,
    CCL_MEASURE_RECT_LENGTH,
    CCL_MEASURE_RECT_WIDTH,
    CCL_MEASURE_RECT_ANGLE,
    CCL_MEASURE_EQUIVALENT_RECT_LENGTH,
    CCL_MEASURE_EQUIVALENT_RECT_WIDTH,
    CCL_MEASURE_CLASS_ID,
    CCL_MEASURE_AREA_FILLED,
    CCL_MEASURE_INTENSITY_MIN,
    CCL_MEASURE_INTENSITY_MAX,
    CCL_MEASURE_INTENSITY_SUM,
    CCL_MEASURE_INTENSITY_MEAN,
    CCL_MEASURE_INTENSITY_STD,
    CCL_MEASURE_CENTROID_WEIGHTED_X,
    CCL_MEASURE_CENTROID_WEIGHTED_Y,
    CCL_MEASURE_COV_WEIGHTED_XX,
    CCL_MEASURE_COV_WEIGHTED_XY,
    CCL_MEASURE_COV_WEIGHTED_YY,
    CCL_MEASURE_CB_MEAN,
    CCL_MEASURE_CR_MEAN,
    CCL_N_NUMBERS, /* those before are numbers, those behind are true or false */
    CCL_MEASURE_TOUCHES_BORDER = CCL_N_NUMBERS,
    CCL_MEASURE_TOUCHES_LEFT,
    CCL_MEASURE_TOUCHES_TOP,
    CCL_MEASURE_TOUCHES_RIGHT,
    CCL_MEASURE_TOUCHES_BOTTOM,
    CCL_N_MEASURES,
} CclMeasure;

typedef struct CclMeasureInfo {
    const char *name;
    const char *unit; /* "" without one */
    const char *text;
    unsigned feature; /* CCL_FEATURE_... that it needs: one, several or 0 */
} CclMeasureInfo;

const CclMeasureInfo *ccl_measure_info(CclMeasure measure);

/* The measure of this name, whose words '-' or '_' joins. CCL_N_MEASURES: there is none. */
CclMeasure ccl_measure_named(const char *name, size_t length);

/* One component while it is measured; what several measures share is computed once. */
typedef struct CclMeasuring {
    const CclComponent *component; /* its flags are not read */
    const CclShapeCounts *counts;  /* NULL without CCL_FEATURE_SHAPE */
    const CclHullCounts *hull_counts; /* NULL without CCL_FEATURE_HULL */
    const CclHoleCounts *hole_counts; /* NULL without CCL_FEATURE_HOLES */
    const CclIntensityCounts *intensity_counts; /* NULL without CCL_FEATURE_INTENSITY */
    const uint16_t *class_id;         /* NULL without CCL_FOREGROUND_EQUAL */
    uint32_t width, height;           /* of the mask */
    bool has_shape, has_measures, has_hull, has_intensity;
    CclShape shape;
    CclShapeMeasures measures;
    CclHullMeasures hull;
    CclIntensityMeasures intensity;
} CclMeasuring;

/* Begins with another component of the same mask, and keeps `class_id`, without the time that clearing the structure takes. */
static inline void ccl_measure_next(CclMeasuring *measuring, const CclComponent *component, const CclShapeCounts *counts,
                                    const CclHullCounts *hull_counts, const CclHoleCounts *hole_counts,
                                    const CclIntensityCounts *intensity_counts)
{
    measuring->component = component;
    measuring->counts = counts;
    measuring->hull_counts = hull_counts;
    measuring->hole_counts = hole_counts;
    measuring->intensity_counts = intensity_counts;
    measuring->has_shape = measuring->has_measures = measuring->has_hull = measuring->has_intensity = false;
}

/* In pixels of the mask. NAN where it is undefined:
 *
 *     axis-minor-length                  the pixels lie on a line
 *     axis-major-length, eccentricity    there is one pixel
 *     orientation                        no axis is longer than the others
 *     centroid-weighted, cov-weighted    every pixel is 0
 *     cb-mean, cr-mean                   the picture has no chroma
 *     class-id                           the mask is no label map
 */
double ccl_measure_number(CclMeasuring *measuring, CclMeasure measure);

/* Of a measure that is true or false. */
bool ccl_measure_flag(const CclMeasuring *measuring, CclMeasure measure);

/* ---------------------------------------------------------------- orders */

/* The order by a number: smallest or largest first, equal ones by label, undefined ones last. A table that is too small has
 * the first (of the first CCL_MAX_COMPONENTS by label). Area, largest first, is CCL_ORDER_AREA. */
static inline CclOrder ccl_order_by(CclMeasure number, bool descending)
{
    return (CclOrder)(CCL_ORDER_AREA + 2 * (unsigned)number + !descending);
}

#define CCL_N_ORDERS (CCL_ORDER_AREA + 2 * CCL_N_NUMBERS)

/* Of any order but CCL_ORDER_RASTER. */
static inline CclMeasure ccl_order_number(CclOrder order)
{
    return (CclMeasure)(((unsigned)order - CCL_ORDER_AREA) / 2);
}

static inline bool ccl_order_is_descending(CclOrder order)
{
    return ((unsigned)order - CCL_ORDER_AREA) % 2 == 0;
}

/* CCL_FEATURE_... that an order needs, or 0. */
static inline unsigned ccl_order_feature(CclOrder order)
{
    return order == CCL_ORDER_RASTER ? 0 : ccl_measure_info(ccl_order_number(order))->feature;
}

#ifdef __cplusplus
}
#endif

#endif
