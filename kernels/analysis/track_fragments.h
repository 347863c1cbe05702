/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Fragments: tracks of pieces of one object. A mask shows a person in pieces, which then grow together into one blob. Two
 * people who meet also become one blob. The pieces began near each other and have not moved apart since; the people came from
 * different places.
 *
 *     frame 1    [head]   [legs]       the second track notes the first one and where it is
 *     frame 9    [ one blob    ]       the distance is as before: the older track is the object, the younger one ends
 */
#ifndef CCL_TRACK_FRAGMENTS_H
#define CCL_TRACK_FRAGMENTS_H

#include "track_match.h"

/* Notes which track a new one, items[index], began next to: of older ones that have a blob in this frame. */
void track_note_neighbour(const TrackMatch *match, TrackItem *items, uint32_t index);

/* Index of the neighbour that the track began next to, if it still lives and they have not moved apart; else TRACK_NONE. */
uint32_t track_neighbour(const TrackItem *items, uint32_t n_items, const TrackItem *item);

/* Is the track much smaller than its neighbour, or right above or below it? Then it is a piece while it stays near. */
bool track_is_piece(const TrackItem *item, const TrackItem *neighbour);

/* For each frame in which a new track is a piece. */
void track_count_piece(TrackItem *item);

/* Was the new track a piece for long, and has neither moved nor grown since? Then it is what an object left behind. */
bool track_is_left(const TrackItem *item);

/* After track_match_join_groups(): the fragments among the tracks of one blob end, and all but the oldest of tracks that
 * were in one blob for max_frames. If one track is left, the blob is its own. */
void track_match_join_fragments(TrackMatch *match, TrackItem *items, uint32_t n_items, uint32_t max_frames);

#endif
