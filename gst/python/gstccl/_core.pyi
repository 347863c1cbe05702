# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
from typing import Any

HAS_CUDA: int
MAX_COMPONENTS: int
COLUMNS: dict[str, int]
FEATURES: dict[str, int]
TRACKER_DEFAULTS: dict[str, Any]

class Error(RuntimeError):
    """Base class of this module's own exceptions."""

class UnsupportedError(Error):
    """The method or this build cannot do what was asked."""

class NoDeviceError(Error):
    """There is no such CUDA device, or no driver."""

class DeviceError(Error):
    """A CUDA call failed: make a new context."""

class Context:
    def __new__(cls, width: int, height: int, connectivity: int, max_blobs: int, device: int, algorithm: str | None,
                threads: int, labels: bool, features: int, filter: str, sort: str, is_map: bool, background: int, /) -> Context: ...
    def run(self, mask: Any, labels: Any, threshold: int, invert: bool, filter: tuple[int, ...], columns: int, epsilon: float,
            /) -> tuple[bytearray, int, int, list[bytearray] | None, bytearray | None]: ...
    def close(self) -> None: ...
    def algorithm(self) -> str: ...

class Tracker:
    def __new__(cls, iou: bool, max_tracks: int, min_hits: int, max_age: int, max_distance: float, iou_threshold: float,
                single_class: bool, merge_split: bool, boxes: bool, frame_seconds: float, high_confidence: float,
                /) -> Tracker: ...
    def update(self, records: Any, frames: float, class_ids: Any, /) -> bytearray: ...
    def skip(self, frames: float, /) -> None: ...
    def reset(self) -> None: ...
    def tracks(self) -> bytearray: ...

def volume(masks: Any, labels: Any, shape: tuple[int, int, int], connectivity: int, max_components: int, device: int, threads: int,
           threshold: int, invert: bool, is_map: bool, background: int, /) -> tuple[bytearray, bytearray, int]: ...
def algorithms() -> list[tuple[str, str, str, int]]: ...
