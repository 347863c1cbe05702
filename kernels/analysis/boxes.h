/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Areas and overlaps of the boxes of tracks and detections. */
#ifndef CCL_BOXES_H
#define CCL_BOXES_H

#include "track.h"

/* fmin() and fmax() handle NaN. There is none here, and each of these is one or two instructions. */
static inline double smaller(double a, double b)
{
    return a < b ? a : b;
}

static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

static inline double overlap(double a0, double a1, double b0, double b1)
{
    return larger(smaller(a1, b1) - larger(a0, b0), 0);
}

static inline double intersection(const CclTrack *t, const CclDetection *d)
{
    return overlap(t->x0, t->x1, d->x0, d->x1) * overlap(t->y0, t->y1, d->y0, d->y1);
}

static inline double track_area(const CclTrack *t)
{
    return (t->x1 - t->x0) * (t->y1 - t->y0);
}

static inline double detection_area(const CclDetection *d)
{
    return (d->x1 - d->x0) * (d->y1 - d->y0);
}

/* Intersection over union. */
static inline double iou(const CclTrack *t, const CclDetection *d)
{
    const double both = intersection(t, d);
    return both / (track_area(t) + detection_area(d) - both);
}

#endif
