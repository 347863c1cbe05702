/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Runs of stored rows -> holes. A gap is the background between two neighbouring runs of a row. Gaps that touch those of the next
 * row are united, with the other connectivity than runs. Gaps at the border of the mask are the outside.
 *
 *     # # # # #     the gaps of the ring are one hole: its first is right of a run of the ring, its parent.
 *     # . . . #     The single pixel is an island: left of its first pixel is a gap of the hole.
 *     # . # . #
 *     # . . . #
 *     # # # # #
 */
#ifndef CCL_CPU_HOLE_TABLE_H
#define CCL_CPU_HOLE_TABLE_H

#include "table.h"

typedef struct CclHoles CclHoles;

/* n_runs: capacity of the arrays of stored runs; stored_labels: their labels; n_labels: capacity of the arrays of labels. */
CclStatus ccl_holes_open(CclContext *context, size_t n_runs, size_t n_labels, CclHoles **holes);

/* Lets ccl_tier label the gaps of a strip. first_run: the number of its first stored run. */
void ccl_holes_begin(CclHoles *holes, CclStrip *strip, uint32_t first_run);

/* Finds the holes, after ccl_flatten() of all strips. stored_labels: of all strips. frame->holes gets the counts of each root, by
 * its label. eight: of the runs. */
void ccl_holes_find(CclHoles *holes, const CclFrame *frame, const CclLabelling *labels, CclStrip *strips, unsigned n_strips,
                    bool eight);

/* Moves the counts of kept roots to where the table has them, and writes the rows of their holes. After ccl_table_from_sums(). */
void ccl_holes_from_roots(const CclHoles *holes, CclFrame *frame, uint32_t capacity, const CclLabelling *labels);

#endif
