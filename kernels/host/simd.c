/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "simd.h"

#include "ccl.h"

/* Whether this CPU executes the instructions of a tier. */
static bool has_tier(CclSimd tier)
{
#ifdef __x86_64__
    const bool v2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
    const bool bmi = __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");

    switch (tier) {
    case CCL_SIMD_AVX512:
        return bmi && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512vpopcntdq");
    case CCL_SIMD_AVX2:
        return bmi && __builtin_cpu_supports("avx2");
    case CCL_SIMD_SSE42:
        return v2;
    default:
        return true;
    }
#else
    (void)tier;
    return true;
#endif
}

CclSimd ccl_simd(uint32_t cpu_flags)
{
    static const uint32_t flags[] = {
#define FLAG(index, suffix, flag) [index] = flag,
        CCL_SIMD_TIERS(FLAG)
#undef FLAG
    };
    CclSimd tier = 0;

    while (tier != CCL_SIMD_PLAIN && !((flags[tier] & cpu_flags) && has_tier(tier)))
        tier++;
    return tier;
}
