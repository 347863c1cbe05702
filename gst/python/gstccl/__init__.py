# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Connected components of binary masks: counted, measured and labelled, on the CPU or on an NVIDIA GPU.

    import gstccl

    table = gstccl.analyze(mask)              # a NumPy array, or anything with DLPack or __cuda_array_interface__
    table["area"], table["centroid"]          # one value for each blob, in raster order of their first pixels
    table.n_found                             # how many there are

`Context` is for loops: it keeps its memory from mask to mask. `Tracker` gives blobs an identity over time. Counts and sums are
exact integers.
"""
from ._analyze import Context, Table, algorithms, analyze, fill_holes
from ._cbor import read_cbor
from ._core import HAS_CUDA, DeviceError, Error, NoDeviceError, UnsupportedError
from ._records import FEATURES
from ._tracker import Tracker, TrackState
from ._volume import analyze_volume

__all__ = ["Context", "DeviceError", "Error", "FEATURES", "HAS_CUDA", "NoDeviceError", "Table", "TrackState", "Tracker",
           "UnsupportedError", "algorithms", "analyze", "analyze_volume", "fill_holes",
           "read_cbor"]
