/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Pictures for CCL_FEATURE_INTENSITY: each sample follows from its place, so that a picture need not be kept. */
#ifndef CHECKCCL_PICTURES_H
#define CHECKCCL_PICTURES_H

#include "ccl.h"

typedef enum PictureChroma {
    PICTURE_GRAY,   /* none */
    PICTURE_PLANES, /* two planes */
    PICTURE_PAIRS,  /* one plane, blue difference first */
    PICTURE_SWAPPED_PAIRS,
} PictureChroma;

typedef enum PictureValues {
    PICTURE_RANDOM,
    PICTURE_EXTREMES, /* the smallest or the largest */
    PICTURE_BLACK,
    PICTURE_WHITE,
} PictureValues;

typedef struct PictureKind {
    const char *name;
    unsigned sample_size;
    PictureChroma chroma;
    unsigned shift_x, shift_y;
    PictureValues values;
} PictureKind;

enum { PICTURE_I420 = 1, N_PICTURES = 11 };
extern const PictureKind picture_kinds[N_PICTURES];

typedef enum PictureComponent { PICTURE_LUMA, PICTURE_CB, PICTURE_CR, PICTURE_BOTH } PictureComponent;

unsigned picture_sample(const PictureKind *kind, PictureComponent component, uint32_t x, uint32_t y);

/* n samples, or n pairs of both kinds of chroma. */
typedef struct PictureRow {
    const PictureKind *kind;
    PictureComponent component;
    uint32_t y, n;
} PictureRow;

size_t picture_row_size(const PictureRow *row); /* bytes */
void picture_draw_row(const PictureRow *row, uint8_t *samples);

/* Samples of chroma for n of luma. */
uint32_t picture_chroma_size(uint32_t n, unsigned shift);
/* Everything but planes and strides. */
CclPicture picture_of_kind(const PictureKind *kind);
/* Exchanges the planes where the kind has them in the other order. */
void picture_swap(const PictureKind *kind, CclPicture *picture);

/* A whole picture, without space between rows. Valid until the next call. */
const CclPicture *picture_plain(unsigned kind, uint32_t width, uint32_t height);

#endif
