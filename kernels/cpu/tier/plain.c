/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "../bits_plain.h"
#include "../measure_plain.h"
#include "../live_plain.h"
#include "../paint_plain.h"
#include "../positions_plain.h"
#include "../spread_plain.h"

#include "../blend_areas.h"
#include "../motion_strip.h"
#include "../paint.h"
#include "../strip.h"

static bool runs_here(void)
{
    return true;
}

const CclTier ccl_tier_plain = {
    .name = "plain",
    .flag = 0,
    .runs_here = runs_here,
    .label = { label_strip4, label_strip8 },
    .paint = paint_strip,
    .pack = pack_rows,
    .motion = &motion_tier,
    .blend = blend_areas,
};
