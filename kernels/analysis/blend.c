/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "blend.h"

#include "cpu/tier.h"

void ccl_blend(const CclDrawing *drawing, const CclBlendArea *areas, size_t n_areas, const CclBlendTarget *targets,
               unsigned n)
{
    ccl_tier(drawing->cpu_flags)->blend(drawing, areas, n_areas, targets, n);
}
