/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The functions of the CPU backend that are compiled for each SIMD tier. */
#ifndef CCL_CPU_TIER_H
#define CCL_CPU_TIER_H

#include "context.h"
#include "measure.h"
#include "row.h"

/* Identical rows, one below the other, stored until the label image is painted and features are measured. */
typedef struct CclStoredRow {
    uint32_t y0, y1;    /* half open */
    uint32_t first_run; /* its labels begin at stored_labels[first_run], its x at stored_x[2 * first_run] */
    uint32_t n;         /* runs */
} CclStoredRow;

/* Two runs of a 4-connected mask that touch only at a corner. */
typedef struct CclCorner {
    uint32_t label, label_above; /* provisional */
} CclCorner;

/* The background between the stored runs of a strip: see gaps.h. */
typedef struct CclGaps {
    uint32_t *label;       /* of each gap, by the number of the run right of it; NULL without CCL_FEATURE_HOLES */
    uint32_t *parent;      /* of labels */
    uint32_t first;        /* number of the strip's first run */
    const uint32_t *above; /* labels of the row above; NULL: another strip has it */
    uint32_t outside;      /* 0: the label of the only gap of an empty row */
    uint32_t *outer;       /* by label of runs: the gap left of the run that began the label */
    uint32_t *pair;        /* labels to unite: CCL_MAX_GAP_PAIRS pairs and those of one row */
    uint32_t n_pairs;
} CclGaps;

/* Pairs that are collected before they are united. */
enum { CCL_MAX_GAP_PAIRS = 1024 };

/* Rows y0..y1-1 of a mask. Strips of one mask share parent, sums, shape and intensity, each in its own range of labels. */
typedef struct CclStrip {
    const CclMask *mask;
    uint32_t y0, y1;
    uint32_t first_label;     /* the labels in use are [first_label, next_label) */
    uint32_t next_label;
    uint32_t n_new;           /* new labels in the last row: an estimate for the next row */
    uint32_t *parent;
    CclComponent *sums;       /* NULL: only label */
    const CclPrefix *prefix;
    CclShapeCounts *shape;    /* for each label; NULL without CCL_FEATURE_SHAPE */
    CclIntensityCounts *intensity; /* for each label; NULL without CCL_FEATURE_INTENSITY */
    CclCorner *corners;       /* 4-connected: those whose labels were not the same yet */
    uint32_t n_corners;

    CclRow row[2];            /* the current row and the one above, in turn */
    uint64_t *row_bits[2];    /* for rows that are not stored */
    uint32_t *row_labels[2];
    uint16_t *row_x[2];
    CclRow empty;             /* without runs */
    CclRow first;             /* x, label and n of row y0, for joining strips */
    const CclRow *last;       /* row y1-1 */
    struct CclBridge *bridge; /* scratch, one per word */
    uint16_t *other_runs;     /* scratch, one per run */
    uint16_t *new_runs;
    uint32_t *label_at; /* scratch, one per pixel, padded */
    uint32_t *gap_pair; /* scratch, see CclGaps; NULL without CCL_FEATURE_HOLES */

    struct CclMapStrip *map; /* of a label map: see map.h; else NULL */

    CclStoredRow *stored; /* for paint() and features; NULL: neither is wanted */
    uint32_t n_stored;
    uint64_t *stored_bits; /* a word of 0 and row_words() words for each; NULL: there is no label image, or it is a label map */
    uint32_t *stored_labels;
    uint16_t *stored_x; /* NULL without features that read runs; label maps are painted with it */
    CclGaps gaps;
} CclStrip;

static inline uint64_t *stored_bits(const CclStrip *strip, uint32_t i, uint32_t words)
{
    return strip->stored_bits + (size_t)i * (words + 1) + 1;
}

/* The same for label maps. */
typedef struct CclMapTier {
    void (*label[2])(CclStrip *strip);
    void (*paint)(const CclStrip *strip, const CclLabels *labels, const uint32_t *final);
    /* Of row y, (width + 63) / 64 words: bit x is set when pixel x differs from its left neighbour, or has none. */
    void (*find_starts)(const CclMask *mask, uint32_t y, uint64_t *starts);
} CclMapTier;

typedef struct CclTier {
    void (*label[2])(CclStrip *strip); /* 4-connected, 8-connected */
    void (*paint)(const CclStrip *strip, const CclLabels *labels, const uint32_t *final); /* final[label] is painted */
    void (*measure_intensity)(const CclStrip *strip); /* with CclStrip.intensity, after label */
    const CclMapTier *map;
    const struct MotionTier *motion;
} CclTier;

/* The best tier that this CPU supports and `cpu_flags` (as in CclConfig) allows. Plain C is always allowed. */
const CclTier *ccl_tier(uint32_t cpu_flags);

#endif
