/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Lone blobs. A gate must be narrow where several objects are near each other. A track and a blob of like size that have
 * nothing else near them belong together, also if the blob moved farther than the gate:
 *
 *     frame 1    [##]                          the speed of a new track is not known
 *     frame 2             [##]                 nothing else is near: the same object
 */
#ifndef CCL_TRACK_LONE_H
#define CCL_TRACK_LONE_H

#include "track_match.h"

/* After track_match_assign(). Gives lone blobs without a track to tracks without a blob, and begins their speed anew. */
void track_match_lone(TrackMatch *match, const CclTrackerConfig *config, TrackItem *items, uint32_t n_items,
                      double frames);

#endif
