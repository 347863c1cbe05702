# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The example programs: what they print for the built-in source, for a picture, and for a file that is not there.

usage: examples.py SOURCE_FOLDER BLOB_PROBE
"""
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

# Two blobs, of 6 and 2 pixels.
MASK = ["........", ".###....", ".###..#.", "......#."]
LARGEST = r"largest of 2: 6 pixels around \(2\.0, 1\.5\)"


def can_introspect():
    if not importlib.util.find_spec("gi"):
        return False
    probe = "import gi; gi.require_version('GstCcl', '1.0'); from gi.repository import GstCcl"
    return subprocess.run([sys.executable, "-c", probe], capture_output=True, check=False).returncode == 0


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


class Example:
    """What both programs do."""

    def command(self, *arguments):
        raise NotImplementedError

    def test_built_in_source(self):
        result = run(*self.command())
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = result.stdout.splitlines()
        self.assertEqual(len(lines), 60)
        places = {re.search(r"largest of 1: \d+ pixels around (\(.*?\))", line).group(1) for line in lines}
        self.assertGreater(len(places), 30, "the ball does not move")

    def test_picture(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "my mask.pgm"
            pixels = bytes(255 * (pixel == "#") for line in MASK for pixel in line)
            path.write_bytes(b"P5\n%d %d\n255\n" % (len(MASK[0]), len(MASK)) + pixels)
            result = run(*self.command(os.fspath(path)))
        if "no suitable plugins" in result.stderr or "plug-in" in result.stderr:
            self.skipTest("no decoder for pgm here")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, LARGEST)

    def test_no_such_file(self):
        result = run(*self.command("/nowhere/mask.png"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("mask.png", result.stderr)
        self.assertNotIn("Traceback", result.stderr)


class BlobProbe(Example, unittest.TestCase):
    def command(self, *arguments):
        return [blob_probe, *arguments]

    def test_usage(self):
        self.assertEqual(run(blob_probe, "a", "b").returncode, 2)


class BlobsPy(Example, unittest.TestCase):
    def setUp(self):
        if not can_introspect():
            self.skipTest("needs python3-gi and the typelib GstCcl-1.0")

    def command(self, *arguments):
        return [sys.executable, os.fspath(source / "examples" / "blobs.py"), *arguments]


if __name__ == "__main__":
    source, blob_probe = pathlib.Path(sys.argv.pop(1)), sys.argv.pop(1)
    unittest.main()
