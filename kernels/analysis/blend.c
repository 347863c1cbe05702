/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "blend.h"

#include "blend_areas.h"
#include "host/simd.h"

/* blend_areas.c */
#define DECLARE(index, suffix, flag) BlendAreas ccl_blend_areas_##suffix;
CCL_SIMD_TIERS(DECLARE)

void ccl_blend(const CclDrawing *drawing, const CclBlendArea *areas, size_t n_areas, const CclBlendTarget *targets,
               unsigned n)
{
    static BlendAreas *const versions[] = {
#define VERSION(index, suffix, flag) [index] = ccl_blend_areas_##suffix,
        CCL_SIMD_TIERS(VERSION)
    };
    versions[ccl_simd(drawing->cpu_flags)](drawing, areas, n_areas, targets, n);
}
