/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Blending for one tier: vectors of the compiler, which become the tier's instructions. */
#ifndef CCL_CPU_BLEND_AREAS_H
#define CCL_CPU_BLEND_AREAS_H

#include "../blend.h"

#include <string.h>

/* Samples looked at together: most of an area is empty. */
#define BLEND_GROUP 8
typedef uint32_t BlendWords __attribute__((vector_size(4 * BLEND_GROUP)));
typedef uint8_t BlendBytes __attribute__((vector_size(BLEND_GROUP)));

#define BLEND_INLINE static inline __attribute__((always_inline))

/* A group of pixels `apart` from each other; false: nothing is drawn there. */
BLEND_INLINE bool blend_load(const uint32_t *source, uint32_t n, unsigned apart, uint32_t pixels[BLEND_GROUP])
{
    uint64_t any[BLEND_GROUP / 2];
    for (unsigned i = 0; i < BLEND_GROUP; i++)
        pixels[i] = i < n ? source[i * apart] : 0;
    memcpy(any, pixels, sizeof any);
    return any[0] | any[1] | any[2] | any[3];
}

/* `p` over one component. */
BLEND_INLINE void blend_words(const uint32_t pixels[BLEND_GROUP], const CclBlendTarget *t, BlendWords *component)
{
    BlendWords p;
    memcpy(&p, pixels, sizeof p);
    const BlendWords alpha = p >> 24;
    const BlendWords over = ((uint32_t)t->red * (p >> 16 & 255) + (uint32_t)t->green * (p >> 8 & 255) +
                             (uint32_t)t->blue * (p & 255) + (uint32_t)t->alpha * alpha + 32768) >> 16;
    const BlendWords product = *component * (255 - alpha) + 128;
    const BlendWords sum = over + ((product + (product >> 8)) >> 8); /* divided by 255, rounded */
    *component = (sum | (BlendWords)(sum > 255)) & 255;
}

/* n <= BLEND_GROUP samples; both steps are constants where this is called. */
BLEND_INLINE void blend_group(const uint32_t *source, unsigned apart, uint32_t n, const CclBlendTarget *t, uint8_t *to,
                              unsigned step)
{
    uint32_t pixels[BLEND_GROUP];
    if (!blend_load(source, n, apart, pixels))
        return;
    BlendBytes bytes = { 0 };
    for (unsigned i = 0; i < n; i++)
        bytes[i] = to[i * step];
    BlendWords words = __builtin_convertvector(bytes, BlendWords);
    blend_words(pixels, t, &words);
    bytes = __builtin_convertvector(words, BlendBytes);
    for (unsigned i = 0; i < n; i++)
        to[i * step] = bytes[i];
}

BLEND_INLINE void blend_row(const uint32_t *source, unsigned apart, uint32_t n, const CclBlendTarget *t, uint8_t *to,
                            unsigned step)
{
    uint32_t i = 0;
    for (; i + BLEND_GROUP <= n; i += BLEND_GROUP)
        blend_group(source + i * apart, apart, BLEND_GROUP, t, to + i * step, step);
    if (i < n)
        blend_group(source + i * apart, apart, n - i, t, to + i * step, step);
}

static void blend_component(const CclDrawing *drawing, const CclBlendArea *area, const CclBlendTarget *t)
{
    const unsigned apart = 1u << t->shift_x;
    const uint32_t n = (area->width + apart - 1) / apart;

    for (uint32_t y = area->y; y < area->y + area->height; y += 1u << t->shift_y) {
        const uint32_t *const source = drawing->pixels + y * drawing->stride + area->x;
        uint8_t *const to = t->data + (y >> t->shift_y) * t->stride + (area->x >> t->shift_x) * t->step;
        if (apart == 1 && t->step == 1)
            blend_row(source, 1, n, t, to, 1);
        else if (apart == 2 && t->step == 1)
            blend_row(source, 2, n, t, to, 1);
        else if (apart == 2 && t->step == 2)
            blend_row(source, 2, n, t, to, 2);
        else
            blend_row(source, apart, n, t, to, t->step);
    }
}

/* ---------------------------------------------------------------- red, green and blue in one word */

/* Bytes of a word from its lowest on. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define BLEND_SHIFT(byte) (8 * (byte))
#else
#define BLEND_SHIFT(byte) (24 - 8 * (byte))
#endif

/* Three components of pixels of four bytes. */
static bool blend_is_packed(const CclBlendTarget *t, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (t[i].step != 4 || t[i].shift_x || t[i].shift_y || t[i].data - t[i].place != t->data - t->place)
            return false;
    return n == 3;
}

BLEND_INLINE void blend_packed_group(const uint32_t *source, uint32_t n, const CclBlendTarget *t, uint8_t *to,
                                     const unsigned shift[3])
{
    uint32_t pixels[BLEND_GROUP];
    BlendWords words = { 0 };
    if (!blend_load(source, n, 1, pixels))
        return;
    memcpy(&words, to, n * sizeof(uint32_t));
    for (unsigned i = 0; i < 3; i++) {
        BlendWords component = words >> shift[i] & 255;
        blend_words(pixels, &t[i], &component);
        words = (words & ~(255u << shift[i])) | component << shift[i];
    }
    memcpy(to, &words, n * sizeof(uint32_t));
}

static void blend_packed(const CclDrawing *drawing, const CclBlendArea *area, const CclBlendTarget *t)
{
    const unsigned shift[3] = { BLEND_SHIFT(t[0].place), BLEND_SHIFT(t[1].place), BLEND_SHIFT(t[2].place) };
    for (uint32_t y = area->y; y < area->y + area->height; y++) {
        const uint32_t *const source = drawing->pixels + y * drawing->stride + area->x;
        uint8_t *const to = t->data - t->place + y * t->stride + 4 * area->x;
        uint32_t i = 0;
        for (; i + BLEND_GROUP <= area->width; i += BLEND_GROUP)
            blend_packed_group(source + i, BLEND_GROUP, t, to + 4 * i, shift);
        if (i < area->width)
            blend_packed_group(source + i, area->width - i, t, to + 4 * i, shift);
    }
}

/* ---------------------------------------------------------------- all */

static void blend_areas(const CclDrawing *drawing, const CclBlendArea *areas, size_t n_areas,
                        const CclBlendTarget *targets, unsigned n)
{
    const bool packed = blend_is_packed(targets, n);
    for (size_t i = 0; i < n_areas; i++) {
        for (unsigned c = 0; c < n && !packed; c++)
            blend_component(drawing, &areas[i], &targets[c]);
        if (packed)
            blend_packed(drawing, &areas[i], targets);
    }
}

#endif
