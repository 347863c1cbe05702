/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Pixels to bits: bit 0 is the leftmost pixel. */
#ifndef CCL_CUDA_BITS_CUH
#define CCL_CUDA_BITS_CUH

#include "backend.cuh"

/* Compares four bytes at once: value > threshold. For a threshold below 128, adding 127 - threshold carries into a byte's top
 * bit if its low seven bits are greater. A byte with its top bit set is always greater. For a threshold of 128 or more,
 * complements are compared: value > threshold is the same as not (~value > 254 - threshold). */
typedef struct Comparison {
    uint32_t addend;  /* in each byte */
    bool complements; /* compares complements */
    uint32_t inverse; /* xor for 16 pixels */
} Comparison;

__device__ static inline Comparison comparison(uint32_t threshold, bool invert)
{
    const bool above = threshold >= 128;
    return Comparison{ (above ? threshold - 127 : 127 - threshold) * 0x01010101u, above, above != invert ? 0xffffu : 0 };
}

__device__ static inline Comparison comparison(const CudaVars &vars)
{
    return comparison(min(vars.threshold, 255u), vars.invert != 0);
}

__device__ static inline uint4 complement(uint4 bytes)
{
    return make_uint4(~bytes.x, ~bytes.y, ~bytes.z, ~bytes.w);
}

/* 0x80 in the bytes that are greater. */
__device__ static inline uint32_t greater4(uint32_t bytes, const Comparison &than)
{
    return (((bytes & 0x7f7f7f7f) + than.addend) | bytes) & 0x80808080;
}

/* Eight bytes to eight bits, shifted left by 7. */
__device__ static inline uint32_t pack8(uint32_t bytes, uint32_t more, const Comparison &than)
{
    return __dp4a(greater4(more, than), 0x80402010u, __dp4a(greater4(bytes, than), 0x08040201u, 0u));
}

__device__ static inline uint32_t pack16(uint4 bytes, const Comparison &than)
{
    return (pack8(bytes.x, bytes.y, than) + (pack8(bytes.z, bytes.w, than) << 8)) >> 7 ^ than.inverse;
}

/* Loads the `n` of 16 pixels that exist, from any address: no other byte is read. Not inlined, to keep the usual case short. */
__device__ static __noinline__ uint4 load16_bytes(const uint8_t *pixels, uint32_t n)
{
    uint32_t words[4] = { 0, 0, 0, 0 };
#pragma unroll
    for (uint32_t i = 0; i < 16; i++)
        if (i < n)
            words[i / 4] |= (uint32_t)__ldg(pixels + i) << i % 4 * 8;
    return make_uint4(words[0], words[1], words[2], words[3]);
}

#endif
