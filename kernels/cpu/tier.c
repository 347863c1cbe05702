/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tier.h"

extern const CclTier ccl_tier_plain;
#ifdef __x86_64__
extern const CclTier ccl_tier_sse2, ccl_tier_sse42, ccl_tier_avx2, ccl_tier_avx512;
#endif
#ifdef __aarch64__
extern const CclTier ccl_tier_neon;
#endif

/* Best first. */
static const CclTier *const tiers[] = {
#ifdef __x86_64__
    &ccl_tier_avx512,
    &ccl_tier_avx2,
    &ccl_tier_sse42,
    &ccl_tier_sse2,
#endif
#ifdef __aarch64__
    &ccl_tier_neon,
#endif
    &ccl_tier_plain,
};

const CclTier *ccl_tier(uint32_t flags)
{
    unsigned i = 0;
    while (tiers[i]->flag && !((tiers[i]->flag & flags) && tiers[i]->runs_here()))
        i++;
    return tiers[i];
}
