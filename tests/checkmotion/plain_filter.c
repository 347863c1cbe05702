/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Filters on masks of one byte per pixel, by their definition. */
#include "plain.h"

static int limited(int v, int n)
{
    return v < 0 ? 0 : v >= n ? n - 1 : v;
}

void plain_majority(uint8_t *mask, int width, int height, int radius)
{
    const size_t n = (size_t)width * (size_t)height;
    uint8_t *const from = must(malloc(n));
    memcpy(from, mask, n);
    for (int y = 0; y < height && radius; y++)
        for (int x = 0; x < width; x++) {
            int set = 0;
            for (int j = y - radius; j <= y + radius; j++)
                for (int i = x - radius; i <= x + radius; i++)
                    set += from[limited(j, height) * width + limited(i, width)];
            mask[y * width + x] = 2 * set > (2 * radius + 1) * (2 * radius + 1);
        }
    free(from);
}

/* Pixels with `value` in the square around them get it. */
static void spread_value(uint8_t *mask, int width, int height, int radius, uint8_t value)
{
    const size_t n = (size_t)width * (size_t)height;
    uint8_t *const from = must(malloc(n));
    memcpy(from, mask, n);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            for (int j = y - radius; j <= y + radius; j++)
                for (int i = x - radius; i <= x + radius; i++)
                    if (j >= 0 && j < height && i >= 0 && i < width && from[j * width + i] == value)
                        mask[y * width + x] = value;
    free(from);
}

void plain_grow(uint8_t *mask, int width, int height, int radius)
{
    spread_value(mask, width, height, radius, 1);
}

void plain_shrink_mask(uint8_t *mask, int width, int height, int radius)
{
    spread_value(mask, width, height, radius, 0);
}
