/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Runs of the stored rows of a label map -> holes. Each component is taken alone: everything else is background to it, so two
 * components can have the same pixels in their holes.
 *
 *     a a a a a     a has one hole of 9 pixels, of which 1 has the value of the background. b has one hole of 1 pixel.
 *     a b b b a
 *     a b . b a
 *     a b b b a
 *     a a a a a
 *
 * A gap is what lies between two neighbouring runs of one component in a row. Gaps that touch those of the next row are united,
 * with the other connectivity than runs. Gaps that touch the outside, left or right of the component's runs, are none of a hole.
 * Every row of a component's box has runs of it, so the work is linear in the number of runs.
 */
#ifndef CCL_CPU_MAP_HOLES_H
#define CCL_CPU_MAP_HOLES_H

#include "table.h"

typedef struct CclMapHoles CclMapHoles;

/* n_runs: capacity of the arrays of stored runs; n_labels: capacity of the arrays of labels. */
CclStatus ccl_map_holes_open(CclContext *context, size_t n_runs, size_t n_labels, CclMapHoles **holes);

/* Finds the holes, after ccl_flatten() of all strips. frame->holes gets the counts of each root, by its label, and
 * frame->hole_rows their rows, in the order of roots. eight: of the runs. */
void ccl_map_holes_find(CclMapHoles *holes, CclFrame *frame, const CclLabelling *labels, const CclStrip *strips,
                        unsigned n_strips, bool eight);

/* Moves the counts of kept roots to where the table has them, and the rows of their holes. After ccl_table_from_sums(). */
void ccl_map_holes_from_roots(CclFrame *frame, uint32_t capacity, const CclLabelling *labels);

#endif
