/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "reference_intensity.h"

#include <string.h>

__extension__ typedef unsigned __int128 Wide;

static unsigned sample(const void *data, size_t stride, const CclPicture *picture, uint32_t i, uint32_t row)
{
    const uint8_t *const samples = (const uint8_t *)data + row * stride;
    uint16_t wide;
    if (picture->sample_size != 2)
        return samples[i];
    memcpy(&wide, samples + 2 * (size_t)i, 2);
    return wide;
}

static void store(uint64_t words[2], Wide sum)
{
    words[0] = (uint64_t)sum;
    words[1] = (uint64_t)(sum >> 64);
}

CclIntensityCounts ccl_reference_intensity(const CclPicture *picture, const uint32_t *pixels, uint32_t n, uint32_t width)
{
    CclIntensityCounts c = { .min = UINT16_MAX, .has_chroma = picture->chroma[0] != NULL };
    Wide xx = 0, xy = 0, yy = 0;

    for (uint32_t i = 0; i < n; i++) {
        const uint32_t x = pixels[i] % width, y = pixels[i] / width;
        const uint64_t luma = sample(picture->luma, picture->stride, picture, x, y);
        c.min = luma < c.min ? (uint16_t)luma : c.min;
        c.max = luma > c.max ? (uint16_t)luma : c.max;
        c.sum += luma;
        c.squares += luma * luma;
        c.x += x * luma;
        c.y += y * luma;
        xx += (Wide)x * x * luma;
        xy += (Wide)x * y * luma;
        yy += (Wide)y * y * luma;
        for (unsigned k = 0; k < 2 && c.has_chroma; k++)
            c.chroma[k] += sample(picture->chroma[k], picture->chroma_stride, picture,
                                  (x >> picture->shift_x) * picture->chroma_step, y >> picture->shift_y);
    }
    store(c.xx, xx);
    store(c.xy, xy);
    store(c.yy, yy);
    return c;
}
