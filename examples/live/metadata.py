# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A frame's metadata: the line of cclmeta2json, less what the page does not draw."""
import json

MAX_TRAIL = 32  # points that the page gets of a trail


def thinned(points):
    """At most MAX_TRAIL of the points, with the last."""
    step = -(-len(points) // MAX_TRAIL) or 1
    return points[::-1][::step][::-1]


class Counts:
    """Counts of zones that go on when the chain is built anew, where they begin at 0."""

    def __init__(self):
        self.kept, self.seen = {}, {}

    def keep(self):
        """The chain ends: what it counted stays."""
        for name, counts in self.seen.items():
            self.kept[name] = self._sum(name, counts)
        self.seen = {}

    def clear(self):
        """Counts begin anew with a new chain."""
        self.kept, self.seen = {}, {}

    def add(self, zones):
        """The zones of a frame, with all that was counted before."""
        self.seen = {zone["name"]: (zone.get("forward", 0), zone.get("backward", 0)) for zone in zones}
        self.kept = {name: counts for name, counts in self.kept.items() if name in self.seen}
        for zone in zones:
            zone["forward"], zone["backward"] = self._sum(zone["name"], self.seen[zone["name"]])
        return zones

    def _sum(self, name, counts):
        kept = self.kept.get(name, (0, 0))
        return kept[0] + counts[0], kept[1] + counts[1]


def compact(line, counts):
    frame = json.loads(line)
    blobs = []
    for blob in frame["blobs"]:
        kept = {"box": blob["bbox"], "at": blob["centroid"], "area": blob["area"]}
        if "track" in blob:
            kept.update(track=blob["track"], state=blob.get("state"), zones=blob.get("zones", []))
        if "polygon" in blob:
            kept["outline"] = blob["polygon"]
        if blob.get("trail"):
            kept["trail"] = thinned(blob["trail"])
        blobs.append(kept)
    return {"n": frame["seq"], "pts": frame["pts"], "w": frame["frame"]["w"], "h": frame["frame"]["h"], "blobs": blobs,
            "zones": counts.add(frame.get("zones", [])),
            "objects": sum(blob.get("state") in ("confirmed", "predicted") for blob in blobs)}
