/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "host/bits_avx512.h"
#include "cpu/equal_avx512.h"
#include "cpu/luma_avx2.h"
#include "cpu/measure_avx2.h"
#include "cpu/nonzero_words_avx2.h"
#include "cpu/paint_avx512.h"
#include "cpu/positions_avx512.h"
#include "cpu/expand_labels_avx2.h"

#include "cpu/motion/strip.h"
#include "cpu/intensity_avx2.h"
#include "cpu/paint.h"
#include "cpu/strip.h"
#include "cpu/map_strip.h"

const CclTier ccl_tier_avx512 = {
    .label = { label_strip4, label_strip8 },
    .paint = paint_strip,
    .measure_intensity = measure_intensity_by_windows,
    .map = &map_tier,
    .motion = &motion_tier,
};
