# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""examples/quickstart.sh as a newcomer meets it: what it prints where, and its answers to wrong arguments.

usage: quickstart.py SOURCE_FOLDER; CCL_BUILD names the build folder to use instead of SOURCE_FOLDER/build.
"""
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

MASK = [
    "..........",
    ".##....#..",
    ".##...#...",
    "....#.....",
    "........##",
]
AREAS = [4, 2, 1, 2]  # of its blobs, 8-connected, in raster order


def quickstart(*arguments, **options):
    script = os.path.join(source, "examples", "quickstart.sh")
    return subprocess.run([script, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300,
                          check=False, **options)


def rows(scale=8):
    """MASK enlarged, as rows of 0 and 255."""
    for line in MASK:
        row = bytes(255 * (pixel == "#") for pixel in line for _ in range(scale))
        for _ in range(scale):
            yield row


def png():
    lines = list(rows())

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", len(lines[0]), len(lines), 8, 0, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) +
            chunk(b"IDAT", zlib.compress(b"".join(b"\0" + line for line in lines))) + chunk(b"IEND", b""))


def pgm():
    lines = list(rows())
    return b"P5\n%d %d\n255\n" % (len(lines[0]), len(lines)) + b"".join(lines)


class Quickstart(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, data):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def lines(self, *arguments, **options):
        run = quickstart(*arguments, **options)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stderr, "(?m)^Backend: (cpu|cuda)")
        return [json.loads(line) for line in run.stdout.splitlines()]

    def refuse(self, status, message, *arguments):
        run = quickstart(*arguments)
        self.assertEqual((run.returncode, run.stdout), (status, ""), run.stderr)
        self.assertIn(message, run.stderr)

    def test_ball(self):
        lines = self.lines()
        self.assertEqual(len(lines), 60)
        for line in lines:
            self.assertEqual((line["schema"], line["total"], len(line["blobs"])), ("ccl-blob-1", 1, 1))
            self.assertEqual(line["frame"], {"w": 320, "h": 240})
        places = {tuple(line["blobs"][0]["centroid"]) for line in lines}
        self.assertGreater(len(places), 50)

    def test_picture(self):
        # A name that gst-launch-1.0 would take apart.
        line, = self.lines(self.write("a \"mask\" ! of 'mine'.png", png()))
        self.assertEqual([blob["area"] for blob in line["blobs"]], [64 * area for area in AREAS])
        self.assertEqual(line["frame"], {"w": 80, "h": 40})

    def test_picture_relative(self):
        self.write("mask.png", png())
        line, = self.lines("mask.png", cwd=self.folder)
        self.assertEqual(line["total"], len(AREAS))

    def test_portable_graymap(self):
        line, = self.lines(self.write("mask.pgm", pgm()))
        self.assertEqual([blob["area"] for blob in line["blobs"]], [64 * area for area in AREAS])

    def test_properties(self):
        mask = self.write("mask.png", png())
        line, = self.lines(mask, "min-area=100")
        self.assertEqual([blob["area"] for blob in line["blobs"]], [64 * area for area in AREAS if 64 * area >= 100])
        line, = self.lines(mask, "invert=true", "connectivity=4")
        self.assertEqual(line["blobs"][0]["area"], 64 * (50 - sum(AREAS)))

    def test_reader_has_enough(self):
        run = subprocess.run([os.path.join(source, "examples", "quickstart.sh")], stdin=subprocess.DEVNULL,
                             stdout=broken_pipe(), stderr=subprocess.PIPE, text=True, timeout=300, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_help(self):
        run = quickstart("--help")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertTrue(run.stdout.startswith("usage: "))

    def test_wrong_arguments(self):
        self.refuse(2, "no such option: --fast", "--fast")
        self.refuse(2, "not PROPERTY=VALUE: twice", self.write("mask.png", png()), "twice")
        self.refuse(1, "no such file: /no/such.png", "/no/such.png")
        self.refuse(1, f"not a file: {self.folder}", self.folder)
        self.refuse(1, "the file is empty", self.write("empty.png", b""))

    def test_wrong_contents(self):
        self.refuse(1, "could not be processed", self.write("text.png", b"no picture at all\n" * 100))
        self.refuse(1, "could not be processed", self.write("half.png", png()[:60]))

    def test_wrong_properties(self):
        mask = self.write("mask.png", png())
        self.refuse(1, "no-such", mask, "no-such=1")


def broken_pipe():
    reader, writer = os.pipe()
    os.close(reader)
    return writer


if __name__ == "__main__":
    source = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
