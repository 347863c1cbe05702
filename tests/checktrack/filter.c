/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The model of one track. */
#include "checktrack.h"

#include "analysis/track_filter.h"

#include <math.h>

/* A point with constant velocity and exact measurements: the filter finds both, and its variances shrink. */
void test_filter_axis(void)
{
    TrackAxis axis = { .p = 10, .pp = 4, .vv = 9 };
    for (int frame = 1; frame <= 30; frame++) {
        const double before = axis.pp;
        track_axis_predict(&axis, 1, 0.01);
        CHECK(axis.pp > before, "frame %d: a prediction is more certain than the state before", frame);
        const double predicted = axis.pp;
        track_axis_correct(&axis, 10 + 3 * frame, 0.25);
        CHECK(axis.pp < predicted && axis.pp < 0.25, "frame %d: a measurement makes it less certain", frame);
        CHECK(axis.pp * axis.vv > axis.pv * axis.pv, "frame %d: the covariance is not positive", frame);
    }
    CHECK(fabs(axis.p - 100) < 0.01 && fabs(axis.v - 3) < 0.01, "at %g with %g", axis.p, axis.v);

    TrackAxis once = axis, twice = axis;
    track_axis_predict(&once, 2, 0);
    track_axis_predict(&twice, 1, 0);
    track_axis_predict(&twice, 1, 0);
    CHECK(fabs(once.p - twice.p) < 1e-9 && fabs(once.pp - twice.pp) < 1e-9, "two frames are not two times one");
}

/* The box moves with the centroid, and the shape only as much as the gain says. */
void test_filter_track(void)
{
    const CclDetection first = box(100, 50, 20, 40), later = box(104, 50, 40, 60);
    TrackItem item;
    track_begin(&item, &first);
    CHECK(item.track.x == 110 && item.track.x0 == 100 && item.track.y1 == 90, "a track does not begin at its blob");

    item.ax.v = 2;
    track_predict(&item, CCL_TRACK_KALMAN, 3);
    CHECK(fabs(item.track.x - 116) < 1e-9 && fabs(item.track.x0 - 106) < 1e-9, "predicted at %g", item.track.x);
    track_predict(&item, CCL_TRACK_IOU, 3);
    CHECK(fabs(item.track.x - 116) < 1e-9, "by overlap alone a track moves");

    track_smooth_shape(&item, &later, 0);
    CHECK(item.w == 20 && item.h == 40, "gain 0 changes the shape");
    track_smooth_shape(&item, &later, 0.5);
    CHECK(item.w == 30 && item.h == 50, "gain 0.5: %gx%g", item.w, item.h);

    const double near = track_noise_variance(&item, 25);
    TrackItem noisy = item;
    track_correct(&item, CCL_TRACK_KALMAN, 120, 70, 1);
    track_correct(&noisy, CCL_TRACK_KALMAN, 120, 70, 9);
    CHECK(item.ax.p > noisy.ax.p && noisy.ax.p > 116, "%g, %g with noise %g", item.ax.p, noisy.ax.p, near);
    track_correct(&item, CCL_TRACK_IOU, 120, 70, 1);
    track_place(&item);
    CHECK(item.track.x == 120 && item.track.y == 70, "by overlap alone a track is not where it was seen");
}
