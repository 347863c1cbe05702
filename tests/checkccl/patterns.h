/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Named images that are hard for one method or another. */
#ifndef CHECKCCL_PATTERNS_H
#define CHECKCCL_PATTERNS_H

#include "image.h"

typedef struct Pattern {
    const char *name;
    bool (*set)(uint32_t x, uint32_t y, uint32_t width, uint32_t height); /* is this pixel foreground? */
} Pattern;

extern const Pattern patterns[]; /* ends with a NULL name */

Image pattern_draw(const Pattern *pattern, uint32_t width, uint32_t height);
/* By name; ends the program when there is none. */
Image pattern_named(const char *name, uint32_t width, uint32_t height);

/* The four pixels around every multiple of `word` columns take all 16 values, in 512 rows so that every pair of values
 * occurs in neighbouring rows; all other pixels are `rest`. What a method that works in words of that many pixels can
 * get wrong between two of them. */
Image pattern_word_edges(uint32_t word, bool rest);

/* The images of all 2^(width * height) masks, side by side with a blank pixel between: every small image at once, at
 * every alignment. At most 16 pixels. */
Image pattern_mosaic(uint32_t width, uint32_t height);

/*
 * Ridge patterns: Asad, Marroquim, Souza, "On GPU Connected Components and Properties", 2019.
 *
 * R_l, 1 <= level <= 12, which label equivalence needs exactly `level` iterations for, is a trapezoid with a crest of
 * peaks on top (equations 6 to 12): 2^(l-2) + 1 peaks, three pixels apart, the i-th as high as there are powers of two
 * up to 2^(l-2) that divide i, plus one. The trapezoid is as wide as the crest at the top and a pixel wider to the right
 * with each row; this is what the first form of equation 11 gives, and its second form is one pixel more.
 *
 * unit: how wide a peak is, R_l^k has 2^k (equations 13 to 16; the height of the crest does not change). For level 1,
 * which those equations do not hold for, the pattern is the 2x2 square of R_1, `unit` times as large.
 */
Image pattern_ridge(unsigned level, uint32_t unit);

/* The largest n with 2^n <= size: a family's images are 2^n x 2^n pixels, in the top left corner of an image. */
unsigned ridge_order(uint32_t width, uint32_t height);

/* A family: 4^splits patterns of one level, each in a cell of its own, as large as fits. */
typedef struct Ridges {
    unsigned level, splits;
    double present; /* chance in percent that a pattern is there */
    double merged;  /* chance in percent that two neighbours are joined by a line */
} Ridges;

/* False where the image is too small: 1 <= level, level + splits < ridge_order(). */
bool pattern_ridges(Image *image, const Ridges *ridges, Random *random);

#endif
