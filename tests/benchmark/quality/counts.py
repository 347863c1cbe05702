# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counts at lines: cclmotion, ccllabel, ccltrack and cclzone, beside ByteTrack and supervision's LineZone on the same blobs."""
import json

import numpy as np
import supervision
import trackers

from . import ours


def lines_of(size):
    """Two upright and three level lines, from edge to edge."""
    width, height = size
    upright = [((x, 0), (x, height)) for x in (width / 3, width * 2 / 3)]
    return upright + [((0, y), (width, y)) for y in (height / 4, height / 2, height * 3 / 4)]


def crossings(ids_and_points, line):
    """How often tracks change from one side of an endless line to the other, in each direction."""
    (x0, y0), (x1, y1) = line
    sides, counts = {}, [0, 0]
    for ids, points in ids_and_points:
        for track, (x, y) in zip(ids, points):
            side = int((x1 - x0) * (y - y0) - (y1 - y0) * (x - x0) > 0)
            counts[side] += sides.get(int(track), side) != side
            sides[int(track)] = side
    return counts


def centres(boxes):
    return (boxes[:, :2] + boxes[:, 2:]) / 2


def elements(clip, lines):
    zones = {"zones": [{"name": str(i), "line": line} for i, line in enumerate(lines)]}
    text = json.dumps(zones).replace('"', '\\"')
    output = ours.lines(f'{ours.BLOBS} ! cclzone zones="{text}" evaluation-point=centroid', clip.frames, clip.fps)
    counts = {zone["name"]: (zone["forward"], zone["backward"]) for zone in output[-1]["zones"]}
    return [counts[str(i)] for i in range(len(lines))], output


def line_zones(clip, lines, output):
    tracker = trackers.ByteTrackTracker(frame_rate=clip.fps)
    zones = [supervision.LineZone(supervision.Point(*a), supervision.Point(*b), [supervision.Position.CENTER]) for a, b in lines]
    for frame in output:
        boxes = ours.boxes_of_blobs(frame)
        found = tracker.update(supervision.Detections(boxes, confidence=np.full(len(boxes), 0.9, np.float32),
                                                      class_id=np.zeros(len(boxes), int)))
        if found.tracker_id is not None:
            found = found[found.tracker_id >= 0]
            for zone in zones:
                zone.trigger(found)
    return [(zone.in_count, zone.out_count) for zone in zones]


def evaluate(clip):
    """Counts at each line by method, the truth first. A direction is the same for all, up to its name."""
    lines = lines_of(clip.size)
    mine, output = elements(clip, lines)
    true = [crossings([(ids, centres(boxes)) for ids, boxes in clip.truth], line) for line in lines]
    return {"truth": true, "cclzone": mine, "ByteTrack and LineZone": line_zones(clip, lines, output)}
