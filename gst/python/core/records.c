/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tables and contours as bytes for numpy.frombuffer(). */
#include "core.h"

#include "kernels/analysis/contour.h"

#include <assert.h>
#include <string.h>

_Static_assert(sizeof(CclComponent) == 64, "RECORD of gstccl/_records.py names the members");
_Static_assert(sizeof(CclHole) == 24, "HOLE of gstccl/_records.py names the members");

static double *put(double *to, const double *values, size_t n)
{
    memcpy(to, values, n * sizeof *values);
    return to + n;
}

/* One sum for the centroid alone, which is what most callers want. */
static void centroid(const CclMoments *m, CclShape *shape)
{
    shape->x = (double)m->m10 / (double)m->area;
    shape->y = (double)m->m01 / (double)m->area;
}

/* Integers and doubles have 8 bytes each. */
static double *put_shape(double *to, const CclTable *table, const CclComponent *component)
{
    CclShapeMeasures measures;
    ccl_shape_measures(&table->shape[component->label - 1], component->moments.area, &measures);
    const int64_t integers[] = { measures.euler_number, measures.n_holes, measures.perimeter_crack };
    memcpy(to, integers, sizeof integers);
    return put(to + 3, (double[]){ measures.perimeter_crofton, measures.circularity, measures.compactness }, 3);
}

static double *put_hull(double *to, const CclTable *table, const CclComponent *component)
{
    CclHullMeasures m;
    ccl_hull_measures(&table->hull[component->label - 1], component->moments.area, &m);
    return put(to,
               (double[]){ m.area_convex, m.solidity, m.perimeter_convex, m.feret_diameter_max, m.min_feret, m.rect_x, m.rect_y,
                           m.rect_length, m.rect_width, m.rect_angle },
               10);
}

static double *put_intensity(double *to, const CclTable *table, const CclComponent *component)
{
    const CclIntensityCounts *const counts = &table->intensity[component->label - 1];
    CclIntensityMeasures m;
    ccl_intensity_measures(counts, component->moments.area, &m);
    const int64_t integers[] = { counts->min, counts->max, (int64_t)counts->sum };
    memcpy(to, integers, sizeof integers);
    return put(to + 3, (double[]){ m.mean, m.std, m.x, m.y, m.xx, m.xy, m.yy }, 7);
}

static double convexity(const CclTable *table, const CclComponent *component)
{
    CclShapeMeasures shape;
    CclHullMeasures hull;
    ccl_shape_measures(&table->shape[component->label - 1], component->moments.area, &shape);
    ccl_hull_measures(&table->hull[component->label - 1], component->moments.area, &hull);
    return hull.perimeter_convex / shape.perimeter_crack;
}

/* Of the groups that take time in the core. */
static double *put_groups(double *to, const CclTable *table, const CclComponent *component, unsigned columns)
{
    if (columns & COLUMN_SHAPE)
        to = put_shape(to, table, component);
    if (columns & COLUMN_HULL)
        to = put_hull(to, table, component);
    if (columns & COLUMN_HOLES) {
        const int64_t filled = (int64_t)table->holes[component->label - 1].area_filled;
        memcpy(to++, &filled, sizeof filled);
    }
    if (columns & COLUMN_INTENSITY)
        to = put_intensity(to, table, component);
    if (columns & COLUMN_CONVEXITY)
        *to++ = convexity(table, component);
    if (columns & COLUMN_CLASS_ID) {
        const int64_t class_id = table->class_ids[component->label - 1];
        memcpy(to++, &class_id, sizeof class_id);
    }
    return to;
}

static double *put_columns(double *to, const CclTable *table, const CclComponent *component, unsigned columns)
{
    CclShape shape;
    if (columns & ~(unsigned)(COLUMN_CENTROID | COLUMN_EXTENT | COLUMN_SHAPE | COLUMN_HULL | COLUMN_HOLES | COLUMN_INTENSITY |
                              COLUMN_CONVEXITY | COLUMN_CLASS_ID))
        ccl_shape_from_moments(&component->moments, &shape);
    else
        centroid(&component->moments, &shape);
    if (columns & COLUMN_CENTROID)
        to = put(to, &shape.x, 2);
    if (columns & COLUMN_COVARIANCE)
        to = put(to, &shape.xx, 3);
    if (columns & COLUMN_AXES)
        to = put(to, &shape.axis_major_length, 2);
    if (columns & COLUMN_ORIENTATION)
        to = put(to, &shape.orientation, 1);
    if (columns & COLUMN_ECCENTRICITY)
        to = put(to, &shape.eccentricity, 1);
    if (columns & COLUMN_DIAMETER)
        to = put(to, &shape.equivalent_diameter, 1);
    if (columns & COLUMN_EXTENT)
        *to++ = ccl_extent(component);
    if (columns & COLUMN_EQUIVALENT_RECT) {
        ccl_equivalent_rect(&shape, &to[0], &to[1]);
        to += 2;
    }
    return put_groups(to, table, component, columns);
}

static const struct {
    const char *name; /* FEATURES and GROUPS of gstccl/_records.py name the same */
    unsigned bit;
    unsigned char n; /* doubles */
} all_columns[] = {
    { "centroid", COLUMN_CENTROID, 2 },
    { "covariance", COLUMN_COVARIANCE, 3 },
    { "axes", COLUMN_AXES, 2 },
    { "orientation", COLUMN_ORIENTATION, 1 },
    { "eccentricity", COLUMN_ECCENTRICITY, 1 },
    { "diameter", COLUMN_DIAMETER, 1 },
    { "extent", COLUMN_EXTENT, 1 },
    { "equivalent_rect", COLUMN_EQUIVALENT_RECT, 2 },
    { "shape", COLUMN_SHAPE, 6 },
    { "hull", COLUMN_HULL, 10 },
    { "holes", COLUMN_HOLES, 1 },
    { "intensity", COLUMN_INTENSITY, 10 },
    { "convexity", COLUMN_CONVEXITY, 1 },
    { "class_id", COLUMN_CLASS_ID, 1 },
};
#define N_COLUMNS (sizeof all_columns / sizeof *all_columns)
_Static_assert(1u << N_COLUMNS == COLUMN_CLASS_ID << 1, "each column has a row");

static size_t n_doubles(unsigned columns)
{
    size_t sum = 0;
    for (unsigned i = 0; i < N_COLUMNS; i++)
        sum += columns & all_columns[i].bit ? all_columns[i].n : 0;
    return sum;
}

bool add_bit(PyObject *dict, const char *name, unsigned bit)
{
    PyObject *number = PyLong_FromUnsignedLong(bit);
    const bool added = number && PyDict_SetItemString(dict, name, number) == 0;
    Py_XDECREF(number);
    return added;
}

PyObject *column_bits(void)
{
    PyObject *dict = PyDict_New();
    for (unsigned i = 0; dict && i < N_COLUMNS; i++)
        if (!add_bit(dict, all_columns[i].name, all_columns[i].bit))
            Py_CLEAR(dict);
    return dict;
}

/* What most callers ask for: no sum reaches 2^63, and signed integers convert faster. */
static void put_centroids(char *to, const CclTable *table)
{
    for (size_t i = 0; i < table->n_components; i++) {
        const CclComponent *const component = &table->components[i];
        const double area = (double)(int64_t)component->moments.area;
        const double centre[2] = { (double)(int64_t)component->moments.m10 / area,
                                   (double)(int64_t)component->moments.m01 / area };
        memcpy(to, component, sizeof *component);
        memcpy(to + sizeof *component, centre, sizeof centre);
        to += sizeof *component + sizeof centre;
    }
}

PyObject *records_of_table(const CclTable *table, unsigned columns)
{
    const size_t n = table->n_components, size = sizeof(CclComponent) + n_doubles(columns) * sizeof(double);
    PyObject *bytes = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(n * size));
    if (!bytes)
        return NULL;
    char *to = PyByteArray_AsString(bytes);
    if (!columns) {
        if (n)
            memcpy(to, table->components, n * size);
        return bytes;
    }
    if (columns == COLUMN_CENTROID) {
        put_centroids(to, table);
        return bytes;
    }
    for (size_t i = 0; i < n; i++, to += size) {
        memcpy(to, &table->components[i], sizeof(CclComponent));
        const double *end = put_columns((double *)(void *)(to + sizeof(CclComponent)), table, &table->components[i], columns);
        assert((const char *)end == to + size);
        (void)end;
    }
    return bytes;
}

PyObject *holes_of_table(const CclTable *table)
{
    size_t n = 0;
    for (uint32_t i = 0; i < table->n_components; i++)
        n += table->holes[table->components[i].label - 1].n_holes;
    PyObject *bytes = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(n * sizeof(CclHole)));
    char *to = bytes ? PyByteArray_AsString(bytes) : NULL;
    for (uint32_t i = 0; to && i < table->n_components; i++) {
        const CclHoleCounts *counts = &table->holes[table->components[i].label - 1];
        const size_t size = counts->n_holes * sizeof(CclHole);
        if (size)
            memcpy(to, &table->hole_rows[counts->first], size);
        to += size;
    }
    return bytes;
}

PyObject *contours_of_table(const CclTable *table, const CclMask *mask, const CclConfig *of_context, double epsilon)
{
    const CclContourConfig config = {
        .connectivity = of_context->connectivity,
        .epsilon = epsilon,
        .max_points = CCL_CONTOUR_MAX_POINTS,
        .is_map = of_context->foreground == CCL_FOREGROUND_EQUAL,
    };
    CclContours *contours = ccl_contours_new();
    PyObject *list = contours ? PyList_New(table->n_components) : PyErr_NoMemory();
    for (uint32_t i = 0; list && i < table->n_components; i++) {
        uint32_t n_points;
        ccl_contours_clear(contours);
        const CclStatus status = ccl_contours_add(contours, mask, &table->components[i], &config, &n_points);
        PyObject *points = NULL;
        if (status == CCL_OK) {
            size_t n;
            const char *bytes = (const char *)ccl_contours_points(contours, &n);
            points = PyByteArray_FromStringAndSize(bytes, (Py_ssize_t)(n * sizeof(CclPoint)));
        } else {
            raise_status(status);
        }
        if (!points || PyList_SetItem(list, i, points) < 0)
            Py_CLEAR(list);
    }
    ccl_contours_free(contours);
    return list;
}
