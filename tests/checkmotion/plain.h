/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Inside the plain detector: its filters, and its method "feedback". */
#ifndef CHECKMOTION_PLAIN_H
#define CHECKMOTION_PLAIN_H

#include "checkmotion.h"

/* Filters on masks of one byte per pixel, 0 or 1. Outside the picture plain_majority() repeats the border; for the others there is
 * nothing. */
void plain_majority(uint8_t *mask, int width, int height, int radius);
void plain_grow(uint8_t *mask, int width, int height, int radius);
void plain_shrink_mask(uint8_t *mask, int width, int height, int radius);

/* A picture at the working size, rows without padding; chroma of half that size, rounded up. */
typedef struct PlainPicture {
    const uint8_t *luma, *chroma[2];
    int64_t us;
} PlainPicture;

typedef struct PlainResult {
    const uint8_t *mask; /* before confirm, dilate and ignore */
    uint64_t raw;
    uint32_t frames, flags;
} PlainResult;

PlainFeedback *plain_feedback_new(uint32_t width, uint32_t height, bool has_chroma);
void plain_feedback_free(PlainFeedback *f);
void plain_feedback_reset(PlainFeedback *f);
/* As a new detector that loads this one's background. */
void plain_feedback_reload(PlainFeedback *f);
/* As ccl_motion_hold_boxes(). */
void plain_feedback_hold(PlainFeedback *f, const CclMotionBox *boxes, unsigned n);
void plain_feedback_apply(PlainFeedback *f, const PlainPicture *picture, const uint8_t *ignored, const CclMotionParams *params,
                          uint64_t most, PlainResult *result);

#endif
