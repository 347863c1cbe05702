/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Mask -> bits; compiled for each tier, with its instructions. Needs the tier's pack64_u8() and pack64_u16(). */
#ifndef CCL_CPU_BITS_H
#define CCL_CPU_BITS_H

#include "backend.h"
#include "words.h"

/* What pack_row() saw: bits set in the row, and bits that differ from the row above. */
typedef struct RowBits {
    uint64_t any, differs;
} RowBits;

/* Packs one row and compares it with the row above. The tier's own pack64 is inlined; it takes 64 pixels. */
static inline __attribute__((always_inline)) RowBits pack_pixels(const uint8_t *pixels, uint32_t width, size_t pixel_size,
                                                                 uint64_t pack64(const uint8_t *, unsigned),
                                                                 unsigned threshold, uint64_t invert, uint64_t *bits,
                                                                 const uint64_t *above)
{
    const uint32_t full = width / 64, rest = width % 64;
    RowBits seen = { 0, 0 };

    for (uint32_t w = 0; w < full; w++) {
        bits[w] = pack64(pixels + w * 64 * pixel_size, threshold) ^ invert;
        seen.any |= bits[w];
        seen.differs |= bits[w] ^ above[w];
    }
    uint64_t last = 0;
    if (rest) {
        /* No byte past the row may be read. */
        uint8_t padded[128];
        memcpy(padded, pixels + (size_t)full * 64 * pixel_size, rest * pixel_size);
        memset(padded + rest * pixel_size, 0, (64 - rest) * pixel_size);
        last = (pack64(padded, threshold) ^ invert) & below(rest);
    }
    bits[full] = last;
    seen.any |= last;
    seen.differs |= last ^ above[full];
    return seen;
}

static RowBits pack_row(const CclMask *mask, uint32_t y, uint64_t *bits, const uint64_t *above)
{
    const uint8_t *const pixels = mask_row(mask, y);
    const uint64_t invert = mask->invert ? ~(uint64_t)0 : 0;
    if (mask->pixel_size == 2)
        return pack_pixels(pixels, mask->width, 2, pack64_u16, mask->threshold < 65535 ? mask->threshold : 65535, invert,
                           bits, above);
    return pack_pixels(pixels, mask->width, 1, pack64_u8, mask->threshold < 255 ? mask->threshold : 255, invert, bits,
                       above);
}

#endif
