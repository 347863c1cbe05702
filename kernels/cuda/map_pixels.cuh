/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Sixteen pixels of a label map in registers, compared with sixteen others. */
#ifndef CCL_CUDA_MAP_PIXELS_CUH
#define CCL_CUDA_MAP_PIXELS_CUH

#include "bits.cuh"

#define MAP_EACH 16u /* pixels of a thread */

template <bool WIDE> struct __align__(16) MapPixels
{
    static constexpr uint32_t WORDS = WIDE ? 8 : 4, BITS = WIDE ? 16 : 8;
    uint32_t of[WORDS];
};

/* Loads n of sixteen pixels, from (x, y) on; the others are 0. */
template <bool WIDE> __device__ static inline MapPixels<WIDE> load_map(const CudaVars &vars, uint32_t x, uint32_t y, uint32_t n)
{
    constexpr uint32_t QUARTERS = MapPixels<WIDE>::WORDS / 4, BYTES = WIDE ? 2 : 1;
    const uint8_t *const from = WIDE ? vars.wide + y * vars.wide_stride + 2 * (size_t)x : vars.mask + y * vars.mask_stride + x;
    const bool whole = n == MAP_EACH && (uintptr_t)from % 16 == 0;
    MapPixels<WIDE> pixels;
#pragma unroll
    for (uint32_t i = 0; i < QUARTERS; i++) {
        const uint32_t n_bytes = n * BYTES > 16 * i ? min(n * BYTES - 16 * i, 16u) : 0;
        const uint4 v = whole     ? __ldg((const uint4 *)(from + 16 * i))
                        : n_bytes ? load16_bytes(from + 16 * i, n_bytes)
                                  : make_uint4(0, 0, 0, 0);
        pixels.of[4 * i] = v.x;
        pixels.of[4 * i + 1] = v.y;
        pixels.of[4 * i + 2] = v.z;
        pixels.of[4 * i + 3] = v.w;
    }
    return pixels;
}

template <bool WIDE> __device__ static inline MapPixels<WIDE> pixels_of_value(uint32_t value)
{
    MapPixels<WIDE> pixels;
#pragma unroll
    for (uint32_t i = 0; i < MapPixels<WIDE>::WORDS; i++)
        pixels.of[i] = value * (WIDE ? 0x00010001u : 0x01010101u);
    return pixels;
}

/* Bit i: pixel i of both is equal. The top bit of a zero byte, or of a zero half, stays clear in the sum. */
template <bool WIDE> __device__ static inline uint32_t equal_bits(const MapPixels<WIDE> &a, const MapPixels<WIDE> &b)
{
    constexpr uint32_t TOP = WIDE ? 0x80008000u : 0x80808080u, WORDS = MapPixels<WIDE>::WORDS;
    uint32_t equal[WORDS], bits = 0;
#pragma unroll
    for (uint32_t i = 0; i < WORDS; i++) {
        const uint32_t differs = a.of[i] ^ b.of[i];
        equal[i] = ~(((differs & ~TOP) + ~TOP) | differs) & TOP;
    }
    if constexpr (WIDE) {
#pragma unroll
        for (uint32_t i = 0; i < WORDS; i++)
            bits |= ((equal[i] >> 15 & 1) | (equal[i] >> 30 & 2)) << 2 * i;
    } else {
        const uint32_t high = __dp4a(equal[3], 0x80402010u, __dp4a(equal[2], 0x08040201u, 0u));
        bits = (__dp4a(equal[1], 0x80402010u, __dp4a(equal[0], 0x08040201u, 0u)) >> 7) | high << 1;
    }
    return bits;
}

/* The pixels that begin a column earlier; `before`: the word before. */
template <bool WIDE> __device__ static inline MapPixels<WIDE> one_earlier(const MapPixels<WIDE> &pixels, uint32_t before)
{
    MapPixels<WIDE> earlier;
#pragma unroll
    for (uint32_t i = 0; i < MapPixels<WIDE>::WORDS; i++)
        earlier.of[i] = __funnelshift_l(i ? pixels.of[i - 1] : before, pixels.of[i], MapPixels<WIDE>::BITS);
    return earlier;
}

/* The pixels that begin a column later; `after`: the word after. */
template <bool WIDE> __device__ static inline MapPixels<WIDE> one_later(const MapPixels<WIDE> &pixels, uint32_t after)
{
    constexpr uint32_t LAST = MapPixels<WIDE>::WORDS - 1;
    MapPixels<WIDE> later;
#pragma unroll
    for (uint32_t i = 0; i <= LAST; i++)
        later.of[i] = __funnelshift_r(pixels.of[i], i < LAST ? pixels.of[i + 1] : after, MapPixels<WIDE>::BITS);
    return later;
}

#endif
