/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "expression.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- values */

/* Whether all pixels, which are connected, lie on a line: in a row, in a column, or on a diagonal, which has as many pixels as
 * rows and columns. */
static bool is_line(const CclComponent *c)
{
    const uint64_t width = c->x1 - c->x0, height = c->y1 - c->y0, area = c->moments.area;
    if (width == 1 || height == 1)
        return true;
    if (width != height || area != width)
        return false;
    /* One pixel in each row: a diagonal if x - y or x + y does not vary. */
    const double n = (double)area, x = (double)c->moments.m10 / n, y = (double)c->moments.m01 / n;
    const double xx = (double)c->moments.m20 / n - x * x, yy = (double)c->moments.m02 / n - y * y;
    const double xy = (double)c->moments.m11 / n - x * y;
    return fabs(xx + yy - 2 * fabs(xy)) < 1e-6;
}

/* Compares xx with yy, and xy with 0, times area squared: small images fit 64 bits. */
static bool has_longer_axis(const CclMoments *m)
{
    return m->area * m->m20 - m->m10 * m->m10 != m->area * m->m02 - m->m01 * m->m01 || m->area * m->m11 != m->m10 * m->m01;
}

static double expected_shape(CclMeasure measure, const CclComponent *c)
{
    CclShape shape;
    double length, width;
    ccl_shape_from_moments(&c->moments, &shape);
    ccl_equivalent_rect(&shape, &length, &width);
    const double values[] = {
        [CCL_MEASURE_CENTROID_X] = shape.x,
        [CCL_MEASURE_CENTROID_Y] = shape.y,
        [CCL_MEASURE_COV_XX] = shape.xx,
        [CCL_MEASURE_COV_XY] = shape.xy,
        [CCL_MEASURE_COV_YY] = shape.yy,
        [CCL_MEASURE_ORIENTATION] = has_longer_axis(&c->moments) ? shape.orientation : NAN,
        [CCL_MEASURE_AXIS_MAJOR_LENGTH] = c->moments.area > 1 ? shape.axis_major_length : NAN,
        [CCL_MEASURE_AXIS_MINOR_LENGTH] = is_line(c) ? NAN : shape.axis_minor_length,
        [CCL_MEASURE_ECCENTRICITY] = c->moments.area > 1 ? shape.eccentricity : NAN,
        [CCL_MEASURE_EQUIVALENT_DIAMETER] = shape.equivalent_diameter,
        [CCL_MEASURE_EQUIVALENT_RECT_LENGTH] = length,
        [CCL_MEASURE_EQUIVALENT_RECT_WIDTH] = width,
    };
    return values[measure];
}

static double expected_counts(CclMeasure measure, const CclComponent *c, const CclShapeCounts *counts)
{
    CclShapeMeasures m;
    ccl_shape_measures(counts, c->moments.area, &m);
    const double values[] = {
        [CCL_MEASURE_EULER_NUMBER] = m.euler_number,       [CCL_MEASURE_N_HOLES] = m.n_holes,
        [CCL_MEASURE_PERIMETER_CRACK] = m.perimeter_crack, [CCL_MEASURE_PERIMETER_CROFTON] = m.perimeter_crofton,
        [CCL_MEASURE_CIRCULARITY] = m.circularity,         [CCL_MEASURE_COMPACTNESS] = m.compactness,
    };
    return values[measure];
}

static double expected_hull(CclMeasure measure, const CclComponent *c, const Counts *counts)
{
    CclHullMeasures m;
    ccl_hull_measures(counts->hull, c->moments.area, &m);
    const double values[] = {
        [CCL_MEASURE_AREA_CONVEX] = m.area_convex,
        [CCL_MEASURE_SOLIDITY] = m.solidity,
        [CCL_MEASURE_PERIMETER_CONVEX] = m.perimeter_convex,
        [CCL_MEASURE_FERET_DIAMETER_MAX] = m.feret_diameter_max,
        [CCL_MEASURE_MIN_FERET] = m.min_feret,
        [CCL_MEASURE_RECT_X] = m.rect_x,
        [CCL_MEASURE_RECT_Y] = m.rect_y,
        [CCL_MEASURE_RECT_LENGTH] = m.rect_length,
        [CCL_MEASURE_RECT_WIDTH] = m.rect_width,
        [CCL_MEASURE_RECT_ANGLE] = m.rect_angle,
    };
    if (measure == CCL_MEASURE_CONVEXITY)
        return m.perimeter_convex / (2 * (counts->shape->runs + counts->shape->tops));
    return values[measure];
}

/* Integers up to 2^53, as small pictures have. */
static double expected_intensity(CclMeasure measure, const CclComponent *c, const CclIntensityCounts *counts)
{
    CclIntensityMeasures m;
    ccl_intensity_measures(counts, c->moments.area, &m);
    const double values[] = {
        [CCL_MEASURE_INTENSITY_MIN] = counts->min,
        [CCL_MEASURE_INTENSITY_MAX] = counts->max,
        [CCL_MEASURE_INTENSITY_SUM] = (double)counts->sum,
        [CCL_MEASURE_INTENSITY_MEAN] = (double)counts->sum / (double)c->moments.area,
        [CCL_MEASURE_INTENSITY_STD] = m.std,
        [CCL_MEASURE_CENTROID_WEIGHTED_X] = m.x,
        [CCL_MEASURE_CENTROID_WEIGHTED_Y] = m.y,
        [CCL_MEASURE_COV_WEIGHTED_XX] = m.xx,
        [CCL_MEASURE_COV_WEIGHTED_XY] = m.xy,
        [CCL_MEASURE_COV_WEIGHTED_YY] = m.yy,
        [CCL_MEASURE_CB_MEAN] = counts->has_chroma ? m.cb : NAN,
        [CCL_MEASURE_CR_MEAN] = counts->has_chroma ? m.cr : NAN,
    };
    return values[measure];
}

double expected_number(CclMeasure measure, const CclComponent *c, const Counts *counts)
{
    const double width = c->x1 - c->x0, height = c->y1 - c->y0, area = (double)c->moments.area;
    const double of_box[] = { [CCL_MEASURE_AREA] = area,
                              [CCL_MEASURE_X] = c->x0,
                              [CCL_MEASURE_Y] = c->y0,
                              [CCL_MEASURE_WIDTH] = width,
                              [CCL_MEASURE_HEIGHT] = height };
    if (measure <= CCL_MEASURE_HEIGHT)
        return of_box[measure];
    if (measure == CCL_MEASURE_CLASS_ID) /* of no label map */
        return NAN;
    if (measure == CCL_MEASURE_EXTENT)
        return area / (width * height);
    if (measure == CCL_MEASURE_AREA_FILLED)
        return (double)counts->holes->area_filled;
    if (ccl_measure_info(measure)->feature == CCL_FEATURE_INTENSITY)
        return expected_intensity(measure, c, counts->intensity);
    if (ccl_measure_info(measure)->feature & CCL_FEATURE_HULL)
        return expected_hull(measure, c, counts);
    return ccl_measure_info(measure)->feature ? expected_counts(measure, c, counts->shape) : expected_shape(measure, c);
}

static bool expected_flag(CclMeasure measure, const CclComponent *c, uint32_t width, uint32_t height)
{
    const bool touches[] = { c->x0 == 0, c->y0 == 0, c->x1 == width, c->y1 == height };
    if (measure == CCL_MEASURE_TOUCHES_BORDER)
        return touches[0] || touches[1] || touches[2] || touches[3];
    return touches[measure - CCL_MEASURE_TOUCHES_LEFT];
}

static bool compares(unsigned op, double a, double b)
{
    if (isnan(a) || isnan(b))
        return false;
    const bool results[] = { a<b, a <= b, a> b, a >= b, a == b, a != b };
    return results[op];
}

bool expression_passes(const Expression *e, const CclComponent *c, const Counts *counts, uint32_t width, uint32_t height)
{
    bool values[64];
    for (unsigned i = 0; i < e->n; i++) {
        const Node *const node = &e->nodes[i];
        switch (node->kind) {
        case NODE_COMPARE:
            values[i] = compares(node->op, expected_number(node->left, c, counts),
                                 node->right < CCL_N_MEASURES ? expected_number(node->right, c, counts) : node->number);
            break;
        case NODE_FLAG:
            values[i] = expected_flag(node->left, c, width, height);
            break;
        case NODE_CONSTANT:
            values[i] = node->value;
            break;
        case NODE_NOT:
            values[i] = !values[node->a];
            break;
        case NODE_AND:
            values[i] = values[node->a] && values[node->b];
            break;
        case NODE_OR:
            values[i] = values[node->a] || values[node->b];
            break;
        }
    }
    return values[e->n - 1];
}

/* ---------------------------------------------------------------- random trees */

static CclMeasure random_number(const Expression *e, Random *random)
{
    CclMeasure measure;
    do
        measure = (CclMeasure)random_below(random, CCL_N_NUMBERS);
    while (ccl_measure_info(measure)->feature & ~e->features);
    return measure;
}

static Node random_leaf(const Expression *e, Random *random)
{
    Node node = { .kind = NODE_COMPARE, .op = random_below(random, 6), .right = CCL_N_MEASURES };
    const unsigned which = random_below(random, 10);
    if (which == 0)
        return (Node){ .kind = NODE_CONSTANT, .value = random_below(random, 2) };
    if (which < 3)
        return (Node){ .kind = NODE_FLAG,
                       .left = (CclMeasure)(CCL_N_NUMBERS + random_below(random, CCL_N_MEASURES - CCL_N_NUMBERS)) };
    node.left = random_number(e, random);
    if (which == 3)
        node.right = random_number(e, random);
    else
        node.number = random_below(random, 2) ? random_below(random, 30) : (random_below(random, 64) - 20.0) / 16;
    return node;
}

/* ---------------------------------------------------------------- text */

__attribute__((format(printf, 3, 4))) static void append(Expression *e, Random *random, const char *format, ...)
{
    const size_t n = strlen(e->text);
    va_list args;
    va_start(args, format);
    vsnprintf(e->text + n, sizeof e->text - n, format, args);
    va_end(args);
    if (random_below(random, 5) == 0)
        strncat(e->text, random_below(random, 2) ? "\n" : "  ", sizeof e->text - strlen(e->text) - 1);
}

static void append_measure(Expression *e, CclMeasure measure, Random *random)
{
    char name[40];
    snprintf(name, sizeof name, "%s", ccl_measure_info(measure)->name);
    for (char *p = name; *p; p++)
        if (*p == '-' && random_below(random, 2))
            *p = '_';
    append(e, random, "%s", name);
}

static void write_comparison(Expression *e, const Node *node, Random *random)
{
    static const char *const ops[] = { "<", "<=", ">", ">=", "==", "!=" }, *const turned[] = { ">", ">=", "<", "<=", "==", "!=" };
    if (node->right < CCL_N_MEASURES) {
        append_measure(e, node->left, random);
        append(e, random, "%s", ops[node->op]);
        append_measure(e, node->right, random);
    } else if (random_below(random, 3)) {
        append_measure(e, node->left, random);
        append(e, random, "%s%.17g ", ops[node->op], node->number);
    } else {
        append(e, random, "%+.3e%s", node->number, turned[node->op]);
        append_measure(e, node->left, random);
    }
}

/* Parentheses where the operator around binds more strongly, and sometimes where they change nothing. */
static void write_node(Expression *e, unsigned i, NodeKind around, Random *random)
{
    const Node *const node = &e->nodes[i];
    const bool brackets = (node->kind >= NODE_NOT && around != node->kind && around >= NODE_NOT && node->kind > around) ||
                          random_below(random, 8) == 0;
    if (brackets)
        append(e, random, "(");
    if (node->kind == NODE_COMPARE)
        write_comparison(e, node, random);
    else if (node->kind == NODE_FLAG)
        append_measure(e, node->left, random);
    else if (node->kind == NODE_CONSTANT)
        append(e, random, "%s", node->value ? "true" : "false");
    if (node->kind == NODE_NOT)
        append(e, random, "not ");
    if (node->kind >= NODE_NOT)
        write_node(e, node->a, node->kind, random);
    if (node->kind >= NODE_AND) {
        append(e, random, node->kind == NODE_AND ? " and " : " or ");
        write_node(e, node->b, node->kind, random);
    }
    if (brackets)
        append(e, random, ")");
}

void expression_make(Expression *e, unsigned features, Random *random)
{
    unsigned roots[64], n_roots = 1 + random_below(random, 12);
    e->n = 0;
    e->features = features;
    e->text[0] = '\0';
    for (unsigned i = 0; i < n_roots; i++) {
        roots[i] = e->n;
        e->nodes[e->n++] = random_leaf(e, random);
    }
    /* Any two roots become one, until there is one. */
    while (n_roots > 1 || (e->n < 40 && random_below(random, 3) == 0)) {
        const unsigned i = random_below(random, n_roots), k = random_below(random, n_roots);
        if (i == k || random_below(random, 5) == 0) {
            if (e->n < 40)
                e->nodes[e->n] = (Node){ .kind = NODE_NOT, .a = roots[i] }, roots[i] = e->n++;
            continue;
        }
        e->nodes[e->n] = (Node){ .kind = random_below(random, 2) ? NODE_AND : NODE_OR, .a = roots[i], .b = roots[k] };
        roots[i] = e->n++;
        roots[k] = roots[--n_roots];
    }
    write_node(e, e->n - 1, NODE_COMPARE, random);
}
