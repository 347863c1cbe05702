/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Stored rows -> label image; compiled for each tier, with its instructions. The tier's positions_*.h and paint_*.h must come
 * before. */
#ifndef CCL_CPU_PAINT_H
#define CCL_CPU_PAINT_H

#include "tier.h"
#include "host/words.h"

/* Fills [from, to) with whole vectors. The last vector may reach past `to`, but not past `width`: the next call, to the
 * right, fills those pixels again. */
ALWAYS_INLINE void fill(uint32_t *out, uint32_t from, uint32_t to, uint32_t width,
                                                       uint32_t value)
{
    for (; from < to && from + LANES <= width; from += LANES)
        store_lanes(out + from, value);
    for (; from < to; from++)
        out[from] = value;
}

/* Run by run. */
static void paint_runs(uint32_t *out, uint32_t width, const uint64_t *bits, uint16_t *x, const uint32_t *label,
                       uint32_t n)
{
    uint16_t *last = x;
    for (uint32_t w = 0, words = n ? row_words(width) : 0; w < words; w++) {
        const uint64_t changes = bits[w] ^ (bits[w] << 1 | bits[(int32_t)w - 1] >> 63);
        last = put_positions(last, changes, ones(changes), w * 64);
    }
    uint32_t from = 0;
    for (size_t k = 0; k < n; k++) {
        const uint32_t x0 = x[2 * k], x1 = x[2 * k + 1];
        fill(out, from, x0, width, 0);
        fill(out, x0, x1, width, label[k]);
        from = x1;
    }
    fill(out, from, width, width, 0);
}

/* Vector by vector. */
static void paint_words(uint32_t *out, uint32_t width, const uint64_t *bits, const uint32_t *label)
{
    const uint32_t full = width / 64, rest = width % 64;
    label = expand_words(out, bits, full, label);
    if (rest) {
        uint32_t end[64];
        expand_words(end, bits + full, 1, label);
        memcpy(out + full * 64, end, rest * sizeof *out);
    }
}

static void paint_strip(const CclStrip *strip, const CclLabels *labels, const uint32_t *final)
{
    const uint32_t width = strip->mask->width, words = row_words(width);
    uint32_t *restrict const label = strip->label_at;

    for (uint32_t i = 0; i < strip->n_stored; i++) {
        const CclStoredRow *const stored = &strip->stored[i];
        const uint64_t *const bits = stored_bits(strip, i, words);
        uint32_t *const out = labels_row(labels, stored->y0);

        for (uint32_t k = 0; k < stored->n; k++)
            label[k] = final[strip->stored_labels[stored->first_run + k]];
        if (stored->n >= words * RUNS_PER_WORD_TO_EXPAND_WORDS)
            paint_words(out, width, bits, label);
        else
            paint_runs(out, width, bits, strip->row[0].x, label, stored->n);
        for (uint32_t y = stored->y0 + 1; y < stored->y1; y++)
            memcpy(labels_row(labels, y), out, (size_t)width * sizeof *out);
    }
}

#endif
