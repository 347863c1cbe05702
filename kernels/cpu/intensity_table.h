/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* CclIntensityCounts of provisional labels -> of components. */
#ifndef CCL_CPU_INTENSITY_TABLE_H
#define CCL_CPU_INTENSITY_TABLE_H

#include "table.h"

/* Adds the counts of a strip's labels to those of their roots, after ccl_flatten(). */
void ccl_merge_intensity(const CclStrip *strip);

/* Moves the counts of kept roots to where the table has them, as ccl_table_from_sums() did with the sums. */
void ccl_intensity_from_roots(CclIntensityCounts *intensity, uint32_t capacity, const CclLabelling *labels);

#endif
