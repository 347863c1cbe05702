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
 * Ridge pattern R_l, 1 <= level <= 12: a trapezoid with a crest of peaks on top, which label equivalence needs exactly
 * `level` iterations for. Asad, Marroquim, Souza, "On GPU Connected Components and Properties", 2019, equations 6 to 12:
 * 2^(l-2) + 1 peaks, three pixels apart, the i-th as high as there are powers of two up to 2^(l-2) that divide i, plus one.
 * The trapezoid is as wide as the crest at the top and a pixel wider to the right with each row; this is what the first form
 * of equation 11 gives, and its second form is one pixel more.
 */
Image pattern_ridge(unsigned level);

#endif
