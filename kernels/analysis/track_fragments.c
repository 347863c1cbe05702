/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "track_fragments.h"

#include "boxes.h"

#include <math.h>
/* In sizes of the larger one: a gap between two fragments, as the trunk between head and legs, and a change of their distance. */
static const double MAX_GAP = 1.25;
static const double MAX_DRIFT = 0.3;
static const double MAX_PIECE_DRIFT = 1.25; /* of a piece, which moves within its object */

/* A piece that its object leaves behind, as a chair that was pushed, is an object once it has moved or grown by this, in its
 * sizes. */
static const double LEFT_MOVE = 0.5;

/* Share of the object's area: a smaller track near it is a piece of it however it moves, as an arm or a shadow. */
static const double PIECE_SHARE = 0.25;

/* Pieces one above the other: shared width, of the narrower one; gap, in sizes of the larger one, and shared height, of the
 * lower one. */
static const double STACKED_OVERLAP = 0.5;
static const double STACKED_GAP = 0.2;

/* Two tracks of like size that were seen apart for this many frames are two objects, however they move. */
static const unsigned APART_FRAMES = 10;
static const double LIKE_SIZE = 0.35; /* of the areas */

/* The blob that the track has or shares. */
static uint32_t blob_of(const TrackItem *item)
{
    return item->group != TRACK_NONE ? item->group : item->track.detection;
}

static double gap(double a0, double a1, double b0, double b1)
{
    return larger(larger(a0 - b1, b0 - a1), 0);
}

/* Of their boxes, in sizes of the larger one; squared. */
static double relative_gap2(const TrackItem *a, const TrackItem *b)
{
    const CclTrack *const s = &a->track, *const t = &b->track;
    const double x = gap(s->x0, s->x1, t->x0, t->x1), y = gap(s->y0, s->y1, t->y0, t->y1);
    return (x * x + y * y) / larger(a->w * a->h, b->w * b->h);
}

/* Is it nearer than the neighbour found so far, or as near and older? */
static bool is_better(const TrackItem *item, const TrackItem *other, double distance, double nearest)
{
    return distance < nearest || (distance == nearest && (item->neighbour_id == 0 || other->track.id < item->neighbour_id));
}

static void set_neighbour(TrackItem *item, const TrackItem *other)
{
    item->neighbour_id = other->track.id;
    item->neighbour_x = item->ax.p - other->ax.p;
    item->neighbour_y = item->ay.p - other->ay.p;
}

/* What began next to a new track began next to the neighbour of that one, too, if it is within reach: a new track may end
 * soon. */
static void note_object(TrackItem *items, uint32_t index)
{
    uint32_t i = track_neighbour(items, index, &items[index]);
    while (i != TRACK_NONE && items[i].track.state == CCL_TRACK_TENTATIVE) {
        i = track_neighbour(items, index, &items[i]);
        if (i != TRACK_NONE && relative_gap2(&items[index], &items[i]) <= MAX_GAP * MAX_GAP)
            set_neighbour(&items[index], &items[i]);
    }
}

void track_note_neighbour(const TrackMatch *match, TrackItem *items, uint32_t index)
{
    TrackItem *const item = &items[index];
    const CclTrack *const t = &item->track;
    const double reach = MAX_GAP * sqrt(match->max_width * match->max_height);
    double nearest = MAX_GAP * MAX_GAP;

    for (uint32_t k = track_match_first_from(match, t->x0 - reach - match->max_width); k < match->n_usable; k++) {
        const uint32_t i = match->order[k];
        if (match->places[k].x0 > t->x1 + reach)
            break;
        if (match->owner[i] == TRACK_NONE || match->owner[i] >= index || match->detections[i].class_id != item->class_id)
            continue;
        const TrackItem *const other = &items[match->owner[i]];
        const double distance = relative_gap2(item, other);
        if (other->track.state == CCL_TRACK_LOST || !is_better(item, other, distance, nearest))
            continue;
        nearest = distance;
        set_neighbour(item, other);
    }
    note_object(items, index);
}

/* Objects stand: what is right above or below is a piece, what is beside may be another person. */
static bool is_stacked(const TrackItem *a, const TrackItem *b)
{
    const CclTrack *const s = &a->track, *const t = &b->track;
    return overlap(s->x0, s->x1, t->x0, t->x1) >= STACKED_OVERLAP * smaller(s->x1 - s->x0, t->x1 - t->x0) &&
           gap(s->y0, s->y1, t->y0, t->y1) <= STACKED_GAP * larger(track_size(a), track_size(b)) &&
           overlap(s->y0, s->y1, t->y0, t->y1) <= STACKED_GAP * smaller(s->y1 - s->y0, t->y1 - t->y0);
}

bool track_is_piece(const TrackItem *item, const TrackItem *neighbour)
{
    return item->w * item->h < PIECE_SHARE * neighbour->w * neighbour->h || is_stacked(item, neighbour);
}

static bool has_drifted(const TrackItem *item, const TrackItem *neighbour)
{
    const double x = item->ax.p - neighbour->ax.p - item->neighbour_x, y = item->ay.p - neighbour->ay.p - item->neighbour_y;
    const double limit = track_is_piece(item, neighbour) ? MAX_PIECE_DRIFT : MAX_DRIFT;
    return hypot(x, y) > limit * larger(track_size(item), track_size(neighbour));
}

void track_count_piece(TrackItem *item)
{
    if (++item->piece_frames > APART_FRAMES)
        return;
    item->piece_x = item->ax.p;
    item->piece_y = item->ay.p;
    item->piece_size = track_size(item);
}

bool track_is_left(const TrackItem *item)
{
    const double way = hypot(item->ax.p - item->piece_x, item->ay.p - item->piece_y);
    const double growth = track_size(item) - item->piece_size;
    return item->piece_frames >= APART_FRAMES && larger(way, growth) < LEFT_MOVE * item->piece_size;
}

static bool were_apart(const TrackItem *a, const TrackItem *b)
{
    const double s = a->w * a->h, t = b->w * b->h;
    return smaller(s, t) >= LIKE_SIZE * larger(s, t) && a->track.hits >= APART_FRAMES && b->track.hits >= APART_FRAMES;
}

/* Do they have blobs of different classes in this frame? */
static bool differ_in_class(const TrackItem *a, const TrackItem *b)
{
    return a->track.detection != TRACK_NONE && b->track.detection != TRACK_NONE && a->seen.class_id != b->seen.class_id;
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
    const bool is_followed =
        low < n_items && items[low].track.id == item->neighbour_id && items[low].track.state != CCL_TRACK_LOST;
    return is_followed && !differ_in_class(item, &items[low]) && !has_drifted(item, &items[low]) ? low : TRACK_NONE;
}

/* The younger track ends. Tracks that began next to it get the older one as neighbour. */
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

/* Has the object just gone out of sight? */
static bool just_vanished(const TrackItem *object)
{
    return object->track.state != CCL_TRACK_TENTATIVE && object->track.misses == 0 && blob_of(object) == TRACK_NONE;
}

/* An object that has gone out of sight, behind a post, goes on as its fragment on the other side. A small piece is not enough. */
static void continue_as_fragments(TrackMatch *match, TrackItem *items, uint32_t n_items)
{
    for (uint32_t i = 0; i < n_items; i++) {
        TrackItem *const item = &items[i];
        const uint32_t blob = item->track.detection;
        if (item->track.state != CCL_TRACK_TENTATIVE || blob == TRACK_NONE || track_is_left(item))
            continue;
        const uint32_t object = track_neighbour(items, n_items, item);
        if (object == TRACK_NONE || !just_vanished(&items[object]) || track_is_piece(item, &items[object]) ||
            item->class_id != items[object].class_id) /* of the frame before */
            continue;
        end_fragment(match, items, n_items, item, object);
        track_match_give(match, items, object, blob);
        items[object].has_grown = true;
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
    continue_as_fragments(match, items, n_items);
    end_old_groups(match, items, n_items, max_frames);
    end_groups_of_one(match, items, n_items);
}
