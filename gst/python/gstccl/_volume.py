# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Components of a stack of masks in three dimensions: column, row and frame."""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._analyze import Table, _device_index, _wants_map, _whole
from ._masks import MAP, MASK, device_of_mask, readable

# The members of a record of the core, 32 bytes.
VOLUME = np.dtype([("voxels", "u8"), ("label", "u4"), ("x0", "u2"), ("y0", "u2"), ("x1", "u2"), ("y1", "u2"), ("frame0", "u2"),
                   ("frame1", "u2"), ("first_x", "u2"), ("first_y", "u2"), ("touches", "u4")])
_OF_MAP = np.dtype([*((name, VOLUME[name]) for name in VOLUME.names or ()), ("class_id", "i8")])


def analyze_volume(masks: Any, *, connectivity: int = 8, device: str | None = None, labels: bool | np.ndarray = False,
                   max_blobs: int = _core.MAX_COMPONENTS, threads: int = 0, threshold: int = 0, invert: bool = False,
                   foreground: str = "threshold", background: int = 0) -> Table:
    """Finds the components of a stack of masks: in a video a blob with its past and future.

    masks:        an array of three dimensions, frames first, or a list of masks as analyze() takes them
    connectivity: 8: voxels that share a corner belong together (26-connected); 4: voxels that share a face (6-connected)
    labels:       True: make a label image for each frame; or the uint32 array of three dimensions to write them into

    The other arguments are those of analyze(). The table has for each component: voxels, label, box (x0 <= x < x1,
    y0 <= y < y1, frame0 <= frame < frame1), first_x and first_y (its first voxel is in frame0), touches (1 left, 2 top,
    4 right, 8 bottom border), and class_id with foreground="equal".
    """
    frames = list(masks)
    if not frames:
        raise ValueError("the stack has no masks: at least 1 is needed")
    index = _device_index(device or device_of_mask(frames[0]))
    shapes = {tuple(getattr(mask, "shape", ())) for mask in frames}
    if len(shapes) != 1 or len(shape := shapes.pop()) != 2:
        raise ValueError("the masks of a stack must have 2 dimensions each, and one size")
    shape = (len(frames), *shape)
    if labels is True:
        labels = np.empty(shape, np.uint32)
    elif labels is False:
        labels = None
    elif getattr(labels, "shape", None) != shape:
        raise ValueError(f"the label images must have the shape of the stack, {shape}: it is {getattr(labels, 'shape', None)}")
    is_map = _wants_map(foreground)
    frames = [readable(mask, index, MAP if is_map else MASK) for mask in frames]
    records, class_ids, n_found = _core.volume(
        frames, labels, shape, _whole("connectivity", connectivity), _whole("max_blobs", max_blobs), index,
        _whole("threads", threads), _whole("threshold", threshold), invert, is_map, _whole("background", background, 65535))
    table = np.frombuffer(records, VOLUME)
    if is_map:
        of_mask, table = table, np.empty(len(table), _OF_MAP)
        for name in VOLUME.names or ():
            table[name] = of_mask[name]
        table["class_id"] = np.frombuffer(class_ids, np.uint16)
    return Table(table, n_found, n_found, labels, None)
