/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "track_fragments.h"

#include "boxes.h"

#include <math.h>
/* In sizes of the larger one: a gap between two fragments, and a change of their distance, is at most this. */
static const double MAX_GAP = 1;
static const double MAX_DRIFT = 0.35;

/* Share of the object's area: a smaller track near it is a piece of it however it moves, as an arm or a shadow. */
static const double PIECE_SHARE = 0.25;

/* Two tracks of like size that were seen apart for this many frames are two objects, however they move. */
static const unsigned APART_FRAMES = 10;
static const double LIKE_SIZE = 0.5; /* of the areas */

/* The blob that the track has or shares. */
static uint32_t blob_of(const TrackItem *item)
{
    return item->group != TRACK_NONE ? item->group : item->track.detection;
}

static double size_of(const TrackItem *item)
{
    return sqrt(item->w * item->h);
}

static double gap(double a0, double a1, double b0, double b1)
{
    return larger(larger(a0 - b1, b0 - a1), 0);
}

/* Of their boxes, in sizes of the larger one. */
static double relative_gap(const TrackItem *a, const TrackItem *b)
{
    const CclTrack *const s = &a->track, *const t = &b->track;
    const double x = gap(s->x0, s->x1, t->x0, t->x1), y = gap(s->y0, s->y1, t->y0, t->y1);
    return sqrt(x * x + y * y) / larger(size_of(a), size_of(b));
}

void track_note_neighbour(TrackItem *items, uint32_t n_items, uint32_t index)
{
    TrackItem *const item = &items[index];
    double nearest = MAX_GAP;
    for (uint32_t i = 0; i < n_items; i++) {
        const TrackItem *const other = &items[i];
        if (i == index || other->track.state == CCL_TRACK_LOST || other->track.id > item->track.id ||
            other->track.misses > 0)
            continue;
        const double distance = relative_gap(item, other);
        if (distance > nearest || (distance == nearest && item->neighbour_id != 0))
            continue;
        nearest = distance;
        item->neighbour_id = other->track.id;
        item->neighbour_x = item->ax.p - other->ax.p;
        item->neighbour_y = item->ay.p - other->ay.p;
    }
}

bool track_is_piece(const TrackItem *item, const TrackItem *neighbour)
{
    return item->w * item->h < PIECE_SHARE * neighbour->w * neighbour->h;
}

static bool has_drifted(const TrackItem *item, const TrackItem *neighbour)
{
    if (track_is_piece(item, neighbour))
        return relative_gap(item, neighbour) > MAX_GAP;
    const double x = item->ax.p - neighbour->ax.p - item->neighbour_x, y = item->ay.p - neighbour->ay.p - item->neighbour_y;
    return hypot(x, y) > MAX_DRIFT * larger(size_of(item), size_of(neighbour));
}

static bool were_apart(const TrackItem *a, const TrackItem *b)
{
    const double s = a->w * a->h, t = b->w * b->h;
    return smaller(s, t) >= LIKE_SIZE * larger(s, t) && a->track.hits >= APART_FRAMES && b->track.hits >= APART_FRAMES;
}

uint32_t track_neighbour(const TrackItem *items, uint32_t n_items, const TrackItem *item)
{
    if (item->neighbour_id == 0)
        return TRACK_NONE;
    uint32_t low = 0, high = n_items; /* items are in the order of their ids */
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (items[middle].track.id < item->neighbour_id)
            low = middle + 1;
        else
            high = middle;
    }
    const bool lives = low < n_items && items[low].track.id == item->neighbour_id && items[low].track.state != CCL_TRACK_LOST;
    return lives && !has_drifted(item, &items[low]) ? low : TRACK_NONE;
}

/* The younger track ends. What began next to it has begun next to the older one. */
static void end_fragment(TrackMatch *match, TrackItem *items, uint32_t n_items, TrackItem *fragment, uint32_t object)
{
    const uint32_t blob = blob_of(fragment);
    for (uint32_t i = 0; i < n_items; i++)
        if (items[i].neighbour_id == fragment->track.id) {
            items[i].neighbour_id = items[object].track.id;
            items[i].neighbour_x += fragment->ax.p - items[object].ax.p;
            items[i].neighbour_y += fragment->ay.p - items[object].ay.p;
        }
    if (blob != TRACK_NONE && &items[match->owner[blob]] == fragment)
        match->owner[blob] = object;
    fragment->track.state = CCL_TRACK_LOST;
    fragment->track.detection = fragment->group = TRACK_NONE;
}

/* Pieces of one object that are in one blob now. */
static void end_fragments(TrackMatch *match, TrackItem *items, uint32_t n_items)
{
    for (uint32_t i = 0; i < n_items; i++) {
        TrackItem *const item = &items[i];
        const uint32_t blob = blob_of(item);
        if (blob == TRACK_NONE)
            continue;
        const uint32_t object = track_neighbour(items, n_items, item);
        if (object != TRACK_NONE && items[object].track.state != CCL_TRACK_TENTATIVE && blob_of(&items[object]) == blob &&
            !were_apart(item, &items[object]))
            end_fragment(match, items, n_items, item, object);
    }
}

/* Of tracks that were in one blob for too long only the oldest lives on: nobody can tell any more where the others are. */
static void end_old_groups(TrackMatch *match, TrackItem *items, uint32_t n_items, uint32_t max_frames)
{
    for (uint32_t i = 0; i < n_items; i++) {
        if (items[i].group == TRACK_NONE || items[i].merged_frames < max_frames)
            continue;
        uint32_t oldest = 0;
        while (items[oldest].group != items[i].group)
            oldest++;
        if (oldest != i)
            end_fragment(match, items, n_items, &items[i], oldest);
    }
}

/* A blob with one track left is no group: the track has it alone. */
static void end_groups_of_one(TrackMatch *match, TrackItem *items, uint32_t n_items)
{
    for (uint32_t i = 0; i < match->n_detections; i++)
        match->n_sharing[i] = 0;
    for (uint32_t i = 0; i < n_items; i++)
        if (blob_of(&items[i]) != TRACK_NONE)
            match->n_sharing[blob_of(&items[i])]++;
    for (uint32_t i = 0; i < n_items; i++) {
        const uint32_t blob = items[i].group;
        if (blob == TRACK_NONE || match->n_sharing[blob] != 1)
            continue;
        items[i].group = TRACK_NONE;
        track_match_give(match, items, i, blob);
        items[i].has_grown = true;
    }
}

void track_match_join_fragments(TrackMatch *match, TrackItem *items, uint32_t n_items, uint32_t max_frames)
{
    end_fragments(match, items, n_items);
    end_old_groups(match, items, n_items, max_frames);
    end_groups_of_one(match, items, n_items);
}
