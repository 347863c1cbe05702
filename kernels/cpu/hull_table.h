/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Runs of stored rows -> CclHullCounts of components.
 *
 *     . # # .    the extents of this component: [1,3) [0,3) [1,2). Those of all components lie one behind the other: there are
 *     # . # .    no more than runs. Each component's are made into its hull.
 *     . # . .
 */
#ifndef CCL_CPU_HULL_TABLE_H
#define CCL_CPU_HULL_TABLE_H

#include "table.h"

typedef struct CclHulls CclHulls;

/* For at most n_parts parts at a time. */
CclStatus ccl_hulls_open(CclContext *context, unsigned n_parts, CclHulls **hulls);

/* After ccl_flatten() of all strips. labels->final is used until ccl_table_from_sums(). Only the first max_hulls roots get a
 * hull. */
void ccl_hulls_begin(CclHulls *hulls, const CclLabelling *labels, uint32_t max_hulls);

/* Adds a strip's runs. Strips may be added at the same time, because a row of a component is in one strip. */
void ccl_hull_extents(CclHulls *hulls, const CclStrip *strip);

/* Fills frame->hull[k] of the k-th root, if the limits keep it: the roots of one part of n_parts. */
void ccl_hulls_of_part(CclHulls *hulls, const CclFrame *frame, const CclLabelling *labels, unsigned part, unsigned n_parts);

/* Moves the counts of kept roots to where the table has them, as ccl_table_from_sums() did with the sums. */
void ccl_hulls_from_roots(CclHullCounts *hull, uint32_t capacity, const CclLabelling *labels);

#endif
