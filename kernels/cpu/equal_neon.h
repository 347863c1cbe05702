/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Compares 64 pixels with 64 others: bit i is set when pixels i are equal. NEON; host/bits_neon.h must come before. */
#ifndef CCL_CPU_EQUAL_NEON_H
#define CCL_CPU_EQUAL_NEON_H

#include <arm_neon.h>
#include <stdint.h>

static inline uint8x16_t equal16_u8(const uint8_t *p, const uint8_t *q)
{
    return vceqq_u8(vld1q_u8(p), vld1q_u8(q));
}

static inline uint64_t equal_u8(const uint8_t *p, const uint8_t *q)
{
    return gather64(equal16_u8(p, q), equal16_u8(p + 16, q + 16), equal16_u8(p + 32, q + 32), equal16_u8(p + 48, q + 48));
}

static inline uint8x8_t equal8_u16(const uint8_t *p, const uint8_t *q)
{
    return vmovn_u16(vceqq_u16(vreinterpretq_u16_u8(vld1q_u8(p)), vreinterpretq_u16_u8(vld1q_u8(q))));
}

static inline uint8x16_t equal16_u16(const uint8_t *p, const uint8_t *q)
{
    return vcombine_u8(equal8_u16(p, q), equal8_u16(p + 16, q + 16));
}

static inline uint64_t equal_u16(const uint8_t *p, const uint8_t *q)
{
    return gather64(equal16_u16(p, q), equal16_u16(p + 32, q + 32), equal16_u16(p + 64, q + 64), equal16_u16(p + 96, q + 96));
}

#endif
