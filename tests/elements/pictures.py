# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The pictures of the documents show what the elements draw today.

usage: pictures.py SOURCE_FOLDER

Each script is run again. Fonts and codecs differ between systems, so a small share of the pixels may differ.
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

LEVELS = 64  # a pixel differs when one of its colours does by more
MAX_SHARE = 0.004  # of the pixels; a line in the picture, or a box in another place, is more


def pixels(picture):
    """RGB bytes of a PNG."""
    command = ["gst-launch-1.0", "-q", "filesrc", f"location={picture}", "!", "pngdec", "!", "videoconvert", "!",
               "video/x-raw,format=RGB", "!", "fdsink"]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=60).stdout


def share_that_differs(one, other):
    pairs = list(zip(one, other))
    differing = {i // 3 for i, (a, b) in enumerate(pairs) if abs(a - b) > LEVELS}
    return 3 * len(differing) / max(len(pairs), 1)


class Pictures(unittest.TestCase):
    def compare(self, old, new):
        with self.subTest(picture=old.name):
            before, after = pixels(old), pixels(new)
            self.assertGreater(len(before), 10000)
            self.assertEqual(len(before), len(after))
            self.assertLess(share_that_differs(before, after), MAX_SHARE, f"{old}: draw it again and look at it")

    def test_picture(self):
        with tempfile.TemporaryDirectory() as name:
            new = pathlib.Path(name) / "picture.png"
            subprocess.run([sys.executable, docs / "picture.py", new], check=True, timeout=60)
            self.compare(docs / "picture.png", new)

    def test_tutorial(self):
        if subprocess.run(["gst-inspect-1.0", "--exists", "--atleast-version=0.1", "ccloverlay"], check=False).returncode:
            self.skipTest("built without ccloverlay")
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            subprocess.run([docs / "tutorial.sh", folder], check=True, timeout=240)
            drawn = sorted(str(path.relative_to(folder)) for path in folder.glob("**/*.png"))
            self.assertEqual(drawn, sorted(str(path.relative_to(docs)) for path in docs.glob("**/*.png")
                                           if path.name not in ("live.png", "picture.png")))
            for name in drawn:
                self.compare(docs / name, folder / name)

    def test_faults_are_found(self):
        black = bytes(300 * 100)
        self.assertEqual(share_that_differs(black, black), 0)
        self.assertGreater(share_that_differs(black, bytes([255]) * 3000 + black[3000:]), MAX_SHARE)
        # A picture of one step of the tutorial in the place of another's.
        steps = [pixels(docs / "pictures" / f"tutorial-{name}.png") for name in ("blobs", "tracks", "zones")]
        for one, other in zip(steps, steps[1:]):
            self.assertGreater(share_that_differs(one, other), 2 * MAX_SHARE)


if __name__ == "__main__":
    docs = pathlib.Path(sys.argv.pop(1)).resolve() / "docs"
    unittest.main(verbosity=2)
