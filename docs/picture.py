#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws docs/picture.png: a mask on the left, what ccllabel made of it on the right.

usage: meson devenv -C build -w . docs/picture.py [FILE.png], in the top folder; needs nothing beside Python

The colours are the label image (output=labels), the boxes and the crosses (centroid, axes of the ellipse with the same
second moments) the line of JSON.
"""
import colorsys
import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

WIDTH, HEIGHT, GAP = 480, 360, 12
FRAME = (90, 90, 100)
CROSS = (255, 255, 255)


def scene(x, y):
    """Is (x, y) foreground? Shapes that a box, or a single number, would not tell apart."""
    ring = 34 < math.hypot(x - 90, y - 90) < 52
    core = math.hypot(x - 90, y - 90) < 18
    tilted = ellipse(x - 215, y - 80, 62, 20, 0.6)
    moon = math.hypot(x - 380, y - 85) < 55 and math.hypot(x - 405, y - 75) > 48
    comb = 40 <= x < 194 and 210 <= y < 320 and (y < 224 or (x - 40) % 24 < 10)
    dx, dy = x - 300, y - 245
    turns = (math.hypot(dx, dy) / 22 - math.atan2(dy, dx) / (2 * math.pi)) % 1
    spiral = math.hypot(dx, dy) < 78 and turns < 0.5
    line = 400 <= x < 462 and abs((x - 400) - (y - 180)) < 1
    specks = any(math.hypot(x - a, y - b) < r for a, b, r in
                 ((425, 290, 14), (452, 318, 9), (415, 330, 6), (440, 262, 5), (280, 20, 7), (300, 34, 4), (20, 340, 5)))
    return ring or core or tilted or moon or comb or spiral or line or specks


def ellipse(dx, dy, major, minor, angle):
    along = dx * math.cos(angle) + dy * math.sin(angle)
    across = dy * math.cos(angle) - dx * math.sin(angle)
    return (along / major) ** 2 + (across / minor) ** 2 < 1


def analyse(mask, folder):
    """Labels, as rows of numbers, and the line of JSON."""
    (folder / "mask").write_bytes(bytes(255 * pixel for row in mask for pixel in row))
    subprocess.run(["gst-launch-1.0", "-q", "filesrc", f"location={folder}/mask", f"blocksize={WIDTH * HEIGHT}", "!",
                    f"video/x-raw,format=GRAY8,width={WIDTH},height={HEIGHT},framerate=1/1", "!",
                    "ccllabel", "output=labels", "!", "video/x-raw,format=GRAY16_LE", "!", "tee", "name=t",
                    "t.", "!", "queue", "!", "filesink", f"location={folder}/labels",
                    "t.", "!", "queue", "!", "cclmeta2json", "!", "filesink", f"location={folder}/json"], check=True)
    labels = struct.unpack(f"<{WIDTH * HEIGHT}H", (folder / "labels").read_bytes())
    return [labels[y * WIDTH:(y + 1) * WIDTH] for y in range(HEIGHT)], json.loads((folder / "json").read_text("utf-8"))


def colour(label):
    if not label:
        return (0, 0, 0)
    red, green, blue = colorsys.hsv_to_rgb(label * 0.618034 % 1, 0.6, 0.9)
    return (int(255 * red), int(255 * green), int(255 * blue))


def draw_line(picture, x0, y0, x1, y1, value):
    steps = max(1, int(2 * max(abs(x1 - x0), abs(y1 - y0))))
    for i in range(steps + 1):
        x, y = round(x0 + (x1 - x0) * i / steps), round(y0 + (y1 - y0) * i / steps)
        if 0 <= x < WIDTH and 0 <= y < HEIGHT:
            picture[y][x] = value


def draw_blob(picture, blob):
    x, y, width, height = blob["bbox"]
    right, bottom = x + width - 1, y + height - 1
    for ends in ((x, y, right, y), (x, bottom, right, bottom), (x, y, x, bottom), (right, y, right, bottom)):
        draw_line(picture, *ends, FRAME)
    x, y = blob["centroid"]
    # The orientation is counted from the y axis; the minor axis is at right angles to the major one.
    dx, dy = math.sin(blob["orientation"]) / 2, math.cos(blob["orientation"]) / 2
    major, minor = blob["axes"]
    draw_line(picture, x - major * dx, y - major * dy, x + major * dx, y + major * dy, CROSS)
    draw_line(picture, x - minor * dy, y + minor * dx, x + minor * dy, y - minor * dx, CROSS)


def png(rows):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 2, 0, 0, 0)
    data = b"".join(b"\0" + bytes(value for pixel in row for value in pixel) for row in rows)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(data, 9)) + chunk(b"IEND", b"")


def main():
    target = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent / "picture.png")
    mask = [[scene(x, y) for x in range(WIDTH)] for y in range(HEIGHT)]
    with tempfile.TemporaryDirectory() as folder:
        labels, line = analyse(mask, pathlib.Path(folder))
    found = [[colour(label) for label in row] for row in labels]
    for blob in line["blobs"]:
        draw_blob(found, blob)
    gap = [(255, 255, 255)] * GAP
    target.write_bytes(png([[(255 * pixel,) * 3 for pixel in before] + gap + after for before, after in zip(mask, found)]))


if __name__ == "__main__":
    main()
