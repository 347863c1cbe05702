# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counts at lines: cclmotion, ccllabel, ccltrack and cclzone, beside ByteTrack and supervision's LineZone on the same blobs."""
import json
import os

import numpy as np
import supervision
import trackers

from . import ours


MARGIN = 0.1    # of a box's height: half of the band round a line, the default of cclzone
IN_TIME = 15    # frames: a crossing that was found so near to a true one is the same


def lines_of(size):
    """Five upright lines, from edge to edge."""
    width, height = size
    return [((width * i / 6, 0), (width * i / 6, height)) for i in range(1, 6)]


def crossings(ids_and_boxes, line):
    """How often tracks change from one side of an endless line to the other, forward and backward. The band round the line is
    neither side."""
    (x0, y0), (x1, y1) = line
    length = np.hypot(x1 - x0, y1 - y0)
    sides, counts = {}, [0, 0]
    for ids, boxes in ids_and_boxes:
        for track, (x, y), height in zip(ids, centres(boxes), boxes[:, 3] - boxes[:, 1]):
            distance = ((x1 - x0) * (y - y0) - (y1 - y0) * (x - x0)) / length
            if abs(distance) >= MARGIN * height:
                side = int(distance > 0)
                counts[1 - side] += sides.get(int(track), side) != side
                sides[int(track)] = side
    return counts


def centres(boxes):
    return (boxes[:, :2] + boxes[:, 2:]) / 2


def zoned(clip, lines):
    zones = {"zones": [{"name": str(i), "line": line} for i, line in enumerate(lines)]}
    text = json.dumps(zones).replace('"', '\\"')
    return ours.lines(f'{ours.BLOBS} ! cclzone zones="{text}" evaluation-point=centroid', clip.frames, clip.fps)


def elements(clip, lines):
    output = zoned(clip, lines)
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
    return [(zone.out_count, zone.in_count) for zone in zones]


def evaluate(clip):
    """Counts at each line by method, the truth first. A direction is the same for all, up to its name."""
    lines = lines_of(clip.size)
    mine, output = elements(clip, lines)
    true = [crossings(clip.truth, line) for line in lines]
    return {"truth": true, "cclzone": mine, "ByteTrack and LineZone": line_zones(clip, lines, output)}


def read_by_eye():
    """Of each clip: names of lines, the lines, and their crossings as (frame, is_forward)."""
    result = {}
    with open(os.path.join(os.path.dirname(__file__), "crossings.txt"), encoding="ascii") as file:
        for words in (text.split() for text in file if not text.startswith("#")):
            line = [tuple(map(float, point.split(","))) for point in words[2:4]]
            found = [(int(word[1:]), word[0] == "+") for word in words[4:]]
            result.setdefault(words[0], []).append((words[1], line, found))
    return result


def crossings_found(output, name):
    """The crossings of a line as (frame, is_forward)."""
    result, before = [], (0, 0)
    for frame, line in enumerate(output):
        zone = next(zone for zone in line["zones"] if zone["name"] == name)
        now = zone["forward"], zone["backward"]
        result += [(frame, True)] * (now[0] - before[0]) + [(frame, False)] * (now[1] - before[1])
        before = now
    return result


def n_matched(true, found):
    """Each true crossing takes the nearest one left of its direction."""
    left, n = list(found), 0
    for frame, is_forward in true:
        near = [other for other in left if other[1] == is_forward and abs(other[0] - frame) <= IN_TIME]
        if near:
            left.remove(min(near, key=lambda other: abs(other[0] - frame)))
            n += 1
    return n


def by_eye(clip, truth):
    """Rows of: clip, line, crossings, matched, extra."""
    output = zoned(clip, [line for _, line, _ in truth])
    for i, (name, _, true) in enumerate(truth):
        found = crossings_found(output, str(i))
        n = n_matched(true, found)
        yield clip.name, name, len(true), n, len(found) - n
