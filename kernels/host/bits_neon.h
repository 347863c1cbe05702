/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* 64 pixels -> one word: bit i is set when pixel i is greater than the threshold. NEON has no movemask: each byte keeps the bit
 * of its position in a group of eight, and three rounds of pairwise additions gather the bits. */
#ifndef CCL_HOST_BITS_NEON_H
#define CCL_HOST_BITS_NEON_H

#include "row_bits.h"

#include <arm_neon.h>

/* Bit i from the sign of byte i; bytes are 0 or 255. */
static inline uint64_t gather64(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d)
{
    const uint8x16_t place = vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201u));
    const uint8x16_t ab = vpaddq_u8(vandq_u8(a, place), vandq_u8(b, place));
    const uint8x16_t cd = vpaddq_u8(vandq_u8(c, place), vandq_u8(d, place));
    const uint8x16_t quarters = vpaddq_u8(ab, cd);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(quarters, quarters)), 0);
}

static inline void pack_u8(uint64_t *bits, const uint8_t *pixels, uint32_t n_words, unsigned threshold)
{
    const uint8x16_t t = vdupq_n_u8((uint8_t)threshold);
    for (uint32_t w = 0; w < n_words; w++, pixels += 64) {
        fetch_ahead(pixels);
        bits[w] = gather64(vcgtq_u8(vld1q_u8(pixels), t), vcgtq_u8(vld1q_u8(pixels + 16), t),
                           vcgtq_u8(vld1q_u8(pixels + 32), t), vcgtq_u8(vld1q_u8(pixels + 48), t));
    }
}

static inline uint8x16_t greater16(const uint8_t *pixels, uint16x8_t t)
{
    const uint16x8_t p = vreinterpretq_u16_u8(vld1q_u8(pixels)), q = vreinterpretq_u16_u8(vld1q_u8(pixels + 16));
    return vcombine_u8(vmovn_u16(vcgtq_u16(p, t)), vmovn_u16(vcgtq_u16(q, t)));
}

static inline void pack_u16(uint64_t *bits, const uint8_t *pixels, uint32_t n_words, unsigned threshold)
{
    const uint16x8_t t = vdupq_n_u16((uint16_t)threshold);
    for (uint32_t w = 0; w < n_words; w++, pixels += 128) {
        fetch_ahead(pixels);
        fetch_ahead(pixels + 64);
        bits[w] = gather64(greater16(pixels, t), greater16(pixels + 32, t), greater16(pixels + 64, t),
                           greater16(pixels + 96, t));
    }
}

static inline RowBits compare_words(const uint64_t *bits, const uint64_t *above, uint32_t n)
{
    RowBits seen = { 0, 0 };
    for (uint32_t w = 0; w < n; w++) {
        seen.any |= bits[w];
        seen.differs |= bits[w] ^ above[w];
    }
    return seen;
}

#endif
