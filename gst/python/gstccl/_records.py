# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The records of a table as NumPy sees them."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from . import _core

# The members of a record of the core, 64 bytes.
RECORD = [
    ("area", "u8"), ("m10", "u8"), ("m01", "u8"), ("m20", "u8"), ("m11", "u8"), ("m02", "u8"),
    ("label", "u4"), ("x0", "u2"), ("y0", "u2"), ("x1", "u2"), ("y1", "u2"), ("first_x", "u2"), ("touches", "u2"),
]

# What `features` may name, in the order of the core.
FEATURES: dict[str, str] = {
    "centroid": "(x, y) in pixels",
    "covariance": "(xx, xy, yy) of the pixel centres, in pixels squared",
    "axes": "(major, minor): full lengths of the ellipse with the same moments",
    "orientation": "radians, from the y axis to the major axis",
    "eccentricity": "0 (circle) to 1 (line)",
    "diameter": "of the circle with the same area",
    "extent": "area over the area of the box",
    "equivalent_rect": "(length, width) of the rectangle with the same moments",
}
# The columns of further features, which take time in the core, in its order, too.
GROUPS: dict[str, list[tuple[Any, ...]]] = {
    "shape": [("euler_number", "i8"), ("n_holes", "i8"), ("perimeter_crack", "i8"), ("perimeter_crofton", "f8"),
              ("circularity", "f8"), ("compactness", "f8")],
    "hull": [("area_convex", "f8"), ("solidity", "f8"), ("perimeter_convex", "f8"), ("feret_diameter_max", "f8"),
             ("min_feret", "f8"), ("rect_center", "f8", (2,)), ("rect_size", "f8", (2,)), ("rect_angle", "f8")],
    "holes": [("area_filled", "i8")],
    "intensity": [("intensity_min", "i8"), ("intensity_max", "i8"), ("intensity_sum", "i8"), ("intensity_mean", "f8"),
                  ("intensity_std", "f8"), ("centroid_weighted", "f8", (2,)), ("covariance_weighted", "f8", (3,))],
}
# The members of a record of a hole, 24 bytes.
HOLE = np.dtype([("parent", "u4"), ("area", "u4"), ("area_filled", "u4"), ("x0", "u2"), ("y0", "u2"), ("x1", "u2"), ("y1", "u2"),
                 ("first_x", "u2"), ("reserved", "u2")])
_SHAPES = {"centroid": (2,), "covariance": (3,), "axes": (2,), "equivalent_rect": (2,)}


def groups_of(features: Iterable[str]) -> int:
    """The core's bits of the groups among some features."""
    wanted = set(features)
    return sum(_core.FEATURES[name] for name in GROUPS if name in wanted)


def columns_of(features: Iterable[str] | str, is_map: bool) -> tuple[int, np.dtype]:
    """The core's bits of some features, and the type of the records that it then writes."""
    if isinstance(features, str):
        features = FEATURES if features == "all" else (features,)
    names = tuple(features)
    known = list(FEATURES)
    every = [*known, *GROUPS]
    for name in names:
        if name not in every:
            raise ValueError(f"no such feature: {name!r}; there are {', '.join(every)}")
    columns = sum(_core.COLUMNS[name] for name in set(names))
    fields: list[Any] = RECORD + [(name, "f8", _SHAPES.get(name, ())) for name in known if name in names]
    for name in GROUPS:
        fields += GROUPS[name] if name in names else []
    if "shape" in names and "hull" in names:
        columns |= _core.COLUMNS["convexity"]
        fields.append(("convexity", "f8"))
    if is_map:
        columns |= _core.COLUMNS["class_id"]
        fields.append(("class_id", "i8"))
    return columns, np.dtype(fields)
