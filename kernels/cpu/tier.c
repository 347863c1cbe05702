/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tier.h"

#include "host/simd.h"

/* cpu/tier/ */
#define DECLARE(index, suffix, flag) extern const CclTier ccl_tier_##suffix;
CCL_SIMD_TIERS(DECLARE)

const CclTier *ccl_tier(uint32_t cpu_flags)
{
    static const CclTier *const tiers[] = {
#define TIER(index, suffix, flag) [index] = &ccl_tier_##suffix,
        CCL_SIMD_TIERS(TIER)
    };
    return tiers[ccl_simd(cpu_flags)];
}
