#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How many cameras takes a core, and how much does a broker get? Measures the processor time of a camera's pipeline.

    meson devenv -C build -w . examples/fleet/sizing.py VIDEO [FRAMES]

The video is scaled, encoded as H.264 and analysed, decoding included, without a zone. Processor time hardly depends on what else
the machine does. Needs openh264enc (gstreamer1.0-plugins-bad).
"""
from __future__ import annotations

import json
import pathlib
import resource
import subprocess
import sys
import tempfile

from camera import Child

SIZES = ((640, 360), (1920, 1080))
RATES = (5, 15, 30)
METHODS = ("feedback", "mog2")


def encode(video: str, target: pathlib.Path, size: tuple[int, int], frames: int) -> None:
    subprocess.run(["gst-launch-1.0", "-q", "filesrc", f"location={video}", "!", "decodebin", "!", "videoconvert", "!",
                    "videoscale", "add-borders=false", "!", f"video/x-raw,format=I420,width={size[0]},height={size[1]}", "!",
                    "identity", f"eos-after={frames + 1}", "!", "openh264enc", f"bitrate={size[0] * size[1] * 4}", "!",
                    "h264parse", "!", "matroskamux", "!", "filesink", f"location={target}"], check=True)


def measure(path: pathlib.Path, method: str) -> tuple[int, float, int]:
    """Frames, seconds of processor time, and bytes of all lines."""
    camera = {"name": "camera", "elements": {"motion": {"method": method}, "json": {"precision": 2}}, "zones": None, "tags": {},
              "width": 0, "height": 0, "rate": 0, "gpus": 0}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    child = Child({"mode": "recording", "camera": camera, "path": str(path)})
    n_bytes = frames = 0
    while not child.closed:
        for line in child.lines(1.0):
            if line.startswith(b'{"end"'):
                said = json.loads(line)
                if said["end"] != "end of stream":
                    sys.exit(said["end"])
                frames = said["frames"]
            else:
                n_bytes += len(line) + 1
    child.status()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return frames, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, n_bytes


def main() -> None:
    video, n_frames = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 300
    print("| size | method | ms a frame | " + " | ".join(f"{rate}/s" for rate in RATES) + " | bytes a line |")
    print("|---|---|---|" + "---|" * len(RATES) + "---|")
    with tempfile.TemporaryDirectory() as folder:
        for size in SIZES:
            path = pathlib.Path(folder) / f"{size[0]}.mkv"
            encode(video, path, size, n_frames)
            for method in METHODS:
                frames, seconds, n_bytes = measure(path, method)
                cameras = " | ".join(f"{frames / seconds / rate:.1f}" for rate in RATES)
                print(f"| {size[0]}x{size[1]} | {method} | {1000 * seconds / frames:.2f} | {cameras} | {n_bytes // frames} |",
                      flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main()
