/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One frame's detections to tracks: gates and costs, the assignment, then blobs with several tracks and tracks with
 * several blobs. In the order of the calls:
 *
 *   track_match_reserve()         memory for the frame
 *   track_match_detections()      copies the usable detections and sorts them by left edge
 *   track_match_assign()          each track gets at most one detection
 *   track_match_join_groups()     tracks without a detection that lie inside another track's
 *   track_match_join_parts()      detections without a track that are a part of a track
 */
#ifndef CCL_TRACK_MATCH_H
#define CCL_TRACK_MATCH_H

#include "assignment.h"
#include "track_filter.h"

/* Pairs kept for a track, its cheapest. A later detection would be taken only if all of these were taken by others. */
#define TRACK_PAIRS 16

typedef struct TrackArray {
    void *data;
    size_t size; /* bytes */
} TrackArray;

/* What the search for detections near a track reads, side by side in memory. */
typedef struct TrackPlace {
    double x0, y0, x1, y1; /* box */
    double x, y;           /* centroid */
} TrackPlace;

/* Working memory of one frame; grows as needed and is kept. All zero at first. */
typedef struct TrackMatch {
    /* One entry per detection: */
    CclDetection *detections; /* with a valid covariance */
    uint32_t n_detections;
    uint32_t *owner;      /* item that the detection belongs to, or TRACK_NONE */
    uint32_t *covering;   /* settled item whose box covers the detection, or TRACK_NONE */
    double *covered_area; /* of the detection, by that item */
    uint32_t *n_sharing;  /* items in the group of the detection */
    uint32_t *n_near;     /* items near the detection; see track_lone.h */
    uint32_t *order;      /* the n_usable usable ones, by left edge */
    TrackPlace *places;   /* of these, in this order */
    uint32_t n_usable;
    double max_width, max_height; /* of their boxes */
    uint32_t *stripes;            /* the first place in each of n_usable stripes of equal width, and n_usable */
    double stripes_per_pixel;
    /* One entry per pair or item: */
    CclPair *pairs;
    uint32_t *column_of; /* of each item */
    void *workspace;
    TrackArray per_detection, per_pair;
} TrackMatch;

CclStatus track_match_reserve(TrackMatch *match, uint32_t n_items, uint32_t n_detections);
void track_match_free(TrackMatch *match);

/* Whether every number of a detection is within the range that the model can compute with. */
bool track_is_usable(const CclDetection *detection);

void track_match_detections(TrackMatch *match, const CclDetection *detections);

/* Index in `order` of the first detection whose left edge is not before x. */
uint32_t track_match_first_from(const TrackMatch *match, double x);

/* Adds a pair to the n cheapest of a track, at most TRACK_PAIRS, sorted by cost; returns their number. */
uint32_t track_match_keep_pair(CclPair *pairs, uint32_t n, CclPair pair);

/* Squared Mahalanobis distance of a detection from the track's prediction. */
double track_distance2(const TrackItem *item, const CclDetection *detection);

/* Cost of a pair; INFINITY outside the gate, or when it is not below `limit`. */
double track_pair_cost(const CclTrackerConfig *config, const TrackItem *item, const CclDetection *detection,
                       double limit);

/* Gives a detection to an item. */
void track_match_give(TrackMatch *match, TrackItem *items, uint32_t index, uint32_t detection);

/* Gives each item the detection in column_of. */
void track_match_give_columns(TrackMatch *match, TrackItem *items, uint32_t n_items);

/* Fills track.detection, seen and container of the items. Items that are lost get no detection. */
void track_match_assign(TrackMatch *match, const CclTrackerConfig *config, TrackItem *items, uint32_t n_items);

/* Fills the items' group. */
void track_match_join_groups(TrackMatch *match, TrackItem *items, uint32_t n_items);

/* Extends the items' seen, and sets in_parts. */
void track_match_join_parts(TrackMatch *match, TrackItem *items);

#endif
