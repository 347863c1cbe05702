/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Pixels to bits: bit 0 is the leftmost pixel. */
#ifndef CCL_CUDA_BITS_CUH
#define CCL_CUDA_BITS_CUH

#include "backend.cuh"

/* `value > threshold` for four bytes at once: adding 127 - threshold % 128 carries into a byte's top bit when its low
 * seven bits are greater; a threshold below 128 is also passed by the top bit alone, one above only by both. */
typedef struct Comparison {
    uint32_t addend;  /* in each byte */
    uint32_t low;     /* 0x80 in each byte when the threshold is below 128 */
    uint32_t inverse; /* xor for 16 pixels */
} Comparison;

__device__ static inline Comparison comparison(const CudaVars &vars)
{
    const uint32_t threshold = min(vars.threshold, 255u);
    return Comparison{ (127 - threshold % 128) * 0x01010101u, threshold < 128 ? 0x80808080u : 0,
                       vars.invert ? 0xffffu : 0 };
}

/* Four bytes to four bits. */
__device__ static inline uint32_t pack4(uint32_t bytes, const Comparison &than)
{
    const uint32_t sum = (bytes & 0x7f7f7f7f) + than.addend;
    const uint32_t greater = (sum & bytes) | ((sum | bytes) & than.low);
    return (((greater >> 7) & 0x01010101) * 0x10204080) >> 28;
}

__device__ static inline uint32_t pack16(uint4 bytes, const Comparison &than)
{
    return (pack4(bytes.x, than) | pack4(bytes.y, than) << 4 | pack4(bytes.z, than) << 8 | pack4(bytes.w, than) << 12) ^
           than.inverse;
}

/* load16() where the pixels are not aligned or not all there. Apart, to keep the usual way short. */
__device__ static __noinline__ uint4 load16_bytes(const uint8_t *pixels, uint32_t n)
{
    uint32_t words[4] = { 0, 0, 0, 0 };
#pragma unroll
    for (uint32_t i = 0; i < 16; i++)
        if (i < n)
            words[i / 4] |= (uint32_t)__ldg(pixels + i) << i % 4 * 8;
    return make_uint4(words[0], words[1], words[2], words[3]);
}

/* The 16 pixels at `pixels`, of which `n` (1..16) exist; no other byte is read. */
__device__ static inline uint4 load16(const uint8_t *pixels, uint32_t n)
{
    return n == 16 && (uintptr_t)pixels % 16 == 0 ? __ldg((const uint4 *)pixels) : load16_bytes(pixels, n);
}

#endif
