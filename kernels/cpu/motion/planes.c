/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "planes.h"

#include <string.h>

/* The sum over rows y0..y1-1 of each column. */
static void sum_rows(const MotionSource *source, uint32_t y0, uint32_t y1, uint32_t *restrict sums)
{
    memset(sums, 0, source->width * sizeof *sums);
    for (uint32_t y = y0; y < y1; y++) {
        const uint8_t *restrict const row = source->data + y * source->stride;
        if (source->step == 1)
            for (uint32_t x = 0; x < source->width; x++)
                sums[x] += row[x];
        else
            for (uint32_t x = 0; x < source->width; x++)
                sums[x] += row[(size_t)x * source->step];
    }
}

static void average_row(const MotionSource *source, uint8_t *restrict out, uint32_t width, uint32_t rows,
                        const uint32_t *restrict sums)
{
    for (uint32_t x = 0; x < width; x++) {
        const uint32_t x0 = motion_box(x, width, source->width), x1 = motion_box(x + 1, width, source->width);
        const uint32_t area = (x1 - x0) * rows;
        uint32_t sum = area / 2;
        for (uint32_t i = x0; i < x1; i++)
            sum += sums[i];
        out[x] = (uint8_t)(sum / area);
    }
}

void motion_fill_plane(const MotionSource *source, const CclPlane *plane, uint32_t y0, uint32_t y1, uint32_t *sums)
{
    const uint32_t width = plane->width, height = plane->height;
    for (uint32_t y = y0; y < y1; y++) {
        const uint32_t from = motion_box(y, height, source->height), to = motion_box(y + 1, height, source->height);
        uint8_t *restrict const out = plane->data + y * plane->stride;
        const uint8_t *restrict const row = source->data + from * source->stride;
        if (source->width == width && to == from + 1) {
            for (uint32_t x = 0; x < width; x++)
                out[x] = row[(size_t)x * source->step];
            continue;
        }
        sum_rows(source, from, to, sums);
        average_row(source, out, width, to - from, sums);
    }
}
