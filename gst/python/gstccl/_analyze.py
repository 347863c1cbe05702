# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Contexts, tables and analyze()."""
from __future__ import annotations

import functools
import operator
import threading
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from . import _core
from ._masks import MAP, MASK, PICTURE, device_of_mask, readable, shape_of
from ._records import GROUPS, HOLE, columns_of, groups_of

_FOREGROUNDS = ("threshold", "equal")
_BORDERS = {"flag": 0, "keep": 1, "drop": 2}
_MAX_BLOBS = 65536
_ARRAY = np.ndarray


class Table:
    """The blobs of a mask: `table["area"]` is a column, `table[0]` a record, `for blob in table` goes through them.

    blobs:    a structured array: area, sums (m10, m01, m20, m11, m02), label, box (x0 <= x < x1, y0 <= y < y1), first_x
              (the first pixel is (first_x, y0)), touches (1 left, 2 top, 4 right, 8 bottom border), and the features
    n_found:  components in the mask, exact
    n_kept:   components that pass the filters, exact; more than len(table) when the table was full
    labels:   a uint32 image, 0 in the background; None unless asked for
    contours: for each blob an array of (x, y) corners, clockwise; None unless asked for
    holes:    a structured array: parent (the label of the blob around it), area, area_filled (with islands), box and
              first_x as above; in the order of the blobs. None without the feature "holes"
    """

    __slots__ = ("blobs", "n_found", "n_kept", "labels", "contours", "holes")

    def __init__(self, blobs: np.ndarray, n_found: int, n_kept: int, labels: np.ndarray | None,
                 contours: list[np.ndarray] | None, holes: np.ndarray | None = None) -> None:
        self.blobs, self.n_found, self.n_kept, self.labels, self.contours = blobs, n_found, n_kept, labels, contours
        self.holes = holes

    @property
    def truncated(self) -> bool:
        """True when `max_blobs` cut the table short."""
        return self.n_kept > len(self.blobs)

    def __len__(self) -> int:
        return len(self.blobs)

    def __iter__(self) -> Iterator[np.void]:
        return iter(self.blobs)

    def __getitem__(self, key: Any) -> Any:
        return self.blobs[key]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.blobs, dtype=dtype) if copy else np.asarray(self.blobs, dtype=dtype)

    def __repr__(self) -> str:
        return f"<gstccl.Table: {len(self.blobs)} blobs of {self.n_found} components>"


def _whole(name: str, value: Any, limit: int = 0xFFFFFFFF) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be a whole number: it is {value!r}") from None
    if not 0 <= number <= limit:
        raise ValueError(f"{name} must be from 0 to {limit}: it is {number}")
    return number


def _filter(min_area: int, max_area: int, min_width: int, max_width: int, min_height: int, max_height: int,
            border: str) -> tuple[int, ...]:
    if border not in _BORDERS:
        raise ValueError(f"border must be 'flag', 'keep' or 'drop': it is {border!r}")
    limits = {"min_width": min_width, "max_width": max_width, "min_height": min_height, "max_height": max_height}
    return (_whole("min_area", min_area, 2**63), _whole("max_area", max_area, 2**63),
            *(_whole(name, value) for name, value in limits.items()), _BORDERS[border])


def _call_of(features: tuple[str, ...] | str, is_map: bool, contours: bool | float, threshold: int, invert: bool,
             *limits: Any) -> tuple[tuple[Any, ...], np.dtype]:
    """The last arguments of the core's run(), and the type of the records that it returns."""
    columns, record = columns_of(features, is_map)
    epsilon = -1.0 if contours is False else float(contours is not True and contours)
    if epsilon < 0 and contours is not False:
        raise ValueError(f"contours must be True, False or a tolerance of at least 0 pixels: it is {contours!r}")
    return (_whole("threshold", threshold), invert, _filter(*limits), columns, epsilon), record


_remembered_call = functools.lru_cache(maxsize=64, typed=True)(_call_of)


def _wants_map(foreground: str) -> bool:
    if foreground not in _FOREGROUNDS:
        raise ValueError(f"foreground must be 'threshold' or 'equal': it is {foreground!r}")
    return foreground == "equal"


def _device_index(device: str | int) -> int:
    """-1 for the CPU, else the index of the CUDA device."""
    if device == "cpu":
        return -1
    if device == "cuda":
        return 0
    if isinstance(device, str) and device.startswith("cuda:") and device[5:].isdigit():
        return int(device[5:])
    raise ValueError(f"device must be 'cpu', 'cuda' or 'cuda:N': it is {device!r}")


class Context:
    """Memory and threads for masks of at most width x height pixels, used again for each mask.

    One thread uses a context at a time; contexts are independent. close(), or leaving `with`, frees its memory.

    connectivity: 4 or 8
    device:       "cpu", "cuda" or "cuda:N"
    max_blobs:    records of a table, at most 1048576; the counts stay exact beyond
    threads:      0: as many as make a mask faster; 1: the caller's alone
    labels:       True where analyze() will be asked for label images
    algorithm:    a name of gstccl.algorithms(); None: the fastest
    shape, hull, holes, intensity: True where analyze() will be asked for the feature of that name
    filter, sort, foreground, background: as for gstccl.analyze()
    """

    __slots__ = ("_core", "_device", "_connectivity", "_is_map")

    def __init__(self, width: int, height: int, *, connectivity: int = 8, device: str = "cpu", max_blobs: int = _MAX_BLOBS,
                 threads: int = 0, labels: bool = False, algorithm: str | None = None, shape: bool = False,
                 hull: bool = False, holes: bool = False, intensity: bool = False, filter: str = "", sort: str = "raster",
                 foreground: str = "threshold", background: int = 0) -> None:
        self._is_map = _wants_map(foreground)
        self._device = _device_index(device)
        self._connectivity = _whole("connectivity", connectivity)
        self._core = _core.Context(_whole("width", width), _whole("height", height), self._connectivity,
                                   _whole("max_blobs", max_blobs), self._device, algorithm, _whole("threads", threads),
                                   labels,
                                   groups_of(name for name, on in zip(GROUPS, (shape, hull, holes, intensity)) if on),
                                   filter, sort, self._is_map, _whole("background", background, 65535))

    @property
    def algorithm(self) -> str:
        """The labelling method in use."""
        return self._core.algorithm()

    def close(self) -> None:
        """Frees the memory. The context cannot be used afterwards; tables stay."""
        self._core.close()

    def __enter__(self) -> Context:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def analyze(self, mask: Any, *, features: Iterable[str] | str = ("centroid",), labels: bool | np.ndarray = False,
                contours: bool | float = False, threshold: int = 0, invert: bool = False, min_area: int = 0,
                max_area: int = 0, min_width: int = 0, max_width: int = 0, min_height: int = 0, max_height: int = 0,
                border: str = "flag", picture: Any = None) -> Table:
        """The table of a mask; gstccl.analyze() describes the arguments."""
        if type(mask) is not _ARRAY:
            mask = readable(mask, self._device, MAP if self._is_map else MASK)
        if type(features) is not tuple and type(features) is not str:
            features = tuple(features)
        try:
            call, record = _remembered_call(features, self._is_map, contours, threshold, invert, min_area, max_area,
                                            min_width, max_width, min_height, max_height, border)
        except TypeError:  # what has no hash, such as an array of one number, cannot be remembered
            call = None
        if call is None:
            call, record = _call_of(features, self._is_map, contours, threshold, invert, min_area, max_area,
                                    min_width, max_width, min_height, max_height, border)
        if labels is True:
            labels = np.empty(shape_of(mask), np.uint32)
        elif labels is False:
            labels = None
        if picture is not None:
            picture = readable(picture, self._device, PICTURE)
        records, n_kept, n_found, corners, holes = self._core.run(mask, labels, picture, *call)
        if corners is not None:
            corners = [np.frombuffer(corner, np.float32).reshape(-1, 2) for corner in corners]
        if holes is not None:
            holes = np.frombuffer(holes, HOLE)
        return Table(_ARRAY(len(records) // record.itemsize, record, records), n_found, n_kept, labels, corners, holes)


_of_thread = threading.local()


def _context_for(caller: str, mask: Any, settings: dict[str, Any]) -> Context:
    """This thread's context for a caller; a new one where the last had other settings or was smaller."""
    shape = getattr(mask, "shape", None)
    if shape is None or len(shape) != 2 or not all(shape):
        readable(mask, -1)  # names what is wrong
        raise ValueError(f"the mask must have 2 dimensions (rows, columns), each at least 1: its shape is {shape}")
    height, width = shape
    last = getattr(_of_thread, caller, None)
    if last and last[0] == settings and last[1] >= width and last[2] >= height:
        return last[3]
    setattr(_of_thread, caller, None)
    context = Context(width, height, **settings)
    setattr(_of_thread, caller, (settings, width, height, context))
    return context


def analyze(mask: Any, *, connectivity: int = 8, features: Iterable[str] | str = ("centroid",), device: str | None = None,
            labels: bool | np.ndarray = False, contours: bool | float = False, max_blobs: int | None = None, threads: int = 0,
            algorithm: str | None = None, filter: str = "", sort: str = "raster", foreground: str = "threshold",
            background: int = 0, **options: Any) -> Table:
    """Finds the blobs of a mask, whose non-zero pixels are foreground.

    mask:         two dimensions of bool, uint8 or uint16, rows first: a NumPy array, or anything with DLPack or
                  __cuda_array_interface__ (CuPy, PyTorch). It is read where it lies.
    connectivity: 8, or 4 where pixels that share only a corner do not belong together
    features:     names of gstccl.FEATURES, or "all" of them: further columns of the table. "shape" adds the columns
                  euler_number, n_holes, perimeter_crack, perimeter_crofton, circularity and compactness. "hull"
                  adds area_convex, solidity, perimeter_convex, feret_diameter_max, min_feret, rect_center, rect_size
                  and rect_angle; both together add convexity. "holes" adds area_filled and Table.holes. "intensity"
                  adds intensity_min, intensity_max, intensity_sum, intensity_mean, intensity_std, centroid_weighted and
                  covariance_weighted, of `picture`
    picture:      for "intensity", or a filter or sort by it: an array like the mask
    device:       "cpu", "cuda" or "cuda:N"; None: where the mask is
    labels:       True: make a label image; or the uint32 array to write it into
    contours:     True: every corner of the outlines; a number: a tolerance in pixels
    max_blobs:    records of the table; None: all
    threads:      0: as many as make a mask faster; 1: the caller's alone
    algorithm:    a name of gstccl.algorithms(); None: the fastest
    foreground:   "equal": the mask is a label map. Only equal values connect, and the column class_id has them;
                  "threshold": a mask
    background:   with "equal": the value of the background
    threshold:    pixels above are foreground (0)
    invert:       True: the other pixels are
    filter:       an expression such as "area >= 50 and circularity > 0.6 and not touches_border or area > 5000"
    sort:         "raster", or a measure, smallest first, or with "-desc" largest first: "area-desc"
    min_area, max_area, min_width, max_width, min_height, max_height: limits of a blob in pixels, 0 for none
    border:       blobs that touch the border: "flag" them, "keep" them like others, or "drop" them
    """
    place = device_of_mask(mask)
    features = (features,) if isinstance(features, str) and features != "all" else features
    features = features if features == "all" else tuple(features)
    settings = {"connectivity": connectivity, "device": device or place, "max_blobs": max_blobs or _MAX_BLOBS,
                "threads": threads, "labels": labels is not False, "algorithm": algorithm,
                "shape": "shape" in features, "hull": "hull" in features, "holes": "holes" in features,
                "intensity": "intensity" in features,
                "filter": filter, "sort": sort, "foreground": foreground, "background": background}
    context = _context_for("analyze", mask, settings)
    table = context.analyze(mask, features=features, labels=labels, contours=contours, **options)
    if max_blobs is None and table.truncated:
        n = min(max(table.n_kept, _MAX_BLOBS), _core.MAX_COMPONENTS)
        with Context(mask.shape[1], mask.shape[0], **settings | {"max_blobs": n}) as larger:
            table = larger.analyze(mask, features=features, labels=labels, contours=contours, **options)
    return table


def fill_holes(mask: Any, *, connectivity: int = 8, max_area: int = 0, threads: int = 0, threshold: int = 0) -> np.ndarray:
    """A new mask of bool with the holes of the blobs filled: background that does not reach the border.

    mask:         in host memory, as analyze() takes it
    connectivity: of the blobs; holes have the other one
    max_area:     largest hole to fill, in pixels; 0: all
    """
    if connectivity not in (4, 8):
        raise ValueError(f"connectivity must be 4 or 8: it is {connectivity!r}")
    settings = {"connectivity": 12 - connectivity, "max_blobs": 1, "threads": threads, "labels": True}
    holes = _context_for("fill_holes", mask, settings).analyze(mask, features=(), labels=True, threshold=threshold, invert=True,
                                                               max_area=max_area, border="drop").labels
    return (np.asarray(mask) > threshold) | (holes != 0)


def algorithms() -> list[tuple[str, str, str, int]]:
    """(name, title, device, connectivities) of each labelling method, best first; connectivities: 4, 8 or both (12)."""
    return _core.algorithms()
