/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cpu/bits_sse2.h"
#include "cpu/measure_plain.h"
#include "cpu/live_sse2.h"
#include "cpu/paint_sse2.h"
#include "cpu/positions_sse2.h"
#include "cpu/spread_plain.h"

#include "cpu/blend_areas.h"
#include "cpu/motion/strip.h"
#include "cpu/paint.h"
#include "cpu/strip.h"

static bool runs_here(void)
{
    return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
}

const CclTier ccl_tier_sse42 = {
    .name = "sse42",
    .flag = CCL_CPU_SSE42,
    .runs_here = runs_here,
    .label = { label_strip4, label_strip8 },
    .paint = paint_strip,
    .pack = pack_rows,
    .motion = &motion_tier,
    .blend = blend_areas,
};
