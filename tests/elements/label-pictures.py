# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The pictures of labels that the pipelines of examples/launch.md write hold every label.

usage: label-pictures.py SOURCE_FOLDER
"""
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib


def predict(kind, left, up, corner):
    """The value that a filter of PNG expects of a byte."""
    if kind == 4:  # the nearest to left + up - corner
        nearest = left + up - corner
        return min((left, up, corner), key=lambda value: abs(value - nearest))
    return (0, left, up, (left + up) // 2)[kind]


def read_png(path):
    """Bits of a channel, and the pixels as tuples; gray or RGB without an interlace."""
    data, chunks, at = path.read_bytes(), {}, 8
    while at < len(data):
        length, name = struct.unpack_from(">I4s", data, at)
        chunks[name] = chunks.get(name, b"") + data[at + 8:at + 8 + length]
        at += 12 + length
    width, height, bits, colour, _, _, interlace = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert colour in (0, 2) and interlace == 0
    n_channels = {0: 1, 2: 3}[colour]
    step = n_channels * bits // 8
    raw, above, pixels = zlib.decompress(chunks[b"IDAT"]), bytearray(width * step), []
    for y in range(height):
        start = y * (width * step + 1)
        row = bytearray(raw[start + 1:start + 1 + width * step])
        for i, byte in enumerate(row):
            left, corner = (row[i - step], above[i - step]) if i >= step else (0, 0)
            row[i] = (byte + predict(raw[start], left, above[i], corner)) & 255
        values = struct.unpack(f">{width * n_channels}{'H' if bits == 16 else 'B'}", row)
        pixels += zip(*[iter(values)] * n_channels)
        above = row
    return bits, pixels


class LabelPictures(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_line(self, line):
        run = subprocess.run(["sh", "-c", line.strip()], cwd=self.folder, capture_output=True, text=True, timeout=60,
                             check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def documented(self, output):
        """The picture of the line in the document, and the number of blobs of its frame."""
        lines = [line for line in (source / "examples/launch.md").read_text("utf-8").splitlines()
                 if f"output={output}" in line and "pngenc" in line]
        self.assertEqual(len(lines), 1)
        self.run_line(lines[0])
        line = re.sub(f"output={output}.*", "! cclmeta2json ! fdsink", lines[0])
        total = json.loads(self.run_line(line.replace("gst-launch-1.0", "gst-launch-1.0 -q")))["total"]
        return *read_png(self.folder / re.search(r"location=(\S+)", lines[0]).group(1)), total

    def test_labels(self):
        bits, labels, total = self.documented("labels")
        self.assertEqual(bits, 16)
        self.assertGreater(total, 255)
        self.assertEqual({label for label, in labels}, set(range(total + 1)))

    def test_gray_comes_first(self):
        """pngenc would prefer RGBA, in which labels are transparent."""
        self.run_line("gst-launch-1.0 videotestsrc num-buffers=1 ! video/x-raw,format=GRAY8 ! ccllabel output=labels "
                      "! pngenc ! filesink location=labels.png")
        self.assertEqual(read_png(self.folder / "labels.png")[0], 16)

    def test_colors(self):
        bits, colours, total = self.documented("colors")
        _, labels, _ = self.documented("labels")
        self.assertEqual(bits, 8)
        self.assertEqual(len(set(colours)), total + 1)
        self.assertEqual(len(set(zip(colours, labels))), total + 1)
        self.assertIn(((0, 0, 0), (0,)), set(zip(colours, labels)))


if __name__ == "__main__":
    source = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=2)
