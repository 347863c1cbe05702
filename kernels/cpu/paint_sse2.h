/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Values of a label image, a few at a time. SSE2. */
#ifndef CCL_CPU_PAINT_SSE2_H
#define CCL_CPU_PAINT_SSE2_H

#include "paint_no_expand.h"

#include <emmintrin.h>

#define LANES 4u

static inline void store_lanes(uint32_t *out, uint32_t value)
{
    _mm_storeu_si128((__m128i *)out, _mm_set1_epi32((int)value));
}

#endif
