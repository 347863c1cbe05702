# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tracks of given boxes: ccltrack, and the trackers of the package `trackers`."""
import dataclasses

import numpy as np
import supervision
import trackers
from trackers import eval as measures

from . import ours


def ccltrack(clip, *max_age):
    return ours.tracks(clip, **({"max-age": max_age[0]} if max_age else {}))


def theirs(make):
    def run(clip, *buffer):
        tracker = make(frame_rate=clip.fps, **({"lost_track_buffer": buffer[0]} if buffer else {}))
        result = []
        for boxes, confidences in zip(clip.boxes, clip.confidences):
            detections = supervision.Detections(xyxy=boxes, confidence=confidences.astype(np.float32),
                                                class_id=np.zeros(len(boxes), int))
            found = tracker.update(detections)
            ids = found.tracker_id if found.tracker_id is not None else np.zeros(0, int)
            sure = ids >= 0  # -1: not confirmed yet
            result.append((ids[sure], found.xyxy[sure].astype(np.float32).reshape(-1, 4)))
        return result
    return run


def botsort(**settings):
    """Motion compensation of the camera needs pictures, and these cameras stand still."""
    return trackers.BoTSORTTracker(enable_cmc=False, **settings)


# Name: how to run it on a clip, and other values of how long it keeps a track that is not seen, frames.
METHODS = {
    "ccltrack": (ccltrack, (15, 60)),
    "SORT": (theirs(trackers.SORTTracker), (15, 60)),
    "ByteTrack": (theirs(trackers.ByteTrackTracker), (15, 60)),
    "OC-SORT": (theirs(trackers.OCSORTTracker), (15, 60)),
    "BoT-SORT": (theirs(botsort), (15, 60)),
    "C-BIoU": (theirs(trackers.CBIoUTracker), (15, 60)),
}


def overlaps(a, b):
    """Intersection over union of each box of a with each of b."""
    if not len(a) or not len(b):
        return np.zeros((len(a), len(b)))
    low, high = np.maximum(a[:, None, :2], b[None, :, :2]), np.minimum(a[:, None, 2:], b[None, :, 2:])
    common = np.clip(high - low, 0, None).prod(axis=2)
    area_a, area_b = ((boxes[:, 2:] - boxes[:, :2]).prod(axis=1) for boxes in (a, b))
    return common / (area_a[:, None] + area_b[None] - common)


def numbered(ids):
    """Ids as 0, 1, 2, ..., which the measures want."""
    names = {name: number for number, name in enumerate(sorted({int(i) for frame in ids for i in frame}))}
    return [np.array([names[int(i)] for i in frame], int) for frame in ids]


def score(found, truth):
    similarity = [overlaps(true[1], mine[1]) for true, mine in zip(truth, found)]
    real, mine = numbered([frame[0] for frame in truth]), numbered([frame[0] for frame in found])
    clear = measures.compute_clear_metrics(real, mine, similarity)
    identity = measures.compute_identity_metrics(real, mine, similarity)
    hota = measures.compute_hota_metrics(real, mine, similarity)
    return {"IDF1": float(identity["IDF1"]), "HOTA": float(np.mean(hota["HOTA"])), "MOTA": float(clear["MOTA"]),
            "switches": int(clear["IDSW"]), "ids": len({int(i) for frame in found for i in frame[0]})}


def evaluate(clip, names, grid):
    """Scores and tracks by method and setting; the setting None is the default."""
    result = {}
    for name in names:
        run, others = METHODS[name]
        result[name] = {}
        for setting in (None, *others) if grid else (None,):
            found = run(clip, *(() if setting is None else (setting,)))
            result[name][setting] = score(found, clip.truth) | {"tracks": found}
    return result


def evaluate_blobs(clip, names):
    """The same of blobs: our chain from the pictures on, and the other trackers with the boxes of its blobs."""
    output = ours.lines(ours.BLOBS, clip.frames, clip.fps)
    boxes = [ours.boxes_of_blobs(line) for line in output]
    blobs = dataclasses.replace(clip, name=f"{clip.name}-blobs", boxes=boxes, frames=clip.frames[:len(boxes)],
                                confidences=[np.full(len(frame), 0.9, np.float32) for frame in boxes])
    result = {}
    for name in names:
        found = list(ours.tracks_of_blobs(output)) if name == "ccltrack" else METHODS[name][0](blobs)
        result[name] = {None: score(found, clip.truth) | {"tracks": found}}
    return blobs, result
