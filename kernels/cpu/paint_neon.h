/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Values of a label image, a few at a time. NEON. */
#ifndef CCL_CPU_PAINT_NEON_H
#define CCL_CPU_PAINT_NEON_H

#include "paint_no_expand.h"

#include <arm_neon.h>

#define LANES 4u

static inline void store_lanes(uint32_t *out, uint32_t value)
{
    vst1q_u32(out, vdupq_n_u32(value));
}

#endif
