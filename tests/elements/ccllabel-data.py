# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Real masks through gst-launch-1.0, with every method on every backend that is there: published counts of components,
and the same JSON to the last byte from each.

usage: ccllabel-data.py DATA_FOLDER [BACKEND]     (environment: CCL_TEST_DATA overrides DATA_FOLDER)

With BACKEND (cpu or cuda), it is a failure that this one is not there. Exit status 77: no data.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

# Dark pixels are foreground. The counts are Leptonica's (conncomp_reg, pta_reg).
COUNTS = [("feyn.png", 4, 4452), ("feyn.png", 8, 4305), ("feyn-fract.png", 8, 464)]


def methods():
    """(backend, algorithm, connectivities) as gst-inspect-1.0 shows them: "runs - Title (CPU, 4- and 8-connected)". Not
    those for volumes."""
    text = subprocess.run(["gst-inspect-1.0", "ccllabel"], capture_output=True, text=True, check=True).stdout
    block = text[text.index('Enum "GstCclAlgorithm"'):]
    for name, rows in re.findall(r"^ +\(\d+\): (\S+) +- .*\((.*?-connected)\)$", block, re.M):
        for row in rows.split("; "):
            if "volumes, " in row:
                continue
            backend, *kind, can = row.split(", ")
            if not kind:  # not one for volumes
                yield backend.lower(), name, [int(digit) for digit in re.findall(r"\d", can)]


def label(picture, settings):
    """The JSON of one picture, or what gst-launch-1.0 said when it failed."""
    line = ["gst-launch-1.0", "-q", "filesrc", f"location={picture}", "!", "pngdec", "!", "videoconvert", "!",
            "video/x-raw,format=GRAY8", "!", "ccllabel", "threshold=127", "invert=true", "max-components=100000",
            *settings, "!", "cclmeta2json", "source-id=test", "!", "fdsink"]
    result = subprocess.run(line, capture_output=True, text=True, timeout=100, check=False)
    return result.returncode, result.stdout, result.stderr


class Data(unittest.TestCase):
    def setUp(self):
        code, _, err = label(still / "feyn.png", ["backend=cuda"])
        self.backends = ["cpu"] if code else ["cpu", "cuda"]
        self.assertIn(needed, self.backends, err)

    def test_counts(self):
        lines = [(picture, count, backend, name, connectivity) for picture, connectivity, count in COUNTS
                 for backend, name, connectivities in methods()
                 if backend in self.backends and connectivity in connectivities]
        with concurrent.futures.ThreadPoolExecutor(min(os.cpu_count(), 4)) as pool:
            results = pool.map(lambda line: label(still / line[0], [f"backend={line[2]}", f"algorithm={line[3]}",
                                                                    f"connectivity={line[4]}"]), lines)
            results = list(zip(lines, results))
        first = {}
        for line, (code, out, err) in results:
            picture, count, backend, name, connectivity = line
            with self.subTest(picture=picture, connectivity=connectivity, backend=backend, algorithm=name):
                self.assertEqual(code, 0, err)
                frame = json.loads(out)
                self.assertEqual(frame["total"], count)
                self.assertEqual(len(frame["blobs"]), count)
                self.assertFalse(frame["truncated"])
                self.assertEqual(out, first.setdefault((picture, connectivity), out),
                                 "blobs differ from those of another method")
        for backend in self.backends:
            n = sum(line[2] == backend for line in lines)
            n_methods = len({line[3] for line in lines if line[2] == backend})
            said.append(f"{n} lines with {n_methods} methods of {backend}")
            self.assertGreaterEqual(n, 2 * len(COUNTS))

    def test_output_mask_of_the_blobs_has_the_same_blobs(self):
        """What output=mask draws, labelled again, gives the same JSON."""
        page = still / "feyn.png"
        _, once, _ = label(page, ["min-area=20"])
        line = ["gst-launch-1.0", "-q", "filesrc", f"location={page}", "!", "pngdec", "!", "videoconvert", "!",
                "video/x-raw,format=GRAY8", "!", "ccllabel", "threshold=127", "invert=true", "min-area=20",
                "output=mask", "attach=0", "!", "ccllabel", "max-components=100000", "!", "cclmeta2json",
                "source-id=test", "!", "fdsink"]
        twice = subprocess.run(line, capture_output=True, text=True, timeout=100, check=True).stdout
        one, two = json.loads(once), json.loads(twice)
        self.assertGreater(len(one["blobs"]), 1000)
        self.assertEqual(one["blobs"], two["blobs"])


class Volumes(unittest.TestCase):
    """Masks of a moving object, with the ids that scipy.ndimage gives them in three dimensions."""

    N = 12

    def frames(self, sink):
        line = ["gst-launch-1.0", "-q", "multifilesrc", f"location={still.parent}/davis-cows/%05d.png",
                f"stop-index={self.N * 2 + 4}", "caps=image/png,framerate=25/1", "!", "pngdec", "!", "videoconvert", "!",
                "video/x-raw,format=GRAY8", "!", *sink]
        return subprocess.run(line, capture_output=True, timeout=100, check=True).stdout

    def test_against_scipy(self):
        try:
            import numpy
            from scipy import ndimage
        except ImportError:
            self.skipTest("no scipy")
        if not (still.parent / "davis-cows").is_dir():
            self.skipTest("no davis-cows")
        raw = numpy.frombuffer(self.frames(["fdsink"]), numpy.uint8).reshape(-1, 480, 856)[:, :, :854] > 127
        for connectivity, shape in (4, ndimage.generate_binary_structure(3, 1)), (8, numpy.ones((3, 3, 3))):
            lines = self.frames(["ccllabel", "threshold=127", f"volume={self.N}", f"connectivity={connectivity}",
                                 "max-components=100000", "!", "cclmeta2json", "!", "fdsink"]).splitlines()
            self.assertEqual(len(lines), len(raw))
            before = n_blobs = 0
            for start in range(0, len(raw), self.N):
                volume, n = ndimage.label(raw[start:start + self.N], shape)
                # Numbers by first voxel, as ours.
                first = numpy.unique(volume[volume > 0], return_index=True)[1]
                number = numpy.zeros(n + 1, int)
                number[1 + numpy.argsort(first)] = 1 + numpy.arange(n)
                for t, frame in enumerate(volume):
                    single = ndimage.label(raw[start + t], shape[1])[0].ravel()
                    firsts = [i for i in sorted(numpy.unique(single, return_index=True)[1]) if single[i]]
                    ids = [blob["volume"] for blob in json.loads(lines[start + t])["blobs"]]
                    self.assertEqual(ids, [before + number[frame.ravel()[i]] for i in firsts])
                    n_blobs += len(ids)
                before += n
            self.assertGreater(n_blobs, before)


if __name__ == "__main__":
    still = pathlib.Path(os.environ.get("CCL_TEST_DATA") or sys.argv[1]) / "masks/still"
    if not (still / "feyn.png").is_file():
        print(f"skipped: no {still}/feyn.png")
        sys.exit(77)
    needed = sys.argv[2] if len(sys.argv) > 2 else "cpu"
    said = []
    passed = unittest.main(argv=sys.argv[:1], exit=False).result.wasSuccessful()
    print(", ".join(said))
    sys.exit(not passed)
