/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Filter expressions: text, parsed once into steps, which then decide on each component.
 *
 *     area >= 50 and circularity > 0.6 and not touches-border or area > 5000
 *
 *     measure OP number, number OP measure, measure OP measure     OP: < <= > >= == !=
 *     touches-border                                               a measure that is true or false
 *     true, false, not, and, or, ( )                               `not` binds first, then `and`, then `or`
 *
 * Names of measures are those of measures.h. A comparison with an undefined value is false, whatever OP is. The expression
 * above becomes these steps; each comparison pushes its result, the others take theirs from the stack:
 *
 *     area >= 50,  circularity > 0.6,  and,  touches-border,  not,  and,  area > 5000,  or
 */
#ifndef CCL_ANALYSIS_SELECTION_H
#define CCL_ANALYSIS_SELECTION_H

#include "measures.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Maximum number of bytes of an expression, of its steps, and of operators and parentheses that are open at the same time. */
#define CCL_SELECTION_MAX_TEXT  4096u
#define CCL_SELECTION_MAX_STEPS 512u
#define CCL_SELECTION_MAX_OPEN  60u

typedef enum CclSelectionOp {
    CCL_SELECT_LESS,
    CCL_SELECT_LESS_EQUAL,
    CCL_SELECT_GREATER,
    CCL_SELECT_GREATER_EQUAL,
    CCL_SELECT_EQUAL,
    CCL_SELECT_NOT_EQUAL,
    CCL_SELECT_FLAG, /* pushes a measure that is true or false */
    CCL_SELECT_TRUE,
    CCL_SELECT_FALSE,
    CCL_SELECT_NOT,
    CCL_SELECT_AND,
    CCL_SELECT_OR,
} CclSelectionOp;

typedef struct CclSelectionStep {
    uint8_t op;
    uint8_t left;  /* CclMeasure */
    uint8_t right; /* CclMeasure, or CCL_N_MEASURES for `number` */
    double number;
} CclSelectionStep;

/* Can be copied. */
typedef struct CclSelection {
    uint32_t n_steps;  /* 0: the text was blank, every component passes */
    uint64_t measures; /* one bit for each CclMeasure that it reads */
    unsigned features; /* CCL_FEATURE_... that it needs */
    CclSelectionStep steps[CCL_SELECTION_MAX_STEPS];
    const uint16_t *classes; /* class-id of each value of a label map; NULL: the value. Of the caller */
} CclSelection;

/* Errors: ARGUMENT. The message has the position, in characters from 1. */
CclStatus ccl_selection_parse(const char *text, CclSelection *selection);

bool ccl_selection_keeps(const CclSelection *selection, CclMeasuring *measuring);

#ifdef __cplusplus
}
#endif

#endif
