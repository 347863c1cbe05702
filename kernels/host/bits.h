/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Mask -> bits; compiled for each tier, with its instructions. A tier's bits_*.h must come before: it has the functions for
 * 64 pixels and for comparing rows. */
#ifndef CCL_HOST_BITS_H
#define CCL_HOST_BITS_H

#include "pixels.h"
#include "words.h"

static inline void pack_pixels(uint64_t *bits, const uint8_t *pixels, uint32_t n_words, const CclMask *mask)
{
    if (mask->pixel_size == 2)
        pack_u16(bits, pixels, n_words, mask->threshold < 65535 ? mask->threshold : 65535);
    else
        pack_u8(bits, pixels, n_words, mask->threshold < 255 ? mask->threshold : 255);
}

/* Packs one row and compares it with the row above. No byte past the row is read. */
static RowBits pack_row(const CclMask *mask, uint32_t y, uint64_t *bits, const uint64_t *above)
{
    const uint8_t *const pixels = mask_row(mask, y);
    const uint32_t full = mask->width / 64, rest = mask->width % 64;

    pack_pixels(bits, pixels, full, mask);
    if (rest) {
        uint8_t last[128];
        memcpy(last, pixels + (size_t)full * 64 * mask->pixel_size, rest * mask->pixel_size);
        memset(last + rest * mask->pixel_size, 0, (64 - rest) * mask->pixel_size);
        pack_pixels(bits + full, last, 1, mask);
    }
    if (mask->invert)
        for (uint32_t w = 0; w < full + (rest != 0); w++)
            bits[w] = ~bits[w];
    bits[full] = rest ? bits[full] & below(rest) : 0;
    return compare_words(bits, above, full + 1);
}

/* Packs rows y0..y1-1; row y goes to bits + y * stride, row_words() of it. */
static inline void pack_rows(const CclMask *mask, uint32_t y0, uint32_t y1, uint64_t *bits, size_t stride)
{
    for (uint32_t y = y0; y < y1; y++)
        pack_row(mask, y, bits + y * stride, bits + y * stride);
}

#endif
