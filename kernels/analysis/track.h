/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Tracking: which blob of this frame is which blob of the frames before.
 *
 * Each track carries a constant-velocity Kalman filter of its centroid, and a smoothed covariance and box. Per frame:
 *
 *   predict   where each track should be now
 *   pair      detections inside a track's gate get a cost. The gate is a Mahalanobis distance of the centroid, by the
 *             uncertainty of the prediction and the covariance of the blob; or an overlap of the boxes
 *   assign    the cheapest choice of pairs (assignment.h)
 *   group     several tracks inside one blob have merged; each moves along inside the blob
 *   join      one track in several blobs is in parts
 *   begin     the remaining blobs start tracks. One inside the box of another track came out of that track
 *
 *     CclTrackerConfig config = ccl_tracker_config_default();
 *     CclTracker *tracker;
 *     ccl_tracker_new(&config, &tracker);
 *     for each frame:
 *         ccl_tracker_update(tracker, detections, n, 1, NULL);
 *         n_tracks = ccl_tracker_tracks(tracker, &tracks);
 *     ccl_tracker_free(tracker);
 *
 * Lengths in the model are relative to the size of the object: there is nothing to set for a resolution. Memory grows
 * with max_tracks and the maximum number of detections in a frame, not with time. A frame takes O(n log n) for the
 * assignment and one cost for each pair of a track and a detection near each other. Those are all pairs only when
 * everything overlaps.
 *
 * A tracker is used by one thread at a time.
 */
#ifndef CCL_TRACK_H
#define CCL_TRACK_H

#include "ccl.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CCL_TRACK_NO_DETECTION UINT32_MAX
#define CCL_TRACKER_MAX_TRACKS 65536u
#define CCL_TRACKER_MAX_AGE 100000u

typedef enum CclTrackMethod {
    CCL_TRACK_KALMAN, /* all of the above */
    CCL_TRACK_IOU,    /* no motion: overlap with the box as last seen, not less than iou_threshold */
} CclTrackMethod;

typedef struct CclTrackerConfig {
    CclTrackMethod method;
    unsigned max_tracks;      /* tracks alive at a time, 1..CCL_TRACKER_MAX_TRACKS; detections beyond start none */
    unsigned min_hits;        /* sightings before a track is confirmed, from 1 */
    unsigned max_age;         /* frames a confirmed track lives on unseen, 0..CCL_TRACKER_MAX_AGE */
    double max_distance;      /* gate: Mahalanobis distance of the centroid from its prediction, standard deviations */
    double iou_threshold;     /* or: intersection over union of the boxes, 0..1 */
    bool single_class;        /* detections of different types may be the same object */
    bool merge_split;         /* handle blobs that merge and break apart */
    bool boxes;               /* detections are boxes of a detector, not blobs; a change ends all tracks */
    double frame_seconds;     /* boxes: a frame interval; 0: not known, counts as 1/7 */
    double high_confidence;   /* boxes: detections below start no track and are assigned last, 0..1 */
    uint64_t (*new_id)(void); /* NULL: ids count from 1 for each tracker; else: gives the next one, never 0 */
} CclTrackerConfig;

CclTrackerConfig ccl_tracker_config_default(void);

/*
 * One thing seen in a frame. Pixels, in any coordinates that stay the same from frame to frame, within +-1e6. A
 * detection with other numbers (NaN, an empty box, sides below 1e-6) is passed over.
 */
typedef struct CclDetection {
    double x, y;           /* centroid */
    double xx, xy, yy;     /* covariance; when unknown or impossible that of the filled box */
    double x0, y0, x1, y1; /* box, half open, x0 < x1, y0 < y1 */
    uint32_t type;         /* kind of object; only equal types are matched, unless single_class */
    double confidence;     /* of a detector, 0..1, for CclTrackerConfig.boxes; 0: not known, counts as 1 */
    uint32_t class_id;     /* of a label map: blobs of different values are never parts of one object. It may change from frame
                            * to frame, as the numbers of instances do; then an object that was hidden may lose a part */
} CclDetection;

typedef enum CclTrackState {
    CCL_TRACK_TENTATIVE, /* seen fewer than min_hits times */
    CCL_TRACK_CONFIRMED, /* seen in this frame */
    CCL_TRACK_PREDICTED, /* confirmed before, not seen (or not alone) in this frame */
    CCL_TRACK_LOST,      /* ended in this frame; gone in the next */
} CclTrackState;

#define CCL_TRACK_MERGED (1u << 0) /* shares its blob with other tracks */
#define CCL_TRACK_SPLIT  (1u << 1) /* came out of the track parent_id in this frame */

typedef struct CclTrack {
    uint64_t id;        /* from 1 up, never used again */
    uint64_t parent_id; /* the track that it came out of; 0: none */
    CclTrackState state;
    uint32_t flags;     /* CCL_TRACK_... of this frame */
    uint32_t detection; /* index of the blob it is in this frame, or CCL_TRACK_NO_DETECTION */
    uint32_t type;
    uint32_t age;          /* frames since it was first seen, that one included */
    uint32_t hits;         /* frames it was seen in */
    uint32_t misses;       /* frames since it was last seen */
    double x, y;           /* centroid: filtered */
    double vx, vy;         /* pixels per frame */
    double x0, y0, x1, y1; /* box: as seen (parts joined), or predicted */
    double xx, xy, yy;     /* smoothed covariance */
} CclTrack;

typedef struct CclTracker CclTracker;

/* Errors: ARGUMENT, OUT_OF_MEMORY. */
CclStatus ccl_tracker_new(const CclTrackerConfig *config, CclTracker **tracker);
void ccl_tracker_free(CclTracker *tracker);

/* Takes new settings from the next frame on; tracks live on (max_tracks cannot change). */
CclStatus ccl_tracker_configure(CclTracker *tracker, const CclTrackerConfig *config);

/* Forgets all tracks; ids go on from where they were. */
void ccl_tracker_reset(CclTracker *tracker);

/*
 * One frame.
 *
 * frames:   frame intervals since the last call, usually 1; NaN and values below 0 count as 0. After a gap longer than
 *           max_age all tracks end.
 * track_of: NULL, or receives for each detection the id of its track; 0: none. Several detections may be parts of one
 *           track. Of several tracks that share a detection it receives one.
 */
CclStatus ccl_tracker_update(CclTracker *tracker, const CclDetection *detections, uint32_t n, double frames,
                             uint64_t *track_of);

/* A frame without detections to compare with: tracks move on as predicted and none counts as unseen. After a gap longer
 * than max_age all tracks end. */
void ccl_tracker_skip(CclTracker *tracker, double frames);

/* The tracks as of the last update, oldest first; returns how many. Owned by the tracker until the next call. */
uint32_t ccl_tracker_tracks(const CclTracker *tracker, const CclTrack **tracks);

#ifdef __cplusplus
}
#endif

#endif
