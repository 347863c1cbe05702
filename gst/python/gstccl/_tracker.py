# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tracks over the tables of successive masks."""
from __future__ import annotations

import enum
import math
from typing import Any

import numpy as np

from . import _core
from ._analyze import Table, _whole

# The members of the core's tracks, 136 bytes.
TRACK = np.dtype([
    ("id", "u8"), ("parent_id", "u8"), ("state", "u4"), ("flags", "u4"), ("blob", "i4"), ("class", "u4"), ("age", "u4"),
    ("hits", "u4"), ("misses", "u4"), ("_", "u4"), ("centroid", "f8", 2), ("velocity", "f8", 2), ("box", "f8", 4),
    ("covariance", "f8", 3)])
_BOX_COLUMNS = 6  # x0, y0, x1, y1, confidence, class
_DEFAULTS = _core.TRACKER_DEFAULTS


class TrackState(enum.IntEnum):
    """`state` of a track."""

    TENTATIVE = 0   # seen fewer than min_hits times
    CONFIRMED = 1   # seen in this mask
    PREDICTED = 2   # confirmed before, not seen in this mask
    LOST = 3        # ended here; gone after the next update


def _number(name: str, value: Any) -> float:
    if not isinstance(value, (int, float, np.number)) or not math.isfinite(value) or value < 0:
        raise ValueError(f"{name} must be a finite number of at least 0: it is {value!r}")
    return float(value)


class Tracker:
    """Gives each blob an identity over time, as the element ccltrack does. Blobs of different class_id are never pieces of one
    object.

    method:          "kalman" follows the motion; "iou" compares boxes with those of the mask before
    min_hits:        masks in which a track is seen before it is confirmed
    max_age:         masks that a confirmed track lives on unseen
    max_distance:    from the prediction, in standard deviations
    iou_threshold:   smallest overlap of two boxes
    max_tracks:      at the same time, at most 65536
    merge_split:     follow blobs that merge and break apart
    boxes:           True: update() takes a detector's boxes
    frame_seconds:   with boxes, the time from frame to frame; 0: not known
    high_confidence: with boxes, those below start no track
    single_class:    with boxes, classes may change
    """

    __slots__ = ("_core", "_boxes")

    def __init__(self, *, method: str = "kalman", min_hits: int = _DEFAULTS["min_hits"],
                 max_age: int = _DEFAULTS["max_age"], max_distance: float = _DEFAULTS["max_distance"],
                 iou_threshold: float = _DEFAULTS["iou_threshold"], max_tracks: int = _DEFAULTS["max_tracks"],
                 merge_split: bool = True, boxes: bool = False, frame_seconds: float = 0,
                 high_confidence: float = _DEFAULTS["high_confidence"], single_class: bool = False) -> None:
        if method not in ("kalman", "iou"):
            raise ValueError(f"method must be 'kalman' or 'iou': it is {method!r}")
        self._boxes = bool(boxes)
        self._core = _core.Tracker(
            method == "iou", _whole("max_tracks", max_tracks), _whole("min_hits", min_hits), _whole("max_age", max_age),
            _number("max_distance", max_distance), _number("iou_threshold", iou_threshold), single_class, merge_split, boxes,
            _number("frame_seconds", frame_seconds), _number("high_confidence", high_confidence))

    def update(self, table: Table | np.ndarray | None, frames: float = 1) -> np.ndarray:
        """The next mask. Returns for each blob the id of its track, 0 where it has none.

        table:  of analyze(), filtered or not; with `boxes` an array of rows (x0, y0, x1, y1), to which may be added the
                confidence, 0 to 1, and the number of the class; None: this mask was not analysed
        frames: intervals since the last update, such as 2 when a frame was lost
        """
        frames = _number("frames", frames)
        if table is None:
            self._core.skip(frames)
            return np.empty(0, np.uint64)
        records = self._boxes_of(table) if self._boxes else self._blobs_of(table)
        class_ids = records["class_id"].astype(np.uint32) if "class_id" in (records.dtype.names or ()) else b""
        return np.frombuffer(self._core.update(records, frames, class_ids), np.uint64)

    @staticmethod
    def _blobs_of(table: Any) -> np.ndarray:
        blobs = table.blobs if isinstance(table, Table) else table
        if not isinstance(blobs, np.ndarray) or "m20" not in (blobs.dtype.names or ()):
            raise TypeError(f"update() takes a table of analyze(), or None: it got {type(table).__name__}")
        return np.ascontiguousarray(blobs)

    @staticmethod
    def _boxes_of(boxes: Any) -> np.ndarray:
        rows = np.asarray(boxes, float)
        if rows.size == 0:
            rows = rows.reshape(0, 4)
        if rows.ndim != 2 or not 4 <= rows.shape[1] <= _BOX_COLUMNS:
            raise ValueError("boxes must be rows of x0, y0, x1, y1, and perhaps confidence and class: their shape is "
                             f"{rows.shape}")
        full = np.zeros((len(rows), _BOX_COLUMNS))
        full[:, :rows.shape[1]] = rows
        if not ((full[:, 5] >= 0) & (full[:, 5] < 2**32)).all():
            raise ValueError("the class of a box must be a number from 0 to 4294967295")
        return full.view([("", "f8", _BOX_COLUMNS)])

    @property
    def tracks(self) -> np.ndarray:
        """All tracks as of the last update, oldest first: a structured array with the columns

        id, parent_id (the track that it split off, or 0), state (TrackState), flags (1: merged with others, 2: has just
        split off), blob (its index in the table, or -1), class, age, hits, misses (in masks), centroid (x, y), velocity
        (pixels from mask to mask), box (x0, y0, x1, y1), covariance (xx, xy, yy).
        """
        return np.frombuffer(self._core.tracks(), TRACK)

    def reset(self) -> None:
        """Forgets all tracks. Ids are never used again."""
        self._core.reset()
