/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A row as 64-bit words, bit 0 leftmost; compiled for each tier, with its instructions. */
#ifndef CCL_HOST_WORDS_H
#define CCL_HOST_WORDS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* For functions with a constant argument, such as the connectivity: each value gets a version of its own. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Number of words for a row of `width` pixels. Bit `width` exists too, because a run may end there. */
static inline uint32_t row_words(uint32_t width)
{
    return width / 64 + 1;
}

/* Number of bits set. */
static inline uint32_t ones(uint64_t w)
{
#if defined(__POPCNT__) || defined(__aarch64__)
    return (uint32_t)__builtin_popcountll(w);
#else
    w -= w >> 1 & 0x5555555555555555u;
    w = (w & 0x3333333333333333u) + (w >> 2 & 0x3333333333333333u);
    w = (w + (w >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (uint32_t)(w * 0x0101010101010101u >> 56);
#endif
}

/* Index of the lowest bit set; w must not be 0. */
static inline uint32_t lowest(uint64_t w)
{
    return (uint32_t)__builtin_ctzll(w);
}

/* The bits left of bit i. */
static inline uint64_t below(uint32_t i)
{
    return ((uint64_t)1 << (i & 63)) - 1;
}

/* The bits below the lowest bit set. */
static inline uint64_t below_lowest(uint64_t w)
{
    return (w - 1) & ~w;
}

/* Index of the lowest bit set; an arbitrary value of 0..64 if there is none. */
static inline uint32_t lowest_if_any(uint64_t w)
{
#ifdef __BMI__
    return (uint32_t)__builtin_ia32_tzcnt_u64(w);
#else
    return lowest(w | (uint64_t)1 << 63);
#endif
}

#endif
