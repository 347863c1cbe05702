/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* CclShapeCounts of provisional labels -> those of the components. */
#ifndef CCL_CPU_SHAPE_TABLE_H
#define CCL_CPU_SHAPE_TABLE_H

#include "table.h"

/* The first row of `strip` was counted as if nothing were above it. Takes the last row of the strip above into account. */
void ccl_join_shape(CclStrip *strip, const CclRow *above, bool eight);

/* Adds the counts of a strip's labels to their roots, and settles its corners. After ccl_flatten() of all strips. */
void ccl_merge_shape(const CclStrip *strip);

/* Moves the counts of kept roots to where the table has them, as ccl_table_from_sums() did with the sums. */
void ccl_shape_from_roots(CclShapeCounts *shape, uint32_t capacity, const CclLabelling *labels);

#endif
