/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The interface between the CPU's motion detector and its SIMD tiers. */
#ifndef CCL_CPU_MOTION_H
#define CCL_CPU_MOTION_H

#include "motion_backend.h"
#include "host/pool.h"
#include "cpu/context.h"

/* One entry per pixel, rows of words * 64. Arrays that a method does not need are NULL. */
typedef struct MotionModel {
    uint32_t words;
    uint16_t *mean, *variance, *weight; /* of the first mode; EMA: the mean */
    MotionRest *rest;
    uint8_t *last; /* diff: the picture before */
} MotionModel;

/* Rows y0..y1-1 of a frame. */
typedef struct MotionStrip {
    CclMotionMethod method;
    const CclMask *luma;
    const MotionModel *model;
    const MotionRates *rates;
    bool seed;
    uint32_t width, height; /* working size */
    uint32_t y0, y1;
    uint64_t *bits; /* of the frame */
    const uint64_t *ignored;
    uint8_t *shrunk;       /* the frame at the working size, rows of words * 64; NULL: luma has it already */
    uint32_t *column_sums; /* one per column of luma, this strip's own; with shrunk */
} MotionStrip;

/* An image of bits, rows of `words`, bit 0 leftmost, 0 past the width. */
typedef struct MotionBits {
    uint32_t width, height, words;
    uint64_t *image;
    uint64_t *scratch; /* motion_scratch_words() */
} MotionBits;

typedef struct FeedbackTier FeedbackTier; /* cpu_feedback.h */

typedef struct MotionTier {
    void (*rows)(const MotionStrip *strip);
    void (*unshadow)(const MotionStrip *strip);
    void (*median)(const MotionBits *bits, uint32_t radius, bool repeats);
    void (*dilate)(const MotionBits *bits, uint32_t radius);
    void (*erode)(const MotionBits *bits, uint32_t radius);
    void (*confirm)(const MotionBits *bits, uint64_t *counts, uint32_t frames);
    uint64_t (*count)(const MotionBits *bits);
    void (*paint)(const MotionBits *bits, uint8_t *data, size_t stride);
    const FeedbackTier *feedback;
} MotionTier;

/* Memory of a detector: aligned, 0, freed at once. */
#define MOTION_MAX_BLOCKS 48u
typedef struct MotionBlocks {
    void *blocks[MOTION_MAX_BLOCKS];
    unsigned n;
} MotionBlocks;

/* `memory`: the address of a pointer. */
CclStatus motion_take(CclMotion *motion, MotionBlocks *blocks, void *memory, size_t n, size_t size);
void motion_free_blocks(MotionBlocks *blocks);

/* The number of strips to cut pictures into, at most MOTION_MAX_STRIPS. More than one: with a pool. */
#define MOTION_MAX_STRIPS 16u
unsigned motion_open_pool(const CclMotion *motion, CclPool **pool);

/* One padded row, and the working memory of the filter that needs most: three planes with four more rows each, or the
 * image with as many rows around it as the largest radius has. */
static inline size_t motion_scratch_words(uint32_t words, uint32_t height)
{
    const size_t median = 3 * (size_t)words * (height + 4);
    const size_t grow = (size_t)words * (height + 4 * CCL_MOTION_MAX_RADIUS);
    return words + 3 + (median > grow ? median : grow);
}

#endif
