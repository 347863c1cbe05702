# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What Python adds to the library: the blobs of a frame as a sequence. `from gi.repository import GstCcl` loads it.

    for blob in GstCcl.blobs(buffer):
        print(blob["area"], blob["centroid"])
"""
from collections.abc import Sequence

from ..module import get_introspection_module
from ..overrides import override

GstCcl = get_introspection_module("GstCcl")

__all__ = ["Blobs", "blobs"]

# The numbers of a blob, and the types that table() gives them.
COLUMNS = [
    ("label", "u4"), ("flags", "u4"), ("age", "u4"), ("zones", "u4"), ("track_id", "u8"), ("parent_id", "u8"),
    ("volume_id", "u8"), ("area", "f8"), ("box", "f8", (4,)), ("centroid", "f8", (2,)), ("covariance", "f8", (3,)),
    ("axes", "f8", (2,)), ("orientation", "f8"),
]
OF_BLOB = ("label", "flags", "age", "zones", "track_id", "parent_id", "volume_id")


def points(values):
    return list(zip(values[::2], values[1::2]))


class Blobs(Sequence):
    """The blobs of a frame: a dict each, in pixels of the frame. It is a copy, which outlives the buffer.

    label, flags (GstCcl.BlobFlags), age, zones, track_id, parent_id, volume_id: as in GstCcl.Blob
    area
    box: (x, y, width, height)
    centroid: (x, y)
    covariance: (xx, xy, yy)
    axes: (major, minor), full lengths of the ellipse with the same moments; orientation: radians
    contour, trail: lists of (x, y)
    """

    def __init__(self, meta):
        """meta: GstCcl.BlobMeta with what is said of the whole frame; None where the buffer has none."""
        self.meta = meta

    def __len__(self):
        return self.meta.get_length() if self.meta else 0

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [self._numbers(i) | self._points(i) for i in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(f"blob {index} of {len(self)}")
        index %= len(self)
        return self._numbers(index) | self._points(index)

    def __repr__(self):
        return f"<{len(self)} blobs>"

    def _numbers(self, i):
        meta, blob = self.meta, self.meta.get_blob(i)
        major, minor, orientation = meta.get_axes(i)
        numbers = {name: getattr(blob, name) for name in OF_BLOB}
        return numbers | {
            "area": meta.get_area(i), "box": tuple(meta.get_box(i)), "centroid": tuple(meta.get_centroid(i)),
            "covariance": tuple(meta.get_covariance(i)), "axes": (major, minor), "orientation": orientation,
        }

    def _points(self, i):
        return {"contour": points(self.meta.get_contour(i)), "trail": points(self.meta.get_trail(i))}

    def table(self):
        """A NumPy structured array with a row for each blob, and all but contours and trails as columns."""
        import numpy

        names = [column[0] for column in COLUMNS]
        rows = [tuple(numbers[name] for name in names) for numbers in map(self._numbers, range(len(self)))]
        return numpy.array(rows, numpy.dtype(COLUMNS))


def blobs(buffer):
    """The blobs of a buffer; none where it has no metadata of gst-ccl."""
    return Blobs(GstCcl.buffer_get_ccl_blob_meta(buffer))


class BlobMeta(GstCcl.BlobMeta):
    """The blobs of a frame with their matrix: a copy, which outlives the buffer. buffer_set_ccl_blob_meta() writes one back."""

    def __repr__(self):
        return f"<GstCcl.BlobMeta: {self.to_string()}>"


BlobMeta = override(BlobMeta)
__all__.append("BlobMeta")
