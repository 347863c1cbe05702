/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cpu/bits_avx512.h"
#include "cpu/measure_avx2.h"
#include "cpu/live_avx2.h"
#include "cpu/paint_avx512.h"
#include "cpu/positions_avx512.h"
#include "cpu/spread_avx2.h"

#include "cpu/blend_areas.h"
#include "cpu/motion/strip.h"
#include "cpu/paint.h"
#include "cpu/strip.h"

static bool runs_here(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512vpopcntdq") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}

const CclTier ccl_tier_avx512 = {
    .name = "avx512",
    .flag = CCL_CPU_AVX512,
    .runs_here = runs_here,
    .label = { label_strip4, label_strip8 },
    .paint = paint_strip,
    .pack = pack_rows,
    .motion = &motion_tier,
    .blend = blend_areas,
};
