/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Random filter expressions: as text for the parser, and as a tree that judges components without it. */
#ifndef CHECKCCL_EXPRESSION_H
#define CHECKCCL_EXPRESSION_H

#include "analysis/selection.h"
#include "image.h"

typedef enum NodeKind { NODE_COMPARE, NODE_FLAG, NODE_CONSTANT, NODE_NOT, NODE_AND, NODE_OR } NodeKind;

typedef struct Node {
    NodeKind kind;
    unsigned op;            /* NODE_COMPARE: 0 to 5, as in the text: < <= > >= == != */
    CclMeasure left, right; /* right CCL_N_MEASURES: `number` */
    double number;
    bool value;    /* NODE_CONSTANT */
    unsigned a, b; /* the operands */
} Node;

typedef struct Expression {
    Node nodes[64]; /* the last is the root */
    unsigned n;
    unsigned features; /* the groups that its measures may be of */
    char text[CCL_SELECTION_MAX_TEXT + 1];
} Expression;

void expression_make(Expression *expression, unsigned features, Random *random);

/* Of one component; NULL: without the feature. */
typedef struct Counts {
    const CclShapeCounts *shape;
    const CclHullCounts *hull;
    const CclHoleCounts *holes;
    const CclIntensityCounts *intensity;
} Counts;

bool expression_passes(const Expression *expression, const CclComponent *component, const Counts *counts, uint32_t width,
                       uint32_t height);

/* A second version of ccl_measure_number(). */
double expected_number(CclMeasure measure, const CclComponent *component, const Counts *counts);

#endif
