/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "host/bits_sse2.h"

#include "host/bits.h"
#include "host/pack.h"

CclPackRows ccl_pack_rows_sse42;

void ccl_pack_rows_sse42(const CclMask *mask, uint32_t y0, uint32_t y1, uint64_t *bits, size_t stride)
{
    pack_rows(mask, y0, y1, bits, stride);
}
