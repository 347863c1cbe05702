/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "pictures.h"

#include "judge.h"

#include <string.h>

const PictureKind picture_kinds[N_PICTURES] = {
    { "GRAY8", 1, PICTURE_GRAY, 0, 0, PICTURE_RANDOM },
    [PICTURE_I420] = { "I420", 1, PICTURE_PLANES, 1, 1, PICTURE_RANDOM },
    { "NV12", 1, PICTURE_PAIRS, 1, 1, PICTURE_RANDOM },
    { "NV21, extremes", 1, PICTURE_SWAPPED_PAIRS, 1, 1, PICTURE_EXTREMES },
    { "Y444", 1, PICTURE_PLANES, 0, 0, PICTURE_RANDOM },
    { "YUV9, white", 1, PICTURE_PLANES, 2, 2, PICTURE_WHITE },
    { "NV16", 1, PICTURE_PAIRS, 1, 0, PICTURE_EXTREMES },
    { "GRAY8, black", 1, PICTURE_GRAY, 0, 0, PICTURE_BLACK },
    { "GRAY16", 2, PICTURE_GRAY, 0, 0, PICTURE_RANDOM },
    { "P010", 2, PICTURE_PAIRS, 1, 1, PICTURE_EXTREMES },
    { "I420 of 16 bits, white", 2, PICTURE_PLANES, 1, 1, PICTURE_WHITE },
};

unsigned picture_sample(const PictureKind *kind, PictureComponent component, uint32_t x, uint32_t y)
{
    const unsigned largest = kind->sample_size == 2 ? 0xffff : 0xff;
    uint64_t hash = (x + 1) * 0x9e3779b97f4a7c15u ^ (y + 1) * 0xc2b2ae3d27d4eb4fu ^ (uint64_t)component << 60;
    hash = (hash ^ hash >> 29) * 0xbf58476d1ce4e5b9u;
    hash ^= hash >> 32;
    switch (kind->values) {
    case PICTURE_RANDOM:
        return (unsigned)hash & largest;
    case PICTURE_EXTREMES:
        return hash & 1 ? largest : 0;
    case PICTURE_BLACK:
        return 0;
    case PICTURE_WHITE:
        break;
    }
    return largest;
}

size_t picture_row_size(const PictureRow *row)
{
    return (size_t)row->n * row->kind->sample_size * (row->component == PICTURE_BOTH ? 2 : 1);
}

static PictureComponent component_at(const PictureRow *row, uint32_t i)
{
    if (row->component != PICTURE_BOTH)
        return row->component;
    return (i % 2 == 0) == (row->kind->chroma == PICTURE_PAIRS) ? PICTURE_CB : PICTURE_CR;
}

void picture_draw_row(const PictureRow *row, uint8_t *samples)
{
    const unsigned size = row->kind->sample_size, step = row->component == PICTURE_BOTH ? 2 : 1;
    for (uint32_t i = 0; i < row->n * step; i++) {
        const uint16_t sample = (uint16_t)picture_sample(row->kind, component_at(row, i), i / step, row->y);
        if (size == 2)
            memcpy(samples + 2 * (size_t)i, &sample, 2);
        else
            samples[i] = (uint8_t)sample;
    }
}

uint32_t picture_chroma_size(uint32_t n, unsigned shift)
{
    return (n + (1u << shift) - 1) >> shift;
}

CclPicture picture_of_kind(const PictureKind *kind)
{
    return (CclPicture){ .sample_size = kind->sample_size,
                         .chroma_step = kind->chroma == PICTURE_PLANES ? 1 : 2,
                         .shift_x = kind->shift_x,
                         .shift_y = kind->shift_y };
}

void picture_swap(const PictureKind *kind, CclPicture *picture)
{
    const void *const first = picture->chroma[0];
    if (kind->chroma != PICTURE_SWAPPED_PAIRS)
        return;
    picture->chroma[0] = picture->chroma[1];
    picture->chroma[1] = first;
}

static uint8_t *draw_plane(uint8_t *to, const PictureRow *rows, uint32_t height)
{
    for (uint32_t y = 0; y < height; y++, to += picture_row_size(rows))
        picture_draw_row(&(PictureRow){ rows->kind, rows->component, y, rows->n }, to);
    return to;
}

/* The picture that was asked for last: a benchmark asks for it before each frame. */
static struct {
    unsigned kind;
    uint32_t width, height;
    uint8_t *samples;
    size_t size;
    CclPicture picture;
} last;

const CclPicture *picture_plain(unsigned which, uint32_t width, uint32_t height)
{
    const PictureKind *const kind = &picture_kinds[which];
    const uint32_t n = picture_chroma_size(width, kind->shift_x), n_rows = picture_chroma_size(height, kind->shift_y);
    const PictureRow luma = { kind, PICTURE_LUMA, 0, width };
    const PictureRow chroma = { kind, kind->chroma == PICTURE_PLANES ? PICTURE_CB : PICTURE_BOTH, 0, n };
    const PictureRow second = { kind, PICTURE_CR, 0, n };
    CclPicture *const picture = &last.picture;

    if (last.samples && last.kind == which && last.width == width && last.height == height)
        return picture;
    last.kind = which, last.width = width, last.height = height;
    last.samples = grow(last.samples, &last.size, height * picture_row_size(&luma) + 2 * (size_t)n_rows * n * kind->sample_size);
    *picture = picture_of_kind(kind);
    picture->luma = last.samples;
    picture->stride = picture_row_size(&luma);
    uint8_t *const end = draw_plane(last.samples, &luma, height);
    if (kind->chroma == PICTURE_GRAY)
        return picture;
    picture->chroma[0] = end;
    picture->chroma_stride = picture_row_size(&chroma);
    uint8_t *const behind = draw_plane(end, &chroma, n_rows);
    picture->chroma[1] = kind->chroma == PICTURE_PLANES ? behind : end + kind->sample_size;
    if (kind->chroma == PICTURE_PLANES)
        draw_plane(behind, &second, n_rows);
    picture_swap(kind, picture);
    return picture;
}
