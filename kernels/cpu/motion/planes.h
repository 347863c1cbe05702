/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Planes of a picture at the working size. */
#ifndef CCL_CPU_MOTION_PLANES_H
#define CCL_CPU_MOTION_PLANES_H

#include "cpu_feedback.h"
#include "pixels.h"

/* A plane as the caller has it: samples are `step` bytes apart. */
typedef struct MotionSource {
    const uint8_t *data;
    size_t stride;
    uint32_t step, width, height;
} MotionSource;

/* Whether rows can be read where they are. */
static inline bool motion_plane_is_ready(const MotionSource *source, uint32_t width, uint32_t height)
{
    return source->step == 1 && source->width == width && source->height == height;
}

/* Rows y0..y1-1 of a plane: averages of boxes of the source. sums: one per column of the source. */
void motion_fill_plane(const MotionSource *source, const CclPlane *plane, uint32_t y0, uint32_t y1, uint32_t *sums);

#endif
