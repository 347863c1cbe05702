/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The model of one track: a constant-velocity Kalman filter of the centroid, one filter per axis, and a smoothed box and
 * covariance.
 */
#ifndef CCL_TRACK_FILTER_H
#define CCL_TRACK_FILTER_H

#include "track.h"

#include <math.h>
#include <stdbool.h>

#define TRACK_NONE CCL_TRACK_NO_DETECTION

/* Noise of a measured centroid: relative to the deviation of the blob's pixels, plus relative to the size of its box. */
#define TRACK_COVARIANCE_NOISE 0.3
#define TRACK_SIZE_NOISE 0.08

/* One coordinate: state (p, v), covariance (pp, pv, vv). */
typedef struct TrackAxis {
    double p, v;
    double pp, pv, vv;
} TrackAxis;

typedef struct TrackItem {
    CclTrack track;
    TrackAxis ax, ay;                    /* centroid; of the box model: centre of the box */
    TrackAxis aw, ah;                    /* box model: width and height */
    double step;                         /* box model: time units of the model in a frame */
    double ox, oy;                       /* box centre minus centroid, smoothed */
    double w, h;                         /* box, smoothed */
    double last_x, last_y;               /* centroid when it was seen last */
    uint32_t class_id;                   /* of its last detection */
    uint32_t merged_frames;              /* consecutive */
    uint64_t neighbour_id;               /* the track that it began next to; 0: none */
    double neighbour_x, neighbour_y;     /* its centroid then, from that of the neighbour */
    uint32_t piece_frames;               /* for which it was a piece of another object, as a new track */
    double piece_x, piece_y, piece_size; /* its centroid and size after the first of them; see track_count_piece() */
    /* This frame: */
    uint32_t container; /* the blob that the track would be in if it merged, or TRACK_NONE */
    uint32_t group;     /* the blob that the track shares with others, or TRACK_NONE */
    CclDetection seen;  /* the track's detection, parts joined */
    bool in_parts;
    uint32_t object; /* item that this new track may be a fragment of, or TRACK_NONE */
    bool is_piece;   /* of that object, because it is much smaller */
    bool has_grown;  /* the blob is the whole object for the first time */
    bool is_hidden;  /* in part: of a track with no blob like it, `seen` is what is still visible */
} TrackItem;

/* Side of a square as large as the box. */
static inline double track_size(const TrackItem *item)
{
    return sqrt(item->w * item->h);
}

/* t: in frames; acceleration: standard deviation per frame squared. */
void track_axis_predict(TrackAxis *axis, double t, double acceleration);
/* variance: of the measured position. */
void track_axis_correct(TrackAxis *axis, double measured, double variance);

/* The model of a track that begins with this detection. Sets everything in the item but id, age, hits, state and parent. */
void track_begin(TrackItem *item, const CclDetection *detection);

/* Moves the track by `frames` frame intervals. By overlap alone (CCL_TRACK_IOU) a track stays where it was last seen. */
void track_predict(TrackItem *item, CclTrackMethod method, double frames);

/* Takes a measured centroid. variance_factor: 1 for a blob that the track has alone. */
void track_correct(TrackItem *item, CclTrackMethod method, double x, double y, double variance_factor);

/* The speed was wrong: begins it anew, with the way from where the track was seen last, `frames` ago, to (x, y). */
void track_restart(TrackItem *item, CclTrackMethod method, double x, double y, double frames);

/* Smooths box and covariance towards a detection. gain: 0 (ignores the detection) to 1 (replaces the shape). */
void track_smooth_shape(TrackItem *item, const CclDetection *detection, double gain);

/* Puts the filtered centroid, the velocity and the box around it into item->track. */
void track_place(TrackItem *item);

/* Variance of a measured centroid along an axis; pixel_variance: of the blob's pixels along it. */
static inline double track_noise_variance(const TrackItem *item, double pixel_variance)
{
    return TRACK_COVARIANCE_NOISE * TRACK_COVARIANCE_NOISE * pixel_variance +
           TRACK_SIZE_NOISE * TRACK_SIZE_NOISE * item->w * item->h;
}

#endif
