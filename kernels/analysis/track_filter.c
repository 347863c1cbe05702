/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "track_filter.h"

#include <math.h>

/* Relative to the size of the object, the square root of its box area. */
static const double ACCELERATION_NOISE = 0.025; /* per frame squared */
static const double INITIAL_VELOCITY = 0.15;    /* per frame */

/* ---------------------------------------------------------------- one axis */

void track_axis_predict(TrackAxis *a, double t, double acceleration)
{
    const double q = acceleration * acceleration;
    a->p += a->v * t;
    a->pp += 2 * a->pv * t + a->vv * t * t + q * t * t * t * t / 4;
    a->pv += a->vv * t + q * t * t * t / 2;
    a->vv += q * t * t;
}

void track_axis_correct(TrackAxis *a, double measured, double variance)
{
    const double s = a->pp + variance;
    const double kp = a->pp / s, kv = a->pv / s;
    const double innovation = measured - a->p;
    a->p += kp * innovation;
    a->v += kv * innovation;
    a->vv -= kv * a->pv;
    a->pv *= 1 - kp;
    a->pp *= 1 - kp;
}

/* ---------------------------------------------------------------- the track */

static double item_size(const TrackItem *item)
{
    return sqrt(item->w * item->h);
}

void track_place(TrackItem *item)
{
    CclTrack *const t = &item->track;
    t->x = item->ax.p, t->y = item->ay.p;
    t->vx = item->ax.v, t->vy = item->ay.v;
    t->x0 = t->x + item->ox - item->w / 2, t->x1 = t->x0 + item->w;
    t->y0 = t->y + item->oy - item->h / 2, t->y1 = t->y0 + item->h;
}

void track_begin(TrackItem *item, const CclDetection *d)
{
    *item = (TrackItem){ .w = d->x1 - d->x0, .h = d->y1 - d->y0, .container = TRACK_NONE, .group = TRACK_NONE,
                         .seen = *d };
    const double speed = INITIAL_VELOCITY * item_size(item);
    item->ax = (TrackAxis){ .p = d->x, .pp = track_noise_variance(item, d->xx), .vv = speed * speed };
    item->ay = (TrackAxis){ .p = d->y, .pp = track_noise_variance(item, d->yy), .vv = speed * speed };
    item->ox = (d->x0 + d->x1) / 2 - d->x;
    item->oy = (d->y0 + d->y1) / 2 - d->y;
    item->track = (CclTrack){ .detection = TRACK_NONE, .type = d->type, .xx = d->xx, .xy = d->xy, .yy = d->yy };
    track_place(item);
}

void track_predict(TrackItem *item, CclTrackMethod method, double frames)
{
    if (method != CCL_TRACK_KALMAN)
        return;
    const double acceleration = ACCELERATION_NOISE * item_size(item);
    track_axis_predict(&item->ax, frames, acceleration);
    track_axis_predict(&item->ay, frames, acceleration);
    track_place(item);
}

void track_correct(TrackItem *item, CclTrackMethod method, double x, double y, double variance_factor)
{
    if (method != CCL_TRACK_KALMAN) {
        item->ax.p = x;
        item->ay.p = y;
        return;
    }
    track_axis_correct(&item->ax, x, variance_factor * track_noise_variance(item, item->track.xx));
    track_axis_correct(&item->ay, y, variance_factor * track_noise_variance(item, item->track.yy));
}

void track_smooth_shape(TrackItem *item, const CclDetection *d, double gain)
{
    CclTrack *const t = &item->track;
    item->w += gain * (d->x1 - d->x0 - item->w);
    item->h += gain * (d->y1 - d->y0 - item->h);
    item->ox += gain * ((d->x0 + d->x1) / 2 - d->x - item->ox);
    item->oy += gain * ((d->y0 + d->y1) / 2 - d->y - item->oy);
    t->xx += gain * (d->xx - t->xx);
    t->xy += gain * (d->xy - t->xy);
    t->yy += gain * (d->yy - t->yy);
}
