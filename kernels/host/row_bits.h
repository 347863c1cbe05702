/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_HOST_ROW_BITS_H
#define CCL_HOST_ROW_BITS_H

#include <stdint.h>

/* Pixels this far ahead are fetched while those here are packed: processors do not look ahead past the end of a page,
 * which is two rows of a 1080p mask. A quarter of the time of a coarse mask that is not in the cache. A fetch past the
 * end of the mask does nothing. */
#define FETCH_AHEAD 8192u

static inline void fetch_ahead(const uint8_t *pixels)
{
    __builtin_prefetch((const void *)((uintptr_t)pixels + FETCH_AHEAD));
}

/* What a row of words shows at a glance: has it bits at all, and are there some that the row above has not, or
 * lacks? */
typedef struct RowBits {
    uint64_t any, differs;
} RowBits;

#endif
