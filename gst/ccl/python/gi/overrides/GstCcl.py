# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What Python adds to the library: the blobs of a frame as a sequence. `from gi.repository import GstCcl` loads it.

    for blob in GstCcl.blobs(buffer):
        print(blob["area"], blob["centroid"])
"""
import struct
from collections.abc import Sequence

from ..module import get_introspection_module
from ..overrides import override

GstCcl = get_introspection_module("GstCcl")

__all__ = ["Blobs", "blobs"]

# The members of GstCcl.BlobRow, and their types. A measure that was not made, or is undefined, is NaN.
COLUMNS = [
    ("label", "u4"), ("flags", "u4"), ("age", "u4"), ("zones", "u4"), ("track_id", "u8"), ("parent_id", "u8"),
    ("volume_id", "u8"), ("area", "f8"), ("box", "f8", (4,)), ("centroid", "f8", (2,)), ("covariance", "f8", (3,)),
    ("axes", "f8", (2,)), ("orientation", "f8"), ("euler_number", "f8"), ("n_holes", "f8"), ("perimeter_crack", "f8"),
    ("perimeter_crofton", "f8"), ("circularity", "f8"), ("compactness", "f8"), ("area_convex", "f8"), ("solidity", "f8"),
    ("perimeter_convex", "f8"), ("feret_diameter_max", "f8"), ("min_feret", "f8"), ("rect_center", "f8", (2,)),
    ("rect_size", "f8", (2,)), ("rect_angle", "f8"), ("area_filled", "f8"), ("intensity_min", "f8"), ("intensity_max", "f8"),
    ("intensity_sum", "f8"), ("intensity_mean", "f8"), ("intensity_std", "f8"), ("centroid_weighted", "f8", (2,)),
    ("covariance_weighted", "f8", (3,)), ("cb_mean", "f8"), ("cr_mean", "f8"), ("convexity", "f8"), ("class_id", "f8"),
]
WHOLE = {"euler_number", "n_holes", "perimeter_crack", "area_filled", "intensity_min", "intensity_max", "intensity_sum",
         "class_id"}
N_OF_BLOB = 20  # numbers of a row that every blob has
ALL = 0xFFFFFFFF


def places():
    """Of each column: its name, its first number in a row, and the end of a tuple or 0."""
    start = 0
    for name, _, *shape in COLUMNS:
        size = shape[0][0] if shape else 1
        yield name, start, start + size if shape else 0
        start += size


PLACES = list(places())
ROW = struct.Struct("=4I3Q44d")


def points(values):
    return list(zip(values[::2], values[1::2]))


def numbers(row):
    """The dict of a row of the table, with the measures that were made."""
    found = {}
    for name, start, end in PLACES:
        value = row[start]
        if start < N_OF_BLOB or value == value:  # not NaN
            found[name] = row[start:end] if end else int(value) if name in WHOLE else value
    return found


class Blobs(Sequence):
    """The blobs of a frame: a dict each. It is a copy, which outlives the buffer.

    label, flags (GstCcl.BlobFlags), age, zones, track_id, parent_id, volume_id: as in GstCcl.Blob

    In pixels of the frame:
    area
    box: (x, y, width, height)
    centroid: (x, y)
    covariance: (xx, xy, yy)
    axes: (major, minor), full lengths of the ellipse with the same moments; orientation: radians
    contour, trail: lists of (x, y)

    In pixels of the mask, where ccllabel measured them, as gstccl.analyze() names them:
    features=shape: euler_number, n_holes, perimeter_crack, perimeter_crofton, circularity, compactness
    features=hull: area_convex, solidity, perimeter_convex, feret_diameter_max, min_feret, rect_center: (x, y),
        rect_size: (length, width), rect_angle; with shape also convexity
    features=holes: area_filled, n_holes
    features=intensity: intensity_min, _max, _sum, _mean, _std, centroid_weighted, covariance_weighted, cb_mean, cr_mean
    foreground=equal: class_id
    """

    def __init__(self, meta):
        """meta: GstCcl.BlobMeta with what is said of the whole frame; None where the buffer has none."""
        self.meta = meta

    def __len__(self):
        return self.meta.get_length() if self.meta else 0

    def __getitem__(self, index):
        if isinstance(index, slice):
            rows, size = self._rows(0, ALL)
            return [self._blob(rows, size, i, i) for i in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(f"blob {index} of {len(self)}")
        index %= len(self)
        return self._blob(*self._rows(index, 1), 0, index)

    def __iter__(self):
        rows, size = self._rows(0, ALL)
        for i in range(len(self)):
            yield self._blob(rows, size, i, i)

    def __repr__(self):
        return f"<{len(self)} blobs>"

    def _rows(self, first, n):
        """Rows of the table, and the size of a row."""
        if not len(self):
            return b"", ROW.size
        rows = self.meta.to_table(first, n)
        if rows is None:
            raise MemoryError(f"no memory for the table of {len(self)} blobs")
        return rows.get_data(), rows.get_size() // min(n, len(self) - first)

    def _blob(self, rows, size, row, index):
        return numbers(ROW.unpack_from(rows, row * size)) | {
            "contour": points(self.meta.get_contour(index)), "trail": points(self.meta.get_trail(index)),
        }

    def table(self):
        """A read-only NumPy structured array with a row for each blob, and all but contours and trails as columns.

        All columns are always there. A measure that was not made, or is undefined, is NaN.
        """
        import numpy

        rows, size = self._rows(0, ALL)
        return numpy.ndarray(len(self), numpy.dtype(COLUMNS), rows, strides=(size,))


def blobs(buffer):
    """The blobs of a buffer; none where it has no metadata of gst-ccl."""
    return Blobs(GstCcl.buffer_get_ccl_blob_meta(buffer))


class BlobMeta(GstCcl.BlobMeta):
    """The blobs of a frame with their matrix: a copy, which outlives the buffer. buffer_set_ccl_blob_meta() writes one back."""

    def __repr__(self):
        return f"<GstCcl.BlobMeta: {self.to_string()}>"


BlobMeta = override(BlobMeta)
__all__.append("BlobMeta")
