# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Arrays of other libraries as what the core reads, without copies."""
from __future__ import annotations

from typing import Any

import numpy as np

_DLPACK_CUDA = (2, 13)  # device memory, managed memory
# How an error names an array, and its advice for elements of another type: the roles of image.c.
MASK = "the mask", "pass mask != 0"
MAP = "the label map", "pass map.astype(numpy.uint16) if no value is above 65535"
PICTURE = "the picture", "convert it to uint8 or uint16"
_PIXELS = {"|b1": 1, "|u1": 1, "<u2": 2}


def _cuda_index(mask: Any) -> int | None:
    """The CUDA device of a mask by DLPack; None: it has none, or lies in host memory."""
    device = getattr(mask, "__dlpack_device__", None)
    if device is None:
        return None
    kind, index = device()
    return index if kind in _DLPACK_CUDA else None


def device_of_mask(mask: Any) -> str:
    """The device that can read a mask where it lies."""
    if type(mask) is np.ndarray:
        return "cpu"
    index = _cuda_index(mask)
    if index is not None:
        return f"cuda:{index}"
    return "cuda" if hasattr(mask, "__cuda_array_interface__") else "cpu"


def _of_interface(interface: dict[str, Any], role: tuple[str, str]) -> tuple[Any, ...]:
    """What __cuda_array_interface__ says, as the core takes it: pointer, shape, strides, bytes of a pixel, stream."""
    kind, shape = interface["typestr"], tuple(interface["shape"])
    if kind not in _PIXELS:
        raise TypeError(f"{role[0]} must be bool, uint8 or uint16 in native byte order: it is {kind!r}; {role[1]}")
    if len(shape) != 2:
        raise ValueError(f"{role[0]} must have 2 dimensions (rows, columns): it has {len(shape)}")
    if interface.get("mask") is not None:
        raise ValueError("masked arrays are not supported: pass an array without a mask of its own")
    size = _PIXELS[kind]
    strides = interface.get("strides") or (shape[1] * size, size)
    return interface["data"][0], shape, tuple(strides), size, interface.get("stream") or 0


def readable(mask: Any, device: int, role: tuple[str, str] = MASK) -> Any:
    """A mask as an array of NumPy, or as a tuple of the core: (object with DLPack,) or (pointer, shape, ...).

    device: that of the context, -1 for the CPU
    """
    if type(mask) is np.ndarray:
        return mask
    index = _cuda_index(mask)
    if index is not None:
        if device not in (-1, index):
            raise ValueError(f"{role[0]} is on CUDA device {index}, the context on device {device}")
        return (mask,)  # CuPy's arrays have the buffer protocol too, which fails
    interface = getattr(mask, "__cuda_array_interface__", None)
    if interface is not None:
        return _of_interface(interface, role)
    if isinstance(mask, np.ma.MaskedArray):
        raise TypeError("masked arrays are not supported: pass mask.filled(0)")
    if isinstance(mask, np.ndarray):
        return mask
    if hasattr(mask, "__dlpack__"):
        return np.from_dlpack(mask)
    try:
        return np.asarray(memoryview(mask))
    except TypeError:
        raise TypeError(f"{role[0]} must be an array, or have DLPack or __cuda_array_interface__: it is "
                        f"{type(mask).__name__}") from None


def shape_of(mask: Any) -> tuple[int, int]:
    """(rows, columns) of what readable() returned."""
    if not isinstance(mask, tuple):
        return mask.shape
    return mask[0].shape if len(mask) == 1 else mask[1]
