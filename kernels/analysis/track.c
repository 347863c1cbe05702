/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Making a tracker, and a track from its first detection to its end. track_filter.c has the model of a track,
 * track_match.c the assignment of detections to tracks. */
#include "track.h"

#include "boxes.h"
#include "track_boxes.h"
#include "track_fragments.h"
#include "track_lone.h"
#include "track_match.h"

#include <stdlib.h>

static const double SHAPE_GAIN = 0.1;    /* of a new box and covariance in the smoothed ones */
static const double HIDDEN_GAIN = 0.02;  /* the same where a part is seen: in 50 frames what is left is the object */
static const double MERGED_NOISE = 2;    /* factor of the noise where only the outline of a group, or a part, is seen */
static const unsigned FRAGMENT_HITS = 5; /* times min_hits, until what may be a fragment is an object */
static const unsigned MERGED_AGES = 2;   /* times max_age, until a track inside a group ends */

struct CclTracker {
    CclTrackerConfig config;
    uint64_t last_id;
    TrackItem *items;
    uint32_t n;
    CclTrack *tracks; /* what ccl_tracker_tracks() returns */
    uint32_t n_tracks;
    TrackMatch match;
};

/* ---------------------------------------------------------------- making and freeing */

CclTrackerConfig ccl_tracker_config_default(void)
{
    return (CclTrackerConfig){
        .max_tracks = 1024,
        .min_hits = 3,
        .max_age = 30,
        .max_distance = 4,
        .iou_threshold = 0.3,
        .merge_split = true,
        .high_confidence = 0.6,
    };
}

/* By overlap alone a box is a blob like any other. */
static bool is_of_boxes(const CclTrackerConfig *config)
{
    return config->boxes && config->method == CCL_TRACK_KALMAN;
}

static CclStatus check_config(const CclTrackerConfig *c)
{
    if (c->max_tracks < 1 || c->max_tracks > CCL_TRACKER_MAX_TRACKS)
        return ccl_fail(CCL_ERROR_ARGUMENT, "max_tracks %u is outside 1 to %u", c->max_tracks, CCL_TRACKER_MAX_TRACKS);
    if (c->min_hits < 1 || c->max_age > CCL_TRACKER_MAX_AGE)
        return ccl_fail(CCL_ERROR_ARGUMENT, "min_hits %u is less than 1, or max_age %u more than %u", c->min_hits,
                        c->max_age, CCL_TRACKER_MAX_AGE);
    if (!(c->max_distance > 0) || !(c->iou_threshold >= 0 && c->iou_threshold <= 1))
        return ccl_fail(CCL_ERROR_ARGUMENT, "max_distance %g must be positive, iou_threshold %g within 0 to 1",
                        c->max_distance, c->iou_threshold);
    if (!(c->frame_seconds >= 0 && c->frame_seconds <= CCL_TRACKER_MAX_AGE))
        return ccl_fail(CCL_ERROR_ARGUMENT, "frame_seconds %g is outside 0 to %u", c->frame_seconds, CCL_TRACKER_MAX_AGE);
    if (!(c->high_confidence >= 0 && c->high_confidence <= 1))
        return ccl_fail(CCL_ERROR_ARGUMENT, "high_confidence %g is outside 0 to 1", c->high_confidence);
    return CCL_OK;
}

CclStatus ccl_tracker_new(const CclTrackerConfig *config, CclTracker **result)
{
    *result = NULL;
    CCL_TRY(check_config(config));
    CclTracker *const tracker = calloc(1, sizeof *tracker);
    if (tracker) {
        tracker->config = *config;
        tracker->items = malloc(config->max_tracks * sizeof *tracker->items);
        tracker->tracks = malloc(config->max_tracks * sizeof *tracker->tracks);
    }
    if (!tracker || !tracker->items || !tracker->tracks) {
        ccl_tracker_free(tracker);
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "no memory for %u tracks", config->max_tracks);
    }
    *result = tracker;
    return CCL_OK;
}

void ccl_tracker_free(CclTracker *tracker)
{
    if (!tracker)
        return;
    track_match_free(&tracker->match);
    free(tracker->items);
    free(tracker->tracks);
    free(tracker);
}

CclStatus ccl_tracker_configure(CclTracker *tracker, const CclTrackerConfig *config)
{
    CCL_TRY(check_config(config));
    if (config->max_tracks != tracker->config.max_tracks)
        return ccl_fail(CCL_ERROR_ARGUMENT, "max_tracks cannot change while tracking");
    if (is_of_boxes(config) != is_of_boxes(&tracker->config))
        ccl_tracker_reset(tracker);
    tracker->config = *config;
    return CCL_OK;
}

void ccl_tracker_reset(CclTracker *tracker)
{
    tracker->n = tracker->n_tracks = 0;
}

uint32_t ccl_tracker_tracks(const CclTracker *tracker, const CclTrack **tracks)
{
    *tracks = tracker->tracks;
    return tracker->n_tracks;
}

/* ---------------------------------------------------------------- one track in a frame */

static void begin_frame(TrackItem *item, const CclTrackerConfig *config, double frames)
{
    if (is_of_boxes(config))
        track_box_predict(item, config, frames);
    else
        track_predict(item, config->method, frames);
    item->track.flags = 0;
    item->track.detection = item->group = item->container = TRACK_NONE;
    item->in_parts = item->is_hidden = item->has_grown = false;
    item->track.age++;
}

/* Moves [p0, p1) the least way over [d0, d1). */
static double shift_over(double p0, double p1, double d0, double d1)
{
    return d0 < p0 ? d0 - p0 : d1 > p1 ? d1 - p1 : 0;
}

/* The detection is a part of the object, whose box moves the least way over it. */
static void take_part(TrackItem *item, const CclTrackerConfig *config, const CclDetection *d)
{
    const CclTrack *const t = &item->track;
    const double x = t->x + shift_over(t->x0, t->x1, d->x0, d->x1), y = t->y + shift_over(t->y0, t->y1, d->y0, d->y1);
    track_correct(item, config->method, x, y, MERGED_NOISE * MERGED_NOISE);
    track_smooth_shape(item, d, HIDDEN_GAIN);
    track_place(item);
}

/* How far a side [d0, d1) that is shorter than the predicted [p0, p1) has moved. Where the object is cut off, behind a post or at
 * the edge of the picture, one end stands still; the other one tells. */
static double way_of_cut_side(double p0, double p1, double d0, double d1)
{
    const double a = d0 - p0, b = d1 - p1;
    return a > 0 && b > 0 ? smaller(a, b) : a < 0 && b < 0 ? larger(a, b) : 0;
}

/* A new track has no size to compare with. */
static bool is_cut(const CclTrack *t, double side, double seen)
{
    return t->state != CCL_TRACK_TENTATIVE && seen < side;
}

static void take_blob(TrackItem *item, const CclTrackerConfig *config, const CclDetection *d)
{
    const CclTrack *const t = &item->track;
    const double x = is_cut(t, item->w, d->x1 - d->x0) ? t->x + way_of_cut_side(t->x0, t->x1, d->x0, d->x1) : d->x;
    const double y = is_cut(t, item->h, d->y1 - d->y0) ? t->y + way_of_cut_side(t->y0, t->y1, d->y0, d->y1) : d->y;

    track_correct(item, config->method, x, y, 1);
    /* Not from parts: the shape would grow as they drift apart, and would keep them joined. */
    track_smooth_shape(item, d, item->in_parts ? 0 : larger(SHAPE_GAIN, 1.0 / (t->hits + 1.0)));
    track_place(item);
}

/* The track was that of a fragment. Its speed is that of the object, its place and shape are not. */
static void take_whole(TrackItem *item, const CclTrackerConfig *config, const CclDetection *d)
{
    item->ax.p = d->x, item->ay.p = d->y;
    track_smooth_shape(item, d, 1);
    track_correct(item, config->method, d->x, d->y, 1);
    track_place(item);
}

/* Was the track seen often enough, for one that may be a fragment? */
static bool is_sure(const TrackItem *item, const CclTrackerConfig *config)
{
    if (config->min_hits == 1)
        return true;
    if (track_is_left(item))
        return false;
    if (item->object == TRACK_NONE)
        return item->track.hits >= config->min_hits;
    return !item->is_piece && item->track.hits >= FRAGMENT_HITS * config->min_hits;
}

/* Takes the detection in item->seen. */
static void see(TrackItem *item, const CclTrackerConfig *config)
{
    CclTrack *const t = &item->track;
    const CclDetection *const d = &item->seen;
    if (is_of_boxes(config))
        track_box_correct(item, d);
    else if (item->has_grown)
        take_whole(item, config, d);
    else if (item->is_hidden)
        take_part(item, config, d);
    else
        take_blob(item, config, d);
    t->x0 = d->x0, t->y0 = d->y0, t->x1 = d->x1, t->y1 = d->y1;
    item->last_x = d->x, item->last_y = d->y;
    item->class_id = d->class_id;
    t->hits++;
    t->misses = 0;
    item->merged_frames = 0;
    if (t->state != CCL_TRACK_TENTATIVE || is_sure(item, config))
        t->state = CCL_TRACK_CONFIRMED;
}

/* Unseen for `frames` more. */
static void miss(TrackItem *item, unsigned max_age, uint32_t frames)
{
    CclTrack *const t = &item->track;
    t->misses += frames;
    t->state = t->state == CCL_TRACK_TENTATIVE || t->misses > max_age ? CCL_TRACK_LOST : CCL_TRACK_PREDICTED;
}

/* Moves [p0, p1) the least way into [d0, d1), or onto its middle when it is too long. */
static double shift_into(double p0, double p1, double d0, double d1)
{
    if (p1 - p0 >= d1 - d0)
        return (d0 + d1 - p0 - p1) / 2;
    return p0 < d0 ? d0 - p0 : p1 > d1 ? d1 - p1 : 0;
}

/* Moves the track along inside the blob that it shares. */
static void follow_group(TrackItem *item, const CclDetection *d, const CclTrackerConfig *config)
{
    CclTrack *const t = &item->track;
    const double x = t->x + shift_into(t->x0, t->x1, d->x0, d->x1), y = t->y + shift_into(t->y0, t->y1, d->y0, d->y1);
    track_correct(item, config->method, x, y, MERGED_NOISE * MERGED_NOISE);
    track_place(item);
    t->detection = item->group;
    t->flags |= CCL_TRACK_MERGED;
    t->state = ++item->merged_frames > MERGED_AGES * config->max_age ? CCL_TRACK_LOST : CCL_TRACK_PREDICTED;
}

/* ---------------------------------------------------------------- all tracks in a frame */

/* Finds the object that a new track may be a fragment of. */
static void find_object(const CclTracker *tracker, TrackItem *item)
{
    item->object = item->track.state == CCL_TRACK_TENTATIVE ? track_neighbour(tracker->items, tracker->n, item) : TRACK_NONE;
    item->is_piece = item->object != TRACK_NONE && track_is_piece(item, &tracker->items[item->object]);
    if (item->is_piece)
        track_count_piece(item);
}

static void update_tracks(CclTracker *tracker, uint32_t frames)
{
    const CclTrackerConfig *const config = &tracker->config;
    for (uint32_t i = 0; i < tracker->n; i++) {
        TrackItem *const item = &tracker->items[i];
        if (item->track.state == CCL_TRACK_LOST)
            continue;
        find_object(tracker, item);
        if (item->group != TRACK_NONE)
            follow_group(item, &tracker->match.detections[item->group], config);
        else if (item->track.detection != TRACK_NONE)
            see(item, config);
        else
            miss(item, config->max_age, frames);
    }
}

static uint64_t new_id(CclTracker *tracker)
{
    return tracker->config.new_id ? tracker->config.new_id() : ++tracker->last_id;
}

/* Notes where the track comes from: out of another track, or next to one. */
static void note_origin(CclTracker *tracker, TrackItem *item)
{
    CclTrack *const t = &item->track;
    const uint32_t parent = tracker->match.covering[t->detection];
    if (parent != TRACK_NONE && tracker->items[parent].class_id == item->class_id) {
        t->parent_id = tracker->items[parent].track.id;
        t->flags = CCL_TRACK_SPLIT;
    }
    if (!tracker->config.merge_split || is_of_boxes(&tracker->config))
        return;
    track_note_neighbour(&tracker->match, tracker->items, tracker->n - 1);
    find_object(tracker, item);
}

/* Starts a track; NULL when there are max_tracks. */
static const TrackItem *begin_track(CclTracker *tracker, uint32_t detection)
{
    if (tracker->n == tracker->config.max_tracks)
        return NULL;
    TrackItem *const item = &tracker->items[tracker->n++];
    if (is_of_boxes(&tracker->config))
        track_box_begin(item, &tracker->match.detections[detection]);
    else
        track_begin(item, &tracker->match.detections[detection]);
    CclTrack *const t = &item->track;
    t->id = new_id(tracker);
    t->detection = detection;
    t->age = t->hits = 1;
    t->state = tracker->config.min_hits > 1 ? CCL_TRACK_TENTATIVE : CCL_TRACK_CONFIRMED;
    note_origin(tracker, item);
    return item;
}

static bool may_begin(const CclTracker *tracker, const CclDetection *detection)
{
    return track_is_usable(detection) && (!is_of_boxes(&tracker->config) || track_box_is_sure(&tracker->config, detection));
}

/* A piece counts as a part of the object near it. A piece larger than the object's detection does not: the object is leaving the
 * picture, and the piece stays. */
static const TrackItem *object_of(const CclTracker *tracker, const TrackItem *item)
{
    const TrackItem *object = item;
    while (object->track.state == CCL_TRACK_TENTATIVE && object->object != TRACK_NONE && object->is_piece)
        object = &tracker->items[object->object]; /* each is older than the one before */
    const bool is_part =
        object->track.state == CCL_TRACK_CONFIRMED && detection_area(&object->seen) >= detection_area(&item->seen);
    return is_part ? object : item;
}

/* Starts a track for each detection that has none. track_of receives the id of each detection's track. */
static void begin_tracks(CclTracker *tracker, uint64_t *track_of)
{
    TrackMatch *const match = &tracker->match;
    for (uint32_t i = 0; i < match->n_detections; i++) {
        uint64_t id = 0;
        if (match->owner[i] != TRACK_NONE) {
            id = object_of(tracker, &tracker->items[match->owner[i]])->track.id;
        } else if (may_begin(tracker, &match->detections[i])) {
            const TrackItem *const item = begin_track(tracker, i);
            match->owner[i] = item ? tracker->n - 1 : TRACK_NONE;
            id = item ? object_of(tracker, item)->track.id : 0;
        }
        if (track_of)
            track_of[i] = id;
    }
}

static void remove_lost(CclTracker *tracker)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < tracker->n; i++)
        if (tracker->items[i].track.state != CCL_TRACK_LOST)
            tracker->items[kept++] = tracker->items[i];
    tracker->n = kept;
}

static void copy_tracks(CclTracker *tracker)
{
    tracker->n_tracks = tracker->n;
    for (uint32_t i = 0; i < tracker->n; i++)
        tracker->tracks[i] = tracker->items[i].track;
}

/* A longer gap changes nothing more: all tracks end. */
static double bounded_frames(const CclTracker *tracker, double frames)
{
    return frames > 0 ? smaller(frames, tracker->config.max_age + 2.0) : 0;
}

/* Timestamps are whole nanoseconds: an interval of 1/30 s is a little more than one frame, or less. */
static uint32_t whole_frames(double elapsed)
{
    return elapsed >= 1 ? (uint32_t)(elapsed + 0.5) : 1;
}

/* Ends the tracks that were unseen for too long before this frame, so that they get no detection in it. */
static void end_overdue(CclTracker *tracker, double elapsed)
{
    for (uint32_t i = 0; i < tracker->n; i++) {
        CclTrack *const t = &tracker->items[i].track;
        if (t->misses + whole_frames(elapsed) - 1 > tracker->config.max_age)
            t->state = CCL_TRACK_LOST;
    }
}

static void assign(CclTracker *tracker, double elapsed)
{
    TrackMatch *const match = &tracker->match;
    const CclTrackerConfig *const config = &tracker->config;

    if (is_of_boxes(config)) {
        track_box_assign(match, config, tracker->items, tracker->n);
        return;
    }
    track_match_assign(match, config, tracker->items, tracker->n);
    if (config->method == CCL_TRACK_KALMAN)
        track_match_lone(match, config, tracker->items, tracker->n, elapsed);
    if (config->merge_split) {
        track_match_join_groups(match, tracker->items, tracker->n);
        track_match_join_fragments(match, tracker->items, tracker->n, MERGED_AGES * config->max_age);
        track_match_join_parts(match, tracker->items);
    }
}

CclStatus ccl_tracker_update(CclTracker *tracker, const CclDetection *detections, uint32_t n, double frames,
                             uint64_t *track_of)
{
    const double elapsed = bounded_frames(tracker, frames);
    TrackMatch *const match = &tracker->match;

    remove_lost(tracker);
    CCL_TRY(track_match_reserve(match, tracker->n, n));
    for (uint32_t i = 0; i < tracker->n; i++)
        begin_frame(&tracker->items[i], &tracker->config, elapsed);
    end_overdue(tracker, elapsed);

    track_match_detections(match, detections);
    assign(tracker, elapsed);
    update_tracks(tracker, whole_frames(elapsed));
    begin_tracks(tracker, track_of);
    copy_tracks(tracker);
    return CCL_OK;
}

void ccl_tracker_skip(CclTracker *tracker, double frames)
{
    const double elapsed = bounded_frames(tracker, frames);

    remove_lost(tracker);
    for (uint32_t i = 0; i < tracker->n; i++) {
        CclTrack *const t = &tracker->items[i].track;
        begin_frame(&tracker->items[i], &tracker->config, elapsed);
        if (t->state == CCL_TRACK_CONFIRMED)
            t->state = CCL_TRACK_PREDICTED;
    }
    end_overdue(tracker, elapsed);
    copy_tracks(tracker);
}
