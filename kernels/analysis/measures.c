/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "measures.h"

#include "bounds.h"

#include <math.h>
#include <string.h>

static const CclMeasureInfo infos[CCL_N_MEASURES] = {
    [CCL_MEASURE_AREA] = { "area", "pixels", "Area", 0 },
    [CCL_MEASURE_X] = { "x", "pixels", "Left edge of the box", 0 },
    [CCL_MEASURE_Y] = { "y", "pixels", "Upper edge of the box", 0 },
    [CCL_MEASURE_WIDTH] = { "width", "pixels", "Width of the box", 0 },
    [CCL_MEASURE_HEIGHT] = { "height", "pixels", "Height of the box", 0 },
    [CCL_MEASURE_CENTROID_X] = { "centroid-x", "pixels", "Centre of gravity, from the left", 0 },
    [CCL_MEASURE_CENTROID_Y] = { "centroid-y", "pixels", "Centre of gravity, from the top", 0 },
    [CCL_MEASURE_COV_XX] = { "cov-xx", "pixels squared", "Variance in x", 0 },
    [CCL_MEASURE_COV_XY] = { "cov-xy", "pixels squared", "Covariance of x and y", 0 },
    [CCL_MEASURE_COV_YY] = { "cov-yy", "pixels squared", "Variance in y", 0 },
    [CCL_MEASURE_ORIENTATION] = { "orientation", "radians", "Angle from the y axis to the major axis", 0 },
    [CCL_MEASURE_AXIS_MAJOR_LENGTH] = { "axis-major-length", "pixels", "Major axis of the ellipse with the same moments", 0 },
    [CCL_MEASURE_AXIS_MINOR_LENGTH] = { "axis-minor-length", "pixels", "Minor axis of the ellipse with the same moments", 0 },
    [CCL_MEASURE_ECCENTRICITY] = { "eccentricity", "", "Eccentricity of the ellipse, 0 (circle) to 1 (line)", 0 },
    [CCL_MEASURE_EQUIVALENT_DIAMETER] = { "equivalent-diameter", "pixels", "Diameter of the circle with the same area", 0 },
    [CCL_MEASURE_EXTENT] = { "extent", "", "Fraction of the box that the blob covers", 0 },
    [CCL_MEASURE_EULER_NUMBER] = { "euler-number", "", "Euler number, 1 - n-holes", CCL_FEATURE_SHAPE },
    [CCL_MEASURE_N_HOLES] = { "n-holes", "", "Number of holes", CCL_FEATURE_SHAPE },
    [CCL_MEASURE_PERIMETER_CRACK] = { "perimeter-crack", "pixels", "Length of the edges around pixels", CCL_FEATURE_SHAPE },
    [CCL_MEASURE_PERIMETER_CROFTON] = { "perimeter-crofton", "pixels", "Perimeter by Crofton's formula", CCL_FEATURE_SHAPE },
    [CCL_MEASURE_CIRCULARITY] = { "circularity", "", "Circularity, 4 pi area / perimeter-crofton squared, at most 1",
                                  CCL_FEATURE_SHAPE },
    [CCL_MEASURE_COMPACTNESS] = { "compactness", "", "Compactness, perimeter-crofton squared / (4 pi area)", CCL_FEATURE_SHAPE },
    [CCL_MEASURE_AREA_CONVEX] = { "area-convex", "pixels squared", "Area of the convex hull", CCL_FEATURE_HULL },
    [CCL_MEASURE_SOLIDITY] = { "solidity", "", "Fraction of the convex hull that the blob covers", CCL_FEATURE_HULL },
    [CCL_MEASURE_PERIMETER_CONVEX] = { "perimeter-convex", "pixels", "Perimeter of the convex hull", CCL_FEATURE_HULL },
    [CCL_MEASURE_CONVEXITY] = { "convexity", "", "Convexity, perimeter-convex over perimeter-crack",
                                CCL_FEATURE_SHAPE | CCL_FEATURE_HULL },
    [CCL_MEASURE_FERET_DIAMETER_MAX] = { "feret-diameter-max", "pixels", "Largest distance of two corners", CCL_FEATURE_HULL },
    [CCL_MEASURE_MIN_FERET] = { "min-feret", "pixels", "Smallest distance of two parallel lines around the blob",
                                CCL_FEATURE_HULL },
    [CCL_MEASURE_RECT_X] = { "rect-x", "pixels", "Centre of the smallest rectangle, from the left", CCL_FEATURE_HULL },
    [CCL_MEASURE_RECT_Y] = { "rect-y", "pixels", "Centre of the smallest rectangle, from the top", CCL_FEATURE_HULL },
    [CCL_MEASURE_RECT_LENGTH] = { "rect-length", "pixels", "Longer side of the smallest rectangle", CCL_FEATURE_HULL },
    [CCL_MEASURE_RECT_WIDTH] = { "rect-width", "pixels", "Shorter side of the smallest rectangle", CCL_FEATURE_HULL },
    [CCL_MEASURE_RECT_ANGLE] = { "rect-angle", "radians", "Angle from the x axis to the longer side", CCL_FEATURE_HULL },
    [CCL_MEASURE_EQUIVALENT_RECT_LENGTH] = { "equivalent-rect-length", "pixels",
                                             "Longer side of the rectangle with the same moments", 0 },
    [CCL_MEASURE_EQUIVALENT_RECT_WIDTH] = { "equivalent-rect-width", "pixels",
                                            "Shorter side of the rectangle with the same moments", 0 },
    [CCL_MEASURE_CLASS_ID] = { "class-id", "", "Value of the pixels, with foreground=equal", 0 },
    [CCL_MEASURE_AREA_FILLED] = { "area-filled", "pixels", "Area with holes and the islands in them", CCL_FEATURE_HOLES },
    [CCL_MEASURE_INTENSITY_MIN] = { "intensity-min", "", "Smallest luma", CCL_FEATURE_INTENSITY },
    [CCL_MEASURE_INTENSITY_MAX] = { "intensity-max", "", "Largest luma", CCL_FEATURE_INTENSITY },
    [CCL_MEASURE_INTENSITY_SUM] = { "intensity-sum", "", "Sum of the luma", CCL_FEATURE_INTENSITY },
    [CCL_MEASURE_INTENSITY_MEAN] = { "intensity-mean", "", "Mean of the luma", CCL_FEATURE_INTENSITY },
    [CCL_MEASURE_INTENSITY_STD] = { "intensity-std", "", "Standard deviation of the luma", CCL_FEATURE_INTENSITY },
    [CCL_MEASURE_CENTROID_WEIGHTED_X] = { "centroid-weighted-x", "pixels", "Centre of the luma, from the left",
                                          CCL_FEATURE_INTENSITY },
    [CCL_MEASURE_CENTROID_WEIGHTED_Y] = { "centroid-weighted-y", "pixels", "Centre of the luma, from the top",
                                          CCL_FEATURE_INTENSITY },
    [CCL_MEASURE_COV_WEIGHTED_XX] = { "cov-weighted-xx", "pixels squared", "Variance of the luma in x", CCL_FEATURE_INTENSITY },
    [CCL_MEASURE_COV_WEIGHTED_XY] = { "cov-weighted-xy", "pixels squared", "Covariance of the luma in x and y",
                                      CCL_FEATURE_INTENSITY },
    [CCL_MEASURE_COV_WEIGHTED_YY] = { "cov-weighted-yy", "pixels squared", "Variance of the luma in y", CCL_FEATURE_INTENSITY },
    [CCL_MEASURE_CB_MEAN] = { "cb-mean", "", "Mean of the blue difference", CCL_FEATURE_INTENSITY },
    [CCL_MEASURE_CR_MEAN] = { "cr-mean", "", "Mean of the red difference", CCL_FEATURE_INTENSITY },
    [CCL_MEASURE_TOUCHES_BORDER] = { "touches-border", "", "Touches any border of the mask", 0 },
    [CCL_MEASURE_TOUCHES_LEFT] = { "touches-left", "", "Touches the left border", 0 },
    [CCL_MEASURE_TOUCHES_TOP] = { "touches-top", "", "Touches the upper border", 0 },
    [CCL_MEASURE_TOUCHES_RIGHT] = { "touches-right", "", "Touches the right border", 0 },
    [CCL_MEASURE_TOUCHES_BOTTOM] = { "touches-bottom", "", "Touches the lower border", 0 },
};

const CclMeasureInfo *ccl_measure_info(CclMeasure measure)
{
    return &infos[measure];
}

static bool is_name(const char *known, const char *name, size_t length)
{
    if (strlen(known) != length)
        return false;
    for (size_t i = 0; i < length; i++)
        if ((name[i] == '_' ? '-' : name[i]) != known[i])
            return false;
    return true;
}

CclMeasure ccl_measure_named(const char *name, size_t length)
{
    unsigned measure = 0;
    while (measure < CCL_N_MEASURES && !is_name(infos[measure].name, name, length))
        measure++;
    return (CclMeasure)measure;
}

/* ---------------------------------------------------------------- numbers */

static double number_of_box(const CclComponent *component, CclMeasure measure)
{
    switch (measure) {
    case CCL_MEASURE_AREA:
        return (double)component->moments.area;
    case CCL_MEASURE_X:
        return component->x0;
    case CCL_MEASURE_Y:
        return component->y0;
    case CCL_MEASURE_WIDTH:
        return component->x1 - component->x0;
    case CCL_MEASURE_HEIGHT:
        return component->y1 - component->y0;
    default: /* CCL_MEASURE_EXTENT */
        return ccl_extent(component);
    }
}

__extension__ typedef __int128 Wide;

/* Which axes a component has, from its exact covariance times area squared. Pixels that are connected and lie on a line lie in
 * a row, a column or a diagonal. */
typedef struct Axes {
    bool major, minor, longer;
} Axes;

static Axes axes_of(const CclMoments *m)
{
    const Wide xx = (Wide)m->area * m->m20 - (Wide)m->m10 * m->m10, yy = (Wide)m->area * m->m02 - (Wide)m->m01 * m->m01;
    const Wide xy = (Wide)m->area * m->m11 - (Wide)m->m10 * m->m01;
    const bool is_line = !xx || !yy || (xx == yy && (xy == xx || xy == -xx));
    return (Axes){ .major = m->area > 1, .minor = !is_line, .longer = xx != yy || xy };
}

static double number_of_equivalent_rect(const CclShape *shape, bool width)
{
    double sides[2];
    ccl_equivalent_rect(shape, &sides[0], &sides[1]);
    return sides[width];
}

static double number_of_moments(const CclMoments *moments, const CclShape *shape, CclMeasure measure)
{
    switch (measure) {
    case CCL_MEASURE_CENTROID_X:
        return shape->x;
    case CCL_MEASURE_CENTROID_Y:
        return shape->y;
    case CCL_MEASURE_COV_XX:
        return shape->xx;
    case CCL_MEASURE_COV_XY:
        return shape->xy;
    case CCL_MEASURE_COV_YY:
        return shape->yy;
    case CCL_MEASURE_ORIENTATION:
        return axes_of(moments).longer ? shape->orientation : NAN;
    case CCL_MEASURE_AXIS_MAJOR_LENGTH:
        return axes_of(moments).major ? shape->axis_major_length : NAN;
    case CCL_MEASURE_AXIS_MINOR_LENGTH:
        return axes_of(moments).minor ? shape->axis_minor_length : NAN;
    case CCL_MEASURE_ECCENTRICITY:
        return axes_of(moments).major ? shape->eccentricity : NAN;
    case CCL_MEASURE_EQUIVALENT_DIAMETER:
        return shape->equivalent_diameter;
    default:
        return number_of_equivalent_rect(shape, measure == CCL_MEASURE_EQUIVALENT_RECT_WIDTH);
    }
}

static double number_of_counts(const CclShapeMeasures *measures, CclMeasure measure)
{
    switch (measure) {
    case CCL_MEASURE_EULER_NUMBER:
        return measures->euler_number;
    case CCL_MEASURE_N_HOLES:
        return measures->n_holes;
    case CCL_MEASURE_PERIMETER_CRACK:
        return measures->perimeter_crack;
    case CCL_MEASURE_PERIMETER_CROFTON:
        return measures->perimeter_crofton;
    case CCL_MEASURE_CIRCULARITY:
        return measures->circularity;
    default: /* CCL_MEASURE_COMPACTNESS */
        return measures->compactness;
    }
}

static double number_of_hull(const CclHullMeasures *hull, CclMeasure measure)
{
    switch (measure) {
    case CCL_MEASURE_AREA_CONVEX:
        return hull->area_convex;
    case CCL_MEASURE_SOLIDITY:
        return hull->solidity;
    case CCL_MEASURE_PERIMETER_CONVEX:
        return hull->perimeter_convex;
    case CCL_MEASURE_FERET_DIAMETER_MAX:
        return hull->feret_diameter_max;
    case CCL_MEASURE_MIN_FERET:
        return hull->min_feret;
    case CCL_MEASURE_RECT_X:
        return hull->rect_x;
    case CCL_MEASURE_RECT_Y:
        return hull->rect_y;
    case CCL_MEASURE_RECT_LENGTH:
        return hull->rect_length;
    case CCL_MEASURE_RECT_WIDTH:
        return hull->rect_width;
    default: /* CCL_MEASURE_RECT_ANGLE */
        return hull->rect_angle;
    }
}

static double number_of_intensity(const CclIntensityMeasures *intensity, CclMeasure measure)
{
    switch (measure) {
    case CCL_MEASURE_INTENSITY_MIN:
        return intensity->min;
    case CCL_MEASURE_INTENSITY_MAX:
        return intensity->max;
    case CCL_MEASURE_INTENSITY_SUM:
        return intensity->sum;
    case CCL_MEASURE_INTENSITY_MEAN:
        return intensity->mean;
    case CCL_MEASURE_INTENSITY_STD:
        return intensity->std;
    case CCL_MEASURE_CENTROID_WEIGHTED_X:
        return intensity->x;
    case CCL_MEASURE_CENTROID_WEIGHTED_Y:
        return intensity->y;
    case CCL_MEASURE_COV_WEIGHTED_XX:
        return intensity->xx;
    case CCL_MEASURE_COV_WEIGHTED_XY:
        return intensity->xy;
    case CCL_MEASURE_COV_WEIGHTED_YY:
        return intensity->yy;
    case CCL_MEASURE_CB_MEAN:
        return intensity->cb;
    default: /* CCL_MEASURE_CR_MEAN */
        return intensity->cr;
    }
}

static const CclShapeMeasures *measures_of(CclMeasuring *measuring)
{
    if (!measuring->has_measures)
        ccl_shape_measures(measuring->counts, measuring->component->moments.area, &measuring->measures);
    measuring->has_measures = true;
    return &measuring->measures;
}

static const CclHullMeasures *hull_of(CclMeasuring *measuring)
{
    if (!measuring->has_hull)
        ccl_hull_measures(measuring->hull_counts, measuring->component->moments.area, &measuring->hull);
    measuring->has_hull = true;
    return &measuring->hull;
}

static const CclIntensityMeasures *intensity_of(CclMeasuring *measuring)
{
    if (!measuring->has_intensity)
        ccl_intensity_measures(measuring->intensity_counts, measuring->component->moments.area, &measuring->intensity);
    measuring->has_intensity = true;
    return &measuring->intensity;
}

static const CclShape *shape_of(CclMeasuring *measuring)
{
    if (!measuring->has_shape)
        ccl_shape_from_moments(&measuring->component->moments, &measuring->shape);
    measuring->has_shape = true;
    return &measuring->shape;
}

double ccl_measure_number(CclMeasuring *measuring, CclMeasure measure)
{
    const CclComponent *const component = measuring->component;
    if (measure == CCL_MEASURE_CONVEXITY)
        return hull_of(measuring)->perimeter_convex / measures_of(measuring)->perimeter_crack;
    if (measure == CCL_MEASURE_AREA_FILLED)
        return (double)measuring->hole_counts->area_filled;
    if (infos[measure].feature == CCL_FEATURE_INTENSITY)
        return number_of_intensity(intensity_of(measuring), measure);
    if (infos[measure].feature == CCL_FEATURE_HULL)
        return number_of_hull(hull_of(measuring), measure);
    if (infos[measure].feature)
        return number_of_counts(measures_of(measuring), measure);
    if (measure == CCL_MEASURE_CLASS_ID)
        return measuring->class_id ? *measuring->class_id : NAN;
    if (measure <= CCL_MEASURE_HEIGHT || measure == CCL_MEASURE_EXTENT)
        return number_of_box(component, measure);
    return number_of_moments(&component->moments, shape_of(measuring), measure);
}

/* ---------------------------------------------------------------- true or false */

#define BIT_OF(measure) (1u << ((measure)-CCL_MEASURE_TOUCHES_LEFT))
_Static_assert(BIT_OF(CCL_MEASURE_TOUCHES_LEFT) == CCL_TOUCHES_LEFT && BIT_OF(CCL_MEASURE_TOUCHES_TOP) == CCL_TOUCHES_TOP &&
                   BIT_OF(CCL_MEASURE_TOUCHES_RIGHT) == CCL_TOUCHES_RIGHT &&
                   BIT_OF(CCL_MEASURE_TOUCHES_BOTTOM) == CCL_TOUCHES_BOTTOM,
               "the measures are in the order of the bits");

bool ccl_measure_flag(const CclMeasuring *measuring, CclMeasure measure)
{
    const CclComponent *const c = measuring->component;
    const unsigned touches = ccl_border_flags(c->x0, c->y0, c->x1, c->y1, measuring->width, measuring->height);
    return measure == CCL_MEASURE_TOUCHES_BORDER ? touches : touches & BIT_OF(measure);
}
