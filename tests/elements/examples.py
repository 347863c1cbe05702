# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The example programs: what they print for the built-in source, for a picture, and for a file that is not there.

usage: examples.py SOURCE_FOLDER BLOB_PROBE MANY_CAMERAS
"""
import importlib.util
import os
import pathlib
import re
import signal
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


class ManyCameras(unittest.TestCase):
    """Whether they are sustained is up to the machine; that every frame is accounted for is not."""
    SMALL = ("--size=320x180", "--rate=20")

    def count(self, cameras, *options):
        """The frames that were labelled."""
        result = run(many_cameras, str(cameras), "1", *self.SMALL, *options)
        self.assertIn(result.returncode, (0, 1), result.stderr)
        due, labelled, dropped = map(int, re.search(r"(\d+) due, (\d+) labelled: .*?; (\d+) dropped",
                                                    result.stdout).groups())
        self.assertEqual(due, 20 * cameras, result.stdout)
        self.assertEqual(labelled + dropped, due, result.stdout)
        self.assertRegex(result.stdout, "(runs|reference) on c")
        return labelled

    def test_cameras(self):
        for options in ((), ("--together", "--label=backend=cpu min-area=5")):
            self.assertGreater(self.count(3, *options), 0)

    def test_async_depth(self):
        """The first frame of a camera leaves when others have come."""
        self.assertGreater(self.count(2, "--label=backend=cpu async-depth=2"), 0)

    def test_more_than_the_machine_can_do(self):
        """It comes to an end and counts right, though hundreds share the masks and the processors."""
        self.count(300, "--label=backend=cpu algorithm=reference")

    def test_mask_from_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "mask.pgm"
            path.write_bytes(b"P5\n8 4\n255\n" + bytes(255 * (pixel == "#") for line in MASK for pixel in line))
            result = run(many_cameras, "1", "1", *self.SMALL, "--mask", os.fspath(path))
        if "plug-in" in result.stderr or "no suitable" in result.stderr:
            self.skipTest("no decoder for pgm here")
        self.assertIn(result.returncode, (0, 1), result.stderr)

    def test_wrong(self):
        for arguments, word in (([], "how many"), (["none"], "none"), (["0"], "0"), (["1", "1", "--size=big"], "big"),
                                (["1", "1", "--memory=tape"], "tape"), (["1", "1", "--rate=0.1"], "no frame"),
                                (["1", "1", "--label=nothing=1"], "nothing"),
                                (["1", "1", "--mask=/nowhere/m.png"], "m.png")):
            result = run(many_cameras, *arguments)
            self.assertEqual(result.returncode, 2, result.stdout)
            self.assertIn(word, result.stderr)

    def test_search(self):
        script = os.fspath(source / "examples" / "many-cameras.sh")
        environment = dict(os.environ, CCL_BUILD=os.fspath(pathlib.Path(many_cameras).parent.parent))
        result = subprocess.run([script, "3", "1", *self.SMALL], env=environment, capture_output=True, text=True,
                                timeout=60, check=False)
        self.assertIn(result.returncode, (0, 1), result.stderr)
        self.assertIn("cameras    3 of 320x180", result.stdout)
        result = subprocess.run([script], env=environment, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(result.returncode, 2)


class EndlessPython(unittest.TestCase):
    """The examples in Python with a source that does not end: Ctrl-C does."""

    def interrupt(self, name, finite):
        """Runs it without `finite`, and interrupts it after its first line; returns its last one."""
        if not can_introspect():
            self.skipTest("needs python3-gi and the typelib GstCcl-1.0")
        text = (source / "examples" / name).read_text()
        self.assertIn(finite, text)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / name
            path.write_text(text.replace(finite, ""))
            with subprocess.Popen([sys.executable, os.fspath(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) as process:
                try:
                    self.assertTrue(process.stdout.readline())
                    process.send_signal(signal.SIGINT)
                    output, errors = process.communicate(timeout=30)
                finally:
                    process.kill()
        self.assertEqual(process.returncode, 0, errors)
        self.assertNotIn("Traceback", errors)
        return output.splitlines()[-1]

    def test_people_counter(self):
        self.assertRegex(self.interrupt("people-counter.py", " num-buffers=300"), r"^\d+ frames: forward \d+, backward \d+$")

    def test_blobs(self):
        self.assertIn("largest of 1", self.interrupt("blobs.py", " num-buffers=60"))


class PeopleCounter(unittest.TestCase):
    def run_counter(self, *arguments):
        if not can_introspect():
            self.skipTest("needs python3-gi and the typelib GstCcl-1.0")
        return run(sys.executable, os.fspath(source / "examples" / "people-counter.py"), *arguments)

    def test_built_in_scene(self):
        result = self.run_counter()
        self.assertEqual(result.returncode, 0, result.stderr)
        total = re.search(r"300 frames: forward (\d+), backward (\d+)$", result.stdout.strip())
        forward, backward = map(int, total.groups())
        self.assertGreater(forward, 0, "nobody crossed")
        self.assertGreater(backward, 0, "nobody crossed back")
        self.assertEqual(result.stdout.count(" s  forward "), len(result.stdout.splitlines()) - 1)

    def test_line_nobody_crosses(self):
        result = self.run_counter("--line", "0,0,0,0.01")
        self.assertEqual((result.returncode, result.stdout), (0, "300 frames: forward 0, backward 0\n"), result.stderr)
        self.assertIn('The zone "line" is not within frames of 640x360 pixels', result.stderr)

    def test_without_the_typelib(self):
        for script in "people-counter.py", "blobs.py":
            result = subprocess.run([sys.executable, os.fspath(source / "examples" / script)], capture_output=True,
                                    text=True, timeout=60, check=False, env=dict(os.environ, GI_TYPELIB_PATH="/nowhere"))
            if result.returncode == 0:
                self.skipTest("GstCcl-1.0 is installed")
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertNotIn("Traceback", result.stderr)
            self.assertIn("meson devenv", result.stderr)
            if script == "blobs.py":
                self.assertIn("apt-get install python3-gi gir1.2-gstreamer-1.0", result.stderr)

    def test_without_the_plugin(self):
        if not can_introspect():
            self.skipTest("needs python3-gi and the typelib GstCcl-1.0")
        with tempfile.TemporaryDirectory() as folder:
            registry = os.fspath(pathlib.Path(folder) / "registry.bin")
            for script in "people-counter.py", "blobs.py":
                result = subprocess.run([sys.executable, os.fspath(source / "examples" / script)], capture_output=True,
                                        text=True, timeout=60, check=False,
                                        env=dict(os.environ, GST_PLUGIN_PATH="/nowhere", GST_REGISTRY=registry))
                if result.returncode == 0:
                    self.skipTest("the plugin is installed")
                self.assertEqual((result.returncode, result.stdout), (1, ""))
                self.assertNotIn("Traceback", result.stderr)
                self.assertIn('no element "ccl', result.stderr)
                self.assertIn("meson devenv", result.stderr)

    def test_wrong(self):
        for arguments, status, word in ((["/nowhere/v.mp4"], 1, "v.mp4"), (["--line", "2,0,1"], 2, "X1,Y1,X2,Y2"),
                                        (["--min-area", "-1"], 2, "from 0 on")):
            result = self.run_counter(*arguments)
            self.assertEqual(result.returncode, status)
            self.assertIn(word, result.stderr)
            self.assertNotIn("Traceback", result.stderr)


class GpuChain(unittest.TestCase):
    """Without a GPU: that it says what is missing. With one, the video is a user's own."""

    def test_says_what_is_missing(self):
        script = os.fspath(source / "examples" / "gpu-chain.sh")
        for arguments, word in ([], "which video"), (["/nowhere.mp4"], "cannot read"), ([script], "is needed"):
            result = run(script, *arguments)
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertIn(word, result.stderr)
        with tempfile.NamedTemporaryFile(suffix=".mp4") as video:
            result = run(script, video.name)
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertRegex(result.stderr, "GStreamer has no nvh26|neither H.264 nor H.265")


if __name__ == "__main__":
    source, blob_probe, many_cameras = pathlib.Path(sys.argv.pop(1)), sys.argv.pop(1), sys.argv.pop(1)
    unittest.main()
