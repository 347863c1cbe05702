/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CPU_ROW_BITS_H
#define CCL_CPU_ROW_BITS_H

#include <stdint.h>

/* What a row of words shows at a glance: has it bits at all, and are there some that the row above has not, or
 * lacks? */
typedef struct RowBits {
    uint64_t any, differs;
} RowBits;

#endif
