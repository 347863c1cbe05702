# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What was seen, in a bounded SQLite file: counts per minute, where tracks were, and the last events with a picture."""
import contextlib
import json
import pathlib
import sqlite3
import time

import folder

GRID = (64, 36)  # cells of the heat map
MAX_EVENTS, MAX_MINUTES = 500, 7 * 24 * 60  # of each camera
MAX_ALL_EVENTS = 10000  # with those of cameras that are gone
MAX_LAST = 2000  # zones whose counts are remembered, with those that were renamed
FLUSH_EVERY = 5  # seconds

TABLES = """
CREATE TABLE IF NOT EXISTS minutes (camera TEXT, minute INTEGER, zone TEXT, forward INTEGER, backward INTEGER, inside INTEGER,
    PRIMARY KEY (camera, minute, zone)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS heat (camera TEXT PRIMARY KEY, cells TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS events (id INTEGER PRIMARY KEY AUTOINCREMENT, camera TEXT, time REAL, event TEXT, zone TEXT,
    track INTEGER, direction TEXT, inside INTEGER, x REAL, y REAL, picture BLOB);
CREATE INDEX IF NOT EXISTS events_of ON events (camera, id);
"""


class Store:
    """Used by the server's event loop alone."""

    def __init__(self, path, keys):
        pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
        folder.check(pathlib.Path(path).parent, path)
        self.keys = keys
        self.data = sqlite3.connect(path, timeout=0.2)
        self.data.execute("PRAGMA journal_mode=WAL")
        self.data.execute("PRAGMA synchronous=NORMAL")
        self.data.executescript(TABLES)
        self.cells = [self._load_heat(key) for key in keys]
        self.minutes = {}  # (camera, minute, zone): [forward, backward, max inside]
        self.last = {}     # (camera, zone): counts as last seen
        self.fault = None  # why nothing is kept
        self._flushed = time.monotonic()

    def _load_heat(self, key):
        row = self.data.execute("SELECT cells FROM heat WHERE camera = ?", (key,)).fetchone()
        cells = json.loads(row[0]) if row else []
        return cells if len(cells) == GRID[0] * GRID[1] else [0] * (GRID[0] * GRID[1])

    # ---- what comes

    def add_frame(self, camera, frame):
        cells = self.cells[camera]
        for blob in frame["blobs"]:
            if blob.get("state") == "confirmed" and frame["w"]:
                x = min(GRID[0] - 1, max(0, int(blob["at"][0] * GRID[0] / frame["w"])))
                y = min(GRID[1] - 1, max(0, int(blob["at"][1] * GRID[1] / frame["h"])))
                cells[y * GRID[0] + x] += 1
        minute = int(time.time() // 60)
        if len(self.last) > MAX_LAST:
            self.last = {}
        for zone in frame["zones"]:
            counts = zone["forward"], zone["backward"]
            before = self.last.get((camera, zone["name"]), counts)
            self.last[camera, zone["name"]] = counts
            row = self.minutes.setdefault((self.keys[camera], minute, zone["name"]), [0, 0, 0])
            row[0] += max(0, counts[0] - before[0])
            row[1] += max(0, counts[1] - before[1])
            row[2] = max(row[2], zone.get("inside", 0))

    def add_event(self, camera, event, picture):
        with self._guarded():
            self.data.execute("INSERT INTO events (camera, time, event, zone, track, direction, inside, x, y, picture) "
                              "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                              (self.keys[camera], time.time(), event["event"], event["zone"], event["track-id"],
                               event["direction"], event["inside"], event["x"], event["y"], picture))

    @contextlib.contextmanager
    def _guarded(self):
        """A full disk, or another server in the same folder, ends nothing."""
        try:
            yield
            self.fault = None
        except sqlite3.Error as error:
            self.fault = f"What is seen is not kept: {error}."

    def flush(self, now=False):
        if not now and time.monotonic() - self._flushed < FLUSH_EVERY:
            return
        self._flushed = time.monotonic()
        with self._guarded():
            # All of it or nothing: what is written in part would be counted twice by the next try.
            self.data.execute("SAVEPOINT flush")
            try:
                self._write()
            except sqlite3.Error:
                self.data.execute("ROLLBACK TO flush")
                self.data.execute("RELEASE flush")
                raise
            self.data.commit()
            self.minutes = {}

    def _write(self):
        oldest = int(time.time() // 60) - MAX_MINUTES
        self.minutes = {key: row for key, row in self.minutes.items() if key[1] >= oldest}
        for key, row in self.minutes.items():
            self.data.execute("INSERT INTO minutes VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (camera, minute, zone) DO UPDATE SET "
                              "forward = forward + excluded.forward, backward = backward + excluded.backward, "
                              "inside = max(inside, excluded.inside)", (*key, *row))
        for key, cells in zip(self.keys, self.cells):
            self.data.execute("INSERT OR REPLACE INTO heat VALUES (?, ?)", (key, json.dumps(cells, separators=(",", ":"))))
            self.data.execute("DELETE FROM events WHERE camera = ? AND id <= (SELECT id FROM events WHERE camera = ? "
                              "ORDER BY id DESC LIMIT 1 OFFSET ?)", (key, key, MAX_EVENTS))
        self.data.execute("DELETE FROM events WHERE id <= (SELECT max(id) FROM events) - ?", (MAX_ALL_EVENTS,))
        self.data.execute("DELETE FROM minutes WHERE minute < ?", (oldest,))

    def close(self):
        self.flush(now=True)
        self.data.close()

    # ---- what is asked for

    def counts(self, camera, n_minutes):
        self.flush(now=True)
        since = int(time.time() // 60) - n_minutes
        rows = self.data.execute("SELECT minute, zone, forward, backward, inside FROM minutes WHERE camera = ? AND minute > ? "
                                 "ORDER BY minute, zone", (self.keys[camera], since))
        return [dict(zip(("minute", "zone", "forward", "backward", "inside"), row)) for row in rows]

    def heat(self, camera):
        return {"columns": GRID[0], "rows": GRID[1], "cells": self.cells[camera]}

    def events(self, camera, limit):
        rows = self.data.execute("SELECT id, time, event, zone, track, direction, inside, x, y FROM events WHERE camera = ? "
                                 "ORDER BY id DESC LIMIT ?", (self.keys[camera], limit))
        names = ("id", "time", "event", "zone", "track", "direction", "inside", "x", "y")
        return [dict(zip(names, row)) for row in rows]

    def picture(self, camera, number):
        row = self.data.execute("SELECT picture FROM events WHERE camera = ? AND id = ?",
                                (self.keys[camera], number)).fetchone()
        return row[0] if row else None

    def clear(self, camera):
        for table in ("minutes", "heat", "events"):
            self.data.execute(f"DELETE FROM {table} WHERE camera = ?", (self.keys[camera],))
        self.cells[camera] = [0] * (GRID[0] * GRID[1])
        self.minutes = {key: row for key, row in self.minutes.items() if key[0] != self.keys[camera]}
        self.data.commit()
