# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""examples/quickstart.sh as a newcomer meets it: what it prints where, and its answers to wrong arguments.

usage: quickstart.py SOURCE_FOLDER; CCL_BUILD names the build folder to use instead of SOURCE_FOLDER/build.
"""
import json
import os
import pathlib
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
    """As where there is no display."""
    environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    script = os.path.join(source, "examples", "quickstart.sh")
    return subprocess.run([script, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300,
                          check=False, env=environment, **options)


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

    def check_video(self, path):
        """WebM, and more than a header."""
        data = pathlib.Path(path).read_bytes()
        self.assertEqual(data[:4], b"\x1a\x45\xdf\xa3")
        self.assertGreater(len(data), 10000)

    def test_scene(self):
        lines = self.lines(cwd=self.folder)
        self.assertEqual(len(lines), 240)
        places = {}
        for line in lines:
            self.assertEqual((line["schema"], line["frame"]), ("ccl-blob-1", {"w": 640, "h": 360}))
            for blob in line["blobs"]:
                if blob.get("track"):
                    places.setdefault(blob["track"], []).append(blob["centroid"])
        moved = [way for way in places.values() if max(abs(a - b) for a, b in zip(way[0], way[-1])) > 100]
        self.assertGreaterEqual(len(moved), 3, "too little moves")
        self.assertGreaterEqual(max(len(line["blobs"]) for line in lines), 3)
        # They cross: somewhere fewer are seen than there are.
        counts = [len(line["blobs"]) for line in lines[40:]]
        self.assertLess(min(counts), max(counts))
        self.check_video(os.path.join(self.folder, "blobs.webm"))

    def test_video(self):
        video = os.path.join(self.folder, "my ball!.mkv")
        made = subprocess.run(["gst-launch-1.0", "-q", "videotestsrc", "num-buffers=60", "pattern=ball", "!",
                               "video/x-raw,width=320,height=240,framerate=30/1", "!", "jpegenc", "!", "matroskamux",
                               "!", "filesink", f"location={self.folder}/made.mkv"], check=False)
        if made.returncode:
            self.skipTest("jpegenc or matroskamux is missing")
        os.rename(f"{self.folder}/made.mkv", video)
        lines = self.lines(video, "min-area=10")
        self.assertEqual(len(lines), 60)
        self.assertEqual(lines[-1]["blobs"][0]["label"], 1)
        self.check_video(os.path.join(self.folder, "my ball!-blobs.webm"))
        self.assertEqual(len(self.lines(video, "--video", f"{self.folder}/other.webm")), 60)
        self.check_video(f"{self.folder}/other.webm")

    def test_picture(self):
        # A name that gst-launch-1.0 would take apart.
        line, = self.lines(self.write("a \"mask\" ! of 'mine'.png", png()))
        self.assertEqual([blob["area"] for blob in line["blobs"]], [64 * area for area in AREAS])
        self.assertEqual(line["frame"], {"w": 80, "h": 40})

    def test_picture_relative(self):
        self.write("mask.png", png())
        for arguments in ["mask.png"], ["--mask", "mask.png"]:
            line, = self.lines(*arguments, cwd=self.folder)
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
                             cwd=self.folder, stdout=broken_pipe(), stderr=subprocess.PIPE, text=True, timeout=300,
                             check=False)
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_help(self):
        run = quickstart("--help")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertTrue(run.stdout.startswith("usage: "))

    def test_wrong_arguments(self):
        self.refuse(2, "no such option: --fast", "--fast")
        self.refuse(2, "not PROPERTY=VALUE: twice", self.write("mask.png", png()), "twice")
        self.refuse(2, "VIDEO is empty", "")
        self.refuse(2, "--mask needs a file", "--mask")
        self.refuse(2, "--mask goes alone", "video.mkv", "--mask", "mask.png")
        self.refuse(2, "would take this apart", self.write("mask.png", png()), "min-area=1 ! fakesink")
        self.refuse(1, "no such camera: /dev/video99", "/dev/video99")
        self.refuse(1, "no such file: /no/such.png", "/no/such.png")
        self.refuse(1, "no such file: /no/such.mkv", "/no/such.mkv")
        self.refuse(1, "not allowed to write", "--video", "/no/folder/x.webm")
        self.refuse(1, f"not a file: {self.folder}", self.folder)
        self.refuse(1, "the file is empty", self.write("empty.png", b""))

    def test_wrong_contents(self):
        self.refuse(1, "could not be processed", self.write("text.png", b"no picture at all\n" * 100))
        self.refuse(1, "could not be processed", self.write("half.png", png()[:60]))
        self.refuse(1, "could not be processed", self.write("text.mkv", b"no video at all\n" * 100))

    def test_wrong_properties(self):
        mask = self.write("mask.png", png())
        self.refuse(1, "no-such", mask, "no-such=1")

    def test_warnings(self):
        mask = self.write("mask.png", png())
        self.assertNotIn("Warning", quickstart(mask).stderr)
        run = quickstart(mask, "min-width=1000", "region-id=1")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stderr.count("Warning: "), 2, run.stderr)
        self.assertIn("Warning: region-id=1 has no effect", run.stderr)
        self.assertIn("Warning: min-width=1000 is more than a mask of 80x40 pixels", run.stderr)


def broken_pipe():
    reader, writer = os.pipe()
    os.close(reader)
    return writer


if __name__ == "__main__":
    source = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
