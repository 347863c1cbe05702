/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cpu/bits_neon.h"
#include "cpu/measure_plain.h"
#include "cpu/live_plain.h"
#include "cpu/paint_neon.h"
#include "cpu/positions_plain.h"
#include "cpu/spread_plain.h"

#include "cpu/blend_areas.h"
#include "cpu/motion/strip.h"
#include "cpu/paint.h"
#include "cpu/strip.h"

static bool runs_here(void)
{
    return true;
}

const CclTier ccl_tier_neon = {
    .name = "neon",
    .flag = CCL_CPU_NEON,
    .runs_here = runs_here,
    .label = { label_strip4, label_strip8 },
    .paint = paint_strip,
    .pack = pack_rows,
    .motion = &motion_tier,
    .blend = blend_areas,
};
