# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""One pipeline writes each frame as JSON and as CBOR, and gstccl.read_cbor() gives what json.loads() does. The Python of
docs/json.md runs.

usage: cbor.py SOURCE_FOLDER
"""
import importlib.util
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import types
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1))
ZONES = '{"units":"relative","zones":[{"name":"gate","line":[[0.5,0],[0.5,1]]},' \
        '{"name":"café","polygon":[[0,0],[0.6,0],[0.6,1],[0,1]]}]}'
TAGS = '{"site":"A","n":10,"x":-1.5e-300,"list":[true,null,{}]}'
WRITERS = "tee name=t  t. ! queue ! cclmeta2json {0} ! filesink location=lines.ndjson  " \
          "t. ! queue ! cclmeta2json {0} ! application/cbor ! filesink location=items.cbor"
BALL = "videotestsrc pattern=ball num-buffers=90 ! video/x-raw,format=GRAY8,width=320,height=240"
MEASURES = "features=shape+hull+holes+intensity contours=true"

if not importlib.util.find_spec("cbor2"):
    print("skipped: needs python3-cbor2")
    sys.exit(77)
# The file alone: the rest of the module is compiled for one version of Python.
LOAD = f"exec(open({str(SOURCE / 'gst/python/gstccl/_cbor.py')!r}).read(), module.__dict__)\n"
reader = types.ModuleType("reader")
exec(LOAD, {"module": reader})  # pylint: disable=exec-used


def keys(value):
    """The names of all members, at any depth."""
    if isinstance(value, dict):
        return set(value) | {key for member in value.values() for key in keys(member)}
    return {key for member in value for key in keys(member)} if isinstance(value, list) else set()


class Cbor(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_line(self, elements, settings=""):
        line = f"{elements} ! {WRITERS.format('source-id=door ' + settings)}"
        subprocess.run(["gst-launch-1.0", "-q", *shlex.split(line)], cwd=self.folder.name, check=True, timeout=60)
        folder = pathlib.Path(self.folder.name)
        lines = [json.loads(line) for line in (folder / "lines.ndjson").read_text("utf-8").splitlines()]
        with open(folder / "items.cbor", "rb") as file:
            items = list(reader.read_cbor(file))
        self.assertEqual(items, list(reader.read_cbor((folder / "items.cbor").read_bytes())))
        return lines, items

    def assert_same(self, lines, items):
        self.assertEqual(items, lines)
        self.assertEqual(repr(items), repr(lines))  # also the order of members, types and -0.0

    def test_everything(self):
        lines, items = self.run_line(
            f"{BALL} ! ccllabel threshold=127 {MEASURES} ! ccltrack ! cclzone zones={shlex.quote(ZONES)}",
            f"trails=true tags={shlex.quote(TAGS)}")
        self.assertEqual(len(lines), 90)
        self.assert_same(lines, items)
        self.assertLessEqual({"track", "state", "trail", "polygon", "zones", "tags", "inside", "forward", "n_holes", "holes",
                              "rect_angle", "solidity", "intensity_mean", "circularity", "time_source"}, keys(lines))

    def test_many_blobs(self):
        lines, items = self.run_line(
            "videotestsrc pattern=snow num-buffers=3 ! video/x-raw,format=GRAY8,width=128,height=96 ! ccllabel threshold=150 "
            f"max-components=200 {MEASURES}")
        self.assert_same(lines, items)
        self.assertEqual({(len(line["blobs"]), line["truncated"]) for line in lines}, {(200, True)})
        self.assertTrue(any(blob["holes"] for line in lines for blob in line["blobs"]))

    def test_label_map(self):
        lines, items = self.run_line("videotestsrc num-buffers=3 ! video/x-raw,format=GRAY8,width=64,height=48 ! "
                                     "ccllabel foreground=equal ! videoscale ! video/x-raw,width=100")
        self.assert_same(lines, items)
        self.assertGreater(len({blob["class_id"] for blob in items[0]["blobs"]}), 3)

    def test_dlstreamer(self):
        self.assert_same(*self.run_line(f"{BALL} ! ccllabel threshold=127", "schema=dlstreamer"))

    def test_events(self):
        lines, items = self.run_line(f"{BALL} ! ccllabel threshold=127 ! ccltrack ! cclzone zones={shlex.quote(ZONES)}",
                                     "events-only=true")
        self.assert_same(lines, items)
        self.assertIn("enter", {item["event"] for item in items})

    def test_document(self):
        self.run_line(f"{BALL} ! ccllabel threshold=127")
        text = (SOURCE / "docs/json.md").read_text("utf-8")
        block, = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        os.rename(os.path.join(self.folder.name, "items.cbor"), os.path.join(self.folder.name, "blobs.cbor"))
        code = "import sys, types; sys.modules['gstccl'] = module = types.ModuleType('gstccl')\n" + LOAD + block
        result = subprocess.run([sys.executable, "-c", code], cwd=self.folder.name, capture_output=True, text=True, check=True)
        self.assertEqual(len(result.stdout.splitlines()), 90)


class Reader(unittest.TestCase):
    def test_cut(self):
        items = reader.read_cbor(b"\xa1\x61a\x01\xa1\x61b")
        self.assertEqual(next(items), {"a": 1})
        with self.assertRaisesRegex(EOFError, "cut off"):
            next(items)

    def test_empty(self):
        self.assertEqual(list(reader.read_cbor(memoryview(b""))), [])

    def test_pipe(self):
        """An item comes before the next one is written."""
        read, write = os.pipe()
        with open(read, "rb") as file, open(write, "wb", buffering=0) as pipe:
            items = reader.read_cbor(file)
            for number in range(3):
                pipe.write(b"\xa1\x61a" + bytes([number]))
                self.assertEqual(next(items), {"a": number})

    def test_no_package(self):
        code = f"import sys, types; sys.modules['cbor2'] = None; module = types.ModuleType('m')\n{LOAD}module.read_cbor(b'')"
        result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        self.assertRegex(result.stderr, r"ImportError: read_cbor\(\) needs the package cbor2: pip install cbor2")


if __name__ == "__main__":
    unittest.main(verbosity=2)
