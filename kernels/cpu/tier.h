/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* SIMD tiers: the same strip of rows, compiled for what a CPU can do. */
#ifndef CCL_CPU_TIER_H
#define CCL_CPU_TIER_H

#include "context.h"
#include "measure.h"
#include "row.h"

/* Rows alike, one below the other, kept for the label image. */
typedef struct CclLine {
    uint32_t y0, y1;    /* half open */
    uint32_t first_run; /* its labels are line_labels[first_run ...] */
    uint32_t n;         /* runs */
} CclLine;

/* The work on rows y0..y1-1 of a mask. Strips of one mask share parent and sums, each in its own range of labels. */
typedef struct CclStrip {
    const CclMask *mask;
    uint32_t y0, y1;
    uint32_t first_label;  /* of its range; the labels in use are [first_label, next_label) */
    uint32_t next_label;
    uint32_t n_new;        /* labels of the last row: how many to expect in the next */
    uint32_t *parent;
    CclComponent *sums;         /* NULL: only label */
    const CclPrefix *prefix;

    CclRow row[2];
    uint64_t *row_bits[2]; /* for rows that are not kept */
    uint32_t *row_labels[2];
    CclRow blank;          /* without runs */
    CclRow first;          /* x, label and n of row y0, for the seam */
    const CclRow *last;    /* row y1-1 */
    struct CclBridge *bridge; /* scratch, one per word */
    uint16_t *other;       /* scratch, one per run */
    uint16_t *fresh;
    uint32_t *label_at;    /* scratch, one per pixel and a few */

    CclLine *line;         /* for paint(); NULL: there will be none */
    uint32_t n_lines;
    uint64_t *line_bits;   /* a 0 and row_words() for each line */
    uint32_t *line_labels;
} CclStrip;

static inline uint64_t *line_bits(const CclStrip *strip, uint32_t i, uint32_t words)
{
    return strip->line_bits + (size_t)i * (words + 1) + 1;
}

typedef struct CclTier {
    void (*label[2])(CclStrip *strip); /* 4-connected, 8-connected */
    void (*paint)(const CclStrip *strip, const CclLabels *labels, const uint32_t *final); /* final[label] is painted */
    const struct MotionTier *motion;
} CclTier;

/* The best tier that this CPU has and `cpu_flags` (as in CclConfig) allows. Plain C is always allowed. */
const CclTier *ccl_tier(uint32_t cpu_flags);

#endif
