/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Rows and pixels of masks, label images and planes in host memory. */
#ifndef CCL_PIXELS_H
#define CCL_PIXELS_H

#include "ccl.h"

#include <string.h>

/* Bytes to fill. */
typedef struct CclPlane {
    uint8_t *data;
    size_t stride; /* bytes from row to row */
    uint32_t width, height;
} CclPlane;

static inline const uint8_t *mask_row(const CclMask *mask, uint32_t y)
{
    return (const uint8_t *)mask->data + (size_t)y * mask->stride;
}

/* One pixel at a time, for code that is simple rather than fast: the reference methods and the contours. */
static inline unsigned pixel_value(const CclMask *mask, uint32_t x, uint32_t y)
{
    const uint8_t *const row = mask_row(mask, y);
    if (mask->pixel_size != 2)
        return row[x];
    uint16_t wide;
    memcpy(&wide, row + 2 * (size_t)x, 2);
    return wide;
}

static inline bool is_foreground(const CclMask *mask, uint32_t x, uint32_t y)
{
    return (pixel_value(mask, x, y) > mask->threshold) != mask->invert;
}

static inline uint32_t *labels_row(const CclLabels *labels, uint32_t y)
{
    return (uint32_t *)((uint8_t *)labels->data + (size_t)y * labels->stride);
}

#endif
