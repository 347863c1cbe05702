/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Masks to bits, on the host. */
#ifndef CCL_HOST_PACK_H
#define CCL_HOST_PACK_H

#include "ccl.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Packs rows y0..y1-1 of a mask: one bit per pixel, bit 0 leftmost, 0 past the width. Row y goes to bits + y * stride,
 * row_words() words of it (words.h). `stride` is in words; 0 packs a single row to `bits`. No byte outside the rows is
 * read.
 */
typedef void CclPackRows(const CclMask *mask, uint32_t y0, uint32_t y1, uint64_t *bits, size_t stride);

/* The version for the best SIMD tier that this CPU has and `cpu_flags` (as in CclConfig) allows. */
CclPackRows *ccl_pack_rows(uint32_t cpu_flags);

#ifdef __cplusplus
}
#endif

#endif
