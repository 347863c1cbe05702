/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A drawing over a picture: premultiplied ARGB over the components of a frame.
 *
 *     component = red * R + green * G + blue * B + alpha * A  +  component * (255 - A) / 255
 *
 * which is one and the same for R, G and B, for luma and for chroma: only the four factors differ. Where several pixels
 * share a sample it takes the first of them: lines a few pixels wide keep their colour, which a mean would wash out.
 *
 * In a picture with alpha, which its other components are not multiplied by, what is under the drawing counts as far as
 * it is seen:
 *
 *     under     = alpha of the picture * (255 - A) / 255
 *     component = ((red * R + green * G + blue * B + alpha * A) * 255  +  component * under) / (A + under)
 *     alpha     = A + under
 */
#ifndef CCL_BLEND_H
#define CCL_BLEND_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Pixels of 32 bits, alpha in the highest byte, then red, green and blue, none of them larger than alpha; the first one
 * is that of the picture. */
typedef struct CclDrawing {
    const uint32_t *pixels;
    size_t stride;      /* pixels from row to row */
    uint32_t cpu_flags; /* as in CclConfig */
} CclDrawing;

/* One component of the picture. */
typedef struct CclBlendTarget {
    uint8_t *data;             /* its first sample */
    size_t stride;             /* bytes from row to row */
    unsigned step;             /* bytes from sample to sample */
    unsigned place;            /* of its first byte among those */
    unsigned depth;            /* bits: 8 of a byte, or 9..16 of a word of two, in this machine's order */
    unsigned low;              /* the lowest of them in that; bits outside stay as they are */
    unsigned shift_x, shift_y; /* 1 << shift pixels share a sample: 0..2 */
    int32_t red, green, blue, alpha; /* factors times 65536; what they make of any pixel is within the depth's range */
} CclBlendTarget;

/* Part of the picture; x and y are multiples of the pixels that share a sample. */
typedef struct CclBlendArea {
    uint32_t x, y, width, height;
} CclBlendArea;

/* Every tier gives the same bytes. Of four targets the last is the picture's alpha (its factors count for nothing); all
 * four are then bytes of one plane with pixels of four bytes. */
void ccl_blend(const CclDrawing *drawing, const CclBlendArea *areas, size_t n_areas, const CclBlendTarget *targets,
               unsigned n);

#ifdef __cplusplus
}
#endif

#endif
