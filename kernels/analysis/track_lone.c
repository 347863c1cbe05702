/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "track_lone.h"

#include "boxes.h"

#include <math.h>

/* Sizes of the object that it moves in a frame at most. An object faster than its own size leaves gaps in its way; at
 * 1.25 it is still nearer to its last place than to the next place but one. The rest is for the rounding of boxes. */
static const double REACH = 1.35;

/* Share of the area: a blob smaller than this is no other object, but noise or a part. */
static const double MIN_SHARE = 0.25;

/* The length that a step along one side is compared with: a car is faster along its length. */
static double scale(double side, double width, double height)
{
    return larger(side, sqrt(width * height));
}

/* Is the place of the detection within reach of (x, y)? */
static bool is_within(const TrackItem *item, const CclDetection *d, double x, double y, double frames)
{
    const double width = larger(item->w, d->x1 - d->x0), height = larger(item->h, d->y1 - d->y0);
    const double dx = (d->x - x) / scale(width, width, height), dy = (d->y - y) / scale(height, width, height);
    return dx * dx + dy * dy <= REACH * REACH * frames * frames;
}

/* From where it should be or where it was last seen: one that stops suddenly is far from its prediction. */
static bool is_near(const TrackItem *item, const CclDetection *d, double frames)
{
    return is_within(item, d, item->track.x, item->track.y, frames) ||
           is_within(item, d, item->last_x, item->last_y, frames);
}

/* A track in its second frame may grow: the object comes into the picture. */
static bool has_like_size(const TrackItem *item, const CclDetection *d)
{
    const double ratio = detection_area(d) / (item->w * item->h);
    return ratio >= MIN_SHARE && (ratio <= 1 / MIN_SHARE || item->track.hits == 1);
}

/* Centroids outside of it are not within reach of a track, whatever the size of the detection. */
typedef struct Range {
    double left, right, top, bottom;
} Range;

static Range reach_of(const TrackMatch *match, const TrackItem *item, double frames)
{
    const double width = larger(item->w, match->max_width), height = larger(item->h, match->max_height);
    const double x = REACH * frames * scale(width, width, height), y = REACH * frames * scale(height, width, height);
    return (Range){ .left = smaller(item->track.x, item->last_x) - x,
                    .right = larger(item->track.x, item->last_x) + x,
                    .top = smaller(item->track.y, item->last_y) - y,
                    .bottom = larger(item->track.y, item->last_y) + y };
}

static bool is_in_range(const Range *range, const TrackPlace *place)
{
    return place->y >= range->top && place->y <= range->bottom && place->x >= range->left && place->x <= range->right;
}

/* The only detection near a track, not counting much smaller ones; TRACK_NONE: there are none or several. */
static uint32_t only_detection(const TrackMatch *match, const TrackItem *item, double frames)
{
    const Range range = reach_of(match, item, frames);
    uint32_t only = TRACK_NONE;

    for (uint32_t k = track_match_first_from(match, range.left - match->max_width); k < match->n_usable; k++) {
        const uint32_t i = match->order[k];
        const CclDetection *const d = &match->detections[i];
        if (match->places[k].x0 > range.right)
            break;
        if (!is_in_range(&range, &match->places[k]) || detection_area(d) < MIN_SHARE * item->w * item->h ||
            !is_near(item, d, frames))
            continue;
        if (only != TRACK_NONE)
            return TRACK_NONE;
        only = i;
    }
    return only;
}

/* Index of the first candidate that is not before `first` in match->order. */
static uint32_t first_candidate(const uint32_t *candidates, uint32_t n, uint32_t first)
{
    uint32_t low = 0, high = n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (candidates[middle] < first)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Counts for each candidate the tracks near it, not counting much smaller ones. `candidates`: n places in match->order. */
static void count_tracks_near(TrackMatch *match, const uint32_t *candidates, uint32_t n, const TrackItem *items, uint32_t n_items,
                              double frames)
{
    for (uint32_t i = 0; i < n_items && n > 0; i++) {
        if (items[i].track.state == CCL_TRACK_LOST)
            continue;
        const Range range = reach_of(match, &items[i], frames);
        const uint32_t first = track_match_first_from(match, range.left - match->max_width);
        for (uint32_t k = first_candidate(candidates, n, first); k < n; k++) {
            const TrackPlace *const place = &match->places[candidates[k]];
            if (place->x0 > range.right)
                break;
            if (!is_in_range(&range, place))
                continue;
            const uint32_t detection = match->order[candidates[k]];
            const CclDetection *const d = &match->detections[detection];
            match->n_near[detection] += items[i].w * items[i].h >= MIN_SHARE * detection_area(d) && is_near(&items[i], d, frames);
        }
    }
}

/* A track that was seen in the last frame, and in this one neither alone nor in a blob with others. */
static bool has_just_vanished(const TrackItem *item)
{
    const CclTrack *const t = &item->track;
    return t->state != CCL_TRACK_LOST && t->detection == TRACK_NONE && item->container == TRACK_NONE && t->misses == 0 &&
           item->merged_frames == 0;
}

/* The detection that may be that of a track that has just vanished, or TRACK_NONE. */
static uint32_t candidate_of(const TrackMatch *match, const CclTrackerConfig *config, const TrackItem *item, double frames)
{
    const uint32_t detection = has_just_vanished(item) ? only_detection(match, item, frames) : TRACK_NONE;
    if (detection == TRACK_NONE || match->owner[detection] != TRACK_NONE)
        return TRACK_NONE;
    const CclDetection *const d = &match->detections[detection];
    const bool is_like = (item->track.type == d->type || config->single_class) && has_like_size(item, d);
    return is_like ? detection : TRACK_NONE;
}

/* Fills column_of with the candidate of each item, and n_near of all candidates. */
static void find_candidates(TrackMatch *match, const CclTrackerConfig *config, const TrackItem *items, uint32_t n_items,
                            double frames)
{
    uint32_t *const candidates = match->n_sharing; /* not used yet in this frame */
    uint32_t n = 0;

    for (uint32_t i = 0; i < match->n_detections; i++)
        match->n_near[i] = TRACK_NONE;
    for (uint32_t i = 0; i < n_items; i++) {
        match->column_of[i] = candidate_of(match, config, &items[i], frames);
        if (match->column_of[i] != TRACK_NONE)
            match->n_near[match->column_of[i]] = 0;
    }
    for (uint32_t k = 0; k < match->n_usable; k++)
        if (match->n_near[match->order[k]] == 0)
            candidates[n++] = k;
    count_tracks_near(match, candidates, n, items, n_items, frames);
}

void track_match_lone(TrackMatch *match, const CclTrackerConfig *config, TrackItem *items, uint32_t n_items,
                      double frames)
{
    const double elapsed = larger(frames, 1);

    find_candidates(match, config, items, n_items, elapsed);
    for (uint32_t i = 0; i < n_items; i++) {
        TrackItem *const item = &items[i];
        const uint32_t detection = match->column_of[i];
        if (detection == TRACK_NONE || match->owner[detection] != TRACK_NONE)
            continue;
        const CclDetection *const d = &match->detections[detection];
        if (match->n_near[detection] > (is_near(item, d, elapsed) && item->w * item->h >= MIN_SHARE * detection_area(d)))
            continue;
        track_restart(item, config->method, d->x, d->y, elapsed);
        track_match_give(match, items, i, detection);
    }
}
