/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The median of words of bits, for kernels that filter. */
#ifndef CCL_CUDA_MOTION_FILTER_WORDS_CUH
#define CCL_CUDA_MOTION_FILTER_WORDS_CUH

#include "cuda_motion.cuh"

/* Bit x is bit x + n, 0 < |n| < 32, of the row left, here, right. */
__device__ static inline uint32_t from_right(uint32_t here, uint32_t right, uint32_t n)
{
    return __funnelshift_r(here, right, n);
}

__device__ static inline uint32_t from_left(uint32_t left, uint32_t here, uint32_t n)
{
    return __funnelshift_l(left, here, n);
}

__device__ static inline void add3(uint32_t a, uint32_t b, uint32_t c, uint32_t *sum, uint32_t *carry)
{
    *sum = a ^ b ^ c;
    *carry = (a & b) | (c & (a ^ b));
}

/* How many of the n = 3 or 5 pixels around are set: bit planes for 1, 2 and 4. */
__device__ static inline void count_across(const uint32_t *at, uint32_t radius, uint32_t *one, uint32_t *two, uint32_t *four)
{
    const uint32_t l = at[-1], h = at[0], r = at[1];
    uint32_t s, c, s2, c2 = 0;
    add3(from_left(l, h, 1), h, from_right(h, r, 1), &s, &c);
    if (radius == 2)
        add3(s, from_left(l, h, 2), from_right(h, r, 2), &s2, &c2);
    else
        s2 = s;
    *one = s2, *two = c ^ c2, *four = c & c2;
}

/* Whether more than half of n rows of such counts. */
template <int WORDS>
__device__ static inline uint32_t majority(const uint32_t *one, const uint32_t *two, const uint32_t *four, int radius)
{
    uint32_t sum[5] = { 0, 0, 0, 0, 0 };
    for (int j = -radius; j <= radius; j++) {
        const int at = j * WORDS;
        const uint32_t carry = sum[0] & one[at];
        uint32_t carry2, carry3;
        sum[0] ^= one[at];
        add3(sum[1], two[at], carry, &sum[1], &carry2);
        add3(sum[2], four[at], carry2, &sum[2], &carry3);
        sum[4] ^= sum[3] & carry3, sum[3] ^= carry3;
    }
    return radius == 2 ? sum[4] | (sum[3] & sum[2] & (sum[1] | sum[0])) : sum[3] | (sum[2] & (sum[1] | sum[0]));
}

/* The word of a row whose border pixels go on outside of the picture. */
__device__ static inline uint32_t repeated(uint32_t width, const uint32_t *row, int word)
{
    const uint32_t last = (width - 1) / 32, bit = (width - 1) % 32;
    if (word < 0)
        return __ldcg(row) & 1 ? ~0u : 0;
    if (word < (int)last)
        return __ldcg(row + word);
    const uint32_t at_last = __ldcg(row + last), beyond = at_last >> bit & 1 ? ~0u : 0;
    return word > (int)last ? beyond : at_last | (beyond & ~((2u << bit) - 1));
}

#endif
