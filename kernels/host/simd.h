/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * SIMD tiers: instruction sets that some functions are compiled for. A caller selects a version at run time.
 *
 * A function with versions has a table of them, made by CCL_SIMD_TIERS, and takes the entry of ccl_simd().
 */
#ifndef CCL_HOST_SIMD_H
#define CCL_HOST_SIMD_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The tiers of this architecture, the best first: T(index, suffix of function names, bit of CclConfig.cpu_flags). */
#if defined __x86_64__
#define CCL_SIMD_TIERS(T)                        \
    T(CCL_SIMD_AVX512, avx512, CCL_CPU_AVX512)   \
    T(CCL_SIMD_AVX2, avx2, CCL_CPU_AVX2)         \
    T(CCL_SIMD_SSE42, sse42, CCL_CPU_SSE42)      \
    T(CCL_SIMD_SSE2, sse2, CCL_CPU_SSE2)         \
    T(CCL_SIMD_PLAIN, plain, 0)
#elif defined __aarch64__
#define CCL_SIMD_TIERS(T)                        \
    T(CCL_SIMD_NEON, neon, CCL_CPU_NEON)         \
    T(CCL_SIMD_PLAIN, plain, 0)
#else
#define CCL_SIMD_TIERS(T) T(CCL_SIMD_PLAIN, plain, 0)
#endif

typedef enum CclSimd {
#define CCL_SIMD_INDEX(index, suffix, flag) index,
    CCL_SIMD_TIERS(CCL_SIMD_INDEX)
#undef CCL_SIMD_INDEX
} CclSimd;

/* The best tier that this CPU has and `cpu_flags` (as in CclConfig) allows. Plain C is always allowed. */
CclSimd ccl_simd(uint32_t cpu_flags);

#ifdef __cplusplus
}
#endif

#endif
