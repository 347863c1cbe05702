/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "track_filter.h"

#include <math.h>

/* Relative to the size of the object, the square root of its box area. */
static const double ACCELERATION_NOISE = 0.025; /* per frame squared */
static const double INITIAL_VELOCITY = 0.15;    /* per frame */

/* Relative to the speed: what has no steady speed yet may accelerate. */
static const double RESTARTED_VELOCITY = 0.5;

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

static TrackAxis begin_axis(const TrackItem *item, double place, double pixel_variance)
{
    const double speed = INITIAL_VELOCITY * item_size(item);
    return (TrackAxis){ .p = place, .pp = track_noise_variance(item, pixel_variance), .vv = speed * speed };
}

void track_begin(TrackItem *item, const CclDetection *d)
{
    *item = (TrackItem){ .w = d->x1 - d->x0,
                         .h = d->y1 - d->y0,
                         .container = TRACK_NONE,
                         .group = TRACK_NONE,
                         .object = TRACK_NONE,
                         .last_x = d->x,
                         .last_y = d->y,
                         .class_id = d->class_id,
                         .seen = *d };
    item->ax = begin_axis(item, d->x, d->xx);
    item->ay = begin_axis(item, d->y, d->yy);
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

static void restart_speed(TrackAxis *axis, double speed)
{
    axis->v = speed;
    axis->vv += RESTARTED_VELOCITY * RESTARTED_VELOCITY * speed * speed;
}

void track_restart(TrackItem *item, CclTrackMethod method, double x, double y, double frames)
{
    if (method != CCL_TRACK_KALMAN) {
        track_correct(item, method, x, y, 1);
        return;
    }
    item->ax = begin_axis(item, x, item->track.xx);
    item->ay = begin_axis(item, y, item->track.yy);
    restart_speed(&item->ax, (x - item->last_x) / frames);
    restart_speed(&item->ay, (y - item->last_y) / frames);
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
