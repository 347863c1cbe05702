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

/* The only detection near a track, not counting much smaller ones; TRACK_NONE: there are none or several. */
static uint32_t only_detection(const TrackMatch *match, const TrackItem *item, double frames)
{
    const double width = larger(item->w, match->max_width), height = larger(item->h, match->max_height);
    const double reach = REACH * frames * scale(width, width, height) + match->max_width;
    const double from = smaller(item->track.x, item->last_x) - reach, to = larger(item->track.x, item->last_x) + reach;
    uint32_t only = TRACK_NONE;

    for (uint32_t k = track_match_first_from(match, from); k < match->n_usable; k++) {
        const uint32_t i = match->order[k];
        const CclDetection *const d = &match->detections[i];
        if (d->x0 > to)
            break;
        if (detection_area(d) < MIN_SHARE * item->w * item->h || !is_near(item, d, frames))
            continue;
        if (only != TRACK_NONE)
            return TRACK_NONE;
        only = i;
    }
    return only;
}

static bool is_only_track(const TrackItem *items, uint32_t n_items, uint32_t index, const CclDetection *d,
                          double frames)
{
    for (uint32_t i = 0; i < n_items; i++)
        if (i != index && items[i].track.state != CCL_TRACK_LOST && items[i].w * items[i].h >= MIN_SHARE * detection_area(d) &&
            is_near(&items[i], d, frames))
            return false;
    return true;
}

void track_match_lone(TrackMatch *match, const CclTrackerConfig *config, TrackItem *items, uint32_t n_items,
                      double frames)
{
    const double elapsed = larger(frames, 1);

    for (uint32_t i = 0; i < n_items; i++) {
        TrackItem *const item = &items[i];
        const CclTrack *const t = &item->track;
        if (t->state == CCL_TRACK_LOST || t->detection != TRACK_NONE || item->container != TRACK_NONE || t->misses > 0 ||
            item->merged_frames > 0)
            continue;
        const uint32_t detection = only_detection(match, item, elapsed);
        if (detection == TRACK_NONE || match->owner[detection] != TRACK_NONE)
            continue;
        const CclDetection *const d = &match->detections[detection];
        if ((t->type != d->type && !config->single_class) || !has_like_size(item, d) ||
            !is_only_track(items, n_items, i, d, elapsed))
            continue;
        track_restart(item, config->method, d->x, d->y, elapsed);
        track_match_give(match, items, i, detection);
    }
}
