/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Blending: every SIMD tier gives the bytes of the formula, and touches no others. */
#include "analysis/blend.h"

#include "checkccl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t tiers[] = {
    0, CCL_CPU_SSE2, CCL_CPU_SSE2 | CCL_CPU_SSE42, CCL_CPU_SSE2 | CCL_CPU_SSE42 | CCL_CPU_AVX2, CCL_CPU_ALL
};

/* How a picture's components lie: I420, NV12, BGRx, xRGB, RGB, Y41B, ... */
typedef struct Kind {
    const char *name;
    unsigned n, step, packed; /* packed: components share a plane; four of them: the last is alpha */
    unsigned shift_x, shift_y; /* of all but the first */
    unsigned place[4];
    unsigned depth, low;
} Kind;

static const Kind kinds[] = {
    { "planar 4:2:0", 3, 1, 0, 1, 1, { 0, 0, 0 }, 8, 0 },
    { "half planar 4:2:0", 3, 2, 0, 1, 1, { 0, 0, 1 }, 8, 0 },
    { "BGRx", 3, 4, 1, 0, 0, { 2, 1, 0 }, 8, 0 },
    { "xRGB", 3, 4, 1, 0, 0, { 1, 2, 3 }, 8, 0 },
    { "RGB", 3, 3, 1, 0, 0, { 0, 1, 2 }, 8, 0 },
    { "planar 4:1:1", 3, 1, 0, 2, 0, { 0, 0, 0 }, 8, 0 },
    { "gray", 1, 1, 0, 0, 0, { 0 }, 8, 0 },
    { "BGRA", 4, 4, 1, 0, 0, { 2, 1, 0, 3 }, 8, 0 },
    { "ARGB", 4, 4, 1, 0, 0, { 1, 2, 3, 0 }, 8, 0 },
    { "planar 4:2:0, 10 bits", 3, 2, 0, 1, 1, { 0, 0, 0 }, 10, 0 },
    { "half planar 4:2:0, 10 high bits", 3, 4, 0, 1, 1, { 0, 0, 2 }, 10, 6 },
    { "planar 4:4:4, 12 bits", 3, 2, 0, 0, 0, { 0, 0, 0 }, 12, 0 },
    { "planar 4:2:2, 16 bits", 3, 2, 0, 1, 0, { 0, 0, 0 }, 16, 0 },
    { "planar 4:1:0, 9 bits in the middle", 3, 2, 0, 2, 2, { 0, 0, 0 }, 9, 3 },
    { "gray, 16 bits", 1, 2, 0, 0, 0, { 0 }, 16, 0 },
};

/* Luma, and chroma, which takes a negative share; full range and video range; alpha. */
static const int32_t factors[4][4] = {
    { 16829, 33039, 6416, 4112 }, { -9714, -19070, 28784, 32896 }, { 32768, -27439, -5329, 32896 }, { 0, 0, 0, 65536 }
};

static int32_t factor(unsigned component, unsigned i, unsigned depth)
{
    return (int32_t)(factors[component][i] * (double)((1 << depth) - 1) / 255);
}

static uint32_t random_pixel(Random *random)
{
    static const uint32_t alphas[] = { 0, 0, 255, 128, 1, 254 };
    const uint32_t alpha = random_chance(random, 20) ? random_below(random, 256) : alphas[random_below(random, 6)];
    uint32_t p = alpha << 24;
    for (unsigned shift = 0; shift < 24; shift += 8)
        p |= random_below(random, alpha + 1) << shift;
    return p;
}

static double rounded(double x)
{
    return floor(x + 0.5);
}

static double expected_over(uint32_t p, const CclBlendTarget *t)
{
    const double red = p >> 16 & 255, green = p >> 8 & 255, blue = p & 255, alpha = p >> 24;
    return rounded((t->red * red + t->green * green + t->blue * blue + t->alpha * alpha) / 65536);
}

static double expected_value(uint32_t p, unsigned under, const CclBlendTarget *t)
{
    const double max_value = (1 << t->depth) - 1;
    const double sum = expected_over(p, t) + rounded(under * (255.0 - (p >> 24)) / 255);
    return sum > max_value ? max_value : sum;
}

static unsigned read_sample(const uint8_t *at, const CclBlendTarget *t)
{
    uint16_t word = *at;
    if (t->depth > 8)
        memcpy(&word, at, sizeof word);
    return word >> t->low & ((1u << t->depth) - 1);
}

static void write_sample(uint8_t *at, const CclBlendTarget *t, unsigned value)
{
    const unsigned mask = ((1u << t->depth) - 1) << t->low;
    uint16_t word = *at;
    if (t->depth > 8)
        memcpy(&word, at, sizeof word);
    word = (uint16_t)((word & ~mask) | value << t->low);
    if (t->depth > 8)
        memcpy(at, &word, sizeof word);
    else
        *at = (uint8_t)word;
}

typedef struct Picture {
    uint8_t *bytes;
    size_t size;
    CclBlendTarget targets[4];
} Picture;

/* Planes one behind the other, with something between the rows. */
static void lay_out(Picture *picture, const Kind *kind, uint32_t width, uint32_t height)
{
    size_t at = 5;
    for (unsigned i = 0; i < kind->n; i++) {
        const bool shares = i > 0 && (kind->packed || kind->place[i] > 0);
        CclBlendTarget *const t = &picture->targets[i];
        const unsigned step = kind->packed || i > 0 ? kind->step : kind->depth > 8 ? 2 : 1;
        const uint32_t columns = i > 0 ? (width + (1u << kind->shift_x) - 1) >> kind->shift_x : width;
        const uint32_t rows = i > 0 ? (height + (1u << kind->shift_y) - 1) >> kind->shift_y : height;
        *t = (CclBlendTarget){ .step = step, .stride = columns * step + 3, .place = kind->place[i],
                               .depth = kind->depth, .low = kind->low,
                               .shift_x = i > 0 ? kind->shift_x : 0, .shift_y = i > 0 ? kind->shift_y : 0,
                               .red = factor(i, 0, kind->depth), .green = factor(i, 1, kind->depth),
                               .blue = factor(i, 2, kind->depth), .alpha = factor(i, 3, kind->depth) };
        if (shares) {
            t->data = picture->targets[i - 1].data - kind->place[i - 1] + kind->place[i];
        } else {
            t->data = picture->bytes + at + kind->place[i];
            at += t->stride * rows;
        }
    }
    picture->size = at - 3; /* the last row ends with its last sample */
}

/* A pixel of four components, seen through as far as the last of them says. */
static void blend_pixel_with_alpha(const Picture *picture, uint32_t p, uint32_t x, uint32_t y)
{
    const size_t at = y * picture->targets[0].stride + (size_t)x * picture->targets[0].step;
    const double under = rounded(picture->targets[3].data[at] * (255.0 - (p >> 24)) / 255), alpha = (p >> 24) + under;
    for (unsigned i = 0; i < 3 && alpha > 0; i++) {
        uint8_t *const to = picture->targets[i].data + at;
        const double value = rounded((expected_over(p, &picture->targets[i]) * 255 + *to * under) / alpha);
        *to = (uint8_t)(value > 255 ? 255 : value);
    }
    picture->targets[3].data[at] = (uint8_t)alpha;
}

static void blend_plainly(const Picture *picture, const Kind *kind, const CclDrawing *drawing, const CclBlendArea *area)
{
    for (unsigned i = 0; i < (kind->n == 4 ? 1 : kind->n); i++) {
        const CclBlendTarget *const t = &picture->targets[i];
        for (uint32_t y = area->y; y < area->y + area->height; y += 1u << t->shift_y)
            for (uint32_t x = area->x; x < area->x + area->width; x += 1u << t->shift_x) {
                uint8_t *const to = t->data + (y >> t->shift_y) * t->stride + (x >> t->shift_x) * t->step;
                const uint32_t p = drawing->pixels[y * drawing->stride + x];
                if (kind->n == 4)
                    blend_pixel_with_alpha(picture, p, x, y);
                else
                    write_sample(to, t, (unsigned)expected_value(p, read_sample(to, t), t));
            }
    }
}

/* Some pictures with alpha are opaque all over, some in places, some nowhere. */
static void make_opaque(uint8_t *bytes, size_t size, unsigned chance, Random *random)
{
    for (size_t i = 0; i < size; i++)
        if (random_chance(random, chance))
            bytes[i] = random_chance(random, 90) ? 255 : 0;
}

static void check_kind(Session *session, const Kind *kind, uint32_t width, uint32_t height)
{
    const size_t room = 64 + 8 * (size_t)(width + 8) * (height + 1);
    uint32_t *const pixels = malloc((size_t)width * height * sizeof *pixels);
    uint8_t *const before = malloc(room), *const expected = malloc(room);
    CclDrawing drawing = { .pixels = pixels, .stride = width };
    /* Two areas that meet: what is blended twice shows. */
    const uint32_t half = width / 2 / 4 * 4;
    const CclBlendArea areas[2] = { { 0, 0, half, height }, { half, 0, width - half, height } };
    Picture picture;

    for (size_t i = 0; i < (size_t)width * height; i++)
        pixels[i] = random_pixel(&session->random);
    for (size_t i = 0; i < room; i++)
        before[i] = (uint8_t)random_below(&session->random, 256);
    if (kind->n == 4)
        make_opaque(before, room, 50 * random_below(&session->random, 3), &session->random);
    memcpy(expected, before, room);
    picture.bytes = expected;
    lay_out(&picture, kind, width, height);
    for (unsigned a = 0; a < 2; a++)
        blend_plainly(&picture, kind, &drawing, &areas[a]);
    for (unsigned i = 0; i < sizeof tiers / sizeof *tiers; i++) {
        /* Not a byte more than the picture: what lies behind it is nobody's business. */
        picture.bytes = malloc(picture.size);
        memcpy(picture.bytes, before, picture.size);
        lay_out(&picture, kind, width, height);
        drawing.cpu_flags = tiers[i];
        ccl_blend(&drawing, areas, 2, picture.targets, kind->n);
        check(session, !memcmp(picture.bytes, expected, picture.size), "blend: %s %ux%u, tier %u", kind->name, width,
              height, i);
        free(picture.bytes);
    }
    free(pixels);
    free(before);
    free(expected);
}

void check_blend(Session *session)
{
    static const uint32_t sizes[][2] = { { 1, 1 }, { 3, 2 }, { 8, 8 }, { 17, 5 }, { 64, 31 }, { 301, 7 } };
    for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
            check_kind(session, &kinds[k], sizes[i][0], sizes[i][1]);
}
