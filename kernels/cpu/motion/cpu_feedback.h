/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Method "feedback" on the CPU: the data that its driver, its SIMD tiers and its regions share. */
#ifndef CCL_CPU_FEEDBACK_H
#define CCL_CPU_FEEDBACK_H

#include "motion_feedback_picture.h"
#include "cpu_motion.h"

/* A plane of 8-bit samples. */
typedef struct FeedbackPlane {
    const uint8_t *data;
    size_t stride;
    uint32_t width, height;
} FeedbackPlane;

/* Sizes in samples, and in 64-bit words of a row of bits; arrays of samples have words * 64 a row. */
typedef struct FeedbackSize {
    uint32_t width, height, words;
} FeedbackSize;

typedef struct FeedbackModel {
    uint16_t *mean, *weight, *deviation, *extra, *candidate, *still;
    FeedbackRest *rest;
    uint8_t *rises, *ghost;
    uint16_t *uv_mean[2][2], *uv_weight, *uv_deviation, *uv_candidate[2]; /* FeedbackChroma */
} FeedbackModel;

typedef struct CpuFeedback {
    FeedbackSize luma, chroma; /* chroma.width 0: none */
    FeedbackModel model;
    FeedbackControl control;
    FeedbackHold hold;

    /* The picture. */
    FeedbackFrame frame;
    FeedbackLight light;
    bool drop_shadow;
    FeedbackPlane planes[3]; /* at the working size */
    uint16_t *value, *uv[2]; /* smoothed and normalised */
    uint64_t *raw;           /* foreground, and what the shadows leave of it: */
    uint64_t *seen;
    uint64_t *dim; /* foreground by luma alone, not brighter than the background */
    uint64_t *rises;
    uint64_t *uv_raw, *uv_rises;
    MotionBits mask;     /* of the model: what is not learnt */
    uint64_t *explained; /* pixels of the mask before regions are judged */
    MotionBits guard;    /* the mask grown by FEEDBACK_GUARD */
    uint64_t *absorbed;  /* pixels that have stood still for absorb_ms */
    MotionBits still;    /* pixels of still regions */
    bool any_still;      /* there are some, */
    bool had_still;      /* or were in the picture before */

    /* Of the picture before. */
    uint64_t *last_mask, *last_rises, *last_still;
    const uint64_t *ignored;
} CpuFeedback;

/* Rows y0..y1-1 of luma, which are even numbers but for the last, and their rows of chroma. */
typedef struct FeedbackStrip {
    CpuFeedback *data;
    uint32_t y0, y1;
    uint16_t *columns; /* two more than a row has */
    FeedbackSamples samples;
    uint32_t offsets[2][FEEDBACK_BINS]; /* histograms of feedback_offset_bin() */
    FeedbackEdges edges;
    uint64_t n_raw;
    bool any_still, any_absorbed;
} FeedbackStrip;

/* Passes over a strip. Between one and the next, all strips must have ended. */
struct FeedbackTier {
    void (*seed)(FeedbackStrip *strip);
    void (*sample)(FeedbackStrip *strip); /* fills samples */
    void (*rescale)(FeedbackStrip *strip);
    void (*chroma)(FeedbackStrip *strip);   /* normalises and compares; fills offsets */
    void (*luma)(FeedbackStrip *strip);     /* the same */
    void (*unshadow)(FeedbackStrip *strip); /* fills edges */
    void (*explain)(FeedbackStrip *strip);
    void (*learn)(FeedbackStrip *strip);
};

/* cpu/motion/regions.c: on the whole picture. Errors: OUT_OF_MEMORY. */
typedef struct FeedbackRuns FeedbackRuns;

FeedbackRuns *feedback_runs_new(void);
void feedback_runs_free(FeedbackRuns *runs);
/* Drops blobs of the mask that are explained, and fills small holes of the others. */
CclStatus feedback_judge_blobs(CpuFeedback *data, FeedbackRuns *runs);
/* Finds ghosts among the still regions, and absorbs their pixels. */
CclStatus feedback_judge_still(CpuFeedback *data, FeedbackRuns *runs);
/* The candidate of a pixel becomes the background. */
void feedback_absorb_pixel(CpuFeedback *data, uint32_t x, uint32_t y);

#endif
