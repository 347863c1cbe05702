/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Blends a drawing over a picture: premultiplied ARGB over the components of a frame.
 *
 *     component = red * R + green * G + blue * B + alpha * A  +  component * (255 - A) / 255
 *
 * The formula is the same for R, G and B, for luma and for chroma. Only the four factors differ. If several pixels share a
 * sample, the first one is used: so lines of a few pixels keep their colour, which a mean would fade.
 *
 * In a picture with alpha that is not premultiplied, the picture under the drawing is weighted with its visibility:
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

/* Pixels of 32 bits: alpha in the highest byte, then red, green and blue, none of them larger than alpha. The first pixel
 * belongs to the first pixel of the picture. */
typedef struct CclDrawing {
    const uint32_t *pixels;
    size_t stride;      /* pixels from row to row */
    uint32_t cpu_flags; /* as in CclConfig */
} CclDrawing;

/* One component of the picture. */
typedef struct CclBlendTarget {
    uint8_t *data;                   /* its first sample */
    size_t stride;                   /* bytes from row to row */
    unsigned step;                   /* bytes from sample to sample */
    unsigned place;                  /* offset of its first byte in the step */
    unsigned depth;                  /* bits: 8 in a byte, or 9..16 in two bytes of native order */
    unsigned low;                    /* index of the lowest of these bits; the other bits stay unchanged */
    unsigned shift_x, shift_y;       /* 1 << shift pixels share a sample: 0..2 */
    int32_t red, green, blue, alpha; /* factors times 65536; their result for any pixel is within the range of the depth */
} CclBlendTarget;

/* Part of the picture; x and y are multiples of the pixels that share a sample. */
typedef struct CclBlendArea {
    uint32_t x, y, width, height;
} CclBlendArea;

/* Every tier gives the same bytes. If there are four targets, the last is the picture's alpha, whose factors are ignored. All
 * four are then bytes of one plane with pixels of four bytes. */
void ccl_blend(const CclDrawing *drawing, const CclBlendArea *areas, size_t n_areas, const CclBlendTarget *targets,
               unsigned n);

#ifdef __cplusplus
}
#endif

#endif
