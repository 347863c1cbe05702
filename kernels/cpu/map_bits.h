/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Rows of label maps that strip.h can label; compiled for each tier, with its instructions. In such a row the background is
 * between all runs, and runs that touch in it and in the row above have equal values:
 *
 *     above  a a . b b .     yes                a a . b b .     no: b touches a
 *     here   . a . . b b                        . b . . b b
 */
#ifndef CCL_CPU_MAP_BITS_H
#define CCL_CPU_MAP_BITS_H

#include "map.h"
#include "strip.h"

ALWAYS_INLINE uint64_t equal_pixels(const uint8_t *p, const uint8_t *q, bool wide)
{
    return wide ? equal_u16(p, q) : equal_u8(p, q);
}

/* The same of n < 64 pixels, and no byte more. */
ALWAYS_INLINE uint64_t equal_rest(const uint8_t *p, const uint8_t *q, uint32_t n, bool wide)
{
    uint8_t from[128] = { 0 }, to[128] = { 0 };
    memcpy(from, p, (size_t)n << wide);
    memcpy(to, q, (size_t)n << wide);
    return equal_pixels(from, to, wide) & below(n);
}

/* Of words w0..w1-1, bit x: a pixel differs from its left neighbour. The first has none and is set; bits past the width are 0. */
ALWAYS_INLINE void find_starts(const uint8_t *p, uint32_t width, bool wide, uint32_t w0, uint32_t w1, uint64_t *starts)
{
    const size_t size = (size_t)1 << wide;
    const uint32_t full = width / 64;
    uint8_t left[128]; /* the left neighbours of the first 64 pixels */

    if (w0 == 0) {
        memset(left, 0, sizeof left);
        memcpy(left + size, p, ((width < 64 ? width : 64) - 1) * size);
    }
    for (uint32_t w = w0; w < w1; w++) {
        const uint8_t *const pixels = p + w * 64 * size, *const before = w ? pixels - size : left;
        starts[w - w0] =
            w < full ? ~equal_pixels(pixels, before, wide) : ~equal_rest(pixels, before, width % 64, wide) & below(width % 64);
    }
    if (w0 == 0)
        starts[0] |= 1;
}

ALWAYS_INLINE void fill_background(CclMapStrip *map, bool wide)
{
    const uint16_t value = (uint16_t)map->background_value;
    for (uint32_t i = 0; i < 64; i++)
        if (wide)
            memcpy(map->background + 2 * i, &value, 2);
        else
            map->background[i] = (uint8_t)value;
    map->background_bits = map->background_value > (wide ? UINT16_MAX : UINT8_MAX) ? 0 : ~(uint64_t)0;
}

/* What a row of a map is, beside its bits. */
typedef struct MapBits {
    uint64_t differs; /* from the row above */
    bool pure;        /* runs of different values do not stand side by side; false: not known */
} MapBits;

/* Pixels of a row, and what of the row above they are compared with. */
typedef struct MapPixels {
    const uint8_t *here, *above; /* above: NULL: without */
    uint32_t width;
    bool above_is_pure;
} MapPixels;

/* Word w: sets bits[] and differs[]; returns the bits where values can change inside the foreground. */
ALWAYS_INLINE uint64_t pack_map_word(const CclMapStrip *map, const MapPixels *p, uint32_t w, uint32_t n, bool wide,
                                     uint64_t *bits)
{
    const size_t at = (size_t)w * 64 << wide;
    const uint8_t *const here = p->here + at;
    const uint64_t past = n < 64 ? ~below(n) : 0;
    const uint64_t equal = n < 64 ? equal_rest(here, map->background, n, wide) : equal_pixels(here, map->background, wide);
    const uint64_t ground = past | (equal & map->background_bits);
    uint64_t same = 0;
    if (p->above)
        same = past | (n < 64 ? equal_rest(here, p->above + at, n, wide) : equal_pixels(here, p->above + at, wide));
    const uint64_t word = ~ground, differs = ~same & ~past;
    bits[w] = word;
    map->differs[w] = differs;
    const uint64_t changed = differs | differs << 1 | map->differs[(int32_t)w - 1] >> 63 | (p->above_is_pure ? 0 : ~(uint64_t)0);
    return word & (word << 1 | bits[(int32_t)w - 1] >> 63) & changed;
}

ALWAYS_INLINE MapBits pack_map_row(const CclMapStrip *map, const MapPixels *p, bool wide, uint64_t *bits)
{
    const uint32_t full = p->width / 64, rest = p->width % 64;
    MapBits row = { 0, true };

    bits[full] = 0;
    for (uint32_t from = 0; from <= full; from += 64) {
        const uint32_t to = full - from < 64 ? full : from + 64;
        uint64_t inside = 0; /* bit w: word from + w has runs whose values can change */
        for (uint32_t w = from; w < to; w++) {
            fetch_ahead(p->here + ((size_t)w * 64 << wide));
            if (wide)
                fetch_ahead(p->here + ((size_t)w * 64 << wide) + 64);
            inside |= (uint64_t)(pack_map_word(map, p, w, 64, wide, bits) != 0) << (w - from);
            row.differs |= map->differs[w];
        }
        if (to == full && rest && full - from < 64) {
            inside |= (uint64_t)(pack_map_word(map, p, full, rest, wide, bits) != 0) << (full - from);
            row.differs |= map->differs[full];
        }
        for (; inside && row.pure; inside &= inside - 1) {
            const uint32_t w = from + lowest(inside);
            uint64_t starts;
            find_starts(p->here, p->width, wide, w, w + 1, &starts);
            row.pure &= !(starts & bits[w] & (bits[w] << 1 | bits[(int32_t)w - 1] >> 63));
        }
    }
    return row;
}

/* Reads the values of runs. Returns whether they differ. */
ALWAYS_INLINE bool read_class_ids(const uint8_t *pixels, const CclRow *row, bool wide, uint16_t *class_id)
{
    const uint16_t *restrict const x = row->x;
    uint32_t differ = 0;
    for (size_t k = 0, n = row->n; k < n; k++) {
        uint16_t value = pixels[x[2 * k]];
        if (wide)
            memcpy(&value, pixels + 2 * (size_t)x[2 * k], 2);
        class_id[k] = value;
        differ |= value ^ class_id[0];
    }
    return differ;
}

/* Whether runs of `here` have the values of all runs above that they touch, also at a corner. */
static inline bool touches_equals(const CclRow *here, const uint16_t *class_id, const CclRow *above, const uint16_t *class_above)
{
    const uint16_t *restrict const x_above = above->x;
    uint32_t n_differ = 0;
    for (size_t k = 0; k < here->n; k++) {
        const uint32_t x1 = here->x[2 * k + 1];
        size_t j = ends_before(above, here->x[2 * k]);
        n_differ += (x_above[2 * j] <= x1) & (class_above[j] != class_id[k]);
        while (x_above[2 * j] <= x1 && x_above[2 * j + 2] <= x1) {
            j++;
            n_differ += class_above[j] != class_id[k];
        }
    }
    return n_differ == 0;
}

#endif
