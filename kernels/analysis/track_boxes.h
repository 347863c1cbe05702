/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Tracks of boxes that a detector found: the model of such a track, and the assignment of detections to tracks. A box is
 * all that is known of an object; boxes of several objects overlap, and a detector misses an object for some frames.
 *
 *   model       a constant-velocity Kalman filter of the centre and of the size
 *   overlap     of boxes that are larger by a buffer on each side (Yang et al., "Hard to Track Objects with Irregular
 *               Motions and Similar Appearances? Make It Easier by Buffering the Matching Space", WACV 2023)
 *   assignment  in two stages, by confidence (Zhang et al., "ByteTrack: Multi-Object Tracking by Associating Every
 *               Detection Box", ECCV 2022)
 */
#ifndef CCL_TRACK_BOXES_H
#define CCL_TRACK_BOXES_H

#include "track_match.h"

/* The model of a track that begins with this detection. Sets everything in the item but id, age, hits, state and parent. */
void track_box_begin(TrackItem *item, const CclDetection *detection);

/* Moves the track by `frames` frame intervals. */
void track_box_predict(TrackItem *item, double frames);

/* Takes a measured box. */
void track_box_correct(TrackItem *item, const CclDetection *detection);

/* Overlap of the buffered boxes: intersection over union. */
double track_box_overlap(const CclTrack *track, const CclDetection *detection);

/* Whether a detection may start a track, and is assigned in the first stage. */
bool track_box_is_sure(const CclTrackerConfig *config, const CclDetection *detection);

/* Cost of a pair; INFINITY where the buffered boxes overlap less than iou_threshold. */
double track_box_cost(const CclTrackerConfig *config, const CclTrack *track, const CclDetection *detection);

/* Confirmed tracks first, then detections of low confidence, then unconfirmed tracks.
 *
 * Fills track.detection and seen of the items. Items that are lost get no detection. */
void track_box_assign(TrackMatch *match, const CclTrackerConfig *config, TrackItem *items, uint32_t n_items);

#endif
