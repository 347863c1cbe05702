/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Values of a label image, a few at a time. Plain C. */
#ifndef CCL_CPU_PAINT_PLAIN_H
#define CCL_CPU_PAINT_PLAIN_H

#include "paint_no_expand.h"

#define LANES 1u

static inline void store_lanes(uint32_t *out, uint32_t value)
{
    *out = value;
}

#endif
