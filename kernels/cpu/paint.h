/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Lines -> label image; compiled for each tier, with its instructions. Needs the tier's put_positions(). */
#ifndef CCL_CPU_PAINT_H
#define CCL_CPU_PAINT_H

#include "tier.h"
#include "words.h"

static inline void fill(uint32_t *out, uint32_t x0, uint32_t x1, uint32_t value)
{
    for (uint32_t x = x0; x < x1; x++)
        out[x] = value;
}

static void paint_runs(uint32_t *out, uint32_t width, const uint16_t *x, uint32_t n, const uint32_t *label,
                       const uint32_t *final)
{
    uint32_t from = 0;
    for (uint32_t k = 0; k < n; k++) {
        fill(out, from, x[2 * k], 0);
        fill(out, x[2 * k], x[2 * k + 1], final[label[k]]);
        from = x[2 * k + 1];
    }
    fill(out, from, width, 0);
}

static void paint_line(const CclStrip *strip, const CclLine *line, const uint64_t *bits, const CclLabels *labels,
                       const uint32_t *final)
{
    const uint32_t width = strip->mask->width;
    uint16_t *x = strip->row[0].x;
    uint64_t last = 0;
    uint32_t *const out = labels_row(labels, line->y0);

    for (uint32_t w = 0; line->n && w < row_words(width); w++) {
        x = put_positions(x, bits[w] ^ (bits[w] << 1 | last >> 63), w * 64);
        last = bits[w];
    }
    paint_runs(out, width, strip->row[0].x, line->n, strip->line_labels + line->first_run, final);
    for (uint32_t y = line->y0 + 1; y < line->y1; y++)
        memcpy(labels_row(labels, y), out, (size_t)width * sizeof *out);
}

static void paint_strip(const CclStrip *strip, const CclLabels *labels, const uint32_t *final)
{
    const uint32_t words = row_words(strip->mask->width);
    for (uint32_t i = 0; i < strip->n_lines; i++)
        paint_line(strip, &strip->line[i], strip->line_bits + (size_t)i * words, labels, final);
}

#endif
