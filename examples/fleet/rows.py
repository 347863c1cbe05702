# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Lines of JSON of a recording become a Parquet file: a row for each blob of a frame, and one for each event of a zone.

The file has its final name only when it is whole and on the disk.
"""
from __future__ import annotations

import json
import os
import pathlib
import uuid
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

ROWS_AT_ONCE = 50_000  # in memory

SCHEMA = pa.schema([
    ("camera", pa.string()), ("file", pa.string()),
    ("event", pa.string()),  # "blob", or of a zone: enter, leave, dwell, cross
    ("seq", pa.int64()), ("pts", pa.int64()),  # of the frame; events have no seq
    ("track", pa.uint64()), ("state", pa.string()),
    ("x", pa.float64()), ("y", pa.float64()), ("w", pa.float64()), ("h", pa.float64()),  # box; of an event, its point
    ("area", pa.float64()), ("cx", pa.float64()), ("cy", pa.float64()),
    ("zones", pa.list_(pa.string())),
    ("direction", pa.string()), ("duration", pa.int64()),  # of events
])


class Table:
    """Collects the rows of one recording and writes them."""

    def __init__(self, folder: pathlib.Path, key: str, camera: str, path: str) -> None:
        self.final = folder / f"{key}.parquet"
        self.part = folder / f".{key}-{uuid.uuid4().hex}.part"
        self.camera, self.path = camera, path
        self.columns: dict[str, list[Any]] = {name: [] for name in SCHEMA.names}
        self.writer = pq.ParquetWriter(self.part, SCHEMA, compression="zstd")
        self.n_rows = 0

    def add(self, **row: Any) -> None:
        for name, column in self.columns.items():
            column.append(row.get(name))
        self.n_rows += 1
        if len(self.columns["seq"]) >= ROWS_AT_ONCE:
            self.flush()

    def flush(self) -> None:
        self.writer.write_table(pa.table(self.columns, schema=SCHEMA))
        for column in self.columns.values():
            column.clear()

    def take(self, line: bytes) -> None:
        """A frame or an event, as the runner writes it."""
        said = json.loads(line)
        common = {"camera": self.camera, "file": self.path}
        if "event" in said:
            self.add(**common, event=said["event"], pts=said.get("timestamp"), track=said.get("track_id"), x=said.get("x"),
                     y=said.get("y"), zones=[said["zone"]], direction=said.get("direction"), duration=said.get("duration"))
            return
        for blob in said.get("blobs", ()):
            x, y, w, h = blob["bbox"]
            cx, cy = blob["centroid"]
            self.add(**common, event="blob", seq=said["seq"], pts=said["pts"], track=blob.get("track"), state=blob.get("state"),
                     x=x, y=y, w=w, h=h, area=blob["area"], cx=cx, cy=cy, zones=blob.get("zones"))

    def finish(self, about: dict[str, Any]) -> None:
        """`about` goes into the file's metadata."""
        self.flush()
        self.writer.add_key_value_metadata({"ccl-fleet": json.dumps(about)})
        self.writer.close()
        with open(self.part, "rb") as file:
            os.fsync(file.fileno())
        os.replace(self.part, self.final)
        folder = os.open(self.final.parent, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)

    def discard(self) -> None:
        self.writer.close()
        self.part.unlink(missing_ok=True)


def about(path: pathlib.Path) -> dict[str, Any]:
    """What Table.finish() stored."""
    return json.loads(pq.read_metadata(path).metadata[b"ccl-fleet"])
