# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What flows through the chain, compared with what did when somebody looked at it: GstValidate's validateflow. And the
chain in scenarios that come with GstValidate.

usage: validate.py [--write] [TEST...]    (in `meson devenv`)

validate/TEST.validatetest is a pipeline and the pads to watch; validate/TEST/flow-expectations/ is what must be seen
there: events and buffers with their times and metadata, in their order. --write makes those files anew; look at the
difference before it is committed. Exit status 77 without gst-validate-1.0, which Debian does not package
(docs/testing.md).
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

# Scenarios that come with GstValidate, and a chain for them.
SCENARIOS = ["change_state_intensive", "scrub_forward_seeking", "reverse_playback", "seek_with_stop"]
CHAIN = ("videotestsrc pattern=ball num-buffers=600 ! video/x-raw,format=I420,width=160,height=120 ! cclmotion ! "
         "ccllabel mask-source=mask-meta async-depth=1 ! ccltrack ! cclzone ! ccloverlay ! fakevideosink")

FOLDER = pathlib.Path(__file__).resolve().parent / "validate"
WRITTEN = "SKIP wrote expectation files"


def run(name, folder=FOLDER):
    with tempfile.TemporaryDirectory() as logs:
        command = ["env", f"GST_VALIDATE_LOGSDIR={logs}", "gst-validate-1.0", "--set-test-file",
                   folder / f"{name}.validatetest"]
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
                              check=False)


class Flow(unittest.TestCase):
    def test_flow(self):
        for name in names:
            with self.subTest(name):
                if write:
                    shutil.rmtree(FOLDER / name, ignore_errors=True)
                result = run(name)
                text = result.stdout + result.stderr
                self.assertEqual(result.returncode, 0, text)
                self.assertEqual(WRITTEN in text, write, text)

    def test_differences_are_found(self):
        """Without the last line of one expectation the tool fails."""
        if write:
            self.skipTest("nothing is compared")
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            shutil.copytree(FOLDER / names[0], folder / names[0])
            shutil.copy(FOLDER / f"{names[0]}.validatetest", folder)
            expected = next(folder.rglob("*-expected"))
            lines = expected.read_text("utf-8").splitlines(keepends=True)
            expected.write_text("".join(lines[:-1]), "utf-8")
            self.assertNotEqual(run(names[0], folder).returncode, 0)


class Scenarios(unittest.TestCase):
    def test_scenarios(self):
        """States that change all the time, seeks, playing backwards: nothing fails, and nothing is said of our elements."""
        for scenario in [] if write else SCENARIOS:
            with self.subTest(scenario):
                result = subprocess.run(["gst-validate-1.0", "--set-scenario", scenario, *CHAIN.split()], text=True,
                                        stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
                text = result.stdout + result.stderr
                self.assertEqual(result.returncode, 0, text)
                self.assertNotRegex(text, r"Detected on <.*ccl", text)


if __name__ == "__main__":
    if not shutil.which("gst-validate-1.0"):
        print("skipped: no gst-validate-1.0")
        sys.exit(77)
    write = "--write" in sys.argv
    arguments = [argument for argument in sys.argv[1:] if argument != "--write"]
    names = arguments or sorted(path.stem for path in FOLDER.glob("*.validatetest"))
    unittest.main(argv=sys.argv[:1])
