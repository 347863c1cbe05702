/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_BLEND_AREAS_H
#define CCL_BLEND_AREAS_H

#include "blend.h"

/* ccl_blend() of one SIMD tier. */
typedef void BlendAreas(const CclDrawing *drawing, const CclBlendArea *areas, size_t n_areas,
                        const CclBlendTarget *targets, unsigned n);

#endif
