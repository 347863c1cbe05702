/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CHECKMOTION_H
#define CHECKMOTION_H

#include "motion_backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- util.c */

extern unsigned n_checks, n_failures;

/* End the program on failure. */
void *must(void *memory);
void need(CclStatus status);

extern uint32_t random_state;
uint32_t random_below(uint32_t n);

/* Counts a check; prints the message when it failed. */
bool check(bool passed, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---------------------------------------------------------------- plain.c */

typedef struct PlainFeedback PlainFeedback;

/* The plain detector. */
typedef struct Plain {
    CclMotionMethod method;
    uint32_t width, height; /* working size */
    uint32_t n_learnt, n_seen;
    uint16_t *mean, *variance, *weight;
    MotionRest *rest;
    uint8_t *last, *luma, *mask, *scratch, *ignored, *count;
    uint64_t pixels, raw, kept;
    uint32_t flags;
} Plain;

Plain plain_new(const CclMotionConfig *config, const uint8_t *ignored);
void plain_free(Plain *p);
/* Fills mask, raw, kept and flags, and learns. */
void plain_apply(Plain *p, const CclMask *luma, const CclMotionParams *params);

/* ---------------------------------------------------------------- course.c */

typedef struct Case {
    CclMotionConfig config;
    CclMotionParams params;
    size_t pad; /* stride beyond the width */
    bool ignore;
    bool resident; /* picture and mask in device memory */
    bool late;     /* resident: a stream still writes the picture */
    bool confirms; /* confirm_frames alternates between 3 and 1 */
    bool lively;   /* resets, new parameters and new light all the time; else new light now and then */
} Case;

Case case_for(CclBackendKind backend, CclMotionMethod method, uint32_t width, uint32_t height);
/* Runs n_frames pictures through the detector and the plain one. False when they differ. */
bool run(const Case *c, unsigned n_frames);

/* ---------------------------------------------------------------- feedback.c */

void check_feedback(CclBackendKind backend, unsigned n_random, bool quick);
void check_soak(unsigned n_frames);

/* ---------------------------------------------------------------- background.c */

void check_background(CclBackendKind backend);

/* ---------------------------------------------------------------- hold.c */

void check_hold(CclBackendKind backend);

/* ---------------------------------------------------------------- arguments.c */

void check_arguments(CclBackendKind backend);

#endif
