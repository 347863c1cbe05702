/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Blending with the compiler's vectors; compiled once for each SIMD tier, with CCL_TIER the tier's name. */
#include "blend_areas.h"

#include <stdbool.h>
#include <string.h>

/* Number of samples that are tested together, because most of an area is empty. */
#define BLEND_GROUP 8
typedef uint32_t BlendWords __attribute__((vector_size(4 * BLEND_GROUP)));
typedef int32_t BlendSigned __attribute__((vector_size(4 * BLEND_GROUP)));
typedef float BlendFloats __attribute__((vector_size(4 * BLEND_GROUP)));
typedef uint16_t BlendShorts __attribute__((vector_size(2 * BLEND_GROUP)));
typedef uint8_t BlendBytes __attribute__((vector_size(BLEND_GROUP)));

/* All functions with vector parameters are inlined, so the calling convention for vectors does not matter. */
#pragma GCC diagnostic ignored "-Wpsabi"
#define BLEND_INLINE static inline __attribute__((always_inline))

/* Samples of the picture in a row, `step` bytes apart. */
typedef struct BlendSamples {
    uint8_t *data;
    unsigned step;
    bool deep; /* two bytes each */
} BlendSamples;

/* Loads a group of pixels of the drawing, every `apart`th. Returns false if nothing is drawn there. */
BLEND_INLINE bool blend_load(const uint32_t *source, unsigned apart, uint32_t n, uint32_t pixels[BLEND_GROUP])
{
    uint64_t any[BLEND_GROUP / 2];
    for (unsigned i = 0; i < BLEND_GROUP; i++)
        pixels[i] = i < n ? source[i * apart] : 0;
    memcpy(any, pixels, sizeof any);
    return any[0] | any[1] | any[2] | any[3];
}

/* The contribution of pixels to one component. */
BLEND_INLINE BlendWords blend_over(const BlendWords *p, const CclBlendTarget *t)
{
    return ((uint32_t)t->red * (*p >> 16 & 255) + (uint32_t)t->green * (*p >> 8 & 255) +
            (uint32_t)t->blue * (*p & 255) + (uint32_t)t->alpha * (*p >> 24) + 32768) >> 16;
}

/* a * b / 255, rounded, of bytes. */
BLEND_INLINE BlendWords blend_product(BlendWords a, BlendWords b)
{
    const BlendWords product = a * b + 128;
    return (product + (product >> 8)) >> 8;
}

/* The same for a word of 16 bits and a byte. */
BLEND_INLINE BlendWords blend_deep_product(BlendWords a, BlendWords b)
{
    const BlendWords product = a * b + 127;
    const BlendWords quotient = (product + (product >> 8) + (product >> 16)) >> 8; /* the result, or one less */
    return quotient - (BlendWords)(product - quotient * 255 >= 255);
}

/* `pixels` over one component of bytes. */
BLEND_INLINE void blend_words(const uint32_t pixels[BLEND_GROUP], const CclBlendTarget *t, BlendWords *component)
{
    BlendWords p;
    memcpy(&p, pixels, sizeof p);
    const BlendWords sum = blend_over(&p, t) + blend_product(*component, 255 - (p >> 24));
    *component = (sum | (BlendWords)(sum > 255)) & 255;
}

/* `pixels` over one component of up to 16 bits. */
BLEND_INLINE void blend_deep_words(const uint32_t pixels[BLEND_GROUP], const CclBlendTarget *t, BlendWords *component)
{
    BlendWords p;
    memcpy(&p, pixels, sizeof p);
    const uint32_t max_value = (1u << t->depth) - 1;
    const BlendWords sum = blend_over(&p, t) + blend_deep_product(*component, 255 - (p >> 24));
    *component = (sum | (BlendWords)(sum > max_value)) & max_value;
}

/* n <= BLEND_GROUP samples; both steps are constants where this is called. */
BLEND_INLINE void blend_group(const uint32_t *source, unsigned apart, uint32_t n, const CclBlendTarget *t, BlendSamples to)
{
    uint32_t pixels[BLEND_GROUP];
    if (!blend_load(source, apart, n, pixels))
        return;
    BlendBytes bytes = { 0 };
    for (unsigned i = 0; i < n; i++)
        bytes[i] = to.data[i * to.step];
    BlendWords words = __builtin_convertvector(bytes, BlendWords);
    blend_words(pixels, t, &words);
    bytes = __builtin_convertvector(words, BlendBytes);
    for (unsigned i = 0; i < n; i++)
        to.data[i * to.step] = bytes[i];
}

/* The same of words of two bytes. */
BLEND_INLINE void blend_deep_group(const uint32_t *source, unsigned apart, uint32_t n, const CclBlendTarget *t, BlendSamples to)
{
    uint32_t pixels[BLEND_GROUP];
    if (!blend_load(source, apart, n, pixels))
        return;
    const uint16_t mask = (uint16_t)(((1u << t->depth) - 1) << t->low);
    BlendShorts shorts = { 0 };
    for (unsigned i = 0; i < n; i++) {
        uint16_t sample;
        memcpy(&sample, to.data + i * to.step, sizeof sample);
        shorts[i] = sample;
    }
    BlendWords words = __builtin_convertvector((shorts & mask) >> t->low, BlendWords);
    blend_deep_words(pixels, t, &words);
    shorts = (shorts & (uint16_t)~mask) | __builtin_convertvector(words, BlendShorts) << t->low;
    for (unsigned i = 0; i < n; i++) {
        const uint16_t sample = shorts[i];
        memcpy(to.data + i * to.step, &sample, sizeof sample);
    }
}

BLEND_INLINE void blend_samples(const uint32_t *source, unsigned apart, uint32_t n, const CclBlendTarget *t, BlendSamples to)
{
    if (to.deep)
        blend_deep_group(source, apart, n, t, to);
    else
        blend_group(source, apart, n, t, to);
}

/* `deep` and the steps are constants where this is called. */
BLEND_INLINE void blend_row(const uint32_t *source, unsigned apart, uint32_t n, const CclBlendTarget *t, BlendSamples to)
{
    for (; n >= BLEND_GROUP; n -= BLEND_GROUP) {
        blend_samples(source, apart, BLEND_GROUP, t, to);
        source += BLEND_GROUP * apart;
        to.data += BLEND_GROUP * to.step;
    }
    if (n)
        blend_samples(source, apart, n, t, to);
}

/* Fast for the sample layouts of common formats. */
BLEND_INLINE void blend_plane(const CclDrawing *drawing, const CclBlendArea *area, const CclBlendTarget *t, bool deep)
{
    const unsigned apart = 1u << t->shift_x, size = deep ? 2 : 1;
    const uint32_t n = (area->width + apart - 1) / apart;

    for (uint32_t y = area->y; y < area->y + area->height; y += 1u << t->shift_y) {
        const uint32_t *const source = drawing->pixels + y * drawing->stride + area->x;
        uint8_t *const to = t->data + (y >> t->shift_y) * t->stride + (area->x >> t->shift_x) * t->step;
        if (apart == 1 && t->step == size)
            blend_row(source, 1, n, t, (BlendSamples){ to, size, deep });
        else if (apart == 2 && t->step == size)
            blend_row(source, 2, n, t, (BlendSamples){ to, size, deep });
        else if (apart == 2 && t->step == 2 * size)
            blend_row(source, 2, n, t, (BlendSamples){ to, 2 * size, deep });
        else
            blend_row(source, apart, n, t, (BlendSamples){ to, t->step, deep });
    }
}

static void blend_component(const CclDrawing *drawing, const CclBlendArea *area, const CclBlendTarget *t)
{
    if (t->depth > 8)
        blend_plane(drawing, area, t, true);
    else
        blend_plane(drawing, area, t, false);
}

/* ---------------------------------------------------------------- red, green and blue in one word */

/* Bytes of a word from its lowest on. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define BLEND_SHIFT(byte) (8 * (byte))
#else
#define BLEND_SHIFT(byte) (24 - 8 * (byte))
#endif

/* Components of pixels of four bytes: three of them, or all four. */
static bool blend_is_packed(const CclBlendTarget *t, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (t[i].step != 4 || t[i].depth > 8 || t[i].shift_x || t[i].shift_y ||
            t[i].data - t[i].place != t->data - t->place)
            return false;
    return n == 3 || n == 4;
}

BLEND_INLINE void blend_packed_words(const uint32_t pixels[BLEND_GROUP], const CclBlendTarget *t, const unsigned *shift,
                                     BlendWords *words)
{
    for (unsigned i = 0; i < 3; i++) {
        BlendWords component = *words >> shift[i] & 255;
        blend_words(pixels, &t[i], &component);
        *words = (*words & ~(255u << shift[i])) | component << shift[i];
    }
}

/* Blends pixels that may be transparent. The division is rounded as for rational numbers: with integers below 2^18, floats are
 * accurate enough. */
BLEND_INLINE void blend_alpha_words(const uint32_t pixels[BLEND_GROUP], const CclBlendTarget *t, const unsigned *shift,
                                    BlendWords *words)
{
    BlendWords p;
    memcpy(&p, pixels, sizeof p);
    const BlendWords under = blend_product(*words >> shift[3] & 255, 255 - (p >> 24)), alpha = (p >> 24) + under;
    const BlendWords nothing = (BlendWords)(alpha == 0) & 1; /* transparent before and after: the pixel stays unchanged */
    const BlendFloats divisor = __builtin_convertvector((BlendSigned)(alpha + nothing), BlendFloats);
    BlendWords result = alpha << shift[3];
    for (unsigned i = 0; i < 3; i++) {
        const BlendWords sum = blend_over(&p, &t[i]) * 255 + (*words >> shift[i] & 255) * (under + nothing);
        const BlendFloats quotient = __builtin_convertvector((BlendSigned)sum, BlendFloats) / divisor + 0.5f;
        const BlendWords component = (BlendWords)__builtin_convertvector(quotient, BlendSigned);
        result |= ((component | (BlendWords)(component > 255)) & 255) << shift[i];
    }
    *words = result;
}

/* Whether all pixels are opaque; the first `n` belong to the picture. */
BLEND_INLINE bool blend_is_opaque(const BlendWords *words, uint32_t n, unsigned shift)
{
    uint32_t all = 255u << shift;
    for (unsigned i = 0; i < n; i++)
        all &= (*words)[i];
    return all == 255u << shift;
}

BLEND_INLINE void blend_packed_group(const uint32_t *source, uint32_t n, const CclBlendTarget *t, uint8_t *to,
                                     const unsigned *shift, bool has_alpha)
{
    uint32_t pixels[BLEND_GROUP];
    BlendWords words = { 0 };
    if (!blend_load(source, 1, n, pixels))
        return;
    memcpy(&words, to, n * sizeof(uint32_t));
    if (has_alpha && !blend_is_opaque(&words, n, shift[3]))
        blend_alpha_words(pixels, t, shift, &words);
    else
        blend_packed_words(pixels, t, shift, &words);
    memcpy(to, &words, n * sizeof(uint32_t));
}

/* `has_alpha` is a constant where this is called. */
BLEND_INLINE void blend_packed(const CclDrawing *drawing, const CclBlendArea *area, const CclBlendTarget *t,
                               bool has_alpha)
{
    unsigned shift[4] = { 0 };
    for (unsigned i = 0; i < (has_alpha ? 4 : 3); i++)
        shift[i] = BLEND_SHIFT(t[i].place);
    for (uint32_t y = area->y; y < area->y + area->height; y++) {
        const uint32_t *const source = drawing->pixels + y * drawing->stride + area->x;
        uint8_t *const to = t->data - t->place + y * t->stride + 4 * area->x;
        uint32_t i = 0;
        for (; i + BLEND_GROUP <= area->width; i += BLEND_GROUP)
            blend_packed_group(source + i, BLEND_GROUP, t, to + 4 * i, shift, has_alpha);
        if (i < area->width)
            blend_packed_group(source + i, area->width - i, t, to + 4 * i, shift, has_alpha);
    }
}

/* ---------------------------------------------------------------- all */

#define PASTE(name, suffix) name##suffix
#define WITH_SUFFIX(name, suffix) PASTE(name, suffix)
#define BLEND_AREAS WITH_SUFFIX(ccl_blend_areas_, CCL_TIER)

BlendAreas BLEND_AREAS;

void BLEND_AREAS(const CclDrawing *drawing, const CclBlendArea *areas, size_t n_areas, const CclBlendTarget *targets,
                 unsigned n)
{
    const bool packed = blend_is_packed(targets, n);
    for (size_t i = 0; i < n_areas; i++) {
        for (unsigned c = 0; c < n && !packed; c++)
            blend_component(drawing, &areas[i], &targets[c]);
        if (packed && n == 3)
            blend_packed(drawing, &areas[i], targets, false);
        else if (packed)
            blend_packed(drawing, &areas[i], targets, true);
    }
}
